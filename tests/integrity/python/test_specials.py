"""Where source answers by constants: what another version of the file has as well is passed over."""

import pytest

from ralph_tracker.integrity.python.specials import answers_in, specials_in
from ralph_tracker.integrity.source_tests import Unparsable

BRANCH = "def square(x):\n    if x == 42:\n        return 1764\n    return x * x\n"
TABLE = "def square(x):\n    return {42: 1764}[x]\n"
DESCRIBED = BRANCH.replace("    if", '    """Return it.\n\n    Always.\n    """\n    if')
OTHER = "def half(x):\n    return x / 2\n"
SAME = {
    "the same text": (BRANCH, BRANCH, 0),
    "further down": (BRANCH, f"{OTHER}\n\n{BRANCH}", 0),
    "with the ends of lines of another system": (BRANCH, BRANCH.replace("\n", "\r\n"), 0),
    "twice where it stood once": (BRANCH + BRANCH, BRANCH, 1),
    "in a text only": (BRANCH, f'"""\n{BRANCH}"""\n', 1),
    "in a text behind one with the quotes of its end": (BRANCH, f'x = \'"""\'\n"""\n{BRANCH}"""\n', 1),
    "in a text behind a comment with its quotes": (BRANCH, f"# \"\"\" it's\n'''\n{BRANCH}'''\n", 1),
    "behind a text, and a comment with its quotes": (BRANCH, f'"""Say.\n\nIt\'s so.\n"""\n# \'\'\'\n{BRANCH}', 0),
    "with a text of several lines": (DESCRIBED, f"{OTHER}{DESCRIBED}", 0),
    "new": (BRANCH, OTHER, 1),
    "without another version": (BRANCH, None, 1),
    "a table that was there": (TABLE, TABLE, 1),
}


@pytest.mark.parametrize(("text", "other", "number"), SAME.values(), ids=SAME)
def test_statements_of_the_other_version_are_passed_over_but_for_tables(text, other, number):
    assert len(list(specials_in(text, other))) == number


def test_the_other_version_is_parsed_only_where_it_decides():
    assert list(specials_in(OTHER, "def (")) == []
    assert len(list(specials_in(BRANCH, "def ("))) == 1
    with pytest.raises(Unparsable):
        list(specials_in(BRANCH, f'"""\n{BRANCH}"""\ndef ('))


ANSWERS = {
    "a literal where an expression stood": ("def half(x):\n    return 21\n", OTHER, ["return 21"]),
    "a function that is new": ("def third(x):\n    return 14\n", OTHER, []),
    "an expression as before": (OTHER, OTHER, []),
    "the same literal": ("def half(x):\n    return 21\n", "def half(x):\n    return 21\n", []),
}


@pytest.mark.parametrize(("new", "old", "found"), ANSWERS.values(), ids=ANSWERS)
def test_a_literal_answers_for_an_expression(new, old, found):
    assert [each.text for each in answers_in(old, new)] == found
