"""The pages of loops: their scripts are run with agents that stand in, their files hold what runners document.

None of these runners is run here, but for Aider and ralph-orchestrator where a person names their programs: what stands
below about them is from their documentation and code, named beside each table.
"""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

PAGES = [Path(__file__).resolve().parents[2] / "docs" / f"{name}-loops.md" for name in ("shell", "other")]
AIDER, RALPH = (os.environ.get(f"RALPH_TRACKER_{name}") for name in ("AIDER", "RALPH"))
CONFIG = """\
checks:
  tests: {run: [python, -m, pytest, -q, "--junitxml={reports}/junit.xml"], reports: ["{reports}/junit.xml"]}
"""

# mikeyobrien/ralph-orchestrator: docs/guide/configuration.md, "hooks"; crates/ralph-core/src/config, `HookSpec`.
EVENTS = {
    f"{phase}.{event}"
    for phase in ("pre", "post")
    for event in ("loop.start", "iteration.start", "plan.created", "human.interact", "loop.complete", "loop.error")
}
HOOKS = {"enabled", "defaults", "events"}
DEFAULTS = {"timeout_seconds", "max_output_bytes", "suspend_mode"}
REQUIRED = {"name", "command", "on_error"}
SPEC = REQUIRED | DEFAULTS | {"cwd", "env", "mutate"}
ON_ERROR = {"warn", "block", "suspend"}
# wiggumdev/ralph: packages/cli/src/config/schema.ts, `HooksSchema`; packages/cli/docs/hooks.md for when they run.
WIGGUM = {"ralph_start", "ralph_loop_start", "ralph_loop_end", "ralph_complete", "ralph_max_iterations"}
# LarsCowe/bmalph: ralph/templates/ralphrc.template, "Quality gates"; it is parsed, never sourced.
RALPHRC = {
    "TEST_COMMAND",
    "QUALITY_GATES",
    "QUALITY_GATE_MODE",
    "QUALITY_GATE_TIMEOUT",
    "QUALITY_GATE_ON_COMPLETION_ONLY",
}
GATE_MODES = {"warn", "block", "circuit-breaker"}
GATE_OUTPUT = 500
# Aider-AI/aider: aider.chat/docs/config/options.html, "Fixing and committing".
AIDER_KEYS = {"test-cmd", "auto-test"}
# davebcn87/pi-autoresearch 1.6.0: extensions/pi-autoresearch/index.ts, `parseMetricLines`.
METRIC = re.compile(r"^METRIC\s+([\w.µ]+)=(\S+)\s*$", re.MULTILINE)


@pytest.fixture(scope="module")
def files(blocks):
    """Return the files of the pages by name."""
    found = [block for page in PAGES for block in blocks(page)]
    return {block.file: block.text.partition("\n")[2] for block in found if block.file is not None}


@pytest.fixture
def set_up(place, files):
    """Return a project with a quick configuration and all files of the page."""
    (place.root / "ralph-tracker.yaml").write_text(CONFIG + "loop: {target_score: 0.9}\n")
    for name, text in {**files, "PROMPT.md": "Make all tests pass.\n", "CLAUDE.md": "Next story.\n"}.items():
        file = place.root / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
    must(place, "ralph-tracker trust")
    return place


def must(place, script):
    done = place.run(script)
    assert done.returncode == 0, done.stdout
    return done.stdout


def history(place):
    """Return the records of the loop."""
    return [row["iteration_metrics"] for row in json.loads(must(place, "ralph-tracker history --json"))]


def status(place):
    return must(place, "ralph-tracker status").splitlines()[0]


