"""A project's package.json: what it installs, and how its scripts call a tool."""

import json
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.errors import InputError
from ralph_tracker.safe_files import text_of

_LOCKS: Final = {
    "pnpm-lock.yaml": "pnpm install",
    "yarn.lock": "yarn install",
    "bun.lock": "bun install",
    "bun.lockb": "bun install",
    "package-lock.json": "npm ci",
    "npm-shrinkwrap.json": "npm ci",
}
_DEPENDENCIES: Final = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_ADDING: Final = {"pnpm": "pnpm add -D", "yarn": "yarn add -D", "bun": "bun add -d", "npm": "npm install -D"}


class Package(NamedTuple):
    """The readable content of a package.json; `root` is absolute."""

    root: Path
    document: Mapping[str, Any]

    @property
    def declared(self) -> frozenset[str]:
        """Return the names of all packages that it depends on."""
        return frozenset(name for key in _DEPENDENCIES for name in self.table(key))

    @property
    def scripts(self) -> dict[str, str]:
        """Return its scripts that are strings."""
        return {name: text for name, text in self.table("scripts").items() if isinstance(text, str)}

    @property
    def install(self) -> str:
        """Return the command that installs the dependencies, by the lock file."""
        locks = ((folder / lock, command) for folder in self._folders() for lock, command in _LOCKS.items())
        return next((command for lock, command in locks if lock.is_file()), "npm install")

    @property
    def add(self) -> str:
        """Return the command that adds a tool, without its name."""
        return _ADDING[self.install.split()[0]]

    @property
    def is_installed(self) -> bool:
        """Return whether what it depends on is installed, if only in part."""
        places = [folder / name for folder in self._folders() for name in ("node_modules", ".pnp.cjs")]
        return not self.declared or any(place.exists() for place in places)

    def tool(self, name: str) -> tuple[str, ...] | None:
        """Return how an installed tool is called, None if it is not installed; nothing is downloaded."""
        for folder in self._folders():
            path = folder / "node_modules" / ".bin" / name
            if path.is_file():
                return (os.path.relpath(path, self.root),)
        unpacked_nowhere = name in self.declared and any((each / ".pnp.cjs").is_file() for each in self._folders())
        return ("yarn", "run", name) if unpacked_nowhere else None

    def version(self, name: str) -> tuple[int, ...] | None:
        """Return the numeric version of an installed package, None if it is not installed."""
        for folder in self._folders():
            document = read_json(folder / "node_modules" / name / "package.json")
            if document is not None:
                numbers = str(document.get("version", "")).split("-")[0].split(".")
                return tuple(int(number) for number in numbers if number.isdecimal())
        return None

    @property
    def workspaces(self) -> list[str]:
        """Return the folders of the packages that belong to this one, sorted, by npm's, yarn's or pnpm's patterns."""
        said = self.document.get("workspaces")
        patterns = said.get("packages") if isinstance(said, Mapping) else said
        pnpm = _pnpm_packages(self.root / "pnpm-workspace.yaml")
        globs = [each.rstrip("/") for each in (pnpm or patterns or ()) if isinstance(each, str)]
        left_out = {path for each in globs if each[:1] == "!" for path in self._matching(each[1:])}
        found = {path for each in globs if each[:1] not in {"!", "/", ""} for path in self._matching(each)} - left_out
        return sorted(path.relative_to(self.root).as_posix() for path in found if path != self.root)

    def _matching(self, pattern: str) -> list[Path]:
        if ".." in pattern.split("/"):
            return []
        paths = islice(self.root.glob(f"{pattern.removeprefix('./')}/package.json"), 200)
        return [path.parent for path in paths if not {"node_modules", ".aiwg"} & set(path.parts)]

    def table(self, key: str) -> Mapping[str, Any]:
        """Return a table of the document, such as a tool's own, {} without one."""
        table = self.document.get(key)
        return table if isinstance(table, Mapping) else {}

    def _folders(self) -> Iterator[Path]:
        """Yield the folders that node searches, up to the repository's root: workspaces share their tools."""
        for folder in (self.root, *self.root.parents):
            yield folder
            if (folder / ".git").exists():
                return


