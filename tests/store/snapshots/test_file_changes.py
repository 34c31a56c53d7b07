"""What differs between two kept trees, file by file, with a patch that nothing outside of the store can change."""

import hashlib
import stat

import pytest

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.snapshots.file_changes import PATCH_BYTES, file_changes


@pytest.fixture
def compared(bare_project, tmp_path):
    """Return a function that keeps the tree, edits it, keeps it again and returns what differs, by path."""
    store = bare_project.store()

    def compare(before, edit):
        for path, content in before.items():
            bare_project.write(path, content)
        store.create()
        first = store.snapshot()
        edit(bare_project)
        second = store.snapshot()
        return {change.path: change for change in file_changes(store, first.tree, second.commit)}

    return compare


def edits(*steps):
    def edit(project):
        for step in steps:
            step(project)

    return edit


def write(path, content, mode=0o644):
    return lambda project: project.write(path, content, mode)


def remove(path):
    return lambda project: (project.root / path).unlink()


def told(change):
    return (change.status, change.content, change.added, change.deleted)


def test_a_change_of_text_has_its_patch_and_its_lines_counted(compared):
    (change,) = compared({"a.txt": "one\ntwo\nthree\n"}, write("a.txt", "one\n2\nthree\nfour\n")).values()
    assert told(change) == ("modified", "text", 2, 1)
    assert (change.old_mode, change.new_mode, change.old_path) == ("100644", "100644", None)
    head, _, hunk = change.patch.partition("@@ -1,3 +1,4 @@\n")
    assert head.startswith("diff --git a/a.txt b/a.txt\n")
    assert hunk == " one\n-two\n+2\n three\n+four\n"


def short(content):
    return hashlib.sha256(content.encode()).hexdigest()[:7]


def test_the_head_of_a_patch_is_git_s_with_the_ids_of_the_store(compared):
    one, two = short("one\n"), short("two\n")
    found = compared(
        {"changed": "one\n", "gone": "one\n", "now runs": "one\n"},
        edits(write("changed", "two\n"), remove("gone"), write("new", "two\n"), write("now runs", "two\n", 0o755)),
    )
    assert {path: change.patch.partition("@@")[0].splitlines()[1:] for path, change in found.items()} == {
        "changed": [f"index {one}..{two} 100644", "--- a/changed", "+++ b/changed"],
        "gone": ["deleted file mode 100644", f"index {one}..0000000", "--- a/gone", "+++ /dev/null"],
        "new": ["new file mode 100644", f"index 0000000..{two}", "--- /dev/null", "+++ b/new"],
        "now runs": [
            *("old mode 100644", "new mode 100755", f"index {one}..{two}"),
            *("--- a/now runs\t", "+++ b/now runs\t"),
        ],
    }


LONG = [f"{number}\n" for number in range(1, 101)]


@pytest.mark.parametrize(
    ("after", "hunks"),
    [
        (["0\n", *LONG], ["@@ -1,3 +1,4 @@"]),
        ([*LONG[:49], "new\n", *LONG[50:]], ["@@ -47,7 +47,7 @@"]),
        ([*LONG[:49], *LONG[50:]], ["@@ -47,7 +47,6 @@"]),
        ([*LONG, "101"], ["@@ -98,3 +98,4 @@"]),
        (LONG[:-1], ["@@ -97,4 +97,3 @@"]),
        ([*LONG[:9], "new\n", *LONG[9:89], *LONG[90:]], ["@@ -7,6 +7,7 @@", "@@ -87,7 +88,6 @@"]),
        (LONG[:50] * 2, ["@@ -48,53 +48,53 @@"]),
    ],
    ids=["first line", "in the middle", "a line gone", "end without newline", "last line gone", "two", "half"],
)
def test_a_hunk_names_the_lines_where_it_stands(compared, after, hunks):
    (change,) = compared({"a.txt": "".join(LONG)}, write("a.txt", "".join(after))).values()
    assert [line for line in change.patch.splitlines() if line.startswith("@@")] == hunks


def test_files_stand_in_the_order_of_their_paths_whatever_they_are(compared):
    before = {"b.bin": b"\0\1", "c.txt": "x\n", "d.bin": b"\0\3"}
    found = compared(before, edits(write("a.txt", "new\n"), write("b.bin", b"\0\2"), remove("c.txt"), remove("d.bin")))
    assert {path: told(change) for path, change in found.items()} == {
        "a.txt": ("added", "text", 1, 0),
        "b.bin": ("modified", "binary", None, None),
        "c.txt": ("deleted", "text", 0, 1),
        "d.bin": ("deleted", "binary", None, None),
    }
    assert list(found) == ["a.txt", "b.bin", "c.txt", "d.bin"]
    assert found["b.bin"].patch is None
    assert (found["a.txt"].old_mode, found["c.txt"].new_mode) == (None, None)
    assert "x" in found["c.txt"].patch


@pytest.mark.parametrize(
    ("content", "kind"), [("line\n" * 30, "text"), (b"\0" * 300, "binary")], ids=["text", "binary"]
)
def test_a_file_that_moved_is_renamed(compared, content, kind):
    (change,) = compared({"old": content}, lambda project: (project.root / "old").rename(project.root / "new")).values()
    assert (change.status, change.old_path, change.path, change.content) == ("renamed", "old", "new", kind)


def test_a_file_that_moved_and_changed_is_renamed_with_its_patch(compared):
    lines = [f"line {number}\n" for number in range(30)]
    (change,) = compared({"old": "".join(lines)}, edits(remove("old"), write("new", "".join(lines[1:])))).values()
    assert (change.status, change.old_path, change.added, change.deleted) == ("renamed", "old", 0, 1)
    assert "rename from old\nrename to new\n" in change.patch


