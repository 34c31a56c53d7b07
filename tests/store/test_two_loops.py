"""Two loops in one project, two writers each, and a reader: real processes, real git; nothing is lost or mixed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.store.iteration_snapshots import ARTIFACTS, IterationSnapshots
from ralph_tracker.store.layout import MANIFEST, LoopPaths
from ralph_tracker.store.write import LoopStore

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

LOOPS = {"one": (1, 2), "two": (3, 4)}
LINES = 100_000
# A writer marks the file that it alone writes, the cost and the metrics of each iteration with the same number.
WRITER = f"""
import sys
from pathlib import Path
from ralph_tracker import post_iteration
root, loop_id, writer, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
for turn in range(count):
    mark = writer * 1000 + turn
    (root / f"of-{{writer}}.txt").write_text(f"{{mark}}\\n" * 50)
    metrics = {{
        "testing": {{"test_count": 1, "tests_passed": 1, "tests_failed": 0}},
        "codebase": {{"file_count": 4, "loc_total": {LINES} + mark}},
    }}
    post_iteration(root=root, loop_id=loop_id, metrics=metrics, usage={{"turns": mark}})
"""
# A check that says that it has begun and waits for an answer, where there is somebody to give it.
CHECK = """\
if [ -e {go_on} ]; then {grip}; read answer <{go_on}; fi
echo '<testsuite name="s" tests="1"><testcase classname="t" name="a"/></testsuite>' >"$1/junit.xml"
"""
Start = Callable[..., subprocess.Popen[str]]
READS = (("history", "--json"), ("status", "--json"), ("show", "--json"), ("report",))


def ended(process: subprocess.Popen[str]) -> str:
    """Return what a command printed, once it has ended well."""
    out, error = process.communicate(timeout=120)
    assert (process.returncode, error) == (0, "")
    return out


@pytest.fixture
def project(driven, drive, metrics) -> Path:
    """Return a project in git with a loop for each name, whose files are kept."""
    root: Path = driven.root
    (root / "ralph-tracker.yaml").write_text("version: 1\ncodebase: {keep: always}\n")
    (root / "app.py").write_text("def one():\n    return 1\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    testing = {"test_count": 1, "tests_passed": 1, "tests_failed": 0}
    for loop_id in LOOPS:
        loop = drive(root, loop_id).named(loop_id)
        loop.pre_loop({"testing": testing, "codebase": {"file_count": 4, "loc_total": LINES}})
    return root


@pytest.fixture
def start(project: Path) -> Iterator[Start]:
    """Start programs in the project, with a plain environment; those that have not ended by then end with the test."""
    environment = {name: os.environ[name] for name in ("PATH", "TMPDIR", "RALPH_TRACKER_TRUST") if name in os.environ}
    environment |= {"HOME": str(project.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    started = []

    def called(*words: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(words, cwd=project, env=environment, stdout=pipe, stderr=pipe, text=True))
        return started[-1]

    yield called
    for process in started:
        process.terminate()
        with process:
            pass


@pytest.fixture
def tracker(start: Start) -> Start:
    """Start the command as it is installed."""
    return lambda *words: start(str(Path(sys.executable).with_name("ralph-tracker")), *words)


@pytest.fixture
def writer(start: Start, project: Path) -> Callable[[str, int, int], subprocess.Popen[str]]:
    """Start a process that records iterations with its mark: `writer(loop, its number, how many)`."""
    return lambda loop_id, number, count: start(
        sys.executable, "-c", WRITER, str(project), loop_id, str(number), str(count)
    )


def mark_of(document: dict[str, Any]) -> int | None:
    """Return the mark of a record, None for the baseline's; cost and metrics of one have the same."""
    record = document["iteration_metrics"]
    assert {"adjusted_score", "classification", "integrity"} <= record.keys()
    if not record["iteration"]:
        return None
    mark = record["usage"]["turns"]
    assert record["codebase"]["loc_total"] == LINES + mark
    return mark


