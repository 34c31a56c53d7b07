"""Whatever fails or is killed on the way: an expected failure, no half state, and the next run arrives."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.store.git.store import GitStore
from ralph_tracker.store.lock import hold

from .projects import Project, look

pytestmark = pytest.mark.slow

FAULTY = """\
#!/bin/sh
count=$(($(cat {count}) + 1))
echo $count > {count}
if [ $count -ne {at} ]; then exec {git} "$@"; fi
case {how} in
  after) {git} "$@" ;;
  killed) kill -9 $$ ;;
esac
echo "fatal: unable to write: No space left on device" >&2
exit 128
"""

# In haste each call of git fails in one way only.
HOWS = ["before", "after", "killed"] if os.environ.get("RALPH_TRACKER_SWEEP") else None


class FaultyGit:
    """A git that fails at one of its calls."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = folder / "count"
        self._git = shutil.which("git")
        folder.mkdir()

    def arm(self, at: int, how: str) -> None:
        self._count.write_text("0")
        program = self._folder / "git"
        program.write_text(FAULTY.format(count=self._count, at=at, git=self._git, how=how))
        program.chmod(0o755)

    def disarm(self) -> bool:
        """Let everything pass again, and say whether the fault was reached."""
        reached = (self._folder / "git").read_text()
        (self._folder / "git").unlink()
        at = int(reached.split("-ne ")[1].split(" ")[0])
        return int(self._count.read_text()) >= at


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FaultyGit:
    """Return a git that stands before the real one."""
    git = FaultyGit(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return git


def each_fault(faulty: FaultyGit, how: str, run: Callable[[], object], arrived: Callable[[], None]) -> int:
    """Fail at the first call, the second … until the run gets through; return how many calls there were."""
    said: list[str] = []
    for at in range(1, 60):
        faulty.arm(at, how)
        try:
            run()
        except StoreError as error:
            said.append(str(error))
        reached = faulty.disarm()
        arrived()
        if not reached:
            assert not [line for line in said if "\n" in line]
            return at
    raise AssertionError("the run never gets through")


@pytest.mark.faults
@pytest.mark.parametrize("how", HOWS or ["killed"])
def test_making_a_store_fails_whole_and_can_be_repeated(how: str, project: Project, faulty: FaultyGit) -> None:
    head = project.git("rev-parse", "HEAD^{tree}").strip()

    def arrived() -> None:
        store = GitStore(project.folder, project.root)
        store.create()
        assert store.snapshot().tree == head
        assert not project.folder.with_name("store.git.new").exists()
        shutil.rmtree(project.folder)

    assert each_fault(faulty, how, GitStore(project.folder, project.root).create, arrived) > 5


@pytest.mark.faults
@pytest.mark.parametrize("how", HOWS or ["before"])
def test_a_snapshot_fails_whole_and_can_be_repeated(
    how: str, project: Project, faulty: FaultyGit, tmp_path: Path
) -> None:
    store = project.make_store()
    first = store.snapshot()
    number = iter(range(100))
    changes = iter(range(1000))

    def run() -> None:
        project.write("a.txt", f"{next(changes)}\n")
        project.write(f"new/{next(changes)}.txt")
        if (project.root / "src").exists():
            project.remove("src")
        else:
            project.write("src/b.py", "again\n")
        store.snapshot(previous=first.tree, number=next(number))

    def arrived() -> None:
        snapshot = store.snapshot(number=next(number))
        out = tmp_path / f"out-{next(number)}"
        store.export(snapshot.commit, out)
        assert look(out) == project.look()

    assert each_fault(faulty, how, run, arrived) > 6


@pytest.mark.faults
@pytest.mark.parametrize("how", HOWS or ["after"])
def test_a_restore_that_fails_can_be_repeated(how: str, project: Project, faulty: FaultyGit) -> None:
    store = project.make_store()
    first, before = store.snapshot(), project.look()
    for path in ("a.txt", "new/new.txt"):
        project.write(path, "changed\n")
    project.remove("src")
    project.link("src", "new")
    second, after = store.snapshot(), project.look()

    def arrived() -> None:
        undo = store.restore(first.commit)
        assert project.look() == before
        assert store.snapshot().tree == first.tree
        store.restore(second.commit)
        assert project.look() == after
        store.undo(undo)

    store.restore(second.commit)
    assert each_fault(faulty, how, lambda: store.restore(first.commit), arrived) > 8


LITTERING = """\
#!/bin/sh
case " $* " in *" init "*) {git} "$@" && exec ln -s testing "$GIT_DIR/tf661Et" ;; esac
exec {git} "$@"
"""


def test_what_git_tries_links_with_goes(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that may not take it away says nothing."""
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(LITTERING.format(git=shutil.which("git")))
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    GitStore(project.folder, project.root).create()
    assert not os.path.lexists(project.folder / "tf661Et")


CHILD = """\
import sys
from pathlib import Path
from ralph_tracker.store.git.store import GitStore
store = GitStore(Path(sys.argv[1]), Path(sys.argv[2]))
for turn in range(100):
    for number in (0, 1):
        store.restore(store.find(number).commit)
    print(turn, flush=True)
"""


@pytest.mark.faults
@pytest.mark.parametrize("delay_s", [0.0, 0.02, 0.05, 0.09, 0.14, 0.2] if HOWS else [0.05])
def test_a_kill_at_any_time_loses_nothing(delay_s: float, project: Project) -> None:
    store = project.make_store()
    first, before = store.snapshot(number=0), project.look()
    for number in range(30):
        project.write(f"new/{number}.txt", f"{number}\n" * 1000)
    project.remove("src")
    project.write("src")
    second, after = store.snapshot(number=1), project.look()
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, project.folder, project.root], stdout=subprocess.PIPE, start_new_session=True
    )
    assert child.stdout
    child.stdout.readline()
    time.sleep(delay_s)
    child.kill()  # its git may go on for a moment and still holds the lock
    child.communicate()
    for snapshot, content in ((first, before), (second, after)):
        store.restore(snapshot.commit)
        seen = {path: item for path, item in project.look().items() if not path.endswith(".tmp")}
        assert seen == content
        assert store.snapshot().tree == snapshot.tree
        assert store.verify(snapshot.commit) == ()


def test_locks_of_a_killed_git_do_not_stay(project: Project) -> None:
    store = project.make_store()
    store.snapshot(number=0)
    (project.folder / "index.lock").touch()
    (project.folder / "refs/iterations/1.lock").touch()
    (project.folder / "safety.index.lock").touch()
    project.write("a.txt", "two\n")
    store.snapshot(number=1)
    assert not (project.folder / "index.lock").exists()


def test_two_writers_come_one_after_the_other(project: Project) -> None:
    project.make_store()
    trees: dict[int, str] = {}

    def write(number: int) -> None:
        trees[number] = GitStore(project.folder, project.root).snapshot(number=number).tree

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(trees) == 4
    assert len(set(trees.values())) == 1


def test_a_writer_that_never_ends_is_named(project: Project) -> None:
    project.make_store()
    with (
        hold(project.folder),
        pytest.raises(StoreError, match="another process works in"),
        hold(project.folder, patience_s=0.1),
    ):
        pass


def test_readers_do_not_wait_for_a_writer(project: Project, tmp_path: Path) -> None:
    store = project.make_store()
    snapshot = store.snapshot(number=0)
    with hold(project.folder):
        assert store.find(0).tree == snapshot.tree
        assert store.read(snapshot.tree, "a.txt") == b"one\n"
        store.export(snapshot.tree, tmp_path / "out")


def test_what_the_system_refuses_is_an_expected_failure(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device", str(project.folder))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        with pytest.raises(StoreError, match="No space left on device"):
            GitStore(project.folder, project.root).create()
    store = project.make_store()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(StoreError, match="No space left on device"):
            store.snapshot()
