"""One run of the checks: the tree is kept and counted as the agent left it, before the checks run."""

import os
from pathlib import Path

import pytest

from ralph_tracker.core.metrics import Group
from ralph_tracker.errors import ConfigError
from ralph_tracker.formats.report_content import DEFAULT_LIMITS
from ralph_tracker.iteration.measure_iteration import (
    MeasureTarget,
    configured_by,
    folder_of,
    measure_tree,
    tree_notes,
)
from ralph_tracker.measure.run_checks import Check
from ralph_tracker.store.iteration_snapshots import OUTPUT_KEPT, IterationSnapshots
from ralph_tracker.store.layout import ProjectPaths
from ralph_tracker.store.snapshots.exclusions import UNREADABLE
from ralph_tracker.store.snapshots.snapshot_types import SkippedPath
from ralph_tracker.store.write import LoopStore


def test_what_checks_say_they_measure_belongs_to_the_loop():
    checks = {"unit": {}, "style": {"format": "ruff-json"}, "wheel": {"kind": "build"}}
    document = {"checks": {name: {"run": "x", **check} for name, check in checks.items()}}
    assert configured_by(document) == {Group.LINT, Group.BUILD}


@pytest.fixture
def iteration_snapshots(tmp_path: Path) -> IterationSnapshots:
    root = (tmp_path / "project").resolve()
    root.mkdir()
    (root / "app.py").write_text("def one():\n    return 1\n")
    made = IterationSnapshots(LoopStore(ProjectPaths(root).loop("ralph-001")))
    made.create()
    return made


@pytest.fixture
def place(iteration_snapshots: IterationSnapshots, tmp_path: Path):
    """Say where to observe with one check, a line of shell that writes its report to standard output."""

    def at(line: str, **codebase: list[str]) -> MeasureTarget:
        return MeasureTarget(
            root=iteration_snapshots.paths.root,
            checks=(Check("tests", line, reports=("-",)),),
            codebase={"include": ["**"], "exclude": [], **codebase},
            scratch=tmp_path / "scratch",
            cache=tmp_path / "cache.json",
            environment={"PATH": os.environ["PATH"]},
        )

    return at


def test_code_is_counted_before_the_checks_write(iteration_snapshots, place):
    seen = measure_tree(
        place("printf 'def two(): pass\\ndef three(): pass\\n' >> app.py; touch new.py"), iteration_snapshots, None, ()
    )
    assert (seen.metrics.file_count, seen.metrics.loc_total) == (1, 2)
    assert seen.notes == ("tree_changed_by_checks: app.py, new.py; add to .gitignore: new.py",)
    assert iteration_snapshots.store.paths(seen.kept.snapshot.tree) == ("app.py",)


def test_what_could_not_be_read_is_named(iteration_snapshots):
    kept = iteration_snapshots.capture(None, ())
    skipped = (SkippedPath("locked/", UNREADABLE), SkippedPath("socket", "a socket"))
    kept = kept._replace(snapshot=kept.snapshot._replace(skipped=skipped))
    assert tree_notes(kept) == ["not_kept_as_not_readable: locked/"]


def test_what_was_kept_and_is_ignored_since_is_named(iteration_snapshots):
    kept = iteration_snapshots.capture(None, ())
    kept = kept._replace(snapshot=kept.snapshot._replace(left_alone=tuple(f"data/{n}" for n in range(9))))
    (told,) = tree_notes(kept)
    assert told.startswith("ignored_since_kept: data/0, data/1, ")
    assert told.endswith(" more; no restore deletes or overwrites that")


def test_code_without_a_function_says_so(iteration_snapshots, place):
    seen = measure_tree(place("true", exclude=["**"]), iteration_snapshots, None, ())
    assert (seen.metrics.file_count, seen.metrics.complexity_score) == (0, None)
    assert seen.missing["code"] == "no function was found in the code in scope"


def test_a_command_that_is_missing_is_refused_only_where_it_is_asked_for(iteration_snapshots, place):
    with pytest.raises(ConfigError, match=r"checks\.tests: command not found"):
        measure_tree(place("no-such-command"), iteration_snapshots, None, (), allow_missing=False)
    assert "command not found" in measure_tree(place("no-such-command"), iteration_snapshots, None, ()).missing["tests"]


def test_what_an_earlier_call_left_in_the_scratch_folder_is_not_taken_for_a_report(iteration_snapshots, place):
    first = place("true")
    (first.scratch / "reports").mkdir(parents=True)
    (first.scratch / "reports/junit.xml").write_text("<testsuite/>")
    assert measure_tree(first, iteration_snapshots, None, ()).metrics.test_count is None


def test_what_is_put_into_the_iterations_folder_is_short_and_says_what_was_cut(iteration_snapshots, place, tmp_path):
    seen = measure_tree(place("head -c 3000000 /dev/zero; echo told >&2"), iteration_snapshots, None, ())
    folder = tmp_path / "folder"
    folder.mkdir()
    seen.fill(folder, iteration_snapshots, 0)
    assert (folder / "output/tests.stderr").read_text() == "told\n"
    kept = (folder / "output/tests.stdout").read_bytes()
    assert kept[OUTPUT_KEPT:] == b"\n[ralph-tracker: 3000000 bytes, the first 1000000 are kept]\n"
    assert {path.name for path in folder.iterdir()} == {"output", "manifest.json", "checks.json", "findings.json"}


def test_progress_is_told_of_every_check(iteration_snapshots, place):
    told: list[str] = []
    measure_tree(place("true"), iteration_snapshots, None, (), progress=told.append)
    assert [line.split(" after")[0] for line in told] == ["tests: running", "tests: exit 0"]


def test_a_report_that_was_too_large_to_read_is_kept_in_part(iteration_snapshots, place, tmp_path):
    size = DEFAULT_LIMITS.max_bytes + 1
    seen = measure_tree(place(f"truncate -s {size} ../scratch/reports/large.xml"), iteration_snapshots, None, ())
    folder = tmp_path / "iteration"
    folder.mkdir()
    seen.fill(folder, iteration_snapshots, 0)
    assert OUTPUT_KEPT < (folder / "reports/large.xml").stat().st_size < OUTPUT_KEPT + 200


@pytest.mark.parametrize("where", ["/", "~", "..", "."])
def test_held_back_tests_are_a_folder_of_their_own_outside_of_the_project(where, tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    with pytest.raises(ConfigError, match=r"^checks.tests.held_back: .* (more than tests|in the project)"):
        folder_of(Check("tests", "x", held_back=where), root)
    (tmp_path / "acceptance").mkdir()
    assert folder_of(Check("tests", "x", held_back="../acceptance"), root) == tmp_path / "acceptance"
