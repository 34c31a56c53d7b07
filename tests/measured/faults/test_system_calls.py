"""Commands whose system calls are killed or refused by strace: nothing is lost, and the next call goes on."""

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.cli.app import run

SWEEP = os.environ.get("RALPH_TRACKER_SWEEP", "quick")
SEED = int(os.environ.get("RALPH_TRACKER_SEED") or random.randrange(10**6))
SAMPLE = {"quick": 1, "sample": 12}.get(SWEEP)
FAULTS = {
    "killed": "signal=SIGKILL",
    "git-killed": "signal=SIGKILL",  # git alone: the command lives on and has to say so
    "ENOSPC": "error=ENOSPC",
    "EIO": "error=EIO",
}

pytestmark = pytest.mark.faults


@dataclass(frozen=True)
class Command:
    """Hold a command of a loop, how many iterations are on record before it, and whether it changes the tree."""

    words: tuple[str, ...]
    turns: int = 3
    restores: bool = False


COMMANDS = {
    "post_iteration": Command(("hook", "post-iteration", "--iteration", "3")),
    "post_loop": Command(("hook", "post-loop")),
    "restore": Command(("restore", "1"), restores=True),
    "gc": Command(("gc", "--yes", "--keep-last", "1"), turns=7),
}
CELLS = [
    pytest.param(command, actor, fault, id=f"{command}-{actor}-{fault}")
    for command in COMMANDS
    for actor in ("python", "git")
    for fault in FAULTS
    if actor == "git" or fault != "git-killed"
    if (command, actor) != ("post_loop", "git")  # its git only reads
]
QUICK = {"post_iteration-python-killed", "post_iteration-git-ENOSPC", "restore-git-killed", "gc-python-EIO"}
CHOSEN = [cell for cell in CELLS if SWEEP != "quick" or cell.id in QUICK]


def prepare(shop: Any, turns: int) -> Any:
    """Record a baseline, a gain, a loss and what else is wanted; then work goes on, in the tree only."""
    shop.write("data/old.txt", "from the beginning\n").chmod(0o755)
    shop.commit().start()
    for number, count in enumerate((6, 2, 8, 6, 6, 6)[: turns - 1], 1):
        shop.passing(count).write("app.py", f"def one():\n    return {number}\n")
        shop.write(f"made/by-{number}.txt", f"{number}\n" * 100)
        shop.turn()
    (shop.root / "data/old.txt").unlink()
    shop.passing(7).write("notes.txt", "not on record yet\n")
    return shop


@pytest.fixture(scope="module")
def _prepared(workshop_at, tmp_path_factory):
    made: dict[int, Path] = {}

    def project(turns: int) -> Path:
        if turns not in made:
            root = (tmp_path_factory.mktemp("struck") / "project").resolve()
            root.mkdir()
            made[turns] = prepare(workshop_at(root).prepare(), turns).root
        return made[turns]

    return project


@pytest.fixture
def copied(_prepared, workshop_at, tmp_path):
    """Return a function that gives a fresh copy of the project, always at the same place."""
    root = (tmp_path / "copy" / "project").resolve()

    def copy(turns: int) -> Any:
        shutil.rmtree(root.parent, ignore_errors=True)
        root.parent.mkdir()
        shutil.copytree(_prepared(turns), root, symlinks=True)
        return workshop_at(root)

    return copy


