"""The programs and Python modules that checks need: whether they are installed, in which version, how to add them.

What a failed command printed often names what is missing: `last_words` finds that.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import ConfigError
from ralph_tracker.formats.first_error import first_error, is_no_reason
from ralph_tracker.formats.report_content import plain
from ralph_tracker.measure.process import SHELL
from ralph_tracker.measure.run_checks import Check, environment_for_checks, is_our_bin, without_own_environment
from ralph_tracker.short_text import shorten
from ralph_tracker.version import __version__

# The first word of a single plain shell command. With several commands the first may be optional: `a || b`.
_PLAIN_WORD: Final = r"\s*([\w./+-]+)(?:[ \t][^;&|\n]*)?"
_PYTHON: Final = r"(?:.*[/:])?(?:python|pypy)[\d.]*"  # hatch names an environment before it
_IMPORT_SITES: Final = ("lib/python*/site-packages", "lib/pypy*/site-packages")
_PROBE: Final = """import importlib.util as u, sys
def found(name):
    spec = u.find_spec(name)
    # a folder of that name is found too, and runs only with a __main__
    return spec and (spec.origin or u.find_spec(name + ".__main__"))
for name in sys.argv[1:]:
    try:
        there = found(name)
    except ModuleNotFoundError:
        there = None
    except Exception:
        there = True
    if not there:
        print("lacks", name)
"""
PROBE_TIMEOUT_S: Final = 60
_ADDS: Final = {
    "uv": "uv add --dev {}",
    "poetry": "poetry add --group dev {}",
    "pdm": "pdm add --dev {}",
    "pipenv": "pipenv install --dev {}",
    "hatch": "add {} to the dependencies of its environment in pyproject.toml",
}
_COLOUR: Final = r"\x1b\[[0-9;]*[A-Za-z]"
# The options that projects use most, and the plugins that provide them.
_PLUGINS: Final = {
    "--cov": "pytest-cov",
    "--no-cov": "pytest-cov",
    "-n": "pytest-xdist",
    "--numprocesses": "pytest-xdist",
    "--dist": "pytest-xdist",
    "--timeout": "pytest-timeout",
    "--asyncio": "pytest-asyncio",
    "--reruns": "pytest-rerunfailures",
    "--benchmark": "pytest-benchmark",
    "--randomly": "pytest-randomly",
    "--ds": "pytest-django",
    "--mypy": "pytest-mypy",
}
# npm ends with the name of its log; what is wrong stands before it, after a code.
_NPM: Final = r"(?m)^npm (?:error|ERR!) (?!code |errno |syscall |path |command |A complete log)(\S.*)"
_WHERE: Final = "into the project's environment"
# Where the packages of an environment are, from its folder.
SITES: Final = ("lib/python*/site-packages", "lib/python*/dist-packages")
_INTERPRETERS: Final = ("python", "python3")
# What runs the programs that checks name, which stay the same files when it is another version.
_RUNTIMES: Final = ("node", "bun", "deno", "go", "rustc", "java", "ruby", "php")
# Variables that are known to change what tools do, beside those that checks name. All others are taken not to: a
# session's own variables would make every result one of its own.
_REACHING: Final = re.compile(
    r"LANG|LC_\w+|TZ|CI|PYTEST_(ADDOPTS|PLUGINS|DISABLE_PLUGIN_AUTOLOAD)"
    r"|PYTHON(HASHSEED|WARNINGS|UTF8|PATH|OPTIMIZE)|PYENV_VERSION|NODE_(OPTIONS|ENV|PATH)"
    r"|GOFLAGS|GOTOOLCHAIN|RUSTFLAGS|RUSTUP_TOOLCHAIN|JAVA_HOME"
)
_NAMED: Final = re.compile(r"\$\{?(\w+)")
# What npm, pnpm and yarn write about what they have installed.
_INSTALLED: Final = (".package-lock.json", ".modules.yaml", ".yarn-integrity")


def command_of(check: Check) -> str | None:
    """Return the program that a check starts, None if only the shell knows."""
    if not isinstance(check.run, str):
        return check.run[0]
    word = re.fullmatch(_PLAIN_WORD, check.run)
    return None if word is None else word[1]


def is_there(check: Check, root: Path, environment: Mapping[str, str]) -> bool:
    """Return whether the program of a check will be found when it runs; True if only the shell knows.

    Values that the check fills in (`{reports}`) count as found.
    """
    name, cwd, env = command_of(check), root / check.cwd, {**environment, **check.env}
    if name is None or "{" in name or "{" in env.get("PATH", ""):
        return True
    if isinstance(check.run, str) and "/" not in name:  # the shell has built-in commands
        asked = subprocess.run(  # noqa: S603  # the shell that will run it
            [SHELL, "-c", 'command -v -- "$1"', "sh", name],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return asked.returncode == 0
    return find_program(name, cwd, env) is not None


def ask_program(
    command: Sequence[str], root: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes] | None:
    """Run a program of the project for what it prints, without our own environment; None as `run_briefly`."""
    return run_briefly(command, root, without_own_environment(environment, root))


def run_briefly(
    command: Sequence[str], root: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes] | None:
    """Run a program for what it prints, for at most a minute; None if it does not start or end."""
    try:
        return subprocess.run(  # noqa: S603  # a tool of the project
            command,
            cwd=root,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None


def find_program(name: str, cwd: Path, environment: Mapping[str, str]) -> str | None:
    """Return the path of a program, looked up from that folder; None if it is not found."""
    folders = [""] if "/" in name else os.get_exec_path(environment)
    paths = (cwd / folder / name for folder in folders)
    # A folder of the PATH that may not be looked into has no program, as for a shell; Path.is_file() raises there.
    return next((str(path) for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)  # noqa: PTH113


def program(name: str, environment: Mapping[str, str]) -> str | None:
    """Return a program on PATH, ignoring our own virtual environment; None if there is none."""
    folders = environment.get("PATH", "").split(os.pathsep)
    return shutil.which(name, path=os.pathsep.join(part for part in folders if not is_our_bin(part)))


def version_of(
    call: Sequence[str], root: Path, environment: Mapping[str, str], ask: Sequence[str] = ("--version",)
) -> str | None:
    """Return the first number in a program's version output, None if it does not run."""
    text = output_of([*call, *ask], root, environment)
    found = None if text is None else re.search(r"(?<![\w.])(?:v|go)?(\d+(?:\.\w+)*)", text)
    return None if found is None else found[1]


