"""Whose file is it: other repositories, what is ignored since, what agents and we ourselves write is not the loop's."""

from pathlib import Path

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots.exclusions import AGENT_STATE, EXCLUDED, NESTED, REPOSITORY, WRITTEN
from ralph_tracker.store.snapshots.gitignore_rules import with_rules
from ralph_tracker.store.snapshots.snapshot_types import Snapshot

from .projects import Project, changed


def named(kept: Snapshot, reason: str) -> list[str]:
    """Return the paths that are listed with a reason."""
    return [skip.path for skip in kept.skipped if skip.reason == reason]


def other_repository(place: Path, *, commit: bool = True) -> Project:
    made = Project(place)
    made.init()
    made.write("inside.py", "a day of work\n")
    made.write("deep/inside.py")
    if commit:
        made.commit()
    return made


def a_clone(project: Project) -> None:
    other_repository(project.root.parent / "other")
    project.git("clone", "-q", str(project.root.parent / "other"), "new/deep/there")


def a_worktree(project: Project) -> None:
    project.git("worktree", "add", "-q", "new/deep/there")


def a_submodule(project: Project) -> None:
    other_repository(project.root.parent / "other")
    project.git("submodule", "--quiet", "add", str(project.root.parent / "other"), "new/deep/there")


def a_repository_without_commits(project: Project) -> None:
    other_repository(project.root / "new/deep/there", commit=False)


OTHERS = [a_clone, a_worktree, a_submodule, a_repository_without_commits]


@pytest.mark.parametrize("when", ["before the baseline", "after it"])
@pytest.mark.parametrize("make", OTHERS, ids=lambda make: make.__name__)
def test_the_files_of_another_repository_are_neither_kept_nor_touched(make, when: str, project: Project) -> None:
    if when == "before the baseline":
        make(project)
    store = project.make_store()
    first = store.snapshot()
    if when == "after it":
        make(project)
    project.write("new/deep/there/today.py", "not committed\n")
    project.write("new/deep/there/inner/.git", "gitdir: /nowhere\n")
    project.write("a.txt", "two\n")
    second = store.snapshot()
    assert not [path for path in store.paths(second.tree) if path.startswith("new/deep/there")]
    assert named(second, REPOSITORY) == ["new/deep/there/"]
    there = {path: facts for path, facts in project.look().items() if path.startswith("new/deep/there")}
    undo = store.restore(first.commit)
    assert {path: facts for path, facts in project.look().items() if path.startswith("new/deep/there")} == there
    assert (project.root / "a.txt").read_text() == "one\n"
    project.write("new/deep/there/today.py", "more\n")
    store.restore(f"refs/safety/{undo}")
    assert (project.root / "new/deep/there/today.py").read_text() == "more\n"
    assert (project.root / "a.txt").read_text() == "two\n"


