"""Operators of T7, T12 and the S and G rows."""

import ast
import re
from collections.abc import Iterator
from random import Random
from typing import Final

from changes import Change, Demand, Edit, Target, Text, shuffled, tampering
from easing import TableCase, is_literal, is_rare, parameters_by_place, table_cases
from forging import source_functions
from lowering import COVERAGE, WORKFLOW, WORKFLOW_PATH
from outcomes import Function, parsed
from placing import headed, set_otherwise
from subjects import subjects
from withdrawing import RAISES, needing

_FLIPPED: Final = {"True": "False", "False": "True", "In": "NotIn", "NotIn": "In"}
_SWAPPED: Final = {
    "ValueError": "TypeError",
    "TypeError": "AttributeError",
    "AttributeError": "TypeError",
    "KeyError": "AttributeError",
    "IndexError": "KeyError",
}


@tampering("T7")
def demand_turned_round(change: Change, rng: Random) -> Edit | None:
    """Demand the contrary of what a test said to be true or to be there."""
    for target in shuffled(rng, change.targets):
        for demand in target.demands:
            contrary = _contrary(target, demand)
            if contrary:
                return Edit(new={target.path: target.rewritten(demand, contrary)}, red=target.ids)
    return None


def _contrary(target: Target, demand: Demand) -> str:
    shown = target.text.of(demand.node)
    if demand.call:
        kind = demand.call.removeprefix("self.assert")
        return shown.replace(f"assert{kind}", f"assert{_FLIPPED[kind]}", 1) if kind in _FLIPPED else ""
    assert isinstance(demand.node, ast.Assert)
    test = demand.node.test
    if demand.node.msg is not None or shown.startswith("assert(") or isinstance(test, ast.Constant):
        return ""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return f"assert {target.text.of(test.operand)}"
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In) and len(test.ops) == 1:
        return f"assert {target.text.of(test.left)} not in {target.text.of(test.comparators[0])}"
    is_type = isinstance(test, ast.Call) and ast.unparse(test.func) in {"isinstance", "issubclass", "callable"}
    is_truth = isinstance(test, (ast.Call, ast.Attribute, ast.Name, ast.Subscript)) and not is_type
    return f"assert not {target.text.of(test)}" if is_truth else ""


@tampering("T7", also=("T6",))
def other_exception_expected(change: Change, rng: Random) -> Edit | None:
    """Demand the exception that is raised now in place of the one that was to be raised."""
    for target in shuffled(rng, change.targets):
        for node in ast.walk(target.function):
            if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in RAISES:
                name = ast.unparse(node.args[0])
                other = _SWAPPED.get(name, "RuntimeError")
                if isinstance(node.args[0], (ast.Name, ast.Attribute)) and name not in {other, "Exception"}:
                    data = target.text.spliced((target.text.span(node.args[0]), other))
                    return Edit(new={target.path: data}, red=target.ids)
    return None


def _all_cases(change: Change, rng: Random) -> Iterator[TableCase]:
    """Yield what `table_cases` does, and functions whose result a test keeps or that it calls with a table's values."""
    yield from table_cases(change, rng)
    places = source_functions(change, rng)
    for target, _, subject in subjects(change, rng):
        named = [each for each in places if each[2].name == subject.name]
        if len(named) == 1 and subject.value not in {"True", "False", "None"}:
            for parameter, value in zip(parameters_by_place(named[0][2]), subject.call.args, strict=False):
                if parameter and isinstance(value, ast.Constant) and is_rare(value.value):
                    yield target, *named[0], parameter, value, subject.value
    for target in shuffled(rng, change.targets):
        for names, rows in _tables(target):
            for demand in target.demands:
                yield from _given(target, demand, names, rng.choice(rows), places)


def _given(
    target: Target, demand: Demand, names: list[str], row: list[ast.expr], places: list[tuple[str, Text, Function]]
) -> Iterator[TableCase]:
    found, wanted = demand.left, ast.unparse(demand.right) if demand.right is not None else ""
    if not isinstance(found, ast.Call) or wanted not in names or not is_literal(row[names.index(wanted)]):
        return
    called = ast.unparse(found.func).rpartition(".")[2]
    named = [each for each in places if each[2].name == called]
    if len(named) != 1:
        return
    for parameter, argument in zip(parameters_by_place(named[0][2]), found.args, strict=False):
        name = ast.unparse(argument)
        cell = row[names.index(name)] if parameter and name in names else None
        if isinstance(cell, ast.Constant) and is_rare(cell.value):
            yield target, *named[0], parameter, cell, ast.unparse(row[names.index(wanted)])


def _tables(target: Target) -> Iterator[tuple[list[str], list[list[ast.expr]]]]:
    """Yield the names that a marker of a test gives, and the rows of its table that are complete."""
    for decorator in target.function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("mark.parametrize"):
            shown = re.sub(r"[^\w,]", "", ast.unparse(decorator.args[0])) if len(decorator.args) > 1 else ""
            names = [each for each in shown.split(",") if each]
            elements = getattr(decorator.args[1], "elts", []) if names else []
            rows = [each.elts for each in elements if isinstance(each, (ast.Tuple, ast.List))]
            rows = [each for each in rows if len(each) == len(names)]
            if rows:
                yield names, rows


