"""A session on a terminal: a log that lives, a line to type on, and the answer in the place of both.

async with TerminalSession() as session:
    outcome = await follow(events, Interaction(session.callbacks))
    await session.finish(outcome)
"""

from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.control import Control
from rich.live import Live
from rich.text import Text

from ralph_tracker.report.escape import for_terminal
from ralph_tracker.steering.callbacks import Outcome
from ralph_tracker.steering.cancelling import SILENCE_S
from ralph_tracker.transports.conversation import STOPPING, Conversation, PersonSession
from ralph_tracker.transports.job_control import JobControl
from ralph_tracker.transports.keyboard import Keyboard, TypedLine, can_be_heard


class TerminalSession(PersonSession):
    """Show one session on a terminal and hear the person.

    Where the output is no terminal each start and end of a tool is a line. `descriptor` is where the person types;
    where nobody can, the first checkpoint ends the session. `silence_s`: as Conversation has it. After Ctrl-Z the
    terminal is the shell's; the log is back once the session is in the foreground again.
    """

    def __init__(self, console: Console | None = None, descriptor: int = 0, silence_s: float = SILENCE_S) -> None:
        self._console = console or Console()
        self._descriptor = descriptor
        self._conversation = Conversation(self._show, self._ask, silence_s)
        self._typing = TypedLine()
        self._question: list[str] = []
        self._said = ""
        self._keyboard: Keyboard | None = None
        self._is_live = self._console.is_terminal and not self._console.is_dumb_terminal
        self._live = self._new_live()
        self._is_aside = False
        self._width = self._console.width
        self._jobs: JobControl | None = None

    def _new_live(self) -> Live:
        return Live(get_renderable=self._view, console=self._console, auto_refresh=False, transient=True)

    async def __aenter__(self) -> Self:
        if can_be_heard(self._descriptor):
            self._keyboard = Keyboard(self._descriptor, self._typed, quiet=self._is_live)
        else:
            self._conversation.inbox.close()
        if self._is_live:
            self._live.start()
            self._jobs = JobControl(self._put_aside, self._taken_up, self._resized)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._jobs:
            self._jobs.close()
        try:
            self._live.stop()
        finally:
            if self._keyboard:
                self._keyboard.close()

    def _put_aside(self) -> None:
        """Leave the terminal as it was: the shell comes to the front."""
        self._live.stop()
        self._is_aside = True
        if self._keyboard:
            self._keyboard.close()
            self._keyboard = None

    def _taken_up(self) -> None:
        """Take the terminal again, where it is ours; what the shell wrote meanwhile stays above the log."""
        if not self._is_aside:
            self._put_aside()  # nobody said so before: who stops a program at once, as SIGSTOP does
        if not can_be_heard(self._descriptor):
            return
        self._is_aside = False
        self._width = self._console.width
        if not self._conversation.inbox.closed:
            self._keyboard = Keyboard(self._descriptor, self._typed, quiet=True)
        self._live = self._new_live()
        self._live.start(refresh=True)

    def _resized(self) -> None:
        before, self._width = self._width, self._console.width
        if self._live.is_started:
            if self._width < before:  # lines may stand folded now, and nobody knows how many
                self._console.control(Control.clear(), Control.home())
            self._live.refresh()

    async def finish(self, outcome: Outcome) -> None:
        """Let the answer, or the summary of a cancelled session, replace the log."""
        self._live.stop()
        for line in outcome.text.splitlines():
            self._console.print(self._text(line), soft_wrap=True)

    async def _show(self, line: str | None = None) -> None:
        self._question = []
        self._redraw(line)

    async def _ask(self, question: str, times: int) -> None:
        self._question = [f"> {self._said}", question] if times else [question]
        self._redraw(question)

    def _typed(self, piece: bytes) -> None:
        inbox = self._conversation.inbox
        for line in self._typing.feed(piece):
            self._said = line
            inbox.hear(line)
        if self._typing.ended:
            inbox.close()
        self._redraw(STOPPING if inbox.cancelled else None)

    def _redraw(self, line: str | None) -> None:
        """Show everything anew, where that can be done; else the line that is new."""
        if self._is_aside:  # in the foreground again, or not yet: no signal tells
            self._taken_up()
        elif self._live.is_started:
            self._live.refresh()
        elif line is not None and not self._is_live:
            self._console.print(self._text(line), soft_wrap=True)

    def _view(self) -> Group:
        below = [self._text(line) for line in self._below()]
        width = max(1, self._console.width - 1)
        room = self._console.height - sum(1 + text.cell_len // width for text in below) - 1
        log = [self._text(line, cut=True) for line in self._conversation.log.lines()[-max(1, room) :]]
        return Group(*log, *below)

    def _below(self) -> list[str]:
        stopping = [STOPPING] if self._conversation.inbox.cancelled else []
        return [*self._question, *stopping, f"> {self._typing.typed}"]

    def _text(self, line: str, *, cut: bool = False) -> Text:
        harmless = for_terminal(line.expandtabs())
        known = harmless.encode(self._console.encoding, "backslashreplace").decode(self._console.encoding)
        return Text(known, no_wrap=cut, overflow="ellipsis" if cut else "fold")
