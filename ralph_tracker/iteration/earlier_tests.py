"""Run earlier tests on the source of an iteration, in a scratch copy; the working tree is not touched."""

import os
import re
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.core.integrity_result import Rerun
from ralph_tracker.core.metrics import FAILED, PASSED, Group, TestResults
from ralph_tracker.errors import RalphTrackerError, StoreError
from ralph_tracker.integrity.deciding_files import is_code, kind_of_file
from ralph_tracker.integrity.inline_tests import parted
from ralph_tracker.integrity.missing_names import gone_from_source, missing_names, with_placeholders
from ralph_tracker.iteration.file_forms import EarlierFile
from ralph_tracker.measure.git_root import make_git_root
from ralph_tracker.measure.limit_to_test_files import limited_to_files
from ralph_tracker.measure.linked_environments import link_environments
from ralph_tracker.measure.report_totals import measured_kind, needed_checks, read_results, without_unloaded
from ralph_tracker.measure.run_checks import Check, command_text, environment_for_checks, run_checks
from ralph_tracker.scratch import scratch_folder
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.snapshots.snapshot_types import EXEC_MODE, LINK_MODE, Change

BUILDS: Final = "rerun-builds"
RERUN: Final = "rerun"
NOT_RUN: Final = "earlier tests could not be run: {why}"
# Runners write no snapshots then.
_READ_ONLY: Final = {"CI": "1"}
_MOST_LEFT_OUT: Final = 5
_COMPILED: Final = re.compile(r"[\w./-]+\.(?:go|rs|java|kts?|scala|cs|swift)\b")


class RerunResult(NamedTuple):
    """The results of the earlier files' tests by id (empty if there are none), and how the run went."""

    tests: TestResults
    rerun: Rerun


