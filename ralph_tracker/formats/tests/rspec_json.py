"""RSpec's JSON report (`--format json`): one example is one case, errors outside of examples are cases in error."""

import re
from typing import Annotated, Any, Final, Literal

import msgspec

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.first_error import first_error
from ralph_tracker.formats.json_reader import Count, decode
from ralph_tracker.formats.parsed_report import DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, json_object
from ralph_tracker.formats.tests.case_collector import ERROR, CaseCollector, case_id, contradiction, file_name

sniff: Final = json_object("examples", "summary", "summary_line")
_OUTCOMES: Final = {"passed": PASSED, "failed": FAILED, "pending": SKIPPED}
_LOADING: Final = re.compile(r"An error occurred while loading (\S+?)\.?(?: - Did you mean\?)?$", re.MULTILINE)
_ERROR: Final = re.compile(r"^(\w*(?:Error|Exception)):\s+(.+)$", re.MULTILINE)
_OWN_FRAME: Final = re.compile(r"(?P<place>(?!.*/gems/)(?:\./)?[^\s/:][^\s:]*\.rb:\d+):in ")


class _Example(msgspec.Struct, gc=False):
    full_description: str
    status: Literal["passed", "failed", "pending"]
    file_path: str = ""
    line_number: int | None = None
    run_time: float | None = None
    exception: Any = None

    @property
    def said(self) -> str | None:
        """Return the message, and the first place in the project's own files."""
        error = self.exception if isinstance(self.exception, dict) else {}
        text, frames = error.get("message"), error.get("backtrace")
        if not isinstance(text, str):
            return None
        own = (found for each in frames if (found := _OWN_FRAME.match(str(each)))) if isinstance(frames, list) else ()
        listed = "" if self.line_number is None else f"{self.file_path}:{self.line_number}"
        return f"{text}\n{next((found['place'] for found in own), listed).removeprefix('./')}"


class _Summary(msgspec.Struct, gc=False):
    example_count: Count
    failure_count: Count
    pending_count: Count
    errors_outside_of_examples_count: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0  # since RSpec 3.6


class _Report(msgspec.Struct):
    examples: list[_Example]
    summary: _Summary
    messages: Any = None  # errors outside of examples


def read(content: Content) -> TestReport:
    """Read the report. Raises DamageError."""
    report = decode(content, _Report, "RSpec")
    cases = CaseCollector()
    for example in report.examples:
        case = case_id(file_name(example.file_path), example.full_description)
        cases.add(case, _OUTCOMES[example.status], example.run_time, said=example.said)
    said = report.summary
    declared = DeclaredCounts(tests=said.example_count, failures=said.failure_count, skipped=said.pending_count)
    wrong = contradiction(declared, cases)
    messages = report.messages if isinstance(report.messages, list) else []
    text = [each for each in messages if isinstance(each, str)]
    for number in range(said.errors_outside_of_examples_count):
        error = text[number] if number < len(text) else ""
        loading, found = _LOADING.search(error), _ERROR.search(error)
        if loading is None:
            cases.add("(outside of examples)", ERROR, said=error)
            continue
        file, first = file_name(loading[1]), first_error(error)
        why = first.line if first is not None else f"{found[1]}: {found[2]}" if found else error
        # The file could not be loaded.
        cases.add(case_id(file, "(test file)"), ERROR, said=why)
        cases.add_not_loaded(file, why)
    return cases.report(declared, contradiction=wrong)
