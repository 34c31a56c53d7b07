import pytest

from invoice.money import parse, share, show


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("12.50", 1250),
        ("12", 1200),
        ("-3,07", -307),
        ("12,5", 1250),
    ],
)
def test_parse(text, cents):
    assert parse(text) == cents


def test_parse_refuses_words():
    with pytest.raises(ValueError, match="twelve"):
        parse("twelve")


def test_show():
    assert show(-1205) == "-12.05"


def test_show_small():
    assert show(7) == "0.07"


def test_share_rounds_half_up():
    assert share(250, 5) == 13
