"""Run the command line, with the only error boundary, and answer the hooks of agents without click."""

import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from types import FrameType
from typing import Final, NoReturn, TypedDict

from ralph_tracker.cli.terminal import complain, flush, say, say_json
from ralph_tracker.errors import (
    EXIT_BUG,
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_SIGNAL,
    LoopWarning,
    RalphTrackerError,
    StoreError,
    Terminated,
)
from ralph_tracker.version import __version__

PROGRAM: Final = "ralph-tracker"
_ON_RECORD: Final = "recorded iterations are kept"
_OUT_OF_MEMORY: Final = f"out of memory; {_ON_RECORD}"
# What a limit or a disk refuses wherever it comes up.
_REFUSALS: Final = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
)


class ErrorDocument(TypedDict):
    """The line that standard error has, and the exit code."""

    message: str
    exit_code: int


class FailureDocument(TypedDict):
    error: ErrorDocument


def main() -> None:
    """Run the command line and exit with its exit code."""
    # A command is short and makes few cycles: with Python's own thresholds, collecting takes a tenth of its time.
    gc.set_threshold(200_000, 30, 30)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # a signal ignored by nohup stays ignored
            signal.signal(number, _terminate)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # a caller may have closed it
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # for a terminal that cannot show it
    try:
        code = run(sys.argv[1:])
    except (MemoryError, SystemError):  # none is left for the message of another error, nor for a log of it
        complain(_OUT_OF_MEMORY)
        code = EXIT_FAILURE
    gc.freeze()  # the process ends: a last collection would be a sixth of its time
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code; only here errors become messages.

    The line on standard error is for people; where JSON was asked for, standard output has the error as a document.
    """
    try:
        code = _run_shortcut(arguments)
        flush()
    except RalphTrackerError as error:
        why, code = str(error), error.exit_code
    except KeyboardInterrupt as end:  # its argument is the next step, if there is one
        why, code = "; ".join(("interrupted", *_kept(arguments), *map(str, end.args))), EXIT_INTERRUPTED
    except Terminated as end:
        steps = [end.next_step] if end.next_step else []
        why = "; ".join((f"ended by {signal.Signals(end.number).name}", *_kept(arguments), *steps))
        code = EXIT_SIGNAL + end.number
    except Exception as error:  # noqa: BLE001  # the machine's limits, else a bug of ours
        why, code = _failure(error)
    else:
        return code
    complain(why)
    if "--json" in takewhile(lambda word: word != "--", arguments):
        document: FailureDocument = {"error": {"message": " ".join(why.splitlines()), "exit_code": code}}
        with suppress(StoreError):  # standard output may be what has failed
            say_json(document)
            flush()
    return code


def _say_warning(message: Warning | str, *_: object, **_more: object) -> None:
    complain(str(message))


def _kept(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return what an interrupted command leaves; nothing for those that only show."""
    return () if arguments and arguments[0] in {"serve", "watch"} else (_ON_RECORD,)


def _terminate(number: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated(number)


def _run_shortcut(arguments: list[str]) -> int:
    """Take a shortcut without click if there is one, because it runs after every iteration."""
    if arguments[:2] in (["agent", "hook"], ["agent", "status-line"]) and arguments[2:] != ["--help"]:
        return answer_host(arguments[1], arguments[2:])
    if sys.platform == "win32":
        raise RalphTrackerError("Windows is not supported; use Linux, macOS or WSL")
    if arguments == ["--version"]:
        say(f"{PROGRAM} {__version__}")
        return EXIT_OK
    import warnings  # not for what runs at every tool call

    with warnings.catch_warnings():
        warnings.simplefilter("always", LoopWarning)
        warnings.showwarning = _say_warning
        return _run_verb(arguments)


def _run_verb(arguments: list[str]) -> int:
    if arguments[:1] == ["hook"]:
        from ralph_tracker.cli.hook_output import answer_fast

        code = answer_fast(arguments)
        if code is not None:
            return code
    _ensure_input()
    from ralph_tracker.cli.verbs import dispatch

    return dispatch(arguments)


def _ensure_input() -> None:
    """Put an empty standard input in the place of one that is closed or cannot be read.

    Otherwise the first file that is opened would become the standard input of every check.
    """
    import fcntl  # not for what runs at every tool call

    try:
        readable = fcntl.fcntl(0, fcntl.F_GETFL) & os.O_ACCMODE != os.O_WRONLY
    except OSError:
        readable = False
    if readable and sys.stdin is not None:
        return
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    if empty:
        os.close(empty)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # as Python opens it


def answer_host(verb: str, words: Sequence[str]) -> int:
    """Answer the named host of an agent, at each of its tool calls or for its status line; return 0, whatever happens.

    A host treats 2 as a message to its agent: an error is one line on standard error. If nobody reads the answer, that
    is ignored.
    """
    try:
        from ralph_tracker.agents.hosts.host import HOSTS, RUNNERS, answer_function, host_names, status_line_function

        name = words[0] if len(words) == 1 else ""
        if name not in HOSTS and name not in RUNNERS and name not in host_names():
            from difflib import get_close_matches

            known = [*host_names(), *RUNNERS]
            near = get_close_matches(" ".join(words), known, n=1)
            which = f"did you mean {near[0]}?" if near else ", ".join(known)
            complain(f"agent {verb}: name one agent: {which}")
            return EXIT_OK
        answer = answer_function(name) if verb == "hook" else status_line_function(name)
        if answer is None:
            complain(f"agent {verb}: {name} has no status line; `ralph-tracker status` shows the loop")
            return EXIT_OK
        text = answer(os.environ, 0)
        if text and sys.stdout is not None:
            try:
                sys.stdout.write(text)
                sys.stdout.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except RalphTrackerError as error:
        complain(f"agent {verb}: {error}")
    except BaseException as error:  # noqa: BLE001  # the exit code must be 0
        complain(f"agent {verb}: {_refusal(error) or f'a bug in ralph-tracker: {type(error).__name__}: {error}'}")
    return EXIT_OK


def _failure(error: Exception) -> tuple[str, int]:
    """Return in one line what the machine has refused, else that it is a bug, of which a log is written."""
    if isinstance(error, MemoryError):
        return _OUT_OF_MEMORY, EXIT_FAILURE
    what = _refusal(error)
    return _bug(error) if what is None else (f"{what}; {_ON_RECORD}", EXIT_FAILURE)


def _refusal(error: BaseException) -> str | None:
    """Return in words what the machine has refused, None for a bug."""
    if isinstance(error, FileNotFoundError) and not _is_somewhere():
        return "the current folder is gone: change to one that is there"
    if isinstance(error, OSError) and error.errno in _REFUSALS:
        return f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror}"
    if isinstance(error, ImportError) and (error.path or "").endswith(".so"):  # one that cannot be mapped
        return f"Python cannot load a library: {error}"
    if isinstance(error, SystemError):  # its importer loses a MemoryError at times
        return f"Python failed, as it does when memory runs out: {error}"
    return None


def _is_somewhere() -> bool:
    try:
        os.getcwd()  # noqa: PTH109  # pathlib would be imported for it
    except OSError:
        return False
    return True


def _bug(error: Exception) -> tuple[str, int]:
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="ralph-tracker-bug-", suffix=".log", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as log:
        log.write(f"{PROGRAM} {__version__}, Python {sys.version}\n{sys.argv}\n\n")
        traceback.print_exception(error, file=log)
    return f"a bug in ralph-tracker: {type(error).__name__}: {error}; please report it with {log.name}", EXIT_BUG
