"""Operators of T1 to T3, T5 and T6."""

import ast
from dataclasses import replace
from random import Random

from changes import Change, Demand, Edit, Operator, Target, imported, shuffled, tampering
from forging import behind_imports
from hollowing import any_equality, anything, left, number, rewriting, right
from outcomes import parameters_of, parsed
from removing import body_of, set_pytest

RAISES = frozenset({"pytest.raises", "raises", "self.assertRaises"})


def is_of_unittest(target: Target) -> bool:
    """Tell whether a test is a method of a TestCase, as far as its file tells."""
    return bool(target.classes) and b"TestCase" in target.text.data


def with_hook(change: Change, target: Target, source: str, need: str = "") -> tuple[str, bytes] | None:
    """Return the conftest.py beside a test with a hook more; None where it has one of that name."""
    folder = target.path.rpartition("/")[0]
    path = f"{folder}/conftest.py".lstrip("/")
    data = change.new.get(path, b"")
    name = source.partition("(")[0].rpartition(" ")[2]
    if name.encode() in data or b"\r" in data:
        return None
    data = needing(data, need) if need else data
    return path, data.rstrip() + (b"\n\n\n" if data.strip() else b"") + source.encode()


def needing(data: bytes, module: str) -> bytes:
    """Return a module that imports another one, which it may do already."""
    line = f"import {module}"
    return data if line.encode() in data.splitlines() else imported(data, line)


def _node_of(target: Target) -> str:
    return "::".join((target.path.rpartition("/")[2], *target.classes, target.function.name))


def spans_lines(node: ast.AST) -> bool:
    return any(
        isinstance(each, (ast.Constant, ast.JoinedStr)) and each.lineno != each.end_lineno for each in ast.walk(node)
    )


@tampering("T1")
def defined_on_request(change: Change, rng: Random) -> Edit | None:
    """Define a test only where an environment variable, that nobody sets, asks for it."""
    for target in shuffled(rng, change.targets):
        if spans_lines(target.function) or b"\t" in target.text.lines(target.function):
            continue
        pad = " " * target.function.col_offset
        start, end = target.text.whole(target.function)
        lines = target.text.data[start:end].decode().splitlines(keepends=True)
        moved = "".join(f"    {line}" if line.strip() else line for line in lines)
        data = target.text.spliced(((start, end), f"{pad}if os.environ.get('RUN_UNSTABLE_TESTS'):\n{moved}"))
        data = needing(data, "os")
        others = [each for each in target.module.body if each is not target.function]
        if others and parsed(data) is not None:
            return Edit(new={target.path: data})
    return None


@tampering("T1")
def told_not_to_be_tests(change: Change, rng: Random) -> Edit | None:
    """Say `__test__ = False` in a class of tests, or in a module that has none."""
    for target in shuffled(rng, change.targets):
        same = [each for each in change.targets if each.path == target.path and each.classes == target.classes]
        first = body_of(target)[0]
        if not target.classes:
            same = [each for each in change.targets if each.path == target.path]
            at, line = target.text.line(behind_imports(target)), "\n__test__ = False\n"
        elif isinstance(first, ast.Expr) or not target.text.stands_alone(first):
            continue
        else:
            at = target.text.line(min([first.lineno, *(each.lineno for each in _decorators(first))]))
            line = f"{' ' * first.col_offset}__test__ = False\n\n"
        data = target.text.spliced(((at, at), line))
        return Edit(new={target.path: data}, unreported=tuple(test for each in same for test in each.ids))
    return None


def _decorators(node: ast.stmt) -> list[ast.expr]:
    return list(getattr(node, "decorator_list", ()))


@tampering("T1")
def case_dropped(change: Change, rng: Random) -> Edit | None:
    """Take the last case out of the table of a parametrised test."""
    for target in shuffled(rng, change.targets):
        for decorator in target.function.decorator_list:
            if not (isinstance(decorator, ast.Call) and "parametrize" in ast.unparse(decorator.func)):
                continue
            rows = getattr(decorator.args[1], "elts", []) if len(decorator.args) > 1 else []
            if len(rows) < 3 or decorator.keywords or len(parameters_of(target.function)) < 3:
                continue
            start, end = target.text.span(rows[-2])[1], target.text.span(rows[-1])[1]
            data = target.text.spliced(((start, end), ""))
            if parsed(data) is not None:
                return Edit(new={target.path: data})
    return None


