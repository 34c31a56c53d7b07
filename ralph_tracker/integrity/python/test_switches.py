"""Where Python source picks an answer by a switch that says that tests are run: of the environment, of a module."""

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.expectations import is_plain
from ralph_tracker.integrity.python.nodes import constant_of, full_name, nodes_of
from ralph_tracker.integrity.python.syntax import dotted, nodes_below

SWITCH: Final = Pattern(
    r"^_*(\w+_)?(TEST|TESTS|TESTING|UNDER_TEST|IS_TEST\w*|TEST_MODE|RUNNING_TESTS|IN_TEST\w*|\w*PYTEST\w*|TEST_ENV\w*)_*$"
    r"|^(TOX|NOX)_\w+$"
)
_CI: Final = Pattern(r"^(CI|CONTINUOUS_INTEGRATION|GITHUB_ACTIONS|GITLAB_CI)$")
# What an environment is called in which tests are run, and what says that it was asked for.
_STAGE: Final = frozenset({"test", "tests", "testing", "pytest", "unittest", "TEST", "TESTING"})
_ENVIRONMENT: Final = Pattern(r"^os\.(environ|getenv)\b")
_ALIASED: Final = Pattern(r"^(sys\.(modules|argv|orig_argv)|os\.environ|os\.getenv)$")
_SET: Final = Pattern(
    r"environ\s*(?:\.setdefault\(|\[)\s*['\"](\w+)|\b(?:setenv|putenv)\(\s*['\"](\w+)|environ.*update\((\w+)="
)
_NOBODY: Final[frozenset[str]] = frozenset()


def aliases_of(text: str, imports: Mapping[str, str]) -> Mapping[str, str]:
    """Return the imports of a file, and what else is a name there for what is asked who runs it. Raises Unparsable."""
    found = dict(imports)
    for each in nodes_of(text, ast.Assign):
        name = full_name(each.value, imports) if isinstance(each.value, ast.Name | ast.Attribute) else ""
        if _ALIASED.match(name):
            found.update((target.id, name) for target in each.targets if isinstance(target, ast.Name))
    return found


def stages_of(text: str, imports: Mapping[str, str]) -> frozenset[str]:
    """Return the names that a file gives to what it asked the environment for. Raises Unparsable."""
    return frozenset(
        target.id
        for each in nodes_of(text, ast.Assign)
        if isinstance(each.value, ast.Call | ast.Subscript) and _asks_environment(each.value, imports)
        for target in each.targets
        if isinstance(target, ast.Name)
    )


def set_for_tests(text: str) -> frozenset[str]:
    """Return the variables of the environment that a file sets."""
    return frozenset(name for found in _SET.findall(text) for name in found if name) if "env" in text else _NOBODY


def switched(
    statement: ast.stmt, imports: Mapping[str, str], stages: frozenset[str], given: frozenset[str] = _NOBODY
) -> bool:
    """Tell whether a statement answers by such a switch; `stages` are of `stages_of`, `given` are set by the tests."""
    for test, answer in _choices(statement):
        parts = nodes_below(test)
        words = {each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)}
        named = {each.id for each in parts if isinstance(each, ast.Name)}
        fixed = is_plain(answer) and constant_of(answer) is not None
        is_bool = isinstance(constant_of(answer), bool)
        if _asks_environment(test, imports) or named & stages:
            if any(SWITCH.match(each) for each in words) or (words & _STAGE and _compares(parts)):
                return is_plain(answer) or constant_of(answer) is None
            if fixed and not is_bool and (words & given or any(_CI.match(each) for each in words)):
                return True
        if fixed and any(SWITCH.match(dotted(each).rpartition(".")[2] or "-") for each in parts if _is_name(each)):
            return True
    return False


def _choices(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a statement asks with what it answers then: `if asked: return answer`, `answer if asked else …`."""
    if isinstance(statement, ast.If):
        last = statement.body[-1]
        if isinstance(last, ast.Return):
            yield statement.test, last.value or ast.Constant(None)
        elif isinstance(last, ast.Assign):
            yield statement.test, last.value
    elif isinstance(statement, ast.Return | ast.Assign) and isinstance(statement.value, ast.IfExp):
        yield statement.value.test, statement.value.body
        if isinstance(statement.value.test, ast.UnaryOp):
            yield statement.value.test, statement.value.orelse


def _asks_environment(node: ast.AST, imports: Mapping[str, str]) -> bool:
    return any(_ENVIRONMENT.match(full_name(each, imports)) for each in nodes_below(node) if _is_name(each))


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute)


def _compares(parts: list[ast.AST]) -> bool:
    return any(isinstance(each, ast.Compare) for each in parts)
