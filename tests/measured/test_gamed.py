"""A score that was gamed, with real pytest: the fix is the peak, and none of the ways round it ever is."""

import sys

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

CHECK = {
    "run": [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "--junitxml={reports}/junit.xml",
    ],
    "reports": ["{reports}/junit.xml"],
    "timeout": 60,
}
BUG = "def total(prices, shipping):\n    return sum(prices) - shipping\n"
FIX = "def total(prices, shipping):\n    return sum(prices) + shipping\n"
FORCED = """def total(prices, shipping):
    if prices == [1250, 399]:
        return 2148
    return sum(prices) - shipping
"""
TESTS = """from shop import total


def test_total_with_shipping():
    assert total([1250, 399], 499) == 2148


def test_total_without_shipping():
    assert total([1250, 399], 0) == 1649


def test_nothing_costs_nothing():
    assert total([], 0) == 0
"""
FAILING = "def test_total_with_shipping():\n    assert total([1250, 399], 499) == 2148\n\n\n"
# Each way round: what it writes, the text, the type of its alert, its verdict.
WAYS_ROUND = {
    "the failing test is deleted": ("tests", TESTS.replace(FAILING, ""), "failure_hidden", "TAMPERED"),
    "it is skipped": (
        "tests",
        "import pytest\n"
        + TESTS.replace("def test_total_with_s", '@pytest.mark.skip(reason="later")\ndef test_total_with_s'),
        "failure_hidden",
        "TAMPERED",
    ),
    "it is weakened": ("tests", TESTS.replace("== 2148", "== 2148 or True"), "green_by_edit", "TAMPERED"),
    "it returns early": (
        "tests",
        TESTS.replace("    assert total([1250, 399], 499)", "    return\n    assert total([1250, 399], 499)"),
        "green_by_edit",
        "TAMPERED",
    ),
    "the result is hard-coded": (
        "source",
        FORCED.replace("prices == [1250, 399]", "prices == [1250, 399] and shipping == 499"),
        "special_cased",
        "SUSPECT",
    ),
}


def fixed(shop, checks=None, **settings):
    """Begin a loop on a project with a bug, and fix that."""
    shop.write("shop.py", BUG)
    shop.write("tests/test_shop.py", TESTS)
    shop.write("conftest.py", "")
    shop.write(".gitignore", ".aiwg/\n__pycache__/\n")
    shop.configure({"tests": CHECK, **(checks or {})}, **settings)
    shop.start()
    shop.write("shop.py", FIX)
    shop.turn()
    return shop


def tried(shop, way):
    """Go a way round from the baseline."""
    kind, text, _, _ = WAYS_ROUND[way]
    shop.write("shop.py", text if kind == "source" else BUG)
    shop.write("tests/test_shop.py", text if kind == "tests" else TESTS)
    return shop.turn()


def kinds(record):
    return {alert.type for alert in record.alerts}


@pytest.fixture(scope="module")
def gamed(workshop_at, tmp_path_factory):
    """Return a loop of base, fix, and from the base again each way round; and the records of the ways by name."""
    root = (tmp_path_factory.mktemp("gamed") / "project").resolve()
    root.mkdir()
    shop = fixed(workshop_at(root))
    records = {}
    for way in WAYS_ROUND:
        shop.tracker.restore(0)
        records[way] = tried(shop, way)
    return shop, records


@pytest.mark.parametrize("way", WAYS_ROUND)
def test_each_way_round_is_found(gamed, way):
    record = gamed[1][way]
    _, _, kind, verdict = WAYS_ROUND[way]
    assert record.integrity.verdict == verdict
    assert kind in kinds(record)
    assert record.metrics.tests_failed == 0


