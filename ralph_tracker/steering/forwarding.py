"""What a task is told of those before it (seed: checkpoints-and-ux, 4.4), and of what the tracker found."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ralph_tracker.steering.plan import PlanState, Task

PRIOR_TASKS: Final = 5
_FILES, _TESTS, _ALERTS, _TRIED = 30, 10, 5, 5
_ROOM: Final = 200


class PriorTaskContext(NamedTuple):
    """Hold what later tasks are told of one that has ended: no output, only what it changed and what was found.

    `commit_sha` is None where nothing was committed. `failing_tests` and `open_alerts` stood after it, `rolled_back` is
    what was tried in it and taken back.
    """

    title: str
    status: str
    changed_files: tuple[str, ...] = ()
    commit_sha: str | None = None
    failing_tests: tuple[str, ...] = ()
    open_alerts: tuple[str, ...] = ()
    rolled_back: tuple[str, ...] = ()


def prior_task_contexts(state: PlanState) -> tuple[PriorTaskContext, ...]:
    """Return what is forwarded of the last five tasks that ran, the oldest first; skipped ones changed nothing."""
    found = []
    for each in state.ran[-PRIOR_TASKS:]:
        outcome = each.outcome
        if outcome is None:
            found.append(PriorTaskContext(each.task.title, each.status))
            continue
        found.append(
            PriorTaskContext(
                each.task.title,
                each.status,
                outcome.changed_files,
                outcome.commit,
                outcome.failing_tests,
                outcome.open_alerts,
                outcome.rolled_back,
            )
        )
    return tuple(found)


def build_impl_prompt(task: Task, plan_context: str = "", prior_tasks: Sequence[PriorTaskContext] = ()) -> str:
    """Return the prompt of a task: what is to be done, what has to hold, and what the last five tasks before it did.

    Tests that fail and alerts that are open are those after the last of them: what stood before may be mended since.
    """
    return "\n".join(_lines(task, plan_context, prior_tasks[-PRIOR_TASKS:])) + "\n"


def _lines(task: Task, plan_context: str, prior: Sequence[PriorTaskContext]) -> Iterator[str]:
    yield f"# Task: {_cut(task.title)}"
    if task.description.strip():
        yield from ("", task.description.strip())
    yield from _listed("## These checks have to hold", task.checks, len(task.checks))
    if plan_context.strip():
        yield from ("", "## The plan it is part of", plan_context.strip())
    if prior:
        yield from ("", "## Done before this task")
        for each in prior:
            yield from _told(each)
        yield from _listed("## Tests that fail now", prior[-1].failing_tests, _TESTS)
        yield from _listed("## Alerts that are open now", prior[-1].open_alerts, _ALERTS)


def _told(prior: PriorTaskContext) -> Iterator[str]:
    commit = f", commit {_cut(prior.commit_sha)}" if prior.commit_sha else ""
    yield f"- {_cut(prior.title)} ({prior.status}{commit})"
    yield f"  changed files: {', '.join(_some(prior.changed_files, _FILES)) or 'none'}"
    if prior.rolled_back:
        yield f"  tried and rolled back: {'; '.join(_some(prior.rolled_back, _TRIED))}"


def _listed(title: str, items: Sequence[str], most: int) -> Iterator[str]:
    if items:
        yield from ("", title)
        yield from (f"- {item}" for item in _some(items, most))


def _some(items: Sequence[str], most: int) -> list[str]:
    """Return the first items, each on one line, and how many more there are."""
    rest = len(items) - most
    return [*map(_cut, items[:most]), *([f"and {rest} more"] if rest > 0 else [])]


def _cut(text: str) -> str:
    """Put a text on one line, without what a terminal would act on, cut where it is too long."""
    plain = "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
    return plain if len(plain) <= _ROOM else f"{plain[: _ROOM - 1]}…"
