"""The hooks of pre-commit: what each runs, and what it passes over."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ralph_tracker.integrity.settings.commands import Command, commands_in
from ralph_tracker.integrity.settings.programs import PROGRAMS
from ralph_tracker.integrity.settings.values import Value
from ralph_tracker.integrity.settings.yaml_text import yaml_values

_BY_HAND: Final = "stages: manual"
_EVERYTHING: Final = frozenset({".*", "^", ".", "^.*$", ".*\\.py$", "\\.py$", ".*\\.py"})
_NOTHING: Final = frozenset({"^$", "$^"})


def hooks_of(text: str) -> Iterator[tuple[str, tuple[Command, ...]]]:
    """Yield the commands of each hook by its name. Raises Unparsable."""
    document = yaml_values(text)
    always = _is_manual(document.get("default_stages")) if isinstance(document, Mapping) else False
    for hook in _hooks(document):
        commands = _run_by(hook)
        manual = _is_manual(hook["stages"]) if "stages" in hook else always
        excuse = _BY_HAND if manual else _sees_nothing(hook)
        yield str(hook["id"]), tuple(each._replace(soft=each.soft or excuse) for each in commands)


def _sees_nothing(hook: Mapping[str, Any]) -> str | None:
    """Return by what a hook gets no file, None where it gets some."""
    if hook.get("files") in _NOTHING:
        return f"files: {hook['files']}"
    return f"exclude: {hook['exclude']}" if hook.get("exclude") in _EVERYTHING else None


def hook_settings(text: str) -> dict[str, Value]:
    """Return what hooks that check something do not look at. Raises Unparsable."""
    document = yaml_values(text)
    found: dict[str, Value] = {}
    if isinstance(document, Mapping) and isinstance(document.get("exclude"), str):
        found["pre-commit.exclude"] = document["exclude"]
    for hook in _hooks(document):
        if any(each.is_check for each in _run_by(hook)):
            passed_over = hook.get("exclude")
            found |= {f"pre-commit.{hook['id']}.exclude": passed_over} if isinstance(passed_over, str) else {}
    return found


def _hooks(document: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401  # any YAML value
    repos = document.get("repos") if isinstance(document, Mapping) else None
    for repo in repos if isinstance(repos, list) else ():
        hooks = repo.get("hooks") if isinstance(repo, Mapping) else None
        yield from (
            hook for hook in (hooks if isinstance(hooks, list) else ()) if isinstance(hook, Mapping) and "id" in hook
        )


def _run_by(hook: Mapping[str, Any]) -> tuple[Command, ...]:
    args = hook.get("args")
    given = [str(each) for each in args] if isinstance(args, list) else []
    entry = hook.get("entry")
    script = " ".join([str(entry) if isinstance(entry, str) else _program(str(hook["id"])), *map(_quoted, given)])
    return commands_in(script)


def _program(name: str) -> str:
    """Return the command that a hook is named after, as one would call it."""
    if name == "ruff-format":
        return "ruff format"
    parts = re.split(r"[-_]", name)
    return name if name in PROGRAMS else next((part for part in parts if part in PROGRAMS), name)


def _quoted(word: str) -> str:
    return f"'{word}'" if re.search(r"[\s;&|<>()$\"\\]", word) and "'" not in word else word


def _is_manual(stages: Any) -> bool:  # noqa: ANN401  # any YAML value
    return isinstance(stages, list) and bool(stages) and all(each == "manual" for each in stages)
