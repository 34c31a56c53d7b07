"""What the objects of a Python class are compared by that is made of its fields."""

import ast
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.nodes import constant_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, dotted

_MADE: Final = Pattern(r"(^|\.)(dataclass|define|mutable|frozen|attrs|s|attrib)$")
_FIELD: Final = Pattern(r"(^|\.)(field|ib|attrib|Field)$")
_COMPARING: Final = frozenset({"compare", "eq", "cmp"})
_SELF_AND_MORE: Final = 2


def compares_no_field(kind: ast.ClassDef) -> bool:
    """Tell whether objects of a class whose equality is made of its fields hold something, and none of it counts."""
    markers = [each.func if isinstance(each, ast.Call) else each for each in kind.decorator_list]
    if not any(_MADE.search(dotted(each)) for each in markers) or _by_identity(kind):
        return False
    fields = [each for each in kind.body if _is_field(each)]
    if fields:
        return not any(map(_is_compared, fields))
    made = next((each for each in kind.body if isinstance(each, FUNCTIONS) and each.name == "__init__"), None)
    return made is not None and not kind.bases and len(made.args.args) >= _SELF_AND_MORE


def _by_identity(kind: ast.ClassDef) -> bool:
    calls = (each for each in kind.decorator_list if isinstance(each, ast.Call))
    return any(
        given.arg in {"eq", "cmp"} and constant_of(given.value) is False for each in calls for given in each.keywords
    )


def _is_field(node: ast.stmt) -> bool:
    if isinstance(node, ast.AnnAssign):
        return "ClassVar" not in ast.unparse(node.annotation)
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and bool(_FIELD.search(dotted(node.value.func)))
    )


def _is_compared(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.AnnAssign | ast.Assign) else None
    if not isinstance(value, ast.Call) or not _FIELD.search(dotted(value.func)):
        return True
    return not any(each.arg in _COMPARING and constant_of(each.value) is False for each in value.keywords)
