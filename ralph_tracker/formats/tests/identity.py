"""Build the id of a test, which stays the same from one run to the next.

An id is `suite::…::class::name`, built only from the case and its enclosing suites, so that no other test can change
it:

- the class is the attribute `classname`, else `class`; without one the id has no class;
- a suite is included, outermost first, if it adds information: not if it has no name, is called `pytest`, repeats
  the suite before it, is a part of the class (`tests.box` in `tests.box.TestLid`), is the class with a suffix
  (`TestLid-20261121103000`), or is the absolute path of a file while the case has a class;
- if a report names files instead (`file::name`), an absolute path becomes relative to the folder in which the tests
  ran; of one outside that folder, only the last part is used;
- a case without a name is called `(unnamed)`; addresses in names (`<Lid object at 0x7f…>`) are removed;
- a second test of the same id in one file is `id#2`, the next `id#3`, in the order of the file.
"""

import re
from collections.abc import Container, Iterable
from typing import Final

SEPARATOR: Final = "::"
UNNAMED: Final = "(unnamed)"
_GENERIC: Final = frozenset({"pytest"})
ADDRESS: Final = " at 0x"
_ADDRESS: Final = re.compile(ADDRESS + "[0-9a-fA-F]+")
_ABSOLUTE: Final = re.compile(r"/|\\\\|[A-Za-z]:[\\/]")
_JOINTS: Final = re.compile(r"[\\/:.\s]+")


def prefix(suites: Iterable[str], owner: str) -> str:
    """Return the prefix of the names of tests in that class (`owner`, "" for none) and those suites."""
    parts: list[str] = []
    for suite in suites:
        if suite not in parts[-1:] and _adds_information(suite, owner):
            parts.append(suite)
    if owner:
        parts.append(owner)
    return "".join(part + SEPARATOR for part in parts)


def of(owner: str, name: str) -> str:
    """Return the id of a test in one suite, class or file; the owner is omitted if the name repeats it."""
    name = name or UNNAMED
    repeated = name.startswith(owner) or f".{owner}" in name
    return name if repeated or _ABSOLUTE.match(owner) else f"{owner}{SEPARATOR}{name}"


def file(path: str, folders: Iterable[str] = ()) -> str:
    """Return a file name that is the same on every machine: relative, with `/`.

    An absolute one is made relative to the first of the folders that it is in; in none, its last part is returned.
    """
    path = path.replace("\\", "/")
    inner = next((path.removeprefix(folder) for folder in folders if path.startswith(folder)), "")
    if inner:
        return inner
    return path.rpartition("/")[2] if _ABSOLUTE.match(path) else path.removeprefix("./")


def steady(name: str) -> str:
    """Return the name without addresses of objects, which differ from run to run."""
    return _ADDRESS.sub(ADDRESS + "…", name)


class Ordinals:
    """Assign `#2`, `#3` … within one file, in constant time each."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def next(self, case: str, taken: Container[str]) -> str:
        """Return the id with the first free ordinal."""
        number = self._last.get(case, 1) + 1
        while f"{case}#{number}" in taken:
            number += 1
        self._last[case] = number
        return f"{case}#{number}"


def _adds_information(suite: str, owner: str) -> bool:
    if not suite or suite in _GENERIC:
        return False
    if not owner:
        return True
    if _ABSOLUTE.match(suite) or suite.startswith(f"{owner}-"):
        return False
    return f" {_words(suite)} " not in f" {_words(owner)} "


def _words(name: str) -> str:
    return _JOINTS.sub(" ", name).strip()
