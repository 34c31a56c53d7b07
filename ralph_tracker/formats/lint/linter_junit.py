"""JUnit XML of linters and type checkers: a case that failed is a finding.

Ruff, ty, oxlint, Biome, Bandit, ESLint and others write it; so may any tool in a check that is said to be of lint or of
types. A finding's severity is in its type, in a property or in its text, or is that of the element.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ralph_tracker.formats.parsed_report import Row, severity_of_word
from ralph_tracker.formats.report_content import LONGEST_TEXT, Content, DamageError, Elements, attribute_count

_ROOTS: Final = frozenset({"testsuites", "testsuite"})
TOOLS: Final = frozenset(
    {"bandit", "biome", "eslint", "flake8", "golangci-lint", "mypy", "oxlint", "phpcs", "phpstan", "psalm", "pylint"}
    | {"ansible-lint", "rubocop", "ruff", "stylelint", "tflint", "ty"}
)
_PACKAGE: Final = re.compile(r"(?:org\.)?(\w+)")
_PREFIX: Final = re.compile(r"org\.\w+\.")
_WORD: Final = re.compile(r"\b(Error|Warning|Info) - ")  # ESLint's
_LINE: Final = re.compile(r"(?:\bline |:)(\d{1,9})\b")
_CODE: Final = re.compile(r"Test ID: (\w{1,20})")  # Bandit's


def sniff(content: Content) -> bool:
    """Whether a linter wrote it, as the names of the root or of the first suite say."""
    root, attributes, _, _, inner = content.xml
    return root in _ROOTS and (_tool(attributes) or _tool(inner)) in TOOLS


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the failed cases as findings. Raises DamageError."""
    yield from _Reader(content).walk().findings()


def _tool(attributes: Mapping[str, str]) -> str:
    """Return the tool that a suite names as its own, "" if it names none."""
    package = _PACKAGE.match(attributes.get("package", ""))
    names = (attributes.get("name", ""), package[1] if package else "")
    return next((name.lower() for name in names if name.lower() in TOOLS), "")


class _Reader(Elements):
    """Handle the events of one document."""

    TEXTS = frozenset({"failure", "error"})

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        self._rows: list[Row] = []
        self._tool = ""
        self._errors: int | None = None
        self._file = ""
        self._case: Mapping[str, str] = {}
        self._severity: str | None = None
        self._failure: tuple[str, Mapping[str, str]] | None = None
        self._text = ""

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.path:
            if name not in _ROOTS:
                raise DamageError(f"the root element is <{name}>, not one of JUnit's")
            self._errors = attribute_count(attributes, "errors")
        if name in _ROOTS:
            self._tool = self._tool or _tool(attributes)
            self._file = attributes.get("name", "") if name == "testsuite" else ""
        elif name == "testcase":
            self._case, self._severity, self._failure = attributes, None, None
        elif name == "property" and attributes.get("name") == "severity":
            self._severity = attributes.get("value")
        elif name in self.TEXTS and self._failure is None:
            self._failure = name, attributes

    def closed(self, name: str) -> None:
        if name in self.TEXTS:
            self._text = self.text
            if self._tool == "mypy":  # a case of mypy's holds all of its output
                from ralph_tracker.formats.types.mypy import diagnostics_text  # noqa: PLC0415  # seldom

                self._rows += diagnostics_text(Content(self._text.encode()))
                if len(self._text) >= LONGEST_TEXT:
                    raise DamageError("mypy's output is too long for JUnit; use --output=json")
                self._failure = None
        elif name == "testcase" and self._failure is not None:
            self._rows.append(self._finding(*self._failure))
            self._failure = None

    def _finding(self, element: str, attributes: Mapping[str, str]) -> Row:
        message, owner = attributes.get("message", ""), self._case.get("classname", "")
        file = owner.partition(":")[0] if self._file.lower() in {"", *TOOLS} else self._file
        place = _LINE.search(f"{owner} {self._text} {message}")
        by_tool = _CODE.match(self._text)
        word = _WORD.search(self._text)
        words = (attributes.get("type"), self._severity, word[1] if word else None)
        otherwise = "warning" if element == "failure" and self._tool == "oxlint" else "error"
        return (
            file,
            self._case.get("line") or (place[1] if place else None),
            by_tool[1] if by_tool else _PREFIX.sub("", self._case.get("name", "")),
            next((each for each in words if severity_of_word(each)), otherwise),
            message or self._text,
        )

    def findings(self) -> list[Row]:
        """Return the rows; Biome, which lists errors last, says only how many there are."""
        if self._tool != "biome" or self._errors is None:
            return self._rows
        warnings = len(self._rows) - self._errors
        return [self._with_word(row, "warning" if at < warnings else "error") for at, row in enumerate(self._rows)]

    @staticmethod
    def _with_word(row: Row, word: Any) -> Row:  # noqa: ANN401  # as in a Row
        return (*row[:3], word, row[4])
