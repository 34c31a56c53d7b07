"""Read what a mutation tool found out: which of its small errors the tests noticed, and in which lines these are.

`_READERS` has the tools. Any other one can write the JSON of mutation-testing-elements, as Stryker does.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec

from ralph_tracker.formats.report_content import Content, DamageError, Elements

Fate = Literal["noticed", "missed", "unreached"]
# The words of all tools in small letters, without what is between them. An error that does not compile, that was left
# out, or that was not tried says nothing of the tests.
_WORDS: Final[tuple[tuple[Fate | None, str], ...]] = (
    ("noticed", "killed timeout incompetent timedout memoryerror runerror timeouted errored killedbystaticanalysis"),
    ("noticed", "killedbytests caughtmutant suspicious segfault caughtbytypecheck"),
    ("missed", "survived escaped missedmutant"),
    ("unreached", "nocoverage uncovered notests"),
    (None, "compileerror runtimeerror ignored pending syntaxerrors skipped nonviable notstarted started unviable"),
    (None, "failure success notchecked checkwasinterruptedbyuser"),
)
_FATES: Final[Mapping[str, Fate | None]] = {word: fate for fate, words in _WORDS for word in words.split()}
_UNKNOWN: Final = (
    "no report of Stryker, Infection or cargo-mutants (JSON), PIT or mutmut 2 (XML), "
    "and no output of `cosmic-ray dump` or `mutmut show`"
)


class Mutant(NamedTuple):
    """One error of a mutation tool: its place, the text there, the text in its place, and what became of it.

    `file` begins with **/ where the tool names no folder of sources. Where `within` names a function (with its class
    before a dot), `line` counts from that function's first line.
    """

    file: str
    line: int
    old: str
    new: str
    fate: Fate
    within: str = ""


class _Position(msgspec.Struct):
    line: int
    column: int


class _Location(msgspec.Struct):
    start: _Position
    end: _Position


class _StrykerMutant(msgspec.Struct, rename="camel"):
    mutator_name: str
    status: str
    location: _Location
    replacement: str | None = None


class _StrykerFile(msgspec.Struct):
    source: str
    mutants: list[_StrykerMutant]


class _Stryker(msgspec.Struct):
    files: dict[str, _StrykerFile]


class _Mutation(msgspec.Struct):
    module_path: str
    operator_name: str
    start_pos: tuple[int, int]


class _Job(msgspec.Struct):
    mutations: list[_Mutation]


class _JobResult(msgspec.Struct):
    test_outcome: str | None = None
    diff: str | None = None


class _InfectionMutator(msgspec.Struct, rename="camel"):
    original_file_path: str
    original_start_line: int
    mutator_name: str


class _InfectionMutant(msgspec.Struct):
    mutator: _InfectionMutator
    diff: str = ""


class _CargoSpan(msgspec.Struct):
    start: _Position


class _CargoMutant(msgspec.Struct):
    file: str
    span: _CargoSpan
    replacement: str
    name: str = ""


class _CargoScenario(msgspec.Struct, rename="pascal"):
    mutant: _CargoMutant


class _CargoOutcome(msgspec.Struct):
    scenario: str | _CargoScenario
    summary: str


class _Cargo(msgspec.Struct):
    outcomes: list[_CargoOutcome]


class _Pit(Elements):
    """PIT's mutations.xml: one `mutation` with an element for each of its facts."""

    TEXTS = frozenset({"sourceFile", "mutatedClass", "lineNumber", "description"})

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self.found: list[Mutant] = []
        self._facts: dict[str, str] = {}

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "mutation":
            self._facts = {"status": attributes.get("status", "")}

    def closed(self, name: str) -> None:
        if name in self.TEXTS:
            self._facts[name] = self.text
        elif name == "mutation" and (fate := _fate(self._facts["status"])) is not None:
            folders = self._facts["mutatedClass"].split(".")[:-1]
            file = "/".join(("**", *folders, self._facts["sourceFile"]))
            self.found.append(Mutant(file, int(self._facts["lineNumber"]), "", self._facts["description"], fate))


class _MutmutJunit(Elements):
    """What `mutmut junitxml` (mutmut 2) prints: a case for each error, which fails where no test noticed it."""

    TEXTS = frozenset({"failure"})

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self.found: list[Mutant] = []
        self._case: Mapping[str, str] = {}
        self._fate: Fate | None = None
        self._diff = ""

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "testcase":
            self._case, self._fate, self._diff = attributes, "noticed", ""
        elif name == "skipped":
            self._fate = None
        elif name == "failure":
            words = attributes.get("message", "").removeprefix("bad_").removeprefix("ok_")
            self._fate = _fate(words)

    def closed(self, name: str) -> None:
        if name == "failure":
            self._diff = self.text
        elif name == "testcase" and self._fate is not None:
            self.found.append(Mutant(self._case["file"], int(self._case["line"]), *_changed(self._diff), self._fate))


def read(data: bytes) -> tuple[Mutant, ...]:
    """Return the errors that were tried. Raises DamageError for what is no whole report."""
    start = data.lstrip()
    try:
        found = next(tuple(reader(data)) for opening, reader in _READERS if opening.match(start))
    except StopIteration:
        raise DamageError(_UNKNOWN) from None
    except (msgspec.MsgspecError, KeyError, RecursionError, ValueError) as error:
        raise DamageError(f"{_UNKNOWN}: {error}") from None
    return found


