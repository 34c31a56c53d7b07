"""Give each commit an environment: the working tree's where it fits, else one built from its lock files.

An environment is built once per lock file content, in a checkout of its own, and lent to the checkouts of every commit
with the same lock files.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
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
    "npm-shrinkwrap.json": ("npm", "ci", "--no-audit", "--no-fund"),
    "pnpm-lock.yaml": ("pnpm", "install", "--frozen-lockfile"),
    "yarn.lock": ("yarn", "install", "--frozen-lockfile"),
    "bun.lock": ("bun", "install", "--frozen-lockfile"),
    "bun.lockb": ("bun", "install", "--frozen-lockfile"),
}
# What no tool above installs: how the user can have it installed. None where the tool that runs the checks installs it.
OTHERS: Final[Mapping[str, str | None]] = {
    "Pipfile.lock": "give --setup 'PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev'",
    "pdm.lock": "give --setup 'pdm sync'",
    "Gemfile.lock": "give --setup 'bundle install'",
    "composer.lock": "have its check begin with `composer install`",
    "mix.lock": "have its check begin with `mix deps.get`",
    "Cargo.lock": None,
    "go.sum": None,
}
_LOCKS: Final = (*TOOLS, *OTHERS)
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


class SetUpError(RalphTrackerError):
    """An environment that could not be built; the text says by which command, and its own words."""


class LentEnvironment(NamedTuple):
    """A folder whose environments are lent, with the whole repository around it; `key` names its content."""

    top: Path
    root: Path
    key: str


class Environments:
    """The environments for the commits of a history; `setup` is the user's command, None for the project's tools.

    With `anew`, each is built again although it is there.
    """

    def __init__(  # as they are named in the class
        self,
        history: History,
        folder: Path,
        environment: Mapping[str, str],
        setup: str | None,
        stop: Event,
        *,
        anew: bool = False,
    ) -> None:
        self._history = history
        self._folder = folder
        self._environment = environment
        self._setup = setup
        self._stop = stop
        self._anew = anew
        self._built: set[str] = set()
        self._failed: dict[str, str] = {}
        self._locks_now = history.blobs_now(self._paths(_LOCKS))
        key = hashlib.sha256(json.dumps(sorted(self._locks_now.items())).encode()).hexdigest()
        self.here = LentEnvironment(history.top, history.top / history.prefix, key)

    def home(self, commit: Commit) -> LentEnvironment:
        """Return the environment for a commit, built if it is not there yet. Raises SetUpError."""
        given = self._setup is not None
        locks = self._history.blobs(commit, self._paths((*_LOCKS, *_MANIFESTS) if given else TOOLS))
        if not given:
            now = {path: blob for path, blob in self._locks_now.items() if path.rpartition("/")[2] in TOOLS}
            if not locks or (locks == now and self._is_installed):
                return self.here
        # The lock files of the project's own folder count as those of the repository.
        prefix = self._history.prefix
        tools = [command for name, command in TOOLS.items() if f"{prefix}{name}" in locks or name in locks]
        commands = tools if self._setup is None else [self._setup]
        key = hashlib.sha256(json.dumps([sorted(locks.items()), commands]).encode()).hexdigest()
        place = self._folder / key[:32]
        home = LentEnvironment(place / "tree", place / "tree" / self._history.prefix, key)
        with hold_lock(place.with_suffix(".lock"), "replay: set-up", _LIMIT_S):
            if key in self._failed:
                raise SetUpError(self._failed[key])
            if not (place / _READY).exists() or (self._anew and key not in self._built):
                try:
                    self._build(commit, home, commands)
                except SetUpError as error:
                    self._failed[key] = str(error)
                    raise
                (place / _READY).touch()
            self._built.add(key)
        return home

    @property
    def _is_installed(self) -> bool:
        root = self.here.root
        return (root / "node_modules").is_dir() or any(root.glob("*/pyvenv.cfg"))

    def not_built(self, commits: Sequence[Commit]) -> list[str]:
        """Return a sentence for each lock file that nobody installs, where commits differ in it or nothing is there."""
        if self._setup is not None:
            return []
        found = []
        paths = self._paths(name for name, step in OTHERS.items() if step)
        for path, versions in self._history.versions(commits, paths).items():
            name = path.rpartition("/")[2]
            # Of those, what is installed into the project's folder, so that it can be seen to be missing.
            is_missing = name == "pdm.lock" and not self._is_installed
            if is_missing or versions != {self._locks_now.get(path)}:
                found.append(f"{path}: replay does not install it; {OTHERS[name]}")
        return found

    def _paths(self, names: Iterable[str]) -> list[str]:
        folders = dict.fromkeys(("", self._history.prefix))
        return [f"{folder}{name}" for name in names for folder in folders]

    def _build(self, commit: Commit, home: LentEnvironment, commands: Sequence[str | Sequence[str]]) -> None:
        place = home.top.parent
        with as_store_error(place):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(mode=0o700, parents=True)
        root = self._history.lay_out(commit, home.top)
        self._history.make_root(commit, home.top, self._history.checkout_settings())
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
    for file in sorted(home.root.glob("*/lib/python*/site-packages/*.dist-info/direct_url.json")):
        try:
            told = json.loads(file.read_bytes())
            is_own = str(told["url"]).startswith(home.top.as_uri())
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if is_own and not (told.get("dir_info") or {}).get("editable"):
            return file.parent.name.partition("-")[0]
    return None
