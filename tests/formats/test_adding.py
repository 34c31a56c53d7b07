"""The worked example of CONTRIBUTING.md, followed step by step in a copy of the checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REPORT = Path(__file__).parent / "adding" / "report.json"  # as Bandit 1.9.4 wrote it
COPIED = (
    "ralph_tracker",
    "fixtures/reports",
    "tests/formats",
    "tests/conftest.py",
    "tests/tables.py",
    "docs/formats.md",
    "pyproject.toml",
)
FIXTURE = Path("fixtures/reports/bandit-json/findings")


def blocks(language: str) -> list[str]:
    """Return the blocks of the section, in their order."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("## A report format, step by step")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


@pytest.fixture
def copy(tmp_path):
    for name in COPIED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        how = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        how(
            ROOT / name,
            tmp_path / name,
            **({"ignore": shutil.ignore_patterns("__pycache__")} if how is shutil.copytree else {}),
        )
    return tmp_path


def run(copy: Path, *arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(copy), "COVERAGE_PROCESS_START": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_format_is_added_by_the_steps_as_they_stand(copy):
    (copy / FIXTURE).mkdir(parents=True)
    shutil.copyfile(REPORT, copy / FIXTURE / "report.json")
    for block in blocks("python"):
        name = block.partition("\n")[0].removeprefix("# ")
        (copy / name).write_text(block.partition("\n")[2], encoding="utf-8")
    (patch,) = blocks("diff")
    subprocess.run(["git", "apply", "-"], input=patch, cwd=copy, text=True, check=True)
    run(copy, "tests/formats/test_golden.py", "--bless", "-k", "bandit")
    expected = json.loads((copy / FIXTURE / "expected.json").read_text())
    severities = [each["issue_severity"] for each in json.loads(REPORT.read_text())["results"]]
    wanted = {"results": len(severities), "errors": severities.count("HIGH"), "notes": severities.count("LOW")}
    assert {name: expected[name] for name in wanted} == wanted
    run(copy, "tests/formats", "-k", "bandit or one_format_only or distinct_names")
