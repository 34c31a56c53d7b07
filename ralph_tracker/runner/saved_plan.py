"""Read a plan's file, and keep its state beside it, where no snapshot or rollback touches it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ralph_tracker.config.schema import plan_of
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.errors import InputError, RecordError
from ralph_tracker.safe_files import (
    as_store_error,
    hide_from_tools,
    read_own_file,
    read_regular,
    refuse_link,
    write_whole,
)
from ralph_tracker.steering.plan import Plan, PlanState, new_plan_state, plan_digest, state_from_plain
from ralph_tracker.store.json_documents import read_json, to_json
from ralph_tracker.store.layout import PLANS
from ralph_tracker.store.lock import hold_lock, holder_of
from ralph_tracker.store.snapshots.snapshot_types import LOOP_FOLDER


class SavedPlan(NamedTuple):
    """A plan file with its progress.

    `has_changed` is whether the file was edited since the plan was begun; it continues as it was begun.
    """

    state: PlanState
    has_changed: bool


def state_path(plan: Path) -> Path:
    """Return the path of a plan's state, in our own folder beside the file.

    Raises StoreError where that folder is a link: a clone can bring one by which we would write elsewhere.
    """
    folder = plan.parent / LOOP_FOLDER / PLANS
    with as_store_error(folder):
        refuse_link(folder.parent, folder)
    return folder / f"{plan.name}.json"


def prompt_path(plan: Path) -> Path:
    """Return the path of the current task's prompt, beside the state."""
    return state_path(plan).with_suffix(".prompt.md")


def plan_holder(plan: Path) -> str | None:
    """Return a few words on who holds a plan, None if nobody does."""
    return holder_of(_lock_path(plan))


def _lock_path(plan: Path) -> Path:
    return state_path(plan).with_suffix(".lock")


@contextmanager
def plan_held(plan: Path, purpose: str) -> Iterator[None]:
    """Hold the lock of a plan while the body runs. Raises StoreError naming the holder."""
    lock = _lock_path(plan)
    # seconds; the time that a process holds it to see who does
    with hold_lock(lock, purpose, patience_s=0.2):
        with as_store_error(lock):
            hide_from_tools(lock.parent)
        yield


def read_plan_file(path: Path) -> Plan:
    """Return the plan in a YAML file. Raises InputError, in one line, if it is unusable."""
    try:
        data = read_regular(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name a YAML file with tasks") from None
    try:
        return plan_of(load_yaml(data.decode("utf-8-sig"), str(path)), str(path))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from None


def read_plan(path: Path) -> SavedPlan:
    """Return a plan with its progress, or as in its file if no state is saved yet.

    Raises InputError for the file, RecordError for a damaged state, NewerSchemaError for one of a newer version.
    """
    plan = read_plan_file(path)
    digest = plan_digest(plan)
    state_file = state_path(path)
    plain = read_json(state_file)
    if plain is None and read_own_file(state_file) is None:
        return SavedPlan(new_plan_state(plan, digest), has_changed=False)
    try:
        state = state_from_plain(plain)
    except ValueError as error:
        raise RecordError(f"{state_file}: damaged ({error}); fix it, or remove it to begin the plan anew") from None
    return SavedPlan(state, has_changed=state.digest not in {"", digest})


def write_plan_state(path: Path, plain: Mapping[str, Any]) -> None:
    """Replace the state of the plan file `path`. Raises StoreError where the disk refuses."""
    state_file = state_path(path)
    with as_store_error(state_file, "the state of the plan is as it was before"):
        write_whole(state_file, to_json(plain) + b"\n")
        hide_from_tools(state_file.parent)


def write_plan_prompt(path: Path, text: str) -> Path:
    """Replace the current task's prompt of the plan `path`, and return its path. Raises StoreError."""
    prompt_file = prompt_path(path)
    with as_store_error(prompt_file, "the task was not begun"):
        write_whole(prompt_file, text.encode("utf-8", "surrogateescape"))
    return prompt_file
