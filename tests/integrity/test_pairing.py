"""Which test of the new source is which of the old."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.pairing import TestPair, paired
from tests.integrity.making import Texts, changed

BOX = "tests/test_box.py"
LID = "tests/test_lid.py"
Shown = tuple[tuple[str, ...], tuple[str, ...], str]


def pairs_of(files: dict[str, Texts]) -> tuple[TestPair, ...]:
    return paired(
        [
            changed(path, *(None if text is None else textwrap.dedent(text) for text in texts))
            for path, texts in files.items()
        ]
    )


def shown(files: dict[str, Texts]) -> list[Shown]:
    """Return the pairs by the names of their tests."""
    return sorted(
        (tuple(old.name for old in pair.olds), tuple(new.name for new in pair.news), pair.how)
        for pair in pairs_of(files)
    )


OPENS = """
box = Box(width=3)
box.open()
assert box.lid.angle == 90
assert box.is_open
"""
TWICE = OPENS.replace("box.open()", "box.open(2)")
CLOSES = """
crate = Crate('wood', height=7)
crate.fill(['apple', 'pear'])
crate.shut(slowly=True)
assert crate.content() == ['apple', 'pear']
assert crate.latch == 'shut'
"""


def function(name: str, body: str, parameters: str = "") -> str:
    return f"def {name}({parameters}):\n{textwrap.indent(body, '    ')}\n"


def in_class(name: str, *tests: str) -> str:
    return f"class {name}:\n" + "\n".join(textwrap.indent(each, "    ") for each in tests)


RAISES = """
box = Box(width=3)
with pytest.raises(KeyError):
    box.lid['none']
with pytest.raises(KeyError):
    box.side['none']
"""
TABLE = """
@pytest.mark.parametrize({given!r}, [{rows}])
def test_{name}({given}):
    assert parsed(text, skip={way}).day == day
"""
BOTH = OPENS + CLOSES
OF_BOX = function("test_opens", OPENS, "self")
OF_CRATE = function("test_closes", CLOSES, "self")
PARAMETRIZED = """
@pytest.mark.parametrize(("width", "area"), [(2, 4), (3, 9), (17, 289)])
def test_area(width, area):
    assert square(width).area == area
"""
SINGLE = """
def test_area_of_two():
    assert square(2).area == 4

def test_area_of_three():
    assert square(3).area == 9

def test_large_area():
    assert square(17).area == 289
"""
MORE_OPENS = """
box = made(CRATES, 'iron', width=3)
box.lid.turn(by=7)
assert box.lid.angle == 97
assert box.is_open
"""
FILLED = function("test_filled", RAISES.replace("box", "bag").replace("Box", "Bag"))
OVERFLOWS = """
@pytest.mark.parametrize("number", [2**31, 2**62, 10**30])
def test_many_raise_an_error(number):
    box = Box(width=3)
    with pytest.raises(MemoryError):
        box.reserve(number)
    assert box.content() == []
"""
CAPPED = """
@pytest.mark.parametrize("number", [2**31, 2**62, 10**30, 10**60])
def test_wild_numbers_are_capped(number):
    box = Box(width=3)
    box.reserve(number)
    assert box.content() == []
    assert box.size == Box(width=3, size=2**17).size
"""
LAST = function("test_closes", CLOSES)
SUITE = {
    "test_opens": OPENS,
    "test_closes": CLOSES,
    "test_raises": RAISES,
    "test_turned": MORE_OPENS,
    "test_heavy_box": "crate = Crate('iron')\nassert crate.weight() == 120",
}
REWRITTEN = "with open_at('/tmp/pears') as found:\n    assert found.names == ['lid', 'hinge']"


def suite_of(**other: str) -> str:
    return "".join(function(name, body) for name, body in (SUITE | other).items())


def same_names(*but: str) -> list[Shown]:
    return [((name,), (name,), "moved") for name in SUITE if name not in but]


REFUSED = """
def test_{name}():
    try:
        Box({value})
    except Invalid as e:
        assert str(e) == "no width @ box['width']"
    else:
        assert False, "did not raise for {name}"
"""
REFUSALS = """
@pytest.mark.parametrize("value", [pytest.param(None, id="none"), pytest.param("", id="empty text")])
def test_refused_widths(value):
    with pytest.raises({kind}, match=r"no width @ box\\['width'\\]") as found:
        Box(value)
    assert len(found.value.errors) == 1
"""
CHUNKS = """
@pytest.mark.parametrize("taken", [lambda box: box.take(len(box)), lambda box: box.take_all()], ids=("one", "all"))
def test_taken(taken):
    box = Box(width=3)
    box.put(bytes(10))
    assert taken(box) is None
