"""What a project's tools see of the environment that we run in."""

import sys
from pathlib import Path

import pytest

from ralph_tracker.measure.run_checks import is_our_bin, without_own_environment

pytestmark = pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="not in a virtual environment")


@pytest.mark.parametrize(
    ("active", "kept"),
    [(sys.prefix, False), ("/some/other", True), ("", True), (None, True)],
    ids=["ours", "another", "empty", "none"],
)
def test_ours_is_not_named_to_the_tools_of_a_project(tmp_path, active, kept):
    environment = {"PATH": "p"} | ({} if active is None else {"VIRTUAL_ENV": active})
    assert without_own_environment(environment, tmp_path) == (environment if kept else {"PATH": "p"})


def test_ours_is_named_where_it_is_the_projects(tmp_path):
    (tmp_path / ".venv").symlink_to(sys.prefix)
    environment = {"VIRTUAL_ENV": str(tmp_path / ".venv")}
    assert without_own_environment(environment, tmp_path) == environment
    inside = {"VIRTUAL_ENV": sys.prefix}
    assert without_own_environment(inside, Path(sys.prefix).parent) == inside


def test_our_folder_of_programs_is_known_through_links(tmp_path):
    (tmp_path / "link").symlink_to(Path(sys.prefix) / "bin")
    assert is_our_bin(str(tmp_path / "link"))
    assert is_our_bin(f"{sys.prefix}/bin")
    assert not is_our_bin(sys.prefix)
    assert not is_our_bin(str(tmp_path))
