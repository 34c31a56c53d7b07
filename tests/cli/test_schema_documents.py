"""What `--json` prints is what `ralph-tracker schema` describes, and what it describes can be handed in."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
import yaml

from ralph_tracker.cli.schema import NAMES, SCHEMAS
from ralph_tracker.cli.verbs import cli
from ralph_tracker.config.load import config_of
from ralph_tracker.errors import ConfigError, InputError
from ralph_tracker.measure.handed_in import read_metrics, read_usage

CONFIGURATION = """
version: 1
plan: fix_plan.md
loop: {max_iterations: 20, target_score: 0.90, max_cost_usd: null, warn_at_usd: null, max_minutes: null}
checks:
  tests:
    run: [python, -m, coverage, run, -m, pytest, -q, "--junitxml={reports}/junit.xml"]
    reports: ["{reports}/junit.xml"]
    timeout: 15m
    held_back: ../acceptance
  coverage: {run: [python, -m, coverage, json, -o, "{reports}/coverage.json"], reports: ["{reports}/coverage.json"],
             needs: [tests]}
  lint:  {run: [ruff, check, --output-format=json], reports: ["-"]}
  types: {run: [mypy, --output=json, .], reports: ["-"]}
  build: {run: [python, -m, compileall, -q, src], kind: build}
codebase: {include: ["**"], exclude: []}
alerts: {coverage_drop: 2.0, error_increase: 5, complexity_growth: 0.5}
stall: {window: 3, tolerance: 2.0, variance: 0.02}
cycling: {window: 5, terminate_after: 10}
score: {weights: {validation: 0.30, completeness: 0.25, correctness: 0.25, readability: 0.10, efficiency: 0.10},
        acceptance: 0.70}
selection: {mode: walk, questions: refuse, against: baseline}
integrity: {rerun: touched, rerun_timeout: 5m}
"""
SEED = """
testing: {test_count: 8, tests_passed: 5, tests_failed: 3, tests_skipped: 0, pass_rate: 62.5, coverage_percentage: 65.0,
          coverage_lines_covered: 292, coverage_lines_total: 450}
