"""Where a Python test takes what it expects from what it asserts about: two names of one thing are compared."""

import ast
from typing import Final

from ralph_tracker.integrity.python.certainties import is_pure
from ralph_tracker.integrity.python.constants import UNKNOWN, value_of
from ralph_tracker.integrity.python.expectations import sides_of
from ralph_tracker.integrity.python.syntax import Function, blocks_below, dotted, nodes_below, same

_TWO: Final = 2
_COPIES: Final = frozenset({"copy", "deepcopy", "approx"})
_HARMLESS: Final = (ast.Assert, ast.Pass, ast.Import, ast.ImportFrom)
_TELLING: Final = frozenset({"print", "pprint", "log", "logger", "logging"})
_LITERALS: Final = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.UnaryOp)
_ASSIGNING: Final = (ast.Assign, ast.AnnAssign)
_Known = dict[str, ast.expr]


def uncopied(node: ast.expr) -> ast.expr:
    """Return what an expression is a copy of: `x.copy()`, `copy.deepcopy(x)`, `pytest.approx(x)`."""
    if not isinstance(node, ast.Call):
        return node
    if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
        return node.func.value
    return node.args[0] if node.args and dotted(node.func).rpartition(".")[2] in _COPIES else node


def taken_in(test: Function) -> dict[int, bool]:
    """Return the assertions of a test, by `id`, that compare a thing with what was taken from it just before.

    True where both are one object; False where the same is asked of it twice, or it is compared with its copy.
    """
    found: dict[int, bool] = {}
    waiting: list[ast.AST] = [test]
    for node in waiting:
        inner = blocks_below(node)
        waiting.extend(inner)
        known: _Known = {}
        for statement in inner:
            if isinstance(statement, _ASSIGNING) and statement.value is not None:
                known = _assigned(statement, statement.value, known)
                continue
            if isinstance(statement, ast.If) and (made := _made_equal(statement)):
                known = {**known, **made}
                continue
            claim = _claim_of(statement)
            taken = _is_taken(claim, known) if claim is not None and known else None
            if taken is not None:
                found[id(statement)] = taken
            if claim is None and not _is_harmless(statement):
                known = {}
    return found


def may_be_taken(sides: list[ast.expr]) -> bool:
    """Tell whether two sides of a comparison may be one thing: a name, and what is no literal."""
    named = any(isinstance(each, ast.Name) for each in sides)
    return named and len(sides) == _TWO and not any(isinstance(each, _LITERALS) for each in sides)


def _is_harmless(statement: ast.AST) -> bool:
    told = isinstance(statement, ast.Expr) and dotted(statement.value).partition(".")[0] in _TELLING
    return told or isinstance(statement, _HARMLESS)


def _claim_of(statement: ast.AST) -> ast.expr | None:
    """Return the comparison that a statement claims, None for any other."""
    if isinstance(statement, ast.Assert):
        return statement.test if isinstance(statement.test, ast.Compare) else None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return statement.value if "assert" in dotted(statement.value.func).lower() else None
    return None


def _made_equal(statement: ast.If) -> _Known:
    """Return which name is another one from there on: `if got != expected: expected = got`."""
    asked, last = statement.test, statement.body[-1]
    differ = isinstance(asked, ast.Compare) and isinstance(asked.ops[0], ast.NotEq) and not statement.orelse
    if not differ or not isinstance(last, ast.Assign) or not isinstance(last.value, ast.Name):
        return {}
    sides = {dotted(asked.left), *map(dotted, asked.comparators)}  # type: ignore[attr-defined]  # a comparison
    target = dotted(last.targets[0])
    return {target: last.value} if sides == {target, last.value.id} else {}


def _assigned(statement: ast.Assign | ast.AnnAssign, value: ast.expr, known: _Known) -> _Known:
    """Return what names stand for after an assignment; what is called may change anything."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = [each.id for target in targets for each in nodes_below(target) if isinstance(each, ast.Name)]
    is_plain = all(isinstance(each, ast.Name) for each in targets)
    copied = uncopied(value)
    if not is_pure(copied):
        same_thing: _Known = dict.fromkeys(names[1:], ast.Name(names[0]))
        return {names[0]: value, **same_thing} if is_plain else {}
    known = {name: each for name, each in known.items() if name not in names and not _uses(each, names)}
    if is_plain and value_of(copied) is UNKNOWN and not _uses(copied, names):
        taken = known.get(value.id, value) if isinstance(value, ast.Name) else value
        taken = taken if is_pure(uncopied(taken)) else value
        known.update(dict.fromkeys(names, taken))
    return known


def _uses(node: ast.expr, names: list[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in names for each in nodes_below(node))


def _is_taken(claim: ast.expr, known: _Known) -> bool | None:
    sides = sides_of(claim)
    if not may_be_taken(sides):
        return None
    pure = {name: each for name, each in known.items() if is_pure(uncopied(each))}
    for names in (pure, known):
        left, right = (names.get(each.id, each) if isinstance(each, ast.Name) else each for each in sides)
        if same(uncopied(left), uncopied(right)):
            return isinstance(left, ast.Name) and isinstance(right, ast.Name)
    return None
