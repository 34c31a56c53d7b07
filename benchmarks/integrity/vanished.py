"""Why tests are no longer there after a step between two trees: kept under another name, gone with their code, dropped.

Decided from the text of the two trees alone, by the criterion that README.md writes down.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal

from outcomes import FUNCTIONS, Function, classes_of, functions_of, parameters_of, parsed
from trees import Tree, belongs_to_tests, changed_paths, is_collected
from vocabulary import Lost, Uses, bound_by, uses_of
from written import NOTHING, Written, in_use, literals_of, words_of, written, written_in

Fate = Literal["kept", "with its code", "unclear", "dropped"]
KEPT: Final = 0.5  # share of its statements or literals that one file adds
DROPPED: Final = 0.2
ALIKE: Final = 0.8  # share of its words that one new test holds
UNLIKE: Final = 0.6
MOVED: Final = 0.5  # share of the functions of a test file that stand in another one
FEWEST_FUNCTIONS: Final = 2
_FEWEST_WORDS: Final = 6
_LONGEST: Final = 3  # a new test of more words than so many times the old one's holds anything
Key = tuple[str, tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class Vanished:
    """Hold a test that the new tree does not have: its id, its file, its fate, why, and the files that keep it."""

    test: str
    file: str
    fate: Fate
    why: str = ""
    homes: frozenset[str] = frozenset()


class Step:
    """Be two successive trees: the tests of each, and what the test files of the new one add."""

    def __init__(self, old: Tree, new: Tree) -> None:
        self.old = old
        self.new = new

    @cached_property
    def lost(self) -> Lost:
        """Return what the sources no longer have."""
        return Lost(self.old, self.new)

    @cached_property
    def olds(self) -> Mapping[Key, Function]:
        """Return the tests of the old tree."""
        return _tests_of(self.old)

    @cached_property
    def news(self) -> Mapping[Key, Function]:
        """Return the tests of the new tree."""
        return _tests_of(self.new)

    @cached_property
    def sources_of_moved(self) -> Mapping[str, str]:
        """Return the old path of each test file that stands at another one now: most of its functions are there."""
        gone = [path for path in self.old if _is_test_code(path) and path not in self.new]
        came = [path for path in self.new if _is_test_code(path) and path not in self.old]
        shares = [(_in_common(self.old[old], self.new[new]), old, new) for old in gone for new in came]
        found: dict[str, str] = {}
        for share, old, new in sorted(shares, reverse=True):
            if share > MOVED and new not in found and old not in found.values():
                found[new] = old
        return found

    @cached_property
    def homes_of_moved(self) -> Mapping[str, str]:
        """Return where each test file that moved as a whole stands now."""
        return {old: new for new, old in self.sources_of_moved.items()}

    def before(self, key: Key) -> Key:
        """Return what a test of the new tree was called, had its file moved and nothing else changed."""
        return self.sources_of_moved.get(key[0], key[0]), *key[1:]

    @cached_property
    def added(self) -> Mapping[str, Written]:
        """Return what each changed test file of the new tree adds: in each function what it did not hold before."""
        found = {}
        for path in changed_paths(self.old, self.new):
            data = self.new.get(path)
            if data is not None and _is_test_code(path):
                before = written_in(self.old.get(self.sources_of_moved.get(path, path), b""))
                found[path] = sum((each - before.get(name, NOTHING) for name, each in in_use(data)), NOTHING)
        return found

    @cached_property
    def new_names(self) -> Mapping[str, frozenset[str]]:
        """Return the files that a test's name is new in, by the name."""
        found: dict[str, set[str]] = defaultdict(set)
        for key in self.news:
            if self.before(key) not in self.olds:
                found[key[2]].add(key[0])
        return {name: frozenset(paths) for name, paths in found.items()}

    @cached_property
    def new_words(self) -> Mapping[Key, Counter[str]]:
        """Return the words of each test that is new, and those that a changed one has more than before."""
        found = {}
        for key, function in self.news.items():
            old = self.olds.get(self.before(key))
            if old is None or (self.old.get(key[0]) != self.new[key[0]] and ast.dump(old) != ast.dump(function)):
                found[key] = words_of(function) - (words_of(old) if old is not None else Counter())
        return found

    def uses(self, key: Key) -> tuple[Uses, frozenset[str]]:
        """Return what a test of the old tree uses and binds, with the helpers that the new file no longer has."""
        function = self.olds[key]
        used, bound = uses_of(function), bound_by(function)
        for node in self._gone_class(key):
            used |= uses_of(node)
        helpers = self._gone_helpers(key[0])
        waiting = [name for name in used.names | bound if name in helpers]
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for node in helpers[name]:
                more = uses_of(node)
                used, bound = used | more, bound | bound_by(node) | {name}
                waiting += [each for each in more.names if each in helpers]
        return used, bound

    def _gone_helpers(self, path: str) -> Mapping[str, list[ast.stmt]]:
        now = _helpers(self._now(path))
        return {name: nodes for name, nodes in _helpers(self.old[path]).items() if name not in now}

    def _gone_class(self, key: Key) -> list[ast.AST]:
        """Return what the class of a test says of itself, where the new file does not have that class either."""
        classes = _classes(self.old[key[0]])
        return classes.get(key[1], []) if key[1] not in _classes(self._now(key[0])) else []

    def _now(self, path: str) -> bytes:
        return self.new.get(self.homes_of_moved.get(path, path), b"")


