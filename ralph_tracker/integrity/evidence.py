"""What a rule looks at: the changed files of one comparison, and how the tests ended on both sides of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.core.metrics import FAILED, PASSED
from ralph_tracker.integrity.changes import ChangedFile, Remembering, Side
from ralph_tracker.integrity.pairing import TestPair, paired
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.source_tests import SourceTest

if TYPE_CHECKING:
    from ralph_tracker.integrity.naming import Reported

TEXT_SHOWN: Final = 300
# Given words, yields the test files that hold one of them; asked only where a source file raises a question.
TestsAround = Callable[[frozenset[str]], Iterable[Side]]
_SPACES: Final = Pattern(r"\s+")
_NONE: Final[Mapping[str, str]] = {}


class Outcomes(NamedTuple):
    """Hold how the tests of two iterations ended, by their ids in the report; empty where no names are known."""

    before: Mapping[str, str] = _NONE
    after: Mapping[str, str] = _NONE


class Evidence(Remembering):
    """Be one comparison: every changed file that can be looked into, its tests paired, and the outcomes."""

    def __init__(
        self, files: Iterable[ChangedFile], outcomes: Outcomes | None = None, around: TestsAround | None = None
    ) -> None:
        super().__init__()
        self.files = tuple(files)
        self.outcomes = outcomes or Outcomes()
        self._around = around

    def tests_around(self, words: frozenset[str]) -> Iterable[Side]:
        """Return test files that did not change and hold one of the words, none where nobody can look for them."""
        return () if self._around is None else self._around(words)

    @cached_property
    def pairs(self) -> tuple[TestPair, ...]:
        """Return each test of the changed files with what it was: the same name, else renamed, moved or merged.

        A pair without `old` is a new test, one without `new` is gone.
        """
        return paired(self.files)

    def pairs_in(self, file: ChangedFile) -> Iterator[TestPair]:
        """Yield the pairs whose test stands in that file now."""
        yield from self._pairs_by_path.get(file.path, ())

    @cached_property
    def _pairs_by_path(self) -> Mapping[str, list[TestPair]]:
        found: dict[str, list[TestPair]] = {}
        for pair in self.pairs:
            if pair.new is not None:
                found.setdefault(pair.new.path, []).append(pair)
        return found

    @cached_property
    def source_changed(self) -> bool:
        """Tell whether any file changed that is in a language we know and does not belong to the tests."""
        return any(file.language is not None and not file.is_test for file in self.files)

    @cached_property
    def any_began_to_pass(self) -> bool:
        """Tell whether any test of the reports failed before and passes now, whatever files changed."""
        return next(self.begun(), None) is not None

    def any_began_below(self, path: str) -> bool:
        """Tell whether a test that failed before and passes now may stand below a folder, or in a file."""
        from ralph_tracker.integrity.naming import is_below  # noqa: PLC0415  only where tests began to pass

        return any(is_below(test, path) for test in self.begun())

    def begun(self) -> Iterator[str]:
        """Yield the ids of the tests that failed before and pass now."""
        before, after = self.outcomes.before, self.outcomes.after
        return (test for test, outcome in before.items() if outcome == FAILED and after.get(test) == PASSED)

    @cached_property
    def reported(self) -> "Reported":
        """Return what looks the ids of both reports up."""
        from ralph_tracker.integrity.naming import Reported  # noqa: PLC0415  only where tests changed

        return Reported(self.outcomes.before.keys() | self.outcomes.after.keys())

    def ids_of(self, test: SourceTest) -> tuple[str, ...]:
        """Return the ids that a test of the source has in the report, all its parameters; () where unknown."""
        return self.reported.ids_of(test.path, test.name)

    def passes_now(self, test: SourceTest) -> bool:
        """Tell whether a test whose name stayed failed before and passes now."""
        before, after = self.outcomes.before, self.outcomes.after
        return any(before.get(each) == FAILED and after.get(each) == PASSED for each in self.ids_of(test))

    def began_to_pass(self, pair: TestPair) -> bool:
        """Tell whether a test of the pair failed before and passes now."""
        before, after = self.outcomes.before, self.outcomes.after
        olds = self.ids_of(pair.old) if pair.old is not None else ()
        news = self.ids_of(pair.new) if pair.new is not None else ()
        if any(before.get(test) == FAILED and after.get(test) == PASSED for test in {*olds, *news}):
            return True
        moved = any(before.get(test) == FAILED and test not in after for test in olds)
        return moved and any(after.get(test) == PASSED and test not in before for test in news)


def finding(  # noqa: PLR0913  # a finding has that many parts
    rule: str,
    severity: Severity,
    message: str,
    file: str,
    *,
    line: int | None = None,
    test: SourceTest | None = None,
    ids: tuple[str, ...] = (),
    old: str | None = None,
    new: str | None = None,
    about: str | None = None,
) -> Finding:
    """Make a finding; texts are put on one line and cut, `about` is the new text (else the old) where none is given."""
    old, new = one_line(old), one_line(new)
    return Finding(
        rule=rule,
        severity=severity,
        message=message,
        file=file,
        line=line,
        test=None if test is None else test.name,
        tests=ids,
        old=old,
        new=new,
        about=(new or old or "") if about is None else about,
    )


def one_line(text: str | None) -> str | None:
    """Return a text on one line, cut to what a person reads."""
    if text is None:
        return None
    line = _SPACES.sub(" ", text).strip()
    return line if len(line) <= TEXT_SHOWN else f"{line[: TEXT_SHOWN - 1]}…"
