"""Derive findings from a run of earlier tests on the new source, by the table of integrity.md.

A test file's reference is the form that it had when its tests were first seen. If the reference fails on this
iteration's source and the iteration reports otherwise, there is a finding; what was edited decides which.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from ralph_tracker.core.integrity_result import REMOVED_WITH_CODE, Finding, Severity
from ralph_tracker.core.known_tests import belongs_to_any, names_in_short
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, TestResults, quantity
from ralph_tracker.integrity.file_roles import is_code
from ralph_tracker.integrity.file_versions import Text

NO_PASS: Final = frozenset({None, SKIPPED})
_FAILURE_SHOWN: Final = 600
# How the tools of each language report a missing name; one group is the name.
_MISSING: Final = (
    r"cannot import name '([\w.]+)'",
    r"No module named '([\w.]+)'",
    r"module '[\w.]+' has no attribute '(\w+)'",
    r"(?:type object )?'\w+' (?:object )?has no attribute '(\w+)'",
    r"name '(\w+)' is not defined",
    r"got an unexpected keyword argument '(\w+)'",
    r"fixture '(\w+)' not found",
    r"(?:Cannot find (?:module|package)|Could not resolve) [\"'`]?([^\"'`\s)]+)",
    r"Failed to (?:resolve import|load url) [\"'`]?([^\"'`\s)]+)",
    r"\(?\b[\w.]*?(\w+)\)? is not a (?:function|constructor)",
    r"(\w+) is not defined",
    r"does not provide an export named '?(\w+)",
    r"has no exported member (?:named )?'(\w+)'",
    r"undefined: (?:\w+\.)?(\w+)",
    r"\.(\w+) undefined \(type",
    r"no required module provides package (\S+)|package (\S+) is not in",
    r"cannot find (?:function|value|type|struct|macro|trait|method)[^`]*`(\w+)`",
    r"no (?:function|method|field|variant)[^`]*`(\w+)`",
    r"unresolved imports? `(?:[\w]+::)*(\w+)`",
    r"could not find `(\w+)` in",
    r"symbol:\s+(?:class|method|variable) (\w+)",
    r"package ([\w.]+) does not exist",
    r"cannot find symbol.*?(?:class|method|variable) (\w+)",
)
_NAME: Final = r"\w+"
# The start of a definition of the name, in any of the languages, or of a module-level assignment.
_DEFINED: Final = (
    r"\b(?:def|class|function|func|fn|const|let|var|type|struct|enum|trait|interface|mod|package)"
    r"\s+(?:\([^()\n]*\)\s*)?{0}\b|^{0}\s*[:=]"
)
# Files whose module is named after the folder.
_NAMED_AFTER_FOLDER: Final = r"(\w+)/(?:(?:__init__|index|mod)\.\w+|\w+\.go)$"


class RerunInputs(NamedTuple):
    """The inputs for the findings of one re-run.

    `old` are outcomes when each test was last reported before this iteration, `new` those that it reports, `earlier`
    those of the references on this source. `matches` maps missing tests to their replacements. `references` maps each
    restored file to the iteration of that form. `file_of` returns the test file of an id, None if unknown. `hooked` are
    files whose change tampers with the runner. `missing` returns the name that a failure reports as missing if the
    source lost it, else None. `source_changed` says whether any file changed that does not decide about tests. `raised`
    maps the rule and test of open findings to the iteration that raised them. `settings` are the references that only
    configure the runner. `edited_in` maps files to the iteration that changed that form. `number` is this iteration.
    """

    number: int
    old: Mapping[str, str]
    new: Mapping[str, str]
    earlier: TestResults
    matches: Mapping[str, tuple[str, ...]]
    references: Mapping[str, int]
    edited_in: Mapping[str, int]
    settings: frozenset[str]
    hooked: frozenset[str]
    file_of: Callable[[str], str | None]
    missing: Callable[[str], str | None]
    source_changed: bool
    raised: Mapping[tuple[str, str], int] = {}

    def now(self, test: str) -> str | None:
        """Return the outcome of a test in this iteration, or of its replacements; None if there is neither."""
        if test in self.new:
            return self.new[test]
        successors = [self.new.get(each) for each in self.matches.get(test, ())]
        if not successors:
            return None
        return next((worse for worse in (None, FAILED, SKIPPED) if worse in successors), PASSED)

    def why(self, test: str) -> str:
        """Return the failure message of the earlier form of a test, "" without one."""
        return self.earlier.messages.get(test, "")

    def why_not_loaded(self, file: str | None) -> str | None:
        """Return why the earlier form of a file did not load, None if it did."""
        places = self.earlier.not_loaded
        if file is None or not places:
            return None
        return next((why for place, why in places.items() if belongs_to_any(file, [place])), None)

    def edited_files(self, file: str) -> list[str]:
        """Return the restored files that a finding about a file is about: that one, else all."""
        return [file] if file in self.references else sorted(self.references)

    def reference(self, file: str) -> int:
        """Return the iteration of the earlier form of a file, of one that has none the first of all."""
        known = self.references.get(file)
        return min(self.references.values()) if known is None else known

    def failure(self, tests: Iterable[str]) -> str | None:
        """Return the first failure message of the earlier forms of tests, None without one."""
        said = next((why for test in tests if (why := self.why(test))), None)
        return None if said is None else said[:_FAILURE_SHOWN]


class RerunFindings(NamedTuple):
    """The result of a re-run: findings, tests that no longer count, and files whose reference moves."""

    findings: tuple[Finding, ...] = ()
    retired: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()


def findings_of_rerun(run: RerunInputs) -> RerunFindings:
    """Return the result of the re-run, by the table of integrity.md."""
    tests_by_rule: dict[tuple[str, str], list[str]] = {}
    unrunnable: dict[str, list[str]] = {}
    moved: set[str] = set()
    for test in sorted({*run.earlier.outcomes, *(name for name in run.old if name not in run.new)}):
        file, how = run.file_of(test), run.earlier.outcomes.get(test)
        was, now = run.old.get(test), run.now(test)
        if was is None or now == FAILED or how in {PASSED, SKIPPED}:
            continue
        # The name that the earlier form needs and the source no longer has, None without one.
        why = run.why(test) if how == FAILED else run.why_not_loaded(file)
        gone_name = None if why is None else run.missing(why)
        if how is None and gone_name is None:
            continue
        rule = _rule(run, file, was, now, gone_name)
        if rule is None:
            moved.update([] if file is None else [file])
        elif rule == REMOVED_WITH_CODE:
            unrunnable.setdefault(gone_name or "", []).append(test)
        else:
            # Not again where an open finding reports it, and nothing that it is about was edited since.
            raised = run.raised.get((rule, test))
            edits = [run.edited_in.get(path, run.number) for path in run.edited_files(file or "")]
            if raised is None or max(edits, default=run.number) > raised:
                tests_by_rule.setdefault((rule, file or ""), []).append(test)
    findings = [_finding(run, rule, file, tests) for (rule, file), tests in tests_by_rule.items()]
    findings += [_removed_tests_finding(run, name, tests) for name, tests in unrunnable.items()]
    # A finding is about its own test files, else about all edited files. Their references move to the present form,
    # while the finding keeps checking the earlier one.
    for finding in findings:
        files = {run.file_of(test) for test in finding.tests}
        moved |= run.references.keys() & files or run.references.keys()
    retired = (test for tests in unrunnable.values() for test in tests if run.old.get(test) == PASSED)
    return RerunFindings(tuple(findings), frozenset(retired), frozenset(moved))


def hidden_failures_without_rerun(run: RerunInputs, among: Iterable[str]) -> Finding | None:
    """Return a finding for failing tests that are missing or skipped now and that no re-run covered."""
    tests = [
        test
        for test in sorted(among)
        if run.old.get(test) == FAILED and run.now(test) in NO_PASS and test not in run.earlier.outcomes
        if run.why_not_loaded(run.file_of(test)) is None
    ]
    if not tests:
        return None
    are = "is" if len(tests) == 1 else "are"
    which = "it" if are == "is" else "them"
    message = f"{quantity(len(tests), 'test')} failed and {are} gone or skipped now; no earlier version of {which} "
    return Finding(
        rule="failure_hidden",
        severity=Severity.HIGH,
        message=f"{message}could be run: {names_in_short(tests)}",
        file=run.file_of(tests[0]) or ".",
        tests=tuple(tests),
        about=f">{run.number}",
    )


def _rule(run: RerunInputs, file: str | None, was: str, now: str | None, gone_name: str | None) -> str | None:
    """Return the rule of the row that holds, None if the reference moves without a finding."""
    edited = file in run.references
    runner_only = not edited and run.references.keys() <= run.settings | run.hooked
    if gone_name is not None and now != SKIPPED:
        return REMOVED_WITH_CODE if now is None else None
    if was == FAILED and now in NO_PASS:
        return "failure_hidden"
    if runner_only and run.hooked:
        return "outcome_forged"
    if was == FAILED:
        return "green_by_edit"
    return "outcome_forged" if runner_only else "demand_changed"


def _finding(run: RerunInputs, rule: str, file: str, tests: list[str]) -> Finding:
    reference = run.reference(file)
    edited = run.edited_files(file)
    since = min((run.edited_in[path] for path in edited if path in run.edited_in), default=run.number)
    files, names = names_in_short(edited), names_in_short(tests)
    fail = f"{quantity(len(tests), 'test')} of iteration {reference} {{}} on this source: {names}"
    one = len(tests) == 1
    fails = "fails" if one else "fail"
    edit = f"{files} {'was' if len(edited) == 1 else 'were'} edited in iteration {since}"
    messages = {
        "failure_hidden": fail.format(f"still {fails}") + f"; {'it is' if one else 'they are'} gone or skipped: {edit}",
        "green_by_edit": fail.format(f"still {fails}") + f"; {'it passes' if one else 'they pass'} here since {edit}",
        "demand_changed": fail.format(fails) + f"; {edit}",
        "outcome_forged": fail.format(fails) + f"; the tests are as they were, and {edit}",
    }[rule]
    grave = rule in {"failure_hidden", "outcome_forged"} or (rule == "green_by_edit" and not run.source_changed)
    return Finding(
        rule=rule,
        severity=Severity.CRITICAL if grave else Severity.HIGH,
        message=messages,
        file=file or edited[0],
        tests=tuple(tests),
        against=reference,
        about=f"{reference}>{run.number}",
        failure=run.failure(tests),
        command=repeat_command(run.number),
    )


def _removed_tests_finding(run: RerunInputs, name: str, tests: list[str]) -> Finding:
    file = run.file_of(tests[0]) or ""
    red = sum(run.old.get(test) == FAILED for test in tests)
    lost = f"; {red} of them failed, and stay lost" if red else ""
    message = (
        f"{quantity(len(tests), 'test')} went together with {name!r}, which they need: {names_in_short(tests)}{lost}"
    )
    return Finding(
        rule=REMOVED_WITH_CODE,
        severity=Severity.HIGH,
        message=message,
        file=file,
        tests=tuple(tests),
        against=run.reference(file),
        about=f"{name}>{run.number}",
        failure=run.failure(tests) or run.why_not_loaded(file),
        command=repeat_command(run.number),
    )


def repeat_command(number: int) -> str:
    """Return the command that runs the earlier tests of an iteration again."""
    return f"ralph-tracker integrity {number} --rerun"


def still_failing(finding: Finding, earlier: TestResults, new: Mapping[str, str]) -> Finding | None:
    """Return what is left of a finding after its tests were run again, None if it is resolved.

    It is resolved for a test if the earlier form passes on the source, or if the reported test fails, which hides
    nothing.
    """
    left = tuple(
        test
        for test in finding.tests
        if earlier.outcomes.get(test) not in {PASSED, SKIPPED} and new.get(test) != FAILED
    )
    if not left:
        return None
    said = next((earlier.messages[test] for test in left if test in earlier.messages), finding.failure)
    return finding._replace(tests=left, failure=said)


def missing_names(failure: str) -> tuple[str, ...]:
    """Return the last part of each name that a failure reports as missing, () without any."""
    found = []
    for pattern in _MISSING:
        for match in re.finditer(pattern, failure):
            parts = re.findall(_NAME, next((group for group in match.groups() if group), ""))
            found += parts[-1:]
    return tuple(dict.fromkeys(found))


def gone_from_source(name: str, before: Iterable[tuple[str, str]], after: Iterable[tuple[str, str]]) -> bool:
    """Return whether the changed source had a name, as a word or as a file name, and no longer has it.

    Both sides are (path, text) of the changed files that do not decide about tests. Only code counts: plans, logs and
    comments may still mention the name. If a file of that name is gone, the name is a module's, and other code may use
    the same word: then only a definition counts.
    """
    old, new = ({path: Text(path, text) for path, text in files if is_code(path)} for files in (before, after))
    held, holding = _own_names(old), _own_names(new)
    if name in holding:
        return False
    word = re.compile((_DEFINED if name in held else r"\b{}\b").format(re.escape(name)), re.MULTILINE)
    before_it = name in held or any(word.search(text.code) for text in old.values())
    return before_it and not any(word.search(text.code) for text in new.values())


def _own_names(paths: Iterable[str]) -> set[str]:
    """Return the module names of the paths, of files or folders."""
    names = set()
    for path in paths:
        folder = re.search(_NAMED_AFTER_FOLDER, path)
        names |= {path.rpartition("/")[2].partition(".")[0], *(folder.groups() if folder else ())}
    return names
