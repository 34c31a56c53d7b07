"""Nudges and forces from hooks: each a process of its own, the session's event log all that they share."""

import json
import subprocess
import sys

import pytest

from ralph_tracker.agents.hosts import session_event_log, tool_batch_hook
from ralph_tracker.agents.hosts.session_event_log import lines_of
from ralph_tracker.agents.hosts.tool_batch_hook import SteeringConfig, evaluate_lines, events_of, steering_of
from ralph_tracker.steering import ContinuationThresholds, FileChanged, ToolEnded, ToolStarted, TurnEnded

RED = {"test_add": False, "test_sub": True}
NUDGE = "Try another way, or stop and say what is open: "
FORCE = "Call no more tools in this turn; say what is done and what is open: "


class Agent:
    """Call tools in a session as the client tells it: each call, then the end of the batch."""

    def __init__(self, session):
        self.session = session
        self.calls = 0

    def turn(self, tool="Bash", given=None, gave="same", **more):
        self.calls += 1
        told = {"tool_name": tool, "tool_input": given or {"command": "cat calc.py"}, "tool_use_id": f"t{self.calls}"}
        self.session.send("PostToolUse", **told, tool_response={"stdout": gave}, **more)
        return self.session.send("PostToolBatch", tool_calls=[told], **more)

    def words(self, *args, **more):
        answer = self.turn(*args, **more)
        return None if answer is None else answer["hookSpecificOutput"]["additionalContext"]


@pytest.fixture
def agent(session):
    session.begin(**RED)
    return Agent(session)


def configured(session, text):
    file = session.root / "ralph-tracker.yaml"
    file.write_text(f"{file.read_text()}continuation: {{{text}}}\n")


def kinds(told):
    beginnings = {None: ".", NUDGE: "n", FORCE: "f"}
    return "".join(
        next(
            kind
            for start, kind in beginnings.items()
            if words is start or (words and start and words.startswith(start))
        )
        for words in told
    )


