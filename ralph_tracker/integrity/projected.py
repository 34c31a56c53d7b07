"""What a subject is made of: `len(x[0])` asks about `x[0]` and about `x`, and of each of them less than the last."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.demands import EQUAL, KIND, MEMBER, TRUTH

_DEEPEST: Final = 8
_ALL: Final = 2 * EQUAL
_SHAPE: Final = EQUAL - 300
_SIZE: Final = MEMBER + 500
PART: Final = MEMBER + 800
# What only hands a value on: as much is asked of it as of what it returns.
_HANDING: Final = frozenset(
    {"list", "tuple", "dict", "iter", "deepcopy", "copy", "Some", "Ok", "String::from", "Array.from"}
)
_SHAPING: Final = frozenset(
    {"sorted", "set", "frozenset", "Counter", "str", "repr", "int", "float", "round", "abs", "hash", "format", "bytes"}
    | {
        "String",
        "Number",
        "JSON.stringify",
        "new Set",
        "HashSet::from",
        "Math.round",
        "Math.floor",
        "Math.abs",
        "trunc",
    }
    | {
        "strings.ToLower",
        "strings.TrimSpace",
        "sort.Strings",
        "np.round",
        "np.sort",
        "math.floor",
        "math.ceil",
        "math.trunc",
    }
)
_SIZING: Final = frozenset(
    {"len", "Object.keys", "Object.values", "sum", "min", "max", "next", "keys", "vars", "dir", "id"}
)
_ASKING: Final = frozenset({"bool", "Boolean", "any", "all"})
_TYPING: Final = frozenset({"type", "typeof"})
_MATCHING: Final = Pattern(r"(re\.)?(search|match|fullmatch|findall)$")
_SHAPING_METHODS: Final = frozenset(
    {"lower", "upper", "casefold", "strip", "lstrip", "rstrip", "title", "capitalize", "swapcase", "replace", "split"}
    | {
        "splitlines",
        "sort",
        "sorted",
        "toLowerCase",
        "toUpperCase",
        "trim",
        "to_lowercase",
        "to_uppercase",
        "normalize",
    }
    | {
        "round",
        "toString",
        "to_string",
        "toFixed",
        "reverse",
        "partition",
        "translate",
        "expandtabs",
        "strftime",
        "date",
    }
)
# What writes a value out in full: nothing of it is left open.
_TELLING_ALL: Final = frozenset({"isoformat", "as_tuple", "hex", "toISOString"})
_SIZES: Final = frozenset({"length", "size", "len", "__len__", "count", "keys", "is_empty", "isEmpty"})
_TYPES: Final = frozenset({"__class__", "__name__", "getClass", "constructor"})
_PREFIX: Final = Pattern(r"(await |typeof |not |!!|!|&mut |&|\*|-)\s*")
_GATHERED: Final = Pattern(r"[\[({](?!\s*for\b).* for [\w, ()]+ in (?P<inner>.+?)(?: if .+)?[\])}]", 16)
_FORMATTED: Final = Pattern(r"f(['\"])\{(?P<inner>[^{}]+)\}\1")
_NAME: Final = Pattern(r"(?:new )?[\w.:]*\w$")
_OPERATORS: Final = (" & ", " % ", " // ", " | ", " / ", " - ", " + ", " >> ")
_OPENING, _CLOSING, _QUOTES = "([{", ")]}", "'\"`"


# Returns the text that a name stands for, None where that is not known.
Known = Callable[[str], str | None]


class Core(NamedTuple):
    """Hold what is asked about at last: its text, the most that is asked of it, and whether only of a part of it."""

    text: str
    most: int
    partly: bool


class _Step(NamedTuple):
    inner: str
    most: int = _ALL
    partly: bool = False


def nobody(_: str) -> None:
    """Know no name."""


def cores_of(subject: str, known: Known = nobody) -> Iterator[Core]:
    """Yield a subject and what it is made of, the outermost first; `known` tells what its names stand for."""
    text, most, partly = subject, _ALL, False
    for _ in range(_DEEPEST):
        yield Core(text, most, partly)
        step = _step(text, known)
        if step is None or not step.inner or step.inner == text:
            return
        text, most, partly = step.inner.strip(), min(most, step.most), partly or step.partly


def _step(text: str, known: Known) -> _Step | None:
    value = known(text)
    if value is not None:
        return _of_name(value)
    prefix = _PREFIX.match(text)
    if prefix is not None:
        return _Step(text[prefix.end() :], _of_prefix(prefix[1]))
    for pattern, most in ((_FORMATTED, _SHAPE), (_GATHERED, _SHAPE)):
        found = pattern.fullmatch(text)
        if found is not None:
            return _Step(found["inner"], most)
    operator = _split_by_operator(text)
    if operator is not None:
        return _Step(operator, _SHAPE, partly=True)
    return _of_end(text)


def _of_name(value: str) -> _Step:
    """Read what a name stands for; `*x` says that it is one of several that were unpacked."""
    return _Step(value[1:], PART, partly=True) if value.startswith("*") else _Step(value)


def _of_prefix(prefix: str) -> int:
    if prefix.startswith("!") or prefix == "not ":
        return TRUTH
    return KIND if prefix == "typeof " else _ALL


def _of_end(text: str) -> _Step | None:
    if text.endswith("]"):
        start = _opening_of(text)
        return _Step(text[:start], PART, partly=True) if start > 0 else None
    if text.endswith(")"):
        start = _opening_of(text)
        if start == 0:
            return _Step(text[1:-1])
        return _of_call(text[:start], text[start + 1 : -1]) if start > 0 else None
    owner, dot, name = text.rpartition(".")
    if dot and owner and name.isidentifier() and not owner[-1].isdigit():
        return _of_member(owner, name)
    return None


def _of_call(name: str, given: str) -> _Step | None:
    arguments = split_arguments(given)
    if name in _HANDING or name in _SHAPING or name in _SIZING or name in _ASKING or name in _TYPING:
        return _Step(arguments[0], *_of_function(name)) if arguments else None
    if _MATCHING.search(name) and arguments and name.count(".") <= 1:
        return _Step(arguments[-1] if len(arguments) > 1 or "re." not in name else "", MEMBER + 200)
    owner, dot, method = name.rpartition(".")
    if not dot or not owner:
        return None
    if owner[-1] in _QUOTES:
        return _Step(arguments[0], _SHAPE) if arguments else None
    return _of_member(owner, method)


def _of_function(name: str) -> tuple[int, bool]:
    if name in _HANDING:
        return _ALL, False
    if name in _SHAPING:
        return _SHAPE, False
    if name in _SIZING:
        return _SIZE, True
    return (TRUTH if name in _ASKING else KIND), False


def _of_member(owner: str, name: str) -> _Step:
    if name in _TELLING_ALL:
        return _Step(owner)
    if name in _SHAPING_METHODS:
        return _Step(owner, _SHAPE)
    if name in _TYPES:
        return _Step(owner, KIND)
    return _Step(owner, _SIZE if name in _SIZES else PART, partly=True)


def _bare(text: str) -> Iterator[tuple[int, str]]:
    """Yield the characters of a text that stand in no quotes, with their places."""
    quote = ""
    for place, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[place - 1] != "\\" else quote
        elif char in _QUOTES:
            quote = char
        else:
            yield place, char


def _outermost(text: str) -> Iterator[tuple[int, str]]:
    """Yield the characters of a text that stand neither in quotes nor in brackets, with their places."""
    depth = 0
    for place, char in _bare(text):
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
        elif depth == 0:
            yield place, char


def split_arguments(given: str) -> list[str]:
    """Return the arguments that a text between parentheses gives."""
    found, start = [], 0
    for place, char in _outermost(given):
        if char == ",":
            found.append(given[start:place].strip())
            start = place + 1
    last = given[start:].strip()
    return [*found, last] if last else found


def _opening_of(text: str) -> int:
    """Return where the bracket opens that the text ends with, -1 where none does."""
    open_at: list[int] = []
    for place, char in _bare(text):
        if char in _OPENING:
            open_at.append(place)
        elif char in _CLOSING and open_at:
            start = open_at.pop()
            if place == len(text) - 1:
                return start
    return -1


def _split_by_operator(text: str) -> str | None:
    """Return what stands left of the first operator that stands in no brackets, None where there is none."""
    if not any(each in text for each in _OPERATORS):
        return None
    spaces = (place for place, char in _outermost(text) if char == " ")
    first = next((place for place in spaces if text.startswith(_OPERATORS, place)), None)
    return None if first is None else text[:first]
