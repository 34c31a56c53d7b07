"""G2: CI runs a check no more, or passes over its failure."""

from collections.abc import Iterator
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.settings.eased import eased, said_elsewhere
from ralph_tracker.integrity.settings.gone import KINDS, arrivals, kinds_gone
from ralph_tracker.integrity.settings.programs import Kind
from ralph_tracker.integrity.settings.runs import softened
from ralph_tracker.integrity.settings.telling import line_of
from ralph_tracker.integrity.settings.workflows import Workflow, is_workflow, workflow_of

ROW = "G2"
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
            f"CI passes over the failure of {KINDS.get(each.command.kind, 'a check')}: {each.what}",
            file.path,
            line=line_of(file, each.command.text),
            old=each.before.text,
            new=f"{each.command.text} ({each.what})",
            about=f"{each.command.kind}: {each.what}",
        )
    for each in eased(before.commands, now.commands):
        if file.new is not None and not said_elsewhere(each, evidence.files):
            yield finding(
                ROW,
                Severity.HIGH,
                f"CI asks for less: {each.what}",
                file.path,
                line=line_of(file, each.command.text),
                old=each.before.text,
                new=each.command.text,
                about=f"{each.command.kind}: less",
            )
    yield from _gone(file, before, now, soft, evidence)
    if (
        before.on_changes
        and file.new is not None
        and not now.on_changes
        and _checks(now)
        and not arrivals(file.path, evidence)
    ):
        yield finding(
            ROW, Severity.HIGH, "no push and no pull request sets off CI's checks", file.path, about="triggers"
        )


def _gone(file: ChangedFile, before: Workflow, now: Workflow, soft: set[Kind], evidence: Evidence) -> Iterator[Finding]:
    """Find kinds of checks that no changed workflow runs any more, unless something unknown came that may."""
    if now.calls - before.calls:
        return
    for kind, name, had in kinds_gone(before.commands, now.commands, arrivals(file.path, evidence)):
        if kind not in soft:
            yield finding(
                ROW, Severity.HIGH, f"CI runs no {name} any more", file.path, old=had.text, about=f"{kind}: gone"
            )


def _checks(workflow: Workflow) -> bool:
    return any(each.is_check for each in workflow.commands)


def _workflow(side: Side | None) -> Workflow:
    return workflow_of(side.path, side.text) if side is not None else _NONE
