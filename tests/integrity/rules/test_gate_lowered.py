"""G1: tampered settings are found under the key that got weaker; what is honest stays quiet."""

from textwrap import dedent

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules.gate_lowered import find
from tests.integrity.making import examined, found

PYPROJECT = """
[tool.pytest.ini_options]
addopts = "-ra --strict-markers --cov-fail-under=85"
filterwarnings = ["error", "ignore::DeprecationWarning:box"]
xfail_strict = true

[tool.coverage.run]
branch = true
source = ["box", "lid"]

[tool.coverage.report]
fail_under = 90
exclude_also = ["if TYPE_CHECKING:"]

[tool.mypy]
strict = true
enable_error_code = ["truthy-bool", "redundant-expr"]

[tool.ruff.lint]
select = ["E", "F", "B", "PLR"]
ignore = ["E501"]
"""
ESLINT = "export default [{ rules: { 'no-undef': 'error', eqeqeq: ['error', 'always'] } }];"
JEST = "module.exports = { coverageThreshold: { global: { lines: 90, branches: 80 } } };"
TSCONFIG = '{\n  // strict\n  "compilerOptions": {"strict": true, "noUnusedLocals": true,},\n}'


def weakened(text, *edits):
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


TAMPERED = [
    ("fail_under lowered", "pyproject.toml", [("fail_under = 90", "fail_under = 50")], "coverage.report.fail_under"),
    ("fail_under removed", "pyproject.toml", [("fail_under = 90\n", "")], "coverage.report.fail_under"),
    ("branches not measured", "pyproject.toml", [("branch = true", "branch = false")], "coverage.run.branch"),
    ("less measured", "pyproject.toml", [('["box", "lid"]', '["box"]')], "coverage.run.source"),
    (
        "omitted",
        "pyproject.toml",
        [("branch = true", 'branch = true\nomit = ["src/box/hard.py"]')],
        "coverage.run.omit",
    ),
    (
        "lines excluded",
        "pyproject.toml",
        [('["if TYPE_CHECKING:"]', '["if TYPE_CHECKING:", "def "]')],
        "coverage.report.exclude_also",
    ),
    ("mypy not strict", "pyproject.toml", [("strict = true\nenable", "strict = false\nenable")], "mypy.strict"),
    ("mypy strict gone", "pyproject.toml", [("strict = true\nenable", "enable")], "mypy.strict"),
    (
        "one of strict's switches off",
        "pyproject.toml",
        [("strict = true\nenable", "strict = true\ndisallow_untyped_defs = false\nenable")],
        "mypy.disallow_untyped_defs",
    ),
    (
        "type errors ignored",
        "pyproject.toml",
        [("strict = true\nenable", "strict = true\nignore_errors = true\nenable")],
        "mypy.ignore_errors",
    ),
    (
        "type errors of modules ignored",
        "pyproject.toml",
        [("[tool.ruff.lint]", '[[tool.mypy.overrides]]\nmodule = ["box.*"]\nignore_errors = true\n[tool.ruff.lint]')],
        "mypy[box.*].ignore_errors",
    ),
    (
        "error codes of mypy off",
        "pyproject.toml",
        [("strict = true\nenable", 'strict = true\ndisable_error_code = ["arg-type"]\nenable')],
        "mypy.disable_error_code",
    ),
    ("fewer error codes", "pyproject.toml", [(', "redundant-expr"', "")], "mypy.enable_error_code"),
    ("rules dropped", "pyproject.toml", [('"B", "PLR"', '"B"')], "ruff.select"),
    ("rules gone", "pyproject.toml", [('select = ["E", "F", "B", "PLR"]\n', "")], "ruff.select"),
    ("rules ignored", "pyproject.toml", [('ignore = ["E501"]', 'ignore = ["E501", "F"]')], "ruff.ignore"),
    ("warnings allowed", "pyproject.toml", [('"error", ', "")], "pytest.filterwarnings"),
    ("xfail not strict", "pyproject.toml", [("xfail_strict = true", "xfail_strict = false")], "pytest.xfail_strict"),
    (
        "imports skipped",
        "pyproject.toml",
        [("strict = true\nenable", "strict = true\nfollow_imports = 'skip'\nenable")],
        "mypy.follow_imports",
    ),
    ("coverage off", "pyproject.toml", [("-ra --strict", "-ra --no-cov --strict")], "coverage.off"),
    ("no rules", "pyproject.toml", [('select = ["E", "F", "B", "PLR"]', "select = []")], "ruff.select"),
    ("markers not strict", "pyproject.toml", [(" --strict-markers", "")], "pytest.strict_markers"),
]


