"""Whole loops: what is carried from one iteration to the next, and what follows the line (semantics § 0, § 5, § 8)."""

import pytest

from ralph_tracker.core.integrity_result import EarlierTests, Finding, Integrity, Severity
from ralph_tracker.core.judge import judge, judge_baseline
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.metrics import Group, Measurement, Metrics, Usage
from ralph_tracker.core.thresholds import LoopLimits, Thresholds
from ralph_tracker.records.iteration_record import record_of
from tests.tables import table

P, F, S = "passed", "failed", "skipped"
NO_TESTS = {"test_count": None, "tests_passed": None, "tests_failed": None, "tests_skipped": None}
FRESH = JudgeState(loop_id="ralph-001", thresholds=Thresholds())


def counts(count, passed, failed):
    return {"test_count": count, "tests_passed": passed, "tests_failed": failed, "tests_skipped": None}


def measured(score=None, **metrics):
    return Measurement(metrics=Metrics(**metrics), timestamp="now", quality_score=score)


class TestRefusals:
    def test_a_baseline_with_neither_score_nor_component(self):
        with pytest.raises(ValueError, match="neither a quality_score nor anything to compute one from"):
            judge_baseline(FRESH, measured(file_count=3))

    @table(
        ("measurement", "configured"),
        [
            pytest.param(measured(0.5), (), id="a score alone"),
            pytest.param(measured(lint_errors=0), (), id="a component alone"),
            pytest.param(measured(), [Group.TESTS], id="a configured check that gave nothing"),
        ],
    )
    def test_a_baseline_with_one_of_them(self, measurement, configured):
        record = record_of(judge_baseline(FRESH, measurement, frozenset(configured)))
        assert (record.iteration, record.decision.rule) == (0, 0)

    def test_an_iteration_without_a_baseline(self):
        with pytest.raises(ValueError, match="no baseline yet"):
            judge(FRESH, measured(lint_errors=0))

    def test_a_score_that_is_missing_where_scores_are_given(self):
        state = judge_baseline(FRESH, measured(0.5)).state
        with pytest.raises(ValueError, match="quality_score is missing"):
            judge(state, measured(lint_errors=0))

    def test_a_score_that_is_given_where_scores_are_computed(self):
        state = judge_baseline(FRESH, measured(lint_errors=0)).state
        with pytest.raises(ValueError, match="quality_score is given"):
            judge(state, measured(0.5, lint_errors=0))

    def test_a_given_score_of_0_is_a_score(self):
        state = judge_baseline(FRESH, measured(0.0)).state
        assert record_of(judge(state, measured(0.0))).quality_score == 0.0


class TestRollback:
    """What was rolled back is not on the line; a recommended rollback moves nothing."""

    def test_the_next_iteration_descends_from_the_target(self, start):
        loop = start(coverage_percentage=70.0)
        loop.turn(coverage_percentage=80.0)
        loop.turn(coverage_percentage=60.0)
        loop.roll_back(1)
        record = loop.turn(coverage_percentage=81.0)
        assert (record.iteration, record.previous, record.classification) == (3, 1, "plateau")
        assert record.from_previous["coverage_delta"] == 1.0

    def test_a_recommended_one_that_nobody_carried_out_moves_nothing(self, start):
        loop = start()
        loop.turn(**counts(9, 9, 0))
        assert loop.last.decision.action == "rollback"
        record = loop.turn(**counts(9, 9, 0))
        assert (record.previous, loop.kinds) == (1, [])

    def test_the_target_s_open_alerts_are_restored(self, start):
        loop = start()
        loop.turn(coverage_percentage=None)
        loop.turn(**counts(9, 9, 0))
        loop.roll_back(1)
        loop.turn(coverage_percentage=None)
        assert (loop.kinds, loop.open_kinds) == ([], ["metric_missing"])
        loop.roll_back(0)
        loop.turn()
        assert (loop.open_kinds, loop.last.closed_alerts) == ([], ())

    def test_tests_are_compared_with_the_target_s(self, start):
        loop = start(tests={"a": P, "b": F})
        loop.turn(tests={"a": F, "b": P})
        loop.roll_back(0)
        loop.turn(tests={"a": P, "b": F})
        assert loop.kinds == []

    def test_a_line_may_be_taken_up_again_from_what_was_rolled_back(self, start):
        loop = start(tests={"a": P})
        loop.turn(tests={"a": P, "b": P})
        loop.roll_back(0)
        loop.turn(tests={"a": P})
        assert loop.kinds == []
        loop.roll_back(1)
        loop.turn(tests={"a": P})
        assert (loop.last.previous, loop.kinds[0]) == (1, "test_deletion")

    def test_all_iterations_are_candidates_on_the_line_or_not(self, start):
        loop = start(coverage_percentage=50.0)
        loop.turn(coverage_percentage=90.0)
        loop.roll_back(0)
        record = loop.turn(coverage_percentage=60.0)
        assert (record.best.iteration, loop.select().selected.iteration) == (1, 1)


