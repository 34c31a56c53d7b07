"""Detect how a project can be measured, for `init` and for hooks without a configuration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from ralph_tracker.measure.ecosystems import node, other_ecosystems, python
from ralph_tracker.measure.ecosystems.detected_ecosystem import BY_STATUS, Checks, Ecosystem, by_status
from ralph_tracker.measure.run_checks import ours_if_active, without_own_environment

# The first ecosystem with a check of a kind names it after the kind.
_ECOSYSTEMS: Final[tuple[Callable[[Path, Mapping[str, str]], Ecosystem | None], ...]] = (
    *(python.detect, node.detect),
    *(other_ecosystems.detect_go, other_ecosystems.detect_rust, other_ecosystems.detect_jvm),
    *(partial(other_ecosystems.detect, language) for language in other_ecosystems.LANGUAGES),
)
_NOTHING: Final = "no project file of a known tool (pyproject.toml, package.json, go.mod, …: docs/ecosystems.md)"
_OF_TESTS: Final = frozenset({"tests", "doctests", "coverage", "build", BY_STATUS})
_BLANK: Final = f"""# No tool was recognised here. Name the command that runs the tests, and remove the comment signs:
# checks:
#   {BY_STATUS}:
#     run: COMMAND
#     kind: build    # its exit status counts: 0 is success
#     timeout: 30m
#
# For counts and names, have the tests write a report (`ralph-tracker read FILE` says whether it can be read):
# checks:
#   tests:
#     run: COMMAND
#     reports: [path/to/junit.xml]
"""


@dataclass(frozen=True, slots=True)
class DetectedChecks:
    """The ecosystems found in a project, and their checks and notes together.

    A project may have several ecosystems; a check whose name is taken gets the ecosystem's name as suffix and an
    explicit kind, and the reports of one kind add up.
    """

    ecosystems: tuple[Ecosystem, ...]
    checks: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...]
    templates: tuple[str, ...] = ()


def detect(root: Path, environment: Mapping[str, str]) -> DetectedChecks:
    """Look at a project and return how it can be measured."""
    ours, environment = ours_if_active(environment, root), without_own_environment(environment, root)
    found = tuple(each for each in (look(root, environment) for look in _ECOSYSTEMS) if each is not None)
    if not any({"tests", BY_STATUS, "build"} & each.checks.keys() for each in found):
        make = other_ecosystems.detect_make(root, environment)
        found = (*found, *([] if make is None else [make]))
    notes = tuple(note for each in found for note in each.notes)
    if ours is not None and any(each.name == "python" and each.notes for each in found):
        notes += (f"the active environment {ours} is ralph-tracker's own: tools in it do not count, those in .venv do",)
    templates = tuple(template for each in found for template in each.templates)
    nothing = f"{_NOTHING} in {root}; name a command with `ralph-tracker init --test-command COMMAND`"
    checks: Checks = {}
    for each in found:
        # A check whose name is taken gets another one, which no longer implies its kind.
        names = {name: f"{name}-{each.name}" if name in checks else name for name in each.checks}
        for name, check in each.checks.items():
            kind = {"kind": name} if names[name] != name and "kind" not in check else {}
            needs = {"needs": [names[need] for need in check["needs"]]} if "needs" in check else {}
            checks[names[name]] = {**check, **kind, **needs}
    return DetectedChecks(found, checks, notes if found else (nothing,), templates if found else (_BLANK,))


def with_command(found: DetectedChecks, command: str) -> DetectedChecks:
    """Return what was found with a command, by its exit status, in place of the checks that run tests."""
    kept = {
        name: check
        for name, check in found.checks.items()
        if name.partition("-")[0] not in _OF_TESTS and name not in _OF_TESTS and check.get("kind") not in _OF_TESTS
    }
    check, note, template = by_status(command, command, "path/to/junit.xml")
    return replace(found, checks={**check, **kept}, notes=(note,), templates=(template,))
