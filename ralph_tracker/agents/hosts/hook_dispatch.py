"""Answer a host's hooks: an event on standard input, an answer in the host's form or none.

After any error the exit code is 0 with no answer, since another would block the agent for a reason that it cannot fix.
The error is logged in the loop's folder. Imports are few, because this runs at every tool call of every session, most
of which belong to no loop.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from ralph_tracker.agents.hosts.host import Environment, HookAnswer, HookEvent, Host
from ralph_tracker.errors import UntrustedError
from ralph_tracker.safe_files import own_file

DRIVEN = "RALPH_TRACKER_DRIVEN"
PLUGGED: Final = "RALPH_TRACKER_PLUGGED"
"""Set in the environment of a plugin's hooks, which leave a session to those in the settings."""
READ_AT_MOST: Final = 16 << 20
_CHUNK: Final = 1 << 16
_CALLS: Final = frozenset({"PostToolUse", "PostToolUseFailure"})
_TURN: Final = "PostToolBatch"


class SessionLoop(NamedTuple):
    """The project and loop of a session.

    `loop` is the folder of its running loop, None if one is wanted but not started yet. `driven` is whether
    `ralph-tracker run` does the measuring. `told` is what a person has to know of the loop, None if nothing.
    """

    root: str
    loop: str | None
    driven: bool = False
    told: str | None = None


def presence(environment: Mapping[str, str], folder: str, variables: Iterable[str] = ()) -> SessionLoop | None:
    """Return the project and loop of a hook's session, None if it belongs to no loop.

    The first of `variables` that is set names the project, else it is `folder`, the working directory; a session that
    works in a linked worktree of that project has the loop of this one, or none. RALPH_TRACKER_LOOP=1 asks for a loop,
    0 excludes a session from a running one.
    """
    wish = environment.get("RALPH_TRACKER_LOOP")
    if wish == "0":
        return None
    root = next((environment[name] for name in variables if environment.get(name)), folder)
    loop, told = _running_loop_folder(root, environment), None
    worktree = _linked_worktree(folder, root)
    if worktree is not None:
        elsewhere, root = loop, worktree
        loop = _running_loop_folder(root, environment)
        if loop is None and elsewhere is not None and wish != "1":
            name = os.path.basename(elsewhere)  # noqa: PTH119  # as below
            told = f"loop {name} is not of this linked worktree, which is not measured; `ralph-tracker hook pre-loop`"
            return SessionLoop(root, None, driven=True, told=f"{told} starts its own")
    if loop is None and not os.path.isdir(f"{root}/.aiwg/ralph") and _has_links(root):  # noqa: PTH112  # as below
        told = _brought_back(root)
        loop = _running_loop_folder(root, environment)
    if loop is None and wish != "1":
        return None
    return SessionLoop(root, loop, environment.get(DRIVEN, "0") not in {"", "0"}, told)


def _git_folder(root: str) -> tuple[str, str] | None:
    """Return the top of the working tree around a folder and git's folder of it, None where there is no git."""
    folder = os.path.realpath(root)
    while not os.path.lexists(folder + "/.git"):
        if folder == (folder := os.path.dirname(folder)):  # noqa: PTH120  # as below
            return None
    # A file of a linked worktree names the folder, else nothing is read.
    named = _read(folder + "/.git").strip().removeprefix("gitdir: ")
    return folder, os.path.join(folder, named or ".git")  # noqa: PTH118  # as below


def _has_links(root: str) -> bool:
    """Return whether git's folder may have links of a loop that was removed."""
    found = _git_folder(root)
    return found is not None and os.path.isdir(found[1] + "/ralph-tracker")  # noqa: PTH112  # as below


def _linked_worktree(folder: str, root: str) -> str | None:
    """Return the top of the linked worktree around a folder; None if the project is in it or in another repository."""
    here = _git_folder(folder) if folder != root else None
    if here is None or "/worktrees/" not in here[1]:
        return None
    project = _git_folder(root)
    if project is None or project[0] == here[0]:
        return None
    ours, theirs = (git.rpartition("/worktrees/")[0] or git for _, git in (here, project))
    return here[0] if ours == theirs else None


