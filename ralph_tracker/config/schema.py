"""The configuration as people write it: one pydantic model a section, unknown keys refused."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from ralph_tracker.config.problems import first_problem
from ralph_tracker.config.wording import shortened
from ralph_tracker.core.rules import SelectionMode
from ralph_tracker.errors import ConfigError, InputError
from ralph_tracker.formats.lint.lint_report import Severity
from ralph_tracker.steering.plan import Plan, Task, is_usable_id

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
_Weights = TypeVar("_Weights", bound=BaseModel)
_SUM_TOLERANCE = 1e-6


class Section(BaseModel):
    """Keys as they are named here and no others, values as they are typed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


def also_by_their_other_names(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Let the published schema take what the model takes: a key by any of its names."""
    names = {name: model.model_fields[name].validation_alias for name in schema["properties"]}
    for name, alias in names.items():
        if isinstance(alias, AliasChoices):
            schema["properties"] |= {str(other): schema["properties"][name] for other in alias.choices}


def with_a_sum_of_one(weights: _Weights) -> _Weights:
    """Return weights that sum to 1. Raises ValueError for others."""
    total = sum(getattr(weights, name) for name in type(weights).model_fields)
    if abs(total - 1) > _SUM_TOLERANCE:
        raise ValueError(f"the weights sum to {total:g}, not to 1")
    return weights


class _LimitsSection(Section):
    """How many nudges, turns and tool calls a task is allowed, and its share of the score."""

    max_interventions: Count
    max_iterations: Count
    tool_budget: Count
    share: Share


class SimpleSection(_LimitsSection):
    """A question."""

    max_interventions: Count = 5
    max_iterations: Count = 10
    tool_budget: Count = 10
    share: Share = 0.25


class MediumSection(_LimitsSection):
    """Any other task."""

    max_interventions: Count = 10
    max_iterations: Count = 25
    tool_budget: Count = 25
    share: Share = 0.50


class ComplexSection(_LimitsSection):
    """Several deliverables, a whole system, or a large context."""

    max_interventions: Count = 20
    max_iterations: Count = 50
    tool_budget: Count = 100
    share: Share = 1.00


class GenerationSection(_LimitsSection):
    """Something new to write."""

    max_interventions: Count = 15
    max_iterations: Count = 35
    tool_budget: Count = 50
    share: Share = 0.75


class ComplexitySection(Section):
    """The limits of a session by how large its task is; from how many tokens of context on it is complex."""

    simple: SimpleSection = SimpleSection()
    medium: MediumSection = MediumSection()
    complex: ComplexSection = ComplexSection()
    generation: GenerationSection = GenerationSection()
    large_context: Count = 100_000


class ProgressSection(Section):
    """Over how many turns velocity is taken, where it scores in full, and from how many repeats on it is stuck."""

    model_config = ConfigDict(json_schema_extra=also_by_their_other_names)

    velocity_turns: Annotated[int, Field(ge=1, le=100)] = 5
    full_velocity: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        0.5, validation_alias=AliasChoices("full_velocity", "min_files_per_intervention")
    )
    stuck_repeats: Count = Field(3, validation_alias=AliasChoices("stuck_repeats", "max_revisits_before_nudge"))


class TokenBudgetsSection(Section):
    """The context window in tokens, and shares of it: to nudge, to force, and what the final answer needs."""

    model_config = ConfigDict(json_schema_extra=also_by_their_other_names)

    context_window: Count = 128_000
    soft: Share = Field(0.30, validation_alias=AliasChoices("soft", "soft_limit"))
    hard: Share = Field(0.70, validation_alias=AliasChoices("hard", "exploration"))
    synthesis: Share = 0.15

    @model_validator(mode="after")
    def _soft_comes_first(self) -> Self:
        if self.soft > self.hard:
            raise ValueError(f"soft is {self.soft:g}, more than hard, {self.hard:g}; a session is nudged before")
        return self


class PartsSection(Section):
    """The weights of the parts of a session's score; they sum to 1."""

    velocity: Share = 0.30
    not_stuck: Share = 0.25
    tokens: Share = 0.20
    interventions: Share = 0.15
    complexity: Share = 0.10

    @model_validator(mode="after")
    def _sum_to_one(self) -> Self:
        return with_a_sum_of_one(self)


class ContinuationScoreSection(Section):
    """From which score on a session goes on, or is nudged and not forced, and which turns are left alone."""

    continue_from: Share = 0.6
    nudge_from: Share = 0.3
    warm_up_turns: Annotated[int, Field(ge=0)] = 3

    @model_validator(mode="after")
    def _nudge_comes_first(self) -> Self:
        if self.nudge_from > self.continue_from:
            raise ValueError(f"nudge_from is {self.nudge_from:g}, more than continue_from, {self.continue_from:g}")
        return self


class ContinuationSection(Section):
    """When a session is nudged or forced to come to its result; also as its seed writes it.

    `enabled` false leaves the sessions alone that our hooks hear. `turn_limits` true holds those to the turns and tool
    calls of `complexity` too: the seed's are made for answers, and an iteration of code takes more. `quality` true
    stops them, too, for what the tracker has on record.
    """

    enabled: bool = True
    turn_limits: bool = False
    quality: bool = False
    progress: ProgressSection = ProgressSection()
    complexity: ComplexitySection = ComplexitySection()
    token_budgets: TokenBudgetsSection = TokenBudgetsSection()
    weights: PartsSection = PartsSection()
    score: ContinuationScoreSection = ContinuationScoreSection()


_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class TaskSection(Section):
    """One task: its checks are commands, or names of checks of the configuration."""

    id: str | int
    title: _Words
    description: str = ""
    checks: list[_Words] = []

    @model_validator(mode="after")
    def _id_is_one_word(self) -> Self:
        if not is_usable_id(str(self.id)):
            msg = f"id {shortened(self.id)}: use letters, digits, `_`, and `-` or `.` between them; `skip` is taken"
            raise ValueError(msg)
        return self


class PlanDocument(Section):
    """The whole of a plan file."""

    version: Literal[1] = 1
    context: str = ""
    tasks: list[TaskSection]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        if not self.tasks:
            msg = "tasks: none; name at least one, with id and title"
            raise ValueError(msg)
        seen: set[str] = set()
        for task in self.tasks:
            if str(task.id) in seen:
                msg = f"tasks: id {task.id} stands twice; each needs its own"
                raise ValueError(msg)
            seen.add(str(task.id))
        return self


def plan_of(raw: Any, name: str) -> Plan:  # noqa: ANN401  # as parsed
    """Return the plan that a parsed document holds; `name` is how an error calls it.

    Raises InputError, in one line, for what is no plan.
    """
    try:
        document = PlanDocument.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{name}: {first_problem(error, PlanDocument)}") from None
    return Plan(
        tuple(
            Task(str(task.id), " ".join(task.title.split()), task.description, tuple(task.checks))
            for task in document.tasks
        ),
        document.context,
    )


class LoopSection(Section):
    """Where a loop ends; null is no limit."""

    model_config = ConfigDict(json_schema_extra=also_by_their_other_names)

    max_iterations: Annotated[int, Field(ge=1)] | None = 20
    target_score: Share | None = None
    max_cost_usd: Amount | None = Field(None, validation_alias=AliasChoices("max_cost_usd", "hardLimitUsd"))
    warn_at_usd: Amount | None = Field(None, validation_alias=AliasChoices("warn_at_usd", "warnAtUsd"))
    max_minutes: Amount | None = None


class CheckSection(Section):
    """One command that measures: a string goes through /bin/sh, a list is argv.

    `held_back` is a folder of tests outside of the project: it is copied into a scratch tree, and the check runs there.
    """

    run: str | list[str]
    reports: list[str] = []
    format: str | None = None
    kind: Literal["tests", "coverage", "lint", "types", "build", "integrity"] | None = None
    cwd: str = "."
    env: dict[str, str] = {}
    needs: list[str] = []
    timeout: str | int = "15m"
    held_back: str | None = None


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
    """When earlier tests are run on new source, for how long at most, and who looks at the change beside it.

    `each` runs them in every iteration in which a test file is not as it was when its tests were first seen, `touched`
    only where it was edited in that iteration. The tool is our own rules, or one whose JSON a check of kind integrity
    reports.
    """

    tool: Literal["builtin", "checkwash", "tampercheck"] = "builtin"
    rerun: Literal["each", "touched", "never"] = "each"
    rerun_timeout: str | int = "10m"


class CheckpointsSection(Section):
    """When a plan pauses for a person (steering § 4): after how many tasks, and what holds where nobody is there.

    null never pauses for the number of tasks; a test failure and the costs of `loop` do in any case.
    """

    every: Annotated[int, Field(ge=1)] | None = None
    unattended: Literal["abort", "continue"] = "abort"


class SelectionSection(Section):
    """Which iteration is taken at the end."""

    mode: SelectionMode = "believed"


class ConfigDocument(Section):
    """The whole of ralph-tracker.yaml, or of [tool.ralph-tracker]."""

    version: Literal[1] = 1
    plan: str | None = Field(
        default=None, description="The file whose task boxes are counted; the usual names are looked for where null."
    )
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
