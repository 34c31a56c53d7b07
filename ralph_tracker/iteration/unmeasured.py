"""Say why an iteration was not measured, in the words of the tool that failed."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Protocol

from ralph_tracker.core.metrics import Group, Metrics
from ralph_tracker.errors import NothingMeasuredError
from ralph_tracker.measure.report_totals import VALUES
from ralph_tracker.store.read import SealedRecords

_STEP: Final = (
    "fix that and record another iteration, or name one yourself with "
    "`ralph-tracker select-best --iteration N --reason WHY`"
)


class WithGaps(Protocol):
    """What was measured, with a reason for each group that was not, and the first error of what does not load."""

    @property
    def metrics(self) -> Metrics:
        """Return the values."""
        ...

    @property
    def missing(self) -> Mapping[Any, str]:
        """Return the reasons by group."""
        ...

    @property
    def not_loaded(self) -> Mapping[str, str]:
        """Return the errors by file."""
        ...


def why_no_baseline(measured: WithGaps, configured: Collection[Group]) -> tuple[Group, str] | None:
    """Return what iterations cannot be compared in, and why; None if a baseline measured so is enough.

    It is not without the configured tests, or if nothing that is configured was measured.
    """
    missing = measured.missing
    if Group.TESTS in configured and Group.TESTS in missing:
        return Group.TESTS, _reason(measured, Group.TESTS)
    if configured and all(group in missing for group in configured):
        lost = next(group for group in Group if group in configured)
        return lost, _reason(measured, lost)
    return None


def why_nothing(measured: WithGaps) -> str | None:
    """Return why no check has measured anything, None if one has or none should have."""
    if any(measured.metrics.get(name) is not None for name in VALUES.values()):
        return None
    lost = next((group for group in Group if group in VALUES and group in measured.missing), None)
    return None if lost is None else f"{lost.capitalize()} could not be measured: {_reason(measured, lost)}"


def _reason(measured: WithGaps, group: Group) -> str:
    why = measured.missing[group]
    error = next((line for line in measured.not_loaded.values() if line not in why), None)
    return f"{why}{f'; first error: {error}' if error else ''}"


def refuse_nothing_measured(records: SealedRecords, loop_id: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise NothingMeasuredError if the checks have measured nothing in any iteration on record."""
    if any(row["metrics"].get(name) is not None for row in rows for name in VALUES.values()):
        return
    for row in reversed(rows):
        found = records.measurement(row["iteration"])
        why = None if found is None or found[0].quality_score is not None else why_nothing(found[0])
        if why is not None:
            raise NothingMeasuredError(loop_id, why, _STEP)
