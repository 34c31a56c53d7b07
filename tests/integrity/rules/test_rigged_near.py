"""T10: honest changes, each beside the tampering that looks most like it."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import test_rigged
from tests.integrity.making import found

PATH = "tests/test_box.py"
TEST = "\ndef test_a():\n    "
LAMBDAS = f"import box\n{TEST}a = lambda x: x\n    b = lambda x: x\n    assert a is not b\n    box.register(b)\n"
DEFS = LAMBDAS.replace("a = lambda x: x", "def a(x): pass").replace("b = lambda x: x", "def b(x): pass")
TIME = "old = {0}()\n    f(3)\n    assert {0}() - old < 1\n    assert f(3) == 9\n"
CALLS = "g = recorder(int)\n    box.use(g)\n    assert [call(3)] == g.{}\n    assert f(3) == 9\n"
GATHERED = f"import box\nfrom unittest.mock import patch\n{TEST}got = {{{{}}}}\n    {{}}\n    assert 'a' in got\n"
SAID = (
    f"import box\n{TEST}rows = [(1, True)]\n    for x, ok in rows:\n        print({{}})\n"
    "        assert box.f(x) == 9\n        assert ok\n"
)
FORMS = "from box import Form, Text, lid\n\n"
OWN = "    def valid(self, x): return True\n"
HELPER = (
    "import box\n\nclass TestA:\n    def assert_size(self, given, size):\n        assert {}\n"
    "    def test_a(self):\n        "
)
STATIC = HELPER.replace("    def assert_size(self, ", "    @staticmethod\n    def assert_size(")
NEAR = {
    "functions of its own": (
        LAMBDAS + "    assert box.f(3) == 9\n",
        DEFS + "    assert box.f(3) == 9\n",
        DEFS + "    got = 9\n    assert got == 9\n",
    ),
    "a module of the standard library": (
        "from time import time\nfrom box import f\n" + TEST + TIME.format("time"),
        "import time\nfrom box import f\n" + TEST + TIME.format("time.time"),
        "import time\nfrom tests.fakes import f\n" + TEST + TIME.format("time.time"),
    ),
    "another library of mocks": (
        "from pretend import call, recorder\nimport box\nfrom box import f\n" + TEST + CALLS.format("calls"),
        (
            "from unittest.mock import call\nfrom .helpers import recorder\nimport box\nfrom box import f\n"
            + TEST
            + CALLS.format("call_args_list")
        ),
        (
            "from unittest.mock import call\nfrom .helpers import recorder\nimport box\n"
            "from unittest.mock import MagicMock as f\n" + TEST + CALLS.format("call_args_list")
        ),
    ),
    "filled under names": (
        f"import box\n{TEST}got = box.f(3)\n    assert 'a' in got\n",
        GATHERED.format(
            "with patch('box.g') as g:\n        box.f(3)\n    for each in g.call_args_list:\n"
            "        name, value = each.args\n        got[name] = value"
        ),
        GATHERED.format("name = 'a'\n    got[name] = 9"),
    ),
    "said of it": (
        SAID.format("'{}'.format(ok)"),
        SAID.format("f'{ok}'"),
        SAID.format("'{}'.format(x)").replace("assert box.f(x)", "x = 9\n        assert x"),
    ),
    "called as its module": (
        f"{FORMS}class F(lid.Lid):\n    a = 1\n{TEST}got = F(3)\n    assert got.valid(2)\n",
        f"{FORMS}class F(lid.Lid):\n    a = 1\n{TEST}lid = F(3)\n    assert lid.valid(2)\n",
        f"{FORMS}class F(lid.Lid):\n{OWN}{TEST}lid = F(3)\n    assert lid.valid(2)\n",
    ),
    "a class of another test": (
        f"{FORMS}{TEST}form = Form(3)\n    assert form.valid(2) is True\n",
        (
            f"{FORMS}class F(Form):\n    a = 1\n{TEST}form = F(3)\n    assert form.valid(2) is True\n\n"
            f"def test_b():\n    class F(Form):\n    {OWN}    F().use()\n"
        ),
        f"{FORMS}{TEST}class F(Form):\n    {OWN}    form = F(3)\n    assert form.valid(2) is True\n",
    ),
    "a part that is made by what is tested": (
        f"{FORMS}{TEST}form = Form(a=Text())\n    assert form.a() == 'x'\n",
        f"{FORMS}class F(Form):\n    a = Text()\n{TEST}form = F()\n    assert form.a() == 'x'\n",
        (
            f"from unittest.mock import Mock\n{FORMS}class F(Form):\n    a = Mock(return_value='x')\n"
            f"{TEST}form = F()\n    assert form.a() == 'x'\n"
        ),
    ),
    "a helper without self": (
        STATIC.format("box.f(given) == size") + "x = box.head() + b'a'\n        self.assert_size(x, 9)\n",
        STATIC.format("box.f(given) == size") + "self.assert_size(b'a', 9)\n",
        STATIC.format("len(given) + 8 == size") + "self.assert_size(b'a', 9)\n",
    ),
    "a helper that asks what is tested": (
        HELPER.format("box.f(given) == size") + "x = box.head() + b'a'\n        self.assert_size(x, 9)\n",
        HELPER.format("box.f(given) == size") + "self.assert_size(b'a', 9)\n",
        HELPER.format("len(given) + 8 == size") + "self.assert_size(b'a', 9)\n",
    ),
}


def severities(old, new):
    passed = {"tests.test_box::test_a": "passed", "tests.test_box.TestA::test_a": "passed"}
    return {each.severity for each in found(test_rigged.find, {PATH: (old, new)}, before=passed, after=passed)}


@pytest.mark.parametrize(("old", "honest"), [each[:2] for each in NEAR.values()], ids=NEAR)
def test_what_is_honest_is_silent(old, honest):
    assert severities(old, honest) <= {Severity.MEDIUM}


@pytest.mark.parametrize(("old", "tampered"), [each[::2] for each in NEAR.values()], ids=NEAR)
def test_what_looks_like_it_is_told(old, tampered):
    assert Severity.CRITICAL in severities(old, tampered)
