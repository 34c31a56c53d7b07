"""JavaScript and TypeScript: the test runners, linters and type checkers that are installed in the project.

Copies of earlier iterations are below `.aiwg`, which each tool is told to ignore unless it skips hidden folders.
"""

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ralph_tracker.measure.ecosystems.detected_ecosystem import (
    Checks,
    Ecosystem,
    by_status,
    left_by_the_tests,
    made_of,
    reported,
)
from ralph_tracker.measure.ecosystems.package_json import (
    Package,
    Usage,
    builds,
    formats,
    package_of,
    read_json,
    usage_of,
    without,
    without_bail,
    without_formatting,
)
from ralph_tracker.measure.installed_tools import PROBE_TIMEOUT_S, program, version_of
from ralph_tracker.safe_files import text_of

RUNNERS: Final = ("vitest", "jest", "mocha", "ava", "tap", "tape", "qunit")
# What they are told in order to print TAP.
_TAP: Final = {"ava": ("--tap",), "tap": ("--reporter=tap",), "tape": (), "qunit": ("--reporter", "tap")}
# These belong to the runtime: a script calls the runtime, with a word of its own.
_OF_RUNTIMES: Final = {"node": "--test", "bun": "test"}
_UNREADABLE: Final = ("uvu", "jasmine", "karma", "playwright", "cypress", "lab", "wdio")
_COVERAGE: Final = "{reports}/coverage-node"
_COVERED: Final = left_by_the_tests(f"{_COVERAGE}/coverage-summary.json", "istanbul-summary")
_JSON_OUTPUT_SINCE: Final = (9, 2)  # of mocha; before, its JSON was mixed with the output of tests
_IGNORED_MODULES: Final = "modulePathIgnorePatterns"
_ROOT: Final = (".", "./")
# What node before 21 runs by itself, but for what is in folders whose names begin with a dot, where it looks too.
_TEST_FILES: Final = (
    r"$(find . \( -name node_modules -o -name '.?*' \) -prune -o -type f -name '*.*js' -print | "
    r"grep -E '/(test|test-[^/]+|[^/]+[._-]test)\.[cm]?js$|/test/.*\.[cm]?js$')"
)
# Versions of node-tap that look for tests in folders whose names begin with a dot, too.
_TAP_LOOKS_EVERYWHERE: Final = ((14,), (18,))
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
# The options of both wrappers for their folders.
_FOLDER_OPTIONS: Final = {"nyc": ("--temp-dir", "--report-dir"), "c8": ("--temp-directory", "--reports-dir")}


@dataclass(frozen=True, slots=True)
class Runner:
    """An installed runner, how it is called and how the project's script uses it."""

    name: str
    call: tuple[str, ...]
    usage: Usage
    package: Package
    version: tuple[int, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Return the script's own words without those that we set ourselves."""
        return without(
            without_bail(self.usage.words),
            _FLAGS.get(self.name, frozenset({"-w", "--watch"})),
            _VALUED.get(self.name, frozenset({"--reporter"})),
        )


def test_checks(runner: Runner) -> tuple[Checks, tuple[str, ...]]:
    """Return the checks of a runner, and notes on what its coverage lacks."""
    checks, notes = _CHECKS[runner.name](runner)
    if runner.usage.env:
        checks["tests"]["env"] = dict(runner.usage.env)
    return checks, (*notes, *_what_finds_our_copies(runner))


def _what_finds_our_copies(runner: Runner) -> tuple[str, ...]:
    """Return the note on a runner that, called without our options, runs the copies of tests below `.aiwg`."""
    setting = {"jest": "<rootDir>/.aiwg/ in modulePathIgnorePatterns", "vitest": ".aiwg/** in test.exclude"}
    files = [path for name in ("*.config.*", "package.json") for path in runner.package.root.glob(name)]
    if runner.name not in setting or any(".aiwg" in (text_of(path) or "") for path in files):
        return ()
    return (f"{runner.name} run by hand also finds the copies of tests in .aiwg; name {setting[runner.name]}",)


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
        # a pattern of tests would replace the project's own; these are rarely set
        *(f"--{_IGNORED_MODULES}={pattern}" for pattern in patterns),
        "--json",
        f"--outputFile={report}",
    ]
    return {"tests": reported(run, report, "jest-json"), "coverage": _COVERED}, ()


