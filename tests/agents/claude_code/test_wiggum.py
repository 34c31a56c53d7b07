"""The state file of the ralph-wiggum plugin, as it writes it and as people leave it behind."""

import pytest

from ralph_tracker.agents.claude_code.wiggum import STATE, Wiggum, wiggum_loop

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
    ("text", "found"),
    [
        (WRITTEN, Wiggum(3, 20)),
        (WRITTEN.replace("\n", "\r\n"), Wiggum(3, 20)),
        (WRITTEN.replace("active: true\n", ""), Wiggum(3, 20)),
        (WRITTEN.replace("active: true", "active: false"), None),
        (WRITTEN.replace("iteration: 3\n", "iteration: x\n"), Wiggum(None, 20)),
        (WRITTEN.replace("active: true", "session_id: 5e55"), Wiggum(3, 20)),
        (WRITTEN.replace("active: true", "session_id: other"), None),
        ("", Wiggum()),
        ("no front matter\n", Wiggum()),
    ],
    ids=["written", "DOS", "no word", "off", "damaged", "this session", "another session", "empty", "text"],
)
def test_the_state_is_read(tmp_path, text, found):
    (tmp_path / STATE).parent.mkdir()
    (tmp_path / STATE).write_bytes(text.encode())
    assert wiggum_loop(tmp_path, "5e55") == found


def test_without_the_file_nobody_else_drives(tmp_path):
    assert wiggum_loop(tmp_path, "5e55") is None
