"""Keep which commits a replay consists of in one small file beside its loop, so that it can go on."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from ralph_tracker.errors import RecordError
from ralph_tracker.replay.history import Commit
from ralph_tracker.store.files import as_store_error, write_whole
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.project import Project
from ralph_tracker.store.reading import read_json

SCHEMA_VERSION: Final = 1
FILE: Final = "replay.json"
_DIGITS: Final = 7


class ReplayJournal(NamedTuple):
    """The commits of a replay, iteration 0 first, and a digest of how they are measured."""

    commits: tuple[Commit, ...]
    digest: str

    def write(self, paths: LoopPaths) -> None:
        """Write the file. Raises StoreError if the disk refuses."""
        path = paths.folder / FILE
        commits = [commit._asdict() for commit in self.commits]
        document = {"schema_version": SCHEMA_VERSION, "digest": self.digest, "commits": commits}
        with as_store_error(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(document, indent=1).encode() + b"\n")


def read_journal(paths: LoopPaths) -> ReplayJournal | None:
    """Return the journal of a loop, None if it is no replay. Raises RecordError if the file is damaged."""
    path = paths.folder / FILE
    plain = read_json(path)
    if plain is None and not path.exists():
        return None
    try:
        return ReplayJournal(tuple(Commit(**each) for each in plain["commits"]), plain["digest"])
    except (KeyError, TypeError, AttributeError):
        raise RecordError(f"{paths.shown}/{FILE}: damaged; remove {paths.shown} and replay again") from None


def digest_of(commits: Sequence[Commit], document: Mapping[str, Any], *more: str | None) -> str:
    """Return what two replays have in common if one can continue the other."""
    parts = [[commit.sha for commit in commits], document, more]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def loop_for(project: Project, journal: ReplayJournal, kind: str) -> str:
    """Return the id of the loop of that replay: the one that was begun, else a new one."""
    first, last = (commit.sha[:_DIGITS] for commit in (journal.commits[0], journal.commits[-1]))
    name, number = f"{kind}-{first}-{last}", 1
    while True:
        loop_id = name if number == 1 else f"{name}-{number}"
        known = read_journal(project.paths.loop(loop_id))
        if known == journal or (known is None and not project.is_taken(loop_id)):
            return loop_id
        number += 1
