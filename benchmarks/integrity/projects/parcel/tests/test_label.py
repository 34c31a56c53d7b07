import pytest
from checks import check_golden

from parcel.label import label

PARCELS = {
    "short": ("Ada Lovelace", "London", 300),
    "heavy": ("Grace Hopper", "New York", 9500),
    "long": ("Augusta Ada King, Countess of Lovelace", "London", 300),
}


@pytest.mark.parametrize("name", PARCELS)
def test_label(name):
    check_golden(name, label(*PARCELS[name]))
