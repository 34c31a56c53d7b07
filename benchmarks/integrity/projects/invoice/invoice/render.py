"""An invoice as text."""

from invoice.money import show
from invoice.totals import discount, subtotal, tax, total


def render(order):
    lines, tiers = order["lines"], order.get("tiers", ())
    cents = subtotal(lines)
    rows = [(f"{line['count']} x {line['name']}", show(subtotal([line]))) for line in lines]
    taken = discount(cents, tiers)
    if taken:
        rows.append(("discount", show(-taken)))
    rows += [("tax", show(tax(lines))), ("total", show(total(lines, tiers)))]
    return "".join(f"{name:<20}{amount:>10}\n" for name, amount in rows)


def summary(order):
    """Say in one line how many things it is and what they come to."""
    things = sum(line["count"] for line in order["lines"])
    return f"{things} things, {show(total(order['lines'], order.get('tiers', ())))}"
