"""Start a loop: measure the baseline, freeze the configuration, and end or replace a running loop."""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from ralph_tracker.config.load import CONFIG_FILE, FOR_EDITORS, Config, load_config, with_checks, with_limits
from ralph_tracker.config.yaml_io import dump_yaml
from ralph_tracker.core.judge import judge_baseline
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.core.metrics import FAILED, PASSED, Group, Measurement, Metrics, quantity
from ralph_tracker.errors import ConfigError, LoopError, LoopWarning, RecordError, StoreError
from ralph_tracker.iteration.measure_iteration import (
    IterationMeasurer,
    MeasuredIteration,
    Progress,
    Source,
    configured_by,
    utc_text,
    with_detected_checks,
)
from ralph_tracker.iteration.record_and_recover import judge_or_refuse, record_iteration, recover_loop
from ralph_tracker.iteration.trust_listing import loop_runs, project_runs
from ralph_tracker.iteration.unmeasured import why_no_baseline
from ralph_tracker.measure.ecosystems.detected_ecosystem import BY_STATUS
from ralph_tracker.measure.installed_tools import environment_facts
from ralph_tracker.measure.limit_to_test_files import untraced
from ralph_tracker.measure.report_totals import measured_kind, read_results
from ralph_tracker.measure.run_checks import command_text, configured_checks, environment_for_checks, run_checks
from ralph_tracker.records.iteration_record import IterationRecord
from ralph_tracker.safe_files import text_of
from ralph_tracker.scratch import temporary_folder
from ralph_tracker.store.configured_loop import ConfiguredLoop, Origin, loop_document
from ralph_tracker.store.find import told_if_brought_back
from ralph_tracker.store.git_links import begin_links, renew_links
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.store.restore_mark import interrupted_restore
from ralph_tracker.store.summary import attempted_iteration
from ralph_tracker.store.trust import Trust
from ralph_tracker.store.write import LoopStore, Project, continuation_json

_NAME_IT: Final = "`ralph-tracker init --force --test-command 'COMMAND'` names another"
TakenOver = Literal["abandoned", "rebaselined"]


