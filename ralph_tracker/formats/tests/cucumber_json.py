"""Cucumber's JSON report, of cucumber-js, Cucumber-JVM and others: features, scenarios, and the steps of these."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.parsed_report import TestReport
from ralph_tracker.formats.report_content import Content, DamageError, json_array
from ralph_tracker.formats.tests.case_collector import CaseCollector, case_id, file_name

sniff: Final = json_array("elements", "keyword", "uri")
_OUTCOMES: Final = {
    "passed": PASSED,
    "skipped": SKIPPED,
    **dict.fromkeys(("failed", "undefined", "ambiguous", "pending", "unknown"), FAILED),
}
_VALUE: Final = r"\"[^\"]*\"|'[^']*'|(?<![\w.])-?\d+(?:\.\d+)?(?!\w)"


class _Result(msgspec.Struct):
    status: str
    duration: float = 0
    error_message: Any = None


class _Step(msgspec.Struct):
    result: _Result
    name: str = ""
    keyword: str = ""


class _Scenario(msgspec.Struct):
    name: str = ""
    type: str = "scenario"
    line: int = 0
    steps: list[_Step] = []
    before: list[_Step] = []
    after: list[_Step] = []

    @property
    def all_steps(self) -> Iterator[_Step]:
        yield from (*self.before, *self.steps, *self.after)

    @property
    def values(self) -> str:
        """Return the numbers and quoted words in its steps."""
        return ", ".join(each for step in self.steps for each in re.findall(_VALUE, step.name))

    @property
    def texts(self) -> str:
        """Return the texts of its steps."""
        return ", ".join(step.name for step in self.steps if step.name)[:200]


class _Feature(msgspec.Struct):
    uri: str
    elements: list[_Scenario]
    name: str = ""


def read(content: Content) -> TestReport:
    """Read the scenarios: one fails with a step or hook that does, or that is undefined, ambiguous or pending.

    The steps of a background that stands for itself belong to the scenario after it. Raises DamageError.
    """
    cases = CaseCollector()
    for feature in decode(content, list[_Feature], "Cucumber"):
        background: list[_Step] = []
        names = _names([element for element in feature.elements if element.type != "background"])
        for element in feature.elements:
            steps = [*background, *element.all_steps]
            if element.type == "background":
                background = steps
                continue
            background = []
            name = " > ".join(filter(None, (feature.name, next(names))))
            seconds = sum(step.result.duration for step in steps) / 1e9
            outcome = _outcome(steps)
            cases.add(case_id(file_name(feature.uri, content.folders), name), outcome, seconds, said=_message(steps))
    return cases.report()


def _names(scenarios: list[_Scenario]) -> Iterator[str]:
    """Yield the name of each scenario; the rows of an outline share it and are told apart by their values.

    Where these are the same, it is by the texts of the steps, then by the line.
    """
    names = Counter(each.name for each in scenarios)
    values = Counter((each.name, each.values) for each in scenarios)
    texts = Counter((each.name, each.texts) for each in scenarios)
    for each in scenarios:
        if names[each.name] == 1:
            yield each.name
        elif all(number == 1 for (name, _), number in values.items() if name == each.name):
            yield f"{each.name} [{each.values}]"
        else:
            row = each.texts if texts[each.name, each.texts] == 1 else f"line {each.line}"
            yield f"{each.name} [{row}]"


def _outcome(steps: list[_Step]) -> str:
    outcomes = set()
    for step in steps:
        status = step.result.status.lower()
        if status not in _OUTCOMES:
            raise DamageError(f"Cucumber has no status {step.result.status!r}")
        outcomes.add(_OUTCOMES[status])
    return next((outcome for outcome in (FAILED, SKIPPED) if outcome in outcomes), PASSED)


def _message(steps: list[_Step]) -> str:
    """Return what the first step that failed says, or what is wrong with it."""
    for step in steps:
        if _OUTCOMES[step.result.status.lower()] == FAILED:
            said = step.result.error_message
            return said if isinstance(said, str) and said else f"{step.result.status}: {step.keyword}{step.name}"
    return ""
