"""An environment is built once for the commits of the same lock files, outside of the project."""

import os
import sys

import pytest

from ralph_tracker.errors import NothingMeasuredError
from ralph_tracker.replay.commit_environments import SetUpError

LOCK = '{"lockfileVersion": 3}\n'
CHECK = {"run": "sh measure.sh {reports} && cat .venv/made >&2", "reports": ["{reports}/junit.xml"]}
SETUP = "echo . >> {built}; mkdir -p .venv && touch .venv/pyvenv.cfg && cat package-lock.json > .venv/made"


@pytest.fixture
def locked(branch):
    """Return the project with two lock files after one another, without an environment of its own."""
    branch.git("checkout", "-q", "-b", "locked", "v0")
    branch.write(".gitignore", ".aiwg/\n.venv/\nnode_modules/\n")
    branch.configure({"tests": CHECK})
    branch.step("Lock", {"package-lock.json": LOCK})
    branch.git("tag", "-f", "v0")
    branch.step("Work", passing=5)
    branch.step("Lock anew", {"package-lock.json": LOCK.replace("3", "2")})
    branch.step("Work on", passing=7)
    return branch


@pytest.fixture
def built(tmp_path):
    """Return the file with a line for each environment that was built."""
    (tmp_path / "built").touch()
    return tmp_path / "built"


def output(branch, loop_id, number):
    folder = branch.tracker.project.store(loop_id).paths.iteration(number)
    return (folder / "output" / "tests.stderr").read_text()


def test_each_commit_has_that_of_its_lock_file_and_each_is_built_once(locked, built):
    replay = locked.replay(setup=SETUP.format(built=built), jobs=4)
    assert [turn.record.metrics.tests_passed for turn in replay.turns()] == [4, 5, 5, 7]
    assert [output(locked, replay.loop_id, number).count("3}") for number in range(4)] == [1, 1, 0, 0]
    assert built.read_text() == ".\n" * 2
    locked.step("More", passing=8)
    assert locked.replayed(setup=SETUP.format(built=built))[-1].record.metrics.tests_passed == 8
    assert built.read_text() == ".\n" * 2
    assert not (locked.root / ".venv").exists()


@pytest.mark.slow
def test_a_setup_that_fails_leaves_its_words_in_the_record_of_each_of_its_commits(locked, built):
    setup = SETUP.format(built=built) + "; grep 3 package-lock.json || { echo 'error: no such version' >&2; exit 1; }"
    turns = locked.replayed("HEAD~2..", setup=setup)
    assert [turn.record.metrics.tests_passed for turn in turns] == [5, None, None]
    assert all("no such version" in str(turn.record.to_dict()) for turn in turns[1:])
    assert built.read_text() == ".\n" * 2  # not tried again for the second of them


def test_the_projects_own_tool_builds_where_the_lock_file_is_not_that_of_the_working_tree(locked, tmp_path):
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(
        f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\nmkdir -p .venv; touch .venv/pyvenv.cfg; echo npm > .venv/made\n'
    )
    npm.chmod(0o755)
    locked.environment = {"PATH": f"{npm.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    locked.write(".venv/pyvenv.cfg", "")
    locked.write(".venv/made", "the user's own\n")
    replay = locked.replay()
    assert [turn.record.metrics.tests_passed for turn in replay.turns()] == [4, 5, 5, 7]
    assert [output(locked, replay.loop_id, number) for number in range(4)] == ["npm\n"] * 2 + ["the user's own\n"] * 2
    assert (tmp_path / "asked").read_text() == "ci --no-audit --no-fund\n"


@pytest.mark.parametrize("lock", ["bun.lock", pytest.param("bun.lockb", marks=pytest.mark.slow)])
def test_buns_lock_files_are_installed_by_bun(locked, tmp_path, lock):
    bun = tmp_path / "bin" / "bun"
    bun.parent.mkdir()
    bun.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\nmkdir -p .venv; touch .venv/pyvenv.cfg .venv/made\n')
    bun.chmod(0o755)
    locked.environment = {"PATH": f"{bun.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    locked.git("rm", "-q", "package-lock.json")
    locked.step("Bun", {lock: "1\n"}, passing=1)
    locked.step("More", passing=2)
    replay = locked.replay("HEAD~1..")
    assert [turn.record.metrics.tests_passed for turn in replay.turns()] == [1, 2]
    assert ((tmp_path / "asked").read_text(), replay.warnings) == ("install --frozen-lockfile\n", ())


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("Gemfile.lock", "give --setup 'bundle install'"),
        ("composer.lock", "have its check begin with `composer install`"),
    ],
)
def test_a_lock_file_that_nobody_installs_is_named_where_commits_differ_in_it(branch, name, step):
    branch.step("Lock", {name: "1\n"})
    branch.step("Work", passing=5)
    assert branch.replay("HEAD~1..").warnings == ()
    branch.step("Lock anew", {name: "2\n"})
    assert branch.replay("HEAD~2..").warnings == (f"{name}: replay does not install it; {step}",)
    assert branch.replay("HEAD~2..", setup="true").warnings == ()


