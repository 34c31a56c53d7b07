"""The gate on a loop that measures: it judges as the next iteration would be judged, and leaves the loop as it is."""

import re
import shutil
import stat

import pytest

from ralph_tracker.errors import InputError, RecordError, StoreError
from ralph_tracker.iteration.gate_worktree import gate

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

ADDED = "def one():\n    return 1\n\n\ndef two(a):\n    return 2 if a else 3\n"


def ask(shop, metrics=None, **environment):
    """Ask the gate at the time that the loop's next call will have."""
    now = type(shop.clock)()
    now.time = shop.clock.time
    return gate(shop.root, None, metrics, now=now.now(), environment={**shop.environment, **environment})


def everything(folder):
    """Return kind, mode and content of all that stands in a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found[str(path.relative_to(folder))] = (status.st_mode, content)
    return found


def unchanged(shop):
    """Return all that must stay: our folder, and the user's repository where there is one."""
    return {name: everything(shop.root / name) for name in (".aiwg", ".git")}


def break_nothing(shop):
    shop.write("app.py", ADDED)


def break_a_test(shop):
    shop.results(t0="passed", t1="passed", t2="failed", t3="passed")


def delete_a_test(shop):
    shop.passing(3)


def write_no_report(shop):
    (shop.root / "results.xml").unlink()


def reconfigure(shop):
    shop.configure({"tests": {"run": "true"}})


def stand_still(_shop):
    """Leave all as it was."""


WORKS = {
    break_nothing: "pass",
    break_a_test: "regression",
    delete_a_test: "regression",
    write_no_report: "not_measured",
    reconfigure: "pass",
    stand_still: "pass",
}


def without_times(record):
    """Return a record without when it was made and how long a command took that an alert names."""
    alerts = (each._replace(message=re.sub(r"after [0-9.]+ s", "after 0 s", each.message)) for each in record.alerts)
    return record._replace(timestamp="", alerts=tuple(alerts))


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.__name__)
def test_the_gate_judges_as_post_iteration_does_and_writes_nothing(workshop, work):
    workshop.commit().start()
    workshop.write("app.py", "def one():\n    return 2\n")
    workshop.turn()
    work(workshop)
    before = unchanged(workshop)
    found = ask(workshop)
    assert unchanged(workshop) == before
    assert (found.verdict, found.compared_with) == (WORKS[work], 1)
    record = workshop.turn()
    assert without_times(found.record) == without_times(record)


def test_a_tree_for_the_third_time_is_a_cycle_for_the_gate_too(workshop):
    workshop.start()
    for text in ("a = 1\n", "a = 2\n", "a = 1\n", "a = 2\n"):
        workshop.write("app.py", text)
        workshop.turn()
    workshop.write("app.py", "a = 1\n")
    found = ask(workshop)
    assert "metric_cycling" in {alert.type for alert in found.alerts}
    assert found.record.tree == workshop.turn().tree


def test_after_a_rollback_it_is_compared_with_where_the_line_is(run_before):
    run_before.tracker.restore(1)
    before = unchanged(run_before)
    found = ask(run_before)
    assert (found.compared_with, found.verdict, found.record.previous) == (1, "pass", 1)
    assert unchanged(run_before) == before


def test_a_loop_that_has_ended_is_compared_with_too(run_before):
    run_before.tracker.select_output()
    assert ask(run_before).compared_with == 3


def test_a_second_gate_gives_the_same(run_before):
    assert ask(run_before) == ask(run_before)


