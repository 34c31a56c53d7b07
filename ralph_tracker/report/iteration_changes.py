"""What an iteration changed, by name: tests that broke, came back, appeared or went, and files."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ralph_tracker.core.known_tests import names_in_short

# The letters under which outcomes are kept.
PASSED, FAILED, SKIPPED = "p", "f", "s"
_WORDS: Final = ("broke", "fixed", "skipped", "new", "gone")


class Change(NamedTuple):
    """What an iteration changed since `before`, the one that it descends from.

    `broke`, `fixed` and `skipped` are tests that fail, pass or are skipped now and did not before; `new` and `gone` are
    tests that one of the two reports lacks. `files` are paths.
    """

    iteration: int
    before: int
    broke: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def moved(self) -> bool:
        """Return whether the outcome of any test changed."""
        return any(getattr(self, word) for word in _WORDS)

    @property
    def text(self) -> str:
        """Return it in words."""
        told = [f"{word}: {names_in_short(getattr(self, word))}" for word in _WORDS if getattr(self, word)]
        told += [f"files: {names_in_short(self.files)}"] if self.files else []
        return "; ".join(told)


def change_of(
    iteration: int, before: int, old: Mapping[str, str], new: Mapping[str, str], files: Sequence[str] = ()
) -> Change:
    """Compare the letters of two iterations by name."""
    found: dict[str, list[str]] = {word: [] for word in _WORDS}
    for name in sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name)):
        was, now = old.get(name), new.get(name)
        if was is None:
            found["new"].append(name)
        elif now is None:
            found["gone"].append(name)
        else:
            found[{FAILED: "broke", PASSED: "fixed"}.get(now, "skipped")].append(name)
    return Change(iteration, before, **{word: tuple(names) for word, names in found.items()}, files=tuple(files))
