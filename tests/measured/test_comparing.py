"""Two iterations of a loop that measures, side by side; and why one came out as it did, from what was kept of it."""

import json
import shutil

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.iteration.diff import differences_of, side_by_side
from ralph_tracker.iteration.explain import explain
from ralph_tracker.store.iteration_snapshots import CHECKS
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.records_to_show import RecordHistory

ODD = "data/odd é\n.bin"
ODD_SHOWN = r"data/odd \u00e9\u000a.bin"


@pytest.fixture
def committed(run_before):
    return SealedRecords(run_before.paths)


@pytest.fixture
def document(committed):
    return lambda number: RecordHistory(committed).one(number).document


@pytest.fixture
def said(run_before, capsys):
    """Return a function that runs a verb on that loop and returns its exit code, what it printed and complained."""

    def ask(*words):
        code = run([*map(str, words), "--root", str(run_before.root)])
        out, err = capsys.readouterr()
        return code, out, err

    return ask


class TestDifferences:
    def test_tests_and_files_of_two_iterations_differ_by_name(self, committed):
        found = differences_of(committed, 0, 1)
        assert {kind: [change.id for change in changes] for kind, changes in found.tests.items() if changes} == {
            "new": ["s::t::t4", "s::t::t5"]
        }
        assert {change.path: change.status for change in found.files} == {
            "app.py": "modified",
            ODD: "added",
            "old.txt": "deleted",
            "results.xml": "modified",
        }
        assert (found.tests_note, found.files_note) == (None, None)

    def test_the_order_is_the_callers(self, committed):
        back = differences_of(committed, 1, 0)
        assert [change.id for change in back.tests["gone"]] == ["s::t::t4", "s::t::t5"]
        assert {change.status for change in back.files if change.path == "old.txt"} == {"added"}

    def test_files_that_are_lost_are_said_and_the_tests_go_on(self, committed, run_before):
        shutil.rmtree(run_before.paths.store)
        found = differences_of(committed, 0, 1)
        assert found.files is None
        assert "iteration 0" in found.files_note
        assert found.tests["new"]

    def test_tests_that_are_damaged_are_said_and_the_files_go_on(self, committed, run_before):
        (run_before.paths.iteration(1) / "tests.json").write_text("{")
        found = differences_of(committed, 0, 1)
        assert (found.tests, found.tests_note) == (
            None,
            "what iteration 1 measured is damaged; run `ralph-tracker verify`",
        )
        assert found.files

    def test_two_records_stand_side_by_side(self, committed, document):
        diff = side_by_side(document(1), document(2), differences_of(committed, 1, 2))
        assert (diff.before, diff.after, diff.classes) == (1, 2, ("forward", "plateau"))
        assert [change.name for change in diff.scores] == ["quality_score", "adjusted_score"]
        by_name = {change.name: change for change in diff.metrics}
        assert (by_name["test_count"].change, by_name["test_count"].verdict) == (-4, "worse")


class TestExplanation:
    def test_an_iteration_is_explained_from_what_was_kept(self, committed, document):
        found = explain(committed, document(2))
        assert found.alerts == {
            "it2-unproven": "a test turned green or went, and its earlier form could not be run on this source"
        }
        assert found.rule == (11, "no other rule applies")
        assert found.compared_with == 1
        assert [change.id for change in found.differences.tests["gone"]] == [f"s::t::t{n}" for n in range(2, 6)]
        assert found.problem is None

    def test_a_check_is_told_with_how_it_ended(self, committed, document):
        (check,) = explain(committed, document(2)).checks
        assert (check["name"], check["exit_code"], check["signal"]) == ("tests", 0, None)
        assert check["summary"].startswith("exit 0 after ")
        assert check["duration_s"] >= 0

    def test_a_baseline_differs_from_nothing(self, committed, document):
        found = explain(committed, document(0))
        assert (found.compared_with, found.differences.tests, found.differences.files) == (None, None, None)

    @pytest.mark.parametrize(
        "content", ["{", '{"checks": 1}', '{"checks": [1]}', '{"checks": [{"name": "tests"}]}', None]
    )
    def test_checks_that_were_not_kept_or_are_damaged_are_not_told(self, committed, document, run_before, content):
        path = run_before.paths.iteration(1) / CHECKS
        path.unlink() if content is None else path.write_text(content)
        assert explain(committed, document(1)).checks is None

    def test_thresholds_that_cannot_be_read_explain_nothing_and_are_named(self, committed, document, run_before):
        run_before.paths.loop_file.write_text("{")
        found = explain(committed, document(2))
        assert (found.alerts, found.rule) == ({}, None)
        assert "loop.yaml" in found.problem
        assert found.components

    def test_a_rule_that_is_not_kept_is_not_told(self, committed, document, run_before):
        (run_before.paths.iteration(2) / "state.json").write_text("{}")
        assert explain(committed, document(2)).rule is None


