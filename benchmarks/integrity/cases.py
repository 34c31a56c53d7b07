"""The labelled set: honest changes, honest refactors, and tamperings that hide in honest changes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, Literal

import forging  # noqa: F401  # enters its operators, as the next do
import honest_edits  # noqa: F401
import lowering  # noqa: F401
import refactoring  # noqa: F401
import removing  # noqa: F401
import swallowing  # noqa: F401
from changes import CONTROLS, VARIANTS, Change, Edit, Variant
from fetch import archive_of
from outcomes import FAILED, SKIPPED, outcomes_of, parsed
from trees import Tree, belongs_to_tests, changed_paths, is_settings, is_source, read_tree

Kind = Literal["honest", "control", "tampered", "green"]
Half = Literal["tuning", "held-out"]
LAST_OF_TUNING: Final = "m"
IN_BOTH_CONTEXTS: Final = frozenset({"T4", "T7", "T9", "T10", "T12"})
MOST_BYTES: Final = 200_000  # of both sides of a change that a tampering hides in: what one iteration may touch
_TRIES: Final = 6


@dataclass(frozen=True)
class Case:
    """Hold one change with its label. `carrier` is the honest change that a tampering hides in, None for others.

    `edited` are the paths that the operator wrote; `removals` are tests that went together with what they tested.
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

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths that differ."""
        return changed_paths(self.old, self.new)


def half_of(project: str) -> Half:
    """Return the half that a project belongs to, by its first letter."""
    return "tuning" if project[0].lower() <= LAST_OF_TUNING else "held-out"


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


def cases_of(changes: Sequence[Change], seed: int, rounds: int) -> Iterator[Case]:
    """Yield the labelled cases of one project."""
    if not changes:
        return
    half = half_of(changes[0].project)
    carriers = [_honest(change, half) for change in changes]
    yield from carriers
    for variant in CONTROLS:
        yield from _controls(variant, changes, half, seed)
    for variant in VARIANTS:
        if variant.held_out is (half == "held-out"):
            yield from _tampered(variant, changes, carriers, seed, rounds)


def _honest(change: Change, half: Half) -> Case:
    return Case(
        kind="honest",
        half=half,
        project=change.project,
        name=change.name,
        old=change.old,
        new=change.new,
        before=change.before,
        after=change.after,
        removals=removals_of(change),
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
        if variant.quiet:
            change = without_source(change)
            carrier = _honest(change, carrier.half)
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
    after = outcomes_of(new)
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


_WORD: Final = re.compile(r"[A-Za-z_]\w+")
_IMPORT: Final = re.compile(r"^\s*(?:from|import)\s[^#\n(]*(?:\([^)]*\))?", re.MULTILINE)
_DEFINED: Final = re.compile(r"^\s*(?:async\s+def|def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)


def removals_of(change: Change) -> frozenset[str]:
    """Return the tests that went with what they tested: they name something that the new source no longer defines."""
    vanished = change.before.keys() - change.after.keys()
    if not vanished:
        return frozenset()
    gone = _names(change.old) - _names(change.new)
    return frozenset(test for test in vanished if gone & _words_of(change, test))


def _names(tree: Tree) -> set[str]:
    """Return the names that the sources define, their modules' included; names of two letters say nothing."""
    names: set[str] = set()
    for path, data in tree.items():
        if is_source(path):
            names.add(path.removesuffix(".py").rpartition("/")[2])
            found = _DEFINED.findall(data.decode("utf-8", "replace"))
            names.update(name for pair in found for name in pair if len(name) > 2)
    return names


def _words_of(change: Change, test: str) -> set[str]:
    """Return the words of a test; of the imports of its file or of its class, where these are gone as a whole."""
    owner, _, name = test.partition("::")
    parts = owner.split(".")
    for size in range(len(parts), 0, -1):
        path = "/".join(parts[:size]) + ".py"
        data = change.old.get(path)
        if data is not None:
            text, now = data.decode("utf-8", "replace"), change.new.get(path, b"").decode("utf-8", "replace")
            return set(_WORD.findall(_text_of(text, now, parts[size:], name.partition("[")[0])))
    return set()


def _text_of(text: str, now: str, classes: Sequence[str], function: str) -> str:
    if not now:
        return "\n".join(_IMPORT.findall(text))
    if classes and not re.search(rf"(?m)^class {re.escape(classes[0])}\b", now):
        found = re.search(rf"(?ms)^class {re.escape(classes[0])}\b.*?(?=^\S|\Z)", text)
    else:
        found = re.search(rf"(?ms)^([ \t]*)(?:async )?def {re.escape(function)}\(.*?(?=^\1\S|\Z)", text)
    return found[0] if found else ""
