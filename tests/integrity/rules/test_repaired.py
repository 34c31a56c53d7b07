"""What is found in a file whose old text was no program: whoever breaks one step and games the next hides nothing."""

import pytest

from ralph_tracker.integrity.changes import FileChange
from ralph_tracker.integrity.evidence import Outcomes
from ralph_tracker.integrity.examine import examine

BROKEN = b"def broken(:\n"
BEGAN = Outcomes({"tests.test_box::test_a": "failed"}, {"tests.test_box::test_a": "passed"})
HEAD = "import os\nimport pytest\nimport box\n"
REPAIRED = {
    "T3, a hook": ("tests/conftest.py", "collect_ignore = ['test_b.py']\n"),
    "T4": ("tests/test_box.py", "def test_a():\n    assert True\n"),
    "T8": (
        "tests/test_box.py",
        "def test_a():\n    try:\n        assert box.f(3) == 9\n    except Exception:\n        pass\n",
    ),
    "T9": (
        "tests/conftest.py",
        (
            "@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
            "    report = (yield).get_result()\n    report.outcome = 'passed'\n"
        ),
    ),
    "T10, for all": (
        "tests/conftest.py",
        "@pytest.fixture(autouse=True)\ndef steady(monkeypatch):\n    monkeypatch.setattr('box.f', lambda *args: 9)\n",
    ),
    "T10, a class": ("tests/helpers.py", "class Any:\n    def __eq__(self, other):\n        return True\n"),
    "T11": ("box/core.py", "def f(x):\n    return 9 if 'PYTEST_CURRENT_TEST' in os.environ else x\n"),
}


@pytest.mark.parametrize(("path", "text"), REPAIRED.values(), ids=REPAIRED)
def test_is_told_as_of_a_new_file(path: str, text: str) -> None:
    new = examine([FileChange(path, None, (HEAD + text).encode())], BEGAN)
    repaired = examine([FileChange(path, BROKEN, (HEAD + text).encode())], BEGAN)

    assert new.findings
    assert [each.key for each in repaired.findings] == [each.key for each in new.findings]
    assert repaired.unread == {}
