"""What a Java test demands: JUnit, TestNG, Hamcrest, AssertJ, Truth, Mockito and `assert`."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from ralph_tracker.integrity.other import demands
from ralph_tracker.integrity.other.demands import Kind, of_condition, strength_of, subject_among, table, vacuous
from ralph_tracker.integrity.other.source import Link, Source, arguments_of, first_in, line_of, words
from ralph_tracker.integrity.python.demands import APPROXIMATE, KIND
from ralph_tracker.integrity.source_tests import Assertion

if TYPE_CHECKING:
    from tree_sitter import Node

_METHODS: Final = table(
    (demands.SAME, "assertEquals assertSame assertArrayEquals assertIterableEquals assertLinesMatch"),
    (demands.OTHER, "assertNotEquals assertNotSame"),
    (demands.TRUE, "assertTrue"),
    (demands.FALSE, "assertFalse"),
    (demands.NULL, "assertNull"),
    (demands.PRESENT, "assertNotNull"),
    (demands.OF_TYPE, "assertInstanceOf"),
    (Kind("", KIND + 500), "assertThrowsExactly"),
    (demands.FAILS, "assertThrows expectThrows"),
)
_CHAINED: Final = table(
    (demands.SAME, "isEqualTo isSameAs isEqualByComparingTo hasToString contentEquals"),
    (demands.OTHER, "isNotEqualTo isNotSameAs"),
    (demands.TRUE, "isTrue"),
    (demands.FALSE, "isFalse"),
    (demands.NULL, "isNull"),
    (demands.PRESENT, "isNotNull"),
    (Kind("", demands.PRESENT.strength), "isNotEmpty isNotBlank isPresent"),
    (Kind("", demands.SAME.strength), "isEmpty isZero isEqualToIgnoringCase containsExactly containsExactlyInAnyOrder"),
    (demands.SIZE, "hasSize hasSameSizeAs hasLength"),
    (demands.PART, "contains containsAll containsKey containsEntry startsWith endsWith matches hasMessageContaining"),
    (demands.OF_TYPE, "isInstanceOf isInstance isExactlyInstanceOf"),
    (demands.ORDERED, "isGreaterThan isLessThan isLessThanOrEqualTo isBetween isPositive isNegative"),
    (demands.AT_LEAST, "isGreaterThanOrEqualTo"),
    (Kind("", APPROXIMATE), "isCloseTo"),
)
_HAMCREST: Final = table(
    (demands.SAME, "is equalTo"),
    (demands.NULL, "nullValue"),
    (demands.PRESENT, "notNullValue"),
    (demands.OF_TYPE, "instanceOf isA any"),
    (demands.PART, "containsString hasItem hasItems startsWith endsWith hasKey hasEntry"),
    (demands.SIZE, "hasSize"),
    (demands.ORDERED, "greaterThan lessThan lessThanOrEqualTo"),
    (demands.AT_LEAST, "greaterThanOrEqualTo"),
)
_THATS: Final = words("assertThat assertThatThrownBy assertThatCode assertWithMessage")
# What these return is asserted about, or said of the assertion: they demand nothing themselves.
_TALK: Final = words(
    "as describedAs withFailMessage overridingErrorMessage extracting usingRecursiveComparison usingElementComparator "
    "that ignoringFields first last element singleElement asString asList rootCause cause filteredOn asInstanceOf"
)
_DEMANDS: Final = frozenset({"andExpect", "verifyComplete", "expectNext", "expectError", "should", "expectStatus"})
_BROAD: Final = words("Exception.class Throwable.class RuntimeException.class Error.class")
_STRINGS: Final = frozenset({"string_literal"})
_TRIPLE: Final = 3


def assertions_in(source: Source, node: "Node", links: list[Link], _: list["Node"]) -> Iterable[Assertion]:
    """Yield what a call demands, one for each step of a fluent chain; nothing where it is no assertion."""
    if node.type == "assert_statement":
        yield from _of_statement(source, node)
        return
    if node.type != "method_invocation":
        return
    number = next((place for place, link in enumerate(links) if _asserts(link)), None)
    if number is None:
        chained = [link for link in links if link.name in _DEMANDS and link.arguments is not None]
        yield from (Assertion(line=line_of(node), text=_until(source, node, link)) for link in chained)
    elif links[number].name in _THATS:
        yield from _of_chain(source, node, links[number], links[number + 1 :])
    elif links[number].name.startswith("assert"):
        yield _of_method(source, node, links[number])
    else:
        yield Assertion(line=line_of(node), text=source.shown(node))


def _asserts(link: Link) -> bool:
    if link.arguments is None:
        return False
    return link.name.startswith(("assert", "verifyNo", "expectThrows")) or link.name in {"fail", "verify"}


def _of_statement(source: Source, node: "Node") -> Iterator[Assertion]:
    condition = first_in(node)
    if condition is not None:
        subject, strength = of_condition(condition, source)
        why = vacuous(demands.TRUE, condition, None, source)
        text = source.shown(node)
        yield Assertion(line=line_of(node), text=text, subject=subject, strength=strength, vacuous=why)


def _of_method(source: Source, node: "Node", link: Link) -> Assertion:
    kind = _METHODS.get(link.name, demands.UNKNOWN)
    pair = kind.how in {"equal", "unequal"}
    given = _without_message(arguments_of(link.arguments), pair=pair)
    fails = kind.how == "" and kind.strength is not None and len(given) > 1
    asked = subject_among(given[:2][::-1] if pair else given[1:2] if fails else given[:1], source)
    expected = next((each for each in given[:2] if asked is not None and each.id != asked.id), None)
    subject, strength = source.shown(asked) if asked is not None else "", strength_of(kind, expected, source)
    if kind.how in {"true", "false"} and asked is not None:
        subject, strength = of_condition(asked, source, wanted=kind.how == "true")
    if fails and strength is not None and source.shown(given[0]) in _BROAD:
        strength -= 500
    why = vacuous(kind, asked, expected, source)
    return Assertion(line=line_of(node), text=source.shown(node), subject=subject, strength=strength, vacuous=why)


def _without_message(given: list["Node"], *, pair: bool) -> list["Node"]:
    """Return the arguments without JUnit 4's message, which comes first."""
    least = _TRIPLE if pair else _TRIPLE - 1
    has_message = len(given) >= least and given[0].type in _STRINGS and given[-1].type not in _STRINGS
    return given[1:] if has_message else given


