"""What all tests share: the option that rewrites golden files, where they write, and fakes."""

import ctypes
import os
import random
import select
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from ralph_tracker.core.metrics import BY_NAME
from ralph_tracker.errors import StoreError
from ralph_tracker.iteration.gate_worktree import Gate, gate
from ralph_tracker.records.iteration_record import IterationRecord
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.summary import with_events
from ralph_tracker.store.write import LoopStore
from ralph_tracker.tracker import Tracker
from tests.forked import forked
from tests.sweep import SEED

# Laws that name no number of examples: few in each run, many where they are asked for (make suite NAME=slow).
# A gate asks for the same ones each time: others, drawn by chance, may refuse a change for a fault that it has not.
SAME = bool(os.environ.get("RALPH_TRACKER_SAME_EXAMPLES"))
settings.register_profile("quick", settings(), max_examples=10, deadline=None, derandomize=SAME)
settings.register_profile("full", settings(), max_examples=50 if SAME else 300, deadline=None)
settings.load_profile("quick")

MEMORY = Path("/dev/shm")  # noqa: S108  # the system's, pytest makes its own folder there
ROOM = 256 << 20
# Of the system's capabilities(7): read and write whatever the rights of a file say.
_BEYOND_RIGHTS = (1 << 1) | (1 << 2)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite the golden files from what is produced now")


@pytest.hookimpl(trylast=True)  # of what is left by -m and -k
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out half of each family of cases marked `sampled` where a sample is asked for: others with another seed.

    A family are the rows of a test, or with `up_to="::"` all tests of a module; with `one_of=N` one in N is run.
    """
    if os.environ.get("RALPH_TRACKER_SWEEP") != "sample":
        return
    families = defaultdict(list)
    for item in items:
        if (marker := item.get_closest_marker("sampled")) is not None:
            name = item.nodeid.partition(marker.kwargs.get("up_to", "["))[0]
            families[name, marker.kwargs.get("one_of", 2)].append(item)
    left_out = []
    for (name, one_of), family in families.items():
        draw, runs = random.Random(f"{SEED} {name}"), -(-len(family) // one_of)
        left_out += draw.sample(sorted(family, key=lambda item: item.nodeid), len(family) - runs)
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


def pytest_configure(config: pytest.Config) -> None:
    """Write to memory where there is room and programs may be run: what is kept is synced, which a disk charges for."""
    if "PYTEST_DEBUG_TEMPROOT" not in os.environ and "TMPDIR" not in os.environ and _takes_projects(MEMORY):
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY)
    # Projects are written by the tests themselves; those of trust take this away.
    os.environ["RALPH_TRACKER_TRUST"] = "1"
    # Whoever runs the tests may have them ignore these, as nohup and a shell's `&` do, which is handed down.
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)
    is_worker = hasattr(config, "workerinput")
    if is_worker or not config.getoption("numprocesses", None):
        # The projects that are measured do not need the plugins of this suite, which take pytest a second to load.
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        # The gates of `make test` do not go by processes that a test starts, which start sooner unmeasured.
        if not is_worker:
            os.environ.pop("COVERAGE_PROCESS_CONFIG", None)


def _takes_projects(folder: Path) -> bool:
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return False
    system = os.statvfs(folder)
    return system.f_bavail * system.f_frsize >= ROOM and not system.f_flag & os.ST_NOEXEC


@pytest.fixture(scope="session")
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten instead of compared."""
    return bool(request.config.getoption("--bless"))


