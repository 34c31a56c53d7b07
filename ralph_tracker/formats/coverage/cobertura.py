"""Cobertura's XML, also written by coverage.py, gcovr, coverlet, Istanbul and many others.

Lines are the rows of each class; those of its methods repeat them, or mean something else (Istanbul), and do not count.
Several classes may share one file.
"""

import re
from collections.abc import Mapping
from typing import Final

from ralph_tracker.formats.coverage import coverage_builder
from ralph_tracker.formats.parsed_report import CoverageReport
from ralph_tracker.formats.report_content import (
    Content,
    DamageError,
    Elements,
    attribute_count,
    attribute_percent,
    last_digit,
)

_SECOND: Final = frozenset({"sources", "packages"})
_SOURCE: Final = re.compile(rb"<source>([^<]*)</source>")
_HEAD: Final = 1 << 16
_CLOVER: Final = "project"


def sniff(content: Content) -> bool:
    """Whether the root is `coverage`, with Cobertura's parts or rate in it."""
    root, attributes, second, _ = content.xml
    return root == "coverage" and (second in _SECOND or (second != _CLOVER and "line-rate" in attributes))


def read(content: Content) -> CoverageReport:
    """Read the rows, and the root's `lines-covered`, `lines-valid` and `line-rate`. Raises DamageError.

    A rate has few digits, cut or rounded. With a single source folder paths begin with it, because the packages of a
    workspace may have files of the same name.
    """
    reader = _Reader(content).walk()
    folders = [bytes(each).strip() for each in _SOURCE.findall(content.data, 0, _HEAD)]
    single = len(folders) == 1 and folders[0] not in (b"", b".")
    return reader.report(folders[0].decode(errors="replace").rstrip("/\\") + "/" if single else "")


class _Reader(Elements):
    """Handle the events of one document; for speed, `start` and `end` process lines themselves."""

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self._files: dict[str, dict[int, bool]] = {}
        self._outside: dict[int, bool] = {}
        self._of_methods: dict[int, bool] = {}
        self._class = self._rows = self._outside
        self._numbers = coverage_builder.LineNumbers()
        self._hits = coverage_builder.Hits()
        self._stated = coverage_builder.NOTHING

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name != "line":
            super().start(name, attributes)
            return
        try:
            number = self._numbers[attributes["number"]]
            if self._hits[attributes["hits"]]:
                self._rows[number] = True
            elif number not in self._rows:
                self._rows[number] = False
        except KeyError as missing:
            raise DamageError(f"a line has no attribute {missing}") from None

    def end(self, name: str) -> None:
        if name != "line":
            super().end(name)

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.path:
            if name != "coverage":
                raise DamageError(f"the root element is <{name}>, not Cobertura's")
            digit = last_digit(attributes.get("line-rate", "")) * 100
            self._stated = coverage_builder.DeclaredTotals(
                covered=attribute_count(attributes, "lines-covered"),
                total=attribute_count(attributes, "lines-valid"),
                percent=attribute_percent(attributes, "line-rate", whole=1),
                rounding=min(max(digit, 0.01), 1),
            )
        elif name == "class":
            path = attributes.get("filename", attributes.get("name"))
            if path is None:
                raise DamageError("a class has neither filename nor name")
            self._class = self._rows = self._files.setdefault(path, {})
        elif name == "method":
            self._rows = self._of_methods

    def closed(self, name: str) -> None:
        if name == "class":
            self._of_methods.clear()
            self._rows = self._outside
        elif name == "method":
            self._rows = self._class

    def report(self, folder: str) -> CoverageReport:
        if self._outside:
            raise DamageError("a line is outside of any class")
        return coverage_builder.report({folder + path: lines for path, lines in self._files.items()}, self._stated)
