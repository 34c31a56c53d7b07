"""Try the linters and type checkers that were detected: one that cannot run would count as full of errors for ever."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from ralph_tracker.core.metrics import Group
from ralph_tracker.measure.detect import DetectedChecks
from ralph_tracker.measure.report_totals import measured_kind, read_results
from ralph_tracker.measure.run_checks import configured_checks, environment_for_checks, run_checks
from ralph_tracker.scratch import temporary_folder

_TRIED: Final = frozenset({Group.LINT, Group.TYPES})


def without_failing_linters(found: DetectedChecks, root: Path, environment: Mapping[str, str]) -> DetectedChecks:
    """Return what was detected without the linters and type checkers that measure nothing here, each with a note."""
    checks = configured_checks({"checks": found.checks})
    # One that takes longer is taken to work: what cannot run says so soon, and a large project takes minutes.
    tried = [check._replace(timeout_s=20.0, needs=()) for check in checks if measured_kind(check) in _TRIED]
    if not tried:
        return found
    with temporary_folder() as folder:
        results = run_checks(
            tried,
            root=root,
            folder=folder / "output",
            reports=folder / "reports",
            environment=environment_for_checks(environment, root),
            jobs=len(tried),
        )
        failing = {
            result.check.name: why
            for result in results
            if not result.finished.timed_out
            and (why := read_results([result], root=root).missing.get(str(measured_kind(result.check))))
        }
    notes = tuple(f"{name} is left out, it does not run here: {why}" for name, why in failing.items())
    kept = {name: check for name, check in found.checks.items() if name not in failing}
    return replace(found, checks=kept, notes=(*found.notes, *notes))
