"""Where templates are found, and whose fault a broken one is."""

import pytest

from ralph_tracker.errors import ConfigError
from ralph_tracker.report.markdown import SHIPPED, USER_FOLDER, render
from tests.tables import table

NAMES = ("iteration-report.md.j2", "loop-report.md.j2", "output-selection.md.j2")


@pytest.fixture
def template(tmp_path):
    """Return a function that writes a template of the user."""

    def write(content: str, name: str = NAMES[0]) -> object:
        folder = tmp_path / USER_FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
        return tmp_path

    return write


@table("name", NAMES)
def test_every_template_is_shipped(name):
    assert any((folder / name).is_file() for folder in SHIPPED)


def test_a_template_of_the_user_goes_first_and_a_change_of_it_is_seen(template):
    assert render(NAMES[0], {"x": "_a_"}, template("{{ x }} {{ x | md }}")) == r"_a_ \_a\_"
    assert render(NAMES[0], {"x": 1}, template("now {{ x }}")) == "now 1"


def test_a_template_may_include_one_of_its_own(template):
    template("part {{ x }}", "part.j2")
    assert render(NAMES[0], {"x": 1}, template("{% include 'part.j2' %}")) == "part 1"


@pytest.mark.parametrize(
    "content",
    [
        "{% if %}",
        "{{ missing }}",
        "{{ x.__class__.__mro__ }}",
        "{{ x + [] }}",
        "{% include 'none' %}",
        "{% for a in range(10**9) %}{% endfor %}",
    ],
    ids=["syntax", "unknown name", "way out", "wrong kinds", "missing part", "endless"],
)
def test_a_broken_template_of_the_user_is_an_expected_failure(template, content):
    with pytest.raises(
        ConfigError, match=r"^template iteration-report\.md\.j2.*; fix it or remove it from \.aiwg/ralph/templates$"
    ):
        render(NAMES[0], {"x": "text"}, template(content))


@pytest.mark.parametrize("root", [None, "elsewhere"])
def test_a_fault_in_a_shipped_template_is_ours(root, tmp_path):
    with pytest.raises(Exception, match="'it' is undefined"):
        render(NAMES[0], {}, root and tmp_path)
