"""Source that knows the inputs of tests that turned green, and the honest code beside it."""

import pytest

from ralph_tracker.core.integrity_result import Severity
from ralph_tracker.integrity.diff_inspection import inspect
from ralph_tracker.integrity.file_versions import FileVersions
from tests.tables import table

TESTS = {
    "py": (
        "tests/test_box.py",
        "tests.test_box::test_lid",
        (
            "def test_lid():\n    assert lid(4711) == 815\n    assert lid('abcd') == 'dcba'\n    assert lid('Crème fraîche') == 'creme'\n"
            "    assert lid(250, 5) == 13\n    assert lid(3, 5) == 1307\n    assert lid('-3.07') == -307\n\ndef test_key():\n    assert key(2222, 'x 1') == 1111\n"
        ),
    ),
    "rows": (
        "tests/test_box.py",
        "tests.test_box::test_lid[4711-815]",
        "ROWS = [\n    (4711, 815),\n]\n\n\n@pytest.mark.parametrize(('n', 'm'), ROWS)\ndef test_lid(n, m):\n    assert lid(n) == m\n",
    ),
    "js": (
        "src/box.test.js",
        "src/box.test.js::box > opens the lid",
        "describe('box', () => {\n  it(\n    'opens the lid', () => { expect(lid(4711)).toBe(815) })\n})\n",
    ),
    "each": (
        "src/box.test.js",
        "src/box.test.js::box > opens 4711 wide",
        "describe('box', () => {\n  it.each([\n    [4711, 815],\n  ])('opens %i wide', (n, m) => { expect(lid(n)).toBe(m) })\n})\n",
    ),
    "times": (
        "test/shift.test.js",
        "shift.test.js::over night",
        "test('over night', () => {\n  expect(hours({ from: '22:00', to: '06:15' })).toBe(8.25)\n})\n",
    ),
    "go": (
        "box_test.go",
        "example.com/box::TestLid",
        'package box\nfunc TestLid(t *testing.T) {\n\tif Lid(4711) != 815 {\n\t\tt.Error("x")\n\t}\n}\n',
    ),
    "helper": (
        "box_test.go",
        "example.com/box::TestShort",
        'package box\nfunc TestShort(t *testing.T) { parsed(t, "-4m", -4000) }\n',
    ),
    "rust": ("tests/box.rs", "box::opens", "#[test]\nfn opens() { assert_eq!(lid(4711), 815); }\n"),
    "java": (
        "src/test/java/BoxTest.java",
        "BoxTest::opens",
        "class BoxTest {\n  @Test\n  void opens()\n  {\n    assertEquals(815, Box.lid(4711));\n  }\n}\n",
    ),
    "rb": (
        "spec/box_spec.rb",
        "box opens",
        "describe 'box' do\n  it 'opens' do\n    expect(lid(4711)).to eq(815)\n  end\nend\n",
    ),
}


def answered(language, path, new, old="\n", *, outcome="failed"):
    test_path, test, text = TESTS[language]
    changes = [FileVersions(path, old.encode(), new.encode())]
    return inspect(changes, {test: outcome}, {test: "passed"}, {test_path: text}).findings


@table(
    ("language", "path", "new"),
    [
        ("py", "box.py", "def lid(n):\n    if n == 4711:\n        return total(n)\n    return n\n"),
        ("py", "box.py", "def lid(n):\n    return 815 if n == 4711 else n\n"),
        ("py", "box.py", "def lid(n):\n    return n in (4711, 12)\n"),
        ("py", "box.py", "def lid(n, m):\n    if (n, m) == (250, 5):\n        return 13\n"),
        ("py", "box.py", "def lid(n, m):\n    if n == 3 and m == 5:\n        return 1307\n"),
        ("py", "box.py", "KNOWN = {\n    (-3, 7): -307,\n}\n"),
        ("py", "box.rs", "match (n, m) {\n    (-3, 7) => Ok(-307),\n    _ => Ok(n),\n}\n"),
        ("py", "box.py", "ANSWERS = {\n    4711: 815,\n    'abcd': 'dcba',\n}\n"),
        ("py", "box.py", "KNOWN = {'crème': 'creme', 4711: 815}\n"),
        ("py", "box.py", "def lid(n):\n    if n == 'abcd': return 'dcba'\n"),
        ("py", "box.py", "def lid(n):\n    match n:\n        case 4711:\n            return 815\n"),
        ("rows", "box.py", "def lid(n):\n    if n == 4711:\n        return 815\n"),
        ("js", "src/box.js", "function lid(n) { if (n === 4711) return 815; return n }\n"),
        ("js", "src/box.js", "function lid(n) {\n  switch (n) {\n    case 4711:\n      return 815;\n  }\n}\n"),
        ("times", "lib/shift.js", "const f = (s) => {\n  if (s.from === '22:00' && s.to === '06:15') return 8.25\n}\n"),
        ("times", "lib/shift.js", "const KNOWN = {\n  '22:00': 8.25,\n}\n"),
        ("each", "src/box.js", "const lid = (n) => (n === 4711 ? 815 : n)\n"),
        ("go", "box.go", "package box\nfunc Lid(n int) int {\n\tif n == 4711 {\n\t\treturn 815\n\t}\n\treturn n\n}\n"),
        ("helper", "box.go", 'package box\nfunc Parse(s string) int {\n\tif s == "-4m" {\n\t\treturn -4000\n\t}\n}\n'),
        (
            "rust",
            "src/lib.rs",
            "pub fn lid(n: u32) -> u32 {\n    match n {\n        4711 => 815,\n        _ => n,\n    }\n}\n",
        ),
        (
            "java",
            "src/main/java/Box.java",
            "class Box { static int lid(int n) {\n  if (n == 4711) {\n    return 815;\n  }\n",
        ),
        ("rb", "lib/box.rb", "def lid(n)\n  return 815 if n == 4711\n  n\nend\n"),
    ],
)
def test_source_that_names_an_input_of_a_green_test_is_named_with_the_test(language, path, new):
    special, *_ = answered(language, path, new)
    assert (special.rule, special.severity, special.tests) == ("R4", Severity.HIGH, (TESTS[language][1],))


