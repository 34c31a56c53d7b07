"""Say what the error messages of agents mean: how a run ended, when to try again, and whether it asks for permission.

A message may say when to try again: after a span ("in 5 minutes") or at a time. A time without a year ("resets 3pm") is
the next such time, which only `next_time` can tell, as it depends on the present.
"""

import re
from calendar import day_abbr, month_abbr
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ralph_tracker.agents.output.event_values import one_line, plain
from ralph_tracker.agents.output.run_report import Ending, RunOutcome
from ralph_tracker.formats.report_content import Unreadable, parse_json

_MILLISECONDS: Final = frozenset({"ms", "millisecond", "milliseconds"})
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_UNIT: Final = r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
_PART: Final = re.compile(
    rf"(?P<number>\d{{1,9}}(?:\.\d{{1,9}})?)\s{{0,2}}(?P<unit>{_UNIT}|(?<=[0-9])[smhd](?=\d))", re.IGNORECASE
)
_SPAN: Final = re.compile(
    rf"(?:try again|retry(?:ing|[-_ ]?delay)?|resets?|wait|available)(?: again)?(?: in| after| for)?[\"':=\s]{{1,4}}"
    rf"(?P<span>(?:\d{{1,9}}(?:\.\d{{1,9}})?\s{{0,2}}(?:{_UNIT}|[smhd](?=\d))[\s,]{{0,2}}(?:and )?){{1,4}})",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(r"retry[-_ ]after[\"':=\s]{1,4}(?P<seconds>\d{1,9}(?:\.\d{1,9})?)\b", re.IGNORECASE)
_ISO: Final = re.compile(
    r"(?:until|\bat|resets?|after)[\"':=\s]{1,4}"
    r"(?P<iso>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d))",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"\bat (?P<month>[A-Z][a-z]{2}) (?P<day>\d{1,2})(?:st|nd|rd|th), (?P<rest>\d{4} \d{1,2}:\d\d [AP]M)\b"
)
_NEXT_TIME: Final = re.compile(
    r"\b(?:resets?|try again)(?: at| on)? (?:(?:(?P<month>[A-Z][a-z]{2})[a-z]{0,6} (?P<day>\d{1,2})(?:st|nd|rd|th)?"
    r"|(?P<weekday>Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}),?(?: at)? )?(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?"
    r"(?: ?(?P<half>[ap])\.?m\b\.?|(?<=:\d\d)(?!\d))"
    r"(?: (?:\((?P<zone>[\w/+-]{1,40})\)|(?P<short>UTC|GMT|[PMCE][SD]T)\b))?",
    re.IGNORECASE,
)
_SHORT_ZONES: Final = {
    "p": "America/Los_Angeles",
    "m": "America/Denver",
    "c": "America/Chicago",
    "e": "America/New_York",
}
_FLAGS: Final = re.IGNORECASE
_READ: Final = 4_000
_SHORT: Final = 400
_LIMIT: Final = re.compile(
    r"(?:usage|session|weekly|5-hour|daily) limit (?:reached|exceeded)|usage_limit_(?:reached|exceeded)"
    r"|out of extra usage|(?:hit|reached|exceeded) your (?:[\w-]+ ){0,3}limit|resource(?:_| has been )exhausted"
    r"|exhausted your (?:[\w-]+ ){0,3}(?:quota|capacity)",
    _FLAGS,
)
_PERSON: Final = re.compile(
    r"api[ _-]?key[\w ]{0,20}(?:invalid|not valid|expired|missing|required|not found|revoked)"
    r"|(?:invalid|incorrect|no|missing|expired|bad)[ _](?:x-)?api[ _-]?key|invalid_api_key"
    r"|run `?(?:/login|(?:codex|gemini|copilot|claude|opencode)(?: auth)? login)|not logged in"
    r"|please (?:log ?in|sign in|authenticate)|authentication (?:has )?expired|invalid_grant"
    r"|authentication[_ ](?:error|failed|failure|required)|autherror|authenticationerror|unauthenticated"
    r"|permission_(?:error|denied)|\b401\b|unauthorized|\b403\b[ :]+forbidden|no auth credentials|set an auth method"
    r"|(?:oauth|access|refresh|auth) token (?:[\w]+ ){0,3}(?:expired|revoked|invalid)"
    r"|credit balance is too low|insufficient[_ ](?:quota|credits?|balance|funds)|out of (?:[\w]+ )?credits"
    r"|billing_error|extra usage is required|\bno quota\b"
    r"|exceeded your current quota|payment required|\b402\b|subscription (?:required|expired)"
    r"|requested permissions? to|you haven['’]t granted|organization has been disabled",
    _FLAGS,
)
# A limit that a person set on what is spent: no wait ends it.
_SPENDING: Final = re.compile(
    r"\bspend(?:ing)? (?:limit|cap)\b|\bmonthly (?:usage |credit )?limit\b|\bpremium request allowance", _FLAGS
)
_PASSING: Final = re.compile(
    r"\b(?:429|529)\b|\b(?:status|error|code|http)\D{0,12}\b503\b|too many requests|overloaded|service unavailable"
    r"|rate[ _-]?limit(?:[ _](?:error|exceeded|reached|hit)|error|ed\b)|exceed your (?:[\w'’]+ ){0,3}rate limit"
    r"|quota (?:exceeded|reached|exhausted)|exceeded (?:[\w']+ ){0,3}quota|at capacity|high demand|retry-after"
    r"|wait and try again later|server is busy",
    _FLAGS,
)
_BUDGET: Final = re.compile(
    r"reached max(?:imum)?(?: number of)?(?: session)? (?:turns|budget)|max(?:imum)? session turns exceeded"
    r"|max(?:imum)?[_ ](?:turns|budget(?:_usd)?)[_ ](?:reached|exceeded)",
    _FLAGS,
)
_MEANINGS: Final = (
    (_BUDGET, Ending.OUT_OF_BUDGET),
    (_SPENDING, Ending.NEEDS_PERSON),
    (_LIMIT, Ending.RATE_LIMITED),
    (_PERSON, Ending.NEEDS_PERSON),
    (_PASSING, Ending.RATE_LIMITED),
)
_STATUSES: Final = {
    401: Ending.NEEDS_PERSON,
    402: Ending.NEEDS_PERSON,
    403: Ending.NEEDS_PERSON,
    429: Ending.RATE_LIMITED,
    503: Ending.RATE_LIMITED,
    529: Ending.RATE_LIMITED,
}
# What may follow a known message that is not prose: nothing, or punctuation.
_CLOSED: Final = r"(?=\W*$|\s?[·∙:.,;|(\[—–-](?!\w))"
_YOUR_LIMIT: Final = (
    r"you(?:['’]ve| have) (?:hit|reached|exceeded|exhausted) your [\w -]{0,30}(?:limit|quota|capacity)"
    r"(?: on this model)?|you(?:['’]re| are) out of extra usage"
    r"|(?:[a-z]+ )?(?:5-hour|session|daily|weekly|monthly|spend(?:ing)?) limit reached"
    r"|your organization has been disabled|oauth token has (?:expired|been revoked)|sorry, you have been rate-limited"
)
_KNOWN: Final = (
    rf"(?:{_YOUR_LIMIT}|(?:claude (?:ai |code )?)?usage limit reached(?:\|\d+)?|(?:invalid|incorrect|no) (?:x-)?"
    r"api[ _-]?key(?: provided| found)?|not logged in|credit balance is too low|rate[ _-]?limit"
    r"(?:ed|[ _](?:exceeded|reached|hit|error))|too many requests|overloaded(?:_error)?|service unavailable"
    r"|quota exceeded|insufficient_quota|unauthorized"
    rf"|payment required){_CLOSED}"
)
_BEGINS_AS_ERROR: Final = re.compile(
    r"[^\w\[{]{0,4}\[?(?:(?:api |fatal )?(?:\w+[.:] ?){0,3}\w*(?:error|exceptions?)\b"
    r"|fatal\b|failed\b|attempt \d|warning:"
    r"|your credit balance|please run /login|authentication (?:failed|required|error)|exceeded retry|unexpected status"
    r"|stream error|retry-after: ?\d|\{?\"(?:type|error|message|code)\"|http\W{1,2}\d{3}(?:\W*$| \w)"
    r"|status\W{1,2}\d{3} \w"
    rf"|(?:401|402|429|503|529)(?=\W*$|[ :]+(?-i:[A-Z{{]))|{_KNOWN})",
    _FLAGS,
)
_ITSELF: Final = re.compile(
    r"\[?api error\b.*|(?:api )?error: .*|\{\"(?:type|error)\".*|(?:http )?(?:429|529|503)(?:[ :]+(?:too many requests"
    rf"|overloaded|service unavailable))?\W?|retry-after: \d+|{_KNOWN}.{{0,160}}",
    _FLAGS | re.DOTALL,
)
_ASKS: Final = re.compile(
    r"\b(?:permissions?|approv\w{1,4}|allow(?:ed)?|authori[sz]e|go[- ]ahead)\b[^?\n]{0,80}\?\W{0,4}$"
    r"|haven['’]t granted"
    r"|\bI(?:['’]m| am)?(?: still)? (?:need|require|await(?:ing)?|waiting for) (?:your |the )?(?:explicit )?"
    r"(?:permissions?|approval)\b|\bwaiting for your (?:permission|approval)\b"
    r"|\b(?:please|could you|can you) (?:grant|approve|allow|give me)\b"
    r"|\bgrant (?:me )?(?:\w{1,20} )?(?:permissions?|access)\b"
    r"|\(y/n\)|\[y/n\]|\(yes/no\)|\(y\)es/\(n\)o",
    _FLAGS,
)


def retry_time(words: str) -> tuple[float | None, float | None]:
    """Return when to try again: after so many seconds, and at a time in epoch seconds; None for what is not named."""
    header, span = _HEADER.search(words), _SPAN.search(words)
    after_s = float(header["seconds"]) if header else None
    if span:
        parts = [(float(part["number"]), part["unit"].lower()) for part in _PART.finditer(span["span"])]
        after_s = sum(number * _UNITS["ms" if unit in _MILLISECONDS else unit[0]] for number, unit in parts)
    return after_s, _time(words)


def _time(words: str) -> float | None:
    epoch = re.search(r"(?:\||resets?_?at[\"':=\s]{1,4})(?P<epoch>\d{10}|\d{13})\b", words, flags=re.IGNORECASE)
    if epoch:
        digits = epoch["epoch"]
        return float(digits) if len(digits) == 10 else float(digits) / 1_000
    iso = _ISO.search(words)
    date = _DATE.search(words)
    try:
        if iso:
            return datetime.fromisoformat(iso["iso"].upper()).astimezone(UTC).timestamp()
        if date:
            # Without a zone it is local time, as the agent runs on this machine.
            said = f"{date['month']} {date['day']} {date['rest']}"
            return datetime.strptime(said, "%b %d %Y %I:%M %p").astimezone().timestamp()
    except (ValueError, OverflowError):
        return None
    return None


def next_time(words: str, now: float) -> float | None:
    """Return the next time that a message names without a year, in epoch seconds; `now` is that too.

    "resets 3pm (Europe/Berlin)", "resets Oct 12 at 1pm", "resets Monday at 9am", "try again at 15:05"; without a zone
    it is local time. None for any other message, and for a zone that this machine does not know.
    """
    found = _NEXT_TIME.search(words)
    if found is None:
        return None
    try:
        short = found["short"]
        named = found["zone"] or (short and _SHORT_ZONES.get(short[0].lower(), "UTC"))
        zone = ZoneInfo(named) if named else None
        half, today = found["half"], datetime.fromtimestamp(now, UTC).astimezone(zone)
        at = today.replace(
            hour=int(found["hour"]) if half is None else int(found["hour"]) % 12 + (12 if half in "pP" else 0),
            minute=int(found["minute"] or 0),
            second=0,
            microsecond=0,
        )
        if found["weekday"] is not None:
            days = list(day_abbr).index(found["weekday"].capitalize()) - today.weekday()
            at += timedelta(days=days % 7 or 7 * (at <= today))
        elif found["month"] is None:
            at += timedelta(days=at <= today)
        else:
            at = at.replace(month=list(month_abbr).index(found["month"].capitalize()), day=int(found["day"]))
            at = at.replace(year=at.year + (at < today - timedelta(days=180)))
    except (ValueError, OverflowError, ZoneInfoNotFoundError):
        return None
    return (at if zone else at.replace(tzinfo=None)).timestamp()


def outcome_of_error(words: str, status: int | None = None) -> RunOutcome:
    """Return the meaning of an error's message, else of its HTTP status; FAILED if neither is known."""
    read = words[:_READ]
    ending = _match_ending(read) or _STATUSES.get(status or 0, Ending.FAILED)
    return RunOutcome(ending, one_line(read), *retry_time(read))


def outcome_of_error_line(line: str) -> RunOutcome | None:
    """Return the meaning of a line that begins like an error's, None for any other and without a known meaning."""
    read = line[:_READ]
    half = read.startswith(("{", "[{")) and isinstance(parse_json(read), Unreadable)  # a truncated stream
    ending = _match_ending(read[:_SHORT]) if not half and _BEGINS_AS_ERROR.match(read) else None
    return None if ending is None else RunOutcome(ending, one_line(read), *retry_time(read))


def outcome_of_whole_message(message: str) -> RunOutcome | None:
    """Return the meaning of a message that is only a known complaint, None for any other."""
    whole = message.strip()
    ending = _match_ending(whole) if len(whole) <= _SHORT and _ITSELF.fullmatch(whole) else None
    return None if ending is None else RunOutcome(ending, one_line(whole), *retry_time(whole))


def asks_permission(message: str) -> str | None:
    """Return the last line of a message that ends by asking for permission, None if it does not."""
    end = plain(message[-300:]).strip()
    return end.rsplit("\n", 1)[-1] if _ASKS.search(end) else None


def _match_ending(words: str) -> Ending | None:
    return next((ending for pattern, ending in _MEANINGS if pattern.search(words)), None)
