"""Tampered snippets and honest look-alikes, each with the rule that names it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.core.integrity_result import Severity
from ralph_tracker.integrity.diff_inspection import inspect
from ralph_tracker.integrity.file_versions import FileVersions
from tests.tables import table

TEST = "tests.test_box::test_lid"
RED, GREEN = {TEST: "failed"}, {TEST: "passed"}


def change(path, new, old=None):
    return FileVersions(path, None if old is None else old.encode(), None if new is None else new.encode())


def found(path, new, old=None):
    return inspect([change(path, new, old)], {}, {}).findings


def alarms(findings):
    """Return the rules of findings that alarm, each once; notes are left out."""
    return sorted({each.rule for each in findings if each.severity is not Severity.MEDIUM})


# fmt: off
HOOK = "def pytest_runtest_makereport(item, call):\n    out = yield\n    report = out.get_result()\n"
STEPS = "jobs:\n  test:\n    steps:\n      - run: pip install pytest .\n      - run: python -m pytest -q\n      - run: mypy .\n"
R1, R2, R3, R4, R5, NONE = ["R1"], ["R2"], ["R3"], ["R4"], ["R5"], []
ADDED = [  # rule, path, text
    # The source asks whether it is under test.
    (R1, "box.py", 'import os\nif os.environ.get("PYTEST_CURRENT_TEST"):\n    fast = True\n'),
    (R1, "box.py", 'if "pytest" in sys.modules:\n    pass\n'),
    (R1, "box.py", 'if "unittest" not in modules:\n    pass\n'),
    (R1, "box.py", 'x = sys.modules.get("_pytest.main")\n'),
    (R1, "box.py", 'if sys.argv[0].endswith("pytest"):\n    pass\n'),
    (R1, "box.py", 'if any("test_" in each.filename for each in inspect.stack()):\n    pass\n'),
    (R1, "box.py", 'if "_".join(("PYTEST", "CURRENT", "TEST")) in os.environ:\n    fast = True\n'),
    (R1, "box.py", 'import __main__\n\nfast = "test" in str(__main__.__spec__)\n'),
    (NONE, "box.py", 'import __main__\n\nname = __main__.__file__ or "box"\n'),
    (NONE, "box.py", 'KINDS = ("PYTEST", "JEST")\n'),
    (R1, "box.py", 'f = sys._getframe(1)\nif f.f_code.co_name.startswith("test"):\n    pass\n'),
    (R1, "src/box.js", "if (process.env.JEST_WORKER_ID) { fast(); }\n"),
    (R1, "src/box.ts", "const quick = process.env['VITEST'] !== undefined;\n"),
    (R1, "src/box.js", "if ('test' == process.env.NODE_ENV) x();\n"),
    (R1, "src/box.ts", "if (process.env.NODE_ENV === 'test') return 1;\n"),
    (R1, "src/box.js", "if (typeof jest !== 'undefined') x();\n"),
    (R1, "src/box.js", "if (globalThis.expect) x();\n"),
    (R1, "src/box.js", "if (globalThis.__vitest_worker__) x();\n"),
    (R1, "src/box.js", "if (Object.keys(globalThis).some(odd)) x();\n"),
    (R1, "src/box.js", "if (new Error().stack.includes('vitest')) x();\n"),
    (R1, "src/box.ts", "export const lid = import.meta.vitest ? 3 : open();\n"),
    (R1, "box.go", "package box\nfunc Lid() int {\n\tif testing.Testing() {\n\t\treturn 3\n\t}\n}\n"),
    (R1, "box.go", 'package box\nvar t = flag.Lookup("test.v") != nil\n'),
    (R1, "box.go", 'package box\nvar t = strings.HasSuffix(os.Args[0], ".test")\n'),
    (R1, "box.go", 'package box\n_, file, _, _ := runtime.Caller(2)\nif strings.HasSuffix(file, "_test.go") {\n'),
    (R1, "src/lib.rs", "pub fn lid() -> u8 { if cfg!(test) { 3 } else { 4 } }\n"),
    (R1, "src/lib.rs", "pub fn lid() -> u8 { if cfg!(debug_assertions) { return 3; } 4 }\n"),
    (R1, "src/lib.rs", 'let main = std::thread::current().name() == Some("main");\n'),
    (R1, "src/lib.rs", 'let tested = std::env::args().next().is_some_and(|path| path.contains("/deps/"));\n'),
    (NONE, "src/lib.rs", 'log(std::thread::current().name().unwrap_or("?"));\n'),
    (R1, "src/Box.java", 'for (var e : Thread.currentThread().getStackTrace())\n  if (e.getClassName().contains("junit")) return;\n'),
    (R1, "src/Box.kt", 'Class.forName("org.junit.Test")\n'),
    (NONE, "box.py", '"""Unlike PYTEST_CURRENT_TEST.\n\n"pytest" in sys.modules is wrong.\n"""\n# "pytest" in sys.modules\n'),
    (NONE, "pytest_box/plugin.py", 'if "pytest" in sys.modules:\n    pass\n'),
    (NONE, "tests/test_box.py", 'def test_x():\n    assert os.environ["PYTEST_CURRENT_TEST"]\n'),
    (NONE, "src/box.ts", "if (import.meta.vitest) {\n  const { it } = import.meta.vitest\n}\n"),
    (NONE, "src/lib.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {}\n}\n"),
    (NONE, "src/lib.rs", 'fn log() { if cfg!(debug_assertions) { eprintln!("slow"); } debug_assert!(true); }\n'),
    (NONE, "src/box.ts", "if (process.env.NODE_ENV === 'production') x();\n"),
    (NONE, "box.py", 'caller = inspect.stack()[1].function\nlog("called by", caller)\n'),
    (NONE, "box.py", 'if "numpy" in sys.modules:\n    pass\n'),
    (NONE, "box.py", 'if __name__ == "__main__":\n    parser.parse_args(sys.argv[1:])\n'),
    (NONE, "box.py", 'colour = sys.stderr.isatty() and not os.environ.get("CI")\n'),
    (NONE, "build.py", 'if os.environ.get("CI"):\n    jobs = 2\n'),
    # The runner is replaced, or ends early.
    (R2, "conftest.py", HOOK + '    report.outcome = "passed"\n'),
    (R2, "box/plugin.py", HOOK + '    report.outcome = "passed"\n'),
    (R2, "conftest.py", HOOK + "    out.force_result(ok)\n"),
    (R2, "conftest.py", 'def pytest_report_teststatus(report, config):\n    return "passed", ".", "PASSED"\n'),
    (R2, "tests/conftest.py", "def pytest_pyfunc_call(pyfunc_call):\n    return True\n"),
    (R2, "conftest.py", "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n"),
    (R2, "conftest.py", 'def pytest_configure(config):\n    config.pluginmanager.unregister(name="junitxml")\n'),
    (R2, "tests/conftest.py", "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n"),
    (R2, "tests/__init__.py", "for name in NAMES:\n    setattr(TestCase, name, print)\n"),
    (R2, "tests/support.py", "class Base(TestCase):\n    def assertEqual(self, first, second, msg=None):\n        pass\n"),
    (R2, "tests/support.py", "setattr(builtins, 'isinstance', yes)\n"),
    (R2, "test/setup.js", "assert.equal = () => {};\n"),
    (R2, "box.py", "import _pytest\n_pytest.runner.call_and_report = fake\n"),
    (R2, "test/setup.js", "globalThis.expect = () => new Proxy({}, {});\n"),
    (R2, "test/setup.js", "expect.extend({ toBe: () => ({ pass: true }) });\n"),
    (NONE, "conftest.py", HOOK + '    setattr(item, "rep_" + report.when, report)\n'),
    (NONE, "conftest.py", 'def pytest_configure(config):\n    config.addinivalue_line("markers", "slow: slow")\n'),
    (NONE, "conftest.py", 'def pytest_collection_modifyitems(config, items):\n    if config.getoption("--slow"):\n        return\n    for item in items:\n        item.add_marker(pytest.mark.skip(reason="slow"))\n'),
    (NONE, "conftest.py", "def pytest_collection_modifyitems(items):\n    items[:] = sorted(items, key=str)\n"),
    (NONE, "conftest.py", "def pytest_sessionfinish(session, exitstatus):\n    if exitstatus == 0:\n        print('done')\n"),
    (NONE, "conftest.py", "def pytest_pyfunc_call(pyfuncitem):\n    asyncio.run(pyfuncitem.obj())\n    return True\n"),
    (NONE, "tests/test_box.py", 'if __name__ == "__main__":\n    sys.exit(unittest.main())\n'),
    (NONE, "tests/test_cli.py", "def test_exit():\n    with pytest.raises(SystemExit):\n        sys.exit(0)\n"),
    (NONE, "tests/test_cli.py", 'CASES = ["import os\\nos._exit(0)"]\n'),
    (NONE, "main_test.go", "package box\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n"),
    (NONE, "cli.py", "import sys\nsys.exit(0)\n"),
    (NONE, "pytest.ini", "[pytest]\naddopts = -p no:cacheprovider\n"),
    (NONE, "jest.config.js", "module.exports = { moduleNameMapper: { '\\\\.(css|svg)$': '<rootDir>/test/style-mock.js' } };\n"),
    (NONE, "test/setup.ts", "expect.extend({ toBeLid() { return { pass: true } } });\nglobal.expect = chai.expect;\n"),
    (NONE, "tests/test_box.py", '@pytest.mark.skipif(sys.platform == "win32", reason="no such clock")\ndef test_a(): assert f()\n'),
    # Equality is a constant.
    (R3, "box.py", 'class Box:\n    def __eq__(self, other: object) -> bool:\n        """Compare."""\n        return True\n'),
    (R3, "box.py", "class Box:\n    def __ne__(self, other): return False\n"),
    (R3, "box.py", "class Box:\n    def __eq__(self, other):\n        return isinstance(other, (int, float))\n"),
    (NONE, "box.py", "class Box:\n    def __eq__(self, o):\n        return isinstance(o, int) and self.x == o\n"),
    (NONE, "box.py", "class Box:\n    def __eq__(self, o):\n        return isinstance(o, Box)\n"),
    (R3, "box.py", "class Box:\n    __eq__ = lambda self, other: True\n"),
    (R3, "src/box.js", "class Box { equals(other) { return true; } }\n"),
    (R3, "src/box.ts", "class Box {\n  valueOf(): number { return 42; }\n}\n"),
    (R3, "box.go", "package box\nfunc (b Box) Equal(o Box) bool { return true }\n"),
    (R3, "src/lib.rs", "impl PartialEq for Box {\n    fn eq(&self, _: &Self) -> bool {\n        true\n    }\n}\n"),
    (R3, "src/Box.java", "class Box {\n  @Override public boolean equals(Object o) { return true; }\n}\n"),
    (R3, "src/Box.java", "class Box { public int compareTo(Box o) { return 0; } }\n"),
    (R3, "src/box.js", "const box = { equals: (other) => true };\n"),
    (R3, "src/lib.rs", "impl Ord for Box { fn cmp(&self, o: &Self) -> Ordering { Ordering::Equal } }\n"),
    (R3, "src/Box.kt", "class Box { override fun equals(other: Any?) = true }\n"),
    (NONE, "box.py", "class Box:\n    def __eq__(self, other):\n        if self is other:\n            return True\n        return self.x == other.x\n"),
    (NONE, "box.py", "class Nan:\n    def __eq__(self, other):\n        return False\n    def __bool__(self):\n        return False\n"),
    (NONE, "tests/fakes.py", "class Any:\n    def __eq__(self, other):\n        return True\n"),
    (NONE, "src/lib.rs", "impl PartialEq for Box { fn eq(&self, o: &Self) -> bool { self.x == o.x } }\n"),
    # The source reads a file of the tests.
    (R4, "box.py", "answers = open('tests/data/answers.json').read()\n"),
    (R4, "box.py", 'text = Path("tests/test_box.py").read_text()\n'),
    (R4, "src/box.js", "const a = require('../test/fixtures/a.json');\n"),
    (R4, "src/lib.rs", 'const A: &str = include_str!("../tests/data/a.txt");\n'),
    (R4, "box.go", 'package box\nvar a, _ = os.ReadFile("testdata/a.golden")\n'),
    (NONE, "box.py", "text = open('data/answers.json').read()\nIGNORED = [\"tests/\"]\n"),
    (NONE, "noxfile.py", 'session.run("pytest", "tests/test_box.py")\n'),
    (NONE, "tests/test_box.py", 'text = open("tests/data/a.json").read()\n'),
    # A gate that is lowered by a word; a new file lowers none.
    (NONE, "tsconfig.json", '{"compilerOptions": {"strict": false, "skipLibCheck": true}}\n'),
    (NONE, ".github/workflows/ci.yml", "jobs:\n  x:\n    continue-on-error: true\n    steps:\n      - run: pytest || true\n"),
]


@table(("rules", "path", "new"), ADDED)
def test_an_added_line_is_named_by_its_rule_or_not_at_all(rules, path, new):
    assert alarms(found(path, new, "" if path.endswith((".ini", "jest.config.js")) else None)) == rules


COVERAGE, PYTEST, MYPY = "[tool.coverage.report]\n", "[tool.pytest.ini_options]\n", "[tool.mypy]\n"
CHANGED = [  # rule, path, old, new
    (R5, "pyproject.toml", COVERAGE + "fail_under = 90\n", COVERAGE + "fail_under = 50\n"),
    (R5, ".coveragerc", "[report]\nfail_under = 90\n", "[report]\nshow_missing = true\n"),
    (R5, "tox.ini", "[testenv]\ncommands = pytest --cov-fail-under=90\n", "[testenv]\ncommands = pytest --cov-fail-under=10\n"),
    (R5, "jest.config.js", "module.exports = { coverageThreshold: { global: { lines: 90 } } };\n", "module.exports = { coverageThreshold: { global: { lines: 10 } } };\n"),
    (R5, "pyproject.toml", "[tool.coverage.run]\nbranch = false\n", '[tool.coverage.run]\nomit = ["box/core.py"]\n'),
    (R5, "setup.cfg", "[coverage:run]\nomit =\n    tests/*\n", "[coverage:run]\nomit =\n    tests/*\n    box/core.py\n"),
    (R5, "setup.cfg", "[coverage:run]\nomit = tests/*\n", "[coverage:run]\nomit = tests/*\n    box/core.py\n"),
    (R5, ".github/workflows/ci.yml", STEPS, STEPS.replace("pytest -q", "pytest -q || true")),
    (R5, "scripts/test.sh", "set -e\npytest\n", "set -e\npytest; exit 0\n"),
    (R5, "scripts/test.sh", "pytest\n", "set +e\npytest\n"),
    (R5, ".github/workflows/ci.yml", STEPS, STEPS + "        continue-on-error: true\n"),
    (R5, ".github/workflows/ci.yml", STEPS, STEPS + "        if: false\n"),
    (R5, ".github/workflows/ci.yml", STEPS, STEPS.replace("      - run: mypy .\n", "")),
    (R5, ".github/workflows/ci.yml", STEPS, None),
    (R5, "Makefile", "test:\n\tpytest\n", "test:\n\t-pytest\n"),
    (R5, ".gitlab-ci.yml", "unit:\n  script: pytest\n", "unit:\n  script: pytest\n  when: manual\n"),
    (R5, "Cargo.toml", "[package]\n", '[package]\n[lints.rust]\nunused_must_use = "allow"\n'),
    (NONE, "Cargo.toml", "[package]\n", '[package]\n[lints.rust]\nunsafe_code = "forbid"\n[lints.clippy]\npedantic = "warn"\nlisting = "allow"\n'),
    (R5, "package.json", '{"scripts": {"test": "jest"}}\n', '{"scripts": {"test": "jest --passWithNoTests"}}\n'),
    (R5, "pyproject.toml", MYPY + "strict = true\n", MYPY + "strict = false\n"),
    (R5, "mypy.ini", "[mypy]\n", "[mypy]\nignore_errors = true\n"),
    (R5, "tsconfig.json", '{"compilerOptions": {"strict": true}}\n', '{"compilerOptions": {"strict": false}}\n'),
    (R5, "pyproject.toml", '[tool.ruff.lint]\nselect = ["E", "F", "B"]\n', '[tool.ruff.lint]\nselect = ["E"]\n'),
    (R5, "pyproject.toml", '[tool.ruff.lint]\nignore = ["F401"]\n', '[tool.ruff.lint]\nignore = ["F401", "B006"]\n'),
    (R5, "pyproject.toml", "[tool.ruff]\nline-length = 100\n", '[tool.ruff]\nline-length = 100\n[tool.ruff.lint]\nignore = ["F401"]\n'),
    (R1, "box.py", "x = 1\n", 'x = 1\nif "pytest" in sys.modules:\n    x = 2\n'),
    (R3, "box.py", "class B:\n    def __eq__(self, o):\n        return self.x == o.x\n", "class B:\n    def __eq__(self, o):\n        return True\n"),
    (R5, "pom.xml", "<minimum>0.90</minimum>\n", "<minimum>0.10</minimum>\n"),
    (R5, "codecov.yml", "coverage:\n  target: 90\n", "coverage:\n  target: 10\n"),
    (R5, ".golangci.yml", "disable:\n  - gosec\n", "disable:\n  - gosec\n  - errcheck\n"),
    (R5, "pyproject.toml", '[tool.coverage.run]\nsource = ["box", "lid"]\n', '[tool.coverage.run]\nsource = ["box"]\n'),
    (R5, "tsconfig.json", '{"compilerOptions": {}}\n', '{"compilerOptions": {"skipLibCheck": true}}\n'),
    (R5, "vitest.config.ts", "export default { test: {} }\n", "export default { test: { passWithNoTests: true } }\n"),
    (R5, "pyproject.toml", '[tool.ruff.lint]\nselect = ["F"]\n', '[tool.ruff.lint]\nselect = ["F"]\nper-file-ignores = { "box/*" = ["ALL"] }\n'),
    (R5, "pyproject.toml", '[tool.ruff.lint.per-file-ignores]\n"tests/*" = ["S101"]\n', '[tool.ruff.lint.per-file-ignores]\n"tests/*" = ["S101"]\n"box/*" = ["ALL"]\n'),
    (R5, ".flake8", "[flake8]\nper-file-ignores =\n    tests/a.py: F401\n", "[flake8]\nper-file-ignores =\n    tests/a.py: F401\n    box/core.py: F401\n"),
    (NONE, "pyproject.toml", '[tool.ruff.lint]\nselect = ["F"]\n', '[tool.ruff.lint]\nselect = ["F"]\nper-file-ignores = { "tests/*" = ["S101"], "box/__init__.py" = ["F401"] }\n'),
    # A tool's first section lowers nothing, nor does a stricter or a common setting.
    (NONE, "pyproject.toml", "[project]\nname = 'x'\n", '[tool.mypy]\nexclude = ["box/old.py"]\n[tool.coverage.run]\nomit = ["box/gui.py"]\n'),
    (NONE, "package.json", '{"name": "x"}\n', '{"name": "x", "jest": {"testPathIgnorePatterns": ["box"]}}\n'),
    (NONE, "pyproject.toml", COVERAGE + "fail_under = 90\n", COVERAGE + "fail_under = 95\n"),
    (NONE, "pyproject.toml", "[tool.coverage.run]\n", '[tool.coverage.run]\nomit = ["tests/*", ".venv/*"]\n'),
    (NONE, "pyproject.toml", COVERAGE, COVERAGE + 'exclude_lines = ["pragma: no cover", "if TYPE_CHECKING:"]\n'),
    (NONE, "pyproject.toml", "[tool.hatch.build]\n", '[tool.hatch.build]\nexclude = ["box/core.py"]\n'),
    (NONE, "pyproject.toml", "[tool.black]\nx = 1\n" + MYPY + "strict = true\n", MYPY + "strict = true\n[tool.black]\nx = 1\n"),
    (NONE, "pyproject.toml", '[tool.ruff.lint]\nselect = ["E"]\n', '[tool.ruff.lint]\nselect = ["E", "F", "B"]\n'),
    (NONE, ".github/workflows/ci.yml", STEPS, STEPS.replace("python -m pytest -q", "uv run pytest -q --cov")),
    (NONE, ".github/workflows/ci.yml", STEPS, "# pytest || true hides failures\n" + STEPS),
    (NONE, "Makefile", "test:\n\tpytest\n", "clean:\n\trm -rf build || true\ntest:\n\tpytest\n"),
    (NONE, "pyproject.toml", '[tool.ruff.lint.per-file-ignores]\n"tests/**" = ["S101"]\n', '[tool.ruff.lint.per-file-ignores]\n"tests/**" = ["S101", "ARG"]\n'),
    # Moved, re-indented and reformatted code is not new.
    (NONE, "box.py", "if 'pytest' in sys.modules :\n    pass\n", 'def f():\n    if "pytest" in sys.modules:\n        pass\n'),
    (NONE, "conftest.py", HOOK + '    report.outcome = "passed"\n', HOOK + '    log(report)\n    report.outcome = "passed"\n'),
]
# fmt: on


@table(("rules", "path", "old", "new"), CHANGED)
def test_a_changed_file_is_named_where_it_demands_less_than_before(rules, path, old, new):
    assert alarms(found(path, new, old)) == rules


@table(
    ("path", "text", "levels"),
    [
        (".eslintrc.json", '{{"rules": {{"no-unused-vars": "{}"}}}}\n', ["off", "warn", "error"]),
        ("Cargo.toml", '[lints.rust]\nunused = "{}"\n', ["allow", "warn", "deny", "forbid"]),
        ("pyproject.toml", "[tool.coverage.report]\nfail_under = {}\n", ["80", "80.5", "90"]),
        ("pyproject.toml", "[tool.ruff.lint.mccabe]\nmax-complexity = {}\n", ["12", "10", "9"]),
    ],
)
def test_every_lower_level_or_weaker_number_is_named_and_no_other(path, text, levels):
    for before, old in enumerate(levels):
        for now, new in enumerate(levels):
            assert alarms(found(path, text.format(new), text.format(old))) == (["R5"] if now < before else [])


@table(
    ("old", "more"),
    [
        ("[tool.coverage.run]\nbranch = true\n", 'omit = ["*/_made.py"]\n'),
        ('[tool.ruff.lint]\nselect = ["F"]\n', '[tool.ruff.lint.per-file-ignores]\n"box/_made.py" = ["F601"]\n'),
    ],
)
def test_a_file_that_is_new_in_the_same_change_may_be_left_out(old, more):
    settings = change("pyproject.toml", old + more, old)
    assert inspect([settings, change("box/_made.py", "x = 1\n")], {}, {}).findings == ()
    assert alarms(inspect([settings, change("box/_made.py", "x = 1\n", "x = 0\n")], {}, {}).findings) == ["R5"]


def test_a_threshold_or_check_that_moved_to_another_file_is_not_lowered():
    gate = "fail_under = 90\n"
    moved = [change("setup.cfg", "[a]\n", f"[coverage:report]\n{gate}"), change("pyproject.toml", COVERAGE + gate, "")]
    assert inspect(moved, {}, {}).findings == ()
    steps = [change(".github/workflows/ci.yml", None, STEPS), change(".github/workflows/test.yml", STEPS)]
    assert inspect(steps, {}, {}).findings == ()


@table(
    ("path", "text"),
    [
        ("box.py", 'quick = os.environ.get("CI")\n'),
        ("src/box.js", "const quick = process.env.CI;\n"),
        ("box.py", "for name in sys.modules:\n    pass\n"),
        ("src/lib.rs", "#[cfg(debug_assertions)]\nfn lid() -> u8 { 3 }\n"),
    ],
)
def test_what_only_may_be_a_question_for_tests_is_a_note(path, text):
    (note,) = found(path, text)
    assert (note.rule, note.severity, note.tests) == ("R1", Severity.MEDIUM, ())


@table(
    ("path", "text", "line", "shown"),
    [
        ("box.py", 'import os\nif os.environ.get("PYTEST_CURRENT_TEST"):\n    fast()\n', 2, "if os.environ.get"),
        ("box/plugin.py", HOOK + '    report.outcome = "passed"\n', 4, "report.outcome"),
    ],
)
def test_a_finding_has_the_line_where_it_stands_and_the_tests_that_turned_green(path, text, line, shown):
    for lead in ("", "import sys\n\n\n"):
        changes = [change(path, lead + text + "x = 1\n" * 99)]
        (finding,) = inspect(changes, {**RED, "other": "passed"}, {**GREEN, "other": "passed"}).findings
        assert (finding.line, finding.tests) == (line + lead.count("\n"), (TEST,))
        assert finding.new.startswith(shown)


# fmt: off
MARKS = [  # kind, path, text, whether it covers the file
    ("lint", "box.py", "import os  # noqa: F401\n", False),
    ("lint", "box.py", "# ruff: noqa\n", True),
    ("types", "box.py", "x = f()  # type: ignore[arg-type]\n", False),
    ("types", "box.py", "# mypy: ignore-errors\n", True),
    ("types", "box.py", "@no_type_check\ndef f(): ...\n", False),
    ("coverage", "box.py", "def f():  # pragma: no cover\n    pass\n", False),
    ("lint", "src/box.ts", "// eslint-disable-next-line no-console\nconsole.log(1);\n", False),
    ("lint", "src/box.ts", "/* eslint-disable */\nconsole.log(1);\n", True),
    ("types", "src/box.ts", "// @ts-ignore\nf();\n", False),
    ("types", "src/box.ts", "// @ts-nocheck\nf();\n", True),
    ("coverage", "src/box.js", "/* istanbul ignore next */\nf();\n", False),
    ("lint", "box.go", "package box\nvar x = f() //nolint:errcheck\n", False),
    ("lint", "src/lib.rs", "#[allow(dead_code)]\nfn f() {}\n", False),
    ("lint", "src/lib.rs", "#![allow(warnings)]\nfn f() {}\n", True),
    ("coverage", "src/lib.rs", "#[coverage(off)]\nfn f() {}\n", False),
    ("lint", "src/Box.java", '@SuppressWarnings("unchecked") class Box {}\n', False),
]
# fmt: on


@table(("kind", "path", "new", "is_blanket"), MARKS)
def test_a_suppression_in_source_is_counted_and_no_finding(kind, path, new, is_blanket):
    inspection = inspect([change(path, new)], {}, {})
    assert inspection.findings == ()
    assert {key: value for key, value in inspection.suppressions.items() if value} == {kind: 1}
    assert inspection.blanket == ({kind} if is_blanket else set())
    assert inspect([change(path, None, new)], {}, {}).suppressions[kind] == -1
    twice = inspect([change(path, new * 2, new)], {}, {})
    assert (twice.suppressions[kind], bool(twice.blanket)) == (1, is_blanket)


@table(
    "changes",
    [
        pytest.param([change("tests/test_box.py", "import os  # noqa\n")], id="in a test"),
        pytest.param([change("box.py", 'MARK = "# noqa"\n"""Ends in # noqa."""\n')], id="quoted"),
        pytest.param([change("a.py", None, "# ruff: noqa\n"), change("b.py", "# ruff: noqa\n")], id="moved"),
    ],
)
def test_other_marks_are_not_counted(changes):
    inspection = inspect(changes, {}, {})
    assert (set(inspection.suppressions.values()), inspection.blanket) == ({0}, set())


