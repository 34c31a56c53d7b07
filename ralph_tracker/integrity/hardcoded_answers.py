"""Find source that knows the inputs of tests that turned green (R4): conditions and tables with their values."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from ralph_tracker.core.integrity_result import Finding, Severity
from ralph_tracker.integrity.file_versions import ChangedFile, Text, one_line
from ralph_tracker.integrity.inline_tests import parted
from ralph_tracker.integrity.report_ids import files_of, split_id, text_before_tests, text_of

_LITERAL: Final = re.compile(
    r"\"(?P<double>(?:[^\"\\\n]|\\.){0,200})\"|'(?P<single>(?:[^'\\\n]|\\.){0,200})'|`(?P<back>[^`\n]{0,200})`"
    r"|(?<![\w.\"'])(?P<number>-?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)(?=[\s,;:)\]}]|[a-zA-Z_]\w*\b|$|[-+*/%<>=])"
)
_ASSERTING: Final = re.compile(
    r"\bassert|\bexpect|\bparametrize\b|\.each\b|#\[case|\bshould\b|\brequire\.|\bt\.(?:Error|Fatal|is|equal|same|deepEqual)|\bverify|!=|==|\bwant\b|\braises\b"
)
# Numbers that are common in honest code.
_COMMON: Final = frozenset(
    str(each)
    for each in (
        *range(-10, 17),
        *(20, 24, 30, 31, 32, 50, 60, 64, 90, 99, 100, 128, 180, 255, 256, 360, 365, 400, 404, 500, 512, 1000, 1024),
        3600,
    )
)
# These identify no test by themselves: two digits, one digit and zeros, powers of two, years' ends, HTTP's statuses.
_WEAK_NUMBER: Final = re.compile(
    r"-?(?:\d\d?|\d0+|2048|4096|8192|65535|65536|1900|86400|604800|20[1-6]|30[1-8]|4(?:0\d|1[0-8]|2[2-9]|51)|50[1-5]|443|8080|8000|5432|6379|3306)"
)
# A string that is not a word, a path, an option or a pattern of signs: it has digits among letters, spaces, ...
_RARE_STRING: Final = re.compile(r"[^\W\d_].*\d|\d.*[^\W\d_]|\w\s+\w|\d\W+\d|[^\x00-\x7f]|\w@\w")
_ASKS: Final = re.compile(r"\b(?:if|elif|case|when|match|unless)\b|=>|==|\?|\bin\b")
# What is compared for equality, on either side.
_COMPARED: Final = re.compile(
    r"(?:[=!]==?|\b(?:in|case|when|match)\b|(?i:equals|includes|startswith|endswith|has|hasprefix|contains|get)\()\s*(?P<right>[\[({]*(?:(?!\breturn\b|\bthen\b|=>)[^;:?{\n]){0,120})"
    r"|(?P<left>[^\s(!=]+)(?=\s*[=!]==?)"
)
_ENTRY: Final = re.compile(r"^\s*[({\[]?\s*(?:[\"'`][^\"'`\n]*[\"'`]|-?\d[\d_.]*)\s*(?::|=>|,|=)\s*\S")
_INLINE_ENTRY: Final = re.compile(
    r"[{,]\s*(?P<key>[\"'`][^\"'`\n]+[\"'`]|-?[\d_.]+)\s*(?::|=>)\s*(?P<value>[\"'`][^\"'`\n]*[\"'`]|-?[\d_.]+)"
)
_ANSWERS: Final = re.compile(r"\breturn\b|=>|->|(?<![=!<>])=(?!=)|:|\?")
_SEPARATOR: Final = re.compile(r"[:=]>?|,(?!.*[:=])")  # after the whole of a key that is a tuple
_THEN: Final = re.compile(r"\breturn\b|=>|\?|:(?=\s*\S)|\bthen\b")
_CONDITIONAL: Final = re.compile(r"(?P<answer>\S.*?)\s+if\s+(?P<asks>.+?)\s+else\b")
_WORD: Final = re.compile(r"\w{4,}")  # a shorter one identifies no string
_DIGITS: Final = re.compile(r"(?a)-?\d{1,9}")


class _Literals(NamedTuple):
    """The literals of a test or a row of it, and the words and the numbers of its strings."""

    literals: frozenset[str]
    words: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "_Literals":
        found = _literals(text)
        strings = [each[1:-1].casefold() for each in found if each[0] in "'\""]
        words = frozenset(word for each in strings for word in _WORD.findall(each))
        return cls(found, words, frozenset(str(int(each)) for text in strings for each in _DIGITS.findall(text)))

    def held(self, some: frozenset[str], *, parts: bool) -> frozenset[str]:
        """Return those that are among the literals; with `parts`, also those that are a word of a string."""
        whole = some & self.literals
        return whole.union(each for each in some if each[1:-1].casefold() in self.words) if parts else whole


class _Asked(NamedTuple):
    """The literals of one test as a whole, and of each row (an assertion or data); and its id."""

    whole: _Literals
    rows: tuple[_Literals, ...]
    id: str


class _Branch(NamedTuple):
    """A condition with its answer, or an entry of a table: its line, and the literals of both.

    `compared` are the literals that a condition compares for equality.
    """

    line: int
    text: str
    inputs: frozenset[str]
    answers: frozenset[str]
    is_entry: bool
    compared: frozenset[str] = frozenset()

    def names(self, asked: _Asked) -> bool:
        """Return whether it names an input that only this test would have, or inputs with the answer of the same row."""
        if any(map(_is_rare, self.compared & asked.whole.literals)):
            return True
        for row in asked.rows if asked.whole.held(self.inputs, parts=self.is_entry) else ():
            ins, outs = (row.held(side, parts=self.is_entry) - _COMMON for side in (self.inputs, self.answers))
            # Words alone name a choice as well as an input: then the row has to hold the whole answer.
            if ins and outs and len(ins | outs) > 1 and (any(map(_is_rare, ins | outs)) or self.answers <= outs):
                return True
        # Several numbers that are common each, with a number as answer that is not.
        inputs = self.inputs if self.is_entry else self.compared
        are_numbers = not any(each.startswith(("'", '"')) for each in inputs | self.answers)
        rows = asked.rows if are_numbers and len(inputs) > 1 and self.answers - _COMMON else ()
        return any(inputs <= row.literals | row.numbers and self.answers <= row.literals for row in rows)


def find_hardcoded_answers(
    files: Iterable[ChangedFile], tests: Mapping[str, str], green_ids: tuple[str, ...]
) -> Iterator[Finding]:
    """Yield the new conditions and tables in source that name inputs of tests that turned green.

    `tests` are the texts by path of the test files in which they may stand, `green` the ids of those tests. A test
    that is not found by its name has no inputs.
    """
    files = [file for file in files if file.is_source]
    if all(file.is_gone for file in files):
        return
    inside = {file.path: parted(file.path, file.new.text)[1] for file in files}
    texts = {**tests, **{path: text for path, text in inside.items() if text}}
    found = (
        (test, _test_text(test, [texts[path] for path in paths])) for test, paths in files_of(green_ids, texts).items()
    )
    asked = [_asked(test, text) for test, text in found]
    if not asked:
        return
    known = Counter(_key(branch) for file in files for branch in _branches(file.old))
    for file in files:
        fresh = []
        for branch in _branches(file.new):
            known[_key(branch)] -= 1
            if known[_key(branch)] < 0:
                fresh.append((branch, min((each.id for each in asked if branch.names(each)), default=None)))
        entries = [test is not None for branch, test in fresh if branch.is_entry]
        # A table with more entries than the tests need is data, not a special case.
        is_data = 2 * sum(entries) <= len(entries)
        for branch, test in fresh:
            if test is not None and not (branch.is_entry and is_data):
                message = f"The source names an input of {test}; compute the answer instead."
                shown, about = one_line(branch.text), branch.text[:100]
                yield Finding("R4", Severity.HIGH, message, file.path, line=branch.line, new=shown, about=about)


def _test_text(test: str, texts: Sequence[str]) -> str:
    """Return a test's own text with the constants of its file; the whole file where a title is made of parameters."""
    found = ((text, text_of(test, text)) for text in texts)
    whole = "" if split_id(test).function.isidentifier() else "".join(texts[:1])
    return next((f"{text_before_tests(text)}\n{own}" for text, own in found if own), whole)


