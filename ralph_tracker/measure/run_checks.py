"""Run the configured checks of one iteration and find the reports that they wrote.

A check that fails, is killed or cannot be started is data, never an exception: failing tests still have coverage.
Reports are found once all checks are done, because a check may write a report that another one names.
"""

import importlib.util
import os
import re
import shlex
import sys
import time
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Final, NamedTuple

from ralph_tracker.core.thresholds import CHECK_TIMEOUT
from ralph_tracker.errors import ConfigError, StoreError, nearest
from ralph_tracker.measure.find_reports import (
    Before,
    FoundReport,
    Missing,
    fill_reports_folder,
    filled_run,
    find_reports,
    fingerprints,
)
from ralph_tracker.measure.process import OUTPUT_CAP, FinishedCommand, Streams, run_command
from ralph_tracker.measure.secrets import mask_file, mask_folder, secret_values

STANDARD_OUTPUT: Final = "-"
_ACTIVE: Final = "VIRTUAL_ENV"
# What git sets for its hooks: with it, git in a check would work on the repository of the hook, wherever it runs.
_OF_GITS_HOOKS: Final = frozenset(
    {
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"),
        *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"),
    }
)
# The name is also used as a file name.
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")


def parse_duration(key: str, limit: str | float) -> float:
    """Return a time limit in seconds: a number, or a number with s, m or h. Raises ConfigError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|h)?", str(limit).strip())
    if found is None or float(found[1]) <= 0:
        raise ConfigError(f"{key}: {limit!r} is no time; write seconds, or 90s, 15m, 1h")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2] or "s"]


class Check(NamedTuple):
    """One command that measures.

    `run` as a string goes through /bin/sh, a sequence is argv. `kind` and `format` override detection from the reports.
    `reports` are paths or patterns relative to `cwd` (itself relative to the root), under `{reports}`, or "-" for
    standard output. `needs` defines the order and does not require success. `timeout_s` is in seconds. `held_back` is a
    folder of tests outside the project, which are copied into a scratch tree and run there; None without such tests.
    `inputs` are patterns of the files that it reads, () where that is not known.
    """

    name: str
    run: str | Sequence[str]
    kind: str | None = None
    reports: tuple[str, ...] = ()
    format: str | None = None
    cwd: str = "."
    env: Mapping[str, str] = {}
    needs: tuple[str, ...] = ()
    timeout_s: float = parse_duration("timeout", CHECK_TIMEOUT)
    held_back: str | None = None
    inputs: tuple[str, ...] = ()


Instead = Callable[[Check, Path, Sequence[Path]], "FinishedCommand"]
"""Do something in place of running a check, with the folder of the reports and the two files of its output."""


def command_text(check: Check) -> str:
    """Return the command of a check as typed in a shell."""
    return check.run if isinstance(check.run, str) else shlex.join(check.run)


class CheckResult(NamedTuple):
    """How a check ended, where its output is, and its reports in the order of the configuration.

    `shared` maps reports that another check also names to the check that they are counted for. `secrets` are values to
    mask in reports; in the output, and in what lies under `{reports}`, they are masked.
    """

    check: Check
    finished: FinishedCommand
    reports: tuple[FoundReport, ...]
    stdout: Path
    stderr: Path
    shared: Mapping[str, str] = {}
    secrets: tuple[bytes, ...] = ()


class _Setting(NamedTuple):
    """What all checks of a run share: absolute folders, the environment, the output limit."""

    root: Path
    folder: Path
    reports: Path
    environment: Mapping[str, str]
    output_cap: int

    def variables(self, check: Check) -> dict[str, str]:
        """Return the whole environment of a check."""
        folder = str(self.reports)
        return {**self.environment, **{name: fill_reports_folder(value, folder) for name, value in check.env.items()}}

    def secrets(self, check: Check) -> tuple[bytes, ...]:
        return secret_values(self.variables(check))

    def streams(self, check: Check) -> tuple[Path, Path]:
        """Return the files of standard output and standard error."""
        return self.folder / f"{check.name}.stdout", self.folder / f"{check.name}.stderr"


def environment_for_checks(base: Mapping[str, str], root: Path) -> dict[str, str]:
    """Return the environment for checks in a project: ours without our internal variables and our virtual environment.

    Nor has it what git sets when it runs us as a hook.

    Python writes no bytecode in it: `__pycache__` would change the measured tree, and bytecode of a file that was
    restored with its old time and size would be wrong. A setting made already, here or in the check's `env` (the empty
    string means "write it"), is kept.
    """
    kept = {
        name: value
        for name, value in without_own_environment(base, root).items()
        if not name.startswith("RALPH_TRACKER_") and name not in _OF_GITS_HOOKS
    }
    if "PYTHONPYCACHEPREFIX" not in kept:
        kept.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    return kept


def is_our_bin(folder: str) -> bool:
    """Return whether a folder of PATH belongs to our own virtual environment."""
    return sys.prefix != sys.base_prefix and Path(folder).resolve() == Path(sys.prefix).resolve() / "bin"


def ours_if_active(environment: Mapping[str, str], root: Path) -> str | None:
    """Return the active virtual environment if it is ours and not inside the project, else None."""
    active = environment.get(_ACTIVE)
    if not active or sys.prefix == sys.base_prefix or Path(active).resolve() != Path(sys.prefix).resolve():
        return None
    return None if _lies_in(Path(active), root) else active


def without_own_environment(environment: Mapping[str, str], root: Path) -> dict[str, str]:
    """Return the environment without VIRTUAL_ENV if that is ours and not inside the project.

    Where nobody activated ours, and it has no pytest, it is not the project's either: PATH has it last then, so that
    `python3` and `pip` mean the project's.
    """
    active = ours_if_active(environment, root) is not None
    kept = {name: value for name, value in environment.items() if not (active and name == _ACTIVE)}
    folders = environment.get("PATH", "").split(os.pathsep)
    ours = [folder for folder in folders if is_our_bin(folder)]
    if not ours or active or importlib.util.find_spec("pytest") is not None or _lies_in(Path(sys.prefix), root):
        return kept
    return {**kept, "PATH": os.pathsep.join([*(folder for folder in folders if folder not in ours), *ours])}


def _lies_in(folder: Path, root: Path) -> bool:
    return folder.absolute().is_relative_to(root.absolute()) or folder.resolve().is_relative_to(root.resolve())


def run_checks(  # noqa: PLR0913  # one keyword each
    checks: Sequence[Check],
    *,
    root: Path,
    folder: Path,
    reports: Path,
    environment: Mapping[str, str],
    jobs: int = 1,
    on_progress: Callable[[str], None] | None = None,
    on_end: Callable[[str], None] | None = None,
    output_cap: int = OUTPUT_CAP,
    stop: Event | None = None,
    instead: Mapping[str, Instead] = {},
    lasted: Mapping[str, float] = {},
) -> tuple[CheckResult, ...]:
    """Run checks, each after those that it needs, up to `jobs` at once, and return their results in that order.

    Captured output goes to `folder` as NAME.stdout and NAME.stderr. `reports` is the folder for `{reports}`, created
    here and empty at the start. `environment` is the whole environment, overridden by each check's `env`. `on_progress`
    gets a line when a check starts, while it runs, and when it ends, `on_end` the name of each check that ended, always
    in the calling thread. `output_cap` is in bytes per stream. `instead` has what is done in place of running some
    checks, `lasted` how many seconds each took the last time.
    Another thread may set `stop`: what runs is ended then, and every later check as soon as it starts.
    Raises ConfigError for checks that cannot be run, StoreError if the folders cannot be used.
    """
    order = in_order(checks)
    setting = _Setting(root.absolute(), folder.absolute(), reports.absolute(), environment, output_cap)
    for check in order:
        if not (setting.root / check.cwd).resolve().is_relative_to(root.resolve()):
            raise ConfigError(
                f"checks.{check.name}.cwd: {check.cwd} is a link out of the project; name a folder below it"
            )
    _make_folders(setting)
    before: Before = ChainMap(*(fingerprints(check.reports, cwd=setting.root / check.cwd) for check in order))
    say, ended = on_progress or _nothing, on_end or _nothing
    finished = _run_all(order, partial(_run_one, setting, instead), max(1, jobs), say, ended, stop or Event(), lasted)
    try:  # secrets in what the checks printed, and in the reports that they wrote for us
        for check in order:
            for path in setting.streams(check):
                mask_file(path, setting.secrets(check))
        mask_folder(setting.reports, dict.fromkeys(value for check in order for value in setting.secrets(check)))
    except OSError as error:
        raise StoreError(f"{error.filename}: {error.strerror}; secrets in what checks print cannot be masked") from None
    owners: dict[str, str] = {}
    return tuple(_result(check, finished[check.name], setting, before, owners) for check in order)


def configured_checks(document: Mapping[str, Any]) -> tuple[Check, ...]:
    """Return the checks of a configuration document in running order.

    Raises ConfigError for an invalid time limit, and as `in_order` does.
    """
    checks = [
        Check(
            name=name,
            run=section["run"],
            kind=section.get("kind"),
            reports=tuple(section.get("reports") or ()),
            format=section.get("format"),
            cwd=section.get("cwd") or ".",
            env=section.get("env") or {},
            needs=tuple(section.get("needs") or ()),
            timeout_s=parse_duration(f"checks.{name}.timeout", section.get("timeout", CHECK_TIMEOUT)),
            held_back=section.get("held_back"),
            inputs=tuple(section.get("inputs") or ()),
        )
        for name, section in document.get("checks", {}).items()
    ]
    return in_order(checks)


def in_order(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return the checks in running order: as configured, but each after those that it needs.

    Raises ConfigError for an invalid or duplicate name, an empty command, an unknown need or a cycle.
    """
    _refuse_unusable(checks)
    order: list[Check] = []
    waiting = list(checks)
    while waiting:
        check = _ready(waiting, {check.name for check in order})[0]
        waiting.remove(check)
        order.append(check)
    return tuple(order)


