"""Measure the iteration to take and its nearest rival again, in turn: what was the best of many was also lucky."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from ralph_tracker.core.metrics import FurtherMetric, plain_number
from ralph_tracker.core.objective import Noise, Outcome, compare, in_unit, loss_of, median
from ralph_tracker.core.walk import Choice, WalkedIteration
from ralph_tracker.errors import NoSnapshotError
from ralph_tracker.iteration.earlier_tests import scratch_tree
from ralph_tracker.iteration.measure_iteration import Progress
from ralph_tracker.measure.linked_environments import link_environments
from ralph_tracker.measure.objectives import numbers_of, read_objectives
from ralph_tracker.measure.report_totals import needed_checks
from ralph_tracker.measure.run_checks import CheckResult, configured_checks, environment_for_checks, run_checks
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.iteration_snapshots import IterationSnapshots


def choose_again(
    loop: ConfiguredLoop,
    walked: Sequence[WalkedIteration],
    chosen: int,
    environment: Mapping[str, str],
    progress: Progress | None,
) -> Choice | None:
    """Return the choice between the iteration to take and its nearest rival, by fresh numbers of both.

    The rival is, of the iterations taken since the last one that gained tests, the other one with the best number. A
    tie goes to guards, then to the later. None without a goal, a rival or files.
    """
    sections = {name: each for name, each in numbers_of(loop.config.document).items() if _decides(each)}
    number = _rival(loop, walked, chosen) if loop.origin == "measured" else None
    if number is None:
        return None
    earlier, later = sorted((number, chosen))
    runs = max(*(section.get("repeats") or 1 for section in sections.values()), 5)
    if progress is not None:
        progress(f"iterations {earlier} and {later}: measuring both again, in turn, {runs} times")
    try:
        found = _measured(loop, sections, (earlier, later), runs, environment)
    except NoSnapshotError:
        return None
    if not all(each.samples for both in found.values() for each in both):
        return Choice(
            chosen, f"Iterations {earlier} and {later} could not be measured again; the numbers on record count"
        )
    pairs = list(zip(found[later], found[earlier], strict=True))
    goals = [pair for pair in pairs if pair[0].objective]
    outcomes, why, taken = {_compared(*pair) for pair in goals}, "", later
    if ("better" in outcomes) == ("worse" in outcomes):
        guards = (pair for pair in pairs if not pair[0].objective)
        worse = next((guard.name for guard, before in guards if _compared(guard, before) == "worse"), None)
        why = f", and {worse} is worse" if worse else ", and the later is taken"
        taken = earlier if worse else later
    elif "worse" in outcomes:
        taken = earlier
    return Choice(taken, f"Measured again in turn: {'; '.join(_told(pair, later, earlier) for pair in goals)}{why}")


def _told(pair: tuple[FurtherMetric, FurtherMetric], later: int, earlier: int) -> str:
    now, then = pair
    widths = apart(now.samples, then.samples, _noise(now, then))
    far = "" if widths is None else f", {plain_number(float(f'{widths:.2g}'))} widths of the noise apart"
    here, there = (in_unit(median(each.samples), now) for each in pair)
    return f"{now.name} {here} in iteration {later}, {there} in {earlier}{far}: {_compared(now, then)}"


def _decides(section: Mapping[str, Any]) -> bool:
    return section["objective"] or section["max_loss"] is not None


def apart(one: Sequence[float], other: Sequence[float], noise: Noise) -> float | None:
    """Return by how many widths of noise two states differ; None where the noise is unknown or 0."""
    width = noise.width(len(one), len(other)) * abs(median(other))
    return abs(median(one) - median(other)) / width if width else None


def _compared(now: FurtherMetric, then: FurtherMetric) -> Outcome:
    return compare(now, now.samples, then.samples, _noise(now, then))


def _noise(now: FurtherMetric, then: FurtherMetric) -> Noise:
    return Noise().with_repeats(now.samples).with_repeats(then.samples)


def _rival(loop: ConfiguredLoop, walked: Sequence[WalkedIteration], chosen: int) -> int | None:
    """Return the other iteration with the best first number, on record, since tests were last gained."""
    wanted = _goal_of(loop, chosen)
    known: dict[int, float] = {}
    for each in reversed([one for one in walked if one.taken and one.iteration <= chosen]):
        metric = _goal_of(loop, each.iteration)
        if each.iteration != chosen and wanted and metric and metric.segment == wanted.segment:
            known[each.iteration] = loss_of(metric, median(metric.samples))
        if each.gained:
            break
    return min(known, key=lambda number: (known[number], -number), default=None)


def _goal_of(loop: ConfiguredLoop, number: int) -> FurtherMetric | None:
    measured = loop.store.measurement(number)
    further = () if measured is None else measured[0].further
    return next((each for each in further if each.objective and each.samples), None)


def _measured(
    loop: ConfiguredLoop,
    sections: Mapping[str, Mapping[str, Any]],
    numbers: tuple[int, int],
    runs: int,
    environment: Mapping[str, str],
) -> dict[int, tuple[FurtherMetric, ...]]:
    """Return the objectives of two iterations, from runs in copies whose order is turned each time."""
    snapshots, root = IterationSnapshots(loop.store), loop.store.paths.root
    checks = configured_checks(loop.config.document)
    needed = needed_checks(checks, {section["from"] for section in sections.values()})
    with ExitStack() as stack:
        places = {number: stack.enter_context(scratch_tree(snapshots, snapshots.tree(number))) for number in numbers}
        variables = {
            number: environment_for_checks(link_environments(root, copy, checks, environment), root)
            for number, (_, copy) in places.items()
        }
        results: dict[int, tuple[CheckResult, ...]] = dict.fromkeys(numbers, ())
        for turn in range(runs):
            for number in numbers if turn % 2 else numbers[::-1]:
                folder, copy = places[number]
                results[number] += run_checks(
                    needed,
                    root=copy,
                    folder=folder / f"output{turn}",
                    reports=folder / f"reports{turn}",
                    environment=variables[number],
                )
        return {number: read_objectives(sections, results[number]).found for number in numbers}
