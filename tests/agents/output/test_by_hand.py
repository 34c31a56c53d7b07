"""Events and lines written by hand: what a recorded run has no example of."""

import json

import pytest

from ralph_tracker.agents.output.run_output import RunOutputReader
from ralph_tracker.agents.output.run_report import Ending, ModelTokens, RunReport
from ralph_tracker.core.metrics import Usage
from tests.tables import table


def told(*lines: object, exit_code: int | None = 0, errors: str = "") -> RunReport:
    reader = RunOutputReader()
    for line in lines:
        text = line if isinstance(line, str) else json.dumps(line)
        reader.feed_stdout(f"{text}\n".encode())
    reader.feed_stderr(errors.encode())
    return reader.report(exit_code)


def claude(kind: str, **fields: object) -> dict[str, object]:
    return {"type": kind, "session_id": "s1", **fields}


def message(name: str, *, stop: str | None = None, parent: str | None = None, text: str = "hm", **usage: int) -> object:
    content = [{"type": "text", "text": text}, {"type": "tool_use", "name": "Bash"}]
    body = {"id": name, "model": "m", "content": content, "stop_reason": stop, "usage": usage}
    return claude("assistant", message=body, parent_tool_use_id=parent)


def result(**fields: object) -> dict[str, object]:
    return claude("result", **{"subtype": "success", "is_error": False, "result": "All done.", **fields})


