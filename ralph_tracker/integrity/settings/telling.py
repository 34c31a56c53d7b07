"""How a gate that got weaker is told."""

from ralph_tracker.core.findings import Finding
from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.evidence import finding
from ralph_tracker.integrity.settings.losses import Loss


def from_loss(rule: str, what: str, loss: Loss, file: ChangedFile) -> Finding:
    """Make the finding of a gate that is weaker."""
    change = f"{loss.old or 'unset'} -> {loss.new or 'gone'}"
    if loss.old is None:
        change = f"now also {loss.new}"
    elif loss.new is None and file.new is not None:
        change = f"no longer {loss.old}"
    return finding(
        rule,
        loss.severity,
        f"{what}: {loss.key}: {change}",
        file.path,
        line=line_of(file, loss.key),
        old=loss.old,
        new=loss.new,
        about=loss.key,
    )


def line_of(file: ChangedFile, key: str) -> int | None:
    """Return the line of the new text that names the last part of a key, None where none does."""
    if file.new is None:
        return None
    name = key.rpartition(".")[2]
    return next((at for at, line in enumerate(file.new.lines, 1) if name in line), None)
