"""What `hook post-iteration` with checks costs by what it imports and starts, as it follows every iteration."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

# What other calls need: validating what people wrote, the user's own repository, reports of other formats, selections.
NOT_NEEDED = {
    "click",
    "difflib",
    "email",
    "git",
    "importlib.metadata",
    "jinja2",
    "lizard_languages.rust",
    "msgspec",
    "pydantic",
    "pygments",
    "ralph_tracker.iteration.apply",
    "ralph_tracker.loop.finish",
    "ralph_tracker.config.schema",
    "ralph_tracker.core.selection",
    "ralph_tracker.formats.coverage.cobertura",
    "ralph_tracker.formats.lint.ruff_json",
    "ralph_tracker.formats.tests.nunit",
    "ralph_tracker.integrity.test_matching",
    "ralph_tracker.measure.detect",
    "ralph_tracker.measure.given",
    "ralph_tracker.report.selection_view",
    "ralph_tracker.loop.start",
    "ralph_tracker.store.snapshots.user_repository",
    "ralph_tracker.store.git.create",
    "ralph_tracker.store.snapshots.store",
    "ralph_tracker.store.git.lend",
    "ralph_tracker.store.git.patch",
    "ralph_tracker.store.git.restore",
    "ralph_tracker.store.loop_reader",
    "ralph_tracker.store.snapshots.restore",
    "tomllib",
    "tree_sitter",
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
    """Return the modules that an iteration with a change imports, and the git commands that it runs."""
    scratch = tmp_path_factory.mktemp("costs").resolve()
    root, log, modules = scratch / "project", scratch / "git.log", scratch / "modules"
    (scratch / "bin").mkdir()
    git = scratch / "bin" / "git"
    git.write_text(LOGGING_GIT.format(log=log, git=shutil.which("git")))
    git.chmod(0o755)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "RALPH_", "COV"))}
    environment = clean | {"PATH": f"{git.parent}:{os.environ['PATH']}"}

    def hook(phase: str) -> None:
        written = max(file.stat().st_ctime_ns for file in root.glob("*.*"))
        while time.time_ns() // 1_000_000_000 <= written // 1_000_000_000:
            time.sleep(0.01)  # what changed in this second may change once more without git seeing it: it is read again
        command = [sys.executable, "-c", PROBE, phase, str(modules)]
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr

    root.mkdir()
    (root / "ralph-tracker.yaml").write_text(CONFIG)
    (root / "app.py").write_text("def one():\n    return 1\n")
    case = '<testcase classname="t" name="one"/>'
    (root / "results.xml").write_text(f'<testsuite name="s" tests="1">{case}</testsuite>')
    hook("pre-loop")
    (root / "app.py").write_text("def two():\n    return 2\n")
    log.write_text("")
    hook("post-iteration")
    return set(modules.read_text().split()), log.read_text().splitlines()


def test_an_iteration_imports_what_it_needs_and_no_more(iteration):
    modules, _ = iteration
    assert modules & NOT_NEEDED == set()
    assert {"ralph_tracker.tracker", "ralph_tracker.formats.tests.junit", "lizard"} <= modules


def test_an_iteration_asks_git_each_thing_once(iteration):
    _, commands = iteration
    words = {"-c", "core.quotePath=false", "core.fsyncMethod=fsync"}
    verbs = [next(word for word in line.split() if word not in words) for line in commands]
    looking = ["diff-files", "ls-files"]
    keeping = [*looking, "update-index", "write-tree", "commit-tree", "diff-tree", "cat-file", "ls-tree"]
    assert verbs == [*keeping, *looking, "update-ref"]  # nothing is read twice


def test_the_probe_sees_what_another_phase_imports(tmp_path: Path):
    modules = tmp_path / "modules"
    command = [sys.executable, "-c", PROBE, "pre-loop", str(modules)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1  # there is nothing to measure with
    assert {"pydantic", "ralph_tracker.loop.start", "ralph_tracker.measure.detect"} <= set(modules.read_text().split())