def listed(text: str) -> list[int]:
    """Return the marks of a listing from iteration 1 on, having seen that no number is left out or doubled."""
    documents = json.loads(text)
    assert [document["iteration_metrics"]["iteration"] for document in documents] == list(range(len(documents)))
    return [mark_of(document) for document in documents][1:]


def read(ask: Any, root: Path, loop_id: str) -> list[int]:
    """Look at a loop in every way there is, and return the marks that are listed."""
    told = {words[0]: ask(root, *words, "--loop-id", loop_id) for words in READS}
    assert [(one.code, one.err) for one in told.values()] == [(0, "")] * len(READS)
    marks = listed(told["history"].out)
    assert len(marks) <= json.loads(told["status"].out)["iteration"]
    mark_of(json.loads(told["show"].out))
    return marks


def kept_mark(root: Path, loop_id: str, number: int) -> int:
    """Return the mark in the files of an iteration, having seen that the plain ones are those of its snapshot."""
    paths = LoopPaths(root, loop_id)
    folder, iteration_snapshots = paths.iteration(number), IterationSnapshots(LoopStore(paths))
    tree = json.loads((folder / MANIFEST).read_bytes())["tree"]
    assert iteration_snapshots.tree(number) == tree
    plain = {path.name: path.read_bytes() for path in folder.glob(f"{ARTIFACTS}/*")}
    assert plain == {name: iteration_snapshots.store.read(tree, name) for name in plain}
    writer = mark_of(json.loads((folder / "metrics.json").read_bytes())) // 1000
    (mark,) = set(iteration_snapshots.store.read(tree, f"of-{writer}.txt").split())
    return int(mark)


@pytest.mark.parametrize("each", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_no_iteration_is_lost_or_mixed_and_a_reader_sees_whole_records_only(project, writer, tracker, ask, each):
    writers = [writer(loop_id, number, each) for loop_id, numbers in LOOPS.items() for number in numbers]
    seen: dict[str, list[int]] = {loop_id: [] for loop_id in LOOPS}
    while any(process.poll() is None for process in writers):
        for loop_id, before in seen.items():
            seen[loop_id] = read(ask, project, loop_id)
            assert seen[loop_id][: len(before)] == before
    assert [ended(process) for process in writers] == [""] * len(writers)
    for loop_id, numbers in LOOPS.items():
        marks = read(ask, project, loop_id)
        by_writer = [[mark for mark in marks if mark // 1000 == number] for number in numbers]
        assert by_writer == [[number * 1000 + turn for turn in range(each)] for number in numbers]
        assert len(marks) == 2 * each
        assert [kept_mark(project, loop_id, number) for number in range(1, len(marks) + 1)] == marks
        ended(tracker("verify", "--loop-id", loop_id))


def test_neither_a_reader_nor_the_other_loop_waits_for_a_check_which_waits_until_they_are_done(
    project, writer, tracker, ask, lifeline, tmp_path
):
    (project / "check.sh").write_text(CHECK.format(grip=lifeline.grip, go_on=tmp_path / "go-on"))
    checks = {"tests": {"run": ["/bin/sh", "check.sh", "{reports}"], "reports": ["{reports}/junit.xml"]}}
    (project / "ralph-tracker.yaml").write_text(json.dumps({"version": 1, "checks": checks}))
    hook = ("--loop-id", "measured", "--json")
    ended(tracker("hook", "pre-loop", *hook))
    os.mkfifo(tmp_path / "go-on")
    waiting = tracker("hook", "post-iteration", "--fresh", *hook)
    assert lifeline.wait() == b"\n"
    for words in READS:
        assert ask(project, *words, "--loop-id", "measured").code == 0
    assert read(ask, project, "one") == []
    ended(writer("one", 1, 1))
    assert read(ask, project, "one") == [1000]
    assert waiting.poll() is None
    answer = os.open(tmp_path / "go-on", os.O_RDWR)
    os.write(answer, b"\n")
    recorded = json.loads(ended(waiting))["iteration_metrics"]
    os.close(answer)
    assert (recorded["iteration"], recorded["testing"]["tests_passed"]) == (1, 1)
