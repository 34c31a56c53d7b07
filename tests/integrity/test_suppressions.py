"""What is silenced is counted by its code: in comments only, over all changed files together."""

import pytest

from ralph_tracker.integrity.changes import Side
from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.suppressions import counted, line_of, net, risen
from tests.integrity.making import changed


def told(path, text):
    return {str(each): count for each, count in counted(Side(path, text)).items()}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "x = 1  # noqa\n", {"noqa": 1}),
        ("a.py", "x = 1  # NoQA: F401\n", {"noqa: F401": 1}),
        ("a.py", "x = 1  # noqa:E501,F401 because\ny = 2  # noqa: E501\n", {"noqa: E501": 2, "noqa: F401": 1}),
        ("a.py", "# ruff: noqa: D100\n# flake8: noqa\n", {"noqa of the file: D100": 1, "noqa of the file": 1}),
        ("a.py", "# ruff: disable[F401]\n", {"ruff: disable: F401": 1}),
        ("a.py", "x  # pylint: disable=a-b,c-d\n", {"pylint: disable: a-b": 1, "pylint: disable: c-d": 1}),
        ("a.py", "# pylint: skip-file\n", {"pylint: disable": 1}),
        ("a.py", "x()  # nosec B602\n", {"nosec: B602": 1}),
        ("a.py", "x()  # type: ignore[arg-type, misc]\n", {"type: ignore: arg-type": 1, "type: ignore: misc": 1}),
        ("a.py", "x()  # type:ignore # noqa\n", {"type: ignore": 1, "noqa": 1}),
        ("a.py", "x()  # pyright: ignore[a]  # ty: ignore\n", {"pyright: ignore: a": 1, "ty: ignore": 1}),
        ("a.py", "# mypy: ignore-errors\n", {"mypy: ignore-errors": 1}),
        ("a.py", "# mypy: ignore-errors=False\n", {}),
        (
            "a.py",
            '# mypy: disable-error-code="misc, attr"\n',
            {"mypy: disable-error-code: misc": 1, "mypy: disable-error-code: attr": 1},
        ),
        (
            "a.py",
            "def f():  # pragma: no cover\n    if a:  # why; pragma: no branch\n",
            {"pragma: no cover": 1, "pragma: no branch": 1},
        ),
        ("a.py", 'x = "# noqa"\ny = f"# type: ignore"\n', {}),
        ("a.py", '"""Write\n\n    x = 1  # noqa: F401\n"""\n', {}),
        ("a.py", "'''it\\'s # noqa'''\nx = '#'  # noqa\n", {"noqa": 1}),
        ("a.py", '"""never closed # noqa\n', {}),
        ("a.md", "x  # noqa\n", {}),
        ("a.txt", "x  # noqa\n", {}),
        (
            "a.js",
            "// eslint-disable-next-line no-undef, eqeqeq -- why\n",
            {"eslint-disable: no-undef": 1, "eslint-disable: eqeqeq": 1},
        ),
        ("a.ts", "/* eslint-disable */\n", {"eslint-disable": 1}),
        (
            "a.ts",
            "/* eslint-disable @typescript-eslint/no-explicit-any */\n",
            {"eslint-disable: @typescript-eslint/no-explicit-any": 1},
        ),
        ("a.ts", "/* eslint-enable no-undef */\n// @ts-ignore\n", {"@ts-ignore": 1}),
        ("a.tsx", "{/* @ts-expect-error later */}\n// @ts-nocheck\n", {"@ts-expect-error": 1, "@ts-nocheck": 1}),
        ("a.ts", "// biome-ignore lint/a: why\n", {"biome-ignore: lint/a": 1}),
        (
            "a.js",
            "/* istanbul ignore next */\n/* c8 ignore start */\n",
            {"istanbul ignore: next": 1, "c8 ignore: start": 1},
        ),
        ("a.js", "const a = '// @ts-ignore', b = `/* eslint-disable */`\n", {}),
        (
            "a.go",
            "x() //nolint:errcheck,gosec // why\ny() //nolint\n",
            {"nolint: errcheck": 1, "nolint: gosec": 1, "nolint": 1},
        ),
        (
            "a.rs",
            "#[allow(dead_code, unused)]\nfn a() {}\n// #[allow(x)]\n",
            {"allow: dead_code": 1, "allow: unused": 1},
        ),
        ("a.rs", "#![allow(clippy::all)]\n#[coverage(off)]\n", {"allow: clippy::all": 1, "coverage(off)": 1}),
        (
            "A.java",
            '@SuppressWarnings({"unchecked", "rawtypes"})\n',
            {"@SuppressWarnings: unchecked": 1, "@SuppressWarnings: rawtypes": 1},
        ),
        ("A.java", "x(); // NOSONAR\n", {"NOSONAR": 1}),
        (
            "a.sh",
            "# shellcheck disable=SC2086,SC1090\n",
            {"shellcheck disable: SC2086": 1, "shellcheck disable: SC1090": 1},
        ),
        ("a.sh", "echo '# shellcheck disable=SC2086'\n", {}),
    ],
)
def test_suppressions_are_counted_by_mark_and_code(path, text, expected):
    assert told(path, text) == expected


def test_net_is_what_came_less_what_went_over_all_files():
    files = [
        changed("a.py", "x  # noqa: F401\ny  # pragma: no cover\n", "x\n"),
        changed("b.py", "", "x  # noqa: F401\nx  # noqa: E501\nz()  # type: ignore\n"),
        changed("c.py", None, "z()  # type: ignore[misc]\n"),
    ]
    assert net(files) == {"lint": 1, "types": 2, "coverage": -1}
    assert net([]) == {"lint": 0, "types": 0, "coverage": 0}


def test_a_suppression_that_moved_has_not_risen():
    old = "x  # noqa: F401\n"
    moved = (changed("a.py", old, ""), changed("b.py", "", old + "y  # noqa: E501\n"))
    assert [str(each) for each in risen(moved[1], Evidence(moved), "lint")] == ["noqa: E501"]
    assert list(risen(moved[0], Evidence(moved), "lint")) == []


def test_the_line_is_the_last_that_holds_it():
    side = Side("a.py", "a  # noqa: F401\nb  # noqa: F401\nc  # noqa: E501\n")
    (first, second) = counted(side)
    assert (line_of(side, first), line_of(side, second)) == (2, 3)


def test_a_suppression_over_two_lines_has_no_line():
    side = Side("A.java", '@SuppressWarnings(\n  "unchecked")\n')
    assert [line_of(side, each) for each in counted(side)] == [None]


@pytest.mark.parametrize(
    "text", ["#" * 50_000 + "ignore noqa", '"""noqa' * 3_000, "'\"noqa" * 9_000, "/*ignore @ts-" * 5_000]
)
@pytest.mark.parametrize("path", ["a.py", "a.js", "a.rs", "a.sh", "A.java", "a.go"])
def test_hostile_text_is_counted_as_any_other(path, text):
    assert sum(counted(Side(path, text)).values()) >= 0
