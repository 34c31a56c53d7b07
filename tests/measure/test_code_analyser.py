"""Lizard behind the seam: its numbers, its files, and what it is not let do."""

import subprocess
import sys
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.measure.tree_metrics import FileCount, LizardAnalyser, suffix_of
from tests.tables import table

PYTHON = '''"""Doc."""

import os  # used


def plain(a):
    # only a comment
    return a


class Shop:
    """Several
    lines."""

    def price(self, a, b):
        if a and b:
            for i in range(3):
                print(i)
        elif b:
            while b:
                b -= 1
        return [x for x in (a, b) if x]


text = """not
a comment"""
'''
# Verified with lizard 1.24.3 on the command line: plain 1, price 8.
PYTHON_COUNT = FileCount(loc=14, functions=2, complexity=9)

JAVASCRIPT = """// a comment
/* more
   of it */
import x from 'x';

function choose(a, b) {
  if (a && b) { return 1; }
  return a ? b : 2;
}

const double = (x) => x * 2;
"""
# Verified as above: choose 4, double 1.
JAVASCRIPT_COUNT = FileCount(loc=6, functions=2, complexity=5)


@table(
    ("path", "text", "expected"),
    [
        ("a.py", PYTHON, PYTHON_COUNT),
        ("a.js", JAVASCRIPT, JAVASCRIPT_COUNT),
        ("a.c", "/* a\n b */\nint main() {\n  return 0; // b\n}\n", FileCount(3, 1, 1)),
        ("a.py", "", FileCount(0)),
        ("a.py", "\n\n# nothing\n", FileCount(0)),
        ("a.py", "x = 1", FileCount(1)),
    ],
)
def test_counts(path, text, expected):
    """Lines and complexity are those that lizard prints."""
    assert LizardAnalyser().analyse(path, text) == expected


@table("word", ["lizard forgives", "#lizard forgive global", "GENERATED CODE"])
def test_comments_change_nothing(word):
    """Comments by which lizard looks away are comments: they would hide the code that is measured."""
    code = "def hard(a):\n    if a:\n        return 1\n"

    assert LizardAnalyser().analyse("a.py", f"# {word}\n{code}# {word}\n{code}") == FileCount(6, 2, 4)


def test_reads():
    """Source files are those of any language that lizard reads, told by their names."""
    paths = ["a.py", "a/b.js", "A.JAVA", "x.tar.go", "a.rs", "a.md", "Makefile", "a.json", "py", "a.py/b"]

    assert [path for path in paths if LizardAnalyser().reads(path)] == paths[:5]


def test_takes_no_longer_than_its_limit():
    """A text that would take lizard for ever is given up."""
    with pytest.raises(TimeoutError, match="more than -1 s"):
        LizardAnalyser(limit_s=-1).analyse("a.py", "x = 1\n")


def test_import_leaves_the_search_path_alone(tmp_path):
    """Lizard puts the folder of our script in front of everything when it is imported; that is undone."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from ralph_tracker.measure.tree_metrics import LizardAnalyser\n"
        "assert 'lizard' not in sys.modules\n"
        "before = list(sys.path)\n"
        "assert LizardAnalyser().tool.startswith('lizard 1.')\n"
        "assert sys.path == before\n"
    )

    subprocess.run([sys.executable, str(script)], check=True)


@given(st.lists(st.text("ab. ", min_size=1).filter(lambda part: part != "."), min_size=1, max_size=3).map("/".join))
def test_a_suffix_is_what_pathlib_says(path):
    assert suffix_of(path) == PurePosixPath(path).suffix
