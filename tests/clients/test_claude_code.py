"""Whole loops inside the real Claude Code: real hooks, real pytest, and a model that plays a script."""

import json
import re
import time
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "claude-code.md"
WRONG_AGAIN = "def add(a, b):\n    return a * b\n\n\ndef sub(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"


def installed(project):
    project.ours("agent", "install", "claude-code")
    return project


def test_at_a_terminal_the_status_line_shows_the_loop_and_brings_the_cost(project, messages, write):
    installed(project).ours("hook", "pre-loop")
    script = write("calc.py", WRONG_AGAIN), messages.say("done"), write("calc.py", RIGHT), messages.say("done now")
    with messages.playing(*script) as service:
        shown = project.at_terminal(service.url, lambda: (project.loop / "selection.yaml").exists())
    assert service.played_out, service.told
    back = service.told[2]
    assert back.startswith("Stop hook feedback:\nIteration 1: plateau, score ")
    assert "\nFailing tests" in back
    assert "iteration: 2" in (project.loop / "selection.yaml").read_text()
    assert re.search(r"ralph-001 iteration 0 · score 7[12](\.\d)? % · ", shown)
    _, one, two = project.history
    # The client draws its line now and then: on a busy machine the last turn's price comes after the iteration's end.
    assert one["usage"]["cost_usd"] == 2 * 0.001375
    assert two["usage"]["cost_usd"] in {0.001375, 2 * 0.001375}
    context = json.loads((project.loop / "agent-context.json").read_text())["sessions"]
    assert all(each["context_window"] >= 200_000 for each in context.values())
    assert len(context) == 1
    assert project.noted("agent-errors.jsonl") == []


def test_what_the_agent_did_is_noted_by_digests(project, messages, write):
    installed(project).ours("hook", "pre-loop")
    missing = str(project.root / "none.py")
    script = write("calc.py", RIGHT).and_call("Read", file_path=missing), messages.say("done")
    with messages.playing(*script) as service:
        project.ask(service.url)
    noted = project.noted("agent-events.jsonl")
    told = ["UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Stop"]
    assert [line["event"] for line in noted] == told, project.noted("agent-errors.jsonl")
    asked, wrote, failed, batch, stop = noted
    assert asked["complexity"] == "medium"
    assert (wrote["tool"], wrote["error"], failed["tool"], failed["error"]) == ("Bash", False, "Read", True)
    assert failed["file"] == missing
    assert batch["calls"] == [wrote["call"], failed["call"]]
    assert (stop["iteration"], stop["action"]) == (1, "stop")


def test_a_stuck_loop_is_nudged_once_beside_its_tools_then_told_to_stop_and_no_tool_is_refused(
    project, messages, write
):
    installed(project).ours("hook", "pre-loop")
    look = [messages.call("Bash", command="cat calc.py; echo ran >> ../ran") for _ in range(6)]
    script = *look, write("calc.py", RIGHT), messages.say("done")
    with messages.playing(*script) as service:
        project.ask(service.url)
    assert service.played_out, service.told
    nudge = "Try another way, or stop and say what is open: the last 3 calls repeat earlier ones"
    force = "Call no more tools in this turn; say what is done and what is open"
    sent = [json.dumps(request["messages"]) for request in service.requests]
    assert [text.count(nudge) for text in sent] == [0, 0, 0, 0, *[1] * 4]
    assert [text.count(force) for text in sent] == [0, 0, 0, 0, 0, 1, 2, 2]
    assert len((project.root.parent / "ran").read_text().splitlines()) == len(look)
    assert project.noted("agent-errors.jsonl") == []
    assert project.status["status"] == "finished"


def test_a_session_outside_of_a_loop_is_left_alone(project, messages, write):
    installed(project)
    with messages.playing(write("calc.py", WRONG_AGAIN), messages.say("done")) as service:
        project.ask(service.url)
    assert service.played_out
    assert "ralph-tracker" not in service.told[0]
    assert not project.loop.exists()


def test_a_session_that_wants_a_loop_begins_with_a_baseline(project, messages, write):
    installed(project)
    with messages.playing(write("calc.py", RIGHT), messages.say("done")) as service:
        project.ask(service.url, RALPH_TRACKER_LOOP="1")
    assert service.played_out
    assert "\nFailing tests" in service.told[0]
    assert " test_calc::test_add: " in service.told[0]
    assert (project.status["status"], project.status["iteration"]) == ("finished", 1)


def test_a_session_that_wants_none_is_left_alone_in_a_loop(project, messages, write):
    installed(project).ours("hook", "pre-loop")
    with messages.playing(write("calc.py", WRONG_AGAIN), messages.say("done")) as service:
        project.ask(service.url, RALPH_TRACKER_LOOP="0")
    assert service.played_out
    assert project.status["iteration"] == 0


def test_a_session_that_run_drives_is_noted_and_not_measured(project, messages, write):
    installed(project).ours("hook", "pre-loop")
    with messages.playing(write("calc.py", WRONG_AGAIN), messages.say("done")) as service:
        project.ask(service.url, RALPH_TRACKER_DRIVEN="1")
    assert service.played_out
    assert project.status["iteration"] == 0
    told = ["UserPromptSubmit", "PostToolUse", "PostToolBatch"]
    assert [line["event"] for line in project.noted("agent-events.jsonl")] == told


