"""The same commands where nothing may be traced: Python's steps are counted, and so are the gits that it starts."""

import contextlib
import io
import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.cli.app import run

from .promised import COMMANDS, OF_GIT, chosen_points
from .strace import Bench, Ended

SWEEP = os.environ.get("RALPH_TRACKER_SWEEP", "quick")
SEED = int(os.environ.get("RALPH_TRACKER_SEED") or random.randrange(10**6))
SAMPLE = {"quick": 1, "sample": 3}.get(SWEEP)
# A git that is killed leaves what it had begun to write.
FAULTY = """\
#!/bin/sh
count=$(($(cat {place}/count) + 1))
echo $count > {place}/count
if [ $count -ne {at} ]; then exec {git} "$@"; fi
case {how} in
  after) {git} "$@" ;;
  killed)
    case " $* " in
      *" commit-tree "*|*" read-tree "*|*" update-index "*|*" write-tree "*) begun=objects/00/tmp_obj_half ;;
      *" fast-import "*|*" repack "*) begun=objects/pack/tmp_pack_half ;;
      *" update-ref "*) begun=refs/safety/undo-0123456789ab.lock ;;
    esac
    if [ -n "$begun" ] && mkdir -p "$GIT_DIR/${{begun%/*}}"; then echo half > "$GIT_DIR/$begun"; fi
    kill -9 $$ ;;
esac
echo "fatal: unable to write: No space left on device" >&2
exit 128
"""
STEPS = [
    pytest.param(command, store, how, id=f"{command}-{store}-{how}")
    for command in COMMANDS
    for store in ("git", "contents")
    for how in ("killed", "disk full")
    if command not in OF_GIT
]
GITS = [
    pytest.param(command, how, id=f"{command}-{how}") for command in COMMANDS for how in ("before", "after", "killed")
]
QUICK = {"post_iteration-contents-killed", "restore-git-disk full", "gc-after", "post_iteration-killed"}

pytestmark = pytest.mark.faults


def asked(cells: list[Any]) -> list[Any]:
    return [cell for cell in cells if SWEEP != "quick" or cell.id in QUICK]


@pytest.fixture
def stepped(cut_short, tmp_path):
    """Return what runs a command line in a process that is struck at one of Python's steps; also how many those are."""
    told = tmp_path / "told"

    def call(root: Path, words: tuple[str, ...], at: int | None, *, kill: bool) -> tuple[int, Ended]:
        def act() -> None:
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = run([*words, "--root", str(root)])
            told.write_text(json.dumps([code, out.getvalue(), err.getvalue()]))

        told.unlink(missing_ok=True)
        end = cut_short(root, act, at, kill=kill)
        code, out, err = json.loads(told.read_text()) if told.exists() else (137, "", "")
        assert end.error is None, end.error
        return end.points, Ended(code, out, err, {})

    return call


@pytest.mark.parametrize(("name", "store", "how"), asked(STEPS))
def test_a_command_struck_at_a_step_loses_nothing_and_converges_when_repeated(
    name, store, how, arena, stepped, tmp_path, request, record_property
):
    command, kill = COMMANDS[name], how == "killed"
    copied, judging = arena(command, store)
    total, undisturbed = stepped(copied().root, command.words, None, kill=kill)
    assert undisturbed.code == 0, undisturbed.err
    request.node.add_report_section("call", "sweep", f"{total} points, RALPH_TRACKER_SEED={SEED}")
    chosen = chosen_points(list(range(1, total + 1)), SAMPLE, f"{SEED}{request.node.name}")
    missed, violations = 0, {}
    for at in chosen:
        shop = copied()
        passed, ended = stepped(shop.root, command.words, at, kill=kill)
        if passed < at and ended.code == 0:  # a call takes a step more or less by the clock: this one had fewer
            missed += 1
            continue
        wrong = judging.violations(shop, ended, Bench(shop.root, tmp_path / "bench"), killed=kill)
        if wrong:
            violations[at] = wrong
    where = "python" if store == "git" else store
    row = ("counts", name, where, how, total, len(chosen) - missed, missed, len(violations))
    record_property("sweep", row)
    assert not violations, "\n".join(f"{at}: {wrong}" for at, wrong in violations.items())
    assert missed <= 1 + len(chosen) // 10, "the points of the counting run are not those of the struck one"
    assert total > 10


@pytest.mark.parametrize(("name", "how"), asked(GITS))
def test_a_command_whose_git_fails_loses_nothing_and_converges_when_repeated(
    name, how, arena, tmp_path, request, record_property, monkeypatch
):
    command = COMMANDS[name]
    copied, judging = arena(command, "git")
    place, git, path = tmp_path / "faulty", shutil.which("git"), os.environ["PATH"]
    place.mkdir()

    def struck(shop: Any, at: int) -> tuple[int, Ended]:
        (place / "count").write_text("0")
        (place / "git").write_text(FAULTY.format(place=place, at=at, how=how, git=git))
        (place / "git").chmod(0o755)
        with monkeypatch.context() as patch:
            patch.setenv("PATH", f"{place}{os.pathsep}{path}")
            ended = Bench(shop.root, tmp_path / "bench").plain(*command.words)
        return int((place / "count").read_text()), ended

    total, undisturbed = struck(copied(), 0)
    assert undisturbed.code == 0, undisturbed.err
    request.node.add_report_section("call", "sweep", f"{total} points, RALPH_TRACKER_SEED={SEED}")
    # A loop begins without git where the first call finds none that works.
    first = 1 if command.turns else 2
    chosen = chosen_points(list(range(first, total + 1)), SAMPLE, f"{SEED}{request.node.name}")
    violations = {}
    for at in chosen:
        shop = copied()
        _, ended = struck(shop, at)
        wrong = judging.violations(shop, ended, Bench(shop.root, tmp_path / "bench"), killed=False)
        if wrong:
            violations[at] = wrong
    record_property("sweep", ("counts", name, "git", how, total, len(chosen), 0, len(violations)))
    assert not violations, "\n".join(f"{at}: {wrong}" for at, wrong in violations.items())
    assert total > 2
