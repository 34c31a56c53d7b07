"""How a gate gets weaker, for each way that the table of gates names."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.settings.files import TOOL
from ralph_tracker.integrity.settings.gates import LEVELS, OFF_BY_STRICT, ON_BY_DEFAULT, STRICT_TYPESCRIPT, Gate
from ralph_tracker.integrity.settings.left_out import leaves_out_nothing
from ralph_tracker.integrity.settings.merged import COMMAND_FLOOR, COVERAGE_FLOOR, RUFF_DEFAULT
from ralph_tracker.integrity.settings.values import Settings, Value, is_on, lines, numbers, scalars, shown

# A rule that was not named may have been on; where it is off or only warns now, somebody wanted less of it.
_LEVEL_BY_DEFAULT: Final = 1
_LEVELS_BY_DEFAULT: Final[Mapping[str, int]] = {"mypy.follow_imports": 2}
_OF_LETTERS: Final = frozenset({"PL"})  # families whose parts are told by a letter
_LATER_NAMES: Final = {"TCH": "TC", "TYP": "TC", "U": "UP", "PDV": "PD"}
_BELOW_TESTS: Final = Pattern(r"(^|/)tests?/.|\.py$|::")
_FOLDER_IN_FOLDER: Final = Pattern(r"^(?!src/[^/]*/?\**$)[^/*]+/[^/*]*[^/*.]|\.py$(?<!/\*\.py)")
_SAME_FLOOR: Final[Mapping[str, str]] = {COMMAND_FLOOR: COVERAGE_FLOOR}
_TIMEOUT: Final = "pytest.timeout"
_PATTERN_DEFAULTS: Final[Mapping[str, tuple[str, ...]]] = {
    "pytest.python_files": ("test_*.py", "*_test.py"),
    "pytest.python_functions": ("test",),
    "pytest.python_classes": ("Test",),
}


class Comparison(NamedTuple):
    """Hold the settings of one file before and now, what other files got meanwhile, and what they lost."""

    old: Settings
    new: Settings
    arrived: Settings
    left: Settings


Change = tuple[str | None, str | None] | None


def _floor(gate: Gate, key: str, case: Comparison) -> Change:
    del gate
    before, after = _numbers_of(key, case)
    lower = any(one > other for one, other in zip(before, after, strict=False))
    return _change(key, case) if lower or (before and key not in case.new and not after) else None


def _ceiling(gate: Gate, key: str, case: Comparison) -> Change:
    del gate
    before, after = _numbers_of(key, case)
    if key == _TIMEOUT:  # 0 is none
        after = tuple(each or -1.0 for each in after)
    higher = any(one < other or other < 0 <= one for one, other in zip(before, after, strict=False))
    gone = before and key not in case.new and not after and not key.endswith("line-length")  # there is always some
    return _change(key, case) if higher or gone else None


def _numbers_of(key: str, case: Comparison) -> tuple[tuple[float, ...], tuple[float, ...]]:
    other = _SAME_FLOOR.get(key, key)
    now = next((each[name] for name in (key, other) for each in (case.new, case.arrived) if name in each), None)
    return numbers(case.old.get(key)), numbers(now)


def _change(key: str, case: Comparison) -> Change:
    return shown(case.old.get(key)), shown(case.new.get(key))


def _on(gate: Gate, key: str, case: Comparison) -> Change:
    del gate
    if not _holds(key, case.old) or _holds(key, {**case.arrived, **case.new}):
        return None
    unknown = case.new.get(key) == () if key in case.new else _inherits_anew(case)
    return None if unknown else _change(key, case)


def _holds(key: str, settings: Settings) -> bool:
    """Tell whether a switch is on: by itself, by what `strict` turns on, or by default."""
    if key in settings:
        return _any_on(settings[key])
    if key in ON_BY_DEFAULT:
        return True
    if key.startswith("mypy["):  # what is said of single modules goes before what is said of all
        return _holds(f"mypy{key.rpartition(']')[2]}", settings)
    if key.startswith("mypy.") and key not in OFF_BY_STRICT and key != "mypy.strict":
        return _any_on(settings.get("mypy.strict"))
    if key in STRICT_TYPESCRIPT:
        return _any_on(settings.get("tsconfig.compilerOptions.strict"))
    return key in {"pytest.strict_markers", "pytest.strict_config", "pytest.xfail_strict"} and _any_on(
        settings.get("pytest.strict")
    )


def _inherits_anew(case: Comparison) -> bool:
    return "tsconfig.extends" in case.new and case.new["tsconfig.extends"] != case.old.get("tsconfig.extends")


def _off(gate: Gate, key: str, case: Comparison) -> Change:
    del gate
    if not _any_on(case.new.get(key)) or _any_on(case.old.get(key)) or _any_on(case.left.get(key)):
        return None
    return _change(key, case)


def _any_on(value: Value | None) -> bool:
    return any(is_on(each) for each in scalars(value))


def _kept(gate: Gate, key: str, case: Comparison) -> Change:
    now = {*gate.split(case.new.get(key)), *gate.split(case.arrived.get(key))}
    lost = [item for item in gate.split(case.old.get(key)) if item not in now and not _harmless(gate, item)]
    return (shown(lost), None) if lost else None


def _exempt(gate: Gate, key: str, case: Comparison) -> Change:
    before = {*gate.split(case.old.get(key)), *gate.split(case.left.get(key))}
    came = [item for item in gate.split(case.new.get(key)) if item not in before and not _harmless(gate, item)]
    return (None, shown(came)) if came else None


def _harmless(gate: Gate, item: str) -> bool:
    if gate.harmless is None:
        return False
    return gate.harmless.search(item) is not None or (gate.split is lines and leaves_out_nothing(item))


def _codes_kept(gate: Gate, key: str, case: Comparison) -> Change:
    now = (*gate.split(case.new.get(key)), *gate.split(case.arrived.get(key)))
    if key not in case.new and f"{TOOL}ruff" in case.new and key.startswith("ruff"):
        now = (*now, *RUFF_DEFAULT)
    lost = [code for code in gate.split(case.old.get(key)) if not _covered(code, now)]
    return (shown(lost), None) if lost else None


def _covered(code: str, by: Iterable[str]) -> bool:
    """Tell whether a code is among others, of which a shorter one holds all that begin with it."""
    code = code.removesuffix("00") if code.endswith("000") else code
    code = _renamed(code)
    return any(each == "ALL" or _is_of(code, _renamed(each)) for each in by)


def _renamed(code: str) -> str:
    """Return a code under the name that its linter gave it later."""
    letters = code.rstrip("0123456789")
    return _LATER_NAMES.get(letters, letters) + code[len(letters) :]


def _codes_exempt(gate: Gate, key: str, case: Comparison) -> Change:
    tool = key.partition(".")[0]
    before = (*gate.split(case.old.get(key)), *gate.split(case.left.get(key)))
    selected = gate.split(case.old.get(f"{tool}.select")) or RUFF_DEFAULT
    came = [
        code
        for code in gate.split(case.new.get(key))
        if not _covered(code, before) and not _harmless(gate, code) and _overlaps(code, selected)
    ]
    return (None, shown(came)) if came else None


def _overlaps(code: str, selected: Iterable[str]) -> bool:
    return any("ALL" in {code, each} or _is_of(code, each) or _is_of(each, code) for each in selected)


def _is_of(code: str, family: str) -> bool:
    """Tell whether a code belongs to a family: `F841` is of `F`, and `FBT001` is not."""
    rest = code.removeprefix(family)
    return code.startswith(family) and (not rest[:1].isalpha() or family in _OF_LETTERS)


def _level(gate: Gate, key: str, case: Comparison) -> Change:
    del gate
    was, now = case.old.get(key), case.new.get(key)
    before, after = _severity(was, now), _severity(now, was)
    if key not in case.new:
        after = before if _asks_anew(key, case) else -1
    if key not in case.old and key not in case.left:
        before = _LEVELS_BY_DEFAULT.get(key, _LEVEL_BY_DEFAULT) if _has_tool(key, case) else None
    return _change(key, case) if before and after is not None and after < before else None


def _has_tool(key: str, case: Comparison) -> bool:
    """Tell whether the key's tool had settings, and got no others that may bring new rules."""
    tool = key.partition(".")[0] + "."
    inherited = [each for each in case.new if each.startswith(tool) and each.endswith((".extends", ".plugins"))]
    return any(each.startswith(tool) for each in case.old) and all(case.new[it] == case.old.get(it) for it in inherited)


