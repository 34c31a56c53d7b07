"""Claude Code's events, and those of the programs that imitate it: `system`, `assistant`, `user`, a final `result`.

A message is printed once per content block, and again after resuming, each time with the usage of the whole message so
far: it counts once, by id. In an unfinished message (`stop_reason` is null) the output tokens are a placeholder and
count as unknown. A `result` has the sums of everything; a stream that was cut has only messages, and no cost.
"""

from collections import OrderedDict
from typing import Final

from ralph_tracker.agents.output.error_messages import asks_permission, outcome_of_error, outcome_of_whole_message
from ralph_tracker.agents.output.event_values import (
    NOTHING,
    Object,
    amount,
    count,
    inner,
    input_tokens,
    objects,
    seconds,
    text,
    total,
    word,
)
from ralph_tracker.agents.output.run_report import Ending, RunOutcome, StreamReport
from ralph_tracker.core.metrics import Usage

_REMEMBERED: Final = 4_096
_LIMITS: Final = frozenset({"error_max_turns", "error_max_budget_usd", "max_turns", "budget_exhausted"})
_KINDS: Final = {
    "authentication_failed": Ending.NEEDS_PERSON,
    "billing_error": Ending.NEEDS_PERSON,
    "oauth_org_not_allowed": Ending.NEEDS_PERSON,
    "rate_limit": Ending.RATE_LIMITED,
    "overloaded": Ending.RATE_LIMITED,
}
_TYPES: Final = frozenset({"system", "assistant", "user", "result", "stream_event", "rate_limit_event"})
_Tokens = tuple[int | None, int | None]


class _Messages:
    """The messages by id, each counted once; the last 4,096 are remembered."""

    def __init__(self) -> None:
        self.input: int | None = None
        self.output: int | None = None
        self.main = 0
        self._open = 0
        self._seen: OrderedDict[str, _Tokens] = OrderedDict()

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, name: str, usage: Object, *, finished: bool, main: bool) -> None:
        """Count a message, or update the usage of one that was counted before."""
        before = self._seen.pop(name, None)
        if before is None:
            self._open += 1
            self.main += main
            before = (None, None)
        known = count(usage.get("output_tokens")) if finished else None
        if known is not None and before[1] is None:
            self._open -= 1
        now = (_greater(before[0], input_tokens(usage)), _greater(before[1], known))
        self.input = _add_growth(self.input, before[0], now[0])
        self.output = _add_growth(self.output, before[1], now[1])
        self._seen[name] = now
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)

    @property
    def usage(self) -> Usage:
        """Return the usage; the output is unknown if that of any message is."""
        return Usage(
            input_tokens=self.input, output_tokens=None if self._open else self.output, turns=self.main or None
        )


