"""Make a new store: an empty git directory, the frozen scope, and what the user's repository has to lend."""

from pathlib import Path
from typing import Final

from ralph_tracker.store.git.private import one_pack
from ralph_tracker.store.git.source import Source, frozen_rules, head_tree, link_objects
from ralph_tracker.store.git.unsettled import Unsettled
from ralph_tracker.store.git.verbs import (
    GITLINK_MODE,
    Runner,
    git_version,
    index_entries,
    path_list,
    paths_of,
    removals,
)
from ralph_tracker.store.snapshots import Entry
from ralph_tracker.store.tree.filter import LOOP_FOLDER
from ralph_tracker.store.tree.scan import Scope

_WITH_FSYNC: Final = (2, 36)
_WITH_ONE_PACK: Final = (2, 37)  # older ones would write a pack for each file
_TRIAL: Final = "t??????"  # with which git looks what links can be made, silent of one that it could not take away
_MISSING: Final = b" missing"

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


def make_folder(bare: Runner, folder: Path) -> None:
    """Make an empty git directory; `bare` knows no working tree, with which git would refuse this."""
    bare.run("init", "-q", "--bare", "--template=", "--initial-branch=none", str(folder))
    for path in folder.glob(_TRIAL):
        path.unlink(missing_ok=True)


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
        _seed(git, scope, root, tree)


def _seed(git: Runner, scope: Scope, root: Path, tree: str) -> None:
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
    unsettled = Unsettled(scope.folder, root)
    began = unsettled.moment()
    git.run("update-index", "-q", "--refresh")
    unsettled.note([entry.path for entry in entries], began)


def _is_unwanted(entry: Entry) -> bool:
    """Name submodules, which are kept as files, and what is tracked in our own folder, which is not kept."""
    return entry.mode == GITLINK_MODE or LOOP_FOLDER in entry.path.split("/")


def _missing(git: Runner, entries: list[Entry]) -> set[str]:
    """Return the objects that the user's repository did not have: a partial clone, or a damaged one."""
    lines = "".join(f"{entry.object_id}\n" for entry in entries).encode()
    answers = git.run("cat-file", "--batch-check", "--buffer", stdin=lines).splitlines()
    return {line.removesuffix(_MISSING).decode() for line in answers if line.endswith(_MISSING)}
