"""A statement: an invoice as text, and as rows for a spreadsheet."""

import csv, io
import sys

from tally.money import format_amount

WIDTH = 40


def statement(invoice):
    """Write an invoice as text."""
    rows = [f"Invoice for {invoice.customer}", "-" * WIDTH]
    for line in invoice.lines:
        rows.append(_row(f"{line.quantity} x {line.text}", line.amount))
    rows.append("-" * WIDTH)
    if invoice.discount != 0:
        rows.append(f"Discount {invoice.discount}%")
    rows.append(_row("Total", invoice.total))
    return "\n".join(rows)


def _row(text, cents):
    amount = format_amount(cents)
    return f"{text[: WIDTH - len(amount) - 1]:<{WIDTH - len(amount)}}{amount}"


def as_csv(invoice):
    """Write the lines of an invoice as comma-separated values."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["text", "quantity", "price", "amount"])
    for line in invoice.lines:
        writer.writerow([line.text, line.quantity, line.price, line.amount])
    return out.getvalue()
