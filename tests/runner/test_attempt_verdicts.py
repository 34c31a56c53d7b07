"""How a run of the agent ended is told apart, and what is done about it."""

from ralph_tracker.agents.output.run_report import Ending, RunReport
from ralph_tracker.core.metrics import Usage
from ralph_tracker.measure.process import FinishedCommand
from ralph_tracker.runner.attempt import AgentRun, AttemptVerdict, RetryLimits, describe_run, step_after, verdict_of
from tests.tables import table

WELL = FinishedCommand(exit_code=0, duration_s=1.0)
FAILED = FinishedCommand(exit_code=1, duration_s=1.0)
KILLED = FinishedCommand(signal="SIGKILL", duration_s=1.0)
LATE = FinishedCommand(signal="SIGTERM", timed_out=True, duration_s=60.0)
ABSENT = FinishedCommand(not_found=True, problem="command not found: agent")


def told(ending=Ending.UNKNOWN, **more):
    return RunReport(**{"usage": Usage(), "ending": ending, **dict.fromkeys(RunReport._fields[2:]), **more})


def ran(finished=WELL, ending=Ending.UNKNOWN, *, printed=True, changed=True, idle_s=None, **more):
    return AgentRun(finished, told(ending, **more), printed, changed, idle_s)


RUNS = {
    "work that is done": (ran(), AttemptVerdict.DONE),
    "work without a word": (ran(printed=False), AttemptVerdict.DONE),
    "words without work": (ran(changed=False), AttemptVerdict.UNCHANGED),
    "neither": (ran(changed=False, printed=False), AttemptVerdict.SILENT),
    "a failure": (ran(FAILED), AttemptVerdict.CRASHED),
    "a signal": (ran(KILLED), AttemptVerdict.CRASHED),
    "a failure that is said with 0": (ran(WELL, Ending.FAILED), AttemptVerdict.CRASHED),
    "its time limit": (ran(LATE), AttemptVerdict.HUNG),
    "silence": (ran(KILLED, idle_s=9.0), AttemptVerdict.HUNG),
    "a provider's limit": (ran(FAILED, Ending.RATE_LIMITED), AttemptVerdict.RATE_LIMITED),
    "a provider's limit, said with 0": (ran(WELL, Ending.RATE_LIMITED), AttemptVerdict.RATE_LIMITED),
    "a provider's limit that it waited for too long": (ran(LATE, Ending.RATE_LIMITED), AttemptVerdict.RATE_LIMITED),
    "a login": (ran(FAILED, Ending.NEEDS_PERSON), AttemptVerdict.NEEDS_PERSON),
    "its own limit of turns": (ran(FAILED, Ending.OUT_OF_BUDGET), AttemptVerdict.OUT_OF_BUDGET),
    "no such command": (ran(ABSENT), AttemptVerdict.NOT_STARTED),
}


@table("name", RUNS)
def test_a_run_is_named(name):
    run, verdict = RUNS[name]
    assert verdict_of(run) == verdict


def after(run, tried=1, waited_s=0.0, patience=RetryLimits(retries=2, pause_s=10), now=1000.0):  # noqa: B008  # frozen
    step = step_after(verdict_of(run), run, tried, waited_s, patience, now)
    return step.do, step.pause_s


IDLE = {"changed": False}
STEPS = {
    "work is measured": (after(ran()), ("measure", 0)),
    "work of an agent that crashed is measured": (after(ran(FAILED)), ("measure", 0)),
    "work of an agent that hung is measured": (after(ran(LATE)), ("measure", 0)),
    "words without work are an iteration": (after(ran(**IDLE)), ("measure", 0)),
    "its own limit is an iteration": (after(ran(FAILED, Ending.OUT_OF_BUDGET, **IDLE)), ("measure", 0)),
    "a crash is tried again": (after(ran(FAILED, **IDLE)), ("again", 10)),
    "with a pause twice as long": (after(ran(FAILED, **IDLE), tried=2), ("again", 20)),
    "and then a person is needed": (after(ran(FAILED, **IDLE), tried=3), ("block", 0)),
    "pauses have an end": (after(ran(FAILED, **IDLE), 9, patience=RetryLimits(9, 100)), ("again", 600)),
    "a hanging agent is tried again": (after(ran(LATE, **IDLE)), ("again", 10)),
    "nothing at all is tried again": (after(ran(printed=False, **IDLE)), ("again", 10)),
    "a login is for a person": (after(ran(FAILED, Ending.NEEDS_PERSON)), ("block", 0)),
    "no command is for a person": (after(ran(ABSENT, **IDLE)), ("block", 0)),
    "a limit is waited for": (after(ran(FAILED, Ending.RATE_LIMITED)), ("again", 60)),
    "longer each time": (after(ran(FAILED, Ending.RATE_LIMITED), tried=4), ("again", 480)),
    "with an end": (after(ran(FAILED, Ending.RATE_LIMITED), tried=40), ("again", 1800)),
    "as long as it says": (after(ran(FAILED, Ending.RATE_LIMITED, retry_after_s=7.0)), ("again", 7)),
    "until it says": (after(ran(FAILED, Ending.RATE_LIMITED, retry_at=1100.0)), ("again", 101)),
    "a time that is over": (after(ran(FAILED, Ending.RATE_LIMITED, retry_at=1.0)), ("again", 1)),
    "not for ever": (after(ran(FAILED, Ending.RATE_LIMITED), waited_s=6 * 3600), ("block", 0)),
}


@table("name", STEPS)
def test_what_is_done_about_it(name):
    done, expected = STEPS[name]
    assert done == expected


DESCRIBED = {
    "work": (ran(), "done"),
    "no work": (ran(**IDLE), "changed nothing"),
    "nothing": (ran(printed=False, **IDLE), "printed nothing and changed nothing (exit 0 after 1.0 s)"),
    "a crash": (ran(FAILED), "crashed (exit 1 after 1.0 s)"),
    "a crash with words": (ran(FAILED, why="no space"), "crashed: no space (exit 1 after 1.0 s)"),
    "a signal": (ran(KILLED), "crashed (killed by SIGKILL after 1.0 s)"),
    "a limit of time": (ran(LATE), "hung (ended at its time limit after 60.0 s)"),
    "silence": (ran(KILLED, idle_s=90.2), "hung (silent for 90 s)"),
    "a login": (ran(FAILED, Ending.NEEDS_PERSON, why="run /login"), "needs a person: run /login"),
    "no command": (ran(ABSENT), "not started (command not found: agent)"),
}


@table("name", DESCRIBED)
def test_it_is_said_in_a_few_words(name):
    run, words = DESCRIBED[name]
    assert describe_run(verdict_of(run), run) == words
