"""Which ids of a report belong to which test of the source: `tests.test_box.TestBox::test_lid[1]` and its like."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from ralph_tracker.integrity.languages import Language, language_of
from ralph_tracker.integrity.source_tests import SEPARATOR

Parts = tuple[str, ...]

# The function is the first name that ends where parameters may begin; Go's subtests begin with a slash, as do folders.
_FUNCTION: Final = re.compile(
    r"(?:^|::)(?:([^\W\d]\w*)(?=[\[(#]|\Z| \()|((?:Test|Benchmark|Example|Fuzz)\w*)(?=/))", re.ASCII
)
_CASES: Final = "case_"
_CASE: Final = re.compile(r"(?:^|::)(\w+)(::case_\d\w*)\Z")  # rstest makes a module of a function with cases
_ORDINAL: Final = re.compile(r"#\d+\Z")
_BEFORE_PARAMETERS: Final = ("", "[", "(", "/", "#", " ", ":")
_PYTHON_FILE: Final = re.compile(r"\.py(?=::|\Z)")
_JOINTS: Final = re.compile(r"[./:\\$]+")
_WORDS: Final = re.compile(r"\w+")
_TITLED: Final = frozenset[Language]({"javascript", "typescript", "tsx"})


class ReportId(NamedTuple):
    """Hold the parts of an id: what stands before the function, the function, and the text that follows it."""

    owner: str
    function: str
    parameters: str


class Reported:
    """Look the ids of a report up by the tests of the source that they stand for."""

    def __init__(self, ids: Collection[str], known: "_Index | None" = None) -> None:
        self._ids = ids
        self._index = _Index(ids) if known is None else known

    def among(self, ids: Collection[str]) -> "Reported":
        """Return what looks up some of the ids alone, by the index of all."""
        return Reported(ids, self._index)

    def may_hold(self, path: str, name: str) -> bool:
        """Tell at once whether ids of a test may be among these: of most tests none is where few ids are."""
        if language_of(path) not in _TITLED:
            return split_id(name).function in self._index.by_function
        words = _WORDS.findall(name)
        return bool(words) and words[-1] in self._index.by_last_word

    def ids_of(self, path: str, name: str) -> tuple[str, ...]:
        """Return the ids of a test, one for each of its parameters, sorted; () where none is like it."""
        language = language_of(path)
        if language in _TITLED:
            return tuple(sorted(self._titled(path, name)))
        own = split_id(name)
        found = [(test, _parts(each.owner)) for test, each in self._of_function(own) if _begins(each, own)]
        classes = _parts(own.owner)
        if language == "python":
            return tuple(sorted(_owned(found, (*_parts(path), *classes))))
        return tuple(sorted(_nearest([each for each in found if _is_end(classes, each[1])], path)))

    def _of_function(self, own: ReportId) -> Iterable[tuple[str, ReportId]]:
        ids = self._index.by_function.get(own.function, ())
        return ((test, split_id(test)) for test in ids if test in self._ids)

    def _titled(self, path: str, name: str) -> Iterable[str]:
        """Return the ids that end in a title; runners join its parts in ways of their own."""
        words = _WORDS.findall(name)
        if not words:
            return ()
        ids = (test for test in self._index.by_last_word.get(words[-1], ()) if test in self._ids)
        found = [test for test in ids if _WORDS.findall(_ORDINAL.sub("", test))[-len(words) :] == words]
        return _nearest([(test, _parts(split_id(test).owner)) for test in found], path)


class _Index:
    """Be the ids of a report by what tests of the source are looked up by; each made once somebody asks."""

    def __init__(self, ids: Collection[str]) -> None:
        self._ids = ids

    @cached_property
    def by_function(self) -> dict[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for test in self._ids:
            found[_function_of(test)].append(test)
        return found

    @cached_property
    def by_last_word(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for test in self._ids:
            last = test.rsplit(None, 1)[-1:]
            words = _WORDS.findall(_ORDINAL.sub("", last[0])) if last else ()
            if words:
                found.setdefault(words[-1], []).append(test)
        return found


@lru_cache(maxsize=1 << 15)
def _function_of(test: str) -> str:
    _, owned, leaf = test.partition("[")[0].rpartition(SEPARATOR)
    usual = owned and leaf.isidentifier() and not leaf.startswith(_CASES)
    return leaf if usual else split_id(test).function


def split_id(test: str) -> ReportId:
    """Return the parts of an id, or of the name of a test in the source."""
    owner, _, leaf = test.rpartition(SEPARATOR)
    if leaf.isidentifier():
        found = _CASE.search(test) if leaf.startswith(_CASES) else None
        return ReportId(owner, leaf, "") if found is None else ReportId(test[: found.start()], found[1], found[2])
    found = _FUNCTION.search(test)
    if found is not None:
        return ReportId(test[: found.start()], found[1] or found[2], test[found.end() :])
    ordinal = _ORDINAL.search(leaf)
    return ReportId(owner, leaf, "") if ordinal is None else ReportId(owner, leaf[: ordinal.start()], ordinal[0])


def owner_parts(test: ReportId) -> Parts:
    """Return the folders, modules and classes that an id names, the outermost first."""
    return _parts(test.owner)


def _parts(owner: str) -> Parts:
    return tuple(filter(None, _JOINTS.split(_PYTHON_FILE.sub("", owner))))


def is_below(test: str, path: str) -> bool:
    """Tell whether an id may be that of a test below a folder, or of a file; whatever names no folder may be."""
    owner, place = _parts(split_id(test).owner), _parts(path)
    sizes = range(1, len(place) + 1)
    return len(owner) <= 1 or not place or any(owner[:size] == place[-size:] for size in sizes)


def _begins(test: ReportId, own: ReportId) -> bool:
    """Tell whether the id is that of the name, or of one of its parameters."""
    rest = test.parameters
    return rest.startswith(own.parameters) and rest[len(own.parameters) :][:1] in _BEFORE_PARAMETERS


def _is_end(one: Parts, other: Parts) -> bool:
    """Tell whether one is the end of the other: reports leave out folders, or add those above the root."""
    size = min(len(one), len(other))
    return size == 0 or one[-size:] == other[-size:]


def _owned(found: Iterable[tuple[str, Parts]], owner: Parts) -> Iterable[str]:
    """Return the ids of that owner: told in full, else with most of its folders, else with the fewest above."""
    by_length: dict[int, list[str]] = {}
    for test, parts in found:
        if _is_end(owner, parts):
            by_length.setdefault(len(parts), []).append(test)
    lengths = sorted(by_length, key=lambda length: (length > len(owner), abs(length - len(owner))))
    return by_length[lengths[0]] if lengths else ()


def _nearest(found: Iterable[tuple[str, Parts]], path: str) -> Iterable[str]:
    """Return the ids whose owner names most of the path, or of its folder, one after the other."""
    file = _parts(path)
    folder = _parts(path.rpartition("/")[0])
    stem = (*folder, path.rpartition("/")[2].partition(".")[0])
    by_common: dict[int, list[str]] = {}
    for test, parts in found:
        common = max(_common(parts, place) for place in (file, folder, stem))
        by_common.setdefault(common, []).append(test)
    return by_common[max(by_common)] if by_common else ()


def _common(parts: Parts, place: Parts) -> int:
    """Return how many parts of a place, its end first, stand together in the owner, its end first."""
    return max((_shared_end(parts[:end], place) for end in range(len(parts), 0, -1)), default=0)


def _shared_end(one: Parts, other: Parts) -> int:
    for size, (left, right) in enumerate(zip(reversed(one), reversed(other), strict=False)):
        if left != right:
            return size
    return min(len(one), len(other))
