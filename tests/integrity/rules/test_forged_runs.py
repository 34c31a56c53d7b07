"""T9: statuses however they are written, tests that are wrapped, reports that are rewritten, and honest twins."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import runner_forged
from tests.integrity.making import examined, found

CONFTEST = "tests/conftest.py"
TEST = "tests/test_box.py"
BEGAN = {"before": {"tests.test_box::test_a": "failed"}, "after": {"tests.test_box::test_a": "passed"}}
FINISH = "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = "
MODIFY = "def pytest_collection_modifyitems(items):\n    for item in items:\n        "
CALL = "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_call(item):\n    outcome = yield\n    "
EACH = "@pytest.fixture(autouse=True)\n"
REWRITES = (
    "    path = config.option.xmlpath\n    text = open(path).read()\n"
    "    open(path, 'w').write(text.replace('<failure', '<skipped'))\n"
)
MUFFLED = (
    "def calm(run):\n    def inner():\n        try:\n            run()\n"
    "        except Exception:\n            {}\n    return inner\n"
)
FORGED = {
    "a status by choice": f"{FINISH}0 if exitstatus == 1 else exitstatus\n",
    "a status by a constant": f"GOOD = 0\n{FINISH}GOOD\n",
    "a status by its value": f"from pytest import ExitCode\n{FINISH}ExitCode.OK.value\n",
    "a status made of a number": f"import pytest\n{FINISH}pytest.ExitCode(0)\n",
    "a status times nothing": f"{FINISH}exitstatus * 0\n",
    "a status of the system": "import os\ndef pytest_unconfigure(config):\n    os._exit(os.EX_OK)\n",
    "an exit by a constant": "import os\nGOOD = 0\ndef pytest_unconfigure(config):\n    os._exit(GOOD)\n",
    "an exit raised": (
        "import pytest\ndef pytest_sessionfinish(session):\n    raise pytest.exit.Exception('x', returncode=0)\n"
    ),
    "an end by place": "import pytest\ndef setup_module():\n    pytest.exit('x', 0)\n",
    "a main that is forced": (
        "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_cmdline_main(config):\n"
        "    outcome = yield\n    outcome.force_result(0)\n"
    ),
    "a loop that runs nothing": "def pytest_runtestloop(session):\n    return True\n",
    "another program": "import os\nos.execv('/bin/true', ['true'])\n",
    "another program in a hook": "import os\ndef pytest_sessionfinish(session):\n    os.execlp('true', 'true')\n",
    "an interpreter without assertions": (
        "import os, sys\nos.execv(sys.executable, [sys.executable, '-O', '-m', 'pytest'])\n"
    ),
    "a timer": "import os, threading\nthreading.Timer(0.5, os._exit, args=(0,)).start()\n",
    "a thread": (
        "import os, threading\ndef watch():\n    os._exit(0)\nthreading.Thread(target=watch, daemon=True).start()\n"
    ),
    "a signal": "import os, signal\nsignal.signal(signal.SIGALRM, lambda *args: os._exit(0))\n",
    "a function of the tests": f"def nothing(*args):\n    pass\n{MODIFY}item.obj = nothing\n",
    "a function in a hook": (
        "def pytest_collection_modifyitems(items):\n    def fine(*args):\n        assert True\n"
        "    for item in items:\n        item._obj = fine\n"
    ),
    "a mock": f"from unittest import mock\n{MODIFY}item.runtest = mock.Mock()\n",
    "other code": f"{MODIFY}item.function.__code__ = (lambda: None).__code__\n",
    "a wrapper that passes over": f"{MUFFLED.format('pass')}{MODIFY}item.runtest = calm(item.runtest)\n",
    "a wrapper that prints": f"{MUFFLED.format('print(1)')}{MODIFY}setattr(item, 'obj', calm(item.obj))\n",
    "a wrapper that suppresses": (
        "import contextlib\ndef calm(run):\n    def inner():\n        with contextlib.suppress(AssertionError):\n"
        f"            run()\n    return inner\n{MODIFY}item.runtest = calm(item.runtest)\n"
    ),
    "a fixture of each test": f"import pytest\n{EACH}def calm(request):\n    request.node.obj = lambda: None\n",
    "a fixture that sets": (
        f"import pytest\n{EACH}def calm(monkeypatch, request):\n"
        "    monkeypatch.setattr(request.node, 'obj', lambda: None)\n"
    ),
    "a report turned into a skip": f"{CALL}outcome.force_exception(pytest.skip.Exception('x'))\n",
    "all failures skipped": (
        "def pytest_runtest_logreport(report):\n    if report.failed:\n        report.outcome = 'skipped'\n"
    ),
    "a failure swallowed and printed": (
        "import pytest\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_call(item):\n    try:\n"
        "        return (yield)\n    except Exception as error:\n        print(error)\n"
    ),
    "a report rewritten": f"def pytest_unconfigure(config):\n{REWRITES}",
    "a report rewritten by a helper": (
        f"def mend(config):\n{REWRITES}def pytest_unconfigure(config):\n    mend(config)\n"
    ),
    "a report rewritten at the end": (
        "import atexit\ndef mend():\n    with open('junit.xml', 'w') as out:\n"
        "        out.write('<testsuite failures=\"0\"/>')\natexit.register(mend)\n"
    ),
    "a tree of a report": (
        "import xml.etree.ElementTree as ET\ndef pytest_sessionfinish(session):\n"
        "    tree = ET.parse(session.config.option.xmlpath)\n    for case in tree.iter('testcase'):\n"
        "        for each in case.findall('failure'):\n            case.remove(each)\n"
        "    tree.write(session.config.option.xmlpath)\n"
    ),
    "a report of another plugin": ("def pytest_json_modifyreport(json_report):\n    json_report['exitcode'] = 0\n"),
    "a hook by assignment": "def mend(item, call):\n    call.excinfo = None\npytest_runtest_makereport = mend\n",
    "a hook of an object": (
        "import types\ndef mend(report):\n    report.outcome = 'passed'\ndef pytest_configure(config):\n"
        "    config.pluginmanager.register(types.SimpleNamespace(pytest_runtest_logreport=mend))\n"
    ),
    "failures out of the summary one by one": (
        "def pytest_terminal_summary(terminalreporter):\n    stats = terminalreporter.stats\n"
        "    for key in ('failed', 'error'):\n        stats.pop(key, None)\n"
    ),
    "the report's class for all tests": (
        f"import pytest\n{EACH}def calm():\n    from _pytest.reports import TestReport\n"
        "    patch = pytest.MonkeyPatch()\n    patch.setattr(TestReport, 'failed', property(lambda s: False))\n"
    ),
    "unittest's assertions for all tests": (
        f"from unittest import mock\nimport pytest\n{EACH}def calm():\n"
        "    with mock.patch('unittest.TestCase.assertEqual'):\n        yield\n"
    ),
    "a helper for reports": "def mend(report):\n    if report.failed:\n        report.outcome = 'passed'\n",
    "what unittest keeps": (
        "import unittest\nclass TestA(unittest.TestCase):\n    def tearDown(self):\n"
        "        self._outcome.errors.clear()\n        self._outcome.success = True\n"
    ),
    "the failures of a result": "def stop(result):\n    result.failures.clear()\n    result.errors = []\n",
}
HONEST = {
    "a status of success asked for": (
        "def pytest_sessionfinish(session, exitstatus):\n    ok = exitstatus == 0\n    print(ok)\n"
    ),
    "an exit by what happened": "import sys\ndef pytest_unconfigure(config):\n    sys.exit(0 if fine(config) else 1)\n",
    "a failing end": "import pytest\ndef setup_module():\n    pytest.exit('needs a display', 3)\n",
    "a restart with a setting": (
        "import os, sys\nif 'PYTHONHASHSEED' not in os.environ:\n"
        "    os.execv(sys.executable, [sys.executable, '-m', 'pytest'])\n"
    ),
    "a watchdog that fails": "import os, threading\nthreading.Timer(60, os._exit, args=(1,)).start()\n",
    "a loop of one's own": (
        "def pytest_runtestloop(session):\n    for item in session.items:\n"
        "        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)\n    return True\n"
    ),
    "a wrapper that goes on": (
        f"def timed(run):\n    def inner():\n        start()\n        run()\n    return inner\n"
        f"{MODIFY}item.runtest = timed(item.runtest)\n"
    ),
    "a wrapper that tells and raises": (
        f"{MUFFLED.format('print(1); raise')}{MODIFY}item.runtest = calm(item.runtest)\n"
    ),
    "a coroutine made a function": f"{MODIFY}item.obj = synchronous(item.obj)\n",
    "a fixture that patches": (
        f"import pytest\n{EACH}def home(monkeypatch):\n    monkeypatch.setattr('box.home', lambda: 3)\n"
    ),
    "a fixture that asks its node": (
        f"import pytest\n{EACH}def home(request):\n    name = request.node.obj.__name__\n    print(name)\n"
    ),
    "an exit patched for all tests": (
        f"import sys, pytest\n{EACH}def home(monkeypatch):\n    monkeypatch.setattr(sys, 'exit', note)\n"
    ),
    "a report copied": (
        "import shutil\ndef pytest_unconfigure(config):\n    shutil.copy(config.option.xmlpath, 'out/junit.xml')\n"
    ),
    "failures counted from a report": (
        "import json\ndef pytest_sessionfinish(session):\n    root = read(session.config.option.xmlpath)\n"
        "    open('summary.txt', 'w').write(root.get('failures'))\n"
    ),
    "a property of a report": (
        "def pytest_sessionfinish(session):\n    tree = read(session.config.option.xmlpath)\n"
        "    tree.getroot().set('host', name())\n    tree.write(session.config.option.xmlpath)\n"
    ),
    "another statistic": (
        "def pytest_terminal_summary(terminalreporter):\n    terminalreporter.stats.pop('warnings', None)\n"
    ),
    "what unittest keeps asked for": (
        "import unittest\nclass TestA(unittest.TestCase):\n    def tearDown(self):\n"
        "        if self._outcome.errors:\n            shoot(self)\n"
    ),
    "a protocol": (
        "from typing import Protocol\nclass Tests(Protocol):\n    def assertEqual(self, a, b):\n        pass\n"
    ),
    "a result of the project's own": "def test_a():\n    result = check()\n    assert result.errors == []\n",
}
DOUBTFUL = {
    "no tests by a choice": f"{FINISH}0 if exitstatus == 5 else exitstatus\n",
    "one kind of failure skipped": (
        "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
        "    outcome = yield\n    rep = outcome.get_result()\n"
        "    if rep.failed and isinstance(call.excinfo.value, ConnectionError):\n        rep.outcome = 'skipped'\n"
    ),
}


def of(text, path=CONFTEST, old=None):
    return [each for each in examined({path: (old, text)}, **BEGAN).findings if each.rule == "T9"]


@pytest.mark.parametrize("text", FORGED.values(), ids=FORGED)
def test_what_forges_a_run_is_critical_whatever_began_to_pass(text):
    seen = [each.severity for each in examined({CONFTEST: (None, text)}).findings if each.rule == "T9"]
    assert Severity.CRITICAL in seen
    assert of(f"{text}x = 1\n", old=text) == []


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_its_honest_twin_is_silent(text):
    assert of(text) == []


@pytest.mark.parametrize("text", DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_may_be_honest_is_critical_where_a_test_began_to_pass(text):
    assert {each.severity for each in found(runner_forged.find, {CONFTEST: (None, text)})} == {Severity.MEDIUM}
    assert {each.severity for each in of(text)} == {Severity.CRITICAL}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("sys.exit(pytest.main(args))\n", "pytest.main(args)\nsys.exit(0)\n", True),
        ("raise SystemExit(pytest.main())\n", "pytest.main()\n", True),
        ("status = pytest.main()\nsys.exit(status)\n", "sys.exit(pytest.main())\n", False),
        ("pytest.main()\n", "pytest.main(args)\n", False),
        ("sys.exit(main())\n", "main()\n", False),
    ],
)
def test_a_program_hands_the_result_of_the_tests_on(old, new, told):
    head = "import sys\nimport pytest\nargs = sys.argv\n"
    seen = of(head + new, "runtests.py", head + old)
    assert [each.severity for each in seen if "result" in each.message] == [Severity.CRITICAL] * told


@pytest.mark.parametrize(
    ("path", "told"), [("bin/pytest", True), ("tools/bin/python3", True), ("bin/box", False), ("docs/pytest", False)]
)
def test_a_new_program_of_the_runners_name_is_found_first(path, told):
    assert bool(of("#!/bin/sh\nexit 0\n", path)) is told
    assert of("#!/bin/sh\nexit 0\n", path, "#!/bin/sh\n") == []


def test_a_module_of_the_runners_own_project_moves():
    files = {"pluggy/__init__.py": ("x = 1\n", None), "src/pluggy/__init__.py": (None, "x = 1\n")}
    assert [each for each in examined(files).findings if each.rule == "T9"] == []
