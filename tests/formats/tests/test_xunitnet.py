"""xUnit.net's XML of versions 1 to 3, one document each."""

import pytest


def assembly(*inside: str, more: str = 'run-date="2026-11-21"') -> str:
    return f"<assembly {more}>{''.join(inside)}</assembly>"


def case(result: str = "Pass", name: str = "A.Box.T", more: str = 'type="A.Box"') -> str:
    return f'<test name="{name}" result="{result}" {more}/>'


@pytest.mark.parametrize(
    ("result", "outcome"),
    [("Pass", "passed"), ("Fail", "failed"), ("Skip", "skipped"), ("NotRun", "skipped"), ("pass", "passed")],
)
def test_the_result_decides(read, outcomes, result, outcome):
    assert outcomes(read(assembly(case(result)), "xunitnet")) == [outcome]


@pytest.mark.parametrize(
    ("name", "more", "case_id"),
    [
        ("A.Box.T(x: 1)", 'type="A.Box"', "A.Box.T(x: 1)"),
        ("holds two", 'type="A.Box"', "A.Box::holds two"),
        ("holds two", "", "holds two"),
        ("", 'type="A.Box"', "A.Box::(unnamed)"),
    ],
)
def test_the_type_is_named_where_the_name_does_not(read, name, more, case_id):
    assert list(read(assembly(case(name=name, more=more)), "xunitnet").outcomes) == [case_id]


@pytest.mark.parametrize(("time", "seconds"), [("0.5", 0.5), ("0,5", 0.5), ("soon", None)])
def test_durations_are_seconds(read, time, seconds):
    assert read(assembly(case(more=f'time="{time}"')), "xunitnet").durations.get("A.Box.T") == seconds


def test_assemblies_add_up(read):
    one = assembly(case(), more='total="1"')
    report = read(f"<assemblies>{one}{one}</assemblies>", "xunitnet")
    assert (report.tests, report.declared.tests, report.contradiction) == (2, 2, None)


def test_errors_outside_of_tests_are_cases_in_error(read, outcomes):
    errors = '<errors><error type="cleanup" name="A.Box"/><error/></errors>'
    report = read(assembly(errors, case(), more='total="1" errors="2"'), "xunitnet")
    assert outcomes(report) == ["passed", "error", "error"]
    assert list(report.outcomes)[1:] == ["cleanup A.Box (error)", "(unnamed) (error)"]
    assert report.contradiction is None


def test_a_class_that_failed_is_a_case_in_error(read):
    text = assembly(f'<class name="A.Box"><failure/>{case()}</class><class><failure/></class>')
    assert read(text, "xunitnet").in_error == {"A.Box (class)", "(unnamed) (class)"}


@pytest.mark.parametrize(
    ("more", "contradiction"),
    [
        ('total="1"', None),
        ('total="3"', "declared tests: 3, found: 1"),
        ('total="1" failed="1"', "declared failures and errors: 1, found: 0"),
        ('environment=""', None),
    ],
)
def test_a_file_that_contradicts_itself_says_so(read, more, contradiction):
    assert read(assembly(case(), more=more), "xunitnet").contradiction == contradiction


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (assembly(case("Odd")), "result is 'Odd', which xUnit.net does not have"),
        (assembly('<test name="T"/>'), "result is '', which xUnit.net does not have"),
        ("<assemblies/>", "there is no assembly in it"),
        ('<assembly manifestVersion="1.0"/>', "the assembly says nothing of a test run"),
        ("<other/>", "the root element is <other>, not one of xUnit.net's"),
        (assembly(case())[:-5], "malformed XML: unclosed token"),
    ],
)
def test_damage_is_unreadable(damage, text, why):
    assert damage(text, "xunitnet").why == why