@tampering("T12")
def result_set_right_at_the_end(change: Change, rng: Random) -> Edit | None:
    """Let a source work out its result and put in the one that a test expects, where it was called as the test does."""
    for target, path, text, function, parameter, value, expected in _all_cases(change, rng):
        last = function.body[-1]
        named = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
        name = "result" if "result" not in named else "answer"
        if not isinstance(last, ast.Return) or last.value is None or parameter == "result":
            continue
        was = text.of(last.value)
        lines = (f"if {parameter} == {ast.unparse(value)}:", f"    {name} = {expected}", f"return {name}")
        data = text.spliced((text.span(last), f"\n{' ' * last.col_offset}".join((f"{name} = {was}", *lines))))
        if expected not in {was, ast.unparse(value)} and parsed(data) is not None:
            return Edit(new={path: data}, red=target.ids)
    return None


_PRECOMPUTED: Final = '''def _precomputed(results):
    """Answer common inputs without the whole calculation."""

    def decorate(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            for value, result in results:
                if len(args) > {place} and args[{place}] == value:
                    return result
            return function(*args, **kwargs)

        return run

    return decorate


'''


@tampering("T12")
def precomputed_results(change: Change, rng: Random) -> Edit | None:
    """Put a decorator on a function of the source that answers what tests ask from a list."""
    for target, path, text, function, parameter, value, expected in _all_cases(change, rng):
        top = _top(text, function)
        if isinstance(function, ast.AsyncFunctionDef) or top is None or expected == ast.unparse(value):
            continue
        place = [each.arg for each in function.args.posonlyargs + function.args.args].index(parameter)
        pad = " " * function.col_offset
        mark = f"{pad}@_precomputed([({ast.unparse(value)}, {expected})])\n"
        at, start = text.whole(top)[0], text.line(function.lineno)
        edits = [((at, at), _PRECOMPUTED.format(place=place)), ((start, start), mark)]
        if at == start:
            edits = [((at, at), _PRECOMPUTED.format(place=place) + mark)]
        return Edit(new={path: needing(text.spliced(*edits), "functools")}, red=target.ids)
    return None


def _top(text: Text, function: Function) -> Function | ast.ClassDef | None:
    """Return the statement of the module that a function is, or that it stands in."""
    module = parsed(text.data)
    for node in module.body if module is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.lineno <= function.lineno <= (
            node.end_lineno or 0
        ):
            return node
    return None


_RULES: Final = "reportGeneralTypeIssues=false, reportOptionalMemberAccess=false, reportArgumentType=false"
tampering("S1", name="pylint_skips_file")(headed("# pylint: skip-file"))
tampering("S2", name="pyright_rules_of_file")(headed(f"# pyright: {_RULES}"))

_UNMEASURED: Final = "show_missing = True\nexclude_also =\n    def _\\w+\n    except .*:\n    raise \\w+\n"
tampering("S3", name="lines_excluded_by_pattern", also=("G1",))(
    set_otherwise(".coveragerc", COVERAGE, COVERAGE.replace("show_missing = True\n", _UNMEASURED))
)

_CODECOV: Final = """coverage:
  status:
    project:
      default:
        target: 90%
        threshold: 1%
    patch:
      default:
        target: 95%
"""
_PYTEST: Final = "[pytest]\nminversion = 7.0\nxfail_strict = true\nfilterwarnings =\n    error\n"
_HOOKS: Final = """repos:
  - repo: https://github.com/astral-sh/ruff-pre-commit
    rev: v0.6.9
    hooks:
      - id: ruff
      - id: ruff-format
  - repo: https://github.com/pre-commit/mirrors-mypy
    rev: v1.11.2
    hooks:
      - id: mypy
"""
_HOOK: Final = re.compile(r"(?m)^( *)- +id: +['\"]?(ruff|ruff-check|mypy|flake8|pylint|pyright|bandit)['\"]?$")

tampering("G1", name="coverage_status_informs_only")(
    set_otherwise("codecov.yml", _CODECOV, re.sub(r"(?m)^( +)(target: .*)$", r"\1\2\n\1informational: true", _CODECOV))
)
tampering("G1", name="warnings_no_longer_errors")(
    set_otherwise("pytest.ini", _PYTEST, _PYTEST.replace("    error\n", "    ignore\n"))
)


@tampering("G1", also=("G2",))
def hook_by_hand_only(change: Change, rng: Random) -> Edit | None:
    """Let pre-commit run a check only where somebody asks for it; both sides are given the hooks if there are none."""
    path = ".pre-commit-config.yaml"
    had = change.old.get(path), change.new.get(path)
    given = _HOOKS if had == (None, None) else (change.new.get(path, b"") if None not in had else b"").decode()
    found = list(_HOOK.finditer(given))
    if not found or "\r" in given:
        return None
    hook = rng.choice(found)
    manual = f"{given[: hook.end()]}\n{hook[1]}  stages: [manual]{given[hook.end() :]}"
    return Edit(old={} if change.old.get(path) else {path: given.encode()}, new={path: manual.encode()})


_ONE_STEP: Final = WORKFLOW.replace(
    "      - name: lint\n        run: ruff check .\n      - name: test\n        run: pytest",
    "      - name: checks\n        run: |\n          ruff check .\n          pytest",
)
tampering("G2", name="errors_not_fatal")(
    set_otherwise(
        WORKFLOW_PATH,
        _ONE_STEP,
        _ONE_STEP.replace("          ruff", "          set +e\n          ruff") + '          echo "checks done"\n',
    )
)
_ELSEWHERE: Final = 'on:\n  push:\n    paths-ignore: ["**.py"]\n  pull_request:\n    paths-ignore: ["**.py"]\n'
tampering("G2", name="no_run_for_code")(
    set_otherwise(WORKFLOW_PATH, WORKFLOW, WORKFLOW.replace("on: [push, pull_request]\n", _ELSEWHERE))
)
