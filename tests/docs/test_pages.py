"""Every page shows what happens: its commands are run in their order, its files are taken, its links lead somewhere."""

import re
import sys
from pathlib import Path

import pytest
import yaml

from ralph_tracker.cli.verbs import VERBS
from ralph_tracker.config.load import config_of
from ralph_tracker.measure.handed_in import read_metrics
from tests.tables import table

CHECKOUT = Path(__file__).resolve().parents[2]
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]
TAKEN = {
    "ralph-tracker.yaml": lambda text: config_of(yaml.safe_load(text), "the page"),
    "metrics.yaml": lambda text: read_metrics(yaml.safe_load(text)),
    "baseline.yaml": lambda text: read_metrics(yaml.safe_load(text)),
}
LANGUAGES = {"console", "shell", "text", "python", "yaml", "toml", "layout"}
WIDTH = 120

page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)


def fits(shown: str, printed: str) -> bool:
    """Tell whether a text is what a page shows, in which … stands for anything, alone on a line for any lines."""
    lines = [".*".join(map(re.escape, line.split("…"))) + "\n" for line in shown.rstrip("\n").split("\n")]
    pattern = "".join("(?:.*\n)*" if line == ".*\n" else line for line in lines)
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None


@table(
    ("shown", "printed", "fitting"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nc\n", False),
        ("a …\n", "a long word\n", True),
        ("a …\n", "a\nb\n", False),
        ("a\n…\nb\n", "a\n1\n2\nb\n", True),
        ("a\n…\nb\n", "a\nb\n", True),
        ("a\n…\nb\n", "a\n1\n2\n", False),
        ("a\n…\n", "a\n1\n2\n", True),
        ("a.b\n", "a-b\n", False),
    ],
)
def test_an_ellipsis_stands_for_the_rest_of_a_line_or_for_lines_and_nothing_else_does(shown, printed, fitting):
    assert fits(shown, printed) is fitting


# The first thing that anybody reads is always run; of the other pages a sample has half.
@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [PAGES[0], *(pytest.param(path, marks=pytest.mark.sampled) for path in PAGES[1:])],
    ids=lambda path: path.name,
)
def test_what_a_page_shows_is_what_happens(path, place, blocks):
    printed = None
    for block in blocks(path):
        where = f"{path.name}, line {block.line}"
        if block.file is not None and not block.file.startswith(".github"):
            file = place.root / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text.partition("\n")[2], encoding="utf-8")
        elif block.language == "shell" and not block.no_test:
            done = place.run(block.text)
            printed = done.stdout
            assert done.returncode == 0, f"{where}: exit {done.returncode}\n{printed}"
        elif block.language == "text":
            assert printed is not None, f"{where}: nothing was run before it"
            assert fits(block.text, printed), f"{where}: printed was\n{printed}"
            printed = None
        elif block.language == "python":
            script = place.home / "block.py"
            script.write_text(block.text, encoding="utf-8")
            done = place.run(f'"{sys.executable}" "{script}"')
            printed = done.stdout
            assert done.returncode == 0, f"{where}:\n{printed}"


@page
def test_commands_that_are_not_run_can_be_read_by_a_shell_and_name_verbs_that_exist(path, place, blocks):
    for block in blocks(path):
        if block.language == "shell":
            assert place.run(f"bash -n <<'THE-BLOCK'\n{block.text}THE-BLOCK\n").stdout == ""
    inline = re.findall(r"`(ralph-tracker [^`]+)`", path.read_text(encoding="utf-8"))
    shown = "\n".join([*inline, *(block.text for block in blocks(path) if block.language == "shell")])
    assert set(re.findall(r"(?<![\w/.-])ralph-tracker ([a-z][a-z-]*)", shown)) <= set(VERBS)


@page
def test_documents_that_a_page_shows_are_taken_by_the_program(path, blocks):
    for block in blocks(path):
        assert block.language in LANGUAGES, f"{path.name}, line {block.line}"
        if block.language == "yaml":
            document = yaml.safe_load(block.text)
            assert isinstance(document, dict), f"{path.name}, line {block.line}"
            TAKEN.get(Path(block.file or "").name, lambda _: None)(block.text)


@page
def test_lines_of_a_page_are_at_most_120_columns_long(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > WIDTH and not line.startswith("|")] == []


@page
def test_links_of_a_page_lead_to_files_that_are_there(path):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (path.parent / target).exists(), f"{path.name}: {target}"


def test_every_page_is_linked_from_the_readme():
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in PAGES[1:] if f"](docs/{path.name})" not in readme] == []