quality: {lint_errors: 8, lint_warnings: 4, type_errors: 0, build_status: success}
codebase: {file_count: 3, loc_total: 450, complexity_score: 12.5}
"""
OUTCOMES = {"tests": [{"id": "a", "outcome": "error"}, {"id": "b", "outcome": "xpassed", "duration": 0.5}]}
# id: name of the schema, a document that is good
GOOD = {
    "configuration": ("config", yaml.safe_load(CONFIGURATION)),
    "no configuration": ("config", {}),
    "limits by the seeds' names": ("config", {"loop": {"hardLimitUsd": 5, "warnAtUsd": 4.5}}),
    "limits by our names": ("config", {"loop": {"max_cost_usd": 5, "warn_at_usd": 4.5}}),
    "no limits": ("config", {"loop": {"max_iterations": None, "target_score": None}}),
    "command for the shell": ("config", {"checks": {"tests": {"run": "make test", "timeout": 60, "env": {"CI": "1"}}}}),
    "metrics of the seed": ("metrics", yaml.safe_load(SEED)),
    "outcomes by name": ("metrics", OUTCOMES),
    "a judge's score": ("metrics", {"quality_score": 0.88, "quality": {"error_count": 12}}),
    "metrics with gaps": ("metrics", {"testing": {"test_count": None}, "tests": None}),
    "usage": ("usage", {"cost_usd": 0.42, "input_tokens": 1000, "output_tokens": 50, "turns": 3, "duration_s": 61.5}),
    "usage unknown": ("usage", {}),
}
# id: name of the schema, a document that is bad
BAD = {
    "unknown section": ("config", {"loops": {}}),
    "unknown key of a check": ("config", {"checks": {"tests": {"run": "x", "report": []}}}),
    "number as text": ("config", {"loop": {"max_iterations": "5"}}),
    "score in percent": ("config", {"loop": {"target_score": 90}}),
    "negative limit": ("config", {"loop": {"hardLimitUsd": -1}}),
    "mode that is no name": ("config", {"selection": {"mode": 1}}),
    "unknown time of a rerun": ("config", {"integrity": {"rerun": "always"}}),
    "unknown metric": ("metrics", {"testing": {"tests": 1}}),
    "negative count": ("metrics", {"testing": {"test_count": -1}}),
    "percentage over 100": ("metrics", {"testing": {"pass_rate": 101}}),
    "unknown outcome": ("metrics", {"tests": [{"id": "a", "outcome": "ok"}]}),
    "test without a name": ("metrics", {"tests": [{"outcome": "passed"}]}),
    "unknown usage": ("usage", {"cost": 1}),
    "negative cost": ("usage", {"cost_usd": -1}),
}


@pytest.fixture(scope="module")
def validator(project_at, tmp_path_factory):
    """Return the validator of a schema, as the command prints it."""
    project = project_at(tmp_path_factory.mktemp("schemas") / "project")

    def of(name: str) -> jsonschema.Draft202012Validator:
        schema = project.plainly("schema", name).json
        jsonschema.Draft202012Validator.check_schema(schema)
        return jsonschema.Draft202012Validator(schema)

    return {name: of(name) for name in NAMES}


def understood(name: str, document: Any) -> bool:
    """Tell whether the program takes a document."""
    take = {"config": lambda raw: config_of(raw, None), "metrics": read_metrics, "usage": read_usage}[name]
    try:
        take(document)
    except (ConfigError, InputError):
        return False
    return True


def test_the_names_that_help_and_completion_offer_are_those_of_the_table():
    assert tuple(SCHEMAS) == NAMES


@pytest.mark.parametrize("case", GOOD)
def test_a_good_document_is_taken_by_schema_and_program(validator, case):
    name, document = GOOD[case]
    validator[name].validate(document)
    assert understood(name, document)


@pytest.mark.parametrize("case", BAD)
def test_a_bad_document_is_refused_by_schema_and_program(validator, case):
    name, document = BAD[case]
    assert not validator[name].is_valid(document)
    assert not understood(name, document)


@pytest.fixture(scope="module")
def eventful(project_at, metrics_of, tmp_path_factory):
    """Return a loop with alerts of many kinds, new, open, closed and accepted, and all that it printed."""
    project = project_at(tmp_path_factory.mktemp("eventful") / "project")
    printed = []

    def outcomes(**failed: str) -> list[dict[str, str]]:
        names = [f"t{number}" for number in range(30)]
        return [{"id": name, "outcome": failed.get(name, "passed")} for name in names if failed.get(name) != "gone"]

    def run(schema: str, *command: object, metrics: Any = None) -> None:
        given = () if metrics is None else ("--metrics", project.file("metrics.json", metrics))
        answer = project.ralph(*command, *given, "--json")
        assert answer.code in {0, 10, 11, 12}, answer.err
        printed.append((schema, " ".join(map(str, command)), answer.json))

    def turn(*options: object, **changes: Any) -> None:
        counts = dict.fromkeys(("test_count", "tests_passed", "tests_failed"))
        run("record", "hook", "post-iteration", *options, metrics=metrics_of(**counts, **changes))
        run("decision", "hook", "loop-decision")
        run("status", "status")

    run("record", "hook", "pre-loop", metrics=metrics_of(test_count=None, tests_passed=None, tests=outcomes()))
    run("status", "status")
    usage = project.file("usage.json", {"cost_usd": 0.5, "turns": 3})
    turn("--usage", usage, tests=outcomes(t1="failed"), coverage_percentage=40.0)
    turn(tests=outcomes(t2="gone", t3="skipped"), file_count=3, complexity_score=9.0)
    (project.root / "ralph-tracker.yaml").write_text("loop: {max_iterations: 3}")
    turn("--usage", project.file("usage.json", {}), lint_errors=None, tests=outcomes(t2="gone"))
    turn("--blocked", "no key for the server", tests=None, coverage_percentage=None)
    turn(tests=outcomes(), lint_errors=100)
    run("acceptance", "accept", "it2-test_deletion", "--reason", "it tested nothing")
    for verb in (("history",), ("select-best",), ("hook", "post-loop"), ("history",), ("status",)):
        run({"history": "history", "status": "status"}.get(verb[-1], "selection"), *verb)
    run("selection", "hook", "post-loop", "--iteration", "0", "--reason", "as it was")
    for number in range(6):
        run("show", "show", number)
        run("diff", "diff", number)
        run("report", "report", number)
    return printed


@pytest.fixture(scope="module")
def given(project_at, tmp_path_factory):
    """Return what a loop of given scores printed, from a baseline alone to its end."""
    project = project_at(tmp_path_factory.mktemp("given") / "project")
    printed = [("record", "pre-loop", project.must("pre-loop", {"quality_score": 0.5}))]
    printed += [("decision", "first", project.must("loop-decision"))]
    printed += [("selection", "of a baseline", project.ralph("select-best", "--json").json)]
    printed += [
        ("record", str(score), project.must("post-iteration", {"quality_score": score})) for score in (0.9, 0.0)
    ]
    printed += [("decision", "last", project.must("loop-decision"))]
    modes = ("walk", "highest_quality", "most_recent_above_threshold")
    printed += [("selection", mode, project.must("post-loop", None, "--mode", mode)) for mode in modes]
    return [*printed, ("history", "history", project.ralph("history", "--json").json)]


def with_json(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command that takes --json."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            below = command.get_command(click.Context(command), name)
            yield from () if below is None else with_json(below, (*words, name))
    elif any("--json" in option.opts for option in command.params):
        yield words


@pytest.mark.parametrize("words", [*with_json(cli)], ids=" ".join)
def test_an_error_is_a_document_beside_its_line(project, validator, words):
    answer = project.plainly(*words, "--json", "--nonsense")
    validator["error"].validate(answer.json)
    error = answer.json["error"]
    assert (answer.code, error["exit_code"]) == (2, 2)
    assert answer.err == f"ralph-tracker: {error['message']}\n"


def test_an_error_of_the_project_is_a_document_too(project, validator):
    answer = project.ralph("status", "--json")
    validator["error"].validate(answer.json)
    assert (answer.code, answer.json["error"]["exit_code"]) == (1, 1)
    assert "ralph-tracker hook pre-loop" in answer.json["error"]["message"]


def test_the_option_of_an_agent_asks_for_no_document(project):
    answer = project.plainly("run", "--nonsense", "--", "agent", "--json")
    assert (answer.code, answer.out) == (2, "")


REPORTS = Path(__file__).resolve().parents[2] / "fixtures" / "reports"
# A check without tools: the shell writes the report of one test that passes.
REPORT = '<testsuite tests="1"><testcase classname="a" name="b"/></testsuite>'
CHECK = {"run": f"echo '{REPORT}' > {{reports}}/junit.xml", "reports": ["{reports}/junit.xml"]}


@pytest.fixture(scope="module")
def measured(project_at, tmp_path_factory):
    """Return what a loop printed that measures and keeps its files by itself."""
    project = project_at(tmp_path_factory.mktemp("measured") / "project")
    (project.root / "ralph-tracker.yaml").write_text(json.dumps({"checks": {"tests": CHECK}}))
    (project.root / "code.py").write_text("a = 1\n")
    printed = [("record", "pre-loop", project.must("pre-loop"))]
    (project.root / "code.py").write_text("import a  # noqa: F401\n")
    printed += [("record", "post-iteration", project.must("post-iteration"))]
    for verb in (
        "verify",
        "doctor",
        "status",
        "history",
        "stats",
        "flaky",
        "strength",
        "gate",
        "gc",
        "integrity",
        "questions",
    ):
        printed.append((verb, verb, project.ralph(verb, "--json").json))
    kinds = ("junit/pytest-reruns", "coveragepy-json/branches", "ruff-json/findings", "mypy-text/clean")
    folders = [REPORTS / kind for kind in kinds]
    reports = [next(path for path in folder.glob("report.*")) for folder in folders]
    printed += [("read", "read", project.plainly("read", *reports, __file__, "--json").json)]
    restored = project.ralph("restore", "0", "--json").json
    printed += [("restore", "restore", restored)]
    printed += [("undos", "restore --list", project.ralph("restore", "--list", "--json").json)]
    printed += [("gc", "gc --yes", project.ralph("gc", "--yes", "--keep-last", "1", "--json").json)]
    printed += [("show", "show", project.ralph("show", "1", "--json").json)]
    printed += [("diff", "diff", project.ralph("diff", "0", "--json").json)]
    printed += [("diff", "diff --stat", project.ralph("diff", "1", "0", "--stat", "--json").json)]
    printed += [("restore", "undo", project.ralph("restore", "--undo", restored["undo"], "--json").json)]
    return [*printed, ("selection", "post-loop", project.must("post-loop"))]


@pytest.mark.parametrize("loop", ["eventful", "given", "measured"])
def test_everything_that_is_printed_as_json_fits_its_schema(validator, loop, request):
    for schema, what, document in request.getfixturevalue(loop):
        problems = [
            f"{what}: {problem.json_path}: {problem.message}" for problem in validator[schema].iter_errors(document)
        ]
        assert problems == []


def test_the_eventful_loop_has_alerts_of_every_state_and_many_kinds(eventful):
    records = [record["iteration_metrics"] for schema, _, record in eventful if schema in {"record", "show"}]
    alerts = [alert for record in records for alert in (*record["alerts"], *record["open_alerts"])]
    assert {alert["state"] for alert in alerts} == {"new", "open"}
    assert {alert["type"] for alert in alerts} >= {
        "test_deletion",
        "working_tests_failing",
        "functionality_loss",
        "coverage_regression",
        "error_increase",
        "metric_missing",
        "config_changed",
        "file_deletion",
        "complexity_explosion",
    }
    assert any(record["closed_alerts"] for record in records)
    assert any(record["usage"] for record in records)
    assert any(record["blocked"] for record in records)


@pytest.mark.parametrize("loop", ["eventful", "given", "measured"])
def test_a_key_that_nobody_described_fits_no_schema(validator, loop, request):
    for schema, what, document in request.getfixturevalue(loop):
        changed = copy.deepcopy(document)
        (changed[0] if isinstance(changed, list) else changed)["surprise"] = 1
        assert not validator[schema].is_valid(changed), what


def test_every_schema_of_something_printed_is_met(eventful, measured):
    elsewhere = {"config", "metrics", "usage", "plan", "simulate", "replay", "compare", "loops", "error"}
    assert {schema for schema, *_ in (*eventful, *measured)} == set(NAMES) - elsewhere
