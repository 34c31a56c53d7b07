"""What is kept of a failure: the assertion and its place, short."""

import pytest

from ralph_tracker.formats.tests.case_collector import CHARACTERS, LINES, message
from tests.tables import table

PYTEST = ">       assert f() == 3\nE       assert 2 == 3\nE        +  where 2 = f()\n\ntest_a.py:5: AssertionError"
JAVA = "org.opentest4j.AssertionFailedError: expected: <3> but was: <2>\n\tat org.junit.jupiter.api.A.b(A.java:1)\n"
TRACEBACK = (
    'Traceback (most recent call last):\n  File "/x/a.py", line 1\n  File "b.py", line 2\n    f()\nKeyError: 1\n'
)


@table(
    ("said", "text", "expected"),
    [
        pytest.param("1 != 2", "", "1 != 2", id="a message alone"),
        pytest.param(None, "boom", "boom", id="a text alone"),
        pytest.param("Failed", "a_test.go:7: 1, want 2", "a_test.go:7: 1, want 2", id="a message that says nothing"),
        pytest.param(
            "assert 2 == 3\n +  where 2 = f()",
            PYTEST,
            "assert 2 == 3\n +  where 2 = f()\ntest_a.py:5: AssertionError",
            id="pytest: its marked lines and the place",
        ),
        pytest.param(
            'failed on setup with "KeyError"',
            "E       KeyError: 'a'\n\nt.py:8: KeyError",
            "failed on setup with \"KeyError\"\nKeyError: 'a'\nt.py:8: KeyError",
            id="pytest: a message that is not the text's",
        ),
        pytest.param(
            "expected: <3> but was: <2>",
            f"{JAVA}\tat BoxTest.fits(BoxTest.java:7)\n\tat Other.x(Other.java:1)\n",
            "org.opentest4j.AssertionFailedError: expected: <3> but was: <2>\n\tat BoxTest.fits(BoxTest.java:7)",
            id="Java: one frame, the project's",
        ),
        pytest.param("1", TRACEBACK, '  File "b.py", line 2\n    f()\nKeyError: 1', id="Python: the last frame on"),
        pytest.param(
            "", "\x1b[31m  Expected: 1\n  But was:  2\x1b[0m\n", "Expected: 1\nBut was:  2", id="colours, indent"
        ),
        pytest.param(
            "Failed",
            "=== RUN   TestLid\n=== PAUSE TestLid\n    lid_test.go:7: 1, want 2\n    --- FAIL: TestLid/a (0.00s)\n",
            "lid_test.go:7: 1, want 2",
            id="Go: no states of tests",
        ),
        pytest.param("", "", "", id="nothing"),
    ],
)
def test_what_is_kept_of_a_failure(said, text, expected):
    assert message(said, text) == expected


@table("text", ["x\n" * 100, "x" * 10_000, f"{'E   ' + 'x' * 100}\n" * 50 + "t.py:8: KeyError"])
def test_a_message_is_short(text):
    found = message("", text)
    assert len(found) <= CHARACTERS
    assert len(found.splitlines()) <= LINES
    assert "…" in found


def test_the_place_stays_where_a_message_is_cut():
    assert message("", "E   x\n" * 50 + "t.py:8: KeyError").endswith("\nt.py:8: KeyError")
