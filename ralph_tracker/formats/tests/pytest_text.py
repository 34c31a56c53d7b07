"""pytest's terminal output, used only if no JUnit report was written: the numbers of its last line.

Tests have names if the lines above (`-v`, `-rA`) name exactly as many as the last line counts. That line counts an
error in tear-down beside the test, and its subtests: a test is one here, with the worst outcome of its parts, as far as
the lines above tell which belong together.
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
    "ERROR": ERROR,
    "FAILED": FAILED,
    "SUBFAILED": FAILED,
    "SKIPPED": SKIPPED,
    "SUBSKIPPED": SKIPPED,
    "XFAIL": SKIPPED,
    "PASSED": PASSED,
    "XPASS": PASSED,
}
_WORST_FIRST: Final = tuple(dict.fromkeys(_NAMED.values()))
# Behind a subtest's word are its message and parameters, behind others a reason.
_OUTCOME: Final = rf"(?P<outcome>{'|'.join(_NAMED)})(?: ?[\[(].*[\])])?"
_NAME: Final = r"(?P<name>[^\s:][^:]{0,1000}\.py::.{1,2000}?)"
_VERBOSE: Final = re.compile(rf"{_NAME} {_OUTCOME}\s*(?:\[ *\d+%\])?$")
_PARALLEL: Final = re.compile(rf"\[gw\d+\] (?:\[ *\d+%\] )?{_OUTCOME} {_NAME}\s*$")
_LISTED: Final = re.compile(rf"{_OUTCOME} {_NAME}(?: - .*)?$")
_SHORT: Final = re.compile(rf"^{_OUTCOME} {_NAME} - (?P<said>.+)$", re.MULTILINE)
_TEARDOWN: Final = re.compile(r"^_+ ERROR at teardown of .+ _+\r?$", re.MULTILINE)
_UNTIL_NEXT: Final = re.compile(r"^(?:_{3,} .* _{3,}|={3,} .* ={3,})\r?$", re.MULTILINE)
_COVERAGE: Final = re.compile(r"^TOTAL +\d.*%\s*$", re.MULTILINE)
sniff: Final = text_with(_SUMMARY, unless=_COVERAGE)  # such a text is a coverage report
_NOTE: Final = "read from pytest's terminal summary, because there is no JUnit report"
_NO_NAMES: Final = "; the tests have no names in it, so changed outcomes cannot be named"


def read(content: Content) -> TestReport:
    """Read one or more summaries. Raises DamageError, also if a run was stopped before any test failed."""
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
    cases, parts = CaseCollector(), _parts(text)
    for heading in re.finditer(r"^_+ ERROR collecting (?P<file>\S+) _+\r?$", text, flags=re.MULTILINE):
        cases.add_not_loaded(heading["file"], _UNTIL_NEXT.split(text[heading.end() :], maxsplit=1)[0])
    listed: Counter[str] = Counter()
    for (_, word), number in parts.items():
        listed[_NAMED[word]] += number
    if all(counted[outcome] == listed[outcome] for outcome in _WORST_FIRST):
        said = {found["name"]: found["said"] for found in reversed(list(_SHORT.finditer(text)))}
        worst: dict[str, str] = {}
        for name, word in parts:
            worst[name] = min(worst.get(name, PASSED), _NAMED[word], key=_WORST_FIRST.index)
        for name, outcome in worst.items():
            cases.add(name, outcome, said=said.get(name))
        return cases.report(note=note)
    if all(counted[outcome] == listed[outcome] for outcome in (FAILED, ERROR)):
        counted = _tests(counted, parts, len(_TEARDOWN.findall(text)))
    unnamed = Counts(passed=counted[PASSED], failed=counted[FAILED], errors=counted[ERROR], skipped=counted[SKIPPED])
    return cases.report(unnamed=unnamed, note=note + _NO_NAMES)


def _tests(counted: Counter[str], parts: Counter[tuple[str, str]], teardowns: int) -> Counter[str]:
    """Return how many tests these are of which each part that failed has its line."""
    errors, called, inner = (
        {name for name, word in parts if word == each} for each in ("ERROR", "FAILED", "SUBFAILED")
    )
    twice = sum(number for (_, word), number in parts.items() if word == "ERROR") - len(errors)
    passed_before = max(teardowns - twice - len(errors & called), 0) + len(inner - called - errors)
    return Counter(
        {
            PASSED: max(counted[PASSED] - passed_before, 0),
            FAILED: len((called | inner) - errors),
            ERROR: len(errors),
            SKIPPED: counted[SKIPPED],
        }
    )


def _parts(text: str) -> Counter[tuple[str, str]]:
    """Return how often each name and word has a line of its own; the list at the end repeats those before it."""
    before: Counter[tuple[str, str]] = Counter()
    at_the_end: Counter[tuple[str, str]] = Counter()
    for line in text.splitlines():
        if "::" in line and len(line) <= 4000:
            if said := _VERBOSE.match(line) or _PARALLEL.match(line):
                before[said["name"], said["outcome"]] += 1
            elif said := _LISTED.match(line):
                at_the_end[said["name"], said["outcome"]] += 1
    return before | at_the_end
