"""Which lines a pattern of coverage leaves out."""

import pytest

from ralph_tracker.integrity.settings.left_out import leaves_out_nothing


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\s*pass\s*$",
        r"^\s*passs*$",
        r"^ +@skip\(.*$",
        r"^\s*\.\.\.$",
        r"\.\.\.$",
        "@(unittest|pytest)[.]skip",
        "@overload",
        r"^\s*raise$",
        r"-> ['\"]?NoReturn['\"]?:",
        r"^if pytest\.importorskip\(",
        "raise unittest.Skip",
        "self.fail",
        r"pytest\.(skip|fail)\(",
    ],
)
def test_what_does_nothing_may_be_left_out(pattern):
    assert leaves_out_nothing(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        ".*",
        "",
        "pass|return",
        "def ",
        r"^\s+",
        "open_lid",
        "(pass)+",
        "(",
        "pass" * 30,
        "@",
        "raise",
        r"^\s*raise",
        "self",
    ],
)
def test_what_works_is_told(pattern):
    assert not leaves_out_nothing(pattern)


def test_what_could_be_looked_for_without_end_is_not_tried():
    assert not leaves_out_nothing(".*" * 30 + "pass$")
    assert not leaves_out_nothing(r"(\s|\s)+pass$")
