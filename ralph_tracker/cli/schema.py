"""ralph-tracker schema: the shape of what is handed in, and of what every `--json` prints."""

from typing import Any, Final

import click
from msgspec.json import schema_components
from pydantic import BaseModel

from ralph_tracker.cli.accept import AcceptanceDocument
from ralph_tracker.cli.app import FailureDocument
from ralph_tracker.cli.compare import ComparisonDocument
from ralph_tracker.cli.doctor import ExaminationDocument
from ralph_tracker.cli.flaky import FlakyDocument
from ralph_tracker.cli.questions import QuestionsDocument
from ralph_tracker.cli.read import ReadDocument
from ralph_tracker.cli.replay import ReplayDocument
from ralph_tracker.cli.report import ReportDocument
from ralph_tracker.cli.restore import RestoreDocument
from ralph_tracker.cli.simulate import SimulationDocument
from ralph_tracker.cli.stats import StatsDocument
from ralph_tracker.cli.strength import StrengthDocument
from ralph_tracker.cli.terminal import say_json
from ralph_tracker.cli.verify import VerificationDocument
from ralph_tracker.config.schema import ConfigDocument
from ralph_tracker.iteration.diff import DiffDocument
from ralph_tracker.iteration.explain import ExplainedDocument
from ralph_tracker.iteration.gate_worktree import GateDocument
from ralph_tracker.iteration.open_problems import IntegrityDocument
from ralph_tracker.loop.retention import CollectionDocument
from ralph_tracker.loop.status import LoopsDocument, StatusDocument
from ralph_tracker.measure.handed_in_models import GivenMetrics, GivenUsage
from ralph_tracker.records.iteration_record import DecisionDocument, RecordDocument
from ralph_tracker.records.output_selection import SelectionDocument
from ralph_tracker.steering.plan import ShownPlanDocument
from ralph_tracker.store.iteration_snapshots import UndoDocument

_REFERENCE: Final = "#/$defs/"
SCHEMAS: Final[dict[str, Any]] = {
    "config": ConfigDocument,
    "metrics": GivenMetrics,
    "usage": GivenUsage,
    "record": RecordDocument,
    "decision": DecisionDocument,
    "selection": SelectionDocument,
    "status": StatusDocument,
    "loops": LoopsDocument,
    "history": list[RecordDocument],
    "stats": StatsDocument,
    "strength": StrengthDocument,
    "flaky": FlakyDocument,
    "show": ExplainedDocument,
    "diff": DiffDocument,
    "acceptance": AcceptanceDocument,
    "report": ReportDocument,
    "restore": RestoreDocument,
    "undos": list[UndoDocument],
    "verify": VerificationDocument,
    "gc": CollectionDocument,
    "doctor": ExaminationDocument,
    "gate": GateDocument,
    "integrity": IntegrityDocument,
    "questions": QuestionsDocument,
    "read": list[ReadDocument],
    "simulate": SimulationDocument,
    "plan": ShownPlanDocument,
    "replay": ReplayDocument,
    "compare": ComparisonDocument,
    "error": FailureDocument,
}
NAMES: Final = tuple(SCHEMAS)


def schema_of(shape: Any) -> dict[str, Any]:  # noqa: ANN401  # a model, a TypedDict or a list of one
    """Return the JSON Schema of a document; no object of ours has other keys than those described."""
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return shape.model_json_schema()
    (root,), definitions = schema_components([shape], ref_template=_REFERENCE + "{name}")
    for each in definitions.values():
        if "properties" in each:
            each["additionalProperties"] = False
    if "$ref" in root:
        root = definitions.pop(root["$ref"].removeprefix(_REFERENCE))
    return {**root, "$defs": definitions} if definitions else root


@click.command("schema")
@click.argument("name", type=click.Choice(NAMES), metavar="NAME")
def command(name: str) -> None:
    """Print the JSON Schema NAME.

    config, metrics and usage are handed in. record is printed by pre-loop and post-iteration; decision by
    loop-decision; selection by post-loop and select-best; undos by restore --list; loops is /api/loops of serve; error
    by each --json that fails; the others by the verb of their name (acceptance: accept).
    """
    say_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema_of(SCHEMAS[name])})
