"""`agent` as people and hosts call it: hooks end with 0 whatever happens, and say nothing where there is no loop."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tracker.agents.hosts.host import HOSTS, RUNNERS, answer_function, host, status_line_function
from ralph_tracker.cli.app import run

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

PROGRAM = Path(sys.executable).with_name("ralph-tracker")
CONFIG = """\
checks:
  tests: {run: [cp, results.xml, "{reports}/junit.xml"], reports: ["{reports}/junit.xml"]}
"""
RESULTS = '<testsuite name="s"><testcase classname="t" name="one"><failure/></testcase></testsuite>'
STOP = json.dumps({"hook_event_name": "Stop", "session_id": "s", "prompt_id": "p", "stop_hook_active": False})
# What a session of no loop must not pay for, and what one tool call of a loop must not either.
HEAVY = (
    "click",
    "pydantic",
    "yaml",
    "git",
    "dataclasses",
    "pathlib",
    "ralph_tracker.tracker",
    "ralph_tracker.store",
)
PROBE = (
    "import sys; from ralph_tracker.cli.app import run; code = run(['agent', 'hook', 'claude-code'])\n"
    "print(*sys.modules, file=sys.stderr); sys.exit(code)"
)


@pytest.fixture
def root(tmp_path):
    made = (tmp_path / "project").resolve()
    made.mkdir()
    (made / "ralph-tracker.yaml").write_text(CONFIG)
    (made / "results.xml").write_text(RESULTS)
    return made


def call(root, *words, stdin=STOP, program=(PROGRAM,), **more):
    """Run a command as a host does that hands nothing down: no PATH, no HOME."""
    environment = {"CLAUDE_PROJECT_DIR": str(root), "RALPH_TRACKER_TRUST": "1", **more}
    return subprocess.run(
        [*program, *words],
        cwd=root,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def hook(root, *words, **more):
    return call(root, "agent", "hook", *(words or ("claude-code",)), **more)


def begun(root):
    done = call(root, "hook", "pre-loop", PATH=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    return root


class TestHook:
    def test_outside_of_a_loop_it_is_silent(self, root):
        done = hook(root)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def test_it_needs_no_path_to_be_found_by(self, root):
        done = hook(begun(root), PATH=os.environ["PATH"])
        assert json.loads(done.stdout)["decision"] == "block"
        assert (done.returncode, done.stderr) == (0, "")

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["clude-code"], "agent hook: name one agent: did you mean claude-code?"),
            (["x"], "agent hook: name one agent: claude-code"),
            (["claude-code", "--loop-id", "x"], "agent hook: name one agent: did you mean claude-code?"),
            (["--bogus"], "agent hook: name one agent: claude-code"),
            (["--help", "claude-code"], "agent hook: name one agent: did you mean claude-code?"),
            ([""], "agent hook: name one agent: claude-code"),
        ],
    )
    def test_bad_arguments_end_with_0_and_a_line(self, root, words, said):
        done = hook(root, *words)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr.startswith(f"ralph-tracker: {said}")
        assert done.stderr.count("\n") == 1

    @pytest.mark.parametrize("missing", ["pydantic", "yaml", "git", "hashlib", "ralph_tracker.tracker"])
    def test_a_dependency_that_is_missing_ends_with_0(self, root, missing):
        begun(root)
        code = f"import sys; sys.modules[{missing!r}] = None; from ralph_tracker.cli.app import main; main()"
        for event in (STOP, json.dumps({"hook_event_name": "PostToolUse", "tool_name": "x"})):
            done = hook(root, program=(sys.executable, "-c", code), stdin=event, PATH=os.environ["PATH"])
            assert done.returncode == 0, done.stderr
            assert "Traceback" not in done.stderr
            assert not done.stdout or missing in {"pydantic", "git", "hashlib"}

    def test_what_is_no_event_ends_with_0(self, root):
        done = hook(begun(root), stdin="no json")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        line = json.loads((root / ".aiwg/ralph/ralph-001/agent-errors.jsonl").read_text())
        assert line["error"].startswith("JSONDecodeError: ")

    def test_fifty_megabytes_end_with_0(self, root):
        for _ in range(2):
            done = hook(root, stdin="x" * (50 << 20))
            assert (done.returncode, done.stdout) == (0, "")
            begun(root) if not (root / ".aiwg").exists() else None

    @pytest.mark.parametrize("stream", ["<&-", ">&-", "2>&-", "> /dev/full"])
    def test_a_stream_that_is_closed_or_full_ends_with_0(self, root, stream):
        begun(root)
        script = f"{PROGRAM} agent hook claude-code {stream}"
        done = call(root, "-c", script, program=("/bin/sh",), PATH=os.environ["PATH"])
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr

    def test_a_folder_that_nobody_may_read_ends_with_0(self, root):
        begun(root)
        (root / ".aiwg" / "ralph" / "ralph-001" / "state.json").unlink()
        (root / ".aiwg" / "ralph" / "ralph-001" / "state.json").mkdir()
        done = hook(root, PATH=os.environ["PATH"])
        assert done.returncode == 0

    def test_a_host_that_asks_for_its_end_gets_no_answer_and_no_check_stays_behind(self, root, lifeline):
        script = f"if [ -e slow ]; then {lifeline.grip}; sleep 60; fi; cp results.xml {{reports}}/junit.xml"
        check = {"run": script, "reports": ["{reports}/junit.xml"]}
        (root / "ralph-tracker.yaml").write_text(json.dumps({"checks": {"tests": check}}))
        begun(root)
        (root / "slow").touch()
        environment = {"CLAUDE_PROJECT_DIR": str(root), "RALPH_TRACKER_TRUST": "1", "PATH": os.environ["PATH"]}
        words = [PROGRAM, "agent", "hook", "claude-code"]
        process = subprocess.Popen(words, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(STOP.encode())
        process.stdin.close()
        assert lifeline.wait() == b"\n"
        process.terminate()
        assert process.wait(60) == 0
        assert process.stdout.read() == b""
        process.stdout.close()
        assert lifeline.wait() == b""
        line = json.loads((root / ".aiwg/ralph/ralph-001/agent-errors.jsonl").read_text())
        assert line["error"].startswith("Terminated: ")

    def test_help_is_there_for_people(self, root):
        done = hook(root, "--help")
        assert (done.returncode, done.stderr) == (0, "")
        assert "The exit code is always 0." in done.stdout


class TestInThisProcess:
    @pytest.fixture
    def answered(self, root, monkeypatch, tmp_path):
        """Run a verb of hosts with this on standard input: `answered(verb, name, text)`."""
        monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(root))

        def answer(verb, name, text=""):
            (tmp_path / "event").write_text(text)
            kept, event = os.dup(0), os.open(tmp_path / "event", os.O_RDONLY)
            try:
                os.dup2(event, 0)
                return run(["agent", verb, name])
            finally:
                os.dup2(kept, 0)
                os.close(kept)
                os.close(event)

        return answer

    def test_an_answer_is_one_document(self, root, answered, capsys):
        begun(root)
        assert answered("hook", "claude-code", json.dumps({"hook_event_name": "SessionStart"})) == 0
        assert "hookSpecificOutput" in json.loads(capsys.readouterr().out)

    def test_a_fault_in_the_answering_itself_is_a_line(self, answered, capsys, monkeypatch):
        monkeypatch.setitem(sys.modules, "ralph_tracker.agents.hosts.hook_dispatch", None)
        assert answered("hook", "claude-code") == 0
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("ralph-tracker: agent hook: a bug in ralph-tracker: ModuleNotFoundError: ")

    @pytest.mark.parametrize(
        ("verb", "name", "said"),
        [
            ("hook", "clude-code", "name one agent: did you mean claude-code?"),
            ("hook", "x", "name one agent: claude-code"),
            ("hook", "ralph-orchestrator", "no event of ralph-orchestrator on standard input; name this command"),
            ("status-line", "clude-code", "name one agent: did you mean claude-code?"),
            ("status-line", "x", "name one agent: claude-code"),
            (
                "status-line",
                "ralph-orchestrator",
                "ralph-orchestrator has no status line; `ralph-tracker status` shows the loop",
            ),
        ],
    )
    def test_what_cannot_be_answered_is_a_line_that_says_what_to_do(self, answered, capsys, verb, name, said):
        assert answered(verb, name) == 0
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith(f"ralph-tracker: agent {verb}: {said}")
        assert printed.err.count("\n") == 1

    @pytest.mark.parametrize("name", [*HOSTS, *RUNNERS])
    def test_every_agent_that_is_named_has_something_that_answers(self, name):
        assert callable(answer_function(name))
        assert status_line_function(name) is None or callable(status_line_function(name))
        assert name in RUNNERS or host(name).name == name

    def test_without_standard_output_nothing_is_printed(self, root, answered, monkeypatch):
        begun(root)
        monkeypatch.setattr("sys.stdout", None)
        assert answered("status-line", "claude-code", "{}") == 0


class TestCosts:
    def modules(self, root, event):
        environment = {"CLAUDE_PROJECT_DIR": str(root), "RALPH_TRACKER_TRUST": "1", "PATH": os.environ["PATH"]}
        done = subprocess.run(
            [sys.executable, "-c", PROBE],
            cwd=root,
            env=environment,
            input=event,
            capture_output=True,
            text=True,
            check=True,
        )
        return set(done.stderr.split())

    def test_a_session_of_no_loop_imports_next_to_nothing(self, root):
        found = self.modules(root, STOP)
        assert found.isdisjoint({*HEAVY, "hashlib", "ralph_tracker.agents.hosts.session_event_log"})
        assert "ralph_tracker.agents.hosts.hook_dispatch" in found

    def test_a_tool_call_of_a_loop_imports_little(self, root):
        found = self.modules(begun(root), json.dumps({"hook_event_name": "PostToolUse", "tool_name": "x"}))
        assert found.isdisjoint(HEAVY)
        assert "ralph_tracker.agents.hosts.session_event_log" in found

    def test_the_probe_sees_what_the_end_of_a_turn_imports(self, root):
        assert "ralph_tracker.tracker" in self.modules(begun(root), STOP)


class TestStatusLine:
    def test_it_is_one_line_in_a_loop_and_nothing_outside(self, root):
        words = ("agent", "status-line", "claude-code")
        assert call(root, *words, stdin="{}").stdout == ""
        done = call(begun(root), *words, stdin="{}")
        assert (done.returncode, done.stdout) == (0, "ralph-001 iteration 0 · score 31.3 % · cost unknown\n")

    def test_a_bad_name_ends_with_0(self, root):
        done = call(root, "agent", "status-line", "x")
        assert (done.returncode, done.stdout) == (0, "")


class TestInstalling:
    def test_it_says_what_it_did_and_what_is_next(self, root, capsys, monkeypatch):
        monkeypatch.setenv("PATH", os.defpath)  # an active environment has our program on it
        settings = root / ".claude" / "settings.json"
        assert run(["agent", "install", "claude-code", "--root", str(root)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith(f"{settings}: hooks added")
        assert "ralph-tracker is not on PATH" in lines[1]
        assert "hook pre-loop" in lines[-2] + lines[-1]
        command = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
        assert command.endswith("; exec ralph-tracker agent hook claude-code'")
        assert "/" not in command.replace("/dev/null", "")
        assert run(["agent", "uninstall", "claude-code", "--root", str(root)]) == 0
        assert capsys.readouterr().out == f"{settings}: taken out\n"
        assert not settings.parent.exists()

    def test_what_is_not_committed_names_the_program_of_this_machine(self, root, capsys):
        settings = root / ".claude" / "settings.local.json"
        assert run(["agent", "install", "claude-code", "--local", "--root", str(root)]) == 0
        command = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
        assert command == f"{PROGRAM} agent hook claude-code"
        assert "is not on PATH" not in capsys.readouterr().out
        assert run(["agent", "uninstall", "claude-code", "--local", "--root", str(root)]) == 0
        assert not settings.parent.exists()

    def test_a_plugin_says_how_it_is_started(self, root, capsys):
        folder = root / "plugin"
        assert run(["agent", "install", "claude-code", "--plugin", str(folder)]) == 0
        assert f"next: `claude plugin marketplace add {folder}`" in " ".join(capsys.readouterr().out.split())
        assert run(["agent", "uninstall", "claude-code", "--plugin", str(folder)]) == 0
        assert not folder.exists()

    def test_the_users_settings_can_be_meant(self, root, capsys, monkeypatch):
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root / "conf"))
        assert run(["agent", "install", "claude-code", "--user"]) == 0
        assert (root / "conf" / "settings.json").exists()
        assert run(["agent", "uninstall", "claude-code", "--user"]) == 0
        assert not (root / "conf").exists()

    @pytest.mark.parametrize("verb", ["install", "uninstall"])
    @pytest.mark.parametrize(
        ("words", "code", "said"),
        [
            (["clude"], 2, "no agent 'clude'; did you mean claude-code?"),
            (["ralph-orchestrator"], 2, "are yours: name `ralph-tracker agent hook ralph-orchestrator` in them"),
            (["claude-code", "--user", "--plugin", "x"], 2, "--user and --plugin exclude each other"),
            (["claude-code", "--user", "--local"], 2, "--local and --user exclude each other"),
            (["claude-code", "--root", "/nowhere"], 1, "/nowhere: not a folder"),
            ([], 2, "Missing argument 'NAME'"),
        ],
    )
    def test_bad_arguments_are_one_line(self, verb, words, code, said, capsys):
        assert run(["agent", verb, *words]) == code
        err = capsys.readouterr().err
        assert said in err
        assert err.count("\n") == 1

    def test_settings_that_are_none_are_left_as_they_are(self, root, capsys):
        settings = root / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text("{\n  // mine\n}\n")
        assert run(["agent", "install", "claude-code", "--root", str(root)]) == 1
        assert "line 2 column 3" in capsys.readouterr().err
        assert settings.read_text() == "{\n  // mine\n}\n"
        assert [path.name for path in settings.parent.iterdir()] == ["settings.json"]

    def test_a_program_that_is_not_installed_cannot_be_called_by_hooks(self, root, capsys, monkeypatch, tmp_path):
        monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
        monkeypatch.setattr("sys.argv", ["-c"])
        assert run(["agent", "install", "claude-code", "--local", "--root", str(root)]) == 1
        assert "install ralph-tracker with pip" in capsys.readouterr().err

    @pytest.mark.parametrize("verb", ["hook", "status-line"])
    def test_the_verbs_of_hosts_are_verbs_of_click_too(self, verb):
        from ralph_tracker.cli.agent import command  # noqa: PLC0415

        found = command.get_command(None, verb)
        assert found.main(["x"], standalone_mode=False) == 0
