"""Run a program whose tests are those of unittest, and write what its results say as JUnit XML.

`python unittest_junit.py REPORT -m unittest …` or `… REPORT manage.py test …`. The results are asked, not the text that
they print, into which tests print as well. The exit status is that of the program.
"""

import functools
import os
import runpy
import sys
import time
import traceback
import unittest
from typing import Any, Callable
from unittest.util import strclass
from xml.sax.saxutils import escape, quoteattr

# Of two results of a test, such as those of its subtests, the worse one counts.
_RANK = ("passed", "skipped", "failure", "error")
_NOT_LOADED = "unittest.loader._FailedTest"
_CONTROL = dict.fromkeys([*range(9), 11, 12, *range(14, 32)], " ")


class Report:
    """The results of all tests that ran in this process, in their order."""

    def __init__(self) -> None:
        self._cases: dict[str, dict[str, Any]] = {}
        self._process = os.getpid()
        # A test may run tests of its own, which are none of the project's.
        self._outer: "unittest.TestResult | None" = None
        self._started = 0.0

    def start(self, result: unittest.TestResult, test: unittest.TestCase) -> None:
        """Note that a test begins."""
        if self._outer is None:
            self._outer = result
            self._started = time.monotonic()
            self.add(result, test, None)

    def stop(self, result: unittest.TestResult, test: unittest.TestCase) -> None:
        """Note that a test has ended."""
        if self._outer is result:
            self._outer = None
            self._cases[test.id()]["time"] = time.monotonic() - self._started

    def add(self, result: unittest.TestResult, test: unittest.TestCase, outcome: "str | None", text: str = "") -> None:
        """Add an outcome of a test; of several the worst counts."""
        if self._outer not in {None, result}:
            return
        case = self._cases.setdefault(test.id(), {"names": names(test), "outcome": None, "text": "", "time": 0.0})
        if outcome and (case["outcome"] is None or _RANK.index(outcome) > _RANK.index(case["outcome"])):
            case["outcome"], case["text"] = outcome, text

    def write(self, path: str) -> None:
        """Write the report, unless this is a process that the tests forked."""
        if os.getpid() != self._process:
            return
        lines = [case_line(case) for case in self._cases.values()]
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write('<?xml version="1.0" encoding="utf-8"?>\n')
            file.write(f'<testsuites><testsuite name="unittest" tests="{len(lines)}">\n')
            file.writelines(lines)
            file.write("</testsuite></testsuites>\n")


def names(test: unittest.TestCase) -> "tuple[str, str]":
    """Return the class and the name under which a test is reported."""
    if strclass(type(test)) == _NOT_LOADED:
        return _NOT_LOADED, test.id()[len(_NOT_LOADED) + 1 :]
    group, _, name = test.id().rpartition(".")
    return group, name


def prevented(test: unittest.TestCase) -> "list[unittest.TestCase]":
    """Return the tests that did not run because a fixture failed: `setUpClass (module.Class)`."""
    fixture, _, place = test.id().rstrip(")").partition(" (")
    if not fixture.startswith("setUp"):
        return []
    module, _, name = place.rpartition(".")
    holders = [sys.modules[place]] if place in sys.modules else [getattr(sys.modules.get(module), name, None)]
    classes = [each for holder in holders for each in ([holder] if isinstance(holder, type) else vars(holder).values())]
    loader = unittest.defaultTestLoader
    return [
        each(method)
        for each in classes
        if isinstance(each, type) and issubclass(each, unittest.TestCase) and each.__module__ in {place, module}
        for method in loader.getTestCaseNames(each)
    ]


def case_line(case: "dict[str, Any]") -> str:
    """Return a test as a line of XML; one without an outcome ended with the process."""
    group, name = case["names"]
    outcome = case["outcome"] or "error"
    text = (case["text"] or "the run ended within this test").translate(_CONTROL)
    inner = ""
    if outcome == "skipped":
        inner = f"<skipped message={quoteattr(text)}/>"
    elif outcome != "passed":
        last = text.strip().splitlines()[-1]
        inner = f"<{outcome} message={quoteattr(last)}>{escape(text)}</{outcome}>"
    where = f"classname={quoteattr(group)} name={quoteattr(name.translate(_CONTROL))}"
    return f'<testcase {where} time="{case["time"]:.4f}">{inner}</testcase>\n'


def listen(report: Report) -> None:
    """Have every result of unittest pass on to the report what it gets."""

    def also(method: str, pass_on: "Callable[..., object]") -> None:
        original = getattr(unittest.TestResult, method)

        @functools.wraps(original)
        def both(self: unittest.TestResult, *words: Any) -> Any:
            pass_on(self, *words)
            return original(self, *words)

        setattr(unittest.TestResult, method, both)

    def failed(outcome: str) -> "Callable[..., None]":
        def add(result: unittest.TestResult, test: unittest.TestCase, error: "tuple[Any, Any, Any]") -> None:
            text = "".join(traceback.format_exception(*error))
            for each in prevented(test) or [test]:
                report.add(result, each, outcome, text)

        return add

    def of_subtest(result: unittest.TestResult, test: unittest.TestCase, _: object, error: Any) -> None:
        if error is not None:
            failed("failure" if issubclass(error[0], test.failureException) else "error")(result, test, error)

    also("startTest", report.start)
    also("stopTest", report.stop)
    also("addSuccess", lambda result, test: report.add(result, test, "passed"))
    also("addSkip", lambda result, test, reason: report.add(result, test, "skipped", str(reason)))
    also("addExpectedFailure", lambda result, test, _: report.add(result, test, "skipped", "expected failure"))
    also("addUnexpectedSuccess", lambda result, test: report.add(result, test, "failure", "unexpected success"))
    also("addFailure", failed("failure"))
    also("addError", failed("error"))
    also("addSubTest", of_subtest)


def run(path: str, words: "list[str]") -> None:
    """Run a module (`-m NAME`) or a script with its words, as the interpreter does, and write the report at its end."""
    report = Report()
    listen(report)
    try:
        if words[0] == "-m":
            sys.argv = words[1:]
            sys.path[0] = os.getcwd()
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = words
            sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
            runpy.run_path(words[0], run_name="__main__")
    finally:
        report.write(path)


if __name__ == "__main__":
    # Under a name that is no file's, so that coverage does not measure this program with the project.
    with open(__file__, encoding="utf-8") as itself:
        program: "dict[str, Any]" = {"__name__": "unittest_junit"}
        exec(compile(itself.read(), "<unittest_junit>", "exec"), program)
    program["run"](sys.argv[1], sys.argv[2:])
