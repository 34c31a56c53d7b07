"""The counts that a JUnit file declares in the attributes of its suites, and whether its cases bear them out."""

from collections.abc import Mapping

from ralph_tracker.formats.tests.gathering import first_count, unlike
from ralph_tracker.formats.tests.report import Declared
from ralph_tracker.formats.xml_numbers import count


class Totals:
    """Gather the declared counts of one file.

    `declared` is the sum over the outermost suites, what is missing in one of them counting 0; the root's where no
    suite declares anything; None where nothing does.
    """

    def __init__(self) -> None:
        self.declared = Declared()
        self._root = Declared()
        self._all_tests: int | None = None
        self._reruns = 0

    def root(self, attributes: Mapping[str, str]) -> None:
        self._root = _declared(attributes)

    def suite(self, attributes: Mapping[str, str], *, outermost: bool) -> None:
        said = _declared(attributes)
        self._all_tests = _sum(self._all_tests, said.tests)
        if outermost:
            self.declared = Declared(
                tests=_sum(self.declared.tests, said.tests),
                failures=_sum(self.declared.failures, said.failures),
                errors=_sum(self.declared.errors, said.errors),
                skipped=_sum(self.declared.skipped, said.skipped),
            )

    def rerun(self, runs: int) -> None:
        """Note that a case had so many runs more than the one that counts."""
        self._reruns += runs

    def close(self) -> None:
        """Fall back on the root where no suite declared anything."""
        if self.declared == Declared():
            self.declared = self._root

    def contradiction(self, counted: int, *, failed: int, more_is_fine: bool) -> str | None:
        """Say where the file contradicts itself; None where one of its ways of counting fits.

        A nesting suite may count the cases in it at any depth or its own alone, and reruns or not. `more_is_fine`
        for producers that count what they do not list.
        """
        said = {number for number in (self.declared.tests, self._all_tests, self._root.tests) if number is not None}
        fits = said & {counted, counted + self._reruns} or (more_is_fine and said and min(said) > counted)
        if said and not fits:
            shown = self.declared.tests if self.declared.tests is not None else max(said)
            return unlike("tests", shown, counted)
        bad = (self.declared.failures or 0) + (self.declared.errors or 0)
        if bad > self._reruns and not failed:
            return unlike("failures and errors", bad, 0)
        return None


def _declared(attributes: Mapping[str, str]) -> Declared:
    return Declared(
        tests=count(attributes, "tests"),
        failures=count(attributes, "failures"),
        errors=count(attributes, "errors"),
        skipped=first_count(attributes, "skipped", "skips", "skip"),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    """Add what is known; None only where both are unknown."""
    return other if one is None else one if other is None else one + other
