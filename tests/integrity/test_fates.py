"""What became of each test: the table of docs/integrity.md, row by row."""

import pytest

from ralph_tracker.core.integrity_result import Finding, Severity
from ralph_tracker.core.metrics import TestResults
from ralph_tracker.integrity.fates import CaseHistory, fate, findings_of, still_failing
from tests.tables import table

P, F, S, NONE = "passed", "failed", "skipped", None
FILE = "tests/test_box.py"


def case(was, now, earlier, **more):
    edits = {FILE: "edited"} if more.get("edited", True) else {"conftest.py": "new"}
    return CaseHistory("t::box", was, now, earlier, 1, FILE, **{"edits": edits, "why": "assert 1 == 2", **more})


ROWS = [
    pytest.param(P, F, F, {}, None, id="broken"),
    pytest.param(P, F, P, {}, None, id="broken, stricter now"),
    pytest.param(P, P, P, {}, "held", id="edited, and it holds"),
    pytest.param(P, P, P, {"edited": False}, None, id="as it was"),
    pytest.param(P, NONE, P, {}, "held", id="gone, and it holds"),
    pytest.param(P, S, P, {}, "held", id="skipped, and it holds"),
    pytest.param(P, NONE, F, {}, "demand_changed", id="green and gone"),
    pytest.param(P, S, F, {"edited": False}, "demand_changed", id="green and skipped"),
    pytest.param(P, P, F, {}, "demand_changed", id="green and edited"),
    pytest.param(P, P, F, {"edited": False}, "outcome_forged", id="green, by settings"),
    pytest.param(P, NONE, F, {"lost": "gone"}, "retired", id="gone with its code"),
    pytest.param(P, NONE, F, {"lost": "moved"}, "demand_changed", id="gone, its code has moved"),
    pytest.param(P, NONE, NONE, {"lost": "gone"}, "retired", id="its file did not load without its code"),
    pytest.param(P, P, F, {"lost": "gone"}, None, id="renamed with its code"),
    pytest.param(P, P, F, {"lost": "moved"}, None, id="moved with its code"),
    pytest.param(P, NONE, NONE, {}, "unproven", id="gone, not run"),
    pytest.param(P, P, NONE, {}, None, id="edited, not run"),
    pytest.param(F, F, F, {}, None, id="as red as before"),
    pytest.param(F, P, P, {}, "fixed", id="fixed"),
    pytest.param(F, NONE, P, {}, "fixed", id="fixed and gone"),
    pytest.param(F, NONE, F, {}, "failure_hidden", id="red and gone"),
    pytest.param(F, S, F, {}, "failure_hidden", id="red and skipped"),
    pytest.param(F, NONE, NONE, {}, "failure_hidden", id="red and gone, not run"),
    pytest.param(F, NONE, F, {"lost": "gone"}, "removed_with_code", id="red, gone with its code"),
    pytest.param(F, S, F, {"lost": "gone"}, "failure_hidden", id="red, skipped with its code gone"),
    pytest.param(F, P, F, {}, "green_by_edit", id="red, green by an edit"),
    pytest.param(F, P, F, {"edited": False}, "green_by_edit", id="red, green by settings"),
    pytest.param(F, P, F, {"lost": "gone"}, "unproven", id="red, renamed with its code"),
    pytest.param(F, P, NONE, {}, "unproven", id="red, passes, not run"),
]


@table(("was", "now", "earlier", "more", "what"), ROWS)
def test_rows(was, now, earlier, more, what):
    assert fate(case(was, now, earlier, **more)) == what


@table(
    ("was", "now", "earlier", "more", "source", "severity"),
    [
        (F, P, F, {}, False, "CRITICAL"),
        (F, P, F, {}, True, "HIGH"),
        (P, P, F, {"edited": False}, False, "CRITICAL"),
        (P, P, F, {"edited": False}, True, "HIGH"),
        (F, NONE, F, {}, True, "CRITICAL"),
        (F, S, F, {"conditional": True}, False, "HIGH"),
        (F, NONE, NONE, {}, False, "HIGH"),
        (P, NONE, F, {}, False, "HIGH"),
        (P, NONE, NONE, {}, False, "HIGH"),
        (F, NONE, F, {"lost": "gone", "name": "lid"}, False, "HIGH"),
    ],
)
def test_severities(was, now, earlier, more, source, severity):
    row = case(was, now, earlier, **more)
    (finding,) = findings_of([(row, fate(row))], 3, source_changed=source)
    assert finding.severity.name == severity


