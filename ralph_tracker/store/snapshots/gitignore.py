"""Read and apply ignore rules as git does, over paths as they are on the disk."""

import os
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_BOM: Final = b"\xef\xbb\xbf"
# Named character classes, as in [[:alpha:]]; bytes beyond ASCII are in none.
_CLASSES: Final = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, (*range(32), 127))),
    "digit": string.digits,
    "graph": string.ascii_letters + string.digits + string.punctuation,
    "lower": string.ascii_lowercase,
    "print": " " + string.ascii_letters + string.digits + string.punctuation,
    "punct": string.punctuation,
    "space": string.whitespace,
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}
_NEVER: Final = "(?!)"
_ANY_FOLDERS: Final = "(?:.*/)?"
_PLAIN: Final = re.compile(r"\A[^*?\[\\]*")
_CLASS: Final = re.compile(r"\[:([^:\]]*):\]")
_STARS: Final = re.compile(r"(?:\*\*/)+")


@dataclass(frozen=True, slots=True)
class Rule:
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
    for raw in text.removeprefix(_BOM).split(b"\n"):
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
    start = "/" + "".join(_escaped(name) + "/" for name in folder.split("/") if name)
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
        _remaining_pattern(pattern[1:], folders[1:])
        if re.fullmatch(_expression(pattern[0]), folders[0], re.DOTALL)
        else []
    )


def _expression(pattern: str) -> str:
    """Translate the pattern of one path component."""
    parts: list[str] = []
    position = 0
    while position < len(pattern):
        letter = pattern[position]
        end = pattern.find("]", position + 2) if letter == "[" else -1
        if end > 0:
            body = pattern[position + 1 : end]
            body = "^" + body[1:] if body[0] in "!^" else body
            parts.append("[" + body.replace("[", "\\[") + "]")
            position = end
        elif letter == "\\" and position + 1 < len(pattern):
            position += 1
            parts.append(re.escape(pattern[position]))
        else:
            parts.append({"*": ".*", "?": "."}.get(letter) or re.escape(letter))
        position += 1
    return "".join(parts)


def _escaped(name: str) -> str:
    """Return a folder's name as a pattern; a line break is written as `?`, since rules are lines."""
    return re.sub(r"([*?\[\\])", r"\\\1", name).replace("\n", "?")


class IgnoreRules:
    """A list of compiled ignore rules; check the parent folders of a path first."""

    def __init__(self, lines: bytes) -> None:
        self._rules = [
            (re.compile("".join(_pieces(os.fsencode(rule.pattern).decode("latin-1"))), re.DOTALL), rule)
            for rule in rules_in(lines)
        ]
        positive = "|".join(f"(?:{pattern.pattern})" for pattern, rule in self._rules if not rule.negated)
        self._any = re.compile(positive or _NEVER, re.DOTALL)  # checked first: most paths match no rule

    def leave_out(self, path: str, *, is_folder: bool) -> bool:
        """Return whether the file, link or folder at that path below the root is ignored."""
        name = path if path.isascii() else os.fsencode(path).decode("latin-1")
        if not self._any.fullmatch(name):
            return False
        for pattern, rule in reversed(self._rules):
            if (is_folder or not rule.folders_only) and pattern.fullmatch(name):
                return not rule.negated
        return False


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
            yield _ANY_FOLDERS
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
