"""The benchmark of judgement: its tables, a loop that ended well, its labels, what figures count, its clones."""

import importlib
import io
import json
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import pytest

from ralph_tracker import post_iteration, post_loop
from ralph_tracker.cli.app import run as cli
from ralph_tracker.tracker import Tracker
from tests.replay.conftest import grown

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / "benchmarks" / "judgement"
FIXTURES = CHECKOUT / "fixtures" / "judgement"
PAGE = CHECKOUT / "docs" / "judgement.md"
TABLES = FIXTURES / "tables.md"
NAMES = ("adversaries", "figures", "labelled", "outcomes", "replay", "run", "stopping")


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


@pytest.fixture(scope="module")
def printed():
    """Run the benchmark on the fixtures, and return what it prints."""
    return subprocess.run([sys.executable, FOLDER / "run.py"], capture_output=True, text=True, check=True).stdout


def run(bench, *words):
    """Return what the benchmark prints, or leaves with."""
    with redirect_stdout(io.StringIO()) as out:
        try:
            bench.run.main([str(word) for word in words])
        except SystemExit as left:
            return str(left)
    return out.getvalue()


def held(path, text, bless):
    if bless:
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_the_tables_of_the_fixtures_are_those_on_record(printed, bless):
    held(TABLES, printed, bless)


def test_the_page_shows_what_is_selected_today(printed, bless):
    page, mark = PAGE.read_text(encoding="utf-8"), "<!-- printed by make suite NAME=judgement -->\n"
    before, _, after = page.split(mark)
    first = printed.split("\n\n")[1]
    held(PAGE, f"{before}{mark}\n{first}\n\n{mark}{after}", bless)


@pytest.fixture(scope="module")
def loops(bench):
    return bench.labelled.loops_in(FIXTURES)


def test_where_removals_are_known_an_acceptable_iteration_is_taken_of_every_loop(bench, loops):
    """And the product takes what the rules of the walk alone keep, from outcomes and labels."""
    assert len(loops) >= 16
    for loop in loops:
        assert loop.labels.peak in loop.labels.acceptable, loop.name
        number = bench.outcomes.taken(bench.outcomes.judged(loop.facts, bench.outcomes.evidence_of(loop)))
        assert number in loop.labels.acceptable, loop.name
        assert number == bench.outcomes.walked(loop, with_evidence=True), loop.name


def test_by_names_alone_the_product_takes_what_the_walk_keeps_and_is_wrong_in_two_loops_at_most(bench, printed, loops):
    rows = [line.split(" | ") for line in printed.split("\n\n")[1].splitlines()[2:-1]]
    taken = {row[0].removeprefix("| "): row[2] for row in rows}
    assert {name: int(cell.split()[0]) for name, cell in taken.items()} == {
        loop.name: bench.outcomes.walked(loop, with_evidence=False) for loop in loops
    }
    assert sum(cell.endswith(" no") for cell in taken.values()) <= 2


@pytest.mark.parametrize("nothing_done_after", [False, True])
def test_what_only_looks_better_is_not_taken_and_what_is_honest_is(bench, loops, nothing_done_after):
    """An empty commit after it changes nothing."""
    wrong = []
    for loop in loops:
        ending = bench.adversaries.ending_of(loop)
        for kind, made_of in bench.adversaries.ADVERSARIES.items():
            case = made_of(ending)
            if not (case.with_nothing_done() if nothing_done_after else case).is_right():
                wrong.append((kind, loop.name))
    assert wrong == []


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
    assert "score 97.3 %, taken so far" in finished.status
    told = {name: finished.document[name] for name in ("best_iteration", "alerts", "verified")}
    assert told == {"best_iteration": 21, "alerts": [], "verified": True}
    assert finished.document["decision"]["action"] == "continue"


