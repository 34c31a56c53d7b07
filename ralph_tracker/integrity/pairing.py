"""Which test of the new source is which of the old: by name, else moved, renamed, merged or split."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.source_tests import SourceTest, Unparsable

Place = tuple[str, str]


class TestPair(NamedTuple):
    """Hold a test as it was and as it is; `how` says by what a pair was found that does not bear the same name.

    `moved`: the function's name is the same in another file or class; `renamed`: its content is; `merged`: `new` holds
    what `old` and `others` held; `split`: `new` and `parts`, each in a pair of its own, hold what `old` held. A pair
    by name may hold others and parts as well.
    """

    old: SourceTest | None
    new: SourceTest | None
    how: str = ""
    others: tuple[SourceTest, ...] = ()
    parts: tuple[SourceTest, ...] = ()

    @property
    def olds(self) -> tuple[SourceTest, ...]:
        """Return every test of the old source that the pair is about."""
        return self.others if self.old is None else (self.old, *self.others)

    @property
    def news(self) -> tuple[SourceTest, ...]:
        """Return every test of the new source that the pair is about."""
        return self.parts if self.new is None else (self.new, *self.parts)


TestPair.__test__ = False  # type: ignore[attr-defined]  # a test runner would collect it by its name


def paired(files: Iterable[ChangedFile]) -> tuple[TestPair, ...]:
    """Return the tests of the changed files in pairs, in the order of the new source, those that are gone last.

    Each test of the new source is `new` of one pair; each of the old one is in one at least.
    """
    files = tuple(files)
    olds = _tests(file.old for file in files)
    news = _tests(file.new for file in files)
    if olds.keys() == news.keys():
        return tuple(TestPair(olds[place], test) for place, test in news.items())
    return tuple(_regrouped(olds, news))


def _regrouped(olds: Mapping[Place, SourceTest], news: Mapping[Place, SourceTest]) -> Iterator[TestPair]:
    from ralph_tracker.integrity.fingerprints import Fingerprint  # noqa: PLC0415  most changes leave names alone
    from ralph_tracker.integrity.regrouping import regrouped  # noqa: PLC0415

    before = {place: Fingerprint(test) for place, test in olds.items()}
    after = {place: Fingerprint(test) for place, test in news.items()}
    kept = {test: before[place] for place, test in after.items() if place in before}
    found = regrouped(
        kept,
        [test for place, test in before.items() if place not in news],
        [test for place, test in after.items() if place not in olds],
    )
    left = dict.fromkeys(before.values())
    for new in after.values():
        origin = found.origins.get(new)
        others, parts = found.others.get(new, ()), found.parts.get(new, ())
        for old in (*others,) if origin is None else (origin, *others):
            left.pop(old, None)
        yield TestPair(
            None if origin is None else origin.test,
            new.test,
            found.how.get(new, ""),
            tuple(each.test for each in others),
            tuple(each.test for each in parts),
        )
    yield from (TestPair(old.test, None) for old in left)


def _tests(sides: Iterable[Side | None]) -> Mapping[Place, SourceTest]:
    """Return the tests by path and name; a file that is no program holds none."""
    found: dict[Place, SourceTest] = {}
    for side in sides:
        try:
            tests = side.tests if side is not None else ()
        except (Unparsable, RecursionError, MemoryError):
            continue
        found.update(((test.path, test.name), test) for test in tests)
    return found
