"""A clock that goes back by a day between iterations: order, numbers, ages and durations stay right."""

import json
import re

import pytest

from ..conftest import HANDS_ON  # noqa: TID252  # a check that is as fast as a shell
from .outsider import kept_of, restorable, tree_of

DAY_S = 86_400
SHIFTS = (0, -DAY_S, -DAY_S, 0, -2 * DAY_S)

pytestmark = [pytest.mark.faults, pytest.mark.slow]


@pytest.fixture
def lived(workshop, shell, preloaded):
    """Return a loop each of whose iterations was recorded by another clock, with the trees and what was printed."""
    trees, records = {}, []
    workshop.commit()
    for number, shift in enumerate(SHIFTS):
        workshop.passing(4 + number).write("made.txt", f"{number}\n" * 50)
        at = shell(workshop.root, more={"LD_PRELOAD": preloaded, "CLOCK_SHIFT_S": str(shift)})
        hook = ("post-iteration", "--iteration", str(number)) if number else ("pre-loop",)
        told = at.call("hook", *hook, "--json")
        assert (told.code, told.err) == (0, "")
        records.append(json.loads(told.out)["iteration_metrics"])
        trees[number] = kept_of(tree_of(workshop.root))
        decided = at.call("hook", "loop-decision", "--json")
        assert decided.code == 0, decided
    return workshop, at, trees, records


def test_iterations_keep_their_order_and_come_back(lived):
    _, at, trees, records = lived
    stamps = [record["timestamp"][:10] for record in records]
    assert stamps[1] < stamps[0], "the clock was not shifted"
    history, status, verified = at.ask(("history", "--json"), ("status", "--json"), ("verify",))
    listed = [each["iteration_metrics"] for each in json.loads(history.out)]
    assert [each["iteration"] for each in listed] == list(range(len(SHIFTS)))
    assert [each.get("previous_iteration") for each in listed] == [None, *range(len(SHIFTS) - 1)]
    assert [each["testing"]["tests_passed"] for each in listed] == [4 + number for number in range(len(SHIFTS))]
    assert json.loads(status.out)["iteration"] == len(SHIFTS) - 1
    assert verified.code == 0, verified
    assert {number: kept_of(tree) for number, tree in restorable(at).items()} == trees


def test_no_age_and_no_duration_is_negative(lived):
    _, at, _, records = lived
    told = at.ask(("status",), ("status", "--json"), ("history",), ("report",), ("show",), ("show", "--json"))
    told += [at.call("hook", "post-loop"), at.call("report")]
    for each in told:
        assert each.code == 0, each
        assert not re.search(r"-\d+(\.\d+)? (s|min|h|d)\b", each.out), each.out
        assert not re.search(r'"(duration_s|elapsed_s|age_s)": -', each.out), each.out
    assert "-" not in "".join(str(record.get("duration_s", "")) for record in records)


def test_the_loop_selects_collects_and_ends(lived):
    shop, at, trees, _ = lived
    selected = at.call("select-best")
    assert f"Selected iteration {len(SHIFTS) - 1} " in selected.out
    undo = json.loads(at.call("restore", "1", "--json").out)["undo"]
    assert kept_of(tree_of(shop.root)) == trees[1]
    assert at.call("restore", "--undo", undo).code == 0
    assert kept_of(tree_of(shop.root)) == trees[len(SHIFTS) - 1]
    assert at.call("gc", "--yes", "--keep-last", "1").code == 0
    kept = {number: kept_of(tree) for number, tree in restorable(at).items()}
    assert kept.keys() >= {0, len(SHIFTS) - 1}
    assert all(trees[number] == tree for number, tree in kept.items())


def test_a_run_goes_on_and_ends_by_its_limits(workshop, shell, preloaded):
    workshop.configure({"tests": HANDS_ON}, loop={"max_iterations": 2, "max_minutes": 5}).commit()
    back = shell(workshop.root, more={"LD_PRELOAD": preloaded, "CLOCK_SHIFT_S": str(-DAY_S)})
    assert shell(workshop.root).call("hook", "pre-loop").code == 0
    told = back.call("run", "--resume", "--", "/bin/sh", "-c", "echo ok; date +%s%N > made")
    assert told.code == 0, told
    assert "Iteration limit reached: 2 of 2" in told.out
    assert not re.search(r"-\d+ min", told.out + told.err)
