"""Apply the diff rules, which complement the re-run, to the changed files of one iteration."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ralph_tracker.core.findings import Finding, Severity, SuppressionKind
from ralph_tracker.core.metrics import FAILED, PASSED
from ralph_tracker.integrity.changed_text import ChangedFile, FileVersions, Text, one_line, read, why_unreadable
from ralph_tracker.integrity.file_roles import kind_of_file
from ralph_tracker.integrity.line_rules import COMMANDS, RULES, Rule
from ralph_tracker.integrity.lowered_settings import checks_removed, find_lowered_settings
from ralph_tracker.integrity.source_tests import Language, language_of
from ralph_tracker.integrity.weakened_tests import find_evaded_tests


class Mark(NamedTuple):
    """A suppression mark: what it suppresses, its pattern, and whether it is code instead of a comment."""

    kind: SuppressionKind
    pattern: str
    in_code: bool = False


_SONAR: Final = Mark("lint", r"\bNOSONAR\b")
_SCRIPT: Final = (
    _SONAR,
    Mark("lint", r"(?:eslint|oxlint)-disable|tslint:disable|biome-ignore"),
    Mark("types", r"^(?://|/\*)[\s*]*@ts-(?:ignore|expect-error|nocheck)\b"),
    Mark("coverage", r"^(?://|/\*)\s*(?:istanbul|c8|v8|node:coverage)\s+(?:ignore|disable)\b"),
)
MARKS: Final[Mapping[Language, tuple[Mark, ...]]] = {
    "python": (
        _SONAR,
        Mark("lint", r"(?i:#\s*(?:(?:ruff|flake8):\s*)?noqa\b)|#\s*ruff:\s*(?:disable|ignore|file-ignore)\["),
        Mark("lint", r"#\s*pylint:\s*(?:disable|skip-file)|#\s*nosec\b|#\s*nosemgrep\b|#\s*noinspection\s"),
        Mark(
            "types",
            r"#\s*(?:type|pyright|ty|pyrefly):\s*ignore\b|#\s*pyre-(?:ignore|fixme)|#\s*pytype:\s*(?:disable|skip)",
        ),
        Mark(
            "types",
            r"#\s*mypy:\s*(?:ignore-errors(?!\s*=\s*[Ff]alse)|disable-error-code|allow-|no-strict|no-check|no-warn|no-disallow|ignore-missing)",
        ),
        Mark("types", r"#\s*pyright:\s*(?:basic\b|report\w+\s*=\s*(?:[Ff]alse|none|warning|information))"),
        Mark("types", r"@[\w.]*\bno_type_check(?:_decorator)?\b", in_code=True),
        Mark("coverage", r"\bpragma:\s*no\s*(?:cover|branch)\b"),
    ),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "go": (Mark("lint", r"^//\s*(?:nolint\b|lint:(?:file-)?ignore\b)|#nosec\b"),),
    "java": (_SONAR, Mark("lint", r"CHECKSTYLE(?::|\s)OFF"), Mark("lint", r"@SuppressWarnings\b", in_code=True)),
    "rust": (
        Mark("lint", r"#!?\[\s*(?:allow|expect|cfg_attr\([^\[\]\n]*?\ballow)\s*\(", in_code=True),
        Mark("coverage", r"#!?\[[^\]\n]*\b(?:coverage\(off\)|no_coverage|not\(tarpaulin)", in_code=True),
    ),
}
_WORDS: Final = re.compile(
    r"NOSONAR|lint|noqa|NOQA|NoQA|nosec|nosemgrep|noinspection|ignore|mypy:|pyright:|pyre-|pytype:|no_type_check|pragma:|@ts-|coverage"
    r"|CHECKSTYLE|SuppressWarnings|allow|expect|tarpaulin|ruff:"
)


def count(side: Text) -> Mapping[SuppressionKind, int]:
    """Return the number of suppressions in a text, by kind; those inside strings do not count."""
    found: dict[SuppressionKind, int] = {}
    language = language_of(side.path)
    if language is None or _WORDS.search(side.text) is None:
        return found
    for kind, pattern, in_code in MARKS[language]:
        texts = [side.code] if in_code else [comment[:2_000] for comment in side.comments]
        number = sum(1 for text in texts for _ in re.finditer(pattern, text))
        if number:
            found[kind] = found.get(kind, 0) + number
    return found


# Files that decide what is run, in addition to the kinds of file_roles.
_DECIDES: Final = re.compile(rf"(^|/)(sitecustomize|usercustomize)\.py$|{COMMANDS}")


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
            if was_read and (kind_of_file(change.path) is not None or _DECIDES.search(change.path)):
                message = f"The file {file} and cannot be checked any more; make it readable again."
                findings.append(Finding("U", Severity.HIGH, message, change.path, about="unread"))
        elif file.old.text != file.new.text or file.is_new or file.is_gone:
            files.append(file)
    green = tuple(test for test, outcome in before.items() if outcome == FAILED and after.get(test) == PASSED)
    findings += (each for rule in RULES for each in _find_matches(rule, files, green))
    findings += find_lowered_settings(files)
    findings += checks_removed(files)
    findings += find_evaded_tests(files, {*before, *after}, green, unchanged_tests or {})
    unique = {each.key: each for each in reversed(findings)}
    order = sorted(unique.values(), key=lambda each: (each.severity, each.rule, each.file, each.line or 0))
    # What source gained in suppressions (negative: lost); those of tests do not count.
    total: dict[SuppressionKind, int] = {"lint": 0, "types": 0, "coverage": 0}
    for file in files:
        for side, sign in ((file.new, 1), (file.old, -1)) if file.is_source else ():
            for kind, number in count(side).items():
                total[kind] += sign * number
    return Inspection(tuple(order), total, unread)


def _find_matches(rule: Rule, files: Iterable[ChangedFile], green: tuple[str, ...]) -> Iterator[Finding]:
    """Yield the matches of a rule whose text occurs more often than before in all files together."""
    is_critical = rule.id == "R2" and bool(green)
    severity, named = (Severity.CRITICAL, green) if is_critical else (rule.severity, ())
    looked_at = [file for file in files if rule.looks_at(file)]
    if rule.pattern is None:
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
    if rule.pattern is None or (rule.words and not any(map(side.text.__contains__, rule.words))):
        return
    for match in rule.pattern.finditer(side.text if rule.in_text else side.code):
        if rule.unless is None or re.search(rule.unless, match[0]) is None:  # nothing in the match excuses it
            yield match
