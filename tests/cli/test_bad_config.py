"""A configuration or a template that cannot be used, and one that the agent changed while the loop was running."""

import pytest

MODES = "highest_quality, highest_quality_verified, most_recent_above_threshold, walk"
# id: ralph-tracker.yaml, and what is said of it
UNUSABLE = {
    "unknown section": ("loops: {}", "loops: unknown key; did you mean loop?"),
    "unknown key": ("loop: {max_iteration: 3}", "loop.max_iteration: unknown key; did you mean max_iterations?"),
    "unknown key of a check": (
        "checks: {tests: {run: x, report: [a]}}",
        "checks.tests.report: unknown key; did you mean reports?",
    ),
    "unknown weight": (
        "score: {weights: {validaton: 1}}",
        "score.weights.validaton: unknown key; did you mean validation?",
    ),
    "key like no other": (
        "stall: {zzz: 1}",
        "stall.zzz: unknown key; known: score_gain, tolerance, variance, window",
    ),
    "one key by two names": (
        "loop: {max_cost_usd: 1, hardLimitUsd: 2}",
        "loop.hardLimitUsd: another name of a key that is also given; remove one",
    ),
    "NaN": ("loop: {target_score: .nan}", "loop.target_score: not a finite number, found nan"),
    "infinity": ("loop: {max_cost_usd: .inf}", "loop.max_cost_usd: not a finite number, found inf"),
    "negative": ("alerts: {coverage_drop: -2}", "alerts.coverage_drop: should be greater than or equal to 0, found -2"),
    "no iteration at all": (
        "loop: {max_iterations: 0}",
        "loop.max_iterations: should be greater than or equal to 1, found 0",
    ),
    "number as text": ("loop: {max_iterations: '5'}", "loop.max_iterations: should be a valid integer, found '5'"),
    "truth for a number": ("loop: {max_iterations: yes}", "loop.max_iterations: should be a valid integer, found True"),
    "score in percent": (
        "loop: {target_score: 90}",
        "loop.target_score: should be less than or equal to 1, found 90",
    ),
    "weights that do not sum to 1": (
        "score: {weights: {validation: 0.5}}",
        "score.weights: the weights sum to 1.2, not to 1",
    ),
    "time of day for a number": (
        "loop: {max_minutes: 1:30}",
        "loop.max_minutes: should be a valid number, found '1:30'",
    ),
    "number with a leading zero": (
        "loop: {max_iterations: 010}",
        "line 1, column 24: 010 begins with 0, which some read as octal; leave that out",
    ),
    "reports anywhere on the machine": (
        "checks: {tests: {run: x, reports: ['/**/*']}}",
        "checks.tests: reports: '/**/*' would search far more than the project; name a folder",
    ),
    "reports anywhere above": (
        "checks: {tests: {run: x, reports: ['ok/*.xml', '../ok/*.xml', '../../*/r.xml']}}",
        "checks.tests: reports: '../../*/r.xml' would search far more than the project; name a folder",
    ),
    "folder outside of the project": (
        "checks: {tests: {run: x, cwd: ../..}}",
        "checks.tests: cwd: '../..' is outside of the project; name a folder below it",
    ),
    "name that no variable has": (
        "checks: {tests: {run: x, env: {A=B: c}}}",
        "checks.tests: env: 'A=B' cannot be set; a name has letters, digits and `_`, and no value has a NUL",
    ),
    "unknown mode": (
        "selection: {mode: best}",
        f"selection.mode: no mode 'best' is installed; known: {MODES}",
    ),
    "command that is a number": (
        "checks: {tests: {run: 5}}",
        "checks.tests.run: should be a valid string, found 5",
    ),
    "check without a command": ("checks: {tests: {}}", "checks.tests.run: is missing"),
    "section without content": ("loop:", "loop: should be keys and values, found nothing"),
    "newer version": ("version: 2", "version: should be 1, found 2"),
    "list": ("[1]", "expected keys and values at the top, found [1]"),
    "key that is given twice": ("loop: {}\nloop: {}", "line 2, column 1: key 'loop' is given twice; keep one"),
    "several documents": ("loop: {}\n---\nloop: {}", "line 2, column 1: a second document begins; keep one in a file"),
    "not UTF-8": (b"loop: \xff", "not UTF-8 (byte 6); save it as UTF-8"),
}
PYPROJECT = {
    "unknown key": ("[tool.ralph-tracker.loop]\nturns = 3", "loop.turns: unknown key; known: "),
    "not TOML": ("[tool.ralph-tracker", "Expected ']' at the end of a table declaration (at "),
    "deep": ("# ralph-tracker\nx = " + "[" * 5000, "nested too deeply; make it flatter"),
    "no table": ("[tool]\nralph-tracker = 5", "expected keys and values at the top, found 5"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_configuration_that_cannot_be_used_starts_no_loop(project, metrics_of, name):
    content, said = UNUSABLE[name]
    file = project.root / "ralph-tracker.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    answer = project.hook("pre-loop", metrics_of())
    assert (answer.code, answer.complaint) == (1, f"ralph-tracker.yaml: {said}")
    assert list(project.content()) == ["ralph-tracker.yaml"]


@pytest.mark.parametrize("name", PYPROJECT)
def test_a_pyproject_that_cannot_be_used_starts_no_loop(project, metrics_of, name):
    content, said = PYPROJECT[name]
    (project.root / "pyproject.toml").write_text(content)
    answer = project.hook("pre-loop", metrics_of())
    assert (answer.code, answer.complaint.startswith(f"pyproject.toml: {said}")) == (1, True), answer.complaint
    assert list(project.content()) == ["pyproject.toml"]


def test_a_configuration_that_is_a_folder_is_named(project, metrics_of):
    (project.root / "ralph-tracker.yaml").mkdir()
    answer = project.hook("pre-loop", metrics_of())
    assert answer.complaint == "ralph-tracker.yaml: cannot be read (Is a directory); fix or remove it"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("", "loop: {target_score: 0.1}", "loop.target_score"),
        (
            "loop: {max_iterations: 5}",
            "loop: {max_iterations: 50, max_cost_usd: 3}",
            "loop.max_iterations, loop.max_cost_usd",
        ),
        ("loop: {max_iterations: 5}", None, "loop.max_iterations"),
        ("loop: {max_iterations: 5}", "loop: [", "unusable now (ralph-tracker.yaml: line 2, column 1: "),
        ("checks: {tests: {run: pytest}}", "checks: {}", "checks.tests"),
    ],
    ids=["target", "two keys", "removed", "broken", "check removed"],
)
def test_a_configuration_changed_under_way_raises_an_alert_that_names_the_keys(
    project, metrics_of, before, after, said
):
    file = project.root / "ralph-tracker.yaml"
    file.write_text(before)
    project.started()
    file.unlink() if after is None else file.write_text(after)
    record = project.must("post-iteration", metrics_of(tests_passed=9, tests_failed=1))
    (alert,) = [a for a in record["iteration_metrics"]["alerts"] if a["type"] == "config_changed"]
    assert alert["message"].startswith(f"Configuration changed: {said}")
    assert alert["message"].endswith("; the frozen one is used")
    assert (alert["severity"], alert["id"]) == ("HIGH", "it1-config_changed")


