"""Judging a loop again from what was measured gives what was stored, whatever happened in it."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralph_tracker.codec import decode
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.core.walk import WalkedIteration
from ralph_tracker.errors import RecordError
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.summary import Summary
from ralph_tracker.store.write import LoopStore, judge_again
from tests.sweep import FULL

TESTS = ("test_a", "test_b", "test_c", "test_\ud800")
OUTCOMES = ("passed", "failed", "skipped")
TURNS = st.fixed_dictionaries(
    {},
    optional={
        "tests": st.dictionaries(st.sampled_from(TESTS), st.sampled_from(OUTCOMES)),
        "coverage_percentage": st.sampled_from([None, 60.0, 80.0, 82.5]),
        "lint_errors": st.sampled_from([None, 0, 3]),
        "error_count": st.sampled_from([None, 0, 9]),
        "loc_total": st.sampled_from([None, 50, 400]),
        "build_status": st.sampled_from([None, "success", "failure"]),
        "usage": st.fixed_dictionaries({}, optional={"cost_usd": st.just(0.5), "turns": st.just(3)}),
        "blocked": st.just("no password\ud800"),
        "roll_back": st.integers(0, 9),
    },
)
LAW = settings(
    max_examples=200 if FULL else 20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def lived(drive):
    """Return a function that records a loop in a folder: its baseline, then turn after turn, some after a rollback."""

    def record(root: Path, baseline: dict[str, Any], turns: list[dict[str, Any]], *, given_score: bool) -> Any:
        loop = drive(root.resolve())
        score = {"quality_score": 0.5} if given_score else {}
        loop.start(**{name: value for name, value in baseline.items() if name in {"tests", "lint_errors"}}, **score)
        for number, turn in enumerate(turns):
            changes = dict(turn)
            target = changes.pop("roll_back", None)
            if target is not None:
                loop.roll_back(target % (number + 1))
            loop.turn(**changes, **score)
        return loop

    return record


def opened(loop: Any) -> ConfiguredLoop:
    return ConfiguredLoop.read(LoopStore(loop.paths), lambda _: frozenset())


def accept_one(loop: Any, which: int) -> Summary | None:
    """Accept one of the alerts that the loop raised, and return where it stands; None where it raised none."""
    raised = [alert.id for judgement in opened(loop).judge_again() for alert in judgement.record.alerts]
    return loop.tracker.accept(raised[which % len(raised)], "why") if raised else None


@pytest.mark.faults
class TestLaw:
    @LAW
    @given(baseline=TURNS, turns=st.lists(TURNS, max_size=5), given_score=st.booleans())
    def test_the_same_records_states_and_summary_come_again(self, lived, documents, baseline, turns, given_score):
        with tempfile.TemporaryDirectory() as folder:
            loop = lived(Path(folder), baseline, turns, given_score=given_score)
            again, store, stored = opened(loop), LoopStore(loop.paths), documents(loop.root)
            summary = store.summary()
            rejudged = judge_again(store, again.config.thresholds)
            for judgement in rejudged.judgements:
                kept = loop.paths.iteration(judgement.record.iteration) / "metrics.json"
                document = json.loads(kept.read_bytes().decode("utf-8", "surrogatepass"))
                assert json.loads(json.dumps(judgement.record.to_dict())) == document
            stands = store.state(summary, again.config.thresholds)
            assert (rejudged.lost, rejudged.state.kept, rejudged.state.best) == ((), stands.kept, stands.best)
            if not loop.rolled_back_since:
                assert rejudged.state == stands
            assert again.rebuilt() == summary
            assert documents(loop.root) == stored

    @LAW
    @given(turns=st.lists(TURNS, min_size=1, max_size=4), which=st.integers(0, 9))
    def test_an_acceptance_made_twice_is_one(self, lived, documents, turns, which):
        with tempfile.TemporaryDirectory() as folder:
            loop = lived(Path(folder), {"tests": dict.fromkeys(TESTS, "passed")}, turns, given_score=False)
            accepted = accept_one(loop, which)
            if accepted is None:
                return
            stored = documents(loop.root)
            events = loop.paths.events.read_bytes()
            loop.paths.events.write_bytes(events + events.splitlines()[-1] + b"\n")
            assert opened(loop).rebuilt() == accepted
            assert documents(loop.root) == stored

    @LAW
    @given(turns=st.lists(TURNS, min_size=1, max_size=4), which=st.integers(0, 9))
    def test_after_an_acceptance_the_best_on_record_is_what_is_selected(self, lived, turns, which):
        with tempfile.TemporaryDirectory() as folder:
            loop = lived(Path(folder), {"tests": dict.fromkeys(TESTS, "passed")}, turns, given_score=False)
            accepted = accept_one(loop, which)
            if accepted is None:
                return
            store = LoopStore(loop.paths)
            rejudged = judge_again(store, opened(loop).config.thresholds)
            rows = [decode(WalkedIteration, row["walked"]) for row in store.rows()[0]]
            assert rows == [judgement.walked for judgement in rejudged.judgements]
            selected = loop.tracker.select_output(finish=False).selection.selected.iteration
            assert selected == accepted.best_iteration


class TestJudgingAgain:
    def test_leaves_out_what_cannot_be_read_and_names_it(self, driven):
        driven.start()
        for lint_errors in (1, 2, 3):
            driven.turn(lint_errors=lint_errors)
        (driven.paths.iteration(2) / "measurement.json").write_bytes(b"{")
        rejudged = judge_again(LoopStore(driven.paths), Thresholds())
        assert rejudged.lost == (2,)
        assert [judgement.record.previous for judgement in rejudged.judgements] == [None, 0, 1]
        assert rejudged.state.iteration == 3

    def test_stores_for_a_lost_iteration_what_held_before_it(self, driven):
        driven.start()
        for lint_errors in (3, 2, 1):
            driven.turn(lint_errors=lint_errors)
        (driven.paths.iteration(2) / "measurement.json").write_bytes(b"{")
        opened(driven).rebuilt()
        before, lost = (LoopStore(driven.paths).after(number) for number in (1, 2))
        assert (lost["walked"], lost["line"]) == (before["walked"], before["line"])
        assert lost["summary"] == before["summary"] | {"iteration": 2}

    def test_needs_the_baseline(self, driven):
        driven.start()
        driven.turn()
        (driven.paths.iteration(0) / "tests.json").unlink()
        with pytest.raises(RecordError, match=r"^iteration 0: .*iteration-000 is damaged; copy it back from a backup"):
            judge_again(LoopStore(driven.paths), Thresholds())

    def test_goes_on_from_the_target_of_a_rollback(self, driven):
        driven.start()
        driven.turn(lint_errors=1)
        driven.turn(lint_errors=2)
        driven.roll_back(0)
        driven.turn(lint_errors=4)
        last = judge_again(LoopStore(driven.paths), Thresholds()).judgements[-1].record
        assert (last.previous, last.from_previous["lint_errors_delta"]) == (0, 4)

    def test_writes_a_lost_record_of_an_intact_iteration_again(self, driven, documents):
        driven.start()
        driven.turn(tests={"a\ud800": "failed"})
        stored = documents(driven.root)
        driven.paths.record(0).unlink()
        driven.paths.record(1).unlink()
        opened(driven).rebuilt()
        assert documents(driven.root) == stored

    def test_forgets_acceptances_whose_event_is_lost(self, driven):
        driven.start()
        driven.turn(test_count=8, tests_passed=8)
        driven.tracker.accept("it1-test_deletion", "merged")
        driven.paths.events.unlink()
        summary = opened(driven).rebuilt()
        assert summary.accepted == ()
        assert driven.turn(test_count=8, tests_passed=8).open_alerts[0].id == "it1-test_deletion"