def _ignored_by_jest(runner: Runner) -> list[str]:
    """Return the project's own patterns, which ours would replace; jest is only asked if a configuration has them."""
    root = runner.package.root
    files = [path for name in ("jest.config.*", "package.json") for path in root.glob(name)]
    if not any(_IGNORED_MODULES in (text_of(path) or "") for path in files):
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
    run = [*runner.call, "run", *runner.words, "--exclude=.aiwg/**"]
    # the JSON lacks errors outside of tests, which the default reporter prints
    run += ["--reporter=json", "--reporter=default", f"--outputFile={report}"]
    provider = next((name for name in ("v8", "istanbul") if runner.package.version(f"@vitest/coverage-{name}")), None)
    if provider is None:
        missing = f"coverage not found: {runner.package.add} @vitest/coverage-v8"
        return {"tests": reported(run, report, "jest-json")}, (missing,)
    # without reportOnFailure, failing tests have no coverage
    run += ["--coverage.enabled", "--coverage.reporter=json-summary", f"--coverage.reportsDirectory={_COVERAGE}"]
    run += ["--coverage.reportOnFailure", *([] if provider == "v8" else [f"--coverage.provider={provider}"])]
    return {"tests": reported(run, report, "jest-json"), "coverage": _COVERED}, ()


def _mocha(runner: Runner) -> tuple[Checks, tuple[str, ...]]:
    report, format_, how = "{reports}/mocha.json", "mocha-json", "json"
    if (runner.package.version("mocha") or _JSON_OUTPUT_SINCE) < _JSON_OUTPUT_SINCE:
        report, format_, how = "{reports}/mocha.xml", "junit", "xunit"
    words = ["--ignore=.aiwg/**", "--reporter", how, "--reporter-option", f"output={report}"]
    return _coverage_checks(runner, [*runner.call, *runner.words, *words], report, format_)


def _of_tap(runner: Runner) -> tuple[Checks, tuple[str, ...]]:
    run = [*runner.call, *runner.words, *_TAP[runner.name]]
    since, before = _TAP_LOOKS_EVERYWHERE
    if runner.name == "tap" and since <= (runner.package.version("tap") or before) < before:
        settings = runner.package.document.get("tap")
        own = settings.get("test-ignore") if isinstance(settings, dict) else None
        run.append("--test-ignore=" + "|".join(filter(None, (own if isinstance(own, str) else None, r"^[.]aiwg/"))))
    return _coverage_checks(runner, run, "-", "tap")


def _coverage_checks(runner: Runner, run: list[str], report: str, format_: str) -> tuple[Checks, tuple[str, ...]]:
    """Return the checks of a runner whose coverage nyc or c8 measures."""
    wrapper = runner.usage.wrapper or next(((name,) for name in _FOLDER_OPTIONS if name in runner.package.declared), ())
    call = runner.package.tool(wrapper[0]) if wrapper else None
    if call is None:
        how = runner.package.install if wrapper else f"{runner.package.add} c8"
        return {"tests": reported(run, report, format_)}, (f"{wrapper[0] if wrapper else 'coverage'} not found: {how}",)
    temporary, folder = _FOLDER_OPTIONS[wrapper[0]]
    own = without(wrapper[1:], _WRAPPER_FLAGS, _WRAPPER_VALUED)
    data = f"{temporary}={{reports}}/{wrapper[0]}"
    run = [*call, *own, data, "--reporter=json-summary", f"{folder}={_COVERAGE}", *run]
    checks = {"tests": reported(run, report, format_), "coverage": _COVERED}
    return checks, ()


