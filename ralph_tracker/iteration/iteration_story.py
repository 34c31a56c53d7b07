"""Put one iteration in lines and tables: `show` prints them, the page of the iteration has the same ones."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ralph_tracker.core.metrics import SCORE_DECIMALS, half_up
from ralph_tracker.errors import RecordError
from ralph_tracker.iteration.diff import ComponentShare, Differences
from ralph_tracker.iteration.explain import Explanation, kept_point
from ralph_tracker.iteration.open_problems import wrong_lines
from ralph_tracker.report.iteration_view import IterationView, iteration_view, rerun_line
from ralph_tracker.report.wording import (
    ABSENT,
    decision_in_words,
    iteration_sentence,
    point_of,
    strength_in_words,
    usage_in_words,
)
from ralph_tracker.short_text import percent
from ralph_tracker.store.read import SealedRecords

_VERIFIED: Final = {"yes": ", verified", "no": ", not verified"}


class StoryLine(NamedTuple):
    """A line; a `depth` above 0 belongs to the line before it. `severity` is an alert's, "" for another line."""

    text: str
    depth: int = 0
    severity: str = ""


StoryTable = tuple[tuple[str, ...], ...]
"""A table whose first row is the header; the first column has words, the others numbers."""


class IterationStory(NamedTuple):
    """What is told of one iteration, in the order of `show`; `differences` is None for a baseline or a foreign record.

    `wrong` are failing and lost tests with their messages.
    """

    iteration: int
    title: str
    sentence: str
    wrong: tuple[StoryLine, ...]
    score: tuple[StoryLine, ...]
    alerts: tuple[StoryLine, ...]
    decision: tuple[StoryLine, ...]
    tables: tuple[StoryTable, ...]
    standing: tuple[StoryLine, ...]
    compared_with: int | None
    differences: Differences | None
    checks: tuple[StoryLine, ...]
    notes: tuple[StoryLine, ...]


def iteration_story(
    document: Mapping[str, Any], committed: SealedRecords | None, found: Explanation | None
) -> IterationStory:
    """Return the story of a record; without `committed` and `found`, that of a record which AIWG wrote."""
    it, record = iteration_view(document), document["iteration_metrics"]
    previous = None if found is None else found.compared_with
    before, strength = None, None
    wrong: tuple[str, ...] = ()
    if committed is not None:
        before = None if previous is None else point_of(*kept_point(committed.paths, previous))
        wrong, strength = wrong_lines(committed, it.iteration), committed.strength(it.iteration)
    tables = [_metrics(it)]
    if found is not None and it.dimensions and found.components:
        tables.append(_score_parts(it, found.components))
    notes = [f"note: {note}" for note in it.notes]
    notes += [f"test strength: {line}" for line in (strength_in_words(strength) if strength else ())]
    return IterationStory(
        iteration=it.iteration,
        title=f"iteration {it.iteration} ({it.timestamp}): {it.classification}{_VERIFIED.get(it.verified, '')}",
        sentence=iteration_sentence(document, before),
        wrong=tuple(map(StoryLine, wrong)),
        score=(*_score(it, record), *_usage(it, committed)),
        alerts=tuple(_alerts(it, {} if found is None else found.alerts)),
        decision=tuple(_decision(document.get("recommendation") or {}, it, found)),
        tables=tuple(tables),
        standing=tuple(_standing(it, found)),
        compared_with=previous,
        differences=None if found is None or previous is None else found.differences,
        checks=() if found is None else tuple(_checks(found)),
        notes=tuple(map(StoryLine, notes)),
    )


def _score(it: IterationView, record: Mapping[str, Any]) -> Iterator[StoryLine]:
    because = f": {it.adjusted_because}" if it.adjusted_because else ""
    believed, quality = record.get("adjusted_score"), record.get("quality_score")
    score = "" if believed is None else f"score {percent(believed)}, "
    given = it.total.removeprefix(it.quality_score)
    shown = f"{percent(quality)}{given}" if isinstance(quality, int | float) else ABSENT
    yield StoryLine(f"{score}quality_score {shown}{because}")
    trust = record.get("integrity")
    if trust:
        more = "" if trust["verdict"] == "PASS" else f"; `ralph-tracker integrity {it.iteration}` says why"
        yield StoryLine(f"integrity {trust['verdict']}{more}")
        for rerun in trust.get("reruns") or ():
            yield StoryLine(f"earlier tests: {rerun_line(rerun)}")


