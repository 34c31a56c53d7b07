"""T6: an assertion that lets more pass than the one that stood in its place."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.demanded import changed_tests, is_real, is_repeated, replaced, without
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.projected import PART, Core, Known, cores_of, nobody
from ralph_tracker.integrity.python.constants import ANY_TEXT
from ralph_tracker.integrity.python.demands import EQUAL, MEMBER, ORDER, RAISED
from ralph_tracker.integrity.source_tests import Assertion, SourceTest

ID: Final = "T6"
# What is compared with one of two values is so because of what it is: another value is expected, not less.
_TRUE_OR_FALSE: Final = Pattern(r"(==|is) (True|False)$|assert(Is|Equals?)\(.*, (True|False)\)$")
_NOTHING: Final = Pattern(r"^(assert .* (is|==) None|self\.assertIsNone\(.*\))$")
_SOMETHING: Final = Pattern(r"^(assert .* is not None|self\.assertIsNotNone\(.*\))$")
_ANYTHING: Final = Pattern(
    r"\bANY\b|[aA]ny[tT]hing\b|expect\.(any|\w+Containing|stringMatching)\(|mock\.Match|\bany[A-Z]?\w*\(\)|IsA\w*\("
)
_WORD: Final = Pattern(r"\w+")
_LITERAL: Final = Pattern(r"'[^']*'|\"[^\"]*\"|\d[\d.]*")
_QUOTED: Final = Pattern(r"'[^']*'|\"[^\"]*\"")
_SORTED_ITEMS: Final = Pattern(r"\bsorted\(([\w.]+)\.items\(\)\)")
_TEXT_EXPECTED: Final = Pattern(r"(==|,) *('[^']*'|\"[^\"]*\")\)?$")
_ATTRIBUTE_EXPECTED: Final = Pattern(r"\w+ *(==|,) *('[^']*'|\"[^\"]*\")\)?$")
_PUNCTUATION: Final = Pattern(r"[\W_]+")
_LAST_NUMBER: Final = Pattern(r"(?P<before>.*[^\w.])(?P<number>\d[\d.e-]*)[fFdD]?(?P<after>\W*)")
_DIGITS: Final = Pattern(r"toBeCloseTo")
_DISTANCES: Final = Pattern(
    r"InDelta|InEpsilon|WithinDuration|closeTo|approximately|isCloseTo|assertEquals|within|abs\(\)"
)


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield the assertions of surviving tests that were weakened, and not made up for."""
    for pair, new in changed_tests(file, evidence):
        if pair.old is None:
            continue
        for old, now in _weakened(pair.old, new):
            if evidence.source_changed and _is_opposite(old, now):
                continue
            yield finding(
                ID,
                Severity.HIGH,
                f"assertion weakened: `{old.text}` became `{now.text}`",
                file.path,
                line=now.line,
                test=new,
                ids=evidence.ids_of(new),
                old=old.text,
                new=now.text,
            )


def _is_opposite(old: Assertion, new: Assertion) -> bool:
    """Tell whether what had to be false, or nothing, has to be otherwise now: another answer, no weaker one."""
    if _NOTHING.search(old.text) and _SOMETHING.search(new.text):
        return True
    return new.text == old.text.replace("assert not ", "assert ", 1).replace("assertFalse(", "assertTrue(", 1)


class _Asked:
    """Know what an assertion of a test is about, step by step: its subject, and what that is made of."""

    def __init__(self, assertion: Assertion, names: "_Names") -> None:
        self.assertion = assertion
        self._names = names

    @cached_property
    def cores(self) -> Mapping[str, Core]:
        found: dict[str, Core] = {}
        for subject in self._names.subjects_of(self.assertion):
            for core in cores_of(subject, self._names.known):
                found.setdefault(core.text, core)
                if subject.startswith(RAISED):
                    break
        return found

    @cached_property
    def _strength(self) -> int:
        strength = self.assertion.strength or 0
        return ORDER if strength > ORDER and self._names.compares_with_itself(self.assertion) else strength

    def asks(self, core: Core) -> int:
        """Return how much is asked of a part of its subject."""
        return min(self._strength, core.most)


class _Names:
    """Know what the names of a test stand for; made once asked."""

    def __init__(self, test: SourceTest) -> None:
        self._test = test

    @cached_property
    def known(self) -> Known:
        if self._test.node is None:
            return nobody
        from ralph_tracker.integrity.python.loosening import names_of  # noqa: PLC0415  for this language only

        return names_of(self._test.node)

    def subjects_of(self, assertion: Assertion) -> Iterator[str]:
        yield assertion.subject
        if self._test.node is not None:
            from ralph_tracker.integrity.python.loosening import subjects_of  # noqa: PLC0415  for this language only

            yield from subjects_of(assertion.text)

    def compares_with_itself(self, assertion: Assertion) -> bool:
        """Tell whether what is expected is made of what is asked about: `x == str(x)`."""
        words = _WORD.findall(assertion.text)
        if len(set(words)) == len(words):
            return False  # what stands on both sides is named twice
        _, *sides = self.subjects_of(assertion)
        texts = set(sides)
        return len(sides) > 1 and any(core.text in texts - {side} for side in sides for core in cores_of(side))


def _weakened(old: SourceTest, new: SourceTest) -> Iterator[tuple[Assertion, Assertion]]:
    before, now = _Names(old), _Names(new)
    added = [_Asked(each, now) for each in without(new.assertions, old.assertions) if is_real(each)]
    for run in replaced(old.assertions, new.assertions):
        gone = [_Asked(each, before) for each in run.gone if is_real(each) and each.strength is not None]
        fresh = [_Asked(each, now) for each in run.fresh if _asks_something(each) and not is_repeated(each)]
        yield from _put_for(gone, fresh, added)


