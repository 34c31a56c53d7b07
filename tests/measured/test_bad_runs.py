"""Whatever a check does, the iteration is on record with a word on what is missing, and the next one works."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.errors import ConfigError
from ralph_tracker.store.iteration_snapshots import OUTPUT_KEPT

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + ']><testsuite tests="1"><testcase name="&j;"/></testsuite>'
)
HANDS_ON = 'cp results.xml "$1/junit.xml"\n'


def test_a_check_that_makes_the_iterations_folder_first_costs_no_iteration(workshop):
    place = ".aiwg/ralph/ralph-001/iterations/iteration-00"
    workshop.write("measure.sh", f"number=$(cat number); mkdir -p {place}$number/x\n{HANDS_ON}")
    for number in range(3):
        workshop.write("number", f"{number}\n")
        made = workshop.turn() if number else workshop.start()
        assert (made.iteration, made.metrics.test_count) == (number, 4)
    checked = subprocess.run(
        [sys.executable, "-m", "ralph_tracker", "verify"],
        cwd=workshop.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.stdout.startswith("3 iterations checked: every file is there")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        pytest.param("exit 0\n", "check `tests` did not write ", id="report absent"),
        pytest.param(': > "$1/junit.xml"\n', "empty", id="report empty"),
        pytest.param('head -c 60 results.xml > "$1/junit.xml"\n', "junit.xml: ", id="report truncated"),
        pytest.param('cp bomb.xml "$1/junit.xml"\n', "entit", id="entity bomb"),
        pytest.param(
            'printf "\\377\\376 nothing" > "$1/junit.xml"\n', "not a report of a known format", id="no report"
        ),
        pytest.param('mkdir "$1/junit.xml"\n', ": not a file", id="folder in its place"),
        pytest.param('mkfifo "$1/junit.xml"\n', ": not a file", id="pipe in its place"),
        pytest.param("kill -9 $$\n", "killed by SIGKILL", id="killed by a signal"),
        pytest.param("sleep 60 & sleep 60\n", "ended at its time limit", id="time-out"),
        pytest.param("exec no-such-command\n", "exit 127", id="command of the script missing"),
        pytest.param("yes 0123456789 | head -c 50000000\n", "did not write", id="50 MB of output"),
        pytest.param("printf '\\377\\200 no text' >&2\nexit 3\n", "exit 3", id="output that is no UTF-8"),
        pytest.param('cp coverage.json "$1/junit.xml"\n', "a report of coverage, not of tests", id="another report"),
    ],
)
def test_a_run_that_measures_nothing_is_one_alert_and_the_next_iteration_works(workshop, script, why):
    shop = workshop
    check = {"run": ["/bin/sh", "measure.sh", "{reports}"], "reports": ["{reports}/junit.xml"], "timeout": 2}
    shop.configure({"tests": {**check, "kind": "tests"}}).write("bomb.xml", BOMB)
    shop.write("coverage.json", '{"meta": {}, "files": {}, "totals": {"covered_lines": 0, "num_statements": 0}}')
    shop.start()
    shop.write("measure.sh", script)
    broken = shop.turn()
    assert [alert.type for alert in broken.alerts] == ["metric_missing"]
    assert why in str(broken.alerts[0].to_dict())
    assert broken.metrics.test_count is None
    assert "\n" not in broken.alerts[0].message
    shop.write("measure.sh", HANDS_ON)
    fixed = shop.turn()
    assert (fixed.metrics.test_count, fixed.alerts, fixed.open_alerts) == (4, (), ())
    kept = [path.stat().st_size for path in shop.paths.iterations.rglob("output/*")]
    assert all(0 < size < OUTPUT_KEPT + 200 for size in kept)
    assert run(["verify", "--root", str(shop.root)]) == 0


def test_a_report_at_a_fixed_path_that_is_not_rewritten_is_stale(workshop):
    shop = workshop.configure({"tests": {"run": ["/bin/sh", "measure.sh", "."], "reports": ["junit.xml"]}})
    shop.start()
    shop.write("measure.sh", "exit 0\n")
    assert "left from an earlier run, not rewritten by this one" in str(shop.turn().alerts[0].to_dict())
    shop.passing(5).write("measure.sh", HANDS_ON)
    assert shop.turn().metrics.test_count == 5


def test_a_time_limit_ends_the_whole_tree_of_processes(workshop):
    shop = workshop.configure(
        {"tests": {"run": ["/bin/sh", "measure.sh", "{reports}"], "reports": ["-"], "timeout": 1}}
    )
    inner = "import os,time;open('pids','a').write(str(os.getpid())+'\\n');time.sleep(60)"
    shop.write("measure.sh", f'{sys.executable} -c "{inner}" & {sys.executable} -c "{inner}"\n')
    shop.start(allow_missing=True)
    pids = [int(line) for line in (shop.root / "pids").read_text().split()]
    assert pids
    deadline = time.monotonic() + 5
    while any(map(runs, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(runs, pids))


def runs(pid: int) -> bool:
    """Tell whether a process is there and not merely waiting to be reaped."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.parent.parent.joinpath("self").exists():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    "command", [["no-such-command", "-q"], "no-such-command -q", ["./missing.sh"]], ids=["argv", "shell", "path"]
)
def test_a_command_that_is_missing_ends_pre_loop_with_the_next_step(workshop, command, capsys):
    shop = workshop.configure({"tests": {"run": command, "reports": ["{reports}/junit.xml"]}})
    with pytest.raises(ConfigError, match=r"checks\.tests: command not found.*--allow-missing") as refused:
        shop.start()
    assert "\n" not in str(refused.value)
    assert not shop.paths.iteration(0).exists()
    assert run(["hook", "pre-loop", "--root", str(shop.root), "--allow-missing"]) == 0
    assert "metric_missing" in capsys.readouterr().out


