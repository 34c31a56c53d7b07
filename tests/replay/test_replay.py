"""A replay makes of commits the records that a live loop would have, and leaves the user's files and git alone."""

import json
import re
import time

import pytest

from ralph_tracker.errors import InputError, StoreError, UntrustedError
from ralph_tracker.records.iteration_record import Document
from ralph_tracker.store.records_to_show import RecordHistory
from tests.replay.conftest import BROKEN, Branch

# What tells when and how a commit was measured, and under which name.
OWN = {"timestamp", "notes", "loop_id", "elapsed_s", "artifacts_path", "duration_s"}


def without(document: Document, names: set[str]) -> Document:
    def left(value):
        if isinstance(value, dict):
            return {key: left(each) for key, each in value.items() if key not in names}
        return [left(each) for each in value] if isinstance(value, list) else value

    return left(document)


def documents(shop: Branch, loop_id: str) -> list[Document]:
    listed = RecordHistory(shop.tracker.project.store(loop_id)).all()
    texts = (json.dumps(each.document).replace(loop_id, "LOOP") for each in listed)
    return [json.loads(re.sub(r"after \d+\.\d s", "after a while", text)) for text in texts]


def test_its_records_are_those_of_a_live_loop_over_the_same_commits(branch, tmp_path):
    replay = branch.replay(jobs=3)
    turns = list(replay.turns())
    branch.git("clone", "-q", str(branch.root), str(tmp_path / "live"))
    live = Branch((tmp_path / "live").resolve())
    for number, turn in enumerate(turns):
        live.git("checkout", "-q", turn.commit.sha)
        live.turn() if number else live.start(limits={"max_iterations": None})
    made, expected = documents(branch, replay.loop_id), documents(live, "ralph-001")
    assert [without(each, OWN) for each in made] == [without(each, OWN) for each in expected]
    selections = replay.finish().selection, live.tracker.select_output().selection
    assert [each.selected.iteration for each in selections] == [1, 1]
    assert branch.tracker.verify().is_whole


def test_a_record_names_its_commit_and_has_its_time(branch):
    turns = branch.replayed("v0..HEAD~3")
    assert [turn.commit.subject for turn in turns] == ["Begin", "Add two"]
    assert [turn.record.notes[0] for turn in turns] == [f"commit {t.commit.short}: {t.commit.subject}" for t in turns]
    assert [turn.record.timestamp for turn in turns] == sorted(turn.record.timestamp for turn in turns)


def test_a_commit_that_does_not_build_is_that_with_the_compilers_line(branch):
    broken = branch.replayed()[3]
    (alert,) = (each for each in broken.record.alerts if each.type == "build_broken")
    assert BROKEN.partition(": ")[2] in alert.message
    assert "failed, and not repeated, as a replay repeats tests only: tests" in broken.record.notes


def state(shop: Branch):
    return shop.gits_own, shop.files(), shop.git("worktree", "list"), shop.git("status", "--porcelain")


@pytest.mark.parametrize("setting", ["core.splitIndex", "core.sparseCheckout"])
def test_files_index_stash_and_refs_are_left_byte_for_byte(branch, setting):
    branch.write("put-aside.txt", "1\n")
    branch.git("stash", "-u", "-q")
    branch.write("staged.txt", "1\n")
    branch.git("add", "staged.txt")
    branch.write("staged.txt", "changed since\n")
    branch.write("app.py", "edited\n")
    branch.git("config", setting, "true")
    branch.write(".git/info/sparse-checkout", "/app.py\n")
    branch.git("status")
    before = state(branch)
    turns = branch.replayed("v0..HEAD~3", jobs=2)
    assert turns[1].record.metrics.tests_passed == 6
    assert state(branch) == before


def test_commits_are_judged_in_the_historys_order_whatever_is_done_first(branch):
    branch.running("test -e notes.txt || sleep 0.6")
    turns = branch.replayed(jobs=4)
    assert [turn.record.iteration for turn in turns] == [0, 1, 2, 3, 4]
    assert [turn.record.metrics.tests_passed for turn in turns] == [4, 6, 2, None, 5]


def test_the_checks_of_a_commit_see_nothing_that_those_of_another_left(branch):
    branch.running("! grep -q left app.py && test ! -e .git/left || exit 3; echo left >> app.py; touch .git/left")
    before = state(branch)
    turns = branch.replayed("v0..HEAD~3", jobs=1)
    assert [turn.record.metrics.tests_passed for turn in turns] == [4, 6]
    assert state(branch) == before


@pytest.mark.slow
def test_broken_off_it_goes_on_where_it_was(branch):
    ran = branch.counting()
    turns = branch.replay(jobs=1).turns()
    assert [next(turns).record.iteration for _ in range(2)] == [0, 1]
    turns.close()
    again = branch.replay()
    assert (again.count_recorded(), [turn.record.iteration for turn in again.turns()]) == (2, [2, 3, 4])
    assert again.finish().selection.selected.iteration == 1
    assert list(branch.replay().turns()) == []
    # What ran when it was broken off counts for nothing; what cannot be measured is tried again.
    assert len(ran.read_text().splitlines()) in {6, 7, 8}


