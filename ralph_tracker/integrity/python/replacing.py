"""What a Python test, or its module, puts in the place of functions, and what functions answer whatever they get."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN, value_of
from ralph_tracker.integrity.python.nodes import body_of, constant_of, full_name, imports_of, returns_of
from ralph_tracker.integrity.python.syntax import (
    FUNCTIONS,
    Function,
    dotted,
    nodes_below,
    nodes_in,
    statements_below,
    tree_of,
)

ITSELF: Final = "__name__"
MOCKS: Final = Pattern(r"(^|\.)(Mock|MagicMock|AsyncMock|NonCallableMock|create_autospec|stub)$")
_STAND_INS: Final = Pattern(
    r"(^|\.)(PropertyMock|SimpleNamespace|ModuleType|MethodType|property|staticmethod|classmethod)$"
)
_MODULES: Final = "sys.modules"
_SET_UPS: Final = frozenset(
    {"setUp", "setUpClass", "setup_method", "setup_class", "setUpModule", "setup_module", "setup_function", "setup"}
)
_ORIGINAL: Final = Pattern(r"(^|_)(orig|original|real|wrapped|super)", re.IGNORECASE)
Own = Mapping[str, Function]
_NOBODY: Final[Own] = {}
_PATCHES: Final = Pattern(r"(^|\.)(patch|patch\.object|setattr)$")
_MULTIPLE: Final = Pattern(r"(^|\.)patch\.multiple$")
_PUTS: Final = Pattern(r"(^|\.)(patch\.dict|setitem)$")
_ATTRIBUTE: Final = 2


def answer_of(function: Function) -> object:
    """Return what a function answers whatever it is given, UNKNOWN where that depends."""
    returned = [worth_of(each.value) for each in returns_of(function)]
    raises = any(isinstance(each, ast.Raise) for each in statements_below(function))
    if raises or not returned or len({repr(each) for each in returned}) > 1 or not body_of(function):
        return UNKNOWN
    return returned[0]


def worth_of(node: ast.expr | None) -> object:
    """Return what an expression is worth where it cannot vary: a constant, `self is self`, `x or True`."""
    value = constant_of(node)
    if value is not UNKNOWN or node is None:
        return bool(value) if isinstance(value, int) else value
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.Is):
        return True if ast.dump(node.left) == ast.dump(node.comparators[0]) else UNKNOWN
    if (
        isinstance(node, ast.BoolOp)
        and isinstance(node.op, ast.Or)
        and any(worth_of(each) is True for each in node.values)
    ):
        return True
    if isinstance(node, ast.Call) and dotted(node.func) == "isinstance" and dotted(node.args[-1]) == "object":
        return True
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = constant_of(node.operand)
        return UNKNOWN if inner is UNKNOWN else not inner
    return UNKNOWN


@lru_cache(maxsize=128)
def replaced_for_all(text: str) -> Mapping[str, bool]:
    """Return the full names that a test file replaces for every test, with whether by a constant. Raises Unparsable."""
    found: dict[str, bool] = {}
    imports = imports_of(text)
    for node in tree_of(text).body:
        if isinstance(node, ast.Assign):
            found.update(_by_assignment(node, imports, functions_in(text)))
        elif isinstance(node, FUNCTIONS) and node.name in imports:
            found[node.name] = found[imports[node.name]] = _is_still(node)
        elif isinstance(node, FUNCTIONS) and _is_for_all(node):
            found.update(replaced_in(node, imports, functions_in(text)))
    return found


def _is_for_all(node: Function) -> bool:
    calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
    return any(given.arg == "autouse" for each in calls for given in each.keywords)


@lru_cache(maxsize=128)
def functions_in(text: str) -> Own:
    """Return the functions that stand at the top of a file by their names. Raises Unparsable."""
    return {each.name: each for each in tree_of(text).body if isinstance(each, FUNCTIONS)}


def replaced_around(test: Function, text: str) -> dict[str, bool]:
    """Return what fixtures, set-ups, helpers and the class of a test replace for it. Raises Unparsable."""
    imports, own = imports_of(text), functions_in(text)
    asked = {each.arg for each in nodes_below(test.args) if isinstance(each, ast.arg)}
    for each in nodes_in(test):
        if isinstance(each, ast.Call):
            asked.add(dotted(each.func))
            if dotted(each.func).endswith("usefixtures"):
                asked |= {str(constant_of(name)) for name in each.args}
    found: dict[str, bool] = {}
    for function in own.values():
        if function is not test and (function.name in asked or function.name in _SET_UPS):
            found.update(replaced_in(function, imports, own))
    for kind in tree_of(text).body:
        if isinstance(kind, ast.ClassDef) and test in kind.body:
            found.update(_around_class(kind, imports, own))
    return found


def _around_class(kind: ast.ClassDef, imports: Mapping[str, str], own: Own) -> Iterator[tuple[str, bool]]:
    for call in kind.decorator_list:
        if isinstance(call, ast.Call):
            yield from _by_call(call, imports, own).items()
    for each in kind.body:
        if isinstance(each, FUNCTIONS) and each.name in _SET_UPS:
            yield from replaced_in(each, imports, own).items()


def replaced_in(test: Function, imports: Mapping[str, str], own: Own = _NOBODY) -> dict[str, bool]:
    """Return the full names that a test replaces, each with whether by something that always returns the same.

    `own` are the functions of its module.
    """
    found: dict[str, bool] = {}
    nodes = nodes_in(test)
    own = {**own, **{each.name: each for each in nodes if isinstance(each, FUNCTIONS) and each is not test}}
    for node in nodes:
        if isinstance(node, ast.Assign):
            found.update(_by_assignment(node, imports, own))
        elif isinstance(node, ast.Call):
            found.update(_by_call(node, imports, own))
        elif isinstance(node, FUNCTIONS) and node is not test and node.name in imports:
            found[node.name] = found[imports[node.name]] = _is_still(node)
        elif isinstance(node, ast.ClassDef) and node.name in imports and not _inherits(node, node.name):
            found[node.name] = found[imports[node.name]] = True
        elif isinstance(node, ast.withitem):
            found.update(_by_name(node, imports))
    return found


def _inherits(kind: ast.ClassDef, name: str) -> bool:
    return any(dotted(each).rpartition(".")[2] == name for each in kind.bases)


def _by_name(node: ast.withitem, imports: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """Yield the name that `with patch(…) as name` gives to what takes the place."""
    call, name = node.context_expr, node.optional_vars
    if isinstance(name, ast.Name) and isinstance(call, ast.Call) and _by_call(call, imports):
        yield name.id, True


def _by_assignment(node: ast.Assign, imports: Mapping[str, str], own: Own = _NOBODY) -> Iterator[tuple[str, bool]]:
    if not _stands_in(node.value, imports, own):
        return
    still = _is_still(node.value, own)
    for target in node.targets:
        if isinstance(target, ast.Attribute) and dotted(target):
            yield full_name(target, imports), still
        elif isinstance(target, ast.Subscript):
            yield from _by_subscript(target, imports, still=still)
        elif isinstance(target, ast.Name) and target.id in imports:
            yield target.id, still
            yield imports[target.id], still


def _by_subscript(target: ast.Subscript, imports: Mapping[str, str], *, still: bool) -> Iterator[tuple[str, bool]]:
    """Read `globals()["f"] = …`, `box.__dict__["f"] = …` and `sys.modules["box"] = …`."""
    owner = _names_of(target.value, imports)
    if owner is not None:
        yield f"{owner}{constant_of(target.slice)}", still


def _names_of(node: ast.expr, imports: Mapping[str, str]) -> str | None:
    """Return what a mapping of names belongs to, with a dot; "" for the modules, None where it holds no names."""
    if full_name(node, imports) == _MODULES or constant_of(node) == _MODULES:
        return ""
    if _is_own(node) or dotted(node) == ITSELF:
        return f"{ITSELF}."
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return f"{full_name(node.value, imports)}."
    if isinstance(node, ast.Call) and dotted(node.func) == "vars" and node.args:
        return f"{full_name(node.args[0], imports)}."
    return None


def _by_call(call: ast.Call, imports: Mapping[str, str], own: Own = _NOBODY) -> dict[str, bool]:
    """Return what `patch(…)`, `patch.object(…)` or `monkeypatch.setattr(…)` replaces, unless by what acts itself."""
    name = dotted(call.func)
    given = {each.arg: each.value for each in call.keywords}
    if _PUTS.search(name) or name == "globals.update":
        return _by_item(call, given, imports, own)
    if _MULTIPLE.search(name) and call.args:
        owner = _name_of(call.args[0]) or full_name(call.args[0], imports)
        return {f"{owner}.{key}": _is_still(each, own) for key, each in given.items() if _stands_in(each, imports, own)}
    effect = given.get("side_effect")
    if not _PATCHES.search(name) or "wraps" in given or not (effect is None or _is_still(effect, own)):
        return {}
    named = call.args[0] if call.args else given.get("target")
    whole = _name_of(named)
    stand_in = call.args[-1] if len(call.args) > 1 else given.get("new", given.get("return_value"))
    if whole:
        target = whole
    elif named is not None and len(call.args) >= _ATTRIBUTE and isinstance(attribute := value_of(call.args[1]), str):
        target = f"{ITSELF if _is_own(named) else full_name(named, imports)}.{attribute}"
        stand_in = call.args[2] if len(call.args) > _ATTRIBUTE else given.get("return_value")
    else:
        return {}
    if name.endswith("setattr") and not _stands_in(stand_in, imports, own):
        return {}
    return {target: "return_value" in given or _is_still(stand_in, own)}


def _by_item(
    call: ast.Call, given: Mapping[str | None, ast.expr], imports: Mapping[str, str], own: Own
) -> dict[str, bool]:
    """Return what `patch.dict(globals(), …)` or `monkeypatch.setitem(sys.modules, …)` puts among names."""
    rest = list(call.args)
    owner = f"{ITSELF}." if dotted(call.func) == "globals.update" else None
    if owner is None and rest:
        owner = _names_of(rest.pop(0), imports)
    if owner is None:
        return {}
    put: dict[str, ast.expr] = {name: value for name, value in given.items() if name is not None}
    if rest and isinstance(rest[0], ast.Dict):
        keys, values = rest[0].keys, rest[0].values
    else:
        keys, values = [*rest[:1]], rest[1:_ATTRIBUTE]
    put.update(
        (name, value) for key, value in zip(keys, values, strict=False) if isinstance(name := constant_of(key), str)
    )
    return {owner + name: _is_still(value, own) for name, value in put.items() if _stands_in(value, imports, own)}


def _name_of(node: ast.expr | None) -> str:
    """Return the name that a text gives, `f"{__name__}.clean"` too, "" for what is none."""
    value = constant_of(node)
    if isinstance(value, str):
        return value
    if isinstance(node, ast.JoinedStr | ast.BinOp) and any(dotted(each) == ITSELF for each in nodes_below(node)):
        last = [
            each.value for each in nodes_below(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]
        return ITSELF + "." + last[-1].rpartition(".")[2] if last else ""
    return ""


def _is_own(node: ast.expr) -> bool:
    """Tell whether an expression is the module that it stands in: `sys.modules[__name__]`, `globals()`."""
    if isinstance(node, ast.Subscript):
        return dotted(node.value) == "sys.modules" and dotted(node.slice) == ITSELF
    return isinstance(node, ast.Call) and (
        dotted(node.func) == "globals" or any(dotted(each) == ITSELF for each in node.args)
    )


def _stands_in(value: ast.expr | None, imports: Mapping[str, str], own: Own = _NOBODY) -> bool:
    """Tell whether a value takes the place of a function: other values are settings."""
    if isinstance(value, ast.Call):
        name = full_name(value.func, imports)
        return bool(MOCKS.search(name) or _STAND_INS.search(name))
    if isinstance(value, ast.Name):
        return value.id in own and not _acts(own[value.id])
    return isinstance(value, ast.Lambda) or _is_of_literal(value)


def _is_of_literal(value: ast.AST | None) -> bool:
    """Tell whether a value is a method of a literal: `{3: 9}.get`."""
    return isinstance(value, ast.Attribute) and isinstance(value.value, ast.Dict | ast.Constant | ast.List)


def _acts(function: Function) -> bool:
    """Tell whether a function that is put in a place leaves the work to what stood there."""
    calls = [each.func for each in nodes_in(function) if isinstance(each, ast.Call)]
    return any(_ORIGINAL.search(dotted(each).rpartition(".")[2]) for each in calls)


def _is_still(node: ast.AST | None, own: Own = _NOBODY) -> bool:
    """Tell whether a function, or a mock, returns the same whatever it is given, or one thing after the other."""
    if isinstance(node, ast.Lambda):
        return constant_of(node.body) is not UNKNOWN
    if isinstance(node, ast.Name) and node.id in own:
        return answer_of(own[node.id]) is not UNKNOWN
    if isinstance(node, FUNCTIONS):
        return answer_of(node) is not UNKNOWN
    if isinstance(node, ast.List | ast.Tuple) or _is_of_literal(node):
        return True
    return isinstance(node, ast.Call) and any(each.arg == "return_value" for each in node.keywords)
