"""Replay the commits of a loop in a clone of its repository, where what became of a test is found by running it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from labelled import Loop

_PROGRAM = Path(sys.executable).with_name("ralph-tracker")


class Replayed(NamedTuple):
    """What a replay takes: the commit, and the iteration of the loop that it belongs to (None: an earlier commit)."""

    loop: str
    acceptable: frozenset[int]
    commit: str
    subject: str
    iteration: int | None


def replay_in(clone: Path, loop: Loop) -> Replayed:
    """Run `ralph-tracker replay` in a clone. Exits with its message if it fails."""
    facts = loop.facts
    revisions = loop.labels.range or f"{facts[0].commit}..{facts[-1].commit}"
    command = [str(_PROGRAM), "replay", revisions, "--json", "--trust"]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{loop.name}: ralph-tracker replay {revisions} in {clone}: {done.stderr.strip()}")
    taken, iteration = None, None
    for each in json.loads(done.stdout)["commits"]:
        known = (fact.iteration for fact in facts if fact.commit and each["commit"].startswith(fact.commit))
        iteration = next(known, iteration)
        if each["selected"]:
            taken = each
            break
    if taken is None:
        sys.exit(f"{loop.name}: ralph-tracker replay {revisions} takes no commit")
    return Replayed(loop.name, loop.labels.acceptable, taken["commit"][:10], taken["subject"], iteration)
