"""The files of a loop's iterations, kept beside records that a test writes by hand."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.safe_files import digest
from ralph_tracker.store.iteration_snapshots import IterationSnapshots, VisitCount
from ralph_tracker.store.json_documents import to_json
from ralph_tracker.store.layout import ProjectPaths
from ralph_tracker.store.write import LoopStore


class Bench:
    """A tree, and kept iterations that have folders and seals but no measurements."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = LoopStore(ProjectPaths(root).loop("ralph-001"))
        self.iteration_snapshots = IterationSnapshots(self.store)
        self.iteration_snapshots.create()
        self.store.paths.staging.mkdir(parents=True)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def capture(self, previous: int | None = None, segments=()):
        return self.iteration_snapshots.capture(previous, segments)

    def record(self, number: int, previous: int | None = None, segments=(), *, name: bool = True):
        kept = self.iteration_snapshots.after_checks(self.capture(previous, segments))
        folder = self.store.paths.iteration(number)
        folder.mkdir(parents=True)
        self.iteration_snapshots.fill(folder, kept, number)
        files = {p.relative_to(folder).as_posix(): digest(p.read_bytes()) for p in folder.rglob("*") if p.is_file()}
        (folder / "seal.json").write_bytes(to_json({"files": files, "previous_seal": None}))
        if name:
            self.iteration_snapshots.name(number, kept)
        return kept

    def manifest(self, number: int):
        return json.loads((self.store.paths.iteration(number) / "manifest.json").read_bytes())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "a.txt").write_text("one\n")
    return Bench(tmp_path.resolve())


def test_the_baseline_has_no_artifacts_and_changes_nothing(bench):
    kept = bench.record(0)
    assert (kept.changed, kept.since_baseline, kept.visits) == ((), (), VisitCount(0, None))
    assert bench.manifest(0)["since_baseline"] == []
    assert not (bench.store.paths.iteration(0) / "artifacts").exists()


def test_only_the_baseline_tells_what_the_store_does_not_see(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".git/index").write_text("damaged")
    bench = Bench(tmp_path.resolve())
    assert (bench.record(0).note or "").startswith("store: the git repository could not be read")
    assert bench.record(1, 0, [(0, 0)]).note is None


def test_artifacts_are_what_changed_and_the_manifest_what_differs_from_the_baseline(bench):
    bench.record(0)
    bench.write("b/new.txt", "new\n")
    bench.record(1, 0, [(0, 0)])
    (bench.root / "a.txt").unlink()
    bench.record(2, 1, [(0, 1)])
    assert not (bench.store.paths.iteration(2) / "artifacts").exists()
    manifest = bench.manifest(2)
    assert [(each["path"], each["status"]) for each in manifest["since_previous"]] == [("a.txt", "D")]
    assert [(each["path"], each["status"]) for each in manifest["since_baseline"]] == [
        ("a.txt", "D"),
        ("b/new.txt", "A"),
    ]
    assert (bench.store.paths.iteration(1) / "artifacts/b/new.txt").read_text() == "new\n"
    assert (bench.store.paths.iteration(1) / "artifacts").stat().st_mode & 0o777 == 0o700


def test_what_the_checks_changed_stands_beside_what_is_kept(bench):
    kept = bench.capture()
    bench.write("report.txt", "written by a check\n")
    seen = bench.iteration_snapshots.after_checks(kept)
    assert seen.changed_by_checks == ("report.txt",)
    assert seen.snapshot == kept.snapshot
    assert seen.after_checks != kept.snapshot.tree


def test_the_tree_stands_where_it_was_found_and_where_its_checks_left_it(bench):
    tree = bench.record(0).snapshot.tree
    assert bench.iteration_snapshots.tree_equals(0, tree)
    bench.write("a.txt", "two\n")
    assert not bench.iteration_snapshots.tree_equals(0, tree)


