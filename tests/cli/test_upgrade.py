"""What an older version wrote is read and gone on with; what a newer one wrote is refused in one line."""

import json
import re
import shutil
from pathlib import Path

import pytest

LOOPS = Path(__file__).resolve().parents[2] / "fixtures" / "loops"
VERSIONS = sorted(LOOPS.glob("version-*"))
NEWER = r"written by a newer ralph-tracker \(schema 2, this one reads up to 1\); upgrade ralph-tracker"
READING = ("status", "history", "show", "diff 1", "report", "verify", "hook loop-decision", "gate")
WRITING = ("hook post-iteration", "hook post-loop", "select-best", "accept it3-x --reason x")


@pytest.fixture(params=VERSIONS, ids=lambda path: path.name)
def old(request, project):
    """Return a project whose loop another version has written, as fixtures/loops/make.sh says."""
    folder = project.root / ".aiwg/ralph"
    folder.mkdir(parents=True)
    shutil.copytree(request.param, folder / "ralph-001")
    (folder / "current").write_text("ralph-001\n")
    return project


def words(command, project, metrics):
    needs_metrics = command in {"gate", "hook post-iteration"}
    return [*command.split(), *(("--metrics", project.file("metrics.json", metrics)) if needs_metrics else ())]


def test_a_loop_of_the_first_version_is_kept_for_ever():
    assert LOOPS / "version-1" in VERSIONS


def test_an_old_loop_is_listed(old):
    assert [line.split() for line in old.ralph("history").out.splitlines()[1:]] == [
        ["0", "baseline", "1/3", "60.0%", "4", "75.8", "%", "n/a", "n/a", "continue"],
        ["1", "forward", "2/3", "66.5%", "2", "85.6", "%", "$0.25", "$0.025", "continue"],
        ["2", "regression", "1/2", "50.0%", "9", "66.7", "%", "n/a", "n/a", "rollback"],
        ["3", "forward", "2/3", "67.0%", "2", "85.7", "%", "n/a", "n/a", "escalate", "←", "best"],
    ]
    assert "  accepted: it2-coverage_regression\n" in old.ralph("status").out


@pytest.mark.parametrize("verb", ["show", "report"])
@pytest.mark.parametrize("number", range(4))
def test_every_record_of_an_old_loop_is_shown(old, verb, number):
    answer = old.ralph(verb, number)
    assert (answer.code, answer.err) == (0, "")
    assert f"teration {number}" in answer.out


def test_an_old_loop_is_compared_checked_and_decided(old):
    assert old.ralph("verify").out == "4 iterations checked: every file is there and matches its hash\n"
    assert "gone: b" in old.ralph("diff", "1", "2").out
    assert old.hook("loop-decision").code == 12


def test_an_old_loop_goes_on_where_it_was(old, metrics_of):
    tests = [{"id": name, "outcome": "passed"} for name in "abc"]
    counts = dict.fromkeys(("test_count", "tests_passed", "tests_failed"))
    record = old.must("post-iteration", metrics_of(tests=tests, coverage_percentage=70, lint_errors=0, **counts))
    assert (record["iteration_metrics"]["iteration"], record["iteration_metrics"]["previous_iteration"]) == (4, 3)
    assert (record["iteration_metrics"]["kept_before"], record["iteration_metrics"]["not_kept"]) == (3, None)
    assert record["iteration_metrics"]["classification"] == "forward"
    assert old.ralph("select-best", "--json").json["best_output_selection"]["selected_iteration"] == 4
    assert old.ralph("accept", "it2-test_deletion", "--reason", "it tested nothing").code == 0
    assert old.must("post-loop")["best_output_selection"]["total_iterations"] == 4
    assert old.ralph("verify").code == 0


def newer(path):
    text = path.read_text(encoding="utf-8")
    text, count = re.subn(r'("?schema_version"?: ?)1', r"\g<1>2", text, count=1)
    assert count == 1
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("command", [*READING, *WRITING])
def test_a_loop_that_a_newer_version_wrote_is_refused_by_every_verb(old, metrics_of, command):
    folder = old.root / ".aiwg/ralph/ralph-001"
    for path in (folder / "state.json", folder / "loop.yaml", *folder.glob("iterations/*/*.json")):
        if path.name != "metrics.json":
            newer(path)
    before = old.content()
    answer = old.ralph(*words(command, old, metrics_of()))
    assert answer.code == 1
    assert re.fullmatch(rf"\S*ralph-001/\S+: {NEWER}", answer.complaint)
    kept = {name: content for name, content in old.content().items() if name in before}
    assert kept == before


# What one verb reads of one document, where only that one is newer.
READ_BY = {
    "state.json": "status",
    "loop.yaml": "hook post-iteration",
    "progress/events.jsonl": "verify",
    "progress/trajectory.jsonl": "history",
    "iterations/iteration-003/state.json": "hook post-iteration",
    "iterations/iteration-003/tests.json": "hook post-iteration",
    "iterations/iteration-003/seal.json": "show",
    "iterations/iteration-002/seal.json": "verify",
}


@pytest.mark.parametrize("name", READ_BY)
def test_a_document_that_a_newer_version_wrote_is_named(old, metrics_of, name):
    newer(old.root / ".aiwg/ralph/ralph-001" / name)
    answer = old.ralph(*words(READ_BY[name], old, metrics_of()))
    assert answer.code == 1
    assert re.search(rf"{re.escape(Path(name).name)}: {NEWER}$", answer.complaint)


def test_doctor_says_that_the_loop_is_newer(old):
    newer(old.root / ".aiwg/ralph/ralph-001/state.json")
    found = {line["what"]: line for line in old.ralph("doctor", "--json").json["lines"]}
    assert re.search(NEWER, json.dumps(found["loop"]))
