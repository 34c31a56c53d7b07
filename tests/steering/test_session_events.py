"""The digest of arguments and results: the same for what means the same, another one for what does not."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.steering import digest_of
from tests.tables import table

# id: two things that mean the same
SAME = {
    "the order of keys": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "white space": ({"command": "ls  -l\n"}, {"command": " ls\t-l"}),
    "a list and a tuple": ([1, 2], (1, 2)),
    "ids and times of the call": ({"a": 1, "tool_use_id": "x", "timestamp": 1}, {"a": 1, "tool_use_id": "y"}),
    "what a call is for, in words": ({"command": "ls", "description": "List"}, {"command": "ls"}),
    "how long it took": ({"a": [{"durationMs": 3}]}, {"a": [{"durationMs": 4, "duration_ms": 5}]}),
}
OTHER = {
    "a value": ({"a": 1}, {"a": 2}),
    "a key": ({"a": 1}, {"b": 1}),
    "text and number": ("1", 1),
    "the order of a list": ([1, 2], [2, 1]),
    "nothing and an empty text": (None, ""),
    "the case of letters": ("A", "a"),
}
# id: what two runs printed that came to the same
RAN = {
    "pytest": ("1 failed in 0.12s", "1 failed in 3.40s"),
    "pytest that took long": ("== 1 failed in 65.30s (0:01:05) ==", "== 1 failed in 125.01s (0:02:05) =="),
    "unittest": ("Ran 3 tests in 0.001s", "Ran 3 tests in 0.002s"),
    "go": ("FAIL\tcalc\t0.003s\n--- FAIL: TestAdd (0.00s)", "FAIL\tcalc\t1.2s\n--- FAIL: TestAdd (0.01s)"),
    "jest": ("Time:        1.52 s, estimated 2 s", "Time:        900 ms, estimated 1 s"),
    "maven": (
        "Total time:  1.234 s\nFinished at: 2026-01-31T12:00:00+01:00",
        "Total time:  2 min\nFinished at: 2026-02-01T09:41:59.123Z",
    ),
    "a log": ("12:00:01,123 INFO ready", "9:41:59 INFO ready"),
}
RAN_OTHERWISE = {
    "a line": ("a.py:12:30: E501", "a.py:12:31: E501"),
    "a line and a column after one": ("a.py:1:12:30", "a.py:1:12:31"),
    "a count": ("3 failed in 1s", "4 failed in 1s"),
    "a version": ("calc 1.2s3", "calc 1.3s3"),
    "a number that no unit follows": ("0.12 of 1", "0.13 of 1"),
}


@table("case", SAME)
def test_what_means_the_same_has_one_digest(case):
    first, second = SAME[case]
    assert digest_of(first) == digest_of(second)


@table("case", OTHER)
def test_what_means_something_else_has_another(case):
    first, second = OTHER[case]
    assert digest_of(first) != digest_of(second)


@table("case", RAN)
def test_of_a_result_the_time_that_it_took_does_not_count(case):
    first, second = RAN[case]
    assert digest_of({"stdout": first}, is_result=True) == digest_of({"stdout": second}, is_result=True)


@table("case", RAN)
def test_of_what_is_asked_it_does(case):
    """To wait longer for the tests is something new."""
    first, second = RAN[case]
    assert digest_of({"command": first}) != digest_of({"command": second})


@table("case", RAN_OTHERWISE)
def test_what_a_result_says_counts(case):
    first, second = RAN_OTHERWISE[case]
    assert digest_of(first, is_result=True) != digest_of(second, is_result=True)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_any_value_has_one(value, is_result):
    assert len(digest_of(value, is_result=is_result)) == 16
    assert digest_of(value, is_result=is_result) == digest_of(value, is_result=is_result)
