"""Put values, a decision, iterations and loops in words, the same in every report, `status` and `show`.

`loop-decision` has to start fast: of ours this module imports the metrics only.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from ralph_tracker.core.metrics import SECTIONS, MetricSpec, plain_number, quantity
from ralph_tracker.short_text import percent

ABSENT: Final = "n/a"
# Openings of a reason that repeat the action, or that contradict the alert named after them.
_OPENINGS: Final = (
    (re.compile(r"Rollback to iteration \d+ due to regression(?:: )?"), ""),
    (re.compile(r"Continue - regression within limits(?=: |$)"), "worse, but not enough for a rollback"),
    (re.compile(r"Continue - "), ""),
    (re.compile(r"Escalate to human - "), ""),
)
_SETBACKS_SHOWN: Final = 3
_BETWEEN_NAMES: Final = re.compile(r", | and \d+ more$")


class Point(NamedTuple):
    """One iteration of the story: its tests, coverage in percent and believed score (0 to 1), None if not measured."""

    iteration: int
    passed: float | None = None
    tests: float | None = None
    coverage: float | None = None
    score: float | None = None


class Setback(NamedTuple):
    """An iteration that was rolled back, and the types of the CRITICAL alerts that it raised."""

    iteration: int
    alerts: tuple[str, ...] = ()


def point_of(iteration: int, values: Mapping[str, Any], score: float | None) -> Point:
    """Return an iteration as a point, from its metrics by name."""
    passed, tests = values.get("tests_passed"), values.get("test_count")
    return Point(iteration, passed, tests, values.get("coverage_percentage"), score)


def measured_in_words(now: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> str:
    """Return tests, coverage, findings and build of an iteration, from metrics by name.

    Values of `before` (None: nothing to compare with) stand in parentheses where they differ.
    """
    old = before or {}
    parts = [_test_words(now, old)]
    if now.get("coverage_percentage") is not None:
        coverage = _percentage(now["coverage_percentage"])
        parts.append(f"{coverage} % coverage{_was(coverage, _percentage(old.get('coverage_percentage')), ' %')}")
    elif old.get("coverage_percentage") is not None:
        parts.append(f"coverage not measured ({_percentage(old['coverage_percentage'])} % before)")
    for name, noun in (("lint_errors", "lint error"), ("type_errors", "type error"), ("error_count", "error")):
        if _is_worth_words(now, old, name):
            count = quantity(now[name], noun) if now[name] else f"no {noun}s"
            parts.append(f"{count}{_was(now[name], old.get(name))}")
    parts = [part for part in parts if part]
    build, was = now.get("build_status"), old.get("build_status")
    if build == "failure":
        parts.append("the build or test command fails")
    elif build == "success" and (was == "failure" or not parts):
        parts.append(f"the build or test command succeeds{' (failed before)' if was == 'failure' else ''}")
    return ", ".join(parts)


def _is_worth_words(now: Mapping[str, Any], old: Mapping[str, Any], name: str) -> bool:
    """Return whether a count of findings says something: lint errors always, others unless they are 0 as before."""
    if now.get(name) is None:
        return False
    if name == "lint_errors":
        return True
    is_sum = name == "error_count" and any(now.get(part) is not None for part in ("lint_errors", "type_errors"))
    return not is_sum and bool(now[name] or old.get(name))


def _test_words(now: Mapping[str, Any], old: Mapping[str, Any]) -> str:
    passed, total, skipped = (now.get(name) for name in ("tests_passed", "test_count", "tests_skipped"))
    was = _of(old.get("tests_passed"), old.get("test_count"))
    if passed is None or total is None:
        return f"tests not measured ({was} passed before)" if was else ""
    if not total:
        words = "no tests"
    elif passed == total > 1:
        words = f"all {plain_number(total)} tests pass"
    else:
        words = f"{_of(passed, total)} test{'' if total == 1 else 's'} pass{'es' if total == 1 else ''}"
    aside = f", {plain_number(skipped)} skipped" if skipped else ""
    return f"{words}{_was(_of(passed, total), was)}{aside}"


def _of(passed: float | None, total: float | None) -> str | None:
    return None if passed is None or total is None else f"{plain_number(passed)} of {plain_number(total)}"


def _was(now: object, before: object, unit: str = "") -> str:
    return "" if before is None or before == now else f" ({before}{unit} before)"


def score_in_words(
    score: float | None, before: float | None, best: tuple[int, float] | None, number: int, highest: float | None = None
) -> str:
    """Return the believed score of an iteration in percent (None: unknown), beside the one before and the best.

    `before` is None if there is none; `best` is the iteration that is taken so far with its score, None while there is
    none: where tests decided, others may score higher. `highest` is the highest score of an earlier iteration.
    """
    said = f"score {percent(score)}{_was(percent(score), None if before is None else percent(before))}"
    if best is None:
        return said
    if best[0] != number:
        word = "taken so far" if score is not None and best[1] < score else "best"
        return f"{said}; {word} {percent(best[1])}, iteration {best[0]}"
    is_beaten = any(other is not None and (score or 0) < other for other in (before, highest))
    return f"{said}, {'taken so far' if is_beaten else 'the best so far'}"


def without_repeats(message: str, tests: Collection[str], errors: Collection[str]) -> str:
    """Return an alert's message or note without the names and first errors that were printed before it."""
    head, separator, tail = message.partition(": ")
    names = [name for name in _BETWEEN_NAMES.split(tail) if name]
    if separator and names and all(name in tests for name in names):
        return head
    for error in errors:
        message = message.removesuffix(f"; it said: {error}").removesuffix(f": {error}")
    return message