def output_of(command: Sequence[str], root: Path, environment: Mapping[str, str]) -> str | None:
    """Return what a program of the project prints on standard output, None if it does not run or fails."""
    done = ask_program(command, root, environment)
    return None if done is None or done.returncode else plain(done.stdout.decode("utf-8", "replace"))


def why_not(command: Sequence[str], root: Path, environment: Mapping[str, str]) -> str:
    """Return the last line that a program prints which does not run, or what the system says of it."""
    done = ask_program(command, root, environment)
    printed = "" if done is None else plain((done.stdout + done.stderr).decode("utf-8", "replace"))
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    error = first_error(printed)
    return error.line if error else lines[-1] if lines else "it cannot be started"


def require_commands(checks: Sequence[Check], root: Path, environment: Mapping[str, str]) -> None:
    """Raise ConfigError unless the program of each check exists, before anything runs.

    A relative path is only checked for the first check: an earlier check may create it.
    """
    env = environment_for_checks(environment, root)
    for place, check in enumerate(checks):
        name = command_of(check)
        made_by_another = name is not None and "/" in name and not name.startswith("/") and place > 0
        if not made_by_another and not is_there(check, root, env):
            raise absent(check.name, f"command not found: {name}")
    for check_name, lacking in missing_modules(checks, root, env).items():
        raise absent(check_name, str(lacking))


class MissingModule(NamedTuple):
    """A module that a check runs, and how the interpreter is called that lacks it."""

    python: tuple[str, ...]
    module: str

    def __str__(self) -> str:
        return f"{shlex.join(self.python)} has no module {self.module}"

    @property
    def added_by(self) -> str:
        """Return what installs it; the package is assumed to have the module's name, as those of tools do."""
        return how_to_add(self.python, self.module) or f"{shlex.join(self.python)} -m pip install {self.module}"


def how_to_add(call: Sequence[str], package: str) -> str | None:
    """Return how the manager that starts an interpreter adds a package, None if none starts it."""
    found = _ADDS.get(call[0]) if call else None
    return None if found is None else found.format(package)


def missing_modules(checks: Sequence[Check], root: Path, environment: Mapping[str, str]) -> Mapping[str, MissingModule]:
    """Return the module that a check's interpreter lacks, by check; one that builds may install those of later ones.

    An interpreter is started only for modules that are not among its packages or the standard library.
    """
    wanted: dict[tuple[tuple[str, ...], str, tuple[tuple[str, str], ...]], dict[str, str]] = {}
    for check in checks:
        call, modules = _modules_of(check)
        env = {name: value for name, value in check.env.items() if "{" not in value}
        for module in modules:
            if not _is_at_hand(call, module, root / check.cwd, {**environment, **env}):
                wanted.setdefault((call, check.cwd, tuple(env.items())), {}).setdefault(module, check.name)
        if (check.kind or check.name.partition("-")[0]) not in {"tests", "coverage", "lint", "types"}:
            break
    return {
        name: MissingModule(call, module)
        for (call, cwd, env), by_module in wanted.items()
        for module in _missing_modules(call, list(by_module), root / cwd, {**environment, **dict(env)})
        for name in [by_module[module]]
    }


