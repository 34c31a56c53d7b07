"""The sentences that reports begin with: what was gained by when, what followed, what was rolled back, what to do."""

from ralph_tracker.report.wording import (
    Point,
    Setback,
    iteration_sentence,
    loop_sentence,
    score_in_words,
    without_repeats,
)
from tests.tables import table

START = Point(0, 8, 12, 67.1, 0.69)
PEAK = Point(6, 17, 17, 100.0, 0.997)
GAIN = "8/12 → 17/17 tests and 67.1 → 100 % coverage by iteration 6"
NO_GAIN = "Nothing is better than the baseline with 8/12 tests and 67.1 % coverage"


@table(
    ("points", "setbacks", "said"),
    [
        ((START, None, START), (), "Baseline: 8/12 tests and 67.1 % coverage."),
        ((START, PEAK, PEAK), (), f"{GAIN}."),
        (
            (START, PEAK, Point(9, 17, 17, 100.0, 0.99)),
            (),
            f"{GAIN}; iterations 7 to 9 added nothing.",
        ),
        (
            (START, PEAK, Point(7, 15, 17, 82.4, 0.8)),
            (Setback(3, ("test_deletion",)),),
            f"{GAIN}; iteration 7 fell to 15/17 tests and 82.4 % coverage; iteration 3 was rolled back (test deletion).",  # noqa: E501
        ),
        (
            (START, START, Point(2, 7, 12, 67.1, 0.6)),
            (Setback(1, ("test_deletion", "failure_hidden", "test_deletion")), Setback(2)),
            f"{NO_GAIN}; iteration 1 was rolled back (test deletion, failure hidden); iteration 2 was rolled back.",
        ),
        (
            (START, PEAK, PEAK),
            tuple(Setback(number) for number in range(1, 5)),
            f"{GAIN}; 4 iterations were rolled back.",
        ),
    ],
    ids=["baseline", "peak is last", "nothing after", "fall after", "baseline is best", "many rollbacks"],
)
def test_a_loop_in_a_sentence(points, setbacks, said):
    assert loop_sentence(*points, setbacks) == said


def test_what_was_not_measured_is_left_out_and_the_score_stands_in_for_all_of_it():
    given = [Point(number, score=score) for number, score in ((0, 0.5), (1, 0.9), (2, 0.7))]
    assert loop_sentence(*given) == "Score 50 → 90 % by iteration 1; iteration 2 fell to a score of 70 %."
    tests = [Point(number, 5, 5) for number in (0, 1, 2)]
    assert loop_sentence(*tests, advice="Take iteration 1.") == (
        "5/5 tests by iteration 1; iteration 2 added nothing. Take iteration 1."
    )
    assert loop_sentence(Point(0), None, Point(0)) == "Baseline: score unknown."


def test_what_followed_the_peak_is_told_as_it_is():
    peak = Point(5, 99, 99, 80.0, 0.9)
    said = [
        loop_sentence(START, peak, last).partition("; ")[2]
        for last in (
            Point(6, 94, 94, 80.0, 0.9),
            Point(8, 94, 94, 75.0, 0.9),
            Point(7, 98, 99, 80.0, 0.9),
            Point(7, 99, 99, 85.0, 0.95),
            Point(6, 99, 99, 80.0, 0.9005),
        )
    ]
    assert said == [
        "iteration 6 lacks 5 tests of iteration 5 (94/94 pass).",
        "iterations 6 to 8 lack 5 tests of iteration 5 (94/94 pass) and fell to 75 % coverage.",
        "iterations 6 and 7 fell to 98/99 tests.",
        "iterations 6 and 7 are not taken.",
        "iteration 6 added nothing.",
    ]


@table(
    ("peak", "last", "said"),
    [
        (PEAK, Point(8), f"{GAIN}; iterations 7 and 8 measured nothing."),
        (PEAK, Point(7, 17, 17, None, 0.9), f"{GAIN}; iteration 7 did not measure coverage."),
        (PEAK, Point(7, None, None, 80, 0.2), f"{GAIN}; iteration 7 did not measure tests and fell to 80 % coverage."),
        (
            Point(2, 9, 12, None, 0.7),
            Point(2, 9, 12, None, 0.7),
            "8/12 → 9/12 tests and coverage not measured (67.1 % before) by iteration 2.",
        ),
        (
            Point(2, None, None, 70, 0.7),
            Point(2, None, None, 70, 0.7),
            "Tests not measured (8/12 before) and 67.1 → 70 % coverage by iteration 2.",
        ),
    ],
)
def test_what_is_unknown_now_is_said_with_the_value_before(peak, last, said):
    assert loop_sentence(START, peak, last) == said


def test_a_baseline_that_a_better_score_does_not_replace_is_still_taken():
    said = loop_sentence(Point(0, 0, 0, None, 0.3), Point(0, 0, 0, None, 0.3), Point(1, 0, 0, None, 0.4))
    assert said == "The baseline with no tests is still taken; iteration 1 is not taken."


def test_a_taken_iteration_that_was_rolled_back_says_so():
    said = loop_sentence(START, PEAK, Point(7, 17, 17, 100.0, 0.99), [Setback(6, ("test_deletion",)), Setback(7)])
    assert said == f"{GAIN}, which was rolled back (test deletion); iteration 7 was rolled back."


def test_only_the_highest_score_is_called_the_best():
    assert score_in_words(0.9, 0.8, (2, 0.9), 2) == "score 90 % (80 % before), the best so far"
    assert score_in_words(0.9, 0.95, (2, 0.9), 2) == "score 90 % (95 % before), taken so far"
    assert score_in_words(0.9, 0.8, (2, 0.9), 2, 0.95) == "score 90 % (80 % before), taken so far"
    assert score_in_words(0.8, None, (1, 0.9), 2) == "score 80 %; best 90 %, iteration 1"
    assert score_in_words(None, 0.8, (1, 0.9), 2) == "score unknown (80 % before); best 90 %, iteration 1"
    assert score_in_words(0.942, None, (30, 0.92), 40) == "score 94.2 %; taken so far 92 %, iteration 30"


def test_an_iteration_that_was_rolled_back_did_not_fall_back():
    said = loop_sentence(Point(0, 8, 12), Point(1, 9, 12), Point(2, 3, 12), (Setback(2),))
    assert said == "8/12 → 9/12 tests by iteration 1; iteration 2 was rolled back."


def test_an_iteration_in_a_sentence():
    record = {"iteration": 3, "testing": {"test_count": 11, "tests_passed": 10}, "quality": None, "adjusted_score": 0.8}
    document = {"iteration_metrics": record}
    assert iteration_sentence(document, Point(1, 10, 12)) == "10/12 → 10/11 tests since iteration 1."
    assert iteration_sentence(document, None) == "10/11 tests."


def test_an_error_that_was_shown_before_is_not_repeated():
    why = "check `tests` did not write a.json (exit 1 after 1.5 s)"
    assert without_repeats(f"{why}; it said: Error: no", (), ["Error: no"]) == why
    assert without_repeats("no test was collected: Error: no", (), ["Error: no"]) == "no test was collected"
    assert without_repeats(f"{why}; it said: Error: yes", (), ["Error: no"]) == f"{why}; it said: Error: yes"
