"""What is the user's and git's stays as it is, byte for byte, before and after every command."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.cli.verbs import VERBS

from .story import BRANCH, ELSEWHERE, story

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]


def ordinary(maker: Any, folder: Path) -> Any:
    return lived_in(maker(made(folder / "top")).prepare())


def worktree(maker: Any, folder: Path) -> Any:
    main = lived_in(maker(made(folder / "top")).prepare())
    main.git("worktree", "add", "-q", "-b", "linked", str(folder / "linked"))
    linked = maker((folder / "linked").resolve())
    linked.write("staged-too.txt", "staged\n")
    linked.git("add", "staged-too.txt")
    return linked


def subfolder(maker: Any, folder: Path) -> Any:
    top = maker(made(folder / "top"))
    top.write("other/app.js", "1\n")
    shop = maker(made(top.root / "services/api")).prepare()
    lived_in(top)
    return shop


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder.resolve()


def lived_in(shop: Any) -> Any:
    """Commit it, with a stash, a dirty index, refs packed and loose, and a branch to go back to."""
    shop.commit()
    shop.git("branch", "older")
    shop.git("tag", "v1")
    shop.git("pack-refs", "--all")
    shop.git("checkout", "-q", "-b", "work")
    shop.git("tag", "-m", "a note", "v2")
    shop.git("config", "remote.origin.url", "https://example.org/x.git")
    shop.write("staged.txt", "changed after it was staged\n")
    return shop


def gits_own(top: Path) -> dict[str, bytes]:
    """Return every file of the user's git folder: index, HEAD, refs, reflogs, stash, settings, objects; not ours."""
    files = (path for path in sorted((top / ".git").rglob("*")) if path.is_file() and "ralph-tracker" not in path.parts)
    return {str(path.relative_to(top)): path.read_bytes() for path in files}


def prints(root: Path, chosen: Callable[[str], bool]) -> dict[str, tuple[int, ...]]:
    """Return what changes when a file of the tree is written, replaced or given other rights."""
    found = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_file() and name.split("/")[0] not in {".git", ".aiwg"} and chosen(name):
            status = path.stat()
            found[name] = (status.st_ino, status.st_size, status.st_mode, status.st_mtime_ns)
    return found


def is_never_touched(name: str) -> bool:
    """Tell whether no command has a reason to write a file: it is ignored, or as it was since before the loop."""
    return name.startswith(("build/", "mine/"))


@pytest.mark.parametrize(
    ("place", "git"),
    [
        pytest.param(ordinary, True, id="ordinary"),
        pytest.param(worktree, True, id="worktree"),
        pytest.param(subfolder, True, id="subfolder"),
        pytest.param(ordinary, False, id="ordinary, where git is not found"),
    ],
)
def test_every_command_leaves_git_and_the_files_of_the_user_as_they_are(workshop_at, tmp_path, place, git, without_git):
    shop = place(workshop_at, tmp_path)
    shop.write(".gitignore", ".aiwg/\nbuild/\n")
    shop.write("mine/notes.txt", "untracked\n")
    shop.write("build/out.bin", b"\x00\r\n")
    top, kept = tmp_path / "top", prints(shop.root, is_never_touched)
    steps = story(shop, git=git)
    assert set(kept) == {"mine/notes.txt", "build/out.bin"}
    used = set()
    for step in steps:
        before, files, branches = gits_own(top), prints(shop.root, lambda _: True), shop.git("for-each-ref")
        step.run(shop, None if git else without_git)
        used.add(step.words[0])
        after = gits_own(top)
        if step.words == BRANCH and not step.code:
            (new,) = set(shop.git("for-each-ref").splitlines()) - set(branches.splitlines())
            name = new.rpartition("\t")[2]
            others = {f".git/{name}", f".git/logs/{name}"} | {
                path for path in after if path.startswith(".git/objects/")
            }
            assert before.items() <= after.items()
            assert after.keys() - before.keys() <= others
            assert f".git/{name}" in after
        else:
            assert after == before, step.words
        if not step.writes:
            assert prints(shop.root, lambda _: True) == files, step.words
        assert prints(shop.root, is_never_touched) == kept, step.words
    assert used == VERBS.keys() - ELSEWHERE
    assert (shop.root / ".git").is_file() == (place is worktree)
