"""What the sources of a tree define and say, and what of it a step between two trees takes away.

Read with `ast` and regular expressions alone: whatever a label says must not rest on the rules that it judges.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from outcomes import FUNCTIONS, Function, parsed
from trees import Tree, is_source

SHORTEST_NAME: Final = 3
SHORTEST_TEXT: Final = 6
SHORTEST_PART: Final = 10
_VERSION: Final = re.compile(r"Programming Language :: Python :: (\d\.\d+)")
_REQUIRED: Final = re.compile(r"(?:python_requires|requires-python)\s*=\s*[\"']?([^\"'\n]+)")
_SETUP: Final = re.compile(r"(^|/)(pyproject\.toml|setup\.(cfg|py))$")
_INTERPRETER: Final = re.compile(r"\bversion_info\b|\b_?(?:IS_)?(?:PY|PYPY|PYTHON)_?\d*\b", re.IGNORECASE)
Signature = tuple[tuple[tuple[str, str], ...], frozenset[str]]  # parameters by place with defaults, and what else


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Hold what source files define: names, parameters, signatures by bare name, texts, and what they import."""

    names: frozenset[str]
    parameters: frozenset[str]
    texts: frozenset[str]
    imports: frozenset[str]
    signatures: Mapping[str, frozenset[Signature]]


@dataclass(frozen=True, slots=True)
class Uses:
    """Hold what a piece of test code uses: names, keywords of calls, what it calls, texts, its own text."""

    names: frozenset[str]
    keywords: frozenset[str]
    called: frozenset[str]
    texts: frozenset[str]
    source: str

    def __or__(self, other: "Uses") -> "Uses":
        return Uses(
            self.names | other.names,
            self.keywords | other.keywords,
            self.called | other.called,
            self.texts | other.texts,
            f"{self.source}\n{other.source}",
        )


class Lost:
    """Be what the sources of the old tree have and those of the new one do not."""

    def __init__(self, old: Tree, new: Tree) -> None:
        before, after = vocabulary_of(old), vocabulary_of(new)
        self.names = before.names - after.names - after.parameters
        self.parameters = before.parameters - after.parameters - after.names
        self.imports = before.imports - after.imports
        self.texts = before.texts - after.texts
        self._still = after.texts
        self.changed = frozenset(
            name for name, olds in before.signatures.items() if _all_changed(olds, after.signatures.get(name))
        )
        self.python = _python_of(old) != _python_of(new) and _shrank(_python_of(old), _python_of(new))

    def reason(self, uses: Uses, bound: frozenset[str] = frozenset()) -> str:
        """Return what of the things that test code uses is gone or specified otherwise, "" where nothing is.

        `bound` are names that the test code binds itself: these are no use of the package's.
        """
        for kind, found in (
            ("name", (uses.names - bound) & self.names),
            ("parameter", uses.keywords & (self.parameters | self.names)),
            ("signature", (uses.called - bound) & self.changed),
            ("dependency", uses.names & self.imports),
            ("text", frozenset(filter(self._is_lost, uses.texts))),
        ):
            if found:
                return f"{kind} {min(found)}"
        return "interpreter" if self.python and _INTERPRETER.search(uses.source) else ""

    def _is_lost(self, text: str) -> bool:
        """Tell whether a text of a test stood in the old sources, whole or in part, and in no new one."""
        if text.startswith("-") or len(text) >= SHORTEST_TEXT:
            if text in self.texts:
                return True
            plain = text.replace("\\", "")
            if len(plain) >= SHORTEST_PART and not any(plain in each for each in self._still):
                return any(plain in each or (len(each) >= SHORTEST_PART and each in plain) for each in self.texts)
        return False


def _all_changed(olds: frozenset[Signature], news: frozenset[Signature] | None) -> bool:
    """Tell whether no definition of a name can be called any more as some old one was."""
    return news is not None and not any(_extends(old, new) for old in olds for new in news)


def _extends(old: Signature, new: Signature) -> bool:
    """Tell whether all that the old signature had stands in the new one; what was only added has a default."""
    places = dict(new[0])
    kept = all(places.get(name) == default for name, default in old[0])
    order = [name for name, _ in new[0] if name in dict(old[0])] == [name for name, _ in old[0]]
    added = [default for name, default in new[0] if name not in dict(old[0])]
    return kept and order and all(added) and old[1] <= new[1]


def _python_of(tree: Tree) -> tuple[frozenset[str], frozenset[str]]:
    texts = [data.decode("utf-8", "replace") for path, data in tree.items() if _SETUP.search(path) and "/" not in path]
    return (
        frozenset(version for text in texts for version in _VERSION.findall(text)),
        frozenset(found.strip() for text in texts for found in _REQUIRED.findall(text)),
    )


def _shrank(old: tuple[frozenset[str], frozenset[str]], new: tuple[frozenset[str], frozenset[str]]) -> bool:
    """Tell whether an interpreter is no longer supported: a classifier is gone, or the lowest version rose."""
    if old[0] and new[0] and old[0] - new[0]:
        return True
    lowest = [[_lowest(text) for text in each[1]] for each in (old, new)]
    return bool(lowest[0] and lowest[1]) and min(lowest[0]) < min(lowest[1])


