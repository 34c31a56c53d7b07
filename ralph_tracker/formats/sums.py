"""Add up the totals and remarks of several reports."""


def known_sum(one: int | None, other: int | None) -> int | None:
    """Add two numbers; None if either is unknown, since a partial total is useless."""
    return None if one is None or other is None else one + other


def both(one: str | None, other: str | None) -> str | None:
    """Join two remarks; None if there is neither."""
    return "; ".join(text for text in (one, other) if text) or None
