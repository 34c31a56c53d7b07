"""The cache of code counts: only changed files are analysed again, and nothing in it is believed that may be wrong."""

import json
import os
import time
from pathlib import Path

import pytest

from ralph_tracker.measure.tree_metrics import CodeCount, FileCount, count_code

MUCH_LATER_NS = 10**12
DAMAGED = ("the cache of code counts was damaged and is made anew: code.json",)


class Recorder:
    """An analyser that notes its calls; every file has a function of complexity 2 in each of its lines."""

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.calls: list[str] = []

    def reads(self, path: str) -> bool:
        return not path.endswith(".md")

    def analyse(self, path: str, text: str) -> FileCount:
        self.calls.append(path)
        lines = len(text.splitlines())
        return FileCount(lines, lines, 2 * lines)


class Tree:
    """A tree of files that is counted again and again with one cache."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.cache = folder / "kept" / "code.json"
        self.root.mkdir()

    def write(self, path: str, content: str) -> Path:
        file = self.root / path
        file.write_text(content)
        return file

    def count(self, *, tool: str = "recorder 1", later_ns: int = 0, **options) -> tuple[CodeCount, list[str]]:
        """Return the count and which files were analysed for it; `later_ns` is how much older all files seem."""
        recorder = Recorder(tool)
        found = count_code(
            self.root,
            [file.name for file in self.root.iterdir()],
            cache=self.cache,
            analyser=recorder,
            now_ns=lambda: time.time_ns() + later_ns,
            **options,
        )
        return found, recorder.calls

    def analysed(self, **options) -> list[str]:
        return self.count(**options)[1]

    def edit_cache(self, old: str, new: str) -> None:
        text = self.cache.read_text()
        assert old in text
        self.cache.write_text(text.replace(old, new))


@pytest.fixture
def tree(tmp_path) -> Tree:
    tree = Tree(tmp_path)
    tree.write("a.py", "1\n")
    tree.write("b.py", "1\n2\n")
    tree.write("c.md", "text")
    return tree


class TestAgain:
    def test_only_changed_files(self, tree):
        """A second count analyses what has changed, and says the same of the rest."""
        first, calls = tree.count()
        assert (first.loc_total, first.complexity_score, calls) == (3, 2.0, ["a.py", "b.py"])

        assert tree.count() == (first, [])

        tree.write("b.py", "1\n2\n3\n")
        tree.write("d.py", "1\n2\n3\n4\n")
        second, calls = tree.count()
        assert (second.file_count, second.loc_total, calls) == (3, 8, ["b.py", "d.py"])

    def test_change_in_the_same_instant(self, tree):
        """A change that leaves size and time as they were is seen by the content."""
        tree.count()
        file = tree.root / "a.py"
        status = file.stat()
        tree.write("a.py", "9\n")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

        assert tree.analysed() == ["a.py"]

    def test_set_back_time(self, tree):
        """Setting the time back does not hide a change, however old both seem."""
        os.utime(tree.root / "a.py", ns=(0, 0))
        tree.count(later_ns=MUCH_LATER_NS)
        tree.write("a.py", "9\n")
        os.utime(tree.root / "a.py", ns=(0, 0))

        assert tree.analysed(later_ns=MUCH_LATER_NS) == ["a.py"]

    def test_moved_copied_touched(self, tree):
        """The same content at another place, or with another time, is known."""
        tree.count()
        (tree.root / "a.py").rename(tree.root / "moved.py")
        tree.write("copy.py", "1\n2\n")
        os.utime(tree.root / "b.py", ns=(0, 0))

        found, calls = tree.count()

        assert (found.file_count, found.loc_total, calls) == (3, 5, [])

    def test_same_content_in_another_language(self, tree):
        """The count depends on the language, so the same bytes under another suffix are analysed."""
        tree.count()
        tree.write("a.rb", "1\n")

        assert tree.analysed() == ["a.rb"]

    def test_old_file_is_not_even_read(self, tree):
        """A file that was settled when it was counted is known by its times alone."""
        tree.count(later_ns=MUCH_LATER_NS)
        cached = json.loads(tree.cache.read_text())
        cached["files"]["a.py"][0] = "another content"
        cached["files"]["a.py"][2] = 1000
        tree.cache.write_text(json.dumps(cached))

        assert tree.count(later_ns=MUCH_LATER_NS)[0].loc_total == 1002

    def test_fresh_file_is_read(self, tree):
        """A file that has only just been written could change within its time stamp: its content is looked at."""
        tree.count()
        cached = json.loads(tree.cache.read_text())
        cached["files"]["a.py"][0] = "another content"
        cached["files"]["a.py"][2] = 1000
        tree.cache.write_text(json.dumps(cached))

        found, calls = tree.count()

        assert (found.loc_total, calls) == (3, ["a.py"])

    @pytest.mark.parametrize("options", [{"tool": "recorder 2"}, {"size_cap": 1000}])
    def test_other_tool_or_setting(self, tree, options):
        """Another version, or another cap, counts everything anew, and that is nothing to speak of."""
        tree.count()

        found, calls = tree.count(**options)

        assert (found.notes, calls) == ((), ["a.py", "b.py"])
        assert tree.analysed(**options) == []


class TestFile:
    def test_forgets_what_is_gone(self, tree):
        """The cache grows with the tree and not with its history."""
        tree.count()
        (tree.root / "a.py").unlink()
        tree.count()

        assert list(json.loads(tree.cache.read_text())["files"]) == ["b.py"]

    def test_unchanged_is_not_rewritten(self, tree):
        """Where nothing is new the cache stays as it is, and no temporary file is left."""
        tree.count(later_ns=MUCH_LATER_NS)
        before = tree.cache.stat()
        tree.count(later_ns=MUCH_LATER_NS)

        assert tree.cache.stat().st_ino == before.st_ino
        assert [path.name for path in tree.cache.parent.iterdir()] == ["code.json"]

    @pytest.mark.parametrize(
        "content",
        [
            "",
            "{",
            "[]",
            "{}",
            "\xff",
            "[" * 100_000,
            '{"schema_version": 1, "made_by": MADE}',
            '{"schema_version": 1, "made_by": MADE, "files": []}',
            '{"schema_version": 1, "made_by": MADE, "files": {"a.py": null}}',
            '{"schema_version": 1, "made_by": MADE, "files": {"a.py": []}}',
            '{"schema_version": 1, "made_by": MADE, "files": {"a.py": ["", null, "1", 1, 1, null]}}',
            '{"schema_version": 1, "made_by": MADE, "files": {"a.py": ["", null, true, 1, 1, null]}}',
            '{"schema_version": 1, "made_by": MADE, "files": {"a.py": ["", null, 1.5, 1, 1, null]}}',
            '{"schema_version": 1, "made_by": MADE, "files": {"a.py": ["", null, -1, 1, 1, null]}}',
            '{"schema_version": 1, "made_by": MADE, "files": {"a.py": [7, null, 1, 1, 1, null]}}',
            '{"schema_version": 1, "made_by": MADE, "files": {"a.py": ["", null, 1, 1, 1, 7]}}',
            '{"schema_version": 1, "made_by": MADE, "files": {"a.py": ["", [1, 2], 1, 1, 1, null]}}',
            '{"schema_version": 1, "made_by": MADE, "files": {"a.py": ["", 7, 1, 1, 1, null]}}',
        ],
    )
    def test_damaged(self, tree, content):
        """A damaged cache is thrown away with a note, and the next count has a good one."""
        made = json.dumps({"tool": "recorder 1", "size_cap": 1_000_000})
        tree.cache.parent.mkdir()
        tree.cache.write_bytes(content.replace("MADE", made).encode("latin-1"))

        found, calls = tree.count()

        assert (found.loc_total, calls, found.notes) == (3, ["a.py", "b.py"], DAMAGED)
        assert tree.count() == (CodeCount(2, 3, 2.0, "recorder 1"), [])

    def test_damaged_and_no_code(self, tree):
        """It is made anew also where there is nothing to put into it."""
        tree.cache.parent.mkdir()
        tree.cache.touch()

        assert tree.count(include=())[0].notes == DAMAGED
        assert tree.count(include=())[0].notes == ()

    def test_newer_schema(self, tree):
        """A cache of a newer version of ours is not damaged: it is made anew without a word."""
        tree.count()
        tree.edit_cache('"schema_version":1', '"schema_version":2')

        found, calls = tree.count()

        assert (found.notes, calls) == ((), ["a.py", "b.py"])

    def test_cannot_be_written(self, tree):
        """Without a cache the count is as good, and says what that costs."""
        tree.cache.parent.write_text("a file in its place")

        found, _ = tree.count()

        assert found.loc_total == 3
        assert "could not be written (" in found.notes[-1]

    def test_is_a_folder(self, tree):
        """Something else in its place is left alone."""
        tree.cache.mkdir(parents=True)

        found, _ = tree.count()

        assert found.notes[0] == DAMAGED[0]
        assert "could not be written (Is a directory)" in found.notes[1]
        assert [path.name for path in tree.cache.parent.iterdir()] == ["code.json"]
