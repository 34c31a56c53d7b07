"""Say for every verb what to do next."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ralph_tracker.cli.terminal import say_wrapped
from ralph_tracker.errors import Terminated
from ralph_tracker.runner.saved_run import run_state
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.restore_mark import interrupted_restore
from ralph_tracker.store.summary import Summary

if TYPE_CHECKING:
    from ralph_tracker.records.iteration_record import IterationRecord

SAME_AGAIN: Final = "the same command continues"
MEASURES_AGAIN: Final = "the same command measures again"
RESUME: Final = "`ralph-tracker run --resume` continues"
_RECORD: Final = "`ralph-tracker hook post-iteration`"
_FINISH: Final = "`ralph-tracker hook post-loop`"
_ACCEPT: Final = "`ralph-tracker accept ID --reason WHY`"
WORK: Final = f"let the agent work, then {_RECORD}"
# What a first test looks like, by a file of the project.
_FIRST_TESTS: Final = (
    ("package.json", "a.test.js with `import test from 'node:test'; test('adds', () => { … })`"),
    ("go.mod", "a_test.go with `func TestAdds(t *testing.T) { … }`"),
    ("Cargo.toml", "tests/a.rs with `#[test] fn adds() { … }`"),
    ("composer.json", "tests/ATest.php with a class that extends PHPUnit's TestCase"),
    ("Gemfile", "spec/a_spec.rb with `it 'adds' do … end`"),
    ("", "test_a.py with `def test_adds(): assert …`"),
)
_DRIVEN: Final[dict[str | None, str]] = {
    "driving": "`ralph-tracker run` drives it now; Ctrl-C there ends it after the iteration",
    "interrupted": f"{RESUME}, {_FINISH} selects and ends the loop",
}
_ENDED: Final = {
    "finished": "read {folder}/reports/loop-report.md, or select again with `ralph-tracker select-best`",
    "abandoned": "the loop was abandoned; `ralph-tracker hook pre-loop` starts another",
    "rebaselined": "another loop continues from here: `ralph-tracker status` without --loop-id",
}


def say_next(step: str) -> None:
    """Print the next step as the last line of an answer."""
    say_wrapped(f"next: {step}", indent=2)


def first_work(record: "IterationRecord", root: Path) -> str:
    """Return the next step after a baseline: without a test, how to get a first one."""
    count, is_measured = record.metrics.test_count, record.metrics.loc_total is not None
    is_missing = any(alert.group == "tests" for alert in record.alerts)  # there are some, which do not run
    if count or record.metrics.build_status is not None or not is_measured or is_missing:
        return WORK
    example = next(text for name, text in _FIRST_TESTS if (root / name).exists())
    found = "" if count == 0 else ", `ralph-tracker init --update`, `ralph-tracker hook pre-loop --rebaseline`"
    return (
        "nothing is tested yet, and what is not tested can break unnoticed: have a first test written, such as "
        f"{example}{found}; then {_RECORD}"
    )


def of_loop(loop_id: str | None) -> str:
    """Return the option by which a printed command means the loop that was named, "" if none was."""
    return "" if loop_id is None else f" --loop-id {loop_id}"


@contextmanager
def next_if_interrupted(step: str) -> Iterator[None]:
    """Add the next step to the message of an interruption."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(step) from None
    except Terminated as end:
        raise Terminated(end.number, step) from None


def next_step(summary: Summary, begun: int | None, paths: LoopPaths) -> str:  # one for each state
    """Return the next step in words or as a command; `begun` is an iteration that was not recorded."""
    interrupted = interrupted_restore(paths)
    if interrupted is not None:
        return interrupted.ways_out
    if summary.status != "running":
        return _ENDED[summary.status].format(folder=paths.shown)
    driven = _DRIVEN.get(run_state(paths))
    if driven is not None:
        return driven
    if begun is not None:
        return f"{_RECORD} again, unless it is still at work"
    action = summary.decision["action"]
    if action == "rollback" and summary.head == summary.iteration:
        target = summary.decision["target_iteration"]
        accept = f"; if an alert is wrong, {_ACCEPT}" if summary.alerts else ""
        if paths.store.is_dir():
            return f"`ralph-tracker hook loop-decision --apply` restores iteration {target}{accept}"
        return f"restore iteration {target} yourself, since no files were stored{accept}"
    if action == "escalate":
        accept = f", {_ACCEPT} if an alert is wrong" if summary.alerts else ""
        return f"a person decides: {_RECORD} to go on, {_FINISH} to end the loop{accept}"
    return _FINISH if action == "stop" else WORK
