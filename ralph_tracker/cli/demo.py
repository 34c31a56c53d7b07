"""ralph-tracker demo: a whole loop on a sample project, with a scripted agent and real measurements."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

import click

from ralph_tracker.agents.scripted import ScriptedAgent
from ralph_tracker.cli import history
from ralph_tracker.cli.hook import say_selection
from ralph_tracker.cli.terminal import flush, say, say_wrapped
from ralph_tracker.core.decision import Decision
from ralph_tracker.errors import ConfigError, InputError
from ralph_tracker.iteration.apply_iteration import OUTPUT
from ralph_tracker.records.iteration_record import IterationRecord
from ralph_tracker.safe_files import as_store_error
from ralph_tracker.short_text import percent
from ralph_tracker.tracker import Tracker

WHERE = (
    ("one report an iteration", "reports"),
    ("the whole loop", "reports/loop-report.md"),
    ("why this iteration", "reports/output-selection.md"),
)
TOOLS: Final = ("pytest", "coverage", "ruff")
_SAMPLE: Final = Path(__file__).resolve().parent.parent / "demo"
_CONFIG: Final = "ralph-tracker.yaml"
_SCRIPT: Final = "script.yaml"
# Variables that would affect the demo: a loop's name, pytest options, a surrounding coverage run.
_FOREIGN: Final = ("RALPH_", "PYTEST_", "COVERAGE_", "COV_CORE_", "RUFF_")


@click.command("demo")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="A new folder; else a temporary one.",
)
@click.option("--keep/--no-keep", default=True, help="Keep the folder to look around in (the default), or remove it.")
def command(folder: Path | None, keep: bool) -> None:
    """Run a demo loop: a scripted agent refines a small Python library, measured by pytest, coverage and ruff.

    The agent makes real edits, deletes a test on the way, and continues after the best iteration.
    """
    root = make_project(folder)
    try:
        tracker = _refine_and_select(root)
    finally:
        if not keep:
            shutil.rmtree(root)
    say()
    if not keep:
        say(f"{root} was removed, as asked")
        return
    for what, path in WHERE:
        say_wrapped(f"{what + ':':<28}{tracker.store().paths.folder / path}")
    say_wrapped(f"{'its files, ready to take:':<28}{root / OUTPUT}")
    say_wrapped(f"{'continue from here:':<28}ralph-tracker status --root {root}")


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
        shutil.copytree(_SAMPLE / "project", folder, ignore=ignored, copy_function=shutil.copyfile, dirs_exist_ok=True)
    return folder.resolve()


def _refine_and_select(root: Path) -> Tracker:
    """Run the loop, saying each turn in a line, and return its tracker."""
    say_wrapped(f"A scripted agent refines a small Python library in {root}")
    python = python_with_tools(root)
    config = (_SAMPLE / _CONFIG).read_text(encoding="utf-8").replace('"{python}"', json.dumps(python))
    with as_store_error(root / _CONFIG):
        (root / _CONFIG).write_text(config, encoding="utf-8")
    say_wrapped(f"pytest, coverage and ruff measure it, with {python}")
    flush()
    say()
    tracker = Tracker(root, environment=environment(), trust=True)
    baseline = tracker.pre_loop(None)
    say("it.  score   what the agent did → what the tracker said")
    _say_line(baseline, "the library as it was found")
    turn = None
    agent = ScriptedAgent.from_yaml((_SAMPLE / _SCRIPT).read_text(encoding="utf-8"), _SCRIPT)
    for turn in refine(tracker, agent):
        _say_line(turn.record, turn.did)
        for alert in turn.record.alerts:
            say_wrapped(f"{alert.severity.name} {alert.id}: {alert.message}", indent=13, colour=alert.severity.name)
        if turn.carried_out:
            to = turn.decision.target_iteration
            say_wrapped(f"rolled back: the working tree is iteration {to} again", indent=13)
        flush()
    say()
    say_wrapped(f"Stopped: {turn.decision.reason if turn and turn.ends else 'the agent has nothing left to do'}")
    say_selection(tracker.select_output(apply="output"), as_json=False)
    say()
    click.get_current_context().invoke(history.command, root=root, loop_id=baseline.loop_id, as_json=False)
    return tracker


def _say_line(record: IterationRecord, did: str) -> None:
    say_wrapped(f"{record.iteration:>3}  {percent(record.adjusted_score):<6}  {did} → {record.message}", hang=13)
    flush()


def python_with_tools(root: Path, tools: Sequence[str] = TOOLS) -> str:
    """Return an interpreter with the tools: the running one, or else one created in the project from the package index.

    Raises ConfigError if they cannot be installed.
    """
    found = {tool: importlib.util.find_spec(tool) for tool in tools}
    missing = [tool for tool, spec in found.items() if spec is None or spec.origin is None]  # no namespace package
    if not missing:
        return sys.executable
    folder = root / ".venv"
    say(f"{', '.join(missing)} not found in ralph-tracker's environment: installing {', '.join(tools)} into {folder}")
    flush()
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *tools]
    try:
        venv.create(folder, with_pip=True, symlinks=True)
        subprocess.run(install, capture_output=True, text=True, timeout=300, check=True)  # noqa: S603  # our own command
    except (OSError, subprocess.SubprocessError) as error:
        raise ConfigError(
            f"{', '.join(tools)} cannot be installed into {folder} ({_last_words(error)}); "
            f"run `{sys.executable} -m pip install {' '.join(tools)}`, then the demo again"
        ) from None
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


@dataclass(frozen=True, slots=True)
class DemoIteration:
    """What an agent did, how it was judged, and how the loop reacted."""

    did: str
    record: IterationRecord
    decision: Decision
    carried_out: bool

    @property
    def ends(self) -> bool:
        """Return whether the decision ends the loop."""
        return self.decision.action in {"stop", "escalate"}


def refine(tracker: Tracker, agent: ScriptedAgent) -> Iterator[DemoIteration]:
    """Let the agent work on a loop with a recorded baseline, until the decision or the agent ends it."""
    for number in count(1):
        did = agent.act(number, tracker.root)
        if did is None:
            return
        record = tracker.post_iteration(None, iteration=number).record
        decided = tracker.loop_decision(apply=True)
        turn = DemoIteration(did, record, decided.decision, decided.carried_out)
        yield turn
        if turn.ends:
            return
