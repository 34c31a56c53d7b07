"""Whether a session gets anywhere: its turns, what is new in them, and what only repeats (seed: Strategy 1).

What is new is a tree of files that was not there before, a test that newly passes, a file read for the first time. A
repeat is a call with arguments and a result that were there before, on the same tree: `edit → pytest → edit → pytest`
is none.
"""

from collections import deque
from collections.abc import Callable, Hashable
from typing import Final

from ralph_tracker.steering.continuation_rules import ContinuationRules
from ralph_tracker.steering.events import (
    Event,
    FileChanged,
    FileRead,
    PersonSaid,
    TestsPassed,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)

_KEPT: Final = 2048  # what came before is forgotten, and would count as new: memory stays the same


class _Known:
    """Remember the last things that came."""

    __slots__ = ("_hashes",)

    def __init__(self) -> None:
        self._hashes: dict[int, None] = {}

    def meet(self, thing: Hashable) -> bool:
        """Tell whether a thing is known, and know it from now on."""
        mark = hash(thing)
        known = mark in self._hashes
        if known:
            del self._hashes[mark]
        elif len(self._hashes) >= _KEPT:
            del self._hashes[next(iter(self._hashes))]
        self._hashes[mark] = None
        return known


class ProgressMetrics:
    """Fold the events of a session into counts; none of them is ever unknown, what no event told is 0.

    `unique_files_read`, `total_file_reads` and `files_revisited` (reads of a known file) count reads, `tools_used`
    calls that ended, `total_iterations` turns. `iterations_without_tools` are the last turns in a row that used none,
    `consecutive_file_revisits` the last repeats in a row, of whatever tool.
    """

    __slots__ = (
        "_by_kind",
        "_calls",
        "_change_is_told",
        "_epoch",
        "_files",
        "_has_tools",
        "_news",
        "_passing",
        "_rules",
        "_told",
        "_tools_before",
        "_trees",
        "_window",
        "consecutive_file_revisits",
        "files_revisited",
        "iterations_without_tools",
        "tools_used",
        "total_file_reads",
        "total_iterations",
        "unique_files_read",
    )

    def __init__(self, rules: ContinuationRules | None = None) -> None:
        """Begin a session; None stands for the default thresholds."""
        self._rules = rules or ContinuationRules()
        self.unique_files_read = self.total_file_reads = self.files_revisited = 0
        self.tools_used = self.total_iterations = 0
        self.iterations_without_tools = self.consecutive_file_revisits = 0
        self._files, self._calls, self._passing, self._trees = _Known(), _Known(), _Known(), _Known()
        self._told: str | None = None  # the last tree that was named
        self._epoch = 0  # changes that were told without a name
        self._change_is_told = False  # and no call has ended since that could have named the tree
        self._has_tools = False
        self._tools_before = 0
        self._news = 0
        self._window: deque[int] = deque(maxlen=self._rules.velocity_turns)
        self._by_kind: dict[type[Event], Callable[..., None]] = {
            ToolStarted: self._started,
            ToolEnded: self._ended,
            FileRead: self._read,
            FileChanged: self._changed,
            TestsPassed: self._passed,
            TurnEnded: self._turned,
            PersonSaid: self._said,
        }

    @property
    def progress_velocity(self) -> float:
        """Return the progress events a turn, over the last turns; 1 before any turn has ended."""
        return sum(self._window) / len(self._window) if self._window else 1.0

    @property
    def is_making_progress(self) -> bool:
        """Tell whether something was new in the last turns, or no turn has ended yet."""
        return self.progress_velocity > 0

    @property
    def is_stuck_loop(self) -> bool:
        """Tell whether the last calls only repeat."""
        return self.consecutive_file_revisits >= self._rules.stuck_repeats

    def fold(self, event: Event) -> None:
        """Take an event in."""
        act = self._by_kind.get(type(event))
        if act is not None:
            act(event)

    def _started(self, _event: ToolStarted) -> None:
        self._has_tools = True

    def _ended(self, event: ToolEnded) -> None:
        self._has_tools = True
        self.tools_used += 1
        self._look_at_tree(event.tree)
        self._repeat(self._calls.meet((event.name, event.arguments, event.result, self._told, self._epoch)))

    def _look_at_tree(self, tree: str | None) -> None:
        """Take in what a call says of the tree: a name tells whether a change that was told is one."""
        if tree is None:
            if self._change_is_told:
                self._new_epoch()
        elif tree != self._told:
            is_first, is_known = self._told is None, self._trees.meet(tree)
            self._told, self._epoch = tree, 0
            if not is_first and not is_known:
                self._progress()
        self._change_is_told = False

    def _read(self, event: FileRead) -> None:
        self.total_file_reads += 1
        if self._files.meet(event.path):
            self.files_revisited += 1
            if not self._has_tools:  # a host that tells of files alone: else the call is what repeats
                self._repeat(self._calls.meet((event.path, self._told, self._epoch)))
            return
        if not self._has_tools:
            self._calls.meet((event.path, self._told, self._epoch))
        self.unique_files_read += 1
        self._progress()

    def _changed(self, _event: FileChanged) -> None:
        if self._told is None:
            self._new_epoch()
        else:
            self._change_is_told = True

    def _passed(self, event: TestsPassed) -> None:
        known = [self._passing.meet(name) for name in event.names]
        if not all(known):
            self._progress()

    def _turned(self, _event: TurnEnded) -> None:
        self.total_iterations += 1
        used = self.tools_used > self._tools_before
        self.iterations_without_tools = 0 if used else self.iterations_without_tools + 1
        self._tools_before = self.tools_used
        self._window.append(self._news)
        self._news = 0

    def _said(self, _event: PersonSaid) -> None:
        self.consecutive_file_revisits = 0  # who is asked to do it again is not stuck

    def _new_epoch(self) -> None:
        self._epoch += 1
        self._progress()

    def _progress(self) -> None:
        self._news += 1
        self.consecutive_file_revisits = 0

    def _repeat(self, is_one: bool) -> None:  # noqa: FBT001  # the count goes on or begins anew
        self.consecutive_file_revisits = self.consecutive_file_revisits + 1 if is_one else 0