def test_a_stop_with_work_in_the_background_is_no_iteration(project, messages, write):
    installed(project).ours("hook", "pre-loop")
    (_, fix), *_ = write("calc.py", RIGHT).calls
    later = messages.call("Bash", command=f"sleep 1; {fix['command']}", run_in_background=True)
    with messages.playing(later, messages.say("waiting"), messages.say("done")) as service:
        project.ask(service.url)
    assert service.played_out, service.told
    assert service.told[2].startswith("<task-notification>")
    told = ["UserPromptSubmit", "PostToolUse", "PostToolBatch", "Stop"]
    assert [line["event"] for line in project.noted("agent-events.jsonl")] == told
    assert (project.status["iteration"], project.status["status"]) == (1, "finished")


def test_a_turn_that_dies_on_the_service_is_noted_and_is_no_iteration(project, messages):
    installed(project).ours("hook", "pre-loop")
    with messages.playing(messages.fail(400)) as service:
        done = project.shell('claude -p "make the tests pass"', service.url)
    assert done.returncode == 1
    until = time.monotonic() + 20
    while len(project.noted("agent-events.jsonl")) < 2:  # the client does not wait for this hook before it ends
        assert time.monotonic() < until
        time.sleep(0.1)
    _, line = project.noted("agent-events.jsonl")
    assert line["event"] == "StopFailure"
    assert line["failure"]
    assert project.status["iteration"] == 0


def test_beside_ralph_wiggum_it_records_and_does_not_drive(project, messages, write):
    installed(project)
    state = project.root / ".claude" / "ralph-loop.local.md"
    state.write_text("---\nactive: true\niteration: 3\nmax_iterations: 9\ncompletion_promise: null\n---\nmake it\n")
    project.ours("hook", "pre-loop")
    with messages.playing(write("calc.py", WRONG_AGAIN), messages.say("done")) as service:
        project.ask(service.url)
    assert service.played_out
    assert (project.status["iteration"], project.status["status"]) == (1, "running")
    assert project.noted("agent-events.jsonl")[-1]["driven_at"] == 3


def test_a_loop_that_is_damaged_lets_the_agent_stop_and_that_is_noted(project, messages, write):
    installed(project).ours("hook", "pre-loop")
    (project.loop / "loop.yaml").write_text("configuration: [")
    with messages.playing(write("calc.py", WRONG_AGAIN), messages.say("done")) as service:
        project.ask(service.url)
    assert service.played_out
    at_start, at_stop = project.noted("agent-errors.jsonl")
    assert {at_start["error"], at_stop["error"]} == {at_stop["error"]}
    assert at_stop["error"].startswith("RecordError: .aiwg/ralph/ralph-001/loop.yaml: ")


def test_a_configuration_that_is_broken_lets_the_agent_work_and_is_told(project, messages, write):
    installed(project)
    (project.root / "ralph-tracker.yaml").write_text("checks: {tests: {rum: pytest}}\n")
    with messages.playing(write("calc.py", WRONG_AGAIN), messages.say("done")) as service:
        project.ask(service.url, RALPH_TRACKER_LOOP="1")
    assert service.played_out
    assert not project.loop.exists()


def test_the_limit_of_the_client_is_told_before_it_is_met(project, messages):
    installed(project).ours("hook", "pre-loop")
    with messages.playing(messages.say("done"), messages.say("done")) as service:
        result = project.ask(service.url, CLAUDE_CODE_STOP_HOOK_BLOCK_CAP="1")
    assert service.played_out, service.told
    assert "This is the last time: Claude Code lets a hook hold an agent 1 times in a row" in service.told[1]
    assert result["result"] == "done"
    assert (project.status["iteration"], project.status["status"]) == (2, "running")


def test_tools_between_two_stops_begin_the_count_anew_as_in_the_client(project, messages, write):
    installed(project).ours("hook", "pre-loop")
    script = (
        messages.say("done"),
        write("calc.py", WRONG_AGAIN),
        messages.say("done"),
        write("calc.py", RIGHT),
        messages.say("done"),
    )
    with messages.playing(*script) as service:
        project.ask(service.url, CLAUDE_CODE_STOP_HOOK_BLOCK_CAP="1")
    assert service.played_out, service.told
    assert project.status["status"] == "finished"


def test_a_plugin_folder_does_what_the_settings_do(project, messages, write):
    folder = project.root.parent / "plugin"
    project.ours("agent", "install", "claude-code", "--plugin", str(folder))
    project.ours("hook", "pre-loop")
    script = write("calc.py", WRONG_AGAIN), messages.say("done"), write("calc.py", RIGHT), messages.say("done")
    with messages.playing(*script) as service:
        project.ask(service.url, "--plugin-dir", str(folder))
    assert service.played_out, service.told
    assert project.status["status"] == "finished"
    project.ours("agent", "uninstall", "claude-code", "--plugin", str(folder))
    assert not folder.exists()


def test_installed_twice_a_stop_is_one_iteration(project, messages, write):
    folder = project.root.parent / "plugin"
    project.ours("agent", "install", "claude-code", "--plugin", str(folder))
    installed(project).ours("hook", "pre-loop")
    with messages.playing(write("calc.py", RIGHT), messages.say("done")) as service:
        project.ask(service.url, "--plugin-dir", str(folder))
    assert project.status["iteration"] == 1
    assert project.noted("agent-errors.jsonl") == []


def test_the_page_of_claude_code_shows_what_works_there(project, messages):
    file = str(project.root / "calc.py")
    fix = messages.call("Write", file_path=file, content=RIGHT)
    block = re.search(r"^```shell no-test\n# needs Claude Code\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    with messages.playing(messages.call("Read", file_path=file), fix, messages.say("done")) as service:
        done = installed(project).shell(block[1], service.url)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert service.played_out, service.told
    assert (project.status["status"], project.status["iteration"]) == ("finished", 1)
