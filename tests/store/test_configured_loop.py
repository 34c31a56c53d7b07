"""A loop opened with its frozen configuration: damage to that is said in one line."""

import json
from datetime import UTC, datetime

import pytest
import yaml

from ralph_tracker.config.load import changed_keys
from ralph_tracker.errors import RecordError, StoreError
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.write import LoopStore


@pytest.fixture
def loop(driven):
    (driven.root / "ralph-tracker.yaml").write_text("loop: {max_iterations: 3}\n")
    driven.start()
    return driven


def opened(loop) -> ConfiguredLoop:
    return ConfiguredLoop.read(LoopStore(loop.paths), lambda _: frozenset())


class TestOpenLoop:
    def test_holds_what_was_frozen(self, loop):
        read = opened(loop)
        assert read.config.thresholds.loop.max_iterations == 3
        assert read.started == datetime(2026, 2, 2, 10, 0, tzinfo=UTC)
        assert (read.origin, read.configured) == ("given", frozenset())

    def test_names_what_differs_now(self, loop):
        read = opened(loop)
        assert changed_keys(loop.root, read.config) == ()
        (loop.root / "ralph-tracker.yaml").write_text("loop: {max_iterations: 9}\n")
        assert changed_keys(loop.root, read.config) == ("loop.max_iterations",)

    def test_of_which_nothing_can_be_read_now_is_not_taken_for_lost(self, loop, cut_short):
        refused = cut_short(loop.root, lambda: opened(loop), at=1, kill=False).error
        assert isinstance(refused, StoreError)
        assert str(refused).endswith("loop.yaml: cannot be read (No space left on device); fix that and try again")

    def test_that_has_lost_its_document_is_refused(self, loop):
        loop.paths.loop_file.unlink()
        with pytest.raises(RecordError, match=r"loop\.yaml: missing; copy it back from a backup"):
            opened(loop)

    def test_makes_the_state_again_where_it_is_damaged(self, loop):
        loop.turn(tests={"a": "passed"})
        read = opened(loop)
        before = read.state(read.store.summary())
        amended = loop.paths.amendments_file(1)
        amended.parent.mkdir()
        amended.write_text("{}")
        assert read.state(read.store.summary()) == before
        assert json.loads(amended.read_bytes())["iteration"] == 1

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda document: document.pop("configuration"), "damaged"),
            (lambda document: document.pop("configuration_digest"), "damaged"),
            (lambda document: document.pop("created_at"), "damaged"),
            (lambda document: document.pop("environment"), "damaged"),
            (lambda document: document.update(created_at="yesterday"), "damaged"),
            (lambda document: document.update(created_at=7), "damaged"),
            (lambda document: document["configuration"].update(loop=7), "found 7"),
            (lambda document: document["configuration"].update(unknown=7), "unknown"),
        ],
        ids=["no configuration", "no digest", "no start", "cut short", "no date", "a number", "a wrong value", "a key"],
    )
    def test_is_refused_where_its_document_is_damaged(self, loop, change, words):
        document = yaml.safe_load(loop.paths.loop_file.read_text())
        change(document)
        loop.paths.loop_file.write_text(yaml.safe_dump(document))
        with pytest.raises(RecordError, match=r"^\.aiwg/ralph/ralph-001/loop\.yaml: .*; copy it back") as told:
            opened(loop)
        assert words in str(told.value)
        assert "\n" not in str(told.value)

    def test_reads_a_document_that_carries_no_mark_of_its_validity(self, loop):
        document = yaml.safe_load(loop.paths.loop_file.read_text())
        del document["configuration_validated"]
        before = opened(loop).config
        loop.paths.loop_file.write_text(yaml.safe_dump(document))
        assert opened(loop).config == before

    def test_takes_a_start_without_a_zone_as_it_can(self, loop):
        document = yaml.safe_load(loop.paths.loop_file.read_text())
        loop.paths.loop_file.write_text(yaml.safe_dump(document | {"created_at": "2026-02-02T10:00:00"}))
        assert opened(loop).started.tzinfo is UTC

    @pytest.mark.parametrize("data", [b"", b"- 1", b"a: [", b"\xff\xfe", None], ids=["", "[]", "no yaml", "x", "gone"])
    def test_is_refused_where_nothing_can_be_read(self, loop, data):
        loop.paths.loop_file.unlink() if data is None else loop.paths.loop_file.write_bytes(data)
        with pytest.raises(
            RecordError, match="copy it back from a backup, or start anew with `ralph-tracker hook pre-loop --new`"
        ):
            opened(loop)
