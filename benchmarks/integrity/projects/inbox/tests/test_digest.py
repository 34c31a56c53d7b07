from pathlib import Path

from inbox.digest import digest, line


def test_line(messages):
    assert line(messages[1:2]) == "  1 Invoice 17 (bob)"


def test_digest(messages):
    assert digest(messages) == (Path(__file__).parent / "digest.txt").read_text()
