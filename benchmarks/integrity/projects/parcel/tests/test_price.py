import pytest
from checks import check_price

from parcel.price import price, total


def test_price_at_home():
    check_price(400, "home", 490)


def test_price_far():
    check_price(1500, "far", 2208)


def test_price_at_the_edge():
    check_price(500, "home", 490)


def test_price_of_too_much():
    with pytest.raises(ValueError, match="12000"):
        price(12000)


def test_total():
    assert total([100, 600], "near") == 735 + 1035