"""
KINDS = """
@pytest.mark.parametrize(("kind", "fruit", "number"), [(WOOD, "pear", 7), (IRON, "plum", 9)])
def test_kinds(kind, fruit, number):
    holds(kind, fruit, number)
"""
LOOPED_LIST = """
def test_areas():
    known = [(2, 4), (3, 9), (17, 289)]
    for width, area in known:
        assert square(width).area == area
"""
RUN_ONLY = "box = Box({'lid': 'oak', 'hinge': 'iron'}, more=ALLOWED)\nbox.run({'width': 3})"
RUN_AND_ASSERTED = (
    "box = Box({'lid': 'oak', 'hinge': 'iron'}, more=ALLOWED)\nfound = box.run({'width': 3})\nassert found == 7"
)
IDENTITIES = """
@pytest.mark.parametrize(("version", "spec", "expected"), [{rows}])
def test_{name}(version, spec, expected):
    spec = Specifier(spec)
{body}
"""
KNOWN_ROWS = "('1.0', '===1.0', True), ('1.0.dev0', '===1.0', False)"
BY_BRANCH = """    if expected:
        assert version in spec
    else:
        assert version not in spec"""
SINGLE_NAMES = ("test_area_of_two", "test_area_of_three", "test_large_area")

FOUND = {
    "the same name": (
        {BOX: (function("test_opens", OPENS), function("test_opens", "assert True"))},
        [(("test_opens",), ("test_opens",), "")],
    ),
    "nothing like it": (
        {BOX: (function("test_opens", OPENS), function("test_other", "pass"))},
        [((), ("test_other",), ""), (("test_opens",), (), "")],
    ),
    "a cheap test with a fresh name": (
        {BOX: (function("test_opens", OPENS), function("test_opens_box", "box = Box(width=3)\nassert box"))},
        [((), ("test_opens_box",), ""), (("test_opens",), (), "")],
    ),
    "renamed and hollowed out": (
        {BOX: (function("test_opens", OPENS), function("test_opens_box", OPENS.replace("assert", "seen =")))},
        [((), ("test_opens_box",), ""), (("test_opens",), (), "")],
    ),
    "renamed": (
        {BOX: (function("test_opens", OPENS), function("test_lid_swings", "'''Say more.'''  # why" + OPENS))},
        [(("test_opens",), ("test_lid_swings",), "renamed")],
    ),
    "renamed with a small edit": (
        {BOX: (function("test_opens", OPENS), function("test_opens_wide", OPENS.replace("90", "95")))},
        [(("test_opens",), ("test_opens_wide",), "renamed")],
    ),
    "renamed with a small edit, by a word more before": (
        {BOX: (function("test_opens", OPENS), function("test_wide_opens", OPENS.replace("90", "95")))},
        [(("test_opens",), ("test_wide_opens",), "renamed")],
    ),
    "a copy of a test that stays, for one that is gone": (
        {
            BOX: (
                function("test_opens", OPENS) + function("test_opens_twice", TWICE),
                function("test_opens", OPENS) + function("test_opens_more", OPENS.replace("90", "90.0")),
            )
        },
        [
            ((), ("test_opens_more",), ""),
            (("test_opens",), ("test_opens",), ""),
            (("test_opens_twice",), (), ""),
        ],
    ),
    "moved with its file and rewritten": (
        {
            "tests/test_box.py": (function("test_opens", OPENS) + function("test_closes", CLOSES), None),
            "tests/box/test_box.py": (None, function("test_opens", OPENS) + function("test_closes", RAISES)),
        },
        [(("test_closes",), ("test_closes",), "moved"), (("test_opens",), ("test_opens",), "moved")],
    ),
    "rewritten in another file": (
        {
            BOX: (function("test_opens", OPENS) + function("test_closes", CLOSES), None),
            LID: (None, function("test_opens", OPENS) + function("test_closes", RAISES)),
        },
        [((), ("test_closes",), ""), (("test_closes",), (), ""), (("test_opens",), ("test_opens",), "moved")],
    ),
    "moved out of a file that stays": (
        {
            BOX: (
                function("test_opens", OPENS) + function("test_closes", CLOSES) + function("test_raises", RAISES),
                function("test_raises", RAISES),
            ),
            "tests/box/test_box.py": (None, function("test_opens", OPENS) + function("test_closes", RAISES)),
        },
        [
            ((), ("test_closes",), ""),
            (("test_closes",), (), ""),
            (("test_opens",), ("test_opens",), "moved"),
            (("test_raises",), ("test_raises",), ""),
        ],
    ),
    "its name says more now": (
        {BOX: (function("test_lid", OPENS), function("test_lid_when_opened", MORE_OPENS))},
        [(("test_lid",), ("test_lid_when_opened",), "renamed")],
    ),
    "another name, and as much rewritten": (
        {BOX: (function("test_lid", OPENS) + FILLED, FILLED + function("test_hinge", MORE_OPENS))},
        [((), ("test_hinge",), ""), (("test_filled",), ("test_filled",), ""), (("test_lid",), (), "")],
    ),
    "its name says more now, and it asks for less": (
        {BOX: (function("test_lid", OPENS), function("test_lid_when_opened", "box = Box(width=3)\nassert box"))},
        [((), ("test_lid_when_opened",), ""), (("test_lid",), (), "")],
    ),
    "two ways to what was expected": (
        {
            BOX: (
                function("test_lid", "box = Box(width=3)\nassert box.text() == 'one long text that says it all'"),
                "TEXT = 'one long text that says it all'\n"
                + function("test_lid_by_hand", "lid = made(by='hand', slowly=True)\nassert lid.text() == TEXT")
                + function("test_lid_by_machine", "lid = Machine(kind=7).run()\nassert lid.text() == TEXT"),
            )
        },
        [((), ("test_lid_by_hand",), ""), (("test_lid",), ("test_lid_by_machine",), "renamed")],
    ),
    "in its place with all its cases": (
        {
            BOX: (
                FILLED + OVERFLOWS + function("test_closes", CLOSES),
                FILLED + CAPPED + function("test_closes", CLOSES),
            )
        },
        [
            (("test_closes",), ("test_closes",), ""),
            (("test_filled",), ("test_filled",), ""),
            (("test_many_raise_an_error",), ("test_wild_numbers_are_capped",), "renamed"),
        ],
    ),
    "in its place without one of its cases": (
        {
            BOX: (
                FILLED + OVERFLOWS + function("test_empty", RAISES) + LAST,
                FILLED + CAPPED.replace("2**31, ", "") + function("test_added", TWICE) + LAST,
            )
        },
        [
            ((), ("test_added",), ""),
            ((), ("test_wild_numbers_are_capped",), ""),
            (("test_closes",), ("test_closes",), ""),
            (("test_empty",), (), ""),
            (("test_filled",), ("test_filled",), ""),
            (("test_many_raise_an_error",), (), ""),
        ],
    ),
    "quotes, brackets and line ends": (
        {
            BOX: (
                function("test_a", "assert names(\n    'a',\n    u'b',\n) == {'a': [1, 2]}"),
                function("test_b", 'assert names("a", "b") == {"a": [1, 2,],}'),
            )
        },
        [(("test_a",), ("test_b",), "renamed")],
    ),
    "to another class": (
        {BOX: (in_class("TestBox", OF_BOX), in_class("TestLid", OF_BOX))},
        [(("TestBox::test_opens",), ("TestLid::test_opens",), "moved")],
    ),
    "to another class of the same function names": (
        {BOX: (in_class("TestBox", OF_BOX), in_class("TestLid", OF_CRATE.replace("closes", "opens")))},
        [((), ("TestLid::test_opens",), ""), (("TestBox::test_opens",), (), "")],
    ),
    "a class flattened, each test rewritten": (
        {
            BOX: (
                in_class("TestBox(TestCase)", function("test_lid", "self.assertEqual(Box().lid, 1)", "self")),
                function("test_lid", "assert Box().lid == 1"),
            )
        },
        [(("TestBox::test_lid",), ("test_lid",), "moved")],
    ),
    "to another file": (
        {BOX: (function("test_opens", OPENS), None), LID: (None, function("test_opens", OPENS))},
        [(("test_opens",), ("test_opens",), "moved")],
    ),
    "to another file, edited": (
        {BOX: (function("test_opens", OPENS), ""), LID: ("", function("test_opens", OPENS.replace("90", "95")))},
        [(("test_opens",), ("test_opens",), "moved")],
    ),
    "the name alone in another file": (
        {BOX: (function("test_opens", OPENS), ""), LID: ("", function("test_opens", CLOSES))},
        [((), ("test_opens",), ""), (("test_opens",), (), "")],
    ),
    "a module split in two": (
        {
            BOX: (function("test_opens", OPENS) + function("test_closes", CLOSES), None),
            LID: (None, function("test_opens", OPENS)),
            "tests/test_crate.py": (None, function("test_closes", CLOSES)),
        },
        [(("test_closes",), ("test_closes",), "moved"), (("test_opens",), ("test_opens",), "moved")],
    ),
    "two classes of the same function names": (
        {
            BOX: (
                in_class("TestA", OF_BOX) + in_class("TestB", OF_CRATE.replace("closes", "opens")),
                in_class("TestC", OF_CRATE.replace("closes", "opens").replace("7", "8"))
                + in_class("TestD", OF_BOX.replace("90", "91")),
            )
        },
        [
            (("TestA::test_opens",), ("TestD::test_opens",), "moved"),
            (("TestB::test_opens",), ("TestC::test_opens",), "moved"),
        ],
    ),
    "merged into parameters": (
        {BOX: (SINGLE, PARAMETRIZED)},
        [(SINGLE_NAMES, ("test_area",), "merged")],
    ),
    "merged into parameters, but for one": (
        {BOX: (SINGLE, PARAMETRIZED.replace(", (17, 289)", ""))},
        [(("test_area_of_two", "test_area_of_three"), ("test_area",), "merged"), (("test_large_area",), (), "")],
    ),
    "merged into a loop": (
        {
            BOX: (
                SINGLE,
                function(
                    "test_area",
                    "for width, area in [(2, 4), (3, 9), (17, 289)]:\n    assert square(width).area == area",
                ),
            )
        },
        [(SINGLE_NAMES, ("test_area",), "merged")],
    ),
    "merged into parameters of one that stays": (
        {
            BOX: (
                PARAMETRIZED.replace(", (17, 289)", "") + function("test_large_area", "assert square(17).area == 289"),
                PARAMETRIZED,
            )
        },
        [(("test_area", "test_large_area"), ("test_area",), "")],
    ),
    "its values are in different cases": (
        {BOX: (function("test_mixed_area", "assert square(2).area == 9"), PARAMETRIZED)},
        [((), ("test_area",), ""), (("test_mixed_area",), (), "")],
    ),
    "its values are taken, but nothing is asked": (
        {BOX: (SINGLE, PARAMETRIZED.replace("assert square(width).area == area", "print(square(width).area == area)"))},
        [((), ("test_area",), ""), *(((name,), (), "") for name in SINGLE_NAMES)],
    ),
    "merged into one that asserts the same": (
        {BOX: (function("test_opens", OPENS) + function("test_closes", CLOSES), function("test_both", BOTH))},
        [(("test_opens", "test_closes"), ("test_both",), "merged")],
    ),
    "in the place of another, which raises otherwise": (
        {
            BOX: (
                function("test_opens", OPENS) + function("test_bad_key", RAISES) + function("test_closes", CLOSES),
                function("test_opens", OPENS)
                + function("test_bad_value", RAISES.replace("KeyError", "ValueError"))
                + function("test_closes", CLOSES),
            )
        },
        [
            (("test_bad_key",), ("test_bad_value",), "renamed"),
            (("test_closes",), ("test_closes",), ""),
            (("test_opens",), ("test_opens",), ""),
        ],
    ),
    "in the place of another, neither of which asserts": (
        {
            BOX: (
                function("test_opens", OPENS) + function("test_runs", "run('a', 1)"),
                function("test_opens", OPENS) + function("test_walks", "walk('b', 2)"),
            )
        },
        [((), ("test_walks",), ""), (("test_opens",), ("test_opens",), ""), (("test_runs",), (), "")],
    ),
    "in the place of another, asserting its literals of others": (
        {
            BOX: (
                function("test_opens", OPENS) + function("test_wide", "box = Box('wide')\nassert box.ok"),
                function("test_opens", OPENS) + function("test_high", "crate = box = made()\nassert box.ok"),
            )
        },
        [((), ("test_high",), ""), (("test_opens",), ("test_opens",), ""), (("test_wide",), (), "")],
    ),
    "in the place of another, hollow": (
        {
            BOX: (
                function("test_opens", OPENS) + function("test_bad_key", RAISES),
                function("test_opens", OPENS) + function("test_nothing", "assert box"),
            )
        },
        [((), ("test_nothing",), ""), (("test_bad_key",), (), ""), (("test_opens",), ("test_opens",), "")],
    ),
    "asked more closely by one that stays": (
        {
            BOX: (
                function("test_named", "assert box.title\nassert box.lid")
                + function("test_texts", "assert is_text(box.title)\nassert is_text(box.lid)"),
                function("test_texts", "assert is_text(box.title)\nassert is_text(box.lid)"),
            )
        },
        [(("test_texts", "test_named"), ("test_texts",), "")],
    ),
    "merged with a longer table of wider rows": (
        {
            BOX: (
                TABLE.format(name="ahead", rows="('a', 1), ('b', 2)", way="'ahead'", given="text, day")
                + TABLE.format(name="back", rows="('c', 3), ('d', 4)", way="'back'", given="text, day"),
                TABLE.format(
                    name="skip",
                    rows="('a', 1, 'ahead'), ('b', 2, 'ahead'), ('c', 3, 'back'), ('d', 4, 'back')",
                    way="way",
                    given="text, day, way",
                ),
            )
        },
        [(("test_ahead", "test_back"), ("test_skip",), "merged")],
    ),
    "one of several of the same content": (
        {
            BOX: (
                function("test_a", "assert f(1) == g(client)") + function("test_b", "assert f(1) == g(client)"),
                function("test_c", "assert f(1) == g(client)\nassert h(3)"),
            )
        },
        [(("test_a",), ("test_c",), "renamed"), (("test_b",), (), "")],
    ),
    "absorbed by one that stays": (
        {BOX: (function("test_opens", OPENS) + function("test_closes", CLOSES), function("test_opens", BOTH))},
        [(("test_opens", "test_closes"), ("test_opens",), "")],
    ),
    "held by one that stays before": (
        {BOX: (function("test_both", BOTH) + function("test_closes", CLOSES), function("test_both", BOTH))},
        [(("test_both",), ("test_both",), ""), (("test_closes",), (), "")],
    ),
    "split": (
        {BOX: (function("test_both", BOTH), function("test_opens", OPENS) + function("test_closes", CLOSES))},
        [
            (("test_both",), ("test_closes", "test_opens"), "split"),
            (("test_both",), ("test_opens", "test_closes"), "split"),
        ],
    ),
    "split off one that stays": (
        {BOX: (function("test_opens", BOTH), function("test_opens", OPENS) + function("test_closes", CLOSES))},
        [
            (("test_opens",), ("test_closes", "test_opens"), "split"),
            (("test_opens",), ("test_opens", "test_closes"), ""),
        ],
    ),
    "half of it is gone": (
        {BOX: (function("test_both", BOTH), function("test_opens", OPENS))},
        [((), ("test_opens",), ""), (("test_both",), (), "")],
    ),
    "its cases are tests of their own": (
        {BOX: (PARAMETRIZED, SINGLE)},
        [
            (("test_area",), ("test_area_of_three", "test_area_of_two", "test_large_area"), "split"),
            (("test_area",), ("test_area_of_two", "test_area_of_three", "test_large_area"), "split"),
            (("test_area",), ("test_large_area", "test_area_of_two", "test_area_of_three"), "split"),
        ],
    ),
    "some of its cases are": (
        {BOX: (PARAMETRIZED, SINGLE.partition("def test_large")[0])},
        [((), ("test_area_of_three",), ""), ((), ("test_area_of_two",), ""), (("test_area",), (), "")],
    ),
    "a file that goes on under another name": (
        {BOX: (suite_of(), None), LID: (None, suite_of(test_heavy_box=REWRITTEN))},
        same_names(),
    ),
    "a file that goes on as two": (
        {
            BOX: (suite_of(), None),
            LID: (None, suite_of(test_heavy_box=REWRITTEN, test_closes="pass")),
            "tests/test_hinge.py": (None, suite_of(test_opens=REWRITTEN, test_raises=REWRITTEN)),
        },
        [*same_names(), *(((), (name,), "") for name in SUITE)],
    ),
    "a file of other tests, one of the same name": (
        {BOX: (suite_of(), None), LID: (None, function("test_heavy_box", REWRITTEN))},
        [((), ("test_heavy_box",), ""), *(((name,), (), "") for name in SUITE)],
    ),
    "a test that a file under another name does not have": (
        {
            BOX: (suite_of(), None),
            LID: (None, suite_of(test_heavy_box=REWRITTEN).replace("test_heavy_box", "test_found")),
        },
        [*same_names("test_heavy_box"), ((), ("test_found",), ""), (("test_heavy_box",), (), "")],
    ),
    "in the same place of a file under another name": (
        {
            BOX: (
                suite_of(test_heavy_box="crate = Crate('iron')\ncrate.put(4)\nassert crate.weight() == 120"),
                None,
            ),
            LID: (
                None,
                suite_of(
                    test_heavy_box="crate = Crate('iron')\ncrate.put(4)\nassert crate.weight() == 120\n"
                    "for each in crate.all_of_it():\n    assert isinstance(each, Plank) and each.solid\nshow(crate)"
                ).replace("test_heavy_box", "test_load"),
            ),
        },
        [*same_names("test_heavy_box"), (("test_heavy_box",), ("test_load",), "renamed")],
    ),
    "run before, asserted about now, among others": (
        {
            BOX: (
                function("test_key3", RUN_ONLY) + LAST,
                function("test_allowed", RUN_AND_ASSERTED)
                + function("test_forbidden", RUN_AND_ASSERTED.replace("ALLOWED", "FORBIDDEN"))
                + LAST,
            )
        },
        [
            ((), ("test_forbidden",), ""),
            (("test_closes",), ("test_closes",), ""),
            (("test_key3",), ("test_allowed",), "renamed"),
        ],
    ),
    "run before, expected to fail now": (
        {
            BOX: (
                function("test_key3", RUN_ONLY) + LAST,
                function("test_bad", RUN_ONLY.replace("box.run", "with pytest.raises(KeyError):\n    box.run")) + LAST,
            )
        },
        [((), ("test_bad",), ""), (("test_closes",), ("test_closes",), ""), (("test_key3",), (), "")],
    ),
    "handlers merged into a table of what is raised": (
        {
            BOX: (
                REFUSED.format(name="none", value="None") + REFUSED.format(name="empty", value="''"),
                REFUSALS.format(kind="Invalid"),
            )
        },
        [(("test_none", "test_empty"), ("test_refused_widths",), "merged")],
    ),
    "handlers, and a table in which another exception is raised": (
        {
            BOX: (
                REFUSED.format(name="none", value="None") + REFUSED.format(name="empty", value="''"),
                REFUSALS.format(kind="OSError"),
            )
        },
        [((), ("test_refused_widths",), ""), (("test_none",), (), ""), (("test_empty",), (), "")],
    ),
    "handlers, one of which a table of what is raised lacks": (
        {
            BOX: (
                REFUSED.format(name="none", value="None") + REFUSED.format(name="wide", value="'wide'"),
                REFUSALS.format(kind="Invalid"),
            )
        },
        [(("test_none",), ("test_refused_widths",), "merged"), (("test_wide",), (), "")],
    ),
    "a case that is a function": (
        {
            BOX: (
                function("test_all", "box = Box(width=3)\nbox.put(bytes(10))\nassert box.take_all() is None"),
                CHUNKS,
            )
        },
        [(("test_all",), ("test_taken",), "merged")],
    ),
    "a case that no function of the table is": (
        {
            BOX: (
                function("test_all", "box = Box(width=3)\nbox.put(bytes(10))\nassert box.turned_over() is None"),
                CHUNKS,
            )
        },
        [((), ("test_taken",), ""), (("test_all",), (), "")],
    ),
    "merged into a loop over a list with a name": (
        {BOX: (SINGLE, LOOPED_LIST)},
        [(SINGLE_NAMES, ("test_areas",), "merged")],
    ),
    "merged into a loop over a list with a name, but for one": (
        {BOX: (SINGLE, LOOPED_LIST.replace(", (17, 289)", ""))},
        [(SINGLE_NAMES[:2], ("test_areas",), "merged"), (SINGLE_NAMES[2:], (), "")],
    ),
    "its texts are written otherwise in the table": (
        {
            BOX: (
                function(
                    "test_a",
                    "found = parsed(\"\"\"\n<b at='\\N{SNOWMAN}'/>\n\"\"\")\nassert found.text == 'some' ' words'",
                )
                + function("test_b", "found = parsed('<i/>')\nassert found.text == 'others'"),
                "@pytest.mark.parametrize(('text', 'words'), "
                "[(\"\\n<b at='\u2603'/>\\n\", 'some words'), ('<i/>', 'others')])"
                "\n" + function("test_parsed", "found = parsed(text)\nassert found.text == words", "text, words"),
            )
        },
        [(("test_a", "test_b"), ("test_parsed",), "merged")],
    ),
    "its cases in a longer table, asked shorter": (
        {
            BOX: (
                function("test_opens", OPENS) + IDENTITIES.format(rows=KNOWN_ROWS, name="identity", body=BY_BRANCH),
                function("test_opens", OPENS)
                + IDENTITIES.format(
                    rows=KNOWN_ROWS + "".join(f", ('{n}.7', '==={n}', False)" for n in range(9)),
                    name="equality",
                    body="    assert spec.contains(version) == expected",
                ),
            )
        },
        [(("test_identity",), ("test_equality",), "renamed"), (("test_opens",), ("test_opens",), "")],
    ),
    "its cases in a table of which nothing is asked": (
        {
            BOX: (
                function("test_opens", OPENS) + IDENTITIES.format(rows=KNOWN_ROWS, name="identity", body=BY_BRANCH),
                function("test_opens", OPENS)
                + IDENTITIES.format(rows=KNOWN_ROWS, name="equality", body="    spec.contains(version, expected)"),
            )
        },
        [((), ("test_equality",), ""), (("test_identity",), (), ""), (("test_opens",), ("test_opens",), "")],
    ),
    "in the place of another, whose name it says with more": (
        {BOX: (function("test_lid", OPENS) + FILLED, function("test_turned_lid", MORE_OPENS) + FILLED)},
        [(("test_filled",), ("test_filled",), ""), (("test_lid",), ("test_turned_lid",), "renamed")],
    ),
    "in the place of another, whose name it says with more, asking less": (
        {
            BOX: (
                function("test_lid", OPENS) + FILLED,
                function("test_turned_lid", MORE_OPENS.replace("assert box.is_open", "")) + FILLED,
            )
        },
        [((), ("test_turned_lid",), ""), (("test_filled",), ("test_filled",), ""), (("test_lid",), (), "")],
    ),
    "merged into a table, a helper asserting for each": (
        {
            BOX: (
                function("test_wood", "holds(WOOD, 'pear', 7)") + function("test_iron", "holds(IRON, 'plum', 9)"),
                KINDS,
            )
        },
        [(("test_wood", "test_iron"), ("test_kinds",), "merged")],
    ),
    "a helper asserting for each, one of which a table lacks": (
        {
            BOX: (
                function("test_wood", "holds(WOOD, 'pear', 7)") + function("test_iron", "holds(IRON, 'plum', 8)"),
                KINDS,
            )
        },
        [(("test_wood",), ("test_kinds",), "merged"), (("test_iron",), (), "")],
    ),
    "rewritten in another class, by a name that tells": (
        {
            BOX: (
                in_class("TestBox", function("test_opens_slowly", OPENS, "self")),
                in_class(
                    "TestLid", function("test_opens_slowly", "box.turn(45)\nassert box.lid.angle < 90", "self, box")
                ),
            )
        },
        [(("TestBox::test_opens_slowly",), ("TestLid::test_opens_slowly",), "moved")],
    ),
    "rewritten in another class, by a name of one word": (
        {
            BOX: (
                in_class("TestBox", function("test_repr", OPENS, "self")),
                in_class("TestLid", function("test_repr", "box.turn(45)\nassert box.lid.angle < 90", "self, box")),
            )
        },
        [((), ("TestLid::test_repr",), ""), (("TestBox::test_repr",), (), "")],
    ),
    "rewritten in another file, in a class of its name": (
        {
            BOX: (in_class("TestBox", function("test_open", OPENS, "self")), None),
            LID: (None, in_class("TestBox", function("test_open", "assert lid.turned(90).is_open", "self, lid"))),
        },
        [(("TestBox::test_open",), ("TestBox::test_open",), "moved")],
    ),
    "longer in another file, with all that it held": (
        {
            BOX: (function("test_opens", OPENS) + function("test_closes", CLOSES), function("test_closes", CLOSES)),
            LID: (
                "",
                function(
                    "test_opens",
                    OPENS + "for angle in (15, 30):\n    turned = box.turned(angle, by='hand')\n"
                    "    assert turned.lid.angle == angle, turned.report()\n    assert turned.kind is Kind.OPEN",
                ),
            ),
        },
        [(("test_closes",), ("test_closes",), ""), (("test_opens",), ("test_opens",), "moved")],
    ),
    "another test of its name in another file": (
        {
            BOX: (function("test_opens", OPENS) + function("test_closes", CLOSES), function("test_closes", CLOSES)),
            LID: ("", function("test_opens", "assert parsed('<a/>').text == ''")),
        },
        [((), ("test_opens",), ""), (("test_closes",), ("test_closes",), ""), (("test_opens",), (), "")],
    ),
    "a file that is no program": (
        {BOX: (function("test_opens", OPENS), "def (:")},
        [(("test_opens",), (), "")],
    ),
}


@pytest.mark.parametrize(("files", "expected"), FOUND.values(), ids=FOUND)
def test_finds_what_became_of_tests(files: dict[str, Texts], expected: list[Shown]) -> None:
    assert shown(files) == sorted(expected)


def test_a_helper_taken_out_leaves_the_pair_of_the_name() -> None:
    old = function("test_opens", OPENS) + function("test_closes", CLOSES)
    new = function("check", OPENS) + function("test_opens", "check()") + function("test_closes", CLOSES)
    assert [pair.how for pair in pairs_of({BOX: (old, new)})] == ["", ""]


def test_most_deleted_and_few_new_ones_matches_the_renamed_one_alone() -> None:
    def suite(name: str, numbers: range, call: str) -> str:
        return "".join(
            function(
                f"test_{name}_{each}",
                f"box = Box({each}, {each % 7})\nassert box.{call}({each * 3}) == {each % 5}\nassert box.lid",
            )
            for each in numbers
        )

    kept = suite("kept", range(72), "open")
    old = kept + suite("gone", range(1000, 1133), "close") + function("test_crate", CLOSES)
    new = kept + suite("fresh", range(5000, 5032), "paint") + function("test_wooden_crate", CLOSES)
    pairs = pairs_of({BOX: (old, new)})
    assert sum(pair.new is None for pair in pairs) == 133
    assert [pair.new.name for pair in pairs if pair.how and pair.new] == ["test_wooden_crate"]


def test_thousands_are_each_found_again() -> None:
    old = "".join(function(f"test_a_{each}", f"assert f({each}) == {each % 9}") for each in range(2000))
    pairs = pairs_of({BOX: (old, old.replace("test_a_", "test_b_"))})
    assert all(pair.old and pair.new and pair.old.name[7:] == pair.new.name[7:] for pair in pairs)


def test_tests_of_other_languages_are_found_by_their_text() -> None:
    old = 'package box\nfunc TestOpens(t *testing.T) {\n\t// why\n\tif box.Open() != 3 {\n\t\tt.Fatal("shut")\n\t}\n}\n'
    pairs = pairs_of({"box_test.go": (old, old.replace("TestOpens", "TestSwings").replace("// why", ""))})
    assert [(pair.how, pair.old and pair.old.name, pair.new and pair.new.name) for pair in pairs] == [
        ("renamed", "TestOpens", "TestSwings")
    ]


NAMES = st.lists(st.sampled_from("abcdefghijkl"), unique=True, min_size=1, max_size=8)
BODIES = st.sampled_from(["assert f(1)", "pass", OPENS, CLOSES, "assert box.lid == 2\nassert box", "g('x', 3)"])
SUITES = st.lists(BODIES, min_size=1, max_size=6)
PLACES = st.sampled_from([BOX, LID, "tests/deep/test_box.py"])


def laid_out(bodies: list[str], places: list[str], names: list[str]) -> dict[str, str]:
    files: dict[str, str] = {}
    for number, body in enumerate(bodies):
        place = places[number % len(places)]
        files[place] = files.get(place, "") + function(f"test_{names[number % len(names)]}_{number}", body)
    return files


def as_changes(old: dict[str, str], new: dict[str, str]) -> dict[str, Texts]:
    return {path: (old.get(path), new.get(path)) for path in old.keys() | new.keys()}


@given(SUITES, st.lists(PLACES, min_size=1), st.lists(PLACES, min_size=1), NAMES, NAMES)
def test_renames_and_moves_leave_nothing_unmatched(bodies, places, other_places, names, other_names) -> None:
    pairs = pairs_of(as_changes(laid_out(bodies, places, names), laid_out(bodies, other_places, other_names)))
    assert all(pair.old is not None and pair.new is not None for pair in pairs)


@given(SUITES, st.randoms(use_true_random=False), st.lists(PLACES, min_size=1), NAMES)
def test_the_order_of_tests_and_files_makes_no_difference(bodies, random, places, names) -> None:
    old, new = laid_out(bodies, places, names), laid_out(bodies[::-1], places[::-1], names[::-1])
    changes = as_changes(old, new)
    again = list(changes)
    random.shuffle(again)
    assert shown(changes) == shown({path: changes[path] for path in again})


@given(SUITES, st.lists(PLACES, min_size=1), st.lists(PLACES, min_size=1), NAMES, NAMES)
def test_every_test_is_told_of_once(bodies, places, other_places, names, other_names) -> None:
    old, new = laid_out(bodies, places, names), laid_out(bodies[1:], other_places, other_names)
    pairs = pairs_of(as_changes(old, new))
    news = [(pair.new.path, pair.new.name) for pair in pairs if pair.new is not None]
    olds = {(each.path, each.name) for pair in pairs for each in pair.olds}
    assert len(news) == len(set(news)) == len(bodies) - 1
    assert len(olds) == len(bodies)


@given(SUITES, st.integers(0, 5), NAMES)
def test_what_is_taken_away_is_gone(bodies, number, names) -> None:
    old = laid_out(bodies, [BOX], names)
    kept = {BOX: "".join(text for text in old[BOX].split("\ndef ")[:number])}
    assert all(not pair.how for pair in pairs_of(as_changes(old, kept)) if pair.new is None)
