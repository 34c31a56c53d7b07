"""What a test is made of, whatever it is called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity import source_tests
from ralph_tracker.integrity.changes import Side
from ralph_tracker.integrity.fingerprints import Fingerprint, tokens_of
from ralph_tracker.integrity.source_tests import SourceTest

PATH = "tests/test_box.py"


def fingerprint(text: str) -> Fingerprint:
    return Fingerprint(source_tests.tests_of(PATH, text)[0])


SAME = {
    "comments": ("def test_a():\n    assert f(1)  # why\n", "def test_b():\n    # because\n    assert f(1)\n"),
    "a docstring": ("def test_a():\n    '''Say.'''\n    assert f(1)\n", "def test_b():\n    assert f(1)\n"),
    "nothing but a docstring": ("def test_a():\n    '''Say.'''\n", 'def test_b():\n    """Say more."""\n'),
    "one line": ("def test_a(): assert f(1)\n", "def test_b():\n    assert f(1)\n"),
    "letters before it on its line": ("def test_é(): assert f(1)\n", "def test_b(): assert f(1)\n"),
    "line ends and the last comma": (
        "def test_a():\n    f(\n        1,\n        2,\n    )\n",
        "def test_b():\n    f(1, 2)\n",
    ),
    "quotes": ("def test_a():\n    f('x', u'y', '''z''')\n", 'def test_b():\n    f("x", "y", "z")\n'),
    "indentation inside a string": (
        "def test_a():\n    f('''x\n        y''')\n",
        "def test_b():\n    f('''x\n    y''')\n",
    ),
    "escapes": (
        'def test_a():\n    f("a\\n\\tb", "it\\\'s", "\\x41bc\\u00e9\\N{SNOWMAN}\\U0001F600")\n',
        'def test_b():\n    f("""a\n    b""", "it\'s", \'Abc\u00e9\u2603\U0001f600\')\n',
    ),
    "escapes of a pattern": (
        "def test_a():\n    f(r\"at\\['x'\\]\")\n",
        "def test_b():\n    f(\"at['x']\")\n",
    ),
    "one text in parts": (
        "def test_a():\n    f('one '\n      \"more\", 'a' f'{b} ' 'c')\n",
        "def test_b():\n    f('one more', f'a{b} c')\n",
    ),
    "its own name": ("def test_a():\n    f('test_a', test_a)\n", "def test_b():\n    f('test_b', test_b)\n"),
    "the receiver": (
        "class TestA:\n    def test_a(self, x):\n        assert self.f(x)\n",
        "def test_b(x):\n    assert f(x)\n",
    ),
    "a decorated function inside": (
        "def test_a():\n    @app.route('/')\n    def index():\n        return 1\n    assert index()\n",
        "def test_b():\n\n    @app.route('/')\n    def index():\n        return 1\n\n    assert index()\n",
    ),
    "the marks before it": ("@slow\ndef test_a():\n    assert f(1)\n", "def test_b():\n    assert f(1)\n"),
}
OTHER = {
    "another value": ("def test_a():\n    f(1)\n", "def test_a():\n    f(2)\n"),
    "another string": ("def test_a():\n    f('x')\n", "def test_a():\n    f(f'x')\n"),
    "bytes": ("def test_a():\n    f('x')\n", "def test_a():\n    f(b'x')\n"),
    "an escape that is none": ("def test_a():\n    f(b'\\N{NO SUCH SIGN}')\n", "def test_a():\n    f(b'')\n"),
    "a pattern": ("def test_a():\n    f(r'\\d')\n", "def test_a():\n    f('d')\n"),
    "texts in two places": ("def test_a():\n    f('a', 'b')\n", "def test_a():\n    f('a' 'b')\n"),
    "another parameter": ("def test_a(x):\n    f(1)\n", "def test_a(y):\n    f(1)\n"),
    "another decorator inside": (
        "def test_a():\n    @route('/')\n    def index(): ...\n",
        "def test_a():\n    @route('/x')\n    def index(): ...\n",
    ),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_the_way_of_writing_makes_no_difference(one: str, other: str) -> None:
    assert fingerprint(one).content == fingerprint(other).content


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER)
def test_what_is_done_does(one: str, other: str) -> None:
    assert fingerprint(one).content != fingerprint(other).content


ROWS = {
    "pytest": ("@pytest.mark.parametrize(('a', 'b'), [(1, 'x'), (2, 'y')])\ndef test_a(a, b): ...\n", 2),
    "parameterized": ("@parameterized.expand([(1, 2), (3, 4), (5, 6)])\ndef test_a(a, b): ...\n", 3),
    "a loop": ("def test_a():\n    for a in (1, 2):\n        f(a)\n", 2),
    "a loop over a list with a name": ("def test_a():\n    known = [1, 2]\n    for a in known:\n        f(a)\n", 2),
    "a loop over a name that is given": ("def test_a(known):\n    for a in known:\n        f(a)\n", 0),
    "a list that stands elsewhere": ("@pytest.mark.parametrize('a', CASES)\ndef test_a(a): ...\n", 0),
    "a mark": ("@slow\ndef test_a():\n    f([1, 2])\n", 0),
}


@pytest.mark.parametrize(("text", "number"), ROWS.values(), ids=ROWS)
def test_rows_are_its_cases(text: str, number: int) -> None:
    assert len(fingerprint(text).rows) == number


EXPECTED = {
    "a call": ("with pytest.raises(KeyError, match='x'):\n        f()", {"KeyError"}),
    "a method": ("self.assertRaisesRegex(errors.Invalid, 'x', f)", {"Invalid"}),
    "a handler": (
        "try:\n        f()\n    except (KeyError, errors.Invalid) as e:\n        pass",
        {"KeyError", "Invalid"},
    ),
    "a handler of all": ("try:\n        f()\n    except:\n        pass", set()),
    "neither": ("raises = f(KeyError)", set()),
}


@pytest.mark.parametrize(("body", "names"), EXPECTED.values(), ids=EXPECTED)
def test_expected_are_the_exceptions_that_it_waits_for(body: str, names: set[str]) -> None:
    assert fingerprint(f"def test_a():\n    {body}\n").expected == names


MESSAGES = {
    "an assert": ("assert f(1), 'why'", {"'why'"}),
    "a failure": ("self.fail(msg='why')", {"'why'"}),
    "what is asserted": ("assert f('x') == 'why'", set()),
}


@pytest.mark.parametrize(("body", "texts"), MESSAGES.values(), ids=MESSAGES)
def test_messages_are_what_is_told_when_it_fails(body: str, texts: set[str]) -> None:
    assert fingerprint(f"def test_a():\n    {body}\n").messages == texts


def test_a_row_has_neither_the_name_of_its_case_nor_those_of_parameters_of_its_own() -> None:
    text = "@pytest.mark.parametrize('a', [pytest.param(1, id='one'), lambda box: box.shut(2)])\ndef test_a(a): ...\n"
    assert [set(row) for row in fingerprint(text).rows] == [{"1"}, {"shut", "2"}]


def test_other_languages_are_read_by_their_own_tokens() -> None:
    text = "it('opens', () => { /* why */ expect(this.box('a')).toBe(`b`) // so\n})"
    test = Fingerprint(SourceTest(path="box.test.js", name="opens", line=1, end=2, text=text))
    assert (test.header, test.rows, test.literals) == ((), (), {"'a'", "'b'"})
    assert not {"why", "so", "this", "'opens'"} & set(test.body)


@given(st.text(alphabet="ab'\"\\\n#/*`1.,()= ", max_size=60))
def test_any_text_has_tokens(text: str) -> None:
    assert all(tokens_of(text))


@pytest.mark.parametrize(
    "marker", ["pytest.mark.skipif(old, reason='a new\\n lid')", "unittest.skipUnless(new, 'lid')"]
)
def test_where_a_test_is_not_to_be_run_is_no_part_of_it(marker):
    text = "@cases('red')\n{}def test_lid():\n    assert lid\n"
    plain, marked = (
        Fingerprint(Side("tests/test_box.py", text.format(more)).tests[0]) for more in ("", f"@{marker}\n")
    )
    assert (marked.bag, marked.literals) == (plain.bag, frozenset({"'red'"}))
