"""T9, form by form: hooks, results and modules that say something else than what happened."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import runner_forged
from tests.integrity.making import examined, found

CONFTEST = "tests/conftest.py"
BEGAN = {"before": {"tests.test_box::test_a": "failed"}, "after": {"tests.test_box::test_a": "passed"}}
FORGED = {
    "mr wasxfail": (
        "import pytest\n"
        "\n"
        "\n"
        "@pytest.hookimpl(hookwrapper=True)\n"
        "def pytest_runtest_makereport(item, call):\n"
        "    outcome = yield\n"
        "    report = outcome.get_result()\n"
        "    if report.failed:\n"
        '        report.outcome = "skipped"\n'
        '        report.wasxfail = "flaky"\n'
    ),
    "mr skipped": (
        "import pytest\n"
        "\n"
        "\n"
        "@pytest.hookimpl(hookwrapper=True)\n"
        "def pytest_runtest_makereport(item, call):\n"
        "    outcome = yield\n"
        "    report = outcome.get_result()\n"
        "    if report.failed:\n"
        '        report.outcome = "skipped"\n'
    ),
    "logreport list": (
        "import pytest\n"
        "\n"
        "\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_runtest_logreport(report):\n"
        "    if report.failed:\n"
        '        report.outcome, report.longrepr = "passed", None\n'
    ),
    "finish setattr": (
        "import pytest\n"
        "\n"
        "\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_sessionfinish(session, exitstatus):\n"
        '    setattr(session, "exitstatus", 0)\n'
    ),
    "terminal2": (
        "import pytest\n"
        "\n"
        "\n"
        "@pytest.hookimpl(trylast=True)\n"
        "def pytest_terminal_summary(terminalreporter, exitstatus, config):\n"
        '    terminalreporter.stats["passed"] += terminalreporter.stats.pop("failed", [])\n'
    ),
    "configure deselect": (
        "import pytest\n"
        "\n"
        "\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_configure(config):\n"
        '    config.option.keyword = "not lid"\n'
    ),
    "configure maxfail": (
        "import pytest\n"
        "\n"
        "\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_configure(config):\n"
        "    config.option.maxfail = 0\n"
        "    config.option.collectonly = True\n"
    ),
    "finish items": (
        "import pytest\n"
        "\n"
        "\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_collection_finish(session):\n"
        "    session.items.clear()\n"
    ),
    "finish items2": (
        "import pytest\n"
        "\n"
        "\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_collection_finish(session):\n"
        "    session.items[:] = session.items[:1]\n"
    ),
    "excepthook": ("import sys\nimport os\n\nsys.excepthook = lambda *args: os._exit(0)\n"),
    "excepthook def": (
        "import sys\nimport os\n\n\ndef _quiet(kind, value, trace):\n    os._exit(0)\n\n\nsys.excepthook = _quiet\n"
    ),
    "TestResult addFailure": ("import unittest\n\nunittest.TestResult.addFailure = unittest.TestResult.addSuccess\n"),
    "TestResult addFailure2": (
        "from unittest import TestResult\n"
        "\n"
        "TestResult.addFailure = lambda self, test, err: self.addSuccess(test)\n"
        "TestResult.addError = TestResult.addFailure\n"
    ),
    "TestCase.callTestMethod": ("import unittest\n\nunittest.TestCase._callTestMethod = lambda self, method: None\n"),
}
HONEST = {
    "an option that was asked for": (
        "def pytest_configure(config):\n    if not config.option.keyword:\n        config.option.keyword = 'not slow'\n"
    ),
    "an option emptied": "def pytest_configure(config):\n    config.option.markexpr = ''\n",
    "a status handed on": (
        "def pytest_sessionfinish(session, exitstatus):\n    setattr(session, 'status', exitstatus)\n"
    ),
    "an alias of the same": (
        "import unittest\nunittest.TestCase.assertItemsEqual = unittest.TestCase.assertCountEqual\n"
    ),
    "a hook for errors that tells them": (
        "import sys\n\n\ndef _told(kind, value, trace):\n    print(value)\n\n\nsys.excepthook = _told\n"
    ),
    "items counted": "def pytest_collection_finish(session):\n    print(len(session.items))\n",
    "two that are kept": "def pytest_runtest_logreport(report):\n    name, ended = report.nodeid, report.outcome\n",
}


@pytest.mark.parametrize("text", FORGED.values(), ids=FORGED)
def test_it_is_critical_where_tests_began_to_pass(text):
    assert Severity.CRITICAL in {each.severity for each in found(runner_forged.find, {CONFTEST: (None, text)}, **BEGAN)}
    assert found(runner_forged.find, {CONFTEST: (text, f"{text}x = 1\n")}, **BEGAN) == []


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_honest_hooks_are_silent(text):
    assert found(runner_forged.find, {CONFTEST: (None, text)}, **BEGAN) == []


@pytest.mark.parametrize(
    ("path", "text", "rules"),
    [
        ("pytest.py", "def main():\n    return 0\n", {"T9"}),
        ("pytest/__main__.py", "print('1 passed')\n", {"T9"}),
        ("src/pluggy/__init__.py", "x = 1\n", {"T9"}),
        ("unittest/__init__.py", "class TestCase:\n    pass\n", {"T9"}),
        ("unittest/__init__.py", "", set()),
        ("tests/unittest/__init__.py", "x = 1\n", set()),
        ("box/pytest.py", "x = 1\n", set()),
    ],
)
def test_a_new_module_of_the_runners_name_is_found_first(path, text, rules):
    assert {each.rule for each in examined({path: (None, text)}).findings if each.rule == "T9"} == rules
    assert not [each for each in examined({path: (text, f"{text}y = 2\n")}).findings if each.rule == "T9"]