def _pnpm_packages(path: Path) -> list[Any]:
    try:
        document = load_yaml(text_of(path) or "", path.name)
    except InputError:
        return []
    found = document.get("packages") if isinstance(document, Mapping) else None
    return found if isinstance(found, list) else []


def package_of(root: Path) -> Package | None:
    """Return the package of a folder, empty if its package.json cannot be read, None if there is none."""
    if not (root / "package.json").is_file():
        return None
    return Package(root.absolute(), read_json(root / "package.json") or {})


def read_json(path: Path) -> Mapping[str, Any] | None:
    """Return a JSON object from a file, None if it is missing or cannot be read."""
    try:
        document = json.loads(text_of(path) or "")
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, Mapping) else None


_UNKNOWN_TO_US: Final = r"[$`]"
_MANAGERS: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_RUNNERS: Final = frozenset({"npx", "bunx", "cross-env", "env", "exec", "--no-install", "--no", "-y", "--yes", "--"})
_DEPTH: Final = 4
_FORMATTING: Final = frozenset({"--write", "--fix", "-w", "--apply", "--fix-type"})
_BUILDING_SCRIPT: Final = re.compile(r"(?:pre)?(?:build|compile|transpile|bundle)(?::(?!docs|watch).*)?")
_BUILDERS: Final = frozenset(
    {"tsc", "tsup", "tsdown", "tshy", "rollup", "esbuild", "babel", "swc", "webpack", "unbuild", "microbundle"}
)
_BUNDLERS: Final = frozenset({"vite", "rspack", "parcel", "ncc", "bun"})
_FORMATTING_SCRIPT: Final = re.compile(r"(?:.*:)?(?:format|fmt|prettify|prettier)(?::(?!check|ci).*)?")


class Usage(NamedTuple):
    """How a script calls a tool: its words, its environment and context.

    `program` are the words before them if node itself is called, else empty; `wrapper` are the words of nyc or c8, the
    name first; `before` are the commands that the script runs earlier.
    """

    words: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    program: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


def usage_of(tool: str, scripts: Mapping[str, str], names: Sequence[str], word: str | None = None) -> Usage | None:
    """Return how the first script that calls a tool does so, None if none does; with `word` that must be among its own.

    A runtime runs programs as well as tests: only a word of the command tells.
    """
    return next((found for name in names if (found := _in_script(tool, scripts, name, word, _DEPTH))), None)


def formats(command: str, scripts: Mapping[str, str]) -> bool:
    """Return whether a command, or a script that it runs, would rewrite the source: no check may do that."""
    return _runs(command, scripts, _FORMATTING_SCRIPT, _is_formatter)


def builds(command: str, scripts: Mapping[str, str]) -> bool:
    """Return whether a command, or a script that it runs, makes what the tests then load."""
    return _runs(command, scripts, _BUILDING_SCRIPT, _is_builder)


def _runs(
    command: str,
    scripts: Mapping[str, str],
    named: re.Pattern[str],
    is_one: Callable[[Sequence[str]], bool],
    depth: int = _DEPTH,
) -> bool:
    """Return whether one of the commands is of a kind, by its words or by the name of the script that it runs."""
    for words in _commands(command):
        name = _script_of(words, scripts)
        if name is not None and depth:
            if named.fullmatch(name) or _runs(scripts[name], scripts, named, is_one, depth - 1):
                return True
        elif is_one(words):
            return True
    return False


def _is_formatter(words: Sequence[str]) -> bool:
    return not _FORMATTING.isdisjoint(word.partition("=")[0] for word in words) or words[1:2] == ["format"]


def _is_builder(words: Sequence[str]) -> bool:
    rest = _without_runners(words)[1]
    called = rest[:1] and (rest[0] in _BUILDERS or (rest[0] in _BUNDLERS and rest[1:2] == ["build"]))
    return bool(called) and "--noEmit" not in rest


