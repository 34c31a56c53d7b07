"""Finish a loop after selection: write the document and both reports, and set its status.

The reports tell what every iteration changed; most iterations repeat the outcomes of the one before, so that these are
read fast.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from operator import ne
from typing import Any, Final, NamedTuple

import msgspec

from ralph_tracker.config.yaml_io import dump_yaml
from ralph_tracker.core.best import Candidate
from ralph_tracker.core.codec import decode
from ralph_tracker.core.lineage import Scorer
from ralph_tracker.core.metrics import Metrics
from ralph_tracker.core.selection import Selection, SelectionCandidate, SelectionDocument, selection_document
from ralph_tracker.iteration.apply_selection import Applied, Placement
from ralph_tracker.iteration.open_problems import wrong_lines
from ralph_tracker.iteration.trust_listing import trusted_templates
from ralph_tracker.loop.status import rolled_back
from ralph_tracker.report.changes import Change, change_of
from ralph_tracker.report.iteration_view import new_alerts
from ralph_tracker.report.markdown import selection_reports
from ralph_tracker.report.selection_view import LoopStory, selection_view
from ralph_tracker.store.iteration_files import COLLECTED
from ralph_tracker.store.layout import MANIFEST, LoopPaths, document_name
from ralph_tracker.store.loop_records import Listed
from ralph_tracker.store.loop_status import Summary
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.packs import kept_bytes
from ralph_tracker.store.record_listing import RecordHistory

_LETTERS: Final = {"passed": "p", "failed": "f", "skipped": "s"}


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
    """The parts of tests.json that are needed; the first loops have a mapping in place of names and outcomes."""

    measured: bool
    names: msgspec.Raw = msgspec.Raw(b"[]")
    outcomes: str = ""
    present: dict[str, str] | None = None


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
            if kept.present is not None:
                found = Outcomes(tuple(kept.present), "".join(_LETTERS[word] for word in kept.present.values()))
                raw = b""
            elif bytes(kept.names) != raw:
                raw, names = bytes(kept.names), msgspec.json.decode(kept.names, type=list[str])
                found = Outcomes(tuple(names), kept.outcomes)
            elif kept.outcomes != found.letters:
                found = Outcomes(found.names, kept.outcomes)
        except (msgspec.DecodeError, KeyError, UnicodeDecodeError):
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
    """A selection with its document and report files; `problems` name what could not be read.

    `in_place` and `placement` are as in Applied.
    """

    selection: Selection
    document: SelectionDocument
    files: tuple[str, ...]
    problems: tuple[str, ...]
    applied: str
    in_place: bool | None = None
    placement: Placement | None = None


def contender_of(row: Mapping[str, Any], scorer: Scorer) -> SelectionCandidate:
    """Return an iteration as a candidate for selection, from its line of the trajectory."""
    candidate = decode(Candidate, row["candidate"])
    adjusted = scorer.score(candidate)
    return SelectionCandidate(candidate, row["timestamp"], Metrics(**row["metrics"]), adjusted)


def close(
    store: LoopStore,
    selection: Selection,
    rows: Sequence[Mapping[str, Any]],
    lost: Sequence[int],
    summary: Summary,
    applied: Applied,
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
    if chosen in store.collected():
        problems += (COLLECTED.format(chosen),)
    story = replace(story_of(store, selection, rows, listed, summary, history), applied=applied.text, problems=problems)
    report = f"{paths.shown}/reports/output-selection.md"
    again = applied.verified_again
    document = selection_document(
        selection, paths.shown, applied.document, report, verified_again=again, unreadable=problems
    )
    store.write_text(paths.selection, dump_yaml(document))
    reports = selection_reports(selection_view(selection, story), trusted_templates(paths.root))
    store.write_text(paths.reports / "output-selection.md", reports.selection)
    store.write_text(paths.reports / "loop-report.md", reports.loop)
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
    return FinishedLoop(selection, document, files, problems, applied.text, applied.in_place, applied.placement)


def story_of(
    store: LoopStore,
    selection: Selection,
    rows: Sequence[Mapping[str, Any]],
    listed: Sequence[Listed],
    summary: Summary,
    history: Sequence[Outcomes | None],
) -> LoopStory:
    """Return what the reports of a loop tell besides the selection."""
    documents = (record.document for record in listed if record.document is not None)
    told = []
    for event in store.events():
        if event.get("event") == "accept":
            told.append(f"Accepted {event['id']}: {event['reason']}")
        if event.get("event") == "rollback":
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
        changes=tuple(loop_changes(store.paths, rows, history)),
    )


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
