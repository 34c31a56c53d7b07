"""What the clients themselves say of our plugins."""

import pytest

from tests.clients.clients import CLAUDE, GEMINI_CLI
from tests.clients.conftest import made_project

_DIRECTORY = ("--profile", "directory")  # what the public directory would refuse; older versions have no profiles
VALIDATED = {
    "claude-code": (CLAUDE, ("plugin", "validate", "--strict")),
    "gemini": (GEMINI_CLI, ("extensions", "validate")),
}


@pytest.mark.parametrize("name", VALIDATED)
def test_a_plugin_is_valid(tmp_path, name):
    client, words = VALIDATED[name]
    project = made_project(tmp_path, client, client.installed())
    folder = tmp_path / "plugin"
    project.ours("agent", "install", name, "--plugin", str(folder))
    program = str(project.program)
    if name == "claude-code" and "--profile" in project._run(program, *words, "--help").stdout:
        words += _DIRECTORY
    done = project._run(program, *words, str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    manifest = next(folder.glob("gemini-extension.json"), folder / ".claude-plugin/plugin.json")
    manifest.write_text("{}")
    assert project._run(program, *words, str(folder)).returncode != 0, "a validator that finds nothing"
