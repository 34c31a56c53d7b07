"""What Rust's own test harness writes."""

import pytest

from ralph_tracker.formats.parsed_report import Counts


def binary(*tests: str, passed: int = 0, failed: int = 0, ignored: int = 0, measured: int = 0, before: str = "") -> str:
    total = passed + failed + ignored + measured
    verdict = "FAILED" if failed else "ok"
    summary = f"{passed} passed; {failed} failed; {ignored} ignored; {measured} measured; 0 filtered out"
    lines = [
        f"running {total} test{'s' * (total != 1)}",
        *tests,
        "",
        f"test result: {verdict}. {summary}; finished in 0.00s",
    ]
    return f"{before}\n" + "\n".join(lines) + "\n\n"


@pytest.mark.parametrize(
    ("line", "name", "outcome", "counts"),
    [
        ("test a::b ... ok", "a::b", "passed", {"passed": 1}),
        ("test a::b ... FAILED", "a::b", "failed", {"failed": 1}),
        ("test a::b ... ignored", "a::b", "skipped", {"ignored": 1}),
        ("test a::b ... ignored, slow", "a::b", "skipped", {"ignored": 1}),
        ("test a::b - should panic ... ok", "a::b", "passed", {"passed": 1}),
        ("test a::b ... ok <0.001s>", "a::b", "passed", {"passed": 1}),
        ("test a::b ... bench:      10 ns/iter (+/- 1)", "a::b", "passed", {"measured": 1}),
        ("test src/lib.rs - add (line 5) ... ok", "src/lib.rs - add", "passed", {"passed": 1}),
        ("test src/lib.rs - add (line 5) - compile ... ok", "src/lib.rs - add - compile", "passed", {"passed": 1}),
        ("test a::b ... \x1b[32mok\x1b(B\x1b[m", "a::b", "passed", {"passed": 1}),
    ],
)
def test_a_line_is_a_test(read, line, name, outcome, counts):
    report = read(binary(line, **counts), "libtest-text")
    assert report.outcomes == {name: outcome}
    assert report.note is None


def test_binaries_add_up_and_their_names_are_told_apart(read):
    unit = "     Running unittests src/lib.rs (target/debug/deps/box-b1ff6c79d0091679)"
    other = "     Running tests/outside.rs (target\\debug\\deps\\outside-b1ff6c79d0091679.exe)"
    old = "     Running target/debug/deps/old-b1ff6c79d0091679"
    docs = "   Doc-tests box"
    text = "".join(binary("test t ... ok", passed=1, before=before) for before in (unit, other, old, docs))
    assert list(read(text, "libtest-text").outcomes) == [
        "box src/lib.rs::t",
        "outside tests/outside.rs::t",
        "old::t",
        "box doc-tests::t",
    ]


def test_without_cargos_lines_the_same_name_again_is_another_test(read):
    text = binary("test t ... ok", passed=1) + binary("test t ... FAILED", failed=1)
    assert read(text, "libtest-text").outcomes == {"t": "failed", "t#2": "passed"}


@pytest.mark.parametrize(
    "lines", [(".F.i",), ("test a ... ok",), ("test a ... ok", "test b ... ok", "test c ... ok", "test d ... ok")]
)
def test_without_all_names_the_numbers_are_right_and_nothing_else_is_told(read, lines):
    report = read(binary(*lines, passed=2, failed=1, ignored=1), "libtest-text")
    assert report.unnamed == Counts(passed=2, failed=1, skipped=1)
    assert (report.tests, report.outcomes, report.results) == (4, {}, None)
    assert report.note == "some tests have no names in it, so changed outcomes cannot be named"


def test_what_a_failed_test_wrote_is_not_read(read):
    inner = binary("test x ... ok", passed=1)
    text = binary("test a ... FAILED", "test b ... ok", "", "failures:", inner, passed=1, failed=1)
    assert read(text, "libtest-text").outcomes == {"a": "failed", "b": "passed"}


def test_a_summary_alone_counts(read):
    assert (
        read("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n", "libtest-text").tests == 3
    )


@pytest.mark.parametrize(
    ("line", "case"),
    [
        ("error: test failed, to rerun pass `--lib`", "(test run)"),
        ("error: doctest failed, to rerun pass `--doc`", "(test run)"),
        ('error: could not compile `box` (test "outside") due to 1 previous error', "(build)"),
    ],
)
def test_a_run_that_failed_though_no_test_did_is_in_error(read, line, case):
    assert read(binary("test a ... ok", passed=1) + line, "libtest-text").in_error == {case}
    assert not read(binary("test a ... FAILED", failed=1) + line, "libtest-text").in_error
    assert not read(binary("F", failed=1) + line, "libtest-text").in_error


HALF = "running 2 tests\ntest a ... ok\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (binary("test a ... ok", passed=1) + HALF, "the tests of a binary have no `test result:`"),
        (HALF + binary("test a ... ok", passed=1), "the tests of a binary have no `test result:`"),
        (f"   Doc-tests box\n{HALF}   Doc-tests lid\n", "the tests of box doc-tests have no `test result:`"),
        ("hello\n", "no `test result:` in the output of `cargo test`"),
    ],
)
def test_a_binary_without_a_summary_makes_it_unreadable(damage, text, why):
    assert damage(text, "libtest-text").why.startswith(why)