@dataclass(frozen=True, slots=True)
class LoopStart:
    """Start a loop: record its baseline.

    `named` is its id, None for the next default one. `taken_over` is the status for a loop that is still running; with
    None such a loop is an error. `allow_missing` lets the command of a check be absent and tests unmeasured. `limits`
    override keys of `loop` in the configuration file, `checks` are added to those of the file.
    """

    project: Project
    trust: Trust
    measurer: IterationMeasurer
    named: str | None
    environment: Mapping[str, str]
    taken_over: TakenOver | None = None
    allow_missing: bool = False
    progress: Progress | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    checks: Mapping[str, Any] = field(default_factory=dict)

    def baseline(self, metrics: Source | None) -> IterationRecord:
        """Record the baseline, or finish what a killed call for the same one began.

        Raises LoopError for a loop that exists or is unfinished, InputError and ConfigError for bad input,
        UntrustedError for checks that came with the project. Detected checks need no consent: the user asked for them.
        """
        project = self.project
        told_if_brought_back(project.paths)
        config = with_limits(load_config(project.paths.root), self.limits)
        given = None if metrics is None else self.measurer.take_metrics(metrics, config)
        if metrics is None:
            self.trust.require_project(project_runs(project.paths.root, with_checks(config, self.checks).document))
            config = with_checks(with_detected_checks(config, project.paths.root, self.environment), self.checks)
        with hold_lock(project.paths.lock, "pre-loop"):
            project.clear()
            current = project.current_loop_id()
            interrupted = None if current is None else project.store(current)
            if interrupted is not None and interrupted_restore(interrupted.paths) is not None:
                # Raises LoopError if files were edited since; what is lost is given up.
                with interrupted.write_lock("pre-loop"), suppress(RecordError, StoreError):
                    recover_loop(ConfiguredLoop.read(interrupted, configured_by), unfinished=True)
            store = self._find_begun(given)
            replaced = self._loop_to_replace(store)
            if store is not None:
                resumed = store
                self.trust.require_loop(resumed.paths, lambda: loop_runs(resumed))
                with resumed.write_lock("pre-loop"):
                    loop = ConfiguredLoop.read(resumed, configured_by)
                    recover_loop(loop, unfinished=True)
                    record = loop.record(0)
            else:
                store = project.new_loop_store(self.named)
                linked = replaced.paths.loop_id if replaced is not None and self.taken_over == "rebaselined" else None
                record = self.begin(store, config, given, linked, outlives=config.document["snapshot"]["git_links"])
            if replaced is not None and self.taken_over is not None:
                with replaced.write_lock("pre-loop"):
                    replaced.give_up(self.taken_over, utc_text(self.measurer.now))
            project.set_current(store.paths.loop_id)
            store.done()
            renew_links(store.paths)
        return record

    def begin(
        self,
        store: LoopStore,
        config: Config,
        given: MeasuredIteration | None = None,
        linked: str | None = None,
        *,
        outlives: bool = False,
    ) -> IterationRecord:
        """Record the baseline in a new loop, which does not become the current one. Raises as `baseline` does.

        With `outlives` its files are linked below git's folder; one that a replay can make again needs no such links.
        """
        origin: Origin = "measured" if given is None else "given"
        with store.write_lock("pre-loop"):
            state = JudgeState(loop_id=store.paths.loop_id, thresholds=config.thresholds)
            if given is None:
                measured = self.measurer.measure(
                    store, config, state, self.environment, allow_missing=self.allow_missing, progress=self.progress
                )
            else:
                measured = self.measurer.keep_tree_beside(given, store, config, state)
            configured = configured_by(config.document) if given is None else frozenset[Group]()
            if given is None and not self.allow_missing:
                question = self._question(config) if configured else None
                refuse_unmeasured(measured.measurement, configured_by(without_given(config)), question)
            asked = self._question_where_nothing_passes(measured.measurement.metrics, config)
            unlinked = begin_links(store.paths) if outlives else None
            measured = with_notes(measured, [*asked, *self._failing_traced(measured)])
            judgement = judge_or_refuse(lambda: judge_baseline(state, measured.measurement, configured))
            at = measured.measurement.timestamp
            store.begin(0)
            store.write(store.paths.continuation, continuation_json(config.document))
            facts = environment_facts()
            document = dump_yaml(
                loop_document(store.paths.loop_id, config, at, linked_to=linked, origin=origin, facts=facts)
            ).encode()
            if given is None:  # first, so that a killed call never leaves a loop that is not trusted
                self.trust.mark_loop(store.paths, document)
            store.write(store.paths.loop_file, document)
            record, _ = record_iteration(store, judgement, measured, at)
            if unlinked is not None:
                warnings.warn(unlinked, LoopWarning, stacklevel=2)
        return record

    def _question_where_nothing_passes(self, metrics: Metrics, config: Config) -> list[str]:
        fails = metrics.build_status == "failure" or (metrics.tests_failed and not metrics.tests_passed)
        question = self._question(config) if fails else None
        return [] if question is None else [f"nothing passes on the baseline; {question}"]

    def _failing_traced(self, measured: MeasuredIteration) -> list[str]:
        """Return a note for each check some of whose failing tests pass without its tracer; each is tried once."""
        tests, tree = measured.measurement.tests, measured.tree_measurement
        failing = [] if tests is None else [name for name, how in tests.outcomes.items() if how == FAILED]
        if not failing or tree is None:
            return []
        root = self.project.paths.root
        notes = []
        for check in (each.check for each in tree.ran if measured_kind(each.check) == Group.TESTS):
            bare = untraced(check)
            if bare is None:
                continue
            with temporary_folder() as folder:
                ran = run_checks(
                    [bare],
                    root=root,
                    folder=folder / "output",
                    reports=folder / "reports",
                    environment=environment_for_checks(self.environment, root),
                    on_progress=self.progress,
                )
                found = read_results(ran, root=root).tests
            passing = [] if found is None else [name for name in failing if found.outcomes.get(name) == PASSED]
            if passing:
                notes.append(
                    f"without coverage {quantity(len(passing), 'more test')} would pass: "
                    f"{names_in_short(passing)}; take coverage out of checks.{check.name}.run, as in "
                    f"`{command_text(bare)}`, then use `ralph-tracker hook pre-loop --rebaseline`"
                )
        return notes

    def _question(self, config: Config) -> str | None:
        """Return what is asked about a command of tests that was guessed, None about one that a person wrote."""
        text = text_of(self.project.paths.root / CONFIG_FILE) or ""
        command = test_command(config) if config.detected or text.startswith(FOR_EDITORS) else None
        return None if command is None else f"is this your test command? `{command}`; {_NAME_IT}"

    def _find_begun(self, given: MeasuredIteration | None) -> LoopStore | None:
        """Return the loop that a killed call for the same baseline began, None if there is none."""
        loop_id = self.named or self.project.last_id()
        store = None if loop_id is None else self.project.store(loop_id)
        if store is None or attempted_iteration(store.paths) != 0:
            return None
        stored = store.measurement(0)
        if stored is None:
            return None
        if given is None:
            iteration_snapshots = IterationSnapshots(store)
            same = iteration_snapshots.store.exists and iteration_snapshots.tree_equals(0, stored[0].tree)
        else:
            same = stored[0].state_of_work() == given.measurement.state_of_work()
        return store if same else None

    def _loop_to_replace(self, begun: LoopStore | None) -> LoopStore | None:
        """Return the unfinished loop to replace; raise LoopError unless the caller allowed that."""
        current = self.project.current_loop_id()
        if current is None or not self.project.store(current).exists:
            return None
        store = self.project.store(current)
        if begun is not None and begun.paths.folder == store.paths.folder:
            return None
        allowed = self.taken_over is not None
        if store.status() != "running" or (not allowed and self.named not in {None, current}):
            return None
        if allowed:
            return store
        raise LoopError(
            f"loop {current} is still running; end it with `ralph-tracker hook post-loop`, "
            "or use --new to abandon it, or --rebaseline to measure a new baseline"
        )


