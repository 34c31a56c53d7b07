"""Candidates are measured against one base: none is judged by another, and the order of their names changes nothing."""

import json
import os
import re
import shutil

import jsonschema
import pytest

from ralph_tracker.cli.compare import front_of
from ralph_tracker.cli.schema import SCHEMAS, schema_of
from ralph_tracker.core.metrics import FurtherMetric


@pytest.fixture
def ralph(branch, ralph):
    """Return what runs a command on the project; three candidates beside the base v0 are there."""
    for name, passing in (("better", 6), ("worse", 2), ("same", 4)):
        branch.git("checkout", "-q", "-b", name, "v0")
        branch.step(f"Try {name}", {f"{name}.txt": "1\n"}, passing=passing)
    branch.git("checkout", "-q", "-b", "work", "v0")
    return ralph


def document(answer):
    code, out, err = answer
    assert (code, err) == (0, "")
    return json.loads(out)


def test_they_are_ranked_with_what_each_gained_and_lost_in_whatever_order_they_are_named(ralph):
    found = document(ralph("compare", "worse", "better", "same", "--json", "--jobs", "3"))
    jsonschema.validate(found, schema_of(SCHEMAS["compare"]))
    ranking = {each["candidate"]: (each["gained"], each["lost"]) for each in found["ranking"]}
    names = list(ranking)
    assert (found["take"], names[0], names[-1]) == ("better", "better", "worse")
    assert ranking == {
        "better": (["s::t::t4", "s::t::t5"], []),
        "same": ([], []),
        "base": ([], []),
        "worse": ([], ["s::t::t2", "s::t::t3"]),
    }
    again = document(ralph("compare", "better", "same", "worse", "--json"))
    assert [each["candidate"] for each in again["ranking"]] == names
    scores = [[each[key] for each in one["ranking"]] for one in (found, again) for key in ("adjusted_score",)]
    assert scores[0] == scores[1]
    assert again["loop_id"] != found["loop_id"]


@pytest.mark.slow
def test_each_descends_from_the_base_alone(branch, ralph):
    found = document(ralph("compare", "worse", "better", "--json"))
    rows, _ = branch.tracker.project.store(found["loop_id"]).rows()
    assert [row["previous_iteration"] for row in rows] == [None, 0, 0]
    assert ralph("verify", "--loop-id", found["loop_id"])[0] == 0
    assert "2 candidates against" in ralph("compare", "worse", "better")[1]


@pytest.mark.slow
def test_no_candidate_is_called_rolled_back(branch, ralph):
    assert ralph("compare", "worse", "better")[0] == 0
    report = next(branch.root.glob(".aiwg/ralph/compare-*/reports/loop-report.md")).read_text()
    assert "olled back" not in report


@pytest.mark.slow
def test_a_folder_is_a_candidate_as_its_files_stand_and_git_gets_no_object(branch, ralph, tmp_path):
    folder = tmp_path / "attempt"
    shutil.copytree(branch.root, folder, ignore=shutil.ignore_patterns(".git", ".aiwg"))
    attempt = type(branch)(folder)
    attempt.passing(8)
    attempt.write("new.py", "def new():\n    return 1\n")
    before = branch.gits_own, branch.files(), attempt.files()
    found = document(ralph("compare", "better", str(folder), "--base", "v0", "--json"))
    assert found["take"] == str(folder)
    assert found["ranking"][0]["gained"] == ["s::t::t4", "s::t::t5", "s::t::t6", "s::t::t7"]
    assert (branch.gits_own, branch.files(), attempt.files()) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "ignored", ["", ".aiwg/\n"], ids=["our folder ignores itself", "the project ignores our folder"]
)
def test_the_project_itself_is_a_candidate_after_a_loop_was_begun_in_it(branch, ralph, ignored):
    branch.write(".gitignore", ignored)
    assert ralph("hook", "pre-loop")[0] == 0
    branch.passing(8)
    found = document(ralph("compare", "better", str(branch.root), "--base", "v0", "--json"))
    assert found["take"] == str(branch.root)
    rows, _ = branch.tracker.project.store(found["loop_id"]).rows()
    assert len(rows) == 3


