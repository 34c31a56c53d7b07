"""T9: hooks, exits and replacements that make a run say something else than what happened."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import runner_forged
from tests.integrity.making import found

CONFTEST = "tests/conftest.py"
TEST = "tests/test_box.py"
WRAPPER = "import pytest\n@pytest.hookimpl(hookwrapper=True)\n"
REPORT = f"{WRAPPER}def pytest_runtest_makereport(item, call):\n    outcome = yield\n    rep = outcome.get_result()\n"
BEGAN = {"before": {"tests.test_box::test_a": "failed"}, "after": {"tests.test_box::test_a": "passed"}}


def of(path, new, old=None, **outcomes):
    return found(runner_forged.find, {path: (old, new)}, **outcomes)


FORGED = {
    "a report says passed": (CONFTEST, f'{REPORT}    rep.outcome = "passed"\n'),
    "a report says passed, by a choice": (
        CONFTEST,
        f'{REPORT}    rep.outcome = "passed" if rep.failed else rep.outcome\n',
    ),
    "a report says passed, by setattr": (CONFTEST, f'{REPORT}    setattr(rep, "outcome", "passed")\n'),
    "a report says passed, by its dict": (CONFTEST, f'{REPORT}    rep.__dict__.update(outcome="passed")\n'),
    "a report says passed, by a key": (CONFTEST, f'{REPORT}    rep.__dict__["outcome"] = "passed"\n'),
    "a report of its own": (
        CONFTEST,
        (
            "from _pytest.reports import TestReport\ndef pytest_runtest_makereport(item, call):\n"
            '    return TestReport(item.nodeid, item.location, {}, "passed", None, "call")\n'
        ),
    ),
    "the failure is taken out": (CONFTEST, "def pytest_runtest_makereport(item, call):\n    call.excinfo = None\n"),
    "the log report is cleaned": (CONFTEST, "def pytest_runtest_logreport(report):\n    report.longrepr = None\n"),
    "a helper of a hook": (
        CONFTEST,
        "def mend(rep):\n    rep.outcome = 'passed'\ndef pytest_runtest_logreport(report):\n    mend(report)\n",
    ),
    "a hook by another name": (
        CONFTEST,
        (
            "import pytest\n@pytest.hookimpl(specname='pytest_runtest_logreport')\ndef mend(report):\n"
            "    report.outcome = 'passed'\n"
        ),
    ),
    "an exit of a fixture": (
        CONFTEST,
        "import os, pytest\n@pytest.fixture(autouse=True, scope='session')\ndef bye():\n    yield\n    os._exit(0)\n",
    ),
    "an exit of a test": (TEST, "import os\ndef test_a():\n    os._exit(0)\n"),
    "an end by pytest": (TEST, "import pytest\ndef teardown_module():\n    pytest.exit('done', returncode=0)\n"),
    "a forced result": (
        CONFTEST,
        f"{WRAPPER}def pytest_runtest_call(item):\n    o = yield\n    o.force_result(None)\n",
    ),
    "a hook of a plugin class": (
        "tests/plug.py",
        "class Plug:\n    def pytest_runtest_logreport(self, report):\n        report.outcome = 'passed'\n",
    ),
    "the test is an empty function": (CONFTEST, "def pytest_runtest_setup(item):\n    item.obj = lambda *a: None\n"),
    "the test is never called": (CONFTEST, "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"),
    "the protocol does nothing": (CONFTEST, "def pytest_runtest_protocol(item, nextitem):\n    return True\n"),
    "a failure is swallowed": (
        CONFTEST,
        (
            "def pytest_pyfunc_call(pyfuncitem):\n    try:\n        pyfuncitem.obj()\n    except AssertionError:\n"
            "        pass\n    return True\n"
        ),
    ),
    "a failure is suppressed": (
        CONFTEST,
        (
            "import contextlib\ndef pytest_runtest_call(item):\n    with contextlib.suppress(Exception):\n"
            "        item.runtest()\n"
        ),
    ),
    "the status of failures": (
        CONFTEST,
        'def pytest_report_teststatus(report, config):\n    return "passed", ".", "OK"\n',
    ),
    "the status of the session": (
        CONFTEST,
        "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n",
    ),
    "the status by its name": (
        CONFTEST,
        "import pytest\ndef pytest_sessionfinish(session):\n    session.exitstatus = pytest.ExitCode.OK\n",
    ),
    "no failures counted": (CONFTEST, "def pytest_sessionfinish(session):\n    session.testsfailed = 0\n"),
    "the main returns success": (CONFTEST, "def pytest_cmdline_main(config):\n    return 0\n"),
    "an exit in a hook": (CONFTEST, "import os\ndef pytest_unconfigure(config):\n    os._exit(0)\n"),
    "an exit by pytest": (
        CONFTEST,
        "import pytest\ndef pytest_collection(session):\n    pytest.exit('x', returncode=0)\n",
    ),
    "the summary's failures": (
        CONFTEST,
        "def pytest_terminal_summary(terminalreporter):\n    terminalreporter.stats['failed'] = []\n",
    ),
    "the summary's failures popped": (
        CONFTEST,
        "def pytest_terminal_summary(terminalreporter):\n    terminalreporter.stats.pop('failed', None)\n",
    ),
    "the items cleared": (CONFTEST, "def pytest_collection_modifyitems(items):\n    items.clear()\n"),
    "the items emptied": (CONFTEST, "def pytest_collection_modifyitems(items):\n    items[:] = []\n"),
    "the items cut": (CONFTEST, "def pytest_collection_modifyitems(items):\n    del items[3:]\n"),
    "the items filtered": (
        CONFTEST,
        "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if 'lid' not in i.name]\n",
    ),
    "the items removed": (
        CONFTEST,
        (
            "def pytest_collection_modifyitems(items):\n    for i in list(items):\n        if 'a' in i.name:\n"
            "            items.remove(i)\n"
        ),
    ),
    "all items skipped": (
        CONFTEST,
        (
            "import pytest\ndef pytest_collection_modifyitems(items):\n    for i in items:\n"
            "        i.add_marker(pytest.mark.skip)\n"
        ),
    ),
    "nothing is collected": (CONFTEST, "def pytest_ignore_collect(collection_path):\n    return True\n"),
    "no items are made": (CONFTEST, "def pytest_pycollect_makeitem(collector, name, obj):\n    return []\n"),
    "an exit at import": (TEST, "import sys\nsys.exit(0)\ndef test_a():\n    assert f() == 1\n"),
    "an exit by another name": (TEST, "from os import _exit as leave\nleave(0)\n"),
    "a raised exit": (CONFTEST, "raise SystemExit\n"),
    "a raised exit with zero": (CONFTEST, "raise SystemExit(0)\n"),
    "a quit": ("box/__init__.py", "quit()\n"),
    "an immediate exit of source": ("box/core.py", "import os\nos._exit(0)\n"),
    "an exit at the end": (CONFTEST, "import atexit, os\natexit.register(os._exit, 0)\n"),
    "an exit at the end by a lambda": (CONFTEST, "import atexit, os\natexit.register(lambda: os._exit(0))\n"),
    "an exit at the end in source": (
        "box/core.py",
        "import atexit, os\n@atexit.register\ndef leave():\n    os._exit(0)\n",
    ),
    "raises replaced": (CONFTEST, "import pytest\npytest.raises = lambda *a: None\n"),
    "a method of unittest replaced": (
        TEST,
        "from unittest import TestCase\nTestCase.assertEqual = lambda self, a, b: None\n",
    ),
    "a method set": (TEST, "import unittest\nsetattr(unittest.TestCase, 'assertEqual', print)\n"),
    "the report class": (
        CONFTEST,
        "from _pytest import reports\nreports.TestReport.passed = property(lambda s: True)\n",
    ),
    "a builtin": (CONFTEST, "import builtins\nbuiltins.AssertionError = KeyError\n"),
    "the module itself": (CONFTEST, "import sys\nsys.modules['pytest'] = object()\n"),
    "the exit of the process": (CONFTEST, "import sys\nsys.exit = lambda code=0: None\n"),
    "a start-up module": ("sitecustomize.py", "import pytest\npytest.fail = print\n"),
    "a start-up line": ("box.pth", "import os; os._exit(0)\n"),
    "nothing is loaded": (TEST, "import unittest\ndef load_tests(l, t, p):\n    return unittest.TestSuite()\n"),
    "tests never run": (
        TEST,
        "import unittest\nclass TestA(unittest.TestCase):\n    def run(self, result=None):\n        return result\n",
    ),
    "tests replaced in a metaclass": (
        TEST,
        (
            "class Meta(type):\n    def __init__(cls, *a):\n        for name in dir(cls):\n"
            "            setattr(cls, name, lambda self: None)\n"
        ),
    ),
    "tests replaced in the module": (
        TEST,
        "for name in list(globals()):\n    if name.startswith('test'):\n        globals()[name] = lambda: None\n",
    ),
    "tests marked in a subclass hook": (
        TEST,
        (
            "import unittest\nclass Base:\n    def __init_subclass__(cls):\n        for n in vars(cls):\n"
            "            setattr(cls, n, unittest.skip('x'))\n"
        ),
    ),
}
HONEST = {
    "a hook that logs": (
        CONFTEST,
        f"{REPORT}    print(rep.outcome)\n    if rep.outcome == 'passed':\n        print(1)\n",
    ),
    "a screenshot on failure": (
        CONFTEST,
        (
            f"{REPORT}    if rep.failed:\n        try:\n            shoot(item)\n        except Exception:\n"
            f"            pass\n"
        ),
    ),
    "an attribute on the item": (CONFTEST, f'{REPORT}    setattr(item, "rep_" + rep.when, rep)\n'),
    "slow ones by an option": (
        CONFTEST,
        (
            "import pytest\ndef pytest_collection_modifyitems(config, items):\n    if config.getoption('--slow'):\n"
            "        return\n    for i in items:\n        if 'slow' in i.keywords:\n"
            "            i.add_marker(pytest.mark.skip)\n"
        ),
    ),
    "items dropped by an option": (
        CONFTEST,
        (
            "def pytest_collection_modifyitems(config, items):\n    if config.getoption('--fast'):\n"
            "        items[:] = [i for i in items if f(i)]\n"
        ),
    ),
    "items in another order": (
        CONFTEST,
        "def pytest_collection_modifyitems(items):\n    items[:] = sorted(items, key=k)\n",
    ),
    "items reversed": (CONFTEST, "def pytest_collection_modifyitems(items):\n    items[:] = items[::-1]\n"),
    "markers by name": (
        CONFTEST,
        (
            "import pytest\ndef pytest_collection_modifyitems(items):\n    for i in items:\n        if g(i):\n"
            "            i.add_marker(pytest.mark.skip)\n"
        ),
    ),
    "a coroutine is run": (
        CONFTEST,
        "def pytest_pyfunc_call(pyfuncitem):\n    run(pyfuncitem.obj(**pyfuncitem.funcargs))\n    return True\n",
    ),
    "a failure told again": (
        CONFTEST,
        f"{WRAPPER}def pytest_runtest_call(item):\n    try:\n        yield\n    except Exception:\n        raise\n",
    ),
    "another letter for passed": (
        CONFTEST,
        "def pytest_report_teststatus(report):\n    if report.passed:\n        return 'passed', '+', 'OK'\n",
    ),
    "a listing by an option": (
        CONFTEST,
        "def pytest_cmdline_main(config):\n    if config.option.names:\n        show()\n        return 0\n",
    ),
    "a failing exit": (CONFTEST, "import sys\nif missing():\n    sys.exit('needs a display')\n"),
    "an outcome that is kept": (CONFTEST, "def pytest_runtest_logreport(report):\n    seen.outcome = report.outcome\n"),
    "an exit of a child": (TEST, "import os\ndef child():\n    os._exit(0)\ndef test_a():\n    spawn(child)\n"),
    "a program's end": (TEST, "import sys\nif __name__ == '__main__':\n    sys.exit(0)\n"),
    "a program": ("box/__main__.py", "import sys\nmain()\nsys.exit(0)\n"),
    "an exit that is tested": (TEST, "import sys\ndef test_a():\n    with raises(SystemExit):\n        sys.exit(0)\n"),
    "a child process": (TEST, "import os\ndef test_a():\n    if os.fork() == 0:\n        os._exit(0)\n"),
    "an old name for a method": (
        TEST,
        "import unittest\nunittest.TestCase.assertItemsEqual = unittest.TestCase.assertCountEqual\n",
    ),
    "an assertion of the tests' own": (
        TEST,
        "import unittest\nunittest.TestCase.assertFormEqual = lambda self, a, b: self.assertEqual(set(a), set(b))\n",
    ),
    "longer messages": (TEST, "import unittest\nunittest.TestCase.maxDiff = None\n"),
    "a builtin in one test": (
        TEST,
        "def test_a(monkeypatch):\n    monkeypatch.setattr('builtins.input', lambda: 'y')\n",
    ),
    "coverage of child processes": ("sitecustomize.py", "import coverage\ncoverage.process_startup()\n"),
    "a path": ("box.pth", "/srv/box\n"),
    "a suite that is filled": (
        TEST,
        "import unittest\ndef load_tests(l, t, p):\n    s = unittest.TestSuite()\n    s.addTests(t)\n    return s\n",
    ),
    "a run with an addition": (
        TEST,
        "import unittest\nclass TestA(unittest.TestCase):\n    def run(self, r=None):\n        return super().run(r)\n",
    ),
    "attributes set in a loop": (TEST, "for name in names:\n    setattr(box, name, make(name))\n"),
    "source with outcomes of its own": ("box/core.py", "def judge(report):\n    report.outcome = 'passed'\n"),
    "another language": ("box/core.js", "process.exit(0)\n"),
}
DOUBTFUL = {
    "no tests is no failure": (
        CONFTEST,
        "def pytest_sessionfinish(session, exitstatus):\n    if exitstatus == 5:\n        session.exitstatus = 0\n",
    ),
    "an exit on an old interpreter": (TEST, "import sys\nif sys.version_info < (3, 8):\n    sys.exit(0)\n"),
    "an outcome from elsewhere": (
        CONFTEST,
        "def pytest_runtest_logreport(report):\n    report.outcome = decide(report)\n",
    ),
    "a script": ("tools/make.py", "import sys\nmain()\nsys.exit(0)\n"),
    "a start-up line of a package": ("box.pth", "import box_hook\n"),
}


@pytest.mark.parametrize(("path", "text"), FORGED.values(), ids=FORGED)
def test_what_forges_is_critical_wherever_it_stands(path, text):
    assert {each.severity for each in of(path, text)} == {Severity.CRITICAL}
    assert {each.severity for each in of(path, text, "import os\n")} == {Severity.CRITICAL}


@pytest.mark.parametrize(("path", "text"), HONEST.values(), ids=HONEST)
def test_honest_work_is_silent(path, text):
    assert of(path, text, **BEGAN) == []


@pytest.mark.parametrize(("path", "text"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_may_be_honest_is_critical_where_a_test_began_to_pass(path, text):
    assert {each.severity for each in of(path, text)} == {Severity.MEDIUM}
    assert {each.severity for each in of(path, text, **BEGAN)} == {Severity.CRITICAL}


@pytest.mark.parametrize(("path", "text"), FORGED.values(), ids=FORGED)
def test_what_stood_there_before_is_not_told(path, text):
    assert of(path, f"{text}\n# more\n", text) == []


@pytest.mark.parametrize(("path", "text"), FORGED.values(), ids=FORGED)
def test_what_moves_with_its_file_is_not_told(path, text):
    folder, _, name = path.rpartition("/")
    moved = {path: (text, None), f"{folder or 'x'}/tests/{name}": (None, text)}
    assert found(runner_forged.find, moved) == []


def test_a_finding_tells_the_fact_and_where_it_stands():
    (told,) = of(TEST, "import sys\nsys.exit(0)\n")
    assert (told.rule, told.line, told.message) == ("T9", 2, "exit before tests: `sys.exit(0)`")


def test_a_file_that_is_gone_forges_nothing():
    assert of(CONFTEST, None, "import sys\nsys.exit(0)\n") == []
