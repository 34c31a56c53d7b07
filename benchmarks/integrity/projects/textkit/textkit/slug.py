"""Names for addresses."""

import re


def slug(text, limit=40):
    """Make a name of lower-case letters, digits and single hyphens, no longer than the limit."""
    name = re.sub(r"[^a-z0-9]+", "-", text.lower())
    return name.strip("-")


def unique(name, taken):
    """Add the first number that makes the name a new one."""
    if name not in taken:
        return name
    number = 2
    while f"{name}-{number}" in taken:
        number += 1
    return f"{name}-{number}"
