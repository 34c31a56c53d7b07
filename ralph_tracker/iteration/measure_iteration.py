"""Measure one iteration: keep the tree, run the checks, count the code; or take metrics that are handed in."""

import os
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.config.load import Config, changed_keys, config_of
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.core.metrics import FurtherMetric, Group, Measurement, Metrics, TestResults
from ralph_tracker.errors import ConfigError, InputError, StoreError
from ralph_tracker.formats.parsed_report import Severity
from ralph_tracker.formats.report_content import DEFAULT_LIMITS
from ralph_tracker.iteration.earlier_tests import BUILDS, ScratchRunner, scratch_tree
from ralph_tracker.iteration.file_forms import changed_files
from ralph_tracker.iteration.open_problems import (
    FINDINGS,
    NOT_RUN,
    SAME_AS,
    ListedDiagnostics,
    list_diagnostics,
    listed_diagnostics,
    listed_document,
)
from ralph_tracker.iteration.repeat_failing import (
    REPEAT,
    SECOND_RUN,
    RunAgain,
    believed_tests,
    failed_runs,
    ran_well,
    repeat_failing,
    run_again_in_place,
    run_failed_again,
)
from ralph_tracker.iteration.tamper_check import Reruns, TamperCheck
from ralph_tracker.iteration.unchanged_checks import (
    EarlierResult,
    check_keys,
    earlier_durations,
    earlier_results,
    put_in_place,
)
from ralph_tracker.measure.find_reports import PLACEHOLDER, FoundReport
from ralph_tracker.measure.installed_tools import absent, require_commands
from ralph_tracker.measure.linked_environments import link_environments
from ralph_tracker.measure.objectives import Objectives, numbers_of, read_objectives, repeat_checks, segment_of
from ralph_tracker.measure.report_totals import (
    CheckTotals,
    MetricSource,
    lacking,
    measured_kind,
    read_results,
    without_unloaded,
)
from ralph_tracker.measure.run_checks import (
    Check,
    CheckResult,
    Instead,
    command_text,
    configured_checks,
    environment_for_checks,
    parse_duration,
    run_checks,
)
from ralph_tracker.measure.tree_metrics import TREE_METRICS, TreeFacts, count_code, count_tasks, further_metrics
from ralph_tracker.records.quarantine import in_quarantine, set_aside
from ralph_tracker.safe_files import as_store_error, write_new
from ralph_tracker.short_text import first_few
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.iteration_snapshots import (
    CHECKS,
    OUTPUT_KEPT,
    CheckDocument,
    IterationSnapshots,
    KeptIteration,
    ReadOnlyFiles,
)
from ralph_tracker.store.json_documents import to_json
from ralph_tracker.store.layout import SCHEMA_VERSION
from ralph_tracker.store.record_guard import RecordGuard
from ralph_tracker.store.record_packs import kept_json
from ralph_tracker.store.snapshots.exclusions import UNREADABLE
from ralph_tracker.store.snapshots.snapshot_types import shown
from ralph_tracker.store.write import LoopStore

Progress = Callable[[str], None]
_FOLDERS: Final = ("reports", "output", "rerun", REPEAT, SECOND_RUN)
Source = Mapping[str, Any] | str | Path
CODE_CACHE: Final = "code-cache.json"


def change_note(paths: Sequence[str], before: Collection[str]) -> str:
    """Return the note on the files that the checks changed; `before` are the files that were there."""
    old = [path for path in paths if path in before]
    new = [path for path in paths if path not in before]
    folders = {folder for path in before for folder in _folders(path)}
    written = Counter(next((each for each in _folders(path) if each not in folders), path) for path in new)
    places = [*map(shown, old)]
    for place, count in sorted(written.items()):
        places.append(f"{shown(place)} ({count} files)" if place.endswith("/") and count > 1 else shown(place))
    note = f"tree_changed_by_checks: {first_few(places, 5)}"
    if not written:
        return note
    # Folders that are called the same are ignored by their name alone.
    names = Counter(_name(place) for place in written)
    lines = sorted({shown(_name(place) if names[_name(place)] > 1 else place) for place in written})
    return f"{note}; add to .gitignore: {first_few(lines, 5)}"


def _folders(path: str) -> list[str]:
    """Return the folders above a file, the outermost first, each with a slash at its end."""
    return [path[: at + 1] for at, char in enumerate(path) if char == "/"]


def _name(place: str) -> str:
    return place.rstrip("/").rpartition("/")[2] + ("/" if place.endswith("/") else "")