@pytest.mark.slow
def test_what_was_measured_with_the_same_tree_and_configuration_is_not_measured_again(branch):
    ran = branch.counting()
    assert [turn.cached for turn in branch.replayed("v0..HEAD~1")] == [False] * 4
    runs = len(ran.read_text())
    branch.git("commit", "-q", "--allow-empty", "-m", "Same tree")
    turns = branch.replayed("v0..HEAD")
    assert [turn.cached for turn in turns] == [True, True, True, False, False, True]  # the fourth does not build
    assert len(ran.read_text()) == runs + len(".\n") * 2
    branch.write("ralph-tracker.yaml", (branch.root / "ralph-tracker.yaml").read_text() + "severity: {E5: warning}\n")
    assert [turn.cached for turn in branch.replayed("v0..HEAD")] == [False] * 5 + [True]


def test_damaged_results_are_measured_again(branch, tmp_path):
    branch.replayed("v0..HEAD~3")
    for file in (tmp_path / "cache").rglob("result.msgpack"):
        file.write_bytes(file.read_bytes()[:-5])
    assert [turn.cached for turn in branch.replayed("v0..HEAD~2")] == [False] * 3


def test_the_configuration_of_a_commit_is_never_used(branch, tmp_path):
    trap = tmp_path / "trapped"
    branch.running(f"touch {trap}")
    branch.step("Set a trap")
    branch.git("checkout", "-q", "v0")
    branch.git("checkout", "-q", "-b", "work")
    turns = branch.replayed("main~1..main")
    assert (turns[-1].record.metrics.tests_passed, trap.exists()) == (5, False)


def test_checks_that_came_with_the_project_wait_for_their_user(branch, monkeypatch, tmp_path):
    monkeypatch.delenv("RALPH_TRACKER_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.raises(UntrustedError, match="this project would run"):
        branch.replay()
    assert len(list(branch.replay("v0..HEAD~3", trust=True).turns())) == 2


def test_a_running_loop_stays_the_current_one(branch):
    branch.start()
    before = branch.tracker.store().paths.loop_id
    branch.replayed("v0..HEAD~3")
    assert (branch.tracker.store().paths.loop_id, branch.tracker.store().status()) == (before, "running")


def test_a_kept_commit_can_be_restored_and_spares_what_is_ignored(branch):
    branch.write(".gitignore", ".aiwg/\nsecrets/\n")
    branch.step("Ignore secrets")
    branch.write("secrets/forced.txt", "tracked all the same\n")
    branch.git("add", "-f", "secrets/forced.txt")
    branch.git("commit", "-q", "-m", "Track one")
    branch.git("rm", "-q", "secrets/forced.txt")
    branch.git("commit", "-q", "-m", "Forget it")
    branch.write("secrets/mine.txt", "the user's\n")
    branch.replayed("HEAD~2..HEAD")
    branch.tracker.restore(1)
    files = branch.files()
    assert (files["secrets/forced.txt"], files["secrets/mine.txt"]) == (b"tracked all the same\n", b"the user's\n")


def test_a_project_in_a_folder_of_a_repository_has_all_of_it_at_each_commit(tmp_path):
    top = Branch((tmp_path / "mono").resolve())
    top.root.mkdir()
    inner = Branch(top.root / "api")
    inner.root.mkdir()
    top.write(".gitignore", ".aiwg/\n")
    top.write("shared/results.xml", '<testsuite tests="1"><testcase classname="t" name="a"/></testsuite>')
    inner.configure({"tests": {"run": "cp ../shared/results.xml {reports}", "reports": ["{reports}/results.xml"]}})
    top.git("init", "-q", "-b", "main")
    top.step("Begin")
    top.step("More", {"api/app.py": "def one():\n    return 1\n"})
    turns = inner.replayed("HEAD~1..")
    assert [(turn.record.metrics.tests_passed, turn.record.metrics.file_count) for turn in turns] == [(1, 0), (1, 1)]


@pytest.mark.slow
def test_the_same_replay_runs_once_at_a_time(branch):
    turns = branch.replay().turns()
    next(turns)
    with pytest.raises(StoreError, match="replay"):
        next(branch.replay().turns())
    turns.close()


def test_checks_that_run_end_with_the_replay(branch, tmp_path):
    pid = tmp_path / "pid"
    branch.running(f"test ! -e notes.txt || {{ echo $$ > {pid}; sleep 60; }}")
    turns = branch.replay(jobs=4).turns()
    next(turns)
    for _ in range(200):
        if pid.exists() and pid.read_text():
            break
        time.sleep(0.02)
    began = time.monotonic()
    turns.close()
    assert time.monotonic() - began < 20
    assert not (tmp_path.joinpath("/proc", pid.read_text().strip())).exists()


def test_tests_that_ask_git_for_the_root_find_the_checkout_also_in_a_hook_of_git(branch, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(branch.root / ".git"))
    branch.environment = {**branch.environment, "GIT_DIR": str(branch.root / ".git"), "GIT_INDEX_FILE": "index"}
    asks = 'test "$(git rev-parse --show-toplevel)" = "$PWD" && test -z "$(git status --porcelain)" || exit 3'
    branch.running(asks)
    assert [turn.record.metrics.tests_passed for turn in branch.replayed("v0..HEAD~3")] == [4, 6]


def test_held_back_tests_are_refused_by_name(branch, tmp_path):
    branch.configure({"hidden": {"run": "true", "held_back": str(tmp_path), "reports": ["{reports}/x.xml"]}})
    with pytest.raises(Exception, match=r"checks\.hidden\.held_back"):
        branch.replay()


def test_outside_of_a_repository_there_is_nothing_to_replay(tmp_path):
    root = tmp_path / "plain"
    root.mkdir()
    with pytest.raises(InputError, match="in no git repository"):
        Branch(root.resolve()).prepare().replay()