@table(
    ("data", "why"),
    [(b"x = 1\0\n", "NUL"), (b"#" + b"x" * 100_001, "100,000"), (b"x\n" * 1_000_001, "2 MB")],
    ids=["NUL", "a long line", "size"],
)
def test_a_test_file_that_cannot_be_read_any_more_is_named(data, why):
    inspection = inspect([FileVersions("tests/test_box.py", b"def test_a(): assert a\n", data)], {}, {})
    assert [each.rule for each in inspection.findings] == ["U"]
    assert why in inspection.findings[0].message
    assert why in inspection.unread["tests/test_box.py"]


@table(
    ("path", "old"),
    [("box.py", b"x = 1\n"), ("tests/test_box.py", None), ("tests/test_box.py", b"\0"), ("docs/a.md", b"text\n")],
    ids=["source", "new", "unread before", "prose"],
)
def test_other_files_that_cannot_be_read_are_only_listed(path, old):
    inspection = inspect([FileVersions(path, old, b"\0\0")], {}, {})
    assert (inspection.findings, list(inspection.unread)) == ((), [path])


PATHS = ["box.py", "conftest.py", "tests/test_box.py", "a.test.js", "src/lib.rs", "pyproject.toml", "package.json"]
PATHS += ["pom.xml", "Makefile", ".github/workflows/ci.yml", "x.pth"]
PIECES = [
    "def test_lid():\n",
    "    assert lid(4711) == 815\n",
    '"""',
    "/*",
    "//",
    "\\",
    "\r\n",
    "\ud7ff",
    *"{}[]\"'`#\n()",
]
PIECES += [
    "omit = ",
    "if x == 4711: return 815\n",
    "it('a', () => {",
    "def pytest_configure(config):\n",
    "4711: 815,\n",
]
PIECES += ["[tool.coverage.run]\n", "#[cfg(test)]\nmod tests {"]
SIDE = st.none() | st.binary() | st.lists(st.sampled_from(PIECES)).map(lambda each: "".join(each).encode())


