"""NUnit's XML of versions 2 and 3, one document each."""

import pytest


def run(*inside: str, more: str = "") -> str:
    return f"<test-run {more}>{''.join(inside)}</test-run>"


def suite(*inside: str, more: str = "", name: str = "Box") -> str:
    return f'<test-suite name="{name}" {more}><results>{"".join(inside)}</results></test-suite>'


def case(more: str = "", inside: str = "", name: str = "T") -> str:
    return f'<test-case name="{name}" {more}>{inside}</test-case>'


@pytest.mark.parametrize(
    ("more", "inside", "outcome"),
    [
        ('result="Passed"', "", "passed"),
        ('result="Success"', "", "passed"),
        ('result="Warning"', "", "passed"),
        ('result="Failed"', "", "failed"),
        ('result="Failed" label="Error"', "", "failed"),
        ('result="Failed(Child)"', "", "failed"),
        ('result="Failed:Error"', "", "failed"),
        ('result="Failure"', "", "failed"),
        ('result="Cancelled"', "", "failed"),
        ('result="Error"', "", "error"),
        ('result="Skipped" label="Ignored"', "", "skipped"),
        ('result="Ignored"', "", "skipped"),
        ('result="Inconclusive"', "", "skipped"),
        ('result="Invalid"', "", "skipped"),
        ('result="NotRunnable"', "", "skipped"),
        ('result="Passed"', "<failure/>", "passed"),
        ('executed="True" success="True"', "", "passed"),
        ('executed="True" success="False"', "", "failed"),
        ('executed="True"', "<failure/>", "failed"),
        ('executed="True"', "<error/>", "failed"),
        ('executed="False"', "", "skipped"),
        ('executed="False" success="False"', "", "skipped"),
        ("", "", "passed"),
    ],
)
def test_a_result_decides_or_what_a_case_says_without_one(read, outcomes, more, inside, outcome):
    assert outcomes(read(run(case(more, inside)), "nunit")) == [outcome]


@pytest.mark.parametrize("root", ["test-run", "test-results", "test-suite"])
def test_every_root_is_read(read, outcomes, root):
    assert outcomes(read(f"<{root}>{suite(case())}</{root}>", "nunit")) == ["passed"]


@pytest.mark.parametrize(
    ("text", "case_id"),
    [
        (suite(case('fullname="A.Box.T"', name="T")), "A.Box.T"),
        (suite(case(name="A.Box.T")), "A.Box.T"),
        (suite(case(name="T")), "Box::T"),
        (suite(case(name='A.Holds("x")'), name="Holds"), 'A.Holds("x")'),
        (suite(case(name="T"), name="/project/Box.dll"), "T"),
        (suite(case(name="")), "Box::(unnamed)"),
        (run(case(name="T")), "T"),
    ],
)
def test_a_full_name_is_the_id_else_the_suite_adds_to_it(read, text, case_id):
    text = text.replace('"x"', "&quot;x&quot;")
    assert list(read(run(text), "nunit").outcomes) == [case_id]


def test_the_same_name_again_is_another_test(read):
    assert list(read(run(suite(case(), case())), "nunit").outcomes) == ["Box::T", "Box::T#2"]


@pytest.mark.parametrize(
    ("more", "seconds"), [('duration="1.5"', 1.5), ('time="0,25"', 0.25), ('time="x"', None), ('time="-1"', None)]
)
def test_durations_are_seconds(read, more, seconds):
    assert read(run(case(more)), "nunit").durations.get("T") == seconds


@pytest.mark.parametrize(
    ("more", "inside", "expected"),
    [
        ('result="Failed" site="TearDown"', case('result="Passed"'), ["passed", "error"]),
        ('result="Failed" label="Invalid"', "", ["error"]),
        ('result="Error"', case('result="Success"'), ["passed", "error"]),
        ('result="Failed" site="Child"', case('result="Failed"'), ["failed"]),
        ('result="Failed" site="Parent"', "", []),
        ('result="Passed"', "", []),
        ('success="False"', "", []),
    ],
)
def test_a_suite_that_failed_alone_is_a_case_in_error(read, outcomes, more, inside, expected):
    assert outcomes(read(run(suite(inside, more=more)), "nunit")) == expected


def test_only_the_innermost_suite_that_failed_is_in_error(read):
    inner = suite(more='result="Failed" fullname="A.Inner"', name="Inner")
    assert list(read(run(suite(inner, more='result="Failed"')), "nunit").outcomes) == ["A.Inner (suite)"]


@pytest.mark.parametrize(
    ("more", "contradiction"),
    [
        ('total="1"', None),
        ('testcasecount="1"', None),
        ('total="2"', "declared tests: 2, found: 1"),
        ('total="0" not-run="1"', None),
        ('total="0" ignored="1"', None),
        ('total="1" failed="1"', "declared failures and errors: 1, found: 0"),
        ('total="1" errors="1"', "declared failures and errors: 1, found: 0"),
        ('total="many"', None),
    ],
)
def test_a_file_that_contradicts_itself_says_so(read, more, contradiction):
    assert read(run(case(), more=more), "nunit").contradiction == contradiction


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (run(case('result="Odd"')), "result is 'Odd', which NUnit does not have"),
        (run(case('result=""')), "result is '', which NUnit does not have"),
        ("<test-run><test-suite>", "malformed XML: no element found"),
        ("<other/>", "the root element is <other>, not one of NUnit's"),
        ("<test-suite>" * 300, "elements are nested deeper than 256"),
    ],
)
def test_damage_is_unreadable_with_the_place(damage, text, why):
    found = damage(text, "nunit")
    assert found.why == why
    assert (found.line, found.column) > (0, 0)


def test_an_entity_outside_of_the_document_is_not_fetched(read, outcomes):
    text = f'<!DOCTYPE t [<!ENTITY x SYSTEM "/etc/hostname">]>{run(case(inside="<failure>&x;</failure>"))}'
    assert outcomes(read(text, "nunit")) == ["failed"]