class ClaudeCode:
    """Claude Code, `claude -p … --output-format stream-json --verbose` or `json`.

    Tested in runs of @anthropic-ai/claude-code 2.1.197 against a mock server: subtypes, `api_error_status`, `errors`,
    the kinds of errors of `<synthetic>` messages, `api_retry`, and that the `usage` of a result excludes the message
    that exhausted the budget while `modelUsage` and `total_cost_usd` include it. `rate_limit_event` is from that
    program's text and the types of claude-agent-sdk 0.2.187. With `json --verbose` the events are one array. In a
    session that is continued, 2.1.332 prints the session's `modelUsage` and `total_cost_usd` beside the run's `usage`.

    Input tokens include cache reads and writes, which Anthropic's field excludes.
    """

    @staticmethod
    def sniff(event: Object) -> bool:
        """Return whether it is an event of a session; programs that imitate these are checked first."""
        return word(event, "type") in _TYPES and text(event.get("session_id")) is not None

    def __init__(self) -> None:
        self._messages = _Messages()
        self._told: dict[str, Usage] = {}
        self._own: dict[str, int | None] = {}
        self._outcome: RunOutcome | None = None
        self._trouble: RunOutcome | None = None
        self._limit: RunOutcome | None = None
        self._kind = ""
        self._last: str | None = None
        self._streamed: str | None = None

    def feed(self, event: Object) -> None:
        match word(event, "type"):
            case "assistant":
                self._assistant(event)
            case "result":
                self._result(event)
            case "system" if word(event, "subtype") == "api_retry":
                words = f"{event.get('error')} (HTTP status {event.get('error_status')})"
                found = outcome_of_error(words, count(event.get("error_status")))
                delay = seconds(event.get("retry_delay_ms"))
                self._trouble = found._replace(retry_after_s=delay) if found.ending is not Ending.FAILED else None
            case "stream_event":
                part = inner(event, "event")
                if part.get("type") == "message_start":
                    self._streamed = text(inner(part, "message").get("id"))
                elif part.get("type") == "message_delta" and self._streamed is not None:
                    self._messages.add(self._streamed, inner(part, "usage"), finished=True, main=False)
            case "rate_limit_event":
                info = inner(event, "rate_limit_info")
                words = f"rate limit: {info.get('rateLimitType') or 'reached'}"
                limit = RunOutcome(Ending.RATE_LIMITED, words, retry_at=amount(info.get("resetsAt")))
                self._limit = limit if info.get("status") == "rejected" else None
            case _:
                pass

    def result(self) -> StreamReport:
        own = total(self._own.values())
        return StreamReport(self._usage(), self._outcome, self._trouble or self._limit, self._last, own_input=own)

    def _usage(self) -> Usage:
        parts = list(self._told.values())
        if not parts:
            return self._messages.usage
        if len(self._messages):
            parts.append(self._messages.usage)
        cost, duration = [each.cost_usd for each in parts], [each.duration_s for each in parts]
        return Usage(
            cost_usd=None if None in cost else sum(each or 0.0 for each in cost),
            input_tokens=total(each.input_tokens for each in parts),
            output_tokens=total(each.output_tokens for each in parts),
            turns=total(each.turns for each in parts),
            duration_s=None if None in duration else sum(each or 0.0 for each in duration),
        )

    def _assistant(self, event: Object) -> None:
        message = inner(event, "message")
        if message.get("model") == "<synthetic>":
            self._kind = word(event, "error")
            self._say(message)
            return
        self._outcome = self._trouble = None
        self._kind = ""
        main = event.get("parent_tool_use_id") is None
        if main:
            self._say(message)
        name, usage = text(message.get("id")), inner(message, "usage")
        if name is not None and usage:
            # A message with a total is complete, whatever its stop reason.
            finished = message.get("stop_reason") is not None or "total_tokens" in usage
            self._messages.add(name, usage, finished=finished, main=main)

    def _say(self, message: Object) -> None:
        words = [text(block.get("text")) for block in objects(message.get("content")) if block.get("type") == "text"]
        self._last = "\n".join(each for each in words if each)[-8_000:] or self._last

    def _result(self, event: Object) -> None:
        words = text(event.get("result"))
        self._last = words or self._last
        self._outcome = self._run_outcome(event, words)
        self._trouble = None
        name = text(event.get("session_id")) or ""
        if name in self._told or len(self._told) < _REMEMBERED:
            self._told[name] = self._sums(event)
            self._own[name] = input_tokens(inner(event, "usage"))
        self._messages = _Messages()

    def _sums(self, event: Object) -> Usage:
        models, usage = objects(list(inner(event, "modelUsage").values())), inner(event, "usage")
        if models:  # the only sum that includes subagents and the message that exhausted the budget, like the cost
            keys = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
            read = total(count(each.get(key, 0)) for each in models for key in keys)
            written = total(count(each.get("outputTokens")) for each in models)
        elif usage:
            read, written = input_tokens(usage), count(usage.get("output_tokens"))
        else:
            read, written = self._messages.usage.input_tokens, self._messages.usage.output_tokens
        return Usage(
            cost_usd=amount(event.get("total_cost_usd")),
            input_tokens=read,
            output_tokens=written,
            turns=count(event.get("num_turns")),
            duration_s=seconds(event.get("duration_ms")),
        )

    def _run_outcome(self, event: Object, words: str | None) -> RunOutcome:
        if event.get("is_error") is not True and word(event, "subtype") in {"", "success"}:
            asked = asks_permission(words or "") if event.get("permission_denials") else None
            if asked is not None:
                return RunOutcome(Ending.NEEDS_PERSON, asked)
            return outcome_of_whole_message(words or "") or RunOutcome(Ending.DONE)
        errors = event.get("errors")
        first = next((each for each in errors if text(each)), None) if isinstance(errors, list) else None
        error = first or text(event.get("error")) or text(inner(event, "error").get("message"))
        why = error or words or text(event.get("subtype")) or ""
        if word(event, "subtype") in _LIMITS or word(event, "terminal_reason") in _LIMITS:
            return RunOutcome(Ending.OUT_OF_BUDGET, why)
        found = outcome_of_error(why, count(event.get("api_error_status")))
        found = found._replace(ending=_KINDS.get(self._kind, found.ending))
        if found.ending is Ending.RATE_LIMITED and self._limit is not None:
            return found._replace(retry_at=found.retry_at or self._limit.retry_at)
        return found


