"""`trust` and the question at a terminal, from the first command in a stranger's project on."""

import os
import pty
import select
import subprocess
import sys

import pytest

from ralph_tracker import UntrustedError, post_iteration, pre_loop

CONFIG = 'checks:\n  tests: {run: "touch ran; cp results.xml {reports}/junit.xml", reports: ["{reports}/junit.xml"]}\n'
RESULTS = '<testsuite name="s"><testcase classname="t" name="one"/></testsuite>'
ASKED = "Trust it? [y/N]: "


@pytest.fixture
def clone(project, monkeypatch, tmp_path):
    """Return a project of somebody else, for a user who has accepted nothing."""
    monkeypatch.delenv("RALPH_TRACKER_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (project.root / "ralph-tracker.yaml").write_text(CONFIG)
    (project.root / "results.xml").write_text(RESULTS)
    return project


def ran(clone):
    return (clone.root / "ran").exists()


def test_a_pipe_is_refused_in_one_line_until_it_is_accepted_and_again_once_it_is_revoked(clone):
    refused = clone.ralph("hook", "pre-loop")
    assert (refused.code, ran(clone)) == (1, False)
    assert "touch ran" in refused.complaint
    assert "`ralph-tracker trust`" in refused.complaint
    assert clone.ralph("trust", "--show").out.startswith("project: not trusted, would run\n  checks.tests: touch ran")
    assert clone.ralph("hook", "pre-loop").code == 1
    assert clone.ralph("trust").code == 0
    assert not ran(clone)
    assert clone.ralph("hook", "pre-loop").code == 0
    assert ran(clone)
    assert clone.ralph("hook", "post-iteration").code == 0
    assert "loop ralph-001: trusted, would run" in clone.ralph("trust", "--show").out
    assert clone.ralph("trust", "--revoke").out == "Nothing here is trusted any more\n"
    assert clone.ralph("trust", "--revoke").out == "Nothing was trusted here\n"
    for verb in (("hook", "post-iteration"), ("gate",), ("select-best", "--verify"), ("hook", "pre-loop", "--new")):
        assert clone.ralph(*verb).complaint.endswith("or --trust")
    for verb in ("status", "history", "show", "report"):
        assert clone.ralph(verb).code == 0
    assert clone.ralph("gate", "--trust").code == 0
    assert clone.ralph("hook", "post-iteration").code == 0


def test_an_edit_of_ones_own_configuration_asks_nothing_and_is_shown_once(clone):
    assert clone.ralph("hook", "pre-loop", "--trust").err == ""
    edited = CONFIG.replace("touch ran", "touch edited")
    more = """  more: {run: "cp results.xml {reports}/more.xml", reports: ["{reports}/more.xml"], kind: tests}\n"""
    (clone.root / "ralph-tracker.yaml").write_text(edited + more)
    answer = clone.ralph("hook", "pre-loop", "--new")
    told = "ralph-tracker: checks.{} changed since you accepted this project: it {}\n".format
    was, now = (f"touch {what}; cp results.xml {{reports}}/junit.xml" for what in ("ran", "edited"))
    assert answer.err == told("tests", f"was `{was}`, is now `{now}`") + told(
        "more", "is new: `cp results.xml {reports}/more.xml`"
    )
    assert answer.code == 0
    assert (clone.root / "edited").exists()
    assert clone.ralph("hook", "pre-loop", "--new").err == ""


def test_a_pull_cannot_say_that_its_commands_were_accepted(clone):
    assert clone.ralph("trust").code == 0
    (clone.root / "ralph-tracker.yaml").write_text(CONFIG.replace("touch ran", "touch pulled"))
    with (clone.root / ".aiwg/ralph/trust").open("a") as file:
        file.write(f'commands {"0" * 64} {{"checks.tests": "touch pulled; cp results.xml {{reports}}/junit.xml"}}\n')
    assert "is now `touch pulled" in clone.ralph("hook", "pre-loop").err


def test_a_loop_of_somebody_else_in_a_project_of_ones_own_is_not_run(clone, monkeypatch, tmp_path):
    assert clone.ralph("trust").code == 0
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert clone.ralph("hook", "pre-loop", "--trust").code == 0
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (clone.root / "ran").unlink()
    assert clone.ralph("hook", "post-iteration").complaint.startswith(
        "loop ralph-001 would run checks.tests: touch ran"
    )
    assert not ran(clone)
    assert clone.ralph("hook", "pre-loop", "--new").code == 0


def test_a_loop_whose_metrics_are_handed_in_runs_nothing_and_asks_nothing(clone, metrics_of, monkeypatch, tmp_path):
    clone.started()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    clone.must("post-iteration", metrics_of())
    assert not (tmp_path / "state").exists()


def test_python_has_the_same_gate(clone):
    with pytest.raises(UntrustedError, match="touch ran"):
        pre_loop(root=clone.root)
    pre_loop(root=clone.root, trust=True)
    clone.ralph("trust", "--revoke")
    with pytest.raises(UntrustedError, match="loop ralph-001"):
        post_iteration(root=clone.root)
    assert post_iteration(root=clone.root, trust=True).iteration == 1


@pytest.mark.slow
@pytest.mark.parametrize(("said", "code"), [("y", 0), ("n", 1), ("\x04", 1)])
def test_a_terminal_is_shown_what_would_run_and_asked_once(clone, program, said, code):
    for number in range(2):
        shown, ended = at_a_terminal([program, "hook", "pre-loop", "--new"], clone.root, said)
        assert ended == code
        assert ran(clone) is (code == 0)
        assert (ASKED in shown) is (code == 1 or number == 0)
        assert "touch ran; cp results.xml" in shown or ASKED not in shown


def at_a_terminal(command, cwd, said):
    """Run a command at a terminal where a person answers the question; return what was shown and the exit code."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, *command], cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        if shown.endswith(ASKED.encode()):
            os.write(ours, f"{said}\n".encode() if said.isalpha() else said.encode())
    code = process.wait(60)
    os.close(ours)
    return " ".join(shown.decode().split()) + " ", code


def test_doctor_names_what_is_wrong_with_a_configuration_that_nobody_accepted(clone):
    (clone.root / "ralph-tracker.yaml").write_text('checks: {tests: {run: "true", timeout: 1:30}}\n')
    examined = clone.ralph("doctor")
    assert examined.out.startswith("missing  configuration: checks.tests.timeout: '1:30' is no time")
    assert "trust: you have not accepted this project" in examined.out
    assert examined.code == 1


def test_init_update_starts_no_tool_of_a_project_that_nobody_accepted(clone):
    python = clone.root / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\ntouch ran\nexit 1\n")
    python.chmod(0o755)
    (clone.root / "pyproject.toml").write_text('[project]\nname = "a"\nversion = "1"\n')
    (clone.root / "test_a.py").write_text("def test_a():\n    pass\n")
    refused = clone.ralph("init", "--update", "--yes")
    assert (refused.code, ran(clone)) == (1, False)
    assert refused.complaint.startswith("this project would run checks.tests: touch ran")
    assert clone.ralph("trust").code == 0
    clone.ralph("init", "--update", "--yes")
    assert ran(clone)
