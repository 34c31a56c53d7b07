"""Find out what the tests notice: small errors are put into the lines that a loop changed, one at a time, in copies."""

import json
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from hashlib import blake2b
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

from ralph_tracker.codec import ValueObject
from ralph_tracker.core.metrics import PASSED, Group, TestResults
from ralph_tracker.errors import InputError, LoopError
from ralph_tracker.formats.mutation_reports import Mutant
from ralph_tracker.integrity.deciding_files import is_code, kind_of_file
from ralph_tracker.integrity.file_versions import ChangedFile, added_lines, read
from ralph_tracker.iteration.earlier_tests import scratch_tree
from ralph_tracker.iteration.file_forms import changed_files
from ralph_tracker.iteration.repeat_failing import file_or_suite
from ralph_tracker.iteration.small_errors import SmallError, small_errors
from ralph_tracker.measure.limit_to_test_files import limited_to_files
from ralph_tracker.measure.linked_environments import link_environments
from ralph_tracker.measure.report_totals import CheckTotals, measured_kind, needed_checks, read_results
from ralph_tracker.measure.run_checks import (
    Check,
    CheckResult,
    configured_checks,
    environment_for_checks,
    run_checks,
)
from ralph_tracker.measure.tree_metrics import covered_lines
from ralph_tracker.safe_files import read_regular
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.write import LoopStore

# What a run may take that an error has made slower: so many times what it takes without, and some seconds.
_SLOWER, _MORE_S = 3.0, 2.0
Reach = Mapping[str, Mapping[int, frozenset[str]]]
T = TypeVar("T")


class Missed(NamedTuple):
    """An error that no test notices: its place, the text there, and the text in its place."""

    file: str
    line: int
    old: str
    new: str


class FileStrength(NamedTuple):
    """How many errors in a file were tried, and how many of them a test noticed."""

    tried: int
    noticed: int


class Strength(ValueObject, shown="iteration tried noticed"):
    """What the tests of an iteration notice of errors in the lines that differ from `since` (None: in all lines).

    `tried` errors were put in, one at a time. `unreached` are in lines that no test runs, `left` those for which there
    was no time. `added` counts the tests that `since` has not, `added_tried` the errors in lines that these reach (all
    where coverage does not say which test reaches a line, `by_test`), `added_noticed` what they noticed of them.
    """

    iteration: int
    since: int | None
    lines: int
    tried: int = 0
    noticed: int = 0
    unreached: int = 0
    left: int = 0
    added: int = 0
    added_tried: int = 0
    added_noticed: int = 0
    by_test: bool = False
    seconds: float = 0.0
    missed: tuple[Missed, ...] = ()
    files: Mapping[str, FileStrength] = {}

    def event(self) -> dict[str, Any]:
        """Return what is kept of it in the loop's log."""
        counts = ("tried", "noticed", "unreached", "added", "added_tried", "added_noticed", "by_test")
        return {
            "event": "strength",
            **{name: getattr(self, name) for name in ("iteration", "since", *counts)},
            "missed": [f"{each.file}:{each.line}: {' → '.join(filter(None, each[2:]))}" for each in self.missed[:5]],
        }


class _Limits(NamedTuple):
    """Until when errors are tried (monotonic), how long a run takes, and how long one may take with an error."""

    until: float
    usual_s: float
    longest_s: float


class _Tried(NamedTuple):
    error: SmallError
    noticed_by: frozenset[str]
    noticed: bool


