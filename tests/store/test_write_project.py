"""Which loop is the current one, and where a new one begins."""

import pytest

from ralph_tracker.errors import LoopError
from ralph_tracker.store.write import Project


@pytest.fixture
def project(driven):
    return Project(driven.root)


class TestCurrentLoop:
    def test_is_none_at_first(self, project):
        assert project.current_loop_id() is None

    def test_is_the_one_that_was_set(self, project):
        project.set_current("one")
        assert project.current_loop_id() == "one"
        assert project.paths.current.read_text() == "one\n"


class TestNextId:
    def test_is_the_first_of_an_empty_project(self, project):
        assert (project.last_id(), project.new_loop_store(None).paths.loop_id) == (None, "ralph-001")

    @pytest.mark.parametrize(
        ("there", "following"),
        [
            (["ralph-001"], "ralph-002"),
            (["ralph-009", "ralph-002"], "ralph-010"),
            (["ralph-999"], "ralph-1000"),
            (["mine", "ralph-x"], "ralph-001"),
        ],
        ids=["the second", "after the highest", "four digits", "names of people do not count"],
    )
    def test_follows_the_highest(self, project, driven, metrics, there, following):
        for loop_id in there:
            driven.named(loop_id).pre_loop(metrics(), new=True)
        assert project.new_loop_store(None).paths.loop_id == following

    def test_passes_over_a_loop_that_aiwg_wrote(self, project):
        records = project.paths.loop("ralph-001").progress
        records.mkdir(parents=True)
        (records / "iteration-001-metrics.json").write_text("{}")
        assert project.new_loop_store(None).paths.loop_id == "ralph-002"

    def test_takes_a_folder_that_never_came_to_its_baseline(self, project):
        project.paths.loop("ralph-001").iterations.mkdir(parents=True)
        assert project.new_loop_store(None).paths.loop_id == "ralph-001"


class TestUnused:
    def test_is_the_next_or_the_named_one(self, project):
        assert project.new_loop_store(None).paths.loop_id == "ralph-001"
        assert project.new_loop_store("mine").paths.loop_id == "mine"

    def test_is_refused_where_it_is_taken(self, project, driven):
        driven.start()
        with pytest.raises(LoopError, match="loop ralph-001 exists already; choose another id, or leave it out"):
            project.new_loop_store("ralph-001")


class TestClear:
    def test_removes_what_killed_calls_left_and_nothing_else(self, project):
        project.set_current("one")
        (project.paths.base / ".tmp-1").touch()
        project.clear()
        assert "one\n" in [path.read_text() for path in project.paths.base.iterdir()]
        assert not (project.paths.base / ".tmp-1").exists()

    def test_has_nothing_to_do_before_the_first_loop(self, project):
        project.clear()
        assert not project.paths.base.exists()
