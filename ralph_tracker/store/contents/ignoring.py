"""Match paths against frozen ignore rules, as git does.

Each rule is fixed to the root (see `git_ignore`); the last one that matches wins. Names are bytes to git, so that `?`
stands for one byte: bytes are compared here as the letters of Latin-1.
"""

import os
import re
import string
from collections.abc import Iterator
from typing import Final

from ralph_tracker.store.git.ignore import Rule, rules_in

# The file that holds a store's rules.
IGNORE: Final = "ignore"
# What stands between [: and :] in a bracket; bytes beyond ASCII belong to none.
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


class IgnoreRules:
    """Tell which paths a list of rules leaves out; the folders above a path are to be asked about first."""

    def __init__(self, lines: bytes) -> None:
        self._rules = [(_compiled(rule), rule) for rule in rules_in(lines)]
        positive = "|".join(f"(?:{pattern.pattern})" for pattern, rule in self._rules if not rule.negated)
        self._any = re.compile(positive or _NEVER, re.DOTALL)  # asked first: most paths match no rule at all

    def leave_out(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether a file, link or folder at that path below the root is ignored."""
        name = os.fsencode(path).decode("latin-1")
        if not self._any.fullmatch(name):
            return False
        for pattern, rule in reversed(self._rules):
            if (is_folder or not rule.folders_only) and pattern.fullmatch(name):
                return not rule.negated
        return False


def _compiled(rule: Rule) -> re.Pattern[str]:
    return re.compile("".join(_pieces(os.fsencode(rule.pattern).decode("latin-1"))), re.DOTALL)


def _pieces(pattern: str) -> Iterator[str]:
    """Translate a pattern part by part.

    What stands before the first star, question mark, bracket or backslash git compares by itself, and takes what
    follows for a pattern of its own: `a**/b` means `ab` too.
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
            yield ".*"  # all that is below
            return
        elif pattern[at] == "[":
            piece, at = _bracket(pattern, at + 1)
            yield piece
        else:
            at += pattern[at] == "\\"
            is_plain = pattern[at - 1 : at] == "\\"
            yield _letter(pattern[at : at + 1], is_plain=is_plain)
            at += 1


def _letter(letter: str, *, is_plain: bool) -> str:
    """Translate one letter; nothing follows a backslash at the end, and nothing matches that."""
    special = None if is_plain else {"*": "[^/]*", "?": "[^/]"}.get(letter)
    return special or re.escape(letter) or _NEVER


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """Translate what follows a [ and return it with the place behind its ]; without one nothing ever matches."""
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
    return _one_of(letters, negated=negated), at + 1


def _one_of(letters: set[str], *, negated: bool) -> str:
    listed = "".join(map(re.escape, sorted(letters)))
    return f"[^/{listed}]" if negated else f"[{listed}]" if listed else _NEVER
