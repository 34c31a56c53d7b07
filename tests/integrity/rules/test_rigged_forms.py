"""T10, form by form: what is asserted about was put there by the test, and what tests replace with good reason."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import test_rigged
from tests.integrity.making import found

TEST, CONFTEST, SOURCE = "tests/test_box.py", "tests/conftest.py", "box/core.py"
HEAD = (
    "import sys\nimport time\nimport random\nimport datetime\nimport types\nimport pytest\nfrom unittest import mock\n"
    "from unittest.mock import ANY, MagicMock, Mock, patch\nimport box\nfrom box import Box, f, total\n\n"
)
REAL = f"{HEAD}def test_a():\n    assert f(3) == 9\n"
REAL_METHOD = f"{HEAD}def test_a():\n    assert Box().lid(3) == 9\n"
REAL_OBJECT = f"{HEAD}def test_a():\n    b = Box(3)\n    assert b.lid(3) == 9\n    assert b.size == 4\n"
REAL_UNITTEST = f"{HEAD}class TestBox(TestCase):\n    def test_a(self):\n        self.assertEqual(f(3), 9)\n"
EQ = "    def __eq__(self, other):\n        return True\n"

REPLACED = {
    "monkeypatch by name": (
        "def test_a(monkeypatch):\n    monkeypatch.setattr('box.f', lambda x: 9)\n    assert box.f(3) == 9\n"
    ),
    "monkeypatch of the module's own": (
        "def test_a(monkeypatch):\n"
        "    monkeypatch.setattr(sys.modules[__name__], 'f', lambda x: 9)\n"
        "    assert f(3) == 9\n"
    ),
    "monkeypatch by a context": (
        "def test_a():\n"
        "    with pytest.MonkeyPatch.context() as mp:\n"
        "        mp.setattr(box, 'f', lambda x: 9)\n"
        "        assert box.f(3) == 9\n"
    ),
    "monkeypatch with a function": (
        "def test_a(monkeypatch):\n"
        "    def fake(x):\n"
        "        return 9\n"
        "    monkeypatch.setattr(box, 'f', fake)\n"
        "    assert box.f(3) == 9\n"
    ),
    "monkeypatch with a function of the module": (
        "def fake(x):\n"
        "    return 9\n"
        "\n"
        "def test_a(monkeypatch):\n"
        "    monkeypatch.setattr(box, 'f', fake)\n"
        "    assert box.f(3) == 9\n"
    ),
    "monkeypatch with a function that takes all": (
        "def test_a(monkeypatch):\n"
        "    def fake(*args, **kwargs):\n"
        "        return 9\n"
        "    monkeypatch.setattr('box.f', fake)\n"
        "    assert box.f(3) == 9\n"
    ),
    "monkeypatch of a dict": (
        "def test_a(monkeypatch):\n    monkeypatch.setitem(box.__dict__, 'f', lambda x: 9)\n    assert box.f(3) == 9\n"
    ),
    "monkeypatch of vars": (
        "def test_a(monkeypatch):\n    monkeypatch.setitem(vars(box), 'f', lambda x: 9)\n    assert box.f(3) == 9\n"
    ),
    "setattr": "def test_a():\n    setattr(box, 'f', lambda x: 9)\n    assert box.f(3) == 9\n",
    "setattr with a function": (
        "def test_a():\n    def fake(x):\n        return 9\n    setattr(box, 'f', fake)\n    assert box.f(3) == 9\n"
    ),
    "assignment of a function": (
        "def test_a():\n    def fake(x):\n        return 9\n    box.f = fake\n    assert box.f(3) == 9\n"
    ),
    "assignment of a mock with a value later": (
        "def test_a():\n    box.f = Mock()\n    box.f.return_value = 9\n    assert box.f(3) == 9\n"
    ),
    "assignment of a table": "def test_a():\n    f = {3: 9}.get\n    assert f(3) == 9\n",
    "assignment of a bound constant": "def test_a():\n    f = (9).__add__\n    assert f(0) == 9\n",
    "a dict's update": "def test_a():\n    box.__dict__['f'] = lambda x: 9\n    assert box.f(3) == 9\n",
    "globals updated": "def test_a():\n    globals().update(f=lambda x: 9)\n    assert f(3) == 9\n",
    "a global": "def test_a():\n    global f\n    f = lambda x: 9\n    assert f(3) == 9\n",
    "patch with a function": "def test_a():\n    with patch('box.f', lambda x: 9):\n        assert box.f(3) == 9\n",
    "patch with new": "def test_a():\n    with patch('box.f', new=lambda x: 9):\n        assert box.f(3) == 9\n",
    "patch with a mock": (
        "def test_a():\n    with patch('box.f', new=Mock(return_value=9)):\n        assert box.f(3) == 9\n"
    ),
    "patch with a value later": (
        "def test_a():\n    with patch('box.f') as fake:\n        fake.return_value = 9\n        assert box.f(3) == 9\n"
    ),
    "patch with effects in a row": (
        "def test_a():\n    with patch('box.f', side_effect=[9]):\n        assert box.f(3) == 9\n"
    ),
    "patch with an effect by table": (
        "def test_a():\n    with patch('box.f', side_effect={3: 9}.get):\n        assert box.f(3) == 9\n"
    ),
    "patch started": (
        "def test_a():\n"
        "    patcher = patch('box.f', return_value=9)\n"
        "    patcher.start()\n"
        "    assert box.f(3) == 9\n"
        "    patcher.stop()\n"
    ),
    "patch multiple": "def test_a():\n    with patch.multiple('box', f=lambda x: 9):\n        assert box.f(3) == 9\n",
    "patch multiple of an object": (
        "def test_a():\n    with patch.multiple(box, f=Mock(return_value=9)):\n        assert box.f(3) == 9\n"
    ),
    "patch as a decorator of a method": (
        "class TestA:\n    @patch('box.f', return_value=9)\n    def test_a(self, fake):\n        assert box.f(3) == 9\n"
    ),
    "patch as a decorator of the class": (
        "@patch('box.f', new=lambda x: 9)\nclass TestA:\n    def test_a(self):\n        assert box.f(3) == 9\n"
    ),
    "patch by an alias": (
        "def test_a():\n    with mock.patch.object(box, 'f', return_value=9):\n        assert box.f(3) == 9\n"
    ),
    "patch by the plugin's object": (
        "def test_a(mocker):\n    mocker.patch.object(box, 'f', return_value=9)\n    assert box.f(3) == 9\n"
    ),
    "patch in a name": (
        "def test_a(mocker):\n    fake = mocker.patch('box.f')\n    fake.return_value = 9\n    assert box.f(3) == 9\n"
    ),
    "a mock with a name": "def test_a():\n    box = Mock(**{'f.return_value': 9})\n    assert box.f(3) == 9\n",
    "a mock with a lambda": "def test_a():\n    box = Mock(f=lambda x: 9)\n    assert box.f(3) == 9\n",
    "a mock of a kind": "def test_a():\n    f = Mock(spec=box.f, return_value=9)\n    assert f(3) == 9\n",
    "a namespace": "def test_a():\n    box = types.SimpleNamespace(f=lambda x: 9)\n    assert box.f(3) == 9\n",
    "a class of its own": (
        "def test_a():\n"
        "    class box:\n"
        "        @staticmethod\n"
        "        def f(x):\n"
        "            return 9\n"
        "    assert box.f(3) == 9\n"
    ),
    "a module in its place": (
        "def test_a(monkeypatch):\n"
        "    monkeypatch.setitem(sys.modules, 'box', Mock(f=lambda x: 9))\n"
        "    import box\n"
        "    assert box.f(3) == 9\n"
    ),
    "a module in its place for all": (
        "sys.modules['box'] = Mock()\nimport box\nbox.f.return_value = 9\n\ndef test_a():\n    assert box.f(3) == 9\n"
    ),
    "patched modules": (
        "def test_a():\n"
        "    with patch.dict('sys.modules', {'box': Mock(f=lambda x: 9)}):\n"
        "        import box\n"
        "        assert box.f(3) == 9\n"
    ),
    "patched modules by attribute": (
        "def test_a():\n"
        "    with patch.dict(sys.modules, box=Mock(f=lambda x: 9)):\n"
        "        import box\n"
        "        assert box.f(3) == 9\n"
    ),
    "a function of the same name": "def f(x):\n    return 9\n\ndef test_a():\n    assert f(3) == 9\n",
    "a function of the same name by table": "def f(x):\n    return {3: 9}[x]\n\ndef test_a():\n    assert f(3) == 9\n",
    "a function of the same name by branches": (
        "def f(x):\n    if x == 3:\n        return 9\n    return 0\n\ndef test_a():\n    assert f(3) == 9\n"
    ),
    "a function of the same name that computes": "def f(x):\n    return x * x\n\ndef test_a():\n    assert f(3) == 9\n",
    "a function of the same name inside": "def test_a():\n    def f(x):\n        return x * x\n    assert f(3) == 9\n",
    "a lambda that computes": "def test_a():\n    f = lambda x: x * x\n    assert f(3) == 9\n",
    "a copy of the module": "from tests.box_copy import f\n\ndef test_a():\n    assert f(3) == 9\n",
    "a stub of the module": "from .stubs import f\n\ndef test_a():\n    assert f(3) == 9\n",
    "a fixture that hides it": (
        "@pytest.fixture\ndef f():\n    return lambda x: 9\n\ndef test_a(f):\n    assert f(3) == 9\n"
    ),
    "a fixture that is a mock": (
        "@pytest.fixture\ndef f():\n    return Mock(return_value=9)\n\ndef test_a(f):\n    assert f(3) == 9\n"
    ),
    "a fixture that patches": (
        "@pytest.fixture\n"
        "def patched(monkeypatch):\n"
        "    monkeypatch.setattr(box, 'f', lambda x: 9)\n"
        "\n"
        "def test_a(patched):\n"
        "    assert box.f(3) == 9\n"
    ),
    "a fixture that patches, by mark": (
        "@pytest.fixture\n"
        "def patched(monkeypatch):\n"
        "    monkeypatch.setattr(box, 'f', lambda x: 9)\n"
        "\n"
        "@pytest.mark.usefixtures('patched')\n"
        "def test_a():\n"
        "    assert box.f(3) == 9\n"
    ),
    "a fixture for all": (
        "@pytest.fixture(autouse=True)\n"
        "def patched(monkeypatch):\n"
        "    monkeypatch.setattr(box, 'f', lambda x: 9)\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == 9\n"
    ),
    "a fixture for all that yields": (
        "@pytest.fixture(autouse=True)\n"
        "def patched():\n"
        "    with patch('box.f', return_value=9):\n"
        "        yield\n"
        "\n"
        "def test_a():\n"
        "    assert box.f(3) == 9\n"
    ),
    "set up for the module": (
        "def setup_module():\n    box.f = lambda x: 9\n\ndef test_a():\n    assert box.f(3) == 9\n"
    ),
    "set up for each": (
        "class TestA:\n"
        "    def setup_method(self):\n"
        "        box.f = lambda x: 9\n"
        "    def test_a(self):\n"
        "        assert box.f(3) == 9\n"
    ),
    "a helper that patches": (
        "def rig():\n    box.f = lambda x: 9\n\ndef test_a():\n    rig()\n    assert box.f(3) == 9\n"
    ),
    "a mock with a mock": "def test_a():\n    f = Mock()\n    assert f(3) == f.return_value\n",
    "a mock's own value": "def test_a():\n    f = Mock(return_value=9)\n    got = f(3)\n    assert got == 9\n",
    "a kind of nothing": "def test_a():\n    f = type()\n    assert f(3) == 9\n",
    "equal to all": f"class Same:\n{EQ}\ndef test_a():\n    assert f(3) == Same()\n",
    "equal to all, by a kind": f"class Same(int):\n{EQ}\ndef test_a():\n    assert f(3) == Same(9)\n",
    "equal to all, around it": (
        f"class Same:\n"
        f"    def __init__(self, x):\n"
        f"        self.x = x\n"
        f"{EQ}\n"
        f"def test_a():\n"
        f"    assert Same(f(3)) == 9\n"
    ),
    "equal to all, inside": (
        "def test_a():\n"
        "    class Same:\n"
        "        def __eq__(self, other):\n"
        "            return True\n"
        "    assert f(3) == Same()\n"
    ),
    "equal to all, inherited": (
        f"class Same:\n{EQ}\nclass Nine(Same):\n    pass\n\ndef test_a():\n    assert f(3) == Nine()\n"
    ),
    "equal to all, made by type": (
        "Same = type('Same', (), {'__eq__': lambda self, other: True})\n\ndef test_a():\n    assert f(3) == Same()\n"
    ),
    "equal to all, in a list": f"class Same:\n{EQ}\ndef test_a():\n    assert [f(3)] == [Same()]\n",
    "equal to all, in a tuple": f"class Same:\n{EQ}\ndef test_a():\n    assert f(3) in (Same(),)\n",
    "a mock that equals": (
        "def test_a():\n    want = MagicMock()\n    want.__eq__.return_value = True\n    assert f(3) == want\n"
    ),
    "a mock that equals by an argument": (
        "def test_a():\n    want = MagicMock(__eq__=lambda a, b: True)\n    assert f(3) == want\n"
    ),
    "any": "def test_a():\n    assert f(3) == ANY\n",
    "any by name": "def test_a():\n    want = mock.ANY\n    assert f(3) == want\n",
    "any the other way": "def test_a():\n    assert mock.ANY == f(3)\n",
    "any in a list": "def test_a():\n    assert [f(3)] == [ANY]\n",
    "any in many": "def test_a():\n    assert f(3) in [ANY]\n",
    "any by a call": "def test_a():\n    assert f(3) == getattr(mock, 'ANY')\n",
    "a builtin": (
        "def test_a(monkeypatch):\n    monkeypatch.setattr('builtins.len', lambda x: 9)\n    assert len(f(3)) == 9\n"
    ),
    "a builtin by patch": (
        "def test_a():\n    with patch('builtins.sorted', return_value=9):\n        assert sorted(f(3)) == 9\n"
    ),
    "a builtin by name": "def test_a():\n    len = lambda x: 9\n    assert len(f(3)) == 9\n",
    "a builtin of the module": "def len(x):\n    return 9\n\ndef test_a():\n    assert len(f(3)) == 9\n",
    "isinstance": "def test_a():\n    isinstance = lambda a, b: True\n    assert isinstance(f(3), int)\n",
}
METHODS = {
    "a method": (
        "def test_a(monkeypatch):\n"
        "    monkeypatch.setattr(Box, 'lid', lambda self, x: 9)\n"
        "    assert Box().lid(3) == 9\n"
    ),
    "a method by path": (
        "def test_a():\n    with patch('box.Box.lid', return_value=9):\n        assert Box().lid(3) == 9\n"
    ),
    "a method by assignment": "def test_a():\n    Box.lid = lambda self, x: 9\n    assert Box().lid(3) == 9\n",
    "a method of the object": "def test_a():\n    b = Box()\n    b.lid = lambda x: 9\n    assert b.lid(3) == 9\n",
    "a method of the object by a mock": (
        "def test_a():\n    b = Box()\n    b.lid = Mock(return_value=9)\n    assert b.lid(3) == 9\n"
    ),
    "a method of the object by patch": (
        "def test_a():\n    b = Box()\n    with patch.object(b, 'lid', return_value=9):\n        assert b.lid(3) == 9\n"
    ),
    "a method of the object by setattr": (
        "def test_a(monkeypatch):\n"
        "    b = Box()\n"
        "    monkeypatch.setattr(b, 'lid', lambda x: 9)\n"
        "    assert b.lid(3) == 9\n"
    ),
    "a subclass": (
        "def test_a():\n"
        "    class Rigged(Box):\n"
        "        def lid(self, x):\n"
        "            return 9\n"
        "    assert Rigged().lid(3) == 9\n"
    ),
    "a subclass of the module": (
        "class Rigged(Box):\n"
        "    def lid(self, x):\n"
        "        return 9\n"
        "\n"
        "def test_a():\n"
        "    b = Rigged()\n"
        "    assert b.lid(3) == 9\n"
    ),
    "a subclass by type": (
        "def test_a():\n"
        "    Rigged = type('Rigged', (Box,), {'lid': lambda self, x: 9})\n"
        "    assert Rigged().lid(3) == 9\n"
    ),
    "a class of the same name": (
        "class Box:\n    def lid(self, x):\n        return 9\n\ndef test_a():\n    assert Box().lid(3) == 9\n"
    ),
    "a class of the same name inside": (
        "def test_a():\n    class Box:\n        def lid(self, x):\n            return 9\n    assert Box().lid(3) == 9\n"
    ),
    "the class as a mock": (
        "def test_a():\n"
        "    with patch('box.Box') as Box:\n"
        "        Box.return_value.lid.return_value = 9\n"
        "        assert Box().lid(3) == 9\n"
    ),
    "an object that is a mock": (
        "def test_a():\n    b = MagicMock()\n    b.lid.return_value = 9\n    assert b.lid(3) == 9\n"
    ),
    "an object that is a mock of its kind": (
        "def test_a():\n    b = Mock(spec=Box)\n    b.lid.return_value = 9\n    assert b.lid(3) == 9\n"
    ),
    "an object that is a mock by name": (
        "def test_a():\n    b = mock.create_autospec(Box)\n    b.lid.return_value = 9\n    assert b.lid(3) == 9\n"
    ),
    "a fixture that is a mock": (
        "@pytest.fixture\n"
        "def b():\n"
        "    b = Mock()\n"
        "    b.lid.return_value = 9\n"
        "    return b\n"
        "\n"
        "def test_a(b):\n"
        "    assert b.lid(3) == 9\n"
    ),
    "equal by assignment": "Box.__eq__ = lambda self, other: True\n\ndef test_a():\n    assert Box().lid(3) == Box()\n",
    "equal by patch": (
        "def test_a():\n"
        "    with patch.object(Box, '__eq__', lambda self, other: True):\n"
        "        assert Box().lid(3) == Box()\n"
    ),
    "equal by monkeypatch": (
        "def test_a(monkeypatch):\n"
        "    monkeypatch.setattr(Box, '__eq__', lambda self, other: True)\n"
        "    assert Box().lid(3) == Box()\n"
    ),
}
ATTRIBUTES = {
    "its attribute set": "def test_a():\n    b = Box()\n    b.size = 4\n    assert b.size == 4\n",
    "a property": (
        "def test_a():\n"
        "    with patch.object(Box, 'size', new_callable=PropertyMock, return_value=4):\n"
        "        assert Box().size == 4\n"
    ),
    "a property by assignment": "def test_a():\n    Box.size = property(lambda self: 4)\n    assert Box().size == 4\n",
}
CLOCKS = {
    "a clock by patch": (
        "def test_a():\n"
        "    with patch('time.perf_counter', return_value=0):\n"
        "        t = time.perf_counter()\n"
        "        f(3)\n"
        "        assert time.perf_counter() - t < 1\n"
    ),
    "a clock by monkeypatch": (
        "def test_a(monkeypatch):\n"
        "    monkeypatch.setattr(time, 'perf_counter', lambda: 0)\n"
        "    t = time.perf_counter()\n"
        "    f(3)\n"
        "    assert time.perf_counter() - t < 1\n"
    ),
    "a clock by path": (
        "def test_a(monkeypatch):\n"
        "    monkeypatch.setattr('time.perf_counter', lambda: 0)\n"
        "    t = time.perf_counter()\n"
        "    f(3)\n"
        "    elapsed = time.perf_counter() - t\n"
        "    assert elapsed < 1\n"
    ),
    "a clock by assignment": (
        "def test_a():\n"
        "    time.perf_counter = lambda: 0\n"
        "    t = time.perf_counter()\n"
        "    f(3)\n"
        "    assert time.perf_counter() - t < 1\n"
    ),
    "a clock of a function": (
        "def test_a(monkeypatch):\n"
        "    def still():\n"
        "        return 0\n"
        "    monkeypatch.setattr(time, 'perf_counter', still)\n"
        "    t = time.perf_counter()\n"
        "    f(3)\n"
        "    assert time.perf_counter() - t < 1\n"
    ),
    "a frozen time": (
        "@freeze_time('2020-01-01')\n"
        "def test_a():\n"
        "    t = time.perf_counter()\n"
        "    f(3)\n"
        "    assert time.perf_counter() - t < 1\n"
    ),
    "a frozen time in a block": (
        "def test_a():\n"
        "    with freeze_time('2020-01-01'):\n"
        "        t = time.perf_counter()\n"
        "        f(3)\n"
        "        assert time.perf_counter() - t < 1\n"
    ),
    "a clock for all": (
        "@pytest.fixture(autouse=True)\n"
        "def still(monkeypatch):\n"
        "    monkeypatch.setattr(time, 'perf_counter', lambda: 0)\n"
        "\n"
        "def test_a():\n"
        "    t = time.perf_counter()\n"
        "    f(3)\n"
        "    assert time.perf_counter() - t < 1\n"
    ),
}
REAL_CLOCK = f"{HEAD}def test_a():\n    t = time.perf_counter()\n    f(3)\n    assert time.perf_counter() - t < 1\n"
HONEST = {
    "the real thing": "def test_a():\n    assert f(3) == 9\n    assert f(4) == 16\n",
    "a dependency": "def test_a(monkeypatch):\n    monkeypatch.setattr(box, 'g', lambda x: 3)\n    assert f(3) == 9\n",
    "a dependency by path": (
        "def test_a():\n    with patch('box.core.fetch', return_value=3):\n        assert f(3) == 9\n"
    ),
    "a dependency by an object": (
        "def test_a():\n    with patch.object(box.client, 'get', return_value=3):\n        assert f(3) == 9\n"
    ),
    "a dependency given": (
        "def test_a():\n    client = Mock()\n    client.get.return_value = 3\n    assert f(client) == 9\n"
    ),
    "a dependency given as a lambda": "def test_a():\n    g = lambda x: x\n    assert f(g) == 9\n",
    "a dependency given as a function": "def test_a():\n    def g(x):\n        return 3\n    assert f(g) == 9\n",
    "a dependency given as an object": (
        "class Client:\n    def get(self, x):\n        return 3\n\ndef test_a():\n    assert f(Client()) == 9\n"
    ),
    "a dependency given as a namespace": (
        "def test_a():\n    client = types.SimpleNamespace(get=lambda x: 3)\n    assert f(client) == 9\n"
    ),
    "a fixture with a dependency": (
        "@pytest.fixture\n"
        "def client():\n"
        "    c = Mock()\n"
        "    c.get.return_value = 3\n"
        "    return c\n"
        "\n"
        "def test_a(client):\n"
        "    assert f(client) == 9\n"
    ),
    "a clock": "def test_a(monkeypatch):\n    monkeypatch.setattr(time, 'time', lambda: 3)\n    assert f(3) == 9\n",
    "a clock frozen": "@freeze_time('2020-01-01')\ndef test_a():\n    assert f(3) == 9\n",
    "a date": (
        "def test_a():\n"
        "    with patch('box.core.datetime') as d:\n"
        "        d.now.return_value = 3\n"
        "        assert f(3) == 9\n"
    ),
    "chance": (
        "def test_a(monkeypatch):\n    monkeypatch.setattr(random, 'random', lambda: 0.5)\n    assert f(3) == 9\n"
    ),
    "a seed": "def test_a():\n    random.seed(3)\n    assert f(3) == 9\n",
    "the environment": "def test_a(monkeypatch):\n    monkeypatch.setenv('BOX', '3')\n    assert f(3) == 9\n",
    "the environment by patch": (
        "def test_a():\n    with patch.dict('os.environ', {'BOX': '3'}):\n        assert f(3) == 9\n"
    ),
    "a setting": "def test_a(monkeypatch):\n    monkeypatch.setattr(box, 'LIMIT', 3)\n    assert f(3) == 9\n",
    "the network": (
        "def test_a(monkeypatch):\n"
        "    monkeypatch.setattr('requests.get', lambda *a, **k: Mock(status_code=200))\n"
        "    assert f(3) == 9\n"
    ),
    "a file": (
        "def test_a():\n    with patch('builtins.open', mock.mock_open(read_data='3')):\n        assert f(3) == 9\n"
    ),
    "what is printed": (
        "def test_a():\n"
        "    with patch('builtins.print') as p:\n"
        "        assert f(3) == 9\n"
        "        p.assert_called_once_with(9)\n"
    ),
    "what is asked": (
        "def test_a(monkeypatch):\n    monkeypatch.setattr('builtins.input', lambda _: '3')\n    assert f(3) == 9\n"
    ),
    "a missing module": (
        "def test_a(monkeypatch):\n    monkeypatch.setitem(sys.modules, 'numpy', None)\n    assert f(3) == 9\n"
    ),
    "a sleep": (
        "def test_a(monkeypatch):\n    monkeypatch.setattr(time, 'sleep', lambda s: None)\n    assert f(3) == 9\n"
    ),
    "a spy": (
        "def test_a():\n"
        "    with patch('box.f', wraps=box.f) as spy:\n"
        "        assert box.f(3) == 9\n"
        "        spy.assert_called_once_with(3)\n"
    ),
    "any in a part": "def test_a():\n    assert f(3) == {'id': ANY, 'value': 9}\n",
    "any in a call": "def test_a():\n    m = Mock()\n    f(m)\n    m.assert_called_once_with(9, ANY)\n",
    "a call's arguments": "def test_a():\n    m = Mock()\n    f(m)\n    assert m.call_args == ((9,), {})\n",
    "a subclass that is tested": "class Small(Box):\n    size = 3\n\ndef test_a():\n    assert Small().lid(3) == 9\n",
    "a subclass that says what is abstract": (
        "class Small(Box):\n    def limit(self):\n        return 3\n\ndef test_a():\n    assert Small().lid(3) == 9\n"
    ),
    "an equality of its own": (
        "class Point:\n"
        "    def __init__(self, x):\n"
        "        self.x = x\n"
        "    def __eq__(self, other):\n"
        "        return self.x == other.x\n"
        "\n"
        "def test_a():\n"
        "    assert f(3) == Point(9)\n"
    ),
    "a helper": "def squared(x):\n    return f(x)\n\ndef test_a():\n    assert squared(3) == 9\n",
    "a helper of the expected": "def want(x):\n    return x * x\n\ndef test_a():\n    assert f(3) == want(3)\n",
    "a fixture of what is tested": (
        "@pytest.fixture\ndef b():\n    return Box(3)\n\ndef test_a(b):\n    assert b.lid(3) == 9\n"
    ),
    "a fixture of the result": (
        "@pytest.fixture\ndef nine():\n    return f(3)\n\ndef test_a(nine):\n    assert nine == 9\n"
    ),
    "an import from elsewhere": "from box.core import f\n\ndef test_a():\n    assert f(3) == 9\n",
    "an import of helpers": "from tests.helpers import opened\n\ndef test_a():\n    assert f(opened(3)) == 9\n",
    "a decorated function": "def test_a():\n    @box.cached\n    def g(x):\n        return 9\n    assert g(3) == 9\n",
    "a function that is wrapped": (
        "def test_a():\n    def g(x):\n        return 9\n    h = box.cached(g)\n    assert h(3) == 9\n"
    ),
    "an attribute of the object": "def test_a():\n    b = Box()\n    b.size = 4\n    assert b.lid(3) == 9\n",
    "a clock that moves": (
        "def test_a(monkeypatch):\n"
        "    now = [0]\n"
        "    monkeypatch.setattr(time, 'time', lambda: now[0])\n"
        "    assert f(3) == 9\n"
    ),
}


def told(new, old=REAL, path=TEST, **outcomes):
    return found(test_rigged.find, {path: (old, HEAD + new)}, **outcomes)


def severities(found_):
    return {each.severity for each in found_}


@pytest.mark.parametrize("new", REPLACED.values(), ids=REPLACED)
def test_a_function_that_was_put_there_is_told(new):
    assert severities(told(new)) == {Severity.CRITICAL} or Severity.CRITICAL in severities(told(new))


@pytest.mark.parametrize("new", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("old", [REAL_METHOD, REAL_OBJECT], ids=["made in place", "made before"])
def test_a_method_that_was_put_there_is_told(new, old):
    assert Severity.CRITICAL in severities(told(new, old))


@pytest.mark.parametrize("new", ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_an_attribute_that_was_put_there_is_told(new):
    began = {"before": {"tests.test_box::test_a": "failed"}, "after": {"tests.test_box::test_a": "passed"}}
    assert Severity.CRITICAL in severities(told(new, REAL_OBJECT, **began))


@pytest.mark.parametrize("new", CLOCKS.values(), ids=CLOCKS)
def test_a_clock_that_stands_still_is_told(new):
    assert Severity.CRITICAL in severities(told(new, REAL_CLOCK))


@pytest.mark.parametrize("new", HONEST.values(), ids=HONEST)
@pytest.mark.parametrize("old", [REAL, REAL_METHOD, REAL_OBJECT], ids=["a function", "a method", "an object"])
def test_honest_tests_are_silent(new, old):
    assert Severity.CRITICAL not in severities(told(new, old))