class TestRollbacksInARow:
    def test_the_third_asks_a_person_and_goes_on_asking(self, start):
        loop = start()
        actions = []
        for _ in range(5):
            loop.turn(**counts(9, 9, 0))
            actions.append((loop.last.decision.action, loop.last.decision.rule))
            loop.roll_back(0)
        assert actions == [("rollback", 4), ("rollback", 4), *[("escalate", 3)] * 3]
        assert loop.last.message == "ALERT: Test deletion, recommend escalate"

    def test_they_count_whether_carried_out_or_not(self, start):
        loop = start()
        loop.turns(3, **counts(10, 9, 1))
        assert [record.decision.rule for record in loop.records] == [0, 4, 4, 3]

    def test_another_decision_between_starts_again(self, start):
        loop = start()
        for coverage in (80.0, 81.0):
            loop.turns(2, **counts(10, 9, 1))
            loop.turn(coverage_percentage=coverage)
        assert [record.decision.rule for record in loop.records[1:]] == [4, 4, 11, 4, 4, 11]


class TestLimits:
    def test_cost_adds_up_and_unknown_is_not_0(self, start):
        thresholds = Thresholds()._replace(loop=LoopLimits(max_cost_usd=1.0))
        loop = start(thresholds=thresholds, base={"lint_errors": 0}, usage=Usage(cost_usd=0.4))
        loop.turn(usage=Usage(turns=7))
        assert loop.state.cost_usd == 0.4
        loop.turn(usage=Usage(cost_usd=0.6))
        assert loop.last.decision.reason == "Cost limit reached: $1.00 of $1.00"

    def test_cost_is_unknown_until_one_is_known(self, start):
        loop = start()
        loop.turn(usage=Usage(turns=7))
        assert loop.state.cost_usd is None
        loop.turn(usage=Usage(cost_usd=0.0))
        assert loop.state.cost_usd == 0.0

    def test_time_is_that_of_the_record(self, start):
        thresholds = Thresholds()._replace(loop=LoopLimits(max_minutes=10, target_score=None))
        loop = start(thresholds=thresholds)
        assert loop.turn(elapsed_s=599.0).decision.rule == 11
        assert loop.turn(elapsed_s=600.0).decision.rule == 2

    def test_iterations(self, start):
        thresholds = Thresholds()._replace(loop=LoopLimits(max_iterations=2, target_score=None))
        loop = start(thresholds=thresholds)
        assert loop.turn().decision.rule == 11
        assert loop.turn().decision.reason == "Iteration limit reached: 2 of 2"


