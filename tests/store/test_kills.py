"""A call that is killed, or that the disk refuses, at any point: nothing on record is lost, the next call goes on."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ralph_tracker.errors import LoopError
from ralph_tracker.safe_files import write_whole
from tests.sweep import chosen

SAMPLE = 4
NAMES = {"test_a": "passed", "test_b": "passed", "test_c": "skipped"}
FEWER = {"test_a": "passed", "test_c": "skipped"}
NEW_ONES = {**NAMES, "test_c": "passed", "test_d": "passed"}

pytestmark = pytest.mark.faults


@dataclass(frozen=True)
class Scene:
    """A hook of a loop: what went before, and the call itself, which a caller repeats after it died.

    One that is not `repeatable` does more when it is called again after it ended well.
    """

    prepare: Callable[[Any], object]
    act: Callable[[Any], object]
    repeatable: bool = True


def named(loop):
    """Record a baseline, a gain, a deleted test and its return."""
    loop.start(tests=NAMES)
    loop.turn(tests=NAMES, coverage_percentage=82.0)
    loop.turn(tests=FEWER)
    return loop.turn(tests=NAMES, lint_errors=1)


def in_git(loop):
    """Record the same with the files, which are linked below git's folder."""
    subprocess.run(["git", "init", "-q"], cwd=loop.root, check=True)
    return named(loop)


def counted(loop):
    """Record a baseline and a deleted test without names."""
    loop.start()
    return loop.turn(test_count=8, tests_passed=8)


def nothing(loop):
    return loop


SCENES = {
    "pre_loop": Scene(nothing, lambda loop: loop.start(tests=NAMES)),
    "pre_loop-new": Scene(named, lambda loop: loop.start(new=True), repeatable=False),
    "pre_loop-rebaseline": Scene(named, lambda loop: loop.start(rebaseline=True), repeatable=False),
    "post_iteration": Scene(named, lambda loop: loop.turn(tests=NEW_ONES, iteration=4)),
    "post_iteration-regression": Scene(named, lambda loop: loop.turn(tests=FEWER, iteration=4)),
    "post_loop": Scene(named, lambda loop: loop.tracker.select_output()),
    "accept": Scene(named, lambda loop: loop.tracker.accept("it2-test_deletion", "merged")),
    "accept-counted": Scene(counted, lambda loop: loop.tracker.accept("it1-test_deletion", "merged")),
}


@pytest.fixture(params=SCENES.values(), ids=SCENES.keys())
def scene(request: pytest.FixtureRequest) -> Scene:
    return request.param


@pytest.fixture
def copies(prepared, tmp_path):
    """Return a function that gives a fresh copy of what went before, half an hour later."""
    place = tmp_path / "copy"

    def copied(prepare: Callable[[Any], object]) -> Any:
        shutil.rmtree(place, ignore_errors=True)
        loop = prepared(f"before-{prepare.__name__}", prepare, place, light=True)
        loop.clock.tick(30)
        return loop

    return copied


@pytest.fixture
def undisturbed(copies, scene, documents):
    loop = copies(scene.prepare)
    scene.act(loop)
    return documents(loop.root)


def repeat(loop, scene) -> None:
    """Call again, as a caller does; what was over already says so."""
    try:
        scene.act(loop)
    except LoopError as error:
        assert "still running" in str(error), error


def decision_of(loop, ask) -> Any:
    """Let everything that only reads answer, and return what loop-decision says."""
    known = loop.paths.iteration(0).is_dir()
    for command in (("status",), ("history",), ("history", "--json")):
        assert ask(loop.root, *command, "--loop-id", "ralph-001").code == (0 if known else 1)
    return ask(loop.root, "hook", "loop-decision", "--loop-id", "ralph-001")


