"""A session of the real Claude Code, recorded as events, which is `fixtures/steering/claude-code-session.jsonl`."""

import json
import sys
from pathlib import Path

from ralph_tracker.agents.claude_code.stream_events import read_stream
from ralph_tracker.steering.events import ToolEnded, TurnEnded, event_to_plain, read_events

RECORDED = Path(__file__).parents[2] / "fixtures" / "steering" / "claude-code-session.jsonl"
SHOWN = "/home/dev/project"
LOOKS = 6


def script_of(root, messages):
    """Look around, mend, test, and then read the same file again and again."""
    code, tests = str(root / "calc.py"), str(root / "test_calc.py")
    pytest = f"{sys.executable} -m pytest -q -p no:cacheprovider -p no:randomly 2>&1 | sed 's/ in [0-9].*//'"

    def turn(number, text, call):
        return messages.Turn(text, call.calls, tokens=(400 + 10 * number, 200, 9000 + 900 * number, 40 + number))

    calls = [
        ("I look at the code and its tests.", messages.call("Read", file_path=code).and_call("Read", file_path=tests)),
        ("I run the tests.", messages.call("Bash", command=pytest)),
        ("add subtracts.", messages.call("Edit", file_path=code, old_string="a - b", new_string="a + b")),
        ("The text stands there twice.", messages.call("Read", file_path=str(root / "none.py"))),
        (
            "I mend it where it is.",
            messages.call(
                "Edit",
                file_path=code,
                old_string="def add(a, b):\n    return a - b",
                new_string="def add(a, b):\n    return a + b",
            ),
        ),
        ("I run the tests again.", messages.call("Bash", command=pytest)),
        *[("I make sure of the file.", messages.call("Read", file_path=code))] * LOOKS,
    ]
    return (*(turn(number, *each) for number, each in enumerate(calls)), messages.say("add adds now."))


def test_a_session_is_recorded_as_the_fixture_shows_it(project, messages, bless):
    script = script_of(project.root, messages)
    words = ["-p", "make the tests pass", "--permission-mode", "bypassPermissions", "--output-format", "stream-json"]
    more = ["--verbose", "--include-partial-messages"]
    with messages.playing(*script) as service:
        done = project._run(str(project.claude), *words, *more, environment=project.environment(service.url))
    assert (done.returncode, service.played_out) == (0, True), done.stderr
    printed = done.stdout.replace(str(project.root), SHOWN).replace(sys.executable, "python")
    events = [*read_stream(printed.splitlines(), "what it printed")]
    assert sum(type(event) is TurnEnded for event in events) == len(script)
    assert [event.success for event in events if type(event) is ToolEnded].count(False) == 2
    if bless:
        RECORDED.write_text("".join(json.dumps(event_to_plain(event)) + "\n" for event in events))
    with RECORDED.open() as lines:  # calls of one turn end in any order
        assert sorted(map(str, events)) == sorted(map(str, read_events(lines, RECORDED.name)))
