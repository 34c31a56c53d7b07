"""The reader hears the same however the bytes are cut, holds a bounded state, and never raises."""

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.agents.output.run_output import EVENTS, MAX_LINE, TEXTS, RunOutputReader, recognise
from ralph_tracker.agents.output.run_report import Ending, RunReport
from ralph_tracker.core.metrics import Usage
from tests.tables import table

RECORDED = Path(__file__).parents[3] / "fixtures" / "agent_output"
RECORDINGS = tuple(path.read_bytes() for path in sorted(RECORDED.iterdir()) if path.suffix != ".md")
EXIT_CODES = st.sampled_from([0, 1, 41, 53, None])
_KEYS = (
    "type",
    "subtype",
    "terminal_reason",
    "name",
    "status",
    "kind",
    "errorType",
    "model",
    "stop_reason",
    "session_id",
    "message",
    "usage",
    "event",
    "data",
    "part",
    "error",
    "stats",
    "result",
    "id",
)
_KINDS = (
    "assistant", "result", "system", "init", "turn.completed", "turn.failed", "item.completed", "step_finish", "text",
    "error", "message", "assistant.message", "session.error", "rate_limit_event", "stream_event", "model.call_failure",
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(_KINDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=4),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(_KEYS), VALUES, max_size=6).flatmap(
    lambda given: (st.sampled_from(_KINDS) | VALUES).map(
        lambda kind: {"session_id": "s", "sessionID": "o", **given, "type": kind}
    )
)
LINES = (
    OBJECTS.map(lambda event: json.dumps(event).encode())
    | st.binary(max_size=30)
    | st.sampled_from(
        [b"{", b"}", b"[", b"[{}]", b"\x1b[31m{\x1b[0m", b"\xff\x00", b'{"type":"result"', b'{"a":1e999}']
    )
    | st.sampled_from([line for whole in RECORDINGS for line in whole.splitlines()])
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b"\r", b""])), max_size=8).map(
    lambda parts: b"".join(line + end for line, end in parts)
)


def told(output: list[bytes], errors: list[bytes], exit_code: int | None) -> RunReport:
    reader = RunOutputReader()
    for chunk in output:
        reader.feed_stdout(chunk)
    for chunk in errors:
        reader.feed_stderr(chunk)
    return reader.report(exit_code)


def cut(stream: bytes, at: list[int]) -> list[bytes]:
    places = [0, *sorted(place % (len(stream) + 1) for place in at), len(stream)]
    return [stream[start:end] for start, end in pairwise(places)]


@given(STREAMS, STREAMS, st.lists(st.integers(0, 10_000), max_size=12), EXIT_CODES)
def test_any_bytes_in_any_chunks_tell_what_they_tell_in_one(output, errors, at, exit_code) -> None:
    whole = told([output], [errors], exit_code)
    assert told(cut(output, at), cut(errors, at), exit_code) == whole
    assert whole.why is None or (0 < len(whole.why) <= 200 and whole.why.isprintable())
    assert whole.last_message is None or 0 < len(whole.last_message) <= 2_000
    assert all(value >= 0 for value in whole.usage.known_values().values())
    f"{whole}".encode()


@table("size", [1, 7, 4_096])
def test_recordings_tell_the_same_in_small_chunks(size) -> None:
    for data in RECORDINGS:
        chunks = [data[start : start + size] for start in range(0, len(data), size)]
        assert told(chunks, [], 1) == told([data], [], 1)


@table("data", [b"\xff\xfe\x00{", b"{" * 100_000, b'{"a":' + b"[" * 50_000, b"\r" * 1_000, b"\x1b["])
def test_broken_bytes_are_no_exception(data) -> None:
    assert told([data], [data], 0).ending in {Ending.DONE, Ending.UNKNOWN}


RESULT = b'{"type":"result","session_id":"s","subtype":"success","is_error":false,"total_cost_usd":1.5,"result":"%s"}'


