"""The worked example of a loop that optimises a number: what only seems faster is not taken."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "faster"


def test_only_what_is_faster_with_its_tests_held_is_taken(tmp_path: Path) -> None:
    for file in EXAMPLE.iterdir():
        shutil.copy(file, tmp_path)
    (tmp_path / "home").mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path), "KEEP": str(tmp_path / "kept")}
    done = subprocess.run(["/bin/sh", EXAMPLE / "run.sh"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = subprocess.run(
        ["ralph-tracker", "history", "--json", "--root", tmp_path / "kept"],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    refusals = [each["iteration_metrics"].get("not_kept") for each in json.loads(shown.stdout)]
    assert [refusal is None for refusal in refusals] == [True, True, False, False, False, True]
    assert "breaks" in refusals[2]
    assert "worse than iteration 1" in refusals[3]
    assert "names an input of" in refusals[4]