class ScratchRunner(NamedTuple):
    """A runner that uses the loop's own test checks in a copy of the iteration's tree.

    `timeout_s` limits each check; reports and output are kept in `kept`, unless that is None. `same_source` is whether
    the working tree has that iteration's source; with `with_files` its small ignored files are used even so. `home` is
    the folder whose environments are lent, None for the project's own.
    """

    iteration_snapshots: IterationSnapshots
    checks: tuple[Check, ...]
    environment: Mapping[str, str]
    timeout_s: float
    kept: Path | None = None
    same_source: bool = True
    home: Path | None = None
    with_files: bool = False

    def run(
        self,
        tree: str,
        earlier: Sequence[EarlierFile],
        files: Collection[str] | None,
        reported: Mapping[str, str] | None = None,
        *,
        lost: Iterable[Change] = (),
        here: bool = True,
    ) -> RerunResult:
        """Run the test files over that tree, all if `files` is None. Never raises because of what the tests do.

        Tests that fail, but not in `reported`, are run again to recognize flaky ones; with None, none are. `lost` are
        the changes that led to the tree: names that its source lost by them have placeholders. `here` is False for the
        tree of another iteration than the working tree's.
        """
        if not here:
            elsewhere = self._replace(same_source=False, with_files=self.same_source)
            return elsewhere.run(tree, earlier, files, reported, lost=lost)
        started = time.monotonic()
        rerun = Rerun(
            references={each.path: each.iteration for each in earlier},
            files=tuple(sorted(files or ())),
            whole=files is None,
        )
        try:
            put = [*earlier, *self._placeholders(tree, earlier, lost)]
            tests, rerun = self._run(tree, put, files, rerun)
            failing = {test for test, how in tests.outcomes.items() if how == FAILED}
            failing -= {test for test in failing if missing_names(tests.messages.get(test, ""))}  # these are no flake
            if reported is not None and any(reported.get(test) != FAILED for test in failing):
                again, _ = self._run(tree, put, files, rerun)
                flaky = {test for test in failing if again.outcomes.get(test) == PASSED}
                tests = tests._replace(outcomes={**tests.outcomes, **dict.fromkeys(flaky, PASSED)})
                rerun = rerun._replace(flaky=tuple(sorted(flaky)), failed=rerun.failed - len(flaky))
        except (RalphTrackerError, OSError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or error
            tests, rerun = TestResults({}), rerun._replace(problem=NOT_RUN.format(why=why), is_interrupted=True)
        return RerunResult(tests, rerun._replace(duration_s=round(time.monotonic() - started, 3)))

    def _placeholders(self, tree: str, earlier: Sequence[EarlierFile], lost: Iterable[Change]) -> Iterator[EarlierFile]:
        """Yield source files with placeholders for names that the earlier files may import and the source lost."""
        back = {each.path for each in earlier}
        source = [
            each
            for each in lost
            if each.old_id and each.path not in back and is_code(each.path) and kind_of_file(each.path) is None
        ]
        if not source:
            return
        store = self.iteration_snapshots.store
        there = {folder for path in store.paths(tree) if is_code(path) for folder in _module_places(path)}
        codes = [each.object_id for each in earlier if each.object_id and is_code(each.path)]
        words = frozenset(re.findall(r"\w+", " ".join(map(_text, store.contents(codes).values()))))
        for each in source:
            if each.new_id is None and not there.isdisjoint(_module_places(each.path)):
                continue  # the module is another file now
            contents = store.contents(filter(None, (each.old_id, each.new_id)))
            now = None if each.new_id is None else _text(contents[each.new_id])
            text = with_placeholders(each.path, _text(contents[each.old_id or ""]), now, words)
            if text is not None:
                yield EarlierFile(each.path, each.new_mode or each.old_mode, each.old_id, 0, text.encode())

    def _run(
        self, tree: str, earlier: Sequence[EarlierFile], files: Collection[str] | None, rerun: Rerun
    ) -> tuple[TestResults, Rerun]:
        """Run in a copy; a file that a compiler names is left out, and the others are run again."""
        left_out: dict[str, str] = {}
        with scratch_tree(self.iteration_snapshots, tree) as (folder, copy):
            environment = link_environments(
                self.home or self.iteration_snapshots.paths.root,
                copy,
                self.checks,
                self.environment,
                same_source=self.same_source,
                with_files=self.with_files,
                builds=self.iteration_snapshots.paths.folder / BUILDS,
            )
            write_earlier(copy, earlier, self.iteration_snapshots)
            for attempt in range(_MOST_LEFT_OUT + 1):
                limited = [self._limit_check(check, files, copy) for check in needed_checks(self.checks)]
                results = run_checks(
                    [check for check, _ in limited],
                    root=copy,
                    folder=folder / f"output{attempt}",
                    reports=folder / f"reports{attempt}",
                    environment=environment_for_checks(
                        {**environment, **_READ_ONLY}, self.iteration_snapshots.paths.root
                    ),
                )
                measured = read_results(results, root=copy)
                guilty = _named_by_compiler(measured.not_loaded, earlier, left_out)
                left_out |= {path: self._first_reason(why, earlier, left_out) for path, why in guilty.items()}
                if not guilty or attempt == _MOST_LEFT_OUT or (files and left_out.keys() >= set(files)):
                    break
                write_earlier(
                    copy, [_left_out(each) for each in earlier if each.path in guilty], self.iteration_snapshots
                )
            self._keep(folder, attempt)
        rerun = rerun._replace(
            whole=files is None or any(whole for check, whole in limited if measured_kind(check) == Group.TESTS),
            commands=tuple(command_text(check) for check, _ in limited),
        )
        tests = measured.tests or TestResults({})
        tests = without_unloaded(tests._replace(not_loaded={**tests.not_loaded, **measured.not_loaded, **left_out}))
        if not tests.outcomes and not tests.not_loaded:
            why = measured.missing.get(Group.TESTS) or "the run reported no test"
            return tests, rerun._replace(problem=NOT_RUN.format(why=why))
        failed = sum(how == FAILED for how in tests.outcomes.values())
        return tests, rerun._replace(tests=len(tests.outcomes), failed=failed)

    def _first_reason(self, why: str, earlier: Sequence[EarlierFile], left_out: Mapping[str, str]) -> str:
        """Return why a file does not compile: as another does not that was left out and has what this one misses."""
        for each in earlier:
            if each.path in left_out and each.object_id is not None:
                text = _text(self.iteration_snapshots.store.contents([each.object_id])[each.object_id])
                if any(gone_from_source(name, {each.path: text}, {}) for name in missing_names(why)):
                    return left_out[each.path]
        return why

    def _keep(self, folder: Path, attempt: int) -> None:
        """Keep the output and the reports of the last attempt with the iteration."""
        if self.kept is None:
            return
        place = self.kept / RERUN
        place.mkdir(parents=True, exist_ok=True)
        place /= str(sum(1 for _ in place.iterdir()) + 1)
        for name in ("output", "reports"):
            shutil.copytree(folder / f"{name}{attempt}", place / name, symlinks=True)

    def _limit_check(self, check: Check, files: Collection[str] | None, copy: Path) -> tuple[Check, bool]:
        check = check._replace(timeout_s=min(check.timeout_s, self.timeout_s))
        if files is None or measured_kind(check) != Group.TESTS:
            return check, True
        there = sorted(file for file in files if (copy / file).is_file())
        limited = limited_to_files(check, there, copy)
        return limited.check, limited.whole


def _named_by_compiler(
    not_loaded: Mapping[str, str], earlier: Iterable[EarlierFile], left_out: Collection[str]
) -> dict[str, str]:
    """Return the earlier files, with the reason, that keep others of a compiled language from being run."""
    guilty = {}
    for place, why in not_loaded.items():
        for name in _COMPILED.findall(f"{place} {why}"):
            plain = f"/{name.removeprefix('./')}"
            near = [each.path for each in earlier if each.object_id and f"/{each.path}".endswith(plain)]
            guilty.update({path: why for path in near if path not in left_out})
    return guilty


def _left_out(file: EarlierFile) -> EarlierFile:
    """Return a file without its tests: of source its own part, of a test file nothing."""
    if file.content is None:
        return file._replace(mode=None, object_id=None)
    return file._replace(content=parted(file.path, _text(file.content))[0].encode())


def _module_places(path: str) -> set[str]:
    """Return the names under which a module is found: its path without suffix, and its folder if that is a package."""
    stem = path.rpartition(".")[0]
    folder, _, name = stem.rpartition("/")
    return {stem, folder} if name in {"__init__", "index", "mod"} else {stem}


def _text(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")


@contextmanager
def scratch_tree(iteration_snapshots: IterationSnapshots, tree: str) -> Iterator[tuple[Path, Path]]:
    """Write a kept tree into a temporary folder; yield that folder and the copy in it, and delete both afterwards.

    Raises StoreError if the folder would lie in the project, or the disk refuses.
    """
    root = iteration_snapshots.paths.root
    with scratch_folder(root) as folder:
        copy = folder / "copy" / root.name  # some tools use the folder's name
        iteration_snapshots.store.export(tree, copy)
        make_git_root(copy)
        yield folder, copy


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