def test_select_puts_the_best_in_place_and_names_its_undo(branch, ralph):
    assert ralph("compare", "same")[0] == 0  # its loop is the current one
    before = branch.files()
    code, out, _ = ralph("compare", "worse", "better", "--select")
    assert (code, branch.files()["better.txt"]) == (0, b"1\n")
    assert "Take better " in out
    (undo,) = re.findall(r"`ralph-tracker (restore --undo .+?)`", " ".join(out.split()))
    assert ralph(*undo.split())[0] == 0
    assert branch.files() == before


def test_where_none_is_better_that_is_said(ralph):
    assert "Take none: no candidate is better than the base" in ralph("compare", "worse")[1]


@pytest.mark.slow
def test_one_that_breaks_a_test_of_the_base_is_never_first_whatever_it_gains(branch, ralph):
    branch.git("checkout", "-q", "-b", "breaking", "v0")
    breaks = "sed 's,name=.t0.>,&<failure/>,' results.xml > \"$1/junit.xml\"\n"
    branch.step("Gain and break", {"measure.sh": breaks}, passing=9)
    branch.git("checkout", "-q", "work")
    found = document(ralph("compare", "worse", "breaking", "better", "--json"))
    ranking = [each["candidate"] for each in found["ranking"]]
    assert (found["take"], ranking) == ("better", ["better", "base", "breaking", "worse"])
    gained = {each["candidate"]: len(each["gained"]) for each in found["ranking"]}
    assert gained["breaking"] > gained["better"]


def test_a_question_about_the_best_is_asked_first(branch, ralph):
    branch.git("checkout", "-q", "-b", "boxed", "v0")
    forced = "class Box:\n    def __eq__(self, other):\n        return True\n"
    branch.step("Compare nothing", {"box.py": forced}, passing=7)
    branch.git("checkout", "-q", "work")
    code, out, _ = ralph("compare", "boxed", "better")
    told = " ".join(out.split())
    assert (code, "Take boxed " in told) == (0, True)
    assert told.index("Question: Iteration 1: box.py:2: ") < told.index("rank candidate")
    assert re.search(r"`ralph-tracker accept it1-equality_overloaded --loop-id compare-\S+ --reason WHY`", told)
    found = document(ralph("compare", "better", "boxed", "--json"))
    assert [each["alert"] for each in found["questions"]] == ["it2-equality_overloaded"]


@pytest.mark.slow
def test_a_candidate_that_does_not_build_is_named_with_its_first_error(branch, ralph):
    branch.git("checkout", "-q", "-b", "broken", "v0")
    branch.step("Try", {"measure.sh": "echo 'app.c:3:5: error: first' >&2\nexit 1\n"})
    branch.git("checkout", "-q", "work")
    for _ in range(2):  # the second time it is on record, and measured again in vain
        assert "  broken: Does not build: app.c:3:5: error: first\n" in ralph("compare", "broken")[1]


def failing_at_first(left, times):
    """Return what makes `t0` fail in the first so many runs."""
    left.write_text("x" * times)
    return f"test -s {left} && {{ truncate -s -1 {left}; set -- $1 's,name=.t0.>,&<failure/>,'; }}"


@pytest.mark.slow
def test_a_test_that_fails_once_is_flaky_and_not_lost_and_no_commit_is_measured_a_third_time(branch, ralph):
    branch.git("checkout", "-q", "-b", "flaky", "v0")
    ran = branch.root.parent / "ran"
    fails_once = f"echo . >> {ran}; {failing_at_first(branch.root.parent / 'left', 1)}"
    branch.step("Flaky", {"measure.sh": f'{fails_once}; sed "${{2:-}}" results.xml > "$1/junit.xml"\n'})
    branch.git("checkout", "-q", "work")
    for _ in range(2):
        found = document(ralph("compare", "flaky", "--json"))
        (flaky,) = (each for each in found["ranking"] if each["candidate"] == "flaky")
        assert (flaky["flaky"], flaky["lost"]) == (["s::t::t0"], [])
        assert ran.read_text().count(".") == 2


