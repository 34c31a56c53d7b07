"""The same commands where nothing may be traced: Python's steps are counted."""

import contextlib
import io
import json
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from tests.sweep import chosen

from .promised import COMMANDS
from .strace import Bench, Ended

SAMPLE = 2
CELLS = [pytest.param(command, how, id=f"{command}-{how}") for command in COMMANDS for how in ("killed", "disk full")]

pytestmark = pytest.mark.faults


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
        return end.points, Ended(code, out, err)

    return call


@pytest.mark.parametrize(("name", "how"), CELLS)
def test_a_command_struck_at_a_step_loses_nothing_and_converges_when_repeated(
    name, how, arena, stepped, tmp_path, request, record_property
):
    command, kill = COMMANDS[name], how == "killed"
    copied, judging = arena(command)
    total, undisturbed = stepped(copied().root, command.words, None, kill=kill)
    assert undisturbed.code == 0, undisturbed.err
    struck = chosen(range(1, total + 1), SAMPLE, request.node)
    missed, violations = 0, {}
    for at in struck:
        shop = copied()
        passed, ended = stepped(shop.root, command.words, at, kill=kill)
        if passed < at and ended.code == 0:  # a call takes a step more or less by the clock: this one had fewer
            missed += 1
            continue
        wrong = judging.violations(shop, ended, Bench(shop.root, tmp_path / "bench"), killed=kill)
        if wrong:
            violations[at] = wrong
    row = ("counts", name, how, total, len(struck) - missed, missed, len(violations))
    record_property("sweep", row)
    assert not violations, "\n".join(f"{at}: {wrong}" for at, wrong in violations.items())
    assert missed <= 1 + len(struck) // 10, "the points of the counting run are not those of the struck one"
    assert total > 10
