"""Put the tracker into Claude Code's settings or into a plugin folder, and take exactly that back."""

import json
import shlex
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.agents.claude_code.settings import (
    Edited,
    containers,
    has_status_line,
    hooks_of,
    hooks_of_ours,
    is_whole,
    merged,
    unmerged,
    without_ours,
)
from ralph_tracker.errors import InputError
from ralph_tracker.store.files import digest, told_plainly, write_whole
from ralph_tracker.store.reading import read_bytes, read_json
from ralph_tracker.version import __version__

FOLDER: Final = ".claude"
SETTINGS: Final = "settings.json"
NOTE: Final = ".ralph-tracker-installed.json"
PLUGIN: Final = "ralph-tracker"
_SCHEMA: Final = 1
_OWNERS: Final = 0o644


class Installation(NamedTuple):
    """Hold the settings file that is meant, and other files whose status line would be hidden by one in it."""

    settings: Path
    others: tuple[Path, ...] = ()

    @classmethod
    def of_project(cls, root: Path, environment: Mapping[str, str]) -> "Installation":
        """Return that of a project."""
        folder = root / FOLDER
        return cls(folder / SETTINGS, (folder / "settings.local.json", user_folder(environment) / SETTINGS))

    @classmethod
    def of_user(cls, environment: Mapping[str, str]) -> "Installation":
        """Return that of a user: it counts for every project, and stays out of those without a loop."""
        return cls(user_folder(environment) / SETTINGS)

    @property
    def note(self) -> Path:
        """Return the file that says what was put in where."""
        return self.settings.parent / NOTE

    def install(self, program: Path) -> str:
        """Merge our entries into the settings, and return in words what was done.

        Raises InputError for a file that is no settings file, StoreError where the disk refuses.
        """
        word, name = shlex.quote(str(program)), str(self.settings)
        text = self._text()
        known = set() if text is None or not text.strip() else hooks_of_ours(text, name)
        if is_whole(known, word):
            return f"{name}: installed already, nothing was changed"
        if known:  # by another ralph-tracker, or not all of them: in their place
            self.uninstall()
            text = self._text()
        status_line = not any(has_status_line(self._read(other) or "") for other in self.others)
        edited = merged(text or "", word, name, status_line=status_line)
        new_folder = not self.settings.parent.is_dir()
        self._write(edited.text)
        note = {
            "schema_version": _SCHEMA,
            "settings": digest(edited.text.encode()),
            "inserted": [list(each) for each in edited.inserted],
            "kept": containers(text or ""),
            "new_file": text is None,
            "new_folder": new_folder,
        }
        with told_plainly(self.note):
            write_whole(self.note, json.dumps(note).encode() + b"\n")
        return f"{name}: hooks added" + (", status line added" if _adds_line(text or "", edited) else "")

    def uninstall(self) -> str:
        """Take our entries out again, and return in words what was done. Raises as `install` does."""
        text, name = self._text(), str(self.settings)
        note = self._note()
        if text is None or not (note or text.strip()):
            self.note.unlink(missing_ok=True)
            return f"{name}: nothing of ours is there"
        if note is not None and note["settings"] == digest(text.encode()):
            before = unmerged(Edited(text, tuple((at, size) for at, size in note["inserted"])))
        else:
            before = without_ours(text, name, note["kept"] if note else ()) if text.strip() else text
        gone = note is not None and note["new_file"] and before.strip() in {"", "{}"}
        with told_plainly(self.settings):
            if gone:
                self.settings.unlink()
            elif before != text:
                self._write(before)
            self.note.unlink(missing_ok=True)
            if gone and note is not None and note["new_folder"]:
                with suppress(OSError):  # something else is there by now
                    self.settings.parent.rmdir()
        return f"{name}: taken out" if before != text else f"{name}: nothing of ours is there"

    def _text(self) -> str | None:
        return self._read(self.settings)

    @staticmethod
    def _read(path: Path) -> str | None:
        data = read_bytes(path)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{path}: not UTF-8; save it as UTF-8; nothing was changed") from None

    def _write(self, text: str) -> None:
        """Write the settings where they are, behind a link too, with the rights that they have."""
        with told_plainly(self.settings):
            target = self.settings.resolve()
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else _OWNERS
            write_whole(target, text.encode(), mode=mode)

    def _note(self) -> dict[str, Any] | None:
        note = read_json(self.note)
        keys = {"settings", "inserted", "kept", "new_file", "new_folder"}
        return note if isinstance(note, dict) and note.keys() >= keys else None


def _adds_line(before: str, edited: Edited) -> bool:
    return has_status_line(edited.text) and not has_status_line(before)


def user_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the client's own settings."""
    named = environment.get("CLAUDE_CONFIG_DIR")
    return Path(named) if named else Path(environment.get("HOME", "~")).expanduser() / FOLDER


def plugin_files(program: Path) -> dict[str, str]:
    """Return the files of a plugin folder that calls this program."""
    about = "Measures every turn of a refine-until-done loop, and tells the agent what fails"
    manifest = {"name": PLUGIN, "version": __version__, "description": about}
    hooks = {"description": about, "hooks": hooks_of(shlex.quote(str(program)))}
    documents = {".claude-plugin/plugin.json": manifest, "hooks/hooks.json": hooks}
    return {name: json.dumps(document, indent=2) + "\n" for name, document in documents.items()}


def install_plugin(folder: Path, program: Path) -> str:
    """Write a plugin folder, or bring ours up to date. Raises InputError for a folder that is something else."""
    _refuse_foreign(folder)
    for name, text in plugin_files(program).items():
        with told_plainly(folder / name):
            write_whole(folder / name, text.encode())
    return f"{folder}: plugin written"


def uninstall_plugin(folder: Path) -> str:
    """Take our plugin away, and the folders that are empty without it. Raises as `install_plugin` does."""
    _refuse_foreign(folder)
    if not (folder / ".claude-plugin" / "plugin.json").exists():
        return f"{folder}: nothing of ours is there"
    with told_plainly(folder):
        for name in plugin_files(Path(PLUGIN)):
            (folder / name).unlink(missing_ok=True)
            with suppress(OSError):  # something else is in it
                (folder / name).parent.rmdir()
        with suppress(OSError):
            folder.rmdir()
    return f"{folder}: taken out"


def _refuse_foreign(folder: Path) -> None:
    """Raise InputError for a folder that holds something else than our plugin."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: no folder; name another one")
    manifest = read_json(folder / ".claude-plugin" / "plugin.json")
    ours = isinstance(manifest, dict) and manifest.get("name") == PLUGIN
    if not ours and any(folder.iterdir()):
        raise InputError(f"{folder}: holds something else than our plugin; name another folder, or an empty one")