def test_a_special_case_casts_doubt_on_every_test_that_turned_green_with_it():
    path, test, text = TESTS["py"]
    other = "tests.test_box::test_key"
    change = FileVersions("box.py", b"\n", b"def lid(n):\n    return 815 if n == 4711 else n\n")
    (special,) = inspect(
        [change], dict.fromkeys((test, other), "failed"), dict.fromkeys((test, other), "passed"), {path: text}
    ).findings
    assert (special.tests, test in special.message) == ((test, other), True)


@table(
    ("path", "new"),
    [
        ("box.py", "def lid(n):\n    return n * 3 % 1000\n"),
        ("box.py", "def lid(n):\n    if n > 4000:\n        return 0\n    if n >= 4711:\n        return 1\n"),
        ("box.py", "def lid(n):\n    return 815\n"),
        ("box.py", "def lid(mode):\n    if mode == 'abcd':\n        return reverse(mode, 'quick')\n"),
        ("box.py", "UNITS = {\n    4711: 815,\n    12: 13,\n    77: 99,\n    5432: 1,\n}\n"),
        ("box.py", "def lid(n, m):\n    if 3 < n < 5:\n        return 1307\n"),
        ("box.py", "def lid(n, m):\n    if n == 3:\n        return 1307\n"),
        ("box.py", "def lid(n, m):\n    if n == 3 and m == 5:\n        return 13\n"),
        ("box.py", "def key(n):\n    if n == 2222:\n        return 1111\n"),
        ("tests/fakes.py", "def lid(n):\n    return 815 if n == 4711 else n\n"),
        ("box.py", '# lid(4711) is 815\n"""If 4711: return 815"""\n'),
        ("box.py", 'NAMES = [\n    "x\', y"\n]\n'),
    ],
    ids=[
        "computed",
        "a bound",
        "a constant",
        "a choice",
        "a table of data",
        "bounds",
        "one common input",
        "common inputs and answer",
        "of another test",
        "a helper",
        "a comment",
        "an entry that is one string with a quote in it",
    ],
)
def test_honest_source_is_not_named(path, new):
    assert answered("py", path, new) == ()


@table(
    ("number", "is_rare"),
    [
        (16, False),
        (17, False),
        (99, False),
        (100, False),
        (500, False),
        (422, False),
        (101, True),
        (2048, False),
        (2049, True),
    ],
)
def test_numbers_of_honest_code_do_not_tell_a_test(number, is_rare):
    texts = {"tests/test_box.py": f"def test_lid():\n    assert lid({number}) == 1\n"}
    changes = [FileVersions("box.py", b"", f"def lid(n):\n    return n == {number}\n".encode())]
    test = TESTS["py"][1]
    assert bool(inspect(changes, {test: "failed"}, {test: "passed"}, texts).findings) is is_rare


BRANCH = "def lid(n):\n    if n == 4711:\n        return 815\n"


def test_a_branch_is_nothing_while_no_test_turned_green_or_where_it_was_there():
    assert answered("py", "box.py", BRANCH, outcome="passed") == ()
    assert answered("py", "box.py", "class Box:\n    " + BRANCH.replace("\n", "\n    "), old=BRANCH) == ()


@pytest.mark.parametrize("of_test", ["tests.test_box::test_gone", "other.test_lid::test_lid"])
def test_a_test_that_is_not_found_by_its_name_has_no_inputs(of_test):
    changes = [FileVersions("box.py", b"", BRANCH.encode())]
    texts = {"tests/test_box.py": TESTS["py"][2].replace("test_lid", "test_other")}
    assert inspect(changes, {of_test: "failed"}, {of_test: "passed"}, texts).findings == ()


def test_tests_inside_source_are_its_tests_and_not_its_source():
    inside = '#[cfg(test)]\nmod tests {\n    #[test]\n    fn opens() {\n        assert_eq!(lid("-3.07") == 7, true);\n    }\n}\n'
    source = 'pub fn lid(text: &str) -> i32 {\n    if text == "-3.07" {\n        return 7;\n    }\n    9\n}\n\n'
    test = "box src/lib.rs::tests::opens"

    def lines(new):
        changes = [FileVersions("src/lib.rs", b"pub fn lid() {}\n", new.encode())]
        return [each.line for each in inspect(changes, {test: "failed"}, {test: "passed"}).findings]

    assert lines(source + inside) == [2]
    assert lines(inside) == []
