"""What a project can be measured with: what `init` writes, and what a hook without a configuration uses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ralph_tracker.measure.ecosystems import go, jvm, node, python, rust
from ralph_tracker.measure.ecosystems.found import Checks, Ecosystem
from ralph_tracker.measure.environment import without_ours

# The first that has a check of a kind gives it the kind's name.
_ECOSYSTEMS: Final = (python.detect, node.detect, go.detect, rust.detect, jvm.detect)
_KNOWN: Final = "package.json, go.mod, Cargo.toml, pom.xml or build.gradle"


@dataclass(frozen=True, slots=True)
class Detected:
    """What each ecosystem of a project says, and the checks and notes of all together.

    A project may be of several ecosystems; a check whose name is taken has the ecosystem's name behind it and says its
    kind, and what the reports of a kind hold adds up.
    """

    ecosystems: tuple[Ecosystem, ...]
    checks: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...]


def detect(root: Path, environment: Mapping[str, str]) -> Detected:
    """Look at a project and return how it can be measured."""
    environment = without_ours(environment, root)
    found = tuple(each for each in (look(root, environment) for look in _ECOSYSTEMS) if each is not None)
    notes = tuple(note for each in found for note in each.notes)
    nothing = f"neither a Python project nor {_KNOWN} found in {root}; write checks into ralph-tracker.yaml"
    return Detected(found, _merged(found), notes if found else (nothing,))


def _merged(found: Iterable[Ecosystem]) -> Checks:
    checks: Checks = {}
    for each in found:
        names = {name: f"{name}-{each.name}" if name in checks else name for name in each.checks}
        checks |= {names[name]: _renamed(name, check, names) for name, check in each.checks.items()}
    return checks


def _renamed(name: str, check: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a check as it is under its new name, which no longer says its kind."""
    kind = {"kind": name} if names[name] != name and "kind" not in check else {}
    needs = {"needs": [names[need] for need in check["needs"]]} if "needs" in check else {}
    return {**check, **kind, **needs}
