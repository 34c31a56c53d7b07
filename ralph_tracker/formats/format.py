"""What the registry knows of a format."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ralph_tracker.formats.content import Content
from ralph_tracker.formats.report import Kind, Report

Syntax = Literal["xml", "json", "lines", "text"]


@dataclass(frozen=True, slots=True)
class Format:
    """Describe one format.

    `syntax` is what its files are made of: XML, one JSON value, a JSON object a line, or text and whatever else.
    `sniff` says whether the content looks like the format, however damaged further on; it is asked only about content
    of its syntax. `read` returns the report or raises DamageError. `silence` is what an empty output means when the
    tool exited 0; None where the tool writes something even then.
    """

    name: str
    kind: Kind
    syntax: Syntax
    sniff: Callable[[Content], bool]
    read: Callable[[Content], Report]
    silence: Report | None = None
