"""The commands of the agents that `run --backend` knows, as docs/run.md gives them."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ralph_tracker.runner.attempt import PROMPT


class Backend(NamedTuple):
    """A command in two parts, between which a user's own words go, and the word that continues a session.

    `tells_sums` is whether a run that continues a session reports the usage of the whole session.
    """

    begins: tuple[str, ...]
    ends: tuple[str, ...]
    continues: str
    tells_sums: bool = False

    def command(self, own: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the command with a user's own words in their place."""
        return (*self.begins, *own, *self.ends)

    def continued(self, command: Sequence[str], session: str) -> tuple[str, ...]:
        """Return a command that `command` made, changed to continue a session of the client."""
        place = len(command) - len(self.ends)
        return (*command[:place], self.continues, session, *command[place:])


BACKENDS: Final[Mapping[str, Backend]] = {
    "claude": Backend(
        ("claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"),
        (),
        "--resume",
    ),
    "codex": Backend(("codex", "exec", "--json", "--sandbox", "workspace-write"), ("-",), "resume", tells_sums=True),
    "gemini": Backend(("gemini", "--yolo", "--output-format", "stream-json"), ("--prompt", PROMPT), "--resume"),
    "opencode": Backend(("opencode", "run", "--format", "json"), (PROMPT,), "--session"),
}
