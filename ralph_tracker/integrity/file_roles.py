"""Determine which files decide about tests: by their names, and by what the checks call.

Settings that the source needs as well (dependencies, build) are never restored whole, because the new source may need
the new ones: of pyproject.toml, setup.cfg, Cargo.toml and package.json only the runner's own part is restored
(`settings_for_rerun`); pom.xml, build.gradle, vite.config.*, .cargo/config, go.mod and Makefile stay as they are, and
rules check what changed in them. tsconfig.json and lock files do not decide about tests.
"""

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, Literal

from ralph_tracker.integrity.source_tests import language_of, tests_of

Kind = Literal["test", "support", "data", "settings"]

_CODE: Final = r"\.(py|[cm]?[jt]sx?|go|rs|java|kt|scala|groovy|rb|dart|exs?|php|cs|sh|bats)$"
_IS_CODE: Final = re.compile(_CODE)
# The first line that matches "/" + path decides.
_TABLE: Final[tuple[tuple[Kind | None, str], ...]] = (
    (None, r"/(node_modules|site-packages|\.git|\.venv|venv|__pycache__)/ | \.pyc$ | /README[^/]*$"),
    (
        "settings",
        r"""
            /\.?pytest\.(ini|toml)$ | /tox\.ini$ | /setup\.cfg$ | /pyproject\.toml$ | /noxfile\.py$
            | /(jest|vitest|vite|playwright|cypress|ava|jasmine|web-test-runner)\.config\.[\w.]+$ | /package\.json$
            | /vitest\.workspace\.\w+$ | /(karma|wdio|protractor)\.conf\.\w+$ | /\.mocharc\.\w+$ | /jasmine\.json$
            | /\.(nycrc|c8rc|taprc)(\.\w+)?$ | /Cargo\.toml$ | /(\.config/)?nextest\.toml$ | /\.cargo/config(\.toml)?$
            | /pom\.xml$ | /build\.gradle(\.kts)?$ | /testng[^/]*\.xml$ | /junit-platform\.properties$
            | /phpunit\.xml(\.dist)?$ | /\.rspec$ | /behave\.ini$
            """,
    ),
    ("support", r"/(conftest\.py|[sS]etup-?[tT]ests?\.\w+|(jest|vitest)[.-]setup\.\w+)$"),
    ("support", r"/(spec|test|rails)_helper\.(?!py$)\w+$"),  # pytest takes tests from test_helper.py
    ("support", r"/__mocks__/"),
    ("data", r"/__snapshots__/ | \.(snap|golden|approved\.\w+)$"),
    # Code below these folders is read by tests, but never run by itself.
    ("support", r"/(testdata|test[_-]data|(__)?fixtures(__)?|goldens?)/(.*/)?[^/]*" + _CODE),
    ("data", r"/(testdata|test[_-]data|(__)?fixtures(__)?|goldens?|cassettes)/"),
    (
        "test",
        r"""
            /(test_[^/]*|[^/]*_tests?|tests?)\.py$ | [._-](test|spec|cy|e2e)\.[cm]?[jt]sx?$ | _test\.(go|rs)$
            | /__tests__/.*\.[cm]?[jt]sx?$ | /tests/[^/]+\.rs$
            | /(Test[A-Z0-9_][^/]*|[^/]*(Test|Tests|TestCase|IT|Spec))\.(java|kt|scala|groovy)$
            | [^/]_(spec|test)\.(rb|dart|exs|php)$ | Test\.php$ | Tests?\.cs$ | /features/.*\.feature$ | \.bats$
            """,
    ),
    ("support", r"/(tests?|__tests__|e2e|cypress|specs?)/(.*/)?[^/]*" + _CODE + r" | /features/(.*/)?steps/.*\.py$"),
    ("data", r"/(tests?|__tests__|e2e|cypress)/"),
)
_KINDS: Final = tuple((kind, re.compile(pattern, re.VERBOSE)) for kind, pattern in _TABLE)
# Files in which the runner's own sections are mixed with others that the source needs.
_SECTIONS: Final = {
    "pyproject.toml": re.compile(r"tool\.(pytest|tox|nox|behave)\b"),
    "setup.cfg": re.compile(r"tool:pytest$|tox:|aliases$"),
    "Cargo.toml": re.compile(r"test$|profile\.(test|nextest)\b"),
}
_DECLARED: Final = re.compile(r"^(?:func|type|var|const) (\w+)", re.MULTILINE)
_HEADER: Final = re.compile(r"\[{1,2}([\w .:\"'-]+)\]{1,2}[ \t]*(?:#.*)?$")
_PACKAGE_KEYS: Final = frozenset({"jest", "mocha", "vitest", "ava", "nyc", "c8", "tap", "jasmine"})
_TEST_SCRIPT: Final = re.compile(r"(pre|post)?test\b")
_NOT_PUT_BACK: Final = re.compile(r"(^|/)(pom\.xml|build\.gradle(\.kts)?|vite\.config\.\w+|\.cargo/config(\.toml)?)$")


