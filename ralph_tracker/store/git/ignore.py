"""Carry ignore rules from the files they stand in to one list whose patterns start at the root.

Git's gitignore page: the last rule that matches wins; a pattern with a slash anywhere but at its end is fixed to the
folder of its file, any other one matches at every depth below it; a slash at the end matches folders only.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Rule:
    """Hold one rule: the pattern without its marks."""

    pattern: str
    negated: bool
    anchored: bool
    folders_only: bool

    def line(self, pattern: str) -> str:
        """Write the rule with another pattern, which says itself where it is fixed."""
        return ("!" if self.negated else "") + pattern + ("/" if self.folders_only else "")


def rules_in(text: bytes) -> Iterator[Rule]:
    """Read an ignore file."""
    for raw in text.removeprefix(_BOM).split(b"\n"):
        line = _trimmed(os.fsdecode(raw.removesuffix(b"\r")))
        if not line or line.startswith("#"):
            continue
        negated = line.startswith("!")
        pattern = line[1:] if negated else line
        folders_only = pattern.endswith("/")
        pattern = pattern[:-1] if folders_only else pattern
        if pattern:
            yield Rule(pattern.removeprefix("/"), negated, "/" in pattern, folders_only)


def rules_below(text: bytes, folder: str) -> list[str]:
    """Carry the rules of a file in `folder`, which is the root ("") or below it, up to the root."""
    start = "/" + "".join(_escaped(name) + "/" for name in folder.split("/") if name)
    return [rule.line(start + ("" if rule.anchored else "**/") + rule.pattern) for rule in rules_in(text)]


def rules_above(text: bytes, way: Sequence[str]) -> list[str]:
    """Carry the rules of a file above the root down to it; `way` names the folders from that file to the root."""
    lines: list[str] = []
    for rule in rules_in(text):
        if rule.anchored:
            lines += [rule.line("/" + rest) for rest in _behind(rule.pattern.split("/"), way)]
        else:
            lines.append(rule.line("**/" + rule.pattern))
    return lines


def _behind(pattern: Sequence[str], way: Sequence[str]) -> list[str]:
    """Return what of a pattern is left to match behind a way; nothing where it ends before or names other folders."""
    if not way:
        return ["/".join(pattern)] if pattern else []
    if not pattern:
        return []
    if pattern[0] == "**":
        return _behind(pattern[1:], way) + _behind(pattern, way[1:])
    return _behind(pattern[1:], way[1:]) if re.fullmatch(_expression(pattern[0]), way[0], re.DOTALL) else []


def _expression(pattern: str) -> str:
    """Translate the pattern of one name."""
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
    """Write a folder's name as a pattern; a line break cannot be written, so any letter stands for it."""
    return re.sub(r"([*?\[\\])", r"\\\1", name).replace("\n", "?")


def _trimmed(line: str) -> str:
    """Cut spaces at the end, as far as no backslash keeps one."""
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    return line