class _Copy:
    """A copy of a tree in which the tests run."""

    def __init__(self, folder: Path, copy: Path, checks: Sequence[Check], environment: Mapping[str, str]) -> None:
        self._folder, self.copy, self._checks, self._environment = folder, copy, checks, environment
        self._runs = 0

    def run(self, checks: Sequence[Check]) -> tuple[Sequence[CheckResult], CheckTotals]:
        self._runs += 1
        results = run_checks(
            checks,
            root=self.copy,
            folder=self._folder / f"output{self._runs}",
            reports=self._folder / f"reports{self._runs}",
            environment=self._environment,
        )
        return results, read_results(results, root=self.copy)

    def try_error(
        self, error: SmallError, files: Collection[str], before: TestResults, timeout_s: float, left_s: float
    ) -> _Tried | None:
        """Return what notices an error; None for one that a compiler notices, or that needs more time than is left."""
        place = self.copy / error.path
        whole = place.read_bytes()
        checks = []
        for check in needed_checks(self._checks):
            tests = measured_kind(check) == Group.TESTS
            limited = limited_to_files(check, sorted(files), self.copy).check if files and tests else check
            checks.append(limited._replace(timeout_s=min(limited.timeout_s, timeout_s, left_s)))
        try:
            place.write_bytes(error.text.encode("utf-8", "surrogateescape"))
            results, measured = self.run(checks)
        finally:
            place.write_bytes(whole)
        after = {} if measured.tests is None else measured.tests.outcomes
        if any(result.finished.timed_out for result in results):
            return None if left_s < timeout_s else _Tried(error, frozenset(), noticed=True)
        if not after and not error.path.endswith(".py"):
            return None  # it does not compile
        passed = [test for test, how in before.outcomes.items() if how == PASSED and after.get(test) != PASSED]
        by = frozenset(test for test in passed if not files or file_or_suite(self.copy, test) in files)
        return _Tried(error, by, noticed=bool(by))


def strength_of(
    loop: ConfiguredLoop,
    number: int,
    since: int | None,
    environment: Mapping[str, str],
    *,
    seconds: float,
    jobs: int,
) -> Strength:
    """Try errors in the lines in which an iteration differs from `since` (None: in all lines), within a time.

    Raises InputError where metrics are handed in or no test passes in a copy, NoSnapshotError without files.
    """
    if loop.origin == "given":
        raise InputError("strength runs the loop's tests, and this loop's metrics are handed in")
    started = time.monotonic()
    snapshots = IterationSnapshots(loop.store)
    tree, checks = snapshots.tree(number), configured_checks(loop.config.document)
    places = _source_lines(snapshots, tree) if since is None else _changed_lines(snapshots, since, tree)
    with ExitStack() as stack:
        copies = [_copy_of(stack, snapshots, tree, checks, environment, number) for _ in range(jobs if places else 1)]
        first = copies[0]
        names = [check.name for check in checks if measured_kind(check) in {Group.TESTS, Group.COVERAGE}]
        began = time.monotonic()
        results, measured = first.run(needed_checks(checks, names))
        took = time.monotonic() - began
        tests = measured.tests
        if tests is None or PASSED not in tests.outcomes.values():
            why = measured.missing.get(Group.TESTS) or "no test passes there"
            raise LoopError(f"iteration {number}: its tests do not run in a copy: {why}")
        covered, reach = covered_lines(measured.coverage, first.copy), _reach(results, tests)
        errors = [error for path, at in places.items() for error in _errors_in(first.copy, path, at)]
        reached = [each for each in errors if _nearest(covered.get(each.path, {}), each.line, default=True)]
        limits = _Limits(started + seconds, took, took * _SLOWER + _MORE_S)
        tried = _try_all(copies, _in_turn(reached), reach, tests, limits)
    earlier = None if since is None else loop.store.measurement(since)
    known = set() if earlier is None or earlier[0].tests is None else set(earlier[0].tests.outcomes)
    added = {test for test, how in tests.outcomes.items() if how == PASSED and test not in known}
    asked = [each for each in tried if not reach or added & _tests_at(reach, each.error)]
    files = {path: [each for each in tried if each.error.path == path] for path in sorted(places)}
    return Strength(
        iteration=number,
        since=since,
        lines=sum(map(len, places.values())),
        tried=len(tried),
        noticed=sum(each.noticed for each in tried),
        unreached=len(errors) - len(reached),
        left=len(reached) - len(tried),
        added=0 if since is None else len(added),
        added_tried=len(asked) if since is not None and added else 0,
        added_noticed=sum(bool(each.noticed_by & added) for each in asked) if since is not None else 0,
        by_test=bool(reach),
        seconds=round(time.monotonic() - started, 1),
        missed=tuple(
            Missed(each.path, each.line, each.old, each.new)
            for each in sorted(one.error for one in tried if not one.noticed)
        ),
        files={path: FileStrength(len(own), sum(each.noticed for each in own)) for path, own in files.items() if own},
    )


