"""A plan's file, and the state that is kept beside it, where no snapshot takes it and no rollback puts it back."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.config.schema import plan_of
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.errors import InputError, RecordError
from ralph_tracker.steering.plan import Plan, PlanState, begun, plan_digest, state_from_plain
from ralph_tracker.store.files import hide_from_git, to_json, told_plainly, write_whole
from ralph_tracker.store.lock import holder_of, locked
from ralph_tracker.store.reading import read_bytes, read_json
from ralph_tracker.store.snapshots.exclusions import LOOP_FOLDER

FOLDER: Final = "plans"
_MOMENT_S: Final = 0.2  # as long as another one looks who holds it


class KeptPlan(NamedTuple):
    """A plan file with how far it has come.

    `is_begun` tells whether a state was kept already; `has_changed` whether the file says something else since then:
    a plan goes on as it was begun.
    """

    state: PlanState
    is_begun: bool
    has_changed: bool


def state_path(plan: Path) -> Path:
    """Return where the state of a plan file is kept: in our own folder beside it."""
    return plan.parent / LOOP_FOLDER / FOLDER / f"{plan.name}.json"


def prompt_path(plan: Path) -> Path:
    """Return where the prompt of the task at work is kept, beside the state."""
    return state_path(plan).with_suffix(".prompt.md")


def plan_holder(plan: Path) -> str | None:
    """Return who holds a plan, in a few words, None where nobody does."""
    return holder_of(_lock_path(plan))


def _lock_path(plan: Path) -> Path:
    return state_path(plan).with_suffix(".lock")


@contextmanager
def plan_held(plan: Path, purpose: str) -> Iterator[None]:
    """Hold a plan while the body runs or changes it. Raises StoreError that names who holds it."""
    with locked(_lock_path(plan), purpose, patience_s=_MOMENT_S):
        yield


def read_plan_file(path: Path) -> Plan:
    """Return the plan in a YAML file. Raises InputError, in one line, for what cannot be used."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name a YAML file with tasks") from None
    try:
        return plan_of(load_yaml(data.decode("utf-8-sig"), str(path)), str(path))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from None


def read_plan(path: Path) -> KeptPlan:
    """Return a plan as far as it has come, as it stands in its file where nothing was kept yet.

    Raises InputError for the file, RecordError for a state that is damaged, NewerSchemaError for one of a newer
    version.
    """
    plan = read_plan_file(path)
    digest = plan_digest(plan)
    kept = state_path(path)
    plain = read_json(kept)
    if plain is None and read_bytes(kept) is None:
        return KeptPlan(begun(plan, digest), is_begun=False, has_changed=False)
    try:
        state = state_from_plain(plain)
    except ValueError as error:
        raise RecordError(f"{kept}: damaged ({error}); fix it, or remove it to begin the plan anew") from None
    return KeptPlan(state, is_begun=True, has_changed=state.digest not in {"", digest})


def write_plan_state(path: Path, plain: Mapping[str, Any]) -> None:
    """Replace the state of the plan file `path`. Raises StoreError where the disk refuses."""
    kept = state_path(path)
    with told_plainly(kept, "the state of the plan is as it was before"):
        write_whole(kept, to_json(plain) + b"\n")
        hide_from_git(kept.parent)


def write_plan_prompt(path: Path, text: str) -> Path:
    """Replace the prompt of the task at work in the plan `path`, and return where it is. Raises StoreError."""
    kept = prompt_path(path)
    with told_plainly(kept, "the task was not begun"):
        write_whole(kept, text.encode("utf-8", "surrogateescape"))
    return kept
