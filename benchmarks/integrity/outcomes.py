"""Which tests a tree holds and how they end, read from the sources: nothing of a fetched package is ever run.

A test that is collected passes, one that is marked to be skipped is skipped. Ids are as pytest's JUnit report has them:
`tests.test_box.TestBox::test_lid[1]`.
"""

import ast
import fnmatch
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from trees import Tree, is_collected

PASSED: Final = "passed"
FAILED: Final = "failed"
SKIPPED: Final = "skipped"
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef
_CASES: Final = 400
_CLASSES: Final = ("Test",)  # what pytest looks for by itself
_CHOSEN: Final = re.compile(r"^[ \t]*python_classes[ \t]*=[ \t]*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n=]+$)*)", re.MULTILINE)
_CHOOSING: Final = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_PYTHON: Final = (3, 11)  # what the tests are taken to be run by


@lru_cache(maxsize=4096)
def parsed(data: bytes) -> ast.Module | None:
    """Return the syntax tree of a file, None where it is no Python of today."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return None


def outcomes_of(tree: Tree, chosen: tuple[str, ...] = ()) -> dict[str, str]:
    """Return how each test of a tree ends, by its id; `chosen` stands for the classes that its settings choose."""
    found: dict[str, str] = {}
    classes = chosen or classes_of(tree)
    for path, data in tree.items():
        if is_collected(path):
            found.update(_in_file(path, data, classes))
    return found


def classes_of(tree: Tree) -> tuple[str, ...]:
    """Return the beginnings or patterns of the names of classes that the settings of a tree have pytest collect."""
    for path in _CHOOSING:
        found = _CHOSEN.search(tree.get(path, b"").decode("utf-8", "replace"))
        if found is not None:
            return tuple(re.findall(r"[^\s\[\]\"',]+", found[1])) or _CLASSES
    return _CLASSES


@lru_cache(maxsize=8192)
def _in_file(path: str, data: bytes, chosen: tuple[str, ...]) -> Mapping[str, str]:
    module = parsed(data)
    if module is None:
        return {}
    skipped = _skips_all(module)
    owner = path.removesuffix(".py").replace("/", ".")
    found: dict[str, str] = {}
    for classes, function, skip in functions_of(module, chosen):
        base = f"{'.'.join((owner, *classes))}::{function.name}"
        ends = SKIPPED if skipped or skip or _skips_itself(function) else PASSED
        found.update({f"{base}{suffix}": ends for suffix in parameters_of(function)})
    return found


def functions_of(
    module: ast.Module, chosen: tuple[str, ...] = _CLASSES
) -> Iterator[tuple[tuple[str, ...], Function, bool]]:
    """Yield the tests of a module with the classes round them, and whether one of these is marked as skipped.

    `chosen` are the names of classes that are collected for their name.
    """
    waiting: list[tuple[tuple[str, ...], list[ast.stmt], bool]] = [((), module.body, False)]
    while waiting:
        classes, body, skipped = waiting.pop()
        for node in body:
            if isinstance(node, FUNCTIONS) and node.name.startswith("test") and not _is_fixture(node):
                yield classes, node, skipped or is_marked(node)
            elif isinstance(node, ast.ClassDef) and _holds_tests(node, chosen):
                waiting.append(((*classes, node.name), node.body, skipped or is_marked(node)))
            elif isinstance(node, ast.If) and _is_met(node.test, module):
                waiting.append((classes, node.body, skipped))


def _is_met(condition: ast.expr, module: ast.Module) -> bool:
    """Tell whether a condition asks for a version of Python that is old by now, or for a name that is imported."""
    if isinstance(condition, ast.Name):
        imports = (each for each in ast.walk(module) if isinstance(each, (ast.Import, ast.ImportFrom)))
        return any((alias.asname or alias.name) == condition.id for each in imports for alias in each.names)
    try:
        version = ast.literal_eval(condition.comparators[0]) if isinstance(condition, ast.Compare) else None
    except ValueError:
        return False
    asks = ast.unparse(condition).startswith("sys.version_info >")
    return asks and isinstance(version, tuple) and version <= _PYTHON


def _is_fixture(function: Function) -> bool:
    return any(_called(each)[0].rpartition(".")[2] == "fixture" for each in function.decorator_list)


def _holds_tests(node: ast.ClassDef, chosen: tuple[str, ...]) -> bool:
    """Tell whether a class is collected: by its name, or because it is a TestCase."""
    named = any(node.name.startswith(each) or fnmatch.fnmatch(node.name, each) for each in chosen)
    return named or any("Test" in _called(base)[0] for base in node.bases)


def is_marked(node: Function | ast.ClassDef) -> bool:
    """Tell whether a marker says, without a condition, that it is not to be run or may fail."""
    for decorator in node.decorator_list:
        called, arguments = _called(decorator)
        bare = called.rpartition(".")[2]
        if bare in {"skip", "expectedFailure"} or (bare == "xfail" and not arguments):
            return True
        always = arguments and isinstance(arguments[0], ast.Constant) and arguments[0].value is True
        if bare in {"skipif", "skipIf"} and always:
            return True
    return False


def _called(node: ast.expr) -> tuple[str, list[ast.expr]]:
    """Return the dotted name of a call or a name, and the arguments by place."""
    arguments = node.args if isinstance(node, ast.Call) else []
    node = node.func if isinstance(node, ast.Call) else node
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([*([node.id] if isinstance(node, ast.Name) else []), *reversed(parts)]), arguments


def _skips_itself(function: Function) -> bool:
    return any(
        isinstance(each, ast.Expr)
        and isinstance(each.value, ast.Call)
        and _called(each.value)[0] in {"pytest.skip", "pytest.xfail", "self.skipTest"}
        for each in function.body
    )


def _skips_all(module: ast.Module) -> bool:
    for node in module.body:
        if isinstance(node, ast.Assign) and _called(node.targets[0])[0] == "pytestmark":
            text = ast.unparse(node.value)
            return "mark.skip" in text and ("skipif" not in text or "skipif(True" in text)
        if isinstance(node, ast.Expr) and _called(node.value)[0] == "pytest.skip":
            return True
    return False


def parameters_of(function: Function) -> list[str]:
    """Return what pytest adds to the name, one text a case; `[""]` for a test without parameters, or unread ones."""
    parts = []
    for decorator in reversed(function.decorator_list):
        if isinstance(decorator, ast.Call) and _called(decorator)[0].endswith("mark.parametrize"):
            cases = _cases_of(decorator)
            if not cases:
                return [""]
            parts.append(cases)
    if not parts:
        return [""]
    joined = ["-".join(case) for case in itertools.islice(itertools.product(*parts), _CASES)]
    often, seen = Counter(joined), Counter[str]()
    return [f"[{case}{_number(seen, case) if often[case] > 1 else ''}]" for case in joined]


def carried_over(old: Tree, new: Tree, chosen: tuple[str, ...] = ()) -> dict[str, str]:
    """Return how the tests of a new tree end; a case keeps its id where what a marker gave cannot be read any more.

    That is where a fixture gives it now, or a table that does not stand in the marker: without this, such a test would
    seem to have lost its cases.
    """
    found = outcomes_of(new, chosen)
    for path in old.keys() & new.keys():
        if old[path] != new[path] and is_collected(path):
            before, after = _given_in(old[path]), _given_in(new[path])
            owner = path.removesuffix(".py").replace("/", ".")
            for key in before.keys() & after.keys():
                taken = before[key][0] - after[key][0]
                unread = not taken and after[key][0] and after[key][2] == ("",) != before[key][2]
                if (taken and taken <= after[key][1]) or unread:
                    base = f"{'.'.join((owner, *key[0]))}::{key[1]}"
                    ends = {found.pop(f"{base}{suffix}", PASSED) for suffix in after[key][2]}
                    found.update({f"{base}{suffix}": min(ends) for suffix in before[key][2]})
    return found


_Given = tuple[frozenset[str], frozenset[str], tuple[str, ...]]


@lru_cache(maxsize=4096)
def _given_in(data: bytes) -> Mapping[tuple[tuple[str, ...], str], _Given]:
    """Return for each test the names that markers give, the names that it asks for, and its cases."""
    module = parsed(data)
    return {
        (classes, each.name): (_marked(each), frozenset(one.arg for one in each.args.args), tuple(parameters_of(each)))
        for classes, each, _ in (functions_of(module) if module is not None else ())
    }


def _marked(function: Function) -> frozenset[str]:
    names: set[str] = set()
    for decorator in function.decorator_list:
        called, arguments = _called(decorator)
        if called.endswith("mark.parametrize") and arguments and isinstance(arguments[0], ast.Constant):
            names.update(name.strip() for name in str(arguments[0].value).split(","))
    return frozenset(names)


def _number(seen: Counter[str], case: str) -> str:
    """Return what tells a case from others of the same values, as pytest does."""
    seen[case] += 1
    return f"{'_' if case[-1:].isdigit() else ''}{seen[case] - 1}"


def _cases_of(call: ast.Call) -> list[str]:
    if len(call.args) < 2 or not isinstance(call.args[1], (ast.List, ast.Tuple)):
        return []
    try:
        names = ast.literal_eval(call.args[0])
    except ValueError:
        return []
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else [str(name) for name in names]
    rows = call.args[1].elts
    return [_case(row, names, number) for number, row in enumerate(rows)]


def _case(row: ast.expr, names: list[str], number: int) -> str:
    if isinstance(row, ast.Call) and _called(row)[0].endswith("param"):
        named = [word.value for word in row.keywords if word.arg == "id"]
        if named and isinstance(named[0], ast.Constant):
            return str(named[0].value)
        values = row.args
    else:
        values = row.elts if len(names) > 1 and isinstance(row, (ast.Tuple, ast.List)) else [row]
    shown = []
    for position, value in enumerate(values):
        name = names[position] if position < len(names) else "value"
        plain = isinstance(value, ast.Constant) and isinstance(value.value, (str, int, float, bool, type(None)))
        text = str(value.value).encode("unicode_escape").decode() if isinstance(value, ast.Constant) else ""
        shown.append(text if plain else f"{name}{number}")
    return "-".join(shown)
