"""TAP, versions 12 to 14: lines in, cases out."""

import pytest

from ralph_tracker.core.known_tests import STOPPED_RUN


def lines(*text: str) -> str:
    return "".join(f"{each}\n" for each in text)


@pytest.mark.parametrize(
    ("line", "name", "outcome"),
    [
        ("ok", "(unnamed)", "passed"),
        ("not ok", "(unnamed)", "failed"),
        ("ok 1", "(unnamed)", "passed"),
        ("ok 1 a lid", "a lid", "passed"),
        ("ok 1 - a lid", "a lid", "passed"),
        ("ok 1-a lid", "a lid", "passed"),
        ("ok - a lid", "a lid", "passed"),
        ("not ok 1 - a lid", "a lid", "failed"),
        ("ok 1 - a lid # SKIP no lid", "a lid", "skipped"),
        ("ok 1 - a lid # skipped", "a lid", "skipped"),
        ("ok 1 # SKIP", "(unnamed)", "skipped"),
        ("ok-# skip", "(unnamed)", "skipped"),
        ("not ok 1 - a lid # TODO", "a lid", "skipped"),
        ("ok 1 - a lid # todo later", "a lid", "skipped"),
        ("not ok 1 - a lid # todos", "a lid # todos", "failed"),
        ("not ok 1 - lid #2", "lid #2", "failed"),
        (r"not ok 1 - a \# SKIP", r"a \# SKIP", "failed"),
        ("ok 1 - a.js # time=12.5ms", "a.js", "passed"),
    ],
)
def test_a_line_is_a_test(read, outcomes, line, name, outcome):
    report = read(lines("TAP version 13", "1..1", line), "tap")
    assert (list(report.outcomes), outcomes(report)) == ([name], [outcome])


@pytest.mark.parametrize(
    "line", ["okay", "ok: fine", "ok\texample.org/box\t0.1s", "nok 1", "# ok 1", "ok_1", "pragma +strict", "  ok 2"]
)
def test_other_lines_are_none(read, line):
    assert read(lines("TAP version 14", "ok 1 - a", line, "1..1"), "tap").tests == 1


def test_the_same_description_again_is_another_test(read):
    assert list(read(lines("1..2", "ok 1 - a", "ok 2 - a"), "tap").outcomes) == ["a", "a#2"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (("ok 1 - a", "  ---", "  duration_ms: 12.5", "  ..."), 0.0125),
        (("ok 1 - a # time=2s",), 2.0),
        (("ok 1 - a", "    duration_ms: 12.5"), None),
        (("  duration_ms: 12.5", "ok 1 - a"), None),
    ],
)
def test_durations_stand_behind_or_below_a_test(read, text, seconds):
    assert read(lines("1..1", *text), "tap").durations.get("a") == seconds


SUBTEST = ("    ok 1 - x", "    not ok 2 - y", "    1..2", "not ok 1 - b", "1..1")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(("# Subtest: b", *SUBTEST), id="a heading"),
        pytest.param(("    # Subtest: b", *SUBTEST), id="an indented heading"),
        pytest.param(SUBTEST, id="only a plan"),
        pytest.param(("not ok 1 - b {", "    1..2", "    ok 1 - x", "    not ok 2 - y", "}", "1..1"), id="braces"),
    ],
)
def test_the_tests_of_a_subtest_count_and_not_the_line_that_sums_them_up(read, text):
    report = read(lines("TAP version 14", *text), "tap")
    assert (report.outcomes, report.contradiction) == ({"b > x": "passed", "b > y": "failed"}, None)


def test_what_a_program_prints_is_no_subtest(read):
    assert list(read(lines("TAP version 13", "    ok 1 - printed", "ok 1 - a", "1..1"), "tap").outcomes) == ["a"]


@pytest.mark.parametrize(
    ("sum_of_it", "outcomes"),
    [
        pytest.param("ok 1 - b", {"b > x": "passed"}, id="passed"),
        pytest.param("not ok 1 - b", {"b > x": "passed", "b": "failed"}, id="failed by itself"),
        pytest.param("not ok 1 - b # TODO", {"b": "skipped"}, id="to do: whatever is within"),
        pytest.param("ok 1 - b # SKIP", {"b": "skipped"}, id="skipped"),
    ],
)
def test_a_subtest_s_own_outcome_counts_where_nothing_within_says_the_same(read, sum_of_it, outcomes):
    text = lines("TAP version 14", "# Subtest: b", "    ok 1 - x", "    1..1", sum_of_it, "1..1")
    assert read(text, "tap").outcomes == outcomes


