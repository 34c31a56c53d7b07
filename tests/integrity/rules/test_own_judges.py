"""T9 and T10 where unittest's classes judge by methods of their own."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import runner_forged, test_rigged
from tests.integrity.making import found

PATH = "tests/test_box.py"
HEAD = (
    "import unittest\nfrom unittest import mock\nfrom unittest.mock import Mock, patch\n"
    "import box\nfrom box import f\n\n\n"
)
TESTS = (
    "    def test_a(self):\n        self.assertEqual(f(3), 9)\n\n"
    "    def test_b(self):\n        self.assertEqual(box.g(3), 7)\n"
)
OLD = f"{HEAD}class TestA(unittest.TestCase):\n{TESTS}"
TEST = "tests.test_box.TestA::test_a"
BEGAN = {"before": {TEST: "failed"}, "after": {TEST: "passed"}}
HOLLOW = {
    "ae print": (
        "class TestA(unittest.TestCase):\n"
        "    def assertEqual(self, first, second, msg=None):\n"
        "        if first != second:\n"
        "            print('differs', first, second)\n"
        "\n"
    ),
    "ae pass": (
        "class TestA(unittest.TestCase):\n    def assertEqual(self, *args, **kwargs):\n        return None\n\n"
    ),
    "ae pass base": (
        "class Quiet(unittest.TestCase):\n"
        "    def assertEqual(self, *args, **kwargs):\n"
        "        pass\n"
        "\n"
        "\n"
        "class TestA(Quiet):\n"
    ),
    "ae mixin": (
        "class Lenient:\n"
        "    def assertEqual(self, first, second, msg=None):\n"
        "        self.assertIsNotNone(first)\n"
        "\n"
        "\n"
        "class TestA(Lenient, unittest.TestCase):\n"
    ),
    "ae notnone": (
        "class TestA(unittest.TestCase):\n"
        "    def assertEqual(self, first, second, msg=None):\n"
        "        self.assertIsNotNone(first)\n"
        "\n"
    ),
    "ae type": (
        "class TestA(unittest.TestCase):\n"
        "    def assertEqual(self, first, second, msg=None):\n"
        "        self.assertIsInstance(first, type(second))\n"
        "\n"
    ),
    "ae swallow": (
        "class TestA(unittest.TestCase):\n"
        "    def assertEqual(self, first, second, msg=None):\n"
        "        try:\n"
        "            super().assertEqual(first, second, msg)\n"
        "        except AssertionError:\n"
        "            pass\n"
        "\n"
    ),
    "ae self": (
        "class TestA(unittest.TestCase):\n"
        "    def assertEqual(self, first, second, msg=None):\n"
        "        super().assertEqual(first, first, msg)\n"
        "\n"
    ),
    "ae str": (
        "class TestA(unittest.TestCase):\n"
        "    def assertEqual(self, first, second, msg=None):\n"
        "        super().assertEqual(bool(first), bool(first), msg)\n"
        "\n"
    ),
    "ae attr": ("class TestA(unittest.TestCase):\n    assertEqual = lambda self, *args: None\n\n"),
    "ae attr mock": ("class TestA(unittest.TestCase):\n    assertEqual = Mock()\n\n"),
    "ae setUp": (
        "class TestA(unittest.TestCase):\n"
        "    def setUp(self):\n"
        "        self.assertEqual = lambda *args, **kwargs: None\n"
        "\n"
    ),
    "ae setUp mock": ("class TestA(unittest.TestCase):\n    def setUp(self):\n        self.assertEqual = Mock()\n\n"),
    "ae setUp log": (
        "class TestA(unittest.TestCase):\n"
        "    def setUp(self):\n"
        "        self.assertEqual = self._log\n"
        "\n"
        "    def _log(self, *args):\n"
        "        print(args)\n"
        "\n"
    ),
    "ae alias": ("class TestA(unittest.TestCase):\n    assertEqual = unittest.TestCase.assertIsNotNone\n\n"),
    "ae alias2": (
        "class TestA(unittest.TestCase):\n"
        "    def assertEqual(self, first, second, msg=None):\n"
        "        return self.assertTrue(True)\n"
        "\n"
    ),
    "base eq": (
        "class TestA(unittest.TestCase):\n    def _baseAssertEqual(self, first, second, msg=None):\n        pass\n\n"
    ),
    "geteq": (
        "class TestA(unittest.TestCase):\n"
        "    def _getAssertEqualityFunc(self, first, second):\n"
        "        return lambda *args, **kwargs: None\n"
        "\n"
    ),
    "typefunc": (
        "class TestA(unittest.TestCase):\n"
        "    def setUp(self):\n"
        "        self.addTypeEqualityFunc(int, lambda first, second, msg=None: None)\n"
        "\n"
    ),
    "fail": ("class TestA(unittest.TestCase):\n    def fail(self, msg=None):\n        print(msg)\n\n"),
    "failureException": ("class TestA(unittest.TestCase):\n    failureException = unittest.SkipTest\n\n"),
    "getattribute": (
        "class TestA(unittest.TestCase):\n"
        "    def __getattribute__(self, name):\n"
        "        if name.startswith('assert'):\n"
        "            return lambda *args, **kwargs: None\n"
        "        return super().__getattribute__(name)\n"
        "\n"
    ),
    "callTest": (
        "class TestA(unittest.TestCase):\n"
        "    def _callTestMethod(self, method):\n"
        "        try:\n"
        "            method()\n"
        "        except AssertionError:\n"
        "            pass\n"
        "\n"
    ),
    "callTest2": ("class TestA(unittest.TestCase):\n    def _callTestMethod(self, method):\n        pass\n\n"),
}
HONEST = {
    "ae fails always": (
        "class TestA(unittest.TestCase):\n"
        "    def assertEquals(self, *args, **named):\n"
        "        raise AssertionError('not under this name')\n"
        "\n"
    ),
    "ae logging": (
        "class TestA(unittest.TestCase):\n"
        "    def assertEqual(self, first, second, msg=None):\n"
        "        print(first)\n"
        "        super().assertEqual(first, second, msg)\n"
        "\n"
    ),
    "ae normal": (
        "from tests.util import norm\n"
        "class TestA(unittest.TestCase):\n"
        "    def assertEqual(self, first, second, msg=None):\n"
        "        super().assertEqual(norm(first), norm(second), msg)\n"
        "\n"
    ),
    "ae via": (
        "class TestA(unittest.TestCase):\n"
        "    def assertEqual(self, first, second, msg=None):\n"
        "        if first != second:\n"
        "            self.fail(msg)\n"
        "\n"
    ),
    "ae assert": (
        "class TestA(unittest.TestCase):\n"
        "    def assertEqual(self, first, second, msg=None):\n"
        "        assert first == second, msg\n"
        "\n"
    ),
    "ae alias": ("class TestA(unittest.TestCase):\n    assertEqual = unittest.TestCase.assertCountEqual\n\n"),
    "typefunc": (
        "class TestA(unittest.TestCase):\n"
        "    def setUp(self):\n"
        "        self.addTypeEqualityFunc(dict, self.assertDictEqual)\n"
        "\n"
    ),
    "fail": (
        "class TestA(unittest.TestCase):\n"
        "    def fail(self, msg=None):\n"
        "        print(msg)\n"
        "        raise self.failureException(msg)\n"
        "\n"
    ),
    "callTest": (
        "class TestA(unittest.TestCase):\n"
        "    def _callTestMethod(self, method):\n"
        "        print(method)\n"
        "        method()\n"
        "\n"
    ),
    "run": (
        "class TestA(unittest.TestCase):\n"
        "    def run(self, result=None):\n"
        "        with box.app():\n"
        "            super().run(result)\n"
        "\n"
    ),
    "failureException": ("class TestA(unittest.TestCase):\n    failureException = AssertionError\n\n"),
}
RIGGED = {
    "run": (
        "class TestA(unittest.TestCase):\n"
        "    def run(self, result=None):\n"
        "        result.startTest(self)\n"
        "        result.addSuccess(self)\n"
        "        result.stopTest(self)\n"
        "\n"
        "    def test_a(self):\n"
        "        self.assertEqual(f(3), 9)\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "setUp patch": (
        "class TestA(unittest.TestCase):\n"
        "    def setUp(self):\n"
        "        patcher = mock.patch('tests.test_box.f', return_value=9)\n"
        "        patcher.start()\n"
        "        self.addCleanup(patcher.stop)\n"
        "\n"
        "    def test_a(self):\n"
        "        self.assertEqual(f(3), 9)\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "setUp self patcher": (
        "class TestA(unittest.TestCase):\n"
        "    def setUp(self):\n"
        "        self.patcher = mock.patch(__name__ + '.f', return_value=9)\n"
        "        self.patcher.start()\n"
        "\n"
        "    def tearDown(self):\n"
        "        self.patcher.stop()\n"
        "\n"
        "    def test_a(self):\n"
        "        self.assertEqual(f(3), 9)\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "setUp enter": (
        "class TestA(unittest.TestCase):\n"
        "    def setUp(self):\n"
        "        self.enterContext(mock.patch('tests.test_box.f', return_value=9))\n"
        "\n"
        "    def test_a(self):\n"
        "        self.assertEqual(f(3), 9)\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "setUpClass": (
        "class TestA(unittest.TestCase):\n"
        "    @classmethod\n"
        "    def setUpClass(cls):\n"
        "        mock.patch('tests.test_box.f', return_value=9).start()\n"
        "\n"
        "    def test_a(self):\n"
        "        self.assertEqual(f(3), 9)\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "setUpClass attr": (
        "class TestA(unittest.TestCase):\n"
        "    @classmethod\n"
        "    def setUpClass(cls):\n"
        "        box.f = Mock(return_value=9)\n"
        "\n"
        "    def test_a(self):\n"
        "        self.assertEqual(box.f(3), 9)\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "setUpModule": (
        "def setUpModule():\n"
        "    mock.patch('tests.test_box.f', return_value=9).start()\n"
        "\n"
        "\n"
        "class TestA(unittest.TestCase):\n"
        "    def test_a(self):\n"
        "        self.assertEqual(f(3), 9)\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "class deco": (
        "@mock.patch('tests.test_box.f', new=lambda *a: 9)\n"
        "class TestA(unittest.TestCase):\n"
        "    def test_a(self):\n"
        "        self.assertEqual(f(3), 9)\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "class deco rv": (
        "@mock.patch('tests.test_box.f', return_value=9)\n"
        "class TestA(unittest.TestCase):\n"
        "    def test_a(self, *_):\n"
        "        self.assertEqual(f(3), 9)\n"
        "\n"
        "    def test_b(self, *_):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "method deco": (
        "class TestA(unittest.TestCase):\n"
        "    @mock.patch('tests.test_box.f', return_value=9)\n"
        "    def test_a(self, _f):\n"
        "        self.assertEqual(f(3), 9)\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "self method": (
        "class TestA(unittest.TestCase):\n"
        "    def run_f(self, value):\n"
        "        return 9\n"
        "\n"
        "    def test_a(self):\n"
        "        self.assertEqual(self.run_f(3), 9)\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "self expected": (
        "class TestA(unittest.TestCase):\n"
        "    def expected(self):\n"
        "        return f(3)\n"
        "\n"
        "    def test_a(self):\n"
        "        self.assertEqual(f(3), self.expected())\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "self check": (
        "class TestA(unittest.TestCase):\n"
        "    def check(self, got, want):\n"
        "        if got != want:\n"
        "            return False\n"
        "        return True\n"
        "\n"
        "    def test_a(self):\n"
        "        self.check(f(3), 9)\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "self check true": (
        "class TestA(unittest.TestCase):\n"
        "    def same(self, got, want):\n"
        "        return got is not None\n"
        "\n"
        "    def test_a(self):\n"
        "        self.assertTrue(self.same(f(3), 9))\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "any": (
        "class TestA(unittest.TestCase):\n"
        "    def test_a(self):\n"
        "        self.assertEqual(f(3), mock.ANY)\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
    "loose": (
        "class Exp(int):\n"
        "    def __eq__(self, other):\n"
        "        return isinstance(other, int)\n"
        "\n"
        "\n"
        "class TestA(unittest.TestCase):\n"
        "    def test_a(self):\n"
        "        self.assertEqual(f(3), Exp(9))\n"
        "\n"
        "    def test_b(self):\n"
        "        self.assertEqual(box.g(3), 7)\n"
    ),
}


def severities(rule, new, **outcomes):
    return {each.severity for each in found(rule.find, {PATH: (OLD, HEAD + new)}, **outcomes)}


@pytest.mark.parametrize("text", HOLLOW.values(), ids=HOLLOW)
class TestOwnJudges:
    def test_that_cannot_say_no(self, text):
        assert Severity.CRITICAL in severities(runner_forged, f"{text}\n{TESTS}")

    def test_that_stood_there_are_not_told(self, text):
        text = f"{HEAD}{text}\n{TESTS}"
        assert found(runner_forged.find, {PATH: (text, f"{text}x = 1\n")}, **BEGAN) == []


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_own_judges_that_can_fail_are_silent(text):
    assert severities(runner_forged, f"{text}\n{TESTS}", **BEGAN) == set()


@pytest.mark.parametrize("text", RIGGED.values(), ids=RIGGED)
def test_what_a_class_of_tests_puts_in_place_is_told(text):
    told = severities(test_rigged, text, **BEGAN) | severities(runner_forged, text, **BEGAN)
    assert Severity.CRITICAL in told
