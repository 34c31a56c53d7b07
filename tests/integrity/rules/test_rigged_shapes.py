"""T10, shape by shape: however a test asks what a function returns, it is told where that function was replaced."""

from textwrap import indent

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import test_rigged
from tests.integrity.making import found

HEAD = (
    "import sys\nimport time\nimport random\nimport datetime\nimport types\nimport pytest\nfrom unittest import mock\n"
    "from unittest.mock import ANY, MagicMock, Mock, patch\nimport box\nfrom box import Box, f, total\n\n"
)
SHAPES = {
    "as it is": "assert box.f(3) == 9\n",
    "by name": "got = box.f(3)\nassert got == 9\n",
    "an item": "assert box.f(3)[0] == 9\n",
    "an attribute": "assert box.f(3).size == 9\n",
    "a method of it": "assert box.f(3).strip() == '9'\n",
    "a slice": "assert box.f(3)[:2] == '9'\n",
    "as text": "assert str(box.f(3)) == '9'\n",
    "as repr": "assert repr(box.f(3)) == '9'\n",
    "as json": "assert dumps(box.f(3)) == '9'\n",
    "summed": "assert sum(box.f(3)) == 9\n",
    "in a list": "assert [box.f(x) for x in (1, 2)] == [1, 4]\n",
    "by map": "assert list(map(box.f, (1, 2))) == [1, 4]\n",
    "unpacked": "a, b = box.f(3)\nassert a == 9\n",
    "in a loop": "for x, y in ((1, 1), (3, 9)):\n    assert box.f(x) == y\n",
    "in a loop by name": "for x, y in ((1, 1), (3, 9)):\n    got = box.f(x)\n    assert got == y\n",
    "looped over": "for x in box.f(3):\n    assert x == 9\n",
    "a truth": "assert box.f(3)\n",
    "no truth": "assert not box.f(3)\n",
    "nothing": "assert box.f(3) is None\n",
    "what is in it": "assert 9 in box.f(3)\n",
    "in two steps": "got = box.f(3)\nsize = got.size\nassert size == 9\n",
    "in two steps by a method": "got = box.f(3)\ntext = got.strip()\nassert text == '9'\n",
    "an attribute by name": "got = box.f(3)\nassert got.size == 9\n",
    "an item by name": "got = box.f(3)\nassert got['a'] == 9\n",
    "a method by name": "got = box.f(3)\nassert got.lid(4) == 9\n",
    "twice by one name": "got = box.f(3)\nassert got == 9\ngot = box.f(4)\nassert got == 16\n",
    "all of them": "assert all(box.f(x) for x in (1, 2))\n",
    "in a mapping": "got = {k: box.f(k) for k in (1, 2)}\nassert got == {1: 1, 2: 4}\n",
    "nearly": "assert box.f(3) == pytest.approx(9)\n",
    "added to": "assert box.f(3) + 1 == 10\n",
    "formatted": "assert f'{box.f(3)}' == '9'\n",
    "its distance": "assert abs(box.f(3) - 9) < 0.1\n",
    "named on the way": "assert (got := box.f(3)) == 9\n",
    "opened": "with box.f(3) as got:\n    assert got == 9\n",
    "an attribute of what was opened": "with box.f(3) as got:\n    assert got.size == 9\n",
    "and more": "assert box.f(3) == 9 and box.f(4) == 16\n",
    "by a library": "np.testing.assert_allclose(box.f(3), 9)\n",
    "side by side": "assert (box.f(3), box.f(4)) == (9, 16)\n",
    "of another": "assert box.f(box.g(3)) == 9\n",
    "tried": "try:\n    got = box.f(3)\nexcept ValueError:\n    got = None\nassert got == 9\n",
    "that raises": "with pytest.raises(ValueError):\n    box.f(3)\n",
    "its kind": "assert isinstance(box.f(3), int)\n",
    "its kind by name": "got = box.f(3)\nassert isinstance(got, int)\n",
    "annotated": "got: int = box.f(3)\nassert got == 9\n",
    "gathered": "got = []\nfor x in (1, 2):\n    got.append(box.f(x))\nassert got == [1, 4]\n",
    "chained": "assert box.f(3).lid().size == 9\n",
    "by keyword": "assert box.f(x=3) == 9\n",
}


def inside(body, depth=4):
    return indent(body, " " * depth)


WAYS = {
    "patched": lambda body: f"def test_a():\n    with patch('box.f', return_value=9):\n{inside(body, 8)}",
    "monkeypatched": lambda body: (
        f"def test_a(monkeypatch):\n    monkeypatch.setattr(box, 'f', lambda *a, **k: 9)\n{inside(body)}"
    ),
    "assigned": lambda body: f"def test_a():\n    box.f = Mock(return_value=9)\n{inside(body)}",
    "a mock of all": lambda body: f"def test_a():\n    box = Mock()\n    box.f.return_value = 9\n{inside(body)}",
    "a fixture": lambda body: (
        f"@pytest.fixture\ndef box():\n    return Mock(f=lambda x: 9)\n\ndef test_a(box):\n{inside(body)}"
    ),
}
HONEST = {
    "another function": lambda body: f"def test_a():\n    with patch('box.g', return_value=9):\n{inside(body, 8)}",
    "a clock": lambda body: (
        f"def test_a(monkeypatch):\n    monkeypatch.setattr(time, 'time', lambda: 9)\n{inside(body)}"
    ),
    "a fixture": lambda body: f"@pytest.fixture\ndef crate():\n    return Mock()\n\ndef test_a(crate):\n{inside(body)}",
    "a setting": lambda body: f"def test_a(monkeypatch):\n    monkeypatch.setattr(box, 'LIMIT', 9)\n{inside(body)}",
}


def told(old, new):
    return {each.severity for each in found(test_rigged.find, {"tests/test_box.py": (HEAD + old, HEAD + new)})}


@pytest.mark.parametrize("body", SHAPES.values(), ids=SHAPES)
class TestAShape:
    @pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
    def test_of_what_was_replaced_is_told(self, body, way):
        assert Severity.CRITICAL in told(f"def test_a():\n{inside(body)}", way(body))

    def test_of_a_function_of_the_same_name_is_told(self, body):
        own = body.replace("box.f", "f")
        new = f"def f(x):\n    return 9\n\ndef test_a():\n{inside(own)}"
        assert Severity.CRITICAL in told(f"def test_a():\n{inside(own)}", new)

    @pytest.mark.parametrize("way", HONEST.values(), ids=HONEST)
    def test_beside_other_doubles_is_silent(self, body, way):
        assert told(f"def test_a():\n{inside(body)}", way(body)) == set()
