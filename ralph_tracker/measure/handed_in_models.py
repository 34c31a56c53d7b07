"""Models of the metrics and usage that may be handed in, for validation messages and JSON Schemas."""

from collections.abc import Mapping
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,  # from typing_extensions before Python 3.12, as pydantic requires
    TypeVar,
)

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from typing_extensions import TypedDict

from ralph_tracker.config.yaml_io import without_surrogates
from ralph_tracker.core.metrics import (
    LARGEST_VALUE,
    LONGEST_TEST_ID,
    METRICS,
    SECTIONS,
    BuildStatus,
    MetricSpec,
    Section,
)
from ralph_tracker.errors import InputError, first_problem

Count = Annotated[int, Field(ge=0, le=LARGEST_VALUE, strict=True)]
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False, strict=True)]
Model = TypeVar("Model", bound=BaseModel)
Amount = Annotated[float, Field(ge=0, le=LARGEST_VALUE, allow_inf_nan=False, strict=True)]


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _value(spec: MetricSpec) -> Any:  # noqa: ANN401  # any type that pydantic knows
    if not spec.numeric:
        return BuildStatus
    if not spec.decimals:
        return Count
    return Percent if spec.unit == "%" else Amount


def _section(section: Section) -> type[BaseModel]:
    """Return the model of a section: what the table of metrics has there, every value optional."""
    fields: Any = {spec.name: (_value(spec) | None, None) for spec in METRICS if spec.section == section}
    made: type[BaseModel] = create_model(f"Given{section.capitalize()}", __base__=_Given, **fields)
    return made


GIVEN_SECTIONS: Final[Mapping[str, type[BaseModel]]] = {section: _section(section) for section in SECTIONS}


class GivenTest(TypedDict):
    """One test by name; a plain mapping, because there may be 100,000 of them."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # pydantic's way to forbid extra keys
    id: Annotated[str, Field(min_length=1, max_length=LONGEST_TEST_ID)]
    outcome: Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
    duration: NotRequired[Amount | None]


_sections: Any = {name: (model, model()) for name, model in GIVEN_SECTIONS.items()}
GivenMetrics: Final = create_model(
    "GivenMetrics",
    __base__=_Given,
    __doc__="Metrics as a file or a mapping has them; every group and every value is optional.",
    **_sections,
    quality_score=(Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)] | None, None),
    tests=(list[GivenTest] | None, None),
)


class GivenUsage(_Given):
    """What the iteration cost; every value is optional, unknown is not 0."""

    cost_usd: Amount | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    turns: Count | None = None
    duration_s: Amount | None = None


def validate_input(raw: Mapping[str, Any], name: str, model: type[Model]) -> Model:
    """Return the validated input. Raises InputError, in one line, for invalid one; `name` is its source.

    A lone surrogate, which JSON may hold but text may not, is shown by its number.
    """
    try:
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            if all(problem["type"] != "string_unicode" for problem in error.errors(include_url=False)):
                raise
            return model.model_validate(without_surrogates(raw))
    except ValidationError as error:
        raise InputError(f"{name}: {first_problem(error, model)}") from None
