"""An invoice: lines, a discount, a tax."""

import json
from dataclasses import dataclass, field

from tally.money import percent_of


@dataclass(frozen=True)
class Line:
    """One line: what, how many, at which price in cents."""

    text: str
    quantity: int
    price: int

    @property
    def amount(self):
        """Return what the line costs, in cents."""
        return self.quantity * self.price


@dataclass
class Invoice:
    """Lines; discount and tax are percentages."""

    customer: str
    lines: list[Line] = field(default_factory=list)
    discount: int = 0
    tax: int = 0

    def add(self, text, quantity, price):
        """Add a line. Raises ValueError for a quantity that is not positive."""
        if quantity <= 0:
            raise ValueError(f"{text}: the quantity has to be positive")
        self.lines.append(Line(text, quantity, price))

    @property
    def subtotal(self):
        """Return what the lines cost together."""
        return sum(line.amount for line in self.lines)

    @property
    def tax_amount(self):
        """Return the tax on what is left after the discount."""
        return percent_of(self.subtotal, self.tax)

    @property
    def total(self):
        """Return what the customer pays."""
        reduction = percent_of(self.subtotal, self.discount)
        due = self.subtotal - reduction
        return self.subtotal - percent_of(self.subtotal, self.discount) + self.tax_amount
