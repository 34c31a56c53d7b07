"""Commands to strike at, and what is promised when one that was struck is run again."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ralph_tracker.cli.app import run
from ralph_tracker.store.snapshots.snapshot_types import SAFETY
from ralph_tracker.store.snapshots.store import SnapshotStore

MANY = 20


@dataclass(frozen=True)
class Command:
    """A command of a loop, how many iterations are on record before it, and whether it changes the tree.

    `files` are new ones in the tree: `MANY` of them are kept in one pack. With `packed` so is what the first half of
    the iterations has. `once` is what the command says where it was carried out already. With `edited` it meets edited
    test data, so that earlier tests are run again.
    """

    words: tuple[str, ...]
    turns: int = 3
    restores: bool = False
    files: int = 0
    packed: bool = False
    once: str = ""
    edited: bool = False


COMMANDS = {
    "pre_loop": Command(("hook", "pre-loop"), turns=0, once="is still running; end it with"),
    "post_iteration": Command(("hook", "post-iteration", "--iteration", "3")),
    "post_iteration-25": Command(("hook", "post-iteration", "--iteration", "25"), turns=25),  # it packs
    "post_iteration-many": Command(("hook", "post-iteration", "--iteration", "2"), turns=2, files=MANY),
    "post_loop": Command(("hook", "post-loop")),
    "restore": Command(("restore", "1"), restores=True),
    "gc": Command(("gc", "--yes", "--keep-last", "1"), turns=7, packed=True),
}
RERUN = Command(("hook", "post-iteration", "--iteration", "3"), edited=True)


def begin(shop: Any, command: Command) -> None:
    """Write what a loop starts from, and make a repository of the project."""
    shop.write("data/old.txt", "from the beginning\n").chmod(0o755)
    shop.write(".gitignore", ".aiwg/\n*.log\n")
    if command.edited:
        shop.write("tests/data.txt", "as it was\n")
    shop.commit()


def work(shop: Any, command: Command) -> None:
    """Record a baseline, a gain, a loss and what else is wanted; then work goes on, in the tree only.

    A file that snapshots leave out lies where a restore has to put another one.
    """
    if command.turns:
        shop.start()
    counts = chain((6, 2, 8), (6 for _ in range(command.turns)))
    for number, count in zip(range(1, command.turns), counts, strict=False):
        shop.passing(count).write("app.py", f"def one():\n    return {number}\n")
        shop.write(f"made/by-{number}.txt", f"{number}\n" * 100)
        shop.turn()
        if command.packed and number == command.turns // 2:
            store_of(shop).pack()
    (shop.root / "data/old.txt").unlink()
    shop.write("data/old.txt/noise.log", "left out\n")
    shop.passing(7).write("notes.txt", "not on record yet\n")
    for number in range(command.files):
        shop.write(f"many/{number}.txt", f"{number}\n")
    if command.edited:
        shop.write("tests/data.txt", "edited\n")


def store_of(shop: Any) -> SnapshotStore:
    return SnapshotStore(shop.paths.store, shop.root)


TIMES = [
    (re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)"), b"TIME"),
    (re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?( UTC)?"), b"TIME"),
    (re.compile(rb'"(elapsed_s|duration_s)":[0-9.e+-]+'), rb'"\1":0'),
    (re.compile(rb"(\bduration_s): [0-9.e+-]+"), rb"\1: 0"),
    (re.compile(rb"run on this source in \d+\.\d s"), b"run on this source in 0 s"),
    (re.compile(rb"after \d+\.\d+ s"), b"after 0 s"),
    (re.compile(rb'"(commit|record|loop|previous_seal)":"[0-9a-f]{40,64}"'), rb'"\1":"ID"'),
    (re.compile(rb'"((metrics|measurement|state|checks|manifest)\.json)":"[0-9a-f]{64}"'), rb'"\1":"ID"'),
    (re.compile(rb"undo-[0-9a-f]{12}"), b"UNDO"),
]
# Where the cache of code is refused, that is a note of the iteration, which is recorded all the same.
NOTES = [
    (re.compile(rb'"notes":\["the cache of code counts could not be written [^"]*"\]'), b'"notes":[]'),
    (re.compile(rb"notes:\n +- 'the cache of code counts could not be written [^']*'"), b"notes: []"),
]
# What is made again from the rest, or says only who was there last.
APART = ("/store/", "/lock", "/code-cache.json", "/.tmp-")
# Contents may lie in a pack or in files of their own, as many as there were to keep when the store was written to.
# What was to become the cache of code goes with `gc`.
LASTING = {
    *(f"ralph/ralph-001/store/objects/{name}" for name in ("..", "../ID", "pack", "pack/ID.pack")),
    "ralph/ralph-001/.tmp-ID",
}
# The next call that writes takes it away; one that was carried out already writes nothing when it is repeated.
STAGING = "ralph/ralph-001/tmp"
IDS = [(re.compile(r"[0-9a-f]{12,}"), "ID"), (re.compile(r"/[0-9a-f]{2}(?=/|$)"), "/..")]


def timeless(data: bytes) -> bytes:
    for pattern, instead in (*TIMES, *NOTES):
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


def tree_of(shop: Any) -> dict[str, bytes | None]:
    """Return the user's files, and None for each folder."""
    found = {path.relative_to(shop.root).as_posix(): path for path in shop.root.rglob("*") if path.is_dir()}
    own = (".git/", ".aiwg/")
    return {**shop.files(), **{name: None for name in found if not f"{name}/".startswith(own)}}