class TestAnswer:
    def test_a_nudge_is_given_once_a_streak_beside_the_results_and_a_force_while_it_lasts(self, agent):
        assert kinds(agent.words() for _ in range(7)) == "...nfff"
        assert agent.session.troubles == []

    def test_a_nudge_is_context_for_the_agent_and_a_force_is_told_the_person_too(self, agent):
        nudge, force = [agent.turn() for _ in range(5)][3:]
        assert nudge == {
            "hookSpecificOutput": {
                "hookEventName": "PostToolBatch",
                "additionalContext": (
                    f"{NUDGE}the last 3 calls repeat earlier ones; 0 of the last 4 turns brought anything new."
                ),
            }
        }
        words = f"{FORCE}the last 4 calls repeat earlier ones, after a nudge."
        assert force["hookSpecificOutput"]["additionalContext"] == words
        assert force["systemMessage"] == f"ralph-tracker: {words}"

    def test_no_tool_is_refused_and_no_session_is_ended(self, agent):
        answers = [answer for _ in range(8) if (answer := agent.turn())]
        assert answers
        assert all(answer.keys() <= {"hookSpecificOutput", "systemMessage"} for answer in answers)
        output = [answer["hookSpecificOutput"] for answer in answers]
        assert all(each.keys() == {"hookEventName", "additionalContext"} for each in output)

    def test_hooks_that_are_installed_twice_count_once(self, agent):
        told = []
        for number in range(4):
            call = {"tool_name": "Bash", "tool_input": {"command": "cat calc.py"}, "tool_use_id": f"t{number}"}
            for _ in range(2):
                agent.session.send("PostToolUse", **call, tool_response={"stdout": "same"})
            told.append([agent.session.send("PostToolBatch", tool_calls=[call]) is not None for _ in range(2)])
        assert told == [*[[False, False]] * 3, [True, False]]

    def test_editing_and_testing_in_turn_is_work(self, agent):
        told = []
        for _ in range(6):
            told.append(agent.words("Edit", {"file_path": "calc.py", "old_string": "a", "new_string": "b"}))
            told.append(agent.words(given={"command": "pytest"}, gave="1 failed in 0.12s"))
        assert kinds(told) == "." * 12

    def test_the_same_failure_after_another_while_is_a_repeat(self, agent):
        assert kinds(agent.words(gave=f"1 failed in 0.{n}s") for n in range(10, 15)) == "...nf"

    def test_what_the_tool_gave_decides_and_not_what_it_was_asked(self, agent):
        assert kinds(agent.words(gave=f"line {n}") for n in range(5)).startswith(".....")

    def test_a_file_that_is_read_for_the_first_time_is_new(self, agent):
        assert kinds(agent.words("Read", {"file_path": f"{n}.py"}) for n in range(6)) == "." * 6

    def test_a_call_that_the_client_did_not_let_run_is_heard_at_the_end_of_the_turn(self, agent):
        """No other hook tells of it: an edit whose text stands there twice, for example."""
        call = {"tool_name": "Edit", "tool_input": {"file_path": "calc.py"}, "tool_response": "<tool_use_error>twice"}
        batches = [[{**call, "tool_use_id": f"t{number}"}, "damage", {"tool_use_id": 1}] for number in range(5)]
        answers = [agent.session.send("PostToolBatch", tool_calls=calls) for calls in batches]
        words = [each and each["hookSpecificOutput"]["additionalContext"] for each in answers]
        assert kinds(words) == "...nf"
        assert [line["event"] for line in agent.session.noted()] == ["PostToolUseFailure", "PostToolBatch"] * 5
        assert agent.session.noted()[0]["error"] is True

    def test_subagents_are_not_of_this_session(self, agent):
        assert kinds(agent.words(agent_id="a1") for _ in range(7)) == "." * 7
        assert agent.words() is None

    def test_another_session_is_another_one(self, agent):
        for _ in range(3):
            agent.turn()
        assert kinds(agent.words(session_id="another") for _ in range(3)) == "..."
        assert kinds([agent.words()]) == "n"

    def test_a_prompt_begins_anew(self, agent):
        assert kinds(agent.words() for _ in range(4)) == "...n"
        agent.session.send("UserPromptSubmit", prompt="Look once more.")
        assert kinds(agent.words() for _ in range(4)) == "...n"

    def test_a_measured_stop_begins_anew_for_a_task_as_large_as_before(self, session):
        configured(session, "turn_limits: true")
        session.begin(**RED)
        agent = Agent(session)
        agent.session.send("UserPromptSubmit", prompt="What is 2+2?")
        for _ in range(4):
            agent.turn()
        assert agent.session.stop()["decision"] == "block"
        told = [agent.words(given={"command": f"{n}"}) for n in range(10)]
        assert told[-1] == f"{FORCE}10 of 10 turns are used."

    def test_words_of_the_client_itself_are_no_prompt(self, agent):
        for more in ({"prompt": "<task-notification>done"}, {"prompt": "x", "source": "loop_wakeup"}, {"prompt": 1}):
            agent.session.send("UserPromptSubmit", **more)
        assert agent.session.noted() == []

    def test_of_a_prompt_only_its_size_is_kept(self, agent):
        agent.session.send("UserPromptSubmit", prompt="Write a parser, its tests, and docs.", source="user")
        (line,) = agent.session.noted()
        assert line["complexity"] == "complex"
        assert "parser" not in json.dumps(line)

    def test_a_session_that_run_drives_is_nudged_too(self, agent):
        agent.session.environment["RALPH_TRACKER_DRIVEN"] = "1"
        assert kinds(agent.words() for _ in range(4)) == "...n"