@pytest.mark.parametrize(("path", "edits", "key"), [row[1:] for row in TAMPERED], ids=[row[0] for row in TAMPERED])
def test_a_weaker_gate_of_pyproject_is_found_under_its_key(path, edits, key):
    (finding,) = found(find, {path: (PYPROJECT, weakened(PYPROJECT, *edits))})
    assert (finding.rule, finding.severity, finding.about) == ("G1", Severity.HIGH, key)


@pytest.mark.parametrize(("path", "edits"), [row[1:3] for row in TAMPERED], ids=[row[0] for row in TAMPERED])
def test_a_gate_that_gets_stronger_again_is_nothing(path, edits):
    assert found(find, {path: (weakened(PYPROJECT, *edits), PYPROJECT)}) == []


@pytest.mark.parametrize(
    ("path", "old", "new", "key"),
    [
        (".coveragerc", "[report]\nfail_under = 80\n", "[report]\nfail_under = 70\n", "coverage.report.fail_under"),
        ("setup.cfg", "[coverage:report]\nfail_under = 80\n", "[metadata]\nname = box\n", "coverage.report.fail_under"),
        ("mypy.ini", "[mypy]\ncheck_untyped_defs = True\n", "[mypy]\n", "mypy.check_untyped_defs"),
        ("mypy.ini", "[mypy]\nstrict = True\n", None, "mypy.strict"),
        (
            "mypy.ini",
            "[mypy]\npretty = True\n",
            "[mypy]\npretty = True\n[mypy-box.*]\nignore_errors = True\n",
            "mypy[box.*].ignore_errors",
        ),
        ("tox.ini", "[flake8]\nselect = E,F,C\n", "[flake8]\nselect = E\n", "flake8.select"),
        (".flake8", "[flake8]\nmax-complexity = 8\n", "[flake8]\nmax-complexity = 40\n", "flake8.max-complexity"),
        (".pylintrc", "[MAIN]\nfail-under=9.5\n", "[MAIN]\nfail-under=5\n", "pylint.fail-under"),
        ("ruff.toml", 'lint.select = ["E", "F", "S"]', 'lint.select = ["E"]', "ruff.select"),
        ("ruff.toml", 'select = ["ALL"]', 'select = ["E", "F"]', "ruff.select"),
        (
            "jest.config.js",
            JEST,
            JEST.replace("lines: 90", "lines: 10 /* for now */"),
            "jest.coverageThreshold.global.lines",
        ),
        ("jest.config.js", JEST, "module.exports = {};", "jest.coverageThreshold.global.lines"),
        (
            "vitest.config.ts",
            "export default defineConfig({ test: { coverage: { thresholds: { lines: 80 } } } })",
            "export default defineConfig({ test: { coverage: { thresholds: { lines: 30 } } } })",
            "vitest.coverage.thresholds.lines",
        ),
        (
            "eslint.config.js",
            ESLINT,
            ESLINT.replace("'no-undef': 'error'", "'no-undef': 'off'"),
            "eslint.rules.no-undef",
        ),
        ("eslint.config.mjs", ESLINT, ESLINT.replace("['error', 'always']", "'warn'"), "eslint.rules.eqeqeq"),
        ("eslint.config.js", ESLINT, ESLINT.replace("'no-undef': 'error', ", ""), "eslint.rules.no-undef"),
        (".eslintrc.yml", "rules:\n  curly: error\n", "rules:\n  curly: 0\n", "eslint.rules.curly"),
        (".eslintrc.json", '{"rules": {"curly": 2}}', '{"rules": {"curly": 1}}', "eslint.rules.curly"),
        (
            "package.json",
            '{"nyc": {"check-coverage": true, "lines": 90}}',
            '{"nyc": {"lines": 90}}',
            "nyc.check-coverage",
        ),
        (
            "package.json",
            '{"scripts": {"lint": "eslint . --max-warnings 0"}}',
            '{"scripts": {"lint": "eslint . --max-warnings 50"}}',
            "eslint.max-warnings",
        ),
        (
            "tsconfig.json",
            TSCONFIG,
            TSCONFIG.replace('"strict": true', '"strict": false'),
            "tsconfig.compilerOptions.strict",
        ),
        (
            "tsconfig.json",
            TSCONFIG,
            TSCONFIG.replace('"strict": true', '"strict": true, "noImplicitAny": false'),
            "tsconfig.compilerOptions.noImplicitAny",
        ),
        (
            "tsconfig.json",
            TSCONFIG,
            TSCONFIG.replace('"strict": true', '"strict": true, "skipLibCheck": true'),
            "tsconfig.compilerOptions.skipLibCheck",
        ),
        (
            "pyrightconfig.json",
            '{"typeCheckingMode": "strict"}',
            '{"typeCheckingMode": "basic"}',
            "pyright.typeCheckingMode",
        ),
        (
            "Cargo.toml",
            '[lints.clippy]\nunwrap_used = "deny"\n',
            '[lints.clippy]\nunwrap_used = "allow"\n',
            "lints.clippy.unwrap_used",
        ),
        (
            "codecov.yml",
            "coverage:\n  status:\n    project:\n      default:\n        target: 90%\n",
            "coverage:\n  status:\n    project:\n      default:\n        target: 40%\n",
            "codecov.coverage.status.project.default.target",
        ),
        (
            ".golangci.yml",
            "linters:\n  enable: [errcheck, gosec]\n",
            "linters:\n  enable: [gosec]\n",
            "golangci.linters.enable",
        ),
        (
            "pom.xml",
            "<project><minimum>0.90</minimum></project>",
            "<project><minimum>0.10</minimum></project>",
            "maven.minimum",
        ),
        (
            "pom.xml",
            "<project/>",
            "<project><!-- <skip/> --><testFailureIgnore>true</testFailureIgnore></project>",
            "maven.testFailureIgnore",
        ),
        (
            "tox.ini",
            "[testenv]\ncommands = pytest --cov-fail-under=90\n",
            "[testenv]\ncommands = pytest --cov-fail-under 20\n",
            "coverage.report.fail_under",
        ),
        ("Makefile", "lint:\n\truff check .\n", "lint:\n\truff check . || true\n", "lint: lint"),
        ("Makefile", "lint:\n\truff check .\n", "lint:\n\t-@ruff check .\n", "lint: lint"),
        ("Makefile", "lint:\n\truff check .\n", "lint:\n\truff check --exit-zero .\n", "lint: lint"),
        ("Makefile", "lint:\n\truff check .\n", "lint:\n\t@echo fine\n", "lint: emptied"),
        ("tox.ini", "[testenv]\ncommands = mypy .\n", "[testenv]\ncommands =\n    - mypy .\n", "testenv: types"),
        (
            "tox.ini",
            "[testenv]\ncommands = mypy .\n",
            "[testenv]\nignore_outcome = true\ncommands = mypy .\n",
            "testenv: types",
        ),
        (
            "noxfile.py",
            "def lint(session):\n    session.run('ruff', 'check')\n",
            "def lint(session):\n    session.run('ruff', 'check', success_codes=[0, 1])\n",
            "lint: lint",
        ),
        (
            "package.json",
            '{"scripts": {"lint": "eslint ."}}',
            '{"scripts": {"lint": "eslint . || true"}}',
            "scripts.lint: lint",
        ),
    ],
)
def test_a_weaker_gate_of_any_file_is_found_under_its_key(path, old, new, key):
    findings = found(find, {path: (old, new)})
    assert key in [finding.about for finding in findings]
    assert {finding.severity for finding in findings} == {Severity.HIGH}


