"""Make HTML pages: self-contained, no script needed, a strict content security policy."""

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from html import escape
from typing import Any, Final, NamedTuple

from ralph_tracker.core.alert_types import TYPE_BY_NAME
from ralph_tracker.core.metrics import METRICS, MetricSpec
from ralph_tracker.core.thresholds import DIMENSIONS
from ralph_tracker.records.output_selection import Selection
from ralph_tracker.report import charts
from ralph_tracker.report.escaping import for_terminal
from ralph_tracker.report.iteration_view import AlertRow, FindingRow, findings_of, further_value, with_spread
from ralph_tracker.report.loop_view import (
    IterationRow,
    LoopStory,
    OutcomeMatrix,
    SelectionView,
    selection_view,
)
from ralph_tracker.report.markdown_reports import SHIPPED, jinja_environment
from ralph_tracker.report.wording import ABSENT, number

FINDINGS_SHOWN: Final = 200
ALERTS_SHOWN: Final = 8
# More rows than these nobody reads: the cursor over the charts says what the others have.
ROWS_SHOWN: Final = 100
CHANGES_SHOWN: Final = 200
# Why the walk did not take an iteration, by its rule.
_REFUSALS: Final = {
    1: "not taken: not believed",
    2: "not taken: it breaks a test",
    3: "not taken: it drops many tests",
    4: "not taken: worse, or a question, for no gain",
}


class LivePage(NamedTuple):
    """What a page of `serve` needs: the address of its events, the version that it shows, and the pages above it.

    `above` are names and addresses below the list of all loops; None: it is that list.
    """

    events: str
    version: str
    above: tuple[tuple[str, str], ...] | None = ()


class FilePatch(NamedTuple):
    """One changed file; `patch` is "" where there is none to show, and `note` then says why."""

    path: str
    status: str
    patch: str
    note: str


class FoundAt(NamedTuple):
    """A finding with the iteration that it was found in."""

    iteration: int
    finding: FindingRow


class Multiple(NamedTuple):
    """One metric over the iterations, drawn, with its first and last known value, its range, and the taken value.

    `values` are those of all iterations, for the cursor.
    """

    label: str
    picture: str
    values: str
    first: str
    last: str
    low: str
    high: str
    taken: str


class PageHead(NamedTuple):
    """What stands at the top of a loop's page besides its figures; "" is unknown."""

    project: str
    agent: str
    status: str
    decision: str
    next_step: str


class AlertGroup(NamedTuple):
    """The alerts that an iteration raised, the worst first."""

    iteration: int
    alerts: tuple[AlertRow, ...]


class TimelineEntry(NamedTuple):
    """What an iteration changed, in words; `is_undone` if it was rolled back."""

    iteration: int
    text: str
    is_undone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """All that the page shows, as the template needs it."""

    selection: SelectionView
    head: PageHead
    figures: tuple[tuple[str, str], ...]
    alerts: tuple[AlertGroup, ...]
    folded: tuple[tuple[str, tuple[AlertGroup, ...]], ...]
    rows: tuple[IterationRow, ...]
    listed: frozenset[int]
    unlisted: tuple[tuple[Any, ...], ...]
    reasons: Mapping[int, str]
    timeline: tuple[TimelineEntry, ...]
    earlier_changes: int
    trajectory: str
    multiples: tuple[Multiple, ...]
    metric_rows: tuple[tuple[int, tuple[str, ...]], ...]
    parts: str
    part_names: tuple[str, ...]
    part_rows: tuple[tuple[int, tuple[str, ...]], ...]
    matrix: OutcomeMatrix
    files: tuple[tuple[int, tuple[FilePatch, ...]], ...]
    more_files: int
    cost: str
    findings: tuple[FoundAt, ...]
    more_findings: int


