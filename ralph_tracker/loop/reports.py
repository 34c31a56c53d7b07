"""Write the reports of a loop: those of its selection, which finish it, its page, and its pull request's comment.

They tell what every iteration changed; most iterations repeat the outcomes of the one before, so that these are read
fast. Page and comment are made from what is kept at any time, and nothing is written for them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from operator import ne
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from ralph_tracker import plugins
from ralph_tracker.codec import decode
from ralph_tracker.config.yaml_io import dump_yaml
from ralph_tracker.core.metrics import Metrics
from ralph_tracker.core.thresholds import SelectionMode, Thresholds
from ralph_tracker.core.walk import MODES, Choice, Mode, WalkedIteration
from ralph_tracker.errors import ConfigError, NoSnapshotError, StoreError, nearest
from ralph_tracker.iteration.apply_iteration import ApplyResult, Placement
from ralph_tracker.iteration.open_problems import flaky_in, questions_in, wrong_lines
from ralph_tracker.iteration.trust_listing import trusted_templates
from ralph_tracker.loop.status import advice, decision_now, is_of_the_loop, rolled_back, selected_iteration
from ralph_tracker.records.output_selection import (
    Selection,
    SelectionCandidate,
    select,
)
from ralph_tracker.report.iteration_view import commit_of, new_alerts
from ralph_tracker.report.loop_view import Change, LoopStory, change_of, matrix_of, selection_view
from ralph_tracker.report.markdown_reports import pull_request, selection_reports
from ralph_tracker.report.page import FilePatch, LivePage, PageHead, fill_page, page_view
from ralph_tracker.report.wording import in_ranges
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.iteration_snapshots import COLLECTED, IterationSnapshots
from ralph_tracker.store.json_documents import read_json
from ralph_tracker.store.layout import MANIFEST, RUN, LoopPaths, document_name
from ralph_tracker.store.read import ListedRecord, SealedRecords
from ralph_tracker.store.record_packs import kept_bytes
from ralph_tracker.store.records_to_show import RecordHistory
from ralph_tracker.store.snapshots.file_changes import FileChange
from ralph_tracker.store.summary import Summary
from ralph_tracker.store.write import LoopStore

# What diffs may take of the page: iterations, bytes in all, and of one file.
DIFFS: Final = 40
DIFF_ROOM: Final = 1_500_000


class Outcomes(NamedTuple):
    """The tests of one report by name, and their outcomes as one letter each: p, f or s."""

    names: tuple[str, ...]
    letters: str

    def by_name(self) -> dict[str, str]:
        """Return the letter of each test."""
        return dict(zip(self.names, self.letters, strict=True))

    def beside(self, other: "Outcomes") -> tuple[dict[str, str], dict[str, str]]:
        """Return the letters of both by name, without the tests that are known to be the same."""
        if self.names is not other.names:
            return self.by_name(), other.by_name()
        moved = list(map(ne, self.letters, other.letters))
        names = list(compress(self.names, moved))
        return (
            dict(zip(names, compress(self.letters, moved), strict=True)),
            dict(zip(names, compress(other.letters, moved), strict=True)),
        )


class _Kept(msgspec.Struct, gc=False):
    """The parts of tests.json that are needed."""

    measured: bool
    names: msgspec.Raw = msgspec.Raw(b"[]")
    outcomes: str = ""


def outcome_history(paths: LoopPaths, last: int) -> Iterator[Outcomes | None]:
    """Yield the outcomes of each iteration from 0 to `last`; None where no names are known or they are damaged.

    Iterations with the same names share them, and with the same outcomes share the whole value.
    """
    decoder, raw, found = msgspec.json.Decoder(_Kept), b"", Outcomes((), "")
    for number in range(last + 1):
        data = kept_bytes(paths, number, document_name(number, "tests.json"))
        try:
            kept = decoder.decode(data or b"")
            if not kept.measured:
                yield None
                continue
            if bytes(kept.names) != raw:
                raw, names = bytes(kept.names), msgspec.json.decode(kept.names, type=list[str])
                found = Outcomes(tuple(names), kept.outcomes)
            elif kept.outcomes != found.letters:
                found = Outcomes(found.names, kept.outcomes)
        except (msgspec.DecodeError, UnicodeDecodeError):
            yield None
            continue
        yield found if len(found.names) == len(found.letters) else None


def changed_paths(paths: LoopPaths, number: int) -> tuple[str, ...] | None:
    """Return the files that an iteration changed since the one that it descends from; None where that is unknown."""
    data = kept_bytes(paths, number, document_name(number, MANIFEST))
    try:
        manifest: Any = msgspec.json.decode(data or b"")
        return tuple(str(change["path"]) for change in manifest["since_previous"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class FinishedLoop:
    """A selection with its report files; `problems` name what could not be read.

    `in_place` and `placement` are as in Applied, `commits` as in LoopStory.
    """

    selection: Selection
    files: tuple[str, ...]
    problems: tuple[str, ...]
    applied: str
    in_place: bool | None = None
    placement: Placement | None = None
    commits: Mapping[int, str] = field(default_factory=dict)


def contender_of(row: Mapping[str, Any]) -> SelectionCandidate:
    """Return an iteration as a candidate for selection, from its line of the trajectory."""
    return SelectionCandidate(decode(WalkedIteration, row["walked"]), row["timestamp"], Metrics(**row["metrics"]))


def selection_of(
    committed: SealedRecords,
    rows: Sequence[Mapping[str, Any]],
    thresholds: Thresholds,
    *,
    mode: SelectionMode | None = None,
    iteration: int | None = None,
    reason: str | None = None,
    choice: Choice | None = None,
) -> Selection:
    """Select among the iterations of a loop, with the questions that the selected one leaves open; `choice` is made.

    Raises KeyError for an iteration that is not among them, ConfigError for a mode that nobody brings, or that fails.
    """
    contenders = [contender_of(row) for row in rows]
    mode = mode or thresholds.selection.mode
    found = select(
        committed.paths.loop_id,
        contenders,
        thresholds,
        mode=mode,
        choosing=(lambda *_: choice) if choice else mode_of(mode) if iteration is None else None,
        iteration=iteration,
        reason=reason,
    )
    return found._replace(questions=questions_in(committed, found.selected.iteration))


def mode_of(name: SelectionMode) -> Mode:
    """Return the function of a selection mode, ours or a plug-in's. Raises ConfigError, as the function does."""
    if name in MODES:
        return MODES[name]

    def choose(iterations: Sequence[WalkedIteration], thresholds: Thresholds) -> Choice:
        try:
            choice: Choice = plugins.call("modes", name, iterations, thresholds)
        except plugins.PluginError as error:
            raise ConfigError(f"{error}; select with --mode walk") from error
        numbers = [each.iteration for each in iterations]
        if not isinstance(choice, Choice) or choice.iteration not in numbers:
            owner = plugins.distribution("modes", name)
            raise ConfigError(
                f"{name}, a plug-in of {owner}, chose {choice!r}, no iteration of 0 to {numbers[-1]}; "
                "select with --mode walk"
            )
        return choice

    if name not in plugins.names("modes"):
        raise ConfigError(f"no selection mode {name!r}{nearest(name, [*MODES, *plugins.names('modes')])}")
    return choose


