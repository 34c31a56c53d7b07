"""What is wrong with an iteration in lines: failing tests with place and message, lost ones; nothing where unknown."""

from ralph_tracker.core.known_tests import WHOLE_RUN
from ralph_tracker.iteration.open_problems import SHOWN, once_each, wrong_lines
from ralph_tracker.store.read import SealedRecords

NAMES = {f"t{number}": "passed" for number in range(9)}


def lines_of(loop, number):
    return wrong_lines(SealedRecords(loop.paths), number)


def test_failing_and_lost_tests_are_named(driven):
    driven.start(tests=NAMES)
    driven.turn(tests={name: "failed" for name in NAMES if name != "t8"})
    *failing, rest, lost = lines_of(driven, 1)
    assert failing == [f"failing: t{number}" for number in range(SHOWN)]
    assert (rest, lost) == ("failing: 3 more", "lost: t8")
    assert lines_of(driven, 0) == ()


def test_what_is_damaged_says_nothing(driven):
    driven.start(tests=NAMES)
    driven.turn(tests=NAMES | {"t0": "failed"})
    assert lines_of(driven, 1) == ("failing: t0",)
    (driven.paths.iteration(1) / "state.json").write_text("{")
    assert lines_of(driven, 1) == ()
    (driven.paths.iteration(1) / "measurement.json").write_text("{")
    assert lines_of(driven, 1) == ()


def test_an_error_of_a_file_is_told_once():
    file = {"a.go": "a.go:3: undefined: c"}
    assert once_each({WHOLE_RUN: "go exited with 2: a.go:3: undefined: c", **file}) == file
    assert once_each({WHOLE_RUN: "go exited with 2", **file}) == {WHOLE_RUN: "go exited with 2", **file}
