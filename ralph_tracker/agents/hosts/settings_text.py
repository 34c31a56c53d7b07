"""Merge our hooks into the JSON text of a settings file, and take exactly them out again; every other byte stays."""

import json
import re
import shlex
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker.agents.hosts.host import Environment, Host, Settings
from ralph_tracker.errors import InputError
from ralph_tracker.safe_files import read_regular

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR: Final = re.compile(r"[^\s,\]}]+")
_INDENT: Final = "  "
PROGRAM: Final = "ralph-tracker"
_HOOKS: Final = "hooks"
_BOM: Final = "\ufeff"
_COMMAND_KEYS: Final = ("command", "bash")
_MISSING: Final = f"{PROGRAM} is not installed here, its hook does nothing"


@dataclass(frozen=True, slots=True)
class Child:
    """A value within another: its key (None in an array), where it begins (including the key), and the value."""

    key: str | None
    start: int
    value: "Value"


@dataclass(frozen=True, slots=True)
class Value:
    """A JSON value and its position in the text, `end` exclusive."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    children: tuple[Child, ...] = ()

    def child(self, key: str) -> "Value | None":
        """Return the value of a key, the last one if it is repeated, as JSON readers do."""
        return next((each.value for each in reversed(self.children) if each.key == key), None)

    def plain(self, text: str) -> Any:  # noqa: ANN401  # any JSON value
        """Return the parsed value."""
        return json.loads(text[self.start : self.end])


@dataclass(frozen=True, slots=True)
class Style:
    """The layout of a text: its line ends, one level of indentation, and whether it has line breaks."""

    newline: str
    indent: str
    lines: bool


def places(text: str) -> Value:
    """Return the value in a JSON text. Raises ValueError, with the line, for invalid JSON."""
    json.loads(text, parse_constant=_no_constant)
    return _value(text, _skip(text, 0))


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


def _value(text: str, at: int) -> Value:
    if text[at] in "{[":
        return _container(text, at)
    found = (_STRING if text[at] == '"' else _SCALAR).match(text, at)
    return Value("scalar", at, at if found is None else found.end())


def _container(text: str, start: int) -> Value:
    kind: Literal["object", "array"] = "object" if text[start] == "{" else "array"
    children = []
    at = _skip(text, start + 1)
    while text[at] not in "]}":
        key, begins = None, at
        if kind == "object":
            name = _STRING.match(text, at)
            end = at if name is None else name.end()
            key = json.loads(text[at:end])
            at = _skip(text, _skip(text, end) + 1)
        value = _value(text, at)
        children.append(Child(key, begins, value))
        at = _skip(text, value.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Value(kind, start, at + 1, tuple(children))


def style_of(text: str, root: Value) -> Style:
    """Return the layout of a text; for an empty document, a layout with line breaks."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if not root.children:
        return Style(newline, _INDENT, lines=True)
    before = text[root.start + 1 : root.children[0].start]
    if "\n" not in before:
        return Style(newline, _INDENT, lines=False)
    own = before.rpartition("\n")[2]
    return Style(newline, own or _INDENT, lines=True)


def insertion(text: str, container: Value, key: str | None, value: Any, style: Style) -> tuple[int, str]:  # noqa: ANN401
    """Return where to insert which text to append a value to a container."""
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if container.children:
        first, last = container.children[0], container.children[-1]
        before = text[container.start + 1 : first.start]
        if "\n" not in before:
            return last.value.end, f", {name}{json.dumps(value, ensure_ascii=False)}"
        indent = before.rpartition("\n")[2]
        return last.value.end, f",{style.newline}{indent}{name}{_laid_out(value, indent, style)}"
    if not style.lines:
        return container.start + 1, f"{name}{json.dumps(value, ensure_ascii=False)}"
    line = text[text.rfind("\n", 0, container.start) + 1 : container.start]
    outer = line[: len(line) - len(line.lstrip(" \t"))]
    indent = outer + style.indent
    closing = "" if "\n" in text[container.start : container.end] else style.newline + outer
    return container.start + 1, f"{style.newline}{indent}{name}{_laid_out(value, indent, style)}{closing}"


