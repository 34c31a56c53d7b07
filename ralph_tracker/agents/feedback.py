"""Write the feedback to an agent on its last iteration, the same for every host: most valuable first, within a budget.

It is made from facts, which are read from the loop's records.
Every section gets its first items, then the budget that is left goes to the sections in order. What does not fit is
counted, so that nobody takes a part for the whole.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.core.alert_types import Alert
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.known_tests import describe_not_loaded, is_of_run, once_each, without_held_back
from ralph_tracker.core.metrics import half_up, plain_number, quantity
from ralph_tracker.errors import RalphTrackerError
from ralph_tracker.iteration.diff import component_shares
from ralph_tracker.iteration.measure_iteration import configured_by
from ralph_tracker.iteration.open_problems import (
    FailingTest,
    ListedDiagnostics,
    RemainingProblems,
    first_words,
    not_loading_lines,
    remaining_problems,
)
from ralph_tracker.records.iteration_record import IterationRecord
from ralph_tracker.report.escaping import for_terminal
from ralph_tracker.report.wording import in_ranges
from ralph_tracker.short_text import percent, shorten
from ralph_tracker.store.layout import MANIFEST
from ralph_tracker.store.loop_configuration import ConfiguredLoop
from ralph_tracker.store.loop_reader import SealedRecords
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.loop_summary import Summary
from ralph_tracker.store.record_packs import kept_json

TOKENS: Final = 800
# The agent is told of a stall before it ends the loop: none of seven real loops ends too early (docs/judgement.md).
# With `stall.window` (3) this makes the five iterations without progress of the README.
ITERATIONS_AFTER_WARNING: Final = 2
# Paths, names and code have 3 to 4 bytes a token with the tokenizers of the four clients' models; prose has more.
BYTES_A_TOKEN: Final = 3.5
RULES: Final = (
    "ralph-tracker measures this project each time you stop: it runs the project's own checks and shows you the "
    "results. Tests that are deleted, skipped or weakened are detected and rolled back; fix failing tests by changing "
    "the code that they test."
)
_FILES: Final = 8
_SPACE_FOR_REST: Final = len("- and 99999 more\n")
_ADVICE: Final[Mapping[str, tuple[str, str]]] = {
    "all_tests_pass": ("failing tests", "make them pass"),
    "pass_rate": ("failing tests", "make them pass"),
    "build_success": ("a failing build", "make it succeed"),
    "no_lint_errors": ("lint and type errors", "fix them"),
    "error_count_inverted": ("lint and type errors", "fix them"),
    "lint_warnings_inverted": ("lint warnings", "fix them"),
    "coverage_percentage": ("lines that no test runs", "test them"),
    "test_count_vs_baseline": ("fewer tests than at the baseline", "bring them back"),
    "complexity_reasonable": ("complex functions", "split them"),
    "loc_appropriate": ("the change in the size of the code", "remove what the task does not need"),
    "no_code_bloat": ("the growth of the code", "remove what the task does not need"),
}


class ScorePart(NamedTuple):
    """A component of the score and what it costs: points of the score's 100."""

    name: str
    points: float


class RolledBackIteration(NamedTuple):
    """An iteration that was rolled back: the files that it had changed, and what it lacked (None: unknown)."""

    iteration: int
    files: tuple[str, ...] = ()
    lacked: RemainingProblems | None = None


class FeedbackFacts(NamedTuple):
    """Everything that the feedback is made from.

    `iteration` is the last one, `classification` and `score` (0 to 1) are its own; `best_iteration` is None if there is
    none, with `best_score`. `problems` are those of the files that the agent has, None if unknown, and `parts` are the
    components of their score. `alerts` are those of the last iteration that nobody accepted. `undone` is set if it was
    rolled back. `lacks` says what the plan's task still needs. `iterations_left` are those that a stalled loop gets, 0
    if it is not stalled. `with_rules` is for the first prompt of a session.
    """

    iteration: int
    classification: str
    score: float
    best_iteration: int | None = None
    best_score: float = 0.0
    problems: RemainingProblems | None = None
    parts: tuple[ScorePart, ...] = ()
    alerts: tuple[str, ...] = ()
    undone: RolledBackIteration | None = None
    decision: Decision | None = None
    lacks: tuple[str, ...] = ()
    iterations_left: int = 0
    with_rules: bool = False