@pytest.fixture
def survives(documents, temporaries, unsealed, ask):
    """Check what has to hold after a call was cut short: what was on record is there, and whole."""

    def check(loop: Any, before: Any) -> None:
        said = decision_of(loop, ask)
        begun = loop.paths.attempt.exists() and b'"iteration":4' in loop.paths.attempt.read_bytes()
        missing = begun and not loop.paths.iteration(4).is_dir()
        assert ("iteration 4 was not recorded" in said.err) == missing
        assert unsealed(loop.paths.folder) == []
        kept = {path: data for path, data in before.items() if "/iterations/" in path}
        assert kept.items() <= documents(loop.root).items()

    return check


class TestKilled:
    def test_leaves_whole_iterations_and_converges_when_repeated(
        self, copies, scene, undisturbed, cut_short, documents, temporaries, survives, request
    ):
        whole = copies(scene.prepare)
        before = documents(whole.root)
        for at in chosen(range(1, 1 + cut_short(whole.base, lambda: scene.act(whole)).points), SAMPLE, request.node):
            loop = copies(scene.prepare)
            assert cut_short(loop.base, lambda loop=loop: scene.act(loop), at).killed
            survives(loop, before)
            repeat(loop, scene)
            assert documents(loop.root) == undisturbed, at
            assert temporaries(loop.root) == []

    def test_is_found_out_by_a_runner_that_numbers_nothing(self, copies, cut_short, documents, ask, request):
        """It repeats what is not on record, goes on with what is, and the loop is the same in the end."""
        twice = copies(named)
        twice.turn(tests=NEW_ONES)
        twice.turn(tests=NEW_ONES, coverage_percentage=85.0)
        expected = documents(twice.root)
        whole = copies(named)
        total = cut_short(whole.base, lambda: whole.turn(tests=NEW_ONES)).points
        for at in chosen(range(1, total + 1), SAMPLE, request.node):
            loop = copies(named)
            assert cut_short(loop.base, lambda loop=loop: loop.turn(tests=NEW_ONES), at).killed
            on_record = json.loads(ask(loop.root, "status", "--json").out)["iteration"] == 4
            loop.clock.tick(1 if on_record else 0)
            if not on_record:
                loop.turn(tests=NEW_ONES)
            loop.turn(tests=NEW_ONES, coverage_percentage=85.0)
            assert documents(loop.root) == expected, at


class TestRefusedByTheDisk:
    def test_fails_in_one_line_and_converges_when_repeated(
        self, copies, scene, undisturbed, cut_short, documents, temporaries, survives, expected_failure, request
    ):
        whole = copies(scene.prepare)
        before = documents(whole.root)
        total = cut_short(whole.base, lambda: scene.act(whole), kill=False).points
        for at in chosen(range(1, total + 1), SAMPLE, request.node):
            loop = copies(scene.prepare)
            end = cut_short(loop.base, lambda loop=loop: scene.act(loop), at, kill=False)
            assert end.error is None or expected_failure(end.error), (at, end.error)
            assert ("NOT recorded" in str(end.error)) <= (not loop.paths.iteration(4).is_dir())
            survives(loop, before)
            if end.error is not None or scene.repeatable:
                repeat(loop, scene)
            assert documents(loop.root) == undisturbed, (at, end.error)
            assert temporaries(loop.root) == []


def test_a_file_is_half_made_in_its_staging_folder_only(tmp_path, cut_short):
    staging = tmp_path / "staging"
    write_whole(tmp_path / "place" / "file", b"1", staging)
    end = cut_short(tmp_path, lambda: write_whole(tmp_path / "place" / "file", b"22", staging), 4)
    assert end.killed
    assert (tmp_path / "place" / "file").read_bytes() == b"1"
    assert [entry.name for entry in (tmp_path / "place").iterdir()] == ["file"]
    assert len(list(staging.iterdir())) == 1


