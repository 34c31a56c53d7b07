"""The JSON lines of `dart test --reporter=json` and `flutter test --machine`.

Hidden tests (loading a file, successful set-up and tear-down) do not count. A test that never ended is in error.
Without the final event `done` the report is whole only if all announced suites and tests have ended.
"""

from typing import Final

from ralph_tracker.core.known_tests import WHOLE_RUN
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.json_reader import Object, number, objects, text
from ralph_tracker.formats.parsed_report import DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError, json_lines
from ralph_tracker.formats.tests.case_collector import (
    ERROR,
    CaseCollector,
    case_id,
    contradiction,
    file_name,
)

_OUTCOMES: Final = {"success": PASSED, "failure": FAILED, "error": ERROR}


def _is_start(event: Object) -> bool:
    return event.get("type") == "start" and "protocolVersion" in event


sniff: Final = json_lines(_is_start)


def read(content: Content) -> TestReport:
    """Read the report. Raises DamageError if it was cut short, or has a result unknown to Dart."""
    run = _Run(content.folders)
    for _, event in objects(content):
        if event is None or not isinstance(event.get("type"), str):
            run.skipped_lines += 1
        else:
            run.feed(event)
    return run.report()


class _Run:
    """The events of one run; tests and suites are identified by number."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self._folders = folders
        self.skipped_lines = 0
        self._started = False
        self._suites: dict[object, str] = {}
        self._announced: float | None = None
        self._expected = 0.0
        self._tests: dict[object, Object] = {}
        self._ends: dict[object, Object] = {}
        self._errors: dict[object, str] = {}
        self._done: Object | None = None

    def feed(self, event: Object) -> None:
        """Handle one event."""
        kind = event["type"]
        if _is_start(event):
            self._started = True
        elif kind == "done":
            self._done = event
        elif kind == "allSuites":
            self._announced = number(event, "count")
        elif kind == "error":
            self._errors.setdefault(number(event, "testID"), text(event, "error"))
        elif kind == "testDone":
            self._ends[number(event, "testID")] = event
        elif isinstance(event.get(kind.removesuffix("Start")), dict):
            part = event[kind.removesuffix("Start")]
            if kind == "suite":
                self._suites[number(part, "id")] = file_name(text(part, "path"), self._folders)
            elif kind == "group" and part.get("parentID") is None:
                self._expected += number(part, "testCount") or 0
            elif kind == "testStart":
                self._tests[number(part, "id")] = {**event, **part}

    def report(self) -> TestReport:
        """Return the report of the run."""
        if not self._started:
            raise DamageError("the event that starts the report is missing")
        cases, unfinished = CaseCollector(), 0
        for number_, test in self._tests.items():
            end = self._ends.get(number_)
            case = case_id(self._suites.get(number(test, "suiteID"), ""), text(test, "name"))
            if end is None:
                unfinished += 1
                cases.add(case, ERROR, said=self._errors.get(number_))
            elif end.get("hidden") is not True:
                result = text(end, "result")
                if result not in _OUTCOMES:
                    raise DamageError(f"result is {result[:40]!r}, which Dart does not have")
                began, ended = number(test, "time"), number(end, "time")
                cases.add(
                    case,
                    SKIPPED if end.get("skipped") is True else _OUTCOMES[result],
                    None if began is None or ended is None else (ended - began) / 1000,
                    said=self._errors.get(number_),
                )
                if text(test, "name").startswith("loading "):
                    cases.add_not_loaded(self._suites.get(number(test, "suiteID"), ""), self._errors.get(number_, ""))
        whole = self._announced == len(self._suites) and self._expected <= len(cases.outcomes)
        if self._done is None and (unfinished or not whole):
            raise DamageError("cut short: the event that ends the report (done) is missing")
        if self._done is not None and self._done.get("success") is not True and not cases.failed:
            cases.add(WHOLE_RUN, ERROR)
        declared = DeclaredCounts(tests=int(self._expected)) if self._expected else DeclaredCounts()
        # Files that failed to load or set up add to the announced ones.
        found = len(cases.outcomes)
        return cases.report(
            declared,
            contradiction=contradiction(declared, cases, (found,) if found > (declared.tests or 0) else ()),
            skipped_lines=self.skipped_lines,
        )
