"""What is found of an iteration: verified or not, and alerts that stay open (semantics § 0, § 5, § 8)."""

import pytest

from ralph_tracker.core.metrics import Group

P, F, S = "passed", "failed", "skipped"
NO_TESTS = {"test_count": None, "tests_passed": None, "tests_failed": None, "tests_skipped": None}


def counts(count, passed, failed):
    return {"test_count": count, "tests_passed": passed, "tests_failed": failed, "tests_skipped": None}


class TestVerified:
    @pytest.mark.parametrize(
        ("before", "now", "expected"),
        [
            pytest.param({}, {}, True, id="nothing wrong"),
            pytest.param({}, {"build_status": "failure"}, False, id="the build failed"),
            pytest.param({}, {"build_status": None}, True, id="the build is not known to have failed"),
            pytest.param({}, NO_TESTS, False, id="tests were not measured"),
            pytest.param(NO_TESTS, NO_TESTS, True, id="the loop has no tests"),
            pytest.param(NO_TESTS | {"pass_rate": 90.0}, NO_TESTS | {"pass_rate": 90.0}, True, id="only their rate"),
            pytest.param({}, counts(0, 0, 0), False, id="all tests deleted"),
            pytest.param({}, counts(9, 9, 0), True, id="a test deleted"),
            pytest.param({}, counts(6, 6, 0), False, id="more than a third deleted"),
            pytest.param({}, counts(10, 9, 1), False, id="a working test fails"),
            pytest.param({}, counts(10, 9, 0), True, id="a working test skipped"),
            pytest.param({}, {"coverage_percentage": 10.0}, True, id="coverage lost: HIGH"),
            pytest.param(counts(10, 5, 5), counts(10, 5, 5), True, id="tests fail that failed before"),
        ],
    )
    def test_an_iteration(self, start, before, now, expected):
        assert start(**before).turn(**now).verified is expected

    def test_an_alert_that_an_earlier_iteration_raised_un_verifies_no_later_one(self, start):
        loop = start()
        assert not loop.turn(**counts(6, 6, 0)).verified
        later = loop.turn(**counts(7, 7, 0))
        assert (later.verified, bool(later.open_alerts)) == (True, True)

    @pytest.mark.parametrize(
        ("now", "expected"),
        [
            pytest.param({"a": P, "b": S, "c": P}, True, id="skipped while another one came"),
            pytest.param({"a": P}, False, id="one of two is gone"),
            pytest.param({"a": P, "c": P}, True, id="replaced: it may be renamed"),
            pytest.param({"a": P, "b": P, "c": F}, True, id="red from birth"),
        ],
    )
    def test_an_iteration_by_the_names_of_its_tests(self, start, now, expected):
        assert start(tests={"a": P, "b": P}).turn(tests=now).verified is expected

    def test_an_infinite_loop_does_not_un_verify(self, start):
        loop = start(tree="b")
        loop.turns(10, tree="b", coverage_percentage=90.0)
        record = loop.turn(tree="a", tree_visits=2, tree_last=0)
        assert loop.kinds[0] == "infinite_loop"
        assert record.verified


