"""What the tests of the formats share: text in, a report or the reason why there is none out."""

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import TestReport, Unreadable


@pytest.fixture
def read():
    """Return a reader of a text in a format, which must be the one that the text looks like."""

    def reader(text: str, name: str) -> TestReport:
        result = registry.read(text.encode(), format=name)
        assert isinstance(result, TestReport), result
        assert registry.read(text.encode()) == result
        return result

    return reader


@pytest.fixture
def damage():
    """Return a reader of a text that is no report of that format, nor of any other."""

    def reader(text: str, name: str) -> Unreadable:
        result = registry.read(text.encode(), format=name)
        assert isinstance(result, Unreadable), result
        assert isinstance(registry.read(text.encode()), Unreadable)
        return result

    return reader


@pytest.fixture
def outcomes():
    """Return how to list the ends of a report's tests, errors told apart from failures."""

    def listed(report: TestReport) -> list[str]:
        return ["error" if case in report.in_error else outcome for case, outcome in report.outcomes.items()]

    return listed