def page_view(
    selection: Selection,
    story: LoopStory,
    documents: Mapping[int, Mapping[str, Any]],
    matrix: OutcomeMatrix,
    files: Sequence[tuple[int, tuple[FilePatch, ...]]],
    changed: int,
    head: PageHead,
) -> PageView:
    """Return the page of a loop; `documents` are the records that can be read, by number.

    `changed` is how many iterations changed files, of which `files` has some.
    """
    view = selection_view(selection, story)
    parts = _parts(documents)
    named = [name for name in DIMENSIONS if any(value for _, value in parts[name])]
    findings = tuple(FoundAt(at, each) for at, document in documents.items() for each in findings_of(document))
    series = {spec: tuple(c.metrics.number(spec.name) for c in selection.contenders) for spec in METRICS}
    # The metrics that changed; of two that are always the same, such as errors of one kind alone, the first.
    moved: dict[tuple[float | None, ...], MetricSpec] = {}
    for spec, values in series.items():
        if len({value for value in values if value is not None}) > 1:
            moved.setdefault(values, spec)
    rolled_back = {each.iteration for each in story.setbacks}
    undone = rolled_back - {view.selected}
    current = _grouped(story.alerts, lambda at: at not in undone and at <= view.selected)
    later = _grouped(story.alerts, lambda at: at not in undone and at > view.selected)
    folded = (
        ("earlier alerts", current[:-ALERTS_SHOWN]),
        (f"alerts after iteration {view.selected}", later),
        ("alerts of what was rolled back", _grouped(story.alerts, lambda at: at in undone)),
    )
    timeline = tuple(
        TimelineEntry(each.iteration, each.text, is_undone=each.iteration in rolled_back)
        for each in story.changes
        if each.text
    )
    numbers = [c.iteration for c in selection.contenders]
    objectives: dict[str, dict[int, Mapping[str, Any]]] = {}
    for at, document in documents.items():
        for name, metric in (document["iteration_metrics"].get("metrics") or {}).items():
            if metric.get("samples"):
                objectives.setdefault(name, {})[at] = metric
    marks = _marks(view, story, selection, documents)
    reasons: dict[int, list[str]] = {}
    for mark in marks:
        reasons.setdefault(mark.iteration, []).append(mark.words)
    # To these marks and alerts lead; the script draws the others once somebody asks for them.
    shown = _rows_shown(numbers, view.selected)
    listed = {at for _, at in shown} | {mark.iteration for mark in marks if mark.kind not in {"taken", "point"}}
    listed.update(group.iteration for group in _grouped(story.alerts, lambda _: True))
    return PageView(
        selection=view,
        figures=_figures(view, selection, head),
        alerts=current[-ALERTS_SHOWN:],
        folded=tuple((what, groups) for what, groups in folded if groups),
        rows=view.rows,
        listed=frozenset(listed),
        unlisted=tuple(
            (place, at, ", ".join(reasons.get(at, ())), *map(for_terminal, cells))
            for place, (at, cells) in enumerate(zip(numbers, view.table, strict=True))
            if at not in listed
        ),
        reasons={at: ", ".join(words) for at, words in reasons.items()},
        timeline=timeline[-CHANGES_SHOWN:],
        earlier_changes=max(0, len(timeline) - CHANGES_SHOWN),
        head=head,
        trajectory=charts.trajectory(
            [(c.iteration, None if c.known_score is None else c.known_score * 100) for c in selection.contenders],
            marks,
            {at: row.get("previous_iteration") for at, row in story.rows.items()},
            {c.iteration: c.walked.passing for c in selection.contenders},
        ),
        multiples=(
            *(_of_objective(name, own, numbers, view.selected) for name, own in objectives.items()),
            *(
                _multiple(list(zip(numbers, values, strict=True)), spec, view.selected)
                for values, spec in moved.items()
            ),
        ),
        metric_rows=tuple(
            (
                at,
                (
                    *(with_spread(own.get(at) or {}) for own in objectives.values()),
                    *(number(values[place], spec) for values, spec in moved.items()),
                ),
            )
            for place, at in shown
        ),
        parts=charts.stacked_chart({name: parts[name] for name in named}, "Parts of the score, in percent"),
        part_names=tuple(name.capitalize() for name in named),
        part_rows=tuple(
            (row, tuple("" if (value := parts[name][place][1]) is None else f"{value:.1f}" for name in named))
            for place, row in _rows_shown([*documents], view.selected)
        ),
        matrix=matrix,
        files=tuple(files),
        more_files=changed - len(files),
        cost=_cost(selection, story),
        findings=findings[:FINDINGS_SHOWN],
        more_findings=max(0, len(findings) - FINDINGS_SHOWN),
    )


