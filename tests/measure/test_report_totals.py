"""From finished checks to the values of an iteration: added up by kind, or missing with a reason."""

import json
import os
from pathlib import Path

import pytest

from ralph_tracker.core.metrics import Group, Metrics, TestResults
from ralph_tracker.formats.report_content import DEFAULT_LIMITS
from ralph_tracker.measure.find_reports import FoundReport, Missing
from ralph_tracker.measure.process import FinishedCommand
from ralph_tracker.measure.report_totals import measured_kind, read_results, without_unloaded
from ralph_tracker.measure.run_checks import Check, CheckResult
from tests.tables import table

PASSES = b'<testsuite tests="1"><testcase classname="t" name="a"/></testsuite>'
FAILS = b'<testsuite tests="1"><testcase classname="t" name="a"><failure/></testcase></testsuite>'
OTHER = b'<testsuite tests="1"><testcase classname="t" name="b"><skipped/></testcase></testsuite>'
RUFF = (
    b'[{"code": "F401", "filename": "a.py", "location": {"row": 1, "column": 1}, "end_location": null, "fix": null, '
    b'"noqa_row": 1, "url": "u", "cell": null, "message": "m", "severity": "error"}]'
)
TYPES = b'{"file": "a.py", "line": 1, "column": 0, "message": "m", "hint": null, "code": "x", "severity": "error"}\n'
STOPPED = TYPES.replace(b'"x"', b'"syntax"')
CUT = b"<testsuite><testcase"
EXIT_0, EXIT_1 = FinishedCommand(exit_code=0), FinishedCommand(exit_code=1)


def coverage(covered: int, total: int) -> bytes:
    percent = covered / total * 100 if total else 100
    totals = f'{{"covered_lines": {covered}, "num_statements": {total}, "percent_covered": {percent}}}'
    return f'{{"meta": {{}}, "files": {{}}, "totals": {totals}}}'.encode()


@pytest.fixture
def ran(tmp_path: Path):
    """Make the result of a check from the bytes of its reports; None is one that was not written."""

    def result(
        name: str, *reports: bytes | None, finished: FinishedCommand = EXIT_0, paths=None, **options
    ) -> CheckResult:
        found = []
        for number, data in enumerate(reports):
            path = tmp_path / f"{name}-{number}"
            shown = paths[number] if paths else "-"
            if data is not None:
                path.write_bytes(data)
            found.append(FoundReport(shown, path) if data is not None else FoundReport(shown, None, Missing.ABSENT))
        check = Check(name, ["x"], reports=tuple(each.path for each in found), **options)
        return CheckResult(check, finished, tuple(found), tmp_path / "out", tmp_path / "err")

    return result


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        pytest.param([("tests", [PASSES])], {"test_count": 1, "tests_passed": 1}, id="tests"),
        pytest.param([("tests", [PASSES, OTHER])], {"test_count": 2, "tests_skipped": 1}, id="two reports of a check"),
        pytest.param([("unit", [PASSES]), ("e2e", [OTHER])], {"test_count": 2}, id="two checks, kinds from content"),
        pytest.param([("tests", [FAILS, PASSES])], {"test_count": 1, "tests_passed": 1}, id="a rerun counts once"),
        pytest.param([("lint", [RUFF, RUFF])], {"lint_errors": 2}, id="findings add up"),
        pytest.param([("types", [TYPES])], {"type_errors": 1}, id="types"),
        pytest.param([("tests", [PASSES, coverage(1, 4)])], {"coverage_percentage": 25.0}, id="coverage beside tests"),
        pytest.param(
            [("a", [coverage(1, 2)]), ("b", [coverage(2, 2)])], {"coverage_percentage": 75.0}, id="coverage by lines"
        ),
    ],
)
def test_reports_of_a_kind_add_up(ran, checks, expected):
    measured = read_results([ran(name, *reports) for name, reports in checks])
    assert {name: measured.metrics.get(name) for name in expected} == expected
    assert measured.missing == {}


