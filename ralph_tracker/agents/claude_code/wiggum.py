"""Find a loop that the ralph-wiggum plugin drives with its own Stop hook."""

from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.store.opening import own_file

STATE: Final = Path(".claude") / "ralph-loop.local.md"
_READ: Final = 1 << 16


def driver(root: Path, session: str) -> dict[str, object] | None:
    """Return what to log of the plugin's loop, None if it drives none."""
    found = wiggum_loop(root, session)
    return None if found is None else {"driven_by": "ralph-wiggum", "driven_at": found.iteration}


class Wiggum(NamedTuple):
    """The state of a loop that the plugin drives; None for what its file does not contain."""

    iteration: int | None = None
    max_iterations: int | None = None


def wiggum_loop(root: Path, session: str) -> Wiggum | None:
    """Return the plugin's loop, None if there is none, it is inactive, or it is another session's."""
    try:
        with open(root / STATE, encoding="utf-8", errors="replace", opener=own_file) as file:  # pathlib's takes none
            text = file.read(_READ)
    except OSError:
        return None
    keys = _front_matter(text)
    if keys.get("active", "true") == "false" or keys.get("session_id", session) not in {"", session}:
        return None
    return Wiggum(_number(keys.get("iteration")), _number(keys.get("max_iterations")))


def _front_matter(text: str) -> dict[str, str]:
    """Return the keys of the front matter with their values as text, {} without one."""
    first, *lines = text.splitlines() or [""]
    if first.strip() != "---":
        return {}
    keys = {}
    for line in lines:
        if line.strip() == "---":
            break
        key, _, value = line.partition(":")
        keys[key.strip()] = value.strip().strip("\"'")
    return keys


def _number(word: str | None) -> int | None:
    return int(word) if word is not None and word.isdecimal() else None
