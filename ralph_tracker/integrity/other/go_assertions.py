"""What a Go test demands: `t.Error` and its like under a condition, testify, gomega and quicktest."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from ralph_tracker.integrity.other import demands
from ralph_tracker.integrity.other.constants import truth
from ralph_tracker.integrity.other.demands import Kind, of_condition, strength_of, subject_among, table, vacuous
from ralph_tracker.integrity.other.gathering import NEVER, condition_of
from ralph_tracker.integrity.other.source import Link, Source, arguments_of, line_of
from ralph_tracker.integrity.python.demands import APPROXIMATE, EQUAL, KIND, MEMBER
from ralph_tracker.integrity.source_tests import Assertion

if TYPE_CHECKING:
    from tree_sitter import Node

_FAILURES: Final = frozenset({"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"})
_TESTING: Final = frozenset({"t", "tb", "b", "f", "tt", "T"})
_PACKAGES: Final = frozenset({"assert", "require", "must", "qt", "is"})
_INNER: Final = frozenset({"Require", "Assert"})
_FUNCTIONS: Final = table(
    (demands.SAME, "Equal Equalf EqualValues EqualValuesf Exactly Same DeepEqual JSONEq YAMLEq"),
    (Kind("equal", EQUAL - 120), "ElementsMatch ElementsMatchf"),
    (demands.OTHER, "NotEqual NotEqualf NotSame NotEqualValues"),
    (demands.TRUE, "True Truef"),
    (demands.FALSE, "False Falsef"),
    (demands.NULL, "Nil Nilf NoError NoErrorf NilError"),
    (demands.PRESENT, "NotNil NotNilf"),
    (Kind("", demands.PRESENT.strength), "NotEmpty NotEmptyf Error Errorf NotZero"),
    (Kind("", KIND + 500), "ErrorIs ErrorAs EqualError ErrorContains PanicsWithValue PanicsWithError"),
    (Kind("", demands.SAME.strength), "Empty Emptyf Zero Zerof"),
    (demands.SIZE, "Len Lenf"),
    (demands.PART, "Contains Containsf Subset Regexp Regexpf HasPrefix"),
    (demands.OF_TYPE, "IsType Implements Panics Panicsf"),
    (demands.ORDERED, "Greater Less LessOrEqual Positive Negative"),
    (demands.AT_LEAST, "GreaterOrEqual"),
    (Kind("", APPROXIMATE), "InDelta InEpsilon InDeltaf WithinDuration"),
    (Kind("", MEMBER), "That"),
    (demands.UNKNOWN, "NotContains Eventually Never FailNow Fail Failf Condition NotPanics Comparison NotRegexp"),
)
_NO_DEMANDS: Final = frozenset({"New", "ObjectsAreEqual", "ObjectsAreEqualValues", "Run", "Helper", "Log", "Logf"})


def assertions_in(source: Source, node: "Node", links: list[Link], ifs: list["Node"]) -> Iterable[Assertion]:
    """Yield what a call demands, nothing where it is no assertion."""
    if node.type != "call_expression" or not links:
        return
    last = links[-1]
    names = [link.name for link in links]
    if last.name in _FAILURES and (names[0] in _TESTING or "T" in names) and not _INNER.intersection(names):
        yield _of_failure(source, node, ifs)
    elif names[0] in {"Expect", "Ω", "Eventually", "Consistently"} or (len(names) > 2 and names[1] == "Expect"):  # noqa: PLR2004
        if len(links) > 1:
            yield Assertion(line=line_of(node), text=source.shown(node))
    else:
        yield from _of_function(source, node, links)


def _of_failure(source: Source, node: "Node", ifs: list["Node"]) -> Assertion:
    """Read `t.Fatal(…)` by the condition around it, which has to be false."""
    text, line = source.shown(node), line_of(node)
    found = next(iter(condition_of(ifs, node)), None)
    if found is None:
        return Assertion(line=line, text=text)
    condition, denied = found
    subject, strength = of_condition(condition, source, wanted=denied)
    known = truth(condition, source)
    why = NEVER if known is not None and known[0] == denied else _of_difference(source, ifs[-1])
    return Assertion(
        line=line, text=f"if {source.shown(condition)}: {text}", subject=subject, strength=strength, vacuous=why
    )


def _of_difference(source: Source, each: "Node") -> str | None:
    """Say why `if diff := cmp.Diff(x, x); diff != ""` never holds, None where it may."""
    start = each.child_by_field_name("initializer")
    for call in source.inside(start) if start is not None else ():
        links = source.chain(call)
        given = arguments_of(links[-1].arguments)
        if [link.name for link in links] == ["cmp", "Diff"] and len(given) > 1:
            return vacuous(demands.SAME, given[0], given[1], source)
    return None


def _of_function(source: Source, node: "Node", links: list[Link]) -> Iterator[Assertion]:
    """Read `assert.Equal(t, 1, x)`, `assert.New(t).Equal(1, x)`, `s.Require().Equal(1, x)`."""
    last, owner = links[-1], links[0].name
    known = _FUNCTIONS.get(last.name)
    in_package = owner in _PACKAGES
    if len(links) == 1 or last.name in _NO_DEMANDS or last.arguments is None:
        return
    if known is None and not in_package:
        return
    given = arguments_of(last.arguments)
    if given and source.text(given[0]) in {*_TESTING, "s.T()", "suite.T()"}:
        given = given[1:]
    elif not in_package and not _asserts(source, links):
        return
    kind = known or demands.UNKNOWN
    pair = given[:2] if kind.how in {"equal", "unequal"} or kind.strength == APPROXIMATE else given[:1]
    asked = subject_among(pair[::-1], source)
    expected = next((each for each in given[:2] if asked is not None and each.id != asked.id), None)
    subject, strength = source.shown(asked) if asked is not None else "", strength_of(kind, expected, source)
    if kind.how in {"true", "false"} and asked is not None:
        subject, strength = of_condition(asked, source, wanted=kind.how == "true")
    yield Assertion(
        line=line_of(node),
        text=source.shown(node),
        subject=subject,
        strength=strength,
        vacuous=vacuous(kind, asked, expected, source),
    )


def _asserts(source: Source, links: list[Link]) -> bool:
    """Tell whether the receiver is one that asserts: a suite, or what `assert.New(t)` returned."""
    owner = links[0].name
    if _INNER.intersection(link.name for link in links[1:-1]) or (owner in _PACKAGES and len(links) > 1):
        return True
    bound = rf"\b{owner}\s*:?=\s*(assert|require|is|qt)\.New\(|\({owner}\s+\*?\w*Suite\w*\)|\({owner}\s+\*?\w*Test\w*\)"
    return owner.isidentifier() and re.search(bound.encode(), source.data) is not None
