"""U1: what decides about tests, and can no longer be looked into."""

import pytest

from ralph_tracker.integrity.changes import FileChange
from ralph_tracker.integrity.evidence import Outcomes
from ralph_tracker.integrity.examine import examine

TEST = b"def test_lid():\n    assert lid() == 3\n"
HOLLOW = b"def test_lid():\n    assert lid()\n"
LARGE = b"#" * 80 + b"\n"
MENDED = Outcomes({"tests.test_box::test_lid": "failed"}, {"tests.test_box::test_lid": "passed"})
DEEP = b"SIZE = " + b"+".join([b"1"] * 3000) + b"\n"


def told(path: str, old: bytes | None, new: bytes | None, outcomes: Outcomes | None = None) -> list[tuple[str, str]]:
    found = examine([FileChange(path, old, new)], outcomes)
    return [(each.severity.name, each.message) for each in found.findings if each.rule == "U1"]


@pytest.mark.parametrize(
    ("path", "old", "new", "why"),
    [
        ("tests/test_box.py", TEST, HOLLOW + LARGE * 25_000, "larger than 2 MB"),
        ("tests/test_box.py", TEST, HOLLOW + b"#" * 100_000, "holds a line of more than 100000 characters"),
        ("tests/test_box.py", TEST, HOLLOW + b"#\0", "holds NUL bytes"),
        (
            "src/box.test.ts",
            b"it('fits', () => {})\n",
            b"//" + b" " * 100_000,
            "holds a line of more than 100000 characters",
        ),
        ("conftest.py", None, b"#" * 100_000, "holds a line of more than 100000 characters"),
        ("pyproject.toml", b"[tool.ruff]\n", b"#" * 100_000, "holds a line of more than 100000 characters"),
        ("Makefile", b"test:\n\tpytest\n", b"#" * 100_000, "holds a line of more than 100000 characters"),
        (".github/workflows/ci.yml", b"on: push\n", b"#" * 100_000, "holds a line of more than 100000 characters"),
    ],
    ids=["large", "a long line", "NUL bytes", "TypeScript", "a new conftest", "settings", "targets", "CI"],
)
def test_what_can_no_longer_be_looked_into_is_told(path, old, new, why):
    assert told(path, old, new) == [("HIGH", f"it can no longer be looked into: {why}")]


def test_so_is_what_nests_too_deeply_for_us():
    [(severity, message)] = told("tests/test_box.py", TEST, HOLLOW + DEEP)
    assert severity == "HIGH"
    assert "recursion" in message or "too deeply" in message


def test_source_is_told_where_a_test_began_to_pass():
    long = b"#" * 100_000
    assert told("box.py", b"LID = 1\n", long) == []
    assert [severity for severity, _ in told("box.py", b"LID = 1\n", long, MENDED)] == ["HIGH"]


@pytest.mark.parametrize(
    ("path", "old", "named"),
    [
        ("tests/test_box.py", TEST, ("tests.test_box::test_lid",)),
        ("tests/test_lid.py", TEST, ()),
        ("conftest.py", None, ("tests.test_box::test_lid",)),
        ("conftest.py", b"", ("tests.test_box::test_lid",)),
        ("box.py", b"LID = 1\n", ()),
        ("pyproject.toml", b"[tool.ruff]\n", ()),
    ],
    ids=["its own", "another's", "a new conftest", "a conftest", "source", "settings"],
)
def test_tests_that_began_to_pass_by_what_nobody_sees_are_named(path, old, named):
    [found] = examine([FileChange(path, old, b"#" * 100_000)], MENDED).findings
    assert found.tests == named


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("tests/test_box.py", b"#" * 100_000, b"#" * 100_001),
        ("tests/test_box.py", TEST + DEEP, HOLLOW + DEEP),
        ("tests/test_box.py", None, b"#" * 100_000),
        ("tests/test_box.py", b"#" * 100_000, TEST),
        ("tests/test_box.py", b"#" * 100_000, None),
        ("tests/test_box.py", TEST, b"def test_lid(:\n"),
        ("tests/data/words.txt", b"word\n", b"w" * 100_000),
        ("README.md", b"word\n", b"w" * 100_000),
    ],
    ids=["as before", "deep as before", "new", "mended", "gone", "no program", "data of tests", "a document"],
)
def test_what_hides_nothing_new_is_silent(path, old, new):
    assert told(path, old, new, MENDED) == []


def test_where_no_rule_is_asked_nothing_is_told():
    assert examine([FileChange("conftest.py", None, b"#" * 100_000)], rules=()).findings == ()
