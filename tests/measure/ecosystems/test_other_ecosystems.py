"""Go, Rust and the JVM by what is on PATH. The table: which tools of a row are used, what is said of the others."""

import subprocess
import tomllib

import pytest

from ralph_tracker.measure.detect import detect
from ralph_tracker.measure.ecosystems.other_ecosystems import detect_go, detect_jvm, detect_rust
from ralph_tracker.measure.find_reports import filled_run

GO = 'test "$1" = version && echo go version go1.24.1 linux/amd64'
MODULE = {"go.mod": "module m\n"}
PHP = "case $1 in --version) echo PHP 8.2.1;; -m) printf 'json\\npcov\\n';; esac"
WITHOUT_DRIVER = "case $1 in --version) echo PHP 8.2.1;; -m) echo json;; esac"
XML = "<phpunit><source/></phpunit>"
GTEST = "enable_testing()\nfind_package(GTest)\n"
CSPROJ = '<PackageReference Include="{}" />'


def test_go_alone_writes_its_events_and_its_coverage(tree, on_path):
    found = detect_go(tree(MODULE), on_path(go=GO))
    assert (found.version, found.call) == ("1.24.1", ("go",))
    tests, coverage = found.checks["tests"], found.checks["coverage"]
    assert tests["run"] == ["go", "test", "-json", "-coverprofile={reports}/cover.out", "./..."]
    assert (tests["reports"], tests["format"]) == (["-"], "gotest-json")
    assert (coverage["reports"], coverage["needs"]) == (["{reports}/cover.out"], ["tests"])
    assert found.notes == ("golangci-lint not found: install it, lint findings are not measured",)


def test_gotestsum_runs_the_tests_where_it_is_installed(tree, on_path):
    found = detect_go(tree(MODULE), on_path(go=GO, gotestsum="exit 0"))
    assert found.checks["tests"]["run"][:3] == ["gotestsum", "--junitfile={reports}/gotestsum.xml", "--"]
    assert found.checks["tests"]["reports"] == ["{reports}/gotestsum.xml"]


@pytest.mark.parametrize(
    ("says", "flag"),
    [
        ("echo golangci-lint has version 1.64.8", "--out-format=json:{reports}/golangci.json"),
        ("echo golangci-lint has version 2.3.1", "--output.json.path={reports}/golangci.json"),
        ("exit 1", "--output.json.path={reports}/golangci.json"),
    ],
    ids=["1", "2", "unknown"],
)
def test_the_linter_is_asked_as_its_version_understands(tree, on_path, says, flag):
    found = detect_go(tree(MODULE), on_path(go=GO, golangci_lint=says))
    assert found.checks["lint"]["run"] == ["golangci-lint", "run", flag]
    assert found.notes == ()


@pytest.mark.parametrize(
    ("workspace", "packages"),
    [
        ("go 1.24\nuse ./a\nuse ./b // the second\n", ["./a/...", "./b/..."]),
        ('go 1.24\nuse (\n\t./a/ // first\n\t"./b"\n)\n', ["./a/...", "./b/..."]),
        ("go 1.24\n", ["./..."]),
    ],
    ids=["lines", "a block", "none"],
)
def test_a_workspace_is_its_modules(tree, on_path, workspace, packages):
    run = detect_go(tree({"go.work": workspace}), on_path(go=GO)).checks["tests"]["run"]
    assert run[run.index("-coverprofile={reports}/cover.out") + 1 :] == packages


@pytest.mark.parametrize("programs", [{}, {"go": "exit 1"}], ids=["absent", "broken"])
def test_without_go_there_is_a_next_step(tree, on_path, programs):
    root = tree(MODULE)
    found = detect_go(root, on_path(**programs))
    assert (found.checks, found.notes) == ({}, (f"no Go found for {root}; install it, and have go on PATH",))


def test_a_folder_without_a_module_is_none(tree, on_path):
    assert detect_go(tree({"main.go": ""}), on_path(go=GO)) is None


