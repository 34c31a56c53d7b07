"""A transcript: each answer counts once, lines are read once, and none of them needs to be whole."""

import json
import os

import pytest

from ralph_tracker.agents.hosts.claude_code_transcript import (
    TokenUse,
    TranscriptPosition,
    ends_with,
    read_on,
    transcripts_of,
)
from ralph_tracker.errors import InputError
from tests.tables import table

ONE = TokenUse(1120, 10, 1)


def read(session, reading=None, since=""):
    return read_on(session.transcript, reading or TranscriptPosition(), since)


def test_an_answer_of_several_blocks_counts_once(session):
    session.said(1, blocks=3)
    session.said(2)
    assert read(session) == TokenUse(2240, 20, 2)


def test_an_answer_whose_blocks_come_late_counts_once(session):
    reading = TranscriptPosition()
    session.said(1)
    assert read(session, reading) == ONE
    session.said(1)
    session.said(2)
    assert read(session, TranscriptPosition.of(json.loads(json.dumps(reading.plain())))) == ONE


def test_an_answer_that_grew_counts_what_it_grew_by(session):
    session.said(1, message={"usage": {"input_tokens": 100, "output_tokens": 1}})
    session.said(1, message={"usage": {"input_tokens": 100, "output_tokens": 10}})
    assert read(session) == TokenUse(100, 10, 1)


def test_the_output_of_an_answer_that_is_being_written_is_unknown_until_it_is_told(session):
    reading = TranscriptPosition()
    session.said(1, message={"stop_reason": None})
    assert read(session, reading) == TokenUse(1120, 0, 1, unfinished=1)
    session.said(1)
    session.said(1, message={"stop_reason": None})
    assert read(session, TranscriptPosition.of(json.loads(json.dumps(reading.plain())))) == TokenUse(
        0, 10, 0, unfinished=-1
    )


def test_the_same_message_of_two_requests_counts_twice(session):
    session.said(1)
    session.said(1, requestId="req_other")
    assert read(session).turns == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"message": {"model": "<synthetic>"}},
        {"isApiErrorMessage": True},
        {"type": "user"},
        {"message": {"usage": None}},
        {"message": {"id": 1, "usage": []}},
        {"timestamp": "2026-01-01T00:00:00.500Z"},
    ],
    ids=["synthetic", "an error of the service", "a person", "no usage", "a list", "before"],
)
def test_what_is_no_answer_of_the_model_since_then_counts_nothing(session, fields):
    session.said(1, **fields)
    assert read(session, since="2026-01-01T00:00:01Z") == TokenUse()


def test_an_answer_of_the_same_second_counts(session):
    session.said(1, timestamp="2026-01-01T00:00:01.500Z")
    assert read(session, since="2026-01-01T00:00:01Z") == ONE


def test_lines_that_are_damaged_are_passed_over(session):
    session.transcript.write_bytes(b'"usage" {\n[1]"usage"\n\n"usage"\n' + b'["usage"' * 3 + b"\n")
    session.said(1)
    assert read(session) == ONE


def test_a_line_that_is_being_written_is_read_when_it_is_whole(session):
    session.said(1)
    whole = session.transcript.read_bytes()
    session.transcript.write_bytes(whole[:-20])
    reading = TranscriptPosition()
    assert read(session, reading) == TokenUse()
    session.transcript.write_bytes(whole)
    assert read(session, reading) == ONE


def test_a_line_of_any_length_is_passed_over_in_pieces(session):
    session.said(1)
    with session.transcript.open("ab") as file:
        file.write(b"x" * (9 << 20))
    reading = TranscriptPosition()
    assert read(session, reading) == ONE
    with session.transcript.open("ab") as file:
        file.write(b"\n")
    session.said(2)
    assert read(session, reading) == ONE


def test_a_file_that_is_shorter_than_before_is_another_one(session):
    session.said(1)
    reading = TranscriptPosition(offset=99999)
    assert read(session, reading) == ONE


def test_what_is_remembered_of_answers_has_an_end(session):
    for number in range(100):
        session.said(number)
    reading = TranscriptPosition()
    assert read(session, reading).turns == 100
    assert len(reading.counted) == 64


@table("plain", [None, [], {}, {"offset": "x", "counted": []}, {"offset": 1, "counted": [1]}])
def test_a_reading_that_is_damaged_begins_anew(plain):
    assert TranscriptPosition.of(plain) == TranscriptPosition()


def test_subagents_have_transcripts_of_their_own(tmp_path):
    folder = tmp_path / "5e55" / "subagents"
    folder.mkdir(parents=True)
    for name in ("agent-b.jsonl", "agent-a.jsonl", "other.txt"):
        (folder / name).touch()
    found = transcripts_of(tmp_path / "5e55.jsonl")
    assert [path.name for path in found] == ["5e55.jsonl", "agent-a.jsonl", "agent-b.jsonl"]


@pytest.mark.parametrize(
    ("text", "ends"),
    [("done", True), (" done \n", True), ("über", False), ("not yet", False)],
)
def test_the_last_answer_is_known_by_its_text(session, text, ends):
    session.said(1, text="before")
    session.said(2, text="done")
    session.said(3, text="a person", type="user")
    assert ends_with(session.transcript, text) is ends


@pytest.mark.parametrize("plain", [True, False])
def test_letters_may_be_written_either_way(session, plain):
    line = {"type": "assistant", "text": 'über "x"'}
    session.transcript.write_text(json.dumps(line, ensure_ascii=plain, separators=(",", ":")) + "\n")
    assert ends_with(session.transcript, 'über "x"')


def test_a_transcript_that_is_not_kept_is_not_waited_for(tmp_path):
    assert ends_with(tmp_path / "none", "done")


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_not_waited_for(tmp_path, kind):
    path = tmp_path / "transcript.jsonl"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"a pipe or a device, not a file"):
        read_on(path, TranscriptPosition(), "")
    assert ends_with(path, "text")


@pytest.mark.parametrize("size", [300 << 20, 1 << 40])
def test_a_line_without_an_end_is_read_in_bounded_parts(tmp_path, size):
    path = tmp_path / "transcript.jsonl"
    with path.open("wb") as file:
        file.truncate(size)
    reading = TranscriptPosition()
    assert read_on(path, reading, "") == TokenUse()
    assert 256 << 20 <= reading.offset <= 260 << 20
