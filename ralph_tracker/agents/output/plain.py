"""Text that is no event: its end, and the whole of it as long as that is short."""

from collections import deque
from collections.abc import Iterator
from typing import Final

from ralph_tracker.agents.output.heard import Verdict
from ralph_tracker.agents.output.words import complaint, nothing_but

_SHORT: Final = 1_000
_LONGEST: Final = 4_000


class PlainText:
    """Hold the last lines of a text, each cut at 4,000 characters, and its whole where that is short."""

    def __init__(self, kept: int) -> None:
        self.said = False
        self._end: deque[str] = deque(maxlen=kept)
        self._tail = ""
        self._whole: str | None = ""

    def take(self, line: str) -> None:
        """Hear a line that is not blank."""
        self.said = True
        self._end.append(line[:_LONGEST])
        self._tail = f"{self._tail}\n{line[-_LONGEST:]}"[-_LONGEST:]
        if self._whole is not None:
            whole = f"{self._whole}\n{line}" if self._whole else line
            self._whole = whole if len(whole) <= _SHORT else None

    @property
    def tail(self) -> str | None:
        """The end of the text, at most 4,000 characters; None where there is none."""
        return self._tail.strip() or None

    @property
    def last_line(self) -> str | None:
        """The last line, None where there is none."""
        return self._end[-1] if self._end else None

    def complaint(self) -> Verdict | None:
        """Return what the latest of the last lines means that begins as an error's line does; None without."""
        return next(self._complaints(), None)

    def nothing_but(self) -> Verdict | None:
        """Return what the text means where it is a known complaint and nothing else."""
        return nothing_but(self._whole) if self._whole else None

    def _complaints(self) -> Iterator[Verdict]:
        for line in reversed(self._end):
            found = complaint(line.strip())
            if found is not None:
                yield found
