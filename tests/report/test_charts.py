"""The pictures of the page: what is unknown is a gap, never zero, and nothing needs colour to be told apart."""

import re
from xml.etree import ElementTree as ET

from ralph_tracker.report import charts
from ralph_tracker.report.charts import MERMAID_COLUMNS, mermaid_chart
from ralph_tracker.report.wording import Point
from tests.tables import table


def parsed(picture):
    return ET.fromstring(picture)  # noqa: S314  # made by us


def paths_in(picture):
    return {path.get("class"): path.get("d") for path in parsed(picture).iter("path")}


def test_a_strip_draws_each_outcome_at_a_height_of_its_own():
    assert paths_in(charts.outcome_strip("ffp-s?p")) == {
        "f": "M0 0h2V10H0z",
        "p": "M2 7h1V10H2zM6 7h1V10H6z",
        "s": "M4 4h1V10H4z",
    }


def test_the_trajectory_marks_what_happened_and_leads_to_its_row():
    scores = [(0, 60.0), (1, None), (2, 90.0), (3, 80.0)]
    marks = [charts.Mark(2, "peak", "taken"), charts.Mark(3, "rollback", "rolled back"), charts.Mark(1, "high", "HIGH")]
    root = parsed(charts.trajectory(scores, marks))
    links = {link.get("href"): link.get("aria-label") for link in root.iter("a")}
    assert links == {
        "#i0": "iteration 0, 60 %",
        "#i1": "iteration 1, score unknown: HIGH",
        "#i2": "iteration 2, 90 %: taken",
        "#i3": "iteration 3, 80 %: rolled back",
    }
    line = next(path.get("d") for path in root.iter("path") if path.get("class") == "line score")
    assert re.sub(r"[\d. ]", "", line) == "MM"
    assert re.sub(r"[\d. ]", "", paths_in(charts.trajectory(scores, marks))["line stub"]) == "ML"
    assert next(text.text for text in root.iter("text")) == "90"


def test_the_line_leads_past_what_was_rolled_back_and_tests_stand_below():
    scores = [(number, value) for number, value in enumerate([60.0, 70.0, 40.0, 80.0])]
    marks = [charts.Mark(2, "rollback", "rolled back"), charts.Mark(3, "point", "not taken: it breaks a test")]
    text = charts.trajectory(scores, marks, {2: 1, 3: 1}, {0: 5, 1: 6, 2: 0, 3: 7})
    paths = paths_in(text)
    assert paths["line score"].count("L") == 2
    assert paths["line stub"].partition("L")[0][1:] == paths["line score"].split("L")[1]  # from iteration 1
    assert paths["tests"].count("M") == 3  # an unknown number is no bar
    assert "iteration 3, 80 %: not taken: it breaks a test" in text


@table(
    ("scores", "ticks"),
    [
        ([(0, 41.0), (1, 96.0)], ["100", "90", "80", "70", "60", "50", "40"]),
        ([(0, 83.3), (1, 100.0)], ["100", "95", "90", "85", "80"]),
        ([(0, 1.0), (1, 99.0)], ["100", "80", "60", "40", "20", "0"]),
    ],
    ids=str,
)
def test_the_lines_of_an_axis_are_at_round_numbers(scores, ticks):
    root = parsed(charts.trajectory(scores, []))
    assert [text.text for text in root.iter("text") if text.get("text-anchor") == "end"] == ticks
    numbers = parsed(charts.trajectory([(n, 50.0) for n in range(301)], []))
    assert [text.text for text in numbers.iter("text") if text.get("text-anchor") == "middle"][:3] == ["0", "20", "40"]


def test_iterations_without_a_score_are_a_gap_at_the_ends_too():
    text = charts.trajectory([(0, None), (1, 60.0), (2, None)], [charts.Mark(2, "blocked", "the agent was blocked")])
    assert parsed(text).get("data-at").split()[:2] == ["0", "2"]
    assert paths_in(text)["line score"].count("M") == 1
    assert "iteration 2, score unknown: the agent was blocked" in text


