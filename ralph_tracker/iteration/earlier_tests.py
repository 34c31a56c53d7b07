"""Run earlier tests on the source of an iteration, in a scratch copy; the working tree is not touched."""

import os
import shutil
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from ralph_tracker.core.integrity_result import Rerun
from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.core.metrics import FAILED, PASSED, Group, TestResults
from ralph_tracker.errors import RalphTrackerError, StoreError
from ralph_tracker.measure.limit_to_test_files import limited_to_files
from ralph_tracker.measure.linked_environments import link_environments
from ralph_tracker.measure.report_totals import measured_kind, read_results
from ralph_tracker.measure.run_checks import Check, command_text, environment_for_checks, run_checks
from ralph_tracker.measure.scratch import scratch_folder
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.snapshots.snapshot_types import EXEC_MODE, LINK_MODE

BUILDS: Final = "rerun-builds"
RERUN: Final = "rerun"
NOT_RUN: Final = "earlier tests could not be run: {why}"


class EarlierFile(NamedTuple):
    """An earlier form of a file: its path relative to the root, git's mode, its content in the store.

    Mode and id are None for a file that did not exist, which is removed. `content` overrides the earlier content if
    only a part of the file is put back.
    """

    path: str
    mode: str | None
    object_id: str | None
    iteration: int
    content: bytes | None = None


class RerunResult(NamedTuple):
    """The results of the earlier files' tests by id (empty if there are none), and how the run went."""

    tests: TestResults
    rerun: Rerun


class Runner(Protocol):
    """A runner of earlier files on the source of an iteration; tests pass a fake one."""

    def run(
        self,
        tree: str,
        earlier: Sequence[EarlierFile],
        files: Collection[str] | None,
        reported: Mapping[str, str] | None = None,
    ) -> RerunResult:
        """Run the test files on that source, all if `files` is None. Never raises because of what the tests do.

        Tests that fail, but not in `reported`, are run again to recognize flaky ones; with None, none are.
        """
        ...