def write_closing_reports(
    store: LoopStore,
    selection: Selection,
    rows: Sequence[Mapping[str, Any]],
    lost: Sequence[int],
    summary: Summary,
    applied: ApplyResult,
    at: str,
    *,
    finish: bool,
) -> FinishedLoop:
    """Write selection.yaml and both reports, then mark the loop as finished if `finish`."""
    paths = store.paths
    # Side by side, so that each pack is opened once for both.
    read = list(zip(RecordHistory(store).all(), outcome_history(paths, summary.iteration), strict=True))
    listed, history = [record for record, _ in read], [outcomes for _, outcomes in read]
    problems = tuple(record.problem for record in listed if record.problem is not None)
    problems += tuple(f"iteration {number}: what was measured is damaged; it is left out" for number in lost)
    chosen = selection.selected.iteration
    if chosen in store.collected_iterations():
        problems += (COLLECTED.format(chosen),)
    story = replace(story_of(store, selection, rows, listed, summary, history), applied=applied.text, problems=problems)
    report = f"{paths.shown}/reports/output-selection.md"
    again = applied.verified_again
    selection = selection._replace(
        folder=paths.shown, applied=applied.document, report=report, verified_again=again, unreadable=problems
    )
    store.write(paths.selection, dump_yaml(selection.to_dict()).encode())
    reports = selection_reports(selection_view(selection, story), trusted_templates(paths.root))
    store.write(paths.reports / "output-selection.md", reports.selection.encode("utf-8", "replace"))
    store.write(paths.reports / "loop-report.md", reports.loop.encode("utf-8", "replace"))
    store.append_event(
        {
            "event": "selection",
            "iteration": selection.selected.iteration,
            "mode": selection.mode,
            "reason": selection.override_reason,
            "at": at,
            "verified_again": again,
        }
    )
    if finish and summary.status != "finished":
        store.set_status(summary, "finished", at)
    files = (f"{paths.shown}/selection.yaml", report, f"{paths.shown}/reports/loop-report.md")
    return FinishedLoop(selection, files, problems, applied.text, applied.in_place, applied.placement, story.commits)


