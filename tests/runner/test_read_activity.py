"""What happens in a loop now: who is at work since when, and the agent's latest words."""

import json

import pytest

from ralph_tracker.runner.attempt import logs_of
from ralph_tracker.runner.read_activity import activity_of, latest_words
from ralph_tracker.runner.saved_run import RunProgress, RunSettings
from ralph_tracker.store.layout import RUN_LOCK, LoopPaths
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.store.summary import Summary
from tests.tables import table

DECISION = {"action": "continue", "reason": "", "confidence": 1.0, "target_iteration": None, "alternatives": []}
SUMMARY = Summary(
    "ralph-001", "running", 2, 2, "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", "forward", "", 0.5, 0.5, 2, 0.5, 0.5,
    verified=True, decision=DECISION,
)  # fmt: skip
UPDATED = 1767229200.0


@pytest.fixture
def paths(tmp_path):
    """Return the paths of a loop whose folder is there."""
    found = LoopPaths(tmp_path, "ralph-001")
    found.folder.mkdir(parents=True)
    return found


def claude(*content):
    return json.dumps({"type": "assistant", "message": {"role": "assistant", "content": [*content]}})


@table(
    ("output", "words"),
    [
        (b"", ""),
        (b"one\ntwo\n\n  \n", "two"),
        (b"\x1b[31mred\x1b[0m\x07\n", "red"),
        (b"half of it \xff\xfe", "half of it \ufffd\ufffd"),
        (claude({"type": "text", "text": "I look at\nthe test"}).encode(), "I look at the test"),
        (
            claude({"type": "tool_use", "name": "Edit", "input": {"file_path": "a.py", "old_string": "x"}}).encode(),
            "a.py",
        ),
        (b'{"type":"item.started","item":{"type":"command_execution","command":"pytest -q"}}\n', "pytest -q"),
        (b'said\n{"type": "system", "session_id": "5e55"}\n', "said"),
        (b'{"text": "whole"}\n{"text": "cut off', '{"text": "cut off'),
        (b"[" * 5000 + b"\n" + b'{"text": ' * 5000, None),
    ],
)
def test_the_last_line_that_says_something_is_shown(output, words):
    shown = latest_words(output)
    assert words is None or shown == words
    assert "\n" not in shown
    assert len(shown) <= 200


def test_without_a_run_the_next_iteration_is_worked_on_since_the_last_was_recorded(paths):
    assert activity_of(paths, SUMMARY, {}) == ("working on iteration 3", UPDATED, "")


@table(
    ("action", "head", "what"),
    [
        ("escalate", 2, "waiting for a person to decide"),
        ("stop", 2, "waiting to be ended"),
        ("rollback", 2, "waiting for the rollback"),
        ("rollback", 1, "working on iteration 3"),
    ],
)
def test_nobody_is_said_to_work_while_a_decision_waits_to_be_carried_out(paths, action, head, what):
    decided = SUMMARY._replace(decision={**DECISION, "action": action, "target_iteration": 1}, head=head)
    assert activity_of(paths, decided, {}) == (what, UPDATED, "")


def test_an_iteration_that_is_begun_is_being_measured(paths):
    paths.attempt.write_text('{"schema_version": 1, "iteration": 3}')
    assert activity_of(paths, SUMMARY, {})[:2] == ("iteration 3 is being measured", paths.attempt.stat().st_mtime)


def test_a_loop_that_ended_does_nothing(paths):
    assert activity_of(paths, SUMMARY._replace(status="finished"), {}).what == "the loop is finished"


def test_a_run_says_what_its_agent_does_without_its_secrets(paths):
    progress = RunProgress("ralph-001", RunSettings(("agent",)), iteration=3, tried=2, at_work=True).write(paths)
    logs = logs_of(paths, 3, 2)
    logs.out.parent.mkdir()
    logs.err.write_text("warming up\n")
    with hold_lock(paths.folder / RUN_LOCK, "run"):
        assert activity_of(paths, SUMMARY, {}).what == "the agent works on iteration 3"
        assert activity_of(paths, SUMMARY, {}).said == "warming up"
        logs.out.write_text("using sesame-open-now\n")
        assert activity_of(paths, SUMMARY, {"API_TOKEN": "sesame-open-now"}).said == "using ***************"
        for phase, words in (
            ("measure", "iteration 3 is being measured"),
            ("select", "the best iteration is being selected"),
        ):
            progress._replace(phase=phase).write(paths)
            assert activity_of(paths, SUMMARY, {})[::2] == (words, "")
        progress._replace(at_work=False).write(paths)
        assert activity_of(paths, SUMMARY, {}).what == "iteration 3 waits for the agent to run again"
    assert activity_of(paths, SUMMARY, {}).what == "the run was interrupted in iteration 3"


def test_a_damaged_journal_counts_as_none(paths):
    for text in ("{", '{"phase": "agent"}', '{"phase": "agent", "iteration": "../x"}'):
        (paths.folder / "run.json").write_text(text)
        assert activity_of(paths, SUMMARY, {}).what == "working on iteration 3"