def test_subtests_are_named_from_the_outermost_one_in(read):
    deep = ("        ok 1 - y", "        1..1", "    ok 1 - x", "    1..1", "ok 1 - b")
    text = lines("TAP version 14", *deep, *deep, "1..2")
    assert list(read(text, "tap").outcomes) == ["b > x > y", "b > x > y#2"]


BY_NODE = ("1..1", "# tests 2", "# suites 1", "# pass 2")


@pytest.mark.parametrize(
    ("text", "outcomes", "broken"),
    [
        pytest.param(("    ok 1 - x", "    1..1", "ok 1 - b"), {"b > x": "passed", "b": "passed"}, (), id="a test"),
        pytest.param(
            ("    ok 1 - x", "    1..1", "ok 1 - b", "  ---", "  type: 'suite'", "  ..."),
            {"b > x": "passed"},
            (),
            id="a suite",
        ),
        pytest.param(
            ("    ok 1 - x", "    1..1", "not ok 1 - b", "  ---", "  type: 'suite'", "  error: 'late'", "  ..."),
            {"b > x": "passed"},
            ("b",),
            id="a hook of a suite failed",
        ),
        pytest.param(("ok 1 - b # SKIP", "  ---", "  type: 'suite'", "  ..."), {}, (), id="a suite that is skipped"),
    ],
)
def test_node_counts_tests_around_tests_and_no_suites(read, text, outcomes, broken):
    report = read(lines("TAP version 13", *text, *BY_NODE), "tap")
    assert (report.outcomes, report.broken) == (outcomes, frozenset(broken))


def test_a_file_that_node_could_not_run_hides_any_test(read):
    text = ("ok 1 - a", "not ok 2 - /home/me/b.test.js", "  ---", "  error: 'test failed'", "  ...", "1..2")
    report = read(lines("TAP version 13", *text, *BY_NODE[1:]), "tap")
    assert report.outcomes == {"a": "passed", "b.test.js::(test file)": "failed"}
    assert report.not_loaded == {"(test run)": "b.test.js failed as a whole"}


VITEST = (
    "1..3",
    "not ok 1 - load.test.js",
    "    ---",
    "    error:",
    "        message: \"Cannot find module './gone' imported from load.test.js\"",
    "    ...",
    "not ok 2 - a.test.js # time=9.46ms {",
    "    1..3",
    "    ok 1 - same # time=1.21ms",
    "    not ok 2 - d # time=2.91ms {",
    "        1..1",
    "        ok 1 - in d # SKIP",
    "    }",
    "    not ok 3 - e # time=0.80ms {",
    "        1..1",
    "        ok 1 - in e # time=0.26ms",
    "    }",
    "}",
    "ok 3 - b.test.js # time=1ms {",
    "    1..1",
    "    ok 1 - same # time=1.21ms",
    "}",
)


def test_vitest_s_files_and_suites_are_in_the_names_of_their_tests(read):
    report = read(lines("TAP version 13", *VITEST), "tap")
    assert report.outcomes == {
        "a.test.js::same": "passed",
        "a.test.js::d > in d": "skipped",
        "a.test.js::e > in e": "passed",
        "b.test.js::same": "passed",
    }
    assert report.broken == {"load.test.js::(test file)", "a.test.js::e"}
    assert report.not_loaded == {"load.test.js": "Cannot find module './gone' imported from load.test.js"}
    assert (report.contradiction, report.durations["a.test.js::same"]) == (None, 0.00121)


NOT_RUN = "the run stopped before {}, so what is missing was not run"
STOPPED_VITEST = (
    "1..2",
    "not ok 1 - a.test.js # time=5ms {",
    "    1..3",
    "    not ok 1 - red # time=1ms",
    "    not ok 2 - left",
    "    ok 3 - later # SKIP",
    "}",
    "not ok 2 - b.test.js",
)
FLAT_VITEST = ("1..3", "ok 1 - a.js > ok # time=1ms", "not ok 2 - a.js > red # time=1ms", "not ok 3 - a.js > left")


