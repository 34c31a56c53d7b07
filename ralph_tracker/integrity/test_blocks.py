"""Find the text of tests in test files by the names that reports give them: by plain text, in any language."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ralph_tracker.integrity.report_ids import files_of, split_id

# A line that defines a function: its name follows another word and precedes a bracket. A title is the first argument.
_DEFINITION: Final = re.compile(
    r"^[ \t]*(?:[\w@<>\[\]&*.,:]+[ \t]+)*(?:\([^)\n]*\)[ \t]*)?`?(\w+)`?[ \t]*[(<{]", re.MULTILINE
)
_TITLE: Final = r"(?m)^[^\n\"'`]*?(?:\(\n[ \t]*|(?<=[(\s]))([\"'`])((?:(?!\1)[^\\\n]|\\.){1,300})\1\s*(?:,|\)|do\b|\{)"
_CLOSING: Final = (")", "]", "}", "{", "end")
_PLACEHOLDER: Final = r"%[sdifjoOpc#%$]|\$\{[^}]*\}|\$#?[A-Za-z_][\w.]*"
_WORDS: Final = re.compile(r"\w+")
# A constant of the file: its name is the last word before `=`.
_CONSTANT: Final = re.compile(
    r"^(?:[\w<>:&\[\]]+[ \t]+){0,4}([A-Za-z_]\w*)(?:[ \t]*:[^\n=]*)?[ \t]*:?=(?!=)", re.MULTILINE
)


class _Named(NamedTuple):
    """A definition or title in a text: the offset of its line, and its words."""

    start: int
    words: tuple[str, ...]
    title: str


def blocks_of(ids: Iterable[str], texts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the text of each test that is found in the texts of test files, by path; others are left out."""
    named = {path: (_definitions(text), _titles(text)) for path, text in texts.items()}
    found: dict[str, str] = {}
    for test, paths in files_of(ids, texts).items():
        starts = ((path, _start(test, *named[path])) for path in paths)
        place = next(((path, start) for path, start in starts if start is not None), None)
        if place is not None:
            found[test] = _block(texts[place[0]], place[1])
    return found


def _definitions(text: str) -> Mapping[str, int]:
    return {each[1]: each.start() for each in re.finditer(_DEFINITION, text)}


def _titles(text: str) -> list[_Named]:
    found = (_Named(each.start(), tuple(_WORDS.findall(each[2])), each[2]) for each in re.finditer(_TITLE, text))
    return [each for each in found if each.words]


def _start(test: str, definitions: Mapping[str, int], titles: Iterable[_Named]) -> int | None:
    """Return where a test starts: the definition of its function, or the longest title that ends its id."""
    parts = split_id(test)
    function = parts.parameters.split("/")[1] if parts.parameters.startswith("/Test") else parts.function
    if function in definitions:
        return definitions[function]
    words = tuple(_WORDS.findall(parts.function + parts.parameters.partition("#")[0]))
    ending = [each for each in titles if words[-len(each.words) :] == each.words]
    if not ending:
        ending = [each for each in titles if re.search(_PLACEHOLDER, each.title) and _pattern(each.title).search(test)]
    return max(ending, key=lambda each: len(each.words)).start if ending else None


def _pattern(title: str) -> re.Pattern[str]:
    """Return a pattern for the reported titles of `adds %i to $b`."""
    between = (r"\W+".join(map(re.escape, _WORDS.findall(part))) for part in re.split(_PLACEHOLDER, title))
    return re.compile(r"(?:^|\W)" + ".*".join(between) + r"\W*\Z", re.DOTALL)


def _block(text: str, start: int) -> str:
    """Return the lines of a test, with the decorators or the table above it and the constants of the file it names."""
    above, lines = text[:start].split("\n")[:-1], _lines(text, start)
    block = "\n".join([*above[_first(above, lines[0]) :], *lines])
    words = set(_WORDS.findall(block))
    named = (_lines(text, each.start()) for each in re.finditer(_CONSTANT, text) if each[1] in words)
    return "\n".join([block, *("\n".join(each) for each in named)])


def _lines(text: str, start: int) -> list[str]:
    """Return the lines from a place to the next of the same or a smaller indent that opens something else."""
    lines = text[start:].split("\n")
    indent = _indent(lines[0])
    ends = (
        at
        for at, line in enumerate(lines[1:], 1)
        if line.strip() and _indent(line) <= indent and not line.lstrip().startswith(_CLOSING)
    )
    return lines[: next(ends, len(lines))]


def _first(above: list[str], line: str) -> int:
    """Return where a test starts that has decorators, or that closes a table (`])("adds %i", …`)."""
    indent, closes = _indent(line), line.lstrip().startswith(_CLOSING)
    first = at = len(above)
    while at and above[at - 1].strip():
        at -= 1
        inner = above[at].lstrip()
        if _indent(above[at]) > indent or inner.startswith(_CLOSING):
            continue
        if closes:
            return at
        if not inner.startswith(("@", "#[")):
            break
        first = at
    return first


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