def _asks_anew(key: str, case: Comparison) -> bool:
    """Tell whether the tool got other settings, which may hold what is gone."""
    tool = key.partition(".")[0] + "."
    mine = [each for each in (*case.new, *case.arrived) if each.startswith(tool)]
    return (
        any(each not in case.new for each in mine)
        or key in case.arrived
        or any(case.new[each] != case.old.get(each) for each in mine)
    )


def _severity(value: Value | None, other: Value | None) -> int | None:
    """Return the highest level among a value's words on a scale that the other value is on too, if there is one."""
    names, others = ([str(each).lower() for each in scalars(each)] for each in (value, other))
    scales = [levels for levels in LEVELS if names and names[0] in levels]
    scale = next((levels for levels in scales if others and others[0] in levels), next(iter(scales), None))
    return None if scale is None else max(scale[name] for name in names if name in scale)


def _places(gate: Gate, key: str, case: Comparison) -> Change:
    """Find places that stand for less: some are gone and none came, or what came lies within what was there."""
    before, after = gate.split(case.old.get(key)), gate.split(case.new.get(key))
    arrived = gate.split(case.arrived.get(key))
    if not before and key in case.left and gate.rule == "T3":  # said by another file so far
        before, arrived = gate.split(case.left[key]), ()
    if not before and after and gate.rule == "T3" and all(_BELOW_TESTS.search(place) for place in after):
        return (None, shown(after)) if key == "pytest.testpaths" else None
    if not after or not before:
        return None
    lost = [place for place in before if place not in after and place not in arrived]
    came = [place for place in after if place not in before]
    if not lost or any(not _within(place, before) for place in came):
        return None
    return shown(before), shown(after)


