"""The table of decisions, row by row (semantics § 7), and the line for an orchestrator (§ 8)."""

import pytest

from ralph_tracker.core.alert_types import TYPES, in_order
from ralph_tracker.core.decision import BASELINE_DECISION, DecisionFacts, decide
from ralph_tracker.core.thresholds import DecisionThresholds, LoopLimits, Thresholds
from ralph_tracker.records.iteration_record import message_of
from tests.tables import table

PLAIN = DecisionFacts(
    iteration=3,
    classification="plateau",
    alerts=(),
    score=0.8,
    best_score=0.85,
    best_iteration=2,
    verified=True,
    evidence=1.0,
    target_tests_hold=True,
)
CRITICAL = [kind.name for kind in TYPES if kind.severity.name == "CRITICAL"]
HIGH = [kind.name for kind in TYPES if kind.severity.name == "HIGH"]
MEDIUM = [kind.name for kind in TYPES if kind.severity.name == "MEDIUM"]
ALTERNATIVES = ("Consider different approach", "Request human intervention", "Try alternative strategy")


def limits(**values):
    return Thresholds(loop=LoopLimits(**{"target_score": 0.9, **values}))


RULES = limits()


def outcome(decision):
    return (decision.rule, decision.action, decision.target_iteration, decision.confidence, decision.reason)


@pytest.fixture
def facts(make_alert):
    """Make facts: alerts are named by their type; a rollback would go to iteration 2."""

    def make(*kinds, **changes):
        alerts = in_order(make_alert(kind, 3, kind, rollback_to=2) for kind in kinds)
        return PLAIN._replace(**{"alerts": alerts} | changes)

    return make


