"""Writing one loop: the order, the seals, and the sign of a writer that did not come to its end."""

import json
from functools import partial
from pathlib import Path

import pytest
import yaml

from ralph_tracker.errors import InputError, StoreError
from ralph_tracker.safe_files import digest
from ralph_tracker.store.write import LoopStore


@pytest.fixture
def loop(prepared, tmp_path):
    """Return a loop with one iteration."""
    return prepared("two", lambda loop: (loop.start(), loop.turn(lint_errors=1)), tmp_path / "project")


@pytest.fixture
def store(loop):
    return LoopStore(loop.paths)


class TestIterationFolder:
    def test_holds_the_record_what_was_measured_the_tests_and_the_state(self, store):
        names = sorted(path.name for path in store.paths.iteration(1).iterdir())
        assert names == ["measurement.json", "metrics.json", "seal.json", "state.json", "tests.json"]
        assert all(json.loads((store.paths.iteration(1) / name).read_bytes())["schema_version"] == 1 for name in names)

    def test_is_sealed_with_the_record_that_people_read_and_the_seal_before(self, store, unsealed):
        seal = json.loads((store.paths.iteration(1) / "seal.json").read_bytes())
        before = (store.paths.iteration(0) / "seal.json").read_bytes()
        assert seal["record"] == digest(store.paths.record(1).read_bytes())
        assert seal["previous_seal"] == digest(before)
        assert json.loads(before)["previous_seal"] is None
        assert unsealed(store.paths.folder) == []

    def test_has_the_same_record_as_the_yaml_that_people_read(self, store):
        copy = json.loads((store.paths.iteration(1) / "metrics.json").read_bytes())
        assert yaml.safe_load(store.paths.record(1).read_text()) | {} == yaml.safe_load(yaml.safe_dump(copy))

    def test_can_be_read_by_others(self, store):
        assert store.paths.iteration(1).stat().st_mode & 0o777 == 0o755

    @pytest.mark.parametrize("put", [Path.touch, partial(Path.symlink_to, target="nowhere")])
    def test_takes_its_place_from_what_was_put_there(self, store, loop, put):
        put(store.paths.iteration(2))
        loop.turn()
        assert store.summary().iteration == 2
        assert [path.name[:14] for path in (store.paths.store / "damaged").iterdir()] == ["iteration-002-"]

    def test_leaves_nothing_behind_where_its_place_cannot_be_had(self, store, loop):
        store.paths.iteration(2).touch()
        store.paths.store.mkdir(exist_ok=True)
        (store.paths.store / "damaged").touch()
        with pytest.raises(StoreError, match="this iteration was NOT recorded"):
            loop.turn()
        assert list(store.paths.staging.iterdir()) == []
        assert store.summary().iteration == 1

    def test_chains_on_over_a_seal_that_is_lost(self, store, loop):
        (store.paths.iteration(1) / "seal.json").unlink()
        loop.turn()
        assert json.loads((store.paths.iteration(2) / "seal.json").read_bytes())["previous_seal"] is None


class TestDerivedFiles:
    def test_of_an_iteration_before_the_latest_are_outdated(self, store, loop):
        before = {path: path.read_bytes() for path in (store.paths.state, store.paths.trajectory)}
        assert store.current_summary().iteration == 1
        loop.turn()
        for path, data in before.items():
            path.unlink()
            path.write_bytes(data)
        assert store.current_summary() is None

    def test_say_which_iteration_they_are_of(self, store):
        rows = [json.loads(line) for line in store.paths.trajectory.read_bytes().splitlines()]
        assert [row["iteration"] for row in rows] == [0, 1]
        assert json.loads(store.paths.state.read_bytes())["iteration"] == 1

    def test_name_the_best_in_the_shape_of_the_seed(self, store):
        best = yaml.safe_load(store.paths.best.read_text())["best_iteration_tracker"]
        assert best["current_best"] == "iteration_0"
        assert best["best_artifacts_path"] == ".aiwg/ralph/ralph-001/iterations/iteration-000/"

    def test_name_no_best_after_the_baseline(self, driven):
        driven.start()
        best = yaml.safe_load(driven.paths.best.read_text())["best_iteration_tracker"]
        assert (best["current_best"], best["best_quality_score"], best["best_artifacts_path"]) == (None, 0.0, None)