def _by_jest(*paths):
    title = {"status": "passed", "title": "adds"}
    files = [{"name": path, "status": "passed", "assertionResults": [title]} for path in paths]
    return json.dumps({"numTotalTests": len(paths), "success": True, "testResults": files}).encode()


def _by_mocha(*paths):
    tests = [{"fullTitle": "adds", "file": path} for path in paths]
    stats = {"tests": len(paths), "pending": 0, "failures": 0}
    return json.dumps({"stats": stats, "tests": tests, "passes": tests, "pending": [], "failures": []}).encode()


@pytest.mark.parametrize("report", [_by_jest, _by_mocha])
@pytest.mark.parametrize(("cwd", "prefix"), [(".", ""), ("web", "web/")])
def test_a_test_is_named_by_its_path_below_the_folder_of_its_check(ran, tmp_path, report, cwd, prefix):
    paths = [f"{tmp_path}/{prefix}{folder}/index.test.js" for folder in ("b", "a")] + ["/elsewhere/c/index.test.js"]
    measured = read_results([ran("tests", report(*paths), cwd=cwd)], root=tmp_path)
    names = ["a/index.test.js::adds", "b/index.test.js::adds", "index.test.js::adds"]
    assert sorted(measured.tests.outcomes) == names


@pytest.mark.parametrize(
    ("checks", "absent", "group", "why"),
    [
        pytest.param([("tests", [PASSES, None])], "test_count", "tests", "printed no report", id="one of two reports"),
        pytest.param([("tests", [PASSES, CUT])], "test_count", "tests", "line 1", id="one of two unreadable"),
        pytest.param([("lint", [b""])], "lint_errors", "lint", "empty", id="empty, the tool always writes"),
        pytest.param([("types", [STOPPED])], "type_errors", "types", "stopped at an error", id="the checker gave up"),
        pytest.param([("coverage", [coverage(0, 0)])], "coverage_percentage", "coverage", "no line", id="no lines"),
        pytest.param([("lint", [b"{}"])], "lint_errors", "lint", "JSON, but no known report", id="unknown JSON"),
        pytest.param(
            [("style", [None])],
            "lint_errors",
            "lint",
            "`style` printed no report (exit 0",
            id="unknown kind: all that lack",
        ),
    ],
)
def test_a_group_that_was_not_measured_says_why_and_has_no_value(ran, checks, absent, group, why):
    measured = read_results([ran(name, *reports) for name, reports in checks])
    assert measured.metrics.get(absent) is None
    assert why in measured.missing[group]


@pytest.mark.parametrize(
    ("finished", "told"),
    [
        (FinishedCommand(exit_code=4), True),
        (FinishedCommand(exit_code=0), False),
        (FinishedCommand(signal="SIGKILL"), False),
        (FinishedCommand(exit_code=127, problem="command not found"), False),
    ],
    ids=["failed", "went well", "killed", "not there"],
)
def test_a_check_that_failed_without_a_report_is_told_in_its_own_words(ran, tmp_path, finished, told):
    (tmp_path / "err").write_text("usage: pytest\npytest: error: unrecognized arguments: --cov=app\n")
    why = read_results([ran("tests", None, finished=finished)]).missing["tests"]
    assert ("; unknown option --cov=app; pip install pytest-cov" in why) == told


def test_a_report_of_unknown_kind_leaves_alone_what_was_measured(ran):
    measured = read_results([ran("unit", PASSES), ran("style", None)])
    assert measured.metrics.test_count == 1
    assert "tests" not in measured.missing


@pytest.mark.parametrize(
    ("path", "group"),
    [("{reports}/junit.xml", "tests"), ("out/coverage.json", "coverage"), ("out/coverage.xml", "coverage")],
)
def test_the_name_of_a_missing_report_tells_its_kind(ran, path, group):
    measured = read_results([ran("all", PASSES, None, paths=("{reports}/a.xml", path))])
    assert set(measured.missing) == {group}
    assert (measured.metrics.test_count is None) == (group == "tests")


def test_a_missing_report_takes_only_its_own_group_away(ran):
    measured = read_results([ran("tests", PASSES, None, paths=("{reports}/junit.xml", "coverage.json"))])
    assert measured.metrics.test_count == 1
    assert set(measured.missing) == {"coverage"}


