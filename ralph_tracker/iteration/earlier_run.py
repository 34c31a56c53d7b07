"""Find out what the tests of the kept iteration show on the source of this one: the earlier-tests run of integrity.md.

The tests run in their earlier surroundings: with the kept iteration's form of every file that decides about tests,
without those that did not exist in it, and with this iteration's source. Nothing is run where no such file differs.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from ralph_tracker.core.integrity_result import RERUN_RULES, EarlierTests, Finding, Rerun, Severity
from ralph_tracker.core.known_tests import belongs_to_any, group_of
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, TestResults
from ralph_tracker.errors import RalphTrackerError
from ralph_tracker.integrity.deciding_files import kind_of_file
from ralph_tracker.integrity.fates import CaseHistory, Fate, fate, findings_of, still_failing
from ralph_tracker.iteration.deciding_changes import DecidingChanges
from ralph_tracker.iteration.earlier_tests import NOT_RUN, RerunResult, ScratchRunner
from ralph_tracker.iteration.file_forms import EarlierFile, FileForms

_NOTHING_CHANGED: Final = "no file that decides about tests differs"
# Groups of references that are run once more by themselves.
_MOST_GROUPS: Final = 3


class Asked(NamedTuple):
    """What is asked of the earlier tests of an iteration.

    `number` is the iteration, `kept` the one that it is compared with, `head` the one that it descends from. `believed`
    are the tests that passed in the kept one. `before` are the last outcomes in the lineage, failed for a test that is
    not believed, `now` those of this iteration, failed for a test whose file does not load; `last` are the tests of the
    latest report. `references` maps edited test files to the iteration of the form that is still run. `open` are the
    findings that were not ended. `raised` says whether the rules found something in this iteration that is asked, or
    findings are suppressed in a whole file; `doubted` are the tests that pass for a wrong reason by them.
    """

    number: int
    kept: int
    head: int
    believed: frozenset[str]
    before: Mapping[str, str]
    now: Mapping[str, str]
    last: Collection[str]
    references: Mapping[str, int] = {}
    open: tuple[Finding, ...] = ()
    raised: bool = False
    doubted: frozenset[str] = frozenset()


class Shown(NamedTuple):
    """What earlier tests show; `earlier` is None where even the kept iteration's own tree cannot be run.

    `findings` are new, `still` those of earlier iterations that hold on.
    """

    earlier: EarlierTests | None
    findings: tuple[Finding, ...] = ()
    still: tuple[Finding, ...] = ()
    references: Mapping[str, int] = {}
    reruns: tuple[Rerun, ...] = ()


class _EarlierOutcome(NamedTuple):
    """The outcome of the earlier form of a test, None if it did not run; why; and the iteration of the form."""

    outcome: str | None
    why: str
    against: int


class EarlierRun:
    """The earlier tests of one iteration. `commands` are those of the checks.

    `edited_package` returns a file of an installed package that was edited in place: a copy borrows it too, so a test
    that failed and passes there shows nothing. `ignored` are the settings that git ignores and that changed.
    """

    def __init__(
        self,
        asked: Asked,
        files: FileForms,
        runner: ScratchRunner,
        commands: Iterable[str | Sequence[str]],
        edited_package: Callable[[], str | None] = lambda: None,
        ignored: Iterable[str] = (),
    ) -> None:
        self._asked = asked
        self._files = files
        self._runner = runner
        self._find_edited_package = edited_package
        tests = {*asked.believed, *asked.before, *asked.now}
        self._changes = DecidingChanges(files, asked.kept, asked.head, asked.references, tests, commands, ignored)
        self._reruns: list[Rerun] = []
        self._first_forms: list[EarlierFile] = []

    def shown(self, *, standing: bool = True) -> Shown:
        """Return what earlier tests show; without `standing` references alone are no reason to run."""
        asked = self._asked
        references = {path: number for path, number in asked.references.items() if path in self._files.since(number)}
        again = [each for each in asked.open if each.rule in RERUN_RULES]
        need = self._need() | {test for each in again if each.against == asked.kept for test in each.tests}
        watched = references if standing and self._changes.is_source_changed(asked.head) else {}
        answers = self._answers(need, watched) if need or watched else {}
        if answers is None:
            cases = [self._case(test, _EarlierOutcome(None, "", asked.kept)) for test in need]
            left = self._references_after(references, cases, (), ())
            return Shown(None, still=tuple(again), references=left, reruns=tuple(self._reruns))
        told = {(each.rule, test) for each in again for test in each.tests}
        cases = [self._case(test, answer) for test, answer in answers.items()]
        judged = [(case, what) for case in cases if (what := fate(case)) is not None and (what, case.test) not in told]
        fates = self._confirmed(self._without_renamed_failures(judged))
        findings = findings_of(fates, asked.number, source_changed=self._changes.is_source_changed(asked.head))
        still, mended = self._asked_again(again, answers)
        by_fate: dict[Fate, set[str]] = {"held": set(), "retired": set(), "fixed": mended}
        for case, what in fates:
            by_fate.setdefault(what, set()).add(case.test)
        self._retire_expecting_errors(by_fate)
        met, no_gain = self._gains(by_fate, findings, still)
        believed = asked.believed
        return Shown(
            EarlierTests(
                asked.kept,
                held=frozenset(by_fate["held"] & believed),
                retired=frozenset(by_fate["retired"] & believed),
                fixed=frozenset(by_fate["fixed"]),
                met=met,
                no_gain=no_gain,
            ),
            findings,
            tuple(still),
            self._references_after(references, cases, fates, findings),
            tuple(self._reruns),
        )

    # Which tests need an answer, and which files decide about them.

    def _need(self) -> set[str]:
        """Return the tests whose earlier form has to be run."""
        asked = self._asked
        before, now = asked.before, asked.now
        gone = {test for test in asked.believed if now.get(test) in {None, SKIPPED}}
        hidden = {test for test in asked.last if before.get(test) == FAILED and now.get(test) in {None, SKIPPED}}
        if not self._changes.changed:
            return gone | hidden | (self._turned if self._edited_package else set())
        turned = self._turned
        passing = {test for test in asked.believed if now.get(test) == PASSED}
        everywhere = any(map(self._changes.reaches_others, self._changes.changed))
        if everywhere and self._changes.is_source_changed(asked.kept):
            return gone | hidden | turned | passing
        return gone | hidden | turned | {test for test in passing if self._changes.edits(test)[0]}

    @cached_property
    def _turned(self) -> set[str]:
        now, before = self._asked.now, self._asked.before
        return {test for test, how in now.items() if how == PASSED and before.get(test) == FAILED}

    @cached_property
    def _edited_package(self) -> str | None:
        """Return an edited file of an installed package, looked for only where a failing test turned green."""
        return self._find_edited_package() if self._turned else None

    # The runs.

    def _run(
        self, forms: list[EarlierFile], tests: Iterable[str], more: Iterable[str] = (), *, whole: bool = False
    ) -> RerunResult:
        """Run the files of tests, and more files, with these forms over this iteration's source."""
        oldest = min((each.iteration for each in forms), default=self._asked.kept)
        ran = self._runner.run(
            self._files.tree,
            forms,
            None if whole else self._limits(tests, more),
            self._asked.now,
            lost=self._files.since(oldest).values(),
        )
        self._reruns.append(ran.rerun)
        if self._edited_package is None:
            return ran
        shown = {test: how for test, how in ran.tests.outcomes.items() if how == FAILED or test not in self._turned}
        return ran._replace(tests=ran.tests._replace(outcomes=shown))

    def _limits(self, tests: Iterable[str], more: Iterable[str] = ()) -> set[str] | None:
        """Return the files to run for tests; None for all, where a test's is not known."""
        files = set(more)
        for test in tests:
            own = self._changes.own_files(test)
            if not own:
                return None
            files.update(own)
        return files

    def _answers(self, need: set[str], references: Mapping[str, int]) -> dict[str, _EarlierOutcome] | None:
        """Return what the earlier forms show; None where the kept iteration's own tree cannot be run either."""
        kept = self._asked.kept
        forms = self._changes.forms(kept, references)
        if not forms and not self._changes.is_source_changed(kept) and self._edited_package is None:
            return None  # neither tests nor source differ: names alone tell that tests are gone
        if not forms:
            return {test: self._as_reported(test) for test in need}  # nothing is in another form
        self._first_forms = forms
        watched = [path for path in references if kind_of_file(path) == "test"]
        first = self._run(forms, need, watched, whole=len(watched) < len(references))
        answers: dict[str, _EarlierOutcome] = {}
        self._take(first.tests, need, answers, references)
        of_references = first.tests.outcomes.keys() & self._asked.before.keys() - need if references else ()
        also = [test for test in of_references if self._reference_of(test, references) is not None]
        self._take(first.tests, also, answers, references)
        if references:
            self._take_apart(first.tests, answers, references)
        # Where the source lost a name, that is why the file of a test did not load.
        whys = {test: self._why_not_loaded(test, first.tests) for test in need - answers.keys()}
        unexplained = {test for test, why in whys.items() if self._changes.lost(why)[0] != "gone"}
        for other_forms in (self._kept_forms, self._retry_forms):
            left = sorted(unexplained - answers.keys())
            forms = other_forms(left, references) if left else []
            if forms:
                self._take(self._run(forms, left).tests, left, answers, {})
        if need and not answers and first.rerun.problem is not None and not self._kept_runs(need):
            return None
        why = (first.rerun.problem or "").removeprefix(NOT_RUN.format(why=""))
        for test in need - answers.keys():
            answers[test] = _EarlierOutcome(None, self._why_no_answer(test) or whys[test] or why, kept)
        return answers

    def _why_no_answer(self, test: str) -> str:
        edited = self._edited_package is not None and test in self._turned
        return f"{self._edited_package} was edited, and no lock file changed" if edited else ""

    def _as_reported(self, test: str) -> _EarlierOutcome:
        if why := self._why_no_answer(test):
            return _EarlierOutcome(None, why, self._asked.kept)
        now = self._asked.now
        how = PASSED if self._group_goes_on(test, now) else now.get(test)
        return _EarlierOutcome(how if how != SKIPPED else None, "" if how else _NOTHING_CHANGED, self._asked.kept)

    def _take(
        self, ran: TestResults, tests: Iterable[str], answers: dict[str, _EarlierOutcome], references: Mapping[str, int]
    ) -> None:
        """Add what a run shows of tests; one whose parameters are gone with a name fails as its neighbours do."""
        bases = {test.partition("[")[0]: test for test, how in ran.outcomes.items() if how == FAILED}
        for test in tests:
            name = test
            if self._group_goes_on(test, ran.outcomes):
                answers[test] = _EarlierOutcome(PASSED, "", self._asked.kept)
                continue
            if test not in ran.outcomes:
                name = bases.get(test.partition("[")[0], "")
                if self._changes.lost(ran.messages.get(name, ""))[0] is None:
                    continue
            if ran.outcomes[name] != SKIPPED:
                against = self._reference_of(test, references)
                why = ran.messages.get(name, "")
                answers[test] = _EarlierOutcome(
                    ran.outcomes[name], why, self._asked.kept if against is None else against
                )

    def _group_goes_on(self, test: str, outcomes: Mapping[str, str]) -> bool:
        """Return whether a test that is gone was the error that ended its group, which now passes with what follows."""
        group = group_of(test)
        if not group or test in outcomes or self._asked.before.get(test) != FAILED:
            return False
        others = {name: how for name, how in outcomes.items() if name.startswith(f"{group} > ")}
        follows = any(how == PASSED and name not in self._asked.last for name, how in others.items())
        return follows and FAILED not in others.values()

    def _reference_of(self, test: str, references: Mapping[str, int]) -> int | None:
        """Return the iteration whose form of a file that concerns the test is still run; None if there is none."""
        own = self._changes.own_files(test)
        return min((number for path, number in references.items() if self._changes.concerns(path, own)), default=None)

    def _take_apart(
        self, first: TestResults, answers: dict[str, _EarlierOutcome], references: Mapping[str, int]
    ) -> None:
        """Run the references once more, each as its whole iteration had it, whose tests did not run beside others."""
        apart: dict[int, list[str]] = {}
        for test, how in self._asked.now.items():
            numbers = [references[path] for path in self._changes.own_files(test) if path in references]
            if numbers and how == PASSED and test not in answers and test not in first.outcomes:
                apart.setdefault(min(numbers), []).append(test)
        for number, tests in sorted(apart.items())[:_MOST_GROUPS]:
            forms = self._changes.forms(number, {})
            if forms != self._first_forms:
                self._take(self._run(forms, tests).tests, tests, answers, references)

    def _kept_forms(self, tests: list[str], references: Mapping[str, int]) -> list[EarlierFile]:
        """Return the forms of the kept iteration for tests that an older form lacks, and of red ones that it lacks."""
        newer = {
            path: self._asked.head
            for test in tests
            for path in self._changes.own_files(test)
            if self._asked.before.get(test) == FAILED and self._changes.is_newer(path)
        }
        is_older = any(path in references for test in tests for path in self._changes.own_files(test))
        return self._changes.forms(self._asked.kept, newer) if newer or is_older else []

    def _retry_forms(self, _: list[str], references: Mapping[str, int]) -> list[EarlierFile]:
        return self._changes.retry_forms(references)

    def _kept_runs(self, tests: Iterable[str]) -> bool:
        """Return whether the kept iteration's own tree gives a result in a copy."""
        return bool(self._run_elsewhere(self._asked.kept, tests).outcomes)

    def _run_elsewhere(
        self, number: int | None, tests: Iterable[str], forms: Sequence[EarlierFile] = ()
    ) -> TestResults:
        """Run tests in a copy of an iteration's tree, None for this one as it is; no result where that cannot be."""
        files = self._files
        try:
            tree = files.tree if number is None else files.iteration_snapshots.tree(number)
        except RalphTrackerError:
            return TestResults({})
        back = files.iteration_snapshots.store.changes(files.tree, tree) if forms else ()
        # Another file that was edited may decide about these tests as well.
        more = (
            {path for path in self._changes.changed if self._changes.decides.kind(path) == "test"}
            if number is None
            else ()
        )
        return self._runner.run(tree, forms, self._limits(tests, more), lost=back, here=number is None).tests

    # What became of each test.

    def _case(self, test: str, answer: _EarlierOutcome) -> CaseHistory:
        asked = self._asked
        edited, edits = self._changes.edits(test)
        lost, name = self._changes.lost(answer.why) if answer.outcome != PASSED else (None, "")
        if answer.outcome == FAILED and not answer.why:
            lost, name = self._changes.lost_in(test)
        return CaseHistory(
            test=test,
            was=FAILED if asked.before.get(test) == FAILED else PASSED,
            now=asked.now.get(test),
            earlier=answer.outcome,
            against=answer.against,
            file=next(iter(self._changes.own_files(test)), ""),
            edited=edited or answer.against != asked.kept,
            edits=edits,
            why=answer.why,
            lost=lost,
            name=name,
            conditional=asked.now.get(test) == SKIPPED and self._changes.is_conditional(test),
        )

    def _why_not_loaded(self, test: str, ran: TestResults) -> str:
        own = self._changes.own_files(test)
        return next((why for path in own for place, why in ran.not_loaded.items() if belongs_to_any(path, [place])), "")

    def _without_renamed_failures(self, fates: list[tuple[CaseHistory, Fate]]) -> list[tuple[CaseHistory, Fate]]:
        """Return them without failing tests that are gone where as many fail in their file under new names.

        Where fewer do, they may have become one: that is asked, and accuses nobody.
        """
        asked = self._asked
        new = [test for test, how in asked.now.items() if how == FAILED and test not in asked.before]
        if not new:
            return fates
        failing = Counter(path for test in new for path in self._changes.own_files(test))
        hidden = Counter(case.file for case, what in fates if what == "failure_hidden" and case.now is None)
        return [
            (case._replace(may_be_merged=True), what) if failing[case.file] and case.now is None else (case, what)
            for case, what in fates
            if what != "failure_hidden" or case.now is not None or failing[case.file] < hidden[case.file]
        ]

    def _confirmed(self, fates: list[tuple[CaseHistory, Fate]]) -> list[tuple[CaseHistory, Fate]]:
        """Return what is left after failures that prove nothing: in a copy as it is, or by forms that do not fit."""
        doubtful = [case for case, what in fates if what in {"demand_changed", "outcome_forged", "green_by_edit"}]
        kept = self._asked.kept
        passing = [case.test for case in doubtful if case.now == PASSED]
        gone = [case.test for case in doubtful if case.now != PASSED]
        astray = set()
        if passing:
            ran = self._run_elsewhere(None, passing)
            astray |= {test for test in passing if ran.outcomes.get(test) == FAILED}
        if gone:
            ran = self._run_elsewhere(kept, gone)
            astray |= {test for test in gone if ran.outcomes.get(test) == FAILED}
        older = {case.test: case.against for case in doubtful if case.against != kept}
        unfit = set()
        for number in sorted(set(older.values())):
            tests = [test for test, against in older.items() if against == number]
            forms = self._changes.forms(number, {})
            if forms == self._first_forms:
                continue
            if number in sorted(set(older.values()))[:_MOST_GROUPS]:
                ran = self._run(forms, tests).tests
                tests = [test for test in tests if ran.outcomes.get(test) != FAILED]
            unfit.update(tests)
        found = []
        for case, what in fates:
            if case.test in unfit:
                continue
            if case.test in astray:
                other = case._replace(earlier=None, why="in a copy of the project it fails too")
                again = fate(other)
                found += [] if again is None else [(other, again)]
            else:
                found.append((case, what))
        return found

    def _retire_expecting_errors(self, by_fate: dict[Fate, set[str]]) -> None:
        """Retire a test that is gone and expects an error, where what its file imports is gone: any error passes it."""
        retired, held = by_fate["retired"], by_fate["held"]
        places = {path for test in retired for path in self._changes.own_files(test)}
        for test in [test for test in held if test not in self._asked.now]:
            if not places.isdisjoint(self._changes.own_files(test)) and self._changes.expects_error(test):
                held.remove(test)
                retired.add(test)

    def _asked_again(
        self, findings: list[Finding], answers: Mapping[str, _EarlierOutcome]
    ) -> tuple[list[Finding], set[str]]:
        """Return the open findings that still hold, and their tests that pass now for the right reason."""
        still: list[Finding] = []
        mended: set[str] = set()
        for number in sorted({each.against or 0 for each in findings}):
            of_it = [each for each in findings if (each.against or 0) == number]
            tests = {test for each in of_it for test in each.tests}
            if number == self._asked.kept:
                known = {test: answers[test] for test in tests if test in answers}
                ran = TestResults(
                    {test: each.outcome for test, each in known.items() if each.outcome is not None},
                    messages={test: each.why for test, each in known.items() if each.why},
                )
            else:
                forms = self._changes.forms(number, {})
                if forms and not self._files.since(self._asked.head):
                    still += of_it
                    continue
                ran = self._run(forms, tests).tests if forms else TestResults(self._asked.now)
            still += [left for each in of_it if (left := self._left_of(each, ran)) is not None]
            mended |= {
                test for test in tests if ran.outcomes.get(test) == PASSED and self._asked.now.get(test) == PASSED
            }
        return still, mended

    def _left_of(self, finding: Finding, ran: TestResults) -> Finding | None:
        """Return what is left of a finding; a test that is gone with what it called is no question any more."""
        left = still_failing(finding, ran, self._asked.now)
        if left is None or finding.rule != "demand_changed":
            return left
        now, why = self._asked.now, ran.messages
        tests = tuple(test for test in left.tests if test in now or self._changes.lost(why.get(test, ""))[0] != "gone")
        return left._replace(tests=tests) if tests else None

    # Gains, and the references after it.

    def _gains(
        self, by_fate: Mapping[Fate, set[str]], findings: Iterable[Finding], still: Iterable[Finding]
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return the tests in a new form that this iteration's source meets newly, and those that pass for no gain.

        The new form is run on the kept iteration's source, where something is asked and no red test turned green.
        """
        asked = self._asked
        doubted = {test for name in ("green_by_edit", "unproven") for test in by_fate.get(name, ())}
        no_gain = {test for test in doubted if asked.now.get(test) == PASSED}
        is_asked = asked.raised or any(each.severity <= Severity.HIGH for each in (*findings, *still))
        if not is_asked or by_fate["fixed"] - asked.doubted:
            return frozenset(), frozenset(no_gain)
        changed = by_fate.get("demand_changed", set())
        new = {
            test
            for test, how in asked.now.items()
            if how == PASSED
            and (test not in asked.before or asked.before[test] == FAILED or test in changed)
            and not self._changes.changed.keys().isdisjoint(self._changes.own_files(test))
        }
        # As many new names as tests that are gone and could not be run: the same tests under other names.
        named_anew = {test for test in new if test not in asked.before}
        gone = [test for test in by_fate.get("unproven", ()) if test not in asked.now]
        if len(named_anew) <= len(gone):
            no_gain |= named_anew
            new -= named_anew
        forms = list(self._changes.present_forms(asked.number))
        if not new or not forms:
            return frozenset(), frozenset(no_gain)
        ran = self._run_elsewhere(asked.kept, new, forms)
        if not ran.outcomes and not ran.not_loaded:
            return frozenset(), frozenset(no_gain)
        passing = {test for test in new if ran.outcomes.get(test) == PASSED}
        met = {test for test in new - passing if test in asked.before}
        return frozenset(met), frozenset(no_gain - met | passing)

    def _references_after(
        self,
        before: Mapping[str, int],
        cases: Iterable[CaseHistory],
        fates: Iterable[tuple[CaseHistory, Fate]],
        findings: Iterable[Finding],
    ) -> dict[str, int]:
        """Return the references: what was edited while green keeps its older form, until a finding tells of it."""
        kept = self._asked.kept
        green = [
            case
            for case in cases
            if case.now == PASSED and (case.earlier == PASSED or (case.was == PASSED and case.earlier is None))
        ]
        held = {path for case in green for path, how in case.edits.items() if how == "edited"}
        ended = {each.file for each in findings}
        for case, what in fates:
            if what in RERUN_RULES:
                ended |= {case.file, *case.edits}
            elif what == "retired":
                ended.add(case.file)
        if not self._changes.is_source_changed(kept):  # on the same source the earlier form passes, as it did
            held |= {path for path in self._changes.changed if self._changes.is_edited_start_up(path)}
        after = {path: number for path, number in before.items() if path not in ended and path in self._files.ids}
        for path in held - ended - after.keys():
            then, now = self._changes.both_tests(path)
            if self._changes.decides.kind(path) in {"test", "support", "data", None} and not _only_adds(then, now):
                after[path] = kept
        return after


def _only_adds(then: str, now: str) -> bool:
    """Return whether a text has all lines of an earlier one in their order; data in another order is other data."""
    lines = iter(now.splitlines())
    return all(line in lines for line in then.splitlines())
