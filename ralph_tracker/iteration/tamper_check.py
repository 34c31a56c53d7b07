"""Check one iteration for tampering: earlier tests on its source, rules on its changes, and seals."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from ralph_tracker.core.integrity_result import RERUN_RULES, Finding, Integrity, Severity
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import IgnoredTests, cut_short
from ralph_tracker.core.metrics import FAILED, PASSED, TestResults
from ralph_tracker.errors import StoreError
from ralph_tracker.integrity.deciding_files import is_code, kind_of_file
from ralph_tracker.iteration.earlier_run import Asked, EarlierRun, Shown
from ralph_tracker.iteration.earlier_tests import ScratchRunner
from ralph_tracker.iteration.file_forms import FileForms, changed_files
from ralph_tracker.store.iteration_snapshots import IterationSnapshots, KeptIteration

RECORDS_EDITED: Final = "R6"
EVERYTHING: Final = "."
# A finding of these rules stays open as long as the line that it names exists.
_STANDS_WITH_ITS_LINE: Final = frozenset({"R1", "R2", "R3", "R4", "R5", "U"})


class Reruns(NamedTuple):
    """How earlier tests are run: the runner, whether only after edits in this iteration, and what the checks call.

    `own_packages` says that the installed packages are the project's own, as they lie, and not made for the run: they
    may have been edited since the loop began.
    """

    runner: ScratchRunner
    only_touched: bool = False
    commands: Sequence[str] = ()
    own_packages: bool = True


class TamperCheck:
    """The check of an iteration whose tree is kept against its lineage and the kept iteration.

    `tests` are its results, `not_loaded` what did not build. `reruns` is None if nothing can be run (metrics handed in)
    or nothing should.
    """

    def __init__(
        self,
        iteration_snapshots: IterationSnapshots,
        state: JudgeState,
        kept: KeptIteration,
        tests: TestResults | None,
        *,
        not_loaded: Collection[str] = (),
        reruns: Reruns | None = None,
    ) -> None:
        self._iteration_files = iteration_snapshots
        self._state = state
        self._kept = kept
        self._tests = tests
        self._not_loaded = frozenset(not_loaded)
        self._reruns = reruns

    def integrity(self) -> Integrity:
        """Return what was found; after a bug of ours that is reported, and open findings stay open."""
        try:
            try:
                return self._check()
            except StoreError:  # once more, so that a killed process leaves no lasting doubt
                return self._check()
        except Exception as error:  # noqa: BLE001  # a bug of ours must neither lose nor clear an iteration
            why = f"integrity could not be judged ({type(error).__name__}: {error}); please report it"
            line = self._state.lineage
            return Integrity(
                findings=self._open,
                suppressions=line.suppressions,
                unread={EVERYTHING: why},
                references=line.references,
            )

    def _check(self) -> Integrity:
        head = self._state.lineage.head
        if head is None:
            return Integrity()
        inspection = self._inspect_change()
        found = inspection.findings
        shown = self._run_earlier(head, inspection)
        standing = [each for each in self._open if each.rule in _STANDS_WITH_ITS_LINE and self._line_exists(each)]
        findings = {
            each.key: each for each in (*self._edited_records(head), *found, *shown.findings, *standing, *shown.still)
        }
        before, new = self._state.lineage.suppressions, inspection.suppressions
        return Integrity(
            findings=tuple(sorted(findings.values(), key=lambda each: each.severity)),
            earlier=shown.earlier,
            suppressions={kind: before.get(kind, 0) + new.get(kind, 0) for kind in {**before, **new}},
            blanket=inspection.blanket,
            unread=inspection.unread,
            references=shown.references,
            reruns=shown.reruns,
        )

    def _run_earlier(self, head: int, inspection: Integrity) -> Shown:
        """Return what earlier tests show; where nothing can be run or compared by name, what was open stays open."""
        kept, reruns, found = self._state.kept, self._reruns, inspection.findings
        if reruns is None or self._tests is None or kept is None or kept.believed is None:
            still = tuple(each for each in self._open if each.rule in RERUN_RULES)
            return Shown(None, still=still, references=self._state.lineage.references)
        asked = Asked(
            number=self._state.iteration + 1,
            kept=kept.iteration,
            head=head,
            believed=kept.believed,
            before=self._before,
            now=self._reported,
            last={**self._state.lineage.not_collected_before, **self._state.known.present},
            references=self._state.lineage.references,
            open=self._open,
            raised=bool(inspection.blanket) or any(each.severity <= Severity.HIGH for each in found),
            doubted=frozenset(test for each in found for test in each.disbelieved),
        )
        packages, ignored = lambda: self._edited_package(reruns), self._ignored_settings(reruns)
        run = EarlierRun(asked, self._files, reruns.runner, reruns.commands, packages, ignored)
        return run.shown(standing=not reruns.only_touched)

    def _edited_package(self, reruns: Reruns) -> str | None:
        """Return a file of an installed package that was edited though nothing asks for another package."""
        from ralph_tracker.measure.edited_packages import NAMES_PACKAGES, edited_package_file  # noqa: PLC0415  # seldom

        if not reruns.own_packages or any(map(NAMES_PACKAGES.search, self._files.since(0))):
            return None
        projects = {path.rpartition("/")[0] for path in self._files.ids if NAMES_PACKAGES.search(path)}
        paths = self._iteration_files.paths
        return edited_package_file(paths.root, {"", *projects}, paths.loop_file.stat().st_mtime)

    def _ignored_settings(self, reruns: Reruns) -> Collection[str]:
        """Return the files that runners load, that git ignores, and that changed since the loop began."""
        if not reruns.own_packages:
            return ()
        from ralph_tracker.measure.edited_packages import changed_settings  # noqa: PLC0415  # not with metrics given

        paths, store = self._iteration_files.paths, self._iteration_files.store
        return changed_settings(paths.root, set(store.paths(self._files.tree)), paths.loop_file.stat().st_mtime)

    @cached_property
    def _files(self) -> FileForms:
        head = self._state.lineage.head or 0
        return FileForms(self._iteration_files, self._kept.snapshot.tree, {head: self._kept.changed})

    @cached_property
    def _last_seen(self) -> Mapping[str, str]:
        """Return the last reported outcome of each test in the lineage."""
        known = self._state.known
        return {**known.gone, **known.present} if known.gone else known.present

    @cached_property
    def _before(self) -> Mapping[str, str]:
        """Return the previous outcomes; a test that was not believed, or a hidden failure, counts as failed."""
        doubted = (each.tests if each.rule == "failure_hidden" else each.disbelieved for each in self._open)
        return {**self._last_seen, **dict.fromkeys((test for tests in doubted for test in tests), FAILED)}

    @cached_property
    def _before_in_earlier_form(self) -> Mapping[str, str]:
        """Return the previous outcomes; a test whose earlier form failed, whatever was reported, counts as failed."""
        asked = (test for each in self._open if each.rule in RERUN_RULES for test in each.tests)
        return {**self._before, **dict.fromkeys(asked, FAILED)}

    @cached_property
    def _reported(self) -> Mapping[str, str]:
        """Return the outcomes now; a test whose file does not load, or whose group ended at an error, failed."""
        now = {} if self._tests is None else dict(self._tests.outcomes)
        present = self._state.known.present
        now.update(dict.fromkeys(cut_short((name for name in present if name not in now), present, now), FAILED))
        if self._not_loaded:
            line = self._state.lineage
            ignored = IgnoredTests(
                not_loaded=self._not_loaded,
                not_collected_before=line.not_collected_before,
                not_loaded_before=line.not_loaded,
            )
            last = {**line.not_collected_before, **self._state.known.present}
            lost = ignored.uncollected(name for name in last if name not in now)
            now.update(dict.fromkeys(lost, FAILED))
        return now

    # Rules and records.

    def _inspect_change(self) -> Integrity:
        """Return what the rules find in the change."""
        changes = changed_files(self._iteration_files, self._kept.changed)
        if not changes:
            return Integrity()
        from ralph_tracker.integrity.diff_inspection import inspect  # noqa: PLC0415  # once something changed

        before, tests = self._before_in_earlier_form, self._unchanged_tests()
        return inspect(changes, before, self._reported, tests, optimises=self._optimises)

    @property
    def _optimises(self) -> bool:
        return bool(self._state.progress.levels)

    def _unchanged_tests(self) -> dict[str, str]:
        """Return the unchanged test files' texts that have a test that newly passes, or passes where that is asked."""
        before = self._before_in_earlier_form
        passing = [test for test, how in self._reported.items() if how == PASSED]
        green = [test for test in passing if self._optimises or before.get(test) == FAILED]
        changed = self._files.since(self._state.lineage.head or 0)
        if not green or not any(is_code(path) and kind_of_file(path) is None for path in changed):
            return {}
        from ralph_tracker.integrity.report_ids import files_of  # noqa: PLC0415  # only if a test turned green

        head = self._state.lineage.head or 0
        tests = [path for path in self._files.ids if kind_of_file(path) == "test"]
        own = files_of(green, self._files.both(tests, head)).values()
        return {
            path: self._files.now(path) for path in sorted({each for paths in own for each in paths} - changed.keys())
        }

    def _line_exists(self, finding: Finding) -> bool:
        """Return whether what a rule named still stands: the line is there, or what was taken out is not back."""
        change = self._files.since(self._state.lineage.head or 0).get(finding.file)
        if change is None:
            return True
        if change.new_id is None:
            return False
        text = _one_line(self._files.text(change.new_id))
        if finding.new is not None:
            return _one_line(finding.new).rstrip("…") in text
        return finding.old is None or _one_line(finding.old).rstrip("…") not in text

    @property
    def _open(self) -> tuple[Finding, ...]:
        return tuple(finding for alert in self._state.lineage.open_alerts for finding in alert.findings)

    def _edited_records(self, head: int) -> Iterator[Finding]:
        """Yield findings for edited records of ours: of the latest iteration, and of those found before."""
        for number in sorted({0, head, *(int(f.about) for f in self._open if f.rule == RECORDS_EDITED)}):
            for path in self._iteration_files.edited_documents(number):
                message = f"not as it was sealed with iteration {number}; `ralph-tracker verify` checks all of them"
                yield Finding(
                    rule=RECORDS_EDITED, severity=Severity.CRITICAL, message=message, file=path, about=str(number)
                )


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