HONEST = {
    "another line length": [("[tool.ruff.lint]", "[tool.ruff]\nline-length = 120\n[tool.ruff.lint]")],
    "a higher gate": [("fail_under = 90", "fail_under = 95")],
    "more rules": [('"PLR"]', '"PLR", "UP"]')],
    "a family in place of one of its codes": [('"E", "F"', '"ALL", "E", "F"')],
    "a family that only begins like one of its codes": [('["E501"]', '["E501", "FBT"]')],
    "all, with single rules ignored": [('"E", "F", "B", "PLR"', '"ALL"'), ('["E501"]', '["E501", "FBT", "ANN"]')],
    "interpreters and empty modules omitted": [
        ("branch = true", 'branch = true\nomit = ["*/python?.?/*", "*__init__*"]')
    ],
    "the formatter's rules ignored": [('["E501"]', '["E501", "W191", "COM812"]')],
    "a rule ignored that was never asked for": [('["E501"]', '["E501", "UP006"]')],
    "conventional lines": [
        ('["if TYPE_CHECKING:"]', '["if TYPE_CHECKING:", "@overload", "raise NotImplementedError"]')
    ],
    "version file omitted": [("branch = true", 'branch = true\nomit = ["*/_version.py", "tests/*"]')],
    "a warning ignored": [('"ignore::Dep', '"ignore::UserWarning", "ignore::Dep')],
    "said by strict": [("strict = true\nenable", "strict = true\ndisallow_untyped_defs = true\nenable")],
    "third parties without types": [
        (
            "[tool.ruff.lint]",
            '[[tool.mypy.overrides]]\nmodule = "yaml.*"\nignore_missing_imports = true\n[tool.ruff.lint]',
        )
    ],
    "old place of ruff's settings": [("[tool.ruff.lint]", "[tool.ruff]")],
    "extending select": [('select = ["E", "F", "B", "PLR"]', 'extend-select = ["E", "B", "PLR"]')],
    "options as a list": [
        ('"-ra --strict-markers --cov-fail-under=85"', '["--cov-fail-under", "85", "--strict-markers"]')
    ],
    "order and comments": [('["E", "F", "B", "PLR"]', '[\n  "PLR", # refactoring\n  "F", "E",\n  "B",\n]')],
}