def test_a_repository_made_around_files_of_the_loop_takes_none_of_them_away(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.git("init", "-q", at=project.root / "src")
    project.write("src/new.py")
    project.write("src/b.py", "print(3)\n")
    second = store.snapshot()
    assert changed(store, first, second) == ("src/b.py", "src/new.py")
    assert named(second, NESTED) == ["src/.git"]
    store.restore(first.commit)
    assert (project.root / "src/.git/HEAD").is_file()
    assert (project.root / "src/b.py").read_text() == "print(1)\n"


def test_without_git_around_it_a_repository_is_another_s_if_it_was_cloned(bare_project: Project) -> None:
    bare_project.write("main.py")
    store = bare_project.make_store()
    first = store.snapshot()
    other_repository(bare_project.root / "app")  # as generators of projects do
    bare_project.git("clone", "-q", str(bare_project.root / "app"), "cloned")
    second = store.snapshot()
    assert changed(store, first, second) == ("app/deep/inside.py", "app/inside.py")
    assert named(second, REPOSITORY) == ["cloned/"]


def test_nothing_is_restored_into_another_repository(project: Project) -> None:
    store = project.make_store()
    project.write("lib/inside.py", "of the loop\n")
    first = store.snapshot()
    project.remove("lib")
    store.snapshot()
    other_repository(project.root / "lib")
    with pytest.raises(StoreError, match=r"^lib is a repository of its own now, nothing was changed: move it away"):
        store.restore(first.commit)
    assert (project.root / "lib/inside.py").read_text() == "a day of work\n"


def test_what_is_ignored_since_stays_through_every_restore(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write(".gitignore", "*.log\nbuild/\ndata/\n/src/*.tmp\n")
    project.write("data/deep/r.jsonl", "result\n")
    project.write("src/x.tmp", "result\n")
    project.write("src/new.py")
    second = store.snapshot()
    assert changed(store, first, second) == (".gitignore", "src/new.py")
    assert second.left_alone == ()
    for _ in range(2):  # the second time by the rules of before, which do not name it
        store.restore(first.commit)
        assert "data/" not in (project.root / ".gitignore").read_text()
        assert (project.root / "data/deep/r.jsonl").read_text() == "result\n"
        assert (project.root / "src/x.tmp").exists()
        assert not (project.root / "src/new.py").exists()
        assert store.snapshot().tree == first.tree


def test_what_was_kept_and_is_ignored_since_is_neither_deleted_nor_overwritten(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write("data/r.jsonl", "one\n")
    second = store.snapshot()
    project.write("data/r.jsonl", "two\n")
    project.write("b.txt", "new\n")
    project.write(".gitignore", "*.log\nbuild/\ndata/\n*.txt\n")
    third = store.snapshot()
    assert changed(store, second, third) == (".gitignore", "data/r.jsonl")
    assert third.left_alone == ("data/r.jsonl",)
    assert store.snapshot().left_alone == ()
    project.write("data/r.jsonl", "three\n")
    for goal in (second.commit, first.commit, third.commit):
        store.restore(goal)
        assert (project.root / "data/r.jsonl").read_text() == "three\n"
        assert (project.root / "b.txt").read_text() == "new\n"
    assert (project.root / "a.txt").read_text() == "one\n"


def test_what_git_tracks_and_what_decides_about_tests_is_the_loop_s_whatever_is_ignored(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write(".gitignore", "*\n")
    project.write("src/b.py", "print(3)\n")
    project.write("conftest.py")
    project.write("notes.txt")
    second = store.snapshot()
    assert changed(store, first, second) == (".gitignore", "conftest.py", "src/b.py")
    store.restore(first.commit)
    assert (project.root / "src/b.py").read_text() == "print(1)\n"
    assert not (project.root / "conftest.py").exists()
    assert (project.root / "notes.txt").exists()


def test_rules_of_this_copy_of_the_repository_count_in_a_restore(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write("mine/notes.txt")
    second = store.snapshot()
    (project.root / ".git/info/exclude").write_text("/mine/\n")
    assert store.deletions(first.commit) == ()
    store.restore(first.commit)
    assert (project.root / "mine/notes.txt").exists()
    assert "mine/notes.txt" in store.paths(second.tree)


def test_a_folder_that_ignores_itself_leaves_no_trace(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write("tool/.gitignore", "*\n")
    project.write("tool/cache.bin")
    assert store.snapshot().tree == first.tree
    assert project.store().snapshot().tree == first.tree
    store.restore(first.commit)
    assert (project.root / "tool/cache.bin").exists()


OF_AGENTS = [
    ".claude/settings.json",
    ".claude/.ralph-tracker-installed.json",
    ".claude/worktrees/one/file.txt",
    ".gemini/settings.json",
    ".opencode/plugin/ralph-tracker.js",
    ".ralph/.call_count",
    ".ralph/logs/today/one.txt",
    ".specstory/history/one.md",
    ".exit_signals",
]
OF_THE_LOOP = [".claude/commands/one.md", ".ralph/fix_plan.md", "src/settings.json", "src/.exit_signals", "CLAUDE.md"]


@pytest.mark.parametrize("when", ["committed", "new"])
def test_what_agents_keep_for_themselves_is_not_the_loop_s(when: str, project: Project) -> None:
    if when == "new":
        store = project.make_store()
        first = store.snapshot()
    for path in (*OF_AGENTS, *OF_THE_LOOP):
        project.write(path, "first\n")
    if when == "committed":
        project.commit()
        store = project.make_store()
        first = store.snapshot()
    second = store.snapshot()
    assert set(store.paths(second.tree)).isdisjoint(OF_AGENTS)
    assert set(OF_THE_LOOP) <= set(store.paths(second.tree))
    assert len(named(second, AGENT_STATE)) == len(OF_AGENTS)
    for path in OF_AGENTS:
        project.write(path, "later\n")
    project.write("a.txt", "two\n")
    store.restore(first.commit)
    assert {(project.root / path).read_text() for path in OF_AGENTS} == {"later\n"}
    store.branch(second.commit, "kept")
    on_branch = set(project.git("ls-tree", "-r", "--name-only", "kept").split())
    assert (set(OF_AGENTS) <= on_branch) is (when == "committed")


def test_what_the_configuration_leaves_out_is_not_the_loop_s(project: Project) -> None:
    store = project.store()
    store.create(exclude=["live", "state/*"])
    first = store.snapshot()
    project.write("src/live")
    project.write("state/counter", "1\n")
    second = store.snapshot()
    assert second.tree == first.tree
    assert named(second, EXCLUDED) == ["src/live", "state/counter"]
    store.restore(first.commit)
    assert (project.root / "state/counter").exists()


def test_what_we_wrote_on_the_user_s_word_is_neither_kept_nor_touched(project: Project) -> None:
    project.write("old.html", "of an earlier loop\n")
    store = project.make_store()
    first = store.snapshot()
    project.write("out/r.html", "a page\n")
    project.write("old.html", "a page\n")
    for path in ("out/r.html", "old.html", "out/r.html"):
        store.leave_alone(path)
    second = store.snapshot()
    assert changed(store, first, second) == ("old.html",)
    assert named(second, WRITTEN) == ["out/r.html"]
    store.restore(first.commit)
    assert {(project.root / path).read_text() for path in ("out/r.html", "old.html")} == {"a page\n"}


def test_deletions_are_those_that_a_restore_makes(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write("src/new.py")
    project.write("x.log")
    before = project.look()
    assert store.deletions(first.commit) == ("src/new.py",)
    assert project.look() == before
    store.restore(first.commit)
    assert before.keys() - project.look().keys() == {"src/new.py"}


# name: the known lists, the new one, what is known then
LISTS = {
    "the same": ([b"/a\n"], b"/a\n", [b"/a\n"]),
    "fewer": ([b"/a\n/b\n"], b"/b\n", [b"/a\n/b\n"]),
    "more": ([b"/a\n"], b"/a\n/b\n", [b"/a\n", b"/a\n/b\n"]),
    "one that covers an earlier one": ([b"/a\n", b"/b\n"], b"/b\n/c\n", [b"/a\n", b"/b\n/c\n"]),
    "an exception less": ([b"/a\n!/a/b\n"], b"/a\n", [b"/a\n!/a/b\n", b"/a\n"]),
    "an exception more": ([b"/a\n", b"/b\n"], b"/b\n!/b/c\n", [b"/a\n", b"/b\n", b"/b\n!/b/c\n"]),
}


@pytest.mark.parametrize("case", LISTS)
def test_rules_are_added_only_where_they_ignore_more(case: str) -> None:
    known, new, then = LISTS[case]
    assert list(with_rules(known, new)) == then


def test_an_agent_that_always_rewrites_the_rules_makes_no_endless_list() -> None:
    known = (b"/frozen\n",)
    for number in range(200):
        known = with_rules(known, b"/x%d\n" % number)
    assert known[0] == b"/frozen\n"
    assert known[-1] == b"/x199\n"
    assert len(known) < 60
