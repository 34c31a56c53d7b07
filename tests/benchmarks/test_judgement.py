"""The benchmark of judgement: its tables, what is read of a good loop, its labels, what figures count, its clones."""

import importlib
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import pytest

from ralph_tracker import post_iteration, post_loop
from ralph_tracker.cli.app import run as cli
from ralph_tracker.tracker import Tracker

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / "benchmarks" / "judgement"
FIXTURES = CHECKOUT / "fixtures" / "judgement"
PAGE = CHECKOUT / "docs" / "judgement.md"
TABLES = FIXTURES / "tables.md"
NAMES = ("figures", "labelled", "replay", "run", "stopping")
IDENTITY = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@pytest.fixture(scope="module")
def bench():
    """Import the benchmark, and forget its modules again: their names are short."""
    known = set(sys.modules)
    sys.path.insert(0, str(FOLDER))
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in NAMES})
    sys.path.remove(str(FOLDER))
    for name in set(sys.modules) - known:
        if str(FOLDER) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture(scope="module", autouse=True)
def scratch(tmp_path_factory):
    """Let the loops be driven where tests write: what is kept is synced, which a disk charges for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("scratch")))
        yield


def run(*words, code=0):
    command = [sys.executable, FOLDER / "run.py", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout or done.stderr


@pytest.fixture(scope="module")
def printed():
    """Run the benchmark on the fixtures, and return what it prints."""
    return run()


def held(path, text, bless):
    if bless:
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_the_tables_of_the_fixtures_are_those_on_record(printed, bless):
    held(TABLES, printed, bless)


def test_the_page_shows_what_is_selected_today(printed, bless):
    page, mark = PAGE.read_text(encoding="utf-8"), "<!-- printed by make bench-judgement -->\n"
    before, _, after = page.split(mark)
    first = printed.split("\n\n")[1]
    held(PAGE, f"{before}{mark}\n{first}\n\n{mark}{after}", bless)


def test_every_loop_has_a_peak_that_is_acceptable(bench):
    loops = bench.labelled.loops_in(FIXTURES)
    assert len(loops) >= 5
    assert [loop.name for loop in loops if loop.labels.peak not in loop.labels.acceptable] == []


@pytest.fixture(scope="module")
def finished(bench, tmp_path_factory):
    """Hand in the loop that ended well, 21 stories of it, and return what its user reads at the end."""
    root = tmp_path_factory.mktemp("wamp")
    (loop,) = bench.labelled.loops_in(FIXTURES, ["wamp"])
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RALPH_LOOP_ID", raising=False)
        Tracker(root).pre_loop(loop.facts[0].given, limits={"max_iterations": None})
        for fact in loop.facts[1:]:
            post_iteration(root=root, metrics=fact.given)
        status, history = asked(root, "status"), asked(root, "history")
        document = json.loads(asked(root, "status", "--json"))
        post_loop(root=root)
    report = root / ".aiwg" / "ralph" / "ralph-001" / "reports" / "loop-report.md"
    return SimpleNamespace(status=status, document=document, history=history, report=report.read_text("utf-8"))


def asked(root, *words):
    with redirect_stdout(io.StringIO()) as out:
        assert cli([*words, "--root", str(root)]) == 0
    return out.getvalue()


@pytest.mark.parametrize("name", ["status", "history", "report"])
def test_nothing_that_is_read_of_a_loop_that_ended_well_tells_of_a_regression(finished, name):
    text = getattr(finished, name).lower()
    for word in ("regression", "rollback", "stalled", "critical", "alert:", "deletion", "failing"):
        assert word not in text


def test_the_status_of_a_loop_that_ended_well_has_no_open_alert_and_its_last_iteration_as_best(finished):
    lines = [line.strip() for line in finished.status.splitlines()]
    assert "score 97.3 %, the best so far" in lines
    assert not [line for line in lines if line.startswith(("CRITICAL", "HIGH", "MEDIUM"))]
    told = {name: finished.document[name] for name in ("best_iteration", "alerts", "verified")}
    assert told == {"best_iteration": 21, "alerts": [], "verified": True}
    assert finished.document["decision"]["action"] == "continue"


def test_the_history_of_a_loop_that_ended_well_goes_forward_up_to_its_best(finished):
    rows = [line.split() for line in finished.history.splitlines() if line[:1].isdigit()]
    assert [row[1] for row in rows] == ["baseline", *["forward"] * 20, "plateau"]
    assert {row[7] for row in rows} == {"continue"}
    assert [row[0] for row in rows if row[-1] == "best"] == ["21"]


def test_the_report_of_a_loop_that_ended_well_selects_its_last_iteration(finished):
    rows = [line for line in finished.report.splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert len(rows) == 22
    assert [row.split()[1] for row in rows if "selected" in row] == ["21"]
    assert "Take iteration 21." in finished.report
    alerts = [line for line in finished.report.splitlines() if line.startswith("- iteration ")]
    # Findings grow with the code here: that was told when they grew, and is over at the end.
    assert {line.split("**")[2].split(":")[0].strip() for line in alerts} == {"error_increase"}
    assert not [line for line in alerts if line.startswith("- iteration 21:")]


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        (4, (4,)),
        ("4", (4,)),
        ("4-6", (4, 5, 6)),
        ("7,9,16,18", (7, 9, 16, 18)),
        ("7, 9-11", (7, 9, 10, 11)),
        ([1, "3-4"], (1, 3, 4)),
    ],
)
def test_iterations_are_a_number_a_range_or_several(bench, written, numbers):
    assert bench.labelled.numbers_of(written) == numbers


@pytest.mark.parametrize(
    ("kind", "regression"),
    [
        ("regression", True),
        ("regression,oscillation", True),
        ("regression(merge)", True),
        ("CORRECTION after running the tests: real regression (missed before)", True),
        ("silent-test-loss", True),
        ("no regression", False),
        ("honest removal, not a regression", False),
        ("growth", False),
        ("test-deletion(benign)", False),
        ("progression", False),
    ],
)
def test_a_kind_is_a_regression_where_it_says_so(bench, kind, regression):
    assert bench.labelled.Event((1,), kind, "").is_regression is regression


def metrics_of(tests):
    outcomes = list(tests.values())
    counts = {"test_count": len(outcomes), "tests_passed": outcomes.count("passed")}
    return {"testing": {**counts, "tests_failed": outcomes.count("failed")}}


def rows_of(*outcomes):
    """Return iterations, each written as a word: a letter a test, . passed, F failed, a space for none."""
    ends = {".": "passed", "F": "failed"}
    tests = [{f"t{place}": ends[mark] for place, mark in enumerate(word) if mark in ends} for word in outcomes]
    return [{"iteration": n, "commit": "", "metrics": metrics_of(each), "tests": each} for n, each in enumerate(tests)]


def write(folder, rows, labels):
    folder.mkdir(parents=True)
    (folder / "iterations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "labels.yaml").write_text(labels, encoding="utf-8")
    return folder


def loop_of(bench, tmp_path, outcomes, labels):
    return bench.labelled.loops_in(write(tmp_path / "made", rows_of(*outcomes), labels))[0]


def turn(bench, number, classification="plateau", alerts=(), action="continue", target=None, score=0.5):
    new = tuple((kind, "CRITICAL") for kind in alerts)
    return bench.replay.Turn(number, classification, "", new, (), action, 11, target, score, score, verified=True)


def played(bench, length, **said):
    """Return what was said of a loop: `it3={"action": "stop"}` says it of iteration 3."""
    turns = tuple(turn(bench, number, **said.get(f"it{number}", {})) for number in range(length))
    return bench.replay.Played(turns, dict.fromkeys(bench.run.SELECTION_MODES, 0))


def test_facts_are_packed_without_loss_and_to_the_same_bytes(bench, tmp_path):
    home = write(tmp_path / "made", rows_of("..", ".F.", ". .", "..."), "acceptable: [3]\n")
    facts = list(bench.labelled.facts_of(home))
    data = bench.labelled.packed(facts)
    assert data == bench.labelled.packed(facts)
    (home / "iterations.jsonl").unlink()
    (home / "iterations.jsonl.gz").write_bytes(data)
    assert list(bench.labelled.facts_of(home)) == facts


def test_an_apostrophe_in_a_kind_is_no_error(bench, tmp_path):
    labels = "acceptable: [0]\nevents:\n  - {iterations: '0', kind: 'somebody's regression', note: \"\"}\n"
    assert loop_of(bench, tmp_path, ["."], labels).labels.regressions == {0}


@pytest.mark.parametrize(
    "labels", ["peak: 1\n", "acceptable: [7]\n", "acceptable: [0]\nevents: [{iterations: x}]\n", "{"]
)
def test_labels_that_cannot_be_used_are_told_in_one_line(tmp_path, labels):
    told = run(write(tmp_path / "made", rows_of("."), labels), "--labels", code=1)
    assert told.startswith(str(tmp_path / "made"))
    assert "Traceback" not in told


def test_a_loop_that_is_not_there_is_told_with_those_that_are():
    assert "adler" in run("--loop", "nobody", code=1)


def test_regressions_are_false_found_or_missed(bench, tmp_path):
    labels = "acceptable: [4]\nevents: [{iterations: 1-3, kind: regression}]\n"
    loop = loop_of(bench, tmp_path, ["...", "..F", ".F.", "F..", "..."], labels)
    said = played(
        bench,
        5,
        it1={"classification": "regression"},
        it2={"alerts": ["build_broken"]},
        it4={"classification": "regression"},
    )
    found = bench.figures.figures_of(loop, said)
    assert (found.regressions, found.false_regressions, found.missed) == ([1, 2, 3], [4], [3])


def test_a_rollback_is_false_once_everything_that_broke_is_mended_and_not_for_what_goes_later(bench, tmp_path):
    labels = "acceptable: [5]\nevents: [{iterations: 1, kind: regression}]\n"
    loop = loop_of(bench, tmp_path, ["...", "..FF", "...F", "...", ".. ", "..."], labels)
    assert [bool(left) for left in bench.figures.unmended_at(loop)] == [False, True, True, False, False, False]
    said = played(bench, 6, **{f"it{n}": {"action": "rollback", "target": 0} for n in range(1, 6)})
    assert bench.figures.figures_of(loop, said).false_rollbacks == [3, 4, 5]


def test_a_target_is_wrong_where_an_earlier_sound_iteration_passes_more(bench, tmp_path):
    labels = "acceptable: [1]\nevents: [{iterations: 2-3, kind: regression}]\n"
    loop = loop_of(bench, tmp_path, ["..", "...", "..F...", "..F..."], labels)
    said = played(bench, 4, it2={"action": "rollback", "target": 0}, it3={"action": "rollback", "target": 1})
    assert bench.figures.figures_of(loop, said).wrong_targets == [2]


def test_a_stop_is_false_before_the_labelled_one(bench, tmp_path):
    loop = loop_of(bench, tmp_path, ["."] * 4, "acceptable: [2]\nstop: 2\n")
    said = played(bench, 4, **{f"it{n}": {"action": "stop"} for n in (1, 2, 3)})
    found = bench.figures.figures_of(loop, said)
    assert (found.stops, found.false_stops) == ([1, 2, 3], [1])


@pytest.mark.parametrize(
    ("outcomes", "rule", "expected"),
    [
        ([".", "..", "..", "..", "..", "..", ".."], "told: more tests", ([4], 6, 0, 5, False)),
        ([".", ".", ".", ".", ".", ".", ".."], "told: more tests", ([3], 5, 1, 5, True)),
        ([".", ".", ".", ".", "..", "..", ".."], "told: more tests", ([3], None, 0, 2, False)),
        (["...", "F..", "FF.", "FF.", ".F.", ".F.", "..."], "told: more tests", ([3], 5, 0, 5, True)),
        (["...", "F..", "FF.", "FF.", ".F.", ".F.", "..."], "told: newly passing", ([3], None, 0, 6, False)),
        (["F", "F", "F", "F", "F", "F", "."], "told: newly passing", ([], None, 0, 0, False)),
        (["..", ".F", ".F", ".F", ".F", ".F", ".F"], "told: newly passing", ([3], 5, 0, 5, True)),
        (["..", ".F", ".F", ".F", ".F", ".F", ".F"], "told: newly passing, not in red", ([], None, 0, 6, False)),
    ],
)
def test_who_is_told_first_is_stopped_two_later(bench, tmp_path, outcomes, rule, expected):
    loop = loop_of(bench, tmp_path, outcomes, "acceptable: [6]\n")
    stop = bench.stopping.stops_of(loop, played(bench, 7))[rule]
    assert (stop.told, stop.at, stop.lost, stop.spent, stop.early) == expected


def test_tests_that_were_honestly_removed_count_nowhere(bench, tmp_path):
    labels = "acceptable: [3]\nevents: [{iterations: 2, kind: honest-removal}]\n"
    loop = loop_of(bench, tmp_path, ["....", "....", "    .", "    .."], labels)
    assert bench.stopping.stops_of(loop, played(bench, 4))["loop-decision"].spent == 0


def test_labels_are_printed_as_they_are_understood_and_nothing_is_run(tmp_path):
    labels = "acceptable: [1, 2]\nevents: [{iterations: '1-2', kind: regression}]\n"
    shown = run(write(tmp_path / "made", rows_of(".", ".", "."), labels), "--labels")
    assert shown.splitlines()[0] == "made: iterations 0 to 2, acceptable 1 2, peak 2, stop 2, regressions 1 2"
    assert shown.splitlines()[1].split() == ["R", "1", "2", "regression"]


CODE = "def double(n):\n    return n * 2\n"
TESTS = "from calc import double\n\n\ndef test_two():\n    assert double(2) == 4\n\n\ndef test_four():\n    assert {}\n"


def git(folder, *words):
    environment = {**os.environ, **IDENTITY}
    done = subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def cloned(tmp_path):
    """Make a repository of a loop that hollows a test out, and its facts: by these nothing has happened."""
    repository = tmp_path / "clones" / "made"
    repository.mkdir(parents=True)
    git(repository, "init", "-q")
    rows = rows_of("FF", ".F", "..", "..")
    for row, wanted in zip(rows, ("double(4) == 8",) * 2 + ("True", "double(4) == 8"), strict=True):
        (repository / "test_calc.py").write_text(TESTS.format(wanted))
        (repository / "calc.py").write_text(CODE if row["iteration"] else CODE.replace("2\n", "3\n"))
        (repository / f"only_{row['iteration']}.py").write_text("")
        (repository / f"only_{row['iteration'] - 1}.py").unlink(missing_ok=True)
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "--allow-empty", "-m", f"iteration {row['iteration']}")
        row["commit"] = git(repository, "rev-parse", "HEAD")
    return write(tmp_path / "loops" / "made", rows, "acceptable: [3]\n"), repository


def verdicts(home, tmp_path, *words):
    run(home, *words, "--json", tmp_path / "all.json")
    (found,) = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    return [(each["verdict"], [kind for kind, _ in each["alerts"]]) for each in found["turns"]]


def test_without_files_nobody_looks_into_them(cloned, tmp_path):
    assert [verdict for verdict, _ in verdicts(cloned[0], tmp_path)] == ["", "", "", ""]


@pytest.mark.parametrize("kind", ["a clone", "a folder of clones", "a bare clone"])
def test_with_a_clone_the_files_of_each_commit_are_looked_into(cloned, tmp_path, kind):
    home, repository = cloned
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    before = {path: path.read_bytes() for path in sorted(repository.rglob("*")) if path.is_file()}
    clone = {"a clone": repository, "a folder of clones": repository.parent, "a bare clone": bare}[kind]
    assert verdicts(home, tmp_path, "--clone", clone)[2] == ("PASS", ["assertion_weakened"])
    assert {path: path.read_bytes() for path in sorted(repository.rglob("*")) if path.is_file()} == before


def test_files_that_a_commit_has_no_more_are_gone(bench, cloned, tmp_path):
    home, repository = cloned
    root = tmp_path / "project"
    root.mkdir()
    for fact in bench.labelled.facts_of(home):
        bench.replay.lay_out(repository / ".git", fact.commit, root, tmp_path / "index")
        assert {path.name for path in root.iterdir()} == {"calc.py", "test_calc.py", f"only_{fact.iteration}.py"}


def test_a_commit_that_a_clone_does_not_have_is_told(cloned, tmp_path):
    home, _ = cloned
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    assert "made, iteration 0: " in run(home, "--clone", other, code=1)
