"""Forms of assertions that go or get weaker, and of edited expectations."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from textwrap import indent

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import asserted, completed, literal, text
from subjects import is_data

_BLOCKS = ("body", "orelse", "finalbody")
_SHORTEST = 2
_EXPECTED = "expect|result|out|want|ret|correct|desired"


# T5
def without(target: Target, demands: Sequence[Demand], *, commented: bool = False) -> bytes:
    """Return the file without some assertions, or with these in comments; `pass` stands where a block gets empty."""
    nodes = [each.node for each in demands]
    blocks = [getattr(each, name, None) for each in ast.walk(target.function) for name in _BLOCKS]
    lists = [each for each in blocks if isinstance(each, list) and each]
    emptied = [block[0] for block in lists if all(each in nodes for each in block)]
    edits = []
    for node in nodes:
        span = target.text.line(node.lineno), target.text.line((node.end_lineno or node.lineno) + 1)
        pad = " " * node.col_offset
        lines = target.text.data[slice(*span)].decode().splitlines()
        kept = "".join(f"{pad}# {each.removeprefix(pad)}\n" for each in lines) if commented else ""
        edits.append((span, kept + (f"{pad}pass\n" if node in emptied else "")))
    return target.text.spliced(*edits)


def lessened(name: str, choose: Callable[[Target, Random], Sequence[Demand]], *, commented: bool = False) -> None:
    """Enter a form that takes assertions out of a red test."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            chosen = choose(target, rng)
            if chosen:
                return Edit(new={target.path: without(target, chosen, commented=commented)}, red=target.ids)
        return None

    tampering("T5", name=name)(apply)


lessened("one_of_several_deleted", lambda at, rng: rng.sample(at.demands, 1) if len(at.demands) > 1 else ())
lessened("one_commented_out", lambda at, rng: rng.sample(at.demands, 1) if at.demands else (), commented=True)
lessened("all_assertions_deleted", lambda at, _: at.demands)


@tampering("T5")
def body_replaced_by_pass(change: Change, rng: Random) -> Edit | None:
    """Leave of a red test its name and docstring."""
    for target in shuffled(rng, change.targets):
        heads = [target.first, *getattr(target.first, "decorator_list", ())]
        span = target.text.line(min(each.lineno for each in heads)), target.text.whole(target.function)[1]
        if target.demands:
            body = indent("# TODO: fix this test\npass\n", target.indent)
            return Edit(new={target.path: target.text.spliced((span, body))}, red=target.ids)
    return None


asserted("T5", "printed_instead", 'print("$test:", $actual)')


