"""Which loop is meant, and what is said where that cannot be known."""

import pytest

from ralph_tracker.errors import InputError, LoopError, StoreError
from ralph_tracker.store.find import checked_root, current_loop, find_loop
from ralph_tracker.store.layout import ProjectPaths


class TestLoopThatIsMeant:
    @pytest.mark.parametrize(
        ("loop_id", "environment", "expected"),
        [
            ("named", {"RALPH_LOOP_ID": "environment"}, "named"),
            (None, {"RALPH_LOOP_ID": "environment"}, "environment"),
            (None, {"RALPH_LOOP_ID": ""}, "current_"),
            (None, {}, "current_"),
        ],
        ids=["as named", "else by the environment", "an empty variable names none", "else the current one"],
    )
    def test_is_the_first_that_somebody_names(self, driven, metrics, loop_id, environment, expected):
        for name in ("named", "environment", "current_"):
            driven.named(name).pre_loop(metrics(), new=True)
        assert find_loop(driven.root, loop_id, environment).loop_id == expected

    def test_is_none_before_pre_loop(self, driven):
        with pytest.raises(LoopError, match=r"^no loop in .*; run `ralph-tracker hook pre-loop` first$"):
            find_loop(driven.root, None, {})

    def test_has_to_be_in_the_project(self, driven):
        driven.start()
        with pytest.raises(LoopError, match=r"^loop other: not in .*; name one of these: ralph-001$"):
            find_loop(driven.root, "other", {})

    def test_is_looked_for_above_so_that_a_folder_of_the_project_is_told_of_it(self, driven):
        driven.start()
        inside = driven.root / "tests"
        inside.mkdir(exist_ok=True)
        with pytest.raises(
            LoopError, match=rf"; there is one in {driven.root}: go there, or use --root {driven.root}$"
        ):
            find_loop(inside, None, {})

    def test_has_to_have_a_safe_id(self, driven):
        with pytest.raises(InputError, match="use 1 to 64"):
            find_loop(driven.root, "../elsewhere", {})

    @pytest.mark.parametrize("text", ["", "ralph", "\xff", "../x\n"], ids=["empty", "cut", "garbage", "unsafe"])
    def test_is_to_be_named_where_the_file_of_the_current_one_is_damaged(self, driven, text):
        driven.start()
        ProjectPaths(driven.root).current.write_text(text, encoding="latin-1")
        with pytest.raises(LoopError, match=r"^no current loop in .*; name one with --loop-id: ralph-001$"):
            find_loop(driven.root, None, {})

    def test_cannot_be_known_where_the_system_refuses(self, driven):
        current = ProjectPaths(driven.root).current
        current.parent.mkdir(parents=True)
        current.symlink_to(current)
        with pytest.raises(StoreError, match="cannot be read"):
            current_loop(ProjectPaths(driven.root))

    def test_needs_a_folder_as_root(self, driven):
        with pytest.raises(StoreError, match=r"not a folder; --root takes the project's folder"):
            checked_root(driven.root / "missing")
