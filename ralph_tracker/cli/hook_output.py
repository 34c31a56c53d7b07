"""Print what the hooks of an iteration say, its record and the decision; plain options are read without click."""

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ralph_tracker.cli.next_step import MEASURES_AGAIN, first_work, next_if_interrupted, next_step, of_loop, say_next
from ralph_tracker.cli.terminal import complain, say, say_json, say_wrapped, tracker_of
from ralph_tracker.errors import EXIT_ESCALATE, EXIT_OK, EXIT_REGRESSION, EXIT_ROLLBACK, EXIT_STOP
from ralph_tracker.report.wording import decision_in_words
from ralph_tracker.short_text import first_few
from ralph_tracker.store.find import find_loop
from ralph_tracker.store.summary import refuse_unrecorded, require_running, summary_at

if TYPE_CHECKING:
    from ralph_tracker.core.alert_types import Alert
    from ralph_tracker.iteration.explain import IterationFacts
    from ralph_tracker.records.iteration_record import IterationRecord
    from ralph_tracker.tracker import Tracker
# The two hooks of every iteration are answered without click, whose import is slow: their plain options.
_FLAGS: Final[Mapping[str, Collection[str]]] = {
    "post-iteration": ("--json",),
    "loop-decision": ("--json", "--apply"),
}
# What the user edits to set the tracker up is no work of an agent.
_SETTINGS: Final = frozenset({"ralph-tracker.yaml", "pyproject.toml", ".gitignore", "PROMPT.md"})
EXIT_OF: Final = {"continue": EXIT_OK, "stop": EXIT_STOP, "rollback": EXIT_ROLLBACK, "escalate": EXIT_ESCALATE}


def answer_fast(arguments: list[str]) -> int | None:
    """Run a hook and return its exit code; None leaves the command to click."""
    verb, phase, *rest = (*arguments, "", "")[: max(2, len(arguments))]
    phase = phase.replace("_", "-")
    found = _options(iter(rest), _FLAGS[phase]) if verb == "hook" and phase in _FLAGS else None
    if found is None:
        return None
    root, loop_id, as_json = Path(found.get("--root", ".")), found.get("--loop-id"), "--json" in found
    if phase == "loop-decision":
        return answer(root, loop_id, as_json=as_json, apply="--apply" in found)
    return record_next(root, loop_id, as_json=as_json)


def _options(words: Iterator[str], flags: Collection[str]) -> dict[str, str] | None:
    """Return each option with its value, "" for a flag; None if a word is not a plain option."""
    found: dict[str, str] = {}
    for word in words:
        if word in flags:
            found[word] = ""
        elif word in ("--root", "--loop-id") and (value := next(words, ""))[:1] not in {"", "-"}:
            found[word] = value
        else:
            return None
    return found


def record_next(
    root: Path,
    loop_id: str | None,
    *,
    as_json: bool,
    metrics: Path | None = None,
    usage: Path | None = None,
    blocked: str | None = None,
    iteration: int | None = None,
    fresh: bool = False,
    fail_early: bool = False,
    trust: bool = False,
) -> int:
    """Record and judge the next iteration, print it, and return the exit code; raise as the tracker does.

    With `fail_early` nothing is recorded while tests that failed before still fail.
    """
    tracker = tracker_of(root, loop_id, trust=trust)
    if fail_early and (still := _still_failing(tracker)) is not None:
        say_wrapped(still)
        say_next("fix them; without --fail-early the iteration is recorded as it is")
        return EXIT_REGRESSION
    with next_if_interrupted(MEASURES_AGAIN):
        recorded = tracker.post_iteration(metrics, usage=usage, blocked=blocked, iteration=iteration, fresh=fresh)
    if not recorded.new and not as_json:
        say(f"Iteration {iteration} is on record already, nothing was changed")
    say_record(recorded.record, root, as_json=as_json)
    if recorded.problem is not None:
        complain(recorded.problem)
    return EXIT_OK


def _still_failing(tracker: "Tracker") -> str | None:
    from ralph_tracker.iteration.measure_iteration import configured_by
    from ralph_tracker.iteration.repeat_failing import failing_first  # loop-decision does without it
    from ralph_tracker.store.configured_loop import ConfiguredLoop

    tracker.require_loop()
    loop = ConfiguredLoop.read(tracker.store(), configured_by)
    head = loop.state(require_running(summary_at(loop.store.paths)))[0].lineage.head
    found = failing_first(loop, head, tracker.environment, tracker.progress)
    return None if found is None else found.sentence


