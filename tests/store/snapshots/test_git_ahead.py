"""Very many new files are written as one pack before git looks at them; whatever happens, the tree is what it saw."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph_tracker.store.git.ahead import pack_ahead
from ralph_tracker.store.git.lock import MARK
from ralph_tracker.store.git.private import AHEAD, private_environment
from ralph_tracker.store.git.runner import GitRunner
from ralph_tracker.store.git.store import GitStore
from ralph_tracker.store.tree.reader import CHUNK

from .projects import STORES, Project, look
from .test_git_trees import exec_bits, links, odd_names

# Fails where it is the verb's turn; any other call passes.
FAULTY = """\
#!/bin/sh
case " $* " in *" fast-import "*) {does} ;; esac
exec {git} "$@"
"""


class Eager(GitStore):
    """A store for which any number of new files is very many."""

    very_many = 0


@pytest.fixture(autouse=True)
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STORES, "git", ("store.git", Eager))


def loose(project: Project) -> dict[str, str]:
    """Return kind and id of the objects that are files of their own."""
    ids = [path.parent.name + path.name for path in (project.folder / "objects").glob("??/*")]
    return {name: in_store(project, "cat-file", "-t", name).strip() for name in ids}


def in_store(project: Project, *words: str) -> str:
    return project.git("--git-dir", str(project.folder), *words, at=project.folder)


def leftovers(project: Project) -> list[str]:
    begun = ("**/*.keep", "**/*?.lock", "**/tmp_*", "fast_import_crash_*")
    found = {path.name for pattern in begun for path in project.folder.glob(pattern)}
    return sorted(found - {"ralph-tracker.lock"})


def exotic(project: Project) -> None:
    project.write("a.txt", b"one\r\ntwo\n")
    project.write("run.sh")
    project.write("src/b.py", "")
    project.write("src/deep/c.py", b"\x00\xff")
    project.link("link", "a.txt")
    for edit in (odd_names, links, exec_bits):
        edit(project)
    (project.root / "hollow").mkdir()


def test_the_tree_is_that_of_git_and_all_but_the_commit_is_in_the_pack(bare_project: Project, tmp_path: Path) -> None:
    exotic(bare_project)
    store, plain = bare_project.make_store(), GitStore(tmp_path / "plain", bare_project.root)
    plain.create()
    snapshot = store.snapshot(number=0)
    assert snapshot.tree == plain.snapshot().tree
    assert list(loose(bare_project).values()) == ["commit"]
    assert len(list((bare_project.folder / "objects/pack").glob("*.pack"))) == 1
    assert store.references() == ("refs/iterations/0",)
    assert leftovers(bare_project) == []
    in_store(bare_project, "fsck", "--full")
    store.export(snapshot.commit, tmp_path / "out")
    assert look(tmp_path / "out") == bare_project.look()


def test_later_many_only_their_contents_are_ahead(project: Project) -> None:
    store = project.make_store()
    first, before = store.snapshot(number=0), loose(project)
    for number in range(3):
        project.write(f"new/{number}.txt", f"{number}\n")
    second = store.snapshot(previous=first.tree, number=1)
    assert second.changed == tuple(f"new/{number}.txt" for number in range(3))
    assert sorted(kind for name, kind in loose(project).items() if name not in before) == ["commit", "tree", "tree"]
    in_store(project, "fsck", "--full")


def test_what_is_kept_already_is_not_kept_twice(bare_project: Project) -> None:
    bare_project.write("a.txt", "one\n")
    store = bare_project.make_store()
    store.snapshot()
    for name in ("b.txt", "c.txt"):
        bare_project.write(name, "one\n")
    store.snapshot()
    assert len(list((bare_project.folder / "objects/pack").glob("*.pack"))) == 1


def test_a_nested_repository_is_no_hindrance(bare_project: Project) -> None:
    bare_project.write("nested/a.txt", "one\n")
    bare_project.git("init", "-q", "--template=", at=bare_project.root / "nested")
    store = bare_project.make_store()
    snapshot = store.snapshot()
    assert store.paths(snapshot.tree) == ("nested/a.txt",)
    assert list(loose(bare_project).values()) == ["commit"]


def test_a_look_from_aside_finds_what_is_new(bare_project: Project, tmp_path: Path) -> None:
    bare_project.write("a.txt", "one\n")
    store = bare_project.make_store()
    known = store.snapshot().tree
    for name in ("b.txt", "c.txt"):
        bare_project.write(name, "two\n")
    (tmp_path / "aside").mkdir()
    before = {path: path.stat().st_mtime_ns for path in bare_project.folder.rglob("*")}
    tree, changed = store.lend(tmp_path / "aside").look(known)
    assert changed == ("b.txt", "c.txt")
    assert {path: path.stat().st_mtime_ns for path in bare_project.folder.rglob("*")} == before
    assert store.snapshot().tree == tree


def test_a_large_file_is_left_to_git(bare_project: Project, tmp_path: Path) -> None:
    sizes = {"one less": CHUNK - 1, "just": CHUNK, "one more": CHUNK + 1}
    for name, size in sizes.items():
        bare_project.write(name, os.urandom(8) + bytes(size - 8))
    store = bare_project.make_store()
    snapshot = store.snapshot()
    assert list(loose(bare_project).values()).count("blob") == 2
    store.export(snapshot.commit, tmp_path / "out")
    assert look(tmp_path / "out") == bare_project.look()


def test_trees_are_left_to_git_where_a_folder_is_very_full(bare_project: Project) -> None:
    for number in range(2_001):
        bare_project.write(f"full/{number}", f"{number}\n")
    store = bare_project.make_store()
    snapshot = store.snapshot()
    assert sorted(loose(bare_project).values()) == ["commit", "tree", "tree"]
    assert len(store.paths(snapshot.tree)) == 2_001


def ahead(project: Project, paths: list[str]) -> bool:
    git = GitRunner(private_environment(project.folder, project.root), project.root, AHEAD)
    return pack_ahead(git, project.root, paths, trees=True)


def another_content(project: Project) -> None:
    project.write("a.txt", "two\n")


def a_link_to_a_secret(project: Project) -> None:
    project.remove("a.txt")
    project.link("a.txt", "/etc/hostname")


def no_more(project: Project) -> None:
    project.remove("a.txt")


@pytest.mark.parametrize("change", [another_content, a_link_to_a_secret, no_more], ids=lambda change: change.__name__)
@pytest.mark.parametrize("when", ["before", "after"])
def test_what_changes_while_it_is_written_is_kept_as_it_is_then(
    change: Callable[[Project], None], when: str, bare_project: Project, tmp_path: Path
) -> None:
    for name in ("a.txt", "src/b.txt"):
        bare_project.write(name, "one\n")
    store = bare_project.make_store()
    if when == "before":
        change(bare_project)
    assert ahead(bare_project, ["a.txt", "src/b.txt"])
    if when == "after":
        change(bare_project)
    snapshot = store.snapshot()
    store.export(snapshot.commit, tmp_path / "out")
    assert look(tmp_path / "out") == bare_project.look()


def test_nothing_is_read_through_a_link_to_elsewhere(bare_project: Project, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere" / "secret"
    secret.parent.mkdir()
    secret.write_text("of somebody else\n")
    bare_project.write("a.txt")
    bare_project.make_store()
    bare_project.link("src", str(secret.parent))
    os.mkfifo(bare_project.root / "pipe")
    assert ahead(bare_project, ["a.txt", "pipe", "src", "src/secret"])
    listed = in_store(bare_project, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split()
    assert sorted(listed) == ["blob", "blob", "commit", "tree"]
    assert bare_project.git("hash-object", str(secret)).strip() not in in_store(
        bare_project, "cat-file", "--batch-all-objects", "--batch-check"
    )


@pytest.mark.parametrize(
    "does",
    [
        pytest.param("echo 'fatal: it is not known here' >&2; exit 128", id="refuses"),
        pytest.param("head -c 9 > /dev/null; kill -9 $$", id="is killed"),
    ],
)
def test_where_it_fails_git_writes_all_by_itself(
    does: str, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = project.make_store()
    for number in range(20):
        project.write(f"new/{number}.txt", f"{number}\n" * 1000)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(FAULTY.format(does=does, git=shutil.which("git")))
    (tmp_path / "bin/git").chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
        snapshot = store.snapshot()
    assert (project.folder / MARK).exists()
    store.export(snapshot.commit, tmp_path / "out")
    assert look(tmp_path / "out") == project.look()
