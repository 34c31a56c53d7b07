"""The demo as a user runs it, once; then iterations measured again by hand, from what was kept."""

import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.agents.scripted import ScriptedAgent
from ralph_tracker.cli import demo
from ralph_tracker.cli.app import run
from ralph_tracker.errors import ConfigError, InputError
from ralph_tracker.tracker import Tracker
from tests.columns import wider_than_80

pytestmark = pytest.mark.slow

needs_ruff = pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="ruff is not importable here")


@dataclass(frozen=True)
class Shown:
    """What the demo printed and what it left on record."""

    code: int
    out: str
    root: Path
    records: list[dict[str, Any]]
    selection: dict[str, Any]

    @property
    def tracker(self) -> Tracker:
        return Tracker(self.root, environment={})


def ralph(*arguments: object) -> tuple[int, str]:
    with redirect_stdout(io.StringIO()) as out:
        code = run([str(argument) for argument in arguments])
    return code, out.getvalue()


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    root = tmp_path_factory.mktemp("demo") / "project"
    with pytest.MonkeyPatch.context() as patch:  # as for a user who has accepted nothing before
        patch.delenv("RALPH_TRACKER_TRUST")
        patch.setenv("XDG_STATE_HOME", str(root.parent / "state"))
        code, out = ralph("demo", "--folder", root)
        loop = ("--root", root, "--loop-id", "ralph-001", "--json")
        assert code == 0, out
        records = json.loads(ralph("history", *loop)[1])
        selection = json.loads(ralph("select-best", "--apply", "none", *loop)[1])
    told = [record["iteration_metrics"] | {"decision": record["recommendation"]} for record in records]
    return Shown(code, out, root, told, selection["best_output_selection"])


@needs_ruff
def test_the_demo_tells_the_whole_story(shown):
    assert shown.code == 0
    assert len(shown.records) - 1 >= 6
    for number in range(len(shown.records)):
        assert re.search(rf"^ *{number}  [0-9.]+ +\S[^→]* →\s+\S", shown.out, re.MULTILINE)
    assert wider_than_80(shown.out) == []
    assert "Stopped: No meaningful progress for 3 iterations" in shown.out
    assert shown.records[-1]["classification"] == "stalled"
    paths = re.findall(rf"{re.escape(str(shown.root))}/\.aiwg\S+", shown.out)
    assert len(paths) == 4
    assert [path for path in paths if not Path(path).exists()] == []


@needs_ruff
def test_the_deleted_test_is_caught_and_rolled_back(shown):
    alerts = [(it["iteration"], alert) for it in shown.records for alert in it["alerts"]]
    ((number, alert),) = [(number, alert) for number, alert in alerts if alert["type"] == "failure_hidden"]
    assert alert["severity"] == "CRITICAL"
    decision = shown.records[number]["decision"]
    assert decision["action"] == "rollback"
    assert shown.records[number + 1]["previous_iteration"] == decision["target_iteration"] < number
    assert f"rolled back: the working tree is iteration {decision['target_iteration']} again" in shown.out
    assert [it["iteration"] for it in shown.records if it["decision"]["action"] == "rollback"] == [number]


@needs_ruff
def test_the_peak_is_selected_and_not_the_last(shown):
    selected, last = shown.selection["selected_iteration"], shown.records[-1]["iteration"]
    scores = [it["adjusted_score"] for it in shown.records]
    assert 0 < selected < last
    assert scores.count(max(scores)) == 1
    assert scores[selected] == max(scores)
    (marked,) = [line for line in shown.out.splitlines() if line.endswith("← best")]
    assert marked.split()[0] == str(selected)


@needs_ruff
def test_after_the_peak_everything_gets_worse(shown):
    peak, last = shown.records[shown.selection["selected_iteration"]], shown.records[-1]
    assert last["testing"]["coverage_percentage"] < peak["testing"]["coverage_percentage"]
    assert last["quality"]["lint_errors"] > peak["quality"]["lint_errors"]
    assert last["codebase"]["loc_total"] > peak["codebase"]["loc_total"]


def files(folder: Path) -> dict[str, bytes]:
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return {str(path): (folder / path).read_bytes() for path in paths if path.parts[0] != ".aiwg"}


