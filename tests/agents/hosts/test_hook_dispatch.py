"""Events on standard input: what is answered, what is noted, and that nothing that goes wrong holds an agent."""

import json
import os
import pty
import subprocess

import pytest

from ralph_tracker.agents.hosts import hook_dispatch
from ralph_tracker.agents.hosts.hook_dispatch import READ_AT_MOST
from ralph_tracker.agents.hosts.host import answer_function
from ralph_tracker.tracker import Tracker

RED = {"test_add": False, "test_sub": True}
EVENTS = ("SessionStart", "Stop", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "StopFailure", "Other")


class TestOutsideOfALoop:
    @pytest.mark.parametrize("event", EVENTS)
    def test_nothing_is_said_and_nothing_is_written(self, session, event):
        before = sorted(session.root.rglob("*"))
        assert session.send(event) is None
        assert sorted(session.root.rglob("*")) == before

    def test_a_finished_loop_is_none(self, session):
        session.begin(**RED)
        session.tracker.select_output()
        assert session.send("SessionStart", source="startup") is None
        assert session.send("PostToolUse", tool_name="Read", tool_input={}) is None
        assert session.noted() == []

    def test_what_the_client_writes_is_taken(self, session):
        reading, writing = os.pipe()
        os.write(writing, b"x" * 1000)
        os.close(writing)
        assert answer_function("claude-code")(session.environment, reading) == ""
        assert os.read(reading, 1) == b""
        os.close(reading)

    def test_a_person_at_a_terminal_is_not_waited_for(self, session):
        ours, theirs = pty.openpty()
        assert answer_function("claude-code")(session.environment, theirs) == ""
        os.close(ours)
        os.close(theirs)


class TestPresence:
    def test_a_session_can_be_kept_out_of_a_running_loop(self, session):
        session.begin(**RED)
        session.environment["RALPH_TRACKER_LOOP"] = "0"
        assert session.stop() is None
        assert session.state["iteration"] == 0

    @pytest.mark.parametrize("place", [".claude/settings.json", ".claude/settings.local.json", "home"])
    def test_a_plugin_leaves_a_session_to_installed_hooks(self, session, place, tmp_path):
        session.begin(**RED)
        home = tmp_path / "home"
        session.environment |= {"RALPH_TRACKER_PLUGGED": "1", "HOME": str(home)}
        settings = home / ".claude/settings.json" if place == "home" else session.root / place
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text('{"hooks": {}}')
        assert session.send("SessionStart", source="startup") is not None, "those are no hooks of ours"
        settings.write_text(json.dumps({"hooks": {"Stop": "ralph-tracker agent hook claude-code"}}))
        assert session.send("SessionStart", source="startup") is None
        assert session.stop() is None
        del session.environment["RALPH_TRACKER_PLUGGED"]
        assert session.stop()["decision"] == "block"

    def test_without_a_project_that_is_named_the_working_directory_counts(self, session, monkeypatch):
        session.begin(**RED)
        del session.environment["CLAUDE_PROJECT_DIR"]
        monkeypatch.chdir(session.root)
        assert session.stop()["decision"] == "block"

    def test_a_linked_worktree_has_its_own_loop_or_none(self, session, monkeypatch, tmp_path):
        def git(*words):
            named = ("-c", "user.name=a", "-c", "user.email=a@b")
            subprocess.run(["git", *named, *words], cwd=session.root, check=True, capture_output=True)

        session.begin(**RED)
        git("init", "-q")
        git("add", "results.xml", "ralph-tracker.yaml")
        git("commit", "-qm", "x")
        git("worktree", "add", "-q", str(tmp_path / "linked"))
        (tmp_path / "linked" / "below").mkdir()
        monkeypatch.chdir(tmp_path / "linked" / "below")
        said = session.stop()
        assert "loop ralph-001 is not of this linked worktree" in said["systemMessage"]
        assert session.send("PostToolUse", tool_name="Read", tool_input={}) is None
        assert session.send("SessionStart", source="startup") is None
        assert (session.state["iteration"], session.noted()) == (0, [])
        Tracker(tmp_path / "linked").pre_loop(None)
        assert session.stop()["decision"] == "block"
        assert session.state["iteration"] == 0
        monkeypatch.chdir(tmp_path)
        assert session.stop()["decision"] == "block"
        assert session.state["iteration"] == 1

    def test_a_loop_that_is_named_counts(self, session):
        session.begin(**RED)
        (session.root / ".aiwg" / "ralph" / "current").unlink()
        assert session.stop() is None
        session.environment["RALPH_LOOP_ID"] = "ralph-001"
        assert session.stop()["decision"] == "block"

    @pytest.mark.parametrize("name", ["..", "../ralph-001", "none", ".", "a/b"])
    def test_a_name_that_leads_elsewhere_is_no_loop(self, session, name):
        session.begin(**RED)
        session.environment["RALPH_LOOP_ID"] = name
        assert session.send("PostToolUse", tool_name="Read", tool_input={}) is None
        assert session.noted() == []

    def test_a_loop_behind_a_link_is_another_projects(self, session):
        session.begin(**RED)
        base = session.root / ".aiwg"
        base.rename(session.root.parent / "theirs")
        base.symlink_to(session.root.parent / "theirs")
        assert session.send("PostToolUse", tool_name="Read", tool_input={}) is None
        assert session.noted() == []

    def test_a_state_that_is_damaged_is_left_to_those_who_mend_it(self, session):
        session.begin(**RED)
        (session.loop / "state.json").write_text("{")
        assert session.stop()["decision"] == "block"

    def test_a_session_that_run_drives_is_noted_only(self, session):
        session.begin(**RED)
        session.environment["RALPH_TRACKER_DRIVEN"] = "1"
        assert session.send("SessionStart", source="startup") is None
        assert session.stop() is None
        session.send("PostToolUse", tool_name="Read", tool_input={})
        assert session.state["iteration"] == 0
        assert [line["event"] for line in session.noted()] == ["PostToolUse"]


