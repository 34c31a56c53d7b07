"""What is kept and what is not: frozen ignore rules, the filter with its reasons, limits."""

import os
import random
import socket
from pathlib import Path

import pytest

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.snapshots.exclusions import (
    OWN_FOLDER,
    PRIVATE_KEY_REASON,
    SECRET_REASON,
    TOOL_CACHE,
    UNREADABLE,
    UNSTORABLE,
    untracked_reason,
)
from ralph_tracker.store.snapshots.snapshot_types import SnapshotLimits
from ralph_tracker.store.snapshots.store import SnapshotStore

from .projects import Project, changed, look


def store_at(folder: Path, root: Path) -> SnapshotStore:
    return SnapshotStore(folder, root)


def kept(store: SnapshotStore, tree: str, place: Path) -> set[str]:
    store.export(tree, place)
    return set(look(place, ()))


def test_ignored_files_are_not_kept_and_not_touched(project: Project, tmp_path: Path) -> None:
    project.write("x.log", "mine")
    project.write("build/out", "mine")
    store = project.make_store()
    first = store.snapshot()
    project.write("x.log", "still mine")
    project.write("a.txt", "two\n")
    store.restore(first.commit)
    assert "x.log" not in kept(store, first.tree, tmp_path / "out")
    assert (project.root / "x.log").read_text() == "still mine"
    assert (project.root / "build/out").read_text() == "mine"


def test_rules_are_frozen_when_the_store_is_made(project: Project, tmp_path: Path) -> None:
    store = project.make_store()
    project.write(".gitignore", "*\n")
    project.write("src/.gitignore", "*.py\n")
    project.write("new.txt")
    project.write("new.log")
    project.store().create()
    assert kept(store, store.snapshot().tree, tmp_path / "out") >= {
        "new.txt",
        "src/b.py",
        ".gitignore",
        "src/.gitignore",
    }
    assert "new.log" not in look(tmp_path / "out")


def test_the_users_own_rules_count_too(project: Project, home: Path) -> None:
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.swp\n/src/*.tmp\n")
    project.write(".git/info/exclude", "private/\n")
    for path in ("x.swp", "src/y.tmp", "private/z", "kept.tmp"):
        project.write(path)
    store = project.make_store()
    tracked = project.git("ls-files", "-z").split("\0")[:-1]
    assert set(store.paths(store.snapshot().tree)) == {*tracked, "kept.tmp"}


def test_a_named_rules_file_takes_the_place_of_the_default(project: Project, home: Path) -> None:
    (home / "rules").write_text("*.swp\n")
    project.git("config", "--global", "core.excludesFile", "~/rules")
    project.write("x.swp")
    store = project.make_store()
    with pytest.raises(NoSnapshotError):
        store.read(store.snapshot().tree, "x.swp")


def test_without_git_the_rules_in_the_tree_count_and_are_frozen_too(bare_project: Project, tmp_path: Path) -> None:
    bare_project.write(".gitignore", "*.log\n/build/\n")
    bare_project.write("sub/.gitignore", "!kept.log\n")
    for path in ("a.txt", "x.log", "build/out", "sub/build/out", "sub/kept.log", ".venv/bin/python", "node_modules/m"):
        bare_project.write(path)
    store = bare_project.make_store()
    expected = {".gitignore", "sub/.gitignore", "a.txt", "sub/build/out", "sub/kept.log"}
    assert kept(store, store.snapshot().tree, tmp_path / "one") == expected
    bare_project.write(".gitignore", "a.txt\n")
    assert kept(store, store.snapshot().tree, tmp_path / "two") == expected


def test_a_root_that_its_repository_ignores_is_taken_as_without_git(project: Project) -> None:
    inner = Project(project.root / "build" / "sandbox", project.root)
    inner.write("a.log")
    inner.write("a.tmp")
    inner.write(".gitignore", "*.tmp\n")
    store = inner.make_store()
    tree = store.snapshot().tree
    assert store.read(tree, "a.log") == b"text\n"
    with pytest.raises(NoSnapshotError):
        store.read(tree, "a.tmp")


def test_what_is_tracked_stays_in_scope_though_a_rule_ignores_it(project: Project) -> None:
    project.write("build/keep.txt", "one\n")
    project.write("lib/keep.log", "one\n")
    project.git("add", "-f", "build/keep.txt", "lib/keep.log")
    project.commit()
    store = project.make_store()
    first = store.snapshot()
    project.remove("build")
    project.remove("lib")
    assert store.snapshot().tree != first.tree
    for path in ("build/keep.txt", "lib/keep.log", "build/other.txt", "lib/other.log"):
        project.write(path, "one\n")
    assert store.snapshot().tree == first.tree


PIECES = ["a", "b", "x.o", "*.o", "a*", "?", "[ab]", "[!a]", "\\a", "**", "a/", "sub"]


def random_rules(rng: random.Random) -> str:
    lines = []
    for _ in range(rng.randint(1, 4)):
        line = "/".join(rng.choice(PIECES).rstrip("/") for _ in range(rng.randint(1, 3)))
        lines.append(
            rng.choice(["", "", "", "!"]) + rng.choice(["", "", "/"]) + line + rng.choice(["", "", "/", " ", "\r"])
        )
    return "\n".join([*lines, rng.choice(["", "# comment", "\\#x", "!"]), ""])


@pytest.mark.parametrize("seed", range(12))
def test_frozen_rules_mean_what_git_means(seed: int, tmp_path: Path, home: Path) -> None:
    """The oracle is git itself with the rules where they stand."""
    rng = random.Random(seed)
    project = Project(tmp_path / "project")
    project.init()
    folders = ["", "a/", "b/", "a/b/", "sub/", "sub/a/", "sub/a/b/", "sub/b/", "sub/[ab]/", "sub/a*/"]
    for folder in folders:
        for name in ("a.o", "x.o", "#x", "c"):
            project.write(folder + name)
    for folder in rng.sample(folders, 4):
        project.write(folder + ".gitignore", random_rules(rng))
    project.write(".git/info/exclude", random_rules(rng))
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("\ufeff" + random_rules(rng))
    for root in (project.root, project.root / "sub"):
        wanted = project.git("ls-files", "-z", "-o", "--exclude-standard", at=root).split("\0")[:-1]
        if not wanted:
            continue  # the root itself is ignored: taken as without git, which another test looks at
        inner = Project(root, project.root)
        store = inner.make_store()
        out = tmp_path / f"out-{root.name}"
        found = kept(store, store.snapshot().tree, out)
        assert sorted(path for path in wanted if not path.startswith(".aiwg")) == sorted(found)
        inner.remove(".aiwg")


