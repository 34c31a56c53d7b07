"""The bytes of one report, with what several formats ask of them worked out once and on demand."""

import codecs
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NoReturn

from ralph_tracker.formats.report import Unreadable

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_OPENING: Final = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bound what a reader takes on: the size of a report in bytes, the depth of its elements."""

    max_bytes: int = 256 * 1024 * 1024
    max_depth: int = 256


DEFAULT_LIMITS: Final = Limits()


class DamageError(Exception):
    """What a reader raises where it cannot go on; registry.read makes it a value, nothing else sees it."""

    def __init__(self, why: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(why)
        self.unreadable = Unreadable(why, line, column)


class Content:
    """Hold the bytes of a report and views of them.

    `encoding` is what a byte order mark says, None without one. Bytes that are no text of the encoding (UTF-8 if
    none) are replaced: a damaged message does not change a count.
    """

    def __init__(self, data: bytes, limits: Limits = DEFAULT_LIMITS) -> None:
        self.data = data
        self.limits = limits
        mark, encoding = next((each for each in _BOMS if data.startswith(each[0])), (b"", None))
        self.encoding: str | None = encoding
        self._start = len(mark)

    def _decode(self, end: int) -> str:
        return self.data[self._start : end].decode(self.encoding or "utf-8", errors="replace")

    @cached_property
    def opening(self) -> str:
        """Return how the text begins, without white space before it; "" only where there is no text at all."""
        return self._decode(_OPENING).lstrip() or self.text.lstrip()[:_OPENING]

    @cached_property
    def text(self) -> str:
        return self._decode(len(self.data))

    @cached_property
    def json(self) -> object:
        """Return the one JSON value that the whole text is, else Unreadable."""
        return parse_json(self.text)

    def json_value(self) -> object:
        """Return that value. Raises DamageError where it is Unreadable."""
        value = self.json
        if isinstance(value, Unreadable):
            raise DamageError(value.why, value.line, value.column)
        return value


def parse_json(text: str) -> object:
    """Return the value, or Unreadable: malformed, nested too deep, or with a number that JSON does not have."""
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
