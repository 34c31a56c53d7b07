"""Which kinds of checks a file runs no more, unless something came that may do the same."""

from collections.abc import Iterator
from typing import Final

from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.settings.commands import Command
from ralph_tracker.integrity.settings.programs import Kind
from ralph_tracker.integrity.settings.runs import Commands, without_common
from ralph_tracker.integrity.settings.targets import holds_targets, targets_of
from ralph_tracker.integrity.source_tests import Unparsable

KINDS: Final[dict[Kind, str]] = {
    "test": "tests",
    "lint": "linters",
    "types": "type checks",
    "coverage": "coverage gate",
    "security": "security checks",
    "format": "formatters",
}
_OTHER: Final[frozenset[Kind]] = frozenset({"any", "other"})
_HARMLESS: Final = ("pip ", "python -m pip", "npm ", "cd ", "git ", "curl ")
_RUNS_CHECKS: Final = Pattern(r"^(?:.*[\s/])?(tox|nox|make|just|hatch|mvn|mvnw|gradle|gradlew)\b")
_RUNS_NONE: Final = Pattern(
    r"\b(docs?|html|sphinx|build|dist|sdist|wheel|publish|release|install|format|fmt|deps|clean|help|version|package|venv"
    r"|changelog|doctest|bench\w*|deploy|notest|list(envs)?)\b(?!/)"
)
# What a runner does where it only tells what it would.
_ASKS_ONLY: Final = frozenset({"--version", "--help", "--co", "--collect-only", "--setup-only", "--setup-plan"})


def commands_of(path: str, text: str | None) -> Commands:
    """Return all commands of a file in their order. Raises Unparsable."""
    return () if text is None else tuple(each for commands in targets_of(path, text).values() for each in commands)


def kinds_gone(olds: Commands, news: Commands, elsewhere: Commands) -> Iterator[tuple[Kind, str, Command]]:
    """Yield the kinds of checks of which none is left that counts: its name in words, and what did it before.

    `elsewhere` is what other files got meanwhile. What may do anything excuses all that it came for.
    """
    now = (*news, *elsewhere)
    lost, came = without_common(olds, now)
    if any(each.kind in _OTHER and _may_check(each) for each in came):
        return
    for kind, name in KINDS.items():
        had = next((each for each in olds if each.kind == kind and _counts(each)), None)
        if (
            had
            and any(each.kind == kind for each in lost)
            and not any(each.kind == kind and _counts(each) for each in now)
        ):
            yield kind, name, had
    runner = next((each for each in olds if _runs_checks(each)), None)
    left = any(_runs_checks(each) or (each.kind == "test" and _counts(each)) for each in now)
    if runner is not None and runner in lost and not left and not any(_checks(each) for each in came):
        yield "any", runner.text, runner


def _counts(command: Command) -> bool:
    return command.soft is None and not _ASKS_ONLY & {*command.narrowings}


def _checks(command: Command) -> bool:
    return command.is_check and _counts(command) and not _RUNS_NONE.search(command.text)


def _runs_checks(command: Command) -> bool:
    text = command.text
    return (
        command.kind == "any"
        and command.soft is None
        and bool(_RUNS_CHECKS.search(text))
        and not _RUNS_NONE.search(text)
    )


def _may_check(command: Command) -> bool:
    if command.kind == "any":
        return not _RUNS_NONE.search(command.text)
    return not command.text.startswith(_HARMLESS)


def arrivals(path: str, evidence: Evidence) -> Commands:
    """Return the checks that other files got meanwhile."""
    found = evidence.once(arrivals, lambda: _arrived(evidence))
    return tuple(command for other, commands in found if other != path for command in commands)


def _arrived(evidence: Evidence) -> tuple[tuple[str, Commands], ...]:
    found = []
    for file in evidence.files:
        if file.new is not None and holds_targets(file.path):
            try:
                before = commands_of(file.path, None if file.old is None else file.old.text)
                _, came = without_common(before, commands_of(file.path, file.new.text))
            except Unparsable:
                continue
            found.append((file.path, tuple(each for each in came if each.is_check)))
    return tuple(found)