class TestToolEvents:
    def test_a_call_is_noted_by_digests(self, session):
        session.begin(**RED)
        more = {"tool_use_id": "toolu_1", "duration_ms": 12, "agent_id": "a1"}
        session.send("PostToolUse", tool_name="Edit", tool_input={"file_path": "a.py"}, tool_response={"b": 1}, **more)
        (line,) = session.noted()
        assert line.pop("at").endswith("Z")
        assert (len(line.pop("args")), len(line.pop("result"))) == (16, 16)
        assert line == {
            "schema_version": 1,
            "event": "PostToolUse",
            "session": "5e55",
            "prompt": "4444",
            "agent": "a1",
            "tool": "Edit",
            "call": "toolu_1",
            "error": False,
            "file": "a.py",
            "duration_ms": 12,
        }

    def test_the_same_call_has_the_same_digest_and_another_one_has_not(self, session):
        session.begin(**RED)
        for given in ({"a": "1  2", "b": 1}, {"b": 1, "a": "1 2\n"}, {"a": "1 3", "b": 1}):
            session.send("PostToolUse", tool_name="T", tool_input=given, tool_response="same")
        first, second, third = session.noted()
        assert first["result"] == third["result"]
        assert first["args"] != third["args"]
        assert second["args"] != third["args"]

    def test_a_failure_and_its_words_are_noted(self, session):
        session.begin(**RED)
        session.send("PostToolUseFailure", tool_name="Bash", tool_input={}, error="Exit code 1")
        session.send("PostToolUseFailure", tool_name="Bash", tool_input={}, error="Exit code 2")
        first, second = session.noted()
        assert first["error"] is second["error"] is True
        assert first["result"] != second["result"]

    def test_a_batch_names_its_calls(self, session):
        session.begin(**RED)
        session.send("PostToolBatch", tool_calls=[{"tool_use_id": "a"}, "damage", {"tool_use_id": "b"}])
        assert session.noted()[0]["calls"] == ["a", "b"]

    def test_a_turn_that_died_on_an_error_of_the_service_is_noted(self, session):
        session.begin(**RED)
        assert session.send("StopFailure", error="overloaded") is None
        assert session.noted()[0]["failure"] == "overloaded"

    def test_long_fields_are_cut(self, session):
        session.begin(**RED)
        session.send(
            "PostToolUse", tool_name="x" * 9999, tool_input={"file_path": "y" * 9999}, tool_response="z" * 99999
        )
        assert len((session.loop / "agent-events.jsonl").read_bytes()) < 1000

    def test_letters_that_are_none_do_no_harm(self, session):
        session.begin(**RED)
        session.raw(
            b'{"hook_event_name": "PostToolUse", "tool_name": "\\ud800", "tool_input": "\xff", "tool_use_id": 7}'
        )
        assert session.noted()[0]["tool"] == "\ud800"
        assert session.noted()[0]["call"] == "7"
        assert session.troubles == []


