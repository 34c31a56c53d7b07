"""JavaScript and TypeScript: jest, vitest or mocha, eslint and tsc, as installed in the project.

Copies of earlier iterations are below `.aiwg`, which each tool is told to ignore.
"""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

from ralph_tracker.config.regular_file import text_of
from ralph_tracker.measure.ecosystems.found import PROBE_TIMEOUT_S, Checks, Ecosystem, program, version_of

_LOCKS: Final = {
    "pnpm-lock.yaml": "pnpm install",
    "yarn.lock": "yarn install",
    "bun.lock": "bun install",
    "bun.lockb": "bun install",
    "package-lock.json": "npm ci",
    "npm-shrinkwrap.json": "npm ci",
}
_DEPENDENCIES: Final = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_ADDING: Final = {"pnpm": "pnpm add -D", "yarn": "yarn add -D", "bun": "bun add -d", "npm": "npm install -D"}


@dataclass(frozen=True, slots=True)
class Package:
    """The readable content of a package.json; `root` is absolute."""

    root: Path
    document: Mapping[str, Any]

    @property
    def declared(self) -> frozenset[str]:
        """Return the names of all packages that it depends on."""
        return frozenset(name for key in _DEPENDENCIES for name in self._table(key))

    @property
    def scripts(self) -> dict[str, str]:
        """Return its scripts that are strings."""
        return {name: text for name, text in self._table("scripts").items() if isinstance(text, str)}

    @property
    def install(self) -> str:
        """Return the command that installs the dependencies, by the lock file."""
        return next((command for folder in self._folders() for command in _installing(folder)), "npm install")

    @property
    def add(self) -> str:
        """Return the command that adds a tool, without its name."""
        return _ADDING[self.install.split()[0]]

    def tool(self, name: str) -> tuple[str, ...] | None:
        """Return how an installed tool is called, None if it is not installed; nothing is downloaded."""
        for folder in self._folders():
            path = folder / "node_modules" / ".bin" / name
            if path.is_file():
                return (os.path.relpath(path, self.root),)
        unpacked_nowhere = (self.root / ".pnp.cjs").is_file() and name in self.declared
        return ("yarn", "run", name) if unpacked_nowhere else None

    def version(self, name: str) -> tuple[int, ...] | None:
        """Return the numeric version of an installed package, None if it is not installed."""
        for folder in self._folders():
            document = read_json(folder / "node_modules" / name / "package.json")
            if document is not None:
                numbers = str(document.get("version", "")).split("-")[0].split(".")
                return tuple(int(number) for number in numbers if number.isdecimal())
        return None

    def table(self, key: str) -> Mapping[str, Any]:
        """Return a tool's own table, {} without one."""
        return self._table(key)

    def _table(self, key: str) -> Mapping[str, Any]:
        table = self.document.get(key)
        return table if isinstance(table, Mapping) else {}

    def _folders(self) -> Iterator[Path]:
        """Yield the folders that node searches, up to the repository's root: workspaces share their tools."""
        for folder in (self.root, *self.root.parents):
            yield folder
            if (folder / ".git").exists():
                return


def package_of(root: Path) -> Package | None:
    """Return the package of a folder, empty if its package.json cannot be read, None if there is none."""
    if not (root / "package.json").is_file():
        return None
    return Package(root.absolute(), read_json(root / "package.json") or {})


def read_json(path: Path) -> Mapping[str, Any] | None:
    """Return a JSON object from a file, None if it is missing or cannot be read."""
    try:
        document = json.loads(text_of(path) or "")
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, Mapping) else None


def _installing(folder: Path) -> Iterator[str]:
    return (command for lock, command in _LOCKS.items() if (folder / lock).is_file())


