"""Measure a commit on the worker of a cluster, which has neither the repository nor its environments before."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any, Final, NamedTuple

from ralph_tracker.config.load import config_of
from ralph_tracker.errors import RalphTrackerError
from ralph_tracker.measure.environment import portable_tools
from ralph_tracker.measure.scratch import scratch_folder
from ralph_tracker.replay.environments import Environments
from ralph_tracker.replay.history import Commit, History
from ralph_tracker.replay.measuring import CommitMeasurer
from ralph_tracker.replay.results_cache import ResultsCache, cache_folder
from ralph_tracker.store.files import as_store_error, temporary_name
from ralph_tracker.store.lock import locked
from ralph_tracker.store.snapshots.user_repository import UserRepository, new_repository
from ralph_tracker.version import __version__

_PATIENCE_S: Final = 600.0
_SHOWN: Final = 3


class Order(NamedTuple):
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


class Answer(NamedTuple):
    """The packed results of a commit; else why there are none, or that the worker lacks the bundle.

    `refused` holds for all commits, `failed` for this one.
    """

    packed: bytes | None = None
    refused: str | None = None
    failed: str | None = None
    lacks_bundle: bool = False


def measure_order(order: Order, bundle: bytes | None) -> Answer:
    """Measure a commit with this machine's tools, if they are those of the order."""
    if order.version != __version__:
        return Answer(refused=f"it has ralph-tracker {__version__}, not {order.version}")
    try:
        folder = cache_folder()
        repository = _repository(folder / "bundles" / order.bundle, order, bundle)
        return Answer(lacks_bundle=True) if repository is None else _measured(folder, repository, order)
    except RalphTrackerError as error:
        return Answer(failed=str(error))


def _repository(place: Path, order: Order, bundle: bytes | None) -> UserRepository | None:
    """Return the repository made of a bundle, None if it is not here and the bundle neither."""
    top = place / "work" / order.top
    made = place / "git"
    if not made.is_dir():
        if bundle is None:
            return None
        with locked(place.with_suffix(".lock"), "replay: bundle", _PATIENCE_S):
            if not made.is_dir():
                with as_store_error(place):
                    staged = place.with_name(temporary_name())
                    (staged / "work" / order.top).mkdir(parents=True, mode=0o700)
                    file = staged / "bundle"
                    file.write_bytes(bundle)
                    new_repository(staged / "git", order.object_format).run("bundle", "unbundle", str(file))
                    file.unlink()
                    shutil.rmtree(place, ignore_errors=True)
                    staged.rename(place)
    return UserRepository(made, made, top, order.prefix)


def _measured(folder: Path, repository: UserRepository, order: Order) -> Answer:
    history = History(repository, settings=tuple(order.settings.items()))
    environment = {**os.environ, **order.variables}
    config, stop = config_of(order.config, None), Event()
    environments = Environments(history, folder / "environments", environment, order.setup, stop)
    home = environments.home(order.commit)
    cache = ResultsCache(folder / "commits")
    with scratch_folder(history.top) as scratch:
        measurer = CommitMeasurer(history, config, environments, cache, environment, scratch / "builds", stop)
        tools = portable_tools(home.root, measurer.checks, environment)
        if tools != order.tools:
            return Answer(refused=_differences(order.tools, tools))
        if cache.find(order.key, measurer.checks) is None:
            staged = cache.staged()
            try:
                measurer.run(order.commit, home, staged, order.key)
            finally:
                shutil.rmtree(staged, ignore_errors=True)
    return Answer(packed=cache.packed(order.key))


def _differences(expected: Mapping[str, str | None], found: Mapping[str, str | None]) -> str:
    names = [name for name in sorted({*expected, *found}) if expected.get(name) != found.get(name)]
    started = {name.removeprefix("program ") for name in expected}
    names.sort(
        key=lambda name: (name.removeprefix("package ") not in started, None in {expected.get(name), found.get(name)})
    )
    shown = ", ".join(_difference(name, expected.get(name), found.get(name)) for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"other tools: {shown}{more}"


def _difference(name: str, expected: str | None, found: str | None) -> str:
    kind, _, word = name.partition(" ")
    if kind == "package":
        return f"{word} {found or 'missing'}, not {expected or 'there'}"
    return f"{word or kind} {'is missing' if found is None else 'differs'}"