def story_of(
    store: LoopStore,
    selection: Selection,
    rows: Sequence[Mapping[str, Any]],
    listed: Sequence[ListedRecord],
    summary: Summary,
    history: Sequence[Outcomes | None],
) -> LoopStory:
    """Return what the reports of a loop tell besides the selection."""
    documents = [record.document for record in listed if record.document is not None]
    records = [document["iteration_metrics"] for document in documents]
    quarantine = ConfiguredLoop.read(store, lambda _: frozenset()).config.document.get("quarantine", {})
    latest = store.after(summary.iteration)
    told = _escalations(documents)
    for event in store.events():
        if event.get("event") == "accept":
            told.append(f"Accepted {event['id']}: {event['reason']}")
        if event.get("event") == "rollback" and is_of_the_loop(store.paths, event):
            told.append(f"Rolled back to iteration {event['to']} after iteration {event['after']}")
    return LoopStory(
        rows={row["iteration"]: row for row in rows},
        applied="",
        total_cost=summary.cost_usd,
        alerts=tuple(alert for document in documents for alert in new_alerts(document)),
        events=tuple(dict.fromkeys(told)),
        problems=tuple(record.problem for record in listed if record.problem is not None),
        setbacks=rolled_back(store.paths),
        wrong=wrong_lines(store, selection.selected.iteration),
        flaky=flaky_in(store, quarantine) if quarantine or latest.get("flaky") else (),
        changes=tuple(loop_changes(store.paths, rows, history)),
        commits={record["iteration"]: commit_of(record) for record in records},
    )