def _modules_of(check: Check) -> tuple[tuple[str, ...], list[str]]:
    """Return how a check calls Python, and the modules that it runs; `coverage run -m` runs another one."""
    words = list(check.run)
    if isinstance(check.run, str):
        try:
            words = shlex.split(check.run) if re.fullmatch(_PLAIN_WORD, check.run) else []
        except ValueError:
            words = []
    at = words.index("-m") if "-m" in words else 0
    if not at or not re.fullmatch(_PYTHON, words[at - 1]) or at + 1 == len(words):
        return (), []
    modules = [words[at + 1]]
    if words[at + 1 : at + 3] == ["coverage", "run"] and "-m" in words[at + 3 : -1]:
        modules.append(words[words.index("-m", at + 3) + 1])
    return tuple(words[:at]), [module for module in modules if re.fullmatch(r"[A-Za-z_][\w.]*", module)]


def _is_at_hand(call: Sequence[str], module: str, cwd: Path, environment: Mapping[str, str]) -> bool:
    """Return whether a module is certainly there, without starting the interpreter."""
    name = module.partition(".")[0]
    if name in sys.stdlib_module_names:
        return True
    python = find_program(call[0], cwd, environment) if len(call) == 1 else None
    sites = [site for pattern in _IMPORT_SITES for site in Path(python).parent.parent.glob(pattern)] if python else []
    return any((site / name / "__init__.py").is_file() or (site / f"{name}.py").is_file() for site in sites)


