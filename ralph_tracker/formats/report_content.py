"""The bytes of one report, with views that several formats share (text, lines, JSON, streaming XML), or Unreadable.

XML is read by expat, without the features that an attacker could use; `Elements` walks a document, and the numbers in
its attributes are read here too. Below are the ways in which a format recognises its own reports.
"""

import codecs
import json
import math
import pyexpat
import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import islice
from typing import Any, Final, NamedTuple, NoReturn, Self

StartHandler = Callable[[str, dict[str, str]], None]
EndHandler = Callable[[str], None]
Sniff = Callable[["Content"], bool]

EMPTY: Final = "empty"
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_OPENING: Final = 1024
_TRIED: Final = 20  # objects of a text, enough to tell formats apart
LONGEST_TEXT: Final = 65_536
_PIECE: Final = 1 << 20  # bytes

_DECLARATION: Final = re.compile(rb"\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*[\"']([\w.:-]{1,40})[\"']")
# Of a text that is in none of these the declaration is wrong, as where a program wrote its UTF-16 string as UTF-8.
_AS_UTF8: Final = frozenset({"", "utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be", "unicode"})
_HALVES: Final = (b"<\0", b"\0<")  # UTF-16 without a byte order mark, which expat sees by itself
_ILLEGAL_REFERENCE: Final = (
    r"&#(?:x0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]|[dD][89a-fA-F][0-9a-fA-F]{2}|[fF]{3}[eEfF])"
    r"|0*(?:[0-8]|1[124-9]|2\d|3[01]|5(?:529[6-9]|5[3-9]\d\d|6\d{3}|7(?:[0-2]\d\d|3[0-3]\d|34[0-3]))|6553[45]));"
)
_CONTROLS: Final = bytes({*range(32)} - {9, 10, 13})
_SUSPECTS: Final = tuple(
    (mark, re.compile(pattern.encode("latin-1")))
    for mark, pattern in ((b"&#", _ILLEGAL_REFERENCE), (b"\xef\xbf", "\xef\xbf[\xbe\xbf]"))
)
_ILLEGAL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|" + _ILLEGAL_REFERENCE)
# Where XML, or JSON with an object in it, may begin within other lines.
_BEGINNING: Final = re.compile(rb"(?:\A\s*|^)(?=\{\s*[\"}]|\[\s*[{\]]|<(?:\?xml\s|[A-Za-z]))", re.MULTILINE)
_MAX_DIGITS: Final = 18
_WHOLE: Final = 100
_MIB: Final = 1024 * 1024


class Unreadable(NamedTuple):
    """Why bytes are not a report, and where: lines and columns count from 1, None is unknown.

    It means "not measured", never zero.
    """

    why: str
    line: int | None = None
    column: int | None = None

    @property
    def empty(self) -> bool:
        """Whether there was no content, which some tools write when they find nothing (see registry.py)."""
        return self.why == EMPTY

    def __str__(self) -> str:
        if self.line is None:
            return self.why
        column = "" if self.column is None else f", column {self.column}"
        return f"{self.why} (line {self.line}{column})"


class ReadLimits(NamedTuple):
    """Limits of a reader: bytes of a report, depth of its elements, bytes of one tag or comment."""

    max_bytes: int = 128 * _MIB
    max_depth: int = 256
    max_tag: int = 4 * _MIB


DEFAULT_LIMITS: Final = ReadLimits()


