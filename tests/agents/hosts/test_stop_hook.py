"""The end of a turn: what is measured, who is told to go on, who is let go."""

import json
import os
import subprocess
import sys

import pytest

from ralph_tracker.agents.hosts.claude_code import CAP, block_cap
from ralph_tracker.store.layout import RUN_LOCK
from ralph_tracker.store.lock import hold_lock
from tests.tables import table

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

RED = {"test_add": False, "test_sub": True}
GREEN = {"test_add": True, "test_sub": True}


class TestGoingOn:
    def test_a_failing_test_holds_the_agent_and_is_named(self, session):
        session.begin(**RED)
        answer = session.stop()
        assert answer.keys() == {"decision", "reason"}
        assert answer["decision"] == "block"
        lines = answer["reason"].split("\n")
        assert lines[1:4] == ["Iteration 1 changed no file.", "Failing tests:", "- s::t::test_add"]
        assert lines[-1] == "Continue with the task; it is measured again when you stop."
        assert session.state["iteration"] == 1
        assert json.loads((session.loop / "agent-turns.json").read_text())["host"] == "claude-code"

    def test_the_model_that_a_host_names_is_kept(self, session):
        session.begin(**RED)
        for fields in ({"model": "opus"}, {}):
            session.stop(**fields)
            assert json.loads((session.loop / "agent-turns.json").read_text())["model"] == "opus"

    def test_a_rollback_is_carried_out_and_told(self, session):
        session.begin(**GREEN)
        session.tests(test_sub=True)
        answer = session.stop()
        assert answer["decision"] == "block"
        assert "CRITICAL it1-test_deletion" in answer["reason"]
        assert "Rolled back: the files are those of iteration 0 again" in answer["reason"]
        assert "test_add" in (session.root / "results.xml").read_text()
        assert session.state["carried_out"]["target"] == 0

    def test_a_stall_is_told_the_agent_first_and_ends_the_loop_two_iterations_later(self, session):
        session.begin(**RED)
        answers = [session.stop(active=number > 0) for number in range(5)]
        assert [answer.get("decision") for answer in answers] == ["block"] * 4 + [None]
        assert answers[4]["systemMessage"].startswith("ralph-tracker: Stopped: ")
        ends = "The loop ends after {} without progress."
        assert "The loop ends" not in answers[1]["reason"]
        assert ends.format("2 more iterations") in answers[2]["reason"]
        assert ends.format("1 more iteration") in answers[3]["reason"]
        assert (session.state["iteration"], session.state["status"]) == (5, "finished")

    def test_a_stop_without_changes_ends_the_loop_where_everything_passes(self, session):
        session.begin(**GREEN)
        done = "Stopped: Done: nothing changed and everything passes. Next: `ralph-tracker status` says more"
        assert session.stop() == {"systemMessage": f"ralph-tracker: {done}"}
        assert session.noted()[-1]["reason"] == "Done: nothing changed and everything passes"
        assert (session.state["iteration"], session.state["status"]) == (1, "finished")


class TestFailEarly:
    """The installed hooks with `feedback.fail_early`: real pytest, since a runner has to take files."""

    @pytest.fixture
    def early(self, session):
        run = f'"{sys.executable} -m pytest -q -p no:cacheprovider --junitxml={{reports}}/junit.xml"'
        check = f'{{run: {run}, reports: ["{{reports}}/junit.xml"]}}'
        config = f"feedback: {{fail_early: true}}\nchecks: {{tests: {check}}}\n"
        (session.root / "ralph-tracker.yaml").write_text(config)
        (session.root / "test_box.py").write_text("def test_lid():\n    assert False\n")
        session.begin()
        return session

    def test_tests_that_still_fail_hold_the_agent_without_a_record_twice_in_a_row(self, early):
        recorded = []
        for number in range(4):
            (early.root / "box.py").write_text(f"lid = {number}\n")
            early.send("PostToolUse", tool_name="Edit", tool_input={"file_path": "box.py"})
            answer = early.stop(active=number > 0)
            assert answer["decision"] == "block"
            assert "test_lid" in answer["reason"]
            recorded.append(early.state["iteration"])
        assert recorded == [0, 0, 1, 1]
        assert answer["reason"].startswith("1 of 1 test that failed in iteration 1 still fail: ")
        assert answer["reason"].endswith("Continue with the task; all is measured once they pass.")

    def test_a_stop_without_a_tool_call_is_measured(self, early):
        early.stop()
        assert early.state["iteration"] == 0
        early.stop(active=True)
        assert early.state["iteration"] == 1

    def test_once_they_pass_the_iteration_is_recorded(self, early):
        (early.root / "test_box.py").write_text("def test_lid():\n    assert True\n")
        early.stop()
        assert early.state["iteration"] == 1
        assert early.record(1)["testing"]["tests_passed"] == 1


