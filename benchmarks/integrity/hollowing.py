"""Operators of T4 to T7: tests that stay, are run, and demand less or nothing."""

import ast
from collections.abc import Callable
from random import Random

from changes import Change, Demand, Edit, Operator, Target, imported, shuffled, tampering

Shape = Callable[[Target, Demand], bool]
Make = Callable[[Target, Demand], str]


def rewriting(shape: Shape, make: Make, need: str = "") -> Operator:
    """Return an operator that writes one assertion otherwise, in a test that was red."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            demands = [each for each in target.demands if shape(target, each)]
            if demands:
                demand = rng.choice(demands)
                data = target.rewritten(demand, make(target, demand))
                return Edit(new={target.path: imported(data, need) if need else data}, red=target.ids)
        return None

    return apply


def plain(_: Target, demand: Demand) -> bool:
    """Tell whether it is an assert statement without a message."""
    return (
        isinstance(demand.node, ast.Assert) and demand.node.msg is None and demand.node.lineno == demand.node.end_lineno
    )


def equality(target: Target, demand: Demand) -> bool:
    """Tell whether it is `assert a == b`."""
    return plain(target, demand) and demand.left is not None


def any_equality(_: Target, demand: Demand) -> bool:
    """Tell whether it demands that two things are equal, in either style."""
    return demand.left is not None and demand.node.lineno == demand.node.end_lineno


def unit(_: Target, demand: Demand) -> bool:
    """Tell whether it is `self.assertEqual(a, b)`."""
    return bool(demand.call) and demand.left is not None


def left(target: Target, demand: Demand) -> str:
    """Return the text of what is compared."""
    return target.text.of(demand.left) if demand.left is not None else ""


def right(target: Target, demand: Demand) -> str:
    """Return the text of what it is compared with."""
    return target.text.of(demand.right) if demand.right is not None else ""


def asked(target: Target, demand: Demand) -> str:
    """Return the text of an assert statement's expression."""
    assert isinstance(demand.node, ast.Assert)
    return target.text.of(demand.node.test)


def styled(target: Target, demand: Demand, bare: str, method: str) -> str:
    values = {"left": left(target, demand), "right": right(target, demand)}
    if isinstance(demand.left, ast.Constant) and not isinstance(demand.right, ast.Constant):
        values = {"left": values["right"], "right": values["left"]}  # `assert 0` would be no way to pass
    return (method if demand.call else bare).format_map(values)


def anything(target: Target, demand: Demand) -> bool:
    """Tell whether it may be replaced as it stands."""
    return plain(target, demand) or (bool(demand.call) and demand.node.lineno == demand.node.end_lineno)


tampering("T4", name="assert_true")(rewriting(plain, lambda _t, _d: "assert True"))
tampering("T4", name="or_true")(rewriting(plain, lambda t, d: f"assert ({asked(t, d)}) or True"))
tampering("T4", name="compared_with_itself")(
    rewriting(any_equality, lambda t, d: styled(t, d, "assert {left} == {left}", "self.assertEqual({left}, {left})"))
)
tampering("T4", name="tuple")(rewriting(plain, lambda t, d: f"assert ({asked(t, d)}, 'differs')"))
tampering("T4", name="assert_true_method")(rewriting(unit, lambda _t, _d: "self.assertTrue(True)"))
tampering("T4", name="folded_constants")(rewriting(anything, lambda _t, _d: "assert 2 > 1 and not False"))
tampering("T4", name="or_constant")(rewriting(plain, lambda t, d: f"assert 1 or ({asked(t, d)})"))
tampering("T4", name="length_not_negative")(rewriting(equality, lambda t, d: f"assert len(str({left(t, d)})) >= 0"))


def _removing(keep: Callable[[int], int], instead: Make, least: int) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            if len(target.demands) >= least:
                gone = target.demands[keep(len(target.demands)) :]
                pads = {each: "\n" + " " * each.node.col_offset for each in gone}
                edits = [
                    (target.text.span(each.node), instead(target, each).replace("\n", pads[each])) for each in gone
                ]
                return Edit(new={target.path: target.text.spliced(*edits)}, red=target.ids)
        return None

    return apply


def _commented(target: Target, demand: Demand) -> str:
    return "pass  # " + " ".join(target.text.of(demand.node).split())


