"""What a Rust test demands: `assert!` and its like, and `panic!` under a condition."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ralph_tracker.integrity.other import demands
from ralph_tracker.integrity.other.demands import (
    Kind,
    of_condition,
    strength_of,
    subject_among,
    table,
    vacuous,
)
from ralph_tracker.integrity.other.gathering import condition_of
from ralph_tracker.integrity.other.source import Link, Source, arguments_of, line_of, on_one_line
from ralph_tracker.integrity.python.demands import KIND
from ralph_tracker.integrity.source_tests import Assertion, Unparsable

if TYPE_CHECKING:
    from tree_sitter import Node

_MACROS: Final = table(
    (demands.SAME, "assert_eq debug_assert_eq prop_assert_eq"),
    (demands.OTHER, "assert_ne debug_assert_ne prop_assert_ne"),
    (demands.TRUE, "assert debug_assert prop_assert"),
    (Kind("", KIND + 500), "assert_matches debug_assert_matches"),
    (demands.PART, "assert_that expect_that verify_that"),
)
_ASSERTING: Final = ("assert", "debug_assert", "prop_assert", "expect_that", "verify_that")
_PANICS: Final = frozenset({"panic", "unreachable"})
_KEPT: Final = 256


def assertions_in(source: Source, node: "Node", _: list[Link], ifs: list["Node"]) -> Iterable[Assertion]:
    """Yield what a macro demands, nothing where it is no assertion."""
    macro = node.child_by_field_name("macro") if node.type == "macro_invocation" else None
    if macro is None:
        return
    name = source.text(macro).rpartition("::")[2]
    if name in _PANICS:
        yield from _of_panic(source, node, ifs)
    elif name.startswith(_ASSERTING):
        yield _of_macro(source, node, name)


def _of_panic(source: Source, node: "Node", ifs: list["Node"]) -> Iterator[Assertion]:
    text = source.shown(node)
    found = next(iter(condition_of(ifs, node)), None)
    if found is None:
        yield Assertion(line=line_of(node), text=text)
        return
    condition, denied = found
    subject, strength = of_condition(condition, source, wanted=denied)
    yield Assertion(
        line=line_of(node), text=f"if {source.shown(condition)}: {text}", subject=subject, strength=strength
    )


def _of_macro(source: Source, node: "Node", name: str) -> Assertion:
    line, text = line_of(node), source.shown(node)
    kind = _MACROS.get(name)
    inner, given = _arguments(source.text(node).partition("!")[2].strip())
    if kind is None or inner is None or not given:
        return Assertion(line=line, text=text)
    pair = given[:2] if kind.how in {"equal", "unequal"} else given[:1]
    asked = subject_among(pair, inner)
    expected = next((each for each in given[:2] if asked is not None and each.id != asked.id), None)
    subject, strength = inner.shown(asked) if asked is not None else "", strength_of(kind, expected, inner)
    if kind.how == "true" and asked is not None:
        subject, strength = _of_truth(asked, inner)
    return Assertion(
        line=line, text=text, subject=subject, strength=strength, vacuous=vacuous(kind, asked, expected, inner)
    )


def _of_truth(asked: "Node", inner: Source) -> tuple[str, int | None]:
    """Read `assert!(matches!(x, Some(_)))` as the kind of `x`."""
    macro = asked.child_by_field_name("macro") if asked.type == "macro_invocation" else None
    if macro is not None and inner.text(macro) == "matches":
        return on_one_line(inner.text(asked).partition("(")[2].partition(",")[0]), KIND + 500
    return of_condition(asked, inner)


@lru_cache(maxsize=_KEPT)
def _arguments(tokens: str) -> tuple[Source | None, list["Node"]]:
    """Return the arguments of a macro as expressions: the grammar leaves them as tokens."""
    try:
        inner = Source("rust", f"fn f() {{ m({tokens[1:-1]}); }}")
    except Unparsable:
        return None, []
    call = next((each for each in inner.nodes if each.type == "call_expression"), None)
    return inner, arguments_of(call.child_by_field_name("arguments")) if call is not None else []
