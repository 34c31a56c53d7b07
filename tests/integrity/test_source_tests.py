"""The tests of a source file, in every language that is looked into."""

import time

from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.source_tests import SourceTest
from ralph_tracker.integrity.source_tests import tests_of as read
from tests.tables import table

NAMES = {
    "functions and methods": (
        "a.py",
        (
            "def test_a(): pass\nclass TestBox(Base):\n"
            "    def test_lid(self): pass\n    async def test_key(self): pass\n"
            "    def helper(self): pass\n    class TestInner:\n        def test_deep(self): pass\n"
        ),
        ["test_a", "TestBox::test_lid", "TestBox::test_key", "TestBox::TestInner::test_deep"],
    ),
    "under a condition": (
        "a.py",
        "if x:\n    def test_a(): pass\ntry:\n    def test_b(): pass\nfinally: pass\n",
        ["test_a", "test_b"],
    ),
    "functions in functions are none": (
        "a.py",
        "def make():\n    def test_a(): pass\ndef test_b(): pass\n",
        ["test_b"],
    ),
    "text in a string is none": ("a.py", "X = '''\ndef test_a(): pass\n'''\n", []),
    "Python 2": ("a.py", "def test_a():\n    print 'a'\n", ["test_a"]),
    "what unittest runs": ("a.py", "class Box(TestCase):\n    def runTest(self): pass\n", ["Box::runTest"]),
    "half a Python file": ("a.py", "def test_a(:\n    assert (\n\ndef test_b():\n    pass\n", ["test_a", "test_b"]),
    "nested titles": (
        "a.test.ts",
        "describe('a', () => { describe(`b`, () => { it(\"c\", f) }); test('d', f) }); it('e', f)",
        ["a::b::c", "a::d", "e"],
    ),
    "escapes in titles": ("a.test.js", "it('it\\'s \\x41\\u0042\\u{43}\\n\\u{110000}', f)", ["it's ABC\n\\u{110000}"]),
    "a title that is an expression": ("a.test.js", "it(Foo.name, () => {})", ["Foo.name"]),
    "tables": (
        "a.test.ts",
        (
            "it.each([[1, 2]])('adds %i', f); it.each`a\n${1}`('adds $a', f);\n"
            "describe.each([1])('s', () => { it.only('a', f) }); test.concurrent.for(x)('b', f)"
        ),
        ["adds %i", "adds $a", "s::a", "b"],
    ),
    "skipped and conditional": (
        "a.test.ts",
        "it.skip('a', f); it.todo('b'); xit('c', f); xdescribe('d', () => { it('e', f) }); it.skipIf(slow)('g', f)",
        ["a", "b", "c", "d::e", "g"],
    ),
    "other runners": (
        "a.test.mjs",
        (
            "test.describe('a', () => { test('b', f) }); Deno.test('c', f); QUnit.module('m'); QUnit.test('d', f);"
            "suite('s', () => { test('e', f) })"
        ),
        ["a::b", "c", "d", "s::e"],
    ),
    "subtests of node:test": (
        "a.test.js",
        (
            "test('a', async (t) => { await t.test('b', f); t.test('c', () => {}); t.test('d'); t.step('e', () => {});"
            "t.a.test('g', () => {}); t.test(x, () => {}) }); t.test('h', () => {})"
        ),
        ["a", "a::c"],
    ),
    "tests in a source file": (
        "a.ts",
        "export const f = 1\nif (import.meta.vitest) { const { it } = import.meta.vitest; it('a', () => {}) }",
        ["a"],
    ),
    "a limit behind the test": ("a.test.js", "it('a', f).timeout(5)", ["a"]),
    "calls that are no tests": (
        "a.test.js",
        (
            "test.each([1]); test.other('a', f); (() => {})(); it``; /x/.test('a', 1); x.test('a'); test.step('s', f);"
            "test(() => {}); it(); audit('a', f)"
        ),
        [],
    ),
    "markup": ("a.test.tsx", "it('a', () => { render(<A b={1} />) })", ["a"]),
    "Go": (
        "a_test.go",
        (
            "package a\nfunc TestA(t *testing.T) {}\nfunc FuzzA(f *testing.F) {}\nfunc Testify(t *testing.T) {}\n"
            "func TestMain(m *testing.M) {}\nfunc TestHelper(x int) {}\nfunc (s *BoxSuite) TestLid() {}\n"
            "func ExampleA() {\n\t// Output: 1\n}\nfunc ExampleB() {}\n"
        ),
        ["TestA", "FuzzA", "BoxSuite::TestLid", "ExampleA"],
    ),
    "Go outside of tests": ("a.go", "package a\nfunc TestA(t *testing.T) {}\n", []),
    "Rust": (
        "src/a.rs",
        (
            "#[derive(Debug)]\nstruct A;\n#[cfg(test)]\nmod tests {\n  #[test]\n  fn works() {}\n  fn helper() {}\n"
            "  mod deep { #[tokio::test]\n  // slow\n  #[ignore]\n  async fn waits() {} }\n}\n"
            "#[rstest]\n#[case(1)]\nfn c() {}\n"
        ),
        ["tests::works", "tests::deep::waits", "c"],
    ),
    "Java": (
        "BoxTest.java",
        (
            "class BoxTest { @Test void lid() {} void helper() {}\n"
            "@org.junit.Test(expected = X.class) public void key() {}\n"
            "@Nested class Inner { @ParameterizedTest @ValueSource(ints = {1}) void c(int i) {} } }"
        ),
        ["BoxTest::lid", "BoxTest::key", "BoxTest::Inner::c"],
    ),
    "JUnit 3": (
        "A.java",
        "class A extends TestCase { public void testA() {} void testB() {} public void c() {} }",
        ["A::testA"],
    ),
    "TestNG": ("A.java", "@Test class A { public void a() {} void b() {} }", ["A::a"]),
    "another language": ("a.rb", "it 'a' do end", []),
    "nothing": ("a.py", "", []),
}


