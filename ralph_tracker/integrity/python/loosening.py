"""Two Python assertions of one shape and about one subject: whether the later one lets more pass than the other."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.projected import Known
from ralph_tracker.integrity.python.calls import RAISES, WILDCARDS, as_comparison, matcher_of
from ralph_tracker.integrity.python.constants import is_literal, value_of
from ralph_tracker.integrity.python.expectations import sides_of
from ralph_tracker.integrity.python.syntax import Function, dotted, same, statements_below

_HALF: Final = 0.5
_SHORT: Final = 3
_TWO: Final = 2
_REGEXES: Final = {"search": 0, "assertRegex": 0, "match": 1, "fullmatch": 2}
_PREFIXES: Final = frozenset({"startswith", "endswith"})
_LENIENT: Final = Pattern(
    r"(check|strict|exact|ordered|sensitive)|(any_order|ignore|nan_ok|check_like|equal_nan|lenient)"
)
_DURATION: Final = Pattern(r"time|elapsed|duration|took|seconds|delay|memory|\bdt\b|\bms\b", re.IGNORECASE)
_MIRRORED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}
# A call, a bound or a membership: of two equalities none is looser.
_LOOSENED: Final = ("(", "<", ">", " in ")
_STRICT: Final = (ast.Lt, ast.Gt)


def subjects_of(text: str) -> Iterator[str]:
    """Yield the sides of an assertion that are no literals, as texts; nothing where it compares nothing."""
    claim = _claim_of(text)
    claim = as_comparison(claim) if isinstance(claim, ast.Call) else claim
    given: set[str] = set()
    if (
        isinstance(claim, ast.Call)
        and claim.args
        and isinstance(inner := claim.args[0], ast.GeneratorExp | ast.ListComp)
    ):
        given = {each.id for part in inner.generators for each in ast.walk(part.target) if isinstance(each, ast.Name)}
        claim = inner.elt
    sides = sides_of(claim) if isinstance(claim, ast.Compare) and len(claim.ops) == 1 else []
    yield from (ast.unparse(each) for each in sides if not is_literal(each) and not _is_expected(dotted(each), given))


def _is_expected(name: str, given: set[str]) -> bool:
    """Tell whether a side is no subject: what a loop goes over, or a constant of the module."""
    return name in given or name.rpartition(".")[2].isupper()


def names_of(function: Function) -> Known:
    """Return what tells the text that a name of a test stands for, assigned once; `*…` where it unpacks several."""
    found: dict[str, tuple[str, ast.expr]] = {}
    twice: set[str] = set()
    for each in statements_below(function):
        if isinstance(each, ast.Assign) and len(each.targets) == 1:
            target = each.targets[0]
            names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            star = "*" if len(names) > 1 or names[0] is not target else ""
            for name in names:
                if isinstance(name, ast.Name):
                    twice |= {name.id} & found.keys()
                    found[name.id] = star, each.value

    def text_of(name: str) -> str | None:
        if name not in found or name in twice:
            return None
        star, value = found[name]
        return star + ast.unparse(value)

    return text_of


def picks_of_both(text: str) -> bool:
    """Tell whether an assertion compares the same part of two things: `x[:5] == "a lid"[:5]`."""
    if "[" not in text:
        return False
    claim = _claim_of(text)
    claim = as_comparison(claim) if isinstance(claim, ast.Call) else claim
    sides = sides_of(claim) if isinstance(claim, ast.Compare) and len(claim.ops) == 1 else []
    picked = [each.slice for each in sides if isinstance(each, ast.Subscript)]
    return len(picked) == len(sides) == _TWO and same(*picked)


def is_looser(old: str, new: str) -> bool:
    """Tell whether the second assertion lets more pass by a bound, a list, a pattern or an option of the first."""
    if not all(any(word in text for word in _LOOSENED) for text in (old, new)):
        return False
    before, now = _claim_of(old), _claim_of(new)
    if before is None or now is None:
        return False
    if _is_lenient(before, now):
        return True
    before, now = (as_comparison(each) if isinstance(each, ast.Call) else each for each in (before, now))
    if isinstance(before, ast.Compare) and isinstance(now, ast.Compare):
        return _compares_looser(before, now)
    if isinstance(before, ast.Call) and isinstance(now, ast.Call):
        return _calls_looser(before, now)
    return False


@lru_cache(maxsize=512)
def _claim_of(text: str) -> ast.expr | None:
    """Return what an assertion claims, which nobody may change; None where that cannot be told."""
    for whole in (text, f"with {text}", f"with {text.partition('): ')[0]}): pass"):
        try:
            [statement] = ast.parse(whole).body
        except (SyntaxError, ValueError):
            continue
        if isinstance(statement, ast.With | ast.AsyncWith):
            return statement.items[0].context_expr
        return statement.test if isinstance(statement, ast.Assert) else getattr(statement, "value", None)
    return None


def _compares_looser(old: ast.Compare, new: ast.Compare) -> bool:
    if len(old.ops) > 1 or len(new.ops) > 1:
        return len(old.ops) == len(new.ops) == _TWO and _is_wider(old, new)
    if isinstance(old.ops[0], ast.In) and isinstance(new.ops[0], ast.In):
        return _holds_more(old, new)
    return _is_lower(_bound(old.left, old.ops[0], old.comparators[0]), _bound(new.left, new.ops[0], new.comparators[0]))


def _holds_more(old: ast.Compare, new: ast.Compare) -> bool:
    """Read `x in (1, 2)` that became `x in (1, 2, 3)`, and `'a lid' in x` that became `'lid' in x`."""
    part, whole = value_of(new.left), value_of(old.left)
    if isinstance(part, str) and isinstance(whole, str):
        return same(old.comparators[0], new.comparators[0]) and _is_scrap(part, whole)
    if not same(old.left, new.left):
        return False
    before, now = (_elements(each.comparators[0]) for each in (old, new))
    return bool(before) and before < now


def _elements(node: ast.expr) -> set[str]:
    return {ast.unparse(each) for each in node.elts} if isinstance(node, ast.Tuple | ast.List | ast.Set) else set()


def _is_scrap(part: str, whole: str) -> bool:
    return part != whole and part in whole and len(part) <= max(_SHORT, _HALF * len(whole))


Bound = tuple[str, type[ast.cmpop], float] | None


def _bound(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Bound:
    """Return what is above or below which number, None where it is no number."""
    kind = type(operator)
    if kind not in _MIRRORED:
        return None
    if value_of(left) is not None and is_literal(left):
        left, right, kind = right, left, _MIRRORED[kind]
    value = value_of(right)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return (ast.unparse(left), kind, float(value)) if number and isinstance(value, int | float) else None


def _is_lower(old: Bound, new: Bound) -> bool:
    """Tell whether a bound gives way; how long something takes depends on the machine."""
    if old is None or new is None or old[0] != new[0] or _DURATION.search(old[0]):
        return False
    upwards = issubclass(old[1], ast.Gt | ast.GtE)
    if upwards is not issubclass(new[1], ast.Gt | ast.GtE):
        return False
    if old[2] == new[2]:
        return issubclass(old[1], _STRICT) and not issubclass(new[1], _STRICT)
    return new[2] < old[2] if upwards else new[2] > old[2]


def _is_wider(old: ast.Compare, new: ast.Compare) -> bool:
    """Read `5 < x < 10` that became `0 < x < 100`."""
    if not same(old.comparators[0], new.comparators[0]):
        return False
    ends = [
        [
            _bound(each.left, each.ops[0], each.comparators[0]),
            _bound(each.comparators[0], each.ops[1], each.comparators[1]),
        ]
        for each in (old, new)
    ]
    looser = [_is_lower(one, other) for one, other in zip(*ends, strict=True)]
    tighter = [_is_lower(other, one) for one, other in zip(*ends, strict=True)]
    return any(looser) and not any(tighter)


def _calls_looser(old: ast.Call, new: ast.Call) -> bool:
    name, other = (dotted(each.func).rpartition(".")[2] for each in (old, new))
    if name in RAISES and other in RAISES:
        return _catches_more(old, new)
    if name in _REGEXES and other in _REGEXES:
        return _matches_more(old, new, name, other)
    if name != other:
        return False
    reader = _CALLS.get(name)
    return reader is not None and reader(old, new)


def _catches_more(old: ast.Call, new: ast.Call) -> bool:
    before, now = (_kinds(each.args[0]) if each.args else set() for each in (old, new))
    if before and before < now:
        return True
    return before == now and _is_vaguer(matcher_of(old), matcher_of(new))


def _kinds(node: ast.expr) -> set[str]:
    return {ast.unparse(each) for each in (node.elts if isinstance(node, ast.Tuple) else [node])}


def _is_vaguer(old: ast.expr | None, new: ast.expr | None) -> bool:
    """Tell whether a literal pattern is less than another: a scrap of it, without its ends, or anything."""
    before, now = (value_of(each) if each is not None else None for each in (old, new))
    if not isinstance(before, str) or not isinstance(now, str) or before == now:
        return False
    if now in WILDCARDS or any(each in WILDCARDS for each in now.split("|")):
        return before not in WILDCARDS
    return now == before.lstrip("^").rstrip("$") or _is_scrap(now, before)


def _matches_more(old: ast.Call, new: ast.Call, name: str, other: str) -> bool:
    if len(old.args) < _TWO or len(new.args) < _TWO:
        return False
    patterns = [each.args[dotted(each.func).endswith("assertRegex")] for each in (old, new)]
    if same(*patterns):
        return _REGEXES[other] < _REGEXES[name]
    return _is_vaguer(*patterns)


def _starts_shorter(old: ast.Call, new: ast.Call) -> bool:
    part, whole = (value_of(each.args[0]) if each.args else None for each in (new, old))
    if not isinstance(part, str) or not isinstance(whole, str):
        return False
    return same(old.func, new.func) and part != whole and (whole.startswith(part) or whole.endswith(part))


def _is_of_more(old: ast.Call, new: ast.Call) -> bool:
    if len(old.args) < _TWO or len(new.args) < _TWO:
        return False
    return same(old.args[0], new.args[0]) and _kinds(old.args[1]) < _kinds(new.args[1])


def _is_lenient(old: ast.expr, new: ast.expr) -> bool:
    """Tell whether a call compares the same by an option that looks away."""
    if not isinstance(old, ast.Call) or not isinstance(new, ast.Call) or not same(old.func, new.func):
        return False
    if len(old.args) != len(new.args) or not all(map(same, old.args, new.args)):
        return False
    known = {each.arg: ast.unparse(each.value) for each in old.keywords}
    return any(_looks_away(each) for each in new.keywords if known.get(each.arg) != ast.unparse(each.value))


def _looks_away(given: ast.keyword) -> bool:
    option = _LENIENT.match(given.arg or "")
    return option is not None and value_of(given.value) is (option[1] is None)


_CALLS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    **dict.fromkeys(_PREFIXES, _starts_shorter),
    **dict.fromkeys(("isinstance", "issubclass", "assertIsInstance"), _is_of_more),
}
