"""Believed tests that fail are run once more: what is run, what counts then, and what stays as first measured."""

import pytest

from ralph_tracker.core.known_tests import KnownTests
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, Metrics, TestResults
from ralph_tracker.iteration.repeat_failing import MOST_FILES, believed_tests, repeat_failing
from ralph_tracker.measure.report_totals import CheckTotals

P, F = PASSED, FAILED


def measured(**outcomes: str) -> CheckTotals:
    how = list(outcomes.values())
    counts = Metrics(len(how), how.count(P), how.count(F), coverage_percentage=80.0)
    messages = {name: "first" for name, each in outcomes.items() if each == F}
    return CheckTotals(counts, TestResults(outcomes, messages=messages), notes=("before",))


class Again:
    """Give outcomes, and remember what was asked."""

    def __init__(self, **outcomes: str) -> None:
        self.outcomes, self.asked = outcomes, []

    def __call__(self, tests):
        self.asked.append(set(tests))
        return self.outcomes


def test_one_that_passes_then_is_flaky_and_counts_as_passed(tmp_path):
    again = Again(a=P, b=P, red=P)
    found = repeat_failing(measured(a=F, b=P, red=F), {"a", "b"}, tmp_path, again)
    assert again.asked == [{"a"}]
    assert found.tests == TestResults(
        {"a": P, "b": P, "red": F}, {}, frozenset("a"), {"a": "first", "red": "first"}, failed_first=frozenset("a")
    )
    assert (found.metrics.tests_passed, found.metrics.tests_failed, found.metrics.test_count) == (2, 1, 3)
    assert (found.metrics.coverage_percentage, found.notes) == (80.0, ("before",))


@pytest.mark.parametrize(
    ("again", "note"),
    [
        (Again(a=F, b=F), "failed again when repeated: 1 test"),
        (Again(a=SKIPPED), "failed again when repeated: 1 test"),
        (Again(b=F), "failed, and not in the report when repeated: a"),
    ],
)
def test_one_that_does_not_pass_then_stays_as_it_was(tmp_path, again, note):
    first = measured(a=F, b=P)
    assert repeat_failing(first, {"a", "b"}, tmp_path, again) == first._replace(notes=("before", note))


def test_nothing_is_run_where_no_believed_test_of_ours_fails(tmp_path):
    again = Again()
    for totals in (measured(a=P, red=F), CheckTotals(Metrics(), None), measured(**{"held-back:x::t": F})):
        assert repeat_failing(totals, {"a", "held-back:x::t"}, tmp_path, again) is totals
    assert not again.asked


@pytest.mark.parametrize("files", [MOST_FILES, MOST_FILES + 1])
def test_tests_of_more_than_20_files_are_not_repeated(tmp_path, files):
    names = [f"test_{number}.py::{name}" for number in range(files) for name in "ab"]
    for name in names[:files]:  # those of the others are told by the ids alone
        (tmp_path / name.partition("::")[0]).touch()
    again = Again()
    found = repeat_failing(measured(**dict.fromkeys(names, F)), names, tmp_path, again)
    told = f"not repeated: {2 * files} tests that passed before fail in {files} files, more than 20"
    assert (len(again.asked), told in found.notes) == ((1, False) if files == MOST_FILES else (0, True))


def test_believed_is_what_passed_when_last_reported():
    known = KnownTests({"a": P, "b": F, "c": P}, {"gone": P, "d": F})
    assert believed_tests(known) == {"a", "c", "gone"}
