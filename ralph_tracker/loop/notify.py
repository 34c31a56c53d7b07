"""Tell a person how a loop goes, where they asked for it: a command, a webhook, the terminal's own notification.

Nothing of it can fail a loop: what could not be told is a line to print.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.core.decision import Decision
from ralph_tracker.core.metrics import quantity
from ralph_tracker.records.questions import Question

# The events by the rule of the decision that ends a loop or asks for a person; any other rule is the action's own name.
_BY_RULE: Final = {2: "limit", 6: "blocked", 9: "done"}


class Notice(NamedTuple):
    """What a person is told: the event, one of `notify.events`, of an iteration, in a sentence, and what to do next."""

    event: str
    loop_id: str
    iteration: int
    sentence: str
    next_step: str

    @property
    def text(self) -> str:
        """Return it as one printable line."""
        end = "" if self.sentence.endswith("?") else "."
        words = f"ralph-tracker: {self.sentence.rstrip('.')}{end} Next: {self.next_step}"
        return "".join(each if each.isprintable() else " " for each in words)


_Way = Callable[[Notice, Any, Path, Mapping[str, str]], Iterator[str]]


def event_of(decision: Decision) -> str | None:
    """Return the event that a decision is: done, limit, blocked, stop or escalate; None where the loop goes on."""
    if decision.action not in {"stop", "escalate"}:
        return None
    return "done" if decision.is_done else _BY_RULE.get(decision.rule, decision.action)


def question_words(asked: Sequence[Question], iteration: int) -> tuple[str, str]:
    """Return the sentence and the next step for the questions about an iteration."""
    words = f"{quantity(len(asked), 'question')} about iteration {iteration}: {asked[0].facts}"
    return words, "`ralph-tracker questions` lists what answers them"


def notify(notice: Notice, section: Mapping[str, Any], root: Path, environment: Mapping[str, str]) -> list[str]:
    """Tell it in each way of a configuration's `notify`, and return why some did not work, a line each."""
    if notice.event not in section["events"]:
        return []
    ways: dict[str, _Way] = {"command": _run, "webhook": _post, "terminal": _show}
    asked = ((name, way, section[name]) for name, way in ways.items() if section[name])
    return [f"notify.{name}: {why}" for name, way, how in asked for why in way(notice, how, root, environment)]


def _run(notice: Notice, command: str | list[str], root: Path, environment: Mapping[str, str]) -> Iterator[str]:
    own = {"RALPH_EVENT": notice.event, "RALPH_LOOP_ID": notice.loop_id, "RALPH_TEXT": notice.text}
    try:
        ended = subprocess.run(  # noqa: S603  # a person accepted the command, as those of the checks
            command,
            shell=isinstance(command, str),
            cwd=root,
            env={**environment, **own},
            input=_document(notice),
            capture_output=True,
            timeout=30.0,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        yield f"{error}"
        return
    if ended.returncode:
        said = ended.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        yield f"exit {ended.returncode}{f': {said}' if said else ''}"


def _post(notice: Notice, variable: str, _: Path, environment: Mapping[str, str]) -> Iterator[str]:
    import http.client  # noqa: PLC0415  # only where somebody has a webhook

    from ralph_tracker.post import post  # noqa: PLC0415  # as above

    address = environment.get(variable)
    if not address:
        yield f"{variable} is not set; it has to hold the webhook's address"
        return
    try:
        post(address, {"Content-Type": "application/json"}, _document(notice), 10.0)
    except (OSError, ValueError, http.client.HTTPException) as error:
        yield f"the address in {variable} does not take it: {error}"


def _show(notice: Notice, *_: object) -> Iterator[str]:
    """Show it as terminals do that know the sequence (iTerm2, kitty, WezTerm, Windows Terminal), with a bell."""
    try:
        terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY)
    except OSError:
        return  # without a terminal nobody could see it
    try:
        os.write(terminal, f"\x1b]9;{notice.text}\x07\x07".encode())
    finally:
        os.close(terminal)
    yield from ()


def _document(notice: Notice) -> bytes:
    """Return it as JSON; `text` is what Slack and Mattermost show, `content` what Discord does."""
    return json.dumps({**notice._asdict(), "text": notice.text, "content": notice.text[:2000]}).encode()
