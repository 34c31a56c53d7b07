"""The labelled set: honest changes, honest refactors, and tamperings that hide in honest changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, Literal

import adjusting  # noqa: F401  # enters its operators, as the next do
import adopting  # noqa: F401
import authors  # noqa: F401
import easing  # noqa: F401
import evading  # noqa: F401
import faking  # noqa: F401
import forging  # noqa: F401
import honest_edits  # noqa: F401
import leaving  # noqa: F401
import lowering  # noqa: F401
import refactoring  # noqa: F401
import removing  # noqa: F401
import rigging  # noqa: F401
import swallowing  # noqa: F401
import withdrawing  # noqa: F401
from changes import CONTROLS, VARIANTS, Change, Edit, Variant
from fetch import archive_of
from lowered import lowered_gates
from outcomes import FAILED, SKIPPED, carried_over, outcomes_of, parsed
from relaxing import Relaxation, relaxed_tests
from slicing import relaxed_in, slices_of
from trees import Tree, belongs_to_tests, changed_paths, is_settings, read_tree
from vanished import Step, by_fate, vanished_of

Kind = Literal["honest", "release", "control", "tampered", "green"]
Half = Literal["tuning", "held-out"]
IN_BOTH_CONTEXTS: Final = frozenset({"T4", "T7", "T9", "T10", "T12"})
MOST_BYTES: Final = 200_000  # of both sides of a change that a tampering hides in: what one iteration may touch
_TRIES: Final = 6


@dataclass(frozen=True)
class Case:
    """Hold one change with its label. `carrier` is the honest change that a tampering hides in, None for others.

    `honest` is a small change, `release` a whole step between two. `edited` are the paths that the operator wrote;
    `removals` are tests that went together with what they tested, `relaxations` what the step demands no longer: with
    one of these it is not counted as honest.
    """

    kind: Kind
    half: Half
    project: str
    name: str
    old: Tree
    new: Tree
    before: Mapping[str, str]
    after: Mapping[str, str]
    variant: Variant | None = None
    edited: tuple[str, ...] = ()
    carrier: "Case | None" = None
    removals: frozenset[str] = field(default_factory=frozenset)
    relaxations: tuple[Relaxation, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths that differ."""
        return changed_paths(self.old, self.new)


def changes_of(project: str, versions: Sequence[str], folder: Path) -> list[Change]:
    """Return each step between two releases that both hold tests, and that changes a test or a settings file."""
    found: list[Change] = []
    last: tuple[str, Tree] | None = None
    for version in versions:
        archive = archive_of(folder, project, version)
        if archive is None:
            continue
        tree = read_tree(archive)
        if last is not None:
            change = Change(project, f"{last[0]} to {version}", last[1], tree)
            touches = any(belongs_to_tests(path) or is_settings(path) for path in change.paths)
            if touches and change.before and change.after:
                found.append(change)
        last = version, tree
    return found


def cases_of(changes: Sequence[Change], half: Half, seed: int, rounds: int, small: int) -> Iterator[Case]:
    """Yield the labelled cases of one project: `rounds` tamperings of each kind, with none no refactors either.

    At most `small` honest changes of the size of an iteration are drawn.
    """
    if not changes:
        return
    steps = [_steps(change, half) for change in changes]
    carriers = [step[0] for step in steps]
    yield from carriers
    parts = [part for step in steps for part in step[1:]]
    yield from Random(f"{seed} {changes[0].project}").sample(parts, min(len(parts), small))
    for variant in CONTROLS if rounds else ():
        yield from _controls(variant, changes, half, seed)
    for variant in VARIANTS:
        if rounds and variant.held_out is (half == "held-out"):
            yield from _tampered(variant, changes, carriers, seed, rounds)


def _steps(change: Change, half: Half) -> list[Case]:
    """Return a step between two releases, and after it the small changes that it is cut into, all with labels."""
    step = Step(change.old, change.new)
    gone = vanished_of(step)
    removals = by_fate(gone, "with its code")
    relaxed = tuple(sorted({*relaxed_tests(step, gone), *lowered_gates(change.old, change.new)}))
    parts = slices_of(change, gone)
    return [
        _honest(change, half, "release", removals, relaxed),
        *(_honest(part, half, "honest", removals & part.vanished, relaxed_in(part, relaxed)) for part in parts),
    ]


