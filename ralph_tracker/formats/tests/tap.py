"""TAP, the Test Anything Protocol, versions 12 to 14.

Lines without indent are tests, and so are those of a subtest, which are indented by four more: a subtest has a heading
(`# Subtest: …`), a plan, or braces. The line that sums a subtest up is a test of its own only where its producer counts
it (node's tests within tests), or where it fails although nothing within does. SKIP and TODO are skips, whatever the
outcome. A plan (`1..5`) says how many tests there are: if it is missing, or came first and was not fulfilled, the run
was cut short, unless it bails out.

A test of a subtest is named `outer > inner`, in that of a file `file::outer > inner`, so that one taken out of a file
is noticed. tape prints a comment before the assertions of each test: it is part of their names. Deno prints one with
the file of the tests below, and counts a test with steps beside these. AVA lists a file that it could not load, and a
hook that failed after its tests, as failed tests.
"""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from ralph_tracker.core.known_tests import STOPPED_RUN, WHOLE_RUN
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.parsed_report import DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError
from ralph_tracker.formats.tests.case_collector import (
    ERROR,
    FAILED_AS_A_WHOLE,
    UNNAMED,
    CaseCollector,
    file_name,
    unlike,
)
from ralph_tracker.formats.tests.case_collector import SEPARATOR as _SEPARATOR

_VERSION: Final = re.compile(r"TAP version 1[2-9]\s*$")
_PLAN: Final = re.compile(r"1\.\.(?P<last>\d{1,9})\s*(?:#\s*(?P<why>.*))?$")
_TEST: Final = re.compile(r"(?P<not>not )?ok(?![A-Za-z_\d\t:=(])[ -]*(?:(?P<number>\d+)\b)?(?P<rest>.*)$")
_DIRECTIVE: Final = re.compile(r"(?<!\\)#\s*(?:skip\S*|todo\b)", re.IGNORECASE)
_TIME: Final = re.compile(r"(?<!\\)#\s*time=(?P<number>\d{1,9}(?:\.\d{1,12})?)(?P<unit>m?s)\s*$")
_DURATION: Final = re.compile(r"  duration_ms: (?P<number>\d{1,12}(?:\.\d{1,12})?)\s*$")
# In the YAML block, or in comments of Test::More.
_MESSAGE: Final = re.compile(
    r" {2,12}(?:error|message|location|at|found|expected|wanted|actual): "
    r"(?![|>])(?!.*(?:node_modules|node:))(?P<text>.+)$"
)
_BLOCK_OF_MESSAGE: Final = re.compile(r"(?P<indent> {2,12})(?:error|message): [|>][-+]?\d?$")
_COMMENT: Final = re.compile(r"# {2,}(?P<text>\S.*)$")
_BAIL_OUT: Final = re.compile(r"Bail out!\s*(?P<why>.*)$", re.IGNORECASE)
_FIRST_PLAN: Final = re.compile(r"^1\.\.\d{1,9}[ \t\r]*(?:#.*)?$", re.MULTILINE)
_REASON_LENGTH: Final = 100
_SCRIPT: Final = re.compile(r"^\S.*\.[cm]?[jt]sx?$")
_SUBTEST: Final = re.compile(r"# Subtest: (?P<name>.*)$")
_SUITE: Final = re.compile(r"  type: 'suite'\s*$")
_FILE: Final = "(test file)"
# What AVA lists for a file without tests, and for one that ended with an error, which it lists before.
_AVA_FILE: Final = re.compile(
    r"(?:No tests found in (?P<file>\S+?),? .*|(?P<other>\S+) exited with a non-zero exit code.*)$"
)
_AVA_HOOK: Final = re.compile(r"(?:^|› )after(?:Each)?(?:\.always)? hook(?: for .+)?$")
_LEFT_BY_AVA: Final = re.compile(r"# \d+ tests? remaining in \S+$")
_AVA_ERROR: Final = re.compile(r"\w*Error(?: \[\w+\])?: ")
_BY_AVA: Final = re.compile(r"^not ok \d+ - (?:No tests found in |\S+ exited with a non-zero exit code)", re.MULTILINE)
_INDENT: Final = 4
# What tape prints at its end; its headings are told from comments of other programs by it.
_BY_TAPE: Final = re.compile(r"^ *# tests +\d+ *\n *# pass {2,}\d+", re.MULTILINE)
# A test without the braces of its file.
_FLAT_OF_VITEST: Final = re.compile(r"^(?:not )?ok \d+ - \S+\.[cm]?[jt]sx? > .* # time=", re.MULTILINE)
_BY_DENO: Final = re.compile(r"^TAP version 14\n# \.\.?/", re.MULTILINE)
_FILE_OF_DENO: Final = re.compile(r"# (?P<file>\.\.?/.+\.[cm]?[jt]sx?)$")
_HEADING: Final = re.compile(r"# (?!(?:tests|pass|fail|skip|todo) +\d+$|ok$|time=)(?P<name>\S.*)$")


