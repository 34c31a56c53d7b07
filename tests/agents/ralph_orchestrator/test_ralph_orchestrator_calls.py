"""What is done at an event: each iteration of the agent is measured once, whatever is repeated, killed or resumed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.agents.ralph_orchestrator_events import (
    COMPLETE,
    ERROR,
    EVENTS,
    ITERATION,
    START,
    Event,
    RunnerState,
    calls_for,
)
from ralph_tracker.errors import InputError
from tests.tables import table


def event(name, current=0, loop="a", pid=1):
    return Event(name, loop, pid, current, None)


# id: the event, what is remembered, the last iteration on record → what is done
CALLS = {
    "a loop starts": (event(START), None, None, ("begin",)),
    "a loop starts after a baseline by hand": (event(START), None, 0, ()),
    "the start is repeated": (event(START), RunnerState("a", 1, 0, 0), 0, ()),
    "the first iteration starts: nothing was done yet": (event(ITERATION, 1), RunnerState("a", 1, 0, 0), 0, ()),
    "the first one, and nothing is remembered": (event(ITERATION, 1), None, 0, ()),
    "the second one starts": (event(ITERATION, 2), RunnerState("a", 1, 0, 1), 0, ("measure",)),
    "the second one, repeated": (event(ITERATION, 2), RunnerState("a", 1, 0, 2), 1, ()),
    "repeated after a call that was killed once the record was written": (
        event(ITERATION, 2),
        RunnerState("a", 1, 0, 1),
        1,
        (),
    ),
    "the third one, after that": (event(ITERATION, 3), RunnerState("a", 1, 0, 1), 1, ("measure",)),
    "the loop completes": (event(COMPLETE, 3), RunnerState("a", 1, 0, 3), 2, ("measure", "finish")),
    "completion is repeated": (event(COMPLETE, 3), RunnerState("a", 1, 0, 3), 3, ("finish",)),
    "completion of what is finished": (event(COMPLETE, 3), None, None, ()),
    "the loop ends otherwise, and may go on": (event(ERROR, 3), RunnerState("a", 1, 0, 3), 2, ("measure", "select")),
    "it ends before anything was done": (event(ERROR, 0), RunnerState("a", 1, 0, 0), 0, ("select",)),
    "a run goes on: its numbers begin again": (event(START, pid=2), RunnerState("a", 1, 0, 3), 3, ()),
    "a run goes on after one that was killed at work": (
        event(START, pid=2),
        RunnerState("a", 1, 0, 3),
        2,
        ("measure",),
    ),
    "its first iteration": (event(ITERATION, 1, pid=2), RunnerState("a", 2, 3, 0), 3, ()),
    "its second one": (event(ITERATION, 2, pid=2), RunnerState("a", 2, 3, 1), 3, ("measure",)),
    "a run goes on without the hook of its start": (event(ITERATION, 1, pid=2), RunnerState("a", 1, 0, 3), 3, ()),
    "another task starts": (event(START, loop="b", pid=2), RunnerState("a", 1, 0, 3), 3, ("close", "begin")),
    "another task, after one that was killed at work": (
        event(START, loop="b", pid=2),
        RunnerState("a", 1, 0, 3),
        2,
        ("measure", "close", "begin"),
    ),
    "no loop is running": (event(ITERATION, 4), None, None, ()),
    "an iteration that could not be measured is not made up for": (
        event(ITERATION, 4),
        RunnerState("a", 1, 0, 2),
        1,
        ("measure",),
    ),
    "an event that says nothing of iterations": (event("post.iteration.start", 2), RunnerState("a", 1, 0, 1), 0, ()),
}


@table("case", CALLS)
def test_what_is_done_at_an_event(case):
    happened, standing, latest, calls = CALLS[case]
    assert calls_for(happened, standing, latest) == calls


class Loop:
    """Play a runner and the tracker's record of it: what is remembered, what is on record, what the agent did."""

    def __init__(self):
        self.standing, self.latest, self.worked, self.unseen = None, None, 0, False

    def happen(self, happened, fate="well"):
        """Answer an event; a call that is killed has written nothing down, and is repeated or lost."""
        self._carry_out(happened)
        if fate == "repeated":
            self._carry_out(happened)
        if fate != "lost":
            self.standing = RunnerState.at(happened, self.latest)

    def _carry_out(self, happened):
        for call in calls_for(happened, self.standing, self.latest):
            if call == "begin":
                self.latest = 0
            elif call == "measure":
                assert self.unseen, f"{happened} measures what was measured already"
                self.latest, self.unseen = self.latest + 1, False


FATES = ["well", "repeated", "lost"]
runs = st.lists(st.tuples(st.lists(st.sampled_from(FATES), max_size=4), st.sampled_from(["killed", ERROR])), max_size=4)


@given(runs=runs, starts=st.lists(st.sampled_from(FATES[:2]), min_size=4, max_size=4))
def test_each_iteration_is_measured_once_over_runs_that_end_and_go_on(runs, starts):
    loop = Loop()
    for pid, ((fates, end), start) in enumerate(zip(runs, starts, strict=False)):
        loop.happen(event(START, 0, pid=pid), start)
        assert not loop.unseen, "what a killed run left behind is measured before the next one works"
        for number, fate in enumerate(fates, 1):
            loop.happen(event(ITERATION, number, pid=pid), fate)
            assert not loop.unseen
            loop.worked, loop.unseen = loop.worked + 1, True
        if end == ERROR:
            loop.happen(event(ERROR, len(fates), pid=pid))
            assert not loop.unseen
        elif fates[-1:] == ["lost"]:
            break  # nobody knows of an iteration whose start was not noted before the run was killed
    assert (loop.latest or 0) == loop.worked - loop.unseen


class TestPayload:
    def test_every_event_of_ours_is_read(self, payload):
        for name in EVENTS:
            assert Event.of(payload(name, 7)) == Event(name, "primary-1", 4242, 7, "/repo")

    @table(
        "broken",
        [None, [], "x", {}, {"schema_version": 1}, {"schema_version": 1, "phase_event": START, "loop": "x"}],
        ids=str,
    )
    def test_what_is_no_event_is_refused(self, broken):
        with pytest.raises(InputError, match="no event of ralph-orchestrator on standard input"):
            Event.of(broken)

    def test_another_version_is_refused(self, payload):
        with pytest.raises(InputError, match="schema_version 2; 1 is known, upgrade ralph-tracker"):
            Event.of({**payload(START, 0), "schema_version": 2})

    @pytest.mark.parametrize("workspace", [None, "", 7])
    def test_without_a_workspace_the_project_is_where_the_hook_runs(self, payload, workspace):
        whole = payload(START, 0)
        assert Event.of({**whole, "loop": {**whole["loop"], "workspace": workspace}}).workspace is None
