"""Programs that somebody has set for git to run: plain git runs each of them, and no command of ours runs one."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.cli.verbs import VERBS
from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots.store import SnapshotStore

from .story import BRANCH, ELSEWHERE, TAKE_1, Step, story

pytestmark = pytest.mark.slow

# What making a commit takes: contents go through the user's filters, as `git add` would take them in.
ON_A_BRANCH = {"clean"}
ASKED = b"protocol=https\nhost=example.org\n\n"
ATTRIBUTES = """\
*.evil filter=evil diff=evil merge=evil
*.long filter=long
*.own diff=own
*.eol text eol=crlf ident
*.u16 text working-tree-encoding=UTF-16LE
"""
CONTENTS = {
    "a.evil": b"one\r\n$Id$\ntwo\n",
    "b.long": b"long\r\n",
    "c.eol": b"$Id: nobody's $\r\nmixed\n",
    "d.u16": "wide\n".encode("utf-16-le"),
    "e.txt": b"plain\n",
    "f.own": b"plain too\n",
}


@dataclass(frozen=True)
class Sentinel:
    """A program that leaves its name, the settings that name it, and commands of which git runs it by one.

    `{}` in a setting is the program's path. Where `screen` is true git has to write to a terminal.
    """

    name: str
    settings: Mapping[str, str]
    proof: Sequence[tuple[str, ...]]
    screen: bool = False


SENTINELS = (
    Sentinel("fsmonitor", {"core.fsmonitor": "{}"}, [("status",)]),
    Sentinel("clean", {"filter.evil.clean": "{}"}, [("add", "a.evil")]),
    Sentinel("smudge", {"filter.evil.smudge": "{}"}, [("checkout", "HEAD", "--", "a.evil")]),
    Sentinel("process", {"filter.long.process": "{}"}, [("rm", "-q", "--cached", "b.long"), ("add", "b.long")]),
    Sentinel("textconv", {"diff.evil.textconv": "{}"}, [("diff", "--no-ext-diff", "HEAD", "--", "a.evil")]),
    Sentinel("diff-command", {"diff.own.command": "{}"}, [("diff", "HEAD", "--", "f.own")]),
    Sentinel("external-diff", {"diff.external": "{}"}, [("diff", "HEAD", "--", "e.txt")]),
    Sentinel("merge", {"merge.evil.driver": "{} %O %A %B"}, [("reset", "-q", "--hard"), ("merge", "-m", "m", "side")]),
    Sentinel("ssh", {"core.sshCommand": "{}"}, [("fetch", "ssh://localhost/x")]),
    Sentinel("upload-pack", {"remote.origin.uploadpack": "{}", "remote.origin.url": "."}, [("fetch", "origin")]),
    Sentinel("pager", {"core.pager": "{}"}, [("log",)], screen=True),
    Sentinel("editor", {"core.editor": "{}"}, [("commit", "--allow-empty")]),
    Sentinel("gpg", {"gpg.program": "{}", "commit.gpgSign": "true"}, [("commit", "--allow-empty", "-m", "m")]),
    Sentinel("alias", {"alias.evil": "!{}"}, [("evil",)]),
    Sentinel("credential", {"credential.helper": "{}"}, [("credential", "fill")]),
    Sentinel("askpass", {"core.askPass": "{}"}, [("credential", "fill")]),
)
COMMITTING = ("--no-gpg-sign", "--allow-empty", "-m", "m")
HOOKS = {
    ("commit", *COMMITTING): ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    ("commit", "--amend", *COMMITTING): ("post-rewrite",),
    ("merge", "--no-gpg-sign", "--no-ff", "-m", "m", "beside"): ("pre-merge-commit", "post-merge"),
    ("rebase", "-q", "beside"): ("pre-rebase",),
    ("checkout", "-q", "-b", "new"): ("post-checkout", "reference-transaction"),
    ("update-index", "--force-remove", "e.txt"): ("post-index-change",),
    ("push", "-q", ".", "HEAD:refs/heads/new"): ("pre-push",),
}


class Trap:
    """A project in which every program that git can be made to run leaves its name."""

    def __init__(self, shop: Any, folder: Path) -> None:
        self.shop, self._folder, self._ran = shop, folder, folder / "ran"
        self.variables = {"HOME": str(folder / "home"), "GIT_CONFIG_NOSYSTEM": "1", "TERM": "xterm"}
        for name in ("home", "programs", "hooks"):
            (folder / name).mkdir()
        for sentinel in SENTINELS:
            self._program(folder / "programs" / sentinel.name)
        for hook in chain.from_iterable(HOOKS.values()):
            self._program(folder / "hooks" / hook)

    def _program(self, path: Path) -> None:
        hands_on = "cat\n" if path.name in {"clean", "smudge"} else ""
        path.write_text(f'#!/bin/sh\necho {path.name} >> "{self._ran}"\n{hands_on}')
        path.chmod(0o755)

    @property
    def settings(self) -> list[tuple[str, str]]:
        named = [
            (key, value.format(self._folder / "programs" / s.name))
            for s in SENTINELS
            for key, value in s.settings.items()
        ]
        user = [("user.name", "A"), ("user.email", "a@example.org")]
        return [*named, *user, ("core.hooksPath", str(self._folder / "hooks"))]

    def write(self, file: Path) -> None:
        """Write all settings into a file of git's."""
        for key, value in self.settings:
            subprocess.run(["git", "config", "--file", file, "--add", key, value], check=True)

    def ran(self) -> set[str]:
        """Return which programs ran since this was asked last."""
        names = set(self._ran.read_text().split()) if self._ran.exists() else set()
        self._ran.unlink(missing_ok=True)
        return names

    def plainly(self, words: Sequence[tuple[str, ...]], *, screen: bool = False, process: bool = False) -> set[str]:
        """Run git as the user would in a copy of the project, and return which programs ran.

        Without `process` that filter is off: git dies of one that does not answer.
        """
        copy = self._folder / "copy"
        shutil.copytree(self.shop.root, copy, symlinks=True)
        master, slave = os.openpty()
        environment = {**self.shop.environment, **self.variables}
        for each in words:
            subprocess.run(
                ["git", *([] if process else ["-c", "filter.long.process="]), *each],
                cwd=copy,
                env=environment,
                input=ASKED,
                stdout=slave if screen else subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
                timeout=20,
            )
        os.close(master)
        os.close(slave)
        shutil.rmtree(copy)
        return self.ran()