def _node(runner: Runner) -> tuple[Checks, tuple[str, ...]]:
    report, lcov = "{reports}/node.xml", "{reports}/node.lcov"
    run = [*runner.call, "--test-reporter=junit", f"--test-reporter-destination={report}"]
    # JUnit has no output: why a file could not be run
    run += ["--test-reporter=spec", "--test-reporter-destination=stdout"]
    checks: Checks = {}
    # of node
    if runner.version >= (20, 11):
        run += ["--experimental-test-coverage", "--test-reporter=lcov", f"--test-reporter-destination={lcov}"]
        checks["coverage"] = left_by_the_tests(lcov, "lcov")
    words = [*run, *(word for word in runner.words if word not in _ROOT)]
    how: list[str] | str = words
    # Node expands patterns itself since 21; before, the shell did.
    if runner.version < (21,):
        expanded = " ".join(word if "*" in word else shlex.quote(word) for word in words)
        if any("*" in word for word in words):
            how = expanded
        elif not any((runner.package.root / word).exists() for word in runner.words if word not in _ROOT):
            how = f"{expanded} {_TEST_FILES}"
    return {"tests": reported(how, report, "junit"), **checks}, ()


def _bun(runner: Runner) -> tuple[Checks, tuple[str, ...]]:
    report, folder = "{reports}/bun.xml", "{reports}/coverage-bun"
    run = [*runner.call, *runner.words, "--reporter=junit", f"--reporter-outfile={report}"]
    run += ["--coverage", "--coverage-reporter=lcov", f"--coverage-dir={folder}"]
    coverage = left_by_the_tests(f"{folder}/lcov.info", "lcov")
    return {"tests": reported(run, report, "junit"), "coverage": coverage}, ()


_CHECKS: Final[dict[str, Callable[[Runner], tuple[Checks, tuple[str, ...]]]]] = {
    "vitest": _vitest,
    "jest": _jest,
    "mocha": _mocha,
    "node": _node,
    "bun": _bun,
    **dict.fromkeys(_TAP, _of_tap),
}