def _escalations(documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return why a person had to decide, each reason once with its iterations."""
    reasons: dict[str, list[int]] = {}
    for document in documents:
        advice = document["recommendation"]
        if advice["action"] == "escalate":
            reasons.setdefault(str(advice["reason"]), []).append(document["iteration_metrics"]["iteration"])
    return [
        f"A person had to decide at iteration{'' if len(numbers) == 1 else 's'} {in_ranges(numbers)}: "
        f"{why.removeprefix('Escalate to human - ')}"
        for why, numbers in reasons.items()
    ]


def loop_changes(
    paths: LoopPaths, rows: Sequence[Mapping[str, Any]], history: Sequence[Outcomes | None]
) -> Iterator[Change]:
    """Yield what each iteration changed, from its line of the trajectory and what is kept beside it."""
    kept = (paths.iteration(0) / MANIFEST).exists()
    for row in rows:
        number, before = row["iteration"], row.get("previous_iteration")
        if before is None:
            continue
        old, new = history[before], history[number]
        files = (kept and changed_paths(paths, number)) or ()
        if old is None or new is None or old is new:
            yield Change(number, before, files=files)
        else:
            was, now = old.beside(new)
            yield change_of(number, before, was, now, files)


class LoopOverview(NamedTuple):
    """A loop as its page and its comment show it; `history` has the outcomes of each iteration."""

    summary: Summary
    selection: Selection
    story: LoopStory
    listed: Sequence[ListedRecord]
    history: Sequence[Outcomes | None]


def gather_loop(store: LoopStore) -> LoopOverview:
    """Return a loop with all that its reports show. Raises RecordError for one that cannot be read."""
    loop = ConfiguredLoop.read(store, lambda _: frozenset())
    summary = store.summary()
    rows, _ = store.rows()
    chosen = selected_iteration(store.paths) if summary.status == "finished" else None
    there = any(row["iteration"] == chosen for row in rows)
    selection = selection_of(store, rows, loop.config.thresholds, iteration=chosen if there else None)
    listed = list(RecordHistory(store).all())
    history = list(outcome_history(store.paths, summary.iteration))
    story = story_of(store, selection, rows, listed, summary, history)
    number = selection.selected.iteration
    now = advice(summary, number, store.paths) or f"Best so far: iteration {number}."
    story = replace(story, advice=now, ended=summary.status == "finished")
    return LoopOverview(summary, selection, story, listed, history)


def loop_page(store: LoopStore, next_step: str, live: LivePage | None = None) -> str:
    """Return the page of a loop as HTML; `live` makes it one of `serve`. Raises RecordError as `gather_loop` does."""
    loop = gather_loop(store)
    changes, undone = loop.story.changes, {each.iteration for each in loop.story.setbacks}
    view = page_view(
        loop.selection,
        loop.story,
        {record.number: record.document for record in loop.listed if record.document is not None},
        matrix_of(changes, loop.history, undone),
        tuple(_files(IterationSnapshots(store), changes, loop.selection.selected.iteration)),
        sum(1 for each in changes if each.files),
        PageHead(
            store.paths.root.name,
            _agent_of(store.paths),
            loop.summary.status,
            decision_now(loop.summary, store.paths),
            next_step,
        ),
    )
    return fill_page("loop.html.j2", {"page": view, "s": view.selection}, live)


def _agent_of(paths: LoopPaths) -> str:
    """Return the program that `run` drives in a loop, "" without one."""
    run = read_json(paths.folder / RUN)
    command = (run.get("settings") or {}).get("command") if isinstance(run, dict) else None
    return Path(str(command[0])).name if command else ""


def pull_request_comment(store: LoopStore, next_step: str) -> str:
    """Return a loop as the body of a pull request's comment, at most 60 lines. Raises RecordError as `gather_loop`."""
    loop = gather_loop(store)
    alerts = sorted(loop.summary.alerts, key=lambda alert: (alert["severity"], alert["type"]))
    return pull_request(
        selection_view(loop.selection, loop.story),
        wrong=wrong_lines(store, loop.summary.head),
        alerts=[f"{alert['severity']} {alert['type']}: {alert['message']}" for alert in alerts],
        decision=decision_now(loop.summary, store.paths),
        next_step=next_step,
    )


def _files(
    iteration_snapshots: IterationSnapshots, changes: Sequence[Change], peak: int
) -> Iterator[tuple[int, tuple[FilePatch, ...]]]:
    """Yield the files that the peak and the last iterations changed, in order; diffs for those that have room."""
    wanted = sorted(
        (change for change in changes if change.files), key=lambda each: (each.iteration != peak, -each.iteration)
    )[:DIFFS]
    room, found = DIFF_ROOM // 4, {}  # a page has more than patches
    for change in wanted:
        command = f"ralph-tracker diff {change.before} {change.iteration}"
        try:
            patches = file_patches(iteration_snapshots.file_changes(change.before, change.iteration), command)
        except (NoSnapshotError, StoreError) as error:
            patches = (FilePatch("", "", "", str(error)),)
        room -= sum(len(each.patch) for each in patches)
        if room < 0:
            break
        found[change.iteration] = patches
    for change in sorted(wanted, key=lambda each: each.iteration):
        command = f"ralph-tracker diff {change.before} {change.iteration}"
        plain = tuple(FilePatch(path, "", "", command) for path in change.files)
        yield change.iteration, found.get(change.iteration, plain)


def file_patches(files: Sequence[FileChange], command: str) -> tuple[FilePatch, ...]:
    """Return changed files as a page shows them; `command` is what shows a patch that is too long for it."""
    found = []
    for file in files:
        patch, note = file.patch or "", ""
        # What comes before the first hunk names the file again, unless that is all there is: a change of mode.
        patch = patch[max(0, patch.find("\n@@") + 1) :].rstrip("\n")
        if file.patch is None:
            note = {"binary": "not text", "large": "too large to read"}.get(file.content, "") or command
        elif len(patch) > 40_000:
            patch, note = "", f"{len(patch)} characters: {command}"
        found.append(FilePatch(file.name, file.status, patch, note))
    return tuple(found)
