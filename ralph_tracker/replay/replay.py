"""Measure the commits of a range side by side, and judge them in the history's order as iterations of one loop.

Which commits it consists of is kept in one small file beside the loop, so that an interrupted replay can go on.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate, islice
from pathlib import Path
from threading import Event
from typing import Any, Final, NamedTuple

from ralph_tracker.codec import decode, encode
from ralph_tracker.config.load import Config, config_of, load_config, with_limits
from ralph_tracker.core.known_tests import is_of_run
from ralph_tracker.core.metrics import FurtherMetric, Group, TestResults, quantity
from ralph_tracker.core.thresholds import SelectionMode
from ralph_tracker.errors import NothingMeasuredError, RecordError
from ralph_tracker.iteration.apply_iteration import Apply
from ralph_tracker.iteration.measure_iteration import (
    Checkout,
    IterationMeasurer,
    configured_by,
    utc_text,
    with_detected_checks,
)
from ralph_tracker.iteration.open_problems import listed_diagnostics
from ralph_tracker.iteration.record_and_recover import recover_loop
from ralph_tracker.iteration.repeat_failing import RunAgain
from ralph_tracker.iteration.restore_iteration import record_rollback
from ralph_tracker.iteration.trust_listing import project_runs
from ralph_tracker.iteration.unmeasured import why_no_baseline, why_nothing
from ralph_tracker.loop.reports import FinishedLoop, mode_of
from ralph_tracker.loop.start import LoopStart
from ralph_tracker.measure.installed_tools import reaching_variables, tool_versions
from ralph_tracker.measure.linked_environments import endless_links
from ralph_tracker.measure.report_totals import VALUES, lacking
from ralph_tracker.records.iteration_record import IterationRecord
from ralph_tracker.records.output_selection import Selection, SelectionCandidate, select
from ralph_tracker.replay.commit_environments import Environments, SetUpError
from ralph_tracker.replay.commits import Checkouts, Commit, History
from ralph_tracker.replay.dask_cluster import Cluster
from ralph_tracker.replay.measure_commits import (
    CommitMeasurer,
    MeasuredCommit,
    ResultsCache,
    cache_folder,
    measurable_checks,
    with_reruns,
)
from ralph_tracker.safe_files import as_store_error, hide_from_tools, write_whole
from ralph_tracker.scratch import scratch_folder
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.json_documents import read_json
from ralph_tracker.store.layout import REPLAYED, LoopPaths
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.store.write import LoopStore, Project
from ralph_tracker.tracker import Tracker


class ReplayJournal(NamedTuple):
    """The commits of a replay, oldest first, and a digest of how they are measured.

    Iteration 0 of the loop is the commit at the place `first`: those before could not be measured.
    """

    commits: tuple[Commit, ...]
    digest: str
    first: int = 0

    def write(self, paths: LoopPaths) -> None:
        """Write the file. Raises StoreError if the disk refuses."""
        path = paths.folder / REPLAYED
        with as_store_error(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps({"schema_version": 1, **encode(self)}, indent=1).encode() + b"\n")


def read_replay_journal(paths: LoopPaths) -> ReplayJournal | None:
    """Return the journal of a loop, None if it is no replay. Raises RecordError if the file is damaged."""
    path = paths.folder / REPLAYED
    plain = read_json(path)
    if plain is None and not path.exists():
        return None
    try:
        return decode(ReplayJournal, {name: plain[name] for name in ReplayJournal._fields})
    except (KeyError, TypeError, AttributeError):
        raise RecordError(f"{paths.shown}/{REPLAYED}: damaged; remove {paths.shown} and replay again") from None


def replay_digest(commits: Sequence[Commit], document: Any, *more: str | None) -> str:  # noqa: ANN401  # any plain value
    """Return what two replays have in common if one can continue the other."""
    parts = [[commit.sha for commit in commits], document, more]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def loop_for(project: Project, journal: ReplayJournal, kind: str, *, anew: bool = False) -> str:
    """Return the id of the loop of that replay: the last that was begun, else a new one, which it is if `anew`."""
    first, last = (commit.sha[:7] for commit in (journal.commits[0], journal.commits[-1]))
    name, number = f"{kind}-{first}-{last}", 1
    begun, loop_id = None, name
    while True:
        known = read_replay_journal(project.paths.loop(loop_id))
        if known is None and not project.is_taken(loop_id):
            return begun or loop_id
        if known is not None and known._replace(first=journal.first) == journal and not anew:
            begun = loop_id
        number += 1
        loop_id = f"{name}-{number}"


_MEND: Final = "fix that, then the same command measures again"


class JudgedCommit(NamedTuple):
    """A judged commit; `cached` if it had been measured before, `left` is how many come after it."""

    commit: Commit
    record: IterationRecord
    cached: bool
    left: int


class Unmeasured(NamedTuple):
    """A commit before the first one that could be measured, and why it could not."""

    commit: Commit
    why: str


class ReplayOptions(NamedTuple):
    """How commits are measured: so many at once, with the user's set-up command, by the workers of a `cluster`.

    With `fresh`, nothing that was measured or built before counts. With `side_by_side` each of them descends from the
    first, and tests whose outcome differs from there run `reruns` times more; otherwise each descends from the one
    before.
    """

    jobs: int = 1
    setup: str | None = None
    side_by_side: bool = False
    reruns: int = 0
    cluster: str | None = None
    fresh: bool = False


def _silent(_line: str) -> None:
    """Say nothing."""


class _CommitClock(NamedTuple):
    """The time of a commit, so that the loop tells when the work was done."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment


