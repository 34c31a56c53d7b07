"""JaCoCo's XML: rows of lines per source file, and counters for everything."""

from collections.abc import Mapping

from ralph_tracker.formats.coverage import coverage_builder
from ralph_tracker.formats.parsed_report import CoverageReport
from ralph_tracker.formats.report_content import Content, DamageError, Elements, attribute_count, plausible


def sniff(content: Content) -> bool:
    """Whether the root is `report`, with JaCoCo's document type or one of its first elements."""
    return content.xml.root == "report" and (
        "//JACOCO//DTD" in content.opening or content.xml.second in {"sessioninfo", "group", "package", "counter"}
    )


def read(content: Content) -> CoverageReport:
    """Read the rows; a line is covered if one of its instructions ran. Raises DamageError.

    Without rows it uses the line counter of the whole report; without that there is no data, whatever other counters
    say.
    """
    reader = _Reader(content).walk()
    return coverage_builder.report(reader.files, reader.stated)


class _Reader(Elements):
    """Handle the events of one document; a file's path is that of its groups and package."""

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self.files: dict[str, dict[int, bool]] = {}
        self.stated = coverage_builder.NOTHING
        self._names: list[str] = []
        self._rows: dict[int, bool] = {}
        self._numbers = coverage_builder.LineNumbers()
        self._hits = coverage_builder.Hits()

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.path and name != "report":
            raise DamageError(f"the root element is <{name}>, not JaCoCo's")
        if name == "line":
            if self.path[-1] != "sourcefile":
                raise DamageError("a line is outside of any sourcefile")
            try:
                number, hit = self._numbers[attributes["nr"]], self._hits[attributes["ci"]]
            except KeyError as missing:
                raise DamageError(f"a line has no attribute {missing}") from None
            coverage_builder.mark(self._rows, number, hit=hit)
        elif name == "counter" and len(self.path) == 1 and attributes.get("type") == "LINE":
            covered, missed = attribute_count(attributes, "covered"), attribute_count(attributes, "missed")
            if covered is not None and missed is not None:
                self.stated = coverage_builder.DeclaredTotals(
                    covered=covered, total=covered + plausible(missed, "missed lines")
                )
        elif name in ("group", "package"):
            self._names.append(attributes.get("name", ""))
        elif name == "sourcefile":
            path = "/".join([*filter(None, self._names), attributes.get("name", "")])
            self._rows = self.files.setdefault(path, {})

    def closed(self, name: str) -> None:
        if name in ("group", "package"):
            self._names.pop()