_OPERATOR: Final = re.compile(r"[();<>|&]+")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_UNKNOWN_TO_US: Final = re.compile(r"[$`]")
_MANAGERS: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_RUNNERS: Final = frozenset({"npx", "bunx", "cross-env", "env", "exec", "--no-install", "--no", "-y", "--yes", "--"})
_WRAPPERS: Final = frozenset({"nyc", "c8"})
_DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class Usage:
    """How a script calls a tool: its words, its environment and context.

    `program` are the words before them if node itself is called, else empty; `wrapper` are the words of nyc or c8, the
    name first; `before` are the commands that the script runs earlier.
    """

    words: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


def usage_of(tool: str, scripts: Mapping[str, str], names: Sequence[str]) -> Usage | None:
    """Return how the first script that calls a tool does so, None if none does."""
    return next((found for name in names if (found := _in_script(tool, scripts, name, _DEPTH))), None)


def without(words: Sequence[str], flags: frozenset[str], valued: frozenset[str]) -> tuple[str, ...]:
    """Return the words without options that we set or that would change the tree; `valued` ones take a value."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        name, given, _ = word.partition("=")
        if name in valued and not given:
            next(rest, None)
        elif name not in flags | valued:
            kept.append(word)
    return tuple(kept)


def _in_script(tool: str, scripts: Mapping[str, str], name: str, depth: int) -> Usage | None:
    """Search a script, and the scripts that it runs."""
    before: list[str] = []
    for words in _commands(scripts.get(name, "")) if depth else ():
        found = _in_command(tool, words, scripts)
        other = None if found is not None else _script_of(words, scripts)
        if other is not None:
            found = _in_script(tool, scripts, other, depth - 1)
        if found is not None:
            return Usage(found.words, found.env, found.program, found.wrapper, (*before, *found.before))
        before.append(shlex.join(words))
    return None


def _commands(script: str) -> Iterator[list[str]]:
    """Yield the commands between the shell's operators; none if the script cannot be split."""
    lexer = shlex.shlex(script, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        for word in lexer:
            if not _OPERATOR.fullmatch(word):
                words.append(word)
            elif words:
                yield words
                words = []
    except ValueError:
        return
    if words:
        yield words


def _in_command(tool: str, words: Sequence[str], scripts: Mapping[str, str]) -> Usage | None:
    env, rest = _without_runners(words)
    if rest[:1] and rest[0] in _MANAGERS and rest[1:2] == [tool] and tool not in scripts:
        rest = rest[1:]
    at = next((place for place, word in enumerate(rest) if _is_call(word, tool)), None)
    if at is None or not (at == 0 or rest[0] in _WRAPPERS or rest[0] == "node"):
        return None
    own, front = tuple(rest[at + 1 :]), tuple(rest[:at])
    if any(_UNKNOWN_TO_US.search(word) for word in own):
        own = ()
    by_node = front[:1] == ("node",)
    program = (*front, rest[at]) if by_node else ()
    wrapper = () if by_node else tuple(word for word in front if word not in _RUNNERS)
    return Usage(own, env, program, wrapper)


def _without_runners(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Split a command into its environment and its words, without runners such as npx."""
    env: dict[str, str] = {}
    for place, word in enumerate(words):
        if _ASSIGNMENT.match(word):
            name, _, value = word.partition("=")
            env |= {} if _UNKNOWN_TO_US.search(value) else {name: value}
        elif not (word in _RUNNERS or (word in _MANAGERS and words[place + 1 : place + 2] == ["exec"])):
            return env, list(words[place:])
    return env, []


def _is_call(word: str, tool: str) -> bool:
    """Return whether a word calls the tool, by name or by the path of its program."""
    path = PurePosixPath(word)
    return path.name in {tool, f"_{tool}"} or (path.name.startswith(f"{tool}.") and "node_modules" in path.parts)


def _script_of(words: Sequence[str], scripts: Mapping[str, str]) -> str | None:
    """Return the script that a command runs: `npm run x`, `npm test`, `yarn x`."""
    _, rest = _without_runners(words)
    if not rest or rest[0] not in _MANAGERS:
        return None
    named = [word for word in rest[1:] if not word.startswith("-") and word not in {"run", "run-script"}]
    return named[0] if named and named[0] in scripts else None


RUNNERS: Final = ("vitest", "jest", "mocha")
_COVERAGE: Final = "{reports}/coverage-node"
_SUMMARY: Final = f"{_COVERAGE}/coverage-summary.json"
_JSON_OUTPUT_SINCE: Final = (9, 2)  # of mocha; before, its JSON was mixed with the output of tests
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
# The options of both wrappers for their folders.
_FOLDER_OPTIONS: Final = {"nyc": ("--temp-dir", "--report-dir"), "c8": ("--temp-directory", "--reports-dir")}
_WRAPPER_FILES: Final = {"nyc": (".nycrc", ".nycrc.json"), "c8": (".c8rc", ".c8rc.json")}


@dataclass(frozen=True, slots=True)
class Runner:
    """An installed runner, how it is called and how the project's script uses it."""

    name: str
    call: tuple[str, ...]
    usage: Usage
    package: Package

    @property
    def words(self) -> tuple[str, ...]:
        """Return the script's own words without those that we set ourselves."""
        return without(self.usage.words, _FLAGS[self.name], _VALUED[self.name])


def test_checks(runner: Runner) -> tuple[Checks, tuple[str, ...]]:
    """Return the checks of a runner, and notes on what its coverage lacks."""
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
        # a pattern of tests would replace the project's own; these are rarely set
        *(f"--{_IGNORED_MODULES}={pattern}" for pattern in patterns),
        "--json",
        f"--outputFile={report}",
    ]
    return {"tests": _tests(run, report, "jest-json"), "coverage": _written_by_the_tests()}, ()


def _ignored_by_jest(runner: Runner) -> list[str]:
    """Return the project's own patterns, which ours would replace; jest is only asked if a configuration has them."""
    root = runner.package.root
    files = [path for name in _JEST_FILES for path in root.glob(name)]
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
    run = [*runner.call, "run", *runner.words, "--exclude=.aiwg/**", "--reporter=json", f"--outputFile={report}"]
    provider = next((name for name in ("v8", "istanbul") if runner.package.version(f"@vitest/coverage-{name}")), None)
    if provider is None:
        missing = f"coverage not found: {runner.package.add} @vitest/coverage-v8"
        return {"tests": _tests(run, report, "jest-json")}, (missing,)
    # without reportOnFailure, failing tests have no coverage
    run += ["--coverage.enabled", "--coverage.reporter=json-summary", f"--coverage.reportsDirectory={_COVERAGE}"]
    run += ["--coverage.reportOnFailure", *([] if provider == "v8" else [f"--coverage.provider={provider}"])]
    return {"tests": _tests(run, report, "jest-json"), "coverage": _written_by_the_tests()}, ()


def _mocha(runner: Runner) -> tuple[Checks, tuple[str, ...]]:
    report, format_, how = "{reports}/mocha.json", "mocha-json", "json"
    if (runner.package.version("mocha") or _JSON_OUTPUT_SINCE) < _JSON_OUTPUT_SINCE:
        report, format_, how = "{reports}/mocha.xml", "junit", "xunit"
    words = ["--ignore=.aiwg/**", "--reporter", how, "--reporter-option", f"output={report}"]
    run = [*runner.call, *runner.words, *words]
    wrapper = runner.usage.wrapper or next(((name,) for name in _FOLDER_OPTIONS if name in runner.package.declared), ())
    call = runner.package.tool(wrapper[0]) if wrapper else None
    if call is None:
        how = runner.package.install if wrapper else f"{runner.package.add} c8"
        return {"tests": _tests(run, report, format_)}, (f"{wrapper[0] if wrapper else 'coverage'} not found: {how}",)
    temporary, folder = _FOLDER_OPTIONS[wrapper[0]]
    own = without(wrapper[1:], _WRAPPER_FLAGS, _WRAPPER_VALUED)
    data = f"{temporary}={{reports}}/{wrapper[0]}"
    run = [*call, *own, data, "--reporter=json-summary", f"{folder}={_COVERAGE}", *run]
    checks = {"tests": _tests(run, report, format_), "coverage": _written_by_the_tests()}
    return checks, _counting_copies(runner.package, wrapper)


def _counting_copies(package: Package, wrapper: tuple[str, ...]) -> tuple[str, ...]:
    """Return a note if unloaded files count as well, since the wrapper's excludes cannot be extended from outside."""
    tables = [package.table(wrapper[0]), *(read_json(package.root / name) or {} for name in _WRAPPER_FILES[wrapper[0]])]
    if "--all" not in wrapper and not any(table.get("all") for table in tables):
        return ()
    if any(".aiwg" in str(table.get("exclude", "")) for table in tables):
        return ()
    return (f"{wrapper[0]} counts every file, also what is kept of iterations; add .aiwg/** to its exclude",)


def _tests(run: list[str], report: str, format_: str) -> dict[str, Any]:
    return {"run": run, "reports": [report], "format": format_}


def _written_by_the_tests() -> dict[str, Any]:
    """Return a check that only tests whether the tests left a report, so that a missing one is noticed."""
    return {"run": ["test", "-s", _SUMMARY], "reports": [_SUMMARY], "format": "istanbul-summary", "needs": ["tests"]}


_CHECKS: Final[dict[str, Callable[[Runner], tuple[Checks, tuple[str, ...]]]]] = {
    "vitest": _vitest,
    "jest": _jest,
    "mocha": _mocha,
}


NAME: Final = "node"
_LINT_FILES: Final = ("eslint.config.*", ".eslintrc", ".eslintrc.*")
_LINT_FLAGS: Final = frozenset({"--fix", "--fix-dry-run", "--cache", "--color"})
_LINT_VALUED: Final = frozenset(
    {"-f", "--format", "-o", "--output-file", "--cache-location", "--cache-file", "--cache-strategy", "--max-warnings"}
    | {"--fix-type"}
)
_REFERENCE: Final = re.compile(r'"path"\s*:\s*"([^"]+)"')
_REFERENCES: Final = re.compile(r'"references"\s*:\s*\[(.*?)\]', re.DOTALL)
_NO_FILES: Final = re.compile(r'"files"\s*:\s*\[\s*\]')
_COMMENT: Final = re.compile(r"^\s*(?://[^\n]*|/\*.*?\*/)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Part:
    """The checks of one kind."""

    checks: Checks
    tools: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()


def detect(root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return how a project with a package.json can be measured, None without one."""
    package = package_of(root)
    if package is None:
        return None
    if not package.document:
        return Ecosystem(NAME, notes=(f"package.json in {root} is empty or cannot be read; fix it",))
    version = version_of(("node",), root, environment) if program("node", environment) else None
    if version is None:
        return Ecosystem(NAME, notes=(f"no Node.js found for {root}; install it, and have node on PATH",))
    parts = [_tests_part(package), _lint(package), _types(package)]
    return Ecosystem(
        NAME,
        ("node",),
        version,
        {name: call for part in parts for name, call in part.tools.items()},
        {name: check for part in parts for name, check in part.checks.items()},
        tuple(note for part in parts for note in part.notes),
    )


def _missing(package: Package, tool: str) -> str:
    how = package.install if tool in package.declared else f"{package.add} {tool}"
    return f"{tool} not found: {how}"


def _tests_part(package: Package) -> _Part:
    """Return the checks of the runner that the test script calls, else of the first that is declared."""
    scripts = package.scripts
    names = ["test", *sorted(name for name in scripts if name.startswith("test") and name != "test"), "unit"]
    used = {name: usage for name in RUNNERS if (usage := usage_of(name, scripts, names))}
    by_test = [name for name in used if usage_of(name, scripts, ["test"])]
    declared = [name for name in RUNNERS if name in package.declared]
    chosen = next(iter([*by_test, *used, *declared]), None)
    if chosen is None:
        return _Part({}, {}, (f"no test runner found: {package.add} vitest, or jest, or mocha",))
    call = package.tool(chosen)
    if call is None:
        return _Part({}, {}, (_missing(package, chosen),))
    usage = used.get(chosen, Usage())
    checks, notes = test_checks(Runner(chosen, usage.program or call, usage, package))
    others = [f"{name} is here too; add a check where its tests count" for name in declared if name != chosen]
    return _Part(checks, {chosen: call}, (*notes, *_steps_not_run(usage, scripts), *others))


def _steps_not_run(usage: Usage, scripts: Mapping[str, str]) -> list[str]:
    """Return a note on the commands that the test script runs first, and the check does not."""
    first = [scripts["pretest"]] if "pretest" in scripts else []
    commands = ", ".join(f"`{command}`" for command in (*first, *usage.before))
    return (
        [f"the test script also runs {commands} first; put that in front of the check if the tests depend on it"]
        if commands
        else []
    )


def _lint(package: Package) -> _Part:
    names = ["lint", *sorted(name for name in package.scripts if name != "lint")]
    usage = usage_of("eslint", package.scripts, names)
    if usage is None and "eslint" not in package.declared:
        return _Part({}, {})
    call = package.tool("eslint")
    if call is None:
        return _Part({}, {}, (_missing(package, "eslint"),))
    if not package.table("eslintConfig") and not any(next(package.root.glob(name), None) for name in _LINT_FILES):
        return _Part({}, {"eslint": call}, ("eslint has no configuration: npm init @eslint/config",))
    words = without(usage.words, _LINT_FLAGS, _LINT_VALUED) if usage else ()
    report = "{reports}/eslint.json"
    run = [*call, *(words or ["."]), "--ignore-pattern", ".aiwg/**", "-f", "json", "-o", report]
    env = {"env": dict(usage.env)} if usage and usage.env else {}
    return _Part({"lint": {"run": run, "reports": [report], "format": "eslint-json", **env}}, {"eslint": call})


def _types(package: Package) -> _Part:
    """Return a type check for tsconfig.json, or for each project that it only refers to; tsc skips dotted folders."""
    path = package.root / "tsconfig.json"
    if not path.is_file():
        return _Part({}, {})
    call = package.tool("tsc")
    if call is None:
        return _Part({}, {}, (_missing(package, "typescript"),))
    programs = _programs(path)
    checks: Checks = {}
    for number, project in enumerate(programs, start=1):
        name = "types" if number == 1 else f"types-{number}"
        checks[name] = {**_type_check(call, name, project), **({} if number == 1 else {"kind": "types"})}
    return _Part(checks, {"tsc": call})


def _type_check(call: tuple[str, ...], name: str, project: str | None) -> dict[str, Any]:
    which = [] if project is None else ["-p", project]
    # else the build info of a project with references would be written into the tree
    notes = ["--incremental", "--tsBuildInfoFile", f"{{reports}}/{name}.tsbuildinfo"]
    run = [*call, *which, "--noEmit", "--pretty", "false", *notes]
    return {"run": run, "reports": ["-"], "format": "tsc-text"}


def _programs(path: Path) -> list[str | None]:
    """Return the projects that a tsconfig.json only refers to, [None] if it is one itself."""
    document = read_json(path)
    text = "" if document is not None else _COMMENT.sub("", text_of(path) or "")
    if document is not None:
        empty = document.get("files") == []
        references = [each.get("path") for each in document.get("references") or () if isinstance(each, Mapping)]
    else:
        found = _REFERENCES.search(text)
        empty, references = _NO_FILES.search(text) is not None, _REFERENCE.findall(found[1]) if found else []
    named: list[str | None] = [each for each in references if isinstance(each, str)]
    return named if empty and named else [None]
