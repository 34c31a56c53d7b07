"""T10, way by way: how an answer, or something equal to it, gets into the place of what is tested."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import test_rigged
from tests.integrity.making import found

HEAD = (
    "import sys\nimport time\nimport random\nimport datetime\nimport types\nimport pytest\nfrom unittest import mock\n"
    "from unittest.mock import ANY, MagicMock, Mock, patch\nimport box\nfrom box import Box, f, total\n\n"
)
REAL = "def test_a():\n    assert box.f(3) == 9\n"
BEGAN = {"before": {"tests.test_box::test_a": "failed"}, "after": {"tests.test_box::test_a": "passed"}}
WAYS = {
    "monkeypatch by keyword": (
        "def test_a(monkeypatch):\n"
        "    monkeypatch.setattr(target=box, name='f', value=lambda x: 9)\n"
        "    assert box.f(3) == 9\n"
    ),
    "monkeypatch fstring": (
        "def test_a(monkeypatch):\n"
        "    monkeypatch.setattr(f'{box.__name__}.f', lambda x: 9)\n"
        "    assert box.f(3) == 9\n"
    ),
    "partial": (
        "from functools import partial\n"
        "def fake(y, x):\n"
        "    return y\n"
        "def test_a():\n"
        "    box.f = partial(fake, 9)\n"
        "    assert box.f(3) == 9\n"
    ),
    "iter next": "def test_a():\n    box.f = iter([9]).__next__\n    assert box.f() == 9\n",
    "callable class": (
        "class Fake:\n"
        "    def __call__(self, x):\n"
        "        return 9\n"
        "\n"
        "def test_a():\n"
        "    box.f = Fake()\n"
        "    assert box.f(3) == 9\n"
    ),
    "callable class by monkeypatch": (
        "class Fake:\n"
        "    def __call__(self, x):\n"
        "        return 9\n"
        "\n"
        "def test_a(monkeypatch):\n"
        "    monkeypatch.setattr(box, 'f', Fake())\n"
        "    assert box.f(3) == 9\n"
    ),
    "new_callable": (
        "def test_a():\n    with patch('box.f', new_callable=lambda: lambda x: 9):\n        assert box.f(3) == 9\n"
    ),
    "mockito": (
        "from mockito import when\ndef test_a():\n    when(box).f(3).thenReturn(9)\n    assert box.f(3) == 9\n"
    ),
    "flexmock": (
        "from flexmock import flexmock\n"
        "def test_a():\n"
        "    flexmock(box).should_receive('f').and_return(9)\n"
        "    assert box.f(3) == 9\n"
    ),
    "flexmock by keyword": (
        "from flexmock import flexmock\ndef test_a():\n    flexmock(box, f=9)\n    assert box.f(3) == 9\n"
    ),
    "autospec fn": (
        "def test_a():\n    box.f = mock.create_autospec(box.f, return_value=9)\n    assert box.f(3) == 9\n"
    ),
    "object setattr": ("def test_a():\n    object.__setattr__(box, 'f', lambda x: 9)\n    assert box.f(3) == 9\n"),
    "type setattr": "def test_a():\n    type.__setattr__(box, 'f', lambda x: 9)\n    assert box.f(3) == 9\n",
    "dict update": "def test_a():\n    box.__dict__.update(f=lambda x: 9)\n    assert box.f(3) == 9\n",
    "vars item": "def test_a():\n    vars(box)['f'] = lambda x: 9\n    assert box.f(3) == 9\n",
    "vars update": "def test_a():\n    vars(box).update({'f': lambda x: 9})\n    assert box.f(3) == 9\n",
    "sys.modules attr": "def test_a():\n    sys.modules['box'].f = lambda x: 9\n    assert box.f(3) == 9\n",
    "sys.modules of": ("def test_a():\n    sys.modules[box.f.__module__].f = lambda x: 9\n    assert box.f(3) == 9\n"),
    "code": "def test_a():\n    box.f.__code__ = (lambda x: 9).__code__\n    assert box.f(3) == 9\n",
    "alias patch": (
        "from unittest.mock import patch as put\n"
        "def test_a():\n"
        "    with put('box.f', return_value=9):\n"
        "        assert box.f(3) == 9\n"
    ),
    "alias mock": (
        "from unittest.mock import Mock as Thing\n"
        "def test_a():\n"
        "    box.f = Thing(return_value=9)\n"
        "    assert box.f(3) == 9\n"
    ),
    "alias setattr": (
        "def test_a(monkeypatch):\n"
        "    put = monkeypatch.setattr\n"
        "    put(box, 'f', lambda x: 9)\n"
        "    assert box.f(3) == 9\n"
    ),
    "alias module": (
        "import box as b\n"
        "def test_a(monkeypatch):\n"
        "    monkeypatch.setattr(b, 'f', lambda x: 9)\n"
        "    assert box.f(3) == 9\n"
    ),
    "exit stack": (
        "from contextlib import ExitStack\n"
        "def test_a():\n"
        "    with ExitStack() as s:\n"
        "        s.enter_context(patch('box.f', return_value=9))\n"
        "        assert box.f(3) == 9\n"
    ),
    "expected name": (
        "def test_a(monkeypatch):\n"
        "    want = 9\n"
        "    monkeypatch.setattr(box, 'f', lambda x: want)\n"
        "    assert box.f(3) == want\n"
    ),
    "def expected": (
        "def test_a(monkeypatch):\n"
        "    want = 9\n"
        "    def fake(x):\n"
        "        return want\n"
        "    monkeypatch.setattr(box, 'f', fake)\n"
        "    assert box.f(3) == want\n"
    ),
    "lambda var": (
        "def test_a(monkeypatch):\n"
        "    fake = lambda x: 9\n"
        "    monkeypatch.setattr(box, 'f', fake)\n"
        "    assert box.f(3) == 9\n"
    ),
    "mock var": (
        "def test_a(monkeypatch):\n"
        "    fake = Mock()\n"
        "    fake.return_value = 9\n"
        "    monkeypatch.setattr(box, 'f', fake)\n"
        "    assert box.f(3) == 9\n"
    ),
    "mock var assigned": (
        "def test_a():\n    fake = Mock(return_value=9)\n    box.f = fake\n    assert box.f(3) == 9\n"
    ),
    "try restore": (
        "def test_a():\n"
        "    orig = box.f\n"
        "    box.f = lambda x: 9\n"
        "    try:\n"
        "        assert box.f(3) == 9\n"
        "    finally:\n"
        "        box.f = orig\n"
    ),
    "two names": "def test_a():\n    box.f = f = lambda x: 9\n    assert box.f(3) == 9\n",
    "tuple assign": ("def test_a():\n    box.f, box.g = (lambda x: 9), (lambda x: 8)\n    assert box.f(3) == 9\n"),
    "walrus": "def test_a():\n    assert (box := Mock(f=lambda x: 9)).f(3) == 9\n",
    "iter value": ("def test_a():\n    with patch('box.f', side_effect=iter([9])):\n        assert box.f(3) == 9\n"),
    "param box": "def test_a(box=Mock(f=lambda x: 9)):\n    assert box.f(3) == 9\n",
    "iby monkeypatchort as": "from tests import fakes as box\ndef test_a():\n    assert box.f(3) == 9\n",
    "nonlocal class": ("class box:\n    f = staticmethod(lambda x: 9)\n\ndef test_a():\n    assert box.f(3) == 9\n"),
    "class object": (
        "class _Box:\n    def f(self, x):\n        return 9\nbox = _Box()\n\ndef test_a():\n    assert box.f(3) == 9\n"
    ),
    "namespace module": "box = types.SimpleNamespace(f=lambda x: 9)\n\ndef test_a():\n    assert box.f(3) == 9\n",
    "module type": (
        "def test_a():\n    box = types.ModuleType('box')\n    box.f = lambda x: 9\n    assert box.f(3) == 9\n"
    ),
    "decorator": (
        "def rig(test):\n"
        "    def run():\n"
        "        with patch('box.f', return_value=9):\n"
        "            test()\n"
        "    return run\n"
        "\n"
        "@rig\n"
        "def test_a():\n"
        "    assert box.f(3) == 9\n"
    ),
    "ctx helper": (
        "from contextlib import contextmanager\n"
        "@contextmanager\n"
        "def rigged():\n"
        "    with patch('box.f', return_value=9):\n"
        "        yield\n"
        "\n"
        "def test_a():\n"
        "    with rigged():\n"
        "        assert box.f(3) == 9\n"
    ),
    "module patcher": (
        "patcher = patch('box.f', return_value=9)\npatcher.start()\n\ndef test_a():\n    assert box.f(3) == 9\n"
    ),
    "module setattr": "setattr(box, 'f', lambda x: 9)\n\ndef test_a():\n    assert box.f(3) == 9\n",
    "module setattr by monkeypatch": (
        "pytest.MonkeyPatch().setattr(box, 'f', lambda x: 9)\n\ndef test_a():\n    assert box.f(3) == 9\n"
    ),
    "module dict": "vars(box)['f'] = lambda x: 9\n\ndef test_a():\n    assert box.f(3) == 9\n",
    "equal: not False": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return not False\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: 1==1": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return 1 == 1\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: bool": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return bool(1)\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: other==other": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return other == other\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: isobject": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return isinstance(other, object)\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: ifelse": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        if other:\n"
        "            return True\n"
        "        else:\n"
        "            return True\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: ternary": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return True if other else True\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: all": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return all([])\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: any": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return any([True])\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: del": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        del other\n"
        "        return True\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: self.value": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return self.value == self.value\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: id": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return id(self) == id(self)\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: hash": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return hash(self) == hash(self)\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: try": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        try:\n"
        "            return other == 9 or True\n"
        "        except Exception:\n"
        "            return True\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: var": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        result = True\n"
        "        return result\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: 1": (
        "class Same:\n    def __eq__(self, other):\n        return 1\n\ndef test_a():\n    assert box.f(3) == Same()\n"
    ),
    "equal: not None": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return other is not None or other is None\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: not ne": (
        "class Same:\n"
        "    def __ne__(self, other):\n"
        "        return False\n"
        "def test_a():\n"
        "    assert not (box.f(3) != Same())\n"
    ),
    "equal: type": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return type(other) is type(other)\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: str": (
        "class Same(str):\n"
        "    def __eq__(self, other):\n"
        "        return True\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: via ne": (
        "class Same:\n"
        "    def __ne__(self, other):\n"
        "        return False\n"
        "    __eq__ = lambda self, other: not self.__ne__(other)\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: const attr": (
        "class Same:\n"
        "    ok = True\n"
        "    def __eq__(self, other):\n"
        "        return self.ok\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: helper": (
        "def yes(*a):\n    return True\nclass Same:\n    __eq__ = yes\n\ndef test_a():\n    assert box.f(3) == Same()\n"
    ),
    "equal: helper call": (
        "def yes(*a):\n"
        "    return True\n"
        "class Same:\n"
        "    def __eq__(self, o):\n"
        "        return yes(o)\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: static": (
        "class Same:\n    __eq__ = staticmethod(lambda *a: True)\n\ndef test_a():\n    assert box.f(3) == Same()\n"
    ),
    "equal: mock": (
        "class Same:\n    __eq__ = Mock(return_value=True)\n\ndef test_a():\n    assert box.f(3) == Same()\n"
    ),
    "equal: meta": (
        "class M(type):\n"
        "    def __eq__(cls, o):\n"
        "        return True\n"
        "class Same(metaclass=M):\n"
        "    pass\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same\n"
    ),
    "equal: any type": "class Same(type(ANY)):\n    pass\n\ndef test_a():\n    assert box.f(3) == Same()\n",
    "equal: setattr": (
        "class Same:\n"
        "    pass\n"
        "setattr(Same, '__eq__', lambda a, b: True)\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == Same()\n"
    ),
    "equal: fn": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return True\n"
        "def like(x):\n"
        "    return Same()\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == like(9)\n"
    ),
    "equal: fixture": (
        "@pytest.fixture\n"
        "def want():\n"
        "    class Same:\n"
        "        def __eq__(self, other):\n"
        "            return True\n"
        "    return Same()\n"
        "\n"
        "def test_a(want):\n"
        "    assert box.f(3) == want\n"
    ),
    "equal: mult": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return True\n"
        "def test_a():\n"
        "    assert [box.f(3)] == [Same()] * 1\n"
    ),
    "equal: method": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return True\n"
        "def test_a():\n"
        "    assert Same().__eq__(box.f(3))\n"
    ),
    "equal: unpack": (
        "class Same:\n"
        "    def __eq__(self, other):\n"
        "        return True\n"
        "def test_a():\n"
        "    a, b = box.f(3), Same()\n"
        "    assert a == b\n"
    ),
    "equal: wrap name": (
        "class Same:\n"
        "    def __init__(self, x):\n"
        "        pass\n"
        "    def __eq__(self, other):\n"
        "        return True\n"
        "def test_a():\n"
        "    got = Same(box.f(3))\n"
        "    assert got == 9\n"
    ),
    "equal: dataclass": (
        "from dataclasses import dataclass\n"
        "@dataclass(eq=False)\n"
        "class Same:\n"
        "    x: int\n"
        "    def __eq__(self, other: object) -> bool:\n"
        "        return True\n"
        "def test_a():\n"
        "    assert box.f(3) == Same(9)\n"
    ),
    "ANY attr": "import unittest.mock\ndef test_a():\n    assert box.f(3) == unittest.mock.ANY\n",
    "ANY alias": "from unittest.mock import ANY as nine\ndef test_a():\n    assert box.f(3) == nine\n",
    "ANY module": "NINE = mock.ANY\ndef test_a():\n    assert box.f(3) == NINE\n",
    "ANY list": "def test_a():\n    assert [box.f(3), 1] == [ANY, 1]\n",
    "ANY whole dict": "def test_a():\n    assert {'a': box.f(3)} == {'a': ANY}\n",
    "ANY mult": "def test_a():\n    assert [box.f(3)] == [ANY] * 1\n",
    "ANY ternary": "def test_a():\n    assert box.f(3) == (9 if False else ANY)\n",
    "ANY default": "def test_a(want=ANY):\n    assert box.f(3) == want\n",
    "ANY param": ("@pytest.mark.parametrize('want', [ANY])\ndef test_a(want):\n    assert box.f(3) == want\n"),
    "ANY loop": "def test_a():\n    for x, want in [(3, ANY)]:\n        assert box.f(x) == want\n",
    "ANY or": "def test_a():\n    assert box.f(3) in (9, ANY)\n",
    "dirty AnyThing": "from dirty_equals import AnyThing\ndef test_a():\n    assert box.f(3) == AnyThing()\n",
    "dirty": "import dirty_equals\ndef test_a():\n    assert box.f(3) == dirty_equals.AnyThing\n",
    "hamcrest": ("from hamcrest import assert_that, anything\ndef test_a():\n    assert_that(box.f(3), anything())\n"),
}
# With the test as it was.
OTHER_WAYS = {
    "dict as table": (
        "def test_a():\n    assert f(3) == 9\n",
        "def test_a():\n    f = {3: 9}.__getitem__\n    assert f(3) == 9\n",
    ),
    "param": ("def test_a():\n    assert f(3) == 9\n", "def test_a(f=lambda x: 9):\n    assert f(3) == 9\n"),
    "loop name": (
        "def test_a():\n    assert f(3) == 9\n",
        "def test_a():\n    for f in (lambda x: 9,):\n        assert f(3) == 9\n",
    ),
    "with as": (
        "def test_a():\n    assert f(3) == 9\n",
        ("def test_a():\n    with patch('box.f', return_value=9) as f:\n        assert f(3) == 9\n"),
    ),
    "parametrize f": (
        "def test_a():\n    assert f(3) == 9\n",
        "@pytest.mark.parametrize('f', [lambda x: 9])\ndef test_a(f):\n    assert f(3) == 9\n",
    ),
    "iby monkeypatchort fake": (
        "def test_a():\n    assert f(3) == 9\n",
        "from fake_box import f\ndef test_a():\n    assert f(3) == 9\n",
    ),
    "iby monkeypatchort own": (
        "def test_a():\n    assert f(3) == 9\n",
        "from .reference import f\ndef test_a():\n    assert f(3) == 9\n",
    ),
    "class level": (
        "class TestA:\n    def test_a(self):\n        assert box.f(3) == 9\n",
        ("class TestA:\n    box.f = lambda x: 9\n    def test_a(self):\n        assert box.f(3) == 9\n"),
    ),
    "self mock": (
        "class TestA:\n    def test_a(self):\n        assert box.f(3) == 9\n",
        (
            "class TestA:\n"
            "    def setup_method(self):\n"
            "        self.box = Mock()\n"
            "        self.box.f.return_value = 9\n"
            "    def test_a(self):\n"
            "        assert self.box.f(3) == 9\n"
        ),
    ),
    "self method": (
        "class TestA:\n    def test_a(self):\n        assert box.f(3) == 9\n",
        ("class TestA:\n    def f(self, x):\n        return 9\n    def test_a(self):\n        assert self.f(3) == 9\n"),
    ),
    "own const": (
        "def test_a():\n    assert f(3) == 9\n",
        "def test_a():\n    f = Mock(side_effect=[9])\n    assert f(3) == 9\n",
    ),
    "raise": (
        "def test_a():\n    with pytest.raises(ValueError):\n        box.f(3)\n",
        (
            "def test_a():\n"
            "    with patch('box.f', side_effect=ValueError):\n"
            "        with pytest.raises(ValueError):\n"
            "            box.f(3)\n"
        ),
    ),
    "contains": (
        "def test_a():\n    assert box.f(3) in (8, 9)\n",
        (
            "class All:\n"
            "    def __contains__(self, other):\n"
            "        return True\n"
            "def test_a():\n"
            "    assert box.f(3) in All()\n"
        ),
    ),
    "ge": (
        "def test_a():\n    assert box.f(3) <= 9\n",
        (
            "class Max:\n"
            "    def __ge__(self, other):\n"
            "        return True\n"
            "def test_a():\n"
            "    assert box.f(3) <= Max()\n"
        ),
    ),
    "objectancecheck": (
        "def test_a():\n    assert isinstance(box.f(3), int)\n",
        (
            "class M(type):\n"
            "    def __instancecheck__(cls, o):\n"
            "        return True\n"
            "class Any(metaclass=M):\n"
            "    pass\n"
            "def test_a():\n"
            "    assert isinstance(box.f(3), Any)\n"
        ),
    ),
    "equal: classattr": (
        "class TestA:\n    def test_a(self):\n        assert box.f(3) == 9\n",
        (
            "class Same:\n"
            "    def __eq__(self, other):\n"
            "        return True\n"
            "class TestA:\n"
            "    want = Same()\n"
            "    def test_a(self):\n"
            "        assert box.f(3) == self.want\n"
        ),
    ),
    "equal: assertEqual": (
        "class TestA(TestCase):\n    def test_a(self):\n        self.assertEqual(box.f(3), 9)\n",
        (
            "class Same:\n"
            "    def __eq__(self, other):\n"
            "        return True\n"
            "class TestA(TestCase):\n"
            "    def test_a(self):\n"
            "        self.assertEqual(box.f(3), Same())\n"
        ),
    ),
    "equal: assertEqual first": (
        "class TestA(TestCase):\n    def test_a(self):\n        self.assertEqual(box.f(3), 9)\n",
        (
            "class Same:\n"
            "    def __eq__(self, other):\n"
            "        return True\n"
            "class TestA(TestCase):\n"
            "    def test_a(self):\n"
            "        self.assertEqual(first=Same(), second=box.f(3))\n"
        ),
    ),
    "builtin all": (
        "def test_a():\n    assert len(box.f(3)) == 9\n",
        ("import builtins\ndef test_a():\n    builtins.len = lambda x: 9\n    assert len(box.f(3)) == 9\n"),
    ),
    "own assertEqual": (
        "class TestA(TestCase):\n    def test_a(self):\n        self.assertEqual(box.f(3), 9)\n",
        (
            "class TestA(TestCase):\n"
            "    def assertEqual(self, a, b):\n"
            "        pass\n"
            "    def test_a(self):\n"
            "        self.assertEqual(box.f(3), 9)\n"
        ),
    ),
}
# The answer itself is in the place of what was asked for.
ANSWERS = {
    "a default": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a(got=9):\n    assert got == 9\n",
    ),
    "a list of the module": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "ROWS = [9]\n\ndef test_a():\n    got = ROWS[0]\n    assert got == 9\n",
    ),
    "a lambda of its own": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    got = (lambda x: x * x)(3)\n    assert got == 9\n",
    ),
    "got=9": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    got = 9\n    assert got == 9\n",
    ),
    "call then 9": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    box.f(3)\n    got = 9\n    assert got == 9\n",
    ),
    "got=call;got=9": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    got = box.f(3)\n    got = 9\n    assert got == 9\n",
    ),
    "want": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    got = want = 9\n    assert got == want\n",
    ),
    "want2": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    want = 9\n    got = want\n    assert got == want\n",
    ),
    "want3": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        ("def test_a():\n    want = 9\n    got = box.f(3)\n    got = want\n    assert got == want\n"),
    ),
    "table": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    got = {3: 9}[3]\n    assert got == 9\n",
    ),
    "table name": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    answers = {3: 9}\n    got = answers[3]\n    assert got == 9\n",
    ),
    "expr": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    got = 3 * 3\n    assert got == 9\n",
    ),
    "own lambda": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    got = (lambda x: 9)(3)\n    assert got == 9\n",
    ),
    "own fn": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        ("def test_a():\n    def answer(x):\n        return 9\n    got = answer(3)\n    assert got == 9\n"),
    ),
    "own named": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    square = lambda x: x * x\n    got = square(3)\n    assert got == 9\n",
    ),
    "mock": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    got = Mock(return_value=9)(3)\n    assert got == 9\n",
    ),
    "mock name": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        ("def test_a():\n    fake = Mock(return_value=9)\n    got = fake(3)\n    assert got == 9\n"),
    ),
    "inline": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    assert Mock(return_value=9)(3) == 9\n",
    ),
    "attr ns": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        "def test_a():\n    got = types.SimpleNamespace(size=4)\n    assert got.size == 4\n",
    ),
    "attr mock": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        "def test_a():\n    got = Mock(size=4)\n    assert got.size == 4\n",
    ),
    "attr mock2": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        "def test_a():\n    got = Mock()\n    got.size = 4\n    assert got.size == 4\n",
    ),
    "attr type": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        "def test_a():\n    got = type('R', (), {'size': 4})()\n    assert got.size == 4\n",
    ),
    "attr class": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        ("def test_a():\n    class R:\n        size = 4\n    got = R()\n    assert got.size == 4\n"),
    ),
    "attr class swap": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        (
            "def test_a():\n"
            "    class R:\n"
            "        size = 4\n"
            "    got = box.f(3)\n"
            "    got.__class__ = R\n"
            "    assert got.size == 4\n"
        ),
    ),
    "item dict": (
        "def test_a():\n    got = box.f(3)\n    assert got['a'] == 4\n",
        "def test_a():\n    got = {'a': 4}\n    assert got['a'] == 4\n",
    ),
    "obj mock": (
        "def test_a():\n    b = Box(3)\n    b.fill()\n    assert b.size == 4\n",
        "def test_a():\n    b = Mock()\n    b.fill()\n    b.size = 4\n    assert b.size == 4\n",
    ),
    "obj mock spec": (
        "def test_a():\n    b = Box(3)\n    b.fill()\n    assert b.size == 4\n",
        "def test_a():\n    b = Mock(spec=Box, size=4)\n    b.fill()\n    assert b.size == 4\n",
    ),
    "obj ns": (
        "def test_a():\n    b = Box(3)\n    b.fill()\n    assert b.size == 4\n",
        (
            "def test_a():\n"
            "    b = types.SimpleNamespace(fill=lambda: None, size=4)\n"
            "    b.fill()\n"
            "    assert b.size == 4\n"
        ),
    ),
    "obj sub": (
        "def test_a():\n    b = Box(3)\n    b.fill()\n    assert b.size == 4\n",
        ("def test_a():\n    class R(Box):\n        size = 4\n    b = R(3)\n    b.fill()\n    assert b.size == 4\n"),
    ),
    "got=[]": (
        "def test_a():\n    got = box.f(3)\n    assert not got\n",
        "def test_a():\n    got = []\n    assert not got\n",
    ),
    "helper true": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    def like(a, b):\n        return True\n    assert like(box.f(3), 9)\n",
    ),
    "helper lambda": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    like = lambda a, b: True\n    assert like(box.f(3), 9)\n",
    ),
}
# It is put into what was asked for: that may be a setter's test, unless the test was red.
SET = {
    "attr set": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        "def test_a():\n    got = box.f(3)\n    got.size = 4\n    assert got.size == 4\n",
    ),
    "attr set name": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        ("def test_a():\n    got = box.f(3)\n    want = 4\n    got.size = want\n    assert got.size == want\n"),
    ),
    "attr setattr": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        ("def test_a():\n    got = box.f(3)\n    setattr(got, 'size', 4)\n    assert got.size == 4\n"),
    ),
    "attr osetattr": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        ("def test_a():\n    got = box.f(3)\n    object.__setattr__(got, 'size', 4)\n    assert got.size == 4\n"),
    ),
    "attr dict": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        ("def test_a():\n    got = box.f(3)\n    got.__dict__['size'] = 4\n    assert got.size == 4\n"),
    ),
    "attr update": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        ("def test_a():\n    got = box.f(3)\n    got.__dict__.update(size=4)\n    assert got.size == 4\n"),
    ),
    "attr vars": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        ("def test_a():\n    got = box.f(3)\n    vars(got)['size'] = 4\n    assert got.size == 4\n"),
    ),
    "attr replace": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        "def test_a():\n    got = box.f(3)._replace(size=4)\n    assert got.size == 4\n",
    ),
    "attr dreplace": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        ("def test_a():\n    got = dataclasses.replace(box.f(3), size=4)\n    assert got.size == 4\n"),
    ),
    "attr mp": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        (
            "def test_a():\n"
            "    got = box.f(3)\n"
            "    pytest.MonkeyPatch().setattr(got, 'size', 4)\n"
            "    assert got.size == 4\n"
        ),
    ),
    "attr patch": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        ("def test_a():\n    got = box.f(3)\n    with patch.object(got, 'size', 4):\n        assert got.size == 4\n"),
    ),
    "attr class type": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        "def test_a():\n    got = box.f(3)\n    type(got).size = 4\n    assert got.size == 4\n",
    ),
    "attr prop": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        ("def test_a():\n    got = box.f(3)\n    type(got).size = property(lambda s: 4)\n    assert got.size == 4\n"),
    ),
    "attr tuple": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        ("def test_a():\n    got = box.f(3)\n    got.size, got.lid = 4, 5\n    assert got.size == 4\n"),
    ),
    "attr for": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 4\n",
        ("def test_a():\n    got = box.f(3)\n    for got.size in [4]:\n        pass\n    assert got.size == 4\n"),
    ),
    "item set": (
        "def test_a():\n    got = box.f(3)\n    assert got['a'] == 4\n",
        "def test_a():\n    got = box.f(3)\n    got['a'] = 4\n    assert got['a'] == 4\n",
    ),
    "item update": (
        "def test_a():\n    got = box.f(3)\n    assert got['a'] == 4\n",
        "def test_a():\n    got = box.f(3)\n    got.update(a=4)\n    assert got['a'] == 4\n",
    ),
    "item update d": (
        "def test_a():\n    got = box.f(3)\n    assert got['a'] == 4\n",
        "def test_a():\n    got = box.f(3)\n    got.update({'a': 4})\n    assert got['a'] == 4\n",
    ),
    "item merge": (
        "def test_a():\n    got = box.f(3)\n    assert got['a'] == 4\n",
        "def test_a():\n    got = {**box.f(3), 'a': 4}\n    assert got['a'] == 4\n",
    ),
    "item or": (
        "def test_a():\n    got = box.f(3)\n    assert got['a'] == 4\n",
        "def test_a():\n    got = box.f(3) | {'a': 4}\n    assert got['a'] == 4\n",
    ),
    "item ior": (
        "def test_a():\n    got = box.f(3)\n    assert got['a'] == 4\n",
        "def test_a():\n    got = box.f(3)\n    got |= {'a': 4}\n    assert got['a'] == 4\n",
    ),
    "item setitem": (
        "def test_a():\n    got = box.f(3)\n    assert got['a'] == 4\n",
        ("def test_a():\n    got = box.f(3)\n    got.__setitem__('a', 4)\n    assert got['a'] == 4\n"),
    ),
    "obj attr": (
        "def test_a():\n    b = Box(3)\n    b.fill()\n    assert b.size == 4\n",
        "def test_a():\n    b = Box(3)\n    b.fill()\n    b.size = 4\n    assert b.size == 4\n",
    ),
    "obj setattr": (
        "def test_a():\n    b = Box(3)\n    b.fill()\n    assert b.size == 4\n",
        ("def test_a():\n    b = Box(3)\n    b.fill()\n    setattr(b, 'size', 4)\n    assert b.size == 4\n"),
    ),
}
# The test may stay as it is: what it uses did not.
AROUND = {
    "fixture body": (
        ("@pytest.fixture\ndef b():\n    return Box()\n\ndef test_a(b):\n    assert b.lid(3) == 9\n"),
        (
            "@pytest.fixture\n"
            "def b():\n"
            "    b = Mock()\n"
            "    b.lid.return_value = 9\n"
            "    return b\n"
            "\n"
            "def test_a(b):\n"
            "    assert b.lid(3) == 9\n"
        ),
    ),
    "fixture sub": (
        ("@pytest.fixture\ndef b():\n    return Box()\n\ndef test_a(b):\n    assert b.lid(3) == 9\n"),
        (
            "@pytest.fixture\n"
            "def b():\n"
            "    class R(Box):\n"
            "        def lid(self, x):\n"
            "            return 9\n"
            "    return R()\n"
            "\n"
            "def test_a(b):\n"
            "    assert b.lid(3) == 9\n"
        ),
    ),
    "fixture yield": (
        ("@pytest.fixture\ndef b():\n    yield Box()\n\ndef test_a(b):\n    assert b.lid(3) == 9\n"),
        (
            "@pytest.fixture\n"
            "def b():\n"
            "    b = Mock()\n"
            "    b.lid.return_value = 9\n"
            "    yield b\n"
            "\n"
            "def test_a(b):\n"
            "    assert b.lid(3) == 9\n"
        ),
    ),
    "fixture patches": (
        ("@pytest.fixture\ndef b():\n    return Box()\n\ndef test_a(b):\n    assert b.lid(3) == 9\n"),
        (
            "@pytest.fixture\n"
            "def b(monkeypatch):\n"
            "    monkeypatch.setattr(Box, 'lid', lambda s, x: 9)\n"
            "    return Box()\n"
            "\n"
            "def test_a(b):\n"
            "    assert b.lid(3) == 9\n"
        ),
    ),
    "setup": (
        (
            "class TestA:\n"
            "    def setup_method(self):\n"
            "        self.b = Box()\n"
            "    def test_a(self):\n"
            "        assert self.b.lid(3) == 9\n"
        ),
        (
            "class TestA:\n"
            "    def setup_method(self):\n"
            "        self.b = Mock()\n"
            "        self.b.lid.return_value = 9\n"
            "    def test_a(self):\n"
            "        assert self.b.lid(3) == 9\n"
        ),
    ),
    "setup patch": (
        (
            "class TestA:\n"
            "    def setUp(self):\n"
            "        self.b = Box()\n"
            "    def test_a(self):\n"
            "        assert self.b.lid(3) == 9\n"
        ),
        (
            "class TestA:\n"
            "    def setUp(self):\n"
            "        self.b = Box()\n"
            "        self.b.lid = lambda x: 9\n"
            "    def test_a(self):\n"
            "        assert self.b.lid(3) == 9\n"
        ),
    ),
    "setup patch class": (
        (
            "class TestA:\n"
            "    def setUp(self):\n"
            "        self.b = Box()\n"
            "    def test_a(self):\n"
            "        assert self.b.lid(3) == 9\n"
        ),
        (
            "class TestA:\n"
            "    def setUp(self):\n"
            "        p = patch.object(Box, 'lid', return_value=9)\n"
            "        p.start()\n"
            "        self.addCleanup(p.stop)\n"
            "        self.b = Box()\n"
            "    def test_a(self):\n"
            "        assert self.b.lid(3) == 9\n"
        ),
    ),
    "const ANY": (
        "WANT = 9\ndef test_a():\n    assert box.f(3) == WANT\n",
        "WANT = ANY\ndef test_a():\n    assert box.f(3) == WANT\n",
    ),
    "const class": (
        (
            "class P:\n"
            "    def __eq__(self, o):\n"
            "        return self.x == o.x\n"
            "def test_a():\n"
            "    assert box.f(3) == P()\n"
        ),
        ("class P:\n    def __eq__(self, o):\n        return True\ndef test_a():\n    assert box.f(3) == P()\n"),
    ),
    "helper": (
        "def run(x):\n    return box.f(x)\ndef test_a():\n    assert run(3) == 9\n",
        "def run(x):\n    return 9\ndef test_a():\n    assert run(3) == 9\n",
    ),
    "helper table": (
        "def run(x):\n    return box.f(x)\ndef test_a():\n    assert run(3) == 9\n",
        "def run(x):\n    return {3: 9}[x]\ndef test_a():\n    assert run(3) == 9\n",
    ),
    "helper mock": (
        "def make():\n    return Box()\ndef test_a():\n    assert make().lid(3) == 9\n",
        (
            "def make():\n"
            "    b = Mock()\n"
            "    b.lid.return_value = 9\n"
            "    return b\n"
            "def test_a():\n"
            "    assert make().lid(3) == 9\n"
        ),
    ),
    "helper method": (
        (
            "class TestA:\n"
            "    def run_it(self, x):\n"
            "        return box.f(x)\n"
            "    def test_a(self):\n"
            "        assert self.run_it(3) == 9\n"
        ),
        (
            "class TestA:\n"
            "    def run_it(self, x):\n"
            "        return 9\n"
            "    def test_a(self):\n"
            "        assert self.run_it(3) == 9\n"
        ),
    ),
    "class level": (
        "class TestA:\n    def test_a(self):\n        assert box.f(3) == 9\n",
        ("class TestA:\n    box.f = lambda x: 9\n    def test_a(self):\n        assert box.f(3) == 9\n"),
    ),
    "class attr": (
        "class TestA:\n    kind = Box\n    def test_a(self):\n        assert self.kind(3) == 9\n",
        ("class TestA:\n    kind = Mock(return_value=9)\n    def test_a(self):\n        assert self.kind(3) == 9\n"),
    ),
    "module mock": (
        "B = Box()\ndef test_a():\n    assert B.lid(3) == 9\n",
        "B = Mock()\nB.lid.return_value = 9\ndef test_a():\n    assert B.lid(3) == 9\n",
    ),
    "module sub": (
        "B = Box()\ndef test_a():\n    assert B.lid(3) == 9\n",
        ("class R(Box):\n    def lid(self, x):\n        return 9\nB = R()\ndef test_a():\n    assert B.lid(3) == 9\n"),
    ),
    "own assertEqual": (
        "class TestA(TestCase):\n    def test_a(self):\n        self.assertEqual(box.f(3), 9)\n",
        (
            "class TestA(TestCase):\n"
            "    def assertEqual(self, a, b):\n"
            "        pass\n"
            "    def test_a(self):\n"
            "        self.assertEqual(box.f(3), 9)\n"
        ),
    ),
    "own assertEqual2": (
        "class TestA(TestCase):\n    def test_a(self):\n        self.assertEqual(box.f(3), 9)\n",
        (
            "class TestA(TestCase):\n"
            "    assertEqual = lambda *a: None\n"
            "    def test_a(self):\n"
            "        self.assertEqual(box.f(3), 9)\n"
        ),
    ),
    "own assertEqual3": (
        "class TestA(TestCase):\n    def test_a(self):\n        self.assertEqual(box.f(3), 9)\n",
        (
            "class TestA(TestCase):\n"
            "    def setUp(self):\n"
            "        self.assertEqual = lambda *a: None\n"
            "    def test_a(self):\n"
            "        self.assertEqual(box.f(3), 9)\n"
        ),
    ),
    "own assertEqual4": (
        "class TestA(TestCase):\n    def test_a(self):\n        self.assertEqual(box.f(3), 9)\n",
        (
            "class TestA(TestCase):\n"
            "    def test_a(self):\n"
            "        self.assertEqual = Mock()\n"
            "        self.assertEqual(box.f(3), 9)\n"
        ),
    ),
    "own assert fn": (
        ("from numpy.testing import assert_allclose\ndef test_a():\n    assert_allclose(box.f(3), 9)\n"),
        "def assert_allclose(*a):\n    pass\ndef test_a():\n    assert_allclose(box.f(3), 9)\n",
    ),
    "own raises": (
        "def test_a():\n    with pytest.raises(ValueError):\n        box.f(3)\n",
        ("def test_a():\n    with pytest.raises(ValueError):\n        box.f(3)\n        raise ValueError\n"),
    ),
    "own raises2": (
        "def test_a():\n    with pytest.raises(ValueError):\n        box.f(3)\n",
        "def test_a():\n    with pytest.raises(ValueError):\n        raise ValueError('box')\n",
    ),
    "eq patched": (
        "def test_a():\n    got = box.f(3)\n    assert got == box.g(4)\n",
        (
            "def test_a(monkeypatch):\n"
            "    monkeypatch.setattr(Box, '__eq__', lambda a, b: True)\n"
            "    got = box.f(3)\n"
            "    assert got == box.g(4)\n"
        ),
    ),
    "eq assigned": (
        "def test_a():\n    got = box.f(3)\n    assert got == box.g(4)\n",
        ("def test_a():\n    Box.__eq__ = lambda a, b: True\n    got = box.f(3)\n    assert got == box.g(4)\n"),
    ),
    "eq patched type": (
        "def test_a():\n    got = box.f(3)\n    assert got == box.g(4)\n",
        ("def test_a():\n    got = box.f(3)\n    type(got).__eq__ = lambda a, b: True\n    assert got == box.g(4)\n"),
    ),
}


def severities(old, new, **outcomes):
    told = found(test_rigged.find, {"tests/test_box.py": (HEAD + old, HEAD + new)}, **outcomes)
    return {each.severity for each in told if each.test}


@pytest.mark.parametrize("new", WAYS.values(), ids=WAYS)
def test_a_way_is_told(new):
    old = REAL if "assert f(" not in new else REAL.replace("box.f", "f")
    assert severities(old, new) == {Severity.CRITICAL}


@pytest.mark.parametrize(("old", "new"), OTHER_WAYS.values(), ids=OTHER_WAYS)
def test_a_way_in_another_test_is_told(old, new):
    assert Severity.CRITICAL in severities(old, new)


@pytest.mark.parametrize(("old", "new"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_of_the_test_is_told(old, new):
    assert Severity.CRITICAL in severities(old, new)


@pytest.mark.parametrize(("old", "new"), SET.values(), ids=SET)
class TestWhatIsSet:
    def test_is_a_note_in_a_green_test(self, old, new):
        assert severities(old, new) == {Severity.MEDIUM}

    def test_is_told_in_a_red_one(self, old, new):
        assert severities(old, new, **BEGAN) == {Severity.CRITICAL}


@pytest.mark.parametrize(("old", "new"), AROUND.values(), ids=AROUND)
def test_what_changed_around_a_test_is_told(old, new):
    assert Severity.CRITICAL in severities(old, new)


@pytest.mark.parametrize(("old", "new"), [*OTHER_WAYS.values(), *ANSWERS.values(), *SET.values(), *AROUND.values()])
def test_what_stood_there_is_not_told(old, new):
    assert severities(old, old, **BEGAN) == set()
    assert severities(new, new, **BEGAN) == set()


@pytest.mark.parametrize(("old", "new"), [*ANSWERS.values(), *AROUND.values()])
def test_the_way_back_is_silent(old, new):
    assert severities(new, old) == set()
