"""The prompt gets into the agent's command where the command wants it."""

import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tracker.errors import InputError
from ralph_tracker.runner.agent_commands import BACKENDS, PreparedCommand, prepare_command, within_budget
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
    assert whole[0] == {"cursor": "cursor-agent"}.get(name, name)
    assert tuple(word for word in whole if word not in {"--model", "m"}) == BACKENDS[name].command()
    assert whole[-1:] == BACKENDS[name].ends[-1:] or whole[-2:] == ("--model", "m")


@pytest.mark.parametrize(("left", "told"), [(1.5, "1.50"), (0.001, "0.01")])
def test_what_is_left_to_spend_is_told_to_a_client_that_takes_it(left, told):
    claude, codex = (BACKENDS[name].command(("--model", "m")) for name in ("claude", "codex"))
    limited = within_budget(claude, left)
    at = limited.index("--max-budget-usd")
    assert (limited[at + 1], (*limited[:at], *limited[at + 2 :])) == (told, claude)
    assert within_budget(codex, left) == codex
    assert within_budget(("claude", "-p"), left) == ("claude", "-p"), "the command is a user's own"
    own = (*claude, "--max-budget-usd", "9")
    assert within_budget(own, left) == own


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
