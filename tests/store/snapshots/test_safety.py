"""What belongs to the user stays as it is, and nothing that they or an agent have set runs or changes a byte."""

import shutil
from pathlib import Path

import pytest

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.snapshots.store import SnapshotStore

from .projects import Project, look, names


def every_operation(project: Project, place: Path) -> None:
    store = project.make_store()
    first = store.snapshot(number=0)
    project.write("a.txt", "two\n")
    project.write("new.txt")
    project.remove("src/b.py")
    second = store.snapshot(number=1)
    store.changes(first.tree, second.tree)
    store.read(second.tree, "a.txt")
    store.export(second.commit, place)
    undo = store.restore(first.commit)
    store.restore(f"refs/safety/{undo}")
    store.verify(second.commit)
    store.pack()
    assert store.verify(second.commit) == ()


def test_index_head_refs_stash_and_settings_stay_byte_for_byte(project: Project, tmp_path: Path) -> None:
    project.write("a.txt", "stashed\n")
    project.git("stash")
    project.write("staged.txt")
    project.write("a.txt", "staged\n")
    project.git("add", "-A")
    project.write("a.txt", "not staged\n")
    project.git("tag", "v1")
    before = project.users_own()
    every_operation(project, tmp_path / "out")
    assert project.users_own() == before
    assert "staged.txt" in project.git("diff", "--cached", "--name-only")


def test_a_rebase_in_progress_goes_on_afterwards(project: Project) -> None:
    project.git("checkout", "-q", "-b", "side")
    project.write("a.txt", "side\n")
    project.commit()
    project.git("checkout", "-q", "main")
    project.write("a.txt", "main\n")
    project.commit()
    project.git("rebase", "side", check=False)
    before = project.users_own()
    store = project.make_store()
    first = store.snapshot()
    project.write("src/b.py", "changed\n")
    store.restore(first.commit)
    assert project.users_own() == before
    project.write("a.txt", "both\n")
    project.git("add", "a.txt")
    project.git("-c", "core.editor=true", "rebase", "--continue")


def test_no_filter_hook_or_monitor_runs(project: Project, tmp_path: Path, home: Path) -> None:
    ran = tmp_path / "ran"
    program = project.write("../program", f"#!/bin/sh\necho $0 $* >> {ran}\ncat\n", 0o755).resolve()
    project.write(".gitattributes", "* filter=evil diff=evil merge=evil text=auto\n*.txt ident\n")
    for scope in ("--local", "--global"):
        for key in (
            "filter.evil.clean",
            "filter.evil.smudge",
            "filter.evil.process",
            "diff.evil.textconv",
            "core.fsmonitor",
        ):
            project.git("config", scope, key, str(program))
        project.git("config", scope, "filter.evil.required", "true")
        project.git("config", scope, "core.hooksPath", str(program.parent / "hooks"))
        project.git("config", scope, "core.autocrlf", "true")
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "pre-commit"):
        project.write(f"../hooks/{hook}", f"#!/bin/sh\necho {hook} >> {ran}\n", 0o755)
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/attributes").write_text("* filter=evil\n")
    before = project.users_own()
    every_operation(project, tmp_path / "out")
    assert not ran.exists()
    assert project.users_own() == before
    assert look(tmp_path / "out") == project.look()


def test_variables_of_a_surrounding_git_command_do_not_matter(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
    ):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.bare")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "nonsense")
    store = project.make_store()
    first = store.snapshot(number=0)
    project.write("a.txt", "two\n")
    store.restore(first.commit)
    assert (project.root / "a.txt").read_text() == "one\n"
    assert not (tmp_path / "elsewhere").exists()


def test_the_store_survives_what_the_user_does_to_the_history(project: Project, tmp_path: Path) -> None:
    store = project.make_store()
    first = store.snapshot(number=0)
    before = project.look()
    project.git("checkout", "-q", "--orphan", "other")
    project.git("commit", "-q", "--allow-empty", "-m", "rewritten")
    project.git("branch", "-D", "main")
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "-q", "--prune=now")
    assert store.verify(first.commit) == ()
    shutil.rmtree(project.root / ".git")
    for name in names(project.root):
        if name != ".aiwg":
            project.remove(name)
    store.restore(first.commit)
    assert project.look() == before


def test_a_sparse_checkout_keeps_what_is_checked_out(project: Project) -> None:
    project.git("sparse-checkout", "set", "--no-cone", "/a.txt", "/.gitignore")
    store = project.make_store()
    before = project.look()
    first = store.snapshot()
    assert {item.path for item in store.changes(None, first.tree)} == {"a.txt", ".gitignore"}
    project.write("a.txt", "two\n")
    store.restore(first.commit)
    assert project.look() == before
    assert project.git("status", "--porcelain") == "?? .aiwg/\n"


def test_a_large_file_pointer_is_kept_as_it_stands(project: Project, tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"
    project.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    project.write("model.bin", pointer)
    project.commit()
    store = project.make_store()
    assert store.read(store.snapshot().tree, "model.bin") == pointer.encode()
    project.write("model.bin", b"\x00" * 12345)
    assert len(store.read(store.snapshot().tree, "model.bin")) == 12345


def test_a_second_create_changes_nothing(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot(number=0)
    store.create()
    assert store.find(0).tree == first.tree


def test_without_a_store_the_next_step_is_named(project: Project) -> None:
    store = SnapshotStore(project.folder, project.root)
    for call in (
        store.snapshot,
        lambda: store.find(0),
        lambda: store.verify("0" * 40),
        lambda: store.restore("0" * 40),
    ):
        with pytest.raises(NoSnapshotError, match="pre-loop"):
            call()


def test_without_git_files_are_kept_and_a_branch_says_what_is_missing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(".env", "tracked\n")
    project.commit()
    assert project.make_store().note is None
    project.remove(".aiwg")
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr("git.cmd.Git.GIT_PYTHON_GIT_EXECUTABLE", str(tmp_path / "bin/git"))
    store = project.make_store()
    first = store.snapshot()
    assert "could not be read (git was not found" in (store.note or "")
    assert store.read(first.tree, "a.txt") == b"one\n"
    assert ".env" not in store.paths(first.tree)
    with pytest.raises(StoreError, match="install git"):
        store.branch(first.commit, "new")
    monkeypatch.setenv("GIT_SOMETHING", "1")
    with pytest.raises(StoreError, match="install git"):
        store.branch(first.commit, "new")
