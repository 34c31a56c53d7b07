"""What is kept of a failure: the assertion and its place, short."""

from pathlib import Path

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import TestReport
from ralph_tracker.formats.tests.case_collector import (
    CHARACTERS,
    LINES,
    Ordinals,
    case_id,
    file_name,
    id_prefix,
    message,
)
from tests.tables import table

REPORTS = Path(__file__).parents[3] / "fixtures" / "reports"
PYTEST = ">       assert f() == 3\nE       assert 2 == 3\nE        +  where 2 = f()\n\ntest_a.py:5: AssertionError"
JAVA = "org.opentest4j.AssertionFailedError: expected: <3> but was: <2>\n\tat org.junit.jupiter.api.A.b(A.java:1)\n"
TRACEBACK = (
    'Traceback (most recent call last):\n  File "/x/a.py", line 1\n  File "b.py", line 2\n    f()\nKeyError: 1\n'
)


@table(
    ("said", "text", "expected"),
    [
        pytest.param("1 != 2", "", "1 != 2", id="a message alone"),
        pytest.param(None, "boom", "boom", id="a text alone"),
        pytest.param("Failed", "a_test.go:7: 1, want 2", "a_test.go:7: 1, want 2", id="a message that says nothing"),
        pytest.param(
            "assert 2 == 3\n +  where 2 = f()",
            PYTEST,
            "assert 2 == 3\n +  where 2 = f()\ntest_a.py:5: AssertionError",
            id="pytest: its marked lines and the place",
        ),
        pytest.param(
            'failed on setup with "KeyError"',
            "E       KeyError: 'a'\n\nt.py:8: KeyError",
            "failed on setup with \"KeyError\"\nKeyError: 'a'\nt.py:8: KeyError",
            id="pytest: a message that is not the text's",
        ),
        pytest.param(
            "expected: <3> but was: <2>",
            f"{JAVA}\tat BoxTest.fits(BoxTest.java:7)\n\tat Other.x(Other.java:1)\n",
            "org.opentest4j.AssertionFailedError: expected: <3> but was: <2>\n\tat BoxTest.fits(BoxTest.java:7)",
            id="Java: one frame, the project's",
        ),
        pytest.param("1", TRACEBACK, '  File "b.py", line 2\n    f()\nKeyError: 1', id="Python: the last frame on"),
        pytest.param(
            "", "\x1b[31m  Expected: 1\n  But was:  2\x1b[0m\n", "Expected: 1\nBut was:  2", id="colours, indent"
        ),
        pytest.param(
            "Failed",
            "=== RUN   TestLid\n=== PAUSE TestLid\n    lid_test.go:7: 1, want 2\n    --- FAIL: TestLid/a (0.00s)\n",
            "lid_test.go:7: 1, want 2",
            id="Go: no states of tests",
        ),
        pytest.param("", "", "", id="nothing"),
    ],
)
def test_what_is_kept_of_a_failure(said, text, expected):
    assert message(said, text) == expected


@table("text", ["x\n" * 100, "x" * 10_000, f"{'E   ' + 'x' * 100}\n" * 50 + "t.py:8: KeyError"])
def test_a_message_is_short(text):
    found = message("", text)
    assert len(found) <= CHARACTERS
    assert len(found.splitlines()) <= LINES
    assert "…" in found


def test_the_place_stays_where_a_message_is_cut():
    assert message("", "E   x\n" * 50 + "t.py:8: KeyError").endswith("\nt.py:8: KeyError")


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
    assert id_prefix(suites, owner) == expected


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
    assert case_id(owner, name) == expected


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
    assert file_name(path) == expected


def test_ordinals_pass_over_what_is_taken():
    ordinals = Ordinals()
    assert [ordinals.next("t", {"t", "t#3"}) for _ in range(3)] == ["t#2", "t#4", "t#5"]


def test_of_a_long_message_both_ends_remain():
    text = "\n".join(["Expected:", *(f"  {number}" for number in range(50)), "Received:", "  nothing"])
    found = message(text).splitlines()
    assert (found[0], found[-2:], len(found)) == ("Expected:", ["Received:", "  nothing"], LINES)
    one_line = message("left " + "x" * 5_000 + " right")
    assert (one_line[:5], one_line[-6:], len(one_line) <= CHARACTERS) == ("left ", " right", True)


@table(
    ("report", "test", "sides"),
    [
        ("junit/node-diffs", "test::big", ("+   k150: 1,", "-   k150: 2,", "n.test.js:1:119")),
        ("junit/node-diffs", "test::list", ("+   0,", "-   25,", "n.test.js:1:119")),
        ("junit/node-diffs", "test::text", ("aX'", "aY'", "n.test.js:1:162")),
        ("tap/node-diffs", "big", ("+   k150: 1,", "-   k150: 2,", "n.test.js:3:1")),
        ("jest-json/jest-diffs", "d.test.js::big", ('-   "k150": 2,', '+   "k150": 1,', "d.test.js:2:36")),
        ("jest-json/jest-diffs", "d.test.js::list", ("+   0,", "-   300,", "d.test.js:3:53")),
        ("jest-json/jest-diffs", "d.test.js::text", ('aY"', 'aX"', "d.test.js:4:53")),
        ("junit/vitest-diffs", "d.test.js::big", ('-   "k150": 2,', '+   "k150": 1,', "d.test.js:2:36")),
        ("junit/vitest-diffs", "d.test.js::text", ('aY"', 'aX"', "d.test.js:4:53")),
        ("junit/phpunit-diffs", "DTest::testBig", ("-    150 => 150", "+    150 => -1", "DTest.php:3")),
        ("junit/phpunit-diffs", "DTest::testText", ("aX'", "aY'", "DTest.php:4")),
    ],
)
def test_of_a_long_difference_both_sides_and_the_place_remain(report, test, sides):
    (path,) = (REPORTS / report).glob("report.*")
    result = registry.read(path.read_bytes())
    assert isinstance(result, TestReport)
    said = result.messages[test]
    assert [side for side in sides if side not in said] == []
    assert (len(said) <= CHARACTERS, len(said.splitlines()) <= LINES) == (True, True)


def test_a_panic_of_rust_is_its_message_then_its_place():
    text = "thread 't::adds' panicked at src/lib.rs:7:9:\nassertion failed: sum\n  left: 1\nnote: run with"
    assert message(text) == "assertion failed: sum\n  left: 1\nsrc/lib.rs:7:9"


def test_an_error_of_node_is_its_message_without_the_dump():
    dump = (
        "[Error [ERR_TEST_FAILURE]: no] {\n  cause: Error: no\n"
        "      at Test.run (node:internal/test_runner/test:797:9)\n      at TestContext.x (/p/a.test.js:2:60) {\n"
        "    code: 'ERR_ASSERTION'\n  }\n}"
    )
    assert message("no", dump) == "no\n      at TestContext.x (/p/a.test.js:2:60)"
