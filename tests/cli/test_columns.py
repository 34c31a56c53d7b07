"""Lines and tables on a screen of 80 columns or of another size, whatever stands in them."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.cli import terminal
from ralph_tracker.cli.terminal import WIDTH, say_table, say_wrapped, screen_width

TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=120)


@pytest.fixture
def printed(capsys):
    return lambda: capsys.readouterr().out.splitlines()


def test_a_table_has_its_columns_under_one_another(printed):
    say_table([("name", "count", ""), ("a", "10", "x"), ("long", "9", "")], right={1})
    assert printed() == ["name  count", "a        10  x", "long      9"]


def test_a_table_that_is_too_wide_loses_its_gaps_first(printed):
    say_table([("a" * 39, "b" * 20, "c" * 19)])
    assert printed() == [f"{'a' * 39} {'b' * 20} {'c' * 19}"]


def test_then_the_widest_cells_lose_their_ends(printed):
    say_table([("short", "x" * 300, "y" * 10), ("s", "z", "y")])
    first, second = printed()
    assert len(first) == WIDTH
    assert first == f"short {'x' * 62}… {'y' * 10}"
    assert second.split() == ["s", "z", "y"]


@pytest.mark.parametrize(
    ("columns", "head", "left_out"),
    [
        (51, f"{'name':29}  much  little  last", []),
        (46, f"{'name':29} much little last", []),
        (45, f"{'name':29}  little  last", ["much"]),
        (41, f"{'name':29} little last", ["much"]),
        (40, f"{'name':29}  last", ["much", "little"]),
    ],
    ids=["all fit", "less space", "the first goes", "less space again", "then the next"],
)
def test_columns_that_yield_go_as_a_whole(columns, head, left_out, printed, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert say_table([("name", "much", "little", "last"), ("x" * 29, "y", "z", "")], yielding=(1, 2)) == left_out
    assert printed()[0] == head


@given(
    st.integers(1, 9).flatmap(lambda width: st.lists(st.lists(TEXT, min_size=width, max_size=width), min_size=1)),
    st.sampled_from((40, 60, 80, 120)),
    st.sets(st.integers(0, 8), max_size=3),
)
def test_no_table_is_wider_than_the_screen_and_every_row_is_a_line(rows, width, yielding):
    lines = []
    places = [place for place in sorted(yielding) if 0 < place < len(rows[0])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terminal, "say", lambda line, _colour: lines.append(line))
        patch.setenv("COLUMNS", str(width))
        left_out = say_table(rows, yielding=places)
    assert len(lines) == len(rows)
    assert all(len(line) <= width and "\n" not in line for line in lines)
    assert len(left_out) <= len(places)


@pytest.mark.parametrize(
    ("told", "columns"),
    [
        ("60", 60),
        ("120", 120),
        ("3", 40),
        ("", WIDTH),
        ("0", WIDTH),
        ("wide", WIDTH),
        ("-9", WIDTH),
        ("9" * 5000, 9999),
    ],
    ids=lambda value: str(value)[:9],
)
def test_a_screen_is_as_wide_as_is_told_and_80_columns_where_it_is_not(told, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", told)
    assert screen_width() == columns


@pytest.mark.parametrize(("columns", "width"), [(60, 60), (200, 200), (0, WIDTH)])
def test_a_terminal_says_how_wide_it_is(columns, width, monkeypatch):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        found = screen_width()
        monkeypatch.undo()
    os.close(ours)
    assert found == width


def test_without_a_standard_output_it_is_80_columns(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert screen_width() == WIDTH


@pytest.mark.parametrize(("columns", "width"), [(60, 60), (120, WIDTH)])
def test_a_text_is_wrapped_for_a_narrow_screen_and_read_no_better_on_a_wide_one(columns, width, printed, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    say_wrapped("word " * 60)
    lines = printed()
    assert width - 5 < max(map(len, lines)) <= width


def test_a_long_text_goes_on_deeper_in_the_next_line(printed):
    say_wrapped("word " * 30, indent=2, hang=4)
    first, *rest = printed()
    assert first.startswith("  word")
    assert all(line.startswith("      word") and len(line) <= WIDTH for line in rest)
    assert sum(len(line.split()) for line in (first, *rest)) == 30


@pytest.mark.parametrize(("last", "lines"), [("end", 1), ("ends", 2)])
def test_a_text_that_fits_stays_on_one_line(last, lines, printed):
    say_wrapped(f"{'word ' * 15}{last}", indent=2)
    told = printed()
    assert len(told) == lines
    assert "".join(told).split() == ["word"] * 15 + [last]


def test_a_command_is_not_broken(printed):
    say_wrapped(f"{'word ' * 12}then `ralph-tracker hook post-iteration --iteration 3` again")
    lines = printed()
    assert "  `ralph-tracker hook post-iteration --iteration 3` again" in lines
    assert "\0" not in "".join(lines)


def test_a_long_word_stays_whole_and_nothing_moves_the_cursor(printed):
    say_wrapped(f"see {'x' * 100}\x1b[31m\r\nback")
    assert f"  {'x' * 100}\\u001b[31m\\u000d\\u000aback" in printed()


def on_a_terminal(program, *words, **environment):
    """Return what a command prints to a terminal."""
    master, slave = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    subprocess.run(
        [program, *words], stdout=slave, env={**kept, "TERM": "xterm", **environment}, timeout=60, check=True
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 1 << 16)
        except OSError:  # so Linux says that the other end is closed
            part = b""
        if not part:
            os.close(master)
            return shown.decode()
        shown += part


def test_colours_are_for_a_terminal_whose_user_has_not_refused_them(dropped, program):
    words = ("status", "--root", dropped.root)
    assert "\x1b[1;31m  CRITICAL it2-test_deletion" in on_a_terminal(program, *words)
    assert "\x1b[1;31mCRITICAL" in on_a_terminal(program, "show", "--root", dropped.root)
    assert re.search("\x1b\\[32m1 .*← best\x1b", on_a_terminal(program, "history", "--root", dropped.root))
    for plain in (
        on_a_terminal(program, *words, NO_COLOR="1"),
        on_a_terminal(program, "--no-color", *words),
        dropped.ralph("status").out,
    ):
        assert "\x1b" not in plain
