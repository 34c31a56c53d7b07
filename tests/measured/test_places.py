"""Where a project can stand: in git or not, inside a repository or as a part of one; the user's git stays as it is."""

import shutil
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.errors import StoreError


def alone(maker, folder: Path):
    return maker(made(folder / "project")).prepare().commit()


def without_git(maker, folder: Path):
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
    "place", [alone, without_git, in_another, subfolder, worktree], ids=lambda place: place.__name__
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
    assert [alert.kind.name for alert in shop.passing(1).turn().alerts] == ["test_deletion", "functionality_loss"]
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


def test_without_the_git_program_the_loop_does_not_begin_and_says_what_to_install(workshop, tmp_path, monkeypatch):
    tools = made(tmp_path / "bin")
    for name in ("sh", "cp", "env"):
        (tools / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(StoreError, match=r"git was not found: install git 2\.34"):
        workshop.start()
    monkeypatch.undo()
    assert workshop.start().iteration == 0


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
