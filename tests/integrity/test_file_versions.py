"""Of a change, the lines that are new: what only moved or was indented is not."""

import pytest

from ralph_tracker.integrity.file_versions import ChangedFile, added_lines

# id: old and new text of each file, the numbers of its new lines
CHANGES = {
    "a line between others": ({"a.py": ("x\ny\n", "x\nnew\ny\n")}, {"a.py": {2}}),
    "a line indented": ({"a.py": ("x\n", "if y:\n    x\n")}, {"a.py": {1}}),
    "a line that is there twice now": ({"a.py": ("x\n", "x\nx\n")}, {"a.py": {2}}),
    "a line moved to another file": ({"a.py": ("x\ny\n", "x\n"), "b.py": ("", "y\nz\n")}, {"b.py": {2}}),
    "a file without any": ({"a.py": ("x\n\n", "x\n")}, {}),
}


@pytest.mark.parametrize("case", CHANGES)
def test_new_lines_are_those_that_were_nowhere_before(case):
    files, expected = CHANGES[case]
    assert added_lines(ChangedFile(path, *texts) for path, texts in files.items()) == expected