def strength_as_reported(store: LoopStore, number: int, since: int | None, mutants: Iterable[Mutant]) -> Strength:
    """Return what a mutation tool's report says of the lines in which an iteration differs (None: of all lines).

    It names no test, so nothing is `added`. Raises InputError where it has no error in these lines.
    """
    snapshots = IterationSnapshots(store)
    tree, root = snapshots.tree(number), f"{snapshots.paths.root}/"
    places = _source_lines(snapshots, tree) if since is None else _changed_lines(snapshots, since, tree)
    texts = _texts(snapshots, tree)
    named = [_placed(each._replace(file=each.file.removeprefix(root)), texts) for each in mutants]
    found = [each for each in named if each.line in places.get(each.file, ())]
    if not found:
        raise InputError(
            f"none of its {len(named)} errors is in these lines; it has to be of iteration {number}'s files"
        )
    ran = [each for each in found if each.fate != "unreached"]
    by_file = {path: [each.fate for each in ran if each.file == path] for path in sorted(places)}
    return Strength(
        iteration=number,
        since=since,
        lines=sum(map(len, places.values())),
        tried=len(ran),
        noticed=sum(each.fate == "noticed" for each in ran),
        unreached=len(found) - len(ran),
        missed=tuple(Missed(*each[:4]) for each in sorted(ran) if each.fate == "missed"),
        files={path: FileStrength(len(own), own.count("noticed")) for path, own in by_file.items() if own},
    )


def _changed_lines(snapshots: IterationSnapshots, since: int, tree: str) -> dict[str, frozenset[int]]:
    """Return the lines of source that are new since an iteration, by path."""
    read_files = map(read, changed_files(snapshots, snapshots.changes_since(since, tree)))
    files = [file for file in read_files if isinstance(file, ChangedFile)]
    source = {file.path for file in files if file.is_source}
    return {path: lines for path, lines in added_lines(files).items() if path in source}


def _source_lines(snapshots: IterationSnapshots, tree: str) -> dict[str, range]:
    """Return all lines of the source files of a tree, by path."""
    texts = _texts(snapshots, tree)
    return {path: range(1, text.count(b"\n") + 2) for path, text in texts.items() if kind_of_file(path) is None}


def _texts(snapshots: IterationSnapshots, tree: str) -> dict[str, bytes]:
    """Return the files of a tree that are code, by path."""
    code = [each for each in snapshots.store.changes(None, tree) if is_code(each.path)]
    texts = snapshots.store.contents(each.new_id for each in code if each.new_id)
    return {each.path: texts[each.new_id] for each in code if each.new_id in texts}


def _placed(mutant: Mutant, texts: Mapping[str, bytes]) -> Mutant:
    """Return an error with the path of its file in the tree, and its line in the file."""
    file = mutant.file
    if file.startswith("**/"):
        file = next((path for path in texts if f"/{path}".endswith(file[2:])), file)
    if not mutant.within:
        return mutant._replace(file=file)
    names, text, at = mutant.within.split("."), texts.get(file, b"").decode("utf-8", "replace"), 0
    for word, name in zip(("class", "def")[-len(names) :], names, strict=False):
        found = re.compile(rf"^(?:[ \t]*@.*\n)*[ \t]*(?:async )?{word} {re.escape(name)}\b", re.MULTILINE).search(
            text, at
        )
        at = at if found is None else found.start()
    return mutant._replace(file=file, line=text.count("\n", 0, at) + mutant.line)


def _copy_of(
    stack: ExitStack,
    snapshots: IterationSnapshots,
    tree: str,
    checks: Sequence[Check],
    environment: Mapping[str, str],
    number: int,
) -> _Copy:
    root = snapshots.paths.root
    folder, copy = stack.enter_context(scratch_tree(snapshots, tree))
    variables = link_environments(root, copy, checks, environment, same_source=snapshots.is_in_place(number))
    return _Copy(folder, copy, checks, environment_for_checks({**variables, "CI": "1"}, root))


