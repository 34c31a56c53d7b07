"""`wrap` stands in for `claude` in a runner without hooks: the feedback goes in, usage and rollback come out."""

import json
import os
import subprocess
import sys

import pytest

from ralph_tracker.cli.app import run
from tests.forked import forked

CONFIG = """\
version: 1
checks:
  tests: {run: "cp report.xml {reports}/junit.xml", reports: ["{reports}/junit.xml"]}
"""
AGENT = """\
#!/bin/sh
[ "$1" = --version ] && { echo 2.1.332; exit; }
printf %s "$2" > "$HOME/prompt"
. "$HOME/turn.sh"
"""


BOOM = '<failure message="boom"/>'


def report(*failing):
    cases = [
        f'<testcase classname="t" name="{name}">{BOOM if name in failing else ""}</testcase>'
        for name in ("test_a", "test_b")
    ]
    return f'<testsuite tests="2" failures="{len(failing)}">{"".join(cases)}</testsuite>\n'


def result(cost=0.5, session="s", tokens=(10, 5), **more):
    """Return Claude Code's answer; `own` are the input tokens of the run where the others are the session's."""
    usage = {"input_tokens": more.pop("own", tokens[0]), "output_tokens": tokens[1]}
    model = {"inputTokens": tokens[0], "outputTokens": tokens[1], "costUSD": cost}
    ended = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 2, "result": "done"}
    return json.dumps(
        {**ended, "session_id": session, "total_cost_usd": cost, "usage": usage, **more, "modelUsage": {"m": model}}
    )


class Runner:
    """A runner that calls `claude` through `wrap`, in a project whose report is what the agent writes."""

    def __init__(self, folder):
        self.root, self.home = folder / "project", folder / "home"
        for each in (self.root, self.home):
            each.mkdir()
        (self.root / "ralph-tracker.yaml").write_text(CONFIG)
        (self.root / ".gitignore").write_text(".aiwg/\n.ralph/\n")
        (self.root / "report.xml").write_text(report("test_b"))
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        self.agent = folder / "claude"
        self.agent.write_text(AGENT)
        self.agent.chmod(0o755)

    def ralph(self, *words):
        """Run the program in a fork, which starts sooner than a process, with files for what it prints."""
        printed = [self.home / "out", self.home / "err"]

        def act():
            for number, file in enumerate(printed, 1):
                os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8") for number in (1, 2))  # noqa: PTH123, SIM115
            code = run(list(words))
            sys.stdout.flush()
            sys.stderr.flush()
            return code

        code = forked(act, {**os.environ, "HOME": str(self.home)}, self.root)
        return subprocess.CompletedProcess(words, code, *(file.read_text() for file in printed))

    def start(self):
        done = self.ralph("hook", "pre-loop")
        assert done.returncode == 0, done.stderr
        return self

    def call(self, *words, writes=None, prints=None, code=0, runs=":"):
        prints = result() if prints is None else prints
        edit = "" if writes is None else f"cat > report.xml <<'EOF'\n{writes}EOF\n"
        (self.home / "turn.sh").write_text(f"{edit}{runs}\ncat <<'EOF'\n{prints}\nEOF\nexit {code}\n")
        return self.ralph("wrap", "--", str(self.agent), *(words or ("-p", "Make all tests pass.")))

    @property
    def prompt(self):
        return (self.home / "prompt").read_text()

    @property
    def history(self):
        return [each["iteration_metrics"] for each in json.loads(self.ralph("history", "--json").stdout)]


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path)


def test_the_feedback_is_in_the_prompt_and_the_usage_in_the_record(runner):
    done = runner.start().call(writes=report())
    assert (done.returncode, done.stdout) == (0, result() + "\n")
    assert "iteration 1: continue: forward progress detected" in done.stderr.replace("Continue - ", "")
    assert runner.prompt.startswith("Make all tests pass.\n\nWhat ralph-tracker measured before this iteration")
    assert "t::test_b: boom" in runner.prompt
    usage = runner.history[1]["usage"]
    assert (usage["cost_usd"], usage["input_tokens"], usage["output_tokens"]) == (0.5, 10, 5)
    runner.call("-p", "Again.", "--resume", "s")
    assert "All tests pass" in runner.prompt
    assert "ralph-tracker measures this project each time" not in runner.prompt


