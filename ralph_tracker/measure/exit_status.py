"""What the exit status of a test runner says beside its report: one table, one line a runner (semantics § 5).

A run that fails while its report names no failing test has an error that the report does not tell: a file that did not
load, an unhandled rejection, a crash after the last test. Some statuses and lines mean something else.
"""

import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.core.metrics import quantity
from ralph_tracker.errors import InputError
from ralph_tracker.formats.first_error import first_error
from ralph_tracker.formats.report_content import plain
from ralph_tracker.measure.process import FinishedCommand
from ralph_tracker.safe_files import read_regular

_SCRIPT: Final = r"\S+\.[cm]?[jt]sx?"
_NO_TESTS: Final = "it found no test to run"


class Runner(NamedTuple):
    """One test runner.

    `called` is searched in its command. `statuses` mean something else than a failed test. `harmless` are lines of a
    run that failed for another reason than its tests. `unloaded` finds each `file` that did not load in what it prints,
    `error` the place where an error outside of the tests begins, which no other meaning excuses. `skips_the_rest`: of a
    run that it stops at a failing test it lists the others as skipped.
    """

    name: str
    called: str
    statuses: Mapping[int, str] = {}
    harmless: str | None = None
    unloaded: str | None = None
    error: str | None = None
    skips_the_rest: bool = False


