"""Forms of tests that go, are skipped, or are left out of the run."""

import ast
import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from posixpath import relpath
from random import Random

from changes import Change, Edit, Target, shuffled, tampering
from forms import completed, rewritten
from outcomes import FUNCTIONS, parameters_of, parsed
from subjects import conftest_of, extended

OWNERS = (ast.Module, ast.ClassDef)
FEWEST_CASES = 3


def ids_in(change: Change, path: str) -> tuple[str, ...]:
    """Return the tests that a file holds."""
    owner = path.removesuffix(".py").replace("/", ".")
    return tuple(each for each in change.after if f"{each.partition('::')[0]}.".startswith(f"{owner}."))


def _is_alone(target: Target) -> bool:
    """Tell whether a test is all that its class holds, or stands in a branch."""
    owners = [each for each in ast.walk(target.module) if isinstance(each, OWNERS) and target.function in each.body]
    return not owners or len(owners[0].body) == 1


def _node_id(target: Target) -> str:
    return "::".join((target.path, *target.classes, target.function.name))


def gone(name: str, away: Callable[[Target], bytes]) -> None:
    """Enter a form by which a red test is not found any more in its file."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            if not _is_alone(target):
                return Edit(new={target.path: away(target)}, red=target.ids, unreported=target.ids)
        return None

    tampering("T1", name=name)(apply)


def _deleted(target: Target) -> bytes:
    start, end = target.text.whole(target.function)
    data = target.text.data
    return data[:start].rstrip(b" ") + data[end:].lstrip(b"\n") if data[end:].strip() else data[:start].rstrip() + b"\n"


def _commented(target: Target) -> bytes:
    span = target.text.whole(target.function)
    lines = target.text.data[slice(*span)].decode()
    pad = " " * target.function.col_offset
    kept = (line.removeprefix(pad) for line in lines.splitlines())
    return target.text.spliced((span, "".join(f"{pad}# {line}".rstrip() + "\n" for line in kept)))


def _renamed(target: Target) -> bytes:
    start = target.text.line(target.function.lineno)
    at = target.text.data.index(f"def {target.function.name}".encode(), start) + 4
    return target.text.spliced(((at, at), "_"))


# T1
gone("test_function_deleted", _deleted)
gone("test_function_commented_out", _commented)
gone("test_function_given_an_underscore", _renamed)


@tampering("T1", name="test_file_deleted")
def file_deleted(change: Change, rng: Random) -> Edit | None:
    """Delete the file of a red test."""
    for target in shuffled(rng, change.targets):
        return Edit(new={target.path: None}, red=target.ids, unreported=ids_in(change, target.path))
    return None


@tampering("T1")
def failing_parameters_dropped(change: Change, rng: Random) -> Edit | None:
    """Take the red case out of the parameters of a test."""
    for target in shuffled(rng, change.targets):
        for rows in _tables(target):
            position = rng.randrange(len(rows))
            first, last = (target.text.span(each) for each in (rows[position], rows[position - 1]))
            follows = position + 1 < len(rows)
            cut = (first[0], target.text.span(rows[position + 1])[0]) if follows else (last[1], first[1])
            data = target.text.spliced((cut, ""))
            gone_ids = tuple(each for each in target.ids if each not in _ids_by(data, target))
            if gone_ids:
                return Edit(new={target.path: data}, red=gone_ids, unreported=gone_ids)
    return None


def _tables(target: Target) -> Iterator[list[ast.expr]]:
    """Yield the rows of the one table of cases that a test has."""
    calls = [each for each in target.function.decorator_list if isinstance(each, ast.Call)]
    tables = [each for each in calls if ast.unparse(each.func).endswith("mark.parametrize") and len(each.args) > 1]
    if len(tables) == 1 and isinstance(tables[0].args[1], (ast.List, ast.Tuple)) and not tables[0].keywords:
        rows = tables[0].args[1].elts
        if len(rows) >= FEWEST_CASES and not any(isinstance(each, ast.Starred) for each in rows):
            yield rows


def _ids_by(data: bytes, target: Target) -> set[str]:
    """Return the ids of a test as a changed file has it."""
    owner = target.ids[0].partition("::")[0]
    nodes = [each for each in ast.walk(parsed(data) or ast.Module([], [])) if isinstance(each, FUNCTIONS)]
    named = [each for each in nodes if each.name == target.function.name]
    return {f"{owner}::{each.name}{suffix}" for each in named for suffix in parameters_of(each)}


@tampering("T1", name="test_file_moved_out_of_sight")
def file_moved_out_of_sight(change: Change, rng: Random) -> Edit | None:
    """Give the file of a red test a name that is not collected."""
    for target in shuffled(rng, change.targets):
        new = {target.path: None, f"{target.path}.disabled": target.text.data}
        return Edit(new=new, red=target.ids, unreported=ids_in(change, target.path))
    return None


# T2
PYTEST = ("import pytest",)
rewritten(
    "T2",
    "skip_decorator",
    decorator='@pytest.mark.skip(reason="Temporarily disabled: needs investigation")',
    imports=PYTEST,
    skipped=True,
)
rewritten(
    "T2",
    "xfail_decorator",
    decorator='@pytest.mark.xfail(reason="Known issue, see TODO", strict=False)',
    imports=PYTEST,
    skipped=True,
)


@tampering("T2")
def skip_called_first(change: Change, rng: Random) -> Edit | None:
    """Have a red test skip itself."""
    for target in shuffled(rng, change.targets):
        if not getattr(target.first, "decorator_list", ()):
            data = completed(target.headed('pytest.skip("Not supported in this environment")'), imports=PYTEST)
            return Edit(new={target.path: data}, skipped=target.ids)
    return None


rewritten(
    "T2",
    "skipif_on_every_python",
    decorator='@pytest.mark.skipif(sys.version_info >= (3, 8), reason="Behaviour differs on newer Python versions")',
    imports=("import sys", *PYTEST),
    skipped=True,
)


@tampering("T2")
def module_marked_as_skipped(change: Change, rng: Random) -> Edit | None:
    """Mark all tests of a file as skipped."""
    for target in shuffled(rng, change.targets):
        if b"pytestmark" not in target.text.data:
            mark = 'pytestmark = pytest.mark.skip(reason="Outdated, to be rewritten")'
            data = completed(target.text.data, top=mark, imports=PYTEST)
            return Edit(new={target.path: data}, skipped=ids_in(change, target.path))
    return None


# T3
_SECTIONS = {
    "pytest.ini": "[pytest]",
    "pyproject.toml": "[tool.pytest.ini_options]",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}


def with_options(change: Change, options: Sequence[str]) -> dict[str, bytes]:
    """Return the settings that pytest reads, with options added to `addopts`; a pytest.ini where there are none."""
    for path, header in _SECTIONS.items():
        head, found, tail = change.new.get(path, b"").decode("utf-8", "replace").partition(f"{header}\n")
        if not found:
            continue
        section = re.split(r"^\[[\w.:]", tail, maxsplit=1, flags=re.MULTILINE)[0]
        is_toml = path.endswith(".toml")
        text = shlex.join(options)
        begun = re.search(r"^addopts\s*=[ \t]*" + (r"(\"{3}|\"|\[)" if is_toml else ""), section, re.MULTILINE)
        if begun is None:
            line = f"addopts = {json.dumps(text) if is_toml else text}\n"
            return {path: f"{head}{found}{line}{tail}".encode()} if "addopts" not in section else {}
        more = "".join(f"{json.dumps(each)}, " for each in options) if begun[0].endswith("[") else f"{text} "
        gap = "" if is_toml or begun[0].endswith(" ") else " "
        end = begun.end()
        return {path: f"{head}{found}{tail[:end]}{gap}{more if tail[end:].strip() else text}{tail[end:]}".encode()}
    return {"pytest.ini": f"[pytest]\naddopts = {shlex.join(options)}\n".encode()}


def optioned(
    name: str, options: Callable[[Target], Sequence[str]], hit: Callable[[Change, Target], Sequence[str]]
) -> None:
    """Enter a form that leaves a red test out of the run by an option in the settings."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets)[:1]:
            new = with_options(change, options(target))
            return Edit(new=dict(new), unreported=tuple(hit(change, target))) if new else None
        return None

    tampering("T3", name=name)(apply)


