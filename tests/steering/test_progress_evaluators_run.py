"""Evaluators asked while a session runs: when, what they are told, and what is left of the work when they stop it."""

import asyncio
import time
import tracemalloc

import pytest

from ralph_tracker.errors import InputError
from ralph_tracker.steering.progress_evaluators import (
    EVALUATION_TIMEOUT_S,
    AllAgree,
    InteractiveProgressEvaluator,
    ProgressInfo,
    ProgressMonitor,
    ask_evaluator,
    run_evaluated,
)
from ralph_tracker.steering.session_events import FileRead, ToolEnded, ToolStarted, TurnEnded
from tests.tables import table

INFO = ProgressInfo(5, None, 100, 1000, "a", 0.5)


class Evaluator:
    """Note what it is asked; say yes, but no from turn `no_at` on."""

    def __init__(self, no_at=None, raises=None):
        self.asked = []
        self.no_at = no_at
        self.raises = raises

    async def should_continue(self, info):
        self.asked.append(info)
        if self.raises is not None:
            raise self.raises
        goes_on = self.no_at is None or info.turns_completed < self.no_at
        return goes_on, "fine" if goes_on else "going in circles"

    @property
    def turns(self):
        return [info.turns_completed for info in self.asked]


class Slow:
    """Never answer by itself."""

    def __init__(self, timeout_s=None):
        self.release = asyncio.Event()
        if timeout_s is not None:
            self.timeout_s = timeout_s

    async def should_continue(self, info):
        await self.release.wait()
        return False, "late"


class Agent:
    """A session of turns `t1`, `t2` … as an async iterator; `stop` lets it say one last thing."""

    def __init__(self, turns, *, ends_when_stopped=True):
        self.turns = turns
        self.made = 0
        self.stopped = False
        self.closed = False
        self.ends_when_stopped = ends_when_stopped

    async def events(self):
        try:
            while self.made < self.turns:
                self.made += 1
                yield ToolStarted(str(self.made), "Read")
                yield FileRead(f"f{self.made}")
                yield ToolEnded(str(self.made), "Read", success=True)
                yield TurnEnded(f"t{self.made}", 10, None, 0.5)
                if self.stopped and self.ends_when_stopped:
                    yield TurnEnded("interrupted", 1, None, 0.25)
                    return
        finally:
            self.closed = True

    async def stop(self):
        self.stopped = True


def monitored(evaluator, turns=12, *, stop=False, now=lambda: 0.0, **options):
    agent = Agent(turns)
    monitor = ProgressMonitor(evaluator, now, **options)
    response = asyncio.run(run_evaluated(agent.events(), monitor, agent.stop if stop else None))
    return response, agent


def test_evaluator_is_called_at_correct_intervals():
    """Seed, "Testing Requirements", 1; the interval is 5 by default."""
    evaluator = Evaluator()
    monitored(evaluator, turns=17)
    assert evaluator.turns == [5, 10, 15]
    evaluator = Evaluator()
    monitored(evaluator, turns=7, evaluation_interval=3)
    assert evaluator.turns == [3, 6]


def test_session_stops_when_evaluator_returns_false():
    """Seed, "Testing Requirements", 2."""
    response, agent = monitored(Evaluator(no_at=6), turns=100)
    assert response.error == "Stopped by progress evaluator: going in circles"
    assert agent.made == 10
    assert agent.closed


def test_work_is_preserved_when_stopped():
    """Seed, "Testing Requirements", 3: what came until the stop, and after it, with what it cost."""
    response, agent = monitored(Evaluator(no_at=5), turns=100, stop=True)
    assert response.content == "t1\nt2\nt3\nt4\nt5\ninterrupted"
    assert response.error == "Stopped by progress evaluator: going in circles"
    assert response.info == ProgressInfo(6, None, 51, 0, "t4t5interrupted", 2.75)
    assert agent.closed


@table("evaluator", [None, Evaluator(), Evaluator(raises=OSError("gone"))])
def test_evaluation_does_not_interfere_with_main_operation(evaluator):
    """Seed, "Testing Requirements", 4: with an evaluator that agrees, or fails, a session is as without one."""
    response, agent = monitored(evaluator, turns=11)
    assert response == (
        "\n".join(f"t{number}" for number in range(1, 12)),
        None,
        ProgressInfo(11, None, 110, 0, "t9t10t11", 5.5),
        None,
    )
    assert not agent.stopped


