"""Rollback, restore and undo: the tree is exactly what it was, and the line follows."""

from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.snapshots.store import SnapshotStore

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]


def ask(shop, *words: str) -> int:
    return run([*words, "--root", str(shop.root)])


def test_an_applied_rollback_restores_the_peak_and_the_line_goes_on_from_it(run_before, own_files, capsys):
    shop = run_before
    peak = shop.tracker.loop_decision().decision
    before = own_files(shop.root / ".git")
    assert (peak.action, peak.target_iteration) == ("rollback", 1)
    assert ask(shop, "hook", "loop-decision") == 11
    assert ask(shop, "hook", "loop-decision", "--apply") == 0
    assert "iteration 1 is restored" in capsys.readouterr().out
    restored = shop.files()
    assert "old.txt" not in restored
    assert "notes.txt" not in restored
    assert restored["data/odd \xe9\n.bin"] == b"\x00\r\n"
    assert b"return 2" in restored["app.py"]
    assert ask(shop, "hook", "loop-decision", "--apply") == 0
    assert "iteration 1 was restored already" in capsys.readouterr().out
    assert shop.files() == restored
    record = shop.turn()
    assert (record.iteration, record.previous, record.alerts) == (4, 1, ())
    assert own_files(shop.root / ".git") == before


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_every_iteration_comes_back_as_it_was_kept(run_before, number):
    shop = run_before
    shop.tracker.restore(number)
    record = shop.turn()
    assert record.previous == number
    assert record.tree == shop.tracker.store().measurement(number)[0].tree


def test_an_undone_restore_brings_the_work_back_and_the_line_too(run_before):
    shop = run_before
    shop.write("unfinished.txt", "work in progress\n")
    before = shop.files()
    undo = shop.tracker.restore(0).undo
    assert "unfinished.txt" not in shop.files()
    again = shop.tracker.undo(undo).undo
    assert shop.files() == before
    assert shop.tracker.store().summary().head == 3
    shop.tracker.undo(again)
    assert shop.tracker.store().summary().head == 0
    shop.tracker.undo(undo)
    assert shop.turn().previous == 3


def test_an_undone_rollback_can_be_carried_out_again(run_before):
    shop = run_before
    shop.tracker.loop_decision(apply=True)
    undo = shop.tracker.store().events()[-1]["undo"]
    shop.tracker.undo(undo)
    assert not shop.tracker.loop_decision().carried_out
    assert shop.tracker.loop_decision(apply=True).carried_out
    assert shop.tracker.store().summary().head == 1


def test_a_decision_names_the_iteration_that_a_person_restored_instead(run_before, capsys):
    ask(run_before, "restore", "0")
    capsys.readouterr()
    assert ask(run_before, "hook", "loop-decision", "--apply") == 0
    assert "iteration 0 was restored already" in capsys.readouterr().out


def test_one_content_for_the_third_time_on_the_line_is_a_cycle(workshop):
    shop = workshop
    shop.write(".gitignore", ".aiwg/\nresults.xml\n")  # what is measured moves on, the content does not
    shop.commit().start()
    one, other = shop.root.joinpath("app.py").read_bytes(), b"def one():\n    return 11\n"
    found = []
    for number, content in enumerate([other, one, other, one], 5):
        shop.passing(number).write("app.py", content)
        found.append([alert.message for alert in shop.turn().alerts])
    assert found == [[], [], [], ["Metrics cycling: iteration 4 repeats iteration 2"]]


def damage_object(shop, path: str) -> None:
    """Spoil the kept content of a file of iteration 1."""
    changes = SnapshotStore(shop.paths.store, shop.root).changes(None, "refs/iterations/1")
    (name,) = (change.new_id for change in changes if change.path == path)
    file = shop.paths.store / "objects" / name[:2] / name[2:]
    file.chmod(0o644)
    file.write_bytes(b"spoiled")


def name_of(shop, number: int) -> Path:
    """Return the file that names the snapshot of an iteration."""
    return shop.paths.store / f"refs/iterations/{number}"


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        pytest.param(lambda shop: damage_object(shop, "app.py"), "app.py", id="kept content"),
        pytest.param(lambda shop: (one(shop) / "manifest.json").write_text("{}"), "manifest.json", id="manifest"),
        pytest.param(lambda shop: (one(shop) / "seal.json").write_text("{}"), "seal.json", id="seal"),
        pytest.param(lambda shop: resealed(one(shop)), "seal.json", id="made-up seal"),
        pytest.param(lambda shop: name_of(shop, 1).unlink(), "the snapshot in store", id="name of the snapshot gone"),
        pytest.param(
            lambda shop: name_of(shop, 1).write_bytes(name_of(shop, 2).read_bytes()),
            "the snapshot in store",
            id="another snapshot under its name",
        ),
    ],
)
def test_damage_is_found_and_a_damaged_iteration_is_not_restored(run_before, capsys, damage, named):
    shop = run_before
    damage(shop)
    before = shop.files()
    assert ask(shop, "verify") == 1
    assert f"iteration 1: damaged or missing: {named}" in capsys.readouterr().out
    with pytest.raises((StoreError, NoSnapshotError)) as refused:
        shop.tracker.restore(1)
    assert "\n" not in str(refused.value)
    assert ask(shop, "hook", "loop-decision", "--apply") == 1
    assert ask(shop, "select-best", "--apply", "worktree") == 1
    assert shop.files() == before
    shop.tracker.restore(2)
    assert shop.turn().previous == 2


def one(shop) -> Path:
    return shop.paths.iteration(1)


def resealed(folder: Path) -> None:
    """Change what was measured, and the seal so that it fits."""
    old = (folder / "metrics.json").read_bytes()
    from hashlib import sha256  # noqa: PLC0415

    new = old.replace(b'"test_count":6', b'"test_count":9')
    (folder / "metrics.json").write_bytes(new)
    seal = folder / "seal.json"
    seal.write_text(seal.read_text().replace(sha256(old).hexdigest(), sha256(new).hexdigest()))


def test_an_altered_record_is_found_and_its_files_can_still_be_restored(run_before, capsys):
    shop = run_before
    record = shop.paths.record(1)
    record.write_text(record.read_text().replace("test_count: 6", "test_count: 9"))
    assert ask(shop, "verify") == 1
    assert "progress/iteration-001-metrics.yaml" in capsys.readouterr().out
    shop.tracker.restore(1)