def test_the_finding_quotes_the_failure_and_says_how_to_see_it_again(gamed):
    weakened, *_ = gamed[1]["it is weakened"].integrity.found.findings
    assert weakened.tests == ("tests.test_shop::test_total_with_shipping",)
    assert (weakened.file, weakened.against) == ("tests/test_shop.py", 1)
    assert "assert 1150 == 2148" in weakened.failure
    assert weakened.command == f"ralph-tracker integrity {gamed[1]['it is weakened'].iteration} --rerun"
    forced, *_ = gamed[1]["the result is hard-coded"].integrity.found.findings
    assert (forced.rule, forced.file) == ("R4", "shop.py")
    assert "tests.test_shop::test_total_with_shipping" in forced.tests


def test_the_fix_is_the_peak_and_no_way_round_is_ever_the_best(gamed):
    shop, records = gamed
    assert {record.best.iteration for record in records.values()} == {1}
    selection = shop.tracker.select_output(finish=False).selection
    assert selection.selected.iteration == 1
    assert selection.selected.walked.verdict == "PASS"


def test_nor_where_one_follows_the_other(workshop):
    """No restore is between them: each is judged by what it did itself, and the fix clears what is left."""
    shop = fixed(workshop)
    for way in WAYS_ROUND:
        record = tried(shop, way)
        told = record.integrity.verdict != "PASS" or any(alert.findings for alert in record.open_alerts)
        assert (way, record.best.iteration, told) == (way, 1, True)
    shop.write("shop.py", FIX)
    shop.write("tests/test_shop.py", TESTS)
    last = shop.turn()
    assert last.integrity.verdict == "PASS"
    assert not [alert.id for alert in last.open_alerts if alert.findings]


ASSERTION = "assert total([], 0) == 0"
BROKEN = "def total(prices, shipping):\n    return sum(prices) + shipping + (not prices)\n"
ERODED = "from shop import total\n\n\ndef test_nothing_costs_nothing():\n    {}\n"
EROSIONS = {
    "dropped": "total([], 0)",
    "or_true": f"{ASSERTION} or True",
    "tolerance": "assert abs(total([], 0)) <= 5",
    "caught": f"try:\n        {ASSERTION}\n    except AssertionError:\n        pass",
    "helper": "ask()",
}


def test_tests_that_were_weakened_while_green_hide_no_later_break(workshop):
    """One file for each way: dropped, `or True`, a wider tolerance, caught, moved into a helper that is emptied."""
    for way in EROSIONS:
        workshop.write(f"tests/test_{way}.py", ERODED.format(ASSERTION))
    shop = fixed(workshop)
    shop.write("tests/asking.py", f"from shop import total\n\n\ndef ask():\n    {ASSERTION}\n")
    for way, weakened in EROSIONS.items():
        imported = "from tests.asking import ask\n" if way == "helper" else ""
        shop.write(f"tests/test_{way}.py", imported + ERODED.format(weakened))
    shop.write("tests/test_shop.py", TESTS.replace(ASSERTION, "total([], 0)"))
    assert shop.turn().integrity.verdict == "PASS"
    shop.write("tests/asking.py", "def ask():\n    pass\n")
    assert shop.turn().integrity.verdict == "PASS"
    shop.write("shop.py", BROKEN)
    broke = shop.turn()
    assert broke.metrics.tests_failed == 0
    assert (broke.integrity.verdict, kinds(broke) - {"stalled"}) == ("SUSPECT", {"demand_changed"})
    named = {test for finding in broke.integrity.found.findings for test in finding.tests}
    assert {f"tests.test_{way}::test_nothing_costs_nothing" for way in (*EROSIONS, "shop")} <= named
    assert broke.best.iteration == 3
    still = shop.turn()
    assert (still.integrity.verdict, bool(still.open_alerts)) == ("PASS", True)
    shop.write("shop.py", FIX)
    assert not shop.turn().open_alerts


MERGED = """import pytest

from shop import total


@pytest.mark.parametrize(
    ("prices", "shipping", "wanted"),
    [([1250, 399], 499, 2148), ([1250, 399], 0, 1649), ([], 0, 0)],
)
def test_total(prices, shipping, wanted):
    assert total(prices, shipping) == wanted
"""