class Section(NamedTuple):
    """A heading and its items, most valuable first; `total` is how many there are if not all are known.

    Without items the heading says all, if there is anything (`total`).
    """

    heading: str
    items: tuple[str, ...]
    total: int | None = None


def feedback(at: FeedbackFacts, budget: int = TOKENS) -> str:
    """Return the feedback as plain text without a final line break, of at most about `budget` tokens.

    What was rolled back, and the decision, are there however small the budget is; long lists and reasons are cut.
    """
    head, tail = list(_head(at)), list(_tail(at))
    room = int(budget * BYTES_A_TOKEN) - sum(_size(line) for line in (*head, *tail))
    body = _fit_lines([each for each in _sections(at) if each.items or each.total], room)
    if not body and at.problems is not None:
        body = ["All measurements are fine; continue with the task."]
    return without_held_back("\n".join((*head, *body, *tail)))


def _head(at: FeedbackFacts) -> Iterator[str]:
    if at.with_rules:
        yield RULES
    yield f"Iteration {at.iteration}: {at.classification}, score {percent(at.score)} ({_state(at)})."
    if at.undone is not None:
        files = ", ".join(_cut(name) for name in at.undone.files[:_FILES])
        if len(at.undone.files) > _FILES:
            files += f" and {len(at.undone.files) - _FILES} more"
        now = "an earlier iteration" if at.problems is None else f"iteration {at.problems.iteration}"
        yield (
            f"Rolled back: the files are those of {now} again, without what iteration "
            f"{at.undone.iteration} changed{f': {files}' if files else ''}. Read them again before you edit them."
        )


def _state(at: FeedbackFacts) -> str:
    if at.best_iteration is None:
        return "nothing to compare with yet"
    if at.best_iteration == at.iteration:
        return "the best so far"
    if percent(at.best_score) == percent(at.score):
        return f"the same as iteration {at.best_iteration}, the best so far"
    return f"the best is iteration {at.best_iteration} with {percent(at.best_score)}"


def _tail(at: FeedbackFacts) -> Iterator[str]:
    decision = at.decision
    if decision is None:
        return
    reason = _cut(decision.reason)
    if at.iterations_left:
        yield (
            f"{reason}: nothing got better. The loop ends after {quantity(at.iterations_left, 'more iteration')} "
            f"without progress. {'. '.join(decision.alternatives)}."
        )
    elif decision.action != "continue" or at.undone is not None:
        yield f"Decision: {decision.action}: {reason}"


def _sections(at: FeedbackFacts) -> Iterator[Section]:
    """Yield what to tell, most valuable first."""
    if at.undone is not None:
        yield Section(f"Why iteration {at.undone.iteration} was rolled back:", tuple(_why_undone(at.undone, at.alerts)))
    yield Section("The task is not done until these pass:", at.lacks)
    if at.problems is not None:
        yield from _problem_sections(at.problems, "" if at.undone is None else " in the files that you have now")
    if at.undone is None:
        yield Section("Open alerts:", at.alerts)
    yield Section("What costs the score most:", tuple(_costs(at.parts)))


def _why_undone(undone: RolledBackIteration, alerts: Iterable[str]) -> Iterator[str]:
    yield from alerts
    lacked = undone.lacked
    if lacked is None:
        return
    yield from (f"deleted or skipped: {name} (it {how} before)" for name, how in lacked.lost.items())
    yield from (f"broken: {_failing_test(test)}" for test in lacked.failing or () if test.is_broken)
    yield from not_loading_lines(lacked)


