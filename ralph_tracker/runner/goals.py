"""What a task of a plan has to come to: its checks as checks of its loop, and what an iteration still lacks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.config.load import Config
from ralph_tracker.config.wording import cut, nearest
from ralph_tracker.core.alert_types import Alert
from ralph_tracker.core.findings import Severity
from ralph_tracker.core.integrity import raises_doubt
from ralph_tracker.core.metrics import Group
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.errors import InputError
from ralph_tracker.iteration.explain import checks_of
from ralph_tracker.measure.checks import Check, environment_for_checks
from ralph_tracker.measure.commands import checks_from, command_of, is_there
from ralph_tracker.measure.last_words import last_words
from ralph_tracker.measure.measuring import kind_of
from ralph_tracker.steering.plan import Task
from ralph_tracker.store.records import Committed

_NAME: Final = "plan-{}"
_UNKNOWN: Final = (
    "{plan}: task {task}: neither a check nor a command is named {word!r}{near}; mend it, or say --allow-missing"
)


class Named(NamedTuple):
    """Hold a check of a task as it was written in the plan, and the configured check that it is."""

    word: str
    check: Check


def added_checks(task: Task, config: Config) -> dict[str, Any]:
    """Return the commands among the checks of a task as sections of the configuration, each by a name that is free.

    They have no kind: as a build that fails they would leave the baseline unverified, and nothing to go back to.
    """
    sections = config.document["checks"]
    commands = [word for word in dict.fromkeys(task.checks) if _configured(word, sections) is None]
    taken = {name.casefold() for name in sections}
    numbers = (number for number in range(1, len(commands) + len(taken) + 1) if _NAME.format(number) not in taken)
    return {_NAME.format(number): {"run": word} for number, word in zip(numbers, commands, strict=False)}


def _configured(word: str, sections: Mapping[str, Any]) -> str | None:
    """Return the name of the check that a word of a plan means, None where it means none of those."""
    if word in sections:
        return word
    return next((name for name, section in sections.items() if section["run"] == word), None)


def named_checks(task: Task, document: Mapping[str, Any]) -> tuple[Named, ...]:
    """Return what has to hold for a task by the configuration that its loop was frozen with; () there means all."""
    checks = {check.name: check for check in checks_from(document)}
    if not task.checks:
        return tuple(Named(name, check) for name, check in checks.items())
    names = {word: _configured(word, document["checks"]) for word in task.checks}
    return tuple(Named(word, checks[name]) for word, name in names.items() if name is not None)


def refuse_unknown(plan: Path, tasks: Sequence[Task], config: Config, root: Path, env: Mapping[str, str]) -> None:
    """Raise InputError where a check of a task is neither configured nor a command that is there.

    A path that is not absolute may be what a task is to make.
    """
    sections, environment = config.document["checks"], environment_for_checks(env)
    for task in tasks:
        for word in task.checks:
            check = Check(word, word)
            program = command_of(check)
            if _configured(word, sections) is not None or (program and "/" in program and not program.startswith("/")):
                continue
            if not is_there(check, root, environment):
                near = nearest(word, list(sections))
                raise InputError(_UNKNOWN.format(plan=plan, task=task.id, word=cut(word), near=near))


def unmet(committed: Committed, named: Sequence[Named], record: IterationRecord) -> tuple[str, ...]:
    """Say what an iteration lacks to complete a task, one line each; () where nothing is held against it.

    Each check has to have ended with 0 and to have been measured; its tests may not fail. An iteration with an open
    CRITICAL alert, as each has that was tampered with, or a HIGH one of the rules about tests (a red test that is
    skipped is no better than one deleted) completes nothing, nor does one that needed a person.
    """
    ends = {each["name"]: each for each in checks_of(committed, record.iteration) or ()}
    measured = committed.measurement(record.iteration)
    missing = {} if measured is None else {str(group): why for group, why in measured[0].missing.items()}
    output = committed.paths.iteration(record.iteration) / "output"
    lacks = [why for each in named if (why := _why_not(each, ends.get(each.check.name), missing, output, record))]
    lacks += [f"{alert.id}: {alert.message}" for alert in record.standing_alerts if _holds_back(alert)]
    if record.blocked is not None:
        lacks.append(record.blocked)
    return tuple(lacks)


def _holds_back(alert: Alert) -> bool:
    return alert.severity is Severity.CRITICAL or (alert.severity is Severity.HIGH and raises_doubt(alert))


def _why_not(
    named: Named, end: Mapping[str, Any] | None, missing: Mapping[str, str], output: Path, record: IterationRecord
) -> str | None:
    """Say why a check does not hold, None where it does."""
    check, kind = named.check, kind_of(named.check)
    if end is None:
        return f"{named.word}: not run"
    if end["exit_code"] != 0 or end["timed_out"] or end["problem"] is not None:
        said = last_words(output / f"{check.name}.stdout", output / f"{check.name}.stderr")
        return f"{named.word}: {end['summary']}" + (f"; {said}" if said else "")
    if kind is not None and kind in missing:
        return f"{named.word}: {missing[kind]}"
    failed = record.metrics.tests_failed
    if kind == Group.TESTS and failed:
        return f"{named.word}: {failed} {'test fails' if failed == 1 else 'tests fail'}"
    return None