def sniff(content: Content) -> bool:
    """Whether it names a version of TAP, or has both a test and a plan."""
    found = re.search(r"^(?:TAP version 1[2-9]|1\.\.\d{1,9}|(?:not )?ok)\b", content.text, flags=re.MULTILINE)
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
    run = _Run(content)
    for line in content.lines():
        run.feed(line.rstrip("\r"))
    return run.report()


@dataclass(slots=True)
class _Test:
    """One line of a test, and what is found around it: what it said below, and the tests of its subtest before it."""

    name: str
    outcome: str
    seconds: float | None = None
    heading: str = ""
    depth: int = 0
    file: str = ""
    said: list[str] = field(default_factory=list)
    inner: list["_Test"] = field(default_factory=list)
    is_suite: bool = False
    has_block: bool = False

    @property
    def has_failed(self) -> bool:
        """Return whether it or something within failed."""
        return self.outcome == FAILED or any(each.has_failed for each in self.inner)

    @property
    def has_run(self) -> bool:
        """Return whether something within ran."""
        return any(each.has_run if each.inner else each.outcome != SKIPPED for each in self.inner)


class _Level:
    """The tests at one depth whose outer line has not come yet; `is_subtest` if a heading, plan or brace says so."""

    def __init__(self) -> None:
        self.tests: list[_Test] = []
        self.is_subtest = False
        self.open_suite: _Test | None = None  # its brace is open


