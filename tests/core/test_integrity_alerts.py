"""What the judge makes of findings and of earlier tests: verdict, alerts and their life, scores, best and decision."""

import pytest

from ralph_tracker.core.integrity_result import EarlierTests, Finding, Integrity, Rerun, Severity
from ralph_tracker.core.metrics import Group
from ralph_tracker.core.thresholds import SELECTION_MODES, Thresholds
from ralph_tracker.iteration.gate_worktree import UNPROVEN, gate_of

P, F, S = "passed", "failed", "skipped"
TEN = {f"t{number}": P for number in range(10)}
CLEAN = Integrity()


def found(rule, severity="HIGH", about="x", tests=(), file="tests/test_box.py", line=3):
    return Finding(
        rule=rule, severity=Severity[severity], message="a fact", file=file, line=line, tests=tests, about=about
    )


def integrity(*findings, **more):
    return Integrity(findings=findings, **more)


@pytest.fixture
def loop(start):
    """Return a loop whose files are compared, with ten passing tests."""
    return start(tests=TEN, integrity=CLEAN)


class TestVerdict:
    @pytest.mark.parametrize(
        ("findings", "expected"),
        [
            pytest.param([], "PASS", id="nothing"),
            pytest.param([found("failure_hidden", "CRITICAL")], "TAMPERED", id="a critical one"),
            pytest.param([found("demand_changed")], "SUSPECT", id="a high one"),
            pytest.param([found("R4", "MEDIUM")], "PASS", id="notes"),
            pytest.param([found("R5"), found("R6", "CRITICAL")], "TAMPERED", id="the worst counts"),
        ],
    )
    def test_by_the_worst_finding(self, loop, findings, expected):
        assert loop.turn(tests=TEN, integrity=integrity(*findings)).integrity.verdict == expected

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            pytest.param({"tests": dict.fromkeys(TEN, S)}, "UNPROVEN", id="all are skipped"),
            pytest.param({"tests": {}}, "UNPROVEN", id="none is left"),
            pytest.param(
                dict.fromkeys(("test_count", "tests_passed", "tests_failed", "tests_skipped")),
                "UNPROVEN",
                id="no report",
            ),
            pytest.param({"tests_passed": None, "tests_failed": None, "pass_rate": 90.0}, "PASS", id="only a rate"),
        ],
    )
    def test_tests_that_did_not_run(self, loop, changes, expected):
        assert loop.turn(integrity=CLEAN, **changes).integrity.verdict == expected

    def test_where_the_machine_kept_earlier_tests_from_running(self, loop):
        by_tree = Rerun(references={}, files=(), problem="no test ran")
        assert loop.turn(tests=TEN, integrity=integrity(reruns=(by_tree,))).integrity.verdict == "PASS"
        by_machine = by_tree._replace(problem="no space left", is_interrupted=True)
        assert loop.turn(tests=TEN, integrity=integrity(reruns=(by_machine,))).integrity.verdict == "UNPROVEN"

    def test_an_open_finding_of_an_earlier_iteration_judges_none_that_follows(self, loop):
        first = loop.turn(tests=TEN, integrity=integrity(found("R6", "CRITICAL")))
        later = loop.turn(tests=TEN, integrity=integrity(found("R6", "CRITICAL")))
        assert (first.integrity.verdict, later.integrity.verdict) == ("TAMPERED", "PASS")
        assert (later.verified, [alert.id for alert in later.open_alerts]) == (True, ["it1-records_edited"])

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [({"tests": TEN}, "PASS"), ({"tests": dict.fromkeys(TEN, S)}, "UNPROVEN"), ({"test_count": None}, "PASS")],
        ids=["tests ran", "none ran", "the loop has no tests"],
    )
    def test_of_a_baseline(self, start, changes, expected):
        gone = {"tests_passed": None, "tests_failed": None, "tests_skipped": None} if "tests" not in changes else {}
        assert start(integrity=CLEAN, **changes, **gone).last.integrity.verdict == expected

    def test_there_is_none_where_nobody_compared(self, start):
        loop = start(tests=TEN)
        assert loop.last.integrity is None
        assert loop.turn(tests={"t0": P}).integrity is None

    def test_working_tests_that_fail_are_no_matter_of_trust(self, loop):
        record = loop.turn(tests={**TEN, "t0": F}, integrity=CLEAN)
        assert (loop.kinds, record.integrity.verdict) == (["working_tests_failing"], "PASS")