_NONE: Final[Mapping[int, str]] = {}
_PYTEST: Final[Mapping[int, str]] = {5: _NO_TESTS, 6: "there were more warnings than --max-warnings allows"}
_JEST_FILE: Final = rf"^ ?FAIL +(?:\S+ )?(?P<file>{_SCRIPT})(?: \([\d.]+ m?s\))?\n\s+● Test suite failed to run$"
_VITEST_FILE: Final = rf"^ ?FAIL  (?:\|?\S+\|? +)?(?P<file>{_SCRIPT}) \[ \S+ \]$"
_BUN_FILE: Final = rf"^(?P<file>{_SCRIPT}):\n+# Unhandled error between tests$"
_RSPEC_FILE: Final = r"^An error occurred while loading (?P<file>\S+?)\.?(?: - Did you mean\?)?$"
_RSPEC_ERROR: Final = r"^An error occurred (?:while loading|outside of examples|in an? `)"
_PYTEST_FILE: Final = r"^_+ ERROR collecting (?P<file>\S+) _+$"
_DENO_FILE: Final = rf"^(?P<file>{_SCRIPT}) \(uncaught error\)$"
_DART_FILE: Final = r"Failed to load \"(?P<file>[^\"]+)\":"
_WITHOUT_ISSUES: Final = r"^OK, but (?:there were issues|incomplete, skipped|some tests)|^No tests executed!"
# The first one whose call is found in the command counts: wrappers and tracers of others come last.
_RUNNERS: Final = (
    Runner("vitest", r"\bvitest\b", _NONE, r"^No test files found", _VITEST_FILE, r"Unhandled (?:Rejection|Error)s?\b"),
    Runner(
        "jest", r"\b(?:jest|react-scripts)\b", _NONE, r"^No tests found, exiting", _JEST_FILE, r"● Test suite failed"
    ),
    Runner("bun", r"\bbun\b.*\btest\b", _NONE, r"^No tests found", _BUN_FILE, r"^# Unhandled error between tests$"),
    Runner("mocha", r"\bmocha\b", _NONE, r"Error: No test files found", None, r"Exception during run:"),
    Runner("ava", r"\bava\b", _NONE, r"Couldn.t find any files to test", None, r"(?:Uncaught exception|Unhandled rej)"),
    Runner("playwright", r"\bplaywright\b", _NONE, r"^Error: No tests found", skips_the_rest=True),
    Runner("node", r"\bnode\b.*--test\b", _NONE, None, None, None),
    Runner("deno", r"\bdeno\b.*\btest\b", _NONE, r"No test modules found", _DENO_FILE, skips_the_rest=True),
    Runner("cucumber", r"\bcucumber\b", skips_the_rest=True),
    Runner("pytest", r"\bpy\.?test\b", _PYTEST, None, _PYTEST_FILE, r"^Fatal Python error|INTERNALERROR>"),
    Runner("unittest", r"\bunittest\b|\bmanage\.py test\b", {5: _NO_TESTS}, None, None, r"^Fatal Python error"),
    Runner("go", r"\b(?:go test|gotestsum)\b", _NONE, None, None, r"^(?:panic|fatal error): "),
    Runner("cargo-nextest", r"\bnextest\b", {4: _NO_TESTS}, None, None, None),
    Runner("cargo", r"\bcargo\b", _NONE, None, None, None),
    Runner("maven", r"\bmvnw?\b", _NONE, None, None, None),
    Runner("gradle", r"\bgradlew?\b", _NONE, None, None, None),
    Runner("rspec", r"\brspec\b", _NONE, r"^No examples found", _RSPEC_FILE, _RSPEC_ERROR),
    Runner("phpunit", r"\b(?:phpunit|pest|paratest)\b", _NONE, _WITHOUT_ISSUES, None, r"^PHP Fatal error"),
    Runner("ctest", r"\bctest\b", _NONE, r"^No tests were found", None, None),
    Runner("dart", r"\b(?:dart|flutter)\b.*\btest\b", {79: _NO_TESTS}, r"^No tests ran", _DART_FILE, None),
    Runner("dotnet", r"\bdotnet\b", {8: _NO_TESTS}, None, None, None),
    Runner("tap", r"\btap\b", _NONE, None, None, None),
)
# By what a run stops at a failing test, one line a runner: an option of the command, or what the runner prints then.
_STOPS: Final = (
    r"\b(?:pytest|py\.test)\b.*\s(-x|--exitfirst|--maxfail[= ][1-9]\d*|-[qsvl]+x[qsvl]*)(?=\s|$)",
    r"^!+ (stopping after \d+ failures) !+$",  # pytest
    r"\b(?:vitest|jest|mocha|tap|react-scripts)\b.*\s(--bail(?![=\w-]| 0)|--bail[= ][1-9]\d*|-b)(?=\s|$)",
    r"^Test Suites: .*?(\d+ of \d+ total)$",  # jest
    r"\bbun\b.*\s(--bail(?:=\d+)?)(?=\s|$)",
    r"^(Bailed out after \d+ failures?)$",  # bun
    r"\b(?:ava|rspec|deno|gradlew?|cucumber(?:-js)?)\b.*\s(--fail-fast(?:=\d+)?)(?=\s|$)",
    r"(--fail-fast. is on)\b",  # AVA
    r"\b(?:unittest|manage\.py test)\b.*\s(--failfast|-[bqv]*f[bqv]*)(?=\s|$)",
    r"\bgo test\b.*\s(--?failfast)(?=\s|$)",
    # cargo says so too where --no-fail-fast has it go on: then it lists what failed at the end.
    r"^error: (test failed, to rerun pass .+)$(?![\s\S]*^error: \d+ targets? failed:$)",
    r"^\s*(Cancell?ing due to (?:test )?failure.*)$",  # cargo-nextest
    r"\b(?:phpunit|pest|paratest)\b.*\s(--stop-on-[a-z]+)(?=\s|$)",
    r"^([.FEWIRSND]*[FE][.FEWIRSND]*)\n\nTime: ",  # PHPUnit, whose progress ends with 100 % else
    r"\bctest\b.*\s(--stop-on-failure)(?=\s|$)",
    r"\bplaywright\b.*\s(-x|--max-failures[= ][1-9]\d*)(?=\s|$)",
    r"^\s*(Testing stopped early after \d+ maximum allowed failures)",  # Playwright
    r"^\[INFO\] .+ (SKIPPED)$",  # Maven, of the modules after one that failed
)
# The settings by which a runner stops at a failing test without a word about it: their files, and what is in them.
_MOCHA: Final = tuple(f".mocharc.{suffix}" for suffix in ("json", "jsonc", "js", "cjs", "yaml", "yml"))
_STOP_SETTINGS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "mocha": ((*_MOCHA, "package.json"), r"\b(bail)[\"']?\s*:\s*true\b"),
    "rspec": ((".rspec", ".rspec-local"), r"^\s*(--fail-fast)\b"),
}
# What any runner, or a tracer around it, says of a threshold that is not reached.
_THRESHOLD: Final = (
    r"^(?:FAIL |ERROR: |.*\bFAIL(?:ED)? )?Required test coverage of \S+ not reached.*"  # pytest-cov
    r"|^(?:ERROR: |FAIL )*Coverage failure: total of \S+ is less than fail-under.*"  # coverage.py
    r"|^\s*Jest: .+ coverage threshold for .+ not met.*"
    r"|^\s*ERROR: Coverage for .+ does not meet .*threshold.*"  # nyc, c8, vitest
    r"|^.*\bcoverage does not meet threshold of .*"  # node
    r"|^.*[Cc]overage .*is below the expected minimum coverage.*"  # SimpleCov
    r"|^.*Coverage checks have not been met.*"  # JaCoCo in Maven
    r"|^.*Rule violated for \w+ .*: .+ covered ratio is .*"  # JaCoCo in Gradle
    r"|^.*[Cc]overage threshold.*(?:not met|below).*"
)
# What tools print before the reason why they failed, where that is no error line of a known form.
_HEADING: Final = (
    r"^(?:\* What went wrong:\n|The following tests FAILED:\n)(.+)|^\[ERROR\] (.+)"
    r"|^((?:Fatal Python error|panic|fatal error|FATAL ERROR|error|PHP Fatal error): .+)"
    r"|((?:Segmentation fault|Aborted|Killed|Bus error)(?: \(core dumped\))?)"
)
# Of a shell that reports the signal by which its command ended.
_CRASHES: Final = frozenset(
    128 + each
    for each in (
        *(signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE),
        *(signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGTRAP),
    )
)


class Reported(NamedTuple):
    """How many tests the reports of a run list, how many of them passed and failed."""

    tests: int = 0
    passed: int = 0
    failed: int = 0