def _problem_sections(problems: RemainingProblems, where: str) -> Iterator[Section]:
    listed = problems.listed or ListedDiagnostics()
    yield Section(f"The build fails{where}:", tuple(each.text for each in listed.findings if each.kind == "build"))
    if problems.metrics.build_status == "failure" and not listed.counts.get("build"):
        yield Section(f"The build fails{where}.", (), 1)
    not_loaded = once_each(problems.not_loaded)
    runs = tuple(said for place, said in not_loaded.items() if is_of_run(place))
    yield Section(f"The run of the tests itself{where}:", runs)
    files = (describe_not_loaded(place, said) for place, said in not_loaded.items() if not is_of_run(place))
    yield Section(f"Did not load{where}, so their tests did not run:", tuple(files))
    yield from _of_tests(problems, where)
    yield Section(
        "Lost tests; bring them back:", tuple(f"{name} ({how} before)" for name, how in problems.lost.items())
    )
    for kind, heading in (("types", "Type errors"), ("lint", "Lint findings")):
        found = [each for each in listed.findings if each.kind == kind]
        ours = [each.text for each in found if each.is_ours]
        note = " (not a line that this loop changed)" if ours else ""
        others = [each.text + note for each in found if not each.is_ours]
        yield Section(f"{heading}{where}:", (*ours, *others), listed.counts.get(kind))
    if listed.uncovered:
        rows = tuple(f"{path}: {in_ranges(lines, '-')}" for path, lines in listed.uncovered.items())
        yield Section("New lines that no test runs:", rows)


def _of_tests(problems: RemainingProblems, where: str) -> Iterator[Section]:
    if problems.held_back:
        verb = "test fails" if problems.held_back == 1 else "tests fail"
        yield Section(f"{problems.held_back} held-back {verb}; you cannot see what they test.", (), 1)
    if problems.failing is None:
        count = problems.metrics.tests_failed
        verb = "test fails" if count == 1 else "tests fail"
        yield Section(f"{count} {verb}{where}; the report does not name them.", (), count or None)
    else:
        yield Section(f"Failing tests{where}:", tuple(map(_failing_test, problems.failing)))


def _failing_test(test: FailingTest) -> str:
    """Return a failing test with the first lines of its message."""
    lines = [line for line in test.message.splitlines() if line.strip()][1:4]
    again = " (it passed before)" if test.is_broken else ""
    return "\n".join((first_words(test) + again, *(f"    {line.strip()}" for line in lines)))


def _costs(parts: Iterable[ScorePart]) -> Iterator[str]:
    """Yield the two parts that cost most, those with the same remedy together."""
    costs: dict[tuple[str, str], float] = {}
    for part in parts:
        remedy = _ADVICE.get(part.name, (part.name.replace("_", " "), "raise it"))
        costs[remedy] = costs.get(remedy, 0.0) + part.points
    for (what, advice), points in sorted(costs.items(), key=lambda each: -each[1])[:2]:
        if points >= 0.5:
            yield f"{plain_number(half_up(points, 1))} of 100 points for {what}: {advice}"


def _fit_lines(sections: Sequence[Section], room: int) -> list[str]:
    """Return the lines of the sections that fit: an item of each, then the first few of each, then the rest."""
    items = [
        ["- " + "\n    ".join(_cut(line) for line in item.split("\n    ")) for item in section.items]
        for section in sections
    ]
    shown = [0] * len(sections)
    for most in (1, 3, None):
        for index, section in enumerate(sections):
            room = _take_items(section, items[index], shown, index, most, room)
    lines: list[str] = []
    for section, texts, count in zip(sections, items, shown, strict=True):
        if not count:
            continue
        lines += [section.heading, *texts[:count]] if section.items else [section.heading]
        rest = max(section.total or 0, len(texts)) - count
        if section.items and rest > 0:
            lines.append(f"- and {rest} more")
    return lines


def _take_items(section: Section, texts: Sequence[str], shown: list[int], at: int, most: int | None, room: int) -> int:
    """Take further items of a section while there is room, and return what is left of it."""
    if not section.items:
        if not shown[at] and room >= _size(section.heading):
            shown[at] = 1
            room -= _size(section.heading)
        return room
    while shown[at] < len(texts) and (most is None or shown[at] < most):
        cost = _size(texts[shown[at]]) + (0 if shown[at] else _size(section.heading) + _SPACE_FOR_REST)
        if cost > room:
            break
        room -= cost
        shown[at] += 1
    return room


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace")) + 1