class TestClaudeCode:
    def test_finished_messages_have_their_output_and_those_of_subagents_count_without_a_turn(self) -> None:
        found = told(
            message("a", stop="tool_use", input_tokens=10, output_tokens=5, cache_read_input_tokens=100),
            message("a", stop="tool_use", input_tokens=10, output_tokens=7, cache_read_input_tokens=100),
            message("b", stop="end_turn", parent="t1", input_tokens=1, output_tokens=2, text="sub"),
            exit_code=None,
        )
        assert found.usage == Usage(input_tokens=111, output_tokens=9, turns=1)
        assert found.last_message == "hm"

    def test_one_message_without_its_end_makes_the_output_unknown(self) -> None:
        found = told(
            message("a", stop="end_turn", input_tokens=1, output_tokens=2),
            message("b", input_tokens=1, output_tokens=1),
            exit_code=None,
        )
        assert found.usage == Usage(input_tokens=2, turns=2)

    def test_partial_messages_tell_the_output_before_the_result(self) -> None:
        found = told(
            claude("stream_event", event={"type": "message_start", "message": {"id": "a"}}),
            message("a", input_tokens=3, output_tokens=1),
            claude("stream_event", event={"type": "message_delta", "usage": {"output_tokens": 40}}),
            claude("stream_event", event={"type": "message_stop"}),
            exit_code=None,
        )
        assert found.usage == Usage(input_tokens=3, output_tokens=40, turns=1)

    def test_a_message_seen_again_after_4096_others_is_all_that_counts_twice(self) -> None:
        many = [message(str(n), stop="x", input_tokens=1, output_tokens=1) for n in range(4_097)]
        assert told(*many, many[-1], many[1], exit_code=None).usage.input_tokens == 4_097
        assert told(*many, many[0], exit_code=None).usage.input_tokens == 4_098

    def test_sessions_one_after_the_other_are_added_up(self) -> None:
        usage = {"input_tokens": 1, "output_tokens": 2}
        one = result(total_cost_usd=0.5, num_turns=2, duration_ms=1000, usage=usage)
        found = told(one, {**one, "session_id": "s2"}, {**one, "session_id": "s2", "total_cost_usd": 0.75})
        assert found.usage == Usage(1.25, 2, 4, 4, 2.0)

    def test_what_comes_after_a_result_makes_cost_and_duration_unknown(self) -> None:
        usage = {"input_tokens": 1, "output_tokens": 2}
        found = told(
            result(total_cost_usd=0.5, num_turns=2, duration_ms=1000, usage=usage),
            message("z", stop="tool_use", input_tokens=5, output_tokens=6),
            exit_code=None,
        )
        assert found.usage == Usage(None, 6, 8, 3, None)
        assert found.ending is Ending.UNKNOWN

    def test_a_result_without_usage_leaves_that_of_the_messages(self) -> None:
        found = told(message("a", stop="end_turn", input_tokens=4, output_tokens=6), result(num_turns=1))
        assert found.usage == Usage(input_tokens=4, output_tokens=6, turns=1)

    @table(
        ("fields", "ending", "why"),
        [
            ({"result": "Claude AI usage limit reached|1750000000"}, Ending.RATE_LIMITED, "Claude AI usage limit"),
            ({"result": "I made the client handle 429 and rate limit exceeded."}, Ending.DONE, None),
            ({"is_error": True, "api_error_status": 403, "result": "No."}, Ending.NEEDS_PERSON, "No."),
            ({"is_error": True, "api_error_status": 500, "result": "Oh."}, Ending.FAILED, "Oh."),
            ({"subtype": "error_during_execution", "is_error": True, "errors": [3, "boom"]}, Ending.FAILED, "boom"),
            ({"subtype": "error_max_structured_output_retries", "result": None}, Ending.FAILED, "error_max_struct"),
            ({"is_error": True, "terminal_reason": "max_turns"}, Ending.OUT_OF_BUDGET, "All done."),
            (
                {"permission_denials": [{"tool_name": "Write"}], "result": "May I have permission to write?"},
                Ending.NEEDS_PERSON,
                "May I have permission",
            ),
            ({"permission_denials": [{"tool_name": "Write"}]}, Ending.DONE, None),
            ({"result": "May I have permission to write?"}, Ending.DONE, None),
        ],
    )
    def test_the_result_says_how_it_ended(self, fields, ending, why) -> None:
        found = told(result(**fields), exit_code=None)
        assert found.ending is ending
        assert (found.why or "").startswith(why or "")
        assert (found.why is None) == (why is None)

    def test_the_kind_of_an_error_message_decides_where_words_do_not(self) -> None:
        synthetic = {"model": "<synthetic>", "content": [{"type": "text", "text": "Sorry"}]}
        found = told(
            claude("assistant", message=synthetic, error="billing_error"), result(is_error=True, result="Sorry")
        )
        assert found.ending is Ending.NEEDS_PERSON

    def test_a_rejected_limit_tells_when_it_ends(self) -> None:
        info = {"status": "rejected", "resetsAt": 1_750_000_000, "rateLimitType": "five_hour"}
        limit = claude("rate_limit_event", rate_limit_info=info)
        failed = result(is_error=True, api_error_status=429, result="You've hit your limit · resets 3pm")
        assert told(limit, failed, exit_code=1)[1:5] == (
            Ending.RATE_LIMITED,
            "You've hit your limit · resets 3pm",
            None,
            1_750_000_000.0,
        )
        assert told(limit, exit_code=None)[1:5] == (Ending.RATE_LIMITED, "rate limit: five_hour", None, 1_750_000_000.0)
        allowed = claude("rate_limit_event", rate_limit_info={"status": "allowed"})
        assert told(limit, allowed, exit_code=None).ending is Ending.UNKNOWN
        assert told(limit, result()).ending is Ending.DONE

    @table(
        ("status", "error", "after", "ending"),
        [
            (529, "overloaded", [], Ending.RATE_LIMITED),
            (None, "unknown", [], Ending.UNKNOWN),
            (529, "overloaded", [message("a", input_tokens=1)], Ending.UNKNOWN),
        ],
        ids=["overloaded", "no connection", "went on"],
    )
    def test_a_run_stopped_while_it_tries_again_says_why(self, status, error, after, ending) -> None:
        retry = claude("system", subtype="api_retry", error_status=status, error=error, retry_delay_ms=2_500)
        found = told(retry, *after, exit_code=None)
        assert found.ending is ending
        assert found.retry_after_s == (2.5 if ending is Ending.RATE_LIMITED else None)

    def test_a_success_with_an_exit_code_is_a_failure(self) -> None:
        found = told(result(), exit_code=3, errors="Segmentation fault\n")
        assert found[1:3] == (Ending.FAILED, "Segmentation fault")

    @table("value", [None, "x", -1, True, 1.5, 2**60, [], {}], ids=repr)
    def test_a_value_that_is_no_count_is_unknown(self, value) -> None:
        found = told(result(num_turns=value, usage={"input_tokens": value, "output_tokens": value}))
        assert found.usage == Usage()

    @table("value", ["-0.5", "true", '"1"', "1e999", "null"])
    def test_a_cost_that_is_no_amount_is_unknown(self, value) -> None:
        line = '{"type":"result","session_id":"s","subtype":"success","is_error":false,"total_cost_usd":%s}'
        assert told(line % value).usage.cost_usd is None


class TestAmp:
    def test_tells_tokens_and_the_error(self) -> None:
        found = told(
            {"type": "system", "subtype": "init", "session_id": "T-1", "tools": [], "mcp_servers": []},
            {
                "type": "result",
                "subtype": "error_max_turns",
                "is_error": True,
                "error": "too many turns",
                "session_id": "T-1",
                "duration_ms": 1500,
                "num_turns": 4,
                "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 7},
            },
            exit_code=1,
        )
        assert found[:3] == (Usage(None, 100, 7, 4, 1.5), Ending.OUT_OF_BUDGET, "too many turns")


