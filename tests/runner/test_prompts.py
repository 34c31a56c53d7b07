"""What an agent is told: the user's prompt, then what was measured, then what became of runs before."""

import pytest

from ralph_tracker.errors import InputError
from ralph_tracker.runner.run import prompt_of, user_prompt


def test_the_users_prompt_comes_first():
    assert prompt_of("Make it work.\n\n", "Iteration 1: forward", 2, ()) == (
        "Make it work.\n\nWhat ralph-tracker measured before this iteration, the number 2:\nIteration 1: forward\n"
    )


def test_without_one_the_finding_stands_alone():
    assert prompt_of("", "found", 1, ()).startswith("What ralph-tracker measured")


def test_the_latest_run_before_is_told():
    told = prompt_of("", "found", 3, ("agent: crashed (exit 1)", "agent: hung"))
    assert told.endswith(
        "The run before this one in the same iteration: agent: hung. What it left in the files is still there.\n"
    )
    assert "crashed" not in told


def test_a_prompt_file_is_read_from_the_root_and_none_is_empty(tmp_path):
    (tmp_path / "P.md").write_text("dö\n", encoding="utf-8")
    assert user_prompt("P.md", tmp_path) == "dö\n"
    assert user_prompt(str(tmp_path / "P.md"), tmp_path / "elsewhere") == "dö\n"
    assert user_prompt(None, tmp_path) == ""


@pytest.mark.parametrize(
    ("content", "words"), [(None, "P.md: No such file or directory; name"), (b"a\xff", r"P.md: not UTF-8 \(byte 1\)")]
)
def test_one_that_cannot_be_read_is_named(tmp_path, content, words):
    if content is not None:
        (tmp_path / "P.md").write_bytes(content)
    with pytest.raises(InputError, match=words):
        user_prompt("P.md", tmp_path)
