"""Ecosystems that are a table: C#, PHP, Ruby, C and C++, Deno, Bazel, and targets of make; one engine for all.

A row names the files by which a language is recognised, its program, and its tools. A tool brings its checks as they
are written into a configuration. For each thing to measure the first tool counts that the project uses and that is
found here. Tools that only tell pass from fail are the last ones of a row.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from ralph_tracker.config.regular_file import text_of
from ralph_tracker.measure.ecosystems.ecosystem import (
    Checks,
    Ecosystem,
    by_status,
    left_by_the_tests,
    output_of,
    program,
    reported,
    version_of,
)

_CALL: Final = "{call}"
_WORDS: Final = "{words}"
_BUILT: Final = "30m"  # it builds first
_LOOKED_AT: Final = 200  # files of a pattern
# There it is neither kept nor counted, and outlives an iteration, so that little has to be built again.
_CMAKE: Final = ".aiwg/ralph/cmake"


@dataclass(frozen=True, slots=True)
class Project:
    """A project's files, and the programs that are found from there."""

    root: Path
    environment: Mapping[str, str]

    def has(self, *patterns: str, saying: str = "") -> bool:
        """Return whether a file matches a pattern, and holds the expression if one is given."""
        expression = re.compile(saying, re.MULTILINE)
        return any(not saying or expression.search(text_of(path) or "") for path in self._files(patterns))

    def call(self, candidate: str) -> tuple[str, ...] | None:
        """Return how a command is called: a file of the project, or a program on PATH; None if it is not found.

        Bundler counts only where it has a Gemfile and its gems are installed.
        """
        words = tuple(candidate.split())
        if "/" in words[0]:
            return words if os.access(self.root / words[0], os.X_OK) else None
        if not program(words[0], self.environment):
            return None
        if words[0] != "bundle":
            return words
        works = self.has("Gemfile") and version_of(words, self.root, self.environment) is not None
        return words if works else None

    def prints(self, command: str, expression: str) -> bool:
        """Return whether a command succeeds and prints something that matches."""
        found = output_of(shlex.split(command), self.root, self.environment)
        return found is not None and re.search(expression, found, re.MULTILINE) is not None

    def _files(self, patterns: tuple[str, ...]) -> Iterator[Path]:
        for pattern in patterns:
            # Not those in installed packages, or in a hidden folder that the pattern does not name.
            paths = (
                path
                for path in self.root.glob(pattern)
                if not any(
                    part in {"vendor", "node_modules"} or (part[0] == "." and part not in pattern)
                    for part in path.relative_to(self.root).parts[:-1]
                )
            )
            yield from islice((path for path in paths if path.is_file()), _LOOKED_AT)


@dataclass(frozen=True, slots=True)
class Tool:
    """One way to measure: `calls` are tried in order, `used` tells whether the project uses it.

    In `checks` "{call}" is replaced by the call that was found, and "{words}" by those of the project's own task.
    `missing` is a note for a tool that is used and not found, `note` one for a tool that is chosen. `template` is the
    command and the report that would replace a tool that has no report.
    """

    name: str
    measures: str
    calls: tuple[str, ...]
    used: Callable[[Project], bool]
    checks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    missing: str = ""
    note: str = ""
    template: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """A row of the table; `lacks` are notes on what stays unmeasured, by what would measure it."""

    name: str
    markers: tuple[str, ...]
    program: str
    install: str
    tools: tuple[Tool, ...]
    lacks: Mapping[str, str] = field(default_factory=dict)


def _always(_: Project) -> bool:
    return True


def _has(*patterns: str, saying: str = "") -> Callable[[Project], bool]:
    return lambda project: project.has(*patterns, saying=saying)


