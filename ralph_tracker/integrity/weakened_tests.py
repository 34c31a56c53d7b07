"""Find the ways around a test: a test that demands less than before (W), and source that knows its answer (R4).

W is only a note: the re-run decides what it means.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changed_text import ChangedFile, added_lines, one_line
from ralph_tracker.integrity.report_ids import definitions
from ralph_tracker.integrity.source_tests import Language, SourceTest, syntax_of, tests_of

_SCRIPT: Final = """
(expression_statement (_) @assertion (#match? @assertion "^(await )?(expect|assert|chai|sinon|t|should)\\\\b"))
(arrow_function body: (call_expression) @assertion (#match? @assertion "^(expect|assert)\\\\b"))
(try_statement body: (_) @tried handler: (catch_clause body: (_) @handler))
"""
# An @assertion can fail the test; failures in @tried are caught by its @handler.
_QUERIES: Final[Mapping[Language, str]] = {
    "python": """
        (assert_statement) @assertion
        (expression_statement (call function: [(attribute attribute: (_) @name) (identifier) @name]
         (#match? @name "^(assert|fail$)")) @assertion)
        (with_item value: (_) @assertion (#match? @assertion "(raises|warns|assert[A-Z_])"))
        (try_statement body: (_) @tried (except_clause (block) @handler))
        (with_statement (with_clause (with_item value: (_) @suppress (#match? @suppress "suppress[(]"))) body: (_) @tried)
    """,
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "go": """
        (call_expression function: (selector_expression) @name
         (#match? @name "^(t[.](Error|Errorf|Fatal|Fatalf|Fail|FailNow)$|(assert|require|is|qt|gomega)[.])")) @assertion
    """,
    "rust": """
        (macro_invocation macro: (_) @name (#match? @name "^(debug_)?(assert|prop_assert|panic)")) @assertion
    """,
    "java": """
        (method_invocation name: (_) @name (#match? @name "^(assert|verify$|fail$|isEqualTo|hasSize|contains)")) @assertion
        (assert_statement) @assertion
        (try_statement body: (_) @tried (catch_clause body: (_) @handler))
    """,
}
_A: Final = r"(?P<a>[\w.]+(?:\([^()]*\))?)"
# _Assertions that cannot fail; {_A} and (?P=a) are the same expression twice.
_VACUOUS: Final = re.compile(
    r"^assert\s*\(?\s*(?:True|1|not False|not None|\"[^\"]*\"|'[^']*')\s*(?:\)|,|$)"
    r"|^assert\b.*(?:\bor\s+(?:True|1)\b|\|\|\s*true\b)|^assert\s*\(.*,\s*[\"'][^\"']*[\"']\s*\)$"
    rf"|^assert\s+{_A}\s*(?:==|is|<=|>=)\s*(?P=a)\s*$"
    r"|\bassert(?:True|_true)?\(\s*(?:true|True|1)\s*[,)]|\bassertFalse\(\s*(?:false|False)\s*[,)]|\|\|\s*true\s*[,)]"
    r"|\bor\s+True\s*[,)]|\bassert\.(?:ok|isTrue|True)\(\s*(?:\w+,\s*)?true\s*\)"
    rf"|\b(?:assert(?:Equals?|Same|_eq!|_equal)|(?:assert|require)\.(?:Equal|equal|strictEqual|deepEqual))\(\s*(?:t,\s*)?(?P<b>[\w.\"']+(?:\([^()]*\))?),\s*(?P=b)\s*[,)]"
    rf"|\bexpect\(\s*(?P<c>[\w.\"']+(?:\([^()]*\))?)\s*\)\.to(?:Be|Equal|StrictEqual|\.equal|\.eql?)\(\s*(?P=c)\s*\)"
    r"|\bexpect\(\s*(?:true|!0|1)\s*\)\.to(?:BeTruthy\(\)|BeDefined\(\)|\.be\.true)|\bassert!\(\s*true\s*[,)]|\bexpect\.anything\(\)"
)
_EQUAL: Final = re.compile(
    r"(?<![=!<>])===?(?!=)|\bassert(?:Equals?|_eq|ArrayEquals|IterableEquals|ListEqual|DictEqual|CountEqual|AlmostEqual)|\.(?:Equal|equal|strictEqual|deepEqual|deepStrictEqual|isEqualTo|eql?)\b"
    r"|\.to(?:Be|Equal|StrictEqual|MatchObject|HaveLength)\(|!=|\bDeepEqual\b"
)
_LOOSE_NUMBER: Final = re.compile(
    r"(?P<more>\b(?:abs|rel|atol|rtol|delta|tolerance|epsilon|msg_delta|eps)\s*=\s*|(?:<=?)\s*|\bInDelta\([^\n]*,\s*|\bassertEquals\([^,]+,[^,]+,\s*)(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
    r"|(?P<less>\bplaces\s*=\s*|toBeCloseTo\([^,]+,\s*)(?P<fewer>\d+)"
)
_LEAVES: Final = re.compile(
    r"^(?:return;?|return None|t\.Skip\w*\(.*|pytest\.skip\(.*|self\.skipTest\(.*|this\.skip\(.*|return true;?)$"
)
_PASSES_OVER: Final = re.compile(r"\braise\b|\bthrow\b|\bfail|\bassert|\bexpect\(|panic|\bt\.(?:Error|Fatal)")
_SPACES: Final = re.compile(r"\s+")
_LITERAL: Final = re.compile(
    r"\"(?P<double>(?:[^\"\\\n]|\\.){0,200})\"|'(?P<single>(?:[^'\\\n]|\\.){0,200})'|`(?P<back>[^`\n]{0,200})`"
    r"|(?<![\w.\"'])(?P<number>-?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)(?=[\s,;:)\]}]|[a-zA-Z_]\w*\b|$|[-+*/%<>=])"
)
_ASSERTING: Final = re.compile(
    r"\bassert|\bexpect|\bshould\b|\brequire\.|\bt\.(?:Error|Fatal|is|equal|same|deepEqual)|\bverify|!=|==|\bwant\b|\braises\b"
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
_ANSWERS: Final = re.compile(r"\breturn\b|=>|->|(?<![=!<>])=(?!=)|:|\?")
_ASKS: Final = re.compile(r"\b(?:if|elif|case|when|match)\b|=>|==|\?|\bin\b")
_ENTRY: Final = re.compile(r"^\s*[({\[]?\s*(?:[\"'`][^\"'`\n]*[\"'`]|-?[\d_.]+)\s*(?::|=>|,|=)\s*\S")
_CONDITIONAL: Final = re.compile(r"(?P<answer>\S.*?)\s+if\s+(?P<asks>.+?)\s+else\b")
_CONSTANT: Final = re.compile(r"^\s*(?:return\b|=>)\s*(?P<value>[\"'`][^\"'`\n]{4,}[\"'`]|-?\d[\d_.]*)\s*;?\s*$")
_REACH: Final = 3  # lines from a condition to its answer


def find_evaded_tests(
    files: Iterable[ChangedFile], ids: Iterable[str], green: tuple[str, ...], unchanged_tests: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield the tests that demand less than before (W), and the source with special cases for them (R4).

    `ids` are those of all tests, `green` of those that turned green; `unchanged_tests` are as in `inspect`.
    """
    files = tuple(files)
    may_answer = bool(green) and any(file.is_source for file in files)
    found: list[SourceTest] = []
    notes: list[Finding] = []
    for file in files:
        if file.language is None or file.is_gone or (file.is_new and not may_answer):
            continue
        tests = tests_of(file.path, file.new.text)
        found += tests
        if tests and not file.is_new:
            notes += _find_weakened_tests(file, tests_of(file.path, file.old.text), tests)
    if notes:
        of_test = _ids_of(ids, found)
        yield from (note._replace(tests=of_test.get((note.file, note.test or ""), ())) for note in notes)
    if may_answer:
        found += (test for path, text in unchanged_tests.items() for test in tests_of(path, text))
        of_test = _ids_of(green, found)
        wanted = [(test, of_test[test.path, test.name]) for test in found if (test.path, test.name) in of_test]
        if wanted:
            yield from _special_cased(files, added_lines(files), wanted)


def _ids_of(ids: Iterable[str], tests: Iterable[SourceTest]) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the report ids of tests by path and name."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for test_id, defined in definitions(ids, tests).items():
        for test in defined:
            key = (test.path, test.name)
            found[key] = (*found.get(key, ()), test_id)
    return found


class _Assertions(NamedTuple):
    """The assertions of a test: each text on one line with its line number, and those whose failure is caught."""

    texts: tuple[tuple[str, int], ...]
    caught: tuple[tuple[str, int], ...]


def _find_weakened_tests(
    file: ChangedFile, old_tests: tuple[SourceTest, ...], new_tests: tuple[SourceTest, ...]
) -> Iterator[Finding]:
    """Yield a note for each test that demands less than the earlier test of the same name."""
    earlier = {test.name: test for test in old_tests}
    changed = [test for test in new_tests if test.name in earlier and earlier[test.name].text != test.text]
    if not changed or file.language is None:
        return
    before = _assertions(file.language, file.old.text, [earlier[test.name] for test in changed])
    now = _assertions(file.language, file.new.text, changed)
    for test in changed:
        said = _weaker(before[test.name], now[test.name]) or _left_early(earlier[test.name], test, now[test.name])
        if said is not None:
            what, old, new, line = said
            yield Finding(
                "W",
                Severity.MEDIUM,
                f"{test.name} {what}.",
                file.path,
                line=line or test.line,
                test=test.name,
                old=None if old is None else one_line(old),
                new=None if new is None else one_line(new),
                about=what,
            )


def _assertions(language: Language, text: str, tests: list[SourceTest]) -> dict[str, _Assertions]:
    found: dict[str, _Assertions] = {test.name: _Assertions((), ()) for test in tests}
    syntax = syntax_of(language, text)
    if syntax is None:
        return found
    nodes: dict[tuple[int, int], str] = {}
    tried: list[tuple[int, int]] = []
    for match in syntax.matches(_QUERIES[language]):
        for node in match.get("assertion", ()):
            nodes[node.start_byte, node.end_byte] = _SPACES.sub(" ", syntax.text(node))
        handlers = " ".join(syntax.text(node) for node in match.get("handler", ()))
        if "tried" in match and not _PASSES_OVER.search(handlers):
            tried += [(node.start_byte, node.end_byte) for node in match["tried"]]
    outer: list[tuple[int, int, str]] = []
    for (start, end), shown in sorted(nodes.items(), key=lambda each: (each[0][0], -each[0][1])):
        if not outer or start >= outer[-1][1]:  # an assertion inside another is a part of it
            outer.append((start, end, shown))
    placed = []
    line = at = 0
    for start, _, shown in outer:
        line += syntax.data.count(b"\n", at, start)
        at = start
        placed.append((line + 1, shown, any(first <= start < last for first, last in tried)))
    for test in tests:
        inside = [each for each in placed if test.line <= each[0] <= test.end]
        found[test.name] = _Assertions(
            tuple((shown, number) for number, shown, _ in inside),
            tuple((shown, number) for number, shown, caught in inside if caught),
        )
    return found


_Weaker = tuple[str, str | None, str | None, int | None]  # what changed, the texts before and now, the line


def _weaker(before: _Assertions, now: _Assertions) -> _Weaker | None:
    old, new = Counter(text for text, _ in before.texts), Counter(text for text, _ in now.texts)
    gone = list((old - new).elements())
    fresh = [(text, line) for text, line in now.texts if text not in old]
    for text, line in fresh:
        if _VACUOUS.search(text):
            return "asserts what nothing can fail", next(iter(gone), None), text, line
    if len(now.caught) > len(before.caught):
        text, line = now.caught[0]
        return "catches the failure of its assertion", None, text, line
    if len(before.texts) > len(now.texts):
        return (
            f"has fewer assertions ({len(now.texts)} instead of {len(before.texts)})",
            next(iter(gone), None),
            None,
            None,
        )
    for text, line in fresh:
        for earlier in gone:
            if _is_wider(earlier, text):
                return "allows a wider tolerance", earlier, text, line
    equal_before = sum(1 for text in gone if _EQUAL.search(text))
    equal_now = sum(1 for text, _ in fresh if _EQUAL.search(text))
    if fresh and equal_before > equal_now:
        text, line = next((each for each in fresh if not _EQUAL.search(each[0])), fresh[0])
        return "does not ask for equality any more", next(each for each in gone if _EQUAL.search(each)), text, line
    return None


def _is_wider(old: str, new: str) -> bool:
    then, now = _LOOSE_NUMBER.search(old), _LOOSE_NUMBER.search(new)
    if then is None or now is None or then.lastgroup != now.lastgroup:
        return False
    if old[: then.start()] != new[: now.start()]:
        return False
    if then["fewer"] is not None:
        return int(now["fewer"]) < int(then["fewer"])
    return float(now["number"]) > float(then["number"])


def _left_early(old: SourceTest, new: SourceTest, now: _Assertions) -> _Weaker | None:
    """Return the line on the level of the body that ends a test before its last assertion."""
    if not now.texts:
        return None
    known = {line.strip() for line in old.text.split("\n")}
    lines = new.text.split("\n")
    depths = [
        len(line) - len(line.lstrip())
        for line in lines[1:]
        if line.strip() and not line.strip().startswith(("def ", "async def ", "@", "fn ", "#["))
    ]
    body = min((depth for depth in depths if depth > len(lines[0]) - len(lines[0].lstrip())), default=0)
    for number, line in enumerate(lines, start=new.line):
        left = line.strip()
        if (
            _LEAVES.match(left)
            and left not in known
            and len(line) - len(line.lstrip()) == body
            and number < now.texts[-1][1]
        ):
            return "ends before it asserts", None, left, number
    return None


class _TestLiterals(NamedTuple):
    """The literals of one test: those of its assertions and data rows, and all of them."""

    expected: frozenset[str]
    all: frozenset[str]
    ids: tuple[str, ...]
    name: str


def _special_cased(
    files: Iterable[ChangedFile],
    added: Mapping[str, frozenset[int]],
    green: Iterable[tuple[SourceTest, tuple[str, ...]]],
) -> Iterator[Finding]:
    """Yield the branches and tables in source that special-case tests that turned green; `green` has their ids."""
    asked = []
    for test, ids in green:
        rows = [line for line in test.text.split("\n") if _ASSERTING.search(line) or _ENTRY.match(line)]
        expected = _literals("\n".join(rows))
        if expected:
            asked.append(_TestLiterals(expected, _literals(test.text), ids, test.name))
    for file in files if asked else ():
        if file.is_source and added.get(file.path):
            yield from _in_source(file, added[file.path], asked)


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
        asks = _ASKS.search(line) is not None
        if not _LITERAL.search(line) or not (asks or _ENTRY.match(line)):
            continue
        if _ENTRY.match(line) and not re.match(r"\s*(?:if|elif|case|when|match|return)\b", line):
            head, _, answer = re.split(r"(:|=>|,|=)", line, maxsplit=1)
            yield _Branch(number, line.strip(), _literals(head), _literals(answer), is_entry=True)
            continue
        below = [lines[at - 1] for at in range(number + 1, number + _REACH) if at in added and at <= len(lines)]
        answer = "\n".join(each for each in below if _ANSWERS.search(each) or _LITERAL.match(each.strip()))
        # An answer on the same line follows the condition: `if x == 3: return 9`, `3 => 9`, `x === 3 ? 9 : …`.
        parts = re.split(r"\breturn\b|=>|\?|:(?=\s*\S)|\bthen\b", line, maxsplit=1)
        if conditional := _CONDITIONAL.search(line):  # in Python's the answer comes first
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
        match = _CONSTANT.match(lines[number - 1])
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
