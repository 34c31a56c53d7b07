"""pytest-reportlog's file (`--report-log=FILE`): a JSON object for each phase of each test."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.json_reader import Object, inside, number, objects, text
from ralph_tracker.formats.parsed_report import TestReport
from ralph_tracker.formats.report_content import Content, DamageError, json_lines
from ralph_tracker.formats.tests.case_collector import ERROR, CaseCollector

_TYPE: Final = "$report_type"
_OUTCOMES: Final = {"passed": PASSED, "failed": FAILED, "skipped": SKIPPED}
sniff: Final = json_lines(
    lambda event: isinstance(event.get(_TYPE), str) and ("pytest_version" in event or "nodeid" in event)
)


class _Test:
    """The phases of one test so far; those of an earlier run count only as that."""

    def __init__(self) -> None:
        self.phases: list[tuple[str, str]] = []
        self.seconds = 0.0
        self.said = ""
        self.is_again = False


def read(content: Content) -> TestReport:
    """Read the report. Raises DamageError without the end of the session, and if that was stopped before a failure."""
    tests: dict[str, _Test] = {}
    cases, status, skipped = CaseCollector(), None, 0
    for _, event in objects(content):
        kind = "" if event is None else text(event, _TYPE)
        if event is None or not kind:
            skipped += 1
        elif kind == "SessionFinish":
            status = event.get("exitstatus")
        elif kind == "CollectReport" and event.get("outcome") != "passed":
            name, said = text(event, "nodeid"), message(event.get("longrepr"))
            cases.add(name, ERROR if event.get("outcome") == "failed" else SKIPPED, said=said)
            if event.get("outcome") == "failed":
                cases.add_not_loaded(name, said)
        elif kind in ("TestReport", "SubTestReport"):
            _take(tests.setdefault(text(event, "nodeid"), _Test()), event)
    if status is None:
        raise DamageError("cut short: the end of pytest's session is missing")
    for name, test in tests.items():
        outcome = outcome_of(test.phases)
        flaky = test.is_again and outcome == PASSED
        cases.add(name, outcome, test.seconds, rerun=test.is_again, flaky=flaky, said=test.said)
    # pytest's exit statuses
    if status in (2, 3, 4) and not cases.failed:
        raise DamageError(f"the run was stopped: pytest ended with {status}")
    return cases.report(skipped_lines=skipped)


def _take(test: _Test, event: Object) -> None:
    outcome, when = text(event, "outcome"), text(event, "when")
    if outcome == "rerun":
        test.phases, test.said, test.is_again = [], "", True
        return
    test.phases.append((when, outcome))
    test.seconds += number(event, "duration") or 0.0 if text(event, _TYPE) == "TestReport" else 0.0
    if outcome == "failed" and not test.said:
        test.said = message(event.get("longrepr"))


def outcome_of(phases: Iterable[tuple[str, str]]) -> str:
    """Return the outcome of a test from its phases, each with its outcome; a phase may repeat, as for subtests.

    As in pytest's JUnit, an error of set-up or tear-down is worse than a failure. Raises DamageError for an outcome
    that pytest does not have.
    """
    found = list(phases)
    if unknown := next((outcome for _, outcome in found if outcome not in _OUTCOMES), None):
        raise DamageError(f"pytest has no outcome {unknown!r}")
    failed = [when for when, outcome in found if outcome == "failed"]
    if failed:
        return ERROR if set(failed) - {"call"} else FAILED
    return SKIPPED if any(outcome == "skipped" for _, outcome in found) else PASSED


def message(representation: Any) -> str:  # noqa: ANN401  # as pytest writes it
    """Return the text of a failure: the assertion and its place, or the whole where pytest has no crash of it."""
    crash = inside(representation, "reprcrash")
    if isinstance(crash, Mapping):
        return f"{crash.get('message')}\n{crash.get('path')}:{crash.get('lineno')}"
    return representation if isinstance(representation, str) else ""
