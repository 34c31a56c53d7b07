"""What an iteration changed, by name and in words."""

from ralph_tracker.report.iteration_changes import Change, change_of


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
