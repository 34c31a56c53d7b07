"""Minitest's verbose text: tests by name where each has its line, counts alone where not, and no half a run."""

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import Unreadable
from tests.tables import table

TWO = {"A#test_a": "passed", "B::C#test_b": "failed"}
SUMMARY = "{} runs, 3 assertions, {} failures, {} errors, {} skips\n"


@table(
    ("lines", "summary", "outcomes"),
    [
        (
            "A#test_a = 0.00 s = .\nB::C#test_b = 1.25 s = E\n",
            (2, 0, 1, 0),
            {"A#test_a": "passed", "B::C#test_b": "failed"},
        ),
        ("A#test_a = said\nmore 0.01 s = F\n", (1, 1, 0, 0), {"A#test_a": "failed"}),
        ("A#test_0001_a = b = 0.00 s = S\n", (1, 0, 0, 1), {"A#test_0001_a = b": "skipped"}),
        ("A#test_a = 0.00 s = .\n", (2, 0, 0, 0), {}),
    ],
    ids=["each has a line", "one prints", "an equals sign", "one has no line"],
)
def test_tests_have_names_where_each_has_its_line(lines, summary, outcomes):
    report = registry.read((lines + SUMMARY.format(*summary)).encode())
    assert (report.tests, report.outcomes) == (summary[0], outcomes)


@table("text", ["A#test_a = 0.00 s = .\n", SUMMARY.format(1, 1, 1, 0)], ids=["cut", "impossible"])
def test_what_is_no_whole_run_is_unreadable(text):
    assert isinstance(registry.read(text.encode(), format="minitest-text"), Unreadable)
