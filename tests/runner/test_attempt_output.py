"""What is added to files is handed on, once and in order, and silence is noticed."""

from threading import Event

from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.runner.attempt import Follower, Stream


def heard_of(path, pieces):
    return Stream(path, (pieces.append,))


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_every_byte_is_heard_once_and_in_order(tmp_path_factory, written):
    path, pieces = tmp_path_factory.mktemp("following") / "out", []
    path.write_bytes(b"")
    with Follower([heard_of(path, pieces)], Event()) as follower:
        for piece in written:
            with path.open("ab") as file:
                file.write(piece)
            follower.look()
        follower.last_look()
        assert b"".join(pieces) == b"".join(written)
        assert follower.printed == any(written)


def test_the_rest_is_heard_to_the_last_byte(tmp_path):
    path, pieces = tmp_path / "out", []
    path.write_bytes(bytes(300_000))
    with Follower([heard_of(path, pieces)], Event()) as follower:
        follower.last_look()
    assert sum(map(len, pieces)) == 300_000


def test_all_streams_are_followed_and_all_listeners_hear(tmp_path):
    out, err, again = [], [], []
    for name in "ab":
        (tmp_path / name).write_text(name)
    streams = [Stream(tmp_path / "a", (out.append, again.append)), heard_of(tmp_path / "b", err)]
    with Follower(streams, Event()) as follower:
        follower.look()
    assert (out, again, err) == ([b"a"], [b"a"], [b"b"])


def test_a_file_that_was_cut_is_followed_from_its_end(tmp_path):
    path, pieces = tmp_path / "out", []
    path.write_bytes(b"a long beginning")
    with Follower([heard_of(path, pieces)], Event()) as follower:
        follower.look()
        path.write_bytes(b"cut")
        follower.look()
        with path.open("ab") as file:
            file.write(b" and more")
        follower.look()
        assert pieces == [b"a long beginning", b" and more"]


def test_silence_ends_the_agent_and_a_word_begins_it_anew(tmp_path):
    path, ended, now = tmp_path / "out", Event(), [0.0]
    path.write_bytes(b"")
    with Follower([heard_of(path, [])], ended, silence_s=10, clock=lambda: now[0]) as follower:
        now[0] = 9.0
        follower.look()
        path.write_bytes(b"a word")
        follower.look()
        now[0] = 18.0
        follower.look()
        assert (follower.idle_s, ended.is_set()) == (None, False)
        now[0] = 19.0
        follower.look()
        assert (follower.idle_s, ended.is_set()) == (10.0, True)


def test_without_a_limit_silence_is_no_matter(tmp_path):
    path, ended, now = tmp_path / "out", Event(), [0.0]
    path.write_bytes(b"")
    with Follower([heard_of(path, [])], ended, clock=lambda: now[0]) as follower:
        now[0] = 1e9
        follower.look()
        assert (follower.idle_s, ended.is_set()) == (None, False)