def test_a_command_that_goes_missing_later_is_an_alert(workshop):
    shop = workshop.configure({"tests": {"run": ["./measure.sh", "{reports}"], "reports": ["{reports}/junit.xml"]}})
    shop.write("measure.sh", f"#!/bin/sh\n{HANDS_ON}").chmod(0o755)
    shop.start()
    (shop.root / "measure.sh").unlink()
    record = shop.turn()
    assert [alert.type for alert in record.alerts] == ["metric_missing"]
    assert "command not found: ./measure.sh" in str(record.alerts[0].to_dict())
    shop.write("measure.sh", f"#!/bin/sh\n{HANDS_ON}").chmod(0o755)
    assert shop.turn().metrics.test_count == 4


def test_a_check_that_writes_into_the_tree_is_named_and_what_it_wrote_is_not_kept(workshop):
    shop = workshop
    shop.write("measure.sh", HANDS_ON + 'echo spoiled > app.py; printf x > "wri\nten.txt"\n')
    code = shop.root.joinpath("app.py").read_bytes()
    first = shop.start()
    assert "tree_changed_by_checks: app.py, wri\\nten.txt; add to .gitignore: wri\\nten.txt" in first.notes
    assert first.metrics.loc_total == 2
    assert shop.tracker.post_iteration(None, iteration=1).new
    assert not shop.tracker.post_iteration(None, iteration=1).new
    shop.tracker.restore(0)
    assert shop.root.joinpath("app.py").read_bytes() == code
    assert not (shop.root / "wri\nten.txt").exists()


def test_a_pipe_that_a_check_leaves_among_its_reports_blocks_nobody(workshop):
    workshop.write("measure.sh", HANDS_ON + 'mkfifo "$1/pipe"; ln -s /dev/zero "$1/link"\n')
    workshop.start()
    assert sorted(path.name for path in (workshop.paths.iteration(0) / "reports").iterdir()) == ["junit.xml", "link"]
    assert run(["verify", "--root", str(workshop.root)]) == 0


def test_what_nobody_can_measure_is_an_alert_that_says_why(workshop):
    shop = workshop.configure({"tests": {"run": ["true"]}, "types": {"run": ["true"], "reports": ["gone.txt"]}})
    alerts = {str(alert.note or alert.message) for alert in shop.start(allow_missing=True).alerts}
    assert any("tests: the check names no report file" in alert for alert in alerts)
    assert any("did not write gone.txt" in alert for alert in alerts)


def test_an_agent_that_still_writes_is_noted_and_shown_and_the_next_iteration_is_whole(workshop, capsys):
    shop = workshop
    large = shop.write("../large.bin", os.urandom(4 << 20))  # it takes its time to be read
    shop.start()
    writing = f"while :; do cp {large.resolve()} busy.bin; done"
    agent = subprocess.Popen(["/bin/sh", "-c", writing], cwd=shop.root)
    try:
        for _ in range(10):  # where it never gets its turn while we read, there is nothing to note
            assert run(["hook", "post-iteration", "--root", str(shop.root)]) == 0
            said = capsys.readouterr().out
            if "quiescent" in said:
                break
    finally:
        agent.kill()
        agent.wait()
    note = "quiescent: false; the tree was being written to while it was read"
    assert f"  note: {note}\n" in said
    number = shop.tracker.store().summary().iteration
    assert note in shop.paths.report(number).read_text()
    assert not json.loads((shop.paths.iteration(number) / "manifest.json").read_bytes())["quiescent"]
    assert note not in shop.turn().notes