def _errors_in(copy: Path, path: str, lines: Collection[int]) -> tuple[SmallError, ...]:
    if not (copy / path).resolve().is_relative_to(copy.resolve()):
        return ()  # a link, which may lead to a file of the user
    return small_errors(path, (copy / path).read_bytes().decode("utf-8", "surrogateescape"), lines)


def _in_turn(errors: Iterable[SmallError]) -> list[SmallError]:
    """Return errors so that each line gets one before any gets another, in an order that favours no place."""
    ranked: dict[tuple[str, int], int] = {}
    keyed = []
    for error in sorted(errors, key=lambda each: blake2b(repr(each[:4]).encode()).digest()):
        rank = ranked[error.path, error.line] = ranked.get((error.path, error.line), -1) + 1
        keyed.append((rank, error))
    return [error for _, error in sorted(keyed, key=lambda each: each[0])]


def _try_all(
    copies: Sequence[_Copy],
    errors: Sequence[SmallError],
    reach: Reach,
    tests: TestResults,
    limits: _Limits,
) -> list[_Tried]:
    waiting: SimpleQueue[SmallError] = SimpleQueue()
    for error in errors:
        waiting.put(error)

    def work(copy: _Copy) -> list[_Tried]:
        done = []
        with suppress(Empty):
            while (left_s := limits.until - time.monotonic()) > limits.usual_s:
                error = waiting.get_nowait()
                near = _tests_at(reach, error)
                files = {file_or_suite(copy.copy, test) for test in near}
                tried = copy.try_error(error, files, tests, limits.longest_s, left_s)
                done += [] if tried is None else [tried]
        return done

    with ThreadPoolExecutor(len(copies)) as pool:
        return [each for done in pool.map(work, copies) for each in done]


def _tests_at(reach: Reach, error: SmallError) -> frozenset[str]:
    return _nearest(reach.get(error.path, {}), error.line, default=frozenset())


def _nearest(lines: Mapping[int, T], line: int, default: T) -> T:
    """Return what is known of the statement that a line belongs to: coverage lists the first line of each."""
    first = max((each for each in lines if each <= line), default=None)
    return default if first is None else lines[first]


def _reach(results: Sequence[CheckResult], tests: TestResults) -> Reach:
    """Return the tests that reach each line, where coverage.py's JSON has contexts that name tests; else {}."""
    known: dict[str, list[str]] = {}
    for test in tests.outcomes:
        parts = _plain_name(test).split(".")
        for start in range(max(len(parts) - 1, 1)):  # a context names the module as it was imported
            known.setdefault(".".join(parts[start:]), []).append(test)
        known.setdefault(f"*.{_method(parts)}", []).append(test)
    found: dict[str, dict[int, frozenset[str]]] = {}
    for path, contexts in _contexts(results):
        for line, names in contexts.items():
            plain = [_plain_name(name) for name in names]
            # A context of a method names the class that defines it, and the tests of its subclasses run it, too.
            plain += [f"*.{method}" for name in plain if (method := _method(name.split(".")))]
            near = frozenset(test for name in plain for test in known.get(name, ()))
            if line.isdecimal():
                found.setdefault(path, {})[int(line)] = near
    return found


def _method(parts: Sequence[str]) -> str | None:
    """Return the name of a test that is a method, by its dotted name; None for a function."""
    return parts[-1] if len(parts) > 1 and parts[-2][:1].isupper() else None


def _contexts(results: Sequence[CheckResult]) -> Iterator[tuple[str, Mapping[str, Sequence[str]]]]:
    for result in results:
        for report in result.reports:
            if measured_kind(result.check) == Group.COVERAGE and report.data_path is not None:
                with suppress(ValueError, AttributeError, TypeError, KeyError, OSError, InputError):
                    for path, file in json.loads(read_regular(report.data_path))["files"].items():
                        yield path, file["contexts"]


def _plain_name(test: str) -> str:
    """Return a test's dotted name without parameters: a report and a coverage context spell it in two ways."""
    name = test.partition("|")[0].partition("[")[0]
    return name.replace(".py::", ".").replace("::", ".").replace("/", ".")
