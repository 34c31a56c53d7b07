"""What a threshold may be, as annotations: the configuration refuses anything else, and its JSON Schema says so."""

from typing import Annotated, Any, NamedTuple


class Bounds(NamedTuple):
    """The least and the most that a number may be, and what it must exceed; None is no bound."""

    least: float | None = None
    most: float | None = None
    above: float | None = None


class OtherNames(NamedTuple):
    """Names by which the configuration, or a stored document, may have a field too."""

    names: tuple[str, ...]


Share = Annotated[float, Bounds(0, 1)]
Amount = Annotated[float, Bounds(0)]
Count = Annotated[int, Bounds(1)]


def other_names(hint: Any) -> tuple[str, ...]:  # noqa: ANN401  # any annotation
    """Return the other names of a field with that annotation."""
    metadata = getattr(hint, "__metadata__", ())
    return tuple(name for each in metadata if isinstance(each, OtherNames) for name in each.names)
