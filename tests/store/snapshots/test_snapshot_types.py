"""The small parts: paths shown on one line, reasons, ignore rules, notes."""

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots.exclusions import SECRET_REASON, TOOL_CACHE, folder_reason, untracked_reason
from ralph_tracker.store.snapshots.gitignore_rules import rules_above, rules_below
from ralph_tracker.store.snapshots.snapshot_types import Note, SkippedPath, decode_note, shown
from tests.tables import table


@table(
    ("path", "line"),
    [("a/b c", "a/b c"), ("a\nb", "a\\nb"), ("bad\udcff", "bad\\xff"), ("\u00e9", "\u00e9"), ("\x1b[31m", "\\x1b[31m")],
)
def test_a_path_is_shown_as_one_printable_line(path: str, line: str) -> None:
    assert shown(path) == line


@table(
    ("path", "reason"),
    [
        (".env", SECRET_REASON),
        ("a/.env.production", SECRET_REASON),
        ("a/.env.example", None),
        ("env", None),
        ("server.key", SECRET_REASON),
        ("id_ed25519", SECRET_REASON),
        ("id_ed25519.pub", None),
        (".coverage.host.123", TOOL_CACHE),
        (".coveragerc", None),
        ("keys.pem.txt", None),
    ],
)
def test_untracked_files_have_reasons_by_name(path: str, reason: str | None) -> None:
    assert untracked_reason(path) == reason


def test_folders_have_reasons_by_name() -> None:
    assert folder_reason("node_modules") == TOOL_CACHE
    assert folder_reason("nodes") is None


@table(
    ("rule", "below"),
    [
        ("x", "/f/**/x"),
        ("!x/", "!/f/**/x/"),
        ("/x", "/f/x"),
        ("x/y", "/f/x/y"),
        ("**/x", "/f/**/x"),
        ("\\#x", "/f/**/\\#x"),
        ("x\\ ", "/f/**/x\\ "),
        ("x  ", "/f/**/x"),
        ("# x", None),
        ("", None),
        ("/", None),
    ],
)
def test_rules_are_carried_up(rule: str, below: str | None) -> None:
    assert rules_below(rule.encode(), "f") == ([below] if below else [])


def test_a_folder_name_is_no_pattern() -> None:
    assert rules_below(b"x", "a*[b]\n\\c") == ["/a\\*\\[b]?\\\\c/**/x"]
    assert rules_below(b"x", "") == ["/**/x"]


@table(
    ("rule", "above"),
    [
        ("x", ["**/x"]),
        ("/p/q/x", ["/x"]),
        ("/p/x", []),
        ("/p/q", []),
        ("/p/q/", []),
        ("/*/?/x/", ["/x/"]),
        ("/[!a]/[^a]/x", ["/x"]),
        ("/[p/q/x", []),
        ("/[!]/q/x", []),
        ("/[!]o]/[]q]/x", ["/x"]),
        ("/[z-a]/q/x", []),
        ("/[[:lower:]]/[\\q]/x", ["/x"]),
        ("/[[:nothing:]]/q/x", []),
        ("/\\p/q/x", ["/x"]),
        ("!/p/q/x", ["!/x"]),
        ("**/x/y", ["/**/x/y"]),
        ("**/q/x", ["/x", "/**/q/x"]),
        ("/p/**", ["/**"]),
        ("/other/q/x", []),
    ],
)
def test_rules_are_carried_down(rule: str, above: list[str]) -> None:
    assert sorted(set(rules_above(rule.encode(), ["p", "q"]))) == sorted(above)


def test_a_note_comes_back() -> None:
    note = Note(
        message="iteration 3 \u2192 best\n\nlonger",
        skipped=(SkippedPath("a\udcff", "why"),),
        empty_directories=("x\ny",),
        quiescent=False,
        modes={"a": 0o600},
        scope="0" * 40,
    )
    assert decode_note(note.encode()) == note
    assert decode_note(Note().encode()) == Note(message="snapshot")


@table("text", [b"", b"fix\n", b"fix\n\n{}", b"fix\n\n[1]", b'fix\n\n{"schema_version": 1}'])
def test_a_commit_of_somebody_else_is_refused(text: bytes) -> None:
    with pytest.raises(StoreError, match="does not carry the note"):
        decode_note(text)


def test_a_newer_note_is_refused() -> None:
    with pytest.raises(StoreError, match="schema 2; update"):
        decode_note(b'x\n\n{"schema_version": 2}')
