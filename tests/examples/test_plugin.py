"""The distribution in examples/plugin, installed beside ralph-tracker: its format, host, exporter, metric and mode."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
VALE = {"docs/a.md": [{"Check": "Vale.Spelling", "Span": [1, 3], "Line": 4, "Severity": "error", "Message": "'teh'?"}]}
REPORT = '<testsuite><testcase classname="t" name="one"/></testsuite>'

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Return the interpreter of an environment with ralph-tracker and the example installed."""
    pytest.importorskip("hatchling", reason="hatchling is missing: make suite NAME=examples")
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (site / "ours.pth").write_text(f"{CHECKOUT}\n{sysconfig.get_path('purelib')}\n")
    source = folder / "plugin"
    shutil.copytree(CHECKOUT / "examples" / "plugin", source)
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    subprocess.run([*install, "--no-build-isolation", str(source)], check=True, timeout=120)
    return python


@pytest.fixture
def call(program, tmp_path):
    """Return what calls ralph-tracker in a project; what it prints is returned."""
    (tmp_path / "results.xml").write_text(REPORT)
    (tmp_path / "ralph-tracker.yaml").write_text(
        'checks:\n  tests: {run: "cp results.xml {reports}/junit.xml", reports: ["{reports}/junit.xml"]}\n'
    )

    def run(*words, given=""):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RALPH_")}
        done = subprocess.run(
            [program, "-m", "ralph_tracker", *words],
            cwd=tmp_path,
            env={**environment, "RALPH_TRACKER_TRUST": "1"},
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stderr == ""
        return done.stdout

    return run


def test_doctor_names_each_of_them(call):
    lines = [line for line in call("doctor").splitlines() if "ralph-tracker-example" in line]
    assert lines == [
        f"ok       {what}: a plug-in of ralph-tracker-example 1.0"
        for what in ("format vale-json", "host acme", "exporter markdown", "metric todos", "mode first_good")
    ]


def test_its_format_is_recognised_and_counted(call):
    shown = call("read", "-", given=json.dumps(VALE))
    assert shown == "-: lint (vale-json): 1 results, 1 errors, 0 warnings, 0 notes, 0 suppressed\n"


def test_its_exporter_writes_a_loop(call):
    call("hook", "pre-loop")
    assert call("export", "--to", "markdown").splitlines()[2] == "| ralph-001 | 0 | 1.0 | 1 |"


def test_its_metric_is_on_record_and_shown_and_no_part_of_the_score(call, tmp_path):
    with (tmp_path / "ralph-tracker.yaml").open("a") as file:
        file.write("metrics: {todos: {}}\n")
    call("hook", "pre-loop")
    (tmp_path / "app.py").write_text("one = 1  # TODO: two\n")
    record = json.loads(call("hook", "post-iteration", "--json"))["iteration_metrics"]
    assert record["metrics"] == {"todos": {"value": 1, "unit": "", "direction": "down"}}
    assert "todos" not in record["components"]
    for words in (("show", "1"), ("report", "1")):
        assert " 1 " in next(line for line in call(*words).splitlines() if "todos" in line)


def test_its_mode_selects_with_its_reason_where_the_configuration_or_the_command_names_it(call, tmp_path):
    with (tmp_path / "ralph-tracker.yaml").open("a") as file:
        file.write("selection: {mode: first_good}\n")
    call("hook", "pre-loop")
    for _ in range(2):
        call("hook", "post-iteration")
    for words in ((), ("--mode", "first_good")):
        selected = json.loads(call("select-best", "--json", "--apply", "none", *words))["best_output_selection"]
        assert (selected["selected_iteration"], selected["mode"]) == (1, "first_good")
        assert selected["selection_rationale"][0] == "Iteration 1 is the first with a score of 0.7 or more"


def test_its_host_is_answered(call, tmp_path):
    call("hook", "pre-loop")
    (tmp_path / "results.xml").write_text(REPORT.replace("/></", "><failure/></testcase></"))
    held = json.loads(call("agent", "hook", "acme", given='{"event": "turn_end", "data": {"session_id": "s"}}'))
    assert held["action"] == "continue"
    assert "ralph-001" in held["text"] or "Iteration" in held["text"]


def test_a_name_that_nobody_adds_is_refused_with_the_nearest(program, tmp_path):
    done = subprocess.run(
        [program, "-m", "ralph_tracker", "export", "--to", "markdwon"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "no destination 'markdwon'; did you mean markdown?" in done.stderr
