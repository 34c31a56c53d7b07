"""Where the loop that is meant stands, read as fast as it can be: state.json, the mark of an attempt, no more."""

from collections.abc import Mapping
from pathlib import Path

from ralph_tracker.errors import LoopError, NotRecordedError, StoreError
from ralph_tracker.store.layout import BASE, LOOP_ID, LoopPaths, ProjectPaths
from ralph_tracker.store.reading import read_bytes, read_json
from ralph_tracker.store.summary import Summary, summary_from

START = "run `ralph-tracker hook pre-loop` first"
NEXT_LOOP = "start another one with `ralph-tracker hook pre-loop`"


def checked_root(root: Path) -> Path:
    """Return the project's root as an absolute path. Raises StoreError where it is no folder."""
    if not root.is_dir():
        raise StoreError(f"{root}: not a folder; name the project with --root")
    resolved = root.resolve()
    _refuse_links(resolved / BASE.parent, resolved / BASE)
    return resolved


def _refuse_links(*folders: Path) -> None:
    """Raise StoreError where loops may be those of another project: nothing in them says whose they are."""
    for folder in folders:
        if folder.is_symlink():
            raise StoreError(f"{folder}: a symbolic link; a loop belongs to one project, put a folder in its place")


def current_loop(project: ProjectPaths) -> str | None:
    """Return the id of the current loop, None where there is none yet. Raises StoreError where it cannot be read."""
    text = (read_bytes(project.current) or b"").decode("utf-8", "replace").strip()
    return text if LOOP_ID.match(text) else None


def paths_of(root: Path, loop_id: str | None, environment: Mapping[str, str]) -> LoopPaths:
    """Return the paths of the loop that is meant: as named, else RALPH_LOOP_ID, else the current one.

    Raises LoopError where there is none, InputError for an id that is not safe.
    """
    project = ProjectPaths(checked_root(root))
    named = loop_id or environment.get("RALPH_LOOP_ID")
    meant = named or current_loop(project)
    paths = None if meant is None else project.loop(meant)
    if paths is not None and paths.iteration(0).is_dir():
        _refuse_links(paths.folder)
        return paths
    raise LoopError(f"loop {named}: not in {project.root}; {START}" if named else _no_loop(project))


def _no_loop(project: ProjectPaths) -> str:
    """Say what to do where nothing names a loop: there may be some although the file `current` is damaged."""
    found = sorted(path.parent.parent.name for path in project.base.glob("*/iterations/iteration-000"))
    if found:
        return f"no current loop in {project.root}; name one with --loop-id: {', '.join(found)}"
    return f"no loop in {project.root}; {START}"


def summary_at(paths: LoopPaths) -> Summary:
    """Return where a loop stands; a state.json that is damaged or behind is made again from what is committed.

    Raises RecordError where neither can be read, NewerSchemaError where a newer version wrote it.
    """
    plain = read_json(paths.state)
    summary = summary_from(plain)
    if summary is not None and not paths.iteration(summary.iteration + 1).is_dir():
        return summary
    from ralph_tracker.store.records import LoopRecords  # noqa: PLC0415  # the slow way, after damage only

    return LoopRecords(paths).derived_summary()


def running(summary: Summary) -> Summary:
    """Return the summary of a running loop. Raises LoopError for one that has ended."""
    if summary.status != "running":
        raise LoopError(f"loop {summary.loop_id} is {summary.status}; {NEXT_LOOP}")
    return summary


def refuse_unrecorded(paths: LoopPaths, summary: Summary) -> None:
    """Raise NotRecordedError where an iteration was begun and is not on record."""
    number = unrecorded(paths, summary)
    if number is not None:
        raise NotRecordedError(f"iteration {number} was not recorded; run `ralph-tracker hook post-iteration` again")


def unrecorded(paths: LoopPaths, summary: Summary) -> int | None:
    """Return the iteration that was begun after the latest on record and is not there, None where all is well."""
    number = attempted(paths)
    if number is None or number <= summary.iteration or paths.iteration(number).is_dir():
        return None
    return number


def attempted(paths: LoopPaths) -> int | None:
    """Return the number of the iteration that was begun and not ended, None where there is none."""
    plain = read_json(paths.attempt)
    number = plain.get("iteration") if isinstance(plain, dict) else None
    return number if isinstance(number, int) else None
