"""The tests of a Python file, as pytest and unittest collect them by name."""

import ast
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from ralph_tracker.integrity.python.assertions import Source, assertions_of, blocks_of
from ralph_tracker.integrity.python.constants import truth
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, lines_of, tree_of
from ralph_tracker.integrity.source_tests import SEPARATOR, Known, Later, SourceTest

_PREFIX: Final = "test"
_SKIPS: Final = frozenset({"skip", "xfail", "expectedFailure"})
_CONDITIONS: Final = {"skipif": True, "skipIf": True, "skipUnless": False, "xfail": True}
_SKIP_CALLS: Final = frozenset({"pytest.skip", "self.skipTest", "pytest.xfail"})
_SET_UPS: Final = frozenset({"setUp", "setUpClass", "setup_method", "setup_class", "setUpModule", "setup_module"})


def python_tests(path: str, text: str, known: Known) -> tuple[SourceTest, ...]:
    """Return the test functions and methods in the order of the file. Raises Unparsable."""
    tree = tree_of(text)
    source = Source(lines_of(text), known, text)
    found = _functions(tree.body, "", skipped=_all_skipped(tree.body))
    return tuple(_test(path, name, node, source, skipped=skipped) for name, node, skipped in found)


def python_helpers(path: str, text: str, known: Known) -> tuple[SourceTest, ...]:
    """Return the functions and methods that stand beside the tests, as tests are told. Raises Unparsable."""
    source = Source(lines_of(text), known, text)
    found = _functions(tree_of(text).body, "", skipped=False, tests=False)
    return tuple(_test(path, name, node, source, skipped=skipped) for name, node, skipped in found)


def _functions(
    body: Sequence[ast.stmt], prefix: str, *, skipped: bool, tests: bool = True
) -> Iterator[tuple[str, Function, bool]]:
    """Yield the tests of a block, or all but them; an `if` or a `try` round them makes them no less tests."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            inside = skipped or _is_skipped(node) or _all_skipped(node.body)
            yield from _functions(node.body, f"{prefix}{node.name}{SEPARATOR}", skipped=inside, tests=tests)
        elif isinstance(node, FUNCTIONS):
            if node.name.startswith(_PREFIX) is tests:
                yield f"{prefix}{node.name}", node, skipped or _is_skipped(node)
        else:
            for inner, _ in blocks_of(node):
                yield from _functions(inner, prefix, skipped=skipped, tests=tests)


def _test(path: str, name: str, node: Function, source: Source, *, skipped: bool) -> SourceTest:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    end = node.end_lineno or node.lineno
    return SourceTest(
        path=path,
        name=name,
        line=first,
        end=end,
        text="\n".join(source.lines[first - 1 : end]),
        assertions=Later(partial(assertions_of, node, source)),
        skipped=skipped,
        node=node,
    )


def _is_skipped(node: Function | ast.ClassDef) -> bool:
    """Tell whether a marker skips it, or expects it to fail, without asking for a condition."""
    return any(_skips(decorator) for decorator in node.decorator_list)


def _skips(marker: ast.expr) -> bool:
    name = dotted(marker).rpartition(".")[2]
    condition = _condition(marker)
    if name in _CONDITIONS and condition is not None:
        known = truth(condition)
        return known is not None and known[0] == _CONDITIONS[name]
    return name in _SKIPS


def _condition(marker: ast.expr) -> ast.expr | None:
    if not isinstance(marker, ast.Call) or dotted(marker).endswith(".skip"):
        return None
    named = next((each.value for each in marker.keywords if each.arg == "condition"), None)
    condition = marker.args[0] if marker.args else named
    # A condition given as a text is evaluated later: nothing is known of it here.
    return ast.Name("_") if isinstance(condition, ast.Constant) and isinstance(condition.value, str) else condition


def _all_skipped(body: Sequence[ast.stmt]) -> bool:
    """Tell whether a module or a class skips all that it holds."""
    return any(_skips_all(statement) for statement in body)


def _skips_all(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        name = dotted(statement.targets[0])
        if name == "pytestmark":
            value = statement.value
            return any(_skips(each) for each in (value.elts if isinstance(value, ast.List | ast.Tuple) else [value]))
        return name == "__test__" and isinstance(statement.value, ast.Constant) and not statement.value.value
    if isinstance(statement, FUNCTIONS):
        return statement.name in _SET_UPS and any(_stops(each) for each in statement.body)
    return _stops(statement)


def _stops(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        return dotted(statement.exc).endswith("SkipTest")
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    return dotted(statement.value.func) in _SKIP_CALLS