class DamageError(Exception):
    """Raised by readers for damaged content; registry.read turns it into an Unreadable, nothing else sees it."""

    def __init__(self, why: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(why)
        self.unreadable = Unreadable(why, line, column)
        self.root_ended: int | None = None  # the byte after an XML document that something follows


def plausible(number: int, what: str) -> int:
    """Return a number that only the report's own total supports. Raises DamageError if no project has so many."""
    # More tests, lines or findings than any project has: a count beyond it is an invention or an overflow.
    if not 0 <= number <= 100_000_000:
        raise DamageError(f"{number} {what}, it says, which cannot be")
    return number


def plain(text: str) -> str:
    """Return the text without colours."""
    return re.sub(r"\x1b\[[0-9;]*[mK]|\x1b\(B", "", text) if "\x1b" in text else text


def local_name(name: str) -> str:
    """Return the name without its namespace prefix, since reports are recognised by local names."""
    return name.rpartition(":")[2]


class Text:
    """Collect the text of an element on request; other text is not even passed on by the parser."""

    def __init__(self) -> None:
        self.parser: pyexpat.XMLParserType | None = None
        self._parts: list[str] = []
        self._room = 0

    def begin(self) -> None:
        """Start collecting, up to the limit."""
        if self.parser is not None:
            self._parts, self._room = [], LONGEST_TEXT
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


class XmlOpening(NamedTuple):
    """The first two elements of a document by local names, and the attributes of both.

    `second` is None if nothing or only damage follows the root. Without a root, `damage` says why.
    """

    root: str | None = None
    attributes: Mapping[str, str] = {}
    second: str | None = None
    damage: Unreadable | None = None
    inner: Mapping[str, str] = {}


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

    def lines(self) -> Iterator[str]:
        """Yield the lines without holding them all; only newlines end a line, carriage returns stay."""
        text, start = self.text, 0
        while (end := text.find("\n", start + (1 << 16))) >= 0:
            yield from text[start:end].split("\n")
            start = end + 1
        if start < len(text):
            yield from text[start:].removesuffix("\n").split("\n")

    @cached_property
    def utf8(self) -> memoryview | bytes:
        """Return the text in UTF-8, not copied if the bytes are UTF-8 already."""
        if self.encoding in (None, "utf-8"):
            return memoryview(self.data)[self._start :]
        return self.text.encode(errors="replace")

    @cached_property
    def xml(self) -> XmlOpening:
        """Return the root and the element after it, without reading further."""
        found: list[tuple[str, Mapping[str, str]]] = []

        def start(name: str, attributes: dict[str, str]) -> None:
            found.append((local_name(name), attributes))
            if len(found) == 2:
                raise _FoundError

        try:
            self.stream(start, lambda _name: None)
        except _FoundError:
            pass
        except DamageError as damage:
            if not found:
                return XmlOpening(damage=damage.unreadable)
        (root, attributes), *rest = found
        second, inner = rest[0] if rest else (None, {})
        return XmlOpening(root, attributes, second, inner=inner)

    def stream(self, start: StartHandler, end: EndHandler, text: Text | None = None) -> None:
        """Call `start` and `end` for each element, as expat does: names as written, attributes as a dict.

        `text` collects the text of elements if the handlers ask for it. Characters that XML cannot hold, such as those
        of colours that a test printed, are replaced. Raises DamageError, with the place, if the document is malformed,
        cut short, declares an entity or has a tag or comment beyond the limit; one raised by a handler stops the parser
        and gets the place added.
        """
        data, encoding = self.xml_bytes
        parser = pyexpat.ParserCreate(encoding)
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.EntityDeclHandler = _refuse_entity
        if text is not None:
            text.parser = parser
        try:
            _feed(parser, data, self.limits.max_tag)
        except pyexpat.ExpatError as error:
            damage = DamageError(f"malformed XML: {pyexpat.ErrorString(error.code)}", error.lineno, error.offset + 1)
            # expat's number for what follows the document
            damage.root_ended = parser.ErrorByteIndex if error.code == 9 else None
            raise damage from None
        except DamageError as damage:
            why = damage.unreadable.why
            raise DamageError(why, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1) from None
        finally:
            if text is not None:
                text.parser = None  # they refer to each other

    @cached_property
    def xml_bytes(self) -> tuple[bytes, str | None]:
        """Return what expat is to read, and its encoding, None for expat's own guess.

        A byte order mark is right, whatever the declaration says. Nothing is copied where nothing is to be replaced.
        """
        if self.data[: len(_HALVES[0])] in _HALVES:
            return self.data, None
        declared = _DECLARATION.match(self.data, self._start)
        name = "" if declared is None else declared[1].decode("ascii", errors="replace").lower()
        text = None
        if self.encoding is None and name not in _AS_UTF8:
            text = _in_encoding(self.data, name)
        if text is None and self.encoding in (None, "utf-8") and _is_legal_utf8(self.data):
            return self.data, "utf-8"
        text = self.text if text is None else text
        return _ILLEGAL.sub(
            "\ufffd", re.sub(r"(?:\x1b|&#0*27;|&#x0*1[bB];)(?:\[[0-9;]*[mK]|\(B)", "", text.strip("\0"))
        ).encode(), "utf-8"

    @cached_property
    def document(self) -> "Content | None":
        """Return the one XML or JSON document that other lines stand around, as npm's stand around what it runs.

        None if there is none, or more than one.
        """
        data = self.data if self.encoding is None else self.text.encode(errors="replace")
        for found in islice(_BEGINNING.finditer(data), _TRIED):
            start = found.end()
            of_xml = data.startswith(b"<", start)
            inner = _root_alone(data[start:]) if of_xml else _value_alone(data[start:])
            if inner is not None:
                document, rest = inner
                again = _BEGINNING.search(rest) or (start == 0 and not rest)
                return None if again else Content(document, self.limits, self.folders)
            if start == 0 or of_xml:
                return None  # it is damaged, and its parts are no documents
        return None

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
    def json(self) -> object:
        """Return the whole text as one JSON value, or Unreadable."""
        return parse_json(self.text)


def _in_encoding(data: bytes, name: str) -> str | None:
    """Return the text, None if there is no such encoding."""
    try:
        return data.decode(name, errors="replace")
    except (LookupError, ValueError):
        return None


def _is_legal_utf8(data: bytes) -> bool:
    """Return whether it is valid UTF-8 of characters that XML can hold, without holding the text."""
    if len(data.translate(None, _CONTROLS)) < len(data):
        return False
    if any(mark in data and pattern.search(data) for mark, pattern in _SUSPECTS):
        return False
    decoder, view = codecs.getincrementaldecoder("utf-8")(), memoryview(data)
    try:
        for start in () if data.isascii() else range(0, len(data), _PIECE):
            decoder.decode(view[start : start + _PIECE], start + _PIECE >= len(data))
    except UnicodeDecodeError:
        return False
    return True


def _root_alone(data: bytes) -> tuple[bytes, bytes] | None:
    """Return the XML document at the beginning and what follows it, None if it is damaged."""
    content = Content(data)
    elements, data = Elements(content), content.xml_bytes[0]
    try:
        elements.walk()
    except DamageError as damage:
        end = damage.root_ended
        return None if end is None else (codecs.BOM_UTF8 + data[:end], data[end:])
    return codecs.BOM_UTF8 + data, b""


def _value_alone(data: bytes) -> tuple[bytes, bytes] | None:
    """Return the JSON object or array at the beginning, up to a line's end, and what follows; None if it has no end."""
    shape = dict if data.startswith(b"{") else list
    for found in reversed(list(re.finditer(rb"[}\]][ \t\r]*$", data, flags=re.MULTILINE))[-_TRIED:]):
        end = found.start() + 1
        if _shallow(data[:end], shape) is not None:
            return data[:end], data[end:].strip()
    return None


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


def _refuse_entity(name: str, is_parameter: bool, value: str | None, *_rest: object) -> None:  # noqa: FBT001
    """Refuse entities that could expand; external general entities are not fetched and thus harmless."""
    if is_parameter or value is not None:
        raise DamageError(f"the document declares an entity ({name}), which reports have no need of")


class Elements:
    """Walk one XML document: `opened` and `closed` get local names, `path` leads to the enclosing element.

    `TEXTS` are the elements whose text is needed: when one is closed, `text` holds it.
    """

    TEXTS: frozenset[str] = frozenset()

    def __init__(self, content: Content) -> None:
        self.path: list[str] = []
        self.text = ""
        self._gathered = Text()
        self._content = content
        self._max_depth = content.limits.max_depth

    def walk(self) -> Self:
        """Read the document. Raises DamageError if it is malformed, nested too deeply, or refused by `opened`."""
        self._content.stream(self.start, self.end, self._gathered)
        return self

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element; the last of `path` is its parent."""

    def closed(self, name: str) -> None:
        """Handle the end of an element; the last of `path` is its parent."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle a start event of the parser; a reader may override it for very frequent elements."""
        local = local_name(name)
        self.opened(local, attributes)
        self.path.append(local)
        if local in self.TEXTS:
            self._gathered.begin()
        if len(self.path) > self._max_depth:
            raise DamageError(f"elements are nested deeper than {self._max_depth}")

    def end(self, _name: str) -> None:
        local = self.path.pop()
        if local in self.TEXTS:
            self.text = self._gathered.end()
        self.closed(local)


def attribute_count(attributes: Mapping[str, str], key: str) -> int | None:
    """Return a whole number, None if the attribute is missing or anything else.

    What no count can be is kept, so that it contradicts what is listed: a negative one, and for more than 18 digits the
    largest of these.
    """
    text = attributes.get(key, "")
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()):
        return None
    size = int(digits) if len(digits) <= _MAX_DIGITS else 10**_MAX_DIGITS - 1
    return size if digits == text else -size


