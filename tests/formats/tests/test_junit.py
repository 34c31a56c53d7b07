"""The dialects of JUnit, one document each."""

import pytest

from ralph_tracker.core.known_tests import STOPPED_RUN
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import TestReport, Unreadable
from ralph_tracker.formats.report_content import ReadLimits
from tests.tables import table


def read(text: str, **more) -> TestReport:
    result = registry.read(text.encode(), format="junit", **more)
    assert isinstance(result, TestReport), result
    return result


def damage(data: str | bytes, **more) -> Unreadable:
    result = registry.read(data.encode() if isinstance(data, str) else data, **more)
    assert isinstance(result, Unreadable), result
    return result


def suite(*cases: str, name: str = "box", more: str = "") -> str:
    return f'<testsuite name="{name}" {more}>{"".join(cases)}</testsuite>'


def case(inside: str = "", name: str = "t", more: str = "") -> str:
    return f'<testcase classname="C" name="{name}" {more}>{inside}</testcase>'


def root(*suites: str, more: str = "") -> str:
    return f"<testsuites {more}>{''.join(suites)}</testsuites>"


def only(report: TestReport) -> str:
    """Return the outcome of the one case, errors told apart from failures."""
    ((name, outcome),) = report.outcomes.items()
    return "error" if name in report.in_error else outcome


@table(
    ("inside", "outcome"),
    [
        ("", "passed"),
        ("<system-out>text</system-out>", "passed"),
        ("<passed/>", "passed"),
        ("<skipped/>", "skipped"),
        ("<disabled/>", "skipped"),
        ("<failure/>", "failed"),
        ("<error/>", "error"),
        ("<skipped/><failure/>", "failed"),
        ("<failure/><skipped/>", "failed"),
        ("<failure/><failure/>", "failed"),
        ("<failure/><error/>", "error"),
        ("<error/><failure/>", "error"),
        ("<properties><failure/></properties>", "passed"),
        ('<x:failure xmlns:x="urn:x"/>', "failed"),
    ],
)
def test_the_worst_child_of_a_case_decides(inside, outcome):
    assert only(read(suite(case(inside)))) == outcome


@table("key", ["status", "result"])
@table(
    ("said", "outcome"),
    [
        ("notrun", "skipped"),
        ("NotRun", "skipped"),
        ("skipped", "skipped"),
        ("disabled", "skipped"),
        ("suppressed", "skipped"),
        ("ignored", "skipped"),
        ("run", "passed"),
        ("completed", "passed"),
        ("", "passed"),
        ("failed", "failed"),
        ("error", "error"),
    ],
)
def test_an_attribute_speaks_for_a_case_without_a_result(key, said, outcome):
    assert only(read(suite(case(more=f'{key}="{said}"')))) == outcome


def test_a_result_element_outweighs_the_attribute():
    assert only(read(suite(case("<failure/>", more='status="skipped"')))) == "failed"


def test_the_worse_of_both_attributes_counts():
    assert only(read(suite(case(more='status="notrun" result="completed"')))) == "skipped"


@table(
    "text",
    [
        suite(case()),
        root(suite(case())),
        f"<testrun>{suite(case())}</testrun>",
        f'<j:testsuites xmlns:j="urn:j">{suite(case())}</j:testsuites>',
        f'<testsuites xmlns="urn:j">{suite(case())}</testsuites>',
        case(),
        f'<!DOCTYPE testsuite SYSTEM "no.dtd">{suite(case())}',
        root(suite(suite(suite(case())))),
        root(case()),
    ],
)
def test_every_root_is_read(text):
    assert only(read(text)) == "passed"


@table("text", ["<testsuites/>", "<testsuite/>", '<testsuite name="empty" tests="0"/>'])
def test_no_case_in_a_valid_root_is_a_report_of_none(text):
    report = read(text)
    assert (report.tests, report.passed, report.failed, report.errors, report.skipped) == (0, 0, 0, 0, 0)
    assert report.contradiction is None


def test_another_root_is_unreadable_and_named():
    assert damage("<catalog/>").why == "XML with the root <catalog>, no known report"
    assert str(damage("<a>\n</a>", format="junit")) == (
        "the root element is <a>, not one of JUnit's (line 1, column 4)"
    )


def test_malformed_xml_is_unreadable_with_the_place():
    found = damage("<testsuite>\n  <testcase name='a' <\n</testsuite>")
    assert (found.line, found.column) == (2, 22)
    assert found.why.startswith("malformed XML: ")


def test_white_space_before_the_declaration_does_no_harm():
    assert registry.read(('\n<?xml version="1.0"?>' + suite(case())).encode()).tests == 1


