"""Compare an iteration with those before it, file by file and test by test (integrity.md)."""

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple

from ralph_tracker.core.findings import BUILTIN, Finding, Integrity, Severity, SuppressionKind
from ralph_tracker.core.loop_state import LoopState
from ralph_tracker.core.metrics import TestResults
from ralph_tracker.errors import InputError, StoreError
from ralph_tracker.integrity.changes import MAX_BYTES, ChangedFile, FileChange, Side, opened
from ralph_tracker.integrity.evidence import Outcomes
from ralph_tracker.integrity.examine import Examined, examine
from ralph_tracker.integrity.languages import is_test_path, language_of
from ralph_tracker.integrity.relevance import may_silence
from ralph_tracker.integrity.table import RULES, Rule
from ralph_tracker.store.keeping import Keeper, Kept
from ralph_tracker.store.snapshots import Change, as_utf8

_LINK: Final = "120000"
RECORDS_EDITED: Final = "G3"
EVERYTHING: Final = "."
_TESTS_FOUND: Final = 100
_NO_MORE: Final[Mapping[SuppressionKind, int]] = {"lint": 0, "types": 0, "coverage": 0}


class Examination(NamedTuple):
    """Be the comparison of one iteration, whose tree is kept, with the line that it descends from.

    Where a `tool` takes the place of our rules, `judged` is its report, or why there is none.
    """

    keeper: Keeper
    state: LoopState
    kept: Kept
    tests: TestResults | None
    rules: tuple[Rule, ...] = RULES
    tool: str = BUILTIN
    judged: bytes | str | None = None

    def integrity(self) -> Integrity:
        """Return what was found; a fault of our own is told, and what was open before stays open."""
        try:
            return self._compared_once_more()
        except Exception as error:  # noqa: BLE001  # no fault of ours may cost an iteration, or clear one
            why = f"integrity could not be judged ({type(error).__name__}: {error}); please report it"
            return Integrity(
                findings=self._open,
                suppressions=self.state.line.suppressions,
                unread={EVERYTHING: why},
            )

    def _compared_once_more(self) -> Integrity:
        """Compare, a second time where the store gave no answer: a git that was killed leaves no lasting doubt."""
        try:
            return self._compared()
        except StoreError:
            return self._compared()

    def _compared(self) -> Integrity:
        line = self.state.line
        if line.head is None:
            return Integrity()
        clean = self._clean
        if self.tool != BUILTIN:
            return self._by_tool(line.head)
        previous = self._against(line.head, self.kept.changed)
        found, unread, gone = _since(previous.findings, line.head), dict(previous.unread), self._matches(previous)
        changes = self.kept.changed
        if clean != line.head:
            changes = self.keeper.changes_since(clean, self.kept.snapshot.tree)
            examined = self._against(clean, changes)
            found = _differing(found, changes) | _since(examined.findings, clean)
            unread |= examined.unread
            gone = self._held(gone, examined)
        if clean:
            found = {**_since(self._eroded({each.path for each in (*self.kept.changed, *changes)}), 0), **found}
        found = {**self._standing(clean), **found}
        return Integrity(
            findings=(*self._edited(line.head), *found.values()),
            matches=gone,
            suppressions=_sum(line.suppressions, _net(previous.evidence.files)),
            unread=unread,
            compared_with=tuple(sorted({line.head, clean, 0}, reverse=True)),
        )

    def _by_tool(self, head: int) -> Integrity:
        """Take what another tool found; tests that are gone and our own records are looked after all the same."""
        from ralph_tracker.integrity.foreign.tools import read  # noqa: PLC0415  where somebody uses one

        clean = self._clean
        examined = self._against(head, self.kept.changed, ())
        gone = self._matches(examined)
        if clean != head:
            changes = self.keeper.changes_since(clean, self.kept.snapshot.tree)
            gone = self._held(gone, self._against(clean, changes, ()))
        found: tuple[Finding, ...] = self._open
        unread = {}
        try:
            if isinstance(self.judged, bytes):
                found = read(self.tool, self.judged, examined.evidence.outcomes)
            else:
                unread[self.tool] = self.judged or "no check of kind integrity has a report"
        except InputError as error:
            unread[self.tool] = str(error)
        return Integrity(
            findings=(*self._edited(head), *found),
            matches=gone,
            suppressions=_sum(self.state.line.suppressions, _net(examined.evidence.files)),
            unread=unread,
            compared_with=tuple(sorted({head, clean}, reverse=True)),
        )

    def _against(
        self,
        number: int,
        changes: Iterable[Change],
        rules: tuple[Rule, ...] | None = None,
        passed_over: Iterable[Change] = (),
    ) -> Examined:
        """Ask the rules what differs from an iteration; what is passed over differs too, and is not asked about."""
        before = self.state.known.present if number == self.state.line.head else self.keeper.outcomes_of(number)
        outcomes = Outcomes(before, {} if self.tests is None else self.tests.outcomes)
        around = partial(self._tests_around, frozenset(each.path for each in passed_over))
        return examine(self._contents(changes), outcomes, self.rules if rules is None else rules, around)

    def _eroded(self, touched: Container[str]) -> tuple[Finding, ...]:
        """Ask against the baseline what small steps stay under; only about files that changed since the clean one."""
        changes = [change for change in self.kept.since_baseline if change.path in touched]
        rules = tuple(rule for rule in self.rules if rule.erodes)
        return self._against(0, changes, rules, passed_over=self.kept.since_baseline).findings

    def _standing(self, clean: int) -> dict[str, Finding]:
        """Return open findings that only an older comparison shows, as long as nobody touches their files.

        What was found against the last clean iteration is not among them: that comparison is made anew.
        """
        touched = {as_utf8(change.path) for change in self.kept.changed}
        return {f.key: f for f in self._open if f.against not in {None, clean} and f.file not in touched}

    @property
    def _clean(self) -> int:
        """Return the last clean iteration of the line, else the baseline."""
        return self.state.line.clean or 0

    @property
    def _open(self) -> tuple[Finding, ...]:
        return tuple(finding for alert in self.state.line.open_alerts for finding in alert.findings)

    def _edited(self, head: int) -> Iterator[Finding]:
        """Yield what of our own records is not as sealed: of the latest iteration, and of those found before (G3)."""
        for number in sorted({0, head, *(int(f.about) for f in self._open if f.rule == RECORDS_EDITED)}):
            for path in self.keeper.edited(number):
                message = f"not as it was sealed with iteration {number}; `ralph-tracker verify` checks all of them"
                yield Finding(
                    rule=RECORDS_EDITED, severity=Severity.CRITICAL, message=message, file=path, about=str(number)
                )

    def _matches(self, examined: Examined) -> Mapping[str, tuple[str, ...]]:
        outcomes = examined.evidence.outcomes
        gone, added = outcomes.before.keys() - outcomes.after.keys(), outcomes.after.keys() - outcomes.before.keys()
        if not gone:
            return {}
        from ralph_tracker.integrity.matching import matches  # noqa: PLC0415  most iterations keep their tests

        return matches(examined.evidence, gone, added)

    def _held(self, since_previous: Mapping[str, tuple[str, ...]], clean: Examined) -> Mapping[str, tuple[str, ...]]:
        """Return the matches that hold against the last clean iteration too, and those that it alone shows.

        A test that was there is judged by what it was there: what was hollowed out since is not held by an empty one,
        and does not turn into no test.
        """
        found, outcomes = self._matches(clean), clean.evidence.outcomes
        lost = outcomes.before.keys() - outcomes.after.keys() - found.keys()
        names = self.state.seen.aliases.names
        return {
            **found,
            **{gone: news for gone, news in since_previous.items() if lost.isdisjoint((gone, *names(gone)))},
        }

    def _contents(self, changes: Iterable[Change]) -> list[FileChange]:
        looked_at = [change for change in changes if _LINK not in {change.old_mode, change.new_mode}]
        contents = self.keeper.contents(looked_at, MAX_BYTES + 1)
        return [
            FileChange(
                as_utf8(change.path),
                None if change.old_id is None else contents[change.old_id],
                None if change.new_id is None else contents[change.new_id],
            )
            for change in looked_at
        ]

    def _tests_around(self, but: Container[str], words: frozenset[str]) -> Iterator[Side]:
        """Yield test files that hold one of the words; enough of them where a word is a common one."""
        tree = self.kept.snapshot.tree
        holding = (path for path in self.keeper.holding(tree, sorted(words)) if path not in but)
        paths = (path for path in holding if is_test_path(path) and language_of(path))
        for path, _ in zip(paths, range(_TESTS_FOUND), strict=False):
            file = opened(FileChange(path, None, self.keeper.read(tree, path)))
            if not isinstance(file, str) and file.new is not None:
                yield file.new


def _differing(findings: Mapping[str, Finding], changes: Iterable[Change]) -> dict[str, Finding]:
    """Leave out what was found in files that are as the last clean iteration had them: they were restored."""
    differing = {as_utf8(change.path) for change in changes}
    return {key: finding for key, finding in findings.items() if finding.file in differing}


def _since(findings: Iterable[Finding], number: int) -> dict[str, Finding]:
    return {finding.key: finding._replace(against=number) for finding in findings}


def _net(files: Iterable[ChangedFile]) -> Mapping[SuppressionKind, int]:
    marked = [file for file in files if any(may_silence(side) for side in file.sides())]
    if not marked:
        return _NO_MORE
    from ralph_tracker.integrity.suppressions import net  # noqa: PLC0415  most files silence nothing

    return net(marked)


def _sum(before: Mapping[SuppressionKind, int], more: Mapping[SuppressionKind, int]) -> dict[SuppressionKind, int]:
    return {kind: before.get(kind, 0) + more.get(kind, 0) for kind in {**before, **more}}
