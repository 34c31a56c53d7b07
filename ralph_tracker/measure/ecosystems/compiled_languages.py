"""Go, Rust and the JVM: languages whose tests are built before they run.

Go: gotestsum, else `go test -json`, the coverage of the same run, golangci-lint. Rust: cargo nextest if installed, else
the output of `cargo test`, and clippy. The JVM: Maven and Gradle, preferably the project's own wrapper, with JaCoCo if
the project uses it. `.aiwg` is left out: patterns of Go with `...` skip folders that begin with a dot, cargo builds the
crates in the manifest, Maven and Gradle the named modules, and no pattern of a report matches below it.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from ralph_tracker.config.regular_file import text_of
from ralph_tracker.measure.ecosystems.ecosystem import Checks, Ecosystem, program, reported, version_of, why_not

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
_MAVEN: Final = ("pom.xml",)
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
        ("mvn", "mvnw", _MAVEN, _maven_checks),
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
