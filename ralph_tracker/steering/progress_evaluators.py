"""Evaluate the progress of a session: what is known of it, and ready-made evaluators that say whether it continues.

See steering.md § 1.
`SimpleProgressEvaluator` computes, `LLMProgressEvaluator` asks a model, `QualityProgressEvaluator` uses the tracker's
records; `InteractiveProgressEvaluator` asks a person, `AllAgree` combines evaluators.
"""

import asyncio
import logging
import re
from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from contextlib import aclosing, suppress
from threading import Thread
from typing import Any, Final, NamedTuple, Protocol

from ralph_tracker.errors import InputError
from ralph_tracker.steering.session_continuation import EVALUATION_INTERVAL
from ralph_tracker.steering.session_events import Event, TurnEnded

_RUN_WORDS: Final = 20
_OUTPUT_LENGTH: Final = 200
_RECENT_CHARACTERS: Final = 500


class ProgressInfo(NamedTuple):
    """The progress of a session.

    `total_turns` is the limit of turns, None if there is none. `tokens_generated` is None if a turn did not report it.
    `cost_so_far` (USD) is the known cost, a lower bound; None if no turn reported any. `recent_output` are the last 500
    characters of the last 3 outputs; turns without text are ignored.
    """

    turns_completed: int
    total_turns: int | None
    tokens_generated: int | None
    time_elapsed_ms: int
    recent_output: str
    cost_so_far: float | None


class ProgressEvaluator(Protocol):
    """An evaluator that decides whether a session continues.

    An attribute `timeout_s` limits its time in seconds; None is no limit, as for a person.
    """

    async def should_continue(self, info: ProgressInfo) -> tuple[bool, str]:
        """Return whether the session continues, and why."""
        ...


class SessionProgress:
    """The progress of a session, from its events; memory is constant."""

    def __init__(self) -> None:
        self.turns_completed = 0
        self._tokens: int | None = 0
        self._cost_usd: float | None = 0.0
        self._outputs: deque[str] = deque(maxlen=3)

    def fold(self, event: Event) -> None:
        """Handle an event; only ends of turns matter."""
        if not isinstance(event, TurnEnded):
            return
        told, tokens = event.cost_usd, self._tokens
        self._tokens = None if tokens is None or event.output_tokens is None else tokens + event.output_tokens
        if told is not None:
            self._cost_usd = (self._cost_usd or 0.0) + told
        elif not self.turns_completed:
            self._cost_usd = None
        self.turns_completed += 1
        if event.text:
            self._outputs.append(event.text[-_RECENT_CHARACTERS:])

    def settle(self, cost_usd: float | None = None, tokens_generated: int | None = None) -> None:
        """Replace the sums over turns by the host's values for the whole session; None leaves a sum."""
        self._cost_usd = self._cost_usd if cost_usd is None else cost_usd
        self._tokens = self._tokens if tokens_generated is None else tokens_generated

    def info(self, time_elapsed_ms: int, total_turns: int | None = None) -> ProgressInfo:
        """Return the progress after that many milliseconds; `total_turns` is None if there is no limit."""
        return ProgressInfo(
            turns_completed=self.turns_completed,
            total_turns=total_turns,
            tokens_generated=self._tokens,
            time_elapsed_ms=time_elapsed_ms,
            recent_output="".join(self._outputs)[-_RECENT_CHARACTERS:],
            cost_so_far=self._cost_usd,
        )


class SimpleProgressEvaluator(NamedTuple):
    """An evaluator that stops a session which is slow, repeats itself or costs too much.

    `min_tokens_per_second` is ignored at 0 ms or if tokens are unknown, `max_cost_usd` if no cost is known; None
    disables either. A repetition is a run of 20 words, in any case and spacing, seen 4 times.
    """

    min_tokens_per_second: float | None = 1.0
    max_cost_usd: float | None = 10.0

    async def should_continue(self, info: ProgressInfo) -> tuple[bool, str]:
        """Return whether the session continues, and why."""
        slowest, tokens, took_ms = self.min_tokens_per_second, info.tokens_generated, info.time_elapsed_ms
        if slowest is not None and tokens is not None and took_ms > 0 and tokens * 1000 / took_ms < slowest:
            return False, "Generation too slow"
        words = re.findall(r"\w+", info.recent_output.casefold())
        runs = Counter(tuple(words[start : start + _RUN_WORDS]) for start in range(len(words) - _RUN_WORDS + 1))
        if any(times >= 4 and any(not word.isdigit() for word in run) for run, times in runs.items()):
            return False, "Detected repetition"
        limit, cost = self.max_cost_usd, info.cost_so_far
        if limit is not None and cost is not None and cost > limit:
            return False, f"Cost exceeded ${limit:g} (${cost:.2f})"
        return True, "Making progress"


