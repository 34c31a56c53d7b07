"""Laws of which iteration is kept (semantics § 8): what may take the place, what may not, what a finding changes."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ralph_tracker.core.integrity_result import EarlierTests, Finding, Integrity, Severity
from ralph_tracker.core.thresholds import SELECTION_MODES, SelectionThresholds, Thresholds

law = settings(deadline=None)

P, F, S = "passed", "failed", "skipped"
NAMES = "abcdef"
SOME = st.frozensets(st.sampled_from(NAMES), max_size=3)
# One test of every iteration passes, so that the loop has tests.
NAMED = st.dictionaries(st.sampled_from(NAMES), st.sampled_from([P, P, F, S]), max_size=6).map(
    lambda outcomes: {"always": P} | outcomes
)
COUNTS = st.tuples(*[st.integers(0, 9)] * 3).map(
    lambda counts: (
        dict(zip(("tests_passed", "tests_failed", "tests_skipped"), counts, strict=True)) | {"test_count": sum(counts)}
    )
)
OTHER = st.fixed_dictionaries(
    {},
    optional={
        "lint_errors": st.integers(0, 20),
        "coverage_percentage": st.sampled_from([70.0, 79.0, 80.0, 80.2]),
        "build_status": st.sampled_from(["success", "success", "success", "failure"]),
    },
)
RULES = ["failure_hidden", "green_by_edit", "demand_changed", "outcome_forged", "unproven", "R1", "R2", "R4", "R5", "U"]
FINDINGS = st.builds(
    lambda rule, severity, file, tests: Finding(rule, severity, "a fact", file, tests=tuple(sorted(tests))),
    st.sampled_from(RULES),
    st.sampled_from(Severity),
    st.sampled_from(["test_a.py", "test_b.py"]),
    SOME,
)
# One that no other iteration has.
OWN = FINDINGS.map(lambda finding: finding._replace(file="test_own.py"))
EARLIER = st.none() | st.builds(
    EarlierTests, against=st.just(0), held=SOME, retired=SOME, fixed=SOME, met=SOME, no_gain=SOME
)
LOOKED = st.builds(
    lambda found, earlier: Integrity(findings=tuple(found), earlier=earlier),
    st.lists(FINDINGS, max_size=2, unique_by=lambda finding: finding.key),
    EARLIER,
)
REPORTS = {
    "named": NAMED.map(lambda named: {"tests": named}),
    "counted": COUNTS,
    "without tests": st.just({}),
    "given": st.builds(lambda tests, score: {"tests": tests, "score": score / 9}, NAMED, st.integers(0, 9)),
}
KINDS = st.sampled_from(sorted(REPORTS))
BASE = {"lint_errors": 0, "coverage_percentage": 80.0, "build_status": "success"}


@st.composite
def loops(draw, kinds=KINDS, least=2):
    """Draw the values of the iterations of a loop whose files were looked into; a baseline has nothing to be found."""
    kind = draw(kinds)
    turn = st.builds(lambda report, other, found: other | report | {"integrity": found}, REPORTS[kind], OTHER, LOOKED)
    first = st.builds(lambda report, other: other | report | {"integrity": Integrity()}, REPORTS[kind], OTHER)
    return [draw(first), *draw(st.lists(turn, min_size=least - 1, max_size=4))]


def run(start, first, *later, **settings):
    loop = start(base=BASE, **first, **settings)
    for turn in later:
        loop.turn(**turn)
    return loop


def accusing(turn, *findings):
    looked = turn["integrity"]
    return turn | {"integrity": looked._replace(findings=(*looked.findings, *findings))}


def again(loop, turn):
    """Return the same turn once more: no file changed, so a taken iteration is compared with itself."""
    looked, last = turn["integrity"], len(loop.judgements) - 1
    if looked.earlier is None or loop.state.kept.iteration != last:
        return turn
    return turn | {"integrity": looked._replace(earlier=EarlierTests(last))}


@law
@given(values=loops(), times=st.integers(1, 3), questions=st.sampled_from(["ask", "refuse"]))
def test_an_iteration_that_changes_nothing_changes_no_answer(start, values, times, questions):
    """Neither after one that was tampered with, nor after one that was refused for any other reason."""
    rules = Thresholds()._replace(selection=SelectionThresholds(questions=questions))
    loop = run(start, *values, thresholds=rules)
    last, answer = len(values) - 1, loop.select().selected.iteration
    for _ in range(times):
        loop.turn(**again(loop, values[-1]))
        now = loop.select().selected.iteration
        assert now >= last if answer == last else now == answer


@law
@given(values=loops(least=1), more=st.sets(st.sampled_from(["x", "y", *NAMES])), better=st.booleans())
def test_all_believed_tests_and_no_worse_score_take_the_place(start, values, more, better):
    loop = run(start, *values)
    kept = loop.state.kept
    turn = values[kept.iteration]
    assume("tests" in turn and turn.get("build_status") != "failure")
    # Where nothing can be run, a failing test that went is asked about until all that went with it are back.
    there = {*turn["tests"], *more}
    assume(all(how != F or name in there for name, how in loop.state.known.present.items()))
    assume(all(F not in alert.tests.values() for alert in loop.state.lineage.open_alerts))
    other = {"coverage_percentage": 99.0, "lint_errors": 0} if better else {}
    loop.turn(**turn | other | {"tests": turn["tests"] | dict.fromkeys(more, P), "integrity": Integrity()})
    assert loop.refusal is None
    assert loop.select().selected.iteration == len(values)


@law
@given(values=loops(st.sampled_from(["named", "counted"]), least=1), data=st.data())
def test_bending_skipping_or_deleting_a_red_test_takes_no_place(start, values, data):
    """Nor does going on as if nothing had happened."""
    loop = run(start, *values)
    kept = loop.state.kept
    turn = values[kept.iteration]
    way = data.draw(st.sampled_from(["bend", "skip", "delete"]))
    rule = ("green_by_edit", Severity.HIGH) if way == "bend" else ("failure_hidden", Severity.CRITICAL)
    if "tests" in turn:
        red = sorted(name for name, how in turn["tests"].items() if how == F)
        assume(red)
        name = data.draw(st.sampled_from(red))
        tests = {test: how for test, how in turn["tests"].items() if test != name}
        report = {"tests": tests | {"bend": {name: P}, "skip": {name: S}, "delete": {}}[way]}
    else:
        assume(turn["tests_failed"])
        name, report = "unknown", {"tests_failed": turn["tests_failed"] - 1}
        gone = {"bend": "tests_passed", "skip": "tests_skipped"}.get(way)
        report |= {gone: turn[gone] + 1} if gone else {"test_count": turn["test_count"] - 1}
    finding = Finding(*rule, "a fact", "test_red.py", tests=(name,))
    earlier = data.draw(EARLIER)
    standing = turn["integrity"].findings  # of the kept iteration: a doubt that goes away would be a gain
    looked = Integrity(findings=(*standing, finding), earlier=earlier and earlier._replace(met=frozenset()))
    for _ in range(data.draw(st.integers(1, 3))):
        loop.turn(**turn | report | {"integrity": looked})
        assert loop.refusal is not None
        assert loop.state.kept.iteration == kept.iteration


@law
@given(values=loops(), finding=OWN, questions=st.sampled_from(["ask", "refuse"]))
def test_a_finding_never_helps(start, values, finding, questions):
    """What is not taken without it is not taken with it, and its score is no higher."""
    assume(finding.severity <= Severity.HIGH)
    rules = Thresholds()._replace(selection=SelectionThresholds(questions=questions))
    *earlier, last = values
    loop = run(start, *values, thresholds=rules)
    accused = run(start, *earlier, accusing(last, finding), thresholds=rules)
    assert accused.last.adjusted_score <= loop.last.adjusted_score
    assert accused.refusal is not None or loop.refusal is None
    assert accused.last.verified <= loop.last.verified


@law
@given(values=loops(), data=st.data())
def test_to_accept_an_alert_of_an_iteration_never_costs_it_the_place(start, values, data):
    """Unless an earlier iteration raised the same finding: it is accepted there too, and that one may be kept then."""
    loop = run(start, *values)
    assume(loop.last.alerts)
    accepted = loop.again(*data.draw(st.lists(st.sampled_from(loop.last.alerts), min_size=1, unique_by=id)))
    assume(accepted.last.kept_before == loop.last.kept_before)
    assert accepted.refusal is None or loop.refusal is not None
    assert accepted.last.adjusted_score >= loop.last.adjusted_score


class TestSelection:
    @law
    @given(values=loops(), data=st.data())
    def test_what_is_selected_is_the_best_on_record_and_the_latest_that_was_taken(self, start, values, data):
        loop = run(start, values[0])
        for turn in values[1:]:
            loop.turn(**turn)
            assert loop.last.best.iteration == loop.select().selected.iteration == loop.taken[-1]
        raised = [alert for record in loop.records for alert in record.alerts]
        chosen = st.lists(st.sampled_from(raised), max_size=3, unique_by=id) if raised else st.just([])
        accepted = loop.again(*data.draw(chosen))
        assert accepted.last.best.iteration == accepted.select().selected.iteration == accepted.taken[-1]

    @law
    @given(values=loops())
    def test_each_record_says_what_was_kept_before_it_and_a_rollback_goes_there(self, start, values):
        loop = run(start, *values)
        for number, record in enumerate(loop.records[1:], start=1):
            assert record.kept_before == max(each for each in loop.taken if each < number)
            new = [alert for alert in record.alerts if alert.severity is Severity.CRITICAL]
            assert all(alert.rollback_to in {None, record.kept_before} for alert in new)

    @law
    @given(values=loops())
    def test_a_kept_iteration_is_verified_but_for_the_baseline(self, start, values):
        loop = run(start, *values)
        assert all(loop.records[number].verified for number in loop.taken[1:])

    @law
    @given(values=loops(), mode=st.sampled_from(SELECTION_MODES))
    def test_of_each_mode(self, start, values, mode):
        loop = run(start, *values)
        selection = loop.select(mode=mode)
        chosen, everyone = selection.selected, selection.contenders
        verified = [each for each in everyone if each.walked.verified]
        above = [each.iteration for each in verified if each.adjusted >= 0.7]
        pool = everyone if mode == "highest_quality" else verified
        best = max((each.walked.quality_score for each in pool), default=None)
        top = [each.iteration for each in pool if each.walked.quality_score == best]
        wanted = {"most_recent_above_threshold": above[-1:], "walk": []}.get(mode, top[:1])
        assert chosen.iteration == (wanted or loop.taken)[-1]

    @law
    @given(values=loops())
    def test_who_is_passed_over_is_named_with_the_reason(self, start, values):
        loop = run(start, *values)
        selection = loop.select()
        last, chosen = selection.final.iteration, selection.selected.iteration
        said = [line.removeprefix("Not taken: ").split()[0] for line in selection.passed_over]
        assert str(chosen) not in said
        assert (str(last) in said) is (last != chosen)
        assert len(said) <= 2


@law
@given(values=loops())
def test_alternatives_are_each_compared_with_the_baseline_and_the_one_with_most_gains_is_taken(start, values):
    rules = Thresholds()._replace(selection=SelectionThresholds(against="baseline"))
    loop = run(start, *values, thresholds=rules)
    assert {record.kept_before for record in loop.records[1:]} == {0}
    assert loop.state.kept.iteration == 0
    chosen = loop.select().selected
    taken = [each for each in loop.select().contenders if each.walked.taken]
    assert chosen.walked.gained == max(each.walked.gained for each in taken)
    assert loop.last.best.iteration == chosen.iteration


@law
@given(values=loops())
def test_judging_again_gives_the_same(start, values):
    loop = run(start, *values)
    other = loop.again()
    assert other.records == loop.records
    assert other.state == loop.state
    assert [each.walked for each in other.judgements] == [each.walked for each in loop.judgements]
