"""Which ids of a report stand for those that vanished from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.matched_tests import matches
from ralph_tracker.integrity.source_tests import tests_of as read
from tests.tables import table

Texts = tuple[str, str]
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
    "what does little": (
        {BOX: (function("test_lid", "    Box().open()") + function("test_box"), function("test_box"))},
        ["tests.test_box::test_lid"],
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
        {},
    ),
    "parameters called otherwise": (
        {BOX: (case("test_a"), case("test_a") + "\n")},
        ["test_box::test_a[1]", "test_box::test_a[2]"],
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


def matched(files, gone, added, kept=()):
    old, new = ([test for path, texts in files.items() for test in read(path, texts[side])] for side in (0, 1))
    return matches(dict.fromkeys(gone, "passed"), dict.fromkeys(added, "passed"), old, new, kept)


@table(("files", "gone", "added", "expected"), BY_SOURCE.values(), ids=BY_SOURCE)
def test_tests_are_matched_by_what_they_say(files, gone, added, expected):
    assert matched(files, gone, added) == expected


BY_PARTS = {
    "nothing is gone": ([], ["a::test_x"], {}),
    "nothing is new": (["a::test_x"], [], {}),
    "another folder": (["a.m.Box::test_x[1]"], ["b.m.Box::test_x[1]"], {"a.m.Box::test_x[1]": "b.m.Box::test_x[1]"}),
    "no folder": (["tests.m::test_x"], ["m::test_x"], {"tests.m::test_x": "m::test_x"}),
    "no folder of two": (
        ["tests.m::test_x", "tests.n::test_x"],
        ["m::test_x", "n::test_x"],
        {"tests.m::test_x": "m::test_x", "tests.n::test_x": "n::test_x"},
    ),
    "another class": (
        ["m.Box::test_x", "n.Lid::test_x"],
        ["m.Crate::test_x", "n.Cap::test_x"],
        {"m.Box::test_x": "m.Crate::test_x", "n.Lid::test_x": "n.Cap::test_x"},
    ),
    "another module": (["m::test_x"], ["n::test_x"], {"m::test_x": "n::test_x"}),
    "other parameters elsewhere": (["m::test_x[1]"], ["n::test_x[2]"], {}),
    "other parameters": (["m::test_x[1]"], ["m::test_x[2]"], {"m::test_x[1]": "m::test_x[2]"}),
    "one of two other parameters": (["m::test_x[1]"], ["m::test_x[2]", "m::test_x[3]"], {}),
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


@table(("gone", "added", "expected"), BY_PARTS.values(), ids=BY_PARTS)
def test_tests_of_unknown_files_are_matched_by_the_parts_of_their_ids(gone, added, expected):
    assert matched({}, gone, added) == {test: (stand_in,) for test, stand_in in expected.items()}


KEPT = {
    "a double is dropped": (
        {BOX: (function("test_a") + function("test_b"), function("test_a"))},
        ["test_box::test_b"],
        [],
        ["test_box::test_a"],
        {"test_box::test_b": ("test_box::test_a",)},
    ),
    "a double in one line is dropped": (
        {"a.test.js": ("it('a', () => { check(7) });\nit('b', () => { check(7) });", "it('a', () => { check(7) });")},
        ["a.test.js::b"],
        [],
        ["a.test.js::a"],
        {"a.test.js::b": ("a.test.js::a",)},
    ),
    "what says something else is no double": (
        {BOX: (function("test_a") + function("test_b", CLOSES), function("test_a"))},
        ["test_box::test_b"],
        [],
        ["test_box::test_a"],
        {},
    ),
    "merged into one that stood before": (
        {BOX: (function("test_a") + function("test_b", CLOSES), function("test_a", OPENS + CLOSES))},
        ["test_box::test_b"],
        [],
        ["test_box::test_a"],
        {"test_box::test_b": ("test_box::test_a",)},
    ),
    "an id that is still there is not gone": (
        {BOX: (function("test_a"), function("test_a"))},
        ["test_box::test_a"],
        [],
        ["test_box::test_a"],
        {},
    ),
    "a case that is dropped": (
        {BOX: (AREAS, AREAS.replace(", (3, 9)", ""))},
        ["test_box::test_area[3-9]"],
        [],
        ["test_box::test_area[2-4]"],
        {},
    ),
}


@table(("files", "gone", "added", "kept", "expected"), KEPT.values(), ids=KEPT)
def test_what_stands_in_a_test_that_is_still_there_is_not_lost(files, gone, added, kept, expected):
    assert matched(files, gone, added, kept) == expected


SCRIPT = "box.test.ts"
OTHERS = {
    "a title in JavaScript": (
        {SCRIPT: ("it('opens', () => { expect(a(3)).toBe(4) })", 'it("is open", () => { expect(a(3)).toBe(4); });')},
        ["box.test.ts::opens"],
        ["box.test.ts::is open"],
        {"box.test.ts::opens": ("box.test.ts::is open",)},
    ),
    "a suite in JavaScript": (
        {SCRIPT: tuple(f"describe('{each}', () => {{ it('opens', () => {{ expect(a).toBe(4) }}) }})" for each in "ab")},
        ["box.test.ts::a > opens"],
        ["box.test.ts::b > opens"],
        {"box.test.ts::a > opens": ("box.test.ts::b > opens",)},
    ),
    "a table in JavaScript": (
        {
            SCRIPT: (
                (
                    "it('adds one', () => { expect(add(1, 4)).toBe(5) });\n"
                    "it('adds two', () => { expect(add(2, 4)).toBe(6) })"
                ),
                "it.each([[1, 5], [2, 6]])('adds %i', (a, sum) => { expect(add(a, 4)).toBe(sum) })",
            )
        },
        ["box.test.ts::adds one", "box.test.ts::adds two"],
        ["box.test.ts::adds 1", "box.test.ts::adds 2"],
        {"box.test.ts::adds one": ("box.test.ts::adds 1",), "box.test.ts::adds two": ("box.test.ts::adds 2",)},
    ),
    "another value": (
        {SCRIPT: ("it('opens', () => { expect(a(3)).toBe(4) })", "it('is', () => { expect(a(3)).toBe(5) })")},
        ["box.test.ts::opens"],
        ["box.test.ts::is"],
        {},
    ),
    "Rust": (
        {"src/a.rs": tuple(f"mod tests {{\n#[test]\nfn {name}() {{\n assert_eq!(a(3), 4);\n}}\n}}" for name in "bc")},
        ["m src/lib.rs::a::tests::b"],
        ["m src/lib.rs::a::tests::c"],
        {"m src/lib.rs::a::tests::b": ("m src/lib.rs::a::tests::c",)},
    ),
    "rows of Java": (
        {
            "BoxTest.java": (
                (
                    "class BoxTest {\n@Test void two() { assertEquals(4, square(2)); }\n"
                    "@Test void three() { assertEquals(9, square(3)); }\n}"
                ),
                (
                    'class BoxTest {\n@ParameterizedTest @CsvSource({"2, 4", "3, 9"})\n'
                    "void squares(int a, int b) { assertEquals(b, square(a)); }\n}"
                ),
            )
        },
        ["BoxTest::two()", "BoxTest::three()"],
        ["BoxTest::squares(int, int)[1]", "BoxTest::squares(int, int)[2]"],
        {
            "BoxTest::two()": ("BoxTest::squares(int, int)[1]",),
            "BoxTest::three()": ("BoxTest::squares(int, int)[2]",),
        },
    ),
    "layout, comments and documentation": (
        {
            BOX: (
                function("test_a", "    assert f(1, 2) == 'x'\n"),
                function("test_b", '    """Tell."""\n    # so\n    assert f(\n        1,\n        2,\n    ) == "x"\n'),
            )
        },
        ["test_box::test_a"],
        ["test_box::test_b"],
        {"test_box::test_a": ("test_box::test_b",)},
    ),
    "nearly the same": (
        {BOX: (function("test_a", OPENS + CLOSES), function("test_b", (OPENS + CLOSES).replace("angle", "turn")))},
        ["test_box::test_a"],
        ["test_box::test_b"],
        {"test_box::test_a": ("test_box::test_b",)},
    ),
    "the same values in other words": (
        {BOX: (function("test_a"), function("test_b", "    crate.fill(3)\n    for each in crate: check(each < 90)\n"))},
        ["test_box::test_a"],
        ["test_box::test_b"],
        {},
    ),
    "moved and changed": (
        {
            BOX: (function("test_a", OPENS + CLOSES), ""),
            LID: ("", function("test_a", (OPENS + CLOSES).replace("90", "45"))),
        },
        ["tests.test_box::test_a"],
        ["tests.test_lid::test_a"],
        {"tests.test_box::test_a": ("tests.test_lid::test_a",)},
    ),
    "nearly the same as two": (
        {
            BOX: (
                function("test_a", OPENS + CLOSES),
                "".join(function(f"test_{new}", (OPENS + CLOSES).replace("angle", new)) for new in ("turn", "tilt")),
            )
        },
        ["test_box::test_a"],
        ["test_box::test_turn", "test_box::test_tilt"],
        {},
    ),
}


@table(("files", "gone", "added", "expected"), OTHERS.values(), ids=OTHERS)
def test_tests_are_matched_alike_in_every_language(files, gone, added, expected):
    assert matched(files, gone, added) == expected


@pytest.mark.parametrize(("many", "compared"), [(50, True), (51, False)])
def test_changed_tests_of_the_same_literals_are_compared_up_to_fifty_by_fifty(many, compared):
    def body(number: int, *steps: str) -> str:
        calls = "".join(f"    box.{step}_{number}(lid)\n" for step in ("open", "fill", "close", "move", *steps))
        return f"    box = Box()\n{calls}    assert box.angle == 90\n"

    numbers = range(many)
    texts = (
        "\n".join(function(f"test_{number}", body(number, "weigh")) for number in numbers),
        "\n".join(function(f"test_new_{number}", body(number, "rest")) for number in numbers),
    )
    gone = [f"tests.test_box::test_{number}" for number in numbers]
    added = [f"tests.test_box::test_new_{number}" for number in numbers]
    expected = {one: (other,) for one, other in zip(gone, added, strict=True)} if compared else {}
    assert matched({BOX: texts}, gone, added) == expected


@pytest.mark.slow
@pytest.mark.parametrize("files", [False, True], ids=["ids alone", "with their files"])
def test_ten_thousand_tests_of_renamed_classes_are_matched(files):
    def suite(prefix):
        return {
            f"tests/test_{part}.py": "".join(
                method(f"{prefix}{each}", "test_it", f"    box = Box({part}, {each})\n    assert box.size == {each}\n")
                for each in range(100)
            )
            for part in range(100)
        }

    gone = [f"tests.test_{part}.TestA{each}::test_it" for part in range(100) for each in range(100)]
    old, new = (
        [test for path, text in suite(prefix).items() for test in read(path, text)] if files else []
        for prefix in ("TestA", "TestB")
    )
    if not files:
        gone = [f"{test}_{number}" for number, test in enumerate(gone)]
    added = [test.replace("TestA", "TestB") for test in gone]
    found = matches(dict.fromkeys(gone, "passed"), dict.fromkeys(added, "passed"), old, new)
    assert found == {one: (other,) for one, other in zip(gone, added, strict=True)}


OWNERS = st.lists(st.sampled_from(["a", "b", "m", "TestX"]), min_size=1, max_size=3).map(".".join)
IDS = st.builds(
    "{}::{}{}".format,
    OWNERS,
    st.sampled_from(["test_x", "test_y", "test_z"]),
    st.sampled_from(["", "[1]", "[2]", "[a-b]", "[b-c]"]),
)
MANY = st.lists(IDS, unique=True, max_size=12)


@given(MANY, MANY, MANY)
def test_ids_that_are_there_stand_for_ids_that_are_not(gone, added, kept):
    found = matched({}, gone, added, kept)
    assert found.keys() <= set(gone).difference(added, kept)
    assert all(stand_ins and set(stand_ins) <= set(added) for stand_ins in found.values())


@given(MANY, MANY)
def test_no_id_stands_for_two_that_are_gone(gone, added):
    stand_ins = [each for ids in matched({}, gone, added).values() for each in ids]
    assert len(stand_ins) == len(set(stand_ins))


@given(MANY, st.sampled_from(["c.", "tests.deep."]))
def test_a_folder_renamed_leaves_nothing_unmatched(tests, folder):
    gone = [f"old.{test}" for test in tests]
    assert matched({}, gone, [folder + test for test in tests]) == {f"old.{test}": (folder + test,) for test in tests}


STATEMENTS = st.sampled_from(["box = Box()", "box.open(3)", "assert box.lid == 'x'", "assert f(7)", "pass"])
BODIES = st.lists(
    st.lists(STATEMENTS, min_size=1, max_size=4).map(lambda lines: "".join(f"    {line}\n" for line in lines)),
    min_size=1,
    max_size=6,
    unique=True,
)


@given(BODIES, st.randoms(use_true_random=False), st.booleans())
def test_all_tests_of_a_file_renamed_are_matched_one_to_one(bodies, random, moved):
    numbered = list(enumerate(bodies))
    old = "".join(function(f"test_{each}_old", body) for each, body in numbered)
    random.shuffle(numbered)
    new = "".join(function(f"test_{each}_new", body) for each, body in numbered)
    path, owner = (LID, "tests.test_lid") if moved else (BOX, "tests.test_box")
    files = {BOX: (old, ""), LID: ("", new)} if moved else {BOX: (old, new)}
    assert path in files
    names = range(len(bodies))
    assert matched(
        files, [f"tests.test_box::test_{each}_old" for each in names], [f"{owner}::test_{each}_new" for each in names]
    ) == {f"tests.test_box::test_{each}_old": (f"{owner}::test_{each}_new",) for each in names}


@given(st.text(alphabet="def test_a():\n [](){},'\"`#/*=1", max_size=60), st.text(alphabet="t()'\"[,]1\n", max_size=40))
def test_any_text_can_be_matched(old, new):
    matched({BOX: (function("test_a", old), function("test_b", new))}, ["test_box::test_a"], ["test_box::test_b"])
