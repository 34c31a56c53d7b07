"""A whole loop through the command line: every verb at least once, and what an agent does between."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ralph_tracker.cli.app import run
from ralph_tracker.errors import EXIT_REGRESSION
from ralph_tracker.store.loop_store import LoopStore

# What has nothing to do with the project that it is called in.
TAKE_1 = ("select-best", "--iteration", "1", "--reason", "asked for", "--apply")
BRANCH = (*TAKE_1, "branch")
ELSEWHERE = {"demo", "completion", "schema"}


class Step(NamedTuple):
    """Hold a command, its exit code, and whether it is asked to write into the tree."""

    words: tuple[str, ...]
    writes: bool = False
    code: int = 0

    def run(self, shop: Any) -> None:
        """Run it in this process; fail where it ends otherwise than it should."""
        around = () if self.words[0] == "read" else ("--root", str(shop.root))
        assert run([*self.words, *around]) == self.code, self.words


def story(shop: Any) -> Iterator[Step]:
    """Yield the commands of a loop; what comes between them happens when the next one is asked for.

    Iteration 2 is rolled back.
    """
    settings = (shop.root / "ralph-tracker.yaml").read_bytes()
    (shop.root / "ralph-tracker.yaml").unlink()
    yield Step(("init", "--yes"), writes=True)
    shop.write("ralph-tracker.yaml", settings)
    yield Step(("doctor",))
    yield Step(("hook", "pre-loop"))
    shop.passing(6).write("deep/new.txt", "new\n")
    yield Step(("hook", "post-iteration"))
    (shop.root / "deep/new.txt").unlink()
    shop.passing(1).write("later.txt", "later\n")
    yield Step(("hook", "post-iteration"))
    for words in (
        ("status",),
        ("history",),
        ("show", "1"),
        ("diff", "0", "1"),
        ("report", "1"),
        ("integrity", "2"),
        ("read", str(shop.root / "results.xml")),
    ):
        yield Step(words)
    yield Step(("gate",), code=EXIT_REGRESSION)
    yield Step(("hook", "loop-decision", "--apply"), writes=True)
    yield Step(("accept", "it2-test_deletion", "--reason", "they were doubles"))
    yield Step(("restore", "0"), writes=True)
    yield Step(("restore", "--undo", LoopStore(shop.paths).events()[-1]["undo"]), writes=True)
    yield Step(("restore", "1"), writes=True)
    for how in ("none", "output", "branch"):
        yield Step((*TAKE_1, how))
    shop.write("later.txt", "again\n")
    yield Step((*TAKE_1, "worktree"), writes=True)
    yield Step(("select-best", "--verify"))
    yield Step(("verify",))
    yield Step(("gc",))
    yield Step(("gc", "--yes", "--keep-last", "1"))
    yield Step(("hook", "post-loop"))
