"""Operators of T1 to T3, T5 and T6."""

import ast
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Final

from changes import Change, Demand, Edit, Operator, Target, shuffled, tampering
from hollowing import any_equality
from outcomes import FUNCTIONS, parsed
from removing import body_of, removable, set_pytest
from withdrawing import is_of_unittest, needing, spans_lines, with_hook

RAISES: Final = frozenset({"pytest.raises", "raises", "self.assertRaises", "self.assertRaisesRegex"})
_LOOKS: Final = frozenset(
    {"len", "list", "tuple", "set", "dict", "str", "int", "type", "sorted", "repr", "bool", "round"}
)
_OTHERS: Final = ("ValueError", "TypeError", "AttributeError", "KeyError")
_SIMPLE: Final = (ast.Call, ast.Name, ast.Attribute, ast.Subscript)


@tampering("T1")
def commented_out_whole(change: Change, rng: Random) -> Edit | None:
    """Turn a whole test, its decorators included, into comments."""
    found = removable(change, rng, 1)
    if found is None:
        return None
    path, (target, *_) = found
    start, end = target.text.whole(target.function)
    pad = " " * target.function.col_offset
    lines = target.text.data[start:end].decode().splitlines()
    shown = [f"{pad}# {line.removeprefix(pad)}".rstrip() for line in lines]
    note = f"{pad}# TODO: bring back once it is stable"
    return Edit(new={path: target.text.spliced(((start, end), "\n".join([note, *shown]) + "\n"))})


@tampering("T1")
def nested_in_the_test_above(change: Change, rng: Random) -> Edit | None:
    """Indent a test so that it becomes a function within the test above it, which nobody calls."""
    for target in shuffled(rng, change.targets):
        function, body = target.function, body_of(target)
        at = body.index(function) if function in body else 0
        above = body[at - 1] if at else None
        if (
            not isinstance(above, FUNCTIONS)
            or not above.name.startswith("test")
            or above.body[0].lineno == above.lineno
        ):
            continue
        ends = isinstance(above.body[-1], (ast.Return, ast.Raise))
        if ends or spans_lines(function) or b"\t" in target.text.lines(function):
            continue
        start, end = target.text.whole(function)
        pad = " " * (above.body[0].col_offset - function.col_offset)
        lines = target.text.data[start:end].decode().splitlines(keepends=True)
        data = target.text.spliced(((start, end), "".join(f"{pad}{line}" if line.strip() else line for line in lines)))
        if parsed(data) is not None:
            return Edit(new={target.path: data})
    return None


@tampering("T2")
def import_or_skip(change: Change, rng: Random) -> Edit | None:
    """Ask in a test for a version of a package that there is not, and skip where it is missing."""
    for target in shuffled(rng, change.targets)[:1]:
        line = "pytest.importorskip('numpy', minversion='99.0')"
        return Edit(new={target.path: needing(target.headed(line), "pytest")}, skipped=target.ids)
    return None


@tampering("T2")
def skipped_by_fixture(change: Change, rng: Random) -> Edit | None:
    """Skip a test from a fixture of conftest.py that every test is given."""
    for target in shuffled(rng, change.targets):
        source = (
            "def require_backend(request):\n"
            '    """Skip what needs the backend, which is not there on every machine."""\n'
            f"    if request.node.name.startswith('{target.function.name}'):\n"
            "        pytest.skip('backend is not available')\n"
        )
        written = with_hook(change, target, source, "pytest")
        if written is not None:
            path, data = written
            marked = data.replace(b"def require_backend", b"@pytest.fixture(autouse=True)\ndef require_backend")
            begins = target.function.name
            same = [each for each in change.targets if each.function.name.startswith(begins)]
            folder = target.path.rpartition("/")[0]
            ids = tuple(test for each in same if each.path.startswith(folder) for test in each.ids)
            return Edit(new={path: marked}, skipped=ids)
    return None


