"""Have the workers of a Dask cluster measure commits: they need neither a shared disk nor the repository's origin.

Each commit is asked of one worker at a time. One that dies, takes much longer than others or has other tools costs
another try; where no worker can, and after the scheduler has gone, the commit is measured here.
"""

import hashlib
import logging
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import BoundedSemaphore, Event, Lock, Thread
from typing import Any, Final, NamedTuple

from ralph_tracker.config.load import config_of
from ralph_tracker.errors import ConfigError, InputError, RalphTrackerError
from ralph_tracker.measure.installed_tools import portable_tools
from ralph_tracker.measure.run_checks import Check
from ralph_tracker.replay.commit_environments import Environments, LentEnvironment
from ralph_tracker.replay.commits import Checkouts, Commit, History
from ralph_tracker.replay.measure_commits import CommitMeasurer, ReplayInterrupted, ResultsCache, cache_folder, pack
from ralph_tracker.safe_files import as_store_error, temporary_name
from ralph_tracker.scratch import scratch_folder
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.store.snapshots.user_repository import NOBODY, UserRepository, new_repository
from ralph_tracker.version import __version__

_TOOLS_SHOWN: Final = 3


class MeasureRequest(NamedTuple):
    """What a worker needs to measure a commit as it would be measured where the replay runs.

    `bundle` is the digest of the git bundle that has the commit's tree. `top` is the name of the repository's folder,
    `prefix` the project's folder in it. `tools` are those that its records must be made with.
    """

    version: str
    commit: Commit
    bundle: str
    object_format: str
    top: str
    prefix: str
    config: Mapping[str, Any]
    setup: str | None
    variables: Mapping[str, str]
    settings: Mapping[str, str]
    tools: Mapping[str, str | None]
    key: str


class MeasureResponse(NamedTuple):
    """The packed results of a commit; else why there are none, or that the worker lacks the bundle.

    `refused` holds for all commits, `failed` for this one.
    """

    packed: bytes | None = None
    refused: str | None = None
    failed: str | None = None
    lacks_bundle: bool = False


def measure_request(request: MeasureRequest, bundle: bytes | None) -> MeasureResponse:
    """Measure a commit with this machine's tools, if they are those of the request."""
    if request.version != __version__:
        return MeasureResponse(refused=f"it has ralph-tracker {__version__}, not {request.version}")
    try:
        folder = cache_folder()
        repository = _repository(folder / "bundles" / request.bundle, request, bundle)
        return (
            MeasureResponse(lacks_bundle=True) if repository is None else _measure_request(folder, repository, request)
        )
    except RalphTrackerError as error:
        return MeasureResponse(failed=str(error))


def _repository(place: Path, request: MeasureRequest, bundle: bytes | None) -> UserRepository | None:
    """Return the repository made of a bundle, None if it is not here and the bundle neither."""
    top = place / "work" / request.top
    made = place / "git"
    if not made.is_dir():
        if bundle is None:
            return None
        with hold_lock(place.with_suffix(".lock"), "replay: bundle", 600.0):
            if not made.is_dir():
                with as_store_error(place):
                    staged = place.with_name(temporary_name())
                    (staged / "work" / request.top).mkdir(parents=True, mode=0o700)
                    file = staged / "bundle"
                    file.write_bytes(bundle)
                    new_repository(staged / "git", request.object_format).run("bundle", "unbundle", str(file))
                    file.unlink()
                    shutil.rmtree(place, ignore_errors=True)
                    staged.rename(place)
    return UserRepository(made, made, top, request.prefix)


def _measure_request(folder: Path, repository: UserRepository, request: MeasureRequest) -> MeasureResponse:
    history = History(repository, settings=tuple(request.settings.items()))
    environment = {**os.environ, **request.variables}
    config, stop = config_of(request.config, None), Event()
    environments = Environments(history, folder / "environments", environment, request.setup, stop)
    home = environments.home(request.commit)
    cache = ResultsCache(folder / "commits")
    with scratch_folder(history.top) as scratch:
        checkouts = Checkouts(history, scratch)
        measurer = CommitMeasurer(history, config, environments, cache, environment, checkouts, stop)
        tools = portable_tools(home.root, measurer.checks, environment)
        if tools != request.tools:
            return MeasureResponse(refused=_differences(request.tools, tools))
        known = cache.find(request.key, measurer.checks)
        if known is not None:
            return MeasureResponse(packed=pack(known.folder))
        staged = cache.new_folder()
        try:
            results = measurer.run(request.commit, home, staged)
            packed = pack(staged)
            if results.is_whole:
                cache.keep(request.key, results)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    return MeasureResponse(packed=packed)