def _refuse_unusable(checks: Sequence[Check]) -> None:
    names = [check.name for check in checks]
    seen = set()
    for check in checks:
        if not _NAME.fullmatch(check.name):
            raise ConfigError(f"checks.{check.name}: a name is letters, digits and _ . + -; rename it")
        if check.name.casefold() in seen:
            raise ConfigError(f"checks.{check.name}: this name is used twice; rename one (case is ignored)")
        seen.add(check.name.casefold())
        if not check.run:
            raise ConfigError(f"checks.{check.name}.run: nothing to run; name a command or remove the check")
        for need in check.needs:
            if need not in names:
                raise ConfigError(f"checks.{check.name}.needs: no check is named {need!r}{nearest(need, names)}")
    try:
        TopologicalSorter({check.name: check.needs for check in checks}).prepare()
    except CycleError as error:
        circle = " → ".join(reversed(error.args[1]))
        raise ConfigError(f"checks: {circle} need one another in a circle; remove one of these needs") from None


def _ready(waiting: Sequence[Check], done: set[str]) -> list[Check]:
    return [check for check in waiting if done.issuperset(check.needs)]


def _make_folders(setting: _Setting) -> None:
    try:
        for folder in (setting.folder, setting.reports):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
        left = next(setting.reports.iterdir(), None)
    except OSError as error:
        raise StoreError(f"{error.filename}: {error.strerror}; checks need a folder for what they print") from None
    if left is not None:
        raise StoreError(
            f"{setting.reports}: not empty ({left.name}); reports of another run must not be taken for ours"
        )