class TestCursor:
    INIT = {
        "type": "system",
        "subtype": "init",
        "apiKeySource": "login",
        "session_id": "c",
        "permissionMode": "default",
    }
    RESULT = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 5234,
        "result": "Made it.",
        "session_id": "c",
        "request_id": "r",
    }

    @table("before", [[INIT], [], [{"type": "tool_call", "session_id": "c"}]])
    def test_tells_duration_and_last_words(self, before) -> None:
        found = told(*before, self.RESULT)
        assert found == RunReport(Usage(duration_s=5.234), Ending.DONE, last_message="Made it.", session="c")

    def test_tells_tokens_where_it_has_them(self) -> None:
        usage = {"inputTokens": 10, "outputTokens": 7, "cacheReadTokens": 80, "cacheWriteTokens": 10, "x": 1}
        assert told(self.INIT, {**self.RESULT, "usage": usage}).usage == Usage(None, 100, 7, None, 5.234)

    def test_a_failed_run_has_no_result_and_tells_on_standard_error(self) -> None:
        found = told(self.INIT, exit_code=1, errors="Error: Authentication required. Please run 'agent login'\n")
        assert found.ending is Ending.NEEDS_PERSON


class TestCodex:
    START = {"type": "turn.started"}

    def test_turns_are_added_up_and_a_trouble_that_passed_is_forgotten(self) -> None:
        usage = {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 3}
        item = {"type": "item.completed", "item": {"type": "agent_message", "text": "Well."}}
        found = told(
            self.START,
            {"type": "error", "message": "Reconnecting... 1/5 (429 Too Many Requests)"},
            item,
            {"type": "item.completed", "item": {"type": "error", "message": "deprecated"}},
            {"type": "item.started", "item": {}},
            {"type": "turn.completed", "usage": usage},
            self.START,
            {"type": "turn.completed", "usage": usage},
        )
        assert found == RunReport(
            Usage(input_tokens=20, output_tokens=6),
            Ending.DONE,
            last_message="Well.",
            models=(ModelTokens("", 20, 6, 8),),
        )

    def test_a_run_stopped_while_it_connects_again_says_why(self) -> None:
        error = {"type": "error", "message": "Reconnecting... 1/5 (429 Too Many Requests)"}
        assert told(self.START, error, exit_code=None).ending is Ending.RATE_LIMITED
        assert told(self.START, exit_code=None).ending is Ending.UNKNOWN


class TestGemini:
    INIT = {"type": "init", "timestamp": "2026-01-01T00:00:00Z", "session_id": "g", "model": "m"}

    def event(self, kind, **fields):
        return {"type": kind, "timestamp": "2026-01-01T00:00:00Z", **fields}

    def test_parts_of_a_message_are_joined_and_a_tool_call_begins_another(self) -> None:
        def say(text):
            return self.event("message", role="assistant", content=text, delta=True)

        assert told(self.INIT, say("One"), say(" two"), exit_code=None).last_message == "One two"
        found = told(say("One"), self.event("tool_use", tool_name="t"), say("Two"), say(3), exit_code=None)
        assert found.last_message == "Two"

    @pytest.mark.parametrize(("severity", "ending"), [("error", Ending.RATE_LIMITED), ("warning", Ending.UNKNOWN)])
    def test_an_error_counts_and_a_warning_does_not(self, severity, ending) -> None:
        error = self.event("error", severity=severity, message="Quota exceeded")
        assert told(self.INIT, error, exit_code=None).ending is ending

    def test_the_limit_of_turns_is_the_agent_s_own(self) -> None:
        error = {"type": "FatalTurnLimitedError", "message": "Enough."}
        assert told(self.INIT, self.event("result", status="error", error=error), exit_code=53).ending is (
            Ending.OUT_OF_BUDGET
        )
        assert told(self.INIT, exit_code=53, errors="Enough.\n")[1:3] == (Ending.OUT_OF_BUDGET, "Enough.")
        failed = self.event("result", status="error", error={"message": "x"})
        assert told(self.INIT, failed, exit_code=41).ending is Ending.NEEDS_PERSON
        assert told(self.INIT, failed, exit_code=1).ending is Ending.FAILED

    @pytest.mark.parametrize(
        ("kind", "code", "ending"),
        [("Error", 429, Ending.RATE_LIMITED), ("FatalTurnLimitedError", 53, Ending.OUT_OF_BUDGET)],
    )
    def test_the_object_of_a_failed_run_is_read_on_standard_error(self, kind, code, ending) -> None:
        error = {"session_id": "g", "error": {"type": kind, "message": "no", "code": code}}
        found = told(exit_code=1, errors=f"Loading…\n{json.dumps(error, indent=2)}\n")
        assert found[1:3] == (ending, "no")


