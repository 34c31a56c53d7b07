"""Define what a host of agents is, as data (its events, our answers, its settings), and name the hosts.

Hosts translate their events into one form, that of Claude Code's hooks, which Codex shares: `hook_event_name` (one of
`EVENTS`), `session_id`, `prompt_id`, `agent_id` (a subagent's), `tool_name`, `tool_input`, `tool_use_id`,
`tool_response` or `error`, `prompt`, `stop_hook_active`, `transcript_path`. What a host does not report is left out.
These modules are imported at every tool call, so what an answer seldom needs is named as "module:function".
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker import plugins
from ralph_tracker.errors import ConfigError

EVENTS: Final = frozenset(
    {
        *("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PostToolBatch"),
        *("Stop", "StopFailure"),
    }
)
OWN_CAP: Final = 8
"""How many stops in a row, without a tool call between them, an agent is held for; no client has a safe limit."""
MEASURES_S: Final = 1800
"""How long a client waits for a hook that runs the project's checks, in seconds."""
NOTES_S: Final = 30
"""How long a client waits for any other hook, in seconds."""
HookEvent = Mapping[str, Any]
Environment = Mapping[str, str]


class HookAnswer(NamedTuple):
    """An answer to an event, before a host's form: block the agent's stop, give it context, or log a line.

    `event` is the name of the event that is answered. A log line is for the person alone, as is `shown`, which stands
    beside the agent's text.
    """

    kind: Literal["block", "context", "log"]
    event: str
    text: str
    shown: str | None = None


MCP_SERVERS: Final = {"ralph-tracker": {"command": "ralph-tracker", "args": ["mcp"]}}
MARKETPLACE: Final = {
    "name": "ralph-tracker",
    "description": "The tracker of refine-until-done loops",
    "owner": {"name": "The ralph-tracker developers"},
    "plugins": [{"name": "ralph-tracker", "source": "./"}],
}
STATUS_ABOUT: Final = "Show how the loop of ralph-tracker stands"


class Plugin(NamedTuple):
    """What a plugin of a host is made of, beside the hooks of its settings.

    `manifest` is the file that names it, `hooks` the file of its hooks. `keys` are those of its manifest beside name,
    version and description, `documents` its further files, a text or a JSON document each. `icon` is the file of its
    icon, and `steps` are the commands that install it from a `{folder}`. `is_quiet` is whether its hooks do nothing
    where the settings have ours too.
    """

    manifest: str
    hooks: str
    steps: tuple[str, ...]
    keys: Mapping[str, Any] = {}
    documents: Mapping[str, Any] = {}
    icon: str | None = None
    is_quiet: bool = True


class Settings(NamedTuple):
    """The settings of a host that call our hook.

    `project` is the file in a project, and `local` the one there that is not committed (None: the host has none of
    that kind). `user` is the file in the home folder, unless the first set of `user_variables` names its folder.
    `timeouts` are those of its events, in the host's unit. `entry(command, event, timeout)` is the entry of an event.
    `top` are the keys that a new file begins with, and `extras(command)` those that are added where the user has none.
    With `text(command)` the file is ours alone and holds that. `plugin` is None for a host that has no plugins.
    """

    project: str
    user: str
    local: str | None = None
    user_variables: tuple[tuple[str, str], ...] = ()
    timeouts: Mapping[str, int] = {}
    entry: Callable[[str, str, int], Mapping[str, Any]] = lambda command, event, timeout: {}  # noqa: ARG005
    top: Mapping[str, Any] = {}
    extras: Callable[[str], Mapping[str, Any]] = lambda command: {}  # noqa: ARG005
    text: Callable[[str], str] | None = None
    plugin: Plugin | None = None
    next_step: str = ""


def grouped_entry(command: str, event: str, timeout: int) -> Mapping[str, Any]:
    """Return the entry of an event in the form of Claude Code, Codex and Gemini: a group with one hook."""
    del event
    return {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}


