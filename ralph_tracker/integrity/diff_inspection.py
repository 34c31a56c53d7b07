"""Apply the diff rules, which see what running earlier tests cannot, to the changed files of one iteration."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ralph_tracker.core.integrity_result import Finding, Integrity, Severity, SuppressionKind
from ralph_tracker.core.metrics import FAILED, PASSED
from ralph_tracker.integrity.deciding_files import kind_of_file
from ralph_tracker.integrity.file_versions import ChangedFile, FileVersions, one_line, read, token_key, why_unreadable
from ralph_tracker.integrity.hardcoded_answers import find_hardcoded_answers
from ralph_tracker.integrity.line_rules import COMMANDS, RULES, Rule, suppressions
from ralph_tracker.integrity.lowered_settings import checks_removed, find_lowered_settings


def inspect(
    changes: Iterable[FileVersions],
    before: Mapping[str, str],
    after: Mapping[str, str],
    unchanged_tests: Mapping[str, str] | None = None,
    *,
    optimises: bool = False,
) -> Integrity:
    """Return what the rules find in the changes of an iteration; no file content makes it fail.

    `before` and `after` are the outcomes of tests by id. `unchanged_tests` are the texts by path of unchanged test
    files with a test that turned green: the source is searched for the inputs of such tests, and of all that pass where
    a loop `optimises` a number, since a stored answer is fast.
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
            if was_read and (kind_of_file(change.path) is not None or re.search(COMMANDS, change.path)):
                message = f"The file {file} and cannot be checked any more; make it readable again."
                findings.append(Finding("U", Severity.HIGH, message, change.path, about="unread"))
        elif file.old.text != file.new.text or file.is_new or file.is_gone:
            files.append(file)
    green = tuple(test for test, outcome in before.items() if outcome == FAILED and after.get(test) == PASSED)
    findings += (each for rule in RULES for each in _find_matches(rule, files))
    findings += find_lowered_settings(files)
    findings += checks_removed(files)
    asked = tuple(test for test, outcome in after.items() if outcome == PASSED) if optimises else green
    if asked:
        tests = {file.path: file.new.text for file in files if file.kind == "test"}
        findings += find_hardcoded_answers(files, tests | dict(unchanged_tests or {}), asked)
    # Of these a HIGH finding may be why tests turned green: it names them. A special case is seldom the only one.
    named = (
        each._replace(tests=green) if each.rule in {"R1", "R2", "R3", "R4"} and each.severity is Severity.HIGH else each
        for each in reversed(findings)
    )
    unique = {each.key: each for each in named}
    order = sorted(unique.values(), key=lambda each: (each.severity, each.rule, each.file, each.line or 0))
    suppressions, blanket = _count_suppressions(files)
    return Integrity(tuple(order), suppressions=suppressions, blanket=blanket, unread=unread)


def _find_matches(rule: Rule, files: Iterable[ChangedFile]) -> Iterator[Finding]:
    """Yield the matches of a rule whose text occurs more often than before in all files together."""
    looked_at = [file for file in files if rule.looks_at(file)]
    matches = [(file, match) for file in looked_at for match in rule.matches(file.new)]
    known = Counter(_key(match) for file in looked_at for match in rule.matches(file.old)) if matches else Counter()
    for file, match in matches:
        known[_key(match)] -= 1
        if known[_key(match)] < 0:
            start = match.start("shown") if "shown" in match.re.groupindex else match.start()
            matched = match.string[start : match.end()]
            line = file.new.text.count("\n", 0, start + len(matched) - len(matched.lstrip())) + 1
            shown, about = one_line(file.new.lines[line - 1]), one_line(matched)
            yield Finding(rule.id, rule.severity, rule.message, file.path, line=line, new=shown, about=about)


def _key(match: re.Match[str]) -> str:
    return token_key(match["shown"] if "shown" in match.re.groupindex else match[0])


def _count_suppressions(
    files: Iterable[ChangedFile],
) -> tuple[Mapping[SuppressionKind, int], frozenset[SuppressionKind]]:
    """Return what source gained in suppressions (negative: lost), and where whole files are new; those of tests not."""
    files = [file for file in files if file.is_source]
    total: dict[SuppressionKind, int] = {"lint": 0, "types": 0, "coverage": 0}
    known: Counter[str] = Counter()
    for file in files:
        for each in suppressions(file.old):
            total[each.kind] -= 1
            known[each.text] += each.is_blanket
    blanket: set[SuppressionKind] = set()
    for file in files:
        for each in suppressions(file.new):
            total[each.kind] += 1
            known[each.text] -= each.is_blanket
            if each.is_blanket and known[each.text] < 0:
                blanket.add(each.kind)
    return total, frozenset(blanket)