class TestLettingGo:
    def test_a_loop_that_reached_its_target_ends_and_its_output_is_chosen(self, session):
        session.begin(**RED)
        session.tests(**GREEN)
        assert session.stop()["systemMessage"].startswith("ralph-tracker: Stopped: ")
        assert session.state["status"] == "finished"
        assert (session.loop / "selection.yaml").exists()
        assert (session.root / ".aiwg" / "output" / "results.xml").exists()
        assert session.noted()[-1]["action"] == "stop"

    def test_a_loop_that_needs_a_person_goes_on_being_one(self, session):
        (session.root / "ralph-tracker.yaml").write_text(
            (session.root / "ralph-tracker.yaml").read_text() + "decision: {rollbacks_in_a_row: 1}\n"
        )
        session.begin(**GREEN)
        session.tests(test_sub=True)
        assert session.stop()["systemMessage"].startswith("ralph-tracker: A person is needed: repeated regression")
        assert session.state["status"] == "running"
        assert session.noted()[-1]["action"] == "escalate"
        assert session.noted()[-1]["reason"].startswith("Escalate to human")

    def test_the_person_is_told_as_the_loop_says(self, session):
        config = session.root / "ralph-tracker.yaml"
        told = session.root.parent / "told.txt"
        tell = f"notify: {{command: 'echo \"$RALPH_EVENT $RALPH_TEXT\" >> {told}'}}\n"
        config.write_text(config.read_text() + "decision: {rollbacks_in_a_row: 1}\n" + tell)
        session.begin(**GREEN)
        session.tests(test_sub=True)
        assert session.stop().keys() == {"systemMessage"}
        assert told.read_text().startswith("escalate ralph-tracker: A person is needed: repeated regression")

    def test_an_agent_that_asked_a_person_is_let_go_and_measured_again_once_answered(self, session):
        session.begin(**RED)
        session.tracker.post_iteration(None, blocked="which API key?")
        asked = "A person is needed: blocked: which API key? Next: `ralph-tracker status` says more"
        assert session.stop() == {"systemMessage": f"ralph-tracker: {asked}"}
        assert (session.state["iteration"], session.state["status"]) == (1, "running")
        later = session.loop / "agent-turns.json"
        turns = json.loads(later.read_text())
        later.write_text(json.dumps({**turns, "ended": turns["ended"] + 2, "session": "another"}))
        assert session.stop()["decision"] == "block"
        assert session.state["iteration"] == 2

    @pytest.mark.parametrize(
        "fields",
        [{"background_tasks": [{"id": "1", "status": "running"}]}, {"permission_mode": "plan"}],
        ids=["work in the background", "a plan"],
    )
    def test_what_is_not_the_end_of_work_is_not_measured(self, session, fields):
        session.begin(**RED)
        assert session.stop(**fields) is None
        assert session.state["iteration"] == 0

    def test_after_the_end_of_the_loop_nothing_is_measured(self, session):
        session.begin(**RED)
        session.tracker.select_output()
        assert session.stop() is None
        assert session.state["iteration"] == 0

    def test_the_same_stop_seen_by_a_second_hook_is_measured_once(self, session):
        session.begin(**RED)
        assert session.stop()["decision"] == "block"
        turns = json.loads((session.loop / "agent-turns.json").read_text())
        (session.loop / "agent-turns.json").write_text(json.dumps({**turns, "ended": turns["ended"] + 3600}))
        assert session.stop() is None
        assert session.state["iteration"] == 1

    def test_a_loop_that_another_plugin_drives_is_recorded_only(self, session):
        (session.root / ".claude").mkdir()
        (session.root / ".claude" / "ralph-loop.local.md").write_text("---\nactive: true\niteration: 7\n---\nwork\n")
        session.begin(**GREEN)
        session.tests(test_sub=True)
        assert session.stop() is None
        assert session.state["decision"]["action"] == "rollback"
        assert session.state["carried_out"] is None
        line = session.noted()[-1]
        assert (line["driven_by"], line["driven_at"], line["action"]) == ("ralph-wiggum", 7, "rollback")

    def test_a_loop_of_another_plugin_ends_without_being_taken_over(self, session):
        state = session.root / ".claude" / "ralph-loop.local.md"
        state.parent.mkdir()
        state.write_text("---\nactive: true\niteration: 7\n---\nwork\n")
        session.begin(**RED)
        assert session.stop(prompt_id="a") is None
        state.unlink()  # as the other hook does at its end, before ours is asked
        assert session.stop(prompt_id="a", active=True) is None
        line = session.noted()[-1]
        assert (line["iteration"], line["driven_by"], line["driven_at"]) == (2, "ralph-wiggum", None)
        assert session.stop(prompt_id="b")["decision"] == "block", "the next prompt is not the other loop's"