def _obey_rights() -> bool:
    """Give up what lets root read everything, and return whether that worked."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.capget(header, sets):
        return False
    for at in range(3):
        sets[at] &= ~_BEYOND_RIGHTS
    return libc.capset(header, sets) == 0


@pytest.fixture
def as_user() -> Callable[[Callable[[], Any]], Any]:
    """Call something in a process that the rights of files hold back, whoever runs the tests."""

    def call(act: Callable[[], Any]) -> Any:
        def within_rights() -> tuple[bool, Any]:
            if os.geteuid() == 0 and not _obey_rights():
                return False, None
            try:
                return True, act()
            except StoreError as error:
                return True, error

        held_back, found = forked(within_rights, dict(os.environ), Path.cwd())
        if not held_back:
            pytest.skip("root reads everything here: this system does not let a process give that up")
        return found

    return call


class FakeClock:
    """Stand still until it is told to go on."""

    def __init__(self) -> None:
        self.time = datetime(2026, 2, 2, 10, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def tick(self, minutes: float = 1) -> None:
        self.time += timedelta(minutes=minutes)


def handed_in(**changes: Any) -> dict[str, Any]:
    """Return metrics: ten passing tests, 80 % covered, nothing found, with changes; None takes a value out.

    `tests` (id → outcome) brings names, and the counts from them; `quality_score` is a given score.
    """
    sections: dict[str, dict[str, Any]] = {
        "testing": {"test_count": 10, "tests_passed": 10, "tests_failed": 0, "coverage_percentage": 80.0},
        "quality": {"lint_errors": 0, "lint_warnings": 0, "type_errors": 0, "build_status": "success"},
        "codebase": {"file_count": 5, "loc_total": 100, "complexity_score": 2.0},
    }
    names: Mapping[str, str] | None = changes.pop("tests", None)
    rest: dict[str, Any] = {}
    if names is not None:
        for count in ("test_count", "tests_passed", "tests_failed"):
            del sections["testing"][count]
        rest["tests"] = [{"id": name, "outcome": outcome} for name, outcome in names.items()]
    for name, value in changes.items():
        home = sections[BY_NAME[name].section] if name in BY_NAME else rest
        home[name] = value
    whole = {key: {k: v for k, v in section.items() if v is not None} for key, section in sections.items()}
    return whole | rest


class Driven:
    """Drive the loops of one project through the tracker, a minute an iteration."""

    def __init__(self, root: Path, loop_id: str = "ralph-001") -> None:
        self.root, self.clock = root, FakeClock()
        self.paths = LoopPaths(root, loop_id)
        self.base, self.rolled_back_since = root / ".aiwg", False

    @property
    def tracker(self) -> Tracker:
        """Return a tracker as a new call has it, for the current loop."""
        return self.named(None)

    def named(self, loop_id: str | None) -> Tracker:
        """Return a tracker for the loop of that name."""
        return Tracker(self.root, loop_id, self.clock, {})

    def start(self, **changes: Any) -> IterationRecord:
        """Capture a baseline; `new` and `rebaseline` are the hook's own."""
        own = {name: changes.pop(name) for name in ("new", "rebaseline") if name in changes}
        return self.tracker.pre_loop(handed_in(**changes), **own)

    def turn(self, **changes: Any) -> IterationRecord:
        """Record one more iteration; `usage`, `blocked` and `iteration` are the hook's own."""
        self.clock.tick()
        self.rolled_back_since = False
        own = {name: changes.pop(name) for name in ("usage", "blocked", "iteration") if name in changes}
        return self.tracker.post_iteration(handed_in(**changes), **own).record

    def gate(self, **changes: Any) -> Gate:
        """Ask the gate about metrics, a minute later; nothing is recorded."""
        now = self.clock.now() + timedelta(minutes=1)
        return gate(self.root, None, handed_in(**changes), now=now, environment={})

    def roll_back(self, to: int) -> None:
        """Record that a rollback was carried out; without files of ours the runner did it."""
        store = LoopStore(self.paths)
        with store.write_lock("rollback"):
            summary = store.summary()
            store.append_event({"event": "rollback", "to": to, "after": summary.iteration})
            store.write_summary(with_events(summary, store.events()))
        self.rolled_back_since = True


@pytest.fixture
def driven(tmp_path: Path) -> Driven:
    """Return an empty project whose loops are driven by a clock that stands still."""
    root = tmp_path / "project"
    root.mkdir()
    return Driven(root.resolve())


@pytest.fixture(scope="session")
def drive() -> type[Driven]:
    """Drive the project in a folder that is there already: `drive(root)`."""
    return Driven


@pytest.fixture(scope="session")
def metrics():
    """Make metrics to hand in: `metrics(**changes of a steady project)`."""
    return handed_in


@pytest.fixture(scope="session")
def documents():
    """Return every file of a project below .aiwg, by its path; locks and a doubled line of the log do not count."""

    def read(root: Path) -> Mapping[str, bytes]:
        return {str(path.relative_to(root)): _content(path) for path in _files(root) if path.name != "lock"}

    return read


def _files(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if not path.is_dir())


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    return b"\n".join(dict.fromkeys(data.split(b"\n"))) if path.name == "events.jsonl" else data


class Lifeline:
    """A named pipe that processes hold open: its end tells that the last of them is gone.

    A shell takes hold of it with `grip`.
    """

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.grip = f"exec 9>{path}; echo >&9"
        self.reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def wait(self) -> bytes:
        """Return what comes next: a line from one that has taken hold, b"" once nobody holds it."""
        ready, _, _ = select.select([self.reading], [], [], 60)
        assert ready, "nothing happened"
        return os.read(self.reading, 1)

    def close(self) -> None:
        os.close(self.reading)


@pytest.fixture
def lifeline(tmp_path: Path) -> Iterator[Lifeline]:
    """Return a pipe that tells how long processes live."""
    made = Lifeline(tmp_path / "lifeline")
    yield made
    made.close()
