"""All ecosystems but Python and Node: Go, Rust and the JVM, then those that are a table, each with its own tools.

Go: gotestsum, else `go test -json`, the coverage of the same run, golangci-lint. Rust: cargo nextest if installed, else
the output of `cargo test`, and clippy. The JVM: Maven and Gradle, preferably the project's own wrapper, with JaCoCo if
the project uses it. `.aiwg` is left out: patterns of Go with `...` skip folders that begin with a dot, cargo builds the
crates in the manifest, Maven and Gradle the named modules, and no pattern of a report matches below it.

The table: C#, PHP, Ruby, C and C++, Deno, Bazel, and targets of make. A row names the files by which a language is
recognised, its program, and its tools. A tool brings its checks as they are written into a configuration. For each
thing to measure the first tool counts that the project uses and that is found here. Tools that only tell pass from fail
are the last ones of a row.
"""

import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from ralph_tracker.measure.ecosystems.detected_ecosystem import (
    Checks,
    Ecosystem,
    by_status,
    left_by_the_tests,
    reported,
)
from ralph_tracker.measure.installed_tools import output_of, program, version_of, why_not
from ralph_tracker.safe_files import text_of

_TIMEOUT: Final = "30m"  # of the build and the tests; go itself stops a package's tests after ten minutes
_PROFILE: Final = "{reports}/cover.out"
_LINTED: Final = "{reports}/golangci.json"
_BLOCK: Final = re.compile(r"^use\s*\((.*?)\)", re.MULTILINE | re.DOTALL)
_USE: Final = re.compile(r"^use\s+([^\s(]+)", re.MULTILINE)
_JSON_PATH_SINCE: Final = 2
_NO_COLOUR: Final = {"CARGO_TERM_COLOR": "never"}
_REPORT: Final = "{reports}/nextest.xml"
# A tool configuration has lower priority than the project's own, and lies outside its tree.
_SETTINGS: Final = "{reports}/nextest.toml"
_NEXTEST: Final = (
    f"printf '[profile.default.junit]\\npath = \"%s\"\\n' {_REPORT} > {_SETTINGS} && "
    f"cargo nextest run --no-fail-fast --tool-config-file ralph-tracker:{_SETTINGS}"
)
_GRADLE: Final = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
_JACOCO_OF_MAVEN: Final = "jacoco-maven-plugin"
_XML_OF_GRADLE: Final = ("xml.required", "xml.enabled", "xml { required", "xml.setRequired")


