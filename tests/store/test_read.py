"""What is committed, read back by those who hold no lock."""

import json
import re

import pytest

from ralph_tracker.core.known_tests import KnownTests
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.errors import NewerSchemaError, RecordError
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.write import LoopStore, judge_again

NAMES = {"test_a": "passed", "test_b": "skipped"}


@pytest.fixture
def three(prepared, tmp_path):
    """Return a loop with two iterations; the second has no names."""

    def record(loop):
        loop.start(tests=NAMES)
        loop.turn(tests={**NAMES, "test_b": "passed"})
        loop.turn(lint_errors=4)

    return prepared("three", record, tmp_path / "project")


@pytest.fixture
def committed(three):
    return SealedRecords(three.paths)


class TestExists:
    def test_means_a_committed_baseline(self, driven):
        assert not SealedRecords(driven.paths).exists
        driven.start()
        assert SealedRecords(driven.paths).exists


class TestCosts:
    @pytest.mark.parametrize(
        ("usages", "unknown"),
        [
            ([], False),
            ([{"cost_usd": 0.5}, {"cost_usd": 0.0}], False),
            ([{"cost_usd": 0.5}, {"turns": 3}], True),
            ([None, {"cost_usd": 0.5}], True),
        ],
        ids=["only a baseline", "all known", "usage without a cost", "no usage"],
    )
    def test_are_unknown_where_one_of_an_iteration_is(self, driven, usages, unknown):
        driven.start()
        for usage in usages:
            driven.turn(usage=usage)
        assert SealedRecords(driven.paths).has_unknown_costs() is unknown


class TestState:
    def test_is_what_the_next_iteration_needs(self, committed):
        state = committed.state(committed.summary(), Thresholds())
        assert (state.iteration, state.lineage.head, state.rollbacks, state.cost_usd) == (2, 2, 0, None)
        assert state.known == KnownTests({"test_a": "passed", "test_b": "passed"}, {})
        assert (state.kept.iteration, state.kept.outcomes) == (2, None)

    def test_has_the_kept_iteration_with_outcomes_of_its_own_while_later_ones_are_worse(self, driven):
        driven.start(tests={"test_a": "passed", "test_b": "failed"})
        driven.turn(tests={"test_a": "passed", "test_b": "passed"})
        driven.turn(tests={"test_a": "failed", "test_b": "passed", "test_c": "passed"})
        store = LoopStore(driven.paths)
        state = store.state(store.summary(), Thresholds())
        assert (state.lineage.head, state.kept.iteration, state.best.iteration) == (2, 1, 1)
        assert state.kept.outcomes == {"test_a": "passed", "test_b": "passed"}
        assert state == judge_again(store, Thresholds()).state

    def test_has_the_line_of_the_target_after_a_rollback(self, three, committed):
        three.roll_back(0)
        state = committed.state(committed.summary(), Thresholds())
        assert (state.iteration, state.lineage.head) == (2, 0)
        assert state.known == KnownTests(NAMES, {})

    @pytest.mark.parametrize("key", ["basis", "line", "kept", "best", "rollbacks", "cost_usd", "accepted"])
    def test_is_refused_where_a_part_is_missing_and_the_iteration_named(self, three, committed, key):
        damage(three.paths.iteration(2) / "state.json", lambda plain: plain.pop(key))
        with pytest.raises(RecordError, match=r"^iteration 2: .*/iterations/iteration-002 is damaged; copy it back"):
            committed.state(committed.summary(), Thresholds())

    @pytest.mark.parametrize("components", [["unknown"], ["pass_rate"], 7], ids=str)
    def test_is_refused_where_the_components_are_none_of_the_loop(self, three, committed, components):
        damage(three.paths.iteration(2) / "state.json", lambda plain: plain["basis"].update(components=components))
        with pytest.raises(RecordError, match=r"^iteration 2: .*/iterations/iteration-002 is damaged; copy it back"):
            committed.state(committed.summary(), Thresholds())

    @pytest.mark.parametrize("value", [7, "x", [{}]], ids=["a number", "a text", "a list"])
    @pytest.mark.parametrize("key", ["basis", "line", "kept", "best"])
    def test_is_refused_where_a_part_is_of_another_kind(self, three, committed, key, value):
        damage(three.paths.iteration(2) / "state.json", lambda plain: plain.update({key: value}))
        with pytest.raises(RecordError, match=r"^iteration 2: .*/iterations/iteration-002 is damaged; copy it back"):
            committed.state(committed.summary(), Thresholds())


def damage(path, change) -> None:
    plain = json.loads(path.read_bytes())
    change(plain)
    path.write_text(json.dumps(plain))


class TestMeasurement:
    def test_is_what_was_handed_in_with_names_where_there_were_any(self, committed):
        (first, descends), (last, _) = committed.measurement(1), committed.measurement(2)
        assert (first.tests.outcomes, descends) == ({**NAMES, "test_b": "passed"}, 0)
        assert (last.tests, last.metrics.lint_errors) == (None, 4)

    @pytest.mark.parametrize("name", ["measurement.json", "tests.json"])
    @pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"measurement": 1, "measured": 1}'], ids=str)
    def test_is_none_where_either_file_is_damaged(self, three, committed, name, data):
        (three.paths.iteration(1) / name).write_bytes(data)
        assert committed.measurement(1) is None


