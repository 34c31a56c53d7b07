"""Real clients of coding agents, driven offline against a stand-in for the service that they ask.

Not part of `make test`, because a client comes from the npm registry: `make suite NAME=agents` runs it.
"""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.clients import messages as stand_in
from tests.clients.clients import ALL, CLAUDE, NOWHERE, Client

OURS = Path(sys.executable).with_name("ralph-tracker")
_LIMIT_S = 600  # of a whole session, on a machine that is busy
_GIT = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

WRONG = "def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n"
WRONG_AGAIN = "def add(a, b):\n    return a * b\n\n\ndef sub(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
TESTS = """\
from calc import add, sub


def test_add():
    assert add(1, 2) == 3


def test_sub():
    assert sub(3, 2) == 1
"""
SUB_ONLY = "from calc import sub\n\n\ndef test_sub():\n    assert sub(3, 2) == 1\n"
# What the model is told after a wrong fix, a deleted test and the right fix, to the letter.
TOLD = (
    """\
Iteration 1: plateau, score 72 % (the best so far).
Failing tests:
- test_calc.py:5 test_calc::test_add: assert 2 == 3
    + where 2 = add(1, 2)
Left of the loop: 5 iterations.
Continue with the task; it is measured again when you stop.""",
    """\
Iteration 2: regression, score 59.5 % (the best is iteration 1 with 72 %).
Rolled back: the files are those of iteration 1 again, without what iteration 2 changed: test_calc.py. \
Read them again before you edit them. `ralph-tracker diff 1 2` shows the undone patch.
Why iteration 2 was rolled back:
- CRITICAL it2-failure_hidden: Iteration 2 removed 1 test that failed in iteration 1; with the source of 2 it still \
fails (assert 2 == 3): test_calc::test_add (test_calc.py)
Failing tests in the files that you have now:
- test_calc.py:5 test_calc::test_add: assert 2 == 3
    + where 2 = add(1, 2)
Left of the loop: 4 iterations.
Continue with the task; it is measured again when you stop.""",
    """\
Iteration 3: forward, score 99.5 % (the best so far).
Rolled back earlier in this loop:
- Iteration 2 removed 1 test that failed in iteration 1; with the source of 2 it still fails (assert 2 == 3): \
test_calc::test_add
Left of the loop: 3 iterations.
All tests pass. If the task is complete, stop again without changes: the loop ends.""",
)
CONFIG = f"""\
version: 1
loop: {{target_score: 0.9, max_iterations: 6}}
checks:
  tests:
    run: ["{sys.executable}", -m, pytest, -q, -p, "no:cacheprovider", "--junitxml={{reports}}/junit.xml"]
    reports: ["{{reports}}/junit.xml"]
    env: {{PYTHONDONTWRITEBYTECODE: "1", PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1"}}
"""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which version of each client was driven."""
    for client in ALL:
        is_there = (client.folder / "node_modules" / ".bin" / client.program).exists()
        said = client.version if is_there else f"{client.version} cannot be installed here; what drives it is skipped"
        terminalreporter.write_line(f"{client.name} {said}")


@pytest.fixture(scope="session")
def messages() -> Any:
    """Return the module of the stand-in: `playing(*turns)`, `say`, `call`, `shell`, `fail`, `hang`."""
    return stand_in


@pytest.fixture(scope="session")
def claude() -> Path:
    """Return Claude Code, installed; skip where that cannot be."""
    return CLAUDE.installed()


@dataclass
class Project:
    """A project with a test that fails, in which a client works; `home` is empty, nothing of the machine is used."""

    root: Path
    home: Path
    program: Path
    client: Client = CLAUDE
    extra: dict[str, str] = field(default_factory=dict)

    def environment(self, url: str = NOWHERE, **more: str) -> Mapping[str, str]:
        """Return the whole environment of a client that asks the stand-in at `url`."""
        return {
            "PATH": os.pathsep.join((str(OURS.parent), os.environ["PATH"])),  # where installed hooks look
            "HOME": str(self.home),
            **self.client.environment(url),
            "TMPDIR": str(self.home),
            "CLAUDE_CODE_TMPDIR": str(self.home),
            **_GIT,
            **self.extra,
            **more,
        }

    def ours(self, *words: str) -> str:
        """Run ralph-tracker as a user does, and return what it printed."""
        done = self._run(str(OURS), *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ask(self, url: str, *options: str, **more: str) -> dict[str, Any]:
        """Ask the client for something, without a terminal, and return its result."""
        words = ["-p", "make the tests pass", "--permission-mode", "bypassPermissions", "--output-format", "json"]
        done = self._run(str(self.program), *words, *options, environment=self.environment(url, **more))
        assert done.returncode == 0, done.stdout + done.stderr
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    def shell(self, script: str, url: str) -> subprocess.CompletedProcess[str]:
        """Run a script of a page, with the client and ralph-tracker on its PATH."""
        path = os.pathsep.join((str(self.program.parent), str(OURS.parent), os.environ["PATH"]))
        return self._run("bash", "-c", script, environment=self.environment(url, PATH=path))

    def at_terminal(self, url: str, until: Callable[[], bool]) -> str:
        """Ask the client for something on a terminal, wait until that holds, and return what was shown."""
        known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        settings = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["sk-fake"], "rejected": []},
            "projects": {str(self.root): known},
        }
        (self.home / ".claude.json").write_text(json.dumps(settings))
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
        client = subprocess.Popen(
            [self.program, "make the tests pass", "--allowedTools", "Bash"],
            cwd=self.root,
            env=self.environment(url, TERM="xterm-256color", LANG="C.UTF-8"),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        shown, deadline = b"", time.monotonic() + _LIMIT_S
        try:
            while not until():
                assert time.monotonic() < deadline, shown[-2000:]
                if select.select([ours], [], [], 0.1)[0]:
                    shown += os.read(ours, 1 << 16)
        finally:
            client.kill()
            client.wait()
            os.close(ours)
        return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b" ", shown).decode("utf-8", "replace")

    def _run(self, *words: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.root,
            env=environment or self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
        )

    @property
    def loop(self) -> Path:
        """Return the folder of the first loop."""
        return self.root / ".aiwg" / "ralph" / "ralph-001"

    @property
    def status(self) -> dict[str, Any]:
        """Return where the loop stands."""
        found: dict[str, Any] = json.loads(self.ours("status", "--json"))
        return found

    @property
    def history(self) -> list[dict[str, Any]]:
        """Return the records."""
        found: list[dict[str, Any]] = json.loads(self.ours("history", "--json"))
        return [each["iteration_metrics"] for each in found]

    def noted(self, name: str) -> list[dict[str, Any]]:
        """Return the lines that the hooks noted down in a file of the loop's folder."""
        file = self.loop / name
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def made_project(folder: Path, client: Client, program: Path) -> Project:
    """Make a project in a repository: its test of `add` fails."""
    made = Project(folder / "a project", folder / "home", program, client)
    for each in (made.root, made.home):
        each.mkdir()
    files = {"calc.py": WRONG, "test_calc.py": TESTS, "ralph-tracker.yaml": CONFIG, ".gitignore": "__pycache__/\n"}
    for name, text in files.items():
        (made.root / name).write_text(text)
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *words], cwd=made.root, env=made.environment(), check=True)
    made.ours("trust")
    return made


def without_target(project: Project) -> None:
    """Let the loop of a project end only where nothing is left to do."""
    (project.root / "ralph-tracker.yaml").write_text(CONFIG.replace("target_score: 0.9, ", ""))
    project.ours("trust")


@pytest.fixture
def project(tmp_path: Path, claude: Path) -> Project:
    """Return a project in which Claude Code works."""
    return made_project(tmp_path, CLAUDE, claude)


def writing(name: str, text: str) -> stand_in.Turn:
    """Make a turn that writes a file of the project.

    By the shell: some clients' own tools refuse to write a file that the model has not read.
    """
    return stand_in.shell(f"cat > {name} <<'END'\n{text}END\n")


@pytest.fixture
def write() -> Callable[[str, str], Any]:
    """Return what makes a turn that writes a file: `write("calc.py", text)`."""
    return writing
