"""Where a test stands, as far as its id tells."""

import pytest

from ralph_tracker.iteration.open_problems import SIZE_CAP, source_line_of

PYTHON = "import os\n\n\nclass TestBox:\n    async def test_lid(self):\n        pass\n\n\ndef test_two():\n    pass\n"


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "project"
    for path, text in {
        "tests/test_box.py": PYTHON,
        "pkg/box_test.go": "package box\n\nfunc TestLid(t *testing.T) {\n}\n",
        "src/lib.rs": "#[test]\n    fn lid_fits() {}\n",
        "tests/big.py": "x = 1\n" * (SIZE_CAP // 6 + 1) + "def test_big():\n    pass\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (tmp_path / "outside.py").write_text("def test_x(): pass\n")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    return root


# id: a test's id → its place
PLACES = {
    "path": ("tests/test_box.py::test_two", ("tests/test_box.py", 9)),
    "path and class": ("tests/test_box.py::TestBox::test_lid", ("tests/test_box.py", 5)),
    "module": ("tests.test_box::test_two", ("tests/test_box.py", 9)),
    "module and class": ("tests.test_box.TestBox::test_lid", ("tests/test_box.py", 5)),
    "parameters": ("tests.test_box::test_two[a.b::c]", ("tests/test_box.py", None)),
    "simple parameters": ("tests.test_box::test_two[1-2]", ("tests/test_box.py", 9)),
    "suite before the file": ("suite::tests/test_box.py::test_two", ("tests/test_box.py", 9)),
    "not defined there": ("tests.test_box::test_gone", ("tests/test_box.py", None)),
    "a part of a longer name": ("tests.test_box::test_tw", ("tests/test_box.py", None)),
    "go": ("pkg/box_test.go::TestLid", ("pkg/box_test.go", 3)),
    "rust": ("src/lib.rs::lid_fits", ("src/lib.rs", 2)),
    "too large to search": ("tests.big::test_big", ("tests/big.py", None)),
    "file alone": ("tests/test_box.py", ("tests/test_box.py", None)),
    "no such file": ("tests.other::test_x", None),
    "a folder": ("tests::test_two", None),
    "outside": ("../outside.py::test_x", None),
    "absolute": ("/etc/passwd::x", None),
    "through a link": ("link.py::test_x", None),
    "no name of a file": ("a\0b::test_x", None),
    "too long for a file": (f"{'a' * 5000}::test_x", None),
    "empty": ("", None),
}


@pytest.mark.parametrize("case", PLACES)
def test_the_place_of_a_test(tree, case):
    test, place = PLACES[case]
    assert source_line_of(tree, test) == place


def test_a_file_that_cannot_be_read_is_named_without_a_line(tree, as_user):
    (tree / "tests/test_box.py").chmod(0)
    assert as_user(lambda: source_line_of(tree, "tests.test_box::test_two")) == ("tests/test_box.py", None)
