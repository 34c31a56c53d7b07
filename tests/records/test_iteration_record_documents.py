"""Records and selections as documents of the seed's shape."""

import pytest

from ralph_tracker.core.metrics import Usage

P, F = "passed", "failed"
OF_THE_SEED = [
    "iteration",
    "timestamp",
    "classification",
    "testing",
    "quality",
    "codebase",
    "quality_score",
    "is_best_iteration",
]


@pytest.fixture
def loop(start):
    """Run two iterations, the second a regression with a broken test."""
    loop = start(tests={"a": P, "b": P})
    loop.turn(tests={"a": P, "b": P, "c": P}, coverage_percentage=85.0)
    loop.turn(tests={"a": P, "b": F, "c": P}, coverage_percentage=82.0, usage=Usage(turns=4), tree="f00")
    return loop


class TestBaseline:
    def test_top_level(self, loop):
        document = loop.records[0].to_dict()
        assert list(document) == [
            "schema_version",
            "iteration_metrics",
            "baseline_stored",
            "next_action",
            "best_iteration_tracker",
            "recommendation",
            "message",
        ]
        assert (document["schema_version"], document["baseline_stored"]) == (1, True)
        assert document["next_action"] == "await_iteration_1"
        assert document["message"] == "Baseline captured, await iteration 1"

    def test_iteration_metrics_have_the_seed_s_fields_in_its_order(self, loop):
        metrics = loop.records[0].to_dict()["iteration_metrics"]
        assert [key for key in metrics if key in OF_THE_SEED] == OF_THE_SEED
        assert (metrics["iteration"], metrics["classification"]) == (0, "baseline")
        assert metrics["is_best_iteration"] is False
        assert "deltas" not in metrics

    def test_no_best_yet(self, loop):
        assert loop.records[0].to_dict()["best_iteration_tracker"] == {
            "current_best": None,
            "best_quality_score": 0.0,
            "current_iteration_score": loop.records[0].quality_score,
            "adjusted_best_quality_score": 0.0,
            "adjusted_current_iteration_score": loop.records[0].adjusted_score,
            "best_is_verified": None,
        }


class TestIteration:
    def test_metrics_stand_in_the_three_sections_and_absent_ones_are_left_out(self, start):
        document = start(base={"coverage_percentage": 65.0, "build_status": "success"}).turn().to_dict()
        metrics = document["iteration_metrics"]
        assert metrics["testing"] == {"coverage_percentage": 65.0}
        assert metrics["quality"] == {"build_status": "success"}
        assert "codebase" not in metrics
        assert "baseline_stored" not in document

    def test_deltas(self, loop):
        deltas = loop.records[2].to_dict()["iteration_metrics"]["deltas"]
        assert list(deltas) == ["from_previous", "from_baseline"]
        assert deltas["from_previous"]["coverage_delta"] == -3.0
        assert deltas["from_baseline"]["coverage_delta"] == 2.0
        assert deltas["from_previous"]["tests_failed_delta"] == 1

    def test_scores_and_where_they_come_from(self, loop):
        metrics = loop.records[1].to_dict()["iteration_metrics"]
        assert metrics["score"] == "computed"
        assert metrics["adjusted_score"] == loop.records[1].adjusted_score
        assert list(metrics["breakdown"]) == list(metrics["weights"])
        assert sum(metrics["weights"].values()) == pytest.approx(1.0)
        assert metrics["components"]["coverage_percentage"] == 85.0
        assert (metrics["evidence"], metrics["verified"]) == (1.0, True)

    def test_why_an_iteration_did_not_take_the_place_of_the_one_kept(self, loop):
        documents = [record.to_dict()["iteration_metrics"] for record in loop.records]
        assert [each["kept_before"] for each in documents] == [None, 0, 1]
        assert [each["not_kept"] for each in documents] == [None, None, "breaks b, which passes in 1"]

    def test_dimension_scores_have_four_decimals(self, start):
        metrics = start(tests_passed=7, tests_failed=3).last.to_dict()["iteration_metrics"]
        assert metrics["breakdown"]["validation"] == 90.0
        metrics = start(tests_passed=5, tests_failed=2, lint_errors=1).last.to_dict()["iteration_metrics"]
        assert metrics["breakdown"]["validation"] == 81.6667

    def test_what_is_absent_is_null(self, start):
        record = start().turn(coverage_percentage=None)
        metrics = record.to_dict()["iteration_metrics"]
        assert metrics["components"]["coverage_percentage"] is None
        assert metrics["evidence"] == 0.9091
        assert metrics["adjusted_because"] is None
        assert (metrics["integrity"], metrics["usage"], metrics["blocked"], metrics["tree"]) == (None, None, None, None)

    def test_what_came_with_the_iteration(self, loop):
        metrics = loop.records[2].to_dict()["iteration_metrics"]
        assert (metrics["usage"], metrics["tree"], metrics["previous_iteration"]) == ({"turns": 4}, "f00", 1)

    def test_a_given_score_has_no_breakdown(self, start):
        metrics = start(score=0.5).last.to_dict()["iteration_metrics"]
        assert (metrics["score"], metrics["breakdown"], metrics["weights"]) == ("given", {}, {})

    def test_recommendation(self, loop):
        assert loop.records[2].to_dict()["recommendation"] == {
            "action": "rollback",
            "target_iteration": 1,
            "reason": "Rollback to iteration 1 due to regression: Previously passing tests now failing: b",
            "confidence": 0.95,
            "alternatives": [],
        }

    def test_tracker(self, loop):
        tracker = loop.records[2].to_dict()["best_iteration_tracker"]
        assert tracker["current_best"] == "iteration_1"
        assert tracker["best_quality_score"] == loop.records[1].quality_score
        assert tracker["current_iteration_score"] == loop.records[2].quality_score
        assert tracker["best_is_verified"] is True


