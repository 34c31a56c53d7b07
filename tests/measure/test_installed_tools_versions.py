"""What a program says of its version, among other words, colours and numbers."""

import pytest

from ralph_tracker.measure.installed_tools import version_of


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
