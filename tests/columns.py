"""How wide a text is on a terminal."""

import re


def wider_than_80(text):
    """Return the lines of a text that are wider than a terminal and could be broken: no single word, no command."""
    wide = [line for line in text.splitlines() if len(line) > 80]
    return [line for line in wide if len(re.sub(r"`[^`]*`", "command", line).split()) > 1]
