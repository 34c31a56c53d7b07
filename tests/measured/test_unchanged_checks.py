"""A check is not run again where what it reads did not change, and no record differs by that."""

import json
import random
import re
import sys

import pytest

from ralph_tracker.cli.app import run

# Each check notes that it ran, beside the project.
TESTS = (
    'echo tests >> ../ran; cat src/*.txt > /dev/null; cp results.xml "$1/junit.xml"; ! grep -q "<failure/>" results.xml'
)
LINT = 'echo lint >> ../ran; grep -Hn bad src/*.txt /dev/null | sed "s/:bad/:1: E1 bad/" > "$1/flake8.txt"; exit 0'


def checks(*, inputs):
    def given(*names):
        return {"inputs": list(names)} if inputs else {}

    tests = {"run": ["/bin/sh", "tests.sh", "{reports}"], "reports": ["{reports}/junit.xml"], "timeout": 20}
    lint = {"run": ["/bin/sh", "lint.sh", "{reports}"], "reports": ["{reports}/flake8.txt"], "format": "flake8-text"}
    return {
        "tests": {**tests, **given("src/**", "results.xml", "tests.sh")},
        "lint": {**lint, **given("src/**", "lint.sh"), "kind": "lint"},
    }


def prepared(shop, *, inputs=True):
    shop.write("tests.sh", TESTS).parent.joinpath("measure.sh").unlink()
    shop.write("lint.sh", LINT)
    shop.write("src/a.txt", "good\n")
    return shop.configure(checks(inputs=inputs))


@pytest.fixture
def shop(workshop):
    return prepared(workshop)


def ran(shop):
    """Return the checks that ran since this was asked last."""
    file = shop.root.parent / "ran"
    said = file.read_text().split() if file.exists() else []
    file.unlink(missing_ok=True)
    return said


def origins(shop, number):
    folder = shop.paths.iteration(number)
    return {
        each["name"]: each.get("from_iteration") for each in json.loads((folder / "checks.json").read_text())["checks"]
    }


def test_a_check_whose_inputs_are_the_same_is_not_run_and_says_where_it_was(shop, capsys):
    shop.start()
    assert ran(shop) == ["tests", "lint"]
    shop.write("notes.md", "more\n")
    record = shop.turn(fresh=False)
    assert ran(shop) == []
    assert origins(shop, 1) == {"tests": 0, "lint": 0}
    assert (record.metrics.tests_passed, record.metrics.lint_errors) == (4, 0)
    assert run(["feedback", "--root", str(shop.root)]) == 0
    names = "lint (iteration 0), tests (iteration 0)"
    assert f"\nNot run again, as what they read is the same: {names}.\n" in capsys.readouterr().out
    shop.write("notes.md", "even more\n")
    shop.turn(fresh=False)
    assert (ran(shop), origins(shop, 2)) == ([], {"tests": 0, "lint": 0}), "the iteration where they ran, not the last"
    assert run(["show", "2", "--root", str(shop.root)]) == 0
    assert " in iteration 0: what it reads is the same\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("src/a.txt", "bad\n", ["tests", "lint"]),
        ("src/new.txt", "good\n", ["tests", "lint"]),
        ("lint.sh", f"{LINT} #", ["lint"]),
        ("pytest.ini", "[pytest]\n", ["tests", "lint"]),
        ("src/.hidden", "x", ["tests", "lint"]),
        ("other/a.txt", "x", []),
    ],
)
def test_what_a_check_reads(shop, path, content, expected):
    shop.start()
    ran(shop)
    shop.write(path, content)
    shop.turn(fresh=False)
    assert ran(shop) == expected


def test_tests_that_failed_are_run_again(shop):
    shop.results(t1="passed", t2="failed").start()
    ran(shop)
    shop.write("notes.md", "more\n")
    shop.turn(fresh=False)
    assert ran(shop) == ["tests"]


def test_fresh_runs_all(shop):
    shop.start()
    ran(shop)
    shop.write("notes.md", "more\n")
    shop.turn(fresh=True)
    assert ran(shop) == ["tests", "lint"]


def test_back_to_an_earlier_form_after_a_rollback(shop):
    shop.start()
    shop.write("src/a.txt", "bad\n")
    shop.turn(fresh=False)
    ran(shop)
    shop.write("src/a.txt", "good\n")
    shop.turn(fresh=False)
    assert (ran(shop), origins(shop, 2)) == ([], {"tests": 0, "lint": 0})


def test_an_edited_report_is_not_taken(shop):
    shop.start()
    ran(shop)
    (shop.paths.iteration(0) / "reports/junit.xml").write_text('<testsuite name="s" tests="0"/>')
    shop.write("notes.md", "more\n")
    assert shop.turn(fresh=False).metrics.tests_passed == 4
    assert ran(shop) == ["tests", "lint"]


@pytest.mark.parametrize("expected", [[], ["tests", "lint"]], ids=["green", "red"])
def test_without_inputs_a_check_reads_the_whole_tree(shop, expected):
    """Going back finds the results of that tree; all run where one does, for it may use what another builds."""
    shop.configure(checks(inputs=False)).results(t1="passed", t2="failed" if expected else "passed").start()
    assert ran(shop) == ["tests", "lint"]
    for text in ("one\n", "two\n"):
        shop.write("notes.md", text)
        assert "not_run_again" not in str(shop.turn(fresh=False).notes)
        assert ran(shop) == ["tests", "lint"]
    shop.write("notes.md", "one\n")
    record = shop.turn(fresh=False)
    assert ran(shop) == expected
    note = "not_run_again: lint (iteration 1), tests (iteration 1); what they read is the same; --fresh runs them"
    assert (note in record.notes) is not bool(expected)


