"""What the ids of a report say: `tests.test_box.TestBox::test_lid[1]`, and which test of the source each belongs to."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ralph_tracker.integrity.languages import language_of
from ralph_tracker.integrity.source_tests import SEPARATOR, SourceTest

Parts = tuple[str, ...]

# The function is the first name that ends where parameters may begin; Go's subtests begin with a slash, as do folders.
_FUNCTION: Final = re.compile(
    r"(?:^|::)(?:([^\W\d]\w*)(?=[\[(#]|\Z| \()|((?:Test|Benchmark|Example|Fuzz)\w*)(?=/))", re.ASCII
)
_CASE: Final = re.compile(r"(?:^|::)(\w+)(::case_\d\w*)\Z")  # rstest makes a module of a function with cases
_ORDINAL: Final = re.compile(r"#\d+\Z")
_TITLED: Final = re.compile(r"([^\s:]+\.(?:[cm]?[jt]sx?|rb|dart))::(.*)\Z", re.DOTALL)
_DOTTED: Final = re.compile(r"([\w.]+)\.(\w+)(\(.*|)\Z", re.DOTALL)  # .NET has no other joint
_CARGO_TARGET: Final = re.compile(r"\A\S+ (?:(?:\S*/)?(?:lib|main)|\S*?([^/\s]+))\.rs(?=::)")
_GO_TEST: Final = re.compile(r"(?:Test|Fuzz|Example)(?![a-z])")
_SUFFIX: Final = re.compile(r"\.(?:py|java|kt)(?=::|\Z)")
_JOINTS: Final = re.compile(r"[./:\\$\s]+")
_WORDS: Final = re.compile(r"\w+")
_PLACEHOLDER: Final = re.compile(r"%[sdifjoOpc#%$]|\$\{[^}]*\}|\$#?[A-Za-z_][\w.]*")


class ReportId(NamedTuple):
    """The parts of an id: folders, modules and classes (outermost first), the function or title, what follows it.

    `parameters` is the rest as it stands: `[1-a]`, `(int)[1]`, `/subtest`, `::case_1`, `#2`; "" for none.
    """

    owner: Parts
    function: str
    parameters: str


@lru_cache(maxsize=1 << 15)
def split_id(test: str) -> ReportId:
    """Return the parts of an id, or of the name of a test in the source."""
    if titled := _TITLED.match(test):
        ordinal = _ORDINAL.search(titled[2])
        end = ordinal.start() if ordinal else len(titled[2])
        return ReportId(_parts(titled[1]), titled[2][:end], titled[2][end:])
    test = _CARGO_TARGET.sub(lambda found: found[1] or found[0].partition(" ")[0], test)
    if case := _CASE.search(test):
        return ReportId(_parts(test[: case.start()]), case[1], case[2])
    owner, _, leaf = test.rpartition(SEPARATOR)
    if leaf.isidentifier():
        return ReportId(_parts(owner), leaf, "")
    if found := _FUNCTION.search(test):
        return ReportId(_parts(test[: found.start()]), found[1] or found[2], test[found.end() :])
    if not owner and (dotted := _DOTTED.match(test)):
        return ReportId(_parts(dotted[1]), dotted[2], dotted[3])
    ordinal = _ORDINAL.search(leaf)
    end = ordinal.start() if ordinal else len(leaf)
    return ReportId(_parts(owner), leaf[:end], leaf[end:])


def files_of(ids: Iterable[str], paths: Iterable[str], tests: Sequence[SourceTest] = ()) -> Mapping[str, str | None]:
    """Return the test file that each id belongs to; None where none, or more than one, may be it.

    What the id says of its file is looked up among the paths. `tests` of these files decide where that leaves several:
    of packages of Go and modules of Rust the id names no file.
    """
    places: defaultdict[str, list[tuple[Parts, str]]] = defaultdict(list)
    for path in paths:
        place = _place(path)
        places[place[-1] if place else ""].append((place, path))
    found: dict[str, str | None] = {}
    by_owner: dict[Parts, list[str]] = {}
    undecided = []
    for test in ids:
        owner = split_id(test).owner
        if owner not in by_owner:
            by_owner[owner] = _nearest(owner, places) or _at_root(split_id(test), places)
        found[test] = by_owner[owner][0] if len(by_owner[owner]) == 1 else None
        if found[test] is None:
            undecided.append(test)
    defining = definitions(undecided, tests) if tests and undecided else {}
    for test, defined in defining.items():
        files = {each.path for each in defined}
        near = by_owner[split_id(test).owner]
        files = files.intersection(near) if near else files
        found[test] = files.pop() if len(files) == 1 else None
    return found


def definitions(ids: Iterable[str], tests: Iterable[SourceTest]) -> Mapping[str, tuple[SourceTest, ...]]:
    """Return the tests of the source that each id may be of, those whose place is closest; () where none is.

    A test that a class inherits is not found: its id names the class, its definition stands in another.
    """
    # By function and the last part of its place, which an id tells unless it tells none.
    by_function: defaultdict[tuple[str, str | None], list[tuple[Parts, SourceTest]]] = defaultdict(list)
    by_title: defaultdict[Parts, list[tuple[Parts, SourceTest]]] = defaultdict(list)
    patterns: list[tuple[re.Pattern[str], Parts, SourceTest]] = []
    sizes: set[int] = set()
    for test in tests:
        language = language_of(test.path)
        if language in {"javascript", "typescript", "tsx"}:
            place = _place(test.path)
            words = tuple(_WORDS.findall(test.name))
            by_title[words].append((place, test))
            sizes.add(len(words))
            if _PLACEHOLDER.search(test.name):
                patterns.append((_title_pattern(test.name), place, test))
        else:
            owner, _, function = test.name.rpartition(SEPARATOR)
            # A method of a testify suite is reported below the function that runs the suite, whatever its own type.
            classes = () if language == "go" else tuple(owner.split(SEPARATOR)) if owner else ()
            place = _place(test.path)[:-1] if language == "java" else _place(test.path)
            place = (*place, *classes)
            for last in {None, place[-1] if place else ""}:
                by_function[function, last].append((place, test))

    found: dict[str, tuple[SourceTest, ...]] = {}
    for test_id in ids:
        parts = split_id(test_id)
        function = parts.function
        if parts.parameters.startswith("/Test"):
            function = parts.parameters.split("/")[1]
        candidates = [
            each
            for last in ((parts.owner[-1], "") if parts.owner else (None,))
            for each in by_function.get((function, last), ())
            if _is_end(parts.owner, each[0])
        ]
        if not candidates and by_title:
            candidates = _titled(parts, by_title, sizes)
        if not candidates:
            title = function + parts.parameters
            candidates = [
                (place, each) for like, place, each in patterns if _may_be(parts.owner, place) and like.search(title)
            ]
        most = max((_shared(parts.owner, place) for place, _ in candidates), default=0)
        found[test_id] = tuple(each for place, each in candidates if _shared(parts.owner, place) == most)
    return found


def _titled(
    test: ReportId, by_title: Mapping[Parts, Collection[tuple[Parts, SourceTest]]], sizes: Collection[int]
) -> list[tuple[Parts, SourceTest]]:
    """Return the tests whose titles the id ends in, most of its words first; runners join them in ways of their own."""
    words = (*test.owner, *_WORDS.findall(test.function))
    for size in sorted(sizes, reverse=True):
        if 0 < size <= len(words):
            found = [each for each in by_title.get(words[-size:], ()) if _may_be(test.owner, each[0])]
            if found:
                return found
    return []


def _title_pattern(name: str) -> re.Pattern[str]:
    """Return what finds the titles that `adds %i to $b` is reported by."""
    between = (r"\W+".join(re.escape(word) for word in _WORDS.findall(part)) for part in _PLACEHOLDER.split(name))
    return re.compile(r"(?:^|\W)" + ".*".join(between) + r"\W*\Z", re.DOTALL)


def _may_be(owner: Parts, place: Parts) -> bool:
    """Tell whether an id with a title may be of that file: where its owner names a file, of that one only."""
    names_file = len(owner) > 1 and owner[-1] in {"js", "ts", "jsx", "tsx", "mjs", "cjs", "mts", "cts"}
    return not names_file or _is_end(owner, place)


def _place(path: str) -> Parts:
    """Return what ids call a file: its folders and name, of Go its package, of Rust its modules."""
    language = language_of(path)
    if language == "go":
        return _parts(path.rpartition("/")[0])
    if language == "rust":
        modules = path.removesuffix(".rs").split("/")
        folder = next((number for number, each in enumerate(modules) if each in {"src", "tests"}), -1)
        modules = modules[folder + 1 :]
        return tuple(modules[:-1] if modules[-1] in {"mod", "lib", "main"} else modules)
    return _parts(path)


def _parts(owner: str) -> Parts:
    return tuple(filter(None, _JOINTS.split(_SUFFIX.sub("", owner))))


def _nearest(owner: Parts, places: Mapping[str, Sequence[tuple[Parts, str]]]) -> list[str]:
    """Return the paths that share most with the owner of an id, looked for from its innermost part."""
    for end in range(len(owner), 0, -1):
        near = [(place, path) for place, path in places.get(owner[end - 1], ()) if _is_end(owner[:end], place)]
        if near:
            most = max(_shared(owner[:end], place) for place, _ in near)
            found = [(place, path) for place, path in near if _shared(owner[:end], place) == most]
            exact = [path for place, path in found if len(place) == most]
            return exact or [path for _, path in found]
    return []


def _at_root(test: ReportId, places: Mapping[str, Sequence[tuple[Parts, str]]]) -> list[str]:
    """Return the files of the root package of Go, or module of Rust, that an id of these languages may be of."""
    is_go = _GO_TEST.match(test.function) is not None
    is_rust = test.function.isidentifier() and (len(test.owner) <= 1 or test.owner[-1] in {"test", "tests"})
    suffixes = ("_test.go",) if is_go else (".rs",) if is_rust else ()
    return [path for _, path in places.get("", ()) if path.endswith(suffixes)]


def _is_end(one: Parts, other: Parts) -> bool:
    """Tell whether one is the end of the other: reports leave out folders, or add those above the root."""
    size = min(len(one), len(other))
    return size == 0 or one[-size:] == other[-size:]


def _shared(one: Parts, other: Parts) -> int:
    """Return how many parts the ends of both have in common."""
    for size, (left, right) in enumerate(zip(reversed(one), reversed(other), strict=False)):
        if left != right:
            return size
    return min(len(one), len(other))
