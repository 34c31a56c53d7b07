"""Take the results of checks that would read the same from an earlier iteration, in place of running them again.

Only what a run would give again is taken: a run of tests that failed, was ended or was repeated is none, nor are checks
that changed kept files or whose records differ from their seal.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.core.metrics import Group
from ralph_tracker.integrity.deciding_files import kind_of_file
from ralph_tracker.iteration.repeat_failing import REPEAT, SECOND_RUN
from ralph_tracker.measure.find_reports import PLACEHOLDER, has_wildcard, matcher, matching_files
from ralph_tracker.measure.installed_tools import measured_with, packages_in
from ralph_tracker.measure.process import FinishedCommand
from ralph_tracker.measure.report_totals import measured_kind
from ralph_tracker.measure.run_checks import STANDARD_OUTPUT, Check, Instead
from ralph_tracker.store.iteration_snapshots import CHECKS, OUTPUT_KEPT
from ralph_tracker.store.layout import MANIFEST, LoopPaths
from ralph_tracker.store.read import Seals
from ralph_tracker.store.record_packs import kept_json
from ralph_tracker.store.snapshots.snapshot_types import Change

_REPORTS: Final = f"{PLACEHOLDER}/"


class EarlierResult(NamedTuple):
    """A result that is taken: the iteration in whose folder it is, and the one in which the check ran."""

    kept_in: int
    ran_in: int
    finished: FinishedCommand


def check_keys(
    checks: Sequence[Check],
    tree: str,
    changes: Callable[[], Iterable[Change]],
    root: Path,
    severity: Mapping[str, object],
    environment: Mapping[str, str],
) -> dict[str, str]:
    """Return what decides about the result of each check, and of all that it needs, as a digest.

    That is the content of the files that it reads (those named as its inputs, settings of test runners and what these
    load; without inputs the whole `tree`), its section of the configuration, the versions of the tools that it starts,
    and known variables. Tests that are held back have none: they are not in the tree. `changes` lists the files.
    """
    packages = cache(packages_in)  # the checks of a project share their environments
    files = [(each.path, each.new_mode, each.new_id) for each in (changes() if any(c.inputs for c in checks) else ())]
    keys: dict[str, str] = {}
    for check in checks:  # in running order
        if check.held_back is not None or not keys.keys() >= set(check.needs):
            continue
        reads = matcher(check.inputs)
        parts = [
            measured_with(root, [check], severity, environment, packages),
            [keys[name] for name in check.needs],
            [file for file in files if reads(file[0]) or kind_of_file(file[0]) in {"settings", "support"}]
            if check.inputs
            else tree,
        ]
        keys[check.name] = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return keys


def earlier_results(
    paths: LoopPaths, head: int | None, last: int, checks: Sequence[Check], keys: Mapping[str, str]
) -> dict[str, EarlierResult]:
    """Return the results to take, from the iteration `head` or one of the few before the `last`.

    A check is run even so where another one runs that needs it, or may: those without inputs run together.
    """
    found: dict[str, EarlierResult] = {}
    seals = Seals(paths)
    recent = () if head is None or not keys else (head, *range(last, max(last - 10, -1), -1))
    for number in dict.fromkeys(recent):
        document, manifest = (kept_json(paths, number, name) for name in (CHECKS, MANIFEST))
        if not isinstance(document, dict) or not isinstance(manifest, dict):
            continue
        folder = paths.iteration(number)
        of_it = {
            check.name: result
            for check in checks
            if check.name in keys and check.name not in found
            for each in document.get("checks", ())
            if each.get("name") == check.name and each.get("key") == keys[check.name]
            if (result := _result(check, each, number, folder)) is not None
        }
        unchanged = manifest.get("tree_after_checks") in {None, manifest.get("tree")}
        repeated = any((folder / name).exists() for name in (REPEAT, SECOND_RUN))
        if of_it and unchanged and not repeated and not seals.broken_files(number):
            found |= of_it
    if not all(check.inputs or check.name in found for check in checks):
        found = {check.name: found[check.name] for check in checks if check.inputs and check.name in found}
    for check in reversed(checks):
        if check.name not in found:
            for name in check.needs:
                found.pop(name, None)
    return found


def earlier_durations(paths: LoopPaths, head: int | None) -> dict[str, float]:
    """Return how many seconds each check took in the iteration `head`, as far as that is known."""
    document = None if head is None else kept_json(paths, head, CHECKS)
    checks = document.get("checks", ()) if isinstance(document, dict) else ()
    return {each["name"]: each["duration_s"] for each in checks if each.get("duration_s")}


def _result(check: Check, plain: Mapping[str, Any], number: int, folder: Path) -> EarlierResult | None:
    code, duration = plain["exit_code"], plain["duration_s"]
    if code is None or plain["timed_out"] or (code and measured_kind(check) in {Group.TESTS, None}):
        return None
    if any(each != STANDARD_OUTPUT and not each.startswith(_REPORTS) for each in check.reports):
        return None
    output = folder / "output" / f"{check.name}.stdout"
    if output.exists() and output.stat().st_size >= OUTPUT_KEPT:
        return None
    return EarlierResult(number, plain.get("from_iteration", number), FinishedCommand(code, duration_s=duration))


def put_in_place(paths: LoopPaths, results: Mapping[str, EarlierResult]) -> dict[str, Instead]:
    """Return for each check what is done in place of running it: its reports and its output are copied."""
    return {name: _copier(paths.iteration(each.kept_in), each.finished) for name, each in results.items()}


def _copier(folder: Path, finished: FinishedCommand) -> Callable[[Check, Path, Sequence[Path]], FinishedCommand]:
    def copy(check: Check, reports: Path, streams: Sequence[Path]) -> FinishedCommand:
        for stream in streams:
            kept = folder / "output" / stream.name
            stream.write_bytes(kept.read_bytes() if kept.exists() else b"")  # empty ones are not kept
        for pattern in check.reports:
            if pattern.startswith(_REPORTS):
                plain = pattern.removeprefix(_REPORTS)
                names = matching_files(folder / "reports", plain) if has_wildcard(plain) else [plain]
                for name in (each for each in names if (folder / "reports" / each).is_file()):
                    (reports / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(folder / "reports" / name, reports / name)
        return finished

    return copy
