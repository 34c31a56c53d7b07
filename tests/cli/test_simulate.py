"""`simulate` replays a recorded session turn by turn; a line that cannot be used is named."""

import io
import json
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"
SESSION = FIXTURES / "steering" / "claude-code-session.jsonl"
TURN = '{"event": "turn_ended"}'


@pytest.fixture
def project(project_at, tmp_path):
    return project_at(tmp_path / "project")


def simulated(project, *words):
    return project.plainly("simulate", *words, "--root", project.root)


def actions(answer):
    return [turn["action"] for turn in answer.json["turns"]]


def test_a_real_session_is_shown_turn_by_turn_with_its_parts_and_reasons(project):
    answer = simulated(project, SESSION)
    lines = answer.out.splitlines()
    assert (answer.code, answer.err) == (0, "")
    assert lines[0] == "turn score velocity not stuck tokens interventions complexity action"
    assert lines[1] == "   1  0.95     0.30      0.25   0.20          0.15       0.05 continue"
    assert lines[10:14] == [
        "  10  0.48     0.00      0.08   0.20          0.15       0.05 nudge_synthesis",
        "      0 of the last 5 turns brought anything new",
        "  11  0.39     0.00      0.00   0.20          0.14       0.05 force_synthesis",
        "      the last 3 calls repeat earlier ones, after a nudge",
    ]
    assert lines[-1] == "medium task: 13 turns, 13 tool calls, 1 nudged, 2 forced"
    assert max(map(len, lines)) <= 80


def test_json_is_as_published(project):
    answer = simulated(project, SESSION, "--json", "--evaluation-interval", 4)
    document = answer.json
    jsonschema.validate(document, project.plainly("schema", "simulate").json)
    assert actions(answer) == ["continue"] * 9 + ["nudge_synthesis", "force_synthesis", "force_synthesis", "continue"]
    assert [turn["turn"] for turn in document["turns"] if turn["evaluation"]] == [4, 8, 12]
    assert document["turns"][9]["message"].startswith("Try another way")
    assert document["progress"] == {
        "unique_files_read": 2,
        "total_file_reads": 8,
        "files_revisited": 6,
        "tools_used": 13,
        "total_iterations": 13,
    }
    assert (document["complexity"], document["limits"]["max_iterations"]) == ("medium", 25)
    assert (document["context_window"], document["context_tokens"], document["interventions"]) == (128_000, 1130, 3)


def test_what_claude_code_printed_is_replayed_too(project):
    answer = simulated(project, FIXTURES / "agent_output" / "claude-code-done.out", "--json")
    assert actions(answer) == ["continue", "continue"]
    assert answer.json["progress"]["tools_used"] == 1


@pytest.mark.parametrize("name", ["codex", "gemini", "opencode"])
def test_what_the_other_agents_printed_is_replayed_with_the_same_verdicts(project, name):
    answer = simulated(project, FIXTURES / "steering" / f"{name}-printed.jsonl")
    assert answer.out.splitlines()[8] == "   8  0.40     0.00      0.00   0.20          0.15       0.05 nudge_synthesis"
    assert answer.out.splitlines()[-1] == "medium task: 9 turns, 8 tool calls, 1 nudged, 0 forced"


@pytest.mark.parametrize(
    ("words", "complexity"),
    [
        ((), "medium"),
        (("--prompt", "What is 2+2?"), "simple"),
        (("--prompt", "What is 2+2?", "--complexity", "complex"), "complex"),
    ],
)
def test_how_large_the_task_is_is_said_or_guessed_from_its_prompt(project, words, complexity):
    assert simulated(project, SESSION, *words, "--json").json["complexity"] == complexity


def test_thresholds_are_tuned_in_the_configuration_and_with_the_command(project):
    (project.root / "ralph-tracker.yaml").write_text(
        "continuation: {progress: {max_revisits_before_nudge: 9}, score: {continue_from: 0.4}}"
    )
    answer = simulated(project, SESSION, "--json")
    assert Counter(actions(answer)) == {"continue": 12, "nudge_synthesis": 1}, "for one sentence in five turns"
    assert "force_synthesis" in actions(simulated(project, SESSION, "--json", "--context-window", 20_000))


