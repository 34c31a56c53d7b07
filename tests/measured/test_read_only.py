"""A project on a read-only mount: whoever writes says so in one line, whoever reads answers."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run

METRICS = {"testing": {"test_count": 3, "tests_passed": 3, "tests_failed": 0}}


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Path]:
    """Return a folder with a file system of its own, which a test makes read-only."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    if not mounted("-t", "tmpfs", "none", str(folder)):
        pytest.skip("mounting is not permitted")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def mounted(*words: str) -> bool:
    try:
        return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def freeze(folder: Path) -> None:
    assert mounted("-o", "remount,ro", str(folder))


@pytest.fixture
def shop(workshop_at, mount):
    root = mount / "project"
    root.mkdir()
    return workshop_at(root.resolve()).prepare().commit()


@pytest.fixture
def handed_in(tmp_path: Path) -> str:
    (tmp_path / "metrics.json").write_text(json.dumps(METRICS))
    return str(tmp_path / "metrics.json")


def asked(shop, capsys, *words: str) -> tuple[int, str, list[str]]:
    capsys.readouterr()
    code = run([*words, "--root", str(shop.root)])
    told = capsys.readouterr()
    return code, told.out, told.err.splitlines()


@pytest.mark.parametrize("measured", [True, False], ids=["measured", "handed in"])
def test_no_loop_begins_there(shop, mount, handed_in, measured, capsys):
    freeze(mount)
    code, out, errors = asked(shop, capsys, "hook", "pre-loop", *([] if measured else ["--metrics", handed_in]))
    assert (code, out, len(errors)) == (1, "", 1)
    assert "Read-only file system; nothing was changed" in errors[0]
    for verb in ("status", "history"):
        code, out, errors = asked(shop, capsys, verb)
        assert (code, out, len(errors)) == (1, "", 1)
        assert "no loop in" in errors[0]


@pytest.mark.parametrize("measured", [True, False], ids=["measured", "handed in"])
def test_a_loop_is_read_there_and_not_written(shop, mount, handed_in, measured, capsys):
    source = [] if measured else ["--metrics", handed_in]
    for phase in ("pre-loop", "post-iteration"):
        assert asked(shop, capsys, "hook", phase, *source)[0] == 0
    freeze(mount)
    for words in (
        ["hook", "post-iteration", *source],
        ["hook", "post-loop"],
        ["restore", "0"],
        ["select-best"],
        ["accept", "it1-stalled", "--reason", "why"],
    ):
        code, out, errors = asked(shop, capsys, *words)
        assert (code, out, len(errors)) == (1, "", 1), words
        assert "Read-only file system; nothing was changed" in errors[0]
    for words in (["status"], ["history"], ["show", "1"], ["report", "1"], ["verify"]):
        code, out, errors = asked(shop, capsys, *words)
        assert (code, errors) == (0, []), words
        assert out
