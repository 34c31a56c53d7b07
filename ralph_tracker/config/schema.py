"""The configuration as people write it: one pydantic model a section, unknown keys refused."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, ConfigDict, Field, ValidationError, model_validator

from ralph_tracker.config.continuation import ContinuationSection
from ralph_tracker.config.problems import first_problem
from ralph_tracker.config.sections import Amount, Section, Share, also_by_their_other_names, with_a_sum_of_one
from ralph_tracker.core.rules import SelectionMode
from ralph_tracker.errors import ConfigError
from ralph_tracker.formats.lint.severity import Severity


class LoopSection(Section):
    """Where a loop ends; null is no limit."""

    model_config = ConfigDict(json_schema_extra=also_by_their_other_names)

    max_iterations: Annotated[int, Field(ge=1)] | None = 20
    target_score: Share | None = 0.90
    max_cost_usd: Amount | None = Field(None, validation_alias=AliasChoices("max_cost_usd", "hardLimitUsd"))
    warn_at_usd: Amount | None = Field(None, validation_alias=AliasChoices("warn_at_usd", "warnAtUsd"))
    max_minutes: Amount | None = None


class CheckSection(Section):
    """One command that measures: a string goes through /bin/sh, a list is argv."""

    run: str | list[str]
    reports: list[str] = []
    format: str | None = None
    kind: Literal["tests", "coverage", "lint", "types", "build", "integrity"] | None = None
    cwd: str = "."
    env: dict[str, str] = {}
    needs: list[str] = []
    timeout: str | int = "15m"


class CodebaseSection(Section):
    """Which files are counted as code, and whether the files of iterations with metrics handed in are kept.

    `auto` keeps them in a git repository; those of iterations that checks measure are kept by `auto` and `always`.
    """

    include: list[str] = ["**"]
    exclude: list[str] = []
    keep: Literal["auto", "always", "never"] = "auto"


class AlertsSection(Section):
    """Points, a count, a share of the previous value."""

    coverage_drop: Amount = 2.0
    error_increase: Annotated[int, Field(ge=0)] = 5
    complexity_growth: Amount = 0.5


class ClassificationSection(Section):
    """Points, percent, and a band of the score."""

    pass_rate_drop: Amount = 5.0
    coverage_drop: Amount = 2.0
    good_pass_rate: Annotated[float, Field(ge=0, le=100)] = 90.0
    score_band: Share = 0.02


class StallSection(Section):
    """How many iterations, and how little they may move."""

    window: Annotated[int, Field(ge=2, le=100)] = 3
    tolerance: Amount = 2.0
    variance: Amount = 0.02
    score_gain: Share = 0.005


class CyclingSection(Section):
    """How far back cycles are looked for, and from when on one ends the loop."""

    window: Annotated[int, Field(ge=5, le=100)] = 5
    terminate_after: Annotated[int, Field(ge=0)] = 10
    score_change: Share = 0.005
    tree_visits: Annotated[int, Field(ge=2)] = 3


class DecisionSection(Section):
    """When a regression is rolled back, and when a person is asked."""

    rollback_margin: Share = 0.1
    evidence: Share = 0.6
    rollbacks_in_a_row: Annotated[int, Field(ge=1)] = 3


class WeightsSection(Section):
    """The weights of the dimensions; they sum to 1."""

    validation: Share = 0.30
    completeness: Share = 0.25
    correctness: Share = 0.25
    readability: Share = 0.10
    efficiency: Share = 0.10

    @model_validator(mode="after")
    def _sum_to_one(self) -> Self:
        return with_a_sum_of_one(self)


class ScoreSection(Section):
    """Weights, and the score from which a selection counts as accepted."""

    weights: WeightsSection = WeightsSection()
    acceptance: Share = 0.70


class IntegritySection(Section):
    """Who compares the files of iterations: our own rules, or a tool whose JSON a check of kind integrity reports."""

    tool: Literal["builtin", "checkwash", "tampercheck"] = "builtin"


class CheckpointsSection(Section):
    """When a plan pauses for a person (steering § 4): after how many tasks, and what holds where nobody is there.

    null never pauses for the number of tasks; a test failure and the costs of `loop` do in any case.
    """

    every: Annotated[int, Field(ge=1)] | None = None
    unattended: Literal["abort", "continue"] = "abort"


class SelectionSection(Section):
    """Which iteration is taken at the end."""

    mode: SelectionMode = "highest_quality_verified"


class ConfigDocument(Section):
    """The whole of ralph-tracker.yaml, or of [tool.ralph-tracker]."""

    version: Literal[1] = 1
    loop: LoopSection = LoopSection()
    checks: dict[str, CheckSection] = {}
    codebase: CodebaseSection = CodebaseSection()
    alerts: AlertsSection = AlertsSection()
    classification: ClassificationSection = ClassificationSection()
    stall: StallSection = StallSection()
    cycling: CyclingSection = CyclingSection()
    decision: DecisionSection = DecisionSection()
    score: ScoreSection = ScoreSection()
    selection: SelectionSection = SelectionSection()
    integrity: IntegritySection = IntegritySection()
    checkpoints: CheckpointsSection = CheckpointsSection()
    continuation: ContinuationSection = ContinuationSection()
    severity: dict[str, Severity] = Field(
        default={},
        description="The severity of linters' findings by the beginning of their codes; the longest beginning wins.",
    )

    @model_validator(mode="after")
    def _tool_has_its_check(self) -> Self:
        kinds = [section.kind or name for name, section in self.checks.items()]
        if self.integrity.tool != "builtin" and "integrity" not in kinds:
            msg = f"integrity.tool: {self.integrity.tool} needs a check of kind integrity whose report is its JSON"
            raise ValueError(msg)
        return self


def validated(raw: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return every key of a configuration with its value; `name` is how an error calls it. Raises ConfigError."""
    try:
        return ConfigDocument.model_validate(raw).model_dump(mode="json")
    except ValidationError as error:
        raise ConfigError(f"{name}: {first_problem(error, ConfigDocument)}") from None