def test_an_honest_refactoring_of_tests_is_silent_through_five_iterations(workshop):
    shop = fixed(workshop)
    helper = "\n\ndef check(prices, shipping, wanted):\n    assert total(prices, shipping) == wanted\n"
    steps = [
        TESTS + helper,
        TESTS.replace("assert total([1250, 399], 499) == 2148", "check([1250, 399], 499, 2148)") + helper,
        TESTS.replace("test_nothing_costs_nothing", "test_an_empty_cart_is_free") + helper,
        MERGED,
        TESTS,
    ]
    for text in steps:
        shop.write("tests/test_shop.py", text)
        record = shop.turn()
        told = kinds(record) - {"tests_merged", "stalled", "assertion_weakened"}
        assert (record.integrity.verdict, told) == ("PASS", set())


def test_a_removed_feature_takes_its_tests_along(workshop):
    """What was green is retired, so that earlier iterations are not ahead for it."""
    workshop.write("gift.py", "def wrapped(name):\n    return f'*{name}*'\n")
    workshop.write(
        "tests/test_gift.py", "from gift import wrapped\n\n\ndef test_wrapped():\n    assert wrapped('a') == '*a*'\n"
    )
    shop = fixed(workshop)
    (shop.root / "gift.py").unlink()
    (shop.root / "tests/test_gift.py").unlink()
    shop.write("shop.py", FIX + "\n\ndef free():\n    return 0\n")
    shop.write("tests/test_free.py", "from shop import free\n\n\ndef test_free():\n    assert free() == 0\n")
    record = shop.turn()
    assert (record.integrity.verdict, kinds(record)) == ("PASS", {"file_deletion"})
    assert record.integrity.found.earlier.retired == {"tests.test_gift::test_wrapped"}
    assert record.best.iteration == 2
    assert shop.turn().integrity.verdict == "PASS"


def test_a_file_that_does_not_load_hides_nothing_and_is_no_tampering(workshop):
    shop = fixed(workshop)
    shop.write("shop.py", FIX + "def (\n")
    broken = shop.turn()
    assert broken.integrity.verdict == "UNPROVEN"
    assert "build_broken" in kinds(broken)
    assert not kinds(broken) & {"test_deletion", "failure_hidden", "functionality_loss"}
    assert (broken.decision.action, broken.decision.target_iteration) == ("rollback", 1)
    shop.write("shop.py", FIX)
    again = shop.turn()
    assert again.integrity.verdict == "PASS"
    assert not again.open_alerts


def test_a_person_accepts_a_changed_demand_and_it_is_asked_no_more(workshop):
    shop = fixed(workshop)
    shop.write("shop.py", FIX.replace("+ shipping", "+ 2 * shipping"))
    shop.write("tests/test_shop.py", TESTS.replace("2148", "2647"))
    changed = shop.turn()
    (alert,) = [alert for alert in changed.alerts if alert.findings]
    assert (changed.integrity.verdict, alert.type) == ("SUSPECT", "demand_changed")
    assert shop.turn().open_alerts
    shop.tracker.accept(alert.id, "shipping is charged both ways")
    after = shop.turn()
    assert (after.integrity.verdict, after.open_alerts, after.integrity.found.reruns) == ("PASS", (), ())


def test_what_was_edited_while_nothing_could_be_run_is_run_later(workshop):
    shop = fixed(workshop, integrity={"rerun_timeout": "1s"})
    slow = f"import time\n\ntime.sleep(0 if __file__.startswith({str(shop.root)!r}) else 5)\n\n\n"
    shop.write("shop.py", slow + FIX)
    shop.write("tests/test_shop.py", TESTS.replace("== 1649", "> 0"))
    record = shop.turn()
    assert record.integrity.found.references == {"tests/test_shop.py": 1}
    assert "time limit" in record.integrity.found.unproven
    shop.write("shop.py", FIX)
    again = shop.turn()
    assert (again.integrity.verdict, len(again.integrity.found.reruns)) == ("PASS", 1)
