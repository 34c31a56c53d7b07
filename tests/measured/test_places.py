"""Where a project can stand: in git or not, inside a repository or as a part of one; the user's git stays as it is."""

import shutil
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.errors import LoopError, StoreError
from ralph_tracker.store.snapshots.store import SnapshotStore

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]


def alone(maker, folder: Path):
    return maker(made(folder / "project")).prepare().commit()


def in_no_repository(maker, folder: Path):
    return maker(made(folder / "project")).prepare()


def in_another(maker, folder: Path):
    """Put the project, ignored there, inside somebody else's repository."""
    outer = maker(made(folder / "outer"))
    outer.write(".gitignore", "inner/\n")
    outer.commit()
    return maker(made(outer.root / "inner")).prepare()


def subfolder(maker, folder: Path):
    outer = maker(made(folder / "mono"))
    outer.write("other/app.js", "1\n")
    maker(made(outer.root / "services/api")).prepare()
    outer.commit()
    return maker(outer.root / "services/api")


def worktree(maker, folder: Path):
    main = maker(made(folder / "main")).prepare().commit()
    main.git("worktree", "add", "-q", str(folder / "linked"))
    return maker((folder / "linked").resolve())


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder.resolve()


@pytest.mark.parametrize(
    "place",
    [
        alone,
        in_no_repository,
        *(pytest.param(each, marks=pytest.mark.slow) for each in (in_another, subfolder, worktree)),
    ],
    ids=lambda place: place.__name__,
)
def test_a_whole_loop_runs_there_and_touches_no_file_of_the_users_git(workshop_at, own_files, tmp_path, place, capsys):
    shop = place(workshop_at, tmp_path)
    gits = [
        path for path in (tmp_path / name / ".git" for name in ("project", "outer", "mono", "main")) if path.is_dir()
    ]
    before = [own_files(path) for path in gits]
    first = shop.files()
    shop.start()
    shop.passing(6).write("deep/new.txt", "new\n")
    assert shop.turn().alerts == ()
    peak = shop.files()
    (shop.root / "deep/new.txt").unlink()
    assert [alert.type for alert in shop.passing(1).turn().alerts] == ["test_deletion", "functionality_loss"]
    words = [
        ["hook", "loop-decision", "--apply"],
        ["status"],
        ["verify"],
        ["restore", "0"],
        ["restore", "1"],
        ["doctor"],
    ]
    codes = {" ".join(each): run([*each, "--root", str(shop.root)]) for each in words}
    assert codes.pop("doctor") == 0
    assert set(codes.values()) == {0}
    assert shop.files() == peak
    assert run(["select-best", "--root", str(shop.root), "--apply", "worktree"]) == 0
    assert run(["hook", "post-loop", "--root", str(shop.root)]) == 0
    assert shop.files() == peak
    shop.tracker.restore(0)
    assert shop.files() == first
    assert [own_files(path) for path in gits] == before


ANSWERS = '[ "$*" != version ] || { echo git version 2.40.0; exit; }\n'
GITS = {
    "no git": None,
    "a git that fails": f"{ANSWERS}echo fatal: unknown index entry format >&2\nexit 128",
    "a git that is killed": f"{ANSWERS}kill -9 $$",
}