def test_a_kind_that_is_configured_overrides_what_a_report_says(ran):
    measured = read_results([ran("style", coverage(1, 2), kind="lint")])
    assert measured.metrics == Metrics()
    assert "a report of coverage, not of lint" in measured.missing["lint"]


@table(
    ("name", "options", "expected"),
    [
        ("lint", {}, {"lint_errors": 1}),
        ("types", {}, {"type_errors": 1}),
        ("tests", {}, {"test_count": 1, "tests_failed": 1}),
        ("style", {}, {"test_count": 1, "tests_failed": 1}),
        ("style", {"kind": "lint"}, {"lint_errors": 1}),
        ("style", {"kind": "types"}, {"type_errors": 1}),
    ],
)
def test_what_a_check_is_called_decides_what_junit_counts(ran, name, options, expected):
    metrics = read_results([ran(name, FAILS, **options)]).metrics
    assert {key: getattr(metrics, key) for key in expected} == expected
    others = {"lint_errors", "type_errors", "test_count"} - expected.keys()
    assert {key: getattr(metrics, key) for key in others} == dict.fromkeys(others)


QUALITY = (
    b'[{"check_name": "x", "description": "m", "fingerprint": "f", "severity": "major", "location": {"path": "a.py", '
    b'"lines": {"begin": 3}}}]'
)


@table(
    ("name", "options", "expected"),
    [
        ("types", {}, "type_errors"),
        ("types", {"format": "gitlab-json"}, "type_errors"),
        ("lint", {"format": "gitlab-json"}, "lint_errors"),
        ("style", {"format": "gitlab-json"}, "lint_errors"),
        ("style", {"format": "gitlab-json", "kind": "types"}, "type_errors"),
    ],
)
def test_a_format_that_linters_and_checkers_share_counts_as_its_check_is_called(ran, name, options, expected):
    measured = read_results([ran(name, QUALITY, **options)])
    assert getattr(measured.metrics, expected) == 1
    ((group, diagnostic),) = measured.diagnostics
    assert (f"{group}_errors".replace("types", "type"), diagnostic.text) == (expected, "a.py:3 x m")


def in_glob(result):
    """Return the result as if its reports were found by a pattern."""
    return result._replace(check=result.check._replace(reports=("target/*",)))


SUMMARY = b'<failsafe-summary result="255"><completed>3</completed></failsafe-summary>'
# id: the other file of the pattern, its path
FOREIGN = {
    "a summary": (SUMMARY, "target/failsafe-summary.xml"),
    "settings": (b'{"a": 1}', "target/a.json"),
    "a log": (b"hello\n", "target/a.txt"),
}


@table(("other", "path"), FOREIGN.values(), ids=FOREIGN)
@table("first", [True, False])
def test_a_file_that_is_no_report_is_named_and_left_out_beside_reports(ran, other, path, first):
    reports, paths = [other, FAILS], [path, "target/TEST-a.xml"]
    order = slice(None) if first else slice(None, None, -1)
    measured = read_results([in_glob(ran("tests", *reports[order], paths=paths[order]))])
    assert (measured.metrics.test_count, measured.metrics.tests_failed, measured.missing) == (1, 1, {})
    (note,) = measured.notes
    assert note.startswith(f"tests: {path} is no report and is left out: ")


@table("other", [CUT, b"", SUMMARY[:-9], b'{"a": ', b"hello\n"], ids=str)
def test_a_damaged_file_beside_reports_is_not_left_out(ran, other):
    measured = read_results([in_glob(ran("tests", FAILS, other, paths=["target/TEST-a.xml", "target/TEST-b.xml"]))])
    assert measured.metrics.test_count is None
    assert "target/TEST-b.xml" in measured.missing["tests"]


def test_a_file_that_is_no_report_is_unreadable_alone_and_where_it_is_named(ran):
    paths = ["target/TEST-a.xml", "target/failsafe-summary.xml"]
    for measured in (
        read_results([in_glob(ran("tests", SUMMARY, paths=paths[1:]))]),
        read_results([ran("tests", PASSES, SUMMARY, paths=paths)]),
    ):
        assert measured.metrics.test_count is None
        assert "XML with the root <failsafe-summary>" in measured.missing["tests"]


