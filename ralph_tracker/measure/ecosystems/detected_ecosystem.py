"""The result of detecting an ecosystem, and the checks that it is made of."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

Checks = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Ecosystem:
    """A detected ecosystem: how its own program is called, its version, and the tools it can run.

    `version` is None if that program does not run. `checks` are as in a configuration, empty if nothing can be
    measured; `notes` say what was not found and what to do about it. `templates` are parts of a configuration that
    measure more once the project is changed; `init` writes them as comments.
    """

    name: str
    call: tuple[str, ...] = ()
    version: str | None = None
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    checks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()


# What a check is called that only tells pass from fail, by the exit status of the project's own command.
BY_STATUS: Final = "test-command"
_COUNTED: Final = """# For counts and names, have the tests write a report, and put this in place of {name}:
tests:
  run: {run}
  reports: ["{report}"]
"""
_REPORT: Final = "have it write a report, as the template in ralph-tracker.yaml shows"


def by_status(command: Sequence[str] | str, run: str, report: str) -> tuple[Checks, str, str]:
    """Return a check that measures by the exit status of a command, a note, and a template for one with a report.

    A command that is one string is a line of the shell.
    """
    is_line = isinstance(command, str)
    check = {BY_STATUS: {"run": command if is_line else list(command), "kind": "build", "timeout": "30m"}}
    shown = command if is_line else " ".join(command)
    note = f"{shown} counts by its exit status only: a deleted test is not noticed; {_REPORT}"
    return check, note, _COUNTED.format(name=BY_STATUS, run=run, report=report)


def reported(
    run: list[str] | str,
    report: str,
    format_: str,
    *,
    env: Mapping[str, str] | None = None,
    **more: str | list[str],
) -> dict[str, Any]:
    """Return a check that writes a report; `more` are its other settings."""
    check: dict[str, Any] = {"run": run, "reports": [report], "format": format_, **more}
    return {**check, "env": dict(env)} if env else check


def left_by_the_tests(report: str, format_: str) -> dict[str, Any]:
    """Return a check of a report that the tests wrote, so that a missing one is noticed."""
    return reported(["test", "-s", report], report, format_, needs=["tests"])


def made_of(whole: Ecosystem, members: Iterable[tuple[str, Ecosystem]]) -> Ecosystem:
    """Return a project that is measured by its members, each in its folder."""
    parts = [(folder, own) for folder, own in members if own.checks]
    checks: Checks = {}
    for folder, own in parts:
        checks |= checks_of_part(own.checks, folder, taken=checks)
    return replace(
        whole,
        tools={**whole.tools, **{f"{name} in {at}": call for at, own in parts for name, call in own.tools.items()}},
        checks=checks,
        notes=tuple(dict.fromkeys(f"{folder}: {note}" for folder, own in parts for note in own.notes)),
        templates=tuple(template for _, own in parts for template in own.templates),
    )


def checks_of_part(checks: Mapping[str, Mapping[str, Any]], folder: str, *, taken: Mapping[str, Any]) -> Checks:
    """Return the checks of a part of the project: run in its folder, under names and with reports of their own."""
    mark = re.sub(r"[^A-Za-z0-9_.+-]", "-", folder)
    names = {name: f"{name}-{mark}" if name in taken else name for name in checks}
    return {names[name]: _moved_check(name, check, folder, mark, names) for name, check in checks.items()}


def _moved_check(
    name: str, check: Mapping[str, Any], folder: str, mark: str, names: Mapping[str, str]
) -> dict[str, Any]:
    def own(value: Any) -> Any:  # noqa: ANN401  # a part of a check
        if isinstance(value, str):
            return value.replace("{reports}/", f"{{reports}}/{mark}-")
        return {key: own(each) for key, each in value.items()} if isinstance(value, Mapping) else [*map(own, value)]

    moved = {key: own(check[key]) for key in ("run", "reports", "env") if key in check}
    kind = {} if names[name] == name or "kind" in check else {"kind": name.partition("-")[0]}
    needs = {"needs": [names[each] for each in check["needs"]]} if "needs" in check else {}
    return {**check, **moved, **kind, **needs, "cwd": folder}
