"""Metrics that go round in circles (semantics § 6)."""

import pytest

from ralph_tracker.core.thresholds import CyclingThresholds

# Small steps of coverage: no other rule has anything to say about them.
COVERAGE = {"A": 80.0, "B": 79.0, "C": 78.5, "D": 78.0, "-": None}


def drive(start, pattern, **settings):
    """Run a loop whose coverage goes as the letters say; the first letter is the baseline."""
    loop = start(base={"coverage_percentage": COVERAGE[pattern[0]]}, **settings)
    for letter in pattern[1:]:
        loop.turn(coverage_percentage=COVERAGE[letter])
    return loop


def cycling(loop):
    return [alert for alert in loop.last.alerts if alert.type in {"metric_cycling", "infinite_loop"}]


@pytest.mark.parametrize(
    ("pattern", "repeats"),
    [
        pytest.param("ABAB", 1, id="period of two"),
        pytest.param("ABCAB", 1, id="period of three"),
        pytest.param("ABABAB", 3, id="and again"),
        pytest.param("CABAB", 2, id="after something else"),
        pytest.param("DABCAB", 2, id="period of three after something else"),
        pytest.param("ABA", None, id="a single return"),
        pytest.param("ABCA", None, id="a single return after two"),
        pytest.param("AB", None, id="two"),
        pytest.param("ABB", None, id="one repeat of the iteration just before"),
        pytest.param("ABBA", None, id="there and back"),
        pytest.param("AABB", None, id="two pairs"),
        pytest.param("ABAC", None, id="only one of the two repeats"),
        pytest.param("CBAB", None, id="only the other of the two repeats"),
        pytest.param("ABCAC", None, id="only one of the three repeats"),
        pytest.param("ABCDAB", None, id="a period of four is beyond the window"),
        pytest.param("ABCDABCD", None, id="and stays so"),
        pytest.param("AAAAAAAAAAA", None, id="all the same up to iteration 10"),
        pytest.param("AB-AB", 1, id="one that lacks a part is left out"),
        pytest.param("ABA-", None, id="one that lacks a part repeats nothing"),
        pytest.param("ABA-B", 1, id="nor hides what comes after"),
    ],
)
def test_up_to_iteration_10(start, pattern, repeats):
    loop = drive(start, pattern)
    number = len(pattern) - 1
    found = [(alert.type, alert.message) for alert in cycling(loop)]
    wanted = ("metric_cycling", f"Metrics cycling: iteration {number} repeats iteration {repeats}")
    assert found == ([] if repeats is None else [wanted])


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        pytest.param("AAAAAAA" + "ABAB", "metric_cycling", id="at iteration 10"),
        pytest.param("AAAAAAAA" + "ABAB", "infinite_loop", id="at iteration 11"),
        pytest.param("AAAAAAA" + "ABCAB", "infinite_loop", id="period of three at iteration 11"),
    ],
)
def test_after_iteration_10_it_ends_the_loop(start, pattern, kind):
    loop = drive(start, pattern)
    (alert,) = cycling(loop)
    assert alert.type == kind


def test_the_words_of_an_infinite_loop(start):
    (alert,) = cycling(drive(start, "AAAAAAAA" + "ABAB"))
    assert (alert.message, alert.note) == (
        "Infinite loop detected: metrics cycling",
        "iteration 11 repeats iteration 9",
    )


def test_the_window_is_a_rule(start):
    thresholds = start().thresholds._replace(cycling=CyclingThresholds(window=4, terminate_after=3))
    assert cycling(drive(start, "ABCAB", thresholds=thresholds)) == []
    (alert,) = cycling(drive(start, "CABAB", thresholds=thresholds))
    assert alert.type == "infinite_loop"


def test_the_window_follows_the_line(start):
    loop = drive(start, "ABAC")
    loop.roll_back(2)
    loop.turn(coverage_percentage=79.0)
    (alert,) = cycling(loop)
    assert alert.message == "Metrics cycling: iteration 4 repeats iteration 1"


def test_what_was_rolled_back_is_not_in_the_window(start):
    loop = drive(start, "ABA")
    loop.roll_back(0)
    loop.turn(coverage_percentage=79.0)
    assert cycling(loop) == []


def test_a_part_that_the_loop_has_only_now_leaves_out_those_without_it(start):
    loop = drive(start, "ABA")
    loop.turn(coverage_percentage=79.0, test_count=5)
    assert cycling(loop) == []


def test_all_parts_make_the_signature(start):
    loop = start(base={"coverage_percentage": 80.0, "lint_errors": 0, "test_count": 5})
    for errors in (1, 0, 2):
        loop.turn(lint_errors=errors)
    assert cycling(loop) == []
    for errors in (0, 2):
        loop.turn(lint_errors=errors)
    assert [alert.message for alert in cycling(loop)] == ["Metrics cycling: iteration 5 repeats iteration 3"]


@pytest.mark.parametrize(
    ("iterations", "expected"),
    [
        pytest.param(("ab", "abc", "ab", "abc"), True, id="the same tests come and go"),
        pytest.param(("ab", "abc", "ab", "abd"), False, id="another test passes for the first time"),
        pytest.param(("abcd", "abcde", "ab", "abfg", "abfgh"), False, id="growth goes on after a removal"),
        pytest.param(("ab", "abC", "ab", "abD"), True, id="the other test fails"),
        pytest.param(("ab", "abc", "abd", "ab", "abc"), True, id="a period of three"),
    ],
)
def test_where_tests_have_names_an_iteration_with_one_that_never_ran_repeats_none(start, iterations, expected):
    """Capital letters are tests that fail."""
    outcomes = [{name.lower(): "passed" if name.islower() else "failed" for name in names} for names in iterations]
    loop = start(tests=outcomes[0])
    for each in outcomes[1:]:
        loop.turn(tests=each)
    assert bool(cycling(loop)) is expected


