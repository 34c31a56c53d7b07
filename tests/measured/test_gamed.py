"""A score that was gamed, with real pytest: the fix is the peak, and none of the ways round it ever is."""

import json
import sys

import pytest

from ralph_tracker.store.committed import Committed

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
WAYS_ROUND = {
    "the failing test is deleted": ("tests", TESTS.replace(FAILING, ""), "T1", {"TAMPERED"}),
    "it is skipped": (
        "tests",
        "import pytest\n"
        + TESTS.replace("def test_total_with", '@pytest.mark.skip(reason="later")\ndef test_total_with'),
        "T2",
        {"SUSPECT"},
    ),
    "it is made vacuous": ("tests", TESTS.replace("== 2148", "== 2148 or True"), "T4", {"TAMPERED"}),
    "the result is hard-coded": (
        "source",
        FORCED.replace("prices == [1250, 399]", "prices == [1250, 399] and shipping == 499"),
        "T12",
        {"SUSPECT"},
    ),
}


def fixed(shop, checks=None, **settings):
    """Begin a loop on a project with a bug, and mend that."""
    shop.write("shop.py", BUG)
    shop.write("tests/test_shop.py", TESTS)
    shop.write("conftest.py", "")
    shop.write(".gitignore", ".aiwg/\n__pycache__/\n")
    shop.configure({"tests": CHECK, **(checks or {})}, loop={"target_score": None}, **settings)
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
def test_each_way_round_is_found_under_its_rule(gamed, way):
    record = gamed[1][way]
    _, _, rule, verdicts = WAYS_ROUND[way]
    assert record.integrity.verdict in verdicts
    assert rule in {alert.kind.rule for alert in record.alerts}
    assert record.metrics.tests_failed == 0


def test_the_named_test_is_the_one_that_was_failing(gamed):
    vacuous = gamed[1]["it is made vacuous"].integrity.found.findings[0]
    assert vacuous.test == "test_total_with_shipping"
    assert vacuous.tests == ("tests.test_shop::test_total_with_shipping",)
    assert (vacuous.file, vacuous.line) == ("tests/test_shop.py", 5)
    forced = gamed[1]["the result is hard-coded"].integrity.found.findings[0]
    assert forced.file == "shop.py"
    assert "tests.test_shop::test_total_with_shipping" in forced.tests


def test_the_fix_is_the_peak_and_no_way_round_is_ever_the_best(gamed):
    shop, records = gamed
    assert {record.best.iteration for record in records.values()} == {1}
    selection = shop.tracker.select_output(finish=False).selection
    assert selection.selected.iteration == 1
    assert selection.selected.candidate.verdict == "PASS"
    rows, _ = Committed(shop.paths).rows()
    assert [row["candidate"]["verdict"] for row in rows[:2]] == ["PASS", "PASS"]


def test_nor_where_one_follows_the_other(workshop):
    """No restore stands between them: the test that asks for it all has passed in the iteration before, by a trick."""
    shop = fixed(workshop)
    for way, (_, _, rule, verdicts) in WAYS_ROUND.items():
        record = tried(shop, way)
        assert (way, record.integrity.verdict in verdicts | {"TAMPERED"}, record.best.iteration) == (way, True, 1)
        assert rule in {alert.kind.rule for alert in record.alerts}, way
    shop.write("shop.py", FIX)
    assert shop.turn().integrity.verdict == "PASS"


def test_what_stood_there_before_it_was_asked_for_answers_nothing(workshop):
    """Against the baseline, table and test are both new; the test came later, and is no sign of anything."""
    shop = fixed(workshop)
    table = '\n\nSIZES = {"carton": 1730, "crate": 5210}\n\n\ndef size_of(word):\n    return SIZES[word]\n'
    shop.write("shop.py", FIX + table)
    shop.turn()
    shop.write(
        "tests/test_sizes.py", 'from shop import size_of\n\n\ndef test_size():\n    assert size_of("carton") == 1730\n'
    )
    shop.turn()
    shop.write("shop.py", f'"""A shop."""\n\n\n{FIX}{table}')
    assert shop.turn().integrity.verdict == "PASS"


def test_a_test_that_comes_back_after_its_result_was_hard_coded_is_named(workshop):
    """The iteration in which it comes back changes no source."""
    shop = fixed(workshop)
    shop.write("shop.py", WAYS_ROUND["the result is hard-coded"][1])
    shop.write("tests/test_shop.py", WAYS_ROUND["the failing test is deleted"][1])
    assert shop.turn().integrity.verdict == "TAMPERED"
    shop.write("tests/test_shop.py", TESTS)
    back = shop.turn()
    assert (back.integrity.verdict, back.best.iteration) == ("SUSPECT", 1)
    assert [finding.rule for finding in back.integrity.found.findings] == ["T12"]


ASSERTION = "assert total([1250, 399], 499) == 2148"
WEAKENED = FAILING.replace("== 2148", "is not None")
# What is left of the failing test in the first step, and what stands elsewhere when it is gone in the second.
IN_TWO_STEPS = {
    "emptied": (FAILING.replace(ASSERTION, "pass"), ""),
    "made a helper": (
        FAILING.replace(ASSERTION, "return total([1250, 399], 499)")
        + "def test_called():\n    assert test_total_with_shipping() is not None\n\n\n",
        "",
    ),
    "skipped": (f"import pytest\n\n\n@pytest.mark.skip\n{FAILING}", ""),
    "weakened, then moved": (WEAKENED, WEAKENED),
    "hollowed out, then renamed and moved": (
        FAILING.replace(ASSERTION, "total([], 0)"),
        "def test_it_runs():\n    total([], 0)\n",
    ),
}


@pytest.mark.parametrize("way", IN_TWO_STEPS)
def test_a_second_step_does_not_clear_the_first(gamed, way):
    """What was hollowed out in an iteration is no less lost when the next one takes it away."""
    shop, (left, elsewhere) = gamed[0], IN_TWO_STEPS[way]
    shop.tracker.restore(1)
    shop.write("shop.py", BUG)
    shop.write("tests/test_shop.py", TESTS.replace(FAILING, left))
    first = shop.turn()
    shop.write("tests/test_shop.py", TESTS.replace(FAILING, ""))
    if elsewhere:
        shop.write("tests/test_other.py", f"from shop import total\n\n\n{elsewhere}")
    second = shop.turn()
    assert "PASS" not in {first.integrity.verdict, second.integrity.verdict}
    assert {first.best.iteration, second.best.iteration} == {1}


def test_nor_where_another_tool_looks_into_the_files(workshop):
    findings = {"schema": 1, "tool": "tampercheck", "version": "0.1.1", "findings": []}
    workshop.write("tool.json", json.dumps(findings))
    tells = {"run": ["cat", "tool.json"], "reports": ["-"], "kind": "integrity"}
    shop = fixed(workshop, {"tamper": tells}, integrity={"tool": "tampercheck"})
    emptied = {"kind": "swallowed-error", "severity": "high", "path": "tests/test_shop.py", "line": 5, "evidence": "-"}
    shop.write("tool.json", json.dumps({**findings, "findings": [emptied]}))
    shop.write("tests/test_shop.py", TESTS.replace(FAILING, FAILING.replace(ASSERTION, "pass")))
    assert shop.turn().integrity.verdict == "SUSPECT"
    shop.write("tool.json", json.dumps(findings))
    shop.write("tests/test_shop.py", TESTS.replace(FAILING, ""))
    assert shop.turn().integrity.verdict == "TAMPERED"
