"""An MLflow server has of a fleet of loops what is on record: every value once, whatever went away meanwhile."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from zipfile import ZipFile

import pytest

from ralph_tracker import post_iteration, pre_loop
from tests.fleet.make_loops import SECRET, metrics

MlflowClient = pytest.importorskip("mlflow.tracking", reason="make suite NAME=fleet installs MLflow").MlflowClient
LOOPS = int(os.environ.get("RALPH_TRACKER_FLEET_LOOPS", "4"))
STEPS = int(os.environ.get("RALPH_TRACKER_FLEET_STEPS", "40"))
PROCESSES = min(LOOPS - 1, 8)  # one of them sends two loops
TRACKER = str(Path(sys.executable).with_name("ralph-tracker"))
LIMIT_S = 500


def environment(server, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "RALPH_LOOP"))}
    return {**kept, "MLFLOW_TRACKING_URI": server.address, "MLFLOW_EXPERIMENT_NAME": "fleet", **more}


def started(words, **more):
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def ended(processes):
    said = [process.communicate(timeout=LIMIT_S)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), said
    return said


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """Make the loops, by so many processes, each in a project of its own."""
    folder = tmp_path_factory.mktemp("projects")
    bounds = [LOOPS * each // PROCESSES for each in range(PROCESSES + 1)]
    program = str(Path(__file__).with_name("make_loops.py"))
    roots = [folder / f"project-{number}" for number in range(PROCESSES)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RALPH_")}
    ended(
        [
            started([sys.executable, program, str(root), str(bounds[n]), str(bounds[n + 1]), str(STEPS)], env=clean)
            for n, root in enumerate(roots)
        ]
    )
    return roots


def records(root: Path) -> dict[tuple[str, int], dict]:
    """Read the records as they lie on disk, those of older iterations in their packs."""
    texts = [file.read_bytes() for file in root.glob(".aiwg/ralph/*/iterations/*/metrics.json")]
    for file in root.glob(".aiwg/ralph/*/packed/*.zip"):
        with ZipFile(file) as pack:
            texts += [pack.read(name) for name in pack.namelist() if name.endswith("/metrics.json")]
    documents = [json.loads(text)["iteration_metrics"] for text in texts]
    return {(each["loop_id"], each["iteration"]): each for each in documents}


def values_by_hand(record: dict) -> dict[str, float]:
    """Return some of the values that a run must have, from the document alone."""
    found = {"score/quality": record["quality_score"], "score/adjusted": record["adjusted_score"]}
    for section in ("testing", "quality", "codebase"):
        found |= {f"{section}/{name}": value for name, value in record[section].items() if name != "build_status"}
    found |= {f"score/{name}": value for name, value in record["breakdown"].items()}
    found |= {f"usage/{name}": value for name, value in (record["usage"] or {}).items()}
    more = {
        "score/evidence": record["evidence"],
        "quality/build_success": 1.0,
        "alerts/new": len(record["alerts"]),
        "alerts/open": len(record["open_alerts"]),
    }
    return {name: float(value) for name, value in {**found, **more}.items()}


def test_a_fleet_is_there_once_and_in_whole_although_server_and_senders_went_away(projects, mlflow_server, told):
    client = MlflowClient(mlflow_server.address)
    words = [TRACKER, "export", "--to", "mlflow", "--all", "--root"]
    began = time.monotonic()
    senders = [started([*words, str(root)], env=environment(mlflow_server)) for root in projects]
    deadline = time.monotonic() + LIMIT_S
    while not (has_begun := _steps(client)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert has_begun
    mlflow_server.stop()
    victim = senders.pop()
    victim.kill()
    victim.communicate()
    time.sleep(2)
    mlflow_server.start()
    senders.append(started([*words, str(projects[-1])], env=environment(mlflow_server)))
    ended(senders)
    took = time.monotonic() - began
    told(f"{LOOPS} loops of {STEPS} iterations sent by {PROCESSES} processes in {took:.0f} s, server killed meanwhile")

    expected = {}
    for root in projects:
        for (loop_id, number), record in records(root).items():
            for name, value in values_by_hand(record).items():
                expected.setdefault((loop_id, name), []).append((number, value))
    runs = client.search_runs([client.get_experiment_by_name("fleet").experiment_id], max_results=1000)
    assert sorted(run.data.tags["ralph_tracker.loop_id"] for run in runs) == sorted({loop for loop, _ in expected})
    count = 0
    for run in runs:
        loop_id = run.data.tags["ralph_tracker.loop_id"]
        names = {name for loop, name in expected if loop == loop_id}
        assert set(run.data.metrics) == names
        for name in names:
            there = sorted((each.step, each.value) for each in client.get_metric_history(run.info.run_id, name))
            assert there == sorted(expected[loop_id, name]), (loop_id, name)
            count += len(there)
        assert (run.info.status, run.data.tags["ralph_tracker.iterations"]) == ("FINISHED", str(STEPS))
        assert run.data.params["alerts.coverage_drop"] == "2.0"
        assert SECRET not in str(run.to_dictionary())
    told(f"{count} values read back through MLflow's client, each once")

    run = runs[0]
    reports = {file.path for file in client.list_artifacts(run.info.run_id, "reports")}
    assert len(reports) == STEPS + 3
    mlflow_server_files = [file for file in (mlflow_server.folder / "artifacts").rglob("*") if file.is_file()]
    assert not [file for file in mlflow_server_files if SECRET.encode() in file.read_bytes()]

    again = ended([started([*words, str(root)], env=environment(mlflow_server)) for root in projects[:1]])
    assert "0 iterations sent" in again[0]


def _steps(client) -> bool:
    experiment = client.get_experiment_by_name("fleet")
    runs = [] if experiment is None else client.search_runs([experiment.experiment_id])
    return sum(int(run.data.tags.get("ralph_tracker.iterations", "-1")) > 0 for run in runs) >= min(3, LOOPS)


OWN = """
import json, sys, time, mlflow
rows = json.load(sys.stdin)
mlflow.set_experiment("own")
began, cpu = time.perf_counter(), time.process_time()
with mlflow.start_run():
    for step, values in enumerate(rows):
        mlflow.log_metrics(values, step=step)