class TestDiff:
    def test_everything_that_differs_is_printed_the_patch_last(self, said):
        code, out, err = said("diff", 0, 1)
        assert (code, err) == (0, "")
        told, _, patch = out.partition("\n\n")
        lines = told.splitlines()
        assert lines[0] == "ralph-001: iteration 0 (baseline) → 1 (forward)"
        assert "Test Count          4       6      +2  better" in lines
        assert lines[lines.index("tests: 2 new") :] == [
            "tests: 2 new",
            "  new: s::t::t4 (passed)",
            "  new: s::t::t5 (passed)",
            "files: 1 added, 2 modified, 1 deleted",
            "  M       +4 -0  app.py",
            f"  A      binary  {ODD_SHOWN}".replace(r"\u00e9", "é"),
            "  D       +0 -1  old.txt",
            "  M       +1 -1  results.xml",
        ]
        assert patch.startswith("diff --git a/app.py b/app.py\n")
        assert "\n+def two():\n" in patch
        assert "\x1b" not in out

    def test_the_latest_is_meant_where_none_is_named(self, said):
        assert said("diff", 1) == said("diff", 1, 3)

    def test_stat_leaves_the_patch_out(self, said):
        whole, short = said("diff", 0, 1)[1], said("diff", 0, 1, "--stat")[1]
        assert whole.startswith(short)
        assert "diff --git" not in short
        document = json.loads(said("diff", 0, 1, "--stat", "--json")[1])
        assert {file["patch"] for file in document["files"]} == {None}
        patched = json.loads(said("diff", 0, 1, "--json")[1])
        assert [file["path"] for file in patched["files"] if file["patch"] is None] == [ODD]

    def test_an_iteration_and_itself_are_the_same(self, said):
        _, out, _ = said("diff", 2, 2)
        assert out.endswith("tests: the same outcomes\nfiles: the same content\n")

    @pytest.mark.parametrize("words", [(9,), (0, 9)], ids=["first", "second"])
    def test_an_iteration_that_is_not_on_record_is_refused(self, said, words):
        code, out, err = said("diff", *words)
        assert (code, out) == (1, "")
        assert err == "ralph-tracker: iteration 9 is not on record; loop ralph-001 has iterations 0 to 3\n"

    def test_scores_are_as_of_now(self, said):
        scores = {score["name"]: score for score in json.loads(said("diff", 0, 1, "--json")[1])["scores"]}
        listed = json.loads(said("history", "--json")[1])
        now = [record["iteration_metrics"]["adjusted_score"] for record in listed]
        assert (scores["adjusted_score"]["before"], scores["adjusted_score"]["after"]) == (now[0], now[1])

    def test_comparing_changes_nothing(self, said, run_before, own_files):
        before = own_files(run_before.root)
        said("diff", 0, 1)
        said("show", 1)
        assert own_files(run_before.root) == before

    def test_a_record_damaged_in_both_copies_is_named(self, said, run_before):
        for path in (run_before.paths.record(1), run_before.paths.iteration(1) / "metrics.json"):
            path.write_text("{")
        code, out, err = said("diff", 0, 1)
        assert (code, out) == (1, "")
        assert err.startswith("ralph-tracker: iteration 1: both copies of its record are damaged")


def test_a_patch_keeps_its_tabs_and_is_harmless_otherwise(workshop, capsys):
    workshop.start()
    workshop.write("app.py", "def one():\n\treturn '\x1b[31m'\r\n\x0cnext\n")
    workshop.turn()
    assert run(["diff", "0", "--root", str(workshop.root)]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert [line for line in lines if "31m" in line] == [r"+" + "\treturn '" + r"\u001b[31m'\u000d"]
    assert r"+\u000cnext" in lines


def test_many_tests_are_cut_and_the_number_of_the_rest_is_said(workshop, capsys):
    workshop.passing(30).start()
    workshop.results(other="passed").turn()
    out = {}
    for words in (("diff", "0", "--stat"), ("show", "1")):
        assert run([*words, "--root", str(workshop.root)]) == 0
        out[words[0]] = capsys.readouterr().out.splitlines()
    for verb, shown in (("diff", 20), ("show", 5)):
        gone = [line for line in out[verb] if line.startswith("  gone: ")]
        assert len(gone) == shown
        (rest,) = [line for line in out[verb] if line.startswith("  and ") and line.endswith(" gone")]
        assert rest == f"  and {30 - shown} more gone"


def test_show_tells_what_changed_what_ran_and_where_its_output_lies(said, workshop_at, tmp_path, capsys):
    shop = workshop_at((tmp_path / "loud").resolve())
    shop.root.mkdir()
    shop.prepare().write("measure.sh", 'cp results.xml "$1/junit.xml"; echo told; exit 3\n')
    shop.start()
    (shop.root / "app.py").chmod(0o755)
    shop.turn()
    assert run(["show", "--root", str(shop.root)]) == 0
    out = capsys.readouterr().out
    assert "since iteration 0\ntests: the same outcomes\nfiles: 1 modified\n" in out
    assert "  M       +0 -0  app.py (executable)\n" in out
    assert "\ncheck tests: exit 3 after " in out
    assert "\noutput of the checks: .aiwg/ralph/ralph-001/iterations/iteration-001/output/\n" in out
    assert max(map(len, out.splitlines())) <= 80