class TestRows:
    def test_0_no_iteration_yet(self):
        assert outcome(BASELINE_DECISION) == (0, "continue", None, 1.0, "Baseline captured, await iteration 1")

    @pytest.mark.parametrize(("same_tree", "confidence"), [(False, 0.90), (True, 0.99)])
    def test_1_infinite_loop(self, facts, same_tree, confidence):
        decision = decide(facts("infinite_loop", same_tree_cycle=same_tree), RULES)
        reason = "Loop should terminate due to metrics cycling; state is preserved"
        assert outcome(decision) == (1, "stop", None, confidence, reason)

    @table(
        ("thresholds", "changes", "reason"),
        [
            pytest.param(limits(max_iterations=3), {}, "Iteration limit reached: 3 of 3", id="iterations"),
            pytest.param(limits(max_iterations=2), {}, "Iteration limit reached: 3 of 2", id="more iterations"),
            pytest.param(limits(max_iterations=4), {}, None, id="one iteration left"),
            pytest.param(limits(max_iterations=None), {"iteration": 999}, None, id="no limit of iterations"),
            pytest.param(
                limits(max_cost_usd=5.0), {"cost_usd": 5.0}, "Cost limit reached: $5.00 of $5.00", id="exactly the cost"
            ),
            pytest.param(limits(max_cost_usd=5.0), {"cost_usd": 4.99}, None, id="cost below"),
            pytest.param(limits(max_cost_usd=5.0), {"cost_usd": None}, None, id="cost unknown"),
            pytest.param(
                limits(max_cost_usd=0.0), {"cost_usd": 0.0}, "Cost limit reached: $0.00 of $0.00", id="0 of 0"
            ),
            pytest.param(limits(), {"cost_usd": 99.0}, None, id="no limit of cost"),
            pytest.param(
                limits(max_minutes=30.0),
                {"elapsed_s": 1800.0},
                "Time limit reached: 30 of 30 minutes",
                id="exactly the time",
            ),
            pytest.param(
                limits(max_minutes=1.5), {"elapsed_s": 93.0}, "Time limit reached: 1.6 of 1.5 minutes", id="more time"
            ),
            pytest.param(limits(max_minutes=30.0), {"elapsed_s": 1799.0}, None, id="time below"),
            pytest.param(limits(max_minutes=30.0), {"elapsed_s": None}, None, id="time unknown"),
        ],
    )
    def test_2_limits(self, thresholds, changes, reason):
        decision = decide(PLAIN._replace(**changes), thresholds)
        if reason is None:
            assert decision.rule == 11
        else:
            assert outcome(decision) == (2, "stop", None, 1.0, reason)

    @pytest.mark.parametrize(("rollbacks", "rule"), [(0, 4), (1, 4), (2, 3), (3, 3), (7, 3)], ids=str)
    def test_3_the_third_rollback_in_a_row_by_an_alert(self, facts, rollbacks, rule):
        decision = decide(facts("test_deletion", rollbacks=rollbacks), RULES)
        assert decision.rule == rule
        if rule == 3:
            assert outcome(decision)[1:] == (
                "escalate",
                None,
                0.80,
                "Escalate to human - repeated regression detected",
            )

    @pytest.mark.parametrize(("rollbacks", "rule"), [(1, 5), (2, 3)])
    def test_3_the_third_rollback_in_a_row_by_the_score(self, facts, rollbacks, rule):
        fallen = facts(classification="regression", score=0.7, rollbacks=rollbacks)
        assert decide(fallen, RULES).rule == rule

    def test_3_is_none_where_this_would_be_no_rollback(self, facts, make_alert):
        assert decide(facts(rollbacks=2), RULES).rule == 11
        nowhere = facts(rollbacks=2, alerts=(make_alert("test_deletion"),))
        assert outcome(decide(nowhere, RULES))[:2] == (4, "stop")

    def test_3_how_many_is_a_rule(self, facts):
        thresholds = Thresholds(decision=DecisionThresholds(rollbacks_in_a_row=2))
        assert decide(facts("test_deletion", rollbacks=1), thresholds).rule == 3

    @pytest.mark.parametrize("kind", ["test_deletion", "working_tests_failing"])
    def test_4_a_critical_alert(self, facts, kind):
        decision = decide(facts(kind, "coverage_regression"), RULES)
        reason = f"Rollback to iteration 2 due to regression: {kind}"
        assert outcome(decision) == (4, "rollback", 2, 0.95, reason)

    def test_4_goes_back_before_the_earliest(self, facts, make_alert):
        alerts = in_order(
            [
                make_alert("build_broken", 5, "later", rollback_to=4),
                make_alert("working_tests_failing", 3, "earlier", rollback_to=1, rollback_score=0.8),
            ]
        )
        decision = decide(facts(alerts=alerts, iteration=5), RULES)
        assert decision.target_iteration == 1
        assert decision.reason == "Rollback to iteration 1 due to regression: later; earlier"

    @pytest.mark.parametrize(("score", "rule"), [(0.8, 4), (0.7999, 11)], ids=["not above the target", "overtaken"])
    def test_4_an_open_alert_calls_back_until_the_target_is_overtaken(self, facts, make_alert, score, rule):
        alerts = (make_alert("working_tests_failing", 2, rollback_to=1, rollback_score=score),)
        assert decide(facts(alerts=alerts), RULES).rule == rule

    @pytest.mark.parametrize(("raised", "rule"), [(3, 4), (2, 11)], ids=["now", "in an earlier iteration"])
    def test_4_deleted_tests_are_asked_about_once(self, facts, make_alert, raised, rule):
        alerts = (make_alert("test_deletion", raised, rollback_to=1, rollback_score=0.9),)
        assert decide(facts(alerts=alerts), RULES).rule == rule

    def test_4_back_to_the_baseline(self, facts, make_alert):
        decision = decide(facts(alerts=(make_alert("test_deletion", 3, rollback_to=0),)), RULES)
        assert (decision.action, decision.target_iteration) == ("rollback", 0)

    def test_4_stops_where_there_is_nothing_to_go_back_to(self, facts, make_alert):
        decision = decide(facts(alerts=(make_alert("build_broken", 1, "gone"),)), RULES)
        assert (decision.rule, decision.action, decision.target_iteration, decision.confidence) == (
            4,
            "stop",
            None,
            0.95,
        )
        assert decision.reason.endswith(": gone")

    def test_4_names_three_and_counts_the_rest(self, facts, make_alert):
        target = {"rollback_to": 0, "rollback_score": 0.9}
        alerts = tuple(make_alert("build_broken", number, f"no. {number}", **target) for number in range(1, 6))
        reason = decide(facts(alerts=alerts, iteration=5), RULES).reason
        assert reason == "Rollback to iteration 0 due to regression: no. 1; no. 2; no. 3; and 2 more"

    @pytest.mark.parametrize(
        ("classification", "score", "rule"),
        [
            pytest.param("regression", 0.7499, 5, id="more than 0.1 below the best"),
            pytest.param("regression", 0.75, 11, id="exactly 0.1 below the best"),
            pytest.param("plateau", 0.2, 11, id="no regression"),
            pytest.param("forward", 0.2, 11, id="forward"),
        ],
    )
    def test_5_a_regression_well_below_the_best(self, facts, classification, score, rule):
        decision = decide(facts(classification=classification, score=score), RULES)
        assert decision.rule == rule
        if rule == 5:
            assert outcome(decision)[1:] == ("rollback", 2, 0.90, "Rollback to iteration 2 due to regression")

    @pytest.mark.parametrize(("best", "score"), [(0.4, 0.3), (0.9, 0.8), (0.3, 0.2), (0.8817, 0.7817)])
    def test_5_exactly_a_tenth_below_whatever_binary_makes_of_it(self, facts, best, score):
        at_the_margin = facts(classification="regression", best_score=best, score=score)
        assert decide(at_the_margin, RULES).rule == 11

    def test_6_blocked(self, facts):
        decision = decide(facts(blocked="no network"), RULES)
        assert outcome(decision) == (6, "escalate", None, 0.90, "Escalate to human - blocked: no network")

    def test_6_comes_before_a_limit_that_is_reached(self, facts):
        decision = decide(facts(blocked="401 Unauthorized", iteration=3), limits(max_iterations=3))
        assert outcome(decision)[:2] == (6, "escalate")

    def test_7_metric_cycling(self, facts):
        decision = decide(facts("metric_cycling"), RULES)
        assert outcome(decision) == (7, "escalate", None, 0.75, "Escalate to human - metric cycling detected")

    @pytest.mark.parametrize(("evidence", "rule"), [(0.5999, 8), (0.6, 11), (0.0, 8)])
    def test_8_too_little_evidence(self, facts, evidence, rule):
        decision = decide(facts(evidence=evidence), RULES)
        assert decision.rule == rule
        if rule == 8:
            reason = "Escalate to human - measurement incomplete detected"
            assert outcome(decision)[1:] == ("escalate", None, 0.40, reason)

    @pytest.mark.parametrize(
        ("changes", "rule"),
        [
            pytest.param({"score": 0.9}, 9, id="exactly the target"),
            pytest.param({"score": 0.8999}, 11, id="below the target"),
            pytest.param({"score": 0.95, "verified": False}, 11, id="not verified"),
            pytest.param({"score": 0.95, "target_tests_hold": False}, 11, id="a test fails, or none passed"),
            pytest.param({"score": 0.95, "classification": "stalled"}, 9, id="before a stall"),
            pytest.param({"score": 0.95, "classification": "forward"}, 9, id="rather than forward"),
        ],
    )
    def test_9_target(self, facts, changes, rule):
        decision = decide(facts(**changes), RULES)
        assert decision.rule == rule
        if rule == 9:
            assert outcome(decision)[1:] == ("stop", None, 0.95, "Target reached")

    def test_12_nothing_is_left_to_do(self, facts):
        decision = decide(facts(green=True, unchanged=True), RULES)
        assert outcome(decision) == (12, "stop", None, 0.95, "Done: nothing changed and everything passes")
        assert decision.is_done
        assert not decide(facts(), RULES).is_done

    @pytest.mark.parametrize(
        "changes",
        [
            {"green": False},
            {"unchanged": False},
            {"verified": False},
            {"trusted": False},
            {"questions": 1},
            {"open_tasks": 1},
            {"gained": True, "unchanged": False},
        ],
        ids=str,
    )
    def test_12_not_while_anything_is_left(self, facts, changes):
        assert decide(facts(**{"green": True, "unchanged": True} | changes), RULES).rule == 11

    @pytest.mark.parametrize("kind", sorted(set(HIGH) - {"metric_cycling"}))
    def test_12_not_with_a_high_alert(self, facts, kind):
        assert decide(facts(kind, green=True, unchanged=True), RULES).rule == 11

    @pytest.mark.parametrize(
        ("changes", "rule"),
        [
            ({"green": True, "gained": True}, 12),
            ({"green": True}, 11),
            ({"gained": True}, 11),
            ({"green": True, "gained": True, "questions": 1}, 11),
        ],
        ids=str,
    )
    def test_12_at_the_first_green_where_that_is_asked(self, facts, changes, rule):
        decision = decide(facts(**changes), limits(until="green"))
        assert decision.rule == rule
        if rule == 12:
            assert decision.reason == "Done: tests were gained and everything passes"

    @pytest.mark.parametrize(("evidence", "rule"), [(1.0, 12), (0.5, 2)])
    def test_12_is_the_reason_where_a_limit_ends_the_loop_anyway(self, facts, evidence, rule):
        at_the_limit = facts(iteration=20, green=True, unchanged=True, evidence=evidence)
        assert decide(at_the_limit, RULES).rule == rule

    @pytest.mark.parametrize("kind", sorted(set(HIGH) - {"metric_cycling"}))
    def test_9_not_with_a_high_alert(self, facts, kind):
        assert decide(facts(kind, score=0.95), RULES).rule == 11

    @pytest.mark.parametrize("kind", MEDIUM)
    def test_9_with_a_medium_alert(self, facts, kind):
        assert decide(facts(kind, score=0.95), RULES).rule == 9

    @pytest.mark.parametrize(
        ("changes", "rule"),
        [({"met_target": True}, 11), ({"open_tasks": 1}, 11), ({"open_tasks": 0}, 9)],
        ids=["the baseline had reached it", "a task is open", "no task is open"],
    )
    def test_9_ends_no_loop_that_still_has_work(self, facts, changes, rule):
        assert decide(facts(score=0.95, **changes), RULES).rule == rule

    def test_10_not_where_work_goes_on_that_no_metric_shows(self, facts):
        assert decide(facts(classification="stalled", working=True), RULES).rule == 11

    def test_9_not_without_a_target(self, facts):
        assert decide(facts(score=1.0), limits(target_score=None)).rule == 11

    def test_10_stalled(self, facts):
        decision = decide(facts(classification="stalled"), RULES)
        assert decision.is_stall
        assert not decide(facts(), RULES).is_stall
        assert outcome(decision) == (10, "stop", None, 0.85, "No meaningful progress for 3 iterations")
        assert decision.alternatives == ALTERNATIVES

    @pytest.mark.parametrize(
        ("kinds", "classification", "confidence", "reason"),
        [
            ((), "forward", 0.90, "Continue - forward progress detected"),
            ((), "plateau", 0.60, "Continue - no forward progress yet (plateau)"),
            ((), "regression", 0.60, "Continue - regression within limits"),
            (
                ("coverage_regression", "error_increase"),
                "regression",
                0.60,
                "Continue - regression within limits: coverage_regression; error_increase",
            ),
        ],
    )
    def test_11_otherwise(self, facts, kinds, classification, confidence, reason):
        decision = decide(facts(*kinds, classification=classification), RULES)
        assert outcome(decision) == (11, "continue", None, confidence, reason)
        assert decision.alternatives == ()


