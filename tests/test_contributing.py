"""Every recipe of CONTRIBUTING.md, followed as it stands in a copy of the checkout, ends green."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECORDED = Path(__file__).parent / "contributing"  # by format and case, what the tools of the recipes wrote themselves
RECIPES = dict(re.findall(r"^## ([^\n]+), step by step\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
APPLY = ("git", "apply", "--unidiff-zero")
PYTEST = (sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider")
# Laws hold or not whatever a recipe adds, and take most of the time: they are for the suite itself.
TARGETS = {
    "test": ("-m", "not slow and not hypothesis"),
    "slow": ("-m", "slow or hypothesis"),
    "bless": ("--bless",),
}
CHECKS = {
    "ruff": [("-m", "ruff", "check", "."), ("-m", "ruff", "format", "--check", ".")],
    "mypy": [("-m", "mypy")],
    "importlinter": [("-c", "from importlinter import cli; cli.lint_imports_command()", "--no-cache")],
}
UNTRACKED = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "dist", "build", "mutants")

recipe = pytest.mark.parametrize("name", RECIPES)


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield language and text of each fenced block that somebody pastes or runs."""
    for language, no_test, block in re.findall(r"^```(\w+)( no-test)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if not no_test:
            yield language, block


class Checkout:
    """A copy of what git tracks, or of the whole folder where it is no repository.

    What mypy found in one copy holds for the next wherever a file has not changed: they share its cache.
    """

    def __init__(self, root: Path, mypy_cache: Path) -> None:
        self.root, self.mypy_cache = root, mypy_cache
        listing = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        listed = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=False)
        if listed.returncode:
            shutil.copytree(ROOT, root, ignore=UNTRACKED, symlinks=True, dirs_exist_ok=True)
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, root / name, follow_symlinks=False)

    def run(self, *command: str, said: str | None = None) -> None:
        """Run a command on the copy; fail with all that it printed where it fails."""
        own = {
            "PYTHONPATH": str(self.root),
            "GIT_CEILING_DIRECTORIES": str(self.root.parent),
            "MYPY_CACHE_DIR": str(self.mypy_cache),
        }
        unmeasured = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST_"))}
        done = subprocess.run(
            command, cwd=self.root, env=unmeasured | own, input=said, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"

    def paste(self, block: str) -> None:
        """Write a block that is a file."""
        head, _, content = block.partition("\n")
        path = self.root / head.removeprefix("# ")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def make(self, line: str) -> None:
        """Do what a target of the Makefile does, with the Python of now; what is not installed is left out."""
        program, target, *given = shlex.split(line.replace("suite NAME=", ""))
        arguments = [word for each in given for word in shlex.split(each.removeprefix("ARGS="))]
        assert program == "make", line
        if target == "check":
            for module, commands in CHECKS.items():
                for command in commands if importlib.util.find_spec(module) else ():
                    self.run(sys.executable, *command)
        else:
            self.run(*PYTEST, *TARGETS[target], *arguments)


@pytest.fixture(scope="session")
def mypy_cache(tmp_path_factory):
    """Return the cache of mypy that all copies share: it begins with what `make check` has left."""
    cache = tmp_path_factory.getbasetemp() / "mypy-cache"
    if (ROOT / ".mypy_cache").is_dir():
        shutil.copytree(ROOT / ".mypy_cache", cache)
    return cache


@pytest.mark.slow
@pytest.mark.sampled(one_of=3)
@recipe
def test_a_recipe_ends_green(name, tmp_path, mypy_cache):
    text = RECIPES[name]
    copy = Checkout(tmp_path / "checkout", mypy_cache)
    for folder in RECORDED.iterdir():
        if folder.name in text:
            shutil.copytree(folder, copy.root / "fixtures" / "reports" / folder.name)
    for language, block in blocks(text):
        if language == "diff":
            copy.run(*APPLY, "-", said=block)
        elif language == "python":
            copy.paste(block)
        else:
            for line in block.splitlines():
                copy.make(line)
    for folder in RECORDED.iterdir():
        if folder.name in text:
            read = {path.parent.name: json.loads(path.read_text()) for path in copy.root.rglob("expected.json")}
            assert read["findings"]["results"] > 0
            assert "unreadable" in read["partial"]


def test_there_are_recipes():
    assert len(RECIPES) >= 5


@recipe
def test_its_diffs_still_fit_and_its_last_command_checks_all(name):
    found = list(blocks(RECIPES[name]))
    for language, block in found:
        assert language in {"diff", "python", "shell"}
        if language == "diff":
            command = [*APPLY, "--check", "-"]
            done = subprocess.run(command, cwd=ROOT, input=block, text=True, capture_output=True, check=False)
            assert done.returncode == 0, f"{done.stderr}{block}"
    assert found[-1][0] == "shell"
    assert found[-1][1].endswith("make check\n")


def test_the_page_leads_nowhere_that_is_not_there():
    targets = re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", PAGE)
    heads = re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
    assert [path for path, _ in targets if path and not (ROOT / path).exists()] == []
    assert {anchor for path, anchor in targets if not path} <= anchors


def test_the_map_names_files_that_exist():
    places = PAGE.partition("## Where things are")[2].partition("\n## ")[0]
    entries = re.findall(r"^    ralph_tracker/(\S*)(.*(?:\n {29}.*)*)", places, re.MULTILINE)
    assert len(entries) > 10
    package = ROOT / "ralph_tracker"
    for place, words in entries:
        folder = (package / place).parent if place.endswith(".py") else package / place
        assert (package / place).exists(), place
        names = re.findall(r"\b\w+\.py\b", words)
        assert [name for name in names if not list(folder.rglob(name))] == [], place
