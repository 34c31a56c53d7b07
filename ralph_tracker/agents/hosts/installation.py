"""Install our hooks into a host's settings or a plugin folder, and uninstall exactly that.

The settings are those of a project, of this machine's copy of it, or of a user.
"""

import json
import re
import shlex
import stat
import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from ralph_tracker.agents.hosts.hook_dispatch import PLUGGED
from ralph_tracker.agents.hosts.host import MARKETPLACE, Environment, Host, Plugin
from ralph_tracker.agents.hosts.settings_text import (
    PROGRAM,
    EditedText,
    containers,
    has_keys,
    home,
    hooks_of,
    hooks_of_ours,
    is_command,
    merge_entries,
    portable_command,
    settings_of,
    user_file,
    without_insertions,
    without_own_hooks,
)
from ralph_tracker.errors import InputError, StoreError
from ralph_tracker.safe_files import AGAIN, TEMPORARY, as_store_error, digest, read_regular, write_whole
from ralph_tracker.store.json_documents import read_json
from ralph_tracker.store.snapshots.user_repository import UserRepository, bytes_of, repository_around
from ralph_tracker.version import __version__

NOTE: Final = ".ralph-tracker-installed"
_README: Final = """\
# ralph-tracker for {title}

The hooks of this plugin measure the project with its own checks each time the agent stops in a refine-until-done loop.
They tell the agent what fails, take back what made it worse, and let the agent stop when the work is done. Without a
loop they do nothing.

Install ralph-tracker first, with pip: the hooks call it. Then:

```shell
{steps}
```

`ralph-tracker hook pre-loop` in a project starts a loop there. This folder was written by
`ralph-tracker agent install {name} --plugin DIR`.
"""
_NOT_INSTALLED: Final = "nothing of ralph-tracker is installed there"
Scope = Literal["project", "local", "user"]