class LLMProgressEvaluator(NamedTuple):
    """An evaluator that asks a model and uses the first word of its answer: YES or NO.

    `ask(prompt)` returns an answer; ready-made ones are in `ralph_tracker.agents.ask_model`. After any other
    first word the session continues, and the reason says so.
    """

    ask: Callable[[str], Awaitable[str]]

    async def should_continue(self, info: ProgressInfo) -> tuple[bool, str]:
        """Return whether the session continues, and why."""
        answer = await self.ask(evaluation_prompt(info))
        first = re.search(r"\w+(?:[-'’]\w+)*", answer)
        match first.group().casefold() if first else "":
            case "no":
                return False, answer.strip()
            case "yes":
                return True, "Progress confirmed"
            case _:
                return True, f"Unclear answer, neither YES nor NO: {' '.join(answer.split())[:_OUTPUT_LENGTH]!r}"


def evaluation_prompt(info: ProgressInfo) -> str:
    """Return the prompt for the model."""
    turns = info.turns_completed if info.total_turns is None else f"{info.turns_completed}/{info.total_turns}"
    return (
        "Evaluate if this session is making meaningful progress:\n"
        f"- Turns: {turns}\n"
        f"- Time: {info.time_elapsed_ms / 1000:.1f}s\n"
        f"- Recent output: {info.recent_output[-_OUTPUT_LENGTH:]}\n"
        "\n"
        "Is meaningful progress being made? Respond with YES or NO and a brief reason.\n"
    )


class QualityState(NamedTuple):
    """The tracker's record of the latest iteration: its class, and its open CRITICAL alerts in words."""

    classification: str
    critical_alerts: tuple[str, ...] = ()


class QualityProgressEvaluator(NamedTuple):
    """An evaluator that stops on an open CRITICAL alert or a stalled loop, by the tracker's records (steering.md § 1).

    `state()` returns that record, None if there is none yet, which stops nothing.
    """

    state: Callable[[], QualityState | None]

    async def should_continue(self, info: ProgressInfo) -> tuple[bool, str]:  # noqa: ARG002  # the record says all
        """Return whether the session continues, and why."""
        return self.evaluate_now()

    def evaluate_now(self) -> tuple[bool, str]:
        """Return the same without awaiting."""
        state = self.state()
        if state is None:
            return True, "Nothing on record yet"
        if state.critical_alerts:
            return False, f"Open CRITICAL alert: {state.critical_alerts[0]}"
        if state.classification == "stalled":
            return False, "The loop is stalled"
        return True, f"On record: {state.classification}"


EVALUATION_TIMEOUT_S: Final = 10.0
DRAIN_S: Final = 30.0
_CONTENT_CHARACTERS: Final = 1_000_000
_LOG: Final = logging.getLogger(__name__)


class SessionResponse(NamedTuple):
    """The result of a session.

    `content` is the text of its turns, at most the last million characters. `error` is
    `Stopped by progress evaluator: reason`, None if it was not stopped. `info` is its progress, `result` the host's own
    result, None if it has none.
    """

    content: str
    error: str | None
    info: ProgressInfo
    result: Any = None


async def ask_evaluator(
    evaluator: ProgressEvaluator, info: ProgressInfo, timeout_s: float | None = EVALUATION_TIMEOUT_S
) -> tuple[bool, str]:
    """Ask one evaluator; if it raises, takes too long or returns nonsense, that is logged and the session continues.

    An attribute `timeout_s` of the evaluator overrides `timeout_s` (None: no limit).
    """
    name = type(evaluator).__name__
    try:
        async with asyncio.timeout(getattr(evaluator, "timeout_s", timeout_s)):
            goes_on, reason = await evaluator.should_continue(info)
        if not isinstance(goes_on, bool):
            raise TypeError(f"should_continue gave {goes_on!r}, neither True nor False")  # noqa: TRY301  # logged below
    except TimeoutError:
        _LOG.warning("%s did not answer in time; the session continues", name)
        return True, f"{name} did not answer in time"
    except Exception as error:  # noqa: BLE001  # no error of an evaluator may lose work
        _LOG.exception("%s failed; the session continues", name)
        return True, f"{name} failed: {error!r}"
    return goes_on, str(reason)


