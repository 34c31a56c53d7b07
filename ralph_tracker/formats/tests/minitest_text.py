"""Minitest's output with `-v`: a line for each test, details of failures, and a summary of each run.

What a test prints stands between its name and its result, which then begins a line of its own.
"""

import re
from collections import Counter
from typing import Final

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.parsed_report import Counts, DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError, plain, text_with
from ralph_tracker.formats.tests.case_collector import ERROR, CaseCollector

_SUMMARY: Final = re.compile(
    r"^(\d{1,9}) (?:runs|tests), \d{1,9} assertions, (\d{1,9}) failures, (\d{1,9}) errors, (\d{1,9}) skips",
    re.MULTILINE,
)
sniff: Final = text_with(_SUMMARY)
_TEST: Final = r"(?P<name>[A-Z][^#]{0,300}#test_.{1,1000}"
_RESULT: Final = r"(?P<seconds>\d{1,9}\.\d\d) s = (?P<outcome>[.FES])$"
_WHOLE: Final = re.compile(rf"{_TEST}) = {_RESULT}")
_BEGINS: Final = re.compile(rf"{_TEST}?) = ")
_ENDS: Final = re.compile(_RESULT)
_DETAIL: Final = re.compile(r" {1,4}\d{1,9}\) (?:Failure|Error|Skipped):$")
_OF: Final = re.compile(r"(?P<name>[A-Z].*?#.{1,1000}?)(?: \[(?P<place>[^\]]+)\])?:(?: |$)")
_OUTCOMES: Final = {".": PASSED, "F": FAILED, "E": ERROR, "S": SKIPPED}
_NO_NAMES: Final = "without -v the tests have no names, so changed outcomes cannot be named"


def read(content: Content) -> TestReport:
    """Read one or more runs. Raises DamageError where the last summary is missing."""
    text = plain(content.text)
    summaries = [tuple(map(int, found.groups())) for found in _SUMMARY.finditer(text)]
    if not summaries:
        raise DamageError("Minitest's summary line (3 runs, 4 assertions, …) is missing")
    runs, failures, errors, skips = (sum(column) for column in zip(*summaries, strict=True))
    counts = Counter({PASSED: runs - failures - errors - skips, FAILED: failures, ERROR: errors, SKIPPED: skips})
    if min(counts.values()) < 0:
        raise DamageError(f"{runs} runs, but {failures + errors + skips} of them failed or were skipped")
    named = _listed_tests(content)
    if Counter(outcome for _, outcome, _ in named) != +counts:
        unnamed = Counts(passed=counts[PASSED], failed=failures, errors=errors, skipped=skips)
        return CaseCollector().report(unnamed=unnamed, note=_NO_NAMES)
    cases, said = CaseCollector(), _failure_messages(text)
    for name, outcome, seconds in named:
        cases.add(name, outcome, seconds, said=said.get(name))
    return cases.report(DeclaredCounts(tests=runs, failures=failures, errors=errors, skipped=skips))


def _listed_tests(content: Content) -> list[tuple[str, str, float]]:
    """Return name, outcome and duration of the tests that have a line of their own."""
    found: list[tuple[str, str, float]] = []
    name: str | None = None
    for raw in content.lines():
        line = plain(raw.rstrip("\r"))
        if len(line) > 4000:
            continue
        whole = _WHOLE.match(line)
        begun = whole or _BEGINS.match(line)
        name = begun["name"] if begun else name
        result = whole or (_ENDS.search(line) if name is not None else None)
        if name is not None and result:
            found.append((name, _OUTCOMES[result["outcome"]], float(result["seconds"])))
            name = None
    return found


def _failure_messages(text: str) -> dict[str, str]:
    """Return what is said of each failure, with its place in the last line."""
    said: dict[str, str] = {}
    lines = text.splitlines()
    for at, line in enumerate(lines):
        heading = _OF.match(lines[at + 1]) if _DETAIL.match(line) and at + 1 < len(lines) else None
        if heading:
            rest = lines[at + 2 : at + 2 + 12]
            end = next((number for number, each in enumerate(rest) if not each.strip()), len(rest))
            place = [f"at {heading['place']}"] if heading["place"] else []
            said.setdefault(heading["name"], "\n".join([*rest[:end], *place]))
    return said
