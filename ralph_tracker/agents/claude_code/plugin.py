"""Write a plugin folder for Claude Code, and remove exactly that."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Final

from ralph_tracker.agents.claude_code.host import HOST
from ralph_tracker.agents.hosts.settings_text import absolute, hooks_of
from ralph_tracker.errors import InputError
from ralph_tracker.store.safe_files import as_store_error, read_json, write_whole
from ralph_tracker.version import __version__

PLUGIN: Final = "ralph-tracker"


def plugin_files(program: Path) -> dict[str, str]:
    """Return the files of a plugin that calls this program."""
    about = "Measures every turn of a refine-until-done loop, and tells the agent what fails"
    manifest = {"name": PLUGIN, "version": __version__, "description": about}
    hooks = {"description": about, "hooks": hooks_of(HOST, absolute(program, HOST.name))}
    documents = {".claude-plugin/plugin.json": manifest, "hooks/hooks.json": hooks}
    return {name: json.dumps(document, indent=2) + "\n" for name, document in documents.items()}


def install(folder: Path, program: Path) -> str:
    """Write a plugin folder, or update ours. Raises InputError if the folder is something else."""
    _refuse_foreign(folder)
    for name, text in plugin_files(program).items():
        with as_store_error(folder / name):
            write_whole(folder / name, text.encode())
    return f"{folder}: plugin written"


def uninstall(folder: Path) -> str:
    """Remove our plugin and then empty folders. Raises as `install` does."""
    _refuse_foreign(folder)
    if not (folder / ".claude-plugin" / "plugin.json").exists():
        return f"{folder}: nothing of ralph-tracker is installed there"
    with as_store_error(folder):
        for name in plugin_files(Path(PLUGIN)):
            (folder / name).unlink(missing_ok=True)
            with suppress(OSError):  # not empty
                (folder / name).parent.rmdir()
        with suppress(OSError):
            folder.rmdir()
    return f"{folder}: taken out"


def _refuse_foreign(folder: Path) -> None:
    """Raise InputError if a folder contains anything but our plugin."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: no folder; name another one")
    manifest = read_json(folder / ".claude-plugin" / "plugin.json")
    ours = isinstance(manifest, dict) and manifest.get("name") == PLUGIN
    if not ours and any(folder.iterdir()):
        raise InputError(f"{folder}: holds something else than our plugin; name another folder, or an empty one")


def next_step(folder: Path) -> str:
    """Return how the client is started with the plugin."""
    return f"start it with `claude --plugin-dir {folder}`"
