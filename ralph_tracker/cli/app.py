"""The command line: the only error boundary, and the way to a verb."""

import sys
from typing import Final

from ralph_tracker.cli.output import complain, flush, say
from ralph_tracker.errors import EXIT_BUG, EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_OK, RalphTrackerError
from ralph_tracker.version import __version__

PROGRAM: Final = "ralph-tracker"


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # a caller may have closed it
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal that cannot show it
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code: the one place where errors become words."""
    try:
        code = _answered(arguments)
        flush()
    except RalphTrackerError as error:
        complain(str(error))
        code = EXIT_FAILURE
    except KeyboardInterrupt:
        complain("interrupted; what was on record stays on record")
        code = EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001  # the boundary: a bug of ours, with a log
        code = _bug(error)
    return code


def _answered(arguments: list[str]) -> int:
    """Take the short way where there is one: what runs after every iteration pays for nothing else."""
    if sys.platform == "win32":
        raise RalphTrackerError("Windows is not supported; use Linux, macOS or WSL")
    if arguments == ["--version"]:
        say(f"{PROGRAM} {__version__}")
        return EXIT_OK
    if arguments[:1] == ["hook"]:
        from ralph_tracker.cli.deciding import answer_plainly

        code = answer_plainly(arguments)
        if code is not None:
            return code
    from ralph_tracker.cli.verbs import dispatch

    return dispatch(arguments)


def _bug(error: Exception) -> int:
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="ralph-tracker-bug-", suffix=".log", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as log:
        log.write(f"{PROGRAM} {__version__}, Python {sys.version}\n{sys.argv}\n\n")
        traceback.print_exception(error, file=log)
    complain(f"a bug of ours: {type(error).__name__}: {error}; please report it with {log.name}")
    return EXIT_BUG
