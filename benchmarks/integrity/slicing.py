"""Cut a step between two releases into changes as large as one iteration: a test file and the sources that it tests."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from changes import Change
from outcomes import classes_of, parsed
from relaxing import Relaxation
from trees import Tree, belongs_to_tests, changed_paths, is_collected, is_settings, is_source
from vanished import Vanished


def slices_of(change: Change, gone: Iterable[Vanished]) -> Iterator[Change]:
    """Yield the small changes of a step, each on top of the old release.

    Each has the test files that share a test (one, where none was moved), the helpers of tests that they import or that
    are given to them, and the changed sources that they import, else all changed ones that these reach. The settings
    are a change of their own; classes that those of either release have collected are collected in all changes.
    """
    changed = changed_paths(change.old, change.new)
    files = [path for path in changed if is_collected(path)]
    modules = _Modules(change.old, change.new)
    for group in _joined(files, gone):
        taken = sorted({*group, *_with(group, changed, modules)})
        yield _taken(change, group[0], taken)
    settings = [path for path in changed if is_settings(path) and not belongs_to_tests(path)]
    if settings:
        yield _taken(change, "settings", settings)


def _taken(change: Change, label: str, paths: Sequence[str]) -> Change:
    """Return the part of a step that is about some paths."""
    new = dict(change.old)
    for path in paths:
        new.pop(path, None)
        if path in change.new:
            new[path] = change.new[path]
    chosen = tuple(dict.fromkeys((*classes_of(change.old), *classes_of(change.new))))
    return Change(change.project, f"{change.name}, {label}", change.old, new, chosen)


def relaxed_in(part: Change, found: Iterable[Relaxation]) -> tuple[Relaxation, ...]:
    """Return those relaxations of a step that a part of it has."""
    return tuple(each for each in found if each.file in part.paths)


def _joined(files: Sequence[str], gone: Iterable[Vanished]) -> list[list[str]]:
    """Return the files in groups: those between which a test moved are one."""
    groups = {path: {path} for path in files}
    for each in gone:
        for home in each.homes:
            if each.file in groups and home in groups and groups[each.file] is not groups[home]:
                both = groups[each.file] | groups[home]
                groups.update(dict.fromkeys(both, both))
    unique = {id(group): sorted(group) for group in groups.values()}
    return sorted(unique.values())


def _with(group: Iterable[str], changed: Sequence[str], modules: "_Modules") -> set[str]:
    """Return what else belongs to a change of test files."""
    helpers = {path for path in changed if belongs_to_tests(path) and not is_collected(path)}
    imported = {path for each in group for path in modules.imported(each)}
    given = {path for path in helpers if path in imported or any(_is_given(path, each) for each in group)}
    sources = {path for path in changed if is_source(path)}
    near = sources & (imported | {path for each in given for path in modules.imported(each)})
    return given | (near or sources & modules.reached(imported))


def _is_given(helper: str, test: str) -> bool:
    """Tell whether a conftest.py holds for a test file, or a file of data stands below its folder."""
    folder = helper.rpartition("/")[0]
    if helper.endswith("conftest.py"):
        return not folder or test.startswith(f"{folder}/")
    return not helper.endswith(".py") and folder.startswith(test.rpartition("/")[0])


class _Modules:
    """Be the modules of two trees, and what each imports."""

    def __init__(self, *trees: Tree) -> None:
        self._trees = trees
        self._by_name: dict[str, str] = {}
        paths = {path for tree in trees for path in tree if path.endswith(".py")}
        for path in sorted(paths, key=lambda each: (belongs_to_tests(each), each.count("/"), each)):
            parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
            for first in range(len(parts)):
                self._by_name.setdefault(".".join(parts[first:]), path)
            self._by_name[".".join(parts)] = path

    def imported(self, path: str) -> set[str]:
        """Return the files that a file imports, those too that a package takes the imported names from."""
        found = set()
        for module, name in self._imports(path):
            target = self._by_name.get(f"{module}.{name}") if name else None
            target = target or self._by_name.get(module)
            if target is not None:
                found.add(target)
                if target.endswith("__init__.py"):
                    found |= self._homes(target, name)
        return found

    def _homes(self, package: str, name: str) -> set[str]:
        """Return the modules that a package's own file takes a name from, by which it is imported elsewhere."""
        return {
            self._by_name[module]
            for module, inner in self._imports(package)
            if inner in {name, "*"} and name and module in self._by_name
        }

    def reached(self, paths: Iterable[str]) -> set[str]:
        """Return all files that some files import in the end."""
        seen: set[str] = set()
        waiting = list(paths)
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                waiting += self.imported(path)
        return seen

    def _imports(self, path: str) -> list[tuple[str, str]]:
        found = []
        for tree in self._trees:
            for level, module, name in _imports_in(tree.get(path, b"")):
                found.append((_absolute(path, level, module), name))
        return found


def _absolute(path: str, level: int, module: str) -> str:
    if not level:
        return module
    parts = path.removesuffix(".py").split("/")
    return ".".join([*parts[: len(parts) - level], *([module] if module else [])])


@lru_cache(maxsize=8192)
def _imports_in(data: bytes) -> tuple[tuple[int, str, str], ...]:
    """Return level, module and name of each import; of a plain import the attributes that are asked of it too."""
    module = parsed(data)
    found: list[tuple[int, str, str]] = []
    plain: dict[str, str] = {}
    asked: Mapping[str, set[str]] = defaultdict(set)
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.ImportFrom):
            found += [(node.level, node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            plain.update({alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names})
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            asked[node.value.id].add(node.attr)
    for bound, name in plain.items():
        found += [(0, name, ""), *((0, name, attribute) for attribute in sorted(asked[bound]))]
    return tuple(found)
