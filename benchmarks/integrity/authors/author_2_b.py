"""Forms by a second author: assertions removed, weakened or rewritten to what was observed, and failures swallowed."""

import ast
from collections.abc import Callable
from random import Random

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import asserted, completed, equality, literal, number, rewritten, text
from subjects import is_data

Place = tuple[int, int]
Written = Callable[[Target, Demand, Random], tuple[Place, str] | None]


def demanded(rule: str, name: str, written: Written, *, also: tuple[str, ...] = ()) -> None:
    """Enter a form that makes one edit by an assertion of a red test."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            for demand in rng.sample(target.demands, len(target.demands)):
                edit = written(target, demand, rng)
                if edit is not None:
                    return Edit(new={target.path: target.text.spliced(edit)}, red=target.ids)
        return None

    tampering(rule, name=name, also=also)(apply)


def blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """Return the lists of statements below a node."""
    found = [getattr(each, name, None) for each in ast.walk(node) for name in ("body", "orelse", "finalbody")]
    return [each for each in found if isinstance(each, list)]


def lines_of(target: Target, node: ast.stmt) -> Place:
    """Return where the lines of a statement begin and end."""
    return target.text.line(node.lineno), target.text.line((node.end_lineno or node.lineno) + 1)


def left_by(target: Target, node: ast.stmt) -> str:
    """Return what must stand in the place of a statement that is taken away."""
    return f"{' ' * node.col_offset}pass\n" if [node] in blocks(target.function) else ""


# T5
def _deleted(target: Target, demand: Demand, _: Random) -> tuple[Place, str] | None:
    few = len(target.demands) < 2  # one must be left
    return None if few else (lines_of(target, demand.node), left_by(target, demand.node))


def _commented_out(target: Target, demand: Demand, _: Random) -> tuple[Place, str] | None:
    start, end = lines_of(target, demand.node)
    pad = " " * demand.node.col_offset
    lines = [f"{pad}# {each.removeprefix(pad)}\n" for each in target.text.data[start:end].decode().splitlines()]
    return (start, end), "".join(lines) + left_by(target, demand.node)


def _cut_off(target: Target, demand: Demand, _: Random) -> tuple[Place, str] | None:
    start, end = target.text.line(demand.node.lineno), target.text.whole(target.function)[1]
    is_late = demand.node in target.function.body[1:-1] and demand not in target.demands[:1]
    return ((start, end), "") if is_late else None


def of_call(target: Target, demand: Demand) -> bool:
    """Tell whether the result of a call is demanded to equal a literal."""
    return literal(target, demand) and isinstance(demand.left, ast.Call)


demanded("T5", "failing_assertion_deleted", _deleted)
demanded("T5", "failing_assertion_commented_out", _commented_out)
rewritten("T5", "body_replaced_by_pass", around="pass  # TODO: rewrite for the new behaviour")
asserted("T5", "calls_without_assertions", "$actual  # should not raise", where=of_call, every=True)
demanded("T5", "rest_of_test_cut_off", _cut_off)


def raising(rule: str, name: str, edit: Callable[[Target, ast.With, ast.Call], tuple[Place, str] | None]) -> None:
    """Enter a form that makes one edit by the lines of a red test that are to raise an exception."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            for node in [each for block in blocks(target.function) for each in block if isinstance(each, ast.With)]:
                call = node.items[0].context_expr
                is_call = isinstance(call, ast.Call) and ast.unparse(call.func).endswith((".raises", ".assertRaises"))
                done = edit(target, node, call) if is_call and node.items[0].optional_vars is None else None
                if done is not None:
                    return Edit(new={target.path: target.text.spliced(done)}, red=target.ids)
        return None

    tampering(rule, name=name)(apply)


raising("T5", "raises_block_deleted", lambda target, node, _: (lines_of(target, node), left_by(target, node)))


# T6
def _any_exception(target: Target, _: ast.With, call: ast.Call) -> tuple[Place, str] | None:
    if not call.args or ast.unparse(call.args[0]).endswith("Exception"):
        return None
    return target.text.span(call), f"{target.text.of(call.func)}(Exception)"


def _held(bare: str, name: str, target: Target, demand: Demand) -> tuple[Place, str]:
    actual = target.text.of(demand.left) if demand.left is not None else ""
    line = f"self.{name}" if demand.call else f"assert {bare}"
    return target.text.span(demand.node), line.replace("ACTUAL", actual)


def _part(target: Target, demand: Demand, _: Random) -> tuple[Place, str] | None:
    words = str(demand.right.value).split() if text(target, demand) and isinstance(demand.right, ast.Constant) else []
    word = repr(max(words, key=len)) if len(words) > 1 else ""
    return _held(f"{word} in ACTUAL", f"assertIn({word}, ACTUAL)", target, demand) if word else None


