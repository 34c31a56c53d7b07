"""Say which files the checks changed, new folders as one, and which lines .gitignore lacks."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from ralph_tracker.store.snapshots.values import shown

_SHOWN: Final = 5


def change_note(paths: Sequence[str], before: Collection[str]) -> str:
    """Return the note on the files that the checks changed; `before` are the files that were there."""
    old = [path for path in paths if path in before]
    new = [path for path in paths if path not in before]
    folders = {folder for path in before for folder in _folders(path)}
    written = Counter(next((each for each in _folders(path) if each not in folders), path) for path in new)
    places = [*map(shown, old), *(f"{shown(place)}{_many(place, count)}" for place, count in sorted(written.items()))]
    note = f"tree_changed_by_checks: {_first(places)}"
    return f"{note}; add to .gitignore: {_first(_lines(written))}" if written else note


def _folders(path: str) -> list[str]:
    """Return the folders above a file, the outermost first, each with a slash at its end."""
    return [path[: at + 1] for at, char in enumerate(path) if char == "/"]


def _many(place: str, count: int) -> str:
    return f" ({count} files)" if place.endswith("/") and count > 1 else ""


def _lines(places: Collection[str]) -> list[str]:
    """Return the lines to add: the path, or the name alone of folders that are called the same."""
    names = Counter(_name(place) for place in places)
    return sorted({shown(_name(place) if names[_name(place)] > 1 else place) for place in places})


def _name(place: str) -> str:
    return place.rstrip("/").rpartition("/")[2] + ("/" if place.endswith("/") else "")


def _first(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