def test_history_and_report_of_a_loop_that_ended_well_go_forward_to_its_last_iteration(finished):
    rows = [line.split() for line in finished.history.splitlines() if line[:1].isdigit()]
    assert [row[1] for row in rows] == ["baseline", *["forward"] * 20, "plateau"]
    assert {row[7] for row in rows} == {"continue"}
    assert [row[0] for row in rows if row[-1] == "best"] == ["21"]
    assert "Take iteration 21." in finished.report
    alerts = [line for line in finished.report.splitlines() if line.startswith("- iteration ")]
    # Findings grow with the code here: that was told when they grew, and is over at the end.
    assert {line.split("**")[2].split(":")[0].strip() for line in alerts} == {"error_increase"}
    assert not [line for line in alerts if line.startswith("- iteration 21:")]


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        (4, (4,)),
        ("4-6", (4, 5, 6)),
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
        ("CORRECTION after running the tests: real regression (missed before)", True),
        ("silent-test-loss", True),
        ("no regression", False),
        ("honest removal, not a regression", False),
        ("progression", False),
    ],
)
def test_a_kind_is_a_regression_where_it_says_so(bench, kind, regression):
    assert bench.labelled.Event((1,), kind, "").is_regression is regression


def test_labels_have_keys_of_their_own_beside_the_events(bench, tmp_path):
    labels = """
acceptable: [3]
regressions: [1]
honest_removals: [2]
red_on_arrival: ["1-2"]
right_rollbacks: [1]
repository: somebody/something
range: a..b
events: [{iterations: 3, kind: regression}]
"""
    loop = loop_of(bench, tmp_path, ["...", "..F", ".. ", ".. "], labels)
    found = loop.labels
    assert (found.regressions, found.removals, found.red_on_arrival) == ({1, 3}, {2}, {1, 2})
    assert (found.right_rollbacks, found.repository, found.range) == ({1}, "somebody/something", "a..b")
    assert loop.retired == {"t2"}


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
    return bench.replay.Turn(number, classification, new, (), action, 11, target, score, score, verified=True)


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
    "labels",
    [
        "peak: 1\n",
        "acceptable: [7]\n",
        "acceptable: [0]\nregressions: [7]\n",
        "acceptable: [0]\nevents: [{iterations: x}]\n",
        "{",
    ],
)
def test_labels_that_cannot_be_used_are_told_in_one_line(bench, tmp_path, labels):
    told = run(bench, write(tmp_path / "made", rows_of("."), labels), "--labels")
    assert told.startswith(f"{tmp_path / 'made'}: ")


def test_a_loop_that_is_not_there_is_told_with_those_that_are(bench):
    assert "no loop nobody; there are adler" in run(bench, "--loop", "nobody")


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


def test_a_rollback_is_missed_where_it_is_labelled_as_right_and_nobody_is_told(bench, tmp_path):
    loop = loop_of(bench, tmp_path, ["..", ".F", ".F", ".F"], "acceptable: [0]\nright_rollbacks: [1, 2, 3]\n")
    said = played(bench, 4, it1={"action": "rollback", "target": 0}, it2={"action": "escalate"})
    assert bench.figures.figures_of(loop, said).missed_rollbacks == [3]


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


def test_labels_are_printed_as_they_are_understood_and_nothing_is_run(bench, tmp_path):
    labels = "acceptable: [1, 2]\nrepository: a/b\nrange: v0..v2\nevents: [{iterations: '1-2', kind: regression}]\n"
    shown = run(bench, write(tmp_path / "made", rows_of(".", ".", "."), labels), "--labels")
    assert shown.splitlines()[0] == "made: iterations 0 to 2, acceptable 1 2, peak 2, stop 2, regressions 1 2"
    assert [line.split() for line in shown.splitlines()[1:]] == [["a/b", "v0..v2"], ["R", "1", "2", "regression"]]


def test_in_a_clone_the_commits_are_replayed_and_what_is_taken_stands_beside_the_labels(bench, tmp_path, monkeypatch):
    """The reports in the commits have 5, 6 and 2 passing tests, then none, then 5."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    branch = grown(tmp_path / "clone")
    rows = rows_of(".....", "......", "..", "", ".....")
    for row, commit in zip(rows, branch.git("rev-list", "--reverse", "HEAD").split(), strict=True):
        row["commit"] = commit[:10]
    home = write(tmp_path / "loops" / "made", rows, "acceptable: [1]\nrange: v0..HEAD\n")
    told = run(bench, home.parent, "--clone", f"made={branch.root}")
    assert told.splitlines()[2] == f"| made | 1 | 1 | {rows[1]['commit']} | Add two |"


def test_a_folder_that_cannot_be_replayed_is_told_with_what_the_tracker_says(bench, tmp_path):
    home = write(tmp_path / "made", rows_of("."), "acceptable: [0]\nrange: a..b\n")
    assert run(bench, home, "--clone", f"made={tmp_path}").startswith("made: ralph-tracker replay a..b in ")
