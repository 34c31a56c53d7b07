"""The pages as their readers meet them: their blocks, and a project in which what they show is run."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

CHECKOUT: Final = Path(__file__).resolve().parents[2]
_FENCE: Final = re.compile(r"^```(\w+)( no-test)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE: Final = re.compile(r"^(?:#|//) ([\w./-]+\.\w+)$")
_NAMED: Final = ("RALPH_", "PYTEST_", "COVERAGE_", "COV_CORE_", "RUFF_", "GIT_", "GITHUB_", "VIRTUAL_ENV", "COLUMNS")
_IDENTITY: Final = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

CALC = """\
import os


def add(a, b):
    return a + b


def mean(numbers):
    return sum(numbers) / len(numbers)
"""
TESTS = """\
from calc import add, mean


def test_adds():
    assert add(1, 2) == 3


def test_mean():
    assert mean([1, 3]) == 2


def test_mean_of_nothing():
    assert mean([]) == 0
"""
# Stands for the agent: it deletes the test that fails, then does the work, then adds to it; what it does
# from then on changes no metric, so that a loop without a target comes to its end soon.
AGENT = """\
#!/bin/sh
echo . >> "$HOME/turns"
case $(wc -l < "$HOME/turns" | tr -d ' ') in
  1) sed '/def test_mean_of_nothing/,$d' test_calc.py > new && mv new test_calc.py ;;
  2) sed -e '/^import os/d' -e 's/return sum/return sum(numbers) and sum/' calc.py > new && mv new calc.py ;;
  3) printf '\\n\\ndef test_more():\\n    assert add(2, 2) == 4\\n' >> test_calc.py ;;
  *) echo '# more' >> calc.py ;;
esac
"""
# Stands for Claude Code: it takes a prompt, works as the agent does, and ends with its result. A file `blocked` in the
# home makes it ask for a person, a file `crash` makes it end with nothing.
CLAUDE = """\
#!/bin/sh
[ "$1" != --version ] || { echo "2.1.197 (Claude Code)"; exit 0; }
[ ! -e "$HOME/crash" ] || exit 1
cat > "$HOME/prompt"
[ -e "$HOME/blocked" ] || my-agent
said=$(cat "$HOME/blocked" 2>/dev/null || echo Done.)
case " $* " in
  *" json "*) echo '{"type": "result", "subtype": "success", "is_error": false, "duration_ms": 95000,' \\
    '"num_turns": 12, "session_id": "5e55", "result": "'"$said"'", "total_cost_usd": 0.42,' \\
    '"usage": {"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 1000,' \\
    '"output_tokens": 40}}' ;;
  *) echo "Done. <promise>COMPLETE</promise>" ;;
esac
"""
CHECKS = """\
#!/bin/sh
echo . >> "$HOME/checked"
n=$(wc -l < "$HOME/checked" | tr -d ' ')
echo "testing: {test_count: 8, tests_passed: $((5 + n)), tests_failed: $((3 - n)), coverage_percentage: $((65 + n))}"
"""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page: its language, its text, the line of the page where it begins.

    `no_test` marks commands that are not run: they need another place or another program.
    """

    language: str
    text: str
    line: int
    no_test: bool = False

    @property
    def file(self) -> str | None:
        """Return the file that the block is, None where it is none."""
        named = _FILE.match(self.text.partition("\n")[0])
        return named[1] if named else None


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in their order."""
    text = page.read_text(encoding="utf-8")
    found = _FENCE.finditer(text)
    return [Block(m[1], m[3], text.count("\n", 0, m.start()) + 1, no_test=bool(m[2])) for m in found]


class Place:
    """A project with an agent on its PATH, in which the blocks of one page are run."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = folder / "project", folder / "home"
        tools = folder / "bin"
        for made in (self.root, self.home, tools):
            made.mkdir()
        for name, text in (("my-agent", AGENT), ("my-checks", CHECKS), ("claude", CLAUDE)):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        files = {"calc.py": CALC, "test_calc.py": TESTS, ".gitignore": ".aiwg/\n.venv\n__pycache__/\n"}
        for name, text in {**files, "pyproject.toml": '[project]\nname = "calc"\nversion = "1"\n'}.items():
            (self.root / name).write_text(text)
        (self.root / ".venv").symlink_to(sys.prefix)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_NAMED)}
        self.environment: Mapping[str, str] = {
            **kept,
            **_IDENTITY,
            "PATH": os.pathsep.join((str(tools), str(Path(sys.executable).parent), os.environ["PATH"])),
            "HOME": str(self.home),
            "BASE": "main",
            "HEAD": "main",
            # What our own suite needs beside pytest is no part of the reader's project, and takes a second to load.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        self.run("git init -q -b main && git add -A && git commit -q -m first")

    def run(self, script: str, shell: str = "bash") -> subprocess.CompletedProcess[str]:
        """Run a script in the project; what it prints and what it complains about are one text."""
        return subprocess.run(
            [shell, "-c", script],
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a project in a repository, with a test that fails and an agent."""
    return Place(tmp_path)


@pytest.fixture(scope="session")
def blocks() -> Iterator[object]:
    """Return what cuts a page into its blocks."""
    return blocks_of


@pytest.fixture(scope="session")
def checkout() -> Path:
    """Return where the pages are; an installed program has none of them."""
    return CHECKOUT