@pytest.mark.parametrize(
    ("contents", "segments", "expected"),
    [
        pytest.param("a", [(0, 0)], VisitCount(1, 0), id="still there"),
        pytest.param("aaa", [(0, 2)], VisitCount(1, 2), id="three in a row are one visit"),
        pytest.param("aba", [(0, 2)], VisitCount(2, 2), id="came back"),
        pytest.param("abab", [(0, 3)], VisitCount(2, 2), id="and left again"),
        pytest.param("aba", [(0, 1)], VisitCount(1, 0), id="what is off the line does not count"),
        pytest.param("abaa", [(0, 0), (3, 3)], VisitCount(1, 3), id="went on after a rollback: one visit"),
        pytest.param("abaab", [(0, 0), (3, 4)], VisitCount(1, 3), id="went on after a rollback, and left"),
        pytest.param("abca", [(0, 1), (3, 3)], VisitCount(2, 3), id="came back after a rollback"),
        pytest.param("bc", [(0, 1)], VisitCount(0, None), id="never"),
    ],
)
def test_visits_are_counted_on_the_line(bench, contents, segments, expected):
    for number, content in enumerate(contents):
        bench.write("a.txt", content)
        bench.record(number)
    bench.write("a.txt", "a")
    assert bench.capture(0, segments).visits == expected


def test_a_snapshot_that_a_killed_call_did_not_name_is_named_by_the_repair(bench):
    kept = bench.record(0, name=False)
    with pytest.raises(StoreError, match="its snapshot is missing"):
        bench.iteration_snapshots.tree(0)
    bench.iteration_snapshots.repair(0)
    bench.iteration_snapshots.repair(0)
    assert bench.iteration_snapshots.tree(0) == kept.snapshot.tree
    assert bench.iteration_snapshots.damage(0) == ()


@pytest.mark.parametrize(("number", "packed"), [(24, False), (25, True), (26, False), (50, True)])
def test_what_is_kept_is_packed_after_every_so_many_iterations(bench, number, packed):
    bench.record(0)
    bench.iteration_snapshots.pack_store(number)
    objects = bench.store.paths.folder / "store/objects"
    assert (not list(objects.glob("??/*"))) == packed
    assert bench.iteration_snapshots.damage(0) == ()


def test_a_store_that_cannot_be_packed_fails_nothing(bench):
    bench.record(0)
    (bench.store.paths.store / "objects/pack").write_text("in the way")
    bench.iteration_snapshots.pack_store(25)
    assert bench.iteration_snapshots.damage(0) == ()


def test_a_damaged_manifest_is_not_repaired_from(bench):
    bench.record(0, name=False)
    (bench.store.paths.iteration(0) / "manifest.json").write_text("{}")
    bench.iteration_snapshots.repair(0)
    assert bench.iteration_snapshots.damage(0) == ("manifest.json", "the snapshot in store")


def test_a_store_without_a_baseline_is_made_anew_and_one_with_a_baseline_stays(bench):
    bench.capture()
    old = bench.store.paths.folder / "store/index"
    assert old.exists()
    bench.iteration_snapshots.create()
    assert not old.exists()
    tree = bench.record(0).snapshot.tree
    bench.iteration_snapshots.create()
    assert bench.iteration_snapshots.tree(0) == tree


@pytest.mark.parametrize(("previous", "named"), [(None, 0), (0, 0), (7, 7)])
def test_nothing_is_captured_once_the_store_is_gone_and_the_iteration_before_is_named(bench, previous, named):
    shutil.rmtree(bench.store.paths.store)
    with pytest.raises(NoSnapshotError, match=rf"\biteration {named}\b"):
        bench.capture(previous)


def test_an_iteration_that_is_not_what_was_sealed_is_refused_in_one_line(bench):
    bench.record(0)
    (bench.store.paths.iteration(0) / "manifest.json").write_text("[]")
    with pytest.raises(StoreError, match=r"iteration 0: its stored files are damaged \(manifest\.json\)") as refused:
        bench.iteration_snapshots.restore(0)
    assert "nothing was changed" in str(refused.value)
