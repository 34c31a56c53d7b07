"""Of lizard only what is needed is imported, and what is chosen is what lizard itself would choose."""

import subprocess
import sys

import pytest

from ralph_tracker.measure.tree_metrics import NO_CODE, READERS, lizard, reader_of
from tests.tables import table

COUNTED = """
import sys
from ralph_tracker.measure.tree_metrics import LizardAnalyser
analyser = LizardAnalyser()
for path in {paths!r}:
    if analyser.reads(path):
        analyser.analyse(path, "x = 1\\n")
print(analyser.tool, *(name for name in sys.modules if name.startswith(("lizard_languages.", "pygments"))))
"""


def loaded_for(*paths: str) -> set[str]:
    program = COUNTED.format(paths=paths)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.removeprefix("lizard_languages.") for name in ended.stdout.split()[2:]}


@table("suffix", [*READERS, *sorted(NO_CODE), ".zig", ".PY", ".cpp", ".nothing"])
def test_a_suffix_has_the_reader_that_lizard_chooses(suffix):
    assert reader_of(suffix) is lizard().get_reader_for(f"any{suffix}")


def test_a_project_of_python_needs_the_reader_of_python_alone():
    found = loaded_for("a.py", "README.md", "pyproject.toml", "Makefile")
    assert "python" in found
    assert found.isdisjoint({"erlang", "pygments", "rust", "javascript", "vue"})


def test_a_suffix_that_nobody_has_thought_of_makes_lizard_choose():
    assert {"python", "erlang", "zig", "vue"} <= loaded_for("a.py", "b.zig")


@table("ask", ["lizard.get_reader_for('a.erl')", "lizard.languages()[0]", "lizard_languages.ZigReader"])
def test_whoever_asks_lizard_for_another_one_gets_the_whole(ask):
    program = (
        f"from ralph_tracker.measure.tree_metrics import lizard as l\nlizard = l()\nimport lizard_languages\n{ask}\n"
    )
    program += "assert len(lizard.languages()) == len(lizard_languages.languages()) > 20\n"
    program += "assert lizard.languages()[0] is lizard_languages.CLikeReader\n"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_lizard_that_is_there_already_stays_as_it_is():
    program = "import lizard, lizard_languages as whole\nfrom ralph_tracker.measure.tree_metrics import reader_of\n"
    program += "assert reader_of('.py') is whole.PythonReader\nassert reader_of('.zig') is whole.ZigReader\n"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_search_path_is_as_it_was_before():
    program = "import sys\nbefore = list(sys.path)\nfrom ralph_tracker.measure.tree_metrics import lizard\nlizard()\n"
    subprocess.run([sys.executable, "-c", program + "assert sys.path == before\n"], check=True)


@pytest.mark.parametrize("where", [("gone", "PythonReader"), ("python", "Gone")])
def test_a_lizard_that_has_it_elsewhere_is_asked(where, monkeypatch):
    expected = reader_of(".py")
    monkeypatch.setitem(READERS, ".py", where)
    assert reader_of(".py") is expected
