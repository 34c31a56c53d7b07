"""What a program says of its version, among other words, colours and numbers."""

import os
from pathlib import Path

import pytest

from ralph_tracker.measure.installed_tools import reaching_variables, tool_versions, version_of
from ralph_tracker.measure.run_checks import Check


@pytest.mark.parametrize(
    ("says", "version"),
    [
        ("tool 1.2.3", "1.2.3"),
        ("tool, version 4.5", "4.5"),
        ("v20.20.2", "20.20.2"),
        ("go version go1.24.1 linux/amd64", "1.24.1"),
        ("git version 2.39.5 (Apple Git-154)", "2.39.5"),
        ("\\033[1mApache Maven 3.8.7\\033[m", "3.8.7"),
        ("c8 12.0.0", "12.0.0"),
        ("golangci-lint has version 2.3.1 built with go1.24", "2.3.1"),
        ("Python 3.14.0rc1", "3.14.0rc1"),
        ("none", None),
    ],
)
def test_the_version_of_a_tool_is_what_it_says(tmp_path, on_path, says, version):
    assert version_of(["tool"], tmp_path, on_path(tool=f"printf '{says}\\n'")) == version


@pytest.mark.parametrize("call", ["/no/such/tool", "tool"], ids=["absent", "failing"])
def test_a_tool_that_does_not_run_has_no_version(tmp_path, on_path, call):
    assert version_of([call], tmp_path, on_path(tool="echo 1.2; exit 3")) is None


def test_a_tool_is_asked_in_its_own_words(tmp_path, on_path):
    environment = on_path(tool='test "$1" = version && echo 1.0')
    assert version_of(["tool"], tmp_path, environment, ["version"]) == "1.0"
    assert version_of(["tool"], tmp_path, environment, ["help"]) is None


def test_results_depend_on_what_runs_the_programs_and_on_the_interpreter_of_an_environment(tmp_path, on_path):
    check = Check("tests", "npm test")
    environment = on_path(npm="exit 0", node="exit 0")
    node = Path(environment["PATH"].partition(os.pathsep)[0]) / "node"
    found = [tool_versions(tmp_path, [check], environment)]
    node.write_text("#!/bin/sh\necho another\n")
    found.append(tool_versions(tmp_path, [check], environment))
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/pyvenv.cfg").touch()
    for version in ("3.11", "3.12"):
        (tmp_path / ".venv/bin/python").unlink(missing_ok=True)
        (tmp_path / f"python{version}").touch()
        (tmp_path / ".venv/bin/python").symlink_to(tmp_path / f"python{version}")
        found.append(tool_versions(tmp_path, [check], environment))
    assert len(set(found)) == len(found)
    assert tool_versions(tmp_path, [check], environment) == found[-1]


def test_variables_that_reach_the_checks_are_those_they_name_and_known_ones():
    environment = dict.fromkeys(("DSN", "MODE", "LC_TIME", "TZ", "PYTHONPATH", "EDITOR", "SSH_AUTH_SOCK", "TZX"), "1")
    checks = [Check("tests", 'run --dsn "${DSN}" $MODE'), Check("lint", ["sh", "-c", "lint"])]
    assert reaching_variables(checks, environment).keys() == {"DSN", "MODE", "LC_TIME", "TZ", "PYTHONPATH"}