def _usage(it: IterationView, committed: SealedRecords | None) -> Iterator[StoryLine]:
    """Yield what the iteration used, and the loop up to it."""
    if not it.used:
        return
    yield StoryLine(f"used: {it.used}")
    try:
        rows = () if committed is None else committed.rows()[0]
    except RecordError:
        return  # what is derived is damaged: the next hook makes it again
    so_far = [row.get("usage") or {} for row in rows if 0 < row["iteration"] <= it.iteration]
    if len(so_far) > 1:
        yield StoryLine(f"the loop so far: {usage_in_words(so_far)}", 1)


def _alerts(it: IterationView, reasons: Mapping[str, str]) -> Iterator[StoryLine]:
    for alert in it.all_alerts:
        note = f" ({alert.note})" if alert.note else ""
        told = f"{alert.severity} {alert.id or alert.type} ({alert.state}): {alert.message}{note}"
        yield StoryLine(told, severity=alert.severity)
        if reason := reasons.get(alert.id):
            yield StoryLine(f"why: {reason}", 1)
    for closed in it.closed_alerts:
        yield StoryLine(f"closed: {closed}")


def _decision(advice: Mapping[str, Any], it: IterationView, found: Explanation | None) -> Iterator[StoryLine]:
    is_whole = advice.keys() >= {"action", "reason", "confidence"}  # AIWG leaves parts out
    words = decision_in_words(advice) if is_whole else f"{it.action} ({it.confidence}): {it.reason}"
    yield StoryLine(f"decision: {words}")
    if found is not None and found.rule is not None:
        yield StoryLine(f"by rule {found.rule[0]}: {found.rule[1]}", 1)
    for alternative in it.alternatives:
        yield StoryLine(f"or: {alternative}", 1)


def _standing(it: IterationView, found: Explanation | None) -> Iterator[StoryLine]:
    """Yield why it is the one to take, and why it is not."""
    if found is None:
        return
    if found.best:
        yield StoryLine(f"best iteration: {' '.join(found.best)}")
    if it.not_kept:
        yield StoryLine(f"not taken: it {it.not_kept}")


def _checks(found: Explanation) -> Iterator[StoryLine]:
    for check in found.checks or ():
        from_iteration = check.get("from_iteration")
        origin = "" if from_iteration is None else f" in iteration {from_iteration}: what it reads is the same"
        yield StoryLine(f"check {check['name']}: {check['summary']}{origin}")
    if found.output is not None:
        yield StoryLine(f"output of the checks: {found.output}/")


def _metrics(it: IterationView) -> StoryTable:
    header: tuple[str, ...] = ("metric", "now", "previous", "change", "baseline", "change")
    rows: list[tuple[str, ...]] = [
        (f"  {row.label}", row.current, row.previous, row.change, row.baseline, row.change_from_baseline)
        for row in (*it.rows, *it.more_rows)
    ]
    if it.evidence == "100%":  # nothing of the loop is missing: what is unknown throughout was never measured
        rows = [row for row in rows if set(row[1:]) != {ABSENT}]
    if it.iteration == 0:  # nothing to compare with
        header, rows = header[:2], [row[:2] for row in rows]
    return (header, *rows)


def _score_parts(it: IterationView, shares: Sequence[ComponentShare]) -> StoryTable:
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
    return tuple(rows)


def _share(value: float) -> str:
    return f"{half_up(half_up(value, SCORE_DECIMALS) * 100, 1):.1f} %"


def _tenths(score: str) -> str:
    """Return the score of a dimension with one decimal; what is no number as it is."""
    try:
        return f"{float(score):.1f}"
    except ValueError:
        return score
