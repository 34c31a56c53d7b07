"""The user's own repository around a tree: found, read for a start, and never written to here."""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ralph_tracker.store.git.ignore import rules_above, rules_below
from ralph_tracker.store.git.verbs import Runner
from ralph_tracker.store.tree.filter import PASSED_OVER

_ALTERNATES_DEEP: Final = 5  # as git follows them
_PACK_PARTS: Final = (".pack", ".idx", ".rev")  # an index only after its pack, or a reader meets it alone
_HASH_FOLDER: Final = 2
_LOOSE_NAME: Final = 38

# Options in front of each verb that runs in the user's repository: nothing that is set there starts a program.
QUIET: Final = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=0",
)

RunnerFor = Callable[[Mapping[str, str], Path], Runner]


@dataclass(frozen=True, slots=True)
class Source:
    """Hold where the user's repository is: its folder, the one that worktrees share, its top, the root's path in it.

    `prefix` is "" at the top and ends with a slash below it.
    """

    folder: Path
    common: Path
    top: Path
    prefix: str

    @property
    def environment(self) -> dict[str, str]:
        """Naming the folder outright also passes git's question whose repository it is."""
        return {
            "GIT_DIR": str(self.folder),
            "GIT_WORK_TREE": str(self.top),
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",  # older ones do not know that, and would fetch by a program that is set
            "GIT_TERMINAL_PROMPT": "0",
        }


def nearest_source(root: Path) -> Source | None:
    """Return the repository around a tree, None where there is none."""
    for top in (root, *root.parents):
        folder = _git_folder(top)
        if folder is not None:
            prefix = "" if top == root else root.relative_to(top).as_posix() + "/"
            return Source(folder, _common(folder), top, prefix)
    return None


def find_source(root: Path, runner_for: RunnerFor) -> Source | None:
    """Return the repository that a tree belongs to, None where there is none or that one ignores the whole tree."""
    source = nearest_source(root)
    if source is None:
        return None
    git = runner_for(source.environment, source.top)
    is_foreign = source.prefix and head_tree(git, source) is None and _is_ignored(git, source.prefix)
    return None if is_foreign else source


def _is_ignored(git: Runner, prefix: str) -> bool:
    """Ask git about a folder; "./" in front keeps it from reading a name such as `:(top)` as an order."""
    return git.ask("check-ignore", "-q", "--", f"./{prefix.rstrip('/')}").status == 0


def head_tree(git: Runner, source: Source) -> str | None:
    """Return the tree of HEAD at the root, None where nothing of the root is committed or ids are not SHA-1."""
    answer = git.ask("rev-parse", "-q", "--verify", f"HEAD:{source.prefix.rstrip('/')}")
    tree = answer.out.decode().strip()
    return tree if not answer.status and len(tree) == len("da39a3ee5e6b4b0d3255bfef95601890afd80709") else None


def frozen_rules(git: Runner | None, source: Source | None, root: Path) -> bytes:
    """Return the ignore rules in force for a tree, as one list; without a repository those of the tree alone."""
    return rules_in_force(source, None if git is None else _user_rules(git), root)


def rules_in_force(source: Source | None, of_user: Path | None, root: Path) -> bytes:
    """Return the ignore rules of a repository, of its user's file and of a tree, as one list of lines."""
    lines = [] if of_user is None or source is None else _rules_from_outside(of_user, source)
    for folder, file in _ignore_files(root):
        lines += rules_below(text_of(file), folder)
    return os.fsencode("".join(f"{line}\n" for line in lines))


def _rules_from_outside(of_user: Path, source: Source) -> list[str]:
    """Return the rules of the user, of the repository, and of the folders between its top and the tree."""
    lines: list[str] = []
    for folder, file in rule_files_around(source, of_user):
        way = source.prefix.removeprefix(folder).strip("/")
        lines += rules_above(text_of(file), way.split("/") if way else [])
    return lines


def rule_files_around(source: Source, of_user: Path) -> Iterator[tuple[str, Path]]:
    """Yield the ignore files outside of a tree that concern it, weakest first, each with its folder below the top.

    A folder is "" or ends with a slash.
    """
    yield from (("", of_user), ("", source.common / "info" / "exclude"))
    way = [name for name in source.prefix.split("/") if name]
    for depth, _ in enumerate(way):
        yield "".join(f"{name}/" for name in way[:depth]), source.top.joinpath(*way[:depth], ".gitignore")


def link_objects(source: Path, target: Path, deep: int = _ALTERNATES_DEEP) -> bool:
    """Link every object below `source` into `target`, also those it borrows; say whether the system allowed it.

    Links, not alternates: what the user's repository throws away later stays here.
    """
    try:
        for folder, names in _objects(source):
            (target / folder).mkdir(exist_ok=True)
            here, there = f"{source}/{folder}/", f"{target}/{folder}/"
            for name in names:
                with contextlib.suppress(FileExistsError, FileNotFoundError):
                    os.link(here + name, there + name)
    except OSError as error:
        if error.errno not in {errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOTSUP}:
            raise
        return False
    lines = text_of(source / "info" / "alternates").splitlines() if deep else []
    others = [source / os.fsdecode(line) for line in lines if line and not line.startswith(b"#")]
    return all(link_objects(other, target, deep - 1) for other in others if other.is_dir())


def _objects(source: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the folders of an object store with the names of their files; a pack comes before its index."""
    for folder in sorted(os.listdir(source)):  # noqa: PTH208  names only
        if len(folder) == _HASH_FOLDER:
            yield folder, [name for name in os.listdir(source / folder) if len(name) == _LOOSE_NAME]  # noqa: PTH208
        elif folder == "pack":
            names = os.listdir(source / folder)  # noqa: PTH208
            yield folder, [name for suffix in _PACK_PARTS for name in names if name.endswith(suffix)]


def _git_folder(top: Path) -> Path | None:
    dot = top / ".git"
    if dot.is_file():
        text = os.fsdecode(text_of(dot)).strip()
        dot = top / text.removeprefix("gitdir: ") if text.startswith("gitdir: ") else dot
    return dot.resolve() if os.path.lexists(dot / "HEAD") else None


def _common(folder: Path) -> Path:
    name = os.fsdecode(text_of(folder / "commondir")).strip()
    return (folder / name).resolve() if name else folder


def _user_rules(git: Runner) -> Path:
    """Return the file that `core.excludesFile` names, else the one git looks for by itself."""
    answer = git.ask("config", "--includes", "--type=path", "--get", "core.excludesFile")
    name = os.fsdecode(answer.out.rstrip(b"\n"))
    return Path(name) if not answer.status and name else default_user_rules()


def default_user_rules() -> Path:
    """Return the user's own ignore file, where no setting names another one."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111  "~" may stay
    return Path(base) / "git" / "ignore"


def _ignore_files(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the `.gitignore` files of a tree with their folders, outer ones first; git follows no link here."""
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in PASSED_OVER)
        file = Path(folder) / ".gitignore"
        if ".gitignore" in files and not file.is_symlink():
            below = os.path.relpath(folder, root)
            yield "" if below == "." else below, file


def text_of(file: Path) -> bytes:
    """Return what a file holds; nothing where it cannot be read."""
    try:
        return file.read_bytes()
    except OSError:
        return b""
