"""What the package promises by name, and that importing it costs nothing."""

import subprocess
import sys

import pytest

import ralph_tracker
from ralph_tracker.codec import ValueObject
from tests.tables import table

NAMES = [
    "Alert",
    "Decision",
    "Finding",
    "IterationRecord",
    "Metrics",
    "Question",
    "RalphTrackerError",
    "Selection",
    "UntrustedError",
    "Usage",
    "__version__",
    "loop_decision",
    "post_iteration",
    "post_loop",
    "pre_loop",
]
VALUES = [name for name in NAMES if name[0].isupper() and not name.endswith("Error")]
PROGRAM = """
from ralph_tracker import Alert, Decision, Selection, loop_decision, post_iteration, post_loop, pre_loop

def worst(alerts: tuple[Alert, ...]) -> str | None:
    return alerts[0].message if alerts else None

first = pre_loop(metrics={"testing": {"test_count": 1}})
record = post_iteration(metrics="metrics.yaml", usage={"cost_usd": 0.25})
passed: int | None = record.metrics.tests_passed
cost: float | None = None if record.usage is None else record.usage.cost_usd
files = [finding.file for alert in record.alerts for finding in alert.findings]
decision: Decision = loop_decision(apply=True)
if decision.action == "rollback":
    print(decision.target_iteration, worst(record.alerts))
selection: Selection = post_loop(mode="highest_quality")
name: str = selection.to_dict()["best_output_selection"]["loop_id"]
stop = Decision(action="stop", reason="enough", confidence=1.0)
"""
WRONG = {
    "record.iteration = 1": "read-only",
    "stop.reasons": 'has no attribute "reasons"',
    'Decision(action="halt", reason="", confidence=1.0)': "incompatible type",
}
HEAVY = ("pydantic", "yaml", "click", "jinja2", "git", "lizard", "ralph_tracker.core", "ralph_tracker.tracker")


def imported_by(code):
    """Return the modules that a fresh interpreter has after running code."""
    script = f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.split())


def test_the_public_names_are_these():
    assert sorted(ralph_tracker.__all__) == NAMES


@table("name", NAMES)
def test_a_public_name_is_there_and_says_what_it_is(name):
    found = getattr(ralph_tracker, name)
    assert found is getattr(ralph_tracker, name)
    if name != "__version__":
        assert found.__doc__ or issubclass(found, Exception)


@table("name", VALUES)
def test_a_public_value_is_of_one_kind(name):
    assert issubclass(getattr(ralph_tracker, name), ValueObject)


@pytest.mark.slow
def test_a_program_that_uses_them_passes_a_strict_type_checker_and_one_with_errors_does_not(tmp_path):
    pytest.importorskip("mypy", reason="mypy is missing: make check installs it")
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(PROGRAM)
    bad.write_text(PROGRAM + "\n".join(WRONG))
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(good), str(bad)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)
    *found, last = done.stdout.splitlines()
    assert [line for line in found if "bad.py" not in line] == []
    assert last == "Found 3 errors in 1 file (checked 2 source files)"
    for line, why in zip(found, WRONG.values(), strict=True):
        assert why in line


def test_another_name_is_no_attribute():
    with pytest.raises(AttributeError, match="module 'ralph_tracker' has no attribute 'pre_lop'"):
        ralph_tracker.pre_lop  # noqa: B018  # asking for it is the test


def test_importing_the_package_imports_nothing_that_costs():
    assert imported_by("import ralph_tracker").isdisjoint(HEAVY)


def test_the_first_public_name_that_is_asked_for_brings_its_own_module_only():
    modules = imported_by("from ralph_tracker import RalphTrackerError, __version__")
    assert modules.isdisjoint(HEAVY)
    assert "ralph_tracker.errors" in modules


def test_what_runs_after_every_iteration_does_without_heavy_imports():
    code = "from ralph_tracker.cli.app import run\nrun(['--version'])\nrun(['hook', 'loop-decision'])"
    assert imported_by(code).isdisjoint({"pydantic", "yaml", "click", "jinja2", "git", "lizard"})


def test_it_runs_as_a_module():
    words = [sys.executable, "-m", "ralph_tracker", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, f"ralph-tracker {ralph_tracker.__version__}\n")


def test_a_loop_is_driven_by_the_public_names_alone(tmp_path, monkeypatch):
    monkeypatch.delenv("RALPH_LOOP_ID", raising=False)
    metrics = {"quality_score": 0.5, "testing": {"test_count": 1, "tests_passed": 1, "tests_failed": 0}}
    first = ralph_tracker.pre_loop(root=tmp_path, loop_id="mine", metrics=metrics)
    assert isinstance(first, ralph_tracker.IterationRecord)
    assert (first.loop_id, first.iteration, first.message) == ("mine", 0, "Baseline captured, await iteration 1")
    usage = {"cost_usd": 0.25}
    better = {**metrics, "quality_score": 0.95}
    record = ralph_tracker.post_iteration(root=str(tmp_path), metrics=better, usage=usage, iteration=1)
    assert (record.iteration, record.is_best, record.usage.cost_usd) == (1, True, 0.25)
    decision = ralph_tracker.loop_decision(root=tmp_path)
    assert isinstance(decision, ralph_tracker.Decision)
    goes_on = ("continue", "Continue - no forward progress yet (plateau)", None)
    assert (decision.action, decision.reason, decision.target_iteration) == goes_on
    ralph_tracker.post_iteration(root=tmp_path, metrics=metrics, blocked="no key")
    selection = ralph_tracker.post_loop(root=tmp_path)
    assert isinstance(selection, ralph_tracker.Selection)
    assert selection.message == "Selected iteration 1 (quality: 0.95 vs final 0.50)"
    with pytest.raises(ralph_tracker.RalphTrackerError, match=r"^loop mine is finished"):
        ralph_tracker.post_iteration(root=tmp_path, metrics=metrics)