def require_trust(tracker: Tracker, history: History) -> None:
    """Trust what measuring commits runs: the checks, and the filters by which git takes files in and checks them out.

    It comes before git takes in the files of a folder. Raises UntrustedError if the user has not accepted them.
    """
    tracker.trusting.require_project([*project_runs(tracker.project.paths.root), *history.repository.filters()])


class Replay:
    """A replay of commits as a loop beside the others; only that loop's folder is written in the project.

    The configuration is that of the working tree, else what is found there or in the last commit's environment; that of
    another commit is never used. Raises ConfigError if there is nothing to measure with, UntrustedError for checks that
    came with the project, SetUpError.
    """

    def __init__(self, tracker: Tracker, history: History, commits: Sequence[Commit], options: ReplayOptions) -> None:
        self._tracker, self._options = tracker, options
        self._project = tracker.project
        self._root = root = self._project.paths.root
        self._history, self.commits = history, tuple(commits)
        self._times = list(accumulate((commit.time for commit in self.commits), max))
        # A history goes on whatever a loop would have decided.
        config = with_limits(load_config(root), {"max_iterations": None})
        if options.side_by_side:
            config = config_of(
                {**config.document, "selection": {**config.document["selection"], "against": "baseline"}},
                config.source,
                config.digest,
            )._replace(limits=config.limits)
        require_trust(tracker, history)
        self._stop = Event()
        self.problems: tuple[str, ...] = ()
        self.unmeasured: tuple[Unmeasured, ...] = ()
        folder = cache_folder()
        self._cache = ResultsCache(folder / "commits", anew=options.fresh)
        self._environments = Environments(
            self._history, folder / "environments", tracker.environment, options.setup, self._stop, anew=options.fresh
        )
        links = endless_links(root)
        self.warnings: tuple[str, ...] = (
            *self._environments.not_built(self.commits),
            *(f"{link}: a link that leads to itself; the commits are measured without it, remove it" for link in links),
        )
        if not config.document["checks"]:
            # uv would install what the project needs into the working tree.
            environment = {**tracker.environment, "UV_NO_SYNC": "1"}
            found = with_detected_checks(config, self._place_to_detect(), environment)
            config = found._replace(limits=config.limits)
        self._config: Config = config
        checks = measurable_checks(config)
        self._configured = configured_by(config.document)
        variables = reaching_variables(checks, tracker.environment)
        here = (tool_versions(root, checks, tracker.environment), self._environments.here.key)
        digest = replay_digest(self.commits, [config.document, variables], options.setup, *here, str(options.reruns))
        self._journal = ReplayJournal(self.commits, digest)
        self._kind = "compare" if options.side_by_side else "replay"
        self.loop_id = loop_for(self._project, self._journal, self._kind, anew=options.fresh)
        begun = read_replay_journal(self._project.paths.loop(self.loop_id))
        self._journal = begun or self._journal

    def _place_to_detect(self) -> Path:
        """Return where the tools are: the environment of the last commit that has one. Raises the last one's error."""
        failed: SetUpError | None = None
        for commit in reversed(self.commits):
            try:
                return self._environments.home(commit).root
            except SetUpError as error:
                failed = failed or error
        raise failed or AssertionError("a replay has commits")

    @property
    def _store(self) -> LoopStore:
        return self._project.store(self.loop_id)

    def count_recorded(self) -> int:
        """Return how many commits are on record already, after repairing what a killed replay left."""
        store = self._store
        if not store.exists:
            return 0
        with store.write_lock("replay") as unfinished:
            summary = recover_loop(ConfiguredLoop.read(store, configured_by), unfinished=unfinished)
            store.done()
        return summary.iteration + 1

    @property
    def judged(self) -> tuple[Commit, ...]:
        """Return the commits that are iterations of the loop, the baseline first."""
        return self.commits[self._journal.first :]

    def turns(self, say: Callable[[str], None] = _silent) -> Iterator[JudgedCommit]:
        """Measure and judge the commits that are not on record yet, and yield them in the history's order.

        The loop's baseline is the first commit that can be measured; `say` is told of those before it. What could not
        be measured when it was recorded is measured again; if that succeeds, another loop begins. Raises
        NothingMeasuredError if no commit can be measured, StoreError if another process replays them. When the iterator
        is closed, whatever runs is ended.
        """
        with scratch_folder(self._root) as scratch:
            if self._can_be_measured_now(scratch, say):
                self.loop_id = loop_for(self._project, self._journal, self._kind, anew=True)
                self._journal = self._journal._replace(first=0)
                say(f"{self.loop_id}: what could not be measured before can be now, so that all is judged anew")
            with self._alone():
                self._journal.write(self._store.paths)
                hide_from_tools(self._project.paths.base)
                done = self.count_recorded()
                if not done:
                    self._journal = self._journal._replace(first=0)
                mirror = scratch / "mirror" / self._history.top.name
                again = 0 if self._options.reruns else done  # what is rerun depends on the first
                with self._measure_all(scratch, self.judged[again:], self._options.reruns) as (
                    measurer,
                    measured,
                ):
                    found = measured if done or self._options.side_by_side else self._measurable(measured, say)
                    for number, each in islice(enumerate(found, start=again), done - again, None):
                        run_again = None if self._options.reruns else partial(measurer.once_more, each)
                        record = self._judge_commit(number, each, mirror, run_again)
                        yield JudgedCommit(each.commit, record, each.cached, len(self.judged) - number - 1)

    def _alone(self) -> AbstractContextManager[object]:
        """Keep other processes from replaying into this loop. Raises StoreError if one does."""
        return hold_lock(self._project.paths.loop(self.loop_id).folder / "replay.lock", "replay", patience_s=0.0)

    def _measurable(self, measured: Iterator[MeasuredCommit], say: Callable[[str], None]) -> Iterator[MeasuredCommit]:
        """Yield what was measured from the first commit that can be a baseline, else from the first with any value."""
        passed: list[MeasuredCommit] = []
        for each in measured:
            found = why_no_baseline(each.results.totals, self._configured)
            if found is None:
                self._begin_at(passed, each.commit, say)
                yield each
                yield from measured
                return
            if not passed:
                say(f"{each.commit.short} is no baseline, its {found[0]} could not be measured: {found[1]}")
            passed.append(each)
        at = next((place for place, each in enumerate(passed) if each.results.totals.metrics.known_values()), None)
        if at is None:
            last = passed[-1]
            why = why_nothing(last.results.totals) or "no check gave a value"
            raise NothingMeasuredError(f"{quantity(len(passed), 'commit')}", why, _MEND)
        self._begin_at(passed[:at], passed[at].commit, say)
        yield from passed[at:]

    def _begin_at(self, passed: Sequence[MeasuredCommit], first: Commit, say: Callable[[str], None]) -> None:
        """Have the loop begin at a commit, after those that could not be measured."""
        self._tell_passed(passed, first, say)
        self._journal = self._journal._replace(first=len(passed))
        self._journal.write(self._store.paths)

    def _tell_passed(self, passed: Sequence[MeasuredCommit], first: Commit, say: Callable[[str], None]) -> None:
        reasons = [why_no_baseline(each.results.totals, self._configured) for each in passed]
        self.unmeasured = tuple(
            Unmeasured(each.commit, why[1] if why else "") for each, why in zip(passed, reasons, strict=True)
        )
        if passed:
            many = quantity(len(passed), "commit")
            say(f"{many} before {first.short} could not be measured: {self.unmeasured[0].why}")

    def _can_be_measured_now(self, scratch: Path, say: Callable[[str], None]) -> bool:
        """Measure again what could not be measured when it was recorded; return whether any of it can be now."""
        store = self._store
        if not store.exists:
            return False
        with self._alone():
            gaps = {}
            for number in range(self.count_recorded()):
                found = store.measurement(number)
                missing = lacking(found[0].missing, found[0].metrics) if found else frozenset[Group]()
                if missing:
                    gaps[self.judged[number].sha] = missing
            before = self.commits[: self._journal.first]
            again = (*before, *(commit for commit in self.judged if commit.sha in gaps))
            if not again:
                return False
            say(f"{quantity(len(again), 'commit')} could not be measured before: trying again")
            with self._measure_all(scratch, again, reruns=0) as (_, measured):
                results = list(measured)
        passed, recorded = results[: len(before)], results[len(before) :]
        if any(why_no_baseline(each.results.totals, self._configured) is None for each in passed):
            return True
        self._tell_passed(passed, self.judged[0], say)
        values = [(each.results.totals.metrics, gaps[each.commit.sha]) for each in recorded]
        return any(metrics.get(VALUES[group]) is not None for metrics, missing in values for group in missing)

    @contextmanager
    def _measure_all(
        self, scratch: Path, commits: tuple[Commit, ...], reruns: int
    ) -> Iterator[tuple[CommitMeasurer, Iterator[MeasuredCommit]]]:
        """Measure several commits at once, and yield them in their order, with what measured them."""
        measurer = CommitMeasurer(
            self._history,
            self._config,
            self._environments,
            self._cache,
            self._tracker.environment,
            Checkouts(self._history, scratch),
            self._stop,
        )
        cluster = self._cluster(commits, scratch)
        if cluster is not None:
            measurer = measurer._replace(elsewhere=cluster)
        threads = self._options.jobs + (0 if cluster is None else cluster.slots)
        pool = ThreadPoolExecutor(threads, thread_name_prefix="replay")
        try:
            futures = [pool.submit(measurer.measure, commit) for commit in commits]
            measured = (future.result() for future in futures)
            yield measurer, with_reruns(measurer, list(measured), reruns) if reruns else measured
        except BaseException:
            self._stop.set()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
            if cluster is not None:
                cluster.close()
                self.problems = tuple(cluster.problems)

    def _cluster(self, commits: tuple[Commit, ...], scratch: Path) -> Cluster | None:
        """Return the cluster that measures those commits, None without one. Raises InputError if it does not answer."""
        options = self._options
        if options.cluster is None or not commits:
            return None
        # How long the first commit may take a worker of a cluster, its environment included, before another is asked.
        found = Cluster(options.cluster, self._history, options.jobs, self._stop, 900.0)
        checks = measurable_checks(self._config)
        document = dict(self._config.document)
        found.prepare(commits, checks, document, options.setup, self._tracker.environment, scratch)
        return found

    def _judge_commit(
        self, number: int, measured: MeasuredCommit, mirror: Path, run_again: RunAgain | None
    ) -> IterationRecord:
        commit, results = measured.commit, measured.results
        checkout = Checkout(
            root=self._history.lay_out(commit, mirror),
            home=measured.home.root,
            totals=results.totals,
            ran=results.ran,
            folder=results.folder,
            run_again=run_again,
        )
        note = f"commit {commit.short}: {commit.subject}"
        clock = _CommitClock(datetime.fromtimestamp(self._times[self._journal.first + number], UTC))
        if number:
            if self._options.side_by_side:
                # The next commit descends from the first, as after a rollback; nothing is restored.
                store = self._store
                with store.write_lock("compare") as unfinished:
                    summary = recover_loop(ConfiguredLoop.read(store, configured_by), unfinished=unfinished)
                    if summary.head:
                        record_rollback(store, summary, 0, None, utc_text(clock.now()))
            tracker = self._tracker._replace(loop_id=self.loop_id, clock=clock, checkout=checkout, progress=None)
            return tracker.post_iteration(None, notes=(note,)).record
        checkout = checkout._replace(tracked=self._history.paths(self.commits))
        return self._record_baseline(IterationMeasurer(clock.now(), notes=(note,), checkout=checkout))

    def _record_baseline(self, measurer: IterationMeasurer) -> IterationRecord:
        """Record the baseline; the loop becomes the current one only where there is none."""
        environment: Mapping[str, str] = self._tracker.environment
        start = LoopStart(
            self._project, self._tracker.trusting, measurer, self.loop_id, environment, allow_missing=True
        )
        with hold_lock(self._project.paths.lock, "replay"):
            record = start.begin(self._store, self._config)
            if self._project.current_loop_id() is None:
                self._project.set_current(self.loop_id)
            self._store.done()
        return record

    def finish(self, mode: SelectionMode | None = None, apply: Apply = "none") -> FinishedLoop:
        """Select among the commits and write the loop's reports; `apply` says where the selected one's files go.

        Raises NothingMeasuredError if none was measured.
        """
        try:
            return self._tracker._replace(loop_id=self.loop_id, measures_again=False).select_output(
                mode=mode, apply=apply
            )
        except NothingMeasuredError as error:
            raise NothingMeasuredError(self.loop_id, error.why, _MEND) from None

    def rank_candidates(self, selection: Selection) -> Iterator[SelectionCandidate]:
        """Yield the iterations, best first: the selected one, then what would be selected without those before."""
        thresholds = ConfiguredLoop.read(self._store, configured_by).config.thresholds
        left, chosen, choosing = list(selection.contenders), selection.selected, mode_of(selection.mode)
        while True:
            yield chosen
            left.remove(chosen)
            if not left:
                return
            chosen = select(self.loop_id, left, thresholds, mode=selection.mode, choosing=choosing).selected

    def problem(self, number: int) -> str | None:
        """Return the first error of a commit that does not build, else why it has no test results, None if it has."""
        found = self._store.measurement(number)
        if found is None:
            return None
        measured = found[0]
        errors = [why for place, why in measured.not_loaded.items() if not is_of_run(place)]
        if measured.metrics.build_status == "failure":
            listed = listed_diagnostics(self._store, number)
            errors[:0] = [each.diagnostic.message for each in listed.findings if each.kind == "build"] if listed else []
        if errors:
            return f"Does not build: {errors[0]}"
        why = measured.missing.get(Group.TESTS)
        run = next(iter(measured.not_loaded.values()), None)  # it failed as a whole
        return run if why is None else f"Tests could not be measured: {why}"

    def objectives(self, number: int) -> tuple[FurtherMetric, ...]:
        """Return the numbers of a commit's objectives and guards."""
        found = self._store.measurement(number)
        return (
            ()
            if found is None
            else tuple(each for each in found[0].further if each.objective or each.max_loss is not None)
        )

    def tests(self) -> list[TestResults]:
        """Return the tests at each commit, none where the reports have no names."""
        measured = (self._store.measurement(number) for number in range(len(self.judged)))
        return [TestResults({}) if each is None or each[0].tests is None else each[0].tests for each in measured]
