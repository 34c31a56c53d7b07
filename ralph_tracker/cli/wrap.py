"""ralph-tracker wrap: stand in for an agent's command in a runner that has no hooks, and measure after each call."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import click

from ralph_tracker.cli.feedback import feedback_text
from ralph_tracker.cli.options import place_options
from ralph_tracker.cli.terminal import complain, flush
from ralph_tracker.errors import EXIT_OK, InputError, RalphTrackerError

_PROMPT: Final = ("-p", "--print")
# What ends ralph-claude-code where it reads it in the answers of two calls.
_STATUS: Final = "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\nRECOMMENDATION: {}\n---END_RALPH_STATUS---"


@click.command("wrap")
@place_options
@click.argument("agent", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- AGENT COMMAND…")
def command(root: Path, loop_id: str | None, agent: tuple[str, ...]) -> int:
    """Run an agent's command for a runner that calls it, with the feedback in its prompt, and measure afterwards.

    The prompt is the word after -p or --print: the feedback is added to it. What the agent prints and its exit code are
    passed through. After a call that went well the iteration is recorded with the agent's usage, and a rollback is
    carried out. A call without a prompt (`--version`) is only passed on. Once the loop has stopped, ralph-claude-code
    is answered by its own exit signal in place of the agent.
    """
    place = next((at for at, word in enumerate(agent[:-1], 1) if word in _PROMPT and agent[at][:1] != "-"), None)
    if place is None:
        return _passed_through(agent, root, lambda _: None, os.environ)
    return _Call(root, loop_id).run(agent, place)


class _Call:
    """A call of the agent, and the loop that it is an iteration of."""

    def __init__(self, root: Path, loop_id: str | None) -> None:
        from ralph_tracker.tracker import Tracker

        self.root = root
        self.tracker = Tracker(root, loop_id, tell=self.say)

    def run(self, agent: Sequence[str], place: int) -> int:
        """Run it with the feedback behind the word at `place`, measure, and return the agent's exit code."""
        from ralph_tracker.agents.hosts.hook_dispatch import DRIVEN
        from ralph_tracker.agents.output.run_output import RunOutputReader
        from ralph_tracker.agents.output.run_report import Ending

        reader, words, before = RunOutputReader(), list(agent), None
        try:
            summary = self.tracker.store().summary()
            before = summary.iteration
            if summary.decision["action"] == "stop" and (self.root / ".ralph").is_dir():
                return self._answer_for_agent(agent, str(summary.decision["reason"]))
            found = feedback_text(self.root, self.tracker.loop_id, os.environ, with_rules="--resume" not in agent)
            words[place] = _with_feedback(words[place], found, before + 1)
        except RalphTrackerError as error:
            self.say(str(error))
        code = _passed_through(words, self.root, reader.feed_stdout, {**os.environ, DRIVEN: "1"})
        if before is None:
            return code
        report = reader.report(code)
        try:
            ended_well = code == 0 and report.ending in {Ending.DONE, Ending.UNKNOWN}
            self._record(report, before, why=None if ended_well else report.why or f"exit code {code}")
        except RalphTrackerError as error:
            self.say(str(error))
        return code

    def _answer_for_agent(self, agent: Sequence[str], reason: str) -> int:
        """Print what ends the runner, in the form that it asked the agent for."""
        self.say(f"{reason}; the agent was not started; `ralph-tracker hook post-loop` selects the output")
        text = _STATUS.format(" ".join(reason.split()))
        as_json = any("json" in word for before, word in pairwise(agent) if before == "--output-format")
        answer = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 0, "result": text}
        sys.stdout.write(f"{json.dumps(answer) if as_json else text}\n")
        return EXIT_OK

    def _record(self, report: Any, before: int, *, why: str | None) -> None:  # noqa: ANN401  # a RunReport
        """Record the iteration with the usage of all calls since the last one, unless the call failed (`why`)."""
        from ralph_tracker.codec import decode, encode
        from ralph_tracker.core.metrics import Usage
        from ralph_tracker.runner.saved_run import add_usages, less, tells_sums
        from ralph_tracker.safe_files import write_whole
        from ralph_tracker.store.json_documents import read_json, to_json

        store = self.tracker.store()
        file = store.paths.folder / "wrap.json"
        told = owed = Usage()
        session = None
        with suppress(AttributeError, KeyError, TypeError):  # of a damaged file nothing counts, as of none
            plain = read_json(file)
            told, owed, session = (decode(Usage, plain["told"]), decode(Usage, plain["owed"]), plain["session"])
        is_sum = report.session is not None and report.session == session and tells_sums(report, told)
        owed = add_usages(owed, less(report.usage, told) if is_sum else report.usage)

        def keep(owed: Usage) -> None:
            state = {"session": report.session, "told": encode(report.usage), "owed": encode(owed)}
            write_whole(file, to_json({"schema_version": 1, **state}))

        keep(owed)
        if why is not None:
            self.say(f"not measured, as the agent did not end well: {why}")
            return
        summary = store.summary()
        if summary.iteration == before:  # else the agent has recorded it itself, with a question
            self.tracker.post_iteration(None, usage=owed.known_values() or None)
            keep(Usage())
        decided = self.tracker.loop_decision(apply=True).decision
        self.say(f"iteration {store.summary().iteration}: {decided.action}: {decided.reason}", level="INFO")

    def say(self, text: str, *, level: str = "WARN") -> None:
        """Say it in the runner's own log where it has one, else on standard error."""
        from ralph_tracker.report.escaping import for_terminal
        from ralph_tracker.safe_files import own_file

        # Not on standard error: ralph-claude-code reads that as the answer of the agent.
        folder = self.root.resolve() / ".ralph/logs"
        log = folder / "ralph.log"
        if not folder.is_dir() or folder.resolve() != folder:  # a link would lead out of the project
            complain(text)
            return
        line = f"[{datetime.now():%Y-%m-%d %H:%M:%S}] [{level}] ralph-tracker: {for_terminal(text)}\n"  # noqa: DTZ005
        with open(log, "a", encoding="utf-8", errors="replace", opener=own_file) as file:  # pathlib's takes no opener
            file.write(line)


def _with_feedback(prompt: str, found: str, number: int) -> str:
    """Return a prompt with the feedback, as it was where an argument cannot be as long."""
    from ralph_tracker.runner.agent_commands import PROMPT, prepare_command
    from ralph_tracker.runner.run import prompt_of

    return prepare_command([PROMPT], prompt_of(prompt, found, number, ()), Path()).argv[0]


def _passed_through(words: Sequence[str], root: Path, feed: Any, environment: Any) -> int:  # noqa: ANN401  # as of Popen
    """Run a command in `root`, pass its standard output on and to `feed`, and return its exit code as a shell does."""
    try:
        agent = subprocess.Popen(words, cwd=root, stdout=subprocess.PIPE, env=environment)  # noqa: S603  # a user's
    except (OSError, ValueError) as error:
        raise InputError(f"{words[0]} does not start: {getattr(error, 'strerror', None) or error}") from None
    with agent:
        while piece := os.read(agent.stdout.fileno(), 1 << 16) if agent.stdout is not None else b"":
            feed(piece)
            sys.stdout.buffer.write(piece)
            flush()
    return agent.returncode if agent.returncode >= 0 else 128 - agent.returncode
