"""The literals of a JavaScript or JSON text, by their keys: tolerant of comments, calls and everything else."""

import re
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.settings.values import MAX_SETTINGS, Scalar, Value, joined

_MAX_DEPTH: Final = 100
_TOKEN: Final = Pattern(
    r"""//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)                       # a comment
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)
    |(?P<number>-?\d{1,15}(?:\.\d{1,15})?(?!\d))
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<mark>\.\.\.|=>|[^\s\w])""",
    re.VERBOSE,
)
_WORDS: Final = {"true": True, "false": False}
_OPENING: Final = frozenset("{[(")
_CLOSING: Final = frozenset("}])")
_ESCAPE: Final = Pattern(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_NO_CHARACTER: Final = "\ufffd"
_NO_NAME: Final = frozenset({"text", "name", "number"})
Token = tuple[str, str]


def literals_of(text: str) -> dict[str, Value]:
    """Return `{a.b.c: literal}` of all objects in a text; what stands in an array joins the key of the array.

    A key whose value is computed has the value ().
    """
    words = [(match.lastgroup or "", match.group()) for match in _TOKEN.finditer(text) if match.lastgroup]
    found: dict[str, Value] = {}
    path: list[tuple[str, str]] = []
    key = ""
    for at, (kind, word) in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ("", "")
        inside = path[-1][0] if path else ""
        if kind == "mark" and word in _OPENING:
            path.append((word, key))
            key = "" if word == "{" else key
        elif kind == "mark" and word in _CLOSING:
            key = path.pop()[1] if path else ""
        elif inside == "{" and kind in _NO_NAME and after == ("mark", ":"):
            key = unquoted(word)
            if words[at + 2 : at + 3] != [("mark", "{")]:
                found.setdefault(_full(path, key), ())
        elif kind == "mark" and word == "," and inside == "{":
            key = ""
        elif key and _ends(after) and _begins(words[at - 1]):
            _put(found, _full(path, key), kind, word)
        if len(found) >= MAX_SETTINGS or len(path) > _MAX_DEPTH:
            break
    return found


def _full(path: list[tuple[str, str]], key: str) -> str:
    return ".".join([name for mark, name in path if mark == "{" and name] + [key])


def unquoted(word: str) -> str:
    """Return a text without its quotes and escapes, a name as it is."""
    return _ESCAPE.sub(_unescaped, word[1:-1]) if word[:1] in "\"'`" else word


def _unescaped(match: re.Match[str]) -> str:
    if match[1] is None:
        return _ESCAPED.get(match[2], match[2])
    character = chr(int(match[1], 16))
    return character if character.isprintable() or character.isspace() else _NO_CHARACTER


def _ends(after: Token) -> bool:
    return after[1] in {"", ",", "}", "]", ")", ";"} or after[0] in {"name", "text"}


def _begins(before: Token) -> bool:
    return before[0] == "mark" and before[1] in {":", ",", "["}


def _put(found: dict[str, Value], key: str, kind: str, word: str) -> None:
    value: Scalar
    if kind == "text":
        value = unquoted(word)
    elif kind == "number":
        value = float(word) if "." in word else int(word)
    elif word in _WORDS:
        value = _WORDS[word]
    else:
        return
    found[key] = joined(found[key], (value,)) if found.get(key) else value
