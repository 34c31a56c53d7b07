"""Apply the diff rules, which complement the re-run, to the changed files of one iteration."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

from ralph_tracker.core.integrity_result import Finding, Severity, SuppressionKind
from ralph_tracker.core.metrics import FAILED, PASSED
from ralph_tracker.integrity.file_roles import kind_of_file
from ralph_tracker.integrity.file_versions import ChangedFile, FileVersions, Text, one_line, read, why_unreadable
from ralph_tracker.integrity.hardcoded_answers import find_hardcoded_answers
from ralph_tracker.integrity.line_rules import COMMANDS, RULES, Rule, count_suppressions
from ralph_tracker.integrity.lowered_settings import checks_removed, find_lowered_settings
from ralph_tracker.integrity.source_tests import tests_of
from ralph_tracker.integrity.weakened_tests import find_weakened_tests

# Files that decide what is run, in addition to the kinds of file_roles.
_DECIDES: Final = rf"(^|/)(sitecustomize|usercustomize)\.py$|{COMMANDS}"


class Inspection(NamedTuple):
    """The result of the rules; `suppressions` is the net change, `unread` says why by path."""

    findings: tuple[Finding, ...] = ()
    suppressions: Mapping[SuppressionKind, int] = {}
    unread: Mapping[str, str] = {}


def inspect(
    changes: Iterable[FileVersions],
    before: Mapping[str, str],
    after: Mapping[str, str],
    unchanged_tests: Mapping[str, str] | None = None,
) -> Inspection:
    """Return what the rules find in the changes of an iteration; no file content makes it fail.

    `before` and `after` are the outcomes of tests by id. `unchanged_tests` are the texts by path of unchanged test
    files with a test that turned green: they are used to find special cases in the source.
    """
    files: list[ChangedFile] = []
    unread: dict[str, str] = {}
    findings: list[Finding] = []
    for change in changes:
        file = read(change)
        if isinstance(file, str):
            unread[change.path] = file
            # One that decides about tests, and could be read before.
            was_read = change.old is not None and change.new is not None and why_unreadable(change.old) is None
            if was_read and (kind_of_file(change.path) is not None or re.search(_DECIDES, change.path)):
                message = f"The file {file} and cannot be checked any more; make it readable again."
                findings.append(Finding("U", Severity.HIGH, message, change.path, about="unread"))
        elif file.old.text != file.new.text or file.is_new or file.is_gone:
            files.append(file)
    green = tuple(test for test, outcome in before.items() if outcome == FAILED and after.get(test) == PASSED)
    findings += (each for rule in RULES for each in _find_matches(rule, files, green))
    findings += find_lowered_settings(files)
    findings += checks_removed(files)
    may_answer = bool(green) and any(file.is_source for file in files)
    # New files weaken no test: they are parsed only if the source may hold answers of theirs.
    looked_at = (file for file in files if not file.is_gone and (may_answer or not file.is_new))
    tests = {file.path: tests_of(file.path, file.new.text) for file in looked_at}
    findings += find_weakened_tests(files, tests, {*before, *after})
    if may_answer:
        unchanged = (tests_of(path, text) for path, text in (unchanged_tests or {}).items())
        findings += find_hardcoded_answers(files, chain.from_iterable((*tests.values(), *unchanged)), green)
    unique = {each.key: each for each in reversed(findings)}
    order = sorted(unique.values(), key=lambda each: (each.severity, each.rule, each.file, each.line or 0))
    # What source gained in suppressions (negative: lost); those of tests do not count.
    total: dict[SuppressionKind, int] = {"lint": 0, "types": 0, "coverage": 0}
    for file in files:
        for side, sign in ((file.new, 1), (file.old, -1)) if file.is_source else ():
            for kind, number in count_suppressions(side).items():
                total[kind] += sign * number
    return Inspection(tuple(order), total, unread)


def _find_matches(rule: Rule, files: Iterable[ChangedFile], green: tuple[str, ...]) -> Iterator[Finding]:
    """Yield the matches of a rule whose text occurs more often than before in all files together."""
    is_critical = rule.id == "R2" and bool(green)
    severity, named = (Severity.CRITICAL, green) if is_critical else (rule.severity, ())
    looked_at = [file for file in files if rule.looks_at(file)]
    if rule.is_of_whole_file:
        for file in looked_at:
            if not file.is_gone:
                yield Finding(rule.id, severity, rule.message, file.path, tests=named, about=rule.message)
        return
    known = Counter(one_line(match[0]) for file in looked_at for match in _matches(rule, file.old))
    for file in looked_at:
        for match in _matches(rule, file.new):
            text = one_line(match[0])
            if known[text] > 0:
                known[text] -= 1
                continue
            start = match.start("shown") if "shown" in match.re.groupindex else match.start()
            matched = match.string[start : match.end()]
            line = file.new.text.count("\n", 0, start + len(matched) - len(matched.lstrip())) + 1
            shown = one_line(file.new.lines[line - 1])
            yield Finding(rule.id, severity, rule.message, file.path, line=line, tests=named, new=shown, about=text)


def _matches(rule: Rule, side: Text) -> Iterator[re.Match[str]]:
    if not rule.may_match(side):
        return
    for match in rule.pattern.finditer(side.text if rule.in_text else side.code):
        if rule.unless is None or re.search(rule.unless, match[0]) is None:  # nothing in the match excuses it
            yield match
