"""Earlier tests run again in a copy: what goes wrong there is said, and nothing of the project is touched."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ralph_tracker.iteration.earlier_tests import ScratchRunner
from ralph_tracker.iteration.file_forms import EarlierFile
from ralph_tracker.measure.run_checks import Check
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.write import LoopStore

from .conftest import HANDS_ON

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

# The report says what `outcomes` in the folder of the tests holds: `name=passed` in a line.
SCRIPT = """\
{first}
{{
  echo '<testsuite name="s">'
  while IFS== read -r name how; do
    if [ "$how" = passed ]; then echo "<testcase classname='t' name='$name'/>"; else
      echo "<testcase classname='t' name='$name'><failure message='$how'/></testcase>"; fi
  done < tests/outcomes
  echo '</testsuite>'
}} > "$1/junit.xml"
"""
IN_THE_COPY = 'case "$PWD" in {root}) ;; *) {do} ;; esac'


def outcomes(shop, **of):
    shop.write("tests/outcomes", "".join(f"{name}={how}\n" for name, how in of.items()))


@pytest.fixture
def begun(workshop):
    """Return a loop whose check reads outcomes from the tests; what it does before that can be given."""

    def begin(do=":", **settings):
        first = IN_THE_COPY.format(root=workshop.root, do=do)
        workshop.write("measure.sh", SCRIPT.format(first=first))
        if settings:
            workshop.configure({"tests": HANDS_ON}, integrity=settings)
        outcomes(workshop, a="passed", b="passed")
        workshop.start()
        workshop.turn()
        return workshop

    return begin


def edited(shop):
    """Record an iteration that edits what the tests read; the earlier form still holds."""
    outcomes(shop, a="passed", b="passed", c="passed")
    return shop.turn()


def everything(shop):
    return {
        path: (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in shop.root.rglob("*")
        if ".aiwg" not in path.parts
    }


def test_the_project_is_not_touched(begun):
    shop = begun("echo x > written-by-the-check; mkdir made")
    outcomes(shop, a="passed", b="passed", c="passed")
    before = everything(shop)
    record = shop.turn()
    assert record.integrity.found.reruns[0].tests == 2
    assert everything(shop) == before


def test_the_copy_is_the_root_that_git_names_and_its_files_are_listed(begun):
    asks = 'test "$(git rev-parse --show-toplevel)" = "$PWD" && git ls-files | grep -q tests/outcomes || exit 9'
    record = edited(begun(asks))
    assert [rerun.tests for rerun in record.integrity.found.reruns] == [2]


def test_what_was_run_is_kept_with_the_iteration(begun):
    shop = begun()
    record = edited(shop)
    (rerun,) = record.integrity.found.reruns
    assert (rerun.references, rerun.tests, rerun.failed) == ({"tests/outcomes": 1}, 2, 0)
    assert rerun.commands == ("/bin/sh measure.sh '{reports}'",)
    report = shop.paths.iteration(2) / "rerun" / "1" / "reports" / "junit.xml"
    assert "testcase" in report.read_text()


@pytest.mark.parametrize(
    ("do", "why"),
    [
        pytest.param("kill -9 $$", "killed by SIGKILL", id="killed"),
        pytest.param("exit 3", "exit 3", id="ended without a report"),
    ],
)
def test_where_no_tree_can_be_run_in_a_copy_names_alone_count(begun, do, why):
    shop = begun(do)
    record = edited(shop)
    assert (record.integrity.verdict, record.integrity.found.earlier) == ("PASS", None)
    assert why in record.integrity.found.unproven


def test_a_failure_that_only_a_copy_has_proves_nothing(begun):
    shop = begun("printf 'a=no\\n' > tests/outcomes")
    record = edited(shop)
    assert (record.integrity.verdict, record.integrity.found.findings) == ("PASS", ())
    assert record.integrity.found.earlier.against == 1


def test_a_test_that_passes_the_second_time_proves_nothing(begun, tmp_path):
    seen = tmp_path / "seen"
    shop = begun(f"[ -e {seen} ] || {{ touch {seen}; printf 'a=no\\nb=passed\\n' > tests/outcomes; }}")
    record = edited(shop)
    assert (record.integrity.verdict, record.integrity.found.reruns[0].flaky) == ("PASS", ("s::t::a",))


def test_a_run_without_end_is_said_and_leaves_nothing(begun, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    shop = begun(f"[ -e {tmp_path}/quick ] || sleep 30", rerun_timeout="1s")
    outcomes(shop, a="passed", b="passed", c="passed")
    before = everything(shop)
    record = shop.turn()
    assert "time limit" in record.integrity.found.unproven
    assert everything(shop) == before
    assert not list(scratch.iterdir())


def test_a_full_disk_is_said(begun):
    def full(tree, destination):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    shop = begun()
    iteration_snapshots = IterationSnapshots(LoopStore(shop.paths))
    iteration_snapshots.store.export = full
    check = Check("tests", ("/bin/sh", "measure.sh", "{reports}"), reports=("{reports}/junit.xml",))
    ran = ScratchRunner(iteration_snapshots, (check,), shop.environment, 10).run(iteration_snapshots.tree(1), (), None)
    assert ran.rerun.problem == "earlier tests could not be run: No space left on device"


def test_nothing_is_written_through_a_link(begun, tmp_path):
    shop = begun()
    (tmp_path / "elsewhere").mkdir()
    (shop.root / "linked").symlink_to(tmp_path / "elsewhere")
    shop.turn()
    iteration_snapshots = IterationSnapshots(LoopStore(shop.paths))
    change = next(
        each for each in iteration_snapshots.changes_since(0, iteration_snapshots.tree(2)) if each.path == "linked"
    )
    earlier = EarlierFile("linked/tests.txt", "100644", change.new_id, 0)
    check = Check("tests", ("/bin/sh", "measure.sh", "{reports}"), reports=("{reports}/junit.xml",))
    ran = ScratchRunner(iteration_snapshots, (check,), shop.environment, 10).run(
        iteration_snapshots.tree(2), (earlier,), None
    )
    assert "behind a symbolic link" in ran.rerun.problem
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.faults
def test_an_iteration_killed_while_earlier_tests_run_is_recorded_whole_when_it_is_repeated(
    begun, tmp_path, monkeypatch
):
    shop = begun(f"touch {tmp_path}/running; [ -e {tmp_path}/quick ] || sleep 5")
    outcomes(shop, a="passed", b="passed", c="passed")
    before = everything(shop)
    words = [str(Path(sys.executable).with_name("ralph-tracker")), "hook", "post-iteration", "--iteration", "2"]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, **shop.environment, "TMPDIR": str(scratch)}
    with subprocess.Popen(words, cwd=shop.root, env=environment, stderr=subprocess.PIPE) as running:
        while not (tmp_path / "running").exists():
            assert running.poll() is None, running.stderr.read()
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)
    (tmp_path / "quick").touch()
    assert everything(shop) == before
    assert len(list(scratch.iterdir())) == 1
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    assert shop.tracker.store().summary().iteration == 1
    record = shop.turn(iteration=2)
    assert (record.integrity.verdict, record.integrity.found.reruns[0].tests) == ("PASS", 2)
    assert shop.tracker.verify().is_whole
    assert not list(scratch.iterdir())