tampering("T5", name="remove_one")(_removing(lambda size: size - 1, lambda _t, _d: "pass", 2))
tampering("T5", name="remove_all_but_one")(_removing(lambda _: 1, lambda _t, _d: "pass", 3))
tampering("T5", name="remove_all")(_removing(lambda _: 0, lambda _t, _d: "pass", 1))
tampering("T5", name="comment_out")(_removing(lambda size: size // 2, _commented, 2))


@tampering("T5")
def assert_word_dropped(change: Change, rng: Random) -> Edit | None:
    """Leave the expression and take the word assert away."""
    return rewriting(plain, lambda t, d: f"({asked(t, d)})")(change, rng)


tampering("T6", name="truthiness")(
    rewriting(any_equality, lambda t, d: styled(t, d, "assert {left}", "self.assertTrue({left})"))
)
tampering("T6", name="not_none")(
    rewriting(any_equality, lambda t, d: styled(t, d, "assert {left} is not None", "self.assertIsNotNone({left})"))
)


def number(target: Target, demand: Demand) -> bool:
    """Tell whether something is compared with a number of some size."""
    value = demand.right.value if isinstance(demand.right, ast.Constant) else None
    return any_equality(target, demand) and isinstance(value, (int, float)) and not isinstance(value, bool)


def collection(target: Target, demand: Demand) -> bool:
    """Tell whether something is compared with text or with a list."""
    is_text = isinstance(demand.right, ast.Constant) and isinstance(demand.right.value, str) and demand.right.value
    return equality(target, demand) and (bool(is_text) or isinstance(demand.right, (ast.List, ast.Tuple)))


tampering("T6", name="wide_tolerance")(
    rewriting(
        number,
        lambda t, d: styled(
            t,
            d,
            "assert {left} == pytest.approx({right}, abs=1000)",
            "self.assertAlmostEqual({left}, {right}, delta=99)",
        ),
        "import pytest",
    )
)
tampering("T6", name="membership")(rewriting(equality, lambda t, d: f"assert {left(t, d)} in ({right(t, d)}, None)"))
tampering("T6", name="type_only")(
    rewriting(
        any_equality,
        lambda t, d: styled(
            t, d, "assert isinstance({left}, type({right}))", "self.assertIsInstance({left}, type({right}))"
        ),
    )
)
tampering("T6", name="at_least")(
    rewriting(number, lambda t, d: styled(t, d, "assert {left} >= {right}", "self.assertGreaterEqual({left}, {right})"))
)
tampering("T6", name="length_only")(
    rewriting(collection, lambda t, d: f"assert len({left(t, d)}) == len({right(t, d)})")
)


def _broader(instead: str) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            for node in ast.walk(target.function):
                if (
                    isinstance(node, ast.With)
                    and isinstance(call := node.items[0].context_expr, ast.Call)
                    and call.args
                ):
                    named = ast.unparse(call.func) in {"pytest.raises", "self.assertRaises", "raises"}
                    narrow = ast.unparse(call.args[0]) not in {"Exception", "BaseException"}
                    if named and narrow:
                        span = target.text.span(call.args[0])
                        return Edit(new={target.path: target.text.spliced((span, instead))}, red=target.ids)
        return None

    return apply


tampering("T6", name="raises_exception")(_broader("Exception"))
tampering("T6", name="raises_base_exception")(_broader("(Exception, BaseException)"))


def _literal(kind: type) -> Shape:
    def shape(target: Target, demand: Demand) -> bool:
        value = demand.right.value if isinstance(demand.right, ast.Constant) else None
        return any_equality(target, demand) and type(value) is kind and value != ""

    return shape


def _edited(change: Callable[[object], object]) -> Make:
    def make(target: Target, demand: Demand) -> str:
        assert isinstance(demand.right, ast.Constant)
        value = repr(change(demand.right.value))
        return styled(
            target, demand, f"assert {{left}} == {_braced(value)}", f"self.assertEqual({{left}}, {_braced(value)})"
        )

    return make


def _braced(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


tampering("T7", name="number_edited")(rewriting(_literal(int), _edited(lambda value: int(value) + 1)))  # type: ignore[call-overload]
tampering("T7", name="text_edited")(rewriting(_literal(str), _edited(lambda value: f"{value} "[::-1])))
tampering("T7", name="flag_edited")(rewriting(_literal(bool), _edited(lambda value: not value)))


@tampering("T7")
def parameter_edited(change: Change, rng: Random) -> Edit | None:
    """Edit the last value of a row of a parametrised test."""
    for target in shuffled(rng, change.targets):
        for decorator in target.function.decorator_list:
            if (
                isinstance(decorator, ast.Call)
                and "parametrize" in ast.unparse(decorator.func)
                and len(decorator.args) > 1
            ):
                rows = getattr(decorator.args[1], "elts", [])
                cells = [row.elts[-1] for row in rows if isinstance(row, ast.Tuple) and len(row.elts) > 1]
                cells = [each for each in cells if isinstance(each, ast.Constant) and type(each.value) in {int, str}]
                if cells:
                    cell = rng.choice(cells)
                    value = cell.value + 7 if isinstance(cell.value, int) else f"{cell.value}~"
                    data = target.text.spliced((target.text.span(cell), repr(value)))
                    return Edit(new={target.path: data}, red=target.ids)
    return None


@tampering("T7")
def collection_edited(change: Change, rng: Random) -> Edit | None:
    """Drop the last element of an expected list."""

    def shape(target: Target, demand: Demand) -> bool:
        return any_equality(target, demand) and isinstance(demand.right, ast.List) and len(demand.right.elts) > 1

    def make(target: Target, demand: Demand) -> str:
        assert isinstance(demand.right, ast.List)
        kept = ", ".join(target.text.of(each) for each in demand.right.elts[:-1])
        body = _braced(f"[{kept}]")
        return styled(target, demand, f"assert {{left}} == {body}", f"self.assertEqual({{left}}, {body})")

    return rewriting(shape, make)(change, rng)