_SOUND = {"iteration": 3, "blocked": None, "classification": "stalled", "evidence": 1.0}


class TestFirstThatHolds:
    """Whatever holds of a later row does not matter."""

    ALL = {
        "iteration": 20,
        "classification": "regression",
        "score": 0.1,
        "evidence": 0.1,
        "blocked": "why",
        "rollbacks": 2,
    }

    @pytest.mark.parametrize(
        ("kinds", "changes", "rule"),
        [
            (("infinite_loop", "test_deletion", "metric_cycling"), {}, 1),
            (("test_deletion", "metric_cycling"), {"blocked": None}, 2),
            (("test_deletion", "metric_cycling"), {"iteration": 3}, 3),
            (("test_deletion", "metric_cycling"), {"iteration": 3, "rollbacks": 0}, 4),
            (("metric_cycling",), {"iteration": 3, "rollbacks": 0}, 5),
            (("metric_cycling",), {"iteration": 3, "score": 0.8}, 6),
            (("metric_cycling",), {"iteration": 3, "score": 0.8, "blocked": None}, 7),
            ((), {"iteration": 3, "score": 0.95, "blocked": None, "classification": "stalled"}, 8),
            ((), {**_SOUND, "score": 0.95, "green": True, "unchanged": True}, 12),
            ((), {**_SOUND, "score": 0.95}, 9),
            ((), {**_SOUND, "score": 0.8}, 10),
            ((), {"iteration": 3, "score": 0.8, "blocked": None, "evidence": 1.0}, 11),
        ],
    )
    def test_order_of_the_rows(self, facts, kinds, changes, rule):
        assert decide(facts(*kinds, **self.ALL | changes), RULES).rule == rule