class TestTarget:
    RULES = Thresholds()._replace(loop=LoopLimits(target_score=0.5))

    @pytest.mark.parametrize(
        ("base", "now", "reached"),
        [
            pytest.param({}, {}, True, id="all pass"),
            pytest.param(counts(10, 9, 1), counts(10, 9, 1), False, id="one fails still"),
            pytest.param(counts(10, 0, 0), counts(10, 0, 0), False, id="none ran"),
            pytest.param(counts(10, 1, 0), counts(10, 1, 0), True, id="one passes, none fails"),
            pytest.param(NO_TESTS, NO_TESTS, True, id="the loop has no tests"),
            pytest.param({}, {"coverage_percentage": 70.0}, False, id="a HIGH alert"),
            pytest.param({}, {"file_count": 1}, True, id="a MEDIUM alert"),
            pytest.param({}, {"build_status": "failure"}, False, id="not verified"),
        ],
    )
    def test_is_reached(self, start, base, now, reached):
        loop = start(thresholds=self.RULES, **base)
        loop.state = loop.state._replace(met_target=False)  # as if the baseline had been below it
        record = loop.turn(**now)
        assert record.adjusted_score >= 0.5
        assert (record.decision.rule == 9) is reached

    def test_is_not_reached_while_a_high_alert_is_open(self, start):
        loop = start(thresholds=self.RULES)
        loop.state = loop.state._replace(met_target=False)
        loop.turn(coverage_percentage=None)
        assert loop.turn(coverage_percentage=None).decision.rule == 11
        assert loop.turn().decision.rule == 9

    def test_a_baseline_that_meets_it_is_no_reason_to_stop(self, start):
        loop = start(thresholds=self.RULES)
        assert loop.state.met_target
        (note,) = loop.records[0].notes
        assert note.startswith("the target 0.5 never stops this loop, because its baseline already scores ")
        assert loop.turn().decision.rule == 11

    def test_is_compared_with_the_adjusted_score(self, start):
        loop = start(thresholds=Thresholds()._replace(loop=LoopLimits(target_score=0.9)), lint_errors=40)
        record = loop.turn(lint_errors=4)
        assert record.quality_score < record.adjusted_score
        assert record.decision.rule == 9


class TestDone:
    """An iteration without changes ends the loop where everything passes."""

    GREEN = {"a": "passed", "b": "passed"}

    @pytest.mark.parametrize(
        ("last", "rule"),
        [
            pytest.param({}, 12, id="all pass"),
            pytest.param({"tree": "3"}, 11, id="a file was changed"),
            pytest.param({"tree": None}, 11, id="no files are kept"),
            pytest.param({"tests": {"a": "passed", "b": "failed"}}, 4, id="a test fails"),
            pytest.param({"tests": {"a": "skipped", "b": "skipped"}}, 11, id="no test passes"),
            pytest.param({"plan": (1, 1)}, 11, id="a task is open"),
            pytest.param({"not_loaded": {"c.py": "SyntaxError"}}, 11, id="a file does not load"),
        ],
    )
    def test_ends_the_loop(self, start, last, rule):
        loop = start(tests={"a": "passed", "b": "failed"}, tree="1")
        assert loop.turn(tests=self.GREEN, tree="2").decision.rule == 11
        assert loop.turn(**{"tests": self.GREEN, "tree": "2"} | last).decision.rule == rule

    def test_at_the_first_green_where_that_is_asked(self, start):
        until = Thresholds(loop=LoopLimits(until="green"))
        loop = start(thresholds=until, tests={"a": "passed", "b": "failed"}, tree="1")
        assert loop.turn(tests={"a": "passed", "b": "failed"}, tree="2").decision.rule == 11
        assert loop.turn(tests=self.GREEN, tree="3").decision.rule == 12

    def test_is_compared_with_what_a_rollback_restored(self, start):
        loop = start(tests=self.GREEN, tree="1")
        loop.turn(tests={"a": "failed", "b": "passed"}, tree="2")
        loop.roll_back(0)
        assert loop.turn(tests=self.GREEN, tree="1").decision.rule == 12


class TestStall:
    """A loop that stands still ends, unless work goes on that no metric shows."""

    @pytest.mark.parametrize(
        ("base", "plans", "actions"),
        [
            pytest.param({}, [None] * 3, ["continue", "continue", "stop"], id="no plan"),
            pytest.param({}, [(1, 5), (1, 5), (1, 5)], ["continue", "continue", "stop"], id="no task ticked"),
            pytest.param({}, [(1, 5), (2, 4), (2, 4)], ["continue"] * 3, id="a task ticked in the window"),
            pytest.param({"tests": {}}, [None] * 3, ["continue"] * 3, id="no test has run so far"),
            pytest.param({"tests": {"a": F}}, [None] * 3, ["continue", "continue", "stop"], id="all tests are red"),
            pytest.param(NO_TESTS, [None] * 3, ["continue", "continue", "stop"], id="the loop has no tests"),
        ],
    )
    def test_ends_it(self, start, base, plans, actions):
        loop = start(**base, plan=(1, 5))
        assert [loop.turn(**base, plan=plan).decision.action for plan in plans] == actions

    def test_tests_that_went_with_their_code_begin_the_window_anew(self, start):
        loop = start(tests={"a": P, "b": P}, integrity=Integrity())
        retired = Integrity(earlier=EarlierTests(0, retired=frozenset("b")))
        turns = [retired, Integrity(), Integrity(), Integrity()]
        actions = [loop.turn(tests={"a": P}, integrity=found).decision.action for found in turns]
        assert actions == ["continue", "continue", "continue", "stop"]


