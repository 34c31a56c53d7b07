"""What is on record of a project that is not ours is what its tools print when run by hand."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

_TO_A_TENTH = 0.051  # the record has one digit after the point


@dataclass(frozen=True)
class Row:
    """A project: what it shows, what its tests need beside the tools, what its own mypy is told to look at.

    `addopts` leaves out what comes out by chance, in our run as by hand. `differs` names a number that is not the
    tool's own, with the rule that makes it so; `tests` keeps the row from being about nothing.
    """

    release: str
    shows: str
    tests: int
    needs: tuple[str, ...] = ()
    plugin: bool = False
    types: tuple[str, ...] | None = None
    addopts: str = ""
    differs: Mapping[str, str] = field(default_factory=dict)


ROWS = (
    Row("markupsafe==3.0.2", "src layout, C extension, ruff set to fix", 70, types=()),
    Row("boltons==25.0.0", "flat, pytest.ini", 400, needs=("pytest==8.4.2",)),
    Row("cachetools==5.5.2", "unittest-style under pytest", 200),
    Row(
        "jaraco.functools==4.1.0",
        "namespace package, doctests",
        10,
        types=(".",),
        needs=("jaraco.classes",),
        addopts="--deselect=test_functools.py::TestThrottler",
    ),
    Row("itsdangerous==2.2.0", "pyproject.toml only", 200, types=(), needs=("freezegun",)),
    Row("toolz==0.11.2", "setup.cfg, tests in the package, failing tests", 100),
    Row("wcwidth==0.2.13", "tox.ini, pytest-cov in addopts", 30, plugin=True, needs=("pytest-cov==7.1.0",)),
    Row("click==8.2.1", "uv.lock", 500, types=(), addopts="--deselect=tests/test_utils.py::test_echo_via_pager"),
    Row(
        "natsort==8.4.0",
        "type errors, setup.cfg, no locale",
        100,
        types=(".",),
        needs=("hypothesis", "pytest-mock"),
        addopts="--hypothesis-seed=0",
    ),
    Row("humanize==4.12.3", "src layout, doctests, coloured", 500, types=(".",), needs=("freezegun",)),
    Row("parse==1.20.2", "one module", 90),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.release)
def test_numbers_on_record_are_those_that_the_tools_print(row, developed, told, recorded, tmp_path):
    project = developed(row.release, *row.needs, addopts=row.addopts)
    project.ours("init", "--yes")
    ours = recorded(json.loads(project.ours("hook", "pre-loop", "--json")))
    theirs = project.measured_by_hand(tmp_path, plugin=row.plugin, types=row.types)
    total = theirs.pop("with branches")
    unequal = {name: f"{name}: {theirs[name]} by hand" for name in ours if not same(ours[name], theirs[name])}
    reasons = [f"{what}, {row.differs.get(name, 'WHY?')}" for name, what in unequal.items()]
    branches = [] if same(ours["coverage"], total) else [f"coverage is of lines: with branches {total} %"]
    told(row.release, row.shows, ours, "; ".join([*(reasons or ["yes"]), *branches]))
    assert unequal.keys() == row.differs.keys(), "; ".join(reasons)
    assert (ours["tests"] or 0) >= row.tests


def same(ours, theirs):
    if ours is None or theirs is None:
        return ours is theirs
    return abs(ours - theirs) <= _TO_A_TENTH