class TestGoneTests:
    """What is said of tests that are gone, where earlier tests were asked what became of them."""

    NINE = {name: P for name in TEN if name != "t0"}
    SIX = {name: P for name in TEN if name > "t3"}

    def asked(self, *findings, **what):
        return integrity(*findings, earlier=EarlierTests(0, **{key: frozenset(names) for key, names in what.items()}))

    @pytest.mark.parametrize(
        ("tests", "what", "kinds"),
        [
            pytest.param(NINE, {"held": ["t0"]}, ["tests_dropped"], id="few dropped"),
            pytest.param(SIX, {"held": TEN}, ["test_deletion"], id="more than a third dropped"),
            pytest.param({**NINE, "new": P}, {"held": ["t0"]}, [], id="renamed"),
            pytest.param({**SIX, "merged": P}, {"held": TEN}, [], id="merged into one"),
            pytest.param(NINE, {"retired": ["t0"]}, [], id="retired"),
            pytest.param(NINE, {}, [], id="questioned, which its finding says"),
            pytest.param({**TEN, "t0": S}, {"held": ["t0"]}, [], id="skipped"),
        ],
    )
    def test_by_what_became_of_them(self, loop, tests, what, kinds):
        record = loop.turn(tests=tests, integrity=self.asked(**what))
        assert loop.kinds == kinds
        assert (record.integrity.verdict == "PASS") is ("test_deletion" not in kinds)
        assert (record.classification == "regression") is ("test_deletion" in kinds)

    def test_what_is_said_of_them(self, loop):
        loop.turn(tests=self.NINE, integrity=self.asked(held=["t0"]))
        alert = loop.alert("tests_dropped")
        assert (alert.message, alert.note) == ("1 of 10 passing tests went, and nothing replaces it", "gone: t0")
        assert alert.tests == {"t0": P}

    def test_they_are_said_when_they_go(self, loop):
        loop.turn(tests=self.SIX, integrity=self.asked(held=TEN))
        assert loop.alert("test_deletion").message == "Test count decreased from 10 to 6"
        loop.turn(tests=self.SIX, integrity=self.asked(held=TEN))
        assert (loop.kinds, loop.open_kinds) == ([], ["test_deletion"])

    def test_the_count_need_not_fall(self, loop):
        loop.turn(tests=TEN | {"red": F}, integrity=CLEAN)
        loop.turn(tests=self.SIX | {f"red {number}": F for number in range(9)}, integrity=self.asked(held=TEN))
        assert loop.alert("test_deletion").message == "4 of 10 passing tests went, and nothing replaces them"

    @pytest.mark.parametrize("what", ["held", "retired", "fixed"])
    def test_an_open_deletion_closes_once_they_are_explained(self, loop, what):
        loop.turn(tests=self.NINE, integrity=CLEAN)
        assert loop.open_kinds == []
        record = loop.turn(tests=self.NINE, integrity=self.asked(**{what: ["t0"]}))
        assert "it1-test_deletion" in record.closed_alerts

    def test_red_tests_that_are_renamed_and_green_now_are_gains(self, start):
        before = {f"TestA::test_{number}": F for number in range(9)} | {"TestB::test_ok": P}
        after = {f"TestC::test_{number}": P for number in range(9)} | {"TestB::test_ok": P}
        loop = start(tests=before, integrity=CLEAN)
        record = loop.turn(tests=after, integrity=self.asked(fixed=before))
        assert (loop.kinds, record.integrity.verdict, record.classification) == ([], "PASS", "forward")
        assert (record.best.iteration, loop.judgements[1].walked.gained) == (1, 9)

    def test_without_runs_replaced_tests_are_a_note(self, loop):
        record = loop.turn(tests=self.NINE | {"other": P}, integrity=CLEAN)
        assert loop.alert("tests_replaced").severity is Severity.MEDIUM
        assert (record.integrity.verdict, record.verified) == ("PASS", True)
        loop.turn(tests=self.NINE | {"other": P}, integrity=CLEAN)
        assert (loop.kinds, loop.open_kinds) == ([], [])

    def test_counts_alone_fall_as_before(self, start):
        loop = start(integrity=CLEAN)
        loop.turn(test_count=9, tests_passed=9, integrity=CLEAN)
        assert loop.kinds == ["test_deletion", "functionality_loss"]


