"""Make a copy of a project the top of a git repository of its own.

Tests ask git for the repository's root, its files or its status: without one of its own they would get an error in a
copy, or the repository around the temporary folder.
"""

import contextlib
import hashlib
import os
import shutil
import subprocess
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.scratch import remove_folder

_GIT: Final = ".git"
_WHO: Final = "ralph-tracker <ralph-tracker@localhost>"
_DIGESTS: Final = {"sha1": hashlib.sha1, "sha256": hashlib.sha256}
# No settings of a user or of the system: they can name programs.
_NO_SETTINGS: Final = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}


class CommittedFiles(NamedTuple):
    """What the only commit of such a repository has: a tree whose parts are in the folders `objects`.

    `listing` is git's index of them as they lie in the copy, `settings` are those that they were checked out with,
    `time` is in epoch seconds.
    """

    tree: str
    objects: Sequence[Path]
    listing: Path
    settings: Mapping[str, str]
    object_format: str
    subject: str
    time: int


def make_git_root(top: Path, files: CommittedFiles | None = None) -> None:
    """Make a folder the top of a git repository of its own, in place of one that is there.

    Its only commit has `files`. With None it has none, and the files of the folder are listed without being read, which
    takes git a few milliseconds. No hook and no setting of a user is used.
    """
    place = top / _GIT
    if place.is_dir() and not place.is_symlink():
        remove_folder(place)
    else:
        place.unlink(missing_ok=True)
    object_format = "sha1" if files is None else files.object_format
    (place / "objects" / "info").mkdir(parents=True)
    (place / "refs" / "heads").mkdir(parents=True)
    (place / "config").write_text(_config(object_format, {} if files is None else files.settings))
    (place / "HEAD").write_text("ref: refs/heads/main\n")
    if files is None:
        empty = _write_object(place / "objects", b"tree 0\0", object_format)
        commit = _write_commit(place / "objects", empty, object_format, "Copy", 0)
    else:
        (place / "objects" / "info" / "alternates").write_text("".join(f"{each}\n" for each in files.objects))
        commit = _write_commit(place / "objects", files.tree, object_format, files.subject, files.time)
        shutil.copyfile(files.listing, place / "index")
    (place / "refs" / "heads" / "main").write_text(f"{commit}\n")
    if files is None:
        _list_files(top)


def _config(object_format: str, settings: Mapping[str, str]) -> str:
    is_plain = object_format == "sha1"
    lines = ["[core]", f"repositoryformatversion = {0 if is_plain else 1}", "bare = false", "hooksPath = /dev/null"]
    lines += [f"{name.partition('.')[2]} = {value}" for name, value in settings.items()]
    lines += [] if is_plain else ["[extensions]", f"objectFormat = {object_format}"]
    return "".join(f"{line}\n" for line in lines)


def _write_commit(objects: Path, tree: str, object_format: str, subject: str, time: int) -> str:
    text = f"tree {tree}\nauthor {_WHO} {time} +0000\ncommitter {_WHO} {time} +0000\n\n{subject}\n"
    data = text.encode("utf-8", "replace")
    return _write_object(objects, b"commit %d\0" % len(data) + data, object_format)


def _write_object(objects: Path, data: bytes, object_format: str) -> str:
    """Write an object as git does, without a process, and return its id."""
    name = _DIGESTS[object_format](data).hexdigest()
    place = objects / name[:2] / name[2:]
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(zlib.compress(data))
    return name


def _list_files(top: Path) -> None:
    """Have git list the files of the folder; where that fails, the folder is a repository all the same."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            ("git", "-c", "core.fsmonitor=false", "add", "--intent-to-add", "."),  # noqa: S607  # that of PATH
            cwd=top,
            env={"PATH": os.environ.get("PATH", os.defpath), "GIT_DIR": str(top / _GIT), **_NO_SETTINGS},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