@pytest.mark.parametrize("seed", range(6))
def test_rules_without_git_mean_what_git_means(seed: int, bare_project: Project, tmp_path: Path) -> None:
    """The oracle is a repository with the same files, made for a moment."""
    rng = random.Random(f"without git {seed}")
    folders = ["", "a/", "b/", "a/b/", "sub/", "sub/[ab]/"]
    for folder in folders:
        for name in ("a.o", "x.o", "#x", "c"):
            bare_project.write(folder + name)
    for folder in rng.sample(folders, 3):
        bare_project.write(folder + ".gitignore", random_rules(rng))
    bare_project.init()
    wanted = bare_project.git("ls-files", "-z", "-o", "--exclude-standard").split("\0")[:-1]
    bare_project.remove(".git")
    store = bare_project.make_store()
    assert sorted(wanted) == sorted(kept(store, store.snapshot().tree, tmp_path / "out"))


def test_every_skip_has_its_reason(project: Project, tmp_path: Path) -> None:
    project.write("big.bin", b"x" * 2000)
    project.write("a.txt", b"y" * 2000)
    for path in (".env", "conf/.env.local", "conf/.env.example", "key.pem", "home/id_rsa", "home/id_rsa.pub"):
        project.write(path)
    for path in (
        "__pycache__/x.pyc",
        "src/__pycache__/b.pyc",
        "htmlcov/index.html",
        "new/node_modules/m/i.js",
        "new/i.js",
        ".coverage",
        ".coveragerc",
    ):
        project.write(path)
    for path in ("odd/.GIT/config", "odd/x"):
        project.write(path)
    project.write("as large as may be", b"x" * 1000)
    project.link("odd/.gitmodules", "x")
    os.mkfifo(project.root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(project.root)
        listener.bind("sock")
        os.chdir(here)
        store = project.make_store(SnapshotLimits(max_file_bytes=1000))
        snapshot = store.snapshot()
    over = "2000 bytes, over the limit of 1000"
    assert dict(snapshot.skipped) == {
        ".aiwg/": OWN_FOLDER,
        ".coverage": TOOL_CACHE,
        ".env": SECRET_REASON,
        "__pycache__/": TOOL_CACHE,
        "a.txt": over,
        "big.bin": over,
        "conf/.env.local": SECRET_REASON,
        "home/id_rsa": SECRET_REASON,
        "htmlcov/": TOOL_CACHE,
        "key.pem": SECRET_REASON,
        "new/node_modules/": TOOL_CACHE,
        "odd/.GIT/": UNSTORABLE,
        "odd/.gitmodules": UNSTORABLE,
        "pipe": "a named pipe",
        "sock": "a socket",
        "src/__pycache__/": TOOL_CACHE,
    }
    found = kept(store, snapshot.commit, tmp_path / "out")
    assert found >= {"conf/.env.example", "home/id_rsa.pub", "new/i.js", ".coveragerc", "odd/x"}
    assert not found & {"big.bin", "a.txt", "pipe", "sock", ".env"}
    assert store.snapshot().skipped == snapshot.skipped
    assert not snapshot.empty_directories


SECRET_NAMES = (
    *(
        ".env",
        ".env.local",
        "prod.env",
        ".envrc",
        "server.PEM",
        "a/server.key",
        "AuthKey.p8",
        "vault.kdbx",
        "id_ed25519",
    ),
    *(".npmrc", ".pypirc", ".netrc", ".git-credentials", ".htpasswd", ".aws/credentials", "home/.docker/config.json"),
    *(".kube/config", "credentials.json", "service-account-dev.json", "terraform.tfstate", "config/master.key"),
    *(".cargo/credentials.toml", ".bash_history", "secrets.yaml"),
)
OPEN_NAMES = (
    *(".env.example", "server.key.sample", "id_rsa.pub", "credentials", "config.json", "config", "environment.py"),
    *("keys.py", "tokenizer.json", "secrets.py", "docker/config.json", "monkey.txt"),
)


def test_names_of_credentials_are_known_and_others_are_not_taken_for_them() -> None:
    assert [name for name in SECRET_NAMES if untracked_reason(name) != SECRET_REASON] == []
    assert [name for name in OPEN_NAMES if untracked_reason(name) is not None] == []


KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n"


def test_a_private_key_of_any_name_is_left_out_and_nothing_of_it_is_stored(project: Project) -> None:
    project.write("tracked", KEY)
    project.commit()
    project.write("notes.txt", KEY)
    project.write("old", f"\n{KEY}".replace("OPENSSH", "RSA"))
    project.write("public", KEY.replace("PRIVATE", "PUBLIC"))
    project.write("text.md", f"It begins so:\n{KEY}")
    project.write("grown")
    store = project.make_store()
    first = store.snapshot()
    project.write("grown", KEY)  # was kept before
    second = store.snapshot()
    skipped = {path: reason for path, reason in second.skipped if reason == PRIVATE_KEY_REASON}
    assert skipped == {"notes.txt": PRIVATE_KEY_REASON, "old": PRIVATE_KEY_REASON}
    assert {*first.skipped} == {*second.skipped}
    assert {"tracked", "public", "text.md", "grown"} <= {*store.paths(second.tree)}
    assert not {"notes.txt", "old"} & {*store.paths(second.tree)}
    project.write("notes.txt", "no key any more\n")
    assert store.read(store.snapshot().tree, "notes.txt") == b"no key any more\n"


def test_a_key_is_left_out_where_git_cannot_be_asked(bare_project: Project) -> None:
    bare_project.write("notes.txt", KEY)
    bare_project.write("a")
    store = bare_project.make_store()
    snapshot = store.snapshot()
    assert ("notes.txt", PRIVATE_KEY_REASON) in snapshot.skipped
    assert store.paths(snapshot.tree) == ("a",)
    assert not any(KEY.encode() in file.read_bytes() for file in bare_project.folder.rglob("*") if file.is_file())


def test_what_the_configuration_includes_is_kept(project: Project, tmp_path: Path) -> None:
    for path in (".env.test", ".env", "certs/a.pem", "other/a.pem"):
        project.write(path)
    project.write("certs/deep/key", KEY)
    store = project.store()
    store.create([".env.test", "certs/*"])
    snapshot = store.snapshot()
    assert {*store.paths(snapshot.tree)} >= {".env.test", "certs/a.pem", "certs/deep/key"}
    assert dict(snapshot.skipped) == {".aiwg/": OWN_FOLDER, ".env": SECRET_REASON, "other/a.pem": SECRET_REASON}
    assert store.read_only_copy(tmp_path / "copy").snapshot().tree == snapshot.tree


def test_what_is_tracked_is_no_secret_and_no_cache(project: Project, tmp_path: Path) -> None:
    for path in (".env", "vendor/node_modules/m.js", ".coverage"):
        project.write(path, "one\n")
    project.commit()
    store = project.make_store()
    for path in (".env", "vendor/node_modules/m.js", ".coverage", "vendor/node_modules/new.js"):
        project.write(path, "two\n")
    snapshot = store.snapshot()
    assert dict(snapshot.skipped) == {".aiwg/": OWN_FOLDER}
    assert kept(store, snapshot.tree, tmp_path / "out") >= {".env", "vendor/node_modules/new.js", ".coverage"}


def test_skipped_files_stay_where_they_are(project: Project) -> None:
    store = project.make_store(SnapshotLimits(max_file_bytes=1000))
    first = store.snapshot()
    project.write("a.txt", "two\n")
    project.write("big.bin", b"x" * 2000)
    project.write(".env", "mine")
    os.mkfifo(project.root / "pipe")
    second = store.snapshot()
    undo = store.restore(first.commit)
    assert {"big.bin", ".env"} <= set(project.look())
    project.write("big.bin", b"small now")
    store.restore(second.commit)
    assert (project.root / "big.bin").read_bytes() == b"small now"
    store.restore(f"refs/safety/{undo}")
    assert (project.root / "big.bin").read_bytes() == b"small now"
    assert (project.root / "pipe").is_fifo()


def test_a_tracked_file_that_becomes_special_leaves_the_tree(project: Project) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.remove("a.txt")
    os.mkfifo(project.root / "a.txt")
    second = store.snapshot()
    assert changed(store, first, second) == ("a.txt",)
    assert ("a.txt", "a named pipe") in second.skipped


def test_a_link_in_place_of_our_own_folder_is_not_kept(project: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    project.link(".aiwg", str(tmp_path / "elsewhere"))
    store = project.make_store()
    snapshot = store.snapshot()
    assert dict(snapshot.skipped) == {".aiwg": OWN_FOLDER}
    assert list(store.paths(snapshot.tree)) == project.git("ls-files", "-z").split("\0")[:-1]


def test_an_unreadable_file_is_skipped(project: Project, as_user) -> None:
    project.write("locked", mode=0o000)
    store = project.make_store()
    assert ("locked", UNREADABLE) in as_user(lambda: store.snapshot().skipped)


def test_our_own_folder_is_not_kept_even_where_it_is_tracked(project: Project) -> None:
    project.write(".aiwg/notes.md")
    project.write("packages/one/.aiwg/notes.md")
    project.commit()
    store = project.make_store()
    snapshot = store.snapshot()
    assert [item.path for item in store.changes(None, snapshot.tree) if ".aiwg" in item.path] == []
    project.remove("packages")
    store.restore(snapshot.commit)
    assert (project.root / ".aiwg/notes.md").exists()


def test_too_many_files_are_refused_with_the_limit_named(project: Project) -> None:
    store = project.make_store(SnapshotLimits(max_files=10))
    store.snapshot()
    for number in range(4):
        project.write(f"more/{number}")
    store.snapshot()
    project.write("more/4")
    with pytest.raises(StoreError, match=r"holds 11 files to keep, over the limit of 10: ignore"):
        store.snapshot()


def test_home_and_what_is_above_it_are_refused(home: Path, tmp_path: Path) -> None:
    for root, why in ((home, "your home folder"), (tmp_path, "above your home"), (Path("/"), "above your home")):
        with pytest.raises(StoreError, match=why):
            store_at(tmp_path / "store", root).create()
    (tmp_path / "link").symlink_to(home)
    with pytest.raises(StoreError, match="your home folder"):
        store_at(tmp_path / "store", tmp_path / "link").create()


def test_a_store_inside_what_it_keeps_is_refused(project: Project) -> None:
    with pytest.raises(StoreError, match="lies inside the tree"):
        store_at(project.root / "store", project.root).create()


def test_a_root_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is no folder"):
        store_at(tmp_path / "store", tmp_path / "missing").create()
