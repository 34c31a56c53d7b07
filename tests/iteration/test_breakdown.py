"""A score down to its components: the shares are the weights, what they bring is the score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.core.metrics import Metrics
from ralph_tracker.core.score import COMPONENTS, basis_of, quality_score
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.iteration.diff import component_shares


def test_a_dimension_shares_its_weight_among_its_components():
    shares = component_shares(
        {"validation": 0.6, "correctness": 0.4},
        {"all_tests_pass": 100.0, "build_success": None, "no_lint_errors": 50.0, "pass_rate": 80.0},
    )
    assert [(share.name, share.dimension, share.value, share.weight, share.contribution) for share in shares] == [
        ("all_tests_pass", "validation", 100.0, 0.2, 0.2),
        ("build_success", "validation", None, 0.2, 0.0),
        ("no_lint_errors", "validation", 50.0, 0.2, 0.1),
        ("pass_rate", "correctness", 80.0, 0.4, 0.32),
    ]


def test_a_component_that_is_not_ours_or_has_no_weight_is_left_out():
    assert component_shares({"validation": 1.0}, {"beauty": 100.0, "pass_rate": 100.0}) == ()


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "lint_errors": st.integers(0, 30),
            "lint_warnings": st.integers(0, 40),
            "type_errors": st.integers(0, 60),
            "coverage_percentage": st.integers(0, 1000).map(lambda tenth: tenth / 10),
            "loc_total": st.integers(1, 1000),
            "complexity_score": st.integers(0, 2000).map(lambda hundredth: hundredth / 100),
        },
    )
)
def test_what_the_components_bring_sums_to_the_quality_score(values):
    metrics = Metrics(test_count=4, tests_passed=3, tests_failed=1, pass_rate=75.0, **values)
    basis = basis_of(metrics, Thresholds(), given_score=False)
    score = quality_score(basis, metrics)
    shares = component_shares(basis.weights, score.components)
    assert len(shares) == len(basis.components)
    assert sum(share.weight for share in shares) == pytest.approx(1, abs=0.0001 * len(COMPONENTS))
    assert sum(share.contribution for share in shares) == pytest.approx(score.value, abs=0.0001 * len(COMPONENTS))