def _greater(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _add_growth(sum_: int | None, before: int | None, now: int | None) -> int | None:
    return sum_ if now is None else (sum_ or 0) + now - (before or 0)


def _initial(event: Object) -> Object:
    """Return the event that begins a session, {} for any other."""
    return event if event.get("type") == "system" and event.get("subtype") == "init" else NOTHING


class Amp(ClaudeCode):
    """Amp, `amp --execute … --stream-json`: Claude Code's events without a cost, and `error` as a text.

    From the types of @sourcegraph/amp-sdk 0.1.0-20260126121723; not tested in a run, which needs an account.

    Input tokens include cache reads and writes; its field is assumed to exclude them, like Anthropic's.
    """

    @staticmethod
    def sniff(event: Object) -> bool:
        """Return whether it is an event of a thread: its session ids begin with T-."""
        return ClaudeCode.sniff(event) and str(event.get("session_id")).startswith("T-")


class QwenCode(ClaudeCode):
    """Qwen Code, `qwen -p … --output-format stream-json` or `json` (one array).

    Tested in runs of @qwen-code/qwen-code 0.15.10 against a mock server: a result without cost; an error of its service
    is a result that says success and contains `[API Error: 401 …]`; at its limit of turns it exits with 53 and no
    result. The other exit codes are from that program's text.

    Input tokens include cache reads, like its field (`total_tokens` less the output).
    """

    @staticmethod
    def sniff(event: Object) -> bool:
        """Return whether it begins a session of this program."""
        return "qwen_code_version" in _initial(event)

    def result(self) -> StreamReport:
        return super().result()._replace(exits=((41, Ending.NEEDS_PERSON), (53, Ending.OUT_OF_BUDGET)))


class Cursor(ClaudeCode):
    """Cursor's agent, `cursor-agent -p … --output-format stream-json` or `json`.

    From the vendor's page on output formats and from public programs that read them (October 2026); not tested in a
    run, which needs an account. A failed run prints no result, only its exit code and standard error. The usage of a
    result (`inputTokens` …) is newer than the vendor's page. There is no cost and no number of turns.

    Input tokens include cache reads and writes; its field is assumed to exclude them.
    """

    @staticmethod
    def sniff(event: Object) -> bool:
        """Return whether it begins a session without a list of tools, or is a kind that only this program has."""
        first = _initial(event)
        alone = event.get("type") == "result" and "request_id" in event and "num_turns" not in event
        return ClaudeCode.sniff({**event, "type": "user"}) and (
            ("apiKeySource" in first and "tools" not in first) or word(event, "type") in _CURSORS or alone
        )

    def feed(self, event: Object) -> None:
        usage = {_CURSOR_NAMES[key]: value for key, value in inner(event, "usage").items() if key in _CURSOR_NAMES}
        super().feed({**event, "usage": usage} if usage else event)


_CURSORS: Final = frozenset({"thinking", "tool_call"})
_CURSOR_NAMES: Final = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_input_tokens",
    "cacheWriteTokens": "cache_creation_input_tokens",
}