def _cut(text: str) -> str:
    """Return a text in one line, without control characters, cut if too long."""
    return shorten(for_terminal(" ".join(text.split())), 200)


def token_budget_of(store: LoopStore) -> int:
    """Return the token budget of the feedback. Raises RecordError."""
    return int(ConfiguredLoop.read(store, configured_by).config.document["feedback"]["tokens"])


def feedback_facts_of(
    committed: SealedRecords,
    record: IterationRecord,
    root: Path,
    decision: Decision | None = None,
    *,
    lacks: Sequence[str] = (),
    iterations_left: int = 0,
    with_rules: bool = False,
) -> FeedbackFacts:
    """Return the facts after an iteration; the files are those of the lineage's head.

    Parts of the record that cannot be read are left out as unknown. Raises RecordError if the loop's status is damaged.
    """
    head = committed.summary().head
    return FeedbackFacts(
        iteration=record.iteration,
        classification=record.classification,
        score=record.adjusted_score,
        best_iteration=record.best.iteration,
        best_score=record.best.adjusted,
        problems=known_problems(committed, head, root),
        parts=score_parts(committed, head),
        alerts=tuple(alert_line(alert) for alert in record.unaccepted_alerts),
        undone=None if head == record.iteration else undone(committed, record.iteration),
        decision=decision,
        lacks=tuple(lacks),
        iterations_left=iterations_left,
        with_rules=with_rules,
    )


def current_feedback_facts(committed: SealedRecords, summary: Summary, root: Path) -> FeedbackFacts:
    """Return the facts of a running loop for an agent that begins a session, without a decision.

    Damage and errors are as in `feedback_facts_of`.
    """
    return FeedbackFacts(
        iteration=summary.iteration,
        classification=summary.classification,
        score=summary.adjusted_score,
        best_iteration=summary.best_iteration,
        best_score=summary.best_adjusted_score,
        problems=known_problems(committed, summary.head, root),
        parts=score_parts(committed, summary.head),
        alerts=tuple(f"{alert['severity']} {alert['id']}: {alert['message']}" for alert in summary.alerts),
        undone=None if summary.head == summary.iteration else undone(committed, summary.iteration),
        with_rules=True,
    )


def alert_line(alert: Alert) -> str:
    """Return an alert with its id, and the place of its first finding."""
    place = f" ({alert.findings[0].place})" if alert.findings else ""
    return f"{alert.severity.name} {alert.id}: {alert.message}{place}"


def known_problems(committed: SealedRecords, number: int, root: Path | None) -> RemainingProblems | None:
    """Return what holds an iteration back, None if its record cannot be read."""
    try:
        return remaining_problems(committed, number, root)
    except RalphTrackerError:
        return None


def undone(committed: SealedRecords, number: int) -> RolledBackIteration:
    """Return what an iteration that was rolled back had changed and lacked."""
    manifest = kept_json(committed.paths, number, MANIFEST)
    changes = manifest.get("since_previous") if isinstance(manifest, dict) else None
    files = tuple(str(each["path"]) for each in changes or () if isinstance(each, dict) and "path" in each)
    return RolledBackIteration(number, files, known_problems(committed, number, None))


def score_parts(committed: SealedRecords, number: int) -> tuple[ScorePart, ...]:
    """Return what each component costs an iteration's score; () if its record is damaged."""
    plain = kept_json(committed.paths, number, "metrics.json")
    record: Any = plain.get("iteration_metrics") if isinstance(plain, dict) else None
    documents = (record.get("weights"), record.get("components")) if isinstance(record, dict) else (None,)
    if not all(
        isinstance(document, Mapping)
        and all(value is None or isinstance(value, int | float) for value in document.values())
        for document in documents
    ):
        return ()
    shares = component_shares(record["weights"], record["components"])
    known = (each for each in shares if each.value is not None)
    return tuple(ScorePart(each.name, each.weight * (100.0 - (each.value or 0.0))) for each in known)
