"""The JVM: Maven and Gradle, preferably the project's own wrapper, with JaCoCo if the project uses it.

Both only build the named modules, and report patterns match nothing below `.aiwg`.
"""

import os
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Final

from ralph_tracker.config.regular_file import text_of
from ralph_tracker.measure.ecosystems.found import Checks, Ecosystem, program, version_of, why_not

NAME: Final = "jvm"
_TIMEOUT: Final = "30m"  # it builds first
_MAVEN: Final = ("pom.xml",)
_GRADLE: Final = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
_JACOCO_OF_MAVEN: Final = "jacoco-maven-plugin"
_XML_OF_GRADLE: Final = ("xml.required", "xml.enabled", "xml { required", "xml.setRequired")


def detect(root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return how a Maven or Gradle project can be measured, None if it is not one."""
    for tool, wrapper, files, checks_of in (
        ("mvn", "mvnw", _MAVEN, _maven_checks),
        ("gradle", "gradlew", _GRADLE, _gradle_checks),
    ):
        if any((root / name).is_file() for name in files):
            own = [f"./{wrapper}"] if os.access(root / wrapper, os.X_OK) else []
            calls = [*own, *([tool] if program(tool, environment) else [])]
            if not calls:
                return Ecosystem(NAME, notes=(f"neither {wrapper} nor {tool} found for {root}; install {tool}",))
            runs = ((each, version_of((each,), root, environment)) for each in calls)
            call, version = next(((each, number) for each, number in runs if number is not None), (calls[0], None))
            broken = []
            if call != calls[0] or version is None:  # such as a wrapper that cannot download
                said = why_not((calls[0], "--version"), root, environment)
                broken = [f"{calls[0]} does not run here ({said}); fix that, or install {tool}"]
            if version is None:
                return Ecosystem(NAME, (call,), notes=tuple(broken))
            # The build files of the project and of modules one folder deep.
            paths = chain.from_iterable((root / name, *sorted(root.glob(f"[!.]*/{name}"))) for name in files)
            checks, notes = checks_of(call, "\n".join(text for text in map(text_of, paths) if text is not None))
            return Ecosystem(NAME, (call,), version, {}, checks, (*broken, *notes))
    return None


def _maven_checks(call: str, text: str) -> tuple[Checks, tuple[str, ...]]:
    how = [call, "-q", "-B"]
    # else modules that depend on one with a failing test would not be tested
    run = [*how, "-Dmaven.test.failure.ignore=true", "test"]
    reports = ["**/target/surefire-reports/TEST-*.xml"]
    checks: Checks = {"tests": {"run": run, "reports": reports, "format": "junit", "timeout": _TIMEOUT}}
    if _JACOCO_OF_MAVEN not in text:
        return checks, (f"coverage is not measured: add {_JACOCO_OF_MAVEN} to pom.xml",)
    checks["coverage"] = {
        "run": [*how, f"org.jacoco:{_JACOCO_OF_MAVEN}:report"],
        "reports": ["**/target/site/jacoco/jacoco.xml"],
        "format": "jacoco",
        "needs": ["tests"],
    }
    return checks, ()


def _gradle_checks(call: str, text: str) -> tuple[Checks, tuple[str, ...]]:
    # no daemon is left running, and cleanTest makes up-to-date tests write a new report
    how = [call, "--no-daemon", "--console=plain", "--continue"]
    tests = {"run": [*how, "cleanTest", "test"], "reports": ["**/build/test-results/test/*.xml"], "format": "junit"}
    checks: Checks = {"tests": {**tests, "timeout": _TIMEOUT}}
    if "jacoco" not in text or not any(word in text for word in _XML_OF_GRADLE):
        return checks, ("coverage is not measured: use the jacoco plugin with xml.required = true",)
    checks["coverage"] = {
        # the tests have run already, and their task would stop the report if one failed
        "run": [*how, "jacocoTestReport", "-x", "test"],
        "reports": ["**/build/reports/jacoco/test/*.xml"],
        "format": "jacoco",
        "needs": ["tests"],
    }
    return checks, ()
