"""The tests of a Rust file, as `cargo test` names them below the file's own module: `tests::adds`."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ralph_tracker.integrity.other.gathering import Found, Gatherer
from ralph_tracker.integrity.other.rust_assertions import assertions_in
from ralph_tracker.integrity.other.source import Source, last_line_of, line_of
from ralph_tracker.integrity.source_tests import SEPARATOR, Assertion, Later

if TYPE_CHECKING:
    from tree_sitter import Node

_TEST: Final = re.compile(
    r"#\s*\[\s*(?:\w+\s*::\s*)*(?:test|rstest|test_case|case|wasm_bindgen_test|quickcheck|test_log|traced_test)\b"
)
_IGNORED: Final = re.compile(r"#\s*\[\s*ignore\b")
_PANICS: Final = re.compile(r"#\s*\[\s*should_panic\b")


def tests_in(source: Source) -> Iterator[Found]:
    """Yield the functions that an attribute makes tests, named by the modules of the file around them."""
    gatherer = Gatherer(source, assertions_in, _helpers(source))
    around: list[tuple[int, str]] = []
    attributes: list[Node] = []
    for node in source.nodes:
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        if node.type == "attribute_item":
            attributes.append(node)
        elif node.type in {"mod_item", "function_item"}:
            given, attributes = attributes, []
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name is None or body is None:
                continue
            full = (around[-1][1] if around else "") + source.text(name)
            if node.type == "mod_item":
                around.append((node.end_byte, full + SEPARATOR))
            elif any(_TEST.match(source.text(each)) for each in given):
                yield _found(full, node, body, given, source, gatherer)


def _found(
    name: str, function: "Node", body: "Node", attributes: list["Node"], source: Source, gatherer: Gatherer
) -> Found:
    texts = [source.text(each) for each in attributes]
    panics = tuple(
        Assertion(line=line_of(each), text=source.shown(each), subject="panic")
        for each in attributes
        if _PANICS.match(source.text(each))
    )
    assertions = Later(lambda: (*panics, *gatherer.within(body)))
    skipped = any(_IGNORED.match(text) for text in texts)
    return Found(name, line_of(attributes[0]), last_line_of(function), assertions, skipped=skipped)


def _helpers(source: Source) -> Mapping[str, "Node"]:
    """Return the functions of the file by name."""
    found = {}
    for node in source.nodes:
        if node.type == "function_item" and (name := node.child_by_field_name("name")) is not None:
            found[source.text(name)] = node
    return found
