"""What the registry knows of a format."""

from importlib import import_module
from typing import Literal, NamedTuple, Protocol, cast

from ralph_tracker.formats.content import Content
from ralph_tracker.formats.report import Kind, Report

Syntax = Literal["xml", "json", "lines", "text"]


class _Module(Protocol):
    """What the file of a format has."""

    def sniff(self, content: Content, /) -> bool: ...

    def read(self, content: Content, /) -> Report: ...


class Format(NamedTuple):
    """Describe one format; the file of its name, in the folder of its kind, is imported when it is tried.

    `syntax` is what its files are made of: XML, one JSON value, a JSON object a line, or text and whatever else.
    `silence` is what an empty output means when the tool exited 0; None where the tool writes something even then.
    """

    name: str
    kind: Kind
    syntax: Syntax
    silence: Report | None = None

    def sniff(self, content: Content) -> bool:
        """Say whether content of its syntax looks like the format, however damaged further on."""
        return self._module.sniff(content)

    def read(self, content: Content) -> Report:
        """Return the report. Raises DamageError."""
        return self._module.read(content)

    @property
    def _module(self) -> _Module:
        name = self.name.replace("-", "_")
        return cast("_Module", import_module(f"ralph_tracker.formats.{self.kind}.{name}"))
