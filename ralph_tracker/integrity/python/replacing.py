"""What a Python test, its class, its fixtures or its module put in the place of functions."""

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.expectations import module_values
from ralph_tracker.integrity.python.hiding import outer_statements, stood_in_for
from ralph_tracker.integrity.python.nodes import constant_of, imports_of
from ralph_tracker.integrity.python.origins import Bindings, bindings_of
from ralph_tracker.integrity.python.patches import ITSELF, Replaced, Scope, by_assignment, by_call, by_name
from ralph_tracker.integrity.python.stand_ins import Own, is_still
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, nodes_in, tree_of

SET_UPS: Final = frozenset(
    {"setUp", "setUpClass", "setup_method", "setup_class", "setUpModule", "setup_module", "setup_function", "setup"}
)
_HOOKS: Final = frozenset(
    {"setUpModule", "setup_module", "pytest_configure", "pytest_sessionstart", "pytest_collection_finish"}
    | {"pytest_runtest_setup", "pytest_runtest_call", "pytest_runtest_protocol"}
)
_MADE: Final = (ast.Lambda, ast.Call, ast.Attribute)


@lru_cache(maxsize=128)
def replaced_for_all(text: str) -> Mapping[str, bool]:
    """Return the full names that a test file replaces for every test, with whether by a constant. Raises Unparsable."""
    found: Replaced = {}
    scope = Scope(imports_of(text), own_of(text))
    known = scope.imports.keys() - stood_in_for(text)
    for node in outer_statements(text):
        if isinstance(node, FUNCTIONS):
            if node.name in known:
                found[node.name] = found[scope.imports[node.name]] = is_still(node)
            elif is_for_all(node):
                given = {each.arg: ITSELF for each in node.args.args if each.arg == "module"}
                found.update(replaced_in(node, Scope({**scope.imports, **given}, scope.own)))
        else:
            found.update(_by_statement(node, scope, text))
    return found


def _by_statement(node: ast.stmt, scope: Scope, text: str) -> Iterator[tuple[str, bool]]:
    """Yield what a statement replaces that runs where it stands; a patcher has to be started."""
    if isinstance(node, ast.Assign):
        yield from by_assignment(node, scope)
    value = node.value if isinstance(node, ast.Assign | ast.Expr) else None
    if isinstance(node, ast.Assign) and not any(f"{dotted(each)}.start(" in text for each in node.targets):
        return
    for each in nodes_below(value) if isinstance(value, ast.Call) else ():
        if isinstance(each, ast.Call):
            yield from by_call(each, scope).items()


def is_for_all(node: Function) -> bool:
    """Tell whether a function runs for every test: a fixture that nobody asks for, or a hook."""
    if node.name in _HOOKS:
        return True
    calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
    return any(given.arg == "autouse" for each in calls for given in each.keywords)


@lru_cache(maxsize=128)
def functions_in(text: str) -> Mapping[str, Function]:
    """Return the functions that stand at the top of a file by their names. Raises Unparsable."""
    return {each.name: each for each in tree_of(text).body if isinstance(each, FUNCTIONS)}


@lru_cache(maxsize=128)
def own_of(text: str) -> Own:
    """Return the functions and classes at the top of a file, and what its names were made as. Raises Unparsable."""
    made = {name: each for name, each in module_values(text).items() if isinstance(each, _MADE)}
    classes = {each.name: each for each in tree_of(text).body if isinstance(each, ast.ClassDef)}
    return {**made, **classes, **functions_in(text)}


def class_of(test: Function, text: str) -> ast.ClassDef | None:
    """Return the class that a test is a method of, None where it stands alone. Raises Unparsable."""
    return next((each for each in tree_of(text).body if isinstance(each, ast.ClassDef) and test in each.body), None)


def methods_around(test: Function, text: str) -> Mapping[str, Function]:
    """Return what else the class of a test defines, as `self.name`. Raises Unparsable."""
    kind = class_of(test, text)
    body = kind.body if kind is not None else ()
    return {f"self.{each.name}": each for each in body if isinstance(each, FUNCTIONS) and each is not test}


def own_functions(name: str, test: Function, text: str) -> list[Function]:
    """Return the functions of the tests that a name calls in a test: of its class for `self.lid`. Raises Unparsable."""
    kind = class_of(test, text) if name.startswith("self.") else None
    body = kind.body if kind is not None else [*tree_of(text).body, *nodes_in(test)]
    return [each for each in body if isinstance(each, FUNCTIONS) and each.name == name.rpartition(".")[2]]