@dataclass(frozen=True, slots=True)
class Installation:
    """An installation for a host: the settings file to change.

    `top` is the folder that stays when ours go. `others` are files whose extras (a status line) those in it would hide.
    `is_local` is whether git is told to leave the file out, `is_of_user` whether the settings are those of a user.
    """

    host: Host
    file: Path
    top: Path
    others: tuple[Path, ...] = ()
    is_local: bool = False
    is_of_user: bool = False

    @classmethod
    def of(cls, host: Host, scope: Scope, root: Path, environment: Environment) -> "Installation":
        """Return the installation for a project, for this machine's copy of it, or for a user in every project."""
        settings = settings_of(host)
        user = user_file(settings, environment)
        if scope == "user":
            return cls(host, user, home(environment), is_of_user=True)
        project, local = root / settings.project, root / (settings.local or settings.project)
        if scope == "local":
            return cls(host, local, root, (project, user), is_local=True)
        return cls(host, project, root, (*((local,) if settings.local else ()), user))

    @property
    def note(self) -> Path:
        """Return the file that records what was inserted where."""
        return self.file.parent / f"{NOTE}{'.local' if self.is_local else ''}.json"

    def install(self, command: str) -> str:
        """Put our entries into the settings, and return what was done, in words.

        Raises InputError for an invalid settings file, one that git tracks and must not, or one of a project that a
        link leads out of it, StoreError if the disk refuses.
        """
        self._refuse_elsewhere()
        if self.is_local:
            repository = repository_around(self.top.resolve())
            if repository is not None and self.file.relative_to(self.top).as_posix() in repository.tracked_paths():
                raise InputError(
                    f"{self.file}: git tracks it, so it would be committed; use --user; nothing was changed"
                )
        said = self._write_own(command) if settings_of(self.host).text else self._merge(command)
        if self.is_local:
            _set_excluded(self.top, self.host.name, self._names(), excluded=True)
        return f"{self._real}: {said}"

    def uninstall(self) -> str:
        """Remove our entries, and return what was done, in words. Raises as `install` does."""
        self._refuse_elsewhere()
        was_there = self._remove_own() if settings_of(self.host).text else self._unmerge()
        if self.is_local:
            _set_excluded(self.top, self.host.name, self._names(), excluded=False)
        return f"{self._real}: {'taken out' if was_there else _NOT_INSTALLED}"

    @property
    def _real(self) -> Path:
        """Return the settings file as it is written: a link to it is followed."""
        real = self.file.resolve()
        return self.file if real == self.file.parent.resolve() / self.file.name else real

    def _refuse_elsewhere(self) -> None:
        """Raise InputError where a link in a project leads out of it: a clone can bring one to the user's settings."""
        if not self.is_of_user and not self.file.resolve().is_relative_to(self.top.resolve()):
            raise InputError(
                f"{self.file}: a link leads to {self.file.resolve()}, out of the project; use --user for your own "
                "settings, or put a file in its place; nothing was changed"
            )
        repository = repository_around(self.top.resolve()) if self.is_local else None
        if repository is not None and (link := next(filter(Path.is_symlink, _excluding(repository)), None)):
            raise InputError(
                f"{link}: a link to {link.resolve()}, which is not of this checkout alone; use --user, or put what it "
                "leads to in its place; nothing was changed"
            )

    def _merge(self, command: str) -> str:
        name = str(self.file)
        text = _read(self.file)
        known = set() if text is None or not text.strip() else hooks_of_ours(self.host, text, name)
        if known == {(event, command) for event in settings_of(self.host).timeouts}:
            return "installed already, nothing was changed"
        if known:  # of another ralph-tracker, or incomplete: replace them
            self._unmerge()
            text = _read(self.file)
        keys = settings_of(self.host).extras(command).keys()
        extras = not any(has_keys(_read(other) or "", keys) for other in self.others)
        edited = merge_entries(self.host, text or "", command, name, extras=extras)
        begun = self._noted()
        note = {
            "schema_version": 1,
            "settings": digest(edited.text.encode()),
            "inserted": [list(each) for each in edited.inserted],
            "kept": containers(self.host, text or ""),
            "new_file": text is None,
            # Also where a call that was killed had made it, before its record or for that.
            "new_folder": _is_empty(self.file.parent) or (text is None and bool(begun and begun["new_folder"])),
        }
        # First, so that a killed call leaves nothing that cannot be taken out again.
        with as_store_error(self.note):
            write_whole(self.note, json.dumps(note).encode() + b"\n")
        self._write(edited.text)
        adds_line = has_keys(edited.text, keys) and not has_keys(text or "", keys)
        return "hooks added" + (", status line added" if adds_line else "")

    def _unmerge(self) -> bool:
        """Remove our entries, and return whether there were any."""
        text, name = _read(self.file), str(self.file)
        note = self._noted()
        if text is None or not (note or text.strip()):
            with as_store_error(self.note):
                self.note.unlink(missing_ok=True)
                self._remove_folder(note)
            return False
        if note is not None and note["settings"] == digest(text.encode()):
            before = without_insertions(EditedText(text, tuple((at, size) for at, size in note["inserted"])))
        else:
            kept = note["kept"] if note else ()
            before = without_own_hooks(self.host, text, name, kept) if text.strip() else text
        gone = False
        if note is not None and note["new_file"]:  # and it says nothing but what a new one begins with
            with suppress(ValueError):
                gone = not before.strip() or json.loads(before) in ({}, dict(settings_of(self.host).top))
        with as_store_error(self.file):
            if gone:
                self.file.unlink()
            elif before != text:
                self._write(before)
            self.note.unlink(missing_ok=True)
            if gone:
                self._remove_folder(note)
        return before != text

    def _noted(self) -> dict[str, Any] | None:
        """Return the record of what was inserted, None if there is none or it is damaged; clear what was half written.

        A record without settings to match is that of a call that was killed.
        """
        _clear_half_written(self.file.parent)
        note, keys = read_json(self.note), {"settings", "inserted", "kept", "new_file", "new_folder"}
        return note if isinstance(note, dict) and note.keys() >= keys else None

    def _remove_folder(self, note: dict[str, Any] | None) -> None:
        """Remove the folder of the settings if we made it and it is empty."""
        if note is not None and note["new_folder"]:
            with suppress(OSError):
                self.file.parent.rmdir()

    def _write_own(self, command: str) -> str:
        """Write a file that is ours alone. Raises InputError if somebody else's is in its place."""
        settings, known = settings_of(self.host), _read(self.file)
        assert settings.text is not None  # noqa: S101  # as it is called
        _clear_half_written(self.file.parent)
        text = settings.text(command)
        if known == text:
            return "installed already, nothing was changed"
        if known is not None and not is_command(known, self.host.name):
            raise InputError(f"{self.file}: not written by ralph-tracker; move it; nothing was changed")
        self._write(text)
        return "written"

    def _remove_own(self) -> bool:
        """Remove our file and then empty folders, and return whether it was there."""
        _clear_half_written(self.file.parent)
        known = _read(self.file)
        if known is None or not is_command(known, self.host.name):
            return False
        with as_store_error(self.file):
            self.file.unlink()
        for folder in self.file.parents:
            if folder == self.top or not folder.is_relative_to(self.top):
                break
            with suppress(OSError):  # not empty
                folder.rmdir()
        return True

    def _names(self) -> list[str]:
        """Return the paths in the project that git must leave out."""
        files = [self.file] if settings_of(self.host).text else [self.file, self.note]
        return [file.relative_to(self.top).as_posix() for file in files]

    def _write(self, text: str) -> None:
        """Write the settings in place, keeping permissions and following a link."""
        with as_store_error(self.file):
            target = self.file.resolve()
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
            write_whole(target, text.encode(), mode=mode)