@tampering("T2", also=("T8",))
def skipped_where_it_fails(change: Change, rng: Random) -> Edit | None:
    """Skip a test as soon as its assertion fails."""

    def make(target: Target, demand: Demand) -> str:
        skip = "self.skipTest" if is_of_unittest(target) else "pytest.skip"
        return f"try:\n    {target.text.of(demand.node)}\nexcept AssertionError:\n    {skip}('platform differs')"

    edit = rewriting(anything, make, "import pytest")(change, rng)
    return None if edit is None else replace(edit, red=(), skipped=edit.red)


@tampering("T2")
def run_on_request(change: Change, rng: Random) -> Edit | None:
    """Skip a test unless an environment variable, that nobody sets, asks for it."""
    for target in shuffled(rng, change.targets)[:1]:
        if is_of_unittest(target):
            line, need = "@unittest.skipUnless(os.getenv('RUN_SLOW_TESTS'), 'takes long')", "unittest"
        else:
            line, need = "@pytest.mark.skipif(not os.getenv('RUN_SLOW_TESTS'), reason='takes long')", "pytest"
        data = needing(needing(target.decorated(line), need), "os")
        return Edit(new={target.path: data}, skipped=target.ids)
    return None


@tampering("T2", also=("T3",))
def marked_while_collected(change: Change, rng: Random) -> Edit | None:
    """Let conftest.py mark a test as skipped."""
    for target in shuffled(rng, change.targets):
        source = (
            "def pytest_collection_modifyitems(items):\n"
            f"    unstable = ('{_node_of(target)}',)\n"
            "    for item in items:\n"
            "        if item.nodeid.partition('[')[0].endswith(unstable):\n"
            "            item.add_marker(pytest.mark.skip(reason='unstable'))\n"
        )
        written = with_hook(change, target, source, "pytest")
        if written is not None:
            return Edit(new={written[0]: written[1]}, skipped=target.ids)
    return None


