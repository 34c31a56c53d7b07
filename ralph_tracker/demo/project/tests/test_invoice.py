import pytest

from tally.invoice import Invoice


@pytest.fixture
def invoice():
    invoice = Invoice("Ada")
    invoice.add("paper", 4, 250)
    invoice.add("ink", 1, 1000)
    return invoice


def test_adds_its_lines(invoice):
    assert invoice.subtotal == 2000


def test_adds_the_tax(invoice):
    invoice.tax = 10
    assert invoice.total == 2200


def test_takes_the_discount_off(invoice):
    invoice.discount = 25
    assert invoice.total == 1500


def test_takes_the_discount_off_before_the_tax(invoice):
    invoice.discount, invoice.tax = 50, 10
    assert invoice.total == 1100
