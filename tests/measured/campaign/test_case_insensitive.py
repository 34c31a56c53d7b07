"""A folder in which names differ by no case, as on Windows: every iteration comes back, also after `rm -rf .aiwg`."""

import shutil
import subprocess

import pytest

from .outsider import kept_of, restorable, tree_of

pytestmark = [pytest.mark.faults, pytest.mark.slow]


@pytest.fixture
def folder(tmp_path):
    """Return a folder of NTFS that ignores case, in a file of its own."""
    if shutil.which("lowntfs-3g") is None:
        pytest.skip("needs lowntfs-3g, of the package ntfs-3g: install it")
    disk, place = tmp_path / "disk", tmp_path / "mounted"
    place.mkdir()
    with disk.open("wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mkfs.ntfs", "-qQF", disk], check=True, capture_output=True)
    mount = ["lowntfs-3g", "-o", "ignore_case,permissions", str(disk), str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not permitted: needs root and /dev/fuse")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_loop_where_names_differ_by_no_case(folder, workshop_at, shell, record_property):
    (folder / "project").mkdir()
    shop, trees = workshop_at(folder / "project").prepare(), {}
    (folder / "Probe").touch()
    assert (folder / "pROBE").exists()
    shop.commit()
    opened = shell(shop.root)
    edits = ("kept.txt", "Kept.TXT", "kept.txt/Inside", "KEPT.txt")
    for number, name in enumerate(edits):
        if (old := shop.root / "kept.txt").is_dir():
            shutil.rmtree(old)
        else:
            old.unlink(missing_ok=True)
        shop.passing(4 + number).write(name, f"{number}\n")
        hook = ("post-iteration", "--iteration", str(number)) if number else ("pre-loop",)
        told = opened.call("hook", *hook)
        assert (told.code, told.err) == (0, "")
        trees[number] = kept_of(tree_of(shop.root))
    assert opened.call("verify").code == 0
    assert {number: kept_of(tree) for number, tree in restorable(opened).items()} == trees
    shutil.rmtree(shop.root / ".aiwg")
    told = opened.call("status")
    assert (told.code, told.err.count("\n")) == (0, 1)
    assert "brought back" in told.err
    assert {number: kept_of(tree) for number, tree in restorable(opened).items()} == trees
    record_property("sweep", ("a folder", "of NTFS", "no case", len(edits), len(edits), 0, 0))
