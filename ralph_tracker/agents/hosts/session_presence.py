"""Decide whether a session belongs to a loop, with few imports because it runs at every tool call of every session."""

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ralph_tracker.store.opening import own_file

WANTED = "RALPH_TRACKER_LOOP"
DRIVEN = "RALPH_TRACKER_DRIVEN"


class Presence(NamedTuple):
    """The project and loop of a session.

    `loop` is the folder of its running loop, None if one is wanted but not started yet. `driven` is whether
    `ralph-tracker run` does the measuring.
    """

    root: str
    loop: str | None
    driven: bool = False


def presence(environment: Mapping[str, str], folder: str, variables: Iterable[str] = ()) -> Presence | None:
    """Return the project and loop of a hook's session, None if it belongs to no loop.

    The first of `variables` that is set names the project, else it is `folder`, the working directory.
    RALPH_TRACKER_LOOP=1 asks for a loop, 0 excludes a session from a running one.
    """
    wish = environment.get(WANTED)
    if wish == "0":
        return None
    root = next((environment[name] for name in variables if environment.get(name)), folder)
    loop = _running(root, environment)
    if loop is None and wish != "1":
        return None
    return Presence(root, loop, environment.get(DRIVEN, "0") not in {"", "0"})


def _running(root: str, environment: Mapping[str, str]) -> str | None:
    """Return the folder of the running loop, also if state.json cannot be read, since others repair that."""
    base = os.path.join(root, ".aiwg", "ralph")  # noqa: PTH118  # pathlib is slower than all of this
    name = environment.get("RALPH_LOOP_ID") or _read(base + "/current").strip()
    if not name or "/" in name or name.startswith("."):
        return None
    loop = f"{base}/{name}"
    if any(map(os.path.islink, (os.path.dirname(base), base, loop))):  # noqa: PTH120  # as above
        return None
    state = _read(loop + "/state.json")
    if not state and not os.path.isdir(loop + "/iterations"):  # noqa: PTH112  # as above
        return None
    import json  # noqa: PLC0415  # most sessions belong to no loop

    try:
        status = json.loads(state)["status"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return loop
    return loop if status == "running" else None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=own_file) as file:  # as above
            return file.read()
    except OSError:
        return ""