def as_hook_event(payload: HookEvent) -> HookEvent | None:
    """Return an event that is in our form already, None for one that we have no use for."""
    return payload if payload.get("hook_event_name") in EVENTS else None


def claude_style_answer(answer: HookAnswer, *, block: str = "block", event: str | None = None) -> Mapping[str, Any]:
    """Return the answer in the form of Claude Code, Codex and Gemini: a block, or messages to the agent and the person.

    `block` is the host's word for it, `event` its name of the event (None: ours).
    """
    if answer.kind == "block":
        return {"decision": block, "reason": answer.text}
    if answer.kind == "log":
        return {"systemMessage": answer.text}
    name = answer.event if event is None else event
    told = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": answer.text}}
    return told if answer.shown is None else {**told, "systemMessage": answer.shown}


class Host(NamedTuple):
    """A host of agents.

    `parse_event` turns its event into one of ours (None: it is none), `format_answer` our answer into its own (None:
    the host has no form for it). `project_variables` name the project's folder in the environment of a hook, else the
    working directory does. `cap` returns how many stops in a row are answered by holding the agent (None: no limit),
    `cap_text` is what an agent and a person are told of that. `ends_turns` is whether it reports the end of a turn;
    where it does not, every call ends one. `usage` names the function that returns what an iteration took
    (`hosts.stop_hook.UsageReader`), `driver` the one that says who else drives the loop, `status_line` the one that
    prints a line for a person.
    """

    name: str
    title: str
    format_answer: Callable[[HookAnswer], Mapping[str, Any] | None]
    parse_event: Callable[[HookEvent], HookEvent | None] = as_hook_event
    project_variables: tuple[str, ...] = ()
    ends_turns: bool = False
    cap: Callable[[Environment], int | None] = lambda environment: OWN_CAP  # noqa: ARG005
    cap_text: str = (
        "An agent is held {cap} times in a row without a tool call; the loop is still running, a new prompt "
        "continues it."
    )
    usage: str | None = None
    driver: str | None = None
    status_line: str | None = None
    settings: Settings | None = None


def load_object(place: str) -> Any:  # noqa: ANN401  # whatever it names
    """Return what "module:name" names."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


HOSTS: Final[Mapping[str, str]] = {
    "claude-code": "ralph_tracker.agents.hosts.claude_code:HOST",
    "codex": "ralph_tracker.agents.hosts.codex:HOST",
    "gemini": "ralph_tracker.agents.hosts.gemini:HOST",
    "opencode": "ralph_tracker.agents.hosts.opencode:HOST",
    "cursor": "ralph_tracker.agents.hosts.cursor:HOST",
    "copilot": "ralph_tracker.agents.hosts.copilot:HOST",
}
RUNNERS: Final[Mapping[str, str]] = {
    "ralph-orchestrator": "ralph_tracker.agents.ralph_orchestrator_events:answer",
}
"""Loop runners, whose hooks call us at their iterations; their settings are the user's."""
Answering = Callable[[Environment, int], str]


def host(name: str) -> Host:
    """Return a host, ours or a plug-in's. Raises KeyError for an unknown one, ConfigError for one that cannot load."""
    try:
        found: Host = load_object(HOSTS[name]) if name in HOSTS else plugins.load("hosts", name)
    except plugins.PluginError as error:
        raise ConfigError(str(error)) from error
    return found


def host_names() -> tuple[str, ...]:
    """Return the names of all hosts, ours first."""
    return (*HOSTS, *plugins.names("hosts"))


def answer_function(name: str) -> Answering:
    """Return the function that answers the hooks of a host or a runner. Raises KeyError for an unknown one."""
    if name in RUNNERS:
        runner: Answering = load_object(RUNNERS[name])
        return runner
    return partial(load_object("ralph_tracker.agents.hosts.hook_dispatch:answer"), host(name))


def status_line_function(name: str) -> Answering | None:
    """Return the function that prints the status line of a host, None if it has none."""
    place = None if name in RUNNERS else host(name).status_line
    found: Any = None if place is None else load_object(place)
    return found  # type: ignore[no-any-return]
