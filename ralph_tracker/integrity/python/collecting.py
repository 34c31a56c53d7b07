"""Hooks of pytest and unittest that take tests out of what was collected."""

import ast
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.expectations import module_values
from ralph_tracker.integrity.python.narrowing_hooks import ADDOPTS, MAY_NARROW, begins_with_less, narrows
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, nodes_in, tree_of

_ASKS: Final = frozenset({"getoption", "getvalue", "getini", "environ", "getenv", "option", "platform", "version_info"})
_CHOOSER: Final = "pytest_collection_modifyitems"
_CHOOSING: Final = frozenset(
    {_CHOOSER, "pytest_collection_finish", "pytest_itemcollected", "pytest_ignore_collect", "load_tests"}
    | {"pytest_pycollect_makeitem", "pytest_pycollect_makemodule", "pytest_collect_file", "pytest_collect_directory"}
    | {"pytest_collectstart", "pytest_generate_tests", "pytest_runtest_setup"}
)
_A_TEST: Final = Pattern(r"(^|::|/)(test_\w+|Test[A-Z]\w*)(\.py)?(\[|::|$)")
_ITEMS: Final = frozenset({"items", "session.items"})
_TAKES_OUT: Final = frozenset({"clear", "remove", "pop"})
_ORDERS: Final = frozenset({"sorted", "reversed", "list"})


class Dropped(NamedTuple):
    """Hold a statement by which a hook leaves tests out, as text."""

    hook: str
    line: int
    about: str


def dropped_from_collection(text: str) -> tuple[Dropped, ...]:
    """Return the statements that leave tests out without asking an option or the platform. Raises Unparsable.

    Where tests are left out by their names, no option that is asked too makes it honest.
    """
    functions = [node for node in tree_of(text).body if isinstance(node, FUNCTIONS)]
    found = [(hook.name, node) for hook in functions if _may_drop(hook, text) for node in _dropping(hook)]
    if MAY_NARROW.search(text):
        found += [(hook.name, node) for hook in functions for node in begins_with_less(hook)]
        found += [(ADDOPTS, node) for node in tree_of(text).body if ADDOPTS in text and narrows(node)]
    return tuple(Dropped(hook, node.lineno, ast.unparse(node)) for hook, node in found)


def _may_drop(hook: Function, text: str) -> bool:
    if hook.name not in _CHOOSING:
        return False
    nodes = nodes_in(hook)
    asks = any(
        (isinstance(node, ast.Attribute) and node.attr in _ASKS) or (isinstance(node, ast.Name) and node.id in _ASKS)
        for node in nodes
    )
    return not asks or (hook.name == _CHOOSER and _names_test(nodes, text))


def _names_test(nodes: Iterable[ast.AST], text: str) -> bool:
    """Tell whether a single test is named, or a constant of the file that names one."""
    known = module_values(text)
    given = [known[each.id] for each in nodes if isinstance(each, ast.Name) and each.id in known]
    return any(
        isinstance(each, ast.Constant) and isinstance(each.value, str) and _A_TEST.search(each.value) is not None
        for each in (*nodes, *(inner for value in given for inner in nodes_below(value)))
    )


def _dropping(hook: Function) -> Iterator[ast.stmt]:
    statements = [node for node in nodes_in(hook) if isinstance(node, ast.stmt)]
    if hook.name in {_CHOOSER, "pytest_collection_finish", "pytest_itemcollected"}:
        kept = _kept_only(statements)
        yield from (node for node in statements if _shrinks(node, kept))
    elif hook.name == "pytest_ignore_collect":
        yield from (node for node in statements if isinstance(node, ast.Return) and _is_true(node.value))
    elif hook.name == "load_tests":
        given = [each.arg for each in hook.args.args][1:2]
        if not any(isinstance(node, ast.Name) and node.id in given for node in nodes_in(hook)):
            yield hook.body[-1]
    else:
        yield from (node for node in statements if _makes_nothing(node))


def _kept_only(statements: list[ast.stmt]) -> frozenset[str]:
    """Return the names of lists that hold some of what a hook was given: filtered, or filled under a condition."""
    kept: set[str] = set()
    for node in statements:
        if isinstance(node, ast.Assign) and _selects(node.value):
            kept |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        elif (
            isinstance(node, ast.For)
            and "items" in ast.unparse(node.iter)
            and any(isinstance(each, ast.If) for each in node.body)
        ):
            kept |= {
                dotted(each.func).removesuffix(".append")
                for each in nodes_below(node)
                if isinstance(each, ast.Call) and dotted(each.func).endswith(".append")
            }
    return frozenset(kept)


def _makes_nothing(node: ast.stmt) -> bool:
    """Tell whether a hook that makes something to collect is told to make nothing of it."""
    if isinstance(node, ast.Return):
        value = node.value
        return any(
            _is_no_item(each) for each in ([value.body, value.orelse] if isinstance(value, ast.IfExp) else [value])
        )
    if isinstance(node, ast.Assign):
        target = dotted(node.targets[0])
        hollow = isinstance(node.value, ast.Lambda) and _is_no_item(node.value.body)
        is_off = target.endswith(".__test__") and isinstance(node.value, ast.Constant) and not node.value.value
        return is_off or (hollow and target.endswith(".collect")) or target.endswith(".shouldstop")
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    name = dotted(call.func)
    if name.endswith(".parametrize"):
        return len(call.args) > 1 and _is_no_item(call.args[1])
    return name.endswith(".force_result") and bool(call.args) and _is_no_item(call.args[0], none=True)


def _is_no_item(value: ast.expr | None, *, none: bool = False) -> bool:
    if isinstance(value, ast.Constant):
        return none and value.value is None
    return isinstance(value, ast.List | ast.Tuple) and not value.elts


def _is_true(value: ast.expr | None) -> bool:
    return value is not None and not (isinstance(value, ast.Constant) and not value.value)


def _shrinks(node: ast.stmt, kept: frozenset[str]) -> bool:
    if isinstance(node, ast.Delete):
        return any(isinstance(each, ast.Subscript) and _is_items(each.value) for each in node.targets)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        owner, _, method = dotted(node.value.func).rpartition(".")
        return (owner.rpartition(".")[2] == "items" and method in _TAKES_OUT) or method == "pytest_deselected"
    if not isinstance(node, ast.Assign):
        return False
    all_of = [
        each
        for each in node.targets
        if (isinstance(each, ast.Subscript) and _is_whole(each.slice) and _is_items(each.value))
        or dotted(each) == "session.items"
    ]
    return bool(all_of) and (_selects(node.value) or dotted(node.value) in kept)


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and node.lower is None and node.upper is None


def _is_items(node: ast.expr) -> bool:
    return dotted(node) in _ITEMS


def _selects(value: ast.expr) -> bool:
    """Tell whether an expression holds less than all items: filtered, sliced or empty."""
    if isinstance(value, ast.ListComp | ast.GeneratorExp):
        return any(generator.ifs for generator in value.generators)
    if isinstance(value, ast.List | ast.Tuple):
        return not value.elts
    if isinstance(value, ast.Call) and dotted(value.func) in _ORDERS and value.args:
        return _selects(value.args[0])
    if isinstance(value, ast.Subscript):
        return not isinstance(value.slice, ast.Slice) or bool(value.slice.lower or value.slice.upper)
    return isinstance(value, ast.Call) and dotted(value.func) == "filter"
