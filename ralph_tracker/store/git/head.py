"""The commit that the user's repository stands on."""

from pathlib import Path

from ralph_tracker.errors import StoreError
from ralph_tracker.store.git.runner import GitRunner, through_gitpython
from ralph_tracker.store.git.source import QUIET, nearest_source
from ralph_tracker.store.git.verbs import Runner


def head_commit(user: Runner) -> str | None:
    """Return the commit of HEAD, None where nothing was committed yet."""
    answer = user.ask("rev-parse", "-q", "--verify", "HEAD^{commit}")
    return None if answer.status else answer.out.decode().strip()


def head_of(root: Path) -> str | None:
    """Return the commit of HEAD in the repository around a folder, None where there is none, or no git."""
    source = nearest_source(root.resolve())
    if source is None:
        return None
    try:
        return head_commit(GitRunner(source.environment, source.top, QUIET, through_gitpython))
    except StoreError:
        return None