def test_another_way_to_write_the_same_configuration_raises_nothing(project, metrics_of):
    file = project.root / "ralph-tracker.yaml"
    file.write_text("loop: {max_iterations: 5}")
    project.started()
    file.write_text("# as before\nloop:\n  max_iterations: 5\n  max_cost_usd: null\n")
    assert project.must("post-iteration", metrics_of())["iteration_metrics"]["alerts"] == []


def test_the_configuration_of_the_start_is_the_one_that_counts(project, metrics_of):
    file = project.root / "ralph-tracker.yaml"
    file.write_text("loop: {max_iterations: 1}")
    project.started()
    file.write_text("loop: {max_iterations: 100}")
    project.must("post-iteration", metrics_of())
    decided = project.hook("loop-decision", None, "--json")
    assert (decided.code, decided.json["reason"]) == (10, "Iteration limit reached: 1 of 1")


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{% for x in %}", "iteration-report.md.j2, line 1: Expected an expression, got 'end of statement block'"),
        (
            "{{ it.nothing }}",
            "iteration-report.md.j2: 'ralph_tracker.report.iteration_view.IterationView object' has no attribute",
        ),
        ("\n{{ it.iteration + 'x' }}", "iteration-report.md.j2: TypeError: unsupported operand type(s)"),
        ("{{ 1 / 0 }}", "iteration-report.md.j2: ZeroDivisionError: division by zero"),
        (
            "{{ it.__class__.__mro__ }}",
            "iteration-report.md.j2: access to attribute '__class__' of 'IterationView' object is unsafe",
        ),
        (b"\xff", "iteration-report.md.j2: UnicodeDecodeError: "),
    ],
    ids=["syntax", "unknown name", "wrong kind", "division", "way out", "not UTF-8"],
)
def test_a_damaged_template_of_the_user_is_named(running, template, said):
    folder = running.root / ".aiwg/ralph/templates"
    folder.mkdir()
    (folder / "iteration-report.md.j2").write_bytes(template if isinstance(template, bytes) else template.encode())
    answer = running.ralph("report", "1")
    assert (answer.code, answer.complaint.startswith(f"template {said}")) == (1, True), answer.complaint
    assert answer.complaint.endswith("; fix it or remove it from .aiwg/ralph/templates")
    assert running.ralph("status").code == 0


@pytest.mark.parametrize("json", [(), ("--json",)], ids=["plain", "JSON"])
def test_a_damaged_template_gives_way_to_the_shipped_one_and_the_iteration_is_on_record(running, metrics_of, json):
    folder = running.root / ".aiwg/ralph/templates"
    folder.mkdir()
    (folder / "iteration-report.md.j2").write_text("{% for x in %}")
    answer = running.hook("post-iteration", metrics_of(), *json)
    assert answer.code == 0
    assert answer.err.startswith("ralph-tracker: template iteration-report.md.j2, line 1: ")
    assert answer.err.endswith("; the report is written as shipped\n")
    assert answer.err.count("\n") == 1
    assert "Iteration 2" in (running.root / ".aiwg/ralph/ralph-001/reports/iteration-002-report.md").read_text()
    assert running.hook("loop-decision").code in {0, 10}


def test_a_template_of_the_user_goes_before_the_shipped_one(running):
    folder = running.root / ".aiwg/ralph/templates"
    folder.mkdir()
    (folder / "iteration-report.md.j2").write_text("Iteration {{ it.iteration }}: {{ it.classification | md }}\n")
    assert running.ralph("report", "1").out == "Iteration 1: forward\n"
