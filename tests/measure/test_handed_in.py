"""Metrics and usage that a runner measured itself: taken as they are, or refused with one line."""

import json
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.core.metrics import LARGEST_VALUE, LONGEST_TEST_ID, METRICS, SECTIONS, Metrics, Usage
from ralph_tracker.errors import InputError
from ralph_tracker.measure.handed_in import (
    PASS_RATE_TOLERANCE,
    Cases,
    HandedInMetrics,
    NotPlainError,
    plain_metrics,
    plain_usage,
    read_metrics,
    read_usage,
    validated_metrics,
)
from ralph_tracker.measure.handed_in_models import (
    GIVEN_SECTIONS,
    GivenMetrics,
    GivenUsage,
    validate_input,
)
from tests.tables import table

SEED = {
    "testing": {"test_count": 8, "tests_passed": 5, "tests_failed": 3, "tests_skipped": 0, "pass_rate": 62.5},
    "quality": {"lint_errors": 8, "build_status": "success", "error_count": 12},
    "codebase": {"file_count": 3, "loc_total": 450, "complexity_score": 12.5},
}


def test_a_mapping_is_taken_as_it_is_and_what_is_absent_stays_absent():
    given = read_metrics(SEED)
    assert given.metrics.known_values() == {name: value for section in SEED.values() for name, value in section.items()}
    assert (given.quality_score, given.tests) == (None, None)
    assert given.metrics.coverage_percentage is None


@pytest.mark.parametrize("source", [MappingProxyType(SEED), {}], ids=["read-only", "empty"])
def test_any_mapping_will_do(source):
    assert read_metrics(source)[0].known_values() == read_metrics(dict(source))[0].known_values()