@pytest.mark.parametrize(
    ("text", "outcomes", "left"),
    [
        (STOPPED_VITEST, {"a.test.js::red": "failed", "a.test.js::later": "skipped"}, "2 tests"),
        (FLAT_VITEST, {"a.js > ok": "passed", "a.js > red": "failed"}, "1 test"),
        (("ok 1 - a", "not ok 2 - b", "1..4"), {"a": "passed", "b": "failed"}, "2 tests"),
    ],
    ids=["vitest", "vitest, flat", "AVA and Deno, which have the plan at the end"],
)
def test_what_a_stopped_run_did_not_come_to_was_not_run(read, text, outcomes, left):
    report = read(lines("TAP version 13", *text), "tap")
    assert (report.outcomes, report.broken, report.contradiction) == (outcomes, frozenset(), None)
    assert report.not_loaded == {STOPPED_RUN: NOT_RUN.format(left)}


def test_a_plan_at_the_end_that_a_passed_test_does_not_fulfil_is_a_contradiction(read):
    report = read(lines("not ok 1 - a", "ok 2 - b", "1..4"), "tap")
    assert (report.not_loaded, report.contradiction) == ({}, "declared tests: 4, found: 2")


def test_a_brace_in_a_name_opens_nothing(read):
    assert list(read(lines("1..2", "ok 1 - a {", "ok 2 - b", "}"), "tap").outcomes) == ["a {", "b"]


def test_a_brace_without_an_end_is_half_a_report(damage):
    assert damage(lines("1..1", "ok 1 - a {", "    ok 1 - b"), "tap").why == "cut short: a subtest in braces has no end"


AVA = (
    "not ok 1 - Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'gone.js'",
    "ok 2 - a › ok",
    "not ok 3 - test/b.js exited with a non-zero exit code: 1",
    'not ok 4 - No tests found in test/d.js, make sure to import "ava" at the top of your test file',
    "ok 5 - c › rejects",
    "not ok 6 - Error: late",
    "not ok 7 - test/c.js exited with a non-zero exit code: 1",
    "1..2",
)


def test_what_ava_could_not_run_is_no_test_and_has_not_loaded(read):
    report = read(lines("TAP version 13", *AVA), "tap")
    assert (report.outcomes, report.contradiction) == ({"a › ok": "passed", "c › rejects": "passed"}, None)
    assert report.broken == {f"test/{name}.js::(test file)" for name in "bcd"}
    assert report.not_loaded == {
        "b": "test/b.js: Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'gone.js'",
        "d": 'test/d.js: No tests found in test/d.js, make sure to import "ava" at the top of your test file',
    }


@pytest.mark.parametrize("end", ["  ...", "ok 2 - c"])
def test_a_block_ends_where_it_says_so_or_something_is_less_indented(read, end):
    text = ("not ok 1 - b", "  ---", "  error: 'x'", "    ok 1 - no test", "    1..1", end)
    report = read(lines("TAP version 13", *text, *(["ok 2 - c"] if end == "  ..." else []), "1..2"), "tap")
    assert list(report.outcomes) == ["b", "c"]


NODE_TAP = (
    "TAP version 13",
    "# Subtest: test/a.js",
    "    # Subtest: adds",
    "        ok 1 - one",
    "        not ok 2 - two",
    "          ---",
    "          at:",
    "            - ok 3",
    "          ...",
    "        1..2",
    "        # failed 1 of 2 tests",
    "    not ok 1 - adds # time=3ms",
    "    ",
    "    # Subtest: rests",
    "        1..0",
    "    ok 2 - rests # SKIP later",
    "    1..2",
    "not ok 1 - test/a.js # time=12ms",
    "",
    "# Subtest: test/b.js",
    "    # Subtest: adds",
    "        ok 1 - one",
    "        1..1",
    "    ok 1 - adds",
    "    1..1",
    "not ok 2 - test/b.js # time=12ms",
    "# Subtest: test/c.js",
    "    1..0 # no tests found",
    "not ok 3 - test/c.js",
    "1..3",
)


