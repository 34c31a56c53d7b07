"""Half-up rounding at the recorded decimals (semantics § 0)."""

import pytest

from ralph_tracker.core.metrics import half_up, plain_number, quantity, whole, without_noise
from tests.tables import table


@table(
    ("value", "decimals", "expected"),
    [
        pytest.param(0.5, 0, 1.0, id="a half goes up"),
        pytest.param(2.5, 0, 3.0, id="to odd as well as to even"),
        pytest.param(-0.5, 0, -1.0, id="a negative half goes away from zero"),
        pytest.param(0.49999, 0, 0.0, id="below a half"),
        pytest.param(62.25, 1, 62.3, id="percent"),
        pytest.param(700 / 9, 1, 77.8, id="percent of a fraction"),
        pytest.param(0.12345, 4, 0.1235, id="score"),
        pytest.param(1.005, 2, 1.01, id="a half that binary holds as less"),
        pytest.param(77.8 - 80.0, 1, -2.2, id="noise of a difference"),
        pytest.param(0.1 + 0.2, 10, 0.3, id="noise of a sum"),
        pytest.param(3, 1, 3.0, id="a whole number"),
    ],
)
def test_rounds_as_people_do(value, decimals, expected):
    assert half_up(value, decimals) == expected


def test_whole_gives_an_int():
    assert whole(2.5) == 3
    assert isinstance(whole(2.5), int)


@table(
    ("value", "expected"),
    [
        pytest.param(1.5 * 1.4, 2.1, id="product"),
        pytest.param(2.1 / 1.4 - 1, 0.5, id="quotient"),
        pytest.param(0.123456789, 0.123456789, id="what is no noise stays"),
    ],
)
def test_without_noise(value, expected):
    assert without_noise(value) == expected


@table(
    ("value", "expected"),
    [
        pytest.param(75.0, "75", id="a trailing .0 is dropped"),
        pytest.param(77.8, "77.8", id="a fraction stays"),
        pytest.param(100, "100", id="zeros before the point stay"),
        pytest.param(0.0, "0", id="zero"),
        pytest.param(-0.0, "0", id="minus zero"),
        pytest.param(-2.5, "-2.5", id="negative"),
        pytest.param(1e-7, "0.0000001", id="no exponent when small"),
        pytest.param(1e16, "10000000000000000", id="no exponent when large"),
    ],
)
def test_plain_number(value, expected):
    assert plain_number(value) == expected


@table(("count", "text"), [(0, "0 tests"), (1, "1 test"), (2, "2 tests")])
def test_a_quantity_agrees_with_its_noun(count, text):
    assert quantity(count, "test") == text
