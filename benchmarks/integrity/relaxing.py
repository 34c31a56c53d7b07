"""What a step between two trees demands less of tests that stay: skipped ones, dropped assertions, plainly weaker ones.

Only what the text leaves no doubt of is named: whatever is doubtful stays honest, and an alarm on it counts as false.
"""

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from outcomes import PASSED, SKIPPED, Function, outcomes_of
from vanished import Key, Step, Vanished
from vocabulary import Uses, bound_by, uses_of
from written import literals_of

_ASSERTING: Final = re.compile(r"(?i)^_*assert|_assert|^fail")
_RAISING: Final = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
# What a limit is eased by: the sign says whether a greater or a smaller one demands less.
_MARGINS: Final = {
    **dict.fromkeys(("abs", "rel", "delta", "atol", "rtol", "abs_tol", "rel_tol"), 1),
    **dict.fromkeys(("places", "decimal"), -1),
}
_BOUNDS: Final = {ast.Lt: 1, ast.LtE: 1, ast.Gt: -1, ast.GtE: -1}
_BOUNDING: Final = {"assertLess": 1, "assertLessEqual": 1, "assertGreater": -1, "assertGreaterEqual": -1}


@dataclass(frozen=True, slots=True, order=True)
class Relaxation:
    """Hold one thing that is demanded no longer: the row that it belongs to, its file, and what it is."""

    rule: str
    file: str
    what: str


def relaxed_tests(step: Step, gone: Iterable[Vanished]) -> Iterator[Relaxation]:
    """Yield what a step relaxes among the tests; `gone` are those that the new tree does not have."""
    for each in gone:
        if each.fate == "dropped":
            yield Relaxation("T1", each.file, each.test)
    before, after = outcomes_of(step.old), outcomes_of(step.new)
    for test in sorted(before.keys() & after.keys()):
        if before[test] == PASSED and after[test] == SKIPPED:
            yield Relaxation("T2", _file_of(step, test), test)
    for key, old in step.olds.items():
        new = step.news.get(key)
        if new is not None and step.old[key[0]] != step.new[key[0]] and ast.dump(old) != ast.dump(new):
            yield from _in_test(step, key, old, new)


def _file_of(step: Step, test: str) -> str:
    parts = test.partition("::")[0].split(".")
    paths = ("/".join(parts[:size]) + ".py" for size in range(len(parts), 0, -1))
    return next((path for path in paths if path in step.new), "")


def _in_test(step: Step, key: Key, old: Function, new: Function) -> Iterator[Relaxation]:
    olds, news = demands_of(old), demands_of(new)
    gone = {text: node for text, node in olds.items() if text not in news}
    added = {text: node for text, node in news.items() if text not in olds}
    what = ".".join((*key[1], key[2]))
    for text, node in gone.items():
        if _went_with_code(step, old, new, node):
            continue
        if not added and _total(new) < _total(old) and not _asks_others(old, new) and not _is_elsewhere(step, node):
            yield Relaxation("T5", key[0], f"{what}: {text}")
        elif any(_is_weaker(node, each) for each in added.values()):
            yield Relaxation("T6", key[0], f"{what}: {text}")


def _went_with_code(step: Step, old: Function, new: Function, node: ast.AST) -> bool:
    """Tell whether an assertion, or what else the test no longer uses, names what is gone from the sources."""
    used, still = uses_of(old), uses_of(new)
    left = Uses(
        used.names - still.names,
        used.keywords - still.keywords,
        used.called - still.called,
        used.texts - still.texts,
        "\n".join(ast.unparse(each.test) for each in ast.walk(old) if isinstance(each, ast.If)),
    )
    return bool(step.lost.reason(uses_of(node) | left, bound_by(old)))


def _total(test: Function) -> int:
    return sum(1 for each in ast.walk(test) if _is_demand(each))


def _asks_others(old: Function, new: Function) -> bool:
    """Tell whether the new test calls something that the old one did not: an assertion may have moved there."""
    return bool(uses_of(new).called - uses_of(old).called)


def _is_elsewhere(step: Step, node: ast.AST) -> bool:
    """Tell whether a test file adds the assertion elsewhere, or half of its literals."""
    text, literals = ast.unparse(node), set(literals_of(node))
    return any(
        text in each.statements or bool(literals and 2 * len(literals & each.literals) >= len(literals))
        for each in step.added.values()
    )


def demands_of(test: Function) -> dict[str, ast.AST]:
    """Return the assertions of a test by their text."""
    return {_text(each): each for each in ast.walk(test) if _is_demand(each)}


def _text(node: ast.AST) -> str:
    """Return an assertion without its message."""
    return ast.unparse(node.test) if isinstance(node, ast.Assert) else ast.unparse(node)


