"""Contents are asked of git once, and come as they are, whether held or not."""

import contextlib
import io

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.store.git.recent import Recent

KEPT = {"a" * 40: b"one", "b" * 40: b"", "c" * 40: b"three" * 100}
ONE, EMPTY, LONG = KEPT


class Batches:
    """Answer as `git cat-file --batch` does, and remember what was asked for."""

    def __init__(self):
        self.asked = []

    @contextlib.contextmanager
    def stream(self, *arguments, stdin):
        names = stdin.decode().split()
        self.asked.append(names)
        answers = (b"%s blob %d\n%s\n" % (name.encode(), len(KEPT[name]), KEPT[name]) for name in names if name in KEPT)
        yield io.BytesIO(b"".join(answers) + b"missing\n" * (len(set(names) - KEPT.keys())))


@pytest.fixture
def git():
    return Batches()


def read(recent, *names):
    return [b"".join(chunks) for chunks in recent.each(names)]


def test_what_was_read_is_not_asked_for_again(git):
    recent = Recent(git)
    assert read(recent, ONE, EMPTY) == [b"one", b""]
    assert read(recent, EMPTY, ONE, ONE) == [b"", b"one", b"one"]
    assert git.asked == [[ONE, EMPTY]]


def test_held_and_new_contents_come_in_the_order_asked_for(git):
    recent = Recent(git)
    read(recent, EMPTY)
    assert read(recent, LONG, EMPTY, ONE, LONG) == [KEPT[LONG], b"", b"one", KEPT[LONG]]
    assert git.asked == [[EMPTY], [LONG, ONE, LONG]]


@pytest.mark.parametrize("limits", [{"largest": 10}, {"most": 10}], ids=["large", "too many"])
def test_what_is_too_much_is_not_held(git, limits):
    recent = Recent(git, **limits)
    for _ in range(2):
        assert read(recent, ONE, LONG) == [b"one", KEPT[LONG]]
    assert git.asked == [[ONE, LONG], [LONG]]


def test_what_was_not_read_to_its_end_is_not_held(git):
    recent = Recent(git)
    assert [next(chunks, b"") for chunks in recent.each([LONG, ONE])] == [KEPT[LONG], b"one"]
    assert read(recent, LONG, ONE) == [KEPT[LONG], b"one"]
    assert git.asked == [[LONG, ONE], [LONG, ONE]]


def test_a_content_that_is_not_there_is_an_error_each_time(git):
    recent = Recent(git)
    for _ in range(2):
        with pytest.raises(StoreError, match="missing or damaged"):
            read(recent, "d" * 40)
