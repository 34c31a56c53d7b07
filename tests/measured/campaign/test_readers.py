"""Many readers beside writers: nothing is lost, no record is torn, each read ends with 0, and none waits for a lock."""

import contextlib
import io
import json
import math
import os
import random
import re
import statistics
import time
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.tracker import Tracker
from tests.sweep import FULL, SEED

from .outsider import CHECKOUT

ROUNDS = 100 if FULL else 20
READS = (
    ("status", "--json"),
    ("history", "--json"),
    ("show", "--json"),
    ("report",),
    ("diff", "0", "--stat"),
    ("integrity",),
)
PAUSE_S = 2.0
# A read waits for no lock: what makes it slower than an idle one is the processor, which others have meanwhile.
LONGEST_S = 20
# The ratio depends on the cores and on what else they do; beyond this it is no longer that of the page.
SLACK = 5

pytestmark = [pytest.mark.faults, pytest.mark.slow]


@pytest.fixture
def project(driven):
    """Return a project whose files are kept, with a baseline."""
    (driven.root / "ralph-tracker.yaml").write_text("version: 1\ncodebase: {keep: always}\n")
    driven.start(loc_total=1000)
    return driven


def read(root: Path, words: tuple[str, ...]) -> tuple[float, str]:
    """Read once; return the seconds, and what is wrong ("" for nothing)."""
    out, err = io.StringIO(), io.StringIO()
    began = time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*words, "--root", str(root)])
    took = time.monotonic() - began
    return took, problem_of(words, code, out.getvalue(), err.getvalue())


def problem_of(words: tuple[str, ...], code: int, out: str, err: str) -> str:
    if code or err:
        return f"{words}: {code} {err}"
    if words[0] == "history":
        records = [each["iteration_metrics"] for each in json.loads(out)]
        if [each["iteration"] for each in records] != list(range(len(records))):
            return f"a number is missing: {[each['iteration'] for each in records]}"
        torn = [each["iteration"] for each in records if not is_whole(each)]
        return f"torn: {torn}" if torn else ""
    if words == ("show", "--json"):
        return "" if is_whole(json.loads(out)["iteration_metrics"]) else f"torn: {out}"
    return "" if out else f"{words}: printed nothing"


def is_whole(record: dict) -> bool:
    """Tell whether the two numbers that a writer gave an iteration belong together."""
    return not record["iteration"] or record["codebase"]["loc_total"] == 1000 + record["usage"]["turns"]


def reader(root: Path, done: Path, seed: str):
    """Return a reader that reads until the writers are done, with pauses as a person or a dashboard makes them."""

    def reading():
        draw, found = random.Random(seed), []
        while not done.exists():
            found.append(read(root, draw.choice(READS)))
            time.sleep(draw.uniform(0, 2 * PAUSE_S))
        return found

    return reading


def writer(root: Path, clock, metrics, number: int, count: int):
    def writing():
        for turn in range(count):
            mark = number * 1000 + turn
            (root / f"of-{number}.txt").write_text(f"{mark}\n" * 20)
            Tracker(root, None, clock, {}).post_iteration(metrics(loc_total=1000 + mark), usage={"turns": mark})

    return writing


def started(act) -> int:
    """Run it in a process of its own, and return that."""
    child = os.fork()
    if not child:
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return child


def promised_p99(readers: int) -> float | None:
    """Return the ratio in the table of docs/guarantees.md, None for so many readers that it does not have."""
    page = (CHECKOUT / "docs/guarantees.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| {readers} \| 100 \|.* ([0-9.]+) x \|$", page, re.MULTILINE)
    return float(found[1]) if found else None


def test_the_page_has_the_figure_of_fifty_readers():
    assert promised_p99(50) is not None


@pytest.mark.parametrize(("writers", "readers"), [(2, 20), (1, 50)], ids=["2 writers, 20 readers", "50 readers"])
def test_readers_see_whole_records_beside_writers(
    writers, readers, project, together, metrics, ask, tmp_path, record_property
):
    root, done, each = project.root, tmp_path / "done", 2 * ROUNDS // writers
    idle = statistics.median(read(root, words)[0] for _ in range(8) for words in READS)
    together(*[reader(root, done, f"{SEED}{number}") for number in range(readers)])
    writing = [started(writer(root, project.clock, metrics, number + 1, each)) for number in range(writers)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in writing]
    done.touch()
    found = [one for reads in together.wait() for one in reads]
    assert codes == [0] * writers
    wrong = [problem for _, problem in found if problem]
    assert wrong == [], (len(wrong), SEED)
    took = sorted(seconds for seconds, _ in found)
    p99 = took[math.ceil(len(took) * 0.99) - 1]
    assert took[-1] < LONGEST_S
    on_the_page = promised_p99(readers)
    assert on_the_page is None or p99 / idle < SLACK * on_the_page
    listed = json.loads(ask(root, "history", "--json").out)
    marks = [record["iteration_metrics"]["usage"]["turns"] for record in listed[1:]]
    assert len(marks) == writers * each
    for number in range(1, writers + 1):
        own = [mark for mark in marks if mark // 1000 == number]
        assert own == [number * 1000 + turn for turn in range(each)]
    figure = (
        f"{writers} writer(s), {readers} readers, {writers * each} iterations: {len(found)} reads, median "
        f"{statistics.median(took) / idle:.1f} x and p99 {p99 / idle:.1f} x an idle read of {idle * 1000:.0f} ms "
        f"({os.cpu_count()} cores; the page says {on_the_page or 'nothing of it'})"
    )
    record_property("figure", figure)
