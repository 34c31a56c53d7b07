"""Frozen ignore rules mean what git means by them; the oracle is git."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from ralph_tracker.store.snapshots.gitignore_rules import IgnoreRules, rules_below
from tests.sweep import FULL
from tests.tables import table

SEEDS = range(200 if FULL else 10)
PIECES = (
    *("a", "b", "ab", "a.o", "*", "?", "??", "a*", "*b", "\u00e9", "x?", "\\a", "\\*", "a\\", "**", "**b", "a**"),
    *("[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[!]a]", "[a", "[a-]", "[-a]", "[z-a]", "[\\]a]", "[+--]", "[[a]"),
    *("[[:alpha:]]", "[![:digit:]]x", "[[:foo:]]", "[a\\-c]", "[a-c-e]"),
)
NAMES = ("a", "b", "ab", "a.o", "*", "]", "-", "\u00e9", "x1", "[a", "\u00e91", "z", "[", "c", "e")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for outer in NAMES:
        for inner in NAMES:
            folder = root / outer / inner
            folder.mkdir(parents=True)
            for name in ("a", "ab", "\u00e9", "c", "-"):
                (folder / name).touch()
    return root


def rules(rng: random.Random) -> bytes:
    lines = []
    for _ in range(rng.randint(1, 4)):
        path = "/".join(rng.choice(PIECES) for _ in range(rng.randint(1, 3)))
        lines.append(rng.choice(["", "", "", "!"]) + rng.choice(["", "/"]) + path + rng.choice(["", "", "/"]))
    return "\n".join([*lines, ""]).encode()


def files(root: Path, frozen: IgnoreRules, below: str = "") -> set[str]:
    found: set[str] = set()
    for entry in os.scandir(root / below):
        path = below + entry.name
        if path == ".git" or frozen.ignores(path, is_folder=entry.is_dir()):
            continue
        found |= files(root, frozen, f"{path}/") if entry.is_dir() else {path}
    return found


@pytest.mark.faults
@pytest.mark.parametrize("seed", SEEDS)
def test_random_rules_leave_out_what_git_leaves_out(seed, tree):
    rng = random.Random(seed)
    for _ in range(12):
        text = rules(rng)
        (tree / ".git/info").mkdir(exist_ok=True)
        (tree / ".git/info/exclude").write_bytes(text)
        command = ["git", "ls-files", "-o", "-z", "--exclude-standard"]
        said = subprocess.run(command, cwd=tree, capture_output=True, check=True).stdout
        frozen = IgnoreRules("".join(f"{line}\n" for line in rules_below(text, "")).encode())
        assert files(tree, frozen) == {os.fsdecode(path) for path in said.split(b"\0")[:-1]}, text


@table(
    ("rule", "path", "left_out"),
    [
        ("/**/x", "a/b/x", True),
        ("/a/**", "a", False),
        ("/a**/b", "ab", True),
        ("/?", "\u00e9", False),
        ("/??", "\u00e9", True),
        ("/a\n!/a", "a", False),
        ("/[", "[", False),
        ("", "a", False),
    ],
)
def test_the_last_rule_that_matches_wins_and_names_are_bytes(rule, path, left_out):
    assert IgnoreRules(f"{rule}\n".encode()).ignores(path, is_folder=False) == left_out
