"""Streaming XML for all XML formats: expat, without the features that an attacker could use."""

import pyexpat
from collections.abc import Callable, Mapping
from typing import Final

from ralph_tracker.formats.unreadable import DEFAULT_LIMITS, DamageError, ReadLimits

StartHandler = Callable[[str, dict[str, str]], None]
EndHandler = Callable[[str], None]
Element = tuple[str, Mapping[str, str]]

_FIRST: Final = 2
_LONGEST_TEXT: Final = 65_536
_PIECE: Final = 1 << 20  # bytes

# Passed to expat instead of its own guess: a byte order mark is right, whatever the declaration says.
_EXPAT_ENCODINGS: Final = {None: None, "utf-8": "utf-8", "utf-16-le": "utf-16", "utf-16-be": "utf-16"}


class Text:
    """Collect the text of an element on request; other text is not even passed on by the parser."""

    def __init__(self) -> None:
        self.parser: pyexpat.XMLParserType | None = None
        self._parts: list[str] = []
        self._room = 0

    def begin(self) -> None:
        """Start collecting, up to the limit."""
        if self.parser is not None:
            self._parts, self._room = [], _LONGEST_TEXT
            self.parser.CharacterDataHandler = self._take

    def end(self) -> str:
        """Return the collected text, "" if `begin` was not called."""
        if self.parser is not None:
            self.parser.CharacterDataHandler = None
        text, self._parts = "".join(self._parts), []
        return text

    def _take(self, part: str) -> None:
        self._parts.append(part[: self._room])
        self._room -= len(part)
        if self._room <= 0 and self.parser is not None:
            self.parser.CharacterDataHandler = None


class _FoundError(Exception):
    """Stops the parser once the first elements are known."""


def stream(
    data: bytes,
    start: StartHandler,
    end: EndHandler,
    *,
    encoding: str | None = None,
    limits: ReadLimits = DEFAULT_LIMITS,
    text: Text | None = None,
) -> None:
    """Call `start` and `end` for each element, as expat does: names as written, attributes as a dict.

    `text` collects the text of elements if the handlers ask for it. `encoding` is that of the byte order mark. Raises
    DamageError, with the place, if the document is malformed, cut short, declares an entity or has a tag or comment
    beyond the limit; one raised by a handler stops the parser and gets the place added.
    """
    parser = pyexpat.ParserCreate(_EXPAT_ENCODINGS[encoding])
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = _refuse_entity
    if text is not None:
        text.parser = parser
    try:
        _feed(parser, data, limits.max_tag)
    except pyexpat.ExpatError as error:
        why = f"malformed XML: {pyexpat.ErrorString(error.code)}"
        raise DamageError(why, error.lineno, error.offset + 1) from None
    except DamageError as damage:
        why = damage.unreadable.why
        raise DamageError(why, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1) from None
    except (LookupError, ValueError) as error:  # raised by pyexpat for the declared encoding
        raise DamageError(f"malformed XML: {error}", 1) from None
    finally:
        if text is not None:
            text.parser = None  # they refer to each other


def _feed(parser: pyexpat.XMLParserType, data: bytes, limit: int) -> None:
    """Parse the document in pieces. Raises DamageError for a tag or comment longer than `limit` bytes.

    expat starts an unfinished one again with every piece, so its time would grow with the square of the length.
    """
    # Newer ones wait for more before they start again, and would find the place late.
    getattr(parser, "SetReparseDeferralEnabled", bool)(False)  # noqa: FBT003 (as below)
    view = memoryview(data)
    for end in range(_PIECE, len(data), _PIECE):
        parser.Parse(view[end - _PIECE : end], False)  # noqa: FBT003 (the C function takes no keywords)
        if end - max(0, parser.CurrentByteIndex) > limit:
            raise DamageError(f"a tag or comment is longer than the limit of {limit} bytes")
    parser.Parse(view[(len(data) - 1) // _PIECE * _PIECE :], True)  # noqa: FBT003 (as above)


def local_name(name: str) -> str:
    """Return the name without its namespace prefix, since reports are recognised by local names."""
    return name.rpartition(":")[2]


def first_elements(data: bytes, encoding: str | None, limits: ReadLimits) -> tuple[Element, ...]:
    """Return the root and the element after it as local name and attributes, without reading further.

    Only the root if nothing or only damage follows it. Raises DamageError if there is no root either.
    """
    found: list[Element] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        found.append((local_name(name), attributes))
        if len(found) == _FIRST:
            raise _FoundError

    try:
        stream(data, start, lambda _name: None, encoding=encoding, limits=limits)
    except _FoundError:
        pass
    except DamageError:
        if not found:
            raise
    return tuple(found)


def _refuse_entity(name: str, is_parameter: bool, value: str | None, *_rest: object) -> None:  # noqa: FBT001
    """Refuse entities that could expand; external general entities are not fetched and thus harmless."""
    if is_parameter or value is not None:
        raise DamageError(f"the document declares an entity ({name}), which reports have no need of")
