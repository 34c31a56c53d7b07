import json
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


@pytest.fixture
def lines():
    return [
        {"name": "novel", "kind": "book", "count": 2, "price": "10.00"},
        {"name": "hammer", "kind": "tool", "count": 1, "price": "30.00"},
    ]


@pytest.fixture
def tiers():
    return [(5000, 5), (10000, 10)]


@pytest.fixture
def golden():
    def load(name):
        return json.loads((DATA / f"{name}.json").read_text()), (DATA / f"{name}.txt").read_text()

    return load