class TestConfidence:
    @pytest.mark.parametrize(
        ("kinds", "changes", "rule", "confidence"),
        [
            pytest.param(("infinite_loop",), {}, 1, 0.90, id="1 is certain by itself"),
            pytest.param((), {"iteration": 20}, 2, 1.00, id="2 is certain by itself"),
            pytest.param(("test_deletion",), {"rollbacks": 2}, 3, 0.64, id="3"),
            pytest.param(("test_deletion",), {}, 4, 0.76, id="4"),
            pytest.param((), {"classification": "regression", "score": 0.1}, 5, 0.72, id="5"),
            pytest.param((), {"blocked": "why"}, 6, 0.72, id="6"),
            pytest.param(("metric_cycling",), {}, 7, 0.60, id="7"),
            pytest.param((), {"evidence": 0.5}, 8, 0.40, id="8 is certain by itself"),
            pytest.param((), {"green": True, "unchanged": True}, 12, 0.76, id="12"),
            pytest.param((), {"score": 0.95}, 9, 0.76, id="9"),
            pytest.param((), {"classification": "stalled"}, 10, 0.68, id="10"),
            pytest.param((), {"classification": "forward"}, 11, 0.72, id="11 forward"),
            pytest.param((), {}, 11, 0.48, id="11 else"),
            pytest.param((), {"evidence": 10 / 11, "score": 0.95}, 9, 0.86, id="two decimals, half-up"),
        ],
    )
    def test_is_the_table_s_times_evidence(self, facts, kinds, changes, rule, confidence):
        decision = decide(facts(*kinds, **{"evidence": 0.8} | changes), RULES)
        assert (decision.rule, decision.confidence) == (rule, confidence)

    def test_weighing_keeps_the_rest(self, facts):
        stalled = decide(facts(classification="stalled", evidence=0.8), RULES)
        assert stalled.alternatives == ALTERNATIVES
        assert decide(facts("test_deletion", evidence=0.8), RULES).target_iteration == 2