class TestLifeOfAFinding:
    def test_it_stays_open_under_its_first_id_while_it_is_found(self, loop):
        loop.turn(tests=TEN, integrity=integrity(found("R3")))
        record = loop.turn(tests=TEN, integrity=integrity(found("R3", line=90)))
        assert (loop.kinds, [alert.id for alert in record.open_alerts]) == ([], ["it1-equality_overloaded"])
        assert loop.turn(tests=TEN, integrity=CLEAN).closed_alerts == ("it1-equality_overloaded",)

    def test_a_lowered_gate_is_said_once(self, loop):
        loop.turn(tests=TEN, integrity=integrity(found("R5")))
        assert loop.turn(tests=TEN, integrity=CLEAN).open_alerts == ()

    def test_it_stays_open_where_nobody_looks(self, loop):
        loop.turn(tests=TEN, integrity=integrity(found("R3")))
        assert loop.turn(tests=TEN).open_alerts != ()

    def test_one_alert_for_all_findings_of_a_rule_as_grave_as_the_worst(self, loop):
        loop.turn(tests=TEN, integrity=integrity(found("R2", "HIGH", "a"), found("R2", "CRITICAL", "b")))
        (alert,) = loop.last.alerts
        assert (alert.id, alert.severity.name, len(alert.findings)) == ("it1-runner_forged", "CRITICAL", 2)
        assert alert.message == "tests/test_box.py:3: a fact, and 1 more"
        loop.turn(tests=TEN, integrity=integrity(found("R2", "CRITICAL", "b")))
        assert [f.about for f in loop.last.open_alerts[0].findings] == ["b"]

    def test_a_note_is_rated_lower_than_its_type(self, loop):
        loop.turn(tests=TEN, integrity=integrity(found("R4", "MEDIUM")))
        assert loop.alert("special_cased").severity is Severity.MEDIUM
        assert loop.last.decision.action == "continue"

    def test_a_new_one_of_the_same_rule_is_an_alert_of_its_own(self, loop):
        loop.turn(tests=TEN, integrity=integrity(found("R3", about="a")))
        loop.turn(tests=TEN, integrity=integrity(found("R3", about="a"), found("R3", about="b")))
        assert (loop.last.alerts[0].id, loop.last.open_alerts[0].id) == (
            "it2-equality_overloaded",
            "it1-equality_overloaded",
        )

    def test_an_accepted_one_is_clean_and_not_raised_again(self, loop):
        finding = found("demand_changed", tests=("t0",))
        loop.turn(tests=TEN, integrity=integrity(finding))
        loop.turn(tests=TEN, integrity=integrity(finding))
        again = loop.again(loop.records[1].alerts[0])
        assert [record.integrity.verdict for record in again.records] == ["PASS", "PASS", "PASS"]
        assert (again.kinds, again.open_kinds) == ([], [])
        assert again.records[1].adjusted_score == again.records[0].adjusted_score

    def test_a_critical_one_is_rolled_back(self, loop):
        record = loop.turn(tests=TEN, integrity=integrity(found("failure_hidden", "CRITICAL")))
        assert (record.decision.action, record.decision.target_iteration) == ("rollback", 0)
        assert record.message == "ALERT: Failure hidden, recommend rollback"
        assert not record.verified

    def test_a_rollback_restores_the_open_set_and_the_references(self, loop):
        loop.turn(tests=TEN, integrity=integrity(found("R3"), references={"tests/test_box.py": 0}))
        assert loop.state.lineage.references == {"tests/test_box.py": 0}
        loop.roll_back(0)
        assert loop.state.lineage.references == {}
        record = loop.turn(tests=TEN, integrity=CLEAN)
        assert (record.open_alerts, record.integrity.verdict) == ((), "PASS")

    def test_an_open_critical_one_calls_back_until_the_loop_has_overtaken_its_target(self, loop):
        forged = found("outcome_forged", "CRITICAL", tests=("t0",))
        loop.turn(tests=TEN, integrity=integrity(forged))
        assert loop.turn(tests=TEN, integrity=integrity(forged)).decision.action == "rollback"
        again = loop.again()
        more = TEN | {f"new {number}": P for number in range(9)}
        overtaken = again.turn(tests=more, integrity=integrity(forged), coverage_percentage=99.0)
        assert (overtaken.decision.action, bool(overtaken.open_alerts)) == ("continue", True)


