"""Which words mean a limit, which need a person, that prose about them means nothing, and when to try again."""

from datetime import UTC, datetime, timedelta

import pytest

from ralph_tracker.agents.output.error_messages import (
    asks_permission,
    next_time,
    outcome_of_error,
    outcome_of_error_line,
    outcome_of_whole_message,
    retry_time,
)
from ralph_tracker.agents.output.run_output import RunOutputReader
from ralph_tracker.agents.output.run_report import Ending, RunReport
from tests.tables import table


def text(words: str, exit_code: int | None, errors: str = "") -> RunReport:
    reader = RunOutputReader()
    reader.feed_stdout(words.encode())
    reader.feed_stderr(errors.encode())
    return reader.report(exit_code)


LIMITED, PERSON = Ending.RATE_LIMITED, Ending.NEEDS_PERSON
WORKED = "I looked at the client.\nIt retries now.\nThe tests pass.\n" * 4

COMPLAINTS = (
    ("Claude AI usage limit reached|1750000000", LIMITED),
    ("You've hit your limit · resets 3pm", LIMITED),
    ("You’ve hit your weekly limit · resets Oct 3, 9am", LIMITED),
    ("429", LIMITED),
    ("429 Too Many Requests", LIMITED),
    ("HTTP 529", LIMITED),
    ("Too Many Requests", LIMITED),
    ("Retry-After: 30", LIMITED),
    ("overloaded_error", LIMITED),
    ("API Error: 529 Overloaded", LIMITED),
    ('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', LIMITED),
    ('{"type":"error","error":{"type":"authentication_error","message":"bad"}}', PERSON),
    ("Invalid API key · Please run /login", PERSON),
    ("Not logged in · Please run /login", PERSON),
    ("Credit balance is too low", PERSON),
    ("API Error: 401 OAuth token has expired", PERSON),
)
ERRORS = (
    ("Error: 503 Service Unavailable", LIMITED),
    ("google.api_core.exceptions.ResourceExhausted: 429 RESOURCE_EXHAUSTED", None),
    ("openai.RateLimitError: Error code: 429 - slow down", LIMITED),
    ("openai.AuthenticationError: Error code: 401 - Incorrect API key provided", PERSON),
    ("stream error: exceeded retry limit, last status: 429 Too Many Requests", LIMITED),
    ("✗ Error: insufficient_quota", PERSON),
    ("ERROR You exceeded your current quota, please check your plan and billing details", PERSON),
    ("Your credit balance is too low to access the API", PERSON),
    ("Error: Reached max turns (2)", Ending.OUT_OF_BUDGET),
)
PROSE = (
    "Done: the 429 handling retries now.",
    "I added a test for 429 Too Many Requests.",
    "Invalid API key now answers with 401 and a message.",
    "Not logged in users are sent to /login.",
    "The client waits for the Retry-After: 30 header.",
    "You've hit your rate limit is what the page says, which I translated.",
    "All requests that say overloaded_error are tried again.",
    "The authentication_error is caught.",
    "Rate limiting works: rate limit exceeded answers 429.",
    "def test_usage_limit_reached(): ...",
    "API errors are logged, 401 and 429 too.",
)


@table(("words", "ending"), COMPLAINTS, ids=[each[0][:40] for each in COMPLAINTS])
@table("exit_code", [0, 1, None])
def test_a_text_that_is_nothing_but_a_complaint_means_it_whatever_the_exit_code(words, ending, exit_code) -> None:
    assert text(words, exit_code).ending is ending
    assert text(f"\x1b[31m{words}\x1b[0m\r\n\r\n", exit_code).why == words


@table(("words", "ending"), [*COMPLAINTS, *ERRORS], ids=[x[0][:40] for x in (*COMPLAINTS, *ERRORS)])
def test_the_line_of_an_error_counts_where_the_run_failed_and_not_where_it_did_not(words, ending) -> None:
    expected = ending or LIMITED
    assert text(f"{WORKED}{words}\n", 1).ending is expected
    assert text(WORKED, 1, errors=f"{words}\n    at line 3\n").ending is expected
    assert text(f"{WORKED}{words}\n", 0).ending is Ending.DONE
    assert text(f"{words}\n{WORKED}", 1).ending is Ending.FAILED


@table("words", PROSE)
@table(("exit_code", "ending"), [(0, Ending.DONE), (1, Ending.FAILED), (None, Ending.UNKNOWN)])
def test_prose_about_limits_in_the_code_means_nothing(words, exit_code, ending) -> None:
    assert text(words, exit_code).ending is ending
    assert text(WORKED + words, exit_code).ending is ending


def test_a_long_text_is_no_complaint_though_it_begins_as_one() -> None:
    assert outcome_of_whole_message("API Error: 429 " + "and so on " * 60) is None
    assert text("API Error: 429 " + "and so on " * 200, 0).ending is Ending.DONE


