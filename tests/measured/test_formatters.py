"""A formatter that reaches our records is not taken for an agent that edits them."""

import json
import os
import subprocess
import sys

import pytest

from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.tracker import Tracker

FORMAT = """import json, os, pathlib
for path in pathlib.Path('.').rglob('*.json'):
    path.chmod(0o644)
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2))
"""
CHECKS = {"checks": {"tidy": {"run": "python3 ../format.py", "kind": "build"}}}


@pytest.fixture
def tracker(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "format.py").write_text(FORMAT)
    (root / "ralph-tracker.yaml").write_text(json.dumps(CHECKS))
    (root / "app.py").write_text("def one():\n    return 1\n")
    tracker = Tracker(root, environment={"PATH": os.environ["PATH"]})
    tracker.pre_loop(None)
    return tracker


def test_a_check_that_formats_records_is_named_and_the_agent_is_not_blamed(tracker):
    turn = tracker.post_iteration(None, fresh=True)
    assert turn.record.integrity.verdict == "PASS"
    (note,) = [note for note in turn.record.notes if note.startswith("records_changed_by_checks")]
    assert "tidy rewrote .aiwg/ralph/ralph-001/continuation.json and 8 more, put back as recorded" in note


def test_records_in_another_layout_are_not_edited(tracker):
    paths = tracker.store().paths
    for path in paths.iteration(0).glob("*.json"):
        path.write_text(json.dumps(json.loads(path.read_text()), indent=4, ensure_ascii=False))
    record = paths.record(0)
    record.write_text(json.dumps(load_yaml(record.read_text(), "record"), indent=2))  # JSON is YAML, too
    assert tracker.post_iteration(None).record.integrity.verdict == "PASS"


def test_a_value_that_differs_is_an_edit_in_any_layout(tracker):
    path = tracker.store().paths.iteration(0) / "measurement.json"
    document = json.loads(path.read_text())
    document["measurement"]["timestamp"] = "2020-01-01T00:00:00Z"
    path.write_text(json.dumps(document, indent=4))
    assert tracker.post_iteration(None).record.integrity.verdict == "TAMPERED"


def test_the_folder_of_loops_hides_itself_from_git_biome_prettier_and_eslint(tracker):
    base = tracker.store().paths.root / ".aiwg" / "ralph"
    assert (base / ".gitignore").read_text() == "*\n"
    assert json.loads((base / "biome.json").read_text()) == {"root": False, "files": {"includes": ["!**"]}}
    assert json.loads((base / ".prettierrc").read_text())["requirePragma"]
    assert 'ignores: ["**"]' in (base / "eslint.config.mjs").read_text()


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize(
    ("commands", "shown"),
    [
        (("pytest -q -p no:cacheprovider --collect-only",), "test_app.py::test_one"),
        (("coverage run --source=. -m pytest -q -p no:cacheprovider", "coverage report"), "test_app.py"),
        (("mypy --cache-dir={folder} .",), "2 source files"),
    ],
    ids=["pytest", "coverage", "mypy"],
)
def test_a_tool_of_python_that_is_run_over_everything_reads_none_of_our_records(tracker, tmp_path, commands, shown):
    pytest.importorskip(commands[0].partition(" ")[0])
    root = tracker.store().paths.root
    (root / "test_app.py").write_text("import app\n\n\ndef test_one() -> None:\n    assert app.one() == 1\n")
    tracker.post_iteration(None)
    assert list((root / ".aiwg").rglob("test_app.py"))
    printed = ""
    for command in commands:
        words = [sys.executable, "-m", *command.format(folder=tmp_path / "cache").split()]
        done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
        printed += done.stdout + done.stderr
        assert done.returncode == 0, printed
    assert (shown in printed, ".aiwg" in printed) == (True, False), printed