def attribute_percent(attributes: Mapping[str, str], key: str, *, whole: int = _WHOLE) -> float | None:
    """Return a share as a number from 0 to 100, given that `whole` means 100 %; None for anything else."""
    try:
        number = float(attributes.get(key, "")) * _WHOLE / whole
    except ValueError:
        number = math.nan
    return round(number, 6) if 0 <= number <= _WHOLE else None


def last_digit(text: str) -> float:
    """Return the value of one unit in the last digit of a decimal number: 0.01 for 87.35, 1 for 87."""
    return float(10 ** -len(text.partition(".")[2]))


def _shallow(data: Any, shape: type) -> Any:  # noqa: ANN401  # msgspec's own types are as wide
    """Return the dict or list with undecoded values, None if it has another shape or is malformed."""
    import msgspec  # noqa: PLC0415  # only JSON needs it

    parts: Any = dict[str, msgspec.Raw] if shape is dict else list[msgspec.Raw]
    try:
        return msgspec.json.decode(data, type=parts)
    except RecursionError:
        return None
    except (UnicodeDecodeError, msgspec.DecodeError):  # invalid UTF-8 is replaced
        replaced = bytes(data).decode(errors="replace").encode()
        return None if replaced == data else _shallow(replaced, shape)


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


# How a format recognises its own reports, by their content: what it declares as `sniff`.


