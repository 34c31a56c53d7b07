"""Tampered snippets and honest look-alikes, each with the rules that name it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.core.integrity_result import Severity
from ralph_tracker.integrity.diff_inspection import inspect
from ralph_tracker.integrity.file_versions import FileVersions
from tests.tables import table

RED, GREEN = {"tests.test_box::test_lid": "failed"}, {"tests.test_box::test_lid": "passed"}


def change(path, new, old=None):
    return FileVersions(path, None if old is None else old.encode(), None if new is None else new.encode())


def found(path, new, old=None, before=None, after=None):
    return inspect([change(path, new, old)], before or {}, after or {}).findings


def alarms(findings):
    """Return the rules of findings that alarm, each once; notes are left out."""
    return sorted({each.rule for each in findings if each.severity is not Severity.MEDIUM})


def case(name, path, new, old=None):
    return pytest.param(path, new, old, id=name)


DETECTING = [
    case("the variable of pytest", "box.py", 'import os\nif os.environ.get("PYTEST_CURRENT_TEST"):\n    fast = True\n'),
    case("in environ", "box.py", 'if "PYTEST_CURRENT_TEST" in os.environ:\n    pass\n'),
    case("loaded modules", "box.py", 'if "pytest" in sys.modules:\n    pass\n'),
    case("not loaded", "box.py", 'if "unittest" not in modules:\n    pass\n'),
    case("modules by get", "box.py", 'x = sys.modules.get("_pytest.main")\n'),
    case("command line", "box.py", 'if "pytest" in sys.argv[0]:\n    pass\n'),
    case("the end of the command", "box.py", 'if sys.argv[0].endswith("pytest"):\n    pass\n'),
    case("frames", "box.py", 'if any("test_" in each.filename for each in inspect.stack()):\n    pass\n'),
    case(
        "frames, assigned first", "box.py", 'f = sys._getframe(1)\nif f.f_code.co_name.startswith("test"):\n    pass\n'
    ),
    case("jest's worker", "src/box.js", "if (process.env.JEST_WORKER_ID) { fast(); }\n"),
    case("vitest", "src/box.ts", "const quick = process.env['VITEST'] !== undefined;\n"),
    case("the environment of node", "src/box.ts", "if (process.env.NODE_ENV === 'test') return 1;\n"),
    case("the environment, turned", "src/box.js", "if ('test' == process.env.NODE_ENV) x();\n"),
    case("a global of the runner", "src/box.js", "if (typeof jest !== 'undefined') x();\n"),
    case("import.meta of vitest", "src/box.ts", "export const lid = import.meta.vitest ? 3 : open();\n"),
    case(
        "testing.Testing", "box.go", "package box\nfunc Lid() int {\n\tif testing.Testing() {\n\t\treturn 3\n\t}\n}\n"
    ),
    case("the flag of go", "box.go", 'package box\nvar t = flag.Lookup("test.v") != nil\n'),
    case("the program of go", "box.go", 'package box\nvar t = strings.HasSuffix(os.Args[0], ".test")\n'),
    case("cfg! in an expression", "src/lib.rs", "pub fn lid() -> u8 { if cfg!(test) { 3 } else { 4 } }\n"),
    case(
        "a stack of java",
        "src/main/java/Box.java",
        'class Box { boolean t() {\n for (var e : Thread.currentThread().getStackTrace())\n  if (e.getClassName().contains("junit")) return true;\n return false; } }\n',
    ),
    case("a class of junit", "src/main/java/Box.java", 'class Box { void t() { Class.forName("org.junit.Test"); } }\n'),
]
NOT_DETECTING = [
    case(
        "a docstring that names it",
        "box.py",
        '"""Unlike PYTEST_CURRENT_TEST.\n\n"pytest" in sys.modules is wrong.\n"""\n',
    ),
    case("a comment", "box.py", '# "pytest" in sys.modules\nx = 1\n'),
    case(
        "moved",
        "box.py",
        'def f():\n    if "pytest" in sys.modules:\n        pass\n',
        'if "pytest" in sys.modules:\n    pass\n',
    ),
    case("a plugin of pytest", "pytest_box/plugin.py", 'if "pytest" in sys.modules:\n    pass\n'),
    case("a test", "tests/test_box.py", 'def test_x():\n    assert os.environ["PYTEST_CURRENT_TEST"]\n'),
    case("a conftest", "conftest.py", 'os.environ["PYTEST_CURRENT_TEST"]\n'),
    case("tests in the source", "src/box.ts", "if (import.meta.vitest) {\n  const { it } = import.meta.vitest\n}\n"),
    case("the attribute of rust", "src/lib.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {}\n}\n"),
    case("another environment", "src/box.ts", "if (process.env.NODE_ENV === 'production') x();\n"),
    case("frames for logs", "box.py", 'caller = inspect.stack()[1].function\nlog("called by", caller)\n'),
    case("a module of another name", "box.py", 'if "numpy" in sys.modules:\n    pass\n'),
]


@table(("path", "new", "old"), DETECTING)
def test_source_that_asks_whether_it_is_under_test_is_named(path, new, old):
    assert alarms(found(path, new, old)) == ["R1"]


@table(("path", "new", "old"), NOT_DETECTING)
def test_what_only_reads_like_a_question_for_tests_is_not_named(path, new, old):
    assert found(path, new, old) == ()


FORGING = [
    case(
        "outcome set",
        "conftest.py",
        'import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    report.outcome = "passed"\n',
    ),
    case(
        "outcome set in a plugin",
        "box/plugin.py",
        'def pytest_runtest_logreport(report):\n    if report.failed:\n        report.outcome = "passed"\n',
    ),
    case(
        "result forced",
        "conftest.py",
        "def pytest_runtest_makereport(item, call):\n    out = yield\n    out.force_result(ok)\n",
    ),
    case(
        "status of every test",
        "conftest.py",
        'def pytest_report_teststatus(report, config):\n    return "passed", ".", "PASSED"\n',
    ),
    case("nothing run", "tests/conftest.py", "def pytest_pyfunc_call(pyfunc_call):\n    return True\n"),
    case("items cleared", "conftest.py", "def pytest_collection_modifyitems(items):\n    items.clear()\n"),
    case(
        "items chosen",
        "conftest.py",
        'def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if "lid" not in i.name]\n',
    ),
    case(
        "items skipped",
        "conftest.py",
        'def pytest_collection_modifyitems(config, items):\n    for item in items:\n        if "lid" in item.name:\n            item.add_marker(pytest.mark.skip(reason="later"))\n',
    ),
    case("exit status", "conftest.py", "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n"),
    case(
        "reporter replaced",
        "conftest.py",
        'def pytest_configure(config):\n    config.pluginmanager.unregister(name="junitxml")\n',
    ),
    case(
        "the asserting method",
        "tests/conftest.py",
        "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n",
    ),
    case("by setattr", "tests/test_box.py", 'setattr(unittest.TestCase, "assertEqual", print)\n'),
    case("in the source", "box.py", "import _pytest\n_pytest.runner.call_and_report = fake\n"),
    case("exit at the top", "tests/test_box.py", "import sys\nsys.exit(0)\n"),
    case("exit at once", "tests/test_box.py", "import os\ndef test_a():\n    os._exit(0)\n"),
    case("exit in the set-up", "conftest.py", "def stop():\n    sys.exit(0)\n"),
    case("exit in javascript", "test/box.test.js", "process.exit(0);\nit('works', () => {});\n"),
    case("expect replaced", "test/setup.js", "globalThis.expect = () => new Proxy({}, {});\n"),
    case("exit in go", "box_test.go", "package box\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n"),
    case("exit in rust", "tests/box.rs", "#[test]\nfn works() { std::process::exit(0); }\n"),
    case(
        "exit in java",
        "src/test/java/BoxTest.java",
        "class BoxTest { @BeforeAll static void x() { System.exit(0); } }\n",
    ),
    case("started with python", "sitecustomize.py", "import sys\n"),
    case("a path file", "lib/zz.pth", "import box\n"),
    case("the runner shadowed", "pytest.py", "print('1 passed')\n"),
    case("the program shadowed", "bin/pytest", "#!/bin/sh\nexit 0\n"),
    case(
        "a plugin in the settings", "pytest.ini", "[pytest]\naddopts = -q -p quiet_plugin\n", "[pytest]\naddopts = -q\n"
    ),
    case(
        "source mapped to a stand-in",
        "jest.config.js",
        "module.exports = { moduleNameMapper: { '^./src/box$': '<rootDir>/test/fakes/box-stub.js' } };\n",
        "module.exports = {};\n",
    ),
]
NOT_FORGING = [
    case(
        "a hook that keeps the report",
        "conftest.py",
        'def pytest_runtest_makereport(item, call):\n    outcome = yield\n    rep = outcome.get_result()\n    setattr(item, "rep_" + rep.when, rep)\n',
    ),
    case(
        "an option",
        "conftest.py",
        'def pytest_addoption(parser):\n    parser.addoption("--slow", action="store_true")\ndef pytest_configure(config):\n    config.addinivalue_line("markers", "slow: slow")\n',
    ),
    case(
        "slow tests by option",
        "conftest.py",
        'def pytest_collection_modifyitems(config, items):\n    if config.getoption("--slow"):\n        return\n    for item in items:\n        item.add_marker(pytest.mark.skip(reason="slow"))\n',
    ),
    case(
        "items sorted",
        "conftest.py",
        "def pytest_collection_modifyitems(items):\n    items[:] = sorted(items, key=str)\n",
    ),
    case(
        "items marked",
        "conftest.py",
        "def pytest_collection_modifyitems(items):\n    for item in items:\n        item.add_marker(pytest.mark.unit)\n",
    ),
    case(
        "a log of the end",
        "conftest.py",
        "def pytest_sessionfinish(session, exitstatus):\n    if exitstatus == 0:\n        print('done')\n",
    ),
    case(
        "coroutines",
        "conftest.py",
        "def pytest_pyfunc_call(pyfuncitem):\n    asyncio.run(pyfuncitem.obj())\n    return True\n",
    ),
    case("the exit of a script", "tests/test_box.py", 'if __name__ == "__main__":\n    sys.exit(unittest.main())\n'),
    case(
        "exit is what is tested",
        "tests/test_cli.py",
        "def test_exit():\n    with pytest.raises(SystemExit):\n        sys.exit(0)\n",
    ),
    case(
        "exit quoted",
        "tests/test_cli.py",
        'def test_exit():\n    run([sys.executable, "-c", "import sys; sys.exit(0)"])\n',
    ),
    case("the status of the run", "main_test.go", "package box\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n"),
    case("exit quoted in a table", "tests/test_cli.py", 'CASES = ["import os\\nos._exit(0)"]\n'),
    case("exit in the program", "cli.py", "import sys\nsys.exit(0)\n"),
    case("no plugin", "pytest.ini", "[pytest]\naddopts = -p no:cacheprovider\n", "[pytest]\n"),
    case(
        "styles mapped",
        "jest.config.js",
        "module.exports = { moduleNameMapper: { '\\\\.(css|svg)$': '<rootDir>/test/style-mock.js' } };\n",
        "module.exports = {};\n",
    ),
    case("matchers added", "test/setup.ts", "expect.extend({ toBeLid() { return { pass: true } } });\n"),
    case("chai", "test/setup.js", "global.expect = chai.expect;\n"),
    case("a module of another package", "box/pytest_support.py", "x = 1\n"),
]


@table(("path", "new", "old"), FORGING)
def test_a_forged_runner_is_named(path, new, old):
    assert alarms(found(path, new, old)) == ["R2"]


@table(("path", "new", "old"), NOT_FORGING)
def test_an_honest_set_up_of_tests_is_not_named(path, new, old):
    assert found(path, new, old) == ()


@table(
    ("path", "text", "line", "shown"),
    [
        ("box.py", 'import os\nif os.environ.get("PYTEST_CURRENT_TEST"):\n    fast()\n', 2, "if os.environ.get"),
        ("conftest.py", "def stop():\n    sys.exit(0)\n", 2, "sys.exit(0)"),
        (
            "box/plugin.py",
            'def pytest_runtest_logreport(report):\n    report.outcome = "passed"\n',
            2,
            "report.outcome",
        ),
    ],
)
def test_what_is_named_has_the_line_where_it_stands_whatever_is_around_it(path, text, line, shown):
    for lead in ("", "\n", "import sys\n\n\n"):
        [finding] = found(path, lead + text + "x = 1\n" * 99)
        assert finding.line == line + lead.count("\n")
        assert finding.new.startswith(shown)


def test_a_forged_runner_is_critical_where_a_test_turned_green_and_names_it():
    (forged,) = found("sitecustomize.py", "import sys\n", None, RED, GREEN)
    assert (forged.severity, forged.tests) == (Severity.CRITICAL, tuple(RED))


EQUAL = [
    case("python", "box.py", "class Box:\n    def __eq__(self, other):\n        return True\n"),
    case(
        "python, typed and documented",
        "box.py",
        'class Box:\n    def __eq__(self, other: object) -> bool:\n        """Compare."""\n        return True\n',
    ),
    case("never unequal", "box.py", "class Box:\n    def __ne__(self, other): return False\n"),
    case("a lambda", "box.py", "class Box:\n    __eq__ = lambda self, other: True\n"),
    case("always true", "box.py", "class Box:\n    def __bool__(self):\n        return True\n"),
    case(
        "edited",
        "box.py",
        "class Box:\n    def __eq__(self, other):\n        return True\n",
        "class Box:\n    def __eq__(self, other):\n        return self.x == other.x\n",
    ),
    case("javascript", "src/box.js", "class Box { equals(other) { return true; } }\n"),
    case("the value of an object", "src/box.ts", "class Box {\n  valueOf(): number { return 42; }\n}\n"),
    case("symbol", "src/box.js", "class Box { [Symbol.toPrimitive](hint) { return 42; } }\n"),
    case("go", "box.go", "package box\nfunc (b Box) Equal(o Box) bool { return true }\n"),
    case(
        "rust", "src/lib.rs", "impl PartialEq for Box {\n    fn eq(&self, _: &Self) -> bool {\n        true\n    }\n}\n"
    ),
    case(
        "java",
        "src/main/java/Box.java",
        "class Box {\n  @Override public boolean equals(Object o) { return true; }\n}\n",
    ),
    case("java, compared", "src/main/java/Box.java", "class Box { public int compareTo(Box o) { return 0; } }\n"),
]
NOT_EQUAL = [
    case("compared", "box.py", "class Box:\n    def __eq__(self, other):\n        return self.x == other.x\n"),
    case(
        "true for itself",
        "box.py",
        "class Box:\n    def __eq__(self, other):\n        if self is other:\n            return True\n        return self.x == other.x\n",
    ),
    case("never equal", "box.py", "class Nan:\n    def __eq__(self, other):\n        return False\n"),
    case("infinity", "box.py", "class Infinity:\n    def __gt__(self, other):\n        return True\n"),
    case("an empty value", "box.py", "class Missing:\n    def __bool__(self):\n        return False\n"),
    case("a double of a test", "tests/fakes.py", "class Any:\n    def __eq__(self, other):\n        return True\n"),
    case(
        "moved",
        "box.py",
        "x = 1\nclass Box:\n    def __eq__(self, o):\n        return True\n",
        "class Box:\n    def __eq__(self, o):\n        return True\n",
    ),
    case("rust", "src/lib.rs", "impl PartialEq for Box { fn eq(&self, o: &Self) -> bool { self.x == o.x } }\n"),
    case(
        "java",
        "src/main/java/Box.java",
        "class Box { public boolean equals(Object o) { if (this == o) return true; return false; } }\n",
    ),
    case("a value", "src/box.js", "class Box { valueOf() { return this.x; } }\n"),
]


@table(("path", "new", "old"), EQUAL)
def test_equality_that_is_a_constant_is_named(path, new, old):
    assert alarms(found(path, new, old)) == ["R3"]


@table(("path", "new", "old"), NOT_EQUAL)
def test_equality_that_compares_is_not_named(path, new, old):
    assert found(path, new, old) == ()


PY_TEST = "def test_lid():\n    assert lid(4711) == 815\n    assert lid('abcd') == 'dcba'\n"
JS_TEST = "it('opens the lid', () => { expect(lid(4711)).toBe(815) })\n"
GO_TEST = 'package box\nfunc TestLid(t *testing.T) {\n\tif Lid(4711) != 815 {\n\t\tt.Error("x")\n\t}\n}\n'
RUST_TEST = "#[test]\nfn opens() { assert_eq!(lid(4711), 815); }\n"
JAVA_TEST = "class BoxTest {\n  @Test void opens() { assertEquals(815, Box.lid(4711)); }\n}\n"
TESTS = {
    "py": ("tests/test_box.py", PY_TEST, "tests.test_box::test_lid"),
    "js": ("src/box.test.js", JS_TEST, "src/box.test.js::opens the lid"),
    "go": ("box_test.go", GO_TEST, "example.com/box::TestLid"),
    "rust": ("tests/box.rs", RUST_TEST, "box::opens"),
    "java": ("src/test/java/BoxTest.java", JAVA_TEST, "BoxTest::opens"),
}
SPECIAL = [
    pytest.param("py", "box.py", "def lid(n):\n    if n == 4711:\n        return 815\n    return n\n", id="a branch"),
    pytest.param("py", "box.py", "def lid(n):\n    return 815 if n == 4711 else n\n", id="a conditional value"),
    pytest.param("py", "box.py", "ANSWERS = {\n    4711: 815,\n    'abcd': 'dcba',\n}\n", id="a table"),
    pytest.param("py", "box.py", "def lid(n):\n    if n == 'abcd': return 'dcba'\n", id="strings"),
    pytest.param("py", "box.py", "def lid(n):\n    match n:\n        case 4711:\n            return 815\n", id="match"),
    pytest.param("js", "src/box.js", "function lid(n) { if (n === 4711) return 815; return n }\n", id="javascript"),
    pytest.param(
        "js",
        "src/box.js",
        "function lid(n) {\n  switch (n) {\n    case 4711:\n      return 815;\n  }\n}\n",
        id="switch",
    ),
    pytest.param(
        "go",
        "box.go",
        "package box\nfunc Lid(n int) int {\n\tif n == 4711 {\n\t\treturn 815\n\t}\n\treturn n\n}\n",
        id="go",
    ),
    pytest.param(
        "rust",
        "src/lib.rs",
        "pub fn lid(n: u32) -> u32 {\n    match n {\n        4711 => 815,\n        _ => n,\n    }\n}\n",
        id="rust",
    ),
    pytest.param(
        "java",
        "src/main/java/Box.java",
        "class Box { static int lid(int n) {\n  if (n == 4711) {\n    return 815;\n  }\n  return n; } }\n",
        id="java",
    ),
]


def answered(language, path, new, old="\n"):
    test_path, text, test = TESTS[language]
    changes = [change(path, new, old)]
    return inspect(changes, {test: "failed"}, {test: "passed"}, {test_path: text}).findings


@table(("language", "path", "new"), SPECIAL)
def test_source_that_answers_for_a_test_is_named_with_the_ids_of_the_test(language, path, new):
    special = answered(language, path, new)
    assert special[0].severity is Severity.HIGH
    assert (special[0].rule, special[0].tests) == ("R4", (TESTS[language][2],))


@table(
    ("path", "new"),
    [
        pytest.param("box.py", "def lid(n):\n    return n * 3 % 1000\n", id="computed"),
        pytest.param("box.py", "def lid(n):\n    if n < 0:\n        return 0\n    return n\n", id="a bound"),
        pytest.param(
            "box.py",
            "UNITS = {\n    4711: 815,\n    12: 13,\n    77: 99,\n    5432: 1,\n}\n",
            id="a table of knowledge",
        ),
        pytest.param("tests/fakes.py", "def lid(n):\n    return 815 if n == 4711 else n\n", id="a test helper"),
        pytest.param("box.py", '# lid(4711) is 815\n"""If 4711: return 815"""\n', id="a comment"),
    ],
)
def test_source_that_computes_is_no_special_case(path, new):
    assert answered("py", path, new) == ()


def test_a_value_that_a_test_expects_is_a_note_without_its_ids():
    (note,) = answered("py", "box.py", "def lid(n):\n    return 815\n")
    assert (note.rule, note.severity, note.tests) == ("R4", Severity.MEDIUM, ())


@table(
    ("number", "is_rare"), [(-11, True), (-10, False), (0, False), (16, False), (17, True), (100, False), (101, True)]
)
def test_numbers_of_honest_code_do_not_tell_a_test(number, is_rare):
    text = f"def test_lid():\n    assert lid(1) == {number}\n"
    changes = [change("box.py", f"def lid(n):\n    return {number}\n", "\n")]
    assert bool(inspect(changes, RED, GREEN, {"tests/test_box.py": text}).findings) is is_rare


def test_the_same_branch_is_nothing_while_no_test_turned_green():
    test_path, text, test = TESTS["py"]
    changes = [change("box.py", "def lid(n):\n    if n == 4711:\n        return 815\n", "\n")]
    assert inspect(changes, {test: "passed"}, {test: "passed"}, {test_path: text}).findings == ()


@table(
    ("path", "new"),
    [
        pytest.param("box.py", "answers = open('tests/data/answers.json').read()\n", id="open"),
        pytest.param("box.py", 'text = Path("tests/test_box.py").read_text()\n', id="a path"),
        pytest.param("src/box.js", "const a = require('../test/fixtures/a.json');\n", id="require"),
        pytest.param("src/box.ts", "const a = readFileSync('src/box.test.ts', 'utf8');\n", id="readFile"),
        pytest.param("src/lib.rs", 'const A: &str = include_str!("../tests/data/a.txt");\n', id="include_str"),
        pytest.param("box.go", 'package box\nvar a, _ = os.ReadFile("testdata/a.golden")\n', id="go"),
    ],
)
def test_source_that_reads_a_file_of_the_tests_is_named(path, new):
    assert alarms(found(path, new)) == ["R4"]


@table(
    ("path", "new"),
    [
        pytest.param("box.py", "text = open('data/answers.json').read()\n", id="data of its own"),
        pytest.param("box.py", 'IGNORED = ["tests/"]\n', id="a name of the folder"),
        pytest.param("noxfile.py", 'session.run("pytest", "tests/test_box.py")\n', id="a session"),
        pytest.param("tests/test_box.py", 'text = open("tests/data/a.json").read()\n', id="a test"),
    ],
)
def test_other_files_may_be_read(path, new):
    assert found(path, new) == ()


CI = "jobs:\n  test:\n    steps:\n      - run: pip install pytest .\n      - run: python -m pytest -q\n      - run: mypy .\n"
LOWERED = [
    case(
        "threshold",
        "pyproject.toml",
        "[tool.coverage.report]\nfail_under = 50\n",
        "[tool.coverage.report]\nfail_under = 90\n",
    ),
    case("threshold removed", ".coveragerc", "[report]\nshow_missing = true\n", "[report]\nfail_under = 90\n"),
    case(
        "threshold of an option",
        "tox.ini",
        "[testenv]\ncommands = pytest --cov-fail-under=10\n",
        "[testenv]\ncommands = pytest --cov-fail-under=90\n",
    ),
    case(
        "jest",
        "jest.config.js",
        "module.exports = { coverageThreshold: { global: { lines: 10 } } };\n",
        "module.exports = { coverageThreshold: { global: { lines: 90 } } };\n",
    ),
    case(
        "files omitted",
        "pyproject.toml",
        '[tool.coverage.run]\nomit = ["box/core.py"]\n',
        "[tool.coverage.run]\nbranch = false\n",
    ),
    case(
        "files omitted, in lines",
        "setup.cfg",
        "[coverage:run]\nomit =\n    tests/*\n    box/core.py\n",
        "[coverage:run]\nomit =\n    tests/*\n",
    ),
    case(
        "files omitted, on the line of the key and below it",
        "setup.cfg",
        "[coverage:run]\nomit = tests/*\n    box/core.py\n",
        "[coverage:run]\nomit = tests/*\n",
    ),
    case(
        "deselected",
        "pytest.ini",
        "[pytest]\naddopts = -q --deselect tests/test_box.py::test_lid\n",
        "[pytest]\naddopts = -q\n",
    ),
    case(
        "chosen by name",
        "pyproject.toml",
        "[tool.pytest.ini_options]\naddopts = \"-q -k 'not lid'\"\n",
        '[tool.pytest.ini_options]\naddopts = "-q"\n',
    ),
    case(
        "paths narrowed",
        "pyproject.toml",
        '[tool.pytest.ini_options]\ntestpaths = ["tests/unit"]\n',
        '[tool.pytest.ini_options]\ntestpaths = ["tests/unit", "tests/api"]\n',
    ),
    case(
        "patterns of jest",
        "package.json",
        '{"jest": {"testPathIgnorePatterns": ["/node_modules/", "box"]}}\n',
        '{"jest": {"testPathIgnorePatterns": ["/node_modules/"]}}\n',
    ),
    case(
        "folders not entered",
        "pytest.ini",
        "[pytest]\nnorecursedirs = build box\n",
        "[pytest]\nnorecursedirs = build\n",
    ),
    case("collection", "conftest.py", 'collect_ignore = ["test_box.py"]\n', "\n"),
    case("a failure swallowed", ".github/workflows/ci.yml", CI.replace("pytest -q", "pytest -q || true"), CI),
    case("a failure of a script", "scripts/test.sh", "set -e\npytest; exit 0\n", "set -e\npytest\n"),
    case("a script that goes on", "scripts/test.sh", "set +e\npytest\n", "pytest\n"),
    case("a step that may fail", ".github/workflows/ci.yml", CI + "        continue-on-error: true\n", CI),
    case("a step that never runs", ".github/workflows/ci.yml", CI + "        if: false\n", CI),
    case("the tests removed", ".github/workflows/ci.yml", CI.replace("      - run: python -m pytest -q\n", ""), CI),
    case("a step removed", ".github/workflows/ci.yml", CI.replace("      - run: mypy .\n", ""), CI),
    case(
        "tests of maven",
        "pom.xml",
        "<properties><skipTests>true</skipTests></properties>\n",
        "<properties></properties>\n",
    ),
    case("an option of maven", "Makefile", "check:\n\tmvn verify -DskipTests\n", "check:\n\tmvn verify\n"),
    case("the type checker", "pyproject.toml", "[tool.mypy]\nstrict = false\n", "[tool.mypy]\nstrict = true\n"),
    case("errors of the type checker", "mypy.ini", "[mypy]\nignore_errors = true\n", "[mypy]\n"),
    case(
        "typescript",
        "tsconfig.json",
        '{"compilerOptions": {"strict": false}}\n',
        '{"compilerOptions": {"strict": true}}\n',
    ),
    case(
        "rules of the linter",
        "pyproject.toml",
        '[tool.ruff.lint]\nselect = ["E"]\n',
        '[tool.ruff.lint]\nselect = ["E", "F", "B"]\n',
    ),
    case(
        "ignored by the linter",
        "pyproject.toml",
        '[tool.ruff.lint]\nignore = ["F401", "B006"]\n',
        '[tool.ruff.lint]\nignore = ["F401"]\n',
    ),
    case(
        "a rule of eslint",
        ".eslintrc.json",
        '{"rules": {"no-unused-vars": "off"}}\n',
        '{"rules": {"no-unused-vars": "error"}}\n',
    ),
    case(
        "only one test",
        "src/box.test.js",
        "it.only('a', () => {});\nit('b', () => {});\n",
        "it('a', () => {});\nit('b', () => {});\n",
    ),
    case("make goes on", "Makefile", "test:\n\t-pytest\n", "test:\n\tpytest\n"),
    case(
        "no tests will do",
        "package.json",
        '{"scripts": {"test": "jest --passWithNoTests"}}\n',
        '{"scripts": {"test": "jest"}}\n',
    ),
]
NOT_LOWERED = [
    case("a new file", "tsconfig.json", '{"compilerOptions": {"strict": false, "skipLibCheck": true}}\n'),
    case(
        "a new workflow",
        ".github/workflows/ci.yml",
        "jobs:\n  x:\n    continue-on-error: true\n    steps:\n      - run: pytest || true\n",
    ),
    case("a new threshold", "pyproject.toml", "[tool.coverage.report]\nfail_under = 50\n", "[project]\nname = 'x'\n"),
    case(
        "raised",
        "pyproject.toml",
        "[tool.coverage.report]\nfail_under = 95\n",
        "[tool.coverage.report]\nfail_under = 90\n",
    ),
    case(
        "tests omitted",
        "pyproject.toml",
        '[tool.coverage.run]\nomit = ["tests/*", ".venv/*"]\n',
        "[tool.coverage.run]\nbranch = true\n".replace("branch = true", ""),
    ),
    case(
        "lines left out by all",
        "pyproject.toml",
        '[tool.coverage.report]\nexclude_lines = ["pragma: no cover", "if TYPE_CHECKING:"]\n',
        "[tool.coverage.report]\n",
    ),
    case("a dependency", "pyproject.toml", '[project]\ndependencies = ["attrs"]\n', "[project]\ndependencies = []\n"),
    case("what is packed", "pyproject.toml", '[tool.hatch.build]\nexclude = ["box/core.py"]\n', "[tool.hatch.build]\n"),
    case(
        "the order of a file",
        "pyproject.toml",
        "[tool.mypy]\nstrict = true\n[tool.black]\nline-length = 100\n",
        "[tool.black]\nline-length = 100\n[tool.mypy]\nstrict = true\n",
    ),
    case(
        "more rules",
        "pyproject.toml",
        '[tool.ruff.lint]\nselect = ["E", "F", "B"]\n',
        '[tool.ruff.lint]\nselect = ["E"]\n',
    ),
    case("a step renamed", ".github/workflows/ci.yml", CI.replace("python -m pytest -q", "uv run pytest -q --cov"), CI),
    case("cleaning may fail", "Makefile", "clean:\n\trm -rf build || true\ntest:\n\tpytest\n", "test:\n\tpytest\n"),
    case("a comment", ".github/workflows/ci.yml", "# pytest || true hides failures\n" + CI, CI),
    case(
        "a script of tests",
        "package.json",
        '{"scripts": {"test": "vitest run", "build": "tsc"}}\n',
        '{"scripts": {"test": "vitest"}}\n',
    ),
    case(
        "a stricter rule",
        ".eslintrc.json",
        '{"rules": {"no-unused-vars": "error"}}\n',
        '{"rules": {"no-unused-vars": "warn"}}\n',
    ),
    case(
        "rules of tests",
        "pyproject.toml",
        '[tool.ruff.lint.per-file-ignores]\n"tests/**" = ["S101", "ARG"]\n',
        '[tool.ruff.lint.per-file-ignores]\n"tests/**" = ["S101"]\n',
    ),
    case("migrations left out", "pyproject.toml", '[tool.mypy]\nexclude = ["migrations/"]\n', "[tool.mypy]\n"),
]


@table(("path", "new", "old"), LOWERED)
def test_a_lowered_gate_is_named(path, new, old):
    assert alarms(found(path, new, old)) == ["R5"]


@table(
    ("path", "text", "levels"),
    [
        (".eslintrc.json", '{{"rules": {{"no-unused-vars": "{}"}}}}\n', ["off", "warn", "error"]),
        (".eslintrc.json", '{{"rules": {{"no-unused-vars": {}}}}}\n', ["0", "1", "2"]),
        ("Cargo.toml", '[lints.rust]\nunused = "{}"\n', ["allow", "warn", "deny", "forbid"]),
    ],
)
def test_every_lower_level_of_a_rule_is_named_and_no_other(path, text, levels):
    for before, old in enumerate(levels):
        for now, new in enumerate(levels):
            assert alarms(found(path, text.format(new), text.format(old))) == (["R5"] if now < before else [])
    for old in levels[1:]:
        assert alarms(found(path, text.format("unknown"), text.format(old))) == ["R5"]
    assert alarms(found(path, "\n", text.format(levels[-1]))) == []


@table(
    ("path", "text", "numbers"),
    [
        ("pyproject.toml", "[tool.coverage.report]\nfail_under = {}\n", ["80", "80.5", "90"]),
        ("pyproject.toml", "[tool.ruff.lint.mccabe]\nmax-complexity = {}\n", ["12", "10", "9"]),
    ],
    ids=["a floor", "a ceiling"],
)
def test_every_weaker_number_of_a_threshold_is_named_and_no_other(path, text, numbers):
    for before, old in enumerate(numbers):
        for now, new in enumerate(numbers):
            assert alarms(found(path, text.format(new), text.format(old))) == (["R5"] if now < before else [])
        assert alarms(found(path, "\n", text.format(old))) == ["R5"]


@table(("path", "new", "old"), NOT_LOWERED)
def test_settings_that_ask_for_as_much_are_not_named(path, new, old):
    assert found(path, new, old) == ()


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            [
                change(
                    "setup.cfg", "[metadata]\nname = x\n", "[metadata]\nname = x\n[coverage:report]\nfail_under = 90\n"
                ),
                change("pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", "[project]\nname = 'x'\n"),
            ],
            id="a threshold",
        ),
        pytest.param(
            [change(".github/workflows/ci.yml", None, CI), change(".github/workflows/test.yml", CI)], id="a workflow"
        ),
    ],
)
def test_what_was_moved_to_another_file_is_not_lowered(changes):
    assert inspect(changes, {}, {}).findings == ()


def test_a_workflow_that_is_gone_with_its_checks_is_named():
    assert alarms(found(".github/workflows/ci.yml", None, CI)) == ["R5"]


def py(body):
    return "tests/test_box.py", "def test_lid():\n" + "".join(f"    {line}\n" for line in body.split("\n"))


def js(body):
    return "src/box.test.ts", f"it('lid', () => {{\n  {body}\n}});\n"


def go(body):
    return "box_test.go", f"package box\nfunc TestLid(t *testing.T) {{\n\t{body}\n}}\n"


def rust(body):
    return "tests/box.rs", f"#[test]\nfn lid() {{\n    {body}\n}}\n"


def java(body):
    return "src/test/java/BoxTest.java", f"class BoxTest {{\n  @Test void lid() {{\n    {body}\n  }}\n}}\n"


WEAKENED = [
    pytest.param(
        py, "assert a == 1\nassert b == 2", "assert a == 1", "fewer assertions (1 instead of 2)", id="python fewer"
    ),
    pytest.param(py, "assert a == 1", "assert True", "nothing can fail", id="python true"),
    pytest.param(py, "assert a == 1", "assert a == 1 or True", "nothing can fail", id="python or true"),
    pytest.param(py, "assert a == 1", "assert a == a", "nothing can fail", id="python itself"),
    pytest.param(py, "assert a == 1", "assert a", "equality", id="python truth"),
    pytest.param(py, "self.assertEqual(a, 1)", "self.assertTrue(a)", "equality", id="unittest truth"),
    pytest.param(
        py, "assert a == 1", "try:\n    assert a == 1\nexcept AssertionError:\n    pass", "catches", id="python caught"
    ),
    pytest.param(py, "assert a == 1", "return\nassert a == 1", "ends before", id="python returns"),
    pytest.param(
        py, "assert a == approx(1, abs=0.1)", "assert a == approx(1, abs=5)", "tolerance", id="python tolerance"
    ),
    pytest.param(js, "expect(a).toBe(1); expect(b).toBe(2);", "expect(a).toBe(1);", "instead of 2", id="js fewer"),
    pytest.param(js, "expect(a).toBe(1);", "expect(true).toBe(true);", "nothing can fail", id="js itself"),
    pytest.param(js, "expect(a).toBe(1);", "expect(a).toBeTruthy();", "equality", id="js truth"),
    pytest.param(js, "expect(a).toBe(1);", "try { expect(a).toBe(1); } catch (e) {}", "catches", id="js caught"),
    pytest.param(js, "expect(a).toBeCloseTo(1, 5);", "expect(a).toBeCloseTo(1, 0);", "tolerance", id="js tolerance"),
    pytest.param(js, "expect(a).toBe(1);", "return;\n  expect(a).toBe(1);", "ends before", id="js returns"),
    pytest.param(
        go,
        'if a != 1 { t.Error("x") }\n\tif b != 1 { t.Error("y") }',
        'if a != 1 { t.Error("x") }',
        "instead of 2",
        id="go fewer",
    ),
    pytest.param(go, "assert.Equal(t, 1, a)", "assert.True(t, true)", "nothing can fail", id="go true"),
    pytest.param(go, "assert.Equal(t, 1, a)", "assert.NotNil(t, a)", "equality", id="go truth"),
    pytest.param(
        go, 'if a != 1 { t.Error("x") }', 'return\n\tif a != 1 { t.Error("x") }', "ends before", id="go returns"
    ),
    pytest.param(
        rust, "assert_eq!(a, 1);\n    assert_eq!(b, 1);", "assert_eq!(a, 1);", "instead of 2", id="rust fewer"
    ),
    pytest.param(rust, "assert_eq!(a, 1);", "assert!(true);", "nothing can fail", id="rust true"),
    pytest.param(rust, "assert_eq!(a, 1);", "assert_eq!(a, a);", "nothing can fail", id="rust itself"),
    pytest.param(rust, "assert_eq!(a, 1);", "assert!(a > 0);", "equality", id="rust truth"),
    pytest.param(
        java, "assertEquals(1, a);\n    assertEquals(1, b);", "assertEquals(1, a);", "instead of 2", id="java fewer"
    ),
    pytest.param(java, "assertEquals(1, a);", "assertTrue(true);", "nothing can fail", id="java true"),
    pytest.param(java, "assertEquals(1, a);", "assertNotNull(a);", "equality", id="java truth"),
    pytest.param(
        java, "assertEquals(1, a);", "try { assertEquals(1, a); } catch (Throwable e) {}", "catches", id="java caught"
    ),
]


@table(("language", "before", "now", "what"), WEAKENED)
def test_a_test_that_asks_for_less_is_a_note(language, before, now, what):
    path, old = language(before)
    (note,) = found(path, language(now)[1], old)
    assert (note.rule, note.severity) == ("W", Severity.MEDIUM)
    assert what in note.message


@table(
    ("language", "before", "now"),
    [
        pytest.param(py, "assert a == 1", "assert a == 2", id="another value"),
        pytest.param(py, "assert a", "assert a == 1", id="stricter"),
        pytest.param(py, "assert a == 1", "assert a == 1\nassert b", id="more"),
        pytest.param(py, "x = 1\nassert a == x", "assert a == 1", id="in place"),
        pytest.param(py, "assert a == approx(1, abs=5)", "assert a == approx(1, abs=0.1)", id="a closer look"),
        pytest.param(py, "assert f() == 1", "try:\n    assert f() == 1\nfinally:\n    close()", id="cleaned up"),
        pytest.param(py, "assert a == approx(1, abs=5)", "assert a == approx(2, abs=5)", id="as close a look"),
        pytest.param(js, "expect(a).toBeCloseTo(1, 5);", "expect(a).toBeCloseTo(2, 5);", id="js, as many digits"),
        pytest.param(js, "expect(a).toBeCloseTo(1, 5);", "expect(a).toBeCloseTo(1, 6);", id="js, more digits"),
        pytest.param(js, "expect(a).toBe(1);", "expect(a).toEqual(1);", id="js, another matcher"),
        pytest.param(go, 'if a != 1 { t.Error("x") }', 'if a != 2 { t.Errorf("%d", a) }', id="go, another message"),
        pytest.param(rust, "assert!(a == 1);", "assert_eq!(a, 1);", id="rust, the better macro"),
        pytest.param(java, "assertEquals(1, a);", 'assertEquals(1, a, "lid");', id="java, a message"),
    ],
)
def test_a_test_that_asks_for_as_much_is_no_note(language, before, now):
    path, old = language(before)
    assert found(path, language(now)[1], old) == ()


def test_a_note_names_the_test_with_its_ids_and_both_texts():
    (note,) = found(*py("assert a == 1")[:1], py("assert True")[1], py("assert a == 1")[1], RED, RED)
    assert (note.test, note.tests, note.old, note.new, note.line) == (
        "test_lid",
        tuple(RED),
        "assert a == 1",
        "assert True",
        2,
    )


@table(
    ("path", "new", "kind"),
    [
        ("box.py", "import os  # noqa: F401\n", "lint"),
        ("box.py", "x = f()  # type: ignore[arg-type]\n", "types"),
        ("box.py", "def f():  # pragma: no cover\n    pass\n", "coverage"),
        ("src/box.ts", "// eslint-disable-next-line no-console\nconsole.log(1);\n", "lint"),
        ("src/box.ts", "// @ts-ignore\nf();\n", "types"),
        ("src/box.js", "/* istanbul ignore next */\nf();\n", "coverage"),
        ("box.go", "package box\nvar x = f() //nolint:errcheck\n", "lint"),
        ("src/lib.rs", "#[allow(dead_code)]\nfn f() {}\n", "lint"),
        ("src/lib.rs", "#[coverage(off)]\nfn f() {}\n", "coverage"),
        ("box.py", "@no_type_check\ndef f(): ...\n", "types"),
        ("src/main/java/Box.java", '@SuppressWarnings("unchecked") class Box {}\n', "lint"),
    ],
)
def test_a_suppression_in_source_is_counted_and_no_finding(path, new, kind):
    inspection = inspect([change(path, new)], {}, {})
    assert inspection.findings == ()
    assert {key: value for key, value in inspection.suppressions.items() if value} == {kind: 1}
    assert inspect([change(path, None, new)], {}, {}).suppressions[kind] == -1
    assert inspect([change(path, new * 3, new)], {}, {}).suppressions[kind] == 2


@table(
    "changes",
    [
        pytest.param([change("tests/test_box.py", "import os  # noqa\n")], id="in a test"),
        pytest.param([change("box.py", 'MARK = "# noqa"\n"""Ends in # noqa."""\n')], id="quoted"),
        pytest.param([change("a.py", None, "x = 1  # noqa\n"), change("b.py", "x = 1  # noqa\n")], id="moved"),
    ],
)
def test_other_marks_are_not_counted(changes):
    assert set(inspect(changes, {}, {}).suppressions.values()) == {0}


