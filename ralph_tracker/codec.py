"""Values, and values as plain JSON and back, by their annotations: a field that is added is stored and read.

A value with a `known_values` method is written as what that returns; one with a class method `named` as its name.
"""

from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import cache, reduce
from operator import or_
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    NotRequired,
    Self,
    TypedDict,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from ralph_tracker.short_text import shorten

Plain = dict[str, Any]
Read = Callable[[Any], Any]
_Value = TypeVar("_Value")


@dataclass_transform(frozen_default=True)
class ValueObject:
    """A typed and frozen value that equals values of its own class only, and has a document.

    Its fields are its annotations, as in a NamedTuple, and defining one takes as little time: a tenth of a dataclass.
    `document` names the keys of its document, by default its fields: a field or a property, or `key=field`. `shown`
    names what its repr has, by default the fields that are not their default.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _whole: ClassVar[frozenset[str]] = frozenset()
    _defaults: ClassVar[Mapping[str, Any]] = {}
    _keys: ClassVar[Mapping[str, str]] = {}
    _shown: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, *, document: str = "", shown: str = "") -> None:
        cls._fields = tuple(cls.__annotations__)
        cls._whole = frozenset(cls._fields)
        cls._defaults = {name: getattr(cls, name) for name in cls._fields if hasattr(cls, name)}
        keys = (name.partition("=") for name in document.split())
        cls._keys = {key: field or key for key, _, field in keys} or dict(zip(cls._fields, cls._fields, strict=True))
        cls._shown = tuple(shown.split())

    if not TYPE_CHECKING:  # type checkers know the fields

        def __init__(self, *values: Any, **named: Any) -> None:  # noqa: ANN401  # any of its fields
            if named.keys() == self._whole and not values:  # a decoded one, of which there are thousands
                self.__dict__.update(named)
                return
            first = self._fields[: len(values)]
            given = {**self._defaults, **dict(zip(first, values, strict=False)), **named}
            wrong = (given.keys() ^ set(self._fields)) | named.keys() & set(first)
            if wrong or len(values) > len(first):
                wrong = ", ".join(sorted(wrong)) or f"{len(values)} values"
                raise TypeError(f"{type(self).__name__} has the fields {', '.join(self._fields)}; wrong: {wrong}")
            self.__dict__.update(given)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed: {name}")

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self._asdict().values()))

    def __repr__(self) -> str:
        names = self._shown or [name for name in self._fields if self.__dict__[name] != self._defaults.get(name, ...)]
        shown = (f"{name}={shorten(repr(getattr(self, name)), 80)}" for name in names)
        return f"{type(self).__name__}({', '.join(shown)})"

    def to_dict(self) -> Any:  # noqa: ANN401  # a dict; some classes return a TypedDict
        """Return the value as plain data, with the names of the JSON documents."""
        return {key: encode(getattr(self, name), published=True) for key, name in self._keys.items()}

    def _asdict(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self._fields}

    def _replace(self, **changes: Any) -> Self:  # noqa: ANN401  # any of its fields
        return type(self)(**{**self.__dict__, **changes})


def encode(value: Any, *, published: bool = False) -> Any:  # noqa: ANN401  # any value of the core
    """Return a value as dicts, lists, strings and numbers: all of its fields, or its document if `published`."""
    if isinstance(value, IntEnum) or hasattr(value, "named"):
        return value.name
    if published and isinstance(value, ValueObject):
        return value.to_dict()
    if hasattr(value, "known_values"):
        return value.known_values()
    if hasattr(value, "_asdict"):
        return {name: encode(each, published=published) for name, each in value._asdict().items()}
    if isinstance(value, Mapping):
        return {key: encode(each, published=published) for key, each in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    return [encode(each, published=published) for each in value] if isinstance(value, tuple | list) else value


def decode(kind: type[_Value], plain: Any) -> _Value:  # noqa: ANN401  # as parsed
    """Return the value that `encode` was given; a field that is missing has its default.

    Raises KeyError, TypeError or ValueError for what is no such value.
    """
    annotation: Any = kind
    value: _Value = _reader(annotation)(plain)
    return value


def document_of(
    kind: Any,  # noqa: ANN401  # a class made by NamedTuple, or a ValueObject
    more: Mapping[str, Any] | None = None,
    *,
    names: Mapping[str, Any] | None = None,
    about: str | None = None,
    without_none: bool = False,
) -> Any:  # noqa: ANN401  # a TypedDict
    """Return the TypedDict of what `encode` makes of the values of a class; of a ValueObject, that of its document.

    `more` are keys beside its own. With `without_none` a field that is None is left out. `names` are types that its
    module imports for type checkers only. `about` describes the document, by default as its class is described.
    """
    hints = get_type_hints(kind, localns=dict(names or {}))
    keys = kind._keys if issubclass(kind, ValueObject) else {name: name for name in kind._fields}  # noqa: SLF001  # of this module
    fields = {key: _written(hints.get(name) or _returned(getattr(kind, name))) for key, name in keys.items()}
    if without_none:
        fields = {name: _present(hint) if type(None) in get_args(hint) else hint for name, hint in fields.items()}
    make: Any = TypedDict
    document = make(f"{kind.__name__}Document", {**fields, **(more or {})})
    document.__doc__ = about or kind.__doc__
    return document


def _returned(of: property) -> Any:  # noqa: ANN401  # any annotation
    return get_type_hints(of.fget)["return"]


def _present(hint: Any) -> Any:  # noqa: ANN401  # an annotation with None
    return NotRequired[reduce(or_, (each for each in get_args(hint) if each is not type(None)))]


@cache  # a class that two fields have has one document
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
        return _fields(kind)
    of_arguments = _BY_ORIGIN.get(get_origin(kind))
    return _as_it_is if of_arguments is None else of_arguments(get_args(kind))


def _as_it_is(plain: Any) -> Any:  # noqa: ANN401  # a string, a number, a truth value or None
    return plain


def _fields(kind: Any) -> Read:  # noqa: ANN401  # a class made by NamedTuple, or a ValueObject
    hints = get_type_hints(kind)
    readers = {name: _reader(hints[name]) for name in kind._fields}
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