def _asks_something(assertion: Assertion) -> bool:
    return is_real(assertion) or assertion.vacuous == ANY_TEXT


def _put_for(gone: list[_Asked], fresh: list[_Asked], added: list[_Asked]) -> Iterator[tuple[Assertion, Assertion]]:
    """Yield what is gone with what stands for it, each once, the nearest subject first."""
    many = len(fresh) > len(gone)
    for now in fresh:
        nearest = _nearest(gone, now)
        if nearest is None:
            continue
        shared, old = nearest
        if _is_weaker(old, now, shared, added, many=many):
            gone.remove(old)
            yield old.assertion, now.assertion


def _nearest(gone: list[_Asked], now: _Asked) -> tuple[tuple[Core, Core], _Asked] | None:
    """Return which of them shares the most of what an assertion is about, and that; None where none does."""
    subject = now.assertion.subject
    if subject and gone and gone[0].assertion.subject == subject:
        whole = next(cores_of(subject))
        return (whole, whole), gone[0]  # nothing is nearer, and nobody has to read what that is made of
    related = [(distance, shared, each) for each in gone for distance, shared in _shared(each, now)]
    return min(related, key=lambda each: each[0])[1:] if related else None


def _shared(old: _Asked, now: _Asked) -> Iterator[tuple[int, tuple[Core, Core]]]:
    """Yield what both are about, the nearest to what the later one asks for first, and how far it is from that."""
    for distance, (text, core) in enumerate(now.cores.items()):
        other = old.cores.get(text)
        if other is not None and text and not (core.partly and other.partly):
            yield distance, (other, core)


def _is_weaker(old: _Asked, now: _Asked, shared: tuple[Core, Core], added: list[_Asked], *, many: bool) -> bool:
    one, other = old.assertion, now.assertion
    if one.strength is None or other.strength is None or _is_as_strict(one, other):
        return False
    asked, still = old.asks(shared[0]), now.asks(shared[1])
    if still > asked or (_TRUE_OR_FALSE.search(other.text) and not _TRUE_OR_FALSE.search(one.text)):
        return False
    if still == asked:
        return not many and shared[0].text == one.subject and _lets_more(one, other)
    if many and still >= MEMBER:
        return False
    wraps = shared[1].most >= PART and shared[1].partly and other.strength >= EQUAL
    if wraps and _says_the_same(one.text, other.text) and not _picks_of_both(other.text):
        return False
    return not _made_up_for(shared[0].text, asked, now, added, many=many)


def _made_up_for(about: str, asked: int, now: _Asked, added: list[_Asked], *, many: bool) -> bool:
    """Tell whether other new assertions ask as much of the same, or many of its parts."""
    others = [(each, core) for each in added if each is not now and (core := each.cores.get(about)) is not None]
    if any(each.assertion.strength is not None and each.asks(core) >= asked for each, core in others):
        return True
    if any(each.assertion.subject == about and _TRUE_OR_FALSE.search(each.assertion.text) for each, _ in others):
        return True
    return many and any(each.assertion.strength is None or each.asks(core) >= MEMBER for each, core in others)


def _picks_of_both(text: str) -> bool:
    from ralph_tracker.integrity.python.loosening import picks_of_both  # noqa: PLC0415  where literals are the same

    return picks_of_both(text)


def _says_the_same(old: str, new: str) -> bool:
    """Tell whether two assertions expect the same literals: then the value is wrapped, no part of it is picked."""
    expected = _LITERAL.findall(old)
    return bool(expected) and set(expected) <= set(_LITERAL.findall(new))


def _is_as_strict(old: Assertion, new: Assertion) -> bool:
    """Tell whether only the way of saying it differs: what has entries is equal where its sorted items are."""
    if _is_respelt(old.text, new.text) or _has_become_an_object(old, new):
        return True
    return ".items()" in new.text and _SORTED_ITEMS.sub(r"\1", new.text) == old.text


def _has_become_an_object(old: Assertion, new: Assertion) -> bool:
    """Tell whether what was a text has an attribute now that has to equal one: nothing else was asked about."""
    if not old.subject or _TEXT_EXPECTED.search(old.text) is None:
        return False
    _, found, rest = new.text.partition(f"{old.subject}.")
    return bool(found) and _ATTRIBUTE_EXPECTED.fullmatch(rest) is not None


def _is_respelt(old: str, new: str) -> bool:
    """Tell whether a text may stand there in several spellings now: `'a lid' in x or 'A-Lid' in x`."""
    if " or " not in new or new.count(" or ") != new.count(" in ") - 1:
        return False
    before, now = ({_PUNCTUATION.sub("", each).lower() for each in _QUOTED.findall(text)} for text in (old, new))
    return len(before) == 1 and before == now


def _lets_more(old: Assertion, new: Assertion) -> bool:
    """Tell whether an assertion of the same kind lets more pass by what it compares with."""
    if len(_ANYTHING.findall(new.text)) > len(_ANYTHING.findall(old.text)) or _is_within_more(old.text, new.text):
        return True
    from ralph_tracker.integrity.python.loosening import is_looser  # noqa: PLC0415  where texts are of one kind

    return is_looser(old.text, new.text)


def _is_within_more(old: str, new: str) -> bool:
    """Tell whether only the last number differs, and is a distance that grew or a count of digits that fell."""
    before, now = _LAST_NUMBER.fullmatch(old), _LAST_NUMBER.fullmatch(new)
    if before is None or now is None or (before["before"], before["after"]) != (now["before"], now["after"]):
        return False
    try:
        grows = float(now["number"]) - float(before["number"])
    except ValueError:
        return False
    if _DIGITS.search(new):
        return grows < 0
    return grows > 0 and _DISTANCES.search(new) is not None and before["before"].count(",") > 1
