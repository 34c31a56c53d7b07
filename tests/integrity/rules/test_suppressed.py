"""S1 to S3: more of a suppression is told for its file and code; what moved or fell is not."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import coverage_suppressed, lint_suppressed, types_suppressed
from tests.integrity.making import found


@pytest.mark.parametrize(
    ("find", "rule", "comment", "about"),
    [
        (lint_suppressed.find, "S1", "noqa: F401", "noqa: F401"),
        (types_suppressed.find, "S2", "type: ignore", "type: ignore"),
        (coverage_suppressed.find, "S3", "pragma: no cover", "pragma: no cover"),
    ],
)
def test_each_rule_tells_its_own_kind(find, rule, comment, about):
    (finding,) = found(find, {"a.py": ("x = 1\n", f"\nx = 1  # {comment}\n")})
    assert (finding.rule, finding.severity, finding.about, finding.line) == (rule, Severity.MEDIUM, about, 2)
    assert finding.new == f"x = 1 # {comment}"
    others = {lint_suppressed.find, types_suppressed.find, coverage_suppressed.find} - {find}
    assert [each for other in others for each in found(other, {"a.py": ("", f"x  # {comment}\n")})] == []


@pytest.mark.parametrize(
    "text",
    [
        "from typing import no_type_check\n\n\n@no_type_check\ndef f(x):\n    return x\n",
        "import typing\n\n\nclass Box:\n    @typing.no_type_check\n    def f(self, x):\n        return x\n",
        "from typing import no_type_check as plain\n\n\n@plain\ndef f(x):\n    return x\n",
        "import typing as t\n\n\ndef f(x):\n    return x\n\n\nf = t.no_type_check(f)\n",
    ],
    ids=["a function", "a method", "by another name", "called"],
)
def test_a_function_that_no_type_checker_looks_at_is_told(text):
    (finding,) = found(types_suppressed.find, {"a.py": ("def f(x):\n    return x\n", text)})
    assert (finding.about, finding.line is not None) == ("no_type_check", True)


@pytest.mark.parametrize(
    "text",
    [
        "from typing import no_type_check\n",
        '"""Use @no_type_check with care."""\n',
        "# @no_type_check\n",
        "def no_type_check(function):\n    return function\n",
    ],
    ids=["imported only", "a docstring", "a comment", "defined"],
)
def test_the_name_of_a_decorator_silences_nothing(text):
    assert found(types_suppressed.find, {"a.py": ("x = 1\n", text)}) == []


def test_the_same_code_again_is_told_and_stays_the_same_finding():
    one, two, three = ("x  # noqa: F401\n" * count for count in (1, 2, 3))
    first, second = (found(lint_suppressed.find, {"a.py": pair})[0] for pair in ((one, two), (two, three)))
    assert first.key == second.key


def test_a_finding_without_a_line_is_told_too():
    (finding,) = found(lint_suppressed.find, {"A.java": ("", '@SuppressWarnings(\n  "unchecked")\n')})
    assert (finding.line, finding.new) == (None, None)


def test_it_is_told_on_a_line_that_stood_there_whatever_went_elsewhere():
    files = {"a.py": ("x = 1\n", "x = 1  # type: ignore\n"), "b.py": ("y = 2  # type: ignore\n", "y = 2\n")}
    (finding,) = found(types_suppressed.find, files)
    assert (finding.file, finding.line) == ("a.py", 1)


@pytest.mark.parametrize("old", ["x = 1\n", None])
@pytest.mark.parametrize("new", ["x = 1\ny = 2  # type: ignore\n", "# type: ignore\nx = 1\n"])
def test_a_line_that_came_with_it_may_have_moved(old, new):
    assert found(types_suppressed.find, {"a.py": (old, new), "b.py": ("y = 2  # type: ignore\n", "")}) == []


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": ("x  # noqa\n", "x\n")},
        {"a.py": ("x  # noqa\n", "y = 1  # noqa\n")},
        {"a.py": ("x  # noqa\n", None), "b.py": (None, "x  # noqa\n")},
        {"a.md": ("", "x  # noqa\n")},
        {"a.py": ("", "noqa = 1\n")},
    ],
    ids=["fewer", "another line", "moved", "a document", "a name"],
)
def test_no_more_than_before_is_nothing(files):
    assert found(lint_suppressed.find, files) == []


@pytest.mark.parametrize(
    ("comment", "about"),
    [
        ("# pyright: reportArgumentType=false", ["pyright: looser: reportArgumentType=false"]),
        ("# pyright: basic", ["pyright: looser: basic"]),
        ("# pyright: strict", []),
        ("# pyright: reportArgumentType=true", []),
        ("# mypy: allow-untyped-defs", ["mypy: looser: allow-untyped-defs"]),
        ("# mypy: disallow-untyped-defs=False", ["mypy: looser: disallow-untyped-defs=False"]),
        ("# mypy: disallow-untyped-defs", []),
        ("# pyre-ignore[16]", ["pyre-ignore: 16"]),
        ("# pytype: disable=attribute-error", ["pytype: disable: attribute-error"]),
    ],
)
def test_an_option_for_one_file_counts_where_it_asks_for_less(comment, about):
    assert [each.about for each in found(types_suppressed.find, {"a.py": ("x = 1\n", f"{comment}\nx = 1\n")})] == about
