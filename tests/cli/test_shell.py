"""Whole paths as a shell walks them: real processes, metrics from files, nothing but exit codes to go by."""

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

# The loop of a user who has no Python: the agent's work is the next file of metrics.
LOOP = """\
ralph-tracker hook pre-loop --metrics "$METRICS/0.yaml" || exit
n=0
while :; do
  n=$((n + 1))
  ralph-tracker hook post-iteration --metrics "$METRICS/$n.yaml" || break
  ralph-tracker hook loop-decision --apply || break
done
ralph-tracker hook post-loop
"""
GIVEN = "quality_score: {score}\ntesting: {{test_count: {tests}, tests_passed: {tests}, tests_failed: 0}}\n"


@pytest.fixture
def metrics(tmp_path):
    """Return a function that writes one file of metrics an iteration: (score, number of tests)."""
    folder = tmp_path / "metrics"
    folder.mkdir()

    def write(*iterations: tuple[float, int]) -> Path:
        for number, (score, tests) in enumerate(iterations):
            (folder / f"{number}.yaml").write_text(GIVEN.format(score=score, tests=tests))
        return folder

    return write


@pytest.fixture
def sh(tmp_path, program):
    """Return a function that runs a script with /bin/sh inside a project."""
    root = tmp_path / "a project"
    root.mkdir()

    def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        search = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["/bin/sh", "-c", script],
            cwd=root,
            env={**os.environ, "PATH": search, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def test_a_plain_shell_loop_runs_until_the_target_and_selects_the_output(sh, metrics):
    folder = metrics((0.5, 8), (0.7, 9), (0.95, 10), (0.99, 11))
    done = sh("printf 'loop: {target_score: 0.9}\\n' > ralph-tracker.yaml\n" + LOOP, METRICS=str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert [line for line in done.stdout.splitlines() if not line.startswith("  ")] == [
        "Baseline: all 8 tests pass.",
        "Forward progress detected, continue",
        "continue (confidence 90 %): forward progress detected",
        "Target reached",
        "stop (confidence 95 %): Target reached",
        "Selected iteration 2 (quality: 0.95 vs final 0.95)",
    ]


def test_a_plain_shell_loop_leaves_at_a_rollback_that_nothing_can_carry_out_written_with_underscores_too(sh, metrics):
    folder = metrics((0.5, 8), (0.8, 10), (0.7, 9), (0.9, 10))
    underscores = LOOP.replace("pre-loop", "pre_loop").replace("-iteration", "_iteration").replace("-loop", "_loop")
    done = sh(underscores.replace("p-decision", "p_decision"), METRICS=str(folder))
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("ralph-tracker: iteration 1 has no files: ")
    assert "ALERT: Test deletion, recommend rollback\n" in done.stdout
    assert "Selected iteration 1 (quality: 0.80 vs final 0.70)\n" in done.stdout


def test_a_plain_shell_loop_leaves_where_an_iteration_cannot_be_recorded(sh, metrics):
    done = sh(LOOP, METRICS=str(metrics((0.5, 8), (0.6, 8))))
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("ralph-tracker: ")
    assert "2.yaml: cannot be read (No such file or directory)" in line
    assert "Selected iteration 1 (quality: 0.60 vs final 0.60)\n" in done.stdout


def test_a_plain_shell_loop_does_not_begin_without_a_baseline(sh, metrics):
    done = sh(LOOP, METRICS=str(metrics()))
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1


def test_the_environment_names_the_loop_and_an_option_names_another(sh, metrics):
    folder = metrics((0.5, 8), (0.6, 8))
    script = """\
    RALPH_LOOP_ID=one ralph-tracker hook pre-loop --metrics "$METRICS/0.yaml" || exit
    RALPH_LOOP_ID=two ralph-tracker hook pre-loop --metrics "$METRICS/0.yaml" || exit
    RALPH_LOOP_ID=one ralph-tracker hook post-iteration --metrics "$METRICS/1.yaml" || exit
    RALPH_LOOP_ID=two ralph-tracker status
    RALPH_LOOP_ID=two ralph-tracker status --loop-id one
    RALPH_LOOP_ID= ralph-tracker status
    """
    done = sh(script, METRICS=str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    heads = [line.split(" (")[0] for line in done.stdout.splitlines() if line.startswith("loop ")]
    assert heads == [f"loop {loop}: running, iteration {n}" for loop, n in (("two", 0), ("one", 1), ("two", 0))]


def test_a_reader_that_goes_early_hears_no_complaint(sh, metrics):
    folder = metrics((0.5, 8))
    script = """\
    ralph-tracker hook pre-loop --metrics "$METRICS/0.yaml" | head -0
    ralph-tracker schema config | head -1
    ralph-tracker history | head -1
    ralph-tracker report 0 | head -1
    """
    done = sh(script, METRICS=str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["{", "it.", "All"]


@pytest.mark.parametrize("buffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_an_answer_that_nobody_reads_is_still_in_the_exit_code(project, program, metrics_of, buffered):
    project.started().must("post-iteration", metrics_of(test_count=9, tests_passed=9))
    reader, writer = os.pipe()
    os.close(reader)
    command = [program, "hook", "loop-decision", "--root", project.root]
    environment = {**os.environ, "PYTHONUNBUFFERED": buffered}
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environment, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (11, b"")


def test_a_closed_standard_output_is_no_reason_to_fail(sh, metrics):
    folder = metrics((0.5, 8), (0.6, 8))
    script = """\
    ralph-tracker hook pre-loop --metrics "$METRICS/0.yaml" >&- || exit
    ralph-tracker hook post-iteration --metrics "$METRICS/1.yaml" >&- 2>&- || exit
    ralph-tracker status
    """
    done = sh(script, METRICS=str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("loop ralph-001: running, iteration 1 (")


@pytest.mark.parametrize("how", ["<&-", "0>unreadable"], ids=["closed", "write-only"])
def test_an_input_that_cannot_be_read_counts_as_empty(sh, how):
    script = f"""\
    ralph-tracker read - {how}; echo $?
    ralph-tracker simulate - {how}; echo $?
    ralph-tracker init --test-command true {how} >init.txt; echo $?
    """
    done = sh(script)
    assert "bug" not in done.stderr
    assert [line for line in done.stdout.splitlines() if line.isdecimal()] == ["1", "0", "0"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_behind_the_output_is_named_and_nothing_recorded_is_lost(sh, metrics):
    script = 'ralph-tracker hook pre-loop --metrics "$METRICS/0.yaml" > /dev/full; echo $?; ralph-tracker status'
    done = sh(script, METRICS=str(metrics((0.5, 8))))
    assert done.stderr == ("ralph-tracker: standard output: No space left on device; recorded iterations are kept\n")
    assert done.stdout.startswith("1\nloop ralph-001: running, iteration 0 (")


@pytest.mark.parametrize("verb", ["status", "hook loop-decision", "init", "agent status-line claude-code"])
def test_a_current_folder_that_is_gone_is_one_line(sh, verb):
    done = sh(f"mkdir gone && cd gone && rmdir ../gone && echo '{{}}' | ralph-tracker {verb}")
    assert done.returncode == (0 if verb.startswith("agent") else 1)
    lines = done.stderr.splitlines()
    assert len(lines) == (not verb.startswith("agent"))
    assert all("the current folder is gone: change to one that is there" in line for line in lines)


def test_a_temporary_folder_that_is_not_there_stops_no_verb(sh, metrics, tmp_path):
    names = {"METRICS": str(metrics((0.5, 8), (0.7, 9))), "TMPDIR": str(tmp_path / "gone")}
    answer = sh(
        'git init -q . && ralph-tracker hook pre-loop --metrics "$METRICS/0.yaml" && '
        'ralph-tracker hook post-iteration --metrics "$METRICS/1.yaml" && '
        'ralph-tracker gate --metrics "$METRICS/1.yaml" && ralph-tracker restore 0 && ralph-tracker verify && '
        "ralph-tracker select-best && ralph-tracker hook post-loop",
        **names,
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert not (tmp_path / "gone").exists()