class TestTrouble:
    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"", "JSONDecodeError: "),
            (b"no json", "JSONDecodeError: "),
            (b"[]", "ValueError: the event on standard input is no JSON object"),
            (b"[" * 100_000, "RecursionError: "),
            (
                b" " * (READ_AT_MOST + 1),
                f"ValueError: an event of {READ_AT_MOST + 1} bytes; at most {READ_AT_MOST} are read",
            ),
        ],
        ids=["nothing", "no JSON", "a list", "depth", "size"],
    )
    def test_what_is_no_event_is_noted_and_nothing_is_answered(self, session, data, said):
        session.begin(**RED)
        assert session.raw(data) == ""
        assert session.troubles[0].startswith(said)

    def test_an_event_that_nobody_knows_is_passed_over(self, session):
        session.begin(**RED)
        assert session.send("Notification") is None
        assert session.raw(b"{}") == ""
        assert session.troubles == []

    def test_a_person_who_calls_it_in_a_loop_is_told_what_it_is_for(self, session):
        session.begin(**RED)
        ours, theirs = pty.openpty()
        assert answer_function("claude-code")(session.environment, theirs) == ""
        assert session.troubles == ["ValueError: no event on standard input: the agent calls this by itself"]
        os.close(ours)
        os.close(theirs)

    def test_troubles_do_not_fill_the_disk(self, session, capsys):
        session.begin(**RED)
        (session.loop / "agent-errors.jsonl").write_bytes(b"\n" * (1 << 20))
        session.raw(b"no json")
        assert (session.loop / "agent-errors.jsonl").stat().st_size == 1 << 20
        assert capsys.readouterr().err.startswith("ralph-tracker: JSONDecodeError: ")

    def test_without_a_folder_to_write_to_they_go_to_standard_error(self, session, capsys):
        session.begin(**RED)
        (session.loop / "agent-errors.jsonl").mkdir()
        session.raw(b"no json")
        assert capsys.readouterr().err.startswith("ralph-tracker: JSONDecodeError: ")

    @pytest.mark.parametrize("stream", [None, "closed"])
    def test_with_no_standard_error_either_nothing_is_raised(self, session, monkeypatch, tmp_path, stream):
        session.environment["RALPH_TRACKER_LOOP"] = "1"
        closed = (tmp_path / "closed").open("w")
        closed.close()
        monkeypatch.setattr("sys.stderr", None if stream is None else closed)
        assert session.raw(b"no json") == ""

    def test_ctrl_c_while_it_measures_is_no_answer(self, session, monkeypatch):
        session.begin(**RED)

        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(hook_dispatch, "_answer_event", interrupted)
        assert session.stop() is None
        assert session.troubles == ["KeyboardInterrupt:"]


