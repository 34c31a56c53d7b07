"""A call that is killed, or that the disk refuses, at any point: what has a name is whole, the next call arrives."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ralph_tracker.store.snapshots.store import SnapshotStore
from tests.sweep import chosen

from .projects import Project

SAMPLE = 10

pytestmark = pytest.mark.faults


@dataclass(frozen=True)
class Scene:
    """A call on a store with the iterations 0 and 1, the tree as after `edit`; `goal` is the state it ends in."""

    act: Callable[[Project], object]
    goal: int | None = None


def edit(project: Project) -> None:
    project.write("a.txt", "three\n")
    project.write("new/one.txt", "1\n")
    project.write("new/two.txt", b"x" * (2 << 20))
    for number in range(20):
        project.write(f"many/{number}", f"{number}\n")
    project.remove("src")
    project.write("src", "a file now\n")


def sweep(project: Project) -> None:
    project.store().forget(["refs/iterations/1"])
    project.store().sweep()


def pack_and_sweep(project: Project) -> None:
    project.store().pack()
    sweep(project)


SCENES = {
    "snapshot": Scene(lambda project: project.store().snapshot(number=2)),
    "look": Scene(lambda project: project.store().look(project.store().find(0).tree)),
    "keep": Scene(lambda project: project.store().keep(7, project.store().find(1).commit)),
    "restore": Scene(lambda project: project.store().restore("refs/iterations/0"), 0),
    "pack": Scene(lambda project: project.store().pack()),
    "forget and sweep": Scene(sweep),
    "forget and sweep what is packed": Scene(pack_and_sweep),
}


@pytest.fixture(params=SCENES.values(), ids=SCENES.keys())
def scene(request: pytest.FixtureRequest) -> Scene:
    return request.param


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory):
    """Make a project with two iterations once, and return a function that copies it and edits the copy."""
    made = Project(tmp_path_factory.mktemp("prepared") / "project")
    made.write("a.txt", "one\n")
    made.write("src/b.py", "print(1)\n", 0o755)
    made.link("link", "a.txt")
    (made.root / "hollow").mkdir()
    folder = made.root / ".aiwg/ralph/ralph-001/store"
    store = SnapshotStore(folder, made.root)
    store.create()
    states = []
    for number in (0, 1):
        store.snapshot(number=number)
        states.append(made.look())
        made.write("a.txt", "two\n")

    def copy(place: Path) -> Project:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(made.root, place, symlinks=True)
        project = Project(place)
        edit(project)
        return project

    copy.states = states
    return copy


def survives(project: Project, scene: Scene, prepared, out: Path) -> None:
    """Check that every name leads to what is whole, and that the call, repeated, arrives."""
    store = project.store()
    assert "refs/iterations/0" in store.references()
    for name in store.references():
        assert store.verify(name) == (), name
    after = project.look()
    scene.act(project) if scene.goal is not None or "refs/iterations/1" in store.references() else store.sweep()
    state = prepared.states[scene.goal] if scene.goal is not None else after
    assert project.look() == state
    shutil.rmtree(out, ignore_errors=True)
    store.export(store.snapshot().commit, out)
    assert Project(out).look() == state
    assert not [path for path in project.root.rglob("*") if ".tmp" in path.name]
    assert not list((project.folder / "tmp").iterdir())


@pytest.mark.parametrize("kill", [True, False], ids=["killed", "refused by the disk"])
def test_a_call_that_is_cut_short_leaves_what_is_whole_and_arrives_when_repeated(
    kill, scene, prepared, cut_short, expected_failure, tmp_path, request
):
    place, out = tmp_path.resolve() / "copy", tmp_path / "out"
    whole = prepared(place)
    total = cut_short(whole.root, lambda: scene.act(whole), kill=kill).points
    assert total > 3
    for at in chosen(range(1, total + 1), SAMPLE, request.node):
        project = prepared(place)
        before = project.look()
        end = cut_short(project.root, lambda project=project: scene.act(project), at, kill=kill)
        assert end.killed == kill
        assert kill or end.error is None or expected_failure(end.error), (at, end.error)
        if scene.goal is None:
            assert project.look() == before, at
        survives(project, scene, prepared, out)