def runner_of(command: str, check: str) -> Runner:
    """Return the runner that a command calls; one that is unknown is called after the check."""
    known = next((runner for runner in _RUNNERS if re.search(runner.called, command)), None)
    return known or Runner(f"check `{check}`", "", harmless="|".join(filter(None, (r.harmless for r in _RUNNERS))))


def run_error(runner: Runner, finished: FinishedCommand, reported: Reported, output: str) -> str | None:
    """Return the error of a run that its reports do not tell, in one sentence; None without one.

    A run that crashed or was ended has one beside failing tests, too. `output` is what the command printed, standard
    error first.
    """
    if finished.succeeded or (reported.failed and not was_cut_short(finished, reported.failed)):
        return None
    text = plain(output)
    if not unloaded_files(runner, text) and other_meaning(runner, finished, text) is not None:
        return None
    first = _first_error(runner, text)
    return f"{runner.name} {_end(finished)} {counted(reported)}{f': {first}' if first else ''}"


def stopped_early(runner: Runner, command: str, output: str) -> str | None:
    """Return the sentence on a run that ended at its first failing tests, so that others did not run; None if not."""
    text = f"{command}\n{plain(output)}"
    found = next(filter(None, (re.search(stop, text, re.MULTILINE) for stop in _STOPS)), None)
    if found is None:
        return None
    return f"{runner.name} stopped at a failing test ({found[1]}), so what is missing was not run"


def stopped_by_settings(runner: Runner, folder: Path) -> str | None:
    """Return the same sentence for a runner whose settings in the folder make it end so; None if they do not."""
    files, pattern = _STOP_SETTINGS.get(runner.name, ((), ""))
    for name in files:
        with suppress(OSError, InputError):
            text = read_regular(folder / name, limit=1_000_000, name=name).decode("utf-8", "replace")
            if found := re.search(pattern, text, re.MULTILINE):
                return f"{runner.name} stopped at a failing test ({found[1]} in {name}), so what is missing was not run"
    return None


def unloaded_files(runner: Runner, output: str) -> dict[str, str]:
    """Return the test files that did not load, as the runner names them, with what it prints below each."""
    text = plain(output)
    marks = [each.unloaded for each in (_RUNNERS if not runner.called else (runner,)) if each.unloaded is not None]
    found = next(filter(None, (list(re.finditer(mark, text, re.MULTILINE)) for mark in marks)), [])
    ends = [*(each.start() for each in found[1:]), len(text)]
    return {each["file"].removeprefix("./"): text[each.end() : end] for each, end in zip(found, ends, strict=False)}


def other_meaning(runner: Runner, finished: FinishedCommand, output: str) -> str | None:
    """Return what a failed run failed for, if that is no error of its tests: a threshold, or no test at all."""
    if finished.exit_code is None or finished.timed_out or finished.exit_code in _CRASHES:
        return None
    text = plain(output)
    if runner.error is not None and re.search(runner.error, text, re.MULTILINE):
        return None
    meant = runner.statuses.get(finished.exit_code)
    if meant is not None:
        return f"{runner.name} exited with {finished.exit_code}: {meant}"
    lines = "|".join(filter(None, (_THRESHOLD, runner.harmless and f"(?:{runner.harmless}).*")))
    found = re.search(lines, text, re.MULTILINE)
    return None if found is None else f"{runner.name} exited with {finished.exit_code}: {found[0].strip()}"


def was_cut_short(finished: FinishedCommand, failed: int) -> bool:
    """Return whether the run did not end by itself; some runners exit with the number of failed tests."""
    ended = finished.exit_code in _CRASHES and finished.exit_code != failed
    return finished.timed_out or finished.signal is not None or ended


def _first_error(runner: Runner, text: str) -> str | None:
    """Return the first error line at or below the place where the runner says that something failed."""
    begins = None if runner.error is None else re.search(runner.error, text, re.MULTILINE)
    for part in (text if begins is None else text[begins.start() :], text):
        if (found := first_error(part)) is not None:
            return found.line
    if begins is not None:
        return text[begins.start() :].splitlines()[0].strip()
    heading = re.search(_HEADING, text, re.MULTILINE)
    return None if heading is None else next(filter(None, heading.groups())).strip()


def _end(finished: FinishedCommand) -> str:
    if finished.timed_out:
        return "ran into its time limit"
    if finished.signal is not None:
        return f"was killed by {finished.signal}"
    code = finished.exit_code
    if code in _CRASHES:
        return f"exited with {code} ({signal.Signals(code - 128).name})"
    return f"exited with {code}"


def counted(reported: Reported) -> str:
    """Return what the reports of a failed run list, in words that follow how it ended."""
    if not reported.tests:
        return "and reported no test"
    if reported.failed:
        return f"beside {quantity(reported.failed, 'failing test')}"
    if reported.passed == reported.tests:
        if reported.tests == 1:
            return "although its only reported test passes"
        return f"although all {reported.tests} reported tests pass"
    return f"although none of the {quantity(reported.tests, 'reported test')} fails"