def _brought_back(root: str) -> str | None:
    from pathlib import Path  # noqa: PLC0415  # after an accident only

    from ralph_tracker.store.find import checked_root  # noqa: PLC0415  # as above
    from ralph_tracker.store.git_links import bring_back  # noqa: PLC0415  # as above
    from ralph_tracker.store.layout import ProjectPaths  # noqa: PLC0415  # as above

    return bring_back(ProjectPaths(checked_root(Path(root))))


def _running_loop_folder(root: str, environment: Mapping[str, str]) -> str | None:
    """Return the folder of the running loop, also if state.json cannot be read, since others repair that."""
    base = os.path.join(root, ".aiwg", "ralph")  # noqa: PTH118  # pathlib is slower than all of this
    name = environment.get("RALPH_LOOP_ID") or _read(base + "/current").strip()
    if not name or "/" in name or name.startswith("."):
        return None
    loop = f"{base}/{name}"
    if any(map(os.path.islink, (os.path.dirname(base), base, loop))):  # noqa: PTH120  # as above
        return None
    state = _read(loop + "/state.json")
    if not state and not os.path.isdir(loop + "/iterations"):  # noqa: PTH112  # as above
        return None
    try:
        status = json.loads(state)["status"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return loop
    return loop if status == "running" else None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=own_file) as file:  # as above
            return file.read()
    except OSError:
        return ""


def answer(host: Host, environment: Environment, descriptor: int = 0) -> str:
    """Read an event, handle it, and return what to print: one JSON document or nothing."""
    began = time.time()

    def act(where: SessionLoop, descriptor: int) -> str:
        event = host.parse_event(read_event(descriptor))
        if event is None:
            return ""
        try:
            reply = _answer_event(host, event, where, environment, began)
        except UntrustedError as error:  # the person is told; the agent is neither held nor told
            reply = HookAnswer("log", str(event["hook_event_name"]), f"ralph-tracker: {error}")
        if where.told is not None and (where.loop is not None or event["hook_event_name"] == "Stop"):
            reply = _told_too(reply, str(event["hook_event_name"]), f"ralph-tracker: {where.told}")
        said = None if reply is None else host.format_answer(reply)
        return "" if said is None else json.dumps(said) + "\n"

    return within(host, environment, descriptor, "hook", act)


def _told_too(reply: HookAnswer | None, event: str, told: str) -> HookAnswer:
    return HookAnswer("log", event, told) if reply is None else reply._replace(text=f"{told}\n{reply.text}")


def within(
    host: Host, environment: Environment, descriptor: int, what: str, act: Callable[[SessionLoop, int], str]
) -> str:
    """Return the result of `act` in a session of a loop, "" outside of one or after an error, which is logged."""
    where: SessionLoop | None = None
    try:
        try:
            folder = os.getcwd()  # noqa: PTH109  # pathlib is slower than all of this
        except OSError:  # the folder was deleted
            folder = "/"
        where = presence(environment, folder, host.project_variables)
        if where is not None and environment.get(PLUGGED) and _is_installed_too(host, where.root, environment):
            where = None
        if where is not None:
            return act(where, descriptor)
        while not os.isatty(descriptor) and os.read(descriptor, _CHUNK):
            pass  # the client would get a broken pipe if its event was not read
    except BaseException as error:  # noqa: BLE001  # our errors must never block an agent
        from ralph_tracker.agents.hosts.session_event_log import note_trouble  # noqa: PLC0415  # only after an error

        note_trouble(None if where is None else where.loop, what, error)
    return ""


def _is_installed_too(host: Host, root: str, environment: Environment) -> bool:
    from ralph_tracker.agents.hosts.settings_text import is_installed  # noqa: PLC0415  # only in a plugin

    return is_installed(host, root, environment)


