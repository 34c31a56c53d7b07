"""`go test -json`: one event per line, of packages and their tests.

The last pass, fail or skip of each (package, test) counts, for subtests too. A test that never ended is broken, and so
is a package that failed although none of its tests did (it did not build, exited, timed out or panicked between tests):
Go counts no test for it. A package that never ended means that the run was cut short. Output without a newline swallows
the line that ends a test: what stands behind it counts, else that its package passed.
"""

import re
from textwrap import dedent
from typing import Final

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.json_reader import Object, number, objects, text
from ralph_tracker.formats.parsed_report import TestReport
from ralph_tracker.formats.report_content import Content, DamageError, json_lines
from ralph_tracker.formats.tests.case_collector import CaseCollector, case_id

_ENDS: Final = {"pass": PASSED, "fail": FAILED, "skip": SKIPPED}
_ACTIONS: Final = _ENDS.keys() | {"start", "run", "output", "build-output", "build-fail"}
# What Go writes besides the events for a package that could not be set up.
_FAILED_PACKAGE: Final = re.compile(r"FAIL\t(\S+)(?: \[([a-z ]+)\])?\s*$")
# Before Go 1.24 the compiler's output was written between the events, below this heading.
_BUILD: Final = re.compile(r"# (\S+)")
_SWALLOWED: Final = re.compile(r".--- (?P<end>PASS|FAIL|SKIP): (?P<test>.+) \(\d[\d.]*s\)$")
_FRAME: Final = re.compile(r"\s*(?:=== |--- (?:PASS|FAIL|SKIP): )")

_Key = tuple[str, str]

sniff: Final = json_lines(
    lambda event: text(event, "Action") in _ACTIONS and any(key in event for key in ("Package", "Test", "ImportPath"))
)


def read(content: Content) -> TestReport:
    """Read the report. Raises DamageError if a package never ended, or there is no package."""
    run = _Run()
    for line, event in objects(content):
        if event is not None and text(event, "Action"):
            run.feed(event)
        else:
            run.other(line)
    return run.report()


class _Run:
    """The events of one run; every dict keeps the order of the report."""

    def __init__(self) -> None:
        self._packages: dict[str, str | None] = {}
        self._tests: dict[_Key, str | None] = {}
        self._seconds: dict[_Key, float | None] = {}
        self._runs: dict[_Key, set[str]] = {}
        self._again: set[_Key] = set()
        self._broken_builds: dict[str, None] = {}
        self._build_output: dict[str, list[str]] = {}
        self._build_of: dict[str, str] = {}  # package → the build that failed
        self._output: dict[_Key, list[str]] = {}
        self._building = ""
        self._swallowed: dict[_Key, str] = {}
        self._skipped_lines = 0

    def feed(self, event: Object) -> None:
        """Handle one event; build events name no package whose tests ran."""
        action, package, test = text(event, "Action"), text(event, "Package"), text(event, "Test")
        if action in {"build-output", "build-fail"}:
            if action == "build-fail":
                self._broken_builds[text(event, "ImportPath")] = None
            else:
                _keep(self._build_output.setdefault(text(event, "ImportPath"), []), text(event, "Output"))
        elif action == "output" and test:
            # The output of a test is kept until it passes, without its frame (`=== RUN`).
            key, output = (package, test), text(event, "Output")
            self._packages.setdefault(package, None)
            self._tests.setdefault(key, None)
            swallowed = _SWALLOWED.search(output.rstrip("\n"))
            if swallowed and swallowed["test"] == test:
                self._swallowed[key] = _ENDS[swallowed["end"].lower()]
            # those running or failed
            if not _FRAME.match(output) and (key in self._output or len(self._output) < 1_000):
                _keep(self._output.setdefault(key, []), output)
        elif test:
            self._packages.setdefault(package, None)
            self._test((package, test), action, event)
        else:
            self._packages[package] = _ENDS.get(action) or self._packages.get(package)
            if failed_build := text(event, "FailedBuild"):
                self._build_of[package] = failed_build

    def _test(self, key: _Key, action: str, event: Object) -> None:
        if action not in _ENDS:
            self._tests.setdefault(key, None)
            return
        if self._tests.get(key) is not None:
            self._again.add(key)
        self._tests[key] = _ENDS[action]
        self._runs.setdefault(key, set()).add(_ENDS[action])
        self._seconds[key] = number(event, "Elapsed")
        if _ENDS[action] != FAILED:
            self._output.pop(key, None)

    def other(self, line: str) -> None:
        """Handle a line that is not an event."""
        self._skipped_lines += 1
        found = _FAILED_PACKAGE.match(line)
        if found:
            self._packages[found[1]] = FAILED
            if found[2]:
                self._build_of.setdefault(found[1], found[1])
        elif heading := _BUILD.match(line):
            self._building = heading[1]
        elif self._building:
            _keep(self._build_output.setdefault(self._building, []), f"{line}\n")

    def report(self) -> TestReport:
        """Return the report of the run."""
        if not self._packages and not self._broken_builds:
            raise DamageError("there is no package in it")
        open_ones = [package for package, end in self._packages.items() if end is None]
        if open_ones:
            raise DamageError(f"cut short: the package {open_ones[0]} has no end")
        cases, bad = CaseCollector(), set()
        for key, reported in self._tests.items():
            outcome = reported or self._swallowed.get(key)
            if outcome is None and self._packages.get(key[0]) == PASSED:
                outcome = PASSED
            said = dedent("".join(self._output.get(key, ())))
            if outcome in (None, FAILED):
                bad.add(key[0])
            if outcome is None:
                cases.add_broken(case_id(*key), said)
                continue
            again = key in self._again
            flaky = again and {PASSED, FAILED} <= self._runs[key]
            cases.add(case_id(*key), outcome, self._seconds.get(key), rerun=again, flaky=flaky, said=said)
        failed = [package for package, end in self._packages.items() if end == FAILED]
        for package in failed:
            if package not in bad:
                cases.add_broken(case_id(package, "(package)"), self._of_build(package))
            if package in self._build_of:
                cases.add_not_loaded(package, self._of_build(package) or "the package does not build")
        for path in self._broken_builds if not failed else ():
            said = "".join(self._build_output.get(path, ()))
            cases.add_broken(case_id(path, "(build)"), said)
            cases.add_not_loaded(path.partition(" ")[0], said)
        return cases.report(skipped_lines=self._skipped_lines)

    def _of_build(self, package: str) -> str:
        """Return the compiler's output for a package whose build failed, "" if unknown."""
        return "".join(self._build_output.get(self._build_of.get(package, ""), ()))


def _keep(lines: list[str], output: str) -> None:
    if len(lines) < 50:
        lines.append(output[:1_000])