@pytest.mark.parametrize("inputs", [True, False])
def test_what_was_rolled_back_is_known_when_it_comes_again(shop, inputs):
    shop.configure(checks(inputs=inputs)).start()
    for _ in range(2):
        shop.write("src/a.txt", "bad\n")
        taken = shop.turn(fresh=False)
        shop.tracker.restore(0)
        back = shop.turn(fresh=False)
    assert ran(shop) == ["tests", "lint"] * 2
    assert "not_run_again: lint (iteration 1), tests (iteration 1)" in str(taken.notes)
    assert "tree, configuration and tools are those of iteration 0" in str(back.notes) or origins(shop, 4)["lint"] == 0


@pytest.mark.parametrize("change", ["needs", "outside", "writes"])
def test_what_runs_each_time(shop, change):
    made = checks(inputs=True)
    if change == "needs":  # what it needs is not known
        del made["tests"]["inputs"]
        made["lint"]["needs"] = ["tests"]
    elif change == "outside":  # a report in the tree is not kept
        made["lint"]["reports"] = ["flake8.txt"]
        del made["tests"]["inputs"]
        shop.write("lint.sh", LINT.replace("$1/", ""))
    else:
        shop.write("tests.sh", f"date +%N > written.txt; {TESTS}")
    shop.configure(made).start()
    ran(shop)
    shop.write("notes.md", "more\n")
    shop.turn(fresh=False)
    assert ran(shop) == ["tests", "lint"]


def test_a_check_that_another_needs_runs_with_it(shop):
    made = checks(inputs=True)
    made["lint"]["needs"] = ["tests"]
    shop.configure(made).start()
    ran(shop)
    shop.write("lint.sh", f"{LINT} #")
    shop.turn(fresh=False)
    assert ran(shop) == ["tests", "lint"]


def test_another_version_of_a_tool(shop, tool, tmp_path):
    made = checks(inputs=True)
    program = tmp_path / "bin" / "sh2"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nexec /bin/sh "$@"\n')
    program.chmod(0o755)
    made["lint"]["run"] = [str(program), "lint.sh", "{reports}"]
    shop.configure(made).start()
    ran(shop)
    program.write_text('#!/bin/sh\n# 2.0\nexec /bin/sh "$@"\n')
    shop.write("notes.md", "more\n")
    shop.turn(fresh=False)
    assert ran(shop) == ["lint"]


def _edits(seed, count):
    draw = random.Random(seed)
    for _ in range(count):
        path = draw.choice(["src/a.txt", "src/b.txt", "notes.md", "other/c.txt", "lint.sh", "results.xml", "back"])
        tests = {
            f"t{number}": draw.choice(["passed"] * 8 + ["failed", "skipped"]) for number in range(draw.randint(3, 6))
        }
        yield path, "".join(draw.choice(["good\n", "bad\n"]) for _ in range(draw.randint(0, 3))), tests


@pytest.mark.slow
@pytest.mark.sampled(one_of=5)
@pytest.mark.parametrize("seed", range(10))
def test_thirty_random_edits_have_the_same_records_with_and_without(workshop_at, tmp_path, seed):
    """Ten seeds are 300 edits of a loop with inputs, one without, and one that runs every check; prints what was saved.

    What is rolled back is restored in all.
    """
    shops, runs = {}, dict.fromkeys(("inputs", "whole tree", "fresh"), 0)
    for name in runs:
        root = tmp_path / name / "project"
        root.mkdir(parents=True)
        shops[name] = prepared(workshop_at(root.resolve()).prepare(), inputs=name == "inputs")
        shops[name].start()
    for path, text, tests in _edits(seed, 30):
        records = {}
        for name, shop in shops.items():
            ran(shop)
            if path == "results.xml":
                shop.results(**tests)
            elif path == "back":
                shop.tracker.restore(0)
            else:
                shop.write(path, f"{LINT} # {text!r}" if path == "lint.sh" else text)
            record = shop.turn(fresh=name == "fresh").to_dict()
            document = json.loads(re.sub(r"after \d+\.\d s", "after … s", json.dumps(record)))
            decided = shop.tracker.loop_decision(apply=True).decision
            records[name] = _without_origin((document, decided, shop.files().keys() - {"ralph-tracker.yaml"}))
            runs[name] += len(ran(shop))
        assert records["inputs"] == records["fresh"]
        assert records["whole tree"] == records["fresh"]
    sys.stdout.write(f"seed {seed}: {runs} checks ran in 30 iterations\n")
    assert runs["inputs"] < runs["whole tree"] < runs["fresh"]


_SAID = ("not_run_again: ", "not_measured_again: ")


def _without_origin(record):
    """Return a record without its tree, which differs by the configuration that names the inputs, and without times."""
    document, decided, files = record
    document["iteration_metrics"]["tree"] = None
    notes = document["iteration_metrics"]["notes"]
    document["iteration_metrics"]["notes"] = [note for note in notes if not note.startswith(_SAID)]
    for rerun in (document["iteration_metrics"]["integrity"] or {}).get("reruns", ()):
        del rerun["duration_s"]
    return document, decided, files