class TestRows:
    def test_are_one_an_iteration(self, committed):
        rows, lost = committed.rows()
        assert ([row["iteration"] for row in rows], lost) == ([0, 1, 2], [])

    @pytest.mark.parametrize(
        "line",
        [
            "",
            "{",
            "7",
            '{"iteration":1}',
            '{"iteration":[]}',
            '{"iteration":1,"timestamp":"","metrics":{},"walked":{}}',
            '{"iteration":1,"timestamp":"","metrics":{"tests_pased":1},"walked":null}',
        ],
        ids=str,
    )
    def test_come_from_the_iteration_where_a_line_is_damaged(self, three, committed, line):
        before = committed.rows()
        lines = three.paths.trajectory.read_text().splitlines()
        three.paths.trajectory.write_text("\n".join([lines[0], line, lines[2], ""]))
        assert committed.rows() == before

    @pytest.mark.parametrize("walked", [{}, {"unknown": 1}, 7, None], ids=str)
    def test_of_another_shape_are_passed_over_in_what_is_shown(self, three, ask, walked):
        damage(three.paths.iteration(2) / "state.json", lambda plain: plain["row"].update(walked=walked))
        shown = ask(three.root, "show", "2")
        assert (shown.code, shown.out.partition(" (")[0]) == (0, "iteration 2")

    def test_are_lost_where_both_are_damaged(self, three, committed):
        three.paths.trajectory.unlink()
        (three.paths.iteration(1) / "state.json").unlink()
        rows, lost = committed.rows()
        assert ([row["iteration"] for row in rows], lost) == ([0, 2], [1])

    def test_are_as_amended_after_an_acceptance(self, three, committed):
        three.turn(test_count=5, tests_passed=5)
        before = committed.rows()[0][3]
        three.tracker.accept("it3-test_deletion", "merged")
        assert (before["walked"]["verified"], committed.rows()[0][3]["walked"]["verified"]) == (False, True)


class TestEvents:
    @pytest.mark.parametrize(
        "event",
        [
            7,
            {},
            {"event": ["accept"]},
            {"event": "unknown"},
            {"event": "status"},
            {"event": "rollback", "to": 1},
            {"event": "rollback", "to": "1", "after": 2},
            {"event": "accept", "id": "it1-stalled", "reason": "x"},
            {"event": "accept", "id": "it1-stalled", "reason": "x", "alert": {}},
            {"event": "accept", "id": "it1-stalled", "reason": "x", "alert": 7},
        ],
        ids=str,
    )
    def test_that_are_damaged_count_for_nothing(self, three, committed, event):
        three.paths.events.write_text(f"{json.dumps(event)}\n")
        assert committed.events() == []
        assert committed.start(Thresholds()).accepted == frozenset()

    def test_are_in_their_order(self, three, committed):
        three.roll_back(1)
        three.tracker.select_output()
        assert [event["event"] for event in committed.events()] == ["rollback", "selection", "status"]


class TestNewerSchema:
    @pytest.mark.parametrize("name", ["state.json", "iterations/iteration-002/state.json", "loop.yaml"])
    def test_is_refused_with_a_word_and_what_is_there_stays(self, three, name, documents):
        (three.paths.folder / name).write_bytes(b'{"schema_version": 2}\n')
        said = rf"{re.escape(name)}: written by a newer ralph-tracker \(schema 2, this one reads up to 1\); upgrade "
        before = documents(three.root)
        with pytest.raises(NewerSchemaError, match=said):
            three.turn()
        assert documents(three.root).items() >= before.items()

    def test_is_refused_by_listings_too(self, three, ask):
        (three.paths.iteration(1) / "seal.json").write_bytes(b'{"schema_version": 2}')
        history = ask(three.root, "history")
        assert (history.code, history.out) == (1, "")
        assert (
            "iteration-001/seal.json: written by a newer ralph-tracker (schema 2, this one reads up to 1); upgrade"
            in history.err
        )


class TestAlteredRecord:
    def test_is_one_that_is_sealed_and_differs_or_is_gone(self, three, committed):
        record, name = three.paths.record(2), "progress/iteration-002-metrics.yaml"
        assert committed.seals.altered_record(2) == ()
        record.write_text("by hand\n")
        assert committed.seals.altered_record(2) == (name,)
        record.unlink()
        assert committed.seals.altered_record(2) == (name,)
        damage(three.paths.iteration(2) / "seal.json", lambda plain: plain.pop("record"))
        assert committed.seals.altered_record(2) == ()


class TestBrokenSeals:
    def test_are_none_of_an_iteration_that_is_as_it_was_written(self, committed):
        assert [committed.seals.broken_files(number) for number in range(3)] == [(), (), ()]

    def test_name_the_files_that_differ_or_are_missing(self, three, committed):
        (three.paths.iteration(1) / "tests.json").write_bytes(b"{}")
        (three.paths.iteration(1) / "metrics.json").unlink()
        assert sorted(committed.seals.broken_files(1)) == ["metrics.json", "tests.json"]

    @pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"files": 7}'], ids=str)
    def test_are_the_seal_itself_where_that_is_damaged(self, three, committed, data):
        (three.paths.iteration(1) / "seal.json").write_bytes(data)
        assert committed.seals.broken_files(1) == ("seal.json",)