def say_record(record: "IterationRecord", root: Path, *, as_json: bool) -> None:
    """Print an iteration and the next step, or its whole record as JSON.

    The facts come first: what passes, which tests were gained and lost; then alerts, and the score last.
    """
    if as_json:
        say_json(record.to_dict())
        return
    from ralph_tracker.iteration.explain import facts_of, kept_point  # loop-decision does without it
    from ralph_tracker.loop.status import highest_before
    from ralph_tracker.report.wording import score_in_words
    from ralph_tracker.store.read import SealedRecords

    number, loop_id = record.iteration, record.loop_id
    records = SealedRecords(find_loop(root, loop_id, os.environ))
    facts = facts_of(records, number, record.previous)
    first = ""
    if record.is_baseline:
        _say_baseline(facts)
        _warn_of_uncommitted(root)
    else:
        first = headline(record)
        say_wrapped(first)
        counts = facts.counts or "nothing measured"
        say_wrapped(f"{loop_id} iteration {number}, {record.classification}: {counts}", indent=2)
        for line in facts.lines:
            say_wrapped(line, indent=2)
    for alert in record.alerts:
        if alert.message != first:
            say_wrapped(alert_line(alert, facts), indent=2)
    if record.open_alerts:
        names = first_few([alert.id for alert in record.open_alerts], 5)
        say_wrapped(f"still open: {names}", indent=2)
    verdict = "PASS" if record.integrity is None else record.integrity.verdict
    if verdict != "PASS" and not record.is_baseline:  # a baseline has no earlier tests; what is missing is an alert
        say(f"  integrity: {verdict}; `ralph-tracker integrity {number}` says why")
    for note in record.notes[:5]:
        say_wrapped(f"note: {note}", indent=2)
    if len(record.notes) > 5:
        say(f"  and {len(record.notes) - 5} more notes; `ralph-tracker report {number}` has all")
    best = None if record.best.iteration is None else (record.best.iteration, record.best.adjusted)
    known = kept_point(records.paths, number).score
    score = score_in_words(known, facts.before, best, number, highest_before(records, number))
    if any(alert.type == "metric_missing" for alert in (*record.alerts, *record.open_alerts)):
        score += "; a metric that is missing lowers it as if it were 0"
    say_wrapped(f"loop {loop_id}, {score}" if record.is_baseline else score, indent=2)
    say_next(first_work(record, root) if record.is_baseline else "`ralph-tracker hook loop-decision`")


def _warn_of_uncommitted(root: Path) -> None:
    """Say which tracked files differ from the last commit: an agent's work would be part of the baseline."""
    from ralph_tracker.core.metrics import quantity
    from ralph_tracker.store.snapshots.user_repository import changed_since_commit

    changed = [path for path in changed_since_commit(root.resolve()) if path not in _SETTINGS]
    if changed:
        say_wrapped(
            f"note: {quantity(len(changed), 'tracked file')} changed since the last commit ({first_few(changed, 5)}). "
            "If an agent did that, its work is in the baseline now. To measure without it: `git stash`, "
            "`ralph-tracker hook pre-loop --rebaseline`, `git stash pop`",
            indent=2,
        )


def headline(record: "IterationRecord") -> str:
    """Return the record's message, without the limit of an alert that contradicts "within limits"."""
    regressed = record.decision.reason.startswith("Continue - regression within limits")
    if regressed and record.message == record.decision.reason:
        return "Continue - worse, but not enough for a rollback"
    return record.message


def alert_line(alert: "Alert", facts: "IterationFacts") -> str:
    """Return a new alert in a line; what `facts` have named already is left out."""
    from ralph_tracker.report.wording import without_repeats

    message = without_repeats(alert.message, facts.tests, facts.errors)
    notes = [note for note in alert.note.split("; ") if note and without_repeats(note, facts.tests, ()) == note]
    return f"{alert.severity.name} {alert.id}: {message}" + (f" ({'; '.join(notes)})" if notes else "")


def _say_baseline(facts: "IterationFacts") -> None:
    """Print what the baseline measured; a single failing test is named in the first line."""
    failing = [line.removeprefix("failing: ") for line in facts.lines if line.startswith("failing: ")]
    others = [line for line in facts.lines if not line.startswith("failing: ")]
    first = f"Baseline: {facts.counts or 'nothing measured'}."
    say_wrapped(f"{first} Failing: {failing[0]}" if len(failing) == 1 else f"{first} Failing:" if failing else first)
    for line in (*(failing if len(failing) > 1 else ()), *others):
        say_wrapped(line, indent=2)


def answer(root: Path, loop_id: str | None, *, as_json: bool, apply: bool) -> int:
    """Print the stored decision and return its exit code; `apply` carries a rollback out and then returns 0.

    Raises as `Tracker.loop_decision` does.
    """
    paths = find_loop(root, loop_id, os.environ)
    summary = require_running(summary_at(paths))
    refuse_unrecorded(paths, summary)
    decision = summary.recommendation
    restored = None if summary.carried_out is None else summary.carried_out["target"]
    rollback = apply and decision["action"] == "rollback"
    undo = None
    if rollback and restored is None:
        undo = tracker_of(root, loop_id).loop_decision(apply=True).undo
        restored = decision["target_iteration"]
    if as_json:
        say_json(decision)
        return EXIT_OK if rollback else EXIT_OF[decision["action"]]
    say_wrapped(decision_in_words(decision))
    for alternative in decision["alternatives"]:
        say(f"  or: {alternative}")
    if undo is not None:
        back = f"ralph-tracker restore --undo {undo}{of_loop(loop_id)}"
        say_wrapped(f"iteration {restored} is restored; undo with `{back}`", indent=2)
    elif restored is not None:
        say(f"  iteration {restored} was restored already, nothing was changed")
    if restored is not None:
        summary = summary._replace(head=restored)
    say_next(next_step(summary, None, paths))
    return EXIT_OK if rollback else EXIT_OF[decision["action"]]