def bound_around(test: Function, text: str) -> Bindings:
    """Return what the class of a test and its set-ups bind for it, as `self.name`. Raises Unparsable."""
    kind = class_of(test, text)
    if kind is None:
        return {}
    found, elsewhere = _bound_in_class(kind)
    return {name: made for name, made in found.items() if elsewhere.get(name, test) is test}


@lru_cache(maxsize=64)
def _bound_in_class(kind: ast.ClassDef) -> tuple[Bindings, Mapping[str, Function | None]]:
    """Return what a class and its set-ups bind, and the one method that binds a name too, None where several do."""
    found: dict[str, tuple[ast.expr, ...]] = {}
    elsewhere: dict[str, Function | None] = {}
    for each in kind.body:
        if isinstance(each, ast.Assign) and constant_of(each.value) is UNKNOWN:
            found.update((f"self.{dotted(target)}", (each.value,)) for target in each.targets)
        elif isinstance(each, FUNCTIONS) and each.name in SET_UPS:
            found.update((name, made) for name, made in bindings_of(each).items() if "." in name)
        elif isinstance(each, FUNCTIONS):
            elsewhere.update((name, None if name in elsewhere else each) for name in bindings_of(each))
    return found, elsewhere


def replaced_around(test: Function, text: str) -> Replaced:
    """Return what fixtures, set-ups, helpers and the class of a test replace for it. Raises Unparsable."""
    scope = Scope(imports_of(text), own_of(text))
    asked = asked_for(test)
    found: Replaced = {}
    for function in functions_in(text).values():
        if function is not test and (function.name in asked or function.name in SET_UPS):
            found.update(replaced_in(function, scope))
    kind = class_of(test, text)
    if kind is not None:
        found.update(_around_class(kind, scope, text))
    return found


def asked_for(test: Function) -> set[str]:
    """Return the names of the fixtures that a test is given, of its decorators, and of what it calls."""
    asked = {each.arg for each in nodes_below(test.args) if isinstance(each, ast.arg)}
    asked.update(map(dotted, test.decorator_list))
    for each in nodes_in(test):
        if isinstance(each, ast.Call):
            asked.add(dotted(each.func))
            if dotted(each.func).endswith("usefixtures"):
                asked |= {str(constant_of(name)) for name in each.args}
    return asked


def replaced_by_fixtures(text: str, old: str) -> Mapping[str, Replaced]:
    """Return what each fixture of a file replaces that the other text does not have like this. Raises Unparsable."""
    before = functions_in(old)
    scope = Scope(imports_of(text), own_of(text))
    found = {}
    for name, each in functions_in(text).items():
        fixture = any(dotted(marker).endswith("fixture") for marker in each.decorator_list)
        if fixture and (name not in before or ast.dump(before[name]) != ast.dump(each)):
            found[name] = replaced_in(each, scope)
    return found


def _around_class(kind: ast.ClassDef, scope: Scope, text: str) -> Iterator[tuple[str, bool]]:
    for call in kind.decorator_list:
        if isinstance(call, ast.Call):
            yield from by_call(call, scope).items()
    for each in kind.body:
        if not isinstance(each, FUNCTIONS):
            yield from _by_statement(each, scope, text)
        elif each.name in SET_UPS:
            yield from replaced_in(each, scope).items()


def replaced_in(test: Function, scope: Scope) -> Replaced:
    """Return the full names that a test replaces, each with whether by something that always returns the same."""
    found: Replaced = {}
    nodes, bound = nodes_in(test), bindings_of(test)
    local = {each.name: each for each in nodes if isinstance(each, (*FUNCTIONS, ast.ClassDef)) and each is not test}
    made = {name: values[-1] for name, values in bound.items() if isinstance(values[-1], _MADE)}
    scope = Scope(scope.imports, {**scope.own, **made, **local})
    for node in nodes:
        if isinstance(node, ast.Assign | ast.NamedExpr):
            found.update(by_assignment(node, scope))
        elif isinstance(node, ast.Call):
            found.update(by_call(node, scope))
        elif isinstance(node, ast.withitem):
            found.update(by_name(node, scope))
    for name, each in local.items():
        if name in scope.imports and not (isinstance(each, ast.ClassDef) and _inherits(each, name)):
            found[name] = found[scope.imports[name]] = isinstance(each, ast.ClassDef) or is_still(each)
    for name in bound.keys() & scope.imports.keys():
        if any(scope.stands_in(part) for each in bound[name] for part in _displayed(each)):
            found[name] = found[scope.imports[name]] = True
    return found


def _displayed(value: ast.expr) -> list[ast.expr]:
    return value.elts if isinstance(value, ast.Tuple | ast.List) else [value]


def _inherits(kind: ast.ClassDef, name: str) -> bool:
    return any(dotted(each).rpartition(".")[2] == name for each in kind.bases)
