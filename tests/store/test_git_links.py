"""A loop outlives whatever takes `.aiwg` away, by hard links below git's folder; without them it is lost."""

import errno
import os
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest

from ralph_tracker.errors import LoopWarning, StoreError
from ralph_tracker.store import git_links
from ralph_tracker.store.layout import LoopPaths, ProjectPaths
from ralph_tracker.tracker import Tracker

OFF = "snapshot: {git_links: false}\n"


def git(root: Path, *words: str) -> str:
    settings = ("-c", "user.name=n", "-c", "user.email=n@localhost", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *settings, *words], cwd=root, check=True, capture_output=True, text=True).stdout


def metrics(passed: int) -> dict[str, dict[str, int]]:
    return {"testing": {"test_count": passed, "tests_passed": passed}}


def work(root: Path, number: int) -> None:
    """Do what an agent does, and record it."""
    (root / f"new{number}.py").write_text(f"x = {number}\n")
    (root / f"link{number}").symlink_to(f"new{number}.py")
    Tracker(root).post_iteration(metrics(5 + number))


def begun(root: Path, iterations: int = 2, settings: str = "") -> Path:
    """Begin a loop in a folder and record iterations."""
    (root / "ralph-tracker.yaml").write_text(f"version: 1\n{settings}")
    (root / "a.py").write_text("x = 1\n")
    Tracker(root).pre_loop(metrics(5))
    for number in range(1, iterations + 1):
        work(root, number)
    return root


@pytest.fixture
def root(tmp_path):
    """Return a project with git, and a loop of two iterations in it."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text(".aiwg/\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    return begun(folder)


def links_of(root: Path) -> Path:
    return (root / git(root, "rev-parse", "--git-path", "ralph-tracker").strip()).resolve() / ".aiwg" / "ralph"


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the file behind each name of a loop, but for what is made again."""
    found = {
        path.relative_to(folder).as_posix(): path.lstat()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and "artifacts" not in path.parts
    }
    made_again = ("tmp/", "trees/")
    return {name: (status.st_dev, status.st_ino) for name, status in found.items() if not name.startswith(made_again)}


def is_back(ask, root: Path, latest: int) -> None:
    """Have a verb say in one line that the loop is back, another that it is whole, and record one more iteration."""
    said = ask(root, "status")
    assert said.err.count("\n") == 1
    assert f"loop ralph-001, iterations 0 to {latest}: removed from .aiwg/ralph by somebody" in said.err
    assert said.code == 0
    whole = ask(root, "verify")
    assert (whole.code, whole.err) == (0, "")
    assert whole.out.startswith(f"{latest + 1} iterations checked: every file is there")
    work(root, latest + 1)
    assert ask(root, "verify").out.startswith(f"{latest + 2} iterations checked: every file is there")


def test_each_file_of_a_loop_is_there_twice_and_its_bytes_once(root):
    linked = files(links_of(root) / "ralph-001")
    assert linked == files(root / ".aiwg/ralph/ralph-001")
    assert "iterations/iteration-002/seal.json" in linked
    assert links_of(root).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "takes_away",
    [
        pytest.param(lambda root: git(root, "clean", "-fdxq"), id="git clean -fdx"),
        pytest.param(lambda root: shutil.rmtree(root / ".aiwg"), id="rm -rf .aiwg"),
        pytest.param(lambda root: shutil.rmtree(root / ".aiwg/ralph/ralph-001"), id="its folder alone"),
        pytest.param(
            lambda root: [shutil.rmtree(root / ".aiwg/ralph/ralph-001" / each) for each in ("iterations", "store")],
            id="its iterations",
        ),
    ],
)
def test_a_loop_comes_back_whole(root, ask, takes_away):
    takes_away(root)
    is_back(ask, root, 2)
    takes_away(root)
    is_back(ask, root, 3)


def test_a_loop_that_was_committed_outlives_the_checkout_of_another_branch(root, ask):
    git(root, "checkout", "-q", "-b", "work")
    git(root, "add", "-Af", ".")
    git(root, "commit", "-qm", "with the loop in it")
    git(root, "checkout", "-q", "main")
    assert not (root / ".aiwg/ralph/ralph-001/iterations").exists()
    is_back(ask, root, 2)


def test_a_project_that_is_moved_takes_them_along(root, ask):
    moved = root.rename(root.with_name("moved"))
    work(moved, 3)
    git(moved, "clean", "-fdxq")
    is_back(ask, moved, 3)


