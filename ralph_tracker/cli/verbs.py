"""Define the table of verbs; a verb's module is imported when it is used."""

import os
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final

import click

from ralph_tracker.cli.terminal import say_text
from ralph_tracker.errors import EXIT_OK, EXIT_USAGE, RalphTrackerError, WrongUsageError
from ralph_tracker.version import __version__

PROGRAM: Final = "ralph-tracker"
COMPLETION_VARIABLE: Final = "_RALPH_TRACKER_COMPLETE"
VERBS: Final[dict[str, str]] = {
    "init": "Find the project's tools and write ralph-tracker.yaml",
    "run": "Let an agent refine the project until it is done, then select the best",
    "wrap": "Measure after each call of an agent by a runner that has no hooks",
    "plan": "Show a plan of tasks, or revise its open tasks",
    "hook": "Record and judge a loop, phase by phase",
    "agent": "Install the tracker into a coding agent, or remove it",
    "mcp": "Answer an agent over the Model Context Protocol, read-only",
    "replay": "Measure the commits of a branch, and name the one to take",
    "compare": "Measure candidates against one base, and name the best of them",
    "export": "Send loops to MLflow or an OTLP receiver, or write them as a table",
    "demo": "See a whole loop: a sample project, a scripted agent, real measurements",
    "status": "Show the state of the loop and the next step",
    "history": "List the iterations",
    "stats": "Compare agents, models, prompt files and hosts over all loops",
    "show": "Show one iteration: score, components, alerts",
    "diff": "Show what differs between two iterations: metrics, tests, files, patch",
    "report": "Print a report",
    "watch": "Follow the loop live in the terminal",
    "serve": "Show all loops live in a browser, read-only",
    "feedback": "Print what the agent should know of the last iteration",
    "questions": "List what only a person can say about the iteration to take, and how to answer",
    "integrity": "List the integrity findings of an iteration: file, line, old and new text",
    "flaky": "List the tests that passed and failed on one tree, and what sets them aside",
    "strength": "Show which small errors in the changed lines the tests notice",
    "gate": "Measure without recording: pass or regression, for CI and agents",
    "select-best": "Select the peak of the loop, not its last iteration",
    "restore": "Restore the working tree to an earlier iteration",
    "read": "Show what ralph-tracker reads in a report file",
    "simulate": "Replay a recorded session, turn by turn, to tune its thresholds",
    "verify": "Check all stored files against their seals",
    "gc": "Delete stored files of iterations that are no longer needed",
    "doctor": "Check what a loop needs: tools, configuration, git, the store",
    "accept": "Accept an alert, with a reason",
    "trust": "Accept the commands of a project that you did not set up",
    "schema": "Print a JSON Schema",
    "completion": "Print the completion script of a shell",
}

# The heading and the example that `--help` has before a verb.
_HEADINGS: Final = {
    "init": ("Start and drive a loop", "ralph-tracker run --prompt-file PROMPT.md -- my-agent"),
    "replay": ("Measure what is there, share it", "ralph-tracker replay main..work"),
    "status": ("Look at a loop", "ralph-tracker watch"),
    "gate": ("Judge, choose, go back", "ralph-tracker select-best --apply branch"),
    "read": ("Check and set up", "ralph-tracker doctor"),
}


class _Interrupted(Exception):  # noqa: N818  # not an error of a verb
    """A Ctrl-C that click does not handle, since it would print an empty line."""


class Verbs(click.Group):
    """A group that imports a verb's module only when the verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the table."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb's command, None for an unknown one; all but those of this module are imported."""
        if cmd_name not in VERBS or cmd_name in self.commands:
            return super().get_command(ctx, cmd_name)
        command: click.Command = import_module(f"ralph_tracker.cli.{cmd_name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; for an unknown one, suggest the nearest. Raises UsageError."""
        word = args[0]
        if word not in VERBS and not word.startswith("-") and not ctx.resilient_parsing:
            near = get_close_matches(word, VERBS, n=1)
            raise click.UsageError(f"no command {word!r}" + (f"; did you mean {near[0]}?" if near else ""), ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  # as the verb returns
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as end:
            raise _Interrupted(*end.args) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them, in groups with an example each."""
        del ctx
        names, starts = list(VERBS), [*map(list(VERBS).index, _HEADINGS), None]
        for (heading, example), start, end in zip(_HEADINGS.values(), starts[:-1], starts[1:], strict=True):
            with formatter.section(heading):
                formatter.write_dl([(name, VERBS[name]) for name in names[start:end]])
                formatter.write(f"  example: {example}\n")


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--no-color", is_flag=True, help="Print without colours, as NO_COLOR=1 does.")
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
def cli(*, no_color: bool) -> None:
    """Measure, judge and keep every iteration of a refine-until-done loop, and choose the best one."""
    if no_color:
        os.environ["NO_COLOR"] = "1"


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
def completion(shell: str) -> None:
    """Print the completion script of SHELL (bash, zsh, fish); source it in the shell's start file."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    say_text(kind(cli, {}, PROGRAM, COMPLETION_VARIABLE).source())


def dispatch(arguments: list[str]) -> int:
    """Run a verb and return its exit code. Raises WrongUsageError, and as the verb does."""
    try:
        code = cli.main(arguments, prog_name=PROGRAM, complete_var=COMPLETION_VARIABLE, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return EXIT_USAGE
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else PROGRAM
        why = " ".join(error.format_message().split()).rstrip(".")
        raise WrongUsageError(f"{why}; see `{path} --help`") from None
    except click.ClickException as error:
        raise RalphTrackerError(error.format_message()) from None
    except (_Interrupted, click.Abort) as end:
        raise KeyboardInterrupt(*end.args) from None
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else EXIT_OK
    return code if isinstance(code, int) else EXIT_OK
