"""What a git that was killed leaves in a store."""

from pathlib import Path
from typing import Final

# Whoever holds the lock of the store knows that no git works here any more.
LEFTOVERS: Final = ("index.lock", "safety.index", "safety.index.lock", "packed-refs.lock")
_BEGUN_PACKS: Final = ("tmp_*", ".tmp-*")


def clear_unfinished_packs(folder: Path) -> None:
    """Remove the packs that a killed git has begun; the lock must be held."""
    packs = folder / "objects" / "pack"
    for pattern in _BEGUN_PACKS:
        for path in packs.glob(pattern):
            path.unlink(missing_ok=True)