def fill_page(template: str, values: Mapping[str, Any], live: LivePage | None = None) -> str:
    """Return a page from its template, with its style and script in it and the policy that allows only those.

    `live` makes it a page of `serve`.
    """
    environment = jinja_environment(SHIPPED)
    style, script = _sources(live=live is not None)
    own = {"live": live, "style": style, "script": script, "policy": policy_of(live=live is not None)}
    return environment.get_template(template).render(own | dict(values))


@cache
def policy_of(*, live: bool) -> str:
    """Return the content security policy of every page; a live one may also ask its own server."""
    style, script = _sources(live=live)
    own = ("connect-src 'self'", "form-action 'self'") if live else ("form-action 'none'",)
    return "; ".join(
        ("default-src 'none'", f"style-src {_hash(style)}", f"script-src {_hash(script)}", "base-uri 'none'", *own)
    )


@cache
def _sources(*, live: bool) -> tuple[str, str]:
    loader = jinja_environment(SHIPPED).loader
    style, script, more = (
        str(loader.get_source(jinja_environment(SHIPPED), name)[0]) if loader else ""
        for name in ("loop.css", "loop.js", "live.js")
    )
    return style, script + more if live else script


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def raised_at(alert: AlertRow) -> int | None:
    """Return the iteration that raised an alert."""
    at = alert.since.rpartition(" ")[2]
    return int(at) if at.isdecimal() else None


def _grouped(alerts: Sequence[AlertRow], wanted: Callable[[int], bool]) -> tuple[AlertGroup, ...]:
    found: dict[int, list[AlertRow]] = {}
    for alert in alerts:
        if (at := raised_at(alert)) is not None and wanted(at):
            found.setdefault(at, []).append(alert)
    return tuple(
        AlertGroup(at, tuple(sorted(found[at], key=lambda each: (each.severity, each.type)))) for at in sorted(found)
    )


def _figures(view: SelectionView, selection: Selection, head: PageHead) -> tuple[tuple[str, str], ...]:
    """Return what stands above the chart: a name and a value each; what is unknown is left out."""
    row = next(row for row in view.rows if row.iteration == view.selected)
    began, ended = (datetime.fromisoformat(c.timestamp) for c in (selection.contenders[0], selection.final))
    minutes, seconds = divmod(int((ended - began).total_seconds()), 60)
    known = {
        "Taken" if view.ended else "Best so far": f"{view.selected} of {view.final}",
        "Score": row.score,
        "Tests": row.tests,
        "Cost": view.total_cost.partition(",")[0],
        "Time": f"{minutes} min" if minutes else f"{seconds} s",
        "Agent": head.agent,
        "Project": head.project,
        "Commit": row.commit,
    }
    return tuple((name, value) for name, value in known.items() if value not in {"", ABSENT, "unknown"})


