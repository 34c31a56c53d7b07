"""Explain the result of one iteration: score, alerts, decision, changes, and the checks that ran."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from ralph_tracker.core.best import Candidate, why_best
from ralph_tracker.core.codec import decode
from ralph_tracker.core.records import RecordDocument
from ralph_tracker.core.rules import Rules
from ralph_tracker.errors import RecordError, StoreError
from ralph_tracker.iteration.diff import (
    ComponentShare,
    Differences,
    DifferencesDocument,
    component_shares,
    condition_of,
    differences_document,
    differences_of,
    why_raised,
)
from ralph_tracker.store.iteration_files import CHECKS, CheckDocument
from ralph_tracker.store.layout import iteration_name
from ralph_tracker.store.loop_reader import LoopReader
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.reading import read_json
from ralph_tracker.store.records import LoopRecords

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The explanation of a recorded iteration.

    `alerts` are reasons by the id of a new alert. `rule` is the row of the decision table with its condition, None if
    unknown. `compared_with` is the iteration that this one descends from, None for the baseline. `best` are up to three
    sentences on why it is the best iteration, () if it is not. `checks` are the results of the commands, None if none
    ran or they were not kept; `output` is the folder of their output, relative to the root. `problem` says what could
    not be read.
    """

    components: tuple[ComponentShare, ...]
    alerts: Mapping[str, str]
    rule: tuple[int, str] | None
    compared_with: int | None
    best: tuple[str, ...]
    differences: Differences
    checks: tuple[CheckDocument, ...] | None
    output: str | None
    problem: str | None


def explain(committed: LoopRecords, document: Document) -> Explanation:
    """Explain an iteration of one of our loops from its record and what is kept beside it."""
    record = document["iteration_metrics"]
    number, previous = record["iteration"], record["previous_iteration"]
    rules = problem = None
    try:  # the frozen thresholds: current ones could differ
        rules = LoopReader.read(LoopStore(committed.paths), lambda _: frozenset()).config.rules
    except (RecordError, StoreError) as error:
        problem = str(error)
    there = (committed.paths.iteration(number) / "output").is_dir()
    return Explanation(
        components=component_shares(record["weights"], record["components"]) if record["score"] == "computed" else (),
        alerts={} if rules is None else {alert["id"]: why_raised(alert, record, rules) for alert in record["alerts"]},
        rule=None if rules is None else _rule(committed, number, rules),
        compared_with=previous,
        best=() if rules is None else _why_best(committed, number, rules),
        differences=Differences() if previous is None else differences_of(committed, previous, number),
        checks=checks_of(committed, number),
        output=f"{committed.paths.shown}/iterations/{iteration_name(number)}/output" if there else None,
        problem=problem,
    )


def _why_best(committed: LoopRecords, number: int, rules: Rules) -> tuple[str, ...]:
    try:
        summary = committed.summary()
        if summary.best_iteration != number:
            return ()
        scorer = committed.state(summary, rules).scorer
        rows, _ = committed.rows()
    except RecordError:
        return ()  # what is derived is damaged: the next hook makes it again
    return why_best((decode(Candidate, row["candidate"]) for row in rows), scorer)


def _rule(committed: LoopRecords, number: int, rules: Rules) -> tuple[int, str] | None:
    kept = read_json(committed.paths.iteration(number) / "state.json")
    try:
        rule = int(kept["summary"]["decision"]["rule"])
    except (KeyError, TypeError, ValueError):
        return None
    return rule, condition_of(rule, rules)


def checks_of(committed: LoopRecords, number: int) -> tuple[CheckDocument, ...] | None:
    """Return how each check of an iteration ended, None where that is not known."""
    kept = read_json(committed.paths.iteration(number) / CHECKS)
    checks = kept.get("checks") if isinstance(kept, dict) else None
    keys = CheckDocument.__required_keys__
    whole = isinstance(checks, list) and all(isinstance(each, dict) and each.keys() >= keys for each in checks)
    return tuple(checks) if isinstance(checks, list) and whole else None


class ShareDocument(TypedDict):
    """`value` is 0 to 100; `contribution` is what it brings to the score of 0 to 1."""

    name: str
    dimension: str
    value: float | None
    weight: float
    contribution: float


class RuleDocument(TypedDict):
    number: int
    condition: str


class ExplanationDocument(DifferencesDocument):
    """`rule` is the row of the decision table; `output` is the folder of what the checks printed."""

    components: list[ShareDocument]
    alerts: dict[str, str]
    rule: RuleDocument | None
    compared_with: int | None
    best: list[str]
    checks: list[CheckDocument] | None
    output: str | None


class ExplainedDocument(RecordDocument):
    explanation: ExplanationDocument


def explanation_document(found: Explanation) -> ExplanationDocument:
    """Return it as a document."""
    return {
        "components": [
            {
                "name": share.name,
                "dimension": share.dimension,
                "value": share.value,
                "weight": share.weight,
                "contribution": share.contribution,
            }
            for share in found.components
        ],
        "alerts": dict(found.alerts),
        "rule": None if found.rule is None else {"number": found.rule[0], "condition": found.rule[1]},
        "compared_with": found.compared_with,
        "best": list(found.best),
        **differences_document(found.differences, patches=False),
        "checks": None if found.checks is None else list(found.checks),
        "output": found.output,
    }