def loop_sentence(
    start: Point, best: Point | None, last: Point, setbacks: Sequence[Setback] = (), advice: str = ""
) -> str:
    """Return the state of a loop: from the baseline to the best iteration, what followed it, what was rolled back.

    `best` is None while no iteration is. `advice` is a sentence that ends it, "" for none.
    """
    peak = start if best is None else best
    own = next((setback for setback in setbacks if setback.iteration == peak.iteration), None)
    setbacks = [setback for setback in setbacks if setback is not own]
    undone = {setback.iteration for setback in setbacks}
    after = [number for number in range(peak.iteration + 1, last.iteration + 1) if number not in undone]
    what = "added nothing" if last.iteration in undone else _since(peak, last, is_one=len(after) == 1)
    if last.iteration == start.iteration:
        parts, setbacks = [f"Baseline: {_values(start)}"], []
    elif peak.iteration == start.iteration:
        is_rivalled = after and what.endswith("not taken")
        baseline = f"the baseline with {_values(start)}"
        parts = [f"{baseline} is still taken" if is_rivalled else f"Nothing is better than {baseline}"]
    else:
        parts = [f"{progress(start, peak)} by iteration {peak.iteration}"]
        parts[0] += f", which was rolled back{_reasons(own)}" if own else ""
    if after:
        parts.append(f"{'iteration' if len(after) == 1 else 'iterations'} {_span(after)} {what}")
    sentence = f"{'; '.join((*parts, *_rolled_back(setbacks)))}."
    return f"{sentence[0].upper()}{sentence[1:]}{f' {advice}' if advice else ''}"


def iteration_sentence(document: Mapping[str, Any], before: Point | None) -> str:
    """Return what an iteration changed since the one that it descends from (None: unknown, or it is the baseline)."""
    record = document["iteration_metrics"]
    values = {name: value for section in SECTIONS for name, value in (record.get(section) or {}).items()}
    now = point_of(record["iteration"], values, record.get("adjusted_score"))
    if before is None:
        return f"{_values(now)}."
    return f"{progress(before, now)} since iteration {before.iteration}."


def progress(before: Point, now: Point) -> str:
    """Return how tests and coverage moved, or that they are unknown now; where neither ever was, how the score did."""
    said = []
    then, tests = _tests(before), _tests(now)
    if tests is None and then is not None:
        said.append(f"tests not measured ({then} before)")
    elif tests is not None:
        said.append("no tests" if not now.tests and not before.tests else f"{_value_change(then, tests)} tests")
    if now.coverage is None and before.coverage is not None:
        said.append(f"coverage not measured ({_percentage(before.coverage)} % before)")
    elif now.coverage is not None:
        said.append(f"{_value_change(_percentage(before.coverage), _percentage(now.coverage))} % coverage")
    if not said:
        then = None if before.score is None else percent(before.score).removesuffix(" %")
        said.append(f"score {_value_change(then, percent(now.score))}")
    return " and ".join(said)


