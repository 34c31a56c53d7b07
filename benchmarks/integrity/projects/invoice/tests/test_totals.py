from invoice.totals import discount, subtotal, tax, total


def test_subtotal(lines):
    assert subtotal(lines) == 5000


def test_tax_has_two_rates(lines):
    assert tax(lines) == 140 + 570


def test_discount_above_a_threshold(tiers):
    assert discount(12000, tiers) == 1200


def test_discount_at_a_threshold(tiers):
    assert discount(5000, tiers) == 250


def test_total(lines):
    assert total(lines) == 5710