@pytest.mark.slow
def test_reruns_name_the_tests_that_do_not_always_end_the_same(branch, ralph):
    branch.git("checkout", "-q", "-b", "flaky", "v0")
    fails_twice = failing_at_first(branch.root.parent / "left", 2)
    branch.step("Flaky", {"measure.sh": f'{fails_twice}; sed "${{2:-}}" results.xml > "$1/junit.xml"\n'})
    branch.git("checkout", "-q", "work")
    plain = document(ralph("compare", "flaky", "--json"))
    assert plain["ranking"][-1]["lost"] == ["s::t::t0"]
    found = document(ralph("compare", "flaky", "--reruns", "2", "--json"))
    (flaky,) = (each for each in found["ranking"] if each["candidate"] == "flaky")
    assert (flaky["flaky"], flaky["lost"]) == (["s::t::t0"], [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing",), "nothing: neither a commit here nor a folder"),
        (("better", "--base", "v9"), "v9: git knows no such commit here"),
    ],
)
def test_what_cannot_be_compared_is_one_line(ralph, words, said):
    code, out, err = ralph("compare", *words)
    assert (code, out) == (1, "")
    assert said in err


@pytest.mark.parametrize("place", ["deep/.gitignore", ".gitattributes", "nested/.git/HEAD"])
def test_a_pipe_where_git_takes_in_a_folder_is_one_line(branch, ralph, place):
    pipe = branch.write(place, "")
    pipe.unlink()
    os.mkfifo(pipe)
    code, out, err = ralph("compare", str(branch.root), "--base", "v0")
    assert (code, out) == (1, "")
    assert f"{pipe}: a pipe or a device, which git would wait for; remove it" in err


@pytest.mark.slow
def test_of_two_numbers_the_front_has_the_candidates_that_none_beats_in_both(branch, ralph):
    for name, (latency, size) in {"fast": (5, 20), "small": (9, 10), "neither": (9, 20), "breaks": (1, 1)}.items():
        branch.git("checkout", "-q", "-b", name, "v0")
        lines = f"METRIC latency={latency} ms\nMETRIC size={size} kB\n"
        branch.step(f"Try {name}", {"numbers.txt": lines}, passing=0 if name == "breaks" else 4)
    branch.git("checkout", "-q", "work")
    tests = {"run": "sh measure.sh {reports}", "reports": ["{reports}/junit.xml"]}
    goal = {"from": "speed", "direction": "down"}
    branch.configure(
        {"tests": tests, "speed": {"run": "cat numbers.txt", "kind": "metrics"}},
        metrics={"latency": {**goal, "unit": "ms"}, "size": {**goal, "unit": "kB"}},
        objectives=["latency", "size"],
    )
    asked = ("compare", "fast", "small", "neither", "breaks")
    found = document(ralph(*asked, "--json"))
    assert {each["candidate"]: each["front"] for each in found["ranking"]} == {
        **dict.fromkeys(("fast", "small"), True),
        **dict.fromkeys(("base", "neither", "breaks"), False),
    }
    assert next(each for each in found["ranking"] if each["candidate"] == "fast")["metrics"] == {
        "latency": 5,
        "size": 20,
    }
    _, out, _ = ralph(*asked)
    assert "Pareto front of latency and size: " in out
    assert "5 ms" in out


@pytest.mark.slow
def test_numbers_are_read_from_reports_too(branch, ralph):
    branch.git("checkout", "-q", "-b", "fast", "v0")
    branch.step("Try", {"numbers.txt": "METRIC latency=5 ms\n"}, passing=4)
    branch.git("checkout", "-q", "work")
    tests = {"run": "sh measure.sh {reports}", "reports": ["{reports}/junit.xml"]}
    speed = {"run": "cp numbers.txt {reports}/speed.txt", "reports": ["{reports}/speed.txt"], "kind": "metrics"}
    goal = {"from": "speed", "direction": "down", "unit": "ms"}
    branch.configure({"tests": tests, "speed": speed}, metrics={"latency": goal}, objectives=["latency"])
    for _ in ("measured", "from the cache"):
        found = {each["candidate"]: each for each in document(ralph("compare", "fast", "--json"))["ranking"]}
        assert (found["fast"]["metrics"], found["fast"]["front"]) == ({"latency": 5}, None)
        assert found["base"]["metrics"] == {"latency": None}


def test_the_front_has_what_no_other_beats_in_all():
    points = {
        number: [FurtherMetric("time", time, "ms", "down"), FurtherMetric("rate", rate, "ops/s", "up")]
        for number, (time, rate) in enumerate([(10.0, 5.0), (9.0, 5.0), (12.0, 8.0), (9.0, 5.0), (1.0, None)])
    }
    assert front_of({**points, 5: []}) == {1, 2, 3}
