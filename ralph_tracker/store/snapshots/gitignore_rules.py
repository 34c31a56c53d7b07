"""Read the rules of `.gitignore` files and apply them as git does, over paths as they are on the disk.

They are frozen when the loop begins, with the ignored files that git tracks, so that an agent cannot hide files by
editing a `.gitignore`: what was kept before stays kept, and so does what decides about tests. Other new files that the
rules of a later day ignore are left out from then on, whatever becomes of those rules. What is left out whatever they
say is in exclusions.py.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots.exclusions import (
    AGENT_FILES,
    AGENT_STATE,
    EXCLUDED,
    PASSED_OVER,
    WRITTEN,
    folder_reason,
    path_matcher,
    untracked_reason,
)
from ralph_tracker.store.snapshots.snapshot_types import LOOP_FOLDER
from ralph_tracker.store.snapshots.user_repository import (
    UserRepository,
    bytes_of,
    default_user_ignore_file,
    repository_around,
)

# Named character classes, as in [[:alpha:]]; bytes beyond ASCII are in none.
_ASCII: Final = "".join(map(chr, range(128)))
_CLASSES: Final = {
    "alnum": "".join(filter(str.isalnum, _ASCII)),
    "alpha": "".join(filter(str.isalpha, _ASCII)),
    "blank": " \t",
    "cntrl": "".join(each for each in _ASCII if not each.isprintable()),
    "digit": "0123456789",
    "graph": _ASCII[33:127],
    "lower": "".join(filter(str.islower, _ASCII)),
    "print": _ASCII[32:127],
    "punct": "".join(each for each in _ASCII[33:127] if not each.isalnum()),
    "space": " \t\n\r\v\f",
    "upper": "".join(filter(str.isupper, _ASCII)),
    "xdigit": "0123456789abcdefABCDEF",
}
_NEVER: Final = "(?!)"
_PLAIN: Final = re.compile(r"\A[^*?\[\\]*")
_CLASS: Final = re.compile(r"\[:([^:\]]*):\]")
_STARS: Final = re.compile(r"(?:\*\*/)+")
_IS_OF_AGENTS: Final = path_matcher(AGENT_FILES)


class Rule(NamedTuple):
    """An ignore rule: its pattern without the markers."""

    pattern: str
    negated: bool
    anchored: bool
    folders_only: bool

    def line(self, pattern: str) -> str:
        """Return the rule's line with another pattern, which contains its own anchor."""
        return ("!" if self.negated else "") + pattern + ("/" if self.folders_only else "")


def rules_in(text: bytes) -> Iterator[Rule]:
    """Yield the rules of an ignore file."""
    for raw in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        line = os.fsdecode(raw.removesuffix(b"\r"))
        while line.endswith(" ") and not line.endswith("\\ "):
            line = line[:-1]
        if not line or line.startswith("#"):
            continue
        negated = line.startswith("!")
        pattern = line[1:] if negated else line
        folders_only = pattern.endswith("/")
        pattern = pattern[:-1] if folders_only else pattern
        if pattern:
            yield Rule(pattern.removeprefix("/"), negated, "/" in pattern, folders_only)


def rules_below(text: bytes, folder: str) -> list[str]:
    """Rewrite the rules of a file in `folder` ("" is the root) relative to the root."""
    # Each name is escaped to match itself; a line break is written as `?`, since rules are lines.
    names = (re.sub(r"([*?\[\\])", r"\\\1", name).replace("\n", "?") for name in folder.split("/") if name)
    start = "/" + "".join(f"{name}/" for name in names)
    return [rule.line(start + ("" if rule.anchored else "**/") + rule.pattern) for rule in rules_in(text)]


def rules_above(text: bytes, folders: Sequence[str]) -> list[str]:
    """Rewrite the rules of a file above the root relative to it; `folders` lead from the file to the root."""
    lines: list[str] = []
    for rule in rules_in(text):
        if rule.anchored:
            lines += [rule.line("/" + rest) for rest in _remaining_pattern(rule.pattern.split("/"), folders)]
        else:
            lines.append(rule.line("**/" + rule.pattern))
    return lines