def test_a_line_of_a_mebibyte_is_read_and_a_longer_one_is_dropped() -> None:
    fits = RESULT % (b"x" * (MAX_LINE - len(RESULT) + 2))
    assert len(fits) == MAX_LINE
    assert told([fits], [], 0).usage.cost_usd == 1.5
    reader = RunOutputReader()
    reader.feed_stdout(fits + b" \n")
    reader.feed_stdout(b"z" * (2 * MAX_LINE))
    reader.feed_stdout(b"zzz\nDone.")
    assert reader.report(0) == RunReport(Usage(), Ending.DONE, last_message="Done.")


def test_a_run_of_which_all_was_dropped_said_something() -> None:
    assert told([b"z" * (MAX_LINE + 1)], [], 0).ending is Ending.DONE


def test_an_object_over_several_lines_is_dropped_where_it_is_too_long() -> None:
    begin = b'{\n"response": "yes",\n"stats": {},\n"x": "'
    assert told([begin + b'"\n}\n'], [], 0).last_message == "yes"
    too_long = begin + b"\n".join(b"y" * 1_000 for _ in range(1_100)) + b'"\n}\n'
    assert told([too_long], [], 0).last_message != "yes"


def _size(value: object, seen: set[int]) -> int:
    if id(value) in seen or isinstance(value, type):
        return 0
    seen.add(id(value))
    slots = [getattr(value, name) for name in getattr(type(value), "__slots__", ()) if hasattr(value, name)]
    parts = [vars(value)] if hasattr(value, "__dict__") else []
    parts += list(value) if isinstance(value, list | tuple | set) or type(value).__name__ == "deque" else slots
    parts += [*value.keys(), *value.values()] if isinstance(value, dict) else []
    return sys.getsizeof(value) + sum(_size(part, seen) for part in parts)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"assistant","session_id":"s","message":{"id":"%d","usage":{"input_tokens":1},"content":[]}}\n',
        b'{"type":"result","session_id":"%d","usage":{"input_tokens":1}}\n',
        b'{"type":"message","timestamp":"t","role":"assistant","delta":true,"content":"%d and more"}\n',
        b"a line of plain text, number %d\n",
        b"{\n%d\n",
    ],
    ids=["messages", "results", "deltas", "text", "objects"],
)
@pytest.mark.slow
def test_the_state_does_not_grow_with_the_output(line) -> None:
    reader = RunOutputReader()
    sizes = []
    for part in range(3):
        for number in range(4_200):
            reader.feed_stdout(line.replace(b"%d", b"%06d" % (part * 4_200 + number)))
        sizes.append(_size(reader, set()))
    assert max(sizes) <= sizes[0] * 1.5


@table(
    ("case", "name"),
    [
        ("claude-code-done", "claude-code"),
        ("qwen-code-done", "qwen-code"),
        ("codex-done", "codex"),
        ("gemini-stream-done", "gemini-stream"),
        ("opencode-done", "opencode"),
        ("copilot-done", "copilot"),
    ],
)
def test_each_event_of_a_recording_is_of_one_program(case, name) -> None:
    events = [json.loads(line) for line in (RECORDED / f"{case}.out").read_text(encoding="utf-8").splitlines()]
    found = [recognise(event) for event in events]
    assert found[0] is not None
    assert found[0].name == name
    others = {each.name for each in found if each} - {name}
    assert others <= {"claude-code"} if name == "qwen-code" else not others


def test_an_object_of_no_program_is_text() -> None:
    assert recognise({"hello": 1}) is None
    found = told([b'{"hello": 1}\n[1, 2]\n[{"a": 1}]\nDone.\n'], [], 0)
    assert found.last_message == '{"hello": 1}\n[1, 2]\n[{"a": 1}]\nDone.'


def test_every_reader_is_in_the_table_and_says_where_its_facts_are_from() -> None:
    readers = [*(each.reader for each in EVENTS), *TEXTS.values()]
    folder = Path(__file__).parents[3] / "ralph_tracker" / "agents" / "output"
    of_all = {"error_messages", "event_values", "run_output", "run_report"}
    files = {path.stem for path in folder.glob("[!_]*.py")} - of_all
    assert files == {each.__module__.rpartition(".")[2] for each in readers}
    for reader in readers:
        facts = f"{sys.modules[reader.__module__].__doc__}\n{reader.__doc__}"
        assert "Input tokens" in facts or "no tokens" in facts
        assert any(word in facts for word in ("Tested in runs of", "From"))
