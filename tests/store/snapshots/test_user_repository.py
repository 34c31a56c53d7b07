"""The user's repository: its head, and a kept tree on a branch of it, made as they would have committed it."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots.user_repository import (
    changed_since_commit,
    endless_in_tree,
    head_of,
    repository_around,
)
from tests.tables import table

from .projects import Project

# Where git reads: of its own folder, of what its settings name, and behind links.
READ_BY_GIT = (
    *("HEAD", "config", "config.worktree", "commondir", "packed-refs", "index", "shallow"),
    *("refs/heads/main", "logs/HEAD", "info/attributes", "objects/info/alternates", "objects/pack/pack-1.idx"),
    *("attributes", "elsewhere/main", "../included", "../included-there"),
)


def settled(project: Project) -> dict[str, str]:
    """Return what a new branch may not change: everything but objects and the branch itself."""
    return {
        path: digest
        for path, digest in project.users_own().items()
        if not path.startswith(("objects/", "logs/refs/heads/new", "refs/heads/new"))
    }


def test_a_branch_holds_the_kept_files_on_top_of_head(project: Project) -> None:
    store = project.make_store()
    store.snapshot()
    project.write("a.txt", "two\n")
    project.write("new/new\nline.txt")
    project.write("new/run.sh", mode=0o755)
    project.remove("src/b.py")
    project.remove("link")
    project.link("link", "src")
    snapshot = store.snapshot(message="Iteration 3")
    project.write("a.txt", "staged\n")
    project.git("add", "a.txt")
    project.write("a.txt", "later\n")
    head = project.git("rev-parse", "HEAD").strip()
    before, files = settled(project), project.look()
    commit, is_new = store.branch(snapshot.commit, "new/best")
    assert is_new
    assert project.git("rev-parse", "new/best").strip() == commit
    listed = project.git("ls-tree", "-r", "-z", "--name-only", "new/best").split("\0")[:-1]
    assert listed == list(store.paths(snapshot.tree))
    assert all(project.git("show", f"new/best:{path}").encode() == store.read(snapshot.tree, path) for path in listed)
    assert project.git("rev-parse", "new/best^").strip() == head
    assert project.git("log", "-1", "--format=%an %s", "new/best") == "User Iteration 3\n"
    assert settled(project) == before
    assert project.look() == files
    assert project.git("worktree", "list").count("\n") == 1


def test_a_branch_in_a_repository_with_longer_ids(bare_project: Project) -> None:
    project = bare_project
    project.git("init", "-q", "-b", "main", "--object-format=sha256")
    project.write("a.txt", "one\n")
    project.write("b.txt")
    project.commit()
    store = project.make_store()
    project.write("a.txt", "two\n")
    project.remove("b.txt")
    store.branch(store.snapshot().commit, "new")
    assert project.git("show", "new:a.txt") == "two\n"
    assert project.git("ls-tree", "--name-only", "new") == "a.txt\n"


def test_a_branch_that_exists_is_refused(project: Project) -> None:
    store = project.make_store()
    snapshot = store.snapshot()
    before = project.users_own()
    with pytest.raises(StoreError, match="the branch main exists already"):
        store.branch(snapshot.commit, "main")
    assert project.users_own() == before


def test_a_branch_that_an_earlier_call_made_is_known_again_and_left_as_it_is(project: Project) -> None:
    store = project.make_store()
    project.write("new.txt")
    snapshot = store.snapshot(message="Iteration 1")
    made = store.branch(snapshot.commit, "new")
    before = project.users_own()
    assert store.branch(snapshot.commit, "new") == (made.commit, False)
    assert project.users_own() == before
    project.write("new.txt", "another\n")
    for other in (store.snapshot(message="Iteration 1"), store.snapshot(message="Iteration 2")):
        with pytest.raises(StoreError, match="the branch new exists already"):
            store.branch(other.commit, "new")
    project.git("commit", "-q", "--allow-empty", "-m", "HEAD goes on")
    with pytest.raises(StoreError, match="the branch new exists already"):
        store.branch(snapshot.commit, "new")
    assert project.git("rev-parse", "new").strip() == made.commit


@pytest.mark.parametrize("name", ["-x", "a b", "a..b", "@{-1}", "x.lock", "", "new\nline", "/x"])
def test_a_name_that_is_none_is_refused(name: str, project: Project) -> None:
    store = project.make_store()
    snapshot = store.snapshot()
    with pytest.raises(StoreError, match="cannot be the name of a branch"):
        store.branch(snapshot.commit, name)


def test_settings_that_git_cannot_read_are_named_and_no_name_is_blamed(project: Project) -> None:
    store = project.make_store()
    snapshot = store.snapshot()
    with (project.root / ".git/config").open("a") as config:
        config.write("[core\n")
    with pytest.raises(StoreError, match=r"bad config line \d+ in file .*config"):
        store.branch(snapshot.commit, "peak")


def test_a_name_in_the_way_of_another_is_refused(project: Project) -> None:
    store = project.make_store()
    snapshot = store.snapshot()
    with pytest.raises(StoreError, match="update-ref"):
        store.branch(snapshot.commit, "main/below")


def test_the_users_line_endings_and_filters_apply(project: Project) -> None:
    project.git("config", "filter.shout.clean", "tr a-z A-Z")
    project.git("config", "core.autocrlf", "true")
    project.write(".gitattributes", "*.loud filter=shout\n")
    project.commit()
    store = project.make_store()
    project.write("x.loud", "quiet\n")
    project.write("a.txt", "one\r\ntwo\r\n")
    snapshot = store.snapshot()
    assert store.read(snapshot.tree, "x.loud") == b"quiet\n"
    store.branch(snapshot.commit, "new")
    assert project.git("cat-file", "blob", "new:x.loud") == "QUIET\n"
    assert project.git("cat-file", "blob", "new:a.txt") == "one\ntwo\n"


def test_an_unchanged_file_stays_as_head_has_it_whatever_filters_do_now(project: Project) -> None:
    project.write(".gitattributes", "*.loud filter=shout\n")
    project.write("old.loud", "one\n")
    project.commit()
    project.git("config", "filter.shout.clean", "tr a-z A-Z")
    store = project.make_store()
    project.write("new.loud", "two\n")
    store.branch(store.snapshot().commit, "new")
    assert project.git("cat-file", "blob", "new:old.loud") == "one\n"
    assert project.git("cat-file", "blob", "new:new.loud") == "TWO\n"


def test_what_no_snapshot_holds_stays_as_head_has_it(project: Project, tmp_path: Path) -> None:
    other = Project(tmp_path / "other")
    other.init()
    other.write("lib.c")
    other.commit()
    project.git("submodule", "--quiet", "add", str(other.root), "module")
    project.write(".aiwg/notes.md")
    project.write("outside/x.txt")
    project.commit()
    project.git("sparse-checkout", "set", "--no-cone", "/*", "!/outside/")
    store = project.make_store()
    project.write("module/lib.c", "changed\n")
    project.write("a.txt", "two\n")
    snapshot = store.snapshot()
    store.branch(snapshot.commit, "new")
    changed = project.git("diff", "--name-status", "HEAD", "new")
    assert changed == "M\ta.txt\n"


@pytest.mark.parametrize("how", ["on a branch", "packed", "detached"])
def test_a_submodule_is_kept_by_its_commit_and_its_files_are_left_alone(project: Project, tmp_path: Path, how) -> None:
    other = Project(tmp_path / "other")
    other.init()
    other.write("lib.c")
    other.commit()
    project.git("submodule", "--quiet", "add", str(other.root), "libs/module")
    project.commit()
    store, module = project.make_store(), project.root / "libs/module"
    first = store.snapshot()
    before = project.git("rev-parse", "HEAD", at=module).strip()
    project.write("libs/module/lib.c", "changed\n")
    project.git("commit", "--quiet", "--all", "-m", "further", at=module)
    project.git(
        *{"packed": ("pack-refs", "--all"), "detached": ("checkout", "-q", "--detach")}.get(how, ("gc",)), at=module
    )
    after = project.git("rev-parse", "HEAD", at=module).strip()
    second = store.snapshot()
    assert [kept.commits for kept in (first, second)] == [{"libs/module": before}, {"libs/module": after}]
    assert first.tree == second.tree
    store.branch(second.commit, "new")
    assert project.git("rev-parse", "HEAD:libs/module", "new:libs/module").split() == [before, after]
    store.restore(first.commit)
    assert (module / "lib.c").read_text() == "changed\n"
    assert project.git("rev-parse", "HEAD", at=module).strip() == after
    store.branch(first.commit, "old")
    assert project.git("diff", "--name-status", "HEAD", "old") == ""


def test_a_submodule_that_is_staged_is_on_the_branch_and_a_clone_is_not(project: Project, tmp_path: Path) -> None:
    other = Project(tmp_path / "other")
    other.init()
    other.write("lib.c")
    other.commit()
    store = project.make_store()
    project.git("submodule", "--quiet", "add", str(other.root), "module")
    project.git("clone", "-q", str(other.root), "clone")
    store.branch(store.snapshot().commit, "new")
    commit = other.git("rev-parse", "HEAD").strip()
    assert project.git("diff", "--name-status", "HEAD", "new") == "A\t.gitmodules\nA\tmodule\n"
    assert project.git("rev-parse", "new:module").strip() == commit


@pytest.mark.parametrize(
    "head", [b"ref: refs/../../../etc/hostname", b"ref: refs/x\0", b"", b"z" * 40, b"\xff"], ids=repr
)
def test_a_repository_whose_head_cannot_be_read_is_kept_without_a_commit(project: Project, head) -> None:
    project.write("clone/.git/HEAD", "")
    (project.root / "clone/.git/HEAD").write_bytes(head)
    assert project.make_store().snapshot().commits == {}


def test_a_subfolder_changes_only_what_is_below_it(tmp_path: Path) -> None:
    project = Project(tmp_path / "project/packages/one", tmp_path / "project")
    project.init()
    project.write("../../top.txt")
    project.write("inside.txt")
    project.write("gone.txt")
    project.commit()
    store = project.make_store()
    project.write("inside.txt", "changed\n")
    project.write("../../top.txt", "changed\n")
    project.remove("gone.txt")
    store.branch(store.snapshot().commit, "new")
    assert (
        project.git("diff", "--name-status", "HEAD", "new") == "D\tpackages/one/gone.txt\nM\tpackages/one/inside.txt\n"
    )


def test_a_repository_without_commits_gets_a_first_one(bare_project: Project) -> None:
    bare_project.init()
    bare_project.write("a.txt")
    store = bare_project.make_store()
    store.branch(store.snapshot().commit, "new")
    assert bare_project.git("ls-tree", "-r", "--name-only", "new") == "a.txt\n"
    assert bare_project.git("rev-list", "--count", "new") == "1\n"


def test_without_a_name_of_the_user_the_commit_is_ours(project: Project, home: Path) -> None:
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    store = project.make_store()
    store.branch(store.snapshot().commit, "new")
    assert project.git("log", "-1", "--format=%an", "new") == "ralph-tracker\n"


def test_without_git_there_is_no_branch(bare_project: Project) -> None:
    bare_project.write("a.txt")
    store = bare_project.make_store()
    with pytest.raises(StoreError, match="is in no git repository: apply it as output or worktree"):
        store.branch(store.snapshot().commit, "new")


def git_in(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_head_is_found_also_below_the_top(tmp_path):
    git_in(tmp_path, "init", "-q")
    (tmp_path / "sub").mkdir()
    assert head_of(tmp_path) is None
    git_in(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    assert head_of(tmp_path) == head_of(tmp_path / "sub") == git_in(tmp_path, "rev-parse", "HEAD")


def test_without_a_repository_or_without_git_there_is_none(tmp_path, monkeypatch):
    assert head_of(tmp_path) is None
    git_in(tmp_path, "init", "-q")
    git_in(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    monkeypatch.setattr("git.cmd.Git.GIT_PYTHON_GIT_EXECUTABLE", str(tmp_path / "no-git"))
    assert head_of(tmp_path) is None


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in what takes longer."""

    def ended(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ended)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("place", READ_BY_GIT)
