"""Where the hooks of a pytest plugin ask for fewer tests than whoever began the run: options that are set."""

import ast
from collections.abc import Iterator
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.nodes import constant_of
from ralph_tracker.integrity.python.syntax import Function, children_of, dotted, nodes_below
from ralph_tracker.integrity.settings.narrowing import pytest_narrowings

# A text without which no hook sets anything of this.
MAY_NARROW: Final = Pattern(
    r"\b(keyword|markexpr|deselect|collectonly|ignore|ignore_glob|args|addinivalue_line|PYTEST_ADDOPTS|lf|last_?failed"
    r"|_inicache|inicfg|file_or_dir|testpaths)\b"
)
_BEGINNING: Final = frozenset(
    {
        "pytest_configure",
        "pytest_cmdline_main",
        "pytest_cmdline_parse",
        "pytest_cmdline_preparse",
        "pytest_load_initial_conftests",
        "pytest_sessionstart",
        "pytest_collection",
    }
)
_OPTIONS: Final = frozenset(
    {"keyword", "markexpr", "deselect", "collectonly", "ignore", "ignore_glob", "lf", "last_failed", "file_or_dir"}
)
_PLACES: Final = frozenset(
    {"args", "early_config.args", "config.args", "session.config.args", "config.option.file_or_dir"}
)
_LOOKED_FOR: Final = frozenset(
    {"python_files", "python_functions", "python_classes", "testpaths", "norecursedirs", "addopts"}
)
_ADDING: Final = frozenset({"append", "extend", "insert", "remove", "pop", "clear"})
ADDOPTS: Final = "PYTEST_ADDOPTS"
_DECIDING: Final = (ast.If, ast.IfExp)
_ASKED: Final = Pattern(
    r"getoption|getini|getvalue|\boption\b|environ|getenv|platform|version|find_spec|which\(|hasattr\(|os\.name|\bargs\b"
)


def begins_with_less(hook: Function) -> Iterator[ast.stmt]:
    """Yield the statements of a hook that leave tests out, no option and no platform being asked on the way."""
    if hook.name not in _BEGINNING:
        return
    waiting: list[ast.AST] = [*hook.body]
    for node in waiting:
        if isinstance(node, _DECIDING) and _ASKED.search(ast.unparse(node.test)):
            continue  # whoever asks for an option, a platform or what is installed may leave out what cannot run
        if isinstance(node, ast.stmt) and narrows(node):
            yield node
        else:
            waiting.extend(children_of(node))


def narrows(node: ast.stmt) -> bool:
    """Tell whether a statement sets what a run leaves out, or the options of a run by its environment."""
    if isinstance(node, ast.Assign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(_is_narrower(each, node.value) for each in targets)
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and _calls_for_less(call)


def _is_narrower(target: ast.expr, value: ast.expr) -> bool:
    owner = target.value if isinstance(target, ast.Subscript) else target
    name = dotted(owner)
    if name.endswith("environ") and isinstance(target, ast.Subscript):
        return constant_of(target.slice) == ADDOPTS and _leaves_out(value)
    if name in _PLACES:
        return _names_tests(value)
    if name.endswith(("_inicache", ".inicfg")) and isinstance(target, ast.Subscript):
        return constant_of(target.slice) in _LOOKED_FOR
    option = name.partition("option.")[2]
    return option in _OPTIONS and not _is_empty(value)


def _calls_for_less(call: ast.Call) -> bool:
    owner, _, method = dotted(call.func).rpartition(".")
    values = [constant_of(each) for each in call.args]
    if method == "addinivalue_line":
        is_option = values[:1] == ["addopts"] and _leaves_out(call.args[-1])
        return is_option or values[:1] in (["norecursedirs"], ["testpaths"])
    if method in {"setdefault", "putenv"} and values[:1] == [ADDOPTS]:
        return _leaves_out(call.args[-1])
    if not owner and method == "setattr" and len(values) > 2:  # noqa: PLR2004  an object, a name and a value
        return dotted(call.args[0]).endswith("option") and values[1] in _OPTIONS and not _is_empty(call.args[2])
    option = owner.partition("option.")[2]
    if method in _ADDING and option in _OPTIONS:
        return method not in {"clear", "pop", "remove"}
    return method in _ADDING and owner in _PLACES and any(map(_names_tests, call.args))


def _is_empty(value: ast.expr) -> bool:
    return constant_of(value) in (None, "", False) or (isinstance(value, ast.List) and not value.elts)


def _texts(value: ast.expr) -> list[str]:
    found = (constant_of(each) for each in nodes_below(value) if isinstance(each, ast.Constant))
    return [each for each in found if isinstance(each, str)]


def _leaves_out(value: ast.expr) -> bool:
    return bool(pytest_narrowings([word for text in _texts(value) for word in text.split()]))


def _names_tests(value: ast.expr) -> bool:
    """Tell whether arguments of a run hold an option that leaves out, or a single file or test."""
    texts = _texts(value)
    return bool(pytest_narrowings(texts)) or any("::" in each or each.endswith(".py") for each in texts)
