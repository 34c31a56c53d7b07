"""What an iteration's manifest says of its files."""

from collections.abc import Iterable
from typing import Any

from ralph_tracker.store.snapshots.values import Change, Snapshot, as_utf8
from ralph_tracker.store.summary import SCHEMA_VERSION


def manifest_document(
    number: int,
    snapshot: Snapshot,
    *,
    after_checks: str | None,
    since_baseline: Iterable[Change],
    since_previous: Iterable[Change],
) -> dict[str, Any]:
    """Return every path that differs, and what was skipped; `after_checks` is the tree that the checks left behind."""
    return {
        "schema_version": SCHEMA_VERSION,
        "iteration": number,
        "tree": snapshot.tree,
        "commit": snapshot.commit,
        "tree_after_checks": after_checks,
        "quiescent": snapshot.quiescent,
        "since_baseline": [_change(change) for change in since_baseline],
        "since_previous": [_change(change) for change in since_previous],
        "skipped": [{"path": as_utf8(path), "reason": reason} for path, reason in snapshot.skipped],
        "empty_directories": [as_utf8(path) for path in snapshot.empty_directories],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "path": as_utf8(change.path),
        "status": change.status,
        "mode": change.new_mode,
        "size": change.size,
        "sha256": change.sha256,
    }
