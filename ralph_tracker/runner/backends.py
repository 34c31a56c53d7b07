"""The commands of the agents that `run --backend` knows, as docs/run.md gives them."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ralph_tracker.runner.attempt import PROMPT


class Backend(NamedTuple):
    """A command in two parts, between which a user's own words go."""

    begins: tuple[str, ...]
    ends: tuple[str, ...] = ()

    def command(self, own: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the command with a user's own words in their place."""
        return (*self.begins, *own, *self.ends)


BACKENDS: Final[Mapping[str, Backend]] = {
    "claude": Backend(
        ("claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits")
    ),
    "codex": Backend(("codex", "exec", "--json", "--sandbox", "workspace-write"), ("-",)),
    "gemini": Backend(("gemini", "--yolo", "--output-format", "stream-json"), ("--prompt", PROMPT)),
    "opencode": Backend(("opencode", "run", "--format", "json"), (PROMPT,)),
}
