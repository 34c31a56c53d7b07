"""What the gates of the changed files lost: old settings against new ones, what only moved between files aside."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.settings.files import TOOL, settings_of
from ralph_tracker.integrity.settings.gates import FAMILIES, Gate, gate_of
from ralph_tracker.integrity.settings.merged import COVERAGE_FLOOR
from ralph_tracker.integrity.settings.targets import targets_of
from ralph_tracker.integrity.settings.values import Settings, Value, scalars
from ralph_tracker.integrity.settings.ways import WAYS, Comparison
from ralph_tracker.integrity.source_tests import Unparsable

_WARNINGS: Final = "eslint.max-warnings"
_ASKED_OF_COVERAGE: Final = Pattern(r"coverage\.(run|report)\.(source|source_pkgs|include|branch|fail_under)")
_NO_VALUES: Final[Settings] = {}


class Loss(NamedTuple):
    """Hold one gate that is weaker now: its key, and what it was and is, as a person writes it; None is absent."""

    gate: Gate
    key: str
    old: str | None
    new: str | None
    severity: Severity


def losses(file: ChangedFile, files: tuple[ChangedFile, ...]) -> Iterator[Loss]:
    """Yield the gates that are weaker in a file than they were. Raises Unparsable."""
    old, new = settings_in(file.old), settings_in(file.new)
    if old == new:
        return
    arrived, left = _moves(tuple(each for each in files if each is not file))
    case = Comparison(old, new, arrived, left)
    for key in dict.fromkeys((*old, *new)):
        gate = gate_of(key)
        if gate is None or old.get(key) == new.get(key):
            continue
        if not _replaced(key, case) and not (gate.rule == "G1" and _set_up(key, case)):
            change = WAYS[gate.way](gate, key, case)
            if change is not None:
                grave = gate.severity_of(key, *change)
                mild = _measures_nothing(key, case) or _measured_anew(gate, key, case)
                yield Loss(gate, key, *change, Severity.MEDIUM if mild else grave)


def _measures_nothing(key: str, case: Comparison) -> bool:
    """Tell whether branches are counted no more because nothing is said of coverage any longer, and no floor was."""
    tool = "coverage."
    return (
        key == "coverage.run.branch"
        and COVERAGE_FLOOR not in case.old
        and not any(each.startswith(tool) for each in (*case.new, *case.arrived))
    )


def _measured_anew(gate: Gate, key: str, case: Comparison) -> bool:
    """Tell whether coverage has settings for the first time, which ask for something besides what they leave out."""
    tool = "coverage."
    return (
        gate.way == "exempt"
        and key.startswith(tool)
        and not any(each.startswith(tool) for each in (*case.old, *case.left))
        and any(_ASKED_OF_COVERAGE.fullmatch(each) for each in (*case.new, *case.arrived))
    )


def settings_in(side: Side | None) -> Settings:
    """Return what a side of a file says, gates that its commands hold included. Raises Unparsable."""
    if side is None:
        return _NO_VALUES
    settings = settings_of(side.path, side.text)
    commands = [command for each in targets_of(side.path, side.text).values() for command in each]
    floors = [each.coverage_floor for each in commands if each.coverage_floor is not None]
    ceilings = [each.warnings_ceiling for each in commands if each.warnings_ceiling is not None]
    more: dict[str, Value] = {COVERAGE_FLOOR: max(floors)} if floors and COVERAGE_FLOOR not in settings else {}
    if ceilings:
        more[_WARNINGS] = min(ceilings)
    return {**settings, **more} if more else settings


@lru_cache(maxsize=64)
def _moves(others: tuple[ChangedFile, ...]) -> tuple[Settings, Settings]:
    """Return what other changed files got that they had not, and what they had and have not."""
    arrived: dict[str, Value] = {}
    left: dict[str, Value] = {}
    for each in others:
        try:
            old, new = settings_in(each.old), settings_in(each.new)
        except Unparsable:
            continue
        _more(old, new, arrived)
        _more(new, old, left)
    return arrived, left


def _more(before: Settings, after: Settings, found: dict[str, Value]) -> None:
    for key, value in after.items():
        gate = gate_of(key)
        if key not in before:
            found[key] = value if key not in found else (*scalars(found[key]), *scalars(value))
        elif gate is not None and before[key] != value:
            items = tuple(item for item in gate.split(value) if item not in gate.split(before[key]))
            found[key] = (*scalars(found.get(key)), *items)


def _replaced(key: str, case: Comparison) -> bool:
    """Tell whether the key's tool is gone from the file and another of its kind came instead."""
    tool = key.partition(".")[0].partition("[")[0]
    if f"{TOOL}{tool}" not in case.old or f"{TOOL}{tool}" in case.new:
        return False
    came = {name for name in (*case.new, *case.arrived) if name.startswith(TOOL) and name not in case.old}
    return any(f"{TOOL}{other}" in came for family in FAMILIES if tool in family for other in family)


def _set_up(key: str, case: Comparison) -> bool:
    """Tell whether a linter or type checker has settings for the first time: it asks for more than nobody did."""
    tool = key.partition(".")[0].partition("[")[0]
    known = {each.removeprefix(TOOL).partition(".")[0].partition("[")[0] for each in (*case.old, *case.left)}
    return tool not in known and any(tool in family for family in FAMILIES)