def _nothing(_: str) -> None:
    """Do nothing with a line or a name."""


def _run_all(  # what all checks of a run share
    order: Sequence[Check],
    run: Callable[[Check, Event], FinishedCommand],
    jobs: int,
    say: Callable[[str], None],
    on_end: Callable[[str], None],
    stop: Event,
    lasted: Mapping[str, float],
) -> dict[str, FinishedCommand]:
    """Run each check as soon as its needs are done; on any exception the running ones are ended first, by `stop`."""
    waiting, done = list(order), dict[str, FinishedCommand]()
    running: dict[str, Thread] = {}
    began, told = 0.0, 0
    ended = SimpleQueue[tuple[str, FinishedCommand | BaseException]]()

    def carry_out(check: Check) -> None:
        try:
            ended.put((check.name, run(check, stop)))
        except BaseException as error:  # noqa: BLE001  # raised again by the waiting thread
            ended.put((check.name, error))

    try:
        while waiting or running:
            for check in _ready(waiting, set(done))[: jobs - len(running)]:
                say(f"{check.name}: running")
                began, told = time.monotonic(), 0
                waiting.remove(check)
                running[check.name] = Thread(target=carry_out, args=(check,), name=f"check {check.name}")
                running[check.name].start()
            try:
                # How long Ctrl-C may go unnoticed on platforms that do not wake a waiting thread.
                name, outcome = ended.get(timeout=0.5)
            except Empty:
                if len(running) == 1 and (seconds := int(time.monotonic() - began)) > told:
                    told, (name,) = seconds, running
                    before = f", {lasted[name]:.0f} s last time" if name in lasted else ""
                    say(f"{name}: running, {seconds} s{before}")
                continue
            running.pop(name).join()
            if isinstance(outcome, BaseException):
                raise outcome
            done[name] = outcome
            on_end(name)
            say(f"{name}: {outcome.summary}")
    finally:
        if running:  # only after an exception
            stop.set()
        for thread in running.values():
            thread.join()
    return done


def _run_one(setting: _Setting, instead: Mapping[str, Instead], check: Check, stop: Event) -> FinishedCommand:
    folder = str(setting.reports)
    try:
        if check.name in instead:
            return instead[check.name](check, setting.reports, setting.streams(check))
        return run_command(
            filled_run(check.run, folder),
            Streams(*setting.streams(check), cap=setting.output_cap),
            cwd=setting.root / check.cwd,
            env=setting.variables(check),
            timeout_s=check.timeout_s,
            stop=stop,
        )
    except OSError as error:
        raise StoreError(f"what check {check.name} prints cannot be kept: {error}") from None


def _result(
    check: Check, finished: FinishedCommand, setting: _Setting, before: Before, owners: dict[str, str]
) -> CheckResult:
    """Return the result of a check with its reports; a file that another check owns is only listed as shared."""
    found: list[FoundReport] = []
    shared: dict[str, str] = {}
    for pattern in check.reports:
        if pattern == STANDARD_OUTPUT:
            cut = Missing.CUT if finished.stdout_truncated else None
            missing = cut if finished.problem is None else Missing.ABSENT
            path = setting.streams(check)[0] if missing is None else None
            found.append(FoundReport(STANDARD_OUTPUT, path, missing))
            continue
        for report in find_reports(
            pattern, cwd=setting.root / check.cwd, folder=setting.reports, before=before, root=setting.root
        ):
            file = None if report.data_path is None else os.path.realpath(report.data_path)
            if file is None or file not in owners:
                found.append(report)
            elif owners[file] != check.name:
                shared[report.path] = owners[file]
            if file is not None:
                owners.setdefault(file, check.name)
    return CheckResult(check, finished, tuple(found), *setting.streams(check), shared, setting.secrets(check))
