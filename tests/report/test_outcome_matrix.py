"""The tests whose outcome changed: those in trouble first, each with its history, within the room there is."""

from ralph_tracker.report.iteration_changes import Change
from ralph_tracker.report.outcome_matrix import matrix_of
from ralph_tracker.report.svg import outcome_strip

NAMES = ("a", "b", "c")


def test_only_tests_that_changed_are_listed_those_that_do_not_pass_first():
    columns = [(NAMES, "ppp"), (NAMES, "pfp"), None, (("a", "b", "d"), "ppp")]
    changes = [Change(1, 0, broke=("b",)), Change(3, 1, fixed=("b",), gone=("c",), new=("d",))]
    matrix = matrix_of(changes, columns)
    assert [(row.name, row.events, row.troubled) for row in matrix.rows] == [
        ("c", "gone at 3", True),
        ("b", "broke at 1, fixed at 3", False),
    ]
    assert [row.picture for row in matrix.rows] == [outcome_strip("pp?-"), outcome_strip("pf?p")]
    assert matrix.more == 0


def test_what_there_is_no_room_for_is_counted():
    names = tuple(f"t{number}" for number in range(9))
    matrix = matrix_of([Change(1, 0, broke=names)], [(names, "p" * 9), (names, "f" * 9)], room=1)
    assert (len(matrix.rows), matrix.more) == (1, 8)


def test_a_long_history_is_cut_at_its_start():
    changes = [Change(number, number - 1, broke=("a",)) for number in range(1, 15)]
    (row,) = matrix_of(changes, [(("a",), "f")] * 15).rows
    assert row.events.startswith("2 changes, then broke at 3, ")