@pytest.mark.parametrize("edits", HONEST.values(), ids=HONEST)
def test_honest_settings_give_nothing(edits):
    assert found(find, {"pyproject.toml": (PYPROJECT, weakened(PYPROJECT, *edits))}) == []


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("tsconfig.json", TSCONFIG, '{"compilerOptions": {"noUnusedLocals": true, "strict": true}}'),
        ("tsconfig.json", TSCONFIG, '{"extends": "./base.json"}'),
        ("tsconfig.json", '{"compilerOptions": {"strict": true, "noImplicitAny": true}}', TSCONFIG),
        ("eslint.config.js", ESLINT, ESLINT + "\n// rules: { 'no-undef': 'off' }\n"),
        ("eslint.config.js", ESLINT, ESLINT.replace("}];", "}, { files: ['*.d.ts'], rules: { 'no-undef': 'off' } }];")),
        ("eslint.config.js", ESLINT, ESLINT.replace("rules: { 'no-undef': 'error', ", "extends: ['all'], rules: { ")),
        ("jest.config.js", JEST, JEST.replace("lines: 90", "lines: limit('lines')")),
        ("Makefile", "lint:\n\truff check .\n", "lint:\n\truff check . || (echo failed; exit 1)\n"),
        ("Makefile", "clean:\n\trm -r build\n", "clean:\n\t-rm -r build\n"),
        ("Makefile", "lint:\n\truff check .\n", "lint:\n\tuv run ruff check .\nall: lint\n"),
        (
            "setup.cfg",
            "[flake8]\nselect = E,F\n[metadata]\nname = box\n",
            "[metadata]\nname = box\n[flake8]\nselect = F,E\n",
        ),
        ("ruff.toml", 'lint.select = ["TCH001"]', 'lint.select = ["TC"]'),
        (".golangci.yml", "linters:\n  enable: [gosec]\n", "linters: {enable: [errcheck, gosec]}\n"),
        ("pom.xml", "<project><minimum>0.8</minimum></project>", "<project><minimum>0.80</minimum></project>"),
        (
            "codecov.yml",
            "coverage: {status: {project: {a: {target: 90}}}}",
            "coverage: {status: {project: {a: {target: auto}}}}",
        ),
        ("settings.py", "fail_under = 90", "fail_under = 1"),
    ],
)
def test_other_honest_settings_give_nothing(path, old, new):
    assert found(find, {path: (old, new)}) == []


