"""Laws that hold for every loop, whatever is measured (semantics as a whole)."""

from copy import deepcopy

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ralph_tracker.core.judge import judge
from ralph_tracker.core.known_tests import KnownTests, compare
from ralph_tracker.core.metrics import KEY_METRICS, Metrics, TestResults
from ralph_tracker.core.score import basis_of
from ralph_tracker.core.thresholds import DIMENSIONS, ScoreThresholds, Thresholds

law = settings(deadline=None)

COUNT = st.integers(0, 12)
TESTS = st.builds(
    lambda passed, failed, skipped: {
        "test_count": passed + failed + skipped,
        "tests_passed": passed,
        "tests_failed": failed,
        "tests_skipped": skipped,
    },
    COUNT,
    COUNT,
    COUNT,
)
NAMED = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["passed", "failed", "skipped"]), max_size=8)
REST = {
    "coverage_percentage": st.integers(0, 1000).map(lambda tenths: tenths / 10),
    "lint_errors": st.integers(0, 45),
    "lint_warnings": st.integers(0, 60),
    "type_errors": st.integers(0, 30),
    "build_status": st.sampled_from(["success", "failure"]),
    "file_count": st.integers(0, 9),
    "loc_total": st.one_of(st.integers(0, 60), st.integers(0, 4000)),
    "complexity_score": st.integers(0, 3000).map(lambda hundredths: hundredths / 100),
}

GROUPS = {
    "tests": ["tests", "test_count", "tests_passed", "tests_failed", "tests_skipped"],
    "coverage": ["coverage_percentage"],
    "lint": ["lint_errors", "lint_warnings"],
    "types": ["type_errors"],
    "build": ["build_status"],
}


@st.composite
def turns(draw, *, named=None, whole=False):
    """Draw the values of one iteration; `whole` has everything, else each group may be absent."""
    if named is None:
        named = draw(st.booleans())
    values = {}
    if whole or draw(st.integers(0, 5)):
        values = {"tests": draw(NAMED)} if named else draw(TESTS)
    for name, strategy in REST.items():
        if whole or draw(st.integers(0, 5)):
            values[name] = draw(strategy)
    return values


@st.composite
def loops(draw, *, most=5, **kind):
    """Draw the turns of a loop, the baseline first, which has something to compute a score from."""
    kind.setdefault("named", draw(st.booleans()))
    first = draw(
        turns(**kind).filter(
            lambda values: set(values) - {"file_count", *(() if values.get("loc_total") else ("loc_total",))}
        )
    )
    return [first, *draw(st.lists(turns(**kind), min_size=1, max_size=most))]


def run(start, first, *later):
    loop = start(base={}, **first)
    for turn in later:
        loop.turn(**turn)
    return loop


class TestRange:
    @law
    @given(values=loops())
    def test_scores_are_0_to_1_and_parts_0_to_100(self, start, values):
        loop = run(start, *values)
        for record in loop.records:
            assert 0 <= record.quality_score <= 1
            assert 0 <= record.adjusted_score <= 1
            assert 0 <= record.evidence <= 1
            assert 0 <= record.decision.confidence <= 1
            parts = [*record.dimensions.values(), *(part for part in record.components.values() if part is not None)]
            assert all(0 <= part <= 100 for part in parts)
        assert all(0 <= contender.adjusted <= 1 for contender in loop.select().contenders)

    @law
    @given(
        baseline=turns(named=False),
        weights=st.lists(st.integers(1, 20), min_size=5, max_size=5),
    )
    def test_weights_sum_to_1(self, baseline, weights):
        thresholds = Thresholds(score=ScoreThresholds(weights=dict(zip(DIMENSIONS, weights, strict=True))))
        loop = basis_of(Metrics(**baseline), thresholds, given_score=False)
        assume(loop.components)
        assert sum(loop.weights.values()) == pytest.approx(1)


class TestMonotone:
    """What is better of one thing is never worse as a whole."""

    def not_worse(self, start, earlier, worse, better):
        one, other = run(start, *earlier, worse).last, run(start, *earlier, better).last
        assert other.quality_score >= one.quality_score
        assert other.adjusted_score >= one.adjusted_score

    @law
    @given(
        values=loops(most=2),
        name=st.sampled_from(
            ["coverage_percentage", "lint_errors", "type_errors", "lint_warnings", "complexity_score"]
        ),
        data=st.data(),
    )
    def test_in_coverage_lint_types_and_complexity(self, start, values, name, data):
        *earlier, last = values
        low, high = sorted([data.draw(REST[name]), data.draw(REST[name])])
        more, less = last | {name: high}, last | {name: low}
        pair = (less, more) if name == "coverage_percentage" else (more, less)
        self.not_worse(start, earlier, *pair)

    @law
    @given(values=loops(most=2, named=False), passed=COUNT, failed=st.integers(1, 12), skipped=COUNT)
    def test_in_a_test_that_failed_and_passes_now_by_the_counts(self, start, values, passed, failed, skipped):
        *earlier, last = values
        last |= {"test_count": passed + failed + skipped, "tests_skipped": skipped}
        worse = last | {"tests_passed": passed, "tests_failed": failed}
        better = last | {"tests_passed": passed + 1, "tests_failed": failed - 1}
        self.not_worse(start, earlier, worse, better)

    @law
    @given(values=loops(most=2, named=True), others=NAMED, name=st.sampled_from("abcdefgh"))
    def test_in_a_test_that_failed_and_passes_now_by_name(self, start, values, others, name):
        *earlier, last = values
        worse, better = others | {name: "failed"}, others | {name: "passed"}
        self.not_worse(start, earlier, last | {"tests": worse}, last | {"tests": better})


