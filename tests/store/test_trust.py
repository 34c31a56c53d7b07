"""What a user trusts: marks of his own secret for this very place; all else proves nothing."""

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from ralph_tracker.errors import StoreError, UntrustedError
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.trust import Trust

RUNS = ["checks.tests: touch ran"]


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """Be a user who trusts nothing yet."""
    monkeypatch.delenv("RALPH_TRACKER_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "ralph-tracker"


@pytest.fixture
def root(tmp_path):
    made = (tmp_path / "project").resolve()
    (made / ".aiwg/ralph/ralph-001").mkdir(parents=True)
    LoopPaths(made, "ralph-001").loop_file.write_text("checks: one\n")
    return made


def test_what_was_accepted_once_asks_no_more_and_the_secret_is_the_users_alone(root, state):
    asked = []
    Trust(root, lambda what, runs: not asked.append((what, runs))).require_project(RUNS)
    Trust(root).require_project(RUNS)
    assert asked == [("this project", RUNS)]
    assert stat.S_IMODE((state / "secret").stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert (root / ".aiwg/ralph/.gitignore").read_text() == "*\n"


def test_a_project_that_brings_nothing_is_the_users_own_act(root):
    Trust(root).require_project([])
    assert Trust(root).has_project()


def test_what_is_refused_is_named_and_not_remembered(root):
    for consent in (False, lambda what, runs: False):
        with pytest.raises(UntrustedError, match=r"this project would run checks.tests: touch ran and 1 more, .*trust"):
            Trust(root, consent).require_project([*RUNS, "more"])
    assert not Trust(root).has_project()


def test_a_mark_counts_for_its_user_and_its_place(root, tmp_path, monkeypatch):
    Trust(root).mark_project()
    moved = tmp_path / "moved"
    shutil.copytree(root, moved)
    assert not Trust(moved).has_project()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert not Trust(root).has_project()
    Trust(root).mark_project()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert Trust(root).has_project(), "two users of one folder do not take each other's trust away"


def test_a_loop_and_an_agent_count_as_they_are(root):
    paths, trust = LoopPaths(root, "ralph-001"), Trust(root)
    trust.mark_project()
    assert not trust.has_loop(paths)
    trust.mark_loop(paths, b"checks: one\n")
    trust.mark_agent("ralph-001", ["agent", "-p"], None)
    assert trust.has_loop(paths)
    assert trust.has_agent("ralph-001", ["agent", "-p"], None)
    for changed in (("ralph-002", ["agent", "-p"], None), ("ralph-001", ["agent -p"], None)):
        assert not trust.has_agent(*changed)
    assert not trust.has_agent("ralph-001", ["agent", "-p"], "prompt.md")
    paths.loop_file.write_text("checks: another\n")
    with pytest.raises(UntrustedError, match="loop ralph-001 would run checks"):
        trust.require_loop(paths, lambda: RUNS)
    trust.require_loop(paths, list)


def test_what_is_revoked_or_lost_with_its_secret_is_forgotten_until_it_is_trusted_again(root, state):
    trust = Trust(root)
    assert not trust.revoke()
    trust.mark_project()
    assert trust.revoke()
    assert not trust.has_project()
    trust.mark_project()
    (state / "secret").unlink()
    assert not trust.has_project()
    trust.mark_project()
    assert trust.has_project()


def test_marks_are_neither_read_nor_written_through_a_link(root, tmp_path):
    foreign = tmp_path / "foreign"
    foreign.write_text("")
    (root / ".aiwg/ralph/trust").symlink_to(foreign)
    with pytest.raises(StoreError, match="cannot be stored"):
        Trust(root).mark_project()
    assert foreign.read_text() == ""
    assert Trust(root).revoke()
    assert foreign.exists()


@pytest.mark.parametrize(
    "spoil", [lambda s: s.chmod(0o644), lambda s: s.write_bytes(b"short"), lambda s: s.unlink() or s.symlink_to("x")]
)
def test_a_secret_that_others_may_know_is_none(root, state, spoil):
    Trust(root).mark_project()
    spoil(state / "secret")
    assert not Trust(root).has_project()
    with pytest.raises(StoreError, match="secret: "):
        Trust(root).mark_project()


def test_a_secret_within_the_project_is_the_projects(root, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(root / "state"))
    with pytest.raises(StoreError, match="lies in the project"):
        Trust(root).mark_project()


def test_where_nothing_can_be_remembered_that_is_said_and_consent_goes_on(root, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(StoreError, match=r"cannot be stored.*RALPH_TRACKER_TRUST=1"):
        Trust(root).require_project([])
    Trust(root, consent=True).require_project(RUNS)
    monkeypatch.setenv("RALPH_TRACKER_TRUST", "1")
    Trust(root).require_project(RUNS)
    assert not (root / ".aiwg/ralph/trust").exists()


@pytest.mark.parametrize("value", ["", "0"])
def test_an_empty_variable_accepts_nothing(root, monkeypatch, value):
    monkeypatch.setenv("RALPH_TRACKER_TRUST", value)
    assert not Trust(root).has_project()


def test_without_a_named_folder_it_is_in_the_home(root, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    Trust(root).mark_project()
    assert len((tmp_path / "home/.local/state/ralph-tracker/secret").read_bytes()) == 32
    assert not Path("relative").exists()


@pytest.fixture
def worktree(root, tmp_path):
    """Return a linked worktree of the project's repository."""
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"], ["worktree", "add", "-q", "../linked"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True)
    return (tmp_path / "linked").resolve()


def test_a_linked_worktree_is_trusted_where_its_repository_is(root, worktree):
    (worktree / "part").mkdir()
    assert not Trust(worktree).has_project()
    Trust(root).mark_project()
    assert Trust(worktree).has_project()
    assert not Trust(worktree / "part").has_project(), "that folder of the repository was not accepted"
    Trust(worktree).require_project(RUNS)
    Trust(root).revoke()
    with pytest.raises(UntrustedError):
        Trust(worktree / "part").require_project(RUNS)


def test_what_only_says_that_it_is_a_worktree_of_a_trusted_repository_is_not_trusted(root, worktree, tmp_path):
    Trust(root).mark_project()
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    for said in (worktree / ".git").read_text(), "gitdir: \n", "", "gitdir: \0\n", f"gitdir: {root}/.git\n":
        (stranger / ".git").write_text(said)
        assert not Trust(stranger).has_project()


@pytest.mark.parametrize(
    ("kept", "why"),
    [(b"a mark cut sho", "does not end with a line break"), (b"\n" * (1 << 20), "has no room left")],
    ids=["cut short", "full"],  # a mebibyte is no name of a test
)
def test_a_file_in_which_a_mark_would_not_be_found_is_said_once_and_revoking_helps(root, kept, why):
    (root / ".aiwg/ralph/trust").write_bytes(kept)
    with pytest.raises(StoreError, match=rf"{why}.*; `ralph-tracker trust --revoke` removes it"):
        Trust(root).mark_project()
    assert (root / ".aiwg/ralph/trust").read_bytes() == kept
    Trust(root, consent=True).require_project(RUNS)
    Trust(root).revoke()
    Trust(root).mark_project()
    assert Trust(root).has_project()
