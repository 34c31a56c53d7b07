"""The eleven components of the quality score, each 0 to 100 (semantics § 2)."""

import pytest

from ralph_tracker.core.metrics import Metrics
from ralph_tracker.core.score import COMPONENT_BY_NAME, COMPONENTS, none_ran
from tests.tables import table

NOTHING = Metrics()


def counts(count, passed, failed, **more):
    return Metrics(test_count=count, tests_passed=passed, tests_failed=failed, **more)


def test_each_dimension_has_the_components_of_the_specification():
    found = {}
    for component in COMPONENTS:
        found.setdefault(component.dimension, []).append(component.name)
    assert found == {
        "validation": ["all_tests_pass", "build_success", "no_lint_errors"],
        "completeness": ["coverage_percentage", "test_count_vs_baseline"],
        "correctness": ["pass_rate", "error_count_inverted"],
        "readability": ["lint_warnings_inverted", "complexity_reasonable"],
        "efficiency": ["loc_appropriate", "no_code_bloat"],
    }


@table(
    ("name", "now", "expected"),
    [
        pytest.param("all_tests_pass", counts(10, 10, 0), 100.0, id="all pass"),
        pytest.param("all_tests_pass", counts(10, 1, 0), 100.0, id="none failed, one passed, the rest skipped"),
        pytest.param("all_tests_pass", counts(8, 5, 3), 62.5, id="passed by test_count"),
        pytest.param("all_tests_pass", counts(10, 5, 3), 50.0, id="skipped ones count where one failed"),
        pytest.param("all_tests_pass", counts(4, 0, 0), 0.0, id="all skipped"),
        pytest.param("all_tests_pass", counts(0, 0, 0), 0.0, id="no tests"),
        pytest.param("all_tests_pass", counts(None, 5, 3), None, id="test_count missing"),
        pytest.param("all_tests_pass", counts(8, None, 3), None, id="tests_passed missing"),
        pytest.param("all_tests_pass", counts(8, 5, None), None, id="tests_failed missing"),
        pytest.param("build_success", Metrics(build_status="success"), 100.0, id="build succeeds"),
        pytest.param("build_success", Metrics(build_status="failure"), 0.0, id="build fails"),
        pytest.param("build_success", NOTHING, None, id="nothing is built"),
        pytest.param("no_lint_errors", Metrics(lint_errors=0), 100.0, id="no lint error"),
        pytest.param("no_lint_errors", Metrics(lint_errors=8), 60.0, id="5 points a lint error"),
        pytest.param("no_lint_errors", Metrics(lint_errors=20), 0.0, id="20 lint errors"),
        pytest.param("no_lint_errors", Metrics(lint_errors=21), 0.0, id="not below 0"),
        pytest.param("no_lint_errors", NOTHING, None, id="lint missing"),
        pytest.param("coverage_percentage", Metrics(coverage_percentage=65.5), 65.5, id="coverage as it is"),
        pytest.param("coverage_percentage", Metrics(coverage_percentage=0.0), 0.0, id="coverage of nothing"),
        pytest.param("coverage_percentage", NOTHING, None, id="coverage missing"),
        pytest.param("pass_rate", Metrics(pass_rate=77.8), 77.8, id="pass rate as it is"),
        pytest.param("pass_rate", counts(0, 0, 0), 0.0, id="pass rate with no tests"),
        pytest.param("pass_rate", counts(4, 0, 0), 0.0, id="pass rate with all skipped"),
        pytest.param("pass_rate", counts(8, 5, None), None, id="pass rate missing where tests may have run"),
        pytest.param("pass_rate", NOTHING, None, id="pass rate missing"),
        pytest.param("error_count_inverted", Metrics(error_count=12), 76.0, id="2 points an error"),
        pytest.param("error_count_inverted", Metrics(error_count=51), 0.0, id="errors not below 0"),
        pytest.param("error_count_inverted", NOTHING, None, id="errors missing"),
        pytest.param("lint_warnings_inverted", Metrics(lint_warnings=4), 88.0, id="3 points a warning"),
        pytest.param("lint_warnings_inverted", Metrics(lint_warnings=34), 0.0, id="warnings not below 0"),
        pytest.param("lint_warnings_inverted", NOTHING, None, id="warnings missing"),
        pytest.param("complexity_reasonable", Metrics(complexity_score=12.5), 37.5, id="5 points of complexity"),
        pytest.param("complexity_reasonable", Metrics(complexity_score=20.01), 0.0, id="complexity not below 0"),
        pytest.param("complexity_reasonable", NOTHING, None, id="complexity missing"),
    ],
)
def test_a_component_that_needs_no_baseline(name, now, expected):
    assert COMPONENT_BY_NAME[name].value(now, NOTHING) == expected


@table(
    ("now", "baseline", "expected"),
    [
        pytest.param(8, 8, 100.0, id="as many"),
        pytest.param(6, 8, 75.0, id="fewer"),
        pytest.param(9, 8, 100.0, id="more is capped"),
        pytest.param(1, 0, 100.0, id="from none to one"),
        pytest.param(0, 0, 0.0, id="none still"),
        pytest.param(1, None, 100.0, id="unknown at the baseline counts as none"),
        pytest.param(None, 8, None, id="missing"),
    ],
)
def test_test_count_against_the_baseline(now, baseline, expected):
    value = COMPONENT_BY_NAME["test_count_vs_baseline"].value
    assert value(Metrics(test_count=now), Metrics(test_count=baseline)) == expected


@table(
    ("now", "baseline", "appropriate", "bloat"),
    [
        pytest.param(100, 100, 100.0, 100.0, id="unchanged"),
        pytest.param(120, 100, 100.0, 100.0, id="exactly +20 %"),
        pytest.param(121, 100, 99.0, 100.0, id="one point a percent beyond"),
        pytest.param(80, 100, 100.0, 100.0, id="exactly -20 %"),
        pytest.param(75, 100, 95.0, 100.0, id="shrinking costs too"),
        pytest.param(150, 100, 70.0, 100.0, id="exactly +50 % is no bloat"),
        pytest.param(151, 100, 69.0, 50.0, id="more than +50 % is bloat"),
        pytest.param(220, 100, 0.0, 50.0, id="+120 % is worth nothing"),
        pytest.param(500, 100, 0.0, 50.0, id="not below 0"),
        pytest.param(0, 100, 20.0, 100.0, id="all code gone"),
        pytest.param(100, 0, None, None, id="left out at a baseline of 0 LOC"),
        pytest.param(100, None, None, None, id="left out where the baseline has no size"),
        pytest.param(None, 100, None, None, id="missing"),
    ],
)
def test_size_against_the_baseline(now, baseline, appropriate, bloat):
    values = [
        COMPONENT_BY_NAME[name].value(Metrics(loc_total=now), Metrics(loc_total=baseline))
        for name in ("loc_appropriate", "no_code_bloat")
    ]
    assert values == [appropriate, bloat]


@table(
    ("now", "expected"),
    [
        pytest.param(counts(0, 0, 0), True, id="zero tests"),
        pytest.param(counts(3, 0, 0), True, id="all skipped"),
        pytest.param(counts(3, 0, 1), False, id="one failed"),
        pytest.param(counts(3, 1, 0), False, id="one passed"),
        pytest.param(counts(None, 0, 0), False, id="no report"),
        pytest.param(counts(3, None, None), False, id="outcomes unknown"),
    ],
)
def test_none_ran(now, expected):
    assert none_ran(now) is expected
