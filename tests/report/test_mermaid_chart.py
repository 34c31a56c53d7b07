"""The picture of a loop: scaled to its values, the peak marked, never more columns than can be read."""

from ralph_tracker.report.mermaid_chart import COLUMNS, mermaid_chart
from ralph_tracker.report.sentences import Point


def test_score_and_tests_are_drawn_between_their_least_and_greatest_value():
    points = [Point(0, 8, 12, None, 0.6932), Point(1, 12, 12, None, 0.92245), Point(2, 11, 12, None, 0.9)]
    assert mermaid_chart(points, 1).splitlines() == [
        "xychart-beta",
        '    title "Score (line), passing tests (bars), %; ▲ best: iteration 1"',
        '    x-axis ["0", "1 ▲", "2"]',
        '    y-axis "%" 65 --> 100',
        "    bar [66.7, 100, 91.7]",
        "    line [69.3, 92.2, 90]",
    ]


def test_tests_that_were_not_always_counted_are_not_drawn():
    points = [Point(0, 8, 12, None, 0.5), Point(1, None, None, None, 0.5), Point(2, 8, 12)]
    text = mermaid_chart(points, 0)
    assert "bar" not in text
    assert "    line [50, 50]" in text


def test_one_point_is_no_picture():
    assert mermaid_chart([Point(0, 1, 1, None, 1.0)], 0) == ""


def test_of_a_long_loop_some_columns_are_drawn_the_peak_among_them():
    text = mermaid_chart([Point(number, score=0.5) for number in range(1001)], 777)
    axis = next(line for line in text.splitlines() if "x-axis" in line)
    assert axis.count(",") + 1 <= COLUMNS
    assert '["0", ' in axis
    assert '"777 ▲"' in axis
    assert axis.endswith('"1000"]')