class TestFiles:
    def test_the_page_has_a_file_for_each_runner(self, files):
        assert {Path(name).name for name in files} == {
            *("loop.sh", "ralph.sh", "quality-gate.sh", ".ralphrc", "tracked-claude.sh", "config.toml", "ralph.yml"),
            *(".aider.conf.yml", "measure.sh"),
        }

    def test_scripts_can_be_read_by_the_shell_they_name(self, files):
        scripts = {name: text for name, text in files.items() if name.endswith(".sh")}
        for name, text in scripts.items():
            shell = re.match(r"#!/bin/(sh|bash)\n", text)
            assert shell is not None, name
            done = subprocess.run([shell[1], "-n"], input=text, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, ""), name

    def test_ralph_yml_has_the_keys_of_hooks_and_no_others(self, files):
        document = yaml.safe_load(files["ralph.yml"])
        hooks = document["hooks"]
        assert set(document) == {"hooks"}
        assert set(hooks) <= HOOKS
        assert hooks["enabled"] is True
        assert set(hooks["defaults"]) <= DEFAULTS
        assert hooks["defaults"]["timeout_seconds"] > 30
        assert set(hooks["events"]) <= EVENTS
        specs = [spec for each in hooks["events"].values() for spec in each]
        assert all(set(spec) >= REQUIRED and set(spec) <= SPEC and spec["on_error"] in ON_ERROR for spec in specs)
        assert all(isinstance(word, str) for spec in specs for word in spec["command"])
        assert len({spec["name"] for spec in specs}) == len(specs)

    @pytest.mark.skipif(
        RALPH is None, reason="RALPH_TRACKER_RALPH does not name the program `ralph` (ralph-orchestrator)"
    )
    def test_ralph_yml_is_valid_for_ralph_orchestrator(self, set_up):
        must(set_up, f'"{RALPH}" hooks validate -c ralph.yml')

    def test_config_toml_has_the_hooks_that_are_documented(self, files):
        document = tomllib.loads(files[".ralph/config.toml"])
        assert set(document) == {"hooks"}
        assert set(document["hooks"]) <= WIGGUM
        assert all(isinstance(command, str) for command in document["hooks"].values())

    def test_ralphrc_has_lines_that_bmalph_takes(self, files):
        lines = [line.partition("=") for line in files[".ralph/.ralphrc"].splitlines()]
        assert {key for key, _, _ in lines} <= RALPHRC
        assert all(re.fullmatch(r'"[^"$`;\\]*"', value) for _, _, value in lines)
        values = {key: value.strip('"') for key, _, value in lines}
        assert values["QUALITY_GATE_MODE"] in GATE_MODES
        assert int(values["QUALITY_GATE_TIMEOUT"]) > 120

    def test_aider_conf_has_options_of_aider(self, files):
        assert set(yaml.safe_load(files[".aider.conf.yml"])) == AIDER_KEYS


@pytest.mark.sampled(up_to="::")
@pytest.mark.slow
class TestPlainBash:
    def test_the_script_drives_a_loop_to_its_target_over_a_rollback(self, set_up):
        must(set_up, "bash loop.sh")
        assert [row["iteration"] for row in history(set_up)] == [0, 1, 2]
        assert "finished" in status(set_up)
        assert (set_up.home / "prompt").read_text() == "Make all tests pass.\n"

    @pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
    def test_what_claude_says_of_its_usage_is_on_record(self, set_up):
        (set_up.root / "ralph-tracker.yaml").write_text(CONFIG + "loop: {max_iterations: 1}\n")
        must(set_up, "bash loop.sh")
        usage = {"cost_usd": 0.42, "input_tokens": 1120, "output_tokens": 40, "turns": 12, "duration_s": 95.0}
        assert history(set_up)[1]["usage"] == usage

    @pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
    def test_an_agent_that_needs_a_person_ends_the_loop_as_escalated(self, set_up):
        (set_up.home / "blocked").write_text("BLOCKED: which currency?")
        done = must(set_up, "bash loop.sh")
        assert "escalate" in done
        assert "which currency?" in done
        assert len(history(set_up)) == 2

    def test_an_agent_that_crashes_leaves_its_usage_unknown(self, set_up):
        (set_up.home / "crash").touch()
        (set_up.root / "ralph-tracker.yaml").write_text(CONFIG + "loop: {max_iterations: 1}\n")
        must(set_up, "bash loop.sh")
        assert [row["usage"] for row in history(set_up)[1:]] == [{}]


@pytest.mark.sampled(up_to="::")
@pytest.mark.slow
class TestRalphSh:
    def test_a_promise_is_not_believed_where_the_iteration_is_rolled_back(self, set_up):
        printed = must(set_up, "bash ralph.sh 3")
        assert printed.count("<promise>COMPLETE</promise>") == 2
        rows = history(set_up)
        assert len(rows) == 3
        assert "iteration 0 is restored" in printed
        assert "finished" in status(set_up)

    def test_a_promise_ends_the_loop_where_nothing_speaks_against_it(self, set_up):
        (set_up.root / "ralph-tracker.yaml").write_text(CONFIG + "loop: {target_score: 1.0}\n")
        must(set_up, 'echo . > "$HOME/turns"')
        assert must(set_up, "bash ralph.sh 3").count("<promise>COMPLETE</promise>") == 1
        assert len(history(set_up)) == 2

    def test_without_a_baseline_the_agent_is_not_run(self, set_up):
        (set_up.root / "ralph-tracker.yaml").write_text("checks: 1\n")
        assert set_up.run("bash ralph.sh 3").returncode == 1
        assert not (set_up.home / "turns").exists()


