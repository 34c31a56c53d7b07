"""Define which files the tools of agents name, and in which order a tool's events come.

Hooks, printed messages and the SDK share this, so that a session gives the same events from each.
"""

from collections.abc import Mapping
from typing import Any, Final

from ralph_tracker.steering.events import Event, FileChanged, FileRead, ToolEnded

_READS: Final = frozenset({"Read", "read", "read_file", "view"})
FILE_KEYS: Final[Mapping[str, str]] = {
    "Read": "file_path",
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    # Gemini CLI
    "read_file": "file_path",
    "write_file": "file_path",
    "replace": "file_path",
    # opencode
    "read": "filePath",
    "write": "filePath",
    # GitHub Copilot CLI
    "view": "path",
    "create": "path",
}


def file_named(tool: str, given: Any) -> str | None:  # noqa: ANN401  # whatever the model asked
    """Return the file that a tool reads or changes, None if there is none."""
    key = FILE_KEYS.get(tool)
    if tool == "edit" and isinstance(given, Mapping):  # of opencode and Copilot
        key = "filePath" if "filePath" in given else "path"
    path = given.get(key) if key is not None and isinstance(given, Mapping) else None
    return path if isinstance(path, str) else None


def end_of_tool(ended: ToolEnded, path: str | None) -> tuple[Event, ...]:
    """Return the events of a tool that has ended, preceded by that of its file if it succeeded.

    Then a change counts before the call is judged, so that `edit → test → edit → test` is progress.
    """
    if path is None or not ended.success or ended.name not in {*FILE_KEYS, "edit"}:
        return (ended,)
    return (FileRead(path) if ended.name in _READS else FileChanged(path), ended)