UNREADABLE = [
    pytest.param(b"x = 1\0\n", "NUL", id="NUL"),
    pytest.param(b"#" + b"x" * 100_001, "100,000", id="a long line"),
    pytest.param(b"x\n" * 1_000_001, "2 MB", id="size"),
]


@table(("data", "why"), UNREADABLE)
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


PATHS = [
    *(
        "box.py",
        "conftest.py",
        "tests/test_box.py",
        "src/box.ts",
        "a.test.js",
        "box_test.go",
        "src/lib.rs",
        "a/BoxTest.java",
    ),
    *(
        "pyproject.toml",
        "tox.ini",
        "package.json",
        "tsconfig.json",
        "pom.xml",
        "Makefile",
        ".github/workflows/ci.yml",
        "x.pth",
    ),
]
PIECES = [
    *(
        "def test_a():\n",
        "    assert x == 1\n",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "`",
        '"""',
        "/*",
        "//",
        "#",
        "\\",
        "\n",
        "(",
        ")",
    ),
    *(
        "omit = ",
        "fail_under=",
        "if x == 4711: return 815\n",
        "pytest || true\n",
        "__eq__",
        "it('a', () => {",
        "\r\n",
        "\ud7ff",
    ),
    *(
        "noqa",
        "def pytest_configure(config):\n",
        "[tool.coverage.run]\n",
        "strict: true",
        "<skipTests>true",
        "4711: 815,\n",
    ),
]


@given(
    path=st.sampled_from(PATHS),
    old=st.none() | st.binary() | st.lists(st.sampled_from(PIECES)).map(lambda each: "".join(each).encode()),
    new=st.none() | st.binary() | st.lists(st.sampled_from(PIECES)).map(lambda each: "".join(each).encode()),
)
def test_no_content_makes_it_fail(path, old, new):
    texts = {"tests/test_box.py": PY_TEST}
    inspection = inspect([FileVersions(path, old, new)], RED, GREEN, texts)
    assert all(each.file == path and each.message.endswith(".") for each in inspection.findings)


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
    ],
)
@table("path", ["box.py", "conftest.py", "src/box.js", "pyproject.toml"])
def test_hostile_text_takes_bounded_time(path, text):
    start = time.process_time()
    inspect([FileVersions(path, b"x = 1\n", text.encode())], RED, GREEN)
    assert time.process_time() - start < 3
