"""G1: a gate in the settings is weaker than it was."""

from collections.abc import Iterator
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.settings.eased import eased, said_elsewhere
from ralph_tracker.integrity.settings.files import is_settings
from ralph_tracker.integrity.settings.gone import arrivals, commands_of, kinds_gone
from ralph_tracker.integrity.settings.losses import losses
from ralph_tracker.integrity.settings.runs import emptied, softened
from ralph_tracker.integrity.settings.targets import holds_targets, targets_of
from ralph_tracker.integrity.settings.telling import from_loss, line_of
from ralph_tracker.integrity.settings.workflows import is_workflow

ROW = "G1"
_HELD: Final = frozenset({"lint", "types", "security"})  # of tests T3 tells


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield the gates that are lower, gone or widened, and the checks whose failure goes unheard."""
    if is_settings(file.path) or holds_targets(file.path):
        for loss in losses(file, evidence.files):
            if loss.gate.rule == ROW:
                yield from_loss(ROW, "gate lowered", loss, file)
    if holds_targets(file.path) and not is_workflow(file.path):
        yield from _unheard(file, evidence)
        yield from _gone(file, evidence)


def _gone(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Find kinds of checks that none of a file's targets runs any more."""
    if file.old is None or file.new is None:
        return
    before, now = commands_of(file.path, file.old.text), commands_of(file.path, file.new.text)
    soft = {each.command.kind for each in softened(before, now)}
    for kind, name, had in kinds_gone(before, now, arrivals(file.path, evidence)):
        if kind in _HELD and kind not in soft:
            yield finding(
                ROW,
                Severity.HIGH,
                f"{file.path} runs no {name} any more",
                file.path,
                old=had.text,
                about=f"{kind}: gone",
            )


def _unheard(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
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
        for each in eased(before[name], now[name]):
            by_its_key = "fail-under" in each.what or "--max-warnings" in each.what
            if not by_its_key and not said_elsewhere(each, evidence.files):
                yield finding(
                    ROW,
                    Severity.HIGH,
                    f"a check of {name} asks for less: {each.what}",
                    file.path,
                    line=line_of(file, each.command.text),
                    old=each.before.text,
                    new=each.command.text,
                    about=f"{name}: less of {each.command.kind}",
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
