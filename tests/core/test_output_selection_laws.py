"""Laws of what is selected (semantics § 8): what may win, what may not, and what a finding changes."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ralph_tracker.core.best_iteration import best_now, best_of
from ralph_tracker.core.integrity_result import Finding, Integrity, Severity

law = settings(deadline=None)

P, S = "passed", "skipped"
OUTCOMES = st.sampled_from([P, P, "failed", S])
# One test of every iteration passes, so that the loop has tests.
NAMED = st.dictionaries(st.sampled_from("abcdef"), OUTCOMES, max_size=6).map(lambda outcomes: {"always": P} | outcomes)
OTHER = st.fixed_dictionaries(
    {},
    optional={
        "lint_errors": st.integers(0, 20),
        "coverage_percentage": st.sampled_from([70.0, 79.0, 80.0, 80.2]),
        "build_status": st.sampled_from(["success", "success", "failure"]),
    },
)
NAMES = st.sets(st.sampled_from(["always", *"abcdef"]), max_size=3).map(lambda names: tuple(sorted(names)))
FINDINGS = st.builds(
    lambda rule, severity, file, tests: Finding(rule, severity, "what happened", file, tests=tests),
    st.sampled_from(
        ["failure_hidden", "green_by_edit", "demand_changed", "outcome_forged", "R1", "R2", "R4", "W", "U"]
    ),
    st.sampled_from(Severity),
    st.sampled_from(["test_a.py", "test_b.py"]),
    NAMES,
)
# One that no other iteration has: while a finding stands, only the iteration that raised it answers for it.
OWN = FINDINGS.map(lambda finding: finding._replace(file="test_own.py"))
LOOKED = st.lists(FINDINGS, max_size=2).map(lambda found: Integrity(findings=tuple(found)))


def turns(*, least=2):
    """Draw the values of the iterations of a loop whose files were looked into; a baseline has nothing to be found."""
    turn = st.builds(lambda named, other, found: other | {"tests": named, "integrity": found}, NAMED, OTHER, LOOKED)
    baseline = st.builds(lambda named, other: other | {"tests": named, "integrity": Integrity()}, NAMED, OTHER)
    return st.builds(lambda first, later: [first, *later], baseline, st.lists(turn, min_size=least - 1, max_size=4))


def run(start, first, *later):
    loop = start(**first)
    for turn in later:
        loop.turn(**turn)
    return loop


def candidates(loop):
    return [judgement.candidate for judgement in loop.judgements]


def order(loop, first, second):
    """Return which of two iterations is selected where there are no others."""
    return best_now([candidates(loop)[first], candidates(loop)[second]], loop.state.scorer).iteration


def accusing(turn, finding):
    return turn | {"integrity": Integrity(findings=(*turn["integrity"].findings, finding))}


@law
@given(values=turns(least=1), more=st.sets(st.sampled_from(["x", "y", "a", "b"]), min_size=1), data=st.data())
def test_more_believed_tests_and_nothing_worse_are_never_passed_over(start, values, more, data):
    """What is built on an iteration and believes all its tests and more is preferred to it, whatever comes later."""
    at = data.draw(st.integers(0, len(values) - 1))
    ahead, after = values[: at + 1], values[at + 1 :]
    better = ahead[-1] | {"tests": ahead[-1]["tests"] | dict.fromkeys(more, P), "integrity": Integrity()}
    assume(set(more) - {name for name, how in ahead[-1]["tests"].items() if how == P})
    loop = run(start, *ahead, better, *after)
    assert order(loop, at, at + 1) == at + 1
    assert loop.select().selected.iteration != at


@law
@given(values=turns(), finding=OWN, data=st.data())
def test_a_finding_never_makes_an_iteration_win(start, values, finding, data):
    at = data.draw(st.integers(1, len(values) - 1))
    accused = [*values[:at], accusing(values[at], finding), *values[at + 1 :]]
    before, after = run(start, *values), run(start, *accused)
    assert after.select().selected.iteration != at or before.select().selected.iteration == at


@law
@given(values=turns(least=4), finding=OWN, data=st.data())
def test_a_finding_never_changes_the_order_of_two_later_iterations(start, values, finding, data):
    """Scores move with |U|: a tampered iteration brings no tests, so that those which no other has are not in it."""
    at = data.draw(st.integers(1, len(values) - 3))
    first = data.draw(st.integers(at + 1, len(values) - 2))
    second = data.draw(st.integers(first + 1, len(values) - 1))
    before = run(start, *values)
    after = run(start, *values[:at], accusing(values[at], finding), *values[at + 1 :])
    pairs = [[candidates(loop)[number] for number in (first, second)] for loop in (before, after)]
    assert [each.rank for each in pairs[0]] == [each.rank for each in pairs[1]]
    if all(each.clean for each in pairs[0]):
        assert [each.believed for each in pairs[0]] == [each.believed for each in pairs[1]]
        if before.state.seen.union == after.state.seen.union:
            assert order(before, first, second) == order(after, first, second)


@law
@given(values=turns(), data=st.data())
def test_deleting_skipping_or_disbelieving_a_test_never_raises_an_iteration(start, values, data):
    """Of broken tests those that the iteration before had: one that is back and red was lost earlier.

    A broken test may have been renamed where others came in its place: only a re-run can tell that from hiding it.
    """
    *earlier, last = values
    before = run(start, *earlier, last)
    broken = [name for alert in before.last.alerts if alert.type == "working_tests_failing" for name in alert.tests]
    name = data.draw(st.sampled_from(sorted(set(last["tests"]) - {"always"}) or ["always"]))
    way = data.draw(st.sampled_from(["delete", "skip", "disbelieve"]))
    assume(name not in broken or name in earlier[-1]["tests"])
    if way == "delete":
        added = last["tests"].keys() - earlier[-1]["tests"].keys()
        assume(name not in broken or not added)
        worse = last | {"tests": {test: how for test, how in last["tests"].items() if test != name}}
    elif way == "skip":
        worse = last | {"tests": last["tests"] | {name: S}}
    else:
        worse = accusing(last, Finding("demand_changed", Severity.HIGH, "another demand", "test_c.py", tests=(name,)))
    assume(worse["tests"])
    after, at = run(start, *earlier, worse), len(earlier)
    assert candidates(after)[at].rank >= candidates(before)[at].rank
    assert candidates(after)[at].believed <= candidates(before)[at].believed
    for other in range(at):
        assert order(after, other, at) == other or order(before, other, at) == at


KINDS = st.sampled_from(["named", "counted", "without tests", "given"])


@law
@given(kind=KINDS, values=turns(), counts=st.lists(st.integers(0, 9), min_size=5, max_size=5), data=st.data())
def test_the_best_on_record_is_the_selection_over_all(start, kind, values, counts, data):
    """What is forgotten is never missed: with names or counts, without tests, with given scores, after acceptance."""
    base = {"lint_errors": 0, "coverage_percentage": 80.0, "build_status": "success"}
    for number, (turn, count) in enumerate(zip(values, counts, strict=False)):
        if kind != "named":
            del turn["tests"]
        if kind == "counted":
            turn |= {"test_count": count + number, "tests_passed": count, "tests_failed": number}
        if kind == "given":
            turn["score"] = count / 9
    loop = start(base=base, **values[0])
    for turn in values[1:]:
        loop.turn(**turn)
        agrees(loop)
    raised = [alert for record in loop.records for alert in record.alerts]
    agrees(
        loop.again(*data.draw(st.lists(st.sampled_from(raised), max_size=3, unique_by=id) if raised else st.just([])))
    )


def agrees(loop):
    everyone, scorer = candidates(loop), loop.state.scorer
    assert loop.last.best.iteration == loop.select().selected.iteration == best_now(everyone, scorer).iteration
    for best in (best_now, best_of):
        assert best(loop.state.frontier, scorer) == best(everyone, scorer)


@law
@given(values=turns(), data=st.data())
def test_accepting_more_never_holds_more_against_an_iteration(start, values, data):
    loop = run(start, *values)
    raised = [alert for record in loop.records for alert in record.alerts]
    assume(raised)
    some = data.draw(st.lists(st.sampled_from(raised), max_size=2, unique_by=id))
    more = [*some, data.draw(st.sampled_from(raised))]
    for one, other in zip(loop.again(*some).judgements, loop.again(*more).judgements, strict=True):
        assert other.candidate.rank <= one.candidate.rank
        assert other.candidate.verified >= one.candidate.verified
        held = (
            {a.id for a in each.record.unaccepted_alerts if a.kind.about_tests or a.findings} for each in (other, one)
        )
        assert next(held) <= next(held)