def detect_go(root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return how a Go project can be measured, None if it is not one."""
    if not any((root / name).is_file() for name in ("go.mod", "go.work")):
        return None
    version = version_of(("go",), root, environment, ["version"]) if program("go", environment) else None
    if version is None:
        return Ecosystem("go", notes=(f"no Go found for {root}; install it, and have go on PATH",))
    tools = {name: (name,) for name in ("gotestsum", "golangci-lint") if program(name, environment)}
    checks = _go_checks(_go_packages(root), with_gotestsum="gotestsum" in tools)
    notes = ["golangci-lint not found: install it, lint findings are not measured"]
    if "golangci-lint" in tools:
        found = version_of(("golangci-lint",), root, environment)
        major = int(found.split(".")[0]) if found is not None else _JSON_PATH_SINCE
        how = f"--output.json.path={_LINTED}" if major >= _JSON_PATH_SINCE else f"--out-format=json:{_LINTED}"
        checks["lint"] = reported(["golangci-lint", "run", how], _LINTED, "golangci-json")
        notes = []
    return Ecosystem("go", ("go",), version, tools, checks, tuple(notes))


def _go_packages(root: Path) -> list[str]:
    """Return the packages of a module, or of the modules that a workspace uses."""
    text = re.sub(r"//.*", "", text_of(root / "go.work") or "")
    used = [*_USE.findall(text), *(word for block in _BLOCK.findall(text) for word in block.split())]
    folders = [word.strip('"').rstrip("/") for word in used]
    return [f"{folder}/..." for folder in folders] or ["./..."]


def _go_checks(packages: list[str], *, with_gotestsum: bool) -> Checks:
    run, report, format_ = ["go", "test", "-json"], "-", "gotest-json"
    if with_gotestsum:
        report, format_ = "{reports}/gotestsum.xml", "junit"
        run = ["gotestsum", f"--junitfile={report}", "--"]
    return {
        "tests": reported([*run, f"-coverprofile={_PROFILE}", *packages], report, format_, timeout=_TIMEOUT),
        # the total that go prints counts statements, like the report
        "coverage": reported(["go", "tool", "cover", f"-func={_PROFILE}"], _PROFILE, "gocover", needs=["tests"]),
    }


def detect_rust(root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return how a Rust project can be measured, None if it is not one."""
    if not (root / "Cargo.toml").is_file():
        return None
    version = version_of(("cargo",), root, environment) if program("cargo", environment) else None
    if version is None:
        return Ecosystem("rust", notes=(f"no cargo found for {root}; install Rust, and have cargo on PATH",))
    calls = {name: ("cargo", name) for name in ("nextest", "clippy")}
    # rustup's proxies are on PATH even if the tool is not installed
    tools = {name: call for name, call in calls.items() if version_of(call, root, environment) is not None}
    notes = ["coverage is not measured: add a check whose report is LCOV, as cargo llvm-cov writes it"]
    if "clippy" not in tools:
        notes.append("clippy not found: rustup component add clippy")
    return Ecosystem("rust", ("cargo",), version, tools, _rust_checks(root, tools), tuple(notes))


def _rust_checks(root: Path, tools: Mapping[str, Any]) -> Checks:
    text = {"reports": ["-"], "format": "libtest-text", "env": dict(_NO_COLOUR), "timeout": _TIMEOUT}
    # the binary of a test is printed on standard error; a root package alone would be tested without its members
    whole = " --workspace" if _is_workspace(root) else ""
    checks: Checks = {"tests": {"run": f"cargo test{whole} --no-fail-fast 2>&1", **text}}
    if "nextest" in tools:
        checks["tests"] = reported(_NEXTEST + whole, _REPORT, "junit", timeout=_TIMEOUT)
        if whole or (root / "src" / "lib.rs").is_file():
            # nextest does not run doctests
            doctests = {**text, "reports": ["-"], "kind": "tests", "needs": ["tests"]}
            checks["doctests"] = {"run": f"cargo test{whole} --doc --no-fail-fast 2>&1", **doctests}
    if "clippy" in tools:
        run = ["cargo", "clippy", *whole.split(), "--message-format=json"]
        checks["lint"] = reported(run, "-", "cargo-json", timeout=_TIMEOUT)
    return checks


def _is_workspace(root: Path) -> bool:
    """Return whether cargo has other members to test than its own defaults."""
    try:
        table = tomllib.loads(text_of(root / "Cargo.toml") or "").get("workspace")
    except ValueError:
        return False
    return isinstance(table, dict) and "default-members" not in table


def detect_jvm(root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return how a Maven or Gradle project can be measured, None if it is not one."""
    for tool, wrapper, files, checks_of in (
        ("mvn", "mvnw", ("pom.xml",), _maven_checks),
        ("gradle", "gradlew", _GRADLE, _gradle_checks),
    ):
        if any((root / name).is_file() for name in files):
            own = [f"./{wrapper}"] if os.access(root / wrapper, os.X_OK) else []
            calls = [*own, *([tool] if program(tool, environment) else [])]
            if not calls:
                return Ecosystem("jvm", notes=(f"neither {wrapper} nor {tool} found for {root}; install {tool}",))
            runs = ((each, version_of((each,), root, environment)) for each in calls)
            call, version = next(((each, number) for each, number in runs if number is not None), (calls[0], None))
            broken = []
            if call != calls[0] or version is None:  # such as a wrapper that cannot download
                said = why_not((calls[0], "--version"), root, environment)
                broken = [f"{calls[0]} does not run here ({said}); fix that, or install {tool}"]
            if version is None:
                return Ecosystem("jvm", (call,), notes=tuple(broken))
            # The build files of the project and of modules one folder deep.
            paths = chain.from_iterable((root / name, *sorted(root.glob(f"[!.]*/{name}"))) for name in files)
            checks, notes = checks_of(call, "\n".join(text for text in map(text_of, paths) if text is not None))
            return Ecosystem("jvm", (call,), version, {}, checks, (*broken, *notes))
    return None


def _maven_checks(call: str, text: str) -> tuple[Checks, tuple[str, ...]]:
    how = [call, "-q", "-B"]
    # else modules that depend on one with a failing test would not be tested
    run = [*how, "-Dmaven.test.failure.ignore=true", "test"]
    checks: Checks = {"tests": reported(run, "**/target/surefire-reports/TEST-*.xml", "junit", timeout=_TIMEOUT)}
    if _JACOCO_OF_MAVEN not in text:
        return checks, (f"coverage is not measured: add {_JACOCO_OF_MAVEN} to pom.xml",)
    run = [*how, f"org.jacoco:{_JACOCO_OF_MAVEN}:report"]
    checks["coverage"] = reported(run, "**/target/site/jacoco/jacoco.xml", "jacoco", needs=["tests"])
    return checks, ()


def _gradle_checks(call: str, text: str) -> tuple[Checks, tuple[str, ...]]:
    # no daemon is left running, and cleanTest makes up-to-date tests write a new report
    how = [call, "--no-daemon", "--console=plain", "--continue"]
    run = [*how, "cleanTest", "test"]
    checks: Checks = {"tests": reported(run, "**/build/test-results/test/*.xml", "junit", timeout=_TIMEOUT)}
    if "jacoco" not in text or not any(word in text for word in _XML_OF_GRADLE):
        return checks, ("coverage is not measured: use the jacoco plugin with xml.required = true",)
    # the tests have run already, and their task would stop the report if one failed
    run = [*how, "jacocoTestReport", "-x", "test"]
    checks["coverage"] = reported(run, "**/build/reports/jacoco/test/*.xml", "jacoco", needs=["tests"])
    return checks, ()


_CALL: Final = "{call}"
_WORDS: Final = "{words}"
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

    def finds(self, expression: re.Pattern[str], *patterns: str) -> str | None:
        """Return the group that an expression finds in the first file that has it, None if no file has it."""
        found = (expression.search(text_of(path) or "") for path in self._files(patterns))
        return next((each[each.lastindex or 0] for each in found if each is not None), None)

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
            # files of a pattern
            yield from islice((path for path in paths if path.is_file()), 200)


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
    timeout=_TIMEOUT,
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
_RUBY_HELPERS: Final = ("spec/spec_helper.rb", "test/test_helper.rb", "test/helper.rb", ".simplecov")
_SIMPLECOV: Final = _has(*_RUBY_HELPERS, saying="SimpleCov.start")
# Coverage that is only measured where a variable is set.
_ASKED: Final = r"""if ENV(?:\.\w+\(|\[)["'](\w+)["']"""
_IF_ASKED: Final = re.compile(
    rf"{_ASKED}[^\n]*(?:\n\s*(?:require\b|#)[^\n]*)*\n\s*SimpleCov\.start|SimpleCov\.start[^\n]* {_ASKED}"
)
_RSPEC: Final = reported(
    [_CALL, "--no-fail-fast", "--format", "progress", "--format", "json", "--out", _RSPEC_REPORT],
    _RSPEC_REPORT,
    "rspec-json",
)
_RUBOCOP: Final = reported([_CALL, "--cache", "false", "--format", "json"], "-", "rubocop-json")
_TEST_TASK: Final = _has("Rakefile", "rakefile", "Rakefile.rb", saying=r"TestTask|task\s*\(?:test\b|task\s+test\b")


def _bundle_calls(name: str) -> tuple[str, ...]:
    return (f"bin/{name}", f"bundle exec {name}", name)


_RUBY: Final = Language(
    "ruby",
    ("Gemfile", "*.gemspec", "Rakefile", ".rspec", "spec/*_spec.rb"),
    "ruby",
    "install Ruby, and have ruby on PATH",
    (
        Tool("rspec", "tests", _bundle_calls("rspec"), _has(*_SPECS), {"tests": _RSPEC}, missing="bundle install"),
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
            _bundle_calls("rake"),
            lambda project: _TEST_TASK(project) and project.has(*_MINITESTS, saying=r"[Mm]initest"),
            {"tests": reported([_CALL, "test"], "-", "minitest-text", env={"TESTOPTS": "-v"})},
            missing="bundle install",
        ),
        Tool(
            "rake",
            "tests",
            _bundle_calls("rake"),
            _has("Rakefile", "rakefile", "Rakefile.rb"),
            template=("rake test TESTOPTS=--junit", "test/reports/*.xml"),
        ),
        Tool(
            "simplecov",
            "coverage",
            ("ruby",),
            _SIMPLECOV,
            {"coverage": left_by_the_tests("coverage/.resultset.json", "simplecov")},
        ),
        Tool(
            "rubocop",
            "lint",
            _bundle_calls("rubocop"),
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


_CTEST_CHECK: Final = reported(f"{_BUILD} && {_CTEST}", "{reports}/ctest.xml", "junit", timeout=_TIMEOUT)
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
            {"build": {"run": _BUILD, "kind": "build", "timeout": _TIMEOUT}},
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
                    timeout=_TIMEOUT,
                )
            },
        ),
    ),
    lacks={"coverage": "coverage is not measured: add a check of `bazel coverage --combined_report=lcov //...`"},
)

LANGUAGES: Final = (_CSHARP, _PHP, _RUBY, _C, _DENO, _BAZEL)
_DENO_TASK: Final = re.compile(r'"test"\s*:\s*"deno test ([^"&|;$`]*)"')


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
    if "coverage" in found.checks and "tests" in found.checks and (name := project.finds(_IF_ASKED, *_RUBY_HELPERS)):
        found.checks["tests"]["env"] = {**found.checks["tests"].get("env", {}), name: "true"}
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
        self.checks |= {name: _with_call(check, call, self._project) for name, check in tool.checks.items()}
        self.notes += [tool.note] if tool.note else []


def _with_call(check: Mapping[str, Any], call: tuple[str, ...], project: Project) -> dict[str, Any]:
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
    target = next((name for name in ("test", "check", "tests") if has(saying=rf"^{name}\s*:(?!=)")), None)
    version = version_of(("make",), root, environment) if target and program("make", environment) else None
    if target is None or version is None:
        return None
    check, note, template = by_status(("make", target), f"make {target}", "path/to/*.xml")
    return Ecosystem("make", ("make",), version, {}, check, (note,), (template,))
