"""Save the state of a run in run.json, before and after every step, so that a killed run can continue."""

import json
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self, get_args

from ralph_tracker.core.metrics import Usage
from ralph_tracker.errors import RecordError
from ralph_tracker.safe_files import as_store_error, write_whole
from ralph_tracker.store.json_documents import read_json
from ralph_tracker.store.layout import RUN, RUN_LOCK, LoopPaths
from ralph_tracker.store.lock import holder_of

if TYPE_CHECKING:  # `status` needs nothing of what agents print
    from ralph_tracker.agents.output.run_report import RunReport

SCHEMA_VERSION: Final = 1
Phase = Literal["agent", "measure", "decide", "select", "ended"]


class RunSettings(NamedTuple):
    """The settings of a run, the same for all iterations.

    `command` is the agent's, with its placeholders; `prompt_file` is None if the command has its own prompt. Times
    are seconds, None is no limit. `apply` is where the files of the selected iteration go. `calls_per_hour` is how
    often the agent may be run within any hour. `backend` is the one whose sessions are continued, None if each run of
    the agent is a session of its own.
    """

    command: tuple[str, ...]
    prompt_file: str | None = None
    agent_timeout_s: float | None = 3600.0
    silence_s: float | None = None
    retries: int = 3
    pause_s: float = 10.0
    apply: str = "output"
    calls_per_hour: int | None = None
    backend: str | None = None


class RunProgress(NamedTuple):
    """The state of a run, from which it can continue whatever ended it.

    `iteration` is the current one, in `phase`. `tried` counts the agent's runs for it, including a running one, if
    `at_work`. `waited_s` is the time waited between them. `usage`, `notes` and `blocked` (why a person is needed) are
    of this iteration, over all of its runs. `stalls` counts the consecutive decisions to end the loop for a stall; the
    agent is warned first. `starts` are when the agent was last run (epoch seconds), as many as `calls_per_hour`.
    `session` is the client's session that the next run continues, `told` the usage that its last run reported. `models`
    are those that the agent's runs reported.
    """

    loop_id: str
    settings: RunSettings
    iteration: int = 1
    phase: Phase = "agent"
    tried: int = 0
    at_work: bool = False
    waited_s: float = 0.0
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()
    blocked: str | None = None
    stalls: int = 0
    starts: tuple[float, ...] = ()
    session: str | None = None
    told: Usage = Usage()
    models: tuple[str, ...] = ()

    def next_iteration(self) -> Self:
        """Return the progress of the next iteration."""
        return self._replace(
            iteration=self.iteration + 1,
            phase="agent",
            tried=0,
            at_work=False,
            waited_s=0.0,
            usage=Usage(),
            notes=(),
            blocked=None,
        )

    def write(self, paths: LoopPaths) -> Self:
        """Replace the file, and return the progress. Raises StoreError if the disk refuses."""
        plain = self._asdict() | {
            "settings": self.settings._asdict(),
            "usage": self.usage.known_values(),
            "told": self.told.known_values(),
        }
        path = paths.folder / RUN
        with as_store_error(path, "free that, then `ralph-tracker run --resume`"):
            write_whole(path, json.dumps({"schema_version": SCHEMA_VERSION, **plain}, indent=1).encode() + b"\n")
        return self


def read_progress(paths: LoopPaths) -> RunProgress | None:
    """Return the progress of a loop's run, None if there was none.

    Raises RecordError if the file is damaged, NewerSchemaError if a newer version wrote it.
    """
    path = paths.folder / RUN
    plain = read_json(path)
    if plain is None and not path.exists():
        return None
    try:
        return _progress_of(plain)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RecordError(
            f"{paths.shown}/{RUN}: damaged; give the agent's command again: "
            "`ralph-tracker run --resume … -- AGENT COMMAND`"
        ) from None


def run_state(paths: LoopPaths) -> Literal["driving", "interrupted"] | None:
    """Return whether a run drives the loop now or was ended before its loop was; None if there is none to go on with.

    A damaged progress counts as none.
    """
    plain = read_json(paths.folder / RUN)
    if not isinstance(plain, dict) or plain.get("phase") not in {"agent", "measure", "decide", "select"}:
        return None
    return "interrupted" if holder_of(paths.folder / RUN_LOCK) is None else "driving"


def _progress_of(plain: Any) -> RunProgress:  # noqa: ANN401  # any JSON value
    # Which the first files lack.
    later: dict[str, Any] = {"stalls": 0, "starts": (), "session": None, "told": {}, "models": ()}
    values = later | {name: plain[name] for name in RunProgress._fields if name not in later or name in plain}
    settings = RunSettings(**{**plain["settings"], "command": tuple(plain["settings"]["command"])})
    usage, told = (Usage(**{name: values[key].get(name) for name in Usage._fields}) for key in ("usage", "told"))
    progress = RunProgress(
        **{
            **values,
            "settings": settings,
            "usage": usage,
            "told": told,
            "notes": tuple(values["notes"]),
            "starts": tuple(map(float, values["starts"])),
            "models": tuple(map(str, values["models"])),
        }
    )
    if progress.phase not in get_args(Phase) or not isinstance(progress.iteration, int) or progress.iteration < 1:
        raise ValueError(progress.phase)
    if progress.session is not None:
        from ralph_tracker.agents.output.event_values import is_session  # noqa: PLC0415  # loop-decision starts fast

        if not is_session(progress.session):
            raise ValueError(progress.session)
    return progress


def add_usages(one: Usage, other: Usage) -> Usage:
    """Return the sum of two usages; a value is None if neither has it."""
    sums: dict[str, Any] = {}
    for name in Usage._fields:
        known = [value for value in (getattr(one, name), getattr(other, name)) if value is not None]
        sums[name] = _plain(sum(known)) if known else None
    return Usage(**sums)


def less(whole: Usage, before: Usage) -> Usage:
    """Return a run's usage without an earlier one of its session, at least 0; its turns and its time are its own."""
    rest: dict[str, Any] = {"turns": whole.turns, "duration_s": whole.duration_s}
    for name in ("cost_usd", "input_tokens", "output_tokens"):
        value, earlier = getattr(whole, name), getattr(before, name)
        rest[name] = None if value is None else _plain(max(value - (earlier or 0), 0))
    return Usage(**rest)


def tells_sums(report: "RunReport", told: Usage) -> bool:
    """Return whether a continued session's report is of the whole session: as much as before and the run's own part."""
    whole, before = report.usage.input_tokens, told.input_tokens
    return None not in {whole, before, report.own_input} and (whole or 0) >= (before or 0) + (report.own_input or 0)


def _plain(number: float) -> float:
    """Return a number without the noise of binary fractions."""
    return round(number, 6)
