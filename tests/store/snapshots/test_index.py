"""Every tree comes back exactly: content, exec bit, links, empty folders, odd names."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .projects import Project, changed, look, names

Edit = Callable[[Project], None]


def additions(project: Project) -> None:
    project.write("new.txt")
    project.write("src/more/deep/new.py")


def changes(project: Project) -> None:
    project.write("a.txt", "two\n")
    project.write("src/b.py", b"\x00\xff binary \r\n")


def deletions(project: Project) -> None:
    project.remove("a.txt")
    project.remove("src/deep")


def rename(project: Project) -> None:
    (project.root / "src").rename(project.root / "lib")


def exec_bits(project: Project) -> None:
    (project.root / "a.txt").chmod(0o755)
    (project.root / "run.sh").chmod(0o644)


def links(project: Project) -> None:
    project.remove("link")
    project.link("link", "src")
    project.link("dangling", "no/such/thing")
    project.link("src/up", "../..")
    project.link("outside", "/etc/passwd")


def empty_files(project: Project) -> None:
    project.write("empty", "")
    project.write("src/b.py", "")


def empty_folders(project: Project) -> None:
    (project.root / "hollow" / "inner").mkdir(parents=True)
    (project.root / "src" / "hollow").mkdir()
    project.write("half/file")
    (project.root / "half" / "hollow").mkdir()
    project.remove("src/deep/c.py")


def line_endings(project: Project) -> None:
    project.git("config", "core.autocrlf", "true", check=False)
    project.write(".gitattributes", "*.txt text eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16\n")
    project.write("a.txt", "one\r\ntwo\nthree\r\n")
    project.write("src/b.py", "x\r\n")
    project.write("key.id", "$Id$ and $Id: kept $\n")
    project.write("wide.u16", "wide\n".encode("utf-16"))


def odd_names(project: Project) -> None:
    for name in (
        "new\nline",
        "-dash",
        "--cached",
        ":(top)x",
        ":!x",
        "*",
        "tab\there",
        '"quoted"',
        "back\\slash",
        "a b ",
        "#x",
    ):
        project.write(name)
        project.write(f"folder of {name}/inside")
    project.write("e\u0301")  # decomposed
    project.write("\u00e9")  # composed
    project.write("git~1/x")
    project.write("aux.con")
    if sys.platform == "linux":
        project.write("bad\udcff\udc80")
        project.write("bad\udcfe/inside")


def folder_from_file(project: Project) -> None:
    project.remove("a.txt")
    project.write("a.txt/inside")
    project.write("a.txt/deeper/inside")


def file_from_folder(project: Project) -> None:
    project.remove("src")
    project.write("src")


def link_from_folder(project: Project) -> None:
    """Leave the folder reachable under its old name, which hides that its files are gone."""
    (project.root / "src").rename(project.root / "moved")
    project.link("src", "moved")


def folder_from_link(project: Project) -> None:
    project.remove("link")
    project.write("link/inside")


def link_from_file(project: Project) -> None:
    project.remove("a.txt")
    project.link("a.txt", "run.sh")


def file_from_link(project: Project) -> None:
    project.remove("link")
    project.write("link", "one\n")


def everything_gone(project: Project) -> None:
    for name in names(project.root):
        if name not in {".git", ".aiwg"}:
            project.remove(name)


def git_odds(project: Project) -> None:
    project.write(".gitmodules", "[submodule]\n")
    project.write("src/.gitkeep", "")
    project.write("HEAD", "ref: nothing\n")
    project.write("objects/refs", "")


EDITS = [
    additions,
    changes,
    deletions,
    rename,
    exec_bits,
    links,
    empty_files,
    empty_folders,
    line_endings,
    odd_names,
    folder_from_file,
    file_from_folder,
    link_from_folder,
    folder_from_link,
    link_from_file,
    file_from_link,
    everything_gone,
    git_odds,
]
BY_NAME = {edit.__name__: edit for edit in EDITS}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_tree_comes_back_exactly_after(name: str, project: Project, tmp_path: Path) -> None:
    store = project.make_store()
    first = store.snapshot()
    before = project.look()
    BY_NAME[name](project)
    users_own = project.users_own()
    after = project.look()

    second = store.snapshot()
    assert second.quiescent
    store.export(second.commit, tmp_path / "out")
    assert look(tmp_path / "out") == after

    undo = store.restore(first.commit)
    assert project.look() == before
    assert store.snapshot().tree == first.tree
    assert store.snapshot().empty_directories == first.empty_directories

    store.restore(f"refs/safety/{undo}")
    assert project.look() == after
    assert store.snapshot().tree == second.tree
    assert store.verify(second.commit) == ()
    assert project.users_own() == users_own


def without_git(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


def without_commits(tmp_path: Path) -> Project:
    project = Project(tmp_path / "project")
    project.init()
    return project


def subfolder(tmp_path: Path) -> Project:
    project = Project(tmp_path / "project" / "packages" / "one", tmp_path / "project")
    project.init()
    project.write("../../top.txt")
    project.write("inside.txt")
    project.commit()
    return project


def new_subfolder(tmp_path: Path) -> Project:
    project = Project(tmp_path / "project" / "packages" / "one", tmp_path / "project")
    project.init()
    project.write("../../top.txt")
    project.git("add", "top.txt")
    project.git("commit", "-q", "-m", "top")
    return project


def linked_worktree(tmp_path: Path) -> Project:
    main = Project(tmp_path / "main")
    main.init()
    main.write("shared.txt")
    main.commit()
    main.git("worktree", "add", "-q", str(tmp_path / "project"))
    return Project(tmp_path / "project", tmp_path / "main")


def bare_alternates(tmp_path: Path) -> Project:
    """Clone so that objects are borrowed from another repository."""
    main = Project(tmp_path / "main")
    main.init()
    main.write("shared.txt")
    main.commit()
    main.git("clone", "-q", "--shared", str(main.root), str(tmp_path / "project"))
    return Project(tmp_path / "project")


def without_objects(tmp_path: Path) -> Project:
    """Lose a blob of the only commit."""
    project = Project(tmp_path / "project")
    project.init()
    project.write("lost.txt")
    project.commit()
    lost = project.git("rev-parse", "HEAD:lost.txt").strip()
    project.remove(f".git/objects/{lost[:2]}/{lost[2:]}")
    return project


def sha256_ids(tmp_path: Path) -> Project:
    project = Project(tmp_path / "project")
    project.git("init", "-q", "--object-format=sha256")
    project.write("shared.txt")
    project.commit()
    return project


PLACES = [
    without_git,
    without_commits,
    subfolder,
    new_subfolder,
    linked_worktree,
    bare_alternates,
    without_objects,
    sha256_ids,
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_any_place_of_a_project_will_do(place: Callable[[Path], Project], tmp_path: Path) -> None:
    project = place(tmp_path)
    users_own = project.users_own()
    project.write("a.txt")
    project.write("run.sh", mode=0o755)
    project.write("src/deep/c.py")
    project.write("src/b.py")
    project.link("link", "a.txt")
    store = project.make_store()
    first, before = store.snapshot(), project.look()
    for edit in (changes, links, empty_folders, odd_names, link_from_file):
        edit(project)
    users_own |= {"config": project.users_own().get("config", "")} if users_own else {}
    second, after = store.snapshot(), project.look()
    store.export(second.commit, tmp_path / "out")
    assert look(tmp_path / "out") == after
    undo = store.restore(first.commit)
    assert project.look() == before
    assert store.snapshot().tree == first.tree
    store.restore(f"refs/safety/{undo}")
    assert project.look() == after
    assert store.verify(first.commit) == store.verify(second.commit) == ()
    assert project.users_own() == users_own


def test_a_tree_has_the_same_id_with_and_without_git(project: Project, tmp_path: Path) -> None:
    with_git = project.make_store().snapshot()
    copy = Project(tmp_path / "copy")
    shutil.copytree(
        project.root, copy.root, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git", ".aiwg")
    )
    assert copy.make_store().snapshot().tree == with_git.tree


def test_an_edit_of_the_same_size_and_time_is_seen(project: Project) -> None:
    file = project.root / "a.txt"
    store = project.make_store()
    first = store.snapshot()
    status = file.stat()
    file.write_text("eno\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    second = store.snapshot()
    assert changed(store, first, second) == ("a.txt",)
    assert store.read(second.tree, "a.txt") == b"eno\n"


def test_an_edit_right_after_a_snapshot_is_seen_every_time(project: Project) -> None:
    """The index can be as old as the file: its time alone does not tell."""
    store = project.make_store()
    for number in range(12):
        project.write("a.txt", f"{number % 10}\n")
        assert store.read(store.snapshot().tree, "a.txt") == f"{number % 10}\n".encode()


def test_a_touched_file_is_no_change(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    os.utime(project.root / "a.txt", (1, 1))
    second = store.snapshot()
    assert changed(store, first, second) == ()
    assert second.tree == first.tree
