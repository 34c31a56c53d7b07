"""What a test is called, whatever else is in the report."""

import pytest

from ralph_tracker.formats.tests.identity import Ordinals, prefix


@pytest.mark.parametrize(
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


def test_ordinals_pass_over_what_is_taken():
    ordinals = Ordinals()
    assert [ordinals.next("t", {"t", "t#3"}) for _ in range(3)] == ["t#2", "t#4", "t#5"]
