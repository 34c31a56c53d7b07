"""Which ids of a report stand for those that vanished from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.matching import matches
from tests.integrity.making import Texts, evidence

Found = dict[str, tuple[str, ...]]
BOX = "tests/test_box.py"
LID = "tests/test_lid.py"
OPENS = "    box = Box(width=3)\n    box.open()\n    assert box.lid.angle == 90\n"
CLOSES = "    crate = Crate('wood')\n    crate.fill(['pear'])\n    assert crate.content() == ['pear']\n"
AREAS = """
@pytest.mark.parametrize(("width", "area"), [(2, 4), (3, 9)])
def test_area(width, area):
    assert square(width).area == area
"""
MORE_AREAS = """
@pytest.mark.parametrize("kind", [pytest.param(Lid, id="lid"), pytest.param(Box, id="box")])
@pytest.mark.parametrize(("width", "area"), [(2, 4), (3, 9)])
def test_area_of_kind(kind, width, area):
    \"\"\"Tell the area of every kind of thing.\"\"\"
    assert kind(width).area == area
"""
HELPER = """
def test_box():
    return Box(width=3)

def test_lid():
    assert test_box().lid.angle == 90
"""
NAMED = "    assert box.title\n    assert box.version\n"
NAMED_WELL = "    assert is_text(box.title)\n    assert is_text(box.version)\n"
LOOPED_AREAS = """
def test_area():
    for width, area in [(2, 4), (3, 9)]:
        assert square(width, 'width', 'area').area == area
"""
EACH_AREA = """
def test_area_of_two():
    assert square(2).area == 4

def test_area_of_three():
    assert square(3).area == 9
"""
POINTS = """
@pytest.mark.parametrize("point", [Point(2, 5), Point(3, 7)])
def test_far(point):
    assert point.is_far
"""
EACH_POINT = """
def test_two_is_far():
    assert Point(2, 5).is_far

def test_three_is_far():
    assert Point(3, 7).is_far
