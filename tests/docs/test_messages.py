"""The table of messages is what is printed: every row is a command that is run, after those above it."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).resolve().parents[2] / "docs" / "messages.md"
ROW = re.compile(r"^\| `(.+?)` \| (.+) \| (\d+) \|$", re.MULTILINE)


def parts():
    """Yield the scripts and rows of the page in their order."""
    text = PAGE.read_text(encoding="utf-8")
    for piece in re.split(r"(?ms)^```shell\n(.*?)^```$", text):
        rows = ROW.findall(piece)
        yield (piece, None) if not rows and not piece.startswith(("#", "\n")) else (None, rows)


def test_every_row_is_what_its_command_prints_in_one_line_with_its_exit_code(place):
    seen, wrong = 0, []
    for script, rows in parts():
        if script is not None:
            assert place.run(script).returncode == 0, script
            continue
        for command, said, code in rows:
            done = place.run(f"ralph-tracker {command}")
            pattern = "ralph-tracker: " + re.escape(said.replace("\\|", "|")).replace("\\…", "…").replace("…", ".*")
            line = done.stdout.partition("\n{\n")[0].rstrip("\n")  # with --json a document follows
            if done.returncode != int(code) or re.fullmatch(pattern, line) is None:
                wrong.append((command, code, said, done.returncode, done.stdout))
            seen += 1
    assert wrong == []
    assert seen == len(ROW.findall(PAGE.read_text(encoding="utf-8"))) > 30


def test_no_message_tells_of_a_bug():
    assert {int(code) for _, _, code in ROW.findall(PAGE.read_text(encoding="utf-8"))} == {1, 2}