def in_its_own(trap: Trap) -> None:
    trap.write(trap.shop.root / ".git/config")


def in_an_included_one(trap: Trap) -> None:
    trap.write(trap.shop.root / ".git/more")
    trap.shop.git("config", "include.path", "more")


def in_the_users(trap: Trap) -> None:
    trap.write(trap._folder / "home/.gitconfig")


def in_the_environment(trap: Trap) -> None:
    trap.variables["GIT_CONFIG_COUNT"] = str(len(trap.settings))
    for number, (key, value) in enumerate(trap.settings):
        trap.variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}


WHERE = (
    in_its_own,
    pytest.param(in_an_included_one, marks=pytest.mark.slow),
    pytest.param(in_the_users, marks=pytest.mark.slow),
    pytest.param(in_the_environment, marks=pytest.mark.slow),
)


def write_all(shop: Any, times: int) -> None:
    """Change every file but the one whose filter does not answer: git dies of that, and so does --apply branch."""
    for path in CONTENTS.keys() - {"b.long"}:
        shop.write(path, CONTENTS[path] * times)


@pytest.fixture
def trap(workshop: Any, tmp_path: Path) -> Trap:
    """Return a project with files that git would change, two other branches, and programs that nothing names so far."""
    workshop.write(".gitattributes", ATTRIBUTES)
    for path, content in CONTENTS.items():
        workshop.write(path, content)
    workshop.commit()
    workshop.git("stash", "-q")
    for branch, path in (("beside", "beside.txt"), ("side", "a.evil")):
        workshop.git("checkout", "-q", "-b", branch, "main")
        workshop.write(path, f"{branch}\n")
        workshop.git("add", path)
        workshop.git("commit", "-q", "-m", branch)
    workshop.git("checkout", "-q", "main")
    workshop.write("a.evil", b"main\r\n")
    workshop.git("commit", "-q", "-a", "-m", "main")
    write_all(workshop, 2)
    inner = workshop.write("nested/inner.evil", "inner\n")
    workshop.git("init", "-q", where=inner.parent)
    (tmp_path / "trap").mkdir()
    return Trap(workshop, (tmp_path / "trap").resolve())


