"""The text of `python -m unittest`: with `-v` a line a test; without, the numbers and the names of what failed.

A test with a failed subtest has failed, as has an unexpected success. An error of a class or module (`setUpClass`) is a
case of its own. What tests print stands between the lines, so the report counts only if its last lines agree.
"""

import re
from collections import Counter
from typing import Final

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.parsed_report import Counts, DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError, plain, text_with
from ralph_tracker.formats.tests.case_collector import ERROR, CaseCollector, case_id

_TEST: Final = r"(?P<name>[^\s()]{1,300}) \((?P<owner>[\w<>]+(?:\.[\w<>]+)*)\)"
_START: Final = re.compile(rf" *{_TEST}(?P<subtest> [\[(].*?)?(?P<begun> \.\.\. ?.*)?$")
_END: Final = re.compile(
    r"(?:^|.* \.\.\. )(?P<outcome>(?:ok|FAIL|ERROR|expected failure|unexpected success)$|skipped (?=['\"]))"
)
_HEADING: Final = re.compile(rf"^(?P<outcome>ERROR|FAIL|UNEXPECTED SUCCESS): {_TEST}", re.MULTILINE)
_SEPARATOR: Final = "=" * 70
_RAN: Final = re.compile(r"^Ran (?P<ran>\d{1,9}) tests? in \d+\.\d+s\r?$", re.MULTILINE)
_PART: Final = re.compile(r"([a-z ]+)=(\d{1,9})")
_OUTCOMES: Final = {
    "ok": PASSED,
    "FAIL": FAILED,
    "unexpected success": FAILED,
    "UNEXPECTED SUCCESS": FAILED,
    "ERROR": ERROR,
    "skipped ": SKIPPED,
    "expected failure": SKIPPED,
}
_WORSE: Final = (PASSED, SKIPPED, FAILED, ERROR)
_FIXTURES: Final = frozenset({"setUpClass", "tearDownClass", "setUpModule", "tearDownModule"})
_NOT_LOADED: Final = "unittest.loader."
sniff: Final = text_with(_RAN)
_NO_NAMES: Final = "tests that passed have no names without -v, so changed outcomes cannot be named"


def read(content: Content) -> TestReport:
    """Read one or more runs. Raises DamageError where the last lines are missing, or count otherwise."""
    text = plain(content.text).replace("\r", "")
    ran = [int(found["ran"]) for found in _RAN.finditer(text)]
    ends = list(re.finditer(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((?P<parts>[a-z =,\d]+)\))?$", text, flags=re.MULTILINE))
    if not ran or len(ran) != len(ends):
        raise DamageError("cut short: the last lines of unittest (Ran 3 tests in …, OK) are missing")
    declared: Counter[str] = Counter()
    for end in ends:
        declared.update({name.strip(): int(number) for name, number in _PART.findall(end["parts"] or "")})
    failures = _failures(text)
    outcomes = _outcomes(text, failures)
    tests = {key: outcome for key, outcome in outcomes.items() if key[1] not in _FIXTURES}
    counts = DeclaredCounts(sum(ran), declared["failures"], declared["errors"], declared["skipped"])
    cases = CaseCollector()
    if len(tests) == sum(ran):
        _check(declared, failures, tests)
        for key, outcome in outcomes.items():
            _add(cases, key, outcome, failures)
        return cases.report(counts)
    failed = Counter(outcome for key, (outcome, _) in failures.items() if key[1] not in _FIXTURES)
    # Before Python 3.11 these are not listed.
    failed[FAILED] += declared["unexpected successes"] - text.count("\nUNEXPECTED SUCCESS: ")
    skipped = declared["skipped"] + declared["expected failures"]
    if len(tests) > len(failures) or sum(ran) < failed.total() + skipped:
        raise DamageError(f"unittest ran {sum(ran)} tests, and {len(tests)} of them can be read")
    outside = [key for key in failures if key[1] in _FIXTURES]
    passed = sum(ran) - failed.total() - skipped
    unnamed = Counts(passed, failed[FAILED], failed[ERROR] + len(outside), skipped)
    for key in failures:
        if key[0].startswith(_NOT_LOADED):
            cases.add_not_loaded(f"{key[1].replace('.', '/')}.py", failures[key][1])
    return cases.report(counts, unnamed=unnamed, note=_NO_NAMES)


_Key = tuple[str, str]


def _key(found: re.Match[str]) -> _Key:
    """Return class and name; since Python 3.11 the class is followed by the name."""
    return found["owner"].removesuffix(f".{found['name']}"), found["name"]


def _failures(text: str) -> dict[_Key, tuple[str, str]]:
    """Return the worst outcome and the text of each failure that the run lists below its tests."""
    found: dict[_Key, tuple[str, str]] = {}
    for part in text.split(_SEPARATOR)[1:]:
        heading = _HEADING.match(part.lstrip("\n"))
        if heading:
            outcome, key = _OUTCOMES[heading["outcome"]], _key(heading)
            said = (
                part.partition(f"\n{'-' * 70}\n")[2]
                if heading["outcome"] in ("ERROR", "FAIL")
                else "unexpected success"
            )
            if key not in found or _WORSE.index(outcome) > _WORSE.index(found[key][0]):
                found[key] = outcome, said.partition("-" * 70)[0]
    return found


def _outcomes(text: str, failures: dict[_Key, tuple[str, str]]) -> dict[_Key, str]:
    """Return the outcomes of the tests that have a line of their own, and of what failed outside of tests."""
    found: dict[_Key, str] = {}
    key: _Key | None = None
    lines = text.split(_SEPARATOR, maxsplit=1)[0].split("\n")
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        start = _START.match(line)
        if start and (start["begun"] or " ... " in below):
            key = _key(start)
            found.setdefault(key, PASSED)
        end = _END.match(line if start is None or not start["begun"] else start["begun"][4:].strip()) if key else None
        if key and end:
            outcome = _OUTCOMES[end["outcome"]]
            found[key] = max(found[key], outcome, key=_WORSE.index)
            key = key if start and start["subtest"] else None
    for failed, (outcome, _) in failures.items():
        if failed in found or failed[1] in _FIXTURES:
            found[failed] = max(found.get(failed, PASSED), outcome, key=_WORSE.index)
    return found


def _check(declared: Counter[str], failures: dict[_Key, tuple[str, str]], tests: dict[_Key, str]) -> None:
    """Raise DamageError where the numbers of the last line are not those of the tests."""
    bad = bool(declared["failures"] + declared["errors"] + declared["unexpected successes"])
    skipped = sum(outcome == SKIPPED for outcome in tests.values())
    named = all(key in tests or key[1] in _FIXTURES for key in failures)
    seen = bad == (bool(failures) or any(outcome in (FAILED, ERROR) for outcome in tests.values()))
    if not named or not seen or skipped > declared["skipped"] + declared["expected failures"]:
        raise DamageError("the last line of unittest counts otherwise than its lines of tests")


def _add(cases: CaseCollector, key: _Key, outcome: str, failures: dict[_Key, tuple[str, str]]) -> None:
    owner, name = key
    said = failures.get(key, ("", ""))[1]
    frames = list(re.finditer(r'^  File "(?P<file>.+)", line (?P<line>\d+).*\n(?: {4}.*\n)*', said, flags=re.MULTILINE))
    place = f"\n{frames[-1]['file']}:{frames[-1]['line']}" if frames else ""
    cases.add(case_id(owner, name), outcome, said=said[frames[-1].end() if frames else 0 :].strip() + place)
    if owner.startswith(_NOT_LOADED):
        cases.add_not_loaded(f"{name.replace('.', '/')}.py", said)
