"""What the readers of XML share: where in the document they are, and how deep it may go."""

from collections.abc import Mapping

from ralph_tracker.formats import markup
from ralph_tracker.formats.content import Content
from ralph_tracker.formats.damage import DamageError


class Elements:
    """Walk one XML document: `opened` and `closed` are told local names, `path` leads to the element around."""

    def __init__(self, content: Content) -> None:
        self.path: list[str] = []
        self._content = content
        self._max_depth = content.limits.max_depth

    def walk(self) -> None:
        """Read the document. Raises DamageError where it is malformed, nested too deep, or refused by `opened`."""
        self._content.stream(self.start, self.end)

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take an element that begins; the last of `path` is the one around it."""

    def closed(self, name: str) -> None:
        """Take an element that ends; the last of `path` is the one around it."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take what the parser says; a reader may handle elements of which there are very many itself."""
        local = markup.local_name(name)
        self.opened(local, attributes)
        self.path.append(local)
        if len(self.path) > self._max_depth:
            raise DamageError(f"elements are nested deeper than {self._max_depth}")

    def end(self, _name: str) -> None:
        self.closed(self.path.pop())
