"""The ecosystems of the table: which of a row's tools are used, how each is called, and what is said of the others."""

import pytest

from ralph_tracker.measure.detect import detect

PHP = "case $1 in --version) echo PHP 8.2.1;; -m) printf 'json\\npcov\\n';; esac"
WITHOUT_DRIVER = "case $1 in --version) echo PHP 8.2.1;; -m) echo json;; esac"
XML = "<phpunit><source/></phpunit>"
GTEST = "enable_testing()\nfind_package(GTest)\n"
CSPROJ = '<PackageReference Include="{}" />'


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