class TestScores:
    def test_named_tests_do_not_pass(self, loop):
        told = found("outcome_forged", "CRITICAL", tests=("t0", "t1"))
        record = loop.turn(tests=TEN, integrity=integrity(told))
        assert record.quality_score == loop.records[0].quality_score
        assert record.adjusted_score < record.quality_score
        assert record.adjusted_because == "8 of 10 tests pass and are believed"

    def test_tests_that_pass_by_a_changed_demand_are_believed(self, loop):
        record = loop.turn(tests=TEN, integrity=integrity(found("demand_changed", tests=("t0",))))
        assert record.adjusted_score == loop.records[0].adjusted_score

    @pytest.mark.parametrize("told", [found("R4", "MEDIUM", tests=("t0",)), found("R5", "MEDIUM", tests=("t0",))])
    def test_tests_that_a_note_names_are_believed(self, loop, told):
        record = loop.turn(tests=TEN, integrity=integrity(told))
        assert record.adjusted_score == loop.records[0].adjusted_score

    @pytest.mark.parametrize(
        ("suppressions", "lower"),
        [({"lint": 2}, True), ({"types": 2}, True), ({"coverage": 2}, False), ({"lint": -2, "types": -1}, False)],
        ids=["lint", "types", "coverage is told only", "fewer than before"],
    )
    def test_new_suppressions_count_as_findings(self, loop, suppressions, lower):
        record = loop.turn(tests=TEN, integrity=integrity(suppressions=suppressions))
        assert (record.adjusted_score < record.quality_score) is lower
        assert ("2 new suppressions count as findings" in record.adjusted_because) is lower
        assert loop.state.lineage.suppressions == suppressions

    def test_where_no_lint_error_counts_they_are_warnings(self, start):
        changes = {"lint_errors": None, "type_errors": None}
        loop = start(tests=TEN, integrity=CLEAN, **changes)
        record = loop.turn(tests=TEN, integrity=integrity(suppressions={"lint": 3}), **changes)
        assert record.adjusted_score < record.quality_score

    def test_one_of_a_whole_file_counts_by_what_it_may_hide(self, start):
        loop = start(tests=TEN, lint_errors=12, lint_warnings=3, type_errors=4, error_count=16)
        found = integrity(suppressions={"lint": 1, "types": 0, "coverage": 1}, blanket=frozenset({"lint", "coverage"}))
        clean = {"lint_errors": 2, "lint_warnings": 4, "type_errors": 0, "error_count": 2}
        loop.turn(tests=TEN, integrity=found, **clean)
        assert loop.state.lineage.suppressions == {"lint": 11, "types": 0, "coverage": 1}
        # Judged again, and while the findings stay away, it counts the same.
        loop.turn(tests=TEN, integrity=integrity(suppressions={"lint": 11}), **clean)
        assert loop.state.lineage.suppressions == {"lint": 11}

    def test_suppressions_are_carried_where_nobody_looks(self, loop):
        loop.turn(tests=TEN, integrity=integrity(suppressions={"lint": 2}))
        loop.turn(tests=TEN)
        assert loop.state.lineage.suppressions == {"lint": 2}

    def test_the_four_kinds_of_gaming_never_reach_the_peak(self, start):
        """Base with a bug, real fix, then: the test deleted, skipped, made vacuous, the result hard-coded."""
        red, green = {**TEN, "t0": F}, TEN
        gamed = [
            ({name: P for name in TEN if name != "t0"}, integrity(found("failure_hidden", "CRITICAL", tests=("t0",)))),
            ({**TEN, "t0": S}, integrity(found("failure_hidden", "CRITICAL", tests=("t0",)))),
            (green, integrity(found("green_by_edit", tests=("t0",)))),
            (green, integrity(found("R4", tests=("t0",)))),
        ]
        loop = start(tests=red, integrity=CLEAN)
        loop.turn(tests=green, integrity=CLEAN)
        verdicts = []
        for tests, told in gamed:
            loop.roll_back(0)
            verdicts.append(loop.turn(tests=tests, integrity=told).integrity.verdict)
        assert verdicts == ["TAMPERED", "TAMPERED", "SUSPECT", "SUSPECT"]
        assert {record.best.iteration for record in loop.records[1:]} == {1}
        assert loop.select().selected.iteration == 1