_PROJECTS: Final = ("*.csproj", "*.fsproj", "*/*.csproj", "*/*.fsproj", "*/*/*.csproj", "*/*/*.fsproj")
_TRX: Final = reported(
    [_CALL, "test", "--nologo", "--logger", "trx", "--results-directory", "{reports}/dotnet"],
    "{reports}/dotnet/*.trx",
    "trx",
    timeout=_BUILT,
)
_COVERED_TRX: Final = {**_TRX, "run": [*_TRX["run"], "--collect", "XPlat Code Coverage"]}
_COBERTURA: Final = "{reports}/dotnet/*/coverage.cobertura.xml"
_CSHARP: Final = Language(
    "dotnet",
    ("*.sln", "*.slnx", *_PROJECTS),
    "dotnet",
    "install the .NET SDK, and have dotnet on PATH",
    (
        Tool(
            "dotnet test with coverlet",
            "tests",
            ("dotnet",),
            _has(*_PROJECTS, saying=r"coverlet\.collector"),
            {
                "tests": _COVERED_TRX,
                "coverage": reported("ls {reports}/dotnet/*/*.xml", _COBERTURA, "cobertura", needs=["tests"]),
            },
        ),
        Tool(
            "dotnet test",
            "tests",
            ("dotnet",),
            _always,
            {"tests": _TRX},
            note="coverage is not measured: dotnet add package coverlet.collector in each project of tests",
        ),
    ),
)

_PHPUNIT_FILES: Final = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
_PHPUNIT: Final = ("vendor/bin/phpunit", "phpunit")
_PEST: Final = ("vendor/bin/pest",)
_JUNIT: Final = "{reports}/junit.xml"
_PHP_COVERAGE: Final = "{reports}/coverage.xml"
# its Clover report has rows that PHPUnit itself does not count as lines; its Cobertura report has not
_WITH_COVERAGE: Final = ["--log-junit", _JUNIT, "--coverage-cobertura", _PHP_COVERAGE]
_XDEBUG: Final = {"XDEBUG_MODE": "coverage"}


def _php_coverage(project: Project) -> bool:
    """Return whether PHPUnit can measure coverage here: the project says of what, and PHP has a driver."""
    says = project.has(*_PHPUNIT_FILES, saying=r"<(?:source|coverage|filter)\b")
    return says and project.prints("php -m", r"^(?:pcov|xdebug)$")


def _uses_phpunit(project: Project) -> bool:
    return project.has(*_PHPUNIT_FILES) or project.has("composer.json", saying='"phpunit/phpunit"')


_USES_PEST: Final = _has("composer.json", saying='"pestphp/pest"')
_PHPUNIT_CALL: Final = [_CALL, "--do-not-cache-result"]
_COVERED_BY_PHP: Final = left_by_the_tests(_PHP_COVERAGE, "cobertura")
_NO_PHP_COVERAGE: Final = (
    "coverage is not measured: install pcov or xdebug, and name the sources in phpunit.xml (<source>, before PHPUnit "
    "10 <coverage>)"
)
_INSTALL_PHP: Final = "composer install"
_CHECKSTYLE: Final = "checkstyle"
_PHP: Final = Language(
    "php",
    ("composer.json", *_PHPUNIT_FILES),
    "php",
    "install PHP, and have php on PATH",
    (
        Tool(
            "pest with coverage",
            "tests",
            _PEST,
            lambda project: _USES_PEST(project) and _php_coverage(project),
            {
                "tests": reported([_CALL, *_WITH_COVERAGE], _JUNIT, "junit", env=_XDEBUG),
                "coverage": _COVERED_BY_PHP,
            },
        ),
        Tool(
            "pest",
            "tests",
            _PEST,
            _USES_PEST,
            {"tests": reported([_CALL, "--log-junit", _JUNIT], _JUNIT, "junit")},
            missing=_INSTALL_PHP,
            note=_NO_PHP_COVERAGE,
        ),
        Tool(
            "phpunit with coverage",
            "tests",
            _PHPUNIT,
            lambda project: _uses_phpunit(project) and _php_coverage(project),
            {
                "tests": reported([*_PHPUNIT_CALL, *_WITH_COVERAGE], _JUNIT, "junit", env=_XDEBUG),
                "coverage": _COVERED_BY_PHP,
            },
        ),
        Tool(
            "phpunit",
            "tests",
            _PHPUNIT,
            _uses_phpunit,
            {"tests": reported([*_PHPUNIT_CALL, "--log-junit", _JUNIT], _JUNIT, "junit")},
            missing=_INSTALL_PHP,
            note=_NO_PHP_COVERAGE,
        ),
        Tool(
            "composer test",
            "tests",
            ("composer test",),
            _has("composer.json", saying=r'"scripts"\s*:\s*\{[^}]*"test"\s*:'),
            template=("vendor/bin/phpunit --log-junit {reports}/junit.xml", _JUNIT),
        ),
        Tool(
            "phpstan",
            "lint",
            ("vendor/bin/phpstan", "phpstan"),
            _has("phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"),
            {"lint": reported([_CALL, "analyse", "--no-progress", "--error-format=checkstyle"], "-", _CHECKSTYLE)},
            missing=_INSTALL_PHP,
        ),
        Tool(
            "phpcs",
            "lint",
            ("vendor/bin/phpcs", "phpcs"),
            _has("phpcs.xml", "phpcs.xml.dist", ".phpcs.xml", ".phpcs.xml.dist"),
            {"lint": reported([_CALL, "-q", "--report=checkstyle"], "-", _CHECKSTYLE)},
            missing=_INSTALL_PHP,
        ),
    ),
)

