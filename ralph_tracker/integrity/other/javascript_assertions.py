"""What a JavaScript or TypeScript test demands: jest's and vitest's `expect`, chai, node:assert, AVA and tap."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from ralph_tracker.integrity.other import demands
from ralph_tracker.integrity.other.demands import Kind, of_condition, strength_of, subject_among, table, vacuous
from ralph_tracker.integrity.other.source import Link, Source, arguments_of, line_of, words
from ralph_tracker.integrity.python.demands import APPROXIMATE, CALLED, EQUAL, KIND
from ralph_tracker.integrity.source_tests import Assertion

if TYPE_CHECKING:
    from tree_sitter import Node

_CLOSE: Final = Kind("", APPROXIMATE)
_WAS_CALLED: Final = Kind("", CALLED)
_MATCHERS: Final = table(
    (Kind("equal", EQUAL + 200), "toStrictEqual"),
    (demands.SAME, "toBe toEqual equal equals eql eq"),
    (demands.TRUE, "toBeTruthy toBeTrue true ok"),
    (demands.FALSE, "toBeFalsy toBeFalse false"),
    (demands.NULL, "toBeNull null"),
    (Kind("", EQUAL), "toBeUndefined undefined toBeNaN NaN empty"),
    (demands.PRESENT, "toBeDefined exist toExist"),
    (demands.SIZE, "toHaveLength lengthOf length"),
    (demands.PART, "toContain toContainEqual toMatch toMatchObject toHaveProperty"),
    (demands.PART, "include includes contain contains match property string members keys"),
    (demands.OF_TYPE, "toBeInstanceOf toBeTypeOf a an instanceof instanceOf"),
    (demands.ORDERED, "toBeGreaterThan toBeLessThan toBeLessThanOrEqual above below most within gt lt lte"),
    (demands.ORDERED, "greaterThan lessThan"),
    (demands.AT_LEAST, "toBeGreaterThanOrEqual least gte"),
    (_CLOSE, "toBeCloseTo closeTo approximately"),
    (Kind("", EQUAL - 200), "toHaveBeenCalledWith toHaveBeenLastCalledWith calledWith"),
    (Kind("", CALLED + 100), "toHaveBeenCalledTimes toHaveBeenCalledOnce calledOnce callCount"),
    (Kind("", EQUAL - 50), "toMatchSnapshot toMatchInlineSnapshot"),
    (_WAS_CALLED, "toHaveBeenCalled toBeCalled called"),
    (demands.FAILS, "toThrow toThrowError throw throws Throw rejectedWith rejected"),
)
_FUNCTIONS: Final = table(
    (Kind("equal", EQUAL + 200), "strictEqual deepStrictEqual"),
    (demands.SAME, "equal deepEqual is same eq equals strictSame"),
    (demands.OTHER, "notEqual notStrictEqual notDeepEqual notDeepStrictEqual not notSame"),
    (demands.TRUE, "ok isOk isTrue true truthy assert"),
    (demands.FALSE, "notOk isNotOk isFalse false falsy"),
    (demands.NULL, "isNull"),
    (Kind("", EQUAL), "isUndefined isEmpty"),
    (demands.PRESENT, "exists isDefined isNotNull"),
    (demands.PART, "match include includes deepInclude property"),
    (demands.SIZE, "lengthOf"),
    (demands.OF_TYPE, "instanceOf typeOf isArray isString isObject isFunction isNumber"),
    (demands.ORDERED, "isAbove isBelow isAtMost"),
    (demands.AT_LEAST, "isAtLeast"),
    (_CLOSE, "closeTo approximately"),
    (demands.FAILS, "throws rejects throwsAsync"),
    (demands.UNKNOWN, "notThrows doesNotThrow doesNotReject fail pass snapshot ifError"),
)
_ASYNC: Final = frozenset({"soft", "poll"})
_NOT: Final = frozenset({"not", "never"})
_WORDS: Final = words("to be been is that which and has have with at of same but does still also")


def assertions_in(source: Source, node: "Node", links: list[Link], _: list["Node"]) -> Iterable[Assertion]:
    """Yield what an expression demands, nothing where it is no assertion."""
    if not links or node.type not in {"call_expression", "member_expression"}:
        return
    root = links[0]
    subject = _expected(links)
    if subject is not None:
        yield _of_matcher(source, node, subject, links)
    elif root.name in {"assert", "t", "fail", "sinon"}:
        yield from _of_function(source, node, links)
    else:
        yield from _of_chain(source, node, links)


def _expected(links: list[Link]) -> Link | None:
    """Return the call that says what is expected something of: `expect(x)`, `expect.soft(x)`."""
    if links[0].name != "expect":
        return None
    if links[0].arguments is not None:
        return links[0] if len(links) > 1 else None
    second = links[1] if len(links) > 1 else None
    return second if second is not None and second.name in _ASYNC and second.arguments is not None else None


def _of_matcher(source: Source, node: "Node", subject: Link, links: list[Link]) -> Assertion:
    steps = links[links.index(subject) + 1 :]
    words = [step for step in steps if step.name not in _WORDS]
    last = next((step for step in reversed(words) if step.name in _MATCHERS), words[-1] if words else None)
    kind = _MATCHERS.get(last.name, demands.UNKNOWN) if last is not None else demands.UNKNOWN
    if any(step.name in _NOT for step in words):
        kind = kind.denied()
    asked = next(iter(arguments_of(subject.arguments)), None)
    expected = next(iter(arguments_of(last.arguments if last is not None else None)), None)
    kind = _failing(kind, last)
    why = vacuous(kind, asked, expected, source)
    return Assertion(
        line=line_of(node),
        text=source.shown(node),
        subject=source.shown(asked) if asked is not None else "",
        strength=strength_of(kind, expected, source),
        vacuous=why,
    )


def _failing(kind: Kind, last: Link | None) -> Kind:
    """Return a demand for an error, which is more where it says which one."""
    if kind == demands.FAILS and last is not None and arguments_of(last.arguments):
        return Kind("", KIND + 500)
    return kind


def _of_function(source: Source, node: "Node", links: list[Link]) -> Iterator[Assertion]:
    """Read `assert(x)`, `assert.equal(x, y)`, `t.assert.ok(x)`, `t.is(x, y)`, `fail()`."""
    last = next((link for link in reversed(links) if link.arguments is not None), None)
    if last is None:
        return
    bare = len(links) == 1
    if links[0].name == "sinon" and not any(link.name == "assert" for link in links):
        return
    if bare and last.name not in {"assert", "fail"}:
        return
    known = _FUNCTIONS.get(last.name)
    if known is None and links[0].name != "assert" and not any(link.name == "assert" for link in links):
        return
    kind = known or demands.UNKNOWN
    given = arguments_of(last.arguments)
    asked = subject_among(given[:2], source) if kind.how in {"equal", "unequal"} else next(iter(given), None)
    expected = next((each for each in given[:2] if asked is not None and each.id != asked.id), None)
    subject, strength = source.shown(asked) if asked is not None else "", strength_of(kind, expected, source)
    if kind.how in {"true", "false"} and asked is not None:
        subject, strength = of_condition(asked, source, wanted=kind.how == "true")
    why = vacuous(kind, asked, expected, source)
    yield Assertion(line=line_of(node), text=source.shown(node), subject=subject, strength=strength, vacuous=why)


def _of_chain(source: Source, node: "Node", links: list[Link]) -> Iterator[Assertion]:
    """Read `x.should.equal(y)`, and the `expect` and `should` that end a request or a command."""
    text = ""
    for number, link in enumerate(links[1:], 1):
        if link.name == "should" or (link.name == "expect" and link.arguments is not None):
            text = text or source.shown(node)
            name = links[-1].name if link.arguments is None else link.name
            kind = _MATCHERS.get(name, demands.UNKNOWN)
            if any(step.name in _NOT for step in links[number:]):
                kind = kind.denied()
            before = source.data[node.start_byte : links[number - 1].end].decode("utf-8", "replace")
            yield Assertion(line=line_of(node), text=text, subject=" ".join(before.split()), strength=kind.strength)