@table(("path", "text", "names"), NAMES.values(), ids=NAMES)
def test_names_are_the_way_through_the_file(path, text, names):
    assert [test.name for test in read(path, text)] == names


LINES = {
    "decorators": ("a.py", "import x\n\n@a\n@b(\n  1)\ndef test_a():\n    pass\n", (3, 7)),
    "a method's decorators": ("a.py", "class A:\n\n    @a\n    def test_a(self):\n        pass\n", (3, 5)),
    "a call": ("a.test.js", "\n\nit('a',\n  () => {\n    expect(a).toBe(3);\n  });\n", (3, 6)),
    "attributes": ("a.rs", "#[derive(A)]\nstruct A;\n#[test]\n// why\n#[ignore]\nfn a() {\n}\n", (3, 7)),
    "annotations": ("A.java", 'class A {\n\n @Test\n @Tag("a")\n void a() {\n }\n}\n', (3, 6)),
    "Go": ("a_test.go", "package a\n\nfunc TestA(t *testing.T) {\n}\n", (3, 4)),
}


@table(("path", "text", "lines"), LINES.values(), ids=LINES)
def test_a_test_is_its_lines_with_what_decorates_it(path, text, lines):
    [test] = read(path, text)
    assert (test.line, test.end) == lines
    assert test == SourceTest(path, test.name, *lines, "\n".join(text.split("\n")[lines[0] - 1 : lines[1]]))


OPENINGS = {
    "a.py": "def test_a():\n    ",
    "a.js": "it('a', () => {",
    "a.ts": "it('a', () => {",
    "a.tsx": "it('a', () => {",
    "a_test.go": "package a\nfunc TestA(t *testing.T) {",
    "a.rs": "#[test]\nfn a() {",
    "A.java": "class A { @Test void a() {",
}
HOSTILE = {
    "never closed": "(" * 100_000,
    "nested deeply": "[" * 50_000 + "]" * 50_000,
    "types": "<" * 100_000,
    "quotes": "'" * 33_333,
    "long chain": "a." * 50_000,
    "no characters": "\0\ud800 " * 1_000,
    "too large": "x = 1\n" * 400_000,
}


@table("text", HOSTILE.values(), ids=HOSTILE)
@table("path", OPENINGS)
def test_no_text_raises_or_takes_long(path, text):
    began = time.process_time()
    read(path, OPENINGS[path] + text)
    assert time.process_time() - began < 3


@table(
    ("below", "is_read"),
    [("f();\n" * 1_100, True), ("[" * 1_000 + "]" * 1_000, True), ("[" * 1_001, False), ("[f()," * 1_001, False)],
    ids=["many beside each other", "as deep as may be", "deeper", "deeper, with others that are closed"],
)
@table(("path", "test"), [("a.py", "def test_a(): pass\n"), ("a.js", "it('a', f);\n")])
def test_a_text_is_read_unless_it_is_nested_deeper_than_a_thousand_brackets(path, test, below, is_read):
    assert bool(read(path, test + below)) is is_read


@given(st.sampled_from(list(OPENINGS)), st.text(alphabet="test_def ()[]{}:'\"`\n@#.,=>it fn", max_size=80))
def test_any_text_gives_tests_that_stand_in_it(path, text):
    text = OPENINGS[path] + text
    for test in read(path, text):
        assert 1 <= test.line <= test.end <= text.count("\n") + 1
