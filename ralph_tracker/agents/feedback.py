"""Write the feedback to an agent on its last iteration, the same for every host: most valuable first, within a budget.

It is made from facts, which are read from the loop's records.
Every section gets its first items, then the budget that is left goes to the sections in order. What does not fit is
counted, so that nobody takes a part for the whole.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.codec import decode
from ralph_tracker.core.alert_types import REMOVAL_ALERTS
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.known_tests import (
    HELD_BACK,
    describe_not_loaded,
    is_of_run,
    names_in_short,
    without_held_back,
)
from ralph_tracker.core.metrics import PASSED, Measurement, quantity
from ralph_tracker.core.objective import Progress, weigh
from ralph_tracker.errors import RalphTrackerError
from ralph_tracker.formats.parsed_report import first_line
from ralph_tracker.iteration.open_problems import (
    NOT_RUN,
    FailingTest,
    ListedDiagnostics,
    RemainingProblems,
    first_words,
    not_loading_lines,
    once_each,
    questions_in,
    remaining_problems,
)
from ralph_tracker.report.escaping import for_terminal
from ralph_tracker.report.wording import in_ranges
from ralph_tracker.short_text import first_few, percent, shorten
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.layout import MANIFEST
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.record_packs import kept_json
from ralph_tracker.store.summary import Summary, state_after
from ralph_tracker.store.write import LoopStore

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
_ALIKE: Final = 4  # failing tests with one cause are told as one from here on
_REASON: Final = 400  # characters, for an alert that names a few tests in full
_SPACE_FOR_REST: Final = len("- and 99999 more\n")
_DONE: Final = "If the task is complete, stop {again}without changes: the loop ends."
_MEASURED: Final = " with the task; it is measured again when you stop."
_GRAVE: Final = ("CRITICAL", "HIGH")
_NOISE: Final = re.compile(
    r"Omitting |Differing items|Skipping |Use -v|Full diff|at \S+ \(|at (?:async )?\S*:\d|\? [+^ -]*$"
)


class Section(NamedTuple):
    """A heading and its items, most valuable first; `total` is how many there are if not all are known.

    Without items the heading says all, if there is anything (`total`).
    """

    heading: str
    items: tuple[str, ...]
    total: int | None = None


class RolledBackIteration(NamedTuple):
    """An iteration that was rolled back: the files that it had changed, and what it lacked (None: unknown).

    `gained` are the tests that passed there and do not in the files of now.
    """

    iteration: int
    files: tuple[str, ...] = ()
    lacked: RemainingProblems | None = None
    gained: tuple[str, ...] = ()


class FeedbackFacts(NamedTuple):
    """Everything that the feedback is made from.

    `iteration` is the last one, `classification` and `score` (0 to 1) are its own; `best_iteration` is None if there is
    none, with `best_score`. `problems` are those of the files that the agent has, None if unknown. `alerts` are those
    of the last iteration that nobody accepted, `questions` those of them that a person has to answer. `undone` is set
    if it was rolled back, `earlier` says why others of the loop were. `changed` are the files that it changed, None if
    unknown. `left` says what is left of the loop's limits. `lacks` says what the plan's task still needs. `open_tasks`
    are those of the plan. `iterations_left` are those that a stalled loop gets, 0 if it is not stalled. `with_rules` is
    for the first prompt of a session. `unnoticed` are small errors of which its new tests notice none. `objective` says
    how the number that the loop optimises stands, `not_run` which checks have the results of an earlier iteration.
    """

    iteration: int
    classification: str
    score: float
    best_iteration: int | None = None
    best_score: float = 0.0
    problems: RemainingProblems | None = None
    alerts: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    undone: RolledBackIteration | None = None
    earlier: tuple[str, ...] = ()
    changed: tuple[str, ...] | None = None
    left: tuple[str, ...] = ()
    decision: Decision | None = None
    lacks: tuple[str, ...] = ()
    open_tasks: int = 0
    iterations_left: int = 0
    with_rules: bool = False
    unnoticed: Section | None = None
    objective: str = ""
    not_run: str = ""
    closed: bool = False

    @property
    def unchanged(self) -> bool:
        """Return whether the last iteration changed no file."""
        return self.changed == () and self.iteration > 0

    @property
    def ends_unchanged(self) -> bool:
        """Return whether an iteration without changes would end the loop as done."""
        problems = self.problems
        if problems is None or problems.held_back or self.lacks or self.open_tasks:
            return False
        metrics = problems.metrics
        grave = self.undone is None and any(alert.startswith(_GRAVE) for alert in (*self.alerts, *self.questions))
        green = metrics.tests_passed and metrics.tests_failed == 0 and metrics.build_status != "failure"
        return bool(green) and not (problems.not_loaded or problems.lost or grave)


def feedback(facts: FeedbackFacts, budget: int = TOKENS) -> str:
    """Return the feedback as plain text without a final line break, of at most about `budget` tokens.

    What was rolled back, and how the loop goes on, are there however small the budget is; long lists are cut.
    """
    sections = [each for each in _sections(facts) if each.items or each.total]
    head, tail = list(_head(facts)), list(_tail(facts, any_found=bool(sections)))
    room = int(budget * BYTES_A_TOKEN) - sum(_size(line) for line in (*head, *tail))
    return without_held_back("\n".join((*head, *_fit_lines(sections, room), *tail)))


def _head(facts: FeedbackFacts) -> Iterator[str]:
    if facts.with_rules:
        yield RULES
    yield f"Iteration {facts.iteration}: {facts.classification}, score {percent(facts.score)} ({_state(facts)})."
    if facts.objective:
        yield facts.objective
    if facts.not_run:
        yield facts.not_run
    if facts.unchanged:
        yield f"Iteration {facts.iteration} changed no file."
    if facts.undone is not None:
        files = first_few([_cut(name) for name in facts.undone.files], 8)
        now = "an earlier iteration" if facts.problems is None else f"iteration {facts.problems.iteration}"
        patch = ""
        if facts.problems is not None:
            patch = f" `ralph-tracker diff {facts.problems.iteration} {facts.undone.iteration}` shows the undone patch."
        yield (
            f"Rolled back: the files are those of {now} again, without what iteration {facts.undone.iteration} "
            f"changed{f': {files}' if files else ''}. Read them again before you edit them.{patch}"
        )


def _state(facts: FeedbackFacts) -> str:
    if facts.best_iteration is None:
        return "nothing to compare with yet"
    if facts.best_iteration == facts.iteration:
        return "the best so far"
    if percent(facts.best_score) == percent(facts.score):
        return f"the same as iteration {facts.best_iteration}, the best so far"
    word = "taken so far" if facts.best_score < facts.score else "the best"
    return f"{word} is iteration {facts.best_iteration} with {percent(facts.best_score)}"


def _tail(facts: FeedbackFacts, *, any_found: bool) -> Iterator[str]:
    decision = facts.decision
    waits = decision is not None and decision.action == "escalate"
    if facts.closed:
        yield "The loop has ended: nothing more is measured."
        return
    if decision is not None and decision.action == "stop" and not facts.iterations_left:
        yield f"Decision: stop: {_cut(decision.reason)}"
        return
    if decision is not None and facts.iterations_left:
        if not decision.is_done:
            files = "" if not facts.changed else f"; the last one changed {_listed(facts.changed)}"
            yield f"{_cut(decision.reason)}: no measured value got better{files}."
        yield f"The loop ends after {quantity(facts.iterations_left, 'more iteration')} without progress."
    elif decision is not None and waits:
        yield f"A person is needed: {_cut(decision.reason.removeprefix('Escalate to human - '))}"
    if (facts.iterations_left or facts.unchanged) and not facts.ends_unchanged and not waits:
        yield "To ask a person: `ralph-tracker hook post-iteration --blocked 'YOUR QUESTION'`, then stop."
    if facts.left:
        yield f"Left of the loop: {', '.join(facts.left)}."
    if facts.ends_unchanged:
        passes = "All tests pass" + ("." if any_found else ", no findings.")
        yield f"{passes} {_DONE.format(again='' if facts.with_rules else 'again ')}"
    elif facts.problems is not None:
        yield ("If a person has answered, continue" if waits else "Continue") + _MEASURED


def _sections(facts: FeedbackFacts) -> Iterator[Section]:
    """Yield what to tell, most valuable first."""
    if facts.undone is not None:
        yield Section(
            f"Why iteration {facts.undone.iteration} was rolled back:", tuple(_why_undone(facts.undone, facts))
        )
        gained = len(facts.undone.gained)
        if gained:
            verb = "passes" if gained == 1 else "pass"
            heading = f"{quantity(gained, 'test')} that passed in iteration {facts.undone.iteration} no longer {verb}:"
            yield Section(heading, (names_in_short(facts.undone.gained),))
    yield Section("The task is not done until these pass:", facts.lacks)
    if facts.problems is not None:
        yield from _problem_sections(facts.problems, "" if facts.undone is None else " in the files that you have now")
    if facts.undone is None:
        yield Section("If the task asks for this, say so in your answer; else restore it:", facts.questions)
        stall = "-stalled: " if facts.iterations_left else "\n"  # the end of the text has it
        yield Section("Open alerts:", tuple(alert for alert in facts.alerts if stall not in alert))
    if facts.unnoticed is not None:
        yield facts.unnoticed
    yield Section("Rolled back earlier in this loop:", facts.earlier)


def _why_undone(undone: RolledBackIteration, facts: FeedbackFacts) -> Iterator[str]:
    reasons: list[str] = []
    # What could not be measured for a cause that is told is told with it.
    for alert in (*facts.questions, *facts.alerts):
        if "metric_missing" not in alert or alert.rpartition(": ")[2] not in "\n".join(reasons):
            reasons.append(alert)
    yield from reasons
    if not reasons and facts.decision is not None:
        yield facts.decision.reason
    lacked, said = undone.lacked, "\n".join(reasons)
    if lacked is None:
        return
    yield from (
        f"deleted or skipped: {name} (it {how} before)" for name, how in lacked.lost.items() if name not in said
    )
    yield from (f"broken: {each}" for each in _failing_tests([t for t in lacked.failing or () if t.is_broken], said))
    if not any(why in said for why in lacked.not_loaded.values()):
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
        "Tests that are gone or skipped:", tuple(f"{name} ({how} before)" for name, how in problems.lost.items())
    )
    findings = [each for each in listed.findings if each.kind != "build"]
    ours = tuple(each.text for each in findings if each.is_ours)
    yield Section(f"Findings{where} on lines that this loop changed:", ours)
    for kind, heading in (("types", "Type errors"), ("lint", "Lint findings")):
        others = tuple(each.text for each in findings if each.kind == kind and not each.is_ours)
        total = listed.counts.get(kind, 0) - sum(each.kind == kind and each.is_ours for each in findings)
        if others:
            yield Section(f"{heading}{where} on lines that this loop did not change:", others, total)
        elif total > 0:
            yield Section(f"{total} more {heading.lower()}{where}.", (), total)
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
        heading = f"Failing tests{where}:"
        if len(problems.failing) >= _ALIKE:
            heading = f"{len(problems.failing)} failing tests{where}:"
        yield Section(heading, tuple(_failing_tests(problems.failing)))


def _failing_tests(tests: Sequence[FailingTest], said: str = "") -> Iterator[str]:
    """Yield each failing test; several whose messages differ in numbers and texts alone are told as one.

    Their names are left out where `said` has told the first of them.
    """
    alike: dict[str, list[FailingTest]] = {}
    for test in tests:
        alike.setdefault(re.sub(r"\d+(?:\.\d+)?|'[^']*'|\"[^\"]*\"", "…", first_line(test.message)), []).append(test)
    for group in alike.values():
        if len(group) < _ALIKE:
            yield from map(_failing_test, group)
            continue
        others = "" if group[1].name in said else f": {names_in_short([test.name for test in group[1:]])}"
        yield f"{_failing_test(group[0])}\n    and {len(group) - 1} tests fail alike{others}"


def _failing_test(test: FailingTest) -> str:
    """Return a failing test with the first lines of its message that tell something."""
    lines = [line.strip() for line in test.message.splitlines() if line.strip()][1:]
    told = [line for line in lines if not _NOISE.match(line)]
    sides = [next((line for line in told if line.startswith(sign)), "") for sign in ("- ", "+ ")]
    if all(sides):
        told = sides
    again = " (it passed before)" if test.is_broken else ""
    return "\n".join((first_words(test) + again, *(f"    {line}" for line in told[:3])))


def _listed(names: Sequence[str]) -> str:
    return first_few([_cut(name) for name in names], 3)


def _fit_lines(sections: Sequence[Section], room: int) -> list[str]:
    """Return the lines of the sections that fit: an item of each, then the first few of each, then the rest."""
    items = [
        ["- " + "\n    ".join(_cut(line, _REASON) for line in item.split("\n    ")) for item in section.items]
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


def _cut(text: str, most: int = 200) -> str:
    """Return a text in one line, without control characters, cut if too long."""
    return shorten(for_terminal(" ".join(text.split())), most)


def feedback_facts_of(
    loop: ConfiguredLoop,
    root: Path,
    *,
    lacks: Sequence[str] = (),
    iterations_left: int = 0,
    with_rules: bool = False,
) -> FeedbackFacts:
    """Return the facts of the last iteration on record; the files are those of the lineage's head.

    Parts of the record that cannot be read are left out as unknown. Raises RecordError if the loop's status is damaged.
    """
    committed = loop.store
    summary = committed.summary()
    head, number = summary.head, summary.iteration
    alerts = [alert for alert in summary.alerts if alert["state"] != "accepted"]
    asked = {alert["id"] for alert in alerts if alert["type"] in REMOVAL_ALERTS}  # the agent knows the task
    with suppress(RalphTrackerError):
        asked |= {each.alert for each in questions_in(committed, number)}
    lines = {alert["id"]: _alert_line(alert) for alert in alerts}
    manifest = kept_json(committed.paths, number, MANIFEST)
    changes = manifest.get("since_previous") if isinstance(manifest, dict) else None
    changed = None
    if isinstance(changes, list):
        changed = tuple(str(each["path"]) for each in changes if isinstance(each, dict) and "path" in each)
    measured = _measurement(committed, number)
    tasks = None if measured is None else measured.plan
    return FeedbackFacts(
        iteration=number,
        classification=summary.classification,
        score=summary.adjusted_score,
        best_iteration=summary.best_iteration,
        best_score=summary.best_adjusted_score,
        problems=known_problems(committed, head, root),
        alerts=tuple(line for name, line in lines.items() if name not in asked),
        questions=tuple(line for name, line in lines.items() if name in asked),
        undone=None if head == number else undone(committed, number, head, changed or ()),
        earlier=tuple(_earlier_rollbacks(committed, number)),
        changed=changed,
        left=_left(loop, summary),
        decision=decode(Decision, summary.decision),
        lacks=tuple(lacks),
        open_tasks=0 if tasks is None else tasks[1],
        iterations_left=iterations_left,
        with_rules=with_rules,
        unnoticed=_unnoticed(committed.strength(head)),
        objective="" if measured is None else _objective(committed, number, measured),
        not_run="" if measured is None else _not_run(measured.notes),
        closed=summary.status != "running",
    )


def _not_run(notes: Sequence[str]) -> str:
    names = next((note.removeprefix(NOT_RUN) for note in notes if note.startswith(NOT_RUN)), None)
    return "" if names is None else f"Not run again, as what they read is the same: {names.partition(';')[0]}."


def _objective(committed: LoopStore, number: int, measured: Measurement) -> str:
    """Return how the loop's goal and its guards stand, "" where it has no goal."""
    if not any(each.objective for each in measured.further):
        return ""
    before = decode(Progress, state_after(committed.paths, number - 1).get("progress", {})) if number else Progress()
    weighed = weigh(before, number, measured.further)
    if weighed is None:
        return ""
    guards = any(each.max_loss is not None for each in measured.further)
    holds = f"; it {weighed.lost}" if weighed.lost else "; guards hold" if guards else ""
    return f"{weighed.note}{holds}."


