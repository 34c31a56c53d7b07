"""A group of tests that ends at an error: its other tests did not run, and come back with its source."""

import pytest

# As node-tap prints them: a thrown error is one more test of its group, and ends it.
SUITE = """
echo "TAP version 14"
echo "# Subtest: copies"
echo "    ok 1 - numbers"
if grep -q broken src.js; then
  echo "    not ok 2 - Maximum call stack size exceeded"
  echo "    1..2"
  echo "not ok 1 - copies"
else
  echo "    ok 2 - circles"
  echo "    ok 3 - deep circles"
  echo "    1..3"
  echo "ok 1 - copies"
fi
echo "1..1"
! grep -q broken src.js
"""


@pytest.fixture
def shop(workshop):
    workshop.write("test/copies.test.sh", SUITE)
    workshop.write("src.js", "whole\n")
    check = {"run": "/bin/sh test/copies.test.sh", "reports": ["-"], "format": "tap"}
    return workshop.configure({"tests": check})


def test_an_error_that_keeps_tests_from_running_breaks_them(shop):
    shop.start()
    shop.write("src.js", "broken\n")
    record = shop.turn()
    assert record.classification == "regression"
    (alert,) = record.alerts
    assert alert.type == "working_tests_failing"
    assert sorted(alert.tests) == ["copies > circles", "copies > deep circles"]
    assert record.decision.action == "rollback"


@pytest.mark.parametrize("edits_tests", [False, True])
def test_they_come_back_with_their_source_and_nothing_was_hidden(shop, edits_tests):
    shop.start()
    shop.write("src.js", "broken\n")
    shop.turn()
    shop.write("src.js", "whole again\n")
    if edits_tests:
        shop.write("test/copies.test.sh", SUITE.replace("ok 1 - copies", "ok 1 - copies # edited"))
    record = shop.turn()
    assert (record.classification, record.alerts, record.integrity.found.findings) == ("forward", (), ())


def test_a_red_baseline_is_mended_where_its_tests_are_as_they_were(shop):
    shop.write("src.js", "broken\n")
    shop.start()
    shop.write("src.js", "whole\n")
    record = shop.turn()
    assert (record.classification, record.integrity.found.findings) == ("forward", ())


def test_a_red_test_of_a_group_that_goes_alone_is_hidden(shop):
    shop.write("src.js", "broken\n")
    shop.start()
    # Nothing that the error had kept from running comes: the group is as short as before.
    short = 'echo "    ok 1 - numbers"; echo "    1..1"; echo "ok 1 - copies"; echo "1..1"'
    shop.write("test/copies.test.sh", f'echo "TAP version 14"; echo "# Subtest: copies"; {short}')
    record = shop.turn()
    assert [each.rule for each in record.integrity.found.findings] == ["failure_hidden"]
