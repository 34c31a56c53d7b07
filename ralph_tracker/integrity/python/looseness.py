"""Which comparisons of Python say yes without a look at what both sides hold."""

import ast
from collections import Counter
from collections.abc import Mapping
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.adopting import SETTING, adopted_in, is_caught, is_far, takes_over
from ralph_tracker.integrity.python.calls import is_assertion_name
from ralph_tracker.integrity.python.constants import UNKNOWN, truth
from ralph_tracker.integrity.python.expectations import local_values
from ralph_tracker.integrity.python.nodes import Way, below, constant_of
from ralph_tracker.integrity.python.stand_ins import answer_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, nodes_in

Comparing = Function | ast.Lambda
_KINDS: Final = frozenset({"type", "len", "id", "repr", "str", "hash", "bool", "vars", "dir", "list", "callable"})
_SIZES: Final = frozenset({"len", "bool", "callable"})
_OF_KIND: Final = frozenset({"isinstance", "issubclass", "hasattr"})
_CLASS: Final = frozenset({"__class__", "__name__", "__module__", "__doc__"})
# Calls that only tell something.
HARMLESS: Final = Pattern(
    r"^(print|str|repr|len|type|bool|isinstance|format|super)$|(^|\.)(debug|info|warn|warning|error|log|write|append|format)$"
)
_DENIALS: Final = (ast.NotEq, ast.IsNot, ast.NotIn)
_ALIKE: Final = (ast.Eq, ast.Is, ast.In, *_DENIALS)
_PATHS: Final = (ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.Tuple, ast.List, ast.Dict, ast.Set)
_INNER: Final = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
_PAIR: Final = 2
_DEPTH: Final = 3
_NOBODY: Final[Mapping[str, ast.AST]] = {}


def says_yes_loosely(
    comparing: Comparing,
    own: Mapping[str, ast.AST] = _NOBODY,
    *,
    denied: bool = False,
    depth: int = _DEPTH,
    first: int = 0,
) -> bool:
    """Tell whether what compares its first two arguments says yes whatever they hold: of their kind it may ask.

    `own` are the functions that it may leave the question to; `denied`: it says no instead, as `__ne__` does; `first`
    is the place of the first of the two among what it is given.
    """
    given = [each.arg for each in (*comparing.args.posonlyargs, *comparing.args.args)][first:]
    if len(given) < _PAIR:
        return False
    look = _Look(comparing, given[0], given[1], own, depth)
    if isinstance(comparing, ast.Lambda):
        return look.says_yes(comparing.body, denied=denied)
    return look.returns_yes(comparing, denied=denied)


