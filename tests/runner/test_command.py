"""The prompt gets into the agent's command where the command wants it."""

import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tracker.errors import InputError
from ralph_tracker.runner.agent_commands import BACKENDS, PreparedCommand, prepare_command
from tests.tables import table

FILE = Path("/loop/prompt.md")
COMMANDS = {
    "neither: standard input": (["claude", "-p"], PreparedCommand(("claude", "-p"), FILE)),
    "as an argument": (["a", "{prompt}"], PreparedCommand(("a", "do {prompt_file}"), None)),
    "inside an argument": (["a", "--say={prompt}!"], PreparedCommand(("a", "--say=do {prompt_file}!"), None)),
    "as a file": (["a", "-f", "{prompt_file}"], PreparedCommand(("a", "-f", "/loop/prompt.md"), None)),
    "both": (["{prompt_file}", "{prompt}"], PreparedCommand(("/loop/prompt.md", "do {prompt_file}"), None)),
    "braces that are none of ours": (["a", "{x}", "{}"], PreparedCommand(("a", "{x}", "{}"), FILE)),
}


@table("name", COMMANDS)
def test_where_the_prompt_goes(name):
    """A placeholder that the prompt itself speaks of stays what it is."""
    command, expected = COMMANDS[name]
    assert prepare_command(command, "do {prompt_file}", FILE) == expected


@pytest.mark.parametrize("name", BACKENDS)
def test_a_backend_takes_words_of_a_person_before_its_prompt(name):
    whole = BACKENDS[name].command(("--model", "m"))
    assert whole[0] == name
    assert tuple(word for word in whole if word not in {"--model", "m"}) == BACKENDS[name].command()
    assert whole[-1:] == BACKENDS[name].ends[-1:] or whole[-2:] == ("--model", "m")


def test_the_page_names_the_command_of_each_backend():
    page = (Path(__file__).parents[2] / "docs" / "run.md").read_text()
    for backend in BACKENDS.values():
        assert " ".join(backend.command()) in " ".join(page.replace("\\\n", " ").split())


@pytest.mark.parametrize(
    ("prompt", "words"),
    [("a\0b", "holds a NUL"), ("ä" * 65_536, r"131,072 bytes, more than an argument can have \(131,071\)")],
)
def test_a_prompt_that_cannot_be_an_argument_is_refused(prompt, words):
    with pytest.raises(InputError, match=words):
        prepare_command(["a", "{prompt}"], prompt, FILE)
    assert prepare_command(["a", "{prompt_file}"], prompt, FILE).argv == ("a", "/loop/prompt.md")


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_the_longest_argument_is_one_that_the_system_takes():
    """So long, and no longer: asked of the system itself."""
    subprocess.run(["/bin/true", "a" * 131_071], check=True)
    with pytest.raises(OSError, match="too long"):
        subprocess.run(["/bin/true", "a" * 131_072], check=True)
