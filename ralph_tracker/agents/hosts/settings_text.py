"""Merge our hooks into the text of a settings file, and take exactly them out again."""

import json
import shlex
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

from ralph_tracker.agents.hosts.host import Host, Settings
from ralph_tracker.agents.hosts.json_text import Child, EditedText, Value, places, removal, style_of
from ralph_tracker.errors import InputError

PROGRAM: Final = "ralph-tracker"
_HOOKS: Final = "hooks"
_BOM: Final = "\ufeff"
_COMMAND_KEYS: Final = ("command", "bash")
_MISSING: Final = f"{PROGRAM} is not installed here, its hook does nothing"


def absolute(program: Path, name: str) -> str:
    """Return the hook command of this machine, with the path of the program."""
    return f"{shlex.quote(str(program))} agent hook {name}"


def portable(name: str) -> str:
    """Return the hook command of every machine: the program on the PATH, or one line where there is none."""
    guard = f"command -v {PROGRAM} >/dev/null || {{ echo {_MISSING} >&2; exit 0; }}"
    return f"sh -c '{guard}; exec {PROGRAM} agent hook {name}'"


def is_command(text: object, name: str) -> bool:
    """Return whether a text is a command of ours for a host, of whatever installation."""
    verbs = (f" agent hook {name}", f" agent status-line {name}")
    return isinstance(text, str) and PROGRAM in text and any(verb in text for verb in verbs)


def hooks_of(host: Host, command: str) -> dict[str, list[Any]]:
    """Return our hooks by event."""
    settings = settings_of(host)
    return {event: [settings.entry(command, event, timeout)] for event, timeout in settings.timeouts.items()}


def settings_of(host: Host) -> Settings:
    """Return the settings of a host that has some."""
    assert host.settings is not None  # noqa: S101  # every host that is installed has
    return host.settings


def new_text(host: Host, command: str, *, extras: bool) -> str:
    """Return a settings file that holds nothing but ours."""
    settings = settings_of(host)
    document = {**settings.top, _HOOKS: hooks_of(host, command), **(settings.extras(command) if extras else {})}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def merged(host: Host, text: str, command: str, name: str, *, extras: bool) -> EditedText:
    """Append our entries to a settings file; `extras` is whether to add those that the user may have.

    `name` is the file's name for errors. Raises InputError for an invalid settings file.
    """
    edited = EditedText(text.removeprefix(_BOM))
    if not edited.text.strip():
        whole = new_text(host, command, extras=extras)
        return EditedText(text + whole, ((len(text), len(whole)),))
    settings, style = settings_of(host), style_of(edited.text, _root(edited.text, name))
    for key, value in settings.top.items():
        edited = _with_key(edited, name, key, value)
    ours = hooks_of(host, command)
    if _root(edited.text, name).child(_HOOKS) is None:
        edited = edited.put(_root(edited.text, name), _HOOKS, ours, style)
    else:
        for event, entries in ours.items():
            hooks = _hooks(edited.text, name)
            known = hooks.child(event)
            if known is None:
                edited = edited.put(hooks, event, entries, style)
            else:
                _refuse_other(known, "array", f"hooks.{event}", name)
                edited = edited.put(known, None, entries[0], style)
    for key, value in settings.extras(command).items() if extras else ():
        edited = _with_key(edited, name, key, value)
    moved = len(text) - len(text.removeprefix(_BOM))
    return EditedText(text[:moved] + edited.text, tuple((at + moved, size) for at, size in edited.inserted))


def _with_key(edited: EditedText, name: str, key: str, value: object) -> EditedText:
    root = _root(edited.text, name)
    return edited if root.child(key) is not None else edited.put(root, key, value, style_of(edited.text, root))


def without_ours(host: Host, text: str, name: str, kept: Collection[str] = ()) -> str:
    """Remove our entries from a text that was edited since, and what is empty without them.

    `kept` are containers, as returned by `containers`, that stay even if empty. Raises InputError.
    """
    start = len(text) - len(text.removeprefix(_BOM))
    bom, text = text[:start], text[start:]
    while True:
        found = next(_ours(host.name, text, _root(text, name), kept), None)
        if found is None:
            return bom + text
        begin, end = removal(*found)
        text = text[:begin] + text[end:]