def test_empty_files_are_not_taken_for_one_that_moved(compared):
    found = compared({"a": ""}, edits(remove("a"), write("b", "")))
    assert [(path, change.status) for path, change in found.items()] == [("a", "deleted"), ("b", "added")]


def test_the_exec_bit_is_a_change_without_lines(compared):
    (change,) = compared({"run.sh": "x\n"}, lambda project: (project.root / "run.sh").chmod(0o755)).values()
    assert told(change) == ("modified", "text", 0, 0)
    assert (change.old_mode, change.new_mode) == ("100644", "100755")
    assert change.patch == "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"


def test_a_file_that_became_a_link_is_of_another_type(compared):
    found = compared(
        {"f": "text\n", "z": "z\n"},
        edits(remove("f"), lambda project: project.link("f", "elsewhere"), write("z", "y\n")),
    )
    assert told(found["f"]) == ("type_changed", "text", 1, 1)
    assert (found["f"].old_mode, found["f"].new_mode) == ("100644", "120000")
    assert found["f"].patch.count("diff --git a/f b/f\n") == 2
    assert "+elsewhere\n" in found["f"].patch
    assert told(found["z"]) == ("modified", "text", 1, 1)


def test_lines_that_look_like_a_patch_are_content(compared):
    odd = "--- a/x\n+++ b/x\n@@ -1 +1 @@\ndiff --git a/y b/y\n"
    found = compared({"a": "x\n", "b": "x\n"}, edits(write("a", odd), write("b", "y\n")))
    assert told(found["a"]) == ("modified", "text", 4, 1)
    assert told(found["b"]) == ("modified", "text", 1, 1)


@pytest.mark.parametrize(
    "name", ["tab\there", "new\nline", "-x", ":(top)", "ünï", b"byte\xe9".decode("utf-8", "surrogateescape"), 'q"uote']
)
def test_odd_names_are_told_as_they_are_also_beside_a_binary(compared, name):
    found = compared({name: "1\n", "z.bin": b"\0"}, edits(write(name, "2\n"), write("z.bin", b"\0\1")))
    assert set(found) == {name, "z.bin"}
    assert found[name].patch.endswith("@@ -1 +1 @@\n-1\n+2\n")


def test_letters_that_are_not_english_stand_as_they_are_in_a_patch(compared):
    (change,) = compared({"ünï.txt": "é\n"}, write("ünï.txt", "è\n")).values()
    assert change.patch.startswith("diff --git a/ünï.txt b/ünï.txt\n")
    assert change.patch.endswith("-é\n+è\n")


def test_bytes_that_are_no_utf_8_are_told_by_their_numbers(compared):
    (change,) = compared({"latin": b"caf\xe9\n"}, write("latin", b"caf\xe8\n")).values()
    assert change.patch.endswith("-caf\\xe9\n+caf\\xe8\n")


def test_a_file_that_nobody_would_read_has_no_patch(compared):
    (change,) = compared({"big": "x\n"}, write("big", "y\n" * PATCH_BYTES)).values()
    assert (*told(change), change.patch) == ("modified", "large", None, None, None)


def test_what_the_tree_and_the_user_have_set_neither_runs_nor_changes_a_line(compared, bare_project, home, monkeypatch):
    trap = home / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {home}/sprung\n")
    trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
    (home / ".gitconfig").write_text(
        f'[diff]\n\texternal = {trap}\n\tnoprefix = true\n[diff "evil"]\n\tcommand = {trap}\n\ttextconv = {trap}\n'
        f"[color]\n\tui = always\n[core]\n\tpager = {trap}\n"
    )
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    found = compared({".gitattributes": "* diff=evil\n", "a": "1\n"}, write("a", "2\n"))
    assert found["a"].patch.startswith("diff --git a/a b/a\n")
    assert "\x1b" not in found["a"].patch
    assert not (home / "sprung").exists()


def test_many_paths_are_asked_for_in_parts(compared):
    names = [f"{number:04d}{'x' * 200}" for number in range(600)]
    before = dict.fromkeys(names, "1\n") | {"z.bin": b"\0"}
    found = compared(before, edits(*(write(name, "2\n") for name in names), write("z.bin", b"\0\1")))
    assert [change.added for change in found.values()] == [*([1] * len(names)), None]


def test_equal_contents_do_not_differ(compared):
    assert compared({"a": "1\n"}, lambda project: None) == {}


@pytest.mark.parametrize(
    ("content", "said"),
    [("refs/iterations/7", "iteration 7 has no snapshot"), ("HEAD", "HEAD is not the id")],
    ids=["unknown", "HEAD"],
)
def test_what_is_not_kept_is_refused(bare_project, tmp_path, content, said):
    store = bare_project.store()
    bare_project.write("a", "1\n")
    store.create()
    tree = store.snapshot().tree
    with pytest.raises(NoSnapshotError, match=said):
        file_changes(store, tree, content)
    with pytest.raises(NoSnapshotError, match=said):
        file_changes(store, content, tree)


def test_a_damaged_content_is_told(bare_project, tmp_path):
    store = bare_project.store()
    bare_project.write("a", "1\n")
    store.create()
    first = store.snapshot().tree
    bare_project.write("a", "other\n")
    second = store.snapshot().tree
    for path in (bare_project.folder / "objects").rglob("*"):
        if path.is_file() and path.suffix in {".pack", ".idx", ""} and "info" not in path.parts:
            path.chmod(0o644)
            path.write_bytes(b"")
    with pytest.raises((NoSnapshotError, StoreError)):
        file_changes(store, first, second)
