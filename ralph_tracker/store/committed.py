"""What is committed of one loop, read back. Readers take no lock: every file is there whole or not at all."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ralph_tracker.core.best import Candidate
from ralph_tracker.core.identities import KnownTests, SeenTests
from ralph_tracker.core.judge import LoopState
from ralph_tracker.core.line import Line
from ralph_tracker.core.metrics import Measurement, TestResults
from ralph_tracker.core.rules import Rules
from ralph_tracker.errors import RecordError
from ralph_tracker.store import codec
from ralph_tracker.store.layout import LoopPaths, iteration_name
from ralph_tracker.store.reading import read_json, read_lines
from ralph_tracker.store.standing import refuse_newer, summary_at
from ralph_tracker.store.summary import SCHEMA_VERSION, Summary, summary_from

Plain = dict[str, Any]


class Committed:
    """Read the committed documents of a loop."""

    def __init__(self, paths: LoopPaths) -> None:
        self.paths = paths

    @property
    def exists(self) -> bool:
        """Tell whether the loop has a committed baseline."""
        return self.paths.iteration(0).is_dir()

    def summary(self) -> Summary:
        """Return where the loop stands. Raises RecordError as `summary_at` does."""
        return summary_at(self.paths)

    def derived_summary(self) -> Summary:
        """Make the summary again from the latest committed iteration and the events. Raises RecordError."""
        latest = self.latest()
        summary = summary_from(self.after(latest).get("summary"))
        if summary is None:
            raise self.damaged(latest)
        return self.with_events(summary)

    def with_events(self, summary: Summary) -> Summary:
        """Add what the records do not know: a rollback that was carried out since, the loop's status."""
        for event in self.events():
            if event.get("event") == "rollback" and event.get("after") == summary.iteration:
                carried = {"target": event["to"], "after": summary.iteration}
                summary = replace(summary, head=event["to"], carried_out=carried)
            if event.get("event") == "status":
                summary = replace(summary, status=event["status"])
        return summary

    def latest(self) -> int:
        """Return the number of the last committed iteration. Raises RecordError where there is none."""
        prefix = len("iteration-")
        names = self.paths.iterations.glob("iteration-*") if self.paths.iterations.is_dir() else ()
        numbers = [int(path.name[prefix:]) for path in names if path.name[prefix:].isdecimal()]
        if not numbers:
            raise RecordError(f"{self.paths.shown}: no iteration is on record; run `ralph-tracker hook pre-loop` first")
        return max(numbers)

    def after(self, number: int) -> Plain:
        """Return the state after an iteration, as amended by acceptances; {} where it is damaged."""
        for path in (self.paths.amended(number), self.paths.iteration(number) / "state.json"):
            plain = read_json(path)
            if isinstance(plain, dict):
                refuse_newer(plain, self.paths.shown)
                return plain
        return {}

    def damaged(self, number: int) -> RecordError:
        """Return the error that names a damaged iteration."""
        folder = f"{self.paths.shown}/iterations/{iteration_name(number)}"
        return RecordError(f"iteration {number}: {folder} is damaged; restore it from a copy, or start with --new")

    def events(self) -> list[Plain]:
        """Return the rollbacks, acceptances, selections and changes of status, oldest first."""
        return [event for event in read_lines(self.paths.events) if isinstance(event, dict)]

    def state(self, summary: Summary, rules: Rules) -> LoopState:
        """Return what the judge needs for the next iteration: work that does not grow with the loop.

        Raises RecordError where a part of it is damaged or behind.
        """
        latest = self.after(summary.iteration)
        line, known = self.line(summary.head)
        try:
            return LoopState(
                loop_id=summary.loop_id,
                rules=rules,
                basis=codec.basis_from_plain(latest["basis"]),
                iteration=summary.iteration,
                line=line,
                known=known,
                seen=self.seen(latest["seen_at"]),
                frontier=tuple(codec.candidate_from_plain(c) for c in latest["frontier"]),
                rollbacks=latest["rollbacks"],
                cost_usd=latest["cost_usd"],
                accepted=frozenset(latest["accepted"]),
            )
        except (KeyError, TypeError):
            raise self.damaged(summary.iteration) from None

    def line(self, number: int) -> tuple[Line, KnownTests]:
        """Return the line that ends with that iteration. Raises RecordError where it is damaged."""
        after, tests = self.after(number), read_json(self.paths.iteration(number) / "tests.json")
        try:
            return codec.line_from_plain(after["line"]), codec.known_from_plain(tests)
        except (KeyError, TypeError, ValueError):
            raise self.damaged(number) from None

    def seen(self, iteration: int) -> SeenTests:
        """Return every test seen, as it last changed in that iteration. Raises RecordError where it is behind."""
        plain = read_json(self.paths.seen)
        if not isinstance(plain, dict) or plain.get("iteration") != iteration:
            raise RecordError(f"{self.paths.shown}/tests-seen.json is not of iteration {iteration}")
        return codec.seen_from_plain(plain)

    def measurement(self, number: int) -> tuple[Measurement, int | None, str] | None:
        """Return what was measured, the iteration it descends from and its fingerprint; None where damaged."""
        folder = self.paths.iteration(number)
        plain, tests = read_json(folder / "measurement.json"), read_json(folder / "tests.json")
        try:
            results = None
            if tests["measured"]:
                flaky = frozenset(plain["measurement"]["flaky"])
                results = TestResults(tests["present"], tests["durations"], flaky)
            measured = codec.measurement_from_plain(plain["measurement"], results)
            return measured, plain["previous"], plain["fingerprint"]
        except (KeyError, TypeError):
            return None

    def rows(self) -> tuple[list[Plain], list[int]]:
        """Return one row an iteration, as amended, and the numbers of those that cannot be read."""
        found = {
            r["iteration"]: r for r in read_lines(self.paths.trajectory) if isinstance(r, dict) and "iteration" in r
        }
        amended = any(event.get("event") == "accept" for event in self.events())
        rows, lost = [], []
        for number in range(self.summary().iteration + 1):
            row = self.after(number).get("row") if amended or number not in found else found[number]
            if isinstance(row, dict) and row:
                rows.append(row)
            else:
                lost.append(number)
        return rows, lost


def after_plain(
    state: LoopState, candidate: Candidate, row: Mapping[str, Any], summary: Summary, seen_at: int
) -> Plain:
    """Return the state after an iteration as it is kept with it."""
    basis = state.basis
    return {
        "schema_version": SCHEMA_VERSION,
        "iteration": state.iteration,
        "basis": None if basis is None else codec.basis_to_plain(basis),
        "line": codec.line_to_plain(state.line),
        "candidate": codec.candidate_to_plain(candidate),
        "frontier": [codec.candidate_to_plain(c) for c in state.frontier],
        "rollbacks": state.rollbacks,
        "cost_usd": state.cost_usd,
        "accepted": sorted(state.accepted),
        "seen_at": seen_at,
        "row": dict(row),
        "summary": summary.plain(),
    }