def xml_root(*names: str) -> Sniff:
    """Recognise a document by the local name of its root, which is one of these."""
    return lambda content: content.xml.root in names


def json_object(*keys: str, only: bool = False, inner: AbstractSet[str] = frozenset()) -> Sniff:
    """Recognise an object that has these keys, and no others if `only`.

    Of its first value that is an object, `inner` are keys, too.
    """
    wanted = frozenset(keys)
    return lambda content: (
        content.opening.startswith("{")
        and (content.json_keys == wanted if only else content.json_keys >= wanted)
        and (not inner or content.json_inner_keys >= inner)
    )


def json_array(*keys: str, only: bool = False) -> Sniff:
    """Recognise an array whose first object has these keys, and no others if `only`."""
    wanted = frozenset(keys)
    return lambda content: (
        content.opening.startswith("[") and (content.json_keys == wanted if only else content.json_keys >= wanted)
    )


def empty_array(content: Content) -> bool:
    """Recognise `[]`, which many tools write if they find nothing."""
    return content.opening.startswith("[") and content.text.strip("[] \t\r\n") == "" and content.json == []


def json_lines(fits: Callable[[Mapping[str, Any]], object]) -> Sniff:
    """Recognise lines of objects one of which fits, among the first 20 that begin like an object."""

    def sniff(content: Content) -> bool:
        values = map(parse_json, islice(_beginning_like_objects(content.text), _TRIED))
        return any(isinstance(value, dict) and fits(value) for value in values)

    return sniff


def _beginning_like_objects(text: str) -> Iterator[str]:
    """Yield the lines that begin with a brace; skips all others fast, because this runs on every text."""
    start = 0 if text.startswith("{") else text.find("\n{") + 1 or len(text)
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = text.find("\n{", end) + 1 or len(text)


def text_with(*patterns: re.Pattern[str], unless: re.Pattern[str] | None = None, not_opening: str = "") -> Sniff:
    """Recognise text in which one of the patterns is found, without colours.

    `unless` is a pattern of another format's text; text that begins with a character of `not_opening` is none.
    """

    def sniff(content: Content) -> bool:
        if content.opening[:1] in tuple(not_opening):
            return False
        text = plain(content.text)
        return any(each.search(text) for each in patterns) and (unless is None or unless.search(text) is None)

    return sniff


def any_of(*layouts: Sniff) -> Sniff:
    """Recognise a format that has several layouts."""
    return lambda content: any(each(content) for each in layouts)
