"""The test runners of JavaScript: how each is run, and where its coverage comes from."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ralph_tracker.measure.ecosystems.found import Checks
from ralph_tracker.measure.ecosystems.node_package import Package, read_json
from ralph_tracker.measure.ecosystems.node_scripts import Usage, without
from ralph_tracker.measure.ecosystems.programs import PROBE_TIMEOUT_S

RUNNERS: Final = ("vitest", "jest", "mocha")
_COVERAGE: Final = "{reports}/coverage-node"
_SUMMARY: Final = f"{_COVERAGE}/coverage-summary.json"
_JSON_OUTPUT_SINCE: Final = (9, 2)  # of mocha: before, its JSON was mixed with what the tests print
_IGNORED_MODULES: Final = "modulePathIgnorePatterns"
_JEST_FILES: Final = ("jest.config.*", "package.json")
_FLAGS: Final = {
    "vitest": frozenset(
        {"run", "watch", "dev", "-w", "--watch", "--run", "--ui", "-u", "--update", "--coverage", "--coverage.enabled"}
    ),
    "jest": frozenset(
        {"--watch", "--watchAll", "-u", "--updateSnapshot", "--ci", "--json", "--coverage", "--collectCoverage"}
        | {"--notify", "-o", "--onlyChanged"}
    ),
    "mocha": frozenset({"-w", "--watch"}),
}
_VALUED: Final = {
    "vitest": frozenset({"--reporter", "--outputFile", "--coverage.reporter", "--coverage.reportsDirectory"}),
    "jest": frozenset({"--outputFile", "--reporters", "--coverageReporters", "--coverageDirectory"}),
    "mocha": frozenset({"-R", "--reporter", "-O", "--reporter-option", "--reporter-options"}),
}
_WRAPPER_FLAGS: Final = frozenset({"--check-coverage", "--clean", "--no-clean", "--silent"})
_WRAPPER_VALUED: Final = frozenset(
    {"-r", "--reporter", "--report-dir", "--reports-dir", "--temp-dir", "--temp-directory", "-t"}
)
# How the two that measure any program name their folders.
_WRAPPERS: Final = {"nyc": ("--temp-dir", "--report-dir"), "c8": ("--temp-directory", "--reports-dir")}
_WRAPPER_FILES: Final = {"nyc": (".nycrc", ".nycrc.json"), "c8": (".c8rc", ".c8rc.json")}


@dataclass(frozen=True, slots=True)
class Runner:
    """Hold an installed runner, how it is called and how the project's script uses it."""

    name: str
    call: tuple[str, ...]
    usage: Usage
    package: Package

    @property
    def words(self) -> tuple[str, ...]:
        """Return the script's own words without those that we give ourselves."""
        return without(self.usage.words, _FLAGS[self.name], _VALUED[self.name])


def test_checks(runner: Runner) -> tuple[Checks, tuple[str, ...]]:
    """Return the checks of a runner, and what is missing for its coverage."""
    checks, notes = _CHECKS[runner.name](runner)
    if runner.usage.env:
        checks["tests"]["env"] = dict(runner.usage.env)
    return checks, notes


def _jest(runner: Runner) -> tuple[Checks, tuple[str, ...]]:
    report = "{reports}/jest.json"
    patterns = ["<rootDir>/.aiwg/", *_ignored_by_jest(runner)]
    run = [
        *runner.call,
        *runner.words,
        "--ci",
        "--coverage",
        "--coverageReporters=json-summary",
        f"--coverageDirectory={_COVERAGE}",
        # a pattern of tests would take the place of the project's own; these are seldom set
        *(f"--{_IGNORED_MODULES}={pattern}" for pattern in patterns),
        "--json",
        f"--outputFile={report}",
    ]
    return {"tests": _tests(run, report, "jest-json"), "coverage": _written_by_the_tests()}, ()


