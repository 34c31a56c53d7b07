"""What `hook post-iteration` with checks costs by what it imports and starts, as it follows every iteration."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # three processes

# What other calls need: validating what people wrote, asking git, reports of other formats, selections.
NOT_NEEDED = {
    "click",
    "email",
    "git",
    "importlib.metadata",
    "jinja2",
    "lizard_languages.rust",
    "msgspec",
    "pydantic",
    "pygments",
    "ralph_tracker.iteration.apply_iteration",
    "ralph_tracker.loop.reports",
    "ralph_tracker.config.schema",
    "ralph_tracker.records.output_selection",
    "ralph_tracker.formats.coverage.cobertura",
    "ralph_tracker.formats.lint.ruff_json",
    "ralph_tracker.formats.tests.nunit",
    "ralph_tracker.measure.detect",
    "ralph_tracker.measure.handed_in",
    "ralph_tracker.report.loop_view",
    "ralph_tracker.loop.start",
    "tomllib",
}
PROBE = (
    "import sys; from ralph_tracker.cli.app import run; code = run(['hook', sys.argv[1]])\n"
    "print(*sys.modules, sep='\\n', file=open(sys.argv[2], 'w')); sys.exit(code)"
)
LOGGING_GIT = '#!/bin/sh\nprintf "%s\\n" "$*" >> {log}\nexec {git} "$@"\n'
CONFIG = """\
checks:
  tests: {run: [cp, results.xml, "{reports}/junit.xml"], reports: ["{reports}/junit.xml"]}
"""


@pytest.fixture(scope="module")
def iteration(tmp_path_factory):
    """Return the modules that an iteration with a change imports, and the git commands of it and of the baseline."""
    scratch = tmp_path_factory.mktemp("costs").resolve()
    root, log, modules = scratch / "project", scratch / "git.log", scratch / "modules"
    (scratch / "bin").mkdir()
    git = scratch / "bin" / "git"
    git.write_text(LOGGING_GIT.format(log=log, git=shutil.which("git")))
    git.chmod(0o755)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "RALPH_", "COV"))}
    environment = clean | {"PATH": f"{git.parent}:{os.environ['PATH']}", "RALPH_TRACKER_TRUST": "1"}

    def hook(phase: str) -> list[str]:
        log.write_text("")
        command = [sys.executable, "-c", PROBE, phase, str(modules)]
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return log.read_text().splitlines()

    subprocess.run(["git", "init", "-q", root], env=clean, check=True)
    (root / "ralph-tracker.yaml").write_text(CONFIG)
    (root / "app.py").write_text("def one():\n    return 1\n")
    case = '<testcase classname="t" name="one"/>'
    (root / "results.xml").write_text(f'<testsuite name="s" tests="1">{case}</testsuite>')
    begun_with = hook("pre-loop")
    (root / "app.py").write_text("def two():\n    return 2\n")
    gone_on_with = hook("post-iteration")
    return set(modules.read_text().split()), gone_on_with, begun_with


def test_an_iteration_imports_what_it_needs_and_no_more(iteration):
    modules, _, _ = iteration
    assert modules & NOT_NEEDED == set()
    assert {"ralph_tracker.tracker", "ralph_tracker.formats.tests.junit", "lizard"} <= modules


def test_an_iteration_runs_no_git_where_the_loop_began_with_it(iteration):
    _, commands, commands_of_the_baseline = iteration
    assert commands == []
    assert any(line.split()[-3:] == ["ls-files", "-s", "-z"] for line in commands_of_the_baseline)


def test_the_probe_sees_what_another_phase_imports(tmp_path: Path):
    modules = tmp_path / "modules"
    command = [sys.executable, "-c", PROBE, "pre-loop", str(modules)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1  # there is nothing to measure with
    assert {"pydantic", "ralph_tracker.loop.start", "ralph_tracker.measure.detect"} <= set(modules.read_text().split())
