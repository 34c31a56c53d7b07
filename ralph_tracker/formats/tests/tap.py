"""TAP, the Test Anything Protocol, versions 12 to 14.

Lines without indent are the tests; those of a subtest are indented, and summed up in the line after them. SKIP and TODO
are skips, whatever the outcome. A plan (`1..5`) says how many tests there are: if it is missing, or came first and was
not fulfilled, the run was cut short, unless it bails out.
"""

import re
from typing import Final

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats import json_lines
from ralph_tracker.formats.report_bytes import Content
from ralph_tracker.formats.tests.case_collector import ERROR, Cases, contradiction
from ralph_tracker.formats.tests.identity import UNNAMED
from ralph_tracker.formats.tests.test_report import Declared, TestReport
from ralph_tracker.formats.unreadable import DamageError

_VERSION: Final = re.compile(r"TAP version 1[2-9]\s*$")
_PLAN: Final = re.compile(r"1\.\.(?P<last>\d{1,9})\s*(?:#\s*(?P<why>.*))?$")
_TEST: Final = re.compile(r"(?P<not>not )?ok(?![A-Za-z_\d\t:=(])[ -]*(?:(?P<number>\d+)\b)?(?P<rest>.*)$")
_DIRECTIVE: Final = re.compile(r"(?<!\\)#\s*(?:skip\S*|todo\b)", re.IGNORECASE)
_TIME: Final = re.compile(r"(?<!\\)#\s*time=(?P<number>\d{1,9}(?:\.\d{1,12})?)(?P<unit>m?s)\s*$")
_DURATION: Final = re.compile(r"  duration_ms: (?P<number>\d{1,12}(?:\.\d{1,12})?)\s*$")
# In the YAML block, or in comments of Test::More.
_MESSAGE: Final = re.compile(r"  (?:error|message|location|found|expected|wanted|actual): (?![|>])(?P<text>.+)$")
_COMMENT: Final = re.compile(r"# {2,}(?P<text>\S.*)$")
_KEPT_LINES: Final = 12
_BAIL_OUT: Final = re.compile(r"Bail out!\s*(?P<why>.*)$", re.IGNORECASE)
_FIRST: Final = re.compile(r"^(?:TAP version 1[2-9]|1\.\.\d{1,9}|(?:not )?ok)\b", re.MULTILINE)
_FIRST_PLAN: Final = re.compile(r"^1\.\.\d{1,9}[ \t\r]*(?:#.*)?$", re.MULTILINE)
_SHOWN: Final = 100


def sniff(content: Content) -> bool:
    """Whether it names a version of TAP, or has both a test and a plan."""
    found = _FIRST.search(content.text)
    if found is None:
        return False
    if found[0].startswith("TAP"):
        return True
    at = found.start()
    return bool(_FIRST_PLAN.search(content.text, at)) and any(
        _TEST.match(line) for line in json_lines.lines(content) if "ok" in line
    )


def read(content: Content) -> TestReport:
    """Read the report of one or more consecutive runs. Raises DamageError."""
    run = _Run()
    for line in json_lines.lines(content):
        run.take(line.rstrip("\r"))
    return run.report()


class _Run:
    """The lines of one run; a test is added when the next one begins, because its duration follows it."""

    def __init__(self) -> None:
        self._cases = Cases()
        self._open: tuple[str, str, float | None] | None = None
        self._said: list[str] = []
        self._versions = 0
        self._plans: list[int] = []
        self._plan_is_last = False
        self._skipped_plans: list[str] = []
        self._bail_out: str | None = None

    def take(self, line: str) -> None:
        """Handle one line; what is neither a test nor a plan is a comment, a message or part of a subtest."""
        if not line or line[0] in "# ":
            self._below(line)
        elif test := _TEST.match(line):
            self._close()
            self._plan_is_last = False
            self._open = _case(test)
        elif plan := _PLAN.match(line):
            self._close()
            self._plan_is_last = len(self._cases.outcomes) > sum(self._plans)
            self._plans.append(int(plan["last"]))
            if plan["why"] and plan["last"] == "0":
                self._skipped_plans.append(plan["why"].strip()[:_SHOWN])
        elif bail := _BAIL_OUT.match(line):
            self._bail_out = bail["why"].strip()[:_SHOWN]
        elif _VERSION.match(line):
            self._versions += 1

    def _below(self, line: str) -> None:
        found = _DURATION.match(line)
        if found and self._open is not None and self._open[2] is None:
            self._open = (*self._open[:2], float(found["number"]) / 1000)
        elif self._open is not None and self._open[1] == FAILED and len(self._said) < _KEPT_LINES:
            if said := _MESSAGE.match(line):
                self._said.append(said["text"].strip("'\""))
            elif comment := _COMMENT.match(line):
                self._said.append(comment["text"])

    def _close(self) -> None:
        if self._open is not None:
            self._cases.add(*self._open, said="\n".join(self._said))
            self._open, self._said = None, []

    def report(self) -> TestReport:
        """Return the report of the run."""
        self._close()
        found, planned = len(self._cases.outcomes), sum(self._plans)
        if self._bail_out is None and (not self._plans or len(self._plans) < self._versions):
            raise DamageError("cut short: a plan (1..N) is missing")
        if self._bail_out is None and found < planned and not self._plan_is_last:
            raise DamageError(f"cut short: {planned} tests are planned, {found} are there")
        declared = Declared(tests=planned if self._plans else None)
        said = [contradiction(declared, self._cases)]
        if self._bail_out is not None:
            said.append(f"the run bailed out: {self._bail_out or 'it does not say why'}")
            if not self._cases.failed:
                self._cases.add("(bail out)", ERROR)
        return self._cases.report(
            declared,
            contradiction="; ".join(filter(None, said)) or None,
            note=f"tests that were not planned: {'; '.join(self._skipped_plans)}" if self._skipped_plans else None,
        )


def _case(test: re.Match[str]) -> tuple[str, str, float | None]:
    """Return name, outcome and duration of a test, without its number, which is only its position."""
    rest, seconds = test["rest"], None
    directive = _DIRECTIVE.search(rest)
    timed = None if directive else _TIME.search(rest)
    if timed:
        seconds = float(timed["number"]) / (1000 if timed["unit"] == "ms" else 1)
    end = directive or timed
    name = rest[: end.start()] if end else rest
    outcome = SKIPPED if directive else FAILED if test["not"] else PASSED
    return name.strip(" -\t") or UNNAMED, outcome, seconds
