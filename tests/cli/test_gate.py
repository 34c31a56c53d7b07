"""`ralph-tracker gate`: what it prints and writes, and its exit codes."""

import json
import re

import jsonschema
import pytest
from junitparser import JUnitXml

from ralph_tracker.cli.app import run

ADVICE = (
    "run `ralph-tracker hook pre-loop` first, on the state to compare with; "
    "in CI, do that there too, or bring .aiwg/ along as a cache"
)


@pytest.fixture(autouse=True)
def _no_workflow(monkeypatch):
    """Run where no workflow does: what CI sets for the tests' own run is not theirs."""
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def ask(running, metrics_of):
    """Return what asks the gate about metrics, with options."""

    def gate(*options, **changes):
        return running.ralph("gate", "--metrics", running.file("gate.json", metrics_of(**changes)), *options)

    return gate


# id: what is measured after an iteration → exit code, what is printed
ANSWERS = {
    "the same": (
        {},
        0,
        (
            "pass: no regression against iteration 1 of ralph-001\n"
            "  plateau: all 10 tests pass, 50 % coverage, 10 lint errors, score 84.3 %\n"
        ),
    ),
    "a finding that passes": (
        {"file_count": 4},
        0,
        (
            "pass: no regression against iteration 1 of ralph-001\n"
            "  plateau: all 10 tests pass, 50 % coverage, 10 lint errors, score 84.3 %\n"
            "  MEDIUM file_deletion: File count decreased (potential code deletion) (5→4 files)\n"
        ),
    ),
    "could not measure": (
        {"coverage_percentage": None},
        4,
        (
            "could not measure coverage\n  plateau: all 10 tests pass, 10 lint errors, score 78 %\n"
            "  not measured: coverage: no coverage_percentage in the metrics handed in\n"
            "  next: fix what gave nothing (`ralph-tracker doctor` helps), then run `ralph-tracker gate` again\n"
        ),
    ),
    "regression": (
        {"test_count": 9, "tests_passed": 9, "coverage_percentage": None},
        3,
        (
            "regression against iteration 1 of ralph-001\n"
            "  regression: all 9 tests pass, 10 lint errors, score 75.8 %\n"
            "  class regression: test_count 10→9\n"
            "  CRITICAL test_deletion: Test count decreased from 10 to 9\n"
            "  HIGH functionality_loss: Passing tests decreased from 10 to 9\n"
            "  not measured: coverage: no coverage_percentage in the metrics handed in\n"
            "  next: fix it, then run `ralph-tracker gate` again\n"
        ),
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_the_answer_in_words_and_as_an_exit_code(ask, case):
    changes, code, said = ANSWERS[case]
    answer = ask(**changes)
    assert (answer.code, answer.err, answer.out) == (code, "", said)


def test_the_tests_that_fail_are_named_where_it_passes_too(project, metrics_of):
    def named(*failing):
        tests = [{"id": f"t{each}", "outcome": "failed" if each in failing else "passed"} for each in range(9)]
        return {**dict.fromkeys(("test_count", "tests_passed", "tests_failed")), "tests": tests}

    def said(*failing):
        file = project.file("gate.json", metrics_of(**named(*failing)))
        return project.ralph("gate", "--metrics", file).out.splitlines()

    project.started(**named(0, 1, 2, 3, 4, 5))
    passing, regressed = said(0, 1, 2, 3, 4, 5), said(1, 8, 7)
    assert passing[0].startswith("pass: ")
    assert "  still failing: t0, t1, t2, t3, t4 and 1 more" in passing
    assert regressed[0].startswith("regression ")
    assert [line for line in regressed if " failing: t" in line] == ["  now failing: t7, t8", "  still failing: t1"]
    assert "  CRITICAL working_tests_failing: Previously passing tests now failing" in regressed


def test_what_an_iteration_on_record_raised_and_what_was_accepted_is_named_by_id(running, ask, metrics_of):
    running.must("post-iteration", metrics_of(test_count=9, tests_passed=9, build_status=None))
    running.ralph("accept", "it2-metric_missing-build", "--reason", "no compiler here")
    answer = ask(test_count=9, tests_passed=9, build_status=None)
    assert answer.code == 3
    assert "  CRITICAL it2-test_deletion (still open): Test count decreased from 10 to 9\n" in answer.out
    assert "  accepted: it2-metric_missing-build\n" in answer.out
    assert "; `ralph-tracker accept it2-test_deletion --reason WHY` accepts it\n" in answer.out


@pytest.mark.parametrize("code", [0, 3, 4])
def test_the_document_fits_its_published_schema(running, ask, code):
    schema = running.plainly("schema", "gate").json
    validator = jsonschema.Draft202012Validator(schema)
    changes = {0: {}, 3: {"test_count": 9, "tests_passed": 9}, 4: {"coverage_percentage": None}}[code]
    answer = ask("--json", **changes)
    validator.validate(answer.json)
    assert (answer.code, answer.json["exit_code"]) == (code, code)
    assert not validator.is_valid({**answer.json, "surprise": 1})


@pytest.mark.parametrize("options", [(), ("--json",), ("--github",), ("--junit", "verdict.xml")])
def test_nothing_of_the_loop_is_written(running, ask, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = running.content()
    assert ask(*options, test_count=9, tests_passed=9).code == 3
    assert running.content() == before


def test_the_verdict_is_written_as_junit_beside_what_is_printed(ask, tmp_path):
    file = tmp_path / "verdict.xml"
    answer = ask("--junit", file, "--json", test_count=9, tests_passed=9)
    (suite,) = JUnitXml.fromfile(str(file))
    assert suite.failures == 1 + len(answer.json["alerts"])
    assert answer.code == 3


def test_a_junit_file_that_cannot_be_written_is_an_error_with_the_verdict_in_it(ask, tmp_path):
    file = tmp_path / "none" / "verdict.xml"
    answer = ask("--junit", file)
    assert answer.code == 1
    assert (
        answer.complaint
        == f"{file}: No such file or directory; the gate's verdict is pass; choose another --junit FILE for it"
    )


def test_github_gets_words_annotations_and_a_summary(ask, tmp_path, monkeypatch):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    answer = ask("--github", test_count=9, tests_passed=9)
    assert answer.code == 3
    assert answer.out.startswith("regression against iteration 1 of ralph-001\n")
    assert "\n::error title=Test deletion::Test count decreased from 10 to 9\n" in answer.out
    assert "step summary" not in answer.out
    assert summary.read_text().startswith("before\n## ralph-tracker gate: regression\n")


# id: what GITHUB_STEP_SUMMARY names → what is said
NO_SUMMARY = {
    "no file": (None, "not written: not in GitHub Actions (GITHUB_STEP_SUMMARY is not set)"),
    "an empty name": ("", "not written: not in GitHub Actions (GITHUB_STEP_SUMMARY is not set)"),
    "a folder": (".", "not written, {}: Is a directory"),
    "a full file": ("full.md", "not written, {} is full"),
}


@pytest.mark.parametrize("case", NO_SUMMARY)
def test_a_summary_that_cannot_be_written_is_said_and_no_failure(ask, tmp_path, monkeypatch, case):
    name, said = NO_SUMMARY[case]
    full = tmp_path / "full.md"
    full.write_bytes(b"x" * 1024 * 1024)
    path = str(tmp_path / name) if name else name
    if path is not None:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", path)
    answer = ask("--github")
    assert (answer.code, answer.out.splitlines()[-1]) == (0, f"  step summary: {said.format(path)}")
    assert full.stat().st_size == 1024 * 1024


def test_a_summary_is_cut_where_an_earlier_one_leaves_little_room(ask, tmp_path, monkeypatch):
    summary = tmp_path / "summary.md"
    summary.write_bytes(b"x" * (1024 * 1024 - 200))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert ask("--github", test_count=9, tests_passed=9).code == 3
    assert summary.stat().st_size < 1024 * 1024
    assert summary.read_text().endswith("`ralph-tracker gate --json` has the rest._\n")


@pytest.mark.parametrize(("workspace", "prefix"), [("..", "project/"), (".", ""), ("other", ""), (None, "")])
def test_annotations_name_files_as_the_repository_does(running, metrics_of, monkeypatch, workspace, prefix):
    """The root may be a folder of the repository, as in a monorepo."""
    (running.root / "tests").mkdir()
    (running.root / "tests/test_a.py").write_text("\ndef test_b():\n    pass\n")
    if workspace is not None:
        monkeypatch.setenv("GITHUB_WORKSPACE", str(running.root / workspace))
    counts = dict.fromkeys(("test_count", "tests_passed", "tests_failed"))
    names = [{"id": "tests.test_a::test_b", "outcome": "passed"}, {"id": "c", "outcome": "passed"}]
    running.must("post-iteration", metrics_of(**counts, tests=names))
    broken = metrics_of(**counts, tests=[{**names[0], "outcome": "failed"}, names[1]])
    answer = running.ralph("gate", "--github", "--metrics", running.file("gate.json", broken))
    assert f"\n::error file={prefix}tests/test_a.py,line=2,title=Working tests failing::tests.test_a::" in answer.out


def test_a_name_from_the_tree_is_no_command_for_the_runner(running, metrics_of):
    counts = dict.fromkeys(("test_count", "tests_passed", "tests_failed"))
    odd = "x\n::stop-commands::y\n##[error]z\r::set-output name=a::b"
    names = [{"id": odd, "outcome": "passed"}, {"id": "c", "outcome": "passed"}]
    running.must("post-iteration", metrics_of(**counts, tests=names))
    broken = metrics_of(**counts, tests=[{**names[0], "outcome": "failed"}, names[1]])
    answer = running.ralph("gate", "--github", "--metrics", running.file("gate.json", broken))
    commands = [line for line in answer.out.splitlines() if line.lstrip().startswith("::")]
    assert commands
    assert all(line.startswith(("::error title=", "::warning title=")) for line in commands)
    assert "##[" not in "\n".join(line for line in answer.out.splitlines() if line not in commands)


def test_github_and_json_exclude_each_other(ask):
    answer = ask("--github", "--json")
    assert answer.code == 2
    assert answer.complaint.startswith("--github and --json both print to standard output; choose one")


@pytest.mark.parametrize("named", [(), ("--loop-id", "other")])
def test_without_a_loop_it_says_what_to_do(project, named):
    answer = project.ralph("gate", *named)
    where = f"loop other: not in {project.root}" if named else f"no loop in {project.root}"
    assert (answer.code, answer.complaint) == (1, f"{where}; {ADVICE}")


def test_metrics_that_the_loop_needs_are_asked_for(running):
    answer = running.ralph("gate")
    assert answer.code == 1
    assert answer.complaint.endswith("pass --metrics FILE")


def test_metrics_that_contradict_the_loop_are_refused(running):
    given = running.file("score.json", {"quality_score": 0.5})
    answer = running.ralph("gate", "--metrics", given)
    assert (answer.code, answer.complaint.partition(":")[0]) == (1, "metrics")


# A check without tools: the shell writes the report of one test that passes.
REPORT = '<testsuite tests="1"><testcase classname="a" name="b"/></testsuite>'
CHECK = {"run": f"echo '{REPORT}' > {{reports}}/junit.xml", "reports": ["{reports}/junit.xml"]}


def test_a_measured_loop_is_gated_by_its_own_checks(project):
    (project.root / "ralph-tracker.yaml").write_text(json.dumps({"checks": {"tests": CHECK}}))
    (project.root / "code.py").write_text("def a():\n    return 1\n")
    project.must("pre-loop")
    answer = project.ralph("gate", "--json")
    assert answer.code == 0
    assert [measure["name"] for measure in answer.json["measures"]] == ["tests", "code"]


def test_a_stranger_sees_the_exit_code_of_the_process(running, metrics_of, own_process):
    given = running.file("gate.json", metrics_of(test_count=9, tests_passed=9))
    done = own_process("gate", "--metrics", str(given), cwd=running.root, env={"RALPH_LOOP_ID": "ralph-001"})
    assert (done.returncode, done.stderr) == (3, "")
    assert [path.name for path in running.root.iterdir()] == [".aiwg"]


def test_metric_lines_stand_before_the_verdict_as_benchmark_loops_read_them(ask):
    answer = ask("--metric-lines", test_count=9, tests_passed=9)
    lines = answer.out.splitlines()
    number = lines.index("regression against iteration 1 of ralph-001")
    assert answer.code == 3
    told = ask("--json", test_count=9, tests_passed=9).json
    assert lines[:2] == [f"METRIC {name}={told[name]}" for name in ("adjusted_score", "quality_score")]
    assert all(re.fullmatch(r"METRIC [\w.]+=-?\d+(\.\d+)?", line) for line in lines[:number])
    assert "METRIC test_count=9" in lines[:number]


@pytest.mark.parametrize(
    "options", [("--github", "--json"), ("--json", "--metric-lines"), ("--github", "--metric-lines")]
)
def test_two_forms_of_the_answer_exclude_each_other(ask, options):
    answer = ask(*options)
    assert answer.code == 2
    assert answer.complaint == (
        f"{options[0]} and {options[1]} both print to standard output; choose one; see `ralph-tracker gate --help`"
    )


def test_failing_tests_are_told_with_place_and_message(tmp_path, capsys):
    check = '{run: "cp results.xml {reports}/junit.xml", reports: ["{reports}/junit.xml"]}'
    (tmp_path / "ralph-tracker.yaml").write_text(f"checks:\n  tests: {check}\n")
    failure = '<failure message="assert 1 == 2">calc.py:3: AssertionError</failure>'
    cases = f'<testcase classname="t" name="one"/><testcase classname="t" name="two">{failure}</testcase>'
    (tmp_path / "results.xml").write_text(f'<testsuite name="s">{cases}</testsuite>')
    assert run(["hook", "pre-loop", "--root", str(tmp_path)]) == 0
    capsys.readouterr()
    assert run(["gate", "--json", "--root", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["failures"] == ["calc.py:3 s::t::two: assert 1 == 2"]