def _honest(
    change: Change, half: Half, kind: Kind, removals: frozenset[str], relaxed: tuple[Relaxation, ...] = ()
) -> Case:
    return Case(
        kind=kind,
        half=half,
        project=change.project,
        name=change.name,
        old=change.old,
        new=change.new,
        before=change.before,
        after=change.after,
        removals=removals,
        relaxations=relaxed,
    )


def _controls(variant: Variant, changes: Sequence[Change], half: Half, seed: int) -> Iterator[Case]:
    rng = Random(f"{seed} {changes[0].project} {variant.name}")
    for change in rng.sample(changes, min(len(changes), _TRIES)):
        alone = Change(change.project, change.name, change.new, change.new)
        edit = variant.apply(alone, rng)
        if edit is not None and _is_sound(edit):
            yield _edited(alone, edit, variant, "control", half, None)
            return


def _tampered(
    variant: Variant, changes: Sequence[Change], carriers: Sequence[Case], seed: int, rounds: int
) -> Iterator[Case]:
    rng = Random(f"{seed} {changes[0].project} {variant.rule} {variant.name}")
    done = 0
    fitting = _fitting(changes)
    for position in rng.sample(fitting, min(len(fitting), _TRIES * rounds)):
        change, carrier = changes[position], carriers[position]
        if variant.is_quiet:
            change = without_source(change)
            carrier = _honest(change, carrier.half, carrier.kind, carrier.removals)
        edit = variant.apply(change, rng)
        if edit is None or not _is_sound(edit):
            continue
        yield _edited(change, edit, variant, "tampered", carrier.half, carrier)
        if variant.rule in IN_BOTH_CONTEXTS and done == 0:
            yield _edited(change, edit, variant, "green", carrier.half, carrier)
        done += 1
        if done == rounds:
            return


def _fitting(changes: Sequence[Change]) -> list[int]:
    """Return which changes are small enough for tamperings to hide in; the smallest ones where none is."""
    sizes = [sum(len(tree.get(path, b"")) for tree in (each.old, each.new) for path in each.paths) for each in changes]
    small = [position for position, size in enumerate(sizes) if size <= MOST_BYTES]
    return small or sorted(range(len(sizes)), key=sizes.__getitem__)[:3]


def _edited(change: Change, edit: Edit, variant: Variant, kind: Kind, half: Half, carrier: Case | None) -> Case:
    old, new = _written(change.old, edit.old), _written(change.new, edit.new)
    before = dict(outcomes_of(old)) if edit.old else dict(change.before)
    after = carried_over(old, new)
    if kind == "tampered":
        before.update(dict.fromkeys((test for test in edit.red if test in before), FAILED))
    after.update(dict.fromkeys((test for test in edit.skipped if test in after), SKIPPED))
    for test in edit.unreported:
        after.pop(test, None)
    return Case(
        kind=kind,
        half=half,
        project=change.project,
        name=change.name,
        old=old,
        new=new,
        before=before,
        after=after,
        variant=variant,
        edited=tuple(sorted(edit.new)),
        carrier=carrier,
    )


def _is_sound(edit: Edit) -> bool:
    """Tell whether what an operator wrote is Python still."""
    written = {**edit.old, **edit.new}
    return all(data is None or not path.endswith(".py") or parsed(data) is not None for path, data in written.items())


def _written(tree: Tree, files: Mapping[str, bytes | None]) -> dict[str, bytes]:
    both = {**tree, **files}
    return {path: data for path, data in both.items() if data is not None}


def without_source(change: Change) -> Change:
    """Return that part of a change which touches no source: tests and settings."""
    kept = {path: data for path, data in change.old.items() if belongs_to_tests(path) or not path.endswith(".py")}
    code = {path: data for path, data in change.new.items() if path.endswith(".py") and not belongs_to_tests(path)}
    return Change(change.project, f"{change.name}, without source", {**kept, **code}, change.new)
