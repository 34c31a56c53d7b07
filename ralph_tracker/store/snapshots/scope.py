"""Decide which files of a tree are kept: the ignore rules when the loop begins, and ignored files that git tracks.

Both are frozen then, so that an agent cannot hide files by editing a `.gitignore`.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots.exclusions import (
    PASSED_OVER,
    folder_reason,
    path_matcher,
    untracked_reason,
)
from ralph_tracker.store.snapshots.gitignore import IgnoreRules, rules_above, rules_below
from ralph_tracker.store.snapshots.user_repository import (
    UserRepository,
    bytes_of,
    default_user_ignore_file,
    repository_around,
)
from ralph_tracker.store.snapshots.values import LOOP_FOLDER


class Scope(NamedTuple):
    """All files that no rule excludes, and the `tracked` ones that a rule would.

    `includes` says which untracked files are kept although they may hold a secret.
    """

    rules: IgnoreRules
    tracked: frozenset[str] = frozenset()
    includes: Callable[[str], bool] = path_matcher(())

    @property
    def folders(self) -> frozenset[str]:
        """Return the folders above the tracked files."""
        return frozenset(folder for path in self.tracked for folder in _folders_above(path))


class FrozenScope(NamedTuple):
    """A scope as stored: one list of rules, and the tracked paths; None if git could not be asked for them."""

    rules: bytes
    tracked: tuple[str, ...] | None


def freeze(root: Path) -> FrozenScope:
    """Return the current scope of a tree; outside of a repository only its `.gitignore` files count."""
    repository = repository_of(root)
    if repository is None:
        return FrozenScope(_one_list(_rules_inside(root)), ())
    try:
        user_file, tracked = repository.user_ignore_file(), repository.tracked()
    except StoreError:  # git is missing or cannot read this repository
        user_file, tracked = default_user_ignore_file(), None
    rules = _one_list([*_rules_outside(repository, user_file), *_rules_inside(root)])
    return FrozenScope(rules, None if tracked is None else tuple(left_out(tracked, IgnoreRules(rules))))


def tracked_files(root: Path) -> frozenset[str]:
    """Return the files of a tree that git tracks now; none outside of a repository, or if git cannot be asked."""
    repository = repository_of(root)
    try:
        return frozenset() if repository is None else frozenset(repository.tracked())
    except StoreError:
        return frozenset()


def repository_of(root: Path) -> UserRepository | None:
    """Return the repository of a tree, None if there is none or it ignores the whole tree."""
    repository = repository_around(root)
    if repository is None or not repository.prefix:
        return repository
    files = _files_around(repository, default_user_ignore_file())
    rules = IgnoreRules(_one_list([line for folder, file in files for line in rules_below(bytes_of(file), folder)]))
    folders = repository.prefix.rstrip("/")
    if not any(rules.leave_out(folder, is_folder=True) for folder in (*_folders_above(folders), folders)):
        return repository
    try:
        return repository if repository.tracked() else None
    except StoreError:
        return None


def left_out(
    tracked: Iterable[str], rules: IgnoreRules, includes: Callable[[str], bool] | None = None
) -> Iterator[str]:
    """Yield the paths, which git tracks, that the rules would exclude; `includes` as in a scope."""
    closed = {"": False}
    for path in tracked:
        above = path.rpartition("/")[0]
        for folder in () if above in closed else _folders_above(path):
            if folder not in closed:
                parent, _, name = folder.rpartition("/")
                is_left_out = folder_reason(name) is not None or rules.leave_out(folder, is_folder=True)
                closed[folder] = closed[parent] or is_left_out
        is_closed = closed[above]
        may_be_secret = untracked_reason(path) is not None and not (includes and includes(path))
        if (is_closed or may_be_secret or rules.leave_out(path, is_folder=False)) and LOOP_FOLDER not in path.split(
            "/"
        ):
            yield path


def _rules_outside(repository: UserRepository, user_file: Path) -> Iterator[str]:
    """Yield the rules of the user, the repository, and the folders between its top and the tree."""
    for folder, file in _files_around(repository, user_file):
        folders = repository.prefix.removeprefix(folder).strip("/")
        yield from rules_above(bytes_of(file), folders.split("/") if folders else [])


def _files_around(repository: UserRepository, user_file: Path) -> Iterator[tuple[str, Path]]:
    """Yield the ignore files outside of a tree that apply to it, weakest first, each with its folder below the top.

    A folder is "" or ends with a slash.
    """
    yield from (("", user_file), ("", repository.common / "info" / "exclude"))
    folders = [name for name in repository.prefix.split("/") if name]
    for depth, _ in enumerate(folders):
        yield "".join(f"{name}/" for name in folders[:depth]), repository.top.joinpath(*folders[:depth], ".gitignore")


def _rules_inside(root: Path) -> Iterator[str]:
    """Yield the rules of the `.gitignore` files of a tree, outer ones first; git follows no link here."""
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in PASSED_OVER)
        file = Path(folder) / ".gitignore"
        if ".gitignore" in files and not file.is_symlink():
            below = os.path.relpath(folder, root)
            yield from rules_below(bytes_of(file), "" if below == "." else below)


def _one_list(lines: "Iterator[str] | list[str]") -> bytes:
    return os.fsencode("".join(f"{line}\n" for line in lines))


def _folders_above(path: str) -> Iterator[str]:
    names = path.split("/")[:-1]
    return ("/".join(names[:depth]) for depth in range(1, len(names) + 1))
