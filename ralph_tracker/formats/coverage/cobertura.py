"""Cobertura's XML, also written by coverage.py, gcovr, coverlet, Istanbul and many others.

Lines are the rows of each class; those of its methods repeat them, or mean something else (Istanbul), and do not count.
Several classes may share one file. The same class of the same package again is of another file of that name, in the
next of several source folders.
"""

import re
from collections import Counter
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

_SOURCE: Final = re.compile(rb"<source>([^<]*)</source>")


def sniff(content: Content) -> bool:
    """Whether the root is `coverage`, with Cobertura's parts or rate in it."""
    root, attributes, second, *_ = content.xml
    return root == "coverage" and (
        second in {"sources", "packages"} or (second != "project" and "line-rate" in attributes)
    )


def read(content: Content) -> CoverageReport:
    """Read the rows, and the root's `lines-covered`, `lines-valid` and `line-rate`. Raises DamageError.

    A rate has few digits, cut or rounded. With a single source folder paths begin with it, because the packages of a
    workspace may have files of the same name.
    """
    found = _SOURCE.findall(content.data, 0, 1 << 16)
    folders = tuple(bytes(each).strip().decode(errors="replace").rstrip("/\\") for each in found)
    return _Reader(content, folders).walk().report()


class _Reader(Elements):
    """Handle the events of one document; for speed, `start` and `end` process lines themselves."""

    def __init__(self, content: Content, folders: tuple[str, ...]) -> None:
        super().__init__(content)
        self._folders = folders
        self._package = ""
        self._classes: Counter[tuple[str, str, str]] = Counter()
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
            if len(self._folders) > 1:
                path = self._in_own_folder(attributes.get("name", ""), path)
            self._class = self._rows = self._files.setdefault(path, {})
        elif name == "package":
            self._package = attributes.get("name", "")
        elif name == "method":
            self._rows = self._of_methods

    def _in_own_folder(self, name: str, path: str) -> str:
        """Return the path, below the next source folder if the same class was there before."""
        key = (self._package, name, path)
        before = self._classes[key]
        self._classes[key] += 1
        if not before:
            return path
        return f"{self._folders[before]}/{path}" if before < len(self._folders) else f"{path}#{before + 1}"

    def closed(self, name: str) -> None:
        if name == "class":
            self._of_methods.clear()
            self._rows = self._outside
        elif name == "method":
            self._rows = self._class

    def report(self) -> CoverageReport:
        if self._outside:
            raise DamageError("a line is outside of any class")
        folder = f"{self._folders[0]}/" if len(self._folders) == 1 and self._folders[0] not in ("", ".") else ""
        if any(number > 1 for number in self._classes.values()):  # then the first of each is of the first folder
            twice = {path for (_, _, path), number in self._classes.items() if number > 1}
            self._files = {
                f"{self._folders[0]}/{path}" if path in twice else path: lines for path, lines in self._files.items()
            }
        return coverage_builder.report({folder + path: lines for path, lines in self._files.items()}, self._stated)
