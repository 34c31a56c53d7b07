"""ralph-tracker show: show one iteration with its score's components, alerts, changes and checks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ralph_tracker.cli.diff import say_differences
from ralph_tracker.cli.options import IterationNumber, loop_options
from ralph_tracker.cli.terminal import complain, document_of, say, say_json, say_table, say_wrapped
from ralph_tracker.core.metrics import SCORE_DECIMALS, half_up
from ralph_tracker.iteration.explain import explain, explanation_document, kept_point
from ralph_tracker.iteration.open_problems import wrong_lines
from ralph_tracker.report.iteration_view import iteration_view, rerun_line
from ralph_tracker.report.wording import (
    ABSENT,
    Point,
    decision_in_words,
    iteration_sentence,
    point_of,
    strength_in_words,
)
from ralph_tracker.short_text import percent
from ralph_tracker.store.records_to_show import listing


@click.command("show")
@click.argument("number", type=IterationNumber(min=0), required=False)
@loop_options
def command(number: int | None, root: Path, loop_id: str | None, as_json: bool) -> None:
    """Show iteration NUMBER as it was recorded (default: the latest), and how the result came about."""
    found = listing(root, loop_id)
    document = document_of(found.one(number))
    explanation = None if found.committed is None else explain(found.committed, document)
    if explanation is not None and explanation.problem is not None:
        complain(explanation.problem)
    if as_json:
        extra = {} if explanation is None else {"explanation": explanation_document(explanation)}
        say_json({**document, **extra})
        return
    before: Point | None = None
    wrong: tuple[str, ...] = ()
    if found.committed is not None and explanation is not None:
        paths, previous = found.committed.paths, explanation.compared_with
        before = None if previous is None else point_of(*kept_point(paths, previous))
        wrong = wrong_lines(found.committed, document["iteration_metrics"]["iteration"])
    _say(document, explanation, iteration_sentence(document, before), wrong)
    strength = found.committed and found.committed.strength(document["iteration_metrics"]["iteration"])
    for line in strength_in_words(strength) if strength else ():
        say_wrapped(f"test strength: {line}")


def _say(document: Any, explanation: Any, sentence: str, wrong: Sequence[str]) -> None:  # noqa: ANN401  # as explained

    it, record = iteration_view(document), document["iteration_metrics"]
    verified = {"yes": ", verified", "no": ", not verified"}.get(it.verified, "")
    say(f"iteration {it.iteration} ({it.timestamp}): {it.classification}{verified}")
    say_wrapped(sentence)
    for line in wrong:
        say_wrapped(line)
    because = f": {it.adjusted_because}" if it.adjusted_because else ""
    believed = record.get("adjusted_score")
    score = "" if believed is None else f"score {percent(believed)}, "
    quality = record.get("quality_score")
    given = it.total.removeprefix(it.quality_score)
    shown = f"{percent(quality)}{given}" if isinstance(quality, int | float) else ABSENT
    say_wrapped(f"{score}quality_score {shown}{because}")
    _say_trust(record)
    reasons = {} if explanation is None else explanation.alerts
    for alert in it.all_alerts:
        note = f" ({alert.note})" if alert.note else ""
        say_wrapped(f"{alert.severity} {alert.id or alert.type} ({alert.state}): {alert.message}{note}", hang=4)
        if reason := reasons.get(alert.id):
            say_wrapped(f"why: {reason}", indent=2, hang=2)
    for closed in it.closed_alerts:
        say(f"closed: {closed}")
    _say_decision(document.get("recommendation"), it, explanation)
    _say_metrics(it)
    if it.dimensions and explanation is not None and explanation.components:
        _say_score(it, explanation.components)
    if explanation is not None:
        if explanation.best:
            say_wrapped(f"best iteration: {' '.join(explanation.best)}")
        if it.not_kept:
            say_wrapped(f"not taken: it {it.not_kept}")
        if explanation.compared_with is not None:
            say(f"since iteration {explanation.compared_with}")
            say_differences(explanation.differences, 5, 20)
        for check in explanation.checks or ():
            from_iteration = check.get("from_iteration")
            origin = "" if from_iteration is None else f" in iteration {from_iteration}: its inputs are the same"
            say(f"check {check['name']}: {check['summary']}{origin}")
        if explanation.output is not None:
            say(f"output of the checks: {explanation.output}/")
    for note in it.notes:
        say_wrapped(f"note: {note}")


def _say_trust(record: Any) -> None:  # noqa: ANN401  # the part of a record's document
    trust = record.get("integrity")
    if trust:
        more = "" if trust["verdict"] == "PASS" else f"; `ralph-tracker integrity {record['iteration']}` says why"
        say_wrapped(f"integrity {trust['verdict']}{more}")
        for rerun in trust.get("reruns") or ():
            say_wrapped(f"earlier tests: {rerun_line(rerun)}")


def _say_metrics(it: Any) -> None:  # noqa: ANN401  # an IterationView

    header: tuple[str, ...] = ("metric", "now", "previous", "change", "baseline", "change")
    rows: list[tuple[str, ...]] = [
        (f"  {row.label}", row.current, row.previous, row.change, row.baseline, row.change_from_baseline)
        for row in (*it.rows, *it.more_rows)
    ]
    if it.evidence == "100%":  # nothing of the loop is missing: what is unknown throughout was never measured
        rows = [row for row in rows if set(row[1:]) != {ABSENT}]
    if it.iteration == 0:  # nothing to compare with
        header, rows = header[:2], [row[:2] for row in rows]
    say_table([header, *rows], right=range(1, len(header)))


def _say_score(it: Any, shares: Any) -> None:  # noqa: ANN401  # an IterationView, ComponentShares

    rows = [("quality_score", "value", "weight", "adds")]
    for dimension in it.dimensions:
        own = [share for share in shares if share.dimension == dimension.label.lower()]
        if not own:
            continue
        weight, adds = (sum(getattr(share, name) for share in own) for name in ("weight", "contribution"))
        rows.append((f"  {dimension.label}", _tenths(dimension.score), _share(weight), _share(adds)))
        for share in own:
            value = "not measured" if share.value is None else f"{share.value:.1f}"
            rows.append((f"    {share.name}", value, _share(share.weight), _share(share.contribution)))
    say_table(rows, right={1, 2, 3})


def _share(value: float) -> str:
    return f"{half_up(half_up(value, SCORE_DECIMALS) * 100, 1):.1f} %"


def _tenths(score: str) -> str:
    """Return the score of a dimension with one decimal; what is no number as it is."""
    try:
        return f"{float(score):.1f}"
    except ValueError:
        return score


def _say_decision(recommendation: Any, it: Any, explanation: Any) -> None:  # noqa: ANN401  # as above

    is_whole = (recommendation or {}).keys() >= {"action", "reason", "confidence"}  # AIWG leaves parts out
    words = decision_in_words(recommendation) if is_whole else f"{it.action} ({it.confidence}): {it.reason}"
    say_wrapped(f"decision: {words}")
    if explanation is not None and explanation.rule is not None:
        number, condition = explanation.rule
        say_wrapped(f"by rule {number}: {condition}", indent=2)
    for alternative in it.alternatives:
        say(f"  or: {alternative}")
