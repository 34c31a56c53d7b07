"""Streaming XML for all formats that are written in it: expat, without what an attacker would use of it."""

import pyexpat
from collections.abc import Callable
from typing import Final, NoReturn

from ralph_tracker.formats.content import Content, DamageError
from ralph_tracker.formats.report import Unreadable

StartHandler = Callable[[str, dict[str, str]], None]
EndHandler = Callable[[str], None]

# What expat is told in place of its own guess: a byte order mark is right, whatever the declaration says.
_EXPAT_ENCODINGS: Final = {None: None, "utf-8": "utf-8", "utf-16-le": "utf-16", "utf-16-be": "utf-16"}


class _FoundError(Exception):
    """Ends the parsing once the root is known."""


def stream(content: Content, start: StartHandler, end: EndHandler) -> None:
    """Call `start` and `end` for each element, as expat does: names as written, attributes as a dict.

    Raises DamageError, with the place, where the document is malformed, cut short or declares an entity. A
    DamageError of the handlers goes through with the place put in, which is the end of what they were called for.
    """
    parser = pyexpat.ParserCreate(_EXPAT_ENCODINGS[content.encoding])
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(content.data, True)  # noqa: FBT003 (the C function takes no keywords)
    except pyexpat.ExpatError as error:
        why = f"malformed XML: {pyexpat.ErrorString(error.code)}"
        raise DamageError(why, error.lineno, error.offset + 1) from None
    except DamageError as damage:
        why = damage.unreadable.why
        raise DamageError(why, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1) from None
    except (LookupError, ValueError) as error:  # what pyexpat raises about the declared encoding
        raise DamageError(f"malformed XML: {error}", 1) from None


def local_name(name: str) -> str:
    """Return the name without its namespace prefix: reports are told apart by what their elements are called."""
    return name.rpartition(":")[2]


def root_of(content: Content) -> str | Unreadable:
    """Return the local name of the root element, reading no further than that."""
    found: list[str] = []

    def start(name: str, _attributes: dict[str, str]) -> NoReturn:
        found.append(local_name(name))
        raise _FoundError

    try:
        stream(content, start, lambda _name: None)
    except _FoundError:
        return found[0]
    except DamageError as damage:
        return damage.unreadable
    raise AssertionError("expat accepts no document without a root")


def _refuse_entity(name: str, *_rest: object) -> NoReturn:
    raise DamageError(f"the document declares an entity ({name}), which reports have no need of")