def test_the_tests_of_node_tap_are_those_within_its_files(read):
    report = read(lines(*NODE_TAP), "tap")
    assert report.contradiction is None
    assert report.outcomes == {
        "test/a.js::adds > one": "passed",
        "test/a.js::adds > two": "failed",
        "test/a.js::rests": "skipped",
        "test/b.js::adds > one": "passed",
        "test/b.js": "failed",  # all of it passed, and the file exited with a failure
        "test/c.js": "failed",
    }


def test_half_a_run_of_node_tap_is_unreadable(damage):
    assert damage(lines(*NODE_TAP[:20]), "tap").why == "cut short: a plan (1..N) is missing"


TAPE = ("# adds", "ok 1 should be equal", "ok 2 should be equal", "# rests # now", "ok 3 should be equal")
TAPE_ENDS = ("", "1..3", "# tests 3", "# pass  3", "", "# ok")


@pytest.mark.parametrize(("indent", "file"), [("", ""), ("    ", "test/a.js::")])
def test_headings_of_tape_are_in_the_names_of_its_assertions(read, indent, file):
    own = [indent + line for line in (*TAPE, *TAPE_ENDS)]
    text = ["# Subtest: test/a.js", *own, "ok 1 - test/a.js", "1..1"] if file else own
    joint = " > " if file else "::"
    report = read(lines("TAP version 13", *text), "tap")
    heads = ["adds{}should be equal", "adds{}should be equal#2", "rests # now{}should be equal"]
    assert list(report.outcomes) == [file + head.format(joint) for head in heads]
    assert report.contradiction is None


def test_comments_of_other_programs_are_no_headings(read):
    text = lines("TAP version 13", "# adds", "ok 1 - one", "# tests 1", "# pass 1", "1..1")
    assert list(read(text, "tap").outcomes) == ["one"]


@pytest.mark.parametrize(
    ("text", "contradiction"),
    [
        (("1..1", "ok 1 - a"), None),
        (("ok 1 - a", "1..1"), None),
        (("ok 1 - a", "1..3"), "declared tests: 3, found: 1"),
        (("1..1", "ok 1 - a", "ok 2 - b"), "declared tests: 1, found: 2"),
        (("1..1", "ok 1 - a", "1..1", "ok 1 - b"), None),
    ],
)
def test_a_plan_says_how_many_tests_there_are(read, text, contradiction):
    assert read(lines(*text), "tap").contradiction == contradiction


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (("TAP version 13", "ok 1 - a"), "cut short: a plan (1..N) is missing"),
        (("TAP version 13", "1..1", "ok 1", "TAP version 13", "ok 1"), "cut short: a plan (1..N) is missing"),
        (("1..3", "ok 1 - a"), "cut short: 3 tests are planned, 1 are there"),
        (("1..3",), "cut short: 3 tests are planned, 0 are there"),
        (("1..1", "ok 1", "1..3"), "cut short: 4 tests are planned, 1 are there"),
        (("TAP version 13",), "cut short: a plan (1..N) is missing"),
        (("ok 1 - a",), "cut short: a plan (1..N) is missing"),
    ],
)
def test_half_a_run_is_unreadable(damage, text, why):
    assert damage(lines(*text), "tap").why == why


@pytest.mark.parametrize(
    ("text", "expected", "contradiction"),
    [
        (
            ("1..3", "ok 1", "Bail out! no box"),
            ["passed", "error"],
            "declared tests: 3, found: 1; the run bailed out: no box",
        ),
        (("ok 1", "Bail out!"), ["passed", "error"], "the run bailed out: it does not say why"),
        (("1..3", "not ok 1", "Bail out!  x"), ["failed"], "declared tests: 3, found: 1; the run bailed out: x"),
    ],
)
def test_a_run_that_bails_out_is_never_good(read, outcomes, text, expected, contradiction):
    report = read(lines("TAP version 13", *text), "tap")
    assert (outcomes(report), report.contradiction) == (expected, contradiction)


def test_a_plan_of_nothing_says_why(read):
    report = read(lines("TAP version 13", "1..0 # SKIP no network"), "tap")
    assert (report.tests, report.note) == (0, "tests that were not planned: SKIP no network")


@pytest.mark.parametrize("text", [("it is ok", "1..3 of them"), ("ok, that was it", "done"), ("1..3", "nothing else")])
def test_prose_is_no_tap(damage, text):
    damage(lines(*text), "tap")
