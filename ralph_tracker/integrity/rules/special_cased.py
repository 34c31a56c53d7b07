"""T12: source answers by constants what tests ask for, where it should compute."""

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.fresh import fresh
from ralph_tracker.integrity.python.expectations import Case, cases_of
from ralph_tracker.integrity.python.meanings import leading_to
from ralph_tracker.integrity.python.specials import ANSWER, BRANCH, TABLE, Special, answers_in, is_rare, specials_in
from ralph_tracker.integrity.relevance import has_any, may_special_case
from ralph_tracker.integrity.source_tests import SourceTest, Unparsable

_RULE: Final = "T12"
_MOSTLY: Final = 0.5
_PART: Final = 3
_EDGE: Final = 2
Held = list[tuple[SourceTest, Sequence[Case]]]


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield new branches, tables and returns that hold what stands together in an assertion. Raises Unparsable."""
    if file.new is None or not may_special_case(file):
        return
    seen = list(fresh(file, evidence, _specials))
    if file.old is not None:
        with contextlib.suppress(Unparsable):  # what was no program answered nothing
            seen += _answers(file.old.text, file.new.text)
    seen = [_reached(each, file.new.text) for each in seen if _may_matter(each, begun=evidence.any_began_to_pass)]
    if not seen:
        return
    held = _held(seen, evidence)
    groups: defaultdict[tuple[str, str], list[tuple[Special, list[SourceTest]]]] = defaultdict(list)
    for each in seen:
        groups[each.what, each.function or min(each.near, default="")].append(
            (each, [test for test, cases in held if _holds(cases, each, begun=evidence.passes_now(test))])
        )
    for group in groups.values():
        matched = [(each, tests) for each, tests in group if tests]
        if len(matched) >= _MOSTLY * len(group):
            yield from (_made(each, tests, file, evidence) for each, tests in matched)


def _specials(side: Side) -> Iterator[Special]:
    if side.language != "python":
        return iter(())
    try:
        return iter(list(specials_in(side.text, None if side.other is None else side.other.text)))
    except Unparsable:
        return specials_in(side.text)


def _answers(old: str, new: str) -> list[Special]:
    try:
        return list(answers_in(old, new))
    except Unparsable:
        return []


def _reached(each: Special, text: str) -> Special:
    """Return the same with all functions that lead there."""
    return each._replace(near=leading_to({each.function, *each.near}, text))


def _may_matter(each: Special, *, begun: bool) -> bool:
    if each.what == ANSWER:
        return bool(each.answered)
    known = any(map(_is_telling, each.asked)) and any(map(_is_telling, each.answered))
    return any(map(is_rare, each.asked | each.answered)) or len(_telling(each.asked)) > 1 or (begun and known)


def _held(seen: Iterable[Special], evidence: Evidence) -> Held:
    """Return the tests that stood there before with their cases; the files around are asked for once."""
    found: Held = []
    words = frozenset(word for each in seen for word in _words(each))
    changed = {file.path: has_any(file.new, words) for file in evidence.files}
    for pair in evidence.pairs:
        if pair.new is None or pair.old is None or not changed.get(pair.new.path) or not _waited(pair.new, evidence):
            continue
        olds, news = _cases(pair.old, evidence, new=False), _cases(pair.new, evidence, new=True)
        found.append((pair.new, [each for each in news if each in olds]))
    for side in evidence.tests_around(words):
        if side.path not in changed:
            found += _around(side, evidence)
    return found


def _around(side: Side, evidence: Evidence) -> Held:
    try:
        return [
            (test, cases_of(test.node, side.text))
            for test in side.tests
            if test.node is not None and _waited(test, evidence)
        ]
    except (Unparsable, RecursionError):
        return []


def _words(each: Special) -> Iterator[str]:
    """Yield what the text of a test must hold one of to be asked for: the function's name, or a rare constant."""
    yield from each.near
    for value in each.asked | each.answered:
        if is_rare(value):
            yield value if isinstance(value, str) else repr(value)


def _waited(test: SourceTest, evidence: Evidence) -> bool:
    """Tell whether a test did not pass before, or nothing is known of that: one that passed asked for nothing."""
    before = [evidence.outcomes.before[each] for each in evidence.ids_of(test) if each in evidence.outcomes.before]
    return not before or any(outcome != "passed" for outcome in before)


def _cases(test: SourceTest, evidence: Evidence, *, new: bool) -> Sequence[Case]:
    for file in evidence.files:
        side = file.new if new else file.old
        if file.path == test.path and side is not None and test.node is not None:
            return cases_of(test.node, side.text)
    return ()


def _holds(cases: Iterable[Case], special: Special, *, begun: bool) -> bool:
    return any(_together(case, special, begun=begun) for case in cases)


def _together(case: Case, special: Special, *, begun: bool) -> bool:
    """Tell whether a case asks for what is special and expects what is answered.

    Of a test that has `begun` to pass by it, small values say enough, if they are no edges.
    """
    named = not special.near.isdisjoint(case.names)
    if special.what == ANSWER:
        return named and special.answered <= case.values
    if named and _asked_for_all(case, special):
        return True
    small = begun and named
    for asked in special.asked & case.values:
        for answered in special.answered & case.values:
            if asked == answered and not named:
                continue
            if small and asked != answered and _is_telling(asked) and _is_telling(answered):
                return True
            if (is_rare(asked) or is_rare(answered)) and (named or _both_rare(asked, answered)):
                return True
    return False


def _is_telling(value: object) -> bool:
    """Tell whether a constant is neither an edge, nor nothing, nor a truth value."""
    if isinstance(value, int | float):
        return abs(value) > _EDGE or value != int(value)
    return isinstance(value, str | bytes) and len(value) > 0


def _asked_for_all(case: Case, special: Special) -> bool:
    """Tell whether a case asks for all that is special, by small numbers, by parts of a text or by its measures."""
    if not special.answered & case.values:
        return False
    small = _telling(special.asked)
    if len(small) > 1 and special.what in {BRANCH, TABLE} and small <= case.values and special.answered <= case.values:
        return True
    if not any(map(is_rare, special.answered & case.values)):
        return False
    texts = [each for each in case.values if isinstance(each, str)]
    held = any(len(part) >= _PART and part in text for part in special.parts for text in texts)
    return special.measured or (held and not any(map(is_rare, special.asked - special.parts - case.values)))


def _telling(asked: Iterable[object]) -> frozenset[object]:
    """Return the numbers that are no edge."""
    return frozenset(each for each in asked if isinstance(each, int | float) and abs(each) > 1)


def _both_rare(asked: object, answered: object) -> bool:
    return is_rare(asked) and is_rare(answered)


def _made(each: Special, tests: list[SourceTest], file: ChangedFile, evidence: Evidence) -> Finding:
    ids = tuple(sorted({test for one in tests for test in evidence.ids_of(one)}))
    first = tests[0]
    more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
    return finding(
        _RULE,
        Severity.MEDIUM,
        f"{each.what} that {first.name}{more} holds: `{each.text}`",
        file.path,
        line=each.line,
        test=first if len(tests) == 1 else None,
        ids=ids,
        new=each.text,
    )