def _differences(expected: Mapping[str, str | None], found: Mapping[str, str | None]) -> str:
    names = [name for name in sorted({*expected, *found}) if expected.get(name) != found.get(name)]
    started = {name.removeprefix("program ") for name in expected}
    names.sort(
        key=lambda name: (name.removeprefix("package ") not in started, None in {expected.get(name), found.get(name)})
    )
    shown = []
    for name in names[:_TOOLS_SHOWN]:
        (kind, _, word), here, there = name.partition(" "), found.get(name), expected.get(name)
        if kind == "package":
            shown.append(f"{word} {here or 'missing'}, not {there or 'there'}")
        else:
            shown.append(f"{word or kind} {'is missing' if here is None else 'differs'}")
    more = f" and {len(names) - _TOOLS_SHOWN} more" if len(names) > _TOOLS_SHOWN else ""
    return f"other tools: {', '.join(shown)}{more}"


# Variables that change what tools print or count; all others are the worker's own.
_TRAVELLING: Final = re.compile(
    r"LANG|LC_\w+|TZ|CI|PYTEST_\w+|PYTHON(HASHSEED|WARNINGS|UTF8)|NODE_OPTIONS|GOFLAGS|RUSTFLAGS"
)
_NO_WORKER: Final = (
    "no worker has the tools of this machine, so that all is measured here: install them there, or have the workers "
    "build the environment, with --setup CMD or from a lock file"
)
_CONNECT_S: Final = 10
_LOOK_S: Final = 0.1