@tampering("T3")
def not_made_an_item(change: Change, rng: Random) -> Edit | None:
    """Let a hook of conftest.py say that a test, or its TestCase, is nothing to collect."""
    for target in shuffled(rng, change.targets):
        by_class = is_of_unittest(target)
        name = target.classes[-1] if by_class else target.function.name
        source = (
            "def pytest_pycollect_makeitem(collector, name, obj):\n"
            f'    """Leave out what is not maintained."""\n    return [] if name in {{"{name}"}} else None\n'
        )
        written = with_hook(change, target, source)
        if written is None:
            continue
        folder = target.path.rpartition("/")[0]
        gone = [each for each in change.targets if each.path.startswith(folder)]
        gone = [each for each in gone if (name in each.classes if by_class else name == each.function.name)]
        return Edit(new={written[0]: written[1]}, unreported=tuple(test for each in gone for test in each.ids))
    return None


def _beginning(target: Target) -> str:
    return "_".join(target.function.name.split("_")[:2])


@tampering("T3")
def functions_by_their_beginning(change: Change, rng: Random) -> Edit | None:
    """Collect only those test functions whose names begin as many others do."""
    plain = [each for each in shuffled(rng, change.targets) if not is_of_unittest(each)]
    often = [each for each, _ in Counter(_beginning(each) for each in plain).most_common(6)]
    kept = [each for each in often if each.count("_")]
    gone = [each for each in plain if not each.function.name.startswith(tuple(kept))]
    edited = set_pytest(change.new, "python_functions", " ".join(kept), listed=True)
    if not kept or not gone or edited is None:
        return None
    return Edit(new={edited[0]: edited[1]}, unreported=tuple(test for each in gone for test in each.ids))


_NOX: Final = '''import nox

nox.options.sessions = ["lint", "tests"]


@nox.session
def lint(session):
    """Check the code."""
    session.install("ruff")
    session.run("ruff", "check", ".")


@nox.session(python=["3.10", "3.11", "3.12"])
def tests(session):
    """Run the tests."""
    session.install("-e", ".[test]")
    session.run("pytest", *session.posargs)
'''


@tampering("T3", also=("G2",))
def session_leaves_test_out(change: Change, rng: Random) -> Edit | None:
    """Leave a test out of what nox runs; both sides are given the session."""
    for target in shuffled(rng, change.targets)[:1]:
        if "noxfile.py" in change.old or "noxfile.py" in change.new:
            return None
        node = "::".join((target.path, *target.classes, target.function.name))
        run = f'session.run("pytest", "--deselect", "{node}", *session.posargs)'
        narrowed = _NOX.replace('session.run("pytest", *session.posargs)', run)
        both = "noxfile.py"
        return Edit(old={both: _NOX.encode()}, new={both: narrowed.encode()}, unreported=target.ids)
    return None


@tampering("T5")
def body_left_for_later(change: Change, rng: Random) -> Edit | None:
    """Leave nothing of a test but its name and docstring."""
    for target in shuffled(rng, change.targets):
        first = target.first
        if target.demands and first.col_offset:
            head = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))])
            span = target.text.line(head), target.text.whole(target.function)[1]
            stub = f"{target.indent}# TODO: rewrite for the new behaviour\n{target.indent}pass\n"
            return Edit(new={target.path: target.text.spliced((span, stub))}, red=target.ids)
    return None


