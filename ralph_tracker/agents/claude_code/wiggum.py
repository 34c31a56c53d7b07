"""The loop of the ralph-wiggum plugin, whose own Stop hook drives: its state is a file with YAML front matter."""

from pathlib import Path
from typing import Final, NamedTuple

STATE: Final = Path(".claude") / "ralph-loop.local.md"
_READ: Final = 1 << 16


class Wiggum(NamedTuple):
    """Hold the state of a loop that the plugin drives; None is what its file does not say."""

    iteration: int | None = None
    max_iterations: int | None = None


def wiggum_loop(root: Path, session: str) -> Wiggum | None:
    """Return the plugin's loop, None where there is none, it is switched off, or another session has it."""
    try:
        with (root / STATE).open(encoding="utf-8", errors="replace") as file:
            text = file.read(_READ)
    except OSError:
        return None
    keys = _front_matter(text)
    if keys.get("active", "true") == "false" or keys.get("session_id", session) not in {"", session}:
        return None
    return Wiggum(_number(keys.get("iteration")), _number(keys.get("max_iterations")))


def _front_matter(text: str) -> dict[str, str]:
    """Return the keys of the front matter with their values as words; a file without any has none."""
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
