"""Completion in the shells themselves: their script loads, and completes a verb, a phase, an option and a choice."""

import os
import pty
import re
import select
import shutil
import subprocess

import pytest

# what is typed, and what it is completed to
TYPED = {
    "ralph-tracker statu": "status",
    "ralph-tracker hook post-i": "post-iteration",
    "ralph-tracker status --lo": "--loop-id",
    "ralph-tracker select-best --apply wo": "worktree",
    "ralph-tracker completion z": "zsh",
}
# The shells' own ways to read a file without running it.
READ_ONLY = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}


@pytest.fixture
def script(project, tmp_path):
    """Return a function that writes the script of a shell to a file; without that shell the test is skipped."""

    def write(shell):
        printed = project.plainly("completion", shell)
        assert (printed.code, printed.err) == (0, "")
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not installed; its script was printed")
        file = tmp_path / f"completion.{shell}"
        file.write_text(printed.out)
        return file

    return write


@pytest.fixture
def environment(tmp_path, program):
    """Return the environment of a shell that finds the program, and a home of its own."""
    search = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": search, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "TERM": "dumb"}


def answered(command, environment):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize("shell", READ_ONLY)
def test_the_script_of_a_shell_can_be_read_by_it(script, environment, shell):
    assert answered([*READ_ONLY[shell], script(shell)], environment) == []


def test_bash_completes(script, environment):
    file = script("bash")
    lines = [
        f"COMP_WORDS=({typed}); COMP_CWORD={len(typed.split()) - 1}; COMPREPLY=(); "
        f'_ralph_tracker_completion ralph-tracker; echo "${{COMPREPLY[*]}}"\n'
        for typed in TYPED
    ]
    assert answered(["bash", "-c", f". {file}\n{''.join(lines)}"], environment) == list(TYPED.values())


@pytest.mark.slow
def test_fish_completes(script, environment):
    file = script("fish")
    lines = [f"complete -C '{typed}'\n" for typed in TYPED]
    told = answered(["fish", "--no-config", "-c", f"source {file}\n{''.join(lines)}"], environment)
    assert [line.split("\t")[0] for line in told] == list(TYPED.values())


@pytest.mark.slow
def test_zsh_completes(script, environment, tmp_path):
    """Type into a zsh with a terminal, the one place where it completes; its command line is what it wrote."""
    file = script("zsh")
    ours, theirs = pty.openpty()
    prepare = f"PS1=; autoload -Uz compinit; compinit -u -d {tmp_path}/dump; . {file}; print -r READY; PS1='> '\n"
    told = []
    with subprocess.Popen(["zsh", "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as running:
        os.close(theirs)
        os.write(ours, prepare.encode())
        _until(ours, r"READY\r\n")
        for typed in TYPED:
            os.write(ours, f"{typed}\t".encode())
            told.append(_until(ours, rf"{re.escape(typed)}\S* $").split()[-1])
            os.write(ours, b"\x15")  # the line is wiped, nothing of it is run
            _until(ours, r"")
        os.write(ours, b"exit\n")
        _until(ours, None)
        running.wait(timeout=60)
    os.close(ours)
    assert told == list(TYPED.values())


def _until(terminal, pattern):
    """Read what a terminal shows until it fits the pattern, None until its end."""
    shown = ""
    while True:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, f"nothing came after {shown!r}"
        try:
            data = os.read(terminal, 4096)
        except OSError:  # Linux: the other side is closed
            data = b""
        shown += data.decode(errors="replace")
        if not data or (pattern is not None and re.search(pattern, shown)):
            return shown
