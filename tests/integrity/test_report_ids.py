"""What the ids of a report say, and which file and test of the source they belong to."""

import time

from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.report_ids import definitions, files_of, split_id
from ralph_tracker.integrity.source_tests import SourceTest
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
    "of two files": ("test_box::test_lid", None),
    "of another folder": ("other.test_lid::test_opens", None),
    "pytest's summary": ("tests/unit/test_box.py::TestBox::test_lid", "tests/unit/test_box.py"),
    "a suite around it": ("box on python 3.11::tests.unit.test_lid::test_a", "tests/unit/test_lid.py"),
    "jest": ("src/deep/box.test.js::a box > has a lid", "src/deep/box.test.js"),
    "Go": ("example.com/m/box::TestOpens/wide", "box/box_test.go"),
    "a package of several files": ("example.com/m/lid::TestOpens", None),
    "cargo": ("m src/lib.rs::boxes::tests::opens", "src/boxes.rs"),
    "cargo's root": ("m src/lib.rs::tests::opens", "src/lib.rs"),
    "nextest": ("m::outside::opens", "tests/outside.rs"),
    "Surefire": ("com.lid.LidTest::opens(int)[1]", "src/test/java/com/lid/LidTest.java"),
    "a nested class": ("com.box.BoxTest$Inner::opens()", "src/test/java/com/box/BoxTest.java"),
}


@table(("test", "path"), FILES.values(), ids=FILES)
def test_an_id_tells_its_file(test, path):
    assert files_of([test], PATHS) == {test: path}


def source(path, name):
    return SourceTest(path, name, 1, 1, "")


def test_what_files_define_decides_between_them():
    tests = [source("lid/b_test.go", "TestOpens"), source("box/box_test.go", "TestOpens"), source("a.js", "a::opens")]
    assert files_of(["m/lid::TestOpens", "a opens"], PATHS, tests) == {
        "m/lid::TestOpens": "lid/b_test.go",
        "a opens": "a.js",
    }


PYTHON = ("tests/unit/test_box.py", "TestBox::test_lid")
DEFINED = {
    "in full": (*PYTHON, "tests.unit.test_box.TestBox::test_lid", "tests.unit.test_box.TestOther::test_lid"),
    "by file": (*PYTHON, "tests/unit/test_box.py::TestBox::test_lid", "tests/unit/test_box.py::test_lid"),
    "parameters": (*PYTHON, "tests.unit.test_box.TestBox::test_lid[a::b[c]]", "tests.unit.test_box.TestBox::test_li"),
    "without folders": (*PYTHON, "test_box.TestBox::test_lid", "test_crate.TestBox::test_lid"),
    "by class": (*PYTHON, "TestBox::test_lid", "TestCrate::test_lid"),
    "below the root": (*PYTHON, "backend.tests.unit.test_box.TestBox::test_lid", "unit.tests.test_box::test_lid"),
    "Go": ("pkg/box/b_test.go", "TestOpens", "m/pkg/box::TestOpens/wide", "m/pkg/lid::TestOpens"),
    "testify": ("box/b_test.go", "BoxSuite::TestLid", "m/box::TestBoxSuite/TestLid", "m/box::TestBoxSuite/TestKey"),
    "Rust": ("src/box.rs", "tests::opens", "m::box::tests::opens", "m::lid::tests::opens"),
    "cases of Rust": ("src/lib.rs", "tests::opens", "m::tests::opens::case_1", "m::tests::opened::case_1"),
    "cargo": ("src/lib.rs", "tests::opens", "m src/lib.rs::tests::opens", "m src/lib.rs::other::opens"),
    "Java": ("src/test/java/com/box/BoxTest.java", "BoxTest::opens", "com.box.BoxTest::opens()", "com.BoxTest::opens"),
    "a nested class": ("BoxTest.java", "BoxTest::In::opens", "BoxTest$In::opens()", "BoxTest::opens()"),
    "jest": (
        "src/b.test.js",
        "a box::has a lid",
        "src/b.test.js::a box > has a lid",
        "src/c.test.js::a box > has a lid",
    ),
    "mocha": ("src/b.test.ts", "a box::has a lid", "a box has a lid", "has a lid"),
    "a title with numbers": ("b.test.js", "adds %i to $b.c", "b.test.js::box > adds 1 to 2", "b.test.js::subtracts 1"),
    "a title of a template": ("b.test.js", "adds ${a}", "b.test.js::adds one", "c.test.js::adds one"),
}


@table(("path", "name", "own", "other"), DEFINED.values(), ids=DEFINED)
def test_an_id_is_defined_by_the_test_of_its_name(path, name, own, other):
    tests = [source(path, name)]
    assert definitions([own], tests)[own]
    assert not definitions([other], tests)[other]


def test_the_closest_of_several_definitions_is_taken():
    tests = [source("test_box.py", "test_lid"), source("tests/test_box.py", "test_lid")]
    assert definitions(["tests.test_box::test_lid"], tests) == {"tests.test_box::test_lid": (tests[1],)}
    assert definitions(["test_box::test_lid"], tests) == {"test_box::test_lid": tuple(tests)}


def test_ten_thousand_ids_are_looked_up_at_once():
    tests = [source(f"tests/test_{each // 100}.py", f"TestBox::test_{each}") for each in range(10_000)]
    ids = [f"tests.test_{each // 100}.TestBox::test_{each}[1]" for each in range(10_000)]
    began = time.process_time()
    assert all(definitions(ids, tests).values())
    assert None not in files_of(ids, {test.path for test in tests}).values()
    assert time.process_time() - began < 4


TEXT = st.text(alphabet="ab::[]()#/ .>1$%{}", max_size=12)


@given(st.lists(TEXT, max_size=6), st.lists(TEXT, max_size=3))
def test_any_text_may_be_an_id(ids, names):
    tests = [source(path, name) for path in ("a.py", "a.js", "a_test.go", "a.rs", "a.java") for name in names]
    assert set(files_of(ids, ["a.py", "a.js", "src/lib.rs"], tests)) == set(ids)
    assert set(definitions(ids, tests)) == set(ids)


def test_a_test_of_a_package_is_in_none_of_the_files_of_another():
    read = [source("cart_test.go", "TestOpens")]
    paths = ["cart_test.go", "lid/one_test.go", "lid/two_test.go"]
    ids = ["example.org/cart::TestOpens", "example.org/cart/lid::TestOpens"]
    assert files_of(ids, paths, read) == {ids[0]: "cart_test.go", ids[1]: None}