@lru_cache(maxsize=4096)
def _classes(data: bytes) -> Mapping[tuple[str, ...], list[ast.AST]]:
    """Return the bases, decorators and constants of each class of a file by its dotted name."""
    module = parsed(data)
    found: dict[tuple[str, ...], list[ast.AST]] = {}
    waiting = [((), each) for each in (module.body if module is not None else ()) if isinstance(each, ast.ClassDef)]
    while waiting:
        outer, node = waiting.pop()
        name = (*outer, node.name)
        values = [each.value for each in node.body if isinstance(each, ast.Assign)]
        found[name] = [*node.bases, *node.decorator_list, *values]
        waiting += [(name, each) for each in node.body if isinstance(each, ast.ClassDef)]
    return found


def _is_test_code(path: str) -> bool:
    return path.endswith(".py") and belongs_to_tests(path)


def _in_common(old: bytes, new: bytes) -> float:
    """Return the share of the functions of an old test file that stand in a new one under their names."""
    before, after = written_in(old).keys() - {""}, written_in(new).keys()
    return len(before & after) / len(before) if len(before) >= FEWEST_FUNCTIONS else 0.0


@lru_cache(maxsize=4096)
def _helpers(data: bytes) -> Mapping[str, list[ast.stmt]]:
    """Return the statements of a file that bind a name which is no test's, at its top and in its classes."""
    module = parsed(data)
    found: dict[str, list[ast.stmt]] = defaultdict(list)
    waiting: list[ast.stmt] = list(module.body) if module is not None else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef):
            tested = any(isinstance(each, FUNCTIONS) and each.name.startswith("test") for each in node.body)
            waiting += node.body if tested else []
            if not tested:
                found[node.name].append(node)
        elif isinstance(node, FUNCTIONS):
            if not node.name.startswith("test"):
                found[node.name].append(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found[target.id].append(node)
    return found


def _tests_of(tree: Tree) -> dict[Key, Function]:
    chosen = classes_of(tree)
    return {
        (path, classes, function.name): function
        for path, data in tree.items()
        if is_collected(path)
        for classes, function in _tests_in(data, chosen)
    }


@lru_cache(maxsize=4096)
def _tests_in(data: bytes, chosen: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], Function], ...]:
    module = parsed(data)
    return tuple((classes, each) for classes, each, _ in functions_of(module, chosen)) if module is not None else ()


def vanished_of(step: Step) -> list[Vanished]:
    """Return each test that the new tree does not have, by its id, with its fate."""
    found = []
    for key, function in step.olds.items():
        if key[0] in step.new and step.new[key[0]] == step.old[key[0]]:
            continue
        new = step.news.get(key)
        if new is None:
            found += _whole(step, key, function)
        else:
            found += _cases(step, key, function, new)
    return found


