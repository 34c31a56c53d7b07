"""What counts as new in a session, what as a repeat, and that what is kept of it does not grow."""

import itertools

from ralph_tracker.steering import (
    ContinuationThresholds,
    FileChanged,
    FileRead,
    PersonSaid,
    ProgressMetrics,
    ProgressThresholds,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from ralph_tracker.steering import TestsPassed as NewlyPassing
from tests.tables import table


def ended(name="Bash", arguments="a", result="r", tree=None):
    return ToolEnded("c", name, success=True, arguments=arguments, result=result, tree=tree)


def of(*events):
    metrics = ProgressMetrics()
    for event in events:
        metrics.fold(event)
    return metrics


def test_before_any_turn_all_counts_are_zero_and_velocity_is_one():
    metrics = of()
    assert (metrics.unique_files_read, metrics.total_file_reads, metrics.files_revisited) == (0, 0, 0)
    assert (metrics.tools_used, metrics.total_iterations, metrics.iterations_without_tools) == (0, 0, 0)
    assert (metrics.progress_velocity, metrics.is_making_progress, metrics.is_stuck_loop) == (1.0, True, False)


def test_reads_are_counted_once_as_new_and_then_as_revisits():
    metrics = of(*(FileRead(path) for path in "abaab"))
    assert (metrics.unique_files_read, metrics.total_file_reads, metrics.files_revisited) == (2, 5, 3)


def test_velocity_looks_at_the_last_five_turns():
    turns = [(FileRead("a"), FileRead("b"), TurnEnded()), *[(TurnEnded(),)] * 4]
    metrics = of(*itertools.chain(*turns))
    assert (metrics.progress_velocity, metrics.is_making_progress) == (0.4, True)
    metrics.fold(TurnEnded())
    assert (metrics.progress_velocity, metrics.is_making_progress) == (0.0, False)


def test_turns_without_tools_are_counted_in_a_row():
    metrics = of(ended(), TurnEnded(), TurnEnded(), TurnEnded())
    assert (metrics.tools_used, metrics.iterations_without_tools) == (1, 2)
    for event in (ended(), TurnEnded()):
        metrics.fold(event)
    assert metrics.iterations_without_tools == 0


# id: two calls, whether the second repeats the first
PAIRS = {
    "the same again": (ended(), ended(), True),
    "another tool": (ended(), ended(name="Grep"), False),
    "other arguments": (ended(), ended(arguments="b"), False),
    "another result": (ended(), ended(result="s"), False),
    "the same tree": (ended(tree="t1"), ended(tree="t1"), True),
    "another tree": (ended(tree="t1"), ended(tree="t2"), False),
    "a tree that nobody looked at since": (ended(tree="t1"), ended(), True),
}


@table("case", PAIRS)
def test_a_repeat_is_the_same_call_with_the_same_result_on_the_same_tree(case):
    first, second, repeats = PAIRS[case]
    assert of(first, second).consecutive_file_revisits == int(repeats)


# id: what happens between two equal calls, repeats in a row after it
BREAKS = {
    "nothing": ((), 1),
    "words": ((TurnEnded("let me see"),), 1),
    "a changed file": ((FileChanged("a"),), 0),
    "another call": ((ended(name="Grep"),), 1),
    "a call that changed the tree": ((ended("Edit", tree="t2"),), 0),
    "a call that left the tree": ((ended("Edit", tree="t1"),), 1),
    "a change that left the tree as it was": ((FileChanged("a"), ended("Edit", tree="t1")), 1),
    "a change, and a call that did not look at the tree": ((FileChanged("a"), ended("Edit")), 0),
    "a person": ((PersonSaid("again"),), 1),
}


@table("case", BREAKS)
def test_a_change_in_between_makes_it_no_repeat(case):
    between, repeats = BREAKS[case]
    assert of(ended(tree="t1"), *between, ended()).consecutive_file_revisits == repeats


@table(
    "event",
    [PersonSaid("go on"), NewlyPassing(("t1",)), FileRead("new"), FileChanged("a")],
    ids=lambda e: type(e).__name__,
)
def test_what_is_new_or_asked_for_ends_a_row_of_repeats(event):
    metrics = of(*[ended()] * 4)
    assert metrics.is_stuck_loop
    metrics.fold(event)
    assert metrics.consecutive_file_revisits == 0


def test_going_to_and_fro_between_two_trees_is_a_loop():
    there = ended("Edit", "x", tree="t2"), ended("Bash", "pytest", "1 failed", "t2")
    back = ended("Edit", "y", tree="t1"), ended("Bash", "pytest", "1 failed", "t1")
    metrics = of(ended(tree="t1"), *there, *back, TurnEnded(), *there, *back, TurnEnded())
    assert metrics.is_stuck_loop
    assert metrics.progress_velocity == 0.5  # the first time there


def test_a_change_is_progress_once_whether_the_tree_is_named_or_not():
    named = of(ended(tree="t1"), FileChanged("a"), ended("Edit", tree="t2"), TurnEnded())
    plain = of(ended(), ended("Edit"), FileChanged("a"), TurnEnded())
    assert named.progress_velocity == plain.progress_velocity == 1.0


def test_a_test_that_passes_again_is_no_news():
    metrics = of(NewlyPassing(("t1", "t2")), NewlyPassing(("t1",)), NewlyPassing(("t2", "t3")), TurnEnded())
    assert metrics.progress_velocity == 2.0
    assert of(NewlyPassing(()), TurnEnded()).progress_velocity == 0.0


def test_where_a_host_tells_of_files_alone_reading_again_is_the_repeat():
    assert of(*[FileRead("a")] * 4).consecutive_file_revisits == 3
    assert of(*[FileRead("a"), FileChanged("a")] * 4).consecutive_file_revisits == 0


def test_where_it_tells_of_tools_a_read_is_not_counted_twice():
    call = (ToolStarted("c", "Read", "a"), ended("Read"), FileRead("a"))
    assert of(*call * 3).consecutive_file_revisits == 2


def test_stuck_is_from_as_many_repeats_on_as_configured():
    metrics = ProgressMetrics(ContinuationThresholds(progress=ProgressThresholds(stuck_repeats=2)))
    for _ in range(2):
        metrics.fold(ended())
    assert not metrics.is_stuck_loop
    metrics.fold(ended())
    assert metrics.is_stuck_loop


def test_what_came_long_before_is_forgotten_and_what_came_lately_is_not():
    metrics = of(*(ended(arguments=str(n)) for n in range(10_000)))
    metrics.fold(ended(arguments="9000"))
    assert metrics.consecutive_file_revisits == 1
    metrics.fold(ended(arguments="1"))
    assert metrics.consecutive_file_revisits == 0


def test_what_is_met_again_stays_known():
    events = (event for n in range(10_000) for event in (ended(arguments=str(n)), ended(arguments="often")))
    assert of(*events).consecutive_file_revisits == 1
