"""Colours of terminals, which some tools also write into files."""

import re
from typing import Final

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*[mK]|\x1b\(B")


def plain(text: str) -> str:
    """Take colours out of it."""
    return _COLOUR.sub("", text) if "\x1b" in text else text
