"""What Python source writes down as a table that it looks up: the pairs of what is asked for and answered."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final

from ralph_tracker.integrity.python.expectations import is_plain
from ralph_tracker.integrity.python.meanings import Meaning
from ralph_tracker.integrity.python.nodes import Way
from ralph_tracker.integrity.python.questions import is_fixed
from ralph_tracker.integrity.python.syntax import FUNCTIONS, dotted, tree_of

# A longer table is data: whoever answers tests by one writes down what they ask.
_TABLE: Final = 64
_PAIR: Final = 2
_MAPPINGS: Final = frozenset({"MappingProxyType", "OrderedDict", "dict", "defaultdict", "frozendict", "ChainMap"})
_ROWS: Final = (ast.List, ast.Tuple)
_FIXED: Final = (ast.List, ast.Tuple, ast.Set)
Pair = tuple[ast.expr, ast.expr]


def pairs_in(node: ast.AST, way: Way, text: str) -> Iterator[Pair]:
    """Yield what a node itself asks for and answers as a table that stands there."""
    if not way:
        return
    if isinstance(node, ast.Dict):
        yield from _of_dict(node, way, text)
    elif isinstance(node, _ROWS):
        if 0 < len(node.elts) <= _TABLE and _is_table(way, text):
            yield from filter(None, map(_row, node.elts))
    elif isinstance(node, ast.Assign):
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and is_plain(target.slice) and is_fixed(node.value):
            yield target.slice, node.value
    elif isinstance(node, ast.Call):
        yield from _of_call(node, way, text)
    elif isinstance(node, ast.Subscript):
        yield from _by_index(node, Meaning(text, way))


def table_of(way: Way) -> str:
    """Return the name that a table bears which stands at the end of a way, "" where it has none."""
    for step in reversed(way):
        target = step.targets[0] if isinstance(step, ast.Assign) else getattr(step, "target", None)
        if isinstance(step, ast.Assign | ast.AnnAssign) and isinstance(target, ast.Name | ast.Subscript):
            return dotted(target.value if isinstance(target, ast.Subscript) else target)
    return ""


def _of_dict(node: ast.Dict, way: Way, text: str) -> Iterator[Pair]:
    if 0 < len(node.keys) <= _TABLE:
        pairs = [(key, _answer(value)) for key, value in zip(node.keys, node.values, strict=True) if key is not None]
        fixed = [(key, value) for key, value in pairs if is_fixed(key) and is_fixed(value)]
        if fixed and _is_looked_up(way, text):
            yield from fixed


def _answer(value: ast.expr) -> ast.expr:
    """Return what an entry answers that is called: `42: lambda: 1764`."""
    return value.body if isinstance(value, ast.Lambda) else value


def _row(node: ast.expr) -> Pair | None:
    """Return what a row asks for and answers: its first cell and its last one."""
    cells: Sequence[ast.expr | None] = ()
    if isinstance(node, _ROWS):
        cells = node.elts
    elif isinstance(node, ast.Dict):
        cells = node.values
    elif isinstance(node, ast.Call):
        cells = [*node.args, *(each.value for each in node.keywords)]
    first, last = (cells[0], cells[-1]) if len(cells) >= _PAIR else (None, None)
    return (first, last) if first is not None and last is not None and is_fixed(first) and is_fixed(last) else None


def _of_call(node: ast.Call, way: Way, text: str) -> Iterator[Pair]:
    """Read `zip([42], [1764])`, and `@known(42, 1764)` where the file itself defines what that does."""
    if dotted(node.func) == "zip" and len(node.args) == _PAIR:
        meaning = Meaning(text, way)
        yield from _side_by_side(*map(meaning.of, node.args))
    elif isinstance(way[-1], FUNCTIONS) and node in way[-1].decorator_list and _defines(text, dotted(node.func)):
        found = _row(node)
        if found is not None:
            yield found


def _by_index(node: ast.Subscript, meaning: Meaning) -> Iterator[Pair]:
    """Read `answers[asked.index(x)]`."""
    of = node.slice.func if isinstance(node.slice, ast.Call) else None
    if isinstance(of, ast.Attribute) and of.attr == "index":
        yield from _side_by_side(meaning.of(of.value), meaning.of(node.value))


def _side_by_side(asked: ast.expr | None, answered: ast.expr | None) -> Iterator[Pair]:
    if isinstance(asked, _FIXED) and isinstance(answered, _FIXED) and len(asked.elts) == len(answered.elts) <= _TABLE:
        yield from zip(asked.elts, answered.elts, strict=True)


def _defines(text: str, name: str) -> bool:
    return any(isinstance(each, (*FUNCTIONS, ast.ClassDef)) and each.name == name for each in tree_of(text).body)


def _is_table(way: Way, text: str) -> bool:
    """Tell whether rows are gone through, made a mapping of, or handed to a decorator."""
    above = way[-1]
    if isinstance(above, ast.For | ast.comprehension):
        return True
    if isinstance(above, ast.Call):
        if dotted(above.func).endswith(("dict", "Dict")):
            return True
        return any(isinstance(step, FUNCTIONS) and above in step.decorator_list for step in way[-2:])
    name = table_of(way[-1:])
    return bool(name) and _is_gone_through(text, re.escape(name))


def _is_gone_through(text: str, name: str) -> bool:
    return re.search(rf"\bin (\w+\()?(\w+\.)?{name}\b|\b[dD]ict\({name}\)", text) is not None


def _is_looked_up(way: Way, text: str) -> bool:
    """Tell whether a table is asked for what it is given: at once, or by the name that it bears."""
    above = way[-1]
    if isinstance(above, ast.Attribute | ast.Subscript):
        return True
    if isinstance(above, ast.Call):
        return _is_handed_on(above, way[:-1], text)
    if isinstance(above, ast.arguments):
        given = [*above.posonlyargs, *above.args, *above.kwonlyargs]
        return any(_asks(text, each.arg) for each in given)
    if isinstance(above, ast.Assign):
        return isinstance(above.targets[0], ast.Name) and _asks(text, above.targets[0].id)
    return isinstance(above, ast.AnnAssign) and isinstance(above.target, ast.Name) and _asks(text, above.target.id)


def _is_handed_on(call: ast.Call, way: Way, text: str) -> bool:
    """Tell whether a table is handed to what keeps it: another mapping, the update of one, a decorator."""
    name = dotted(call.func).rpartition(".")[2]
    if name in {"update", "setdefault"}:
        return True
    if any(isinstance(step, FUNCTIONS) and call in step.decorator_list for step in way[-1:]):
        return True
    return name in _MAPPINGS and bool(way) and _is_looked_up(way, text)


def _asks(text: str, name: str) -> bool:
    name = re.escape(name)
    return re.search(rf"\b{name}(\.get\(|\.pop\(|\[(?!['\"\d])|\b[^\n=]*:\s*$)|\bin {name}\b", text) is not None
