"""The checks that a script runs: which kind each is, whether its failure counts, and what it leaves out."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.settings.narrowing import narrowings_of, places_of
from ralph_tracker.integrity.settings.programs import (
    HOUSEKEEPING,
    INERT,
    MANAGERS,
    NOTHING,
    OF_ANY_KIND,
    PROGRAMS,
    RUNS_TARGETS,
    Kind,
    kind_by_name,
)
from ralph_tracker.integrity.settings.values import split_shell

MAX_SCRIPT: Final = 20_000
MAX_PIECES: Final = 100
_SCRIPT_AT: Final = 2
_PIECE: Final = Pattern(
    r"""("(?:[^"\\]|\\.)*"|'[^']*'|\\.|&>>?|>&\S|[^"'\\|&;>\n]+|>)|(\|\||&&|;|\n|\||&)|["'\\]""", re.DOTALL
)
_COMMENT_LINE: Final = Pattern(r"^[ \t]*#.*$", re.MULTILINE)
_SHELL_WITH: Final = Pattern(r"-[a-z]*c")
_INLINE: Final = Pattern(r"pytest|unittest|main|test|check")
_EXPRESSION: Final = Pattern(r"\$\{\{[^{}]*\}\}")
_CONTINUED: Final = Pattern(r"\\\r?\n\s*")
_ASSIGNED: Final = Pattern(r"[A-Za-z_]\w*=.*|\$\{?\w+\}?=.*", re.DOTALL)
_FAILS: Final = Pattern(r"\b(exit|return)\s+(?!0\b)\S|\bfalse\b")
_PIPED: Final = frozenset({"tee", "cat", "tail", "head"})
_EXIT_ZERO: Final = frozenset({"--exit-zero", "-Dmaven.test.failure.ignore=true", "-Dmaven.test.failure.ignore"})
_WRAPPERS: Final = frozenset(
    {"sudo", "env", "time", "exec", "command", "xvfb-run", "then", "do", "else", "{", "if", "elif", "!"}
)
_COVERAGE_GATE: Final = Pattern(r"--(?:cov-)?fail-under[= ]\s*(\d+(?:\.\d+)?)")
_WARNINGS_GATE: Final = Pattern(r"--max-warnings[= ]\s*(\d+)")


class Command(NamedTuple):
    """Hold one command of a script: `soft` says by what its failure goes unheard, None where it counts."""

    text: str
    kind: Kind
    soft: str | None = None
    narrowings: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    @property
    def is_check(self) -> bool:
        """Tell whether it tests, lints or checks types, or may do so."""
        return self.kind not in {"other", "nothing"}

    @property
    def coverage_floor(self) -> float | None:
        """Return the coverage below which it fails, None where it names none."""
        match = _COVERAGE_GATE.search(self.text)
        return float(match[1]) if match and "pylint" not in self.text else None

    @property
    def warnings_ceiling(self) -> int | None:
        """Return the warnings above which it fails, None where it names none."""
        match = _WARNINGS_GATE.search(self.text)
        return int(match[1]) if match else None


@lru_cache(maxsize=2048)
def commands_in(script: str) -> tuple[Command, ...]:
    """Return the commands of a shell script in their order; what a shell would not read is taken by its words."""
    found: list[Command] = []
    ignoring: str | None = None
    plain = _COMMENT_LINE.sub("", _EXPRESSION.sub("$EXPRESSION", script[:MAX_SCRIPT]))
    for pieces in _logical_lines(_CONTINUED.sub(" ", plain)):
        for at, (piece, _) in enumerate(pieces):
            words = _bare(piece)
            if words[:1] == ["set"]:
                ignoring = "set +e" if "+e" in words else None if "-e" in words[1:2] or "-ex" in words else ignoring
            if not words or (at and pieces[at - 1][1] == "||" and _is_nothing(words)):
                continue
            soft = _excuse(pieces, at) or _piped(pieces, at, plain) or _decided(piece, plain) or ignoring
            if words[0] in {"bash", "sh"} and len(words) > _SCRIPT_AT and _SHELL_WITH.fullmatch(words[1]):
                found += [each._replace(soft=each.soft or soft) for each in commands_in(words[_SCRIPT_AT])]
            else:
                found.append(_command(piece, words, soft))
    return tuple(found)


def _logical_lines(script: str) -> Iterator[list[tuple[str, str]]]:
    """Yield the lines of a script as pieces, each with the mark behind it."""
    pieces: list[tuple[str, str]] = []
    piece: list[str] = []
    for match in _PIECE.finditer(f"{script}\n"):
        mark = match[2]
        if mark is None:
            piece.append(match.group())
            continue
        pieces.append(("".join(piece).strip(), mark))
        piece = []
        if mark == "\n":
            yield pieces[:MAX_PIECES]
            pieces = []


def _piped(pieces: Sequence[tuple[str, str]], at: int, script: str) -> str | None:
    """Return the program that a check's output goes through and that answers in its place, None where it counts."""
    following = _bare(pieces[at + 1][0]) if pieces[at][1] == "|" and at + 1 < len(pieces) else []
    return f"| {following[0]}" if following and following[0] in _PIPED and "pipefail" not in script else None


