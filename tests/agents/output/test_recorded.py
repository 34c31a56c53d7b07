"""What real agents wrote in fixtures/agent_output, and what is told of it."""

from datetime import datetime
from pathlib import Path

import pytest

from ralph_tracker.agents.output.run_output import RunOutputReader
from ralph_tracker.agents.output.run_report import Ending, ModelTokens, RunReport
from ralph_tracker.core.metrics import Usage
from tests.tables import table

RECORDED = Path(__file__).parents[3] / "fixtures" / "agent_output"
DONE = "Done: the 429 handling retries now."
NOTHING_SPENT = Usage(cost_usd=0.0, input_tokens=0, output_tokens=0, turns=1)

# case, exit code, ending, usage without the duration, why begins, last message begins
CASES = (
    ("claude-code-done", 0, Ending.DONE, Usage(0.016875, 3460, 160, 2), None, DONE),
    ("claude-code-json-done", 0, Ending.DONE, Usage(0.016875, 3460, 160, 2), None, DONE),
    ("claude-code-denied", 0, Ending.DONE, Usage(0.016875, 3460, 160, 2), None, DONE),
    ("claude-code-rate-limited", 1, Ending.RATE_LIMITED, NOTHING_SPENT, "API Error: Request rejected (429)", "API Err"),
    ("claude-code-overloaded", 1, Ending.RATE_LIMITED, NOTHING_SPENT, "API Error: 529 Overloaded", "API Error"),
    ("claude-code-no-key", 1, Ending.NEEDS_PERSON, NOTHING_SPENT, "Invalid API key", "Invalid API key"),
    ("claude-code-no-credit", 1, Ending.NEEDS_PERSON, NOTHING_SPENT, "Credit balance is too low", "Credit"),
    ("claude-code-not-logged-in", 1, Ending.NEEDS_PERSON, NOTHING_SPENT, "Not logged in · Please run /login", "Not"),
    ("claude-code-max-turns", 1, Ending.OUT_OF_BUDGET, Usage(0.016875, 3460, 160, 3), "Reached maximum number", None),
    ("claude-code-max-budget", 1, Ending.OUT_OF_BUDGET, Usage(0.0253125, 5190, 240, 3), "Reached maximum bud", None),
    ("claude-code-text-401", 1, Ending.NEEDS_PERSON, Usage(), "Invalid API key", "Invalid API key"),
    ("claude-code-text-429", 1, Ending.RATE_LIMITED, Usage(), "API Error: Request rejected (429)", "API Error"),
    ("claude-code-text-529", 1, Ending.RATE_LIMITED, Usage(), "API Error: 529 Overloaded", "API Error"),
    ("claude-code-text-credit", 1, Ending.NEEDS_PERSON, Usage(), "Credit balance is too low", "Credit"),
    ("claude-code-text-nologin", 1, Ending.NEEDS_PERSON, Usage(), "Not logged in", "Not logged in"),
    ("claude-code-text-maxturns", 1, Ending.OUT_OF_BUDGET, Usage(), "Error: Reached max turns (2)", "Error"),
    ("claude-code-text-ok", 0, Ending.DONE, Usage(), None, DONE),
    ("codex-done", 0, Ending.DONE, Usage(None, 1200, 80), None, DONE),
    ("codex-rate-limited", 1, Ending.RATE_LIMITED, Usage(), "exceeded retry limit, last status: 429", None),
    ("codex-unavailable", 1, Ending.RATE_LIMITED, Usage(), "unexpected status 503", None),
    ("codex-no-key", 1, Ending.NEEDS_PERSON, Usage(), "unexpected status 401", None),
    ("codex-usage-limit", 1, Ending.RATE_LIMITED, Usage(), "You’ve hit your usage limit.", None),
    ("gemini-stream-done", 0, Ending.DONE, Usage(None, 3600, 390), None, DONE),
    ("gemini-json-done", 0, Ending.DONE, Usage(None, 3600, 390), None, DONE),
    ("gemini-stream-no-key", 145, Ending.NEEDS_PERSON, Usage(None, 0, 0), "[API Error: ", None),
    ("gemini-stream-retrying", None, Ending.RATE_LIMITED, Usage(), "Attempt ", None),
    ("gemini-text-retrying", None, Ending.RATE_LIMITED, Usage(), "Attempt ", None),
    ("qwen-code-done", 0, Ending.DONE, Usage(None, 2400, 160, 2), None, DONE),
    ("qwen-code-json-done", 0, Ending.DONE, Usage(None, 2400, 160, 2), None, DONE),
    ("qwen-code-no-key", 0, Ending.NEEDS_PERSON, Usage(None, 0, 0, 1), "[API Error: 401", "[API Error: 401"),
    ("qwen-code-text-no-key", 1, Ending.NEEDS_PERSON, Usage(), "[API Error: 401", None),
    ("qwen-code-max-turns", 53, Ending.OUT_OF_BUDGET, Usage(None, 1200, 80, 1), "Reached max session turns", None),
    ("opencode-done", 0, Ending.DONE, Usage(0.00172, 2400, 160, 2), None, DONE),
    ("opencode-no-key", 1, Ending.NEEDS_PERSON, Usage(), "invalid x-api-key", None),
    ("copilot-done", 0, Ending.DONE, Usage(turns=1), None, DONE),
    ("copilot-rate-limited", 1, Ending.RATE_LIMITED, Usage(turns=1), "Failed to get response from the AI model", None),
    ("copilot-no-key", 1, Ending.NEEDS_PERSON, Usage(turns=1), "Authentication failed with provider", None),
    ("copilot-text-done", 0, Ending.DONE, Usage(None, 1200, 80), None, DONE),
    ("copilot-text-no-key", 1, Ending.NEEDS_PERSON, Usage(), "Authentication failed with provider", "● Request"),
)