def removal(container: Value, child: Child) -> tuple[int, int]:
    """Return the range of the text to cut to remove a value from a container."""
    index = container.children.index(child)
    if len(container.children) == 1:
        return container.start + 1, container.end - 1
    if index:
        return container.children[index - 1].value.end, child.value.end
    return child.start, container.children[1].start


def _laid_out(value: Any, indent: str, style: Style) -> str:  # noqa: ANN401  # any JSON value
    text = json.dumps(value, ensure_ascii=False, indent=style.indent)
    return text.replace("\n", style.newline + indent)


class EditedText(NamedTuple):
    """A text, with the insertions that led to it, in order: positions and lengths."""

    text: str
    inserted: tuple[tuple[int, int], ...] = ()

    def put(self, container: Value, key: str | None, value: Any, style: Style) -> "EditedText":  # noqa: ANN401
        """Return it with a value appended to a container."""
        at, more = insertion(self.text, container, key, value, style)
        return EditedText(self.text[:at] + more + self.text[at:], (*self.inserted, (at, len(more))))


def without_insertions(edited: EditedText) -> str:
    """Return the text before the insertions, byte for byte."""
    text = edited.text
    for at, size in reversed(edited.inserted):
        text = text[:at] + text[at + size :]
    return text


def absolute(program: Path, name: str) -> str:
    """Return the hook command of this machine, with the path of the program."""
    return f"{shlex.quote(str(program))} agent hook {name}"


def portable_command(name: str, before: str = "") -> str:
    """Return the hook command of every machine: the program on the PATH, or one line where there is none.

    `before` is what its shell does first.
    """
    guard = f"command -v {PROGRAM} >/dev/null || {{ echo {_MISSING} >&2; exit 0; }}"
    return f"sh -c '{guard}; {before}exec {PROGRAM} agent hook {name}'"


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


def user_file(settings: Settings, environment: Environment) -> Path:
    """Return the file of a host's user settings."""
    for variable, name in settings.user_variables:
        if environment.get(variable):
            return Path(environment[variable]) / name
    return home(environment) / settings.user


def home(environment: Environment) -> Path:
    """Return the home folder."""
    return Path(environment.get("HOME", "~")).expanduser()


def is_installed(host: Host, root: str, environment: Environment) -> bool:
    """Return whether the settings of a project, of this machine's copy of it, or of the user have our hooks."""
    settings, texts = settings_of(host), []
    for file in (settings.project, settings.local or settings.project, user_file(settings, environment)):
        with suppress(OSError):
            texts.append(read_regular(Path(root, file)).decode("utf-8", "replace"))
    return any(is_command(text, host.name) for text in texts)


def merge_entries(host: Host, text: str, command: str, name: str, *, extras: bool) -> EditedText:
    """Append our entries to a settings file; `extras` is whether to add those that the user may have.

    `name` is the file's name for errors. Raises InputError for an invalid settings file.
    """
    edited = EditedText(text.removeprefix(_BOM))
    if not edited.text.strip():
        document = {**settings_of(host).top, _HOOKS: hooks_of(host, command)}
        document |= settings_of(host).extras(command) if extras else {}
        whole = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        return EditedText(text + whole, ((len(text), len(whole)),))
    settings, style = settings_of(host), style_of(edited.text, _root(edited.text, name))
    for key, value in settings.top.items():
        edited = _with_key(edited, name, key, value)
    ours = hooks_of(host, command)
    if _root(edited.text, name).child(_HOOKS) is None:
        edited = edited.put(_root(edited.text, name), _HOOKS, ours, style)
    else:
        for event, entries in ours.items():
            hooks = _root(edited.text, name).child(_HOOKS)
            assert hooks is not None  # noqa: S101  # it was there, and nothing is removed here
            _refuse_other(hooks, "object", "hooks", name)
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


def without_own_hooks(host: Host, text: str, name: str, kept: Collection[str] = ()) -> str:
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
