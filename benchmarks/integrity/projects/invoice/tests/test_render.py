import pytest

from invoice.render import render, summary


@pytest.mark.parametrize("name", ["plain", "tiered"])
def test_render(golden, name):
    order, text = golden(name)
    assert render(order) == text


def test_summary(lines):
    assert summary({"lines": lines}) == "3 things, 57.10"