RATED = b"Your code has been rated at 10.00/10\n"


@table(
    ("data", "finished", "errors"),
    [
        (RATED, EXIT_0, 0),
        (RATED, EXIT_1, None),
        (b"All checks passed!\n", EXIT_1, None),
        (b"[]", EXIT_1, 0),
        (RUFF, EXIT_1, 1),
        (b"a.py:1:0: E0602: m\n", EXIT_1, 1),
    ],
)
def test_a_text_without_a_finding_is_not_clean_where_the_tool_failed(ran, data, finished, errors):
    measured = read_results([ran("lint", data, finished=finished)])
    assert measured.metrics.lint_errors == errors
    assert (errors is None) is ("no finding can be read in its text" in measured.missing.get("lint", ""))


def test_a_clean_text_of_a_checker_is_not_clean_where_it_failed(ran):
    clean = b"Success: no issues found in 1 source file\n"
    assert read_results([ran("types", clean)]).metrics.type_errors == 0
    assert read_results([ran("types", clean, finished=EXIT_1)]).metrics.type_errors is None


@pytest.mark.parametrize(
    ("finished", "expected"), [(EXIT_0, 0), (EXIT_1, None), (FinishedCommand(exit_code=0, timed_out=True), None)]
)
def test_silence_is_no_finding_only_after_a_good_end(ran, finished, expected):
    assert read_results([ran("types", b"", finished=finished)]).metrics.type_errors == expected


@pytest.mark.parametrize(("name", "expected"), [("flake8-text", 0), ("ruff-json", None), (None, None), ("odd", None)])
def test_silence_of_a_linter_is_no_finding_only_where_its_format_says_so(ran, name, expected):
    assert read_results([ran("lint", b"", format=name)]).metrics.lint_errors == expected


@pytest.mark.parametrize(
    ("severity", "errors", "warnings"),
    [({}, 2, 0), ({"F": "warning"}, 0, 2), ({"F": "warning", "F40": "none"}, 0, 0), ({"E": "note"}, 2, 0)],
)
def test_the_severity_of_lint_findings_is_overridden_by_code(ran, severity, errors, warnings):
    metrics = read_results([ran("lint", RUFF, RUFF), ran("types", TYPES)], severity).metrics
    assert (metrics.lint_errors, metrics.lint_warnings, metrics.type_errors) == (errors, warnings, 1)


@pytest.mark.parametrize(
    ("finished", "status"),
    [
        (EXIT_0, "success"),
        (EXIT_1, "failure"),
        (FinishedCommand(signal="SIGKILL"), "failure"),
        (FinishedCommand(exit_code=0, timed_out=True), "failure"),
        (FinishedCommand(not_found=True, problem="command not found: make"), None),
    ],
)
def test_a_build_is_as_good_as_its_end(ran, finished, status):
    measured = read_results([ran("build", finished=finished)])
    assert measured.metrics.build_status == status
    assert ("build" in measured.missing) == (status is None)


def test_builds_succeed_together(ran):
    both = [ran("build"), ran("wheel", kind="build", finished=EXIT_1)]
    assert read_results(both).metrics.build_status == "failure"


def test_a_check_that_measures_nothing_and_fails_is_noted(ran):
    assert read_results([ran("prepare"), ran("other", finished=EXIT_1)]).notes == ("other: exit 1 after 0.0 s",)


def test_a_check_that_names_no_report_is_missed_where_it_says_what_it_measures(ran):
    assert read_results([ran("prepare")]).missing == {}
    assert "names no report" in read_results([ran("tests")]).missing["tests"]


def test_tests_that_disagree_between_runs_reach_the_judge_as_flaky(ran):
    tests = read_results([ran("tests", FAILS, PASSES)]).tests
    assert tests is not None
    assert (dict(tests.outcomes), tests.flaky) == ({"t::a": "passed"}, frozenset({"t::a"}))


