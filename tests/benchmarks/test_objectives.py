"""The benchmark of objectives: over real histories and loops of known truth, no simple rule is ahead of the walk."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

RUN = Path(__file__).parents[2] / "benchmarks" / "objectives" / "run.py"


def test_no_simple_rule_is_ahead_of_the_walk() -> None:
    done = subprocess.run([sys.executable, RUN], capture_output=True, text=True, check=False)
    histories, totals = done.stdout.split("\n\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"the walk +\d+ .*(?:the author's|better|equal|within noise)$", histories, re.MULTILINE)) == 8
    rows = re.findall(r"^(.+?) +(\d+) of  8 +([\d.]+)% +(\d+)$", totals, re.MULTILINE)
    behind, regret, false = zip(
        *((int(missed), float(share), int(number)) for _, missed, share, number in rows), strict=True
    )
    assert rows[0][0] == "the walk"
    assert (behind[0], regret[0], false[0]) == (0, min(regret), min(false))
