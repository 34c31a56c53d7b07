"""Where a recorded score comes from, down to its components."""

from collections.abc import Mapping
from dataclasses import dataclass

from ralph_tracker.core.components import COMPONENT_BY_NAME
from ralph_tracker.core.rounding import SCORE_DECIMALS, half_up


@dataclass(frozen=True, slots=True)
class ComponentShare:
    """Hold one component of a score.

    `value` is 0 to 100, None where it was not measured; `weight` its share of the weights, which sum to 1, and
    `contribution` what it brings to the score of 0 to 1.
    """

    name: str
    dimension: str
    value: float | None
    weight: float
    contribution: float


def component_shares(
    weights: Mapping[str, float], components: Mapping[str, float | None]
) -> tuple[ComponentShare, ...]:
    """Share the weight of each dimension among its components; one that is not ours, or of no weight, is left out."""
    known = [name for name in components if name in COMPONENT_BY_NAME and COMPONENT_BY_NAME[name].dimension in weights]
    dimensions = [COMPONENT_BY_NAME[name].dimension for name in known]
    shares = []
    for name, dimension in zip(known, dimensions, strict=True):
        share, value = weights[dimension] / dimensions.count(dimension), components[name]
        brings = half_up(share * (value or 0.0) / 100, SCORE_DECIMALS)
        shares.append(ComponentShare(name, dimension, value, half_up(share, SCORE_DECIMALS), brings))
    return tuple(shares)