class _Run:
    """The lines of one run, read into a tree."""

    def __init__(self, content: Content) -> None:
        self._folders = content.folders
        text = content.text.replace("\r\n", "\n")
        self._by_tape = _BY_TAPE.search(text) is not None
        self._by_ava = _BY_AVA.search(text) is not None
        self._by_deno = _BY_DENO.search(text) is not None
        self._by_vitest = False
        self._is_flat_of_vitest = _FLAT_OF_VITEST.search(text) is not None
        self._has_times = "# time=" in text
        self._headed: set[str] = set()
        self._by_node = re.search(r"^# suites \d+\n# pass \d+", text, flags=re.MULTILINE) is not None
        self._cases = CaseCollector()
        self._levels = [_Level()]
        self._last: _Test | None = None
        self._block: int | None = None  # the indent of the open YAML block
        self._message: int | None = None  # the indent of the key whose text of several lines is open
        self._heading = self._file = ""
        self._has_left_tests = False
        self._versions = 0
        self._plans: list[int] = []
        self._plan_is_last = False
        self._skipped_plans: list[str] = []
        self._bail_out: str | None = None

    @property
    def _found(self) -> int:
        """Return the number of tests without indent, as the plans count them."""
        return len(self._levels[0].tests)

    def feed(self, line: str) -> None:
        """Handle one line; what is neither a test nor a plan is a comment, a message or other output."""
        inner = line.lstrip(" ")
        indent = len(line) - len(inner)
        if self._is_in_block(inner, indent):
            self._below(line)
            return
        depth, rest = divmod(indent, _INDENT)
        if rest or depth > 32:
            self._below(line)
        elif inner == "}" and self._levels[depth : depth + 1]:
            self._close_brace(depth)
        elif test := _TEST.match(inner):
            self._test(test, depth)
        elif plan := _PLAN.match(inner):
            self._plan(plan, depth)
        elif inner.startswith("#"):
            self._below(line)
            self._comment(inner, depth)
        elif depth:
            self._below(line)
        elif bail := _BAIL_OUT.match(line):
            self._bail_out = bail["why"].strip()[:_REASON_LENGTH]
        elif _VERSION.match(line):
            self._versions += 1

    def _is_in_block(self, inner: str, indent: int) -> bool:
        """Return whether a line is part of a YAML block, which ends at `...` or where something is less indented."""
        if self._block is not None and inner and (indent < self._block or (inner == "..." and indent == self._block)):
            self._block = None
            return inner == "..."
        if self._block is None and inner == "---" and self._last is not None and indent:
            self._block = indent
            self._last.has_block = True
        return self._block is not None

    def _level(self, depth: int) -> _Level:
        while len(self._levels) <= depth:
            self._levels.append(_Level())
        return self._levels[depth]

    def _test(self, match: re.Match[str], depth: int) -> None:
        level = self._level(depth)
        test = _case(match, depth)
        if self._heading:
            test.heading = self._heading
        test.file = "" if depth else self._file
        if level.open_suite is not None:  # its name ends with a brace
            level.open_suite.name += " {"
            level.open_suite.is_suite, level.open_suite = False, None
        if not test.is_suite:  # braces come after it
            test.inner = self._subtest(depth + 1)
        level.tests.append(test)
        self._last, self._message = test, None
        self._plan_is_last = self._plan_is_last and depth > 0
        if test.is_suite:
            level.open_suite = test
            self._level(depth + 1).is_subtest = True

    def _subtest(self, depth: int) -> list[_Test]:
        """Return the tests of the subtest that ends here; what only looks like tests is output of a program."""
        levels, self._levels[depth:] = self._levels[depth:], []
        return levels[0].tests if levels and levels[0].is_subtest else []

    def _close_brace(self, depth: int) -> None:
        level = self._levels[depth]
        if level.open_suite is not None:
            level.open_suite.inner = self._subtest(depth + 1)
            level.open_suite, self._by_vitest = None, True
        self._last = None

    def _plan(self, plan: re.Match[str], depth: int) -> None:
        if depth:
            self._level(depth).is_subtest = True
            return
        self._last = None
        self._plan_is_last = self._found > sum(self._plans)
        self._plans.append(int(plan["last"]))
        if plan["why"] and plan["last"] == "0":
            self._skipped_plans.append(plan["why"].strip()[:_REASON_LENGTH])

    def _comment(self, inner: str, depth: int) -> None:
        """Open a subtest, or keep tape's or Deno's heading of what follows."""
        if subtest := _SUBTEST.match(inner):
            self._headed.add(subtest["name"].strip())
            # Test::More indents the heading like the tests below it.
            self._level(depth + 1).is_subtest = True
            if depth and not self._by_node:
                self._level(depth).is_subtest = True
            self._last = None
            self._heading = "" if not depth else self._heading
        elif self._by_tape and (heading := _HEADING.match(inner)):
            self._heading = heading["name"]
        elif self._by_deno and (heading := _FILE_OF_DENO.match(inner)):
            self._file = file_name(heading["file"])
        elif _LEFT_BY_AVA.match(inner):
            self._has_left_tests = True

    def _below(self, line: str) -> None:
        """Take the duration and the message of the last test from what stands below it."""
        test = self._last
        if test is None:
            return
        line = line[test.depth * _INDENT :]
        if (found := _DURATION.match(line)) and test.seconds is None:
            test.seconds = float(found["number"]) / 1000
        elif _SUITE.match(line):
            test.is_suite = True
        elif test.outcome == FAILED and len(test.said) < 60:
            if self._message is not None and (not line.strip() or len(line) - len(line.lstrip()) > self._message):
                test.said.append(line[self._message + 2 :])
                return
            opened = _BLOCK_OF_MESSAGE.match(line)
            self._message = None if opened is None else len(opened["indent"])
            if said := _MESSAGE.match(line):
                test.said.append(said["text"].strip("'\","))
            elif comment := _COMMENT.match(line):
                test.said.append(comment["text"])
            elif line.startswith('  {"message":'):  # Deno
                with suppress(ValueError, RecursionError):
                    test.said.append(str(json.loads(line)["message"]))

    def _add(self, test: _Test, outer: tuple[str, ...]) -> None:
        """Add a test and those of its subtest, as its producer counts them."""
        file = file_name(test.name, self._folders) if _SCRIPT.search(test.name) else test.name
        path = (*outer, test.name if outer else file)
        if not test.inner or test.outcome == SKIPPED:
            self._add_case(test, path)
            return
        for each in test.inner:
            self._add(each, path)
        failed_within = any(each.has_failed for each in test.inner)
        if (self._by_node or self._by_deno) and not test.is_suite and not _SCRIPT.search(test.name):
            self._add_case(test, path)
        elif test.outcome == FAILED and not failed_within and (test.has_run or not test.is_suite):
            if test.is_suite:
                self._cases.add_broken(_name(path, ""), "\n".join(test.said) or "it failed although no test in it did")
            else:
                self._add_case(test, path)

    def _add_case(self, test: _Test, path: tuple[str, ...]) -> None:
        of_vitest = (self._by_vitest and self._has_times) or self._is_flat_of_vitest
        if of_vitest and test.outcome == FAILED and test.seconds is None and not (test.has_block or test.inner):
            self._cases.leave_out()  # a test or a file that vitest did not come to
            return
        name, said = _name(path, test.heading), "\n".join(test.said)
        if test.outcome == FAILED and self._by_vitest and _SCRIPT.search(test.name):
            self._cases.add_broken(_name((*path, _FILE), ""), said)
            self._cases.add_not_loaded(path[0], said)
        elif not test.is_suite or test.inner or test.outcome == FAILED:  # node counts no suite
            if test.outcome == FAILED and _SCRIPT.search(test.name):
                if self._by_node:  # the names of its tests have no file in them
                    name = f"{path[0]}::{_FILE}"
                    self._cases.add_not_loaded(WHOLE_RUN, f"{path[0]} {FAILED_AS_A_WHOLE}")
                elif test.name in self._headed:
                    self._cases.add_not_loaded(path[0], said)
            self._cases.add(name, test.outcome, test.seconds, said=said)

    def _is_error_of_ava(self, test: _Test) -> bool:
        """Return whether AVA lists it in place of a test; its plan does not count that."""
        if self._by_ava and (_AVA_FILE.match(test.name) or _AVA_ERROR.match(test.name)):
            return test.outcome == FAILED
        return test.outcome == FAILED and sum(self._plans) < self._found and bool(_AVA_HOOK.search(test.name))

    def _add_errors_of_ava(self, errors: Iterable[_Test]) -> None:
        """Add the hooks that failed, and the files that did as a whole; an error comes before the file it ended.

        The names of a file's tests begin with its own: without any, it did not load.
        """
        uncaught: str | None = None
        for error in errors:
            found = _AVA_FILE.match(error.name)
            if _AVA_HOOK.search(error.name):
                self._cases.add_broken(error.name, "\n".join(error.said))
                continue
            if found is None:
                uncaught = error.name
                continue
            file, said = found["file"] or found["other"], uncaught or error.name
            place, uncaught = file.rpartition("/")[2].partition(".")[0].removeprefix("test-"), None
            self._cases.add_broken(f"{file}::{_FILE}", said)
            if not any(f"› {place} › " in f"› {name}" for name in self._cases.outcomes):
                self._cases.add_not_loaded(place, f"{file}: {said}")

    def report(self) -> TestReport:
        """Return the report of the run."""
        planned = sum(self._plans)
        if self._bail_out is None and (not self._plans or len(self._plans) < self._versions):
            raise DamageError("cut short: a plan (1..N) is missing")
        last = self._levels[0].tests[-1] if self._levels[0].tests else None
        if any(level.open_suite for level in self._levels) or (
            self._by_vitest and last is not None and last.outcome == PASSED and not last.inner
        ):
            raise DamageError("cut short: a subtest in braces has no end")
        if self._bail_out is None and self._found < planned and not self._plan_is_last:
            raise DamageError(f"cut short: {planned} tests are planned, {self._found} are there")
        tests = [test for test in self._levels[0].tests if not self._is_error_of_ava(test)]
        for test in tests:
            self._add(test, (test.file,) if test.file else ())
        self._add_errors_of_ava(filter(self._is_error_of_ava, self._levels[0].tests))
        is_flat = not any(test.inner for test in tests)
        declared = DeclaredCounts(tests=planned if self._plans else None)
        ended_early = self._has_left_tests or (last is not None and last.has_failed)
        if self._plan_is_last and len(tests) < planned and ended_early:
            self._cases.leave_out(planned - len(tests))  # it ended the run
            declared = declared._replace(tests=len(tests))
        unlike_plan = declared.tests is not None and declared.tests != len(tests)
        said = [unlike("tests", planned, len(tests)) if unlike_plan else None]
        if self._bail_out is not None:
            said.append(f"the run bailed out: {self._bail_out or 'it does not say why'}")
            if not self._cases.failed:
                self._cases.add("(bail out)", ERROR)
            self._cases.add_not_loaded(STOPPED_RUN, f"{said[-1]}, so what is missing was not run")
        return self._cases.report(
            declared if is_flat else DeclaredCounts(),  # the plan counts files or suites, not their tests
            contradiction="; ".join(filter(None, said)) or None,
            note=f"tests that were not planned: {'; '.join(self._skipped_plans)}" if self._skipped_plans else None,
        )


