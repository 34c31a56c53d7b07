"""ralph-tracker replay: the commits of a branch as the iterations of a loop, and the one to take."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from ralph_tracker.cli.hook import say_questions
from ralph_tracker.cli.next_step import SAME_AGAIN, next_if_interrupted, of_loop, say_next
from ralph_tracker.cli.options import mode_option, quiet_option, trust_option
from ralph_tracker.cli.terminal import flush, is_quiet, progress, say, say_json, say_wrapped, tracker_of
from ralph_tracker.core.metrics import quantity
from ralph_tracker.errors import EXIT_OK
from ralph_tracker.records.iteration_record import SCHEMA_VERSION, SchemaVersion
from ralph_tracker.records.output_selection import QuestionDocument
from ralph_tracker.report.charts import sparkline
from ralph_tracker.report.loop_view import why_others_are_not_taken
from ralph_tracker.short_text import percent, shorten

if TYPE_CHECKING:
    from ralph_tracker.loop.reports import FinishedLoop
    from ralph_tracker.replay.replay import JudgedCommit, Replay

_SUBJECT = 40
_MINUTE_S = 60


class ReplayedDocument(TypedDict):
    """A commit as an iteration of the loop; iteration 0 is the base, or the first that could be measured."""

    iteration: int
    commit: str
    subject: str
    quality_score: float
    adjusted_score: float
    selected: bool


class UnmeasuredDocument(TypedDict):
    """A commit before the base that could not be measured, and why."""

    commit: str
    subject: str
    reason: str


class ReplayDocument(TypedDict):
    schema_version: SchemaVersion
    loop_id: str
    message: str
    take: str
    unmeasured: list[UnmeasuredDocument]
    commits: list[ReplayedDocument]
    passed_over: list[str]
    questions: list[QuestionDocument]
    reports: list[str]


@click.command("replay", short_help="Measure the commits of a branch, and name the one to take.")
@click.argument("revisions", metavar="FROM..TO")
@click.option("--root", type=click.Path(path_type=Path), default=Path(), help="The project's folder.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="How many commits at once.")
@click.option("--every", type=click.IntRange(min=1), default=1, metavar="K", help="Each K-th commit, and the last.")
@click.option("--touching", metavar="GLOB", help="Only commits that change such a path.")
@click.option("--first-parent", is_flag=True, help="Only the first parent of merges.")
@click.option("--cluster", metavar="ADDRESS", help="A Dask scheduler whose workers measure: tcp://HOST:8786.")
@click.option("--setup", metavar="CMD", help="What builds the environment; else the tool of the lock file.")
@click.option("--fresh", is_flag=True, help="Measure and build anew what was before.")
@mode_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as `ralph-tracker schema` describes it.")
@quiet_option
@trust_option
def command(  # noqa: PLR0917  # as click passes them
    revisions: str,
    root: Path,
    jobs: int,
    every: int,
    touching: str | None,
    first_parent: bool,
    cluster: str | None,
    setup: str | None,
    fresh: bool,
    mode: str | None,
    as_json: bool,
    trust: bool,
) -> int:
    """Run the checks at each commit from where TO left FROM, judge them in order, and name the one to take.

    Working tree, index, stash and refs are not touched. Interrupted, the same command continues.
    """
    from ralph_tracker.replay.commits import Choice, History
    from ralph_tracker.replay.replay import Replay, ReplayOptions

    tracker = tracker_of(root, None, trust=trust)
    history = History.around(tracker.project.paths.root)
    commits = history.commits(revisions, Choice(every, touching, first_parent))
    replay = Replay(tracker, history, commits, ReplayOptions(jobs, setup, cluster=cluster, fresh=fresh))
    known = replay.count_recorded()
    shown = not as_json and not is_quiet()
    if shown:
        base, *others = replay.commits
        say(f"{replay.loop_id}: {quantity(len(others), 'commit')} since {base.short} {shorten(base.subject, _SUBJECT)}")
        if known:
            say(f"  {known} of {len(replay.commits)} were measured before")
        for warning in replay.warnings:
            say_wrapped(warning, indent=2)
        flush()
    remaining, show = TimeEstimate(jobs, time.monotonic()), progress()
    with next_if_interrupted(SAME_AGAIN):
        for turn in replay.turns(_say_line if shown else _ignore):
            if shown:
                _say_turn(turn, replay.problem(turn.record.iteration))
            left = remaining.after(turn.left, time.monotonic(), cached=turn.cached)
            if left and show is not None:
                done = turn.record.iteration + 1
                show(f"{done}/{done + turn.left}, {left}")
        closed = replay.finish(mode)
    if as_json:
        say_json(_document(replay, closed))
    else:
        _say_end(replay, closed)
    return EXIT_OK


def _say_line(line: str) -> None:
    say_wrapped(line, indent=2)
    flush()


def _ignore(_line: str) -> None:
    """Print nothing beside the result."""


def _say_turn(turn: "JudgedCommit", problem: str | None) -> None:
    record = turn.record
    said = "baseline" if record.is_baseline else record.message
    say(f"{record.iteration:>4}  {turn.commit.short}  {percent(record.adjusted_score):<6}  {said}")
    say(f"      {shorten(turn.commit.subject, _SUBJECT * 2 - 10)}{' (measured before)' if turn.cached else ''}")
    # An alert is raised once; what does not build is said at each commit.
    if problem is not None and not any(problem in alert.message for alert in record.alerts):
        say_wrapped(problem, indent=6)
    for alert in record.alerts:
        say_wrapped(f"{alert.severity.name} {alert.id}: {alert.message}", indent=6)
    flush()


class TimeEstimate:
    """Estimates the time of the commits that are left by that of those measured so far, `jobs` at once."""

    def __init__(self, jobs: int, now: float) -> None:
        self._jobs, self._began, self._measured = jobs, now, 0

    def after(self, left: int, now: float, *, cached: bool) -> str:
        """Return how many commits are left after one more, and for how long once `jobs` were measured; "" for none."""
        self._measured += not cached
        if not self._measured:
            self._began = now  # a commit that was measured before says nothing about the others
        if not left:
            return ""
        if self._measured < self._jobs:
            return f"{left} left"
        seconds = left * (now - self._began) / self._measured
        about = f"{seconds:.0f} s" if seconds < 2 * _MINUTE_S else f"{seconds / _MINUTE_S:.0f} min"
        return f"{left} left, about {about}"


def _say_end(replay: "Replay", closed: "FinishedLoop") -> None:
    selection = closed.selection
    taken = replay.judged[selection.selected.iteration]
    say()
    say_questions(selection.questions, of_loop(replay.loop_id))
    say(selection.message)
    for line in (*why_others_are_not_taken(selection), *replay.problems, *closed.problems):
        say_wrapped(line, indent=2)
    say(f"  {sparkline([each.adjusted for each in selection.contenders])}  score by commit")
    say(f"  read: {closed.files[-1]}")
    say(f"Take {taken.short} {taken.subject}")
    say_next(f"`git switch --detach {taken.short}`; `ralph-tracker history --loop-id {replay.loop_id}` lists all")


def _document(replay: "Replay", closed: "FinishedLoop") -> ReplayDocument:
    selection = closed.selection
    taken = replay.judged[selection.selected.iteration]
    commits: list[ReplayedDocument] = [
        {
            "iteration": each.iteration,
            "commit": replay.judged[each.iteration].sha,
            "subject": replay.judged[each.iteration].subject,
            "quality_score": each.walked.quality_score,
            "adjusted_score": each.adjusted,
            "selected": each.iteration == selection.selected.iteration,
        }
        for each in selection.contenders
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "loop_id": replay.loop_id,
        "message": selection.message,
        "take": taken.sha,
        "unmeasured": [
            {"commit": each.commit.sha, "subject": each.commit.subject, "reason": each.why}
            for each in replay.unmeasured
        ],
        "commits": commits,
        "passed_over": list(selection.passed_over),
        "questions": [each.to_dict() for each in selection.questions],
        "reports": list(closed.files),
    }
