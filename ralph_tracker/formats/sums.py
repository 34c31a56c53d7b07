"""Adding up what several reports of a kind say of themselves."""


def known_sum(one: int | None, other: int | None) -> int | None:
    """Add what is known: None and a number is None, since half a total is none."""
    return None if one is None or other is None else one + other


def both(one: str | None, other: str | None) -> str | None:
    """Join what was said of two reports; None where neither says anything."""
    return "; ".join(text for text in (one, other) if text) or None