def test_tests_without_names_are_counted_and_no_identities_reach_the_judge(ran):
    measured = read_results([ran("tests", b"== 1 failed, 2 passed in 0.12s ==\n")])
    assert (measured.metrics.test_count, measured.metrics.tests_failed) == (3, 1)
    assert measured.tests is None
    assert measured.notes[0].startswith("read from pytest's terminal summary")


def test_a_package_that_fails_without_a_test_counts_as_a_failed_test(ran):
    events = b'{"Action":"pass","Package":"box","Test":"TestLid"}\n{"Action":"fail","Package":"box"}\n'
    measured = read_results([ran("tests", events)])
    assert (measured.metrics.test_count, measured.metrics.tests_failed) == (2, 1)
    assert measured.tests is not None
    assert measured.tests.outcomes["box::(package)"] == "failed"
    assert measured.notes == ("failed outside of its tests: box::(package)",)


FLAKE8 = b"./.aiwg/ralph/x/artifacts/a.py:1:1: F401 unused\na.py:1:1: F401 unused\n/p/.aiwg/b.py:1:1: W1 odd\n"
MYPY = b".aiwg/output/a.py:1: error: Bad  [x]\na.py:1: error: Bad  [x]\nFound 2 errors in 2 files (checked 2 files)\n"


@table(("name", "data", "metric"), [("lint", FLAKE8, "lint_errors"), ("types", MYPY, "type_errors")])
def test_a_finding_in_our_own_folder_is_none_of_the_project(ran, name, data, metric):
    measured = read_results([ran(name, data)])
    assert getattr(measured.metrics, metric) == 1
    assert [diagnostic.file for _, diagnostic in measured.diagnostics] == ["a.py"]
    assert measured.notes[0].endswith("in .aiwg/ left out; add .aiwg/ to what its tool ignores")


def test_a_finding_in_a_worktree_of_another_agent_is_none_of_the_project(ran, tmp_path):
    worktree = tmp_path / ".claude/worktrees/w1"
    (worktree / "src").mkdir(parents=True)
    (worktree / ".git").write_text("gitdir: elsewhere\n")
    data = b".claude/worktrees/w1/src/a.py:1:1: F401 unused\nsrc/a.py:1:1: F401 unused\n"
    measured = read_results([ran("lint", data)], root=tmp_path)
    assert measured.metrics.lint_errors == 1
    assert [diagnostic.file for _, diagnostic in measured.diagnostics] == ["src/a.py"]
    assert "1 finding in .claude/worktrees/w1/ left out" in measured.notes[0]


COBERTURA = (
    b'<coverage line-rate="%b"><packages><package><classes><class filename="a.py"><lines><line number="1" hits="1"/>'
    b'<line number="2" hits="0"/></lines></class></classes></package></packages></coverage>'
)
ESLINT = b'[{"filePath": "a.js", "messages": [], "errorCount": %d, "warningCount": 0}]'
# id: name of the check, report, the metric, its value
CONTRADICTIONS = {
    "fewer tests than declared": ("tests", PASSES.replace(b'"1"', b'"3"'), "test_count", None),
    "more tests than declared": ("tests", PASSES.replace(b'"1"', b'"0"'), "test_count", 1),
    "fewer than no test": ("tests", PASSES.replace(b'"1"', b'"-1"'), "test_count", None),
    "fewer than no failure": ("tests", PASSES.replace(b"tests=", b'failures="-1" tests='), "test_count", None),
    "another share": ("coverage", COBERTURA % b"0.9", "coverage_percentage", None),
    "another share by rounding": ("coverage", COBERTURA % b"0.508", "coverage_percentage", 50.0),
    "other totals": (
        "coverage",
        (COBERTURA % b"0.5").replace(b"<coverage", b'<coverage lines-covered="3" lines-valid="4"'),
        "coverage_percentage",
        None,
    ),
    "findings that are not listed": ("lint", ESLINT % 2, "lint_errors", None),
    "no contradiction": ("lint", ESLINT % 0, "lint_errors", 0),
    "a type checker, whose greater number counts": (
        "types",
        b"Found 2 errors in 1 file (checked 1 source file)\n",
        "type_errors",
        2,
    ),
}


