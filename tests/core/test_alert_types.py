"""The table of alert types, and their order (semantics § 5)."""

from typing import get_args

import pytest

from ralph_tracker.core.alert_types import TYPES, Alert, in_order
from ralph_tracker.core.integrity_result import Severity, SeverityWord

P, F, S = "passed", "failed", "skipped"

_TABLE = [
    ("CRITICAL", "test_deletion", "immediate_alert_and_rollback"),
    ("CRITICAL", "working_tests_failing", "immediate_alert_and_rollback"),
    ("CRITICAL", "build_broken", "immediate_alert_and_rollback"),
    ("CRITICAL", "infinite_loop", "force_terminate"),
    ("HIGH", "functionality_loss", "alert_and_flag_iteration"),
    ("HIGH", "coverage_regression", "alert_and_flag_iteration"),
    ("HIGH", "error_increase", "alert_regression"),
    ("HIGH", "metric_missing", "alert_and_flag_iteration"),
    ("HIGH", "metric_cycling", "escalate_to_human"),
    ("HIGH", "config_changed", "alert_and_review"),
    ("MEDIUM", "file_deletion", "alert_and_review"),
    ("MEDIUM", "complexity_explosion", "alert_complexity"),
    ("MEDIUM", "tests_replaced", "alert_and_review"),
    ("MEDIUM", "tests_dropped", "alert_and_review"),
    ("MEDIUM", "flaky_test", "alert_and_review"),
    ("MEDIUM", "stalled", "suggest_termination"),
    ("CRITICAL", "failure_hidden", "immediate_alert_and_rollback"),
    ("HIGH", "green_by_edit", "alert_and_flag_iteration"),
    ("HIGH", "demand_changed", "alert_and_flag_iteration"),
    ("CRITICAL", "outcome_forged", "immediate_alert_and_rollback"),
    ("HIGH", "unproven", "alert_and_flag_iteration"),
    ("HIGH", "removed_with_code", "alert_and_flag_iteration"),
    ("HIGH", "test_detected", "alert_and_flag_iteration"),
    ("HIGH", "runner_forged", "alert_and_flag_iteration"),
    ("HIGH", "equality_overloaded", "alert_and_flag_iteration"),
    ("HIGH", "special_cased", "alert_and_flag_iteration"),
    ("HIGH", "gate_lowered", "alert_and_flag_iteration"),
    ("CRITICAL", "records_edited", "immediate_alert_and_rollback"),
    ("HIGH", "not_looked_into", "alert_and_flag_iteration"),
]


def test_severities_and_actions():
    kinds = [(kind.severity.name, kind.name, kind.action) for kind in TYPES]
    assert [kind for kind in kinds if kind in _TABLE] == _TABLE


def test_which_stay_open():
    of_tests = {"test_deletion", "functionality_loss", "working_tests_failing", "build_broken", "metric_missing"}
    found = {kind.name for kind in TYPES if kind.rule is not None}
    assert {kind.name for kind in TYPES if kind.lasting} == of_tests | found


def test_lower_is_worse():
    assert Severity.CRITICAL < Severity.HIGH < Severity.MEDIUM


def test_documents_know_a_word_for_each_severity():
    assert tuple(each.word for each in Severity) == get_args(SeverityWord)


def test_an_alert_says_the_name_of_its_type():
    assert Alert(kind=TYPES[0], iteration=2, message="").type == TYPES[0].name


@pytest.mark.parametrize(("kind", "title"), [("coverage_regression", "Coverage regression"), ("stalled", "Stalled")])
def test_a_title_is_the_type_with_spaces(make_alert, kind, title):
    assert make_alert(kind).kind.title == title


def test_ids(make_alert):
    assert make_alert("test_deletion", 3).id == "it3-test_deletion"
    assert make_alert("metric_missing", 12, group="lint").id == "it12-metric_missing-lint"
    assert make_alert("test_deletion", 3).triggered_at == "iteration_3"


def test_sorted_by_severity_then_type_then_age(make_alert):
    wanted = [
        make_alert("test_deletion", 2),
        make_alert("test_deletion", 5),
        make_alert("working_tests_failing", 1),
        make_alert("coverage_regression", 5),
        make_alert("functionality_loss", 1),
        make_alert("metric_missing", 4, group="lint"),
        make_alert("metric_missing", 4, group="tests"),
        make_alert("file_deletion", 0),
        make_alert("stalled", 0),
    ]
    assert in_order(reversed(wanted)) == tuple(wanted)
    assert in_order(wanted[3:] + wanted[:3]) == tuple(wanted)
