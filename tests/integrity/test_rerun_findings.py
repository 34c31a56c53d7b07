"""What a run of earlier tests on new source shows: the table of docs/integrity.md, row by row."""

import pytest

from ralph_tracker.core.integrity_result import Finding, Severity
from ralph_tracker.core.metrics import TestResults
from ralph_tracker.integrity.rerun_findings import (
    RerunInputs,
    findings_of_rerun,
    gone_from_source,
    hidden_failures_without_rerun,
    missing_names,
    still_failing,
)
from tests.tables import table

P, F, S = "passed", "failed", "skipped"
FILE = "tests/test_box.py"
GONE = object()


def run(was, now, earlier, **more):
    """Return a re-run of one test: how it ended before, now and in its earlier form; GONE leaves it out."""
    given = {
        "number": 3,
        "old": {} if was is GONE else {"box": was},
        "new": {} if now is GONE else {"box": now},
        "earlier": TestResults({} if earlier is GONE else {"box": earlier}, messages={"box": "assert 1 == 2"}),
        "matches": {},
        "references": {FILE: 1},
        "edited_in": {FILE: 2},
        "settings": frozenset(),
        "hooked": frozenset(),
        "file_of": {"box": FILE}.get,
        "missing": lambda _: None,
        "source_changed": True,
        **more,
    }
    return RerunInputs(**given)


ONLY_SETTINGS = {"references": {"pytest.ini": 1}, "edited_in": {"pytest.ini": 2}, "settings": frozenset({"pytest.ini"})}
ONLY_HOOKS = {"references": {"conftest.py": 1}, "edited_in": {}, "hooked": frozenset({"conftest.py"})}
ONLY_DATA = {"references": {"tests/box.json": 1}, "edited_in": {"tests/box.json": 2}}
NAME_GONE = {"missing": lambda why: "lid" if "lid" in why or "assert" in why else None}


