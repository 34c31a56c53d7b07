"""Make the command that starts an agent: one of `run --backend`, as docs/run.md gives them, with the prompt in it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import InputError

PROMPT: Final = "{prompt}"
PROMPT_FILE: Final = "{prompt_file}"
# Linux's limit for an argument: 32 pages, including the final NUL.
_LONGEST_ARGUMENT: Final = 131_071


class Backend(NamedTuple):
    """A command in two parts, between which a user's own words go, and the word that continues a session.

    `tells_sums` is whether a run that continues a session reports the usage of the whole session. `budget` is the word
    before the most dollars that a run may cost, None if the client knows none.
    """

    begins: tuple[str, ...]
    ends: tuple[str, ...]
    continues: str
    tells_sums: bool = False
    budget: str | None = None

    def command(self, own: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the command with a user's own words in their place."""
        return (*self.begins, *own, *self.ends)

    def continue_session(self, command: Sequence[str], session: str) -> tuple[str, ...]:
        """Return a command that `command` made, changed to continue a session of the client."""
        place = len(command) - len(self.ends)
        return (*command[:place], self.continues, session, *command[place:])


BACKENDS: Final[Mapping[str, Backend]] = {
    "claude": Backend(
        ("claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"),
        (),
        "--resume",
        budget="--max-budget-usd",
    ),
    "codex": Backend(("codex", "exec", "--json", "--sandbox", "workspace-write"), ("-",), "resume", tells_sums=True),
    "gemini": Backend(("gemini", "--yolo", "--output-format", "stream-json"), ("--prompt", PROMPT), "--resume"),
    "opencode": Backend(("opencode", "run", "--format", "json"), (PROMPT,), "--session"),
    "copilot": Backend(("copilot", "--output-format", "json", "--allow-all-tools"), ("-p", PROMPT), "--resume"),
    "cursor": Backend(("cursor-agent", "-p", "--output-format", "stream-json", "--force"), (PROMPT,), "--resume"),
}


def within_budget(command: Sequence[str], left_usd: float) -> tuple[str, ...]:
    """Return the command of a backend with what is left to spend; any other, or one with a budget, as it is."""
    for backend in BACKENDS.values():
        is_its = tuple(command[: len(backend.begins)]) == backend.begins
        if is_its and backend.budget is not None and backend.budget not in command:
            place = len(backend.begins)
            return (*command[:place], backend.budget, f"{max(left_usd, 0.01):.2f}", *command[place:])
    return tuple(command)


class PreparedCommand(NamedTuple):
    """The command to start: `argv`, and the file for its standard input, None for an empty one."""

    argv: tuple[str, ...]
    stdin: Path | None


def prepare_command(command: Sequence[str], prompt: str, prompt_file: Path) -> PreparedCommand:
    """Put the prompt into the command; `prompt_file` holds the same text.

    `{prompt}` becomes the text and `{prompt_file}` the absolute path, also inside a word. A command with neither gets
    the prompt on its standard input. Raises InputError for a text that is too long for an argument, or has a NUL.
    """
    placed = [word for word in command if PROMPT in word or PROMPT_FILE in word]
    if not placed:
        return PreparedCommand(tuple(command), prompt_file)
    if any(PROMPT in word for word in placed):
        if "\0" in prompt:
            raise InputError(f"the prompt holds a NUL and cannot be an argument; use {PROMPT_FILE} or standard input")
        size = len(prompt.encode("utf-8", "surrogateescape"))
        if size > _LONGEST_ARGUMENT:
            raise InputError(
                f"the prompt has {size:,} bytes, more than an argument can have ({_LONGEST_ARGUMENT:,}); "
                f"use {PROMPT_FILE}, or leave {PROMPT} out and it comes on standard input"
            )
    # The path first, because a prompt may contain placeholders and our path does not.
    argv = (word.replace(PROMPT_FILE, str(prompt_file)).replace(PROMPT, prompt) for word in command)
    return PreparedCommand(tuple(argv), None)