def _asked(test: str, block: str) -> _Asked:
    rows: list[str] = []
    goes_on = -1  # the indent of a row whose last line opens something
    for line in block.split("\n"):
        indent = len(line) - len(line.lstrip())
        if goes_on >= 0 and indent > goes_on:
            rows[-1] += f"\n{line}"
            continue
        is_row = _ASSERTING.search(line) or _ENTRY.match(line)
        goes_on = indent if is_row and line.rstrip().endswith(("(", "[", "{")) else -1
        if is_row:
            rows.append(line)
    found = (_Literals.of(row) for row in rows)
    return _Asked(_Literals.of(block), tuple(row for row in found if row.literals), test)


def _literals(text: str) -> frozenset[str]:
    """Return the strings of at least two characters, quoted, and the numbers of a text."""
    found = set()
    for match in _LITERAL.finditer(text):
        if match["number"] is not None:
            number = match["number"].replace("_", "")
            found.add(number.rstrip("0").rstrip(".") if "." in number else number)
        else:
            string = match["double"] or match["single"] or match["back"] or ""
            if len(string) > 1:
                found.add(repr(string))
    return frozenset(found)


def _is_rare(literal: str) -> bool:
    """Return whether a literal of a condition identifies a test by itself."""
    if not literal.startswith(("'", '"')):
        return literal not in _COMMON and _WEAK_NUMBER.fullmatch(literal) is None
    return _RARE_STRING.search(literal[1:-1]) is not None


