"""pytest's terminal output, used only if no JUnit report was written: the numbers of its last line.

Tests have names if the lines above (`-v`, `-rA`) name exactly as many as the last line counts.
"""

import re
from collections import Counter
from typing import Final

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.parsed_report import Counts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError, plain, text_with
from ralph_tracker.formats.tests.case_collector import ERROR, CaseCollector

_WORD: Final = (
    r"(?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests (?:passed|failed))"
)
_PARTS: Final = rf"(?P<parts>no tests ran|\d{{1,9}} {_WORD}(?:, \d{{1,9}} {_WORD}){{0,12}})"
_SUMMARY: Final = re.compile(
    rf"^(?P<bar>=+ )?{_PARTS} in \d{{1,9}}\.\d\ds(?: \([\d:, day]{{1,40}}\))?(?(bar) =+)\r?$", re.MULTILINE
)
_PART: Final = re.compile(r"(\d+) ([a-z ]+)")
_OUTCOMES: Final = {
    "passed": PASSED,
    "xpassed": PASSED,
    "failed": FAILED,
    "subtests failed": FAILED,
    "error": ERROR,
    "errors": ERROR,
    "skipped": SKIPPED,
    "xfailed": SKIPPED,
}
_NAMED: Final = {
    "PASSED": PASSED,
    "XPASS": PASSED,
    "FAILED": FAILED,
    "ERROR": ERROR,
    "SKIPPED": SKIPPED,
    "XFAIL": SKIPPED,
}
_OUTCOME: Final = rf"(?P<outcome>{'|'.join(_NAMED)})"
_NAME: Final = r"(?P<name>[^\s:][^:]{0,1000}\.py::.{1,2000}?)"
_VERBOSE: Final = re.compile(rf"{_NAME} {_OUTCOME}(?: \(.*\))?\s*(?:\[ *\d+%\])?$")
_PARALLEL: Final = re.compile(rf"\[gw\d+\] (?:\[ *\d+%\] )?{_OUTCOME} {_NAME}\s*$")
_LISTED: Final = re.compile(rf"{_OUTCOME} {_NAME}(?: - .*)?$")
_SHORT: Final = re.compile(rf"^(?:FAILED|ERROR) {_NAME} - (?P<said>.+)$", re.MULTILINE)
_UNTIL_NEXT: Final = re.compile(r"^(?:_{3,} .* _{3,}|={3,} .* ={3,})\r?$", re.MULTILINE)
_COVERAGE: Final = re.compile(r"^TOTAL +\d.*%\s*$", re.MULTILINE)
sniff: Final = text_with(_SUMMARY, unless=_COVERAGE)  # such a text is a coverage report
_NOTE: Final = "read from pytest's terminal summary, because there is no JUnit report"
_NO_NAMES: Final = "; the tests have no names in it, so changed outcomes cannot be named"


def read(content: Content) -> TestReport:
    """Read one or more summaries. Raises DamageError, also if a run was stopped before any test failed.

    Like pytest, it counts an error in tear-down in addition to the test itself.
    """
    text = plain(content.text)
    summaries = list(_SUMMARY.finditer(text))
    if not summaries:
        raise DamageError("pytest's summary line (3 passed in 0.12s) is missing")
    counted: Counter[str] = Counter()
    for summary in summaries:
        for number, word in _PART.findall(summary["parts"]):
            counted[_OUTCOMES.get(word, "")] += int(number)
    stopped = re.search(r"^!{3,} (?P<why>.{1,200}?) !{3,}\r?$", text, flags=re.MULTILINE)
    if stopped and not counted[FAILED] + counted[ERROR]:
        raise DamageError(f"the run was stopped: {stopped['why']}", text.count("\n", 0, stopped.start()) + 1)
    note = f"{_NOTE}; the run was stopped: {stopped['why']}" if stopped else _NOTE
    cases, named = CaseCollector(), _names(text)
    for heading in re.finditer(r"^_+ ERROR collecting (?P<file>\S+) _+\r?$", text, flags=re.MULTILINE):
        cases.add_not_loaded(heading["file"], _UNTIL_NEXT.split(text[heading.end() :], maxsplit=1)[0])
    if all(counted[outcome] == sum(said == outcome for said in named.values()) for outcome in _NAMED.values()):
        said = {found["name"]: found["said"] for found in _SHORT.finditer(text)}
        for name, outcome in named.items():
            cases.add(name, outcome, said=said.get(name))
        return cases.report(note=note)
    unnamed = Counts(passed=counted[PASSED], failed=counted[FAILED], errors=counted[ERROR], skipped=counted[SKIPPED])
    return cases.report(unnamed=unnamed, note=note + _NO_NAMES)


def _names(text: str) -> dict[str, str]:
    """Return the outcomes of the tests that have a line of their own."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if "::" in line and len(line) <= 4000:
            said = _VERBOSE.match(line) or _PARALLEL.match(line) or _LISTED.match(line)
            if said:
                found[said["name"]] = _NAMED[said["outcome"]]
    return found
