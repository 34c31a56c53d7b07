"""Values in a line, and the name that was probably meant."""

from ralph_tracker.config.short_words import nearest, shortened
from tests.tables import table


@table(
    ("value", "shown"),
    [
        (None, "nothing"),
        ("text", "'text'"),
        ("x" * 100, f"'{'x' * 59}…"),
        (10**5000, "a number of thousands of digits"),
        ([1], "[1]"),
    ],
    ids=["nothing", "text", "long text", "long number", "list"],
)
def test_a_value_is_shown_as_it_was_given_and_not_at_any_length(value, shown):
    assert shortened(value) == shown


def test_what_is_near_is_named_and_else_what_is_known():
    assert nearest("wndow", ["window", "variance"]) == "; did you mean window?"
    assert nearest("x", ["window", "variance"]) == "; known: variance, window"
    assert nearest("x", []) == ""
