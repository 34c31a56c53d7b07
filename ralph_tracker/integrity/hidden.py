"""Files that could be looked into and no longer can: what they hold now is unknown, which clears nobody (U1)."""

from collections.abc import Callable, Iterator
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import FileChange, opened
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.languages import is_test_path, language_of
from ralph_tracker.integrity.relevance import is_workflow
from ralph_tracker.integrity.settings.files import is_settings
from ralph_tracker.integrity.settings.targets import holds_targets

ID: Final = "U1"
# Python runs these by their names: one that is new says something too.
_RUN_BY_NAME: Final = frozenset({"conftest.py", "sitecustomize.py", "usercustomize.py"})


def hidden(
    change: FileChange, reason: str, evidence: Evidence, unread: Callable[[FileChange], bool]
) -> Iterator[Finding]:
    """Yield a finding for a file that we cannot look into for that reason, where it decides what the tests say.

    Source decides it where a test began to pass. `unread` tells whether a change cannot be looked into; what could not
    be before is as unknown as it was. Tests that began to pass by what nobody sees are named.
    """
    if change.new is None or not _decides(change, evidence):
        return
    before = FileChange(change.path, None, change.old)
    if change.old is not None and unread(before):
        return
    message = f"it can no longer be looked into: {reason}"
    yield finding(ID, Severity.HIGH, message, change.path, ids=_begun(before, evidence), about="")


def _decides(change: FileChange, evidence: Evidence) -> bool:
    path = change.path
    if _is_run_by_name(path):
        return True
    if change.old is None:
        return False
    if is_settings(path) or holds_targets(path) or is_workflow(path):
        return True
    return language_of(path) is not None and (is_test_path(path) or evidence.any_began_to_pass)


def _is_run_by_name(path: str) -> bool:
    return path.rpartition("/")[2] in _RUN_BY_NAME


def _begun(before: FileChange, evidence: Evidence) -> tuple[str, ...]:
    """Return the tests that began to pass: those that stood in it, or all where it may have set their outcomes."""
    if _is_run_by_name(before.path):
        return tuple(evidence.begun())
    file = opened(before)
    tests = () if isinstance(file, str) or file.new is None else file.new.tests
    own = {each for test in tests for each in evidence.ids_of(test)}
    return tuple(each for each in evidence.begun() if each in own)
