"""How a project's own scripts call a tool: the words that its developers give it are kept, so that numbers agree."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

_OPERATOR: Final = re.compile(r"[();<>|&]+")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_UNKNOWN_TO_US: Final = re.compile(r"[$`]")
_MANAGERS: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_RUNNERS: Final = frozenset({"npx", "bunx", "cross-env", "env", "exec", "--no-install", "--no", "-y", "--yes", "--"})
_WRAPPERS: Final = frozenset({"nyc", "c8"})
_DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class Usage:
    """Hold how a script calls a tool: its words, its environment, what stands around it.

    `program` is what stands in front of the words where node itself is called with them, else empty; `wrapper` are the
    words of nyc or c8, the name first; `before` are the commands that the script runs earlier.
    """

    words: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


def usage_of(tool: str, scripts: Mapping[str, str], names: Sequence[str]) -> Usage | None:
    """Return how the first of the scripts that calls a tool does it, None where none does."""
    return next((found for name in names if (found := _in_script(tool, scripts, name, _DEPTH))), None)


def without(words: Sequence[str], flags: frozenset[str], valued: frozenset[str]) -> tuple[str, ...]:
    """Leave out options that we give ourselves or that would change the tree; `valued` ones take a value."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        name, given, _ = word.partition("=")
        if name in valued and not given:
            next(rest, None)
        elif name not in flags | valued:
            kept.append(word)
    return tuple(kept)


def _in_script(tool: str, scripts: Mapping[str, str], name: str, depth: int) -> Usage | None:
    """Look into a script, and into the scripts that it runs."""
    before: list[str] = []
    for words in _commands(scripts.get(name, "")) if depth else ():
        found = _in_command(tool, words, scripts)
        other = None if found is not None else _script_of(words, scripts)
        if other is not None:
            found = _in_script(tool, scripts, other, depth - 1)
        if found is not None:
            return Usage(found.words, found.env, found.program, found.wrapper, (*before, *found.before))
        before.append(shlex.join(words))
    return None


def _commands(script: str) -> Iterator[list[str]]:
    """Split a script at the shell's operators; one that cannot be split has no command that we know."""
    lexer = shlex.shlex(script, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        for word in lexer:
            if not _OPERATOR.fullmatch(word):
                words.append(word)
            elif words:
                yield words
                words = []
    except ValueError:
        return
    if words:
        yield words


def _in_command(tool: str, words: Sequence[str], scripts: Mapping[str, str]) -> Usage | None:
    env, rest = _without_runners(words)
    if rest[:1] and rest[0] in _MANAGERS and rest[1:2] == [tool] and tool not in scripts:
        rest = rest[1:]
    at = next((place for place, word in enumerate(rest) if _is_call(word, tool)), None)
    if at is None or not (at == 0 or rest[0] in _WRAPPERS or rest[0] == "node"):
        return None
    own, front = tuple(rest[at + 1 :]), tuple(rest[:at])
    if any(_UNKNOWN_TO_US.search(word) for word in own):
        own = ()
    by_node = front[:1] == ("node",)
    program = (*front, rest[at]) if by_node else ()
    wrapper = () if by_node else tuple(word for word in front if word not in _RUNNERS)
    return Usage(own, env, program, wrapper)


def _without_runners(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Take the environment and what only finds the tool from the front of a command."""
    env: dict[str, str] = {}
    for place, word in enumerate(words):
        if _ASSIGNMENT.match(word):
            name, _, value = word.partition("=")
            env |= {} if _UNKNOWN_TO_US.search(value) else {name: value}
        elif not (word in _RUNNERS or (word in _MANAGERS and words[place + 1 : place + 2] == ["exec"])):
            return env, list(words[place:])
    return env, []


def _is_call(word: str, tool: str) -> bool:
    """Tell whether a word is the tool: its name, or the path of its program."""
    path = PurePosixPath(word)
    return path.name in {tool, f"_{tool}"} or (path.name.startswith(f"{tool}.") and "node_modules" in path.parts)


def _script_of(words: Sequence[str], scripts: Mapping[str, str]) -> str | None:
    """Return the script that a command runs: `npm run x`, `npm test`, `yarn x`."""
    _, rest = _without_runners(words)
    if not rest or rest[0] not in _MANAGERS:
        return None
    named = [word for word in rest[1:] if not word.startswith("-") and word not in {"run", "run-script"}]
    return named[0] if named and named[0] in scripts else None
