"""The state file of the ralph-wiggum plugin, as it writes it and as people leave it behind."""

import pytest

from ralph_tracker.agents.hosts.claude_code import WIGGUM, driver

WRITTEN = """\
---
active: true
iteration: 3
max_iterations: 20
completion_promise: "DONE"
started_at: "2026-01-01T00:00:00Z"
---

iteration: 9
"""


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (WRITTEN, 3),
        (WRITTEN.replace("\n", "\r\n"), 3),
        (WRITTEN.replace("active: true\n", ""), 3),
        (WRITTEN.replace("active: true", "active: false"), "nobody"),
        (WRITTEN.replace("iteration: 3\n", "iteration: x\n"), None),
        (WRITTEN.replace("active: true", "session_id: 5e55"), 3),
        (WRITTEN.replace("active: true", "session_id: other"), "nobody"),
        ("", None),
        ("no front matter\n", None),
    ],
    ids=["written", "DOS", "no word", "off", "damaged", "this session", "another session", "empty", "text"],
)
def test_the_state_is_read(tmp_path, text, at):
    (tmp_path / WIGGUM).parent.mkdir()
    (tmp_path / WIGGUM).write_bytes(text.encode())
    expected = None if at == "nobody" else {"driven_by": "ralph-wiggum", "driven_at": at}
    assert driver(tmp_path, "5e55") == expected


def test_without_the_file_nobody_else_drives(tmp_path):
    assert driver(tmp_path, "5e55") is None
