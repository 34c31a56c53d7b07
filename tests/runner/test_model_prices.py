"""The cost of tokens by a table where the agent reports none: of the model that its command names."""

import json

import pytest

from ralph_tracker.agents.output.run_report import ModelTokens
from ralph_tracker.core.metrics import Usage
from ralph_tracker.runner.model_prices import LIST_PRICES, Price, add_cost, model_in, prices_of
from tests.runner.conftest import step

TOKENS = Usage(input_tokens=1_000_000, output_tokens=100_000)


@pytest.mark.parametrize(
    ("command", "model"),
    [
        (("codex", "exec", "--model", "gpt-5", "-"), "gpt-5"),
        (("gemini", "-m", "gemini-2.5-pro"), "gemini-2.5-pro"),
        (("opencode", "run", "--model=openai/gpt-5"), "gpt-5"),
        (("codex", "exec", "-m"), None),
        (("codex", "exec", "-"), None),
    ],
)
def test_the_model_is_the_one_that_the_command_names(command, model):
    assert model_in(command) == model


@pytest.mark.parametrize(
    ("usage", "command", "section", "cost"),
    [
        (TOKENS, ("codex", "-m", "gpt-5"), {}, 2.25),
        (TOKENS, ("codex", "-m", "gpt-5"), {"gpt-5": {"input": 2.0, "output": 20.0}}, 4.0),
        (TOKENS, ("codex", "-m", "own"), {"own": {"input": 2.0, "output": 20.0, "cached_input": None}}, 4.0),
        (TOKENS, ("codex",), {"*": {"input": 1.0, "output": 1.0}}, 1.1),
        (TOKENS, ("codex", "-m", "own"), {"*": {"input": 1.0, "output": 1.0}}, 1.1),
        (TOKENS, ("codex",), {}, None),
        (TOKENS._replace(output_tokens=None), ("codex", "-m", "gpt-5"), {}, None),
        (TOKENS._replace(cost_usd=0.5), ("codex", "-m", "gpt-5"), {}, 0.5),
    ],
    ids=[
        "list",
        "own price",
        "own price, no cached one",
        "any model",
        "any other model",
        "no model",
        "half of the tokens",
        "the agent's own",
    ],
)
def test_tokens_are_priced_where_the_agent_reports_no_cost(usage, command, section, cost):
    assert add_cost(usage, command, prices_of(section)).cost_usd == cost


@pytest.mark.parametrize(
    ("models", "command", "cost"),
    [
        ([("gemini-2.5-pro", 10**6, 10**5), ("gemini-3.5-flash", 10**6, 0)], ("gemini",), 1.25 + 1.0 + 1.5),
        ([("gemini-2.5-pro", 10**6, 0), ("gemini-of-tomorrow", 10**6, 0)], ("gemini",), None),
        ([("gemini-2.5-pro-001", 10**6, 0)], ("gemini", "-m", "gemini-2.5-pro"), 1.25),
        ([("", 10**6, 10**5, 800_000)], ("codex", "-m", "gpt-5"), 0.25 + 0.1 + 1.0),
        ([("", 10**6, 0, 2 * 10**6)], ("codex", "-m", "gpt-5"), 0.125),
    ],
    ids=["each by its own price", "one has none", "a version of the one that is named", "cached", "all of it cached"],
)
def test_models_that_the_agent_reports_are_priced_one_by_one(models, command, cost):
    assert add_cost(TOKENS, command, prices_of({}), [ModelTokens(*each) for each in models]).cost_usd == cost


def test_a_configured_price_of_cached_input_is_used_and_without_one_it_costs_as_other_input():
    section = {"a": {"input": 2.0, "output": 20.0, "cached_input": 0.5}, "b": {"input": 2.0, "output": 20.0}}
    assert (prices_of(section)["a"].cached, prices_of(section)["b"].cached) == (0.5, 2.0)


def test_every_list_price_is_above_zero_and_output_costs_more():
    assert all(0 < price.cached < price.input < price.output for price in LIST_PRICES.values())
    assert isinstance(prices_of({})["gpt-5"], Price)


@pytest.mark.slow
def test_the_cost_limit_works_for_an_agent_that_reports_only_tokens(project):
    events = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "turn.completed", "usage": {"input_tokens": 800_000, "output_tokens": 100_000}},
    ]
    said = "\n".join(map(json.dumps, events))
    command = project.scripted(step(3, 1, prints=said), step(3, 1, prints=said), step(3, 1, prints=said))
    outcome = project.drive((*command, "sh", "--model", "gpt-5"), max_cost_usd=3.0, target_score=None)
    assert outcome.reason == "Cost limit reached: $4.00 of $3.00"
    assert project.records()[1]["usage"]["cost_usd"] == 2.0