class TestBest:
    def test_a_suspect_one_is_taken_with_a_gain_and_not_without(self, loop):
        loop.turn(tests=TEN, integrity=integrity(found("R5")))
        assert loop.last.best.iteration == 0
        assert loop.turn(tests=TEN | {"new": P}, integrity=integrity(found("R5"))).best.iteration == 2

    def test_a_tampered_one_is_only_selected_by_its_quality(self, start):
        loop = start(tests={}, base={"build_status": "failure"}, integrity=CLEAN)
        loop.turn(tests=TEN, build_status="failure", integrity=CLEAN)
        loop.turn(tests=TEN, build_status="success", integrity=integrity(found("R2", "CRITICAL")))
        selected = {mode: loop.select(mode=mode).selected.iteration for mode in SELECTION_MODES}
        assert selected == {**dict.fromkeys(SELECTION_MODES, 0), "highest_quality": 2}

    def test_where_nothing_ran_the_baseline_stays(self, start):
        nothing_ran = {"tests": dict.fromkeys(TEN, S), "integrity": CLEAN}
        loop = start(**nothing_ran)
        loop.turn(**nothing_ran)
        assert loop.last.integrity.verdict == "UNPROVEN"
        for mode in SELECTION_MODES:
            selection = loop.select(mode=mode)
            assert selection.selected.iteration == 0
            assert "Integrity: UNPROVEN; read its findings before you rely on it" in selection.rationale


class TestDecision:
    TARGET = Thresholds()._replace(loop=Thresholds().loop._replace(target_score=0.85, max_iterations=None))

    @pytest.mark.parametrize(
        ("told", "action"),
        [
            pytest.param(CLEAN, "stop", id="clean"),
            pytest.param(None, "stop", id="nobody compared"),
            pytest.param(integrity(found("R4", "MEDIUM")), "stop", id="a note"),
            pytest.param(integrity(found("R5")), "continue", id="suspect"),
        ],
    )
    def test_the_target_is_reached_with_a_score_that_is_believed(self, start, told, action):
        loop = start(thresholds=self.TARGET, tests=dict.fromkeys(TEN, F), integrity=CLEAN)
        assert loop.turn(tests=TEN, integrity=told).decision.action == action


