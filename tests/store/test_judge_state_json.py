"""Whatever the judge carries comes back from JSON as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.codec import decode, encode
from ralph_tracker.core.alert_types import TYPES, Alert
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.integrity_result import EarlierTests, Finding, Integrity, Rerun, Severity
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import KnownTests
from ralph_tracker.core.lineage import Lineage, PastIteration
from ralph_tracker.core.metrics import (
    METRICS,
    FurtherMetric,
    Group,
    MeasuredValue,
    Measurement,
    Metrics,
    TestResults,
    Usage,
)
from ralph_tracker.core.objective import Level, Noise, Progress
from ralph_tracker.core.score import Basis, basis_of
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.core.walk import Kept, Refusal, WalkedIteration
from ralph_tracker.store import judge_state_json
from ralph_tracker.store.json_documents import to_json
from tests.tables import table

# A test's name is whatever a report says: also a lone surrogate, which is no text.
NAMES = st.text(st.characters(codec=None, exclude_categories=()), min_size=1, max_size=6) | st.just("\ud800::test")
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)
SAMPLES = st.lists(NUMBERS, max_size=3).map(tuple)
COUNTS = st.integers(0, 10**6)
MAYBE = st.none() | COUNTS
OUTCOMES = st.sampled_from(["passed", "failed", "skipped"])
NAMED = st.dictionaries(NAMES, OUTCOMES, max_size=4)
METRIC_NAMES = st.sampled_from([spec.name for spec in METRICS])
FINDINGS = st.builds(
    Finding,
    rule=st.sampled_from(["demand_changed", "R5"]),
    severity=st.sampled_from(Severity),
    message=st.text(max_size=5),
    file=NAMES,
    line=MAYBE,
    test=st.none() | NAMES,
    tests=st.lists(NAMES, max_size=2).map(tuple),
    old=st.none() | NAMES,
    new=st.none() | NAMES,
    against=MAYBE,
    about=NAMES,
    failure=st.none() | NAMES,
    command=st.none() | NAMES,
)
SUPPRESSIONS = st.dictionaries(st.sampled_from(["lint", "types", "coverage"]), st.integers(-9, 9))
SETS = st.frozensets(NAMES, max_size=2)
EARLIER = st.builds(EarlierTests, against=COUNTS, held=SETS, retired=SETS, fixed=SETS, met=SETS, no_gain=SETS)
REFERENCES = st.dictionaries(NAMES, COUNTS, max_size=2)
RERUNS = st.builds(
    Rerun,
    references=REFERENCES,
    files=st.lists(NAMES, max_size=2).map(tuple),
    whole=st.booleans(),
    commands=st.lists(NAMES, max_size=2).map(tuple),
    duration_s=NUMBERS,
    tests=COUNTS,
    failed=COUNTS,
    flaky=st.lists(NAMES, max_size=2).map(tuple),
    problem=st.none() | NAMES,
)
INTEGRITY = st.builds(
    Integrity,
    findings=st.lists(FINDINGS, max_size=2).map(tuple),
    earlier=st.none() | EARLIER,
    suppressions=SUPPRESSIONS,
    unread=st.dictionaries(NAMES, st.text(max_size=5), max_size=2),
    references=REFERENCES,
    reruns=st.lists(RERUNS, max_size=2).map(tuple),
)
POINTS = st.builds(
    PastIteration,
    iteration=COUNTS,
    classification=st.sampled_from(["baseline", "forward", "plateau", "regression", "stalled"]),
    key_metrics=st.tuples(*[st.none() | NUMBERS] * 4),
    loc=MAYBE,
    tree=st.none() | st.just("a" * 40),
    score=NUMBERS,
    tasks_done=MAYBE,
    moved=st.booleans(),
)
ALERTS = st.builds(
    Alert,
    kind=st.sampled_from(TYPES),
    iteration=COUNTS,
    message=st.text(max_size=5),
    note=st.text(max_size=5),
    tests=NAMED,
    until=st.none() | st.tuples(st.just("test_count"), NUMBERS),
    group=st.none() | st.sampled_from([group.value for group in Group]),
    rollback_to=MAYBE,
    rollback_score=st.none() | NUMBERS,
    findings=st.lists(FINDINGS, max_size=2).map(tuple),
    severity_override=st.none() | st.sampled_from(Severity),
)
LINES = st.builds(
    Lineage,
    segments=st.lists(st.tuples(COUNTS, COUNTS), max_size=3).map(tuple),
    readings=st.dictionaries(METRIC_NAMES, st.builds(MeasuredValue, NUMBERS, COUNTS), max_size=3),
    points=st.lists(POINTS, max_size=2).map(tuple),
    complete=st.lists(POINTS, max_size=2).map(tuple),
    open_alerts=st.lists(ALERTS, max_size=2).map(tuple),
    suppressions=SUPPRESSIONS,
    references=REFERENCES,
    not_loaded=st.frozensets(NAMES, max_size=2),
)
RATES = dict.fromkeys(("pass_rate", "coverage_percentage", "complexity_score"), st.none() | NUMBERS)
METRIC_VALUES = st.builds(Metrics, test_count=MAYBE, build_status=st.just("failure"), **RATES)
BASES = st.builds(
    Basis,
    baseline=METRIC_VALUES,
    components=st.just(("pass_rate", "build_success")),
    error_parts=st.none() | st.just(()) | st.just(("lint_errors",)),
    given_score=st.booleans(),
    weights=st.just({}) | st.fixed_dictionaries({"validation": NUMBERS, "correctness": NUMBERS}),
)
WALKED = st.builds(
    WalkedIteration,
    iteration=COUNTS,
    quality_score=NUMBERS,
    score=NUMBERS,
    verified=st.booleans(),
    verdict=st.none() | st.sampled_from(["PASS", "SUSPECT", "UNPROVEN"]),
    kept_before=MAYBE,
    refusal=st.none() | st.builds(Refusal, st.integers(1, 4), st.text(max_size=5)),
    gained=COUNTS,
    passing=COUNTS,
    measured=st.booleans(),
)
KEPT = st.builds(
    Kept,
    iteration=COUNTS,
    outcomes=st.none() | NAMED,
    metrics=METRIC_VALUES,
    score=NUMBERS,
    top_score=NUMBERS,
    disbelieved=SETS,
    questions=SETS,
    tainted=SETS,
    tainted_count=COUNTS,
    measured=st.booleans(),
)
LEVELS = st.builds(Level, COUNTS, COUNTS, SAMPLES, st.builds(Noise, NUMBERS, COUNTS), NAMES)
STATES = st.builds(
    JudgeState,
    loop_id=NAMES,
    thresholds=st.just(Thresholds()),
    basis=st.none() | BASES,
    iteration=st.integers(-1, 9),
    lineage=LINES,
    known=st.builds(KnownTests, NAMED, NAMED),
    kept=st.none() | KEPT,
    best=st.none() | WALKED,
    flaky=SETS,
    rollbacks=COUNTS,
    cost_usd=st.none() | NUMBERS,
    met_target=st.booleans(),
    accepted=SETS,
    accepted_findings=SETS,
    progress=st.builds(Progress, *[st.dictionaries(NAMES, LEVELS, max_size=2)] * 2),
    highest=st.none() | NUMBERS,
)
RESULTS = st.builds(
    TestResults,
    outcomes=NAMED,
    durations=st.dictionaries(NAMES, NUMBERS, max_size=2),
    flaky=st.frozensets(NAMES, max_size=2),
    failed_first=st.frozensets(NAMES, max_size=2),
)
FURTHER = st.builds(
    FurtherMetric,
    name=NAMES,
    value=st.none() | NUMBERS,
    unit=st.text(max_size=5),
    direction=st.sampled_from(["up", "down", "neutral"]),
    samples=SAMPLES,
    objective=st.booleans(),
    max_loss=st.none() | NUMBERS,
)
MEASUREMENTS = st.builds(
    Measurement,
    metrics=METRIC_VALUES,
    timestamp=st.just("2026-02-02T10:00:00Z"),
    quality_score=st.none() | NUMBERS,
    tests=st.none() | RESULTS,
    missing=st.dictionaries(st.sampled_from(list(Group)), st.text(max_size=5), max_size=2),
    usage=st.none() | st.builds(Usage, cost_usd=st.none() | NUMBERS, turns=MAYBE, duration_s=st.none() | NUMBERS),
    blocked=st.none() | NAMES,
    elapsed_s=st.none() | NUMBERS,
    tree=st.none() | st.just("b" * 40),
    tree_visits=COUNTS,
    tree_last=MAYBE,
    config_changed=st.lists(st.text(max_size=5), max_size=2).map(tuple),
    notes=st.lists(st.text(max_size=5), max_size=2).map(tuple),
    integrity=st.none() | INTEGRITY,
    further=st.lists(FURTHER, max_size=2).map(tuple),
)
DECISIONS = st.builds(
    Decision,
    action=st.sampled_from(["continue", "rollback"]),
    reason=NAMES,
    confidence=NUMBERS,
    target_iteration=MAYBE,
    alternatives=st.lists(st.text(max_size=5), max_size=2).map(tuple),
    rule=st.integers(0, 11),
)


def through_json(plain):
    return json.loads(to_json(plain).decode("utf-8", "surrogatepass"))


class TestRoundTrip:
    @given(ALERTS)
    def test_of_an_alert(self, alert):
        assert decode(Alert, through_json(encode(alert))) == alert

    @given(LINES)
    def test_of_the_line(self, line):
        assert decode(Lineage, through_json(encode(line))) == line

    @given(WALKED)
    def test_of_an_iteration_as_later_choices_see_it(self, walked):
        assert decode(WalkedIteration, through_json(encode(walked))) == walked

    @given(BASES)
    def test_of_the_basis(self, basis):
        assert judge_state_json.basis_from_plain(through_json(encode(basis))) == basis

    @table("wrong", [{"weights": {"readability": 1.0}}, {"error_parts": ["coverage_percentage"]}])
    def test_of_a_basis_no_other_weights_or_error_parts_are_read(self, wrong):
        plain = through_json(encode(basis_of(Metrics(lint_errors=1), Thresholds(), given_score=False)))
        with pytest.raises(ValueError, match=r"other dimensions|that are none"):
            judge_state_json.basis_from_plain({**plain, **wrong})

    @given(KEPT)
    def test_of_the_kept_iteration_with_its_outcomes_beside_it(self, kept):
        plain = through_json(judge_state_json.kept_to_plain(kept))
        assert "outcomes" not in plain
        assert plain["named"] == (kept.outcomes is not None)
        assert judge_state_json.kept_from_plain(plain, kept.outcomes) == kept

    @given(INTEGRITY)
    def test_of_what_integrity_found(self, found):
        assert decode(Integrity, through_json(encode(found))) == found

    @given(STATES)
    def test_of_all_that_is_carried(self, state):
        assert decode(JudgeState, through_json(encode(state))) == state

    @given(MEASUREMENTS)
    def test_of_a_measurement_with_its_tests_beside_it(self, measurement):
        plain = through_json(judge_state_json.measurement_to_plain(measurement))
        assert judge_state_json.measurement_from_plain(plain, measurement.tests) == measurement

    @given(NAMED, NAMED, st.none() | RESULTS)
    def test_of_what_the_line_knows_of_each_test(self, present, gone, results):
        plain = through_json(judge_state_json.known_to_plain(KnownTests(present, gone), results))
        assert judge_state_json.known_from_plain(plain) == KnownTests(present, gone)
        assert plain["measured"] == (results is not None)
        assert plain["durations"] == ({} if results is None else results.durations)

    @given(RESULTS, st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2))
    def test_of_the_results_of_an_iteration(self, results, said):
        results = results._replace(messages=said, not_loaded=said)
        plain = through_json(judge_state_json.known_to_plain(KnownTests(results.outcomes), results))
        assert judge_state_json.results_from_plain(plain, results.flaky) == results
        assert ("messages" in plain, "not_loaded" in plain) == (bool(said), bool(said))
        assert judge_state_json.results_from_plain({**plain, "measured": False}, ()) is None

    @table("outcomes", ["p", "ppp", "px"], ids=["fewer", "more", "unknown"])
    def test_refuses_outcomes_that_are_not_those_of_the_names(self, outcomes):
        with pytest.raises((ValueError, KeyError)):
            judge_state_json.known_from_plain({"names": ["a", "b"], "outcomes": outcomes, "gone": {}})

    @given(NAMED)
    def test_keeps_the_order_of_the_tests(self, present):
        plain = through_json(judge_state_json.known_to_plain(KnownTests(present, {}), None))
        assert list(judge_state_json.known_from_plain(plain).present) == list(present)

    @given(DECISIONS)
    def test_of_a_decision(self, decision):
        assert decode(Decision, through_json(decision._asdict())) == decision


@given(MEASUREMENTS)
def test_the_state_of_work_is_the_same_when_it_is_read_back(measurement):
    plain = through_json(judge_state_json.measurement_to_plain(measurement))
    back = judge_state_json.measurement_from_plain(plain, measurement.tests)
    assert back.state_of_work() == measurement.state_of_work()
