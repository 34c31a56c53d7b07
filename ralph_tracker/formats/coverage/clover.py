"""Clover's XML, written by OpenClover, PHPUnit and Istanbul: rows of lines, and statement counts."""

from collections.abc import Mapping

from ralph_tracker.formats.coverage import coverage_builder
from ralph_tracker.formats.parsed_report import CoverageReport, share
from ralph_tracker.formats.report_content import Content, DamageError, Elements, attribute_count


def sniff(content: Content) -> bool:
    """Whether the root is `coverage`, with a project or Clover's version in it."""
    root, attributes, second, *_ = content.xml
    return root == "coverage" and ("clover" in attributes or second == "project")


def read(content: Content) -> CoverageReport:
    """Read the rows of all files, including the project's tests. Raises DamageError.

    The declared totals are statements, not lines: without rows there is no data. OpenClover does not count method rows
    as statements, and condition rows only sometimes.
    """
    return _Reader(content).walk().report()


class _Reader(Elements):
    """Handle the events of one document."""

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self._files: dict[str, dict[int, bool]] = {}
        self._rows: dict[int, bool] = {}
        self._statements = [0, 0]  # listed and not covered, covered
        self._conditions = [0, 0]
        self._covered: int | None = None
        self._total: int | None = None
        self._numbers = coverage_builder.LineNumbers()
        self._hits = coverage_builder.Hits()

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.path and name != "coverage":
            raise DamageError(f"the root element is <{name}>, not Clover's")
        if name == "line":
            if "file" not in self.path:
                raise DamageError("a line is outside of any file")
            # OpenClover counts a condition by its outcomes only
            counts = [attributes[key] for key in ("count", "truecount", "falsecount") if key in attributes]
            if "num" not in attributes or not counts:
                raise DamageError("a line has no num or no count")
            number, hit = self._numbers[attributes["num"]], any(self._hits[count] for count in counts)
            coverage_builder.mark(self._rows, number, hit=hit)
            if self.path[1] == "project" and attributes.get("type") != "method":
                (self._conditions if attributes.get("type") == "cond" else self._statements)[hit] += 1
        elif name == "file":
            path = attributes.get("path") or attributes.get("name")
            if not path:
                raise DamageError("a file has neither path nor name")
            self._rows = self._files.setdefault(path, {})
        elif name == "metrics" and self.path == ["coverage", "project"]:
            self._covered = attribute_count(attributes, "coveredstatements")
            self._total = attribute_count(attributes, "statements")

    def report(self) -> CoverageReport:
        percent = None
        if self._covered is not None and self._total and self._covered <= self._total:
            percent = share(self._covered, self._total)
        stated = coverage_builder.DeclaredTotals(
            covered=self._covered, total=self._total, percent=percent, of_lines=False
        )
        (_, covered), total = self._statements, sum(self._statements)
        with_conditions = covered + self._conditions[True], total + sum(self._conditions)
        agrees = (self._covered, self._total) == (covered, total)
        return coverage_builder.report(self._files, stated, listed=(covered, total) if agrees else with_conditions)
