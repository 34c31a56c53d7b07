"""Disks that are full, out of inodes or broken, and a shell's limits: nothing is lost, and it goes on afterwards."""

import errno
import os
import random
import resource
import shutil
from pathlib import Path

import pytest

from tests.measured.faults.promised import is_one_line
from tests.sweep import FULL, SEED, chosen

from .outsider import copied, kept_of, restorable, told_by_all, tree_of

EACH = 30 if FULL else 1
COMMANDS = {
    "pre-loop": ("hook", "pre-loop", "--new"),
    "post-iteration": ("hook", "post-iteration", "--iteration", "5"),
    "restore": ("restore", "0"),
    "select-best": ("select-best", "--apply", "output"),
    "accept": ("accept", "it2-test_deletion", "--reason", "why"),
    "gc": ("gc", "--yes", "--keep-last", "1"),
    "post-loop": ("hook", "post-loop"),
}
# A sample has half of the commands by its seed, the others come up with another.
NAMES = list(COMMANDS) if FULL else sorted(random.Random(SEED).sample(list(COMMANDS), 4))
MB = 1 << 20

pytestmark = [pytest.mark.faults, pytest.mark.slow]


class Loop:
    """A loop of five iterations that can be put anywhere, and what each of them has to come back as."""

    def __init__(self, shop, shell):
        self.shell, self.source, self.trees = shell, shop.root, {}
        self.seen = None
        shop.commit()
        for number, count in enumerate((4, 6, 2, 5, 3)):
            shop.passing(count).write("made.txt", f"{number}\n" * 300)
            (shop.start if not number else shop.turn)()
            self.trees[number] = kept_of(tree_of(shop.root))
        shell(shop.root).call("select-best", "--iteration", "2", "--reason", "looked at")
        shop.passing(7).write("more.txt", "not on record yet\n" * 100)
        self.tree = tree_of(shop.root)

    def at(self, root):
        """Put it there."""
        return copied(self.source, root)

    def wrong(self, root, words, told, place):
        """Say what is wrong after a command was refused (told), and when it is called again with nothing in its way."""
        found = []
        if told.code not in {0, 1} or "Traceback" in told.out + told.err:
            found.append(f"ended with {told}")
        elif told.code and not is_one_line(told.err):
            found.append(f"not one line: {told.err!r}")
        free = self.shell(root)
        if FULL and "nothing was changed" in told.err and self._seen(free) != self._seen_before(place):
            found.append(f"something was changed: {told.err!r}")
        if words[0] != "restore" and tree_of(root) != self.tree:
            found.append("the tree differs")
        kept = self._kept(root, place)
        wanted = self._collected(words, place) if words[0] == "gc" else self.trees.keys()
        gone = [number for number in wanted if kept.get(number) != self.trees[number]]
        found += [f"cannot be restored: {gone}"] if gone else []
        again = free.call(*words)
        if again.code and "already" not in again.err and "still running" not in again.err:
            found.append(f"called again: {again}")
        (verified,) = free.ask(("verify",))
        found += [f"verify: {verified}"] if verified.code else []
        return found

    def _seen(self, shell):
        """Return what a reader sees of a loop and of what it put beside it."""
        return told_by_all(shell), tree_of(shell.root), tree_of(shell.root / ".aiwg/output")

    def _seen_before(self, place):
        if self.seen is None:
            self.seen = self._seen(self.shell(self.at(place / "before/project")))
        return self.seen

    def _kept(self, root, place):
        """Return what each iteration comes back as, from a copy."""
        side = self.shell(copied(root, place / "side/project"))
        return {number: kept_of(tree) for number, tree in restorable(side).items()}

    def _collected(self, words, place):
        """Return the iterations that are left where nothing is in the way of `gc`."""
        root = self.at(place / "undisturbed/project")
        self.shell(root).ask(words)
        return self._kept(root, place).keys()


@pytest.fixture
def loop(workshop, shell):
    return Loop(workshop, shell)


@pytest.fixture
def told_all(record_property):
    def tell(name, fault, tried, refused, violations):
        record_property("sweep", ("limits", name, fault, tried, refused, tried - refused, len(violations)))
        assert not violations, "\n".join(f"{at}: {wrong}" for at, wrong in violations.items())

    return tell