class TestShown:
    @table(
        ("was", "now", "earlier", "more", "rule", "severity"),
        [
            pytest.param(P, P, P, {}, None, None, id="the earlier form holds"),
            pytest.param(P, GONE, P, {}, None, None, id="gone, and it held"),
            pytest.param(P, P, S, {}, None, None, id="the earlier form is skipped"),
            pytest.param(F, F, F, {}, None, None, id="an ordinary regression"),
            pytest.param(GONE, P, F, {}, None, None, id="never seen before"),
            pytest.param(F, GONE, F, {}, "failure_hidden", "CRITICAL", id="red and gone"),
            pytest.param(F, S, F, {}, "failure_hidden", "CRITICAL", id="red and skipped"),
            pytest.param(F, P, F, {}, "green_by_edit", "HIGH", id="red and edited, with source"),
            pytest.param(F, P, F, {"source_changed": False}, "green_by_edit", "CRITICAL", id="red and edited alone"),
            pytest.param(P, P, F, {}, "demand_changed", "HIGH", id="green and edited"),
            pytest.param(P, GONE, F, {}, "demand_changed", "HIGH", id="green and gone"),
            pytest.param(P, S, F, {}, "demand_changed", "HIGH", id="green and skipped"),
            pytest.param(P, P, F, ONLY_DATA, "demand_changed", "HIGH", id="its data was edited"),
            pytest.param(P, P, F, ONLY_SETTINGS, "outcome_forged", "CRITICAL", id="settings decide"),
            pytest.param(P, GONE, F, ONLY_HOOKS, "outcome_forged", "CRITICAL", id="a hook decides"),
            pytest.param(F, P, F, ONLY_HOOKS, "outcome_forged", "CRITICAL", id="a hook makes a red one green"),
            pytest.param(P, GONE, F, NAME_GONE, "removed_with_code", "HIGH", id="gone with what it calls"),
            pytest.param(P, P, F, NAME_GONE, None, None, id="what it called has another name now"),
        ],
    )
    def test_rows(self, was, now, earlier, more, rule, severity):
        shown = findings_of_rerun(run(was, now, earlier, **more))
        assert [(each.rule, each.severity.name) for each in shown.findings] == (
            [] if rule is None else [(rule, severity)]
        )

    def test_words(self):
        (finding,) = findings_of_rerun(run(P, P, F)).findings
        assert finding.message == f"1 test of iteration 1 fails on this source: box; {FILE} was edited in iteration 2"
        assert (finding.failure, finding.command) == ("assert 1 == 2", "ralph-tracker integrity 3 --rerun")
        assert (finding.file, finding.against, finding.tests) == (FILE, 1, ("box",))

    @table(
        ("raised", "more", "rules"),
        [
            ({("demand_changed", "box"): 2}, {}, []),
            ({("demand_changed", "box"): 1}, {}, ["demand_changed"]),
            ({("green_by_edit", "box"): 2}, {}, ["demand_changed"]),
            ({("demand_changed", "lid"): 2}, {}, ["demand_changed"]),
            ({("demand_changed", "box"): 2}, {"edited_in": {}}, ["demand_changed"]),
            (
                {("demand_changed", "box"): 2},
                {"references": {"a.json": 1, "b.json": 1}, "edited_in": {"a.json": 1, "b.json": 2}},
                [],
            ),
            (
                {("demand_changed", "box"): 2},
                {"references": {"a.json": 1, "b.json": 1}, "edited_in": {"a.json": 3, "b.json": 1}},
                ["demand_changed"],
            ),
            (
                {("demand_changed", "box"): 2},
                {"references": {FILE: 1, "b.json": 1}, "edited_in": {FILE: 2, "b.json": 3}},
                [],
            ),
        ],
    )
    def test_an_open_finding_is_not_told_again_until_what_it_is_about_is_edited(self, raised, more, rules):
        assert [each.rule for each in findings_of_rerun(run(P, P, F, raised=raised, **more)).findings] == rules

    def test_several_tests_of_a_file_are_one_finding(self):
        two = run(P, P, F)._replace(
            old={"a": P, "b": P}, new={"a": P, "b": P}, earlier=TestResults({"a": F, "b": F}), file_of=lambda _: FILE
        )
        (finding,) = findings_of_rerun(two).findings
        assert finding.message.startswith("2 tests of iteration 1 fail on this source: a, b;")
        assert finding.failure is None

    def test_tests_of_two_files_are_two_findings(self):
        two = run(P, P, F)._replace(
            old={"a": P, "b": P},
            new={"a": P, "b": P},
            earlier=TestResults({"a": F, "b": F}),
            references={"a.py": 1, "b.py": 1},
            file_of=lambda test: f"{test}.py",
        )
        assert [(each.file, each.tests) for each in findings_of_rerun(two).findings] == [
            ("a.py", ("a",)),
            ("b.py", ("b",)),
        ]

    def test_the_reference_moves_once_a_finding_was_raised_or_where_its_subject_is_gone(self):
        assert findings_of_rerun(run(P, P, F)).moved == {FILE}
        assert findings_of_rerun(run(P, P, F, **ONLY_DATA)).moved == {"tests/box.json"}
        assert findings_of_rerun(run(P, P, F, **NAME_GONE)).moved == {FILE}
        assert findings_of_rerun(run(P, P, P)).moved == frozenset()

    def test_green_ones_that_went_with_their_code_are_retired_and_red_ones_stay_lost(self):
        assert findings_of_rerun(run(P, GONE, F, **NAME_GONE)).retired == {"box"}
        red = findings_of_rerun(run(F, GONE, F, **NAME_GONE))
        assert (red.retired, red.findings[0].message) == (
            frozenset(),
            "1 test went together with 'lid', which they need: box; 1 of them failed, and stay lost",
        )

    def test_a_file_that_does_not_load_for_what_is_gone_too(self):
        unloaded = TestResults({}, not_loaded={FILE: "ImportError: cannot import name 'lid'"})
        assert findings_of_rerun(run(P, GONE, GONE, **NAME_GONE)._replace(earlier=unloaded)).retired == {"box"}
        assert findings_of_rerun(run(P, GONE, GONE)._replace(earlier=unloaded)).findings == ()

    def test_a_test_under_another_name_ends_as_what_stands_for_it(self):
        renamed = {"matches": {"box": ("crate",)}, "new": {"crate": P}}
        assert [each.rule for each in findings_of_rerun(run(P, GONE, F, **renamed)).findings] == ["demand_changed"]
        assert findings_of_rerun(run(P, GONE, F, matches={"box": ("crate",)}, new={"crate": F})).findings == ()


