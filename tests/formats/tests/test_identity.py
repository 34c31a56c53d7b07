"""What a test is called, whatever else is in the report."""

from ralph_tracker.formats.tests.identity import Ordinals, file, of, prefix
from tests.tables import table


@table(
    ("suites", "owner", "expected"),
    [
        ((), "", ""),
        ((), "C", "C::"),
        (("pytest",), "tests.test_box", "tests.test_box::"),
        (("Unit", "Box"), "", "Unit::Box::"),
        (("", "Box", "Box"), "", "Box::"),
        # The suite repeats the class, or a part of it.
        (("src/box.test.ts",), "src/box.test.ts", "src/box.test.ts::"),
        (("tests.box",), "tests.box.TestLid", "tests.box.TestLid::"),
        (("Tests\\BoxTest",), "Tests.BoxTest", "Tests.BoxTest::"),
        (("a box",), "a box with a lid", "a box with a lid::"),
        (("box",), "tests.boxes", "box::tests.boxes::"),
        # The suite is the class and the time of the run.
        (("test_box.TestBox-20261121103000",), "test_box.TestBox", "test_box.TestBox::"),
        # The suite says more than the class.
        (("example.org/box/lid",), "lid", "example.org/box/lid::lid::"),
        (("Chrome", "Firefox"), "C", "Chrome::Firefox::C::"),
        # Where the checkout lies says nothing about a test that has a class.
        (("/checkout/phpunit.xml", "Unit"), "Tests.BoxTest", "Unit::Tests.BoxTest::"),
        (("C:\\checkout\\box.js",), "C", "C::"),
        (("/checkout/box.bats",), "", "/checkout/box.bats::"),
    ],
)
def test_a_suite_is_named_where_it_adds_information(suites, owner, expected):
    assert prefix(suites, owner) == expected


@table(
    ("owner", "name", "expected"),
    [
        ("Box", "opens", "Box::opens"),
        ("", "opens", "opens"),
        ("A.Box", "A.Box.Opens", "A.Box.Opens"),
        ("Box", "A.Box.Opens", "A.Box.Opens"),
        ("Box", "", "Box::(unnamed)"),
        ("/checkout/Box.dll", "opens", "opens"),
        ("box", "a box opens", "box::a box opens"),
    ],
)
def test_an_owner_is_named_where_the_name_does_not_repeat_it(owner, name, expected):
    assert of(owner, name) == expected


@table(
    ("path", "expected"),
    [
        ("./spec/box_spec.rb", "spec/box_spec.rb"),
        ("test\\box.dart", "test/box.dart"),
        ("/checkout/src/box.js", "box.js"),
        ("C:\\checkout\\src\\box.js", "box.js"),
        ("", ""),
    ],
)
def test_a_file_has_the_same_name_on_every_machine(path, expected):
    assert file(path) == expected


def test_ordinals_pass_over_what_is_taken():
    ordinals = Ordinals()
    assert [ordinals.next("t", {"t", "t#3"}) for _ in range(3)] == ["t#2", "t#4", "t#5"]