def run_held_back(
    iteration_snapshots: IterationSnapshots,
    tree: str,
    checks: Sequence[Check],
    environment: Mapping[str, str],
    output: Path,
    stack: ExitStack,
    progress: Callable[[str], None] | None = None,
) -> tuple[CheckResult, ...]:
    """Run each check in a copy of the tree with its folder of held-back tests copied over it.

    The reports exist while `stack` is open; they are not kept with the iteration, where the agent could read them.
    Raises ConfigError if a folder is missing or in the project, StoreError if the disk refuses.
    """
    results: list[CheckResult] = []
    for check in checks:
        source = folder_of(check, iteration_snapshots.paths.root)
        folder, copy = stack.enter_context(scratch_tree(iteration_snapshots, tree))
        paths = iteration_snapshots.paths
        variables = link_environments(
            paths.root, copy, [check], environment, same_source=True, builds=paths.folder / BUILDS
        )
        shutil.copytree(source, copy, dirs_exist_ok=True, symlinks=True)
        results += run_checks(
            [check._replace(needs=())],
            root=copy,
            folder=output / check.name,
            reports=folder / "reports",
            environment=environment_for_checks(variables, paths.root),
            on_progress=progress,
        )
    return tuple(results)


def folder_of(check: Check, root: Path) -> Path:
    """Return the folder of a check's held-back tests. Raises ConfigError if it is missing or in the project."""
    folder = Path(check.held_back or "").expanduser()
    folder = (folder if folder.is_absolute() else root / folder).resolve()
    key = f"checks.{check.name}.held_back: {check.held_back}"
    if not folder.is_dir():
        raise ConfigError(f"{key} is no folder; name one that holds the tests, outside of the project")
    if folder.is_relative_to(root.resolve()):
        raise ConfigError(f"{key} lies in the project, where the agent can read it; move it outside")
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111  Path.home() fails for a user without one
    if root.resolve().is_relative_to(folder) or home.is_relative_to(folder):
        raise ConfigError(f"{key} is a folder of more than tests, and all of it would be copied; name theirs")
    return folder


class Checkout(NamedTuple):
    """A commit that is measured as an iteration: `root` is an untouched checkout of it.

    The checks `ran` in another one, from which `totals` were read; `folder` has their `output` and `reports`. `home` is
    the folder whose environments they used. `tracked` are the paths of all commits of the loop, for its baseline.
    `run_again` runs tests once more there, None if they ran several times already.
    """

    root: Path
    home: Path
    totals: CheckTotals
    ran: tuple[CheckResult, ...]
    folder: Path
    tracked: Collection[str] = ()
    run_again: RunAgain | None = None


class MeasureTarget(NamedTuple):
    """Where and what to measure: the project, its checks, the code to count, and a folder of ours for the results.

    `severity` overrides the severity of lint findings, by prefix of their code. `may_be_absent` names the checks whose
    command need not exist yet. `rerun` says when earlier tests are run again, `rerun_timeout_s` how long a check of
    such a run may take. `plan` is the configured file of tasks, None to look for it. `checkout` is the commit whose
    checks ran already, None to run them. `metrics` name those of plug-ins, `objectives` are those of checks. `earlier`
    is what counts again if nothing differs from it. `fresh` runs also the checks that would read the same; else results
    may be those of the ten iterations up to `last`. `quarantine` has the tests that may decide nothing, and until when.
    """

    root: Path
    checks: tuple[Check, ...]
    codebase: Mapping[str, Any]
    scratch: Path
    cache: Path
    environment: Mapping[str, str]
    severity: Mapping[str, Severity] = {}
    may_be_absent: Collection[str] = ()
    plan: str | None = None
    rerun: str = "each"
    rerun_timeout_s: float = 600.0
    checkout: Checkout | None = None
    metrics: tuple[str, ...] = ()
    objectives: Mapping[str, Mapping[str, Any]] = {}
    earlier: "EarlierMeasurement | None" = None
    fresh: bool = False
    last: int = -1
    quarantine: Mapping[str, str] = {}


