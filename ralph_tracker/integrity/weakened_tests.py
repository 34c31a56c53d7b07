"""Find tests that demand less than before (W): fewer, weaker or vacuous assertions.

W is only a note: the re-run decides what it means.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ralph_tracker.core.integrity_result import Finding, Severity
from ralph_tracker.integrity.file_versions import ChangedFile, one_line
from ralph_tracker.integrity.report_ids import ids_by_test
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
# The patterns are compiled when they are first needed: most iterations change no test.
# Assertions that cannot fail; {_A} and (?P=a) are the same expression twice.
_VACUOUS: Final = (
    r"^assert\s*\(?\s*(?:True|1|not False|not None|\"[^\"]*\"|'[^']*')\s*(?:\)|,|$)"
    r"|^assert\b.*(?:\bor\s+(?:True|1)\b|\|\|\s*true\b)|^assert\s*\(.*,\s*[\"'][^\"']*[\"']\s*\)$"
    rf"|^assert\s+{_A}\s*(?:==|is|<=|>=)\s*(?P=a)\s*$"
    r"|\bassert(?:True|_true)?\(\s*(?:true|True|1)\s*[,)]|\bassertFalse\(\s*(?:false|False)\s*[,)]|\|\|\s*true\s*[,)]"
    r"|\bor\s+True\s*[,)]|\bassert\.(?:ok|isTrue|True)\(\s*(?:\w+,\s*)?true\s*\)"
    rf"|\b(?:assert(?:Equals?|Same|_eq!|_equal)|(?:assert|require)\.(?:Equal|equal|strictEqual|deepEqual))\(\s*(?:t,\s*)?(?P<b>[\w.\"']+(?:\([^()]*\))?),\s*(?P=b)\s*[,)]"
    rf"|\bexpect\(\s*(?P<c>[\w.\"']+(?:\([^()]*\))?)\s*\)\.to(?:Be|Equal|StrictEqual|\.equal|\.eql?)\(\s*(?P=c)\s*\)"
    r"|\bexpect\(\s*(?:true|!0|1)\s*\)\.to(?:BeTruthy\(\)|BeDefined\(\)|\.be\.true)|\bassert!\(\s*true\s*[,)]|\bexpect\.anything\(\)"
)
_EQUAL: Final = (
    r"(?<![=!<>])===?(?!=)|\bassert(?:Equals?|_eq|ArrayEquals|IterableEquals|ListEqual|DictEqual|CountEqual|AlmostEqual)|\.(?:Equal|equal|strictEqual|deepEqual|deepStrictEqual|isEqualTo|eql?)\b"
    r"|\.to(?:Be|Equal|StrictEqual|MatchObject|HaveLength)\(|!=|\bDeepEqual\b"
)
_LOOSE_NUMBER: Final = (
    r"(?P<more>\b(?:abs|rel|atol|rtol|delta|tolerance|epsilon|msg_delta|eps)\s*=\s*|(?:<=?)\s*|\bInDelta\([^\n]*,\s*|\bassertEquals\([^,]+,[^,]+,\s*)(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
    r"|(?P<less>\bplaces\s*=\s*|toBeCloseTo\([^,]+,\s*)(?P<fewer>\d+)"
)
_LEAVES: Final = (
    r"^(?:return;?|return None|t\.Skip\w*\(.*|pytest\.skip\(.*|self\.skipTest\(.*|this\.skip\(.*|return true;?)$"
)
_PASSES_OVER: Final = r"\braise\b|\bthrow\b|\bfail|\bassert|\bexpect\(|panic|\bt\.(?:Error|Fatal)"
_SPACES: Final = re.compile(r"\s+")


def find_weakened_tests(
    files: Iterable[ChangedFile], tests: Mapping[str, tuple[SourceTest, ...]], ids: Iterable[str]
) -> Iterator[Finding]:
    """Yield a note (W) for each test that demands less than before.

    `tests` are those that the changed files hold now, by path; `ids` are those of all tests.
    """
    notes: list[Finding] = []
    for file in files:
        if not file.is_new and tests.get(file.path):
            notes += _notes(file, tests_of(file.path, file.old.text), tests[file.path])
    if notes:
        of_test = ids_by_test(ids, (test for each in tests.values() for test in each))
        yield from (note._replace(tests=of_test.get((note.file, note.test or ""), ())) for note in notes)


class _Assertions(NamedTuple):
    """The assertions of a test: each text on one line with its line number, and those whose failure is caught."""

    texts: tuple[tuple[str, int], ...]
    caught: tuple[tuple[str, int], ...]


def _notes(
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
        if "tried" in match and not re.search(_PASSES_OVER, handlers):
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
        if re.search(_VACUOUS, text):
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
    equal_before = sum(1 for text in gone if re.search(_EQUAL, text))
    equal_now = sum(1 for text, _ in fresh if re.search(_EQUAL, text))
    if fresh and equal_before > equal_now:
        text, line = next((each for each in fresh if not re.search(_EQUAL, each[0])), fresh[0])
        return "does not ask for equality any more", next(each for each in gone if re.search(_EQUAL, each)), text, line
    return None


def _is_wider(old: str, new: str) -> bool:
    then, now = re.search(_LOOSE_NUMBER, old), re.search(_LOOSE_NUMBER, new)
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
            re.match(_LEAVES, left)
            and left not in known
            and len(line) - len(line.lstrip()) == body
            and number < now.texts[-1][1]
        ):
            return "ends before it asserts", None, left, number
    return None
