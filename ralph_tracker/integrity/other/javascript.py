"""The tests of a JavaScript or TypeScript file, as jest, vitest, mocha, Playwright and node:test name them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ralph_tracker.integrity.other.gathering import Found, Gatherer
from ralph_tracker.integrity.other.javascript_assertions import assertions_in
from ralph_tracker.integrity.other.source import Link, Source, arguments_of, first_in, last_line_of, line_of, words
from ralph_tracker.integrity.source_tests import SEPARATOR

if TYPE_CHECKING:
    from tree_sitter import Node

_SUITES: Final = words("describe suite context xdescribe fdescribe xcontext fcontext module")
_TESTS: Final = words("it test specify xit xtest xspecify fit ftest")
_OWNERS: Final = frozenset({"Deno", "QUnit", "test"})
_SKIPS: Final = words("skip todo fixme fails failing fail")
_MODIFIERS: Final = _SKIPS | words(
    "only each for concurrent sequential serial parallel shuffle skipIf runIf todoIf if ignore"
)
# What a call of interest begins with: most calls of a test file are none.
_START: Final = re.compile(rb"[xf]?(?:describe|context|it|test|specify)\b|suite\b|Deno\b|QUnit\b|\w+\.(?:test|it)\b")
_DATA: Final = words("each for skipIf runIf todoIf if")
_OFF: Final = re.compile(r"\b(?:skip|todo|ignore)\s*:\s*(?:true\b|['\"`])")
_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "generator_function"})
_NAMES: Final = frozenset({"string", "template_string"})
_LEAVING: Final = frozenset({"skip", "fixme", "pending"})
_ESCAPE: Final = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_LAST_CODE_POINT: Final = 0x10FFFF


@dataclass(frozen=True, slots=True)
class _Block:
    """Hold a `describe` or an `it`: what it is called with, and what its name says of it."""

    arguments: "Node"
    is_suite: bool
    skipped: bool


def tests_in(source: Source) -> Iterator[Found]:
    """Yield the tests; each is named by the suites around it and its own title, subtests by that of their test too."""
    gatherer = Gatherer(source, assertions_in, _helpers(source))
    around: list[tuple[int, str, bool, bool]] = []
    start = -1
    for node in source.nodes:
        if node.type != "call_expression" or node.start_byte == start:
            continue
        start = node.start_byte
        while around and around[-1][0] <= start:
            around.pop()
        if not _START.match(source.data, start):
            continue
        _, prefix, off, in_test = around[-1] if around else (0, "", False, False)
        block = _block(source.chain(node), in_test=in_test)
        if block is None:
            continue
        arguments = arguments_of(block.arguments)
        name = prefix + _title(arguments[0], source)
        skipped = off or block.skipped or _is_off(arguments, source)
        if not block.is_suite:
            body = block.arguments
            skipped = skipped or len(arguments) == 1 or _leaves(arguments[-1], source)
            yield Found(name, line_of(node), last_line_of(body), gatherer.later(body), skipped=skipped)
        around.append((block.arguments.end_byte, name + SEPARATOR, skipped, in_test or not block.is_suite))


def _block(links: list[Link], *, in_test: bool) -> _Block | None:
    """Read `describe.skip("…", …)`, `it.each(…)("…", …)` and their like; None for any other call."""
    if not links:
        return None
    suite = skipped = False
    for number, link in enumerate(links):
        known = link.name in _SUITES or link.name in _TESTS or link.name in _OWNERS
        if number == 0 and not known:
            return _subtest(links) if in_test else None
        if number and not known and link.name not in _MODIFIERS and link.name:
            return None
        suite = suite or link.name in _SUITES
        skipped = skipped or link.name in _SKIPS or (known and link.name.startswith("x"))
        if link.arguments is not None and link.arguments.type == "arguments" and link.name not in _DATA:
            return _Block(link.arguments, suite, skipped) if _is_named(link) else None
    return None


def _subtest(links: list[Link]) -> _Block | None:
    """Read `t.test("…", …)` inside a test of node:test or tap."""
    if len(links) != 2 or links[1].name not in _TESTS or links[1].arguments is None:  # noqa: PLR2004  # `t.test`
        return None
    arguments = arguments_of(links[1].arguments)
    is_test = len(arguments) > 1 and arguments[-1].type in _FUNCTIONS and arguments[0].type in _NAMES
    return _Block(links[1].arguments, is_suite=False, skipped=False) if is_test else None


def _is_named(link: Link) -> bool:
    arguments = arguments_of(link.arguments)
    if not arguments or arguments[0].type in _FUNCTIONS:
        return False
    # `test.skip(isSlow, "…")` inside a test of Playwright's leaves it.
    return arguments[0].type in _NAMES or arguments[-1].type in _FUNCTIONS


def _title(node: "Node", source: Source) -> str:
    text = source.text(node)
    return _ESCAPE.sub(_unescaped, text[1:-1]) if node.type in _NAMES else source.shown(node)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code is None:
        return _ESCAPED.get(found[4], found[4])
    number = int(code, 16)
    return chr(number) if number <= _LAST_CODE_POINT else found[0]


def _is_off(arguments: list["Node"], source: Source) -> bool:
    """Tell whether options say so: `test("…", {skip: true}, …)`."""
    return any(_OFF.search(source.text(each)) for each in arguments[1:] if each.type == "object")


def _leaves(function: "Node", source: Source) -> bool:
    """Tell whether a statement of the body skips the test without asking: `t.skip()`, `this.skip("later")`."""
    body = function.child_by_field_name("body") if function.type in _FUNCTIONS else None
    for statement in body.named_children if body is not None else ():
        call = first_in(statement) if statement.type == "expression_statement" else None
        if call is None or call.type != "call_expression":
            continue
        last = source.chain(call)[-1]
        arguments = arguments_of(last.arguments)
        if last.name in _LEAVING and not (arguments and arguments[0].type not in {*_NAMES, "true"}):
            return True
    return False


def _helpers(source: Source) -> Mapping[str, "Node"]:
    """Return the named functions of the file."""
    found = {}
    for node in source.nodes:
        if node.type in {"function_declaration", "variable_declarator"}:
            name = node.child_by_field_name("name")
            if name is not None and name.type == "identifier":
                found[source.text(name)] = node
    return found