def test_an_entity_is_refused_with_the_place():
    found = damage('<!DOCTYPE t [\n<!ENTITY a "aaaa">\n]>' + suite(case("&a;")))
    assert found.why.startswith("the document declares an entity (a)")
    assert found.line == 2


def test_an_entity_bomb_is_refused_at_its_first_entity():
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    found = damage(f'<!DOCTYPE t [<!ENTITY e0 "x">{levels}]>' + suite(case("&e8;")))
    assert "(e0)" in found.why


def test_what_is_nested_too_deep_is_unreadable():
    text = suite(suite(suite(case())))
    assert read(text, limits=ReadLimits(max_depth=4)).tests == 1
    assert damage(text, limits=ReadLimits(max_depth=3)).why == "elements are nested deeper than 3"


def test_a_million_open_elements_are_refused():
    assert "nested deeper than 256" in damage("<testsuite>" * 1_000_000).why


def test_what_is_too_big_is_unreadable_unread():
    text = suite(case())
    assert read(text, limits=ReadLimits(max_bytes=len(text))).tests == 1
    assert damage(text, limits=ReadLimits(max_bytes=len(text) - 1)).why == (
        f"{len(text)} bytes are more than the limit of {len(text) - 1}"
    )


@table("declared", ["utf-8", "utf-16", "iso-8859-1"])
@table(("mark", "encoding"), [(b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")])
def test_a_byte_order_mark_is_right_whatever_is_declared(mark, encoding, declared):
    text = f'<?xml version="1.0" encoding="{declared}"?>' + suite(case(name="é"))
    report = registry.read(mark + text.encode(encoding))
    assert isinstance(report, TestReport)
    assert list(report.outcomes) == ["box::C::é"]


def test_a_declared_encoding_is_believed_without_a_mark():
    report = registry.read(f'<?xml version="1.0" encoding="iso-8859-1"?>{case(name="é")}'.encode("iso-8859-1"))
    assert isinstance(report, TestReport)
    assert list(report.outcomes) == ["C::é"]


@table("encoding", ["shift_jis", "nowhere", "utf-16", "hex"])
def test_an_encoding_that_expat_does_not_know_keeps_no_test_from_counting(encoding):
    report = registry.read(f'<?xml version="1.0" encoding="{encoding}"?>{case()}'.encode())
    assert isinstance(report, TestReport)
    assert list(report.outcomes) == ["C::t"]


@table(
    ("text", "seconds"),
    [
        ("0.25", 0.25),
        ("1,234.5", 1234.5),
        ("0", 0.0),
        ("-1", None),
        ("NaN", None),
        ("inf", None),
        ("1,2", None),
        ("", None),
    ],
)
def test_a_duration_is_kept_where_it_is_one(text, seconds):
    assert read(case(more=f'time="{text}"')).durations.get("C::t") == seconds


def test_more_durations_are_read_than_are_remembered():
    report = read(suite(*(case(name=str(number), more=f'time="{number}"') for number in range(10_100))))
    assert sum(report.durations.values()) == sum(range(10_100))


def test_a_case_inside_a_case_is_a_case_of_its_own():
    inner = case("<failure/>", name="inner")
    report = read(suite(case(inner + "<skipped/>", name="outer")))
    assert report.outcomes == {"box::C::inner": FAILED, "box::C::outer": SKIPPED}


TWO_OF_A_NAME = "listed with different outcomes, of which the worst counts: box::C::t"


@table(
    ("cases", "outcomes", "note"),
    [
        ([case(), case("<failure/>"), case("<skipped/>")], [FAILED, PASSED, SKIPPED], TWO_OF_A_NAME),
        ([case("<failure/>"), case()], [FAILED, PASSED], TWO_OF_A_NAME),
        ([case("<failure/>"), case("<error/>")], [FAILED, FAILED], None),
        ([case("<skipped/>"), case()], [SKIPPED, PASSED], None),
    ],
)
def test_the_same_id_again_is_another_test_and_one_that_failed_has_the_id_itself(cases, outcomes, note):
    report = read(suite(*cases))
    ids = ["box::C::t", "box::C::t#2", "box::C::t#3"]
    assert report.outcomes == dict(zip(ids, outcomes, strict=False))
    assert (report.rerun, report.note) == (frozenset(), note)


def test_what_is_known_of_a_test_goes_with_its_id():
    report = read(suite(case(more='time="1"'), case('<error message="x"/>', more='time="2"')))
    assert report.durations == {"box::C::t": 2.0, "box::C::t#2": 1.0}
    assert (report.in_error, report.messages) == ({"box::C::t"}, {"box::C::t": "x"})


BY_GRADLE = (
    '<testsuite name="a.B" tests="{}" failures="{}" errors="0" timestamp="2026-01-01" hostname="h">{}</testsuite>'
)
BY_GO = '<testsuites><testsuite name="ex.com/a" tests="{}" failures="{}">{}</testsuite></testsuites>'
FAIL_AND_PASS = ('<testcase classname="{0}" name="{1}"><failure/></testcase>', '<testcase classname="{0}" name="{1}"/>')


@table(
    ("report", "owner", "name"),
    [(BY_GRADLE, "a.B", "net()"), (BY_GO, "ex.com/a", "TestNet"), (BY_GO, "a", "TestNet/sub")],
)
@table(
    ("runs", "outcome", "flaky"),
    [([0, 1], PASSED, True), ([0, 0, 1], PASSED, True), ([0, 0], FAILED, False)],
)
def test_gradle_and_gotestsum_list_each_retry_of_one_test(report, owner, name, runs, outcome, flaky):
    cases = [FAIL_AND_PASS[run].format(owner, name) for run in runs]
    found = read(report.format(len(runs), runs.count(0), "".join(cases)))
    assert list(found.outcomes.values()) == [outcome]
    assert (len(found.rerun), bool(found.flaky)) == (1, flaky)
    assert (found.contradiction, found.note) == (None, None)


@table(
    ("report", "owner", "name", "runs"),
    [
        pytest.param(BY_GRADLE, "a.B", "net()", [1, 0], id="what passed is not repeated"),
        pytest.param(BY_GO, "ex.com/a", "net", [0, 1], id="no test of Go"),
        pytest.param(BY_GO, "other", "TestNet", [0, 1], id="no package of its suite"),
    ],
)
def test_no_failure_is_taken_for_the_first_run_of_another_test(report, owner, name, runs):
    found = read(report.format(2, 1, "".join(FAIL_AND_PASS[run].format(owner, name) for run in runs)))
    assert list(found.outcomes.values()).count(FAILED) == 1
    assert (len(found.outcomes), found.rerun) == (2, frozenset())


def test_what_node_marks_as_to_do_is_skipped_whatever_its_outcome():
    to_do = '<skipped type="todo" message="true"/><failure message="nope"/>'
    report = read(root(suite(case(to_do), case(name="u"), more='tests="2" failures="1"')))
    assert list(report.outcomes.values()) == [SKIPPED, PASSED]
    assert (report.contradiction, report.broken, report.messages) == (None, frozenset(), {})


@pytest.mark.parametrize("kind", ["error", "failure"])
def test_a_suite_may_fail_by_itself(kind):
    report = read(suite(f'<{kind} message="no database">at hook.js:3</{kind}>', case(), more='tests="1" errors="1"'))
    assert (report.tests, report.passed, report.broken) == (1, 1, {"box::(suite)"})
    assert report.messages == {"box::(suite)": "no database\nat hook.js:3"}
    assert report.note == "failed outside of its tests: box::(suite)"


def test_failures_that_are_declared_and_not_listed_are_an_error_of_the_run():
    report = read(suite(case(), more='tests="1" failures="2"'))
    assert report.broken == {"(test run)"}
    assert report.messages == {"(test run)": "the report declares 2 failures and lists none"}


VITEST = (
    '<testsuites name="vitest tests" tests="4" failures="{}"><testsuite name="a.test.js" tests="4">{}</testsuite>'
    "</testsuites>"
)
LISTED_BY_VITEST = (
    '<testcase classname="a.test.js" name="left" time="0"/><testcase classname="a.test.js" name="skip" time="0">'
    '<skipped/></testcase><testcase classname="a.test-d.ts" name="types" time="0"/>'
)
RED = '<testcase classname="a.test.js" name="red" time="0.1"><failure message="x"/></testcase>'
GREEN = '<testcase classname="a.test.js" name="green" time="0.1"/>'


def test_what_vitest_did_not_come_to_was_not_run():
    report = read(VITEST.format(1, RED + LISTED_BY_VITEST))
    assert (list(report.outcomes.values()), report.contradiction) == ([FAILED, SKIPPED, PASSED], None)
    assert report.not_loaded == {STOPPED_RUN: "the run stopped before 1 test, so what is missing was not run"}
    report = read(VITEST.format(0, GREEN + LISTED_BY_VITEST))
    assert (list(report.outcomes.values()), report.not_loaded) == ([PASSED, PASSED, SKIPPED, PASSED], {})


def test_an_ordinal_that_is_somebodys_name_is_passed_over():
    report = read(suite(case(name="t#2"), case(), case("<failure/>"), case(name="t#2")))
    assert list(report.outcomes) == ["box::C::t#2", "box::C::t", "box::C::t#3", "box::C::t#2#2"]


def test_many_tests_of_one_name_take_linear_time():
    report = read(suite("<testcase/>" * 20_000))
    assert report.tests == 20_000
    assert "box::(unnamed)#20000" in report.outcomes


@table("element", ["flakyFailure", "flakyError"])
def test_a_case_that_passed_at_last_is_flaky(element):
    report = read(suite(case(f"<{element}/>"), more='tests="1" failures="1"'))
    assert report.outcomes == {"box::C::t": PASSED}
    assert report.rerun == report.flaky == {"box::C::t"}
    assert report.contradiction is None


@table("element", ["rerunFailure", "rerunError"])
def test_a_case_that_failed_each_time_was_rerun_but_is_not_flaky(element):
    report = read(suite(case(f"<failure/><{element}/><{element}/>")))
    assert report.failed == 1
    assert report.rerun == {"box::C::t"}
    assert not report.flaky


def test_a_failed_rerun_without_a_last_failure_is_flaky():
    assert read(suite(case("<rerunFailure/>"))).flaky == {"box::C::t"}


def pytest_suite(*cases: str, more: str = "") -> str:
    return suite(*cases, name="pytest", more=more)


def test_what_pytest_tells_again_is_the_same_case():
    report = read(pytest_suite(case(more='time="1.5"'), case(more='time="2.25"')))
    assert report.outcomes == {"C::t": PASSED}
    assert report.durations == {"C::t": 3.75}
    assert report.flaky == report.rerun == {"C::t"}


def test_a_rerun_of_pytest_that_failed_at_last_is_not_flaky():
    report = read(pytest_suite(case(), case(), case("<failure/>")))
    assert report.outcomes == {"C::t": FAILED}
    assert report.rerun == {"C::t"}
    assert not report.flaky


def test_a_rerun_of_pytest_that_was_in_error_before_is_so_no_longer():
    report = read(pytest_suite(case("<error/>"), case("<failure/>")))
    assert (report.failed, report.errors) == (1, 0)


def test_an_error_in_tear_down_after_a_failure_is_no_rerun():
    report = read(pytest_suite(case("<failure/>"), case('<error message="failed on teardown with x"/>')))
    assert (report.tests, report.errors) == (1, 1)
    assert not report.rerun


def test_an_error_in_tear_down_of_a_rerun_is_one():
    report = read(pytest_suite(case(), case('<error message="failed on teardown with x"/>')))
    assert report.rerun == {"C::t"}
    assert not report.flaky


def test_pytest_is_known_by_the_root_where_the_suite_has_a_name_of_its_own():
    text = root(suite(case(), case()), more='name="pytest tests"')
    assert list(read(text).outcomes) == ["box::C::t"]


def test_addresses_keep_two_cases_apart_and_one_case_together():
    one, two = case(name="t[&lt;A at 0x7f01&gt;]"), case(name="t[&lt;A at 0x7f02&gt;]")
    report = read(pytest_suite(one, two, one))
    assert list(report.outcomes) == ["C::t[<A at 0x…>]", "C::t[<A at 0x…>]#2"]
    assert report.rerun == {"C::t[<A at 0x…>]"}


@table(
    ("text", "tests"),
    [
        (suite(case(), more='tests="1"'), 1),
        (root(suite(case(), more='tests="1"'), suite(case(), more='tests="2"')), 3),
        (root(suite(case(), more='tests="1"'), suite(case())), 1),
        (suite(suite(case(), more='tests="7"'), more='tests="1"'), 1),
        (root(suite(case()), more='tests="4"'), 4),
        (root(suite(case(), more='tests="1"'), more='tests="4"'), 1),
        (suite(case(), more='tests="many"'), None),
        (suite(case(), more='tests="-1"'), -1),
        (suite(case(), more=f'tests="{"9" * 5000}"'), 10**18 - 1),
        (suite(case(), more=f'tests="-{"9" * 5000}"'), 1 - 10**18),
        (suite(case()), None),
    ],
)
def test_the_outermost_suites_declare_how_many_tests_there_are(text, tests):
    assert read(text).declared.tests == tests


@table("key", ["skipped", "skips", "skip"])
def test_all_declared_counts_are_kept(key):
    declared = read(suite(more=f'tests="6" failures="1" errors="2" {key}="3"')).declared
    assert (declared.tests, declared.failures, declared.errors, declared.skipped) == (6, 1, 2, 3)


@table(
    ("text", "contradiction"),
    [
        (suite(case(), more='tests="2"'), "declared tests: 2, found: 1"),
        (suite(case(), case(), more='tests="1"'), "declared tests: 1, found: 2"),
        (suite(more='tests="6" failures="1"'), "declared tests: 6, found: 0"),
        (suite(suite(case(), more='tests="2"')), "declared tests: 2, found: 1"),
        (suite(suite(case(), more='tests="1"'), case(), more='tests="1"'), None),
        (suite(suite(case(), more='tests="1"'), case(), more='tests="2"'), None),
        (suite(case("<rerunFailure/>"), more='tests="2"'), None),
        (root(suite(case(), more='tests="3"'), more='tests="1"'), None),
        (suite(case(), more='tests="1" failures="1" errors="1"'), "declared failures and errors: 2, found: 0"),
        (suite(case("<failure/>"), more='tests="1" failures="2"'), "declared failures: 2, found tests: 1"),
        (suite(case("<failure/>"), more='failures="99999999999"'), "declared failures: 99999999999, found tests: 1"),
        (suite(case(), more='tests="-5"'), "declared tests: -5"),
        (suite(case(), more='tests="1" skipped="-2"'), "declared skipped: -2"),
        (suite(case(), more='tests="99999999999"'), "declared tests: 99999999999, found: 1"),
        (root(suite(case(), more='tests="-5"'), suite(more='tests="6"')), "declared tests: -5"),
        (root(suite(case()), more='errors="-1"'), "declared errors: -1"),
        (pytest_suite(case("<failure/>"), more='tests="5" failures="4"'), None),
        (pytest_suite(case(), case(name="u"), more='tests="1"'), "declared tests: 1, found: 2"),
        (suite("<error/>", more='tests="1" errors="1"'), "declared tests: 1, found: 0"),
    ],
)
def test_a_file_that_contradicts_itself_says_so(text, contradiction):
    assert read(text).contradiction == contradiction


def test_a_file_that_node_could_not_run_is_no_test_and_hides_any_test():
    listed = (
        '<testcase name="/home/me/shop/test/b.test.js" classname="test"><failure message="test failed"/></testcase>'
    )
    report = read(
        f'<testsuites><testcase name="a" classname="test"/>{listed}</testsuites>', folders=("/home/me/shop/",)
    )
    assert report.outcomes == {"test::a": PASSED, "test/b.test.js::(test file)": FAILED}
    assert report.not_loaded == {"(test run)": "test/b.test.js failed as a whole"}


def test_an_element_of_the_same_name_within_a_failure_ends_no_text():
    inner = '<testcase name="b"><out><failure>no verdict</failure></out></testcase>'
    report = registry.read(
        f'<testsuite><testcase name="a"><failure>says {inner}this</failure></testcase></testsuite>'.encode()
    )
    assert report.outcomes == {"a": "failed", "b": "passed"}
    assert report.messages["a"].startswith("says")


def test_a_hook_that_its_suite_does_not_count_contradicts_nothing(read):
    hook = '<testcase classname="a" name="&quot;before all&quot; hook for &quot;b&quot;"><failure/></testcase>'
    for counted, contradiction in ((1, None), (2, None), (3, "declared tests: 3, found: 2")):
        text = f'<testsuite tests="{counted}"><testcase name="a"/>{hook}</testsuite>'
        assert read(text, "junit").contradiction == contradiction


def test_mocha_counts_neither_hooks_nor_an_uncaught_error_as_tests(read):
    names = ("&quot;after all&quot; hook for &quot;a&quot;", "Uncaught error outside test suite")
    cases = "".join(f'<testcase classname="" name="{name}"><failure/></testcase>' for name in names)
    text = f'<testsuite name="Mocha Tests" tests="1" errors="2" skipped="-2"><testcase name="a"/>{cases}</testsuite>'
    report = read(text, "junit")
    assert (report.tests, report.failed, report.contradiction) == (3, 2, None)


def test_what_jest_does_not_count_is_to_do_and_took_no_time(read):
    def outcomes(tests, *seconds):
        cases = "".join(f'<testcase name="{number}" time="{each}"/>' for number, each in enumerate(seconds))
        text = f'<testsuites name="jest tests"><testsuite tests="{tests}">{cases}</testsuite></testsuites>'
        report = read(text, "junit")
        return list(report.outcomes.values()), report.contradiction

    assert outcomes(1, 0, 0.1) == (["skipped", "passed"], None)
    assert outcomes(2, 0, 0.1) == (["passed", "passed"], None)
    assert outcomes(2, 0, 0, 0.1) == (["passed", "skipped", "passed"], None)
    assert outcomes(1, 0.1, 0, 0.1) == (["passed", "passed", "passed"], "declared tests: 1, found: 3")