@pytest.mark.sampled(up_to="::")
@pytest.mark.slow
class TestBmalph:
    def gate(self, place):
        """Run the gates as bmalph does, and return the exit code of the only one with what is kept of its words."""
        values = dict(line.split("=", 1) for line in (place.root / ".ralph" / ".ralphrc").read_text().splitlines())
        (command,) = values["QUALITY_GATES"].strip('"').split(";")
        done = place.run(f"bash -c '{command}'")
        return done.returncode, done.stdout[:GATE_OUTPUT]

    def test_the_gate_records_rolls_back_and_holds_back_what_the_agent_says(self, set_up):
        must(set_up, "ralph-tracker hook pre-loop && my-agent")
        code, said = self.gate(set_up)
        assert code == 11
        assert "removed 1 test that failed in iteration 0" in " ".join(said.split())
        assert "test_mean_of_nothing" in (set_up.root / "test_calc.py").read_text()
        must(set_up, "my-agent")
        assert self.gate(set_up)[0] == 0
        assert len(history(set_up)) == 3
        assert "Selected iteration 2" in must(set_up, "ralph-tracker hook post-loop")

    def test_a_loop_that_cannot_be_measured_fails_the_gate(self, set_up):
        code, said = self.gate(set_up)
        assert code == 1
        assert "run `ralph-tracker hook pre-loop` first" in said


@pytest.mark.sampled(up_to="::")
@pytest.mark.slow
class TestRalphClaudeCode:
    def test_only_work_that_succeeded_is_measured_and_the_output_is_claudes(self, set_up):
        command = "./tracked-claude.sh"
        must(set_up, "ralph-tracker hook pre-loop && mkdir -p .ralph/logs")
        assert must(set_up, f"{command} --version") == "2.1.197 (Claude Code)\n"
        assert len(history(set_up)) == 1
        said = must(set_up, f"echo x | {command} --output-format json -p 'Do it.'")
        assert json.loads(said)["total_cost_usd"] == 0.42
        assert len(history(set_up)) == 2
        assert "iteration 1: rollback: " in (set_up.root / ".ralph/logs/ralph.log").read_text()
        (set_up.home / "crash").touch()
        assert set_up.run(f"{command} -p 'Do it.'").returncode == 1
        assert len(history(set_up)) == 2


@pytest.mark.sampled(up_to="::")
@pytest.mark.slow
class TestWiggum:
    def test_the_hooks_drive_a_loop(self, set_up):
        hooks = tomllib.loads((set_up.root / ".ralph" / "config.toml").read_text())["hooks"]

        def fire(name, **environment):
            said = " ".join(f"{key}={value}" for key, value in environment.items())
            return set_up.run(f"RALPH_CWD=. {said} sh -c '{hooks[name]}'")

        assert fire("ralph_start", RALPH_MAX_ITERATIONS=2).returncode == 0
        for number in (1, 2):
            must(set_up, "my-agent")
            fire("ralph_loop_end", RALPH_LOOP_ITERATION=number)
        assert "test_mean_of_nothing" in (set_up.root / "test_calc.py").read_text()
        assert "still running" in fire("ralph_start").stdout
        assert "Selected iteration 2" in fire("ralph_max_iterations", RALPH_TOTAL_ITERATIONS=2).stdout
        assert len(history(set_up)) == 3


