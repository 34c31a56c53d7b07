"""Measure CPU and memory of the judge and the hooks, as ratios within one run.

Compare the ratios, not the seconds, which depend on the machine. CPU is user plus system time, of the process or of its
children. Loops are kept in memory where the machine has a folder there, and file syncs are left out (os.fsync does
nothing here): what it takes to make a file differs by half on a disk with many, and measures its file system.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from table import Table, against_floor, floor_cpu

from ralph_tracker import post_iteration, pre_loop

BIN = Path(sys.executable).parent
TRACKER = str(BIN / "ralph-tracker")
HOOK = [TRACKER, "agent", "hook", "claude-code"]
LONG_LOOP = int(os.environ.get("RALPH_TRACKER_BENCH_ITERATIONS", "10000"))
MEMORY = "/dev/shm"  # noqa: S108  # of Linux
NAMES, ALERTS = 100_000, 1_000
METRICS = {
    "testing": {"test_count": 80, "tests_passed": 80, "tests_failed": 0, "coverage_percentage": 81.5},
    "quality": {"lint_errors": 2, "lint_warnings": 3, "type_errors": 0, "build_status": "success"},
    "codebase": {"file_count": 31, "loc_total": 4500, "complexity_score": 3.2},
}


def commands(table: Table, folder: Path) -> None:
    """Compare whole commands with `python -c pass` of the same environment."""
    floor = floor_cpu(folder)
    for arguments in (["--version"], ["hook", "loop-decision"]):
        ratio = against_floor([TRACKER, *arguments], folder)
        name = " ".join(arguments)
        table.row(f"{name} against python -c pass ({floor * 1000:.0f} ms)", f"{ratio:.1f} x", "6 x", held=ratio <= 6)


def agent_hooks(table: Table, folder: Path) -> None:
    """Compare the hook of Claude Code, which runs at every tool call of every session, with `python -c pass`."""
    (folder / "outside").mkdir()
    read = {"tool_name": "Read", "tool_input": {"file_path": "a.py"}, "tool_response": {"content": "x" * 20_000}}
    event = json.dumps({"hook_event_name": "PostToolUse", "session_id": "s", **read}).encode()
    for where, root, limit in (("outside of a loop", folder / "outside", 3), ("at a tool call in a loop", folder, 6)):
        ratio = against_floor(HOOK, root, stdin=event)
        what = f"agent hook claude-code, {where}, against python -c pass"
        table.row(what, f"{ratio:.1f} x", f"{limit} x", held=ratio <= limit)
    end_of_turn(table, folder)


def end_of_turn(table: Table, folder: Path) -> None:
    """Compare the hook at the end of a turn, which evaluates the whole session, with `python -c pass`."""
    journal = folder / ".aiwg" / "ralph" / "ralph-001" / "agent-events.jsonl"
    common = {"schema_version": 1, "at": "2026-01-01T00:00:00Z", "session": "s", "prompt": "p"}
    lines = []
    for number in range(20_000):
        told = {"tool": "Read", "call": f"toolu_{number:024}", "args": f"{number:016x}", "result": f"{number:016x}"}
        lines.append({**common, "event": "PostToolUse", **told, "error": False, "file": f"/project/part{number}.py"})
        lines.append({**common, "event": "PostToolBatch", "calls": [told["call"]]})
    event = json.dumps({"hook_event_name": "PostToolBatch", "session_id": "s", "tool_calls": []}).encode()
    limit = 6
    for turns in (25, 20_000):
        journal.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines[: turns * 2]))
        ratio = against_floor(HOOK, folder, stdin=event)
        what = f"agent hook claude-code, at the end of turn {turns}, against python -c pass"
        table.row(what, f"{ratio:.1f} x", f"{limit} x", held=ratio <= limit)
    journal.unlink()


def iterations(folder: Path, numbers: range) -> list[float]:
    """Record iterations with metrics handed in and return the CPU seconds of each."""
    taken = []
    for number in numbers:
        metrics = {**METRICS, "testing": {**METRICS["testing"], "coverage_percentage": 60 + number * 7 % 30}}
        before = time.process_time()
        post_iteration(root=folder, metrics=metrics)
        taken.append(time.process_time() - before)
    return taken


def long_loop(table: Table, folder: Path) -> None:
    """Compare the last iterations of a long loop with its first."""
    early = statistics.median(iterations(folder, range(1, 31))[5:])
    table.row("post_iteration with metrics, in process", f"{early * 1000:.1f} ms", "20 ms", held=early <= 0.020)
    iterations(folder, range(31, LONG_LOOP - 29))
    # Both ends are measured again, alternating, in case the machine has become slower.
    other = folder / "short"
    start(other)
    iterations(other, range(1, 11))
    late, short = [], []
    for _ in range(30):
        late += iterations(folder, range(1))
        short += iterations(other, range(1))
    ratio = statistics.median(late) / statistics.median(short)
    table.row(f"iteration {LONG_LOOP} against iteration 10 to 40", f"{ratio:.2f} x", "1.1 x", held=ratio <= 1.1)


def large_loop(table: Table, folder: Path) -> None:
    """Judge 100,000 tests by name beside 1,000 open alerts."""
    names = [f"tests/test_module_{number // 100}.py::test_case_{number}" for number in range(NAMES)]
    for number in range(1, ALERTS + 1):
        outcomes = ["failed"] * number + ["passed"] * (ALERTS - number)
        tests = [{"id": name, "outcome": outcome} for name, outcome in zip(names, outcomes, strict=False)]
        post_iteration(root=folder, metrics={"tests": tests})
    tests = [{"id": name, "outcome": "failed" if n < ALERTS else "passed"} for n, name in enumerate(names)]
    post_iteration(root=folder, metrics={"tests": tests})
    probe = (
        "import json,os,resource,sys,time; os.fsync=lambda _: None\n"
        "from ralph_tracker import post_iteration\n"
        "import ralph_tracker.tracker\n"
        "tests=json.load(open(sys.argv[2])); start=time.process_time()\n"
        "record=post_iteration(root=sys.argv[1], metrics={'tests': tests})\n"
        "peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(time.process_time()-start, peak, len(record.open_alerts))\n"
    )
    handed_in = folder / "tests.json"
    handed_in.write_text(json.dumps(tests), encoding="utf-8")
    command = [sys.executable, "-c", probe, str(folder), str(handed_in)]
    subprocess.run(command, capture_output=True, check=True)  # compiles what was edited since the last call
    seconds, kilobytes, alerts = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    megabytes = int(kilobytes) / (1024 if sys.platform == "linux" else 1024 * 1024)
    what = f"{NAMES} tests by name, {alerts} open alerts"
    table.row(what, f"{float(seconds):.2f} s CPU", "0.5 s", held=float(seconds) <= 0.5)
    table.row(what, f"{megabytes:.0f} MB peak", "200 MB", held=megabytes <= 200)


def start(folder: Path, metrics: dict[str, object] | None = None) -> None:
    """Begin a loop without limits."""
    folder.mkdir(exist_ok=True)
    (folder / "ralph-tracker.yaml").write_text("loop: {max_iterations: null}\n", encoding="utf-8")
    pre_loop(root=folder, metrics=metrics or METRICS)


def main() -> int:
    """Print the table."""
    os.fsync = lambda _: None
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed: with bytecode on disk
    table = Table()
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as scratch:
        short, large = Path(scratch) / "loop", Path(scratch) / "large"
        start(short)
        commands(table, short)
        agent_hooks(table, short)
        tests = [{"id": f"tests/test_module_{n // 100}.py::test_case_{n}", "outcome": "passed"} for n in range(ALERTS)]
        start(large, {"tests": tests})
        large_loop(table, large)
        long_loop(table, short)
    return int(not table.held)


if __name__ == "__main__":
    sys.exit(main())
