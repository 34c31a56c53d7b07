"""Which iteration each mode chooses, of those that the walk has seen (semantics § 8)."""

import pytest

from ralph_tracker.core.thresholds import SelectionThresholds, Thresholds
from ralph_tracker.core.walk import MODES, Refusal, WalkedIteration

VERIFIED, QUALITY, RECENT = "highest_quality_verified", "highest_quality", "most_recent_above_threshold"


def walked(*scores, broken=(), gained=()):
    """Return iterations of these scores; one that is broken, or scores below one before it, is refused."""
    found = []
    for number, score in enumerate(scores):
        best = max((each.score for each in found if each.taken), default=score)
        refusal = Refusal(1, "does not build") if number in broken else Refusal(4, "is worse") if score < best else None
        sound = number not in broken
        gains = gained[number] if gained else 0
        found.append(WalkedIteration(number, score, score, sound, refusal=refusal, gained=gains))
    return found


@pytest.mark.parametrize(
    ("mode", "scores", "broken", "expected"),
    [
        pytest.param(VERIFIED, (0.5, 0.6, 0.9, 0.8), (), 2, id="the peak, not the last"),
        pytest.param(VERIFIED, (0.9, 0.6, 0.7), (), 0, id="the baseline included"),
        pytest.param(VERIFIED, (0.5, 0.6, 0.9, 0.8), (2,), 3, id="the best that is verified"),
        pytest.param(VERIFIED, (0.5, 0.6, 0.9), (0, 1, 2), 0, id="nothing verified: the baseline"),
        pytest.param(VERIFIED, (0.5, 0.6, 0.6), (), 1, id="a tie goes to the earlier"),
        pytest.param(VERIFIED, (0.5,), (), 0, id="no iteration: the baseline"),
        pytest.param(QUALITY, (0.5, 0.6, 0.9, 0.8), (2,), 2, id="the highest, verified or not"),
        pytest.param(RECENT, (0.5, 0.9, 0.75, 0.6), (), 2, id="the latest above the threshold"),
        pytest.param(RECENT, (0.5, 0.9, 0.7, 0.6999), (), 2, id="exactly at the threshold"),
        pytest.param(RECENT, (0.5, 0.9, 0.8, 0.75), (3,), 2, id="the latest that is verified too"),
        pytest.param(RECENT, (0.5, 0.65, 0.6), (), 1, id="none above: as the default"),
        pytest.param(RECENT, (0.5, 0.65, 0.95), (0, 1, 2), 0, id="none verified: as the default"),
    ],
)
def test_a_mode_chooses(mode, scores, broken, expected):
    assert MODES[mode](walked(*scores, broken=broken), Thresholds()).iteration == expected


@pytest.mark.parametrize(
    ("scores", "gained", "expected"),
    [
        pytest.param((0.5, 0.7, 0.7), (0, 3, 1), 1, id="the one with most gains"),
        pytest.param((0.5, 0.7, 0.8), (0, 1, 1), 2, id="of as many gains the better score"),
        pytest.param((0.5, 0.7, 0.7), (0, 1, 1), 2, id="of the same score the later"),
    ],
)
def test_alternatives_are_compared_by_what_they_gain(scores, gained, expected):
    thresholds = Thresholds()._replace(selection=SelectionThresholds(against="baseline"))
    assert MODES["walk"](walked(*scores, gained=gained), thresholds).iteration == expected


def test_where_nothing_was_taken_the_baseline_is_chosen():
    assert MODES["walk"](walked(0.5, 0.6, broken=(0, 1)), Thresholds()).iteration == 0
    thresholds = Thresholds()._replace(selection=SelectionThresholds(against="baseline"))
    assert MODES["walk"](walked(0.5, 0.6, broken=(0, 1)), thresholds).iteration == 1
