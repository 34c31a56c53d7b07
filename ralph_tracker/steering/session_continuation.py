"""Decide whether a session continues, by metrics of its events, and what to tell the agent."""

import re
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Hashable, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

from ralph_tracker.codec import decode
from ralph_tracker.core.thresholds import Bounds, Count, OtherNames, Share
from ralph_tracker.steering.session_events import (
    Event,
    FileChanged,
    FileRead,
    PersonSaid,
    TestsPassed,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)

EVALUATION_INTERVAL: Final = 5
"""The number of turns between evaluations."""
Complexity = Literal["simple", "medium", "complex", "generation"]
COMPLEXITIES: Final[tuple[Complexity, ...]] = get_args(Complexity)


class ComplexityLimits(NamedTuple):
    """The limits for tasks of one complexity: nudges, turns, tool calls, and their share of the score, 0 to 1."""

    max_interventions: Count
    max_iterations: Count
    tool_budget: Count
    share: Share


class Parts(NamedTuple):
    """One number for each part of the score: its weight, its value from 0 to 1, or their product."""

    velocity: Share
    not_stuck: Share
    tokens: Share
    interventions: Share
    complexity: Share


class TokenBudget(NamedTuple):
    """The usable part of the context window, in tokens; the limits are shares of it.

    From `soft` on a session without progress is nudged, from `hard` on any session is forced. `synthesis` is reserved
    for the final answer, and lowers `hard` if necessary.
    """

    context_window: Count = 128_000
    soft: Annotated[Share, OtherNames(("soft_limit",))] = 0.30
    hard: Annotated[Share, OtherNames(("exploration",))] = 0.70
    synthesis: Share = 0.15

    @property
    def problem(self) -> str | None:
        """Return why the shares contradict each other, None if they do not."""
        if self.soft > self.hard:
            return f"soft is {self.soft:g}, more than hard, {self.hard:g}; a session is nudged before"
        return None

    @property
    def limit(self) -> float:
        """Return the share of the window at which the session is forced to finish."""
        return min(self.hard, 1 - self.synthesis)

    def used_share(self, context_tokens: int) -> float:
        """Return the used share of the window; over 1 if the agent's window is larger than configured."""
        return context_tokens / self.context_window

    def should_nudge_synthesis(self, context_tokens: int | None) -> bool:
        """Return whether the soft limit is reached; False if the tokens are unknown (None)."""
        return context_tokens is not None and self.used_share(context_tokens) >= self.soft

    def should_force_synthesis(self, context_tokens: int | None) -> bool:
        """Return whether the hard limit is reached; False if the tokens are unknown (None)."""
        return context_tokens is not None and self.used_share(context_tokens) >= self.limit

    def room(self, context_tokens: int | None) -> float:
        """Return 1 up to the soft limit, falling to 0 at the hard one; 1 if the tokens are unknown (None)."""
        if context_tokens is None:
            return 1.0
        used = self.used_share(context_tokens)
        if used >= self.limit:
            return 0.0
        return 1.0 if used <= self.soft else (self.limit - used) / (self.limit - self.soft)


class ProgressThresholds(NamedTuple):
    """The window for velocity, the velocity that scores 1 (progress events a turn), the repeats of a stuck loop."""

    velocity_turns: Annotated[int, Bounds(1, 100)] = 5
    full_velocity: Annotated[float, Bounds(above=0), OtherNames(("min_files_per_intervention",))] = 0.5
    stuck_repeats: Annotated[Count, OtherNames(("max_revisits_before_nudge",))] = 3


class ComplexityThresholds(NamedTuple):
    """The limits of a session by its task's complexity, and the context in tokens from which a task is complex."""

    simple: ComplexityLimits = ComplexityLimits(5, 10, 10, 0.25)
    medium: ComplexityLimits = ComplexityLimits(10, 25, 25, 0.50)
    complex: ComplexityLimits = ComplexityLimits(20, 50, 100, 1.00)
    generation: ComplexityLimits = ComplexityLimits(15, 35, 50, 0.75)
    large_context: Count = 100_000


