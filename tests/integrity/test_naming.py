"""Which ids of a report belong to which test of the source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.naming import Reported, is_below, split_id

SPLIT = {
    "pytest's JUnit": ("tests.test_box.TestBox::test_lid", ("tests.test_box.TestBox", "test_lid", "")),
    "parameters": ("tests.test_box::test_lid[1-a]", ("tests.test_box", "test_lid", "[1-a]")),
    "joints in parameters": ("tests.test_box::test_lid[a::b[c]]", ("tests.test_box", "test_lid", "[a::b[c]]")),
    "a node of pytest": ("tests/test_box.py::TestBox::test_lid", ("tests/test_box.py::TestBox", "test_lid", "")),
    "an ordinal": ("test_box::test_lid#2", ("test_box", "test_lid", "#2")),
    "parameters and an ordinal": ("test_box::test_lid[1]#2", ("test_box", "test_lid", "[1]#2")),
    "a subtest of unittest": ("test_box.TestBox::test_lid (i=1)", ("test_box.TestBox", "test_lid", " (i=1)")),
    "JUnit of Java": ("pkg.BoxTest::opens(int)[1]", ("pkg.BoxTest", "opens", "(int)[1]")),
    "Go": ("example.com/box::TestOpens", ("example.com/box", "TestOpens", "")),
    "a subtest of Go": ("example.com/box::TestOpens/wide_open", ("example.com/box", "TestOpens", "/wide_open")),
    "Rust": ("crate::box::tests::opens", ("crate::box::tests", "opens", "")),
    "a case of Rust": ("crate::tests::opens::case_1_wide", ("crate::tests", "opens", "::case_1_wide")),
    "a title": ("src/box.test.js::a box > has a lid", ("src/box.test.js", "a box > has a lid", "")),
    "a title with an ordinal": ("a box::has a lid#3", ("a box", "has a lid", "#3")),
    "no owner": ("test_lid", ("", "test_lid", "")),
    "nothing": ("", ("", "", "")),
}


@pytest.mark.parametrize(("test", "expected"), SPLIT.values(), ids=SPLIT)
def test_splits_ids(test: str, expected: tuple[str, str, str]) -> None:
    assert split_id(test) == expected


PYTHON = ("tests/unit/test_box.py", "TestBox::test_lid")
LOOKED_UP = {
    "in full": (*PYTHON, ["tests.unit.test_box.TestBox::test_lid"], ["tests.unit.test_box.TestOther::test_lid"]),
    "by file": (*PYTHON, ["tests/unit/test_box.py::TestBox::test_lid"], ["tests/unit/test_box.py::test_lid"]),
    "each of its parameters": (
        *PYTHON,
        ["tests.unit.test_box.TestBox::test_lid[1]", "tests.unit.test_box.TestBox::test_lid[a::b[c]]"],
        ["tests.unit.test_box.TestBox::test_lids[1]"],
    ),
    "without the folders": (*PYTHON, ["test_box.TestBox::test_lid"], ["test_crate.TestBox::test_lid"]),
    "by the class alone": (*PYTHON, ["TestBox::test_lid"], ["TestCrate::test_lid"]),
    "without an owner": (*PYTHON, ["test_lid"], ["test_other"]),
    "below the root": (*PYTHON, ["backend.tests.unit.test_box.TestBox::test_lid"], ["unit.tests.test_box::test_lid"]),
    "in full before shorter ones": (
        *PYTHON,
        ["tests.unit.test_box.TestBox::test_lid"],
        ["test_box.TestBox::test_lid", "more.tests.unit.test_box.TestBox::test_lid"],
    ),
    "the fewest folders above": (
        "test_box.py",
        "test_lid",
        ["tests.test_box::test_lid"],
        ["tests.unit.test_box::test_lid"],
    ),
    "a layout with src": (
        "src/box/tests/test_box.py",
        "test_lid",
        ["box.tests.test_box::test_lid"],
        ["lid.tests.test_box::test_lid"],
    ),
    "a nested class": (
        "tests/test_box.py",
        "TestBox::TestLid::test_opens",
        ["tests.test_box.TestBox.TestLid::test_opens"],
        ["tests.test_box.TestBox::test_opens"],
    ),
    "no such function": ("tests/test_box.py", "test_other", [], ["tests.test_box::test_lid"]),
    "Go": (
        "pkg/box/box_test.go",
        "TestOpens",
        ["example.com/m/pkg/box::TestOpens", "example.com/m/pkg/box::TestOpens/wide"],
        ["example.com/m/pkg/lid::TestOpens", "example.com/m/pkg/box::TestOpensWide"],
    ),
    "a subtest of Go": (
        "box/box_test.go",
        "TestOpens/wide",
        ["m/box::TestOpens/wide", "m/box::TestOpens/wide/er"],
        ["m/box::TestOpens", "m/box::TestOpens/wider"],
    ),
    "Rust": ("src/box.rs", "tests::opens", ["crate::box::tests::opens"], ["crate::lid::tests::opens"]),
    "cases of Rust": ("src/lib.rs", "tests::opens", ["crate::tests::opens::case_1", "crate::tests::opens::case_2"], []),
    "a function called as a case": ("src/lib.rs", "case_open", ["crate::case_open"], []),
    "Java": (
        "src/test/java/com/box/BoxTest.java",
        "BoxTest::opens",
        ["com.box.BoxTest::opens()", "com.box.BoxTest::opens(int)[1]"],
        ["com.lid.BoxTest::opens()", "com.box.LidTest::opens()"],
    ),
    "a nested class of Java": ("BoxTest.java", "BoxTest::Inner::opens", ["BoxTest$Inner::opens()"], []),
    "a title below its file": (
        "src/box.test.js",
        "a box::has a lid",
        ["src/box.test.js::a box > has a lid"],
        ["src/other.test.js::a box > has a lid", "src/box.test.js::a box > has a lid too"],
    ),
    "a title in one line": ("src/box.test.ts", "a box::has a lid", ["a box has a lid"], ["a lid"]),
    "a title below its suite": ("src/box.test.tsx", "a box::opens", ["a box::opens", "a box::opens#2"], ["b::opens"]),
    "a title without a word": ("src/box.test.js", "…", [], ["…", ""]),
}


@pytest.mark.parametrize(("path", "name", "own", "others"), LOOKED_UP.values(), ids=LOOKED_UP)
def test_looks_ids_up(path: str, name: str, own: list[str], others: list[str]) -> None:
    assert Reported([*others, *own]).ids_of(path, name) == tuple(sorted(own))


PARTS = st.lists(st.from_regex(r"[a-z]{1,3}", fullmatch=True), min_size=1, max_size=3)


@given(PARTS, st.from_regex(r"test_[a-z]{1,4}", fullmatch=True), st.text(max_size=6), st.integers(0, 3))
def test_finds_its_own_parameters_whatever_they_hold(folders, function, parameters, above) -> None:
    owner = ".".join(folders[min(above, len(folders) - 1) :])
    own = f"{owner}::{function}[{parameters}]"
    assert Reported([own, f"{owner}::other[{parameters}]"]).ids_of("/".join(folders) + ".py", function) == (own,)


@given(st.lists(st.text(alphabet="ab::[]()#/ .>1", max_size=12), max_size=6), st.text(alphabet="ab:/", max_size=6))
def test_any_text_may_be_an_id(ids, name) -> None:
    for path in ("a.py", "a.js", "a_test.go", "a.rs", "a.java"):
        assert set(Reported(ids).ids_of(path, name)) <= set(ids)


@given(st.sets(st.sampled_from([f"tests.{file}::{test}" for file in "ab" for test in ("test_x", "test_y[1]", "a y")])))
def test_some_of_the_ids_are_found_as_if_they_were_all(ids):
    whole = Reported({"tests.a::test_x", "tests.b::test_x", "tests.b::test_y[1]", "c::a y"} | ids)
    for path, name in (("tests/a.py", "test_x"), ("tests/b.py", "test_y"), ("b.test.js", "y")):
        assert whole.among(ids).ids_of(path, name) == Reported(ids).ids_of(path, name)


BELOW = {
    "of a folder": ("tests.test_box::test_a", "tests", True),
    "of a file": ("tests.test_box.TestBox::test_a", "tests/test_box.py", True),
    "of a folder whose upper ones are not told": ("tests.unit.test_box::test_a", "lib/tests/unit/", True),
    "of the root": ("tests.test_box::test_a", "", True),
    "names no folder": ("test_box::test_a", "other/", True),
    "of another folder": ("tests.test_box::test_a", "other/", False),
    "of another file": ("tests.test_box::test_a", "tests/test_lid.py", False),
}


@pytest.mark.parametrize(("test", "path", "expected"), BELOW.values(), ids=BELOW)
def test_tells_whether_an_id_may_stand_below_a_path(test: str, path: str, *, expected: bool) -> None:
    assert is_below(test, path) is expected