CRATE = {"Cargo.toml": "", "src/lib.rs": ""}
# cargo with the subcommands that are named, as a toolchain manager's proxies leave it
CARGO = 'case "$1" in --version{}) echo cargo 1.95.0 ;; *) exit 1 ;; esac'


def cargo(*subcommands):
    return CARGO.format("".join(f" | {name}" for name in subcommands))


@pytest.mark.parametrize(
    ("subcommands", "files", "checks"),
    [
        ((), CRATE, {"tests": "libtest-text"}),
        (("clippy",), CRATE, {"tests": "libtest-text", "lint": "cargo-json"}),
        (("nextest",), CRATE, {"tests": "junit", "doctests": "libtest-text"}),
        (("nextest",), {"Cargo.toml": ""}, {"tests": "junit"}),
    ],
    ids=["cargo", "clippy", "nextest", "nextest, no library"],
)
def test_checks_are_those_of_the_tools_that_are_there(tree, on_path, subcommands, files, checks):
    found = detect_rust(tree(files), on_path(cargo=cargo(*subcommands)))
    assert {name: check["format"] for name, check in found.checks.items()} == checks
    assert set(found.tools) == set(subcommands)
    assert ("clippy not found: rustup component add clippy" in found.notes) == ("clippy" not in subcommands)


@pytest.mark.parametrize(
    ("manifest", "whole"),
    [("[workspace]\nmembers = ['a']", True), ("[workspace]\ndefault-members = ['a']", False), ("[package]", False)],
)
def test_all_members_of_a_workspace_are_measured_unless_it_names_some(tree, on_path, manifest, whole):
    checks = detect_rust(tree({"Cargo.toml": manifest}), on_path(cargo=cargo("clippy"))).checks
    assert ["--workspace" in check["run"] for check in checks.values()] == [whole, whole]


def test_tests_of_the_documentation_are_tests(tree, on_path):
    doctests = detect_rust(tree(CRATE), on_path(cargo=cargo("nextest"))).checks["doctests"]
    assert (doctests["kind"], doctests["needs"]) == ("tests", ["tests"])


def test_nextest_writes_where_it_is_told_without_touching_the_tree(tree, on_path, tmp_path):
    root = tree(CRATE)
    environment = on_path(cargo=f'{cargo("nextest")}; echo "$*" > "{tmp_path}/words"')
    reports = tmp_path / "a folder"
    reports.mkdir()
    run = filled_run(detect_rust(root, environment).checks["tests"]["run"], str(reports))
    subprocess.run(["/bin/sh", "-c", run], cwd=root, env=environment, check=True)
    settings = tomllib.loads((reports / "nextest.toml").read_text())
    assert settings["profile"]["default"]["junit"]["path"] == str(reports / "nextest.xml")
    assert f"ralph-tracker:{reports}/nextest.toml" in (tmp_path / "words").read_text()
    assert sorted(path.name for path in root.iterdir()) == [".git", "Cargo.toml", "src"]


@pytest.mark.parametrize("programs", [{}, {"cargo": "exit 1"}], ids=["absent", "broken"])
def test_without_cargo_there_is_a_next_step(tree, on_path, programs):
    root = tree(CRATE)
    found = detect_rust(root, on_path(**programs))
    assert (found.checks, found.notes) == ({}, (f"no cargo found for {root}; install Rust, and have cargo on PATH",))


def test_a_folder_without_a_manifest_is_none(tree, on_path):
    assert detect_rust(tree({"main.rs": ""}), on_path(cargo=cargo())) is None


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
    found = detect_jvm(tree(files), on_path(mvn=MVN, gradle=GRADLE))
    assert (found.call, found.version) == ((call,), version)
    assert found.checks["tests"]["run"][0] == call
    assert found.checks["tests"]["run"][-1] == "test"