class TestEvidence:
    @pytest.mark.parametrize(("present", "rule"), [(3, 11), (2, 8)], ids=["exactly 0.6 goes on", "less asks a person"])
    def test_share_of_the_loop_s_components(self, start, present, rule):
        base = {
            "coverage_percentage": 50.0,
            "lint_errors": 0,
            "build_status": "success",
            "complexity_score": 1.0,
        }
        order = ["lint_errors", "coverage_percentage", "build_status", "complexity_score"]
        # lint_errors brings two components of the five.
        gone = dict.fromkeys(order[present - 1 :])
        record = start(base=base).turn(**gone)
        assert (record.evidence, record.decision.rule) == (present / 5, rule)

    def test_a_loop_without_components_has_all_of_it(self, start):
        assert start(base={}, score=0.5).turn(score=0.5).evidence == 1.0


class TestAcceptance:
    """Accepting an alert judges the loop again from the iteration that raised it on."""

    def test_tests_that_are_gone_by_consent_are_not_dropped(self, start):
        loop = start(tests={"a": P, "b": P, "c": P, "d": P})
        loop.turn(tests={"a": P, "b": P}, coverage_percentage=85.0)
        again = loop.again(*loop.records[1].alerts)
        assert again.last.accepted == ("it1-test_deletion", "it1-functionality_loss")
        assert (loop.last.verified, again.last.verified) == (False, True)
        assert (loop.last.best.iteration, again.last.best.iteration) == (0, 1)
        assert again.last.adjusted_score > loop.last.adjusted_score
        assert (loop.last.decision.rule, again.last.decision.rule) == (4, 11)
        again.turn(tests={"a": P, "b": P}, coverage_percentage=85.0)
        assert again.last.open_alerts == ()

    def test_the_alert_is_still_on_the_record_that_raised_it(self, start):
        loop = start(tests={"a": P, "b": P})
        loop.turn(tests={"a": P})
        again = loop.again(loop.alert("test_deletion"))
        assert [alert.type for alert in again.last.alerts] == ["test_deletion", "functionality_loss"]

    def test_without_names_too(self, start):
        loop = start()
        loop.turn(**counts(6, 6, 0))
        again = loop.again(loop.alert("test_deletion"), loop.alert("functionality_loss"))
        assert again.last.adjusted_score > loop.last.adjusted_score
        assert (again.last.verified, again.last.decision.rule) == (True, 11)

    def test_the_best_is_chosen_anew(self, start):
        """Twelve tests of which six pass, then eight of eight: better, once the removal is accepted."""
        loop = start(base={}, **counts(12, 8, 4))
        loop.turn(**counts(8, 8, 0))
        again = loop.again(loop.alert("test_deletion"))
        assert (loop.last.best.iteration, again.last.best.iteration) == (0, 1)

    def test_tests_that_may_fail_break_nothing(self, start):
        loop = start(tests={"a": P, "b": P, "c": F})
        loop.turn(tests={"a": P, "b": F, "c": P})
        again = loop.again(loop.alert("working_tests_failing"))
        assert (loop.last.best.iteration, again.last.best.iteration) == (0, 1)
        assert (again.last.classification, again.last.decision.rule) == ("regression", 11)

    def test_a_finding_is_no_question_any_more(self, start):
        told = Integrity(findings=(Finding("demand_changed", Severity.HIGH, "a fact", "test_a.py", tests=("a",)),))
        loop = start(tests={"a": P}, integrity=Integrity())
        loop.turn(tests={"a": P}, integrity=told)
        again = loop.again(*loop.last.alerts)
        assert (loop.last.best.iteration, again.last.best.iteration) == (0, 1)

    def test_at_the_baseline(self, start):
        loop = start(coverage_percentage=None, configured=frozenset({Group.COVERAGE}))
        again = loop.again(loop.last.alerts[0])
        assert again.last.accepted == ("it0-metric_missing-coverage",)
        assert again.turn(coverage_percentage=None).alerts == ()

    def test_rollbacks_are_carried_out_again(self, start):
        loop = start(tests={"a": P, "b": P, "c": P})
        loop.turn(tests={"a": P, "b": P})
        loop.roll_back(0)
        loop.turn(tests={"a": P, "b": P, "c": P})
        again = loop.again(loop.records[1].alerts[0])
        assert [record.previous for record in again.records] == [None, 0, 0]

    def test_the_others_stay(self, start):
        loop = start(tests={"a": P, "b": P, "c": P})
        loop.turn(tests={"a": P, "b": F})
        again = loop.again(loop.alert("test_deletion"))
        assert again.last.decision.rule == 4
        assert not again.last.verified