def test_the_evaluator_says_where_it_would_stop(project):
    words = " ".join(f"word{n}" for n in range(20))
    short = " ".join(f"w{n}" for n in range(20))
    again = json.dumps({"event": "turn_ended", "text": f"{short} " * 5, "cost_usd": 3})
    costly = json.dumps({"event": "turn_ended", "text": words, "cost_usd": 9})
    answer = simulated(project, project.file("a.jsonl", f"{again}\n{costly}\n"), "--evaluation-interval", 1)
    assert "      the evaluator stops it: Detected repetition\n" in answer.out
    assert simulated(project, project.file("a.jsonl", f"{costly}\n{costly}\n"), "--evaluation-interval", 2).out.count(
        "the evaluator stops it: Cost exceeded $10 ($18.00)"
    )


def test_a_session_of_nothing_has_no_turns(project):
    assert simulated(project, project.file("a.jsonl", "\n\n")).out.endswith(
        "medium task: 0 turns, 0 tool calls, 0 nudged, 0 forced\n"
    )


def test_blank_lines_and_a_byte_order_mark_are_passed_over(project):
    assert len(actions(simulated(project, project.file("a.jsonl", f"\ufeff{TURN}\n\n{TURN}"), "--json"))) == 2


# id: second line of the file, what is said of it
BAD = {
    "no JSON": ("{", "no JSON ("),
    "no object": ("[1]", "no event; expected one of tool_started, "),
    "unknown event": ('{"event": "tool"}', "no event; expected one of "),
    "event that is no word": ('{"event": ["turn_ended"]}', "no event; expected one of "),
    "unknown key": ('{"event": "turn_ended", "txt": ""}', "turn_ended: no key 'txt'"),
    "missing key": ('{"event": "file_read"}', "file_read: 'path' is missing"),
    "number for a text": ('{"event": "file_read", "path": 1}', "file_read: path should be text"),
    "text for a number": ('{"event": "turn_ended", "context_tokens": "1"}', "turn_ended: context_tokens should be a"),
    "part of a token": (
        '{"event": "turn_ended", "context_tokens": 1.5}',
        "turn_ended: context_tokens should be a whole",
    ),
    "negative cost": ('{"event": "turn_ended", "cost_usd": -1}', "turn_ended: cost_usd should be an amount"),
    "no number": ('{"event": "turn_ended", "cost_usd": NaN}', "turn_ended: cost_usd should be an amount"),
    "word for a flag": (
        '{"event": "tool_ended", "call": "c", "name": "n", "success": "yes"}',
        "tool_ended: success should be true or false",
    ),
    "one name for a list": ('{"event": "tests_passed", "names": "t"}', "tests_passed: names should be a list of texts"),
    "not UTF-8": (b'{"event": "file_read", "path": "\xff"}', "not UTF-8 (byte 32)"),
    "nested without end": ("[" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_line_that_cannot_be_used_is_one_line_with_its_number(project, case):
    line, why = BAD[case]
    data = line if isinstance(line, bytes) else line.encode()
    path = project.file("a.jsonl", TURN.encode() + b"\n" + data + b"\n")
    answer = simulated(project, path, "--json")
    assert answer.code == 1
    assert answer.complaint.startswith(f"{path}, line 2: {why}")
    assert answer.complaint.endswith("; fix or drop that line")


@pytest.mark.parametrize(("name", "why"), [("none.jsonl", "No such file"), (".", "Is a directory"), ("a\0b", "NUL")])
def test_a_file_that_cannot_be_read_is_one_line(project, monkeypatch, name, why):
    monkeypatch.chdir(project.root)
    answer = simulated(project, name, "--json")
    assert answer.code == 1
    assert why in answer.complaint


def test_a_recording_comes_on_standard_input_too(project, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{TURN}\n{TURN}\n".encode())))
    assert actions(simulated(project, "-", "--json")) == ["continue", "continue"]


def test_a_line_without_end_is_no_event(project):
    answer = simulated(project, project.file("a.jsonl", b"\n" + b" " * (17 << 20)), "--json")
    assert answer.complaint.endswith("a.jsonl, line 2: longer than 16777216 bytes; this is no file of events")


def test_a_broken_configuration_is_one_line(project):
    (project.root / "ralph-tracker.yaml").write_text("continuation: {tokens: {}}")
    assert "continuation.tokens: unknown key" in simulated(project, SESSION, "--json").complaint
