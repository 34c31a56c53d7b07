"""A real report cut anywhere is unreadable, or says no less than the whole of it, as far as its format shows a cut."""

from pathlib import Path

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import Unreadable
from tests.tables import table

FIXTURES = Path(__file__).parents[2] / "fixtures" / "reports"
WHOLE = [path for path in sorted(FIXTURES.glob("*/*/report.*")) if path.parent.name != "cut-short"]


def as_bad_as_ever(part, whole):
    return bool(part.errors) == bool(whole.errors)


def some_of_the_findings(part, whole):
    return min(1, whole.results) <= part.results <= whole.results


def some_of_the_tests(part, whole):
    return part.outcomes.items() <= whole.outcomes.items()


def the_same_counts(part, whole):
    return (part.tests, part.failed, part.errors) == (whole.tests, whole.failed, whole.errors)


def some_of_the_lines(part, whole):
    return part.lines_total <= whole.lines_total and part.lines_covered <= whole.lines_covered


# What a cut between two records can leave where the format has no end: format, what holds then.
ENDLESS = {
    "mypy-json": as_bad_as_ever,
    "mypy-text": as_bad_as_ever,
    "tsc-text": as_bad_as_ever,
    "flake8-text": some_of_the_findings,
    "github-text": some_of_the_findings,
    "azure-text": some_of_the_findings,
    "rdjson-lines": some_of_the_findings,
    "pyrefly-text": as_bad_as_ever,
    "ruff-json-lines": some_of_the_findings,
    "pylint-text": some_of_the_findings,
    "libtest-text": some_of_the_tests,
    "minitest-text": some_of_the_tests,
    "tap": the_same_counts,  # within the last line
    "lcov": some_of_the_lines,
    "gocover": some_of_the_lines,
}


@table("path", WHOLE, ids=lambda path: f"{path.parents[1].name}/{path.parent.name}")
def test_a_real_report_cut_anywhere_is_never_a_better_one(path):
    data, name = path.read_bytes(), path.parents[1].name
    whole = registry.read(data, format=name)
    for cut in range(0, len(data), max(1, len(data) // 30)):
        part = registry.read(data[:cut], format=name)
        if not isinstance(part, Unreadable):
            assert part == whole or ENDLESS[name](part, whole), cut
