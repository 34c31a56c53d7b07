"""What the campaign's tests share: shells, and the loop of all verbs as it was before and after each of them."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ...store.conftest import ask, together  # noqa: TID252  # the same ways to read, and to be several
from .outsider import Shell, Told, Tree, copied, kept_of, restorable, told_by_all, tree_of
from .verbs import STEPS, Step, begin

__all__ = ["ask", "together"]


@pytest.fixture
def shell(tmp_path: Path) -> Callable[..., Shell]:
    """Return what opens a shell in a project: `shell(root, more=…, limits=…)`."""
    return lambda root, **options: Shell(root, tmp_path / "shell", **options)


@dataclass(frozen=True)
class Moment:
    """Hold one step of the loop as it went undisturbed.

    `before` and `after` are copies of the project; `seconds` is how long the command took.
    """

    step: Step
    words: tuple[str, ...]
    before: Path
    after: Path
    told: Told
    seconds: float


class Story:
    """The loop of all verbs, lived through once; every project in it stands at `root` when it is used."""

    def __init__(self, place: Path, maker: type[Any]) -> None:
        self.place, self.root = place, (place / "live/project").resolve()
        self.shell = Shell(self.root, place / "shell")
        self.root.mkdir(parents=True)
        self.trees: dict[int, Tree] = {}
        shop = maker(self.root).prepare()
        begin(shop)
        undo, self.moments = "", {}
        for number, step in enumerate(STEPS):
            step.edit(shop)
            words = tuple(word.format(undo=undo) if word == "{undo}" else word for word in step.words)
            before = copied(self.root, place / f"{number}/before")
            began = time.monotonic()
            told = self.shell.call(*words, stdin=step.stdin)
            seconds = time.monotonic() - began
            assert told.code == step.code, (words, told)
            undo = _undo_in(told.out) or undo
            self.moments[step.name] = Moment(
                step, words, before, copied(self.root, place / f"{number}/after"), told, seconds
            )
            if "--iteration" in words and words[0] == "hook":
                self.trees[int(words[3])] = kept_of(tree_of(self.root))
            elif words[:2] == ("hook", "pre-loop"):
                self.trees[0] = kept_of(tree_of(self.root))
        began = time.monotonic()
        self.shell.call("--version")
        self.start_s = time.monotonic() - began
        self._seen: dict[str, Mapping[str, str]] = {}
        self._restorable: dict[Path, frozenset[int]] = {}

    def at(self, project: Path) -> Shell:
        """Put a copy of a project where it was when it was recorded."""
        copied(project, self.root)
        return self.shell

    def seen_after(self, moment: Moment) -> Mapping[str, str]:
        """Return what all reading verbs told after the undisturbed step."""
        if moment.step.name not in self._seen:
            self._seen[moment.step.name] = told_by_all(self.at(moment.after))
        return self._seen[moment.step.name]

    def kept(self, project: Path) -> frozenset[int]:
        """Return the iterations of the first loop that can be restored in a project."""
        if project not in self._restorable:
            self._restorable[project] = frozenset(restorable(self.at(project)))
        return self._restorable[project]


def _undo_in(out: str) -> str:
    _, found, rest = out.partition("undo-")
    return f"undo-{rest[:12]}" if found else ""


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory, workshop_at: type[Any]) -> Iterator[Story]:
    """Return the loop of all verbs as it goes undisturbed."""
    place = tmp_path_factory.mktemp("story")
    made = Story(place, workshop_at)
    yield made
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the library that shifts the clock and refuses calls, compiled here."""
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("needs Linux and gcc: install it")
    library = tmp_path_factory.mktemp("preloaded") / "preloaded.so"
    source = Path(__file__).with_name("preloaded.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-w", "-o", library, source, "-ldl"], check=True)
    return str(library)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Return what mounts a tmpfs of its own with these options."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = []

    def mount(options: str) -> Path:
        words = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
        if shutil.which("mount") is None or subprocess.run(words, capture_output=True, check=False).returncode:
            pytest.skip("mounting is not permitted: needs root")
        mounted.append(folder)
        return folder

    yield mount
    for place in mounted:
        subprocess.run(["umount", str(place)], check=True)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what was measured."""
    passed = terminalreporter.stats.get("passed", [])
    told = [value for report in passed for name, value in report.user_properties if name == "figure"]
    if told:
        terminalreporter.section("figures of the campaign")
        for line in sorted(told):
            terminalreporter.write_line(line)