def test_an_evaluation_is_not_a_turn():
    evaluator = Evaluator()
    response, _ = monitored(evaluator, turns=4, evaluation_interval=1)
    assert evaluator.turns == [1, 2, 3, 4]
    assert response.info.turns_completed == 4


def test_a_batch_of_turns_that_passes_a_multiple_is_evaluated():
    """Crossing a multiple counts, so a batch of turns cannot skip it."""
    evaluator = Evaluator()
    monitor = ProgressMonitor(evaluator, lambda: 0.0)
    due = []
    for batch in (4, 2, 3, 1, 11):
        for _ in range(batch):
            monitor.fold(TurnEnded("a"))
        due.append(monitor.due)
        if monitor.due:
            assert asyncio.run(monitor.evaluate()) == (True, "fine")
    assert due == [False, True, False, True, True]
    assert evaluator.turns == [6, 10, 21]


def test_an_evaluator_is_told_the_time_since_the_session_began_and_its_limit():
    evaluator = Evaluator()
    clock = iter([100.0, *(100.0 + number / 4 for number in range(1, 99))])
    monitored(evaluator, turns=5, now=lambda: next(clock), total_turns=30)
    assert (evaluator.asked[0].time_elapsed_ms, evaluator.asked[0].total_turns) == (250, 30)


def test_equal_info_is_not_asked_twice_whatever_the_time():
    evaluator = Evaluator(no_at=1)
    clock = iter(range(99))
    monitor = ProgressMonitor(evaluator, lambda: next(clock))
    monitor.fold(TurnEnded("a"))
    first = asyncio.run(monitor.evaluate())
    monitor.fold(FileRead("x"))
    assert asyncio.run(monitor.evaluate()) == first == (False, "going in circles")
    assert len(evaluator.asked) == 1
    monitor.fold(TurnEnded("a"))
    asyncio.run(monitor.evaluate())
    assert len(evaluator.asked) == 2


@pytest.mark.parametrize(
    ("evaluator", "reason", "logged"),
    [
        pytest.param(
            Evaluator(raises=OSError("gone")), "Evaluator failed: OSError('gone')", "Evaluator failed", id="raises"
        ),
        pytest.param(
            Evaluator(raises=TimeoutError()),
            "Evaluator did not answer in time",
            "did not answer",
            id="times out itself",
        ),
        pytest.param(Slow(0.0), "Slow did not answer in time", "Slow did not answer in time", id="takes too long"),
    ],
)
def test_an_evaluator_that_fails_is_logged_and_the_session_goes_on(caplog, evaluator, reason, logged):
    assert asyncio.run(ask_evaluator(evaluator, INFO)) == (True, reason)
    assert logged in caplog.text
    assert "the session continues" in caplog.text


@pytest.mark.parametrize("answer", [None, True, (None, "why"), ("no", "why"), (1, 2, 3)])
def test_an_answer_that_is_none_stops_nothing(caplog, answer):
    class Odd:
        async def should_continue(self, info):
            return answer

    goes_on, reason = asyncio.run(ask_evaluator(Odd(), INFO))
    assert goes_on
    assert reason.startswith("Odd failed: ")
    assert "Odd failed" in caplog.text


def test_the_time_of_an_evaluation_is_10_s_and_none_where_a_person_is_asked():
    assert EVALUATION_TIMEOUT_S == 10.0

    async def ask(question):
        for _ in range(100):
            await asyncio.sleep(0)
        return "n"

    person = InteractiveProgressEvaluator(ask)
    for evaluator in (person, AllAgree(Evaluator(), person, each_timeout_s=0.0)):
        assert asyncio.run(ask_evaluator(evaluator, INFO, 0.0)) == (False, "User requested stop")


def test_all_must_agree_and_the_first_that_does_not_is_the_reason():
    first, second, third = Evaluator(), Evaluator(no_at=1), Evaluator()
    assert asyncio.run(AllAgree(first, second, third).should_continue(INFO)) == (False, "going in circles")
    assert [len(each.asked) for each in (first, second, third)] == [1, 1, 0]
    assert asyncio.run(AllAgree(first, third).should_continue(INFO)) == (True, "fine; fine")
    assert asyncio.run(AllAgree().should_continue(INFO)) == (True, "")