def test_a_pipe_where_git_reads_is_named_and_not_waited_for(place: str, project: Project) -> None:
    git = project.root / ".git"
    settings = {
        "../included": "[include]\n\tpath = ../included\n",
        "../included-there": '[includeIf "gitdir:/"] path="../fi\\\nrst"\n',
        "attributes": "[core]\n\tattributesFile = .git/attributes\n",
    }
    with (git / "config").open("a") as config:
        config.write(settings.get(place, ""))
    store = project.make_store()
    kept = store.snapshot()
    if place == "elsewhere/main":
        (git / "elsewhere").mkdir()
        (git / "refs/tags").rmdir()
        (git / "refs/tags").symlink_to("../elsewhere")
    (project.root / "first").write_text("[include]\n\tpath = included-there\n")
    (git / place).unlink(missing_ok=True)
    os.mkfifo(git / place)
    repository = repository_around(project.root)
    assert repository is not None
    with within(90):
        assert (repository.endless or "").endswith(Path(place).name)
        assert head_of(project.root) is None
        assert changed_since_commit(project.root) == ()
        with pytest.raises(
            StoreError,
            match="a pipe, a device or a folder without end, which git would wait for: fix that, then run it",
        ):
            store.branch(kept.commit, "new")
        project.remove(".aiwg")
        assert f"could not be read ({repository.endless}: a pipe," in (project.make_store().note or "")