class TestNeutral:
    """Judging the same again says that nothing happened."""

    @law
    @given(values=loops(most=1))
    def test_the_same_again_is_a_plateau_and_then_a_stall(self, start, values):
        loop = run(start, values[0])
        for wanted, alerts in (("plateau", []), ("plateau", []), ("stalled", ["stalled"])):
            record = loop.turn(**values[0])
            assert (record.classification, loop.kinds, loop.open_kinds) == (wanted, alerts, [])
            assert set(record.from_previous.values()) <= {0}
            assert record.adjusted_score == loop.records[0].adjusted_score

    @law
    @given(values=loops(most=2))
    def test_the_same_as_the_one_before_raises_nothing_new(self, start, values):
        loop = run(start, *values)
        before = loop.last
        record = loop.turn(**values[-1])
        assert record.classification in {"plateau", "stalled"}
        assert set(loop.kinds) <= {"stalled"}
        assert record.quality_score == before.quality_score
        assert record.adjusted_score >= before.adjusted_score  # what one that was taken dropped is not missed again

    @law
    @given(values=loops(most=2), data=st.data())
    def test_after_a_rollback_the_target_s_own_state_is_nothing_new(self, start, values, data):
        loop = run(start, *values)
        target = data.draw(st.integers(0, len(values) - 1))
        was = loop.judgements[target].state.lineage.open_alerts
        loop.roll_back(target)
        record = loop.turn(**values[target])
        assert record.previous == target
        assert record.classification in {"plateau", "stalled"}
        assert set(loop.kinds) <= {"stalled", "metric_cycling"}
        assert loop.state.lineage.open_alerts == was


class TestMissing:
    """A crashed tool never raises a score, and is never progress."""

    def pair(self, start, values, gone):
        """Judge the last turn twice, whole and with what is gone."""
        *earlier, last = values
        loop, other = run(start, *earlier), run(start, *earlier)
        whole = loop.turn(**last)
        measurement = loop.measurements[-1]
        metrics = measurement.metrics._replace(**dict.fromkeys(gone))
        return whole, other.judge(measurement._replace(metrics=metrics))

    @law
    @given(values=loops(most=2), data=st.data())
    def test_removing_what_was_measured_raises_nothing(self, start, values, data):
        loop = run(start, *values)
        measured = sorted(loop.measurements[-1].metrics.known_values())
        gone = data.draw(st.lists(st.sampled_from(measured), max_size=4, unique=True) if measured else st.just([]))
        whole, less = self.pair(start, values, gone)
        assert less.quality_score <= whole.quality_score
        assert less.adjusted_score <= whole.adjusted_score
        assert less.evidence <= whole.evidence
        if whole.classification != "forward":
            assert less.classification != "forward"

    @law
    @given(values=loops(most=2), data=st.data())
    def test_one_of_the_four_that_is_missing_is_never_forward(self, start, values, data):
        loop = run(start, *values)
        had = sorted(set(KEY_METRICS) & set(loop.judgements[-2].state.lineage.readings))
        assume(had)
        name = data.draw(st.sampled_from(had))
        source = {
            "test_count": ["test_count"],
            "pass_rate": ["tests_passed", "tests_failed"],
            "coverage_percentage": ["coverage_percentage"],
            "error_count": ["lint_errors", "type_errors"],
        }[name]
        _, less = self.pair(start, values, source)
        assert less.metrics.get(name) is None
        assert less.classification != "forward"

    @law
    @given(values=loops(most=2, whole=True), group=st.sampled_from(sorted(GROUPS)))
    def test_a_group_that_is_missing_is_told_and_lowers_evidence(self, start, values, group):
        *earlier, last = values
        loop = run(start, *earlier)
        record = loop.turn(**{name: value for name, value in last.items() if name not in GROUPS[group]})
        assert [alert.group for alert in record.alerts if alert.group] == [group]
        assert record.evidence < 1
        assert not (group == "tests" and record.verified)


class TestRepeatable:
    @law
    @given(values=loops())
    def test_judging_twice_gives_the_same_and_changes_no_state(self, start, values):
        *earlier, last = values
        loop = run(start, *earlier)
        state, kept_aside = loop.state, deepcopy(loop.state)
        loop.turn(**last)
        again = judge(state, loop.measurements[-1])
        assert again == loop.judgements[-1]
        assert state == kept_aside

    @law
    @given(values=loops())
    def test_a_whole_loop_judged_again_is_the_same(self, start, values):
        loop = run(start, *values)
        assert loop.again().records == loop.records