@pytest.mark.parametrize("set_up", WHERE, ids=lambda set_up: set_up.__name__)
def test_what_git_would_run_is_not_run_and_every_byte_comes_back(trap, set_up, monkeypatch):
    shop = trap.shop
    set_up(trap)
    shutil.copy(shop.root / ".git/config", shop.root / "nested/.git/config")
    prove(trap)
    # The environment is not handed on to git.
    tell(trap, story(shop), set() if set_up is in_the_environment else ON_A_BRANCH, monkeypatch)


def prove(trap: Trap) -> None:
    """See plain git run each of the programs."""
    for sentinel in SENTINELS:
        assert sentinel.name in trap.plainly(
            sentinel.proof, screen=sentinel.screen, process=sentinel.name == "process"
        ), sentinel.name
    for words, hooks in HOOKS.items():
        assert trap.plainly([("reset", "-q", "--hard"), words]).issuperset(hooks), hooks
    assert trap.ran() == set()


def tell(trap: Trap, steps: Iterator[Step], on_a_branch: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Go through a loop; no program runs in it but those that making a branch takes."""
    for name, value in trap.variables.items():
        monkeypatch.setenv(name, value)
    shop, used, kept = trap.shop, set(), []
    for step in steps:
        if step.words[:2] in {("hook", "pre-loop"), ("hook", "post-iteration")}:
            write_all(shop, 3 + len(kept))
            kept.append(shop.files())
        step.run(shop)
        used.add(step.words[0])
        assert trap.ran() == (on_a_branch if step.words == BRANCH else set()), step.words
        if step.words in {("restore", "0"), ("restore", "1"), (*TAKE_1, "worktree")}:
            assert shop.files() == kept[0 if "0" in step.words else 1], step.words
    assert used == VERBS.keys() - ELSEWHERE


def test_a_tree_that_git_would_look_for_elsewhere_is_kept_and_restored_where_it_is(workshop, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    workshop.commit().git("config", "core.worktree", str(elsewhere))
    workshop.git("checkout", "-q", "HEAD", "--", "app.py")
    (elsewhere / "app.py").write_text("what git has put there\n")
    before = workshop.files()
    workshop.start()
    workshop.write("app.py", "def one():\n    return 2\n")
    workshop.turn()
    workshop.tracker.restore(0)
    assert workshop.files() == before
    workshop.tracker.select_output(apply="branch", branch="peak", iteration=1, reason="asked for")
    assert workshop.git("show", "peak:app.py").endswith("return 2")
    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {"app.py": "what git has put there\n"}


def test_what_a_partial_clone_left_out_is_not_fetched(workshop, tmp_path):
    """The remote is a program; git runs it as soon as it misses an object."""
    ran = tmp_path / "ran"
    workshop.commit()
    tree = workshop.git("rev-parse", "HEAD^{tree}")
    (workshop.root / ".git/objects" / tree[:2] / tree[2:]).unlink()
    program = workshop.write("../program", f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    for key, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::{program.resolve()}"),
        ("protocol.ext.allow", "always"),
    ):
        workshop.git("config", key, value)
    with pytest.raises(subprocess.CalledProcessError):
        workshop.git("rev-parse", "--verify", "HEAD:app.py")
    assert ran.exists()
    ran.unlink()
    before = workshop.files()
    workshop.start()
    workshop.write("app.py", "def one():\n    return 2\n")
    workshop.turn()
    workshop.tracker.restore(0)
    with pytest.raises(StoreError, match="git read-tree failed"):
        workshop.tracker.select_output(apply="branch", branch="peak")
    assert workshop.files() == before
    assert not ran.exists()


def test_pipes_in_the_place_of_what_git_ignores_by_are_not_waited_for(workshop, tmp_path):
    os.mkfifo(tmp_path / "ignore")
    workshop.commit().git("config", "core.excludesFile", str(tmp_path / "ignore"))
    (workshop.root / "deep").mkdir()
    os.mkfifo(workshop.root / "deep/.gitignore")

    def waited(number: int, frame: object) -> None:
        raise RuntimeError("it waits")

    before = signal.signal(signal.SIGALRM, waited)
    signal.alarm(30)
    try:
        SnapshotStore(workshop.root / ".aiwg/ralph/ralph-001/store", workshop.root).create()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