@table(
    ("was", "now", "earlier", "more", "said"),
    [
        (
            P,
            NONE,
            F,
            {},
            "Iteration 3 removed 1 test that passed in iteration 1; with the source of 3 it fails (assert 1 == 2)",
        ),
        (
            P,
            S,
            F,
            {},
            "Iteration 3 skips 1 test that passed in iteration 1; with the source of 3 it fails (assert 1 == 2)",
        ),
        (
            P,
            P,
            F,
            {},
            "Iteration 3 edited 1 test that passed in 1; as it was in 1, it fails on the source of 3 (assert 1 == 2)",
        ),
        (
            P,
            P,
            F,
            {"edits": {"other.py": "edited"}},
            "1 test that passed in 1 was edited since; as it was in 1, it fails on the source of 3 (assert 1 == 2)",
        ),
        (
            F,
            NONE,
            F,
            {},
            (
                "Iteration 3 removed 1 test that failed in iteration 1; with the source of 3 it still fails "
                "(assert 1 == 2)"
            ),
        ),
        (
            F,
            P,
            F,
            {},
            (
                "1 test that failed passes in iteration 3; tests/test_box.py was edited, and as it was in 1, it fails "
                "on the source of 3 (assert 1 == 2)"
            ),
        ),
        (
            P,
            P,
            F,
            {"edited": False},
            (
                "1 test that nobody edited passes in iteration 3; conftest.py is new, and as it was in 1, it fails "
                "on the source of 3 (assert 1 == 2)"
            ),
        ),
        (
            P,
            NONE,
            NONE,
            {"why": "why"},
            "Iteration 3 removed 1 test that passed in 1; as it was in 1, it could not be run on the source of 3 (why)",
        ),
        (
            F,
            NONE,
            F,
            {"lost": "gone", "name": "lid"},
            "Iteration 3 removed 1 failing test together with 'lid', which it needed",
        ),
    ],
)
def test_a_person_reads_what_happened(was, now, earlier, more, said):
    row = case(was, now, earlier, **more)
    (finding,) = findings_of([(row, fate(row))], 3, source_changed=True)
    assert finding.message == f"{said}: t::box"
    assert (finding.file, finding.against, finding.tests) == (FILE, 1, ("t::box",))
    assert finding.command == "ralph-tracker integrity 3 --rerun"


def test_tests_of_a_file_with_the_same_fate_are_one_finding():
    rows = [
        case(P, NONE, F)._replace(test=name, file=file) for name, file in (("b", "x.py"), ("a", "x.py"), ("c", "y.py"))
    ]
    found = findings_of([(row, fate(row)) for row in rows], 3, source_changed=True)
    assert [each.tests for each in found] == [("a", "b"), ("c",)]
    assert found[0].message.startswith(
        "Iteration 3 removed 2 tests that passed in iteration 1; with the source of 3 they fail"
    )
    assert found[0].key != found[1].key


def test_what_is_no_question_is_no_finding():
    rows = [case(P, NONE, P), case(P, NONE, F, lost="gone"), case(F, P, P)]
    assert findings_of([(row, fate(row)) for row in rows], 3, source_changed=True) == ()


class TestStanding:
    FINDING = Finding("demand_changed", Severity.HIGH, "a fact", FILE, tests=("a", "b"), failure="as it was")

    @table(
        ("earlier", "new", "left"),
        [
            ({"a": F, "b": F}, {"a": P, "b": P}, ("a", "b")),
            ({"a": P, "b": F}, {"a": P, "b": P}, ("b",)),
            ({"a": F, "b": F}, {"a": F, "b": P}, ("b",)),
            ({"b": P}, {}, ("a",)),
            ({"a": P, "b": P}, {"a": P, "b": P}, None),
        ],
        ids=["both", "one passes", "one is reported red", "one was not run", "none"],
    )
    def test_it_ends_for_a_test_that_passes_or_hides_nothing(self, earlier, new, left):
        found = still_failing(self.FINDING, TestResults(earlier, messages={"b": "assert 3"}), new)
        assert (None if found is None else found.tests) == left
        if found is not None:
            assert found.failure == ("assert 3" if "b" in found.tests else "as it was")