@pytest.mark.parametrize(("programs", "call", "checks"), [({}, ("./mvnw",), []), ({"mvn": MVN}, ("mvn",), ["tests"])])
def test_a_wrapper_that_cannot_download_is_said_to_be_so_and_measures_nothing(tree, on_path, programs, call, checks):
    says = "#!/bin/sh\necho 'Error: Failed to fetch https://repo.example.org/maven.zip' >&2; exit 1\n"
    found = detect_jvm(tree({"pom.xml": JACOCO, "mvnw": says}), on_path(**programs))
    assert (found.call, [name for name in found.checks if name != "coverage"]) == (call, checks)
    assert found.notes[0] == (
        "./mvnw does not run here (Error: Failed to fetch https://repo.example.org/maven.zip); fix that, or install mvn"
    )


def test_a_wrapper_that_cannot_be_run_is_left_alone(tree, on_path):
    root = tree({"pom.xml": "", "mvnw": ""})
    (root / "mvnw").chmod(0o644)
    assert detect_jvm(root, on_path(mvn=MVN)).call == ("mvn",)


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
    found = detect_jvm(tree(files), on_path(mvn=MVN, gradle=GRADLE))
    check = found.checks.get("coverage", {"reports": [None], "needs": ["tests"]})
    assert (check["reports"], check["needs"]) == ([report], ["tests"])
    assert len(found.notes) == (report is None)
    assert all(note.startswith("coverage is not measured: ") for note in found.notes)


@pytest.mark.parametrize(("file", "tool"), [("pom.xml", "mvn"), ("build.gradle", "gradle")])
def test_without_the_tool_there_is_a_next_step(tree, on_path, file, tool):
    found = detect_jvm(tree({file: ""}), on_path())
    assert found.checks == {}
    assert found.notes[0].endswith(f"; install {tool}")


def test_a_folder_without_a_build_is_none(tree, on_path):
    assert detect_jvm(tree({"Main.java": ""}), on_path(mvn=MVN)) is None


@pytest.fixture
def found(tree, on_path):
    """Detect in a project of the files given, with the programs given."""

    def look(files, **programs):
        return detect(tree(files), on_path(**{name: line or f"echo {name} 1.2.3" for name, line in programs.items()}))

    return look


@pytest.mark.parametrize(
    ("files", "programs", "checks"),
    [
        ({"A.sln": ""}, {"dotnet": ""}, ["tests"]),
        ({"t/T.csproj": CSPROJ.format("coverlet.collector")}, {"dotnet": ""}, ["tests", "coverage"]),
        ({"phpunit.xml": XML}, {"php": PHP, "phpunit": ""}, ["tests", "coverage"]),
        ({"phpunit.xml": XML}, {"php": WITHOUT_DRIVER, "phpunit": ""}, ["tests"]),
        ({"phpunit.xml": "<phpunit/>"}, {"php": PHP, "phpunit": ""}, ["tests"]),
        ({"composer.json": '{"scripts": {"test": "x"}}'}, {"php": PHP, "composer": ""}, ["test-command"]),
        ({"composer.json": "{}", "phpstan.neon": "", "vendor/bin/phpstan": ""}, {"php": PHP}, ["lint"]),
        ({".rspec": ""}, {"ruby": "", "rspec": ""}, ["tests"]),
        (
            {".rspec": "", "spec/spec_helper.rb": "SimpleCov.start", ".rubocop.yml": ""},
            {"ruby": "", "rspec": "", "rubocop": ""},
            ["tests", "coverage", "lint"],
        ),
        ({"Rakefile": "Rake::TestTask.new", "test/a.rb": "Minitest"}, {"ruby": "", "rake": ""}, ["tests"]),
        ({"Rakefile": "task :default"}, {"ruby": "", "rake": ""}, ["test-command"]),
        ({"CMakeLists.txt": "enable_testing()"}, {"cmake": "", "ctest": "", "gcovr": ""}, ["tests", "coverage"]),
        ({"CMakeLists.txt": "enable_testing()"}, {"cmake": "", "ctest": ""}, ["tests"]),
        ({"CMakeLists.txt": ""}, {"cmake": "", "ctest": ""}, ["build"]),
        ({"deno.json": ""}, {"deno": ""}, ["tests", "coverage"]),
        ({"MODULE.bazel": ""}, {"bazel": ""}, ["tests"]),
        ({"Makefile": "all:\ntest: all\n\tx\n"}, {"make": ""}, ["test-command"]),
        ({"Makefile": "all:\ntest := 1\n"}, {"make": ""}, []),
        ({"Makefile": "test:\n", "CMakeLists.txt": ""}, {"make": "", "cmake": ""}, ["build"]),
    ],
)
def test_a_project_is_measured_by_the_tools_that_it_uses_and_that_are_there(found, files, programs, checks):
    assert list(found(files, **programs).checks) == checks


