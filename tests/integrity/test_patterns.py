"""Regular expressions that are compiled late, and asked only where a text holds what every match holds."""

import pytest

from ralph_tracker.integrity.patterns import Pattern

PATTERN = Pattern(r"\b(exit|quit)\(", words=("exit(", "quit("))
TEXTS = {"exit()": True, "a\nquit(0)": True, "exits()": False, "exit": False, "": False}


@pytest.mark.parametrize(("text", "found"), TEXTS.items(), ids=TEXTS)
def test_words_change_nothing_of_what_is_found(text, found):
    assert (PATTERN.search(text) is not None) is found is (Pattern(PATTERN.pattern).search(text) is not None)


def test_a_text_without_the_words_is_not_searched():
    pattern = Pattern("(", words=("exit",))
    assert pattern.search("quit") is None
