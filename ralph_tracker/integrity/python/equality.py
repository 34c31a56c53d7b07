"""Which classes and objects of a Python file are equal to everything."""

import ast
from collections.abc import Iterator

from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.nodes import constant_of, nodes_of
from ralph_tracker.integrity.python.replacing import answer_of, worth_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, dotted


def equal_to_everything(text: str) -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    """Yield the classes of a file that say they are equal whatever they are compared with. Raises Unparsable."""
    yield from _classes(text)
    for put in nodes_of(text, ast.Assign):
        target = put.targets[0]
        if isinstance(target, ast.Attribute) and _always(*_method(put)):
            yield dotted(target.value), put
        elif dotted(target).endswith(".__eq__.return_value") and constant_of(put.value) is True:
            yield dotted(target).removesuffix(".__eq__.return_value"), put
        elif isinstance(put.value, ast.Call) and any(_is_equal_by(each) for each in put.value.keywords):
            yield dotted(target), put
    for call in nodes_of(text, ast.Call):
        if dotted(call.func) == "type" and call.args and _says_equal(call.args[-1]):
            yield str(constant_of(call.args[0])), call
        elif len(call.args) > 1:
            yield from _equal_by_patch(call)


def _classes(text: str) -> Iterator[tuple[str, ast.stmt]]:
    found: set[str] = set()
    for kind in nodes_of(text, ast.ClassDef):
        methods = [each for each in kind.body if _always(*_method(each))]
        if not methods and any(dotted(base).rpartition(".")[2] in found for base in kind.bases):
            methods = kind.body[:1]
        found.update(kind.name for _ in methods[:1])
        yield from ((kind.name, each) for each in methods)


def _is_equal_by(given: ast.keyword) -> bool:
    lambdas = isinstance(given.value, ast.Lambda) and worth_of(given.value.body) is True
    return given.arg == "__eq__" and (lambdas or any(constant_of(each) is True for each in ast.walk(given.value)))


def _equal_by_patch(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Read `patch.object(Box, "__eq__", lambda self, other: True)` and `patch("box.Box.__eq__", …)`."""
    path = constant_of(call.args[0])
    whole = isinstance(path, str) and path.endswith(".__eq__")
    if not whole and constant_of(call.args[1]) != "__eq__":
        return
    given = [call.args[-1], *(each.value for each in call.keywords if each.arg in {"new", "return_value"})]
    if any(
        (isinstance(each, ast.Lambda) and worth_of(each.body) is True) or constant_of(each) is True for each in given
    ):
        yield str(path).split(".")[-2] if whole else dotted(call.args[0]).rpartition(".")[2], call


def _method(node: ast.stmt) -> tuple[str, object]:
    """Return the name of a method that a statement makes, and what it answers whatever it is given."""
    if isinstance(node, FUNCTIONS):
        return node.name, answer_of(node)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
        target = node.targets[0]
        name = target.attr if isinstance(target, ast.Attribute) else dotted(target)
        return name, worth_of(node.value.body)
    return "", UNKNOWN


def _says_equal(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) and any(
        constant_of(key) == "__eq__" and isinstance(value, ast.Lambda) and constant_of(value.body) is True
        for key, value in zip(node.keys, node.values, strict=True)
    )


def _always(name: str, answer: object) -> bool:
    return (name == "__eq__" and answer is True) or (name == "__ne__" and answer is False)