def test_a_copied_project_has_links_of_its_own(root, ask):
    copy = root.with_name("copy")
    shutil.copytree(root, copy, symlinks=True)
    work(copy, 3)
    assert files(links_of(copy) / "ralph-001") == files(copy / ".aiwg/ralph/ralph-001")
    git(copy, "clean", "-fdxq")
    is_back(ask, copy, 3)
    assert Tracker(root).store().summary().iteration == 2


def test_a_linked_worktree_has_them_in_its_own_part_of_gits_folder(root, ask):
    tree = root.with_name("tree")
    git(root, "worktree", "add", "-q", "-b", "other", str(tree))
    begun(tree, 1)
    assert links_of(tree) == root / ".git/worktrees/tree/ralph-tracker/.aiwg/ralph"
    git(tree, "clean", "-fdxq")
    is_back(ask, tree, 1)
    assert Tracker(root).store().summary().iteration == 2


def test_a_project_below_the_top_has_them_below_its_name(root, ask):
    part = root / "parts" / "one"
    part.mkdir(parents=True)
    begun(part, 1)
    assert (links_of(root).parents[1] / "parts/one/.aiwg/ralph/ralph-001").is_dir()
    git(root, "clean", "-fdxq", "-e", "!/parts", "parts")
    part.mkdir(parents=True, exist_ok=True)
    is_back(ask, part, 1)


def test_all_loops_of_a_project_come_back_also_finished_ones(root, ask):
    assert ask(root, "hook", "post-loop").code == 0
    Tracker(root).pre_loop(metrics(5))
    git(root, "clean", "-fdxq")
    said = ask(root, "status")
    assert "loop ralph-001, iterations 0 to 2, loop ralph-002, iterations 0 to 0: removed" in said.err
    assert ask(root, "status", "--loop-id", "ralph-001").out.startswith("loop ralph-001: finished")


def test_a_new_loop_begins_after_the_old_one_is_back(root, ask):
    git(root, "clean", "-fdxq")
    with pytest.warns(LoopWarning, match="ralph-001, iterations 0 to 2"):
        assert Tracker(root).pre_loop(metrics(5), new=True).loop_id == "ralph-002"
    assert "abandoned" in ask(root, "status", "--loop-id", "ralph-001").out


@pytest.mark.slow
def test_a_long_loop_with_packs_comes_back_whole(root, ask):
    for number in range(3, 131):
        work(root, number)
    loop = root / ".aiwg/ralph/ralph-001"
    assert (loop / "packed/iterations-001-025.zip").is_file()
    assert files(links_of(root) / "ralph-001") == files(loop)  # what was packed is there once
    git(root, "clean", "-fdxq")
    is_back(ask, root, 130)
    assert ask(root, "restore", "7").code == 0


def test_gc_takes_the_links_along_and_those_of_loops_that_were_removed(root, ask):
    for number in range(3, 15):
        work(root, number)
    ask(root, "hook", "post-loop")
    Tracker(root).pre_loop(metrics(5))
    before = files(links_of(root) / "ralph-001")
    said = ask(root, "gc", "--yes", "--keep-last", "1", "--loop-id", "ralph-001")
    assert "freed: 0 bytes" not in said.out
    left = files(links_of(root) / "ralph-001")
    assert left == files(root / ".aiwg/ralph/ralph-001")
    assert len(left) < len(before)
    shutil.rmtree(root / ".aiwg/ralph/ralph-001")
    ask(root, "gc", "--yes")
    assert [path.name for path in links_of(root).glob("ralph-*")] == ["ralph-002"]


def test_what_gc_left_of_a_loop_comes_back_whole(root, ask):
    for number in range(3, 7):
        (root / os.fsdecode(b"caf\xe9.py")).write_text(f"x = {number}\n")
        work(root, number)
    ask(root, "gc", "--yes", "--keep-last", "2")
    assert (root / ".aiwg/ralph/ralph-001/iterations/iteration-005/artifacts").is_dir()
    assert not (root / ".aiwg/ralph/ralph-001/iterations/iteration-004/artifacts").exists()
    before = files(root / ".aiwg/ralph/ralph-001/iterations")
    shutil.rmtree(root / ".aiwg")
    said = ask(root, "verify")
    assert said.code == 0, said.out + said.err
    assert files(root / ".aiwg/ralph/ralph-001/iterations") == before


