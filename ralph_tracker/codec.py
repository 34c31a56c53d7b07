"""Values as plain JSON and back, by their annotations: a field that is added to a value is stored and read.

A value with a `known_values` method is written as what that returns; one with a class method `named` as its name.
"""

from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import cache, reduce
from operator import or_
from types import UnionType
from typing import Any, Final, Literal, NotRequired, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints

Plain = dict[str, Any]
Read = Callable[[Any], Any]
_Value = TypeVar("_Value")


def encode(value: Any) -> Any:  # noqa: ANN401  # any value of the core
    """Return a value as dicts, lists, strings and numbers."""
    if isinstance(value, IntEnum) or hasattr(value, "named"):
        return value.name
    if hasattr(value, "known_values"):
        return value.known_values()
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: encode(each) for name, each in value._asdict().items()}
    if isinstance(value, Mapping):
        return {key: encode(each) for key, each in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    return [encode(each) for each in value] if isinstance(value, tuple | list) else value


def decode(kind: type[_Value], plain: Any) -> _Value:  # noqa: ANN401  # as parsed
    """Return the value that `encode` was given; a field that is missing has its default.

    Raises KeyError, TypeError or ValueError for what is no such value.
    """
    annotation: Any = kind
    value: _Value = _reader(annotation)(plain)
    return value


def document_of(
    kind: Any,  # noqa: ANN401  # a class made by NamedTuple
    more: Mapping[str, Any] | None = None,
    *,
    names: Mapping[str, Any] | None = None,
    keys: Mapping[str, str | None] | None = None,
    about: str | None = None,
    without_none: bool = False,
) -> Any:  # noqa: ANN401  # a TypedDict
    """Return the TypedDict of what `encode` makes of the values of a class.

    `more` are keys beside its fields. With `without_none` a field that is None is left out. `names` are types that its
    module imports for type checkers only. `keys` are those that are not the name of their field, None for a field that
    is left out. `about` describes the document, by default as its class is described.
    """
    hints = renamed(get_type_hints(kind, localns=dict(names or {})), keys or {})
    fields = {name: _written(hint) for name, hint in hints.items()}
    if without_none:
        fields = {name: _present(hint) if type(None) in get_args(hint) else hint for name, hint in fields.items()}
    make: Any = TypedDict
    document = make(f"{kind.__name__}Document", {**fields, **(more or {})})
    document.__doc__ = about or kind.__doc__
    return document


def renamed(fields: Mapping[str, Any], keys: Mapping[str, str | None]) -> dict[str, Any]:
    """Return fields, in their order, under the keys of a document; None leaves a field out."""
    named = ((keys.get(name, name), value) for name, value in fields.items())
    return {key: value for key, value in named if key is not None}


def _present(hint: Any) -> Any:  # noqa: ANN401  # an annotation with None
    return NotRequired[reduce(or_, (each for each in get_args(hint) if each is not type(None)))]


def _written(hint: Any) -> Any:  # noqa: ANN401  # any annotation
    """Return the annotation of what `encode` writes for that of a field."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hasattr(hint, "_fields"):
        return document_of(hint)
    if isinstance(hint, type) and issubclass(hint, IntEnum):
        return Literal[tuple(hint.__members__)]  # mypy has no say in what is made when it runs
    if origin in {tuple, frozenset}:
        return list[_written(arguments[0])]  # type: ignore[misc]  # mypy knows no annotation that is made
    if origin is Mapping:
        return dict[arguments[0], _written(arguments[1])]  # type: ignore[misc, valid-type]  # as above
    return reduce(or_, map(_written, arguments)) if origin in {Union, UnionType} else hint


@cache
def _reader(kind: Any) -> Read:  # noqa: ANN401  # any annotation
    if hasattr(kind, "named"):
        named: Read = kind.named
        return named
    if isinstance(kind, type) and issubclass(kind, IntEnum):
        return kind.__getitem__
    if hasattr(kind, "_fields"):
        return _named_tuple(kind)
    of_arguments = _BY_ORIGIN.get(get_origin(kind))
    return _as_it_is if of_arguments is None else of_arguments(get_args(kind))


def _as_it_is(plain: Any) -> Any:  # noqa: ANN401  # a string, a number, a truth value or None
    return plain


def _named_tuple(kind: Any) -> Read:  # noqa: ANN401  # a class made by NamedTuple
    readers = {name: _reader(hint) for name, hint in get_type_hints(kind).items()}
    return lambda plain: kind(**{name: readers[name](value) for name, value in plain.items()})


def _optional(arguments: tuple[Any, ...]) -> Read:
    readers = {_reader(each) for each in arguments if each is not type(None)} - {_as_it_is}
    if not readers:
        return _as_it_is
    (reader,) = readers
    return lambda plain: None if plain is None else reader(plain)


def _tuple(arguments: tuple[Any, ...]) -> Read:
    if arguments[-1] is not Ellipsis:
        readers = tuple(_reader(each) for each in arguments)
        return lambda plain: tuple(each(value) for each, value in zip(readers, plain, strict=True))
    reader = _reader(arguments[0])
    return tuple if reader is _as_it_is else lambda plain: tuple(reader(each) for each in plain)


def _mapping(arguments: tuple[Any, ...]) -> Read:
    reader = _reader(arguments[1])
    return _as_it_is if reader is _as_it_is else lambda plain: {key: reader(value) for key, value in plain.items()}


_BY_ORIGIN: Final[Mapping[Any, Callable[[tuple[Any, ...]], Read]]] = {
    Mapping: _mapping,
    Union: _optional,
    UnionType: _optional,
    frozenset: lambda _: frozenset,
    tuple: _tuple,
}
