"""Make a new store: an empty git directory, the frozen scope, and what the user's repository has to lend."""

import os
import shutil
from pathlib import Path
from typing import Final

from ralph_tracker.errors import StoreError
from ralph_tracker.store.git_source import Source, frozen_rules, head_tree, link_objects
from ralph_tracker.store.git_verbs import (
    GITLINK_MODE,
    Entry,
    Runner,
    git_version,
    index_entries,
    path_list,
    paths_of,
    removals,
)
from ralph_tracker.store.tree_filter import LOOP_FOLDER
from ralph_tracker.store.tree_scan import Scope

_WITH_FSYNC: Final = (2, 36)
_WITH_ONE_PACK: Final = (2, 37)  # older ones would write a pack for each file
_MISSING: Final = b" missing"

# Options for what comes last, the commit and its name.
DURABLE: Final = ("-c", "core.fsyncMethod=fsync")
# Options for many new files: content goes into one pack, a tenth of the cost of as many files.
BULK: Final = ("-c", "core.bigFileThreshold=1")

# Nothing that a tree, a user or a machine has set may change a byte or start a program.
_ATTRIBUTES: Final = "* -text -eol -filter -ident -working-tree-encoding -diff -merge\n"
_CONFIG: Final = """\
[core]
\tbare = true
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\thooksPath = /dev/null
\tautocrlf = false
\tsafecrlf = false
\tfsmonitor = false
\tuntrackedCache = false
\tlogAllRefUpdates = false
\tprecomposeUnicode = false
\tprotectHFS = false
\tprotectNTFS = false
\tsymlinks = true
{fsync}
[gc]
\tauto = 0
[maintenance]
\tauto = false
[repack]
\twriteBitmaps = false
\tupdateServerInfo = false
"""
# As git's own "batch" does within one command: files are written out as they come, and one flush at the end of the
# snapshot, that of its commit (DURABLE), makes all of them durable.
_FSYNC: Final = "\tfsync = all\n\tfsyncMethod = writeout-only"
_OLD_FSYNC: Final = "\tfsyncObjectFiles = true"


def private_environment(folder: Path, root: Path | None) -> dict[str, str]:
    """Return the only git variables with which a store is worked on; without a root there is no working tree."""
    environment = {
        "GIT_DIR": str(folder),
        "GIT_INDEX_FILE": str(folder / "index"),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    if root:
        environment["GIT_WORK_TREE"] = str(root)
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": "ralph-tracker", f"GIT_{role}_EMAIL": "ralph-tracker@localhost"}
    return environment


def refuse_root(root: Path, folder: Path) -> None:
    """Raise StoreError for a tree that nobody means to keep as a whole, or that would keep the store in itself."""
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111  Path.home() fails where nobody has one
    if home.is_relative_to(root):
        raise StoreError(
            f"{root} is {'your home folder' if root == home else 'above your home folder'}: run it in a project"
        )
    if not root.is_dir():
        raise StoreError(f"{root} is no folder: name the root of a project")
    if folder.is_relative_to(root) and LOOP_FOLDER not in folder.relative_to(root).parts:
        raise StoreError(f"{folder} lies inside the tree that it keeps: put it below {LOOP_FOLDER}/")


def is_to_keep(root: Path, folder: Path) -> bool:
    """Tell whether a tree may be kept as a whole, and git is there to do it."""
    try:
        refuse_root(root, folder)
    except StoreError:
        return False
    return shutil.which("git") is not None


def one_pack(folder: Path) -> Path:
    """Return the mark of a store whose git puts many new files into one pack; asking git itself costs a process."""
    return folder / "info" / "one-pack"


def make_folder(bare: Runner, folder: Path) -> None:
    """Make an empty git directory; `bare` knows no working tree, with which git would refuse this."""
    bare.run("init", "-q", "--bare", "--template=", "--initial-branch=none", str(folder))


def fill(git: Runner, folder: Path, root: Path, source: Source | None, user: Runner | None) -> None:
    """Write a store into `folder`, a new git directory that `git` works in."""
    version = git_version(git)
    with (folder / "config").open("a", encoding="ascii") as config:
        config.write(_CONFIG.format(fsync=_FSYNC if version >= _WITH_FSYNC else _OLD_FSYNC))
    scope = Scope(folder)
    scope.exclude.parent.mkdir(exist_ok=True)
    if version >= _WITH_ONE_PACK:
        one_pack(folder).touch()
    scope.exclude.with_name("attributes").write_text(_ATTRIBUTES, encoding="ascii")
    scope.exclude.write_bytes(frozen_rules(user, source, root))
    tree = head_tree(user, source) if user and source else None
    if tree and source and link_objects(source.common / "objects", folder / "objects"):
        _seed(git, scope, tree)


def _seed(git: Runner, scope: Scope, tree: str) -> None:
    """Start the index with HEAD, so that only what differs from it is read; without it all is, with the same result."""
    if git.ask("read-tree", tree).status:
        git.run("read-tree", "--empty")
        return
    entries = index_entries(git)
    missing = _missing(git, entries)
    unwanted = [entry.path for entry in entries if _is_unwanted(entry) or entry.object_id in missing]
    git.run("update-index", "-z", "--index-info", stdin=removals(unwanted))
    ignored = git.run("ls-files", "-c", "-i", "-z", "-X", str(scope.exclude))
    scope.tracked_ignored.write_bytes(path_list(paths_of(ignored)))
    git.run("update-index", "-q", "--refresh")


def _is_unwanted(entry: Entry) -> bool:
    """Name submodules, which are kept as files, and what is tracked in our own folder, which is not kept."""
    return entry.mode == GITLINK_MODE or LOOP_FOLDER in entry.path.split("/")


def _missing(git: Runner, entries: list[Entry]) -> set[str]:
    """Return the objects that the user's repository did not have: a partial clone, or a damaged one."""
    lines = "".join(f"{entry.object_id}\n" for entry in entries).encode()
    answers = git.run("cat-file", "--batch-check", "--buffer", stdin=lines).splitlines()
    return {line.removesuffix(_MISSING).decode() for line in answers if line.endswith(_MISSING)}
