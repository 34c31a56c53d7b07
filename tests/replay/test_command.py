"""The command: what it prints, its document, and how it ends and goes on."""

import json
import os
import signal
import subprocess
import sys
import time

import jsonschema
import pytest

from ralph_tracker.cli.replay import TimeEstimate
from ralph_tracker.cli.schema import SCHEMAS, schema_of

START = "from ralph_tracker.cli.app import main; main()"

PASSED_OVER = "Not taken: 4 gains no test, and its score of 81.7 % is below 98.8 %"


def test_it_ends_with_the_sentence_the_chart_and_the_commit_to_take(branch, ralph):
    code, out, _ = ralph("replay", "v0..HEAD", "--jobs", "2")
    *told, chart, _read, take, step, more = out.splitlines()
    best = branch.git("rev-parse", "--short=10", "HEAD~3")
    assert (code, take) == (0, f"Take {best} Add two")
    end = " ".join(" ".join(told).partition("Selected iteration 1 ")[2].split())
    assert f"Quality degraded after iteration 1 {PASSED_OVER}" in end
    assert len(chart.split()[0]) == 5
    assert f"git switch --detach {best}" in step + more
    assert "CRITICAL it3-build_broken: Does not build" in out
    code, again, _ = ralph("replay", "v0..HEAD")
    assert (code, "5 of 5 were measured before" in again, again.splitlines()[-3:]) == (0, True, [take, step, more])


def test_each_commit_that_does_not_build_has_its_own_error_although_the_alert_is_open_already(branch, ralph):
    branch.step("Break", {"measure.sh": "echo 'app.c:3:5: error: first' >&2\nexit 1\n"})
    branch.step("Break more", {"measure.sh": "echo 'app.c:4:1: error: second' >&2\nexit 1\n"})
    _, out, _ = ralph("replay", "HEAD~2..HEAD")
    found = [line.strip() for line in out.splitlines() if "Does not build" in line]
    assert found == [
        "CRITICAL it1-build_broken: Does not build: app.c:3:5: error: first",
        "Does not build: app.c:4:1: error: second",
    ]


def test_a_build_check_that_fails_is_reported_with_the_compilers_line(branch, ralph):
    branch.configure(
        {
            "build": {"run": "sh build.sh"},
            "tests": {"run": "sh measure.sh {reports}", "reports": ["{reports}/junit.xml"]},
        }
    )
    branch.step("Break", {"build.sh": "echo 'app.c:3:5: error: first' >&2\nexit 1\n"})
    branch.step("Build", {"build.sh": "exit 0\n"})
    _, out, _ = ralph("replay", "HEAD~1..HEAD")
    assert out.count("Does not build: app.c:3:5: error: first") == 1


def test_the_remaining_time_goes_by_the_commits_that_were_measured_in_this_run():
    remaining = TimeEstimate(jobs=2, now=0.0)
    steps = [(50.0, True), (60.0, False), (60.0, False), (70.0, True), (300.0, False), (301.0, False)]
    assert [remaining.after(5 - at, now, cached=cached) for at, (now, cached) in enumerate(steps)] == [
        *("5 left", "4 left", "3 left, about 15 s", "2 left, about 20 s", "1 left, about 83 s", "")
    ]


def test_its_document_is_as_published_and_the_loop_is_there_for_other_verbs(branch, ralph):
    code, out, _ = ralph("replay", "v0..HEAD", "--json")
    document = json.loads(out)
    jsonschema.validate(document, schema_of(SCHEMAS["replay"]))
    assert (code, document["take"]) == (0, branch.git("rev-parse", "HEAD~3"))
    assert [each["subject"] for each in document["commits"]] == ["Begin", "Add two", "Lose most", "Break", "Mend"]
    assert [each["iteration"] for each in document["commits"] if each["selected"]] == [1]
    (passed_over,) = document["passed_over"]
    assert passed_over.startswith(PASSED_OVER)
    assert document["questions"] == []
    assert "Add two" in ralph("show", "1", "--loop-id", document["loop_id"])[1]
    assert ralph("verify")[0] == ralph("report", "3")[0] == 0


def test_a_range_that_is_none_is_one_line_and_exit_code_1(ralph):
    code, out, err = ralph("replay", "HEAD")
    assert (code, out) == (1, "")
    assert err.startswith("ralph-tracker: HEAD: no range of commits; write FROM..TO")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_ended_by_a_signal_it_leaves_no_check_running_and_the_next_one_goes_on(branch, ralph, tmp_path, number):
    started = tmp_path / "started"
    # By then its group is watched: where several jobs run, that is a moment after its start.
    wait = f"test -e {tmp_path}/go || {{ sleep 0.5; echo $$ > {started}; sleep 120; }}"
    branch.running(f"test ! -e notes.txt || {wait}")
    words = [sys.executable, "-c", START, "replay", "v0..HEAD", "--root", str(branch.root)]
    with subprocess.Popen(
        words, env={**os.environ, "TMPDIR": str(tmp_path)}, start_new_session=True, stderr=subprocess.PIPE, text=True
    ) as process:
        while not (started.exists() and started.read_text().strip()):
            time.sleep(0.05)
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode in {-number, 128 + number}
    assert number == signal.SIGKILL or err.endswith("; the same command continues\n")
    pid = int(started.read_text())
    for _ in range(100):
        if not os.path.exists(f"/proc/{pid}"):  # noqa: PTH110  # no file of ours
            break
        time.sleep(0.1)
    assert not os.path.exists(f"/proc/{pid}")  # noqa: PTH110  # as above
    (tmp_path / "go").touch()
    code, out, _ = ralph("replay", "v0..HEAD")
    assert (code, "Take " in out) == (0, True)