@dataclass(frozen=True, slots=True)
class PluginFolder:
    """A plugin of a host in a folder, from which the host installs it."""

    host: Host
    folder: Path
    plugin: Plugin

    @property
    def steps(self) -> list[str]:
        """Return the commands that install the plugin."""
        return [step.format(folder=shlex.quote(str(self.folder))) for step in self.plugin.steps]

    def files(self) -> dict[str, bytes]:
        """Return the files of the plugin, which are the same on every machine."""
        settings = settings_of(self.host)
        command = portable_command(self.host.name, f"export {PLUGGED}=1; " if self.plugin.is_quiet else "")
        about = {
            "name": PROGRAM,
            "version": __version__,
            "description": "Measures every turn of a refine-until-done loop, and tells the agent what fails",
            "author": MARKETPLACE["owner"],
            "license": "MIT",
        }
        steps = "\n".join(self.plugin.steps).format(folder="DIR")
        documents = {
            self.plugin.manifest: {**about, **self.plugin.keys},
            self.plugin.hooks: settings.text(command) if settings.text else {"hooks": hooks_of(self.host, command)},
            "README.md": _README.format(title=self.host.title, name=self.host.name, steps=steps),
            **self.plugin.documents,
        }
        texts = {
            name: document if isinstance(document, str) else json.dumps(document, indent=2) + "\n"
            for name, document in documents.items()
        }
        icon = {} if self.plugin.icon is None else {self.plugin.icon: _icon()}
        return {name: text.encode() for name, text in texts.items()} | icon

    def install(self) -> str:
        """Write the folder, or update ours. Raises InputError if the folder is something else."""
        self._refuse_foreign()
        for name, data in self.files().items():
            _clear_half_written((self.folder / name).parent)
            with as_store_error(self.folder / name):
                write_whole(self.folder / name, data)
        return f"{self.folder}: plugin written"

    def uninstall(self) -> str:
        """Remove our plugin and then empty folders. Raises as `install` does."""
        self._refuse_foreign()
        if not (self.folder / self.plugin.manifest).exists():
            return f"{self.folder}: {_NOT_INSTALLED}"
        with as_store_error(self.folder):
            for name in self.files():
                _clear_half_written((self.folder / name).parent)
                (self.folder / name).unlink(missing_ok=True)
                with suppress(OSError):  # not empty
                    for within in [*Path(name).parents]:
                        (self.folder / within).rmdir()
        return f"{self.folder}: taken out"

    def _refuse_foreign(self) -> None:
        """Raise InputError if the folder contains anything but our plugin."""
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            raise InputError(f"{self.folder}: no folder; name another one")
        manifest = read_json(self.folder / self.plugin.manifest)
        ours = isinstance(manifest, dict) and manifest.get("name") == PROGRAM
        if not ours and any(self.folder.iterdir()):
            what = "holds something else than our plugin; name another folder, or an empty one"
            raise InputError(f"{self.folder}: {what}")


def _icon() -> bytes:
    """Return four bars that rise, as a PNG of 512 by 512 pixels."""
    rows = b"".join(
        b"\0" + bytes(0 if x % 16 > 3 and y > 512 - (x // 16 + 1) * 112 else 255 for x in range(64)) for y in range(512)
    )
    header = struct.pack(">2I5B", 512, 512, 1, 0, 0, 0, 0)  # one bit for a pixel
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def _is_empty(folder: Path) -> bool:
    return not folder.is_dir() or not any(folder.iterdir())


def _clear_half_written(folder: Path) -> None:
    """Remove what calls of ours that were killed have left beside a file."""
    with as_store_error(folder):
        for left in folder.glob(f"{TEMPORARY}*"):
            if re.fullmatch(r"[0-9a-f]{16}", left.name.removeprefix(TEMPORARY)):
                left.unlink(missing_ok=True)


def _read(path: Path) -> str | None:
    try:
        return read_regular(path).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}); fix that and try again") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8; save it as UTF-8; nothing was changed") from None


def _excluding(repository: UserRepository) -> tuple[Path, Path]:
    """Return the folder, and the file in it, that leave files out of git in this checkout only."""
    return repository.common / "info", repository.common / "info" / "exclude"


def _set_excluded(root: Path, host: str, names: list[str], *, excluded: bool) -> None:
    """Leave files out of git in this checkout only, or take out again, to the byte, what did so."""
    repository = repository_around(root.resolve())
    if repository is None:
        return
    _, file = _excluding(repository)
    _clear_half_written(file.parent)
    begins = f"# ralph-tracker agent install {host} --local"
    lines = "".join(f"/{repository.prefix}{name}\n" for name in names)
    plain = f"{begins}\n{lines}".encode()
    after_a_cut_line = f"\n{begins} (no line break before)\n{lines}".encode()
    text = bytes_of(file)
    ours = next((block for block in (after_a_cut_line, plain) if block in text), None)
    if excluded == (ours is not None):
        return
    with as_store_error(file, AGAIN):
        if ours is not None:
            write_whole(file, text.replace(ours, b"", 1))
        else:
            file.parent.mkdir(exist_ok=True)
            write_whole(file, text + (plain if not text or text.endswith(b"\n") else after_a_cut_line))