def _narrowed_to(gate: Gate, key: str, case: Comparison) -> Change:
    """Find places to which a tool keeps now where it looked at more or everywhere."""
    if key in case.old or key in case.left:
        return _places(gate, key, case)
    tool = key.partition(".")[0] + "."
    after = gate.split(case.new.get(key))
    some = any(_FOLDER_IN_FOLDER.search(place) or place.startswith("test") for place in after)
    return (None, shown(after)) if some and any(each.startswith(tool) for each in case.old) else None


def _within(place: str, others: Iterable[str]) -> bool:
    bare = place.strip("./").replace("<rootDir>/", "")
    return any(other.strip("./") == "" or bare.startswith(f"{other.strip('./')}/") for other in others)


def _patterns(gate: Gate, key: str, case: Comparison) -> Change:
    before = gate.split(case.old.get(key, case.left.get(key))) or _PATTERN_DEFAULTS.get(key, ())
    after = gate.split(case.new.get(key, case.arrived.get(key))) or _PATTERN_DEFAULTS.get(key, ())
    explicit = key in case.old or key in case.left
    lost = [one for one in before if not any(_matches(one, other) for other in after)]
    weaker = bool(lost) if explicit else len(lost) == len(before)
    return (shown(before), shown(after)) if weaker else None


def _matches(one: str, other: str) -> bool:
    sample = one.replace("*", "x").replace("?", "x")
    return fnmatchcase(sample, other) or ("*" not in other and sample.startswith(other))


WAYS: Final = {
    "floor": _floor,
    "ceiling": _ceiling,
    "on": _on,
    "off": _off,
    "kept": _kept,
    "exempt": _exempt,
    "codes_kept": _codes_kept,
    "codes_exempt": _codes_exempt,
    "level": _level,
    "places": _places,
    "narrowed_to": _narrowed_to,
    "patterns": _patterns,
}
