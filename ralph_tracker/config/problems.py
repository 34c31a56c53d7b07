"""A validation error as one line: the place, what is wrong, the nearest key where one is unknown."""

from collections.abc import Mapping
from typing import Any, Final, get_args, get_origin

from pydantic import AliasChoices, BaseModel, ValidationError
from typing_extensions import is_typeddict

from ralph_tracker.config.short_words import cut, nearest, shortened

_SELF_EXPLAINING: Final = frozenset({"extra_forbidden", "value_error", "missing"})
_KEYS_AND_VALUES: Final = "should be keys and values"
_WORDS: Final[Mapping[str, str]] = {
    "finite_number": "not a finite number",
    "model_type": _KEYS_AND_VALUES,
    "dict_type": _KEYS_AND_VALUES,
    "missing": "is missing",
}
# The branches of a union, which pydantic adds to a path though nobody wrote them.
_BRANCHES: Final = frozenset({"str", "int", "list[str]"})


def first_problem(error: ValidationError, model: type[BaseModel]) -> str:
    """Return the first problem of a failed validation in one line, and in how many more places there is one."""
    problems = error.errors(include_url=False, include_context=False)
    places = [_path(problem["type"], problem["loc"]) for problem in problems]
    first, path, others = problems[0], places[0], len(set(places)) - 1
    place = ".".join(cut(str(part)) for part in path)
    text = _text(first["type"], first["msg"], path, model)
    if first["type"] not in _SELF_EXPLAINING:
        text += f", found {shortened(first['input'])}"
    more = f" (and {others} more)" if others else ""
    return f"{place}: {text}{more}" if place else f"{text}{more}"


def _path(kind: str, location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    return location[:-1] if kind != "extra_forbidden" and location[-1:] and location[-1] in _BRANCHES else location


def _text(kind: str, message: str, path: tuple[int | str, ...], model: type[BaseModel]) -> str:
    if kind == "extra_forbidden":
        key, known = str(path[-1]), _keys_at(path[:-1], model)
        return (
            "another name of a key that is also given; remove one"
            if key in known
            else f"unknown key{nearest(key, known)}"
        )
    return _WORDS.get(kind) or message.removeprefix("Value error, ").replace("Input should be", "should be")


def _keys_at(path: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    current: Any = model
    for part in path:
        if get_origin(current) is dict:
            current = get_args(current)[1]
        elif not isinstance(part, int):
            current = _section_in(_fields(current).get(part, (None,))[0])
    return [key for name, (_, alias) in _fields(current).items() for key in _names(name, alias)]


def _fields(section: Any) -> dict[str, tuple[Any, Any]]:  # noqa: ANN401  # any annotation
    """Return the keys of a section, each with its annotation and its other names."""
    if _is_model(section):
        return {name: (field.annotation, field.validation_alias) for name, field in section.model_fields.items()}
    if is_typeddict(section):
        return {name: (annotation, None) for name, annotation in section.__annotations__.items()}
    return {}


def _names(name: str, alias: Any) -> list[str]:  # noqa: ANN401  # pydantic's own type of alias
    return [str(choice) for choice in alias.choices] if isinstance(alias, AliasChoices) else [name]


def _is_model(candidate: Any) -> bool:  # noqa: ANN401  # any annotation
    return isinstance(candidate, type) and issubclass(candidate, BaseModel)


def _section_in(annotation: Any) -> Any:  # noqa: ANN401  # any annotation
    """Return the section that an annotation holds, a mapping of names to sections as it is, None where it has none."""
    if _is_model(annotation) or is_typeddict(annotation) or get_origin(annotation) is dict:
        return annotation
    return next((found for arg in get_args(annotation) if (found := _section_in(arg)) is not None), None)
