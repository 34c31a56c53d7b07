"""Whether a claim of a Python test is made by a function of the tests that never says no."""

import ast
import sys

from ralph_tracker.integrity.python.calls import is_assertion_name
from ralph_tracker.integrity.python.looseness import HARMLESS, says_yes_loosely
from ralph_tracker.integrity.python.origins import Origins
from ralph_tracker.integrity.python.replacing import functions_in, own_functions
from ralph_tracker.integrity.python.stand_ins import answer_of, may_fail, worth_of
from ralph_tracker.integrity.python.syntax import Function, dotted, statements_below


def is_hollow(call: ast.Call, test: Function, text: str, origins: Origins) -> bool:
    """Tell whether a call that makes a claim of a test asks a function of the tests that says yes to anything."""
    name = dotted(call.func)
    bound = origins.value_of(name, sys.maxsize)
    asserts = is_assertion_name(name.rpartition(".")[2])
    if bound and asserts:
        return not isinstance(bound[0], ast.Attribute)
    if bound and isinstance(bound[0], ast.Lambda):
        return worth_of(bound[0].body) is True or says_yes_loosely(bound[0], functions_in(text))
    methods = own_functions(name, test, text)
    if asserts and _is_dropped(call, test):
        return any(not may_fail(each, HARMLESS) for each in methods)
    if len(call.args) > 1:
        known, first = functions_in(text), int(name.startswith("self."))
        return any(says_yes_loosely(each, known, first=first) for each in methods)
    return any(answer_of(each) is True for each in methods)


def _is_dropped(call: ast.Call, test: Function) -> bool:
    """Tell whether nobody asks for what a call answers, so that it can say no only by failing."""
    return any(isinstance(each, ast.Expr) and each.value is call for each in statements_below(test))