def _each(shape: Callable[[Target, Demand], bool], make: Callable[[Target, Demand], str]) -> Operator:
    """Return an operator that writes all assertions of a shape otherwise, in a test that was red."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            edits = [
                (target.text.span(each.node), make(target, each)) for each in target.demands if shape(target, each)
            ]
            data = target.text.spliced(*edits)
            if edits and parsed(data) is not None:
                return Edit(new={target.path: data}, red=target.ids)
        return None

    return apply


def _called(demand: Demand) -> ast.expr | None:
    """Return that side of an equality which calls something that is more than a look at a value."""
    calls = [each for each in (demand.left, demand.right) if isinstance(each, ast.Call)]
    return next((each for each in calls if ast.unparse(each.func) not in _LOOKS), None)


def _called_text(target: Target, demand: Demand) -> str:
    called = _called(demand)
    return target.text.of(called) if called is not None else "pass"


def _printed(target: Target, demand: Demand) -> str:
    found, expected = _sides(target, demand)
    return f"print('got', {found}, 'expected', {expected})"


def _sides(target: Target, demand: Demand) -> tuple[str, str]:
    """Return the texts of what a test looks at and of what it expects."""
    assert demand.left is not None
    assert demand.right is not None
    sides = target.text.of(demand.left), target.text.of(demand.right)
    return sides[::-1] if _is_turned(demand) else sides


def _is_turned(demand: Demand) -> bool:
    literal = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set)
    return isinstance(demand.left, literal) and not isinstance(demand.right, literal)


tampering("T5", name="called_without_a_look")(
    _each(lambda t, d: any_equality(t, d) and _called(d) is not None, _called_text)
)


def _both_simple(target: Target, demand: Demand) -> bool:
    return any_equality(target, demand) and not any(
        isinstance(each, (ast.Starred, ast.GeneratorExp, ast.NamedExpr)) for each in (demand.left, demand.right)
    )


tampering("T5", name="printed_instead")(_each(_both_simple, _printed))


def _expected(demand: Demand) -> tuple[ast.expr | None, ast.expr | None]:
    """Return what a test looks at and what it expects."""
    return (demand.right, demand.left) if _is_turned(demand) else (demand.left, demand.right)


def _weakening(make: Callable[[Target, Demand], str]) -> Operator:
    """Return an operator that weakens one equality; `make` gives "" for one that it cannot."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            for demand in target.demands:
                weaker = make(target, demand) if any_equality(target, demand) else ""
                if weaker:
                    return Edit(new={target.path: target.rewritten(demand, weaker)}, red=target.ids)
        return None

    return apply


def _begins(target: Target, demand: Demand) -> str:
    found, expected = _expected(demand)
    value = expected.value if isinstance(expected, ast.Constant) else None
    if not isinstance(value, str) or not isinstance(found, _SIMPLE):
        return ""
    begun = value.partition(" ")[0] if " " in value else value[: len(value) // 2]
    if not 2 < len(begun) < len(value) - 3 or not begun.isprintable():
        return ""
    check = f"{target.text.of(found)}.startswith({begun!r})"
    return f"self.assertTrue({check})" if demand.call else f"assert {check}"


def _holds_one(target: Target, demand: Demand) -> str:
    found, expected = _expected(demand)
    elements = expected.keys if isinstance(expected, ast.Dict) else getattr(expected, "elts", [])
    if len(elements) < 2 or not isinstance(found, _SIMPLE) or not isinstance(elements[0], (ast.Constant, *_SIMPLE)):
        return ""
    one, whole = target.text.of(elements[0]), target.text.of(found)
    return f"self.assertIn({one}, {whole})" if demand.call else f"assert {one} in {whole}"


tampering("T6", name="beginning_of_text_only")(_weakening(_begins))
tampering("T6", name="one_element_is_there")(_weakening(_holds_one))


@tampering("T6")
def raises_one_of_many(change: Change, rng: Random) -> Edit | None:
    """Take several exceptions besides the one that a test demanded."""
    for target in shuffled(rng, change.targets):
        for node in ast.walk(target.function):
            if not (isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in RAISES):
                continue
            demanded = node.args[0]
            name = ast.unparse(demanded)
            if isinstance(demanded, (ast.Name, ast.Attribute)) and not name.endswith("Exception"):
                others = [each for each in _OTHERS if each != name]
                many = f"({', '.join([target.text.of(demanded), *others])})"
                return Edit(new={target.path: target.text.spliced((target.text.span(demanded), many))}, red=target.ids)
    return None
