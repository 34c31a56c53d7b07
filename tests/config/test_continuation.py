"""The section `continuation`: the defaults of the strategy, and its seed's own keys."""

import pytest
import yaml

from ralph_tracker.config.load import config_of
from ralph_tracker.config.schema import ConfigDocument
from ralph_tracker.errors import ConfigError
from ralph_tracker.steering import (
    ComplexityLimits,
    ComplexityThresholds,
    ContinuationThresholds,
    Parts,
    ProgressThresholds,
    TokenBudget,
    VerdictThresholds,
    continuation_thresholds_of,
)
from tests.tables import table

SEED = """
continuation:
  progress:
    min_files_per_intervention: 0.5
    max_revisits_before_nudge: 3
  complexity:
    simple:
      max_interventions: 2
      max_iterations: 5
      tool_budget: 10
    medium:
      max_interventions: 5
      max_iterations: 15
      tool_budget: 25
    complex:
      max_interventions: 10
      max_iterations: 50
      tool_budget: 100
  token_budgets:
    exploration: 0.25
    synthesis: 0.15
    soft_limit: 0.20
"""


def thresholds_of(text):
    return continuation_thresholds_of(config_of(yaml.safe_load(text), "the file").document["continuation"])


def test_the_defaults_are_those_of_the_strategy():
    assert thresholds_of("{}") == ContinuationThresholds()


def test_the_seeds_configuration_is_taken_as_it_stands():
    thresholds = thresholds_of(SEED)
    assert thresholds.complexity == ComplexityThresholds(
        simple=ComplexityLimits(2, 5, 10, 0.25),
        medium=ComplexityLimits(5, 15, 25, 0.50),
        complex=ComplexityLimits(10, 50, 100, 1.00),
        generation=ComplexityLimits(15, 35, 50, 0.75),
    )
    assert thresholds.token_budgets == TokenBudget(128_000, soft=0.20, hard=0.25, synthesis=0.15)
    assert thresholds.progress == ProgressThresholds(full_velocity=0.5, stuck_repeats=3)


def test_every_key_reaches_the_strategy():
    text = """
    continuation:
      progress: {velocity_turns: 7, min_files_per_intervention: 0.25, max_revisits_before_nudge: 4}
      complexity: {simple: {share: 0.1}, large_context: 5}
      token_budgets: {context_window: 200000, soft: 0.4, hard: 0.9, synthesis: 0.05}
      weights: {velocity: 0.2, not_stuck: 0.2, tokens: 0.2, interventions: 0.2, complexity: 0.2}
      score: {continue_from: 0.7, nudge_from: 0.2, warm_up_turns: 0}
    """
    thresholds = thresholds_of(text)
    assert thresholds.progress == ProgressThresholds(7, 0.25, 4)
    assert thresholds.complexity.simple == ComplexityLimits(5, 10, 10, 0.1)
    assert thresholds.token_budgets == TokenBudget(200_000, 0.4, 0.9, 0.05)
    assert thresholds.weights == Parts(0.2, 0.2, 0.2, 0.2, 0.2)
    assert (thresholds.complexity.large_context, thresholds.score) == (5, VerdictThresholds(0.7, 0.2, 0))


@pytest.mark.parametrize(
    ("section", "names"),
    [
        ("Progress", {"full_velocity", "min_files_per_intervention", "stuck_repeats"}),
        ("TokenBudgets", {"soft", "soft_limit", "hard", "exploration", "synthesis"}),
    ],
)
def test_the_published_schema_knows_both_names(section, names):
    assert names <= ConfigDocument.model_json_schema()["$defs"][section]["properties"].keys()


# id: section, the one line that it gets
BAD = {
    "soft over hard": ("token_budgets: {hard: 0.2}", "token_budgets: soft is 0.3, more than hard, 0.2"),
    "nudge over continue": ("score: {nudge_from: 0.7}", "score: nudge_from is 0.7, more than continue_from, 0.6"),
    "weights": ("weights: {velocity: 0.5}", "weights: the weights sum to 1.2, not to 1"),
    "both names": ("token_budgets: {soft: 0.1, soft_limit: 0.1}", "token_budgets.soft_limit: another name of a key"),
    "unknown": ("complexity: {simpel: {}}", "complexity.simpel: unknown key; did you mean simple?"),
    "no turns": ("progress: {velocity_turns: 0}", "progress.velocity_turns: should be greater than or equal to 1"),
    "no velocity": ("progress: {full_velocity: 0}", "progress.full_velocity: should be greater than 0"),
}


@table("case", BAD)
def test_what_cannot_be_used_gets_one_line_with_its_place(case):
    section, line = BAD[case]
    with pytest.raises(ConfigError) as caught:
        thresholds_of(f"continuation: {{{section}}}")
    assert str(caught.value).startswith(f"the file: continuation.{line}")