class EarlierMeasurement(NamedTuple):
    """What was measured at the iteration `number`, from which a tree descends; it counts again where nothing differs.

    `folder` has its reports and output.
    """

    measurement: Measurement
    number: int
    checks: tuple[CheckDocument, ...]
    listed: ListedDiagnostics
    folder: Path

    @classmethod
    def of(cls, store: LoopStore, head: int | None) -> "EarlierMeasurement | None":
        """Return that of an iteration, None where a check may give another result when it runs again."""
        recorded = None if head is None else store.measurement(head)
        if head is None or recorded is None or lacking(recorded[0].missing, recorded[0].metrics):
            return None
        if recorded[0].tests is not None and recorded[0].tests.flaky:
            return None
        plain, listed = kept_json(store.paths, head, CHECKS), listed_diagnostics(store, head)
        try:
            checks: tuple[Any, ...] = tuple({"from_iteration": head, **each} for each in plain["checks"])
            ended = all(each["exit_code"] is not None and not each["timed_out"] for each in checks)
        except (KeyError, TypeError, ValueError):
            return None
        folder = store.paths.iteration(head)
        return cls(recorded[0], head, checks, listed, folder) if ended and listed is not None else None

    def is_of(self, tree: str, keys: Mapping[str, str]) -> bool:
        """Return whether it is that of a tree, with checks of these keys."""
        return self.measurement.tree == tree and {each["name"]: each.get("key") for each in self.checks} == keys

    def again(self, kept: KeptIteration, scratch: Path) -> "TreeMeasurement":
        """Return it for the same tree, with copies of its reports and output."""
        with as_store_error(scratch):
            (scratch / "output").mkdir(parents=True)
            for name in _FOLDERS:
                if (self.folder / name).is_dir():
                    shutil.copytree(self.folder / name, scratch / name, symlinks=True, dirs_exist_ok=True)
        before = self.measurement
        ran_in = max((each["from_iteration"] for each in self.checks), default=self.number)
        same = f"{SAME_AS}tree, configuration and tools are those of iteration {ran_in}"
        return TreeMeasurement(
            metrics=before.metrics,
            tests=before.tests,
            missing=before.missing,
            notes=(f"{same}; --fresh runs the checks", *tree_notes(kept)),
            measures=(),
            kept=kept,
            scratch=scratch,
            not_loaded=before.not_loaded,
            listed=self.listed,
            further=tuple(each._replace(counted=True) for each in before.further),
            earlier=self,
        )


class TreeMeasurement(NamedTuple):
    """What was measured, the result of each check, and what was kept.

    `scratch` has the raw reports and the captured output of the checks that `ran`. `not_loaded` maps what did not
    build, so that its tests have no report, to the first error line. `listed` are the findings by target. `keys` are
    the digests of what decides about each check, `taken` the results of an earlier iteration. `earlier` is what was
    taken whole because nothing differs from it.
    """

    metrics: Metrics
    tests: TestResults | None
    missing: Mapping[str, str]
    notes: tuple[str, ...]
    measures: tuple[MetricSource, ...]
    kept: KeptIteration
    scratch: Path
    ran: tuple[CheckResult, ...] = ()
    not_loaded: Mapping[str, str] = {}
    listed: ListedDiagnostics = ListedDiagnostics()
    further: tuple[FurtherMetric, ...] = ()
    keys: Mapping[str, str] = {}
    taken: Mapping[str, EarlierResult] = {}
    earlier: EarlierMeasurement | None = None

    def fill(self, folder: Path, iteration_snapshots: IterationSnapshots, number: int) -> None:
        """Write all of it into the iteration's folder, before that is sealed."""
        shorten_output(self.scratch)
        for name in (REPEAT, SECOND_RUN):
            if (self.scratch / name).is_dir():
                shorten_output(self.scratch / name)
        _drop_odd_files(self.scratch / "rerun")
        for name in _FOLDERS:
            if (self.scratch / name).is_dir() and any((self.scratch / name).iterdir()):
                (self.scratch / name).rename(folder / name)
        earlier = self.earlier
        checks = [self._document(each) for each in self.ran] if earlier is None else earlier.checks
        write_new(folder / CHECKS, to_json({"schema_version": SCHEMA_VERSION, "checks": checks}), durable=False)
        write_new(folder / FINDINGS, to_json(listed_document(self.listed)), durable=False)
        iteration_snapshots.fill(folder, self.kept, number)

    def _document(self, result: CheckResult) -> CheckDocument:
        check, finished = result.check.name, result.finished
        document: CheckDocument = {
            "name": check,
            "exit_code": finished.exit_code,
            "signal": finished.signal,
            "timed_out": finished.timed_out,
            "problem": finished.problem,
            "duration_s": finished.duration_s,
            "summary": finished.summary,
        }
        if check in self.keys:
            document["key"] = self.keys[check]
        if check in self.taken:
            document["from_iteration"] = self.taken[check].ran_in
        return document


def _repeated_in_checkout(
    target: MeasureTarget, checkout: Checkout, believed: Collection[str], *, ran_well_before: bool
) -> CheckTotals:
    """Return the totals after failing tests were repeated, with a note on runs that failed: those are not."""
    measured = checkout.totals
    if checkout.run_again is not None:
        measured = repeat_failing(measured, believed, target.root, checkout.run_again)
    failed = failed_runs(checkout.ran, measured) if ran_well_before else {}
    if not failed:
        return measured
    note = f"failed, and not repeated, as a replay repeats tests only: {names_in_short(failed)}"
    return measured._replace(notes=(*measured.notes, note))


