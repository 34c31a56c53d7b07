"""What a CI workflow runs, and when: GitHub's workflows, and GitLab's jobs."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.settings.commands import Command, commands_in
from ralph_tracker.integrity.settings.programs import PROGRAMS, Kind
from ralph_tracker.integrity.settings.yaml_text import yaml_values

MAX_COMMANDS: Final = 2_000
_GITHUB: Final = Pattern(r"(^|/)\.github/workflows/[^/]+\.ya?ml$")
_GITLAB: Final = Pattern(r"(^|/)\.gitlab-ci\.ya?ml$")
_NEVER: Final = Pattern(r"\s*(\$\{\{)?\s*(false|0|'')\s*(&&[^|]*)?(\}\})?\s*", re.IGNORECASE)
_ALWAYS: Final = Pattern(r"\s*(\$\{\{)?\s*true\s*(\}\})?\s*", re.IGNORECASE)
_TRIGGERS: Final = frozenset({"push", "pull_request", "pull_request_target", "merge_group"})
_HOUSEKEEPING: Final = Pattern(
    r"(actions/(checkout|setup-|cache|upload-|download-|github-script|configure|deploy|create|attest|labeler|stale)|docker/|codecov/"
    r"|coverallsapp/|pypa/gh-action-pypi|astral-sh/setup|hynek/setup|hynek/build|step-security/|softprops/|peaceiris/"
    r"|dependabot/|sigstore/|github/codeql)"
)


class Workflow(NamedTuple):
    """Hold what a workflow runs in its order, what it calls that is not known, and whether changes set it off."""

    commands: tuple[Command, ...]
    calls: frozenset[str] = frozenset()
    on_changes: bool = True


def is_workflow(path: str) -> bool:
    """Tell whether a file is a workflow of GitHub or the CI of GitLab."""
    return _GITHUB.search(path) is not None or _GITLAB.search(path) is not None


@lru_cache(maxsize=64)
def workflow_of(path: str, text: str) -> Workflow:
    """Return what a workflow runs. Raises Unparsable for a text that is no YAML."""
    document = yaml_values(text)
    if not isinstance(document, Mapping):
        return Workflow(())
    if _GITLAB.search(path):
        return Workflow(tuple(_gitlab(document))[:MAX_COMMANDS])
    jobs = [job for job in _mapping(document.get("jobs")).values() if isinstance(job, Mapping)]
    commands: list[Command] = []
    for step in _steps(jobs):
        commands += step
        if len(commands) > MAX_COMMANDS:
            break
    return Workflow(tuple(commands), frozenset(_calls(jobs)), _set_off_by_changes(document.get("on")))


def _mapping(value: Any) -> Mapping[str, Any]:  # noqa: ANN401  # any YAML value
    return value if isinstance(value, Mapping) else {}


def _steps(jobs: list[Mapping[str, Any]]) -> Iterator[list[Command]]:
    for job in jobs:
        excuse = _excuse(job)
        for step in _step_list(job):
            script, uses, soft = step.get("run"), step.get("uses"), excuse or _excuse(step)
            if isinstance(script, str):
                yield [each._replace(soft=each.soft or soft) for each in _until_exit(commands_in(script))]
            elif isinstance(uses, str) and (kind := _kind_of_action(uses)) is not None:
                yield [Command(uses.partition("@")[0], kind, soft)]


def _kind_of_action(uses: str) -> Kind | None:
    """Return which check an action does by the program that it is named after."""
    names = re.split(r"[/@]", uses.removesuffix("-action"))
    parts = (part for name in names for part in (name.removesuffix("-action"), *name.split("-")))
    return next((PROGRAMS[part] for part in parts if part in PROGRAMS), None)


def _step_list(job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    steps = job.get("steps")
    yield from (step for step in (steps if isinstance(steps, list) else ())[:MAX_COMMANDS] if isinstance(step, Mapping))


def _until_exit(commands: tuple[Command, ...]) -> Iterator[Command]:
    """Yield the commands of a script; those behind a plain `exit 0` never run."""
    gone = False
    for command in commands:
        gone = gone or command.text.strip() == "exit 0"
        yield command._replace(soft=command.soft or "exit 0") if gone else command


def _excuse(node: Mapping[str, Any]) -> str | None:
    """Return by what the failure of a job or step goes unheard, None where it counts."""
    goes_on, condition = node.get("continue-on-error"), node.get("if")
    if goes_on is True or (isinstance(goes_on, str) and _ALWAYS.fullmatch(goes_on)):
        return "continue-on-error: true"
    if condition is False or (isinstance(condition, str) and _NEVER.fullmatch(condition)):
        return "if: false"
    return None


def _calls(jobs: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the actions and workflows that may run checks of their own, without their versions."""
    for job in jobs:
        for node in (job, *_step_list(job)):
            uses = node.get("uses")
            if isinstance(uses, str) and not _HOUSEKEEPING.match(uses):
                yield uses.partition("@")[0]


def _set_off_by_changes(triggers: Any) -> bool:  # noqa: ANN401  # any YAML value
    names = [triggers] if isinstance(triggers, str) else triggers if isinstance(triggers, list | dict) else ()
    return any(name in _TRIGGERS for name in names if isinstance(name, str))


def _gitlab(document: Mapping[str, Any]) -> Iterator[Command]:
    for job in document.values():
        if not isinstance(job, Mapping):
            continue
        soft = "allow_failure: true" if job.get("allow_failure") is True else None
        soft = f"when: {job['when']}" if job.get("when") in ("never", "manual") else soft
        script = job.get("script")
        lines = script[:MAX_COMMANDS] if isinstance(script, list) else [script]
        for line in lines:
            if isinstance(line, str):
                yield from (each._replace(soft=each.soft or soft) for each in commands_in(line))