_SPECS: Final = (".rspec", "spec/*_spec.rb", "spec/**/*_spec.rb")
_RSPEC_REPORT: Final = "{reports}/rspec.json"
_MINITESTS: Final = ("test/*.rb", "test/**/*.rb", "Gemfile", "*.gemspec")
_SIMPLECOV: Final = _has("spec/spec_helper.rb", "test/test_helper.rb", ".simplecov", saying="SimpleCov.start")
_RESULTS: Final = "coverage/.resultset.json"
_RSPEC: Final = reported(
    [_CALL, "--format", "progress", "--format", "json", "--out", _RSPEC_REPORT], _RSPEC_REPORT, "rspec-json"
)
_RUBOCOP: Final = reported([_CALL, "--cache", "false", "--format", "json"], "-", "rubocop-json")
_TEST_TASK: Final = _has("Rakefile", "rakefile", "Rakefile.rb", saying=r"TestTask|task\s*\(?:test\b|task\s+test\b")


def _bundled(name: str) -> tuple[str, ...]:
    return (f"bin/{name}", f"bundle exec {name}", name)


_RUBY: Final = Language(
    "ruby",
    ("Gemfile", "*.gemspec", "Rakefile", ".rspec", "spec/*_spec.rb"),
    "ruby",
    "install Ruby, and have ruby on PATH",
    (
        Tool("rspec", "tests", _bundled("rspec"), _has(*_SPECS), {"tests": _RSPEC}, missing="bundle install"),
        Tool(
            "rails test",
            "tests",
            ("bin/rails",),
            _has("bin/rails"),
            {"tests": reported([_CALL, "test", "-v"], "-", "minitest-text")},
        ),
        Tool(
            "rake test",
            "tests",
            _bundled("rake"),
            lambda project: _TEST_TASK(project) and project.has(*_MINITESTS, saying=r"[Mm]initest"),
            {"tests": reported([_CALL, "test"], "-", "minitest-text", env={"TESTOPTS": "-v"})},
            missing="bundle install",
        ),
        Tool(
            "rake",
            "tests",
            _bundled("rake"),
            _has("Rakefile", "rakefile", "Rakefile.rb"),
            template=("rake test TESTOPTS=--junit", "test/reports/*.xml"),
        ),
        Tool(
            "simplecov",
            "coverage",
            ("ruby",),
            _SIMPLECOV,
            {"coverage": left_by_the_tests(_RESULTS, "simplecov")},
        ),
        Tool(
            "rubocop",
            "lint",
            _bundled("rubocop"),
            _has(".rubocop.yml"),
            {"lint": _RUBOCOP},
            missing="bundle install, or gem install rubocop",
        ),
    ),
    lacks={"coverage": "coverage is not measured: add simplecov to the tests"},
)