@table(("name", "data", "metric", "value"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_report_that_contradicts_itself_does_not_count(ran, name, data, metric, value):
    measured = read_results([ran(name, data)])
    assert getattr(measured.metrics, metric) == value
    assert (value is None) is ("it contradicts itself, so its numbers do not count" in measured.missing.get(name, ""))


@table(
    ("check", "kind"),
    [
        (Check("tests", "x"), "tests"),
        (Check("unit", "x"), None),
        (Check("unit", "x", kind="tests"), "tests"),
        (Check("style", "x", format="ruff-json"), "lint"),
        (Check("tests", "x", format="ruff-json"), "lint"),
        (Check("style", "x", format="unknown"), None),
    ],
)
def test_a_check_measures_what_it_says_by_kind_format_or_name(check, kind):
    assert measured_kind(check) == kind


def test_a_report_that_another_check_names_too_counts_once_and_is_told(ran):
    first, second = ran("unit", PASSES), ran("all")
    measured = read_results([first, second._replace(shared={"junit.xml": "unit"})])
    assert measured.metrics.test_count == 1
    assert measured.notes == ("all: junit.xml counts once, with check unit",)


def test_a_report_that_is_too_large_is_not_read(ran):
    result = ran("tests", PASSES)
    os.truncate(result.reports[0].data_path, DEFAULT_LIMITS.max_bytes + 1)  # a hole, which no disk holds
    measured = read_results([result])
    assert measured.metrics.test_count is None
    assert f"{DEFAULT_LIMITS.max_bytes + 1} bytes are more than the limit" in measured.missing["tests"]


class TestNotLoaded:
    """What did not build is said by the report, else by what the check printed."""

    CARGO = "error[E0425]: cannot find value `c`\n --> ROOT/src/lib.rs:3:12\n"
    BUILT_IN_PART = "[ERROR] COMPILATION ERROR : \n[ERROR] ROOT/b/Box.java:[3,5] cannot find symbol\n"
    COLLECTION = (
        b'<testsuite tests="2"><testcase classname="t" name="a"/><testcase classname="" name="tests.test_b">'
        b'<error message="collection failure">E   KeyError: 1</error></testcase></testsuite>'
    )

    @pytest.mark.parametrize(
        ("reports", "printed", "finished", "expected"),
        [
            pytest.param(
                [None],
                CARGO,
                EXIT_1,
                {"src/lib.rs": "error[E0425]: cannot find value `c` (src/lib.rs:3)"},
                id="no report",
            ),
            pytest.param([None], "nothing that is an error", EXIT_1, {}, id="no report and no error"),
            pytest.param(
                [None], "error: no place", EXIT_1, {"tests": "error: no place"}, id="an error without a place"
            ),
            pytest.param([None], CARGO, EXIT_0, {}, id="a check that succeeded"),
            pytest.param([CUT], CARGO, EXIT_1, {}, id="a damaged report is of tests that ran"),
            pytest.param([FAILS], CARGO, EXIT_1, {}, id="tests that ran and failed"),
            pytest.param(
                [FAILS],
                BUILT_IN_PART,
                EXIT_1,
                {"b/Box.java": "b/Box.java:[3,5] cannot find symbol"},
                id="built in part",
            ),
            pytest.param([COLLECTION], "", EXIT_1, {"tests/test_b.py": "KeyError: 1"}, id="the report says it"),
        ],
    )
    def test_is_told_with_its_first_error(self, ran, tmp_path, reports, printed, finished, expected):
        (tmp_path / "err").write_text(printed.replace("ROOT", str(tmp_path)))
        result = ran("tests", *reports, finished=finished, paths=["report.xml"])
        measured = read_results([result], root=tmp_path)
        assert measured.not_loaded == expected
        if measured.tests is not None:
            assert measured.tests.not_loaded == expected
        assert (measured.metrics.test_count is None) == (reports[0] in (None, CUT))

    def test_a_message_names_files_relative_to_the_project(self, ran, tmp_path):
        report = FAILS.replace(b"<failure/>", f'<failure message="{tmp_path}/t.py:3: 1 != 2"/>'.encode())
        measured = read_results([ran("tests", report)], root=tmp_path)
        assert measured.tests.messages == {"t::a": "t.py:3: 1 != 2"}


def test_held_back_tests_are_named_as_such_and_nothing_that_they_print_is_kept(ran):
    report = (
        b'<testsuite tests="2"><testcase classname="t" name="a b"><failure message="assert 1 == 2"/></testcase>'
        b'<testcase classname="t" name="c"/></testsuite>'
    )
    measured = read_results([ran("tests", PASSES), ran("hidden", report, kind="tests", held_back="../hidden")])
    outcomes = {"t::a": "passed", "held-back:hidden::t::a_b": "failed", "held-back:hidden::t::c": "passed"}
    assert measured.tests.outcomes == outcomes
    assert measured.tests.messages == {}
    assert measured.metrics.test_count == 3


def test_held_back_tests_that_do_not_load_quote_nothing(ran):
    check = ran("hidden", None, finished=EXIT_1, kind="tests", held_back="../hidden")
    check.stdout.write_text("acceptance/test_a.py:1: ImportError: cannot import name 'secret'\n")
    measured = read_results([check])
    assert measured.not_loaded == {"held-back:hidden": "held-back tests do not load"}
    assert "secret" not in measured.missing["tests"]


def test_files_that_do_not_load_are_no_tests(ran):
    error = '<testcase classname="" name="{}"><error message="collection failure">E   KeyError: 1</error></testcase>'
    alone = f"<testsuite>{error.format('test_other')}</testsuite>".encode()
    totals = read_results([ran("tests", alone, finished=EXIT_1)])
    assert (totals.metrics, totals.tests) == (Metrics(), None)
    assert totals.missing == {Group.TESTS: "no test was collected: KeyError: 1"}
    assert set(totals.not_loaded.values()) == {"KeyError: 1"}
    with_others = alone.replace(b"</testsuite>", b'<testcase classname="t" name="a"/></testsuite>')
    assert read_results([ran("tests", with_others, finished=EXIT_1)]).metrics.tests_passed == 1


def test_tests_of_one_name_in_several_folders_are_several(ran):
    several = read_results([ran("one", FAILS, kind="tests", cwd="a"), ran("two", PASSES, kind="tests", cwd="b/")])
    assert several.tests is not None
    assert several.tests.outcomes == {"a/t::a": "failed", "b/t::a": "passed"}
    same = read_results([ran("one", FAILS, kind="tests", cwd="a"), ran("two", PASSES, kind="tests", cwd="a")])
    assert same.tests is not None
    assert same.tests.outcomes == {"t::a": "passed"}  # a rerun


def test_files_of_one_name_in_several_folders_are_several(ran, tmp_path):
    lcov = b"SF:x.js\nDA:1,%d\nDA:2,0\nend_of_record\n"
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.js").write_text("")
    results = [ran("one", lcov % 0, kind="coverage", cwd="a"), ran("two", lcov % 1, kind="coverage", cwd="b")]
    measured = read_results([*results, ran("lint", RUFF.replace(b"a.py", b"x.js"), cwd="a")], root=tmp_path)
    assert measured.coverage is not None
    assert measured.coverage.files == {"a/x.js": {1: False, 2: False}, "b/x.js": {1: True, 2: False}}
    assert measured.metrics.get("coverage_lines_total") == 4
    assert [each.file for _, each in measured.diagnostics] == ["a/x.js"]


def test_what_stands_in_the_place_of_tests_is_no_test():
    reported = {"tests.test_a": "failed", "acme::(package)": "failed", "tests.test_b::x": "failed"}
    not_loaded = {"tests/test_a.py": "SyntaxError", "acme": "undefined: c"}
    assert without_unloaded(TestResults(reported, not_loaded=not_loaded)).outcomes == {"tests.test_b::x": "failed"}
    assert without_unloaded(TestResults(reported)).outcomes == reported