def test_what_an_agent_takes_from_a_loop_stays_linked(root, ask):
    shutil.rmtree(root / ".aiwg/ralph/ralph-001/iterations/iteration-001")
    work(root, 3)
    assert (links_of(root) / "ralph-001/iterations/iteration-001/seal.json").is_file()


@pytest.mark.parametrize(
    "words",
    [
        ("restore", "1"),
        ("hook", "post-iteration", "--metrics", "m.json"),
        ("select-best", "--iteration", "1", "--reason", "asked for", "--apply", "worktree"),
        ("verify", "--repair"),
        ("hook", "post-loop"),
        ("hook", "pre-loop", "--new"),
        ("hook", "post-iteration", "--iteration", "7", "--metrics", "m.json"),  # refused
    ],
    ids=" ".join,
)
def test_each_verb_links_the_contents_that_it_adds(root, ask, words):
    for number in range(4):
        (root / f"unseen{number}.py").write_text(f"y = {number}\n")
    (root / "m.json").write_text('{"testing": {"test_count": 2, "tests_passed": 1, "tests_failed": 1}}')
    if ask(root, *(str(root / word) if word == "m.json" else word for word in words)).code:
        work(root, 3)  # what a refused call kept is known by then, and not added again
    loop = Tracker(root).store().paths.loop_id
    assert files(links_of(root) / loop) == files(root / ".aiwg/ralph" / loop)


@pytest.mark.parametrize("name", ["progress/iteration-001-metrics.yaml", "store/refs/iterations/1", "state.json"])
def test_what_was_damaged_is_linked_as_it_was_repaired(root, ask, name):
    loop = root / ".aiwg/ralph/ralph-001"
    (loop / name).write_text("damaged")
    assert ask(root, "verify", "--repair").code == 0
    assert files(links_of(root) / "ralph-001") == files(loop)
    git(root, "clean", "-fdxq")
    is_back(ask, root, 2)