def test_a_pipe_that_git_reads_where_it_takes_in_a_folder_is_named(project: Project) -> None:
    project.git("init", "-q", "nested")
    os.mkfifo(project.root / ".git/HEAD.pipe")  # that of the tree itself is examined with its repository
    assert endless_in_tree(project.root) is None
    os.mkfifo(project.root / "nested/.git/packed-refs")
    assert endless_in_tree(project.root) == str(project.root / "nested/.git/packed-refs")
    os.mkfifo(project.root / "src/.gitignore")
    (project.root / "nested/.git/packed-refs").unlink()
    assert endless_in_tree(project.root) == str(project.root / "src/.gitignore")


def test_the_empty_device_and_sockets_in_a_git_folder_are_as_good_as_files_and_other_devices_are_not(
    project: Project,
) -> None:
    git = project.root / ".git"
    (git / "info/attributes").symlink_to(os.devnull)
    os.mknod(git / "fsmonitor--daemon.ipc", 0o600 | 0o140000)
    repository = repository_around(project.root)
    assert repository is not None
    assert (repository.trouble(), repository.head()) == (None, project.git("rev-parse", "HEAD").strip())
    (git / "info/attributes").unlink()
    (git / "info/attributes").symlink_to("/dev/zero")
    repository = repository_around(project.root)
    assert repository is not None
    assert repository.endless == str(git / "info/attributes")


def test_a_tracked_file_that_a_pipe_or_a_link_replaced_is_changed_and_not_read(project: Project) -> None:
    for path in ("a.txt", "src/b.py"):
        (project.root / path).unlink()
    os.mkfifo(project.root / "a.txt")
    (project.root / "src/b.py").symlink_to("/dev/zero")
    with within(30):
        assert changed_since_commit(project.root) == ("a.txt", "src/b.py")


@table("common", ["a\0b", "a" * 5000, "a/" * 5000, "\udcff", "/dev/zero", "../nowhere"])
def test_a_shared_folder_that_cannot_be_one_makes_no_repository(common: str, project: Project) -> None:
    (project.root / ".git/commondir").write_text(f"{common}\n", errors="surrogateescape")
    assert repository_around(project.root) is None
    project.make_store()


def test_settings_that_include_each_other_are_not_read_without_end(project: Project) -> None:
    for name in (".git/config", *(f".git/{number}" for number in range(10))):
        with (project.root / name).open("a") as file:
            file.writelines(f"[include]\n\tpath = {number}\n" for number in range(10))
    repository = repository_around(project.root)
    assert repository is not None
    with within(90):
        assert "which git would wait for" in (repository.trouble() or "")
