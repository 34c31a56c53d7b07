import pytest

from parcel.weight import parse, show


@pytest.mark.parametrize(("text", "grams"), [("300g", 300), ("2kg", 2000), ("1.5kg", 1500)])
def test_parse(text, grams):
    assert parse(text) == grams


def test_parse_with_a_space():
    assert parse("300 g") == 300


def test_parse_refuses_words():
    with pytest.raises(ValueError, match="heavy"):
        parse("heavy")


def test_show():
    assert show(1500) == "1.50 kg"