class AllAgree:
    """A combination of evaluators: the first that does not agree stops the session (steering.md § 1).

    Each has `timeout_s` seconds unless it sets its own; an error in one does not affect the others.
    """

    timeout_s: Final[None] = None

    def __init__(self, *evaluators: ProgressEvaluator, each_timeout_s: float | None = EVALUATION_TIMEOUT_S) -> None:
        """Combine evaluators, cheapest first, since none is asked after a stop."""
        self._evaluators = evaluators
        self._timeout_s = each_timeout_s

    async def should_continue(self, info: ProgressInfo) -> tuple[bool, str]:
        """Return whether the session continues, and why."""
        reasons = []
        for evaluator in self._evaluators:
            goes_on, reason = await ask_evaluator(evaluator, info, self._timeout_s)
            if not goes_on:
                return False, reason
            reasons.append(reason)
        return True, "; ".join(reasons)


class ProgressMonitor:
    """A monitor that tracks the events of a session and asks the evaluator at intervals.

    An evaluation is not a turn, and unless more than the time has changed the evaluator is not asked again.
    """

    def __init__(
        self,
        evaluator: ProgressEvaluator | None,
        now: Callable[[], float],
        *,
        evaluation_interval: int = EVALUATION_INTERVAL,
        total_turns: int | None = None,
        timeout_s: float | None = EVALUATION_TIMEOUT_S,
    ) -> None:
        """Begin before the first turn.

        `evaluator` may be None. `now()` is a monotonic time in seconds (`time.monotonic`). `evaluation_interval` and
        `total_turns` are turns (None: no limit); `timeout_s` limits one evaluation in seconds, None is no limit. Raises
        InputError for an interval below 1.
        """
        if evaluation_interval < 1:
            raise InputError(f"evaluation_interval is {evaluation_interval}; give 1 turn or more")
        self._evaluator = evaluator
        self._now = now
        self._interval = evaluation_interval
        self._total_turns = total_turns
        self._timeout_s = timeout_s
        self._progress = SessionProgress()
        self._said: deque[str] = deque()
        self._characters = 0
        self._began: float | None = None
        self._evaluated = 0
        self._asked: ProgressInfo | None = None
        self._verdict = True, ""

    def begin(self) -> None:
        """Start the clock, unless it runs; the first event does so too."""
        if self._began is None:
            self._began = self._now()

    def fold(self, event: Event) -> None:
        """Handle an event, without asking the evaluator, so that events may come in batches."""
        self.begin()
        self._progress.fold(event)
        if isinstance(event, TurnEnded) and event.text:
            text = event.text[-_CONTENT_CHARACTERS:]
            self._said.append(text)
            self._characters += len(text) + 1
            while self._characters > _CONTENT_CHARACTERS + 1:
                self._characters -= len(self._said.popleft()) + 1

    def settle(self, cost_usd: float | None = None, tokens_generated: int | None = None) -> None:
        """Replace the sums over turns by the host's values for the whole session; None leaves a sum."""
        self._progress.settle(cost_usd, tokens_generated)

    @property
    def due(self) -> bool:
        """Return whether an interval has ended since the last evaluation."""
        turns = self._progress.turns_completed
        return self._evaluator is not None and turns // self._interval > self._evaluated // self._interval

    def info(self) -> ProgressInfo:
        """Return the current progress of the session."""
        elapsed_s = 0.0 if self._began is None else self._now() - self._began
        return self._progress.info(int(elapsed_s * 1000), self._total_turns)

    async def evaluate(self) -> tuple[bool, str]:
        """Return whether the session continues, and why; asks the evaluator unless it was asked for the same info."""
        info = self.info()
        self._evaluated = info.turns_completed
        untimed = info._replace(time_elapsed_ms=0)
        if self._evaluator is not None and untimed != self._asked:
            self._verdict = await ask_evaluator(self._evaluator, info, self._timeout_s)
            self._asked = untimed
        return self._verdict

    def response(self, error: str | None = None, result: Any = None) -> SessionResponse:  # noqa: ANN401  # the host's own
        """Return the result of the session so far."""
        return SessionResponse("\n".join(self._said), error, self.info(), result)


