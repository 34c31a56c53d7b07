"""The reports in Markdown: golden files beside the loops that they tell of, in the seed's own template."""

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from ralph_tracker.report.markdown_reports import iteration_report
from ralph_tracker.tracker import Tracker

FIXTURES = Path(__file__).parents[2] / "fixtures" / "reports_md"
CASES = sorted(folder for folder in FIXTURES.iterdir() if folder.is_dir())
SHARED = os.environ.get("RALPH_TRACKER_SHARED")
# The seed's Iteration Report Template, word for word.
TEMPLATE = """\
## Iteration {N} Progress Report

**Timestamp**: {timestamp}
**Classification**: {forward|plateau|regression|stalled}
**Quality Score**: {quality_score}

### Metrics

| Metric | Current | Previous | Delta | Baseline | Delta from Baseline |
|--------|---------|----------|-------|----------|---------------------|
| Test Count | {curr} | {prev} | {delta} | {base} | {delta_base} |
| Pass Rate | {curr}% | {prev}% | {delta}% | {base}% | {delta_base}% |
| Coverage | {curr}% | {prev}% | {delta}% | {base}% | {delta_base}% |
| Errors | {curr} | {prev} | {delta} | {base} | {delta_base} |

### Quality Score Breakdown

| Dimension | Score | Weight | Contribution |
|-----------|-------|--------|--------------|
| Validation | {score} | 0.30 | {contrib} |
| Completeness | {score} | 0.25 | {contrib} |
| Correctness | {score} | 0.25 | {contrib} |
| Readability | {score} | 0.10 | {contrib} |
| Efficiency | {score} | 0.10 | {contrib} |
| **Total** | **{total}** | 1.00 | **{total}** |

### Alerts

{alert_list or "No alerts"}

### Best Iteration Tracker

- **Current Best**: Iteration {best_iteration} (quality: {best_quality})
- **This Iteration**: Iteration {curr} (quality: {curr_quality})
- **Best Preserved**: {yes|no}

### Recommendation

**Action**: {continue|stop|rollback|escalate}
**Reason**: {detailed_rationale}
**Confidence**: {confidence_score}
"""
# What stands for a placeholder: a choice of words, a list, a percentage that may be absent, else a word or two.
SHAPES = [
    (r"\{alert_list or \"No alerts\"\}", r"(?:No alerts|(?:- .+\n)*- .+)"),
    (r"\{(\w+(?:\|\w+)+)\}", None),
    (r"\{\w+\}%", r"(?:n/a|[+-]?\d+\.\d%)"),
    (r"\| 0\.\d\d \|", r"\| 0\.\d\d \|"),
    (r"\{\w+\}", r"(?:\\.|[^|\n])+?"),
]


class SteadyClock:
    """Tell a time that goes on by a minute whenever it is asked."""

    def __init__(self) -> None:
        self._now = datetime(2026, 2, 2, 10, 0, tzinfo=UTC)

    def now(self) -> datetime:
        self._now += timedelta(minutes=1)
        return self._now


@dataclass(frozen=True)
class Told:
    """A case with the reports that were made of it."""

    folder: Path
    reports: dict[str, str]


def told_of_a_loop(case, root):
    tracker = Tracker(root, clock=SteadyClock(), environment={})
    tracker.pre_loop(case["baseline"])
    for step in case.get("iterations", ()):
        if "accept" in step:
            tracker.accept(step["accept"], step["reason"])
        else:
            whole = step if "metrics" in step else {"metrics": step}
            tracker.post_iteration(whole["metrics"], usage=whole.get("usage"), blocked=whole.get("blocked"))
    tracker.select_output(**{"apply": "output", **case.get("select", {})})
    reports = root / ".aiwg" / "ralph" / "ralph-001" / "reports"
    return {path.name: path.read_text(encoding="utf-8") for path in reports.iterdir()}


@pytest.fixture(scope="module", params=CASES, ids=lambda folder: folder.name)
def told(request, tmp_path_factory):
    """Return a case with its reports."""
    folder = request.param
    if (folder / "loop.yaml").exists():
        case = yaml.safe_load((folder / "loop.yaml").read_text(encoding="utf-8"))
        return Told(folder, told_of_a_loop(case, tmp_path_factory.mktemp("loop")))
    document = yaml.safe_load((folder / "record.yaml").read_text(encoding="utf-8"))
    return Told(folder, {"iteration-003-report.md": iteration_report(document)})


def pattern_of(template):
    """Return the expression that a report in this template matches below its sentence.

    Two spaces at the end of a line keep the next one apart where it is shown.
    """
    pattern, rest = "", template
    while rest:
        found = [(match.start(), shape, match) for wanted, shape in SHAPES if (match := re.search(wanted, rest))]
        if not found:
            return re.compile(pattern + re.escape(rest))
        start, shape, match = min(found, key=lambda each: each[0])
        shape = shape or f"(?:{match.group(1)}|baseline)"
        pattern += re.escape(rest[:start]) + shape
        rest = rest[match.end() :]
    return re.compile(pattern)


