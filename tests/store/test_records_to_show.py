"""RecordHistory as documents, from whichever copy is whole."""

import pytest

from ralph_tracker.store.layout import record_name
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.records_to_show import RecordHistory


@pytest.fixture
def loop(prepared, tmp_path):
    return prepared("two", lambda loop: (loop.start(), loop.turn(lint_errors=1)), tmp_path / "project")


@pytest.fixture
def records(loop):
    return RecordHistory(SealedRecords(loop.paths))


def damage(path, data: bytes | None) -> None:
    path.unlink()
    if data is not None:
        path.write_bytes(data)


class TestOurRecord:
    def test_is_listed_without_a_word_where_all_is_whole(self, records):
        listed = list(records.all())
        assert [(record.number, record.problem) for record in listed] == [(0, None), (1, None)]
        assert listed[1].document["iteration_metrics"]["quality"]["lint_errors"] == 1

    @pytest.mark.parametrize(
        ("data", "state"),
        [(None, "is missing"), (b"changed: by hand\n", "is damaged (it differs from its seal)"), (b"", "is damaged")],
        ids=["deleted", "changed", "emptied"],
    )
    def test_is_shown_from_its_copy_and_the_damage_named(self, loop, records, data, state):
        damage(loop.paths.record(1), data)
        listed = records.one(1)
        assert listed.problem.startswith(f"iteration 1: progress/iteration-001-metrics.yaml {state}")
        assert listed.problem.endswith("; shown from iterations/, still whole")
        assert listed.document["iteration_metrics"]["iteration"] == 1

    def test_is_whole_where_the_writer_ended_between_two_looks(self, loop):
        """The first look is before the writer has put the readable copy in place, the next one after it has ended."""

        class Early(RecordHistory):
            looked = False

            def _bytes(self, number, name):
                if name == record_name(1) and not self.looked:
                    self.looked = True
                    return None
                return super()._bytes(number, name)

        assert Early(SealedRecords(loop.paths)).one(1).problem is None

    @pytest.mark.parametrize("data", [None, b"{", b"{}", b"[]", b"[" * 10**5], ids=["gone", "cut", "{}", "[]", "deep"])
    def test_is_read_from_its_yaml_where_the_copy_is_damaged(self, loop, records, data):
        before = records.one(1)
        damage(loop.paths.iteration(1) / "metrics.json", data)
        assert records.one(1) == before

    @pytest.mark.parametrize("data", [None, b"", b"[]", b'{"schema_version": 1}', b'{"files": 7}'], ids=str)
    def test_is_shown_where_both_copies_agree_without_a_seal(self, loop, records, data):
        before = records.one(1)
        damage(loop.paths.iteration(1) / "seal.json", data)
        assert records.one(1).document == before.document
        assert records.one(1).problem == "iteration 1: its seal is damaged; both copies of its record agree"

    @pytest.mark.parametrize("data", [b"iteration_metrics: {iteration: 1}\n", b"a: [", b"", None], ids=str)
    def test_is_not_shown_where_they_do_not_agree_without_a_seal(self, loop, records, data):
        damage(loop.paths.iteration(1) / "seal.json", None)
        damage(loop.paths.record(1), data)
        assert records.one(1).document is None

    @pytest.mark.parametrize("data", [None, b"\xff", b"a: [", b"- 1"], ids=["gone", "no text", "no yaml", "a list"])
    def test_is_not_shown_where_both_copies_are_damaged(self, loop, records, data):
        damage(loop.paths.record(1), data)
        damage(loop.paths.iteration(1) / "metrics.json", b"{")
        assert records.one(1).document is None
        assert (
            records.one(1).problem
            == "iteration 1: both copies of its record are damaged; other iterations are not affected"
        )

    def test_is_not_called_missing_while_it_is_being_written(self, loop, records):
        loop.paths.record(1).unlink()
        loop.paths.attempt.write_bytes(b'{"iteration":1}')
        assert records.one(1).problem is None

    def test_that_people_read_is_good_although_a_folder_stands_for_the_copy(self, loop, records):
        before = records.one(1)
        (loop.paths.iteration(1) / "metrics.json").unlink()
        (loop.paths.iteration(1) / "metrics.json").mkdir()
        assert records.one(1) == before
