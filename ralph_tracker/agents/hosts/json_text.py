"""Change a JSON text in place: its layout, and every byte elsewhere stay."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR: Final = re.compile(r"[^\s,\]}]+")
_INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class Child:
    """A value within another: its key (None in an array), where it begins (including the key), and the value."""

    key: str | None
    start: int
    value: "Value"


@dataclass(frozen=True, slots=True)
class Value:
    """A JSON value and its position in the text, `end` exclusive."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    children: tuple[Child, ...] = ()

    def child(self, key: str) -> "Value | None":
        """Return the value of a key, the last one if it is repeated, as JSON readers do."""
        return next((each.value for each in reversed(self.children) if each.key == key), None)

    def plain(self, text: str) -> Any:  # noqa: ANN401  # any JSON value
        """Return the parsed value."""
        return json.loads(text[self.start : self.end])


@dataclass(frozen=True, slots=True)
class Style:
    """The layout of a text: its line ends, one level of indentation, and whether it has line breaks."""

    newline: str
    indent: str
    lines: bool


def places(text: str) -> Value:
    """Return the value in a JSON text. Raises ValueError, with the line, for invalid JSON."""
    json.loads(text, parse_constant=_no_constant)
    return _value(text, _skip(text, 0))


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


def _value(text: str, at: int) -> Value:
    if text[at] in "{[":
        return _container(text, at)
    found = (_STRING if text[at] == '"' else _SCALAR).match(text, at)
    return Value("scalar", at, at if found is None else found.end())


def _container(text: str, start: int) -> Value:
    kind: Literal["object", "array"] = "object" if text[start] == "{" else "array"
    children = []
    at = _skip(text, start + 1)
    while text[at] not in "]}":
        key, begins = None, at
        if kind == "object":
            name = _STRING.match(text, at)
            end = at if name is None else name.end()
            key = json.loads(text[at:end])
            at = _skip(text, _skip(text, end) + 1)
        value = _value(text, at)
        children.append(Child(key, begins, value))
        at = _skip(text, value.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Value(kind, start, at + 1, tuple(children))


def style_of(text: str, root: Value) -> Style:
    """Return the layout of a text; for an empty document, a layout with line breaks."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if not root.children:
        return Style(newline, _INDENT, lines=True)
    before = text[root.start + 1 : root.children[0].start]
    if "\n" not in before:
        return Style(newline, _INDENT, lines=False)
    own = before.rpartition("\n")[2]
    return Style(newline, own or _INDENT, lines=True)


def insertion(text: str, container: Value, key: str | None, value: Any, style: Style) -> tuple[int, str]:  # noqa: ANN401
    """Return where to insert which text to append a value to a container."""
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if container.children:
        first, last = container.children[0], container.children[-1]
        before = text[container.start + 1 : first.start]
        if "\n" not in before:
            return last.value.end, f", {name}{json.dumps(value, ensure_ascii=False)}"
        indent = before.rpartition("\n")[2]
        return last.value.end, f",{style.newline}{indent}{name}{_laid_out(value, indent, style)}"
    if not style.lines:
        return container.start + 1, f"{name}{json.dumps(value, ensure_ascii=False)}"
    outer = _indentation(text, container.start)
    indent = outer + style.indent
    closing = "" if "\n" in text[container.start : container.end] else style.newline + outer
    return container.start + 1, f"{style.newline}{indent}{name}{_laid_out(value, indent, style)}{closing}"


def removal(container: Value, child: Child) -> tuple[int, int]:
    """Return the range of the text to cut to remove a value from a container."""
    index = container.children.index(child)
    if len(container.children) == 1:
        return container.start + 1, container.end - 1
    if index:
        return container.children[index - 1].value.end, child.value.end
    return child.start, container.children[1].start


def _laid_out(value: Any, indent: str, style: Style) -> str:  # noqa: ANN401  # any JSON value
    text = json.dumps(value, ensure_ascii=False, indent=style.indent)
    return text.replace("\n", style.newline + indent)


def _indentation(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


class EditedText(NamedTuple):
    """A text, with the insertions that led to it, in order: positions and lengths."""

    text: str
    inserted: tuple[tuple[int, int], ...] = ()

    def put(self, container: Value, key: str | None, value: Any, style: Style) -> "EditedText":  # noqa: ANN401
        """Return it with a value appended to a container."""
        at, more = insertion(self.text, container, key, value, style)
        return EditedText(self.text[:at] + more + self.text[at:], (*self.inserted, (at, len(more))))


def unmerged(edited: EditedText) -> str:
    """Return the text before the insertions, byte for byte."""
    text = edited.text
    for at, size in reversed(edited.inserted):
        text = text[:at] + text[at + size :]
    return text