class TestWriting:
    def test_leaves_no_sign_where_it_ends_well(self, store):
        with store.write_lock("x") as unfinished:
            assert store.paths.staging.is_dir()
            assert not unfinished
        assert not store.paths.staging.exists()

    @pytest.mark.parametrize(
        ("error", "sign"),
        [(InputError("no"), False), (StoreError("full"), True), (KeyboardInterrupt(), True), (KeyError("bug"), True)],
        ids=["refused", "disk", "interrupted", "bug"],
    )
    def test_leaves_a_sign_where_something_may_be_half_written(self, store, error, sign):
        with pytest.raises(type(error)), store.write_lock("x"):
            raise error
        with store.write_lock("y") as unfinished:
            assert unfinished == sign

    def test_leaves_the_sign_of_another_where_it_refuses_before_it_has_mended(self, store):
        store.paths.staging.mkdir()
        with pytest.raises(InputError), store.write_lock("x"):
            raise InputError("no")
        with store.write_lock("y") as unfinished:
            assert unfinished

    def test_clears_what_a_killed_writer_left(self, store):
        store.paths.staging.mkdir()
        (store.paths.staging / ".tmp-1").touch()
        with store.write_lock("x"):
            assert list(store.paths.staging.iterdir()) == []


class TestStanding:
    def test_is_the_summary_where_all_is_of_the_latest_iteration(self, store):
        assert store.current_summary() == store.summary()

    @pytest.mark.parametrize("name", ["state", "trajectory"])
    @pytest.mark.parametrize("data", [None, b"", b"{", b"\xff\n"], ids=["gone", "empty", "truncated", "garbage"])
    def test_is_unknown_where_a_derived_file_is_damaged(self, store, name, data):
        path = getattr(store.paths, name)
        path.unlink() if data is None else path.write_bytes(data)
        assert store.current_summary() is None

    def test_is_unknown_where_the_iterations_are_ahead_or_behind(self, store):
        summary = store.summary()
        for iteration in (0, 2):
            store.write_summary(summary._replace(iteration=iteration))
            assert store.current_summary() is None

    def test_is_an_error_in_one_line_where_the_system_refuses(self, store):
        store.paths.trajectory.unlink()
        store.paths.trajectory.mkdir()
        with pytest.raises(StoreError, match="Is a directory; nothing was changed"):
            store.current_summary()


class TestStatus:
    def test_is_recorded_once(self, store):
        for _ in range(2):
            store.set_status(store.summary(), "finished", "2026-02-02T11:00:00Z")
        assert [event["status"] for event in store.events()] == ["finished"]
        assert store.summary().status == "finished"

    def test_of_a_damaged_loop_is_running_until_it_is_given_up(self, store):
        store.paths.state.unlink()
        (store.paths.iteration(1) / "state.json").unlink()
        assert store.status() == "running"
        store.give_up("abandoned", "2026-02-02T11:00:00Z")
        assert store.status() == "abandoned"


class TestRecordThatIsMissing:
    def test_is_written_again_from_the_copy(self, store):
        before = store.paths.record(1).read_bytes()
        store.paths.record(1).unlink()
        store.repair_record(1)
        assert store.paths.record(1).read_bytes() == before

    def test_stays_as_it_is_where_somebody_changed_it(self, store):
        store.paths.record(1).write_text("my notes")
        store.repair_record(1)
        assert store.paths.record(1).read_text() == "my notes"

    def test_stays_missing_where_the_copy_is_damaged(self, store):
        store.paths.record(1).unlink()
        (store.paths.iteration(1) / "metrics.json").write_bytes(b"{")
        store.repair_record(1)
        assert not store.paths.record(1).exists()
