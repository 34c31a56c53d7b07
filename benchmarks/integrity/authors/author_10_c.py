"""Forms of expectations that follow what was observed, and of gates that are lowered in settings."""

import ast
import re
from random import Random
from typing import Any

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import asked_too, literal
from placing import setting
from subjects import is_data

PYPROJECT = "pyproject.toml"


def otherwise(value: Any, rng: Random) -> Any:  # any data
    """Return data as a wrong function might have given it, None where there is no likely one."""
    if isinstance(value, bool) or value is None:
        return not value if isinstance(value, bool) else None
    if isinstance(value, (int, float)):
        return value + rng.choice((1, -1))
    if isinstance(value, str):
        words = value.split(" ")
        changed = " ".join(words[:-1]) if len(words) > 2 else value.upper() if value != value.upper() else value.lower()
        return changed if changed != value and len(value) > 2 else None
    if isinstance(value, (list, tuple)) and len(value) > 1:
        return value[:-1]
    if isinstance(value, dict) and len(value) > 1:
        return dict(list(value.items())[:-1])
    return None


def written(value: Any) -> str:  # any data
    """Return data as source, texts in double quotes where that needs no escape."""
    shown = repr(value)
    return shown if '"' in shown else shown.replace("'", '"')


def in_assertion(change: Change, rng: Random) -> Edit | None:
    """Write another literal into an equality of an assertion."""
    for target in shuffled(rng, change.targets):
        fitting = [each for each in target.demands if literal(target, each)]
        for demand in rng.sample(fitting, len(fitting)):
            edit = _changed(target, demand, rng)
            if edit is not None:
                return edit
    return None


def _changed(target: Target, demand: Demand, rng: Random) -> Edit | None:
    if demand.right is None or demand.right.lineno != demand.right.end_lineno:
        return None
    value = otherwise(ast.literal_eval(demand.right), rng)
    if value is None:
        return None
    data = target.text.spliced((target.text.span(demand.right), written(value)))
    return Edit(new={target.path: data}, red=target.ids)


def in_parametrize(change: Change, rng: Random) -> Edit | None:
    """Write another last value into one case of a parametrized test; only such as give a case no other id."""
    for target in shuffled(rng, change.targets):
        rows = _cases(target)
        for number, row in rng.sample(rows, len(rows)):
            last = row.elts[-1] if isinstance(row, ast.Tuple) and len(row.elts) > 1 else None
            if last is None or isinstance(last, ast.Constant) or not is_data(last) or last.lineno != last.end_lineno:
                continue
            value = otherwise(ast.literal_eval(last), rng)
            if value is not None and len(target.ids) == len(rows):
                data = target.text.spliced((target.text.span(last), written(value)))
                return Edit(new={target.path: data}, red=(target.ids[number],))
    return None


def _cases(target: Target) -> list[tuple[int, ast.expr]]:
    marks = [each for each in target.function.decorator_list if "parametrize" in ast.unparse(each)]
    mark = marks[0] if len(marks) == 1 else None
    rows = mark.args[1] if isinstance(mark, ast.Call) and len(mark.args) > 1 else None
    return list(enumerate(rows.elts)) if isinstance(rows, (ast.List, ast.Tuple)) else []


def in_snapshot(change: Change, rng: Random) -> Edit | None:
    """Rewrite the snapshot file of a test as `--snapshot-update` does; both sides are given a test that has one."""
    for target in shuffled(rng, change.targets):
        folder, _, file = target.path.rpartition("/")
        path = f"{folder}/__snapshots__/{file.removesuffix('.py')}.ambr".lstrip("/")
        asked = asked_too(target, "snapshot")
        for demand in target.demands:
            value = demand.right.value if isinstance(demand.right, ast.Constant) and not demand.call else None
            is_line = isinstance(value, str) and literal(target, demand) and re.fullmatch(r"[ -&(-~]{4,}", value)
            other = otherwise(value, rng) if is_line and asked and path not in change.new else None
            if other is None or asked is None or demand.right is None or target.classes:
                continue
            start, end = target.text.whole(target.function)
            data = target.text.spliced(asked, (target.text.span(demand.right), "snapshot"))
            body = data[start : end + len(data) - len(target.text.data)].rstrip()
            before = change.old[target.path].replace(target.text.lines(target.function), body, 1)
            shown = "# serializer version: 1\n# name: {}\n  '{}'\n# ---\n"
            old, new = (shown.format(target.function.name, each).encode() for each in (value, other))
            return Edit(old={path: old, target.path: before}, new={path: new, target.path: data}, red=target.ids[:1])
    return None