def test_half_an_event_is_no_complaint() -> None:
    assert outcome_of_error_line('{"type":"assistant","message":{"text":"Too Many Requests') is None
    assert outcome_of_error_line('[{"type":"assistant","message":{"text":"Too Many Requests') is None


@table(
    ("words", "status", "ending"),
    [
        ("no", None, Ending.FAILED),
        ("no", 429, LIMITED),
        ("no", 402, PERSON),
        ("no", 500, Ending.FAILED),
        ("Credit balance is too low", 429, PERSON),
        ("Maximum session turns exceeded", None, Ending.OUT_OF_BUDGET),
        ("[API Error: refused] Please wait and try again later. To increase your limits, …", None, LIMITED),
        ("You've hit your usage limit. Purchase more credits or try again at noon", None, LIMITED),
    ],
)
def test_words_go_before_the_status(words, status, ending) -> None:
    assert outcome_of_error(words, status).ending is ending


@table(
    "end",
    [
        "May I have permission to write to src/a.py?",
        "Do you approve this plan?",
        "Should I go ahead?",
        "I haven't granted myself write access; you haven't granted it yet.",
        "I need your permission to edit the file.",
        "Please approve the edit of a.py.",
        "Please grant me write access.",
        "Run `rm -rf build`? (y/N)",
    ],
)
@table("exit_code", [0, 1, None])
def test_a_question_for_permission_at_the_end_needs_a_person(end, exit_code) -> None:
    found = text(WORKED + end, exit_code)
    assert found[1:3] == (PERSON, end)
    assert text(f"{end}\n{WORKED}{WORKED}{WORKED}", 0).ending is Ending.DONE


@table(
    "end",
    [
        "Users need permission checks on this page.",
        "The endpoint is allowed for admins only.",
        "Permission denied errors are handled.",
        "Would you like more tests?",
        "Is the cache cleared? Yes: the approval flow is done.",
    ],
)
def test_prose_about_permissions_asks_nothing(end) -> None:
    assert asks_permission(end) is None


@table(
    ("words", "exit_code", "ending", "why"),
    [
        ("", 0, Ending.UNKNOWN, None),
        ("", None, Ending.UNKNOWN, None),
        ("", 2, Ending.FAILED, None),
        ("\n \n", 0, Ending.UNKNOWN, None),
        ("Hello", 2, Ending.FAILED, "Hello"),
    ],
)
def test_without_words_the_exit_code_tells(words, exit_code, ending, why) -> None:
    assert text(words, exit_code)[1:3] == (ending, why)


def test_why_is_one_bounded_line_and_the_last_words_are_the_end() -> None:
    found = text("first\n" + "x" * 3_000 + "\x00\x07 end", 1)
    assert len(found.why or "") == 200
    assert len(found.last_message or "") == 2_000
    assert (found.last_message or "").startswith("…x")
    assert (found.last_message or "").endswith("x end")


@table(
    ("words", "seconds"),
    [
        ("Retry-After: 30", 30.0),
        ('"retry_after": 1.5', 1.5),
        ("Please retry in 34.074824224s.", 34.074824224),
        ('"retryDelay": "34s"', 34.0),
        ("Please try again in 20ms.", 0.02),
        ("Please try again in 6m0s.", 360.0),
        ("try again in 2 days 3 hours 5 minutes", 183_900.0),
        ("Your quota will reset after 1h20m3s.", 4_803.0),
        ("resets in 2 hours, 5 minutes and 1 second", 7_501.0),
        ("Retrying in 0.2 seconds...", 0.2),
        ("wait 3 min", 180.0),
        ("Wait, 3 tests fail", None),
        ("try again in a moment", None),
        ("retry wait time: 55.93 seconds", None),
        ("resets 3pm", None),
        ("try again in 5 months", None),
        ("", None),
    ],
)
def test_a_span_is_read_in_seconds(words, seconds) -> None:
    found, _ = retry_time(words)
    assert found == (None if seconds is None else pytest.approx(seconds))


@table(
    ("words", "at"),
    [
        ("Claude AI usage limit reached|1750000000", 1_750_000_000.0),
        ("limit reached|1750000000123", 1_750_000_000.123),
        ('"resets_at": 1800000000', 1_800_000_000.0),
        ('{"resetsAt":1800000000}', 1_800_000_000.0),
        ("try again at 2027-01-15T08:00:00Z", datetime(2027, 1, 15, 8, tzinfo=UTC).timestamp()),
        ("until 2027-01-15 10:00+02:00", datetime(2027, 1, 15, 8, tzinfo=UTC).timestamp()),
        ("try again at Jan 15th, 2027 8:00 PM.", datetime(2027, 1, 15, 20).astimezone().timestamp()),
        ("at 2027-99-15T08:00:00Z", None),
        ("at Abc 15th, 2027 8:00 PM", None),
        ("at 0001-01-01T00:00:00+23:59", None),
        ("resets 3pm", None),
        ("resets|12345", None),
    ],
)
def test_a_time_is_read_in_epoch_seconds(words, at) -> None:
    assert retry_time(words)[1] == at


