"""What the ids of a report say, and which test file they belong to."""

import time

from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.report_ids import files_of, split_id
from tests.tables import table

SPLIT = {
    "pytest's JUnit": ("tests.test_box.TestBox::test_lid", ("tests test_box TestBox", "test_lid", "")),
    "parameters": ("tests.test_box::test_lid[1-a]", ("tests test_box", "test_lid", "[1-a]")),
    "joints in parameters": ("tests.test_box::test_lid[a::b[c]]", ("tests test_box", "test_lid", "[a::b[c]]")),
    "a node of pytest": ("tests/test_box.py::TestBox::test_lid", ("tests test_box TestBox", "test_lid", "")),
    "an ordinal": ("test_box::test_lid#2", ("test_box", "test_lid", "#2")),
    "a subtest of unittest": ("test_box.TestBox::test_lid (i=1)", ("test_box TestBox", "test_lid", " (i=1)")),
    "Surefire": ("pkg.BoxTest::opens(int)[1]", ("pkg BoxTest", "opens", "(int)[1]")),
    "Go": ("example.com/box::TestOpens", ("example com box", "TestOpens", "")),
    "a subtest of Go": ("example.com/box::TestOpens/wide_open", ("example com box", "TestOpens", "/wide_open")),
    "nextest": ("crate::outside::tests::opens", ("crate outside tests", "opens", "")),
    "cargo": ("a_crate src/lib.rs::boxes::tests::opens", ("a_crate boxes tests", "opens", "")),
    "cargo's other targets": ("outside tests/outside.rs::opens", ("outside", "opens", "")),
    "a case of Rust": ("crate::tests::opens::case_1_wide", ("crate tests", "opens", "::case_1_wide")),
    "a title": ("src/box.test.js::a box > has::a lid", ("src box test js", "a box > has::a lid", "")),
    "a title with an ordinal": ("a box::has a lid#3", ("a box", "has a lid", "#3")),
    ".NET": ("Example.BoxTest.Holds(1)", ("Example BoxTest", "Holds", "(1)")),
    "no owner": ("test_lid", ("", "test_lid", "")),
    "nothing": ("", ("", "", "")),
}


@table(("test", "expected"), SPLIT.values(), ids=SPLIT)
def test_an_id_has_an_owner_a_function_and_parameters(test, expected):
    found = split_id(test)
    assert (" ".join(found.owner), *found[1:]) == expected


PATHS = [
    "tests/test_box.py",
    "tests/unit/test_box.py",
    "tests/unit/test_lid.py",
    "src/box.test.js",
    "src/deep/box.test.js",
    "box/box_test.go",
    "lid/a_test.go",
    "lid/b_test.go",
    "src/lib.rs",
    "src/boxes.rs",
    "tests/outside.rs",
    "src/test/java/com/box/BoxTest.java",
    "src/test/java/com/lid/LidTest.java",
]
FILES = {
    "pytest": ("tests.test_box.TestBox::test_lid[1]", "tests/test_box.py"),
    "the longer path": ("tests.unit.test_box::test_lid", "tests/unit/test_box.py"),
    "without folders": ("test_lid.TestLid::test_opens", "tests/unit/test_lid.py"),
    "below a folder above the root": ("backend.tests.unit.test_lid::test_opens", "tests/unit/test_lid.py"),
    "pytest's summary": ("tests/unit/test_box.py::TestBox::test_lid", "tests/unit/test_box.py"),
    "a suite around it": ("box on python 3.11::tests.unit.test_lid::test_a", "tests/unit/test_lid.py"),
    "jest": ("src/deep/box.test.js::a box > has a lid", "src/deep/box.test.js"),
    "Go": ("example.com/m/box::TestOpens/wide", "box/box_test.go"),
    "cargo": ("m src/lib.rs::boxes::tests::opens", "src/boxes.rs"),
    "cargo's root": ("m src/lib.rs::tests::opens", "src/lib.rs"),
    "nextest": ("m::outside::opens", "tests/outside.rs"),
    "Surefire": ("com.lid.LidTest::opens(int)[1]", "src/test/java/com/lid/LidTest.java"),
    "a nested class": ("com.box.BoxTest$Inner::opens()", "src/test/java/com/box/BoxTest.java"),
}


@table(("test", "path"), FILES.values(), ids=FILES)
def test_an_id_tells_its_file(test, path):
    assert files_of([test], dict.fromkeys(PATHS, "")) == {test: (path,)}


def test_the_texts_of_files_decide_where_the_place_leaves_several():
    texts = {**dict.fromkeys(PATHS, ""), "lid/b_test.go": "func TestOpens(", "src/box.test.js": "it('a lid opens', f)"}
    ids = ["m/lid::TestOpens", "a box > a lid opens", "m/lid::TestGone"]
    assert files_of(ids, texts) == {ids[0]: ("lid/b_test.go",), ids[1]: ("src/box.test.js",), ids[2]: ()}


def test_ten_thousand_ids_are_looked_up_at_once():
    texts = {f"tests/test_{each}.py": "" for each in range(100)}
    ids = [f"tests.test_{each // 100}.TestBox::test_{each}[1]" for each in range(10_000)]
    began = time.process_time()
    assert all(files_of(ids, texts).values())
    assert time.process_time() - began < 4


@given(st.lists(st.text(alphabet="ab::[]()#/ .>1$%{}", max_size=12), max_size=6))
def test_any_text_may_be_an_id(ids):
    assert set(files_of(ids, dict.fromkeys(["a.py", "a.js", "src/lib.rs"], "a"))) == set(ids)
