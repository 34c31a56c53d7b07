"""Lines and tables on a screen of 80 columns, whatever stands in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.cli import columns
from ralph_tracker.cli.columns import WIDTH, say_table, say_wrapped

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


@given(st.integers(1, 9).flatmap(lambda width: st.lists(st.lists(TEXT, min_size=width, max_size=width), min_size=1)))
def test_no_table_is_wider_than_the_screen_and_every_row_is_a_line(rows):
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "say", lines.append)
        say_table(rows)
    assert len(lines) == len(rows)
    assert all(len(line) <= WIDTH and "\n" not in line for line in lines)


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