# id: name of the file, how it is written
WAYS = {
    "JSON": ("m.json", json.dumps),
    "JSON by another name": ("m.txt", json.dumps),
    "YAML": ("m.yaml", yaml.safe_dump),
    "YAML without a name": ("m", yaml.safe_dump),
    "YAML in braces": ("m.yml", lambda document: yaml.safe_dump(document, default_flow_style=True)),
    "YAML in braces without a name": ("m", lambda document: yaml.safe_dump(document, default_flow_style=True)),
    "byte order mark": ("m.json", lambda document: "\ufeff" + json.dumps(document)),
    "space before": ("m.json", lambda document: "\n \t" + json.dumps(document)),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_file_is_taken_however_it_is_written(tmp_path, name):
    file, write = WAYS[name]
    path = tmp_path / file
    path.write_text(write(SEED), encoding="utf-8")
    assert read_metrics(path) == read_metrics(str(path)) == read_metrics(SEED)


@table("score", [0, 0.0, 0.5, 1, 1.0])
def test_a_judges_score_is_from_0_to_1(score):
    assert read_metrics({"quality_score": score})[1] == score


def test_outcomes_by_name_are_passed_failed_or_skipped():
    outcomes = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
    metrics, _, tests, *_ = read_metrics({"tests": [{"id": outcome, "outcome": outcome} for outcome in outcomes]})
    assert tests.outcomes == {
        "passed": "passed",
        "failed": "failed",
        "error": "failed",
        "skipped": "skipped",
        "xfailed": "skipped",
        "xpassed": "passed",
    }
    counts = (metrics.test_count, metrics.tests_passed, metrics.tests_failed, metrics.tests_skipped)
    assert counts == (6, 2, 2, 2)


def test_a_test_that_stands_twice_counts_once_with_its_worst_outcome_and_a_note_where_they_differ():
    runs = [("a", "failed", 1.0), ("b", "passed", None), ("a", "passed", 2.0), ("b", "passed", 0.5)]
    listed = [{"id": name, "outcome": outcome, "duration": duration} for name, outcome, duration in runs]
    given = read_metrics({"tests": listed})
    assert given.tests.outcomes == {"a": "failed", "b": "passed"}
    assert given.tests.durations == {"a": 2.0, "b": 0.5}
    assert given.tests.flaky == frozenset()
    assert (given.metrics.test_count, given.metrics.tests_passed) == (2, 1)
    assert given.note == "listed with different outcomes, of which the worst counts: a"


@table(
    ("outcomes", "worst"),
    [
        (["failed", "passed"], "failed"),
        (["passed", "failed"], "failed"),
        (["failed", "failed", "passed"], "failed"),
        (["error", "skipped"], "failed"),
        (["skipped", "passed"], "skipped"),
    ],
)
def test_the_order_of_outcomes_means_nothing(outcomes, worst):
    given = read_metrics({"tests": [{"id": "a", "outcome": outcome} for outcome in outcomes]})
    assert given.tests.outcomes == {"a": worst}


def test_a_note_on_outcomes_stands_beside_that_on_names():
    listed = [{"id": "a", "outcome": "failed"}, {"id": "a", "outcome": "passed"}]
    given = read_metrics({"testing": {"test_count": 9, "tests_failed": 2}, "tests": listed})
    assert given.note.endswith("failing: a; listed with different outcomes, of which the worst counts: a")


def test_no_test_at_all_is_a_measurement():
    metrics, _, tests, *_ = read_metrics({"tests": []})
    assert (metrics.test_count, metrics.tests_passed, tests.outcomes) == (0, 0, {})


LOGIN = {"id": "login", "outcome": "passed"}
LOGOUT = {"id": "logout", "outcome": "failed"}
RETRIED = {"id": "login", "outcome": "failed"}


@table(
    ("testing", "names", "counts", "named"),
    [
        ({}, [LOGIN, LOGOUT], (2, 1, 1, 0), True),
        ({"test_count": 2, "tests_passed": 1, "tests_failed": 1}, [LOGIN, LOGOUT], (2, 1, 1, 0), True),
        ({"test_count": 2, "tests_failed": 1}, [RETRIED, LOGIN], (2, 1, 1, 0), True),
        ({"test_count": 10, "tests_passed": 8, "tests_failed": 2}, [LOGIN], (10, 8, 2, 0), False),
        ({"tests_passed": 8}, [LOGIN], (None, 8, None, None), False),
        ({"test_count": 3, "tests_skipped": 2}, [LOGIN], (3, 1, 0, 2), False),
    ],
    ids=["names alone", "the same counts", "run twice", "one of ten", "one of eight passed", "all but the skipped"],
)
def test_a_list_of_some_tests_leaves_the_counts_as_they_are(testing, names, counts, named):
    given = read_metrics({"testing": testing, "tests": names})
    measured = given.metrics
    assert (measured.test_count, measured.tests_passed, measured.tests_failed, measured.tests_skipped) == counts
    assert (given.tests is not None, "named" not in given.note) == (named, named)


def test_the_failing_ones_of_some_names_are_kept():
    given = read_metrics({"testing": {"test_count": 9, "tests_failed": 2}, "tests": [LOGIN, LOGOUT]})
    assert given.failing == ("logout",)
    assert given.note == "tests: 2 of 9 named, so the counts are compared, not the tests; failing: logout"


def test_a_lone_surrogate_in_a_name_is_written_by_its_number(tmp_path):
    path = tmp_path / "m.json"
    path.write_text(r'{"tests": [{"id": "a\ud800", "outcome": "passed"}, {"id": "\ud83d\ude00", "outcome": "passed"}]}')
    assert list(read_metrics(path)[2].outcomes) == [r"a\ud800", "😀"]


def said_of(testing, **rest):
    with pytest.raises(InputError) as caught:
        read_metrics({"testing": testing, **rest})
    return str(caught.value)


counts = st.integers(0, 30)


@given(st.none() | counts, st.none() | counts, st.none() | counts, st.none() | counts)
def test_counts_are_refused_only_where_no_absent_one_could_make_them_add_up(count, passed, failed, skipped):
    parts = (passed, failed, skipped)
    known = sum(part or 0 for part in parts)
    add_up = count is None or (known == count if None not in parts else known <= count)
    testing = {"test_count": count, "tests_passed": passed, "tests_failed": failed, "tests_skipped": skipped}
    if add_up:
        assert read_metrics({"testing": testing})[0] == Metrics(**testing)
    else:
        assert said_of(testing) == f"metrics: testing: passed + failed + skipped is {known}, but test_count is {count}"


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 1000))
def test_a_pass_rate_is_refused_where_it_is_more_than_a_tenth_from_the_derived_one(passed, failed, tenths):
    testing = {"tests_passed": passed, "tests_failed": failed, "pass_rate": tenths / 10}
    ran = passed + failed
    if ran == 0 or abs(tenths / 10 - passed / ran * 100) <= PASS_RATE_TOLERANCE + 1e-9:
        assert read_metrics({"testing": testing})[0].pass_rate == tenths / 10
    else:
        assert said_of(testing).startswith(f"metrics: testing: pass_rate is {tenths / 10:g}, but {passed} of {ran} is ")


