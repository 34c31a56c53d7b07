"""What a file says that is a plugin of pytest: which of its functions are hooks, and what its names stand for."""

import ast
import copy
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.emptied_tests import Functions
from ralph_tracker.integrity.python.expectations import module_values
from ralph_tracker.integrity.python.nodes import constant_of, functions_of, imports_of, nodes_of
from ralph_tracker.integrity.python.successes import Values
from ralph_tracker.integrity.python.syntax import Function, dotted

PREFIX: Final = "pytest_"
_GIVEN: Final = Pattern(r"\bpytest_\w+\s*=(?!=)", words=(PREFIX,))


class Plugin(NamedTuple):
    """Hold what the names of a file stand for: its imports, its constants and its functions, inner ones too."""

    imports: Mapping[str, str]
    values: Values
    functions: Functions


def plugin_of(text: str) -> Plugin:
    """Return what the names of a file stand for. Raises Unparsable."""
    return Plugin(imports_of(text), module_values(text), {each.name: each for each in functions_of(text)})


def hooks_of(text: str, plugin: Plugin) -> Iterator[Function]:
    """Yield the functions of a file that pytest calls as hooks, each under the hook's name. Raises Unparsable."""
    for function in functions_of(text):
        if function.name.startswith(PREFIX):
            yield function
        elif name := _name_by_marker(function):
            yield _renamed(function, name)
    if _GIVEN.search(text):
        for name, value in _given(text):
            function_given = plugin.functions.get(dotted(value)) if isinstance(value, ast.Name) else None
            if name.startswith(PREFIX) and function_given is not None:
                yield _renamed(function_given, name)


def _given(text: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that values are given, by an assignment or as an argument: `pytest_configure = _prepare`."""
    for each in nodes_of(text, ast.Assign):
        yield from ((dotted(target).rpartition(".")[2], each.value) for target in each.targets)
    for call in nodes_of(text, ast.Call):
        yield from ((given.arg, given.value) for given in call.keywords if given.arg is not None)


def _name_by_marker(function: Function) -> str:
    """Return the hook that a marker makes of a function, "" where none does."""
    calls = [each for each in function.decorator_list if isinstance(each, ast.Call)]
    names = [constant_of(given.value) for each in calls for given in each.keywords if given.arg == "specname"]
    return str(names[0]) if names else ""


def _renamed(function: Function, name: str) -> Function:
    named = copy.copy(function)
    named.name = name
    return named


def target_name(target: ast.AST) -> str:
    """Return the attribute or the key that is assigned to, "" for plain names."""
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript):
        key = constant_of(target.slice)
        return key if isinstance(key, str) else ""
    return ""
