"""What reads one source file: the seam, and lizard behind it."""

import functools
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol

from ralph_tracker.measure.lizard_parts import lizard, reader_of

_TIME_LIMIT_S: Final = 20.0
_LOOK_EVERY: Final = 500


class FileCount(NamedTuple):
    """Hold what one file adds: lines of code, functions and the sum of their cyclomatic complexities.

    `note` says why the lines are plain non-blank ones and no function was looked for, None where it was analysed.
    """

    loc: int
    functions: int = 0
    complexity: int = 0
    note: str | None = None


class Analyser(Protocol):
    """Read source files; `tool` is its name and version, as numbers of different ones do not compare."""

    @property
    def tool(self) -> str: ...

    def reads(self, path: str) -> bool:
        """Tell by its name whether a file is source code."""
        ...

    def analyse(self, path: str, text: str) -> FileCount:
        """Count a file; lines end with a newline alone. Raises any exception for what cannot be read."""
        ...


class LizardAnalyser:
    """Count with lizard, whose counting of lines, comments and branches is kept as it is.

    One thing is not: its comments that tell lizard to look away ("#lizard forgives", "GENERATED CODE") are comments
    like any other, since whoever writes the code that is measured could write them. `limit_s` is CPU seconds for one
    file: on some hostile or generated text lizard's time grows with the square of the length.
    """

    def __init__(self, limit_s: float = _TIME_LIMIT_S) -> None:
        self._limit_s = limit_s
        self._known: dict[str, bool] = {}

    @property
    def tool(self) -> str:
        """Return lizard's name and version."""
        return f"lizard {lizard().version}"

    def reads(self, path: str) -> bool:
        """Tell whether lizard has a reader for the file's suffix."""
        suffix = suffix_of(path)
        if suffix not in self._known:
            self._known[suffix] = reader_of(suffix) is not None
        return self._known[suffix]

    def analyse(self, path: str, text: str) -> FileCount:
        """Run lizard's own steps over a text, without its catching and printing of errors."""
        context = lizard().FileInfoBuilder(path)
        reader = reader_of(suffix_of(path))(context)
        tokens = self._in_time(reader.generate_tokens(text))
        for step in _steps():
            tokens = step(tokens, reader)
        for _ in reader(tokens, reader):
            pass
        found = context.fileinfo
        return FileCount(
            loc=found.nloc,
            functions=len(found.function_list),
            complexity=sum(function.cyclomatic_complexity for function in found.function_list),
        )

    def _in_time(self, tokens: Iterable[str]) -> Iterator[str]:
        end = time.thread_time() + self._limit_s
        left = iter(tokens)
        while several := list(islice(left, _LOOK_EVERY)):
            if time.thread_time() > end:
                msg = f"more than {self._limit_s:g} s"
                raise TimeoutError(msg)
            yield from several


def suffix_of(path: str) -> str:
    """Return the suffix of a path written with `/`, as pathlib does, which takes ten times as long."""
    name = path.rpartition("/")[2]
    stem, _, word = name.rpartition(".")
    return f".{word}" if stem and word else ""


@functools.cache
def _steps() -> tuple[Callable[[Any, Any], Iterator[str]], ...]:
    """Return lizard's steps but for its count of tokens, which nobody asks for."""
    steps = (step for step in lizard().get_extensions([]) if step is not lizard().token_counter)
    return tuple(_drop_comments if step is lizard().comment_counter else step for step in steps)


def _drop_comments(tokens: Iterable[str], reader: Any) -> Iterator[str]:  # noqa: ANN401  # an untyped class
    """Leave only the line ends of comments, obeying nothing that stands in them."""
    for token in tokens:
        comment = reader.get_comment_from_token(token)
        if comment is None:
            yield token
        else:
            yield from "\n" * (len(comment.splitlines()) - 1)
