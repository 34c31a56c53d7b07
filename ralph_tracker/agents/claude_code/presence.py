"""Whether a session is one of a loop. It is asked at every tool call of every session: it imports next to nothing."""

import os
from collections.abc import Mapping
from typing import NamedTuple

WANTED = "RALPH_TRACKER_LOOP"
DRIVEN = "RALPH_TRACKER_DRIVEN"


class Presence(NamedTuple):
    """Which project a session works in.

    `loop` is the folder of the loop that is running there, None if one is wanted and there is none yet. `driven`
    tells that `ralph-tracker run` is the one that measures.
    """

    root: str
    loop: str | None
    driven: bool = False


def presence(environment: Mapping[str, str], folder: str) -> Presence | None:
    """Return where the session of a hook stands, None for one that is of no loop.

    `folder` is the working directory, for a client that does not name the project. RALPH_TRACKER_LOOP=1 asks for a
    loop, 0 keeps a session out of one that is running.
    """
    wish = environment.get(WANTED)
    if wish == "0":
        return None
    root = environment.get("CLAUDE_PROJECT_DIR") or folder
    loop = _running(root, environment)
    if loop is None and wish != "1":
        return None
    return Presence(root, loop, environment.get(DRIVEN, "0") not in {"", "0"})


def _running(root: str, environment: Mapping[str, str]) -> str | None:
    """Return the folder of the running loop; state.json that cannot be read leaves it to those who fix it."""
    base = os.path.join(root, ".aiwg", "ralph")  # noqa: PTH118  # pathlib costs more than all of this
    name = environment.get("RALPH_LOOP_ID") or _read(base + "/current").strip()
    if not name or "/" in name or name.startswith("."):
        return None
    loop = f"{base}/{name}"
    if any(map(os.path.islink, (os.path.dirname(base), base, loop))):  # noqa: PTH120  # as above
        return None
    state = _read(loop + "/state.json")
    if not state and not os.path.isdir(loop + "/iterations"):  # noqa: PTH112  # as above
        return None
    import json  # noqa: PLC0415  # most sessions are of no loop

    try:
        status = json.loads(state)["status"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return loop
    return loop if status == "running" else None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123  # as above
            return file.read()
    except OSError:
        return ""
