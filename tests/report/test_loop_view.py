"""What the selection's reports show, at a cost in proportion to the iterations, and changes by name and in words."""

from types import SimpleNamespace

import pytest

from ralph_tracker.core.walk import Refusal
from ralph_tracker.loop.reports import gather_loop
from ralph_tracker.report.charts import outcome_strip
from ralph_tracker.report.loop_view import Change, change_of, matrix_of, selection_view, why_others_are_not_taken
from ralph_tracker.store.write import LoopStore


class _Counted(tuple):  # noqa: SLOT001  # it has an attribute
    """Iterations that count how often they are gone through."""

    passes: list[None]

    def __iter__(self):
        self.passes.append(None)
        return super().__iter__()


@pytest.fixture
def passes(driven):
    """Return how often the view of a loop's selection goes through its iterations."""

    def count(turns):
        for number in range(turns):
            driven.turn(coverage_percentage=80.0 + number)
        loop = gather_loop(LoopStore(driven.paths))
        contenders = _Counted(loop.selection.contenders)
        contenders.passes = []
        object.__setattr__(loop.selection, "contenders", contenders)
        assert len(selection_view(loop.selection, loop.story).rows) == len(contenders)
        return len(contenders.passes)

    driven.start()
    return count


def test_a_longer_loop_is_gone_through_no_more_often(passes):
    assert passes(2) == passes(6)


def test_each_test_is_named_once_by_what_became_of_it():
    old = {"a": "p", "b": "f", "c": "p", "d": "p", "same": "p"}
    new = {"a": "f", "b": "p", "c": "s", "e": "p", "same": "p"}
    change = change_of(3, 1, old, new, ("x.py",))
    assert change == Change(3, 1, broke=("a",), fixed=("b",), skipped=("c",), new=("e",), gone=("d",), files=("x.py",))
    assert change.text == "broke: a; fixed: b; skipped: c; new: e; gone: d; files: x.py"
    assert change.moved


def test_long_lists_are_cut_and_nothing_is_no_text():
    change = change_of(1, 0, {}, {f"t{number}": "p" for number in range(9)})
    assert change.text == "new: t0, t1, t2, t3, t4 and 4 more"
    assert Change(1, 0).text == ""
    assert not Change(1, 0, files=("x",)).moved


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


def test_an_event_of_an_iteration_that_was_rolled_back_is_marked():
    (row,) = matrix_of([Change(2, 1, broke=("a",))], [(("a",), "p")] * 2 + [(("a",), "f")], undone={2}).rows
    assert (row.events, row.latest) == ("broke at 2 (undone)", 2)


@pytest.mark.parametrize(
    ("why_not_final", "refusal", "lines"),
    [
        (None, None, []),
        ("Tie: the earlier iteration is kept", None, ["Tie: the earlier iteration is kept"]),
        ("Final iteration gains no test", Refusal(4, "gains no test"), ["Not taken: 3 gains no test"]),
        ("Final iteration is not verified", Refusal(2, "breaks a"), ["Not taken: 3 breaks a"]),
        (
            "Quality degraded after iteration 1",
            Refusal(2, "breaks a"),
            ["Quality degraded after iteration 1", "Not taken: 3 breaks a"],
        ),
    ],
)
def test_each_reason_why_another_is_not_taken_is_given_once(why_not_final, refusal, lines):
    final = SimpleNamespace(walked=SimpleNamespace(refusal=refusal))
    passed_over = () if refusal is None else (f"Not taken: 3 {refusal.why}",)
    selection = SimpleNamespace(why_not_final=why_not_final, passed_over=passed_over, final=final)
    assert list(why_others_are_not_taken(selection)) == lines