async def run_evaluated(
    events: AsyncIterable[Event],
    monitor: ProgressMonitor,
    stop: Callable[[], Awaitable[None]] | None = None,
    *,
    drain_s: float = DRAIN_S,
) -> SessionResponse:
    """Follow a session, any async iterator of events, until it ends or the evaluator stops it.

    On a stop `stop()` is awaited, and further events are handled for `drain_s` seconds; without it the iterator is
    closed immediately. Errors of the iterator are raised; `monitor.response()` has the work until then.
    """

    async def folding() -> AsyncGenerator[None, None]:
        try:
            async for event in events:
                monitor.fold(event)
                yield
        finally:
            await close_iterator(events)

    return await drive(folding(), monitor, stop, drain_s=drain_s)


async def close_iterator(iterator: AsyncIterable[Any]) -> None:
    """Close an iterator if it can be closed."""
    close = getattr(iterator, "aclose", None)
    if close is not None:
        await close()


async def drive(
    steps: AsyncGenerator[None, None],
    monitor: ProgressMonitor,
    stop: Callable[[], Awaitable[None]] | None,
    *,
    drain_s: float = DRAIN_S,
) -> SessionResponse:
    """Run the steps of a session, each of which handles its events itself; else as `run_evaluated`."""
    monitor.begin()
    error: str | None = None
    limit = asyncio.timeout(None)
    try:
        async with limit, aclosing(steps):
            async for _ in steps:
                if error is not None or not monitor.due:
                    continue
                goes_on, reason = await monitor.evaluate()
                error = None if goes_on else f"Stopped by progress evaluator: {reason}"
                if error is not None:
                    limit.reschedule(asyncio.get_running_loop().time() + drain_s)
                    if not await _stop_host(stop):
                        break
    except TimeoutError:
        if not limit.expired():
            raise
        _LOG.warning("the session did not end within %g seconds of being stopped", drain_s)
    return monitor.response(error)


async def _stop_host(stop: Callable[[], Awaitable[None]] | None) -> bool:
    """Stop the host, and return whether to wait for further events; False if it cannot be stopped."""
    if stop is None:
        return False
    try:
        await stop()
    except Exception:  # noqa: BLE001  # as above
        _LOG.exception("the session could not be stopped; nothing more of it is heard")
        return False
    return True


async def ask_at_terminal(question: str) -> str | None:
    """Print a question and return the line that is typed; None at the end of input."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[str | None] = loop.create_future()

    def answer(line: str | None) -> None:
        if not answered.done():
            answered.set_result(line)

    def read() -> None:
        try:
            line = input(question)
        except (EOFError, OSError, ValueError, RuntimeError):  # closed in some way
            line = None
        with suppress(RuntimeError):  # the event loop has ended
            loop.call_soon_threadsafe(answer, line)

    # A daemon, so that an interrupted program ends without waiting for Enter.
    Thread(target=read, daemon=True).start()
    return await answered


class InteractiveProgressEvaluator:
    """An evaluator that asks a person; Enter continues.

    It waits without a limit. An answer that is neither yes nor no is asked again; the end of input stops, because
    nobody approved.
    """

    timeout_s: Final[None] = None

    def __init__(self, ask: Callable[[str], Awaitable[str | None]] = ask_at_terminal) -> None:
        """Create it; `ask(question)` returns the reply, None if nobody is there."""
        self._ask = ask

    async def should_continue(self, info: ProgressInfo) -> tuple[bool, str]:
        """Return whether the session continues, and why."""
        question = progress_question(info)
        while True:
            reply = await self._ask(question)
            if reply is None:
                return False, "No one is there to answer: end of input"
            word = reply.strip().casefold()
            if word in {"n", "no", "stop", "cancel"}:
                return False, "User requested stop"
            if word in {"", "y", "yes", "continue", "go", "ok"}:
                return True, "User approved continuation"
            question = "Reply 'y' or Enter to continue, 'n' to stop: "


def progress_question(info: ProgressInfo) -> str:
    """Return the question for a person, without terminal control characters."""
    cost = "unknown" if info.cost_so_far is None else f"${info.cost_so_far:.2f}"
    recent = " ".join(info.recent_output[-100:].split())
    return (
        f"\n--- Progress Check (Turn {info.turns_completed}) ---\n"
        f"Cost so far: {cost}\n"
        f"Recent output: ...{''.join(char if char.isprintable() else '?' for char in recent)}\n"
        "Continue? [Y/n]: "
    )