class TestUnasked:
    @table(
        ("was", "now", "earlier", "told"),
        [(F, GONE, GONE, True), (F, S, GONE, True), (F, S, F, False), (P, GONE, GONE, False), (F, P, GONE, False)],
    )
    def test_a_red_one_that_nothing_was_run_for(self, was, now, earlier, told):
        finding = hidden_failures_without_rerun(run(was, now, earlier), ["box"])
        assert (finding is not None) is told
        if finding is not None:
            assert (finding.rule, finding.severity) == ("failure_hidden", Severity.HIGH)
            assert (
                finding.message
                == "1 test failed and is gone or skipped now; no earlier version of it could be run: box"
            )


class TestStanding:
    FINDING = Finding("demand_changed", Severity.HIGH, "a fact", FILE, tests=("a", "b"), failure="as it was")

    @table(
        ("earlier", "new", "left"),
        [
            ({"a": F, "b": F}, {"a": P, "b": P}, ("a", "b")),
            ({"a": P, "b": F}, {"a": P, "b": P}, ("b",)),
            ({"a": F, "b": F}, {"a": F, "b": P}, ("b",)),
            ({"b": P}, {}, ("a",)),
            ({"a": P, "b": S}, {"a": P, "b": P}, None),
        ],
        ids=["both", "one passes", "one is reported red", "one was not run", "none"],
    )
    def test_it_ends_for_a_test_that_passes_or_hides_nothing(self, earlier, new, left):
        found = still_failing(self.FINDING, TestResults(earlier, messages={"b": "assert 3"}), new)
        assert (None if found is None else found.tests) == left
        if found is not None:
            assert found.failure == ("assert 3" if "b" in found.tests else "as it was")


@table(
    ("failure", "names"),
    [
        ("ImportError: cannot import name 'lid' from 'box'", ("lid",)),
        ("ModuleNotFoundError: No module named 'box.lid'", ("lid",)),
        ("AttributeError: module 'box' has no attribute 'lid'", ("lid",)),
        ("AttributeError: 'Box' object has no attribute 'lid'", ("lid",)),
        ("NameError: name 'lid' is not defined", ("lid",)),
        ("Error: Cannot find module './lid'", ("lid",)),
        ("TypeError: box.lid is not a function", ("lid",)),
        ("a_test.go:3:2: undefined: box.Lid", ("Lid",)),
        ("error[E0425]: cannot find function `lid` in this scope", ("lid",)),
        ("error[E0432]: unresolved import `acme::lid`", ("lid",)),
        ("BoxTest.java:[3,5] cannot find symbol\n  symbol:   class Lid", ("Lid",)),
        ("assert 1 == 2", ()),
    ],
)
def test_which_names_a_failure_misses(failure, names):
    assert missing_names(failure) == names


@table(
    ("before", "after", "expected"),
    [
        ([("box.py", "def lid(): ...")], [("box.py", "")], True),
        ([("lid.py", "")], [], True),
        ([("box.py", "def lid(): ...")], [("crate.py", "def lid(): ...")], False),
        ([("box.py", "def lids(): ...")], [], False),
        ([("lid.py", "")], [("fix_plan.md", "- [x] remove lid")], True),
        ([("box.py", "def lid(): ...")], [("box.py", "# lid is gone\n"), ("loop.log", "removed lid")], True),
        ([("Lid.kt", "fun lid() {}")], [("Box.kt", "val lid = 1")], False),
        ([("notes.md", "lid")], [], False),
        ([("lid.py", "")], [("box.py", "def close(lid):\n    box = lid\n")], True),
        ([("lid.py", "def lid(): ...")], [("box.py", "def lid(): ...")], False),
        ([("lid.go", "func Lid() {}")], [("box.go", "func (b *Box) lid() {}")], False),
        ([("lid.py", "lid = 1")], [("box.py", "lid = 1")], False),
        ([("lid.py", "")], [("box/lid.py", "")], False),
        ([("lid/__init__.py", "")], [("box.py", "lid = box")], False),
        ([("lid/__init__.py", "")], [("box.py", "box.lid = 1")], True),
        ([("box.py", "lid = 1")], [("box.py", "print(lid)")], False),
    ],
    ids=[
        "removed",
        "its file is gone",
        "moved",
        "another name",
        "a plan tells of it",
        "a comment and a log tell of it",
        "in a language that is not looked into",
        "only a text had it",
        "its file is gone and others use the word",
        "moved from a file of its name",
        "moved from a file of its name, as a method",
        "moved from a file of its name, as a value",
        "its file is moved",
        "its folder is a value now",
        "its folder is gone",
        "still used",
    ],
)
def test_whether_the_source_lost_a_name(before, after, expected):
    assert gone_from_source("lid", before, after) is expected