def _answer_event(
    host: Host, event: HookEvent, where: SessionLoop, environment: Environment, began: float
) -> HookAnswer | None:
    name = event.get("hook_event_name")
    if name in _CALLS or name in {_TURN, "StopFailure"}:
        return None if where.loop is None else _on_tool(host, event, where, environment)
    if name == "UserPromptSubmit" and where.loop is not None:
        from ralph_tracker.agents.hosts.tool_batch_hook import log_prompt  # noqa: PLC0415  # once per prompt

        log_prompt(where.loop, event)
        return None
    if where.driven:
        return None
    if name == "SessionStart":
        return _session_started(event, where, environment)
    if name == "Stop" and where.loop is not None:
        from ralph_tracker.agents.hosts.stop_hook import answer_stop  # noqa: PLC0415  # it imports the measuring code

        return answer_stop(host, event, where.root, where.loop, environment, began)
    return None


def _on_tool(host: Host, event: HookEvent, where: SessionLoop, environment: Environment) -> HookAnswer | None:
    """Log a tool event; the end of a turn is answered with continuation's message, if any."""
    assert where.loop is not None  # noqa: S101  # as it is called
    name = event.get("hook_event_name")
    is_call = name in _CALLS
    if name != _TURN or event.get("agent_id") is not None:
        from ralph_tracker.agents.hosts.session_event_log import note_event  # noqa: PLC0415  # only within a loop

        note_event(where.loop, event)
    if event.get("agent_id") is not None or not (name == _TURN or (is_call and not host.ends_turns)):
        return None
    from ralph_tracker.agents.hosts.tool_batch_hook import turn_ended  # noqa: PLC0415  # once per turn

    turn = {"hook_event_name": _TURN, "session_id": event.get("session_id")} if is_call else event
    reply = turn_ended(turn, where.root, where.loop, environment)
    return None if reply is None else reply._replace(event=str(name))


def _session_started(event: HookEvent, where: SessionLoop, environment: Environment) -> HookAnswer | None:
    """Tell the agent the status of the loop; measure the baseline if a loop is wanted and none is running.

    A session that resumes after compaction does not start a loop. Raises as `Tracker.pre_loop` does.
    """
    # Once per session, and the tracker imports the measuring code.
    from pathlib import Path  # noqa: PLC0415

    from ralph_tracker.agents.feedback import feedback_of  # noqa: PLC0415
    from ralph_tracker.agents.hosts.stop_hook import Turns  # noqa: PLC0415
    from ralph_tracker.iteration.measure_iteration import configured_by  # noqa: PLC0415
    from ralph_tracker.store.configured_loop import ConfiguredLoop  # noqa: PLC0415
    from ralph_tracker.store.summary import require_running, summary_at  # noqa: PLC0415
    from ralph_tracker.tracker import Tracker  # noqa: PLC0415

    tracker = Tracker(Path(where.root), environment=environment)
    if where.loop is None:
        if event.get("source") == "compact":
            return None
        tracker.pre_loop(None)
    tracker.require_loop()
    store = tracker.store()
    require_running(summary_at(store.paths))
    turns = Turns.read(store.paths.folder)
    # The client begins another session in the same process.
    is_cleared = event.get("source") == "clear" and turns.client == os.getppid()
    if where.loop is None or is_cleared:
        turns.bind(event)
        turns.write(store.paths.folder)
    elif turns.is_driven_by_another(event):
        text = f"Another session drives the loop {store.paths.folder.name} of ralph-tracker; this one is not measured."
        return HookAnswer("context", "SessionStart", text)
    loop = ConfiguredLoop.read(store, configured_by)
    text = feedback_of(loop, tracker.root, with_rules=True)
    return HookAnswer("context", "SessionStart", text)


def read_event(descriptor: int) -> dict[str, Any]:
    """Return the JSON object on standard input. Raises ValueError for anything else."""
    if os.isatty(descriptor):
        raise ValueError("no event on standard input: the agent calls this by itself")
    chunks, size = [], 0
    while chunk := os.read(descriptor, _CHUNK):
        size += len(chunk)
        if size <= READ_AT_MOST:
            chunks.append(chunk)
    if size > READ_AT_MOST:
        raise ValueError(f"an event of {size} bytes; at most {READ_AT_MOST} are read")
    event = json.loads(b"".join(chunks).decode("utf-8", "replace"))
    if not isinstance(event, dict):
        raise ValueError("the event on standard input is no JSON object")  # noqa: TRY004  # bad input, no bug
    return event
