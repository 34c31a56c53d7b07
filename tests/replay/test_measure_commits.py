"""What is kept of a commit comes back whole, whatever the tools had to say."""

from ralph_tracker.core.metrics import Group, Metrics, TestResults
from ralph_tracker.formats.parsed_report import CoverageReport, Diagnostic
from ralph_tracker.measure.process import FinishedCommand
from ralph_tracker.measure.report_totals import CheckTotals, MetricSource
from ralph_tracker.measure.run_checks import Check
from ralph_tracker.replay.measure_commits import ResultsCache, result_of, write_results

CHECK = Check("tests", "true")
FULL = CheckTotals(
    metrics=Metrics(test_count=3, coverage_percentage=50.0, build_status="failure"),
    tests=TestResults({"a": "failed"}, {"a": 0.5}, frozenset({"b"}), {"a": "no"}, {"c.py": "SyntaxError"}),
    missing={Group.TYPES: "why"},
    notes=("a note",),
    measures=(MetricSource("tests", Group.TESTS, "gone"),),
    not_loaded={"c.py": "SyntaxError"},
    coverage=CoverageReport(1, 2, 50.0, {"a.py": {1: True, 2: False}}),
    diagnostics=((Group.LINT, Diagnostic("a.py", 3, "E1", "bad")),),
)


def test_every_field_comes_back(tmp_path):
    assert all(value != default for value, default in zip(FULL[2:], CheckTotals(Metrics(), None)[2:], strict=True))
    for number, totals in enumerate((FULL, CheckTotals(Metrics(), None))):
        cache = ResultsCache(tmp_path)
        staged = cache.new_folder()
        (staged / "output").mkdir()
        ran = (result_of(CHECK, FinishedCommand(exit_code=1), staged),)
        kept = cache.keep(str(number), write_results(staged, totals, ran))
        found = cache.find(str(number), (CHECK,))
        assert (found.totals, found.folder) == (totals, kept.folder)
        assert [each.finished for each in found.ran] == [FinishedCommand(exit_code=1)]
        assert cache.find(str(number), (CHECK, Check("lint", "true"))) is None
    assert cache.find("none", (CHECK,)) is None