@pytest.mark.parametrize(
    ("files", "programs", "note"),
    [
        ({"A.sln": ""}, {}, "no dotnet found"),
        ({"A.sln": ""}, {"dotnet": ""}, "dotnet add package coverlet.collector"),
        ({"phpunit.xml": XML}, {"php": PHP}, "phpunit not found: composer install"),
        ({"phpunit.xml": XML}, {"php": WITHOUT_DRIVER, "phpunit": ""}, "install pcov or xdebug"),
        ({".rspec": "", ".rubocop.yml": ""}, {"ruby": "", "rspec": ""}, "rubocop not found"),
        ({"CMakeLists.txt": GTEST}, {"cmake": "", "ctest": ""}, "gtest_discover_tests"),
        ({"Rakefile": ""}, {"ruby": "", "rake": ""}, "rake counts by its exit status only"),
        ({"deno.json": ""}, {"deno": ""}, "deno lint is not read"),
    ],
)
def test_what_is_not_measured_is_said_with_the_next_step(found, files, programs, note):
    assert note in "\n".join(found(files, **programs).notes)


def test_a_language_without_anything_to_run_is_not_spoken_of(found):
    assert found({"Gemfile": "gem 'jekyll'"}).ecosystems == ()
    assert found({"composer.json": '{"require": {}}'}).ecosystems == ()


@pytest.mark.parametrize(
    ("files", "bundle", "call"),
    [
        ({"Gemfile": "", ".rspec": ""}, "echo 1.2.3", ["bundle", "exec", "rspec"]),
        ({"Gemfile": "", ".rspec": ""}, "exit 7", ["rspec"]),
        ({".rspec": ""}, "echo 1.2.3", ["rspec"]),
        ({"Gemfile": "", ".rspec": "", "bin/rspec": ""}, "echo 1.2.3", ["bin/rspec"]),
    ],
)
def test_bundler_is_used_where_its_gems_are_installed(found, files, bundle, call):
    run = found(files, ruby="", rspec="", bundle=bundle).checks["tests"]["run"]
    assert run[: len(call)] == call


def test_a_task_of_deno_keeps_its_words(found):
    files = {"deno.jsonc": '{"tasks": {"test": "deno test -A --parallel src"}}'}
    run = found(files, deno="").checks["tests"]["run"]
    assert run[:6] == ["deno", "test", "-A", "--parallel", "src", "--ignore=.aiwg"]


def test_a_template_goes_with_what_counts_by_its_exit_status(found):
    (template,) = found({"Makefile": "check:\n"}, make="").templates
    assert "put this in place of test-command" in template
    assert "run: make check" in template


@pytest.mark.parametrize(
    ("helper", "env"),
    [
        ("if ENV['COVERAGE']\n  require 'simplecov'\n  SimpleCov.start do\n  end\nend\n", {"COVERAGE": "true"}),
        ("if ENV.fetch('COV', 'f').start_with? 't'\n  # why\n  SimpleCov.start\nend\n", {"COV": "true"}),
        ('SimpleCov.start "rails" if ENV["COVERAGE"]\n', {"COVERAGE": "true"}),
        ('SimpleCov.start unless ENV["NO_COVERAGE"]\n', {}),
        ("if ENV['DEBUG']\n  x\nend\nSimpleCov.start\n", {}),
    ],
)
def test_simplecov_is_asked_to_measure(found, helper, env):
    checks = found({".rspec": "", "spec/spec_helper.rb": helper}, ruby="", rspec="").checks
    assert ("coverage" in checks, checks["tests"].get("env", {})) == (True, env)
