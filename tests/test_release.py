"""What `make suite NAME=release` takes from the changelog."""

import importlib.util
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parent.parent / "tools"


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", TOOLS / "release.py")
    sys.path.insert(0, str(TOOLS))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(str(TOOLS))
    return module


def test_the_notes_are_the_section_of_the_version(release):
    text = "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-01-02\n\n### Added\n\n- two\n\n"
    text += "## 0.1.0 - 2026-01-01\n\n- one\n"
    assert release.notes_of(text, "0.2.0") == "### Added\n\n- two\n"
    assert release.notes_of(text, "0.1.0") == "- one\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("## Unreleased\n\n- more\n\n## 0.2.0 - 2026-01-02\n\n- two\n", "move what stands under Unreleased"),
        ("## Unreleased\n\n## 0.1.0 - 2026-01-01\n\n- one\n", "no section `## 0.2.0"),
        ("## Unreleased\n\n## 0.2.0\n\n- two\n", "no section `## 0.2.0"),
        ("## Unreleased\n\n## 0.2.0 - 2026-01-02\n", "no section `## 0.2.0"),
    ],
    ids=["something is unreleased", "no section", "no date", "nothing in it"],
)
def test_a_changelog_that_is_not_ready_says_what_to_do(release, text, why):
    with pytest.raises(ValueError, match=why):
        release.notes_of(text, "0.2.0")
