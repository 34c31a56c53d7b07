"""`gc` takes away kept files that nobody needs; records stay, and what stays comes back byte for byte."""

import json
import shutil

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.write import LoopStore

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

OVERRIDE = ("--iteration", 2, "--reason", "why")
COLLECTED = "iteration {} was deleted by gc; its record is kept"


@pytest.fixture(scope="module")
def _long_loop(workshop_at, tmp_path_factory):
    """Return a loop of seven iterations with a file each; iteration 4 is its peak, 5 lost a test."""
    root = (tmp_path_factory.mktemp("gc") / "project").resolve()
    root.mkdir()
    shop = workshop_at(root).prepare()
    shop.start()
    for number, count in enumerate((4, 4, 4, 8, 6, 6, 6), 1):
        shop.passing(count).write("big.bin", bytes([number]) * 20_000 + str(number).encode() * 500)
        shop.turn()
    return shop


@pytest.fixture
def long_loop(_long_loop, workshop_at, tmp_path):
    root = (tmp_path / "copy").resolve()
    shutil.copytree(_long_loop.root, root, symlinks=True)
    return workshop_at(root, _long_loop.clock)


@pytest.fixture
def ralph(long_loop, capsys):
    """Run a command on the loop: its exit code, what it printed, what it complained of."""

    def ran(*words: object):
        capsys.readouterr()
        code = run([*map(str, words), "--root", str(long_loop.root)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return ran


def collected_by(ralph, *words: object):
    code, out, _ = ralph("gc", "--json", *words)
    assert code == 0
    return json.loads(out)


def test_without_yes_it_says_what_would_go_and_changes_nothing(long_loop, ralph, own_files):
    before = {name: data for name, data in own_files(long_loop.root).items() if not name.endswith("lock")}
    code, out, _ = ralph("gc", "--keep-last", 2)
    after = {name: data for name, data in own_files(long_loop.root).items() if not name.endswith("lock")}
    assert (code, before) == (0, after)
    assert "files of iterations 1 to 3 to delete" in out
    assert "kept: iteration 4, the best" in out
    assert "next: `ralph-tracker gc --keep-last 2 --yes`" in out


def test_the_last_ten_stay_where_nobody_says_otherwise(ralph):
    code, out, _ = ralph("gc")
    assert (code, out) == (0, "ralph-001: nothing to collect, 8 iterations kept\n")


def test_it_takes_away_what_nothing_names_and_tells_the_bytes(long_loop, ralph):
    found = collected_by(ralph, "--keep-last", 1, "--yes")
    assert [each["iteration"] for each in found["collected"]] == [1, 2, 3, 6]
    kept = {each["iteration"]: each["reasons"] for each in found["kept"]}
    assert kept.keys() == {0, 4, 5, 7}
    assert kept[0][0] == "the baseline"
    assert any("is open" in why for why in kept[5])
    assert any("leads back to it" in why for why in kept[4])
    assert found["freed_bytes"] > 4 * 20_000
    assert found["carried_out"]
    for number in (1, 2, 3, 6):
        assert not (long_loop.paths.iteration(number) / "artifacts").exists()
        assert not (long_loop.paths.iteration(number) / "reports").exists()
        assert long_loop.paths.record(number).is_file()
    assert ralph("gc", "--keep-last", 1, "--yes")[1].splitlines() == [
        "ralph-001: nothing to collect, 4 iterations kept",
        "  freed: 0 bytes",
    ]


def test_verify_passes_and_names_them_and_still_sees_damage(long_loop, ralph):
    collected_by(ralph, "--keep-last", 1, "--yes")
    code, out, _ = ralph("verify")
    assert code == 0
    first, last = out.splitlines()
    assert first == "collected by gc, their records stay: iterations 1 to 3, 6"
    assert last.endswith(" checked: every file is there and matches its hash")
    document = json.loads(ralph("verify", "--json")[1])
    assert (document["damaged"], document["collected"]) == ({}, [1, 2, 3, 6])
    (long_loop.paths.iteration(2) / "metrics.json").write_text("{}")
    code, out, _ = ralph("verify")
    assert (code, "iteration 2: damaged or missing: metrics.json" in out) == (1, True)


@pytest.mark.parametrize(
    "words",
    [("restore", 2), ("select-best", *OVERRIDE), ("hook", "post-loop", *OVERRIDE)],
    ids=["restore", "select-best", "post-loop"],
)
def test_files_that_went_are_refused_in_one_line(long_loop, ralph, words):
    collected_by(ralph, "--keep-last", 1, "--yes")
    tree = long_loop.files()
    code, out, err = ralph(*words)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"ralph-tracker: {COLLECTED.format(2)}")
    assert long_loop.files() == tree
    assert not long_loop.paths.selection.exists()


def test_the_rest_goes_on_for_an_iteration_without_files(long_loop, ralph):
    history = ralph("history", "--json")[1]
    collected_by(ralph, "--keep-last", 1, "--yes")
    assert ralph("history", "--json")[1] == history
    code, out, _ = ralph("diff", 2, 5)
    assert (code, f"files: {COLLECTED.format(2)}" in out) == (0, True)
    assert f"files: {COLLECTED.format(1)}" in ralph("show", 2)[1]
    code, out, _ = ralph("select-best", *OVERRIDE, "--apply", "none")
    assert (code, COLLECTED.format(2) in out) == (0, True)
    assert long_loop.turn().iteration == 8
    assert ralph("verify")[0] == 0


def test_a_restore_and_its_undo_stay_possible(long_loop, ralph):
    long_loop.tracker.restore(2)
    tree = long_loop.files()
    undo = long_loop.tracker.restore(0).undo
    kept = {each["iteration"]: each["reasons"] for each in collected_by(ralph, "--keep-last", 1, "--yes")["kept"]}
    assert kept[2] == [f"{undo} leads back to it"]
    long_loop.tracker.undo(undo)
    assert long_loop.files() == tree
    assert long_loop.turn().previous == 2


def test_of_the_safety_snapshots_the_last_ten_stay(long_loop, ralph):
    undos = []
    for number in range(12):
        long_loop.write("work.txt", str(number))
        undos.append(long_loop.tracker.restore(0).undo)
    assert f"2 old undo snapshots to delete: {undos[0]}" in ralph("gc")[1]
    assert collected_by(ralph, "--yes")["undo"] == undos[:2]
    assert set(IterationSnapshots(LoopStore(long_loop.paths)).store.references()) >= {
        f"refs/safety/{undo}" for undo in undos[2:]
    }
    assert ralph("restore", "--undo", undos[0])[0] == 1
    assert ralph("restore", "--undo", undos[2])[0] == 0


def test_what_killed_calls_have_left_goes_too(long_loop, ralph):
    folder = long_loop.paths.folder
    (folder / "tmp" / ".tmp-half").mkdir(parents=True)
    (folder / "tmp" / ".tmp-half" / "metrics.json").write_text("{}")
    (folder / "store.new").mkdir()
    (folder / "progress" / ".tmp-1").write_text("half")
    (folder / "store" / "tmp" / "draft").write_text("half")
    left = ["progress/.tmp-1", "store.new", "store/tmp/draft", "tmp/.tmp-half"]
    assert "left by killed commands, to delete: progress/.tmp-1" in ralph("gc")[1]
    assert collected_by(ralph, "--yes")["leftovers"] == left
    assert not any((folder / name).exists() for name in left)
    assert collected_by(ralph)["leftovers"] == []


def test_a_loop_without_kept_files_has_nothing_to_collect(workshop, capsys):
    workshop.tracker.pre_loop({"testing": {"test_count": 3, "tests_passed": 3, "tests_failed": 0}})
    assert run(["gc", "--yes", "--root", str(workshop.root)]) == 0
    assert capsys.readouterr().out == "ralph-001: no files are kept, metrics were handed in; nothing to collect\n"


def test_a_lost_store_is_refused_as_the_plain_files_are_all_that_is_left(long_loop, ralph):
    shutil.rmtree(long_loop.paths.store)
    code, out, err = ralph("gc", "--yes", "--keep-last", 1)
    assert (code, out) == (1, "")
    assert "the store is missing; nothing was changed" in err
    assert (long_loop.paths.iteration(1) / "artifacts").is_dir()
