"""Counting code: which files, their lines and complexity, and what is said of files that are no use."""

import os
from pathlib import Path

import pytest

from ralph_tracker.measure.tree_metrics import CodeCount, FileCount, LizardAnalyser, count_code

# Verified with lizard 1.24.3 on the command line: 3 lines, one function of complexity 1.
PYTHON = """import os  # used

def plain(a):
    # only a comment

    return a
"""


class Recorder:
    """An analyser that notes its calls: in a .code file `f` is a function, and `+` makes one more complex."""

    def __init__(self, tool: str = "recorder 1") -> None:
        self.tool = tool
        self.calls: list[str] = []
        self.texts: list[str] = []

    def reads(self, path: str) -> bool:
        return path.endswith((".code", ".py"))

    def analyse(self, path: str, text: str) -> FileCount:
        self.calls.append(path)
        self.texts.append(text)
        if "unreadable" in text:
            raise IndexError
        return FileCount(len(text.splitlines()), text.count("f"), text.count("f") + text.count("+"))


class Tree:
    """A tree of files, counted with what is known from the count before."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.paths: list[str] = []

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.paths = sorted({*self.paths, path})
        return file

    def count(self, **options) -> CodeCount:
        return count_code(self.root, self.paths, cache=self.root.parent / "code.json", **options)

    def analysed(self, **options) -> list[str]:
        recorder = Recorder()
        self.count(analyser=recorder, **options)
        return recorder.calls


@pytest.fixture
def tree(tmp_path) -> Tree:
    (tmp_path / "root").mkdir()
    return Tree(tmp_path / "root")


class TestCount:
    def test_two_languages(self, tree):
        """Files and lines add up, complexity is the mean over all functions."""
        tree.write("src/a.py", PYTHON)
        tree.write("web/b.js", "// a comment\nconst double = (x) => x ? x * 2 : 0;\n")
        tree.write("README.md", "no code")

        found = tree.count()

        assert (found.file_count, found.loc_total, found.complexity_score, found.notes) == (2, 4, 1.5, ())
        assert found.tool == LizardAnalyser().tool

    def test_complexity_is_rounded_half_up(self, tree):
        """9 in 8 functions is 1.125, which is 1.13."""
        tree.write("a.code", "ffffffff+")

        assert tree.count(analyser=Recorder()).complexity_score == 1.13

    def test_no_function(self, tree):
        """Without a function there is no complexity; it is not 0."""
        tree.write("a.py", "x = 1\n")

        assert tree.count() == CodeCount(1, 1, None, LizardAnalyser().tool)

    def test_nothing(self, tree):
        """A tree without code is measured: 0 files."""
        assert tree.count() == CodeCount(0, 0, None, LizardAnalyser().tool)

    def test_only_files_of_their_own(self, tree):
        """What is gone, a folder, a pipe or a link counts nothing; a path that is named twice counts once."""
        tree.write("a.py", "x = 1\n")
        (tree.root / "link.py").symlink_to("a.py")
        (tree.root / "folder.py").mkdir()
        os.mkfifo(tree.root / "pipe.py")
        tree.paths += ["a.py", "link.py", "folder.py", "pipe.py", "gone.py", "a.py/below.py"]

        assert (tree.count().file_count, tree.count().loc_total) == (1, 1)

    @pytest.mark.parametrize(
        ("include", "exclude", "expected"),
        [
            (("**",), (), "a.py src/b.py src/lib/c.py vendor/d.py"),
            ((), (), ""),
            (("src/**",), (), "src/b.py src/lib/c.py"),
            (("**",), ("vendor",), "a.py src/b.py src/lib/c.py"),
            (("**",), ("src/", "a.py"), "vendor/d.py"),
            (("src", "vendor"), ("**/c.py",), "src/b.py vendor/d.py"),
            (("*.py", "**/c.*"), (), "a.py src/lib/c.py"),
        ],
    )
    def test_include_and_exclude(self, tree, include, exclude, expected):
        """A file counts if it is included and not excluded."""
        for path in ("a.py", "src/b.py", "src/lib/c.py", "vendor/d.py"):
            tree.write(path, path)

        assert tree.analysed(include=include, exclude=exclude) == expected.split()


class TestText:
    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            (b"a\nb\n", "a\nb\n"),
            (b"a\r\nb\rc", "a\nb\nc"),
            (b"\xef\xbb\xbfa", "a"),
            (b"caf\xe9 \xff", "caf� �"),
            ("aé\n".encode("utf-16"), "aé\n"),
            ("aé\r\n".encode("utf-16-be", "replace").join([b"\xfe\xff", b""]), "aé\n"),
        ],
    )
    def test_decoded(self, tree, content, expected):
        """Any bytes become text, line ends are one, marks of the encoding are gone."""
        tree.write("a.code", content)
        recorder = Recorder()

        tree.count(analyser=recorder)

        assert recorder.texts == [expected]

    def test_not_utf8_is_counted(self, tree):
        """A file in another encoding counts as any other does."""
        tree.write("a.py", "# café\ndef f():\n    return 'é'\n".encode("latin-1"))

        assert tree.count() == CodeCount(1, 2, 1.0, LizardAnalyser().tool)

    def test_line_ends_do_not_matter(self, tree):
        """The same code with other line ends has the same count."""
        tree.write("a.py", PYTHON.replace("\n", "\r\n"))

        assert (tree.count().loc_total, tree.count().complexity_score) == (3, 1.0)


class TestUnfit:
    def test_large(self, tree):
        """A file over the cap counts by its non-blank lines and is named; up to the cap it is analysed."""
        tree.write("large.code", "f\n\n \t\nf\n" + "f" * 20)
        tree.write("small.code", "f" * 10)

        found = tree.count(analyser=Recorder(), size_cap=10)

        assert (found.file_count, found.loc_total, found.complexity_score) == (2, 4, 1.0)
        assert found.notes == ("counted by non-blank lines, larger than 10 bytes: large.code",)

    def test_larger_than_what_is_read_at_once(self, tree):
        """Lines are counted right wherever a piece of a huge file ends."""
        lines = b"x" * 1_048_575 + b"\n\n" + b"y" * 100 + b"\n" + b" " * 1_048_576 + b"z\n \n" + b"w"
        tree.write("huge.code", lines)

        assert tree.count(analyser=Recorder()).loc_total == 4

    def test_long_lines(self, tree):
        """What a bundler has put on few lines is not written by anyone: no function of it counts."""
        tree.write("bundle.code", "f" * 60_000 + "\n\n" + "f\n" * 50)
        tree.write("long.code", "f" * 40_000)

        found = tree.count(analyser=Recorder())

        assert found.loc_total == 52
        assert found.notes == ("counted by non-blank lines, lines of more than 500 characters on average: bundle.code",)

    def test_binary(self, tree):
        """A binary file with the name of source code is no source code."""
        tree.write("a.code", b"\x00f\nf")

        assert tree.count(analyser=Recorder()) == CodeCount(
            1, 2, None, "recorder 1", ("counted by non-blank lines, binary: a.code",)
        )

    def test_unreadable_for_the_analyser(self, tree):
        """Whatever the analyser raises, the file counts, and it is said; several share a note."""
        for number in range(8):
            tree.write(f"{number}.code", f"unreadable\n\n{number}")

        found = tree.count(analyser=Recorder())

        assert (found.file_count, found.loc_total) == (8, 16)
        (note,) = found.notes
        assert note.startswith("counted by non-blank lines, recorder 1 cannot read it (IndexError): 0.code, 1.code, ")
        assert note.endswith(" 4.code and 3 more")

    def test_nested_too_deep_for_lizard(self, tree):
        """Lizard's own surrender (it would print it and return half a count) is one of these."""
        tree.write("a.ts", "a=>{" * 5000 + "\n")

        found = tree.count()

        assert (found.file_count, found.loc_total) == (1, 1)
        assert found.notes == (f"counted by non-blank lines, {found.tool} cannot read it (RecursionError): a.ts",)

    def test_name_that_is_not_utf8(self, tree):
        """A file with such a name counts, is remembered, and its note can be printed."""
        try:
            tree.write(os.fsdecode(b"caf\xe9.code"), "unreadable")
        except OSError:
            pytest.skip("this file system takes UTF-8 names only")
        assert tree.analysed() != []
        assert tree.analysed() == []

        assert tree.count(analyser=Recorder()).notes[0].encode().endswith(rb"caf\udce9.code")

    def test_not_allowed(self, tree, as_user):
        """A file that cannot be opened counts as one of 0 lines, and it is said."""
        tree.write("a.code", "f").chmod(0)

        assert as_user(lambda: tree.count(analyser=Recorder())) == CodeCount(
            1, 0, None, "recorder 1", ("counted as 0 lines, cannot be opened (Permission denied): a.code",)
        )
