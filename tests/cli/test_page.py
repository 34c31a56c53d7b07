"""`report --html`: the whole loop in one file, whatever of it can be read."""

import json
import re

import pytest

from ralph_tracker.tracker import post_iteration


@pytest.fixture
def page_of(tmp_path):
    """Return a function that writes the page of a project and returns it."""

    def write(project, *words):
        file = tmp_path / "page.html"
        answer = project.ralph("report", "--html", file, *words)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out.startswith(f"{file}: ")
        return file.read_text(encoding="utf-8")

    return write


def test_the_page_says_first_where_the_loop_stands(dropped, page_of):
    text = page_of(dropped)
    lead = text.partition('<p class="lead">')[2].partition("</p>")[0]
    assert lead == (
        "9/9 → 10/10 tests and 50 % coverage by iteration 1; iteration 2 lacks 1 test of iteration 1 "
        "(9/9 pass). Go back to iteration 1."
    )
    assert "<strong>Decision</strong>: rollback to iteration 1 (confidence 95 %): " in text
    assert 'aria-label="iteration 1, 84.3 %: best so far"' in text
    assert "Cost: at least $1.50, unknown for 1 of 2 iterations" in text
    assert "unknown</td>" in text


def test_the_row_of_an_iteration_says_why_it_is_taken_or_not_and_metrics_bring_all_values(dropped, page_of):
    text = page_of(dropped)
    reasons = [why.partition(",")[0] for why in re.findall(r'<tr id="i\d+" data-why="([^"]*)"', text)]
    assert reasons == ["taken then", "best so far", "not taken: worse"]
    assert ' data-values="9|10|9">' in text


def test_a_long_loop_has_all_values_in_the_charts_and_in_each_table_some(project_at, tmp_path, page_of):
    project = project_at(tmp_path / "long").started()
    for number in range(1, 121):
        post_iteration(root=project.root, metrics={"testing": {"coverage_percentage": 50 + number % 7}})
    text = page_of(project)
    rows = re.findall(r"<tr><td>(\d+)</td>", text.partition("Table of these metrics")[2].partition("</table>")[0])
    assert len(rows) <= 102
    assert {"0", "120"} <= {*rows}
    assert 'data-label="Coverage"' in text
    listed = [int(number) for number in re.findall(r'<tr id="i(\d+)"', text)]
    (unlisted,) = re.findall(r'<script type="application/json" id="unlisted">(.*?)</script>', text)
    others = {number: (place, cells) for place, number, _, *cells in json.loads(unlisted)}
    assert sorted([*listed, *others]) == [*range(121)]
    assert len(listed) <= 102
    place, cells = others[3]
    assert (place, cells[0], cells[3]) == (3, "3", "53.0%")


def test_the_numbers_of_an_objective_are_drawn_with_their_spread_each_at_its_iteration(project, page_of):
    (project.root / "j.xml").write_text('<testsuite tests="1"><testcase classname="t" name="test"/></testsuite>')
    (project.root / "ralph-tracker.yaml").write_text(
        "checks:\n"
        '  tests: {run: "cp j.xml {reports}/j.xml", reports: ["{reports}/j.xml"], kind: tests}\n'
        "  speed: {run: cat figures.txt, kind: metrics}\n"
        "metrics: {'<b>\"': {from: speed, name: ms, unit: ms, direction: down}}\n"
        "objectives: ['<b>\"']\n"
    )
    for phase, figures in (("pre-loop", (9, 11)), ("post-iteration", ()), ("post-iteration", (5, 6))):
        lines = "".join(f"METRIC ms={each} ms\n" for each in figures)
        (project.root / "figures.txt").write_text(lines or "no number")
        project.must(phase, None, "--trust")
    (figure,) = re.findall(r'<figure data-label="&lt;b&gt;&#34;".*?</figure>', page_of(project))
    assert 'data-values="10 ms (2 from 9 to 11)|n/a|5.5 ms (2 from 5 to 6)"' in figure
    assert 'data-at="0 2 ' in figure
    assert 'aria-label="&lt;b&gt;&quot; over the iterations"' in figure
    assert figure.partition('class="spread" d="')[2].partition('"')[0].count("M") == 2


def test_a_page_is_only_read_never_written_beside(dropped, page_of):
    before = dropped.content()
    assert page_of(dropped) == page_of(dropped)
    assert dropped.content() == before


def test_a_damaged_record_is_named_and_the_rest_is_shown(dropped, page_of):
    folder = dropped.root / ".aiwg/ralph/ralph-001"
    (folder / "iterations/iteration-001/metrics.json").write_text("{")
    (folder / "progress/iteration-001-metrics.yaml").write_text("{")
    text = page_of(dropped)
    assert "Note: iteration 1: both copies of its record are damaged" in text
    assert '<tr id="i2"' in text


def test_a_baseline_alone_is_a_page_too(project, page_of):
    text = page_of(project.started())
    assert "Baseline: 10/10 tests and 50 % coverage." in text
    assert "Metrics that moved" not in text


def test_what_was_selected_by_a_person_is_what_is_taken(running, page_of):
    running.must("post-loop", None, "--iteration", "0", "--reason", "mine")
    assert "Take iteration 0." in page_of(running)


@pytest.mark.parametrize("words", [("1",), ("--json",), ("-o", "x.md")], ids=str)
def test_a_page_is_of_the_whole_loop(running, words):
    answer = running.ralph("report", "--html", "page.html", *words)
    assert answer.code == 2
    assert "--html writes the whole loop" in answer.complaint


def test_a_place_that_cannot_be_written_is_named(running, tmp_path):
    answer = running.ralph("report", "--html", tmp_path / "none" / "page.html")
    assert answer.code == 1
    assert "page.html" in answer.complaint


def test_tests_and_files_are_in_the_page(project, page_of):
    def report(*failing):
        cases = "".join(
            f"<testcase classname='t' name='{case}'>{'<failure/>' if case in failing else ''}</testcase>"
            for case in ("a", "b", "c")
        )
        (project.root / "report.xml").write_text(f"<testsuite tests='3'>{cases}</testsuite>")

    check = '{run: "cp report.xml {reports}/junit.xml", reports: ["{reports}/junit.xml"]}'
    (project.root / "ralph-tracker.yaml").write_text(f"checks: {{tests: {check}}}\n")
    report("a")
    project.must("pre-loop")
    report("b")
    project.must("post-iteration")
    text = page_of(project)
    assert '<th scope="row" class="name troubled">t::b</th><td>broke at 1</td>' in text
    assert '<th scope="row" class="name">t::a</th><td>fixed at 1</td>' in text
    assert "Iteration 1: 1 file: " in text
    assert '<span class="d">-&lt;testsuite' in text


def test_the_figures_come_first_then_the_chart_then_alerts_by_iteration(dropped, page_of):
    text = page_of(dropped)
    assert f"<title>ralph-001, {dropped.root.name}: ralph-tracker</title>" in text
    order = ['<dl class="figures">', "Chart of the score", "What is wrong and what to do", "Table of all iterations"]
    assert sorted(order, key=text.index) == order
    assert "<dt>Best so far</dt><dd>1 of 2</dd>" in text
    later = text.partition("1 iteration with alerts after iteration 1")[2].partition("</details>")[0]
    assert later.count("<li>") == 1
    assert "test_deletion" in later
    assert "functionality_loss" in later


def test_a_loop_that_ended_has_no_decision(dropped, page_of):
    dropped.must("post-loop")
    assert "<strong>Decision</strong>" not in page_of(dropped)