class Cluster:
    """The workers of one scheduler; `patience_s` is how long a commit may take before any other was measured.

    `problems` are sentences about what did not go as planned, each once.
    """

    def __init__(self, address: str, history: History, jobs: int, stop: Event, patience_s: float) -> None:
        self._client = _client(address)
        self._address = address
        self._history = history
        self._stop = stop
        self._here = BoundedSemaphore(jobs)
        self._patience_s = patience_s
        self._longest_s = 0.0
        self._choosing = Lock()
        self._busy: Counter[str] = Counter()
        self._refusing: set[str] = set()
        self._late: list[Any] = []
        self._slots: dict[str, int] = dict(self._client.nthreads())
        self._news_at = time.monotonic()
        self._lost = False
        self._closed = Event()
        self.problems: list[str] = []
        Thread(target=self._watch, name="cluster", daemon=True).start()

    @property
    def slots(self) -> int:
        """Return how many commits the workers measure at once."""
        return sum(self._slots.values())

    def prepare(
        self,
        commits: Sequence[Commit],
        checks: tuple[Check, ...],
        config: Mapping[str, Any],
        setup: str | None,
        environment: Mapping[str, str],
        scratch: Path,
    ) -> None:
        """Bundle the trees of the commits, once for all workers."""
        self._bundle = bundle_of(self._history, commits, scratch / "bundle.git")
        self._checks, self._environment = checks, environment
        self._filtered = self._history.trees_with_filters(commits)
        self._common = MeasureRequest(
            version=__version__,
            commit=commits[0],
            bundle=hashlib.sha256(self._bundle).hexdigest(),
            object_format=self._history.object_format,
            top=self._history.top.name,
            prefix=self._history.prefix,
            config=config,
            setup=setup,
            variables={name: value for name, value in environment.items() if _TRAVELLING.fullmatch(name)},
            settings=self._history.checkout_settings(),
            tools={},
            key="",
        )

    @contextmanager
    def here(self) -> Iterator[None]:
        """Limit how many commits are measured on this machine."""
        with self._here:
            yield

    def close(self) -> None:
        """Leave the cluster; what its workers still run ends by itself."""
        self._closed.set()
        with suppress(Exception):  # of a scheduler that is gone already
            self._client.close(timeout=2)

    def measure(self, commit: Commit, home: LentEnvironment, key: str) -> bytes | None:
        """Return the packed results of a commit, None if no worker can measure it. Raises Interrupted."""
        if commit.tree in self._filtered:
            self._tell(f"{commit.short}: git filters apply, which workers do not have; measured here")
            return None
        tools = portable_tools(home.root, self._checks, self._environment)
        at_tree = commit._replace(sha=commit.tree)  # a worker has trees, no commits
        request = self._common._replace(commit=at_tree, tools=tools, key=key)
        tried: set[str] = set()
        while (worker := self._free(tried)) is not None:
            tried.add(worker)
            answer = self._ask_worker(worker, request)
            if answer.packed is not None:
                return answer.packed
            if answer.refused is not None:
                self._refusing.add(worker)
                self._tell(f"worker {worker} is not used: {answer.refused}")
            elif answer.failed is not None and not self._lost:
                self._tell(f"worker {worker}, {commit.short}: {answer.failed}; asked of another")
        if not self._lost:
            refused = self._slots and self._slots.keys() <= self._refusing
            self._tell(_NO_WORKER if refused else f"{commit.short}: measured here, as no worker could")
        return None

    def _free(self, tried: set[str]) -> str | None:
        """Wait for a worker that has not been tried, and take it; None if there is none or the scheduler is gone."""
        while True:
            self._look()
            with self._choosing:
                left = [each for each in self._slots if each not in tried and each not in self._refusing]
                if self._lost or not left:
                    return None
                free = [each for each in left if self._busy[each] < self._slots[each]]
                if free:
                    worker = min(free, key=lambda each: self._busy[each] / self._slots[each])
                    self._busy[worker] += 1
                    return worker
            time.sleep(_LOOK_S)

    def _look(self) -> None:
        """Notice that the scheduler is gone, or that the replay is to end. Raises Interrupted."""
        if self._stop.is_set():
            raise ReplayInterrupted
        # How long a scheduler may be silent.
        if not self._lost and (self._client.status != "running" or time.monotonic() - self._news_at > 30.0):
            self._lost = True
            self._tell(f"the scheduler {self._address} is gone; the rest is measured here")

    def _watch(self) -> None:
        """Keep the list of workers up to date; a scheduler that hangs holds up this thread only."""
        while not self._closed.wait(1.0):
            with suppress(Exception):  # of a scheduler that is gone
                self._slots = dict(self._client.nthreads())
                self._news_at = time.monotonic()

    def _release(self, worker: str) -> None:
        with self._choosing:
            self._busy[worker] -= 1

    def _ask_worker(self, worker: str, request: MeasureRequest) -> MeasureResponse:
        """Ask a worker that was taken, and release it once it has answered."""
        began = time.monotonic()
        answer = self._answer(worker, request, None)
        if answer.lacks_bundle:
            answer = self._answer(worker, request, self._bundle)
        if answer.packed is not None:
            self._longest_s = max(self._longest_s, time.monotonic() - began)
        return answer

    def _answer(self, worker: str, request: MeasureRequest, bundle: bytes | None) -> MeasureResponse:
        options = {"workers": [worker], "allow_other_workers": False, "pure": False, "retries": 0}
        try:
            future = self._client.submit(measure_request, request, bundle, **options)
        except Exception as error:  # noqa: BLE001  # whatever the library makes of a scheduler that is gone
            return MeasureResponse(failed=_error_text(error))
        began = time.monotonic()
        while not future.done():
            self._look()
            if self._lost or worker not in self._slots:
                return MeasureResponse(failed="it is gone")
            # A commit that takes so many times as long as the longest so far is asked of another worker too.
            limit_s = max(30.0, 4.0 * self._longest_s) if self._longest_s else self._patience_s
            if time.monotonic() - began > limit_s:
                self._late.append(future)  # one that nobody holds is forgotten
                future.add_done_callback(lambda _: self._release(worker))
                return MeasureResponse(failed="it takes too long")
            time.sleep(_LOOK_S)
        self._look()
        try:
            answer: MeasureResponse = future.result(timeout=_CONNECT_S)
        except Exception as error:  # noqa: BLE001  # of the worker: without our package, killed, out of memory …
            answer = MeasureResponse(failed=_error_text(error))
        if not answer.lacks_bundle:
            self._release(worker)
        return answer

    def _tell(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def _client(address: str) -> Any:  # noqa: ANN401  # a Client of an extra
    try:
        import dask.config  # noqa: PLC0415  # an extra
        from distributed import Client  # noqa: PLC0415  # as above
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"distributed", "dask"}:
            raise
        raise ConfigError("Dask is missing; pip install 'ralph-tracker[cluster]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "10GB"})  # the bundle, once a worker
    try:
        return Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(
            f"--cluster {address}: no scheduler answers ({said}); start one with `dask scheduler`"
        ) from None


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]


def bundle_of(history: History, commits: Sequence[Commit], folder: Path) -> bytes:
    """Return a git bundle with the trees of the commits, without their history; `folder` is a new one for it."""
    repository = new_repository(folder, history.object_format)
    alternates = [history.repository.common / "objects", *([history.objects] if history.objects else [])]
    (folder / "objects" / "info" / "alternates").write_text("".join(f"{each}\n" for each in alternates))
    for number, tree in enumerate(dict.fromkeys(commit.tree for commit in commits)):
        made = repository.run("commit-tree", tree, "-m", "tree", more=NOBODY).decode().strip()
        repository.run("update-ref", f"refs/replay/{number}", made)
    return repository.run("bundle", "create", "-", "--all")
