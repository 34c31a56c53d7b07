"""The files that differ between two iterations, as text: code, comments, and why a file cannot be read."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from ralph_tracker.integrity.deciding_files import is_code, kind_of_file
from ralph_tracker.short_text import shorten

MAX_BYTES: Final = 2_000_000
MAX_LINE: Final = 100_000
_QUOTED: Final = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
# Unambiguous alternatives, so that any text takes a single pass.
_PYTHON: Final = re.compile(
    r'(?P<block>"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\Z)|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*(?:\'\'\'|\Z))'
    rf"|{_QUOTED}|(?P<comment>\#[^\n]*)",
    re.DOTALL,
)
# A lone single quote does not open a string: Rust's lifetimes and words of prose have only one.
_BRACES: Final = re.compile(
    r'(?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z))|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`'
    r"|(?P<block>(?!))",
    re.DOTALL,
)
_HASH: Final = re.compile(rf"{_QUOTED}|(?P<comment>(?:^|(?<=\s))\#[^\n]*)|(?P<block>(?!))", re.DOTALL | re.MULTILINE)
_HASH_SUFFIXES: Final = (".rb", ".sh", ".bash", ".bats", ".ex", ".exs", ".pl", ".pm", ".nim")
_BRACES_SUFFIXES: Final = (".json", ".gradle", ".kts")


def one_line(text: str) -> str:
    """Return a text on one line, shortened for display."""
    return shorten(" ".join(text.split()), 300)


def token_key(text: str) -> str:
    """Return a text as a formatter leaves it: without spaces, quotes of one kind, no comma before a closing bracket."""
    return re.sub(r",(?=[\])}])", "", re.sub(r"\s+", "", text)).replace("'", '"')


class FileVersions(NamedTuple):
    """The old and the new content of a file, None if it is absent; the path is relative, with forward slashes."""

    path: str
    old: bytes | None
    new: bytes | None


def why_unreadable(data: bytes) -> str | None:
    """Return why a content cannot be read as text, None if it can."""
    if len(data) > MAX_BYTES:
        return f"is larger than {MAX_BYTES // 1_000_000} MB"
    if b"\0" in data:
        return "holds NUL bytes"
    if len(data) > MAX_LINE and max(map(len, data.split(b"\n"))) > MAX_LINE:
        return f"holds a line of more than {MAX_LINE:,} characters"
    return None


class Text:
    """One version of a file; its code and comments are computed on demand."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines without their ends; the first is `lines[0]`."""
        return self.text.split("\n")

    @cached_property
    def code(self) -> str:
        """Return the text with comments and Python's triple-quoted strings blanked; line numbers stay the same."""
        return self._tokens().sub(
            lambda found: re.sub(r"[^\n]", " ", found[0]) if found.lastgroup else found[0], self.text
        )

    @cached_property
    def comments(self) -> list[tuple[int, str]]:
        """Return where each comment starts, and its first 2,000 characters with its mark."""
        found = self._tokens().finditer(self.text)
        return [(each.start(), each[0][:2_000]) for each in found if each.lastgroup == "comment"]

    def _tokens(self) -> re.Pattern[str]:
        if self.path.endswith((".py", ".pyi")):
            return _PYTHON
        if self.path.endswith(_BRACES_SUFFIXES) or (is_code(self.path) and not self.path.endswith(_HASH_SUFFIXES)):
            return _BRACES
        return _HASH


class ChangedFile:
    """A file that can be read on both sides; an absent side is the empty text, see `is_new` and `is_gone`."""

    def __init__(self, path: str, old: str | None, new: str | None) -> None:
        self.path = path
        self.is_new = old is None
        self.is_gone = new is None
        self.old = Text(path, old or "")
        self.new = Text(path, new or "")
        self.is_code = is_code(path)
        self.kind = kind_of_file(path)

    @property
    def is_source(self) -> bool:
        """Return whether it is program code that does not belong to the tests."""
        return self.is_code and self.kind is None


def read(change: FileVersions) -> ChangedFile | str:
    """Return the file with its texts, or why it cannot be read."""
    for data in (change.old, change.new):
        if data is not None and (reason := why_unreadable(data)) is not None:
            return reason
    old, new = (
        None if data is None else data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        for data in (change.old, change.new)
    )
    return ChangedFile(change.path, old, new)


def added_lines(files: Iterable[ChangedFile]) -> Mapping[str, frozenset[int]]:
    """Return the numbers of the new lines by path; moved or re-indented lines are not new."""
    files = tuple(files)
    gone: Counter[str] = Counter()
    fresh: list[tuple[str, int, str]] = []
    for file in files:
        old = Counter(line.strip() for line in file.old.lines)
        for number, line in enumerate(file.new.lines, start=1):
            stripped = line.strip()
            if old[stripped] > 0:
                old[stripped] -= 1
            elif stripped:
                fresh.append((file.path, number, stripped))
        gone.update(old)
    found: dict[str, set[int]] = {}
    for path, number, stripped in fresh:
        if gone[stripped] > 0:
            gone[stripped] -= 1
        else:
            found.setdefault(path, set()).add(number)
    return {path: frozenset(numbers) for path, numbers in found.items()}
