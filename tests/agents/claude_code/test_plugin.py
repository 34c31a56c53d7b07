"""A plugin folder: written, brought up to date, taken away, and never somebody else's."""

import json
from pathlib import Path

import pytest

from ralph_tracker.agents.claude_code import plugin
from ralph_tracker.errors import InputError

PROGRAM = Path("/opt/with space/bin/ralph-tracker")


def test_it_is_written_and_taken_away(tmp_path):
    folder = tmp_path / "plugin"
    assert plugin.install(folder, PROGRAM) == f"{folder}: plugin written"
    assert json.loads((folder / ".claude-plugin" / "plugin.json").read_text())["name"] == "ralph-tracker"
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    assert hooks["Stop"][0]["hooks"][0]["command"] == "'/opt/with space/bin/ralph-tracker' agent hook claude-code"
    assert plugin.uninstall(folder) == f"{folder}: taken out"
    assert not folder.exists()


def test_it_can_be_brought_up_to_date(tmp_path):
    plugin.install(tmp_path / "plugin", Path("/old/ralph-tracker"))
    plugin.install(tmp_path / "plugin", PROGRAM)
    for name, text in plugin.plugin_files(PROGRAM).items():
        assert (tmp_path / "plugin" / name).read_text() == text


def test_what_else_is_in_the_folder_stays(tmp_path):
    plugin.install(tmp_path, PROGRAM)
    (tmp_path / "hooks" / "mine").touch()
    plugin.uninstall(tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["hooks", "mine"]


def test_a_folder_that_is_something_else_is_refused(tmp_path):
    (tmp_path / "mine").touch()
    for act in (lambda: plugin.install(tmp_path, PROGRAM), lambda: plugin.uninstall(tmp_path)):
        with pytest.raises(InputError, match="something else than our plugin"):
            act()
    with pytest.raises(InputError, match="no folder"):
        plugin.install(tmp_path / "mine", PROGRAM)


def test_an_empty_folder_has_nothing_of_ours(tmp_path):
    assert plugin.uninstall(tmp_path) == f"{tmp_path}: nothing of ralph-tracker is installed there"
    assert plugin.uninstall(tmp_path / "none") == f"{tmp_path / 'none'}: nothing of ralph-tracker is installed there"
