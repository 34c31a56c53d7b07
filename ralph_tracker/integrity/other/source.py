"""A text with its syntax: what stands where, and what a node reads."""

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ralph_tracker.integrity.languages import Language
from ralph_tracker.integrity.other.grammars import nodes_of, parsed

if TYPE_CHECKING:
    from tree_sitter import Node


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_SPACES: Final = re.compile(r"\s+")
_BETWEEN: Final = re.compile(r"(?<=[(\[]) |,? (?=[)\]])|,(?=[)\]])|,(?= \})|(?<![,{\[(]) (?=\.\w)")
_WRAPPERS: Final = words(
    "await_expression non_null_expression parenthesized_expression subscript_expression as_expression "
    "satisfies_expression type_instantiation_expression index_expression expression_statement"
)


@dataclass(frozen=True, slots=True)
class Link:
    """Hold one step of `expect(x).not.toBe(3)`: its name, its arguments where it is called, and where it ends."""

    name: str
    arguments: "Node | None"
    end: int


class Source:
    """Be a text in one language, with the nodes that its readers ask for. Raises Unparsable where it is no program."""

    def __init__(self, language: Language, text: str) -> None:
        self.language = language
        self.data, self._tree = parsed(language, text)
        self.nodes = nodes_of(language, self._tree)
        self._starts = [node.start_byte for node in self.nodes]
        self.lines = text.split("\n")

    def text(self, node: "Node") -> str:
        """Return what a node reads."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def shown(self, node: "Node") -> str:
        """Return what a node reads on one line, the same however it is formatted."""
        return on_one_line(self.text(node))

    def inside(self, node: "Node") -> list["Node"]:
        """Return the nodes asked for that stand in a node, itself left out."""
        first = bisect_left(self._starts, node.start_byte)
        last = bisect_left(self._starts, node.end_byte)
        return [each for each in self.nodes[first:last] if each.end_byte <= node.end_byte and each.id != node.id]

    def chain(self, node: "Node") -> list[Link]:
        """Return the steps of calls and members, the first one first; its name is "" where it is no plain name."""
        links: list[Link] = []
        current: Node | None = node
        while current is not None:
            called, current = self._step(current)
            if called is not None:
                links.append(called)
        return links[::-1]

    def _step(self, node: "Node") -> tuple[Link | None, "Node | None"]:
        if node.type in _WRAPPERS:
            return None, first_in(node)
        if node.type == "method_invocation":
            return self._link(node, node.child_by_field_name("arguments")), node.child_by_field_name("object")
        if node.type != "call_expression":
            return self._link(node, None), _owner(node)
        arguments, function = node.child_by_field_name("arguments"), node.child_by_field_name("function")
        if function is None or function.type == "call_expression":
            return Link("", arguments, node.end_byte), function
        while function.type in _WRAPPERS and (inner := first_in(function)) is not None:
            function = inner
        return self._link(function, arguments, node.end_byte), _owner(function)

    def _link(self, node: "Node", arguments: "Node | None", end: int | None = None) -> Link:
        name = _name_of(node)
        return Link(self.text(name) if name is not None else "", arguments, end or node.end_byte)


def on_one_line(text: str) -> str:
    """Return a text on one line, the same however it was broken into lines."""
    line = _SPACES.sub(" ", text).strip()
    return _BETWEEN.sub("", line)


def arguments_of(node: "Node | None") -> list["Node"]:
    """Return the arguments of a call without comments, [] where it is none."""
    if node is None:
        return []
    return [each for each in node.named_children if "comment" not in each.type]


def first_in(node: "Node") -> "Node | None":
    """Return the first part of a node that is no comment, None where it has none."""
    return next((each for each in node.named_children if "comment" not in each.type), None)


def line_of(node: "Node") -> int:
    """Return the number of a node's first line."""
    return node.start_point.row + 1


def last_line_of(node: "Node") -> int:
    """Return the number of a node's last line."""
    return node.end_point.row + 1


_OWNERS: Final = {
    "member_expression": ("object", "property"),
    "selector_expression": ("operand", "field"),
    "field_access": ("object", "field"),
    "field_expression": ("value", "field"),
}
_NAMES: Final = words("identifier this super package_identifier self type_identifier scoped_identifier")


def _owner(node: "Node") -> "Node | None":
    fields = _OWNERS.get(node.type)
    return node.child_by_field_name(fields[0]) if fields else None


def _name_of(node: "Node") -> "Node | None":
    if node.type == "method_invocation":
        return node.child_by_field_name("name")
    fields = _OWNERS.get(node.type)
    if fields:
        return node.child_by_field_name(fields[1])
    return node if node.type in _NAMES else None
