"""Read what a mutation tool found out: which of its small errors the tests noticed, and in which lines these are.

Known are the JSON of mutation-testing-elements (Stryker for JavaScript, .NET and Scala), and `cosmic-ray dump`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from ralph_tracker.formats.report_content import DamageError

Fate = Literal["noticed", "missed", "unreached"]
# An error that does not compile, that was left out, or that was not tried yet says nothing of the tests.
_FATES: Final[Mapping[str, Fate | None]] = {
    "Killed": "noticed",
    "Timeout": "noticed",
    "Survived": "missed",
    "NoCoverage": "unreached",
    **dict.fromkeys(("CompileError", "RuntimeError", "Ignored", "Pending")),
    "killed": "noticed",
    "incompetent": "noticed",
    "survived": "missed",
}
_UNKNOWN: Final = "no report of Stryker (JSON) and no output of `cosmic-ray dump`"


class Mutant(NamedTuple):
    """One error of a mutation tool: its place, the text there, the text in its place, and what became of it."""

    file: str
    line: int
    old: str
    new: str
    fate: Fate


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


def read(data: bytes) -> tuple[Mutant, ...]:
    """Return the errors that were tried. Raises DamageError for what is no whole report."""
    try:
        if data.lstrip().startswith(b"{"):
            return tuple(_of_stryker(msgspec.json.decode(data, type=_Stryker).files))
        lines = msgspec.json.Decoder(tuple[_Job, _JobResult | None]).decode_lines(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise DamageError(f"{_UNKNOWN}: {error}") from None
    if not lines:
        raise DamageError(f"{_UNKNOWN}: empty")
    return tuple(_of_cosmic_ray(lines))


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
            changed = (result.diff or "").split("\n")[3:]
            old, new = ([line[1:] for line in changed if line.startswith(sign)][:1] for sign in "-+")
            for each in job.mutations:
                yield Mutant(
                    each.module_path, each.start_pos[0], _one_line(old), _one_line(new) or each.operator_name, fate
                )


def _fate(word: str) -> Fate | None:
    if word not in _FATES:
        raise DamageError(f"an error in it has the unknown status {word[:40]!r}")
    return _FATES[word]


def _one_line(lines: list[str], start: int = 0, end: int | None = None) -> str:
    """Return a part of the first of some lines, without the space between its words."""
    return " ".join(" ".join(lines)[start:end].split())
