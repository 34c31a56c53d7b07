"""Escape text for terminals, logs of CI and Markdown: text from the tree or an agent cannot change what is shown.

Every verb prints through this module: it imports nothing of ours.
"""

import re
import unicodedata
from typing import Final

# Runners of CI obey `##[name]` and `##vso[name]` anywhere in a line, and `::name` after blanks at its start: names that
# they know, so that source such as `::std::sort` stays as it is.
LOG_COMMAND: Final = re.compile(r"##(?=\w*\[)")
_LOG_COMMAND_FIRST: Final = re.compile(
    r"^(\s*):(?=:(?:error|warning|notice|debug|(?:end)?group|add-mask|set-output|save-state|set-env|add-path|echo"
    r"|stop-commands|(?:add|remove)-matcher|internal-[\w-]+)\b)",
    re.IGNORECASE,
)
# An underscore between letters or digits is not markup; renderers turn `://` and `www.` into links.
_MARKDOWN: Final = re.compile(r"([\\`*\[\]<>|~&$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=[wW]{3})\.)")
# Renderers of forges look for names of people and issues after the markup is gone, so that a backslash is no help.
NO_WIDTH: Final = "&#8203;"
_REFERENCE: Final = re.compile(r"(?<=@)(?=\w)|(?<=[#!])(?=\d)|(?<=\bGH-)(?=\d)|(?<=:)(?=//)", re.IGNORECASE)


def for_terminal(text: str) -> str:
    """Return the text with control, bidirectional, zero-width and surrogate characters shown by number."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible_char(char) for char in text)


def _visible_char(char: str) -> str:
    # Invisible formatting characters that can change how the text around them is displayed.
    if unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}:
        return char
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def for_log(text: str) -> str:
    """Return a line as `for_terminal` does, in which no CI server finds a command."""
    return _LOG_COMMAND_FIRST.sub(r"\1: ", LOG_COMMAND.sub("# #", for_terminal(text)))


def short_names(text: str) -> str:
    """Return a text with the names of tests without their file and class, and their rest as +24."""
    return re.sub(r"(?:,? and|,) (\d+) more\b", r", +\1", re.sub(r"(?<!\S)[\w./\\-]+\.\w+::(?:\w+::)*(?=\w)", "", text))


def commands_for_markdown(text: str) -> str:
    """Escape text of ours as `for_markdown` does, but leave its commands in backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return for_markdown(text)
    shown = (f"`{for_terminal(part)}`" if place % 2 else for_markdown(part) for place, part in enumerate(parts))
    return "".join(shown)


def block_for_markdown(text: str) -> str:
    """Return a text after the name of a nested list item; several lines as code by its indent, which none ends."""
    lines = text.splitlines()
    if len(lines) <= 1:
        return f" {for_markdown(text)}"
    return "\n" + "".join(f"\n{' ' * 10}{for_terminal(line)}" for line in lines)


def for_markdown(text: str) -> str:
    """Escape text so that Markdown shows it literally: no markup, HTML, table cells or hidden characters.

    Nobody is mentioned and no issue is linked or closed: a space of no width stands inside such a name.
    """
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(?:[ _][A-Za-z0-9]+)*", text):
        return text
    escaped = _MARKDOWN.sub(r"\\\1", for_terminal(text))
    # Starts of a heading, a list or a rule: a backslash is added after the group.
    block_start = r"^(\s*(?:(?=#{1,6}(?:\s|$)|[+-](?:\s|$)|(?:-+|=+)\s*$)|\d{1,9}(?=[.)](?:\s|$))))"
    return _REFERENCE.sub(NO_WIDTH, re.sub(block_start, r"\1\\", escaped))
