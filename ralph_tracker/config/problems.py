"""A validation error as one line: the place, what is wrong, the nearest key where one is unknown."""

from difflib import get_close_matches
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError

_SHOWN: Final = 60
_SELF_EXPLAINING: Final = frozenset({"extra_forbidden", "value_error", "missing"})


def first_problem(error: ValidationError, model: type[BaseModel]) -> str:
    """Return the first problem of a failed validation in one line, and how many more there are."""
    problems = error.errors(include_url=False, include_context=False)
    first = problems[0]
    path = [part for part in first["loc"] if part != "function-after"]
    place = ".".join(str(part) for part in path)
    text = _text(first["type"], first["msg"], path, model)
    if first["type"] not in _SELF_EXPLAINING:
        text += f", found {shortened(first['input'])}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{place}: {text}{more}" if place else f"{text}{more}"


def shortened(value: object) -> str:
    """Write a value as it was given, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _text(kind: str, message: str, path: list[int | str], model: type[BaseModel]) -> str:
    if kind == "extra_forbidden":
        return f"unknown key{nearest(str(path[-1]), _keys_at(path[:-1], model))}"
    if kind == "finite_number":
        return "not a finite number"
    return message.removeprefix("Value error, ").replace("Input should be", "should be")


def nearest(word: str, known: list[str]) -> str:
    """Return `; did you mean X?`, or the list of what is known where nothing is near."""
    matches = get_close_matches(word, known, n=1, cutoff=0.6)
    if matches:
        return f"; did you mean {matches[0]}?"
    return f"; known: {', '.join(sorted(known))}" if known else ""


def _keys_at(path: list[int | str], model: type[BaseModel]) -> list[str]:
    current: Any = model
    for part in path:
        if isinstance(part, int) or not _is_model(current):
            continue
        field = current.model_fields.get(part) or _by_alias(current, part)
        current = None if field is None else _model_in(field.annotation)
    if not _is_model(current):
        return []
    return [key for name, field in current.model_fields.items() for key in (field.alias or name,)]


def _by_alias(model: Any, alias: str) -> Any:  # noqa: ANN401  # pydantic's own field type
    return next((f for f in model.model_fields.values() if alias == f.alias), None)


def _is_model(candidate: Any) -> bool:  # noqa: ANN401  # any annotation
    return isinstance(candidate, type) and issubclass(candidate, BaseModel)


def _model_in(annotation: Any) -> Any:  # noqa: ANN401  # any annotation
    if _is_model(annotation):
        return annotation
    return next((found for arg in get_args(annotation) if (found := _model_in(arg)) is not None), None)