def measure_tree(
    target: MeasureTarget,
    iteration_snapshots: IterationSnapshots,
    previous: int | None,
    segments: Sequence[tuple[int, int]],
    *,
    believed: Collection[str] = (),
    repeat_runs: bool = False,
    allow_missing: bool = True,
    progress: Progress | None = None,
) -> TreeMeasurement:
    """Measure the current tree. `previous` and `segments` are the lineage that it descends from.

    Where tree, configuration and tools are those of the target's `earlier` measurement, that counts and no check runs.

    The tree is kept before the checks run, because checks write; what they changed is named in the notes. Of the
    `believed` tests, those that fail are repeated once; with `repeat_runs` so are checks whose run failed. Raises
    ConfigError if a command does not exist, unless `allow_missing`.
    """
    if not allow_missing:
        there = [check for check in target.checks if check.name not in target.may_be_absent]
        require_commands(there, target.root, target.environment)
    kept = iteration_snapshots.capture(previous, segments)
    tree, earlier = kept.snapshot.tree, target.earlier
    keys = _keys(target, iteration_snapshots, kept)
    with as_store_error(target.scratch):
        shutil.rmtree(target.scratch, ignore_errors=True)
    if earlier is not None and earlier.is_of(tree, keys):
        return earlier.again(kept, target.scratch)
    files = iteration_snapshots.store.paths(tree)
    code = count_code(
        target.root,
        files,
        cache=target.cache,
        include=target.codebase["include"],
        exclude=target.codebase["exclude"],
    )
    guard = RecordGuard(iteration_snapshots.paths)
    taken: Mapping[str, EarlierResult] = {}
    if target.checkout is None:
        if not target.fresh:
            taken = earlier_results(iteration_snapshots.paths, previous, target.last, target.checks, keys)
        with guard.read_only():
            results, measured = _run_checks_and_read(
                target,
                iteration_snapshots,
                tree,
                allow_missing=allow_missing,
                progress=progress,
                on_end=guard.put_back,
                instead=put_in_place(iteration_snapshots.paths, taken),
                lasted={} if progress is None else earlier_durations(iteration_snapshots.paths, previous),
            )
            if repeat_runs:
                results, measured = run_failed_again(
                    results,
                    measured,
                    read=partial(read_results, severity=target.severity, root=target.root),
                    run=partial(
                        run_checks,
                        root=target.root,
                        folder=target.scratch / SECOND_RUN / "output",
                        reports=target.scratch / SECOND_RUN / "reports",
                        environment=environment_for_checks(target.environment, target.root),
                        on_progress=progress,
                        on_end=guard.put_back,
                    ),
                )
            run_again = run_again_in_place(
                results,
                root=target.root,
                scratch=target.scratch,
                environment=environment_for_checks(target.environment, target.root),
                progress=progress,
            )
            measured = repeat_failing(measured, believed, target.root, run_again)
            guard.put_back("repeating the tests")
    else:
        results = target.checkout.ran
        measured = _repeated_in_checkout(target, target.checkout, believed, ran_well_before=repeat_runs)
        with as_store_error(target.scratch):
            shutil.copytree(target.checkout.folder, target.scratch, symlinks=True)
    facts = TreeFacts(
        target.root, partial(changed_files, iteration_snapshots, kept.since_baseline), code, measured.coverage
    )
    of_tree: dict[str, Any] = {name: take(facts) for name, take in TREE_METRICS.items()}
    metrics = measured.metrics._replace(**of_tree)
    further, problems = further_metrics(target.metrics, facts)
    objectives = _objectives(
        target, iteration_snapshots, tree, results, taken, partial(_repeat, target, guard, progress)
    )
    kept = iteration_snapshots.after_checks(kept) if target.checkout is None else kept
    if measured.tests is None or not measured.tests.outcomes:
        measured = _with_parse_errors(measured, target, kept)
    missing = dict(measured.missing)
    if code.complexity_score is None:
        missing[Group.CODE] = next(iter(measured.not_loaded.values()), "no function was found in the code in scope")
    notes = (*measured.notes, *code.notes, *problems, *objectives.problems, *tree_notes(kept), *guard.notes)
    if taken:
        origins = names_in_short([f"{name} (iteration {each.ran_in})" for name, each in taken.items()])
        notes = (*notes, f"{NOT_RUN}{origins}; what they read is the same; --fresh runs them")
    if kept.changed_by_checks:
        notes = (*notes, change_note(kept.changed_by_checks, frozenset(files)))
    # The changed files are only read if something could lie on their lines.
    covered = facts.covered_lines() or None
    new_lines = facts.new_lines() if measured.diagnostics or covered else {}
    return TreeMeasurement(
        metrics=metrics,
        tests=measured.tests,
        missing=missing,
        notes=notes,
        measures=measured.measures,
        kept=kept,
        scratch=target.scratch,
        ran=results,
        not_loaded=measured.not_loaded,
        listed=list_diagnostics(measured.diagnostics, new_lines, covered),
        further=(*further, *objectives.found),
        keys=keys,
        taken=taken,
    )


