"""Which documents that we did not write can be shown; those that cannot are in tests/cli/test_foreign_loops.py."""

from ralph_tracker.report.markdown import iteration_report
from ralph_tracker.store.foreign_records import why_not_showable
from tests.tables import table


@table(
    "document",
    [
        {"iteration_metrics": {"iteration": 0}},
        {"iteration_metrics": {"iteration": 1, "testing": None, "alerts": None, "deltas": {}, "notes": []}},
        {"iteration_metrics": {"iteration": 1, "of": "another tool"}, "more": {"keys": 1}},
        {"iteration_metrics": {"iteration": 1, "quality": {"build_status": "success", "lint_errors": 3}}},
        {"iteration_metrics": {"iteration": 1}, "best_iteration_tracker": None, "recommendation": {}},
        {"iteration_metrics": {"iteration": 1, "alerts": [{}]}, "best_iteration_tracker": {"current_best": 0}},
    ],
    ids=["number alone", "nothing in it", "more keys", "status", "no advice", "bare alert"],
)
def test_a_document_that_can_be_shown_is_shown(document):
    assert why_not_showable(document) is None
    assert iteration_report(document).startswith("## Iteration ")


@table("document", [{}, {"iteration_metrics": []}, {"iteration_metrics": {}}], ids=str)
def test_a_document_without_a_record_cannot_be_shown(document):
    assert why_not_showable(document).startswith("iteration_metrics")
