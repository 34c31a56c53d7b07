"""Loops that every earlier schema has left: read, verified, gone on with, restored, collected, and restored again."""

import json
from pathlib import Path

import pytest

from .outsider import copied, kept_of, numbers_in, restorable, tree_of

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures/loops"
KEPT = sorted(FIXTURES.glob("kept-*"))
GIVEN = sorted(FIXTURES.glob("version-*"))
TESTS = (
    "<testsuite name='s' tests='2'><testcase classname='t' name='t1'/><testcase classname='t' name='t2'/></testsuite>"
)

pytestmark = [pytest.mark.faults, pytest.mark.slow]


@pytest.fixture
def taken_over(tmp_path, shell):
    """Return what puts a loop into a project with this tree."""

    def take_over(loop: Path, tree: Path | None):
        root = (tmp_path / "project").resolve()
        if tree is not None:
            copied(tree, root)
        copied(loop, root / ".aiwg/ralph/ralph-001")
        (root / ".aiwg/ralph/current").write_text("ralph-001\n")
        return shell(root)

    return take_over


@pytest.mark.parametrize("loop", KEPT, ids=lambda path: path.name)
def test_a_loop_with_files_goes_on_and_every_iteration_comes_back(loop, taken_over):
    trees = {int(path.name): kept_of(tree_of(path)) for path in (loop / "trees").iterdir()}
    last = max(trees)
    at = taken_over(loop / "loop", loop / f"trees/{last}")
    root = at.root
    history, verified, status = at.ask(("history", "--json"), ("verify",), ("status", "--json"))
    assert (history.code, verified.code, status.code) == (0, 0, 0), verified
    assert numbers_in(history.out) == sorted(trees)
    for number in trees:
        shown, reported = at.ask(("show", str(number), "--json"), ("report", str(number)))
        assert (shown.code, reported.code) == (0, 0)
        assert json.loads(shown.out)["iteration_metrics"]["iteration"] == number
    (root / "results.xml").write_text(TESTS)
    (root / "made.txt").write_text("by the version of today\n")
    recorded = at.call("hook", "post-iteration", "--iteration", str(last + 1), "--json")
    assert recorded.code == 0, recorded
    trees[last + 1] = kept_of(tree_of(root))
    assert {number: kept_of(tree) for number, tree in restorable(at).items()} == trees
    collected = at.call("gc", "--yes", "--keep-last", "1")
    assert collected.code == 0, collected
    kept = {number: kept_of(tree) for number, tree in restorable(at).items()}
    assert kept.keys() >= {0, last + 1}
    assert kept.items() <= trees.items()
    assert at.ask(("verify",))[0].code == 0


@pytest.mark.parametrize("loop", GIVEN, ids=lambda path: path.name)
def test_a_loop_of_metrics_that_were_handed_in_has_nothing_to_restore_and_says_so(loop, taken_over):
    at = taken_over(loop, None)
    history, verified, restored, collected = at.ask(
        ("history", "--json"), ("verify",), ("restore", "1"), ("gc", "--yes", "--keep-last", "1")
    )
    assert (history.code, verified.code, restored.code) == (0, 0, 1)
    assert restored.err.count("\n") == 1
    assert collected.code in {0, 1}
    assert tree_of(at.root) == {}
    assert at.ask(("history", "--json"))[0] == history