def _unnoticed(strength: Mapping[str, Any] | None) -> Section | None:
    """Return which errors new tests let pass where they notice none at all, as `ralph-tracker strength` found out."""
    if strength is None or not strength["added_tried"] or strength["added_noticed"]:
        return None
    tried, verb = quantity(strength["added_tried"], "small error"), "notices" if strength["added"] == 1 else "notice"
    where = "lines that they run" if strength["by_test"] else "changed lines"
    heading = f"{quantity(strength['added'], 'new test')} {verb} none of {tried} put into {where}, such as:"
    return Section(heading, tuple(str(each) for each in strength["missed"]))


def feedback_of(loop: ConfiguredLoop, root: Path, **more: Any) -> str:  # noqa: ANN401  # as of feedback_facts_of
    """Return the feedback on the last iteration on record, within the loop's budget. Raises as `feedback_facts_of`."""
    return feedback(feedback_facts_of(loop, root, **more), int(loop.config.document["feedback"]["tokens"]))


def _alert_line(alert: Mapping[str, Any]) -> str:
    """Return an alert with its id, its tests unless it names them, and the place of its first finding."""
    findings, tests = alert.get("findings") or (), alert.get("tests") or ()
    named = f": {names_in_short(tests)}" if tests and not any(test in alert["message"] for test in tests) else ""
    place = ""
    if findings:
        line = findings[0].get("line")
        place = f" ({findings[0]['file']}{'' if line is None else f':{line}'})"
    return f"{alert['severity']} {alert['id']}: {alert['message']}{named}{place}"


