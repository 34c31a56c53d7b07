"""Compute what a run's tokens cost, by prices of models, where the agent reports no cost.

The price of a model is that of the configuration, else the list price.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from ralph_tracker.agents.output.run_report import ModelTokens
from ralph_tracker.core.metrics import Usage

ANY: Final = "*"


class Price(NamedTuple):
    """A model's price in USD for a million tokens; input that was read from a cache counts in full."""

    input: float
    output: float


# As published in 2026-11; `prices:` of the configuration replaces them.
LIST_PRICES: Final[Mapping[str, Price]] = {
    "claude-haiku-4-5": Price(1.0, 5.0),
    "claude-opus-4-5": Price(5.0, 25.0),
    "claude-opus-4-6": Price(5.0, 25.0),
    "claude-opus-4-7": Price(5.0, 25.0),
    "claude-opus-4-8": Price(5.0, 25.0),
    "claude-opus-5": Price(5.0, 25.0),
    "claude-sonnet-4-5": Price(3.0, 15.0),
    "claude-sonnet-4-6": Price(3.0, 15.0),
    "claude-sonnet-5": Price(2.0, 10.0),
    "gpt-5": Price(1.25, 10.0),
    "gpt-5-codex": Price(1.25, 10.0),
    "gpt-5-mini": Price(0.25, 2.0),
    "gpt-5.1": Price(1.25, 10.0),
    "gpt-5.1-codex": Price(1.25, 10.0),
    "gpt-5.1-codex-max": Price(1.25, 10.0),
    "gpt-5.1-codex-mini": Price(0.25, 2.0),
    "gpt-5.2": Price(1.75, 14.0),
    "gpt-5.2-codex": Price(1.75, 14.0),
    "gpt-5.3-codex": Price(1.75, 14.0),
    "gpt-5.4": Price(2.50, 15.0),
    "gpt-5.4-mini": Price(0.75, 4.50),
    "gpt-5.5": Price(5.0, 30.0),
    "gpt-5.6-sol": Price(5.0, 30.0),
    "gemini-2.5-flash": Price(0.30, 2.50),
    "gemini-2.5-flash-lite": Price(0.10, 0.40),
    "gemini-2.5-pro": Price(1.25, 10.0),
    "gemini-3-pro-preview": Price(2.0, 12.0),
    "gemini-3.1-pro-preview": Price(2.0, 12.0),
    "gemini-3.5-flash": Price(1.50, 9.0),
    "gemini-3.5-flash-lite": Price(0.30, 2.50),
    "gemini-3.6-flash": Price(1.50, 7.50),  # from 2027 on; half of it before
    "gemini-3.7-flash": Price(1.50, 7.50),
    "gemini-3.8-flash": Price(1.50, 7.50),
}


def prices_of(section: Mapping[str, Any]) -> dict[str, Price]:
    """Return the list prices with those of a configuration's `prices:` over them."""
    return {**LIST_PRICES, **{model: Price(each["input"], each["output"]) for model, each in section.items()}}


def model_in(command: Sequence[str]) -> str | None:
    """Return the model that an agent's command names with `--model` or `-m`, None if it names none."""
    for word, following in zip(command, (*command[1:], ""), strict=True):
        if word in ("--model", "-m") and following:
            return following.rpartition("/")[2]
        if word.startswith("--model="):
            return word.partition("=")[2].rpartition("/")[2]
    return None


def add_cost(
    usage: Usage, command: Sequence[str], prices: Mapping[str, Price], models: Sequence[ModelTokens] = ()
) -> Usage:
    """Return the usage with its cost by the prices, unchanged where the agent reports one or a price is not known.

    `models` are those that the agent reports; the model that the command names is meant without any, and by a name that
    has no price. It is an upper bound, since agents report what they read from a cache as a part of their input.
    """
    if usage.cost_usd is not None or usage.input_tokens is None or usage.output_tokens is None:
        return usage
    named, costs = model_in(command) or ANY, []
    for model, read, written in models or [ModelTokens(named, usage.input_tokens, usage.output_tokens)]:
        price = prices.get(model, prices.get(named, prices.get(ANY)))
        if price is None:
            return usage
        costs.append((read * price.input + written * price.output) / 1_000_000)
    return usage._replace(cost_usd=round(sum(costs), 6))
