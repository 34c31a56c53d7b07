"""Where the tests' own code, no hook, makes a result say something else: a report, or what unittest keeps of a test."""

import ast
from collections.abc import Iterator
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.facts import Fact, fact
from ralph_tracker.integrity.python.nodes import constant_of, functions_of
from ralph_tracker.integrity.python.plugins import PREFIX
from ralph_tracker.integrity.python.syntax import dotted, nodes_in

_REPORT: Final = Pattern(r"^(rep|report|test_?report|result_report)$")
_KEPT: Final = Pattern(r"^(self\.)?_outcome(\.\w+)?$")
_RESULT: Final = Pattern(r"(^|\.)((_?test_?)?result|_outcome\.result)\.(failures|errors)$")


def outcomes_mended(text: str) -> Iterator[Fact]:
    """Yield where functions set a report that they are given, or empty what unittest keeps. Raises Unparsable."""
    for function in functions_of(text):
        if function.name.startswith(PREFIX):
            continue
        given = {each.arg for each in function.args.args if _REPORT.match(each.arg)}
        for node in nodes_in(function):
            if isinstance(node, ast.Assign):
                yield from _assigned(node, given)
            elif isinstance(node, ast.Call) and dotted(node.func).endswith(".clear"):
                owner = dotted(node.func).removesuffix(".clear")
                if _KEPT.match(owner) or _RESULT.search(owner):
                    yield fact("failures taken out of the result", node)


def _assigned(node: ast.Assign, given: set[str]) -> Iterator[Fact]:
    for target in node.targets:
        name = dotted(target)
        owner, _, attribute = name.rpartition(".")
        if attribute == "outcome" and owner in given and constant_of(node.value) == "passed":
            yield fact("test outcome set to passed", node)
        elif name.startswith("self._outcome") and _KEPT.match(name):
            yield fact("result of a test set by itself", node)
        elif _RESULT.search(name) and isinstance(node.value, ast.List) and not node.value.elts:
            yield fact("failures taken out of the result", node)
