"""How far two states are apart that were measured again in turn."""

import pytest

from ralph_tracker.core.objective import Noise
from ralph_tracker.iteration.measure_again import apart


@pytest.mark.parametrize(
    ("noise", "widths"), [(Noise(0.0016, 4), 1.414), (Noise(), None), (Noise(0, 4), None)], ids=["2 %", "unknown", "0"]
)
def test_a_difference_counts_in_widths_of_noise(noise, widths):
    assert apart((108.0,), (100.0,), noise) == (None if widths is None else pytest.approx(widths, abs=0.001))