"""


def function(name: str, body: str = OPENS) -> str:
    return f"def {name}():\n{body}\n"


def method(owner: str, name: str, body: str = OPENS) -> str:
    return f"class {owner}:\n    def {name}(self):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def case(name: str) -> str:
    return f"@cases\n{function(name)}"


IN_A = method("TestA", "test_texts", NAMED_WELL)
BY_SOURCE: dict[str, tuple[dict[str, Texts], list[str], list[str], Found]] = {
    "renamed": (
        {BOX: (function("test_a"), function("test_b"))},
        ["tests.test_box::test_a"],
        ["tests.test_box::test_b"],
        {"tests.test_box::test_a": ("tests.test_box::test_b",)},
    ),
    "another test": (
        {BOX: (function("test_a"), function("test_b", CLOSES))},
        ["tests.test_box::test_a"],
        ["tests.test_box::test_b"],
        {},
    ),
    "another test of the same name": (
        {BOX: (function("test_a"), ""), LID: ("", function("test_a", CLOSES))},
        ["tests.test_box::test_a"],
        ["tests.test_lid::test_a"],
        {},
    ),
    "renamed with its parameters": (
        {BOX: (case("test_a"), case("test_b"))},
        ["tests.test_box::test_a[1]", "tests.test_box::test_a[2]"],
        ["tests.test_box::test_b[2]", "tests.test_box::test_b[1]"],
        {
            "tests.test_box::test_a[1]": ("tests.test_box::test_b[1]",),
            "tests.test_box::test_a[2]": ("tests.test_box::test_b[2]",),
        },
    ),
    "renamed, with more parameters and cases": (
        {BOX: (AREAS, MORE_AREAS)},
        ["tests.test_box::test_area[2-4]", "tests.test_box::test_area[3-9]"],
        [f"tests.test_box::test_area_of_kind[{kind}-{case}]" for kind in ("lid", "box") for case in ("2-4", "3-9")],
        {
            "tests.test_box::test_area[2-4]": ("tests.test_box::test_area_of_kind[lid-2-4]",),
            "tests.test_box::test_area[3-9]": ("tests.test_box::test_area_of_kind[lid-3-9]",),
        },
    ),
    "asked more closely by another one that moved": (
        {BOX: (method("TestA", "test_named", NAMED) + method("TestB", "test_texts", NAMED_WELL), IN_A)},
        ["tests.test_box.TestA::test_named", "tests.test_box.TestB::test_texts"],
        ["tests.test_box.TestA::test_texts"],
        {
            "tests.test_box.TestA::test_named": ("tests.test_box.TestA::test_texts",),
            "tests.test_box.TestB::test_texts": ("tests.test_box.TestA::test_texts",),
        },
    ),
    "a helper by the name of a test": (
        {BOX: (HELPER, HELPER.replace("test_box", "make_box"))},
        ["tests.test_box::test_box"],
        [],
        {"tests.test_box::test_box": ()},
    ),
    "what was to be written some day": (
        {BOX: (function("test_lid", "    '''Open it.'''\n    pass") + function("test_box"), function("test_box"))},
        ["tests.test_box::test_lid"],
        [],
        {"tests.test_box::test_lid": ()},
    ),
    "what does little": (
        {BOX: (function("test_lid", "    Box().open()") + function("test_box"), function("test_box"))},
        ["tests.test_box::test_lid"],
        [],
        {},
    ),
    "a helper by the name of a test that asserts": (
        {BOX: (HELPER.replace("    return", "    assert Box()\n    return"), function("test_lid"))},
        ["tests.test_box::test_box"],
        [],
        {},
    ),
    "what returns something and is called by none": (
        {BOX: (HELPER.replace("test_box()", "Box()").replace("def Box()", "def test_box()"), function("test_lid"))},
        ["tests.test_box::test_box"],
        [],
        {},
    ),
    "parameters that share a value": (
        {BOX: (case("test_a"), case("test_b"))},
        ["test_box::test_a[x-1]", "test_box::test_a[y-2]"],
        ["test_box::test_b[3-y]", "test_box::test_b[4-x]"],
        {"test_box::test_a[x-1]": ("test_box::test_b[4-x]",), "test_box::test_a[y-2]": ("test_box::test_b[3-y]",)},
    ),
    "parameters called otherwise, one less": (
        {BOX: (case("test_a"), case("test_a") + "\n")},
        ["test_box::test_a[1]", "test_box::test_a[2]", "test_box::test_a[10]"],
        ["test_box::test_a[case one]", "test_box::test_a[case two]"],
        {
            "test_box::test_a[1]": ("test_box::test_a[case one]",),
            "test_box::test_a[2]": ("test_box::test_a[case two]",),
        },
    ),
    "a case less, and one of another file": (
        {BOX: (case("test_a"), case("test_a") + "\n"), LID: ("", case("test_a"))},
        ["tests.test_box::test_a[2]"],
        ["tests.test_lid::test_a[2]"],
        {},
    ),
    "merged into parameters": (
        {BOX: (EACH_AREA, AREAS)},
        ["test_box::test_area_of_two", "test_box::test_area_of_three"],
        ["test_box::test_area[2-4]", "test_box::test_area[3-9]"],
        {
            "test_box::test_area_of_two": ("test_box::test_area[2-4]",),
            "test_box::test_area_of_three": ("test_box::test_area[3-9]",),
        },
    ),
    "merged into parameters without a name": (
        {BOX: (EACH_POINT, POINTS)},
        ["test_box::test_two_is_far", "test_box::test_three_is_far"],
        ["test_box::test_far[point0]", "test_box::test_far[point1]"],
        {
            "test_box::test_two_is_far": ("test_box::test_far[point0]",),
            "test_box::test_three_is_far": ("test_box::test_far[point1]",),
        },
    ),
    "merged into parameters with names of their own": (
        {BOX: (EACH_POINT, POINTS)},
        ["test_box::test_two_is_far"],
        ["test_box::test_far[near]", "test_box::test_far[point7]"],
        {"test_box::test_two_is_far": ("test_box::test_far[near]", "test_box::test_far[point7]")},
    ),
    "given parameters": (
        {BOX: (function("test_a"), "@cases\n" + function("test_a"))},
        ["test_box::test_a"],
        ["test_box::test_a[x]", "test_box::test_a[y]"],
        {"test_box::test_a": ("test_box::test_a[x]", "test_box::test_a[y]")},
    ),
    "parameters put into a loop": (
        {
            BOX: (
                AREAS,
                LOOPED_AREAS,
            )
        },
        ["test_box::test_area[2-4]", "test_box::test_area[3-9]"],
        ["test_box::test_area"],
        {
            "test_box::test_area[2-4]": ("test_box::test_area",),
            "test_box::test_area[3-9]": ("test_box::test_area",),
        },
    ),
    "parameters left out": (
        {BOX: (AREAS, "def test_area():\n    assert square(2).area == 4\n")},
        ["test_box::test_area[2-4]", "test_box::test_area[3-9]"],
        ["test_box::test_area"],
        {"test_box::test_area[2-4]": ("test_box::test_area",)},
    ),
    "split": (
        {BOX: (function("test_both", OPENS + CLOSES), function("test_a") + function("test_b", CLOSES))},
        ["test_box::test_both"],
        ["test_box::test_b", "test_box::test_a"],
        {"test_box::test_both": ("test_box::test_a", "test_box::test_b")},
    ),
    "split with its parameters": (
        {BOX: (case("test_both") + CLOSES, case("test_a") + function("test_b", CLOSES))},
        ["test_box::test_both[1]", "test_box::test_both[2]"],
        ["test_box::test_a[1]", "test_box::test_a[2]", "test_box::test_b[1]", "test_box::test_b[2]"],
        {
            "test_box::test_both[1]": ("test_box::test_a[1]", "test_box::test_b[1]"),
            "test_box::test_both[2]": ("test_box::test_a[2]", "test_box::test_b[2]"),
        },
    ),
    "held by a test that stood before": (
        {BOX: (function("test_a") + function("test_b", CLOSES), function("test_a", OPENS + CLOSES))},
        ["test_box::test_b"],
        ["test_box::test_new"],
        {},
    ),
    "only gathers tests for a loader": (
        {BOX: (function("test_suite", "    return unittest.TestSuite([unittest.makeSuite(BoxTests)])\n"), "")},
        ["test_box::test_suite"],
        [],
        {"test_box::test_suite": ()},
    ),
    "asserts about what a loader gathers": (
        {
            BOX: (
                function("test_suite", "    found = unittest.makeSuite(Box)\n    assert found\n    return found\n"),
                "",
            )
        },
        ["test_box::test_suite"],
        [],
        {},
    ),
    "calls a loader and returns nothing": (
        {BOX: (function("test_load", "    TestLoader().loadTestsFromName('box')\n"), "")},
        ["test_box::test_load"],
        [],
        {},
    ),
    "into a class that others inherit": (
        {BOX: (method("TestBox", "test_a"), method("Mixin", "test_a"))},
        ["tests.test_box.TestBox::test_a"],
        ["tests.test_other.TestOther::test_a"],
        {"tests.test_box.TestBox::test_a": ("tests.test_other.TestOther::test_a",)},
    ),
    "Go": (
        {
            "box/box_test.go": tuple(
                f"package box\nfunc {name}(t *testing.T) {{\n\tif Open() != 3 {{\n\t\tt.Fatal(1)\n\t}}\n}}\n"
                for name in ("TestOpens", "TestSwings")
            )
        },
        ["m/box::TestOpens", "m/box::TestOpens/wide"],
        ["m/box::TestSwings", "m/box::TestSwings/wide"],
        {"m/box::TestOpens": ("m/box::TestSwings",), "m/box::TestOpens/wide": ("m/box::TestSwings/wide",)},
    ),
}


@pytest.mark.parametrize(("files", "gone", "added", "expected"), BY_SOURCE.values(), ids=BY_SOURCE)
def test_matches_by_the_source(files: dict[str, Texts], gone: list[str], added: list[str], expected: Found) -> None:
    compared = evidence(files, before=dict.fromkeys(gone, "passed"), after=dict.fromkeys(added, "passed"))
    assert matches(compared, gone, added) == expected


BY_PARTS = {
    "nothing is gone": ([], ["a::test_x"], {}),
    "nothing is new": (["a::test_x"], [], {}),
    "another folder": (["a.m.Box::test_x[1]"], ["b.m.Box::test_x[1]"], {"a.m.Box::test_x[1]": "b.m.Box::test_x[1]"}),
    "no folder": (["tests.m::test_x"], ["m::test_x"], {"tests.m::test_x": "m::test_x"}),
    "another class": (
        ["m.Box::test_x", "n.Lid::test_x"],
        ["m.Crate::test_x", "n.Cap::test_x"],
        {"m.Box::test_x": "m.Crate::test_x", "n.Lid::test_x": "n.Cap::test_x"},
    ),
    "another module": (["m::test_x"], ["n::test_x"], {"m::test_x": "n::test_x"}),
    "other parameters elsewhere": (["m::test_x[1]"], ["n::test_x[2]"], {}),
    "other parameters": (["m::test_x[1]"], ["m::test_x[2]", "m::test_x[3]"], {"m::test_x[1]": "m::test_x[2]"}),
    "one of two": (["m::test_x"], ["n::test_x", "o::test_x"], {}),
    "classes told by their tests": (
        ["Box::test_x", "Box::test_y", "Lid::test_x", "Lid::test_z"],
        ["Cap::test_x", "Cap::test_z", "Crate::test_x", "Crate::test_y"],
        {
            "Box::test_x": "Crate::test_x",
            "Box::test_y": "Crate::test_y",
            "Lid::test_x": "Cap::test_x",
            "Lid::test_z": "Cap::test_z",
        },
    ),
    "classes told by some of their tests": (
        ["Box::test_x", "Box::test_y", "Lid::test_x", "Lid::test_z", "Lid::test_gone"],
        ["Cap::test_x", "Cap::test_z", "Crate::test_x", "Crate::test_y", "Crate::test_new"],
        {
            "Box::test_x": "Crate::test_x",
            "Box::test_y": "Crate::test_y",
            "Lid::test_x": "Cap::test_x",
            "Lid::test_z": "Cap::test_z",
        },
    ),
    "a title below another suite": (
        ["box.test.js::a box > has a lid"],
        ["src/box.test.js::a box > has a lid"],
        {"box.test.js::a box > has a lid": "src/box.test.js::a box > has a lid"},
    ),
    "Java": (["a.BoxTest::opens()"], ["b.BoxTest::opens()"], {"a.BoxTest::opens()": "b.BoxTest::opens()"}),
    "Rust": (["c::a::tests::opens"], ["c::b::tests::opens"], {"c::a::tests::opens": "c::b::tests::opens"}),
}


@pytest.mark.parametrize(("gone", "added", "expected"), BY_PARTS.values(), ids=BY_PARTS)
def test_matches_by_the_parts_of_ids(gone: list[str], added: list[str], expected: dict[str, str]) -> None:
    found = matches(evidence({}), gone, added)
    assert found == {test: (stand_in,) for test, stand_in in expected.items()}


def test_a_test_that_got_parameters_is_all_of_them() -> None:
    assert matches(evidence({}), ["m::test_x"], ["m::test_x[2]", "m::test_x[10]"]) == {
        "m::test_x": ("m::test_x[2]", "m::test_x[10]")
    }


def test_red_tests_renamed_by_class_are_found() -> None:
    bodies = [f"    box = Box({each})\n    assert box.size({each * 3}) == {each + 40}\n" for each in range(9)]
    renamed = "".join(method(f"Test{{}}{each}", f"test_{each}", bodies[each]) for each in range(6))
    kept = "".join(method(f"TestKept{each}", "test_it", bodies[6 + each]) for each in range(3))
    old, new = renamed.replace("{}", "A") + kept, renamed.replace("{}", "B") + kept
    gone = [f"tests.test_box.TestA{each}::test_{each}" for each in range(6)]
    added = [test.replace("TestA", "TestB") for test in gone]
    stays = [f"tests.test_box.TestKept{each}::test_it" for each in range(3)]
    compared = evidence(
        {BOX: (old, new)},
        before=dict.fromkeys([*gone, *stays], "failed"),
        after=dict.fromkeys([*added, *stays], "passed"),
    )
    assert matches(compared, gone, added) == {test: (new,) for test, new in zip(gone, added, strict=True)}
    assert all(compared.began_to_pass(pair) for pair in compared.pairs)


def test_many_gone_and_few_new_ones_match_the_renamed_one_alone() -> None:
    def suite(name: str, numbers: range) -> str:
        return "".join(
            function(f"test_{name}_{each}", f"    assert Box({each}).{name}() == {each % 7}\n") for each in numbers
        )

    old = suite("open", range(133)) + function("test_crate", CLOSES)
    new = suite("paint", range(500, 532)) + function("test_full_crate", CLOSES)
    gone = ["test_box::test_crate", *(f"test_box::test_open_{each}" for each in range(133))]
    added = ["test_box::test_full_crate", *(f"test_box::test_paint_{each}" for each in range(500, 532))]
    assert matches(evidence({BOX: (old, new)}), gone, added) == {"test_box::test_crate": ("test_box::test_full_crate",)}


def test_the_order_of_the_report_decides_between_parameters() -> None:
    gone, added = ["m::test_x[b]", "m::test_x[a]"], ["m::test_x[z]", "m::test_x[y]"]
    compared = evidence({}, before=dict.fromkeys(gone, "passed"), after=dict.fromkeys(added, "passed"))
    assert matches(compared, sorted(gone), sorted(added)) == {
        "m::test_x[b]": ("m::test_x[z]",),
        "m::test_x[a]": ("m::test_x[y]",),
    }


OWNERS = st.lists(st.sampled_from(["a", "b", "m", "TestX"]), min_size=1, max_size=3).map(".".join)
IDS = st.builds(
    "{}::{}{}".format,
    OWNERS,
    st.sampled_from(["test_x", "test_y", "test_z"]),
    st.sampled_from(["", "[1]", "[2]", "[a-b]", "[b-c]"]),
)
MANY = st.lists(IDS, unique=True, max_size=12)


@given(MANY, MANY)
def test_only_added_ids_stand_for_others_and_each_once(gone, added) -> None:
    added = [test for test in added if test not in gone]
    found = matches(evidence({}), gone, added)
    stand_ins = [each for ids in found.values() for each in ids]
    assert found.keys() <= set(gone)
    assert set(stand_ins) <= set(added)
    assert len(stand_ins) == len(set(stand_ins))
    assert all(found.values())


@given(MANY, MANY, st.randoms(use_true_random=False))
def test_the_order_of_ids_makes_no_difference(gone, added, random) -> None:
    found = matches(evidence({}), gone, added)
    random.shuffle(gone)
    random.shuffle(added)
    assert matches(evidence({}), gone, added) == found


@given(MANY, st.sampled_from(["c.", "tests.deep."]))
def test_a_folder_renamed_leaves_nothing_unmatched(tests, folder) -> None:
    gone = [f"old.{test}" for test in tests]
    assert matches(evidence({}), gone, [folder + test for test in tests]) == {
        f"old.{test}": (folder + test,) for test in tests
    }


@given(st.permutations(["test_a", "test_b", "test_c", "test_d"]), st.booleans())
def test_tests_renamed_in_the_source_leave_nothing_unmatched(names, moved) -> None:
    old = "".join(function(f"{name}_old", f"    assert f({each}) == 'x'\n") for each, name in enumerate(names))
    new = "".join(
        function(f"{name}_new", f"    assert f({each}) == 'x'\n")
        for each, name in sorted(enumerate(names), reverse=True)
    )
    files: dict[str, Texts] = {BOX: (old, None), LID: (None, new)} if moved else {BOX: (old, new)}
    owner = "tests.test_lid" if moved else "tests.test_box"
    assert matches(
        evidence(files), [f"tests.test_box::{name}_old" for name in names], [f"{owner}::{name}_new" for name in names]
    ) == {f"tests.test_box::{name}_old": (f"{owner}::{name}_new",) for name in names}


@pytest.mark.parametrize(
    ("before", "new", "expected"),
    [
        pytest.param(
            {"tests.test_box": "failed"}, ["tests.test_box::test_lid"], {"tests.test_box": ()}, id="its tests are there"
        ),
        pytest.param(
            {"tests.test_box": "failed"},
            ["tests.test_box.TestBox::test_lid"],
            {"tests.test_box": ()},
            id="its classes are there",
        ),
        pytest.param({"tests.test_box": "failed"}, ["tests.test_box_2::test_lid"], {}, id="another module's are"),
        pytest.param({"tests.test_box": "passed"}, ["tests.test_box::test_lid"], {}, id="it passed: it was a test"),
    ],
)
def test_a_module_that_could_not_be_collected_was_no_test(before, new, expected):
    told = evidence({}, before=before, after=dict.fromkeys(new, "passed"))
    assert matches(told, before, new) == expected
