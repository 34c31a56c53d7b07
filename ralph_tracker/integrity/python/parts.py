"""What a Python test binds, fills and overwrites: names, and parts of what they stand for."""

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from ralph_tracker.integrity.python.nodes import constant_of
from ralph_tracker.integrity.python.origins import FILLING, bound, bound_in_turn
from ralph_tracker.integrity.python.syntax import Function, dotted, nodes_below, nodes_in, statements_below

_SETTING: Final = frozenset({"setattr", "__setattr__", "setitem", "object"})
_REPLACING: Final = frozenset({"replace", "_replace", "evolve"})
_ROWS: Final = (ast.Tuple, ast.List)
_THREE: Final = 3


class Made(NamedTuple):
    """Hold one binding of a name or a part: where its statement stands and what it is bound to."""

    line: int
    column: int
    value: ast.expr


class Leak(NamedTuple):
    """Hold the names that something else was handed at a line: they may be changed from there on."""

    line: int
    to: ast.expr
    names: frozenset[str]


def key_of(node: ast.AST) -> str:
    """Return what a name or a part of it is bound by, "" for what has no name."""
    if isinstance(node, ast.Subscript):
        owner = key_of(node.value)
        key = constant_of(node.slice)
        return f"{owner}[{key!r}]" if owner and isinstance(key, str | int) else ""
    if isinstance(node, ast.Attribute):
        owner = key_of(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def fills_in(test: Function) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that are filled with something, each with what."""
    for node in nodes_in(test):
        if isinstance(node, ast.AugAssign):
            yield key_of(node.target), node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLING:
            yield from ((key_of(node.func.value), each) for each in node.args)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and not key_of(target):
                    yield from ((key_of(target.value), each) for each in (target.slice, node.value))


def leaks_in(test: Function) -> Iterator[Leak]:
    """Yield the names that are handed to what is called, or put into something else."""
    for node in nodes_in(test):
        if isinstance(node, ast.Call):
            yield from _leak(node.func, [*node.args, *(each.value for each in node.keywords)])
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            yield from _leak(node.targets[0], [node.value])


def _leak(to: ast.expr, given: list[ast.expr]) -> Iterator[Leak]:
    names = frozenset(part.id for each in given for part in nodes_below(each) if isinstance(part, ast.Name))
    if names:
        yield Leak(to.lineno, to, names)


def made_in(test: Function) -> Iterator[tuple[str, Made]]:
    """Yield each name or part with what it is bound to."""
    for statement in statements_below(test):
        for name, value in _of_statement(statement):
            yield name, Made(statement.lineno, statement.col_offset, value)


def _of_statement(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names and parts that a statement binds, fills or overwrites, with what."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _of_target(target, node.value)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield from _of_target(node.target, node.value)
    elif isinstance(node, ast.AugAssign):
        yield from ((key_of(node.target) + part, each) for part, each in _parts_of(node.value))
    elif isinstance(node, ast.For | ast.AsyncFor):
        yield from bound_in_turn(node.target, node.iter)
    elif isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            if item.optional_vars is not None:
                yield from bound(item.optional_vars, item.context_expr)
            yield from _of_value(item.context_expr)
    yield from _inside(node)


def _inside(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield what a statement binds within its expressions, and what its call overwrites."""
    if isinstance(node, ast.Expr):
        yield from _of_value(node.value)
    for part in nodes_below(node) if isinstance(node, ast.Assert | ast.Expr | ast.Assign) else ():
        if isinstance(part, ast.NamedExpr):
            yield part.target.id, part.value
        elif isinstance(part, ast.comprehension):
            yield from bound_in_turn(part.target, part.iter)


def _of_target(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, _ROWS):
        parts = value.elts if isinstance(value, _ROWS) and len(value.elts) == len(target.elts) else None
        for at, each in enumerate(target.elts):
            yield from _of_target(each, value if parts is None else parts[at])
        return
    place = _place(target)
    if place:
        yield place, value
    yield from ((f"{place}{part}", each) for part, each in _parts_of(value) if place)


def _parts_of(value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parts of a value that are told in place: of `replace(…, size=4)`, and of `{**more, "a": 4}`."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
        value = value.right
    if isinstance(value, ast.Dict):
        pairs = zip(value.keys, value.values, strict=True)
        yield from ((f"[{constant_of(key)!r}]", each) for key, each in pairs if key is not None)
    elif isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in _REPLACING:
        yield from ((f".{each.arg}", each.value) for each in value.keywords if each.arg)


def _place(target: ast.expr) -> str:
    """Return the key that a target means: `type(b).size`, `vars(b)["size"]` and `b.__dict__["size"]` are `b.size`."""
    if isinstance(target, ast.Subscript):
        names = _names_of(target.value)
        return f"{names}.{constant_of(target.slice)}" if names else key_of(target)
    if isinstance(target, ast.Attribute):
        if target.attr == "__class__":
            return key_of(target.value)
        of = target.value
        if isinstance(of, ast.Call) and dotted(of.func) == "type" and of.args:
            return f"{key_of(of.args[0])}.{target.attr}"
    return key_of(target)


def _names_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return key_of(node.value)
    return key_of(node.args[0]) if isinstance(node, ast.Call) and dotted(node.func) == "vars" and node.args else ""


def _of_value(value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield what a call overwrites: `setattr(b, "size", 4)`, `b.update(a=4)`, `patch.object(b, "size", 4)`."""
    if not isinstance(value, ast.Call):
        return
    if isinstance(value.func, ast.Attribute):
        owner, method = value.func.value, value.func.attr
        if method == "__setitem__" and value.args:
            yield f"{key_of(owner)}[{constant_of(value.args[0])!r}]", value.args[-1]
            return
        if method == "update":
            yield from _updated(owner, value)
            return
    if dotted(value.func).rpartition(".")[2] in _SETTING and len(value.args) == _THREE:
        name = constant_of(value.args[1])
        key = f".{name}" if "item" not in dotted(value.func) else f"[{name!r}]"
        yield f"{key_of(value.args[0])}{key}", value.args[2]


def _updated(owner: ast.expr, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    names = _names_of(owner)
    place = names or key_of(owner)
    given = [(each.arg, each.value) for each in call.keywords if each.arg]
    for each in call.args:
        if isinstance(each, ast.Dict):
            given += [(str(constant_of(key)), value) for key, value in zip(each.keys, each.values, strict=True) if key]
    yield from ((f"{place}.{name}" if names else f"{place}[{name!r}]", value) for name, value in given)
