"""Measure the commits of a range side by side, and judge them in the history's order as iterations of one loop.

Which commits it consists of is kept in one small file beside the loop, so that an interrupted replay can go on.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import accumulate, islice
from pathlib import Path
from threading import Event
from typing import Any, Final, NamedTuple

from ralph_tracker.config.load import Config, load_config, with_limits
from ralph_tracker.core.iteration_record import IterationRecord
from ralph_tracker.core.metrics import Group, TestResults
from ralph_tracker.core.output_selection import Selection, SelectionCandidate, select
from ralph_tracker.core.thresholds import SelectionMode
from ralph_tracker.errors import RecordError
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
from ralph_tracker.iteration.restore_iteration import follow
from ralph_tracker.iteration.trust_listing import project_runs
from ralph_tracker.loop.reports import FinishedLoop
from ralph_tracker.loop.start import LoopStart
from ralph_tracker.measure.installed_tools import tool_versions
from ralph_tracker.measure.scratch import scratch_folder
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
from ralph_tracker.safe_files import as_store_error, hide_from_git, write_whole
from ralph_tracker.store.json_documents import read_json
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.store.loop_configuration import ConfiguredLoop
from ralph_tracker.store.loop_store import LoopStore, Project
from ralph_tracker.tracker import Tracker

SCHEMA_VERSION: Final = 1
FILE: Final = "replay.json"
_DIGITS: Final = 7


class ReplayJournal(NamedTuple):
    """The commits of a replay, iteration 0 first, and a digest of how they are measured."""

    commits: tuple[Commit, ...]
    digest: str

    def write(self, paths: LoopPaths) -> None:
        """Write the file. Raises StoreError if the disk refuses."""
        path = paths.folder / FILE
        commits = [commit._asdict() for commit in self.commits]
        document = {"schema_version": SCHEMA_VERSION, "digest": self.digest, "commits": commits}
        with as_store_error(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(document, indent=1).encode() + b"\n")


def read_progress(paths: LoopPaths) -> ReplayJournal | None:
    """Return the journal of a loop, None if it is no replay. Raises RecordError if the file is damaged."""
    path = paths.folder / FILE
    plain = read_json(path)
    if plain is None and not path.exists():
        return None
    try:
        return ReplayJournal(tuple(Commit(**each) for each in plain["commits"]), plain["digest"])
    except (KeyError, TypeError, AttributeError):
        raise RecordError(f"{paths.shown}/{FILE}: damaged; remove {paths.shown} and replay again") from None


def digest_of(commits: Sequence[Commit], document: Mapping[str, Any], *more: str | None) -> str:
    """Return what two replays have in common if one can continue the other."""
    parts = [[commit.sha for commit in commits], document, more]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def loop_for(project: Project, journal: ReplayJournal, kind: str) -> str:
    """Return the id of the loop of that replay: the one that was begun, else a new one."""
    first, last = (commit.sha[:_DIGITS] for commit in (journal.commits[0], journal.commits[-1]))
    name, number = f"{kind}-{first}-{last}", 1
    while True:
        loop_id = name if number == 1 else f"{name}-{number}"
        known = read_progress(project.paths.loop(loop_id))
        if known == journal or (known is None and not project.is_taken(loop_id)):
            return loop_id
        number += 1


# A history goes on whatever a loop would have decided.
_LIMITS: Final = {"max_iterations": None}
# uv would install what the project needs into the working tree.
_UNTOUCHED: Final = {"UV_NO_SYNC": "1"}
# How long the first commit may take a worker of a cluster, its environment included, before another is asked.
_PATIENCE_S: Final = 900.0


class Turn(NamedTuple):
    """A judged commit; `cached` if it had been measured before."""

    commit: Commit
    record: IterationRecord
    cached: bool


class ReplayOptions(NamedTuple):
    """How commits are measured: so many at once, with the user's set-up command, by the workers of a `cluster`.

    With `side_by_side` each of them descends from the first, and tests whose outcome differs from there run `reruns`
    times more; otherwise each descends from the one before.
    """

    jobs: int = 1
    setup: str | None = None
    side_by_side: bool = False
    reruns: int = 0
    cluster: str | None = None


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
        config = with_limits(load_config(root), _LIMITS)
        require_trust(tracker, history)
        self._stop = Event()
        self.problems: tuple[str, ...] = ()
        folder = cache_folder()
        self._cache = ResultsCache(folder / "commits")
        self._environments = Environments(
            self._history, folder / "environments", tracker.environment, options.setup, self._stop
        )
        if not config.document["checks"]:
            found = with_detected_checks(config, self._place_to_detect(), {**tracker.environment, **_UNTOUCHED})
            config = found._replace(limits=config.limits)
        self._config: Config = config
        tools = tool_versions(root, measurable_checks(config), tracker.environment)
        digest = digest_of(self.commits, config.document, options.setup, tools, str(options.reruns))
        self._journal = ReplayJournal(self.commits, digest)
        self.loop_id = loop_for(self._project, self._journal, "compare" if options.side_by_side else "replay")

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

    def turns(self) -> Iterator[Turn]:
        """Measure and judge the commits that are not on record yet, and yield them in the history's order.

        Raises StoreError if another process replays them. When the iterator is closed, whatever runs is ended.
        """
        folder = self._project.paths.loop(self.loop_id).folder
        with hold_lock(folder / "replay.lock", "replay", patience_s=0.0), scratch_folder(self._root) as scratch:
            self._journal.write(self._store.paths)
            hide_from_git(self._project.paths.base)
            done = self.count_recorded()
            mirror = scratch / "mirror" / self._history.top.name
            again = 0 if self._options.reruns else done  # what is rerun depends on the first
            with self._measure_all(scratch, self.commits[again:]) as measured:
                for number, each in islice(enumerate(measured, start=again), done - again, None):
                    yield Turn(each.commit, self._judge_commit(number, each, mirror), each.cached)

    @contextmanager
    def _measure_all(self, scratch: Path, commits: tuple[Commit, ...]) -> Iterator[Iterator[MeasuredCommit]]:
        """Measure several commits at once, and yield them in their order."""
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
            yield with_reruns(measurer, list(measured), self._options.reruns) if self._options.reruns else measured
        finally:
            self._stop.set()
            pool.shutdown(cancel_futures=True)
            if cluster is not None:
                cluster.close()
                self.problems = tuple(cluster.problems)

    def _cluster(self, commits: tuple[Commit, ...], scratch: Path) -> Cluster | None:
        """Return the cluster that measures those commits, None without one. Raises InputError if it does not answer."""
        options = self._options
        if options.cluster is None or not commits:
            return None
        found = Cluster(options.cluster, self._history, options.jobs, self._stop, _PATIENCE_S)
        checks = measurable_checks(self._config)
        document = dict(self._config.document)
        found.prepare(commits, checks, document, options.setup, self._tracker.environment, scratch)
        return found

    def _judge_commit(self, number: int, measured: MeasuredCommit, mirror: Path) -> IterationRecord:
        commit, results = measured.commit, measured.results
        checkout = Checkout(
            root=self._history.lay_out(commit, mirror),
            home=measured.home.root,
            totals=results.totals,
            ran=results.ran,
            folder=results.folder,
        )
        note = f"commit {commit.short}: {commit.subject}"
        clock = _CommitClock(datetime.fromtimestamp(self._times[number], UTC))
        if number:
            if self._options.side_by_side:
                # The next commit descends from the first, as after a rollback; nothing is restored.
                store = self._store
                with store.write_lock("compare") as unfinished:
                    summary = recover_loop(ConfiguredLoop.read(store, configured_by), unfinished=unfinished)
                    if summary.head:
                        follow(store, summary, 0, None, utc_text(clock.now()))
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
        """Select among the commits and write the loop's reports; `apply` says where the selected one's files go."""
        return self._tracker._replace(loop_id=self.loop_id).select_output(mode=mode, apply=apply)

    def rank_candidates(self, selection: Selection) -> Iterator[SelectionCandidate]:
        """Yield the iterations, best first: the selected one, then what would be selected without those before."""
        loop = ConfiguredLoop.read(self._store, configured_by)
        state, _ = loop.state(self._store.summary())
        left, chosen = list(selection.contenders), selection.selected
        while True:
            yield chosen
            left.remove(chosen)
            if not left:
                return
            chosen = select(self.loop_id, left, state.scorer, loop.config.thresholds, mode=selection.mode).selected

    def problem(self, number: int) -> str | None:
        """Return the first error of a commit that does not build, else why it has no test results, None if it has."""
        found = self._store.measurement(number)
        if found is None:
            return None
        measured = found[0]
        errors = list(measured.not_loaded.values())
        if measured.metrics.build_status == "failure":
            listed = listed_diagnostics(self._store, number)
            errors[:0] = [each.diagnostic.message for each in listed.findings if each.kind == "build"] if listed else []
        if errors:
            return f"Does not build: {errors[0]}"
        why = measured.missing.get(Group.TESTS)
        return None if why is None else f"Tests could not be measured: {why}"

    def tests(self) -> list[TestResults]:
        """Return the tests at each commit, none where the reports have no names."""
        measured = (self._store.measurement(number) for number in range(len(self.commits)))
        return [TestResults({}) if each is None or each[0].tests is None else each[0].tests for each in measured]
