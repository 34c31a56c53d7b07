"""What the sections of the configuration share: their base, their kinds of numbers, keys with several names."""

from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

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
