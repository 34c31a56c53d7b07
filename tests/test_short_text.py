"""A score in percent is the same in every view, and a text that does not fit ends with an ellipsis."""

from ralph_tracker.short_text import first_few, percent, shorten
from tests.tables import table


@table(
    ("score", "shown"),
    [(1.0, "100 %"), (0.9999, "99.9 %"), (0.9996, "99.9 %"), (0.8075, "80.8 %"), (0.0, "0 %"), (None, "unknown")],
)
def test_a_score_for_people(score, shown):
    assert percent(score) == shown


@table(("text", "shown"), [("", ""), ("abcd", "abcd"), ("abcde", "abc…")])
def test_a_text_has_at_most_the_room(text, shown):
    assert shorten(text, 4) == shown


@table(("count", "shown"), [(0, ""), (1, "a"), (3, "a, b, c"), (4, "a, b, c and 1 more"), (26, "a, b, c and 23 more")])
def test_of_a_list_the_first_few_are_named_and_the_others_counted(count, shown):
    assert first_few([chr(ord("a") + number) for number in range(count)], 3) == shown
