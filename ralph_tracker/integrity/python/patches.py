"""What one statement or call of a Python test puts in the place of a function."""

import ast
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import value_of
from ralph_tracker.integrity.python.nodes import constant_of, full_name
from ralph_tracker.integrity.python.stand_ins import Own, is_still, stands_in
from ralph_tracker.integrity.python.syntax import dotted, nodes_below

ITSELF: Final = "__name__"
_MODULES: Final = "sys.modules"
_PATCHES: Final = Pattern(r"(^|\.)(patch|patch\.object|setattr|__setattr__)$")
_SETTING: Final = ("setattr", "__setattr__")
_MULTIPLE: Final = Pattern(r"(^|\.)patch\.multiple$")
_PUTS: Final = Pattern(r"(^|\.)(patch\.dict|setitem|globals\.update|__dict__\.update|vars\.update)$")
_PROGRAMS: Final = Pattern(r"(^|\.)(when|allow|flexmock)$")
_MODULE_BY_NAME: Final = Pattern(r"(^|\.)(import_module|__import__)$")
_ERROR: Final = Pattern(r"(Error|Exception|Warning|Interrupt|Exit)$")
_KIND: Final = frozenset({"type", "__class__"})
_ATTRIBUTE: Final = 2
Replaced = dict[str, bool]


class Scope(NamedTuple):
    """Hold what the names of a test stand for: what it imports, and what it and its module define."""

    imports: Mapping[str, str]
    own: Own

    def stands_in(self, value: ast.AST | None) -> bool:
        """Tell whether a value takes the place of a function."""
        return stands_in(value, self.imports, self.own)

    def is_still(self, value: ast.AST | None) -> bool:
        """Tell whether a function, or a mock, returns the same whatever it is given."""
        return is_still(value, self.own)

    def called(self, call: ast.Call) -> str:
        """Return the full name of what a call calls, by whatever name: `put = monkeypatch.setattr`."""
        name = dotted(call.func)
        value = self.own.get(name)
        return full_name(value if isinstance(value, ast.Attribute) else call.func, self.imports)

    def place(self, node: ast.expr) -> str:
        """Return the full name of what something is put into: an object, a module by its name, an object's class."""
        if _is_own(node):
            return ITSELF
        if isinstance(node, ast.Subscript) and full_name(node.value, self.imports) == _MODULES:
            return self._module(node.slice)
        if isinstance(node, ast.Call) and node.args:
            name = dotted(node.func)
            if name in _KIND:
                return self.place(node.args[0])
            if _MODULE_BY_NAME.search(name):
                return self._module(node.args[0])
        if isinstance(node, ast.Attribute) and node.attr in _KIND:
            return self.place(node.value)
        return full_name(node, self.imports)

    def _module(self, node: ast.expr) -> str:
        if isinstance(node, ast.Attribute) and node.attr == "__module__":
            return full_name(node.value, self.imports).rpartition(".")[0]
        return str(constant_of(node))


def by_assignment(node: ast.Assign | ast.NamedExpr, scope: Scope) -> Iterator[tuple[str, bool]]:
    """Yield the full names that an assignment puts a function under, each with whether it always returns the same."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target, value in (pair for each in targets for pair in pairs_of(each, node.value)):
        if isinstance(target, ast.Attribute) and target.attr == "__code__":
            yield full_name(target.value, scope.imports), True
        elif isinstance(target, ast.Name) and target.id in scope.imports:
            if scope.stands_in(value) or _is_of_own_class(value, target.id, scope):
                yield target.id, scope.is_still(value)
                yield scope.imports[target.id], scope.is_still(value)
        elif scope.stands_in(value):
            yield from ((name, scope.is_still(value)) for name in _places(target, scope))


def pairs_of(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each target of an assignment with what it is given: part by part where both are displays."""
    rows = (ast.Tuple, ast.List)
    if isinstance(target, rows) and isinstance(value, rows) and len(target.elts) == len(value.elts):
        yield from zip(target.elts, value.elts, strict=True)
    else:
        yield target, value


def _is_of_own_class(value: ast.expr, name: str, scope: Scope) -> bool:
    """Tell whether a value is of a class of the tests that does not derive from what bears the name so far."""
    made = scope.own.get(dotted(value.func)) if isinstance(value, ast.Call) else None
    return isinstance(made, ast.ClassDef) and all(dotted(each).partition(".")[0] != name for each in made.bases)


def _places(target: ast.expr, scope: Scope) -> Iterator[str]:
    """Read `box.f = …`, `globals()["f"] = …`, `box.__dict__["f"] = …` and `sys.modules["box"] = …`."""
    if isinstance(target, ast.Attribute):
        place = scope.place(target.value)
        if place:
            yield f"{place}.{target.attr}"
    elif isinstance(target, ast.Subscript):
        owner = _names_of(target.value, scope)
        if owner is not None:
            yield f"{owner}{constant_of(target.slice)}"


def _names_of(node: ast.expr, scope: Scope) -> str | None:
    """Return what a mapping of names belongs to, with a dot; "" for the modules, None where it holds no names."""
    if full_name(node, scope.imports) == _MODULES or constant_of(node) == _MODULES:
        return ""
    if _is_own(node) or dotted(node) == ITSELF:
        return f"{ITSELF}."
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return f"{scope.place(node.value)}."
    if isinstance(node, ast.Call) and dotted(node.func) == "vars" and node.args:
        return f"{scope.place(node.args[0])}."
    return None


