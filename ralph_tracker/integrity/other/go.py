"""The tests of a Go file, as `go test` names them: `TestX`, `TestX/sub`, the methods of testify's suites."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ralph_tracker.integrity.other.gathering import Found, Gatherer
from ralph_tracker.integrity.other.go_assertions import assertions_in
from ralph_tracker.integrity.other.source import Source, arguments_of, first_in, last_line_of, line_of, on_one_line
from ralph_tracker.integrity.source_tests import Assertion

if TYPE_CHECKING:
    from tree_sitter import Node

_TEST: Final = re.compile(r"(?:Test|Fuzz)(?![a-z])")
_EXAMPLE: Final = re.compile(r"Example(?![a-z])")
_OUTPUT: Final = re.compile(r"//\s*(?:Unordered\s+)?[Oo]utput:.*", re.DOTALL)
_RECEIVER: Final = re.compile(r"\*?\s*(\w+)\s*(?:\[.*\])?\)$", re.DOTALL)
_STRINGS: Final = frozenset({"interpreted_string_literal", "raw_string_literal"})
_SKIPS: Final = frozenset({"Skip", "Skipf", "SkipNow"})
_ESCAPE: Final = re.compile(r"\\(.)")
_SPACES: Final = re.compile(r"\s")
_SUITE: Final = re.compile(r"\bsuite\.Run\(\s*\w+\s*,\s*(?:new\(\s*|&?\s*)(?:\w+\.)?(\w+)")


def tests_in(source: Source) -> Iterator[Found]:
    """Yield the tests, each with its subtests after it; what a subtest asserts its test asserts too."""
    functions = [each for each in source.nodes if each.type in {"function_declaration", "method_declaration"}]
    gatherer = Gatherer(source, assertions_in, _helpers(functions, source))
    suites = _suites(functions, source)
    for function in functions:
        name, body = _named(function, source), function.child_by_field_name("body")
        if body is None or name is None:
            continue
        if function.type == "method_declaration":
            owner = suites.get(_receiver(function, source))
            name = f"{owner}/{name}" if owner and _TEST.match(name) else None
        elif _EXAMPLE.match(name):
            yield from _example(name, function, source)
            continue
        elif not (_TEST.match(name) and _takes_testing(function, source)):
            continue
        if name is not None:
            off = _is_skipped(body, source)
            yield Found(name, line_of(function), last_line_of(function), gatherer.later(body), skipped=off)
            yield from _subtests(name, body, source, gatherer, skipped=off)


def _subtests(name: str, body: "Node", source: Source, gatherer: Gatherer, *, skipped: bool) -> Iterator[Found]:
    """Yield the subtests that have a literal for a name; those of a table are known to the report alone."""
    around: list[tuple[int, str, bool]] = []
    for node in source.inside(body):
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        function = node.child_by_field_name("function") if node.type == "call_expression" else None
        field = function.child_by_field_name("field") if function is not None else None
        if field is None or source.text(field) != "Run":
            continue
        given = arguments_of(node.child_by_field_name("arguments"))
        if len(given) != 2 or given[0].type not in _STRINGS or given[1].type != "func_literal":  # noqa: PLR2004  # `t.Run`
            continue
        _, prefix, off = around[-1] if around else (0, name, skipped)
        inner = given[1].child_by_field_name("body")
        off = off or (inner is not None and _is_skipped(inner, source))
        title = f"{prefix}/{_title(given[0], source)}"
        yield Found(title, line_of(node), last_line_of(node), gatherer.later(given[1]), skipped=off)
        around.append((node.end_byte, title, off))


def _title(node: "Node", source: Source) -> str:
    """Return the name of a subtest as Go writes it."""
    text = source.text(node)[1:-1]
    text = _ESCAPE.sub(r"\1", text) if node.type == "interpreted_string_literal" else text
    return _SPACES.sub("_", text)


def _example(name: str, function: "Node", source: Source) -> Iterator[Found]:
    """Yield an example that says what it prints; others are not run."""
    output = _OUTPUT.search(source.text(function))
    if output is None:
        return
    demanded = Assertion(line=last_line_of(function), text=on_one_line(output[0].rstrip("}")), subject=name)
    yield Found(name, line_of(function), last_line_of(function), (demanded,), skipped=False)


def _is_skipped(body: "Node", source: Source) -> bool:
    """Tell whether a statement of the body skips the test without a condition."""
    statements = body.named_children
    if len(statements) == 1 and statements[0].type == "statement_list":
        statements = statements[0].named_children
    for statement in statements:
        call = first_in(statement) if statement.type == "expression_statement" else None
        if call is not None and call.type == "call_expression" and source.chain(call)[-1].name in _SKIPS:
            return True
    return False


def _named(function: "Node", source: Source) -> str | None:
    name = function.child_by_field_name("name")
    return None if name is None else source.text(name)


def _takes_testing(function: "Node", source: Source) -> bool:
    parameters = function.child_by_field_name("parameters")
    return parameters is not None and "testing." in source.text(parameters)


def _receiver(function: "Node", source: Source) -> str:
    receiver = function.child_by_field_name("receiver")
    found = _RECEIVER.search(source.text(receiver)) if receiver is not None else None
    return found[1] if found else ""


def _suites(functions: Iterable["Node"], source: Source) -> Mapping[str, str]:
    """Return the tests that run testify's suites, by the type of the suite."""
    found = {}
    for function in functions:
        name = _named(function, source)
        if function.type == "function_declaration" and name and _TEST.match(name):
            found.update(dict.fromkeys(_SUITE.findall(source.text(function)), name))
    return found


def _helpers(functions: Iterable["Node"], source: Source) -> Mapping[str, "Node"]:
    """Return the functions and methods that are no tests."""
    named = ((_named(function, source), function) for function in functions)
    return {name: function for name, function in named if name is not None and not _TEST.match(name)}