def without_formatting(script: str, scripts: Mapping[str, str]) -> str | None:
    """Return a script without the commands that format, None if its others do not simply follow one another."""
    if re.search(r"[;|&(`]", script.replace("&&", "")):
        return None
    rest = [part.strip() for part in script.split("&&") if not formats(part, scripts)]
    return " && ".join(rest) or None


def without(words: Sequence[str], flags: Collection[str], valued: Collection[str]) -> tuple[str, ...]:
    """Return the words without options that we set or that would change the tree; `valued` ones take a value."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        name, given, _ = word.partition("=")
        if name in valued and not given:
            next(rest, None)
        elif name not in flags and name not in valued:
            kept.append(word)
    return tuple(kept)


def without_bail(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words without the options that end a run at its first failing test."""
    kept: list[str] = []
    bailed = False
    for word in words:
        if not (bailed and word.isdecimal()):
            bailed = word.partition("=")[0] in {"--bail", "-b", "--fail-fast", "--failFast"}
            kept += [] if bailed else [word]
    return tuple(kept)


def _in_script(tool: str, scripts: Mapping[str, str], name: str, word: str | None, depth: int) -> Usage | None:
    """Search a script, and the scripts that it runs."""
    before: list[str] = []
    for words in _commands(scripts.get(name, "")) if depth else ():
        found = _in_command(tool, words, scripts)
        if found is not None and word is not None and not _says(found.words, word):
            found = None
        other = None if found is not None else _script_of(words, scripts)
        if other is not None:
            found = _in_script(tool, scripts, other, word, depth - 1)
        if found is not None:
            return Usage(found.words, found.env, found.program, found.wrapper, (*before, *found.before))
        before.append(shlex.join(words))
    return None


def _says(words: Sequence[str], word: str) -> bool:
    """Return whether a word is among a command's options, or is the command's own: `bun run test` is not `bun test`."""
    return word in words if word.startswith("-") else word in words[:1]


def _commands(script: str) -> Iterator[list[str]]:
    """Yield the commands between the shell's operators; none if the script cannot be split."""
    lexer = shlex.shlex(script, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        for word in lexer:
            if not re.fullmatch(r"[();<>|&]+", word):
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
    if at is None or not (at == 0 or rest[0] in {"nyc", "c8"} or rest[0] == "node"):
        return None
    own, front = tuple(rest[at + 1 :]), tuple(rest[:at])
    if any(re.search(_UNKNOWN_TO_US, word) for word in own):
        own = ()
    by_node = front[:1] == ("node",)
    program = (*front, rest[at]) if by_node else ()
    wrapper = () if by_node else tuple(word for word in front if word not in _RUNNERS)
    return Usage(own, env, program, wrapper)


def _without_runners(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Split a command into its environment and its words, without runners such as npx."""
    env: dict[str, str] = {}
    for place, word in enumerate(words):
        if re.match(r"[A-Za-z_]\w*=", word):
            name, _, value = word.partition("=")
            env |= {} if re.search(_UNKNOWN_TO_US, value) else {name: value}
        elif not (word in _RUNNERS or (word in _MANAGERS and words[place + 1 : place + 2] == ["exec"])):
            return env, list(words[place:])
    return env, []


def _is_call(word: str, tool: str) -> bool:
    """Return whether a word calls the tool, by name or by the path of its program."""
    path = PurePosixPath(word)
    return path.name in {tool, f"_{tool}"} or (path.name.startswith(f"{tool}.") and "node_modules" in path.parts)


def _script_of(words: Sequence[str], scripts: Mapping[str, str]) -> str | None:
    """Return the script that a command runs: `npm run x`, `npm test`, `yarn x`."""
    _, rest = _without_runners(words)
    if not rest or rest[0] not in _MANAGERS:
        return None
    named = [word for word in rest[1:] if not word.startswith("-") and word not in {"run", "run-script"}]
    return named[0] if named and named[0] in scripts else None