def heard(case: str, exit_code: int | None) -> RunReport:
    reader = RunOutputReader()
    for suffix, feed in ((".out", reader.feed_stdout), (".err", reader.feed_stderr)):
        path = RECORDED / f"{case}{suffix}"
        if path.exists():
            feed(path.read_bytes())
    return reader.report(exit_code)


def test_every_recording_is_looked_at() -> None:
    assert {path.stem for path in RECORDED.iterdir() if path.suffix != ".md"} == {case[0] for case in CASES}


@table(("case", "exit_code", "ending", "usage", "why", "last"), CASES, ids=[c[0] for c in CASES])
def test_a_recorded_run_tells(case, exit_code, ending, usage, why, last) -> None:
    told = heard(case, exit_code)
    assert told.ending is ending
    assert told.usage._replace(duration_s=None) == usage._replace(cost_usd=pytest.approx(usage.cost_usd))
    assert (told.why is None) == (why is None)
    assert (told.why or "").startswith(why or "")
    assert (told.last_message or "").startswith(last or "")
    assert last is not None or told.last_message is None


def test_gemini_tells_the_tokens_of_each_model() -> None:
    models = heard("gemini-stream-done", 0).models
    first, second = (
        ModelTokens("gemini-3.5-flash-lite", 1200, 130, 500),
        ModelTokens("gemini-3.8-flash", 2400, 260, 1000),
    )
    assert models == (first, second)


@table(
    ("case", "seconds"),
    [
        ("claude-code-done", 0.455),
        ("gemini-stream-done", 0.439),
        ("copilot-rate-limited", 56.403),
        ("copilot-text-done", 0.0),
        ("codex-done", None),
        ("gemini-stream-no-key", None),
    ],
)
def test_the_duration_is_what_the_agent_measured(case, seconds) -> None:
    assert heard(case, 0).usage.duration_s == seconds


def test_the_date_of_a_usage_limit_is_a_time_of_this_machine() -> None:
    expected = datetime(2027, 1, 15, 8, 0).astimezone().timestamp()
    assert heard("codex-usage-limit", 1).retry_at == expected


@table("lines", range(2, 7))
def test_a_cut_stream_of_claude_code_counts_each_message_once_and_knows_no_cost(lines) -> None:
    whole = (RECORDED / "claude-code-done.out").read_bytes().splitlines(keepends=True)
    reader = RunOutputReader()
    reader.feed_stdout(b"".join(whole[: lines - 1]) + whole[lines - 1][:-40])
    told = reader.report(None)
    begun = {2: 0, 3: 1, 4: 1, 5: 1, 6: 2}[lines]
    assert told.ending is Ending.UNKNOWN
    assert told.usage == Usage(input_tokens=1730 * begun or None, turns=begun or None)
