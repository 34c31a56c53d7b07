"""What a Python test compares with, or asks, that cannot differ: mocked subjects, objects equal to everything."""

import ast
import re
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.alternatives import asks_again, is_chosen, is_emptied, is_itself
from ralph_tracker.integrity.python.claimed import (
    BUILTINS,
    answers_itself,
    asked_by,
    claimed_sides,
    fixed_values,
    given_to_own,
    is_same,
    kinds_named,
    own_builtins,
    owner_of,
    raising_in,
    said_in,
    set_in,
)
from ralph_tracker.integrity.python.claims import (
    AGAIN,
    ALONE,
    BUILTIN,
    CHOSEN,
    CLOCK,
    EMPTIED,
    EQUAL,
    HELD,
    HOLLOW,
    LENT,
    MOCKED,
    OWN,
    RAISED,
    SELF,
    SET,
    Claim,
)
from ralph_tracker.integrity.python.clocks import stand_still, takes_duration
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.equality import Equals
from ralph_tracker.integrity.python.expectations import is_plain, module_values
from ralph_tracker.integrity.python.hiding import hidden_in
from ralph_tracker.integrity.python.hollow import is_hollow
from ralph_tracker.integrity.python.lending import is_lent
from ralph_tracker.integrity.python.nodes import constant_of, full_name, imports_of
from ralph_tracker.integrity.python.origins import COUNTS, HANDING_ON, Origins, bindings_of
from ralph_tracker.integrity.python.ownership import OF_TESTS, Ownership
from ralph_tracker.integrity.python.patches import ITSELF, Replaced, Scope
from ralph_tracker.integrity.python.replacing import (
    asked_for,
    bound_around,
    functions_in,
    methods_around,
    own_functions,
    own_of,
    replaced_around,
    replaced_for_all,
    replaced_in,
)
from ralph_tracker.integrity.python.stand_ins import MOCKS, answer_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, nodes_in

_OF_CALLS: Final = Pattern(r"\.assert_(any_|has_|not_)?(call|await)\w*$")
_COMPARES: Final = Pattern(r"eq|same|alike|is_|true|false|none|close|almost|greater|less|_in$|that$", re.IGNORECASE)
_DEFINED: Final = (*FUNCTIONS, ast.ClassDef)
_ASSERT: Final = len("assert ")
_NOBODY: Final[Mapping[str, Replaced]] = {}


def claims_of(
    test: Function,
    text: str,
    equal: frozenset[str],
    path: str = "",
    before: Mapping[str, str] | None = None,
    *,
    inside: bool = True,
    shared: Mapping[str, Replaced] = _NOBODY,
    lent: frozenset[str] = frozenset(),
) -> list[Claim]:
    """Return what a test of a file asserts; `equal` are the classes that are equal to everything.

    `before` are the imports that the file had; without `inside`, what the test replaces itself is passed over;
    `shared` tells what fixtures of other files replace, `lent` which names come from other files of the tests and lead
    nowhere else. Raises Unparsable.
    """
    reading = _Reading(test, text, equal, path, before or {}, inside=inside)
    for name in asked_for(test) & shared.keys():
        reading.replaced.update(shared[name])
    reading.lent = lent
    return reading.claims()


