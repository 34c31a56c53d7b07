"""ralph-tracker completion: print a shell's completion script."""

import click

from ralph_tracker.cli.terminal import say_text


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
def command(shell: str) -> None:
    """Print the completion script of SHELL (bash, zsh, fish); source it in the shell's start file."""
    from click.shell_completion import get_completion_class

    from ralph_tracker.cli.verbs import COMPLETION_VARIABLE, PROGRAM, cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    say_text(kind(cli, {}, PROGRAM, COMPLETION_VARIABLE).source())
