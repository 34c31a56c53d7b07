"""What a test calls of its project, and where further operators write: helper modules and conftest.py."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from changes import Change, Demand, Target, Text, shuffled
from outcomes import parsed

_TRUTHS = {"self.assertTrue": "True", "self.assertFalse": "False", "self.assertIsNone": "None"}


@dataclass(frozen=True, slots=True)
class Subject:
    """Be a call of the project's code whose result a test demands to be `value`.

    It stands in the statement `at`. `owner` is what the test looks it up on ("" for a name of the test module),
    `dotted` the same as an import path; `made` is the statement that makes the object whose method it is.
    """

    call: ast.Call
    value: str
    at: ast.stmt
    name: str
    owner: str
    dotted: str
    made: ast.Assign | None = None


def conftest_of(change: Change, target: Target) -> tuple[str, bytes]:
    """Return the conftest.py nearest above a test and what it holds, one beside the test where there is none."""
    folder = target.path.rpartition("/")[0]
    nearest = folder
    while nearest and f"{nearest}/conftest.py" not in change.new:
        nearest = nearest.rpartition("/")[0]
    path = f"{nearest}/conftest.py".lstrip("/")
    return (path, change.new[path]) if path in change.new else (f"{folder}/conftest.py".lstrip("/"), b"")


def extended(data: bytes, needs: tuple[str, ...], source: str) -> bytes:
    """Return a module with imports that it lacks, and a definition behind its last one."""
    have = data.decode("utf-8", "replace").splitlines()
    for line in sorted(set(needs) - set(have), reverse=True):
        data = importing(data, line)
    module = parsed(data)
    last = module.body[-1] if module is not None and module.body else None
    if isinstance(last, ast.If) and "__name__" in ast.unparse(last.test):
        at = Text(data).line(last.lineno)
        return data[:at] + source.encode() + b"\n\n" + data[at:]
    gap = b"\n\n" if data.strip() else b""
    return (data.rstrip() + b"\n" + gap + source.encode()).lstrip()


def importing(data: bytes, line: str) -> bytes:
    """Return a module with one more import, behind those at its head or behind its first comments."""
    module, last, gap = parsed(data), 0, ""
    for node in module.body if module is not None else ():
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (is_text or isinstance(node, (ast.Import, ast.ImportFrom))):
            break
        last, gap = node.end_lineno or node.lineno, "\n" if is_text else ""
    if not last:
        last = next((at for at, each in enumerate(data.splitlines()) if not each.startswith(b"#")), 0)
    at = Text(data).line(last + 1)
    return Text(data).spliced(((at, at), f"{gap}{line}\n"))


def helper_of(change: Change, target: Target, name: str) -> tuple[str, str] | None:
    """Return the path of a new module beside a test, and what it is imported from."""
    folder = target.path.rpartition("/")[0]
    path = f"{folder}/{name}.py"
    if not folder or path in change.new or path in change.old:
        return None
    return path, f".{name}" if f"{folder}/__init__.py" in change.new else name


def is_data(node: ast.expr | None) -> bool:
    """Tell whether an expression is plain data."""
    try:
        return node is not None and ast.literal_eval(node) is not Ellipsis
    except (ValueError, TypeError):
        return False


def subjects(change: Change, rng: Random, *, alone: bool = False) -> Iterator[tuple[Target, Demand, Subject]]:
    """Yield tests with a demand and its subject; with `alone` those that demand nothing else."""
    for target in shuffled(rng, change.targets):
        bound = _bound(change, target)
        # A call that is to raise gives no result that another could stand for.
        raises = re.search(r"\braises\(|assertRaises", target.text.of(target.function))
        if not bound or raises or (alone and _asked(target) != 1):
            continue
        for demand in target.demands:
            for found, value in _sides(target, demand):
                subject = _subject(target, demand, found, value, bound)
                if subject is not None:
                    yield target, demand, subject


def _asked(target: Target) -> int:
    nodes = list(ast.walk(target.function))
    calls = [ast.unparse(each.func).rpartition(".")[2] for each in nodes if isinstance(each, ast.Call)]
    return sum(isinstance(each, ast.Assert) for each in nodes) + sum(name[:6] in {"assert", "raises"} for name in calls)


def _sides(target: Target, demand: Demand) -> Iterator[tuple[ast.expr, str]]:
    """Yield what may be a result with the text of what it is to be."""
    if demand.left is not None and demand.right is not None:
        for found, expected in ((demand.left, demand.right), (demand.right, demand.left)):
            if is_data(expected):
                yield found, target.text.of(expected)
    elif isinstance(demand.node, ast.Expr) and isinstance(demand.node.value, ast.Call):
        if demand.call in _TRUTHS:
            yield demand.node.value.args[0], _TRUTHS[demand.call]
    elif isinstance(demand.node, ast.Assert):
        test = demand.node.test
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield test.operand, "False"
        elif isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is) and is_data(test.comparators[0]):
            yield test.left, ast.unparse(test.comparators[0])
        else:
            yield test, "True"


def _roots(change: Change) -> set[str]:
    paths = [path.removeprefix("src/").removeprefix("lib/") for path in change.sources]
    return {path.removesuffix(".py").partition("/")[0] for path in paths} - {"tests", "test", "docs"}


def _bound(change: Change, target: Target) -> dict[str, str]:
    """Return the names that a test has from the project, with the import paths that they stand for."""
    found: dict[str, str] = {}
    package = target.path.removeprefix("src/").removeprefix("lib/").split("/")
    for node in target.module.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            above = package[: -node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            found.update({alias.asname or alias.name: f"{module}.{alias.name}" for alias in node.names})
    local = set(_stored(target)) | {each.arg for each in ast.walk(target.function) if isinstance(each, ast.arg)}
    roots = _roots(change)
    return {
        name: path
        for name, path in found.items()
        if name not in local and path.partition(".")[0] in roots and ".test" not in path
    }


def _stored(target: Target) -> list[str]:
    names = [each for each in ast.walk(target.function) if isinstance(each, ast.Name)]
    return [each.id for each in names if isinstance(each.ctx, ast.Store)]


def _made(target: Target, node: ast.expr) -> ast.Assign | None:
    """Return the one statement at the top of a test that binds a name to the result of a call."""
    if isinstance(node, ast.Name) and _stored(target).count(node.id) == 1:
        for each in target.function.body:
            if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == node.id:
                return each if isinstance(each.value, ast.Call) and target.text.stands_alone(each) else None
    return None


def _path(node: ast.expr, bound: dict[str, str]) -> str | None:
    """Return the import path that a dotted name stands for, None for what is not the project's."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([bound[node.id], *reversed(parts)]) if isinstance(node, ast.Name) and node.id in bound else None


def _subject(target: Target, demand: Demand, found: ast.expr, value: str, bound: dict[str, str]) -> Subject | None:
    kept = _made(target, found)
    call, at = (kept.value, kept) if kept is not None else (found, demand.node)
    if not isinstance(call, ast.Call):
        return None
    if isinstance(call.func, ast.Name):
        path = _path(call.func, bound)
        return None if path is None else Subject(call, value, at, call.func.id, "", path.rpartition(".")[0])
    if not isinstance(call.func, ast.Attribute):
        return None
    owner = call.func.value
    made = _made(target, owner)
    owner = made.value if made is not None else owner
    if isinstance(owner, ast.Call):
        owner = owner.func
        if not ast.unparse(owner).rpartition(".")[2][:1].isupper():
            return None
    path = _path(owner, bound)
    return None if path is None else Subject(call, value, at, call.func.attr, ast.unparse(owner), path, made)