def _lowest(text: str) -> tuple[int, int]:
    found = re.search(r">=?\s*(\d+)(?:\.(\d+))?", text)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def vocabulary_of(tree: Tree) -> Vocabulary:
    """Return what all sources of a tree define; names of two letters say nothing."""
    parts = [_of_file(data) for path, data in tree.items() if is_source(path)]
    stems = {path.removesuffix(".py").rpartition("/")[2] for path in tree if is_source(path)}
    signatures: dict[str, set[Signature]] = defaultdict(set)
    for part in parts:
        for name, found in part.signatures.items():
            signatures[name] |= found
    return Vocabulary(
        frozenset().union(*(part.names for part in parts), stems),
        frozenset().union(*(part.parameters for part in parts)),
        frozenset().union(*(part.texts for part in parts)),
        frozenset().union(*(part.imports for part in parts)),
        {name: frozenset(found) for name, found in signatures.items()},
    )


@lru_cache(maxsize=4096)
def _of_file(data: bytes) -> Vocabulary:
    module = parsed(data)
    names: set[str] = set()
    parameters: set[str] = set()
    imports: set[str] = set()
    signatures: dict[str, frozenset[Signature]] = {}
    for node in ast.walk(module) if module is not None else ():
        names.update(_defined(node))
        if isinstance(node, FUNCTIONS):
            parameters.update(each.arg for each in _arguments(node))
            signatures[node.name] = signatures.get(node.name, frozenset()) | {_signature(node)}
        elif isinstance(node, ast.ClassDef):
            signatures[node.name] = signatures.get(node.name, frozenset()) | {_signature_of_class(node)}
            names.update(name for each in node.body for name in _assigned(each))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports.update(_imported(node))
    names.update(name for each in (module.body if module is not None else ()) for name in _assigned(each))
    return Vocabulary(
        frozenset(name for name in names if len(name) >= SHORTEST_NAME and not name.startswith("__")),
        frozenset(name for name in parameters if len(name) >= SHORTEST_NAME),
        texts_of(module) if module is not None else frozenset(),
        frozenset(imports),
        {name: found for name, found in signatures.items() if len(name) >= SHORTEST_NAME},
    )


def _defined(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr


def _assigned(node: ast.stmt) -> Iterator[str]:
    """Yield what a statement of a module or class binds, in the branches of an `if` or `try` too."""
    for each in ast.walk(node) if isinstance(node, ast.If | ast.Try) else (node,):
        for target in _targets(each):
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) else []


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif not node.level and node.module:
        yield node.module.partition(".")[0]


def _arguments(function: Function) -> list[ast.arg]:
    part = function.args
    return [*part.posonlyargs, *part.args, *part.kwonlyargs]


def _signature(function: Function) -> Signature:
    part = function.args
    places = [*part.posonlyargs, *part.args]
    defaults = [*[""] * (len(places) - len(part.defaults)), *map(ast.unparse, part.defaults)]
    shown = [(each.arg, default) for each, default in zip(places, defaults, strict=True)]
    others = {f"{each.arg}={_default(value)}" for each, value in zip(part.kwonlyargs, part.kw_defaults, strict=True)}
    others |= {f"*{'*' * stars}" for stars, each in enumerate((part.vararg, part.kwarg)) if each is not None}
    if isinstance(function, ast.AsyncFunctionDef):
        others.add("async")
    return tuple(shown), frozenset(others)


def _default(node: ast.expr | None) -> str:
    return ast.unparse(node) if node is not None else ""


def _signature_of_class(node: ast.ClassDef) -> Signature:
    """Return how a class is called, and its bases."""
    made = [each for each in node.body if isinstance(each, FUNCTIONS) and each.name == "__init__"]
    places, others = _signature(made[0]) if made else ((), frozenset())
    return places, others | {f"base {ast.unparse(each)}" for each in node.bases}


def texts_of(node: ast.AST) -> frozenset[str]:
    """Return the texts that code holds, parts of f-strings and of %-formats too, less docstrings."""
    prose = {
        id(each.body[0].value)
        for each in ast.walk(node)
        if isinstance(each, (*FUNCTIONS, ast.ClassDef, ast.Module)) and each.body and isinstance(each.body[0], ast.Expr)
    }
    found = {
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in prose
    }
    parts = {part.strip() for text in found for part in re.split(r"%[sdr]|\{[^}]*\}", text)}
    return frozenset(text for text in found | parts if re.search(r"[A-Za-z]", text))


def uses_of(node: ast.AST) -> Uses:
    """Return what a piece of test code uses."""
    names: set[str] = set()
    keywords: set[str] = set()
    called: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            names.add(each.id)
        elif isinstance(each, ast.Attribute):
            names.add(each.attr)
        elif isinstance(each, ast.alias):
            names.update(each.name.split("."))
        elif isinstance(each, ast.Call):
            keywords.update(word.arg for word in each.keywords if word.arg)
            called.add(_last_name(each.func))
    texts = texts_of(node)
    dotted = {part for text in texts if re.fullmatch(r"\w+(\.\w+)+", text) for part in text.split(".")}
    return Uses(frozenset(names | dotted), frozenset(keywords), frozenset(called), texts, ast.unparse(node))


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def bound_by(node: ast.AST) -> frozenset[str]:
    """Return the names that a piece of test code binds, its parameters too."""
    stored = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    taken = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    return frozenset(stored | taken)