class TestBeforeTheNextCommand:
    READERS = (
        *(("status",), ("history",), ("history", "--all"), ("verify",), ("verify", "--json"), ("doctor",)),
        *(("show", "4"), ("report", "4"), ("show", "3"), ("questions",), ("integrity",), ("diff", "2", "3")),
    )

    @pytest.mark.parametrize("prepare", [named, in_git])
    def test_nothing_of_a_killed_call_looks_damaged(self, copies, cut_short, ask, request, prepare):
        scene = Scene(prepare, SCENES["post_iteration"].act)
        whole = copies(scene.prepare)
        points = cut_short(whole.base, lambda: scene.act(whole)).points
        told = set()
        for at in chosen(range(1, 1 + points), SAMPLE, request.node):
            loop = copies(scene.prepare)
            assert cut_short(loop.base, lambda loop=loop: scene.act(loop), at).killed
            for words in self.READERS:
                said = ask(loop.root, *words)
                wrong = [line for line in (said.out + said.err).splitlines() if "damaged" in line and '": ' not in line]
                assert wrong == [], (at, words)
            verified = ask(loop.root, "verify")
            assert verified.code == 0, (at, verified.out)
            line = "iteration 4 was interrupted; the next command finishes or redoes it"
            assert (line in verified.out) == (line in ask(loop.root, "status").out) == loop.paths.attempt.exists()
            told.add(line in verified.out)
            scene.act(loop)
            assert line not in ask(loop.root, "status").out
        assert True in told


ODD = {"plain.txt": 0o644, "-dash": 0o644, "new\nline": 0o644, "tool.sh": 0o755, "key.txt": 0o600, "empty": 0o644}


def long(loop):
    """Record 149 iterations of an odd tree, of which the records of the first 25 are packed."""
    subprocess.run(["git", "init", "-q"], cwd=loop.root, check=True)
    folder = loop.root / "odd"
    folder.mkdir()
    for name, mode in ODD.items():
        (folder / name).write_text("" if name == "empty" else f"{name}\n")
        (folder / name).chmod(mode)
    for name, target in (("to-file", "plain.txt"), ("to-folder", "../odd"), ("to-nothing", "gone"), ("out", "/etc")):
        (folder / name).symlink_to(target)
    loop.start()
    for number in range(1, 150):
        changed(loop, number)
        loop.turn(test_count=10 + number, tests_passed=10 + number)


def changed(loop, number):
    link = loop.root / "odd" / f"link{number % 7}"
    link.unlink(missing_ok=True)
    link.symlink_to(f"link{number % 5}")
    (loop.root / "odd" / "plain.txt").write_text(f"{number}\n")


def odd_tree(root):
    found = {path: path.lstat() for path in (root / "odd").iterdir()}
    return {
        path.name: (status.st_mode, str(path.readlink()) if path.is_symlink() else path.read_bytes())
        for path, status in found.items()
    }


class TestALongLoopOfAnOddTree:
    """Its iteration 150 packs 25 records and the contents of the store."""

    def test_is_whole_wherever_it_is_killed_and_outlives_a_clean(self, copies, cut_short, ask, request):
        def act(loop):
            changed(loop, 150)
            loop.turn(test_count=160, tests_passed=160, iteration=150)

        whole = copies(long)
        points = cut_short(whole.base, lambda: act(whole)).points
        assert points > 150
        assert {"iterations-001-025.zip", "iterations-026-050.zip"} == {
            path.name for path in whole.paths.packs.iterdir()
        }
        for at in chosen(range(1, 1 + points), SAMPLE, request.node):
            loop = copies(long)
            assert cut_short(loop.base, lambda loop=loop: act(loop), at).killed
            assert ask(loop.root, "verify").code == 0, at
            act(loop)
            now = odd_tree(loop.root)
            subprocess.run(["git", "clean", "-fdxq"], cwd=loop.root, check=True)
            assert "loop ralph-001, iterations 0 to 150: removed" in ask(loop.root, "status").err, at
            verified = ask(loop.root, "verify")
            assert verified.out.startswith("151 iterations checked: every file is there"), (at, verified.out)
            assert ask(loop.root, "restore", "7").code == 0
            assert (loop.root / "odd/plain.txt").read_text() == "7\n"
            assert ask(loop.root, "restore", "150").code == 0
            assert odd_tree(loop.root) == now, at
