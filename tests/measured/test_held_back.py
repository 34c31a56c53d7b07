"""A check of the agent's own that looks for held-back tests finds nothing of them but what the records tell."""

import json
import subprocess
import sys

import pytest

REPORT = '<testsuite><testcase name="of {}"/></testsuite>'
MARK = "what only the held-back tests say"
PATTERN = "what [o]nly the held-back"  # which the command does not match itself


@pytest.mark.slow
@pytest.mark.parametrize("order", [("tests", "acceptance"), ("acceptance", "tests")], ids=" first, then ".join)
def test_a_check_that_looks_for_held_back_tests_finds_none(tmp_path, order):
    root, temporary, found = tmp_path / "project", tmp_path / "tmp", tmp_path / "found"
    for folder in (root, temporary, tmp_path / "held/acceptance"):
        folder.mkdir(parents=True)
    (tmp_path / "held/acceptance/test_it.txt").write_text(MARK)
    report = "echo '{}' > {{reports}}/{}.xml"
    looks = f"grep -rls '{PATTERN}' {temporary} . >> {found}; env | grep -i -e held -e accept >> {found}; "
    lines = {
        "tests": looks + report.format(REPORT.format("mine"), "tests"),
        "acceptance": f"grep -q '{PATTERN}' acceptance/test_it.txt && cat acceptance/test_it.txt && "
        + report.format(REPORT.format("theirs"), "acceptance"),
    }
    checks = {
        name: {"kind": "tests", "run": ["sh", "-c", lines[name]], "reports": [f"{{reports}}/{name}.xml"]}
        for name in order
    }
    checks["acceptance"]["held_back"] = "../held"
    (root / "ralph-tracker.yaml").write_text(json.dumps({"version": 1, "checks": checks}))
    for number, words in enumerate((("pre-loop", "--trust", "--json"), ("post-iteration", "--json"))):
        (root / "app.py").write_text(f"x = {number}\n")
        command = [sys.executable, "-m", "ralph_tracker", "hook", *words]
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(temporary)}
        said = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True)
        assert json.loads(said.stdout)["iteration_metrics"]["testing"]["tests_passed"] == 2
        assert MARK not in said.stdout + said.stderr
        assert found.read_text() == ""
    assert subprocess.run(["grep", "-rF", MARK, root, temporary], capture_output=True, check=False).stdout == b""
