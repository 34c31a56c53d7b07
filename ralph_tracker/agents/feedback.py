"""Write the feedback for an agent on its last iteration, the same for every host."""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from ralph_tracker.core.alert_types import Alert
from ralph_tracker.core.known_tests import HELD_BACK, without_held_back
from ralph_tracker.core.metrics import FAILED
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.core.rounding import plain_number, quantity
from ralph_tracker.report.text import for_terminal
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.loop_status import Summary
from ralph_tracker.store.records import LoopRecords

if TYPE_CHECKING:
    from ralph_tracker.tracker import Decided

TESTS_SHOWN: Final = 10
LIMIT: Final = 1500
_ALERTS_SHOWN: Final = 5
_BREAKS: Final = frozenset({"working_tests_failing", "flaky_test"})
# With the text around them these stay below LIMIT, however long names and messages are.
_TESTS_ROOM, _ALERTS_ROOM, _REASON_ROOM, _LINE_ROOM = 520, 420, 220, 160


def failing_tests(paths: LoopPaths, number: int) -> tuple[str, ...] | None:
    """Return the sorted names, None if unknown. Raises StoreError if the system refuses."""
    found = LoopRecords(paths).measurement(number)
    tests = None if found is None else found[0].tests
    return None if tests is None else tuple(sorted(name for name, how in tests.outcomes.items() if how == FAILED))


def iteration_feedback(
    record: IterationRecord, decided: "Decided", failing: Collection[str] | None = None, *, iterations_left: int = 0
) -> str:
    """Return the score, the failing tests, the open alerts, the rollback and the decision as plain text.

    `failing` are the tests that fail in this iteration; with None those named by alerts are listed. `iterations_left`
    are those that a stalled loop gets before it ends. At most LIMIT characters, without a final line break.
    """
    return without_held_back("\n".join(_lines(record, decided, failing, iterations_left)))


def status_text(summary: Summary, failing: Collection[str] | None = None) -> str:
    """Return the status of a loop for an agent that begins a session, as plain text; `failing` as in `finding`."""
    return without_held_back("\n".join(_standing(summary, failing)))


def _standing(summary: Summary, failing: Collection[str] | None) -> Iterator[str]:
    yield (
        f"ralph-tracker measures this project each time you stop (loop {summary.loop_id}): its own checks are run, "
        "and you are told what they found. Tests that are deleted, skipped or weakened are seen and rolled back."
    )
    stands = f"Iteration {summary.iteration}: {summary.classification}, score {summary.adjusted_score:.4g}"
    if summary.best_iteration is not None:
        stands += f" (the best is iteration {summary.best_iteration} with {summary.best_adjusted_score:.4g})"
    yield f"{stands}."
    if summary.head != summary.iteration:
        yield f"The files are those of iteration {summary.head} again."
    visible = sorted(name for name in failing or () if not name.startswith(HELD_BACK))
    yield from _listed("Failing tests", visible, TESTS_SHOWN, _TESTS_ROOM)
    alerts = [f"{alert['severity']} {alert['id']}: {alert['message']}" for alert in summary.alerts]
    yield from _listed("Open alerts", alerts, _ALERTS_SHOWN, _ALERTS_ROOM)


def _lines(
    record: IterationRecord, decided: "Decided", failing: Collection[str] | None, iterations_left: int
) -> Iterator[str]:
    yield _headline(record)
    yield from _tests(record, failing)
    yield from _listed("Open alerts", map(_alert, record.unaccepted_alerts), _ALERTS_SHOWN, _ALERTS_ROOM)
    decision = decided.decision
    target = decision.target_iteration
    if decided.carried_out and target is not None:
        yield (
            f"Rolled back: the files are those of iteration {target} again, without what iteration {record.iteration} "
            "changed. Read them again before you edit them."
        )
    if iterations_left:
        yield (
            f"{decision.reason}: {_unchanged(record)}. The loop ends after "
            f"{quantity(iterations_left, 'more iteration')} without progress. {'; '.join(decision.alternatives)}."
        )
        return
    yield f"Decision: {decision.action}: {_cut(decision.reason, _REASON_ROOM)}"


def _unchanged(record: IterationRecord) -> str:
    """Return what has not changed, as far as measured."""
    metrics = record.metrics
    parts = [f"score {record.adjusted_score:.4g}"]
    if metrics.tests_passed is not None and metrics.test_count is not None:
        parts.append(f"{plain_number(metrics.tests_passed)} of {plain_number(metrics.test_count)} tests pass")
    if metrics.coverage_percentage is not None:
        parts.append(f"coverage {plain_number(metrics.coverage_percentage)} %")
    return ", ".join(parts)


def _headline(record: IterationRecord) -> str:
    best = record.best
    if record.is_best:
        stands = "the best so far"
    elif best.iteration is None:
        stands = "nothing to compare with yet"
    else:
        stands = f"the best is iteration {best.iteration} with {best.adjusted:.4g}"
    return f"Iteration {record.iteration}: {record.classification}, score {record.adjusted_score:.4g} ({stands})."


def _tests(record: IterationRecord, failing: Collection[str] | None) -> Iterator[str]:
    """List the failing tests, those that passed before first."""
    broken = {name for alert in record.alerts if alert.type in _BREAKS for name in alert.tests}
    known = broken if failing is None else set(failing)
    count = record.metrics.tests_failed if failing is None else len(known)
    hidden = {name for name in known if name.startswith(HELD_BACK)}
    if hidden:
        count = None if count is None else count - len(hidden)
        known -= hidden
        yield f"{len(hidden)} held-back {'test fails' if len(hidden) == 1 else 'tests fail'}; you do not see them."
    ordered = [*sorted(known & broken), *sorted(known - broken)]
    if not ordered and count:
        yield f"Failing tests: {count}, their names are not known."
    yield from _listed("Failing tests", ordered, TESTS_SHOWN, _TESTS_ROOM, count)


def _alert(alert: Alert) -> str:
    place = f" ({alert.findings[0].place})" if alert.findings else ""
    return f"{alert.severity.name} {alert.id}: {alert.message}{place}"


def _listed(title: str, items: Iterable[str], most: int, room: int, count: int | None = None) -> Iterator[str]:
    """List the items that fit, one per line, and say how many more there are."""
    items = [_cut(item, _LINE_ROOM) for item in items]
    shown: list[str] = []
    for item in items[:most]:
        room -= len(item) + len("\n- ")
        if room < 0:
            break
        shown.append(item)
    if not shown:
        return
    yield f"{title}:"
    yield from (f"- {item}" for item in shown)
    rest = max(count or 0, len(items)) - len(shown)
    if rest > 0:
        yield f"- and {rest} more"


def _cut(text: str, room: int) -> str:
    """Return a text in one line, without control characters, cut if too long."""
    plain = for_terminal(" ".join(text.split()))
    return plain if len(plain) <= room else f"{plain[: room - 1]}…"
