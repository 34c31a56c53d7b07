"""Where templates are found, and whose fault a broken one is."""

import os
import time

import pytest

from ralph_tracker.errors import ConfigError
from ralph_tracker.report.markdown_reports import SHIPPED, USER_FOLDER, render
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
        "{{ x.__class__.__mro__ }}",
        "{{ x + [] }}",
        "{% for a in range(10**9) %}{% endfor %}",
        "{% for a in range(90000) %}{% for b in range(90000) %}{{ x * 1000 }}{% endfor %}{% endfor %}",
        "{{ x * 10**10 }}",
        "{#" + "a" * 2_000_000 + "#}",
        "{% include '../../../secret' %}",
    ],
    ids=[
        "syntax",
        "way out",
        "wrong kinds",
        "endless",
        "large output",
        "much memory",
        "large source",
        "another folder",
    ],
)
def test_a_broken_template_of_the_user_is_an_expected_failure(template, content):
    with pytest.raises(
        ConfigError, match=r"^template iteration-report\.md\.j2.*; fix it or remove it from \.aiwg/ralph/templates$"
    ):
        render(NAMES[0], {"x": "text"}, template(content))


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    ["{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}", "{{ 10**(10**9) }}"],
    ids=["loops", "one operation"],
)
def test_a_template_that_does_not_end_is_ended(template, content):
    start = time.monotonic()
    with pytest.raises(ConfigError, match=r"^template \S+: it took more than 4 seconds or 1024 MiB"):
        render(NAMES[0], {"x": "text"}, template(content))
    assert time.monotonic() - start < 12


@pytest.mark.parametrize("kind", ["pipe", "device", "link out", "folder that is a link out"])
def test_a_template_that_is_no_file_of_the_project_is_refused_without_waiting(tmp_path, kind):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / NAMES[0]).write_text("secret")
    root = tmp_path / "project"
    path = root / USER_FOLDER / NAMES[0]
    path.parent.parent.mkdir(parents=True)
    if kind == "folder that is a link out":
        path.parent.symlink_to(tmp_path / "outside")
    else:
        path.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind != "folder that is a link out":
        path.symlink_to("/dev/zero" if kind == "device" else tmp_path / "outside" / NAMES[0])
    said = "a pipe or a device" if kind == "pipe" else "a link out of the project"
    with pytest.raises(ConfigError, match=rf"^template \S+: .*{said}[^\n]*; fix it or remove it from"):
        render(NAMES[0], {"x": "text"}, root)


@pytest.mark.parametrize("root", [None, "elsewhere"])
def test_a_fault_in_a_shipped_template_is_ours(root, tmp_path):
    with pytest.raises(Exception, match="'it' is undefined"):
        render(NAMES[0], {}, root and tmp_path)