def by_call(call: ast.Call, scope: Scope) -> Replaced:
    """Return what `patch(…)`, `patch.object(…)` or `monkeypatch.setattr(…)` replaces, unless by what acts itself."""
    name = scope.called(call)
    given = {each.arg: each.value for each in call.keywords if each.arg is not None}
    if _PUTS.search(name):
        return _by_item(call, given, scope)
    if _MULTIPLE.search(name) and call.args:
        owner = _name_of(call.args[0], scope) or full_name(call.args[0], scope.imports)
        return {f"{owner}.{key}": scope.is_still(each) for key, each in given.items() if scope.stands_in(each)}
    if _PATCHES.search(name):
        return _by_patch(call, given, scope, sets=name.endswith(_SETTING))
    return dict.fromkeys(_programmed(call, given, scope), True)


def _by_patch(call: ast.Call, given: Mapping[str, ast.expr], scope: Scope, *, sets: bool) -> Replaced:
    effect = given.get("side_effect")
    if "wraps" in given or not (effect is None or scope.is_still(effect) or _ERROR.search(dotted(effect))):
        return {}
    named, rest = (call.args[0], call.args[1:]) if call.args else (given.get("target"), [])
    target = _name_of(named, scope)
    if not target and named is not None:
        attribute = rest.pop(0) if rest else given.get("attribute", given.get("name"))
        text = None if attribute is None else value_of(attribute)
        target = f"{scope.place(named)}.{text}" if isinstance(text, str) else ""
    stand_in = rest[0] if rest else given.get("new", given.get("value", given.get("return_value")))
    made = scope.own.get(dotted(stand_in)) if isinstance(stand_in, ast.Name) else None
    chosen = sets or isinstance(made, ast.ClassDef)
    if not target or (chosen and not scope.stands_in(stand_in)):
        return {}
    return {target: "return_value" in given or scope.is_still(stand_in) or scope.is_still(effect)}


def by_name(node: ast.withitem, scope: Scope) -> Iterator[tuple[str, bool]]:
    """Yield the name that `with patch(…) as name` gives to a mock, and not to an object that the test puts there."""
    call, name = node.context_expr, node.optional_vars
    if not isinstance(name, ast.Name) or not isinstance(call, ast.Call) or not by_call(call, scope):
        return
    own = [each.value for each in call.keywords if each.arg in {"new", "new_callable"}]
    own += call.args[_ATTRIBUTE if scope.called(call).endswith("object") else 1 :]
    if all(scope.stands_in(each) or scope.stands_in(ast.Call(each, [], [])) for each in own):
        yield name.id, True


def _programmed(call: ast.Call, given: Mapping[str, ast.expr], scope: Scope) -> Iterator[str]:
    """Read `when(box).f(3).thenReturn(9)`, `flexmock(box).should_receive("f")` and `flexmock(box, f=9)`."""
    of = call.func.value if isinstance(call.func, ast.Attribute) else call
    if not isinstance(of, ast.Call) or not of.args or not _PROGRAMS.search(full_name(of.func, scope.imports)):
        return
    place = scope.place(of.args[0])
    if of is call:
        yield from (f"{place}.{name}" for name in given)
    elif isinstance(call.func, ast.Attribute):
        name = constant_of(call.args[0]) if call.func.attr == "should_receive" and call.args else call.func.attr
        yield f"{place}.{name}"


def _by_item(call: ast.Call, given: Mapping[str, ast.expr], scope: Scope) -> Replaced:
    """Return what `patch.dict(globals(), …)` or `monkeypatch.setitem(sys.modules, …)` puts among names."""
    rest = list(call.args)
    updated = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "update" else None
    if updated is None and rest:
        updated = rest.pop(0)
    owner = None if updated is None else _names_of(updated, scope)
    if owner is None:
        return {}
    put = dict(given)
    if rest and isinstance(rest[0], ast.Dict):
        keys, values = rest[0].keys, rest[0].values
    else:
        keys, values = [*rest[:1]], rest[1:_ATTRIBUTE]
    put.update(
        (name, value) for key, value in zip(keys, values, strict=False) if isinstance(name := constant_of(key), str)
    )
    return {owner + name: scope.is_still(value) for name, value in put.items() if scope.stands_in(value)}


def _name_of(node: ast.expr | None, scope: Scope) -> str:
    """Return the name that a text gives, `f"{__name__}.clean"` too, "" for what is none."""
    value = constant_of(node)
    if isinstance(value, str):
        return value
    if not isinstance(node, ast.JoinedStr | ast.BinOp):
        return ""
    below = nodes_below(node)
    last = [each.value for each in below if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    owners = [dotted(each) for each in below if dotted(each).endswith(ITSELF)]
    if not last or not owners:
        return ""
    owner = owners[0].removesuffix(f".{ITSELF}")
    first, dot, more = owner.partition(".")
    return f"{scope.imports.get(first, first)}{dot}{more}.{last[-1].rpartition('.')[2]}"


def _is_own(node: ast.expr) -> bool:
    """Tell whether an expression is the module that it stands in: `sys.modules[__name__]`, `globals()`."""
    if isinstance(node, ast.Subscript):
        return dotted(node.value) == _MODULES and dotted(node.slice) == ITSELF
    return isinstance(node, ast.Call) and (
        dotted(node.func) == "globals" or any(dotted(each) == ITSELF for each in node.args)
    )