def test_a_rollback_is_carried_out_and_in_the_next_prompt(runner):
    runner.start().call(writes=report("test_a", "test_b"))
    assert (runner.root / "report.xml").read_text() == report("test_b")
    runner.call()
    assert "Why iteration 1 was rolled back:" in runner.prompt


def test_what_the_runner_reads_as_the_answer_stays_clean_of_us(runner):
    (runner.root / ".ralph/logs").mkdir(parents=True)
    done = runner.start().call(writes=report())
    assert (done.stdout, done.stderr) == (result() + "\n", "")
    (line,) = (runner.root / ".ralph/logs/ralph.log").read_text().splitlines()
    assert "] [INFO] ralph-tracker: iteration 1: continue: " in line


def test_a_log_that_a_link_leads_to_is_not_written(runner, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (runner.root / ".ralph").mkdir()
    (runner.root / ".ralph/logs").symlink_to(tmp_path / "elsewhere")
    assert "iteration 1: continue" in runner.start().call().stderr
    assert not any((tmp_path / "elsewhere").iterdir())


def test_a_call_that_failed_is_not_measured_and_its_usage_counts_with_the_next(runner):
    done = runner.start().call(writes=report(), code=3)
    assert done.returncode == 3
    assert done.stderr.startswith("ralph-tracker: not measured, as the agent did not end well: ")
    assert len(runner.history) == 1
    runner.call()
    assert runner.history[1]["usage"]["cost_usd"] == 1.0


def test_the_sums_of_a_continued_session_count_once(runner):
    runner.start().call()
    runner.call("-p", "Again.", "--resume", "s", prints=result(0.75, tokens=(30, 9), own=20))
    first, second = (each["usage"] for each in runner.history[1:])
    assert (first["cost_usd"], second["cost_usd"]) == (0.5, 0.25)
    assert (second["input_tokens"], second["output_tokens"], second["turns"]) == (20, 4, 2)


@pytest.mark.parametrize("damaged", ["{", "[]", '{"session": "s", "told": [], "owed": {"cost_usd": 9}}'])
def test_of_a_damaged_note_on_usage_nothing_counts(runner, damaged):
    runner.start()
    (loop,) = (runner.root / ".aiwg/ralph").glob("ralph-*")
    (loop / "wrap.json").write_text(damaged)
    done = runner.call()
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert runner.history[1]["usage"]["cost_usd"] == 0.5


def test_a_question_that_the_agent_has_recorded_is_not_measured_over(runner, program):
    done = runner.start().call(runs=f"{program} hook post-iteration --blocked 'which key?' > /dev/null")
    assert "iteration 1: escalate: Escalate to human - blocked: which key?" in done.stderr
    assert len(runner.history) == 2


@pytest.mark.parametrize("words", [("--version",), ("-p",), ("--print", "--verbose")])
def test_a_call_without_a_prompt_is_only_passed_on(runner, words):
    runner.start().call(*words)
    assert len(runner.history) == 1


def test_without_a_loop_the_agent_works_all_the_same(runner):
    done = runner.call(writes=report())
    assert (done.returncode, done.stdout) == (0, result() + "\n")
    assert done.stderr.startswith("ralph-tracker: no loop in ")
    assert runner.prompt == "Make all tests pass."


def test_a_program_that_is_not_there_is_one_line(runner):
    done = runner.ralph("wrap", "--", "no-such-agent", "-p", "x")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ralph-tracker: no-such-agent does not start: No such file")


@pytest.mark.parametrize("form", ["json", "stream-json", "text"])
def test_after_the_decision_stop_the_runner_reads_its_own_exit_signal_and_no_agent_runs(runner, form):
    (runner.root / ".ralph").mkdir()
    (runner.root / "report.xml").write_text(report())
    runner.start().call()  # nothing changed and everything passes
    started = 'touch "$HOME/started"'
    done = runner.call("-p", "Go on.", "--output-format", form, runs=started)
    assert (done.returncode, (runner.home / "started").exists()) == (0, False)
    text = done.stdout if form == "text" else json.loads(done.stdout)["result"]
    assert "\nEXIT_SIGNAL: true\n" in text
    assert "RECOMMENDATION: Done: nothing changed and everything passes" in text
    assert "the agent was not started" in done.stderr


def test_a_runner_that_knows_no_exit_signal_gets_its_agent(runner):
    (runner.root / "report.xml").write_text(report())
    runner.start().call()
    assert runner.call(runs='touch "$HOME/started"').stdout == result() + "\n"
    assert (runner.home / "started").exists()
