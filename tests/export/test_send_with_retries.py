"""A loop arrives once and in whole, however often server and sender go away; a loop never waits for it."""

import time

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.export import send_with_retries
from ralph_tracker.export.loop_rows import ExportedLoop
from ralph_tracker.export.send_with_retries import RefusedError, UnreachableError, key_of, send
from ralph_tracker.store.export_queue import PendingExport
from ralph_tracker.store.lock import hold_lock, holder_of
from tests.measured.conftest import Workshop


class Server:
    """A destination in memory that fails as often as `fails` says, before or after it has kept what was sent."""

    batch = 2
    place = "here"

    def __init__(self, *fails: str) -> None:
        self.fails, self.kept, self.told, self.closed = list(fails), {}, [], 0

    def _answer(self, point: str) -> None:
        if self.fails and self.fails[0] == point:
            self.fails.pop(0)
            raise UnreachableError("gone away")
        if self.fails and self.fails[0] == "refuse":
            raise RefusedError("no")

    def open(self, loop, key):
        self._answer("open")
        self.keys = getattr(self, "keys", set()) | {key}
        return max(self.kept, default=-1)

    def send(self, rows, summary):
        self._answer("before")
        for row in rows:
            self.told.append(row.number)
            self.kept[row.number] = row.values["score.quality"]
        self._answer("after")

    def close(self, summary):
        self._answer("close")
        self.closed += 1


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setattr(send_with_retries, "_FIRST_PAUSE_S", 0.01)
    monkeypatch.delenv("RALPH_LOOP_ID", raising=False)
    root = tmp_path / "project"
    root.mkdir()
    found = Workshop(root.resolve())
    found.prepare()
    return found


@pytest.fixture
def loop(shop):
    shop.start()
    for passing in (2, 3, 4, 5):
        shop.passing(passing)
        shop.turn()
    return ExportedLoop(shop.tracker.store(), {})


def test_what_a_server_has_is_not_sent_again_whenever_it_goes_away(loop):
    server = Server("open", "before", "after", "after", "close")
    assert send(loop, server, "mlflow", 30).last == 4
    assert (sorted(server.kept), server.told, server.closed, len(server.keys)) == (
        [0, 1, 2, 3, 4],
        [0, 1, 2, 3, 4],
        1,
        1,
    )
    assert send(loop, server, "mlflow", 30).iterations == 0
    assert PendingExport(loop.paths, "mlflow").status()["sent"] == 4


@pytest.mark.parametrize(("fails", "patience"), [(("before",) * 50, 0.0), (("refuse",), 30.0)])
def test_one_that_stays_away_or_refuses_leaves_the_loop_marked_with_the_reason(loop, fails, patience, capsys):
    queue = PendingExport(loop.paths, "mlflow")
    with pytest.raises((UnreachableError, RefusedError)):
        send(loop, Server(*fails), "mlflow", patience)
    assert (queue.is_waiting(), queue.status()["problem"]) == (True, "gone away" if patience == 0 else "no")
    assert run(["status", "--root", str(loop.paths.root)]) == 0
    assert f"not all sent to mlflow ({queue.status()['problem']}); `ralph-tracker export" in capsys.readouterr().out
    send(loop, Server(), "mlflow", 0)
    assert (queue.is_waiting(), queue.status()["problem"]) == (False, None)
    assert run(["status", "--root", str(loop.paths.root)]) == 0
    assert "not all sent" not in capsys.readouterr().out


def test_a_loop_has_one_name_for_all_servers_and_a_copy_made_later_keeps_it(loop):
    assert key_of(loop) == key_of(loop)
    assert len(key_of(loop)) == 32


@pytest.mark.parametrize("state", ["unset", "unreachable", "busy", "unwritable"])
def test_an_iteration_is_recorded_whatever_happens_to_its_export(shop, monkeypatch, state):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    if state == "unreachable":
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    shop.write("ralph-tracker.yaml", (shop.root / "ralph-tracker.yaml").read_text() + "export: {after_each: [otlp]}\n")
    shop.start()
    queue = PendingExport(shop.tracker.store().paths, "otlp")
    if state == "unwritable":
        queue.folder.write_text("no folder")
    shop.passing(3)
    if state == "busy":
        with hold_lock(queue.lock, "test"):
            shop.turn()
            assert (queue.is_waiting(), (queue.folder / "otlp.log").exists()) == (True, False)
    else:
        shop.turn()
    assert shop.tracker.store().summary().iteration == 1
    if state in {"unset", "unreachable"}:
        said = queue.folder / "otlp.log"
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (said.exists() and said.read_text()):
            time.sleep(0.1)
            if state == "unreachable" and (queue.status() or holder_of(queue.lock) is not None):
                break
        # With the extra installed a process still tries; without it the iteration waits for the next one.
        assert queue.is_waiting() or holder_of(queue.lock) is not None


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--to", "mlflow"), 1, "MLFLOW_TRACKING_URI is not set"),
        (("--to", "parquet"), 2, "needs a file"),
        (("--to", "mlflow", "-o", "x"), 2, "--to mlflow sends to a server"),
        (("--to", "csv", "--all", "--loop-id", "a"), 2, "exclude each other"),
        (("--to", "csv", "--loop-id", "nothing"), 1, "nothing"),
    ],
)
def test_what_cannot_be_exported_is_one_line(loop, capsys, monkeypatch, words, code, said):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert run(["export", *words, "--root", str(loop.paths.root)]) == code
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
