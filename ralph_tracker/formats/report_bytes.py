"""The bytes of one report, with views that several formats share, computed once and on demand."""

import codecs
import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, NoReturn

from ralph_tracker.formats import xml_stream
from ralph_tracker.formats.unreadable import DEFAULT_LIMITS, DamageError, ReadLimits, Unreadable

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*[mK]|\x1b\(B")


def plain(text: str) -> str:
    """Return the text without colours."""
    return _COLOUR.sub("", text) if "\x1b" in text else text


_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_OPENING: Final = 1024


class Content:
    """The bytes of a report and views of them.

    `encoding` is that of the byte order mark, None without one. Bytes that are invalid in the encoding (default UTF-8)
    are replaced: a damaged message does not change a count. `folders` are those that absolute paths in the report are
    relative to, each with a slash at its end; the first that a path begins with counts.
    """

    def __init__(self, data: bytes, limits: ReadLimits = DEFAULT_LIMITS, folders: tuple[str, ...] = ()) -> None:
        self.data = data
        self.limits = limits
        self.folders = folders
        mark, encoding = next((each for each in _BOMS if data.startswith(each[0])), (b"", None))
        self.encoding: str | None = encoding
        self._start = len(mark)

    def _decode(self, end: int) -> str:
        return self.data[self._start : end].decode(self.encoding or "utf-8", errors="replace")

    @cached_property
    def opening(self) -> str:
        """Return the beginning of the text without leading white space; "" only if there is no text at all."""
        return self._decode(_OPENING).lstrip() or self.text.lstrip()[:_OPENING]

    @cached_property
    def text(self) -> str:
        return self._decode(len(self.data))

    @cached_property
    def utf8(self) -> memoryview | bytes:
        """Return the text in UTF-8, not copied if the bytes are UTF-8 already."""
        if self.encoding in (None, "utf-8"):
            return memoryview(self.data)[self._start :]
        return self.text.encode(errors="replace")

    @cached_property
    def root(self) -> str | None:
        """Return the local name of the root element, None if the beginning is not XML."""
        found = self.root_or_damage
        return None if isinstance(found, Unreadable) else found

    @cached_property
    def root_or_damage(self) -> str | Unreadable:
        """Return the local name of the root element, else Unreadable."""
        found = self._elements
        return found if isinstance(found, Unreadable) else found[0][0]

    @cached_property
    def second(self) -> xml_stream.Element | None:
        """Return the element after the root, None if it cannot be read."""
        found = self._elements
        return None if isinstance(found, Unreadable) or len(found) == 1 else found[1]

    @cached_property
    def root_attributes(self) -> Mapping[str, str]:
        """Return the attributes of the root, {} if the beginning is not XML."""
        found = self._elements
        return {} if isinstance(found, Unreadable) else found[0][1]

    @cached_property
    def _elements(self) -> tuple[xml_stream.Element, ...] | Unreadable:
        try:
            return xml_stream.first_elements(self.data, self.encoding, self.limits)
        except DamageError as damage:
            return damage.unreadable

    def stream(
        self, start: xml_stream.StartHandler, end: xml_stream.EndHandler, text: xml_stream.Text | None = None
    ) -> None:
        """Read the XML as `xml_stream.stream` does. Raises DamageError."""
        xml_stream.stream(self.data, start, end, encoding=self.encoding, limits=self.limits, text=text)

    @cached_property
    def json_keys(self) -> frozenset[str]:
        """Return the keys of the top-level object, or of the first object of a top-level array.

        Empty if there is neither or the JSON is malformed. Values are skipped, which costs no memory.
        """
        if self.opening.startswith("["):
            items = _shallow(self.utf8, list)
            return frozenset((_shallow(items[0], dict) or ()) if items else ())
        return frozenset(self._members)

    @cached_property
    def json_inner_keys(self) -> frozenset[str]:
        """Return the keys of the first object inside the top-level object; empty if there is none."""
        found = (_shallow(value, dict) for value in self._members.values())
        return frozenset(next((keys for keys in found if keys is not None), ()))

    @cached_property
    def _members(self) -> Mapping[str, Any]:
        return _shallow(self.utf8, dict) or {}

    @cached_property
    def is_empty_array(self) -> bool:
        """Whether it is `[]`, which many tools write if they find nothing."""
        return self.opening.startswith("[") and self.text.strip("[] \t\r\n") == "" and self.json == []

    @cached_property
    def json(self) -> object:
        """Return the whole text as one JSON value, or Unreadable."""
        return parse_json(self.text)

    def json_value(self) -> object:
        """Return the whole text as one JSON value. Raises DamageError if it is Unreadable."""
        value = self.json
        if isinstance(value, Unreadable):
            raise DamageError(value.why, value.line, value.column)
        return value


def _shallow(data: Any, shape: type) -> Any:  # noqa: ANN401  # msgspec's own types are as wide
    """Return the dict or list with undecoded values, None if it has another shape or is malformed."""
    import msgspec  # noqa: PLC0415  # only JSON needs it

    parts: Any = dict[str, msgspec.Raw] if shape is dict else list[msgspec.Raw]
    try:
        return msgspec.json.decode(data, type=parts)
    except UnicodeDecodeError:
        return _shallow(bytes(data).decode(errors="replace").encode(), shape)
    except (msgspec.DecodeError, RecursionError):
        return None


def parse_json(text: str) -> object:
    """Return the value, or Unreadable: malformed, nested too deeply, or with a non-JSON number such as NaN."""
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        return Unreadable(f"malformed JSON: {error.msg}", error.lineno, error.colno)
    except DamageError as damage:
        return damage.unreadable
    except RecursionError:
        return Unreadable("malformed JSON: nested too deep")
    except ValueError as error:
        return Unreadable(f"malformed JSON: {error}")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise DamageError(f"malformed JSON: {name} is no number")