def fill_bytes(disk: Path, spare: int) -> Path:
    """Write a file that leaves so many bytes."""
    ballast = disk / "ballast"
    ballast.mkdir()
    with (ballast / "file").open("wb") as file:
        while (free := os.statvfs(disk)).f_bavail * free.f_frsize > spare:
            try:
                file.write(b"\0" * min(65536, max(4096, free.f_bavail * free.f_frsize - spare)))
                file.flush()
            except OSError as error:
                assert error.errno == errno.ENOSPC
                break
    return ballast


def fill_names(disk: Path, spare: int) -> Path:
    """Make empty files until so many can still be made."""
    ballast = disk / "ballast"
    ballast.mkdir()
    number = 0
    while os.statvfs(disk).f_ffree > spare:
        (ballast / str(number)).touch()
        number += 1
    return ballast


DISKS = {
    "no space": (fill_bytes, "size=8m", (0, 4 * 4096, 12 * 4096, 30 * 4096)),
    "no inodes": (fill_names, "size=64m,nr_inodes=900", (0, 2, 6, 15)),
}


@pytest.mark.parametrize("how", DISKS)
@pytest.mark.parametrize("name", NAMES)
def test_a_disk_without_room(name, how, loop, small_disk, tmp_path, shell, told_all):
    fill, options, spares = DISKS[how]
    disk, words, refused, violations = small_disk(options), COMMANDS[name], 0, {}
    drawn = random.Random(f"{SEED}{name}{how}").sample(spares, min(EACH, len(spares)))
    for spare in drawn:
        root = loop.at(disk / "project")
        ballast = fill(disk, spare)
        told = shell(root).call(*words)
        refused += told.code == 1
        shutil.rmtree(ballast)
        if wrong := loop.wrong(root, words, told, tmp_path):
            violations[spare] = wrong
    told_all(name, how, len(drawn), refused, violations)


@pytest.mark.parametrize("fault", ["EIO", "ESTALE", "EXDEV"])
@pytest.mark.parametrize("name", NAMES)
def test_a_disk_that_fails_or_whose_renames_do(name, fault, loop, preloaded, tmp_path, shell, told_all, request):
    words, refused, violations = COMMANDS[name], 0, {}
    root, counted = tmp_path / "struck/project", tmp_path / "counted"
    more = {"LD_PRELOAD": preloaded, "FAIL_BELOW": str(root)}
    if fault != "EIO":
        more["FAIL_ERRNO"] = str(getattr(errno, fault))
    shell(loop.at(root), more={**more, "FAIL_COUNT": "0", "COUNTED": str(counted)}).call(*words)
    calls = max(map(int, counted.read_text().split())) if counted.exists() else 0  # gc renames nothing
    calls = calls if FULL else min(calls, 60 if fault == "EIO" else 12)
    points = chosen([(at, count) for at in range(1, calls + 1) for count in (1, 1000)], 1, request.node)
    for at, count in points:
        told = shell(loop.at(root), more={**more, "FAIL_AT": str(at), "FAIL_COUNT": str(count)}).call(*words)
        refused += told.code == 1
        if wrong := loop.wrong(root, words, told, tmp_path):
            violations[at, count] = wrong
    told_all(name, fault, len(points), refused, violations)


LIMITS = {
    "ulimit -n": (resource.RLIMIT_NOFILE, (5, 6, 7, 8, 10, 14)),
    "ulimit -f": (resource.RLIMIT_FSIZE, (0, 100, 1024, 4096)),
    "ulimit -v": (resource.RLIMIT_AS, (45 * MB, 60 * MB, 80 * MB, 120 * MB)),
}


@pytest.mark.parametrize("how", LIMITS)
@pytest.mark.parametrize("name", NAMES)
def test_a_shell_with_limits(name, how, loop, tmp_path, shell, told_all):
    which, values = LIMITS[how]
    words, refused, violations = COMMANDS[name], 0, {}
    drawn = random.Random(f"{SEED}{name}{how}").sample(values, min(EACH, len(values)))
    for value in drawn:
        root = loop.at(tmp_path / "struck/project")
        told = shell(root, limits={which: value}).call(*words)
        refused += told.code != 0
        if wrong := loop.wrong(root, words, told, tmp_path):
            violations[value] = wrong
    told_all(name, how, len(drawn), refused, violations)