def test_settings_that_move_to_another_file_are_nothing():
    mypy = "[mypy]\nstrict = True\ndisable_error_code = misc\n"
    pyproject = '[tool.mypy]\nstrict = true\ndisable_error_code = ["misc"]\n'
    assert found(find, {"mypy.ini": (mypy, None), "pyproject.toml": ("", pyproject)}) == []
    coverage = "[run]\nbranch = True\nomit = */hard.py\n[report]\nfail_under = 90\n"
    moved = '[tool.coverage]\nrun.branch = true\nrun.omit = ["*/hard.py"]\nreport.fail_under = 90\n'
    assert found(find, {".coveragerc": (coverage, None), "pyproject.toml": ("", moved)}) == []


def test_items_that_move_into_a_list_of_another_file_are_nothing():
    ini = "[mypy]\ndisable_error_code = misc\nignore_missing_imports = True\n"
    before = '[tool.mypy]\ndisable_error_code = ["attr-defined"]\n'
    after = '[tool.mypy]\ndisable_error_code = ["attr-defined", "misc"]\nignore_missing_imports = true\n'
    assert found(find, {"mypy.ini": (ini, None), "pyproject.toml": (before, after)}) == []


def test_a_switch_that_is_on_unless_turned_off_is_found():
    (finding,) = found(find, {"mypy.ini": ("[mypy]\n", "[mypy]\nstrict_optional = False\n")})
    assert (finding.about, finding.old, finding.new) == ("mypy.strict_optional", None, "False")


def test_a_narrowed_run_and_a_new_file_are_no_matter_of_gates():
    assert found(find, {"pytest.ini": ("[pytest]\n", "[pytest]\naddopts = -k box\n")}) == []
    assert found(find, {"Makefile": (None, "lint:\n\truff check . || true\n")}) == []
    assert found(find, {"Makefile": ("test:\n\tpytest\n", "test:\n\techo fine\n")}) == []


def test_settings_that_get_weaker_on_their_way_are_found():
    mypy = "[mypy]\nstrict = True\n"
    findings = found(find, {"mypy.ini": (mypy, None), "pyproject.toml": ("", "[tool.mypy]\npretty = true\n")})
    assert [(finding.file, finding.about) for finding in findings] == [("mypy.ini", "mypy.strict")]


def test_an_option_that_becomes_a_setting_elsewhere_is_nothing():
    tox = "[testenv]\ncommands = pytest --cov --cov-fail-under=90\n", "[testenv]\ncommands = pytest --cov\n"
    assert found(find, {"tox.ini": tox, ".coveragerc": (None, "[report]\nfail_under = 90\n")}) == []


def test_a_linter_that_takes_the_place_of_another_is_nothing():
    flake8 = "[flake8]\nselect = E,F,C\nmax-complexity = 9\n"
    assert found(find, {".flake8": (flake8, None), "ruff.toml": (None, 'lint.select = ["E"]')}) == []


