"""What an expression is worth whatever is under test, in every language whose operators are written alike."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ralph_tracker.integrity.other.source import Source, first_in, on_one_line, words
from ralph_tracker.integrity.python.constants import BOTH_WAYS, CONSTANT, ITSELF, LENGTH

if TYPE_CHECKING:
    from tree_sitter import Node

Known = tuple[bool, str]
Value = tuple[str, object]
_DEEPEST: Final = 40
_TRANSPARENT: Final = frozenset(
    {"parenthesized_expression", "non_null_expression", "as_expression", "satisfies_expression"}
)
_BOOLEANS: Final = frozenset({"true", "false", "boolean_literal"})
_NULLS: Final = {"null": "null", "null_literal": "null", "nil": "null", "undefined": "undefined"}
_NUMBERS: Final = words(
    "number int_literal float_literal integer_literal decimal_integer_literal decimal_floating_point_literal"
)
_STRINGS: Final = words(
    "string string_literal interpreted_string_literal raw_string_literal rune_literal char_literal character_literal"
)
# Objects of JavaScript, which are all true; in the other languages none stands where a condition does.
_OBJECTS: Final = words(
    "array object arrow_function function_expression new_expression class regex composite_literal func_literal "
    "object_creation_expression array_creation_expression closure_expression"
)
_SUFFIX: Final = re.compile(r"(?<=[\d.])(?:[lLdDfFn]|[iu](?:8|16|32|64|128|size)|f32|f64)$")
_LENGTH: Final = re.compile(r"^len\(.*\)$|\.(length|size|len|count)(\(\))?$", re.DOTALL)
_PURE_CALL: Final = re.compile(r"\blen\(([\w.]*)\)|\.(length|size|len)\(\)")
_IMPURE: Final = re.compile(r"\(|\+\+|--|`|!\[|\bawait\b|<-")
_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": lambda a, b: a == b,
    "===": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "!==": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_REFLEXIVE: Final = {**dict.fromkeys(("==", "===", "<=", ">="), True), **dict.fromkeys(("!=", "!==", "<", ">"), False)}
_BINARY: Final = "binary_expression"


def value_of(node: "Node", source: Source) -> Value | None:
    """Return what a literal comes to, with its kind, None for anything else."""
    node = bare(node)
    kind, text = node.type, source.text(node)
    if kind in _BOOLEANS:
        return "bool", text == "true"
    if kind in _NULLS:
        return "null", _NULLS[kind]
    if kind in _STRINGS:
        return "string", text[1:-1] if text[:1] in {'"', "'"} else text
    if kind == "unary_expression" and text.startswith("-") and (inner := first_in(node)) is not None:
        value = value_of(inner, source) if bare(inner).type in _NUMBERS else None
        return ("number", -value[1]) if value is not None and isinstance(value[1], float) else None
    return _number(text) if kind in _NUMBERS else None


def _number(text: str) -> Value | None:
    try:
        return "number", float(_SUFFIX.sub("", text.replace("_", "")))
    except ValueError:
        return None


def bare(node: "Node") -> "Node":
    """Return an expression without the brackets and the casts around it."""
    for _ in range(_DEEPEST):
        inner = first_in(node) if node.type in _TRANSPARENT else None
        if inner is None:
            break
        node = inner
    return node


def same(left: "Node", right: "Node", source: Source) -> bool:
    """Tell whether two expressions read the same and come to the same: what they call are lengths at most."""
    text = on_one_line(source.text(bare(left)))
    return text == on_one_line(source.text(bare(right))) and not _IMPURE.search(_PURE_CALL.sub("", text))


def is_object(node: "Node") -> bool:
    """Tell whether an expression makes an object, which is never null."""
    node = bare(node)
    if node.type == "unary_expression" and (inner := first_in(node)) is not None:
        return inner.type == "composite_literal"
    return node.type in _OBJECTS


def is_length(node: "Node", source: Source) -> bool:
    """Tell whether an expression is the length of something."""
    return _LENGTH.search(source.text(bare(node))) is not None


def truth(node: "Node", source: Source, depth: int = 0) -> Known | None:
    """Return whether a condition is true, and why that is known; None where it is not."""
    node = bare(node)
    if depth > _DEEPEST:
        return None
    value = value_of(node, source)
    if value is not None:
        return bool(value[1]) and value[0] != "null", CONSTANT
    if node.type in _OBJECTS:
        return True, CONSTANT
    if node.type == "unary_expression":
        return _unary(node, source, depth)
    return _binary(node, source, depth) if node.type == _BINARY else None


def _unary(node: "Node", source: Source, depth: int) -> Known | None:
    operator, operand = next(iter(node.children), None), first_in(node)
    if operator is None or operand is None:
        return None
    if operator.type == "typeof":
        return True, CONSTANT
    known = truth(operand, source, depth + 1) if operator.type == "!" else None
    return None if known is None else (not known[0], known[1])


def sides(node: "Node") -> tuple["Node", str, "Node"] | None:
    """Return the left side, the operator and the right side of an operation, None where it is none."""
    if node.type != _BINARY:
        return None
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    return None if left is None or operator is None or right is None else (left, operator.type, right)


def _binary(node: "Node", source: Source, depth: int) -> Known | None:
    parts = sides(node)
    if parts is None:
        return None
    left, operator, right = parts
    if operator not in _OPERATORS:
        return _either(left, operator, right, source, depth)
    values = value_of(left, source), value_of(right, source)
    if values[0] is not None and values[1] is not None:
        return _compared(values[0], operator, values[1])
    if same(left, right, source):
        return _REFLEXIVE[operator], ITSELF
    is_hollow = operator == ">=" and values[1] == ("number", 0.0) and is_length(left, source)
    return (True, LENGTH) if is_hollow else None


def _either(left: "Node", operator: str, right: "Node", source: Source, depth: int) -> Known | None:
    if operator not in {"||", "&&"}:
        return None
    decides = operator == "||"
    parts = truth(right, source, depth + 1), truth(left, source, depth + 1)
    for known in parts:
        if known is not None and known[0] == decides:
            return known
    if parts[0] is not None and parts[1] is not None:
        return parts[0]
    for one, other in ((left, right), (right, left)):
        inner = bare(other)
        denied = first_in(inner) if inner.type == "unary_expression" else None
        if denied is not None and source.text(inner).startswith("!") and same(one, denied, source):
            return decides, BOTH_WAYS
    return None


def _compared(left: Value, operator: str, right: Value) -> Known | None:
    if left[0] != right[0] or (left[0] == "string" and left != right and operator not in {"==", "===", "!=", "!=="}):
        return None
    return _OPERATORS[operator](left[1], right[1]), CONSTANT
