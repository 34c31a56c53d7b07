"""Whether a Python test takes a duration by a clock that stands still."""

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.expectations import asserted
from ralph_tracker.integrity.python.hiding import outer_statements
from ralph_tracker.integrity.python.nodes import full_name, imports_of, nodes_of
from ralph_tracker.integrity.python.origins import Origins
from ralph_tracker.integrity.python.patches import Replaced, Scope, by_assignment, by_call
from ralph_tracker.integrity.python.replacing import (
    SET_UPS,
    asked_for,
    bound_around,
    class_of,
    functions_in,
    is_for_all,
    own_of,
    replaced_for_all,
)
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, nodes_in
from ralph_tracker.integrity.source_tests import Unparsable

_CLOCKS: Final = Pattern(r"(^|\.)(time|timeit)\.(time|perf_counter|monotonic|process_time|default_timer)(_ns)?$")
_WAITING: Final = Pattern(r"(^|\.)(time|asyncio)\.sleep$")
_FROZEN: Final = Pattern(r"(^|\.)(freeze_time|travel|frozen_time)$")
_SLEEPERS: Final = Pattern(r"(freeze_time|\btravel|frozen_time)\(", words=("freeze_time(", "travel(", "frozen_time("))
_MOVED: Final = Pattern(r"\.(tick|move_to|shift|coordinates)$")
FREEZES: Final = "freeze_time"


def stand_still(test: Function, replaced: Mapping[str, bool], text: str = "") -> bool:
    """Tell whether a test, or what stands around it in its file, freezes time or has a constant for a clock."""
    if any(frozen and stops(name) for name, frozen in replaced.items()):
        return True
    from ralph_tracker.integrity.python.claimed import opened_around  # noqa: PLC0415  for few tests

    if any(_FROZEN.search(dotted(each)) for each in opened_around(test)):
        return True
    if any(each.arg == "freezer" for each in test.args.args) and not any(
        _MOVED.search(dotted(each)) for each in nodes_in(test)
    ):
        return True
    return freezes(text) and (bool(frozen_for_all(text)) or any(map(_freezes, _around(test, text))))


def stops(name: str) -> bool:
    """Tell whether a full name is that of a clock, or of what waits for one."""
    return _CLOCKS.search(name) is not None or _WAITING.search(name) is not None or name == FREEZES


def freezes(text: str) -> bool:
    """Tell cheaply whether a file may freeze time."""
    return _SLEEPERS.search(text) is not None


@lru_cache(maxsize=32)
def frozen_for_all(text: str) -> frozenset[str]:
    """Return the clocks that a file stops for every test, FREEZES for all of them. Raises Unparsable."""
    found = set(filter(stops, replaced_for_all(text)))
    if _SLEEPERS.search(text):
        for each in outer_statements(text):
            if isinstance(each, FUNCTIONS):
                found.update([FREEZES] if is_for_all(each) and _freezes(each) else [])
            elif isinstance(each, ast.Assign | ast.Expr) and _is_in_force(each, text):
                found.add(FREEZES)
    return frozenset(found)


def frozen_anew(old: str | None, new: str) -> bool:
    """Tell whether a file stops a clock for every test that it let run before. Raises Unparsable."""
    frozen = frozen_for_all(new)
    return bool(frozen) and bool(frozen - _frozen_before(old or ""))


def _frozen_before(text: str) -> frozenset[str]:
    try:
        return frozen_for_all(text)
    except Unparsable:
        return frozenset()


def frozen_by_fixtures(text: str) -> Mapping[str, Replaced]:
    """Return the fixtures of a file that freeze all clocks, as replacing these. Raises Unparsable."""
    frozen = (name for name, each in functions_in(text).items() if _freezes(each)) if _SLEEPERS.search(text) else ()
    return {name: {FREEZES: True} for name in frozen}


def _around(test: Function, text: str) -> Iterator[ast.AST]:
    """Yield the fixtures, set-ups and the class's markers that a test runs within."""
    asked = asked_for(test)
    for function in functions_in(text).values():
        if function is not test and (function.name in asked | SET_UPS or is_for_all(function)):
            yield function
    kind = class_of(test, text)
    if kind is not None:
        yield from kind.decorator_list
        yield from (each for each in kind.body if isinstance(each, FUNCTIONS) and each.name in SET_UPS)


def _freezes(node: ast.AST) -> bool:
    inside = nodes_in(node) if isinstance(node, FUNCTIONS) else nodes_below(node)
    return any(isinstance(each, ast.Call) and _FROZEN.search(dotted(each.func)) for each in inside)


def _is_in_force(node: ast.Assign | ast.Expr, text: str) -> bool:
    """Tell whether a statement makes what freezes time, and the file starts it or marks its tests with it."""
    marks = isinstance(node, ast.Assign) and "pytestmark" in map(dotted, node.targets)
    return _freezes(node.value) and (marks or ".start()" in text)


def clocks_set_in(text: str) -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    """Yield the clocks that a file puts something in the place of, with what does it. Raises Unparsable."""
    scope = Scope(imports_of(text), own_of(text))
    for put in nodes_of(text, ast.Assign):
        yield from ((name, put) for name, _ in by_assignment(put, scope) if stops(name))
    for call in nodes_of(text, ast.Call):
        if dotted(call.func).endswith("setattr"):
            yield from ((name, call) for name in by_call(call, scope) if stops(name))


def takes_duration(sides: list[ast.expr], origins: Origins, imports: Mapping[str, str]) -> bool:
    """Tell whether what is compared is the difference of two times that a clock told."""
    parts = [part for each in sides for made in origins.of(each) for part in nodes_below(made)]
    parts += [
        sub
        for each in parts
        if isinstance(each, ast.Name)
        for made in origins.value_of(each.id, each.lineno)
        for sub in nodes_below(made)
    ]
    asked = any(isinstance(each, ast.Call) and _CLOCKS.search(full_name(each.func, imports)) for each in parts)
    return asked and any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub) for each in parts)


def durations_in(test: Function, text: str) -> Iterator[ast.expr]:
    """Yield the claims of a test about how long something took by two readings of a clock. Raises Unparsable."""
    from ralph_tracker.integrity.python.claimed import claimed_sides  # noqa: PLC0415  for few tests

    imports = imports_of(text)
    origins = Origins(test, {}, functions_in(text), bound_around(test, text))
    for claim in asserted(test):
        sides = claimed_sides(claim)
        if takes_duration(sides, origins, imports) and _reads_twice(sides, origins, imports):
            yield claim


def _reads_twice(sides: list[ast.expr], origins: Origins, imports: Mapping[str, str]) -> bool:
    made = [part for each in sides for of in origins.of(each) for part in nodes_below(of)]
    taken = (each for each in made if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub))
    return any(all(_reads(part, origins, imports) for part in (each.left, each.right)) for each in taken)


def _reads(side: ast.expr, origins: Origins, imports: Mapping[str, str]) -> bool:
    calls = (each for each in origins.of(side) if isinstance(each, ast.Call))
    return any(_CLOCKS.search(full_name(each.func, imports)) for each in calls)
