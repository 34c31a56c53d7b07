"""What fails now is run once more, tests and whole runs: what is run, what counts then, what stays as measured."""

import os
from functools import partial
from itertools import count

import pytest

from ralph_tracker.core.known_tests import STOPPED_RUN, WHOLE_RUN, KnownTests
from ralph_tracker.core.lineage import Lineage, PastIteration
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, Metrics, TestResults
from ralph_tracker.iteration.repeat_failing import (
    MOST_FILES,
    believed_tests,
    failed_runs,
    ran_well,
    repeat_failing,
    run_failed_again,
)
from ralph_tracker.measure.report_totals import CheckTotals, read_results
from ralph_tracker.measure.run_checks import Check, run_checks

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


REPORT = '<testsuite name="s" tests="1"><testcase classname="t" name="a"/></testsuite>'
RED = REPORT.replace("/></testsuite>", "><failure/></testcase></testsuite>")
LINT = '[{"filePath": "a.js", "messages": [], "errorCount": 0, "warningCount": 0}]'


@pytest.fixture
def runs(tmp_path):
    """Run checks of shell lines, as often as asked; return the results, what they gave, and how often each ran."""
    numbers = count()

    def run(checks):
        folder = tmp_path / str(next(numbers))
        environment = {"PATH": os.environ["PATH"]}
        return run_checks(
            checks, root=tmp_path, folder=folder / "output", reports=folder / "reports", environment=environment
        )

    def twice(*checks):
        checks = [each._replace(run=f"echo >> {each.name}.ran; {each.run}") for each in checks]
        first = run(checks)
        read = partial(read_results, root=tmp_path)
        results, totals = run_failed_again(first, read(first), read, run)
        ran = {each.name: len((tmp_path / f"{each.name}.ran").read_text()) for each in checks}
        assert [each.check.name for each in results] == [each.name for each in checks]
        return totals, ran

    return twice


def of_tests(line: str, **more) -> Check:
    return Check("tests", line, kind="tests", reports=("-",), **more)


ONCE = "test -e flag || {{ touch flag; {}; }}; "
FAILURES = {
    "a crash": ("kill -9 $$", {}),
    "a crash after the last test": (f"echo '{REPORT}'; exit 134", {}),
    "an error outside of the tests": (f"echo '{REPORT}'; exit 1", {}),
    "no report": ("exit 3", {}),
    "half a report": (f"echo '{REPORT[:40]}'; exit 1", {}),
    "a time limit": ("sleep 20", {"timeout_s": 1.0}),
}


@pytest.mark.parametrize(("line", "more"), FAILURES.values(), ids=FAILURES)
def test_a_run_that_fails_once_counts_as_it_ran_when_repeated(runs, line, more):
    totals, ran = runs(of_tests(f"{ONCE.format(line)}echo '{REPORT}'", **more))
    assert (ran, totals.metrics.tests_passed, totals.missing, totals.not_loaded) == ({"tests": 2}, 1, {}, {})
    assert totals.tests.failed_first == {WHOLE_RUN}
    assert totals.notes[0].startswith("tests: failed, and ran well when repeated: ")


def test_a_run_that_fails_again_is_the_failure_that_it_was(runs):
    totals, ran = runs(of_tests(f"echo '{REPORT}'; exit 134"))
    assert (ran, list(totals.not_loaded)) == ({"tests": 2}, [WHOLE_RUN])
    assert (totals.tests.failed_first, totals.notes) == (frozenset(), ("failed again when repeated: tests",))


@pytest.mark.parametrize(
    "line", [f"echo '{REPORT}'", f"echo '{RED}'; exit 1", "no-such-command-anywhere"], ids=["well", "red", "no command"]
)
def test_a_run_that_did_not_fail_beside_its_tests_is_not_repeated(runs, line):
    totals, ran = runs(of_tests(line))
    assert ran == {"tests": 1}
    assert not any("repeated" in note for note in totals.notes)


def test_what_a_failed_check_needs_and_what_needs_it_run_again_too(runs):
    lint = Check("lint", f"echo '{LINT}'", kind="lint", reports=("-",), needs=("tests",))
    alone = lint._replace(name="style", needs=())
    totals, ran = runs(
        Check("build", "true", kind="build"),
        of_tests(f"{ONCE.format('exit 3')}echo '{REPORT}'", needs=("build",)),
        lint,
        alone,
    )
    assert ran == {"build": 2, "tests": 2, "lint": 2, "style": 1}
    assert totals.missing == {}


@pytest.mark.parametrize(
    ("check", "repeated"),
    [
        (Check("lint", ONCE.format("exit 2") + f"echo '{LINT}'", kind="lint", reports=("-",)), True),
        (Check("build", ONCE.format("kill -9 $$"), kind="build"), True),
        (Check("build", "exit 1", kind="build"), False),
    ],
    ids=["a linter that crashed", "a build that was killed", "a build that failed"],
)
def test_of_other_checks_those_that_gave_nothing_or_were_ended_run_again(runs, check, repeated):
    totals, ran = runs(check)
    assert ran == {check.name: 2 if repeated else 1}
    assert (totals.tests, bool(totals.notes)) == (None, repeated)


def test_a_run_that_stopped_at_a_failing_test_has_not_failed_itself(runs, tmp_path):
    stopped = run_checks(
        [of_tests(f"echo '{RED}'; exit 1")],
        root=tmp_path,
        folder=tmp_path / "o",
        reports=tmp_path / "r",
        environment={"PATH": os.environ["PATH"]},
    )
    totals = read_results(stopped, root=tmp_path)
    assert failed_runs(stopped, totals._replace(not_loaded={STOPPED_RUN: "x"})) == {}
    assert failed_runs(stopped, totals._replace(not_loaded={"a.py": "SyntaxError"})) == {"tests": "SyntaxError"}


def point(*values: float | None) -> PastIteration:
    return PastIteration(1, "forward", values, None, None, 0.9)


def test_only_after_an_iteration_that_ran_well_is_a_run_repeated():
    line = Lineage(points=(point(3, 100.0, None, 0),), readings=dict.fromkeys(("test_count", "pass_rate"), None))
    assert ran_well(line)
    assert not ran_well(Lineage())
    assert not ran_well(line._replace(not_loaded=frozenset({"a.py"})))
    assert not ran_well(line._replace(points=(point(None, None, None, 0),)))
