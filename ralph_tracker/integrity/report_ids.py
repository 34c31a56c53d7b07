"""Parse the ids of a report (`tests.test_box.TestBox::test_lid[1]`) and find the source test of each."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ralph_tracker.integrity.source_tests import SEPARATOR, SourceTest, language_of

Parts = tuple[str, ...]

# The function is the first name followed by possible parameters; a slash starts Go's subtests, but also separates
# folders.
_FUNCTION: Final = r"(?a)(?:^|::)(?:([^\W\d]\w*)(?=[\[(#]|\Z| \()|((?:Test|Benchmark|Example|Fuzz)\w*)(?=/))"
_CASE: Final = r"(?:^|::)(\w+)(::case_\d\w*)\Z"  # rstest turns a function with cases into a module
_ORDINAL: Final = r"#\d+\Z"
_TITLED: Final = r"(?s)([^\s:]+\.(?:[cm]?[jt]sx?|rb|dart))::(.*)\Z"
_DOTTED: Final = r"(?s)([\w.]+)\.(\w+)(\(.*|)\Z"  # .NET has no other separator
_CARGO_TARGET: Final = r"\A\S+ (?:(?:\S*/)?(?:lib|main)|\S*?([^/\s]+))\.rs(?=::)"
_GO_TEST: Final = r"(?:Test|Fuzz|Example)(?![a-z])"
_SUFFIX: Final = r"\.(?:py|java|kt)(?=::|\Z)"
_JOINTS: Final = r"[./:\\$\s]+"
_WORDS: Final = r"\w+"
_PLACEHOLDER: Final = r"%[sdifjoOpc#%$]|\$\{[^}]*\}|\$#?[A-Za-z_][\w.]*"


class ReportId(NamedTuple):
    """The parts of an id: folders, modules and classes (outermost first), the function or title, the parameters.

    `parameters` is the unparsed rest: `[1-a]`, `(int)[1]`, `/subtest`, `::case_1`, `#2`; "" without any.
    """

    owner: Parts
    function: str
    parameters: str


@lru_cache(maxsize=1 << 15)
def split_id(test: str) -> ReportId:
    """Return the parts of an id, or of the name of a test in the source."""
    if titled := re.match(_TITLED, test):
        ordinal = re.search(_ORDINAL, titled[2])
        end = ordinal.start() if ordinal else len(titled[2])
        return ReportId(_parts(titled[1]), titled[2][:end], titled[2][end:])
    test = re.sub(_CARGO_TARGET, lambda found: found[1] or found[0].partition(" ")[0], test)
    if case := re.search(_CASE, test):
        return ReportId(_parts(test[: case.start()]), case[1], case[2])
    owner, _, leaf = test.rpartition(SEPARATOR)
    if leaf.isidentifier():
        return ReportId(_parts(owner), leaf, "")
    if found := re.search(_FUNCTION, test):
        return ReportId(_parts(test[: found.start()]), found[1] or found[2], test[found.end() :])
    if not owner and (dotted := re.match(_DOTTED, test)):
        return ReportId(_parts(dotted[1]), dotted[2], dotted[3])
    ordinal = re.search(_ORDINAL, leaf)
    end = ordinal.start() if ordinal else len(leaf)
    return ReportId(_parts(owner), leaf[:end], leaf[end:])


def files_of(ids: Iterable[str], paths: Iterable[str], tests: Sequence[SourceTest] = ()) -> Mapping[str, str | None]:
    """Return the test file of each id; None if none or several are possible.

    The file part of the id is looked up among the paths. If that leaves several, `tests` of these files decide: for
    Go's packages and Rust's modules the id names no file.
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
    """Return the possible source tests of each id, those with the closest place; () without any.

    An inherited test is not found: its id names the class, but it is defined in another.
    """
    # By function and last part of the place; the latter is None for ids without one.
    by_function: defaultdict[tuple[str, str | None], list[tuple[Parts, SourceTest]]] = defaultdict(list)
    by_title: defaultdict[Parts, list[tuple[Parts, SourceTest]]] = defaultdict(list)
    patterns: list[tuple[re.Pattern[str], Parts, SourceTest]] = []
    sizes: set[int] = set()
    for test in tests:
        language = language_of(test.path)
        if language in {"javascript", "typescript", "tsx"}:
            place = _place(test.path)
            words = tuple(re.findall(_WORDS, test.name))
            by_title[words].append((place, test))
            sizes.add(len(words))
            if re.search(_PLACEHOLDER, test.name):
                patterns.append((_title_pattern(test.name), place, test))
        else:
            owner, _, function = test.name.rpartition(SEPARATOR)
            # A method of a testify suite is reported below the function that runs the suite, whatever its type.
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
            candidates = _tests_by_title(parts, by_title, sizes)
        if not candidates:
            title = function + parts.parameters
            candidates = [
                (place, each) for like, place, each in patterns if _may_be(parts.owner, place) and like.search(title)
            ]
        most = max((_common_length(parts.owner, place) for place, _ in candidates), default=0)
        found[test_id] = tuple(each for place, each in candidates if _common_length(parts.owner, place) == most)
    return found


