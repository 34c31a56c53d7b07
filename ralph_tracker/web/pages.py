"""The pages and documents of one project's loops, each made from what is kept when it is asked for."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ralph_tracker.core.metrics import BY_NAME, half_up
from ralph_tracker.errors import RalphTrackerError
from ralph_tracker.iteration.diff import IterationDiff, MetricChange, diff_document, differences_of
from ralph_tracker.iteration.diff import side_by_side as compared_documents
from ralph_tracker.iteration.explain import explain, explanation_document, kept_point
from ralph_tracker.loop.reports import DIFF_ROOM, file_patches
from ralph_tracker.loop.status import LoopsDocument, StatusDocument, scores_of, state_sentence
from ralph_tracker.report import charts
from ralph_tracker.report.page import LivePage, fill_page
from ralph_tracker.report.sentences import percent, progress
from ralph_tracker.report.sentences import point_of as point
from ralph_tracker.report.value_text import known_money, number, score, signed_text
from ralph_tracker.store.layout import LoopPaths, ProjectPaths
from ralph_tracker.store.loop_summary import current_loop, loops_of
from ralph_tracker.store.record_listing import Listing, as_of_now
from ralph_tracker.store.record_reader import SealedRecords

COMPARED: Final = 5
_TESTS_SHOWN: Final = 200
_HUNDRED: Final = 100
StatusOf = Callable[[LoopPaths], StatusDocument]


class LoopCard(NamedTuple):
    """A loop in the list of all; `problem` says why it cannot be read, "" if it can."""

    loop_id: str
    current: bool
    status: str = ""
    sentence: str = ""
    trend: str = ""
    facts: str = ""
    problem: str = ""


class ComparedValue(NamedTuple):
    """A metric of two iterations as it is shown; the verdict is "" where it says nothing."""

    label: str
    before: str
    after: str
    change: str
    verdict: str


def loops_page(project: ProjectPaths, chosen: Sequence[LoopPaths], live: LivePage) -> str:
    """Return all loops of a project, the latest first, with the scores of the chosen ones in one chart."""
    series = {paths.loop_id: scores_of(SealedRecords(paths)) for paths in chosen}
    last = max((values[-1][0] for values in series.values() if values), default=-1)
    known = [dict(values) for values in series.values()]
    table = [(at, [percent(each[at]) if at in each else "" for each in known]) for at in range(last + 1)]
    current = current_of(project)
    cards = [_card(paths, is_current=paths.loop_id == current) for paths in reversed(loops_of(project))]
    values = {
        "title": f"Loops of {project.root.name or '/'}",
        "cards": sorted(cards, key=lambda card: card.current, reverse=True),
        "names": tuple(series),
        "chart": charts.comparison_chart({name: _in_percent(values) for name, values in series.items()}),
        "table": table,
        "most": COMPARED,
    }
    return fill_page("loops.html.j2", values, live)


def current_of(project: ProjectPaths) -> str | None:
    """Return the id of the current loop, None if there is none or it cannot be read."""
    try:
        return current_loop(project)
    except RalphTrackerError:
        return None


def _card(paths: LoopPaths, *, is_current: bool) -> LoopCard:
    try:
        records = SealedRecords(paths)
        summary = records.summary()
        facts = [f"iteration {summary.iteration}", f"score {percent(summary.adjusted_score)}"]
        if summary.best_iteration is not None:
            facts.append(f"best {percent(summary.best_adjusted_score)} at {summary.best_iteration}")
        if summary.cost_usd is not None:
            facts.append(known_money(summary.cost_usd, is_partial=records.has_unknown_costs()))
        facts.append(f"{summary.updated_at[:16].replace('T', ' ')} UTC")
        trend = charts.small(_in_percent(scores_of(records)), f"Score of {paths.loop_id} over the iterations")
        return LoopCard(
            paths.loop_id, is_current, summary.status, state_sentence(summary, paths), trend, ", ".join(facts), ""
        )
    except RalphTrackerError as error:
        return LoopCard(paths.loop_id, is_current, problem=str(error))


def _in_percent(series: Sequence[tuple[int, float]]) -> list[tuple[int, float | None]]:
    return [(at, value * _HUNDRED) for at, value in series]


def diff_page(paths: LoopPaths, before: int, after: int, live: LivePage) -> str:
    """Return two iterations side by side, with the diff of their files. Raises RecordError for a damaged one."""
    diff = _diff(paths, before, after)
    found = diff.differences
    tests = [] if found.tests is None else found.tests.items()
    old, new = (point(*kept_point(paths, number)) for number in (before, after))
    command, room, patches = f"ralph-tracker diff {before} {after}", DIFF_ROOM, []
    for file in file_patches(found.files or (), command):  # those without room name the command that shows them
        room -= len(file.patch)
        patches.append(file if room >= 0 else file._replace(patch="", note=command))
    values = {
        "loop_id": paths.loop_id,
        "diff": diff,
        "sentence": f"{progress(old, new)} from iteration {before} to {after}.",
        "rows": [_compared_value(change) for change in (*diff.scores, *diff.metrics)],
        "tests": [
            (
                kind.replace("_", " ").capitalize(),
                [each.id for each in changes[:_TESTS_SHOWN]],
                max(0, len(changes) - _TESTS_SHOWN),
            )
            for kind, changes in tests
            if changes
        ],
        "tests_note": found.tests_note,
        "files": patches,
        "files_note": found.files_note,
    }
    return fill_page("diff.html.j2", values, live)


def _compared_value(change: MetricChange) -> ComparedValue:
    verdict = change.verdict if change.verdict in {"better", "worse"} else ""
    spec = BY_NAME.get(change.name)
    if spec is None:
        moved = "" if not change.change else f"{change.change:+.4f}"
        if moved and change.name == "adjusted_score":
            moved = f"{half_up((change.change or 0) * _HUNDRED, 1):+g} %"
        told = percent if change.name == "adjusted_score" else score
        old, new = (value if isinstance(value, int | float) else None for value in (change.before, change.after))
        label = "Score" if change.name == "adjusted_score" else change.name
        return ComparedValue(label, told(old), told(new), moved, verdict)
    moved = "" if change.change is None else signed_text(change.change, spec)
    return ComparedValue(spec.label, number(change.before, spec), number(change.after, spec), moved, verdict)


def _diff(paths: LoopPaths, before: int, after: int) -> IterationDiff:
    found = Listing(paths.loop_id, SealedRecords(paths))
    one, other = as_of_now(found, (found.one(before), found.one(after)))
    return compared_documents(one.require(), other.require(), differences_of(found.committed, before, after))


def loops_document(project: ProjectPaths, status_of: StatusOf) -> LoopsDocument:
    """Return where every loop of a project stands."""
    document: LoopsDocument = {"loops": [], "unreadable": {}}
    for paths in loops_of(project):
        try:
            document["loops"].append(status_of(paths))
        except RalphTrackerError as error:
            document["unreadable"][paths.loop_id] = str(error)
    return document


def history_document(paths: LoopPaths) -> list[Mapping[str, Any]]:
    """Return the records of a loop that can be read, as `history --json` does."""
    found = Listing(paths.loop_id, SealedRecords(paths))
    return [record.document for record in as_of_now(found, found.all()) if record.document is not None]


def iteration_document(paths: LoopPaths, iteration: int) -> dict[str, Any]:
    """Return an iteration with what led to it, as `show --json` does. Raises RecordError for a damaged one."""
    records = SealedRecords(paths)
    document = Listing(paths.loop_id, records).one(iteration).require()
    return {**document, "explanation": explanation_document(explain(records, document))}


def difference_document(paths: LoopPaths, before: int, after: int) -> Mapping[str, Any]:
    """Return what differs between two iterations, as `diff --json` does. Raises RecordError for a damaged one."""
    return diff_document(paths.loop_id, _diff(paths, before, after))