TIMES = [
    (re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)"), b"TIME"),
    (re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?( UTC)?"), b"TIME"),
    (re.compile(rb'"(elapsed_s|duration_s)":[0-9.e+-]+'), rb'"\1":0'),
    (re.compile(rb"after \d+\.\d+ s"), b"after 0 s"),
    (re.compile(rb'"(commit|record|loop|previous_seal)":"[0-9a-f]{40,64}"'), rb'"\1":"ID"'),
    (re.compile(rb'"((metrics|measurement|state|checks|manifest)\.json)":"[0-9a-f]{64}"'), rb'"\1":"ID"'),
    (re.compile(rb"undo-[0-9a-f]{12}"), b"UNDO"),
]
# What is made again from the rest, or says only who was there last.
APART = ("/store.git/", "/lock", "/code-cache.json")


def timeless(data: bytes) -> bytes:
    for pattern, instead in TIMES:
        data = pattern.sub(instead, data)
    return data


def told_once(events: bytes) -> bytes:
    """Take out what a repeated call says twice, and a restore of what was restored already when it was repeated."""
    lines = dict.fromkeys(line for line in events.split(b"\n") if line)
    plain = {line: json.loads(line) for line in lines}
    return b"\n".join(
        line for line, event in plain.items() if event.get("from") is None or event["from"] != event["to"]
    )


def documents_of(shop: Any) -> dict[str, bytes]:
    """Return what is on record without its times."""
    base = shop.root / ".aiwg"
    files = {path.relative_to(base).as_posix(): path for path in sorted(base.rglob("*")) if path.is_file()}
    found = {
        name: timeless(path.read_bytes()) for name, path in files.items() if not any(a in f"/{name}" for a in APART)
    }
    return {name: told_once(data) if name.endswith("events.jsonl") else data for name, data in found.items()}


AT_WORK = re.compile(r"\.tmp-|\.ralph-tracker-.*\.tmp$|store\.git\.new|tmp_(obj|pack|idx|rev)_|\.lock$|safety\.index$")


def temporaries(root: Path) -> list[str]:
    """Name what only a writer at work has: staging files, git's own temporaries and locks."""
    found = (path for path in root.rglob("*") if AT_WORK.search(path.name) and path.name != "ralph-tracker.lock")
    names = (path.relative_to(root) for path in found)
    return [str(name) for name in names if name.parts[0] != ".git"]


def undo_trees(shop: Any) -> set[str]:
    """Return the contents that an undo can bring back."""
    store = f"--git-dir={shop.paths.folder / 'store.git'}"
    return set(shop.git(store, "for-each-ref", "--format=%(tree)", "refs/safety").split())


@dataclass(frozen=True)
class Whole:
    """Hold how an undisturbed run leaves the project, and how it was before."""

    documents: Mapping[str, bytes]
    tree: Mapping[str, bytes]
    before: Mapping[str, bytes]
    undo: set[str]
    owned: Mapping[str, bytes]


class Judge:
    """Say what is wrong after a command was struck and run again; [] is what is promised."""

    def __init__(self, whole: Whole, own_files: Callable[[Path], Mapping[str, bytes]], command: Command) -> None:
        self._whole, self._own_files, self._command = whole, own_files, command

    def after_fault(self, shop: Any, ended: Any, fault: str, bench: Any) -> list[str]:
        wrong = []
        if fault == "killed":
            wrong += [f"ended with {ended.code}: {ended.err}"] if ended.code != 137 else []
        elif ended.code not in {0, 1}:
            wrong.append(f"exit {ended.code}: {ended.err[-600:]}")
        elif ended.code and ended.err.count("\n") != 1:
            wrong.append(f"not one line: {ended.err[-600:]!r}")
        if "Traceback" in ended.out + ended.err:
            wrong.append(f"a traceback: {ended.err[-600:]}")
        if self._own_files(shop.root / ".git") != self._whole.owned:
            wrong.append("the user's repository differs")
        if not self._command.restores and shop.files() != self._whole.before:
            wrong.append("the user's files differ")
        said = bench.plain("verify", "--json")
        damaged = json.loads(said.out)["damaged"] if said.out.startswith("{") else {"all": said.err}
        lost = {number: names for number, names in damaged.items() if number != str(self._command.turns)}
        return [*wrong, *([f"damaged before the re-run: {lost}"] if lost else [])]

    def after_repeating(self, shop: Any, bench: Any) -> list[str]:
        """Repeat the command and compare."""
        wrong = []
        again = bench.plain(*self._command.words)
        if again.code:
            wrong.append(f"the re-run ends with {again.code}: {again.err[-600:]}")
        verified = bench.plain("verify")
        if verified.code:
            wrong.append(f"verify: {verified.out[-600:]}{verified.err[-600:]}")
        documents = documents_of(shop)
        names = {*documents, *self._whole.documents}
        others = sorted(name for name in names if documents.get(name) != self._whole.documents.get(name))
        if others:
            wrong.append(f"on record differs: {others[:5]}")
        if shop.files() != self._whole.tree:
            wrong.append("the tree differs")
        if self._own_files(shop.root / ".git") != self._whole.owned:
            wrong.append("the user's repository differs after the re-run")
        if not self._whole.undo <= undo_trees(shop):
            wrong.append("what stood there before cannot be brought back")
        return wrong

    def left_behind(self, shop: Any, ended: Any, bench: Any) -> tuple[list[str], bool]:
        """Name the temporaries that stay, and tell whether some stay for `gc` to take.

        Those are objects that git had begun when the disk refused it, and the command, which tried again, ended well.
        """
        left = temporaries(shop.root)
        if not left or ended.code or not all("tmp_obj_" in Path(path).name for path in left):
            return [f"left behind: {left[:5]}"] if left else [], False
        bench.plain("gc", "--yes")
        left = temporaries(shop.root)
        return [f"left behind by gc: {left[:5]}"] if left else [], True


@pytest.fixture
def judge(copied, own_files):
    """Return a function that runs a command undisturbed, to compare others with it."""

    def judged(command: Command) -> Judge:
        shop = copied(command.turns)
        before, owned = shop.files(), own_files(shop.root / ".git")
        for words in (command.words, ("verify", "--json")):  # in this process: those that it forks need import nothing
            assert run([*words, "--root", str(shop.root)]) == 0
        whole = Whole(documents_of(shop), shop.files(), before, undo_trees(shop), owned)
        return Judge(whole, own_files, command)

    return judged


@pytest.mark.parametrize(("name", "actor", "fault"), CHOSEN)
def test_a_struck_command_loses_nothing_and_converges_when_repeated(
    name, actor, fault, copied, judge, bench, points, hit, tmp_path, request, record_property
):
    command = COMMANDS[name]
    judging = judge(command)
    shop = copied(command.turns)
    seen = bench(shop.root, tmp_path / "bench").seen(*command.words)
    assert seen.code == 0, seen.err
    every = [point for point in points(seen, shop.root) if bool(point.git) == (actor == "git")]
    size = min(len(every), SAMPLE or len(every))
    request.node.add_report_section("call", "sweep", f"{len(every)} points, RALPH_TRACKER_SEED={SEED}")
    chosen = sorted(random.Random(f"{SEED}{request.node.name}").sample(every, size))
    missed, for_gc, violations = 0, 0, {}
    for point in chosen:
        shop = copied(command.turns)
        running = bench(shop.root, tmp_path / "bench")
        ended = running.struck(point, FAULTS[fault], *command.words, whole=fault == "killed")
        if not hit(ended, point, shop.root):
            missed += 1
            continue
        wrong = judging.after_fault(shop, ended, fault, running) + judging.after_repeating(shop, running)
        left, is_for_gc = judging.left_behind(shop, ended, running)
        for_gc += is_for_gc
        if wrong or left:
            violations[point] = wrong + left
    row = (name, actor, fault, len(every), len(chosen) - missed, missed, for_gc, len(violations))
    record_property("strace sweep", row)
    assert not violations, "\n".join(f"{point}: {wrong}" for point, wrong in violations.items())
    assert every
    assert missed * 10 <= len(chosen), "the points of the counting run are not those of the struck one"
