"""Make the view of a whole loop for its reports: the selection, a row an iteration, and changes by name.

Those are the tests that an iteration broke or fixed, its files, and the matrix of outcomes over the loop.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final, NamedTuple

from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.core.metrics import BY_NAME, METRICS, quantity
from ralph_tracker.records.output_selection import Selection, SelectionCandidate
from ralph_tracker.records.quarantine import FlakyTest
from ralph_tracker.report.charts import mermaid_chart, outcome_strip, sparkline
from ralph_tracker.report.iteration_view import AlertRow
from ralph_tracker.report.wording import (
    ABSENT,
    Point,
    Setback,
    cost_per_point,
    loop_sentence,
    measured_in_words,
    money,
    number,
    score,
)
from ralph_tracker.short_text import percent

# The letters under which outcomes are kept.
PASSED, FAILED, SKIPPED = "p", "f", "s"
_WORDS: Final = ("broke", "fixed", "skipped", "new", "gone")
_EVENTS_SHOWN: Final = 12
# What the matrix of a page may take, in bytes.
ROOM: Final = 500_000
Column = tuple[tuple[str, ...], str] | None
COLUMNS: Final = ("Iteration", "Score", "Tests", "Coverage", "Errors", "Result", "Cost", "Commit")
CHANGES_SHOWN: Final = 30
_UNKNOWN: Final = frozenset({ABSENT, money(None)})


class Change(NamedTuple):
    """What an iteration changed since `before`, the one that it descends from.

    `broke`, `fixed` and `skipped` are tests that fail, pass or are skipped now and did not before; `new` and `gone` are
    tests that one of the two reports lacks. `files` are paths.
    """

    iteration: int
    before: int
    broke: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def moved(self) -> bool:
        """Return whether the outcome of any test changed."""
        return any(getattr(self, word) for word in _WORDS)

    @property
    def text(self) -> str:
        """Return it in words."""
        told = [f"{word}: {names_in_short(getattr(self, word))}" for word in _WORDS if getattr(self, word)]
        told += [f"files: {names_in_short(self.files)}"] if self.files else []
        return "; ".join(told)


def change_of(
    iteration: int, before: int, old: Mapping[str, str], new: Mapping[str, str], files: Sequence[str] = ()
) -> Change:
    """Compare the letters of two iterations by name."""
    found: dict[str, list[str]] = {word: [] for word in _WORDS}
    for name in sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name)):
        was, now = old.get(name), new.get(name)
        if was is None:
            found["new"].append(name)
        elif now is None:
            found["gone"].append(name)
        else:
            found[{FAILED: "broke", PASSED: "fixed"}.get(now, "skipped")].append(name)
    return Change(iteration, before, **{word: tuple(names) for word, names in found.items()}, files=tuple(files))


class OutcomeRow(NamedTuple):
    """One test: its events in words, and its outcomes drawn.

    `troubled` says that it does not pass in the end, `latest` is the iteration of its last event.
    """

    name: str
    events: str
    picture: str
    troubled: bool
    latest: int


class OutcomeMatrix(NamedTuple):
    """The rows that there is room for, and how many tests more changed."""

    rows: tuple[OutcomeRow, ...]
    more: int


def matrix_of(
    changes: Sequence[Change], columns: Sequence[Column], undone: Collection[int] = (), room: int = ROOM
) -> OutcomeMatrix:
    """Return the tests whose outcome ever changed, those that do not pass in the end first.

    `columns` are names and letters of each iteration from 0 on, None where they are unknown. Events of `undone`, which
    were rolled back, are marked. `room` is in bytes.
    """
    events: dict[str, list[tuple[str, int]]] = {}
    for change in changes:
        for word in _WORDS:
            for name in getattr(change, word):
                events.setdefault(name, []).append((word, change.iteration))
    moved = {name: told for name, told in events.items() if any(word != "new" for word, _ in told)}
    letters = _letters(columns, moved)
    ordered = sorted(moved, key=lambda name: (_passes(letters[name]), -len(moved[name]), name))
    rows: list[OutcomeRow] = []
    used = 0
    for name in ordered:
        shown = ", ".join(
            f"{word} at {iteration}{' (undone)' if iteration in undone else ''}"
            for word, iteration in moved[name][-_EVENTS_SHOWN:]
        )
        rest = len(moved[name]) - _EVENTS_SHOWN
        told = f"{rest} changes, then {shown}" if rest > 0 else shown
        row = OutcomeRow(name, told, outcome_strip(letters[name]), not _passes(letters[name]), moved[name][-1][1])
        used += len(row.name) + len(row.events) + len(row.picture)
        if used > room and rows:
            break
        rows.append(row)
    return OutcomeMatrix(tuple(rows), len(ordered) - len(rows))


def _passes(letters: str) -> bool:
    """Return whether a test passes where it was last known."""
    return letters.rstrip("?").endswith("p")


def _letters(columns: Sequence[Column], wanted: Iterable[str]) -> dict[str, str]:
    """Return the letters of each wanted test over all iterations: ? where nothing is known, - where it was absent.

    Iterations with the same names are turned at once.
    """
    pieces: dict[str, list[str]] = {name: [] for name in wanted}
    for names, group in groupby(columns, key=lambda column: None if column is None else column[0]):
        block = list(group)
        missing = ("?" if names is None else "-") * len(block)
        found = {}
        if names is not None:
            turned = zip(*(column[1] for column in block if column is not None), strict=True)
            found = {name: "".join(row) for name, row in zip(names, turned, strict=True) if name in pieces}
        for name, parts in pieces.items():
            parts.append(found.get(name, missing))
    return {name: "".join(parts) for name, parts in pieces.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationRow:
    """One iteration as a table row."""

    iteration: int
    classification: str
    quality: str
    adjusted: str
    tests: str
    coverage: str
    errors: str
    verified: str
    decision: str
    cost: str
    price: str
    mark: str
    integrity: str
    score: str
    commit: str


class QuestionView(NamedTuple):
    """What only a person can say, without its full stop, and what answers it: commands of ours in backticks."""

    facts: str
    answers: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionView:
    """A whole loop and its selected iteration."""

    loop_id: str
    message: str
    selected: int
    final: int
    candidates: str
    selected_quality: str
    selected_adjusted: str
    final_quality: str
    final_adjusted: str
    improvement: str
    accepted: bool
    unverified: str
    threshold: str
    rationale: tuple[str, ...]
    questions: tuple[QuestionView, ...]
    passed_over: tuple[str, ...]
    why_not_final: str
    why_peaks_differ: str
    sparkline: str
    rows: tuple[IterationRow, ...]
    pattern: str
    degradation_started: str
    iterations_after_peak: int
    loss: str
    applied: str
    total: int
    total_cost: str
    alerts: tuple[AlertRow, ...]
    events: tuple[str, ...]
    problems: tuple[str, ...]
    compared: bool
    priced: bool
    sentence: str
    chart: str
    columns: tuple[str, ...]
    table: tuple[tuple[str, ...], ...]
    wrong: tuple[str, ...]
    flaky: tuple[str, ...]
    changes: tuple[str, ...]
    more_changes: int
    selected_score: str
    final_score: str
    ended: bool
    undone: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStory:
    """What the reports need besides the selection: rows of the trajectory, alerts, events, problems.

    `advice` ends the first sentence; None: to take what was selected. `wrong` says what fails or is lost in the
    selected iteration, `flaky` are the loop's flaky tests, `changes` what each iteration changed, in order. A loop that
    has not `ended` has its best iteration in place of the selected one. `commits` are the iterations of a replay, with
    their subjects.
    """

    rows: Mapping[int, Mapping[str, Any]]
    applied: str
    total_cost: float | None
    alerts: tuple[AlertRow, ...] = ()
    events: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    setbacks: tuple[Setback, ...] = ()
    wrong: tuple[str, ...] = ()
    flaky: tuple[FlakyTest, ...] = ()
    changes: tuple[Change, ...] = ()
    advice: str | None = None
    ended: bool = True
    commits: Mapping[int, str] = field(default_factory=dict)


def points_of(contenders: Sequence[SelectionCandidate]) -> tuple[Point, ...]:
    """Return the iterations as points, with their scores as of now."""
    return tuple(
        Point(c.iteration, c.metrics.tests_passed, c.metrics.test_count, c.metrics.coverage_percentage, c.known_score)
        for c in contenders
    )


def selection_view(selection: Selection, story: LoopStory) -> SelectionView:
    """Return the view of a selection."""
    selected, final, fall = selection.selected, selection.final, selection.degradation
    improvement = selection.improvement_percentage
    scores = {c.iteration: c.adjusted for c in selection.contenders}
    points = points_of(selection.contenders)
    peak = next(point for point in points if point.iteration == selected.iteration)
    rows = tuple(_row(c, selection, story, scores) for c in selection.contenders)
    lines = [_cells(row) for row in rows]
    # A column in which nothing is known is left out.
    kept = [place for place in range(len(COLUMNS)) if any(line[place] not in _UNKNOWN for line in lines)]
    later = len(rows) - 1
    changes = [change for change in story.changes if change.text]
    advice = f"Take iteration {selected.iteration}." if story.advice is None else story.advice
    return SelectionView(
        loop_id=selection.loop_id,
        message=selection.message,
        selected=selected.iteration,
        final=final.iteration,
        candidates=f"{quantity(later, 'iteration')} and the baseline" if later else "the baseline alone",
        selected_quality=score(selected.walked.quality_score),
        selected_adjusted=score(selected.adjusted),
        final_quality=score(final.walked.quality_score),
        final_adjusted=score(final.adjusted),
        improvement="" if not improvement else f"{improvement:+.1f}%",
        accepted=selection.accepted,
        unverified=_why_unverified(selection),
        threshold=score(selection.threshold),
        rationale=selection.rationale,
        questions=tuple(
            QuestionView(f"Iteration {each.iteration}: {each.facts}", each.answers()) for each in selection.questions
        ),
        passed_over=selection.passed_over,
        why_not_final=selection.why_not_final or "",
        why_peaks_differ=why_peaks_differ(selection),
        sparkline=sparkline([c.known_score for c in selection.contenders]),
        rows=rows,
        pattern=fall.pattern.replace("_", " "),
        degradation_started=ABSENT if fall.started is None else f"iteration {fall.started}",
        iterations_after_peak=fall.iterations_after_peak,
        loss=fall.loss or ABSENT,
        applied=story.applied,
        total=selection.final.iteration,
        total_cost=_total_cost(selection, story),
        alerts=story.alerts,
        events=story.events,
        problems=story.problems,
        compared=any(c.walked.verdict is not None for c in selection.contenders),
        priced=any(_cost(story, c.iteration) is not None for c in selection.contenders),
        sentence=loop_sentence(points[0], peak, points[-1], story.setbacks, advice),
        chart=mermaid_chart(points, selected.iteration),
        columns=tuple(COLUMNS[place] for place in kept),
        table=tuple(tuple(line[place] for place in kept) for line in lines),
        wrong=story.wrong,
        flaky=tuple(each.text for each in story.flaky),
        changes=tuple(f"{change.iteration}: {change.text}" for change in changes[:CHANGES_SHOWN]),
        more_changes=max(0, len(changes) - CHANGES_SHOWN),
        selected_score=percent(selected.adjusted),
        final_score=percent(final.adjusted),
        ended=story.ended,
        undone=frozenset(f"iteration {each.iteration}" for each in story.setbacks),
    )


def _cells(row: IterationRow) -> tuple[str, ...]:
    verdict = "" if row.integrity in {ABSENT, "PASS"} else f", {row.integrity}"
    decision = "" if row.decision in {ABSENT, "continue"} else f": {row.decision}"
    price = "" if row.price == ABSENT else f" ({row.price}/point)"
    return (
        f"{row.iteration} {row.mark}".strip(),
        row.score,
        row.tests,
        row.coverage,
        row.errors,
        f"{row.classification}{verdict}{decision}",
        f"{row.cost}{price}",
        row.commit,
    )


def why_others_are_not_taken(selection: Selection) -> tuple[str, ...]:
    """Return why the final iteration, and the one with most gains, were not taken; each reason once."""
    first, refusal = selection.why_not_final, selection.final.walked.refusal
    is_repeated = refusal is not None and any(refusal.why in line for line in selection.passed_over)
    if first is None or (is_repeated and first.startswith("Final iteration ")):
        return selection.passed_over
    return (first, *selection.passed_over)


def why_peaks_differ(selection: Selection) -> str:
    """Return in one line why the one with the highest quality_score is not selected; "" if the score is no reason."""
    by_quality, selected = selection.peak_by_quality_score, selection.selected
    if by_quality == selected.iteration or selection.override_reason is not None:
        return ""
    other = next(c for c in selection.contenders if c.iteration == by_quality)
    shown = percent(other.adjusted), percent(selected.adjusted)
    if other.adjusted >= selected.adjusted or shown[0] == shown[1]:
        return ""
    return (
        f"By quality_score alone it would be iteration {by_quality}; with findings and growth at the baseline's size "
        f"it scores {shown[0]} and iteration {selected.iteration} {shown[1]}."
    )


def candidate_in_words(contender: SelectionCandidate) -> str:
    """Return tests, coverage, findings and score of an iteration in words."""
    measured = measured_in_words({spec.name: contender.metrics.get(spec.name) for spec in METRICS})
    return f"{measured}{', ' if measured else ''}score {percent(contender.adjusted)}"


def _why_unverified(selection: Selection) -> str:
    """Return why an unverified iteration was selected; "" if it is verified."""
    if selection.selected.walked.verified:
        return ""
    if any(contender.walked.verified for contender in selection.contenders):
        return "other iterations are; this one was asked for"
    return "no iteration is"


def _cost(story: LoopStory, iteration: int) -> float | None:
    return (story.rows.get(iteration, {}).get("usage") or {}).get("cost_usd")


def _total_cost(selection: Selection, story: LoopStory) -> str:
    """Return the cost of the loop and per point of the selected score, and how many iterations have no known cost."""
    later = [c.iteration for c in selection.contenders if c.iteration]
    unknown = sum(_cost(story, iteration) is None for iteration in later)
    if story.total_cost is None:
        return money(None)
    if unknown:
        return f"at least {money(story.total_cost)}, unknown for {unknown} of {len(later)} iterations"
    baseline = selection.contenders[0].adjusted
    price = cost_per_point(story.total_cost, selection.selected.adjusted - baseline)
    later_cost = sum(_cost(story, iteration) or 0.0 for iteration in later if iteration > selection.selected.iteration)
    after = f", {money(later_cost)} of it after iteration {selection.selected.iteration}" if later_cost else ""
    price = "" if price == ABSENT else f", {price} for a point of the selected iteration"
    return f"{money(story.total_cost)}{price}{after}"


def _row(
    contender: SelectionCandidate, selection: Selection, story: LoopStory, scores: Mapping[int, float]
) -> IterationRow:
    metrics, row = contender.metrics, story.rows.get(contender.iteration, {})
    best, last = ("selected", "final") if story.ended else ("best", "latest")
    marks = [best] if contender.iteration == selection.selected.iteration else []
    if contender.iteration == selection.final.iteration:
        marks.append(last)
    passed, count, before = metrics.tests_passed, metrics.test_count, row.get("previous_iteration")
    # What an iteration gained over its predecessor: what a point of it cost.
    gained = contender.adjusted - scores[before] if before is not None and before in scores else None
    return IterationRow(
        iteration=contender.iteration,
        classification=str(row.get("classification", ABSENT)),
        quality=score(contender.walked.quality_score),
        adjusted=score(contender.adjusted),
        tests=ABSENT if count is None or passed is None else f"{passed}/{count}",
        coverage=number(metrics.coverage_percentage, BY_NAME["coverage_percentage"]),
        errors=number(metrics.error_count, BY_NAME["error_count"]),
        verified="yes" if contender.walked.verified else "no",
        decision=str(row.get("decision", ABSENT)),
        cost=money(_cost(story, contender.iteration)),
        price=cost_per_point(_cost(story, contender.iteration), gained),
        mark=" ".join(f"← {mark}" for mark in marks),
        integrity=contender.walked.verdict or ABSENT,
        score=percent(contender.known_score),
        commit=story.commits.get(contender.iteration) or ABSENT,
    )
