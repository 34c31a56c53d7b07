"""The assertions that stand in a piece of source, those of the file's own helpers that it calls included."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ralph_tracker.integrity.other.constants import truth
from ralph_tracker.integrity.other.source import Link, Source, line_of
from ralph_tracker.integrity.python.calls import is_assertion_name
from ralph_tracker.integrity.source_tests import Assertion, Later

if TYPE_CHECKING:
    from tree_sitter import Node

NEVER: Final = "it is under a condition that never holds"
_IFS: Final = frozenset({"if_statement", "if_expression"})
_BRANCHES: Final = (("consequence", False), ("alternative", True))
# They say of what something is demanded: without what follows they demand nothing. Rust's `expect` unwraps.
_BEGINNINGS: Final = frozenset({"expect", "assertThat"})
_DEEPEST: Final = 3
_INLINED: Final = 50

Read = Callable[[Source, "Node", list[Link], list["Node"]], Iterable[Assertion]]


class Gatherer:
    """Gather assertions; `read` is what a language knows of them, `helpers` are the functions that may hold some."""

    def __init__(self, source: Source, read: Read, helpers: Mapping[str, "Node"]) -> None:
        self._source = source
        self._read = read
        self._helpers = helpers
        self._of_helpers: dict[str, tuple[Assertion, ...]] = {}

    def later(self, node: "Node") -> Later:
        """Return the assertions that stand in a node, read when somebody asks."""
        return Later(lambda: self.within(node))

    def within(self, node: "Node", depth: int = 0) -> tuple[Assertion, ...]:
        """Return the assertions that stand in a node in the order of the source."""
        found: list[Assertion] = []
        ifs: list[Node] = []
        start = until = -1
        for each in self._source.inside(node):
            while ifs and ifs[-1].end_byte <= each.start_byte:
                ifs.pop()
            if each.type in _IFS:
                ifs.append(each)
                continue
            if each.start_byte == start:
                continue
            start = each.start_byte
            links = self._source.chain(each)
            assertions = list(self._read(self._source, each, links, ifs))
            if assertions:
                until = max(until, each.end_byte)
            elif start >= until:
                assertions = list(self._called(each, links, depth))
            dead = assertions and _is_dead(each, ifs, self._source)
            found.extend(one._replace(vacuous=one.vacuous or NEVER) if dead else one for one in assertions)
        return tuple(found)

    def _called(self, node: "Node", links: list[Link], depth: int) -> Iterator[Assertion]:
        """Yield what a helper demands: its own assertions where it stands in the file, else that it asserts at all."""
        called = links[-1] if links else None
        if called is None or called.arguments is None or not called.name:
            return
        if called.name in self._helpers and len(links) <= 2:  # noqa: PLR2004  # `check()` or `this.check()`
            yield from self._inlined(called.name, depth)
        elif is_assertion_name(called.name) and called.name not in _BEGINNINGS:
            yield Assertion(line=line_of(node), text=self._source.shown(node))

    def _inlined(self, name: str, depth: int) -> tuple[Assertion, ...]:
        if depth >= _DEEPEST:
            return ()
        if name not in self._of_helpers:
            self._of_helpers[name] = ()
            self._of_helpers[name] = self.within(self._helpers[name], depth + 1)[:_INLINED]
        return self._of_helpers[name]


def condition_of(ifs: Iterable["Node"], node: "Node") -> Iterator[tuple["Node", bool]]:
    """Yield the conditions under which a node is reached, the innermost first, and whether each has to be false."""
    for each in reversed(list(ifs)):
        condition = each.child_by_field_name("condition")
        for field, denied in _BRANCHES:
            branch = each.child_by_field_name(field)
            if condition is not None and branch is not None and _holds(branch, node):
                yield condition, denied


def _holds(outer: "Node", inner: "Node") -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _is_dead(node: "Node", ifs: list["Node"], source: Source) -> bool:
    known = ((truth(condition, source), denied) for condition, denied in condition_of(ifs, node))
    return any(each is not None and each[0] == denied for each, denied in known)


@dataclass(frozen=True, slots=True)
class Found:
    """Hold a test that was found: its name, its first and last line, what it asserts, whether it is skipped."""

    name: str
    line: int
    end: int
    assertions: Sequence[Assertion]
    skipped: bool