def observed(node: ast.AST | None) -> str:
    """Return what a run may have shown in the place of a literal, "" for what is none."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, (bool, int, float)):
        return repr(not value if isinstance(value, bool) else value + 1)
    if isinstance(value, (str, bytes)) and len(value) > 1:
        changed = (value.lower(), value.capitalize(), value[:-1])
        return repr(next(each for each in changed if each != value))
    return ""


def _either(target: Target, demand: Demand, _: Random) -> tuple[Place, str] | None:
    other = observed(demand.right) if literal(target, demand) else ""
    either = f"({target.text.of(demand.right)}, {other})" if other and demand.right is not None else ""
    return _held(f"ACTUAL in {either}", f"assertIn(ACTUAL, {either})", target, demand) if either else None


def truthy(target: Target, demand: Demand) -> bool:
    """Tell whether a literal is demanded that is true without being True."""
    value = ast.literal_eval(demand.right) if literal(target, demand) and demand.right is not None else None
    return bool(value) and value is not True


def container(target: Target, demand: Demand) -> bool:
    """Tell whether a literal with elements is demanded."""
    return equality(target, demand) and isinstance(demand.right, (ast.List, ast.Tuple, ast.Dict, ast.Set))


def _length(target: Target, demand: Demand, _: Random) -> tuple[Place, str] | None:
    value = ast.literal_eval(demand.right) if literal(target, demand) and demand.right is not None else None
    if not value or not isinstance(value, (list, tuple, dict, set)):
        return None
    return _held(f"len(ACTUAL) == {len(value)}", f"assertEqual(len(ACTUAL), {len(value)})", target, demand)


asserted("T6", "not_none", "assert $actual is not None", "self.assertIsNotNone($actual)", where=truthy)
asserted("T6", "truthiness", "assert $actual", "self.assertTrue($actual)", where=truthy)
asserted("T6", "is_a_text", "assert isinstance($actual, str)", "self.assertIsInstance($actual, str)", where=text)
raising("T6", "raises_any_exception", _any_exception)
demanded("T6", "one_word_contained", _part)
asserted(
    "T6",
    "within_one",
    "assert abs($actual - $expected) <= 1",
    "self.assertAlmostEqual($actual, $expected, delta=1)",
    where=number,
)
demanded("T6", "same_length_only", _length)
demanded("T6", "old_or_observed_value", _either)


# T7
def _literal(target: Target, demand: Demand, _: Random) -> tuple[Place, str] | None:
    new = observed(demand.right) if literal(target, demand) else ""
    return (target.text.span(demand.right), new) if new and demand.right is not None else None


def _element(target: Target, demand: Demand, rng: Random) -> tuple[Place, str] | None:
    if demand.right is None or not container(target, demand) or not is_data(demand.right):
        return None
    keys = {id(key) for each in ast.walk(demand.right) if isinstance(each, ast.Dict) for key in each.keys}
    found = [each for each in ast.walk(demand.right) if id(each) not in keys and observed(each)]
    chosen = rng.choice(found) if found else None
    return (target.text.span(chosen), observed(chosen)) if chosen is not None else None


demanded("T7", "literal_set_to_observed", _literal)
demanded("T7", "element_set_to_observed", _element)


@tampering("T7", name="snapshot_file_regenerated")
def snapshot_file_regenerated(change: Change, rng: Random) -> Edit | None:
    """Write what was observed into the file that a test of both trees compares with."""
    for target in shuffled(rng, change.targets):
        folder = f"{target.path.rpartition('/')[0]}/snapshots".lstrip("/")
        path = f"{folder}/{target.function.name}.txt"
        for demand in target.demands:
            wanted = demand.right.value if isinstance(demand.right, ast.Constant) else None
            if text(target, demand) and isinstance(wanted, str) and observed(demand.right):
                start, end = lines_of(target, demand.node)
                was = target.text.data[start:end]
                read = f'Path(__file__).with_name("snapshots").joinpath("{target.function.name}.txt").read_text()'
                at, to = target.text.span(demand.right)
                now = was[: at - start] + read.encode() + was[to - start :]
                old, new = change.old[target.path], change.new[target.path]
                if old.count(was) == new.count(was) == 1 and path not in change.new:
                    sides = [
                        completed(each.replace(was, now), imports=("from pathlib import Path",)) for each in (old, new)
                    ]
                    return Edit(
                        old={target.path: sides[0], path: wanted.encode()},
                        new={target.path: sides[1], path: ast.literal_eval(observed(demand.right)).encode()},
                        red=target.ids,
                    )
    return None


# T8
def plain(target: Target) -> bool:
    """Tell whether lines can be put before the first statement of a test that asserts something."""
    return bool(target.demands) and not getattr(target.first, "decorator_list", None)


def flat(target: Target) -> bool:
    """Tell whether the body of such a test can be indented: no text in it has several lines."""
    texts = [
        each
        for one in target.function.body[target.function.body.index(target.first) :]
        for each in ast.walk(one)
        if isinstance(each, (ast.Constant, ast.JoinedStr))
    ]
    return plain(target) and all(each.lineno == each.end_lineno for each in texts)


rewritten(
    "T8",
    "body_with_errors_suppressed",
    around="with contextlib.suppress(AssertionError):\n    $$body",
    imports=("import contextlib",),
    where=flat,
)
rewritten(
    "T8",
    "error_only_printed",
    around='try:\n    $$body\nexcept Exception as exc:\n    print(f"$test failed: {exc}")',
    where=flat,
)
rewritten(
    "T8",
    "tolerant_decorator",
    decorator="@tolerant",
    top="""
    def tolerant(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            try:
                return func(*args, **kwargs)
            except Exception:
                return None

        return wrapper
    """,
    imports=("import functools",),
    where=lambda target: bool(target.demands) and isinstance(target.function, ast.FunctionDef),
)
rewritten(
    "T8",
    "return_unless_asked_for",
    first='if not os.environ.get("RUN_FULL_TESTS"):\n    return',
    imports=("import os",),
    where=plain,
)
