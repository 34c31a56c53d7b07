"""The pre-commit hook and the action as a stranger gets them: installed from a repository, then run."""

import shutil
import sys
from pathlib import Path

import pytest
import yaml

PROGRAM = str(Path(sys.executable).with_name("ralph-tracker"))


def test_pre_commit_installs_the_hook_and_refuses_a_regression(run, published, project, tmp_path):
    pre_commit = shutil.which("pre-commit")
    if pre_commit is None:
        pytest.skip("pre-commit is not installed")

    def hook():
        words = ("try-repo", str(published), "ralph-tracker-gate", "--all-files", "--verbose")
        return run(pre_commit, *words, cwd=project, PRE_COMMIT_HOME=str(tmp_path / "home"))

    without = hook()
    assert without.returncode == 1
    assert "run `ralph-tracker hook pre-loop` first" in without.stdout
    assert run(PROGRAM, "hook", "pre-loop", cwd=project).returncode == 0
    passed = hook()
    assert (passed.returncode, "pass: no regression against iteration 0" in passed.stdout) == (0, True), passed.stdout
    (project / "results.xml").write_text('<testsuite tests="0"/>')
    assert run("git", "add", "-A", cwd=project).returncode == 0
    failed = hook()
    assert failed.returncode == 1
    assert "- exit code: 3" in failed.stdout
    assert "CRITICAL test_deletion: Test count decreased from 1 to 0" in failed.stdout


def test_the_steps_of_the_action_install_and_run_it(run, published, project, tmp_path):
    action = yaml.safe_load((published / "action.yml").read_text())
    assert run(PROGRAM, "hook", "pre-loop", cwd=project).returncode == 0
    (tmp_path / "temporary").mkdir()
    inputs = {"INPUT_ROOT": ".", "INPUT_LOOP_ID": "", "INPUT_JUNIT": "verdict.xml"}
    runner = {"RUNNER_TEMP": str(tmp_path / "temporary"), "GITHUB_ACTION_PATH": str(published)}
    printed = ""
    for number, step in enumerate(action["runs"]["steps"]):
        script = tmp_path / f"step-{number}.sh"
        script.write_text(step["run"])
        done = run("bash", "--noprofile", "--norc", "-eo", "pipefail", str(script), cwd=project, **runner, **inputs)
        assert done.returncode == 0, done.stderr
        printed += done.stdout
    assert "pass: no regression against iteration 0" in printed
    assert (project / "verdict.xml").is_file()
