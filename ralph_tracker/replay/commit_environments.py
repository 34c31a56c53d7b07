"""Give each commit an environment: the working tree's where it fits, else one built from its lock files.

An environment is built once per lock file content, in a checkout of its own, and lent to the checkouts of every commit
with the same lock files.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple

from ralph_tracker.errors import RalphTrackerError
from ralph_tracker.measure.installed_tools import last_words
from ralph_tracker.measure.process import Streams, run_command
from ralph_tracker.measure.run_checks import environment_for_checks
from ralph_tracker.replay.commits import Commit, History
from ralph_tracker.safe_files import as_store_error
from ralph_tracker.store.lock import hold_lock

# How the project's own tool builds from its lock file, without changing that.
TOOLS: Final[Mapping[str, Sequence[str]]] = {
    "uv.lock": ("uv", "sync", "--frozen"),
    "poetry.lock": ("poetry", "install", "--no-interaction"),
    "package-lock.json": ("npm", "ci", "--no-audit", "--no-fund"),
    "pnpm-lock.yaml": ("pnpm", "install", "--frozen-lockfile"),
    "yarn.lock": ("yarn", "install", "--frozen-lockfile"),
}
# What a set-up command may read besides.
_MANIFESTS: Final = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "requirements-dev.txt",
    "package.json",
)
_MORE: Final = {"POETRY_VIRTUALENVS_IN_PROJECT": "1", "UV_PROJECT_ENVIRONMENT": ".venv"}
_LIMIT_S: Final = 3600.0
_READY: Final = "ready"
_DIRECT: Final = "*/lib/python*/site-packages/*.dist-info/direct_url.json"


class SetUpError(RalphTrackerError):
    """An environment that could not be built; the text says by which command, and its own words."""


class LentEnvironment(NamedTuple):
    """A folder whose environments are lent, with the whole repository around it; `key` names its content."""

    top: Path
    root: Path
    key: str


class Environments:
    """The environments for the commits of a history; `setup` is the user's command, None for the project's tools."""

    def __init__(
        self, history: History, folder: Path, environment: Mapping[str, str], setup: str | None, stop: Event
    ) -> None:
        self._history = history
        self._folder = folder
        self._environment = environment
        self._setup = setup
        self._stop = stop
        self._here = LentEnvironment(history.top, history.top / history.prefix, "")
        self._failed: dict[str, str] = {}
        self._locks_now = history.blobs_now(self._paths(TOOLS))

    def home(self, commit: Commit) -> LentEnvironment:
        """Return the environment for a commit, built if it is not there yet. Raises SetUpError."""
        locks = self._history.blobs(commit, self._paths(TOOLS))
        if self._setup is None:
            root = self._here.root
            is_installed = (root / "node_modules").is_dir() or any(root.glob("*/pyvenv.cfg"))
            if not locks or (locks == self._locks_now and is_installed):
                return self._here
        manifests = {} if self._setup is None else self._history.blobs(commit, self._paths(_MANIFESTS))
        # The lock files of the project's own folder count as those of the repository.
        prefix = self._history.prefix
        tools = [command for name, command in TOOLS.items() if f"{prefix}{name}" in locks or name in locks]
        commands = tools if self._setup is None else [self._setup]
        key = hashlib.sha256(json.dumps([sorted({**manifests, **locks}.items()), commands]).encode()).hexdigest()
        place = self._folder / key[:32]
        home = LentEnvironment(place / "tree", place / "tree" / self._history.prefix, key)
        with hold_lock(place.with_suffix(".lock"), "replay: set-up", _LIMIT_S):
            if key in self._failed:
                raise SetUpError(self._failed[key])
            if not (place / _READY).exists():
                try:
                    self._build(commit, home, commands)
                except SetUpError as error:
                    self._failed[key] = str(error)
                    raise
                (place / _READY).touch()
        return home

    def _paths(self, names: Sequence[str] | Mapping[str, object]) -> list[str]:
        folders = dict.fromkeys(("", self._history.prefix))
        return [f"{folder}{name}" for folder in folders for name in names]

    def _build(self, commit: Commit, home: LentEnvironment, commands: Sequence[str | Sequence[str]]) -> None:
        place = home.top.parent
        with as_store_error(place):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(mode=0o700, parents=True)
        root = self._history.lay_out(commit, home.top)
        environment = {**environment_for_checks(self._environment, root), **_MORE}
        for command in commands:
            streams = Streams(place / "set-up.stdout", place / "set-up.stderr")
            ended = run_command(command, streams, cwd=root, env=environment, timeout_s=_LIMIT_S, stop=self._stop)
            if not ended.succeeded:
                name = command if isinstance(command, str) else " ".join(command)
                said = ended.problem or last_words(streams.stdout, streams.stderr) or ended.summary
                step = "correct it" if self._setup else "name another command with --setup"
                raise SetUpError(f"set-up `{name}` failed at {commit.short}: {said}; {step}")
        copied = _copied_project(home)
        if copied is not None:
            raise SetUpError(
                f"set-up installs {copied} as a copy of one commit; install the project in editable form: "
                "`pip install -e .`"
            )


def _copied_project(home: LentEnvironment) -> str | None:
    """Return a package that was copied from the checkout into the environment, so that it hides other commits."""
    for file in sorted(home.root.glob(_DIRECT)):
        try:
            told = json.loads(file.read_bytes())
            is_own = str(told["url"]).startswith(home.top.as_uri())
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if is_own and not (told.get("dir_info") or {}).get("editable"):
            return file.parent.name.partition("-")[0]
    return None
