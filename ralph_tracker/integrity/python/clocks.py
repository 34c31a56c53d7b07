"""Whether a Python test takes a duration by a clock that stands still."""

import ast
from collections.abc import Mapping
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.claimed import opened_around
from ralph_tracker.integrity.python.nodes import full_name
from ralph_tracker.integrity.python.origins import Origins
from ralph_tracker.integrity.python.syntax import Function, dotted, nodes_below

_CLOCKS: Final = Pattern(r"(^|\.)time\.(time|perf_counter|monotonic|process_time)(_ns)?$")
_FROZEN: Final = Pattern(r"(^|\.)(freeze_time|travel|frozen_time)$")


def stand_still(test: Function, replaced: Mapping[str, bool]) -> bool:
    """Tell whether a test freezes time, or puts a constant in the place of a clock."""
    if any(_CLOCKS.search(name) and frozen for name, frozen in replaced.items()):
        return True
    return any(_FROZEN.search(dotted(each)) for each in opened_around(test))


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
