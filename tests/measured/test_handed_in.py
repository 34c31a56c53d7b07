"""Loops whose metrics are handed in: files are kept where git or the configuration says so."""

from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.errors import ConfigError, NoSnapshotError, StoreError

METRICS = {"testing": {"test_count": 3, "tests_passed": 3, "tests_failed": 0}}
MORE = {"testing": {"test_count": 5, "tests_passed": 5, "tests_failed": 0}}
FEWER = {"testing": {"test_count": 2, "tests_passed": 2, "tests_failed": 0}}


@pytest.fixture
def plain(workshop):
    """Return a project without checks and without git."""
    return keeping(workshop, None)


def keeping(shop, keep: str | None):
    return shop.configure({}, **({} if keep is None else {"codebase": {"keep": keep}}))


def hand_in(shop, metrics=METRICS, **options):
    return shop.tracker.post_iteration(metrics, **options).record


@pytest.mark.parametrize(
    ("keep", "git", "kept"),
    [
        (None, True, True),
        (None, False, False),
        ("auto", True, True),
        ("always", False, True),
        ("never", True, False),
    ],
)
def test_files_are_kept_in_a_repository_or_as_the_configuration_says(plain, keep, git, kept):
    shop = keeping(plain, keep)
    if git:
        shop.commit()
    shop.tracker.pre_loop(METRICS)
    shop.write("app.py", "def one():\n    return 11\n")
    record = hand_in(shop)
    folder = shop.paths.iteration(1)
    assert (record.tree is not None) == kept == (folder / "manifest.json").exists()
    assert (folder / "artifacts/app.py").exists() == kept
    assert shop.paths.store.exists() == kept
    assert run(["verify", "--root", str(shop.root)]) == 0


def test_what_is_kept_is_rolled_back_and_applied_as_where_checks_measure(plain, capsys):
    shop = plain.commit()
    shop.tracker.pre_loop(METRICS)
    shop.write("new.txt", "new\n")
    hand_in(shop, MORE)
    peak = shop.files()
    shop.write("new.txt", "worse\n")
    hand_in(shop, FEWER)
    assert shop.tracker.loop_decision(apply=True).carried_out
    assert shop.files() == peak
    assert hand_in(shop, MORE).previous == 1
    assert run(["hook", "post-loop", "--iteration", "1", "--reason", "it has all", "--root", str(shop.root)]) == 0
    assert "1 changed file in .aiwg/output/" in capsys.readouterr().out
    assert (shop.root / ".aiwg/output/new.txt").read_text() == "new\n"


def test_whether_files_are_kept_is_decided_once(plain):
    plain.tracker.pre_loop(METRICS)
    keeping(plain.commit(), "always")
    assert hand_in(plain).tree is None


def test_a_loop_that_kept_files_keeps_on_without_its_repository(plain):
    shop = plain.commit()
    shop.tracker.pre_loop(METRICS)
    (shop.root / ".git").rename(shop.root.parent / "away")
    shop.write("app.py", "changed = 1\n")
    assert hand_in(shop).tree is not None
    assert (shop.paths.iteration(1) / "artifacts/app.py").read_text() == "changed = 1\n"


@pytest.mark.parametrize("keep", [None, "never"])
def test_where_nothing_is_kept_a_message_names_the_key(plain, keep, capsys):
    shop = keeping(plain, keep)
    shop.tracker.pre_loop(METRICS)
    with pytest.raises(NoSnapshotError) as refused:
        shop.tracker.restore(0)
    assert str(refused.value) == "iteration 0 has no files: metrics were handed in; set codebase.keep: always"
    assert run(["hook", "post-loop", "--root", str(shop.root)]) == 0
    said = capsys.readouterr().out
    assert "nothing was applied: metrics were handed in" in said
    assert "--apply worktree" not in said


