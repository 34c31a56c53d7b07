"""G1: tools that are set up, lists that are written otherwise, and codes under later names."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules.gate_lowered import find
from ralph_tracker.integrity.settings.values import alternatives
from tests.integrity.making import found

LEFT_OUT = "omit = box/hard.py\n"
HARD_LINES = "[coverage:report]\nexclude_lines =\n    def open_lid\n"


def severities(path, old, new, **others):
    return {each.severity for each in found(find, {path: (old, new), **others})}


@pytest.mark.parametrize(
    "asked",
    ["[coverage:run]\nsource = box\n", "[coverage:run]\nbranch = true\n", "[coverage:report]\nfail_under = 93\n"],
    ids=["source", "branch", "fail_under"],
)
def test_coverage_that_is_set_up_may_leave_something_out(asked):
    assert severities("setup.cfg", "[metadata]\nname = box\n", asked + LEFT_OUT) == {Severity.MEDIUM}
    assert severities(".coveragerc", None, (asked + LEFT_OUT).replace("coverage:", "")) == {Severity.MEDIUM}


@pytest.mark.parametrize(
    ("old", "new", "others"),
    [
        pytest.param("", "[coverage:run]\n" + LEFT_OUT, {}, id="nothing asked"),
        pytest.param("", HARD_LINES, {}, id="lines alone"),
        pytest.param(
            "[coverage:run]\nsource = box\n", "[coverage:run]\nsource = box\n" + LEFT_OUT, {}, id="set up before"
        ),
        pytest.param(
            "",
            "[coverage:run]\nsource = box\n" + LEFT_OUT,
            {".coveragerc": ("[run]\nbranch = True\n", None)},
            id="set up elsewhere before",
        ),
        pytest.param(
            "[tool:pytest]\naddopts = --cov-fail-under=90\n",
            "[tool:pytest]\naddopts = --cov-fail-under=90\n[coverage:run]\nsource = box\n" + LEFT_OUT,
            {},
            id="a floor before",
        ),
    ],
)
def test_where_nothing_more_is_asked_it_may_not(old, new, others):
    assert Severity.HIGH in severities("setup.cfg", old, new, **others)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("(?x)(\n    doc\n    | releasenotes  # prose\n)", ("doc", "releasenotes")),
        ("(?x)(doc | releasenotes)", ("doc", "releasenotes")),
        ("doc|src/box", ("doc", "src/box")),
        ("(doc|src)/box", ("(doc|src)/box",)),
        ("(a)|(b)", ("(a)", "(b)")),
        (r"a\|b|c\)", (r"a\|b", r"c\)")),
        (("^docs/", "^a$|^b$"), ("^docs/", "^a$", "^b$")),
        ("^docs/\n^build/", ("^docs/", "^build/")),
        ("((a|b)", ("((a|b)",)),
        (")|(", (")", "(")),
        ("", ()),
        (None, ()),
    ],
)
def test_ways_of_a_pattern_are_told_apart(value, found):
    assert alternatives(value) == found


MYPY = "[tool.mypy]\nstrict = true\nexclude = '{}'\n"


def test_a_pattern_that_is_written_otherwise_excludes_the_same():
    several = "[tool.mypy]\nstrict = true\nexclude = '''(?x)(\n    made\n    | box/grammar\n)'''\n"
    assert severities("pyproject.toml", several, MYPY.format("(?x)(made | box/grammar)")) == set()
    assert severities("pyproject.toml", several, MYPY.format("made|box/grammar|docs")) == set()
    assert severities("pyproject.toml", MYPY.format("docs"), MYPY.format("docs|^box/")) == {Severity.HIGH}
    assert severities("pyproject.toml", MYPY.format("docs"), MYPY.format("(?x)(docs | box)")) == {Severity.HIGH}


@pytest.mark.parametrize(
    ("old", "new", "severity"),
    [
        ("[flake8]\nexclude = .git\n", "[flake8]\nexclude = .git,.*/,.pyenv,releasenotes\n", None),
        ("[flake8]\nexclude = .git\n", "[flake8]\nexclude = .git,./box\n", Severity.HIGH),
        ("[flake8]\nexclude = .git\n", "[flake8]\nexclude = *\n", Severity.HIGH),
        ("[flake8]\nselect = E,F\n", "[flake8]\nselect = E,F\nignore = F821\n", Severity.MEDIUM),
        ("[flake8]\nselect = E,F\n", "[flake8]\nselect = E,F\nignore = F841\n", Severity.HIGH),
        ("[flake8]\nselect = E,F\n", "[flake8]\nselect = E,F\nignore = F821,F401\n", Severity.HIGH),
        ("[flake8]\nselect = E,F\n", "[flake8]\nselect = E,F\nignore = F82\n", Severity.HIGH),
    ],
)
def test_how_grave_it_is_for_a_linter(old, new, severity):
    assert severities("tox.ini", old, new) == (set() if severity is None else {severity})


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ('["F", "U"]', '["F", "UP"]', False),
        ('["F", "U006"]', '["F", "UP006"]', False),
        ('["F", "UP"]', '["F", "U"]', False),
        ('["F", "U"]', '["F"]', True),
        ('["F", "U"]', '["F", "UP006"]', True),
    ],
)
def test_a_family_may_be_called_by_its_later_name(old, new, lost):
    settings = "lint.select = {}\n"
    assert bool(severities("ruff.toml", settings.format(old), settings.format(new))) is lost
