"""A file that does not parse is named with its line, by the language's own program, and nothing of it runs."""

import os
import shutil
from pathlib import Path

import pytest

from ralph_tracker.measure.syntax import parse_errors

ENVIRONMENT = {"PATH": os.environ["PATH"]}


@pytest.mark.parametrize(
    ("name", "text", "line", "program"),
    [
        ("a.py", "x = 1\ndef f(:\n", 2, "python3"),
        ("b.js", "let a = 1;\nlet b = ;\n", 2, "node"),
        ("c.php", "<?php\nfunction (\n", 2, "php"),
        ("d.rb", "def f\n  1 +\nend)\n", 3, "ruby"),
        ("e.sh", "if true\nthen\n", 3, "sh"),
    ],
)
def test_the_first_error_has_its_place(tmp_path, name, text, line, program):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not here")
    (tmp_path / "src").mkdir()
    path = f"src/{name}"
    (tmp_path / path).write_text(text)
    error = parse_errors(tmp_path, [path], ENVIRONMENT)[path]
    assert error.startswith(f"{path}:{line}: ")
    assert "rror" in error or "unexpected" in error
    assert error.count(path) == 1 or name == "c.php"


def test_what_parses_or_cannot_be_asked_about_is_no_error(tmp_path):
    for name, text in {
        "a.py": "open('ran', 'w')\n",
        "m.mjs": "export const a = 1;\n",
        "n.txt": "def f(:",
        "-c.py": "x = 1\n",
        "o.rb": "def (",
    }.items():
        (tmp_path / name).write_text(text)
    environment = {"PATH": os.pathsep.join([str(Path(shutil.which("python3") or "").parent), "/nowhere"])}
    found = parse_errors(tmp_path, [*(path.name for path in tmp_path.iterdir()), "gone.py"], environment)
    assert set(found) <= {"o.rb"}
    assert not (tmp_path / "ran").exists()


def test_bytes_that_are_no_text_are_an_error_of_the_file(tmp_path):
    (tmp_path / "a.py").write_bytes(b"x = '\xff'\n")
    assert "a.py:1" in parse_errors(tmp_path, ["a.py"], ENVIRONMENT)["a.py"]