def names_of(shop: Any) -> set[str]:
    """Return the names of all files and folders of ours, ids apart."""
    base = shop.root / ".aiwg"
    return {nameless(path.relative_to(base).as_posix()) for path in base.rglob("*")}


def nameless(name: str) -> str:
    for pattern, instead in IDS:
        name = pattern.sub(instead, name)
    return name


def is_one_line(err: str) -> bool:
    """Say whether a refusal is one line, beside a notice on links below git's folder, of a loop that is on record."""
    notices = ("not all of it is linked below git's folder", "no hard links can be made below git's folder")
    return err.count("\n") - sum(map(err.count, notices)) == 1


def undo_contents(shop: Any) -> set[Any]:
    """Return the contents that an undo can bring back."""
    store = store_of(shop)
    return {store.changes(None, name) for name in store.references() if name.startswith(SAFETY)}


@dataclass(frozen=True)
class Whole:
    """How an undisturbed run leaves the project, and how it was before."""

    documents: Mapping[str, bytes]
    names: set[str]
    tree: Mapping[str, bytes | None]
    before: Mapping[str, bytes | None]
    undo: set[Any]
    owned: Mapping[str, bytes]


class Judge:
    """Say what is wrong after a command was struck and run again; [] is what is promised."""

    def __init__(self, shop: Any, own_files: Callable[[Path], Mapping[str, bytes]], command: Command) -> None:
        """Run the command undisturbed on a copy, to compare others with it."""
        self._own_files, self._command = own_files, command
        before, owned = tree_of(shop), own_files(shop.root / ".git")
        for words in (command.words, ("verify", "--json")):  # in this process: those that it forks need import nothing
            assert run([*words, "--root", str(shop.root)]) == 0
        self._whole = Whole(documents_of(shop), names_of(shop), tree_of(shop), before, undo_contents(shop), owned)

    def violations(self, shop: Any, ended: Any, bench: Any, *, killed: bool) -> list[str]:
        """Look at what a struck command has left, repeat it, and compare."""
        return [*self._after_fault(shop, ended, bench, killed=killed), *self._after_repeating(shop, bench)]

    def _after_fault(self, shop: Any, ended: Any, bench: Any, *, killed: bool) -> list[str]:
        wrong = []
        if killed:
            wrong += [f"ended with {ended.code}: {ended.err}"] if ended.code != 137 else []
        elif ended.code not in {0, 1}:
            wrong.append(f"exit {ended.code}: {ended.err[-600:]}")
        elif ended.code and not is_one_line(ended.err):
            wrong.append(f"not one line: {ended.err[-600:]!r}")
        if "Traceback" in ended.out + ended.err:
            wrong.append(f"a traceback: {ended.err[-600:]}")
        if self._own_files(shop.root / ".git") != self._whole.owned:
            wrong.append("the user's repository differs")
        if not self._command.restores and tree_of(shop) != self._whole.before:
            wrong.append("the user's files differ")
        return [*wrong, *self._lost(bench)] if self._command.turns else wrong

    def _lost(self, bench: Any) -> list[str]:
        said = bench.plain("verify", "--json")
        damaged = json.loads(said.out)["damaged"] if said.out.startswith("{") else {"all": said.err}
        lost = {number: names for number, names in damaged.items() if number != str(self._command.turns)}
        return [f"damaged before the re-run: {lost}"] if lost else []

    def _after_repeating(self, shop: Any, bench: Any) -> list[str]:
        wrong = []
        again = bench.plain(*self._command.words)
        if again.code and not (self._command.once and self._command.once in again.err):
            wrong.append(f"the re-run ends with {again.code}: {again.err[-600:]}")
        left = sorted(names_of(shop) - self._whole.names - LASTING)
        if again.code:
            left = [name for name in left if not f"{name}/".startswith(f"{STAGING}/")]
        if left:
            wrong.append(f"left behind: {left[:5]}")
        verified = bench.plain("verify")
        if verified.code:
            wrong.append(f"verify: {verified.out[-600:]}{verified.err[-600:]}")
        documents = documents_of(shop)
        names = {*documents, *self._whole.documents}
        others = sorted(name for name in names if documents.get(name) != self._whole.documents.get(name))
        if others:
            wrong.append(f"on record differs: {others[:5]}")
        if tree_of(shop) != self._whole.tree:
            wrong.append("the tree differs")
        if self._own_files(shop.root / ".git") != self._whole.owned:
            wrong.append("the user's repository differs after the re-run")
        if not self._whole.undo <= undo_contents(shop):
            wrong.append("what stood there before cannot be brought back")
        return wrong
