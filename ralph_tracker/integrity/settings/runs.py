"""How the commands of a target changed: which leave more out now, whose failure goes unheard, which are gone."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ralph_tracker.integrity.settings.commands import Command

Commands = tuple[Command, ...]


class Weakened(NamedTuple):
    """Hold a command as it is, what was there before, and what is new about it."""

    command: Command
    before: Command
    what: str


def without_common(olds: Commands, news: Commands) -> tuple[list[Command], list[Command]]:
    """Return what each side has that the other has not; the same command twice counts twice."""
    common = Counter(olds) & Counter(news)
    return _without(olds, common), _without(news, common)


def _without(commands: Commands, common: Counter[Command]) -> list[Command]:
    left = Counter(common)
    rest = []
    for command in commands:
        if left[command]:
            left[command] -= 1
        else:
            rest.append(command)
    return rest


def narrowed(olds: Commands, news: Commands) -> Iterator[Weakened]:
    """Yield the test commands that leave out what none of the old ones did; more commands than before are a split."""
    gone, came = without_common(olds, news)
    gone = [each for each in gone if each.kind in {"test", "any"}]
    came = [each for each in came if each.kind in {"test", "any"}]
    if not gone or len(came) > len(gone):
        return
    known = {what for each in olds for what in each.narrowings}
    for command in came:
        for what in command.narrowings:
            if what not in known:
                yield Weakened(command, gone[0], what)
        within = _within(command, gone)
        if within is not None and not command.narrowings:
            yield Weakened(command, within, " ".join(command.places))


def _within(command: Command, olds: list[Command]) -> Command | None:
    """Return the old command whose places hold all that the new one names, and more."""
    for old in olds:
        if old.places and command.places and set(old.places) != set(command.places):
            inside = [any(holds(place, each) for place in old.places) for each in command.places]
            lost = [place for place in old.places if place not in command.places]
            if all(inside) and lost:
                return old
    return None


def holds(outer: str, inner: str) -> bool:
    """Tell whether one place lies within another."""
    base = outer.removesuffix("...").rstrip("/")
    if outer == inner or base in {"", "."}:
        return True
    return inner.startswith(f"{base}/")


def softened(olds: Commands, news: Commands) -> Iterator[Weakened]:
    """Yield the checks whose failure is passed over now where one of their kind counted before."""
    gone, came = without_common(olds, news)
    counted = [each for each in gone if each.is_check and each.soft is None]
    for command in came:
        if not command.is_check or command.soft is None:
            continue
        before = next((each for each in counted if each.kind == command.kind), None)
        if before is not None:
            counted.remove(before)
            yield Weakened(command, before, command.soft)


def emptied(olds: Commands, news: Commands) -> Command | None:
    """Return a check of a target that runs nothing at all any more, None where it runs something."""
    before = next((each for each in olds if each.is_check and each.soft is None), None)
    return before if news and all(each.kind == "nothing" for each in news) else None