class TestWhoseSession:
    """A loop is driven by one session: others in the same folder are let go, their work is not touched."""

    def test_another_session_is_let_go_and_its_work_stays(self, session):
        session.begin(**GREEN)
        session.tests(test_add=True, test_sub=False)
        assert session.stop()["decision"] == "block"
        session.tests(test_sub=True)
        answer = session.stop(session_id="a person's")
        assert answer == {
            "systemMessage": "ralph-tracker: another session drives loop ralph-001; this one is not measured"
        }
        assert "test_add" not in (session.root / "results.xml").read_text()
        assert session.state["iteration"] == 1
        assert session.noted()[-1]["let_go"].startswith("another session")

    def test_once_the_client_has_ended_another_session_drives_it(self, session):
        session.begin(**RED)
        session.stop()
        ended = subprocess.Popen(["true"])
        ended.wait()
        turns = json.loads((session.loop / "agent-turns.json").read_text())
        (session.loop / "agent-turns.json").write_text(json.dumps({**turns, "client": ended.pid}))
        assert session.stop(session_id="another")["decision"] == "block"
        assert session.stop().keys() == {"systemMessage"}

    def test_a_session_that_was_cleared_is_followed(self, session):
        session.begin(**RED)
        session.stop()
        session.send("SessionStart", source="clear", session_id="another")
        assert session.stop(session_id="another")["decision"] == "block"

    def test_at_its_start_another_session_is_told(self, session):
        session.begin(**RED)
        session.stop()
        told = session.send("SessionStart", source="startup", session_id="another")["hookSpecificOutput"]
        assert told["additionalContext"].startswith("Another session drives the loop ralph-001")
        assert session.stop()["decision"] == "block"

    def test_a_session_that_begins_a_loop_drives_it(self, session):
        session.environment["RALPH_TRACKER_LOOP"] = "1"
        session.send("SessionStart", source="startup")
        assert session.stop(session_id="another").keys() == {"systemMessage"}

    def test_beside_a_run_no_session_is_measured(self, session):
        session.begin(**RED)
        with hold_lock(session.loop / RUN_LOCK, "run", 0):
            assert session.stop()["systemMessage"].startswith("ralph-tracker: `ralph-tracker run` drives loop")
        assert session.state["iteration"] == 0

    @pytest.mark.parametrize(("tool", "is_held"), [(None, False), ("Read", False), ("Bash", True), ("Edit", True)])
    def test_a_session_that_only_answers_a_question_is_let_go(self, session, tool, is_held):
        session.begin(**RED)
        session.send("UserPromptSubmit", prompt="What does this project do?")
        if tool:
            session.send("PostToolUse", tool_name=tool, tool_input={"file_path": "a.py"}, tool_use_id="1")
        answer = session.stop()
        assert (answer is not None) == is_held
        assert session.state["iteration"] == int(is_held)

    def test_a_subagent_is_let_go(self, session):
        session.begin(**RED)
        assert session.stop(agent_id="a1") is None
        assert session.state["iteration"] == 0

    def test_a_session_with_a_schedule_of_its_own_is_recorded_only(self, session):
        session.begin(**RED)
        assert session.stop(session_crons=[{"id": "1", "cron": "*/5 * * * *"}]) is None
        assert session.state["iteration"] == 1
        assert session.noted()[-1]["driven_by"] == "its schedule"