class ScratchRunner(NamedTuple):
    """A runner that uses the loop's own test checks in a copy of the iteration's tree.

    `timeout_s` limits each check; reports and output are kept in `kept`, unless that is None. `same_source` is whether
    the working tree has that iteration's source. `home` is the folder whose environments are lent, None for the
    project's own.
    """

    iteration_snapshots: IterationSnapshots
    checks: tuple[Check, ...]
    environment: Mapping[str, str]
    timeout_s: float
    kept: Path | None = None
    same_source: bool = True
    home: Path | None = None

    def run(
        self,
        tree: str,
        earlier: Sequence[EarlierFile],
        files: Collection[str] | None,
        reported: Mapping[str, str] | None = None,
    ) -> RerunResult:
        """Run the earlier files over the tree."""
        started = time.monotonic()
        rerun = Rerun(
            references={each.path: each.iteration for each in earlier},
            files=tuple(sorted(files or ())),
            whole=files is None,
        )
        try:
            tests, rerun = self._run(tree, earlier, files, rerun)
            failing = {test for test, how in tests.outcomes.items() if how == FAILED}
            if reported is not None and any(reported.get(test) != FAILED for test in failing):
                again, _ = self._run(tree, earlier, files, rerun)
                flaky = {test for test in failing if again.outcomes.get(test) == PASSED}
                tests = tests._replace(outcomes={**tests.outcomes, **dict.fromkeys(flaky, PASSED)})
                rerun = rerun._replace(flaky=tuple(sorted(flaky)), failed=len(failing - flaky))
                rerun = rerun._replace(problem=self._only_here(tree, files, reported, failing - flaky))
        except (RalphTrackerError, OSError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or error
            tests, rerun = TestResults({}), rerun._replace(problem=NOT_RUN.format(why=why))
        return RerunResult(tests, rerun._replace(duration_s=round(time.monotonic() - started, 3)))

    def _run(
        self, tree: str, earlier: Sequence[EarlierFile], files: Collection[str] | None, rerun: Rerun
    ) -> tuple[TestResults, Rerun]:
        with scratch_tree(self.iteration_snapshots, tree) as (folder, copy):
            environment = linked_environments(
                self.iteration_snapshots,
                copy,
                self.checks,
                self.environment,
                same_source=self.same_source,
                home=self.home,
            )
            write_earlier(copy, earlier, self.iteration_snapshots)
            limited = [self._limit_check(check, files, copy) for check in needed_checks(self.checks)]
            results = run_checks(
                [check for check, _ in limited],
                root=copy,
                folder=folder / "output",
                reports=folder / "reports",
                environment=environment_for_checks(environment, self.iteration_snapshots.paths.root),
            )
            measured = read_results(results, root=copy)
            if self.kept is not None:
                place = self.kept / RERUN
                place.mkdir(parents=True, exist_ok=True)
                place /= str(sum(1 for _ in place.iterdir()) + 1)
                for name in ("output", "reports"):
                    shutil.copytree(folder / name, place / name, symlinks=True)
        rerun = rerun._replace(
            whole=files is None or any(whole for check, whole in limited if measured_kind(check) == Group.TESTS),
            commands=tuple(command_text(check) for check, _ in limited),
        )
        tests = measured.tests or TestResults({})
        tests = tests._replace(not_loaded={**tests.not_loaded, **measured.not_loaded})
        if not tests.outcomes and not tests.not_loaded:
            why = measured.missing.get(Group.TESTS) or "the run reported no test"
            return tests, rerun._replace(problem=NOT_RUN.format(why=why))
        failed = sum(how == FAILED for how in tests.outcomes.values())
        return tests, rerun._replace(tests=len(tests.outcomes), failed=failed)

    def _only_here(
        self, tree: str, files: Collection[str] | None, reported: Mapping[str, str], failing: Collection[str]
    ) -> str | None:
        """Return which tests pass in the project but fail in an unchanged copy, so that a copy proves nothing."""
        if all(reported.get(test) == FAILED for test in failing):
            return None
        as_it_is, _ = self._run(tree, (), files, Rerun(references={}, files=()))
        astray = [test for test, how in as_it_is.outcomes.items() if how == FAILED and reported.get(test) == PASSED]
        if not astray:
            return None
        return NOT_RUN.format(why=f"in a copy of the project these fail, and pass in it: {names_in_short(astray)}")

    def _limit_check(self, check: Check, files: Collection[str] | None, copy: Path) -> tuple[Check, bool]:
        check = check._replace(timeout_s=min(check.timeout_s, self.timeout_s))
        if files is None or measured_kind(check) != Group.TESTS:
            return check, True
        there = sorted(file for file in files if (copy / file).is_file())
        limited = limited_to_files(check, there, copy)
        return limited.check, limited.whole


@contextmanager
def scratch_tree(iteration_snapshots: IterationSnapshots, tree: str) -> Iterator[tuple[Path, Path]]:
    """Write a kept tree into a temporary folder; yield that folder and the copy in it, and delete both afterwards.

    Raises StoreError if the folder would lie in the project, or the disk refuses.
    """
    root = iteration_snapshots.paths.root
    with scratch_folder(root) as folder:
        copy = folder / "copy" / root.name  # some tools use the folder's name
        iteration_snapshots.store.export(tree, copy)
        yield folder, copy


def linked_environments(
    iteration_snapshots: IterationSnapshots,
    copy: Path,
    checks: Sequence[Check],
    environment: Mapping[str, str],
    *,
    same_source: bool,
    home: Path | None = None,
) -> dict[str, str]:
    """Lend the environments of `home`, None for the project, to a scratch tree; builds are cached beside the loop."""
    return link_environments(
        home or iteration_snapshots.paths.root,
        copy,
        checks,
        environment,
        same_source=same_source,
        builds=iteration_snapshots.paths.folder / BUILDS,
    )


def needed_checks(checks: Sequence[Check]) -> list[Check]:
    """Return the test checks and the checks they need, in order."""
    by_name = {check.name: check for check in checks}
    wanted = [check.name for check in checks if measured_kind(check) == Group.TESTS and check.held_back is None]
    found: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += by_name[name].needs
    return [check for check in checks if check.name in found]


def write_earlier(copy: Path, earlier: Sequence[EarlierFile], iteration_snapshots: IterationSnapshots) -> None:
    """Write earlier files over a copy of a tree. Raises StoreError if a link is in the way."""
    contents = iteration_snapshots.store.contents(each.object_id for each in earlier if each.object_id is not None)
    for each in earlier:
        path = copy / each.path
        if any(parent.is_symlink() for parent in path.parents if parent.is_relative_to(copy)):
            raise StoreError(f"{each.path}: lies behind a symbolic link now; its earlier form cannot be put back")
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.is_dir():
            shutil.rmtree(path)
        if each.object_id is None:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        data = contents[each.object_id] if each.content is None else each.content
        if each.mode == LINK_MODE:
            path.symlink_to(os.fsdecode(data))
        else:
            path.write_bytes(data)
            path.chmod(0o755 if each.mode == EXEC_MODE else 0o644)
