"""T10: what honest tests replace, fill, set and define, however much it looks like an answer put in place."""

import pytest

from ralph_tracker.integrity.rules import test_rigged
from tests.integrity.making import found

HEAD = (
    "import io\nimport sys\nimport pytest\nfrom unittest.mock import Mock, patch\nimport box\nfrom box import Box\n\n"
)
REAL = "def test_a():\n    got = box.f(3)\n    assert got == 9\n"
HONEST = {
    "by a lambda": (REAL, "def test_a():\n    got = (lambda x: box.f(x))(3)\n    assert got == 9\n"),
    "by a function that answers": (
        REAL,
        "def check(a, b):\n    return a == b\n\ndef test_a():\n    assert check(box.f(3), 9)\n",
    ),
    "filled by a method of its class": (
        "class TestA:\n    def test_a(self):\n        got = box.f(3)\n        assert got == 9\n",
        "class TestA:\n    def test_a(self):\n        got = []\n        self.fill(got)\n        assert got == 9\n",
    ),
    "a fixture of what another one gives": (
        REAL,
        "@pytest.fixture\ndef got(box_dir):\n    return box_dir.size\n\ndef test_a(got):\n    assert got == 9\n",
    ),
    "of two things the same one, by an assert": (
        "class TestA:\n    def test_a(self):\n        got = box.f(3)\n        self.assertTrue(got.x is got.y)\n",
        "def test_a():\n    got = box.f(3)\n    assert got.x is got.y\n",
    ),
    "no program before": ("def test_a(:\n", REAL),
    "filled by what is tested": (REAL, "def test_a():\n    got = []\n    box.fill(got)\n    assert got == 9\n"),
    "filled by a callback": (
        "def test_a():\n    got = box.f(3)\n    assert got == [9]\n",
        "def test_a():\n    got = []\n    box.each(lambda x: got.append(x))\n    assert got == [9]\n",
    ),
    "filled by a function inside": (
        "def test_a():\n    got = box.f(3)\n    assert got == [9]\n",
        (
            "def test_a():\n    got = []\n    def seen(x):\n        got.append(x)\n"
            "    box.each(seen)\n    assert got == [9]\n"
        ),
    ),
    "filled as an attribute": (
        "def test_a():\n    got = box.f(3)\n    assert got.size == 9\n",
        "def test_a():\n    got = Mock()\n    b = Box()\n    b.lid = got\n    b.open()\n    assert got.size == 9\n",
    ),
    "filled piece by piece": (
        "def test_a():\n    got = box.f(3)\n    assert got == [9]\n",
        "def test_a():\n    got = []\n    for x in (3,):\n        got.append(box.g(x))\n    assert got == [9]\n",
    ),
    "added to": (
        "def test_a():\n    got = box.f(3)\n    assert got == 9\n",
        "def test_a():\n    got = 0\n    for x in (3,):\n        got += box.g(x)\n    assert got == 9\n",
    ),
    "what was printed": (
        "def test_a(capsys):\n    box.show(3)\n    out = capsys.readouterr()\n    assert out.getvalue() == '9'\n",
        (
            "def test_a():\n    with patch('sys.stdout', new_callable=io.StringIO) as out:\n        box.show(3)\n"
            "        assert out.getvalue() == '9'\n"
        ),
    ),
    "what a mock was called with": (
        "def test_a():\n    client = box.client()\n    client.get(3)\n    assert client.last.get('x') == 3\n",
        (
            "def test_a():\n    with patch('box.client') as client:\n        box.f(3)\n"
            "        assert client.call_args.kwargs.get('x') == 3\n"
        ),
    ),
    "how often a mock was called": (
        "def test_a():\n    client = box.client()\n    assert client.count == 1\n",
        "def test_a():\n    client = Mock()\n    box.f(client)\n    assert client.get.call_count == 1\n",
    ),
    "a setter": (
        "def test_a():\n    b = Box(size=4)\n    assert b.size == 4\n    assert b.area == 16\n",
        (
            "def test_a():\n    b = Box()\n    b.size = 4\n    assert b.size == 4 and b.area == 16\n"
            "    assert b.area == 16\n"
        ),
    ),
    "one operand is set": (
        "def test_a():\n    f = Box('x')\n    assert f.url == 'x' and f.scheme == ''\n",
        "def test_a():\n    f = Box('x')\n    f.scheme = ''\n    assert f.url == 'x' and f.scheme == ''\n",
    ),
    "one link of a chain is set": (
        "def test_a():\n    f = Box('x')\n    assert f.netloc == f.host == ''\n",
        "def test_a():\n    f = Box('x')\n    f.host = ''\n    assert f.netloc == f.host == ''\n",
    ),
    "a class that is made by what is tested": (
        (
            "@box.made\nclass Lid:\n    def size(self):\n        return 3\n\n"
            "def test_a():\n    assert Lid().size() == 3\n"
        ),
        (
            "@box.made(slots=True)\nclass Lid:\n    def size(self):\n        return 3\n\n"
            "def test_a():\n    lid = Lid()\n    assert lid.size() == 3\n"
        ),
    ),
    "a class of the tests instead of another": (
        "@box.made\nclass Lid:\n    x = 1\n\ndef test_a():\n    a = Lid()\n    assert box.again(a) == a\n",
        (
            "@box.made\nclass Lid:\n    x = 1\n\ndef test_a():\n    a = Lid()\n"
            "    b = box.again(a)\n    assert b == a\n\n"
            "    @box.made\n    class New:\n        y = 1\n\n"
            "    with patch(f'{__name__}.Lid', New):\n        assert box.again(a).y == 1\n"
        ),
    ),
    "made by another method of its class": (
        (
            "class TestA:\n    def make(self):\n        self.b = Box()\n"
            "    def test_a(self):\n        self.make()\n        got = self.b.lid(3)\n        assert got == 9\n"
        ),
        (
            "class TestA:\n    b = None\n    def make(self):\n        self.b = Box()\n"
            "    def test_a(self):\n        self.make()\n        got = self.b.lid(3)\n        assert got == 9\n"
        ),
    ),
    "a fixture of another kind": (
        "@pytest.fixture\ndef b():\n    return Box()\n\ndef test_a(b):\n    assert b.lid(3) == 9\n",
        (
            "@pytest.fixture\ndef b():\n    b = Box(4)\n    yield b\n    b.close()\n"
            "\ndef test_a(b):\n    assert b.lid(3) == 9\n"
        ),
    ),
    "a fixture that patches what it needs": (
        "@pytest.fixture\ndef b():\n    return Box()\n\ndef test_a(b):\n    assert b.lid(3) == 9\n",
        (
            "@pytest.fixture\ndef b(monkeypatch):\n    monkeypatch.setattr(Box, 'fetch', lambda s: 3)\n"
            "    return Box()\n\n"
            "def test_a(b):\n    assert b.lid(3) == 9\n"
        ),
    ),
    "a helper that does more": (
        "def run(x):\n    return box.f(x)\n\ndef test_a():\n    assert run(3) == 9\n",
        "def run(x):\n    with box.opened() as b:\n        return b.f(x)\n\ndef test_a():\n    assert run(3) == 9\n",
    ),
    "a constant with another value": (
        "WANT = 9\n\ndef test_a():\n    assert box.f(3) == WANT\n",
        "WANT = 10\n\ndef test_a():\n    assert box.f(3) == WANT\n",
    ),
    "an assertion of its own": (
        "class TestA(TestCase):\n    def test_a(self):\n        self.assertEqual(box.f(3), 9)\n",
        (
            "class TestA(TestCase):\n    def assertEqual(self, a, b):\n        super().assertEqual(str(a), str(b))\n"
            "    def test_a(self):\n        self.assertEqual(box.f(3), 9)\n"
        ),
    ),
    "raised on the way": (
        "def test_a():\n    with pytest.raises(ValueError):\n        box.f(3)\n",
        (
            "def test_a():\n    with pytest.raises(ValueError):\n        with box.opened():\n"
            "            raise ValueError\n"
        ),
    ),
    "refused by a class of the tests": (
        "class Own(Box):\n    def lid(self, x):\n        return 9\n\ndef test_a():\n    assert box.f(Own()) == 9\n",
        (
            "class Own(Box):\n    def lid(self, x):\n        return 9\n\ndef test_a():\n    assert box.f(Own()) == 9\n"
            "    with pytest.raises(TypeError):\n        Own().lid(0)\n"
        ),
    ),
    "a name for what is expected": (
        REAL,
        "def test_a():\n    want = 9\n    got = box.f(3)\n    assert got == want\n",
    ),
    "what is expected, computed": (
        REAL,
        "def test_a():\n    want = 3 * 3\n    got = box.f(3)\n    assert got == want\n",
    ),
    "a dependency that fails": (
        REAL,
        (
            "def test_a():\n    with patch('box.fetch', side_effect=OSError):\n        got = box.f(3)\n"
            "    assert got == 9\n"
        ),
    ),
    "a comparison that looks closer": (
        REAL,
        (
            "class Near:\n    def __init__(self, x):\n        self.x = x\n    def __eq__(self, other):\n"
            "        return abs(self.x - other) < 1\n\n"
            "def test_a():\n    got = box.f(3)\n    assert got == Near(9)\n"
        ),
    ),
}


@pytest.mark.parametrize(("old", "new"), HONEST.values(), ids=HONEST)
def test_is_silent(old, new):
    assert found(test_rigged.find, {"tests/test_box.py": (HEAD + old, HEAD + new)}) == []


@pytest.mark.parametrize("text", [HEAD + new for _, new in HONEST.values()])
def test_a_new_test_is_at_most_a_note(text):
    told = found(test_rigged.find, {"tests/test_box.py": (None, text)})
    assert all(each.severity.name == "MEDIUM" for each in told)


def test_an_import_that_is_made_relative_is_the_same_where_no_such_file_changed():
    old = "from tools import fetch\n\ndef test_a():\n    assert fetch(3) == 9\n"
    files = {"tests/test_box.py": (old, old.replace("from tools", "from .tools"))}

    assert found(test_rigged.find, files) == []
    assert found(test_rigged.find, {**files, "tests/tools.py": (None, "def fetch(x):\n    return 9\n")})
