"""Where results and environments of replays are kept: in the user's cache, where no project can bring its own."""

import os
from pathlib import Path

from ralph_tracker.errors import StoreError


def cache_folder() -> Path:
    """Return the folder, which may not exist yet. Raises StoreError if there is no home to put it in."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if named.startswith("/"):
        return Path(named) / "ralph-tracker"
    try:
        return Path.home() / ".cache" / "ralph-tracker"
    except RuntimeError:
        raise StoreError("no home folder for the results of a replay; set XDG_CACHE_HOME") from None
