"""Create the sample project of the demo in a folder of its own, with an interpreter that can measure it."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final, Protocol

from ralph_tracker.agents.scripted import ScriptedAgent
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.iteration_record import IterationRecord
from ralph_tracker.errors import ConfigError, InputError
from ralph_tracker.store.files import as_store_error
from ralph_tracker.tracker import Tracker

TOOLS: Final = ("pytest", "coverage", "ruff")
_HERE: Final = Path(__file__).resolve().parent
_PROJECT: Final = _HERE / "project"
_CONFIG: Final = "ralph-tracker.yaml"
_SCRIPT: Final = "script.yaml"
_PYTHON: Final = '"{python}"'
# Variables that would affect the demo: a loop's name, pytest options, a surrounding coverage run.
_FOREIGN: Final = ("RALPH_", "PYTEST_", "COVERAGE_", "COV_CORE_", "RUFF_")
_INSTALL_TIMEOUT_S: Final = 300


def agent() -> ScriptedAgent:
    """Return the agent that refines the sample project."""
    return ScriptedAgent.from_yaml((_HERE / _SCRIPT).read_text(encoding="utf-8"), _SCRIPT)


def make_project(folder: Path | None) -> Path:
    """Copy the sample project into a new or empty folder, by default a temporary one, and return the folder.

    Raises InputError if the folder is not empty, StoreError if the disk refuses.
    """
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="ralph-tracker-demo-"))
    with as_store_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(f"{folder} is not empty; name a new folder with --folder")
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(_PROJECT, folder, ignore=ignored, copy_function=shutil.copyfile, dirs_exist_ok=True)
    return folder.resolve()


def configure(root: Path, python: str) -> None:
    """Write the project's configuration, with the interpreter for its checks."""
    text = (_HERE / _CONFIG).read_text(encoding="utf-8").replace(_PYTHON, json.dumps(python))
    with as_store_error(root / _CONFIG):
        (root / _CONFIG).write_text(text, encoding="utf-8")


def python_with_tools(root: Path, say: Callable[[str], None], tools: Sequence[str] = TOOLS) -> str:
    """Return an interpreter with the tools: the running one, or else one created in the project from the package index.

    Raises ConfigError if they cannot be installed.
    """
    missing = [tool for tool in tools if not _is_here(tool)]
    if not missing:
        return sys.executable
    folder = root / ".venv"
    say(f"{', '.join(missing)} not found in ralph-tracker's environment: installing {', '.join(tools)} into {folder}")
    try:
        return _installed(folder, tools)
    except (OSError, subprocess.SubprocessError) as error:
        raise ConfigError(
            f"{', '.join(tools)} cannot be installed into {folder} ({_last_words(error)}); "
            f"run `{sys.executable} -m pip install {' '.join(tools)}`, then the demo again"
        ) from None


def _is_here(tool: str) -> bool:
    """Return whether a module can be imported; a namespace package does not count."""
    found = importlib.util.find_spec(tool)
    return found is not None and found.origin is not None


def _installed(folder: Path, tools: Sequence[str]) -> str:
    venv.create(folder, with_pip=True, symlinks=True)
    python = str(folder / "bin" / "python")
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *tools]
    subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_TIMEOUT_S, check=True)  # noqa: S603  # our own command
    return python


def _last_words(error: Exception) -> str:
    """Return the last line of a failed command's output, else the error's message."""
    said = getattr(error, "stderr", None) or getattr(error, "output", None) or ""
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else str(error)


def environment() -> Mapping[str, str]:
    """Return our environment without variables that affect tests and measurements."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}


class Agent(Protocol):
    """An agent that edits a project, once per iteration."""

    def act(self, number: int, root: Path) -> str | None:
        """Do the work of an iteration and return its description, None if there is nothing left to do."""
        ...


@dataclass(frozen=True, slots=True)
class Turn:
    """What an agent did, how it was judged, and how the loop reacted."""

    did: str
    record: IterationRecord
    decision: Decision
    carried_out: bool

    @property
    def ends(self) -> bool:
        """Return whether the decision ends the loop."""
        return self.decision.action in {"stop", "escalate"}


def refine(tracker: Tracker, agent: Agent) -> Iterator[Turn]:
    """Let the agent work on a loop with a recorded baseline, until the decision or the agent ends it."""
    for number in count(1):
        did = agent.act(number, tracker.root)
        if did is None:
            return
        record = tracker.post_iteration(None, iteration=number).record
        decided = tracker.loop_decision(apply=True)
        turn = Turn(did, record, decided.decision, decided.carried_out)
        yield turn
        if turn.ends:
            return
