"""How differing tests and files are listed, the same way by every verb."""

from collections.abc import Sequence
from typing import Final

from ralph_tracker.cli.columns import say_wrapped
from ralph_tracker.cli.output import say
from ralph_tracker.comparing import Differences
from ralph_tracker.core.iteration_diff import OutcomeChange, OutcomeChanges
from ralph_tracker.store.patches import FileChange
from ralph_tracker.store.snapshots import as_utf8

_MARKS: Final = {"added": "A", "modified": "M", "deleted": "D", "renamed": "R", "type_changed": "T"}
_EXECUTABLE: Final = "100755"
_LINK: Final = "120000"


def say_differences(found: Differences, tests_shown: int, files_shown: int | None) -> None:
    """Print the tests that changed outcome and the files that changed, so many of each (None: all)."""
    if found.tests is None:
        say_wrapped(f"tests: {found.tests_note}")
    else:
        _say_tests(found.tests, tests_shown)
    if found.files is None:
        say_wrapped(f"files: {found.files_note}")
    else:
        _say_files(found.files, files_shown)


def _say_tests(tests: OutcomeChanges, shown: int) -> None:
    counts = [f"{len(changes)} {_words(kind)}" for kind, changes in tests.items() if changes]
    say(f"tests: {', '.join(counts) or 'the same outcomes'}")
    for kind, changes in tests.items():
        for change in changes[:shown]:
            say(f"  {_words(kind)}: {change.id}{_aside(kind, change)}")
        _say_rest(len(changes) - shown, _words(kind))


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _aside(kind: str, change: OutcomeChange) -> str:
    """Say what the name of the kind does not: how a new test ends, or that a test was skipped before."""
    if kind == "new":
        return f" ({change.after})"
    return " (was skipped)" if change.before == "skipped" and kind != "gone" else ""


def _say_rest(rest: int, what: str) -> None:
    if rest > 0:
        say(f"  and {rest} more {what}")


def _say_files(files: Sequence[FileChange], shown: int | None) -> None:
    counts = [(_words(status), sum(file.status == status for file in files)) for status in _MARKS]
    say(f"files: {', '.join(f'{count} {word}' for word, count in counts if count) or 'the same content'}")
    for file in files[:shown]:
        say(f"  {_MARKS[file.status]} {_lines(file):>11}  {_name(file)}{_mode(file)}")
    if shown is not None:
        _say_rest(len(files) - shown, "files")


def _lines(file: FileChange) -> str:
    return file.content if file.content != "text" else f"+{file.added} -{file.deleted}"


def _name(file: FileChange) -> str:
    path = as_utf8(file.path)
    return path if file.old_path is None else f"{as_utf8(file.old_path)} → {path}"


def _mode(file: FileChange) -> str:
    if file.status == "type_changed":
        return " (now a link)" if file.new_mode == _LINK else " (now a file)"
    if file.new_mode is None or (file.old_mode == _EXECUTABLE) is (file.new_mode == _EXECUTABLE):
        return ""
    return " (executable)" if file.new_mode == _EXECUTABLE else " (no longer executable)"