def ids_by_test(ids: Iterable[str], tests: Iterable[SourceTest]) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the report ids of tests by path and name."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for test_id, defined in definitions(ids, tests).items():
        for test in defined:
            key = (test.path, test.name)
            found[key] = (*found.get(key, ()), test_id)
    return found


def _tests_by_title(
    test: ReportId, by_title: Mapping[Parts, Collection[tuple[Parts, SourceTest]]], sizes: Collection[int]
) -> list[tuple[Parts, SourceTest]]:
    """Return the tests whose titles end the id, longest first; runners join titles in different ways.

    TAP names assertions: if no title ends the id, the one before its last part counts.
    """
    outer = test.function.rpartition(" > ")[0]
    for words in ((*test.owner, *re.findall(_WORDS, test.function)), (*test.owner, *re.findall(_WORDS, outer))):
        for size in sorted(sizes, reverse=True):
            if 0 < size <= len(words):
                found = [each for each in by_title.get(words[-size:], ()) if _may_be(test.owner, each[0])]
                if found:
                    return found
    return []


def _title_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern for the reported titles of `adds %i to $b`."""
    parts = re.split(_PLACEHOLDER, name)
    between = (r"\W+".join(re.escape(word) for word in re.findall(_WORDS, part)) for part in parts)
    return re.compile(r"(?:^|\W)" + ".*".join(between) + r"\W*\Z", re.DOTALL)


def _may_be(owner: Parts, place: Parts) -> bool:
    """Return whether an id with a title may be from that file; if its owner names a file, only from that one."""
    names_file = len(owner) > 1 and owner[-1] in {"js", "ts", "jsx", "tsx", "mjs", "cjs", "mts", "cts"}
    return not names_file or _is_end(owner, place)


def _place(path: str) -> Parts:
    """Return how ids name a file: its folders and name, for Go its package, for Rust its modules."""
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
    return tuple(filter(None, re.split(_JOINTS, re.sub(_SUFFIX, "", owner))))


def _nearest(owner: Parts, places: Mapping[str, Sequence[tuple[Parts, str]]]) -> list[str]:
    """Return the paths that share most with the owner of an id, searching from its innermost part."""
    for end in range(len(owner), 0, -1):
        near = [(place, path) for place, path in places.get(owner[end - 1], ()) if _is_end(owner[:end], place)]
        if near:
            most = max(_common_length(owner[:end], place) for place, _ in near)
            found = [(place, path) for place, path in near if _common_length(owner[:end], place) == most]
            exact = [path for place, path in found if len(place) == most]
            return exact or [path for _, path in found]
    return []


def _at_root(test: ReportId, places: Mapping[str, Sequence[tuple[Parts, str]]]) -> list[str]:
    """Return the possible files of an id in the root package of Go or the root module of Rust."""
    is_go = re.match(_GO_TEST, test.function) is not None
    is_rust = test.function.isidentifier() and (len(test.owner) <= 1 or test.owner[-1] in {"test", "tests"})
    suffixes = ("_test.go",) if is_go else (".rs",) if is_rust else ()
    return [path for _, path in places.get("", ()) if path.endswith(suffixes)]


def _is_end(one: Parts, other: Parts) -> bool:
    """Return whether one is the end of the other: reports omit folders, or include those above the root."""
    size = min(len(one), len(other))
    return size == 0 or one[-size:] == other[-size:]


def _common_length(one: Parts, other: Parts) -> int:
    """Return the number of parts that both ends have in common."""
    for size, (left, right) in enumerate(zip(reversed(one), reversed(other), strict=False)):
        if left != right:
            return size
    return min(len(one), len(other))
