"""Text that is no program, or none that a person wrote: a reason or a result, never an exception."""

import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.other import grammars
from ralph_tracker.integrity.source_tests import Unparsable
from ralph_tracker.integrity.source_tests import tests_of as read
from tests.integrity.making import examined

# A test in each language, as the words of a template: what stands before, between and after what is put in.
HOSTS = {
    "a.test.js": ("it('a', () => { ", " });"),
    "a.test.ts": ("it('a', () => { ", " });"),
    "a.test.tsx": ("it('a', () => { ", " });"),
    "x_test.go": ("package x\nfunc TestA(t *testing.T) { ", " }"),
    "src/a.rs": ("#[test] fn a() { ", " }"),
    "ATest.java": ("class ATest { @Test void a() { ", " } }"),
}
HOSTILE = {
    "empty": "",
    "open brackets": "(" * 10_000,
    "nested brackets": "f(" + "(" * 10_000 + "1" + ")" * 10_000 + ");",
    "mixed brackets": "([{" * 4_000,
    "types": "a<b<c<d<" * 2_000,
    "long name": "a" * 99_000,
    "long sum": "f(" + "a + " * 20_000 + "1);",
    "many denials": "assert(" + "!" * 20_000 + "a);",
    "many alternatives": "assert(" + "a || " * 10_000 + "true);",
    "many calls": "a.b()" * 1_000,
    "quotes": "'\"`" * 1_000,
    "templates": "`${" * 900,
    "comments": "/*" * 2_000,
    "else": "if (a) { b() } else " * 800,
    "bytes": random.Random(1).randbytes(10_000).decode("utf-8", "replace"),
    "surrogate": "f('\ud800');",
    "nothing called": "assert(); expect().toBe(); assert.equal(); assert_eq!(); assertEquals(); assertThat().is();",
    "unfinished": "expect(x).; assert(x ||); t.Run(; assert_eq!(a,; assertThat(x).",
    "comments only": "expect(/* a */).toBe(/* b */); assert(/* c */); assert.Equal(t, /* d */);",
}


@pytest.mark.parametrize("path", HOSTS)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_any_text_gives_a_reason_or_a_result(path, text):
    before, after = HOSTS[path]
    for whole in (text, before + text, before + text + after):
        assert _read(path, whole) is not None


@given(st.sampled_from(sorted(HOSTS)), st.text("(){}[]<>;.,:!=|&'\"`#@$/*\\ \nab1tif?-+", max_size=200))
def test_any_text_inside_a_test_gives_a_reason_or_a_result(path, text):
    before, after = HOSTS[path]
    assert _read(path, before + text + after) is not None


@given(st.sampled_from(sorted(HOSTS)), st.text(max_size=100))
def test_what_did_not_change_gives_nothing(path, text):
    before, after = HOSTS[path]
    whole = before + "assert(true);" + text + after
    assert examined({path: (whole, whole)}).findings == ()


def _read(path, text):
    try:
        return [(test.name, [each.text for each in test.assertions]) for test in read(path, text)]
    except Unparsable as reason:
        return str(reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("(" * 10_000, "is nested too deeply", id="brackets"),
        pytest.param("a<" * 10_000, "is nested too deeply", id="types"),
        pytest.param("//" + "a" * grammars.MAX_BYTES, "larger than 500 kB", id="size"),
        pytest.param("it('b', () => { expect(" * 40, "is no typescript that can be read", id="no program"),
        pytest.param("x ) " * 20_000, "is no typescript that can be read", id="errors without end"),
    ],
)
def test_the_reason_says_what_it_is(text, reason):
    with pytest.raises(Unparsable) as raised:
        read("a.test.ts", "it('a', f);" + text)
    assert str(raised.value) == reason


def test_comparisons_and_closed_brackets_are_not_nested():
    text = (
        "it('a', () => {"
        + "x = a < b;\n" * 2_000
        + "f([g({a: 1})]);\n" * 1_000
        + "y = new Map<A, Set<B>>();\n" * 600
        + "});"
    )
    assert [test.name for test in read("a.test.ts", text)] == ["a"]


def test_what_is_wrong_in_one_place_hides_nothing_elsewhere():
    text = "it('a', () => { expect(a).toBe(3); });\nconst = ;\nit('b', () => { expect(b).toBe(3); });"
    assert [(test.name, len(test.assertions)) for test in read("a.test.js", text)] == [("a", 1), ("b", 1)]


@pytest.mark.parametrize(
    ("path", "missing", "package"),
    [("x_test.go", "tree_sitter_go", "tree-sitter-go"), ("ATest.java", "tree_sitter", "tree-sitter")],
)
def test_a_grammar_that_is_not_installed_is_a_reason(path, missing, package, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    grammars._loaded.cache_clear()
    before, after = HOSTS[path]
    try:
        found = examined({path: (None, before + after)})
    finally:
        grammars._loaded.cache_clear()
    assert found.findings == ()
    assert found.unread == {path: f"needs {package}, which is not installed"}


@pytest.mark.parametrize("path", ["x.go", "src/a.rs", "A.java", "a.js", "a.ts"])
def test_a_source_without_tests_is_not_parsed(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    grammars._loaded.cache_clear()
    try:
        assert read(path, "class A { int iterate() { return 1; } }") == ()
    finally:
        grammars._loaded.cache_clear()
