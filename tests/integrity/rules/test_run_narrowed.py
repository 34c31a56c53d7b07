"""T3: settings, commands, marks and hooks that leave tests out are found; what runs all of them stays quiet."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules.run_narrowed import find
from tests.integrity.making import found

PYPROJECT = '[tool.pytest.ini_options]\naddopts = "-ra -q"\ntestpaths = ["tests", "more"]\n'
WORKFLOW = (
    "on: [push]\njobs:\n  test:\n    runs-on: x\n    steps:\n      - uses: actions/checkout@v4\n      - run: {}\n"
)
PACKAGE = '{{"scripts": {{"test": "{}"}}}}'
MODIFY = "def pytest_collection_modifyitems(config, items):\n    {}\n"


def options(text):
    return PYPROJECT.replace("-ra -q", f"-ra -q {text}")


@pytest.mark.parametrize(
    "option",
    [
        "-k 'not lid'",
        "-knot_lid",
        "-m 'not slow'",
        "--deselect tests/test_box.py::test_lid",
        "--deselect=tests/test_box.py::test_lid",
        "--ignore=tests/test_box.py",
        "--ignore-glob='tests/*lid*'",
        "--lf",
        "--collect-only",
        "--setup-plan",
    ],
)
def test_an_option_of_pytest_that_leaves_tests_out_is_found(option):
    (finding,) = found(find, {"pyproject.toml": (PYPROJECT, options(option))})
    assert (finding.rule, finding.severity, finding.about) == ("T3", Severity.HIGH, "pytest.narrowed")
    ini = "[pytest]\naddopts = -q\n", f"[pytest]\naddopts = -q\n    {option}\n"
    assert [each.about for each in found(find, {"pytest.ini": ini})] == ["pytest.narrowed"]


@pytest.mark.parametrize(
    ("path", "old", "new", "about"),
    [
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace(', "more"', ""), "pytest.testpaths"),
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace('"tests", "more"', '"tests/unit"'), "pytest.testpaths"),
        ("pyproject.toml", PYPROJECT, PYPROJECT + 'norecursedirs = ["lids"]\n', "pytest.norecursedirs"),
        ("pyproject.toml", PYPROJECT, PYPROJECT + 'python_files = ["test_box.py"]\n', "pytest.python_files"),
        ("setup.cfg", "[tool:pytest]\n", "[tool:pytest]\npython_functions = test_box_*\n", "pytest.python_functions"),
        (
            "tox.ini",
            "[pytest]\npython_classes = Test Box\n",
            "[pytest]\npython_classes = Box\n",
            "pytest.python_classes",
        ),
        ("pytest.toml", "[pytest]\n", '[pytest]\naddopts = ["-k", "box"]\n', "pytest.narrowed"),
        ("pytest.ini", "[pytest]\n", "[pytest]\ntestpaths = tests/unit\n", "pytest.testpaths"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest --version\n", "test: --version"),
        ("conftest.py", "", 'collect_ignore = ["test_lid.py"]\n', "pytest.collect_ignore"),
        ("tests/conftest.py", None, 'collect_ignore_glob = ["*_lid.py"]\n', "pytest.collect_ignore"),
        (
            "conftest.py",
            'collect_ignore = ["setup.py"]\n',
            'collect_ignore = ["setup.py"]\ncollect_ignore.append("test_lid.py")\n',
            "pytest.collect_ignore",
        ),
        (
            "conftest.py",
            "",
            "def pytest_ignore_collect(collection_path):\n    return 'lid' in collection_path.name\n",
            "return 'lid' in collection_path.name",
        ),
        ("conftest.py", "", MODIFY.format("items.clear()"), "items.clear()"),
        ("conftest.py", "", MODIFY.format("del items[1:]"), "del items[1:]"),
        ("conftest.py", "", MODIFY.format("items[:] = []"), "items[:] = []"),
        ("conftest.py", "", MODIFY.format("items[:] = items[:3]"), "items[:] = items[:3]"),
        (
            "conftest.py",
            "",
            MODIFY.format("items[:] = [i for i in items if 'lid' not in i.name]"),
            "items[:] = [i for i in items if 'lid' not in i.name]",
        ),
        (
            "tests/__init__.py",
            "",
            "def load_tests(loader, tests, pattern):\n    return loader.loadTestsFromName('box')\n",
            "return loader.loadTestsFromName('box')",
        ),
        (
            "jest.config.js",
            "export default { roots: ['<rootDir>/src'] };",
            "export default { roots: ['<rootDir>/src'], testPathIgnorePatterns: ['/node_modules/', 'lid'] };",
            "jest.testPathIgnorePatterns",
        ),
        (
            "package.json",
            '{"jest": {"testMatch": ["**/*.test.js", "**/*.spec.js"]}}',
            '{"jest": {"testMatch": ["**/*.test.js"]}}',
            "jest.testMatch",
        ),
        (
            "vitest.config.ts",
            "export default defineConfig({ test: { globals: true } })",
            "export default defineConfig({ test: { globals: true, exclude: ['src/lid.test.ts'] } })",
            "vitest.exclude",
        ),
        (".mocharc.yml", "spec: [a.js, b.js]\n", "spec: [a.js]\n", "mocha.spec"),
        (".mocharc.json", '{"ui": "bdd"}', '{"ui": "bdd", "grep": "box"}', "mocha.grep"),
        ("pom.xml", "<a/>", "<a><excludes><exclude>**/LidTest.java</exclude></excludes></a>", "maven.exclude"),
        ("pom.xml", "<a/>", "<a><skipTests>true</skipTests></a>", "maven.skipTests"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest -k box\n", "test: -k box"),
        ("Makefile", "test: all\n\tpytest tests\n", "test:\n\tpytest \\\n\t  tests/unit\n", "test: tests/unit"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\t@echo passed\n", "test: emptied"),
        ("justfile", "test *args:\n  pytest {{args}}\n", "test *args:\n  pytest --lf {{args}}\n", "test: --lf"),
        (
            "tox.ini",
            "[testenv]\ncommands = pytest {posargs}\n",
            "[testenv]\ncommands = pytest -m fast\n",
            "testenv: -m fast",
        ),
        (
            "noxfile.py",
            "def tests(session):\n    session.run('pytest', *session.posargs)\n",
            "def tests(session):\n    session.run('pytest', '-k', 'not lid')\n",
            "tests: -k not lid",
        ),
        ("package.json", PACKAGE.format("jest"), PACKAGE.format("jest -t box"), "scripts.test: -t box"),
        (
            "package.json",
            PACKAGE.format("vitest run"),
            PACKAGE.format("vitest run src/box.test.ts"),
            "scripts.test: src/box.test.ts",
        ),
        ("package.json", PACKAGE.format("jest"), PACKAGE.format("echo ok"), "scripts.test: emptied"),
        ("package.json", PACKAGE.format("jest"), PACKAGE.format("exit 0"), "scripts.test: emptied"),
        ("Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test ./box\n", "test: ./box"),
        ("Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test -run TestBox ./...\n", "test: -run TestBox"),
        ("Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test -short ./...\n", "test: -short"),
        ("Makefile", "test:\n\tcargo test\n", "test:\n\tcargo test --lib\n", "test: --lib"),
        ("Makefile", "test:\n\tmvn -B verify\n", "test:\n\tmvn -B verify -DskipTests\n", "test: -DskipTests"),
        ("Makefile", "test:\n\t./gradlew check\n", "test:\n\t./gradlew check -x test\n", "test: -x test"),
        (
            "Makefile",
            "test:\n\tpython -m unittest\n",
            "test:\n\tpython -m unittest -k box\n",
            "test: -k box",
        ),
        ("scripts/test", "#!/bin/sh\npytest\n", "#!/bin/sh\npytest --deselect a.py::b\n", "script: --deselect a.py::b"),
        (
            "pyproject.toml",
            '[tool.hatch.envs.default.scripts]\ntest = "pytest {args}"\n',
            '[tool.hatch.envs.default.scripts]\ntest = "pytest -k box {args}"\n',
            "test: -k box",
        ),
        (
            "pyproject.toml",
            '[tool.poe.tasks.test]\ncmd = "pytest"\n',
            '[tool.poe.tasks.test]\ncmd = "pytest --lf"\n',
            "test: --lf",
        ),
        (
            "pyproject.toml",
            '[tool.tox.env_run_base]\ncommands = [["pytest", "tests"]]\n',
            '[tool.tox.env_run_base]\ncommands = [["pytest", "tests", "-k", "not lid"]]\n',
            "env_run_base: -k not lid",
        ),
        (
            "pyproject.toml",
            '[tool.tox]\nlegacy_tox_ini = """\n[testenv]\ncommands = pytest\n"""\n',
            '[tool.tox]\nlegacy_tox_ini = """\n[testenv]\ncommands = pytest -k box\n"""\n',
            "testenv: -k box",
        ),
        (
            ".github/workflows/ci.yml",
            WORKFLOW.format("uv run pytest -n auto"),
            WORKFLOW.format("uv run pytest -n auto -k 'not lid'"),
            ": -k not lid",
        ),
        ("src/box.test.ts", "it('a', f)\nit('b', f)\n", "it.only('a', f)\nit('b', f)\n", "it.only"),
        ("src/box.spec.js", "describe('a', f)\n", "fdescribe('a', f)\n", "fdescribe"),
        ("e2e/box.ts", "test.describe('a', f)\n", "test.describe.only('a', f)\n", "test.describe.only"),
        ("box_test.go", "package box\n", "//go:build ignore\n\npackage box\n", "//go:build ignore"),
        ("box_test.go", "package box\n", "// +build slow\n\npackage box\n", "// +build slow"),
    ],
)
def test_a_narrowed_run_is_found(path, old, new, about):
    findings = found(find, {path: (old, new)})
    assert [finding.about for finding in findings] == [about]
    assert findings[0].severity is Severity.HIGH


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace("-ra -q", "-q --cov=box -ra -n auto")),
        ("pyproject.toml", options("-k box"), PYPROJECT),
        ("pyproject.toml", options("-k box"), '[tool.pytest.ini_options]\naddopts = ["-k", "box"]\n'),
        ("pyproject.toml", PYPROJECT, options("--ignore=docs --ignore build")),
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace('"tests", "more"', '"more", "tests", "src"')),
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace('"tests", "more"', '"checks"')),
        ("pyproject.toml", PYPROJECT, PYPROJECT + 'norecursedirs = [".git", "build", "*.egg"]\n'),
        ("pytest.ini", "[pytest]\n", "[pytest]\nnorecursedirs = .* CVS _darcs {arch} *.egg dist\n"),
        ("pyproject.toml", PYPROJECT, PYPROJECT + 'python_files = ["test_*.py", "check_*.py"]\n'),
        ("tox.ini", "[pytest]\npython_files = test_a*.py\n", "[pytest]\npython_files = test_*.py\n"),
        ("pytest.ini", "[pytest]\n", "[pytest]\ntestpaths = tests src\n"),
        ("conftest.py", "collect_ignore = ['a.py', 'b.py']\n", "collect_ignore = ['b.py'] + ['a.py']\n"),
        ("conftest.py", "import sys\n", "import sys\nif sys.platform == 'win32':\n    collect_ignore = ['a.py']\n"),
        ("conftest.py", "", MODIFY.format("items.sort(key=str)")),
        ("conftest.py", "", MODIFY.format("items[:] = sorted(items)")),
        ("conftest.py", "", MODIFY.format("print(len(items))")),
        (
            "conftest.py",
            "",
            MODIFY.format("items[:] = [i for i in items if config.getoption('slow') or 'slow' not in i.name]"),
        ),
        ("conftest.py", MODIFY.format("items.clear()"), MODIFY.format("items.clear()  # none")),
        ("tests/__init__.py", "", "def load_tests(loader, tests, pattern):\n    tests.addTest(x)\n    return tests\n"),
        ("conftest.py", "", "def pytest_ignore_collect():\n    return None\n"),
        ("jest.config.js", "module.exports = {};", "module.exports = { testPathIgnorePatterns: ['/node_modules/'] };"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest -x -q --maxfail=3\n"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest -m slow\n\tpytest -m 'not slow'\n"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\ttox run\n"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\t./run.sh\n"),
        ("Makefile", "test:\n\tpytest\n", "check:\n\tpytest\n"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest\nfast:\n\tpytest -m fast\n"),
        ("Makefile", "test:\n\tpytest tests/unit tests/box\n", "test:\n\tpytest tests\n"),
        ("tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands = python -m pytest {posargs}\n"),
        ("package.json", PACKAGE.format("jest"), PACKAGE.format("vitest run --coverage")),
        (".github/workflows/ci.yml", WORKFLOW.format("pytest"), WORKFLOW.format("tox -e py")),
        ("src/box.test.ts", "it('a', f)\n", "it('a', f) // never it.only(\nconst text = 'it.only('\n"),
        ("src/box.test.ts", "it.only('a', f)\n", "it.only('b', f)\n"),
        ("src/box.test.ts", None, "it.only('a', f)\n"),
        ("box_test.go", "package box\n", "//go:build linux && !arm64\n\npackage box\n"),
        ("box.go", "package box\n", "//go:build ignore\n\npackage box\n"),
        ("README.md", "pytest", "pytest -k box"),
    ],
)
def test_a_run_of_all_tests_is_nothing(path, old, new):
    assert found(find, {path: (old, new)}) == []


def test_an_option_that_a_hook_sets_is_told_whatever_came_of_it():
    hook = "def pytest_configure(config):\n    config.option.keyword = 'not lid'\n"
    (finding,) = found(find, {"conftest.py": ("", hook)})
    assert (finding.severity, finding.line) == (Severity.HIGH, 2)
    assert found(find, {"conftest.py": (hook, f"{hook}    pass\n")}) == []


def test_a_hook_that_stood_there_is_nothing():
    hook = "def pytest_ignore_collect(path):\n    return True\n"
    assert found(find, {"conftest.py": (hook, hook + "import box\n")}) == []


def test_a_finding_names_old_and_new_command_and_the_line():
    (finding,) = found(find, {"Makefile": ("all:\ntest:\n\tpytest\n", "all:\ntest:\n\tpytest -k box\n")})
    assert (finding.old, finding.new, finding.line) == ("pytest", "pytest -k box", 3)
    assert finding.message == "test command narrowed in test: -k box"


MOVED = "[tool:pytest]\npython_files = test/*test_*.py\npython_classes = *Test Test*\n"


@pytest.mark.parametrize(
    ("new", "about"),
    [
        pytest.param('python_files = ["test/*test_*.py"]\npython_classes = ["*Test", "Test*"]\n', [], id="as it was"),
        pytest.param(
            'python_files = ["test/*test_a*.py"]\npython_classes = ["*Test", "Test*"]\n',
            ["pytest.python_files"],
            id="with fewer files",
        ),
    ],
)
def test_patterns_may_move_to_another_file(new, about):
    files = {"pyproject.toml": ("", f"[tool.pytest.ini_options]\n{new}"), "setup.cfg": (MOVED, "")}
    assert sorted({each.about for each in found(find, files)}) == about


RAN = {"box.tests.tests::test_lid": "passed"}
MINE = "def test_lid():\n    assert True\n"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        pytest.param({"benchmarks/pytest.ini": (None, "[pytest]\npython_files = bench_*.py\n")}, False, id="beside"),
        pytest.param(
            {"tests/pytest.ini": ("[pytest]\npython_files = t*.py\n", "[pytest]\npython_files = b.py\n")},
            True,
            id="among tests",
        ),
        pytest.param({"pytest.ini": (None, "[pytest]\npython_files = tests.py\n")}, False, id="none bears that name"),
        pytest.param({"pytest.ini": (None, "[pytest]\npython_files = checks.py\n")}, False, id="nor another one"),
        pytest.param(
            {"setup.cfg": ("[tool:pytest]\npython_files = tests.py\n", "[tool:pytest]\npython_files = no.py\n")},
            True,
            id="those that bear it",
        ),
        pytest.param(
            {
                "setup.cfg": ("[tool:pytest]\ntestpaths = . docs\n", "[tool:pytest]\ntestpaths = tests docs\n"),
                "test_box.py": (MINE, None),
                "tests/test_box.py": (None, MINE),
            },
            False,
            id="all tests moved there",
        ),
        pytest.param(
            {
                "setup.cfg": ("[tool:pytest]\ntestpaths = . docs\n", "[tool:pytest]\ntestpaths = tests docs\n"),
                "test_box.py": (MINE, MINE + "    assert 1\n"),
                "tests/test_lid.py": (None, MINE),
            },
            True,
            id="one stays behind",
        ),
        pytest.param(
            {
                "setup.cfg": ("[tool:pytest]\ntestpaths = tests docs\n", ""),
                "pyproject.toml": (None, "[tool.pytest.ini_options]\ntestpaths = ['tests', 'docs']\n"),
            },
            False,
            id="moved to another file",
        ),
        pytest.param(
            {
                "setup.cfg": ("[tool:pytest]\ntestpaths = tests docs\n", ""),
                "pyproject.toml": (None, "[tool.pytest.ini_options]\ntestpaths = ['tests', 'docs']\n"),
                "pytest.ini": (None, "[pytest]\ntestpaths = tests/test_lid.py\n"),
            },
            True,
            id="and narrowed in a third",
        ),
    ],
)
def test_where_tests_are_looked_for_tells_whether_fewer_are(files, told):
    assert bool(found(find, files, before=RAN)) is told
