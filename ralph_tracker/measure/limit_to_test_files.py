"""Limit a check of tests to certain test files, if its runner accepts files.

The project's command is kept, except for the words that name tests. If anything is not recognised for certain (another
runner, a shell script, a wrapper, an option that changes the folder) all tests run.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from ralph_tracker.measure.ecosystems.package_json import read_json
from ralph_tracker.measure.find_reports import PLACEHOLDER
from ralph_tracker.measure.run_checks import Check
from ralph_tracker.safe_files import text_of

# A file name that starts with these would be an option, or for pytest a file of options.
_OPTION_MARKS: Final = ("-", "@")
_TOKEN: Final = re.compile(
    r"""(?P<blank>[ \t]+|\\\n)
    |(?P<redirect>\d*(?:&>>?|[<>]{1,2}&?)[ \t]*[^\s'"\\;&|<>()]+)
    |(?P<operator>&&|\|\||[;&|\n])
    |(?P<word>(?:[^\s'"\\;&|<>()]|'[^']*'|"(?:[^"\\]|\\.)*"|\\.)+)""",
    re.VERBOSE,
)
_LAUNCHERS: Final = frozenset(
    {("env",), ("node",), ("npx",), ("bunx",), ("c8",), ("nyc",), ("coverage", "run"), ("uv", "run")}
    | {(tool, "run") for tool in ("poetry", "pdm", "pipenv", "hatch")}
    | {(tool, "exec") for tool in ("npm", "pnpm", "yarn")}
)
_LAUNCHER_VALUED: Final = frozenset(
    {"--with", "--extra", "--group", "--python", "--env-file", "--package", "-p", "-X", "-W", "-r", "--import"}
    | {"--source", "--rcfile", "--data-file", "--omit", "--include", "--context", "--concurrency"}
    | {"--reporter", "--report-dir", "--reports-dir", "--temp-dir", "--temp-directory", "-t"}
)
# Options that make a launcher run the tests of another folder.
_ELSEWHERE: Final = r"(?:--directory|--project|--prefix|--cwd|--chdir|-C)(?:=|$)"
_MANAGERS: Final = {"npm": ["--"], "pnpm": [], "yarn": [], "bun": []}
_QUIET: Final = frozenset({"-s", "--silent", "-q", "--quiet", "--if-present"})
_PYTEST_VALUED: Final = frozenset(
    {"-k", "-m", "-c", "-n", "-p", "-o", "-W", "-r", "--deselect", "--ignore", "--ignore-glob", "--rootdir"}
    | {"--confcutdir", "--basetemp", "--junitxml", "--junit-xml", "--maxfail", "--tb", "--durations", "--dist"}
    | {"--cov", "--cov-config", "--cov-report", "--import-mode", "--override-ini", "--config-file", "--log-file"}
)
_BY_PATH: Final = "--runTestsByPath"
_JEST_VALUED: Final = frozenset(
    {"-t", "--testNamePattern", "-c", "--config", "--outputFile", "--reporters", "--projects", "--selectProjects"}
    | {"-w", "--maxWorkers", "--coverageDirectory", "--coverageReporters", "--testTimeout", "--env", "--seed"}
    | {"--modulePathIgnorePatterns", "--testPathIgnorePatterns", "--collectCoverageFrom", "--setupFilesAfterEnv"}
)
_JEST_OTHERWISE: Final = (
    *("-o", "--onlyChanged", "--changedSince", "--lastCommit", "--findRelatedTests", "--shard", "--rootDir"),
    *("--testPathPattern", "--testPathPatterns", "--watch", "--watchAll", _BY_PATH),
)
_VITEST_VALUED: Final = frozenset(
    {"-t", "--testNamePattern", "-c", "--config", "--reporter", "--outputFile", "--project", "--exclude", "--pool"}
    | {"--environment", "--coverage.reporter", "--coverage.reportsDirectory", "--coverage.provider", "--mode"}
)
_GO_VALUED: Final = frozenset(
    f"{dashes}{name}"
    for dashes in ("-", "--")
    for name in (
        *("run", "skip", "bench", "benchtime", "blockprofile", "count", "covermode", "coverpkg", "coverprofile", "cpu"),
        *("cpuprofile", "exec", "fuzz", "fuzztime", "gcflags", "ldflags", "list", "memprofile", "mod", "modfile"),
        *("mutexprofile", "o", "outputdir", "overlay", "p", "parallel", "pkgdir", "shuffle", "tags", "timeout"),
        *("toolexec", "trace", "vet", "asmflags", "buildmode", "compiler", "installsuffix", "pgo"),
    )
)
_CARGO: Final = (("test",), ("t",), ("nextest", "run"), ("nextest", "r"), ("llvm-cov", "nextest"), ("llvm-cov",))
_CARGO_TARGETS: Final = (
    *("--lib", "--bin", "--bins", "--doc", "--test", "--tests", "--example", "--examples", "--bench", "--benches"),
    *("--all-targets", "--manifest-path", "-C", "-p", "--package", "--exclude"),
)


class LimitedCheck(NamedTuple):
    """A check, and whether it still runs all its tests (`whole`), because it could not be limited to files."""

    check: Check
    whole: bool


def limited_to_files(check: Check, files: Sequence[str], root: Path) -> LimitedCheck:
    """Limit a check of tests to existing test files, given relative to the project's root.

    Files that the check does not run anyway (outside its folder or the paths that it names) are left out; if none is
    left, all its tests run. Go runs the packages of the files, vitest every file whose path contains one.
    """
    cwd = root / check.cwd
    below = {_relative(root / file, cwd) for file in files if (root / file).is_file()}
    wanted = sorted(file for file in below if not file.startswith("../"))  # those of another part of the project
    if not wanted or any(file[0] in _OPTION_MARKS or PLACEHOLDER in file for file in wanted):
        return LimitedCheck(check, whole=True)
    run: str | list[str] | None
    if isinstance(check.run, str):
        run = _limited_line(check.run, wanted, cwd)
    else:
        run = _limited_words(check.run, wanted, cwd)
    return LimitedCheck(check, whole=True) if run is None else LimitedCheck(check._replace(run=run), whole=False)


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def _limited_line(line: str, files: Sequence[str], cwd: Path) -> str | None:
    """Limit the one command in a shell line that runs tests; the rest of the line is kept."""
    commands = _commands(line)
    if commands is None or any(_value(command[0]) in {"cd", "pushd", "popd"} for command in commands):
        return None
    words = [[_value(word) for word in command] for command in commands]
    found = [
        command
        for command, said in zip(commands, words, strict=True)
        if _runner_at(said) is not None or _script_at(said, cwd) is not None
    ]
    if len(found) != 1:
        return None
    command = found[0]
    start, end = command[0].start(), command[-1].end()
    raw = {_value(word): word[0] for word in command}
    # the shell may expand a word to names of tests
    expanded = any(re.search(r"[$`]", word) and not word.startswith("-") and "=" not in word for word in raw)
    redirected = any(match.lastgroup == "redirect" for match in _TOKEN.finditer(line, start, end))
    new = None if expanded or redirected else _limited_words([_value(word) for word in command], files, cwd)
    if new is None:
        return None
    # existing words keep their quoting, new ones are quoted
    return line[:start] + " ".join(raw.get(word) or shlex.quote(word) for word in new) + line[end:]


def _commands(line: str) -> list[list[re.Match[str]]] | None:
    """Split a shell line into its simple commands; None if it has more structure than operators."""
    commands: list[list[re.Match[str]]] = [[]]
    at = 0
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None or "<<" in match[0] or (match.lastgroup == "word" and match[0].startswith("#")):
            return None
        if match.lastgroup == "operator":
            commands.append([])
        elif match.lastgroup == "word":
            commands[-1].append(match)
        at = match.end()
    return [command for command in commands if command]


def _value(word: re.Match[str]) -> str:
    return "".join(shlex.split(word[0]))


def _limited_words(words: Sequence[str], files: Sequence[str], cwd: Path) -> list[str] | None:
    at = _runner_at(words)
    if at is None:
        return _limited_script(words, files, cwd)
    args = _RUNNERS[_program(words[at])](list(words[at + 1 :]), files, cwd)
    return None if args is None else [*words[: at + 1], *args]


def _runner_at(words: Sequence[str]) -> int | None:
    """Return the index of the runner's name, None if the command is not certainly a runner's."""
    at = 0
    while at < len(words):
        name = _program(words[at])
        if name in _RUNNERS:
            return at
        python = bool(re.fullmatch(r"python[\d.]*", name.rpartition(":")[2]))  # hatch names an environment before it
        if re.match(r"[A-Za-z_]\w*=", words[at]) or python or (name,) in _LAUNCHERS:
            at += 1
        elif (name, *words[at + 1 : at + 2]) in _LAUNCHERS:
            at += 2
        else:
            return None
        module = False
        while at < len(words) and words[at].startswith("-") and not module:
            if re.match(_ELSEWHERE, words[at]):
                return None
            module = words[at] in {"-m", "--module"}
            at += 2 if words[at] in _LAUNCHER_VALUED else 1
        if python and not module:
            return None
    return None


def _program(word: str) -> str:
    """Return the name of a program without folders, for scripts of node packages also without suffix."""
    path = PurePosixPath(word)
    return path.stem if "node_modules" in path.parts and path.suffix in {".js", ".cjs", ".mjs"} else path.name


def _script_at(words: Sequence[str], cwd: Path) -> str | None:
    """Return the script of package.json that a command runs, None if unknown."""
    plain = [word for word in words[: words.index("--") if "--" in words else None] if word not in _QUIET]
    if not plain or plain[0] not in _MANAGERS or any(word.startswith("-") for word in plain):
        return None
    rest = plain[2:] if plain[1:2] in (["run"], ["run-script"]) else plain[1:]
    name = {"t": "test", "tst": "test"}.get(rest[0], rest[0]) if len(rest) == 1 else None
    scripts = (read_json(cwd / "package.json") or {}).get("scripts")
    script = scripts.get(name) if isinstance(scripts, dict) and name else None
    return script if isinstance(script, str) else None


def _limited_script(words: Sequence[str], files: Sequence[str], cwd: Path) -> list[str] | None:
    """Append the words that limit a script's runner, unless they could be taken for the value of an option."""
    script = _script_at(words, cwd)
    commands = None if script is None else _commands(script)
    if not commands or len(commands) != 1 or commands[0][-1].end() != len(script or ""):
        return None
    given = list(words[words.index("--") + 1 :]) if "--" in words else []
    own = [*map(_value, commands[0]), *given]
    at = _runner_at(own)
    adds = None if at is None else {"jest": [_BY_PATH, *files], "vitest": files}.get(_program(own[at]))
    new = None if adds is None else _limited_words(own, files, cwd)
    if new is None or adds is None or sorted(new) != sorted([*own, *adds]):
        return None
    if adds[0] != _BY_PATH and own[-1].startswith("-") and "=" not in own[-1]:
        return None
    return [*words, *([] if "--" in words else _MANAGERS[words[0]]), *adds]


def _places(args: Sequence[str], valued: frozenset[str], is_path: Callable[[str], bool]) -> list[int]:
    """Return the indexes of words that are not options; a word after an unknown option is its value, unless it is a
    path.

    `valued` are the options whose value is the next word.
    """
    found = []
    for place, word in enumerate(args):
        before = args[place - 1] if place else ""
        is_value = before in valued or (before.startswith("-") and before != "--" and "=" not in before)
        if not word.startswith("-") and (not is_value or (before not in valued and is_path(word))):
            found.append(place)
    return found


def _without(args: Sequence[str], places: Iterable[int]) -> list[str]:
    return [word for place, word in enumerate(args) if place not in set(places)]


def _has(args: Iterable[str], options: Iterable[str]) -> bool:
    return any(word.partition("=")[0] in set(options) for word in args)


def _covers(folder: str, file: str) -> bool:
    """Return whether a path is a file or a folder above it."""
    path = os.path.normpath(folder)
    return path in {".", file} or file.startswith(f"{path}/")


def _there(cwd: Path) -> Callable[[str], bool]:
    return lambda word: (cwd / word).exists()


def _pytest(args: list[str], files: Sequence[str], cwd: Path) -> list[str] | None:
    if _has(args, {"--pyargs"}) or any(word.startswith("@") for word in args):
        return None

    def is_path(word: str) -> bool:
        return (cwd / word.partition("::")[0]).exists() or next(cwd.glob(word), None) is not None

    places = [place for place in _places(args, _PYTEST_VALUED, is_path) if is_path(args[place])]
    named = [args[place] for place in places] or ["."]
    new = []
    for file in files:
        if any("::" not in word and (_covers(word, file) or PurePosixPath(file).match(word)) for word in named):
            new.append(file)
        else:  # the tests of this file that the command names
            new += [word for word in named if os.path.normpath(word.partition("::")[0]) == file]
    # first, so that no option takes them for its value
    return [*new, *_without(args, places)] if new else None


def _jest(args: list[str], files: Sequence[str], cwd: Path) -> list[str] | None:
    if _has(args, _JEST_OTHERWISE):
        return None
    places = _places(args, _JEST_VALUED, _there(cwd))
    try:
        patterns = [re.compile(args[place], re.IGNORECASE) for place in places]
    except re.error:
        return None
    new = [file for file in files if not patterns or any(each.search(file) for each in patterns)]
    return [_BY_PATH, *new, *_without(args, places)] if new else None


def _vitest(args: list[str], files: Sequence[str], cwd: Path) -> list[str] | None:
    command = args[:1] if args[:1] == ["run"] else []
    rest = args[len(command) :]
    if _has(rest, {"-r", "--root", "--dir", "--shard", "--changed", "-w", "--watch"}):
        return None
    if rest[:1] and rest[0] in {"watch", "dev", "related", "bench", "list", "init", "typecheck"}:
        return None
    places = _places(rest, _VITEST_VALUED, _there(cwd))
    parts = [rest[place].removeprefix("./") for place in places]
    new = [file for file in files if not parts or any(part in file for part in parts)]
    return [*command, *new, *_without(rest, places)] if new else None


def _go(args: list[str], files: Sequence[str], cwd: Path) -> list[str] | None:
    """Replace the packages of the command by those of the files that it runs."""
    if args[:1] != ["test"] or _has(args, {"-C"}) or not all(file.endswith("_test.go") for file in files):
        return None
    end = next((place for place, word in enumerate(args) if word in {"-args", "--args"}), len(args))
    own, handed_on = args[1:end], args[end:]
    places = _places(own, _GO_VALUED, lambda _word: True)
    packages = [own[place] for place in places] or ["."]
    folders = sorted({PurePosixPath(file).parent.as_posix() for file in files})
    new = [f"./{folder}" if folder != "." else "." for folder in folders if _is_run(folder, packages, cwd)]
    at = places[0] if places else len(own)
    return (
        ["test", *_without(own[:at], places), *new, *_without(own, [*range(at), *places]), *handed_on] if new else None
    )


def _is_run(folder: str, packages: Sequence[str], cwd: Path) -> bool:
    """Return whether a package pattern includes a folder of the same module or workspace."""
    parts = PurePosixPath(folder).parts
    modules = (cwd.joinpath(*parts[:end]) / "go.mod" for end in range(1, len(parts) + 1))
    if not (cwd / "go.work").is_file() and any(path.is_file() for path in modules):
        return False
    for package in packages:
        path = package.removesuffix("...").removesuffix("/") or "."
        if not package.startswith(".") and not (cwd / path).is_dir():
            return True  # an import path, which is not resolved
        below = package.endswith("...") and _covers(path, folder)
        if below or os.path.normpath(path) == folder:
            return True
    return False


def _cargo(args: list[str], files: Sequence[str], cwd: Path) -> list[str] | None:
    """Name integration tests; unit tests inside source belong to the library, which cannot be divided."""
    toolchain = args[:1] if args[:1] and args[0].startswith("+") else []
    rest = args[len(toolchain) :]
    command = next((list(words) for words in _CARGO if tuple(rest[: len(words)]) == words), None)
    own = rest[: rest.index("--")] if "--" in rest else rest
    if command is None or _has(own, _CARGO_TARGETS):
        return None
    targets = [_target(PurePosixPath(file), cwd) for file in files]
    if None in targets:
        return None
    selected = [target for target in targets if target is not None]
    packages = sorted(
        {package for package, _ in selected if package is not None and not _has(own, {"--workspace", "--all"})}
    )
    new = [word for package in packages for word in ("-p", package)]
    new += [word for name in sorted({name for _, name in selected}) for word in ("--test", name)]
    return [*toolchain, *command, *new, *rest[len(command) :]]


def _target(file: PurePosixPath, cwd: Path) -> tuple[str | None, str] | None:
    """Return the package (None: in the current folder) and name of an integration test; None if it is not one."""
    for folder in file.parents:
        manifest = _toml(cwd / folder / "Cargo.toml")
        if manifest is not None:
            break
    else:
        return None
    inner = file.relative_to(folder)
    package = manifest.get("package", {}).get("name")
    if not isinstance(package, str):
        return None
    mine = None if folder == PurePosixPath() else package
    for target in manifest.get("test", []):
        if os.path.normpath(target.get("path", "")) == inner.as_posix() and "name" in target:
            return mine, target["name"]
    name = inner.parts[1] if len(inner.parts) == 3 and inner.name == "main.rs" else inner.stem
    is_target = inner.parts[0] == "tests" and inner.suffix == ".rs" and (len(inner.parts) == 2 or name != inner.stem)
    return (mine, name) if is_target else None


def _toml(path: Path) -> dict[str, Any] | None:
    text = text_of(path)
    if text is None:
        return None
    try:
        import tomllib  # noqa: PLC0415  # only Cargo manifests need it

        return tomllib.loads(text)
    except ValueError:
        return None


_RUNNERS: Final[dict[str, Callable[[list[str], Sequence[str], Path], list[str] | None]]] = {
    "pytest": _pytest,
    "py.test": _pytest,
    "jest": _jest,
    "vitest": _vitest,
    "go": _go,
    "cargo": _cargo,
}


_FLAGS: Final = frozenset(
    {"--cov", "--cov-branch", "--coverage", "--coverage.enabled", "--experimental-test-coverage", "--collectCoverage"}
)
_BEGINNINGS: Final = ("--cov=", "--cov-report", "--cov-config", "--coverage.", "--coverageReporters", "--coverageDir")
_BEGINNINGS_OF_GO: Final = ("-coverprofile=", "-covermode=", "-coverpkg=")
_REPORTER: Final = "--test-reporter=lcov"


def untraced(check: Check) -> Check | None:
    """Return a check of tests without its tracer, None if none is recognised, or it is a command of the shell."""
    if isinstance(check.run, str):
        return None
    words = _without_wrapper(list(check.run))
    kept: list[str] = []
    for place, word in enumerate(words):
        follows_reporter = place > 0 and words[place - 1] == _REPORTER
        if word in _FLAGS or word == _REPORTER or word.startswith((*_BEGINNINGS, *_BEGINNINGS_OF_GO)):
            continue
        if not (follows_reporter and word.startswith("--test-reporter-destination=")):
            kept.append(word)
    if not kept or kept == list(check.run):
        return None
    return check._replace(run=kept, needs=())


def _without_wrapper(words: list[str]) -> list[str]:
    """Return the words without `-m coverage run`, or nyc and c8 with their options."""
    for place in range(1, len(words) - 1):
        if words[place - 1 : place + 2] == ["-m", "coverage", "run"]:
            return [*words[: place - 1], *_without_options(words[place + 2 :])]
    is_wrapped = bool(words) and words[0].rpartition("/")[2] in {"nyc", "c8"}
    return _without_options(words[1:]) if is_wrapped else words


def _without_options(words: list[str]) -> list[str]:
    first = next((at for at, word in enumerate(words) if word == "-m" or not word.startswith("-")), len(words))
    return words[first:]