@pytest.fixture
def hide_git(without_git, tmp_path, monkeypatch):
    """Return a function that takes git from PATH, or puts another program there under its name."""

    def hide(script: str | None = None) -> None:
        folder = made(tmp_path / "bin")
        if script:
            (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
            (folder / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{without_git}")

    return hide


@pytest.mark.parametrize("script", GITS.values(), ids=GITS.keys())
def test_a_loop_begins_without_git_and_says_what_it_does_not_keep(workshop, hide_git, script, capsys):
    workshop.write("ignored.txt", "tracked all the same\n")
    workshop.commit().write(".gitignore", ".aiwg/\nignored.txt\n")
    hide_git(script)
    (note,) = (note for note in workshop.start().notes if note.startswith("store: "))
    why = "git ls-files failed in " if script else "git was not found"
    assert note.startswith(f"store: the git repository could not be read ({why}")
    assert note.endswith("); what it tracks although it is ignored or named like a secret is not kept")
    assert note.count("(") == note.count(")")
    first = workshop.files()
    workshop.write("deep/new.txt", "new\n")
    assert not any(note.startswith("store:") for note in workshop.passing(3).turn().notes)
    for words in (["status"], ["verify"], ["restore", "0"], ["diff", "0", "1"], ["gc"], ["doctor"]):
        assert run([*words, "--root", str(workshop.root)]) == 0, capsys.readouterr().err
    assert workshop.files() == first
    assert "ignored.txt" not in {each.path for each in kept_in(workshop, 0)}
    assert run(["select-best", "--apply", "branch", "--branch", "best", "--root", str(workshop.root)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def kept_in(shop, number: int):
    return SnapshotStore(shop.paths.store, shop.root).changes(None, f"refs/iterations/{number}")


def test_a_loop_that_was_begun_with_git_goes_on_without_it_and_only_a_branch_needs_it(workshop, hide_git):
    workshop.write("ignored.txt", "tracked all the same\n")
    workshop.commit().write(".gitignore", ".aiwg/\nignored.txt\n")
    assert not [note for note in workshop.start().notes if note.startswith("store:")]
    first = workshop.files()
    hide_git()
    workshop.write("ignored.txt", "changed\n")
    workshop.turn()
    assert [each.path for each in kept_in(workshop, 1) if each.path == "ignored.txt"]
    workshop.tracker.restore(0)
    assert workshop.files() == first
    with pytest.raises(StoreError, match=r"^git was not found: install git") as raised:
        workshop.tracker.select_output(apply="branch", branch="best")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("rules", ["", "secret.txt\n"], ids=["rules taken out", "rules put in"])
def test_a_baseline_that_failed_leaves_no_ignore_rules_behind(workshop, rules):
    other = "secret.txt\n" if not rules else ""
    workshop.write(".gitignore", f".aiwg/\n{other}")
    workshop.commit().write("secret.txt", "s\n")
    workshop.configure({"tests": {"run": ["no-such-command"], "reports": ["{reports}/junit.xml"]}})
    assert run(["hook", "pre-loop", "--root", str(workshop.root)]) == 1
    workshop.prepare().write(".gitignore", f".aiwg/\n{rules}")
    workshop.start()
    workshop.write("secret.txt", "changed\n")
    workshop.turn()
    names = [path.name for path in (workshop.paths.iteration(1)).rglob("*")]
    assert ("secret.txt" in names) == (not rules)


def test_a_project_that_was_moved_takes_its_loop_along(workshop, tmp_path, workshop_at):
    """Nothing that is kept names the place where it was made."""
    workshop.commit().start()
    peak = workshop.passing(6).write("new.txt", "new\n") and workshop.files()
    workshop.turn()
    inside = [path.read_bytes() for path in (workshop.root / ".aiwg").rglob("*") if path.is_file()]
    assert not [data for data in inside if bytes(workshop.root) in data]
    (tmp_path / "elsewhere").mkdir()
    moved = workshop_at(workshop.root.rename(tmp_path / "elsewhere/moved"), workshop.clock)
    assert moved.passing(1).turn().previous == 1
    assert run(["verify", "--root", str(moved.root)]) == 0
    assert moved.tracker.loop_decision(apply=True).carried_out
    assert moved.files() == peak
    assert run(["select-best", "--apply", "worktree", "--root", str(moved.root)]) == 0
    assert moved.files() == peak


def test_loops_copied_beside_another_tree_compare_it_with_what_they_kept(workshop, tmp_path, workshop_at):
    """What stands there is what the next iteration is, whoever put it there."""
    workshop.commit().start()
    other = workshop_at(made(tmp_path / "other"), workshop.clock).prepare()
    other.write("theirs.txt", "theirs\n")
    shutil.copytree(workshop.root / ".aiwg", other.root / ".aiwg", symlinks=True)
    other.turn()
    changed = {path.name for path in (other.paths.iteration(1) / "artifacts").iterdir()}
    assert changed == {"theirs.txt"}
    assert workshop.turn().iteration == 1


LINKS = {"the folder": ".aiwg", "its base": ".aiwg/ralph", "one loop": ".aiwg/ralph/ralph-001"}


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS.keys())
def test_two_roots_do_not_share_their_loops_through_a_link(workshop, tmp_path, workshop_at, link, capsys):
    workshop.commit().start()
    other = workshop_at(made(tmp_path / "other"), workshop.clock).prepare().commit()
    (other.root / link).parent.mkdir(parents=True, exist_ok=True)
    (other.root / link).symlink_to(workshop.root / link)
    before = content(workshop.root / ".aiwg")
    for words in (["hook", "post-iteration"], ["status"], ["restore", "0"], ["hook", "pre-loop"]):
        assert run([*words, "--loop-id", "ralph-001", "--root", str(other.root)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "a symbolic link; a loop belongs to one project" in line or "loop ralph-001 exists already" in line
    assert content(workshop.root / ".aiwg") == before


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_root_that_is_reached_through_a_link_is_the_same_project(workshop, tmp_path, workshop_at):
    workshop.commit().start()
    (tmp_path / "way").symlink_to(workshop.root)
    assert workshop_at(tmp_path / "way", workshop.clock).turn().iteration == 1
    assert workshop.turn().iteration == 2


def test_worktrees_of_one_repository_have_loops_of_their_own(workshop, tmp_path, workshop_at):
    workshop.commit().start()
    workshop.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = workshop_at((tmp_path / "linked").resolve(), workshop.clock)
    with pytest.raises(LoopError, match="no loop in"):
        linked.turn()
    linked.start()
    workshop.write("here.txt", "here\n")
    workshop.turn()
    assert linked.turn().tree == linked.tracker.store().measurement(0)[0].tree