class VerdictThresholds(NamedTuple):
    """The lowest scores to continue and to be nudged, below which a session is forced; the first turns are exempt."""

    continue_from: Share = 0.6
    nudge_from: Share = 0.3
    warm_up_turns: Annotated[int, Bounds(0)] = 3

    @property
    def problem(self) -> str | None:
        """Return why the scores contradict each other, None if they do not."""
        if self.nudge_from > self.continue_from:
            return f"nudge_from is {self.nudge_from:g}, more than continue_from, {self.continue_from:g}"
        return None


class ContinuationThresholds(NamedTuple):
    """The thresholds for nudging and forcing a session: the section `continuation` of the configuration."""

    progress: ProgressThresholds = ProgressThresholds()
    complexity: ComplexityThresholds = ComplexityThresholds()
    token_budgets: TokenBudget = TokenBudget()
    weights: Parts = Parts(0.30, 0.25, 0.20, 0.15, 0.10)
    score: VerdictThresholds = VerdictThresholds()


def continuation_thresholds_of(section: Mapping[str, Any]) -> ContinuationThresholds:
    """Return the thresholds in the section `continuation` of a validated configuration."""
    return decode(ContinuationThresholds, {name: section[name] for name in ContinuationThresholds._fields})


_MAKES: Final = "write|create|generate|implement|scaffold|draft"
_CHANGES: Final = "build|add|fix|refactor|document|test|migrate|update|convert|port|deploy|remove|rename"
# The start of a clause that may be a request: "how to write" does not ask for writing.
_CLAUSES: Final = re.compile(r"[.!?;:,](?=\s)|\n|\b(?:please|and|then|also|now)\b", re.IGNORECASE)
_ASKED: Final = re.compile(
    r"(?:to |(?:can|could|would|will) you |i (?:want|need) you to |i'd like you to )?"
    rf"(?:(?P<makes>{_MAKES})|{_CHANGES})\b",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s+\S")
_LIST: Final = re.compile(
    rf"\b(?:{_MAKES}|{_CHANGES})\s[^.;\n]{{0,100}}?,\s?(?:(?:an?|the|its)\s[^.;,\n]{{0,100}},?\sand\s"
    r"|[^.;,\n]{0,100},?\sand\s(?:an?\b|the\b|its\b|tests|doc))",
    re.IGNORECASE,
)
_WHOLE: Final = re.compile(
    r"\b(?:entire|whole|full|complete|all\sof\s(?:the|this|our))\s(?:[\w-]+\s){0,4}?"
    r"(?:systems?|architecture|code\s?base|repo(?:sitory)?|project|app(?:lication)?|platform|program|product)\b"
    r"|\bend[- ]to[- ]end\b|\bfrom\sscratch\b|\b(?:system|codebase|project)[- ]wide\b",
    re.IGNORECASE,
)
_PATH: Final = re.compile(r"(?:^|[\s`'\"(])(?:[\w.~-]*/[\w./-]+|[\w-]{2,}\.[A-Za-z]\w{0,4})(?=[\s`'\"),:;?!.]|$)")
_QUESTION: Final = re.compile(
    r"^\s*(?:what|how|why|which|who|whose|when|where|is|are|was|does|do(?!\s+not)|did|has|have|should)\b", re.IGNORECASE
)


def classify_task_complexity(
    prompt: str, context_size: int | None = None, thresholds: ContinuationThresholds | None = None
) -> Complexity:
    """Return the complexity of a task.

    `context_size` is the size of its context in tokens, None if unknown. `thresholds` None are the defaults.
    """
    # characters of a prompt, enough to contain the request
    text = re.sub(r"[^\S\n]+", " ", prompt[:20_000])
    asked = [found for clause in _CLAUSES.split(text) if (found := _ASKED.match(clause.lstrip(" \t-*•0123456789.)")))]
    verbs = len({found[0].lower().rpartition(" ")[2] for found in asked})
    items = sum(_ITEM.match(line.lstrip()) is not None for line in text.split("\n"))
    if max(verbs, items) >= 2 or _LIST.search(text) or _WHOLE.search(text):
        return "complex"
    generates = any(found["makes"] for found in asked)
    if not generates and (text.rstrip().endswith("?") or _QUESTION.match(text)) and not _PATH.search(text):
        return "simple"
    if context_size is not None and context_size > (thresholds or ContinuationThresholds()).complexity.large_context:
        return "complex"
    return "generation" if generates else "medium"


_KEPT: Final = 2048  # bounds the memory; older things are forgotten and count as new


class _Known:
    """The most recent things seen."""

    def __init__(self) -> None:
        self._hashes: dict[int, None] = {}

    def add_is_known(self, thing: Hashable) -> bool:
        """Return whether a thing is known, and remember it."""
        mark = hash(thing)
        known = mark in self._hashes
        if known:
            del self._hashes[mark]
        elif len(self._hashes) >= _KEPT:
            del self._hashes[next(iter(self._hashes))]
        self._hashes[mark] = None
        return known


class _Streak(NamedTuple):
    """What is no exact repeat and still no work: what it is called, and from which count on."""

    words: str
    least: int


_NEAR_REPEATS: Final = {
    "failed": _Streak("the last {} calls failed", 10),
    "read_again": _Streak("the last {} reads were of files that were read before", 10),
    "talk": _Streak("the last {} turns called no tool", 5),
    "said_again": _Streak("{} turns said what was said before", 5),
}


class ProgressMetrics:
    """The metrics of a session, counted from its events; what no event reported is 0.

    `unique_files_read`, `total_file_reads` and `files_revisited` (reads of a known file) count reads, `tools_used`
    calls that ended, `total_iterations` turns. `iterations_without_tools` are the latest consecutive turns without a
    tool, `consecutive_file_revisits` the latest consecutive repeats, of any tool. `near_repeats` counts what has come
    since the last progress that is no exact repeat: failed calls, known files read again, turns of talk, said texts.
    """

    def __init__(self, thresholds: ContinuationThresholds | None = None) -> None:
        """Begin a session; `thresholds` None are the defaults."""
        self._thresholds = thresholds or ContinuationThresholds()
        self.unique_files_read = self.total_file_reads = self.files_revisited = 0
        self.tools_used = self.total_iterations = 0
        self.iterations_without_tools = self.consecutive_file_revisits = 0
        self._files, self._calls, self._passing, self._trees = _Known(), _Known(), _Known(), _Known()
        self._said = _Known()
        self.near_repeats = dict.fromkeys(_NEAR_REPEATS, 0)
        self._told: str | None = None  # the last tree that was reported
        self._epoch = 0  # counts changes reported without a tree
        self._change_reported = False  # and no call has ended since that could have reported the tree
        self._has_tools = False
        self._tools_before = 0
        self._news = 0
        self._window: deque[int] = deque(maxlen=self._thresholds.progress.velocity_turns)

    @property
    def progress_velocity(self) -> float:
        """Return the progress events per turn, over the last turns; 1 before any turn has ended."""
        return sum(self._window) / len(self._window) if self._window else 1.0

    @property
    def turns_with_news(self) -> int:
        """Return how many of the last turns made progress."""
        return sum(map(bool, self._window))

    @property
    def is_making_progress(self) -> bool:
        """Return whether something was new in the last turns; True before any turn has ended."""
        return self.progress_velocity > 0

    @property
    def is_stuck_loop(self) -> bool:
        """Return whether the last calls are only repeats."""
        return self.consecutive_file_revisits >= self._thresholds.progress.stuck_repeats

    def fold(self, event: Event) -> None:
        """Count an event."""
        match event:
            case ToolStarted():
                self._has_tools = True
            case ToolEnded():
                self._count_ended_call(event)
            case FileRead():
                self._read(event)
            case FileChanged():
                if self._told is None:
                    self._new_epoch()
                else:
                    self._change_reported = True
            case TestsPassed():
                known = [self._passing.add_is_known(name) for name in event.names]
                if not all(known):
                    self._progress()
            case TurnEnded():
                self.total_iterations += 1
                used = self.tools_used > self._tools_before
                self.iterations_without_tools = 0 if used else self.iterations_without_tools + 1
                self._tools_before = self.tools_used
                text = " ".join(event.text.split())
                # "Done." and the like are said more than once.
                self._near("said_again", len(text) >= 20 and self._said.add_is_known(text), is_over=False)
                self._near("talk", not used)
                self._window.append(self._news)
                self._news = 0
            case PersonSaid():
                self.consecutive_file_revisits = 0  # a person may ask for a repetition
                self.near_repeats = dict.fromkeys(_NEAR_REPEATS, 0)

    def _count_ended_call(self, event: ToolEnded) -> None:
        self._has_tools = True
        self.tools_used += 1
        if not event.refused:
            self._look_at_tree(event.tree)
            self._near("failed", not event.success)
        is_known = self._calls.add_is_known((event.name, event.arguments, event.result, self._told, self._epoch))
        if is_known or not event.refused:
            self._repeat(is_known)

    def _look_at_tree(self, tree: str | None) -> None:
        """Compare a reported tree with the last one; a reported change without a new tree is none."""
        if tree is None:
            if self._change_reported:
                self._new_epoch()
        elif tree != self._told:
            is_first, is_known = self._told is None, self._trees.add_is_known(tree)
            self._told, self._epoch = tree, 0
            if not is_first and not is_known:
                self._progress()
        self._change_reported = False

    def _read(self, event: FileRead) -> None:
        self.total_file_reads += 1
        is_known = self._files.add_is_known(event.path)
        self._near("read_again", is_known)
        if is_known:
            self.files_revisited += 1
            if not self._has_tools:  # if a host reports only files; else the call itself is the repeat
                self._repeat(self._calls.add_is_known((event.path, self._told, self._epoch)))
            return
        if not self._has_tools:
            self._calls.add_is_known((event.path, self._told, self._epoch))
        self.unique_files_read += 1
        self._progress()

    def _new_epoch(self) -> None:
        self._epoch += 1
        self._progress()

    def _progress(self) -> None:
        self._news += 1
        self.consecutive_file_revisits = 0
        self.near_repeats = dict.fromkeys(_NEAR_REPEATS, 0)

    def _near(self, streak: str, is_one: bool, *, is_over: bool = True) -> None:  # noqa: FBT001  # as below
        """Count a near repeat; anything else ends its streak, where `is_over` says so."""
        if is_one or is_over:
            self.near_repeats[streak] = self.near_repeats[streak] + 1 if is_one else 0

    def _repeat(self, is_one: bool) -> None:  # noqa: FBT001  # whether to count on or reset
        self.consecutive_file_revisits = self.consecutive_file_revisits + 1 if is_one else 0


Action = Literal["continue", "nudge_synthesis", "force_synthesis"]
_IDLE: Final = "idle"
_SPENT: Final = "spent"
_NEVER: Final[frozenset[str]] = frozenset()
_WORDS: Final = {
    "nudge_synthesis": "Try another way, or stop and say what is open: {why}.",
    "force_synthesis": "Call no more tools in this turn; say what is done and what is open: {why}.",
}


class TurnVerdict(NamedTuple):
    """The verdict on a turn.

    `score` is from 0 to 1, the sum of `parts`; `terms` are the same before weighting, each from 0 to 1. `reasons` say
    why not to continue; empty if there are none, or in the first turns.
    """

    turn: int
    action: Action
    score: float
    parts: Parts
    terms: Parts
    reasons: tuple[str, ...] = ()

    @property
    def message(self) -> str | None:
        """Return the message for the agent, None if there is none."""
        return message_of(self.action, *self.reasons)


def message_of(action: Action, *reasons: str) -> str | None:
    """Return the message for an agent that is nudged or forced, None if it continues."""
    words = _WORDS.get(action)
    return None if words is None else words.format(why="; ".join(reasons))


class Continuation:
    """The decision on a session, from its events; memory and time per event are constant.

    `interventions` counts the nudges and forces that were given. `context_tokens` is the size of the agent's context in
    the last turn that reported it, None until then, which is never held against a session.
    """

    def __init__(
        self,
        complexity: Complexity = "medium",
        *,
        thresholds: ContinuationThresholds | None = None,
        context_window: int | None = None,
    ) -> None:
        """Begin a session; `thresholds` None are the defaults, `context_window` (tokens) None is theirs."""
        thresholds = thresholds or ContinuationThresholds()
        if context_window is not None:
            thresholds = thresholds._replace(
                token_budgets=thresholds.token_budgets._replace(context_window=context_window)
            )
        self.thresholds: ContinuationThresholds = thresholds
        self.limits: ComplexityLimits = getattr(thresholds.complexity, complexity)
        self.metrics = ProgressMetrics(thresholds)
        self.context_tokens: int | None = None
        self.interventions = 0
        self._nudged = _NEVER  # the streaks that were nudged and still last
        self._nudged_at = 0  # the number of consecutive repeats at that time
        self._before = (_NEVER, 0)

    @property
    def terms(self) -> Parts:
        """Return the current parts of the score, each from 0 to 1, before weighting."""
        metrics, thresholds, limits = self.metrics, self.thresholds, self.limits
        return Parts(
            velocity=min(1.0, metrics.progress_velocity / thresholds.progress.full_velocity),
            not_stuck=max(0.0, 1 - metrics.consecutive_file_revisits / thresholds.progress.stuck_repeats),
            tokens=thresholds.token_budgets.room(self.context_tokens),
            interventions=max(0.0, 1 - self.interventions / limits.max_interventions),
            complexity=limits.share,
        )

    def fold(self, event: Event) -> TurnVerdict | None:
        """Handle an event, and return the verdict if it ends a turn, else None.

        A returned nudge or force counts as given: pass its message on, or call `not_given`.
        """
        self.metrics.fold(event)
        if not isinstance(event, TurnEnded):
            return None
        if event.context_tokens is not None:
            self.context_tokens = event.context_tokens
        terms = self.terms
        weights = self.thresholds.weights
        parts = Parts._make(round(term * weight, 9) for term, weight in zip(terms, weights, strict=True))
        score = round(sum(parts), 9)  # avoids results that depend on the order of summands
        action, reasons = self._decide(score)
        self.interventions += action != "continue"
        return TurnVerdict(self.metrics.total_iterations, action, score, parts, terms, reasons)

    def not_given(self) -> None:
        """Undo that the last nudge or force counts as given, so that the next turn may give it again."""
        self._nudged, self._nudged_at = self._before
        self.interventions = max(0, self.interventions - 1)

    def _decide(self, score: float) -> tuple[Action, tuple[str, ...]]:
        repeats = self.metrics.consecutive_file_revisits
        is_warm = self.metrics.total_iterations > self.thresholds.score.warm_up_turns
        idle = self._idle(score, is_warm=is_warm)
        used, budget = self.metrics.tools_used, self.limits.tool_budget
        spent = (f"{used} of {budget} tool calls are used",) if used >= budget else ()
        holds = {_IDLE: idle, _SPENT: spent}
        self._nudged = frozenset(streak for streak in self._nudged if holds[streak])
        self._nudged_at = min(self._nudged_at, repeats)
        self._before = (self._nudged, self._nudged_at)
        forced = self._reasons_to_finish(score, is_warm=is_warm)
        if forced:
            return "force_synthesis", forced
        reasons = idle + spent
        if _IDLE in self._nudged or not reasons:
            self._nudged |= {_SPENT} if spent else _NEVER  # one nudge to finish is enough
        elif idle or _SPENT not in self._nudged:
            self._nudged, self._nudged_at = frozenset(each for each in holds if holds[each]), repeats
            return "nudge_synthesis", reasons
        return "continue", (*reasons, "it was nudged for that already") if reasons else ()

    def _reasons_to_finish(self, score: float, *, is_warm: bool) -> tuple[str, ...]:
        """Return why the session must finish now, () if it need not."""
        metrics, tokens, most = self.metrics, self.thresholds.token_budgets, self.limits.max_iterations
        is_stuck, is_nudged = metrics.is_stuck_loop, _IDLE in self._nudged
        reasons = []
        if tokens.should_force_synthesis(self.context_tokens):
            reasons.append(f"{self._taken_text()}, {tokens.limit:.0%} is the hard limit")
        if metrics.total_iterations >= most:
            reasons.append(f"{metrics.total_iterations} of {most} turns are used")
        answers = metrics.tools_used and metrics.iterations_without_tools  # a turn of words alone repeats no call
        if is_stuck and is_nudged and not answers and metrics.consecutive_file_revisits > self._nudged_at:
            reasons.append(f"the last {metrics.consecutive_file_revisits} calls repeat earlier ones, after a nudge")
        if is_nudged:
            reasons += self._near_repeats(times=2)
        if is_warm and score < self.thresholds.score.nudge_from and (is_nudged or not is_stuck):
            reasons.append(self._why_low())
        return tuple(reasons)

    def _idle(self, score: float, *, is_warm: bool) -> tuple[str, ...]:
        """Return the reasons for a nudge because the session makes no progress."""
        metrics, thresholds = self.metrics, self.thresholds
        reasons = []
        if metrics.is_stuck_loop:
            reasons.append(f"the last {metrics.consecutive_file_revisits} calls repeat earlier ones")
        reasons += self._near_repeats()
        if is_warm and score < thresholds.score.continue_from:
            reasons.append(self._why_low())
        is_large = thresholds.token_budgets.should_nudge_synthesis(self.context_tokens)
        if is_warm and is_large and not metrics.is_making_progress:
            turns = min(metrics.total_iterations, thresholds.progress.velocity_turns)
            reasons.append(f"{self._taken_text()}, and the last {turns} turns brought nothing new")
        return tuple(dict.fromkeys(reasons))

    def _why_low(self) -> str:
        """Return what lowers the score most, as a fact; what a task's complexity takes is none."""
        metrics, weights = self.metrics, self.thresholds.weights
        lost = [(1 - term) * weight for term, weight in zip(self.terms, weights, strict=True)][:-1]
        recent = min(metrics.total_iterations, self.thresholds.progress.velocity_turns)
        facts = (
            f"{metrics.turns_with_news} of the last {recent} turns brought anything new",
            f"the last {metrics.consecutive_file_revisits} calls repeat earlier ones",
            self._taken_text(),
            f"{self.interventions} of {self.limits.max_interventions} reminders were given",
        )
        return facts[lost.index(max(lost))]

    def _near_repeats(self, times: int = 1) -> list[str]:
        """Return what comes again and again in another form, from so many times the count on that is told."""
        counts = self.metrics.near_repeats
        return [at.words.format(counts[name]) for name, at in _NEAR_REPEATS.items() if counts[name] >= times * at.least]

    def _taken_text(self) -> str:
        return (
            f"{self.thresholds.token_budgets.used_share(self.context_tokens or 0):.0%} of the context window is taken"
        )


async def steer(
    events: AsyncIterable[Event], continuation: Continuation, say: Callable[[str], Awaitable[object]]
) -> AsyncIterator[TurnVerdict]:
    """Handle the events of a session and send every nudge and force to the agent; yield each turn's verdict afterwards.

    If `say` raises, that is logged, and the next turn tries again.
    """
    async for event in events:
        verdict = continuation.fold(event)
        if verdict is None:
            continue
        if verdict.message is not None:
            try:
                await say(verdict.message)
            except Exception:  # whatever a channel to an agent raises
                import logging  # noqa: PLC0415  # keeps hooks that run at every turn fast

                log = logging.getLogger(__name__)
                log.exception("%s at turn %d was not delivered", verdict.action, verdict.turn)
                continuation.not_given()
        yield verdict


class Guidance:
    """A session's continuation, with its message for the next tool call.

    A message that no tool call came for counts as not given, so that a later turn may give it again. `is_forced` is
    whether the last turn was forced.
    """

    def __init__(self, continuation: Continuation) -> None:
        self._continuation = continuation
        self.is_forced = False
        self._said = ""
        self._words: str | None = None

    def fold(self, event: Event) -> None:
        """Handle an event."""
        if isinstance(event, TurnEnded) and self._words is not None:
            self._continuation.not_given()
            self._words = None
        verdict = self._continuation.fold(event)
        if verdict is not None:
            self._words = verdict.message
            self._said = verdict.message or ""
            self.is_forced = verdict.action == "force_synthesis"

    def nudge(self) -> str | None:
        """Return the message to add to a tool's result, only once; None if there is none."""
        words, self._words = self._words, None
        return words

    async def refuse(self, _tool: ToolStarted) -> str | None:
        """Return why a tool must not run, None if it may: none runs from a force until a turn without tools."""
        if not self.is_forced:
            return None
        self._words = None
        return self._said