def _marks(
    view: SelectionView, story: LoopStory, selection: Selection, documents: Mapping[int, Mapping[str, Any]]
) -> list[charts.Mark]:
    """Return the peak, what was taken on the way and why not, rollbacks, alerts, questions and the last decision.

    The words are ours: names of tests never get into a chart.
    """
    undone = {each.iteration: each for each in story.setbacks}
    marks = [charts.Mark(view.selected, "peak", "taken" if view.ended else "best so far")]
    for at, each in undone.items():
        why = ", ".join(name.replace("_", " ") for name in each.alerts if name in TYPE_BY_NAME)
        marks.append(charts.Mark(at, "rollback", f"rolled back{f' ({why})' if why else ''}"))
    for contender in selection.contenders:
        at, refusal = contender.iteration, contender.walked.refusal
        if at in undone or at == view.selected:
            continue
        words = "taken then" if refusal is None else _REFUSALS.get(refusal.rule, "not taken")
        marks.append(charts.Mark(at, "taken" if refusal is None else "point", words))
    for group in _grouped([each for each in story.alerts if each.severity in {"CRITICAL", "HIGH"}], lambda _: True):
        names = [each.type.replace("_", " ") for each in group.alerts if each.type in TYPE_BY_NAME]
        worst = group.alerts[0].severity
        marks.append(charts.Mark(group.iteration, worst.lower(), f"{worst} {', '.join(dict.fromkeys(names))}"))
    asked = {question.iteration for question in selection.questions}
    marks += [charts.Mark(at, "question", "a question waits for you") for at in sorted(asked)]
    blocked = (at for at, document in documents.items() if document["iteration_metrics"].get("blocked"))
    marks += [charts.Mark(at, "blocked", "the agent was blocked") for at in blocked]
    decided = view.rows[-1].decision
    if decided in {"stop", "rollback", "escalate"}:
        marks.append(charts.Mark(view.final, "decision", decided))
    return list(dict.fromkeys(marks))


def _multiple(series: charts.Series, spec: MetricSpec, taken: int) -> Multiple:
    known = [value for _, value in series if value is not None]
    picture = charts.small(series, f"{spec.label} over the iterations", taken)
    values = (known[0], known[-1], min(known), max(known), dict(series).get(taken))
    listed = "|".join(number(value, spec) for _, value in series)
    return Multiple(spec.label, picture, listed, *(number(value, spec) for value in values))


def _of_objective(name: str, metrics: Mapping[int, Mapping[str, Any]], numbers: Sequence[int], taken: int) -> Multiple:
    """Return the numbers of an objective, of which each is shown with the spread of its repeats."""
    series = [(at, metrics[at]["value"] if at in metrics else None) for at in numbers]
    spread = {at: (min(each["samples"]), max(each["samples"])) for at, each in metrics.items()}
    picture = charts.small(series, f"{escape(for_terminal(name))} over the iterations", taken, spread=spread)
    known = sorted(metrics.values(), key=lambda each: each["value"])
    first, *_, last = [*metrics.values()] * 2
    values = (first, last, known[0], known[-1], metrics.get(taken) or {})
    listed = "|".join(with_spread(metrics.get(at) or {}) for at in numbers)
    return Multiple(name, picture, listed, *map(further_value, values))


def _rows_shown(numbers: Sequence[int], taken: int) -> list[tuple[int, int]]:
    """Return the places and numbers of at most so many iterations at equal distances, and of the last and the taken."""
    every, last = -(-len(numbers) // ROWS_SHOWN), len(numbers) - 1
    return [(place, at) for place, at in enumerate(numbers) if place % every == 0 or place == last or at == taken]


def _parts(documents: Mapping[int, Mapping[str, Any]]) -> dict[str, list[tuple[int, float | None]]]:
    """Return what each dimension brings to the score, in percent."""
    found: dict[str, list[tuple[int, float | None]]] = {name: [] for name in DIMENSIONS}
    for at, document in documents.items():
        record = document["iteration_metrics"]
        scores, weights = record.get("breakdown") or {}, record.get("weights") or {}
        for name, series in found.items():
            both = scores.get(name), weights.get(name)
            series.append((at, None if both[0] is None or both[1] is None else both[0] * both[1]))
    return found


def _cost(selection: Selection, story: LoopStory) -> str:
    """Return what was spent so far over the iterations, drawn; "" where no cost is known."""
    spent = 0.0
    series: list[tuple[int, float | None]] = []
    for contender in selection.contenders:
        usage = story.rows.get(contender.iteration, {}).get("usage") or {}
        if usage.get("cost_usd") is not None:
            spent += usage["cost_usd"]
        known = contender.iteration == 0 or usage.get("cost_usd") is not None
        series.append((contender.iteration, spent if known else None))
    return charts.small(series, "Cost in USD, summed over the iterations") if spent else ""