def _remaining_pattern(pattern: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Return what remains of a pattern after matching `folders`; nothing if it ends earlier or does not match."""
    if not folders:
        return ["/".join(pattern)] if pattern else []
    if not pattern:
        return []
    if pattern[0] == "**":
        return _remaining_pattern(pattern[1:], folders) + _remaining_pattern(pattern, folders[1:])
    return (
        _remaining_pattern(pattern[1:], folders[1:]) if _compiled(pattern[0]).fullmatch(_as_bytes(folders[0])) else []
    )


class IgnoreRules:
    """A list of compiled ignore rules; check the parent folders of a path first."""

    def __init__(self, lines: bytes) -> None:
        self._rules = [(_compiled(rule.pattern), rule) for rule in rules_in(lines)]
        positive = "|".join(f"(?:{pattern.pattern})" for pattern, rule in self._rules if not rule.negated)
        self._any = re.compile(positive or _NEVER, re.DOTALL)  # checked first: most paths match no rule

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Return whether the file, link or folder at that path below the root is ignored."""
        name = _as_bytes(path)
        if not self._any.fullmatch(name):
            return False
        for pattern, rule in reversed(self._rules):
            if (is_folder or not rule.folders_only) and pattern.fullmatch(name):
                return not rule.negated
        return False


def _as_bytes(name: str) -> str:
    """Return a name with a letter for each of its bytes, as git compares them."""
    return name if name.isascii() else os.fsencode(name).decode("latin-1")


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(_pieces(_as_bytes(pattern))), re.DOTALL)


def _pieces(pattern: str) -> Iterator[str]:
    """Translate a pattern component by component.

    Git compares the text before the first star, question mark, bracket or backslash literally, and matches the rest as
    a pattern of its own: `a**/b` also matches `ab`.
    """
    start = len(pattern) - len(_PLAIN.sub("", pattern, count=1))
    at = 0
    while at < len(pattern):
        begins = at in {0, start} or pattern[at - 1] == "/"
        stars = _STARS.match(pattern, at) if begins else None
        if stars:
            yield "(?:.*/)?"
            at = stars.end()
        elif begins and pattern[at:] == "**":
            yield ".*"  # everything below
            return
        elif pattern[at] == "[":
            piece, at = _bracket(pattern, at + 1)
            yield piece
        else:
            at += pattern[at] == "\\"
            is_plain = pattern[at - 1 : at] == "\\"
            letter = pattern[at : at + 1]
            special = None if is_plain else {"*": "[^/]*", "?": "[^/]"}.get(letter)
            yield special or re.escape(letter) or _NEVER  # a trailing backslash matches nothing
            at += 1


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """Translate what follows a [, and return it with the index after its ]; an unclosed one never matches."""
    negated = pattern[at : at + 1] in {"!", "^"} and at < len(pattern)
    at += negated
    letters: set[str] = set()
    start, first = "", at
    while at < len(pattern) and (pattern[at] != "]" or at == first):
        found = _CLASS.match(pattern, at)
        if found:
            if found[1] not in _CLASSES:
                return _NEVER, len(pattern)
            letters.update(_CLASSES[found[1]])
            start, at = "", found.end()
            continue
        is_range = pattern[at] == "-" and start != "" and pattern[at + 1 : at + 2] not in {"", "]"}
        at += is_range
        at += pattern[at] == "\\"
        letter = pattern[at : at + 1]
        letters.update(map(chr, range(ord(start), ord(letter) + 1)) if is_range and letter else letter)
        start = "" if is_range else letter
        at += 1
    if at >= len(pattern):
        return _NEVER, at
    letters.discard("/")
    listed = "".join(map(re.escape, sorted(letters)))
    return f"[^/{listed}]" if negated else f"[{listed}]" if listed else _NEVER, at + 1


