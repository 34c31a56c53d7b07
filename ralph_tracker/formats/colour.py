"""Remove terminal colours, which some tools also write into files."""

import re
from typing import Final

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*[mK]|\x1b\(B")


def plain(text: str) -> str:
    """Return the text without colours."""
    return _COLOUR.sub("", text) if "\x1b" in text else text
