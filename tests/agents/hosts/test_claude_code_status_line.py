"""The status line: where the loop stands, and what the session has cost in it."""

import json

import pytest

from ralph_tracker.agents.hosts.session_usage import costs_of

RED = {"test_add": False, "test_sub": True}


def payload(total, *, session="5e55", age_ms=0):
    return {"session_id": session, "cost": {"total_cost_usd": total, "total_duration_ms": age_ms}}


def spent(session):
    return {name: each["spent"] for name, each in costs_of(str(session.loop)).items()}


def test_it_is_one_line(session):
    session.begin(**RED)
    assert session.status({}) == "ralph-001 iteration 0 · score 65.6 % · cost unknown\n"


def test_it_has_the_best_the_alerts_and_the_cost(session):
    session.begin(test_add=True, test_sub=True)
    session.tests(test_add=False, test_sub=True)
    session.stop()
    line = session.status(payload(1.5))
    assert line == "ralph-001 iteration 1 · score 65.6 % · best 100 % (iteration 0) · alerts 1 · $1.50\n"


def test_what_is_on_record_and_what_came_since_are_one_cost(session):
    session.begin(**RED)
    session.status(payload(1.0))
    session.stop()
    assert session.state["cost_usd"] == 1.0
    assert session.status(payload(1.25)).endswith("· $1.25\n")
    (session.loop / "agent-costs.json").unlink()
    assert session.status({}).endswith("· $1.00\n")


@pytest.mark.parametrize("wish", [None, "1"])
def test_outside_of_a_loop_it_is_empty(session, wish):
    if wish:
        session.environment["RALPH_TRACKER_LOOP"] = wish
    assert session.status(payload(1.0)) == ""
    assert not (session.root / ".aiwg").exists()


def test_a_payload_that_is_none_is_noted(session):
    session.begin(**RED)
    assert session.status([]) == ""
    assert session.troubles == ["ValueError: the event on standard input is no JSON object"]


def test_a_cost_that_cannot_be_kept_costs_no_line(session):
    session.begin(**RED)
    (session.loop / "agent-costs.json").mkdir()
    assert session.status(payload(1.0)).startswith("ralph-001 iteration 0")
    assert session.troubles[0].startswith("IsADirectoryError: ")


class TestCosts:
    @pytest.mark.parametrize(
        ("totals", "cost"),
        [
            ((1.0,), 1.0),
            ((0.0, 1.0, 1.0, 3.0), 3.0),
            ((1.0, 0.0, 0.5), 1.5),
            ((1.0, 0.25, 0.75), 1.75),
            ((1.0, 0.0, 2.0), 3.0),
        ],
        ids=["one", "a growing counter", "cleared", "cleared between payloads", "cleared, then more than before"],
    )
    def test_a_session_costs_the_sum_of_its_steps(self, session, totals, cost):
        session.begin(**RED)
        for total in totals:
            session.status(payload(total))
        assert spent(session) == {"5e55": cost}

    def test_a_session_that_is_older_than_the_loop_counts_from_its_first_payload(self, session):
        session.begin(**RED)
        for total in (5.0, 5.5):
            session.status(payload(total, age_ms=10**9))
        assert spent(session) == {"5e55": 0.5}

    def test_a_session_of_unknown_age_counts_from_its_first_payload(self, session):
        session.begin(**RED)
        session.status({"session_id": "5e55", "cost": {"total_cost_usd": 5.0}})
        assert spent(session) == {"5e55": 0.0}

    def test_a_loop_of_unknown_age_is_taken_for_the_younger_one(self, session):
        session.begin(**RED)
        state = json.loads((session.loop / "state.json").read_text())
        (session.loop / "state.json").write_text(json.dumps({**state, "started_at": "once"}))
        session.status(payload(5.0))
        assert spent(session) == {"5e55": 0.0}

    def test_sessions_are_counted_apart(self, session):
        session.begin(**RED)
        session.status(payload(1.0))
        session.status(payload(2.0, session="other"))
        session.status(payload(1.5))
        assert spent(session) == {"5e55": 1.5, "other": 2.0}

    @pytest.mark.parametrize(
        "found",
        [
            {},
            {"cost": {"total_cost_usd": 1.0}},
            {"session_id": "5e55", "cost": 1},
            {"session_id": "5e55", "cost": {"total_cost_usd": "1"}},
            {"session_id": "5e55", "cost": {"total_cost_usd": -1.0}},
            {"session_id": "5e55", "cost": {"total_cost_usd": float("inf")}},
        ],
        ids=["nothing", "no session", "no costs", "words", "negative", "endless"],
    )
    def test_a_cost_that_is_none_is_unknown(self, session, found):
        session.begin(**RED)
        assert session.status(found).endswith("cost unknown\n")
        assert spent(session) == {}

    @pytest.mark.parametrize("text", ["{", "[]", '{"sessions": []}', '{"sessions": {"a": {"total": 1}}}'])
    def test_what_is_kept_may_be_damaged(self, session, text):
        session.begin(**RED)
        (session.loop / "agent-costs.json").write_text(text)
        assert spent(session) == {}

    def test_turns_that_are_damaged_count_as_none_on_record(self, session):
        session.begin(**RED)
        (session.loop / "agent-turns.json").write_text("{")
        assert session.status(payload(1.0)).endswith("· $1.00\n")