class TestOpencode:
    def event(self, kind, **fields):
        return {"type": kind, "timestamp": 1, "sessionID": "o", **fields}

    def step(self, reason="stop", cost=0.5, **tokens):
        return self.event("step_finish", part={"reason": reason, "cost": cost, "tokens": tokens})

    def test_a_cost_of_nothing_for_tokens_is_unknown(self) -> None:
        found = told(self.step(cost=0, input=5, output=6), self.step(input=5, output=6))
        assert found.usage == Usage(None, 10, 12, 2)

    def test_tokens_that_are_not_told_make_the_sum_unknown(self) -> None:
        assert told(self.step(input=5, output=6), self.step()).usage == Usage(1.0, None, None, 2)

    def test_a_run_stopped_between_two_steps_did_not_end(self) -> None:
        tools = self.step("tool-calls", input=1, output=1)
        assert told(tools, exit_code=None).ending is Ending.UNKNOWN
        assert told(self.step(input=1, output=1), self.event("step_start"), exit_code=None).ending is Ending.UNKNOWN

    def test_an_error_of_the_provider_s_key_needs_a_person(self) -> None:
        found = told(self.event("error", error={"name": "ProviderAuthError", "data": {}}), exit_code=1)
        assert found[1:3] == (Ending.NEEDS_PERSON, "ProviderAuthError")


class TestCopilot:
    def event(self, kind, **data):
        return {"type": kind, "data": data, "id": "1", "timestamp": "t", "parentId": None}

    def test_an_error_that_was_got_over_does_not_count(self) -> None:
        found = told(
            self.event("model.call_failure", statusCode=429, errorMessage="slow down"),
            self.event("session.error", errorType="query", message="odd"),
            self.event("assistant.message", content="Fine."),
            {"type": "result", "sessionId": "s", "exitCode": 0, "usage": {"sessionDurationMs": 100}},
        )
        assert found == RunReport(Usage(duration_s=0.1), Ending.DONE, session="s", last_message="Fine.")

    def test_a_run_stopped_while_it_tries_again_says_why(self) -> None:
        failure = self.event("model.call_failure", statusCode=429, errorMessage="slow down")
        assert told(failure, exit_code=None)[1:3] == (Ending.RATE_LIMITED, "slow down")

    def test_an_exit_code_alone_is_a_failure(self) -> None:
        found = told({"type": "result", "sessionId": "s", "exitCode": 2}, exit_code=2)
        assert found == RunReport(Usage(), Ending.FAILED, session="s")

    def test_hours_and_minutes_are_read(self) -> None:
        errors = "Changes    +0 -0\nDuration   1h 2m 3s\nTokens     ↑ 1.5M • ↓ 12.3k\n"
        assert told("Done.", errors=errors).usage == Usage(None, 1_500_000, 12_300, None, 3723.0)


class TestAider:
    def test_tokens_are_added_up_and_the_cost_is_that_of_the_session(self) -> None:
        found = told(
            "Aider v0.86.2",
            "Tokens: 1.2k sent, 300 received. Cost: $0.01 message, $0.01 session.",
            "Applied edit to a.py",
            "Tokens: 15k sent, 1.0k cache write, 2.5k cache hit, 80 received.",
            "Cost: $0.0123 message, $0.02 session.",
        )
        assert found.usage == Usage(0.02, 16_200, 380, 2)
        assert found.ending is Ending.DONE

    def test_a_model_without_a_price_has_no_cost(self) -> None:
        assert told("Tokens: 999 sent, 3 received.").usage == Usage(None, 999, 3, 1)

    @table(
        ("line", "ending"),
        [
            ("litellm.RateLimitError: RateLimitError: OpenAIException - slow down", Ending.RATE_LIMITED),
            ("litellm.AuthenticationError: Incorrect API key provided", Ending.NEEDS_PERSON),
            ("litellm.InternalServerError: The server had an error", Ending.FAILED),
        ],
    )
    def test_an_error_counts_though_it_exits_with_0(self, line, ending) -> None:
        assert told("Aider v0.86.2", line, "Retrying in 0.2 seconds...").ending is ending
        assert told(line, "Tokens: 1 sent, 1 received.").ending is Ending.DONE

    def test_prose_about_tokens_is_no_report(self) -> None:
        assert told("The line says Tokens: 1.2k sent, 300 received. I parse it.").usage == Usage()