class TestSessionStart:
    def context(self, answer):
        assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
        return answer["hookSpecificOutput"]["additionalContext"].split("\n")

    def test_the_state_of_the_loop_is_told(self, session):
        session.begin(**RED)
        lines = self.context(session.send("SessionStart", source="startup"))
        assert lines[0].startswith("ralph-tracker measures this project each time you stop: ")
        assert lines[1].startswith("Iteration 0: baseline, score ")
        assert lines[2:4] == ["Failing tests:", "- s::t::test_add"]

    def test_after_a_rollback_alerts_and_the_best_are_told(self, session):
        session.begin(test_add=True, test_sub=True)
        session.tests(test_add=False, test_sub=True)
        session.stop()
        lines = self.context(session.send("SessionStart", source="resume"))
        assert "(the best is iteration 0 with 100 %)" in lines[1]
        assert lines[2].startswith("Rolled back: the files are those of iteration 0 again, without what iteration 1 ")
        assert "- CRITICAL it1-working_tests_failing: Previously passing tests now failing: s::t::test_add" in lines

    def test_a_session_that_wants_a_loop_takes_the_baseline(self, session):
        session.environment["RALPH_TRACKER_LOOP"] = "1"
        lines = self.context(session.send("SessionStart", source="startup"))
        assert lines[1].startswith("Iteration 0: baseline")
        assert session.state["status"] == "running"

    def test_a_context_that_was_compacted_begins_no_loop(self, session):
        session.environment["RALPH_TRACKER_LOOP"] = "1"
        assert session.send("SessionStart", source="compact") is None
        assert not session.loop.exists()

    def test_a_configuration_that_is_broken_is_told_on_standard_error(self, session, capsys):
        session.environment["RALPH_TRACKER_LOOP"] = "1"
        (session.root / "ralph-tracker.yaml").write_text("chekcs: {}\n")
        assert session.send("SessionStart", source="startup") is None
        assert "did you mean checks?" in capsys.readouterr().err

    def test_a_session_after_a_question_hears_of_it(self, session):
        session.begin(**RED)
        session.tracker.post_iteration(None, blocked="which API key?")
        lines = self.context(session.send("SessionStart", source="startup"))
        assert "A person is needed: blocked: which API key?" in lines

    def test_without_names_the_rest_is_told(self, session):
        session.begin(**RED)
        tests = session.loop / "iterations" / "iteration-000" / "tests.json"
        tests.write_text(json.dumps({"schema_version": 99}))
        lines = self.context(session.send("SessionStart", source="startup"))
        assert lines[1].startswith("Iteration 0: baseline, score ")
        assert lines[2:] == ["Left of the loop: 20 iterations."]

    def test_the_tools_of_a_session_whose_loop_has_not_begun_are_not_noted(self, session):
        session.environment["RALPH_TRACKER_LOOP"] = "1"
        assert session.send("PostToolUse", tool_name="Read", tool_input={}) is None
        assert session.stop() is None
        assert not (session.root / ".aiwg").exists()


class TestALoopThatWasRemoved:
    """`git clean -fdx` takes `.aiwg` away, ignored or not."""

    @pytest.fixture(autouse=True)
    def _in_git(self, session):
        subprocess.run(["git", "init", "-q"], cwd=session.root, check=True)
        session.begin(**RED)
        session.stop()
        subprocess.run(["git", "clean", "-fdxq"], cwd=session.root, check=True)
        session.tests(**RED)
        session.environment["RALPH_TRACKER_TRUST"] = "1"

    def test_the_next_stop_is_measured_and_the_agent_is_told(self, session):
        answer = session.stop()
        assert answer["decision"] == "block"
        told, rest = answer["reason"].split("\n", 1)
        assert told.startswith("ralph-tracker: loop ralph-001, iterations 0 to 1: removed from .aiwg/ralph")
        assert "test_add" in rest
        assert session.state["iteration"] == 2

    def test_a_person_is_told_at_a_tool_call(self, session):
        answer = session.send("PostToolUse", tool_name="Read", tool_input={})
        assert "removed from .aiwg/ralph" in answer["systemMessage"]
        assert session.send("PostToolUse", tool_name="Read", tool_input={}) is None
        assert session.state["iteration"] == 1

    def test_a_session_in_a_folder_below_brings_nothing_back(self, session, monkeypatch):
        below = session.root / "below"
        below.mkdir()
        session.environment["CLAUDE_PROJECT_DIR"] = str(below)
        assert session.send("PostToolUse", tool_name="Read", tool_input={}) is None
        assert not (session.root / ".aiwg").exists()


def test_a_linked_worktree_names_gits_folder_in_a_file(session):
    folder = session.root.parent / "git" / "worktrees" / "one"
    (session.root / ".git").write_text(f"gitdir: {folder}\n")
    assert session.send("PostToolUse") is None
    (folder / "ralph-tracker").mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    assert session.send("PostToolUse") is None