@needs_ruff
def test_the_output_is_what_the_peak_changed(shown):
    shown.tracker.restore(0)
    before = files(shown.root)
    shown.tracker.restore(shown.selection["selected_iteration"])
    after = files(shown.root)
    assert before.keys() <= after.keys()
    changed = {path: data for path, data in after.items() if before.get(path) != data}
    assert changed
    assert files(shown.root / ".aiwg" / "output") == changed


def by_hand(root: Path, *words: str) -> str:
    """Run a tool as a person would, and return what it says."""
    environment = dict(demo.environment()) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False).stdout


def counted(text: str, word: str) -> int:
    found = re.search(rf"([0-9]+) {word}", text)
    return int(found[1]) if found else 0


def measured_by_hand(root: Path) -> dict[str, Any]:
    """Read what the tools print for people, not the reports that the tracker reads."""
    tests = by_hand(root, "coverage", "run", "-m", "pytest").splitlines()[-1]
    coverage = by_hand(root, "coverage", "report", "--format=total", "--precision=1")
    return {
        "passed": counted(tests, "passed"),
        "failed": counted(tests, "failed"),
        "coverage": float(coverage),
        "findings": counted(by_hand(root, "ruff", "check"), "errors?"),
    }


def recorded(it: dict[str, Any]) -> dict[str, Any]:
    testing, quality = it["testing"], it["quality"]
    assert testing["test_count"] == testing["tests_passed"] + testing["tests_failed"]
    return {
        "passed": testing["tests_passed"],
        "failed": testing["tests_failed"],
        "coverage": testing["coverage_percentage"],
        "findings": quality["lint_errors"] + quality["lint_warnings"],
    }


@needs_ruff
def test_measured_by_hand_the_baseline_and_the_peak_are_what_their_records_say(shown, tmp_path):
    for number in (0, shown.selection["selected_iteration"]):
        shown.tracker.restore(number)
        tree = tmp_path / str(number)
        shutil.copytree(shown.root, tree, ignore=shutil.ignore_patterns(".aiwg"))
        assert measured_by_hand(tree) == recorded(shown.records[number])


MAIN = "from ralph_tracker.cli.app import main; main()"


def test_a_folder_that_is_not_to_be_kept_is_removed_whatever_happens(tmp_path):
    """No file may be larger than a few blocks: what is measured is cut off, and the loop cannot begin."""
    root = tmp_path / "gone"
    limited = ["/bin/sh", "-c", 'ulimit -f 4; exec "$@"', "sh", sys.executable, "-c", MAIN]
    # Nor could it write what `make suite NAME=coverage` measures of it.
    unmeasured = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"}
    demo = [*limited, "demo", "--folder", str(root), "--no-keep"]
    done = subprocess.run(demo, env=unmeasured, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.fullmatch(r"ralph-tracker: .*(File too large|no tests).*\n", done.stderr.splitlines(keepends=True)[-1])
    assert not root.exists()


def test_an_agent_with_nothing_left_to_do_ends_the_loop(tmp_path):
    assert list(demo.refine(Tracker(tmp_path), ScriptedAgent(()))) == []


def test_a_folder_with_something_in_it_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert run(["demo", "--folder", str(tmp_path), "--no-keep"]) == 1
    assert "is not empty; name a new folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(InputError):
        demo.make_project(tmp_path)


def test_without_a_folder_a_new_temporary_one_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first, second = demo.make_project(None), demo.make_project(None)
    assert first != second
    assert first.parent == second.parent == tmp_path.resolve()
    assert files(first) == files(second)


def test_tools_that_cannot_be_installed_are_told_in_one_line(tmp_path, capsys):
    root = tmp_path / "file"
    root.write_text("no folder, so nothing can be made below it")
    with pytest.raises(ConfigError, match=r"^no_such cannot be installed .*; run `.* -m pip install no_such`") as told:
        demo.python_with_tools(root, ["no_such"])
    assert "\n" not in str(told.value)
    said = capsys.readouterr().out
    assert said == f"no_such not found in ralph-tracker's environment: installing no_such into {root / '.venv'}\n"
