"""The pictures of the page: what is unknown is a gap, never zero, and nothing needs colour to be told apart."""

import re
from xml.etree import ElementTree as ET

from ralph_tracker.report import svg
from tests.tables import table


def parsed(picture):
    return ET.fromstring(picture)  # noqa: S314  # made by us


def paths_in(picture):
    return {path.get("class"): path.get("d") for path in parsed(picture).iter("path")}


def test_a_strip_draws_each_outcome_at_a_height_of_its_own():
    assert paths_in(svg.outcome_strip("ffp-s?p")) == {
        "f": "M0 0h2V10H0z",
        "p": "M2 7h1V10H2zM6 7h1V10H6z",
        "s": "M4 4h1V10H4z",
    }


def test_the_trajectory_marks_what_happened_and_leads_to_its_row():
    scores = [(0, 60.0), (1, None), (2, 90.0), (3, 80.0)]
    marks = [svg.Mark(2, "peak", "taken"), svg.Mark(3, "rollback", "rolled back"), svg.Mark(1, "high", "HIGH")]
    root = parsed(svg.trajectory(scores, marks))
    links = {link.get("href"): link.get("aria-label") for link in root.iter("a")}
    assert links == {
        "#i0": "iteration 0, 60 %",
        "#i2": "iteration 2, 90 %: taken",
        "#i3": "iteration 3, 80 %: rolled back",
    }
    line = next(path.get("d") for path in root.iter("path") if path.get("class") == "line score")
    assert re.sub(r"[\d. ]", "", line) == "MML"
    assert next(text.text for text in root.iter("text")) == "90"


def test_a_long_loop_has_links_for_its_marks_only():
    scores = [(number, 50.0) for number in range(500)]
    assert svg.trajectory(scores, [svg.Mark(7, "peak", "taken")]).count("<a ") == 1


@table("series", [[], [(0, None)], [(0, 1.0), (1, None)]], ids=str)
def test_too_little_is_no_picture(series):
    assert svg.small(series, "x") == ""
    assert bool(svg.trajectory(series, [])) is any(value is not None for _, value in series)


def test_parts_stand_on_each_other():
    text = svg.stacked({"a": [(0, 50.0), (1, 20.0)], "b": [(0, 50.0), (1, None)]}, "parts")
    paths = paths_in(text)
    assert paths["part part0"].count("M") == 2
    assert paths["part part1"].count("M") == 1
    assert svg.stacked({}, "parts") == ""
