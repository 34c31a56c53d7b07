"""Read which tests had which outcome in every iteration of a loop, fast: most iterations repeat the one before."""

from collections.abc import Iterator
from itertools import compress
from operator import ne
from typing import Any, Final, NamedTuple

import msgspec

from ralph_tracker.store.layout import MANIFEST, LoopPaths, document_name
from ralph_tracker.store.packed import kept_bytes

_LETTERS: Final = {"passed": "p", "failed": "f", "skipped": "s"}


class Outcomes(NamedTuple):
    """The tests of one report by name, and their outcomes as one letter each: p, f or s."""

    names: tuple[str, ...]
    letters: str

    def by_name(self) -> dict[str, str]:
        """Return the letter of each test."""
        return dict(zip(self.names, self.letters, strict=True))

    def beside(self, other: "Outcomes") -> tuple[dict[str, str], dict[str, str]]:
        """Return the letters of both by name, without the tests that are known to be the same."""
        if self.names is not other.names:
            return self.by_name(), other.by_name()
        moved = list(map(ne, self.letters, other.letters))
        names = list(compress(self.names, moved))
        return (
            dict(zip(names, compress(self.letters, moved), strict=True)),
            dict(zip(names, compress(other.letters, moved), strict=True)),
        )


class _Kept(msgspec.Struct, gc=False):
    """The parts of tests.json that are needed; the first loops have a mapping in place of names and outcomes."""

    measured: bool
    names: msgspec.Raw = msgspec.Raw(b"[]")
    outcomes: str = ""
    present: dict[str, str] | None = None


def outcome_history(paths: LoopPaths, last: int) -> Iterator[Outcomes | None]:
    """Yield the outcomes of each iteration from 0 to `last`; None where no names are known or they are damaged.

    Iterations with the same names share them, and with the same outcomes share the whole value.
    """
    decoder, raw, found = msgspec.json.Decoder(_Kept), b"", Outcomes((), "")
    for number in range(last + 1):
        data = kept_bytes(paths, number, document_name(number, "tests.json"))
        try:
            kept = decoder.decode(data or b"")
            if not kept.measured:
                yield None
                continue
            if kept.present is not None:
                found = Outcomes(tuple(kept.present), "".join(_LETTERS[word] for word in kept.present.values()))
                raw = b""
            elif bytes(kept.names) != raw:
                raw, names = bytes(kept.names), msgspec.json.decode(kept.names, type=list[str])
                found = Outcomes(tuple(names), kept.outcomes)
            elif kept.outcomes != found.letters:
                found = Outcomes(found.names, kept.outcomes)
        except (msgspec.DecodeError, KeyError, UnicodeDecodeError):
            yield None
            continue
        yield found if len(found.names) == len(found.letters) else None


def changed_paths(paths: LoopPaths, number: int) -> tuple[str, ...] | None:
    """Return the files that an iteration changed since the one that it descends from; None where that is unknown."""
    data = kept_bytes(paths, number, document_name(number, MANIFEST))
    try:
        manifest: Any = msgspec.json.decode(data or b"")
        return tuple(str(change["path"]) for change in manifest["since_previous"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return None
