"""What is demanded of a subject: how much, and whether anything can fail it, whatever a library calls it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ralph_tracker.integrity.other.constants import bare, is_length, is_object, same, sides, truth, value_of
from ralph_tracker.integrity.other.source import Source, first_in
from ralph_tracker.integrity.python.constants import CONSTANT, EVERYTHING, ITSELF, LENGTH
from ralph_tracker.integrity.python.demands import EQUAL, KIND, MEMBER, NOT_THAT, ORDER, TRUTH

if TYPE_CHECKING:
    from tree_sitter import Node

How = Literal["", "equal", "unequal", "true", "false", "null", "present", "at least"]
_OPPOSITE: Final[Mapping[How, How]] = {
    "equal": "unequal",
    "unequal": "equal",
    "true": "false",
    "false": "true",
    "null": "present",
    "present": "null",
}
_DENIED: Final[Mapping[How, int]] = {"equal": NOT_THAT, "null": TRUTH, "present": EQUAL, "true": EQUAL, "false": TRUTH}
_NEGATIONS: Final = 8
_NEGATED: Final = {"==": "!=", "===": "!=", "!=": "==", "!==": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(frozen=True, slots=True)
class Kind:
    """Describe what a library's assertion demands: how it compares, and how strong that is (None: not known)."""

    how: How = ""
    strength: int | None = None

    def denied(self) -> "Kind":
        """Return what its negation demands."""
        return Kind(_OPPOSITE.get(self.how, ""), _DENIED.get(self.how, TRUTH if self.strength == EQUAL else None))


SAME: Final = Kind("equal", EQUAL)
OTHER: Final = Kind("unequal", NOT_THAT)
TRUE: Final = Kind("true", TRUTH)
FALSE: Final = Kind("false", EQUAL)
NULL: Final = Kind("null", EQUAL)
PRESENT: Final = Kind("present", TRUTH)
PART: Final = Kind("", MEMBER)
SIZE: Final = Kind("", MEMBER + 500)
OF_TYPE: Final = Kind("", KIND)
FAILS: Final = Kind("", KIND)
ORDERED: Final = Kind("", ORDER)
AT_LEAST: Final = Kind("at least", ORDER)
UNKNOWN: Final = Kind()


def table(*rows: tuple[Kind, str]) -> Mapping[str, Kind]:
    """Return kinds by the names that stand in each row."""
    return {name: kind for kind, names in rows for name in names.split()}


def subject_among(nodes: Iterable["Node"], source: Source) -> "Node | None":
    """Return the first of some expressions that is no literal, else the first."""
    nodes = list(nodes)
    return next((node for node in nodes if value_of(node, source) is None), nodes[0] if nodes else None)


def vacuous(kind: Kind, subject: "Node | None", expected: "Node | None", source: Source) -> str | None:
    """Return why nothing can fail a demand, None where something can."""
    if subject is None:
        return None
    if kind.how in {"true", "false"}:
        return _as_true(subject, source, wanted=kind.how == "true")
    if kind.how in {"null", "present"}:
        return _as_null(subject, source, wanted=kind.how == "null")
    if kind.how in {"equal", "unequal", "at least"} and expected is not None:
        return _compared(kind.how, subject, expected, source)
    return None


def _as_true(subject: "Node", source: Source, *, wanted: bool) -> str | None:
    known = truth(subject, source)
    return known[1] if known is not None and known[0] == wanted else None


def _as_null(subject: "Node", source: Source, *, wanted: bool) -> str | None:
    value = value_of(subject, source)
    if value is not None:
        return CONSTANT if (value[0] == "null") == wanted else None
    return EVERYTHING if is_object(subject) and not wanted else None


def _compared(how: How, subject: "Node", expected: "Node", source: Source) -> str | None:
    values = value_of(subject, source), value_of(expected, source)
    if how == "at least":
        return LENGTH if values[1] == ("number", 0.0) and is_length(subject, source) else None
    if values[0] is not None and values[1] is not None:
        if values[0][0] != values[1][0]:
            return None
        return CONSTANT if (values[0] == values[1]) == (how == "equal") else None
    if how == "equal" and same(subject, expected, source):
        return ITSELF
    for one, value in ((subject, values[1]), (expected, values[0])):
        if value is not None and value[0] == "bool":
            return _as_true(one, source, wanted=(value[1] is True) == (how == "equal"))
    return None


def strength_of(kind: Kind, expected: "Node | None", source: Source) -> int | None:
    """Return the strength of a demand; being equal to a boolean is no more than being true."""
    if kind.how == "equal" and expected is not None and source.text(bare(expected)) == "true":
        return TRUTH
    return kind.strength


def of_condition(node: "Node", source: Source, *, wanted: bool = True) -> tuple[str, int | None]:
    """Return the subject and the strength of what a condition demands, `wanted` or not."""
    node = bare(node)
    for _ in range(_NEGATIONS):
        inner = first_in(node) if node.type == "unary_expression" else None
        if inner is None or not source.text(node).startswith("!"):
            break
        node, wanted = bare(inner), not wanted
    parts = sides(node)
    if parts is None:
        return source.shown(node), TRUTH if wanted else EQUAL
    left, operator, right = parts
    if operator in {"||", "&&"}:
        return source.shown(node), None
    subject = subject_among((left, right), source)
    operator = operator if wanted else _NEGATED.get(operator, operator)
    is_null = any((value := value_of(each, source)) is not None and value[0] == "null" for each in (left, right))
    return source.shown(subject) if subject is not None else "", _strength_of(operator, is_null=is_null)


def _strength_of(operator: str, *, is_null: bool) -> int | None:
    if operator in {"==", "==="}:
        return EQUAL
    if operator in {"!=", "!=="}:
        return TRUTH if is_null else NOT_THAT
    return ORDER if operator in _NEGATED else None
