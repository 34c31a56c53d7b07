"""One writer at a time; who waits too long is told for whom."""

import json
import os
import signal
import time

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.store.lock import hold_lock, holder_of


@pytest.fixture
def lock(tmp_path):
    return tmp_path / "ralph-001" / "lock"


def wait_until_held(lock) -> None:
    deadline = time.monotonic() + 10
    while not lock.exists() or not lock.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.005)


class TestLock:
    def test_says_inside_who_holds_it_and_why(self, lock):
        with hold_lock(lock, "post-iteration"):
            assert json.loads(lock.read_bytes()) == {"pid": os.getpid(), "purpose": "post-iteration"}

    def test_tells_who_holds_it_without_taking_it(self, lock):
        assert holder_of(lock) is None
        assert not lock.exists()
        with hold_lock(lock, "run"):
            assert holder_of(lock) == f"process {os.getpid()} (run)"
        assert holder_of(lock) is None

    def test_is_free_again_afterwards_and_never_deleted(self, lock):
        with hold_lock(lock, "first, with a long purpose"):
            pass
        with hold_lock(lock, "second", patience_s=0):
            assert json.loads(lock.read_bytes())["purpose"] == "second"
        assert lock.exists()

    def test_leaves_no_folder_where_its_file_cannot_be_made(self, tmp_path):
        with pytest.raises(StoreError, match="too long"), hold_lock(tmp_path / "ralph-002" / ("x" * 300), "pre-loop"):
            pass
        assert list(tmp_path.iterdir()) == []

    def test_is_free_again_after_an_error(self, lock):
        with pytest.raises(KeyError), hold_lock(lock, "first"):
            raise KeyError
        with hold_lock(lock, "second", patience_s=0):
            pass

    def test_is_free_again_after_its_holder_was_killed(self, lock, together):
        def die():
            with hold_lock(lock, "a call that dies"):
                os.kill(os.getpid(), signal.SIGKILL)

        together(die)
        together.wait()
        assert json.loads(lock.read_bytes())["purpose"] == "a call that dies"
        with hold_lock(lock, "the next", patience_s=0):
            pass

    def test_is_waited_for_as_long_as_patience_lasts(self, lock, together):
        together(lambda: _hold_for(lock, 0.3))
        wait_until_held(lock)
        with hold_lock(lock, "the next", patience_s=10):
            assert json.loads(lock.read_bytes())["pid"] == os.getpid()
        assert together.wait() == [None]

    def test_names_the_holder_where_patience_ends(self, lock, together):
        together(lambda: _hold_for(lock, 5))
        wait_until_held(lock)
        holder = json.loads(lock.read_bytes())["pid"]
        with pytest.raises(StoreError) as refused, hold_lock(lock, "the next", patience_s=0.05):
            pass
        os.kill(holder, 9)
        together.wait()
        assert str(refused.value) == (
            f"ralph-001: in use by process {holder} (a long check); wait for it to end and try again"
        )

    @pytest.mark.parametrize("inside", [b"", b"{", b"[]", b"{}", b"\xff"], ids=repr)
    def test_names_another_process_where_the_holder_did_not_say(self, lock, inside, together):
        lock.parent.mkdir()
        with hold_lock(lock, "a holder of this process"):
            lock.write_bytes(inside)
            with pytest.raises(StoreError, match="in use by another process; wait"), hold_lock(lock, "x", patience_s=0):
                pass

    def test_is_no_link_to_elsewhere(self, lock):
        lock.parent.mkdir()
        lock.symlink_to(lock.with_name("elsewhere"))
        with pytest.raises(StoreError, match="nothing was changed"), hold_lock(lock, "x"):
            pass
        assert not lock.with_name("elsewhere").exists()

    def test_fails_in_one_line_where_the_disk_refuses(self, lock, cut_short):
        def hold():
            with hold_lock(lock, "x"):
                pass

        for at in range(2, cut_short(lock.parent, hold, kill=False).points + 1):
            assert isinstance(cut_short(lock.parent, hold, at, kill=False).error, StoreError), at


def _hold_for(lock, seconds: float) -> None:
    with hold_lock(lock, "a long check"):
        time.sleep(seconds)
