"""Each way to install that the README shows gives the program, and leaves the project's python and pip on PATH."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/getting-started.md")


def blocks(page):
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    section = text.partition("\n## Install\n")[2].partition("\n## ")[0]
    return re.findall(r"```shell no-test\n# in a checkout(.*?)\n(.*?)```", section, re.DOTALL)


def ways():
    """Return the commands of each way, by the program that has to be there."""
    (with_uv, linked) = blocks("README.md")
    pipx = re.search(r"the same with pipx: (.*)", with_uv[0])
    assert pipx is not None
    return {"uv": with_uv[1], "pipx": pipx[1], "python3": linked[1]}


def test_all_pages_show_the_same_ways():
    assert blocks(PAGES[0]) == blocks(PAGES[1])


@pytest.mark.parametrize("tool", ["uv", "pipx", "python3"])
def test_it_puts_the_program_alone_onto_path(tmp_path, tool):
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not on PATH")
    checkout = tmp_path / "checkout"
    left_out = shutil.ignore_patterns(".venv", ".git", ".*_cache", "__pycache__", "dist", ".aiwg", "seeds", "findings")
    shutil.copytree(CHECKOUT, checkout, ignore=left_out)
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("UV_TOOL", "PIPX_", "XDG_"))}
    environment = {**kept, "HOME": str(home)}
    script = f"""set -e
{ways()[tool]}
export PATH="$HOME/.local/bin:$PATH"
command -v ralph-tracker
ralph-tracker --version
command -v python3 pip || true
"""
    done = subprocess.run(
        ["sh", "-c", script], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode and re.search(r"resolve|[Cc]onnect|[Nn]etwork|index|No matching distribution", done.stderr):
        pytest.skip(f"its packages cannot be had here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert f"{home}/.local/bin/ralph-tracker" in lines
    assert any(re.match(r"ralph-tracker,? (?:version )?\d", line) for line in lines)
    assert shutil.which("python3") in lines
    assert sorted(path.name for path in (home / ".local/bin").iterdir()) == ["ralph-tracker"]
