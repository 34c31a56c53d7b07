"""Which commits of a range are taken, and what is said where there are none."""

import pytest

from ralph_tracker.errors import InputError
from ralph_tracker.replay.commits import Choice, History


@pytest.fixture
def history(branch):
    """Return the history with a merged side branch on top."""
    branch.git("checkout", "-q", "-b", "side", "v0")
    branch.step("Aside", {"docs/a.md": "1\n"})
    branch.git("checkout", "-q", "main")
    branch.git("merge", "-q", "--no-ff", "-m", "Merge", "side")
    return History.around(branch.root)


@pytest.mark.parametrize(
    ("revisions", "choice", "expected"),
    [
        ("v0..HEAD", Choice(), "Begin Add two Lose most Break Mend Aside Merge"),
        ("v0..", Choice(first_parent=True), "Begin Add two Lose most Break Mend Merge"),
        ("v0..HEAD~1", Choice(every=2), "Begin Lose most Mend"),
        ("v0..HEAD~1", Choice(every=9), "Begin Mend"),
        ("v0..", Choice(touching="docs/**"), "Begin Aside"),
        ("v0..", Choice(touching="*.sh"), "Begin Break Mend"),
        ("HEAD~1..side", Choice(), "Begin Aside"),
    ],
)
def test_the_base_and_the_chosen_commits_oldest_first(history, revisions, choice, expected):
    commits = history.commits(revisions, choice)
    subjects = [commit.subject for commit in commits]
    if "Aside" in subjects and "Merge" in subjects:  # a side branch stands anywhere before its merge
        subjects.remove("Aside")
        subjects.insert(-1, "Aside")
    assert " ".join(subjects) == expected


@pytest.mark.parametrize(
    ("revisions", "choice", "said"),
    [
        ("HEAD", Choice(), "HEAD: no range of commits; write FROM..TO"),
        ("a...b", Choice(), "no range of commits"),
        ("..HEAD", Choice(), "no range of commits"),
        ("HEAD..HEAD", Choice(), "HEAD..HEAD: no commit; name the base first"),
        ("v0..", Choice(touching="*.rs"), r"no commit that changes \*.rs; write a path from"),
        ("v9..HEAD", Choice(), "v9: git knows no such commit here"),
        ("--all..HEAD", Choice(), "--all: git knows no such commit here"),
        ("v0..lone", Choice(), "the two have no common commit"),
    ],
)
def test_a_range_without_commits_is_refused_in_one_line(history, branch, revisions, choice, said):
    branch.git("checkout", "-q", "--orphan", "lone")
    branch.git("commit", "-q", "-m", "Alone")
    branch.git("checkout", "-q", "-f", "main")
    with pytest.raises(InputError, match=said) as refused:
        history.commits(revisions, choice)
    assert "\n" not in str(refused.value)
