"""The table of verbs; a verb's file is imported when the verb is used."""

from importlib import import_module
from typing import Final

import click

from ralph_tracker.cli.output import complain
from ralph_tracker.errors import EXIT_FAILURE, EXIT_OK, EXIT_USAGE
from ralph_tracker.version import __version__

PROGRAM: Final = "ralph-tracker"
COMPLETION_VARIABLE: Final = "_RALPH_TRACKER_COMPLETE"
VERBS: Final[dict[str, str]] = {
    "hook": "Record and judge a loop: pre-loop, post-iteration, loop-decision, post-loop",
    "status": "Show where the loop stands, and the next step",
    "history": "List the iterations",
    "show": "Show one iteration: score, components, alerts",
    "report": "Print a report",
    "select-best": "Select the peak of the loop, not its last iteration",
    "accept": "Accept an alert, with a reason",
    "schema": "Print a JSON Schema",
    "completion": "Print the completion script of a shell",
}


class Verbs(click.Group):
    """Import a verb's file when the verb is used: nothing pays for what it does not need."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the table."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb's command, None for an unknown one."""
        del ctx
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"ralph_tracker.cli.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
def cli() -> None:
    """Measure, judge and keep every iteration of a refine-until-done loop, and choose the best one."""


def dispatch(arguments: list[str]) -> int:
    """Run a verb and return its exit code; wrong usage becomes one line and 2."""
    try:
        code = cli.main(arguments, prog_name=PROGRAM, complete_var=COMPLETION_VARIABLE, standalone_mode=False)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else PROGRAM
        complain(f"{error.format_message().rstrip('.')}; see `{path} --help`")
        return EXIT_USAGE
    except click.ClickException as error:
        complain(error.format_message())
        return EXIT_FAILURE
    except click.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else EXIT_OK
    return code if isinstance(code, int) else EXIT_OK
