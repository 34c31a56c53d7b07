"""Where a loop stands, as state.json holds it."""

from ralph_tracker.store.summary import Summary, summary_from
from tests.tables import table

DECISION = {
    "action": "continue",
    "reason": "Continue - forward progress detected",
    "confidence": 0.9,
    "target_iteration": None,
    "alternatives": [],
    "rule": 11,
}
ALERT = {"id": "it3-stalled", "type": "stalled", "severity": "MEDIUM", "message": "no progress"}
WHOLE = Summary(
    loop_id="ralph-001",
    status="running",
    iteration=3,
    head=2,
    started_at="2026-02-02T10:00:00Z",
    updated_at="2026-02-02T10:03:00Z",
    classification="forward",
    message="Forward progress detected, continue",
    quality_score=0.8,
    adjusted_score=0.7,
    best_iteration=1,
    best_quality_score=0.9,
    best_adjusted_score=0.8,
    verified=True,
    decision=DECISION,
    alerts=(ALERT,),
    accepted=("it1-stalled",),
    cost_usd=1.5,
    carried_out={"target": 2, "after": 3},
)


class TestSummary:
    def test_comes_back_from_its_document_as_it_was(self):
        plain = {**WHOLE.plain(), "alerts": [ALERT], "accepted": ["it1-stalled"]}
        assert summary_from(plain) == WHOLE

    def test_says_which_schema_it_has(self):
        assert WHOLE.plain()["schema_version"] == 1

    @table(
        "plain",
        [
            None,
            [],
            {},
            {**WHOLE.plain(), "schema_version": 0},
            {**WHOLE.plain(), "alerts": None},
            {**WHOLE.plain(), "unknown": 1},
            {**WHOLE.plain(), "iteration": "3"},
            {**WHOLE.plain(), "head": None},
            {**WHOLE.plain(), "status": "runnin"},
            {**WHOLE.plain(), "decision": []},
            {**WHOLE.plain(), "decision": {**DECISION, "action": "go"}},
            {**WHOLE.plain(), "decision": {**DECISION, "confidence": "0.9"}},
            {**WHOLE.plain(), "decision": {"action": "continue"}},
            {"schema_version": 1},
        ],
        ids=[
            "nothing",
            "a list",
            "empty",
            "an unknown schema",
            "no alerts",
            "an unknown key",
            "a number as text",
            "no head",
            "an unknown status",
            "a decision that is none",
            "an unknown action",
            "a confidence as text",
            "half a decision",
            "all missing",
        ],
    )
    def test_is_none_where_the_document_is_damaged(self, plain):
        assert summary_from(plain) is None