def test_the_next_step_puts_in_place_only_what_is_not_in_place(plain, capsys):
    shop = plain.commit()
    shop.tracker.pre_loop(METRICS)
    shop.write("new.txt", "new\n")
    hand_in(shop, MORE)
    again = ["hook", "post-loop", "--root", str(shop.root)]
    assert run(again) == 0
    assert "next: the working tree is iteration 1 already" in capsys.readouterr().out
    shop.write("new.txt", "worse\n")
    assert run(again) == 0
    assert "`ralph-tracker select-best --apply worktree` puts it in place" in capsys.readouterr().out


def test_checks_cannot_measure_what_is_not_kept(workshop):
    shop = keeping(workshop.commit(), "never")
    shop.prepare().configure({"tests": {"run": "true"}}, codebase={"keep": "never"})
    with pytest.raises(
        ConfigError, match=r"ralph-tracker\.yaml: codebase\.keep: never works only with metrics handed in"
    ):
        shop.start()
    assert not shop.paths.iteration(0).exists()


@pytest.mark.parametrize("keep", ["auto", "always"])
def test_a_home_folder_in_git_is_kept_by_no_default(plain, keep, monkeypatch):
    shop = keeping(plain.commit(), keep)
    monkeypatch.setenv("HOME", str(shop.root))
    if keep == "always":
        with pytest.raises(StoreError, match="is your home folder"):
            shop.tracker.pre_loop(METRICS)
    else:
        assert shop.tracker.pre_loop(METRICS).tree is None


@pytest.mark.parametrize(("keep", "way_out"), [("auto", "; or set codebase.keep: never"), ("always", "")])
def test_a_tree_that_cannot_be_kept_names_the_way_out_of_the_default(plain, keep, way_out):
    shop = keeping(plain.commit(), keep)
    shop.paths.folder.mkdir(parents=True)
    (shop.paths.folder / "store.new").write_text("in the way\n")
    with pytest.raises(StoreError) as refused:
        shop.tracker.pre_loop(METRICS)
    assert str(refused.value).endswith(f"run it again{way_out}")
    assert not shop.paths.iteration(0).exists()


def test_without_the_git_program_a_loop_in_a_repository_keeps_its_files_all_the_same(
    plain, monkeypatch, tmp_path: Path
):
    shop = plain.commit()
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert shop.tracker.pre_loop(METRICS).tree is not None
    shop.write("app.py", "def one():\n    return 11\n")
    assert hand_in(shop).tree is not None
    assert (shop.paths.iteration(1) / "artifacts/app.py").exists()


def test_a_store_left_by_a_call_that_never_came_to_a_baseline_goes(plain):
    shop = keeping(plain.commit(), "never")
    shop.paths.store.mkdir(parents=True)
    shop.tracker.pre_loop(METRICS)
    assert not shop.paths.store.exists()


@pytest.mark.slow
def test_packing_keeps_every_iteration_and_what_a_changed_file_costs_small(plain):
    shop = keeping(plain, "always")
    shop.configure({}, codebase={"keep": "always"}, loop={"max_iterations": None})
    for number in range(10):
        shop.write(f"part{number}/module.py", "".join(f"value_{line} = {line * number}\n" for line in range(100)))
    shop.tracker.pre_loop(METRICS)
    store = shop.paths.store
    before = on_disk(store)
    for turn in range(1, 26):
        for number in range(10):
            file = shop.root / f"part{number}/module.py"
            file.write_text(file.read_text() + f"turn_{turn} = True\n")
        hand_in(shop)
    assert loose(store) == []
    assert (on_disk(store) - before) / 250 <= 10_000
    assert run(["verify", "--root", str(shop.root)]) == 0
    shop.tracker.restore(3)
    assert (shop.root / "part4/module.py").read_text().endswith("turn_3 = True\n")


def on_disk(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


def loose(store: Path) -> list[str]:
    """Return the objects that lie in files of their own."""
    return [path.name for path in (store / "objects").glob("[0-9a-f][0-9a-f]/*")]