@table(
    "document",
    [
        {"testing": {"coverage_percentage": 10.0, "coverage_lines_covered": 9, "coverage_lines_total": 10}},
        {"quality": {"lint_errors": 8, "type_errors": 3, "error_count": 1}},
        {"testing": {"coverage_lines_covered": 9}},
        {"testing": {"pass_rate": 100.0}},
    ],
    ids=["coverage", "errors", "half of the lines", "rate alone"],
)
def test_a_given_whole_is_never_contradicted_by_its_parts(document):
    assert read_metrics(document)[0].known_values() == {
        key: value for group in document.values() for key, value in group.items()
    }


def test_counts_of_names_can_contradict_given_ones():
    names = [{"id": "a", "outcome": "passed"}]
    assert said_of({"test_count": 0}, tests=names) == "metrics: testing: test_count is 0, but `tests` lists 1"
    said = "metrics: testing: tests_passed is 0, but `tests` lists 1 passed"
    assert said_of({"test_count": 4, "tests_passed": 0}, tests=names) == said
    assert said_of({"pass_rate": 50.0}, tests=names).startswith("metrics: testing: pass_rate is 50, but 1 of 1")


@pytest.mark.parametrize("most", [LARGEST_VALUE, float(LARGEST_VALUE)], ids=["whole", "fraction"])
def test_the_largest_amounts_are_taken(most):
    assert read_usage({"cost_usd": most}).cost_usd == most
    with pytest.raises(InputError, match="should be less than or equal to"):
        read_usage({"cost_usd": most * 1.01})


def test_usage_is_what_is_known_of_it():
    usage = {"cost_usd": 0.5, "input_tokens": 10, "output_tokens": 20, "turns": 3, "duration_s": 1.5}
    assert read_usage(usage)._asdict() == usage
    assert read_usage({}) == Usage()
    assert read_usage({"turns": None}) == Usage()


@table("source", ["", "no/such/file", Path("no/such/file")], ids=["nothing", "text", "path"])
def test_a_file_that_cannot_be_read_is_named_with_what_is_wanted(source):
    with pytest.raises(InputError, match=r"cannot be read .*; name a YAML or JSON file of usage$"):
        read_usage(source)


def test_a_mapping_is_called_what_it_is():
    with pytest.raises(InputError, match=r"^metrics: zzz: unknown key"):
        read_metrics({"zzz": 1})
    with pytest.raises(InputError, match=r"^usage: zzz: unknown key"):
        read_usage({"zzz": 1})


# A count, a percentage, an amount, a share, a status, and what is none of them.
VALUES = st.sampled_from(
    (
        *(
            0,
            1,
            7,
            100,
            101,
            -1,
            LARGEST_VALUE,
            LARGEST_VALUE + 1,
            0.0,
            -0.0,
            0.5,
            1.0,
            33.3,
            100.5,
            -0.5,
            float("nan"),
            float("inf"),
        ),
        *(True, False, None, "1", "success", "failure", "", [], {}, 1 + 0j),
    )
)
USUAL = st.sampled_from([0, 1, 7, None])
TEST = {
    "id": st.sampled_from(["a", "b", "ä", "😀"]),
    "outcome": st.sampled_from(["passed", "failed", "error", "skipped", "xfailed", "xpassed"]),
}
ODD_TEST = {
    "id": st.sampled_from(["a", "", "a\ud800", "x" * LONGEST_TEST_ID, "x" * (LONGEST_TEST_ID + 1), 1, None, b"a"]),
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
    assert taken is None or taken == repr(validate_input(raw, "usage", GivenUsage).model_dump())


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
    assert isinstance(taken, HandedInMetrics)


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
