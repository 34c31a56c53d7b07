"""A whole loop through the command line: every verb at least once, and what an agent does between."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.errors import EXIT_FAILURE, EXIT_REGRESSION
from ralph_tracker.store.write import LoopStore

# ELSEWHERE has nothing to do with the project that it is called in, or is held to the same in its own tests.
TAKE_1 = ("select-best", "--iteration", "1", "--reason", "asked for", "--apply")
BRANCH = (*TAKE_1, "branch")
ELSEWHERE = {"plan", "demo", "completion", "schema", "simulate", "replay", "compare", "mcp", "serve"}

# Verbs that only read a loop with two iterations; the kill campaign and the clone of a stranger call them too.
READING = (
    ("status",),
    ("watch", "--once"),
    ("history",),
    ("stats",),
    ("show", "1"),
    ("diff", "0", "1"),
    ("report", "1"),
    ("questions",),
    ("feedback",),
    ("integrity", "2"),
    ("flaky",),
    ("strength", "1"),
)


class Step(NamedTuple):
    """Hold a command, its exit code, and whether it is asked to write into the tree."""

    words: tuple[str, ...]
    writes: bool = False
    code: int = 0

    def run(self, shop: Any, path: str | None = None) -> None:
        """Run it in this process, with a PATH of its own; fail where it ends otherwise than it should."""
        root = () if self.words[0] == "read" else ("--root", str(shop.root))
        own = self.words.index("--") if "--" in self.words else len(self.words)
        with pytest.MonkeyPatch.context() as patch:
            if path:
                patch.setenv("PATH", path)
            assert run([*self.words[:own], *root, *self.words[own:]]) == self.code, self.words


def story(shop: Any, *, git: bool = True) -> Iterator[Step]:
    """Yield the commands of a loop; what comes between them happens when the next one is asked for.

    Iteration 2 is rolled back. Where `git` is False, no command finds it.
    """
    settings = (shop.root / "ralph-tracker.yaml").read_bytes()
    (shop.root / "ralph-tracker.yaml").unlink()
    yield Step(("init", "--yes"), writes=True)
    shop.write("ralph-tracker.yaml", settings)
    yield Step(("doctor",))
    yield Step(("trust",))
    yield Step(("hook", "pre-loop"))
    shop.passing(6).write("deep/new.txt", "new\n")
    yield Step(("hook", "post-iteration"))
    (shop.root / "deep/new.txt").unlink()
    shop.passing(1).write("later.txt", "later\n")
    yield Step(("hook", "post-iteration"))
    for words in (*READING, ("export", "--to", "csv"), ("read", str(shop.root / "results.xml"))):
        yield Step(words)
    yield Step(("gate",), code=EXIT_REGRESSION)
    yield Step(("hook", "loop-decision", "--apply"), writes=True)
    yield Step(("accept", "it2-test_deletion", "--reason", "they were doubles"))
    yield Step(("restore", "0"), writes=True)
    yield Step(("restore", "--undo", LoopStore(shop.paths).events()[-1]["undo"]), writes=True)
    yield Step(("restore", "1"), writes=True)
    for how in ("none", "output", "branch"):
        yield Step((*TAKE_1, how), code=EXIT_FAILURE if how == "branch" and not git else 0)
    shop.write("later.txt", "again\n")
    yield Step((*TAKE_1, "worktree"), writes=True)
    yield Step(("select-best", "--verify"))
    yield Step(("verify",))
    yield Step(("gc",))
    yield Step(("gc", "--yes", "--keep-last", "1"))
    yield Step(("hook", "post-loop"))
    yield Step(("agent", "install", "claude-code"), writes=True)
    yield Step(("agent", "uninstall", "claude-code"), writes=True)
    agent = ("--", "/bin/sh", "-c", "echo more >> later.txt")
    yield Step(("wrap", *agent, "-p", "go on"), writes=True)
    yield Step(("run", "--max-iterations", "1", *agent), writes=True)
