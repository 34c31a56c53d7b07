"""TAP, the Test Anything Protocol, versions 12 to 14.

Lines without indent are the tests; those of a subtest are indented, and summed up in the line after them. SKIP and TODO
are skips, whatever the outcome. A plan (`1..5`) says how many tests there are: if it is missing, or came first and was
not fulfilled, the run was cut short, unless it bails out.

node-tap runs each file as a subtest that is named by its path. Its tests are the lines within, named
`file::test > assertion`, so that one taken out of a file is noticed; a subtest that fails by itself is a case, too.
tape prints a comment before the assertions of each test: it is part of their names.
"""

import re
from dataclasses import dataclass
from typing import Final

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.parsed_report import DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError
from ralph_tracker.formats.tests.case_collector import ERROR, UNNAMED, CaseCollector, unlike
from ralph_tracker.formats.tests.case_collector import SEPARATOR as _SEPARATOR

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
_SCRIPT: Final = re.compile(r"# Subtest: (?P<path>\S.*\.[cm]?[jt]sx?)$")
_SUBTEST: Final = re.compile(r"# Subtest: (?P<name>.*)$")
_INDENT: Final = 4
# What tape prints at its end; its headings are told from comments of other programs by it.
_BY_TAPE: Final = re.compile(r"^ *# tests +\d+ *\n *# pass {2,}\d+", re.MULTILINE)
_HEADING: Final = re.compile(r"# (?!(?:tests|pass|fail|skip|todo) +\d+$|ok$|time=)(?P<name>\S.*)$")


def sniff(content: Content) -> bool:
    """Whether it names a version of TAP, or has both a test and a plan."""
    found = _FIRST.search(content.text)
    if found is None:
        return False
    if found[0].startswith("TAP"):
        return True
    at = found.start()
    return bool(_FIRST_PLAN.search(content.text, at)) and any(
        _TEST.match(line) for line in content.lines() if "ok" in line
    )


def read(content: Content) -> TestReport:
    """Read the report of one or more consecutive runs. Raises DamageError."""
    run = _Run(by_tape=_BY_TAPE.search(content.text.replace("\r\n", "\n")) is not None)
    for line in content.lines():
        run.take(line.rstrip("\r"))
    return run.report()


@dataclass(slots=True)
class _Subtest:
    """An open subtest of a file: the name that its last line repeats, and what has been found in it."""

    name: str
    found: int = 0
    failed: int = 0


class _Run:
    """The lines of one run; a test is added when the next one begins, because its duration follows it."""

    def __init__(self, *, by_tape: bool) -> None:
        self._by_tape = by_tape
        self._cases = CaseCollector()
        self._open: tuple[str, str, float | None] | None = None
        self._indent = 0  # of the open test
        self._said: list[str] = []
        self._versions = 0
        self._found = 0  # tests without indent, as the plans count them
        self._plans: list[int] = []
        self._plan_is_last = False
        self._skipped_plans: list[str] = []
        self._bail_out: str | None = None
        self._runs_files = False
        self._subtests: list[_Subtest] = []  # those that are open, that of the file first
        self._in_block = False
        self._heading = ""

    def take(self, line: str) -> None:
        """Handle one line; what is neither a test nor a plan is a comment, a message or part of a subtest."""
        if self._subtests and self._take_in_file(line):
            return
        if not line or line[0] in "# ":
            self._below(line)
            self._comment(line)
        elif test := _TEST.match(line):
            self._close()
            self._plan_is_last = False
            self._found += 1
            self._indent, (name, outcome, seconds) = 0, _case(test)
            self._open = (_SEPARATOR.join(filter(None, (self._heading, name))), outcome, seconds)
        elif plan := _PLAN.match(line):
            self._close()
            self._plan_is_last = self._found > sum(self._plans)
            self._plans.append(int(plan["last"]))
            if plan["why"] and plan["last"] == "0":
                self._skipped_plans.append(plan["why"].strip()[:_SHOWN])
        elif bail := _BAIL_OUT.match(line):
            self._bail_out = bail["why"].strip()[:_SHOWN]
        elif _VERSION.match(line):
            self._versions += 1

    def _comment(self, line: str) -> None:
        """Open a file's subtest, or keep tape's heading of the assertions that follow."""
        if script := _SCRIPT.match(line):
            self._close()
            self._subtests, self._heading, self._in_block = [_Subtest(script["path"])], "", False
            self._runs_files = True
        elif self._by_tape and (heading := _HEADING.match(line)):
            self._heading = heading["name"]

    def _take_in_file(self, line: str) -> bool:
        """Handle a line within the subtest of a file, and the one that closes it; False if it is another's."""
        inner = line.lstrip(" ")
        depth, rest = divmod(len(line) - len(inner), _INDENT)
        if inner in {"---", "..."}:
            self._in_block = inner == "---"
        test = None if rest or self._in_block else _TEST.match(inner)
        if test is not None and depth <= len(self._subtests):
            self._close()
            self._found += depth == 0
            self._plan_is_last = self._plan_is_last and depth > 0
            self._case_of_file(_case(test), depth)
            return True
        if depth == 0 and not rest:
            return False
        subtest = None if rest or self._in_block else _SUBTEST.match(inner)
        if subtest is not None and depth <= len(self._subtests):
            self._close()
            self._subtests[depth:] = [_Subtest(subtest["name"].strip())]
        elif self._by_tape and not rest and (heading := _HEADING.match(inner)):
            self._heading = heading["name"]
        else:
            self._below(line[self._indent :])
        return True

    def _case_of_file(self, case: tuple[str, str, float | None], depth: int) -> None:
        """Add a case at a depth within a file, unless it sums up a subtest whose own cases say the same."""
        name, outcome, seconds = case
        name = name.removesuffix(" {")  # a subtest in braces follows
        closed = next(iter(self._subtests[depth : depth + 1]), None)
        if closed is not None and closed.name == name:
            del self._subtests[depth:]
            for outer in self._subtests:
                outer.found, outer.failed = outer.found + closed.found, outer.failed + closed.failed
            if closed.found and (outcome != FAILED or closed.failed):
                return
        for outer in self._subtests[:depth]:
            outer.found, outer.failed = outer.found + 1, outer.failed + (outcome == FAILED)
        file, *inside = [each.name for each in self._subtests[:depth]] + [name]
        heading = [self._heading] if self._heading and depth else []
        self._indent = depth * _INDENT
        self._open = (_SEPARATOR.join(filter(None, (file, " > ".join((*heading, *inside))))), outcome, seconds)

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
        planned = sum(self._plans)
        if self._bail_out is None and (not self._plans or len(self._plans) < self._versions):
            raise DamageError("cut short: a plan (1..N) is missing")
        if self._bail_out is None and self._found < planned and not self._plan_is_last:
            raise DamageError(f"cut short: {planned} tests are planned, {self._found} are there")
        declared = DeclaredCounts(tests=planned if self._plans else None)
        unlike_plan = declared.tests is not None and planned != self._found
        said = [unlike("tests", planned, self._found) if unlike_plan else None]
        if self._bail_out is not None:
            said.append(f"the run bailed out: {self._bail_out or 'it does not say why'}")
            if not self._cases.failed:
                self._cases.add("(bail out)", ERROR)
        return self._cases.report(
            DeclaredCounts() if self._runs_files else declared,  # the plan counts files, not their tests
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