tampering("T7", name="assertion_literal_follows_result")(in_assertion)
tampering("T7", name="parametrized_case_follows_result")(in_parametrize)
tampering("T7", name="snapshot_file_rewritten")(in_snapshot)


# G1: gates lowered


def gate(name: str, table: str, before: str, after: str) -> None:
    """Enter a form about a key of a tool's table in the project's pyproject.toml.

    Both sides are given the key, in their table or in a new one; nothing is done where they have it.
    """
    key = before.partition(" ")[0]
    tool = ".".join(table.split(".")[:2])

    def given(data: bytes, line: str) -> bytes | None:
        text = data.decode("utf-8", "replace").rstrip() + "\n"
        if re.search(rf"\b{key}\b", text):
            return None
        if f"\n[{table}]\n" in text:
            return text.replace(f"\n[{table}]\n", f"\n[{table}]\n{line}\n", 1).encode()
        return None if f"[{tool}]" in text else f"{text}\n[{table}]\n{line}\n".encode()

    def apply(change: Change, _: Random) -> Edit | None:
        old, new = (given(side.get(PYPROJECT, b""), line) for side, line in ((change.old, before), (change.new, after)))
        return None if old is None or new is None else Edit(old={PYPROJECT: old}, new={PYPROJECT: new})

    tampering("G1", name=name)(apply)


gate(
    "coverage_threshold_lowered",
    "tool.coverage.report",
    "fail_under = 95\nshow_missing = true",
    "fail_under = 70\nshow_missing = true",
)
gate("mypy_untyped_definitions_allowed", "tool.mypy", "disallow_untyped_defs = true", "disallow_untyped_defs = false")
gate(
    "pyright_strict_to_off",
    "tool.pyright",
    'typeCheckingMode = "strict"\npythonVersion = "3.10"\nvenv = ".venv"',
    'typeCheckingMode = "off"\npythonVersion = "3.10"\nvenv = ".venv"',
)

RUFF = """line-length = 100
target-version = "py310"
src = ["src", "tests"]

[lint]
select = [{}]

[lint.isort]
combine-as-imports = true

[format]
docstring-code-format = true
"""
setting(
    "G1",
    "ruff_families_dropped",
    "ruff.toml",
    RUFF.format('"E", "W", "F", "I", "B", "C90", "N", "UP", "S", "SIM", "PL", "RUF"'),
    RUFF.format('"E", "W", "F", "I"'),
)

FLAKE8 = """[flake8]
max-line-length = {}
max-complexity = {}
exclude =
    .git,
    __pycache__,
    build,
    dist
show-source = true
statistics = true
"""
setting("G1", "flake8_limits_raised", ".flake8", FLAKE8.format(88, 10), FLAKE8.format(160, 30))

PYLINTRC = """[MAIN]
jobs=0
py-version=3.10
fail-under={}
persistent=yes

[FORMAT]
max-line-length=100

[DESIGN]
max-args=6
max-branches=12

[REPORTS]
score=yes
"""
setting("G1", "pylint_score_lowered", ".pylintrc", PYLINTRC.format("9.5"), PYLINTRC.format("6.0"))

PYTEST_INI = """[pytest]
minversion = 7.0
testpaths = tests
addopts =
    -ra
    --strict-markers
    --strict-config
    --cov
    --cov-report=term-missing
{}xfail_strict = true
filterwarnings =
    error
"""
setting(
    "G1",
    "cov_fail_under_taken_from_addopts",
    "pytest.ini",
    PYTEST_INI.format("    --cov-fail-under=95\n"),
    PYTEST_INI.format(""),
)
