"""Iterations checked for tampering: real files, real git, findings that live and end."""

import json

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.core.integrity_result import Rerun
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.metrics import TestResults
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.errors import StoreError
from ralph_tracker.iteration.earlier_tests import RerunResult
from ralph_tracker.iteration.tamper_check import EVERYTHING, Reruns, TamperCheck
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.write import LoopStore

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

# One check that is as fast as a shell: it hands on the report that lies in the tree.
HANDS_ON = {"run": ["/bin/sh", "measure.sh", "{reports}"], "reports": ["{reports}/junit.xml"], "timeout": 20}

GATE = "[tool.coverage.report]\nfail_under = {}\n"
NOQA = "import os  # noqa: F401\n"
FORCED = "class Box:\n    def __eq__(self, other):\n        return True\n"


@pytest.fixture
def gated(workshop):
    """Return a loop whose project demands 90 % coverage."""
    workshop.write("pyproject.toml", GATE.format(90))
    workshop.commit().start()
    return workshop


class TestFindings:
    def test_an_iteration_that_touches_no_test_is_clean_and_runs_nothing(self, gated):
        record = gated.turn()
        assert (record.integrity.verdict, record.integrity.found.reruns) == ("PASS", ())

    def test_a_lowered_gate_is_asked_until_it_is_back_and_judges_one_iteration(self, gated):
        gated.write("pyproject.toml", GATE.format(50))
        lowered = gated.turn()
        gated.write("app.py", "def one():\n    return 1\n\n\ndef two():\n    return 2\n")
        still = gated.turn()
        assert [record.integrity.verdict for record in (lowered, still)] == ["SUSPECT", "PASS"]
        assert [alert.id for alert in lowered.alerts] == ["it1-gate_lowered"]
        assert [alert.id for alert in still.open_alerts] == ["it1-gate_lowered"]
        gated.write("pyproject.toml", GATE.format(90))
        assert gated.turn().closed_alerts == ("it1-gate_lowered",)

    def test_what_stands_in_the_source_stays_open_as_long_as_its_line_and_judges_one_iteration(self, gated):
        gated.write("box.py", FORCED)
        forced = gated.turn()
        gated.write("box.py", f"# moved down\n{FORCED}")
        still = gated.turn()
        gated.write("box.py", "class Box:\n    pass\n")
        fixed = gated.turn()
        assert [record.integrity.verdict for record in (forced, still, fixed)] == ["SUSPECT", "PASS", "PASS"]
        assert [alert.id for alert in still.open_alerts] == ["it1-equality_overloaded"]
        assert fixed.closed_alerts == ("it1-equality_overloaded",)

    def test_accepting_it_makes_the_iteration_clean(self, gated, capsys):
        gated.write("pyproject.toml", GATE.format(50))
        gated.turn()
        summary = gated.tracker.accept("it1-gate_lowered", "the old code is gone")
        assert summary.integrity == "PASS"
        assert run(["integrity", "1", "--root", str(gated.root), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["verdict"] == "PASS"
        assert [(each["alert"], each["state"]) for each in told["findings"]] == [("it1-gate_lowered", "accepted")]

    def test_suppressions_are_counted_since_the_baseline(self, gated):
        gated.write("more.py", NOQA)
        assert gated.turn().integrity.found.suppressions["lint"] == 1
        gated.write("and_more.py", NOQA)
        record = gated.turn()
        assert record.integrity.found.suppressions["lint"] == 2
        assert record.integrity.verdict == "PASS"
        (gated.root / "more.py").unlink()
        assert gated.turn().integrity.found.suppressions["lint"] == 1

    def test_after_a_rollback_what_was_rolled_back_is_not_open(self, gated):
        gated.turn()
        gated.write("box.py", FORCED)
        gated.turn()
        gated.tracker.restore(1)
        record = gated.turn()
        assert (record.integrity.verdict, record.open_alerts) == ("PASS", ())

    def test_what_is_judged_again_after_damage_is_the_same(self, gated):
        gated.write("box.py", FORCED)
        gated.write("more.py", NOQA)
        before = gated.turn()
        (gated.paths.folder / "state.json").unlink()
        (gated.root / "box.py").unlink()
        after = gated.turn()
        assert (before.integrity.verdict, after.integrity.verdict) == ("SUSPECT", "PASS")
        assert after.closed_alerts == ("it1-equality_overloaded",)
        assert after.integrity.found.suppressions["lint"] == 1


class TestRecords:
    @pytest.mark.parametrize(
        ("path", "old", "new"),
        [
            pytest.param(
                "iterations/iteration-001/metrics.json", b'"quality_score":', b'"quality_Score":', id="record"
            ),
            pytest.param("iterations/iteration-001/measurement.json", b"test_count", b"test_Count", id="measurement"),
            pytest.param("loop.yaml", b"max_iterations: 20", b"max_iterations: 99", id="frozen configuration"),
        ],
    )
    def test_edited_ones_stay_open_until_they_are_as_sealed(self, workshop, path, old, new):
        workshop.start()
        workshop.turn()
        file = workshop.paths.folder / path
        text = file.read_bytes()
        assert old in text
        file.write_bytes(text.replace(old, new))
        edited = workshop.turn()
        assert edited.integrity.verdict == "TAMPERED"
        (finding,) = edited.integrity.found.findings
        assert (finding.rule, finding.file) == ("R6", f"{workshop.paths.shown}/{path}")
        again = workshop.turn()
        assert [alert.id for alert in again.open_alerts] == ["it2-records_edited"]
        assert "records_edited" not in {alert.type for alert in again.alerts}
        file.write_bytes(text)
        assert workshop.turn().closed_alerts == ("it2-records_edited",)


class Dying:
    """Run nothing: the store gives no answer for so many times, or something else breaks."""

    def __init__(self, errors):
        self.errors = errors

    def run(self, tree, earlier, files, reported=None, **more):
        if self.errors:
            raise self.errors.pop()
        return RerunResult(TestResults({"t::t0": "passed"}), Rerun(references={}, files=()))


def touched(gated):
    """Return a loop whose next iteration edits a test file, with what a check of it needs."""
    gated.write("tests/test_app.py", "def test_one():\n    assert 1 == 1\n")
    gated.turn()
    gated.write("tests/test_app.py", "def test_one():\n    assert 1\n")
    store = LoopStore(gated.paths)
    iteration_snapshots, state = IterationSnapshots(store), store.state(store.summary(), Thresholds())
    return iteration_snapshots, state, iteration_snapshots.capture(1, ((0, 1),)), TestResults({"t::t0": "passed"})


class TestWhatCannotBeLookedInto:
    def test_hostile_content_is_recorded_without_a_word_too_many(self, workshop):
        workshop.start()
        workshop.write("tests/test_nul.py", b"def test_x():\n    assert \0\n")
        workshop.write("tests/test_large.py", b"#" * 2_500_000)
        workshop.write("tests/test_wide.py", b"x = '" + b"a" * 1_500_000 + b"'\n")
        workshop.write("tests/test_broken.py", "def test_x(:\n")
        workshop.write("tests/test_deep.py", "def test_x():\n    assert " + "(" * 5_000 + ")" * 5_000 + "\n")
        workshop.write("tests/test_odd \udce9\n.py".encode("utf-8", "surrogateescape").decode("latin-1"), b"\xff\xfe")
        (workshop.root / "tests" / "test_link.py").symlink_to("/etc/hostname")
        reasons = workshop.turn().integrity.found.unread
        assert {"test_nul.py", "test_large.py", "test_wide.py"} <= {file.rpartition("/")[2] for file in reasons}
        assert all(reason and "\n" not in reason for reason in reasons.values())
        assert "tests/test_link.py" not in reasons

    def test_a_fault_of_our_own_is_told_and_clears_nothing(self, gated):
        gated.write("box.py", FORCED)
        iteration_snapshots, state, kept, tests = touched(gated)
        found = TamperCheck(
            iteration_snapshots, state, kept, tests, reruns=Reruns(Dying([ZeroDivisionError("1 / 0")]))
        ).integrity()
        assert "ZeroDivisionError" in found.unread[EVERYTHING]
        assert [finding.rule for finding in found.findings] == ["R3"]

    @pytest.mark.parametrize(("deaths", "is_judged"), [(1, True), (2, False)])
    def test_a_git_that_dies_once_leaves_no_doubt(self, deaths, is_judged, gated):
        iteration_snapshots, state, kept, tests = touched(gated)
        runner = Dying([StoreError("the disk was full")] * deaths)
        found = TamperCheck(iteration_snapshots, state, kept, tests, reruns=Reruns(runner)).integrity()
        assert (EVERYTHING not in found.unread) is is_judged

    def test_nothing_is_compared_where_no_files_are_kept(self, tmp_path, capsys):
        metrics = tmp_path / "metrics.yaml"
        metrics.write_text("testing: {test_count: 2, tests_passed: 2, tests_failed: 0}\n")
        where = ["--root", str(tmp_path)]
        assert run(["hook", "pre-loop", "--metrics", str(metrics), *where]) == 0
        capsys.readouterr()
        assert run(["integrity", *where]) == 1
        error = capsys.readouterr().err
        assert "its files and tests were not compared" in error
        assert "codebase.keep: always" in error

    def test_a_baseline_is_compared_with_nothing(self, workshop):
        workshop.start()
        store = LoopStore(workshop.paths)
        iteration_snapshots = IterationSnapshots(store)
        state = JudgeState(loop_id="ralph-001", thresholds=Thresholds())
        found = TamperCheck(iteration_snapshots, state, iteration_snapshots.capture(None, ()), None).integrity()
        assert (found.findings, found.references) == ((), {})


class TestGate:
    def test_a_forged_runner_does_not_pass_where_it_is_strict_and_nothing_is_recorded(self, gated, capsys):
        gated.results(t0="passed", t1="passed", t2="passed", t3="failed")
        gated.turn()
        gated.write("conftest.py", "import os\n\n\ndef pytest_sessionfinish(session):\n    os._exit(0)\n")
        gated.passing(4)
        code = run(["gate", "--strict", "--root", str(gated.root), "--json"])
        told = json.loads(capsys.readouterr().out)
        assert (code, told["integrity"]["verdict"]) == (3, "SUSPECT")
        assert "runner_forged" in [alert["type"] for alert in told["alerts"]]
        assert gated.tracker.store().summary().iteration == 1

    def test_what_is_suspect_passes_unless_it_is_strict(self, gated, capsys):
        gated.write("box.py", FORCED)
        assert run(["gate", "--root", str(gated.root)]) == 0
        capsys.readouterr()
        assert run(["gate", "--strict", "--root", str(gated.root)]) == 3
        assert "SUSPECT does not pass, since --strict was asked for" in capsys.readouterr().out

    def test_tests_that_did_not_run_are_unproven(self, workshop, capsys):
        workshop.results(t0="skipped").start()
        code = run(["gate", "--root", str(workshop.root)])
        out = capsys.readouterr().out
        assert code == 4
        assert "UNPROVEN" in out


class TestListing:
    def test_each_finding_with_its_place_both_texts_and_the_next_step(self, gated, capsys):
        gated.write("pyproject.toml", GATE.format(50))
        gated.results(t0="passed", t1="passed", t2="passed")
        gated.turn()
        assert run(["integrity", "--root", str(gated.root)]) == 0
        out = capsys.readouterr().out
        assert out.startswith("iteration 1: SUSPECT\n")
        assert "HIGH unproven it1-unproven (new)" in out
        assert "t::t3" in out
        assert "HIGH R5 it1-gate_lowered (new): pyproject.toml" in " ".join(out.split())
        assert "90" in out
        assert "50" in out
        assert "ralph-tracker accept" in out

    def test_history_status_and_show_say_the_verdict(self, gated, capsys):
        gated.write("pyproject.toml", GATE.format(50))
        gated.turn()
        for verb in ("history", "status", "show"):
            assert run([verb, "--root", str(gated.root)]) == 0
            assert "SUSPECT" in capsys.readouterr().out

    def test_nothing_speaks_against_a_clean_one(self, gated, capsys):
        gated.turn()
        assert run(["integrity", "1", "--root", str(gated.root)]) == 0
        assert "no findings" in capsys.readouterr().out