def test_of_several_one_that_fails_does_not_hinder_the_others(caplog):
    both = AllAgree(Evaluator(raises=OSError("gone")), Slow(), Evaluator(no_at=1), each_timeout_s=0.0)
    response, _ = monitored(both, turns=100)
    assert response.error == "Stopped by progress evaluator: going in circles"
    assert "Evaluator failed" in caplog.text
    assert "Slow did not answer in time" in caplog.text


def test_a_host_that_cannot_be_stopped_is_left_with_what_there_is(caplog):
    agent = Agent(100)

    async def broken():
        raise ConnectionError("no pipe")

    monitor = ProgressMonitor(Evaluator(no_at=1), lambda: 0.0)
    response = asyncio.run(run_evaluated(agent.events(), monitor, broken))
    assert response.content == "t1\nt2\nt3\nt4\nt5"
    assert response.error == "Stopped by progress evaluator: going in circles"
    assert agent.closed
    assert "could not be stopped" in caplog.text


def test_a_host_that_does_not_end_is_waited_for_no_longer_than_said(caplog):
    class Endless(Agent):
        async def events(self):
            async for event in super().events():
                yield event
                await asyncio.sleep(0)

    agent = Endless(1 << 40, ends_when_stopped=False)
    monitor = ProgressMonitor(Evaluator(no_at=1), lambda: 0.0)
    response = asyncio.run(run_evaluated(agent.events(), monitor, agent.stop, drain_s=0.0))
    assert response.error == "Stopped by progress evaluator: going in circles"
    assert response.content.startswith("t1\nt2\nt3\nt4\nt5")
    assert "did not end within 0 seconds" in caplog.text


@table("error", [OSError("lost"), TimeoutError("lost")])
def test_what_the_session_raises_is_raised_and_its_work_is_there(error):
    async def events():
        yield TurnEnded("t1")
        raise error

    monitor = ProgressMonitor(Evaluator(), lambda: 0.0)
    with pytest.raises(type(error), match="lost"):
        asyncio.run(run_evaluated(events(), monitor))
    assert monitor.response().content == "t1"


def test_any_async_iterator_will_do():
    class Iterator:
        def __init__(self):
            self.left = 6

        def __aiter__(self):
            return self

        async def __anext__(self):
            if not self.left:
                raise StopAsyncIteration
            self.left -= 1
            return TurnEnded(str(self.left))

    evaluator = Evaluator(no_at=5)
    response = asyncio.run(run_evaluated(Iterator(), ProgressMonitor(evaluator, time.monotonic)))
    assert response.content == "5\n4\n3\n2\n1"
    assert evaluator.asked[0].time_elapsed_ms >= 0


def test_a_person_who_says_no_ends_the_session():
    async def ask(question):
        return "n"

    response, _ = monitored(InteractiveProgressEvaluator(ask), turns=100)
    assert response.error == "Stopped by progress evaluator: User requested stop"
    assert response.info.turns_completed == 5


def test_an_interval_below_1_is_refused():
    with pytest.raises(InputError, match="evaluation_interval is 0; give 1 turn or more"):
        ProgressMonitor(None, lambda: 0.0, evaluation_interval=0)


@pytest.mark.slow
def test_a_long_session_keeps_its_last_million_characters_and_grows_no_further():
    monitor = ProgressMonitor(None, lambda: 0.0)
    turn = TurnEnded("x" * 99, 1, None, 0.0)
    for _ in range(20_000):
        monitor.fold(turn)
    tracemalloc.start()
    try:
        for number in range(80_000):
            monitor.fold(TurnEnded(f"{number:099d}"))
        _, peak = tracemalloc.get_traced_memory()
        content = monitor.response().content
    finally:
        tracemalloc.stop()
    assert len(content) == 1_000_000 - 1
    assert content.endswith(f"{79_999:099d}")
    assert peak < 10_000_000


def test_a_single_turn_longer_than_that_keeps_its_end():
    monitor = ProgressMonitor(None, lambda: 0.0)
    monitor.fold(TurnEnded("gone"))
    monitor.fold(TurnEnded("a" + "b" * 1_000_000))
    assert monitor.response().content == "b" * 1_000_000
