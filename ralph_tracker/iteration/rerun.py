"""Run earlier tests on the source of an iteration, in a scratch tree: nothing of the working tree is touched."""

import os
import shutil
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from ralph_tracker.core.findings import Rerun
from ralph_tracker.core.identities import names_in_short
from ralph_tracker.core.metrics import FAILED, PASSED, Group, TestResults
from ralph_tracker.errors import RalphTrackerError, StoreError
from ralph_tracker.measure.checks import Check, command_text, environment_for_checks, run_checks
from ralph_tracker.measure.environment import without_ours
from ralph_tracker.measure.results import kind_of, read_results
from ralph_tracker.measure.scratch import link_environments, scratch_folder
from ralph_tracker.measure.test_selection import narrowed
from ralph_tracker.store.iteration_files import IterationFiles
from ralph_tracker.store.snapshots.values import EXEC_MODE, LINK_MODE

BUILDS: Final = "rerun-builds"
RERUN: Final = "rerun"
NOT_RUN: Final = "earlier tests could not be run: {why}"


class EarlierFile(NamedTuple):
    """The earlier form of a file: its path relative to the root, git's mode, its content in the store.

    Mode and id are None for a file that was not there: it is taken away. `content` is written in place of the earlier
    one where only a part of it is put back.
    """

    path: str
    mode: str | None
    object_id: str | None
    iteration: int
    content: bytes | None = None


class RerunResult(NamedTuple):
    """What a re-run gave: the tests of the earlier files by id (empty where there is none), and how it went."""

    tests: TestResults
    rerun: Rerun


class Runner(Protocol):
    """Run earlier forms of files on the source of an iteration; a test passes in its own."""

    def run(
        self,
        tree: str,
        earlier: Sequence[EarlierFile],
        files: Collection[str] | None,
        reported: Mapping[str, str] | None = None,
    ) -> RerunResult:
        """Run the test files over that source, all where `files` is None. Never raises for what the tests do.

        What fails and is not `reported` to fail is run a second time, to tell flaky tests apart; None: nothing is.
        """
        ...


class ScratchRunner(NamedTuple):
    """Run them with the loop's own checks of kind tests, in a copy of the iteration's tree.

    `timeout_s` bounds each check of a re-run; its reports and output are left in `kept`, None for nowhere.
    `same_source` says that the working tree holds the source of that iteration.
    """

    keeper: IterationFiles
    checks: tuple[Check, ...]
    environment: Mapping[str, str]
    timeout_s: float
    kept: Path | None = None
    same_source: bool = True

    def run(
        self,
        tree: str,
        earlier: Sequence[EarlierFile],
        files: Collection[str] | None,
        reported: Mapping[str, str] | None = None,
    ) -> RerunResult:
        """Run the earlier forms of files over the tree."""
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
            tests, rerun = TestResults({}), rerun._replace(problem=_told(error))
        return RerunResult(tests, rerun._replace(duration_s=round(time.monotonic() - started, 3)))

    def _run(
        self, tree: str, earlier: Sequence[EarlierFile], files: Collection[str] | None, rerun: Rerun
    ) -> tuple[TestResults, Rerun]:
        with scratch_tree(self.keeper, tree) as (folder, copy):
            environment = lent(self.keeper, copy, self.checks, self.environment, same_source=self.same_source)
            put_over(copy, earlier, self.keeper)
            limited = [self._limited(check, files, copy) for check in needed(self.checks)]
            results = run_checks(
                [check for check, _ in limited],
                root=copy,
                folder=folder / "output",
                reports=folder / "reports",
                environment=without_ours(environment_for_checks(environment), self.keeper.paths.root),
            )
            measured = read_results(results, root=copy)
            self._keep(folder)
        rerun = rerun._replace(
            whole=files is None or any(whole for check, whole in limited if kind_of(check) == Group.TESTS),
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
        """Say which tests pass in the project and fail in a copy of it as it is: then a copy proves nothing."""
        if all(reported.get(test) == FAILED for test in failing):
            return None
        as_it_is, _ = self._run(tree, (), files, Rerun(references={}, files=()))
        astray = [test for test, how in as_it_is.outcomes.items() if how == FAILED and reported.get(test) == PASSED]
        if not astray:
            return None
        return NOT_RUN.format(why=f"in a copy of the project these fail, and pass in it: {names_in_short(astray)}")

    def _limited(self, check: Check, files: Collection[str] | None, copy: Path) -> tuple[Check, bool]:
        check = check._replace(timeout_s=min(check.timeout_s, self.timeout_s))
        if files is None or kind_of(check) != Group.TESTS:
            return check, True
        there = sorted(file for file in files if (copy / file).is_file())
        limited = narrowed(check, there, copy)
        return limited.check, limited.whole

    def _keep(self, folder: Path) -> None:
        if self.kept is None:
            return
        place = self.kept / RERUN
        place.mkdir(parents=True, exist_ok=True)
        number = sum(1 for _ in place.iterdir()) + 1
        for name in ("output", "reports"):
            shutil.copytree(folder / name, place / str(number) / name, symlinks=True)


@contextmanager
def scratch_tree(keeper: IterationFiles, tree: str) -> Iterator[tuple[Path, Path]]:
    """Write a kept tree into a temporary folder; yield that folder and the copy in it, and take both away again.

    Raises StoreError if the folder would lie in the project, or the disk refuses.
    """
    root = keeper.paths.root
    with scratch_folder(root) as folder:
        copy = folder / "copy" / root.name  # some tools go by the folder's name
        keeper.export_tree(tree, copy)
        yield folder, copy


def lent(
    keeper: IterationFiles, copy: Path, checks: Sequence[Check], environment: Mapping[str, str], *, same_source: bool
) -> dict[str, str]:
    """Lend the environments of the project to a scratch tree; what is built there is kept beside the loop."""
    return link_environments(
        keeper.paths.root, copy, checks, environment, same_source=same_source, builds=keeper.paths.folder / BUILDS
    )


def needed(checks: Sequence[Check]) -> list[Check]:
    """Return the checks of kind tests with those that they need, in their order."""
    by_name = {check.name: check for check in checks}
    wanted = [check.name for check in checks if kind_of(check) == Group.TESTS and check.held_back is None]
    found: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += by_name[name].needs
    return [check for check in checks if check.name in found]


def put_over(copy: Path, earlier: Sequence[EarlierFile], keeper: IterationFiles) -> None:
    """Write the earlier forms of files over a copy of a tree. Raises StoreError if a link stands in the way."""
    contents = keeper.objects(each.object_id for each in earlier if each.object_id is not None)
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


def _told(error: Exception) -> str:
    return NOT_RUN.format(why=error.strerror or error if isinstance(error, OSError) else error)