def _decided(piece: str, script: str) -> str | None:
    """Return the word by which a check only decides what runs next, None where its failure counts after all."""
    word = piece.split(maxsplit=1)[0] if piece.strip() else ""
    return word if word in {"if", "elif", "!"} and _FAILS.search(script) is None else None


def _bare(piece: str) -> list[str]:
    """Return the words of a command without what is set for it and without brackets round it."""
    words = split_shell(piece.strip("() "))
    while words and (_ASSIGNED.fullmatch(words[0]) or words[0] in _WRAPPERS):
        words = words[1:]
    return words


def _excuse(pieces: Sequence[tuple[str, str]], at: int) -> str | None:
    """Return what makes the failure of a piece go unheard, None where it counts."""
    following = next((each for each in range(at, len(pieces)) if pieces[each][1] not in {"|", "&&"}), len(pieces))
    if following + 1 >= len(pieces) or pieces[following][1] not in {"||", ";"}:
        return None
    mark, other = pieces[following][1], _bare(pieces[following + 1][0])
    is_excuse = _is_nothing(other) if mark == "||" else other[:1] in (["true"], [":"]) or other[:2] == ["exit", "0"]
    if other[:1] == ["exit"] and other[1:2] != ["0"]:
        return None
    fails_after_all = any(_bare(piece)[:2] in (["exit", "1"], ["return", "1"]) for piece, _ in pieces[following + 1 :])
    return f"{mark} {' '.join(other)}" if is_excuse and not fails_after_all else None


def _is_nothing(words: Sequence[str]) -> bool:
    if words and words[0].startswith("python") and words[1:2] == ["-c"]:
        return _INLINE.search(" ".join(words[2:])) is None
    return not words or words[0] in NOTHING


def _command(piece: str, words: list[str], soft: str | None) -> Command:
    kind, runner = kind_of(words)
    exit_zero = next((word for word in words if word in _EXIT_ZERO), None)
    if kind not in {"test", "any"}:
        return Command(piece, kind, soft or exit_zero)
    return Command(piece, kind, soft or exit_zero, narrowings_of(words, runner), places_of(words, runner))


def kind_of(words: Sequence[str]) -> tuple[Kind, int]:
    """Return which check a command is, and where the word that says so stands."""
    if _is_nothing(words):
        return "nothing", 0
    if words[0] in INERT or (words[0] in MANAGERS and _is_housekeeping(words)):
        return "other", 0
    for at in range(len(words)):
        kind = _kind_at(words, at)
        if kind is not None:
            return kind
    return kind_by_name(" ".join(words[:2])) or "other", 0


def _kind_at(words: Sequence[str], at: int) -> tuple[Kind, int] | None:
    """Return which check the program at a place is, None where that word is none that is known."""
    name, rest = _program(words[at]), words[at + 1 :]
    if name in RUNS_TARGETS and not any(_program(word) in PROGRAMS for word in rest):
        return kind_by_name(" ".join(rest)) or ("any" if name in OF_ANY_KIND else "other"), at
    if name in PROGRAMS:
        return ("format" if name == "ruff" and rest[:1] == ["format"] else PROGRAMS[name]), at
    if name in {"go", "cargo"} and rest[:1] == ["test"]:
        return "test", at + 1
    if name == "node" and "--test" in rest:
        return "test", at
    return ("coverage", at) if name == "coverage" and rest[:1] == ["report"] else None


def _program(word: str) -> str:
    return word.rpartition("/")[2].removesuffix(".exe").partition("==")[0]


def _is_housekeeping(words: Sequence[str]) -> bool:
    second = next((word for word in words[1:] if not word.startswith("-")), "")
    return second in HOUSEKEEPING or (words[0] == "uv" and second in {"pip", "venv", "python"})