_BUILD: Final = f"cmake -S . -B {_CMAKE} && cmake --build {_CMAKE} --parallel"
_CTEST: Final = f"ctest --test-dir {_CMAKE} --output-junit {{reports}}/ctest.xml"
_INSTRUMENTED: Final = {"CFLAGS": "--coverage", "CXXFLAGS": "--coverage", "LDFLAGS": "--coverage"}
_CMAKE_FILES: Final = ("CMakeLists.txt", "*/CMakeLists.txt", "*/*/CMakeLists.txt")
_ONE_PROGRAM: Final = (
    "ctest counts each googletest program as one test; gtest_discover_tests in CMakeLists.txt names the tests in it"
)


_TESTED_BY_CTEST: Final = _has(*_CMAKE_FILES, saying=r"(?i)enable_testing\s*\(|include\s*\(\s*CTest")


def _names_its_tests(project: Project) -> bool:
    """Return whether ctest names the tests, not only the programs of googletest that hold them."""
    if not _TESTED_BY_CTEST(project):
        return False
    in_programs = project.has(*_CMAKE_FILES, saying=r"(?i)\bgtest|googletest")
    return not in_programs or project.has(*_CMAKE_FILES, saying=r"gtest_(?:discover|add)_tests")


_CTEST_CHECK: Final = reported(f"{_BUILD} && {_CTEST}", "{reports}/ctest.xml", "junit", timeout=_BUILT)
# -d: what an earlier run counted would be added up
_GCOVR: Final = reported(
    ["gcovr", "-r", ".", "-d", "--xml", "{reports}/gcovr.xml", "--object-directory", _CMAKE, _CMAKE],
    "{reports}/gcovr.xml",
    "cobertura",
    needs=["tests"],
)


_C: Final = Language(
    "cmake",
    ("CMakeLists.txt",),
    "cmake",
    "install CMake, and have cmake on PATH",
    (
        Tool(
            "ctest with gcovr",
            "tests",
            ("gcovr",),
            _names_its_tests,
            {"tests": {**_CTEST_CHECK, "env": _INSTRUMENTED}, "coverage": _GCOVR},
        ),
        Tool(
            "ctest",
            "tests",
            ("ctest",),
            _names_its_tests,
            {"tests": _CTEST_CHECK},
            note="coverage is not measured: install gcovr",
        ),
        Tool("ctest of programs", "tests", ("ctest",), _TESTED_BY_CTEST, {"tests": _CTEST_CHECK}, note=_ONE_PROGRAM),
        Tool(
            "cmake",
            "tests",
            ("cmake",),
            _always,
            {"build": {"run": _BUILD, "kind": "build", "timeout": _BUILT}},
            note="no tests found: enable_testing() and add_test() in CMakeLists.txt make them known to ctest",
        ),
    ),
)

_DENO_COVERAGE: Final = "{reports}/deno"
_LCOV: Final = "{reports}/deno.lcov"
_DENO: Final = Language(
    "deno",
    ("deno.json", "deno.jsonc", "deno.lock"),
    "deno",
    "install Deno, and have deno on PATH",
    (
        Tool(
            "deno test",
            "tests",
            ("deno",),
            _always,
            {
                "tests": reported(
                    [
                        *(_CALL, "test", _WORDS, "--ignore=.aiwg", "--junit-path={reports}/deno.xml"),
                        f"--coverage={_DENO_COVERAGE}",
                    ],
                    "{reports}/deno.xml",
                    "junit",
                ),
                "coverage": reported(
                    [_CALL, "coverage", "--lcov", f"--output={_LCOV}", _DENO_COVERAGE], _LCOV, "lcov", needs=["tests"]
                ),
            },
        ),
    ),
    lacks={"lint": "deno lint is not read; add it with kind: build, so that its exit status counts"},
)

