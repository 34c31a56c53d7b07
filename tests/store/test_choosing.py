"""Which store a loop has: git where there is one that is new enough, and what it was begun with from then on."""

import shutil

import pytest

from ralph_tracker.store.choosing import CONTENTS, GIT, begun_with, chosen_store, git_is_usable, store_to_begin
from ralph_tracker.store.contents.store import ContentStore
from ralph_tracker.store.git.store import GitStore


@pytest.fixture
def path_with(tmp_path, monkeypatch):
    """Return a function that leaves on PATH what prints that, or nothing at all."""
    (tmp_path / "bin").mkdir()
    shell = shutil.which("sh")

    def put(prints: str | None) -> None:
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        if prints is not None:
            (tmp_path / "bin" / "git").write_text(f"#!{shell}\n{prints}\n")
            (tmp_path / "bin" / "git").chmod(0o755)

    return put


@pytest.mark.parametrize(
    ("prints", "usable"),
    [
        ("echo git version 2.34.0", True),
        ("echo git version 2.39.3 \\(Apple Git-146\\)", True),
        ("echo git version 3.0.rc1", True),
        ("echo git version 2.33.9", False),
        ("echo git version 2.39.5; exit 1", False),
        ("echo of another kind", False),
        (None, False),
    ],
)
def test_a_git_that_is_new_enough_keeps_the_files_of_a_new_loop(path_with, tmp_path, prints, usable):
    path_with(prints)
    assert git_is_usable() == usable
    assert isinstance(store_to_begin(tmp_path, tmp_path), GitStore if usable else ContentStore)


@pytest.mark.parametrize(("name", "kind"), [(GIT, GitStore), (CONTENTS, ContentStore), (None, GitStore)])
@pytest.mark.parametrize("choose", [chosen_store, store_to_begin])
def test_a_loop_stays_with_the_store_it_was_begun_with(tmp_path, name, kind, choose):
    if name:
        (tmp_path / name).mkdir()
    assert begun_with(tmp_path) == name
    assert isinstance(choose(tmp_path, tmp_path), kind)


def test_a_loop_without_a_store_has_the_one_that_needs_no_git_where_there_is_none(tmp_path, path_with):
    path_with(None)
    assert isinstance(chosen_store(tmp_path, tmp_path), ContentStore)
