"""Match what is gone with what is new by what both have in common, each once, in time that grows with their number."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item", bound=Hashable)
Accept = Callable[[Item, Item], bool]


class Moves(Generic[Item]):
    """Be the matches so far: `found` maps what is gone to what stands for it; `gone` and `new` are what is left."""

    def __init__(self, gone: Iterable[Item], new: Iterable[Item]) -> None:
        self.gone = list(gone)
        self.new = list(new)
        self.found: dict[Item, Item] = {}

    def match(self, pairs: Iterable[tuple[Item, Item]]) -> None:
        """Take these pairs; one whose side is matched already is passed over."""
        taken: set[Item] = set()
        waiting = set(self.gone)
        free = set(self.new)
        for gone, new in pairs:
            if gone in waiting and new in free:
                self.found[gone] = new
                taken |= {gone, new}
                waiting.discard(gone)
                free.discard(new)
        if taken:
            self.drop(taken)

    def drop(self, items: Iterable[Item]) -> None:
        """Leave these out from here on."""
        dropped = frozenset(items)
        self.gone = [item for item in self.gone if item not in dropped]
        self.new = [item for item in self.new if item not in dropped]

    def by_unique(self, key: Callable[[Item], Hashable], accept: Accept[Item] | None = None) -> None:
        """Match where a key stands once on each side; None is no key."""
        pairs = ((gone, new) for gone, new in self.groups(key) if len(gone) == len(new) == 1)
        self.match((gone, new) for [gone], [new] in pairs if accept is None or accept(gone, new))

    def in_order(self, key: Callable[[Item], Hashable]) -> None:
        """Match those of the same key one after the other, up to the smaller number; None is no key."""
        self.match(pair for gone, new in self.groups(key) for pair in zip(gone, new, strict=False))

    def by_owner(
        self, owner: Callable[[Item], Hashable], leaf: Callable[[Item], Hashable], accept: Accept[Item] | None = None
    ) -> None:
        """Match the same leaf of several owners where most of what left the owner went to that other one."""
        votes = Counter((owner(gone), owner(new)) for gone, new in self.found.items())
        heirs: dict[Hashable, Hashable] = {}
        for (old, new), _ in votes.most_common():
            heirs.setdefault(old, new)
        there: dict[Hashable, list[Item]] = {}
        for item in self.new:
            there.setdefault((owner(item), leaf(item)), []).append(item)
        pairs = (
            (item, other)
            for item in self.gone
            if owner(item) in heirs
            for other in there.get((heirs[owner(item)], leaf(item)), ())
        )
        self.match((gone, new) for gone, new in pairs if accept is None or accept(gone, new))

    def groups(self, key: Callable[[Item], Hashable]) -> Iterable[tuple[list[Item], list[Item]]]:
        """Return what is left on both sides by key, in the order of what is gone."""
        gone, new = _grouped(self.gone, key), _grouped(self.new, key)
        return [(group, new[found]) for found, group in gone.items() if found in new]


def _grouped(items: Iterable[Item], key: Callable[[Item], Hashable]) -> dict[Hashable, list[Item]]:
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        found = key(item)
        if found is not None:
            groups.setdefault(found, []).append(item)
    return groups
