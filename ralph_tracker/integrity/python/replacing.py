"""What a Python test, or its module, puts in the place of functions, and what functions answer whatever they get."""

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN, value_of
from ralph_tracker.integrity.python.nodes import body_of, constant_of, full_name, imports_of, returns_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, tree_of

ITSELF: Final = "__name__"
MOCKS: Final = Pattern(r"(^|\.)(Mock|MagicMock|AsyncMock|NonCallableMock|create_autospec|stub)$")
_PATCHES: Final = Pattern(r"(^|\.)(patch|patch\.object|setattr)$")
_PUTS: Final = Pattern(r"(^|\.)(patch\.dict|setitem)$")
_ATTRIBUTE: Final = 2


def answer_of(function: Function) -> object:
    """Return what a function answers whatever it is given, UNKNOWN where that depends."""
    returned = [worth_of(each.value) for each in returns_of(function)]
    raises = any(isinstance(each, ast.Raise) for each in ast.walk(function))
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
            found.update(_by_assignment(node, imports))
        elif isinstance(node, FUNCTIONS) and node.name in imports:
            found[node.name] = found[imports[node.name]] = _is_still(node)
        elif isinstance(node, FUNCTIONS) and _is_for_all(node):
            found.update(replaced_in(node, imports))
    return found


def _is_for_all(node: Function) -> bool:
    calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
    return any(given.arg == "autouse" for each in calls for given in each.keywords)


def replaces(test: Function, text: str) -> bool:
    """Tell whether a test, or its module, replaces a function. Raises Unparsable."""
    return bool(replaced_for_all(text) or replaced_in(test, imports_of(text)))


def replaced_in(test: Function, imports: Mapping[str, str]) -> dict[str, bool]:
    """Return the full names that a test replaces, each with whether by something that always returns the same."""
    found: dict[str, bool] = {}
    for node in ast.walk(test):
        if isinstance(node, ast.Assign):
            found.update(_by_assignment(node, imports))
        elif isinstance(node, ast.Call):
            found.update(_by_call(node, imports))
        elif isinstance(node, FUNCTIONS) and node is not test and node.name in imports:
            found[node.name] = found[imports[node.name]] = _is_still(node)
        elif isinstance(node, ast.withitem):
            found.update(_by_name(node, imports))
    return found


def _by_name(node: ast.withitem, imports: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """Yield the name that `with patch(…) as name` gives to what takes the place."""
    call, name = node.context_expr, node.optional_vars
    if isinstance(name, ast.Name) and isinstance(call, ast.Call) and _by_call(call, imports):
        yield name.id, True


def _by_assignment(node: ast.Assign, imports: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    stands_in = isinstance(node.value, ast.Lambda) or (
        isinstance(node.value, ast.Call) and bool(MOCKS.search(full_name(node.value.func, imports)))
    )
    for target in node.targets if stands_in else ():
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id in imports:
            yield full_name(target, imports), _is_still(node.value)
        elif isinstance(target, ast.Subscript) and _is_own(target.value):
            yield f"{ITSELF}.{constant_of(target.slice)}", _is_still(node.value)
        elif isinstance(target, ast.Name) and target.id in imports:
            yield target.id, _is_still(node.value)
            yield imports[target.id], _is_still(node.value)


def _by_call(call: ast.Call, imports: Mapping[str, str]) -> dict[str, bool]:
    """Return what `patch(…)`, `patch.object(…)` or `monkeypatch.setattr(…)` replaces, unless by what acts itself."""
    name = dotted(call.func)
    given = {each.arg: each.value for each in call.keywords}
    if _PUTS.search(name):
        return _by_item(call, given, imports)
    effect = given.get("side_effect")
    if not _PATCHES.search(name) or "wraps" in given or not (effect is None or _is_still(effect)):
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
    if name.endswith("setattr") and not _stands_in(stand_in, imports):
        return {}
    return {target: "return_value" in given or _is_still(stand_in)}


def _by_item(call: ast.Call, given: Mapping[str | None, ast.expr], imports: Mapping[str, str]) -> dict[str, bool]:
    """Return what `patch.dict(globals(), …)` or `monkeypatch.setitem(globals(), …)` puts into the test module."""
    if not call.args or not (_is_own(call.args[0]) or dotted(call.args[0]) == ITSELF):
        return {}
    put: dict[str, ast.expr] = {name: value for name, value in given.items() if name is not None}
    rest = call.args[1:]
    if rest and isinstance(rest[0], ast.Dict):
        keys, values = rest[0].keys, rest[0].values
    else:
        keys, values = [*rest[:1]], rest[1:_ATTRIBUTE]
    put.update(
        (name, value) for key, value in zip(keys, values, strict=False) if isinstance(name := constant_of(key), str)
    )
    return {f"{ITSELF}.{name}": _is_still(value) for name, value in put.items() if _stands_in(value, imports)}


def _name_of(node: ast.expr | None) -> str:
    """Return the name that a text gives, `f"{__name__}.clean"` too, "" for what is none."""
    value = constant_of(node)
    if isinstance(value, str):
        return value
    if isinstance(node, ast.JoinedStr | ast.BinOp) and any(dotted(each) == ITSELF for each in ast.walk(node)):
        last = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return ITSELF + "." + last[-1].rpartition(".")[2] if last else ""
    return ""


def _is_own(node: ast.expr) -> bool:
    """Tell whether an expression is the module that it stands in: `sys.modules[__name__]`, `globals()`."""
    if isinstance(node, ast.Subscript):
        return dotted(node.value) == "sys.modules" and dotted(node.slice) == ITSELF
    return isinstance(node, ast.Call) and (
        dotted(node.func) == "globals" or any(dotted(each) == ITSELF for each in node.args)
    )


def _stands_in(value: ast.expr | None, imports: Mapping[str, str]) -> bool:
    """Tell whether a value takes the place of a function: other values are settings."""
    mock = isinstance(value, ast.Call) and bool(MOCKS.search(full_name(value.func, imports)))
    return mock or isinstance(value, ast.Lambda)


def _is_still(node: ast.AST | None) -> bool:
    """Tell whether a function, or a mock, returns the same whatever it is given."""
    if isinstance(node, ast.Lambda):
        return constant_of(node.body) is not UNKNOWN
    if isinstance(node, FUNCTIONS):
        return answer_of(node) is not UNKNOWN
    return isinstance(node, ast.Call) and any(each.arg == "return_value" for each in node.keywords)