def test_a_long_loop_has_links_for_its_marks_only():
    scores = [(number, 50.0) for number in range(500)]
    assert charts.trajectory(scores, [charts.Mark(7, "peak", "taken")]).count("<a ") == 1


def test_of_many_points_in_a_column_the_ends_and_the_extremes_are_drawn():
    series = [(number, 50.0 + (number == 777) - 2 * (number == 778)) for number in range(2001)]
    series[1500] = (1500, None)
    root = parsed(charts.small(series, "x", taken=3))
    line = next(path.get("d") for path in root.iter("path") if path.get("class") == "line score")
    assert line.count("M") == 2  # an unknown value stays a gap
    assert line.count("M") + line.count("L") < 900
    assert {" 6.0", " 54.0"} <= set(re.findall(r" [\d.]+", line))
    assert root.get("data-at") == "0 2000 4.0 196.0"


def test_compared_lines_end_with_their_values_and_have_their_best_marked():
    loops = {
        "ralph-001": [(0, 60.0), (1, 90.0), (2, None)],
        "ralph-002": [(0, 50.0), (1, 90.2)],
        "ralph-003": [(0, None)],
    }
    root = parsed(charts.comparison_chart(loops, {"ralph-001": 0, "ralph-002": 2, "ralph-003": None}))
    ends = {text.text: float(text.get("y")) for text in root.iter("text") if text.text.startswith("ralph")}
    assert [*ends] == ["ralph-002 90.2", "ralph-001 90"]
    assert ends["ralph-001 90"] - ends["ralph-002 90.2"] >= 13
    assert sum(path.get("class") == "peak" for path in root.iter("path")) == 1
    assert charts.comparison_chart({"a": [(0, None)]}) == ""


@table("series", [[], [(0, None)], [(0, 1.0), (1, None)]], ids=str)
def test_too_little_is_no_picture(series):
    assert charts.small(series, "x") == ""
    assert bool(charts.trajectory(series, [])) is any(value is not None for _, value in series)


def test_the_repeats_of_a_number_are_a_bar_from_the_least_to_the_greatest():
    plain = parsed(charts.small([(0, 5.0), (1, None), (2, 3.0)], "ms", 2, spread={0: (4.0, 9.0), 2: (3.0, 3.0)}))
    bars = next(path.get("d") for path in plain.iter("path") if path.get("class") == "spread")
    assert bars == "M4.0 46.0V6.0M196.0 54.0V54.0"  # the greatest, 9, is at the top, and the line lies within


def test_parts_stand_on_each_other():
    text = charts.stacked_chart({"a": [(0, 50.0), (1, 20.0)], "b": [(0, 50.0), (1, None)]}, "parts")
    paths = paths_in(text)
    assert paths["part part0"].count("M") == 2
    assert paths["part part1"].count("M") == 1
    assert charts.stacked_chart({}, "parts") == ""


def test_score_and_tests_are_drawn_and_bars_begin_at_0():
    points = [Point(0, 8, 12, None, 0.6932), Point(1, 12, 12, None, 0.92245), Point(2, 11, 12, None, 0.9)]
    assert mermaid_chart(points, 1).splitlines() == [
        "xychart-beta",
        '    title "Score (line), passing tests (bars), %; ▲ best: iteration 1"',
        '    x-axis ["0", "1 ▲", "2"]',
        '    y-axis "%" 0 --> 100',
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
    assert axis.count(",") + 1 <= MERMAID_COLUMNS
    assert '["0", ' in axis
    assert '"777 ▲"' in axis
    assert axis.endswith('"1000"]')


def test_candidates_of_one_base_are_stubs_beside_the_line_to_the_last():
    drawn = charts.trajectory([(0, 60.0), (1, 70.0), (2, 80.0), (3, 65.0)], [], {0: None, 1: 0, 2: 0, 3: 0})
    line, stubs = re.findall(r'<path class="line (?:score|stub)" d="([^"]*)"', drawn)
    assert (line.count("M"), line.count("L")) == (1, 1)
    assert stubs.count("M") == 2
    assert 'class="rollback"' not in drawn