@pytest.mark.slow
def test_contents_that_a_killed_writer_added_are_linked_by_the_next(root, cut_short, ask):
    def recorded() -> None:
        Tracker(root).post_iteration(metrics(6))

    points = cut_short(root, recorded).points
    for at in range(1, points, points // 10):
        (root / "unseen.py").write_text(f"y = {at}\n")
        cut_short(root, recorded, at)
        recorded()
        assert files(links_of(root) / "ralph-001") == files(root / ".aiwg/ralph/ralph-001")
    latest = Tracker(root).store().summary().iteration
    git(root, "clean", "-fdxq")
    is_back(ask, root, latest)


def test_a_key_switches_it_off(tmp_path, ask):
    git(tmp_path, "init", "-q")
    begun(tmp_path, 1, OFF)
    assert not (tmp_path / ".git/ralph-tracker").exists()
    git(tmp_path, "clean", "-fdxq")
    assert ask(tmp_path, "status").err.startswith("ralph-tracker: no loop in")


def test_without_git_nothing_is_linked_and_nothing_is_said(tmp_path, ask):
    assert begun(tmp_path).joinpath(".aiwg").is_dir()
    shutil.rmtree(tmp_path / ".aiwg")
    assert ask(tmp_path, "status").err.startswith("ralph-tracker: no loop in")


def test_where_links_cannot_be_made_the_baseline_says_so(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / ".git/ralph-tracker").write_text("in the way")
    (tmp_path / "ralph-tracker.yaml").write_text("version: 1\n")
    with pytest.warns(LoopWarning, match="no hard links .*; `git clean -fdx` would end this loop$"):
        Tracker(tmp_path).pre_loop(metrics(5))
    work(tmp_path, 1)
    assert Tracker(tmp_path).store().summary().iteration == 1


def test_a_baseline_that_is_refused_says_that_alone(tmp_path, ask):
    git(tmp_path, "init", "-q")
    (tmp_path / ".git/ralph-tracker").write_text("in the way")
    (tmp_path / "ralph-tracker.yaml").write_text("version: 1\n")
    (tmp_path / "m.json").write_text('{"testing": {"test_count": 1, "tests_passed": 1}}')
    (tmp_path / ".aiwg/ralph/ralph-001/attempt.json").mkdir(parents=True)
    said = ask(tmp_path, "hook", "pre-loop", "--metrics", str(tmp_path / "m.json"))
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "attempt.json" in said.err


@pytest.mark.parametrize("at", ["iteration-003/seal.json", "ralph-001/state.json", "iterations/3"])
def test_a_full_disk_at_linking_costs_no_iteration_and_the_next_one_links_the_rest(root, ask, at):
    link = os.link

    def full(source: str, target: str, **options: bool) -> None:
        if source.endswith(at):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        link(source, target, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "link", full)
        with pytest.warns(LoopWarning, match="ralph-001 is on record, but not all of it is linked .*No space left"):
            work(root, 3)
    assert ask(root, "verify").out.startswith("4 iterations checked: every file is there")
    work(root, 4)
    git(root, "clean", "-fdxq")
    is_back(ask, root, 4)


def test_a_writer_that_is_killed_while_it_brings_a_loop_back_leaves_it_to_the_next(root, ask, cut_short):
    project = ProjectPaths(root)
    git(root, "clean", "-fdxq")
    points = cut_short(root, lambda: git_links.bring_back(project)).points
    shutil.rmtree(root / ".aiwg")
    for at in range(1, points + 1, 7):
        assert cut_short(root, lambda: git_links.bring_back(project), at).killed
        with warnings.catch_warnings(action="ignore"):  # at its last points nothing is left to do
            assert Tracker(root).store().summary().iteration == 2
        assert ask(root, "verify").out.startswith("3 iterations checked: every file is there")
        shutil.rmtree(root / ".aiwg")


@pytest.mark.parametrize(
    ("path", "target"),
    [
        pytest.param(".aiwg/ralph/ralph-001/state.json", "/etc/hostname", id="a file"),
        pytest.param(".aiwg/ralph/ralph-001/progress", "/etc", id="a folder"),
        pytest.param(".aiwg", "/etc", id="a folder above"),
    ],
)
def test_no_link_below_gits_folder_is_followed(root, ask, path, target):
    place = links_of(root).parents[1] / path
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    place.symlink_to(target)
    git(root, "clean", "-fdxq")
    said = ask(root, "status")
    assert said.code == 1
    assert said.err.count("\n") == 1
    assert str(place) in said.err
    assert not (root / ".aiwg/ralph/ralph-001/iterations/iteration-000").exists()


def test_links_of_another_loop_of_that_name_are_left_alone(root):
    stranger = links_of(root) / "ralph-001/iterations/iteration-000/seal.json"
    stranger.unlink()
    stranger.write_text("{}")
    work(root, 3)
    assert not (links_of(root) / "ralph-001/iterations/iteration-003").exists()


def test_trust_that_was_revoked_does_not_come_back(root, ask, monkeypatch, tmp_path):
    monkeypatch.delenv("RALPH_TRACKER_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert ask(root, "trust").code == 0
    work(root, 3)
    assert (links_of(root) / "trust").is_file()
    ask(root, "trust", "--revoke")
    git(root, "clean", "-fdxq")
    is_back(ask, root, 3)
    assert not (root / ".aiwg/ralph/trust").exists()


def test_what_changes_within_a_tick_of_the_clock_is_linked(root):
    paths = LoopPaths(root, "ralph-001")
    store = Tracker(root).store()
    for number in range(30):
        with store.write_lock("test"):
            store.write(paths.folder / f"extra-{number}", b"x", durable=False)
    assert files(links_of(root) / "ralph-001") == files(paths.folder)


def test_a_folder_of_another_user_is_not_used(root, monkeypatch):
    assert git_links.links_folder(root) is not None
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    foreign = root / "foreign"
    (foreign / ".git").mkdir(parents=True)
    (foreign / ".git/HEAD").write_text("ref: refs/heads/main\n")
    assert git_links.links_folder(foreign) is not None  # whose the project is
    if os.getuid() == 0:
        os.chown(foreign / ".git", 54321, 54321)
        assert git_links.links_folder(foreign) is None


def test_a_foreign_file_is_not_brought_back(root, ask):
    if os.getuid():
        pytest.skip("only root can give a file away")
    given = links_of(root) / "ralph-001/state.json"
    os.chown(given, 54321, 54321)
    git(root, "clean", "-fdxq")
    assert f"{given}: not a file of yours" in ask(root, "status").err
    with pytest.raises(StoreError):
        Tracker(root).store()