class TestDocuments:
    def test_a_record_says_what_was_found(self, loop):
        told = integrity(
            found("failure_hidden", "CRITICAL", tests=("t0",)),
            earlier=EarlierTests(0, held=frozenset(["t9"]), met=frozenset(["t9 moved"])),
            suppressions={"lint": 1},
            unread={"big.py": "larger than 2 MB"},
            reruns=(Rerun(references={"tests/test_box.py": 0}, files=("tests/test_box.py",), tests=3, failed=1),),
        )
        after = {name: P for name in TEN if name != "t9"} | {"t9 moved": P}
        document = loop.turn(tests=after, integrity=told).to_dict()["iteration_metrics"]
        trust = document["integrity"]
        assert trust["verdict"] == "TAMPERED"
        assert [(each["references"], each["failed"]) for each in trust["reruns"]] == [({"tests/test_box.py": 0}, 1)]
        assert trust["suppressions"] == {"lint": 1, "types": 0, "coverage": 0}
        assert (trust["earlier_tests"]["held"], trust["earlier_tests"]["met"]) == (1, 1)
        assert trust["unread"] == {"big.py": "larger than 2 MB"}
        (listed,) = trust["findings"]
        assert (listed["rule"], listed["file"], listed["line"], listed["tests"]) == (
            "failure_hidden",
            "tests/test_box.py",
            3,
            ["t0"],
        )
        (alert,) = (each for each in document["alerts"] if each["type"] == "failure_hidden")
        assert (alert["findings"], alert["findings_total"]) == ([listed], 1)

    def test_a_record_that_nobody_compared_says_nothing(self, start):
        assert start(tests=TEN).last.to_dict()["iteration_metrics"]["integrity"] is None

    def test_the_selection_says_the_verdict_of_what_it_selects(self, loop):
        document = loop.select().to_dict()
        assert document["best_output_selection"]["integrity"] == "PASS"


class TestGate:
    def test_unproven_is_not_measured(self, start):
        nothing_ran = {"tests": dict.fromkeys(TEN, S), "integrity": CLEAN}
        loop = start(**nothing_ran)
        gate = gate_of(loop.turn(**nothing_ran), 0, {})
        assert (gate.verdict, gate.unproven) == ("not_measured", True)
        assert gate.reasons == (UNPROVEN.format(why="tests of the loop did not run"),)
        assert gate.next_step is not None
        assert gate.to_dict()["integrity"]["verdict"] == "UNPROVEN"

    def test_tampered_is_a_regression(self, loop):
        gate = gate_of(loop.turn(tests=TEN, integrity=integrity(found("R2", "CRITICAL"))), 0, {})
        assert gate.verdict == "regression"
        assert gate.reasons == ("runner_forged: tests/test_box.py:3: a fact",)
        assert [alert.type for alert in gate.findings] == ["runner_forged"]

    def test_suspect_passes_unless_it_is_strict(self, loop):
        record = loop.turn(tests=TEN, integrity=integrity(found("R5")))
        assert gate_of(record, 0, {}).verdict == "pass"
        strict = gate_of(record, 0, {}, strict=True)
        assert (strict.verdict, strict.reasons) == (
            "regression",
            ("SUSPECT, and --strict was asked for: tests/test_box.py:3: a fact",),
        )
        assert gate_of(loop.turn(tests=TEN, integrity=CLEAN), 0, {}, strict=True).verdict == "pass"


