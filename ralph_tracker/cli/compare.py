"""ralph-tracker compare: measure commits or folders against one base, and rank them by what each gained and lost."""

from collections.abc import Mapping, Sequence
from operator import le
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import click

from ralph_tracker.cli.hook import say_questions
from ralph_tracker.cli.next_step import SAME_AGAIN, next_if_interrupted, of_loop, say_next
from ralph_tracker.cli.options import mode_option, quiet_option, trust_option
from ralph_tracker.cli.terminal import flush, is_quiet, progress, say, say_json, say_table, say_wrapped, tracker_of
from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.core.metrics import PASSED, FurtherMetric, quantity
from ralph_tracker.core.objective import in_unit, loss_of
from ralph_tracker.errors import EXIT_OK
from ralph_tracker.records.iteration_record import SCHEMA_VERSION, SchemaVersion
from ralph_tracker.records.output_selection import QuestionDocument
from ralph_tracker.report.wording import ABSENT
from ralph_tracker.short_text import percent, shorten

if TYPE_CHECKING:
    from ralph_tracker.loop.reports import FinishedLoop
    from ralph_tracker.replay.replay import Replay


class CandidateDocument(TypedDict):
    """A candidate, the base too; gained tests pass here and not at the base, lost ones the reverse.

    `metrics` are the numbers of objectives. `front` says that no other candidate whose tests hold is as good in all of
    them and better in one; null without two of them.
    """

    rank: int
    candidate: str
    commit: str
    iteration: int
    quality_score: float
    adjusted_score: float
    gained: list[str]
    lost: list[str]
    flaky: list[str]
    metrics: dict[str, float | None]
    front: bool | None


class ComparisonDocument(TypedDict):
    schema_version: SchemaVersion
    loop_id: str
    take: str
    ranking: list[CandidateDocument]
    questions: list[QuestionDocument]
    applied: str
    reports: list[str]


class _Change(NamedTuple):
    gained: list[str]
    lost: list[str]
    flaky: list[str]