class TestByName:
    @law
    @given(before=st.lists(NAMED, min_size=1, max_size=3), now=NAMED, flaky=st.sets(st.sampled_from("abcd")))
    def test_a_comparison_equals_one_name_by_name(self, before, now, flaky):
        known = KnownTests()
        for report in before:
            known = known.after(TestResults(report))
        latest = {name: end for report in before for name, end in report.items()}
        found = compare(known, TestResults(now), frozenset(flaky))
        if not latest:
            assert found is None
            return
        last = before[-1]
        broke = {name for name, end in now.items() if end == "failed" and latest.get(name) == "passed"}
        assert found.vanished == {name: end for name, end in last.items() if name not in now}
        assert (found.broken.keys(), found.flaky.keys()) == (broke - flaky, broke & flaky)
        gained = {name for name, end in now.items() if end == "passed" and latest.get(name) != "passed"}
        assert set(found.gained) == gained
        passed = {name for name, end in last.items() if end == "passed"}
        assert found.lost.keys() == {name for name in passed if now.get(name, "skipped") == "skipped"}
        assert set(found.added) == now.keys() - latest.keys()


class TestByDefinition:
    """The adjusted score as the specification words it, computed anew from everything at once."""

    def findings(self, baseline, now, name, cost):
        value, start = now[name], baseline[name]
        if name != "complexity_score":
            if baseline["loc_total"] == 0:
                value *= min(1, 1000 / now["loc_total"]) if now["loc_total"] else 1
            else:
                value *= min(1, baseline["loc_total"] / now["loc_total"]) if now["loc_total"] else 1
        if cost * start > 50:
            return max(0, 100 - 50 * value / start)
        return max(0, 100 - cost * value)

    def size(self, baseline, now):
        if baseline["loc_total"] == 0:
            return None
        growth = now["loc_total"] / baseline["loc_total"]
        growth = max(1, growth / max(1, now["tests_passed"] / max(1, baseline["tests_passed"])))
        percent = round((growth - 1) * 100, 9)
        return (min(100, max(0, 100 - (abs(percent) - 20))) + (50 if percent > 50 else 100)) / 2

    def score(self, baseline, now, passes, ran, present):
        validation = passes / ran * 100, 100 * (now["build_status"] == "success")
        lint = self.findings(baseline, now, "lint_errors", 5)
        errors = self.findings(baseline, now, "error_count", 2)
        warnings = self.findings(baseline, now, "lint_warnings", 3)
        complexity = self.findings(baseline, now, "complexity_score", 5)
        dimensions = {
            0.30: (sum(validation) + lint) / 3,
            0.25: (now["coverage_percentage"] + present * 100) / 2 + (passes / ran * 100 + errors) / 2,
            0.10: (warnings + complexity) / 2,
        }
        total = sum(weight * value for weight, value in dimensions.items())
        size = self.size(baseline, now)
        return (total + 0.1 * size if size is not None else total / 0.9) / 100

    @law
    @given(first=turns(named=True, whole=True), last=turns(named=True, whole=True))
    def test_equals_the_words_of_the_specification(self, start, first, last):
        """Missing are the tests that passed and are gone or skipped now, less those that came."""
        rows = []
        for turn in (first, last):
            passed = sum(end == "passed" for end in turn["tests"].values())
            rows.append(turn | {"error_count": turn["lint_errors"] + turn["type_errors"], "tests_passed": passed})
        before, now = first["tests"], last["tests"]
        gone = sum(end == "passed" and now.get(name, "skipped") == "skipped" for name, end in before.items())
        missing = max(0, gone - sum(end == "passed" and name not in before for name, end in now.items()))
        ran = missing + sum(end != "skipped" for end in now.values())
        assume(ran and before)
        record = run(start, first, last).last
        wanted = self.score(*rows, rows[1]["tests_passed"], ran, len(now) / (len(now) + missing) if now else 0)
        assert record.adjusted_score == pytest.approx(wanted, abs=0.0000501)

    @law
    @given(values=loops())
    def test_where_the_scores_differ_a_line_says_why(self, start, values):
        for record in run(start, *values).records:
            assert (record.adjusted_because == "") == (record.adjusted_score == record.quality_score)


@law
@given(values=loops(most=4))
def test_a_delta_is_the_difference_of_recorded_values(start, values):
    loop = run(start, *values)
    for before, record in zip(loop.records, loop.records[1:], strict=False):
        for name, value in record.metrics.known_values().items():
            earlier = before.metrics.number(name)
            if name != "build_status" and earlier is not None:
                delta = record.from_previous["coverage_delta" if name == "coverage_percentage" else f"{name}_delta"]
                assert earlier + delta == pytest.approx(value, abs=1e-9)