def iteration_reports(told):
    return {name: text for name, text in told.reports.items() if name.startswith("iteration-")}


def template_part(report):
    """Return a report without the sentence above the template and without spaces at the end of a line."""
    return re.sub(" +$", "", report.partition("\n\n")[2], flags=re.MULTILINE)


def test_the_lines_of_the_header_are_shown_as_lines(told):
    for text in iteration_reports(told).values():
        shown = MarkdownIt("commonmark").render(text)
        assert "<br />\n<strong>Classification</strong>" in shown
        assert "<br />\n<strong>Quality Score</strong>" in shown
        assert "<br />\n<strong>Reason</strong>" in shown


def rows_of(markdown, heading):
    """Return the cells of the table under a heading, without its first two lines."""
    lines = markdown.partition(f"### {heading}\n")[2].partition("\n###")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")][2:]


def test_the_reports_are_as_they_were(told, bless):
    if bless:
        for old in told.folder.glob("*.md"):
            old.unlink()
        for name, text in told.reports.items():
            (told.folder / name).write_text(text, encoding="utf-8")
    assert told.reports == {path.name: path.read_text(encoding="utf-8") for path in told.folder.glob("*.md")}


@pytest.mark.skipif(not SHARED, reason="RALPH_TRACKER_SHARED names no folder of shared golden data")
def test_the_template_is_the_seeds():
    seed = (Path(SHARED) / "seeds" / "progress-tracker-examples.md").read_text(encoding="utf-8")
    assert TEMPLATE in seed


def test_every_iteration_report_begins_with_the_seeds_template(told):
    for name, text in iteration_reports(told).items():
        assert pattern_of(TEMPLATE).match(template_part(text)), name


def test_what_is_ours_stands_below_the_template(told):
    for text in iteration_reports(told).values():
        below = template_part(text)
        ours = below[pattern_of(TEMPLATE).match(below).end() :]
        headings = re.findall(r"^#+ .*", ours, re.MULTILINE)
        assert headings in (
            ["### Adjusted Score and Verdict"],
            ["### Adjusted Score and Verdict", "### All Metrics"],
        )


def test_the_weights_that_are_printed_sum_to_one_and_what_they_weigh_to_the_total(told):
    for text in iteration_reports(told).values():
        *dimensions, total = rows_of(text, "Quality Score Breakdown")
        assert total[2] == "1.00"
        if all(row[1] == "n/a" for row in dimensions):
            assert all(row[1:] == ["n/a", "0.00", "0.00"] for row in dimensions)
            continue
        assert sum(round(float(row[2]) * 100) for row in dimensions) == 100
        assert all(row[2:] == ["0.00", "0.00"] for row in dimensions if row[1] == "n/a")
        assert total[1] == total[3]
        shown = float(total[1].strip("*"))
        assert sum(float(row[3]) for row in dimensions) == pytest.approx(shown, abs=0.00026)


def test_every_table_is_whole_and_nothing_is_html(told):
    parser = MarkdownIt("commonmark").enable("table")
    for name, text in told.reports.items():
        tokens = parser.parse(text)
        assert {token.type for token in tokens}.isdisjoint({"html_block"})
        headers = [line.count("|") for line in text.splitlines() if set(line) <= set("|- ") and "|" in line]
        assert sum(token.type == "table_open" for token in tokens) == len(headers), name
        cells = sum(token.type in {"th_open", "td_open"} for token in tokens)
        rows = [line for line in text.splitlines() if line.startswith("|") and not set(line) <= set("|- ")]
        assert cells == sum(re.sub(r"\\\|", "", row).count("|") - 1 for row in rows), name


def report_in(case, name):
    return (FIXTURES / case / name).read_text(encoding="utf-8")


def test_a_given_score_says_so_and_has_no_dimensions():
    text = report_in("seed-example-3", "iteration-003-report.md")
    assert "| **Total** | **0.88 (given)** | 1.00 | **0.88 (given)** |\n" in text
    assert text.count("| n/a | 0.00 | 0.00 |\n") == 5


def test_what_was_not_measured_is_na_and_never_0():
    text = report_in("gone-missing", "iteration-001-report.md")
    assert "| Coverage | n/a | n/a | n/a | n/a | n/a |\n" in text
    assert "- **HIGH** metric_missing: Coverage could not be measured: no coverage_percentage in the metrics" in text
    assert "- **Evidence**: 86% of the score's components were measured\n" in text


def test_a_dropped_dimension_is_na_and_weighs_nothing():
    rows = rows_of(report_in("tests-alone", "iteration-001-report.md"), "Quality Score Breakdown")
    assert [row[1:] for row in rows if row[0] in {"Readability", "Efficiency"}] == [["n/a", "0.00", "0.00"]] * 2
    assert [row[2] for row in rows[:3]] == ["0.38", "0.31", "0.31"]


def test_the_difference_between_the_two_scores_is_explained_where_another_iteration_is_named():
    for name in ("loop-report.md", "output-selection.md"):
        assert "By quality_score alone it would be iteration 0; " in report_in("equal-ground", name)
        assert "The formula alone names" not in report_in("seed-example-2", name)