@click.command("compare", short_help="Measure candidates against one base, and name the best of them.")
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES")
@click.option("--root", type=click.Path(path_type=Path), default=Path(), help="The project's folder.")
@click.option("--base", metavar="REV", help="What they are compared with; else where they all come from.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="How many candidates at once.")
@click.option("--cluster", metavar="ADDRESS", help="A Dask scheduler whose workers measure: tcp://HOST:8786.")
@click.option("--setup", metavar="CMD", help="What builds the environment; else the tool of the lock file.")
@click.option("--reruns", type=click.IntRange(min=0), default=0, metavar="K", help="Run differing tests K times more.")
@click.option("--select", is_flag=True, help="Put the best in place in the working tree, with an undo id.")
@click.option("--fresh", is_flag=True, help="Measure and build anew what was before.")
@mode_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as `ralph-tracker schema` describes it.")
@quiet_option
@trust_option
def command(  # noqa: PLR0917  # as click passes them
    candidates: tuple[str, ...],
    root: Path,
    base: str | None,
    jobs: int,
    cluster: str | None,
    setup: str | None,
    reruns: int,
    select: bool,
    fresh: bool,
    mode: Any,  # noqa: ANN401  # one of SELECTION_MODES
    as_json: bool,
    trust: bool,
) -> int:
    """Measure commits or folders, each as if it were the only iteration after the base, and rank them."""
    from ralph_tracker.replay.commits import History
    from ralph_tracker.replay.replay import Replay, ReplayOptions, require_trust
    from ralph_tracker.scratch import scratch_folder

    tracker = tracker_of(root, None, trust=trust)
    place = tracker.project.paths.root
    with next_if_interrupted(SAME_AGAIN), scratch_folder(place) as scratch:
        objects = scratch / "objects"
        objects.mkdir()
        history = History.around(place)._replace(objects=objects)
        require_trust(tracker, history)
        commits = history.candidates(dict.fromkeys(candidates), base)
        options = ReplayOptions(jobs, setup, side_by_side=True, reruns=reruns, cluster=cluster, fresh=fresh)
        replay = Replay(tracker, history, commits, options)
        if not as_json and not is_quiet():
            first, *others = replay.commits
            what = quantity(len(others), "candidate")
            say(f"{replay.loop_id}: {what} against {first.short} {shorten(first.subject, 40)}")
            for warning in replay.warnings:
                say_wrapped(warning, indent=2)
            flush()
        show = progress() or (lambda _: None)
        for turn in replay.turns():
            done = turn.record.iteration + 1
            show(f"{done}/{done + turn.left}, {turn.commit.subject}: {turn.record.message}")
        closed = replay.finish(mode, "worktree" if select else "none")
    ranking = _ranking(replay, closed)
    if as_json:
        say_json(_document(replay, closed, ranking))
    else:
        _print_comparison(replay, closed, ranking, select=select)
    return EXIT_OK


def front_of(points: Mapping[int, Sequence[FurtherMetric]]) -> frozenset[int]:
    """Return those of which no other is as good in all objectives and better in one; one without a number is left out.

    All have the same objectives in the same order.
    """
    losses = {
        number: [loss_of(each, value) for each in metrics if (value := each.value) is not None]
        for number, metrics in points.items()
        if metrics and None not in {each.value for each in metrics}
    }
    return frozenset(
        number
        for number, own in losses.items()
        if not any(other != own and all(map(le, other, own)) for other in losses.values())
    )


def _ranking(replay: "Replay", closed: "FinishedLoop") -> list[CandidateDocument]:
    """Return the candidates, best first: what selection would take if the better ones were not there."""
    tests = replay.tests()
    base = tests[0].outcomes
    changes = [
        _Change(_newly_passing(each.outcomes, base), _newly_passing(base, each.outcomes), sorted(each.flaky))
        for each in tests
    ]
    sound = [each.iteration for each in closed.selection.contenders if each.walked.verified]
    points = {number: replay.objectives(number) for number in sound}
    front = front_of(points) if any(len(each) > 1 for each in points.values()) else None
    return [
        {
            "rank": rank,
            "candidate": "base" if not each.iteration else replay.commits[each.iteration].subject,
            "commit": replay.commits[each.iteration].sha,
            "iteration": each.iteration,
            "quality_score": each.walked.quality_score,
            "adjusted_score": each.adjusted,
            "gained": changes[each.iteration].gained,
            "lost": changes[each.iteration].lost,
            "flaky": changes[each.iteration].flaky,
            "metrics": {metric.name: metric.value for metric in replay.objectives(each.iteration)},
            "front": None if front is None else each.iteration in front,
        }
        for rank, each in enumerate(replay.rank_candidates(closed.selection), 1)
    ]


def _newly_passing(here: Mapping[str, str], there: Mapping[str, str]) -> list[str]:
    return sorted(test for test, how in here.items() if how == PASSED and there.get(test) != PASSED)


def _print_comparison(
    replay: "Replay", closed: "FinishedLoop", ranking: Sequence[CandidateDocument], *, select: bool
) -> None:
    counts = {each.iteration: each.metrics for each in closed.selection.contenders}
    goals = [metric.name for metric in replay.objectives(0)]
    rows = [("rank", "candidate", "tests", "score", "gained", "lost", *goals)]
    for each in ranking:
        metrics = counts[each["iteration"]]
        known = None not in {metrics.tests_passed, metrics.test_count}
        told = f"{metrics.tests_passed}/{metrics.test_count}" if known else ABSENT
        gained, lost = str(len(each["gained"])), str(len(each["lost"]))
        numbers = [
            ABSENT if metric.value is None else in_unit(metric.value, metric)
            for metric in replay.objectives(each["iteration"])
        ]
        scored = percent(each["adjusted_score"])
        rows.append((str(each["rank"]), each["candidate"], told, scored, gained, lost, *numbers))
    say_questions(closed.selection.questions, of_loop(replay.loop_id))
    say_table(rows)
    ahead = [each["candidate"] for each in ranking if each["front"]]
    if ahead:
        say_wrapped(f"Pareto front of {' and '.join(goals)}: {', '.join(ahead)}", indent=2)
    for each in ranking:
        problem = replay.problem(each["iteration"])
        if problem is not None:
            say_wrapped(f"{each['candidate']}: {problem}", indent=2)
        for what, names in (("gained", each["gained"]), ("lost", each["lost"]), ("flaky", each["flaky"])):
            if names:
                say_wrapped(f"{each['candidate']} {what}: {names_in_short(names)}", indent=2)
    for problem in (*replay.problems, *closed.problems):
        say_wrapped(problem, indent=2)
    say(f"  read: {closed.files[-1]}")
    best = ranking[0]
    if best["iteration"]:
        say(f"Take {best['candidate']} {replay.commits[best['iteration']].short}")
    else:
        say("Take none: no candidate is better than the base")
    if select:
        say_wrapped(closed.applied, indent=2)
    places = ", ".join(f"{each['iteration']} for {each['candidate']}" for each in ranking)
    say_next(f"`ralph-tracker show N --loop-id {replay.loop_id}` says why, N is {places}")


def _document(replay: "Replay", closed: "FinishedLoop", ranking: list[CandidateDocument]) -> ComparisonDocument:
    return {
        "schema_version": SCHEMA_VERSION,
        "loop_id": replay.loop_id,
        "take": ranking[0]["candidate"],
        "ranking": ranking,
        "questions": [each.to_dict() for each in closed.selection.questions],
        "applied": closed.applied,
        "reports": list(closed.files),
    }
