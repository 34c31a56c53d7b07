"""TRX, one document each."""

import pytest


def run(*results: str, summary: str = "", definitions: str = "") -> str:
    inside = f"<Results>{''.join(results)}</Results><TestDefinitions>{definitions}</TestDefinitions>{summary}"
    return f'<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">{inside}</TestRun>'


def result(outcome: str | None = "Passed", name: str = "T", more: str = "", inside: str = "") -> str:
    said = "" if outcome is None else f'outcome="{outcome}"'
    return f'<UnitTestResult testId="1" testName="{name}" {said} {more}>{inside}</UnitTestResult>'


def summary(outcome: str = "Completed", counters: str = "") -> str:
    return f'<ResultSummary outcome="{outcome}"><Counters {counters}/></ResultSummary>'


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("Passed", "passed"),
        ("PassedButRunAborted", "passed"),
        ("Warning", "passed"),
        ("Failed", "failed"),
        ("Aborted", "failed"),
        ("Timeout", "failed"),
        ("Error", "error"),
        ("InProgress", "error"),
        ("Disconnected", "error"),
        (None, "error"),
        ("NotExecuted", "skipped"),
        ("NotRunnable", "skipped"),
        ("Inconclusive", "skipped"),
    ],
)
def test_the_outcome_decides_and_without_one_it_is_an_error(read, outcomes, said, outcome):
    assert outcomes(read(run(result(said)), "trx")) == [outcome]


@pytest.mark.parametrize(
    ("name", "owner", "case_id"),
    [
        ("T", "A.Box", "A.Box::T"),
        ("T", "A.Box, Box, Version=1.0.0.0", "A.Box::T"),
        ("A.Box.T", "A.Box", "A.Box.T"),
        ("T", "", "T"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_the_class_is_named_wherever_the_definitions_stand(read, name, owner, case_id, first):
    definition = f'<UnitTest id="1"><TestMethod className="{owner}"/></UnitTest>'
    parts = [f"<TestDefinitions>{definition}</TestDefinitions>", f"<Results>{result(name=name)}</Results>"]
    text = f"<TestRun>{''.join(parts if first else reversed(parts))}</TestRun>"
    assert list(read(text, "trx").outcomes) == [case_id]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("00:00:00.25", 0.25), ("01:02:03", 3723.0), ("1.00:00:01.5", 86401.5), ("soon", None), ("", None)],
)
def test_durations_are_time_spans(read, text, seconds):
    assert read(run(result(more=f'duration="{text}"')), "trx").durations.get("T") == seconds


def test_the_rows_of_a_data_driven_test_count_too(read, outcomes):
    inner = f"<InnerResults>{result(name='T (1)')}{result('Failed', name='T (2)')}</InnerResults>"
    report = read(run(result("Failed", inside=inner), summary=summary("Failed", 'total="3" failed="2"')), "trx")
    assert outcomes(report) == ["failed", "passed", "failed"]
    assert report.contradiction is None


@pytest.mark.parametrize("outcome", ["Failed", "Error", "Aborted"])
def test_a_run_that_failed_though_no_test_did_is_in_error(read, outcomes, outcome):
    assert outcomes(read(run(result(), summary=summary(outcome)), "trx")) == ["passed", "error"]
    assert outcomes(read(run(result("Failed"), summary=summary(outcome)), "trx")) == ["failed"]


@pytest.mark.parametrize(
    ("counters", "contradiction"),
    [
        ('total="1"', None),
        ('total="2"', "declared tests: 2, found: 1"),
        ('total="1" failed="1"', "declared failures and errors: 1, found: 0"),
    ],
)
def test_a_file_that_contradicts_itself_says_so(read, counters, contradiction):
    assert read(run(result(), summary=summary(counters=counters)), "trx").contradiction == contradiction


def test_a_run_of_no_tests_is_one(read):
    nothing = summary(counters='total="0"')
    assert read(f"<TestRun>{nothing}</TestRun>", "trx").tests == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<TestRun/>", "there are neither results nor a summary in it"),
        ("<other/>", "the root element is <other>, not TestRun"),
        (run(result())[:-3], "malformed XML: unclosed token"),
    ],
)
def test_damage_is_unreadable(damage, text, why):
    assert damage(text, "trx").why == why
