"""Temporary folders: outside of the project, and gone at the latest when the next one is made."""

import os
import signal
import tempfile
import time

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.measure.linked_environments import link_environments
from ralph_tracker.scratch import scratch_folder
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.write import LoopStore


@pytest.fixture
def beside(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def killed(root):
    """Die with a temporary folder in which nobody may write."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        with scratch_folder(root) as folder:
            (folder / "kept").mkdir()
            (folder / "kept/file").write_text("x")
            (folder / "kept").chmod(0o500)
            os.write(writer, b"!")
            time.sleep(60)
    os.read(reader, 1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_it_goes_when_it_is_done_and_when_that_is_interrupted(beside, tmp_path):
    with scratch_folder(tmp_path / "project") as folder:
        assert folder.parent == beside
    with pytest.raises(KeyboardInterrupt), scratch_folder(tmp_path / "project"):
        raise KeyboardInterrupt
    assert not list(beside.iterdir())


def test_what_a_killed_process_has_left_goes_with_the_next_one(beside, tmp_path):
    killed(tmp_path / "project")
    assert len(list(beside.iterdir())) == 1
    with scratch_folder(tmp_path / "another") as folder:
        assert list(beside.iterdir()) == [folder]


def test_those_of_others_stay(beside, tmp_path):
    """One that is at work, and what only has such a name."""
    (tmp_path / "elsewhere").mkdir()
    (beside / "ralph-tracker-scratch-link").symlink_to(tmp_path / "elsewhere")
    (beside / "ralph-tracker-scratch-file").write_text("")
    with scratch_folder(tmp_path / "project") as first, scratch_folder(tmp_path / "project") as second:
        assert first.is_dir()
        assert second.is_dir()
    assert len(list(beside.iterdir())) == 2
    assert (tmp_path / "elsewhere").is_dir()


def test_none_is_made_in_the_project(beside):
    with pytest.raises(StoreError, match="name another with TMPDIR"), scratch_folder(beside):
        pass
    assert not list(beside.iterdir())


def test_environments_are_lent_although_a_link_beside_them_leads_nowhere(tmp_path):
    root, copy = tmp_path / "project", tmp_path / "copy"
    for folder in (root / "api" / ".venv", copy / "api"):
        folder.mkdir(parents=True)
    (root / "api" / ".venv" / "pyvenv.cfg").touch()
    (root / "api" / "loop").symlink_to("loop")
    (root / "api" / "gone").symlink_to("nowhere")
    (root / "venv").symlink_to("api/.venv")
    link_environments(root, copy, (), {"PATH": ""})
    assert sorted(str(path.relative_to(copy)) for path in copy.rglob("*venv")) == ["api/.venv", "venv"]


def test_a_killed_process_is_cleared_after_by_the_next_writer_that_finds_its_loop_unfinished(beside, tmp_path):
    store = LoopStore(LoopPaths(tmp_path / "project", "ralph-001"))
    killed(tmp_path / "elsewhere")
    with store.write_lock("test"):
        assert len(list(beside.iterdir())) == 1, "a writer that has nothing to recover does not look"
        store.paths.staging.joinpath("left").touch()
    store.paths.staging.mkdir(exist_ok=True)
    with store.write_lock("test"):
        assert not list(beside.iterdir())