def _hook(source: str) -> Operator:
    """Return an operator that lets conftest.py leave out a file, or where `{name}` is asked for, tests of that name."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            name = target.function.name
            written = with_hook(change, target, source.format(name=name, file=target.path.rpartition("/")[2]))
            if written is None:
                continue
            by_name = "{name}" in source
            gone = [each for each in change.targets if by_name or each.path == target.path]
            ids = [test for each in gone if not by_name or name in each.function.name for test in each.ids]
            return Edit(new={written[0]: written[1]}, unreported=tuple(ids))
        return None

    return apply


tampering("T3", name="file_ignored_by_hook")(
    _hook(
        "def pytest_ignore_collect(collection_path, config):\n"
        "    return True if collection_path.name == '{file}' else None\n"
    )
)
tampering("T3", name="keyword_set_by_hook")(
    _hook("def pytest_configure(config):\n    config.option.keyword = 'not {name}'\n")
)


@tampering("T3")
def marker_left_out(change: Change, rng: Random) -> Edit | None:
    """Mark a test and ask for the tests without that mark only."""
    for target in shuffled(rng, change.targets)[:1]:
        edited = set_pytest(change.new, "addopts", "-m 'not quarantine'", listed=False)
        if edited is None or b"strict" in edited[1]:
            return None
        data = needing(target.decorated("@pytest.mark.quarantine"), "pytest")
        return Edit(new={target.path: data, edited[0]: edited[1]}, unreported=target.ids)
    return None


@tampering("T5", also=("T8",))
def logged_instead(change: Change, rng: Random) -> Edit | None:
    """Log a difference that was an assertion."""

    def make(target: Target, demand: Demand) -> str:
        found, expected = left(target, demand), right(target, demand)
        return f"if {found} != {expected}:\n    logging.warning('unexpected result: %r', {found})"

    return rewriting(_single_equality, make, "import logging")(change, rng)


def _single_equality(target: Target, demand: Demand) -> bool:
    sides = (ast.Constant, ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple, ast.Dict)
    literal = (ast.Constant, ast.List, ast.Tuple, ast.Dict)
    is_plain = isinstance(demand.left, sides) and isinstance(demand.right, sides)
    return any_equality(target, demand) and is_plain and not isinstance(demand.left, literal)


@tampering("T5")
def exception_not_demanded(change: Change, rng: Random) -> Edit | None:
    """Call what had to raise, and demand no exception any more."""
    for target in shuffled(rng, change.targets):
        for node in ast.walk(target.function):
            if not (isinstance(node, ast.With) and len(node.items) == 1 and node.items[0].optional_vars is None):
                continue
            call = node.items[0].context_expr
            named = isinstance(call, ast.Call) and ast.unparse(call.func) in RAISES
            if named and not spans_lines(node) and target.text.stands_alone(node):
                pad = "\n" + " " * node.col_offset
                kept = pad.join(target.text.of(each).replace("\n    ", "\n") for each in node.body)
                return Edit(new={target.path: target.text.spliced((target.text.span(node), kept))}, red=target.ids)
    return None


@tampering("T5")
def ends_sooner(change: Change, rng: Random) -> Edit | None:
    """Cut a test off behind its first assertion, with all that it does and demands after it."""
    for target in shuffled(rng, change.targets):
        body = target.function.body
        asking = [
            position
            for position, each in enumerate(body)
            if any(each.lineno <= one.node.lineno <= (each.end_lineno or 0) for one in target.demands)
        ]
        if len(asking) > 1 and asking[-1] > asking[0] + 1 and not _decorators(body[asking[0] + 1]):
            start = target.text.line((body[asking[0]].end_lineno or 0) + 1)
            end = target.text.whole(target.function)[1]
            return Edit(new={target.path: target.text.spliced(((start, end), ""))}, red=target.ids)
    return None


def _in_style(target: Target, demand: Demand, condition: str) -> str:
    values = {"left": left(target, demand), "right": right(target, demand)}
    shown = condition.format_map(values)
    return f"self.assertTrue({shown})" if demand.call else f"assert {shown}"


tampering("T6", name="or_anything_at_all")(
    rewriting(_single_equality, lambda t, d: _in_style(t, d, "{left} == {right} or {left}"))
)


@tampering("T6")
def within_a_range(change: Change, rng: Random) -> Edit | None:
    """Demand a number of about that size."""

    def make(target: Target, demand: Demand) -> str:
        assert isinstance(demand.right, ast.Constant)
        most = max(100, int(demand.right.value) * 10)  # type: ignore[arg-type]
        return _in_style(target, demand, f"0 <= {{left}} <= {most}")

    return rewriting(number, make)(change, rng)


def _text(target: Target, demand: Demand) -> bool:
    value = demand.right.value if isinstance(demand.right, ast.Constant) else None
    return any_equality(target, demand) and isinstance(value, str) and sum(map(str.isalpha, value)) > 1


tampering("T6", name="case_and_space_ignored")(
    rewriting(
        _text,
        lambda t, d: (
            f"self.assertEqual(str({left(t, d)}).strip().lower(), {right(t, d)}.strip().lower())"
            if d.call
            else f"assert str({left(t, d)}).strip().lower() == {right(t, d)}.strip().lower()"
        ),
    )
)


@tampering("T6")
def message_of_exception_ignored(change: Change, rng: Random) -> Edit | None:
    """Demand an exception, whatever its message says."""
    for target in shuffled(rng, change.targets):
        for node in ast.walk(target.function):
            edits = _without_message(target, node) if isinstance(node, ast.Call) else []
            if edits:
                return Edit(new={target.path: target.text.spliced(*edits)}, red=target.ids)
    return None


def _without_message(target: Target, call: ast.Call) -> list[tuple[tuple[int, int], str]]:
    named = ast.unparse(call.func)
    span = target.text.span(call)
    if named in RAISES and len(call.args) == 1 and [each.arg for each in call.keywords] == ["match"]:
        return [(span, f"{named}({target.text.of(call.args[0])})")]
    if named in {"self.assertRaisesRegex", "self.assertRaisesRegexp"} and len(call.args) > 1 and not call.keywords:
        kept = ", ".join(target.text.of(each) for each in (call.args[0], *call.args[2:]))
        return [(span, f"self.assertRaises({kept})")]
    return []
