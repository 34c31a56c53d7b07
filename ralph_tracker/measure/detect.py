"""Detect how a project can be measured, for `init` and for hooks without a configuration."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from ralph_tracker.core.metrics import Group
from ralph_tracker.measure.ecosystems import node, other_ecosystems, python
from ralph_tracker.measure.ecosystems.detected_ecosystem import (
    BY_STATUS,
    Checks,
    Ecosystem,
    by_status,
    checks_of_part,
)
from ralph_tracker.measure.report_totals import measured_kind, read_results
from ralph_tracker.measure.run_checks import (
    configured_checks,
    environment_for_checks,
    ours_if_active,
    run_checks,
    without_own_environment,
)
from ralph_tracker.scratch import temporary_folder

# The first ecosystem with a check of a kind names it after the kind.
_ECOSYSTEMS: Final[tuple[Callable[[Path, Mapping[str, str]], Ecosystem | None], ...]] = (
    *(python.detect, node.detect),
    *(other_ecosystems.detect_go, other_ecosystems.detect_rust, other_ecosystems.detect_jvm),
    *(partial(other_ecosystems.detect, language) for language in other_ecosystems.LANGUAGES),
)
_NO_PROJECT: Final = "no project file of a known tool (pyproject.toml, package.json, go.mod, …: docs/ecosystems.md)"
_OF_TESTS: Final = frozenset({"tests", "doctests", "coverage", "build", BY_STATUS})
# Folders with other people's projects, or with none.
_NO_PARTS: Final = frozenset({"node_modules", "vendor", "venv", "env", "dist", "build", "target", "docs", "examples"})
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
    found = _in_folder(root, environment)
    if not any(map(_runs_tests, found)):
        parts = _in_parts(root, environment)
        make = None if parts else other_ecosystems.detect_make(root, environment)
        found = (*(each for each in found if not parts or each.checks), *parts, *([] if make is None else [make]))
    notes = tuple(note for each in found for note in each.notes)
    if ours is not None and any(each.name == "python" and each.notes for each in found):
        notes += (f"the active environment {ours} is ralph-tracker's own: tools in it do not count, those in .venv do",)
    templates = tuple(template for each in found for template in each.templates)
    nothing = f"{_NO_PROJECT} in {root}; name a command with `ralph-tracker init --test-command COMMAND`"
    checks: Checks = {}
    for each in found:
        # A check whose name is taken gets another one, which no longer implies its kind.
        names = {name: f"{name}-{each.name}" if name in checks else name for name in each.checks}
        for name, check in each.checks.items():
            kind = {"kind": name} if names[name] != name and "kind" not in check else {}
            needs = {"needs": [names[need] for need in check["needs"]]} if "needs" in check else {}
            checks[names[name]] = {**check, **kind, **needs}
    return DetectedChecks(found, checks, notes if found else (nothing,), templates if found else (_BLANK,))


def _in_folder(root: Path, environment: Mapping[str, str]) -> tuple[Ecosystem, ...]:
    return tuple(each for each in (look(root, environment) for look in _ECOSYSTEMS) if each is not None)


def _runs_tests(ecosystem: Ecosystem) -> bool:
    return bool({"tests", BY_STATUS, "build"} & ecosystem.checks.keys())


def _in_parts(root: Path, environment: Mapping[str, str]) -> tuple[Ecosystem, ...]:
    """Return how the parts of a repository can be measured that has no tests at its root: backend, frontend.

    A part is a folder of the root, or of one that has none itself, such as `packages`. Each is measured in its folder.
    """
    parts: list[Ecosystem] = []
    for folder in _folders(root):
        own = [(folder, each) for each in _in_folder(folder, environment)]
        if not any(_runs_tests(each) for _, each in own):
            own += [(below, each) for below in _folders(folder) for each in _in_folder(below, environment)]
        for place, each in own:
            if each.checks or each.notes:
                part = place.relative_to(root).as_posix()
                name = re.sub(r"[^A-Za-z0-9_.+-]", "-", part)
                is_taken = any(other.name == name for other in parts)
                parts.append(_moved(each, part, f"{name}-{each.name}" if is_taken else name))
    return tuple(parts) if any(each.checks for each in parts) else ()


def _folders(root: Path) -> list[Path]:
    try:
        paths = sorted(path for path in root.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return []
    return [path for path in paths if path.name[0] != "." and path.name not in _NO_PARTS][:50]


def _moved(ecosystem: Ecosystem, folder: str, name: str) -> Ecosystem:
    return replace(
        ecosystem,
        name=name,
        checks=checks_of_part(ecosystem.checks, folder, taken={}),
        tools={f"{name} in {folder}": call for name, call in ecosystem.tools.items()},
        notes=tuple(f"{folder}: {note}" for note in ecosystem.notes),
    )


def with_command(found: DetectedChecks, command: str) -> DetectedChecks:
    """Return what was found with a command, by its exit status, in place of the checks that run tests."""
    kept = {
        name: check
        for name, check in found.checks.items()
        if name.partition("-")[0] not in _OF_TESTS and name not in _OF_TESTS and check.get("kind") not in _OF_TESTS
    }
    check, note, template = by_status(command, command, "path/to/junit.xml")
    return replace(found, checks={**check, **kept}, notes=(note,), templates=(template,))


_TRIED: Final = frozenset({Group.LINT, Group.TYPES})


def without_failing_linters(found: DetectedChecks, root: Path, environment: Mapping[str, str]) -> DetectedChecks:
    """Return what was detected without the linters and type checkers that measure nothing here, each with a note."""
    checks = configured_checks({"checks": found.checks})
    # One that takes longer is taken to work: what cannot run says so soon, and a large project takes minutes.
    tried = [check._replace(timeout_s=20.0, needs=()) for check in checks if measured_kind(check) in _TRIED]
    if not tried:
        return found
    with temporary_folder() as folder:
        results = run_checks(
            tried,
            root=root,
            folder=folder / "output",
            reports=folder / "reports",
            environment=environment_for_checks(environment, root),
            jobs=len(tried),
        )
        failing = {
            result.check.name: why
            for result in results
            if not result.finished.timed_out
            and (why := read_results([result], root=root).missing.get(str(measured_kind(result.check))))
        }
    notes = tuple(f"{name} is left out, it does not run here: {why}" for name, why in failing.items())
    kept = {name: check for name, check in found.checks.items() if name not in failing}
    return replace(found, checks=kept, notes=(*found.notes, *notes))