def _missing_modules(
    call: Sequence[str], modules: Sequence[str], cwd: Path, environment: Mapping[str, str]
) -> list[str]:
    """Return which modules an interpreter does not find, [] if it does not run."""
    try:
        done = subprocess.run(  # noqa: S603  # the interpreter that will run them
            [*call, "-c", _PROBE, *modules],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PROBE_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return []
    return [module for module in modules if f"lacks {module}" in done.stdout.splitlines()]


def prefixes(root: Path, checks: Sequence[Check], environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the environments of the interpreters that checks may start."""
    names = {name for name in map(command_of, checks) if name is not None}
    for name in sorted(names.union(_INTERPRETERS)):
        found = find_program(name, root, environment)
        if found is not None:
            yield Path(found).parent.parent
            yield Path(found).resolve().parent.parent
    if environment.get("VIRTUAL_ENV"):
        yield Path(environment["VIRTUAL_ENV"])


def packages_in(prefix: Path) -> list[Path]:
    """Return the metadata folders of the packages of a Python environment."""
    return [
        site for pattern in SITES for kind in ("dist-info", "egg-info") for site in prefix.glob(f"{pattern}/*.{kind}")
    ]


def tool_versions(
    root: Path,
    checks: Sequence[Check],
    environment: Mapping[str, str],
    packages: Callable[[Path], Sequence[Path]] = packages_in,
) -> str:
    """Return a digest of the programs that the checks start, what runs those, and the packages beside them.

    Programs are told apart by path, size and time: none is run. `packages` may remember what it listed.
    """
    started = {name for name in map(command_of, checks) if name is not None}.union(_RUNTIMES, _INTERPRETERS)
    programs = [_file_now(find_program(name, root, environment)) for name in sorted(started)]
    environments = {*prefixes(root, checks, environment), *(file.parent for file in root.glob("*/pyvenv.cfg"))}
    pythons = [_file_now(prefix / "bin" / "python") for prefix in sorted(environments)]
    names = {site.name for prefix in environments for site in packages(prefix)}
    node = [_content(root / "node_modules" / name) for name in _INSTALLED]
    return hashlib.sha256(json.dumps([programs, pythons, sorted(names), node]).encode()).hexdigest()


def _file_now(path: Path | str | None) -> list[object] | None:
    """Return what tells a file from another or a later one, None without one."""
    if path is None:
        return None
    try:
        status = Path(path).stat()
        return [str(Path(path).resolve()), status.st_size, status.st_mtime_ns]
    except OSError:
        return None


def reaching_variables(checks: Sequence[Check], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that may change what the checks measure: those they name, and known ones of tools."""
    texts = [text for check in checks for text in ([check.run] if isinstance(check.run, str) else check.run)]
    named = {name for text in texts for name in _NAMED.findall(text)}
    return {name: value for name, value in environment.items() if name in named or _REACHING.fullmatch(name)}


def measured_with(
    root: Path,
    checks: Sequence[Check],
    severity: Mapping[str, object],
    environment: Mapping[str, str],
    packages: Callable[[Path], Sequence[Path]] = packages_in,
) -> str:
    """Return a digest of what decides, beside the tree, about the numbers: checks, tools, variables; no thresholds."""
    tools, variables = tool_versions(root, checks, environment, packages), reaching_variables(checks, environment)
    parts = [__version__, checks, severity, tools, variables]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def portable_tools(root: Path, checks: Sequence[Check], environment: Mapping[str, str]) -> dict[str, str | None]:
    """Return the content of the programs that checks start and the packages beside them, to compare two machines.

    Each name is a program (its digest; None: not found) or a package (its version). Where a shell starts the commands,
    every word of them that is a program counts.
    """
    found: dict[str, str | None] = {}
    environments = {file.parent for file in root.glob("*/pyvenv.cfg")}
    for check in checks:
        env, cwd = {**environment, **check.env}, root / check.cwd
        in_shell = isinstance(check.run, str)
        for word in re.findall(r"[\w./+-]+", check.run) if isinstance(check.run, str) else check.run[:1]:
            path = find_program(word, cwd, env)
            if path is None:
                found |= {} if in_shell else {f"program {word}": None}
                continue
            data = Path(path).read_bytes()
            head, _, body = data.partition(b"\n") if data.startswith(b"#!") else (b"", b"", data)
            found[f"program {word}"] = hashlib.sha256(body).hexdigest()  # the head has the interpreter's path
            if re.fullmatch(_PYTHON, Path(path).name):
                environments.add(Path(path).parent.parent)
            elif b"python" in head:
                environments.add(Path(os.fsdecode(head[2:].split()[0])).parent.parent)
    for place in environments:
        for site in packages_in(place):
            name, _, version = site.stem.partition("-")
            found[f"package {name}"] = version
    return {**found, **{f"node_modules/{name}": _content(root / "node_modules" / name) for name in _INSTALLED}}


def _content(file: Path) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def environment_facts() -> dict[str, str]:
    """Return the versions that a loop's document records."""
    return {
        "ralph_tracker": __version__,
        "python": sys.version.split()[0],
        "implementation": sys.implementation.name,
        "platform": f"{os.uname().sysname} {os.uname().machine}",
    }


def absent(name: str, problem: str | None) -> ConfigError:
    """Return the error for a check whose command does not exist."""
    return ConfigError(
        f"checks.{name}: {problem}; install it, fix checks.{name}.run (`ralph-tracker doctor` shows what is found), "
        "or use --allow-missing"
    )


def last_words(stdout: Path, stderr: Path) -> str | None:
    """Return a failed command's explanation, its first error or last line; None if it printed nothing."""
    texts = [_end_of(stderr), _end_of(stdout)]
    lacking = next((found for text in texts if (found := _missing_dependency(text))), None)
    if lacking:
        return lacking
    errors = [each.line for text in texts if (each := first_error(text))]
    errors += [match[1] for text in texts if (match := re.search(_NPM, re.sub(_COLOUR, "", text)))]
    said = errors or [
        shown
        for text in texts
        for line in reversed(re.sub(_COLOUR, "", text).splitlines())
        if (shown := _plain(line)) and not is_no_reason(line)
    ]
    return f"it said: {_plain(said[0])}" if said else None


def _missing_dependency(text: str) -> str | None:
    """Return what to install if the output reports something missing, else None."""
    if found := re.search(r"Missing required plugins: (.+)", text):
        return f"pip install {_plain(found[1]).replace(', ', ' ')} {_WHERE}"
    if found := re.search(r"unrecognized arguments: (.+)", text):
        options = [word for word in _plain(found[1]).split() if word.startswith("-")]
        names = dict.fromkeys(filter(None, map(_plugin_of, options)))
        what = f"pip install {' '.join(names)}" if names else "install the plugin that knows it"
        return f"unknown option {' '.join(options)}; {what} {_WHERE}"
    if found := re.search(r"No module named '([^'.]+)", text):
        return f"module {_plain(found[1])} is missing; install it {_WHERE}"
    return None


def _plugin_of(option: str) -> str | None:
    name = option.partition("=")[0]
    return next((plugin for key, plugin in _PLUGINS.items() if name == key or name.startswith(f"{key}-")), None)


def _end_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 20_000))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _plain(line: str) -> str:
    shown = "".join(char if char.isprintable() else " " for char in re.sub(_COLOUR, "", line)).strip()
    return shorten(shown, 160)