def test_a_linter_that_gets_settings_for_the_first_time_is_nothing():
    assert found(find, {"ruff.toml": (None, 'lint.ignore = ["F401"]')}) == []


def test_the_same_gate_of_another_package_hides_nothing():
    gate = "[tool.coverage.report]\nfail_under = 90\nprecision = {}\n"
    files = {"a/pyproject.toml": (gate.format(1), gate.format(2)), "b/pyproject.toml": (gate.format(1), "")}
    assert [finding.file for finding in found(find, files)] == ["b/pyproject.toml"]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("ruff.toml", 'lint.select = ["ALL"]', 'lint.select = ["ALL"]\nlint.ignore = ["PLR2004"]'),
        ("ruff.toml", 'lint.select = ["ALL"]', 'lint.select = ["ALL"]\n[lint.per-file-ignores]\n"a.py" = ["S101"]'),
        (".pylintrc", "[MAIN]\njobs=1\n", "[MAIN]\ndisable=too-many-locals\n"),
    ],
    ids=["one rule", "one file's rules", "a rule of pylint"],
)
def test_a_single_rule_or_file_set_aside_only_tells(path, old, new):
    assert [finding.severity for finding in found(find, {path: (old, new)})] == [Severity.MEDIUM]


@pytest.mark.parametrize("messages", ["unused-variable,line-too-long", "broad-except", "no-member", "E1101", "all"])
def test_messages_of_pylint_about_what_is_wrong_set_aside(messages):
    (each,) = found(find, {".pylintrc": ("[MAIN]\ndisable=fixme\n", f"[MAIN]\ndisable=fixme,{messages}\n")})
    assert each.severity is Severity.HIGH


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("eslint.config.js", ESLINT, ESLINT.replace("'no-undef'", "'no-console': 'off', 'no-undef'")),
        (
            ".flake8",
            "[flake8]\nmax-complexity = 9\n",
            "[flake8]\nmax-complexity = 9\nper-file-ignores =\n  a.py: F401\n",
        ),
    ],
    ids=["a rule that nobody had named", "a file's rules in flake8"],
)
def test_what_may_have_been_off_before_only_tells(path, old, new):
    assert [finding.severity for finding in found(find, {path: (old, new)})] == [Severity.MEDIUM]


def test_rules_of_a_plugin_that_came_may_be_set_as_one_likes():
    new = ESLINT.replace("rules: {", "extends: ['more'], rules: { 'more/a': 'off',")
    assert found(find, {"eslint.config.js": (ESLINT, new)}) == []


@pytest.mark.parametrize("edit", ['"**/*.py" = ["ALL"]', '"src/**" = ["F"]'])
def test_rules_set_aside_for_all_files_are_grave(edit):
    new = f'lint.select = ["ALL"]\n[lint.per-file-ignores]\n{edit}\n'
    assert [each.severity for each in found(find, {"ruff.toml": ('lint.select = ["ALL"]', new)})] == [Severity.HIGH]


@pytest.mark.parametrize(
    ("edit", "severities"),
    [
        ('"src/**" = ["ALL"]', [Severity.HIGH]),
        ('"**/*.py" = ["ALL"]', [Severity.HIGH]),
        ('"tests/*" = ["ALL"]', [Severity.MEDIUM]),
        ('"src/box/_vendor/*" = ["ALL"]', [Severity.MEDIUM]),
        ('"src/box/grammar.py" = ["ALL"]', [Severity.MEDIUM]),
        ('"src/**" = ["S101"]', []),
    ],
)
def test_all_rules_set_aside_are_some_of_any_selection(edit, severities):
    old = 'lint.select = ["E", "F"]'
    files = {"ruff.toml": (old, f"{old}\n[lint.per-file-ignores]\n{edit}\n")}
    assert [each.severity for each in found(find, files)] == severities


def test_a_package_set_aside_as_a_whole_is_grave():
    new = 'lint.select = ["ALL"]\nexclude = ["src/box"]'
    assert [finding.severity for finding in found(find, {"ruff.toml": ('lint.select = ["ALL"]', new)})] == [
        Severity.HIGH
    ]


