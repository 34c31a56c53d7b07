"""What select-best and post-loop apply: the peak's files as a folder, as the working tree, as a branch, or nowhere."""

import json
import re

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.errors import StoreError

ODD = "data/odd \xe9\n.bin"


def applied(shop, how: str, **options):
    return shop.tracker.select_output(apply=how, **options).selection.to_dict()["best_output_selection"][
        "artifacts_applied"
    ]


def test_the_output_folder_holds_every_difference_from_the_baseline(run_before, own_files):
    shop = run_before
    before, tree = own_files(shop.root / ".git"), shop.files()
    document = applied(shop, "output", iteration=3, reason="the last one")
    output = shop.root / ".aiwg/output"
    assert document["files_copied"] == ["app.py", ODD, "notes.txt", "results.xml"]
    assert document["files_deleted"] == ["old.txt"]
    assert sorted(own_files(output)) == document["files_copied"]
    assert all((output / path).read_bytes() == tree[path] for path in document["files_copied"])
    assert shop.files() == tree
    assert own_files(shop.root / ".git") == before


def test_a_second_selection_replaces_the_output_folder(run_before, own_files):
    applied(run_before, "output", iteration=3, reason="the last one")
    assert applied(run_before, "output")["files_copied"] == ["app.py", ODD, "results.xml"]
    assert sorted(own_files(run_before.root / ".aiwg/output")) == ["app.py", ODD, "results.xml"]


def test_the_baseline_differs_in_nothing(run_before):
    document = applied(run_before, "output", iteration=0, reason="start again")
    assert (document["files_copied"], document["files_deleted"]) == ([], [])
    assert list((run_before.root / ".aiwg/output").iterdir()) == []


def test_the_working_tree_becomes_the_peak_and_can_be_brought_back(run_before, own_files):
    shop = run_before
    before, tree = own_files(shop.root / ".git"), shop.files()
    document = applied(shop, "worktree", finish=False)
    assert document["destination"] == "."
    assert b"return 2" in shop.files()["app.py"]
    assert "old.txt" not in shop.files()
    shop.tracker.undo(re.search(r"undo-[0-9a-f]+", document["note"])[0])
    assert shop.files() == tree
    assert shop.turn().previous == 3
    assert own_files(shop.root / ".git") == before


def test_the_loop_goes_on_from_what_was_applied_to_the_tree(run_before):
    applied(run_before, "worktree", finish=False)
    assert run_before.turn().previous == 1


def test_a_branch_has_the_peak_and_nothing_else_of_the_user_moves(run_before, own_files):
    shop = run_before
    before, tree = own_files(shop.root / ".git"), shop.files()
    assert applied(shop, "branch", branch="peak")["destination"] == "peak"
    after = own_files(shop.root / ".git")
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert {name for name in changed if not name.startswith("objects/")} <= {"refs/heads/peak", "logs/refs/heads/peak"}
    assert shop.git("show", "peak:app.py").endswith("return 2")
    assert "old.txt" not in shop.git("ls-tree", "--name-only", "peak").split()
    assert shop.git("rev-parse", "peak^") == shop.git("rev-parse", "HEAD")
    assert shop.files() == tree
    # Called again, as after a kill, it finds its own branch.
    assert applied(shop, "branch", branch="peak")["destination"] == "peak"
    assert own_files(shop.root / ".git") == after


@pytest.mark.parametrize(
    ("name", "message"),
    [pytest.param("main", "main", id="taken"), pytest.param("no..name", "no..name", id="no name for a branch")],
)
def test_a_branch_that_cannot_be_is_refused_and_the_loop_goes_on(run_before, own_files, name, message):
    before = own_files(run_before.root / ".git")
    with pytest.raises(StoreError, match=message) as refused:
        applied(run_before, "branch", branch=name)
    assert "\n" not in str(refused.value)
    assert own_files(run_before.root / ".git") == before
    assert run_before.tracker.store().summary().status == "running"


def test_a_branch_needs_a_repository(workshop):
    workshop.start()
    workshop.turn()
    with pytest.raises(StoreError, match="in no git repository"):
        applied(workshop, "branch")
    assert applied(workshop, "output")["destination"] == ".aiwg/output/"


@pytest.mark.parametrize("stands", ["a file", "a link"])
def test_something_else_in_the_place_of_the_output_folder_gives_way(run_before, stands):
    place, outside = run_before.root / ".aiwg/output", run_before.root.parent / "outside"
    outside.mkdir()
    (outside / "mine.txt").write_text("mine")
    if stands == "a file":
        place.write_text("in the way")
    else:
        place.symlink_to(outside)
    applied(run_before, "output")
    assert (place / "app.py").is_file()
    assert not place.is_symlink()
    assert [path.name for path in outside.iterdir()] == ["mine.txt"]


def test_a_selection_that_stops_after_its_output_does_not_say_that_nothing_was_changed(run_before):
    run_before.tracker.store().paths.selection.mkdir()
    with pytest.raises(StoreError, match=r"selection.yaml: Is a directory; check free space .*, then run it again$"):
        applied(run_before, "output")
    assert (run_before.root / ".aiwg/output/app.py").is_file()


def test_post_loop_prints_what_was_applied_and_its_document_has_both_lists(run_before, capsys):
    root = str(run_before.root)
    assert run(["hook", "post-loop", "--root", root, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["best_output_selection"]["artifacts_applied"]
    assert (document["files_deleted"], document["destination"]) == (["old.txt"], ".aiwg/output/")
    assert run(["select-best", "--root", root]) == 0
    assert "3 changed files in .aiwg/output/, 1 deleted since the baseline" in capsys.readouterr().out
