"""Where the checks have measured nothing, nothing is selected: one line with the tool's words, and the next step."""

import json

import pytest

from ralph_tracker.cli.app import run

CRASHES = {"run": "echo 'error: no licence' >&2; exit 3", "reports": ["{reports}/junit.xml"]}
WHY = "Tests could not be measured: check `tests` did not write {reports}/junit.xml (exit 3 after"


@pytest.fixture
def unmeasured(workshop):
    """Return a project with a loop in which the tool of its tests has crashed from the beginning."""
    workshop.configure({"tests": CRASHES})
    workshop.start(allow_missing=True)
    workshop.turn()
    return workshop


@pytest.mark.parametrize("words", [("select-best",), ("hook", "post-loop"), ("select-best", "--json")])
def test_no_iteration_is_selected_whatever_asks(unmeasured, capsys, words):
    code = run([*words, "--root", str(unmeasured.root)])
    out, err = capsys.readouterr()
    said = [json.loads(out)["error"]["message"]] if "--json" in words else []
    assert (code, bool(out), err.count("\n")) == (1, bool(said), 1)
    assert all(WHY in text for text in [err, *said])
    assert "it said: error: no licence; fix that and record another iteration" in err
    assert unmeasured.tracker.store().status() == "running"
    assert not unmeasured.paths.selection.exists()


def test_a_person_may_name_one_all_the_same(unmeasured, capsys):
    words = ["hook", "post-loop", "--iteration", "1", "--reason", "Read by hand", "--root", str(unmeasured.root)]
    assert run(words) == 0
    assert "Selected iteration 1" in capsys.readouterr().out
    assert unmeasured.tracker.store().status() == "finished"


def test_one_that_was_measured_is_enough(workshop, tmp_path):
    fails_at_first = (
        f"test -e {tmp_path}/mended || {{ echo 'error: no licence' >&2; exit 3; }}; sh measure.sh {{reports}}"
    )
    workshop.configure({"tests": {**CRASHES, "run": fails_at_first}})
    workshop.start(allow_missing=True)
    (tmp_path / "mended").touch()
    workshop.turn()
    assert workshop.tracker.select_output().selection.selected.iteration == 1


def test_a_run_ends_with_that_line(workshop, capsys):
    workshop.configure({"tests": CRASHES})
    words = [
        "run",
        "--root",
        str(workshop.root),
        "--allow-missing",
        "--max-iterations",
        "1",
        "--retries",
        "0",
        "--",
        "sh",
        "-c",
        "echo >> notes.txt",
    ]
    code = run(words)
    out, err = capsys.readouterr()
    assert code == 1
    assert f"ralph-tracker: nothing was measured in ralph-001, so nothing is selected: {WHY}" in err
    assert "Selected" not in out
