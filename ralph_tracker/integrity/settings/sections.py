"""The sections of an INI file as text."""

import configparser
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.source_tests import Unparsable

Sections = tuple[tuple[str, dict[str, str]], ...]
_KEPT: Final = 64


@lru_cache(maxsize=_KEPT)
def sections_of(text: str) -> Sections:
    """Return the sections in their order, each with its texts by key; nobody may change them. Raises Unparsable."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise Unparsable(str(error).partition("\n")[0]) from None
    return tuple((section, {key: value or "" for key, value in parser.items(section)}) for section in parser.sections())