def _key(branch: _Branch) -> tuple[frozenset[str], frozenset[str], bool]:
    return branch.inputs | branch.compared, branch.answers, branch.is_entry


def _branches(side: Text) -> Iterator[_Branch]:
    inside = parted(side.path, side.code)[1]
    lines = side.code.split("\n")
    first = side.code.count("\n", 0, side.code.index(inside)) if inside else len(lines)  # of the tests in the file
    for number, line in enumerate(lines, 1):
        if first < number <= first + inside.count("\n") or not _LITERAL.search(line):
            continue
        if _ENTRY.match(line):
            head, *rest = _split(_SEPARATOR, line)
            yield _Branch(number, line.strip(), _literals(head), _literals("".join(rest)), is_entry=True)
            continue
        for entry in _INLINE_ENTRY.finditer(line):
            yield _Branch(
                number, entry[0].strip("{, "), _literals(entry["key"]), _literals(entry["value"]), is_entry=True
            )
        if not _ASKS.search(line):
            continue
        deeper = re.compile(rf"\s{{{len(line) - len(line.lstrip()) + 1}}}")
        # lines from a condition to its answer
        below = list(takewhile(deeper.match, lines[number : number + 3 - 1]))
        answer = "\n".join(each for each in below if _ANSWERS.search(each) or _LITERAL.match(each.strip()))
        # An answer on the same line follows the condition: `if x == 3: return 9`, `3 => 9`, `x === 3 ? 9 : …`.
        parts = _split(_THEN, line)
        if conditional := _CONDITIONAL.search(line):  # in Python's the answer comes first
            parts = [conditional["asks"], conditional["answer"]]
        inputs = _literals(parts[0])
        sides = (each.span("left" if each["left"] else "right") for each in _COMPARED.finditer(_masked(line)))
        compared = _literals(" ".join(line[start:end] for start, end in sides))
        if inputs or compared:
            shown = "\n".join([line.strip(), *(each.strip() for each in below)])
            yield _Branch(
                number, shown, inputs, _literals("\n".join([*parts[1:], answer])), is_entry=False, compared=compared
            )


def _split(end: re.Pattern[str], line: str) -> list[str]:
    """Return what stands before and after the first end of a condition or a key, outside of strings."""
    found = end.search(_masked(line))
    return [line] if found is None else [line[: found.start()], line[found.end() :]]


def _masked(line: str) -> str:
    """Return a line of the same length whose strings hold no sign of the language."""
    return re.sub(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`", lambda found: "_" * len(found[0]), line)