class TestConfiguration:
    def test_it_can_be_turned_off(self, session):
        configured(session, "enabled: false")
        session.begin(**RED)
        agent = Agent(session)
        session.send("UserPromptSubmit", prompt="Look.")
        assert kinds(agent.words() for _ in range(7)) == "." * 7
        assert {line["event"] for line in session.noted()} == {"PostToolUse", "PostToolBatch"}

    def test_thresholds_are_those_that_the_loop_froze(self, session):
        configured(session, "progress: {stuck_repeats: 2}")
        session.begin(**RED)
        configured(session, "enabled: false")  # for the next loop
        assert kinds(Agent(session).words() for _ in range(3)) == "..n"

    def test_the_turns_of_an_iteration_are_not_limited_unless_that_is_configured(self, agent):
        told = [agent.words("Read", {"file_path": f"{n}"}, f"{n}") for n in range(60)]
        assert told == [None] * 60

    @pytest.mark.parametrize("text", [None, "", "[]", '{"continuation": 1}', '{"continuation": {"progress": {}}}'])
    def test_what_cannot_be_read_leaves_the_defaults(self, agent, text):
        file = agent.session.loop / "continuation.json"
        file.unlink() if text is None else file.write_text(text)
        assert steering_of(str(agent.session.loop)) == SteeringConfig()
        assert kinds(agent.words() for _ in range(4)) == "...n"

    def test_the_record_stops_a_session_every_5_turns_where_that_is_configured(self, session):
        configured(session, "quality: true")
        session.begin(test_add=True, test_sub=True)
        session.tests(test_add=False, test_sub=True)
        session.stop()
        agent = Agent(session)
        told = [agent.words(given={"command": f"{n}"}, gave=str(n)) for n in range(10)]
        broken = "it1-working_tests_failing: Previously passing tests now failing: s::t::test_add"
        open_alert = f"{FORCE}Open CRITICAL alert: {broken}."
        assert [told[4], told[9]] == [open_alert, open_alert]
        assert session.troubles == []

    def test_a_record_that_is_well_says_nothing(self, session):
        configured(session, "quality: true")
        session.begin(**RED)
        agent = Agent(session)
        assert [agent.words("Read", {"file_path": f"{n}"}) for n in range(5)] == [None] * 5


class TestContext:
    def test_the_status_line_tells_it_and_at_the_hard_limit_the_session_is_forced(self, agent):
        agent.session.status(
            {"session_id": "5e55", "context_window": {"context_window_size": 200_000, "used_percentage": 72}}
        )
        assert agent.words() == f"{FORCE}72% of the context window is taken, 70% is the hard limit."
        line = agent.session.noted()[-1]
        assert (line["context_tokens"], line["context_window"]) == (144_000, 200_000)

    @pytest.mark.parametrize(
        "told",
        [
            None,
            1,
            {},
            {"context_window_size": 0, "used_percentage": 72},
            {"context_window_size": 9, "used_percentage": None},
            {"context_window_size": 9, "used_percentage": -1},
        ],
        ids=json.dumps,
    )
    def test_what_is_not_told_is_not_judged(self, agent, told):
        agent.session.status({"session_id": "5e55", "context_window": told})
        assert agent.words() is None
        assert "context_tokens" not in agent.session.noted()[-1]
        assert agent.session.troubles == []

    def test_each_session_has_its_own_and_the_last_word_counts(self, agent):
        for session, used in (("5e55", 72), ("another", 10), ("5e55", 10), ("5e55", 10)):
            window = {"context_window_size": 200_000, "used_percentage": used}
            agent.session.status({"session_id": session, "context_window": window})
        assert agent.words() is None

    @pytest.mark.parametrize(
        "text",
        [
            "[",
            "[]",
            '{"sessions": []}',
            '{"sessions": {"5e55": 1}}',
            '{"sessions": {"5e55": {"context_tokens": -1, "context_window": 0}}}',
        ],
    )
    def test_what_is_damaged_is_unknown_and_written_anew(self, agent, text):
        (agent.session.loop / "agent-context.json").write_text(text)
        assert agent.words() is None
        window = {"context_window_size": 200_000, "used_percentage": 72}
        agent.session.status({"session_id": "5e55", "context_window": window})
        assert kinds([agent.words()]) == "f"


