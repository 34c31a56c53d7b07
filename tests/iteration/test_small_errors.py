"""Small errors: each rule changes one place of a line, what is no code is left alone, and Python stays Python."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.iteration.small_errors import small_errors


def _new(path, text, lines=None):
    return [each.new for each in small_errors(path, text, lines or range(1, text.count("\n") + 2))]


@pytest.mark.parametrize(
    ("line", "errors"),
    [
        ("x = a < b", ["x = None", "x = a <= b"]),
        ("x = a<=b", ["x = None", "x = a<b"]),
        ("x = a is not b", ["x = None", "x = a is b"]),
        ("x = a not in b", ["x = None", "x = a in b"]),
        ("x += 2", ["x -= 2", "x += 3"]),
        ("f(-a)", ["pass", "f(a)"]),
        ("f(not a)", ["pass", "f(a)"]),
        ("f(a and b or c)", ["pass", "f(a or b or c)", "f(a and b and c)"]),
        ("f(True, 1.5, None, 'text')", ["pass", "f(False, 1.5, None, 'text')", "f(True, 2.5, None, 'text')"]),
        (
            "f(a ** 2 % b // c)",
            ["pass", "f(a * 2 % b // c)", "f(a ** 3 % b // c)", "f(a ** 2 / b // c)", "f(a ** 2 % b / c)"],
        ),
        ("f(1 if a else 2)", ["pass", "f(2 if a else 2)", "f(1 if not (a) else 2)", "f(1 if a else 3)"]),
        ("while a: break", ["while not (a): break", "while a: continue"]),
        ("if a: raise ValueError", ["if not (a): raise ValueError", "if a: pass"]),
        ("ä = 'ö' + g(a - b)", ["ä = None", "ä = 'ö' - g(a - b)", "ä = 'ö' + g(a + b)"]),
        ("x = (a)  +  (b)  # a + b", ["x = None  # a + b", "x = (a)  -  (b)  # a + b"]),
        ("'a < b'", []),
        ("# a < b", []),
        ("x = None", []),
        ("f(a @ b << c)", ["pass"]),
        ("del a", ["pass"]),
        ("assert a", []),
        ("def f(a: int | None = None) -> int | str: pass", []),
        ("x: int | None = g", []),
    ],
)
def test_python_by_its_syntax_tree(line, errors):
    assert sorted(_new("a.py", f"{line}\n")) == sorted(errors)


def test_a_returned_value():
    text = "def f(a):\n    if a:\n        return\n    return a\n"
    assert _new("a.py", text, [3, 4]) == ["return None"]


@pytest.mark.parametrize(
    ("path", "line", "errors"),
    [
        ("a.ts", "if (a === b) {", ["if (!(a === b)) {", "if (a !== b) {"]),
        (
            "a.ts",
            "if (a != b && !c) {",
            ["if (!(a != b && !c)) {", "if (a == b && !c) {", "if (a != b || !c) {", "if (a != b && c) {"],
        ),
        (
            "a.ts",
            "const f: Map<string, number> = (a) => a - 1",
            ["const f: Map<string, number> = (a) => a + 1", "const f: Map<string, number> = (a) => a - 2"],
        ),
        ("a.go", "\tif a <= 3 {", ["if !(a <= 3) {", "if a < 3 {", "if a <= 4 {"]),
        ("a.go", "\tlog.Print(a)", [""]),
        ("a.go", "\treturn true", ["return false"]),
        ("a.rs", "    i += 1;", ["i -= 1;", "i += 2;"]),
        ("a.rb", "x = a and b # a or b", ["x = a or b # a or b"]),
        ("a.js", 'say("a < b", a /* 1 */)', [""]),
        ("a.js", "// a < b && c", []),
        ("a.js", "i++", ["i--"]),
    ],
)
def test_other_languages_by_a_table(path, line, errors):
    assert sorted(_new(path, f"{line}\n")) == sorted(errors)


def test_tests_within_a_source_file_are_left_alone():
    tests = "#[cfg(test)]\nmod tests {\n  fn t() { assert!(f(1) == 2) }\n}\n"
    text = f"fn f(a: i32) -> i32 {{ a + b }}\n{tests}fn g() {{ a - b }}\n"
    assert [each.line for each in small_errors("a.rs", text, range(1, 9))] == [1, 6]


def test_only_the_lines_that_are_asked_for():
    assert [each.line for each in small_errors("a.py", "f(1)\nf(2)\nf(3)\n", {2})] == [2, 2]


def test_what_does_not_parse_has_no_errors():
    assert small_errors("a.py", "if (:\n", {1}) == ()


@given(st.sampled_from(["a.py", "a.ts", "a.go"]), st.text("ab<>=!+-*/&|(){} 019\n'\"#:", max_size=60))
def test_an_error_changes_one_line_and_python_still_parses(path, text):
    for each in small_errors(path, text, range(1, 99)):
        assert each.text != text
        differing = [old for old, new in zip(text.split("\n"), each.text.split("\n"), strict=True) if old != new]
        assert len(differing) == 1
        if path == "a.py":
            ast.parse(each.text)
