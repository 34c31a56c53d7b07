from pathlib import Path

from parcel.price import price

GOLDEN = Path(__file__).parent / "golden"


def check_price(grams, zone, cents):
    assert price(grams, zone) == cents


def check_golden(name, text):
    assert text == (GOLDEN / f"{name}.txt").read_text()
