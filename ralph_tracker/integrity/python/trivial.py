"""What a Python test may ask of anything, so that nothing can fail it: an attribute of all objects, any text."""

import ast
import builtins
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.certainties import ACTS, PURE_CALLS, is_empty, is_pure, is_text, is_truth
from ralph_tracker.integrity.python.syntax import dotted, nodes_below, same

_OF_ALL_OBJECTS: Final = frozenset(dir(object))
# A pattern of one part that may be missing is found in any text.
_MISSING: Final = Pattern(r"\^?(\(\?s\))?\^?(\(?(\\?\w|\.|\[[^\[\]]+\])[*?]\??\)?)?", 0)
_ACTING: Final = frozenset(
    {
        "open",
        "input",
        "exec",
        "eval",
        "compile",
        "globals",
        "locals",
        "vars",
        "dir",
        "print",
        "breakpoint",
        "exit",
        "quit",
    }
    | {"iter", "next", "help", "delattr", "setattr", "getattr", "id", "hash", "object", "__import__", "copyright"}
)
_BUILTINS: Final = frozenset(name for name in dir(builtins) if not name.startswith("_")) - _ACTING

_MAKING: Final = {
    "len": "int",
    "repr": "str",
    "sorted": "list",
    "id": "int",
    "hash": "int",
    "dir": "list",
    "vars": "",
    "max": "",
} | dict.fromkeys(("min", "sum", "abs", "type"), "")
_KINDS: Final = {
    ast.List: "list",
    ast.ListComp: "list",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Tuple: "tuple",
    ast.JoinedStr: "str",
}
_PAIR: Final = 2


def names_of_itself(left: ast.expr, right: ast.expr) -> bool:
    """Tell whether something is compared with the name that it was given there: `(x := f()) == x`."""
    named = left.target if isinstance(left, ast.NamedExpr) else None
    return named is not None and isinstance(right, ast.Name) and named.id == right.id


def asks_nothing(node: ast.Call) -> bool:
    """Tell whether a call asks for what anything, or what it was given, has anyway."""
    return _holds_nothing(node) or _has_whatever(node) or _is_of_any_kind(node)


def _is_of_any_kind(node: ast.Call) -> bool:
    """Read `isinstance(x, object)`, `isinstance(x, type(x))` and `isinstance(str(x), str)`."""
    if dotted(node.func) not in {"isinstance", "issubclass"} or len(node.args) != _PAIR:
        return False
    asked, kind = node.args
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(
        dotted(each) == "object" or _is_kind_of_truth(asked, each) or _is_of_its_own_kind(asked, each) for each in kinds
    )


def _is_of_its_own_kind(node: ast.expr, kind: ast.expr) -> bool:
    """Tell whether it is asked if something is of its own class: `isinstance(x, type(x))`."""
    if isinstance(kind, ast.Call) and dotted(kind.func) == "type" and len(kind.args) == 1:
        return same(node, kind.args[0])
    if isinstance(kind, ast.Attribute) and kind.attr == "__class__":
        return same(node, kind.value)
    return _KINDS.get(type(node)) == dotted(kind) or _is_made_so(node, dotted(kind))


def _is_made_so(node: ast.expr, kind: str) -> bool:
    """Tell whether something was just made to be of a kind: `isinstance(str(x), str)`."""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return bool(name) and _MAKING.get(name, name if name in PURE_CALLS else "") == kind


def _is_kind_of_truth(node: ast.expr, kind: ast.expr) -> bool:
    """Tell whether it is asked if what is true or false is a truth value."""
    return is_truth(node) and dotted(kind) in {"bool", "int"}


def is_picked_so(node: ast.expr) -> bool:
    """Tell whether a comprehension goes through what was picked by the same question: `x > 0 for x in y if x > 0`."""
    return isinstance(node, ast.GeneratorExp | ast.ListComp) and any(
        same(node.elt, each) for part in node.generators for each in part.ifs
    )


def _has_whatever(node: ast.Call) -> bool:
    """Tell whether it is asked for an attribute that all objects have: `hasattr(x, "__class__")`."""
    name = node.args[1] if dotted(node.func) == "hasattr" and len(node.args) > 1 else None
    return isinstance(name, ast.Constant) and name.value in _OF_ALL_OBJECTS


def finds_anything(node: ast.Call) -> bool:
    """Tell whether a pattern is looked for that any text has: `re.match(".*", x)`."""
    name, given = dotted(node.func), node.args
    if name in {"re.compile.match", "re.compile.search"}:
        given = getattr(getattr(node.func, "value", None), "args", [])
    elif name not in {"re.match", "re.search"}:
        return False
    return bool(given) and is_pattern_of_any(given[0])


def is_pattern_of_any(node: ast.expr) -> bool:
    """Tell whether an expression is a pattern that is found in any text."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_MISSING.fullmatch(node.value))


def asks_constants(node: ast.expr) -> bool:
    """Tell whether an expression asks nothing but builtins about constants: `len("lid") == 3`."""
    if isinstance(node, ast.Name | ast.Constant) or not isinstance(
        node, ast.Compare | ast.Call | ast.BoolOp | ast.Subscript
    ):
        return False
    inside = nodes_below(node)
    return any(isinstance(each, ast.Call | ast.Subscript) for each in inside) and all(map(_is_of_constants, inside))


def _is_of_constants(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _BUILTINS
    return not isinstance(node, (*ACTS, ast.Lambda, ast.comprehension))


def _holds_nothing(node: ast.Call) -> bool:
    """Tell whether an expression asks for no more than an empty beginning, end or part: `text.startswith("")`."""
    if not isinstance(node.func, ast.Attribute) or len(node.args) != 1:
        return False
    if node.func.attr == "issubset":
        return is_empty(node.func.value)
    given = node.args[0]
    empty = isinstance(given, ast.Constant) and given.value in {"", b""}
    itself = same(given, node.func.value) and is_pure(given)
    return node.func.attr in {"startswith", "endswith"} and (empty or itself)


def is_part_of_any(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool:
    """Tell whether nothing is looked for in something: `"" in str(x)`, `set() <= x`."""
    if isinstance(operator, ast.In):
        # What is no text has itself for a part nowhere.
        itself = same(left, right) and (is_text(right) or is_pure(right))
        return itself or (is_text(right) and isinstance(left, ast.Constant) and left.value == "")
    if isinstance(operator, ast.NotIn):
        return is_empty(right)
    empty = isinstance(left, ast.Call) and dotted(left.func) in {"set", "frozenset"} and not left.args
    return empty and isinstance(operator, ast.LtE)
