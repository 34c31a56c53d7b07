"""Compute what a run's tokens cost, by prices of models, where the agent reports no cost.

The price of a model is that of the configuration, else the list price.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from ralph_tracker.agents.output.run_report import ModelTokens
from ralph_tracker.core.metrics import Usage

ANY: Final = "*"


class Price(NamedTuple):
    """A model's price in USD for a million tokens; `cached` is that of input that was read from a cache."""

    input: float
    output: float
    cached: float


# Input and output as published in 2026-11; `prices:` of the configuration replaces them. Of each of these models, input
# that was read from a cache costs a tenth.
_LISTED: Final[Mapping[str, tuple[float, float]]] = {
    "claude-haiku-4-5": (1.0, 5.0),
    "claude-opus-4-5": (5.0, 25.0),
    "claude-opus-4-6": (5.0, 25.0),
    "claude-opus-4-7": (5.0, 25.0),
    "claude-opus-4-8": (5.0, 25.0),
    "claude-opus-5": (5.0, 25.0),
    "claude-sonnet-4-5": (3.0, 15.0),
    "claude-sonnet-4-6": (3.0, 15.0),
    "claude-sonnet-5": (2.0, 10.0),
    "gpt-5": (1.25, 10.0),
    "gpt-5-codex": (1.25, 10.0),
    "gpt-5-mini": (0.25, 2.0),
    "gpt-5.1": (1.25, 10.0),
    "gpt-5.1-codex": (1.25, 10.0),
    "gpt-5.1-codex-max": (1.25, 10.0),
    "gpt-5.1-codex-mini": (0.25, 2.0),
    "gpt-5.2": (1.75, 14.0),
    "gpt-5.2-codex": (1.75, 14.0),
    "gpt-5.3-codex": (1.75, 14.0),
    "gpt-5.4": (2.50, 15.0),
    "gpt-5.4-mini": (0.75, 4.50),
    "gpt-5.5": (5.0, 30.0),
    "gpt-5.6-sol": (5.0, 30.0),
    "gemini-2.5-flash": (0.30, 2.50),
    "gemini-2.5-flash-lite": (0.10, 0.40),
    "gemini-2.5-pro": (1.25, 10.0),
    "gemini-3-pro-preview": (2.0, 12.0),
    "gemini-3.1-pro-preview": (2.0, 12.0),
    "gemini-3.5-flash": (1.50, 9.0),
    "gemini-3.5-flash-lite": (0.30, 2.50),
    "gemini-3.6-flash": (1.50, 7.50),  # from 2027 on; half of it before
    "gemini-3.7-flash": (1.50, 7.50),
    "gemini-3.8-flash": (1.50, 7.50),
}
LIST_PRICES: Final = {model: Price(read, written, read / 10) for model, (read, written) in _LISTED.items()}


def prices_of(section: Mapping[str, Any]) -> dict[str, Price]:
    """Return the list prices with those of a configuration's `prices:` over them."""
    prices = dict(LIST_PRICES)
    for model, each in section.items():
        cached = each.get("cached_input")
        prices[model] = Price(each["input"], each["output"], each["input"] if cached is None else cached)
    return prices


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
    has no price.
    """
    if usage.cost_usd is not None or usage.input_tokens is None or usage.output_tokens is None:
        return usage
    named, costs = model_in(command) or ANY, []
    for model, read, written, cached in models or [ModelTokens(named, usage.input_tokens, usage.output_tokens)]:
        price = prices.get(model, prices.get(named, prices.get(ANY)))
        if price is None:
            return usage
        fresh = max(read - cached, 0)
        tokens = fresh * price.input + (read - fresh) * price.cached + written * price.output
        costs.append(tokens / 1_000_000)
    return usage._replace(cost_usd=round(sum(costs), 6))