def _value_change(before: str | None, now: str | None) -> str:
    return f"{now}" if before is None or before == now else f"{before} → {now}"


def _tests(point: Point) -> str | None:
    if point.passed is None or point.tests is None:
        return None
    return f"{plain_number(point.passed)}/{plain_number(point.tests)}"


def _percentage(value: float | None) -> str | None:
    return None if value is None else plain_number(value)


def _values(point: Point) -> str:
    return progress(Point(point.iteration), point)


def _span(numbers: Sequence[int]) -> str:
    """Return numbers as words: 4, 4 and 6, 4 to 7; many with gaps as their range."""
    *most, last = map(str, numbers)
    is_range = numbers[-1] - numbers[0] == len(most) > 1
    if is_range or len(most) > _SETBACKS_SHOWN:
        return f"{most[0]} to {last}"
    return f"{', '.join(most)} and {last}" if most else last


def _since(peak: Point, last: Point, *, is_one: bool) -> str:
    """Return what the iterations after the peak brought, as of the last of them."""
    if last.score is None and peak.score is not None:
        return "measured nothing"
    pairs = (("tests", peak.passed, last.passed), ("coverage", peak.coverage, last.coverage))
    unknown = [name for name, was, now in pairs if was is not None and now is None]
    falls, lacking = [], [f"did not measure {' and '.join(unknown)}"] if unknown else []
    passed = _change(peak.passed, last.passed)
    if passed < 0:
        removed = -_change(peak.tests, last.tests)
        if removed >= -passed:
            tests = quantity(int(removed), "test")
            verb = "lacks" if is_one else "lack"
            lacking.append(f"{verb} {tests} of iteration {peak.iteration} ({_tests(last)} pass)")
        else:
            falls.append(f"{_tests(last)} tests")
    coverage, gained = _change(peak.coverage, last.coverage), _change(peak.score, last.score)
    if coverage < 0:
        falls.append(f"{_percentage(last.coverage)} % coverage")
    if not falls and not lacking and passed <= 0 and gained <= -0.01:
        falls.append(f"a score of {percent(last.score)}")
    if (passed > 0 or (not falls and not lacking)) and (passed > 0 or coverage > 0 or gained >= 0.001):
        return f"{'is' if is_one else 'are'} not taken"
    fell = [f"fell to {' and '.join(falls)}"] if falls else []
    return " and ".join(lacking + fell) or "added nothing"


def _change(before: float | None, now: float | None) -> float:
    """Return by how much a value changed, 0 where one of them is unknown."""
    return 0 if before is None or now is None else now - before


def _rolled_back(setbacks: Sequence[Setback]) -> list[str]:
    if not setbacks:
        return []
    if len(setbacks) > _SETBACKS_SHOWN:
        return [f"{quantity(len(setbacks), 'iteration')} were rolled back"]
    return [f"iteration {setback.iteration} was rolled back{_reasons(setback)}" for setback in setbacks]


def _reasons(setback: Setback) -> str:
    """Return why an iteration was rolled back, in parentheses; "" where no CRITICAL alert says so."""
    from ralph_tracker.core.alert_types import TYPE_BY_NAME  # noqa: PLC0415  # loop-decision names no alerts

    titles = [TYPE_BY_NAME[name].title.lower() if name in TYPE_BY_NAME else name for name in setback.alerts]
    return f" ({', '.join(dict.fromkeys(titles))})" if titles else ""


def number(value: float | str | None, spec: MetricSpec) -> str:
    """Format a metric at its recorded decimals, with its unit."""
    if value is None:
        return ABSENT
    return value if isinstance(value, str) else f"{value:.{spec.decimals}f}{spec.unit}"


def signed_text(value: float | None, spec: MetricSpec) -> str:
    """Format a difference with its sign."""
    if value is None:
        return ABSENT
    return f"{value:+.{spec.decimals}f}{spec.unit}" if value else f"{0:.{spec.decimals}f}{spec.unit}"


def score(value: float | None) -> str:
    """Format a score without trailing zeros, but with at least two decimals."""
    if value is None:
        return ABSENT
    text = f"{value:.4f}"
    return text[:-2] if text.endswith("00") else text.removesuffix("0")