def test_nothing_said_is_nothing_told() -> None:
    assert retry_time("Overloaded") == (None, None)


NOON = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)


@table(
    ("words", "at"),
    [
        ("You're out of extra usage · resets 7pm (UTC)", datetime(2026, 11, 28, 19, tzinfo=UTC)),
        ("5-hour limit reached ∙ resets 11am (UTC)", datetime(2026, 11, 29, 11, tzinfo=UTC)),
        ("You've hit your limit · resets 3pm (Europe/Berlin)", datetime(2026, 11, 28, 14, tzinfo=UTC)),
        ("Your limit will reset at 12am (America/New_York).", datetime(2026, 11, 29, 5, tzinfo=UTC)),
        ("Weekly limit reached ∙ resets Dec 3 at 1pm (UTC)", datetime(2026, 12, 3, 13, tzinfo=UTC)),
        ("Opus weekly limit reached ∙ resets January 2nd, 1:30 pm (UTC)", datetime(2027, 1, 2, 13, 30, tzinfo=UTC)),
        ("resets Nov 28, 11am (UTC)", datetime(2026, 11, 28, 11, tzinfo=UTC)),
        ("try again at 3:05 PM.", NOON.astimezone().replace(hour=15, minute=5)),
        ("5-hour limit reached - resets at 15:00 (UTC)", datetime(2026, 11, 28, 15, tzinfo=UTC)),
        ("Try again at 11:30 UTC.", datetime(2026, 11, 29, 11, 30, tzinfo=UTC)),
        ("Access resets at 12:00 AM PST.", datetime(2026, 11, 29, 8, tzinfo=UTC)),
        ("Weekly limit reached ∙ resets Monday at 9am (UTC)", datetime(2026, 11, 30, 9, tzinfo=UTC)),
        ("resets Sat 1pm (UTC)", datetime(2026, 11, 28, 13, tzinfo=UTC)),
        ("resets Saturday, 11am (UTC)", datetime(2026, 12, 5, 11, tzinfo=UTC)),
        ("resets at 25:00 (UTC)", None),
        ("resets 15", None),
        ("resets 3pm (Mars/Olympus)", None),
        ("resets Feb 30, 1pm (UTC)", None),
        ("resets Foo 3, 1pm (UTC)", None),
        ("resets 3 tests", None),
        ("Overloaded", None),
    ],
)
def test_a_time_without_a_year_is_the_next_one(words, at) -> None:
    found = next_time(words, NOON.timestamp())
    if at is not None and at.tzinfo is not UTC and at < NOON:
        at += timedelta(days=1)  # west of here it is over for today
    assert found == (None if at is None else at.timestamp())


@table(
    ("words", "ending"),
    [
        ("Resource has been exhausted (e.g. check quota).", LIMITED),
        ("Server is busy, please try again later.", LIMITED),
        ("You are out of usage credits. Add more in your settings.", PERSON),
        ("Extra usage is required for long context.", PERSON),
        ("You have no quota left for premium requests.", PERSON),
        ("Failed to refresh token: invalid_grant", PERSON),
        ("Please run `gemini auth login` to continue", PERSON),
    ],
)
def test_an_error_of_a_client_means_what_its_words_say(words, ending) -> None:
    assert outcome_of_error(words).ending is ending


@table(
    ("words", "ending"),
    [
        ("5-hour limit reached ∙ resets 3pm", LIMITED),
        ("Claude usage limit reached. Your limit will reset at 3pm (America/New_York).", LIMITED),
        ("Session limit reached ∙ resets 3pm", LIMITED),
        ("Opus weekly limit reached ∙ resets Oct 6, 1pm", LIMITED),
        ("You're out of extra usage · resets 7pm (UTC)", LIMITED),
        ("You've hit your usage limit. Upgrade to Pro or try again at 3:05 PM.", LIMITED),
        ("You have exhausted your capacity on this model. Your quota will reset after 2h13m.", LIMITED),
        ("Sorry, you have been rate-limited. Please wait a moment before trying again.", LIMITED),
        ("You have exhausted your daily quota on this model. Access resets at 12:00 AM PST.", LIMITED),
        ("Rate limit hit: retry after 30 seconds", LIMITED),
        ("Error: Authentication expired. Run `codex login`.", PERSON),
        ("Monthly limit reached", PERSON),
        ("You've reached your spend limit.", PERSON),
        ("Spending limit reached. Raise it in the console.", PERSON),
        ("OAuth token has expired. Please run /login", PERSON),
        ("Your organization has been disabled", PERSON),
    ],
)
def test_each_clients_message_means_the_same_as_text_and_in_an_event(words, ending) -> None:
    assert text(words, 1).ending is text(words, 0).ending is outcome_of_error(words).ending is ending


def test_a_notice_of_a_smaller_model_ends_nothing() -> None:
    notice = "You have exceeded your premium request allowance. We have automatically switched you to GPT-4.1"
    assert text(f"{notice}\n{WORKED}", 0).ending is Ending.DONE