def _keys(target: MeasureTarget, iteration_snapshots: IterationSnapshots, kept: KeptIteration) -> Mapping[str, str]:
    """Return the key of each check, none where the tree may be another one when a check reads it."""
    if target.checkout is not None or not kept.snapshot.quiescent:
        return {}
    changes = partial(iteration_snapshots.store.changes, None, kept.snapshot.tree)
    return check_keys(target.checks, kept.snapshot.tree, changes, target.root, target.severity, target.environment)


def _objectives(
    target: MeasureTarget,
    iteration_snapshots: IterationSnapshots,
    tree: str,
    results: Sequence[CheckResult],
    taken: Collection[str],
    repeat: Callable[[Sequence[Check], int], Sequence[CheckResult]],
) -> Objectives:
    """Read the numbers of objectives, after as many runs as these ask for; of a checkout there is one."""
    if not target.objectives:
        return Objectives((), ())
    if target.checkout is None:
        results = (*results, *repeat_checks(target.objectives, results, taken, repeat))
    else:
        results = [_in_folder(each, target.checkout.folder) for each in results]
    ids = {each.path: each.new_id for each in iteration_snapshots.store.changes(None, tree)}
    benchmarks = {check.name: segment_of(check, ids) for check in target.checks}
    return read_objectives(target.objectives, results, taken, benchmarks)


def _in_folder(result: CheckResult, folder: Path) -> CheckResult:
    """Return the result of a check with its output and the reports below {reports} where a checkout has them now."""
    names = [each.removeprefix(f"{PLACEHOLDER}/") for each in result.check.reports if each.startswith(PLACEHOLDER)]
    paths = [path for name in names for path in sorted((folder / "reports").glob(name))]
    found = tuple(FoundReport(path.name, path) for path in paths)
    return result._replace(reports=found, stdout=folder / "output" / result.stdout.name)


def _repeat(
    target: MeasureTarget, guard: RecordGuard, progress: Progress | None, checks: Sequence[Check], turn: int
) -> tuple[CheckResult, ...]:
    """Run checks of objectives once more; what they print and report is read, and not kept."""
    folder = target.scratch / "repeats" / str(turn)
    return run_checks(
        checks,
        root=target.root,
        folder=folder / "output",
        reports=folder / "reports",
        environment=environment_for_checks(target.environment, target.root),
        on_progress=progress,
        on_end=guard.put_back,
    )


def _with_parse_errors(measured: CheckTotals, target: MeasureTarget, kept: KeptIteration) -> CheckTotals:
    """Return what was measured with the files that do not parse since the baseline, where no test would notice them."""
    changed = [change.path for change in kept.since_baseline if change.new_id is not None]
    if measured.not_loaded or not changed:
        return measured
    from ralph_tracker.measure.syntax import parse_errors  # noqa: PLC0415  # only without tests

    errors = parse_errors(target.root, changed, target.environment)
    return measured._replace(not_loaded=errors, tests=None) if errors else measured


def _run_checks_and_read(
    target: MeasureTarget,
    iteration_snapshots: IterationSnapshots,
    tree: str,
    *,
    allow_missing: bool,
    progress: Progress | None,
    on_end: Callable[[str], None],
    instead: Mapping[str, Instead],
    lasted: Mapping[str, float],
) -> tuple[tuple[CheckResult, ...], CheckTotals]:
    """Run the checks on the current tree, which is kept as `tree`, and read their reports."""
    results = run_checks(
        [check for check in target.checks if check.held_back is None],
        root=target.root,
        folder=target.scratch / "output",
        reports=target.scratch / "reports",
        environment=environment_for_checks(target.environment, target.root),
        on_progress=progress,
        on_end=on_end,
        instead=instead,
        lasted=lasted,
    )
    if not allow_missing:
        for result in results:
            if result.finished.not_found and result.check.name not in target.may_be_absent:
                raise absent(result.check.name, result.finished.problem)
    held_back = [check for check in target.checks if check.held_back is not None]
    with ExitStack() as stack:
        if held_back:
            output = target.scratch / "held-back"
            results += run_held_back(iteration_snapshots, tree, held_back, target.environment, output, stack, progress)
        return results, read_results(results, target.severity, target.root)


def tree_notes(kept: KeptIteration) -> list[str]:
    """Return what the record must say about the tree that was kept."""
    notes = [] if kept.note is None else [kept.note]
    if not kept.snapshot.quiescent:
        notes.append("quiescent: false; the tree was being written to while it was read")
    unreadable = [skip.path for skip in kept.snapshot.skipped if skip.reason == UNREADABLE]
    if unreadable:
        notes.append(f"not_kept_as_not_readable: {_first_paths(unreadable)}")
    if kept.snapshot.left_alone:
        paths = _first_paths(kept.snapshot.left_alone)
        notes.append(f"ignored_since_kept: {paths}; no restore deletes or overwrites that")
    return notes