def kind_of_file(path: str) -> Kind | None:
    """Return how a file decides about tests, by its name; None if it does not.

    test: holds tests. support: code that tests load (conftest.py, helpers and fixtures below test folders). data: files
    that they read (golden files, snapshots). settings: of the runner, alone or mixed with others.
    """
    return next((kind for kind, pattern in _KINDS if pattern.search(f"/{path}")), None)


def is_code(path: str) -> bool:
    """Return whether a file is program code, of the tests or of the project, by its name."""
    return language_of(path) is not None or _IS_CODE.search(path) is not None


def is_test_path(path: str) -> bool:
    """Return whether a file belongs to the tests: holds them, or is loaded or read by them."""
    return kind_of_file(path) in {"test", "support", "data"}


def why_inseparable(path: str, text: str) -> str | None:
    """Return why the tests of a file cannot be restored without its source; None if they can, or there are none.

    Python's runners collect tests from test files only, whatever the names of functions in source.
    """
    if kind_of_file(path) is not None or language_of(path) in {None, "python"}:
        return None
    count = len(tests_of(path, text))
    if not count:
        return None
    return f"{path} holds {count} test{'s' * (count > 1)} beside source; an earlier form of them cannot be run alone"


def shares_names(path: str) -> bool:
    """Return whether a test file shares a namespace with others in its folder, which forbids duplicate names."""
    return path.endswith("_test.go")


def declare_the_same(some: Iterable[str], other: str) -> bool:
    """Return whether a Go file declares a top-level name that any of `some` does."""
    names = set(_DECLARED.findall(other))
    return any(not names.isdisjoint(_DECLARED.findall(each)) for each in some)


def settings_part(path: str, text: str) -> str | None:
    """Return the runner's part of a settings file, for comparison with another version.

    The whole text if it has no other part; None if the parts cannot be separated.
    """
    name = path.rpartition("/")[2]
    if _NOT_PUT_BACK.search(path):
        return None
    if name in _SECTIONS:
        return "\n".join(body.rstrip() for header, body in _sections(text) if _SECTIONS[name].match(header))
    if name == "package.json":
        package = _package(text)
        return None if package is None else json.dumps(_of_runner(package), sort_keys=True)
    return text


def settings_for_rerun(path: str, earlier: str, now: str) -> str:
    """Return the settings file for a run of earlier tests: the earlier one, except for what the source needs now."""
    if settings_part(path, earlier) == settings_part(path, now):
        return now
    name = path.rpartition("/")[2]
    if name in _SECTIONS:
        own = _SECTIONS[name]
        kept = [body for header, body in _sections(now) if not own.match(header)]
        return "\n".join([*kept, *(body for header, body in _sections(earlier) if own.match(header))])
    if name == "package.json":
        old, new = _package(earlier), _package(now)
        if old is None or new is None:
            return now
        of_source = {key: value for key, value in new.items() if key not in _PACKAGE_KEYS}
        scripts = _scripts(new, of_tests=False) | _scripts(old, of_tests=True)
        return json.dumps(of_source | _of_runner(old) | {"scripts": scripts}, indent=2) + "\n"
    return now if _NOT_PUT_BACK.search(path) else earlier


# Endings of files named in commands that are reports, not programs.
_REPORTS: Final = (".xml", ".json", ".info", ".lcov", ".txt", ".html")


def files_named_in_commands(commands: Iterable[str | Sequence[str]]) -> frozenset[str]:
    """Return the words of commands that may name files, including those of `sh -c "…"` and `-m module`."""
    words: set[str] = set()
    for command in commands:
        given = [command] if isinstance(command, str) else list(command)
        parts = [part for word in given for part in _split(word)]
        words.update(part.removeprefix("./") for part in parts if not part.endswith(_REPORTS))
        modules = [after for flag, after in pairwise(parts) if flag == "-m"]
        words.update(f"{module.replace('.', '/')}{end}" for module in modules for end in (".py", "/__main__.py"))
        if "make" in parts:
            words |= {"Makefile", "makefile", "GNUmakefile"}
        if "just" in parts:
            words |= {"justfile", "Justfile"}
    return frozenset(words)


def _split(word: str) -> list[str]:
    try:
        return shlex.split(word)
    except ValueError:  # an unclosed quote
        return word.split()


def _sections(text: str) -> list[tuple[str, str]]:
    """Return the sections of a TOML or INI file with their headers, "" for the part above the first one."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.split("\n"):
        header = _HEADER.match(line)
        if header:
            found.append((header[1].strip(), []))
        found[-1][1].append(line)
    return [(header, "\n".join(lines)) for header, lines in found]


def _package(text: str) -> dict[str, Any] | None:
    try:
        package = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return package if isinstance(package, dict) else None


def _of_runner(package: dict[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in package.items() if key in _PACKAGE_KEYS}
    return own | {"scripts": _scripts(package, of_tests=True)}


def _scripts(package: dict[str, Any], *, of_tests: bool) -> dict[str, Any]:
    scripts = package.get("scripts")
    if not isinstance(scripts, dict):
        return {}
    return {name: run for name, run in scripts.items() if bool(_TEST_SCRIPT.match(name)) is of_tests}