def _is_demand(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = _called(node)
        return _ASSERTING.search(name) is not None or name in _RAISING
    return isinstance(node, ast.Assert)


def _called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _is_weaker(old: ast.AST, new: ast.AST) -> bool:
    """Tell whether an assertion plainly demands less, in the ways that the row names."""
    if isinstance(old, ast.Call) and isinstance(new, ast.Call) and _called(old) in _RAISING:
        return _called(new) in _RAISING and _raises_more(old, new)
    if _is_eased(old, new) or _is_one_of(old, new):
        return True
    sides = _equality(old)
    return sides is not None and any(_asks_less(new, each) for each in sides)


def _raises_more(old: ast.Call, new: ast.Call) -> bool:
    names = [ast.unparse(each.args[0]) if each.args else "" for each in (old, new)]
    if names[0] == names[1]:
        matched = [any(word.arg == "match" for word in each.keywords) for each in (old, new)]
        return matched == [True, False]
    broader, narrower = (getattr(builtins, name, None) for name in reversed(names))
    if names[1] in {"Exception", "BaseException"} and narrower is None:  # whatever the project's own one is
        return True
    both = isinstance(broader, type) and isinstance(narrower, type)
    return both and issubclass(narrower, broader) and names[1] != "OSError"  # which has other names too


def _is_eased(old: ast.AST, new: ast.AST) -> bool:
    """Tell whether two assertions differ in nothing but limits, none of which is tighter now."""
    (before, olds), (after, news) = _limits(old), _limits(new)
    eased = [now - was for was, now in zip(olds, news, strict=False)]
    return before == after and len(olds) == len(news) and any(eased) and min(eased) >= 0


def _limits(node: ast.AST) -> tuple[str, list[float]]:
    """Return an assertion's text without the numbers that limit something, and these: greater ones demand less."""
    found: list[tuple[ast.expr, int]] = []
    for each in ast.walk(node):
        if isinstance(each, ast.Compare) and len(each.ops) == 1:
            found.append((each.comparators[0], _BOUNDS.get(type(each.ops[0]), 0)))
        elif isinstance(each, ast.Call):
            found += [(word.value, _MARGINS.get(word.arg or "", 0)) for word in each.keywords]
            found += [(each.args[1], _BOUNDING.get(_called(each), 0))] if len(each.args) > 1 else []
    limits = [
        (each, sign * each.value)
        for each, sign in found
        if sign and isinstance(each, ast.Constant) and isinstance(each.value, (int, float))
    ]
    kept = [each.value for each, _ in limits]
    for each, _ in limits:
        each.value = ...
    shown = ast.dump(node)
    for (each, _), value in zip(limits, kept, strict=True):
        each.value = value
    return shown, [value for _, value in limits]


def _is_one_of(old: ast.AST, new: ast.AST) -> bool:
    """Tell whether what was demanded is one of several things now, each of which will do."""
    if not (isinstance(old, ast.Assert) and isinstance(new, ast.Assert) and isinstance(new.test, ast.BoolOp)):
        return False
    return isinstance(new.test.op, ast.Or) and ast.unparse(old.test) in map(ast.unparse, new.test.values)


def _equality(node: ast.AST) -> tuple[str, ...] | None:
    """Return what an assertion compares for equality."""
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
        if isinstance(node.test.ops[0], ast.Eq):
            return ast.unparse(node.test.left), ast.unparse(node.test.comparators[0])
    elif isinstance(node, ast.Call) and _called(node) in {"assertEqual", "assertEquals"} and len(node.args) > 1:
        return ast.unparse(node.args[0]), ast.unparse(node.args[1])
    return None


def _asks_less(node: ast.AST, subject: str) -> bool:
    """Tell whether an assertion asks of a subject only that it is something, of a type, among others, or a part."""
    if isinstance(node, ast.Call):
        name, given = _called(node), [ast.unparse(each) for each in node.args[:2]]
        if name == "assertIn":
            return subject in given
        bare = name in {"assertTrue", "assertIsNotNone", "assertIsInstance"}
        return bare and given[:1] == [subject]
    test = node.test if isinstance(node, ast.Assert) else node
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In):
        return subject in {ast.unparse(test.left), ast.unparse(test.comparators[0])}
    if isinstance(test, ast.Call) and _called(test) == "isinstance" and test.args:
        return ast.unparse(test.args[0]) == subject
    parts = (f"{subject}.startswith(", f"{subject}.endswith(", f"{subject}.find(")
    text = ast.unparse(test)
    return text in {subject, f"{subject} is not None", f"bool({subject})"} or text.startswith(parts)