class TestJournal:
    # As it was written before there was a continuation: other digests, no window, a file of any tool.
    OLD = (
        '{"schema_version":1,"at":"2026-11-01T10:00:00Z","event":"PostToolUse","session":"5e55","prompt":"4444",'
        '"tool":"Bash","call":"toolu_1","args":"f3a1","result":"9e02","error":false}\n'
        '{"schema_version":1,"at":"2026-11-01T10:00:00Z","event":"PostToolBatch","session":"5e55","calls":["toolu_1"]}\n'
        '{"schema_version":1,"at":"2026-11-01T10:00:01Z","event":"PostToolUse","session":"5e55","tool":"Edit",'
        '"call":"toolu_2","args":"f3a2","result":"9e03","error":false,"file":"calc.py"}\n'
    )

    def test_one_of_an_older_version_is_still_read(self, agent):
        (agent.session.loop / "agent-events.jsonl").write_text(self.OLD)
        events = [each for line in lines_of(str(agent.session.loop), "5e55") for each in events_of(line)]
        assert events == [
            ToolStarted("toolu_1", "Bash", "f3a1"),
            ToolEnded("toolu_1", "Bash", success=True, arguments="f3a1", result="9e02"),
            TurnEnded(),
            ToolStarted("toolu_2", "Edit", "f3a2"),
            FileChanged("calc.py"),
            ToolEnded("toolu_2", "Edit", success=True, arguments="f3a2", result="9e03"),
        ]
        assert agent.words() is None
        assert agent.session.troubles == []

    @pytest.mark.parametrize(
        "line",
        [
            "damage",
            '"session":"5e55"',
            '{"session":"5e55"',
            '["session","5e55"]',
            '{"a":{"session":"5e55"}}',
            '{"session":"5e55","event":["PostToolUse"]}',
            '{"session":"5e55","event":"PostToolUse"}',
            '{"session":"5e55","event":"UserPromptSubmit","complexity":["simple"]}',
            '{"session":"5e55","event":"PostToolBatch","context_tokens":"9"}',
        ],
    )
    def test_what_is_no_line_of_it_is_passed_over(self, agent, line):
        (agent.session.loop / "agent-events.jsonl").write_text(f"{line}\n")
        assert "n" in kinds(agent.words() for _ in range(5))
        assert agent.session.troubles == []

    def test_only_its_end_is_read_however_long_it_is(self, agent):
        for _ in range(3):
            agent.turn()
        file = agent.session.loop / "agent-events.jsonl"
        lines = file.read_bytes()
        file.write_bytes(lines * 1000)
        assert sum(1 for _ in lines_of(str(agent.session.loop), "5e55")) * len(lines) / 6 <= 256 << 10
        file.write_bytes(lines + (b'{"session":"another"}\n' * 20_000))
        assert list(lines_of(str(agent.session.loop), "5e55")) == []

    def test_one_that_is_large_is_put_aside(self, agent, monkeypatch):
        monkeypatch.setattr(session_event_log, "MOST_EVENTS", 2000)
        for _ in range(20):
            agent.turn()
        loop = agent.session.loop
        assert (loop / "agent-events.jsonl").stat().st_size < 2500
        assert (loop / "agent-events.1.jsonl").stat().st_size < 2500
        assert agent.session.stop()["decision"] == "block"
        assert agent.session.troubles == []

    def test_folding_says_how_many_turns_there_were(self):
        assert evaluate_lines([], ContinuationThresholds()) == tool_batch_hook.TurnGuidance()
        assert evaluate_lines([{"event": "PostToolBatch"}] * 3, ContinuationThresholds()).turns == 3


def test_neither_yaml_nor_pydantic_is_imported_at_a_tool_or_at_the_end_of_a_turn(session):
    session.begin(**RED)
    program = (
        "import json, os, sys\n"
        "from ralph_tracker.agents.hosts.host import answer_function\n"
        "for event in ('UserPromptSubmit', 'PostToolUse', 'PostToolBatch'):\n"
        "    reading, writing = os.pipe()\n"
        "    os.write(writing, json.dumps({'hook_event_name': event, 'session_id': 's', 'tool_name': 'Read',\n"
        "                                  'prompt': 'Look.'}).encode())\n"
        "    os.close(writing)\n"
        "    answer_function('claude-code')(os.environ, reading)\n"
        "print({'yaml', 'pydantic', 'asyncio', 'logging', 'click'} & sys.modules.keys())\n"
    )
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, env=session.environment, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n", done.stderr
    assert [line["event"] for line in session.noted()] == ["UserPromptSubmit", "PostToolUse", "PostToolBatch"]