def _of_xml(data: bytes) -> list[Mutant]:
    content = Content(data)
    reader = _Pit if content.xml.root == "mutations" else _MutmutJunit
    return reader(content).walk().found


def _of_object(data: bytes) -> Iterator[Mutant]:
    keys = msgspec.json.decode(data, type=dict[str, msgspec.Raw]).keys()
    if "escaped" in keys:
        return _of_infection(msgspec.json.decode(data, type=dict[str, Any]))
    if "outcomes" in keys:
        return _of_cargo(msgspec.json.decode(data, type=_Cargo).outcomes)
    return _of_stryker(msgspec.json.decode(data, type=_Stryker).files)


def _of_infection(report: Mapping[str, Any]) -> Iterator[Mutant]:
    for word, mutants in report.items():
        fate = None if word == "stats" else _fate(word)
        for each in [] if fate is None else msgspec.convert(mutants, list[_InfectionMutant]):
            at, (old, new) = each.mutator, _changed(each.diff)
            yield Mutant(at.original_file_path, at.original_start_line, old, new or at.mutator_name, fate or "missed")


def _of_cargo(outcomes: Iterable[_CargoOutcome]) -> Iterator[Mutant]:
    for each in outcomes:
        fate = _fate(each.summary)
        if fate is not None and not isinstance(each.scenario, str):
            at = each.scenario.mutant
            said = at.name.rpartition(": ")[2] or at.replacement
            yield Mutant(at.file, at.span.start.line, "", _one_line([said]), fate)


def _of_mutmut(data: bytes) -> Iterator[Mutant]:
    """Yield the errors that `mutmut show` prints one after the other; their lines count from their function's first."""
    for part in re.split(r"^(?=# \S+__mutmut_\d+: )", data.decode(), flags=re.MULTILINE)[1:]:
        title, _, diff = part.partition("\n")
        name, _, word = title.removeprefix("# ").partition(": ")
        file = re.search(r"^--- (.+)$", diff, re.MULTILINE)
        fate = _fate(word)
        if file is None:
            raise ValueError(title)
        if fate is not None:
            function = name.rpartition(".")[2].removeprefix("x").rpartition("__mutmut_")[0]
            within = function[1:].replace("ǁ", ".")
            yield Mutant(file[1].strip(), _first_line(diff), *_changed(diff), fate, within)


def _of_lines(data: bytes) -> Iterator[Mutant]:
    return _of_cosmic_ray(msgspec.json.Decoder(tuple[_Job, _JobResult | None]).decode_lines(data))


# By how a report begins.
_READERS: Final[tuple[tuple[re.Pattern[bytes], Callable[[bytes], Iterable[Mutant]]], ...]] = (
    (re.compile(rb"\{"), _of_object),
    (re.compile(rb"<"), _of_xml),
    (re.compile(rb"\["), _of_lines),
    (re.compile(rb"# \S+__mutmut_\d+: "), _of_mutmut),
)


def _of_stryker(files: Mapping[str, _StrykerFile]) -> Iterator[Mutant]:
    for path, file in files.items():
        lines = file.source.split("\n")
        for each in file.mutants:
            start, end, fate = each.location.start, each.location.end, _fate(each.status)
            if fate is not None:
                old = lines[start.line - 1 : end.line]
                ends = end.column - 1 if len(old) == 1 else None
                new = each.mutator_name if each.replacement is None else each.replacement
                yield Mutant(path, start.line, _one_line(old[:1], start.column - 1, ends), _one_line([new]), fate)


def _of_cosmic_ray(lines: Iterable[tuple[_Job, _JobResult | None]]) -> Iterator[Mutant]:
    for job, result in lines:
        fate = None if result is None or result.test_outcome is None else _fate(result.test_outcome)
        if result is not None and fate is not None:
            old, new = _changed(result.diff or "")
            for each in job.mutations:
                yield Mutant(each.module_path, each.start_pos[0], old, new or each.operator_name, fate)


def _fate(word: str) -> Fate | None:
    plain = re.sub("[^a-z]", "", word.lower())
    if plain not in _FATES:
        raise DamageError(f"an error in it has the unknown status {word[:40]!r}")
    return _FATES[plain]


def _changed(diff: str) -> tuple[str, str]:
    """Return the first line that a diff takes away, and the first that it adds."""
    lines = diff.partition("@@")[2].split("\n")
    old, new = ([line[1:] for line in lines if line.startswith(sign)][:1] for sign in "-+")
    return _one_line(old), _one_line(new)


def _first_line(diff: str) -> int:
    """Return the number of the first line that a diff changes."""
    start, _, lines = diff.partition("@@ -")[2].partition("\n")
    same = next((at for at, line in enumerate(lines.split("\n")) if line[:1] in {"-", "+"}), 0)
    return int(re.split("[, ]", start)[0]) + same


def _one_line(lines: list[str], start: int = 0, end: int | None = None) -> str:
    """Return a part of the first of some lines, without the space between its words."""
    return " ".join(" ".join(lines)[start:end].split())