class Scope(NamedTuple):
    """All files that no rule excludes, and the `tracked` ones that a rule would.

    `includes` says which untracked files are kept although they may hold a secret, `excludes` which ones are not kept,
    `written` are the paths of what we wrote on the user's word. `since` are the rules of later days.
    """

    rules: IgnoreRules
    tracked: frozenset[str] = frozenset()
    includes: Callable[[str], bool] = path_matcher(())
    excludes: Callable[[str], bool] = path_matcher(())
    written: frozenset[str] = frozenset()
    since: tuple[IgnoreRules, ...] = ()

    def foreign_reason(self, path: str) -> str | None:
        """Return why a path is not the loop's, tracked or not; None if it is."""
        if _IS_OF_AGENTS(path):
            return AGENT_STATE
        if path in self.written:
            return WRITTEN
        return EXCLUDED if self.excludes(path) else None

    def is_ignored_since(self, path: str, *, is_folder: bool = False) -> bool:
        """Return whether the rules of a later day ignore a path; a file that decides about tests is never hidden."""
        if not any(_ignores(rules, path, is_folder=is_folder) for rules in self.since):
            return False
        from ralph_tracker.integrity.deciding_files import kind_of_file  # noqa: PLC0415  # rarely needed

        return is_folder or kind_of_file(path) is None


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
        user_file, tracked = repository.user_ignore_file(), repository.tracked_paths()
    except StoreError:  # git is missing or cannot read this repository
        user_file, tracked = default_user_ignore_file(), None
    lines: list[str] = []
    for folder, file in _files_around(repository, user_file):
        between = repository.prefix.removeprefix(folder).strip("/")
        lines += rules_above(bytes_of(file), between.split("/") if between else [])
    rules = _one_list([*lines, *_rules_inside(root)])
    return FrozenScope(rules, None if tracked is None else tuple(tracked_but_ignored(tracked, IgnoreRules(rules))))


def rules_now(root: Path, folders: Iterable[str]) -> bytes:
    """Return the rules that apply now, of the `.gitignore` files in `folders` and of this copy of the repository.

    git is not asked: the user's own rules are among the frozen ones.
    """
    repository = repository_around(root)
    lines: list[str] = []
    if repository is not None:
        above = [name for name in repository.prefix.split("/") if name]
        lines += rules_above(bytes_of(repository.common / "info" / "exclude"), above)
    for folder in sorted(folders):
        file = root / folder / ".gitignore"
        lines += [] if file.is_symlink() else rules_below(bytes_of(file), folder)
    return _one_list(lines).replace(b"\0", b"")


def with_rules(known: Sequence[bytes], new: bytes) -> tuple[bytes, ...]:
    """Add a list of rules to known ones, unless one of them ignores as much; those that it covers go."""
    if any(_covers(each, new) for each in known):
        return tuple(known)
    first, *later = known
    left = [each for each in later if not _covers(new, each)]
    # Of an agent that rewrites the rules every time.
    return (first, *left[-50:], new)


def _covers(rules: bytes, others: bytes) -> bool:
    """Return whether rules ignore all that others do: they have their lines, and no exception more."""
    lines, fewer = set(rules.split(b"\n")), set(others.split(b"\n"))
    return fewer <= lines and not any(line.startswith(b"!") for line in lines - fewer)


def _ignores(rules: IgnoreRules, path: str, *, is_folder: bool) -> bool:
    above = any(rules.ignores(folder, is_folder=True) for folder in folders_above(path))
    return above or rules.ignores(path, is_folder=is_folder)


def tracked_files(root: Path) -> frozenset[str]:
    """Return the files of a tree that git tracks now; none outside of a repository, or if git cannot be asked."""
    repository = repository_of(root)
    try:
        return frozenset() if repository is None else frozenset(repository.tracked_paths())
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
    if not any(rules.ignores(folder, is_folder=True) for folder in (*folders_above(folders), folders)):
        return repository
    try:
        return repository if repository.tracked_paths() else None
    except StoreError:
        return None


def tracked_but_ignored(
    tracked: Iterable[str], rules: IgnoreRules, includes: Callable[[str], bool] | None = None
) -> Iterator[str]:
    """Yield the paths, which git tracks, that the rules would exclude; `includes` as in a scope."""
    closed = {"": False}
    for path in tracked:
        above = path.rpartition("/")[0]
        for folder in () if above in closed else folders_above(path):
            if folder not in closed:
                parent, _, name = folder.rpartition("/")
                is_left_out = folder_reason(name) is not None or rules.ignores(folder, is_folder=True)
                closed[folder] = closed[parent] or is_left_out
        is_closed = closed[above]
        may_be_secret = untracked_reason(path) is not None and not (includes and includes(path))
        if (is_closed or may_be_secret or rules.ignores(path, is_folder=False)) and LOOP_FOLDER not in path.split("/"):
            yield path


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


def folders_above(path: str) -> Iterator[str]:
    """Return the folders above a path, the outermost first."""
    names = path.split("/")[:-1]
    return ("/".join(names[:depth]) for depth in range(1, len(names) + 1))
