"""Find source that holds the answers of tests (R4): branches, tables and constants with their values."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ralph_tracker.core.integrity_result import Finding, Severity
from ralph_tracker.integrity.file_versions import ChangedFile, added_lines, one_line
from ralph_tracker.integrity.report_ids import ids_by_test
from ralph_tracker.integrity.source_tests import SourceTest

_LITERAL: Final = (
    r"\"(?P<double>(?:[^\"\\\n]|\\.){0,200})\"|'(?P<single>(?:[^'\\\n]|\\.){0,200})'|`(?P<back>[^`\n]{0,200})`"
    r"|(?<![\w.\"'])(?P<number>-?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)(?=[\s,;:)\]}]|[a-zA-Z_]\w*\b|$|[-+*/%<>=])"
)
_ASSERTING: Final = r"\bassert|\bexpect|\bshould\b|\brequire\.|\bt\.(?:Error|Fatal|is|equal|same|deepEqual)|\bverify|!=|==|\bwant\b|\braises\b"
# Numbers that are common in honest code.
_COMMON: Final = frozenset(
    str(each)
    for each in (
        *range(-10, 17),
        *(20, 24, 30, 31, 32, 50, 60, 64, 90, 99, 100, 128, 180, 255, 256, 360, 365, 400, 404, 500, 512, 1000, 1024),
        3600,
    )
)
_ANSWERS: Final = r"\breturn\b|=>|->|(?<![=!<>])=(?!=)|:|\?"
_ASKS: Final = r"\b(?:if|elif|case|when|match)\b|=>|==|\?|\bin\b"
_ENTRY: Final = r"^\s*[({\[]?\s*(?:[\"'`][^\"'`\n]*[\"'`]|-?[\d_.]+)\s*(?::|=>|,|=)\s*\S"
_CONDITIONAL: Final = r"(?P<answer>\S.*?)\s+if\s+(?P<asks>.+?)\s+else\b"
_CONSTANT: Final = r"^\s*(?:return\b|=>)\s*(?P<value>[\"'`][^\"'`\n]{4,}[\"'`]|-?\d[\d_.]*)\s*;?\s*$"
_REACH: Final = 3  # lines from a condition to its answer


class _TestLiterals(NamedTuple):
    """The literals of one test: those of its assertions and data rows, and all of them."""

    expected: frozenset[str]
    all: frozenset[str]
    ids: tuple[str, ...]
    name: str


def find_hardcoded_answers(
    files: Iterable[ChangedFile], tests: Iterable[SourceTest], green: tuple[str, ...]
) -> Iterator[Finding]:
    """Yield the branches, tables and constants in source that special-case tests that turned green.

    `tests` are those that may have turned green, `green` the ids of those that did.
    """
    files, tests = tuple(files), tuple(tests)
    of_test = ids_by_test(green, tests)
    wanted = [(test, of_test[test.path, test.name]) for test in tests if (test.path, test.name) in of_test]
    added = added_lines(files) if wanted else {}
    asked = []
    for test, ids in wanted:
        rows = [line for line in test.text.split("\n") if re.search(_ASSERTING, line) or re.match(_ENTRY, line)]
        expected = _literals("\n".join(rows))
        if expected:
            asked.append(_TestLiterals(expected, _literals(test.text), ids, test.name))
    for file in files if asked else ():
        if file.is_source and added.get(file.path):
            yield from _in_source(file, added[file.path], asked)


def _literals(text: str) -> frozenset[str]:
    """Return the strings of at least two characters, quoted, and the numbers of a text."""
    found = set()
    for match in re.finditer(_LITERAL, text):
        if match["number"] is not None:
            number = match["number"].replace("_", "")
            found.add(number.rstrip("0").rstrip(".") if "." in number else number)
        else:
            string = match["double"] or match["single"] or match["back"] or ""
            if len(string) > 1:
                found.add(repr(string))
    return frozenset(found)


class _Branch(NamedTuple):
    """A condition with its answer, or an entry of a table: its line, and the literals of both."""

    line: int
    text: str
    inputs: frozenset[str]
    answers: frozenset[str]
    is_entry: bool

    def holds(self, asked: _TestLiterals) -> bool:
        """Return whether it holds an input of a test and what that expects, and one of them identifies the test."""
        inputs, answers = self.inputs & asked.all, self.answers & asked.expected
        return bool(inputs and answers and (inputs | answers) - _COMMON) and len(inputs | answers) > 1

    def surely_holds(self, asked: _TestLiterals) -> bool:
        """Return whether both the input and the answer identify the test, and differ."""
        inputs, answers = (self.inputs & asked.all) - _COMMON, (self.answers & asked.expected) - _COMMON
        return bool(inputs and answers) and len(inputs | answers) > 1


def _branches(file: ChangedFile, added: frozenset[int]) -> Iterator[_Branch]:
    lines = file.new.code.split("\n")
    for number in sorted(added):
        line = lines[number - 1]
        asks = re.search(_ASKS, line) is not None
        if not re.search(_LITERAL, line) or not (asks or re.match(_ENTRY, line)):
            continue
        if re.match(_ENTRY, line) and not re.match(r"\s*(?:if|elif|case|when|match|return)\b", line):
            head, _, answer = re.split(r"(:|=>|,|=)", line, maxsplit=1)
            yield _Branch(number, line.strip(), _literals(head), _literals(answer), is_entry=True)
            continue
        below = [lines[at - 1] for at in range(number + 1, number + _REACH) if at in added and at <= len(lines)]
        answer = "\n".join(each for each in below if re.search(_ANSWERS, each) or re.match(_LITERAL, each.strip()))
        # An answer on the same line follows the condition: `if x == 3: return 9`, `3 => 9`, `x === 3 ? 9 : …`.
        parts = re.split(r"\breturn\b|=>|\?|:(?=\s*\S)|\bthen\b", line, maxsplit=1)
        if conditional := re.search(_CONDITIONAL, line):  # in Python's the answer comes first
            parts = [conditional["asks"], conditional["answer"]]
        inputs = _literals(parts[0])
        answers = _literals("\n".join([*parts[1:], answer]))
        yield _Branch(
            number, "\n".join([line.strip(), *(each.strip() for each in below)]), inputs, answers, is_entry=False
        )


def _in_source(file: ChangedFile, added: frozenset[int], asked: list[_TestLiterals]) -> Iterator[Finding]:
    branches = list(_branches(file, added))
    hits = {branch.line: [each for each in asked if branch.holds(each)] for branch in branches}
    entries = [branch.line for branch in branches if branch.is_entry]
    # A table with more entries than the tests need is data, not a special case.
    honest_table = 2 * sum(1 for line in entries if hits[line]) <= len(entries)
    reported_ids: set[str] = set()
    for branch in branches:
        named = hits[branch.line]
        if not named or (branch.is_entry and honest_table):
            continue
        ids = tuple(sorted({test for each in named for test in each.ids}))
        sure = any(branch.surely_holds(each) for each in named)
        reported_ids.update(ids)
        yield Finding(
            "R4",
            Severity.HIGH if sure else Severity.MEDIUM,
            f"The source holds the input and the expected value of {named[0].name}; compute the answer instead.",
            file.path,
            line=branch.line,
            tests=ids if sure else (),
            new=one_line(branch.text),
            about=branch.text[:100],
        )
    yield from _constants(file, added, [each for each in asked if not reported_ids.intersection(each.ids)])


def _constants(file: ChangedFile, added: frozenset[int], asked: list[_TestLiterals]) -> Iterator[Finding]:
    lines = file.new.code.split("\n")
    for number in sorted(added):
        match = re.match(_CONSTANT, lines[number - 1])
        literals = _literals(match["value"]) - _COMMON if match is not None else frozenset()
        named = next((each for each in asked if literals & each.expected), None)
        if named is not None:
            yield Finding(
                "R4",
                Severity.MEDIUM,
                f"The source returns a value that {named.name} expects; check that it is computed.",
                file.path,
                line=number,
                new=one_line(lines[number - 1]),
                about=lines[number - 1].strip()[:100],
            )
