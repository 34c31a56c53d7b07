"""The files that differ between two iterations, as text: what of them can be looked into, and why not."""

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeVar
from weakref import ref

from ralph_tracker.integrity.languages import Language, is_test_path, language_of
from ralph_tracker.integrity.source_tests import Known, SourceTest, helpers_of, tests_of

MAX_BYTES: Final = 2_000_000
MAX_LINE: Final = 100_000
Made = TypeVar("Made")


class FileChange(NamedTuple):
    """Hold a file as it was and as it is, None where it is absent; the path is relative, with forward slashes."""

    path: str
    old: bytes | None
    new: bytes | None


class Remembering:
    """Be a part of one comparison, and know what was made of it before."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what is made of it, made when it is first asked for by that key."""
        made = self._made
        if key not in made:
            made[key] = make()
        found: Made = made[key]
        return found


class Side(Remembering):
    """Be one version of a file; what is made of its text is made once, and only where somebody asks.

    `known` is what was read in either version of the file.
    """

    def __init__(self, path: str, text: str) -> None:
        super().__init__()
        self.path = path
        self.text = text
        self._other: ref[Side] | None = None
        self.known: Known = {}

    @property
    def other(self) -> "Side | None":
        """Return the version that it is compared with, None where there is none."""
        return None if self._other is None else self._other()

    def compare_with(self, other: "Side") -> None:
        """Be compared with another version, which whoever asks keeps: two that kept each other would never go."""
        self._other = ref(other)

    @cached_property
    def language(self) -> Language | None:
        """Return the language by the file's name, None where it is none that is looked into."""
        return language_of(self.path)

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines without their ends; the first is `lines[0]`."""
        return self.text.splitlines()

    @cached_property
    def tests(self) -> tuple[SourceTest, ...]:
        """Return the tests that it holds. Raises Unparsable for text that is no program."""
        return tests_of(self.path, self.text, self.known)

    @cached_property
    def helpers(self) -> tuple[SourceTest, ...]:
        """Return the Python functions that stand beside its tests, () in other languages. Raises Unparsable."""
        return helpers_of(self.path, self.text, self.known)


class ChangedFile(Remembering):
    """Be one changed file whose text can be looked into; a side is None where the file is absent there."""

    def __init__(self, path: str, old: Side | None, new: Side | None) -> None:
        super().__init__()
        self.path = path
        self.old = old
        self.new = new
        if old is not None and new is not None:
            old.compare_with(new)
            new.compare_with(old)
            new.known = old.known

    @cached_property
    def language(self) -> Language | None:
        """Return the language by the file's name, None where it is none that is looked into."""
        return language_of(self.path)

    @cached_property
    def is_test(self) -> bool:
        """Tell whether the file belongs to the tests, by its name and folder."""
        return is_test_path(self.path)

    def sides(self) -> Iterator[Side]:
        """Yield the sides that are there, the old one first."""
        yield from (side for side in (self.old, self.new) if side is not None)


def opened(change: FileChange) -> ChangedFile | str:
    """Return the file with its texts, or the reason why it is not looked into."""
    sides: list[Side | None] = []
    for data in (change.old, change.new):
        reason = None if data is None else unreadable(data)
        if reason is not None:
            return reason
        sides.append(None if data is None else Side(change.path, data.decode("utf-8-sig", "replace")))
    return ChangedFile(change.path, sides[0], sides[1])


def unreadable(data: bytes) -> str | None:
    """Return why no rule looks into that content, None where they do."""
    if len(data) > MAX_BYTES:
        return f"larger than {MAX_BYTES // 1_000_000} MB"
    if b"\0" in data:
        return "holds NUL bytes"
    if max(map(len, data.split(b"\n"))) >= MAX_LINE:
        return f"holds a line of more than {MAX_LINE} characters"
    return None