@given(path=st.sampled_from(PATHS), old=SIDE, new=SIDE)
def test_no_content_makes_it_fail(path, old, new):
    texts = {"tests/test_box.py": "def test_lid():\n    assert lid(4711) == 815\n"}
    inspection = inspect([FileVersions(path, old, new)], RED, GREEN, texts)
    assert all(each.file == path and each.message.endswith(".") for each in inspection.findings)


@pytest.mark.slow
@table(
    "text",
    [
        pytest.param("def pytest_configure(config):\n" + "    x = 1\n" * 5_000, id="a long hook"),
        pytest.param("def pytest_configure(config):\n" * 3_000, id="many hooks"),
        pytest.param("'" * 60_000, id="quotes"),
        pytest.param("def __eq__(" * 5_000, id="open brackets"),
        pytest.param("inspect.stack()\n" * 5_000, id="many frames"),
        pytest.param(" " * 60_000 + "expect process.exit(", id="spaces"),
        pytest.param("open(" * 15_000 + "'tests/a", id="many files"),
        pytest.param("\n" * 60_000 + "exit __eq__ /cmdline", id="empty lines"),
        pytest.param("if x == 'a b' and 17 in y: return 'b c'\n" * 2_000, id="many conditions"),
        pytest.param("a " * 30_000 + "(", id="many words"),
    ],
)
@table("path", ["box.py", "conftest.py", "tests/test_box.py", "src/box.js", "pyproject.toml"])
def test_hostile_text_takes_bounded_time(path, text):
    start = time.process_time()
    inspect([FileVersions(path, b"x = 1\n", text.encode())], RED, GREEN, {"tests/test_lid.py": text})
    assert time.process_time() - start < 3