def test_one_whose_environment_lies_in_the_project_is_named_where_that_is_missing(branch):
    branch.write(".gitignore", ".aiwg/\n.venv/\n")
    branch.step("Lock", {"pdm.lock": "1\n"})
    branch.step("Work", passing=5)
    named = ("pdm.lock: replay does not install it; give --setup 'pdm sync'",)
    assert branch.replay("HEAD~1..").warnings == named
    branch.write(".venv/pyvenv.cfg", "")
    assert branch.replay("HEAD~1..").warnings == ()


@pytest.mark.slow
def test_fresh_builds_the_environments_anew_once_each(locked, built):
    setup = SETUP.format(built=built)
    locked.replayed("HEAD~2..", setup=setup)
    locked.replayed("HEAD~2..", setup=setup, fresh=True, jobs=4)
    assert built.read_text() == ".\n" * 4


def test_a_set_up_command_runs_in_a_repository_of_its_own(locked):
    made = "mkdir .venv && touch .venv/made .venv/pyvenv.cfg"
    setup = f'test "$(git rev-parse --show-toplevel)" = "$PWD" && {made}'
    assert [turn.record.metrics.tests_passed for turn in locked.replayed("HEAD~1..", setup=setup)] == [5, 7]


def test_a_copy_of_the_project_in_its_environment_is_refused_because_it_would_hide_other_commits(locked):
    site = ".venv/lib/python3.11/site-packages/calc-1.dist-info"
    told = '{"url": "file://%s", "dir_info": {}}'
    setup = f"mkdir -p {site}; touch .venv/pyvenv.cfg; printf '{told}' \"$PWD\" > {site}/direct_url.json"
    with pytest.raises(NothingMeasuredError, match="set-up installs calc as a copy of one commit"):
        locked.replayed(setup=setup)


@pytest.mark.slow
def test_detected_checks_run_the_projects_own_interpreter_on_the_code_of_each_commit(branch):
    (branch.root / "ralph-tracker.yaml").unlink()
    branch.write(".gitignore", ".aiwg/\n.venv\n")
    test = "from app import one\n\n\ndef test_one():\n    assert one() == 1\n"
    branch.step("Test", {"test_one.py": test, "app.py": "def one():\n    return 1\n", "pyproject.toml": "[project]\n"})
    branch.step("Regress", {"app.py": "def one():\n    return 2\n"})
    (branch.root / ".venv").symlink_to(sys.prefix)
    turns = branch.replayed("HEAD~1..")
    assert [(t.record.metrics.tests_passed, t.record.metrics.tests_failed) for t in turns] == [(1, 0), (0, 1)]


@pytest.mark.slow
def test_checks_are_detected_in_the_environment_of_the_last_commit_that_has_one(branch):
    (branch.root / "ralph-tracker.yaml").unlink()
    test = "def test_one():\n    assert True\n"
    branch.step("Test", {".gitignore": ".aiwg/\n.venv\n", "test_one.py": test, "pyproject.toml": "[project]\n"})
    branch.step("Damage", {"package.json": "{}\n"})
    turns = branch.replayed("HEAD~1..", setup=f"test ! -e package.json && ln -s '{sys.prefix}' .venv")
    assert [turn.record.metrics.tests_passed for turn in turns] == [1, None]


def test_where_no_commit_has_an_environment_to_detect_checks_in_the_newest_says_why(branch):
    (branch.root / "ralph-tracker.yaml").unlink()
    newest = branch.step("Newest", {"package.json": "{}\n"})
    with pytest.raises(SetUpError, match=f"failed at {newest[:10]}"):
        branch.replay("HEAD~1..", setup="false")


def test_why_there_is_no_report_names_no_folder_of_the_checkout(locked):
    lint = {"run": 'echo "$PWD/tool.sh: broken" >&2; exit 2', "reports": ["{reports}/lint.json"]}
    tests = {"run": "sh measure.sh {reports}", "reports": ["{reports}/junit.xml"]}
    locked.configure({"lint": lint, "tests": tests})
    (alert,) = locked.replayed("HEAD~1..", setup="true")[0].record.alerts
    assert "it said: tool.sh: broken" in alert.message
