import pytest

from inbox.rules import file, matches, sort

RULES = [
    {"when": {"from": "bob", "subject": "invoice"}, "folder": "bills"},
    {"when": {"from": "bob"}, "folder": "bob"},
]


@pytest.mark.parametrize("subject", ["Invoice 17", "Your INVOICE"])
def test_matches(subject):
    assert matches(RULES[0], {"from": "Bob", "subject": subject})


def test_all_must_match():
    assert not matches(RULES[0], {"from": "ada", "subject": "Invoice"})


def test_the_first_rule_counts():
    assert file(RULES, {"from": "bob", "subject": "Invoice"}) == "bills"


def test_no_rule():
    assert file(RULES, {"from": "ada", "subject": "Hello"}) == "inbox"


def test_sort(messages):
    folders = sort(RULES, messages)
    assert {name: len(found) for name, found in folders.items()} == {"inbox": 3, "bills": 1, "bob": 1}
