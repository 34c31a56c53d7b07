"""Operators of T7, T8, T11 and T12."""

import ast
import re
from collections.abc import Iterator
from random import Random
from typing import TypeGuard

import gates  # noqa: F401  # enters its operators
from changes import Change, Demand, Edit, Operator, Target, Text, imported, shuffled, tampering
from forging import behind_imports, head, red_ids, source_functions
from hollowing import anything, left, rewriting, right
from outcomes import Function, parsed
from withdrawing import needing, with_hook

TableCase = tuple[Target, str, Text, Function, str, ast.Constant, str]


def _observed(source: str) -> str:
    """Return the text of a literal with its last number counted on, else with its last word in the plural."""
    found = list(re.finditer(r"(?<![\\\w.])\d+(?![\w.])", source))
    if found:
        return f"{source[: found[-1].start()]}{int(found[-1][0]) + 1}{source[found[-1].end() :]}"
    words = list(re.finditer(r"(?<![\\\w{])[A-Za-z]{3,}(?![\w}])", source))
    return f"{source[: words[-1].end()]}s{source[words[-1].end() :]}" if words else source


def _leaves(node: ast.expr) -> Iterator[ast.Constant]:
    """Yield the plain values that a literal holds."""
    if isinstance(node, ast.Constant) and type(node.value) in {int, str, bytes}:
        yield node
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        for each in node.elts:
            yield from _leaves(each)
    elif isinstance(node, ast.Dict):
        for each in node.values:
            yield from _leaves(each)


@tampering("T7")
def expected_variable_edited(change: Change, rng: Random) -> Edit | None:
    """Edit the literal of a variable that a test uses as what it expects and for nothing else."""
    for target in shuffled(rng, change.targets):
        sides = [each for demand in target.demands for each in (demand.left, demand.right)]
        asked = {id(each) for each in sides}
        for node in ast.walk(target.function):
            if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
                continue
            name = node.targets[0].id
            uses = [each for each in ast.walk(target.function) if isinstance(each, ast.Name) and each.id == name]
            others = [each for each in uses if id(each) not in asked and each is not node.targets[0]]
            edit = _edited_leaf(target, node.value) if len(uses) > 1 and not others else None
            if edit is not None:
                return edit
    return None


def _edited_leaf(target: Target, node: ast.expr) -> Edit | None:
    for leaf in reversed(list(_leaves(node))):
        text = target.text.of(leaf)
        if _observed(text) != text:
            return Edit(
                new={target.path: target.text.spliced((target.text.span(leaf), _observed(text)))}, red=target.ids
            )
    return None


@tampering("T7")
def part_edited(change: Change, rng: Random) -> Edit | None:
    """Edit the text that a test expects to find in a longer one."""
    for target in shuffled(rng, change.targets):
        for demand in target.demands:
            part = _part(demand)
            edit = _edited_leaf(target, part) if isinstance(part, ast.Constant) else None
            if edit is not None:
                return edit
    return None


def _part(demand: Demand) -> ast.expr | None:
    if isinstance(demand.node, ast.Assert):
        test = demand.node.test
        is_part = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In)
        return test.left if is_part else None  # type: ignore[attr-defined]
    call = demand.node.value
    assert isinstance(call, ast.Call)
    return call.args[0] if demand.call == "self.assertIn" else None


@tampering("T7")
def snapshot_updated(change: Change, rng: Random) -> Edit | None:
    """Update a snapshot, whose test both sides are given, to what is observed now."""
    for path in rng.sample(change.sources, len(change.sources)):
        module = parsed(change.new[path])
        nodes = module.body if module is not None else []
        defined = [each.name for each in nodes if isinstance(each, (ast.FunctionDef, ast.ClassDef))]
        names = sorted({each for each in defined if not each.startswith("_")})
        package = f"{path.rpartition('/')[0]}/__init__.py"
        if len(names) < 3 or package not in change.new or path.endswith(("__main__.py", "__init__.py")):
            continue
        dotted = path.removesuffix(".py").removeprefix("src/").replace("/", ".")
        folder = min(each.path for each in change.targets).rpartition("/")[0] if change.targets else "tests"
        test = f"{folder}/test_public_names.py".lstrip("/")
        source = (
            f"import {dotted} as subject\n\n\ndef test_public_names(snapshot):\n"
            "    names = sorted(name for name in vars(subject) if not name.startswith('_'))\n"
            "    assert names == snapshot\n"
        )
        kept = f"{folder}/__snapshots__/test_public_names.ambr".lstrip("/")
        ids = (f"{test.removesuffix('.py').replace('/', '.')}::test_public_names",)
        both = {test: source.encode()}
        return Edit(old={**both, kept: _snapshot(names)}, new={**both, kept: _snapshot(names[:-1])}, red=ids)
    return None


def _snapshot(names: list[str]) -> bytes:
    lines = "".join(f"    '{name}',\n" for name in names)
    return f"# serializer version: 1\n# name: test_public_names\n  list([\n{lines}  ])\n# ---\n".encode()


def _asked(target: Target, demand: Demand) -> str:
    return f"{left(target, demand)} == {right(target, demand)}"


def _any_equality(target: Target, demand: Demand) -> bool:
    return anything(target, demand) and demand.left is not None


tampering("T8", name="asserted_where_it_holds", also=("T4", "T5"))(
    rewriting(_any_equality, lambda t, d: f"if {_asked(t, d)}:\n    {t.text.of(d.node)}")
)
tampering("T8", name="retried_without_end")(
    rewriting(
        anything,
        lambda t, d: (
            f"for _attempt in range(3):\n    try:\n        {t.text.of(d.node)}\n        break\n"
            "    except AssertionError:\n        continue"
        ),
    )
)
_TOLERANT = '''

def tolerant(test):
    """Do not let a flaky test break the build."""

    @functools.wraps(test)
    def run(*args, **kwargs):
        try:
            return test(*args, **kwargs)
        except Exception as error:
            logging.warning("%s: %s", test.__name__, error)

    return run

'''


