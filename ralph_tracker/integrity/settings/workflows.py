"""What a CI workflow runs, and when: GitHub's workflows, and GitLab's jobs."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.settings.commands import Command, commands_in
from ralph_tracker.integrity.settings.conditions import excuse_of, is_careless, set_off_by_changes
from ralph_tracker.integrity.settings.programs import PROGRAMS, Kind
from ralph_tracker.integrity.settings.yaml_text import yaml_values

MAX_COMMANDS: Final = 2_000
_EXIT: Final = "exit 0"
_GITHUB: Final = Pattern(r"(^|/)\.github/workflows/[^/]+\.ya?ml$")
_GITLAB: Final = Pattern(r"(^|/)\.gitlab-ci\.ya?ml$")
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
    for step in _steps(document, jobs):
        commands += step
        if len(commands) > MAX_COMMANDS:
            break
    return Workflow(tuple(commands), frozenset(_calls(jobs)), set_off_by_changes(document.get("on")))


def _mapping(value: Any) -> Mapping[str, Any]:  # noqa: ANN401  # any YAML value
    return value if isinstance(value, Mapping) else {}


def _steps(document: Mapping[str, Any], jobs: list[Mapping[str, Any]]) -> Iterator[list[Command]]:
    for job in jobs:
        excuse = excuse_of(job)
        for step in _step_list(job):
            script, uses, soft = step.get("run"), step.get("uses"), excuse or excuse_of(step)
            if isinstance(script, str):
                usual = next(
                    (each for each in (job, document) if "shell" not in step and is_careless(_shell(each))), {}
                )
                soft = soft or (f"shell: {_shell(usual)}" if usual else None)
                yield [each._replace(soft=each.soft or soft) for each in _until_exit(commands_in(script))]
            elif isinstance(uses, str) and (kind := _kind_of_action(uses)) is not None:
                yield [Command(uses.partition("@")[0], kind, soft)]


def _shell(node: Mapping[str, Any]) -> Any:  # noqa: ANN401  # any YAML value
    """Return the shell that a job or workflow names for all its scripts, None where it names none."""
    return _mapping(_mapping(node.get("defaults")).get("run")).get("shell")


def _kind_of_action(uses: str) -> Kind | None:
    """Return which check an action does by the program that it is named after."""
    names = re.split(r"[/@]", uses.removesuffix("-action"))
    parts = (part for name in names for part in (name.removesuffix("-action"), *name.split("-")))
    return next((PROGRAMS[part] for part in parts if part in PROGRAMS), None)


def _step_list(job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    steps = job.get("steps")
    yield from (step for step in (steps if isinstance(steps, list) else ())[:MAX_COMMANDS] if isinstance(step, Mapping))


def _until_exit(commands: tuple[Command, ...]) -> Iterator[Command]:
    """Yield the commands of a script; those behind a plain `exit 0` never run, and one at its end hides what failed."""
    ends = bool(commands) and commands[-1].text.strip() == _EXIT
    gone = False
    for command in commands:
        gone = gone or command.text.strip() == _EXIT
        yield command._replace(soft=command.soft or _EXIT) if gone or ends else command


def _calls(jobs: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the actions and workflows that may run checks of their own, without their versions."""
    for job in jobs:
        for node in (job, *_step_list(job)):
            uses = node.get("uses")
            if isinstance(uses, str) and not _HOUSEKEEPING.match(uses):
                yield uses.partition("@")[0]


def _gitlab(document: Mapping[str, Any]) -> Iterator[Command]:
    for job in document.values():
        if not isinstance(job, Mapping):
            continue
        soft = "allow_failure: true" if job.get("allow_failure") is True else None
        soft = f"when: {job['when']}" if job.get("when") in ("never", "manual") else soft
        script = job.get("script")
        lines = script[:MAX_COMMANDS] if isinstance(script, list) else [script]
        for each in _until_exit(commands_in("\n".join(line for line in lines if isinstance(line, str)))):
            yield each._replace(soft=each.soft or soft)