class TestGivenScores:
    def test_they_are_kept_and_decide(self, start):
        loop = start(score=0.9)
        record = loop.turn(score=0.7999, coverage_percentage=70.0)
        assert (record.quality_score, record.adjusted_score, record.score_given) == (0.7999, 0.7999, True)
        assert (record.dimensions, record.weights) == ({}, {})
        assert (record.decision.rule, record.decision.target_iteration) == (5, 0)

    def test_the_best_is_by_them_among_the_verified(self, start):
        loop = start(score=0.5)
        loop.turn(score=0.9, build_status="failure")
        assert loop.last.best.iteration == 0
        assert loop.turn(score=0.6).best.iteration == 2

    def test_findings_act_through_verdict_and_verified(self, start):
        loop = start(score=0.5)
        record = loop.turn(score=0.9, **counts(6, 6, 0))
        assert (record.verified, record.decision.rule, record.best.iteration) == (False, 4, 0)


def test_the_same_measurements_give_the_same_records(start):
    loop = start(tests={"a": P, "b": S})
    loop.turn(tests={"a": P, "b": P, "c": F}, coverage_percentage=85.0)
    loop.turn(tests={"a": P, "c": P})
    loop.roll_back(1)
    loop.turn(tests={"a": P, "b": P, "c": P})
    again = loop.again()
    assert again.records == loop.records
    assert again.state == loop.state


class TestWhatIsMissingNow:
    @pytest.mark.parametrize(
        "gone",
        ["build_status", "lint_warnings", "complexity_score", "loc_total"],
    )
    def test_a_missing_component_prevents_forward_and_stalled(self, start, gone):
        loop = start()
        record = loop.turn(coverage_percentage=99.0, **{gone: None})
        assert record.classification == "plateau"

    def test_an_accepted_missing_report_is_not_raised_again(self, start):
        loop = start()
        alert = loop.turn(coverage_percentage=None).alerts[0]
        loop.turn(coverage_percentage=None)
        again = loop.again(alert)
        assert [a.id for a in again.last.alerts] == []
        assert [a.id for a in again.last.open_alerts] == [alert.id]
        assert again.last.accepted == (alert.id,)

    def test_passes_follow_the_rate_where_only_that_is_handed_in(self):
        metrics = Metrics(test_count=10, pass_rate=90.0)
        fresh = JudgeState(loop_id="ralph-001", thresholds=Thresholds())
        record = record_of(judge_baseline(fresh, Measurement(metrics=metrics, timestamp="now")))
        assert record.adjusted_score == record.quality_score


def test_the_highest_score_is_that_of_all_iterations_taken_or_not(start):
    loop = start(lint_errors=3)
    highest = loop.turn(lint_errors=0, tests_passed=9, tests_failed=1).adjusted_score
    loop.turn(lint_errors=9)
    assert loop.state.highest == max(each.adjusted_score for each in loop.records)
    assert loop.state.highest >= highest
