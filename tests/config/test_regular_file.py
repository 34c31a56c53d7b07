"""What a person or a repository names is read as a regular file, or refused in one line; nothing waits."""

import os

import pytest

from ralph_tracker.config.load import load_config
from ralph_tracker.config.regular_file import MAX_BYTES, read_regular
from ralph_tracker.errors import ConfigError, InputError
from ralph_tracker.measure.handed_in import read_metrics
from ralph_tracker.store.plan_files import read_plan_file


def test_a_file_is_read_and_a_link_to_one_of_the_same_folder(tmp_path):
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link", inside=tmp_path) == b"text"


def test_a_link_out_of_the_folder_is_refused_where_the_repository_names_it(tmp_path):
    (tmp_path / "secret").write_text("token")
    project = tmp_path / "project"
    project.mkdir()
    (project / "ralph-tracker.yaml").symlink_to("../secret")
    with pytest.raises(
        ConfigError, match=r"^ralph-tracker\.yaml: a link out of the project; put the file itself there$"
    ):
        load_config(project)
    assert read_regular(project / "ralph-tracker.yaml") == b"token"


@pytest.mark.parametrize("read", [read_regular, read_metrics, read_plan_file])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path, read, kind):
    path = tmp_path / "given"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"given: a pipe or a device, not a file; write it to a file first$"):
        read(path)


def test_a_file_beyond_the_limit_is_refused(tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError, match=r"large: larger than 64 MiB; hand in less$"):
        read_regular(tmp_path / "large")


def test_a_missing_file_and_a_folder_are_errors_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)