def _left(loop: ConfiguredLoop, summary: Summary) -> tuple[str, ...]:
    """Return what is left of each limit now."""
    limits, left = loop.config.thresholds.loop, []
    if limits.max_iterations is not None:
        left.append(quantity(max(limits.max_iterations - summary.iteration, 0), "iteration"))
    if limits.max_minutes is not None:
        spent = (datetime.now(UTC) - loop.started).total_seconds() / 60
        left.append(f"{max(limits.max_minutes - spent, 0):.0f} minutes")
    if limits.max_cost_usd is not None:
        left.append(f"${max(limits.max_cost_usd - (summary.cost_usd or 0), 0):.2f}")
    return tuple(left)


def _earlier_rollbacks(committed: LoopStore, last: int) -> Iterator[str]:
    """Yield why the latest iterations before the last one were rolled back, so that nobody tries the same again."""
    rolled = [event["after"] for event in committed.events() if event["event"] == "rollback" and event["after"] < last]
    for number in sorted(set(rolled), reverse=True)[:3]:
        reason = state_after(committed.paths, number).get("summary", {}).get("decision", {}).get("reason")
        if isinstance(reason, str):
            why = reason.partition(" due to regression: ")[2] or reason
            yield why if why.startswith("Iteration ") else f"iteration {number}: {why}"


def known_problems(committed: SealedRecords, number: int, root: Path | None) -> RemainingProblems | None:
    """Return what holds an iteration back, None if its record cannot be read."""
    try:
        return remaining_problems(committed, number, root)
    except RalphTrackerError:
        return None


def undone(committed: SealedRecords, number: int, head: int, files: tuple[str, ...]) -> RolledBackIteration:
    """Return what an iteration that was rolled back had changed, lacked and gained."""
    was, now = (_passing(committed, each) for each in (number, head))
    gained = () if was is None or now is None else tuple(sorted(name for name in was - now if HELD_BACK not in name))
    return RolledBackIteration(number, files, known_problems(committed, number, None), gained)


def _passing(committed: SealedRecords, number: int) -> frozenset[str] | None:
    measured = _measurement(committed, number)
    if measured is None or measured.tests is None:
        return None
    return frozenset(name for name, how in measured.tests.outcomes.items() if how == PASSED)


def _measurement(committed: SealedRecords, number: int) -> Measurement | None:
    """Return what was measured, None if it cannot be read."""
    try:
        found = committed.measurement(number)
    except RalphTrackerError:
        return None
    return None if found is None else found[0]