@pytest.mark.sampled(up_to="::")
@pytest.mark.slow
class TestRalphOrchestrator:
    def fire(self, place, name, current, pid=7):
        """Run the hooks of an event as the runner does; return whether one of them ended the loop."""
        specs = yaml.safe_load((place.root / "ralph.yml").read_text())["hooks"]["events"].get(name, [])
        run = {"id": "primary-1", "is_primary": True, "workspace": str(place.root), "pid": pid}
        payload = {"schema_version": 1, "phase_event": name, "loop": run, "iteration": {"current": current, "max": 9}}
        for spec in specs:
            (place.home / "payload.json").write_text(json.dumps(payload))
            done = place.run(f'{" ".join(spec["command"])} < "$HOME/payload.json"')
            if done.returncode and spec["on_error"] == "block":
                return done.stdout
        return None

    def test_a_run_is_measured_rolled_back_and_stopped(self, set_up):
        assert self.fire(set_up, "pre.loop.start", 0) is None
        assert self.fire(set_up, "pre.iteration.start", 1) is None
        assert len(history(set_up)) == 1
        must(set_up, "my-agent")
        assert self.fire(set_up, "pre.iteration.start", 2) is None
        assert "test_mean_of_nothing" in (set_up.root / "test_calc.py").read_text()
        must(set_up, "my-agent")
        assert "Target reached" in self.fire(set_up, "pre.iteration.start", 3)
        assert len(history(set_up)) == 3
        assert "Selected iteration 2" in must(set_up, "ralph-tracker hook post-loop")

    def test_a_run_that_is_interrupted_and_resumed_is_one_loop(self, set_up):
        must(set_up, 'echo . > "$HOME/turns"')
        (set_up.root / "ralph-tracker.yaml").write_text(CONFIG + "loop: {target_score: 1.0}\n")
        self.fire(set_up, "pre.loop.start", 0)
        self.fire(set_up, "pre.iteration.start", 1)
        must(set_up, "my-agent")
        self.fire(set_up, "pre.loop.error", 1)
        self.fire(set_up, "pre.loop.start", 0, pid=8)
        self.fire(set_up, "pre.iteration.start", 1, pid=8)
        assert len(history(set_up)) == 2
        must(set_up, "my-agent")
        self.fire(set_up, "pre.loop.complete", 1, pid=8)
        assert [row["iteration"] for row in history(set_up)] == [0, 1, 2]
        assert "finished" in status(set_up)

    def test_without_a_loop_the_decision_ends_the_run(self, set_up):
        assert "run `ralph-tracker hook pre-loop` first" in self.fire(set_up, "pre.iteration.start", 1)


@pytest.mark.sampled(up_to="::")
@pytest.mark.slow
class TestAider:
    @pytest.fixture
    def command(self, set_up):
        """Return the test command, in a project with a baseline."""
        must(set_up, "ralph-tracker hook pre-loop")
        return yaml.safe_load((set_up.root / ".aider.conf.yml").read_text())["test-cmd"]

    def test_tests_that_fail_are_named(self, set_up, command):
        done = set_up.run(command)
        assert done.returncode == 1
        assert "FAILED test_calc.py::test_mean_of_nothing" in done.stdout

    def test_tests_that_are_gone_are_named(self, set_up, command):
        must(set_up, "my-agent")
        done = set_up.run(command)
        assert done.returncode == 3
        assert "CRITICAL failure_hidden" in done.stdout
        assert "test_mean_of_nothing" in done.stdout

    def test_work_that_is_good_is_let_go(self, set_up, command):
        must(set_up, 'echo . > "$HOME/turns"; my-agent')
        assert "pass: no regression" in must(set_up, command)

    @pytest.mark.skipif(AIDER is None, reason="RALPH_TRACKER_AIDER does not name the program of Aider")
    def test_aider_itself_runs_it_and_shows_the_model_what_failed(self, set_up, command):
        del command
        flags = "--yes-always --no-git --no-check-update --no-show-model-warnings --analytics-disable"
        said = must(set_up, f'"{AIDER}" {flags} --model gpt-4o --openai-api-key none --test')
        assert "FAILED test_calc.py::test_mean_of_nothing" in said
        assert "lines of output to the chat" in said


@pytest.mark.sampled(up_to="::")
@pytest.mark.slow
class TestPiAutoresearch:
    def test_metrics_are_what_its_parser_takes_and_a_regression_is_a_failed_run(self, set_up):
        must(set_up, "ralph-tracker hook pre-loop")
        printed = dict(METRIC.findall(must(set_up, "bash .auto/measure.sh")))
        assert {"adjusted_score", "test_count", "tests_failed"} <= set(printed)
        assert (printed["test_count"], printed["tests_failed"]) == ("3", "1")
        assert "coverage_percentage" not in printed
        assert all(float(value) >= 0 for value in printed.values())
        must(set_up, "my-agent")
        worse = set_up.run("bash .auto/measure.sh")
        assert worse.returncode == 3
        assert dict(METRIC.findall(worse.stdout))["test_count"] == "2"
