"""Parse the ids of a report (`tests.test_box.TestBox::test_lid[1]`) and find the test file and the text of each."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

Parts = tuple[str, ...]

SEPARATOR: Final = "::"
# The function is the first name followed by possible parameters; a slash starts Go's subtests, but also separates
# folders.
_FUNCTION: Final = r"(?a)(?:^|::)(?:([^\W\d]\w*)(?=[\[(#]|\Z| \()|((?:Test|Benchmark|Example|Fuzz)\w*)(?=/))"
_ORDINAL: Final = r"#\d+\Z"
_CARGO_TARGET: Final = r"\A\S+ (?:(?:\S*/)?(?:lib|main)|\S*?([^/\s]+))\.rs(?=::)"
# Where a test or a helper begins.
_START: Final = re.compile(r"(?m)^[ \t]*(?:(?:async|export|pub|public|static) +)*(?:def|fun|func|fn|void|it|test)\b")


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
    if titled := re.match(r"(?s)([^\s:]+\.(?:[cm]?[jt]sx?|rb|dart))::(.*)\Z", test):
        ordinal = re.search(_ORDINAL, titled[2])
        end = ordinal.start() if ordinal else len(titled[2])
        return ReportId(_parts(titled[1]), titled[2][:end], titled[2][end:])
    test = re.sub(_CARGO_TARGET, lambda found: found[1] or found[0].partition(" ")[0], test)
    # rstest turns a function with cases into a module
    if case := re.search(r"(?:^|::)(\w+)(::case_\d\w*)\Z", test):
        return ReportId(_parts(test[: case.start()]), case[1], case[2])
    owner, _, leaf = test.rpartition(SEPARATOR)
    if leaf.isidentifier():
        return ReportId(_parts(owner), leaf, "")
    if found := re.search(_FUNCTION, test):
        return ReportId(_parts(test[: found.start()]), found[1] or found[2], test[found.end() :])
    # .NET has no other separator
    if not owner and (dotted := re.match(r"(?s)([\w.]+)\.(\w+)(\(.*|)\Z", test)):
        return ReportId(_parts(dotted[1]), dotted[2], dotted[3])
    ordinal = re.search(_ORDINAL, leaf)
    end = ordinal.start() if ordinal else len(leaf)
    return ReportId(_parts(owner), leaf[:end], leaf[end:])


def files_of(ids: Iterable[str], texts: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """Return the possible test files of each id, () where none is; `texts` are those of the test files by path.

    The file part of the id is looked up among the paths. If that leaves several (the id names a package, or is a title
    alone), those count whose text has the name of the test.
    """
    places: defaultdict[str, list[tuple[Parts, str]]] = defaultdict(list)
    for path in texts:
        place = _place(path)
        places[place[-1] if place else ""].append((place, path))
    by_owner: dict[Parts, Sequence[str]] = {}
    found = {}
    for test in ids:
        parts = split_id(test)
        if parts.owner not in by_owner:
            by_owner[parts.owner] = _nearest(parts.owner, places)
        near = by_owner[parts.owner] or _at_root(parts, places) or list(texts)
        found[test] = tuple(near) if len(near) == 1 else _holding(parts, near, texts)
    return found


def text_of(test: str, text: str) -> str:
    """Return the lines of a test in the text of its file, with those directly above; "" where its name is not there."""
    name = split_id(test).function.rpartition(" > ")[2]
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) if name else None
    if found is None:
        return ""
    starts = [each.start() for each in _START.finditer(text)]
    first = max((start for start in starts if start <= found.start()), default=0)
    end = min((start for start in starts if start > found.start()), default=len(text))
    above, below = text.rfind("\n\n", 0, first), text.rfind("\n\n", found.end(), end)
    return text[max(above, 0) : end if below < 0 or end == len(text) else below]


def text_before_tests(text: str) -> str:
    """Return what stands before the first test of a file: its imports and constants."""
    found = _START.search(text)
    return text if found is None else text[: found.start()]


def _holding(test: ReportId, paths: Collection[str], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the paths whose text has the name of a test: its function, or the last part of its title."""
    subtest = test.parameters.split("/")[1] if test.parameters.startswith("/Test") else ""
    for name in filter(None, (subtest, test.function, re.split(r" > | › |::", test.function)[-1])):
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        held = tuple(path for path in paths if word.search(texts[path]))
        if held:
            return held
    return ()


def _place(path: str) -> Parts:
    """Return how ids name a file: its folders and name, for Go its package, for Rust its modules."""
    if path.endswith(".go"):
        return _parts(path.rpartition("/")[0])
    if path.endswith(".rs"):
        modules = path.removesuffix(".rs").split("/")
        folder = next((number for number, each in enumerate(modules) if each in {"src", "tests"}), -1)
        modules = modules[folder + 1 :]
        return tuple(modules[:-1] if modules[-1] in {"mod", "lib", "main"} else modules)
    return _parts(path)


def _parts(owner: str) -> Parts:
    return tuple(filter(None, re.split(r"[./:\\$\s]+", re.sub(r"\.(?:py|java|kt|php)(?=::|\Z)", "", owner))))


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
    is_go = re.match(r"(?:Test|Fuzz|Example)(?![a-z])", test.function) is not None
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