@pytest.mark.parametrize(
    ("kinds", "changes", "counts"),
    [
        pytest.param(("test_deletion",), {}, True, id="rollback by an alert"),
        pytest.param((), {"classification": "regression", "score": 0.1}, True, id="rollback by the score"),
        pytest.param(("test_deletion",), {"rollbacks": 2}, True, id="the escalation that stands for one"),
        pytest.param((), {"blocked": "why"}, False, id="another escalation"),
        pytest.param((), {}, False, id="going on"),
        pytest.param((), {"classification": "stalled"}, False, id="stopping"),
    ],
)
def test_what_counts_as_a_rollback(facts, kinds, changes, counts):
    assert decide(facts(*kinds, **changes), RULES).counts_as_rollback is counts


@pytest.mark.parametrize(
    ("kinds", "changes", "message"),
    [
        (("infinite_loop",), {}, "ALERT: Infinite loop, recommend stop"),
        (
            ("test_deletion", "coverage_regression"),
            {"rollbacks": 2},
            "ALERT: Test deletion, recommend escalate",
        ),
        (
            ("working_tests_failing", "coverage_regression"),
            {},
            "ALERT: Working tests failing, recommend rollback",
        ),
        (
            ("coverage_regression",),
            {"classification": "regression", "score": 0.1},
            "ALERT: Coverage regression, recommend rollback",
        ),
        ((), {"classification": "regression", "score": 0.1}, "ALERT: Regression, recommend rollback"),
        (
            ("metric_cycling", "file_deletion"),
            {"classification": "forward"},
            "ALERT: Metric cycling, recommend escalate",
        ),
        ((), {"classification": "forward"}, "Forward progress detected, continue"),
        (("coverage_regression",), {"classification": "forward"}, "Forward progress detected, continue"),
        ((), {"classification": "forward", "score": 0.95}, "Target reached"),
        ((), {"iteration": 20}, "Iteration limit reached: 20 of 20"),
        ((), {"iteration": 20, "score": 0.95}, "Target reached"),
        ((), {"iteration": 20, "score": 0.95, "evidence": 0.1}, "Iteration limit reached: 20 of 20"),
        ((), {"blocked": "why"}, "Escalate to human - blocked: why"),
        ((), {"evidence": 0.1}, "Escalate to human - measurement incomplete detected"),
        ((), {"classification": "stalled"}, "No meaningful progress for 3 iterations"),
        ((), {}, "Continue - no forward progress yet (plateau)"),
        (
            ("coverage_regression",),
            {"classification": "regression"},
            "Continue - regression within limits: coverage_regression",
        ),
    ],
)
def test_message(facts, kinds, changes, message):
    known = facts(*kinds, **changes)
    assert message_of(decide(known, RULES), known.classification, known.alerts) == message


def test_the_message_of_the_baseline():
    assert message_of(BASELINE_DECISION, "baseline", ()) == "Baseline captured, await iteration 1"


def test_asking_twice_gives_the_same(facts):
    for kinds in ([], ["test_deletion"], ["metric_cycling", "stalled"], CRITICAL):
        known = facts(*kinds)
        assert decide(known, RULES) == decide(known, RULES)


@pytest.mark.parametrize(("count", "rest"), [(1, ""), (3, ""), (4, "; and 1 more")])
def test_a_reason_names_up_to_three_alerts(facts, make_alert, count, rest):
    alerts = tuple(make_alert("test_deletion", 3, f"no. {number}", rollback_to=2) for number in range(count))
    named = "; ".join(f"no. {number}" for number in range(min(count, 3)))
    assert decide(facts(alerts=alerts), RULES).reason == f"Rollback to iteration 2 due to regression: {named}{rest}"
