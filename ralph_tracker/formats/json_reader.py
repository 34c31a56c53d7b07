"""Decode JSON directly into the few fields that a format needs, and read one object per line among other lines."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar

import msgspec

from ralph_tracker.formats.report_content import Content, DamageError, Unreadable, parse_json

Count = Annotated[int, msgspec.Meta(ge=0)]
_T = TypeVar("_T")
_STEP: Final = re.compile(r"\.(?P<key>[^.\[\]]+)|\[(?P<number>\d+)\]")
_SPACE: Final = re.compile(r"[ \t\n\r]*")
Object = Mapping[str, Any]


def decode(content: Content, shape: type[_T], what: str) -> _T:
    """Return the content as one JSON value of that shape; `what` names the kind of report in errors.

    Raises DamageError, with the place, if it is malformed, cut short, or of another shape.
    """
    try:
        return msgspec.json.decode(content.utf8, type=shape)
    except (UnicodeDecodeError, msgspec.MsgspecError, RecursionError) as error:
        # Invalid UTF-8, an error of its own before msgspec 0.23, is replaced.
        replaced = content.text.encode(errors="replace")
        if replaced == content.utf8:
            raise _damage(content, error, what) from None
    try:
        return msgspec.json.decode(replaced, type=shape)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _damage(content, error, what) from None


def damage_at(content: Content, path: Sequence[str | int], why: str) -> DamageError:
    """Return an error placed at the value that the path of keys and indexes leads to, or at its nearest parent."""
    text = content.text  # valid JSON up to there
    at = _after_space(text, 0)
    for key in path:
        found = _member(text, at, key)
        if found is None:
            break
        at = found
    return DamageError(why, *_place(text, at))


def _damage(content: Content, error: Exception, what: str) -> DamageError:
    if isinstance(error, RecursionError):
        return DamageError("malformed JSON: nested too deep")
    if isinstance(error, msgspec.ValidationError):
        found = re.match(r"^(?P<why>.*?)(?: - at `(?:key in )?\$(?P<path>.*)`)?$", str(error), flags=re.DOTALL)
        assert found is not None  # noqa: S101  # it matches any text
        path = [step["key"] or int(step["number"]) for step in _STEP.finditer(found["path"] or "")]
        shown = f" ({found['path'].lstrip('.')})" if found["path"] else ""
        return damage_at(content, path, f"no report of {what}: {found['why']}{shown}")
    malformed = re.match(r"^JSON is malformed: (?P<why>.*) \(byte (?P<at>\d+)\)$", str(error))
    if malformed is None:
        return DamageError("malformed JSON: cut short", *_place(content.text, len(content.text)))
    before = bytes(content.utf8[: int(malformed["at"])]).decode(errors="replace")
    return DamageError(f"malformed JSON: {malformed['why']}", *_place(before, len(before)))


def _place(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _member(text: str, at: int, key: str | int) -> int | None:
    """Return where the value of a key or index begins in the object or array at `at`; None without one."""
    decoder = json.JSONDecoder()
    is_object, number = text.startswith("{", at), 0
    if not is_object and not text.startswith("[", at):
        return None
    try:
        while text[at] not in "]}":
            at, name = _after_space(text, at + 1), number
            if is_object:
                name, at = decoder.raw_decode(text, at)
                at = _after_space(text, _after_space(text, at) + 1)
            if name == key:
                return at
            at = _after_space(text, decoder.raw_decode(text, at)[1])
            number += 1
    except (IndexError, ValueError, RecursionError):
        pass
    return None


def _after_space(text: str, at: int) -> int:
    found: Any = _SPACE.match(text, at)
    return int(found.end())


def text(event: Object, key: str) -> str:
    """Return the text of that key, "" without one."""
    value = event.get(key)
    return value if isinstance(value, str) else ""


def number(event: Object, key: str) -> float | None:
    """Return the number of that key, None without one."""
    value = event.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def inside(value: object, *keys: str) -> Any:  # noqa: ANN401  # as the report has it
    """Return what is under the keys, each inside the one before; None where nothing is."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def objects(content: Content) -> Iterator[tuple[str, Object | None]]:
    """Yield each non-blank line with its object, None if it holds none.

    Raises DamageError if the last line is half an object: the report was cut short. A cut between two lines cannot be
    detected.
    """
    line, cut = "", False
    for line in content.lines():
        value = parse_json(line) if line.startswith("{") else None
        cut = isinstance(value, Unreadable)
        if line.strip():
            yield line, value if isinstance(value, dict) else None
    if cut and not content.text.endswith("\n"):
        raise DamageError("cut short: the last line is half an object", content.text.count("\n") + 1, len(line) + 1)
