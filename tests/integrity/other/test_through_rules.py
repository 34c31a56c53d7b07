"""T4, T5 and the matching of tests, through the values that the languages are read into."""

import pytest

from ralph_tracker.core.findings import Severity
from tests.integrity.making import evidence, examined

# One test in each language with one assertion, and the same one that nothing can fail.
TESTS = {
    "web/a.test.ts": ("it('adds', () => {{\n  {}\n}});\n", "expect(sum(1, 2)).toBe(3);", "expect(true).toBe(true);"),
    "x_test.go": (
        "package x\n\nfunc TestAdds(t *testing.T) {{\n\t{}\n}}\n",
        "if sum(1, 2) != 3 {{ t.Fatal() }}".format(),
        "assert.True(t, true)",
    ),
    "tests/a.rs": (
        "#[test]\nfn adds() {{\n    {}\n}}\n",
        "assert_eq!(sum(1, 2), 3);",
        "assert!(sum(1, 2) == 3 || true);",
    ),
    "src/test/java/ATest.java": (
        "class ATest {{\n  @Test void adds() {{\n    {}\n  }}\n}}\n",
        "assertEquals(3, sum(1, 2));",
        "assertTrue(true);",
    ),
}
IDS = {path: path.rpartition(".")[2] for path in TESTS}


@pytest.mark.parametrize("path", TESTS, ids=IDS.values())
def test_an_assertion_that_was_replaced_by_one_that_cannot_fail_is_critical(path):
    text, real, hollow = TESTS[path]
    found = examined({path: (text.format(real), text.format(hollow))}).findings
    assert ("T4", Severity.CRITICAL) in {(each.rule, each.severity) for each in found}


@pytest.mark.parametrize("path", TESTS, ids=IDS.values())
def test_an_assertion_that_was_removed_is_told(path):
    text, real, _ = TESTS[path]
    found = examined({path: (text.format(real), text.format("sum(1, 2);"))}).findings
    assert [(each.rule, each.severity) for each in found] == [("T5", Severity.HIGH)]


@pytest.mark.parametrize("path", TESTS, ids=IDS.values())
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text, real, hollow: (text.format(hollow), text.format(real)), id="a tautology repaired"),
        pytest.param(lambda text, real, _: (text.format(real), text.format(f"{real}\n\n    {real}")), id="more"),
        pytest.param(
            lambda text, real, _: (text.format(real), text.format(f"// why\n      {real} // so")), id="comments"
        ),
        pytest.param(lambda text, real, _: (text.format(real), text.format(real.replace("(", "(\n"))), id="formatting"),
        pytest.param(lambda text, real, _: (None, text.format(real)), id="a new test"),
    ],
)
def test_honest_changes_give_nothing(path, change):
    assert examined({path: change(*TESTS[path])}).findings == ()


@pytest.mark.parametrize(
    ("path", "helper", "call"),
    [
        ("web/a.test.ts", "function same(a) {{ {} }}\n{}", "same(sum(1, 2));"),
        ("tests/a.rs", "fn same(a: i32) {{ {} }}\n{}", "same(sum(1, 2));"),
        ("x_test.go", "{1}\nfunc same(t *testing.T, a int) {{ {0} }}", "same(t, sum(1, 2))"),
    ],
    ids=["ts", "rs", "go"],
)
def test_assertions_that_moved_into_a_helper_are_not_gone(path, helper, call):
    text, real, _ = TESTS[path]
    new = helper.format(real.replace("sum(1, 2)", "a"), text.format(call))
    assert examined({path: (text.format(real), new)}).findings == ()


@pytest.mark.parametrize("path", TESTS, ids=IDS.values())
def test_a_renamed_test_is_the_same_one(path):
    text, real, _ = TESTS[path]
    old = text.format(f"{real}\n{real.replace('3', '4')}")
    new = old.replace("adds", "sums").replace("TestAdds", "TestSums")
    [pair] = evidence({path: (old, new)}).pairs
    assert pair.old is not None
    assert pair.new is not None
    assert pair.how == "renamed"
