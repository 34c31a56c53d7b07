"""Help: every verb explains itself within 80 columns."""

import re

import pytest

from ralph_tracker.cli.verbs import VERBS

PHASES = ("pre-loop", "post-iteration", "loop-decision", "post-loop")
COMMANDS = [(), *((verb,) for verb in VERBS), *(("hook", phase) for phase in PHASES)]


@pytest.fixture
def helped(project):
    """Return a function that asks a command for its help."""

    def ask(*command: str) -> str:
        answer = project.plainly(*command, "--help")
        assert (answer.code, answer.err) == (0, "")
        return answer.out

    return ask


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command) or "program")
def test_every_command_explains_itself_within_80_columns(helped, project, command):
    text = helped(*command)
    assert text.startswith(f"Usage: {' '.join(['ralph-tracker', *command])} ")
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "..." not in text.replace("COMMAND [ARGS]...", "")
    assert project.plainly(*command, "-h").out == text


def test_the_help_of_the_program_names_every_verb_with_its_line(helped):
    text = helped()
    for verb, line in VERBS.items():
        assert re.search(rf"^  {verb} +{re.escape(line[:30])}", text, re.MULTILINE)


def test_the_help_of_the_program_has_groups_with_an_example_of_one_of_their_verbs(helped):
    groups = helped().split("\n\n")[3:]
    assert len(groups) == 5
    for group in groups:
        example = re.search(r"^  example: ralph-tracker ([\w-]+)", group, re.MULTILINE)[1]
        assert re.search(rf"^  {example} ", group, re.MULTILINE)


def test_every_option_says_what_it_is(helped):
    for command in COMMANDS:
        options = helped(*command).partition("Options:\n")[2].partition("\n\n")[0]
        for entry in re.split(r"\n(?=  -)", options):
            words = re.sub(r"^  (-\w, )?--[\w-]+( \S+)?", "", entry, count=1).split()
            assert len(words) > 1, entry


def test_the_version_is_one_line_asked_for_shortly_or_not(project):
    plain = project.plainly("--version")
    assert re.fullmatch(r"ralph-tracker \d+\.\d+\.\d+\S*\n", plain.out)
    assert project.plainly("--version", "status") == plain


def test_phases_take_hyphens_and_underscores(project, metrics_of):
    metrics = project.file("metrics.json", metrics_of())
    assert project.ralph("hook", "pre_loop", "--metrics", metrics).code == 0
    assert project.ralph("hook", "post_iteration", "--metrics", metrics).code == 0
    assert project.ralph("hook", "loop_decision").code == 0
    assert project.ralph("hook", "post_loop").code == 0