print(time.perf_counter() - began, time.process_time() - cpu)
"""
OURS = """
import os, sys, time
from pathlib import Path
from ralph_tracker.export.mlflow_runs import MlflowRuns
from ralph_tracker.export.loop_rows import ExportedLoop
from ralph_tracker.export.send_with_retries import send
from ralph_tracker.store.write import Project
runs = MlflowRuns(os.environ, "ours")
began, cpu = time.perf_counter(), time.process_time()
send(ExportedLoop(Project(Path(sys.argv[1])).store(sys.argv[2]), os.environ), runs, "mlflow", 60.0)
print(time.perf_counter() - began, time.process_time() - cpu)
"""


def test_an_iteration_costs_no_more_than_mlflows_own_logging_of_the_same_values(mlflow_server, tmp_path, told):
    program = str(Path(__file__).with_name("make_loops.py"))
    ended([started([sys.executable, program, str(tmp_path / "one"), "0", "1", str(STEPS)])])
    rows = [values_by_hand(record) for _, record in sorted(records(tmp_path / "one").items())]
    clean = environment(mlflow_server)
    del clean["MLFLOW_EXPERIMENT_NAME"]

    def figures(printed: str) -> list[float]:
        return [float(each) / len(rows) * 1000 for each in printed.split()[-2:]]

    def own() -> list[float]:
        words, text = [sys.executable, "-c", OWN], json.dumps(rows)
        return figures(subprocess.run(words, input=text, env=clean, text=True, capture_output=True, check=True).stdout)

    before = own()
    (printed,) = ended([started([sys.executable, "-c", OURS, str(tmp_path / "one"), "loop-00"], env=clean)])
    wall, cpu = figures(printed)
    own_wall, own_cpu = max(before, own())  # before and after: other work on the machine comes and goes
    told(
        f"an iteration of {len(rows[1])} values: mlflow.log_metrics {own_wall:.1f} ms, {own_cpu:.1f} ms CPU of the "
        f"client; export with its report {wall:.1f} ms, {cpu:.1f} ms CPU"
    )
    assert wall <= 1.5 * own_wall


def test_a_loop_is_neither_slower_nor_broken_by_a_server_that_is_away_and_all_of_it_arrives(
    mlflow_server, tmp_path, told, monkeypatch
):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", mlflow_server.address)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "beside")
    monkeypatch.delenv("RALPH_LOOP_ID", raising=False)
    took = {}
    for name, settings in (("plain", ""), ("beside", "export: {after_each: [mlflow]}\n")):
        root = tmp_path / name
        root.mkdir()
        (root / "ralph-tracker.yaml").write_text(f"codebase: {{keep: never}}\n{settings}")
        if settings:
            mlflow_server.stop()
        pre_loop(root=root, metrics=metrics(1, 0))
        spent = []
        for number in range(1, 9):
            if settings and number == 6:
                mlflow_server.start()
            began = time.perf_counter()
            post_iteration(root=root, metrics=metrics(1, number))
            spent.append(time.perf_counter() - began)
        took[name] = sorted(spent)[len(spent) // 2]
    told(f"post_iteration takes {took['plain'] * 1000:.0f} ms, with export.after_each {took['beside'] * 1000:.0f} ms")
    client = MlflowClient(mlflow_server.address)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        found = client.get_experiment_by_name("beside")
        runs = [] if found is None else client.search_runs([found.experiment_id])
        if runs and runs[0].data.tags.get("ralph_tracker.iterations") == "8":
            break
        time.sleep(0.5)
    (run,) = runs
    steps = sorted(each.step for each in client.get_metric_history(run.info.run_id, "score/quality"))
    assert (steps, run.info.status) == (list(range(9)), "RUNNING")
    assert took["beside"] <= took["plain"] + 0.25