class _Reading:
    """Follow the names of one test to what they stand for."""

    def __init__(
        self, test: Function, text: str, equal: frozenset[str], path: str, before: Mapping[str, str], *, inside: bool
    ) -> None:
        self.test = test
        self.text = text
        self.lent: frozenset[str] = frozenset()
        self.imports = imports_of(text)
        self.bound = bindings_of(test)
        self.methods = methods_around(test, text)
        own = {**functions_in(text), **self.methods}
        self.origins = Origins(test, fixed_values(text, test), own, bound_around(test, text))
        self.equals = Equals(text, self.imports, equal, self.origins)
        self.replaced = {
            **replaced_for_all(text),
            **replaced_around(test, text),
            **(replaced_in(test, Scope(self.imports, own_of(text))) if inside else {}),
            **dict.fromkeys(hidden_in(text, before, path), True),
        }
        self.replaced.update((each, True) for each in own_builtins(test, text))
        self.set = dict(set_in(test))
        module = path.rpartition("/")[2].removesuffix(".py")
        for target in list(self.replaced):
            owner, _, name = target.rpartition(".")
            if name and owner.rpartition(".")[2] in {module, ITSELF}:
                self.replaced[name] = self.replaced[self.imports.get(name, name)] = self.replaced[target]

    def claims(self) -> list[Claim]:
        claims = [self._claim(ast.unparse(each), each, claimed_sides(each)) for each in said_in(self.test)]
        return [*claims, *map(self._raised, raising_in(self.test))]

    def _raised(self, block: ast.With | ast.AsyncWith) -> Claim:
        """Return what has to raise in a block, as a claim about what the block does."""
        asked = ", ".join(ast.unparse(each.context_expr) for each in block.items)
        done = [step.value for step in block.body if isinstance(step, ast.Expr | ast.Assign)]
        claim = self._claim(f"{asked}: {ast.unparse(block.body[0])}", block.items[0].context_expr, done)
        if any(isinstance(step, ast.Raise) for step in block.body):
            return claim._replace(rigged=RAISED)
        # Classes of the tests that refuse something are what is tested.
        return claim if claim.rigged in {MOCKED, ALONE} else claim._replace(rigged=None)

    def _claim(self, text: str, claim: ast.expr, sides: list[ast.expr]) -> Claim:
        asked = [each for each in sides if not self.equals.everything(each)]
        subject = next((name for name in map(self._subject_of, asked) if name), "")
        fixed = any(constant_of(each) is not UNKNOWN or is_plain(each) for each in sides)
        bound = (value for each in sides if isinstance(each, ast.Name) for value in self.bound.get(each.id, ()))
        texts = frozenset(
            map(ast.unparse, (*sides, *bound, *given_to_own(sides, {*functions_in(self.text), *self.methods})))
        )
        return Claim(text, claim.lineno, subject, self._rigged(claim, sides), texts, fixed)

    def _rigged(self, claim: ast.expr, sides: list[ast.expr]) -> str | None:
        if isinstance(claim, ast.Call) and _OF_CALLS.search(dotted(claim.func)) is not None:
            return None
        ways: dict[str, Callable[[], bool]] = {
            EQUAL: lambda: self.equals.holds(claim, sides) or self._by_patched_equality(claim, sides),
            BUILTIN: lambda: self._by_builtin(claim),
            HOLLOW: lambda: any(is_hollow(each, self.test, self.text, self.origins) for each in asked_by(claim)),
            MOCKED: lambda: any(self._is_mocked(part) for each in sides for part in self.origins.of(each)),
            CLOCK: lambda: self.frozen and takes_duration(sides, self.origins, self.imports),
            OWN: lambda: any(self._is_own(self._subject_of(each)) for each in sides),
            SELF: lambda: is_itself(claim, sides, self.origins),
            LENT: lambda: self._is_lent(claim, sides),
            ALONE: lambda: self.alone,
            HELD: lambda: self._is_held(claim, sides, self.ownership.is_own),
            EMPTIED: lambda: is_emptied(sides, self.test),
            CHOSEN: lambda: is_chosen(claim, sides, self.test, self.origins),
            AGAIN: lambda: asks_again(claim, sides, self.origins),
            SET: lambda: self._is_set(sides) or self._is_held(claim, sides, self.ownership.is_put),
        }
        return next((why for why, holds in ways.items() if holds()), None)

    def _by_patched_equality(self, claim: ast.expr, sides: list[ast.expr]) -> bool:
        """Tell whether two things are compared while some class was made equal to everything."""
        patched = any(each.endswith(".__eq__") for each in self.replaced)
        compares = isinstance(claim, ast.Call) or (isinstance(claim, ast.Compare) and isinstance(claim.ops[0], ast.Eq))
        return patched and compares and len(sides) > 1 and all(constant_of(each) is UNKNOWN for each in sides)

    def _is_lent(self, claim: ast.expr, sides: list[ast.expr]) -> bool:
        """Tell whether all that a claim is about comes from the tests' own files, and not from the test's alone."""
        lent = bool(self.lent) and is_lent(sides, self.origins, self.lent)
        return lent and self._is_held(claim, sides, self.ownership.is_own)

    def _is_held(self, claim: ast.expr, sides: list[ast.expr], is_own: Callable[[ast.AST, int, int], bool]) -> bool:
        """Tell whether all that a claim is about stands in the test, or in its file, as it is."""
        name = claim.func.id if isinstance(claim, ast.Call) and isinstance(claim.func, ast.Name) else ""
        if name in self.imports and not _COMPARES.search(name):
            return False  # `assert_fails({...})` asks what it is given about something of its own
        if isinstance(claim, ast.Call) and self._asks_beyond(dotted(claim.func)):
            return False
        column = claim.col_offset - (0 if isinstance(claim, ast.Call) else _ASSERT)
        return bool(sides) and all(is_own(each, claim.lineno, column) for each in sides)

    def _asks_beyond(self, name: str) -> bool:
        """Tell whether a function of the tests that makes a claim uses what is none of theirs."""
        return not all(map(self.ownership.keeps_within, own_functions(name, self.test, self.text)))

    @cached_property
    def ownership(self) -> Ownership:
        """Return what tells what of the test is its own."""
        inside = {each.name: each for each in nodes_in(self.test)[1:] if isinstance(each, _DEFINED)}
        around = bound_around(self.test, self.text)
        own = {**own_of(self.text), **self.methods, **inside}
        imports = {**self.imports, **dict.fromkeys(self.lent, OF_TESTS)}
        return Ownership(self.test, imports, own, module_values(self.text), around)

    @cached_property
    def frozen(self) -> bool:
        """Tell whether a clock stands still in the test."""
        return stand_still(self.test, self.replaced, self.text)

    @cached_property
    def alone(self) -> bool:
        """Tell whether nothing in the test leads out of its file."""
        return all(self.ownership.is_own(each, sys.maxsize, sys.maxsize) for each in self.test.body)

    def _is_set(self, sides: list[ast.expr]) -> bool:
        varying = [each for each in sides if constant_of(each) is UNKNOWN]
        return bool(varying) and all(isinstance(each, ast.Attribute) and self._is_set_as(each) for each in varying)

    def _is_set_as(self, attribute: ast.Attribute) -> bool:
        """Tell whether an attribute was set as such, or as one of its object's class."""
        subject = self._subject(attribute)
        return dotted(attribute) in self.set or any(is_same(subject, self._in_full(each)) for each in self.set)

    def _in_full(self, name: str) -> str:
        first, dot, rest = name.partition(".")
        return self.imports.get(first, first) + dot + rest

    def _by_builtin(self, claim: ast.expr) -> bool:
        """Tell whether a claim is made by a builtin that was replaced."""
        called = {dotted(each.func) for each in nodes_below(claim) if isinstance(each, ast.Call)} & BUILTINS
        return any(each in self.replaced or f"builtins.{each}" in self.replaced for each in called)

    def _is_own(self, subject: str) -> bool:
        """Tell whether a side calls a method that the tests' own class defines, and does not leave to another."""
        kind, _, method = subject.rpartition(".")
        if kind == "self":
            return any(answer_of(each) is not UNKNOWN for each in own_functions(subject, self.test, self.text))
        return bool(kind) and (self._is_defined(kind, method) or self._is_of_type(kind, method))

    def _is_defined(self, kind: str, method: str) -> bool:
        kinds = kinds_named(kind, self.test, self.text)
        # A decorator makes of a class what is under test.
        return any(answers_itself(each, method, self.imports) for each in kinds if not each.decorator_list)

    def _is_of_type(self, kind: str, method: str) -> bool:
        """Tell whether a class that `type` made has a method of that name."""
        made = self._made(kind)
        given = made.args[-1:] if made is not None and dotted(made.func) == "type" else []
        return any(isinstance(each, ast.Dict) and method in map(constant_of, each.keys) for each in given)

    def _made(self, name: str, line: int = sys.maxsize) -> ast.Call | None:
        """Return the call that made what a name stands for."""
        made = next(iter(self.origins.value_of(name, line)), None)
        made = made.value if isinstance(made, ast.Await) else made
        return made if isinstance(made, ast.Call) else None

    def _subject_of(self, side: ast.expr) -> str:
        """Return the full name of the first thing that a side calls or reads; what only hands on is passed over."""
        parts = (each for each in self.origins.of(side) if isinstance(each, ast.Call | ast.Attribute))
        told = (each for each in parts if not (isinstance(each, ast.Call) and dotted(each.func) in HANDING_ON))
        return next((name for name in map(self._subject, told) if name), "")

    def _subject(self, value: ast.expr) -> str:
        """Return the full name of what is called or read, methods by the class of what they are called on."""
        line = value.lineno
        value = value.func if isinstance(value, ast.Call) else value
        owner, rest = owner_of(dotted(value))
        made = self._made(owner, line) if rest else None
        if made is not None and dotted(made.func) != "type":
            return f"{full_name(made.func, self.imports)}.{rest}"
        return full_name(value, self.imports)

    def _is_mocked(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Call | ast.Attribute) or getattr(value, "attr", "") in COUNTS:
            return False
        subject = self._subject(value)
        if isinstance(value, ast.Attribute):
            # An attribute is a subject where it was replaced as such: by a property.
            return "." in subject and any(is_same(subject, each) and not each.endswith("__") for each in self.replaced)
        name = dotted(value.func)
        if COUNTS.intersection(name.split(".")):
            return False
        root = name.partition(".")[0]
        made = self._made(owner_of(name)[0], value.lineno)
        if made is not None and made is not value:
            kind = dotted(made.func)
            if MOCKS.search(full_name(made.func, self.imports)) or (kind in self.replaced and root not in self.imports):
                return True
        if root in self.replaced or name in self.replaced or self._is_of_module(root):
            return True
        return any(is_same(subject, each) for each in self.replaced)

    def _is_of_module(self, root: str) -> bool:
        """Tell whether a name was imported from a module that was replaced."""
        full = self.imports.get(root, "")
        return any(full.startswith(f"{each}.") for each in self.replaced if each and each[0] != "_")
