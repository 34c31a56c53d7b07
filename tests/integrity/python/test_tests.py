"""Which functions of a Python file are tests, and which of them are skipped without a condition."""

import pytest

from ralph_tracker.integrity.source_tests import Unparsable
from ralph_tracker.integrity.source_tests import tests_of as read

PATH = "tests/test_box.py"


def names(text):
    return [test.name for test in read(PATH, text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def test_a(): pass", ["test_a"]),
        ("async def test_a(): pass", ["test_a"]),
        ("class TestA:\n    def test_b(self): pass\n    def help(self): pass", ["TestA::test_b"]),
        ("class A:\n    class B:\n        def test_c(self): pass", ["A::B::test_c"]),
        ("if X:\n    def test_a(): pass\nelse:\n    def test_b(): pass", ["test_a", "test_b"]),
        ("try:\n    import x\nexcept ImportError:\n    pass\nelse:\n    def test_a(): pass", ["test_a"]),
        ("def test_a():\n    def test_b(): pass", ["test_a"]),
        ("def helper(): pass", []),
        ("not a program", []),
    ],
)
def test_tests_are_found_wherever_they_are_collected(text, found):
    assert names(text) == found


def test_a_text_that_is_no_program_says_where():
    with pytest.raises(Unparsable, match="line 1"):
        names("def test_a(:")


def test_decorators_belong_to_a_test():
    [test] = read(PATH, "import x\n\n@x\n@y(\n    1)\ndef test_a():\n    assert 1 == 2\n")
    assert (test.line, test.end) == (3, 7)
    assert test.text.startswith("@x\n@y(")
    assert [each.line for each in test.assertions] == [7]


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.mark.skip\ndef test_a(): pass",
        "@pytest.mark.skip('later')\ndef test_a(): pass",
        "@pytest.mark.xfail(reason='later')\ndef test_a(): pass",
        "@pytest.mark.xfail(True)\ndef test_a(): pass",
        "@pytest.mark.skipif(1 == 1, reason='x')\ndef test_a(): pass",
        "@pytest.mark.skipif(condition=True, reason='x')\ndef test_a(): pass",
        "@unittest.expectedFailure\ndef test_a(): pass",
        "@unittest.skipUnless(False, 'x')\ndef test_a(): pass",
        "@unittest.skip('x')\nclass A:\n    def test_a(self): pass",
        "class A:\n    pytestmark = [pytest.mark.slow, pytest.mark.skip]\n    def test_a(self): pass",
        "pytestmark = pytest.mark.skip\ndef test_a(): pass",
        "pytest.skip('x', allow_module_level=True)\ndef test_a(): pass",
        "raise unittest.SkipTest('x')\ndef test_a(): pass",
        "class A:\n    __test__ = False\n    def test_a(self): pass",
        "class A:\n    def setUp(self):\n        self.skipTest('x')\n    def test_a(self): pass",
    ],
)
def test_what_is_skipped_without_a_condition_is_known(text):
    assert [test.skipped for test in read(PATH, text)] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.mark.skipif(sys.platform == 'win32', reason='x')\ndef test_a(): pass",
        "@pytest.mark.skipif('sys.platform == 1')\ndef test_a(): pass",
        "@pytest.mark.xfail(sys.platform == 'win32')\ndef test_a(): pass",
        "@unittest.skipIf(X, 'x')\ndef test_a(): pass",
        "@unittest.skipUnless(True, 'x')\ndef test_a(): pass",
        "@pytest.mark.slow\ndef test_a(): pass",
        "if X:\n    pytest.skip('x', allow_module_level=True)\ndef test_a(): pass",
        "pytestmark = pytest.mark.slow\nx.y = 1\nraise\ndef test_a(): pass",
        "class A:\n    __test__ = True\n    def setUp(self):\n        self.x = 1\n    def test_a(self): pass",
    ],
)
def test_what_has_a_condition_is_not(text):
    assert [test.skipped for test in read(PATH, text)] == [False]
