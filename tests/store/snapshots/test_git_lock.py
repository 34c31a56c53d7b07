"""What a git has begun and not ended goes before the next one writes, and is not looked for where all went well."""

import os
import sys
from pathlib import Path

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.store.git.lock import MARK, at_work
from ralph_tracker.store.git.runner import GitRunner
from ralph_tracker.store.git.verbs import NO_OBJECT, Verb

from .projects import Project

BEGUN = (
    "objects/65/tmp_obj_YbuDJ3",
    "objects/pack/tmp_pack_a1b2c3",
    "objects/pack/.tmp-4711-pack-8d3e.idx",
    "objects/pack/pack-8d3e5a.keep",
    "fast_import_crash_4711",
    "refs/safety/undo-e79052f9293f.lock",
    "refs/iterations/9.lock",
)


def begin(folder: Path) -> None:
    for name in BEGUN:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"half")


def left(folder: Path) -> list[str]:
    return [name for name in (*BEGUN, MARK) if (folder / name).exists()]


def act(project: Project, how: str) -> None:
    store = project.store()
    store.restore("refs/iterations/0") if how == "restore" else getattr(store, how)()


@pytest.mark.parametrize("how", ["snapshot", "restore", "sweep"])
def test_after_a_work_without_a_good_end_the_next_one_takes_it_away(how: str, project: Project) -> None:
    project.make_store().snapshot(number=0)
    begin(project.folder)
    (project.folder / MARK).touch()
    act(project, how)
    assert left(project.folder) == []


@pytest.mark.parametrize("marked", [True, False], ids=["after a bad end", "else"])
def test_a_pack_without_its_index_goes_after_a_bad_end_only(marked, project: Project) -> None:
    store = project.make_store()
    snapshot = store.snapshot(number=0)
    store.sweep()
    half = [project.folder / f"objects/pack/pack-{'0' * 40}.{kind}" for kind in ("pack", "rev")]
    for path in half:
        path.write_bytes(b"half")
    if marked:
        (project.folder / MARK).touch()
    store.snapshot()
    assert [path.exists() for path in half] == [not marked] * 2
    assert store.verify(snapshot.commit) == ()


@pytest.mark.parametrize("how", ["snapshot", "restore"])
def test_after_a_good_end_no_folder_of_what_is_kept_is_listed(how: str, project: Project, together) -> None:
    project.make_store().snapshot(number=0)

    def listed() -> list[str]:
        found: list[str] = []

        def hear(event: str, arguments: tuple) -> None:
            if event in {"os.listdir", "os.scandir"}:
                found.append(str(arguments[0]))

        sys.addaudithook(hear)
        act(project, how)
        return [name for name in found if name.startswith(f"{project.folder}/")]

    together(listed)
    assert together.wait() == [[]]
    assert left(project.folder) == []


def test_what_ends_with_an_error_leaves_the_mark(project: Project) -> None:
    project.make_store()
    with pytest.raises(KeyError), at_work(project.folder, lambda: False):
        raise KeyError
    assert left(project.folder) == [MARK]


@pytest.mark.parametrize("troubled", [False, True])
def test_a_git_in_trouble_leaves_the_mark_although_the_work_ends_well(troubled, project: Project) -> None:
    project.make_store()
    with at_work(project.folder, lambda: troubled):
        begin(project.folder)
    assert (project.folder / MARK).exists() is troubled
    with at_work(project.folder, lambda: False):
        assert (left(project.folder) == [MARK]) is troubled


def test_a_mark_that_cannot_be_taken_away_is_no_failure(project: Project) -> None:
    project.make_store()
    with at_work(project.folder, lambda: False):
        (project.folder / MARK).unlink()
        (project.folder / MARK).mkdir()
    assert (project.folder / MARK).is_dir()


@pytest.mark.parametrize(
    ("verb", "does", "troubled"),
    [
        pytest.param("write-tree", "exit 0", False, id="well"),
        pytest.param("write-tree", "kill -9 $$", True, id="killed"),
        pytest.param("write-tree", "echo 'warning: unable to unlink it' >&2", True, id="well with a warning"),
        pytest.param("update-ref", "echo 'fatal: exists already' >&2; exit 128", False, id="refused in good order"),
        pytest.param("update-ref", "echo 'warning: unable to unlink it' >&2; exit 128", True, id="refused and warned"),
        pytest.param("ls-files", "kill -9 $$", False, id="one that only reads"),
    ],
)
def test_a_git_is_in_trouble_where_it_may_have_left_something(
    verb: Verb, does: str, troubled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text(f"#!/bin/sh\n{does}\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    git = GitRunner({}, tmp_path)
    git.ask(verb)
    assert git.is_troubled is troubled


def test_a_git_that_has_to_end_well_and_does_not_is_in_trouble(project: Project) -> None:
    project.make_store()
    git = GitRunner({"GIT_DIR": str(project.folder)}, project.root)
    with pytest.raises(StoreError, match="update-ref failed"):
        git.run("update-ref", "refs/iterations/0", "0" * 39 + "1", NO_OBJECT)
    assert git.is_troubled
