"""What an invoice comes to."""

from invoice.money import parse, share

RATES = {"book": 7, "food": 7}
STANDARD = 19


def subtotal(lines):
    return sum(line["count"] * parse(line["price"]) for line in lines)


def discount(cents, tiers):
    """Give what the highest tier that is reached takes off; a tier is (threshold, percent)."""
    reached = [percent for threshold, percent in tiers if cents > threshold]
    return share(cents, max(reached, default=0))


def tax(lines):
    """Add up the tax of every line at the rate of its kind."""
    return sum(share(subtotal([line]), RATES.get(line["kind"], STANDARD)) for line in lines)


def total(lines, tiers=()):
    cents = subtotal(lines)
    return cents - discount(cents, tiers) + tax(lines)
