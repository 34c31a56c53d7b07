"""G2: CI runs a check no more, or passes over its failure."""

from collections.abc import Iterator
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.settings.commands import Command
from ralph_tracker.integrity.settings.programs import Kind
from ralph_tracker.integrity.settings.runs import softened, without_common
from ralph_tracker.integrity.settings.telling import line_of
from ralph_tracker.integrity.settings.workflows import Workflow, is_workflow, workflow_of
from ralph_tracker.integrity.source_tests import Unparsable

ROW = "G2"
_KINDS: Final[dict[Kind, str]] = {
    "test": "tests",
    "lint": "linters",
    "types": "type checks",
    "coverage": "coverage gate",
}
_NONE: Final = Workflow((), frozenset(), on_changes=False)


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield checks of a workflow that are gone from CI, whose failure goes unheard, or that changes set off no more."""
    if not is_workflow(file.path) or file.old is None:
        return
    before, now = _workflow(file.old), _workflow(file.new)
    soft: set[Kind] = set()
    for each in softened(before.commands, now.commands):
        soft.add(each.command.kind)
        yield finding(
            ROW,
            Severity.HIGH,
            f"CI passes over the failure of {_KINDS.get(each.command.kind, 'a check')}: {each.what}",
            file.path,
            line=line_of(file, each.command.text),
            old=each.before.text,
            new=f"{each.command.text} ({each.what})",
            about=f"{each.command.kind}: {each.what}",
        )
    yield from _gone(file, before, now, soft, evidence)
    if (
        before.on_changes
        and file.new is not None
        and not now.on_changes
        and _checks(now)
        and not _others(file, evidence)
    ):
        yield finding(
            ROW, Severity.HIGH, "no push and no pull request sets off CI's checks", file.path, about="triggers"
        )


def _gone(file: ChangedFile, before: Workflow, now: Workflow, soft: set[Kind], evidence: Evidence) -> Iterator[Finding]:
    """Find kinds of checks that no changed workflow runs any more, unless something unknown came that may."""
    others = _others(file, evidence)
    lost, came = without_common(before.commands, (*now.commands, *others))
    if now.calls - before.calls or any(each.kind in {"any", "other"} and _may_check(each) for each in came):
        return
    for kind, name in _KINDS.items():
        had = [each for each in before.commands if each.kind == kind and each.soft is None]
        has = [each for each in (*now.commands, *others) if each.kind == kind and each.soft is None]
        if had and not has and kind not in soft and any(each.kind == kind for each in lost):
            yield finding(
                ROW, Severity.HIGH, f"CI runs no {name} any more", file.path, old=had[0].text, about=f"{kind}: gone"
            )


def _may_check(command: Command) -> bool:
    return command.kind == "any" or not command.text.startswith(
        ("pip ", "python -m pip", "npm ", "cd ", "git ", "curl ")
    )


def _checks(workflow: Workflow) -> bool:
    return any(each.is_check for each in workflow.commands)


def _workflow(side: Side | None) -> Workflow:
    return workflow_of(side.path, side.text) if side is not None else _NONE


def _others(file: ChangedFile, evidence: Evidence) -> tuple[Command, ...]:
    """Return the checks that other workflows got meanwhile."""
    return tuple(command for other, commands in _arrivals(evidence) if other != file.path for command in commands)


def _arrivals(evidence: Evidence) -> tuple[tuple[str, tuple[Command, ...]], ...]:
    return evidence.once(_arrived, lambda: _arrived(evidence.files))


def _arrived(files: tuple[ChangedFile, ...]) -> tuple[tuple[str, tuple[Command, ...]], ...]:
    found = []
    for file in files:
        if is_workflow(file.path) and file.new is not None:
            try:
                _, came = without_common(_workflow(file.old).commands, _workflow(file.new).commands)
            except Unparsable:
                continue
            found.append((file.path, tuple(each for each in came if each.is_check)))
    return tuple(found)
