"""The tests that stand in a source file, and what each of them asserts."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, overload

from ralph_tracker.integrity.languages import Language, language_of
from ralph_tracker.integrity.patterns import Pattern

SEPARATOR: Final = "::"
UNREACHED: Final = "it is never reached"
REPEATED: Final = 0  # the strength of asking the same twice: two calls with one argument are compared


# What was read in a text by the lines that it stands in, for the other version of the file as well.
Known = dict[tuple[object, ...], Any]


class Unparsable(Exception):  # noqa: N818  # the state of a text, which callers turn into a reason
    """Say why a text is no program that can be looked into; `str()` of it is the reason, without the path."""


class NoProgram(Unparsable):
    """Say why Python itself takes a text for no program: nothing runs it, whatever it holds."""


class Assertion(NamedTuple):
    """Hold one thing that a test demands.

    `text` is its source on one line. `subject` is what is asserted about, so that two versions of an assertion can be
    told as such ("" unknown). `strength` orders what is demanded of a subject: the higher, the less would pass; None
    where that is not known. `vacuous` says why nothing can fail it, None where something can.
    """

    line: int
    text: str
    subject: str = ""
    strength: int | None = None
    vacuous: str | None = None


class Later(Sequence[Assertion]):
    """Be assertions that are read when somebody asks: most tests of a changed file did not change."""

    def __init__(self, read: Callable[[], tuple[Assertion, ...]]) -> None:
        self._read = read

    @cached_property
    def _all(self) -> tuple[Assertion, ...]:
        return self._read()

    @overload
    def __getitem__(self, index: int) -> Assertion: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Assertion, ...]: ...

    def __getitem__(self, index: int | slice) -> Assertion | tuple[Assertion, ...]:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Assertion]:
        return iter(self._all)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all)


class SourceTest(NamedTuple):
    """Hold one test as the source has it.

    `name` is its way through the file, `TestBox::test_lid`; `line` and `end` are its first and last line, decorators
    included, `text` those lines. `assertions` stand in the order of the source; `skipped` says that it is marked to
    be skipped or expected to fail without a condition. `node` is its syntax in Python, None in other languages.
    """

    path: str
    name: str
    line: int
    end: int
    text: str
    assertions: Sequence[Assertion] = ()
    skipped: bool = False
    node: ast.FunctionDef | ast.AsyncFunctionDef | None = None

    @property
    def function(self) -> str:
        """Return the last part of its name."""
        return self.name.rpartition(SEPARATOR)[2]


def is_helper(test: SourceTest, text: str) -> bool:
    """Tell whether a function of a file with that text is a test by its name only: others call it for what it returns.

    Whatever asserts is a test, and so is what no other function calls.
    """
    if "return " not in test.text or test.assertions:
        return False
    call = f"{test.function}("
    return text.count(call) > test.text.count(call)


def is_empty(test: SourceTest) -> bool:
    """Tell whether a Python function does nothing: nobody misses what stood there to be written some day."""
    return test.node is not None and all(
        isinstance(each, ast.Pass) or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        for each in test.node.body
    )


def is_suite(test: SourceTest) -> bool:
    """Tell whether a function only gathers tests for a loader of unittest: they are reported by their own ids."""
    if _LOADERS.search(test.text) is None or test.node is None or test.assertions:
        return False
    last = test.node.body[-1]
    return isinstance(last, ast.Return) and last.value is not None


_LOADERS: Final = Pattern(
    r"\b(?:TestSuite|makeSuite|TestLoader|defaultTestLoader|loadTestsFrom\w+|DocTestSuite|DocFileSuite)\b"
)
# What stands in any text with tests: nothing else is parsed.
_TESTS: Final[Mapping[Language, Pattern]] = {
    "python": Pattern(r"\bdef\s+test"),
    **dict.fromkeys(
        ("javascript", "typescript", "tsx"), Pattern(r"\b(?:it|test|specify|[xf]it|xtest|xspecify)\b[\w.\s]*[(<`]")
    ),
    "go": Pattern(r"\bfunc\s+(?:\([^)]*\)\s*)?(?:Test|Fuzz|Example)"),
    "rust": Pattern(r"#\s*\[[^\]]*(?:test|case)"),
    "java": Pattern(r"@\w*(?:Test|Theory|Property)|\bextends\s+\w*TestCase\b"),
}


def may_hold_tests(path: str, text: str) -> bool:
    """Tell whether tests may stand in a file, without reading it closely."""
    language = language_of(path)
    if language is None or (language == "python" and "test" not in text):
        return False
    return _TESTS[language].search(text) is not None and (language != "go" or path.endswith("_test.go"))


def tests_of(path: str, text: str, known: Known | None = None) -> tuple[SourceTest, ...]:  # noqa: PT028  no test
    """Return the tests of a file in their order, () in a language that is not looked into. Raises Unparsable."""
    if not may_hold_tests(path, text):
        return ()
    if language_of(path) == "python":
        from ralph_tracker.integrity.python.tests import python_tests  # noqa: PLC0415  for this language only

        return python_tests(path, text, {} if known is None else known)
    from ralph_tracker.integrity.other.tests import other_tests  # noqa: PLC0415  a parser of its own

    return other_tests(path, text)


def helpers_of(path: str, text: str, known: Known) -> tuple[SourceTest, ...]:
    """Return the functions of a Python file that are no tests, () in another language. Raises Unparsable."""
    if language_of(path) != "python":
        return ()
    from ralph_tracker.integrity.python.tests import python_helpers  # noqa: PLC0415  for this language only

    return python_helpers(path, text, known)