class TestAllTheSame:
    """(b): after iteration 10 only, the same five times, the score hardly moved, and a tree came back."""

    def loop(self, start, last_scores=(0.5, 0.5, 0.5, 0.5, 0.5), trees=(None,) * 5, before=7):
        """Run a loop of given scores, of which only the last five differ; `before` many after the baseline."""
        loop = start(base={"coverage_percentage": 80.0}, score=0.5)
        loop.turn(score=0.5, coverage_percentage=81.0)
        loop.turns(before - 2, score=0.5, coverage_percentage=81.0)
        for score, tree in zip(last_scores, trees, strict=True):
            loop.turn(score=score, tree=tree)
        return loop

    @pytest.mark.parametrize(("before", "expected"), [(6, []), (7, ["infinite_loop"]), (9, ["infinite_loop"])])
    def test_five_times(self, start, before, expected):
        loop = self.loop(start, before=before)
        assert loop.last.iteration == before + 4
        assert [alert.type for alert in cycling(loop)] == expected

    def test_four_times_is_not_enough(self, start):
        loop = start(base={"coverage_percentage": 80.0}, score=0.5)
        loop.turns(7, score=0.5, coverage_percentage=81.0)
        loop.turns(4, score=0.5)
        assert (loop.last.iteration, cycling(loop)) == (11, [])

    def test_it_repeats_the_one_just_before(self, start):
        (alert,) = cycling(self.loop(start))
        assert alert.note == "iteration 11 repeats iteration 10"

    @pytest.mark.parametrize(
        ("scores", "expected"),
        [
            pytest.param((0.5, 0.505, 0.5, 0.5, 0.5), True, id="by exactly 0.005"),
            pytest.param((0.5, 0.5051, 0.5, 0.5, 0.5), False, id="by more"),
            pytest.param((0.7, 0.7, 0.7, 0.7, 0.704), True, id="by 0.004 at the end"),
            pytest.param((0.5, 0.5, 0.5, 0.5, 0.494), False, id="by 0.006 downwards"),
        ],
    )
    def test_the_score_may_hardly_move(self, start, scores, expected):
        assert bool(cycling(self.loop(start, scores))) is expected

    @pytest.mark.parametrize(
        ("trees", "expected"),
        [
            pytest.param(("a", "b", "c", "d", "e"), False, id="five different"),
            pytest.param(("a", "b", "c", "d", "a"), True, id="two equal"),
            pytest.param(("a", "a", "b", "c", "d"), True, id="two equal in a row"),
            pytest.param((None,) * 5, True, id="none known"),
            pytest.param((None, None, None, "a", "b"), False, id="two known, different"),
        ],
    )
    def test_where_trees_are_known_two_are_equal(self, start, trees, expected):
        assert bool(cycling(self.loop(start, trees=trees))) is expected


class TestSameTree:
    """(c): the same content for the third time on the line, with others between; at any age."""

    @pytest.mark.parametrize(
        ("visits", "before", "expected"),
        [
            pytest.param(2, "b", True, id="for the third time"),
            pytest.param(3, "b", True, id="for the fourth time"),
            pytest.param(1, "b", False, id="a single revert"),
            pytest.param(2, "a", False, id="nothing changed since the last one"),
            pytest.param(2, None, True, id="the last one is not known"),
        ],
    )
    def test_visits(self, start, visits, before, expected):
        loop = start(tree=before)
        loop.turn(tree="a", tree_visits=visits, tree_last=0, coverage_percentage=81.0)
        assert bool(cycling(loop)) is expected

    def test_what_it_says(self, start):
        loop = start(tree="b")
        loop.turn(tree="a", tree_visits=2, tree_last=0, coverage_percentage=81.0)
        (alert,) = cycling(loop)
        assert alert.type == "metric_cycling"
        assert alert.message == "Metrics cycling: iteration 1 repeats iteration 0"
        assert alert.note == "the same tree for the third time"

    def test_an_unknown_tree_repeats_none(self, start):
        loop = start(tree="b")
        loop.turn(tree=None, tree_visits=2)
        assert cycling(loop) == []

    def test_it_holds_without_any_part_of_a_signature(self, start):
        loop = start(base={}, score=0.5, tree="b")
        loop.turn(score=0.9, tree="a", tree_visits=2, tree_last=0)
        assert [alert.type for alert in cycling(loop)] == ["metric_cycling"]

    def test_without_any_part_nothing_else_does(self, start):
        loop = start(base={}, score=0.5)
        loop.turns(12, score=0.5)
        assert cycling(loop) == []

    def test_after_iteration_10_it_is_the_certain_kind(self, start):
        loop = start(tree="b")
        loop.turns(10, tree="b", coverage_percentage=85.0)
        loop.turn(tree="a", tree_visits=2, tree_last=3)
        (alert,) = cycling(loop)
        assert (alert.type, alert.note) == (
            "infinite_loop",
            "iteration 11 repeats iteration 3; the same tree for the third time",
        )
        assert loop.last.decision.confidence == 0.99