NAME: Final = "node"
_NOT_RUN: Final = "the test script also runs {steps} first; put that in front of the check if the tests depend on it"
_NO_TESTS: Final = "no test specified"  # what `npm init` writes
_EMITS_NOTHING: Final = re.compile(r'"noEmit"\s*:\s*true')
_FORMATS: Final = (
    "the test script rewrites the source (`{script}`), which no check may do; name the part that only tests with "
    "`ralph-tracker init --test-command 'COMMAND'`"
)
_BIOME_SINCE: Final = (2, 4)  # of its checkstyle report
_BIOME_VALUED: Final = frozenset({"--reporter", "--reporter-file", "--max-diagnostics", "--colors"})
_LINT_FILES: Final = ("eslint.config.*", ".eslintrc", ".eslintrc.*")
_LINT_VALUED: Final = frozenset(
    {"-f", "--format", "-o", "--output-file", "--cache-location", "--cache-file", "--cache-strategy", "--max-warnings"}
    | {"--fix-type"}
)
_REFERENCE: Final = re.compile(r'"path"\s*:\s*"([^"]+)"')
_NO_FILES: Final = re.compile(r'"files"\s*:\s*\[\s*\]')
_COMMENT: Final = re.compile(r"^\s*(?://[^\n]*|/\*.*?\*/)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Part:
    """The checks of one kind; `is_used` if a script of the project calls the tool."""

    checks: Checks
    tools: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    is_used: bool = False


def detect(root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return how a project with a package.json can be measured, None without one."""
    package = package_of(root)
    if package is None:
        return None
    if not package.document:
        return Ecosystem(NAME, notes=(f"package.json in {root} is empty or cannot be read; fix it",))
    version = version_of(("node",), root, environment) if program("node", environment) else None
    call: tuple[str, ...] = ("node",)
    if version is None and program("bun", environment):
        call, version = ("bun",), version_of(("bun",), root, environment)
    if version is None:
        return Ecosystem(NAME, notes=(f"no Node.js found for {root}; install it, and have node on PATH",))
    parts = [_tests_part(package, version, environment), _lint(package), _types(package)]
    whole = Ecosystem(
        NAME,
        call,
        version,
        {name: call for part in parts for name, call in part.tools.items()},
        {name: check for part in parts for name, check in part.checks.items()},
        tuple(note for part in parts for note in part.notes),
        tuple(template for part in parts for template in part.templates),
    )
    members = [] if parts[0].is_used else package.workspaces
    return _with_members(whole, root, members, environment) if members else whole


def _with_members(whole: Ecosystem, root: Path, members: list[str], environment: Mapping[str, str]) -> Ecosystem:
    """Return a project whose packages have tests of their own, each measured in its folder.

    What the root has a check for, such as its linter, is not asked of the packages again.
    """
    others = {name: check for name, check in whole.checks.items() if name.partition("-")[0] in {"lint", "types"}}
    parts: list[tuple[str, Ecosystem]] = []
    for member in members:
        own = detect(root / member, environment)
        if own is not None:
            kept = {name: check for name, check in own.checks.items() if name.partition("-")[0] not in others}
            parts.append((member, replace(own, checks=kept)))
    made = made_of(whole, parts)
    return replace(made, checks={**made.checks, **others}) if "tests" in made.checks else whole


def _missing_note(package: Package, tool: str) -> str:
    how = package.install if tool in package.declared else f"{package.add} {tool}"
    return f"{tool} not found: {how}"


def _tests_part(package: Package, version: str, environment: Mapping[str, str]) -> _Part:
    """Return the checks of the runner that the test script calls, else of the first that is declared."""
    scripts = package.scripts
    names = ["test", *sorted(name for name in scripts if name.startswith("test") and name != "test"), "unit"]
    used = {name: usage for name in RUNNERS if (usage := usage_of(name, scripts, names))}
    used |= {name: usage for name, word in _OF_RUNTIMES.items() if (usage := usage_of(name, scripts, names, word))}
    by_test = [name for name in used if usage_of(name, scripts, ["test"], _OF_RUNTIMES.get(name)) is not None]
    declared = [name for name in RUNNERS if name in package.declared]
    # a script that calls another program, such as gulp, knows how a runner without settings is called
    has_script = "test" in scripts and _NO_TESTS not in scripts["test"]
    runnable = [name for name in declared if not has_script or _is_configured(package, name)]
    chosen = next(iter([*by_test, *used, *runnable]), None)
    if chosen is None:
        return _without_runner(package, scripts)
    call = package.tool(chosen)
    if call is None and program(chosen, environment) and chosen in _OF_RUNTIMES:
        call = (chosen,)
    if call is None:
        how = "install Bun, and have bun on PATH" if chosen == "bun" else None
        return _Part({}, {}, (f"{chosen} not found: {how}" if how else _missing_note(package, chosen),))
    usage = used.get(chosen, Usage())
    numbers = tuple(int(each) for each in version.split(".") if each.isdecimal())
    how_called = (*usage.program[:-1], *call) if usage.program[-1:] == (chosen,) else usage.program or call
    checks, notes = test_checks(Runner(chosen, how_called, usage, package, numbers))
    built, first = _first_steps(package, usage)
    run = checks["tests"]["run"]
    if built:
        checks["tests"]["run"] = " && ".join([*built, run if isinstance(run, str) else shlex.join(run)])
    steps = ", ".join(f"`{command}`" for command in first)
    left_out = [_NOT_RUN.format(steps=steps)] if steps else []
    others = [f"{name} is here too; add a check where its tests count" for name in declared if name != chosen]
    tools = {} if chosen == "node" else {chosen: call}
    said = (*notes, *left_out, *others)
    return _Part(checks, tools, said, is_used=chosen in used)


def _without_runner(package: Package, scripts: Mapping[str, str]) -> _Part:
    """Return the test script as a check by its exit status, or what to install where there is none."""
    if "test" not in scripts or _NO_TESTS in scripts["test"]:
        return _Part({}, {}, (f"no test runner found: {package.add} vitest, or jest, or mocha",))
    if not package.is_installed:
        return _Part({}, {}, (f"the test script is left out until its packages are installed: {package.install}",))
    manager = package.install.split()[0]
    command: tuple[str, ...] = ("bun", "run", "test") if manager == "bun" else (manager, "test")
    if formats(scripts["test"], scripts) or formats(scripts.get("pretest", ""), scripts):
        rest = without_formatting(scripts["test"], scripts)
        if rest is None:
            return _Part({}, {}, (_FORMATS.format(script=scripts["test"]),))
        command = ("npm", "exec", "-c", rest)
    check, note, template = by_status(command, f"{' '.join(command)} -- --reporter=junit", "path/to/junit.xml")
    seen = [name for name in _UNREADABLE if name in package.declared or usage_of(name, scripts, ["test"])]
    named = (f"{', '.join(seen)} is here and has no report that can be read",) if seen else ()
    return _Part(check, {}, (*named, note), (template,))


def _is_configured(package: Package, runner: str) -> bool:
    # Vitest needs no settings for files of these names.
    own = ["vite.config.*", "*.test.*", "src/**/*.test.*", "test*/**/*.test.*"] if runner == "vitest" else []
    names = (f"{runner}.config.*", f".{runner}rc*", *own)
    return bool(package.table(runner)) or any(next(package.root.glob(name), None) for name in names)


def _first_steps(package: Package, usage: Usage) -> tuple[list[str], list[str]]:
    """Return what the test script runs before the tests: what builds the code that they load, and the rest."""
    scripts = package.scripts
    pretest = {scripts["pretest"]: f"{package.install.split()[0]} run pretest"} if "pretest" in scripts else {}
    built: list[str] = []
    others: list[str] = []
    for command in (*pretest, *usage.before):
        if builds(command, scripts) and not formats(command, scripts) and not _only_checks(package, command):
            words = shlex.split(command)
            call = package.tool(words[0])
            built.append(pretest.get(command) or (command if call is None else shlex.join([*call, *words[1:]])))
        elif not formats(command, scripts):
            others.append(command)
    return built, others


def _only_checks(package: Package, command: str) -> bool:
    """Return whether a command is tsc by settings with which it writes nothing."""
    words = shlex.split(command)
    if "tsc" not in words:
        return False
    at = next((words.index(word) + 1 for word in ("-p", "--project", "-b", "--build") if word in words[:-1]), None)
    path = package.root / ("tsconfig.json" if at is None else words[at])
    return _EMITS_NOTHING.search(text_of(path / "tsconfig.json" if path.is_dir() else path) or "") is not None


def _lint(package: Package) -> _Part:
    """Return the first linter that can be read, with a note on those that cannot."""
    names = ["lint", *sorted(name for name in package.scripts if name != "lint")]
    used = {name: usage_of(name, package.scripts, names) for name in (*_LINTERS, *_UNREAD_LINTERS)}
    seen = [name for name, usage in used.items() if usage is not None or _PACKAGES.get(name, name) in package.declared]
    parts = [_LINTERS[name](package, used[name] or Usage()) for name in seen if name in _LINTERS]
    best = next((part for part in parts if part.checks), parts[0] if parts else _Part({}, {}))
    unread = tuple(
        f"{name} is here and cannot be read; add a check with kind: build, so that its exit status counts"
        for name in seen
        if name in _UNREAD_LINTERS
    )
    return replace(best, notes=(*best.notes, *unread))


def _eslint(package: Package, usage: Usage) -> _Part:
    call = package.tool("eslint")
    if call is None:
        return _Part({}, {}, (_missing_note(package, "eslint"),))
    if not package.table("eslintConfig") and not any(next(package.root.glob(name), None) for name in _LINT_FILES):
        return _Part({}, {"eslint": call}, ("eslint has no configuration: npm init @eslint/config",))
    words = without(usage.words, frozenset({"--fix", "--fix-dry-run", "--cache", "--color"}), _LINT_VALUED) or (".",)
    report = "{reports}/eslint.json"
    run = [*call, *words, "--ignore-pattern", ".aiwg/**", "-f", "json", "-o", report]
    return _Part({"lint": reported(run, report, "eslint-json", env=usage.env)}, {"eslint": call})


def _biome(package: Package, usage: Usage) -> _Part:
    """Read Biome's checkstyle or SARIF report; what a script formats as well counts as findings."""
    call = package.tool("biome")
    if call is None:
        return _Part({}, {}, (_missing_note(package, "@biomejs/biome"),))
    version = package.version("@biomejs/biome") or _BIOME_SINCE
    if version < _BIOME_SINCE:
        return _Part({}, {"biome": call}, ("biome has no report that can be read before 2.4; update it",))
    action, *rest = usage.words if usage.words[:1] and usage.words[0] in ("lint", "check", "ci") else ("lint", ".")
    words = without(rest, frozenset({"--write", "--unsafe", "--fix", "--apply", "--apply-unsafe"}), _BIOME_VALUED)
    run = [*call, action, *(words or ["."]), "--max-diagnostics=none", "--reporter=checkstyle"]
    return _Part({"lint": reported(run, "-", "checkstyle", env=usage.env)}, {"biome": call})


def _oxlint(package: Package, usage: Usage) -> _Part:
    call = package.tool("oxlint")
    if call is None:
        return _Part({}, {}, (_missing_note(package, "oxlint"),))
    words = without(usage.words, frozenset({"--fix", "--fix-suggestions"}), frozenset({"-f", "--format"}))
    run = [*call, *words, "--ignore-pattern=.aiwg/**", "--format=checkstyle"]
    return _Part({"lint": reported(run, "-", "checkstyle", env=usage.env)}, {"oxlint": call})


def _xo(package: Package, usage: Usage) -> _Part:
    call = package.tool("xo")
    if call is None:
        return _Part({}, {}, (_missing_note(package, "xo"),))
    words = without(usage.words, frozenset({"--fix", "--open"}), frozenset({"--reporter"}))
    run = [*call, *words, "--ignore=.aiwg/**", "--reporter=json"]
    return _Part({"lint": reported(run, "-", "eslint-json", env=usage.env)}, {"xo": call})


_LINTERS: Final[dict[str, Callable[[Package, Usage], _Part]]] = {
    "eslint": _eslint,
    "biome": _biome,
    "oxlint": _oxlint,
    "xo": _xo,
}
_PACKAGES: Final = {"biome": "@biomejs/biome"}
_UNREAD_LINTERS: Final = ("standard", "tslint", "semistandard", "jshint", "prettier")


def _types(package: Package) -> _Part:
    """Return a type check for tsconfig.json, or for each project that it only refers to; tsc skips dotted folders."""
    path = package.root / "tsconfig.json"
    if not path.is_file():
        return _Part({}, {})
    call = package.tool("tsc")
    if call is None:
        return _Part({}, {}, (_missing_note(package, "typescript"),))
    checks: Checks = {}
    for number, project in enumerate(_programs(path), start=1):
        name = "types" if number == 1 else f"types-{number}"
        which = [] if project is None else ["-p", project]
        # else the build info of a project with references would be written into the tree
        notes = ["--incremental", "--tsBuildInfoFile", f"{{reports}}/{name}.tsbuildinfo"]
        run = [*call, *which, "--noEmit", "--pretty", "false", *notes]
        kind = {} if number == 1 else {"kind": "types"}
        checks[name] = {"run": run, "reports": ["-"], "format": "tsc-text", **kind}
    return _Part(checks, {"tsc": call})


def _programs(path: Path) -> list[str | None]:
    """Return the projects that a tsconfig.json only refers to, [None] if it is one itself."""
    document = read_json(path)
    text = "" if document is not None else _COMMENT.sub("", text_of(path) or "")
    if document is not None:
        empty = document.get("files") == []
        references = [each.get("path") for each in document.get("references") or () if isinstance(each, Mapping)]
    else:
        found = re.search(r'"references"\s*:\s*\[(.*?)\]', text, flags=re.DOTALL)
        empty, references = _NO_FILES.search(text) is not None, _REFERENCE.findall(found[1]) if found else []
    named: list[str | None] = [each for each in references if isinstance(each, str)]
    return named if empty and named else [None]
