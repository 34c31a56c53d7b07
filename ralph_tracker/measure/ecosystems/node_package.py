"""What a folder with a package.json has: what it declares, its scripts, the tools that are installed for it."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

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


@dataclass(frozen=True, slots=True)
class Package:
    """Hold a package.json as far as it can be read; `root` is absolute."""

    root: Path
    document: Mapping[str, Any]

    @property
    def declared(self) -> frozenset[str]:
        """Return the names of all packages that it depends on."""
        return frozenset(name for key in _DEPENDENCIES for name in self._table(key))

    @property
    def scripts(self) -> dict[str, str]:
        """Return its scripts, those that are text."""
        return {name: text for name, text in self._table("scripts").items() if isinstance(text, str)}

    @property
    def install(self) -> str:
        """Return the command that installs what is declared, by the lock file."""
        return next((command for folder in self._folders() for command in _installing(folder)), "npm install")

    @property
    def add(self) -> str:
        """Return the command that adds a tool, without its name."""
        return _ADDING[self.install.split()[0]]

    def tool(self, name: str) -> tuple[str, ...] | None:
        """Return how an installed tool is called, None where it is not installed; nothing is ever fetched."""
        for folder in self._folders():
            path = folder / "node_modules" / ".bin" / name
            if path.is_file():
                return (os.path.relpath(path, self.root),)
        unpacked_nowhere = (self.root / ".pnp.cjs").is_file() and name in self.declared
        return ("yarn", "run", name) if unpacked_nowhere else None

    def version(self, name: str) -> tuple[int, ...] | None:
        """Return the version of an installed package, as far as it is numbers, None where it is not installed."""
        for folder in self._folders():
            document = read_json(folder / "node_modules" / name / "package.json")
            if document is not None:
                numbers = str(document.get("version", "")).split("-")[0].split(".")
                return tuple(int(number) for number in numbers if number.isdecimal())
        return None

    def table(self, key: str) -> Mapping[str, Any]:
        """Return a tool's own table, {} where there is none."""
        return self._table(key)

    def _table(self, key: str) -> Mapping[str, Any]:
        table = self.document.get(key)
        return table if isinstance(table, Mapping) else {}

    def _folders(self) -> Iterator[Path]:
        """Look where node does, from the package up to the repository's root: workspaces share their tools."""
        for folder in (self.root, *self.root.parents):
            yield folder
            if (folder / ".git").exists():
                return


def package_of(root: Path) -> Package | None:
    """Return the package of a folder, an empty one where its package.json cannot be read, None where there is none."""
    if not (root / "package.json").is_file():
        return None
    return Package(root.absolute(), read_json(root / "package.json") or {})


def read_json(path: Path) -> Mapping[str, Any] | None:
    """Return a JSON object from a file, None where it has none or cannot be read."""
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, Mapping) else None


def _installing(folder: Path) -> Iterator[str]:
    return (command for lock, command in _LOCKS.items() if (folder / lock).is_file())