class _Look:
    """Follow what one function makes of the two things that it compares."""

    def __init__(self, comparing: Comparing, one: str, other: str, own: Mapping[str, ast.AST], depth: int) -> None:
        self.one = one
        self.other = other
        self.own = own
        self.depth = depth
        self.adopted: frozenset[str] = frozenset()
        self.values: Mapping[str, ast.expr] = {}
        self.opaque: frozenset[str] = frozenset()
        if not isinstance(comparing, ast.Lambda):
            self._read(comparing)

    def _read(self, function: Function) -> None:
        nodes = nodes_in(function)
        self.adopted = adopted_in(nodes, self.one, self.other)
        bound = Counter(each.id for each in nodes if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load))
        parts = (each.value for each in nodes if isinstance(each, ast.Attribute | ast.Subscript))
        filled = {each.id for each in parts if isinstance(each, ast.Name)}
        known = local_values(function)
        self.values = {name: value for name, value in known.items() if bound[name] == 1 and name not in filled}
        self.opaque = frozenset(bound.keys() - self.values.keys())

    def returns_yes(self, function: Function, *, denied: bool) -> bool:
        """Tell whether a return that says yes is reached without a question for what both sides hold."""
        for node, way in below(function):
            if any(isinstance(step, _INNER) for step in way[1:]):
                continue
            asked = any(map(self._asks, way[1:]))
            if isinstance(node, ast.Return) and node.value is not None:
                if not asked and self.says_yes(node.value, denied=denied):
                    return True
                if not self._is_yes(node.value, denied=denied) and (asked or _is_sure(way)):
                    return False
            elif (isinstance(node, ast.Raise) and asked) or (self._demands(node) and not is_caught(way)):
                return False
        return False

    def _is_yes(self, value: ast.expr, *, denied: bool) -> bool:
        known = truth(value)
        return known is not None and known[0] is not denied

    def _demands(self, node: ast.AST) -> bool:
        """Tell whether a statement fails where what both sides hold is not as it should be."""
        if isinstance(node, ast.Assert):
            return not self._is_of_kind(node.test)
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call):
            return False
        if HARMLESS.search(dotted(call.func)) or dotted(call.func) in SETTING:
            return False
        named = is_assertion_name(dotted(call.func).rpartition(".")[2])
        given = {each.id for each in nodes_below(call) if isinstance(each, ast.Name)}
        return named or (self.one in given and self.other in given and not dotted(call.func).startswith(f"{self.one}."))

    def _asks(self, step: ast.AST) -> bool:
        """Tell whether a way goes on only where the two hold something."""
        if isinstance(step, ast.If | ast.While):
            return not self._is_of_kind(step.test)
        if isinstance(step, ast.For | ast.AsyncFor):
            return self._holds(step.iter, self.one) or self._holds(step.iter, self.other)
        if isinstance(step, ast.match_case):
            patterns = [each for each in nodes_below(step.pattern) if isinstance(each, ast.pattern)]
            return any(isinstance(each, ast.MatchValue | ast.MatchSequence | ast.MatchMapping) for each in patterns)
        return False

    def says_yes(self, node: ast.expr, *, denied: bool = False) -> bool:
        """Tell whether an expression is true, or false where that is asked, whatever the two hold."""
        known = truth(node)
        if known is not None:
            return known[0] is not denied
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.says_yes(node.operand, denied=not denied)
        if isinstance(node, ast.BoolOp):
            parts = (self.says_yes(each, denied=denied) for each in node.values)
            return any(parts) if isinstance(node.op, ast.Or) is not denied else all(parts)
        if isinstance(node, ast.IfExp):
            parts = (self.says_yes(each, denied=denied) for each in (node.body, node.orelse))
            return any(parts) if self._is_of_kind(node.test) else all(parts)
        return self._says(node, denied=denied)

    def _says(self, node: ast.expr, *, denied: bool) -> bool:
        if isinstance(node, ast.NamedExpr):
            return self.says_yes(node.value, denied=denied)
        if isinstance(node, ast.Name) and node.id in self.values:
            return self.says_yes(self.values[node.id], denied=denied)
        if isinstance(node, ast.Compare):
            return len(node.ops) == 1 and self._compares(node, denied=denied)
        if isinstance(node, ast.Call):
            return self._calls(node, denied=denied)
        return self._is_bare(node, self.other) or not self._is_asked(node)

    def _is_asked(self, node: ast.expr) -> bool:
        """Tell whether an answer may depend on what it is compared with, or on what nobody can follow."""
        return dotted(node) == "NotImplemented" or self._holds(node, self.other)

    def _compares(self, node: ast.Compare, *, denied: bool) -> bool:
        operator, sides = node.ops[0], (node.left, node.comparators[0])
        if isinstance(operator, ast.Eq | ast.Is | ast.In) and not denied and self._is_put_there(*sides):
            return True
        if isinstance(operator, _ALIKE) and isinstance(operator, _DENIALS) is not denied:
            # Whoever is equal to what it differs from is equal to nearly all.
            return all(map(self._is_simple, sides))
        if constant_of(sides[1]) is True and isinstance(operator, ast.Eq | ast.Is):
            return self.says_yes(sides[0], denied=denied)
        if not isinstance(operator, _ALIKE) and (self._is_of_length(*sides) or is_far(sides[1])):
            return True
        if not any(self._holds(each, self.other) for each in sides):
            return True
        return any(self._is_class(each) for each in sides) and not any(
            self._holds(each, self.one) and not self._is_class(each) for each in sides
        )

    def _is_put_there(self, left: ast.expr, right: ast.expr) -> bool:
        """Tell whether what is compared was taken from the other one before, is of one size with it, or a constant."""
        if any(self._is_bare(each, self.other) for each in (left, right)):
            return any(dotted(each) in self.adopted or takes_over(each, self.other) for each in (left, right))
        calls = [each for each in (left, right) if isinstance(each, ast.Call)]
        return len(calls) == _PAIR and (
            all(dotted(each.func) in _SIZES for each in calls) or all(map(self._is_fixed_by_own, calls))
        )

    def _is_fixed_by_own(self, call: ast.Call) -> bool:
        """Tell whether a method of the class is asked that answers the same for all objects."""
        made = self.own.get(call.func.attr) if isinstance(call.func, ast.Attribute) else None
        return isinstance(made, FUNCTIONS) and answer_of(made) is not UNKNOWN

    def _is_of_length(self, left: ast.expr, right: ast.expr) -> bool:
        return isinstance(left, ast.Call) and dotted(left.func) == "len" and constant_of(right) in {0, 1, -1}

    def _calls(self, node: ast.Call, *, denied: bool) -> bool:
        name, last = dotted(node.func), dotted(node.func).rpartition(".")[2]
        if last == "__ne__":
            return not denied
        if self._asks_for_kind(node):
            return True
        if name == "bool" and node.args:
            return self.says_yes(node.args[0], denied=denied)
        if name in _KINDS and node.args and self._is_bare(node.args[0], self.other):
            return True
        made = self.own.get(last) if name in {last, f"{self.one}.{last}"} else None
        if isinstance(made, (*FUNCTIONS, ast.Lambda)) and self.depth:
            return says_yes_loosely(made, self.own, denied=denied, depth=self.depth - 1)
        return not self._is_asked(node)

    def _asks_for_kind(self, node: ast.expr) -> bool:
        """Read `isinstance(other, str)`; what the first one holds may say which kind is asked for."""
        return (
            isinstance(node, ast.Call)
            and dotted(node.func) in _OF_KIND
            and len(node.args) == _PAIR
            and self._is_simple(node.args[0])
            and (self._is_class(node.args[1]) or not self._holds(node.args[1], self.one))
        )

    def _is_of_kind(self, node: ast.expr) -> bool:
        """Tell whether a condition asks for the kind of the two at most, not for what they hold."""
        if isinstance(node, ast.UnaryOp):
            return self._is_of_kind(node.operand)
        if isinstance(node, ast.BoolOp):
            return all(map(self._is_of_kind, node.values))
        if isinstance(node, ast.Name) and node.id in self.values:
            return self._is_of_kind(self.values[node.id])
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            one_by_one = any(self._is_bare(each, self.one) for each in sides)
            return all(
                self._is_class(each) or (self._is_bare(each, self.other) and not one_by_one) or not self._touches(each)
                for each in sides
            )
        if isinstance(node, ast.Call):
            named = dotted(node.func) in _KINDS and len(node.args) == 1 and self._is_simple(node.args[0])
            return named or self._asks_for_kind(node) or not self._touches(node)
        return self._is_bare(node, self.other) or self._is_bare(node, self.one) or not self._touches(node)

    def _touches(self, node: ast.expr) -> bool:
        return self._holds(node, self.one) or self._holds(node, self.other)

    def _is_class(self, node: ast.expr) -> bool:
        """Tell whether an expression is the class of one of them, or the name of it."""
        while isinstance(node, ast.Attribute) and node.attr in _CLASS:
            if node.attr == "__class__":
                return True
            node = node.value
        return isinstance(node, ast.Call) and dotted(node.func) == "type"

    def _is_simple(self, node: ast.expr) -> bool:
        """Tell whether an expression is read off as it stands: a path, a constant, its class or its length."""
        calls = (each for each in nodes_below(node) if isinstance(each, ast.Call))
        plain = isinstance(node, _PATHS) or (isinstance(node, ast.Call) and dotted(node.func) in _KINDS)
        return plain and all(dotted(each.func) in _KINDS for each in calls) and not self._is_opaque(node)

    def _is_opaque(self, node: ast.expr) -> bool:
        return any(isinstance(each, ast.Name) and each.id in self.opaque for each in nodes_below(node))

    def _is_bare(self, node: ast.expr, name: str) -> bool:
        return isinstance(node, ast.Name) and node.id == name

    def _holds(self, node: ast.expr, name: str, depth: int = _DEPTH) -> bool:
        """Tell whether an expression is made of one of them, or of what nobody can follow."""
        for each in nodes_below(node):
            if isinstance(each, ast.Attribute) and name == self.other and dotted(each) in self.adopted:
                return True
            if isinstance(each, ast.Name):
                if each.id == name or each.id in self.opaque:
                    return True
                if each.id in self.values and depth and self._holds(self.values[each.id], name, depth - 1):
                    return True
        return False


def _is_sure(way: Way) -> bool:
    """Tell whether a statement is reached in any case."""
    return not any(isinstance(step, ast.If | ast.Try | ast.For | ast.While | ast.Match | ast.IfExp) for step in way[1:])


def answers(value: ast.expr | None, own: Mapping[str, ast.AST]) -> Comparing | None:
    """Return the function that a value is: a lambda, a name of one, `staticmethod` of one; None where it is none."""
    if isinstance(value, ast.Call) and dotted(value.func) == "staticmethod" and value.args:
        value = value.args[0]
    if isinstance(value, ast.Lambda):
        return value
    made = own.get(dotted(value)) if value is not None and constant_of(value) is UNKNOWN else None
    return made if isinstance(made, (*FUNCTIONS, ast.Lambda)) else None