def _of_chain(source: Source, node: "Node", start: Link, steps: list[Link]) -> Iterator[Assertion]:
    """Read `assertThat(x).isNotNull().hasSize(3)` and `assertThat(x, is(3))`."""
    given = arguments_of(start.arguments)
    steps = [step for step in steps if step.name not in _TALK]
    asked = given[0] if given else None
    if not steps and len(given) > 1:
        yield _of_matcher(source, node, given)
        return
    shown = source.shown(asked) if asked is not None else ""
    for step in steps:
        kind = _CHAINED.get(step.name, demands.UNKNOWN)
        expected = next(iter(arguments_of(step.arguments)), None)
        yield Assertion(
            line=line_of(node),
            text=f"{start.name}({shown}).{step.name}{source.shown(step.arguments) if step.arguments else ''}",
            subject=shown,
            strength=strength_of(kind, expected, source),
            vacuous=vacuous(kind, asked, expected, source),
        )


def _of_matcher(source: Source, node: "Node", given: list["Node"]) -> Assertion:
    given = given[1:] if len(given) >= _TRIPLE else given
    asked, matcher = given[0], source.chain(given[1])[-1]
    inner = arguments_of(matcher.arguments)
    while matcher.name == "is" and inner and inner[0].type == "method_invocation":
        nested = source.chain(inner[0])[-1]
        if nested.name not in _HAMCREST:
            break
        matcher, inner = nested, arguments_of(nested.arguments)
    kind = _HAMCREST.get(matcher.name, demands.UNKNOWN)
    expected = inner[0] if inner else None
    why = vacuous(kind, asked, expected, source)
    strength = strength_of(kind, expected, source)
    subject = source.shown(asked)
    return Assertion(line=line_of(node), text=source.shown(node), subject=subject, strength=strength, vacuous=why)


def _until(source: Source, node: "Node", link: Link) -> str:
    arguments = source.shown(link.arguments) if link.arguments is not None else ""
    return f"{source.shown(node)[:60]} … {link.name}{arguments}" if arguments else link.name
