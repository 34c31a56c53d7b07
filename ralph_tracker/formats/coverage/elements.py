"""What the readers of XML share: where in the document they are, and how deep it may go."""

from abc import ABC, abstractmethod

from ralph_tracker.formats import markup
from ralph_tracker.formats.damage import DamageError


class Elements(ABC):
    """Follow the elements of one document by their local names; `path` leads to the open one, the root first."""

    def __init__(self, max_depth: int) -> None:
        self.path: list[str] = []
        self._max_depth = max_depth

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = markup.local_name(name)
        self.opened(local, attributes)
        self.path.append(local)
        if len(self.path) > self._max_depth:
            raise DamageError(f"elements are nested deeper than {self._max_depth}")

    def end(self, _name: str) -> None:
        self.closed(self.path.pop())

    @abstractmethod
    def opened(self, name: str, attributes: dict[str, str]) -> None:
        """Take an element that begins; `path` leads to the one around it."""

    @abstractmethod
    def closed(self, name: str) -> None:
        """Take an element that ends; `path` leads to the one around it."""