def _whole(step: Step, key: Key, function: Function) -> list[Vanished]:
    home = step.homes_of_moved.get(key[0])
    if (home, *key[1:]) in step.news:
        moved = frozenset({str(home)})
        return [Vanished(_id(key, suffix), key[0], "kept", "same name", moved) for suffix in parameters_of(function)]
    fate, why, homes = fate_of(step, key, written(function), step.uses(key))
    alike, home = _alike(words_of(function), step.new_words)
    if fate != "kept" and alike >= ALIKE:
        fate, why, homes = "kept", f"{alike:.0%} of its words", frozenset({home})
    elif fate == "dropped" and alike >= UNLIKE:
        fate, why = "unclear", f"{alike:.0%} of its words"
    return [Vanished(_id(key, suffix), key[0], fate, why, homes) for suffix in parameters_of(function)]


def _cases(step: Step, key: Key, function: Function, new: Function) -> list[Vanished]:
    """Return the cases that a parametrized test lost; where it has as many as before, others stand for them."""
    olds, news = parameters_of(function), parameters_of(new)
    gone = [suffix for suffix in olds if suffix not in news]
    if len(news) >= len(olds) or news == [""]:
        return [Vanished(_id(key, suffix), key[0], "kept", "cases", frozenset({key[0]})) for suffix in gone]
    return [_case(step, key, suffix) for suffix in gone]


def _case(step: Step, key: Key, suffix: str) -> Vanished:
    words = frozenset(part for part in suffix.strip("[]").split("-") if part)
    node = ast.Tuple([ast.Constant(word) for word in sorted(words)], ast.Load())
    fate, why, homes = fate_of(step, key, written(ast.Expr(node)), (uses_of(node), frozenset()))
    if fate == "dropped" and not any(literals_of(node)):
        fate = "unclear"  # nothing in such a case tells it from others
    return Vanished(_id(key, suffix), key[0], fate, why, homes)


def fate_of(step: Step, key: Key, code: Written, used: tuple[Uses, frozenset[str]]) -> tuple[Fate, str, frozenset[str]]:
    """Return what became of test code, why, and the files that keep it."""
    same = step.new_names.get(key[2])
    if same:
        return "kept", "same name", same
    best, homes = _found_again(code, step.added)
    if best > KEPT:
        return "kept", f"{best:.0%} of it", homes
    reason = step.lost.reason(*used)
    if reason:
        return "with its code", reason, frozenset()
    return ("unclear", f"{best:.0%} of it", frozenset()) if best >= DROPPED else ("dropped", "", frozenset())


def _alike(words: Counter[str], news: Mapping[Key, Counter[str]]) -> tuple[float, str]:
    """Return the greatest share of a test's words that one new test holds, and its file; short tests say nothing."""
    if words.total() < _FEWEST_WORDS:
        return 0.0, ""
    like = ((key[0], each) for key, each in news.items() if each.total() <= _LONGEST * words.total())
    shares = (((words & each).total() / words.total(), path) for path, each in like)
    return max(shares, default=(0.0, ""))


def _found_again(code: Written, added: Mapping[str, Written]) -> tuple[float, frozenset[str]]:
    """Return the greatest share of the code's statements or literals that one file adds, and which files do."""
    shares = {path: _share(code, each) for path, each in added.items()}
    best = max(shares.values(), default=0.0)
    return best, frozenset(path for path, share in shares.items() if share == best and share > 0)


def _share(code: Written, added: Written) -> float:
    statements = sum((code.statements & added.statements).values()) / max(1, sum(code.statements.values()))
    known = len(code.literals & added.literals) / len(code.literals) if len(code.literals) > 1 else 0.0
    return max(statements, known)


def _id(key: Key, suffix: str) -> str:
    path, classes, name = key
    return f"{'.'.join((path.removesuffix('.py').replace('/', '.'), *classes))}::{name}{suffix}"


def by_fate(found: Iterable[Vanished], fate: Fate) -> frozenset[str]:
    """Return the ids of those tests that met with a fate."""
    return frozenset(each.test for each in found if each.fate == fate)