def without_given(config: Config) -> Mapping[str, Any]:
    """Return the configuration without the checks given on the command line: they may cover future work."""
    checks = {name: check for name, check in config.document["checks"].items() if name not in config.given}
    return {**config.document, "checks": checks}


def with_notes(measured: MeasuredIteration, notes: Sequence[str]) -> MeasuredIteration:
    """Return a measurement with more notes."""
    measurement = measured.measurement
    return measured._replace(measurement=measurement._replace(notes=(*measurement.notes, *notes)))


def test_command(config: Config) -> str | None:
    """Return the command that runs the tests, None without one."""
    checks = configured_checks(config.document)
    tests = (check for check in checks if check.name == BY_STATUS or measured_kind(check) == Group.TESTS)
    return next((command_text(check) for check in tests), None)


def refuse_unmeasured(measurement: Measurement, configured: frozenset[Group], question: str | None = None) -> None:
    """Raise ConfigError for a baseline without the values that iterations are compared with.

    That is: `configured` tests were not measured, or nothing that is configured was. `question` is about a command of
    tests that was guessed.
    """
    found = why_no_baseline(measurement, configured)
    if found is not None:
        lost, why = found
        raise ConfigError(
            f"{lost.value.capitalize()} could not be measured for the baseline: {why}"
            f"{f'; {question}' if question and lost == Group.TESTS else ''}; fix that, or start without it with "
            "--allow-missing"
        )