def money(value: float | None) -> str:
    """Format an amount in USD, "unknown" for None."""
    return "unknown" if value is None else f"${value:.2f}"


def known_money(value: float | None, *, is_partial: bool) -> str:
    """Format a sum of which parts may be unknown."""
    return f"at least {money(value)}" if is_partial and value is not None else money(value)


def usage_in_words(usages: Sequence[Mapping[str, Any]]) -> str:
    """Return money, tokens, turns and time of some iterations, summed; "" where nothing is known of any.

    A sum that lacks iterations is said to be a least one.
    """

    def known(name: str) -> tuple[float, str] | None:
        values = [each[name] for each in usages if each.get(name) is not None]
        return (sum(values), "at least " if len(values) < len(usages) else "") if values else None

    said = []
    if found := known("cost_usd"):
        said.append(f"{found[1]}{money(found[0])}")
    tokens = [(name, known(f"{name}_tokens")) for name in ("input", "output")]
    both = [f"{found[1]}{found[0]:,.0f} {name}" for name, found in tokens if found]
    said += [f"{' and '.join(both)} tokens"] if both else []
    if found := known("turns"):
        said.append(f"{found[1]}{quantity(int(found[0]), 'turn')}")
    if found := known("duration_s"):
        minutes, seconds = divmod(round(found[0]), 60)
        said.append(f"{found[1]}{f'{minutes} min ' if minutes else ''}{seconds} s")
    return ", ".join(said)


def cost_per_point(cost_usd: float | None, gained: float | None) -> str:
    """Format the cost per point, a hundredth of the score; n/a if the cost is unknown or nothing was gained."""
    if cost_usd is None or gained is None or gained <= 0:
        return ABSENT
    price = cost_usd / (gained * 100)
    return f"${price:.2f}" if price >= 0.1 or not price else f"${price:.2g}"


def rounded_weights(weights: Mapping[str, float]) -> dict[str, str]:
    """Format weights with two decimals that add up to 1.00: the largest remainders are rounded up."""
    floors = {name: int(weight * 100 + 1e-9) for name, weight in weights.items()}
    short = round(sum(weights.values()) * 100) - sum(floors.values())
    by_rest = sorted(weights, key=lambda name: floors[name] - weights[name] * 100)
    raised = set(by_rest[:short])
    return {name: f"{(floor + (name in raised)) / 100:.2f}" for name, floor in floors.items()}


def strength_in_words(found: Mapping[str, Any]) -> list[str]:
    """Return what tests notice of small errors in the lines that changed, as the loop's log has it."""
    tried = quantity(found["tried"], "small error")
    words = [f"its tests notice {found['noticed']} of {tried} in the changed lines that they run"]
    if found["added"]:
        where = "the lines that they run" if found["by_test"] else "these lines"
        verb = "notices" if found["added"] == 1 else "notice"
        new = quantity(found["added"], "new test")
        words.append(f"{new} of it {verb} {found['added_noticed']} of {found['added_tried']} in {where}")
    if found["unreached"]:
        words.append(f"{quantity(found['unreached'], 'error')} more would be in lines that no test runs")
    return words


def in_ranges(numbers: Iterable[int], to: str = " to ") -> str:
    """Format numbers in short: 1 to 4, 6."""
    runs = groupby(enumerate(sorted(numbers)), key=lambda item: item[1] - item[0])
    spans = ([number for _, number in run] for _, run in runs)
    return ", ".join(str(span[0]) if len(span) == 1 else f"{span[0]}{to}{span[-1]}" for span in spans)


def decision_in_words(decision: Mapping[str, Any]) -> str:
    """Return a decision for people: action, confidence in percent, and the reason without the action's words."""
    action, reason = decision["action"], decision["reason"]
    sure = f"confidence {decision['confidence'] * 100:.0f} %"
    if action == "rollback" and decision.get("target_iteration") is not None:
        action = f"rollback to iteration {decision['target_iteration']}"
    for opening, instead in _OPENINGS:
        found = opening.match(reason)
        if found is not None:
            reason = f"{instead}{reason[found.end() :]}"
            break
    return f"{action} ({sure}){f': {reason}' if reason else ''}"