def _name(path: tuple[str, ...], heading: str) -> str:
    """Return the id of a test: its file, if it is in one, then the names from the outermost one in."""
    is_in_file = len(path) > 1 and _SCRIPT.search(path[0])
    inside = path[1:] if is_in_file else path
    if heading and (is_in_file or len(path) > 1):
        inside = (heading, *inside)
    elif heading:
        return _SEPARATOR.join((heading, *inside))
    return _SEPARATOR.join(filter(None, (path[0] if is_in_file else "", " > ".join(inside))))


def _case(test: re.Match[str], depth: int) -> _Test:
    """Return a test without its number, which is only its position; one with a brace is the suite that follows."""
    rest, seconds = test["rest"].rstrip(), None
    is_suite = rest.endswith(" {")
    rest = rest.removesuffix(" {")
    directive = _DIRECTIVE.search(rest)
    timed = None if directive else _TIME.search(rest)
    if timed:
        seconds = float(timed["number"]) / (1000 if timed["unit"] == "ms" else 1)
    end = directive or timed
    name = rest[: end.start()] if end else rest
    outcome = SKIPPED if directive else FAILED if test["not"] else PASSED
    return _Test(name.strip(" -\t") or UNNAMED, outcome, seconds, depth=depth, is_suite=is_suite)
