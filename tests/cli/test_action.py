"""The GitHub action and the pre-commit hook: their shape, and the action's gate step run as a runner runs it."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from junitparser import JUnitXml

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((CHECKOUT / "action.yml").read_text(encoding="utf-8"))
HOOKS = yaml.safe_load((CHECKOUT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")
# How GitHub's runner starts a step with `shell: bash`.
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
REPORT = '<testsuite tests="1"><testcase classname="a" name="b"/>{}</testsuite>'


def test_the_action_has_the_shape_that_github_asks_for():
    assert {"name", "description", "inputs", "runs"} == set(ACTION)
    assert ACTION["runs"]["using"] == "composite"
    assert set(ACTION["inputs"]) == {"root", "loop-id", "junit"}
    for described in ACTION["inputs"].values():
        assert described["description"]
        assert described["required"] is False
        assert isinstance(described["default"], str)


def test_every_step_is_a_script_of_bash_and_no_foreign_action():
    assert list(STEPS) == ["Install ralph-tracker", "Gate"]
    for step in STEPS.values():
        assert step["shell"] == "bash"
        assert "uses" not in step
        assert step["run"].startswith("set -euo pipefail\n")


def test_no_expression_stands_in_a_script_and_inputs_come_as_variables():
    assert not any(EXPRESSION.search(step["run"]) for step in STEPS.values())
    taken = {EXPRESSION.fullmatch(value)[1] for value in STEPS["Gate"]["env"].values()}
    assert taken == {f"inputs.{name}" for name in ACTION["inputs"]}
    assert "secrets" not in (CHECKOUT / "action.yml").read_text(encoding="utf-8")


def test_the_action_installs_itself():
    assert '"$GITHUB_ACTION_PATH"' in STEPS["Install ralph-tracker"]["run"]


def test_the_hook_has_the_shape_that_pre_commit_asks_for(program, project):
    (hook,) = HOOKS
    assert (hook["id"], hook["language"], hook["pass_filenames"]) == ("ralph-tracker-gate", "python", False)
    assert hook["always_run"]
    assert project.plainly(*hook["entry"].split()[1:], "--help").code == 0
    assert hook["entry"].split()[0] == program.name


@pytest.fixture
def measured(project):
    """Return a project with a loop whose check hands on a report of one passing test."""
    check = {"run": 'cp results.xml "{reports}/junit.xml"', "reports": ["{reports}/junit.xml"]}
    (project.root / "ralph-tracker.yaml").write_text(json.dumps({"checks": {"tests": check}}))
    (project.root / "results.xml").write_text(REPORT.format(""))
    (project.root / "app.py").write_text("def one():\n    return 1\n")
    project.must("pre-loop")
    return project


@pytest.fixture
def step(measured, program, tmp_path):
    """Return what runs the gate step with some inputs, in the project as its workspace."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    temporary = tmp_path / "runner's temp"
    (temporary / "ralph-tracker" / "bin").mkdir(parents=True)
    (temporary / "ralph-tracker" / "bin" / "ralph-tracker").symlink_to(program)
    script = tmp_path / "step.sh"
    script.write_text(STEPS["Gate"]["run"])

    def run(**inputs: str) -> subprocess.CompletedProcess[str]:
        given = {name: described["default"] for name, described in ACTION["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        values = {
            name: EXPRESSION.sub(lambda found: given[found[1].removeprefix("inputs.")], value)
            for name, value in STEPS["Gate"]["env"].items()
        }
        environment = {
            **os.environ,
            **values,
            "RUNNER_TEMP": str(temporary),
            "GITHUB_WORKSPACE": str(measured.root),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        }
        return subprocess.run(
            [*BASH, str(script)],
            cwd=measured.root,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def test_the_step_passes_where_the_gate_does(step, tmp_path):
    done = step()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("pass: no regression against iteration 0 of ralph-001\n")
    assert (tmp_path / "summary.md").read_text().startswith("## ralph-tracker gate: pass\n")


def test_the_step_fails_with_the_code_of_the_gate_and_writes_junit(step, measured):
    (measured.root / "results.xml").write_text(REPORT.format("").replace("/></", "><failure/></testcase></"))
    done = step(junit="verdict file.xml", loop_id="ralph-001", root=".")
    assert (done.returncode, done.stderr) == (3, "")
    assert "\n::error title=Working tests failing::" in done.stdout
    (suite,) = JUnitXml.fromfile(str(measured.root / "verdict file.xml"))
    assert suite.failures == 2


@pytest.mark.parametrize("name", ["root", "loop_id", "junit"])
@pytest.mark.parametrize("text", ["$(touch x)", '"; touch x; "'])
def test_an_input_is_never_a_part_of_the_script(step, measured, name, text):
    done = step(**{name: text})
    assert not (measured.root / "x").exists()
    if name == "junit":
        assert done.returncode == 0
        assert (measured.root / text).is_file()
    else:
        assert done.returncode in {1, 2}
        assert done.stderr.startswith("ralph-tracker: ")


def test_the_lines_that_the_readme_has_for_ci_work(project, program):
    """The base is measured as the baseline, and the change judged against it, in one checkout."""
    section = (CHECKOUT / "README.md").read_text(encoding="utf-8").partition("## In CI\n")[2].partition("\n## ")[0]
    lines = section.partition("```shell\n")[2].partition("```")[0].splitlines()
    check = {"run": 'cp results.xml "{reports}/junit.xml"', "reports": ["{reports}/junit.xml"]}
    (project.root / "ralph-tracker.yaml").write_text(json.dumps({"checks": {"tests": check}}))
    (project.root / "results.xml").write_text(REPORT.format('<testcase classname="a" name="c"/>'))
    (project.root / "app.py").write_text("def one():\n    return 1\n")
    change = f"cat > results.xml <<'E'\n{REPORT.format('')}\nE\n"
    git = "git -c user.name=A -c user.email=a@b -c init.defaultBranch=main"
    commits = f"git init -q; git add -A; {git} commit -qm base; BASE=$(git rev-parse HEAD)\n{change}"
    commits += f"{git} commit -qam change; HEAD=$(git rev-parse HEAD)\n"
    search = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT", "RALPH_"))}
    done = subprocess.run(
        ["sh", "-ec", commits + "\n".join(lines)],
        cwd=project.root,
        env={**environment, "PATH": search},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "\n::error title=Test deletion::Test count decreased from 2 to 1 (gone: a::c)\n" in done.stdout
    assert (project.root / "gate.xml").is_file()