class TestAlerts:
    def test_a_new_one_has_all_that_a_person_needs(self, loop):
        first, second = loop.records[2].to_dict()["iteration_metrics"]["alerts"]
        assert first == {
            "id": "it2-working_tests_failing",
            "severity": "CRITICAL",
            "type": "working_tests_failing",
            "message": "Previously passing tests now failing: b",
            "action": "immediate_alert_and_rollback",
            "triggered_at": "iteration_2",
            "state": "new",
            "tests": ["b"],
            "tests_total": 1,
        }
        assert second["type"] == "coverage_regression"
        assert "tests" not in second

    def test_a_note_is_told(self, loop):
        loop.turn(tests={"a": P}, lint_errors=0)
        deletion = loop.last.to_dict()["iteration_metrics"]["alerts"][0]
        assert (deletion["type"], deletion["note"]) == ("test_deletion", "gone: b, c")

    def test_a_long_list_of_tests_is_cut_and_counted(self, start):
        loop = start(tests={f"t{number:02d}": P for number in range(25)})
        loop.turn(tests={f"t{number:02d}": F for number in range(25)})
        (alert,) = loop.last.to_dict()["iteration_metrics"]["alerts"]
        assert alert["tests"] == [f"t{number:02d}" for number in range(20)]
        assert alert["tests_total"] == 25

    def test_one_that_is_carried_is_told_in_short(self, loop):
        loop.turn(tests={"a": P, "b": F, "c": P}, coverage_percentage=82.0)
        metrics = loop.last.to_dict()["iteration_metrics"]
        assert metrics["alerts"] == []
        assert metrics["open_alerts"] == [
            {
                "id": "it2-working_tests_failing",
                "severity": "CRITICAL",
                "type": "working_tests_failing",
                "message": "Previously passing tests now failing: b",
                "triggered_at": "iteration_2",
                "state": "open",
            }
        ]

    def test_one_that_closes_is_named(self, loop):
        loop.turn(tests={"a": P, "b": P, "c": P}, coverage_percentage=82.0)
        metrics = loop.last.to_dict()["iteration_metrics"]
        assert (metrics["open_alerts"], metrics["closed_alerts"]) == ([], ["it2-working_tests_failing"])

    def test_an_accepted_one_says_so(self, loop):
        again = loop.again(loop.alert("working_tests_failing"))
        alerts = again.last.to_dict()["iteration_metrics"]["alerts"]
        assert [alert["state"] for alert in alerts] == ["accepted", "new"]


