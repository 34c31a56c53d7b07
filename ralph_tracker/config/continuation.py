"""The section `continuation`: the thresholds of `ralph_tracker.steering`, by our names and by those of its seed."""

from typing import Annotated, Self

from pydantic import AliasChoices, ConfigDict, Field, model_validator

from ralph_tracker.config.sections import Count, Section, Share, also_by_their_other_names, with_a_sum_of_one


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