def test_a_finding_names_old_and_new_value_and_the_line():
    (finding,) = found(find, {"pyproject.toml": (PYPROJECT, PYPROJECT.replace("= 90", "= 50"))})
    assert finding.message == "gate lowered: coverage.report.fail_under: 90 -> 50"
    assert (finding.old, finding.new, finding.line) == ("90", "50", 12)


@pytest.mark.parametrize(
    "path",
    [
        "pyproject.toml",
        "setup.cfg",
        "mypy.ini",
        ".eslintrc.yml",
        "conftest.py",
        "noxfile.py",
        "Makefile",
        "tsconfig.json",
    ],
)
@pytest.mark.parametrize("text", ["[", "a: [", "{" * 5000, "def (", "- - - :\n\t", "&a [*a, *a]", "=\n=", "\x0c[x"])
def test_hostile_settings_never_raise(path, text):
    looked = examined({path: ("", text), "tox.ini": ("[pytest]\nxfail_strict = true\n", "[pytest]\n")})
    assert set(looked.unread) <= {path}


def test_a_file_that_cannot_be_read_hides_no_other():
    files = {"pyproject.toml": ("", "[tool"), ".coveragerc": (dedent("[report]\nfail_under = 80\n"), "")}
    assert [finding.about for finding in found_where_readable(files)] == ["coverage.report.fail_under"]


def found_where_readable(files):
    return [finding for finding in examined(files).findings if finding.rule == "G1"]


LINES = "[report]\nexclude_lines =\n    pragma: no cover\n"
BRANCH = "[run]\nbranch = True\n"


@pytest.mark.parametrize(
    ("path", "old", "new", "severity"),
    [
        (".coveragerc", LINES, LINES + r"    ^\s*passs*$" + "\n", None),
        (".coveragerc", LINES, LINES + r"    ^ +@skip\(.*$" + "\n", None),
        (".coveragerc", LINES, LINES + r"    if not hasattr\(__builtins__, .cmp.\):" + "\n", None),
        (".coveragerc", LINES, LINES + r"    ^\s*return .*$" + "\n", Severity.HIGH),
        (".coveragerc", LINES, LINES + "    .*\n", Severity.HIGH),
        (".coveragerc", LINES, LINES + "    def open_lid\n", Severity.HIGH),
        (".coveragerc", LINES, LINES + "    (pass|.)+\n", Severity.HIGH),
        (".coveragerc", BRANCH, None, Severity.MEDIUM),
        (".coveragerc", BRANCH + LINES, LINES, Severity.HIGH),
        (".coveragerc", BRANCH + "[report]\nfail_under = 90\n", None, Severity.HIGH),
        ("mypy.ini", "[mypy]\n", "[mypy]\nno_implicit_optional = False\n", Severity.MEDIUM),
        (
            "mypy.ini",
            "[mypy]\nno_implicit_optional = True\n",
            "[mypy]\nno_implicit_optional = False\n",
            Severity.HIGH,
        ),
        ("tox.ini", "[flake8]\nexclude = docs\n", "[flake8]\nexclude = docs,*.c,tasks.py\n", None),
        ("tox.ini", "[flake8]\nexclude = docs\n", "[flake8]\nexclude = docs,box.py\n", Severity.HIGH),
    ],
)
def test_how_grave_it_is_depends_on_what_is_let_go(path, old, new, severity):
    severities = {each.severity for each in found(find, {path: (old, new)})}
    assert severities == (set() if severity is None else {severity} | severities)


def test_a_type_checker_may_take_the_place_of_another():
    old = "[mypy]\nstrict_equality = True\n"
    new = "[tool.zuban]\nstrict_equality = true\n"
    assert found(find, {"setup.cfg": (old, ""), "pyproject.toml": (None, new)}) == []
    assert found(find, {"setup.cfg": (old, ""), "pyproject.toml": (None, new.replace("zuban", "towncrier"))}) != []