class TestSelection:
    @pytest.fixture
    def document(self, start):
        loop = start(base={"test_count": 10, "tests_passed": 10, "tests_failed": 0}, score=0.5)
        for score in (0.65, 0.88, 0.85):
            loop.turn(score=score)
        return (
            loop.select()
            ._replace(folder=".aiwg/ralph/ralph-001", applied={"files_copied": []}, report="report.md")
            .to_dict()
        )

    def test_the_seed_s_fields_in_its_order(self, document):
        selection = document["best_output_selection"]
        seed = [
            "loop_id",
            "total_iterations",
            "selected_iteration",
            "final_iteration",
            "quality_trajectory",
            "selection_criteria",
            "selected_iteration_details",
            "comparison_to_final",
            "selection_rationale",
            "degradation_analysis",
            "artifacts_applied",
            "report_generated",
        ]
        assert [key for key in selection if key in seed] == seed
        assert document["schema_version"] == 1
        assert document["message"] == "Selected iteration 2 (quality: 0.88 vs final 0.85)"

    def test_values(self, document):
        selection = document["best_output_selection"]
        assert selection["quality_trajectory"] == {"iteration_1": 0.65, "iteration_2": 0.88, "iteration_3": 0.85}
        assert selection["adjusted_quality_trajectory"] == selection["quality_trajectory"]
        assert selection["selection_criteria"] == {
            "primary": "highest_quality_score",
            "threshold": 0.7,
            "verification_required": True,
        }
        assert selection["comparison_to_final"] == {
            "final_quality": 0.85,
            "selected_quality": 0.88,
            "adjusted_final_quality": 0.85,
            "adjusted_selected_quality": 0.88,
            "delta": 0.03,
            "improvement_percentage": 3.5,
            "reason_final_not_selected": "Quality degraded after iteration 2",
        }
        assert selection["degradation_analysis"] == {
            "degradation_started": "iteration_3",
            "pattern": "over_refinement",
            "iterations_after_peak": 1,
            "quality_loss": "-3.41%",
        }
        assert selection["artifacts_applied"] == {"files_copied": []}
        assert selection["report_generated"] == "report.md"
        assert (selection["accepted"], selection["verified"], selection["override_reason"]) == (True, True, None)
        assert (selection["mode"], selection["peak_by_quality_score"]) == ("walk", 2)

    def test_details_of_the_selected_one(self, document):
        assert document["best_output_selection"]["selected_iteration_details"] == {
            "iteration": 2,
            "quality_score": 0.88,
            "adjusted_score": 0.88,
            "timestamp": "2026-02-02T10:02:00Z",
            "testing": {
                "test_count": 10,
                "tests_passed": 10,
                "tests_failed": 0,
                "tests_skipped": 0,
                "pass_rate": 100.0,
            },
            "artifacts_path": ".aiwg/ralph/ralph-001/iterations/iteration-002/",
        }

    @pytest.mark.parametrize(
        ("mode", "primary", "verified"),
        [
            ("walk", "highest_quality_score", True),
            ("highest_quality_verified", "highest_quality_score", True),
            ("highest_quality", "highest_quality_score", False),
            ("most_recent_above_threshold", "most_recent_above_threshold", True),
        ],
    )
    def test_criteria_of_each_mode(self, start, mode, primary, verified):
        loop = start(base={}, score=0.5)
        selection = loop.select(mode=mode).to_dict()["best_output_selection"]
        assert selection["selection_criteria"]["primary"] == primary
        assert selection["selection_criteria"]["verification_required"] is verified

    def test_where_the_baseline_is_selected(self, start):
        loop = start(base={}, score=0.5)
        selection = loop.select()._replace(folder="f").to_dict()["best_output_selection"]
        assert (selection["total_iterations"], selection["quality_trajectory"]) == (0, {})
        assert selection["degradation_analysis"]["degradation_started"] is None
        assert selection["degradation_analysis"]["quality_loss"] == "0.00%"
        assert selection["selected_iteration_details"]["artifacts_path"] == "f/iterations/iteration-000/"


def test_a_record_is_one_line_that_a_person_can_read(loop):
    shown = repr(loop.records[2])
    assert (loop.records[2].action, loop.records[2].alert_ids[0]) == ("rollback", "it2-working_tests_failing")
    assert "\n" not in shown
    assert "action='rollback'" in shown


def test_an_alert_by_itself_has_no_state(loop):
    alert = loop.records[2].alerts[0]
    assert "state" not in alert.to_dict()
    assert alert.to_dict("new") == {**alert.to_dict(), "state": "new"}