class TestBrokenBuild:
    BROKEN = {"not_loaded": {"tests/test_a.py": "tests/test_a.py: SyntaxError: invalid syntax (a.py:3)"}}
    ALL = {"tests.test_a::x": P, "tests.test_a::y": P, "tests.test_b::z": P}
    LEFT = {"tests.test_b::z": P}

    def test_tests_of_a_file_that_does_not_load_are_not_deleted(self, start):
        loop = start(tests=self.ALL, integrity=CLEAN)
        record = loop.turn(tests=self.LEFT, integrity=CLEAN, **self.BROKEN)
        assert (loop.kinds, record.classification, record.integrity.verdict) == (
            ["build_broken"],
            "regression",
            "UNPROVEN",
        )
        assert loop.alert("build_broken").message == (
            "Does not build: tests/test_a.py: SyntaxError: invalid syntax (a.py:3)"
        )
        assert "2 tests are not collected" in loop.alert("build_broken").note
        assert (record.decision.action, record.decision.target_iteration, record.verified) == ("rollback", 0, False)

    def test_it_closes_when_it_builds_again(self, start):
        loop = start(tests=self.ALL, integrity=CLEAN)
        loop.turn(tests=self.LEFT, integrity=CLEAN, **self.BROKEN)
        still = loop.turn(tests=self.LEFT, integrity=CLEAN, **self.BROKEN)
        assert (loop.kinds, still.integrity.verdict, loop.open_kinds) == ([], "UNPROVEN", ["build_broken"])
        assert loop.turn(tests=self.ALL, integrity=CLEAN).closed_alerts == ("it1-build_broken",)

    def test_without_any_report(self, start):
        loop = start(tests=self.ALL, integrity=CLEAN)
        gone = dict.fromkeys(("test_count", "tests_passed", "tests_failed", "tests_skipped"))
        record = loop.turn(integrity=CLEAN, not_loaded={"tests": "src/lib.rs:3: error[E0425]"}, **gone)
        assert loop.kinds == ["build_broken", "metric_missing"]
        assert loop.alert("build_broken").note == "no test was collected"
        assert record.integrity.verdict == "UNPROVEN"

    def test_a_new_test_file_that_never_loaded_breaks_nothing(self, start):
        loop = start(tests=self.ALL, integrity=CLEAN)
        loop.turn(tests=self.ALL, integrity=CLEAN, not_loaded={"tests/test_new.py": "SyntaxError"})
        assert loop.kinds == []

    def test_what_is_deleted_while_it_does_not_load_is_missed_once_the_rest_loads(self, start):
        loop = start(tests=self.ALL, integrity=CLEAN)
        loop.turn(tests=self.LEFT, integrity=CLEAN, **self.BROKEN)
        record = loop.turn(tests=self.LEFT, integrity=CLEAN)
        assert (loop.kinds, record.closed_alerts) == (["tests_replaced"], ("it1-build_broken",))
        assert set(loop.alert("tests_replaced").tests) == {"tests.test_a::x", "tests.test_a::y"}
        assert record.integrity.verdict == "PASS"

    def test_one_of_two_files_that_loads_again_ends_the_wait_for_its_tests_only(self, start):
        loop = start(tests=self.ALL, integrity=CLEAN)
        both = {**self.BROKEN["not_loaded"], "tests/test_b.py": "SyntaxError"}
        loop.turn(tests={"other": P}, integrity=CLEAN, not_loaded=both)
        record = loop.turn(tests={"other": P}, integrity=CLEAN, **self.BROKEN)
        assert set(loop.alert("tests_replaced").tests) == {"tests.test_b::z"}
        assert set(record.open_alerts[0].tests) == {"tests.test_a::x", "tests.test_a::y"}

    def test_a_test_that_was_deleted_before_is_not_waited_for(self, start):
        loop = start(tests=self.ALL, integrity=CLEAN)
        loop.turn(tests={**self.LEFT, "tests.test_a::x": P}, integrity=CLEAN)
        loop.turn(tests=self.LEFT, integrity=CLEAN, **self.BROKEN)
        assert set(loop.alert("build_broken").tests) == {"tests.test_a::x"}

    @pytest.mark.parametrize("tests", [LEFT, None], ids=["a file", "everything"])
    def test_what_did_not_build_before_the_loop_was_not_broken_by_it(self, start, tests):
        gone = dict.fromkeys(("test_count", "tests_passed", "tests_failed", "tests_skipped"))
        now = {"integrity": CLEAN, **self.BROKEN, **(gone if tests is None else {"tests": tests})}
        loop = start(configured=frozenset({Group.TESTS}), **now)
        assert "build_broken" not in loop.kinds
        assert loop.turn(**now).decision.action == "continue"

    def test_what_is_deleted_while_something_else_does_not_load_is_deleted(self, start):
        loop = start(tests=self.ALL, integrity=CLEAN)
        loop.turn(tests={}, integrity=CLEAN, **self.BROKEN)
        assert set(loop.kinds) == {"build_broken", "test_deletion"}
        assert loop.alert("test_deletion").tests == {"tests.test_b::z": P}
