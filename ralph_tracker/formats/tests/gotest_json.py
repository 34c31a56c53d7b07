"""`go test -json`: one event a line, of packages and of their tests.

The last pass, fail or skip of each (package, test) counts, subtests like tests. Broken are a test that never ended,
and a package that failed though none of its tests did (it did not build, its main or a time limit ended it, it
panicked between tests): Go counts no test for it. A package that never ended is a run cut short.
"""

import re
from typing import Final

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats import json_lines
from ralph_tracker.formats.content import Content
from ralph_tracker.formats.damage import DamageError
from ralph_tracker.formats.tests import identity
from ralph_tracker.formats.tests.gathering import Cases
from ralph_tracker.formats.tests.json_fields import Event, number, text
from ralph_tracker.formats.tests.report import TestReport

_ENDS: Final = {"pass": PASSED, "fail": FAILED, "skip": SKIPPED}
_ACTIONS: Final = _ENDS.keys() | {"start", "run", "output", "build-output", "build-fail"}
_OF_BUILDS: Final = ("build-output", "build-fail")
_OWNERS: Final = ("Package", "Test", "ImportPath")
# What Go writes beside the events where a package could not even be set up.
_FAILED_PACKAGE: Final = re.compile(r"FAIL\t(\S+)(?: \[[a-z ]+\])?\s*$")

_Key = tuple[str, str]


def sniff(content: Content) -> bool:
    """Whether one of the first objects is an event of Go's."""
    return any(_is_event(each) for each in json_lines.first_objects(content))


def read(content: Content) -> TestReport:
    """Read the report. Raises DamageError where a package has no end, or there is no package."""
    run = _Run()
    for line, event in json_lines.objects(content):
        if event is not None and text(event, "Action"):
            run.take(event)
        else:
            run.other(line)
    return run.report()


def _is_event(event: Event) -> bool:
    return text(event, "Action") in _ACTIONS and any(key in event for key in _OWNERS)


class _Run:
    """Gather the events; every dict keeps the order in which its keys came."""

    def __init__(self) -> None:
        self._packages: dict[str, str | None] = {}
        self._tests: dict[_Key, str | None] = {}
        self._seconds: dict[_Key, float | None] = {}
        self._runs: dict[_Key, set[str]] = {}
        self._again: set[_Key] = set()
        self._broken_builds: dict[str, None] = {}
        self._skipped_lines = 0

    def take(self, event: Event) -> None:
        """Take one event; those of a build name no package whose tests ran."""
        action, package, test = text(event, "Action"), text(event, "Package"), text(event, "Test")
        if action in _OF_BUILDS:
            if action == "build-fail":
                self._broken_builds[text(event, "ImportPath")] = None
        elif test:
            self._packages.setdefault(package, None)
            self._test((package, test), action, event)
        else:
            self._packages[package] = _ENDS.get(action) or self._packages.get(package)

    def _test(self, key: _Key, action: str, event: Event) -> None:
        if action not in _ENDS:
            self._tests.setdefault(key, None)
            return
        if self._tests.get(key) is not None:
            self._again.add(key)
        self._tests[key] = _ENDS[action]
        self._runs.setdefault(key, set()).add(_ENDS[action])
        self._seconds[key] = number(event, "Elapsed")

    def other(self, line: str) -> None:
        """Take a line that is no event."""
        self._skipped_lines += 1
        found = _FAILED_PACKAGE.match(line)
        if found:
            self._packages[found[1]] = FAILED

    def report(self) -> TestReport:
        """Return what was gathered."""
        if not self._packages and not self._broken_builds:
            raise DamageError("there is no package in it")
        open_ones = [package for package, end in self._packages.items() if end is None]
        if open_ones:
            raise DamageError(f"cut short: the package {open_ones[0]} has no end")
        cases, bad = Cases(), set()
        for key, outcome in self._tests.items():
            if outcome in (None, FAILED):
                bad.add(key[0])
            if outcome is None:
                cases.add_broken(identity.of(*key))
                continue
            again = key in self._again
            flaky = again and {PASSED, FAILED} <= self._runs[key]
            cases.add(identity.of(*key), outcome, self._seconds.get(key), rerun=again, flaky=flaky)
        failed = [package for package, end in self._packages.items() if end == FAILED]
        for package in failed:
            if package not in bad:
                cases.add_broken(identity.of(package, "(package)"))
        for path in self._broken_builds if not failed else ():
            cases.add_broken(identity.of(path, "(build)"))
        return cases.report(skipped_lines=self._skipped_lines)
