"""OpenCover's XML, also written by coverlet and AltCover: sequence points, which are .NET's statements."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from ralph_tracker.formats.coverage import coverage_builder
from ralph_tracker.formats.parsed_report import Block, CoverageReport, Files
from ralph_tracker.formats.report_content import (
    Content,
    DamageError,
    Elements,
    attribute_count,
    attribute_percent,
    last_digit,
    xml_root,
)

sniff: Final = xml_root("CoverageSession")


def read(content: Content) -> CoverageReport:
    """Read the points, or the summary of a session without points. Raises DamageError, also if there is neither.

    Several points at one place count separately, as in the tool's own numbers.
    """
    reader = _Reader(content).walk()
    if reader.stated is None:
        raise DamageError("the session has no summary of its points")
    return coverage_builder.report(reader.files(), reader.stated)


class _Reader(Elements):
    """Handle the events of one document."""

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self.stated: coverage_builder.DeclaredTotals | None = None
        self._paths: dict[str, str] = {}
        self._points: dict[str, dict[Block, bool]] = {}
        self._places: dict[str, Counter[str]] = {}
        self._file = ""
        self._hits = coverage_builder.Hits()

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.path and name != "CoverageSession":
            raise DamageError(f"the root element is <{name}>, not OpenCover's")
        if name == "SequencePoint" and "sl" in attributes:
            if "vc" not in attributes:
                raise DamageError("a SequencePoint has no attribute 'vc'")
            file = attributes.get("fileid", self._file)
            place = "{}.{},{}.{}".format(*(attributes.get(key, "") for key in ("sl", "sc", "el", "ec")))
            places = self._places.setdefault(file, Counter())
            places[place] += 1
            if places[place] > 1:
                place += f" #{places[place]}"
            self._points.setdefault(file, {})[Block(place, 1)] = self._hits[attributes["vc"]]
        elif name == "Method":
            self._file = ""
        elif name == "FileRef":
            self._file = attributes.get("uid", "")
        elif name == "File":
            self._paths[attributes.get("uid", "")] = attributes.get("fullPath", "")
        elif name == "Summary" and len(self.path) == 1:
            self.stated = coverage_builder.DeclaredTotals(
                covered=attribute_count(attributes, "visitedSequencePoints"),
                total=attribute_count(attributes, "numSequencePoints"),
                percent=attribute_percent(attributes, "sequenceCoverage"),
                rounding=max(0.01, last_digit(attributes.get("sequenceCoverage", ""))),
            )

    def files(self) -> Files:
        """Return the points by path; an unknown file is named by its number."""
        files: dict[str, dict[Block, bool]] = {}
        for file, points in self._points.items():
            known = files.setdefault(self._paths.get(file, f"?{file}"), {})
            for block, hit in points.items():
                known[block] = hit or known.get(block, False)
        return files