_BAZEL: Final = Language(
    "bazel",
    ("MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel"),
    "bazel",
    "install Bazel or bazelisk, and have bazel on PATH",
    (
        Tool(
            "bazel test",
            "tests",
            ("bazel",),
            _always,
            {
                # a cached result writes no report
                "tests": reported(
                    [_CALL, "test", "--keep_going", "--nocache_test_results", "//..."],
                    "bazel-testlogs/**/test.xml",
                    "junit",
                    timeout=_BUILT,
                )
            },
        ),
    ),
    lacks={"coverage": "coverage is not measured: add a check of `bazel coverage --combined_report=lcov //...`"},
)

LANGUAGES: Final = (_CSHARP, _PHP, _RUBY, _C, _DENO, _BAZEL)
_DENO_TASK: Final = re.compile(r'"test"\s*:\s*"deno test ([^"&|;$`]*)"')
_TARGET: Final = r"^{name}\s*:(?!=)"


def detect(language: Language, root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return how a project of one language can be measured, None if it is not one or has nothing to be run."""
    project = Project(root, environment)
    used = [tool for tool in language.tools if tool.used(project)] if project.has(*language.markers) else []
    if not used:
        return None
    call = (language.program,)
    version = version_of(call, root, environment) if program(language.program, environment) else None
    if version is None:
        return Ecosystem(language.name, notes=(f"no {language.program} found for {root}; {language.install}",))
    found = _Found(project, language.name)
    for tool in used:
        found.take(tool)
    notes = [*found.notes, *(note for what, note in language.lacks.items() if what not in found.measured)]
    tools = {name: own for name, own in found.tools.items() if own != call}
    return Ecosystem(language.name, call, version, tools, found.checks, tuple(notes), tuple(found.templates))


class _Found:
    """What the tools of one language measure, taken one after the other."""

    def __init__(self, project: Project, language: str) -> None:
        self._project = project
        self._language = language
        self.checks: Checks = {}
        self.notes: list[str] = []
        self.templates: list[str] = []
        self.tools: dict[str, tuple[str, ...]] = {}
        self.measured: set[str] = set()

    def take(self, tool: Tool) -> None:
        """Add a tool unless another one measures the same."""
        if tool.measures in self.measured:
            return
        call = next(filter(None, map(self._project.call, tool.calls)), None)
        if call is None:
            self.notes += [f"{tool.name} not found: {tool.missing}"] if tool.missing else []
            return
        self.measured |= {tool.measures, *tool.checks}
        if tool.template is not None:
            checks, note, template = by_status(call, *tool.template)
            self.checks |= checks
            self.notes.append(note)
            self.templates.append(template)
            return
        self.tools[tool.name.split()[0]] = call
        self.checks |= {name: _called(check, call, self._project) for name, check in tool.checks.items()}
        self.notes += [tool.note] if tool.note else []


def _called(check: Mapping[str, Any], call: tuple[str, ...], project: Project) -> dict[str, Any]:
    """Return a check with the call, and the words that the project's own task has, in their places."""
    run = check["run"]
    if isinstance(run, str):
        return dict(check)
    texts = (text_of(project.root / name) for name in ("deno.json", "deno.jsonc") if _WORDS in run)
    own = next((found for text in texts if text and (found := _DENO_TASK.search(text))), None)
    filled = {_CALL: call, _WORDS: shlex.split(own[1]) if own else ()}
    return {**check, "run": [each for word in run for each in filled.get(word, (word,))]}


def detect_make(root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return the target of a Makefile that runs the tests, as a check by exit status; None without one."""
    project = Project(root, environment)
    has = partial(project.has, "GNUmakefile", "makefile", "Makefile")
    target = next((name for name in ("test", "check", "tests") if has(saying=_TARGET.format(name=name))), None)
    version = version_of(("make",), root, environment) if target and program("make", environment) else None
    if target is None or version is None:
        return None
    check, note, template = by_status(("make", target), f"make {target}", "path/to/*.xml")
    return Ecosystem("make", ("make",), version, {}, check, (note,), (template,))
