"""What is new in a file is neither what it had before nor what left another file of the same change."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.fresh import fresh
from ralph_tracker.integrity.python.facts import Fact
from tests.integrity.making import evidence

TEXTS = st.none() | st.text("ab\n", max_size=8)


def lines(side):
    for number, line in enumerate(side.text.split("\n"), 1):
        if line:
            yield Fact("seen", number, line)


def news(files, path):
    given = evidence(files)
    [file] = [each for each in given.files if each.path == path]
    return [each.text for each in fresh(file, given, lines)]


CASES = {
    "new": ({"a.py": ("x", "x\ny")}, ["y"]),
    "twice": ({"a.py": ("x", "x\nx")}, ["x"]),
    "from another file": ({"a.py": (None, "x"), "b.py": ("x", "")}, []),
    "of another file that keeps it": ({"a.py": (None, "x"), "b.py": ("x", "x")}, ["x"]),
    "gone here and there": ({"a.py": ("y", "x"), "b.py": ("x", "y")}, []),
    "gone": ({"a.py": ("x", None)}, []),
}


@pytest.mark.parametrize(("files", "found"), CASES.values(), ids=CASES)
def test_it_is_what_neither_side_had(files, found):
    assert news(files, "a.py") == found


@given(st.dictionaries(st.sampled_from(["a.py", "b.py", "c.py"]), st.tuples(TEXTS, TEXTS), min_size=1))
def test_no_more_is_new_than_came_and_did_not_leave_another_file(files):
    for path in files:
        came = Counter((files[path][1] or "").split("\n")) - Counter((files[path][0] or "").split("\n"))
        left = sum(
            (
                Counter((old or "").split("\n")) - Counter((new or "").split("\n"))
                for old, new in (sides for other, sides in files.items() if other != path)
            ),
            Counter(),
        )
        del came[""], left[""]
        assert Counter(news(files, path)) == came - left
