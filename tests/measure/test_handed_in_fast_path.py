"""What is taken without the validator is what the validator takes, and as it does."""

import subprocess
import sys
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.core.metrics import METRICS, SECTIONS
from ralph_tracker.measure.handed_in_fast_path import (
    LONGEST_ID,
    MOST,
    Cases,
    Given,
    NotPlainError,
    plain_metrics,
    plain_usage,
)
from ralph_tracker.measure.handed_in_models import (
    GIVEN_SECTIONS,
    GivenMetrics,
    GivenUsage,
    validated_metrics,
    validated_usage,
)
from tests.tables import table

# A count, a percentage, an amount, a share, a status, and what is none of them.
VALUES = st.sampled_from(
    (
        *(0, 1, 7, 100, 101, -1, MOST, MOST + 1, 0.0, -0.0, 0.5, 1.0, 33.3, 100.5, -0.5, float("nan"), float("inf")),
        *(True, False, None, "1", "success", "failure", "", [], {}, 1 + 0j),
    )
)
USUAL = st.sampled_from([0, 1, 7, None])
TEST = {
    "id": st.sampled_from(["a", "b", "ä", "😀"]),
    "outcome": st.sampled_from(["passed", "failed", "error", "skipped", "xfailed", "xpassed"]),
}
ODD_TEST = {
    "id": st.sampled_from(["a", "", "a\ud800", "x" * LONGEST_ID, "x" * (LONGEST_ID + 1), 1, None, b"a"]),
    "outcome": st.sampled_from(["passed", "PASSED", "", None, 1, ["passed"]]),
}
DURATIONS = {"duration": VALUES}
TESTS = st.lists(st.fixed_dictionaries(TEST, optional={"duration": USUAL}), max_size=3)
ODD_TESTS = st.lists(
    st.fixed_dictionaries(ODD_TEST, optional=DURATIONS)
    | st.fixed_dictionaries(TEST, optional=DURATIONS)
    | st.fixed_dictionaries(TEST, optional={"took": VALUES, "duration": VALUES})
    | st.fixed_dictionaries({}, optional=ODD_TEST)
    | VALUES,
    max_size=3,
)


def sections(values, odd):
    names = {section: [spec.name for spec in METRICS if spec.section == section] for section in SECTIONS}
    return {
        section: odd | st.fixed_dictionaries({}, optional=dict.fromkeys([*members, "zzz"], values))
        for section, members in names.items()
    }


METRIC_DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={**sections(VALUES, VALUES), "quality_score": VALUES, "tests": ODD_TESTS | VALUES | TESTS, "zzz": VALUES},
) | st.fixed_dictionaries({}, optional={"quality_score": USUAL, "tests": TESTS})
USAGE_DOCUMENTS = st.fixed_dictionaries({}, optional=dict.fromkeys([*GivenUsage.model_fields, "zzz"], VALUES))


def outcome_of(read, raw):
    """Return what a reader makes of it; `repr` tells 1 from 1.0, and 0.0 from -0.0."""
    try:
        return repr(read(raw))
    except NotPlainError:
        return None


@given(METRIC_DOCUMENTS)
def test_metrics_are_taken_as_the_validator_takes_them(raw):
    taken = outcome_of(plain_metrics, raw)
    assert taken is None or taken == repr(validated_metrics(raw, "metrics"))


@given(USAGE_DOCUMENTS)
def test_usage_is_taken_as_the_validator_takes_it(raw):
    taken = outcome_of(plain_usage, raw)
    assert taken is None or taken == repr(validated_usage(raw, "usage"))


@given(st.fixed_dictionaries({}, optional={"quality_score": st.sampled_from([0, 0.5, 1, None]), "tests": TESTS}))
def test_tests_and_a_score_without_a_fault_need_no_validator(raw):
    assert outcome_of(plain_metrics, raw) is not None


def test_every_metric_and_every_part_of_usage_is_known():
    document = {section: dict.fromkeys(model.model_fields) for section, model in GIVEN_SECTIONS.items()}
    assert plain_metrics(document) == validated_metrics(document, "metrics")
    usage = dict.fromkeys(GivenUsage.model_fields)
    assert plain_usage(usage) == usage
    assert set(GivenMetrics.model_fields) == {*SECTIONS, "quality_score", "tests"}


def test_tests_are_taken_by_columns():
    listed = [{"id": "a", "outcome": "error", "duration": 2}, {"outcome": "passed", "id": "b", "duration": None}]
    assert plain_metrics({"tests": listed}).cases == Cases(["a", "b"], ["error", "passed"], {"a": 2.0})


def test_numbers_are_taken_in_their_unit():
    taken = plain_metrics({"testing": {"pass_rate": 100, "test_count": 3}, "quality_score": 1})
    values = {name: value for name, value in taken.values.items() if value is not None}
    assert repr((values, taken.quality_score)) == "({'test_count': 3, 'pass_rate': 100.0}, 1.0)"
    assert isinstance(taken, Given)


@table(
    "raw",
    [
        {"tests": ({"id": "a", "outcome": "passed"},)},
        {"tests": [MappingProxyType({"id": "a", "outcome": "passed"})]},
        {"testing": MappingProxyType({"test_count": 1})},
        {"tests": [{"id": "a\ud800", "outcome": "passed"}]},
    ],
    ids=["tuple", "read-only test", "read-only section", "lone surrogate"],
)
def test_what_is_unusual_is_left_to_the_validator(raw):
    with pytest.raises(NotPlainError):
        plain_metrics(raw)


@pytest.mark.parametrize(
    ("document", "imported"),
    [({"tests": [{"id": "a", "outcome": "passed"}]}, False), ({"zzz": 1}, True)],
    ids=["no fault", "a fault"],
)
def test_the_validator_is_imported_for_faults_only(document, imported):
    probe = (
        "import sys\nfrom ralph_tracker.measure.handed_in import InputError, read_metrics\n"
        f"try: read_metrics({document!r})\nexcept InputError: pass\nprint('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == str(imported)
