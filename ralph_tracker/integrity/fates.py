"""Derive what became of each test, by the table of integrity.md: its outcome before, now, and in its earlier form.

"Its earlier form" is the kept iteration's form of all files that decide about tests, run on this iteration's source.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple, get_args

from ralph_tracker.core.integrity_result import REMOVED_WITH_CODE, RERUN_RULES, Finding, Severity
from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, TestResults, quantity

Fate = Literal[
    "held",
    "retired",
    "fixed",
    "demand_changed",
    "outcome_forged",
    "failure_hidden",
    "green_by_edit",
    "removed_with_code",
    "unproven",
]
# How a name that an earlier test needs is missing: from the whole source, or from where it was.
Lost = Literal["gone", "moved"]
Edit = Literal["edited", "new", "gone", "ignored by git and newer than the loop"]
_WHY_SHOWN: Final = 120


class CaseHistory(NamedTuple):
    """A test of an earlier iteration, and what became of it.

    `was` is its outcome when it was last seen (failed too for one that was not believed), `now` that of this
    iteration, `earlier` that of its earlier form on this source, None where it is not reported. `file` is its test
    file, "" if unknown; `edits` are the deciding files of another form that concern it, `edited` says whether its own
    file is among them or one that it names. `against` is the iteration of the earlier form. `why` is the failure of
    the earlier form, or why that was not run; `lost` how a name is missing that it needs, `name` that name.
    `conditional` says that it is skipped by a condition on platform, user or version, `may_be_merged` that tests of its
    file fail under new names.
    """

    test: str
    was: str
    now: str | None
    earlier: str | None
    against: int
    file: str = ""
    edited: bool = True
    edits: Mapping[str, Edit] = {}
    why: str = ""
    lost: Lost | None = None
    name: str = ""
    conditional: bool = False
    may_be_merged: bool = False


def fate(case: CaseHistory) -> Fate | None:
    """Return the row of the table that holds, None for a test of which there is nothing to say."""
    if case.now == FAILED:
        return None  # broken, or as red as before: the report says it
    return _of_green(case) if case.was == PASSED else _of_red(case)


def _of_green(case: CaseHistory) -> Fate | None:
    if case.earlier == PASSED:
        return "held" if case.edited or case.now != PASSED else None
    if case.lost == "gone" and case.now is None:
        return "retired"
    if case.now == PASSED and (case.earlier is None or (case.lost is not None and case.edited)):
        return None  # renamed with its code, or it passes and its earlier form says nothing
    if case.earlier is None:
        return "unproven"
    return "demand_changed" if case.edited or case.now != PASSED else "outcome_forged"


def _of_red(case: CaseHistory) -> Fate:
    if case.earlier == PASSED:
        return "fixed"
    if case.lost == "gone" and case.now is None:
        return "removed_with_code"
    if case.now == PASSED:
        return "unproven" if case.earlier is None or case.lost is not None else "green_by_edit"
    return "failure_hidden"


def findings_of(cases: Iterable[tuple[CaseHistory, Fate]], number: int, *, source_changed: bool) -> tuple[Finding, ...]:
    """Return the findings about the tests of an iteration, one for those of a file that have the same fate.

    `source_changed` says whether program source changed in it: then an edit may be honest.
    """
    together: defaultdict[tuple[Fate, str, int, str | None, str], list[CaseHistory]] = defaultdict(list)
    for case, what in cases:
        if what in {*RERUN_RULES, REMOVED_WITH_CODE}:
            name = case.name if what == REMOVED_WITH_CODE else ""
            together[what, case.file, case.against, case.now, name].append(case)
    return tuple(
        _finding(what, sorted(same), number, source_changed=source_changed) for (what, *_), same in together.items()
    )


def _finding(what: Fate, cases: list[CaseHistory], number: int, *, source_changed: bool) -> Finding:
    first = cases[0]
    severity = Severity.HIGH
    if what in {"green_by_edit", "outcome_forged"} and not source_changed:
        severity = Severity.CRITICAL
    if what == "failure_hidden" and first.earlier is not None:
        may_be_honest = any(case.conditional or case.may_be_merged for case in cases)
        severity = Severity.HIGH if may_be_honest else Severity.CRITICAL
    failure = next((case.why for case in cases if case.why), None)
    return Finding(
        rule=what,
        severity=severity,
        message=f"{_sentence(what, cases, number)}: {names_in_short(case.test for case in cases)}",
        file=first.file or next(iter(first.edits), "."),
        tests=tuple(case.test for case in cases),
        against=first.against,
        about=f"{first.name or first.against}>{number}{'' if first.now is None else f' {first.now}'}",
        failure=None if failure is None else failure[:600],
        command=repeat_command(number),
    )


def _sentence(what: Fate, cases: list[CaseHistory], number: int) -> str:
    first, one = cases[0], len(cases) == 1
    tests, it, fails = quantity(len(cases), "test"), "it" if one else "they", "fails" if one else "fail"
    reason = next((f" ({line})" for case in cases if (line := _first_line(case.why))), "")
    as_was = f"as {it} {'was' if one else 'were'} in {first.against}, {it}"
    still = f"{as_was} {'could not be run' if first.earlier is None else fails} on the source of {number}{reason}"
    edits = _edits({path: how for case in cases for path, how in case.edits.items()})
    passes = f"{'passes' if one else 'pass'} in iteration {number}"
    does = f"Iteration {number} {'removed' if first.now is None else 'skips' if first.now == SKIPPED else 'edited'}"
    if what == REMOVED_WITH_CODE:
        return f"{does} {quantity(len(cases), 'failing test')} together with {first.name!r}, which {it} needed"
    if what == "outcome_forged":
        return f"{tests} that nobody edited {passes}; {edits}, and {still}"
    if first.was == FAILED and first.now == PASSED:
        return f"{tests} that failed {passes}; {edits}, and {still}"
    was = "passed" if first.was == PASSED else "failed"
    if first.now == PASSED and first.file not in first.edits:
        return f"{tests} that passed in {first.against} {'was' if one else 'were'} edited since; {still}"
    if first.now != PASSED and first.earlier is not None:
        again = f"{it} still {fails}" if was == "failed" else f"{it} {fails}"
        return f"{does} {tests} that {was} in iteration {first.against}; with the source of {number} {again}{reason}"
    return f"{does} {tests} that {was} in {first.against}; {still}"


def _edits(edits: Mapping[str, Edit]) -> str:
    """Return what happened to files, as "a.py and b.py were edited, c.py is new"."""
    parts = []
    for how in get_args(Edit):
        paths = sorted(path for path, what in edits.items() if what == how)
        if paths:
            was = (("was", "were") if how == "edited" else ("is", "are"))[len(paths) > 1]
            parts.append(f"{names_in_short(paths)} {was} {how}")
    return ", ".join(parts) or "files that decide about it changed"


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _WHY_SHOWN else f"{line[: _WHY_SHOWN - 1]}…"


def repeat_command(number: int) -> str:
    """Return the command that runs the earlier tests of an iteration again."""
    return f"ralph-tracker integrity {number} --rerun"


def still_failing(finding: Finding, earlier: TestResults, now: Mapping[str, str]) -> Finding | None:
    """Return what is left of a finding after its tests were run again, None if it is resolved.

    It is resolved for a test if the earlier form passes on the source, or if the reported test fails, which hides
    nothing.
    """
    left = tuple(test for test in finding.tests if earlier.outcomes.get(test) != PASSED and now.get(test) != FAILED)
    if not left:
        return None
    said = next((earlier.messages[test] for test in left if test in earlier.messages), finding.failure)
    return finding._replace(tests=left, failure=said)
