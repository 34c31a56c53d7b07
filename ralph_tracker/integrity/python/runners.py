"""Where Python source branches on whether what runs tests can be imported."""

import ast
from collections.abc import Iterator
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.nodes import constant_of, functions_of, nodes_of
from ralph_tracker.integrity.python.syntax import dotted, nodes_below

_RUNNER: Final = Pattern(r"^(_?pytest|py\.test|unittest|nose2?)(\.|$)")
_MENTIONS: Final = ("pytest", "unittest", "nose")
_FINDERS: Final = frozenset({"find_spec", "find_loader", "import_module", "__import__"})


def asks_for_runner(text: str) -> Iterator[ast.If | ast.IfExp]:
    """Yield the branches on whether a runner is there, but for those that go on to use it. Raises Unparsable."""
    if not any(word in text for word in _MENTIONS):
        return
    modules, flags = _bound(text)
    for around in functions_of(text):
        parts = nodes_below(around)
        asking = [each for each in parts if isinstance(each, ast.If | ast.IfExp) and _asks(each.test, modules | flags)]
        asked = {id(node) for each in asking for node in nodes_below(each.test)}
        used = any(isinstance(node, ast.Name) and node.id in modules and id(node) not in asked for node in parts)
        if not used and not _imports(parts):
            yield from (each for each in asking if not _refuses(each))


def tries_runner(text: str) -> Iterator[ast.stmt]:
    """Yield the returns that depend on whether a runner can be imported, not used further. Raises Unparsable."""
    if not any(word in text for word in _MENTIONS):
        return
    for around in functions_of(text):
        for tried in (each for each in nodes_below(around) if isinstance(each, ast.Try)):
            names = {name for each in tried.body for name in _imported(each)}
            used = any(isinstance(each, ast.Name) and each.id in names for each in nodes_below(around))
            if names and not used and any(map(_is_absence, tried.handlers)):
                yield from (each for each in (*tried.body, *tried.orelse) if isinstance(each, ast.Return))


def _is_absence(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or "Import" in dotted(handler.type) or "NotFound" in dotted(handler.type)


def _bound(text: str) -> tuple[set[str], set[str]]:
    """Return the names of runners that are imported where that may fail, and what tells whether it did."""
    modules: set[str] = set()
    flags: set[str] = set()
    for tried in nodes_of(text, ast.Try):
        names = [name for each in tried.body for name in _imported(each)]
        if names:
            modules |= set(names)
            flags |= {
                dotted(target)
                for each in (*tried.body, *tried.orelse)
                if isinstance(each, ast.Assign) and constant_of(each.value) is True
                for target in each.targets
            }
    return modules, flags


def _imported(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        for each in statement.names:
            if _RUNNER.search(each.name):
                yield each.asname or each.name.partition(".")[0]
    elif isinstance(statement, ast.ImportFrom) and not statement.level and _RUNNER.search(statement.module or ""):
        yield from (each.asname or each.name for each in statement.names)


def _imports(parts: list[ast.AST]) -> bool:
    return any(isinstance(each, ast.stmt) and any(_imported(each)) for each in parts)


def _asks(test: ast.expr, names: set[str]) -> bool:
    """Tell whether a condition says no more of a runner than that it is there."""
    for each in [test, *(test.values if isinstance(test, ast.BoolOp) else ())]:
        node = each.operand if isinstance(each, ast.UnaryOp) else each
        if isinstance(node, ast.Compare) and constant_of(node.comparators[0]) is None:
            node = node.left
        if isinstance(node, ast.Name) and node.id in names:
            return True
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _FINDERS and node.args:
            name = constant_of(node.args[0])
            if isinstance(name, str) and _RUNNER.search(name):
                return True
    return False


def _refuses(branch: ast.If | ast.IfExp) -> bool:
    """Tell whether a branch ends in an error, or says that something has to be installed."""
    if isinstance(branch, ast.IfExp):
        return False
    return any(isinstance(each, ast.Raise) for part in branch.body for each in nodes_below(part)) or all(
        isinstance(each, ast.Expr) for each in branch.body
    )