def _first_paths(paths: Sequence[str]) -> str:
    return first_few([shown(path) for path in paths], 5)


def shorten_output(folder: Path) -> None:
    """Truncate the checks' output and reports of a folder to the stored size."""
    for path in (folder / "output").iterdir():
        size = path.lstat().st_size
        if not size:
            path.unlink()
        elif size > OUTPUT_KEPT:
            _cut(path, size)
    _drop_odd_files(folder / "reports")


def _cut(path: Path, size: int) -> None:
    os.truncate(path, OUTPUT_KEPT)
    with path.open("ab") as file:
        file.write(f"\n[ralph-tracker: {size} bytes, the first {OUTPUT_KEPT} are kept]\n".encode())


def _drop_odd_files(folder: Path) -> None:
    """Delete special files, since a pipe would block its reader, and shorten reports that were not read."""
    for place, _, names in os.walk(folder):
        for path in (Path(place) / name for name in names):
            status = path.lstat()
            if not (stat.S_ISREG(status.st_mode) or path.is_symlink()):
                path.unlink()
            elif stat.S_ISREG(status.st_mode) and status.st_size > DEFAULT_LIMITS.max_bytes:
                _cut(path, status.st_size)


class MeasuredIteration(NamedTuple):
    """A measurement, what was kept with it, and the measured tree if we measured it ourselves."""

    measurement: Measurement
    iteration_snapshots: IterationSnapshots | None = None
    kept: KeptIteration | None = None
    tree_measurement: TreeMeasurement | None = None

    def fill(self, number: int) -> Callable[[Path], None] | None:
        """Return the function that writes the files into the iteration's folder, None if there are none."""
        tree_measurement, iteration_snapshots, kept = self.tree_measurement, self.iteration_snapshots, self.kept
        if iteration_snapshots is None or kept is None:
            return None
        if tree_measurement is None:
            return lambda folder: iteration_snapshots.fill(folder, kept, number)
        return lambda folder: tree_measurement.fill(folder, iteration_snapshots, number)

    def name(self, number: int) -> None:
        """Name the kept files as those of a recorded iteration, and remove leftovers."""
        if self.iteration_snapshots is not None and self.kept is not None:
            self.iteration_snapshots.name(number, self.kept)
        if self.tree_measurement is not None:
            shutil.rmtree(self.tree_measurement.scratch, ignore_errors=True)

    def pack_store(self, number: int) -> None:
        """Pack the store from time to time; it never fails."""
        if self.iteration_snapshots is not None:
            self.iteration_snapshots.pack_store(number)