class TestOpenAlerts:
    def test_deleting_tests_does_not_become_invisible_one_iteration_later(self, start):
        loop = start(tests={"a": P, "b": P, "c": P})
        loop.turn(tests={"a": P, "b": P})
        loop.turn(tests={"a": P, "b": P, "new": P})
        assert loop.kinds == []
        assert loop.open_kinds == ["test_deletion", "functionality_loss"]
        assert [record.decision.action for record in loop.records[1:]] == ["rollback", "continue"]

    @pytest.mark.parametrize(
        ("tests", "open_kinds", "closed"),
        [
            pytest.param({"a": P, "b": P}, [], ("it1-test_deletion", "it1-functionality_loss"), id="back and passing"),
            pytest.param({"a": P, "b": F}, ["test_deletion", "functionality_loss"], (), id="back and failing"),
            pytest.param({"a": P, "b": S}, ["test_deletion", "functionality_loss"], (), id="back and skipped"),
            pytest.param({"a": P, "c": P}, ["test_deletion", "functionality_loss"], (), id="another one"),
            pytest.param(None, ["test_deletion", "functionality_loss"], (), id="no report"),
        ],
    )
    def test_a_deleted_test_by_name(self, start, tests, open_kinds, closed):
        loop = start(tests={"a": P, "b": P})
        loop.turn(tests={"a": P})
        loop.turn(**NO_TESTS) if tests is None else loop.turn(tests=tests)
        assert (loop.open_kinds, loop.last.closed_alerts) == (open_kinds, closed)

    @pytest.mark.parametrize(
        ("now", "open_kinds"),
        [
            pytest.param(counts(10, 10, 0), [], id="both are back"),
            pytest.param(counts(10, 9, 1), ["functionality_loss"], id="only the count"),
            pytest.param(counts(9, 9, 0), ["test_deletion", "functionality_loss"], id="neither"),
            pytest.param(NO_TESTS, ["test_deletion", "functionality_loss"], id="not measured"),
        ],
    )
    def test_a_deleted_test_by_the_count(self, start, now, open_kinds):
        loop = start()
        loop.turn(**counts(9, 9, 0))
        loop.turn(**now)
        assert loop.open_kinds == open_kinds

    @pytest.mark.parametrize(("passed", "failed", "is_open"), [(9, 1, True), (10, 0, False)])
    def test_a_failing_test_by_the_count(self, start, passed, failed, is_open):
        loop = start()
        loop.turn(**counts(10, 9, 1))
        loop.turn(**counts(10, passed, failed))
        assert (loop.open_kinds == ["working_tests_failing"]) is is_open

    def test_a_missing_metric_is_told_once_and_closes_when_measured(self, start):
        loop = start()
        loop.turn(coverage_percentage=None, missing={"coverage": "no report"})
        assert (loop.kinds, loop.open_kinds) == (["metric_missing"], [])
        loop.turn(coverage_percentage=None, missing={"coverage": "still none"})
        assert (loop.kinds, loop.open_kinds) == ([], ["metric_missing"])
        loop.turn()
        assert (loop.open_kinds, loop.last.closed_alerts) == ([], ("it1-metric_missing-coverage",))

    def test_another_group_that_goes_missing_is_told_beside_it(self, start):
        loop = start()
        loop.turn(coverage_percentage=None)
        loop.turn(coverage_percentage=None, build_status=None)
        assert [alert.group for alert in loop.last.alerts] == ["build"]
        assert [alert.group for alert in loop.last.open_alerts] == ["coverage"]

    @pytest.mark.parametrize(
        "worse",
        [{"coverage_percentage": 50.0}, {"lint_errors": 9}, {"file_count": 1}, {"complexity_score": 9.0}],
        ids=lambda worse: next(iter(worse)),
    )
    def test_the_others_last_one_iteration(self, start, worse):
        loop = start()
        loop.turn(**worse)
        assert len(loop.kinds) == 1
        loop.turn(**worse)
        assert (loop.kinds, loop.open_kinds, loop.last.closed_alerts) == ([], [], ())

    def test_the_earliest_decides_where_to_go_back_to(self, start):
        loop = start(tests={"a": P, "b": P, "c": P})
        loop.turn(tests={"a": P, "b": P, "c": P}, coverage_percentage=90.0)
        loop.turn(tests={"a": P, "b": P}, coverage_percentage=95.0)
        record = loop.turn(tests={"a": P}, coverage_percentage=99.0)
        assert record.decision.target_iteration == 1
        assert [alert.rollback_to for alert in (*record.alerts, *record.open_alerts)] == [1] * 4

    def test_there_is_nothing_to_go_back_to_where_nothing_was_measured(self, start):
        loop = start(**NO_TESTS, configured=frozenset({Group.TESTS}))
        record = loop.turn(**NO_TESTS, not_loaded={"tests": "no such module"})
        assert (record.decision.action, record.decision.rule) == ("stop", 4)


class TestNothingIsLaundered:
    """A report that goes missing for a turn changes nothing that comes after it."""

    def test_a_test_that_broke_meanwhile(self, start):
        loop = start(tests={"a": P, "b": P})
        loop.turn(**NO_TESTS)
        loop.turn(tests={"a": P, "b": F})
        assert loop.kinds == ["working_tests_failing"]
        assert loop.last.classification == "regression"

    def test_a_test_that_was_deleted_meanwhile(self, start):
        loop = start(tests={"a": P, "b": P})
        loop.turn(**NO_TESTS)
        loop.turn(tests={"a": P})
        assert loop.kinds == ["test_deletion", "functionality_loss"]

    def test_a_test_that_comes_back_broken(self, start):
        loop = start(tests={"a": P, "b": P})
        loop.turn(tests={"a": P})
        loop.turn(tests={"a": P, "b": F})
        assert loop.kinds == ["working_tests_failing"]

    def test_coverage_that_fell_meanwhile(self, start):
        loop = start()
        loop.turn(coverage_percentage=None)
        loop.turn(coverage_percentage=70.0)
        assert loop.kinds == ["coverage_regression"]
        assert loop.last.from_previous["coverage_delta"] == -10.0

    def test_deltas_compare_with_the_last_that_measured_it(self, start):
        loop = start()
        loop.turn(coverage_percentage=None)
        assert "coverage_delta" not in loop.last.from_previous
        loop.turn(coverage_percentage=85.0)
        assert loop.last.from_previous["coverage_delta"] == 5.0
