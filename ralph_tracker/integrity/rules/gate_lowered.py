"""G1: a gate in the settings is weaker than it was."""

from collections.abc import Iterator

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.settings.files import is_settings
from ralph_tracker.integrity.settings.losses import losses
from ralph_tracker.integrity.settings.runs import emptied, softened
from ralph_tracker.integrity.settings.targets import holds_targets, targets_of
from ralph_tracker.integrity.settings.telling import from_loss, line_of
from ralph_tracker.integrity.settings.workflows import is_workflow

ROW = "G1"


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield the gates that are lower, gone or widened, and the checks whose failure goes unheard."""
    if is_settings(file.path) or holds_targets(file.path):
        for loss in losses(file, evidence.files):
            if loss.gate.rule == ROW:
                yield from_loss(ROW, "gate lowered", loss, file)
    if holds_targets(file.path) and not is_workflow(file.path):
        yield from _unheard(file)


def _unheard(file: ChangedFile) -> Iterator[Finding]:
    if file.old is None or file.new is None:
        return
    before, now = targets_of(file.path, file.old.text), targets_of(file.path, file.new.text)
    for name in (each for each in before if each in now):
        for each in softened(before[name], now[name]):
            yield finding(
                ROW,
                Severity.HIGH,
                f"failure of a check passed over in {name}: {each.what}",
                file.path,
                line=line_of(file, each.command.text),
                old=each.before.text,
                new=each.command.text,
                about=f"{name}: {each.command.kind}",
            )
        gone = emptied(before[name], now[name])
        if gone is not None and gone.kind != "test":
            yield finding(
                ROW,
                Severity.HIGH,
                f"{name} checks nothing any more",
                file.path,
                old=gone.text,
                about=f"{name}: emptied",
            )