class IterationMeasurer:
    """Measure an iteration of a loop (None for the baseline), or take its metrics where they are handed in.

    `blocked` is the runner's reason why a person is needed, `notes` are the runner's remarks on the agent's work.
    `checkout` is the commit to measure, None for the working tree. With `fresh` the checks run even if nothing changed.
    """

    def __init__(
        self,
        now: datetime,
        loop: ConfiguredLoop | None = None,
        usage: Source | None = None,
        blocked: str | None = None,
        notes: tuple[str, ...] = (),
        checkout: Checkout | None = None,
        *,
        fresh: bool = False,
    ) -> None:
        self.now = now
        self.loop = loop
        self.usage = usage
        self.blocked = blocked
        self.notes = notes
        self.checkout = checkout
        self.fresh = fresh

    def take_metrics(self, metrics: Source, config: Config) -> MeasuredIteration:
        """Take metrics that are handed in. Raises InputError if they are unusable."""
        from ralph_tracker.measure.handed_in import read_metrics  # noqa: PLC0415  # only for metrics handed in

        given, base = read_metrics(metrics), self._unmeasured()
        measurement = base._replace(
            metrics=given.metrics,
            quality_score=given.quality_score,
            tests=given.tests,
            failing_named=given.failing,
            notes=(*base.notes, given.note) if given.note else base.notes,
        )
        return MeasuredIteration(self._set_aside(measurement, config.document.get("quarantine", {})))

    def _set_aside(self, measurement: Measurement, quarantine: Mapping[str, str]) -> Measurement:
        begun = self.now if self.loop is None else self.loop.started
        return set_aside(measurement, in_quarantine(quarantine, utc_text(begun)[:10]))

    def keep_tree_beside(
        self, given: MeasuredIteration, store: LoopStore, config: Config, state: JudgeState
    ) -> MeasuredIteration:
        """Keep the tree beside metrics that were handed in, if the loop keeps files.

        Raises StoreError for trouble with the disk, git or the size of the tree.
        """
        iteration_snapshots = IterationSnapshots(store)
        tasks = count_tasks(store.paths.root, config.document.get("plan"))
        given = given._replace(measurement=given.measurement._replace(plan=tasks))
        keep = config.document["codebase"]["keep"]
        if not (
            iteration_snapshots.prepare_keeping(keep) if self.loop is None else iteration_snapshots.baseline_is_kept
        ):
            return given
        try:
            if self.loop is None:
                iteration_snapshots.create(**_kept_of_tree(config))
            kept = iteration_snapshots.capture(state.lineage.head, state.lineage.segments)
        except StoreError as error:
            if self.loop is None and keep == "auto":
                raise StoreError(f"{error}; or set codebase.keep: never") from None
            raise
        measurement = _with_tree(given.measurement, kept, tree_notes(kept))
        return MeasuredIteration(
            self._with_integrity(measurement, iteration_snapshots, kept, state), iteration_snapshots, kept
        )

    def measure(
        self,
        store: LoopStore,
        config: Config,
        state: JudgeState,
        environment: Mapping[str, str],
        *,
        allow_missing: bool,
        progress: Progress | None,
    ) -> MeasuredIteration:
        """Keep the tree, run the loop's own checks and count its code.

        Raises ConfigError for checks that cannot be run, StoreError if the disk or git refuses.
        """
        if self.loop is None and config.document["codebase"]["keep"] == "never":
            raise ConfigError(
                f"{config.source}: codebase.keep: never works only with metrics handed in; checks need the stored files"
            )
        commit = self.checkout
        root = store.paths.root if commit is None else commit.root
        iteration_snapshots = IterationSnapshots(store, root)
        if self.loop is None:
            tracked = () if commit is None else commit.tracked
            iteration_snapshots.create(tracked=tracked, **_kept_of_tree(config))
        cache = store.paths.folder / CODE_CACHE
        target = target_of(config, root, store.paths.staging, cache, environment)._replace(checkout=commit)
        target = target._replace(fresh=self.fresh)
        if not self.fresh:
            target = target._replace(earlier=EarlierMeasurement.of(store, state.lineage.head))
        return self._measure_target(target, iteration_snapshots, state, allow_missing=allow_missing, progress=progress)

    def preview(
        self,
        loop: ConfiguredLoop,
        state: JudgeState,
        metrics: Source | None,
        environment: Mapping[str, str],
        folder: Path,
        *,
        progress: Progress | None,
    ) -> MeasuredIteration:
        """Measure the next iteration without recording it; files go to the empty `folder`.

        Raises as `take_metrics` and `measure` do.
        """
        store = loop.store
        if metrics is not None:
            given = self.take_metrics(metrics, loop.config)
            tasks = count_tasks(store.paths.root, loop.config.document.get("plan"))
            given = given._replace(measurement=given.measurement._replace(plan=tasks))
            if not IterationSnapshots(store).baseline_is_kept:
                return given
            reader = ReadOnlyFiles(store, folder / "store")
            kept = reader.capture(state.lineage.head, state.lineage.segments)
            measurement = _with_tree(given.measurement, kept, tree_notes(kept))
            return MeasuredIteration(self._with_integrity(measurement, reader, kept, state))
        cache = folder / CODE_CACHE
        with suppress(OSError):  # without the index every file is read
            shutil.copyfile(store.paths.folder / CODE_CACHE, cache)
        target = target_of(loop.config, store.paths.root, folder, cache, environment)._replace(fresh=True)
        return self._measure_target(
            target, ReadOnlyFiles(store, folder / "store"), state, allow_missing=True, progress=progress
        )

    def _measure_target(
        self,
        target: MeasureTarget,
        iteration_snapshots: IterationSnapshots,
        state: JudgeState,
        *,
        allow_missing: bool,
        progress: Progress | None,
    ) -> MeasuredIteration:
        line = state.lineage
        measured = measure_tree(
            target._replace(last=state.iteration),
            iteration_snapshots,
            line.head,
            line.segments,
            believed=believed_tests(state.known),
            repeat_runs=ran_well(line),
            allow_missing=allow_missing,
            progress=progress,
        )
        measurement = self._unmeasured()._replace(
            plan=count_tasks(target.root, target.plan),
            metrics=measured.metrics,
            tests=None if measured.tests is None else without_unloaded(measured.tests),
            missing=measured.missing,
            not_loaded=measured.not_loaded,
            further=measured.further,
            quarantined={} if measured.earlier is None else measured.earlier.measurement.quarantined,
        )
        measurement = self._set_aside(_with_tree(measurement, measured.kept, measured.notes), target.quarantine)
        return MeasuredIteration(
            self._with_integrity(measurement, iteration_snapshots, measured.kept, state, target),
            iteration_snapshots,
            measured.kept,
            measured,
        )

    def _with_integrity(
        self,
        measurement: Measurement,
        iteration_snapshots: IterationSnapshots,
        kept: KeptIteration,
        state: JudgeState,
        target: MeasureTarget | None = None,
    ) -> Measurement:
        """Add the findings of integrity rules, and of a run of earlier tests if checks measure (`target`)."""
        reruns = None
        if target is not None and target.rerun in {"each", "touched"}:
            runner = ScratchRunner(
                iteration_snapshots, target.checks, target.environment, target.rerun_timeout_s, target.scratch
            )
            if target.checkout is not None:
                runner = runner._replace(same_source=False, home=target.checkout.home)
            commands = [command_text(check) for check in target.checks]
            touched, own = target.rerun == "touched", target.checkout is None
            reruns = Reruns(runner, only_touched=touched, commands=commands, own_packages=own)
        tests, not_loaded = measurement.tests, measurement.not_loaded
        check = TamperCheck(iteration_snapshots, state, kept, tests, not_loaded=not_loaded, reruns=reruns)
        return measurement._replace(integrity=check.integrity())

    def _unmeasured(self) -> Measurement:
        """Return a measurement without measured values, with only the context."""
        loop = self.loop
        usage = None
        if self.usage is not None:
            from ralph_tracker.measure.handed_in import read_usage  # noqa: PLC0415  as above

            usage = read_usage(self.usage)
        return Measurement(
            metrics=Metrics(),
            timestamp=utc_text(self.now),
            usage=usage,
            blocked=self.blocked,
            notes=self.notes,
            elapsed_s=None if loop is None else (self.now - loop.started).total_seconds(),
            config_changed=() if loop is None else changed_keys(loop.store.paths.root, loop.config),
        )