def _ignored_by_jest(runner: Runner) -> list[str]:
    """Return the project's own patterns, which ours would replace; asked only where a configuration names them."""
    root = runner.package.root
    files = [path for name in _JEST_FILES for path in root.glob(name)]
    if not any(_IGNORED_MODULES in path.read_text(encoding="utf-8", errors="replace") for path in files):
        return []
    try:
        done = subprocess.run(  # noqa: S603  # the project's own runner
            [*runner.call, *runner.words, "--showConfig"],
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_TIMEOUT_S,
            check=True,
        )
        configs: list[dict[str, Any]] = json.loads(done.stdout)["configs"]
        return list(dict.fromkeys(pattern for each in configs for pattern in each[_IGNORED_MODULES]))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return []


def _vitest(runner: Runner) -> tuple[Checks, tuple[str, ...]]:
    report = "{reports}/vitest.json"
    run = [*runner.call, "run", *runner.words, "--exclude=.aiwg/**", "--reporter=json", f"--outputFile={report}"]
    provider = next((name for name in ("v8", "istanbul") if runner.package.version(f"@vitest/coverage-{name}")), None)
    if provider is None:
        missing = f"coverage not found: {runner.package.add} @vitest/coverage-v8"
        return {"tests": _tests(run, report, "jest-json")}, (missing,)
    # without the last, failing tests have no coverage
    run += ["--coverage.enabled", "--coverage.reporter=json-summary", f"--coverage.reportsDirectory={_COVERAGE}"]
    run += ["--coverage.reportOnFailure", *([] if provider == "v8" else [f"--coverage.provider={provider}"])]
    return {"tests": _tests(run, report, "jest-json"), "coverage": _written_by_the_tests()}, ()


def _mocha(runner: Runner) -> tuple[Checks, tuple[str, ...]]:
    report, format_, how = "{reports}/mocha.json", "mocha-json", "json"
    if (runner.package.version("mocha") or _JSON_OUTPUT_SINCE) < _JSON_OUTPUT_SINCE:
        report, format_, how = "{reports}/mocha.xml", "junit", "xunit"
    words = ["--ignore=.aiwg/**", "--reporter", how, "--reporter-option", f"output={report}"]
    run = [*runner.call, *runner.words, *words]
    wrapper = runner.usage.wrapper or next(((name,) for name in _WRAPPERS if name in runner.package.declared), ())
    call = runner.package.tool(wrapper[0]) if wrapper else None
    if call is None:
        how = runner.package.install if wrapper else f"{runner.package.add} c8"
        return {"tests": _tests(run, report, format_)}, (f"{wrapper[0] if wrapper else 'coverage'} not found: {how}",)
    temporary, folder = _WRAPPERS[wrapper[0]]
    own = without(wrapper[1:], _WRAPPER_FLAGS, _WRAPPER_VALUED)
    data = f"{temporary}={{reports}}/{wrapper[0]}"
    run = [*call, *own, data, "--reporter=json-summary", f"{folder}={_COVERAGE}", *run]
    checks = {"tests": _tests(run, report, format_), "coverage": _written_by_the_tests()}
    return checks, _counting_copies(runner.package, wrapper)


def _counting_copies(package: Package, wrapper: tuple[str, ...]) -> tuple[str, ...]:
    """Say so where every file counts, loaded or not: the wrapper's own list cannot be added to from outside."""
    tables = [package.table(wrapper[0]), *(read_json(package.root / name) or {} for name in _WRAPPER_FILES[wrapper[0]])]
    if "--all" not in wrapper and not any(table.get("all") for table in tables):
        return ()
    if any(".aiwg" in str(table.get("exclude", "")) for table in tables):
        return ()
    return (f"{wrapper[0]} counts every file, also what is kept of iterations; add .aiwg/** to its exclude",)


def _tests(run: list[str], report: str, format_: str) -> dict[str, Any]:
    return {"run": run, "reports": [report], "format": format_}


def _written_by_the_tests() -> dict[str, Any]:
    """Return a check that only looks whether the tests have left a report, so that what is missing is said."""
    return {"run": ["test", "-s", _SUMMARY], "reports": [_SUMMARY], "format": "istanbul-summary", "needs": ["tests"]}


_CHECKS: Final[dict[str, Callable[[Runner], tuple[Checks, tuple[str, ...]]]]] = {
    "vitest": _vitest,
    "jest": _jest,
    "mocha": _mocha,
}