def test_checks_run_with_no_lock_held(workshop, tool):
    """The check of the gate records an iteration: it could not if the gate were in its way."""
    code = (
        "import fcntl, os; fcntl.flock(os.open('.aiwg/ralph/ralph-001/lock', os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    )
    [python, *_] = tool("x")
    workshop.write(
        "measure.sh", f'cp results.xml "$1/junit.xml"\n[ -z "$GATE" ] || "{python}" -c "{code}" || rm "$1/junit.xml"\n'
    )
    workshop.start()
    assert ask(workshop, GATE="1").verdict == "pass"


def test_a_temporary_folder_inside_the_tree_is_no_part_of_it(workshop, monkeypatch):
    workshop.start()
    monkeypatch.setattr("tempfile.tempdir", str(workshop.root))
    found = ask(workshop)
    assert found.record.tree == workshop.turn().tree
    assert found.record.notes == ()


@pytest.mark.parametrize("name", ['a "quoted" one', "back\\slash", "line\nbreak", "ünïcode"])
def test_the_root_may_have_any_name(workshop, workshop_at, name):
    root = workshop.root.parent / name
    workshop.root.rename(root)
    moved = workshop_at(root)
    moved.commit().start()
    moved.write("app.py", ADDED)
    assert ask(moved).verdict == "pass"


def test_a_copy_of_the_loop_in_another_checkout_gives_the_same(run_before, workshop_at, tmp_path):
    """As a CI job does that brings .aiwg/ along: other files by their times and numbers, the same content."""
    other = tmp_path / "checkout"
    shutil.copytree(run_before.root, other, symlinks=True, copy_function=shutil.copy)
    there = workshop_at(other.resolve(), run_before.clock)
    assert ask(there).record == ask(run_before).record


def test_each_check_is_a_measure_with_its_own_reason(workshop):
    silent = {"run": "true", "reports": ["{reports}/coverage.json"], "needs": ["tests"]}
    workshop.configure(
        {
            "tests": {"run": 'cp results.xml "{reports}/junit.xml"', "reports": ["{reports}/junit.xml"]},
            "coverage": silent,
            "lint": {"run": "no-such-tool-anywhere", "reports": ["-"]},
            "types": {"run": "true"},
            "build": {"run": ["no-such-builder-anywhere"]},
            "extra": {"run": "true", "reports": ["a.txt"]},
        }
    )
    workshop.start(allow_missing=True)
    found = ask(workshop)
    whys = {measure.name: measure.why for measure in found.measures}
    assert found.verdict == "not_measured"
    assert list(whys) == ["tests", "coverage", "lint", "types", "build", "extra", "code"]
    assert whys["tests"] is None
    assert whys["code"] is None
    assert whys["coverage"].startswith("check `coverage` did not write {reports}/coverage.json (exit ")
    assert whys["lint"].startswith("check `lint` printed no report (")
    assert whys["types"] == "types: the check names no report file; add `reports: [FILE]` to it"
    assert whys["build"].startswith("build: ")
    assert "a.txt (exit " in whys["extra"]


def test_metrics_are_handed_in_where_the_loop_has_them_handed_in(workshop, metrics):
    workshop.configure({})
    workshop.commit()
    workshop.tracker.pre_loop(metrics())
    before = unchanged(workshop)
    workshop.write("app.py", ADDED)
    found = ask(workshop, metrics(tests_passed=9, tests_failed=1))
    assert unchanged(workshop) == before
    assert found.verdict == "regression"
    record = workshop.tracker.post_iteration(metrics(tests_passed=9, tests_failed=1)).record
    assert found.record._replace(timestamp=record.timestamp) == record
    with pytest.raises(InputError, match="pass --metrics FILE"):
        ask(workshop)


def test_a_loop_without_files_takes_metrics_all_the_same(driven):
    driven.start()
    assert driven.gate().record.tree is None


def test_a_loop_that_lost_its_files_is_refused(workshop):
    workshop.start()
    shutil.rmtree(workshop.paths.store)
    with pytest.raises(StoreError, match=r"the store is missing; run `ralph-tracker verify --repair`"):
        ask(workshop)


def test_a_damaged_loop_is_named_and_left_as_it_is(run_before):
    (run_before.paths.iteration(3) / "tests.json").write_bytes(b"{")
    before = everything(run_before.root / ".aiwg")
    with pytest.raises(RecordError, match="iteration-003 is damaged"):
        ask(run_before)
    assert everything(run_before.root / ".aiwg") == before


def test_nothing_is_left_in_the_temporary_folder(workshop, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    workshop.start()
    ask(workshop)
    assert list(folder.iterdir()) == []
