"""What a project of Maven or Gradle is measured with: its own wrapper first, JaCoCo where the build has it."""

import pytest

from ralph_tracker.measure.ecosystems.jvm import detect

MVN, GRADLE = "echo Apache Maven 3.9.9", "echo Gradle 8.14"
JACOCO = "<artifactId>jacoco-maven-plugin</artifactId>"
KOTLIN = "plugins { jacoco }\ntasks.jacocoTestReport { reports { xml.required = true } }\n"


@pytest.mark.parametrize(
    ("files", "call", "version"),
    [
        ({"pom.xml": ""}, "mvn", "3.9.9"),
        ({"pom.xml": "", "mvnw": "#!/bin/sh\necho Apache Maven 4.0.1\n"}, "./mvnw", "4.0.1"),
        ({"build.gradle": ""}, "gradle", "8.14"),
        ({"settings.gradle.kts": "", "gradlew": "#!/bin/sh\necho Gradle 9.1\n"}, "./gradlew", "9.1"),
        ({"pom.xml": "", "build.gradle": ""}, "mvn", "3.9.9"),
    ],
    ids=["maven", "its wrapper", "gradle", "its wrapper, Kotlin", "both"],
)
def test_the_build_is_run_as_the_project_has_it(tree, on_path, files, call, version):
    found = detect(tree(files), on_path(mvn=MVN, gradle=GRADLE))
    assert (found.call, found.version) == ((call,), version)
    assert found.checks["tests"]["run"][0] == call
    assert found.checks["tests"]["run"][-1] == "test"


@pytest.mark.parametrize(("programs", "call", "checks"), [({}, ("./mvnw",), []), ({"mvn": MVN}, ("mvn",), ["tests"])])
def test_a_wrapper_that_cannot_download_is_said_to_be_so_and_measures_nothing(tree, on_path, programs, call, checks):
    says = "#!/bin/sh\necho 'Error: Failed to fetch https://repo.example.org/maven.zip' >&2; exit 1\n"
    found = detect(tree({"pom.xml": JACOCO, "mvnw": says}), on_path(**programs))
    assert (found.call, [name for name in found.checks if name != "coverage"]) == (call, checks)
    assert found.notes[0] == (
        "./mvnw does not run here (Error: Failed to fetch https://repo.example.org/maven.zip); fix that, or install mvn"
    )


def test_a_wrapper_that_cannot_be_run_is_left_alone(tree, on_path):
    root = tree({"pom.xml": "", "mvnw": ""})
    (root / "mvnw").chmod(0o644)
    assert detect(root, on_path(mvn=MVN)).call == ("mvn",)


@pytest.mark.parametrize(
    ("files", "report"),
    [
        ({"pom.xml": JACOCO}, "**/target/site/jacoco/jacoco.xml"),
        ({"pom.xml": "", "core/pom.xml": JACOCO}, "**/target/site/jacoco/jacoco.xml"),
        ({"pom.xml": ""}, None),
        ({"build.gradle.kts": KOTLIN}, "**/build/reports/jacoco/test/*.xml"),
        ({"build.gradle.kts": "plugins { jacoco }\n"}, None),
        ({"build.gradle": ""}, None),
    ],
    ids=["maven", "a module", "maven without", "gradle", "gradle without XML", "gradle without"],
)
def test_coverage_is_measured_where_the_build_has_it(tree, on_path, files, report):
    found = detect(tree(files), on_path(mvn=MVN, gradle=GRADLE))
    check = found.checks.get("coverage", {"reports": [None], "needs": ["tests"]})
    assert (check["reports"], check["needs"]) == ([report], ["tests"])
    assert len(found.notes) == (report is None)
    assert all(note.startswith("coverage is not measured: ") for note in found.notes)


@pytest.mark.parametrize(("file", "tool"), [("pom.xml", "mvn"), ("build.gradle", "gradle")])
def test_without_the_tool_there_is_a_next_step(tree, on_path, file, tool):
    found = detect(tree({file: ""}), on_path())
    assert found.checks == {}
    assert found.notes[0].endswith(f"; install {tool}")


def test_a_folder_without_a_build_is_none(tree, on_path):
    assert detect(tree({"Main.java": ""}), on_path(mvn=MVN)) is None
