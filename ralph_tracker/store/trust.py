"""Know what this user started or accepted, by marks that only his secret can make.

The secret lies in the user's state folder; the marks lie with the project, so that they go when it goes. A mark names
the project's path: what came with a clone, or was moved, proves nothing.
"""

import hashlib
import hmac
import json
import os
import shlex
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import StoreError, UntrustedError
from ralph_tracker.safe_files import (
    as_store_error,
    hide_from_tools,
    read_own_file,
    sync_folder,
    temporary_name,
    write_new,
)
from ralph_tracker.store.layout import LoopPaths, ProjectPaths

VARIABLE: Final = "RALPH_TRACKER_TRUST"
Consent = bool | Callable[[str, Sequence[str]], bool]
_SECRET_BYTES: Final = 32
_MOST: Final = 1 << 20
_COMMANDS: Final = b"commands"
_OTHERWISE: Final = f"use --trust or set {VARIABLE}=1, which stores nothing"
_NOT_REMEMBERED: Final = f"what you trust cannot be stored there; make that path writable, or {_OTHERWISE}"


class Trust(NamedTuple):
    """What this user trusts in the project at `root`, an absolute path without links.

    `consent` is how to decide about the rest: False refuses, True accepts, a function is asked with what it is about
    and the lines of what would run. `tell` gets a line for each command that changed since it last ran or was accepted.
    """

    root: Path
    consent: Consent = False
    tell: Callable[[str], None] | None = None

    def has_project(self) -> bool:
        """Return whether the user trusts the project: its configuration, plans and templates.

        A linked worktree is trusted where the repository is that it belongs to.
        """
        if self._has("project"):
            return True
        main = _main_tree(self.root)
        return main is not None and Trust(main)._has("project")  # noqa: SLF001  # of the same class

    def require_project(self, runs: Sequence[str]) -> None:
        """Trust the project where it would run nothing, or the user consents; raise UntrustedError otherwise."""
        if not self.has_project():
            self._require("this project", lambda: runs, "project")
        if not self.has_project():
            self.mark_project()
        with suppress(StoreError):  # what cannot be remembered is told again
            self._tell_changes({name: run for name, _, run in (line.partition(": ") for line in runs)})

    def _tell_changes(self, runs: Mapping[str, str]) -> None:
        now = {name: run for name, run in runs.items() if name.startswith("checks.")}
        secret = None if trusted_by_environment() else _secret(self.root)
        if secret is None:
            return
        known = self._commands(secret)
        if now.items() <= known.items():
            return
        for name, run in now.items():
            if known and self.tell is not None and run != known.get(name):
                was = f"was `{known[name]}`, is now `{run}`" if name in known else f"is new: `{run}`"
                self.tell(f"{name} changed since you accepted this project: it {was}")
        text = json.dumps({**known, **now})
        self._append(b" ".join((_COMMANDS, self._made(secret, "commands", text), text.encode())))

    def _commands(self, secret: bytes) -> dict[str, str]:
        """Return the commands that were told or accepted last; a line of another user or project is none."""
        for line in reversed(self._lines()):
            kind, _, rest = line.partition(b" ")
            mark, _, text = rest.partition(b" ")
            if kind == _COMMANDS and hmac.compare_digest(mark, self._made(secret, "commands", os.fsdecode(text))):
                known: dict[str, str] = json.loads(text)
                return known
        return {}

    def mark_project(self) -> None:
        """Remember that the user trusts the project. Raises StoreError if that cannot be remembered."""
        self._mark("project")

    def has_loop(self, paths: LoopPaths) -> bool:
        """Return whether the user has started or accepted a loop as it is frozen now."""
        return self._has("loop", paths.loop_id, _frozen_digest(paths))

    def require_loop(self, paths: LoopPaths, runs: Callable[[], Sequence[str]]) -> None:
        """Raise UntrustedError for a loop that would run something and that the user does not trust."""
        self._require(f"loop {paths.loop_id}", runs, "loop", paths.loop_id, _frozen_digest(paths))

    def mark_loop(self, paths: LoopPaths, frozen: bytes | None = None) -> None:
        """Remember a loop whose document is, or will be, `frozen`."""
        known = _frozen_digest(paths) if frozen is None else hashlib.sha256(frozen).hexdigest()
        self._mark("loop", paths.loop_id, known)

    def require_agent(self, loop_id: str, command: Sequence[str], prompt_file: str | None) -> None:
        """Raise UntrustedError for an agent on record, its command and its prompt, that the user did not name."""
        runs = [shlex.join(command)] + ([] if prompt_file is None else [f"with the prompt in {prompt_file}"])
        self._require(f"the run of loop {loop_id}", lambda: runs, "agent", loop_id, json.dumps([*command, prompt_file]))

    def has_agent(self, loop_id: str, command: Sequence[str], prompt_file: str | None) -> bool:
        """Return whether the user named, or accepted, that agent for a loop."""
        return self._has("agent", loop_id, json.dumps([*command, prompt_file]))

    def mark_agent(self, loop_id: str, command: Sequence[str], prompt_file: str | None) -> None:
        """Remember the agent that the user named for a loop."""
        self._mark("agent", loop_id, json.dumps([*command, prompt_file]))

    def revoke(self) -> bool:
        """Forget everything that is trusted here, and return whether there was anything."""
        from ralph_tracker.store.git_links import forget_trust  # noqa: PLC0415  # it reads where git's folder is

        with as_store_error(self._file):
            was_there = self._file.is_symlink() or self._file.exists()
            self._file.unlink(missing_ok=True)
        forget_trust(self.root)
        return was_there

    @property
    def _file(self) -> Path:
        return ProjectPaths(self.root).trust

    def _require(self, what: str, runs: Callable[[], Sequence[str]], *parts: str) -> None:
        if self._has(*parts):
            return
        lines = runs()
        if not lines:
            return
        if self.consent is True or (callable(self.consent) and self.consent(what, lines)):
            self._mark(*parts)
            return
        more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
        raise UntrustedError(
            f"{what} would run {lines[0]}{more}, which you have not accepted yet; look at it with "
            "`ralph-tracker trust --show`, then accept it with `ralph-tracker trust` or --trust"
        )

    def _has(self, *parts: str) -> bool:
        if trusted_by_environment():
            return True
        try:
            secret = _secret(self.root)
        except StoreError:  # said where something has to be remembered; readers do without
            secret = None
        if secret is None:
            return False
        mark = self._made(secret, *parts)
        return any(hmac.compare_digest(mark, line) for line in self._lines())

    def _mark(self, *parts: str) -> None:
        if trusted_by_environment():
            return
        try:
            secret = _secret(self.root) or _new_secret(self.root)
            mark = self._made(secret, *parts)
            if mark not in self._lines():
                self._append(mark)
        except StoreError:
            if self.consent is not True:
                raise

    def _made(self, secret: bytes, *parts: str) -> bytes:
        text = json.dumps([os.fsdecode(self.root), *parts])
        return hmac.new(secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest().encode()

    def _lines(self) -> list[bytes]:
        if self._file.is_symlink():
            return []
        return (read_own_file(self._file) or b"")[:_MOST].split(b"\n")

    def _require_room(self, line: bytes) -> None:
        """Raise StoreError for a file in which a line would not be found again."""
        kept = b"" if self._file.is_symlink() else read_own_file(self._file) or b""
        if len(kept) + len(line) >= _MOST:
            why = f"has no room left in {_MOST >> 20} MiB"
        elif kept and not kept.endswith(b"\n"):
            why = "does not end with a line break"
        else:
            return
        raise StoreError(f"{self._file}: {why}; `ralph-tracker trust --revoke` removes it, then accept again")

    def _append(self, line: bytes) -> None:
        self._require_room(line)
        base = self._file.parent
        with as_store_error(self._file, _NOT_REMEMBERED):
            base.mkdir(parents=True, exist_ok=True)
            hide_from_tools(base)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self._file, flags, 0o600)
            try:
                os.write(descriptor, line + b"\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            sync_folder(base)


def trusted_by_environment() -> bool:
    """Return whether the caller's environment trusts everything, as in CI; nothing is remembered then."""
    return os.environ.get(VARIABLE, "") not in {"", "0"}


def state_folder() -> Path:
    """Return the folder of the user's secret. Raises StoreError if there is no home to put it in."""
    named = os.environ.get("XDG_STATE_HOME", "")
    if named.startswith("/"):
        return Path(named) / "ralph-tracker"
    try:
        return Path.home() / ".local" / "state" / "ralph-tracker"
    except RuntimeError:
        raise StoreError(f"no home folder; set XDG_STATE_HOME, or {_OTHERWISE}") from None


def _secret(root: Path) -> bytes | None:
    """Return the secret, None if there is none yet. Raises StoreError for one that others may know."""
    path = state_folder() / "secret"
    if path.resolve().is_relative_to(root):
        raise StoreError(f"{path}: lies in the project, which could bring its own; set XDG_STATE_HOME elsewhere")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; {_NOT_REMEMBERED}") from None
    with open(descriptor, "rb") as file:  # noqa: PTH123  # a descriptor, not a path
        status = os.fstat(descriptor)
        own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
        secret = file.read(_SECRET_BYTES + 1) if own else b""
    if len(secret) != _SECRET_BYTES:
        raise StoreError(f"{path}: not a secret that only you can read; remove it, and what you trust is asked again")
    return secret


def _new_secret(root: Path) -> bytes:
    """Make the secret, or return the one that another call made meanwhile."""
    folder = state_folder()
    with as_store_error(folder, _NOT_REMEMBERED):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = folder / temporary_name()
        try:
            write_new(temporary, os.urandom(_SECRET_BYTES), 0o600)
            with suppress(FileExistsError):
                os.link(temporary, folder / "secret")
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(folder)
    secret = _secret(root)
    if secret is None:
        raise StoreError(f"{folder / 'secret'}: was removed meanwhile; run it again")
    return secret


def _main_tree(root: Path) -> Path | None:
    """Return where `root` lies in the main working tree, None where it is in no linked worktree.

    Both have to name each other: a folder that only says whose worktree it is proves nothing.
    """
    for top in (root, *root.parents):
        link = top / ".git"
        if not link.is_file():
            if link.is_dir():
                return None
            continue
        with suppress(StoreError, ValueError):
            own = top / _first_line(link).removeprefix("gitdir: ")
            common = (own / _first_line(own / "commondir")).resolve()
            if common.name == ".git" and (own / _first_line(own / "gitdir")).resolve() == link:
                return common.parent / root.relative_to(top)
        return None
    return None


def _first_line(path: Path) -> str:
    """Return the first line of a file of git, "" if it is missing."""
    return os.fsdecode(read_own_file(path) or b"").partition("\n")[0]


def _frozen_digest(paths: LoopPaths) -> str:
    return hashlib.sha256(read_own_file(paths.loop_file) or b"").hexdigest()