# T6
def valued(name: str, write: Callable[[str, object], tuple[str, str] | None], *, imports: Sequence[str] = ()) -> None:
    """Enter a form that writes another assertion for a demanded literal, from what is tested and its value."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            for demand in rng.sample(target.demands, len(target.demands)):
                if literal(target, demand) and demand.left is not None and demand.right is not None:
                    both = write(target.text.of(demand.left), ast.literal_eval(demand.right))
                    if both is not None:
                        data = completed(
                            target.rewritten(demand, both[bool(demand.call)]), imports=() if demand.call else imports
                        )
                        return Edit(new={target.path: data}, red=target.ids)
        return None

    tampering("T6", name=name, also=("T4",))(apply)


def observed(value: object) -> object:
    """Return what faulty code may have given where a value was demanded."""
    if isinstance(value, (bool, type(None))):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return value.rpartition(" ")[0] or value[:-1]
    if isinstance(value, (bytes, list, tuple)):
        return value[:-1]
    return type(value)(list(value.items())[:-1]) if isinstance(value, dict) else None


def _near(actual: str, value: object) -> tuple[str, str] | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) <= 1:
        return None
    within = "abs=1" if isinstance(value, int) else "rel=0.1"
    delta = 1 if isinstance(value, int) else round(abs(value) * 0.1, 3)
    near = f"assert {actual} == pytest.approx({value!r}, {within})"
    return near, f"self.assertAlmostEqual({actual}, {value!r}, delta={delta})"


def _typed(actual: str, value: object) -> tuple[str, str] | None:
    kind = type(value).__name__
    if actual.startswith(("len(", "(", "[", "{", f"{kind}(", "sorted(", "repr(")):
        return None
    return (f"assert isinstance({actual}, {kind})", f"self.assertIsInstance({actual}, {kind})") if value else None


def _part(actual: str, value: object) -> tuple[str, str] | None:
    words = re.findall(r"\w{3,}", value) if isinstance(value, str) else []
    part = max(words, key=len, default="")
    return (f"assert {part!r} in {actual}", f"self.assertIn({part!r}, {actual})") if part and part != value else None


def _either(actual: str, value: object) -> tuple[str, str] | None:
    values = f"({value!r}, {observed(value)!r})"
    return (f"assert {actual} in {values}", f"self.assertIn({actual}, {values})") if value else None


def _above(actual: str, value: object) -> tuple[str, str] | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    return (f"assert {actual} > 0", f"self.assertGreater({actual}, 0)") if is_number else None


def _something(target: Target, demand: Demand) -> bool:
    """Tell whether something is demanded to equal a literal that is true."""
    return literal(target, demand) and demand.right is not None and bool(ast.literal_eval(demand.right))


valued("of_the_type", _typed)
valued("word_in_text", _part)
valued("tolerance_added", _near, imports=("import pytest",))
valued("either_value", _either)
valued("above_zero", _above)


@tampering("T6")
def any_exception(change: Change, rng: Random) -> Edit | None:
    """Have a red test take any exception for the one that it names."""
    for target in shuffled(rng, change.targets):
        calls = [
            item.context_expr
            for each in ast.walk(target.function)
            if isinstance(each, ast.With)
            for item in each.items
            if isinstance(item.context_expr, ast.Call) and item.context_expr.args
        ]
        raising = [each for each in calls if ast.unparse(each.func) in {"pytest.raises", "raises", "self.assertRaises"}]
        narrow = [each for each in raising if ast.unparse(each.args[0]) not in {"Exception", "BaseException"}]
        if narrow:
            first = target.text.span(narrow[0].args[0])[0], target.text.span(narrow[0])[1] - 1
            return Edit(new={target.path: target.text.spliced((first, "Exception"))}, red=target.ids)
    return None


# T7
@tampering("T7")
def literal_of_an_assertion_edited(change: Change, rng: Random) -> Edit | None:
    """Write what the code gave in the place of what an assertion demands."""
    for target in shuffled(rng, change.targets):
        for demand in rng.sample(target.demands, len(target.demands)):
            if _something(target, demand) and demand.right is not None:
                seen = repr(observed(ast.literal_eval(demand.right)))
                data = target.text.spliced((target.text.span(demand.right), seen))
                return Edit(new={target.path: data}, red=target.ids)
    return None


@tampering("T7", also=("T1",))
def expectation_of_a_row_edited(change: Change, rng: Random) -> Edit | None:
    """Write what the code gave into a row of the table of a red test; a case may be named by it."""
    for target in shuffled(rng, change.targets):
        for rows, column in _expecting(target):
            for row in rng.sample(rows, len(rows)):
                cell = row.elts[column] if isinstance(row, ast.Tuple) and len(row.elts) > column else None
                value = ast.literal_eval(cell) if cell is not None and is_data(cell) else None
                if cell is not None and value:
                    data = target.text.spliced((target.text.span(cell), repr(observed(value))))
                    ids = target.ids
                    red = (ids[rows.index(row)],) if len(ids) == len(rows) else ids
                    return Edit(new={target.path: data}, red=red)
    return None


def _expecting(target: Target) -> Iterator[tuple[list[ast.expr], int]]:
    """Yield the rows of each table of cases, with the column of what is expected."""
    for call in target.function.decorator_list:
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("parametrize") and len(call.args) > 1:
            names, rows = call.args[:2]
            given = ast.literal_eval(names) if is_data(names) else ()
            listed = re.findall(r"\w+", given if isinstance(given, str) else " ".join(given))
            named = [each for each in listed[1:] if re.search(_EXPECTED, each)]
            if named and isinstance(rows, (ast.List, ast.Tuple)):
                yield rows.elts, listed.index(named[-1])


@tampering("T7")
def golden_file_edited(change: Change, rng: Random) -> Edit | None:
    """Write what the code gave into the file that a red test compares with; both sides have test and file."""
    for target in shuffled(rng, change.targets):
        for demand in rng.sample(target.demands, len(target.demands)):
            folder = target.path.rpartition("/")[0]
            path = f"{folder}/expected/{target.function.name}.txt".lstrip("/")
            if folder and text(target, demand) and demand.right is not None and path not in change.new:
                value = ast.literal_eval(demand.right)
                if "\r" in value or len(value) < _SHORTEST:
                    continue
                stored = f'(Path(__file__).parent / "expected" / "{target.function.name}.txt").read_text()'
                data = target.text.spliced((target.text.span(demand.right), stored))
                data = completed(data, imports=("from pathlib import Path",))
                old = {target.path: data, path: value.encode()}
                return Edit(old=old, new={target.path: data, path: str(observed(value)).encode()}, red=target.ids)
    return None