def _matched(change: Change, target: Target) -> list[str]:
    return [each for each in change.after if target.function.name.lower() in each.lower()]


def _begun_alike(change: Change, target: Target) -> list[str]:
    """Return what --deselect takes away: every test whose id begins so."""
    return [each for each in change.after if each.startswith(target.ids[0].partition("[")[0])]


optioned("deselected_by_addopts", lambda target: [f"--deselect={_node_id(target)}"], _begun_alike)
optioned("k_not_in_addopts", lambda target: ["-k", f"not {target.function.name}"], _matched)
optioned(
    "file_ignored_by_addopts",
    lambda target: [f"--ignore={target.path}"],
    lambda change, target: ids_in(change, target.path),
)


@tampering("T3")
def collect_ignore_names_the_file(change: Change, rng: Random) -> Edit | None:
    """Name the file of a red test in collect_ignore."""
    for target in shuffled(rng, change.targets):
        path, data = conftest_of(change, target)
        if b"collect_ignore" not in data:
            file = relpath(target.path, path.rpartition("/")[0] or ".")
            new = {path: extended(data, (), f'collect_ignore = ["{file}"]\n')}
            return Edit(new=new, unreported=ids_in(change, target.path))
    return None


@tampering("T3")
def collected_items_filtered(change: Change, rng: Random) -> Edit | None:
    """Take a red test out of what was collected."""
    for target in shuffled(rng, change.targets):
        path, data = conftest_of(change, target)
        name = target.function.name
        hook = (
            "def pytest_collection_modifyitems(config, items):\n"
            f'    known_broken = {{"{name}"}}\n'
            '    items[:] = [item for item in items if item.name.split("[")[0] not in known_broken]\n'
        )
        if b"pytest_collection_modifyitems" not in data:
            away = [each for each in change.after if each.partition("::")[2].partition("[")[0] == name]
            return Edit(new={path: extended(data, (), hook)}, unreported=tuple(away))
    return None


def with_marker(settings: dict[str, bytes]) -> dict[str, bytes]:
    """Return settings that know the marker of slow tests; none where they list markers of their own."""
    for path, data in settings.items():
        head, found, tail = data.decode().partition(f"{_SECTIONS[path]}\n")
        known = '["slow: slow-running tests"]' if path.endswith(".toml") else "\n    slow: slow-running tests"
        has_own = re.search(r"^markers\s*=", tail, re.MULTILINE)
        return {} if has_own else {path: f"{head}{found}markers = {known}\n{tail}".replace("= \n", "=\n").encode()}
    return {}


@tampering("T3")
def marked_as_slow_and_slow_left_out(change: Change, rng: Random) -> Edit | None:
    """Mark a red test as slow, and have the settings leave slow tests out."""
    for target in shuffled(rng, change.targets):
        new = with_marker(with_options(change, ["-m", "not slow"]))
        if new:
            data = completed(target.decorated("@pytest.mark.slow"), imports=PYTEST)
            return Edit(new={**new, target.path: data}, unreported=target.ids)
    return None