def containers(host: Host, text: str) -> list[str]:
    """Return the containers for hooks in a settings file: "hooks" and its events."""
    try:
        hooks = json.loads(text.removeprefix(_BOM)).get(_HOOKS)
    except (ValueError, AttributeError, RecursionError):
        return []
    if not isinstance(hooks, dict):
        return []
    return [_HOOKS, *(event for event in settings_of(host).timeouts if event in hooks)]


def hooks_of_ours(host: Host, text: str, name: str) -> set[tuple[str, str]]:
    """Return our hooks in a settings file as (event, command). Raises InputError for an invalid settings file."""
    text = text.removeprefix(_BOM)
    hooks = _root(text, name).child(_HOOKS)
    plain = None if hooks is None else hooks.plain(text)
    events = plain.items() if isinstance(plain, dict) else ()
    return {(event, command) for event, entries in events for command in _commands(host.name, entries)}


def is_whole(host: Host, found: set[tuple[str, str]], command: str) -> bool:
    """Return whether these are our hooks for all events, and all of them are `command`."""
    return found == {(event, command) for event in settings_of(host).timeouts}


def has_keys(text: str, keys: Collection[str]) -> bool:
    """Return whether a settings file has one of these keys; False if it cannot be read."""
    try:
        return not set(keys).isdisjoint(json.loads(text.removeprefix(_BOM)))
    except (ValueError, TypeError, RecursionError):
        return False


def _root(text: str, name: str) -> Value:
    try:
        root = places(text)
    except RecursionError:
        raise InputError(f"{name}: nested too deeply; nothing was changed") from None
    except ValueError as error:
        raise InputError(f"{name}: not JSON ({error}); fix it, comments are none; nothing was changed") from None
    _refuse_other(root, "object", "the document", name)
    return root


def _hooks(text: str, name: str) -> Value:
    hooks = _root(text, name).child(_HOOKS)
    assert hooks is not None  # noqa: S101  # it was there, and nothing is removed here
    _refuse_other(hooks, "object", "hooks", name)
    return hooks


def _refuse_other(value: Value, kind: str, key: str, name: str) -> None:
    if value.kind != kind:
        raise InputError(f"{name}: {key} is no JSON {kind}; fix it; nothing was changed")


def _ours(host: str, text: str, root: Value, kept: Collection[str]) -> Iterator[tuple[Value, Child]]:
    """Yield what can be removed in one cut, with the largest parts that contain only ours."""
    for child in root.children:
        if child.key == _HOOKS:
            yield from _ours_within(host, text, root, child, kept)
        elif _is_ours(host, child.value.plain(text)):
            yield root, child


def _ours_within(
    host: str, text: str, container: Value, child: Child, kept: Collection[str]
) -> Iterator[tuple[Value, Child]]:
    """Yield a part that contains only our hooks, or else such parts within it."""
    whole = child.value.plain(text)
    if child.key not in kept and (_is_ours(host, whole) or _all_ours(host, whole)):
        yield container, child
        return
    for each in child.value.children:
        if each.value.kind != "scalar":
            yield from _ours_within(host, text, child.value, each, kept)


def _all_ours(host: str, value: Any) -> bool:  # noqa: ANN401  # any JSON value
    """Return whether a part of the hooks (list, group, event or all) contains only ours."""
    if isinstance(value, list):
        return bool(value) and all(_is_ours(host, each) or _all_ours(host, each) for each in value)
    if isinstance(value, dict):
        if _HOOKS in value:
            return _all_ours(host, value[_HOOKS])
        return bool(value) and all(isinstance(each, list) and _all_ours(host, each) for each in value.values())
    return False


def _commands(host: str, value: Any) -> Iterator[str]:  # noqa: ANN401  # any JSON value
    if _is_ours(host, value):
        yield next(str(value[key]) for key in _COMMAND_KEYS if is_command(value.get(key), host))
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _commands(host, each)


def _is_ours(host: str, handler: Any) -> bool:  # noqa: ANN401  # any JSON value
    return isinstance(handler, dict) and any(is_command(handler.get(key), host) for key in _COMMAND_KEYS)
