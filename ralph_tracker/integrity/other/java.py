"""The tests of a Java file, as JUnit 3 to 5 and TestNG find them, named by their classes: `BoxTest::Lid::opens`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ralph_tracker.integrity.other.gathering import Found, Gatherer
from ralph_tracker.integrity.other.java_assertions import assertions_in
from ralph_tracker.integrity.other.source import Source, first_in, last_line_of, line_of, words
from ralph_tracker.integrity.source_tests import SEPARATOR, Assertion, Later

if TYPE_CHECKING:
    from tree_sitter import Node

_CLASSES: Final = frozenset({"class_declaration", "record_declaration", "interface_declaration"})
_TESTS: Final = words("Test ParameterizedTest RepeatedTest TestFactory TestTemplate Theory Property")
_OFF: Final = frozenset({"Disabled", "Ignore"})
_ANNOTATION: Final = re.compile(r"@(?:\w+\.)*(\w+)")
_NOT_ENABLED: Final = re.compile(r"\benabled\s*=\s*false\b")
_EXPECTED: Final = re.compile(r"\bexpected(?:Exceptions)?\s*=\s*([\w.{},\s]+)")
_JUNIT_3: Final = re.compile(r"\bextends\s+(?:\w+\.)*\w*TestCase\b")


@dataclass(frozen=True, slots=True)
class _Class:
    """Hold a class around a method: where it ends, how its tests are named, and what makes methods tests."""

    end: int = 0
    prefix: str = ""
    skipped: bool = False
    by_name: bool = False
    every: bool = False


def tests_in(source: Source) -> Iterator[Found]:
    """Yield the test methods; a class that is disabled skips all in it."""
    gatherer = Gatherer(source, assertions_in, _helpers(source))
    around: list[_Class] = []
    for node in source.nodes:
        while around and around[-1].end <= node.start_byte:
            around.pop()
        outer = around[-1] if around else _Class()
        if node.type in _CLASSES:
            around.append(_class(node, outer, source))
        elif node.type == "method_declaration" and around:
            annotations = _annotations(node, source)
            name = _name(node, source)
            if _is_test(name, node, annotations, outer, source):
                off = outer.skipped or _is_off(annotations)
                assertions = _assertions(node, annotations, gatherer)
                yield Found(outer.prefix + name, line_of(node), last_line_of(node), assertions, skipped=off)


def _class(node: "Node", outer: _Class, source: Source) -> _Class:
    annotations = _annotations(node, source)
    head = node.child_by_field_name("superclass")
    return _Class(
        end=node.end_byte,
        prefix=f"{outer.prefix}{_name(node, source)}{SEPARATOR}",
        skipped=outer.skipped or _is_off(annotations),
        by_name=head is not None and _JUNIT_3.search(source.text(head)) is not None,
        every="Test" in annotations,
    )


def _is_test(name: str, node: "Node", annotations: Mapping[str, str], outer: _Class, source: Source) -> bool:
    if _TESTS.intersection(annotations):
        return True
    if not (outer.by_name and name.startswith("test")) and not outer.every:
        return False
    head = source.text(node).partition("(")[0]
    return "public" in head and "static" not in head and not (outer.every and annotations)


def _is_off(annotations: Mapping[str, str]) -> bool:
    return bool(_OFF.intersection(annotations)) or _NOT_ENABLED.search(annotations.get("Test", "")) is not None


def _assertions(node: "Node", annotations: Mapping[str, str], gatherer: Gatherer) -> Later:
    """Return what a method asserts, the exception that its annotation expects included."""
    expected = _EXPECTED.search(annotations.get("Test", ""))
    if expected is None:
        return gatherer.later(node)
    text = " ".join(expected[0].split())
    first = Assertion(line=line_of(node), text=f"@Test({text})", subject="exception")
    return Later(lambda: (first, *gatherer.within(node)))


def _annotations(node: "Node", source: Source) -> Mapping[str, str]:
    """Return the annotations of a class or method by their plain names, with what they read."""
    modifiers = first_in(node)
    if modifiers is None or modifiers.type != "modifiers":
        return {}
    texts = (source.text(each) for each in modifiers.named_children if "annotation" in each.type)
    return {found[1]: text for text in texts if (found := _ANNOTATION.match(text))}


def _name(node: "Node", source: Source) -> str:
    name = node.child_by_field_name("name")
    return source.text(name) if name is not None else ""


def _helpers(source: Source) -> Mapping[str, "Node"]:
    """Return the methods that no annotation marks."""
    return {
        _name(node, source): node
        for node in source.nodes
        if node.type == "method_declaration" and not _TESTS.intersection(_annotations(node, source))
    }
