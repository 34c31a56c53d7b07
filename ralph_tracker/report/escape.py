"""Text that came from the tree or the agent, made harmless for a terminal and for Markdown."""

import re
import unicodedata
from typing import Final

# Formatting characters that change how the text around them reads, though they show nothing themselves.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_SHORT: Final = 0xFFFF
# An underscore between letters or digits is no markup; `://` and `www.` are what renderers make links of.
_MARKDOWN: Final = re.compile(r"([\\`*\[\]<>|~&$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=[wW]{3})\.)")
_WORDS: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[ _][A-Za-z0-9]+)*")
# What begins a heading, a list or a rule where it stands first: a backslash goes behind the group.
_BLOCK_START: Final = re.compile(r"^(\s*(?:(?=#{1,6}(?:\s|$)|[+-](?:\s|$)|(?:-+|=+)\s*$)|\d{1,9}(?=[.)](?:\s|$))))")


def for_terminal(text: str) -> str:
    """Write control, bidirectional, zero-width and surrogate characters by their number; the rest as it is."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if unicodedata.category(char) not in _INVISIBLE:
        return char
    code = ord(char)
    return f"\\u{code:04x}" if code <= _SHORT else f"\\U{code:08x}"


def for_markdown(text: str) -> str:
    """Write text so that Markdown shows it as it is: no markup, no HTML, no table cell, no hidden character."""
    if _WORDS.fullmatch(text):
        return text
    escaped = _MARKDOWN.sub(r"\\\1", for_terminal(text))
    return _BLOCK_START.sub(r"\1\\", escaped)