def _with_tree(measurement: Measurement, kept: KeptIteration, notes: Sequence[str]) -> Measurement:
    return measurement._replace(
        notes=(*measurement.notes, *notes),
        tree=kept.snapshot.tree,
        tree_visits=kept.visits.times,
        tree_last=kept.visits.last,
    )


def target_of(config: Config, root: Path, folder: Path, cache: Path, environment: Mapping[str, str]) -> MeasureTarget:
    """Return what to measure according to a configuration; the results go to `folder`."""
    integrity = config.document.get("integrity") or {}
    return MeasureTarget(
        root=root,
        checks=configured_checks(config.document),
        codebase=config.document["codebase"],
        scratch=folder / "measuring",
        cache=cache,
        environment=environment,
        severity=config.document["severity"],
        plan=config.document.get("plan"),
        rerun=integrity.get("rerun", "each"),
        rerun_timeout_s=parse_duration("integrity.rerun_timeout", integrity.get("rerun_timeout", "10m")),
        may_be_absent=frozenset(config.given),
        metrics=tuple(name for name, each in config.document.get("metrics", {}).items() if not each.get("from")),
        objectives=numbers_of(config.document),
        quarantine=config.document.get("quarantine", {}),
    )


def with_detected_checks(config: Config, root: Path, environment: Mapping[str, str]) -> Config:
    """Return the configuration, with detected checks if it names none.

    Raises ConfigError if nothing is found.
    """
    if config.document["checks"]:
        return config
    from ralph_tracker.measure.detect import (  # noqa: PLC0415  # needed once per loop
        detect,
        without_failing_linters,
    )

    found = without_failing_linters(detect(root, environment), root, environment)
    if not found.checks:
        raise ConfigError(f"nothing to measure with: {'; '.join(found.notes)}; or hand metrics in with --metrics FILE")
    document = {**config.document, "checks": {name: dict(check) for name, check in found.checks.items()}}
    return config_of(document, config.source, config.digest)._replace(detected=True)


def configured_by(document: Mapping[str, Any]) -> frozenset[Group]:
    """Return the groups that the checks will measure, as far as the configuration shows."""
    kinds = {measured_kind(check) for check in configured_checks(document)}
    return frozenset(group for group in Group if group in kinds)


def refuse_other_origin(loop: ConfiguredLoop, metrics: Source | None) -> None:
    """Raise InputError if metrics are handed in to a loop that measures, or the reverse."""
    if loop.origin == "given" and metrics is None:
        raise InputError("this loop's metrics are handed in, as its baseline was; pass --metrics FILE")
    if loop.origin == "measured" and metrics is not None:
        raise InputError("this loop is measured by its own checks since its baseline; leave --metrics out")


def utc_text(moment: datetime) -> str:
    """Return a moment in UTC, to the second, as text."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _kept_of_tree(config: Config) -> dict[str, Any]:
    """Return what the configuration says about the files of the tree that are kept."""
    return {key: config.document["snapshot"][key] for key in ("include", "exclude")}
