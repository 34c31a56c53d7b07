"""Numbers as people read them: absent is n/a, weights add up, signs are there."""

from hypothesis import example, given
from hypothesis import strategies as st

from ralph_tracker.core.decision import Decision
from ralph_tracker.core.metrics import BY_NAME
from ralph_tracker.core.thresholds import DIMENSIONS
from ralph_tracker.report.charts import sparkline
from ralph_tracker.report.wording import (
    decision_in_words,
    money,
    number,
    rounded_weights,
    score,
    signed_text,
    usage_in_words,
)
from tests.tables import table

COUNT, RATE, COMPLEXITY, BUILD = (BY_NAME[n] for n in ("test_count", "pass_rate", "complexity_score", "build_status"))


@table(
    ("value", "spec", "shown"),
    [
        (None, COUNT, "n/a"),
        (0, COUNT, "0"),
        (10, COUNT, "10"),
        (62.5, RATE, "62.5%"),
        (100.0, RATE, "100.0%"),
        (0.0, RATE, "0.0%"),
        (12.5, COMPLEXITY, "12.50"),
        ("success", BUILD, "success"),
        (None, BUILD, "n/a"),
    ],
)
def test_a_metric_has_its_decimals_and_its_unit(value, spec, shown):
    assert number(value, spec) == shown


@table(
    ("value", "spec", "shown"),
    [
        (None, COUNT, "n/a"),
        (0, COUNT, "0"),
        (2, COUNT, "+2"),
        (-1, COUNT, "-1"),
        (0.0, RATE, "0.0%"),
        (-2.2, RATE, "-2.2%"),
        (15.3, RATE, "+15.3%"),
        (-0.5, COMPLEXITY, "-0.50"),
    ],
)
def test_a_difference_has_its_sign_and_nothing_has_none(value, spec, shown):
    assert signed_text(value, spec) == shown


@table(
    ("value", "shown"),
    [
        (None, "n/a"),
        (0, "0.00"),
        (1, "1.00"),
        (0.8, "0.80"),
        (0.81, "0.81"),
        (0.801, "0.801"),
        (0.7646, "0.7646"),
        (0.0001, "0.0001"),
        (0.9999, "0.9999"),
    ],
)
def test_a_score_has_two_decimals_at_least_and_no_zeros_behind_them(value, shown):
    assert score(value) == shown


def test_money_that_is_unknown_is_said_to_be():
    assert (money(None), money(0.0), money(12.345)) == ("unknown", "$0.00", "$12.35")


shares = st.lists(st.integers(0, 10_000), min_size=1, max_size=5).filter(any)


@given(shares)
@example([1, 1, 1])
@example([30, 25, 25, 10, 10])
@example([1, 0, 0, 0, 9999])
@example([25, 25, 10])
def test_weights_are_printed_so_that_they_sum_to_one_and_none_is_far_from_what_it_is(parts):
    weights = {name: part / sum(parts) for name, part in zip(DIMENSIONS, parts, strict=False)}
    shown = rounded_weights(weights)
    assert list(shown) == list(weights)
    assert sum(round(float(text) * 100) for text in shown.values()) == 100
    assert all(len(text) == 4 for text in shown.values())
    assert all(abs(float(shown[name]) - weight) < 0.01 for name, weight in weights.items())


@given(shares)
def test_weights_rounded_for_a_record_still_sum_to_one(parts):
    weights = {name: round(part / sum(parts), 4) for name, part in zip(DIMENSIONS, parts, strict=False)}
    assert sum(round(float(text) * 100) for text in rounded_weights(weights).values()) == 100


@given(st.lists(st.integers(0, 100), min_size=5, max_size=5).filter(lambda parts: sum(parts) == 100 or True))
def test_weights_of_whole_hundredths_are_printed_as_they_are(parts):
    rest = parts[:4]
    whole = [part % 26 for part in rest]
    weights = {name: part / 100 for name, part in zip(DIMENSIONS, [*whole, 100 - sum(whole)], strict=True)}
    assert {name: float(text) for name, text in rounded_weights(weights).items()} == weights


def test_no_weights_are_no_weights():
    assert rounded_weights({}) == {}


def test_scores_are_drawn_from_low_to_high_and_never_beyond():
    assert sparkline([0, 0.125, 0.5, 0.99, 1, -1, 2]) == "▁▂▅██▁█"
    assert sparkline([]) == ""


@table(
    ("decision", "words"),
    [
        (
            Decision("rollback", "Rollback to iteration 2 due to regression: Test deletion", 0.95, 2),
            "rollback to iteration 2 (confidence 95 %): Test deletion",
        ),
        (
            Decision("rollback", "Rollback to iteration 2 due to regression", 0.9, 2),
            "rollback to iteration 2 (confidence 90 %)",
        ),
        (Decision("rollback", "asked for", 0.9), "rollback (confidence 90 %): asked for"),
        (
            Decision("continue", "Continue - regression within limits: Coverage dropped", 0.6),
            "continue (confidence 60 %): worse, but not enough for a rollback: Coverage dropped",
        ),
        (
            Decision("continue", "Continue - forward progress detected", 0.9),
            "continue (confidence 90 %): forward progress detected",
        ),
        (
            Decision("escalate", "Escalate to human - blocked: key", 0.9),
            "escalate (confidence 90 %): blocked: key",
        ),
        (Decision("stop", "Target reached", 0.95), "stop (confidence 95 %): Target reached"),
    ],
)
def test_a_decision_in_words_repeats_nothing_of_its_reason(decision, words):
    assert decision_in_words(decision._asdict()) == words


@table(
    ("usages", "words"),
    [
        ([{}], ""),
        ([{"cost_usd": 0.5}], "$0.50"),
        ([{"input_tokens": 41000, "output_tokens": 900, "turns": 1}], "41,000 input and 900 output tokens, 1 turn"),
        ([{"duration_s": 59.6}, {"duration_s": 61}], "2 min 1 s"),
        ([{"cost_usd": 1, "turns": 2}, {"turns": 3}], "at least $1.00, 5 turns"),
    ],
)
def test_usage_in_words_names_what_is_known_and_says_where_a_sum_lacks_iterations(usages, words):
    assert usage_in_words(usages) == words