class TestTheClientsLimit:
    def test_the_last_block_says_so_and_the_next_stop_is_let_go_with_a_word(self, session):
        session.environment[CAP] = "2"
        session.begin(**RED)
        first, second, third = (session.stop(active=number > 0) for number in range(3))
        assert "last time" not in first["reason"]
        assert second["reason"].split("\n")[-1].startswith("This is the last time: Claude Code lets a hook hold")
        assert third.keys() == {"systemMessage"}
        assert session.state["iteration"] == 3

    def test_beyond_the_limit_the_agent_is_let_go_with_a_word(self, session):
        session.environment[CAP] = "1"
        session.begin(**RED)
        session.stop()
        answer = session.stop(active=True)
        assert answer.keys() == {"systemMessage"}
        assert answer["systemMessage"].startswith("ralph-tracker: iteration 2 is on record. Claude Code lets a hook")
        assert session.state["status"] == "running"

    @pytest.mark.parametrize(
        ("between", "fields"),
        [
            (None, {"active": False}),
            (None, {"active": True, "prompt_id": "another"}),
            ("PostToolBatch", {"active": True}),
        ],
        ids=["a new turn", "another prompt", "a tool was called"],
    )
    def test_the_count_begins_anew(self, session, between, fields):
        session.environment[CAP] = "1"
        session.begin(**RED)
        session.stop()
        if between:
            session.send(between, tool_calls=[])
        assert session.stop(**fields)["decision"] == "block"

    def test_a_tool_of_another_session_does_not_begin_it_anew(self, session):
        session.environment[CAP] = "1"
        session.begin(**RED)
        session.stop()
        session.send("PostToolBatch", tool_calls=[], session_id="another")
        with (session.loop / "agent-events.jsonl").open("a") as file:
            file.write("torn\n[]\n")
        assert "systemMessage" in session.stop(active=True)

    @table(
        ("value", "cap"),
        [(None, 8), ("", 8), ("x", 8), ("3", 3), (" 12x", 12), ("0", None), ("-1", None)],
    )
    def test_the_limit_is_read_as_the_client_reads_it(self, value, cap):
        assert block_cap({} if value is None else {CAP: value}) == cap


class TestUsage:
    def test_what_came_since_the_last_iteration_is_on_its_record(self, session):
        session.begin(**RED)
        session.said(1, blocks=3)
        session.said(2, text="done")
        session.stop(last_assistant_message="done")
        session.said(3, text="again")
        session.stop(active=True, last_assistant_message="again")
        one, two = (session.record(number)["usage"] for number in (1, 2))
        assert (one["input_tokens"], one["output_tokens"], one["turns"]) == (2240, 20, 2)
        assert (two["input_tokens"], two["output_tokens"], two["turns"]) == (1120, 10, 1)
        assert one.get("cost_usd") is None

    def test_an_output_that_is_not_told_yet_is_unknown(self, session):
        session.begin(**RED)
        session.said(1, message={"stop_reason": None})
        session.stop()
        assert session.record(1)["usage"].get("output_tokens") is None
        assert session.record(1)["usage"]["input_tokens"] == 1120

    def test_without_a_transcript_nothing_is_known(self, session):
        session.begin(**RED)
        session.stop(transcript_path="/nowhere/at/all.jsonl")
        assert session.record(1)["usage"] is None

    def test_an_answer_that_is_written_late_is_not_waited_for_for_ever(self, session):
        session.begin(**RED)
        session.said(1, text="something else")
        assert session.stop(last_assistant_message="never written")["decision"] == "block"
        assert session.record(1)["usage"]["turns"] == 1

    def test_the_cost_of_the_status_line_is_on_the_record(self, session):
        session.begin(**RED)
        payload = {"session_id": "5e55", "cost": {"total_cost_usd": 0.5, "total_duration_ms": 0}}
        session.status(payload)
        session.stop()
        session.status({**payload, "cost": {"total_cost_usd": 0.75, "total_duration_ms": 0}})
        session.stop(active=True)
        assert [session.record(number)["usage"]["cost_usd"] for number in (1, 2)] == [0.5, 0.25]

    def test_what_cannot_be_read_costs_no_iteration(self, session):
        session.begin(**RED)
        session.stop(transcript_path="a\0b")
        assert session.state["iteration"] == 1
        assert session.troubles == ["ValueError: embedded null byte"]


class TestTrouble:
    def test_a_loop_that_is_damaged_lets_the_agent_go_and_that_is_noted(self, session):
        session.begin(**RED)
        (session.loop / "loop.yaml").write_text("configuration: [")
        assert session.stop() is None
        (trouble,) = session.troubles
        assert trouble.startswith("RecordError: .aiwg/ralph/ralph-001/loop.yaml: ")

    def test_usage_of_an_iteration_that_failed_is_on_the_next_one(self, session):
        session.begin(**RED)
        session.said(1)
        kept = (session.loop / "loop.yaml").read_text()
        (session.loop / "loop.yaml").write_text("configuration: [")
        session.stop()
        (session.loop / "loop.yaml").write_text(kept)
        session.said(2)
        session.stop(active=True)
        assert session.record(1)["usage"]["turns"] == 2

    def test_what_is_remembered_may_be_damaged(self, session):
        session.begin(**RED)
        (session.loop / "agent-turns.json").write_text('{"session": 1}')
        assert session.stop()["decision"] == "block"

    def test_a_folder_that_is_gone_is_no_traceback(self, session, tmp_path, monkeypatch):
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        del session.environment["CLAUDE_PROJECT_DIR"]
        assert session.stop() is None
        os.chdir(tmp_path)
