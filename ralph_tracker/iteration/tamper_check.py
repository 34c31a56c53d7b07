"""Check one iteration for tampering: earlier tests on its source, rules on its changes, and seals."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from ralph_tracker.core.integrity_result import RERUN_RULES, Finding, Integrity, Rerun, Severity, SuppressionKind
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import belongs_to_any
from ralph_tracker.core.metrics import FAILED, PASSED, TestResults
from ralph_tracker.errors import InputError, StoreError
from ralph_tracker.integrity.file_roles import (
    declare_the_same,
    files_named_in_commands,
    kind_of_file,
    settings_for_rerun,
    settings_part,
    shares_names,
    why_inseparable,
)
from ralph_tracker.integrity.file_versions import MAX_BYTES, FileVersions
from ralph_tracker.integrity.rerun_findings import (
    RerunFindings,
    RerunInputs,
    findings_of_rerun,
    gone_from_source,
    hidden_failures_without_rerun,
    missing_names,
    still_failing,
)
from ralph_tracker.integrity.source_tests import language_of, tests_of
from ralph_tracker.iteration.earlier_tests import EarlierFile, Runner
from ralph_tracker.store.iteration_snapshots import IterationSnapshots, KeptIteration
from ralph_tracker.store.snapshots.snapshot_types import LINK_MODE, Change, as_utf8

if TYPE_CHECKING:
    from ralph_tracker.integrity.source_tests import SourceTest

RECORDS_EDITED: Final = "R6"
EVERYTHING: Final = "."
_BESIDE_SOURCE: Final = frozenset({"rust", "javascript", "typescript", "tsx"})
# A finding of these rules stays open as long as the line that it names exists.
_STANDS_WITH_ITS_LINE: Final = frozenset({"R1", "R2", "R3", "R4", "U"})
_SPACES: Final = re.compile(r"\s+")


def changed_files(iteration_snapshots: IterationSnapshots, changes: Iterable[Change]) -> list[FileVersions]:
    """Return both contents of each changed file, without links; large contents are cut."""
    looked_at = [change for change in changes if LINK_MODE not in {change.old_mode, change.new_mode}]
    ids = (name for each in looked_at for name in (each.old_id, each.new_id) if name)
    contents = iteration_snapshots.store.contents(ids, MAX_BYTES + 1)
    return [
        FileVersions(
            as_utf8(change.path),
            None if change.old_id is None else contents[change.old_id],
            None if change.new_id is None else contents[change.new_id],
        )
        for change in looked_at
    ]


class Reruns(NamedTuple):
    """How earlier tests are run: the runner, whether only after edits in this iteration, and what the checks call."""

    runner: Runner
    only_touched: bool = False
    commands: Sequence[str] = ()


class OtherTool(NamedTuple):
    """A tool used instead of our rules; `judged` is its report, or why there is none."""

    name: str
    judged: bytes | str | None = None


class TamperCheck:
    """The check of an iteration whose tree is kept against its lineage.

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
        tool: OtherTool | None = None,
    ) -> None:
        self._iteration_files = iteration_snapshots
        self._state = state
        self._kept = kept
        self._tests = tests
        self._not_loaded = frozenset(not_loaded)
        self._runner = None if reruns is None else reruns.runner
        self._only_touched = reruns is not None and reruns.only_touched
        self._called = files_named_in_commands(() if reruns is None else reruns.commands)
        self._tool = tool
        self._differences: dict[int, Mapping[str, Change]] = {}

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
        references = self._references(head)
        matches = self._matches()
        inspected = self._inspect_change()
        found, unread = list(inspected[0]), {**inspected[2], **self._not_parted()}
        # Nothing has to be run again if nobody edited a reference, or if files were touched only since the last re-run.
        due = self._runner is not None and self._tests is not None and references
        if self._only_touched and references == self._state.lineage.references:
            due = False
        earlier = list(self._earlier(references)) if due else []
        shown, reruns = self._rerun_earlier(earlier, references, matches, found)
        still, more = self._recheck_open_findings(reruns, earlier)
        for path in shown.moved:
            references.pop(path, None)
        findings = {each.key: each for each in (*self._edited_records(head), *found, *shown.findings, *still)}
        before, new = self._state.lineage.suppressions, inspected[1]
        return Integrity(
            findings=tuple(sorted(findings.values(), key=lambda each: each.severity)),
            matches={**matches, **dict.fromkeys(shown.retired, ())},
            suppressions={kind: before.get(kind, 0) + new.get(kind, 0) for kind in {**before, **new}},
            unread=unread,
            references=references,
            reruns=(*(run for _, run in reruns), *more),
        )

    # Which tests have to be run again.

    def _references(self, head: int) -> dict[str, int]:
        """Return the files that affect tests and differ from their reference form, with the iteration of that form."""
        before = self._state.lineage.references
        after = {path: number for path, number in before.items() if path in self._changes_since(number)}
        for change in self._kept.changed:
            path = as_utf8(change.path)
            if change.old_id is None or path in before or not self._decides(path):
                continue
            if kind_of_file(path) == "settings":
                # Only the runner's part counts: the source's part is not put back.
                (file,) = self._contents([change]) or [FileVersions(path, None, None)]
                old, new = (None if data is None else settings_part(path, _text(data)) for data in (file.old, file.new))
                if old is None or old == new:
                    continue
            after[path] = head
        # A file restored to its state before an edit with an open finding is not edited.
        asked = (each for each in self._open if each.rule in RERUN_RULES and each.against is not None)
        put_back = {each.file for each in asked if each.file not in self._changes_since(each.against or 0)}
        return {path: number for path, number in after.items() if path not in put_back}

    def _changes_since(self, number: int) -> Mapping[str, Change]:
        """Return every path in which this tree differs from that of an iteration."""
        if number not in self._differences:
            is_head = number == self._state.lineage.head
            tree = self._kept.snapshot.tree
            changes = self._kept.changed if is_head else self._iteration_files.changes_since(number, tree)
            self._differences[number] = {as_utf8(change.path): change for change in changes}
        return self._differences[number]

    def _decides(self, path: str) -> bool:
        return kind_of_file(path) is not None or path in self._called

    def _earlier(self, references: Mapping[str, int]) -> Iterator[EarlierFile]:
        """Yield the earlier files; new test files with the same name or the same declarations are removed."""
        back: set[tuple[str, int]] = set()
        for path, number in sorted(references.items()):
            change = self._changes_since(number).get(path)
            if change is not None and change.old_id is not None:
                content = None  # of settings, the current file with the earlier runner's part
                if kind_of_file(path) == "settings" and change.new_id is not None:
                    for file in self._contents([change]):
                        if file.old is not None and file.new is not None:
                            content = settings_for_rerun(path, _text(file.old), _text(file.new)).encode()
                yield EarlierFile(change.path, change.old_mode, change.old_id, number, content)
                if change.new_id is None:
                    back.add((path.rpartition("/")[2], number))
        for name, number in sorted(back):
            for path, change in sorted(self._changes_since(number).items()):
                if change.old_id is None and path.rpartition("/")[2] == name and kind_of_file(path) == "test":
                    yield EarlierFile(change.path, None, None, number)
        yield from self._declaring_again(references)

    def _declaring_again(self, references: Mapping[str, int]) -> Iterator[EarlierFile]:
        """Yield new test files that redeclare names of an earlier file in their package, which does not compile."""
        packages = {(path.rpartition("/")[0], number) for path, number in references.items() if shares_names(path)}
        for folder, number in sorted(packages):
            changes = {
                path: change
                for path, change in self._changes_since(number).items()
                if shares_names(path) and path.rpartition("/")[0] == folder
            }
            if all(change.old_id is not None for change in changes.values()):
                continue
            files = self._contents(changes.values())
            back = [_text(file.old) for file in files if file.old is not None and references.get(file.path) == number]
            for file in files:
                if file.old is None and file.new is not None and declare_the_same(back, _text(file.new)):
                    yield EarlierFile(changes[file.path].path, None, None, number)

    def _affected_test_files(self, earlier: Iterable[EarlierFile]) -> set[str] | None:
        """Return the test files whose outcome the earlier files may change, None for all."""
        concerned: set[str] = set()
        for each in earlier:
            path = as_utf8(each.path)
            kind = kind_of_file(path)
            if each.object_id is None:
                continue
            if kind == "test":
                concerned.add(path)
            elif kind in {"support", "data"}:
                below = self._test_files_near(path)
                if not below:
                    return None
                concerned |= below
            else:
                return None
        return concerned

    def _test_files_near(self, path: str) -> set[str]:
        """Return the test files below the nearest parent folder that has any."""
        folder = path.rpartition("/")[0]
        while folder:
            found = {each for each in self._test_files if each.startswith(f"{folder}/")}
            if found:
                return found
            folder = folder.rpartition("/")[0]
        return set()

    @cached_property
    def _test_files(self) -> frozenset[str]:
        """Return the test files of this tree, and earlier ones that are gone from it."""
        gone = (path for path in self._state.lineage.references if kind_of_file(path) == "test")
        changed = (as_utf8(change.path) for change in self._kept.changed)
        paths = map(as_utf8, self._iteration_files.store.paths(self._kept.snapshot.tree))
        there = (path for path in (*paths, *changed) if kind_of_file(path) == "test")
        return frozenset((*gone, *there))

    # What the runs show.

    def _rerun_earlier(
        self,
        earlier: list[EarlierFile],
        references: Mapping[str, int],
        matches: Mapping[str, tuple[str, ...]],
        found: Iterable[Finding],
    ) -> tuple[RerunFindings, list[tuple[TestResults, Rerun]]]:
        """Return what earlier tests show on this source, and the runs; without runs, what outcomes alone show."""
        runs: list[tuple[TestResults, Rerun]] = []
        if earlier and self._runner is not None and self._tests is not None:
            ran = self._runner.run(
                self._kept.snapshot.tree, earlier, self._affected_test_files(earlier), self._reported
            )
            runs.append((ran.tests, ran.rerun))
            if ran.rerun.problem is not None:
                return RerunFindings(), runs
        put_back = frozenset(runs[0][1].references) if runs else frozenset()
        # A file was edited from its reference form by the next iteration in the lineage.
        numbers = [each for first, last in self._state.lineage.segments for each in range(first, last + 1)]
        numbers.append(self._state.iteration + 1)
        run = RerunInputs(
            number=self._state.iteration + 1,
            old=self._last_seen,
            new=self._reported,
            earlier=runs[0][0] if runs else TestResults({}),
            matches=matches,
            references={path: references[path] for path in put_back if path in references},
            edited_in={path: next(each for each in numbers if each > number) for path, number in references.items()},
            settings=frozenset(path for path in put_back if kind_of_file(path) in {"settings", None}),
            hooked=frozenset(each.file for each in found if each.rule == "R2") & put_back,
            file_of=self._file_of,
            missing=self._missing_name,
            source_changed=self._source_changed,
            raised={
                (each.rule, test): alert.iteration
                for alert in self._state.lineage.open_alerts
                for each in alert.findings
                for test in each.tests
            },
        )
        shown = findings_of_rerun(run) if runs else RerunFindings()
        told = {test for each in (*shown.findings, *self._open) for test in each.tests}
        unasked = (
            None if self._tests is None else hidden_failures_without_rerun(run, self._state.known.present.keys() - told)
        )
        return shown if unasked is None else shown._replace(findings=(*shown.findings, unasked)), runs

    @cached_property
    def _last_seen(self) -> Mapping[str, str]:
        """Return the last reported outcome of each test in the lineage, by its reported name."""
        known = self._state.known
        return {**known.gone, **known.present} if known.gone else known.present

    @cached_property
    def _reported(self) -> Mapping[str, str]:
        """Return the outcomes of this iteration; a test whose file does not load counts as failing."""
        now = {} if self._tests is None else dict(self._tests.outcomes)
        if self._not_loaded:
            lost = (name for name in self._last_seen if name not in now)
            now.update((name, FAILED) for name in lost if belongs_to_any(name, self._not_loaded))
        return now

    def _file_of(self, test: str) -> str | None:
        return self._files_of_tests.get(test)

    @cached_property
    def _files_of_tests(self) -> Mapping[str, str | None]:
        from ralph_tracker.integrity.report_ids import files_of  # noqa: PLC0415  # only after a re-run

        tests, paths = {*self._last_seen, *self._reported}, sorted(self._test_files)
        found = files_of(tests, paths)
        return files_of(tests, paths, self._edited_tests) if None in found.values() else found

    @cached_property
    def _edited_tests(self) -> "list[SourceTest]":
        """Return the old and new tests of the test files that differ from their reference form."""
        numbers = {*self._state.lineage.references.values(), *(each.against for each in self._open)}
        numbers.add(self._state.lineage.head or 0)
        changes = {
            change: None
            for number in sorted(each for each in numbers if each is not None)
            for path, change in self._changes_since(number).items()
            if kind_of_file(path) == "test"
        }
        contents = self._contents(changes)
        return [
            test
            for file in contents
            for data in (file.old, file.new)
            if data is not None
            for test in tests_of(file.path, _text(data))
        ]

    def _missing_name(self, failure: str) -> str | None:
        """Return a name in a failure that the source used to have and no longer has, None if there is none."""
        names = missing_names(failure)
        if not names:
            return None
        before, after = self._source_texts
        return next((name for name in names if gone_from_source(name, before, after)), None)

    @cached_property
    def _source_texts(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return the changed source, old and new, since the earliest reference."""
        numbers = {*self._state.lineage.references.values(), self._state.lineage.head or 0}
        changes = [each for path, each in self._changes_since(min(numbers)).items() if not self._decides(path)]
        contents = self._contents(changes)
        before = [(file.path, _text(file.old)) for file in contents if file.old is not None]
        return before, [(file.path, _text(file.new)) for file in contents if file.new is not None]

    @property
    def _source_changed(self) -> bool:
        return any(not self._decides(as_utf8(change.path)) for change in self._kept.changed)

    def _recheck_open_findings(
        self, reruns: list[tuple[TestResults, Rerun]], earlier: list[EarlierFile]
    ) -> tuple[list[Finding], list[Rerun]]:
        """Check each open finding again, by running its tests or by looking for its line."""
        still = [each for each in self._open if each.rule in _STANDS_WITH_ITS_LINE and self._line_exists(each)]
        asked = [each for each in self._open if each.rule in RERUN_RULES]
        if not asked:
            return still, []
        if self._runner is None or self._tests is None:
            return [*still, *asked], []
        more: list[Rerun] = []
        for number in sorted({each.against or 0 for each in asked}):
            of_it = [each for each in asked if (each.against or 0) == number]
            own = {file for each in of_it for test in each.tests if (file := self._file_of(test)) is not None}
            own |= {each.file for each in of_it}
            if any(self._file_of(test) is None for each in of_it for test in each.tests):
                own |= {path for path in self._changes_since(number) if kind_of_file(path) == "test"}
            # The tests of the findings are put back, and the related files of that time.
            beside = [
                path
                for path in self._changes_since(number)
                if path in own or kind_of_file(path) in {"support", "data", "settings"}
            ]
            again = list(self._earlier(dict.fromkeys(beside, number)))
            if not again:
                continue  # the tests are in their earlier form, so the report itself answers it
            if again == earlier and reruns:
                ran_tests, rerun = reruns[0]
            else:
                files = {path for path in own if kind_of_file(path) == "test"}
                ran = self._runner.run(self._kept.snapshot.tree, again, files or None)
                ran_tests, rerun = ran.tests, ran.rerun
                more.append(rerun)
            if rerun.problem is not None:
                still += of_it
            else:
                still += [
                    left for each in of_it if (left := still_failing(each, ran_tests, self._reported)) is not None
                ]
        return still, more

    def _line_exists(self, finding: Finding) -> bool:
        """Return whether the line that a rule named still exists; an unchanged file has it."""
        change = self._changes_since(self._state.lineage.head or 0).get(finding.file)
        if change is None:
            return True
        if change.new_id is None:
            return False
        if finding.new is None:
            return True
        text = _text(self._iteration_files.store.contents([change.new_id])[change.new_id])
        return _one_line(finding.new).rstrip("…") in _one_line(text)

    # Rules, matches and records.

    def _inspect_change(self) -> tuple[tuple[Finding, ...], Mapping[SuppressionKind, int], Mapping[str, str]]:
        """Return what our rules or another tool find in the change, and what could not be read."""
        from ralph_tracker.integrity.diff_inspection import inspect  # noqa: PLC0415  # only if something changed

        changes = self._contents(self._kept.changed)
        if not changes:
            return (), {}, {}
        inspection = inspect(changes, self._before, self._reported, self._unchanged_tests())
        if self._tool is None:
            return inspection.findings, inspection.suppressions, inspection.unread
        from ralph_tracker.integrity.external_findings import read  # noqa: PLC0415  # only if another tool is used

        name, judged = self._tool
        if not isinstance(judged, bytes):
            return self._open, inspection.suppressions, {name: judged or "no check of kind integrity has a report"}
        try:
            found = read(name, judged, {*self._state.known.present, *self._reported})
        except InputError as error:
            return self._open, inspection.suppressions, {name: str(error)}
        return found, inspection.suppressions, {}

    @cached_property
    def _before(self) -> Mapping[str, str]:
        """Return the previous outcomes; a test that was not believed counts as not passed."""
        disbelieved = dict.fromkeys((test for each in self._open for test in each.disbelieved), FAILED)
        return {**self._last_seen, **disbelieved} if disbelieved else self._last_seen

    def _unchanged_tests(self) -> dict[str, str]:
        """Return the unchanged test files' texts that have a test that newly passes."""
        now = self._reported
        green = [test for test, how in self._before.items() if how == FAILED and now.get(test) == PASSED]
        if not green or not self._source_changed:
            return {}
        changed = {as_utf8(change.path) for change in self._kept.changed}
        files = {file for test in green if (file := self._file_of(test)) is not None and file not in changed}
        tree = self._kept.snapshot.tree
        return {file: _text(self._iteration_files.store.read(tree, file)[:MAX_BYTES]) for file in sorted(files)}

    def _matches(self) -> Mapping[str, tuple[str, ...]]:
        """Return, for each missing test, the tests that may replace it."""
        if self._tests is None:
            return {}
        before, now = {**self._state.lineage.not_collected_before, **self._state.known.present}, self._reported
        gone = {test: how for test, how in before.items() if test not in now}
        if not gone:
            return {}
        from ralph_tracker.integrity.matched_tests import matches  # noqa: PLC0415  # only if tests are missing

        added = {test: how for test, how in now.items() if test not in before}
        files = self._contents(self._kept.changed)
        old = [test for file in files if file.old is not None for test in tests_of(file.path, _text(file.old))]
        new = [test for file in files if file.new is not None for test in tests_of(file.path, _text(file.new))]
        return dict(matches(gone, added, old, new, before.keys() & now.keys()))

    def _contents(self, changes: Iterable[Change]) -> list[FileVersions]:
        return changed_files(self._iteration_files, changes)

    def _not_parted(self) -> dict[str, str]:
        """Return which changed files mix tests with source, so that their earlier tests cannot be run alone."""
        if self._runner is None:
            return {}
        sources = [
            each for each in self._kept.changed if each.old_id is not None and not self._decides(as_utf8(each.path))
        ]
        told = {}
        mixing = [each for each in sources if language_of(as_utf8(each.path)) in _BESIDE_SOURCE]
        if not mixing:
            return {}
        for file in self._contents(mixing):
            old, new = (
                set() if data is None else {test.text for test in tests_of(file.path, _text(data))}
                for data in (file.old, file.new)
            )
            why = why_inseparable(file.path, _text(file.old or b"")) if old - new else None
            if why is not None:
                told[file.path] = why
        return told

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


def _text(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