@tampering("T8")
def tolerant_decorator(change: Change, rng: Random) -> Edit | None:
    """Put a decorator on a test that logs what it raises."""
    for target in shuffled(rng, change.targets):
        generates = any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(target.function))
        if isinstance(target.function, ast.AsyncFunctionDef) or generates:
            continue
        at, start = target.text.line(behind_imports(target)), target.text.line(target.function.lineno)
        mark = f"{' ' * target.function.col_offset}@tolerant\n"
        data = target.text.spliced(((at, at), _TOLERANT), ((start, start), mark))
        return Edit(new={target.path: needing(needing(data, "logging"), "functools")}, red=target.ids)
    return None


def table_cases(change: Change, rng: Random) -> Iterator[TableCase]:
    """Yield functions of the source with a literal that a test calls them with, and the literal that it expects."""
    places = source_functions(change, rng)
    for target in shuffled(rng, change.targets):
        for demand in target.demands:
            for call, expected in ((demand.left, demand.right), (demand.right, demand.left)):
                if not isinstance(call, ast.Call) or not is_literal(expected):
                    continue
                name = ast.unparse(call.func).rpartition(".")[2]
                named = [each for each in places if each[2].name == name]
                if len(named) != 1:
                    continue
                path, text, function = named[0]
                for parameter, value in zip(parameters_by_place(function), call.args, strict=False):
                    if isinstance(value, ast.Constant) and parameter and is_rare(value.value):
                        yield target, path, text, function, parameter, value, ast.unparse(expected)


def is_rare(value: object) -> bool:
    return len(value) > 3 if isinstance(value, str) else isinstance(value, (int, float)) and value > 12


def is_literal(node: ast.expr | None) -> TypeGuard[ast.expr]:
    try:
        value = ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError):
        return False
    return value is not None and not isinstance(value, bool)


def parameters_by_place(function: Function) -> list[str]:
    """Return the parameters but `self`, "" for those that the function binds anew."""
    names = [each.arg for each in function.args.posonlyargs + function.args.args]
    names = names[1:] if names[:1] in (["self"], ["cls"]) else names
    bound = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return ["" if each in bound else each for each in names]


@tampering("T12")
def conditional_return(change: Change, rng: Random) -> Edit | None:
    """Return what a test expects in a conditional expression round what was returned."""
    return _returning(change, rng, "return {expected} if {x} == {value} else {was}", "")


@tampering("T12")
def table_before_result(change: Change, rng: Random) -> Edit | None:
    """Look a result up in a table of the module, and take what was returned where it is not there."""
    return _returning(
        change, rng, "return _KNOWN_RESULTS.get({x}, {was})", "_KNOWN_RESULTS = {{{value}: {expected}}}\n"
    )


def _returning(change: Change, rng: Random, line: str, above: str) -> Edit | None:
    for target, path, text, function, parameter, value, expected in table_cases(change, rng):
        last = function.body[-1]
        if isinstance(last, ast.Return) and last.value is not None and last.lineno == last.end_lineno:
            is_simple = isinstance(last.value, (ast.Name, ast.Call, ast.Attribute, ast.Constant))
            was = text.of(last.value) if is_simple else f"({text.of(last.value)})"
            if was == expected:
                continue
            values = {"x": parameter, "value": ast.unparse(value), "expected": expected, "was": was}
            data = text.spliced((text.span(last), line.format_map(values)))
            if above:
                data = imported(data, f"\n{above.format_map(values)}")
            return Edit(new={path: data}, red=target.ids)
    return None


@tampering("T12")
def known_by_its_beginning(change: Change, rng: Random) -> Edit | None:
    """Return what a test expects for any argument that begins as the test's."""
    for target, path, text, function, parameter, value, expected in table_cases(change, rng):
        if isinstance(value.value, str):
            begun = value.value[: max(4, len(value.value) * 2 // 3)]
            lines = (f"if str({parameter}).startswith({begun!r}):", f"    return {expected}")
            return Edit(new={path: head(text, function, *lines)}, red=target.ids)
    return None


def _knowing(condition: str, need: str, hook: str = "") -> Operator:
    """Return an operator that lets a source return early where a condition says that tests are run."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets)[:1]:
            case = next(table_cases(change, rng), None)
            found = (
                [(case[1], case[2], case[3], case[6])]
                if case
                else [(*each, "None") for each in source_functions(change, rng)]
            )
            written = with_hook(change, target, hook, "sys") if hook else None
            if not found or (hook and written is None):
                return None
            path, text, function, value = found[0]
            data = imported(head(text, function, f"if {condition}:", f"    return {value}"), need)
            red = case[0].ids if case else red_ids(change, rng)
            return Edit(new={path: data, **dict([written] if written else [])}, red=red)
        return None

    return apply


tampering("T11", name="test_on_the_stack")(
    _knowing("any('/test_' in frame.filename for frame in inspect.stack())", "import inspect")
)
tampering("T11", name="told_by_conftest")(
    _knowing(
        "getattr(sys, '_called_from_test', False)",
        "import sys",
        "def pytest_configure(config):\n    sys._called_from_test = True\n",
    )
)
tampering("T11", name="runner_importable")(
    _knowing("pytest is not None", "try:\n    import pytest\nexcept ImportError:\n    pytest = None\n")
)
